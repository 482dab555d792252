/* lowering/exchange/gather.c - parameters that replicas update in shares go to all of them:
 * at the end of an iteration, or when the next one begins.
 *
 * At the end, a set of parameters is gathered once its updates are done. At the start, a stage's
 * first set is gathered at once. The gather of another begins when the forward pass comes to the
 * set before, whose own gather is done then; so one gather runs beside the ops that read the set
 * before. Megatron-LM does so with overlap_param_gather (megatron/core/distributed/
 * distributed_data_parallel.py and param_and_grad_buffer.py, finish_param_sync).
 *
 * Where a device has several stages (virtual ones, "chunks"), those of the first two are gathered
 * at once, and those of another when the first micro-batch comes to the stage before it: with
 * interleaving Megatron-LM's schedule asks for a whole chunk one chunk ahead (align_param_gather;
 * megatron/core/pipeline_parallel/schedules.py, param_sync_func). Else the first micro-batch would
 * wait for a gather at each of many small stages, one after the other.
 *
 * On a device the gathers follow each other.
 */
#include "config.h"

#include "lowering/exchange/parts.h"

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

/* It stands right before the first op that reads it, in the plan's order too: behind this step's
 * sums a stream in the order strict would wait for it for ever. after: the op of the forward pass
 * that it waits for, FR_NONE. */
static void gather_for_next(struct fr__exchange *x, const struct fr__replica *r, uint32_t set,
                            uint32_t rank, uint32_t after)
{
    struct fr_plan *plan = x->pl->plan;
    uint32_t device = fr__exchange_device(x, x->stage_of_set[set], rank), member;
    int32_t next = x->pl->next_priority;

    x->pl->next_priority = r->micros[0].priority_of[first_reader(x, set)];
    member = add_gather(x, set, rank, FR_PHASE_FORWARD);
    x->pl->next_priority = next;

    if (x->last_on[device] != FR_NONE)
        fr_plan_add_dep(plan, x->last_on[device], member);
    if (after != FR_NONE)
        fr_plan_add_dep(plan, r->first_task[after], member);
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

static bool has_several_stages(const struct fr__exchange *x, uint32_t device, uint32_t rank)
{
    unsigned n = 0;

    for (uint32_t s = 0; s < x->options.n_stages; s++)
        n += fr__exchange_device(x, s, rank) == device;
    return n > 1;
}

static void gather_set_by_set(struct fr__exchange *x, const struct fr__replica *r, uint32_t device,
                              uint32_t rank)
{
    uint32_t before = FR_NONE, set;

    while ((set = next_set(x, device, rank, before)) != FR_NONE) {
        gather_for_next(x, r, set, rank,
                        before == FR_NONE ? FR_NONE : op_before(x, first_reader(x, before)));
        before = set;
    }
}

static void gather_stage_by_stage(struct fr__exchange *x, const struct fr__replica *r,
                                  uint32_t device, uint32_t rank)
{
    uint32_t before = FR_NONE, first = FR_NONE, after = FR_NONE, set;
    unsigned n_stages = 0;

    while ((set = next_set(x, device, rank, before)) != FR_NONE) {
        if (before == FR_NONE || x->stage_of_set[set] != x->stage_of_set[before]) {
            after = ++n_stages > 2 ? first : FR_NONE;
            first = first_reader(x, set);
        }
        gather_for_next(x, r, set, rank, after);
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

        if (x->last_on[device] != FR_NONE)
            continue;
        if (has_several_stages(x, device, rank))
            gather_stage_by_stage(x, r, device, rank);
        else
            gather_set_by_set(x, r, device, rank);
    }
}
