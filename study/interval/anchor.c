/* study/interval/anchor.c - a small Bayesian update of compute and host time by measured steps. */
#include "config.h"

#include "study/interval/anchor.h"

#include "base/error.h"
#include "study/interval/contradiction.h"
#include "study/interval/measured.h"
#include "study/interval/priors.h"
#include "study/interval/terms.h"
#include "study/interval/update.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Time of a step that neither its batch nor its updates take: the script's loop, calls of a
 * session, input. Assumed; under eight frameworks on one cluster it was 6 to 80 ms on one GPU. */
static const double CONSTANT_S = 0.005;
static const double MOST_DEVIATIONS = 3;

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
    slope[FR__COPIES] = units->copies_s / iteration_s;
    slope[FR__STEP] = (c->moved[FR__STEP] < 0 ? units->updates_s : units->step_s) / iteration_s;
}

/* What GPUs exchange, the mean of those in use. */
static void measure_exchange(struct fr__step_units *out, const struct fr_plan_view *v,
                             const struct fr_run *run, const double copied_s[])
{
    double n = 0;

    for (uint32_t d = 0; d < v->topo->n_devices; d++) {
        const struct fr_device_times *k = &run->devices[d].iteration;
        double count = v->device_counts && v->device_counts[d] > 0 ? v->device_counts[d] : 1;

        if (!v->topo->types[v->topo->devices[d].type].is_gpu || !(k->compute_s > 0))
            continue;
        n += count;
        out->exchange_s += count * k->comm_s;
        out->copies_s += count * copied_s[d];
        out->exposed_s += count * k->exposed_comm_s;
    }
    out->exchange_s /= fmax(n, 1);
    out->exposed_s /= fmax(n, 1);
    out->copies_s /= fmax(n, 1);
}

enum fr_status fr__step_units(struct fr__step_units *out, const struct fr_plan *plan,
                              const struct fr_run *run, struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(plan);
    double *updates_s = calloc(v->topo->n_devices + 1, sizeof(*updates_s)), most_s = 0;
    double *copied_s = calloc(v->topo->n_devices + 1, sizeof(*copied_s));

    if (!updates_s || !copied_s) {
        free(updates_s);
        free(copied_s);
        return fr__fail_nomem(err);
    }
    for (size_t t = 0; t < v->n_tasks; t++) {
        const struct fr_task *k = &v->tasks[t];

        if (fr_task_collective(k) != FR_NONE)
            copied_s[k->device] += 2 * v->collectives[fr_task_collective(k)].bytes /
                                   v->topo->types[v->topo->devices[k->device].type].mem_Bps;
        if (k->kind != FR_TASK_COMPUTE || k->phase != FR_PHASE_UPDATE)
            continue;
        updates_s[k->device] += run->end_s[t] - run->start_s[t];
        most_s = fmax(most_s, updates_s[k->device]);
    }
    free(updates_s);
    most_s /= run->n_iterations;
    *out = (struct fr__step_units){.updates_s = most_s, .step_s = most_s + CONSTANT_S};
    measure_exchange(out, v, run, copied_s);
    free(copied_s);
    return FR_OK;
}

bool fr__is_corrected(const struct fr__correction *c)
{
    return c->n_steps + c->n_believed > 0;
}

double fr__correction_step_s(const struct fr__correction *c, const struct fr__step_units *units)
{
    double u = c->moved[FR__STEP];

    return u * (u < 0 ? units->updates_s : units->step_s);
}

double fr__correction_exchange_s(const struct fr__correction *c, const struct fr__step_units *units)
{
    double x = c->moved[FR__EXCHANGE];

    return x * (x < 0 ? units->exposed_s : units->exchange_s) +
           c->moved[FR__COPIES] * units->copies_s;
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

const char *fr__baseline_name(void)
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
        q->strategy = q->measured_strategy ? q->measured_strategy : fr__baseline_name();
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

void fr__question_for_step(struct fr_question *q)
{
    q->measured = NULL;
    q->slow = NULL;
    q->n_seeds = 0;
    q->iterations = 0;
    q->run.jitter_cv = q->run.device_cv = 0;
    q->run.order = FR_ORDER_PRIORITY;
    q->uncertainty = FR_UNCERTAINTY_NONE;
    q->sensitivity = FR_SENSITIVITY_RUN;
    q->is_brief = true;
    q->is_overfull = NULL;
}

/* The question that asks for a step. */
static enum fr_status ask_for(const struct fr__update *u, const struct fr__measured_step *m,
                              struct fr_question *q, struct fr_error *err)
{
    *q = *u->question;
    FR_TRY(choose_gpus(u, m, q, err));
    q->global_batch = m->batch;
    q->batch_per_gpu = 0;
    fr__question_for_step(q);
    return FR_OK;
}

enum fr_status fr__step_simulate(const struct fr__correction *c, const struct fr_setting *s,
                                 struct fr_question *q, uint32_t type, fr__answer_step_fn answer,
                                 const struct fr_context *ctx, struct fr__simulated_step *out,
                                 struct fr_error *err)
{
    double *slowness = NULL, added_s;
    enum fr_status st;

    FR_TRY(fr__correction_slowness(&slowness, c, s->topo, type, err));
    q->run.slowness = slowness;
    st = answer(s, q, ctx, out, err);
    q->run.slowness = NULL;
    free(slowness);
    FR_TRY(st);
    if (!(out->computed_s > 0))
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "the measured step takes no time when simulated");
    added_s = fr__correction_step_s(c, &out->units) + fr__correction_exchange_s(c, &out->units);
    out->time_s = fmax(out->computed_s + added_s, out->input_s);
    slopes(c, type, out->parts_s, &out->units, out->time_s, out->slope);
    return FR_OK;
}

static enum fr_status run_step(const struct fr__update *u, const struct fr__measured_step *m,
                               double *time_s, double slope[FR__N_MOVED], double *bytes,
                               struct fr_error *err)
{
    bool is_grown = m->n_gpus > u->setting->topo->n_gpus;
    const struct fr_setting *s = is_grown ? &u->grown : u->setting;
    struct fr__simulated_step step = {.parts_s = u->parts_s};
    struct fr_question q;
    enum fr_status st;

    FR_TRY(ask_for(u, m, &q, err));
    st = fr__step_simulate(u->c, s, &q, u->type, u->asking->answer, u->context, &step, err);
    *u->n_events += step.n_events;
    FR_TRY(st);
    *time_s = step.time_s;
    memcpy(slope, step.slope, sizeof(step.slope));
    *bytes = step.bytes;
    return FR_OK;
}

/* Simulates measured step i with its parts moved so: see fr__seen. */
static enum fr_status look(void *user, size_t i, const double moved[FR__N_MOVED], double *miss,
                           double slope[FR__N_MOVED], struct fr_error *err)
{
    struct fr__update *u = user;
    const struct fr__measured_step *m = &u->measured->steps[i];
    struct fr__correction *c = u->c;
    double time_s, bytes;

    memcpy(c->moved, moved, sizeof(c->moved));
    FR_TRY(run_step(u, m, &time_s, slope, &bytes, err));
    if (i == 0 && !(c->predicted_s > 0)) { /* the search begins with nothing moved */
        c->predicted_s = time_s;
        c->predicted_bytes = bytes;
    }
    *miss = log(m->time_s / time_s);
    return FR_OK;
}

enum fr_status fr__check_types(const struct fr_topo *t, const uint32_t devices[], size_t n,
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

        if (have_same ? is_same(&m->steps[i], n_gpus, strategy) : (n > 1) == have_several)
            m->steps[kept++] = m->steps[i];
    }
    m->n = kept;
    return kept > 0 ? anchor : FR__NOT_ANCHORED;
}

/* A step of several GPUs ran by some strategy, which a question of one GPU does not have. */
static enum fr_status check_use(const struct fr__measured *m, size_t n_gpus, struct fr_error *err)
{
    const struct fr__measured_step *first = &m->steps[0];

    if (m->n_rows == 0 && n_gpus == 1 && first->n_gpus > 1 && !first->strategy[0])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "the step measured on %u GPUs says what one takes if its strategy is "
                        "named, as in --measured 100ms@%u:dp",
                        (unsigned)first->n_gpus, (unsigned)first->n_gpus);
    return FR_OK;
}

void fr__seen_prior(struct fr__seen *seen, const struct fr_graph *g, bool knows_recipe)
{
    struct fr__step_class step = fr__step_class_of(g);
    double mean[FR__N_MOVED], variance[FR__N_MOVED];

    step.knows_recipe = knows_recipe;
    fr__prior_of(step, mean, variance);
    fr__prior_set(&seen->prior, mean, variance);
    seen->most_compute = mean[FR__COMPUTE] + MOST_DEVIATIONS * sqrt(variance[FR__COMPUTE]);
}

/* The parts that the measured steps make most likely. Compute that is more than MOST_DEVIATIONS
 * slower is not believed. */
static enum fr_status find_parts(struct fr__update *u, const struct fr__measured *measured,
                                 struct fr_error *err)
{
    struct fr__seen seen = {.n = measured->n,
                            .look = look,
                            .user = u,
                            .freedom = u->freedom = fr__freedom_of(measured->n)};
    double moved[FR__N_MOVED];

    u->measured = measured;
    fr__seen_prior(&seen, u->setting->graph,
                   u->question->recipe && !u->question->is_recipe_assumed);
    if (u->believed)
        seen.prior = u->believed->prior;
    FR_TRY(fr__most_likely(moved, u->c->variance, &seen, err));
    memcpy(u->c->moved, moved, sizeof(moved));
    return FR_OK;
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
    if (measured->n > 0)
        FR_TRY(check_use(measured, u->n_devices, err));
    *all = *measured;
    anchor = keep_nearest(measured, u->n_devices, u->question->strategy);
    if (measured->n == 0)
        return FR_OK;
    FR_TRY(grow(u, measured, err));
    out->anchor = anchor;
    out->n_steps = measured->n;
    out->n_gpus = measured->steps[0].n_gpus;
    out->measured_s = measured->steps[0].time_s;
    out->measured_bytes = measured->steps[0].memory_bytes;
    out->batch = measured->steps[0].batch;
    FR_TRY(find_parts(u, measured, err));
    return fr__find_contradiction(u, all, err);
}

/* Without measured steps: what the recipe says. */
static void take_believed(struct fr__correction *out, const struct fr__believed *b)
{
    out->anchor = b->anchor;
    out->lacks_network = b->lacks_network;
    memcpy(out->moved, b->prior.mean, sizeof(out->moved));
    memcpy(out->variance, b->covariance, sizeof(out->variance));
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
                                   const struct fr__believed *believed,
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
                           .believed = believed,
                           .c = out};
    uint64_t n_events = 0;
    enum fr_status st;

    memset(out, 0, sizeof(*out));
    out->n_believed = believed ? believed->n_steps : 0;
    FR_TRY(fr__check_types(s->topo, devices, n_devices, err));
    if (believed)
        take_believed(out, believed);
    if (!q->measured)
        return FR_OK;
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
