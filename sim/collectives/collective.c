/* sim/collectives/collective.c - collectives start when all members have arrived, and end.
 *
 * In between either messages go step by step (ring_run.c), or all of them as one flow that takes a
 * known time alone (known_time.c, flows.c).
 */
#include "config.h"

#include "sim/collectives/nccl_choice.h"
#include "sim/collectives/link_load.h"
#include "sim/analysis/parts.h"
#include "sim/collectives/schedule_run.h"
#include "sim/collectives/schedule_choice.h"

#include <stdlib.h>

enum fr_status fr__collectives_reset(struct fr__engine *e)
{
    struct fr__collectives *c = &e->collectives;
    const struct fr_plan_view *v = e->v;
    size_t n_members = v->n_collectives ? v->member_first[v->n_collectives] : 0;

    fr__rings_reset(&c->found);
    fr__step_work_reset(c->steps);
    c->free_ring = FR_NONE;
    c->n_folded = 0;
    c->n_flows = 0;
    c->free_flow = FR_NONE;
    for (uint32_t r = 0; r < c->n_rings; r++) {
        c->rings[r].next_free = c->free_ring;
        c->free_ring = r;
        free(c->rings[r].under_way);
        c->rings[r].under_way = NULL;
    }
    c->arrivals = fr__arena_alloc(e->scratch, v->n_collectives, sizeof(*c->arrivals));
    c->rings_left = fr__arena_alloc(e->scratch, n_members, sizeof(*c->rings_left));
    c->ring_set = fr__arena_alloc(e->scratch, v->n_groups, sizeof(const struct fr__ring_set *));
    if (!c->arrivals || !c->rings_left || !c->ring_set)
        return fr__engine_fail_nomem(e);
    FR_TRY(fr__repeats_reset(e));
    return fr__link_loads_reset(e);
}

void fr__collectives_fini(struct fr__engine *e)
{
    struct fr__collectives *c = &e->collectives;

    for (size_t r = 0; r < c->n_rings; r++) {
        free(c->rings[r].launched);
        free(c->rings[r].under_way);
    }
    free(c->rings);
    fr__repeats_free(c->repeats);
    fr__link_loads_free(c->link_loads);
    free(c->flows);
    fr__step_work_free(c->steps);
    fr__kept_models_free(c->models);
    fr__rings_fini(&c->found);
}

/* ---- members arrive ---- */

void fr__collective_arrive(struct fr__engine *e, uint32_t task)
{
    uint32_t c = e->tasks[task].collective;
    struct fr__arrivals *m = &e->collectives.arrivals[c];
    double launched_s = fr__host_launch(e, task);

    if (launched_s > m->start_s) {
        m->start_s = launched_s;
        m->latest = task;
    }
    m->last = task;
    if (++m->n_arrived < e->v->member_first[c + 1] - e->v->member_first[c])
        return;
    if (m->start_s > e->now_s)
        fr__push_event(e, m->start_s, c, EVENT_COLLECTIVE_START);
    else
        fr__collective_start(e, c);
}

static void member_start(struct fr__engine *e, uint32_t task, uint32_t cause)
{
    uint32_t d = fr__device_of(e, task);

    fr__task_started(e, task);
    e->tasks[task].cause = cause;
    if (e->parts)
        fr__parts_keep(e, task);
    if (e->o->alloc_at_start)
        fr__memory_alloc(e, task);
    fr__device_account(e, &e->devices[d]);
    e->devices[d].n_collective++;
    fr__rerate(e, d);
}

/* ---- they start ---- */

void fr__collective_start(struct fr__engine *e, uint32_t collective)
{
    uint32_t first = e->v->member_first[collective];
    uint32_t n = e->v->member_first[collective + 1] - first;
    uint32_t cause = e->tasks[e->collectives.arrivals[collective].last].cause;
    struct fr__collective_schedule how;
    bool has_schedule;

    for (uint32_t i = 0; i < n; i++)
        member_start(e, e->v->members[first + i], cause);
    if (n < 2 || e->v->collectives[collective].is_formula ||
        fr__collective_has_cost(e, collective)) {
        fr__known_start(e, collective);
        return;
    }
    has_schedule = fr__collective_schedule_of(e, collective, &how);
    e->stats.by_schedule += has_schedule;
    if (e->o->closed_form_collectives)
        fr__known_start(e, collective);
    else if (has_schedule)
        fr__scheduled_start(e, collective, &how);
    else if (e->status == FR_OK)
        fr__collective_steps(e, collective);
}
