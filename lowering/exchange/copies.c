/* lowering/exchange/copies.c - gradients are copied into a bucket's storage before they travel,
 * and back after.
 *
 * Model:   so many passes over the bucket's bytes each way, as fast as other work that only moves
 *          memory. On the compute stream a copy in runs right after the last gradient of its bucket
 *          and holds up the rest of the backward pass, a copy back after the backward pass. On the
 *          stream of collectives they take turns: in, sum, out, and then the next bucket.
 * Sources: PyTorch, torch/csrc/distributed/c10d/reducer.cpp (mark_variable_ready_dense writes
 *          gradient / world size into the bucket; copy_bucket_to_grad copies back, unless
 *          gradient_as_bucket_view); Horovod, horovod/common/ops/nccl_operations.cc
 *          (MemcpyInFusionBuffer, ncclAllReduce, MemcpyOutFusionBuffer on one stream); NVIDIA apex,
 *          apex/parallel/distributed.py (flatten, all_reduce, a factor, unflatten).
 * Ignores: a kernel for each gradient instead of one for all; that compute and copies on different
 *          streams share the memory's bandwidth (sim/interference.c where a factor is known).
 */
#include "config.h"

#include "lowering/exchange/parts.h"

/* A copy in on the compute stream goes as soon as its gradients are there, before the ops of the
 * backward pass that follow: it has the priority of the op that made the last of them. A sum of
 * gradients that shared weights get is made after the backward pass, and so are copies of it. */
static int32_t priority_in(const struct fr__exchange *x, const struct fr__replica *r, uint32_t set)
{
    const struct fr__micro *last = &r->micros[r->n_micros - 1];
    int32_t priority = INT32_MIN;

    if (x->options.copies_on_comm || !x->options.overlap)
        return x->pl->next_priority;
    for (uint32_t i = x->sets.first[set]; i < x->sets.first[set + 1]; i++) {
        const struct fr__owner *w = &x->pl->params.owners[x->sets.owners[i]];

        if (x->pl->params.roles[w->ready] == FR__ROLE_SUM)
            return x->pl->next_priority;
        if (last->priority_of[w->ready] > priority)
            priority = last->priority_of[w->ready];
    }
    return priority;
}

static uint32_t add_copy(struct fr__exchange *x, uint32_t set, uint32_t device, uint64_t n_passes,
                         int32_t priority)
{
    struct fr__placer *pl = x->pl;
    struct fr_task t = {.device = device,
                        .op = FR_NONE,
                        .label = FR_NONE,
                        .microbatch = FR_NONE,
                        .kind = FR_TASK_COMPUTE,
                        .phase = FR_PHASE_BACKWARD_WEIGHT,
                        .stream = x->options.copies_on_comm ? FR_STREAM_COMM : FR_STREAM_COMPUTE};
    int32_t next = pl->next_priority;
    struct fr_cost cost;
    uint32_t task;

    fr__price_sum(pl, pl->in->topo->devices[device].type,
                  (uint64_t)((double)fr__gradient_bytes(pl, x->sets.bytes[set]) * fr__copy_frac(x)),
                  n_passes - 1, &cost);
    t.cost_id = fr_plan_add_cost(pl->plan, &cost);
    pl->next_priority = priority;
    task = fr__add_task(pl, &t);
    if (priority != next)
        pl->next_priority = next;
    return task;
}

uint32_t fr__copy_in(struct fr__exchange *x, struct fr__replica *r, uint32_t set, uint32_t device)
{
    uint32_t copy;

    if (x->options.n_passes_in == 0)
        return FR_NONE;
    copy = add_copy(x, set, device, x->options.n_passes_in, priority_in(x, r, set));
    for (uint32_t i = x->sets.first[set]; i < x->sets.first[set + 1]; i++)
        fr__after_gradient(r, &x->pl->params.owners[x->sets.owners[i]], copy, false);
    if (!x->options.overlap)
        fr_plan_add_dep(x->pl->plan, r->done_of[device], copy);
    if (x->options.copies_on_comm && x->last_on[device] != FR_NONE)
        fr_plan_add_dep(x->pl->plan, x->last_on[device], copy);
    return copy;
}

void fr__copy_out(struct fr__exchange *x, struct fr__replica *r, uint32_t set, uint32_t device,
                  uint32_t member)
{
    uint32_t copy;

    if (x->options.n_passes_out == 0)
        return;
    copy = add_copy(x, set, device, x->options.n_passes_out, x->pl->next_priority);
    fr_plan_add_dep(x->pl->plan, member, copy);
    if (x->options.copies_on_comm)
        x->last_on[device] = copy;
    else
        fr_plan_add_dep(x->pl->plan, r->done_of[device], copy);
    x->last_copy = copy;
}
