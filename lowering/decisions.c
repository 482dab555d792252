/* lowering/decisions.c - life of a record of decisions: an arena holds all of it. */
#include "config.h"

#include "lowering/decisions_new.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

struct box {
    struct fr_decisions decisions;
    struct fr__arena *arena;
    struct fr_schedule *schedule; /* NULL: none */
    struct fr_stage_plan *stages; /* NULL: none */
};

void fr_decisions_free(struct fr_decisions *d)
{
    struct box *box = d ? d->priv : NULL;

    if (!box)
        return;
    fr_schedule_free(box->schedule);
    fr_stage_plan_free(box->stages);
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

/* A copy that points to nothing outside the arena. NULL: out of memory. */
static struct fr_profile *copy_profile(const struct fr_profile *p, struct fr__arena *arena)
{
    struct fr_profile *copy = fr__arena_alloc(arena, 1, sizeof(*copy));
    struct fr_profile_layer *layers = fr__arena_alloc(arena, p->n_layers, sizeof(*layers));
    uint32_t(*edges)[2] = fr__arena_alloc(arena, p->n_edges, sizeof(*edges));

    if (!copy || !layers || !edges)
        return NULL;
    *copy = (struct fr_profile){.name = fr__arena_strdup(arena, p->name),
                                .n_layers = p->n_layers,
                                .n_edges = p->n_edges,
                                .layers = layers,
                                .edges = (const uint32_t(*)[2])edges};
    for (size_t i = 0; i < p->n_layers; i++) {
        layers[i] = p->layers[i];
        layers[i].name = fr__arena_strdup(arena, p->layers[i].name);
        layers[i].description = fr__arena_strdup(arena, p->layers[i].description);
        if (!layers[i].name || !layers[i].description)
            return NULL;
    }
    for (size_t i = 0; i < p->n_edges; i++)
        memcpy(edges[i], p->edges[i], sizeof(edges[i]));
    return copy->name ? copy : NULL;
}

static bool take_stages(struct fr_decisions *d, struct fr__arena *arena,
                        struct fr_stage_plan **stages)
{
    struct box *box = d->priv;
    struct fr_profile *profile = copy_profile((*stages)->profile, arena);

    if (!profile)
        return false;
    box->stages = *stages;
    box->stages->profile = profile;
    d->stages = box->stages;
    *stages = NULL;
    return true;
}

enum fr_status fr__decisions_promise(const struct fr_problem *in,
                                     const struct fr_decided_promise *promise,
                                     struct fr_stage_plan **stages, struct fr_error *err)
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
    if (!copy || !copy->by || !copy->left_out || (stages && !take_stages(d, arena, stages))) {
        fr_decisions_free(d);
        return fr__fail_nomem(err);
    }
    d->promise = copy;
    *in->decisions = d;
    return FR_OK;
}

static const double SAME = 0.01; /* relative; less is no difference worth a cause */

void fr_decisions_gap(const struct fr_decisions *d, double *contention_s, double *launch_s)
{
    *contention_s = d->own_s - d->own_alone_s - d->foreseen_s;
    *launch_s = d->own_alone_s - (d->believed_s - d->foreseen_s);
}

const char *fr_decisions_gap_cause(const struct fr_decisions *d)
{
    double contention_s, launch_s;

    if (!(d->own_s > 0))
        return "";
    if (!isfinite(d->own_s))
        return "memory";
    if (fabs(d->own_s - d->believed_s) <= SAME * d->believed_s)
        return "none";
    fr_decisions_gap(d, &contention_s, &launch_s);
    return fabs(contention_s) >= fabs(launch_s) ? "contention" : "launch and order";
}
