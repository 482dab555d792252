/* study/interval/anchor.h - what measured steps say of all other questions on the same model,
 * number format and GPU type.
 *
 * Model:   ln(measured) = ln T(f, h) + e; T: the step simulated with compute exp(f) times as long
 *          and host time an op exp(h) times as long; e: normal, NOISE.
 *          f: normal with the median and spread of the measured step's class (terms.h);
 *          h: normal around 0, HOST.
 * Which:   steps on as many GPUs as the question has, by its strategy, if there are any: they hold
 *          what the software loses among so many. Else, of a question of several, steps on several:
 *          they hold most of it. Else steps of one GPU.
 * Method:  the most likely f, h by Gauss-Newton steps, each with the slopes of a run (its parts,
 *          sim/sim.h), halved while they lead uphill; their covariance from the slopes at the end
 *          (Laplace; Bishop, Pattern Recognition and Machine Learning, 2006, section 4.4)
 * Contradictions: a step says something else than what is known where its time lies
 *          - outside the range of 90 % of its class before anything was measured (terms.h); or
 *          - further from what all other steps say of it (their fit and the prior, without it:
 * r / (1 - h), h its leverage, the PRESS residual; Allen, Technometrics 16(1), 1974) than
 *            1.96 of its standard deviations, and by more than steps of one system differ; or
 * - where steps of the table that the fit did not take, those on other numbers of GPUs, are
 *            predicted by it on the median outside the range of 90 % of anchored steps.
 *          Nothing is left out for that: which of two steps is wrong, nobody can tell from them.
 * More GPUs than the cluster has: the step stands on more of the same machines
 * (study/session/grown.h) Ignores: that other layers may err otherwise at other batches than the
 * measured; links. What the
 *          latter lose on several GPUs is taken for computing
 */
#ifndef FR_STUDY_INTERVAL_ANCHOR_H
#define FR_STUDY_INTERVAL_ANCHOR_H

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

struct fr__correction {
    enum fr__anchor anchor;         /* what the steps are to the question */
    uint32_t n_gpus;                /* of the first step */
    size_t n_steps;                 /* measured ones that were used; 0: nothing is corrected */
    double compute, host;           /* logarithms of the factors */
    double variance[2][2];          /* of the two */
    double predicted_s, measured_s; /* of the first step, before */
    uint32_t batch;                 /* of the first step */
    double predicted_bytes, measured_bytes; /* its peak memory; measured 0: not known */
    struct fr__contradiction contradiction; /* the worst */
    uint64_t n_events;                      /* simulated for it */
};

/* Answers q on s and says its iteration, its parts (parts_s: [fr_n_resources]), the most that a GPU
 * holds, and adds the events that it took to *n_events. It is handed in, since what answers
 * questions corrects them by this file. */
typedef enum fr_status (*fr__answer_step)(const struct fr_setting *s, const struct fr_question *q,
                                          const struct fr_context *ctx, double *iteration_s,
                                          double parts_s[], double *bytes, uint64_t *n_events,
                                          struct fr_error *err);

/* What is handed in: how steps are answered, and how a larger cluster of the same machines is made
 * (study/session/grown.h) and released. */
struct fr__asking {
    fr__answer_step answer;
    enum fr_status (*grow)(struct fr_setting *out, const struct fr_setting *s,
                           const struct fr_question *q, uint32_t n_gpus, struct fr_error *err);
    void (*release)(struct fr_setting *s);
};

/* The correction that q->measured makes for a question on these GPUs. devices: [n_devices].
 * batch_per_gpu: of a time without a table. FR_EUSAGE: GPUs of several types; errors of
 * fr__measured_read and of answer. Cost: a few runs a measured step. */
enum fr_status fr__correction_find(struct fr__correction *out, const struct fr_setting *s,
                                   const struct fr_question *q, const uint32_t devices[],
                                   size_t n_devices, uint32_t batch_per_gpu,
                                   const struct fr__asking *asking, const struct fr_context *ctx,
                                   struct fr_error *err);

/* The slowness of each resource (run options) with that correction of a device type; *out: the
 * caller frees. FR_ENOMEM. */
enum fr_status fr__correction_slowness(double **out, const struct fr__correction *c,
                                       const struct fr_topo *t, uint32_t type,
                                       struct fr_error *err);

/* Standard deviation of the logarithm of an iteration's time that the correction leaves: parts_s
 * and iteration_s of its run. */
double fr__correction_error(const struct fr__correction *c, uint32_t type, const double parts_s[],
                            double iteration_s);

#endif
