/* plan/orders/gate.c - transfers handed to the network in the order of their numbers. */
#include "config.h"

#include "plan/orders/order.h"

#include "base/error.h"

#include <stdlib.h>

/* An ordered transfer, and what tells its channel and its place there. */
struct turn {
    uint32_t src, dst, number;
    int32_t priority; /* of its send */
    uint32_t send, transfer;
};

static int by_channel_and_number(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;

    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    if (x->dst != y->dst)
        return x->dst < y->dst ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    return (x->send > y->send) - (x->send < y->send);
}

static bool is_same_channel(const struct turn *a, const struct turn *b)
{
    return a->src == b->src && a->dst == b->dst;
}

static struct turn *list_turns(const struct fr__receives *r, const uint32_t number[],
                               struct fr__arena *arena)
{
    const struct fr_plan_view *v = r->v;
    struct turn *turns = fr__arena_take(arena, r->n_ordered, sizeof(*turns));
    size_t n = 0;

    for (uint32_t x = 0; turns && x < v->n_transfers; x++) {
        const struct fr_transfer *k = &v->transfers[x];

        if (r->is_ordered[x])
            turns[n++] = (struct turn){v->tasks[k->send].device,
                                       v->tasks[k->recv].device,
                                       number[x],
                                       v->tasks[k->send].priority,
                                       k->send,
                                       x};
    }
    if (turns)
        qsort(turns, n, sizeof(*turns), by_channel_and_number);
    return turns;
}

/* ---- the plan's own turns ---- */

/* Takes them out; [n_transfers]: whether some other one had to wait for its end. */
static bool *drop_turns(struct fr_plan *out, const struct fr__receives *r, struct fr__arena *arena)
{
    bool *had_turn = fr__arena_alloc(arena, r->v->n_transfers, sizeof(*had_turn));
    size_t n = 0;

    for (size_t i = 0; had_turn && i < out->n_deps.n; i++) {
        struct fr__pair d = out->deps[i];

        if (fr__is_turn(r->v, r->is_ordered, d.from, d.to))
            had_turn[r->v->tasks[d.from].transfer] = true;
        else
            out->deps[n++] = d;
    }
    if (had_turn)
        out->n_deps.n = n;
    return had_turn;
}

/* ---- one channel ---- */

static int by_value(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

/* The sends' priorities, and the receives', sorted; equal ones are told apart, since what becomes
 * ready at one moment is dispatched by priority, then number. */
static void deal_priorities(struct fr_plan *out, const struct fr_plan_view *v,
                            const struct turn turns[], size_t n, int32_t scratch[])
{
    for (int is_recv = 0; is_recv < 2; is_recv++) {
        for (size_t i = 0; i < n; i++) {
            const struct fr_transfer *x = &v->transfers[turns[i].transfer];

            scratch[i] = v->tasks[is_recv ? x->recv : x->send].priority;
        }
        qsort(scratch, n, sizeof(*scratch), by_value);
        for (size_t i = 0; i < n; i++) {
            const struct fr_transfer *x = &v->transfers[turns[i].transfer];

            if (i > 0 && scratch[i] <= scratch[i - 1])
                scratch[i] = scratch[i - 1] + (scratch[i - 1] < INT32_MAX);
            out->tasks[is_recv ? x->recv : x->send].priority = scratch[i];
        }
    }
}

static void follow_each_other(struct fr_plan *out, const struct fr_plan_view *v,
                              const struct turn turns[], size_t n)
{
    for (size_t i = 1; i < n; i++) {
        fr_plan_add_dep(out, turns[i - 1].send, turns[i].send);
        fr_plan_add_dep(out, turns[i - 1].send, v->transfers[turns[i].transfer].recv);
    }
}

/* On the device of task `at`. */
static uint32_t add_marker(struct fr_plan *out, const struct fr_plan_view *v, uint32_t at)
{
    struct fr_task marker = fr_task_marker(v->tasks[at].device, v->tasks[at].phase);

    marker.priority = v->tasks[at].priority;
    return fr_plan_add_task(out, &marker);
}

/* The moment at which a transfer may go: a marker before both its ends. What these wait for is
 * added by wait_for_needs. An end that waits for nothing still belongs to its device, which several
 * iterations in a row go through one after the other (unroll.c): it gets a marker there to wait
 * for. */
static uint32_t add_turn(struct fr_plan *out, const struct fr_plan_view *v,
                         const struct fr_transfer *x)
{
    const uint32_t ends[] = {x->send, x->recv};
    uint32_t handed = add_marker(out, v, x->send);

    for (int i = 0; i < 2; i++) {
        if (v->n_preds[ends[i]] == 0)
            fr_plan_add_dep(out, add_marker(out, v, ends[i]), handed);
        fr_plan_add_dep(out, handed, ends[i]);
    }
    return handed;
}

/* Each transfer goes after all with lower numbers have: through one marker where those are
 * several. */
static void open_in_order(struct fr_plan *out, const struct fr_plan_view *v,
                          const struct turn turns[], size_t n, uint32_t handed_of[])
{
    uint32_t gate = FR_NONE;

    for (size_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && turns[end].number == turns[first].number; end++) {
            uint32_t handed = add_turn(out, v, &v->transfers[turns[end].transfer]);

            if (gate != FR_NONE)
                fr_plan_add_dep(out, gate, handed);
            handed_of[turns[end].transfer] = handed;
        }
        gate = handed_of[turns[first].transfer];
        if (end - first == 1 || end == n)
            continue;
        gate = add_marker(out, v, turns[first].send);
        for (size_t i = first; i < end; i++)
            fr_plan_add_dep(out, handed_of[turns[i].transfer], gate);
    }
}

/* What either end of a transfer waits for, its marker waits for. */
static void wait_for_needs(struct fr_plan *out, const struct fr_plan_view *v,
                           const uint32_t handed_of[])
{
    for (size_t i = 0, n = out->n_deps.n; i < n; i++) {
        struct fr__pair d = out->deps[i];
        uint32_t x;

        if (d.from >= v->n_tasks || d.to >= v->n_tasks) /* a marker's */
            continue;
        x = fr_task_transfer(&v->tasks[d.to]);
        if (x != FR_NONE && handed_of[x] != FR_NONE)
            fr_plan_add_dep(out, d.from, handed_of[x]);
    }
}

static bool is_chained(const struct turn turns[], size_t n, const bool had_turn[])
{
    for (size_t i = 0; i < n; i++)
        if (had_turn[turns[i].transfer])
            return true;
    return false;
}

enum fr_status fr__gate(struct fr_plan *out, const struct fr__receives *r, const uint32_t number[],
                        struct fr__arena *arena, struct fr_error *err)
{
    struct turn *turns = list_turns(r, number, arena);
    int32_t *scratch = fr__arena_take(arena, r->n_ordered, sizeof(*scratch));
    uint32_t *handed_of = fr__arena_take(arena, r->v->n_transfers, sizeof(*handed_of));
    bool *had_turn = drop_turns(out, r, arena);

    if (!turns || !scratch || !handed_of || !had_turn)
        return fr__fail_nomem(err);
    for (size_t x = 0; x < r->v->n_transfers; x++)
        handed_of[x] = FR_NONE;
    for (size_t first = 0, end; first < r->n_ordered; first = end) {
        const struct turn *channel = turns + first;

        for (end = first; end < r->n_ordered && is_same_channel(channel, &turns[end]);)
            end++;
        deal_priorities(out, r->v, channel, end - first, scratch);
        if (is_chained(channel, end - first, had_turn))
            follow_each_other(out, r->v, channel, end - first);
        else if (end - first > 1)
            open_in_order(out, r->v, channel, end - first, handed_of);
    }
    wait_for_needs(out, r->v, handed_of);
    return FR_OK;
}
