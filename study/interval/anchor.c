/* study/interval/anchor.c - a small Bayesian update of compute and host time by measured steps. */
#include "config.h"

#include "study/interval/anchor.h"

#include "base/error.h"
#include "study/interval/contradiction.h"
#include "study/interval/measured.h"
#include "study/interval/terms.h"
#include "study/interval/update.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Assumed; a standard deviation up is 1.65 times, about what eager PyTorch takes of CUDA's own
 * launches. */
static const double HOST = 0.5;
enum { MOST_ROUNDS = 24 };
static const double SETTLED = 1e-4;
/* The factors that are believed: beyond, a time is a misprint. */
static const double MOST_LOG = 3;

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

/* Lets q ask for the GPUs of a step: the question's first ones. More than it has can only be
 * counted. */
static enum fr_status choose_gpus(const struct fr__update *u, const struct fr__measured_step *m,
                                  struct fr_question *q, struct fr_error *err)
{
    const struct fr_topo *t = u->setting->topo;
    char *end = u->names;

    if (m->n_gpus == 1)
        q->strategy = q->measured_strategy ? q->measured_strategy : baseline();
    else if (m->strategy[0])
        q->strategy = m->strategy;
    if (m->n_gpus > u->n_devices) {
        if (q->devices)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "the measured step is of %u GPUs, and --devices names %zu",
                            (unsigned)m->n_gpus, u->n_devices);
        q->n_gpus = m->n_gpus;
        return FR_OK;
    }
    for (size_t i = 0; i < m->n_gpus; i++) {
        const char *name = t->devices[u->devices[i]].name;
        size_t n = strlen(name);

        if (i > 0)
            *end++ = ',';
        memcpy(end, name, n);
        end += n;
    }
    *end = '\0';
    q->devices = u->names;
    q->n_gpus = 0;
    q->is_spread = false;
    return FR_OK;
}

static enum fr_status run_step(const struct fr__update *u, const struct fr__measured_step *m,
                               double *time_s, double slope[2], double *bytes, struct fr_error *err)
{
    bool is_grown = m->n_gpus > u->setting->topo->n_gpus;
    const struct fr_setting *s = is_grown ? &u->grown : u->setting;
    struct fr_question q = *u->question;
    double *slowness = NULL;
    enum fr_status st;

    q.measured = NULL;
    FR_TRY(choose_gpus(u, m, &q, err));
    q.global_batch = m->batch;
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
    FR_TRY(fr__correction_slowness(&slowness, u->c, s->topo, u->type, err));
    q.run.slowness = slowness;
    st = u->asking->answer(s, &q, u->context, time_s, u->parts_s, bytes, u->n_events, err);
    if (st == FR_OK && !(*time_s > 0))
        st = fr__fail(err, FR_ERANGE, FR_NOWHERE, "the measured step takes no time when simulated");
    for (unsigned k = 0; st == FR_OK && k < 2; k++)
        slope[k] = part(u->type, k == 1, u->parts_s) / *time_s;
    free(slowness);
    return st;
}

/* What the measured steps add to the equations of a Gauss-Newton step, J'J / v and J' r / v; and
 * what is to be least, the misfit of these steps and of the prior. */
struct normal {
    double a[2][2], b[2], misfit;
};

/* At the correction as it is. */
static enum fr_status look(const struct fr__update *u, bool is_first, struct normal *out,
                           struct fr_error *err)
{
    struct fr__correction *c = u->c;
    const double x[2] = {c->compute, c->host};
    double slope[2];

    *out = (struct normal){0};
    for (unsigned k = 0; k < 2; k++)
        out->misfit += pow(u->prior_mean[k] - x[k], 2) / u->prior_variance[k];
    for (size_t i = 0; i < u->measured->n; i++) {
        const struct fr__measured_step *m = &u->measured->steps[i];
        double time_s, bytes, miss;

        FR_TRY(run_step(u, m, &time_s, slope, &bytes, err));
        if (is_first && i == 0) {
            c->predicted_s = time_s;
            c->predicted_bytes = bytes;
        }
        miss = log(m->time_s / time_s);
        out->misfit += miss * miss / (FR__NOISE * FR__NOISE);
        for (unsigned k = 0; k < 2; k++) {
            out->b[k] += slope[k] * miss / (FR__NOISE * FR__NOISE);
            for (unsigned l = 0; l < 2; l++)
                out->a[k][l] += slope[k] * slope[l] / (FR__NOISE * FR__NOISE);
        }
    }
    return FR_OK;
}

/* Solves (P0 + J'J / v) d = J' r / v - P0 (x - x0) and goes there. Keeps the covariance, the
 * inverse of the matrix. Returns the larger part of d. */
static double step(const struct fr__update *u, const struct normal *n)
{
    struct fr__correction *c = u->c;
    double *x[2] = {&c->compute, &c->host}, moved = 0, b[2];
    double a00 = n->a[0][0] + 1 / u->prior_variance[0], a11 = n->a[1][1] + 1 / u->prior_variance[1];
    double det = a00 * a11 - n->a[0][1] * n->a[1][0];

    c->variance[0][0] = a11 / det;
    c->variance[1][1] = a00 / det;
    c->variance[0][1] = c->variance[1][0] = -n->a[0][1] / det;
    for (unsigned k = 0; k < 2; k++)
        b[k] = n->b[k] + (u->prior_mean[k] - *x[k]) / u->prior_variance[k];
    for (unsigned k = 0; k < 2; k++) {
        double d = c->variance[k][0] * b[0] + c->variance[k][1] * b[1];

        *x[k] = fmax(-MOST_LOG, fmin(MOST_LOG, *x[k] + d));
        moved = fmax(moved, fabs(d));
    }
    return moved;
}

/* The equations at best that those of `over`, found at its correction, are added to. */
static struct normal join(const struct fr__correction *best, const struct normal *at_best,
                          const struct fr__correction *over, const struct normal *at_over)
{
    const double d[2] = {over->compute - best->compute, over->host - best->host};
    struct normal both = *at_best;

    for (unsigned k = 0; k < 2; k++) {
        both.b[k] += at_over->b[k];
        for (unsigned l = 0; l < 2; l++) {
            both.b[k] += at_over->a[k][l] * d[l];
            both.a[k][l] += at_over->a[k][l];
        }
    }
    return both;
}

/* A step takes what is longer, the GPU's work or the host's, and slopes hold on one side of that
 * corner. Where a Gauss-Newton step makes the misfit worse, it has passed it: then the equations of
 * both sides are solved together, and if that is no better, half the way is gone, and so on. */
static enum fr_status update(const struct fr__update *u, struct fr_error *err)
{
    struct fr__correction *c = u->c, best = *c;
    struct normal here, at_best = {.misfit = INFINITY};
    double moved = INFINITY;
    bool is_joined = false;

    for (unsigned round = 0; round < MOST_ROUNDS && moved > SETTLED; round++) {
        FR_TRY(look(u, round == 0, &here, err));
        if (here.misfit <= at_best.misfit) {
            struct fr__correction from = *c;

            moved = step(u, &here);
            if (moved <= SETTLED)
                return FR_OK;
            at_best = here;
            best = from;
            memcpy(best.variance, c->variance, sizeof(best.variance));
            is_joined = false;
        } else if (!is_joined) {
            struct normal both = join(&best, &at_best, c, &here);

            *c = best;
            moved = step(u, &both);
            is_joined = true;
        } else {
            c->compute = (c->compute + best.compute) / 2;
            c->host = (c->host + best.host) / 2;
            moved /= 2;
        }
    }
    *c = best;
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

/* Whether a step was run as the question is asked. */
static bool is_same(const struct fr__measured_step *m, size_t n_gpus, const char *strategy)
{
    return m->n_gpus == n_gpus &&
           (n_gpus == 1 || !m->strategy[0] || (strategy && strcmp(m->strategy, strategy) == 0));
}

/* Keeps the steps that say most of a question on n_gpus, see anchor.h. */
static enum fr__anchor keep_nearest(struct fr__measured *m, size_t n_gpus, const char *strategy)
{
    bool have_same = false, have_several = false;
    enum fr__anchor anchor;
    size_t kept = 0;

    for (size_t i = 0; i < m->n; i++) {
        have_same = have_same || is_same(&m->steps[i], n_gpus, strategy);
        have_several = have_several || m->steps[i].n_gpus > 1;
    }
    if (have_same)
        anchor = FR__BY_AS_MANY_GPUS;
    else
        anchor = have_several ? FR__BY_SEVERAL_GPUS : FR__BY_ONE_GPU;
    for (size_t i = 0; i < m->n; i++) {
        uint32_t n = m->steps[i].n_gpus;

        if (have_same ? is_same(&m->steps[i], n_gpus, strategy)
                      : n_gpus > 1 && (n > 1) == have_several)
            m->steps[kept++] = m->steps[i];
    }
    m->n = kept;
    return kept > 0 ? anchor : FR__NOT_ANCHORED;
}

/* A time alone that says nothing of the question is a mistake; a table may be of much else. */
static enum fr_status check_use(const struct fr__measured *m, size_t n_gpus, struct fr_error *err)
{
    if (m->n_rows == 0 && n_gpus == 1 && m->steps[0].n_gpus > 1)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "a step measured on %u GPUs does not say what one GPU takes; measure it on "
                        "one",
                        (unsigned)m->steps[0].n_gpus);
    return FR_OK;
}

/* What is believed before anything was measured: the class of the measured step. */
static void set_prior(struct fr__update *u, enum fr__anchor anchor)
{
    struct fr__step_class step = fr__step_class_of(u->setting->graph);
    struct fr__step_basis basis;
    struct fr__step_term term;
    double deviation;

    step.knows_recipe = u->question->recipe != NULL;
    if (anchor != FR__BY_ONE_GPU)
        step.place = fr__place_of(u->setting->topo, u->devices, u->n_devices);
    term = fr__step_claim(step, &basis);
    deviation = (term.q[FR__Q95] - term.q[FR__Q05]) / (2 * 1.64485);
    u->prior_mean[0] = term.q[FR__Q50];
    u->prior_variance[0] = fmax(deviation * deviation, FR__NOISE * FR__NOISE);
    u->prior_variance[1] = HOST * HOST;
}

/* Makes room for steps on more GPUs than the cluster has. */
static enum fr_status grow(struct fr__update *u, const struct fr__measured *measured,
                           struct fr_error *err)
{
    uint32_t most = 0;
    double *parts_s;

    for (size_t i = 0; i < measured->n; i++)
        most = measured->steps[i].n_gpus > most ? measured->steps[i].n_gpus : most;
    if (most <= u->setting->topo->n_gpus)
        return FR_OK;
    FR_TRY(u->asking->grow(&u->grown, u->setting, u->question, most, err));
    parts_s = realloc(u->parts_s, (fr_n_resources(u->grown.topo) + 1) * sizeof(*parts_s));
    if (!parts_s)
        return fr__fail_nomem(err);
    u->parts_s = parts_s;
    return FR_OK;
}

/* Reads the steps of the question and learns from them. measured, all: scratch. */
static enum fr_status learn(struct fr__update *u, struct fr__measured *measured,
                            struct fr__measured *all, const struct fr__measured_of *of,
                            struct fr_error *err)
{
    struct fr__correction *out = u->c;
    enum fr__anchor anchor;

    FR_TRY(fr__measured_read(measured, u->question->measured, of, err));
    FR_TRY(check_use(measured, u->n_devices, err));
    *all = *measured;
    anchor = keep_nearest(measured, u->n_devices, u->question->strategy);
    if (measured->n == 0)
        return FR_OK;
    u->measured = measured;
    FR_TRY(grow(u, measured, err));
    set_prior(u, anchor);
    out->anchor = anchor;
    out->n_steps = measured->n;
    out->n_gpus = measured->steps[0].n_gpus;
    out->measured_s = measured->steps[0].time_s;
    out->measured_bytes = measured->steps[0].memory_bytes;
    out->batch = measured->steps[0].batch;
    FR_TRY(update(u, err));
    return fr__find_contradiction(u, all, err);
}

/* Room for the names of all GPUs, each with a comma. */
static size_t names_size(const struct fr_topo *t, const uint32_t devices[], size_t n)
{
    size_t size = 1;

    for (size_t i = 0; i < n; i++)
        size += strlen(t->devices[devices[i]].name) + 1;
    return size;
}

enum fr_status fr__correction_find(struct fr__correction *out, const struct fr_setting *s,
                                   const struct fr_question *q, const uint32_t devices[],
                                   size_t n_devices, uint32_t batch_per_gpu,
                                   const struct fr__asking *asking, const struct fr_context *ctx,
                                   struct fr_error *err)
{
    const struct fr_device *device = &s->topo->devices[devices[0]];
    const struct fr__measured_of of = {q->workload ? q->workload : "", s->graph->name,
                                       s->topo->types[device->type].name, s->graph->dtype,
                                       batch_per_gpu};
    struct fr__measured *measured, *all;
    struct fr__update u = {.run = run_step,
                           .setting = s,
                           .question = q,
                           .context = ctx,
                           .asking = asking,
                           .devices = devices,
                           .n_devices = n_devices,
                           .type = device->type,
                           .c = out};
    uint64_t n_events = 0;
    enum fr_status st;

    memset(out, 0, sizeof(*out));
    FR_TRY(check_types(s->topo, devices, n_devices, err));
    measured = calloc(1, sizeof(*measured));
    all = calloc(1, sizeof(*all));
    u.parts_s = calloc(fr_n_resources(s->topo) + 1, sizeof(*u.parts_s));
    u.n_events = &n_events;
    u.names = malloc(names_size(s->topo, devices, n_devices));
    st = measured && all && u.parts_s && u.names ? learn(&u, measured, all, &of, err)
                                                 : fr__fail_nomem(err);
    out->n_events = n_events;
    if (u.grown.topo)
        asking->release(&u.grown);
    free(u.names);
    free(u.parts_s);
    free(all);
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
