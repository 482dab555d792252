/* strategies/lower/decisions.c - life of a record of decisions: an arena holds all of it. */
#include "config.h"

#include "strategies/lower/decisions.h"

#include "base/error.h"

struct box {
    struct fr_decisions decisions;
    struct fr__arena *arena;
    struct fr_schedule *schedule; /* NULL: none */
};

void fr_decisions_free(struct fr_decisions *d)
{
    struct box *box = d ? d->priv : NULL;

    if (!box)
        return;
    fr_schedule_free(box->schedule);
    fr__arena_free(box->arena);
}

static struct fr_decided_device *list_devices(const struct fr_problem *in, struct fr__arena *arena)
{
    struct fr_decided_device *devices = fr__arena_alloc(arena, in->n_devices, sizeof(*devices));

    for (size_t d = 0; devices && d < in->n_devices; d++) {
        devices[d].device = in->devices[d];
        devices[d].name = fr__arena_strdup(arena, in->topo->devices[in->devices[d]].name);
        if (!devices[d].name)
            return NULL;
    }
    return devices;
}

struct fr_decisions *fr__decisions_new(const struct fr_problem *in, struct fr__arena **arena,
                                       struct fr_decided_device **devices)
{
    struct fr__arena *a = fr__arena_new();
    struct box *box = a ? fr__arena_alloc(a, 1, sizeof(*box)) : NULL;
    struct fr_decided_device *list = box ? list_devices(in, a) : NULL;

    if (!list) {
        if (a)
            fr__arena_free(a);
        return NULL;
    }
    box->arena = a;
    box->decisions.priv = box;
    box->decisions.n_devices = in->n_devices;
    box->decisions.devices = list;
    *arena = a;
    *devices = list;
    return &box->decisions;
}

void fr__decisions_own(struct fr_decisions *d, struct fr_schedule *schedule)
{
    struct box *box = d->priv;

    box->schedule = schedule;
}

enum fr_status fr__decisions_promise(const struct fr_problem *in,
                                     const struct fr_decided_promise *promise, struct fr_error *err)
{
    struct fr_decided_device *devices;
    struct fr_decided_promise *copy;
    struct fr_decisions *d;
    struct fr__arena *arena;

    if (!in->decisions)
        return FR_OK;
    d = fr__decisions_new(in, &arena, &devices);
    copy = d ? fr__arena_alloc(arena, 1, sizeof(*copy)) : NULL;
    if (copy) {
        *copy = *promise;
        copy->by = fr__arena_strdup(arena, promise->by);
        copy->left_out = fr__arena_strdup(arena, promise->left_out);
    }
    if (!copy || !copy->by || !copy->left_out) {
        fr_decisions_free(d);
        return fr__fail_nomem(err);
    }
    d->promise = copy;
    *in->decisions = d;
    return FR_OK;
}
