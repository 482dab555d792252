/* sim/unroll.c - several iterations of a plan in a row.
 *
 * Joined device by device rather than by a barrier: a device begins its next iteration as soon as
 * its own work of the last one is done, as a training loop does.
 */
#include "config.h"

#include "sim/plan.h"

#include "base/error.h"

#include <stdlib.h>

struct offsets {
    uint32_t tasks, transfers, collectives, buffers;
};

static uint32_t moved(uint32_t id, uint32_t by)
{
    return id == FR_NONE ? FR_NONE : id + by;
}

/* Everything that all iterations share: costs, groups, strings, persistent buffers. */
static void copy_shared(const struct fr_plan *p, struct fr_plan *out)
{
    const struct fr_plan_view *v = &p->view;

    for (uint32_t i = 0; i < v->n_costs; i++)
        fr_plan_add_cost(out, &v->costs[i]);
    for (uint32_t i = 0; i < v->n_strings; i++)
        fr_plan_add_string(out, fr_plan_string(p, i));
    for (uint32_t g = 0; g < v->n_groups; g++) {
        const struct fr__group *k = &p->groups[g];

        if (k->stride)
            fr_plan_add_group(out, k->first, k->stride, k->count);
        else
            fr_plan_add_group_of(out, p->group_devices + k->list, k->count);
    }
}

static void copy_buffers(const struct fr_plan *p, struct fr_plan *out, uint32_t buffer_ids[],
                         bool is_first, uint32_t task_offset)
{
    const struct fr_plan_view *v = &p->view;

    for (uint32_t b = 0; b < v->n_buffers; b++) {
        struct fr_buffer copy = v->buffers[b];
        bool is_persistent = copy.alloc == FR_NONE && copy.alias == FR_NONE;

        copy.alloc = moved(copy.alloc, task_offset);
        /* aliases may point forwards; they are set once all ids of this iteration are known */
        if (!is_persistent || is_first)
            buffer_ids[b] = fr_plan_add_buffer(out, &copy);
    }
    for (uint32_t b = 0; b < v->n_buffers; b++)
        if (v->buffers[b].alias != FR_NONE && buffer_ids[b] < out->n_buffers.n)
            out->buffers[buffer_ids[b]].alias = buffer_ids[v->buffers[b].alias];
}

static void copy_iteration(const struct fr_plan *p, struct fr_plan *out, struct offsets at,
                           uint32_t buffer_ids[])
{
    const struct fr_plan_view *v = &p->view;

    for (uint32_t c = 0; c < v->n_collectives; c++)
        fr_plan_add_collective(out, &v->collectives[c]);
    for (uint32_t t = 0; t < v->n_tasks; t++) {
        struct fr_task copy = v->tasks[t];

        if (copy.kind == FR_TASK_COLLECTIVE)
            copy.ref += at.collectives;
        fr_plan_add_task(out, &copy);
    }
    for (uint32_t x = 0; x < v->n_transfers; x++) {
        const struct fr_transfer *k = &v->transfers[x];

        fr_plan_add_transfer(out, k->send + at.tasks, k->recv + at.tasks, k->bytes, k->label);
    }
    copy_buffers(p, out, buffer_ids, at.tasks == 0, at.tasks);
    for (uint32_t t = 0; t < v->n_tasks; t++) {
        for (uint32_t i = v->succ_first[t]; i < v->succ_first[t + 1]; i++)
            fr_plan_add_dep(out, t + at.tasks, v->succ[i] + at.tasks);
        for (uint32_t i = v->free_first[t]; i < v->free_first[t + 1]; i++)
            fr_plan_add_free(out, buffer_ids[v->free[i]], t + at.tasks);
    }
}

/* A marker on each device between two iterations keeps the joints linear in the tasks. */
static void join_devices(const struct fr_plan *p, struct fr_plan *out, struct offsets before,
                         struct offsets after, uint32_t joints[])
{
    const struct fr_plan_view *v = &p->view;

    for (uint32_t d = 0; d < v->topo->n_devices; d++)
        joints[d] = FR_NONE;
    for (uint32_t t = 0; t < v->n_tasks; t++) {
        uint32_t d = v->tasks[t].device;

        if (joints[d] == FR_NONE)
            joints[d] = fr_plan_add_task(out, &(struct fr_task){.device = d,
                                                                .cost_id = FR_NONE,
                                                                .op = FR_NONE,
                                                                .ref = FR_NONE,
                                                                .microbatch = FR_NONE,
                                                                .kind = FR_TASK_MARKER,
                                                                .phase = FR_PHASE_UPDATE,
                                                                .stream = FR_STREAM_FREE});
        if (v->succ_first[t] == v->succ_first[t + 1])
            fr_plan_add_dep(out, t + before.tasks, joints[d]);
        if (v->n_preds[t] == 0)
            fr_plan_add_dep(out, joints[d], t + after.tasks);
    }
}

/* The end of an iteration: a marker after every sink. */
static void add_end(const struct fr_plan *p, struct fr_plan *out, struct offsets at)
{
    const struct fr_plan_view *v = &p->view;
    uint32_t end = fr_plan_add_task(out, &(struct fr_task){.device = v->tasks[0].device,
                                                           .cost_id = FR_NONE,
                                                           .op = FR_NONE,
                                                           .ref = FR_NONE,
                                                           .microbatch = FR_NONE,
                                                           .kind = FR_TASK_MARKER,
                                                           .phase = FR_PHASE_UPDATE,
                                                           .stream = FR_STREAM_FREE});

    for (uint32_t t = 0; t < v->n_tasks; t++)
        if (v->succ_first[t] == v->succ_first[t + 1])
            fr_plan_add_dep(out, t + at.tasks, end);
    fr_plan_end_iteration(out, end);
}

enum fr_status fr_plan_unroll(const struct fr_plan *p, unsigned n, struct fr_plan **out,
                              struct fr_error *err)
{
    const struct fr_plan_view *v = &p->view;
    struct fr_plan *plan = fr_plan_new(v->topo, v->graph);
    uint32_t *buffer_ids = calloc(v->n_buffers + 1, sizeof(*buffer_ids));
    uint32_t *joints = calloc(v->topo->n_devices + 1, sizeof(*joints));
    struct offsets at = {0, 0, 0, 0}, before;
    enum fr_status st;

    if (!plan || !buffer_ids || !joints || n == 0 || v->n_tasks == 0) {
        st = n == 0 || v->n_tasks == 0
                 ? fr__fail(err, FR_ERANGE, FR_NOWHERE,
                            "nothing to unroll: %u iterations of %zu tasks", n, v->n_tasks)
                 : fr__fail_nomem(err);
        goto free_all;
    }
    copy_shared(p, plan);
    for (unsigned i = 0; i < n; i++) {
        before = at;
        at = (struct offsets){(uint32_t)plan->n_tasks.n, (uint32_t)plan->n_transfers.n,
                              (uint32_t)plan->n_collectives.n, (uint32_t)plan->n_buffers.n};
        copy_iteration(p, plan, at, buffer_ids);
        if (i > 0)
            join_devices(p, plan, before, at, joints);
        add_end(p, plan, at);
    }
    st = fr_plan_finish(plan, err);
    if (st == FR_OK) {
        *out = plan;
        plan = NULL;
    }
free_all:
    free(joints);
    free(buffer_ids);
    fr_plan_free(plan);
    return st;
}
