/* strategies/fastt/os_dpos.c - the search of OS-DPOS: tries splits of the longest path's
 * operations, one after the other. */
#include "config.h"

#include "strategies/fastt/os_dpos.h"

#include "base/error.h"
#include "lowering/log.h"

#include <math.h>
#include <stdlib.h>

struct ranked {
    double cost_s;
    uint32_t op;
};

/* dag is the start with the splits kept so far. It lives in one of two arenas, the next dag in the
 * other. */
struct fr__os_dpos {
    struct fr__os_dpos_options options;
    const struct fr_context *ctx; /* may be NULL */
    const struct fr__dag *dag;
    struct fr__dag kept[2];
    struct fr__arena *kept_arena[2], *candidate_arena;
    unsigned n_kept;
    bool keeps_plans; /* a try takes over what the plan before it decided */
    struct fr__dpos *planner;
    uint32_t *at; /* [ops of the start] where each is in dag */
    uint32_t *path;
    struct ranked *ranked;
    struct fr__os_dpos_try *tries;
    size_t n_tries, cap_tries;
    double n_made; /* operations of the dags tried so far */
    double best_s;
};

void fr__os_dpos_free(struct fr__os_dpos *o)
{
    if (!o)
        return;
    for (size_t k = 0; k < 2; k++)
        if (o->kept_arena[k])
            fr__arena_free(o->kept_arena[k]);
    if (o->candidate_arena)
        fr__arena_free(o->candidate_arena);
    fr__dpos_free(o->planner);
    free(o->at);
    free(o->path);
    free(o->ranked);
    free(o->tries);
    free(o);
}

static struct fr__os_dpos *new_search(const struct fr__dag *start, const struct fr__dpos_machine *m,
                                      const struct fr__os_dpos_options *options)
{
    struct fr__os_dpos *o = calloc(1, sizeof(*o));

    if (!o)
        return NULL;
    o->options = *options;
    if (!o->options.max_parts)
        o->options.max_parts = (unsigned)m->n_devices;
    if (!o->options.dims)
        o->options.dims = 1u << FR__DAG_BATCH | 1u << FR__DAG_CHANNEL;
    if (!o->options.patience)
        o->options.patience = 1;
    o->dag = start;
    o->keeps_plans = !options->looks_ahead && !m->links;
    o->kept_arena[0] = fr__arena_new();
    o->kept_arena[1] = fr__arena_new();
    o->candidate_arena = fr__arena_new();
    o->planner = fr__dpos_new(m);
    o->at = malloc((start->n_ops + 1) * sizeof(*o->at));
    o->path = malloc((start->n_ops + 1) * sizeof(*o->path));
    o->ranked = malloc((start->n_ops + 1) * sizeof(*o->ranked));
    if (!o->kept_arena[0] || !o->kept_arena[1] || !o->candidate_arena || !o->planner || !o->at ||
        !o->path || !o->ranked) {
        fr__os_dpos_free(o);
        return NULL;
    }
    for (uint32_t i = 0; i < start->n_ops; i++)
        o->at[i] = i;
    return o;
}

static int by_falling_cost(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->cost_s > y->cost_s || x->cost_s < y->cost_s)
        return x->cost_s > y->cost_s ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

/* Fills path: the longest of the plan, sorted by cost. */
static enum fr_status sort_path(struct fr__os_dpos *o, const struct fr__dpos_machine *m,
                                const struct fr__dpos_result *plan, size_t *n, struct fr_error *err)
{
    const struct fr__dag *g = o->dag;

    FR_TRY(fr__dpos_placed_path(g, m, plan->device, o->path, n, err));
    for (size_t k = 0; k < *n; k++) {
        uint32_t op = o->path[k];

        o->ranked[k] = (struct ranked){
            g->cost_s[g->ops[op].cost * g->n_types + m->type[plan->device[op]]], op};
    }
    qsort(o->ranked, *n, sizeof(*o->ranked), by_falling_cost);
    for (size_t k = 0; k < *n; k++)
        o->path[k] = o->ranked[k].op;
    return FR_OK;
}

/* Plans a dag that differs from the kept one by one split. */
static enum fr_status replan(struct fr__os_dpos *o, const struct fr__dag *dag,
                             struct fr__dpos_change change, struct fr__dpos_options how,
                             struct fr__dpos_result *plan, struct fr_error *err)
{
    how.inputs_wait = o->options.inputs_wait;
    how.looks_ahead = o->options.looks_ahead;
    how.since = o->options.plans_anew || !o->keeps_plans ? NULL : &change;
    return fr__dpos_run(o->planner, dag, &how, plan, err);
}

/* Sets t->after_s of a split of the current dag; a time of limit_s or more may be left NaN. */
static enum fr_status evaluate(struct fr__os_dpos *o, struct fr__os_dpos_try *t, double limit_s,
                               struct fr__os_dpos_result *r, struct fr_error *err)
{
    struct fr__mark mark = fr__arena_mark(o->candidate_arena);
    struct fr__dpos_options how = {.stop_s = limit_s, .goes_on = o->options.evaluates_whole};
    struct fr__dpos_change change = {.at = o->at[t->op]};
    struct fr__dpos_result plan;
    struct fr__dag dag;
    enum fr_status st = fr__dag_split(&dag, o->dag, o->at[t->op], t->dim, t->n, &o->options.costs,
                                      o->candidate_arena, err);

    if (st == FR_OK) {
        o->n_made += (double)dag.n_ops;
        change.n_new = (uint32_t)(dag.n_ops - o->dag->n_ops + 1);
        st = replan(o, &dag, change, how, &plan, err);
    }
    fr__arena_rewind(o->candidate_arena, mark);
    FR_TRY(st);
    r->n_decisions += plan.n_decided;
    r->n_kept += plan.n_kept;
    if (plan.outcome == FR__DPOS_STOPPED) {
        t->after_s = NAN;
        r->n_stopped++;
        return FR_OK;
    }
    t->after_s = plan.outcome == FR__DPOS_DONE ? plan.makespan_s : (double)INFINITY;
    r->n_whole++;
    return FR_OK;
}

/* Reports progress; FR_ECANCELLED if the search was cancelled. Called for each evaluation. */
static enum fr_status look_up(const struct fr__os_dpos *o, struct fr_error *err)
{
    if (o->ctx && o->ctx->progress)
        o->ctx->progress(o->ctx->progress_user, "splits tried", o->n_tries, 0);
    return fr__is_cancelled(o->ctx) ? fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted")
                                    : FR_OK;
}

static bool is_spent(const struct fr__os_dpos *o)
{
    return o->options.most_made > 0 && o->n_made > o->options.most_made;
}

/* Tries all ways of an operation, as far as the search may go; *best is the index of the
 * shortest that is shorter than before. */
static enum fr_status try_op(struct fr__os_dpos *o, uint32_t op, size_t *best,
                             struct fr__os_dpos_result *r, struct fr_error *err)
{
    static const enum fr__dag_dim dims[] = {FR__DAG_BATCH, FR__DAG_CHANNEL};
    uint8_t mask = o->dag->ops[o->at[op]].split_mask & o->options.dims;
    double limit_s = o->best_s;

    *best = SIZE_MAX;
    for (unsigned n = 2; n <= o->options.max_parts && !is_spent(o);
         n = o->options.powers_of_two ? 2 * n : n + 1)
        for (size_t k = 0; k < 2; k++) {
            struct fr__os_dpos_try t = {.op = op, .dim = dims[k], .n = n, .before_s = o->best_s};

            if (!(mask >> dims[k] & 1))
                continue;
            if (!fr__grow(&o->tries, &o->cap_tries, o->n_tries + 1, sizeof(*o->tries)))
                return fr__fail_nomem(err);
            FR_TRY(look_up(o, err));
            FR_TRY(evaluate(o, &t, limit_s, r, err));
            if (t.after_s < limit_s) {
                limit_s = t.after_s;
                *best = o->n_tries;
            }
            o->tries[o->n_tries++] = t;
        }
    return FR_OK;
}

static enum fr_status keep(struct fr__os_dpos *o, struct fr__os_dpos_try *t, size_t n_start,
                           struct fr_error *err)
{
    const struct fr__dpos_options keeps = {.keeps = o->keeps_plans};
    unsigned k = o->n_kept++ % 2;
    struct fr__dpos_change change = {.at = o->at[t->op]};
    size_t was = o->dag->n_ops;
    struct fr__dpos_result plan;

    fr__arena_free(o->kept_arena[k]); /* the dag before the current one */
    o->kept_arena[k] = fr__arena_new();
    if (!o->kept_arena[k])
        return fr__fail_nomem(err);
    FR_TRY(fr__dag_split(&o->kept[k], o->dag, change.at, t->dim, t->n, &o->options.costs,
                         o->kept_arena[k], err));
    o->dag = &o->kept[k];
    o->best_s = t->after_s;
    t->is_kept = true;
    for (size_t i = t->op + 1; i < n_start; i++)
        o->at[i] += (uint32_t)(o->dag->n_ops - was);
    change.n_new = (uint32_t)(o->dag->n_ops - was + 1);
    return replan(o, o->dag, change, keeps, &plan, err);
}

static enum fr_status search(struct fr__os_dpos *o, size_t n_start, struct fr__os_dpos_result *r,
                             struct fr_error *err)
{
    unsigned n_vain = 0;

    for (size_t k = 0; k < r->n_path; k++) {
        uint32_t op = o->path[k];
        size_t best;

        if (!(o->dag->ops[o->at[op]].split_mask & o->options.dims) || o->options.max_parts < 2)
            continue;
        r->end = FR__OS_DPOS_SPENT;
        if ((o->options.max_tried && r->n_ops_tried == o->options.max_tried) || is_spent(o))
            return FR_OK;
        r->n_ops_tried++;
        FR_TRY(try_op(o, op, &best, r, err));
        r->end = FR__OS_DPOS_NO_GAIN;
        if (best == SIZE_MAX && ++n_vain >= o->options.patience)
            return FR_OK;
        r->end = FR__OS_DPOS_ALL_TRIED;
        if (best == SIZE_MAX)
            continue;
        FR_TRY(keep(o, &o->tries[best], n_start, err));
        r->n_splits++;
        n_vain = 0;
    }
    return FR_OK;
}

static enum fr_status plan(struct fr__os_dpos *o, const struct fr__dpos_machine *m,
                           struct fr__os_dpos_result *r, struct fr_error *err)
{
    const struct fr__dpos_options whole = {0};
    const struct fr__dpos_options keeps = {.keeps = o->keeps_plans,
                                           .inputs_wait = o->options.inputs_wait,
                                           .looks_ahead = o->options.looks_ahead};
    const struct fr__dpos_change none = {.at = FR_NONE};
    size_t n_start = o->dag->n_ops;

    FR_TRY(fr__dpos_run(o->planner, o->dag, &keeps, &r->plan, err));
    r->n_whole++;
    r->dag = o->dag;
    if (r->plan.outcome != FR__DPOS_DONE)
        return FR_OK;
    r->start_s = o->best_s = r->plan.makespan_s;
    FR_TRY(sort_path(o, m, &r->plan, &r->n_path, err));
    FR_TRY(search(o, n_start, r, err));
    FR_TRY(replan(o, o->dag, none, whole, &r->plan, err));
    r->n_whole++;
    r->dag = o->dag;
    r->path = o->path;
    r->tries = o->tries;
    r->n_tries = o->n_tries;
    return FR_OK;
}

enum fr_status fr__os_dpos_run(struct fr__os_dpos **out, const struct fr__dag *start,
                               const struct fr__dpos_machine *m,
                               const struct fr__os_dpos_options *options,
                               const struct fr_context *ctx, struct fr__os_dpos_result *result,
                               struct fr_error *err)
{
    struct fr__os_dpos *o = new_search(start, m, options);
    enum fr_status st;

    if (!o)
        return fr__fail_nomem(err);
    *result = (struct fr__os_dpos_result){0};
    o->ctx = ctx;
    st = plan(o, m, result, err);
    if (st != FR_OK) {
        fr__os_dpos_free(o);
        return st;
    }
    *out = o;
    return FR_OK;
}
