/* sim/streams.c - tasks become ready, wait for their stream, start and end.
 *
 * These functions call nothing that waits for something else, so that every part of the engine may
 * call them. Who starts what, and when, is engine.c's.
 */
#include "config.h"

#include "sim/streams.h"

#include <stdlib.h>
#include <string.h>

void fr__push_event(struct fr__engine *e, double t_s, uint32_t id, uint32_t what)
{
    if (!fr__event_queue_push(&e->events, t_s, id, what))
        fr__engine_fail_nomem(e);
}

/* ---- queues ---- */

static inline bool goes_before(bool is_fifo, struct fr__waiting a, struct fr__waiting b)
{
    if (is_fifo && a.ready_s != b.ready_s)
        return a.ready_s < b.ready_s;
    return a.key < b.key;
}

static bool grow(struct fr__stream *s)
{
    struct fr__waiting *grown = s->queue == s->few ? NULL : s->queue;
    size_t cap = grown ? s->cap : 0;

    if (!fr__grow(&grown, &cap, (size_t)s->n + 1, sizeof(*grown)))
        return false;
    if (s->queue == s->few)
        memcpy(grown, s->few, sizeof(s->few));
    s->queue = grown;
    s->cap = (uint32_t)cap;
    return true;
}

void fr__queue_push(struct fr__engine *e, struct fr__stream *s, struct fr__waiting w)
{
    bool is_fifo = e->o->order == FR_ORDER_FIFO;
    uint32_t i = s->n;

    if (s->n == s->cap && !grow(s)) {
        fr__engine_fail_nomem(e);
        return;
    }
    s->n++;
    while (i > 0 && goes_before(is_fifo, w, s->queue[(i - 1) / 2])) {
        s->queue[i] = s->queue[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    s->queue[i] = w;
}

/* Puts w where the hole at the root leads. */
static inline void sift_down(struct fr__stream *s, struct fr__waiting w, bool is_fifo)
{
    struct fr__waiting *queue = s->queue;
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

void fr__queue_fill(const struct fr__engine *e, struct fr__stream *s)
{
    struct fr__waiting last = s->queue[s->n];

    if (e->o->order == FR_ORDER_FIFO)
        sift_down(s, last, true);
    else
        sift_down(s, last, false);
}

/* ---- tasks ---- */

double fr__host_launch(struct fr__engine *e, uint32_t task)
{
    const struct fr__state *k = &e->tasks[task];
    uint32_t d = fr__device_of(e, task), cost_id = FR_NONE;
    double launch_s;

    if (k->kind == FR_TASK_COMPUTE)
        cost_id = k->cost_id;
    else if (k->has_own_cost)
        cost_id = e->v->tasks[task].cost_id;
    launch_s = fr__host_work_s(e, task, cost_id, d);
    return e->devices[d].host_s += launch_s;
}

void fr__task_started(struct fr__engine *e, uint32_t task)
{
    fr__start_task(e, &e->tasks[task]);
}

void fr__account_iteration(struct fr__engine *e, bool is_last)
{
    for (uint32_t d = 0; e->is_accounted && d < e->v->topo->n_devices; d++) {
        struct fr_device_times *iteration = &e->results[d].iteration, before = {0}, now;

        fr__device_account(e, &e->devices[d]);
        now = e->devices[d].times;
        if (is_last)
            before = *iteration;
        *iteration = (struct fr_device_times){
            now.compute_s - before.compute_s, now.comm_s - before.comm_s,
            now.exposed_comm_s - before.exposed_comm_s, now.idle_s - before.idle_s};
    }
}

void fr__task_done(struct fr__engine *e, uint32_t task)
{
    fr__end_task(e, task, false);
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
enum fr_status fr__order_streams(struct fr__engine *e)
{
    size_t n_streams = ((size_t)e->device_mask + 1) * STREAMS_A_DEVICE;
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
