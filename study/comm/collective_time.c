/* study/comm/collective_time.c - times one collective alone on a cluster: simulated, by formula,
 * and fitted. */
#include "config.h"

#include "study/comm/collective_time.h"

#include "base/error.h"
#include "base/units.h"
#include "study/question/loading.h"
#include "study/answer/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_MESSAGES = 5e6; /* a few seconds */

/* The question that is being answered. */
struct work {
    struct fr_topo *topo;
    struct fr_cost_model *costs;
    uint32_t *devices; /* [n] */
    size_t n;
    const struct fr_context *ctx;
    struct fr_simulation *simulation; /* of all sizes: it keeps routes and rings */
};

/* ---- one size ---- */

/* A plan with that collective only, not finished; the collective's number is 0. */
static struct fr_plan *plan_one(const struct work *w, enum fr_collective_kind kind, double bytes)
{
    struct fr_plan *p = fr_plan_new(w->topo, NULL);
    uint32_t group;

    if (!p)
        return NULL;
    group = fr_plan_add_group_of(p, w->devices, (uint32_t)w->n);
    fr_plan_add_collective(
        p, &(struct fr_collective){.bytes = bytes, .group = group, .label = FR_NONE, .kind = kind});
    for (uint32_t rank = 0; rank < w->n; rank++)
        fr_plan_add_task(p, &(struct fr_task){.device = w->devices[rank],
                                              .cost_id = FR_NONE,
                                              .op = FR_NONE,
                                              .collective = 0,
                                              .rank = rank,
                                              .microbatch = FR_NONE,
                                              .kind = FR_TASK_COLLECTIVE,
                                              .stream = FR_STREAM_COMM});
    return p;
}

static enum fr_status run(const struct work *w, const struct fr_plan *p, bool is_closed,
                          double *out_s, struct fr_error *err)
{
    struct fr_run_options o;
    struct fr_run *r = NULL;

    fr_run_options_init(&o);
    o.want = is_closed ? 0 : FR_WANT_USUAL; /* a formula moves no message that could be checked */
    o.closed_form_collectives = is_closed;
    o.context = w->ctx;
    FR_TRY(fr_simulation_run(w->simulation, p, &o, &r, err));
    *out_s = r->makespan_s;
    fr_run_free(r);
    return FR_OK;
}

static enum fr_status fill_row(const struct work *w, enum fr_collective_kind kind, uint64_t bytes,
                               struct fr_collective_row *row, struct fr_error *err)
{
    double n_messages = fr_collective_steps(kind, (uint32_t)w->n, (double)bytes);
    struct fr_plan *p = plan_one(w, kind, (double)bytes);
    enum fr_status st;
    struct fr_cost cost;

    *row = (struct fr_collective_row){
        .bytes = bytes, .expanded_s = NAN, .closed_s = NAN, .fitted_s = NAN, .fitted_error = NAN};
    if (!p)
        return fr__fail_nomem(err);
    st = fr_plan_finish(p, err);
    if (st == FR_OK && n_messages <= MOST_MESSAGES)
        st = run(w, p, false, &row->expanded_s, err);
    if (st == FR_OK && (kind != FR_ALL_TO_ALL || n_messages <= MOST_MESSAGES))
        st = run(w, p, true, &row->closed_s, err);
    if (st == FR_OK &&
        fr_plan_collective_cost(p, w->costs, &fr_plan_view(p)->collectives[0], true, &cost)) {
        row->fitted_s = cost.mean_s;
        row->fitted_error = cost.error_frac;
        row->is_extrapolated = cost.trust == FR_TRUST_TRANSFERRED;
    }
    fr_plan_free(p);
    return st;
}

/* ---- whose times are fitted ---- */

static char *copy_text(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);

    return copy ? memcpy(copy, text, n) : NULL;
}

/* 0: out of memory. */
static size_t count_machines(const struct work *w)
{
    bool *is_seen = calloc(w->topo->n_machines + 1, sizeof(*is_seen));
    size_t n = 0;

    for (size_t i = 0; is_seen && i < w->n; i++) {
        bool *seen = &is_seen[w->topo->devices[w->devices[i]].machine];

        n += !*seen;
        *seen = true;
    }
    free(is_seen);
    return n;
}

/* Sets system or why. */
static enum fr_status name_system(const struct work *w, const struct fr_collective_question *q,
                                  struct fr_collective_times *t, struct fr_error *err)
{
    struct fr_plan *p = plan_one(w, t->kind, 0);
    const char *name, *why = NULL;
    char text[256];
    uint32_t system;

    if (!p)
        return fr__fail_nomem(err);
    system = fr_plan_group_system(p, 0);
    fr_plan_free(p);
    name = system == FR_NONE ? NULL : w->topo->systems[system].name;
    if (q->costs && strcmp(q->costs, "datasheet") == 0)
        why = "data sheet costs know none";
    else if (t->n_machines > 1 && !name && w->topo->network_system_why)
        why = w->topo->network_system_why;
    else if (!name)
        why = "nothing like it was measured";
    if (t->n_rows > 0 && isnan(t->rows[0].fitted_s) && !why) {
        snprintf(text, sizeof(text), "%.128s does not cover it", name);
        why = text;
    }
    t->system = why ? NULL : copy_text(name);
    t->why = why ? copy_text(why) : NULL;
    return t->system || t->why ? FR_OK : fr__fail_nomem(err);
}

/* ---- the question ---- */

enum fr_status fr__collective_kind_named(const char *text, enum fr_collective_kind *out,
                                         struct fr_error *err)
{
    const char *names[FR_RING_STEP];
    char hint[128];

    *out = fr_collective_kind_parse(text);
    if (*out < FR_RING_STEP)
        return FR_OK;
    for (unsigned i = 0; i < FR_RING_STEP; i++)
        names[i] = fr_collective_kind_name((enum fr_collective_kind)i);
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "no collective '%s'%s; known are all-reduce, all-gather, reduce-scatter, "
                    "all-to-all, broadcast and reduce",
                    text, fr__did_you_mean(text, names, FR_RING_STEP, hint, sizeof(hint)));
}

static enum fr_status load(struct work *w, const struct fr_collective_question *q,
                           struct fr_error *err)
{
    const struct fr_question asked = {.costs = q->costs,
                                      .n_gpus = q->n_gpus,
                                      .is_spread = q->is_spread,
                                      .devices = q->devices,
                                      .allow_implausible = q->allow_implausible};

    FR_TRY(fr_topo_load(&w->topo, q->topology, err));
    FR_TRY(fr__costs_load(&w->costs, w->topo, NULL, &asked, err));
    FR_TRY(fr_simulation_new(&w->simulation, w->topo, err));
    return fr__devices_choose(&w->devices, &w->n, w->topo, &asked, err);
}

static double bus_factor_of(enum fr_collective_kind kind, double n)
{
    switch (kind) {
    case FR_ALL_REDUCE:
        return 2 * (n - 1) / n;
    case FR_BROADCAST:
    case FR_REDUCE:
        return 1;
    default:
        return (n - 1) / n;
    }
}

static enum fr_status fill(struct work *w, const struct fr_collective_question *q,
                           struct fr_collective_times *t, struct fr_error *err)
{
    t->topology = copy_text(w->topo->name);
    t->rows = calloc(q->n_sizes + 1, sizeof(*t->rows));
    if (!t->topology || !t->rows)
        return fr__fail_nomem(err);
    t->n_gpus = w->n;
    t->n_gpus_total = w->topo->n_gpus;
    t->n_machines = count_machines(w);
    if (t->n_machines == 0)
        return fr__fail_nomem(err);
    t->bus_factor = bus_factor_of(t->kind, (double)w->n);
    for (; t->n_rows < q->n_sizes; t->n_rows++) {
        uint64_t bytes;

        FR_TRY(fr__parse_bytes(q->sizes[t->n_rows], "the size", FR_NOWHERE, &bytes, err));
        FR_TRY(fill_row(w, t->kind, bytes, &t->rows[t->n_rows], err));
    }
    return name_system(w, q, t, err);
}

enum fr_status fr_collective_times(struct fr_collective_times **out,
                                   const struct fr_collective_question *q,
                                   const struct fr_context *ctx, struct fr_error *err)
{
    struct fr_collective_times *t = calloc(1, sizeof(*t));
    struct work w = {.ctx = ctx};
    enum fr_status st = t ? fr__collective_kind_named(q->kind, &t->kind, err) : fr__fail_nomem(err);

    if (st == FR_OK)
        st = load(&w, q, err);
    if (st == FR_OK)
        st = fill(&w, q, t, err);
    fr_simulation_free(w.simulation);
    free(w.devices);
    fr_cost_model_free(w.costs);
    fr_topo_free(w.topo);
    if (st == FR_OK)
        *out = t;
    else
        fr_collective_times_free(t);
    return st;
}

void fr_collective_times_free(struct fr_collective_times *t)
{
    if (!t)
        return;
    free(t->topology);
    free(t->system);
    free(t->why);
    free(t->rows);
    free(t);
}
