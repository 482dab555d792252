/* study/variation.h - the wait for the slowest of several GPUs of one type.
 *
 * Model:   a GPU takes 1 + v z times as long for its compute as the mean one of its type, z a
 *          standard normal number. Training on n GPUs waits for the slowest of them in each step,
 *          so compute takes 1 + v E[largest of n z] times as long on all.
 * Source:  v: Sinha et al., Not All GPUs Are Created Equal, SC 2022 (arXiv 2208.11035), measured
 *          8 % between the GPUs of one type without outliers, on five clusters; taken as the 5.4
 *          standard deviations within which a box plot of normal numbers has no outliers: 0.015.
 *          E: David and Nagaraja, Order Statistics, 3rd edition, 2003, section 3.1
 * Ignores: that GPUs of one machine are more alike than others, or less; pipelines, whose slowest
 *          GPU may be one with little to do
 */
#ifndef FR_STUDY_VARIATION_H
#define FR_STUDY_VARIATION_H

#include "study/record.h"

/* The expected largest of n standard normal numbers; 0 for n < 2. */
double fr__largest_normal(size_t n);

/* How many times as long compute takes on all GPUs of m; 1 without the question's gpu_variation. */
double fr__wait_factor(const struct fr__making *m);

/* Multiplies m->slowness of the compute of the types of m's GPUs by that factor; makes the array
 * where there is none. FR_ENOMEM. */
enum fr_status fr__wait_for_slowest(struct fr__making *m, struct fr_error *err);

#endif
