/* strategies/fastt/explain.c - runs the planner again with its record on, and reports what it saw.
 *
 * Only the gap that an operation was put into is computed a second time: it is what the operations
 * before it in the list left free on its device (tell.c).
 */
#include "config.h"

#include "strategies/fastt/tell.h"

#include "base/error.h"
#include "strategies/lower/problem.h"
#include "strategies/single.h"

#include <string.h>

struct telling {
    struct fr__placer pl;
    struct fr_plan *plan; /* empty; the placer needs a plan */
    struct fr__fastt fastt;
    struct fr__arena *scratch;      /* what the planner writes down */
    struct fr_decisions *decisions; /* the record to hand out */
    struct fr__arena *arena;        /* the record's */
    struct fr_decided_plan *plans;  /* [2] of the record */
};

static void fini(struct telling *t)
{
    fr__fastt_fini(&t->fastt);
    if (t->pl.arena)
        fr__placer_fini(&t->pl);
    fr_plan_free(t->plan);
    if (t->scratch)
        fr__arena_free(t->scratch);
}

/* ---- one run ---- */

/* Which plan it is. */
enum kind {
    START,   /* the start, planned by DPOS */
    SPLITS,  /* with the splits that were kept */
    REPLICAS /* replicas left alone, where these are the plan */
};

static void describe(struct fr_decided_plan *p, enum kind kind, bool is_first,
                     bool is_data_parallel)
{
    static const struct {
        const char *token, *caption, *title;
    } words[] = {
        [START] = {"start", "planned by DPOS", ""},
        [SPLITS] = {"splits", "with the splits that were kept", "With the splits that were kept"},
        [REPLICAS] = {"replicas", "replicas left alone, the plan",
                      "In replicas left alone, the plan"},
    };

    p->token = words[kind].token;
    p->caption = words[kind].caption;
    p->title = words[kind].title;
    p->is_given = kind == REPLICAS;
    p->heading = kind == SPLITS     ? "The dag with the splits that were kept:"
                 : is_data_parallel ? "The dag: a replica on each device, one set of variables,"
                                    : "The dag: one model,";
    if (kind == REPLICAS && is_first)
        p->note = "DPOS finds no room for all of it; replicas left alone, one whole on each "
                  "device, fit and\nare the plan.";
}

static bool make_record(struct fr__dpos_record *r, struct fr__arena *a, size_t n_ops,
                        size_t n_devices)
{
    size_t n = n_ops * n_devices;

    *r = (struct fr__dpos_record){0};
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

static enum fr_status tell_plan(struct telling *t, enum kind kind, const struct fr__dag *dag,
                                const struct fr__dpos_result *result,
                                const struct fr__dpos_record *record, struct fr_error *err)
{
    struct fr_decided_plan *p = &t->plans[t->decisions->n_plans];
    struct fr__dpos_bounds bounds;
    const struct fr__tell_run run = {.dag = dag,
                                     .machine = &t->fastt.machine,
                                     .result = result,
                                     .bounds = &bounds,
                                     .record = record};

    FR_TRY(fr__dpos_bounds(&bounds, dag, &t->fastt.machine, err));
    if (!fr__tell_run(p, t->arena, &run))
        return fr__fail_nomem(err);
    describe(p, kind, t->decisions->n_plans == 0, t->fastt.is_data_parallel);
    t->decisions->n_plans++;
    return FR_OK;
}

/* Adds the plan of a dag, unless it does not fit. */
static enum fr_status follow(struct telling *t, enum kind kind, const struct fr__dag *dag,
                             const uint32_t placed[], struct fr_error *err)
{
    struct fr__dpos *planner = fr__dpos_new(&t->fastt.machine);
    struct fr__dpos_record record;
    const struct fr__dpos_options how = {.record = &record, .placed = placed};
    struct fr__dpos_result result;
    enum fr_status st;

    if (!planner || !make_record(&record, t->scratch, dag->n_ops, t->fastt.machine.n_devices)) {
        fr__dpos_free(planner);
        return fr__fail_nomem(err);
    }
    st = fr__dpos_run(planner, dag, &how, &result, err);
    if (st == FR_OK && result.outcome == FR__DPOS_DONE)
        st = tell_plan(t, kind, dag, &result, &record, err);
    fr__dpos_free(planner);
    return st;
}

/* ---- the whole ---- */

static enum fr_status tell(struct telling *t, const struct fr_problem *in, bool splits,
                           struct fr_error *err)
{
    const struct fr__fastt *f = &t->fastt;

    t->decisions = fr__tell_fastt(f, in, &t->arena);
    t->plans = t->decisions ? fr__arena_alloc(t->arena, 2, sizeof(*t->plans)) : NULL;
    if (!t->plans || (splits && !fr__tell_search(t->decisions, f, t->arena)))
        return fr__fail_nomem(err);
    t->decisions->plans = t->plans;
    FR_TRY(follow(t, START, f->start, NULL, err));
    if (f->keeps_replicas)
        return follow(t, REPLICAS, f->start, f->placed, err);
    return f->result.n_splits > 0 ? follow(t, SPLITS, f->result.dag, NULL, err) : FR_OK;
}

static enum fr_status plan_and_tell(struct telling *t, const struct fr_problem *in,
                                    const struct fr_context *ctx, bool splits, struct fr_error *err)
{
    const struct fr__fastt_options o = fr__fastt_options(in->options, splits);

    if (o.rule && !o.rule->is_paper)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "rule=%s is chosen among many plans; only rule=paper is told step by step",
                        o.rule->name);
    t->plan = fr_plan_new(in->topo, in->graph);
    t->scratch = fr__arena_new();
    if (!t->plan || !t->scratch)
        return fr__fail_nomem(err);
    FR_TRY(fr__placer_init(&t->pl, in, ctx, t->plan, err));
    FR_TRY(fr__fastt_run(&t->fastt, &t->pl, &o, err));
    return tell(t, in, splits, err);
}

enum fr_status fr__explain(struct fr_decisions **out, const struct fr_problem *in,
                           const struct fr_context *ctx, bool splits, struct fr_error *err)
{
    struct telling t = {.plan = NULL};
    enum fr_status st;

    FR_TRY(fr__check_problem(in, err));
    st = plan_and_tell(&t, in, ctx, splits, err);
    if (st == FR_OK)
        *out = t.decisions;
    else
        fr_decisions_free(t.decisions);
    fini(&t);
    return st;
}
