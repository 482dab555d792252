/* study/answer/learn.h - asks a strategy to learn costs on the simulated cluster, round by round.
 *
 * The strategy knows no cost. It measures a first plan, learns what operations and transfers took,
 * plans with that, tries the plan, goes back if it is slower, and so on until nothing new is
 * learned. Then it measures again every so many iterations. The rules are the strategy's; see field
 * `learn` of struct fr_strategy. lowering/learning.h has the record.
 */
#ifndef FORERUN_LEARN_H
#define FORERUN_LEARN_H

#include "lowering/learning.h"
#include "study/study.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 100 rounds of 10 iterations, eps 0.05, 30 s to activate, no profiles, no drift. Profiles are 500
 * iterations apart, as many as X. Yi et al., FastT, Middleware 2020, average over; that paper gives
 * no eps. 30 s is what a restart from a checkpoint costs in the simulator of A. Qiao et al.,
 * Pollux, OSDI 2021 (simulator.py of its artifact, rescale_time). */
void fr_learn_options_init(struct fr_learn_options *o);

const char *fr_learn_outcome_name(enum fr_learn_outcome o); /* "rolled back", for JSON and tables */

/* Loads what q names and learns. The order, network, seed, jitter and slow devices of q's run are
 * the cluster's. q->strategy NULL: the strategy that learns by default (fr_strategy_learner). The
 * caller frees *out with fr_learning_free. FR_EUSAGE: the strategy cannot learn; FR_ERANGE: the
 * drifting GPU is not among those in use, or eps or the factor is out of range; FR_ENOROOM: the
 * first plan does not fit; else as fr_answer. */
enum fr_status fr_learn(struct fr_learning **out, const struct fr_question *q,
                        const struct fr_learn_options *o, const struct fr_context *ctx,
                        struct fr_error *err);

#ifdef __cplusplus
}
#endif
#endif
