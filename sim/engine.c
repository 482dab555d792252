/* sim/engine.c - the loop: instants, ready tasks, streams, completions. */
#include "config.h"

#include "sim/engine.h"

#include <math.h>
#include <stdlib.h>

enum { CANCEL_EVERY = 1 << 16, MOST_FETCHED = 8 };

enum fr_status fr__engine_fail_nomem(struct engine *e)
{
    if (e->status == FR_OK)
        e->status = fr__fail_nomem(e->err);
    return e->status;
}

void fr__push_event(struct engine *e, double t_s, uint32_t id, uint32_t what)
{
    if (!fr__heap_push(&e->events, t_s, id, what))
        fr__engine_fail_nomem(e);
}

/* ---- memory ahead of its use ----
 *
 * A run of many devices waits for memory: tasks end in no order that a cache could guess. But what a
 * step will touch is known some steps before, and asked for then: when a task starts, its successors
 * (they are looked at when it ends); when its end is the next event, what its successors need to get
 * ready; when a task gets ready, what it needs to be dispatched.
 */

static inline void fetch(const void *p)
{
#ifdef __GNUC__
    __builtin_prefetch(p);
#else
    (void)p;
#endif
}

/* Of long lists only the first are asked for: the rest would come too soon. */
static inline uint32_t n_fetched(const struct state *k)
{
    return k->n_succ < MOST_FETCHED ? k->n_succ : MOST_FETCHED;
}

static inline void fetch_successors(const struct engine *e, const struct state *k)
{
    for (uint32_t i = 0; i < n_fetched(k); i++)
        fetch(&e->tasks[e->v->succ[k->succ + i]]);
    fetch(&e->memory.freed[k->free]);
}

static inline void fetch_meeting(const struct engine *e, const struct state *k)
{
    if (k->kind == FR_TASK_SEND || k->kind == FR_TASK_RECV)
        fetch(&e->v->transfers[k->transfer]);
    fetch(&e->streams[k->stream]);
    fetch(&e->memory.live[k->alloc]);
}

static inline void fetch_end(const struct engine *e, uint32_t task)
{
    const struct state *k = &e->tasks[task];

    if (k->progress != TASK_STARTED)
        return; /* an end that interference has made stale */
    for (uint32_t i = 0; i < n_fetched(k); i++)
        fetch_meeting(e, &e->tasks[e->v->succ[k->succ + i]]);
    if (k->n_free > 0)
        fetch(&e->memory.live[e->memory.freed[k->free]]);
}

static inline void fetch_dispatch(const struct engine *e, const struct state *k)
{
    fetch(&e->v->succ[k->succ]);
}

/* ---- streams ---- */

static inline bool is_of_free(uint32_t stream)
{
    return stream % STREAMS_A_DEVICE == STREAM_OF_FREE;
}

static inline void mark_dirty(struct engine *e, uint32_t s)
{
    if (!e->streams[s].is_dirty) {
        e->streams[s].is_dirty = true;
        e->dirty[e->n_dirty++] = s;
    }
}

static inline struct waiting waiting_of(const struct engine *e, uint32_t task)
{
    uint32_t priority = (uint32_t)e->tasks[task].priority ^ UINT32_C(0x80000000);

    return (struct waiting){e->now_s, (uint64_t)priority << 32 | task};
}

static inline uint32_t task_of(struct waiting w)
{
    return (uint32_t)w.key;
}

static inline bool goes_before(bool is_fifo, struct waiting a, struct waiting b)
{
    if (is_fifo && a.ready_s != b.ready_s)
        return a.ready_s < b.ready_s;
    return a.key < b.key;
}

static void queue_push(struct engine *e, struct stream *s, struct waiting w)
{
    bool is_fifo = e->o->order == FR_ORDER_FIFO;
    uint32_t i = s->n;

    if (s->n == s->cap) {
        size_t cap = s->cap;

        if (!fr__grow(&s->queue, &cap, (size_t)s->n + 1, sizeof(*s->queue))) {
            fr__engine_fail_nomem(e);
            return;
        }
        s->cap = (uint32_t)cap;
    }
    s->n++;
    while (i > 0 && goes_before(is_fifo, w, s->queue[(i - 1) / 2])) {
        s->queue[i] = s->queue[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    s->queue[i] = w;
}

/* Puts w where the hole at the root leads. */
static inline void sift_down(struct stream *s, struct waiting w, bool is_fifo)
{
    struct waiting *queue = s->queue;
    uint32_t i = 0, n = s->n;

    for (;;) {
        uint32_t child = 2 * i + 1;

        if (child >= n)
            break;
        if (child + 1 < n)
            child += goes_before(is_fifo, queue[child + 1], queue[child]);
        if (!goes_before(is_fifo, queue[child], w))
            break;
        queue[i] = queue[child];
        i = child;
    }
    queue[i] = w;
}

static struct waiting queue_pop(struct engine *e, struct stream *s)
{
    struct waiting top = s->queue[0], last = s->queue[--s->n];

    if (e->o->order == FR_ORDER_FIFO)
        sift_down(s, last, true);
    else
        sift_down(s, last, false);
    return top;
}

static inline void make_ready(struct engine *e, uint32_t task, uint32_t cause)
{
    struct state *k = &e->tasks[task];
    struct waiting w = waiting_of(e, task);

    k->cause = cause;
    if (k->kind == FR_TASK_MARKER) {
        e->markers[e->n_markers++] = task;
        return;
    }
    fetch_dispatch(e, k);
    queue_push(e, &e->streams[k->stream], w);
    mark_dirty(e, k->stream);
}

/* ---- tasks ---- */

double fr__host_launch(struct engine *e, uint32_t task)
{
    const struct state *k = &e->tasks[task];
    uint32_t d = fr__device_of(e, task), cost_id = FR_NONE;
    double *host_s = &e->devices[d].host_s;

    if (k->kind == FR_TASK_COMPUTE)
        cost_id = k->cost_id;
    else if (k->has_own_cost)
        cost_id = e->v->tasks[task].cost_id;
    *host_s += fr__launch_s(e, cost_id, d);
    return *host_s;
}

void fr__task_started(struct engine *e, uint32_t task)
{
    struct state *k = &e->tasks[task];

    k->start_s = e->now_s;
    k->progress = TASK_STARTED;
    fetch_successors(e, k);
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
    fr__device_account(e, d);
    e->devices[d].n_computing++;
    e->results[d].work_s += duration_s;
    if (fr__has_interference(e))
        fr__compute_begin(e, task, duration_s);
    else
        fr__push_event(e, e->now_s + duration_s, task, EVENT_TASK_DONE);
}

static void compute_done(struct engine *e, uint32_t task)
{
    uint32_t d = fr__device_of(e, task);

    fr__device_account(e, d);
    e->devices[d].n_computing--;
    if (e->parts)
        fr__parts_at_compute_done(e, task);
    if (fr__has_interference(e))
        fr__compute_end(e, task);
    fr__task_done(e, task);
}

void fr__account_iteration(struct engine *e, bool is_last)
{
    for (uint32_t d = 0; d < e->v->topo->n_devices; d++) {
        struct fr_device_times *iteration = &e->results[d].iteration, before = {0}, now;

        fr__device_account(e, d);
        now = e->devices[d].times;
        if (is_last)
            before = *iteration;
        *iteration = (struct fr_device_times){
            now.compute_s - before.compute_s, now.comm_s - before.comm_s,
            now.exposed_comm_s - before.exposed_comm_s, now.idle_s - before.idle_s};
    }
}

void fr__task_done(struct engine *e, uint32_t task)
{
    const struct fr_plan_view *v = e->v;
    struct state *k = &e->tasks[task];
    uint32_t first = k->succ;
    uint32_t end = fr__list_end(v->succ_first, task, first, k->n_succ, MANY_SUCC);

    fr__memory_free(e, task);
    k->end_s = e->now_s;
    k->progress = TASK_DONE;
    if (e->parts)
        fr__parts_keep(e, task);
    e->n_done++;
    if (task == e->last_ends[0] || task == e->last_ends[1])
        fr__account_iteration(e, task == e->last_ends[1]);
    if (!is_of_free(k->stream) && k->kind != FR_TASK_MARKER) {
        e->streams[k->stream].running = FR_NONE;
        e->streams[k->stream].last = task;
        mark_dirty(e, k->stream);
    }
    for (uint32_t i = first; i < end; i++) {
        uint32_t next = v->succ[i];

        if (--e->tasks[next].waits == 0)
            make_ready(e, next, task);
    }
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
    uint32_t task = task_of(w);
    struct state *k = &e->tasks[task];
    struct stream *s = &e->streams[k->stream];
    double host_s;

    if (!is_of_free(k->stream)) {
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
        fr__collective_meet(e, task);
    } else if (k->kind != FR_TASK_COMPUTE) {
        fr__transfer_meet(e, task);
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
    return e->o->order != FR_ORDER_STRICT || task_of(s->queue[0]) == e->order[s->next];
}

static void start_ready(struct engine *e)
{
    for (size_t i = 0; i < e->n_dirty; i++) {
        uint32_t id = e->dirty[i];
        struct stream *s = &e->streams[id];

        s->is_dirty = false;
        if (is_of_free(id))
            while (s->n > 0)
                dispatch(e, queue_pop(e, s));
        else if (may_dispatch(e, s))
            dispatch(e, queue_pop(e, s));
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
            fr__parts_at_launch(e, fr__device_of(e, e->collectives.meetings[id].latest));
        fr__collective_start(e, id);
        break;
    case EVENT_COLLECTIVE_DONE:
        fr__collective_done(e, id);
        break;
    case EVENT_MESSAGE:
        fr__message_wake(e, id);
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
            make_ready(e, t, FR_NONE);
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

/* ---- the order of strict streams ---- */

static int by_priority(const void *a, const void *b, const struct fr_task *tasks)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    if (tasks[x].priority != tasks[y].priority)
        return tasks[x].priority < tasks[y].priority ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Heap sort: qsort takes no context, and globals are out. */
static void sort_tasks(uint32_t tasks[], size_t n, const struct fr_task *t)
{
    for (size_t start = n / 2, end = n; end > 1;) {
        size_t i;
        uint32_t moved;

        if (start > 0) {
            moved = tasks[--start];
        } else {
            moved = tasks[--end];
            tasks[end] = tasks[0];
        }
        for (i = start; 2 * i + 1 < end;) {
            size_t child = 2 * i + 1;

            if (child + 1 < end && by_priority(&tasks[child], &tasks[child + 1], t) < 0)
                child++;
            if (by_priority(&moved, &tasks[child], t) >= 0)
                break;
            tasks[i] = tasks[child];
            i = child;
        }
        tasks[i] = moved;
    }
}

/* strict: the plan's order on each stream is by (priority, task number). */
enum fr_status fr__order_streams(struct engine *e)
{
    size_t n_streams = e->v->topo->n_devices * STREAMS_A_DEVICE;
    uint32_t *end = fr__arena_alloc(e->scratch, n_streams, sizeof(*end)), at = 0;

    e->order = fr__arena_alloc(e->scratch, e->v->n_tasks, sizeof(*e->order));
    if (!e->order || !end)
        return fr__engine_fail_nomem(e);
    for (uint32_t t = 0; t < e->v->n_tasks; t++)
        if (e->tasks[t].kind != FR_TASK_MARKER)
            end[e->tasks[t].stream]++;
    for (size_t s = 0; s < n_streams; s++) {
        e->streams[s].next = at;
        at += end[s];
        end[s] = e->streams[s].next;
    }
    for (uint32_t t = 0; t < e->v->n_tasks; t++)
        if (e->tasks[t].kind != FR_TASK_MARKER)
            e->order[end[e->tasks[t].stream]++] = t;
    for (size_t s = 0; s < n_streams; s++)
        sort_tasks(e->order + e->streams[s].next, end[s] - e->streams[s].next, e->v->tasks);
    return FR_OK;
}
