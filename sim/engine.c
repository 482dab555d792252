/* sim/engine.c - the loop: events in order of time, and the tasks that they let start.
 *
 * An instant ends all that is over, then starts what is ready, until nothing more happens at that
 * time. How tasks wait for their stream is in streams.c.
 */
#include "config.h"

#include "sim/collectives/run.h"
#include "sim/streams.h"

#include <math.h>
#include <stdlib.h>

enum { CANCEL_EVERY = 1 << 16 };

static inline void fetch_ready(const struct engine *e, const struct state *k)
{
    if (k->kind == FR_TASK_SEND || k->kind == FR_TASK_RECV)
        fr__fetch(&e->v->transfers[k->transfer]);
    fr__fetch(&e->streams[k->stream]);
    fr__fetch(&e->memory.live[k->alloc]);
}

static inline void fetch_end(const struct engine *e, uint32_t task)
{
    const struct state *k = &e->tasks[task];

    if (k->progress != TASK_STARTED)
        return; /* an end that interference has made stale */
    for (uint32_t i = 0; i < fr__n_fetched(k); i++)
        fetch_ready(e, &e->tasks[e->v->succ[k->succ + i]]);
    if (k->n_free > 0)
        fr__fetch(&e->memory.live[e->memory.freed[k->free]]);
}

static void compute_start(struct engine *e, uint32_t task)
{
    uint32_t d = fr__device_of(e, task);
    double duration_s = fr__task_duration(e, task);

    fr__task_started(e, task);
    if (e->parts)
        fr__parts_keep(e, task);
    if (e->o->alloc_at_start)
        fr__memory_alloc(e, task);
    fr__device_account(e, &e->devices[d]);
    e->devices[d].n_computing++;
    e->results[d].work_s += duration_s;
    if (fr__has_interference(e))
        fr__compute_begin(e, task, duration_s);
    else
        fr__push_event(e, e->now_s + duration_s, task, EVENT_TASK_DONE);
}

static void compute_done(struct engine *e, uint32_t task)
{
    struct device *k = &e->devices[fr__device_of(e, task)];

    fr__device_account(e, k);
    k->n_computing--;
    if (e->parts)
        fr__parts_at_compute_done(e, task);
    if (fr__has_interference(e))
        fr__compute_end(e, task);
    fr__task_done(e, task);
}

static void complete_markers(struct engine *e)
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

static void dispatch(struct engine *e, struct waiting w)
{
    uint32_t task = fr__task_of(w);
    struct state *k = &e->tasks[task];
    struct stream *s = &e->streams[k->stream];
    double host_s;

    if (!fr__is_of_free(k->stream)) {
        s->running = task;
        s->next++;
        /* it was not its predecessors that it waited for last, but the stream */
        if (w.ready_s < e->now_s && s->last != FR_NONE)
            k->cause = s->last;
    }
    if (e->parts)
        fr__parts_at_end(e, k->cause);
    if (!e->o->alloc_at_start)
        fr__memory_alloc(e, task);
    k->progress = TASK_DISPATCHED;
    if (k->kind == FR_TASK_COLLECTIVE) {
        fr__collective_arrive(e, task);
    } else if (k->kind != FR_TASK_COMPUTE) {
        fr__transfer_arrive(e, task);
    } else {
        host_s = fr__host_launch(e, task);
        if (host_s > e->now_s)
            fr__push_event(e, host_s, task, EVENT_TASK_START);
        else
            compute_start(e, task);
    }
}

static bool may_dispatch(const struct engine *e, const struct stream *s)
{
    if (s->n == 0 || s->running != FR_NONE)
        return false;
    return e->o->order != FR_ORDER_STRICT || fr__task_of(s->queue[0]) == e->order[s->next];
}

static void start_ready(struct engine *e)
{
    for (size_t i = 0; i < e->n_dirty; i++) {
        uint32_t id = e->dirty[i];
        struct stream *s = &e->streams[id];

        s->is_dirty = false;
        if (fr__is_of_free(id))
            while (s->n > 0)
                dispatch(e, fr__stream_pop(e, s));
        else if (may_dispatch(e, s))
            dispatch(e, fr__stream_pop(e, s));
    }
    e->n_dirty = 0;
}

/* ---- the loop ---- */

/* When the network model's own next event is due; INFINITY: never. */
static inline double next_of_network(struct engine *e)
{
    const struct fr__network_model *model = e->network.model;
    double next_s;

    if (!model->next)
        return INFINITY;
    next_s = model->next(e->network.state, e->now_s);
    if (e->parts)
        fr__parts_rates_changed(e);
    return next_s;
}

static inline enum event_what what_of(struct fr__event event)
{
    return (enum event_what)(fr__event_what(event) & ((1u << EVENT_WHAT_BITS) - 1));
}

static void handle(struct engine *e, struct fr__event event)
{
    uint32_t id = fr__event_id(event), version = fr__event_what(event) >> EVENT_WHAT_BITS;

    switch (what_of(event)) {
    case EVENT_TASK_DONE:
        if (!fr__has_interference(e) || fr__compute_is_current(e, id, version))
            compute_done(e, id);
        break;
    case EVENT_TASK_START:
        if (e->parts)
            fr__parts_at_launch(e, fr__device_of(e, id));
        compute_start(e, id);
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

/* Asks for what the next event will touch, so that it comes while the present one is handled. */
static inline void fetch_next(const struct engine *e)
{
    const struct message *m;
    struct fr__event next;
    uint32_t id;

    if (e->events.n == 0)
        return;
    next = fr__heap_top(&e->events);
    id = fr__event_id(next);
    switch (what_of(next)) {
    case EVENT_TASK_DONE:
        fetch_end(e, id);
        break;
    case EVENT_MESSAGE:
        m = &e->network.messages[id];
        if (e->network.model->is_end_known && m->owner_kind == MESSAGE_OF_TRANSFER) {
            fetch_end(e, e->v->transfers[m->owner].send);
            fetch_end(e, e->v->transfers[m->owner].recv);
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

static void look_up(struct engine *e)
{
    const struct fr_context *c = e->o->context;

    if (!c)
        return;
    if (c->progress)
        c->progress(c->progress_user, "simulating", e->n_done, e->v->n_tasks);
    if (c->cancel && *c->cancel && e->status == FR_OK)
        e->status = fr__fail(e->err, FR_ECANCELLED, FR_NOWHERE,
                             "interrupted at %g simulated seconds", e->now_s);
}

/* All events of the present instant, then the starts they allow; these may add events of no
 * duration, so an instant ends only when none is left. */
static void run_instant(struct engine *e)
{
    uint64_t now_bits = fr__time_bits(e->now_s);

    do {
        while (e->events.n > 0 && fr__heap_top(&e->events).time_bits <= now_bits) {
            struct fr__event event = fr__heap_pop(&e->events);

            fetch_next(e);
            handle(e, event);
            if (++e->stats.events % CANCEL_EVERY == 0)
                look_up(e);
        }
        complete_markers(e);
        start_ready(e);
    } while (e->status == FR_OK && e->events.n > 0 &&
             fr__heap_top(&e->events).time_bits <= now_bits);
}

void fr__engine_loop(struct engine *e)
{
    double stop_s = e->o->stop_s > 0 ? e->o->stop_s : INFINITY;

    for (uint32_t t = 0; t < e->v->n_tasks; t++)
        if (e->tasks[t].waits == 0)
            fr__task_ready(e, t, FR_NONE);
    complete_markers(e);
    start_ready(e);
    run_instant(e);
    /* ends that interference has made stale may outlast the last task: they take no time */
    while (e->status == FR_OK && e->n_done < e->v->n_tasks) {
        double network_s = next_of_network(e);
        double event_s = e->events.n > 0 ? fr__event_time(fr__heap_top(&e->events)) : INFINITY;
        double next_s = network_s < event_s ? network_s : event_s;

        if (next_s == INFINITY)
            break;
        /* rounding may put a message's end an ulp before the instant that solved it */
        if (next_s > e->now_s)
            e->now_s = next_s;
        if (e->now_s > stop_s) {
            e->is_stopped = true;
            break;
        }
        if (network_s <= e->now_s)
            fr__network_advance(e);
        run_instant(e);
    }
}
