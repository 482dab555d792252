/* study/recipe_fit/fitting.h - a fit while it is made. */
#ifndef FR_STUDY_RECIPE_FIT_FITTING_H
#define FR_STUDY_RECIPE_FIT_FITTING_H

#include "base/arena.h"
#include "study/interval/anchor.h"
#include "study/interval/measured.h"
#include "study/recipe_fit/recipe_fit.h"
#include "study/session/session.h"
#include "study/validate/rows.h"

/* A row, ready to be asked. */
struct fr__fit_step {
    struct fr__measurement *row;
    struct fr_setting setting; /* of the session */
    struct fr_question question;
    uint64_t gpus;             /* that it is asked on */
    uint32_t type;             /* of these */
    uint32_t n_machines;       /* that these are in: 1, or 2 for several */
    double time_s;             /* with the parts as they were last; and */
    double slope[FR__N_MOVED]; /* that of its logarithm */
};

struct fr__fitting {
    struct fr__measurements rows;
    struct fr__fit_step *steps; /* [rows.n] heap; those that were measured first */
    size_t n_steps, n_measured;
    uint32_t n_machines;     /* of the measured step that has most */
    double network_variance; /* of the exchange, where no step was on several machines */
    struct fr_session *session;
    const struct fr_context *context;
    struct fr__correction correction;
    uint64_t n_asked;
};

/* The settings of a question and the type of its GPUs. The caller calls fr_setting_fini. FR_EUSAGE:
 * GPUs of several types. */
enum fr_status fr__fit_step_open(struct fr__fit_step *s, const struct fr__fitting *f,
                                 struct fr_error *err);
/* Simulates it with the correction's parts: its time_s and slope. */
enum fr_status fr__fit_step_ask(struct fr__fit_step *s, struct fr__fitting *f,
                                struct fr_error *err);

/* The variance of the logarithm of its time, after the measured steps; the parts' share of it as
 * if `with` (NULL: nothing) said nothing of them, but had been measured. */
double fr__fit_variance(const struct fr__fit_step *s, const struct fr__fitting *f,
                        const struct fr__fit_step *with);

/* The further measurements that would say most; see struct fr_recipe_fit. Texts live as long as the
 * rows. */
enum fr_status fr__fit_next(struct fr_recipe_fit *out, struct fr__fitting *f, struct fr_error *err);

/* 90 % of measurements lie within exp(-reach) and exp(reach) times a time whose logarithm has that
 * variance. */
double fr__fit_reach(double variance);
#endif
