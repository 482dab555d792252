/* sim/host.c - the thread of a GPU's host that launches its work: what a launch takes by the part
 * of the step that it belongs to, and where the thread waits for the GPU.
 *
 * Model:   a task starts no earlier than its host has launched it. The host launches task after
 *          task, without waiting for the GPU, but for the points that the run's options name: there
 *          it goes on when the GPU has reached the same point, so that the first launch after it is
 *          exposed, and those that follow until the host is ahead again.
 * Source:  PyTorch documentation, CUDA semantics, asynchronous execution; Zhu et al., Daydream,
 *          USENIX ATC 2020, section 4.2 (CPU threads and CUDA synchronisation as dependencies)
 * Ignores: that CUDA's queue holds about 1024 launches; what waking up and a copy of a few bytes
 *          take, about 10 us; other threads on the same core
 */
#include "config.h"

#include "sim/engine.h"

#include <string.h>

enum part { PART_NONE, PART_FORWARD, PART_BACKWARD, PART_UPDATE };

struct fr__host_state {
    uint32_t microbatch; /* of the last forward or backward op */
    uint8_t part;        /* enum part of it */
    bool has_waited;
    double waited_s; /* when it last waited for the GPU */
};

/* Of ops, and of what software does to all gradients before the updates: the host has waited before
 * it launches that. */
static enum part part_of(const struct fr_task *k)
{
    if (k->kind != FR_TASK_COMPUTE || (k->op == FR_NONE && k->phase != FR_PHASE_UPDATE))
        return PART_NONE;
    switch ((enum fr_phase)k->phase) {
    case FR_PHASE_INPUT:
    case FR_PHASE_FORWARD:
        return PART_FORWARD;
    case FR_PHASE_BACKWARD_DATA:
    case FR_PHASE_BACKWARD_WEIGHT:
        return PART_BACKWARD;
    case FR_PHASE_UPDATE:
        return PART_UPDATE;
    case FR_N_PHASES:
        break;
    }
    return PART_NONE;
}

bool fr__host_init(struct fr__engine *e)
{
    const struct fr_host *h = e->o->host;
    size_t n = e->v->topo->n_devices, n_parts = e->parts ? e->parts->n : 0;

    if (!h)
        return true;
    e->hosts = fr__arena_alloc(e->scratch, n + 1, sizeof(*e->hosts));
    if (n_parts > 0)
        e->host_parts_s = fr__arena_alloc(e->scratch, n * n_parts, sizeof(*e->host_parts_s));
    for (size_t d = 0; e->hosts && d < n; d++)
        e->devices[d].host_s = h->step_s - (h->ahead_s ? h->ahead_s[d] : 0);
    return e->hosts && (n_parts == 0 || e->host_parts_s);
}

/* Whether the host waits for the GPU before it launches an op of that part. */
static bool waits_before(const struct fr_host *h, const struct fr__host_state *s, enum part part,
                         uint32_t microbatch)
{
    bool is_new = s->part != PART_NONE && s->part != (uint8_t)part;

    switch (part) {
    case PART_FORWARD:
        return (s->part == PART_UPDATE && (h->syncs & FR_HOST_SYNC_STEP)) ||
               (s->part != PART_NONE && s->microbatch != microbatch &&
                (h->syncs & FR_HOST_SYNC_MICRO));
    case PART_BACKWARD:
        return is_new && (h->syncs & FR_HOST_SYNC_LOSS);
    case PART_UPDATE:
        return is_new && (h->syncs & FR_HOST_SYNC_NORM);
    case PART_NONE:
        break;
    }
    return false;
}

/* The host stands still until now. What the moment is made of is kept: later launches add to it. */
static void wait(struct fr__engine *e, struct fr__host_state *s, uint32_t device)
{
    if (!(e->devices[device].host_s < e->now_s))
        return;
    e->devices[device].host_s = e->now_s;
    s->has_waited = true;
    s->waited_s = e->now_s;
    if (e->parts)
        memcpy(e->host_parts_s + device * e->parts->n, e->parts->now_s,
               e->parts->n * sizeof(*e->host_parts_s));
}

/* Without any wait. */
static double launch_of(const struct fr__engine *e, uint32_t task, uint32_t cost_id,
                        uint32_t device)
{
    static const enum fr_host_work work[] = {
        [PART_NONE] = FR_HOST_FORWARD,
        [PART_FORWARD] = FR_HOST_FORWARD,
        [PART_BACKWARD] = FR_HOST_BACKWARD,
        [PART_UPDATE] = FR_HOST_UPDATE,
    };
    const struct fr_host *h = e->o->host;
    const struct fr_task *k = &e->v->tasks[task];
    double launch_s = fr__launch_s(e, cost_id, device), own_s;

    if (!h || !(launch_s > 0))
        return launch_s;
    own_s = h->op_s[k->op == FR_NONE ? FR_HOST_FORWARD : work[part_of(k)]];
    if (own_s > 0 && !(h->is_inside && k->op != FR_NONE && h->is_inside[k->op]))
        launch_s = own_s * fr__device_slowness(e, device, FR_DEVICE_LAUNCH);
    return launch_s * h->slowness;
}

double fr__host_work_s(struct fr__engine *e, uint32_t task, uint32_t cost_id, uint32_t device)
{
    const struct fr_host *h = e->o->host;
    const struct fr_task *k = &e->v->tasks[task];
    struct fr__host_state *s;
    enum part part = part_of(k);

    if (!h)
        return fr__launch_s(e, cost_id, device);
    s = &e->hosts[device];
    if (part != PART_NONE) {
        if (waits_before(h, s, part, k->microbatch))
            wait(e, s, device);
        if (part == PART_FORWARD && s->part == PART_UPDATE)
            e->devices[device].host_s += h->step_s;
        s->part = (uint8_t)part;
        if (part != PART_UPDATE)
            s->microbatch = k->microbatch;
    }
    return launch_of(e, task, cost_id, device);
}

bool fr__host_parts(const struct fr__engine *e, uint32_t device, double now_s[], size_t launch)
{
    if (!e->hosts || !e->hosts[device].has_waited)
        return false;
    memcpy(now_s, e->host_parts_s + device * e->parts->n, e->parts->n * sizeof(*now_s));
    now_s[launch] += e->now_s - e->hosts[device].waited_s;
    return true;
}
