/* strategies/lists/timetable.c - places operations, and keeps what was seen on the way. */
#include "config.h"

#include "strategies/lists/timetable.h"

#include "base/error.h"
#include "lowering/log.h"

#include <math.h>

/* ---- making one ---- */

static bool make_arrays(struct fr__timetable *t)
{
    size_t n = t->dag->n_ops;

    t->device = fr__arena_alloc(t->arena, n, sizeof(*t->device));
    t->start_s = fr__arena_alloc(t->arena, n, sizeof(*t->start_s));
    t->end_s = fr__arena_alloc(t->arena, n, sizeof(*t->end_s));
    t->group_device = fr__arena_alloc(t->arena, t->dag->n_groups, sizeof(*t->group_device));
    t->waits = fr__arena_alloc(t->arena, n, sizeof(*t->waits));
    t->n_missing = fr__arena_alloc(t->arena, n, sizeof(*t->n_missing));
    t->list = fr__arena_alloc(t->arena, n, sizeof(*t->list));
    t->rank_s = fr__arena_alloc(t->arena, n, sizeof(*t->rank_s));
    t->is_on_path = fr__arena_alloc(t->arena, n, sizeof(*t->is_on_path));
    t->path = fr__arena_alloc(t->arena, n, sizeof(*t->path));
    return t->device && t->start_s && t->end_s && t->group_device && t->waits && t->n_missing &&
           t->list && t->rank_s && t->is_on_path && t->path &&
           fr__dpos_record_make(&t->record, t->arena, n, t->machine->n_devices);
}

/* Whether it may wait for its first reader: a variable that reads nothing. */
static bool is_variable(const struct fr__dag *dag, uint32_t op)
{
    return dag->ops[op].role == FR__DAG_VARIABLE && dag->in_first[op] == dag->in_first[op + 1];
}

enum fr_status fr__timetable_init(struct fr__timetable *t, const struct fr__dag *dag,
                                  const struct fr__dpos_machine *machine, struct fr_error *err)
{
    *t = (struct fr__timetable){.dag = dag, .machine = machine};
    t->arena = fr__arena_new();
    t->slots = fr__slots_new(machine->n_devices, dag->n_ops);
    if (!t->arena || !t->slots || !make_arrays(t))
        return fr__fail_nomem(err);
    fr__slots_reset(t->slots);
    for (size_t g = 0; g < dag->n_groups; g++)
        t->group_device[g] = FR_NONE;
    for (uint32_t i = 0; i < dag->n_ops; i++) {
        t->device[i] = t->record.via[i] = FR_NONE;
        t->waits[i] = is_variable(dag, i);
        for (size_t k = i * machine->n_devices; k < (i + (size_t)1) * machine->n_devices; k++)
            t->record.ready_s[k] = t->record.est_s[k] = t->record.eft_s[k] = NAN;
        FR_TRY(fr__check_cancelled(dag->pl ? dag->pl->ctx : NULL, err));
    }
    for (size_t e = 0; e < dag->n_edges; e++)
        t->n_missing[dag->edges[e].dst] += !t->waits[dag->edges[e].src];
    return FR_OK;
}

void fr__timetable_fini(struct fr__timetable *t)
{
    fr__slots_free(t->slots);
    if (t->arena)
        fr__arena_free(t->arena);
}

/* ---- looking ---- */

double fr__timetable_cost(const struct fr__timetable *t, uint32_t op, uint32_t device)
{
    return t->dag->cost_s[t->dag->ops[op].cost * t->dag->n_types + t->machine->type[device]];
}

bool fr__timetable_is_ready(const struct fr__timetable *t, uint32_t op)
{
    return t->n_missing[op] == 0 && !t->waits[op];
}

static uint32_t group_device(const struct fr__timetable *t, uint32_t op)
{
    uint32_t group = t->dag->ops[op].group;

    return group == FR_NONE ? FR_NONE : t->group_device[group];
}

bool fr__timetable_allows(const struct fr__timetable *t, uint32_t op, uint32_t device)
{
    uint32_t there = group_device(t, op);

    return there == FR_NONE || there == device;
}

/* A variable without a place would come along. */
double fr__timetable_ready(const struct fr__timetable *t, uint32_t op, uint32_t device)
{
    const struct fr__dag *dag = t->dag;
    double latest_s = 0;

    for (uint32_t k = dag->in_first[op]; k < dag->in_first[op + 1]; k++) {
        const struct fr__dag_edge *e = &dag->edges[dag->in_edges[k]];
        uint32_t there = t->device[e->src];

        if (there == FR_NONE)
            there = group_device(t, e->src);
        if (there != FR_NONE)
            latest_s =
                fmax(latest_s, t->end_s[e->src] + fr__dpos_move_s(t->machine, e, there, device));
    }
    return latest_s;
}

struct fr__spot fr__timetable_look(const struct fr__timetable *t, uint32_t op, uint32_t device,
                                   bool inserts)
{
    double cost_s = fr__timetable_cost(t, op, device);
    struct fr__spot spot = {.device = device, .ready_s = fr__timetable_ready(t, op, device)};

    spot.start_s = inserts ? fr__slots_find(t->slots, device, spot.ready_s, cost_s)
                           : fmax(spot.ready_s, fr__slots_end(t->slots, device));
    spot.end_s = spot.start_s + cost_s;
    return spot;
}

/* Whether op cannot start or end there earlier than at the best of lower devices. */
static bool is_vain(const struct fr__timetable *t, uint32_t op, uint32_t device,
                    const struct fr__spot *best, enum fr__spot_by by)
{
    double least_s;

    if (t->is_told || best->device == FR_NONE)
        return false;
    least_s = fr__timetable_ready(t, op, device);
    return by == FR__SPOT_ENDS_FIRST ? least_s + fr__timetable_cost(t, op, device) >= best->end_s
                                     : least_s >= best->start_s;
}

struct fr__spot fr__timetable_choose(struct fr__timetable *t, uint32_t op, enum fr__spot_by by,
                                     bool inserts)
{
    struct fr__spot best = {.device = FR_NONE};

    for (uint32_t d = 0; d < t->machine->n_devices; d++) {
        size_t at = (size_t)op * t->machine->n_devices + d;
        struct fr__spot spot;

        if (!fr__timetable_allows(t, op, d) || is_vain(t, op, d, &best, by))
            continue;
        spot = fr__timetable_look(t, op, d, inserts);
        t->record.ready_s[at] = spot.ready_s;
        t->record.est_s[at] = spot.start_s;
        t->record.eft_s[at] = spot.end_s;
        if (best.device == FR_NONE ||
            (by == FR__SPOT_ENDS_FIRST ? spot.end_s < best.end_s : spot.start_s < best.start_s))
            best = spot;
    }
    return best;
}

/* ---- placing ---- */

static void stand(struct fr__timetable *t, uint32_t op, uint32_t device, enum fr__dpos_why why)
{
    uint32_t group = t->dag->ops[op].group;

    t->device[op] = device;
    t->record.why[op] = (uint8_t)why;
    t->list[t->n_listed++] = op;
    if (group != FR_NONE && t->group_device[group] == FR_NONE)
        t->group_device[group] = device;
}

/* Places the variables that op reads and that waited for a reader. */
static void bring_variables(struct fr__timetable *t, uint32_t op, uint32_t device)
{
    const struct fr__dag *dag = t->dag;

    for (uint32_t k = dag->in_first[op]; k < dag->in_first[op + 1]; k++) {
        uint32_t src = dag->edges[dag->in_edges[k]].src, there;

        if (!t->waits[src] || t->device[src] != FR_NONE)
            continue;
        there = group_device(t, src);
        stand(t, src, there == FR_NONE ? device : there,
              there == FR_NONE ? FR__DPOS_WITH_READER : FR__DPOS_OF_GROUP);
    }
}

void fr__timetable_place(struct fr__timetable *t, uint32_t op, const struct fr__spot *spot,
                         enum fr__dpos_why why)
{
    const struct fr__dag *dag = t->dag;
    bool is_bound = group_device(t, op) != FR_NONE;
    size_t at = (size_t)op * t->machine->n_devices + spot->device;

    bring_variables(t, op, spot->device);
    stand(t, op, spot->device, is_bound ? FR__DPOS_OF_GROUP : why);
    t->start_s[op] = t->record.est_s[at] = spot->start_s;
    t->end_s[op] = t->record.eft_s[at] = spot->end_s;
    t->record.ready_s[at] = spot->ready_s;
    fr__slots_add(t->slots, spot->device, spot->start_s, spot->end_s);
    for (uint32_t e = dag->out_first[op]; e < dag->out_first[op + 1]; e++)
        t->n_missing[dag->edges[e].dst]--;
}

double fr__timetable_finish(struct fr__timetable *t)
{
    double makespan_s = 0;

    for (uint32_t i = 0; i < t->dag->n_ops; i++) {
        uint32_t there = group_device(t, i);

        if (t->device[i] == FR_NONE)
            stand(t, i, there == FR_NONE ? 0 : there, FR__DPOS_OF_GROUP);
        makespan_s = fmax(makespan_s, t->end_s[i]);
    }
    return makespan_s;
}
