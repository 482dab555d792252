/* study/host.h - what the hosts add to a step: time of the host to launch an
 * op, and time to read and prepare samples.
 *
 * The host runs ahead of the GPU, so its time counts only where ops are short; the engine does
 * that. Input is prepared ahead too, while the step before runs: a step takes the longer of what it
 * computes and what its samples take on the slowest machine.
 * Ignores: that preparing samples takes CPU time from the host's thread, and batches that wait
 * until all samples have come.
 */
#ifndef FR_STUDY_HOST_H
#define FR_STUDY_HOST_H

#include "study/record.h"

/* Factors of the run on all resources, with the question's host time of an op in them:
 * m->slowness is replaced. Nothing where the question does not say. FR_ENOMEM. */
enum fr_status fr__host_slowness(struct fr__making *m, struct fr_error *err);

/* Seconds that a step's samples take on the machine that prepares most of them; 0: the question
 * gives no rate. */
double fr__input_s(const struct fr__making *m);

#endif
