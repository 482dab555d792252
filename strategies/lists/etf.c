/* strategies/lists/etf.c - ETF: of all ready operations and all devices, the pair that can start
 * first.
 *
 * Nothing is put into gaps.
 *
 * Ties:    at equal starts the higher static level (the longest chain of mean costs to the end,
 *          without moves), then the lower index, then the lower device.
 * Makespan: at most (2 - 1/n) times the optimum without communication plus the most communication
 *          of a chain, on n devices that are alike.
 * Source:  J.-J. Hwang, Y.-C. Chow, F. D. Anger, C.-Y. Lee, "Scheduling Precedence Graphs in
 *          Systems with Interprocessor Communication Times", SIAM J. Comput. 18(2), 1989.
 * Cost:    O(ops ready devices), and for each operation O(devices inputs), once or as often as the
 *          places of variables change before all that it reads has one.
 */
#include "config.h"

#include "base/error.h"
#include "strategies/list.h"
#include "strategies/lists/lists.h"
#include "strategies/lists/ranks.h"
#include "strategies/lists/ready.h"
#include "lowering/log.h"

/* What does not change from one decision to the next. The times when inputs are there stand in the
 * timetable's record. */
struct etf {
    struct fr__timetable *t;
    struct fr__ready ready;
    double *free_s; /* [n_devices] the end of the last operation */
    /* [n_ops] n_changes, and one, when its inputs were looked at; SETTLED: all have a place; 0: not
     * yet */
    size_t *looked_at;
    size_t n_changes; /* how often variables or groups may have got a place */
};

static const size_t SETTLED = SIZE_MAX;

static bool make(struct etf *e, struct fr__timetable *t)
{
    *e = (struct etf){.t = t};
    e->free_s = fr__arena_alloc(t->arena, t->machine->n_devices, sizeof(*e->free_s));
    e->looked_at = fr__arena_alloc(t->arena, t->dag->n_ops, sizeof(*e->looked_at));
    return e->free_s && e->looked_at && fr__ready_init(&e->ready, t);
}

static bool all_inputs_have_places(const struct fr__timetable *t, uint32_t op)
{
    const struct fr__dag *dag = t->dag;

    for (uint32_t k = dag->in_first[op]; k < dag->in_first[op + 1]; k++)
        if (t->device[dag->edges[dag->in_edges[k]].src] == FR_NONE)
            return false;
    return true;
}

/* When the inputs of op are on each device, [n_devices]. */
static const double *inputs(struct etf *e, uint32_t op)
{
    struct fr__timetable *t = e->t;
    double *ready_s = t->record.ready_s + (size_t)op * t->machine->n_devices;

    if (e->looked_at[op] == SETTLED || e->looked_at[op] == e->n_changes + 1)
        return ready_s;
    for (uint32_t d = 0; d < t->machine->n_devices; d++)
        ready_s[d] = fr__timetable_ready(t, op, d);
    e->looked_at[op] = all_inputs_have_places(t, op) ? SETTLED : e->n_changes + 1;
    return ready_s;
}

/* Where op starts first; of equal devices the lowest. Its end is not filled in. */
static struct fr__spot starts_first(struct etf *e, uint32_t op)
{
    struct fr__timetable *t = e->t;
    bool is_free = t->dag->ops[op].group == FR_NONE;
    struct fr__spot best = {.device = FR_NONE};
    const double *ready_s;

    if (t->is_told)
        return fr__timetable_choose(t, op, FR__SPOT_STARTS_FIRST, false);
    ready_s = inputs(e, op);
    for (uint32_t d = 0; d < t->machine->n_devices; d++) {
        double start_s = ready_s[d] > e->free_s[d] ? ready_s[d] : e->free_s[d];

        if ((best.device == FR_NONE || start_s < best.start_s) &&
            (is_free || fr__timetable_allows(t, op, d)))
            best = (struct fr__spot){.device = d, .ready_s = ready_s[d], .start_s = start_s};
    }
    return best;
}

static void place(struct etf *e, uint32_t op, const struct fr__spot *spot)
{
    struct fr__timetable *t = e->t;
    size_t n_listed = t->n_listed;

    fr__timetable_place(t, op, spot, FR__DPOS_ENDS_FIRST);
    e->free_s[spot->device] = fr__slots_end(t->slots, spot->device);
    e->n_changes += t->dag->ops[op].group != FR_NONE || t->n_listed > n_listed + 1;
}

/* Of the ready operations, the one to be placed now, as an index into them. */
static size_t choose(struct etf *e, struct fr__spot *best)
{
    const struct fr__ready *ready = &e->ready;
    size_t taken = 0;

    for (size_t k = 0; k < ready->n; k++) {
        struct fr__spot spot = starts_first(e, ready->at[k].op);
        const struct fr__ranked *a = &ready->at[k], *b = &ready->at[taken];

        if (k > 0 && (spot.start_s > best->start_s ||
                      (spot.start_s >= best->start_s &&
                       (a->key > b->key || (a->key >= b->key && a->op > b->op)))))
            continue;
        *best = spot;
        taken = k;
    }
    best->end_s = best->start_s + fr__timetable_cost(e->t, ready->at[taken].op, best->device);
    return taken;
}

enum fr_status fr__etf_run(struct fr__timetable *t, const struct fr_problem *in,
                           const struct fr_context *ctx, struct fr_error *err)
{
    struct etf e;

    (void)in;
    if (!make(&e, t))
        return fr__fail_nomem(err);
    fr__rank_up(t, false, t->rank_s);
    for (uint32_t i = 0; i < t->dag->n_ops; i++)
        if (fr__timetable_is_ready(t, i))
            e.ready.at[e.ready.n++] = (struct fr__ranked){-t->rank_s[i], i};
    while (e.ready.n > 0) {
        struct fr__spot spot;
        size_t taken = choose(&e, &spot);
        uint32_t op = e.ready.at[taken].op;

        FR_TRY(fr__check_cancelled(ctx, err));
        place(&e, op, &spot);
        e.ready.at[taken] = e.ready.at[--e.ready.n];
        for (uint32_t k = t->dag->out_first[op]; k < t->dag->out_first[op + 1]; k++)
            if (fr__ready_is_new(t, op, k)) {
                uint32_t reader = t->dag->edges[k].dst;

                e.ready.at[e.ready.n++] = (struct fr__ranked){-t->rank_s[reader], reader};
            }
    }
    return FR_OK;
}

static const struct fr__list_method method = {
    .run = fr__etf_run,
    .caption = "planned by ETF",
    .reasons = fr__lists_starts_first,
    .rank_rule = "Static levels: the longest chain of mean costs from the operation to the end, "
                 "without\nmoves. In the order in which they were taken:",
    .list_rule = "Again and again, of all that is ready and all devices, the pair that can start "
                 "first;\nof equal ones the higher level:",
};

static enum fr_status plan(const struct fr_problem *in, const struct fr_context *ctx,
                           struct fr_plan *out, struct fr_error *err)
{
    return fr__lists_plan(&method, in, ctx, out, err);
}

static enum fr_status explain(const struct fr_problem *in, const struct fr_context *ctx,
                              struct fr_decisions **out, struct fr_error *err)
{
    return fr__lists_explain(&method, in, ctx, out, err);
}

const struct fr_strategy fr__strategy_etf = {
    .name = "etf",
    .summary = "list scheduling: of all that is ready, what can start first anywhere",
    .source = "Hwang, Chow, Anger, Lee, SIAM J. Comput. 18(2), 1989",
    .options = fr__lists_options,
    .plan = plan,
    .explain = explain,
    .is_by_name_only = true,
};
