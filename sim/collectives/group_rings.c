/* sim/collectives/group_rings.c - the rings of a group, looked up when first asked for.
 *
 * Both the rings of closed_form.c and the schedules of schedule_choice.c go over them.
 */
#include "config.h"

#include "sim/engine.h"

enum { MOST_RINGS = 16 };

size_t fr__most_rings(const struct engine *e)
{
    return e->o->rings && e->o->rings < MOST_RINGS ? e->o->rings : MOST_RINGS;
}

const struct fr__ring_set *fr__group_rings(struct engine *e, uint32_t group)
{
    const struct fr__ring_set **set = &e->collectives.ring_set[group];
    uint32_t n, *devices;
    struct fr__mark mark;
    size_t max_rings;
    enum fr_status st;

    if (*set)
        return *set;
    n = fr_plan_group_size(e->plan, group);
    max_rings = fr__most_rings(e);
    mark = fr__arena_mark(e->scratch);
    devices = fr__arena_take(e->scratch, n, sizeof(*devices));
    for (uint32_t i = 0; devices && i < n; i++)
        devices[i] = fr_plan_group_device(e->plan, group, i);
    st = devices ? fr__rings_find(&e->collectives.found, &e->network.routes, devices, n, max_rings,
                                  set, e->err)
                 : fr__fail_nomem(e->err);
    fr__arena_rewind(e->scratch, mark);
    if (st != FR_OK)
        fr__engine_fail(e, st);
    return *set;
}
