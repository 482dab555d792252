/* plan/unroll.c - several iterations of a plan in a row.
 *
 * Joined device by device rather than by a barrier: a device begins its next iteration as soon as
 * its own work of the last one is done, as a training loop does.
 */
#include "config.h"

#include "plan/internal.h"

#include "base/error.h"

#include <stdlib.h>

/* A marker on each device between two iterations keeps the joints linear in the tasks. */
static void join_devices(const struct fr_plan *p, struct fr_plan *out, struct fr__offsets before,
                         struct fr__offsets after, uint32_t joints[])
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
                                                                .label = FR_NONE,
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
static void add_end(const struct fr_plan *p, struct fr_plan *out, struct fr__offsets at)
{
    const struct fr_plan_view *v = &p->view;
    uint32_t end = fr_plan_add_task(out, &(struct fr_task){.device = v->tasks[0].device,
                                                           .cost_id = FR_NONE,
                                                           .op = FR_NONE,
                                                           .label = FR_NONE,
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
    struct fr__offsets at = {0, 0, 0, 0}, before;
    enum fr_status st;

    if (!plan || !buffer_ids || !joints || n == 0 || v->n_tasks == 0) {
        st = n == 0 || v->n_tasks == 0
                 ? fr__fail(err, FR_ERANGE, FR_NOWHERE,
                            "nothing to unroll: %u iterations of %zu tasks", n, v->n_tasks)
                 : fr__fail_nomem(err);
        goto free_all;
    }
    fr__plan_copy_shared(p, plan);
    for (unsigned i = 0; i < n; i++) {
        before = at;
        at = (struct fr__offsets){(uint32_t)plan->n_tasks.n, (uint32_t)plan->n_transfers.n,
                                  (uint32_t)plan->n_collectives.n, (uint32_t)plan->n_buffers.n};
        fr__plan_copy_iteration(p, plan, at, buffer_ids);
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
