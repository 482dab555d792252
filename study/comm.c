/* study/comm.c - see comm.h. */
#include "config.h"

#include "study/comm.h"

#include "base/error.h"
#include "study/loading.h"
#include "study/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_MESSAGES = 3e5; /* of a size, about half a second */

struct work {
    const struct fr_comm_question *q;
    struct fr_topo *topo;
    struct fr_cost_model *costs;
    uint32_t *devices; /* [n] */
    size_t n;
    struct fr_nccl_model *nccl; /* NULL: none */
    struct fr_collective_way *way;
    struct fr_simulation *simulation;
    const struct fr_context *ctx;
};

static enum fr_status plan_one(const struct work *w, enum fr_collective_kind kind, uint64_t bytes,
                               struct fr_plan **out, struct fr_error *err)
{
    struct fr_plan *p = fr_plan_new(w->topo, NULL);
    struct fr_collective c = {.bytes = (double)bytes, .label = FR_NONE, .kind = kind};
    enum fr_status st;

    if (!p)
        return fr__fail_nomem(err);
    c.group = fr_plan_add_group_of(p, w->devices, (uint32_t)w->n);
    fr_plan_add_collective(p, &c);
    for (uint32_t rank = 0; rank < w->n; rank++)
        fr_plan_add_task(p, &(struct fr_task){.device = w->devices[rank],
                                              .cost_id = FR_NONE,
                                              .op = FR_NONE,
                                              .collective = 0,
                                              .rank = rank,
                                              .microbatch = FR_NONE,
                                              .kind = FR_TASK_COLLECTIVE,
                                              .stream = FR_STREAM_COMM});
    st = fr_plan_finish(p, err);
    if (st == FR_OK)
        *out = p;
    else
        fr_plan_free(p);
    return st;
}

static enum fr_status simulate(const struct work *w, const struct fr_plan *p,
                               struct fr_comm_row *row, enum fr_collective_kind kind,
                               struct fr_error *err)
{
    struct fr_run_options o;
    struct fr_run *r = NULL;

    fr_run_options_init(&o);
    o.want = FR_WANT_LINKS | FR_WANT_CHECK;
    o.way = w->way;
    o.closed_form_collectives =
        fr_collective_steps(kind, (uint32_t)w->n, (double)row->bytes) > MOST_MESSAGES;
    o.context = w->ctx;
    FR_TRY(fr_simulation_run(w->simulation, p, &o, &r, err));
    row->time_s = r->makespan_s;
    row->source = o.closed_form_collectives ? FR_COMM_CLOSED : FR_COMM_STEPS;
    fr_run_free(r);
    return FR_OK;
}

/* What NCCL would take, and its own estimate; by hand what was asked for. */
static void name_choice(const struct work *w, enum fr_collective_kind kind, struct fr_comm_row *row)
{
    const struct fr_collective_options *o = &w->q->way;
    struct fr_nccl_choice c;

    row->nccl_s = NAN;
    if (w->nccl && fr_nccl_model_choose(w->nccl, kind, (double)row->bytes, o->protocol, &c)) {
        row->nccl_s = c.time_s;
        row->algorithm = c.algorithm;
        row->protocol = c.protocol;
        row->channels = c.channels;
    }
    if (o->nccl_channels)
        row->channels = o->nccl_channels;
    if (!o->algorithm || strcmp(o->algorithm, "nccl") == 0)
        return;
    row->algorithm = o->algorithm;
    row->protocol = o->protocol;
    row->channels = o->nccl_channels;
}

static double bus_factor(enum fr_collective_kind kind, double n)
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

static enum fr_status fill_row(const struct work *w, enum fr_collective_kind kind,
                               struct fr_comm_row *row, struct fr_error *err)
{
    const struct fr_collective_options *o = &w->q->way;
    struct fr_plan *p = NULL;
    struct fr_cost cost;
    enum fr_status st = FR_OK;

    FR_TRY(plan_one(w, kind, row->bytes, &p, err));
    name_choice(w, kind, row);
    if (!o->algorithm && !o->protocol &&
        fr_plan_collective_cost(p, w->costs, &fr_plan_view(p)->collectives[0], true, &cost)) {
        row->time_s = cost.mean_s;
        row->source = FR_COMM_FITTED;
    } else {
        st = simulate(w, p, row, kind, err);
    }
    if (row->time_s > 0)
        row->bus_Bps = (double)row->bytes / row->time_s * bus_factor(kind, (double)w->n);
    fr_plan_free(p);
    return st;
}

static char *copy_text(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);

    return copy ? memcpy(copy, text, n) : NULL;
}

static enum fr_status load(struct work *w, struct fr_comm_table *t, struct fr_error *err)
{
    const struct fr_comm_question *q = w->q;
    const struct fr_question asked = {
        .costs = q->costs, .n_gpus = q->n_gpus, .is_spread = q->is_spread, .devices = q->devices};
    struct fr_collective_options way = q->way;
    struct fr_error why = {.text = ""};
    enum fr_status st;

    FR_TRY(fr_topo_load(&w->topo, q->topology, err));
    FR_TRY(fr__costs_load(&w->costs, w->topo, NULL, &asked, err));
    FR_TRY(fr__devices_choose(&w->devices, &w->n, w->topo, &asked, err));
    way.algorithm = way.algorithm ? way.algorithm : "nccl";
    FR_TRY(fr_collective_way_new(&w->way, &way, err));
    FR_TRY(fr_simulation_new(&w->simulation, w->topo, err));
    st = fr_nccl_model_new(&w->nccl, w->topo, w->devices, (uint32_t)w->n, way.nccl_version, &why);
    if (st == FR_ENOMEM)
        return fr__fail_nomem(err);
    t->topology = copy_text(w->topo->name);
    t->nccl_why = st == FR_OK ? NULL : copy_text(why.text);
    if (!t->topology || (st != FR_OK && !t->nccl_why))
        return fr__fail_nomem(err);
    t->n_gpus = w->n;
    return FR_OK;
}

static enum fr_status count_machines(const struct work *w, struct fr_comm_table *t,
                                     struct fr_error *err)
{
    bool *is_seen = calloc(w->topo->n_machines + 1, sizeof(*is_seen));

    if (!is_seen)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < w->n; i++) {
        bool *seen = &is_seen[w->topo->devices[w->devices[i]].machine];

        t->n_machines += !*seen;
        *seen = true;
    }
    free(is_seen);
    return FR_OK;
}

static enum fr_status fill(struct work *w, struct fr_comm_table *t, struct fr_error *err)
{
    const struct fr_comm_question *q = w->q;
    size_t n = 0;

    for (uint64_t bytes = q->min_bytes; bytes <= q->max_bytes; bytes *= q->factor) {
        n++;
        if (bytes > UINT64_MAX / q->factor)
            break;
    }
    t->rows = calloc(n + 1, sizeof(*t->rows));
    if (!t->rows)
        return fr__fail_nomem(err);
    FR_TRY(count_machines(w, t, err));
    for (uint64_t bytes = q->min_bytes; t->n_rows < n; bytes *= q->factor) {
        t->rows[t->n_rows].bytes = bytes;
        FR_TRY(fill_row(w, t->kind, &t->rows[t->n_rows], err));
        t->n_rows++;
    }
    return FR_OK;
}

enum fr_status fr_comm(struct fr_comm_table **out, const struct fr_comm_question *q,
                       const struct fr_context *ctx, struct fr_error *err)
{
    struct fr_comm_table *t;
    struct work w = {.q = q, .ctx = ctx};
    enum fr_status st;

    if (q->min_bytes == 0 || q->factor < 2 || q->max_bytes < q->min_bytes)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "the sizes end before they begin: from %llu to %llu bytes",
                        (unsigned long long)q->min_bytes, (unsigned long long)q->max_bytes);
    t = calloc(1, sizeof(*t));
    if (!t)
        return fr__fail_nomem(err);
    st = fr__collective_kind_named(q->kind, &t->kind, err);
    if (st == FR_OK)
        st = load(&w, t, err);
    if (st == FR_OK)
        st = fill(&w, t, err);
    fr_simulation_free(w.simulation);
    fr_collective_way_free(w.way);
    fr_nccl_model_free(w.nccl);
    free(w.devices);
    fr_cost_model_free(w.costs);
    fr_topo_free(w.topo);
    if (st == FR_OK)
        *out = t;
    else
        fr_comm_free(t);
    return st;
}

void fr_comm_free(struct fr_comm_table *t)
{
    if (!t)
        return;
    free(t->topology);
    free(t->nccl_why);
    free(t->rows);
    free(t);
}
