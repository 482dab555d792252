/* study/answer/peak.c - lists what holds the memory of a device at its peak. */
#include "config.h"

#include "base/bytes.h"
#include "base/error.h"
#include "study/answer/record.h"

#include <stdlib.h>
#include <string.h>

struct held {
    uint64_t bytes;
    uint32_t buffer;
};

/* Largest first; of equal ones the first of the plan. */
static int compare_held(const void *a, const void *b)
{
    const struct held *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

/* What the device holds at its peak, context included where it counts, largest first. */
static enum fr_status find_held(const struct fr__making *m, uint32_t device, struct held **out,
                                size_t *n, struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(m->plan);
    uint32_t at = m->run->devices[device].peak_allocation;
    struct held *list = calloc(v->n_buffers + 1, sizeof(*list));

    if (!list)
        return fr__fail_nomem(err);
    *n = 0;
    for (uint32_t b = 0; b < v->n_buffers; b++) {
        const struct fr_buffer *k = &v->buffers[b];

        if (k->device != device || m->run->held_from[b] > at || at > m->run->held_until[b] ||
            (k->kind == FR_BUFFER_CONTEXT && m->options.memory == FR_MEMORY_LIVENESS))
            continue;
        list[(*n)++] = (struct held){k->bytes, b};
    }
    qsort(list, *n, sizeof(*list), compare_held);
    *out = list;
    return FR_OK;
}

/* The task that allocates it, with its micro-batch; of what stays the op, else the kind. */
static const char *name_of(const struct fr__making *m, const struct fr_buffer *b, char *buf,
                           size_t n)
{
    const char *op = fr_plan_user_op_name(m->plan, b->op);

    if (b->alloc != FR_NONE)
        return fr_plan_task_label(m->plan, b->alloc, buf, n);
    return op ? op : fr_buffer_kind_name(b->kind);
}

static enum fr_status fill_holders(struct fr_record_peak *p, const struct fr__making *m,
                                   struct fr__arena *arena, const struct held list[],
                                   struct fr_error *err)
{
    struct fr_record_holder *holders;
    char label[256];

    p->n_holders =
        p->holders_total < FR_RECORD_MAX_HOLDERS ? p->holders_total : FR_RECORD_MAX_HOLDERS;
    holders = fr__arena_alloc(arena, p->n_holders, sizeof(*holders));
    if (!holders)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < p->n_holders; i++) {
        const struct fr_buffer *b = &fr_plan_view(m->plan)->buffers[list[i].buffer];
        struct fr_record_holder *h = &holders[i];

        h->name = fr__arena_strdup(arena, name_of(m, b, label, sizeof(label)));
        if (!h->name)
            return fr__fail_nomem(err);
        h->kind = b->kind;
        h->bytes = b->bytes;
        h->stays = b->alloc == FR_NONE;
        h->since_s = h->stays ? 0 : m->run->start_s[b->alloc];
    }
    p->holders = holders;
    return FR_OK;
}

enum fr_status fr__fill_peak(struct fr_record_peak *p, struct fr__arena *arena,
                             const struct fr__making *m, const struct fr_record_device *device,
                             struct fr_error *err)
{
    const struct fr_device_result *r = &m->run->devices[device->device];
    struct held *list = NULL;
    char label[256];
    enum fr_status st;

    p->device = device->name;
    p->at_s = r->peak_at_s;
    memcpy(p->memory_bytes, device->memory_bytes, sizeof(p->memory_bytes));
    for (unsigned kind = 0; kind < FR_N_BUFFER_KINDS; kind++)
        p->bytes = fr__add_bytes(p->bytes, p->memory_bytes[kind]);
    if (r->peak_task != FR_NONE) {
        fr_plan_task_label(m->plan, r->peak_task, label, sizeof(label));
        p->task = fr__arena_strdup(arena, label);
        p->phase = fr_phase_name((enum fr_phase)fr_plan_view(m->plan)->tasks[r->peak_task].phase);
        if (!p->task)
            return fr__fail_nomem(err);
    }
    if (!m->run->held_from)
        return FR_OK;
    FR_TRY(find_held(m, device->device, &list, &p->holders_total, err));
    st = fill_holders(p, m, arena, list, err);
    free(list);
    return st;
}
