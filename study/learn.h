/* study/learn.h - FastT's pre-training on the simulated cluster, round by round.
 *
 * The planner knows no cost. It measures a first strategy, learns what operations and transfers
 * took, plans with that, tries the plan, goes back if it is slower, and so on until nothing new
 * is learned; then it looks again every so many iterations. See strategies/fastt/learn/learn.h
 * for the rules.
 */
#ifndef FORERUN_LEARN_H
#define FORERUN_LEARN_H

#include "study/study.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fr_learn_options {
    uint32_t rounds;     /* of pre-training, at most, beside the first */
    uint32_t iterations; /* measured in a round */
    uint32_t profiles;   /* after pre-training */
    uint64_t period;     /* iterations before each */
    double eps;          /* relative: a smaller change is none */
    double activation_s; /* to take another strategy into use */
    uint32_t drift_gpu;  /* of those in use, by rank, from 0 */
    uint64_t drift_from; /* iteration */
    double drift_factor; /* 1: nothing drifts; 2: everything it computes takes twice as long */
};
/* 100 rounds of 10 iterations, no profiles (500 iterations apart, as many as FastT averages
 * over), eps
 * 0.05, 30 s to activate, no drift. FastT gives no eps. 30 s: what a restart from a checkpoint
 * costs in the simulator of A. Qiao et al., Pollux, OSDI 2021 (simulator.py of its artifact,
 * rescale_time). */
void fr_learn_options_init(struct fr_learn_options *o);

enum fr_learn_outcome {
    FR_LEARN_FIRST,
    FR_LEARN_KEPT,
    FR_LEARN_ROLLED_BACK,
    FR_LEARN_SAME,
    FR_LEARN_REJECTED,
    FR_LEARN_NOT_BETTER,
    FR_LEARN_WATCHED,
    FR_LEARN_CHANGED,
    FR_N_LEARN_OUTCOMES
};
const char *fr_learn_outcome_name(enum fr_learn_outcome o); /* "rolled back", for JSON and tables */

struct fr_learn_round {
    enum fr_learn_outcome outcome;
    bool is_profile;     /* after pre-training */
    bool is_settled;     /* nothing new, nothing changed */
    uint64_t iteration;  /* of the training, when it began */
    uint32_t strategy;   /* measured; 0 is the first */
    uint32_t in_use;     /* afterwards */
    double planned_s;    /* estimate of the plan that was made; NAN: none */
    double estimated_s;  /* of the measured strategy, before it was; NAN: nothing known */
    double measured_s;   /* INFINITY: out of memory */
    double activation_s; /* there, and back */
    size_t n_ops, n_splits, n_gpus;      /* of the measured strategy; n_gpus with work */
    size_t n_measured, n_new, n_changed; /* costs: of works on GPUs and of pairs of GPUs */
    double change;                       /* relative, the largest of a known cost */
    double before_s, after_s;            /* of that one */
    const char *changed; /* what: "conv1_1 on n0.gpu1", "n0.gpu0 to n0.gpu1"; "" nothing */
};

struct fr_learn_gpu {
    const char *name;
    size_t n_ops; /* of the strategy in use */
};

struct fr_learning {
    const char *workload, *topology, *strategy; /* normalised names */
    size_t n_gpus, n_gpus_total;                /* in use; of the topology */
    uint32_t global_batch;
    uint64_t seed;
    bool is_data_parallel;           /* the first strategy; else model parallel */
    bool has_changed;                /* a profile found a change */
    bool has_converged;              /* pre-training, within its rounds */
    size_t n_rounds, n_pre_training; /* the latter include the first */
    const struct fr_learn_round *rounds;
    size_t n_activated, n_rolled_back, n_splits;
    const char *const *splits;       /* of the strategy in use: "conv1_1 in 2 along the batch" */
    const struct fr_learn_gpu *gpus; /* [n_gpus] */
    double first_s, in_use_s;        /* a step at the beginning, at the end, as measured */
    uint64_t n_iterations;
    double training_s, activation_s; /* of those iterations; of all activations */
    void *priv;
};

/* Loads what q names and learns: its run's order, network, seed, jitter and slow devices are the
 * cluster's. q->strategy NULL: os-dpos. The caller frees *out. FR_EUSAGE: a strategy that has no
 * costs to learn; FR_ERANGE: a drifting GPU that is not there, an eps or factor that is none;
 * FR_ENOROOM: what it begins with does not fit; else as fr_answer. */
enum fr_status fr_learn(struct fr_learning **out, const struct fr_question *q,
                        const struct fr_learn_options *o, const struct fr_context *ctx,
                        struct fr_error *err);
void fr_learning_free(struct fr_learning *l);

#ifdef __cplusplus
}
#endif
#endif
