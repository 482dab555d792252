/* strategies/lists/mcp.c - MCP: by rising latest start, each operation where it starts first.
 *
 * The latest start (ALAP) of an operation is the length of the critical path less its upward rank.
 * The list is sorted by it; of equal ones by the latest starts of the readers, in rising order. An
 * operation may go into a gap. The paper's devices are all alike; where they are not, ranks are of
 * means.
 *
 * Ties:    what is still equal, the lower index; at equal starts the lower device.
 * Source:  M.-Y. Wu, D. D. Gajski, "Hypertool: A Programming Aid for Message-Passing Systems", IEEE
 *          TPDS 1(3), 1990. There the lists hold all descendants; ours hold an operation and its
 *          readers, as in most implementations, since the former needs memory of the square of the
 *          operations.
 */
#include "config.h"

#include "base/error.h"
#include "strategies/list.h"
#include "strategies/lists/lists.h"
#include "strategies/lists/ready.h"
#include "lowering/log.h"

#include <gsl/gsl_sort_double.h>
#include <stdlib.h>

/* An operation, its latest start, and those of its readers in rising order. */
struct entry {
    double latest_s;
    const double *readers_s;
    uint32_t n_readers, op;
};

static int compare_numbers(double a, double b)
{
    return a < b ? -1 : a > b;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int c = compare_numbers(x->latest_s, y->latest_s);

    for (uint32_t k = 0; c == 0 && k < x->n_readers && k < y->n_readers; k++)
        c = compare_numbers(x->readers_s[k], y->readers_s[k]);
    return c != 0 ? c : x->op < y->op ? -1 : x->op > y->op;
}

/* Makes the list of *n operations. NULL: out of memory. */
static struct entry *make_list(struct fr__timetable *t, const double latest_s[], size_t *n)
{
    const struct fr__dag *dag = t->dag;
    struct entry *list = fr__arena_alloc(t->arena, dag->n_ops, sizeof(*list));
    double *readers_s = fr__arena_alloc(t->arena, dag->n_edges, sizeof(*readers_s));

    *n = 0;
    if (!list || !readers_s)
        return NULL;
    for (uint32_t i = 0; i < dag->n_ops; i++) {
        uint32_t first = dag->out_first[i], n_readers = dag->out_first[i + 1] - first;

        for (uint32_t k = 0; k < n_readers; k++)
            readers_s[first + k] = latest_s[dag->edges[first + k].dst];
        gsl_sort(readers_s + first, 1, n_readers);
        if (!t->waits[i])
            list[(*n)++] = (struct entry){latest_s[i], readers_s + first, n_readers, i};
    }
    qsort(list, *n, sizeof(*list), compare_entries);
    return list;
}

/* Places all in the order of the list; where operations that take no time tie with what they read,
 * what is read goes first. */
static enum fr_status place_all(struct fr__timetable *t, const struct entry list[], size_t n,
                                const struct fr_context *ctx, struct fr_error *err)
{
    uint32_t *place = fr__arena_alloc(t->arena, t->dag->n_ops, sizeof(*place));
    struct fr__ready ready;

    if (!place || !fr__ready_init(&ready, t))
        return fr__fail_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        place[list[i].op] = i;
    for (size_t i = 0; i < n; i++)
        if (fr__timetable_is_ready(t, list[i].op))
            fr__ready_push(&ready, (double)i, list[i].op);
    while (ready.n > 0) {
        uint32_t op = fr__ready_pop(&ready);
        struct fr__spot spot = fr__timetable_choose(t, op, FR__SPOT_STARTS_FIRST, true);

        FR_TRY(fr__check_cancelled(ctx, err));
        fr__timetable_place(t, op, &spot, FR__DPOS_ENDS_FIRST);
        for (uint32_t e = t->dag->out_first[op]; e < t->dag->out_first[op + 1]; e++)
            if (fr__ready_is_new(t, op, e))
                fr__ready_push(&ready, place[t->dag->edges[e].dst], t->dag->edges[e].dst);
    }
    return FR_OK;
}

enum fr_status fr__mcp_run(struct fr__timetable *t, const struct fr_problem *in,
                           const struct fr_context *ctx, struct fr_error *err)
{
    double *latest_s = fr__arena_alloc(t->arena, t->dag->n_ops, sizeof(*latest_s)), length_s = 0;
    struct entry *list;
    size_t n;

    (void)in;
    if (!latest_s)
        return fr__fail_nomem(err);
    fr__rank_up(t, true, t->rank_s);
    for (uint32_t i = 0; i < t->dag->n_ops; i++)
        if (!t->waits[i] && t->rank_s[i] > length_s)
            length_s = t->rank_s[i];
    for (uint32_t i = 0; i < t->dag->n_ops; i++)
        latest_s[i] = length_s - t->rank_s[i];
    list = make_list(t, latest_s, &n);
    if (!list)
        return fr__fail_nomem(err);
    return place_all(t, list, n, ctx, err);
}

static const struct fr__list_method method = {
    .run = fr__mcp_run,
    .caption = "planned by MCP",
    .reasons = fr__lists_starts_first,
    .rank_rule = "Upward ranks: w, the mean cost, and the most of c + rank over the readers. The "
                 "latest\nstart is the highest rank less the own one; by rising latest start, of "
                 "equal ones by\nthose of the readers:",
    .list_rule = "Operation by operation: when its inputs could be there (ready), its earliest "
                 "start\n(EST) and end (EFT). It goes where it starts first, into the first gap "
                 "that is long\nenough:",
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

const struct fr_strategy fr__strategy_mcp = {
    .name = "mcp",
    .summary = "list scheduling: by latest start, each op where it starts first",
    .source = "Wu, Gajski, Hypertool, IEEE TPDS 1(3), 1990",
    .options = fr__lists_options,
    .plan = plan,
    .explain = explain,
    .is_by_name_only = true,
};
