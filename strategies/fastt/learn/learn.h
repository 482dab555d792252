/* strategies/fastt/learn/learn.h - FastT's pre-training: measure, learn, plan anew, try the plan,
 * keep it or go back.
 *
 * A plan is called a strategy here, as in the paper. The first strategy is data parallel if the dag
 * holds replicas (one on each device; variables, sums and updates on the first device with room).
 * Otherwise it is model parallel (operations in order, each device filled to its share of the
 * memory). It is measured. Each round of pre-training then does this:
 * - Make a plan from what is known. Unknown costs count as 0.
 * - Activate the plan, whatever its estimate, and measure it.
 * - Add the measurements to what is known.
 * - If the step takes longer than with the strategy before, go back to that one.
 *
 * A plan that is already in use, or that was gone back from, is not activated; the strategy in use
 * is measured again instead. Pre-training ends with a round in which no new cost was measured and
 * no known one changed by more than eps.
 *
 * After that, the strategy in use is measured every so many iterations. If a cost has changed by
 * more than eps, its old samples are forgotten and a plan is made. It is tried if its estimate is
 * below that of the strategy in use at the costs known now. This goes on until a round changes
 * nothing.
 *
 * Source:  X. Yi et al., FastT, Middleware 2020, sections 3 and 4. The paper does not say these,
 *          and we decided them: eps; that a plan in use, or gone back from, is not activated again;
 *          that a new plan is compared with the step measured when the strategy in use was
 *          activated (or measured again after a change); that a strategy which runs out of memory
 *          is infinitely slow and is not measured in part.
 */
#ifndef FR_STRATEGIES_FASTT_LEARN_LEARN_H
#define FR_STRATEGIES_FASTT_LEARN_LEARN_H

#include "strategies/fastt/learn/costs.h"
#include "strategies/fastt/os_dpos.h"
#include "lowering/learning.h"

/* A dag with its operations placed and in order. Number 0 is the first strategy. */
struct fr__learn_strategy {
    const struct fr__dag *dag; /* with a column of costs for each device */
    const uint32_t *device, *order;
    uint32_t number;
};

/* Where measurements come from: a cluster, a simulator, a table. */
struct fr__learn_truth {
    void *user;
    /* Runs n iterations of a strategy, of which the first has number `first` in the training, adds
     * what each operation and transfer took to *into, and sets *step_s to the mean step. If it runs
     * out of memory, *step_s is INFINITY and nothing is added. */
    enum fr_status (*measure)(void *user, const struct fr__learn_strategy *s, uint64_t first,
                              unsigned n, struct fr__learned *into, double *step_s,
                              struct fr_error *err);
};

struct fr__learn_options {
    struct fr__os_dpos_options search; /* max_parts 1: no splitting; costs are filled in */
    unsigned iterations;               /* measured in a round; at least 1 */
    unsigned max_rounds;               /* of pre-training, without the first */
    unsigned n_profiles;               /* after it */
    uint64_t period;                   /* iterations from one to the next */
    double eps;                        /* relative */
    double activation_s;               /* to save, restart and load */
};

struct fr__learn_round {
    enum fr_learn_outcome verdict;
    bool is_profile;          /* after pre-training */
    bool is_settled;          /* nothing new, nothing changed */
    uint32_t strategy;        /* that was measured */
    uint32_t in_use;          /* afterwards */
    uint64_t first_iteration; /* of the measured ones */
    double planned_s;         /* estimate of the plan that was made; NAN: none */
    double estimated_s;       /* of the measured strategy, before; NAN: nothing was known */
    double measured_s;        /* INFINITY: out of memory */
    double activation_s;      /* of the new strategy, and of the old one if it was rolled back */
    size_t n_ops, n_splits;   /* of the measured strategy */
    size_t n_devices;         /* that have work of it that takes time */
    struct fr__learned_change change;
};

struct fr__learning {
    struct fr__learned *costs;
    struct fr__learn_round *rounds; /* [n_rounds] */
    size_t n_rounds, n_rolled_back, n_activated;
    size_t n_pre_training; /* rounds of it, the first included */
    bool has_converged;    /* pre-training, within max_rounds */
    struct fr__learn_strategy in_use;
    double in_use_s;     /* as measured */
    double training_s;   /* of all iterations counted, without activation */
    double activation_s; /* of all activations */
    uint64_t n_iterations;
    void *priv;
};

/* Learns. start: the dag of the model or of its replicas. m: its types and links are not used. The
 * caller frees *out and keeps start and the arrays of m until then. FR_ENOROOM: the first strategy
 * does not fit, or runs out of memory; FR_ECANCELLED; FR_ENOMEM; the errors of truth->measure. */
enum fr_status fr__learn_run(struct fr__learning **out, const struct fr__dag *start,
                             const struct fr__dpos_machine *m, const struct fr__learn_options *o,
                             const struct fr__learn_truth *truth, const struct fr_context *ctx,
                             struct fr_error *err);
void fr__learn_free(struct fr__learning *g);

/* ---- learn_first.c ---- */

/* Places the first strategy: device [n_ops]. Its order is that of the dag. FR_ENOROOM,
 * FR_ENOMEM. */
enum fr_status fr__learn_first(const struct fr__dag *dag, const struct fr__dpos_machine *m,
                               uint32_t device[], struct fr_error *err);

/* The step of a strategy at the costs known now: each device runs its operations in order, each as
 * soon as its inputs have arrived. FR_ENOMEM. Cost: O(ops + edges). */
enum fr_status fr__learn_estimate(double *out_s, const struct fr__learned *l,
                                  const struct fr__learn_strategy *s, size_t n_devices,
                                  struct fr_error *err);

#endif
