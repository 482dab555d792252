/* study/interval/anchor.c - a small Bayesian update of compute and host time by measured steps. */
#include "config.h"

#include "study/interval/anchor.h"

#include "base/error.h"
#include "study/interval/measured.h"
#include "study/interval/terms.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NOISE: vendors' tables are good to a few percent (README of the published rates). HOST: assumed;
 * a standard deviation up is 1.65 times, about what eager PyTorch takes of CUDA's own launches. */
static const double NOISE = 0.03, HOST = 0.5;
enum { MOST_ROUNDS = 6 };
static const double SETTLED = 1e-4;
/* The factors that are believed: beyond, a time is a misprint. */
static const double MOST_LOG = 3;

struct update {
    const struct fr_setting *setting;
    const struct fr_question *question;
    const struct fr_context *context;
    fr__answer_step answer;
    const struct fr__measured *measured;
    double *parts_s; /* [fr_n_resources] scratch */
    const char *gpu; /* the device's name */
    uint32_t type;
    double prior_mean[2], prior_variance[2];
    struct fr__correction *c;
};

static double part(uint32_t type, bool is_host, const double parts_s[])
{
    if (is_host)
        return parts_s[fr_device_resource(type, FR_DEVICE_LAUNCH)];
    return parts_s[fr_device_resource(type, FR_DEVICE_ARITHMETIC)] +
           parts_s[fr_device_resource(type, FR_DEVICE_MEMORY)] +
           parts_s[fr_device_resource(type, FR_DEVICE_MEASURED)];
}

enum fr_status fr__correction_slowness(double **out, const struct fr__correction *c,
                                       const struct fr_topo *t, uint32_t type, struct fr_error *err)
{
    size_t n = fr_n_resources(t);
    double *slowness = calloc(n + 1, sizeof(*slowness));

    if (!slowness)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        slowness[i] = 1;
    for (unsigned what = 0; what < FR_N_DEVICE_RESOURCES; what++)
        slowness[fr_device_resource(type, (enum fr_device_resource)what)] =
            exp(what == FR_DEVICE_LAUNCH ? c->host : c->compute);
    *out = slowness;
    return FR_OK;
}

/* The strategy of one GPU that others are compared with. */
static const char *baseline(void)
{
    size_t i = 0;

    while (!fr_strategy_at(i)->is_baseline)
        i++;
    return fr_strategy_at(i)->name;
}

/* The one-GPU step of that batch with the correction so far: time, slopes of its logarithm, and
 * the GPU's peak memory. */
static enum fr_status run_step(const struct update *u, uint32_t batch, double *time_s,
                               double slope[2], double *bytes, struct fr_error *err)
{
    struct fr_question q = *u->question;
    const struct fr_topo *t = u->setting->topo;
    double *slowness = NULL;
    enum fr_status st;

    q.measured = NULL;
    q.strategy = q.measured_strategy ? q.measured_strategy : baseline();
    q.devices = u->gpu;
    q.n_gpus = 0;
    q.is_spread = false;
    q.global_batch = batch;
    q.batch_per_gpu = 0;
    q.slow = NULL;
    q.n_seeds = 0;
    q.iterations = 0;
    q.run.jitter_cv = q.run.device_cv = 0;
    q.run.order = FR_ORDER_PRIORITY;
    q.uncertainty = FR_UNCERTAINTY_NONE;
    q.sensitivity = FR_SENSITIVITY_RUN;
    q.is_brief = true;
    q.is_overfull = NULL;
    FR_TRY(fr__correction_slowness(&slowness, u->c, t, u->type, err));
    q.run.slowness = slowness;
    st = u->answer(u->setting, &q, u->context, time_s, u->parts_s, bytes, err);
    if (st == FR_OK && !(*time_s > 0))
        st = fr__fail(err, FR_ERANGE, FR_NOWHERE, "the measured step takes no time when simulated");
    for (unsigned k = 0; st == FR_OK && k < 2; k++)
        slope[k] = part(u->type, k == 1, u->parts_s) / *time_s;
    free(slowness);
    return st;
}

/* One Gauss-Newton step: solves (P0 + J'J / v) d = J' r / v - P0 (x - x0). *moved: the largest part
 * of d. Keeps the covariance, the inverse of the matrix. */
static enum fr_status improve(const struct update *u, bool is_first, double *moved,
                              struct fr_error *err)
{
    struct fr__correction *c = u->c;
    double *x[2] = {&c->compute, &c->host}, a[2][2] = {{0}}, b[2], det, slope[2], d[2];

    for (unsigned k = 0; k < 2; k++) {
        a[k][k] = 1 / u->prior_variance[k];
        b[k] = (u->prior_mean[k] - *x[k]) / u->prior_variance[k];
    }
    for (size_t i = 0; i < u->measured->n; i++) {
        const struct fr__measured_step *m = &u->measured->steps[i];
        double time_s, bytes, miss;

        FR_TRY(run_step(u, m->batch, &time_s, slope, &bytes, err));
        if (is_first && i == 0) {
            c->predicted_s = time_s;
            c->predicted_bytes = bytes;
        }
        miss = log(m->time_s / time_s);
        for (unsigned k = 0; k < 2; k++) {
            b[k] += slope[k] * miss / (NOISE * NOISE);
            for (unsigned l = 0; l < 2; l++)
                a[k][l] += slope[k] * slope[l] / (NOISE * NOISE);
        }
    }
    det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    c->variance[0][0] = a[1][1] / det;
    c->variance[1][1] = a[0][0] / det;
    c->variance[0][1] = c->variance[1][0] = -a[0][1] / det;
    *moved = 0;
    for (unsigned k = 0; k < 2; k++) {
        d[k] = c->variance[k][0] * b[0] + c->variance[k][1] * b[1];
        *x[k] = fmax(-MOST_LOG, fmin(MOST_LOG, *x[k] + d[k]));
        *moved = fmax(*moved, fabs(d[k]));
    }
    return FR_OK;
}

static enum fr_status update(const struct update *u, struct fr_error *err)
{
    double moved = INFINITY;

    for (unsigned round = 0; round < MOST_ROUNDS && moved > SETTLED; round++)
        FR_TRY(improve(u, round == 0, &moved, err));
    return FR_OK;
}

static enum fr_status check_types(const struct fr_topo *t, const uint32_t devices[], size_t n,
                                  struct fr_error *err)
{
    for (size_t i = 1; i < n; i++)
        if (t->devices[devices[i]].type != t->devices[devices[0]].type)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "a measured step (--measured) is of one GPU type, and these GPUs are "
                            "%.60s and %.60s",
                            t->types[t->devices[devices[0]].type].name,
                            t->types[t->devices[devices[i]].type].name);
    return FR_OK;
}

enum fr_status fr__correction_find(struct fr__correction *out, const struct fr_setting *s,
                                   const struct fr_question *q, const uint32_t devices[],
                                   size_t n_devices, uint32_t batch_per_gpu, fr__answer_step answer,
                                   const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_device *device = &s->topo->devices[devices[0]];
    enum fr_dtype dtype = s->graph->dtype;
    struct fr__step_class step = fr__step_class_of(s->graph);
    const struct fr__step_term *term;
    const struct fr__measured_of of = {q->workload ? q->workload : "", s->graph->name,
                                       s->topo->types[device->type].name, dtype, batch_per_gpu};
    double deviation;
    struct fr__measured *measured;
    struct update u = {.setting = s,
                       .question = q,
                       .context = ctx,
                       .answer = answer,
                       .gpu = device->name,
                       .type = device->type,
                       .c = out};
    enum fr_status st;

    step.knows_recipe = q->recipe != NULL;
    term = fr__step_term(step);
    deviation = (term->q[FR__Q95] - term->q[FR__Q05]) / (2 * 1.64485);
    memset(out, 0, sizeof(*out));
    FR_TRY(check_types(s->topo, devices, n_devices, err));
    measured = calloc(1, sizeof(*measured));
    u.parts_s = calloc(fr_n_resources(s->topo) + 1, sizeof(*u.parts_s));
    st = measured && u.parts_s ? fr__measured_read(measured, q->measured, &of, err)
                               : fr__fail_nomem(err);
    u.measured = measured;
    u.prior_mean[0] = term->q[FR__Q50];
    u.prior_variance[0] = fmax(deviation * deviation, NOISE * NOISE);
    u.prior_variance[1] = HOST * HOST;
    if (st == FR_OK && measured->n > 0) {
        out->n_steps = measured->n;
        out->measured_s = measured->steps[0].time_s;
        out->measured_bytes = measured->steps[0].memory_bytes;
        out->batch = measured->steps[0].batch;
        st = update(&u, err);
    }
    free(u.parts_s);
    free(measured);
    return st;
}

double fr__correction_error(const struct fr__correction *c, uint32_t type, const double parts_s[],
                            double iteration_s)
{
    double sum = 0, slope[2];

    for (unsigned k = 0; k < 2; k++)
        slope[k] = part(type, k == 1, parts_s) / iteration_s;
    for (unsigned k = 0; k < 2; k++)
        for (unsigned l = 0; l < 2; l++)
            sum += slope[k] * c->variance[k][l] * slope[l];
    return sqrt(fmax(0, sum));
}
