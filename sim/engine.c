/* sim/engine.c - the loop: events in order of time, and the tasks that they let start.
 *
 * An instant ends all that is over, then starts what is ready, until nothing more happens at that
 * time. How tasks wait for their stream is in streams.c.
 */
#include "config.h"

#include "sim/collectives/schedule_run.h"
#include "sim/analysis/parts.h"
#include "sim/streams.h"

#include <math.h>
#include <stdlib.h>

enum { CANCEL_EVERY = 1 << 16 };

static inline void fetch_ready(const struct fr__engine *e, const struct fr__state *k)
{
    if (k->kind == FR_TASK_SEND || k->kind == FR_TASK_RECV)
        fr__fetch(&e->v->transfers[k->transfer]);
    fr__fetch(&e->streams[k->stream]);
    fr__fetch(&e->memory.live[k->alloc]);
}

static inline void fetch_end(const struct fr__engine *e, uint32_t task)
{
    const struct fr__state *k = &e->tasks[task];

    if (k->progress != TASK_STARTED)
        return; /* an end that interference has made stale */
    for (uint32_t i = 0; i < fr__n_fetched(k); i++)
        fetch_ready(e, &e->tasks[e->v->succ[k->succ + i]]);
    if (k->n_free > 0)
        fr__fetch(&e->memory.live[e->memory.freed[k->free]]);
}

FR__INLINE void push_event(struct fr__engine *e, double t_s, uint32_t id, enum fr__event_what what)
{
    if (!fr__event_queue_push(&e->events, t_s, id, what))
        fr__engine_fail_nomem(e);
}

/* The functions of the loop are made twice, for usual runs and for any. */

FR__INLINE double duration_of(const struct fr__engine *e, uint32_t task, const struct fr__state *k,
                              bool is_usual)
{
    if (!is_usual)
        return fr__task_duration(e, task);
    return k->cost_id == FR_NONE ? 0 : e->v->costs[k->cost_id].mean_s;
}

FR__INLINE void compute_start(struct fr__engine *e, uint32_t task, bool is_usual)
{
    struct fr__state *k = &e->tasks[task];
    uint32_t d = k->stream & e->device_mask;
    struct fr__device *device = &e->devices[d];
    double duration_s = duration_of(e, task, k, is_usual);

    fr__start_task(e, k);
    if (!is_usual && e->parts)
        fr__parts_keep(e, task);
    if (!is_usual && e->o->alloc_at_start)
        fr__memory_alloc(e, task);
    fr__device_account(e, device);
    device->n_computing++;
    e->results[d].work_s += duration_s;
    if (!is_usual && fr__has_interference(e))
        fr__compute_begin(e, task, duration_s);
    else
        push_event(e, e->now_s + duration_s, task, EVENT_TASK_DONE);
}

FR__INLINE void compute_done(struct fr__engine *e, uint32_t task, bool is_usual)
{
    struct fr__device *k = &e->devices[fr__device_of(e, task)];

    fr__device_account(e, k);
    k->n_computing--;
    if (!is_usual && e->parts)
        fr__parts_at_compute_done(e, task);
    if (!is_usual && fr__has_interference(e))
        fr__compute_end(e, task);
    fr__end_task(e, task, is_usual);
}

static void complete_markers(struct fr__engine *e)
{
    while (e->n_markers > 0) {
        uint32_t task = e->markers[--e->n_markers];

        fr__memory_alloc(e, task);
        fr__task_started(e, task);
        if (e->parts)
            fr__parts_at_end(e, e->tasks[task].cause);
        fr__task_done(e, task);
    }
}

/* The host launches it; it starts when that is over. */
FR__INLINE void compute_dispatch(struct fr__engine *e, uint32_t task, const struct fr__state *k,
                                 bool is_usual)
{
    uint32_t d = k->stream & e->device_mask;
    double launch_s = is_usual && k->cost_id != FR_NONE ? e->v->costs[k->cost_id].launch_s
                                                        : fr__host_work_s(e, task, k->cost_id, d);
    double host_s = e->devices[d].host_s += launch_s;

    if (host_s > e->now_s)
        push_event(e, host_s, task, EVENT_TASK_START);
    else
        compute_start(e, task, is_usual);
}

FR__INLINE void dispatch(struct fr__engine *e, struct fr__stream *s, struct fr__waiting w,
                         bool is_of_free, bool is_usual)
{
    uint32_t task = fr__task_of(w);
    struct fr__state *k = &e->tasks[task];

    if (!is_of_free) {
        s->running = task;
        s->next++;
        /* it was not its predecessors that it waited for last, but the stream */
        if (w.ready_s < e->now_s && s->last != FR_NONE)
            k->cause = s->last;
    }
    if (!is_usual && e->parts)
        fr__parts_at_end(e, k->cause);
    if (is_usual || !e->o->alloc_at_start)
        fr__memory_alloc(e, task);
    k->progress = TASK_DISPATCHED;
    if (k->kind == FR_TASK_COMPUTE)
        compute_dispatch(e, task, k, is_usual);
    else if (k->kind == FR_TASK_COLLECTIVE)
        fr__collective_arrive(e, task);
    else
        fr__transfer_arrive(e, task);
}

FR__INLINE bool may_dispatch(const struct fr__engine *e, const struct fr__stream *s, bool is_usual)
{
    if (s->n == 0 || s->running != FR_NONE)
        return false;
    return is_usual || e->o->order != FR_ORDER_STRICT ||
           fr__task_of(s->queue[0]) == e->order[s->next];
}

static void start_free(struct fr__engine *e, struct fr__stream *s)
{
    while (s->n > 0)
        dispatch(e, s, fr__stream_pop(e, s), true, false);
}

/* ---- collectives that ranks take up in different orders ----
 *
 * Ranks that are not equally fast may take up two collectives of theirs in different orders, and
 * each would hold a stream that the other waits for. A program issues them in one order on all its
 * ranks, so the one that comes first in the plan goes past the other, which holds the stream and
 * waits: it goes on behind it, since elsewhere it still waits for a stream that the first one has.
 */

static bool is_member(const struct fr__engine *e, uint32_t task)
{
    return e->tasks[task].kind == FR_TASK_COLLECTIVE;
}

/* A member that holds its stream and waits for others. */
static bool is_held_up(const struct fr__engine *e, const struct fr__stream *s)
{
    return s->running != FR_NONE && is_member(e, s->running) &&
           e->tasks[s->running].progress == TASK_DISPATCHED;
}

/* Where a member of the collective stands in a queue; UINT32_MAX: nowhere. */
static uint32_t find_waiting(const struct fr__engine *e, const struct fr__stream *s,
                             uint32_t collective)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (is_member(e, fr__task_of(s->queue[i])) &&
            e->tasks[fr__task_of(s->queue[i])].collective == collective)
            return i;
    return UINT32_MAX;
}

/* The waiting task goes without its stream, past the one that holds it. */
static void go_past(struct fr__engine *e, struct fr__stream *s, uint32_t at)
{
    struct fr__waiting w = s->queue[at];
    uint32_t n = s->n, device = e->tasks[fr__task_of(w)].stream & e->device_mask;

    s->n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (i != at)
            fr__queue_push(e, s, s->queue[i]);
    e->tasks[fr__task_of(w)].stream = STREAM_OF_FREE * (e->device_mask + 1) + device;
    dispatch(e, s, w, true, false);
}

/* Whether some member of the collective that waits in the queue of s holds a stream elsewhere in
 * whose queue waits the collective that s->running is of. Ends it. */
static bool is_untangled(struct fr__engine *e, struct fr__stream *s, uint32_t at)
{
    const struct fr_plan_view *v = e->v;
    uint32_t here = e->tasks[s->running].collective;
    uint32_t there = e->tasks[fr__task_of(s->queue[at])].collective;

    for (uint32_t i = v->member_first[there]; i < v->member_first[there + 1]; i++) {
        struct fr__stream *other = &e->streams[e->tasks[v->members[i]].stream];
        uint32_t back;

        if (other->running != v->members[i] || !is_held_up(e, other))
            continue;
        back = find_waiting(e, other, here);
        if (back == UINT32_MAX)
            continue;
        if (s->queue[at].key < other->queue[back].key)
            go_past(e, s, at);
        else
            go_past(e, other, back);
        return true;
    }
    return false;
}

static void untangle(struct fr__engine *e, struct fr__stream *s)
{
    bool has_changed = true;

    while (has_changed && is_held_up(e, s)) {
        has_changed = false;
        for (uint32_t i = 0; i < s->n && !has_changed; i++)
            has_changed = is_member(e, fr__task_of(s->queue[i])) && is_untangled(e, s, i);
    }
}

/* Whether all members of a collective have arrived or could, if others did not hold their streams.
 */
static bool is_blocked_by_streams(const struct fr__engine *e, uint32_t collective)
{
    const struct fr_plan_view *v = e->v;
    uint32_t n_waiting = 0;

    for (uint32_t i = v->member_first[collective]; i < v->member_first[collective + 1]; i++) {
        const struct fr__state *k = &e->tasks[v->members[i]];

        if (k->progress == TASK_WAITING && k->waits > 0)
            return false;
        n_waiting += k->progress == TASK_WAITING;
    }
    return n_waiting > 0;
}

/* At a standstill without such a collective, others wait for what computes behind one that holds
 * its stream: the first of these tasks goes past it. */
static bool pass_first(struct fr__engine *e)
{
    size_t n_streams = ((size_t)e->device_mask + 1) * STREAM_OF_FREE;
    struct fr__stream *best = NULL;
    uint32_t at = 0;

    for (size_t id = 0; id < n_streams; id++) {
        struct fr__stream *s = &e->streams[id];

        for (uint32_t i = 0; i < s->n && is_held_up(e, s); i++)
            if (!best || s->queue[i].key < best->queue[at].key) {
                best = s;
                at = i;
            }
    }
    if (best)
        go_past(e, best, at);
    return best != NULL;
}

/* At a standstill: the first such collective goes past those that hold streams. Rings of three or
 * more collectives end so. */
static bool untangle_any(struct fr__engine *e)
{
    const struct fr_plan_view *v = e->v;

    if (e->o->order == FR_ORDER_STRICT)
        return false;
    for (uint32_t c = 0; c < v->n_collectives; c++) {
        if (!is_blocked_by_streams(e, c))
            continue;
        for (uint32_t i = v->member_first[c]; i < v->member_first[c + 1]; i++) {
            const struct fr__state *k = &e->tasks[v->members[i]];
            struct fr__stream *s = &e->streams[k->stream];

            if (k->progress == TASK_WAITING)
                go_past(e, s, find_waiting(e, s, c));
        }
        return true;
    }
    return pass_first(e);
}

FR__INLINE void start_ready(struct fr__engine *e, bool is_usual)
{
    for (size_t i = 0; i < e->n_dirty; i++) {
        uint32_t id = e->dirty[i];
        struct fr__stream *s = &e->streams[id];

        s->is_dirty = false;
        if (fr__is_of_free(e, id))
            start_free(e, s);
        else if (may_dispatch(e, s, is_usual))
            dispatch(e, s, fr__stream_pop(e, s), false, is_usual);
        if (!is_usual && s->n > 0 && e->o->order != FR_ORDER_STRICT && is_held_up(e, s))
            untangle(e, s);
    }
    e->n_dirty = 0;
}

/* ---- the loop ---- */

/* When the network model's own next event is due; INFINITY: never. */
static inline double next_of_network(struct fr__engine *e)
{
    struct fr__network *n = &e->network;

    if (!n->is_next_known || e->parts) {
        n->next_s = n->model->next ? n->model->next(n->state, e->now_s) : INFINITY;
        n->is_next_known = true;
        if (e->parts && n->model->next)
            fr__parts_rates_changed(e);
    }
    return n->next_s;
}

static inline enum fr__event_what what_of(struct fr__event event)
{
    return (enum fr__event_what)(fr__event_what(event) & ((1u << EVENT_WHAT_BITS) - 1));
}

/* What is rarer than the end of a task. */
static void handle_other(struct fr__engine *e, struct fr__event event)
{
    uint32_t id = fr__event_id(event);

    switch (what_of(event)) {
    case EVENT_TASK_DONE: /* see handle */
        break;
    case EVENT_TASK_START:
        if (e->parts)
            fr__parts_at_launch(e, fr__device_of(e, id));
        compute_start(e, id, false);
        break;
    case EVENT_TRANSFER_START:
        fr__transfer_launched(e, id);
        break;
    case EVENT_COLLECTIVE_START:
        if (e->parts)
            fr__parts_at_launch(e, fr__device_of(e, e->collectives.arrivals[id].latest));
        fr__collective_start(e, id);
        break;
    case EVENT_COLLECTIVE_DONE:
        fr__collective_done(e, id);
        break;
    case EVENT_MESSAGE:
        fr__message_wake(e, id);
        break;
    case EVENT_STEPS_BEGIN:
        fr__steps_begin(e, id);
        break;
    case EVENT_STEP_TAKEN:
        fr__step_taken(e, id);
        break;
    }
}

FR__INLINE void handle(struct fr__engine *e, struct fr__event event, bool is_usual)
{
    uint32_t id = fr__event_id(event), version = fr__event_what(event) >> EVENT_WHAT_BITS;

    if (what_of(event) != EVENT_TASK_DONE)
        handle_other(e, event);
    else if (is_usual || !fr__has_interference(e) || fr__compute_is_current(e, id, version))
        compute_done(e, id, is_usual);
}

/* Asks for what the next event will touch, so that it comes while the present one is handled. */
static void fetch_next(const struct fr__engine *e)
{
    const struct fr__message *m;
    struct fr__event next;
    uint32_t id;

    if (fr__event_queue_is_empty(&e->events))
        return;
    next = fr__event_queue_top(&e->events);
    id = fr__event_id(next);
    switch (what_of(next)) {
    case EVENT_TASK_DONE:
        fetch_end(e, id);
        break;
    case EVENT_MESSAGE:
        m = &e->network.messages[id];
        if (e->network.model->is_end_known && m->owner == &fr__transfer_messages) {
            fetch_end(e, e->v->transfers[m->of].send);
            fetch_end(e, e->v->transfers[m->of].recv);
        }
        break;
    case EVENT_TASK_START:
    case EVENT_TRANSFER_START:
    case EVENT_COLLECTIVE_START:
    case EVENT_COLLECTIVE_DONE:
    case EVENT_STEPS_BEGIN:
    case EVENT_STEP_TAKEN:
        break;
    }
}

/* All events of the present instant, then the starts they allow; these may add events of no
 * duration, so an instant ends only when none is left. next_bits: the time of the next event, as
 * bits. Returns that of the one after. */
FR__INLINE uint64_t run_instant(struct fr__engine *e, uint64_t next_bits, bool is_usual)
{
    uint64_t now_bits = fr__time_bits(e->now_s);

    do {
        while (next_bits <= now_bits) {
            struct fr__event event = fr__event_queue_pop(&e->events);

            if (e->is_large)
                fetch_next(e);
            handle(e, event, is_usual);
            if (++e->stats.events % CANCEL_EVERY == 0)
                fr__engine_look_up(e);
            next_bits = fr__event_queue_next(&e->events);
        }
        if (e->n_markers > 0)
            complete_markers(e);
        start_ready(e, is_usual);
        next_bits = fr__event_queue_next(&e->events);
    } while (e->status == FR_OK && next_bits <= now_bits);
    return next_bits;
}

static void start_first(struct fr__engine *e)
{
    for (uint32_t t = 0, n = (uint32_t)e->v->n_tasks; t < n; t++)
        if (e->tasks[t].waits == 0)
            fr__task_ready(e, t, FR_NONE);
    complete_markers(e);
    start_ready(e, false);
}

FR__INLINE void run_to_end(struct fr__engine *e, bool is_usual)
{
    double stop_s = e->o->stop_s > 0 ? e->o->stop_s : INFINITY;
    uint64_t next_bits;

    start_first(e);
    next_bits = fr__event_queue_next(&e->events);
    for (;;) {
        double network_s, event_s, next_s;

        next_bits = run_instant(e, next_bits, is_usual);
        /* ends that interference has made stale may outlast the last task: they take no time */
        if (e->status != FR_OK || e->n_done == e->v->n_tasks)
            break;
        network_s = next_of_network(e);
        event_s = next_bits == UINT64_MAX ? INFINITY : fr__time_of_bits(next_bits);
        next_s = network_s < event_s ? network_s : event_s;
        if (next_s == INFINITY) {
            if (!untangle_any(e))
                break;
            next_bits = fr__event_queue_next(&e->events);
            continue;
        }
        /* rounding may put a message's end an ulp before the instant that solved it */
        if (next_s > e->now_s)
            e->now_s = next_s;
        if (e->now_s > stop_s) {
            e->is_stopped = true;
            break;
        }
        if (network_s <= e->now_s) {
            fr__network_advance(e);
            next_bits = fr__event_queue_next(&e->events);
        }
    }
}

void fr__engine_loop(struct fr__engine *e)
{
    if (e->is_usual)
        run_to_end(e, true);
    else
        run_to_end(e, false);
}
