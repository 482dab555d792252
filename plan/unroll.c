/* plan/unroll.c - several iterations of a plan in a row.
 *
 * Joined device by device rather than by a barrier: a device begins its next iteration as soon as
 * its own work of the last one is done, as a training loop does. All of it: a task that waits for
 * other devices only could else take a stream that the iteration before still needs, and two
 * devices that do so with two collectives would wait for each other for ever.
 */
#include "config.h"

#include "plan/internal.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdlib.h>

/* By how much the priorities of an iteration are above those of the one before, so that all work of
 * an iteration comes before all work of the next one, as a training loop launches it. Equal
 * priorities would let the next iteration's first tasks go ahead of this one's last, and an order
 * that waits for the most urgent task (strict) would wait for ever. */
static enum fr_status priority_step(const struct fr_plan_view *v, unsigned n, int32_t *step,
                                    struct fr_error *err)
{
    int32_t least = INT32_MAX, most = INT32_MIN;
    int64_t span;

    for (uint32_t t = 0; t < v->n_tasks; t++) {
        least = v->tasks[t].priority < least ? v->tasks[t].priority : least;
        most = v->tasks[t].priority > most ? v->tasks[t].priority : most;
    }
    span = (int64_t)most - least + 1;
    if (span * (n - 1) > (int64_t)INT32_MAX - most)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "priorities from %" PRId32 " to %" PRId32 " are too many for %u iterations",
                        least, most, n);
    *step = (int32_t)span;
    return FR_OK;
}

/* What a task is on its own device: does another task of the device come before it, or after it? */
enum { HAS_BEFORE = 1, HAS_AFTER = 2 };

/* neighbours: [n_tasks], 0 at first. */
static void find_neighbours(const struct fr_plan_view *v, unsigned char neighbours[])
{
    for (uint32_t t = 0; t < v->n_tasks; t++)
        for (uint32_t i = v->succ_first[t]; i < v->succ_first[t + 1]; i++)
            if (v->tasks[v->succ[i]].device == v->tasks[t].device) {
                neighbours[t] |= HAS_AFTER;
                neighbours[v->succ[i]] |= HAS_BEFORE;
            }
}

/* A marker on each device between two iterations keeps the joints linear in the tasks. */
static void join_devices(const struct fr_plan *p, struct fr_plan *out, struct fr__offsets before,
                         struct fr__offsets after, const unsigned char neighbours[],
                         uint32_t joints[])
{
    const struct fr_plan_view *v = &p->view;

    for (uint32_t d = 0; d < v->topo->n_devices; d++)
        joints[d] = FR_NONE;
    for (uint32_t t = 0; t < v->n_tasks; t++) {
        uint32_t d = v->tasks[t].device;
        const struct fr_task joint = fr_task_marker(d, FR_PHASE_UPDATE);

        if (joints[d] == FR_NONE)
            joints[d] = fr_plan_add_task(out, &joint);
        if (!(neighbours[t] & HAS_AFTER))
            fr_plan_add_dep(out, t + before.tasks, joints[d]);
        if (!(neighbours[t] & HAS_BEFORE))
            fr_plan_add_dep(out, joints[d], t + after.tasks);
    }
}

/* The end of an iteration: a marker after every sink. */
static void add_end(const struct fr_plan *p, struct fr_plan *out, struct fr__offsets at)
{
    const struct fr_plan_view *v = &p->view;
    const struct fr_task marker = fr_task_marker(v->tasks[0].device, FR_PHASE_UPDATE);
    uint32_t end = fr_plan_add_task(out, &marker);

    for (uint32_t t = 0; t < v->n_tasks; t++)
        if (v->succ_first[t] == v->succ_first[t + 1])
            fr_plan_add_dep(out, t + at.tasks, end);
    fr_plan_end_iteration(out, end);
}

static enum fr_status expect_iterations(const struct fr_plan *p, unsigned n, struct fr_plan *out,
                                        struct fr_error *err)
{
    const struct fr_plan_view *v = &p->view;
    struct fr__plan_size all = {.tasks = n * v->n_tasks,
                                .deps = (size_t)n * v->succ_first[v->n_tasks],
                                .buffers = n * v->n_buffers,
                                .frees = n * v->n_buffers};

    return fr__plan_expect(out, &all, err);
}

enum fr_status fr_plan_unroll(const struct fr_plan *p, unsigned n, struct fr_plan **out,
                              struct fr_error *err)
{
    const struct fr_plan_view *v = &p->view;
    struct fr_plan *plan = fr__plan_new_like(p);
    uint32_t *buffer_ids = calloc(v->n_buffers + 1, sizeof(*buffer_ids));
    uint32_t *joints = calloc(v->topo->n_devices + 1, sizeof(*joints));
    unsigned char *neighbours = calloc(v->n_tasks + 1, sizeof(*neighbours));
    struct fr__offsets at = {.tasks = 0}, before;
    int32_t step = 0;
    enum fr_status st;

    if (!plan || !buffer_ids || !joints || !neighbours || n == 0 || v->n_tasks == 0) {
        st = n == 0 || v->n_tasks == 0
                 ? fr__fail(err, FR_ERANGE, FR_NOWHERE,
                            "nothing to unroll: %u iterations of %zu tasks", n, v->n_tasks)
                 : fr__fail_nomem(err);
        goto free_all;
    }
    st = priority_step(v, n, &step, err);
    if (st != FR_OK)
        goto free_all;
    st = expect_iterations(p, n, plan, err);
    if (st != FR_OK)
        goto free_all;
    find_neighbours(v, neighbours);
    fr__plan_copy_shared(p, plan);
    for (unsigned i = 0; i < n; i++) {
        before = at;
        at = (struct fr__offsets){.tasks = (uint32_t)plan->n_tasks.n,
                                  .transfers = (uint32_t)plan->n_transfers.n,
                                  .collectives = (uint32_t)plan->n_collectives.n,
                                  .buffers = (uint32_t)plan->n_buffers.n,
                                  .priority = step * (int32_t)i};
        fr__plan_copy_iteration(p, plan, at, buffer_ids);
        if (i > 0)
            join_devices(p, plan, before, at, neighbours, joints);
        add_end(p, plan, at);
    }
    st = fr_plan_finish(plan, err);
    if (st == FR_OK) {
        *out = plan;
        plan = NULL;
    }
free_all:
    free(neighbours);
    free(joints);
    free(buffer_ids);
    fr_plan_free(plan);
    return st;
}
