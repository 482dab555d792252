/* strategies/placement/placement.c - the strategy `placement`: ops where a file says, in the order
 * that it says.
 *
 * An op that no row names stands where its forward op stands, so that a file may name the ops of
 * the forward pass only. Ops with an `order` or a `start_s` of their own run on their device in
 * exactly that order; others run when they are ready, in the model's order. What cannot be is
 * refused with the line of the file: a reader before what it reads, two devices for one set of
 * parameters, orders of several devices that wait for each other.
 *
 * Source:  our own; the way from places to a plan is that of the list schedulers (lists/run.c).
 */
#include "config.h"

#include "base/error.h"
#include "strategies/list.h"
#include "strategies/lists/lists.h"
#include "strategies/lists/ready.h"
#include "lowering/log.h"
#include "strategies/placement/file.h"
#include "workloads/graph/totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_START = FR__LISTS_START, OPTION_FILE, MAX_OP_NAME = 300 };

/* Of a task's time: schedules are written with some six digits. */
static const double TOLERANCE = 1e-6;

struct placing {
    struct fr__timetable *t;
    const struct fr_problem *in;
    const struct fr_context *ctx;
    struct fr__placement *file;
    bool is_tasks; /* the graph is tasks, whose times are what the user says */
    const struct fr__placement_row **row; /* [n_ops] */
    uint32_t *device;                     /* [n_ops] as numbered in the machine */
    bool *is_own;                         /* [n_ops] the row names this op, not its forward op */
    /* [n_devices + 1], [n]: ops with an order of their own, device by device in that order */
    uint32_t *first, *next, *ordered;
    uint32_t *pending; /* ready to be placed, by number */
    size_t n_pending;
};

/* ---- rows of ops ---- */

/* The name of op's forward op, of the same replica; NULL: it has none. */
static const char *forward_name(const struct placing *p, uint32_t op, char *buf, size_t n)
{
    const struct fr__dag_op *o = &p->t->dag->ops[op];
    char own[MAX_OP_NAME];
    const char *replica;
    uint32_t forward;

    if (o->op == FR_NONE)
        return NULL;
    forward = p->in->graph->ops[o->op].forward;
    replica = strstr(fr__dag_name(p->t->dag, op, own, sizeof(own)), " of replica ");
    snprintf(buf, n, "%s%s", p->in->graph->ops[forward == FR_NONE ? o->op : forward].name,
             replica ? replica : "");
    return buf;
}

static enum fr_status find_device(struct placing *p, uint32_t op, struct fr_error *err)
{
    const struct fr__placement_row *row = p->row[op];
    const struct fr_topo *t = p->in->topo;
    const char *names[256];
    char hint[300];
    size_t n = 0;

    for (uint32_t k = 0; k < p->in->n_devices; k++) {
        const char *name = t->devices[p->in->devices[k]].name;

        if (strcmp(name, row->device) == 0) {
            p->device[op] = k;
            return FR_OK;
        }
        if (n < sizeof(names) / sizeof(names[0]))
            names[n++] = name;
    }
    return fr__fail(err, FR_EUSAGE, row->device_loc,
                    "'%.100s' is none of the %zu GPUs in use (%s to %s)%s", row->device,
                    p->in->n_devices, names[0], names[n - 1],
                    fr__did_you_mean(row->device, names, n, hint, sizeof(hint)));
}

static enum fr_status find_rows(struct placing *p, struct fr_error *err)
{
    const struct fr__dag *dag = p->t->dag;
    const char *path = fr_option_text(p->in->options, OPTION_FILE);
    char name[MAX_OP_NAME], forward[MAX_OP_NAME];
    size_t n_missing = 0;
    uint32_t missing = 0;

    for (uint32_t op = 0; op < dag->n_ops; op++) {
        if (p->t->waits[op])
            continue;
        p->row[op] = fr__placement_find(p->file, fr__dag_name(dag, op, name, sizeof(name)));
        p->is_own[op] = p->row[op] != NULL && !p->row[op]->is_pattern;
        if (!p->row[op] && forward_name(p, op, forward, sizeof(forward)))
            p->row[op] = fr__placement_find(p->file, forward);
        if (p->row[op])
            FR_TRY(find_device(p, op, err));
        else if (n_missing++ == 0)
            missing = op;
    }
    if (n_missing > 1)
        return fr__fail(err, FR_EUSAGE, (struct fr_loc){path, 0, 0},
                        "no row places op '%s', nor %zu others",
                        fr__dag_name(dag, missing, name, sizeof(name)), n_missing - 1);
    return n_missing == 0
               ? FR_OK
               : fr__fail(err, FR_EUSAGE, (struct fr_loc){path, 0, 0}, "no row places op '%s'",
                          fr__dag_name(dag, missing, name, sizeof(name)));
}

/* The op of the dag that is nearest to a name that no op has. */
static enum fr_status fail_unused(const struct placing *p, const struct fr__placement_row *row,
                                  struct fr_error *err)
{
    const struct fr_graph *g = p->in->graph;
    const char **names = calloc(g->n_ops + 1, sizeof(*names));
    char hint[300] = "";

    for (size_t i = 0; names && i < g->n_ops; i++)
        names[i] = g->ops[i].name;
    if (names && !row->is_pattern)
        fr__did_you_mean(row->op, names, g->n_ops, hint, sizeof(hint));
    free(names);
    return fr__fail(err, FR_EUSAGE, row->op_loc, "%s '%.100s'%s",
                    row->is_pattern ? "no op matches" : "the model has no op", row->op, hint);
}

static enum fr_status check_used(const struct placing *p, struct fr_error *err)
{
    const struct fr__placement_row *row;

    for (size_t i = 0; (row = fr__placement_row(p->file, i)) != NULL; i++)
        if (!row->is_used && !(row->is_pattern && strspn(row->op, "*") == strlen(row->op)))
            return fail_unused(p, row, err);
    return FR_OK;
}

/* ---- orders ---- */

static bool has_key(const struct placing *p, uint32_t op)
{
    return p->row[op] && p->is_own[op] && (p->row[op]->has_order || p->row[op]->has_start);
}

static double key_of(const struct placing *p, uint32_t op)
{
    return p->row[op]->has_order ? p->row[op]->order : p->row[op]->start_s;
}

/* A row says one of the two, and all rows of a device the same. */
static enum fr_status check_kind(const struct placing *p, uint32_t op, uint32_t other,
                                 struct fr_error *err)
{
    if (p->row[op]->has_order == p->row[other]->has_order)
        return FR_OK;
    return fr__fail(err, FR_EPARSE, p->row[op]->loc,
                    "'%.100s' has %s, '%.100s' at line %u on the same device %s", p->row[op]->op,
                    p->row[op]->has_order ? "an order" : "a start_s without an order",
                    p->row[other]->op, p->row[other]->loc.line,
                    p->row[other]->has_order ? "an order" : "a start_s without an order");
}

/* When an op ends that starts as its row says, on the row's device. Of a graph that is no task
 * graph times are our own estimates, which the author of a schedule need not share: then it is the
 * start.
 */
static double end_of(const struct placing *p, uint32_t op)
{
    double cost_s = p->is_tasks ? fr__timetable_cost(p->t, op, p->device[op]) : 0;

    return p->row[op]->start_s + cost_s * (1 - TOLERANCE);
}

/* A device does one thing at a time: list[0..n), by start. */
static enum fr_status check_overlap(const struct placing *p, const uint32_t list[], size_t n,
                                    struct fr_error *err)
{
    for (size_t i = 1; i < n; i++) {
        const struct fr__placement_row *a = p->row[list[i - 1]], *b = p->row[list[i]];
        double cost_s = fr__timetable_cost(p->t, list[i - 1], p->device[list[i - 1]]);

        if (!a->has_start || !b->has_start || a->has_order)
            continue;
        if (b->start_s < end_of(p, list[i - 1]) || (b->start_s <= a->start_s && cost_s > 0))
            return fr__fail(err, FR_EUSAGE, b->loc,
                            "'%.100s' starts at %g s on %.100s, while '%.100s' (line %u, from %g s "
                            "for %g s) still runs there",
                            b->op, b->start_s, b->device, a->op, a->loc.line, a->start_s, cost_s);
    }
    return FR_OK;
}

/* What reads comes after what it reads. */
static enum fr_status check_edges(const struct placing *p, struct fr_error *err)
{
    const struct fr__dag *dag = p->t->dag;

    for (size_t e = 0; e < dag->n_edges; e++) {
        uint32_t src = dag->edges[e].src, dst = dag->edges[e].dst;
        const struct fr__placement_row *a = p->row[src], *b = p->row[dst];

        if (!a || !b || !has_key(p, src) || !has_key(p, dst))
            continue;
        if (p->device[src] == p->device[dst] && a->has_order && b->has_order && b->order < a->order)
            return fr__fail(err, FR_EUSAGE, b->loc,
                            "'%.100s' needs '%.100s' (line %u), which stands behind it in the "
                            "order of %.100s",
                            b->op, a->op, a->loc.line, b->device);
        if (a->has_start && b->has_start && b->start_s < end_of(p, src))
            return fr__fail(err, FR_EUSAGE, b->loc,
                            "'%.100s' starts at %g s, before '%.100s' (line %u, %g s)%s, which it "
                            "needs",
                            b->op, b->start_s, a->op, a->loc.line, a->start_s,
                            b->start_s < a->start_s ? "" : " has ended");
    }
    return FR_OK;
}

/* An insertion sort by key: files are mostly in order. */
static void sort_device(const struct placing *p, uint32_t list[], size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint32_t op = list[i];
        size_t k = i;

        for (; k > 0 && key_of(p, list[k - 1]) > key_of(p, op); k--)
            list[k] = list[k - 1];
        list[k] = op;
    }
}

static enum fr_status make_orders(struct placing *p, struct fr_error *err)
{
    size_t n_ops = p->t->dag->n_ops, n = 0;

    for (uint32_t d = 0; d < p->t->machine->n_devices; d++) {
        p->first[d] = p->next[d] = (uint32_t)n;
        for (uint32_t op = 0; op < n_ops; op++) {
            if (p->device[op] != d || !has_key(p, op))
                continue;
            if (n > p->first[d])
                FR_TRY(check_kind(p, op, p->ordered[p->first[d]], err));
            p->ordered[n++] = op;
        }
        sort_device(p, p->ordered + p->first[d], n - p->first[d]);
        FR_TRY(check_overlap(p, p->ordered + p->first[d], n - p->first[d], err));
    }
    p->first[p->t->machine->n_devices] = (uint32_t)n;
    return check_edges(p, err);
}

/* ---- placing ---- */

/* Whether op's turn has come on its device. */
static bool is_its_turn(const struct placing *p, uint32_t op)
{
    uint32_t d = p->device[op];

    return !has_key(p, op) || p->ordered[p->next[d]] == op;
}

static enum fr_status place(struct placing *p, size_t at, struct fr_error *err)
{
    struct fr__timetable *t = p->t;
    uint32_t op = p->pending[at];
    struct fr__spot spot = fr__timetable_look(t, op, p->device[op], false);
    char name[MAX_OP_NAME];

    if (!fr__timetable_allows(t, op, spot.device))
        return fr__fail(err, FR_EUSAGE, p->row[op]->loc,
                        "'%s' cannot be on %.100s: what shares its parameters is on another device",
                        fr__dag_name(t->dag, op, name, sizeof(name)), p->row[op]->device);
    p->pending[at] = p->pending[--p->n_pending];
    fr__timetable_place(t, op, &spot, FR__DPOS_ENDS_FIRST);
    if (has_key(p, op))
        p->next[spot.device]++;
    for (uint32_t e = t->dag->out_first[op]; e < t->dag->out_first[op + 1]; e++)
        if (fr__ready_is_new(t, op, e))
            p->pending[p->n_pending++] = t->dag->edges[e].dst;
    return FR_OK;
}

/* The pending op that starts first, of equal ones the first of the model; n_pending: none has its
 * turn. */
static size_t choose(const struct placing *p)
{
    size_t best = p->n_pending;
    double best_s = INFINITY;

    for (size_t i = 0; i < p->n_pending; i++) {
        struct fr__spot spot;

        if (!is_its_turn(p, p->pending[i]))
            continue;
        spot = fr__timetable_look(p->t, p->pending[i], p->device[p->pending[i]], false);
        if (best == p->n_pending || spot.start_s < best_s ||
            (spot.start_s <= best_s && p->pending[i] < p->pending[best])) {
            best = i;
            best_s = spot.start_s;
        }
    }
    return best;
}

static enum fr_status fail_stuck(const struct placing *p, struct fr_error *err)
{
    uint32_t stuck = p->pending[0], device = p->device[stuck];
    const struct fr__placement_row *row = p->row[stuck];
    const struct fr__placement_row *before = p->row[p->ordered[p->next[device]]];

    return fr__fail(err, FR_EUSAGE, row->loc,
                    "the orders of the devices wait for each other: '%.100s' waits on %.100s for "
                    "'%.100s' (line %u), which needs something that waits too",
                    row->op, row->device, before->op, before->loc.line);
}

static enum fr_status place_all(struct placing *p, struct fr_error *err)
{
    for (uint32_t op = 0; op < p->t->dag->n_ops; op++)
        if (fr__timetable_is_ready(p->t, op))
            p->pending[p->n_pending++] = op;
    while (p->n_pending > 0) {
        size_t at = choose(p);

        if (fr__is_cancelled(p->ctx))
            return fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
        if (at == p->n_pending)
            return fail_stuck(p, err);
        FR_TRY(place(p, at, err));
    }
    return FR_OK;
}

static enum fr_status follow_file(struct placing *p, struct fr_error *err)
{
    struct fr__arena *arena = p->t->arena;
    size_t n = p->t->dag->n_ops + 1, n_devices = p->t->machine->n_devices + 1;

    p->row = fr__arena_alloc(arena, n, sizeof(*p->row));
    p->device = fr__arena_alloc(arena, n, sizeof(*p->device));
    p->is_own = fr__arena_alloc(arena, n, sizeof(*p->is_own));
    p->ordered = fr__arena_alloc(arena, n, sizeof(*p->ordered));
    p->pending = fr__arena_alloc(arena, n, sizeof(*p->pending));
    p->first = fr__arena_alloc(arena, n_devices, sizeof(*p->first));
    p->next = fr__arena_alloc(arena, n_devices, sizeof(*p->next));
    if (!p->row || !p->device || !p->is_own || !p->ordered || !p->pending || !p->first || !p->next)
        return fr__fail_nomem(err);
    FR_TRY(find_rows(p, err));
    FR_TRY(check_used(p, err));
    FR_TRY(make_orders(p, err));
    return place_all(p, err);
}

static enum fr_status run(struct fr__timetable *t, const struct fr_problem *in,
                          const struct fr_context *ctx, struct fr_error *err)
{
    struct placing p = {.t = t, .in = in, .ctx = ctx, .is_tasks = fr__graph_is_tasks(in->graph)};
    const char *path = fr_option_text(in->options, OPTION_FILE);
    enum fr_status st;

    FR_TRY(fr__placement_load(&p.file, path, err));
    st = follow_file(&p, err);
    fr__placement_free(p.file);
    return st;
}

static const struct fr_reason reasons[] = {
    [FR__DPOS_WITH_READER] = {.kind = FR_REASON_FOLLOWS,
                              .token = "with-reader",
                              .words = "a variable, stands with the first of its readers"},
    [FR__DPOS_OF_GROUP] = {.kind = FR_REASON_BOUND,
                           .token = "group",
                           .words = "bound to where its group stands"},
    [FR__DPOS_ENDS_FIRST] = {.kind = FR_REASON_BOUND,
                             .token = "file",
                             .words = "where the file says"},
};

static const struct fr__list_method method = {
    .run = run,
    .caption = "placed by a file",
    .reasons = reasons,
    .list_rule = "Operation by operation: when its inputs are there (ready), its start (EST) and "
                 "end\n(EFT) on the device that the file names:",
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

static const struct fr_option options[] = {
    [OPTION_START] = {.name = "start",
                      .type = FR_OPTION_CHOICE,
                      .fallback = "model",
                      .choices = "auto|dp|model",
                      .help = "place one model, or replicas that share its variables"},
    [OPTION_FILE] = {.name = "file",
                     .type = FR_OPTION_FILE,
                     .fallback = "",
                     .help = "CSV: op,device[,order][,start_s]; ops may be patterns"},
    {.name = NULL},
};

const struct fr_strategy fr__strategy_placement = {
    .name = "placement",
    .summary = "ops where a CSV file says, in its order",
    .source = "the user's own file",
    .options = options,
    .plan = plan,
    .explain = explain,
    .is_by_name_only = true,
    .required_option = "file",
};
