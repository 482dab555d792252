/* plan/copy.c - a finished plan's content once more, in a plan still open to changes. */
#include "config.h"

#include "plan/internal.h"

#include <stdlib.h>

static uint32_t moved(uint32_t id, uint32_t by)
{
    return id == FR_NONE ? FR_NONE : id + by;
}

void fr__plan_copy_shared(const struct fr_plan *p, struct fr_plan *out)
{
    const struct fr_plan_view *v = &p->view;

    for (uint32_t i = 0; i < v->n_costs; i++)
        fr_plan_add_cost(out, &v->costs[i]);
    for (uint32_t i = 0; i < v->n_strings; i++)
        fr_plan_add_string(out, fr_plan_string(p, i));
    for (uint32_t d = 0; v->device_counts && d < v->topo->n_devices; d++)
        fr_plan_fold_device(out, d, v->device_counts[d], p->device_folds[d].devices);
    fr_plan_say_gradients(out, v->gradient_bytes, v->sent_gradient_bytes);
    fr_plan_say_shards(out, v->param_shards);
    if (v->folding)
        fr_plan_say_folding(out, v->folding);
    for (uint32_t g = 0; g < v->n_groups; g++) {
        const struct fr__group *k = &p->groups[g];

        if (k->stride)
            fr_plan_add_group(out, k->first, k->stride, k->count);
        else
            fr_plan_add_group_of(out, p->group_devices + k->list, k->count);
        if (fr_plan_group_fold(p, g))
            fr_plan_fold_group(out, g, p->group_folds[g].n, p->group_folds[g].devices);
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

void fr__plan_copy_iteration(const struct fr_plan *p, struct fr_plan *out, struct fr__offsets at,
                             uint32_t buffer_ids[])
{
    const struct fr_plan_view *v = &p->view;

    for (uint32_t c = 0; c < v->n_collectives; c++)
        fr_plan_add_collective(out, &v->collectives[c]);
    for (uint32_t t = 0; t < v->n_tasks; t++) {
        struct fr_task copy = v->tasks[t];

        if (copy.kind == FR_TASK_COLLECTIVE)
            copy.collective += at.collectives;
        copy.priority += at.priority;
        fr_plan_add_task(out, &copy);
    }
    for (uint32_t x = 0; x < v->n_transfers; x++) {
        const struct fr_transfer *k = &v->transfers[x];

        uint32_t id =
            fr_plan_add_transfer(out, k->send + at.tasks, k->recv + at.tasks, k->bytes, k->label);

        fr_plan_share_transfer(out, id, k->share);
    }
    copy_buffers(p, out, buffer_ids, at.tasks == 0, at.tasks);
    for (uint32_t t = 0; t < v->n_tasks; t++) {
        for (uint32_t i = v->succ_first[t]; i < v->succ_first[t + 1]; i++)
            fr_plan_add_dep(out, t + at.tasks, v->succ[i] + at.tasks);
        for (uint32_t i = v->free_first[t]; i < v->free_first[t + 1]; i++)
            fr_plan_add_free(out, buffer_ids[v->free[i]], t + at.tasks);
    }
}

struct fr_plan *fr__plan_copy(const struct fr_plan *p)
{
    const struct fr_plan_view *v = &p->view;
    struct fr_plan *out = fr__plan_new_like(p);
    uint32_t *buffer_ids = calloc(v->n_buffers + 1, sizeof(*buffer_ids));

    if (out && buffer_ids) {
        fr__plan_copy_shared(p, out);
        fr__plan_copy_iteration(p, out, (struct fr__offsets){.tasks = 0}, buffer_ids);
        for (size_t i = 0; i < v->n_iterations; i++)
            fr_plan_end_iteration(out, v->iteration_ends[i]);
    } else {
        fr_plan_free(out);
        out = NULL;
    }
    free(buffer_ids);
    return out;
}
