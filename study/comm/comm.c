/* study/comm/comm.c - see comm.h. */
#include "config.h"

#include "study/comm/comm.h"

#include "base/error.h"
#include "collectives/rounds.h"
#include "study/question/loading.h"
#include "study/answer/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const double MOST_MESSAGES = 3e5;  /* of a size, about half a second */
static const double MOST_BY_MODELS = 5e6; /* likewise, a few seconds */

struct work {
    const struct fr_comm_question *q;
    struct fr_topo *topo;
    struct fr_cost_model *costs;
    uint32_t *devices; /* [n] */
    size_t n;
    struct fr_nccl_model *nccl; /* NULL: none */
    struct fr_collective_way *way;
    struct fr_collective_options options; /* of that way */
    struct fr_simulation *simulation;
    struct fr_comm_table *table; /* that is being filled */
    double *link_bytes; /* [n_links] of the last row, where an explanation wants them; else NULL */
    const struct fr_context *ctx;
};

static char *copy_text(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);

    return copy ? memcpy(copy, text, n) : NULL;
}

static enum fr_status keep_text(char **to, const char *text, struct fr_error *err)
{
    *to = copy_text(text);
    return *to ? FR_OK : fr__fail_nomem(err);
}

/* ---- one size ---- */

static enum fr_status plan_one(const struct work *w, uint64_t bytes, struct fr_plan **out,
                               struct fr_error *err)
{
    struct fr_plan *p = fr_plan_new(w->topo, NULL);
    const struct fr_collective c = {
        .bytes = (double)bytes, .label = FR_NONE, .kind = w->table->kind};
    enum fr_status st;

    if (!p)
        return fr__fail_nomem(err);
    fr_plan_add_collective_of(p, w->devices, (uint32_t)w->n, &c);
    st = fr_plan_finish(p, err);
    if (st == FR_OK)
        *out = p;
    else
        fr_plan_free(p);
    return st;
}

/* Keeps the name of a link once; FR_NONE: out of memory. */
static uint32_t keep_link(struct fr_comm_table *t, const char *name)
{
    char **more;

    for (size_t i = 0; i < t->n_links; i++)
        if (strcmp(t->links[i], name) == 0)
            return (uint32_t)i;
    more = realloc(t->links, (t->n_links + 1) * sizeof(*more));
    if (!more)
        return FR_NONE;
    t->links = more;
    t->links[t->n_links] = copy_text(name);
    return t->links[t->n_links] ? (uint32_t)t->n_links++ : FR_NONE;
}

/* The link that is in use for the largest part of the row's time; of equals the first. */
static enum fr_status take_links(struct work *w, const double link_bytes[], struct fr_comm_row *row,
                                 struct fr_error *err)
{
    const struct fr_topo *t = w->topo;
    size_t busiest = 0;
    double most_s = 0;
    char name[FR_LINK_NAME];

    for (size_t i = 0; i < t->n_links; i++) {
        double s = link_bytes[i] / t->links[i].bw_Bps;

        if (s > most_s * (1 + 1e-12)) {
            most_s = s;
            busiest = i;
        }
    }
    if (w->link_bytes)
        memcpy(w->link_bytes, link_bytes, t->n_links * sizeof(*link_bytes));
    if (!(most_s > 0) || !(row->time_s > 0))
        return FR_OK;
    row->busiest = keep_link(w->table, fr_topo_link_name(t, (uint32_t)busiest, name));
    row->busiest_frac = most_s / row->time_s;
    return row->busiest == FR_NONE ? fr__fail_nomem(err) : FR_OK;
}

static enum fr_status run(const struct work *w, const struct fr_plan *p, unsigned want,
                          bool is_closed, struct fr_run **out, struct fr_error *err)
{
    struct fr_run_options o;

    fr_run_options_init(&o);
    o.want = want;
    o.way = w->way;
    o.closed_form_collectives = is_closed;
    o.context = w->ctx;
    return fr_simulation_run(w->simulation, p, &o, out, err);
}

/* Runs the plan. is_timed: the row's time is that of the run; else only its links are. */
static enum fr_status simulate(struct work *w, const struct fr_plan *p, struct fr_comm_row *row,
                               bool is_timed, struct fr_error *err)
{
    double n_messages = fr_collective_steps(w->table->kind, (uint32_t)w->n, (double)row->bytes);
    bool is_closed = !is_timed || n_messages > MOST_MESSAGES;
    struct fr_run *r = NULL;
    enum fr_status st;

    FR_TRY(run(w, p, FR_WANT_LINKS | FR_WANT_CHECK, is_closed, &r, err));
    if (is_timed) {
        row->time_s = r->makespan_s;
        row->source = is_closed ? FR_COMM_CLOSED : FR_COMM_STEPS;
    }
    st = take_links(w, r->link_bytes, row, err);
    fr_run_free(r);
    return st;
}

/* What NCCL would take, and its own estimate; by hand what was asked for. */
static void name_choice(const struct work *w, struct fr_comm_row *row)
{
    const struct fr_collective_options *o = &w->q->way;
    struct fr_nccl_choice c;

    row->nccl_s = NAN;
    if (w->nccl &&
        fr_nccl_model_choose(w->nccl, w->table->kind, (double)row->bytes, &w->options, &c)) {
        row->nccl_s = c.time_s;
        row->algorithm = c.algorithm;
        row->protocol = c.protocol;
        row->channels = c.channels;
    }
    if (o->nccl_channels)
        row->channels = o->nccl_channels;
    if (!o->algorithm || strcmp(o->algorithm, "nccl") == 0)
        return;
    row->algorithm = w->table->way;
    row->protocol = o->protocol;
    row->channels = o->nccl_channels;
}

/* Says once why rows are not at a time fitted to just such calls. */
static enum fr_status keep_reason(struct work *w, const struct fr_plan *p, struct fr_error *err)
{
    uint32_t system = fr_plan_group_system(p, 0);
    char text[256];

    if (w->table->why_transferred || system == FR_NONE)
        return FR_OK;
    snprintf(text, sizeof(text), "%.128s was not measured with %zu GPUs on %zu machine%s",
             w->topo->systems[system].name, w->n, w->table->n_machines,
             w->table->n_machines == 1 ? "" : "s");
    return keep_text(&w->table->why_transferred, text, err);
}

/* Says once that NCCL's table has no way by the protocol asked for, where rings go by it. */
static enum fr_status keep_no_way(struct work *w, const struct fr_comm_row *row,
                                  struct fr_error *err)
{
    const struct fr_collective_options *o = &w->q->way;
    struct fr_comm_table *t = w->table;
    char text[256];

    if (row->algorithm || t->nccl_why || !w->nccl || !o->protocol || t->kind == FR_ALL_TO_ALL ||
        w->n < 2)
        return FR_OK;
    snprintf(text, sizeof(text), "no %.16s of %s over their links", o->protocol,
             fr_collective_kind_name(t->kind));
    return keep_text(&t->nccl_why, text, err);
}

static enum fr_status fill_row(struct work *w, struct fr_comm_row *row, struct fr_error *err)
{
    const struct fr_collective_options *o = &w->q->way;
    struct fr_plan *p = NULL;
    struct fr_cost cost;
    enum fr_status st = FR_OK;

    row->busiest = FR_NONE;
    row->error_frac = NAN;
    name_choice(w, row);
    FR_TRY(keep_no_way(w, row, err));
    FR_TRY(plan_one(w, row->bytes, &p, err));
    if (!o->algorithm && !o->protocol &&
        fr_plan_collective_cost(p, w->costs, &fr_plan_view(p)->collectives[0],
                                w->table->type->is_summed_in_switch, &cost)) {
        row->time_s = cost.mean_s;
        row->error_frac = cost.error_frac;
        row->source = cost.trust == FR_TRUST_CALIBRATED ? FR_COMM_FITTED : FR_COMM_TRANSFERRED;
        if (row->source == FR_COMM_TRANSFERRED)
            st = keep_reason(w, p, err);
        if (st == FR_OK && w->q->wants_links)
            st = simulate(w, p, row, false, err);
    } else {
        st = simulate(w, p, row, true, err);
    }
    if (row->time_s > 0)
        row->bus_Bps = (double)row->bytes / row->time_s * w->table->bus_factor;
    fr_plan_free(p);
    return st;
}

/* ---- one size by each model ---- */

/* By the rings, chains and shifts that a run takes where no algorithm is asked for. */
static enum fr_status time_rings(const struct work *w, const struct fr_plan *p, bool is_closed,
                                 double *out_s, struct fr_error *err)
{
    unsigned want = is_closed ? 0 : FR_WANT_USUAL; /* a formula moves no message to be checked */
    struct fr_run *r = NULL;

    FR_TRY(run(w, p, want, is_closed, &r, err));
    *out_s = r->makespan_s;
    fr_run_free(r);
    return FR_OK;
}

/* Sets system or system_why of the table, whose first size has the time fitted_s. */
static enum fr_status name_system(const struct work *w, const struct fr_plan *p, double fitted_s,
                                  struct fr_error *err)
{
    struct fr_comm_table *t = w->table;
    uint32_t system = fr_plan_group_system(p, 0);
    const char *name = system == FR_NONE ? NULL : w->topo->systems[system].name, *why = NULL;
    char text[256];

    if (w->q->costs && strcmp(w->q->costs, "datasheet") == 0)
        why = "data sheet costs know none";
    else if (t->n_machines > 1 && !name && w->topo->network_system_why)
        why = w->topo->network_system_why;
    else if (!name)
        why = "nothing like it was measured";
    if (isnan(fitted_s) && !why) {
        snprintf(text, sizeof(text), "%.128s does not cover it", name);
        why = text;
    }
    return why ? keep_text(&t->system_why, why, err) : keep_text(&t->system, name, err);
}

static enum fr_status fill_times(struct work *w, size_t i, struct fr_error *err)
{
    struct fr_comm_table *t = w->table;
    struct fr_comm_times *times = &t->times[i];
    double bytes = (double)t->rows[i].bytes;
    bool is_few = fr_collective_steps(t->kind, (uint32_t)w->n, bytes) <= MOST_BY_MODELS;
    struct fr_plan *p = NULL;
    struct fr_cost cost;
    enum fr_status st;

    *times = (struct fr_comm_times){NAN, NAN, NAN, NAN, false};
    FR_TRY(plan_one(w, t->rows[i].bytes, &p, err));
    st = is_few ? time_rings(w, p, false, &times->expanded_s, err) : FR_OK;
    if (st == FR_OK && (is_few || t->kind != FR_ALL_TO_ALL))
        st = time_rings(w, p, true, &times->closed_s, err);
    if (st == FR_OK &&
        fr_plan_collective_cost(p, w->costs, &fr_plan_view(p)->collectives[0], true, &cost)) {
        times->fitted_s = cost.mean_s;
        times->fitted_error = cost.error_frac;
        times->is_extrapolated = cost.trust == FR_TRUST_TRANSFERRED;
    }
    if (st == FR_OK && i == 0)
        st = name_system(w, p, times->fitted_s, err);
    fr_plan_free(p);
    return st;
}

/* ---- the question ---- */

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

static enum fr_status count_machines(struct work *w, struct fr_error *err)
{
    bool *is_seen = calloc(w->topo->n_machines + 1, sizeof(*is_seen));

    if (!is_seen)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < w->n; i++) {
        bool *seen = &is_seen[w->topo->devices[w->devices[i]].machine];

        w->table->n_machines += !*seen;
        *seen = true;
    }
    free(is_seen);
    return FR_OK;
}

/* What is asked of algorithms, and what NCCL would take. */
static enum fr_status load_algorithms(struct work *w, struct fr_error *err)
{
    const struct fr_comm_question *q = w->q;
    struct fr_comm_table *t = w->table;
    struct fr_error why = {.text = ""};
    enum fr_status st;

    w->options = q->way;
    w->options.algorithm = q->way.algorithm ? q->way.algorithm : "nccl";
    w->options.as_measured = !q->costs || strcmp(q->costs, "datasheet") != 0;
    w->options.no_switch_sums = !t->type->is_summed_in_switch;
    FR_TRY(fr_collective_way_new(&w->way, &w->options, err));
    if (t->kind == FR_ALL_TO_ALL && !q->way.algorithm && q->way.protocol &&
        strcasecmp(q->way.protocol, "LL128") == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "an all-to-all is messages between pairs, which have LL and Simple and no "
                        "LL128");
    if (!fr_collective_way_has(w->way, t->kind))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "%s is no algorithm for %s", q->way.algorithm,
                        fr_collective_kind_name(t->kind));
    st = fr_nccl_model_new(&w->nccl, w->topo, w->devices, (uint32_t)w->n, w->options.nccl_version,
                           &why);
    if (st == FR_ENOMEM)
        return fr__fail_nomem(err);
    if (st != FR_OK)
        FR_TRY(keep_text(&t->nccl_why, why.text, err));
    if (q->way.algorithm)
        FR_TRY(keep_text(&t->way, q->way.algorithm, err));
    return fr_topo_nics_of(w->topo, w->devices, w->n, t->nics, FR_TOPO_NICS, &t->n_nics, err);
}

static enum fr_status load(struct work *w, struct fr_error *err)
{
    const struct fr_comm_question *q = w->q;
    struct fr_comm_table *t = w->table;
    const struct fr_question asked = {.costs = q->costs,
                                      .n_gpus = q->n_gpus,
                                      .is_spread = q->is_spread,
                                      .devices = q->devices,
                                      .allow_implausible = q->allow_implausible};

    FR_TRY(fr_topo_load(&w->topo, q->topology, err));
    FR_TRY(fr__costs_load(&w->costs, w->topo, NULL, &asked, err));
    FR_TRY(fr__devices_choose(&w->devices, &w->n, w->topo, &asked, err));
    t->n_gpus = w->n;
    t->n_gpus_total = w->topo->n_gpus;
    t->bus_factor = bus_factor(t->kind, (double)w->n);
    FR_TRY(keep_text(&t->topology, w->topo->name, err));
    FR_TRY(count_machines(w, err));
    FR_TRY(fr_simulation_new(&w->simulation, w->topo, err));
    return q->is_by_models ? FR_OK : load_algorithms(w, err);
}

/* The size after `bytes`; 0: there is none. */
static uint64_t next_size(const struct fr_comm_question *q, uint64_t bytes)
{
    if (q->step_bytes)
        return bytes > UINT64_MAX - q->step_bytes ? 0 : bytes + q->step_bytes;
    return bytes > UINT64_MAX / q->factor ? 0 : bytes * q->factor;
}

/* *n: how many sizes are asked for. */
static enum fr_status count_sizes(const struct fr_comm_question *q, size_t *n, struct fr_error *err)
{
    *n = q->n_sizes;
    if (q->sizes)
        return FR_OK;
    if (q->min_bytes == 0 || (q->factor < 2 && q->step_bytes == 0) || q->max_bytes < q->min_bytes)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "the sizes end before they begin: from %llu to %llu bytes",
                        (unsigned long long)q->min_bytes, (unsigned long long)q->max_bytes);
    for (uint64_t b = q->min_bytes; b != 0 && b <= q->max_bytes; b = next_size(q, b))
        if (++*n > FR_COMM_MOST_SIZES)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "more than %d sizes from %llu to %llu bytes", FR_COMM_MOST_SIZES,
                            (unsigned long long)q->min_bytes, (unsigned long long)q->max_bytes);
    return FR_OK;
}

static enum fr_status fill(struct work *w, size_t n, struct fr_error *err)
{
    struct fr_comm_table *t = w->table;
    uint64_t bytes = w->q->min_bytes;

    t->rows = calloc(n + 1, sizeof(*t->rows));
    t->times = w->q->is_by_models ? calloc(n + 1, sizeof(*t->times)) : NULL;
    if (!t->rows || (w->q->is_by_models && !t->times))
        return fr__fail_nomem(err);
    while (t->n_rows < n) {
        t->rows[t->n_rows].bytes = w->q->sizes ? w->q->sizes[t->n_rows] : bytes;
        FR_TRY(t->times ? fill_times(w, t->n_rows, err) : fill_row(w, &t->rows[t->n_rows], err));
        t->n_rows++;
        if (!w->q->sizes)
            bytes = next_size(w->q, bytes);
    }
    return FR_OK;
}

static void free_work(struct work *w)
{
    fr_simulation_free(w->simulation);
    fr_collective_way_free(w->way);
    fr_nccl_model_free(w->nccl);
    free(w->devices);
    free(w->link_bytes);
    fr_cost_model_free(w->costs);
    fr_topo_free(w->topo);
}

/* A table without rows. */
static enum fr_status begin(struct work *w, size_t *n, struct fr_error *err)
{
    const struct fr_comm_question *q = w->q;
    struct fr_comm_table *t = calloc(1, sizeof(*t));

    w->table = t;
    if (!t)
        return fr__fail_nomem(err);
    t->op = q->op ? q->op : "sum";
    t->type = q->type;
    if (!t->type)
        FR_TRY(fr_comm_type_named("float", &t->type, err));
    FR_TRY(count_sizes(q, n, err));
    FR_TRY(fr__collective_kind_named(q->kind, &t->kind, err));
    return load(w, err);
}

enum fr_status fr_comm(struct fr_comm_table **out, const struct fr_comm_question *q,
                       const struct fr_context *ctx, struct fr_error *err)
{
    struct work w = {.q = q, .ctx = ctx};
    size_t n = 0;
    enum fr_status st = begin(&w, &n, err);

    if (st == FR_OK)
        st = fill(&w, n, err);
    free_work(&w);
    if (st == FR_OK)
        *out = w.table;
    else
        fr_comm_free(w.table);
    return st;
}

void fr_comm_free(struct fr_comm_table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n_links; i++)
        free(t->links[i]);
    free(t->links);
    free(t->topology);
    free(t->way);
    free(t->nccl_why);
    free(t->why_transferred);
    free(t->system);
    free(t->system_why);
    free(t->times);
    free(t->rows);
    free(t);
}

/* ---- how it goes ---- */

/* The links by use, the busiest first, and what each kind carries. */
static enum fr_status tell_links(const struct work *w, struct fr_comm_explanation *s,
                                 struct fr_error *err)
{
    const struct fr_topo *t = w->topo;
    double time_s = w->table->rows[0].time_s;
    char name[FR_LINK_NAME];

    for (size_t i = 0; i < t->n_links && time_s > 0; i++) {
        const struct fr_link *l = &t->links[i];
        struct fr_comm_link new = {NULL, l->kind, l->bw_Bps, w->link_bytes[i],
                                   w->link_bytes[i] / l->bw_Bps / time_s};
        size_t at = s->n_links;

        if (!(new.bytes > 0))
            continue;
        s->n_used[l->kind]++;
        s->mean_frac[l->kind] += new.used_frac;
        s->most_frac[l->kind] = fmax(s->most_frac[l->kind], new.used_frac);
        while (at > 0 && new.used_frac > s->links[at - 1].used_frac *(1 + 1e-12))
            at--;
        if (at == FR_COMM_LINKS)
            continue;
        new.name = copy_text(fr_topo_link_name(t, (uint32_t)i, name));
        if (!new.name)
            return fr__fail_nomem(err);
        if (s->n_links == FR_COMM_LINKS)
            free(s->links[--s->n_links].name);
        memmove(&s->links[at + 1], &s->links[at], (s->n_links - at) * sizeof(new));
        s->links[at] = new;
        s->n_links++;
    }
    for (unsigned k = 0; k < FR_N_LINK_KINDS; k++)
        if (s->n_used[k] > 0)
            s->mean_frac[k] /= (double)s->n_used[k];
    return FR_OK;
}

static enum fr_status tell(struct work *w, struct fr_comm_explanation *s, struct fr_error *err)
{
    const struct fr_comm_row *row;
    struct fr_collective_options how = w->options;
    struct fr_error why = {.text = ""};
    enum fr_status st;

    w->link_bytes = calloc(w->topo->n_links + 1, sizeof(*w->link_bytes));
    if (!w->link_bytes)
        return fr__fail_nomem(err);
    FR_TRY(fill(w, 1, err));
    row = &w->table->rows[0];
    FR_TRY(tell_links(w, s, err));
    how.algorithm = row->algorithm;
    st = fr_collective_rounds_new(&s->steps, w->topo, w->devices, (uint32_t)w->n, w->table->kind,
                                  (double)row->bytes, &how, &why);
    if (st == FR_ENOMEM)
        return fr__fail_nomem(err);
    return st == FR_OK ? FR_OK : keep_text(&s->why_no_steps, why.text, err);
}

enum fr_status fr_comm_explain(struct fr_comm_explanation **out, const struct fr_comm_question *q,
                               const struct fr_context *ctx, struct fr_error *err)
{
    struct fr_comm_question one = *q;
    struct work w = {.q = &one, .ctx = ctx};
    struct fr_comm_explanation *s;
    uint64_t bytes = q->max_bytes;
    size_t n = 0;
    enum fr_status st;

    FR_TRY(count_sizes(q, &n, err));
    for (size_t i = 0; i < q->n_sizes; i++)
        bytes = i == 0 || q->sizes[i] > bytes ? q->sizes[i] : bytes;
    one.sizes = &bytes;
    one.n_sizes = 1;
    one.wants_links = true;
    s = calloc(1, sizeof(*s));
    if (!s)
        return fr__fail_nomem(err);
    st = begin(&w, &n, err);
    if (st == FR_OK)
        st = tell(&w, s, err);
    s->table = w.table;
    free_work(&w);
    if (st == FR_OK)
        *out = s;
    else
        fr_comm_explanation_free(s);
    return st;
}

void fr_comm_explanation_free(struct fr_comm_explanation *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_links; i++)
        free(s->links[i].name);
    free(s->why_no_steps);
    fr_collective_rounds_free(s->steps);
    fr_comm_free(s->table);
    free(s);
}
