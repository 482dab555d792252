/* strategies/lists/exact_search.c - depth first, the child with the least bound first. */
#include "config.h"

#include "strategies/lists/exact_search.h"

#include "base/error.h"
#include "lowering/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_BETWEEN_REPORTS = 4096 };

/* One more operation on one device. */
struct child {
    uint32_t op, device;
    double start_s, end_s, bound_s;
};

struct search {
    struct fr__timetable *t;
    const struct fr_context *ctx;
    struct fr_error *err;
    struct fr__exact_answer *out;
    uint64_t max_nodes;
    double *least_s, *tail_s; /* [n_ops] least cost; the longest chain of them behind it */
    double *free_s;           /* [n_devices] */
    uint32_t *like;           /* [n_devices] the first device that is the same; itself */
    uint32_t *taken;          /* [n_devices] how many operations it has */
    uint32_t *order;          /* [n_ops] on the way down */
    size_t n_placed, n_to_place;
    double left_s; /* least costs of what has no place */
    double open_s; /* least bound of what was not looked at */
    double last_s; /* start of what was placed last */
    enum fr_status st;
};

/* ---- before ---- */

/* Whether all operations cost the same on two devices. */
static bool is_as_fast(const struct fr__timetable *t, size_t a, size_t b)
{
    const struct fr__dag *dag = t->dag;

    for (size_t r = 0; r < dag->n_costs; r++) {
        const double *row = dag->cost_s + r * dag->n_types;
        double a_s = row[t->machine->type[a]], b_s = row[t->machine->type[b]];

        if (a_s < b_s || a_s > b_s)
            return false;
    }
    return true;
}

/* Whether moves from a to c take as long as moves from b to d. */
static bool is_as_far(const struct fr__dpos_machine *m, size_t a, size_t c, size_t b, size_t d)
{
    size_t one = a * m->n_devices + c, other = b * m->n_devices + d;

    return !(m->latency_s[one] < m->latency_s[other] || m->latency_s[one] > m->latency_s[other] ||
             m->s_per_byte[one] < m->s_per_byte[other] ||
             m->s_per_byte[one] > m->s_per_byte[other]);
}

/* Whether two devices may change places in every schedule. */
static bool is_alike(const struct fr__timetable *t, size_t a, size_t b)
{
    const struct fr__dpos_machine *m = t->machine;

    if (!is_as_fast(t, a, b) || !is_as_far(m, a, b, b, a))
        return false;
    for (size_t k = 0; k < m->n_devices; k++)
        if (k != a && k != b && (!is_as_far(m, a, k, b, k) || !is_as_far(m, k, a, k, b)))
            return false;
    return true;
}

static void find_likes(struct search *s)
{
    for (uint32_t d = 0; d < s->t->machine->n_devices; d++) {
        s->like[d] = 0;
        while (s->like[d] < d && !is_alike(s->t, s->like[d], d))
            s->like[d]++;
    }
}

static void find_tails(struct search *s)
{
    const struct fr__dag *dag = s->t->dag;

    for (uint32_t i = (uint32_t)dag->n_ops; i-- > 0;) {
        s->least_s[i] = INFINITY;
        for (uint32_t d = 0; d < s->t->machine->n_devices; d++)
            s->least_s[i] = fmin(s->least_s[i], fr__timetable_cost(s->t, i, d));
        for (uint32_t e = dag->out_first[i]; e < dag->out_first[i + 1]; e++) {
            uint32_t j = dag->edges[e].dst;

            s->tail_s[i] = fmax(s->tail_s[i], s->least_s[j] + s->tail_s[j]);
        }
        if (!s->t->waits[i]) {
            s->left_s += s->least_s[i];
            s->n_to_place++;
        }
    }
}

static bool make_arrays(struct search *s)
{
    struct fr__arena *a = s->t->arena;
    size_t n = s->t->dag->n_ops, m = s->t->machine->n_devices;

    s->least_s = fr__arena_alloc(a, n, sizeof(*s->least_s));
    s->tail_s = fr__arena_alloc(a, n, sizeof(*s->tail_s));
    s->order = fr__arena_alloc(a, n, sizeof(*s->order));
    s->free_s = fr__arena_alloc(a, m, sizeof(*s->free_s));
    s->like = fr__arena_alloc(a, m, sizeof(*s->like));
    s->taken = fr__arena_alloc(a, m, sizeof(*s->taken));
    s->out->order = fr__arena_alloc(a, n, sizeof(*s->out->order));
    s->out->device = fr__arena_alloc(a, n, sizeof(*s->out->device));
    return s->least_s && s->tail_s && s->order && s->free_s && s->like && s->taken &&
           s->out->order && s->out->device;
}

/* ---- bounds ---- */

/* All devices together need what they have taken and the least costs of what is left. */
static double work_bound(const struct search *s)
{
    size_t n = s->t->machine->n_devices;
    double sum_s = s->left_s;

    for (size_t d = 0; d < n; d++)
        sum_s += s->free_s[d];
    return sum_s / (double)n;
}

/* The start of op on a device, behind all that the device has, not before the one placed last. */
static double start_on(const struct search *s, uint32_t op, uint32_t d)
{
    return fmax(fmax(fr__timetable_look(s->t, op, d, false).ready_s, s->free_s[d]), s->last_s);
}

/* Whether the same schedule is reached by another child. */
static bool is_twin(const struct search *s, uint32_t d)
{
    if (s->taken[d] > 0)
        return false;
    for (uint32_t k = s->like[d]; k < d; k++)
        if (s->like[k] == s->like[d] && s->taken[k] == 0)
            return true;
    return false;
}

/* Adds the children of op that may beat the best so far; returns the bound of all schedules behind
 * this node that op gives. */
static double add_children(const struct search *s, uint32_t op, struct child children[], size_t *n)
{
    double earliest_s = INFINITY;

    for (uint32_t d = 0; d < s->t->machine->n_devices; d++) {
        struct child c = {.op = op, .device = d, .start_s = start_on(s, op, d)};

        if (!fr__timetable_allows(s->t, op, d))
            continue;
        c.end_s = c.start_s + fr__timetable_cost(s->t, op, d);
        c.bound_s = c.end_s + s->tail_s[op];
        earliest_s = fmin(earliest_s, c.bound_s);
        if (c.bound_s < s->out->best_s && !is_twin(s, d))
            children[(*n)++] = c;
    }
    return earliest_s;
}

static int compare_children(const void *a, const void *b)
{
    const struct child *x = a, *y = b;

    if (x->bound_s < y->bound_s || x->bound_s > y->bound_s)
        return x->bound_s < y->bound_s ? -1 : 1;
    if (x->start_s < y->start_s || x->start_s > y->start_s)
        return x->start_s < y->start_s ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return x->device < y->device ? -1 : x->device > y->device;
}

/* Most nodes have few children, and calling qsort for them took half of the search. */
static void sort_children(struct child children[], size_t n)
{
    enum { FEW = 24 };

    if (n > FEW) {
        qsort(children, n, sizeof(*children), compare_children);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        struct child c = children[i];
        size_t k = i;

        for (; k > 0 && compare_children(&c, &children[k - 1]) < 0; k--)
            children[k] = children[k - 1];
        children[k] = c;
    }
}

/* ---- the search ---- */

/* What a placement changed besides the timetable's own place of the operation. */
struct before {
    double free_s, last_s;
    uint32_t group_device;
};

/* Variables follow their first reader when the schedule is made at last; while searching, one of a
 * group stands where its group stands, any other where its reader does. */
static struct before put(struct search *s, const struct child *c)
{
    const struct fr__dag *dag = s->t->dag;
    uint32_t group = dag->ops[c->op].group;
    struct before b = {s->free_s[c->device], s->last_s,
                       group == FR_NONE ? FR_NONE : s->t->group_device[group]};

    s->t->device[c->op] = c->device;
    s->t->start_s[c->op] = c->start_s;
    s->t->end_s[c->op] = c->end_s;
    if (group != FR_NONE)
        s->t->group_device[group] = c->device;
    for (uint32_t e = dag->out_first[c->op]; e < dag->out_first[c->op + 1]; e++)
        s->t->n_missing[dag->edges[e].dst]--;
    s->free_s[c->device] = c->end_s;
    s->last_s = c->start_s;
    s->left_s -= s->least_s[c->op];
    s->taken[c->device]++;
    s->order[s->n_placed++] = c->op;
    return b;
}

static void take_back(struct search *s, const struct child *c, const struct before *b)
{
    const struct fr__dag *dag = s->t->dag;
    uint32_t group = dag->ops[c->op].group;

    s->t->device[c->op] = FR_NONE;
    if (group != FR_NONE)
        s->t->group_device[group] = b->group_device;
    for (uint32_t e = dag->out_first[c->op]; e < dag->out_first[c->op + 1]; e++)
        s->t->n_missing[dag->edges[e].dst]++;
    s->free_s[c->device] = b->free_s;
    s->last_s = b->last_s;
    s->left_s += s->least_s[c->op];
    s->taken[c->device]--;
    s->n_placed--;
}

static void keep_if_best(struct search *s)
{
    double makespan_s = 0;

    for (size_t d = 0; d < s->t->machine->n_devices; d++)
        makespan_s = fmax(makespan_s, s->free_s[d]);
    if (!(makespan_s < s->out->best_s))
        return;
    s->out->best_s = makespan_s;
    s->out->is_from_search = true;
    s->out->n_placed = s->n_placed;
    memcpy(s->out->order, s->order, s->n_placed * sizeof(*s->order));
    memcpy(s->out->device, s->t->device, s->t->dag->n_ops * sizeof(*s->t->device));
}

static bool may_go_on(struct search *s)
{
    if (s->st != FR_OK)
        return false;
    if (s->out->n_nodes % NODES_BETWEEN_REPORTS == 0) {
        if (fr__is_cancelled(s->ctx))
            s->st = fr__fail(s->err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
        else if (s->ctx && s->ctx->progress)
            s->ctx->progress(s->ctx->progress_user, "schedules looked at", s->out->n_nodes,
                             s->max_nodes);
    }
    return s->st == FR_OK && s->out->n_nodes < s->max_nodes;
}

/* Looks at all schedules that go on from here; bound_s holds for each of them. */
static void descend(struct search *s, double bound_s)
{
    size_t n_ops = s->t->dag->n_ops, n = 0;
    struct child *children;

    if (!may_go_on(s)) {
        s->open_s = fmin(s->open_s, bound_s);
        return;
    }
    s->out->n_nodes++;
    if (s->n_placed == s->n_to_place) {
        keep_if_best(s);
        return;
    }
    children = malloc((n_ops - s->n_placed) * s->t->machine->n_devices * sizeof(*children));
    if (!children) {
        s->st = fr__fail_nomem(s->err);
        return;
    }
    bound_s = fmax(bound_s, work_bound(s));
    for (uint32_t i = 0; i < n_ops; i++)
        if (s->t->device[i] == FR_NONE && fr__timetable_is_ready(s->t, i))
            bound_s = fmax(bound_s, add_children(s, i, children, &n));
    sort_children(children, n);
    for (size_t k = 0; k < n && s->st == FR_OK; k++) {
        double there_s = fmax(bound_s, children[k].bound_s);

        if (there_s < s->out->best_s) {
            struct before b = put(s, &children[k]);

            descend(s, there_s);
            take_back(s, &children[k], &b);
        }
    }
    free(children);
}

enum fr_status fr__exact_search(struct fr__timetable *t, double best_s, uint64_t max_nodes,
                                const struct fr_context *ctx, struct fr__exact_answer *out,
                                struct fr_error *err)
{
    struct search s = {.t = t,
                       .ctx = ctx,
                       .err = err,
                       .out = out,
                       .max_nodes = max_nodes,
                       .open_s = INFINITY,
                       .st = FR_OK};

    *out = (struct fr__exact_answer){.best_s = best_s};
    if (!make_arrays(&s))
        return fr__fail_nomem(err);
    find_likes(&s);
    find_tails(&s);
    descend(&s, 0);
    out->bound_s = fmin(out->best_s, s.open_s);
    return s.st;
}
