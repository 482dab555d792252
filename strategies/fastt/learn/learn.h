/* strategies/fastt/learn/learn.h - FastT's pre-training: measure, learn, plan anew, try it, keep it or go back.
 *
 * The first strategy is data parallel where the dag holds replicas (a replica a device; variables,
 * sums and updates on the first device with room), else model parallel (operations in order, each
 * device filled to its share of the memory). It is measured. Then, each round:
 *   plan with what is known, unknown costs being 0; activate the plan, whatever its estimate; measure;
 *   take up what was measured; if the step takes longer than with the strategy before, go back to it.
 * A plan that is in use already, or that was gone back from, is not activated: what is in use is
 * measured again. Pre-training ends when nothing new was measured in a round and nothing that was
 * known has changed by more than eps. Then, every so many iterations, what is in use is measured. When
 * something has changed by more than eps, the old samples of it are forgotten and a plan is made; it is
 * tried if its estimate is below that of the strategy in use at the costs known now. That goes on
 * until a round changes nothing.
 *
 * Source: X. Yi et al., FastT, Middleware 2020, sections 3 and 4. Decided here, where the paper is
 *         silent: eps; what is in use or was gone back from is not activated again; the strategy to
 *         beat is as long as it was measured when it was taken into use (or watched, after a change);
 *         a strategy that runs out of memory is infinitely slow and is not measured in part.
 */
#ifndef FR_STRATEGIES_FASTT_LEARN_LEARN_H
#define FR_STRATEGIES_FASTT_LEARN_LEARN_H

#include "strategies/fastt/learn/costs.h"
#include "strategies/fastt/os_dpos.h"
#include "strategies/learning.h"

/* A dag with its operations placed and in order; number 0 is the first. */
struct fr__learn_strategy {
    const struct fr__dag *dag; /* with a column of costs for each device */
    const uint32_t *device, *order;
    uint32_t number;
};

/* What is measured: a cluster, a simulator, a table. */
struct fr__learn_truth {
    void *user;
    /* Runs n iterations of a strategy, the first of them number `first` of the training, adds
     * what each operation and transfer took to *into, and leaves the mean of the step in
     * *step_s: INFINITY, and nothing added, when it runs out of memory. */
    enum fr_status (*measure)(void *user, const struct fr__learn_strategy *s, uint64_t first,
                              unsigned n, struct fr__learned *into, double *step_s,
                              struct fr_error *err);
};

struct fr__learn_options {
    struct fr__os_dpos_options search; /* max_parts 1: no splitting; costs are filled in */
    unsigned iterations;               /* measured in a round; at least 1 */
    unsigned max_rounds;               /* of pre-training, beside the first */
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
    double activation_s;      /* there, and back */
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

/* start: the dag of the model or of its replicas; m: its types are not used, its links not known.
 * The caller frees *out and keeps start and the arrays of m for as long. FR_ENOROOM: the first
 * strategy does not fit, or runs out of memory; FR_ECANCELLED; FR_ENOMEM; what the truth fails
 * with. */
enum fr_status fr__learn_run(struct fr__learning **out, const struct fr__dag *start,
                             const struct fr__dpos_machine *m, const struct fr__learn_options *o,
                             const struct fr__learn_truth *truth, const struct fr_context *ctx,
                             struct fr_error *err);
void fr__learn_free(struct fr__learning *g);

/* ---- learn_first.c ---- */

/* The first strategy: device [n_ops]; its order is that of the dag. FR_ENOROOM, FR_ENOMEM. */
enum fr_status fr__learn_first(const struct fr__dag *dag, const struct fr__dpos_machine *m,
                               uint32_t device[], struct fr_error *err);

/* What a strategy takes at the costs known now: each device runs its operations in order, each
 * as soon as its inputs have arrived. FR_ENOMEM. Cost: O(ops + edges). */
enum fr_status fr__learn_estimate(double *out_s, const struct fr__learned *l,
                                  const struct fr__learn_strategy *s, size_t n_devices,
                                  struct fr_error *err);

#endif
