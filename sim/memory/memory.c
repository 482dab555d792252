/* sim/memory/memory.c - what each device holds, buffer by buffer.
 *
 * Unless liveness is asked for every buffer of a GPU also goes through the caching allocator of
 * that GPU,
 * but for the context, which lies outside it. All buffers come from the pool of one stream: the one
 * that computes is the one on which frameworks allocate, messages and gradient buckets too,
 * whichever stream then fills them (torch/csrc/distributed/c10d/reducer.cpp; receive buffers are
 * the caller's tensors). A block is free for the next task as soon as its last reader is done.
 * Persistent buffers come first, parameters before optimizer state. The allocators are played after
 * the run (sim/memory/requests.h).
 */
#include "config.h"

#include "base/bytes.h"
#include "sim/engine.h"
#include "sim/memory/requests.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void note_over(struct fr__engine *e, uint32_t d, uint32_t task, uint64_t bytes)
{
    struct fr_device_result *r = &e->results[d];

    if (r->is_over)
        return;
    r->is_over = true;
    r->first_over_task = task;
    r->first_over_bytes = bytes;
}

/* bytes: of what has just been allocated. */
static void note_peak(struct fr__engine *e, uint32_t d, uint32_t task, uint64_t bytes)
{
    struct fr__held *k = &e->memory.held[d];
    struct fr_device_result *r = &e->results[d];

    if (k->bytes <= k->peak_bytes)
        return;
    r->peak_bytes = k->peak_bytes = k->bytes;
    r->peak_at_s = e->now_s;
    r->peak_task = task;
    r->peak_allocation = e->memory.n_allocations;
    memcpy(r->peak_by_kind, k->by_kind, sizeof(r->peak_by_kind));
    if (k->bytes - k->by_kind[FR_BUFFER_CONTEXT] > k->limit_bytes)
        note_over(e, d, task, bytes);
}

static inline bool is_persistent(const struct fr_buffer *b)
{
    return b->alloc == FR_NONE && b->alias == FR_NONE;
}

static inline bool is_of_optimizer(const struct fr_buffer *b)
{
    return b->kind == FR_BUFFER_OPTIMIZER;
}

/* The plan's persistent buffers. */
struct persistent {
    uint32_t *ids; /* [n] */
    size_t n;
};

static bool list_persistent(struct fr__engine *e, struct persistent *k)
{
    const struct fr_buffer *buffers = e->v->buffers;
    size_t n_buffers = e->v->n_buffers;

    k->n = 0;
    k->ids = fr__arena_take(e->scratch, n_buffers, sizeof(*k->ids));
    for (uint32_t b = 0; k->ids && b < n_buffers; b++)
        if (is_persistent(&buffers[b]))
            k->ids[k->n++] = b;
    return k->ids != NULL;
}

/* ---- with an allocator ---- */

static inline uint32_t device_of(const struct fr__live *b)
{
    return b->of / FR_N_BUFFER_KINDS;
}

static inline uint32_t kind_of(const struct fr__live *b)
{
    return b->of % FR_N_BUFFER_KINDS;
}

/* Whether the allocator is asked for it. */
static inline bool is_asked_for(const struct fr__requests *r, uint64_t bytes, uint32_t kind)
{
    return r->asked && kind != FR_BUFFER_CONTEXT && bytes > 0;
}

/* Room for what each GPU may ask for: a taking and a giving of each of its buffers; nobody gives
 * persistent ones back. */
static enum fr_status make_requests(struct fr__engine *e, const struct persistent *k)
{
    const struct fr_plan_view *v = e->v;
    size_t n_devices = v->topo->n_devices, n_allocs = v->alloc_first[v->n_tasks], at = 0;

    e->memory.requests = fr__arena_alloc(e->scratch, n_devices, sizeof(*e->memory.requests));
    e->memory.asked = fr__arena_take(e->scratch, 2 * (n_allocs + k->n), sizeof(*e->memory.asked));
    e->memory.takes = fr__arena_take(e->scratch, n_allocs, sizeof(*e->memory.takes));
    if (!e->memory.requests || !e->memory.asked || !e->memory.takes)
        return fr__engine_fail_nomem(e);
    memset(e->memory.takes, 0xff, n_allocs * sizeof(*e->memory.takes)); /* FR_NONE each */
    for (size_t i = 0; i < n_allocs; i++)
        e->memory.requests[device_of(&e->memory.live[i])].n += 2;
    for (size_t i = 0; i < k->n; i++)
        e->memory.requests[v->buffers[k->ids[i]].device].n++;
    for (size_t d = 0; d < n_devices; d++) {
        size_t n = e->memory.requests[d].n;
        bool is_gpu = v->topo->types[v->topo->devices[d].type].is_gpu;

        e->memory.requests[d] = (struct fr__requests){
            .limit_bytes = e->memory.held[d].limit_bytes,
            .rules = e->o->memory == FR_MEMORY_TF1 ? FR__ALLOCATOR_BFC : FR__ALLOCATOR_CACHING,
            .asked = n && is_gpu ? e->memory.asked + at : NULL};
        at += n;
    }
    return FR_OK;
}

/* Of each device whose allocator is over: the buffer of the take that was too much. */
static void find_first_over(const struct fr__engine *e, const struct fr__played played[],
                            uint32_t first_over[], uint32_t n_takes[])
{
    const struct fr_plan_view *v = e->v;

    for (uint32_t i = 0; i < v->alloc_first[v->n_tasks]; i++) {
        uint32_t d = device_of(&e->memory.live[i]);

        if (e->memory.takes[i] != FR_NONE && e->memory.takes[i] == played[d].first_over)
            first_over[d] = v->alloc[i];
    }
    for (int is_optimizer = 0; is_optimizer < 2; is_optimizer++)
        for (uint32_t b = 0; b < v->n_buffers; b++) {
            const struct fr_buffer *k = &v->buffers[b];

            if (is_persistent(k) && is_of_optimizer(k) == is_optimizer &&
                is_asked_for(&e->memory.requests[k->device], k->bytes, k->kind) &&
                n_takes[k->device]++ == played[k->device].first_over)
                first_over[k->device] = b;
        }
}

/* What the device's allocator came to. It is over before the sum of the buffers is: they are less
 * than its segments. */
static void add_played(struct fr__engine *e, uint32_t d, const struct fr__played *p,
                       uint32_t first_over)
{
    struct fr_device_result *r = &e->results[d];
    const struct fr_buffer *k;

    r->peak_allocated_bytes = p->stats.peak_allocated_bytes;
    r->peak_reserved_bytes = p->stats.peak_reserved_bytes;
    if (p->is_cut) /* what the buffers come to is known, where they would stand is not */
        r->peak_allocated_bytes = r->peak_reserved_bytes = r->peak_bytes;
    if (!p->stats.is_over)
        return;
    assert(first_over != FR_NONE);
    k = &e->v->buffers[first_over];
    r->is_over = true;
    r->first_over_task = k->alloc;
    r->first_over_bytes = k->bytes;
}

static bool is_any_over(const struct fr__requests of[], const struct fr__played played[], size_t n)
{
    for (size_t d = 0; d < n; d++)
        if (of[d].asked && played[d].stats.is_over)
            return true;
    return false;
}

static enum fr_status play_requests(struct fr__engine *e)
{
    size_t n = e->v->topo->n_devices;
    struct fr__played *played = calloc(n + 1, sizeof(*played));
    uint32_t *first_over = malloc((n + 1) * sizeof(*first_over));
    uint32_t *n_takes = calloc(n + 1, sizeof(*n_takes));
    bool ok = played && first_over && n_takes && fr__requests_play(e->memory.requests, n, played);

    if (ok)
        memset(first_over, 0xff, (n + 1) * sizeof(*first_over)); /* FR_NONE each */
    if (ok && is_any_over(e->memory.requests, played, n))
        find_first_over(e, played, first_over, n_takes);
    for (uint32_t d = 0; ok && d < n; d++)
        if (e->memory.requests[d].asked)
            add_played(e, d, &played[d], first_over[d]);
    free(played);
    free(first_over);
    free(n_takes);
    return ok ? FR_OK : fr__engine_fail_nomem(e);
}

/* ---- the account ---- */

/* place_of: [n_buffers] set for those that tasks allocate. */
static void set_live(const struct fr_plan_view *v, struct fr__live live[], uint32_t place_of[])
{
    const struct fr_buffer *buffers = v->buffers;
    const uint32_t *alloc = v->alloc, *n_frees = v->n_frees;
    size_t n_allocs = v->alloc_first[v->n_tasks];

    for (uint32_t i = 0; i < n_allocs; i++) {
        const struct fr_buffer *k = &buffers[alloc[i]];

        live[i] = (struct fr__live){.bytes = k->bytes,
                                    .frees_left = n_frees[alloc[i]],
                                    .of = k->device * FR_N_BUFFER_KINDS + (uint32_t)k->kind};
        place_of[alloc[i]] = i;
    }
}

/* What a plan frees it also allocates, so the place of each is known where it is freed. */
static enum fr_status make_live(struct fr__engine *e)
{
    const struct fr_plan_view *v = e->v;
    size_t n_allocs = v->alloc_first[v->n_tasks], n_frees = v->free_first[v->n_tasks];
    uint32_t *place_of, *freed;

    e->memory.held = fr__arena_alloc(e->scratch, v->topo->n_devices, sizeof(*e->memory.held));
    e->memory.live = fr__arena_take(e->scratch, n_allocs + 1, sizeof(*e->memory.live));
    freed = fr__arena_take(e->scratch, n_frees + 1, sizeof(*freed));
    place_of = fr__arena_take(e->scratch, v->n_buffers, sizeof(*place_of));
    if (!place_of || !e->memory.held || !e->memory.live || !freed)
        return fr__engine_fail_nomem(e);
    set_live(v, e->memory.live, place_of);
    for (size_t i = 0; i < n_frees; i++)
        freed[i] = place_of[v->free[i]];
    e->memory.freed = freed;
    return FR_OK;
}

static inline void add_held(struct fr__held *d, uint32_t kind, uint64_t bytes)
{
    d->bytes = fr__add_bytes(d->bytes, bytes);
    d->by_kind[kind] = fr__add_bytes(d->by_kind[kind], bytes);
}

static void hold_persistent(struct fr__engine *e, const struct persistent *p, bool is_optimizer)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct fr_buffer *k = &e->v->buffers[p->ids[i]];

        if (is_of_optimizer(k) != is_optimizer)
            continue;
        add_held(&e->memory.held[k->device], k->kind, k->bytes);
        if (e->memory.held_from)
            e->memory.held_from[p->ids[i]] = 0;
        if (e->memory.requests && is_asked_for(&e->memory.requests[k->device], k->bytes, k->kind))
            fr__requests_take(&e->memory.requests[k->device], k->bytes);
    }
}

/* What TensorFlow leaves of a GPU's memory to the system. Source: TensorFlow 1.11,
 * tensorflow/core/common_runtime/gpu/gpu_device.cc, MinSystemMemory. */
static uint64_t left_to_system(uint64_t free_bytes)
{
    const uint64_t mib = UINT64_C(1) << 20;

    if (free_bytes < 2048 * mib)
        return 225 * mib;
    return free_bytes / 20 > 300 * mib ? free_bytes / 20 : 300 * mib;
}

/* What of the pool tensors of a step can use. The rest goes to what we do not know of: temporaries
 * inside kernels, and gaps between blocks that come of orders that differ from ours. Fitted, one
 * number for all: Google's largest batches of BERT on a GPU of 12 GB agree from 0.8957 to 0.8965 in
 * most cells (doc/memory.md). */
static const double usable_share = 0.896;

/* TensorFlow 1: the pool is less than what the context leaves. */
static void leave_to_system(struct fr__engine *e)
{
    const struct fr_topo *t = e->v->topo;

    for (size_t d = 0; d < t->n_devices; d++) {
        uint64_t free_bytes = e->memory.held[d].limit_bytes, pool_bytes, left_bytes;

        if (!t->types[t->devices[d].type].is_gpu)
            continue;
        pool_bytes = fr__take_bytes(free_bytes, left_to_system(free_bytes));
        left_bytes = free_bytes - (uint64_t)((double)pool_bytes * usable_share);
        e->memory.held[d].limit_bytes = fr__take_bytes(free_bytes, left_bytes);
        e->results[d].left_bytes = left_bytes;
    }
}

/* What buffers but the context, which is persistent, may take. */
static void set_limits(struct fr__engine *e, const struct persistent *p)
{
    const struct fr_plan_view *v = e->v;

    for (size_t d = 0; d < v->topo->n_devices; d++)
        e->memory.held[d].limit_bytes = v->topo->types[v->topo->devices[d].type].mem_bytes;
    for (size_t i = 0; i < p->n && e->o->memory != FR_MEMORY_LIVENESS; i++) {
        const struct fr_buffer *k = &v->buffers[p->ids[i]];
        uint64_t *limit_bytes = &e->memory.held[k->device].limit_bytes;

        if (k->kind == FR_BUFFER_CONTEXT)
            *limit_bytes -= k->bytes < *limit_bytes ? k->bytes : *limit_bytes;
    }
}

static enum fr_status make_log(struct fr__engine *e)
{
    size_t n = e->v->n_buffers;

    e->memory.held_from = fr__arena_take(e->arena, n + 1, sizeof(*e->memory.held_from));
    e->memory.held_until = fr__arena_take(e->arena, n + 1, sizeof(*e->memory.held_until));
    if (!e->memory.held_from || !e->memory.held_until)
        return fr__engine_fail_nomem(e);
    for (size_t b = 0; b < n; b++)
        e->memory.held_from[b] = e->memory.held_until[b] = UINT32_MAX;
    return FR_OK;
}

/* Without an account tasks allocate nothing, but the loop still asks for their first buffer
 * ahead. */
static enum fr_status make_nothing(struct fr__engine *e)
{
    e->memory.live = fr__arena_alloc(e->scratch, 1, sizeof(*e->memory.live));
    e->memory.freed = fr__arena_alloc(e->scratch, 1, sizeof(*e->memory.freed));
    return e->memory.live && e->memory.freed ? FR_OK : fr__engine_fail_nomem(e);
}

enum fr_status fr__memory_init(struct fr__engine *e)
{
    const struct fr_plan_view *v = e->v;
    struct persistent persistent;

    if (!fr__counts_memory(e->want))
        return make_nothing(e);
    FR_TRY(make_live(e));
    if (!list_persistent(e, &persistent))
        return fr__engine_fail_nomem(e);
    set_limits(e, &persistent);
    if (fr__wants(e, FR_WANT_HOLDERS))
        FR_TRY(make_log(e));
    if (e->o->memory == FR_MEMORY_TF1)
        leave_to_system(e);
    if (e->o->memory != FR_MEMORY_LIVENESS)
        FR_TRY(make_requests(e, &persistent));
    hold_persistent(e, &persistent, false);
    hold_persistent(e, &persistent, true);
    for (uint32_t d = 0; d < v->topo->n_devices; d++)
        note_peak(e, d, FR_NONE, e->memory.held[d].bytes);
    return e->status;
}

/* A task's buffers are on its device. */
void fr__memory_alloc_some(struct fr__engine *e, uint32_t task)
{
    const struct fr_plan_view *v = e->v;
    const struct fr__state *t = &e->tasks[task];
    uint32_t d = fr__device_of(e, task);
    uint32_t first = t->progress == TASK_WAITING ? t->alloc : v->alloc_first[task];
    uint32_t end = fr__list_end(v->alloc_first, task, first, t->n_alloc);
    struct fr__held *k = &e->memory.held[d];
    struct fr__requests *r = e->memory.requests ? &e->memory.requests[d] : NULL;
    uint64_t before_bytes = k->bytes;

    e->memory.n_allocations++;
    for (uint32_t i = first; i < end; i++) {
        const struct fr__live *b = &e->memory.live[i];
        uint64_t bytes = b->bytes;
        uint32_t kind = kind_of(b);

        add_held(k, kind, bytes);
        if (e->memory.held_from)
            e->memory.held_from[v->alloc[i]] = e->memory.n_allocations;
        if (r && is_asked_for(r, bytes, kind))
            e->memory.takes[i] = fr__requests_take(r, bytes);
    }
    note_peak(e, d, task, k->bytes - before_bytes);
}

void fr__memory_free_some(struct fr__engine *e, uint32_t task)
{
    const struct fr__state *t = &e->tasks[task];
    uint32_t i = t->free, end = fr__list_end(e->v->free_first, task, i, t->n_free);
    const uint32_t *freed = e->memory.freed, *takes = e->memory.takes;
    struct fr__live *live = e->memory.live;

    for (; i < end; i++) {
        uint32_t place = freed[i];
        struct fr__live *b = &live[place];
        struct fr__held *k;

        if (--b->frees_left > 0)
            continue;
        k = &e->memory.held[device_of(b)];
        k->bytes = fr__take_bytes(k->bytes, b->bytes);
        k->by_kind[kind_of(b)] = fr__take_bytes(k->by_kind[kind_of(b)], b->bytes);
        if (e->memory.held_until)
            e->memory.held_until[e->v->free[i]] = e->memory.n_allocations;
        if (takes && takes[place] != FR_NONE)
            fr__requests_give(&e->memory.requests[device_of(b)], takes[place]);
    }
}

enum fr_status fr__memory_result(struct fr__engine *e, struct fr_run *run)
{
    for (size_t d = 0; d < e->v->topo->n_devices; d++)
        e->results[d].end_bytes = e->memory.held[d].bytes;
    if (e->memory.requests)
        FR_TRY(play_requests(e));
    run->held_from = e->memory.held_from;
    run->held_until = e->memory.held_until;
    return FR_OK;
}
