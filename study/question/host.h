/* study/question/host.h - what the hosts add to a step: launches, waits for the GPU, and the time
 * to read and prepare samples.
 *
 * The host launches ahead of the GPU, so its time counts only where ops are short, and after the
 * points at which it waits (sim/host.c). A run of one iteration begins with GPU and host together,
 * as after a wait. Where the question says at which points the host waits, and the end of a step is
 * none of them, the host is as far ahead at the beginning as at the end: the run is repeated with
 * the lead that the last one ended with, until it stays the same.
 *
 * A recurrent layer is one call of a library (cuDNN, torch.nn.LSTM): its steps' ops, which use the
 * same parameters, are launched inside that call at the GPU type's figure, all but the first of a
 * pass. So says the graph: ops of one layer of which one is tied to another's parameters.
 *
 * Input is prepared ahead too, while the step before runs: a step takes the longer of what it
 * computes and what its samples take on the slowest machine. Samples are images where an input of
 * the graph is; of others no decode rate is asked.
 * Ignores: that preparing samples takes CPU time from the host's thread, and batches that wait
 * until all samples have come.
 */
#ifndef FR_STUDY_QUESTION_HOST_H
#define FR_STUDY_QUESTION_HOST_H

#include "study/answer/record.h"

/* Sets m->host and points m->options at it, where the question says something of hosts. */
void fr__host_choose(struct fr__making *m);
/* Runs m's plan into m->run. m->ahead_s: made where it is needed. Errors of fr_simulation_run. */
enum fr_status fr__host_run(struct fr__making *m, struct fr_error *err);

/* Seconds that a step's samples take on the machine that takes longest; 0: any rate. */
double fr__input_s(const struct fr__making *m);
/* Cores that decode images on the machine of a device; 0: none do, or nothing is known of its
 * CPU. */
double fr__decoding_cores(const struct fr__making *m, uint32_t device);
/* The longer of a time that was computed and what its samples take. */
double fr__with_input(const struct fr__making *m, double computed_s);

#endif
