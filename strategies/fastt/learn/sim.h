/* strategies/fastt/learn/sim.h - learning with the simulator as the cluster.
 *
 * The simulator runs with the costs of the problem's cost model, with contention, jitter and slow
 * devices. The planner sees only what each operation and transfer took. Iteration i of the training
 * draws its jitter from (seed, i).
 */
#ifndef FR_STRATEGIES_FASTT_LEARN_SIM_H
#define FR_STRATEGIES_FASTT_LEARN_SIM_H

#include "strategies/fastt/fastt.h"
#include "strategies/fastt/learn/learn.h"

/* A device that becomes slower: from an iteration on, everything it computes takes longer. */
struct fr__drift {
    uint64_t from;   /* iteration */
    uint32_t device; /* index among the problem's */
    double factor;   /* 1: nothing drifts */
};

struct fr__learn_sim; /* the learning, and the problem and start that it uses */

/* Learns on in. how: the planner's options, which also give o's search. run: seed, jitter and all
 * that the engine takes; slow devices (device_cv) are drawn once, from the seed. in must outlive
 * *out; errors as fr__learn_run, fr_simulate. */
enum fr_status fr__learn_sim(struct fr__learn_sim **out, const struct fr_problem *in,
                             const struct fr__fastt_options *how, const struct fr__learn_options *o,
                             const struct fr_run_options *run, const struct fr__drift *drift,
                             const struct fr_context *ctx, struct fr_error *err);
void fr__learn_sim_free(struct fr__learn_sim *s);

const struct fr__learning *fr__learn_sim_result(const struct fr__learn_sim *s);
bool fr__learn_sim_is_data_parallel(const struct fr__learn_sim *s);

#endif
