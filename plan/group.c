/* plan/group.c - where the groups of a plan stand, and what their collectives cost. */
#include "config.h"

#include "calibrate/messages/system.h"
#include "plan/internal.h"

static uint32_t machine_of(const struct fr_plan *p, uint32_t group, uint32_t rank)
{
    return p->view.topo->devices[fr_plan_group_device(p, group, rank)].machine;
}

/* Whether the rank's machine has GPUs among the ranks before, of which n_each in a row are on one
 * machine. lowest, highest: of their machines, so that machines in rising or falling order cost no
 * search. */
static bool returns(const struct fr_plan *p, uint32_t group, uint32_t rank, uint32_t n_each,
                    uint32_t lowest, uint32_t highest)
{
    uint32_t machine = machine_of(p, group, rank);

    if (machine < lowest || machine > highest)
        return false;
    for (uint32_t r = 0; r < rank; r += n_each)
        if (machine_of(p, group, r) == machine)
            return true;
    return false;
}

uint32_t fr_plan_group_machines(const struct fr_plan *p, uint32_t group)
{
    const struct fr_topo *t = p->view.topo;
    uint32_t n = fr_plan_group_size(p, group), n_machines = 0, n_here = 0, n_each = 0;
    uint32_t lowest = UINT32_MAX, highest = 0;
    const struct fr_device *before = NULL;

    for (uint32_t rank = 0; rank < n; rank++) {
        uint32_t device = fr_plan_group_device(p, group, rank);
        const struct fr_device *d = &t->devices[device];

        if (device >= t->n_gpus || (before && d->type != before->type))
            return 0;
        if (!before || d->machine != before->machine) {
            if ((n_machines > 1 && n_here != n_each) ||
                (before && returns(p, group, rank, n_here, lowest, highest)))
                return 0;
            n_each = n_here;
            n_here = 0;
            n_machines++;
            lowest = d->machine < lowest ? d->machine : lowest;
            highest = d->machine > highest ? d->machine : highest;
        }
        n_here++;
        before = d;
    }
    return n_machines > 1 && n_here != n_each ? 0 : n_machines;
}

uint32_t fr_plan_group_system(const struct fr_plan *p, uint32_t group)
{
    const struct fr_topo *t = p->view.topo;

    switch (fr_plan_group_machines(p, group)) {
    case 0:
        return FR_NONE;
    case 1:
        return t->system_of[t->devices[fr_plan_group_device(p, group, 0)].machine];
    default:
        return t->network_system;
    }
}

/* FR_N_SYSTEM_OPS: nobody measured it. */
static enum fr_system_op op_of(enum fr_collective_kind kind)
{
    static const enum fr_system_op ops[FR_N_COLLECTIVE_KINDS] = {
        [FR_ALL_REDUCE] = FR_SYSTEM_ALL_REDUCE,
        [FR_ALL_GATHER] = FR_SYSTEM_ALL_GATHER,
        [FR_REDUCE_SCATTER] = FR_SYSTEM_REDUCE_SCATTER,
        [FR_ALL_TO_ALL] = FR_SYSTEM_ALL_TO_ALL,
        [FR_BROADCAST] = FR_N_SYSTEM_OPS,
        [FR_REDUCE] = FR_N_SYSTEM_OPS,
        [FR_RING_STEP] = FR_N_SYSTEM_OPS,
    };

    return ops[kind];
}

bool fr_plan_collective_cost(const struct fr_plan *p, const struct fr_cost_model *costs,
                             const struct fr_collective *c, bool is_summed_in_switch,
                             struct fr_cost *out)
{
    const struct fr_system_call call = {.op = op_of(c->kind),
                                        .n_gpus = fr_plan_group_size(p, c->group),
                                        .n_nodes = fr_plan_group_machines(p, c->group),
                                        .bytes = c->bytes,
                                        .is_summed_in_switch = is_summed_in_switch};

    return call.op < FR_N_SYSTEM_OPS &&
           fr_cost_collective(costs, fr_plan_group_system(p, c->group), &call, out);
}
