/* lowering/dag/dag.c - makes the dag of a training step from the workload's graph, for one
 * model or for replicas that share their parameters. */
#include "config.h"

#include "lowering/dag/dag.h"

#include "base/bytes.h"
#include "base/error.h"
#include "lowering/dag/dims.h"
#include "lowering/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The pieces of a variable, their sums and updates have consecutive indices, from the one that is
 * noted on. */
struct making {
    struct fr__dag *dag;
    struct fr__placer *pl;
    const struct fr_graph *g;
    uint32_t *variable_of; /* [n_ops of the graph] operation that holds the parameters of this
                            * owner; FR_NONE */
    uint32_t
        *index_of;    /* [n_replicas][n_ops] of body operations; the first row also of the tail's */
    uint32_t *sum_of; /* [n_tensors] the sum of a gradient over replicas; FR_NONE */
    const struct fr__dag_how *how;
    uint32_t *n_pieces, *first_group; /* [owners] */
    uint32_t *machine_sum_of;         /* [n_tensors] the first of a gradient's sums by machine */
    uint32_t *n_on, *first_on;        /* [n_machines] replicas; the first of them */
    uint32_t *number_of;              /* [n_machines] among those with several replicas; FR_NONE */
    size_t n_sums;                    /* machines with several replicas */
    bool *is_held; /* [n_tensors] is held until the backward pass reads it, or longer */
    size_t cap_edges;
};

static bool is_tail(const struct making *m, uint32_t op)
{
    return fr__dag_is_tail(m->dag, op);
}

/* The operation whose parameters a graph op works with: its forward op's own, or those it is
 * tied to. */
static uint32_t owner_of(const struct making *m, uint32_t op)
{
    const struct fr_graph *g = m->g;
    uint32_t forward = g->ops[op].forward == FR_NONE ? op : g->ops[op].forward;

    if (m->pl->params.owner_of[forward] != FR_NONE)
        return forward;
    for (uint32_t i = g->in_first[forward]; i < g->in_first[forward + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->tensor == FR_NONE && e->bytes > 0 && m->pl->params.owner_of[e->src] != FR_NONE)
            return e->src;
    }
    return FR_NONE;
}

/* The pieces of the variable that a graph op works with. */
static uint32_t pieces_of(const struct making *m, uint32_t op)
{
    uint32_t owner = owner_of(m, op);

    return owner == FR_NONE ? 1 : m->n_pieces[m->pl->params.owner_of[owner]];
}

static uint64_t piece_of(uint64_t bytes, uint32_t n, uint32_t k)
{
    return bytes / n + (k < bytes % n);
}

static void find_pieces(struct making *m)
{
    const struct fr__params *p = &m->pl->params;
    uint32_t n_groups = 0;

    for (uint32_t w = 0; w < p->n_owners; w++) {
        uint64_t most = m->how->n_pieces;

        if (m->how->least_piece_bytes > 0 && p->owners[w].bytes / m->how->least_piece_bytes < most)
            most = p->owners[w].bytes / m->how->least_piece_bytes;
        m->n_pieces[w] = m->dag->n_replicas > 1 && most > 1 ? (uint32_t)most : 1;
        m->first_group[w] = n_groups;
        n_groups += m->n_pieces[w];
    }
    m->dag->n_groups = n_groups + (m->how->keeps_together ? m->dag->n_replicas : 0);
}

/* The group of piece k of the variable of an owner op. */
static uint32_t group_of(const struct making *m, uint32_t owner, uint32_t k)
{
    return owner == FR_NONE ? FR_NONE : m->first_group[m->pl->params.owner_of[owner]] + k;
}

static uint64_t bytes_at(const struct making *m, const struct fr_tensor *t)
{
    return fr__tensor_bytes(m->pl, (uint32_t)(t - m->g->tensors), t->bytes, m->dag->replica_batch);
}

/* Finds tensors that are held: those whose storage the backward pass reads, and gradients of
 * parameters. A tensor comes after the one whose storage it shares, so going backwards finds all
 * that share it. */
static void find_held(struct making *m)
{
    const struct fr__params *p = &m->pl->params;

    for (size_t i = 0; i < m->g->n_edges; i++) {
        const struct fr_edge *e = &m->g->edges[i];

        if (e->tensor != FR_NONE)
            m->is_held[e->tensor] |=
                p->is_gradient[e->tensor] ||
                (p->roles[e->src] == FR__ROLE_FORWARD && p->roles[e->dst] == FR__ROLE_BACKWARD);
    }
    for (size_t t = m->g->n_tensors; t-- > 0;)
        if (m->is_held[t] && m->g->tensors[t].alias != FR_NONE)
            m->is_held[m->g->tensors[t].alias] = true;
}

/* Bytes of an op's outputs: those that are held, or all of them. Outputs that share their input's
 * storage count 0. */
static uint64_t output_bytes(const struct making *m, const struct fr_op *o, bool held)
{
    uint64_t sum = 0;

    for (uint32_t t = o->first_tensor; t < o->first_tensor + o->n_tensors; t++)
        if (m->g->tensors[t].alias == FR_NONE && m->is_held[t] == held)
            sum += bytes_at(m, &m->g->tensors[t]);
    return sum;
}

/* What an operation needs while it runs, in addition to what is held: its scratch, its inputs and
 * its outputs. */
static uint64_t transient_bytes(const struct making *m, uint32_t op)
{
    const struct fr_op *o = &m->g->ops[op];
    uint64_t sum =
        fr__add_bytes(fr__bytes_at(m->pl, o->workspace_bytes, o->scales, m->dag->replica_batch),
                      output_bytes(m, o, false));

    if (m->pl->params.roles[op] == FR__ROLE_UPDATE && !m->pl->keeping)
        sum = fr__add_bytes(sum, fr__update_workspace_bytes(m->pl->in, o->param_bytes));
    for (uint32_t i = m->g->in_first[op]; i < m->g->in_first[op + 1]; i++) {
        const struct fr_edge *e = &m->g->edges[m->g->in_edges[i]];

        if (e->tensor != FR_NONE && !m->is_held[e->tensor])
            sum = fr__add_bytes(sum, bytes_at(m, &m->g->tensors[e->tensor]));
    }
    return sum;
}

/* How an op may be split; an op that takes no time is not split. */
static uint8_t split_mask(const struct making *m, uint32_t op)
{
    const double *cost_s = m->dag->cost_s + (1 + op) * m->dag->n_types;
    double most_s = 0;

    for (size_t t = 0; t < m->dag->n_types; t++)
        most_s = fmax(most_s, cost_s[t]);
    return most_s > 0 ? fr__dag_dims(m->g, op) : 0;
}

static uint32_t add_op(struct making *m, uint8_t role, uint32_t op, uint32_t replica, uint32_t cost)
{
    const struct fr_op *o = &m->g->ops[op];
    uint32_t id = (uint32_t)m->dag->n_ops++;

    m->dag->ops[id] = (struct fr__dag_op){.op = op,
                                          .cost = cost,
                                          .group = FR_NONE,
                                          .replica = replica,
                                          .n_parts = 1,
                                          .role = role,
                                          .kind = (uint8_t)o->kind,
                                          .phase = (uint8_t)o->phase};
    return id;
}

/* Whether a reader on another device holds its copy for long. Parameters stay for the whole step,
 * gradients until all are there; of activations those stay that are made by a forward op and read
 * by a backward op. */
static bool stays(const struct making *m, uint32_t src, uint32_t dst, enum fr__dag_cargo cargo)
{
    const enum fr__role *roles = m->pl->params.roles;

    if (cargo == FR__DAG_ACTIVATION || cargo == FR__DAG_SHARED)
        return roles[m->dag->ops[src].op] == FR__ROLE_FORWARD &&
               roles[m->dag->ops[dst].op] == FR__ROLE_BACKWARD;
    return cargo != FR__DAG_ORDER;
}

static void set_piece(struct making *m, uint32_t id, uint32_t group, uint32_t k, uint32_t n)
{
    m->dag->ops[id].group = group;
    m->dag->ops[id].part = (uint16_t)k;
    m->dag->ops[id].n_parts = (uint16_t)n;
}

static enum fr_status add_edge(struct making *m, uint32_t src, uint32_t dst, uint32_t tensor,
                               uint64_t bytes, enum fr__dag_cargo cargo, struct fr_error *err)
{
    if (!fr__grow(&m->dag->edges, &m->cap_edges, m->dag->n_edges + 1, sizeof(*m->dag->edges)))
        return fr__fail_nomem(err);
    m->dag->edges[m->dag->n_edges++] = (struct fr__dag_edge){.src = src,
                                                             .dst = dst,
                                                             .tensor = tensor,
                                                             .bytes = bytes,
                                                             .cargo = (uint8_t)cargo,
                                                             .stays = stays(m, src, dst, cargo)};
    return FR_OK;
}

static enum fr_status add_piece(struct making *m, uint32_t src, uint32_t dst, uint32_t tensor,
                                uint64_t bytes, enum fr__dag_cargo cargo, uint32_t piece,
                                struct fr_error *err)
{
    FR_TRY(add_edge(m, src, dst, tensor, bytes, cargo, err));
    m->dag->edges[m->dag->n_edges - 1].piece = (uint16_t)piece;
    return FR_OK;
}

static void add_variables(struct making *m)
{
    const struct fr__params *p = &m->pl->params;

    for (uint32_t w = 0; w < p->n_owners; w++)
        for (uint32_t k = 0; k < m->n_pieces[w]; k++) {
            uint32_t op = p->owners[w].op, id = add_op(m, FR__DAG_VARIABLE, op, FR_NONE, 0);
            uint64_t bytes = piece_of(p->owners[w].bytes, m->n_pieces[w], k);

            m->dag->ops[id].resident_bytes = fr__variable_bytes(m->pl, &p->owners[w], bytes);
            set_piece(m, id, group_of(m, op, k), k, m->n_pieces[w]);
            if (k == 0)
                m->variable_of[op] = id;
        }
}

/* The group of a body op. In the dag of one model a variable is on the device of the ops that read
 * it and make its gradient. Replicas that share it may be anywhere. */
static uint32_t body_group(const struct making *m, uint32_t op, uint32_t replica)
{
    if (m->how->keeps_together)
        return (uint32_t)(m->dag->n_groups - m->dag->n_replicas) + replica;
    return m->dag->n_replicas == 1 ? group_of(m, owner_of(m, op), 0) : FR_NONE;
}

static void add_bodies(struct making *m)
{
    for (uint32_t r = 0; r < m->dag->n_replicas; r++)
        for (uint32_t o = 0; o < m->g->n_ops; o++) {
            uint32_t id;

            if (is_tail(m, o))
                continue;
            id = add_op(m, FR__DAG_OP, o, m->dag->n_replicas > 1 ? r : FR_NONE, 1 + o);
            m->dag->ops[id].output_bytes = output_bytes(m, &m->g->ops[o], true);
            m->dag->ops[id].split_mask = split_mask(m, o);
            m->dag->ops[id].has_channels_apart = fr__dag_channels_apart(m->g, o);
            m->dag->ops[id].group = body_group(m, o, r);
            m->index_of[r * m->g->n_ops + o] = id;
        }
}

/* Counts the replicas of each machine. Those that are alone on theirs have no sum there. */
static void find_machines(struct making *m)
{
    const struct fr__dag_how *how = m->how;

    for (size_t r = m->dag->n_replicas; r-- > 0 && how->machine_of;) {
        m->n_on[how->machine_of[r]]++;
        m->first_on[how->machine_of[r]] = (uint32_t)r;
    }
    for (size_t k = 0; k < how->n_machines; k++)
        m->number_of[k] = m->n_on[k] > 1 ? (uint32_t)m->n_sums++ : FR_NONE;
}

/* A row of costs for a sum of n pieces of a gradient. */
static uint32_t add_sum_cost(struct making *m, uint64_t bytes, size_t n)
{
    struct fr__dag *d = m->dag;
    uint32_t row = (uint32_t)d->n_costs++;

    fr__dag_bytes_cost(d, (double)bytes * (double)(n + 1), &d->cost_s[row * d->n_types]);
    return row;
}

/* Adds the sums by machine of a gradient, piece by piece: [pieces][m->n_sums]. */
static void add_machine_sums(struct making *m, const struct fr_edge *e)
{
    uint32_t n = pieces_of(m, e->dst), row = (uint32_t)m->dag->n_costs;

    m->machine_sum_of[e->tensor] = (uint32_t)m->dag->n_ops;
    for (size_t k = 0; k < m->how->n_machines; k++)
        if (m->number_of[k] != FR_NONE)
            add_sum_cost(m, piece_of(e->bytes, n, 0), m->n_on[k]);
    for (uint32_t k = 0; k < n; k++)
        for (size_t i = 0; i < m->how->n_machines; i++) {
            uint32_t id, number = m->number_of[i];

            if (number == FR_NONE)
                continue;
            id = add_op(m, FR__DAG_SUM, e->src, m->first_on[i], row + number);
            m->dag->ops[id].output_bytes = piece_of(e->bytes, n, k);
            set_piece(m, id, FR_NONE, k, n);
        }
}

/* Adds a sum over replicas, or over machines, for each gradient that the tail reads, or for each
 * piece. It reads all of them and writes one. */
static void add_sum(struct making *m, const struct fr_edge *e, uint32_t owner)
{
    struct fr__dag *d = m->dag;
    size_t n_read = m->n_sums > 0 ? m->how->n_machines : d->n_replicas;
    uint32_t n = pieces_of(m, e->dst), row;

    if (m->n_sums > 0)
        add_machine_sums(m, e);
    row = add_sum_cost(m, piece_of(e->bytes, n, 0), n_read);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t id = add_op(m, FR__DAG_SUM, e->src, FR_NONE, row);

        d->ops[id].output_bytes = piece_of(e->bytes, n, k);
        set_piece(m, id, group_of(m, owner, k), k, n);
        if (k == 0)
            m->sum_of[e->tensor] = id;
    }
}

static void add_tail_op(struct making *m, uint32_t o)
{
    struct fr__dag *d = m->dag;
    uint32_t owner = owner_of(m, o), n = pieces_of(m, o), row = 1 + o;

    if (n > 1) {
        row = (uint32_t)d->n_costs++;
        fr__dag_piece_cost(d, o, n, &d->cost_s[row * d->n_types]);
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t id = add_op(m, FR__DAG_OP, o, FR_NONE, row);

        d->ops[id].output_bytes = piece_of(output_bytes(m, &m->g->ops[o], true), n, k);
        set_piece(m, id, group_of(m, owner, k), k, n);
        if (k == 0)
            m->index_of[o] = id;
    }
}

static void add_tail(struct making *m)
{
    const struct fr_graph *g = m->g;

    for (size_t i = 0; i < g->n_edges && m->dag->n_replicas > 1; i++) {
        const struct fr_edge *e = &g->edges[i];

        if (e->tensor != FR_NONE && !is_tail(m, e->src) && is_tail(m, e->dst) &&
            m->sum_of[e->tensor] == FR_NONE)
            add_sum(m, e, owner_of(m, e->dst));
    }
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (is_tail(m, o))
            add_tail_op(m, o);
}

/* ---- edges ---- */

/* Bytes of a gradient as it is kept. If it is no tensor of the graph (imported profiles), it has
 * the size of the parameters. */
static uint64_t gradient_bytes(const struct making *m, const struct fr_edge *e)
{
    return fr__gradient_bytes(m->pl,
                              e->tensor == FR_NONE ? m->g->ops[e->dst].param_bytes : e->bytes);
}

/* The operation that adds piece k of what a replica made. */
static uint32_t sum_for(const struct making *m, const struct fr_edge *e, uint32_t sum, size_t r,
                        uint32_t k)
{
    uint32_t machine = m->how->machine_of ? m->how->machine_of[r] : FR_NONE;

    if (machine == FR_NONE || m->number_of[machine] == FR_NONE)
        return sum + k;
    return m->machine_sum_of[e->tensor] + k * (uint32_t)m->n_sums + m->number_of[machine];
}

static enum fr_status connect_to_tail(struct making *m, const struct fr_edge *e,
                                      struct fr_error *err)
{
    uint32_t sum = e->tensor == FR_NONE ? FR_NONE : m->sum_of[e->tensor];
    uint32_t tail = m->index_of[e->dst], n = pieces_of(m, e->dst);

    for (uint32_t k = 0; k < n; k++) {
        uint64_t bytes = piece_of(gradient_bytes(m, e), n, k);

        for (size_t r = 0; r < m->dag->n_replicas; r++)
            FR_TRY(add_piece(m, m->index_of[r * m->g->n_ops + e->src],
                             sum == FR_NONE ? tail + k : sum_for(m, e, sum, r, k), e->tensor, bytes,
                             FR__DAG_GRADIENT, k, err));
        for (uint32_t i = 0; sum != FR_NONE && i < m->n_sums; i++)
            FR_TRY(add_piece(m, m->machine_sum_of[e->tensor] + k * (uint32_t)m->n_sums + i, sum + k,
                             e->tensor, bytes, FR__DAG_GRADIENT, k, err));
        if (sum != FR_NONE)
            FR_TRY(add_edge(m, sum + k, tail + k, e->tensor, bytes, FR__DAG_GRADIENT, err));
    }
    return FR_OK;
}

/* Pieces of what one op of the tail makes are read by the same pieces of another. */
static enum fr_status connect_tail(struct making *m, const struct fr_edge *e, struct fr_error *err)
{
    uint32_t n = pieces_of(m, e->src), n_dst = pieces_of(m, e->dst);

    for (uint32_t k = 0; k < (n > n_dst ? n : n_dst); k++)
        FR_TRY(add_edge(m, m->index_of[e->src] + (k < n ? k : n - 1),
                        m->index_of[e->dst] + (k < n_dst ? k : n_dst - 1), e->tensor,
                        piece_of(fr__gradient_bytes(m->pl, e->bytes), n, k < n ? k : 0),
                        FR__DAG_GRADIENT, err));
    return FR_OK;
}

static enum fr_status connect_body(struct making *m, const struct fr_edge *e, struct fr_error *err)
{
    bool is_order = e->tensor == FR_NONE;
    bool scales = !is_order && m->g->tensors[e->tensor].scales;
    uint64_t bytes = is_order ? 0 : fr__bytes_at(m->pl, e->bytes, scales, m->dag->replica_batch);
    enum fr__dag_cargo cargo = is_order ? FR__DAG_ORDER
                               : scales ? FR__DAG_ACTIVATION
                                        : FR__DAG_SHARED;

    if (is_order && e->bytes > 0)
        return FR_OK; /* tied weights are read from the variable */
    for (size_t r = 0; r < m->dag->n_replicas; r++)
        FR_TRY(add_edge(m, m->index_of[r * m->g->n_ops + e->src],
                        m->index_of[r * m->g->n_ops + e->dst], e->tensor, bytes, cargo, err));
    return FR_OK;
}

static enum fr_status connect(struct making *m, const struct fr_edge *e, struct fr_error *err)
{
    if (is_tail(m, e->src))
        return connect_tail(m, e, err);
    return is_tail(m, e->dst) ? connect_to_tail(m, e, err) : connect_body(m, e, err);
}

/* Forward ops and data gradients read parameters. Updates read and write them on the parameters'
 * device. */
static enum fr_status connect_parameters(struct making *m, uint32_t op, struct fr_error *err)
{
    const struct fr_op *o = &m->g->ops[op];
    uint32_t owner = owner_of(m, op), n = pieces_of(m, op), variable;

    if (owner == FR_NONE || o->phase == FR_PHASE_BACKWARD_WEIGHT ||
        (o->phase == FR_PHASE_BACKWARD_DATA && o->param_bytes == 0))
        return FR_OK;
    variable = m->variable_of[owner];
    for (uint32_t k = 0; k < n; k++) {
        uint64_t bytes = piece_of(m->g->ops[owner].param_bytes, n, k);

        if (is_tail(m, op))
            FR_TRY(add_edge(m, variable + k, m->index_of[op] + k, FR_NONE, 0, FR__DAG_ORDER, err));
        for (size_t r = 0; r < m->dag->n_replicas && !is_tail(m, op); r++)
            FR_TRY(add_edge(m, variable + k, m->index_of[r * m->g->n_ops + op], FR_NONE, bytes,
                            FR__DAG_WEIGHT, err));
    }
    return FR_OK;
}

/* ---- the whole ---- */

static enum fr_status allocate(struct making *m, struct fr_error *err)
{
    struct fr__dag *d = m->dag;
    const struct fr_graph *g = m->g;
    size_t n_owners = m->pl->params.n_owners, most_pieces = 1, most_ops;

    m->n_pieces = fr__arena_alloc(d->arena, n_owners + 1, sizeof(*m->n_pieces));
    m->first_group = fr__arena_alloc(d->arena, n_owners + 1, sizeof(*m->first_group));
    if (!m->n_pieces || !m->first_group)
        return fr__fail_nomem(err);
    m->n_on = fr__arena_alloc(d->arena, m->how->n_machines + 1, sizeof(*m->n_on));
    m->first_on = fr__arena_alloc(d->arena, m->how->n_machines + 1, sizeof(*m->first_on));
    m->number_of = fr__arena_alloc(d->arena, m->how->n_machines + 1, sizeof(*m->number_of));
    m->machine_sum_of = fr__arena_alloc(d->arena, g->n_tensors + 1, sizeof(*m->machine_sum_of));
    if (!m->n_on || !m->first_on || !m->number_of || !m->machine_sum_of)
        return fr__fail_nomem(err);
    find_machines(m);
    find_pieces(m);
    for (size_t w = 0; w < n_owners; w++)
        if (m->n_pieces[w] > most_pieces)
            most_pieces = m->n_pieces[w];
    most_ops = g->n_ops * (d->n_replicas + most_pieces) + (n_owners + g->n_tensors) * most_pieces +
               g->n_tensors * most_pieces * m->n_sums;
    d->ops = fr__arena_alloc(d->arena, most_ops, sizeof(*d->ops));
    d->cost_s =
        fr__arena_alloc(d->arena, (1 + 2 * g->n_ops + g->n_tensors * (1 + m->n_sums)) * d->n_types,
                        sizeof(*d->cost_s));
    d->least_s = fr__arena_alloc(d->arena, (1 + g->n_ops) * d->n_types, sizeof(*d->least_s));
    m->variable_of = fr__arena_alloc(d->arena, g->n_ops, sizeof(*m->variable_of));
    m->index_of = fr__arena_alloc(d->arena, g->n_ops * d->n_replicas, sizeof(*m->index_of));
    m->sum_of = fr__arena_alloc(d->arena, g->n_tensors + 1, sizeof(*m->sum_of));
    m->is_held = fr__arena_alloc(d->arena, g->n_tensors + 1, sizeof(*m->is_held));
    if (!d->ops || !d->cost_s || !d->least_s || !m->variable_of || !m->index_of || !m->sum_of ||
        !m->is_held)
        return fr__fail_nomem(err);
    for (size_t t = 0; t < g->n_tensors; t++)
        m->sum_of[t] = FR_NONE;
    return FR_OK;
}

static enum fr_status make_all(struct making *m, struct fr_error *err)
{
    FR_TRY(allocate(m, err));
    fr__dag_price_ops(m->dag);
    find_held(m);
    for (uint32_t o = 0; o < m->g->n_ops; o++)
        if (transient_bytes(m, o) > m->dag->transient_bytes)
            m->dag->transient_bytes = transient_bytes(m, o);
    add_variables(m);
    add_bodies(m);
    add_tail(m);
    for (size_t i = 0; i < m->g->n_edges; i++) {
        FR_TRY(fr__check_cancelled(m->pl->ctx, err));
        FR_TRY(connect(m, &m->g->edges[i], err));
    }
    for (uint32_t o = 0; o < m->g->n_ops; o++) {
        FR_TRY(fr__check_cancelled(m->pl->ctx, err));
        FR_TRY(connect_parameters(m, o, err));
    }
    return fr__dag_index(m->dag, m->pl->ctx, err);
}

enum fr_status fr__dag_make_as(struct fr__dag **out, struct fr__placer *pl,
                               const struct fr__dag_how *how, struct fr_error *err)
{
    struct making m = {.pl = pl, .g = pl->graph, .how = how};
    enum fr_status st;

    if (how->n_replicas == 0 || pl->in->global_batch < how->n_replicas)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "%u samples are too few for %zu replicas of the model",
                        pl->in->global_batch, how->n_replicas);
    m.dag = calloc(1, sizeof(*m.dag));
    if (!m.dag)
        return fr__fail_nomem(err);
    m.dag->pl = pl;
    m.dag->n_replicas = how->n_replicas;
    m.dag->launches_ahead = how->launches_ahead;
    m.dag->lines_up = how->lines_up;
    m.dag->replica_batch = (double)pl->in->global_batch / (double)how->n_replicas;
    m.dag->n_types = pl->in->topo->n_types;
    m.dag->arena = fr__arena_new();
    st = m.dag->arena ? make_all(&m, err) : fr__fail_nomem(err);
    if (st == FR_OK)
        *out = m.dag;
    else
        fr__dag_free(m.dag);
    return st;
}

enum fr_status fr__dag_make(struct fr__dag **out, struct fr__placer *pl, size_t n_replicas,
                            struct fr_error *err)
{
    return fr__dag_make_as(out, pl, &(struct fr__dag_how){.n_replicas = n_replicas}, err);
}

void fr__dag_free(struct fr__dag *dag)
{
    if (!dag)
        return;
    free(dag->edges);
    fr__arena_free(dag->arena);
    free(dag);
}
