/* sim/collectives/group_rings.c - the rings of a group, looked up when first asked for.
 *
 * Both the rings of closed_form.c and the schedules of schedule_choice.c go over them.
 */
#include "config.h"

#include "sim/engine.h"

enum { MOST_RINGS = 16 };

size_t fr__most_rings(const struct fr__engine *e)
{
    return e->o->rings && e->o->rings < MOST_RINGS ? e->o->rings : MOST_RINGS;
}

uint32_t *fr__group_devices(struct fr__engine *e, uint32_t group)
{
    uint32_t n = fr_plan_group_size(e->plan, group);
    uint32_t *devices = fr__arena_take(e->scratch, n, sizeof(*devices));

    for (uint32_t i = 0; devices && i < n; i++)
        devices[i] = fr_plan_group_device(e->plan, group, i);
    if (!devices)
        fr__engine_fail_nomem(e);
    return devices;
}

const struct fr__ring_set *fr__group_rings(struct fr__engine *e, uint32_t group)
{
    const struct fr__ring_set **set = &e->collectives.ring_set[group];
    uint32_t n = fr_plan_group_size(e->plan, group), *devices;
    struct fr__mark mark;
    enum fr_status st = FR_OK;

    if (*set)
        return *set;
    mark = fr__arena_mark(e->scratch);
    devices = fr__group_devices(e, group);
    if (devices)
        st = fr__rings_find(&e->collectives.found, &e->network.routes, devices, n,
                            fr__most_rings(e), set, e->err);
    fr__arena_rewind(e->scratch, mark);
    if (st != FR_OK)
        fr__engine_fail(e, st);
    return *set;
}
