/* lowering/exchange/late.c - gradients that ranks of a tensor or expert group hold in
 * parts, summed once a step after the sums over replicas.
 *
 * Under sequence parallelism each rank of a tensor group sees its own positions, so the
 * gradients of norms and of biases after a reduction are partial sums there. Megatron-LM adds
 * them up in one all-reduce a stage (megatron/core/distributed/finalize_model_grads.py).
 */
#include "config.h"

#include "lowering/exchange/parts.h"

#include "base/error.h"

#include <stdio.h>

static bool is_late(const struct fr__exchange *x, const struct fr__late_sum *late, uint32_t stage,
                    const struct fr__owner *w)
{
    const uint32_t *stages = x->options.stage_of;

    return w->ready != FR_NONE && late->is_partial[w->op] && (stages ? stages[w->op] : 0) == stage;
}

static double late_bytes(const struct fr__exchange *x, const struct fr__late_sum *late,
                         uint32_t stage)
{
    const struct fr__params *p = &x->pl->params;
    double bytes = 0;

    for (size_t i = 0; i < p->n_owners; i++)
        if (is_late(x, late, stage, &p->owners[i]))
            bytes +=
                (double)p->owners[i].bytes / (late->shards ? late->shards[p->owners[i].op] : 1);
    return bytes * x->pl->gradient_factor;
}

/* The first stage that has the collective of group g and stage `stage`. */
static uint32_t first_stage_of(const struct fr__exchange *x, uint32_t l, uint32_t stage, uint32_t g)
{
    const struct fr__late_sum *late = &x->options.late[l];
    uint32_t n = late->over.n_groups;

    for (uint32_t s = 0; late->joins_stages && s < stage; s++)
        if (x->late_collectives[x->late_first[l] + s * n + g] != FR_NONE)
            return s;
    return stage;
}

static void prepare_stage(struct fr__exchange *x, uint32_t l, uint32_t stage)
{
    const struct fr__late_sum *late = &x->options.late[l];
    const struct fr__rank_groups *over = &late->over;
    double bytes = late_bytes(x, late, stage);
    char label[60];

    snprintf(label, sizeof(label), "%s of stage %u", late->label, stage);
    for (uint32_t g = 0; g < over->n_groups; g++) {
        uint32_t *c = &x->late_collectives[x->late_first[l] + stage * over->n_groups + g];
        uint32_t first = first_stage_of(x, l, stage, g);

        *c = FR_NONE;
        if (over->n_ranks > 1 && bytes > 0 && first < stage)
            *c = x->late_collectives[x->late_first[l] + first * over->n_groups + g];
        else if (over->n_ranks > 1 && bytes > 0)
            *c = fr__add_collective(
                x->pl, &(struct fr_collective){
                           .bytes = bytes,
                           .group = over->plan_group[(size_t)stage * over->n_groups + g],
                           .label = fr_plan_add_string(x->pl->plan, label),
                           .kind = FR_ALL_REDUCE,
                           .is_folded = x->options.is_folded && !late->joins_stages});
    }
}

enum fr_status fr__late_prepare(struct fr__exchange *x, struct fr_error *err)
{
    const struct fr__exchange_options *o = &x->options;
    struct fr__arena *arena = x->pl->arena;
    size_t n = 0;

    if (o->n_late == 0)
        return FR_OK;
    x->late_first = fr__arena_alloc(arena, o->n_late, sizeof(*x->late_first));
    x->late_members = fr__arena_alloc(arena, (size_t)o->n_late * o->n_stages, sizeof(uint32_t));
    if (!x->late_first || !x->late_members)
        return fr__fail_nomem(err);
    for (uint32_t l = 0; l < o->n_late; l++) {
        x->late_first[l] = (uint32_t)n;
        n += (size_t)o->n_stages * o->late[l].over.n_groups;
    }
    x->late_collectives = fr__arena_alloc(arena, n, sizeof(*x->late_collectives));
    if (!x->late_collectives)
        return fr__fail_nomem(err);
    for (uint32_t l = 0; l < o->n_late; l++)
        for (uint32_t s = 0; s < o->n_stages; s++)
            prepare_stage(x, l, s);
    return FR_OK;
}

/* After the sums over replicas that hold one of its gradients; where there are none, after the
 * gradients. */
static void wait_for_gradients(struct fr__exchange *x, struct fr__replica *r,
                               const struct fr__late_sum *late, uint32_t stage, uint32_t member)
{
    const struct fr__params *p = &x->pl->params;

    for (size_t i = 0; i < p->n_owners; i++) {
        const struct fr__owner *w = &p->owners[i];
        uint32_t set = w->n_updates ? x->set_of[p->updates[w->first_update]] : FR_NONE;

        if (!is_late(x, late, stage, w))
            continue;
        if (set != FR_NONE && x->members[set] != FR_NONE)
            fr_plan_add_dep(x->pl->plan, x->members[set], member);
        else
            fr__after_gradient(r, w, member, false);
    }
}

/* After all sums of the device where these follow each other (Megatron-LM's order too: it finishes
 * the sums over replicas first); and after the further sum before it of the stage. So no two
 * devices start them in different orders. */
static void keep_order(struct fr__exchange *x, uint32_t i, uint32_t device)
{
    uint32_t n_stages = x->options.n_stages, member = x->late_members[i];
    uint32_t before = i < n_stages ? FR_NONE : x->late_members[i - n_stages];

    if (x->row->is_chained) {
        before = x->last_on[device];
        x->last_on[device] = member;
    }
    if (before != FR_NONE)
        fr_plan_add_dep(x->pl->plan, before, member);
}

static uint32_t rank_in(const struct fr__exchange *x, uint32_t l, uint32_t stage, uint32_t rank)
{
    const struct fr__late_sum *late = &x->options.late[l];
    uint32_t g = late->over.group_of[rank];

    return late->joins_stages ? first_stage_of(x, l, stage, g) < stage : late->over.rank_of[rank];
}

void fr__late_place(struct fr__exchange *x, struct fr__replica *r, uint32_t rank)
{
    const struct fr__exchange_options *o = &x->options;

    for (uint32_t i = 0; i < o->n_late * o->n_stages; i++) {
        uint32_t l = i / o->n_stages, stage = i % o->n_stages;
        const struct fr__rank_groups *over = &o->late[l].over;
        uint32_t collective =
            x->late_collectives[x->late_first[l] + stage * over->n_groups + over->group_of[rank]];
        uint32_t device = fr__exchange_device(x, stage, rank);

        x->late_members[i] = FR_NONE;
        if (collective == FR_NONE)
            continue;
        x->late_members[i] = fr__exchange_member(x, device, collective, rank_in(x, l, stage, rank),
                                                 FR_PHASE_BACKWARD_WEIGHT);
        wait_for_gradients(x, r, &o->late[l], stage, x->late_members[i]);
        keep_order(x, i, device);
    }
}

void fr__late_hold_back(struct fr__exchange *x, struct fr__replica *r)
{
    const struct fr__exchange_options *o = &x->options;
    const struct fr__params *p = &x->pl->params;

    for (uint32_t i = 0; i < o->n_late * o->n_stages; i++)
        for (size_t k = 0; x->late_members[i] != FR_NONE && k < p->n_owners; k++) {
            const struct fr__owner *w = &p->owners[k];

            if (!is_late(x, &o->late[i / o->n_stages], i % o->n_stages, w))
                continue;
            for (uint32_t u = 0; u < w->n_updates; u++)
                fr__before_update(r, p->updates[w->first_update + u], x->late_members[i]);
        }
}
