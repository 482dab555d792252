/* lowering/replica/replica.c - one replica's life, its persistent memory and its ops, micro-batch
 * after micro-batch. Where tensors come from and go to is in tensors.c, what follows the
 * backward pass in tail.c.
 */
#include "config.h"

#include "lowering/replica/parts.h"

#include "base/error.h"
#include "lowering/replica/group_ops.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- life ---- */

enum fr_status fr__share_equally(struct fr__share *out, uint32_t samples, uint64_t n_micros,
                                 struct fr_error *err)
{
    if (n_micros == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "accumulate=0 runs no micro-batch, expected at least 1");
    if (samples % n_micros)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "accumulate=%" PRIu64 " does not divide the %u sample%s of a replica",
                        n_micros, samples, samples == 1 ? "" : "s");
    out->n_micros = (uint32_t)n_micros;
    out->batch = out->last_batch = samples / (uint32_t)n_micros;
    return FR_OK;
}

/* Its arrays; nothing when it has them. false: out of memory. */
static bool micro_ready(struct fr__replica *r, struct fr__micro *m)
{
    const struct fr_graph *g = r->pl->graph;

    if (m->end_of)
        return true;
    m->task_of = fr__arena_nones(r->arena, g->n_ops);
    m->priority_of = fr__arena_alloc(r->arena, g->n_ops, sizeof(*m->priority_of));
    m->buffer_of = fr__arena_nones(r->arena, g->n_tensors);
    m->copies = fr__arena_nones(r->arena, g->n_tensors);
    m->is_followed = fr__arena_alloc(r->arena, g->n_ops, sizeof(*m->is_followed));
    m->end_of = fr__arena_nones(r->arena, g->n_ops);
    return m->task_of && m->priority_of && m->buffer_of && m->copies && m->is_followed && m->end_of;
}

enum fr_status fr__replica_init(struct fr__replica *r, struct fr__placer *pl,
                                const uint32_t device_of[], const struct fr__share *share,
                                struct fr_error *err)
{
    size_t n_micros = share->n_micros;

    *r = (struct fr__replica){.pl = pl,
                              .device_of = device_of,
                              .block_after = FR_NONE,
                              .last_gather = FR_NONE,
                              .n_micros = n_micros};
    if ((uint64_t)n_micros * pl->graph->n_ops >= INT32_MAX / 4) /* priorities count tasks */
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "%zu micro-batches of %zu ops are too many tasks for one plan", n_micros,
                        pl->graph->n_ops);
    FR_TRY(fr__placer_expect(pl, n_micros, err));
    r->arena = fr__arena_new();
    if (!r->arena)
        return fr__fail_nomem(err);
    r->micros = fr__arena_alloc(r->arena, n_micros, sizeof(*r->micros));
    r->first_task = fr__arena_nones(r->arena, pl->graph->n_ops);
    r->gradient_of = fr__arena_nones(r->arena, pl->graph->n_tensors);
    r->done_of = fr__arena_nones(r->arena, pl->in->topo->n_devices);
    r->step_of = fr__arena_nones(r->arena, pl->in->topo->n_devices);
    r->passes_of = fr__arena_nones(r->arena, pl->in->topo->n_devices);
    r->last_before = fr__arena_nones(r->arena, pl->in->topo->n_devices);
    r->tail = (struct fr__micro){.index = FR_NONE, .batch = pl->graph->batch};
    if (!r->micros || !r->first_task || !r->gradient_of || !r->done_of || !r->step_of ||
        !r->passes_of || !r->last_before || !micro_ready(r, &r->tail) ||
        !micro_ready(r, &r->micros[0]))
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n_micros; i++) {
        r->micros[i].index = n_micros == 1 ? FR_NONE : (uint32_t)i;
        r->micros[i].batch = i + 1 < n_micros ? share->batch : share->last_batch;
    }
    return FR_OK;
}

void fr__replica_count_from(struct fr__replica *r, uint32_t first, uint32_t n_all)
{
    for (size_t i = 0; i < r->n_micros; i++)
        r->micros[i].index = n_all == 1 ? FR_NONE : first + (uint32_t)i;
}

void fr__replica_fini(struct fr__replica *r)
{
    fr__arena_free(r->arena);
    free(r->copies);
}

enum fr_status fr__replica_status(const struct fr__replica *r, struct fr_error *err)
{
    return r->is_out_of_memory ? fr__fail_nomem(err) : FR_OK;
}

/* ---- persistent memory ---- */

/* An edge between forward ops with bytes but no tensor: dst uses the parameters of src. */
static bool is_tied(const struct fr__replica *r, const struct fr_edge *e)
{
    const struct fr__params *p = &r->pl->params;

    return e->tensor == FR_NONE && e->bytes > 0 && p->roles[e->src] == FR__ROLE_FORWARD &&
           p->roles[e->dst] == FR__ROLE_FORWARD;
}

/* Whether edge i is the first that needs a copy of its tail's parameters on its head's device. */
bool fr__needs_tied_copy(const struct fr__replica *r, uint32_t i)
{
    const struct fr_graph *g = r->pl->graph;
    uint32_t src = g->edges[i].src, device = r->device_of[g->edges[i].dst];

    if (!is_tied(r, &g->edges[i]) || device == r->device_of[src])
        return false;
    for (uint32_t k = g->out_first[src]; k < i; k++)
        if (is_tied(r, &g->edges[k]) && r->device_of[g->edges[k].dst] == device)
            return false;
    return true;
}

void fr__place_persistent(struct fr__replica *r, bool with_optimizer)
{
    struct fr__placer *pl = r->pl;
    const struct fr_graph *g = pl->graph;

    for (uint32_t o = 0; o < g->n_ops; o++)
        fr__use_device(pl, r->device_of[o]);
    for (size_t i = 0; i < pl->params.n_owners; i++) {
        const struct fr__owner *w = &pl->params.owners[i];
        uint32_t device = r->device_of[w->op];

        if (!fr__is_mine(r, w->op))
            continue;
        fr__add_kept(pl, device, w, with_optimizer);
        for (uint32_t e = g->out_first[w->op]; e < g->out_first[w->op + 1]; e++)
            if (fr__needs_tied_copy(r, e))
                fr__add_buffer(pl, FR_BUFFER_PARAMETER, r->device_of[g->edges[e].dst],
                               fr__weight_bytes(pl, w->op, w->bytes), FR_NONE, w->op);
    }
}

/* ---- ops ---- */

void fr__place_op(struct fr__replica *r, struct fr__micro *m, uint32_t op, uint32_t block_first,
                  uint32_t after)
{
    struct fr__placer *pl = r->pl;
    uint32_t device = r->device_of[op], task;
    struct fr__cost_rows *rows =
        r->is_out_of_memory ? NULL
                            : fr__cost_rows(pl, pl->in->topo->devices[device].type, m->batch);

    if (!rows) {
        r->is_out_of_memory = true;
        return;
    }
    fr__bring_inputs(r, m, op);
    m->priority_of[op] = pl->next_priority;
    if (fr__is_group_op(pl->group_ops, op))
        task = fr__add_group_op(pl->group_ops, pl, op, device, r->number, (uint32_t)(m - r->micros),
                                m->index);
    else
        task = fr__add_compute(pl, device, fr__op_cost(pl, rows, op), op, pl->graph->ops[op].phase,
                               m->index);
    m->task_of[op] = task;
    if (r->first_task[op] == FR_NONE)
        r->first_task[op] = task;
    if (!fr__read_inputs(r, m, op, task, block_first) && after != FR_NONE)
        fr_plan_add_dep(pl->plan, after, task);
    fr__write_outputs(r, m, op, task);
}

void fr__place_ops(struct fr__replica *r, size_t micro, const uint32_t ops[], size_t n,
                   uint32_t after)
{
    uint32_t block_first = r->pl->n_tasks;

    if (!micro_ready(r, &r->micros[micro])) {
        r->is_out_of_memory = true;
        return;
    }
    r->block_after = after;
    r->last_gather = FR_NONE;
    for (size_t i = 0; i < n; i++)
        fr__place_op(r, &r->micros[micro], ops[i], block_first, after);
}

/* Whether anything that the ops make goes on, other than to updates: not that of a pass which makes
 * gradients of weights alone. */
static bool has_results(const struct fr__replica *r, const uint32_t ops[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (r->pl->graph->ops[ops[i]].phase != FR_PHASE_BACKWARD_WEIGHT)
            return true;
    return false;
}

uint32_t fr__place_join(struct fr__replica *r, size_t micro, const uint32_t ops[], size_t n,
                        uint32_t device)
{
    struct fr__micro *m = &r->micros[micro];
    bool is_backward = n > 0 && r->pl->params.roles[ops[0]] == FR__ROLE_BACKWARD;
    uint32_t marker = fr__add_marker(
        r->pl, device, is_backward ? FR_PHASE_BACKWARD_DATA : FR_PHASE_FORWARD, m->index);

    if (r->is_out_of_memory)
        return marker;
    for (size_t i = 0; i < n; i++)
        if (!m->is_followed[ops[i]])
            fr_plan_add_dep(r->pl->plan, m->task_of[ops[i]], marker);
    if (!has_results(r, ops, n))
        return marker;
    for (size_t i = 0; i < n; i++)
        m->end_of[ops[i]] = marker;
    return marker;
}

/* A sum of parameter gradients that reads what op makes, not placed yet, all of whose inputs are
 * there; FR_NONE. */
static uint32_t ready_sum(const struct fr__replica *r, uint32_t op)
{
    const struct fr_graph *g = r->pl->graph;
    const enum fr__role *roles = r->pl->params.roles;
    const struct fr__micro *last = &r->micros[r->n_micros - 1];

    for (uint32_t i = g->out_first[op]; i < g->out_first[op + 1]; i++) {
        uint32_t sum = g->edges[i].dst;
        bool is_ready = roles[sum] == FR__ROLE_SUM && r->tail.task_of[sum] == FR_NONE;

        for (uint32_t k = g->in_first[sum]; is_ready && k < g->in_first[sum + 1]; k++) {
            uint32_t src = g->edges[g->in_edges[k]].src;

            is_ready = last->task_of[src] != FR_NONE || r->tail.task_of[src] != FR_NONE;
        }
        if (is_ready)
            return sum;
    }
    return FR_NONE;
}

/* ---- the body, micro-batch after micro-batch ---- */

/* A marker on each device after what nothing there follows. */
static void mark_end(struct fr__replica *r, const struct fr__micro *m)
{
    for (uint32_t o = 0; o < r->pl->graph->n_ops; o++) {
        uint32_t *done = &r->done_of[r->device_of[o]];

        if (!fr__is_body_op(r, o) || m->is_followed[o] || m->task_of[o] == FR_NONE)
            continue;
        if (*done == FR_NONE)
            *done = fr__add_marker(r->pl, r->device_of[o], FR_PHASE_BACKWARD_DATA, m->index);
        fr_plan_add_dep(r->pl->plan, m->task_of[o], *done);
    }
}

/* Gradients of all micro-batches but the first are added to what is there. */
static void add_up(struct fr__replica *r, const struct fr__micro *m, size_t micro)
{
    if (micro == 0 || r->passes.adds == 0)
        return;
    for (uint32_t o = 0; o < r->pl->graph->n_ops; o++) {
        uint32_t device = r->device_of[o], *done = &r->done_of[device];

        if (fr__is_body_op(r, o)) { /* micro-batches in turn are on one device */
            *done = fr__place_adds(r, m, micro, device, *done);
            return;
        }
    }
}

static void place_micro(struct fr__replica *r, size_t micro, uint32_t after)
{
    struct fr__micro *m = &r->micros[micro];
    uint32_t block_first = r->pl->n_tasks;
    bool is_last = micro + 1 == r->n_micros;

    if (!micro_ready(r, m)) {
        r->is_out_of_memory = true;
        return;
    }
    for (uint32_t o = 0; o < r->pl->graph->n_ops; o++) {
        if (!fr__is_body_op(r, o))
            continue;
        fr__place_op(r, m, o, block_first, after);
        for (uint32_t s = o; is_last && !r->is_out_of_memory && (s = ready_sum(r, s)) != FR_NONE;)
            fr__place_op(r, &r->tail, s, r->pl->n_tasks, FR_NONE);
    }
    mark_end(r, m);
    add_up(r, m, micro);
}

/* Places a micro-batch on the replica's only device, once that before is done, and returns its
 * marker, the last of its tasks. */
static uint32_t place_next(struct fr__replica *r, size_t micro, uint32_t after)
{
    uint32_t *done = &r->done_of[r->device_of[0]], marker;

    place_micro(r, micro, after);
    marker = *done;
    *done = FR_NONE;
    return marker;
}

static struct fr__pattern *learn_next(struct fr__replica *r, size_t micro, uint32_t *after)
{
    const struct fr__begin nothing = {0};
    struct fr__pattern_source s = {.from = fr__placer_mark(r->pl), .after = *after};
    struct fr__pattern *k;

    *after = place_next(r, micro, *after);
    s.to = fr__placer_mark(r->pl);
    s.row = s.size = &nothing; /* it refers to no other micro-batch */
    k = r->is_out_of_memory ? NULL : fr__pattern_new(r->pl->plan, &s);
    r->is_out_of_memory |= !k;
    return k;
}

/* All micro-batches but the last; the marker at their end. The first comes after nothing, so that
 * the second is the pattern of the others. */
static uint32_t place_but_last(struct fr__replica *r)
{
    struct fr__pattern *k = NULL;
    uint32_t after = place_next(r, 0, FR_NONE);

    if (r->n_micros > 2)
        k = learn_next(r, 1, &after);
    for (size_t m = 2; k && m + 1 < r->n_micros; m++) {
        fr__placer_repeat(
            r->pl, k,
            &(struct fr__pattern_place){.after = after,
                                        .microbatch = (uint32_t)m,
                                        .device = FR_NONE,
                                        .rank = FR_NONE,
                                        .collective_by = (uint32_t)(m - 1) *
                                                         fr__group_ops_stride(r->pl->group_ops)});
        after = r->pl->n_tasks - 1;
    }
    fr__pattern_free(k);
    return after;
}

void fr__place_body(struct fr__replica *r)
{
    r->is_in_turn = true;
    place_micro(r, r->n_micros - 1, r->n_micros > 1 ? place_but_last(r) : FR_NONE);
}
