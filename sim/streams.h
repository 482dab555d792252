/* sim/streams.h - what the loop asks of the streams, and how both fetch memory ahead.
 *
 * A run of many devices waits for memory, because tasks end in an order that no cache can guess.
 * But the engine knows what it will read some steps before, and fetches it then:
 *   - when a task starts, its successors, which are read when it ends;
 *   - when its end is the next event, what its successors need to get ready;
 *   - when a task gets ready, what it needs to be dispatched.
 * A small run, all of which a cache holds, is spared these instructions.
 */
#ifndef FR_SIM_STREAMS_H
#define FR_SIM_STREAMS_H

#include "sim/engine.h"
#include "sim/analysis/parts.h"

enum { MOST_FETCHED = 8 };

/* Inline wherever it is called: it is most of the loop. */
#ifdef __GNUC__
#define FR__INLINE static inline __attribute__((always_inline))
#else
#define FR__INLINE static inline
#endif

static inline void fr__fetch(const void *p)
{
#ifdef __GNUC__
    __builtin_prefetch(p);
#else
    (void)p;
#endif
}

/* Of long lists only the first are asked for: the rest would come too soon. */
static inline uint32_t fr__n_fetched(const struct fr__state *k)
{
    return k->n_succ < MOST_FETCHED ? k->n_succ : MOST_FETCHED;
}

static inline bool fr__is_of_free(const struct fr__engine *e, uint32_t stream)
{
    return stream / STREAM_OF_FREE > e->device_mask;
}

static inline uint32_t fr__task_of(struct fr__waiting w)
{
    return (uint32_t)w.key;
}

/* ---- queues ---- */

static inline void fr__mark_dirty(struct fr__engine *e, uint32_t stream)
{
    struct fr__stream *s = &e->streams[stream];

    if (!s->is_dirty) {
        s->is_dirty = true;
        e->dirty[e->n_dirty++] = stream;
    }
}

/* Puts w where it belongs among the others that wait. */
void fr__queue_push(struct fr__engine *e, struct fr__stream *s, struct fr__waiting w);
/* Puts the last of the queue in the place of the first, which has been taken. */
void fr__queue_fill(const struct fr__engine *e, struct fr__stream *s);

/* Takes the first of the tasks that wait for a stream, of which there is one. */
static inline struct fr__waiting fr__stream_pop(const struct fr__engine *e, struct fr__stream *s)
{
    struct fr__waiting top = s->queue[0];

    if (--s->n > 0)
        fr__queue_fill(e, s);
    return top;
}

/* All of a task's predecessors are done; `cause` ended last, FR_NONE: there was none. */
FR__INLINE void fr__task_ready(struct fr__engine *e, uint32_t task, uint32_t cause)
{
    struct fr__state *k = &e->tasks[task];
    struct fr__stream *s = &e->streams[k->stream];
    uint32_t priority = (uint32_t)k->priority ^ UINT32_C(0x80000000);
    struct fr__waiting w = {e->now_s, (uint64_t)priority << 32 | task};

    k->cause = cause;
    if (k->kind == FR_TASK_MARKER) {
        e->markers[e->n_markers++] = task;
        return;
    }
    if (e->is_large)
        fr__fetch(&e->v->succ[k->succ]);
    if (s->n == 0) {
        s->queue[0] = w;
        s->n = 1;
    } else {
        fr__queue_push(e, s, w);
    }
    fr__mark_dirty(e, k->stream);
}

/* ---- the life of a task ---- */

static inline void fr__fetch_after(const struct fr__engine *e, const struct fr__state *k)
{
    const uint32_t *succ = &e->v->succ[k->succ];

    for (uint32_t i = 0, n = fr__n_fetched(k); i < n; i++)
        fr__fetch(&e->tasks[succ[i]]);
    fr__fetch(&e->memory.freed[k->free]);
}

static inline void fr__start_task(struct fr__engine *e, struct fr__state *k)
{
    k->start_s = e->now_s;
    k->progress = TASK_STARTED;
    if (e->is_large)
        fr__fetch_after(e, k);
}

/* is_usual: of the run (struct fr__engine); false is right for any. */
FR__INLINE void fr__end_task(struct fr__engine *e, uint32_t task, bool is_usual)
{
    const struct fr_plan_view *v = e->v;
    struct fr__state *k = &e->tasks[task], *tasks = e->tasks;
    const uint32_t *next = v->succ + k->succ;
    const uint32_t *end = v->succ + fr__list_end(v->succ_first, task, k->succ, k->n_succ);

    fr__memory_free(e, task);
    k->end_s = e->now_s;
    k->progress = TASK_DONE;
    if (!is_usual && e->parts)
        fr__parts_keep(e, task);
    e->n_done++;
    if (k->ends_iteration)
        fr__account_iteration(e, task == v->iteration_ends[v->n_iterations - 1]);
    if (!fr__is_of_free(e, k->stream) && k->kind != FR_TASK_MARKER) {
        e->streams[k->stream].running = FR_NONE;
        e->streams[k->stream].last = task;
        fr__mark_dirty(e, k->stream);
    }
    for (; next < end; next++)
        if (--tasks[*next].waits == 0)
            fr__task_ready(e, *next, task);
}

#endif
