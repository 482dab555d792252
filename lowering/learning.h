/* lowering/learning.h - how a strategy learned what things cost: one record for all strategies.
 *
 * A strategy that learns knows no cost at first. It makes a plan, measures it, plans anew with what
 * it measured, and so on. Each of these steps is a round. The record owns its strings and arrays,
 * and nothing in it points into a planner. Reports and pictures read it and know no strategy.
 */
#ifndef FORERUN_LEARNING_H
#define FORERUN_LEARNING_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pre-training is the rounds until nothing new is learned. After it, one round now and then (a
 * profile) finds out whether costs have changed. A GPU may drift: from an iteration on, it takes
 * longer for everything that it computes. */
struct fr_learn_options {
    uint32_t rounds;     /* most rounds of pre-training, not counting the first */
    uint32_t iterations; /* measured in a round */
    uint32_t profiles;   /* rounds after pre-training */
    uint64_t period;     /* iterations before each profile */
    double eps;          /* relative; a smaller change of a cost does not count */
    double activation_s; /* to switch from one plan to another */
    uint32_t drift_gpu;  /* rank among the GPUs in use, from 0 */
    uint64_t drift_from; /* iteration */
    double drift_factor; /* 1: nothing drifts; 2: it takes twice as long */
};

enum fr_learn_outcome {
    FR_LEARN_FIRST,
    FR_LEARN_KEPT,        /* a new plan, tried, not slower: it is in use */
    FR_LEARN_ROLLED_BACK, /* a new plan, tried, slower: the plan before it is in use again */
    FR_LEARN_SAME,        /* the plan is the one in use, which was measured again */
    FR_LEARN_REJECTED,    /* the plan was rolled back before; the one in use was measured again */
    FR_LEARN_NOT_BETTER,  /* the plan is not estimated to be shorter; likewise */
    FR_LEARN_WATCHED,     /* no new plan was made; likewise */
    FR_LEARN_CHANGED,     /* a cost had changed: a plan was made, the next round tries it */
    FR_N_LEARN_OUTCOMES
};

struct fr_learn_round {
    enum fr_learn_outcome outcome;
    bool is_profile;     /* after pre-training */
    bool is_settled;     /* no cost was new, none had changed */
    uint64_t iteration;  /* of the training, when the round began */
    uint32_t strategy;   /* number of the plan that was measured; 0 is the first */
    uint32_t in_use;     /* number of the plan in use after the round */
    double planned_s;    /* estimate of the plan that was made; NAN: none */
    double estimated_s;  /* of the measured plan, before it was measured; NAN: nothing known */
    double measured_s;   /* INFINITY: out of memory */
    double activation_s; /* of the new plan, and of the old one where it was rolled back */
    size_t n_ops, n_splits, n_gpus; /* of the measured plan; n_gpus: that have work */
    /* A cost is that of one kind of work on one GPU, or of transfers between two GPUs. */
    size_t n_measured, n_new, n_changed;
    double change;            /* relative, the largest of a cost that was known */
    double before_s, after_s; /* that cost */
    const char *changed;      /* its name: "conv1_1 on n0.gpu1", "n0.gpu0 to n0.gpu1"; "" none */
};

struct fr_learn_gpu {
    const char *name;
    size_t n_ops; /* of the plan in use at the end */
};

/* Who learned on what, then round by round. Strings and arrays belong to the record. */
struct fr_learning {
    const char *workload, *topology, *strategy; /* normalised names */
    size_t n_gpus, n_gpus_total;                /* in use; of the topology */
    uint32_t global_batch;
    uint64_t seed;
    const char *start, *start_words; /* the first plan: "dp", "data parallel" */
    bool has_changed;                /* a profile found a change */
    bool has_converged;              /* pre-training, within its rounds */
    size_t n_rounds, n_pre_training; /* the latter include the first */
    const struct fr_learn_round *rounds;
    size_t n_activated, n_rolled_back, n_splits;
    const char *const *splits;       /* of the plan in use: "conv1_1 in 2 along the batch" */
    const struct fr_learn_gpu *gpus; /* [n_gpus] */
    double first_s, in_use_s;        /* a step of the first plan, of the one in use; measured */
    uint64_t n_iterations;
    double training_s, activation_s; /* of those iterations; of all activations */
    void *priv;
};

void fr_learning_free(struct fr_learning *l);

#ifdef __cplusplus
}
#endif
#endif
