/* study/interval/anchor.h - what measured steps say of all other questions on the same model,
 * number format and GPU type.
 *
 * Model:   ln(measured) = ln(T(f, h) + x E + c B + u S) + e; T: the step simulated with compute
 *          exp(f) times and host time an op exp(h) times as long; E: all that it takes to exchange,
 *          hidden or not (of x below 0 what is not hidden), for links that are slower; B: what is
 *          exchanged, read and written once by the GPU that sends it, for copies, casts, checks and
 *          sums on busy multiprocessors, which go with its bytes however fast the links are; S: its
 *          updates and CONSTANT_S, for other work that software does once a step; e: normal, NOISE.
 *          Each of f, h, x, c, u has a prior (priors.h, or what the question's recipe was fitted
 *          to), so a step moves what is uncertain: one GPU says nothing of an exchange, and steps
 *          inside a machine tell B from E by their priors alone
 * Which:   steps on as many GPUs as the question has, by its strategy, if there are any: they hold
 *          what the software loses among so many. Else, of a question of several, steps on several:
 *          they hold most of it. Else steps of one GPU.
 * Method:  the most likely f, h, x, c, u (most_likely.h), f no further above its prior than
 *          MOST_DEVIATIONS
 * Contradictions: a step says something else than what is known where its time lies
 *          - outside the range of 90 % of its class before anything was measured (terms.h); or
 *          - further from what all other steps say of it (their fit and the prior, without it:
 *            r / (1 - h), h its leverage, the PRESS residual; Allen, Technometrics 16(1), 1974)
 *            than 1.96 of its standard deviations, and by more than steps of one system differ; or
 *          - where steps of the table that the fit did not take, those on other numbers of GPUs,
 *            are predicted by it on the median outside the range of 90 % of anchored steps.
 *          Nothing is left out for that: which of two steps is wrong, nobody can tell from them.
 * More GPUs than the cluster has: the step stands on more of the same machines
 *          (study/session/grown.h)
 * Ignores: that layers may err otherwise at other batches than the measured; that links inside a
 *          machine and between machines may be wrong by different factors
 */
#ifndef FR_STUDY_INTERVAL_ANCHOR_H
#define FR_STUDY_INTERVAL_ANCHOR_H

#include "study/interval/most_likely.h"
#include "study/interval/terms.h"
#include "study/study.h"

/* What a measured step contradicts: published steps of its class, or the other measured ones. */
enum fr__contradicts { FR__CONTRADICTS_NOTHING, FR__CONTRADICTS_CLASS, FR__CONTRADICTS_STEPS };

struct fr__contradiction {
    enum fr__contradicts contradicts;
    uint32_t n_gpus, batch; /* of the step */
    double measured_s;      /* its time */
    double expected_s;      /* by what is known without it */
    double low_s, high_s;   /* 90 % of what is known */
    size_t n_others;        /* measured steps that say so; 0: published ones */
};

/* What an exchange and a step of software are counted in. */
struct fr__step_units {
    double exchange_s, exposed_s; /* messages in an iteration, the mean of GPUs; not hidden ones */
    double copies_s;              /* all that is exchanged, once read and written by the GPU */
    double updates_s, step_s;     /* on the GPU that has most of them; with a constant */
};

struct fr__correction {
    enum fr__anchor anchor;    /* what the steps are to the question */
    uint32_t n_gpus;           /* of the first step */
    size_t n_steps;            /* measured ones that were used */
    size_t n_believed;         /* that the question's recipe was fitted to; both 0: no correction */
    double moved[FR__N_MOVED]; /* normal.h */
    double variance[FR__N_MOVED][FR__N_MOVED]; /* of these */
    double predicted_s, measured_s;            /* of the first step, before */
    uint32_t batch;                            /* of the first step */
    double predicted_bytes, measured_bytes;    /* its peak memory; measured 0: not known */
    struct fr__contradiction contradiction;    /* the worst */
    bool lacks_network;                        /* struct fr__believed */
    uint64_t n_events;                         /* simulated for it */
};

/* What a recipe that was fitted to steps says of a question. */
struct fr__believed {
    bool lacks_network;     /* the question is of several machines, and no step of the fit was */
    size_t n_steps;         /* that it was fitted to */
    enum fr__anchor anchor; /* what they are to the question; FR__NOT_ANCHORED: of other models */
    struct fr__prior prior;
    double covariance[FR__N_MOVED][FR__N_MOVED]; /* the inverse of the prior's precision */
};

/* A simulated step. */
struct fr__simulated_step {
    double computed_s, input_s; /* it takes the longer of the two */
    struct fr__step_units units;
    double bytes;              /* the most that a GPU holds */
    double *parts_s;           /* [fr_n_resources] the caller's */
    uint64_t n_events;         /* that it took, added */
    double time_s;             /* with what a correction adds */
    double slope[FR__N_MOVED]; /* of its logarithm */
};

/* Answers q on s. It is handed in, since what answers questions corrects them by this file. */
typedef enum fr_status (*fr__answer_step_fn)(const struct fr_setting *s,
                                             const struct fr_question *q,
                                             const struct fr_context *ctx,
                                             struct fr__simulated_step *out, struct fr_error *err);

/* What is handed in: how steps are answered, and how a larger cluster of the same machines is made
 * (study/session/grown.h) and released. */
struct fr__asking {
    fr__answer_step_fn answer;
    enum fr_status (*grow)(struct fr_setting *out, const struct fr_setting *s,
                           const struct fr_question *q, uint32_t n_gpus, struct fr_error *err);
    void (*release)(struct fr_setting *s);
};

/* The correction that q->measured makes for a question on these GPUs, beside what its recipe says
 * (believed; NULL: nothing). devices: [n_devices]. batch_per_gpu: of a time without a table.
 * FR_EUSAGE: GPUs of several types; errors of fr__measured_read and of answer. Cost: a few runs a
 * measured step. */
enum fr_status fr__correction_find(struct fr__correction *out, const struct fr_setting *s,
                                   const struct fr_question *q, const uint32_t devices[],
                                   size_t n_devices, uint32_t batch_per_gpu,
                                   const struct fr__believed *believed,
                                   const struct fr__asking *asking, const struct fr_context *ctx,
                                   struct fr_error *err);

/* FR_EUSAGE: these GPUs are of several types, and a measured step is of one. devices: [n]. */
enum fr_status fr__check_types(const struct fr_topo *t, const uint32_t devices[], size_t n,
                               struct fr_error *err);

/* What is known before a step was measured: prior and most_compute of *seen. */
void fr__seen_prior(struct fr__seen *seen, const struct fr_graph *g, bool knows_recipe);

/* The strategy of one GPU, with which others are compared. */
const char *fr__baseline_name(void);

/* Makes q ask for nothing but the time of a step that was measured, and what it is made of. */
void fr__question_for_step(struct fr_question *q);

/* Simulates q, a question for a step on s, with the correction's parts: time_s and slope of *out
 * beside what answer fills; out->parts_s belongs to the caller. q->run.slowness is NULL again.
 * type: that of its GPUs. FR_ERANGE: it takes no time; errors of answer. */
enum fr_status fr__step_simulate(const struct fr__correction *c, const struct fr_setting *s,
                                 struct fr_question *q, uint32_t type, fr__answer_step_fn answer,
                                 const struct fr_context *ctx, struct fr__simulated_step *out,
                                 struct fr_error *err);

/* Whether it moves anything, or knows that nothing moves. */
bool fr__is_corrected(const struct fr__correction *c);

/* The slowness of each resource (run options) with that correction of a device type; *out: the
 * caller frees. FR_ENOMEM. */
enum fr_status fr__correction_slowness(double **out, const struct fr__correction *c,
                                       const struct fr_topo *t, uint32_t type,
                                       struct fr_error *err);

/* Of a run with tasks and accounts. FR_ENOMEM. Cost: O(tasks). */
enum fr_status fr__step_units(struct fr__step_units *out, const struct fr_plan *plan,
                              const struct fr_run *run, struct fr_error *err);
/* What the correction adds to the iteration of a run with these units. */
double fr__correction_step_s(const struct fr__correction *c, const struct fr__step_units *units);
double fr__correction_exchange_s(const struct fr__correction *c,
                                 const struct fr__step_units *units);

/* Standard deviation of the logarithm of an iteration's time that the correction leaves: parts_s of
 * its run; iteration_s with what the correction adds. */
double fr__correction_error(const struct fr__correction *c, uint32_t type, const double parts_s[],
                            const struct fr__step_units *units, double iteration_s);

#endif
