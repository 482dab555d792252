/* strategies/exchange/gather.c - parameters that replicas update in shares go to all of them:
 * at the end of an iteration, or when the next one begins.
 *
 * At the end, a set of parameters is gathered once its updates are done. At the start, a stage's
 * first set is gathered at once. The gather of another begins when the forward pass comes to the
 * set before, whose own gather is done then; so one gather runs beside the ops that read the set
 * before. Megatron-LM does so with overlap_param_gather (megatron/core/distributed/
 * distributed_data_parallel.py and param_and_grad_buffer.py, finish_param_sync), and with
 * align_param_gather all stages begin at the same time. On a device the gathers follow each other.
 */
#include "config.h"

#include "strategies/exchange/parts.h"

static uint32_t gather_of(const struct fr__exchange *x, uint32_t set, uint32_t rank)
{
    return x->gathers[x->first_group[set] + fr__exchange_part(x, set)->over.group_of[rank]];
}

static uint32_t add_gather(struct fr__exchange *x, uint32_t set, uint32_t rank, enum fr_phase phase)
{
    uint32_t device = fr__exchange_device(x, x->stage_of_set[set], rank);

    return fr__exchange_member(x, device, gather_of(x, set, rank),
                               fr__exchange_part(x, set)->over.rank_of[rank], phase);
}

/* ---- at the end ---- */

/* The updated parameters of a set, each rank's share, go to all. */
static void gather_updated(struct fr__exchange *x, const struct fr__replica *r, uint32_t set,
                           uint32_t rank)
{
    const struct fr__params *p = &x->pl->params;
    uint32_t member;

    if (gather_of(x, set, rank) == FR_NONE)
        return;
    member = add_gather(x, set, rank, FR_PHASE_UPDATE);
    for (uint32_t i = x->sets.first[set]; i < x->sets.first[set + 1]; i++) {
        const struct fr__owner *w = &p->owners[x->sets.owners[i]];

        for (uint32_t k = 0; k < w->n_updates; k++)
            fr_plan_add_dep(x->pl->plan, fr__update_task(r, p->updates[w->first_update + k]),
                            member);
    }
}

/* ---- at the start ---- */

/* The first op of the forward pass that reads the set's parameters. */
static uint32_t first_reader(const struct fr__exchange *x, uint32_t set)
{
    uint32_t first = FR_NONE;

    for (uint32_t i = x->sets.first[set]; i < x->sets.first[set + 1]; i++) {
        uint32_t op = x->pl->params.owners[x->sets.owners[i]].op;

        first = op < first ? op : first;
    }
    return first;
}

/* The forward op of the stage before it; FR_NONE. */
static uint32_t op_before(const struct fr__exchange *x, uint32_t op)
{
    const uint32_t *stages = x->options.stage_of;

    for (uint32_t o = op; o-- > 0;)
        if (x->pl->params.roles[o] == FR__ROLE_FORWARD &&
            x->pl->graph->ops[o].phase == FR_PHASE_FORWARD && (!stages || stages[o] == stages[op]))
            return o;
    return FR_NONE;
}

/* before: the set gathered before on the device, FR_NONE. */
static void gather_for_next(struct fr__exchange *x, const struct fr__replica *r, uint32_t set,
                            uint32_t rank, uint32_t before)
{
    struct fr_plan *plan = x->pl->plan;
    uint32_t member = add_gather(x, set, rank, FR_PHASE_FORWARD), op;
    uint32_t device = fr__exchange_device(x, x->stage_of_set[set], rank);

    if (before != FR_NONE) {
        fr_plan_add_dep(plan, x->last_on[device], member);
        op = op_before(x, first_reader(x, before));
        if (op != FR_NONE)
            fr_plan_add_dep(plan, r->first_task[op], member);
    }
    x->last_on[device] = member;
    for (uint32_t i = x->sets.first[set]; i < x->sets.first[set + 1]; i++)
        fr_plan_add_dep(plan, member, r->first_task[x->pl->params.owners[x->sets.owners[i]].op]);
}

/* The set of least first reader on the device that comes after `after`; FR_NONE. Sets are few. */
static uint32_t next_set(const struct fr__exchange *x, uint32_t device, uint32_t rank,
                         uint32_t after)
{
    uint32_t next = FR_NONE, first = FR_NONE;

    for (uint32_t set = 0; set < x->sets.n; set++) {
        uint32_t reader = first_reader(x, set);

        if (fr__exchange_device(x, x->stage_of_set[set], rank) != device || reader >= first ||
            (after != FR_NONE && reader <= first_reader(x, after)) ||
            gather_of(x, set, rank) == FR_NONE)
            continue;
        first = reader;
        next = set;
    }
    return next;
}

static void gather_on(struct fr__exchange *x, const struct fr__replica *r, uint32_t device,
                      uint32_t rank)
{
    uint32_t before = FR_NONE, set;

    while ((set = next_set(x, device, rank, before)) != FR_NONE) {
        gather_for_next(x, r, set, rank, before);
        before = set;
    }
}

/* ---- both ---- */

void fr__gathers_place(struct fr__exchange *x, struct fr__replica *r, uint32_t rank)
{
    uint32_t n_stages = x->options.n_stages;

    for (uint32_t set = 0; set < x->sets.n && !x->options.gathers_at_start; set++)
        gather_updated(x, r, set, rank);
    for (uint32_t s = 0; s < n_stages && x->options.gathers_at_start; s++)
        x->last_on[fr__exchange_device(x, s, rank)] = FR_NONE;
    for (uint32_t s = 0; s < n_stages && x->options.gathers_at_start; s++) {
        uint32_t device = fr__exchange_device(x, s, rank);

        if (x->last_on[device] == FR_NONE) /* it may have several stages */
            gather_on(x, r, device, rank);
    }
}
