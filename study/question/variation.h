/* study/question/variation.h - the wait for the slowest of several GPUs of one type, or the longest
 * of their batches.
 *
 * Model:   a GPU takes 1 + v z times as long for its compute as the mean one of its type, z a
 *          standard normal number. Training on n GPUs waits for the slowest of them in each step,
 *          so compute takes 1 + v E[largest of n z] times as long on all. Batches of sentences
 *          differ in their work likewise, by a standard deviation l of its own, and the two are
 *          independent: v^2 + l^2 is the variance of both.
 * Source:  v: Sinha et al., Not All GPUs Are Created Equal, SC 2022 (arXiv 2208.11035), measured
 *          8 % between the GPUs of one type without outliers, on five clusters; taken as the 5.4
 *          standard deviations within which a box plot of normal numbers has no outliers: 0.015.
 *          E: David and Nagaraja, Order Statistics, 3rd edition, 2003, section 3.1
 *          l: of a recipe, from its rule of making batches (tests/oracles/length_variation.py)
 * Ignores: that GPUs of one machine are more alike than others, or less; pipelines, whose slowest
 *          GPU may be one with little to do; that GPUs which share a batch, by tensor parallelism,
 *          have the same one; that a longest batch has a bound, which l has to allow for
 */
#ifndef FR_STUDY_QUESTION_VARIATION_H
#define FR_STUDY_QUESTION_VARIATION_H

#include "study/answer/record.h"

/* The expected largest of n standard normal numbers; 0 for n < 2. */
double fr__largest_normal(size_t n);

/* How many times as long compute takes on all GPUs of m; 1 without the question's gpu_variation and
 * length_variation. */
double fr__wait_factor(const struct fr__making *m);

/* How much of that, above 1, there would not be if batches were alike; 0..1. */
double fr__length_wait_frac(const struct fr__making *m);

/* Multiplies m->slowness of the compute of the types of m's GPUs by that factor; makes the array
 * where there is none. FR_ENOMEM. */
enum fr_status fr__wait_for_slowest(struct fr__making *m, struct fr_error *err);

#endif
