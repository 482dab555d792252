/* study/interval/anchor.c - a small Bayesian update of compute and host time by measured steps. */
#include "config.h"

#include "study/interval/anchor.h"

#include "base/error.h"
#include "study/interval/contradiction.h"
#include "study/interval/measured.h"
#include "study/interval/priors.h"
#include "study/interval/terms.h"
#include "study/interval/update.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Time of a step that neither its batch nor its updates take: the script's loop, calls of a
 * session, input. Assumed; under eight frameworks on one cluster it was 6 to 80 ms on one GPU. */
static const double CONSTANT_S = 0.005;
/* Updates and messages may take less than predicted, but half of that is always done. */
static const double LEAST = -0.5;
static const double MOST_DEVIATIONS = 3;
/* The variance of what cannot move. */
static const double AT_END = 1e-8;
/* Degrees of freedom where three steps or more can contradict each other. */
static const double FREEDOM = 3;
enum { MOST_ROUNDS = 24 };
static const double SETTLED = 3e-3;
/* The factors that are believed: beyond, a time is a misprint. */
static const double MOST_LOG = 3;

/* The slopes of the logarithm of an iteration of iteration_s. */
static void slopes(const struct fr__correction *c, uint32_t type, const double parts_s[],
                   const struct fr__step_units *units, double iteration_s,
                   double slope[FR__N_MOVED])
{
    memset(slope, 0, FR__N_MOVED * sizeof(*slope));
    for (unsigned what = 0; what < FR_N_DEVICE_RESOURCES; what++)
        slope[what == FR_DEVICE_LAUNCH ? FR__HOST : FR__COMPUTE] +=
            parts_s[fr_device_resource(type, (enum fr_device_resource)what)] / iteration_s;
    slope[FR__EXCHANGE] =
        (c->moved[FR__EXCHANGE] < 0 ? units->exposed_s : units->exchange_s) / iteration_s;
    slope[FR__STEP] = (c->moved[FR__STEP] < 0 ? units->updates_s : units->step_s) / iteration_s;
}

/* What GPUs exchange, the mean of those in use. */
static void measure_exchange(struct fr__step_units *out, const struct fr_plan_view *v,
                             const struct fr_run *run)
{
    double n = 0;

    for (uint32_t d = 0; d < v->topo->n_devices; d++) {
        const struct fr_device_times *k = &run->devices[d].iteration;
        double count = v->device_counts && v->device_counts[d] > 0 ? v->device_counts[d] : 1;

        if (!v->topo->types[v->topo->devices[d].type].is_gpu || !(k->compute_s > 0))
            continue;
        n += count;
        out->exchange_s += count * k->comm_s;
        out->exposed_s += count * k->exposed_comm_s;
    }
    out->exchange_s /= fmax(n, 1);
    out->exposed_s /= fmax(n, 1);
}

enum fr_status fr__step_units(struct fr__step_units *out, const struct fr_plan *plan,
                              const struct fr_run *run, struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(plan);
    double *updates_s = calloc(v->topo->n_devices + 1, sizeof(*updates_s)), most_s = 0;

    if (!updates_s)
        return fr__fail_nomem(err);
    for (size_t t = 0; t < v->n_tasks; t++) {
        const struct fr_task *k = &v->tasks[t];

        if (k->kind != FR_TASK_COMPUTE || k->phase != FR_PHASE_UPDATE)
            continue;
        updates_s[k->device] += run->end_s[t] - run->start_s[t];
        most_s = fmax(most_s, updates_s[k->device]);
    }
    free(updates_s);
    most_s /= run->n_iterations;
    *out = (struct fr__step_units){.updates_s = most_s, .step_s = most_s + CONSTANT_S};
    measure_exchange(out, v, run);
    return FR_OK;
}

double fr__correction_step_s(const struct fr__correction *c, const struct fr__step_units *units)
{
    double u = c->moved[FR__STEP];

    return c->n_steps > 0 ? u * (u < 0 ? units->updates_s : units->step_s) : 0;
}

double fr__correction_exchange_s(const struct fr__correction *c, const struct fr__step_units *units)
{
    double x = c->moved[FR__EXCHANGE];

    return c->n_steps > 0 ? x * (x < 0 ? units->exposed_s : units->exchange_s) : 0;
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
            exp(c->moved[what == FR_DEVICE_LAUNCH ? FR__HOST : FR__COMPUTE]);
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

/* The question that asks for a step. */
static enum fr_status ask_for(const struct fr__update *u, const struct fr__measured_step *m,
                              struct fr_question *q, struct fr_error *err)
{
    *q = *u->question;
    q->measured = NULL;
    FR_TRY(choose_gpus(u, m, q, err));
    q->global_batch = m->batch;
    q->batch_per_gpu = 0;
    q->slow = NULL;
    q->n_seeds = 0;
    q->iterations = 0;
    q->run.jitter_cv = q->run.device_cv = 0;
    q->run.order = FR_ORDER_PRIORITY;
    q->uncertainty = FR_UNCERTAINTY_NONE;
    q->sensitivity = FR_SENSITIVITY_RUN;
    q->is_brief = true;
    q->is_overfull = NULL;
    return FR_OK;
}

/* Simulates it with the correction; *time_s: with what that adds to the step. */
static enum fr_status simulate(const struct fr__update *u, const struct fr_setting *s,
                               struct fr_question *q, const struct fr__correction *c,
                               struct fr__simulated_step *out, double *time_s, struct fr_error *err)
{
    double *slowness = NULL, added_s;
    enum fr_status st;

    *out = (struct fr__simulated_step){.parts_s = u->parts_s};
    FR_TRY(fr__correction_slowness(&slowness, c, s->topo, u->type, err));
    q->run.slowness = slowness;
    st = u->asking->answer(s, q, u->context, out, err);
    q->run.slowness = NULL;
    free(slowness);
    *u->n_events += out->n_events;
    FR_TRY(st);
    if (!(out->computed_s > 0))
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "the measured step takes no time when simulated");
    added_s = fr__correction_step_s(c, &out->units) + fr__correction_exchange_s(c, &out->units);
    *time_s = fmax(out->computed_s + added_s, out->input_s);
    return FR_OK;
}

static enum fr_status run_step(const struct fr__update *u, const struct fr__measured_step *m,
                               double *time_s, double slope[FR__N_MOVED], double *bytes,
                               struct fr_error *err)
{
    bool is_grown = m->n_gpus > u->setting->topo->n_gpus;
    const struct fr_setting *s = is_grown ? &u->grown : u->setting;
    struct fr__simulated_step step;
    struct fr_question q;

    FR_TRY(ask_for(u, m, &q, err));
    FR_TRY(simulate(u, s, &q, u->c, &step, time_s, err));
    slopes(u->c, u->type, u->parts_s, &step.units, *time_s, slope);
    *bytes = step.bytes;
    return FR_OK;
}

/* At the correction as it is. */
static enum fr_status look(const struct fr__update *u, bool is_first, struct fr__normal *out,
                           struct fr_error *err)
{
    struct fr__correction *c = u->c;
    double slope[FR__N_MOVED];

    *out = (struct fr__normal){.misfit = 0};
    for (unsigned k = 0; k < FR__N_MOVED; k++)
        out->misfit += pow(u->prior_mean[k] - c->moved[k], 2) / u->prior_variance[k];
    for (size_t i = 0; i < u->measured->n; i++) {
        const struct fr__measured_step *m = &u->measured->steps[i];
        double time_s, bytes;

        FR_TRY(run_step(u, m, &time_s, slope, &bytes, err));
        if (is_first && i == 0) {
            c->predicted_s = time_s;
            c->predicted_bytes = bytes;
        }
        fr__normal_add(out, slope, log(m->time_s / time_s), FR__NOISE * FR__NOISE, u->freedom);
    }
    return FR_OK;
}

/* How far each part may go. Compute that is more than MOST_DEVIATIONS slower is not believed. */
static void find_ends(const struct fr__update *u, double least[FR__N_MOVED],
                      double most[FR__N_MOVED])
{
    least[FR__COMPUTE] = least[FR__HOST] = -MOST_LOG;
    least[FR__EXCHANGE] = least[FR__STEP] = LEAST;
    most[FR__COMPUTE] =
        u->prior_mean[FR__COMPUTE] + MOST_DEVIATIONS * sqrt(u->prior_variance[FR__COMPUTE]);
    most[FR__HOST] = MOST_LOG;
    most[FR__EXCHANGE] = most[FR__STEP] = INFINITY;
}

/* Solves the equations and goes there. Where that passes the end of a part, the part stays at its
 * end and the others are solved for again. Keeps the covariance that is without ends. Returns the
 * largest part of the way. */
static double step(const struct fr__update *u, const struct fr__normal *n)
{
    struct fr__correction *c = u->c;
    double least[FR__N_MOVED], most[FR__N_MOVED], d[FR__N_MOVED], moved = 0;
    double mean[FR__N_MOVED], variance[FR__N_MOVED], unused[FR__N_MOVED][FR__N_MOVED];
    bool is_at_end[FR__N_MOVED] = {false, false, false, false};

    find_ends(u, least, most);
    memcpy(mean, u->prior_mean, sizeof(mean));
    memcpy(variance, u->prior_variance, sizeof(variance));
    fr__normal_solve(n, c->moved, mean, variance, d, c->variance);
    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        double to = c->moved[k] + d[k];

        if (is_at_end[k] || (to >= least[k] && to <= most[k]))
            continue;
        is_at_end[k] = true;
        mean[k] = fmax(least[k], fmin(most[k], to));
        variance[k] = AT_END;
        fr__normal_solve(n, c->moved, mean, variance, d, unused);
        k = UINT_MAX; /* from the first again */
    }
    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        double from = c->moved[k];

        c->moved[k] = fmax(least[k], fmin(most[k], from + d[k]));
        moved = fmax(moved, fabs(c->moved[k] - from));
    }
    return moved;
}

/* The equations at best that those of `over`, found at its correction, are added to. */
static struct fr__normal join(const struct fr__correction *best, const struct fr__normal *at_best,
                              const struct fr__correction *over, const struct fr__normal *at_over)
{
    struct fr__normal both = *at_best;

    for (unsigned k = 0; k < FR__N_MOVED; k++) {
        both.b[k] += at_over->b[k];
        for (unsigned l = 0; l < FR__N_MOVED; l++) {
            both.b[k] += at_over->a[k][l] * (over->moved[l] - best->moved[l]);
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
    struct fr__normal here, at_best = {.misfit = INFINITY};
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
            struct fr__normal both = join(&best, &at_best, c, &here);

            *c = best;
            moved = step(u, &both);
            is_joined = true;
        } else {
            for (unsigned k = 0; k < FR__N_MOVED; k++)
                c->moved[k] = (c->moved[k] + best.moved[k]) / 2;
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

/* What is believed before anything was measured. */
static void set_prior(struct fr__update *u)
{
    struct fr__step_class step = fr__step_class_of(u->setting->graph);

    step.knows_recipe = u->question->recipe != NULL;
    fr__prior_of(step, u->prior_mean, u->prior_variance);
    u->freedom = u->measured->n > 2 ? FREEDOM : 0;
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
    set_prior(u);
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
                            const struct fr__step_units *units, double iteration_s)
{
    double slope[FR__N_MOVED];

    slopes(c, type, parts_s, units, iteration_s, slope);
    return sqrt(fr__normal_spread(slope, (const double(*)[FR__N_MOVED])c->variance));
}
