/* strategies/fastt/explain.c */
#include "config.h"

#include "strategies/fastt/explain.h"

#include "base/error.h"
#include "strategies/single.h"

#include <math.h>
#include <stdlib.h>

/* The explanation stands first; the rest is what it points into. */
struct telling {
    struct fr_explained explained;
    struct fr__placer pl;
    struct fr_plan *plan; /* empty: the placer wants one */
    struct fr__fastt fastt;
    struct fr__dpos *planners[2];
    struct fr__arena *arena;
};

void fr__explained_free(struct fr_explained *e)
{
    struct telling *t = (struct telling *)e;

    if (!t)
        return;
    fr__dpos_free(t->planners[0]);
    fr__dpos_free(t->planners[1]);
    fr__fastt_fini(&t->fastt);
    if (t->pl.arena)
        fr__placer_fini(&t->pl);
    fr_plan_free(t->plan);
    if (t->arena)
        fr__arena_free(t->arena);
    free(t);
}

/* ---- one run ---- */

static bool make_record(struct fr__dpos_record *r, struct fr__arena *a, size_t n_ops,
                        size_t n_devices)
{
    size_t n = n_ops * n_devices;

    r->longest_s = fr__arena_alloc(a, n_ops, sizeof(*r->longest_s));
    r->via_s = fr__arena_alloc(a, n_ops, sizeof(*r->via_s));
    r->via = fr__arena_alloc(a, n_ops, sizeof(*r->via));
    r->ready_s = fr__arena_alloc(a, n, sizeof(*r->ready_s));
    r->est_s = fr__arena_alloc(a, n, sizeof(*r->est_s));
    r->eft_s = fr__arena_alloc(a, n, sizeof(*r->eft_s));
    r->left_bytes = fr__arena_alloc(a, n, sizeof(*r->left_bytes));
    r->needs_bytes = fr__arena_alloc(a, n_ops, sizeof(*r->needs_bytes));
    r->why = fr__arena_alloc(a, n_ops, sizeof(*r->why));
    r->prefixes = fr__arena_alloc(a, n_devices * n_devices, sizeof(*r->prefixes));
    r->round_device = fr__arena_alloc(a, n_devices, sizeof(*r->round_device));
    return r->longest_s && r->via_s && r->via && r->ready_s && r->est_s && r->eft_s &&
           r->left_bytes && r->needs_bytes && r->why && r->prefixes && r->round_device;
}

/* The operations of a device in the order of their starts, as a list from which those that came last to
 * the device leave first: what stood before and behind one when it came bounds its gap. */
struct neighbours {
    uint32_t *before, *behind; /* [n_ops] FR_NONE: nobody */
};

static void line_up(const struct fr__explained_plan *p, struct neighbours *n, uint32_t last[],
                    size_t n_devices)
{
    for (size_t d = 0; d < n_devices; d++)
        last[d] = FR_NONE;
    for (size_t i = 0; i < p->dag->n_ops; i++) {
        uint32_t op = p->result.order[i], *end = &last[p->result.device[op]];

        n->before[op] = n->behind[op] = FR_NONE;
        if (p->record.why[op] == FR__DPOS_WITH_READER)
            continue;
        n->before[op] = *end;
        if (*end != FR_NONE)
            n->behind[*end] = op;
        *end = op;
    }
}

static enum fr_status find_gaps(struct fr__explained_plan *p, struct fr__arena *a, size_t n_devices,
                                struct fr_error *err)
{
    size_t n_ops = p->dag->n_ops;
    double *begin_s = fr__arena_alloc(a, n_ops, sizeof(*begin_s));
    double *end_s = fr__arena_alloc(a, n_ops, sizeof(*end_s));
    uint32_t *last = fr__arena_alloc(a, n_devices, sizeof(*last));
    uint32_t *place = fr__arena_alloc(a, n_ops, sizeof(*place));
    struct neighbours n = {fr__arena_alloc(a, n_ops, sizeof(*n.before)),
                           fr__arena_alloc(a, n_ops, sizeof(*n.behind))};

    if (!begin_s || !end_s || !last || !place || !n.before || !n.behind)
        return fr__fail_nomem(err);
    line_up(p, &n, last, n_devices);
    for (size_t i = n_ops; i-- > 0;) {
        uint32_t op = p->result.priority[i], before = n.before[op], behind = n.behind[op];

        place[op] = (uint32_t)i;
        begin_s[op] = before == FR_NONE ? 0 : p->result.end_s[before];
        end_s[op] = behind == FR_NONE ? (double)INFINITY : p->result.start_s[behind];
        if (before != FR_NONE)
            n.behind[before] = behind;
        if (behind != FR_NONE)
            n.before[behind] = before;
    }
    p->gap_begin_s = begin_s;
    p->gap_end_s = end_s;
    p->place = place;
    return FR_OK;
}

/* Adds the plan of a dag, unless it does not fit. */
static enum fr_status follow(struct telling *t, enum fr__explained_kind kind,
                             const struct fr__dag *dag, const uint32_t placed[],
                             struct fr_error *err)
{
    size_t k = t->explained.n_plans, n_devices = t->fastt.machine.n_devices;
    struct fr__explained_plan *p = &t->explained.plans[k];
    const struct fr__dpos_options how = {.record = &p->record, .placed = placed};

    p->kind = kind;
    p->dag = dag;
    fr__dpos_free(t->planners[k]);
    t->planners[k] = fr__dpos_new(&t->fastt.machine);
    if (!t->planners[k] || !make_record(&p->record, t->arena, dag->n_ops, n_devices))
        return fr__fail_nomem(err);
    FR_TRY(fr__dpos_run(t->planners[k], dag, &how, &p->result, err));
    if (p->result.outcome != FR__DPOS_DONE)
        return FR_OK;
    t->explained.n_plans++;
    FR_TRY(fr__dpos_bounds(&p->bounds, dag, &t->fastt.machine, err));
    return find_gaps(p, t->arena, n_devices, err);
}

/* ---- the whole ---- */

static enum fr_status tell(struct telling *t, const struct fr_problem *in,
                           const struct fr_context *ctx, bool splits, struct fr_error *err)
{
    const struct fr__fastt_options o = fr__fastt_options(in->options, splits);

    t->plan = fr_plan_new(in->topo, in->graph);
    t->arena = fr__arena_new();
    if (!t->plan || !t->arena)
        return fr__fail_nomem(err);
    FR_TRY(fr__placer_init(&t->pl, in, ctx, t->plan, err));
    FR_TRY(fr__fastt_run(&t->fastt, &t->pl, &o, err));
    FR_TRY(follow(t, FR__EXPLAINED_START, t->fastt.start, NULL, err));
    if (t->fastt.keeps_replicas)
        return follow(t, FR__EXPLAINED_REPLICAS, t->fastt.start, t->fastt.placed, err);
    if (t->fastt.result.n_splits > 0)
        return follow(t, FR__EXPLAINED_SPLITS, t->fastt.result.dag, NULL, err);
    return FR_OK;
}

enum fr_status fr__explain(struct fr_explained **out, const struct fr_problem *in,
                           const struct fr_context *ctx, bool splits, struct fr_error *err)
{
    struct telling *t;
    enum fr_status st;

    FR_TRY(fr__check_problem(in, err));
    t = calloc(1, sizeof(*t));
    if (!t)
        return fr__fail_nomem(err);
    t->explained.problem = in;
    t->explained.fastt = &t->fastt;
    t->explained.splits = splits;
    st = tell(t, in, ctx, splits, err);
    if (st == FR_OK)
        *out = &t->explained;
    else
        fr__explained_free(&t->explained);
    return st;
}

/* ---- questions ---- */

uint32_t fr__explained_reader(const struct fr__explained_plan *p, uint32_t variable)
{
    const struct fr__dag *dag = p->dag;
    uint32_t first = FR_NONE;

    for (uint32_t e = dag->out_first[variable]; e < dag->out_first[variable + 1]; e++) {
        uint32_t reader = dag->edges[e].dst;

        if (first == FR_NONE || p->place[reader] < p->place[first])
            first = reader;
    }
    return first;
}

size_t fr__explained_equals(const struct fr__explained_plan *p, uint32_t op, size_t n_devices)
{
    const double *eft_s = p->record.eft_s + op * n_devices;
    size_t n = 0;

    for (size_t d = 0; d < n_devices; d++)
        n += d != p->result.device[op] && eft_s[d] <= p->result.end_s[op];
    return n;
}
