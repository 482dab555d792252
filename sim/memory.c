/* sim/memory.c - what each device holds, buffer by buffer. */
#include "config.h"

#include "sim/engine.h"

#include <stdlib.h>
#include <string.h>

static void note_peak(struct engine *e, uint32_t d, uint32_t task)
{
    struct device *k = &e->devices[d];
    const struct fr_device *device = &e->v->topo->devices[d];
    struct fr_device_result *r = &e->results[d];

    if (k->bytes <= k->peak_bytes)
        return;
    r->peak_bytes = k->peak_bytes = k->bytes;
    r->peak_at_s = e->now_s;
    r->peak_task = task;
    memcpy(r->peak_by_kind, k->by_kind, sizeof(r->peak_by_kind));
    if (r->first_over_task == FR_NONE && k->bytes > e->v->topo->types[device->type].mem_bytes)
        r->first_over_task = task;
}

enum fr_status fr__memory_init(struct engine *e)
{
    const struct fr_plan_view *v = e->v;

    e->live = malloc((v->n_buffers + 1) * sizeof(*e->live));
    if (!e->live)
        return fr__engine_fail_nomem(e);
    for (uint32_t b = 0; b < v->n_buffers; b++) {
        const struct fr_buffer *k = &v->buffers[b];

        e->live[b] = (struct live){k->bytes, v->n_frees[b], k->kind};
        if (k->alloc == FR_NONE && k->alias == FR_NONE) {
            e->devices[k->device].bytes += k->bytes;
            e->devices[k->device].by_kind[k->kind] += k->bytes;
        }
    }
    for (uint32_t d = 0; d < v->topo->n_devices; d++)
        note_peak(e, d, FR_NONE);
    return FR_OK;
}

void fr__memory_alloc(struct engine *e, uint32_t task)
{
    const struct fr_plan_view *v = e->v;
    uint32_t d = v->tasks[task].device;
    struct device *k = &e->devices[d];

    if (v->alloc_first[task] == v->alloc_first[task + 1])
        return;
    for (uint32_t i = v->alloc_first[task]; i < v->alloc_first[task + 1]; i++) {
        const struct live *b = &e->live[v->alloc[i]];

        k->bytes += b->bytes;
        k->by_kind[b->kind] += b->bytes;
    }
    note_peak(e, d, task);
}

void fr__memory_free(struct engine *e, uint32_t task)
{
    const struct fr_plan_view *v = e->v;

    for (uint32_t i = v->free_first[task]; i < v->free_first[task + 1]; i++) {
        struct live *b = &e->live[v->free[i]];

        if (--b->frees_left == 0) {
            struct device *k = &e->devices[v->buffers[v->free[i]].device];

            k->bytes -= b->bytes;
            k->by_kind[b->kind] -= b->bytes;
        }
    }
}
