/* strategies/fastt/dpos_moves.c - moves single operations of a plan and plans only what comes after
 * them again: each operation that is placed leaves a record by which it can be undone. */
#include "config.h"

#include "strategies/fastt/dpos_moves.h"

#include "base/arena.h"
#include "base/error.h"
#include "lowering/log.h"
#include "strategies/fastt/dpos_state.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* What placing an operation changed besides its slot, so that it can be undone. */
struct put {
    double makespan_s; /* of the operations up to it */
    uint64_t copy_bytes;
    size_t n_marked, n_kept; /* marks, and slots of links, before it */
};

/* A copy that is held on a device since an operation was put: bits of p->there. */
struct mark {
    size_t at;
    uint8_t bits;
};

struct fr__dpos_moves {
    struct fr__dpos *p;
    const struct fr__dag *dag;
    const struct fr__dpos_options *options;
    struct fr__arena *arena;
    uint32_t *position;      /* [n_ops] in the list */
    uint32_t *first_of;      /* [n_groups] the first operation of each group */
    uint32_t *next_of_group; /* [n_ops] the next one; FR_NONE: it is the last */
    struct put *puts;        /* [n_ops] by position */
    struct mark *marks;      /* [n_edges] */
    size_t n_put, n_marked;
};

/* ---- one operation ---- */

/* Finds when the inputs of op are on its device, and the copies that it must receive. */
static double find_inputs(struct fr__dpos *p, uint32_t op, uint64_t *copy_bytes)
{
    const struct fr__dag *dag = p->dag;
    uint32_t device = p->device[op];
    double ready_s = 0;

    *copy_bytes = 0;
    for (uint32_t k = dag->in_first[op]; k < dag->in_first[op + 1]; k++) {
        const struct fr__dag_edge *e = &dag->edges[dag->in_edges[k]];
        uint32_t from = p->device[e->src];

        if (e->stays && from != device &&
            !(p->there[e->src * p->m.n_devices + device] & fr__dpos_tensor_bit(e)))
            *copy_bytes += e->bytes;
        if (!p->links)
            ready_s = fmax(ready_s, p->end_s[e->src] + fr__dpos_move_s(&p->m, e, from, device));
    }
    if (!p->links)
        return ready_s;
    fr__dpos_follow_links(p, op, device);
    return p->ready_s[device];
}

/* Holds the copies that op receives. */
static void keep_copies(struct fr__dpos_moves *m, uint32_t op)
{
    struct fr__dpos *p = m->p;
    const struct fr__dag *dag = m->dag;

    for (uint32_t k = dag->in_first[op]; k < dag->in_first[op + 1]; k++) {
        const struct fr__dag_edge *e = &dag->edges[dag->in_edges[k]];
        size_t at = e->src * p->m.n_devices + p->device[op];

        if (!e->stays || (p->there[at] & fr__dpos_tensor_bit(e)))
            continue;
        p->there[at] |= fr__dpos_tensor_bit(e);
        m->marks[m->n_marked++] = (struct mark){at, fr__dpos_tensor_bit(e)};
    }
}

/* Puts the next operation of the list. */
static void put(struct fr__dpos_moves *m)
{
    struct fr__dpos *p = m->p;
    const struct fr__dag *dag = m->dag;
    uint32_t op = p->priority[m->n_put], device = p->device[op];
    double dt_s = dag->cost_s[dag->ops[op].cost * dag->n_types + p->m.type[device]];
    struct put *note = &m->puts[m->n_put];

    *note = (struct put){.n_marked = m->n_marked,
                         .n_kept = p->links ? fr__link_times_n_kept(p->links) : 0};
    p->ready_s[device] = find_inputs(p, op, &note->copy_bytes);
    p->start_s[op] = fr__dpos_start_on(p, m->options, device, dt_s);
    p->end_s[op] = p->start_s[op] + dt_s;
    if (p->links)
        fr__dpos_take_links(p, op);
    p->used_bytes[device] += note->copy_bytes;
    if (note->copy_bytes)
        keep_copies(m, op);
    fr__slots_add(p->slots, device, p->start_s[op], p->end_s[op]);
    note->makespan_s = fmax(m->n_put ? note[-1].makespan_s : 0, p->end_s[op]);
    m->n_put++;
}

static void forget_links(struct fr__dpos *p, uint32_t op)
{
    const struct fr__dag *dag = p->dag;

    for (uint32_t k = dag->in_first[op]; k < dag->in_first[op + 1]; k++) {
        uint32_t edge = dag->in_edges[k];

        if (isnan(p->there_s[edge]))
            continue;
        p->there_s[edge] = p->between_s[edge] = NAN;
        p->n_sent[dag->edges[edge].src]--;
    }
}

/* Takes operations back until n are put, or puts those up to n. */
static void go_to(struct fr__dpos_moves *m, size_t n)
{
    struct fr__dpos *p = m->p;

    while (m->n_put < n)
        put(m);
    while (m->n_put > n) {
        const struct put *note = &m->puts[--m->n_put];
        uint32_t op = p->priority[m->n_put];

        p->used_bytes[p->device[op]] -= note->copy_bytes;
        for (; m->n_marked > note->n_marked; m->n_marked--)
            p->there[m->marks[m->n_marked - 1].at] &= (uint8_t)~m->marks[m->n_marked - 1].bits;
        fr__slots_undo(p->slots, m->n_put);
        if (!p->links)
            continue;
        fr__link_times_undo(p->links, note->n_kept);
        forget_links(p, op);
    }
}

/* ---- moves ---- */

/* Puts op and its group on another device. Nothing from the first of them on may be put. */
static void assign(struct fr__dpos_moves *m, uint32_t op, uint32_t device)
{
    struct fr__dpos *p = m->p;
    uint32_t g = m->dag->ops[op].group;
    uint64_t bytes = g == FR_NONE ? fr__dpos_op_bytes(&m->dag->ops[op]) : p->group_bytes[g];

    p->used_bytes[g == FR_NONE ? p->device[op] : p->group_device[g]] -= bytes;
    p->used_bytes[device] += bytes;
    p->device[op] = device;
    if (g == FR_NONE)
        return;
    p->group_device[g] = device;
    for (uint32_t i = m->first_of[g]; i != FR_NONE; i = m->next_of_group[i])
        p->device[i] = device;
}

/* The place in the list of the first operation that moves with op. */
static size_t first_moved(const struct fr__dpos_moves *m, uint32_t op)
{
    uint32_t g = m->dag->ops[op].group;
    size_t first = m->position[op];

    if (g == FR_NONE)
        return first;
    for (uint32_t i = m->first_of[g]; i != FR_NONE; i = m->next_of_group[i])
        if (m->position[i] < first)
            first = m->position[i];
    return first;
}

static bool has_room(const struct fr__dpos *p)
{
    for (size_t d = 0; d < p->m.n_devices; d++)
        if (p->used_bytes[d] > p->m.room_bytes[d])
            return false;
    return true;
}

/* Plans the rest. false: a device has no room for it, or it takes longer than stop_s. What is put
 * is within the room of its devices if they have room behind it, since nothing is freed. */
static bool put_rest(struct fr__dpos_moves *m, double stop_s)
{
    struct fr__dpos *p = m->p;

    if (!has_room(p))
        return false;
    while (m->n_put < m->dag->n_ops) {
        uint32_t op = p->priority[m->n_put];

        put(m);
        if (p->used_bytes[p->device[op]] > p->m.room_bytes[p->device[op]] ||
            p->end_s[op] + p->tail_s[op] >= stop_s)
            return false;
    }
    return true;
}

enum fr_status fr__dpos_moves_try(struct fr__dpos_moves *m, uint32_t op, uint32_t device,
                                  double *makespan_s, bool *is_better, struct fr_error *err)
{
    struct fr__dpos *p = m->p;
    size_t n = m->dag->n_ops, first = first_moved(m, op);
    uint32_t was = p->device[op];
    double best_s = *makespan_s;

    if (fr__is_cancelled(p->m.ctx))
        return fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
    go_to(m, first);
    assign(m, op, device);
    *is_better = put_rest(m, fr__dpos_stop_above(best_s, n)) && m->puts[n - 1].makespan_s < best_s;
    if (p->links && fr__link_times_failed(p->links))
        return fr__fail_nomem(err);
    if (*is_better) {
        *makespan_s = m->puts[n - 1].makespan_s;
        return FR_OK;
    }
    go_to(m, first);
    assign(m, op, was);
    return FR_OK;
}

const uint32_t *fr__dpos_moves_device(const struct fr__dpos_moves *m)
{
    return m->p->device;
}

/* ---- life ---- */

static bool make_room(struct fr__dpos_moves *m)
{
    const struct fr__dag *dag = m->dag;
    struct fr__arena *a = m->arena;

    m->position = fr__arena_alloc(a, dag->n_ops + 1, sizeof(*m->position));
    m->first_of = fr__arena_nones(a, dag->n_groups + 1);
    m->next_of_group = fr__arena_nones(a, dag->n_ops + 1);
    m->puts = fr__arena_alloc(a, dag->n_ops + 1, sizeof(*m->puts));
    m->marks = fr__arena_alloc(a, dag->n_edges + 1, sizeof(*m->marks));
    return m->position && m->first_of && m->next_of_group && m->puts && m->marks;
}

static void index_ops(struct fr__dpos_moves *m)
{
    const struct fr__dag *dag = m->dag;

    for (uint32_t k = 0; k < dag->n_ops; k++)
        m->position[m->p->priority[k]] = k;
    for (uint32_t i = (uint32_t)dag->n_ops; i-- > 0;) {
        uint32_t g = dag->ops[i].group;

        if (g == FR_NONE)
            continue;
        m->next_of_group[i] = m->first_of[g];
        m->first_of[g] = i;
    }
}

enum fr_status fr__dpos_moves_new(struct fr__dpos_moves **out, struct fr__dpos *p,
                                  const struct fr__dag *dag, const struct fr__dpos_options *options,
                                  struct fr_error *err)
{
    struct fr__arena *arena = fr__arena_new();
    struct fr__dpos_moves *m = arena ? fr__arena_alloc(arena, 1, sizeof(*m)) : NULL;

    if (m)
        *m = (struct fr__dpos_moves){.p = p, .dag = dag, .options = options, .arena = arena};
    if (!m || !make_room(m) || !fr__dpos_begin_placed(p, dag, options)) {
        fr__arena_free(arena);
        return fr__fail_nomem(err);
    }
    index_ops(m);
    *out = m;
    return FR_OK;
}

void fr__dpos_moves_free(struct fr__dpos_moves *m)
{
    if (m)
        fr__arena_free(m->arena);
}
