/* lowering/replica/passes.c - what software does to all gradients beside the model's ops: it adds
 * those of micro-batches up, and reads or scales them before the update.
 *
 * Model:   n passes over the bytes of all trained parameters, each as fast as other work that only
 *          moves memory; one task, since frameworks launch these kernels back to back.
 *          With ways to run a step (lowering/update.h) also their kernels for each tensor.
 * Sources: PyTorch, torch/csrc/autograd/functions/accumulate_grad.h (in place: two reads and a
 *          write); TensorFlow, clip_by_global_norm (a read for the norm, a read and a write for the
 *          factor).
 * Ignores: that additions run during the backward pass, each when its gradient comes; of the
 *          passes launches of many small kernels; that a norm of several ranks' gradients is
 *          summed over them, a few bytes.
 */
#include "config.h"

#include "lowering/replica/parts.h"
#include "lowering/update.h"

#include "base/error.h"

#include <inttypes.h>

enum { MOST_PASSES = 64 };

enum fr_status fr__check_passes(const struct fr_option_values *v, size_t a, size_t b,
                                struct fr_error *err)
{
    uint64_t most = v->value[a] > v->value[b] ? v->value[a] : v->value[b];

    if (most <= MOST_PASSES)
        return FR_OK;
    return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                    "%" PRIu64 " is more than %d passes over all gradients", most, MOST_PASSES);
}

/* Over how many ranks an owner's gradient is shared out when it is updated. */
static uint32_t shards_of(const struct fr__replica *r, const struct fr__owner *w)
{
    const struct fr__keeping *k = r->pl->keeping;

    return k && fr__recipe_is_sharded(FR__PART_STATES, k->zero) ? k->shards[w->op] : 1;
}

/* Bytes of an owner's gradient that this rank has: its share, where they are shared out. */
static uint64_t owner_bytes(const struct fr__replica *r, const struct fr__owner *w)
{
    if (w->ready == FR_NONE || !fr__is_mine(r, w->op))
        return 0;
    return fr__gradient_bytes(r->pl, w->bytes) / shards_of(r, w);
}

static uint64_t gradient_bytes(const struct fr__replica *r, uint32_t device)
{
    const struct fr__params *p = &r->pl->params;
    uint64_t bytes = 0;

    for (size_t i = 0; i < p->n_owners; i++)
        if (r->device_of[p->owners[i].op] == device)
            bytes += owner_bytes(r, &p->owners[i]);
    return bytes;
}

/* So many passes over so many bytes on a device. */
static void price_passes(const struct fr__replica *r, uint64_t n_passes, uint64_t bytes,
                         uint32_t device, struct fr_cost *cost)
{
    fr__price_sum(r->pl, r->pl->in->topo->devices[device].type, bytes, n_passes - 1, cost);
}

/* A task on a device, after `after`. label: FR_NONE, or a string of the plan. */
static uint32_t place(struct fr__replica *r, const struct fr_cost *cost, uint32_t label,
                      uint32_t device, enum fr_phase phase, uint32_t microbatch, uint32_t after)
{
    struct fr__placer *pl = r->pl;
    struct fr_task t = {.device = device,
                        .op = FR_NONE,
                        .label = label,
                        .microbatch = microbatch,
                        .kind = FR_TASK_COMPUTE,
                        .phase = (uint8_t)phase,
                        .stream = FR_STREAM_COMPUTE};
    uint32_t task;

    t.cost_id = fr_plan_add_cost(pl->plan, cost);
    task = fr__add_task(pl, &t);
    if (after != FR_NONE)
        fr_plan_add_dep(pl->plan, after, task);
    return task;
}

/* Gradients that are shared out once a micro-batch are added up as shares; others whole. */
static uint64_t added_bytes(const struct fr__replica *r, const struct fr__owner *w)
{
    const struct fr__keeping *k = r->pl->keeping;

    if (w->ready == FR_NONE || (k && k->is_scattered))
        return owner_bytes(r, w);
    return fr__is_mine(r, w->op) ? fr__gradient_bytes(r->pl, w->bytes) : 0;
}

uint32_t fr__place_adds_of(struct fr__replica *r, uint32_t device, uint32_t micro,
                           const uint32_t ops[], size_t n, uint32_t after)
{
    const struct fr__params *p = &r->pl->params;
    struct fr_cost cost;
    uint64_t bytes = 0;

    for (size_t i = 0; r->passes.adds > 0 && i < n; i++) {
        uint32_t owner = p->owner_of[ops[i]];

        bytes += owner == FR_NONE ? 0 : added_bytes(r, &p->owners[owner]);
    }
    if (bytes == 0)
        return after;
    price_passes(r, r->passes.adds, bytes, device, &cost);
    return place(r, &cost, FR_NONE, device, FR_PHASE_BACKWARD_WEIGHT, micro, after);
}

uint32_t fr__place_adds(struct fr__replica *r, const struct fr__micro *m, size_t micro,
                        uint32_t device, uint32_t after)
{
    const struct fr__params *p = &r->pl->params;
    struct fr_cost cost;
    uint64_t bytes = 0;
    uint32_t sum, end;

    for (size_t i = 0; i < p->n_owners; i++)
        bytes += added_bytes(r, &p->owners[i]);
    if (micro == 0 || r->passes.adds == 0 || bytes == 0)
        return after;
    price_passes(r, r->passes.adds, bytes, device, &cost);
    sum = place(r, &cost, FR_NONE, device, FR_PHASE_BACKWARD_WEIGHT, m->index, after);
    end = fr__add_marker(r->pl, device, FR_PHASE_BACKWARD_DATA, m->index);
    fr_plan_add_dep(r->pl->plan, sum, end);
    return end;
}

static void add_cost(struct fr_cost *sum, const struct fr_cost *cost)
{
    if (!(sum->mean_s > 0)) {
        *sum = *cost;
        return;
    }
    sum->mean_s += cost->mean_s;
    sum->bytes_s += cost->bytes_s;
    sum->launch_s += cost->launch_s;
}

/* What rows of lowering/update.h do to the gradients of a device. */
static void price_rows(const struct fr__replica *r, uint32_t device, struct fr_cost *cost)
{
    const struct fr__placer *pl = r->pl;
    const struct fr__params *p = &pl->params;
    uint64_t rows = fr__updates_of_gradients(pl->in->updates);

    for (size_t i = 0; i < p->n_owners; i++)
        for (size_t row = 0; row < fr__n_updates; row++) {
            const struct fr__owner *w = &p->owners[i];
            struct fr_cost one;

            if (!(rows >> row & 1) || r->device_of[w->op] != device || owner_bytes(r, w) == 0)
                continue;
            fr__price_update(pl, pl->in->topo->devices[device].type, &fr__updates[row], w, w->bytes,
                             shards_of(r, w), &one);
            add_cost(cost, &one);
        }
}

bool fr__has_passes(const struct fr__replica *r)
{
    if (r->has_passed)
        return false;
    return r->passes.update > 0 || fr__updates_of_gradients(r->pl->in->updates) != 0;
}

uint32_t fr__place_passes(struct fr__replica *r, uint32_t device, enum fr_phase phase,
                          uint32_t after)
{
    uint64_t bytes = gradient_bytes(r, device);
    struct fr_cost cost = {.kind = FR_OP_GRAD_ADD, .trust = FR_TRUST_DATASHEET};

    if (!fr__has_passes(r) || bytes == 0)
        return FR_NONE;
    if (r->passes.update > 0)
        price_passes(r, r->passes.update, bytes, device, &cost);
    price_rows(r, device, &cost);
    return place(r, &cost, r->pl->on_gradients, device, phase, FR_NONE, after);
}
