/* workloads/passes/gather_emit.c - the graph with its gathers and reduce-scatters; the rules are
 * in gather.h. */
#include "config.h"

#include "workloads/passes/gather_parts.h"

#include "base/bytes.h"
#include "base/error.h"
#include "workloads/graph/shape.h"

#include <stdio.h>
#include <string.h>

/* ---- messages ---- */

static const char *const set_names[FR__N_GATHER_SETS] = {
    [FR__GATHER_EXPERTS] = "_experts", [FR__GATHER_DENSE] = ""};

/* near: the op of the given graph beside which it stands, and whose layer it is in. bytes: of its
 * output; message_bytes: as a collective counts them. */
struct message {
    const char *what;
    enum fr_op_kind kind;
    enum fr_phase phase;
    uint32_t near, set, owner, forward;
    uint32_t number; /* of several in a layer; FR_NONE: there is one */
    double bytes, message_bytes;
};

static uint32_t axis_of(const struct message *m)
{
    if (m->kind == FR_OP_ALL_REDUCE)
        return FR__AXIS_COPIES;
    return m->set == FR__GATHER_EXPERTS ? FR__AXIS_EXPERT_REPLICAS : FR__AXIS_REPLICAS;
}

static enum fr_status add_message(struct fr__gathering *x, const struct message *m,
                                  struct fr__gather_message *out, struct fr_error *err)
{
    const struct fr_graph *g = x->g;
    const char *layer = g->layer_names[g->ops[m->near].layer];
    struct fr_tensor output = {.bytes = fr__to_bytes(m->bytes), .alias = FR_NONE};
    /* a layer has several modules */
    const char *prefix = x->in->are_modules ? g->ops[m->owner].name : layer;
    struct fr__mark mark = fr__arena_mark(x->scratch);
    size_t len = strlen(prefix) + strlen(m->what) + 28;
    char *name = fr__arena_take(x->scratch, len, 1);

    if (!name)
        return fr__fail_nomem(err);
    snprintf(name, len, "%s.%s%s", prefix, m->what, set_names[m->set]);
    if (m->number != FR_NONE)
        snprintf(name + strlen(name), len - strlen(name), "%u", m->number);
    *out = (struct fr__gather_message){x->n_ops++, x->n_tensors++};
    x->from[out->op] = m->owner;
    x->comms[x->n_comms++] = (struct fr__comm){
        .op = out->op,
        .axis = axis_of(m),
        .bytes = m->message_bytes,
    };
    fr_graph_builder_op(x->b,
                        &(struct fr_op){.name = name,
                                        .kind = m->kind,
                                        .phase = m->phase,
                                        .forward = m->forward == FR_NONE ? out->op : m->forward},
                        layer, &output, 1);
    fr__arena_rewind(x->scratch, mark);
    return FR_OK;
}

/* A copy out of or into a message. bytes: that it reads and writes; message_bytes: of the
 * parameters in the given graph. */
static enum fr_status add_copy(struct fr__gathering *x, const struct message *m, uint32_t *out,
                               struct fr_error *err)
{
    const struct fr_graph *g = x->g;
    const char *layer = g->layer_names[g->ops[m->near].layer];
    struct fr__mark mark = fr__arena_mark(x->scratch);
    size_t len = strlen(g->ops[m->owner].name) + strlen(m->what) + 16;
    char *name = fr__arena_take(x->scratch, len, 1);

    if (!name)
        return fr__fail_nomem(err);
    snprintf(name, len, "%s.%s%s", g->ops[m->owner].name, m->what, set_names[m->set]);
    *out = x->n_ops++;
    x->from[*out] = m->owner;
    fr_graph_builder_op(x->b,
                        &(struct fr_op){.name = name,
                                        .kind = FR_OP_CAST,
                                        .phase = m->phase,
                                        .forward = m->forward == FR_NONE ? *out : m->forward,
                                        .bytes = m->bytes,
                                        .shape = fr__shape_of_parameters(
                                            m->message_bytes / (double)g->param_elem_bytes)},
                        layer, NULL, 0);
    fr__arena_rewind(x->scratch, mark);
    return FR_OK;
}

/* Out of what was gathered: a read and a write of all of it. */
static enum fr_status add_unpack(struct fr__gathering *x, const struct fr__gather_unit *u,
                                 struct fr__gather_set *s, uint32_t set, unsigned side,
                                 struct fr_error *err)
{
    static const char *const what[] = {"copy_parameters", "copy_parameters_again"};
    static const enum fr_phase phases[] = {FR_PHASE_FORWARD, FR_PHASE_BACKWARD_DATA};

    if (!x->in->packs)
        return FR_OK;
    return add_copy(x,
                    &(struct message){.what = what[side],
                                      .phase = phases[side],
                                      .near = u->first[side],
                                      .set = set,
                                      .owner = s->owner,
                                      .forward = s->unpack[FR__SIDE_FORWARD],
                                      .bytes = 2 * (double)s->bytes * x->in->sent,
                                      .message_bytes = (double)s->bytes},
                    &s->unpack[side], err);
}

/* Into what will be scattered: gradients are read as the backward pass makes them, as wide as
 * parameters, and written as they travel. */
static enum fr_status add_pack(struct fr__gathering *x, struct fr__gather_set *s, uint32_t set,
                               struct fr_error *err)
{
    if (!x->in->packs)
        return FR_OK;
    return add_copy(x,
                    &(struct message){.what = "copy_gradients",
                                      .phase = FR_PHASE_BACKWARD_WEIGHT,
                                      .near = s->ready,
                                      .set = set,
                                      .owner = s->owner,
                                      .forward = s->unpack[FR__SIDE_FORWARD],
                                      .bytes = (double)s->trained_bytes * (1 + x->in->gradient),
                                      .message_bytes = (double)s->trained_bytes},
                    &s->pack, err);
}

static enum fr_status add_gathers(struct fr__gathering *x, uint32_t unit, unsigned side,
                                  struct fr_error *err)
{
    static const char *const what[] = {"gather_parameters", "gather_parameters_again"};
    static const enum fr_phase phases[] = {FR_PHASE_FORWARD, FR_PHASE_BACKWARD_DATA};
    struct fr__gather_unit *u = &x->units[unit];

    for (unsigned k = 0; k < FR__N_GATHER_SETS; k++) {
        struct fr__gather_set *s = &u->sets[k];

        if (s->bytes == 0)
            continue;
        FR_TRY(add_message(x,
                           &(struct message){.what = what[side],
                                             .kind = FR_OP_ALL_GATHER,
                                             .phase = phases[side],
                                             .near = u->first[side],
                                             .set = k,
                                             .owner = s->owner,
                                             .forward = s->gather[FR__SIDE_FORWARD].op,
                                             .number = FR_NONE,
                                             .bytes = (double)s->bytes * x->in->kept,
                                             .message_bytes = (double)s->bytes * x->in->sent},
                           &s->gather[side], err));
        FR_TRY(add_unpack(x, u, s, k, side, err));
    }
    return FR_OK;
}

/* A set's gradients leave, and where groups share alike their parts are summed. */
static enum fr_status add_scatter(struct fr__gathering *x, struct fr__gather_set *s, uint32_t set,
                                  uint32_t number, struct fr_error *err)
{
    uint32_t gather = s->gather[FR__SIDE_FORWARD].op;
    double bytes = (double)s->trained_bytes * x->in->gradient;
    struct message m = {.what = "scatter_gradients",
                        .kind = FR_OP_REDUCE_SCATTER,
                        .phase = FR_PHASE_BACKWARD_WEIGHT,
                        .near = s->ready,
                        .set = set,
                        .owner = s->owner,
                        .forward = gather == FR_NONE ? x->new_op[s->owner] : gather,
                        .number = number,
                        .bytes = bytes / x->in->ranks[set],
                        .message_bytes = bytes};

    FR_TRY(add_pack(x, s, set, err));
    FR_TRY(add_message(x, &m, &s->scatter, err));
    s->sum = s->scatter;
    if (x->in->copies < 2)
        return FR_OK;
    m.what = "sum_gradients";
    m.kind = FR_OP_ALL_REDUCE;
    m.message_bytes = m.bytes;
    return add_message(x, &m, &s->sum, err);
}

/* Whether another unit's last gradient is made in the same layer, as where a fusion took a bias to
 * the layer behind it: then both are numbered. */
static bool shares_layer(const struct fr__gathering *x, uint32_t unit, uint32_t set)
{
    uint32_t layer = x->g->ops[x->units[unit].sets[set].ready].layer;

    for (uint32_t u = 0; u < x->n_units && !x->in->are_modules; u++) {
        const struct fr__gather_set *s = &x->units[u].sets[set];

        if (u != unit && s->trained_bytes > 0 && s->ready != FR_NONE &&
            x->g->ops[s->ready].layer == layer)
            return true;
    }
    return false;
}

static enum fr_status add_scatters(struct fr__gathering *x, uint32_t unit, struct fr_error *err)
{
    for (unsigned k = 0; k < FR__N_GATHER_SETS; k++) {
        struct fr__gather_set *s = &x->units[unit].sets[k];
        uint32_t number = x->bucket_of ? unit : FR_NONE;

        if (s->trained_bytes == 0)
            continue;
        if (number == FR_NONE && shares_layer(x, unit, k))
            number = unit;
        FR_TRY(add_scatter(x, s, k, number, err));
    }
    return FR_OK;
}

/* ---- ops ---- */

static bool is_sum(const struct fr_op *op)
{
    return op->phase == FR_PHASE_BACKWARD_WEIGHT && op->kind == FR_OP_GRAD_ADD && !op->scales;
}

/* Whether a tensor is a gradient that leaves. */
static bool is_scattered(const struct fr__gathering *x, uint32_t tensor)
{
    uint32_t op = x->g->tensors[tensor].op;

    for (uint32_t i = x->g->out_first[op]; i < x->g->out_first[op + 1]; i++)
        if (x->g->edges[i].tensor == tensor && fr__gather_of_update(x, i))
            return true;
    return false;
}

static bool feeds_scatter(const struct fr__gathering *x, uint32_t op)
{
    for (uint32_t i = x->g->out_first[op]; i < x->g->out_first[op + 1]; i++)
        if (fr__gather_of_update(x, i))
            return true;
    return false;
}

static enum fr_status keep_op(struct fr__gathering *x, uint32_t o, struct fr_error *err)
{
    const struct fr_graph *g = x->g;
    struct fr_op op = g->ops[o];
    struct fr__mark mark = fr__arena_mark(x->scratch);
    struct fr_tensor *outputs = fr__arena_take(x->scratch, op.n_tensors, sizeof(*outputs));

    if (!outputs)
        return fr__fail_nomem(err);
    x->new_op[o] = x->n_ops;
    x->from[x->n_ops++] = o;
    if (op.forward != FR_NONE)
        op.forward = x->new_op[op.forward];
    if (is_sum(&op) && feeds_scatter(x, o))
        op.kind = FR_OP_ADD; /* an op of each micro-batch */
    for (uint32_t k = 0; k < op.n_tensors; k++) {
        uint32_t t = op.first_tensor + k;

        outputs[k] = g->tensors[t];
        if (outputs[k].alias != FR_NONE)
            outputs[k].alias = x->new_tensor[outputs[k].alias];
        if (is_scattered(x, t))
            outputs[k].bytes = fr__to_bytes((double)outputs[k].bytes * x->in->gradient);
        x->new_tensor[t] = x->n_tensors++;
    }
    fr_graph_builder_op(x->b, &op, g->layer_names[op.layer], outputs, op.n_tensors);
    fr__arena_rewind(x->scratch, mark);
    return FR_OK;
}

/* The body with its messages, then the updates. */
static enum fr_status add_ops(struct fr__gathering *x, struct fr_error *err)
{
    const struct fr_graph *g = x->g;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        if (g->ops[o].phase == FR_PHASE_UPDATE)
            continue;
        for (unsigned side = 0; side < FR__N_SIDES; side++)
            for (uint32_t u = x->gather_at[side][o]; u != FR_NONE; u = x->units[u].next_at[side])
                FR_TRY(add_gathers(x, u, side, err));
        FR_TRY(keep_op(x, o, err));
        for (uint32_t u = x->scatter_at[o]; u != FR_NONE; u = x->units[u].next_scatter)
            FR_TRY(add_scatters(x, u, err));
    }
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (g->ops[o].phase == FR_PHASE_UPDATE)
            FR_TRY(keep_op(x, o, err));
    return FR_OK;
}

/* ---- edges ---- */

static void edge(struct fr__gathering *x, uint32_t src, uint32_t dst)
{
    if (src != FR_NONE && dst != FR_NONE && src < dst)
        fr_graph_builder_edge(x->b, src, dst, FR_NONE, 0);
}

/* Whether an edge before i brings the same gradient to the same set. */
static bool is_sent(const struct fr__gathering *x, uint32_t i)
{
    const struct fr_edge *e = &x->g->edges[i];
    const struct fr__gather_set *s = fr__gather_of_update(x, i);

    for (uint32_t k = x->g->out_first[e->src]; k < i; k++)
        if (x->g->edges[k].tensor == e->tensor && fr__gather_of_update(x, k) == s)
            return true;
    return false;
}

/* Whether an update reads its set by another edge before i. */
static bool is_received(const struct fr__gathering *x, uint32_t i)
{
    uint32_t dst = x->g->edges[i].dst;

    for (uint32_t k = x->g->in_first[dst]; k < x->g->in_first[dst + 1]; k++) {
        uint32_t other = x->g->in_edges[k];

        if (other < i && fr__gather_of_update(x, other))
            return true;
    }
    return false;
}

/* A gradient goes to the reduce-scatter, the rank's share to the update. */
static void lead_over_scatter(struct fr__gathering *x, uint32_t i, const struct fr__gather_set *s)
{
    const struct fr_edge *e = &x->g->edges[i];
    uint64_t whole = e->tensor == FR_NONE ? 0 : x->g->tensors[e->tensor].bytes, bytes;
    unsigned set = fr__gather_set_of(x, x->g->ops[e->dst].forward);

    if (!is_sent(x, i)) {
        if (e->tensor == FR_NONE)
            edge(x, x->new_op[e->src], s->scatter.op);
        else
            fr_graph_builder_edge(x->b, x->new_op[e->src], s->scatter.op, x->new_tensor[e->tensor],
                                  fr__to_bytes((double)whole * x->in->gradient));
        edge(x, x->new_op[e->src], s->pack);
    }
    bytes = (uint64_t)((double)x->g->ops[e->dst].param_bytes * x->in->gradient / x->in->ranks[set]);
    if (!is_received(x, i))
        fr_graph_builder_edge(x->b, s->sum.op, x->new_op[e->dst], s->sum.tensor, bytes);
}

/* Messages and their copies; what is scattered is summed over the groups. */
static void lead_through_sets(struct fr__gathering *x)
{
    for (size_t u = 0; u < x->n_units; u++)
        for (unsigned k = 0; k < FR__N_GATHER_SETS; k++) {
            const struct fr__gather_set *s = &x->units[u].sets[k];
            double bytes = (double)s->trained_bytes * x->in->gradient / x->in->ranks[k];

            edge(x, s->pack, s->scatter.op);
            for (unsigned side = 0; side < FR__N_SIDES; side++)
                if (s->unpack[side] != FR_NONE)
                    fr_graph_builder_edge(x->b, s->gather[side].op, s->unpack[side],
                                          s->gather[side].tensor,
                                          fr__to_bytes((double)s->bytes * x->in->kept));
            if (s->sum.op != s->scatter.op)
                fr_graph_builder_edge(x->b, s->scatter.op, s->sum.op, s->scatter.tensor,
                                      fr__to_bytes(bytes));
        }
}

static void keep_edges(struct fr__gathering *x)
{
    for (uint32_t i = 0; i < x->g->n_edges; i++) {
        const struct fr_edge *e = &x->g->edges[i];
        const struct fr__gather_set *s = fr__gather_of_update(x, i);
        uint32_t src = x->new_op[e->src], dst = x->new_op[e->dst];

        if (s)
            lead_over_scatter(x, i, s);
        else if (e->tensor == FR_NONE && e->bytes > 0)
            fr_graph_builder_tie(x->b, src, dst);
        else if (e->tensor == FR_NONE)
            fr_graph_builder_edge(x->b, src, dst, FR_NONE, 0);
        else
            fr_graph_builder_edge(x->b, src, dst, x->new_tensor[e->tensor],
                                  x->g->edges[i].bytes == x->g->tensors[e->tensor].bytes &&
                                          is_scattered(x, e->tensor)
                                      ? fr__to_bytes((double)e->bytes * x->in->gradient)
                                      : e->bytes);
    }
}

/* ---- who reads what was gathered ---- */

static void read_set(struct fr__gathering *x, uint32_t op, uint32_t unit, uint32_t set)
{
    struct fr__gather_set *s = &x->units[unit].sets[set];
    unsigned side = fr__gather_is_backward(&x->g->ops[op]) ? FR__SIDE_BACKWARD : FR__SIDE_FORWARD;
    const struct fr__gather_message *m;

    if (s->gather[side].op == FR_NONE)
        side = FR__SIDE_FORWARD;
    m = &s->gather[side];
    if (s->reader != op)
        edge(x, s->unpack[side], x->new_op[op]);
    if (m->op != FR_NONE && s->reader != op)
        fr_graph_builder_edge(x->b, m->op, x->new_op[op], m->tensor,
                              fr__to_bytes((double)s->bytes * x->in->kept));
    s->reader = op;
}

/* An op reads the sets of its parameters; the last op of a unit all of the unit's, which stays
 * until then. */
static void read_sets_of(struct fr__gathering *x, uint32_t o)
{
    uint32_t unit = fr__gather_unit_of(x, o);
    unsigned side = fr__gather_is_backward(&x->g->ops[o]);
    const struct fr__gather_unit *u = &x->units[unit];

    fr__gather_for_sets(x, o, read_set);
    if (u->last[side] != o || (u->is_root && side == FR__SIDE_FORWARD))
        return;
    for (unsigned k = 0; k < FR__N_GATHER_SETS; k++)
        if (u->sets[k].bytes > 0)
            read_set(x, o, unit, k);
}

/* ---- order ---- */

static uint32_t gather_of(const struct fr__gathering *x, uint32_t unit, unsigned side, unsigned set)
{
    return x->units[unit].sets[set].gather[side].op;
}

/* The gathers of unit `u` wait for op `src`. */
static void hold_back(struct fr__gathering *x, uint32_t u, unsigned side, uint32_t src)
{
    for (unsigned k = 0; k < FR__N_GATHER_SETS; k++)
        edge(x, src, gather_of(x, u, side, k));
}

static uint32_t last_forward(const struct fr__gathering *x)
{
    for (uint32_t o = (uint32_t)x->g->n_ops; o-- > 0;)
        if (x->g->ops[o].phase == FR_PHASE_FORWARD)
            return x->new_op[o];
    return FR_NONE;
}

/* What the gather of the n-th unit waits for. units: those before it, without the root. */
static uint32_t limit_of(const struct fr__gathering *x, const uint32_t *units, uint32_t n,
                         uint32_t unit, unsigned side)
{
    uint32_t ahead = x->in->prefetch, first;

    if (!x->in->are_modules)
        return n > ahead ? x->new_op[x->units[units[n - 1 - ahead]].last[side]] : FR_NONE;
    if (n < ahead)
        return FR_NONE;
    first = x->units[ahead == 0 ? unit : units[n - ahead]].first[side];
    return first == 0 ? FR_NONE : x->new_op[first - 1];
}

/* One gather after the other; none further ahead than the limit. The root does not count. */
static void order_gathers(struct fr__gathering *x, unsigned side)
{
    uint32_t before = FR_NONE, n = 0, start = side == FR__SIDE_BACKWARD ? last_forward(x) : FR_NONE;
    uint32_t *units = x->order[side]; /* but the root's move out as it is read */

    for (size_t i = 0; i < x->n_ordered[side]; i++) {
        uint32_t u = units[i], limit;

        for (unsigned k = 0; k < FR__N_GATHER_SETS; k++) {
            uint32_t op = gather_of(x, u, side, k);

            if (op == FR_NONE)
                continue;
            edge(x, before, op);
            before = op;
        }
        if (x->units[u].is_root)
            continue;
        limit = limit_of(x, units, n, u, side);
        hold_back(x, u, side, limit == FR_NONE ? start : limit);
        units[n++] = u;
    }
    x->n_ordered[side] = n;
}

/* The backward op after o waits for op src. */
static void stop_after(struct fr__gathering *x, uint32_t o, uint32_t src)
{
    for (uint32_t next = o + 1; next < x->g->n_ops; next++)
        if (fr__gather_is_backward(&x->g->ops[next])) {
            edge(x, src, x->new_op[next]);
            return;
        }
}

/* Gradients leave one unit after the other, and stay behind by one unit at most. */
static void order_scatters(struct fr__gathering *x)
{
    uint32_t recent[2] = {FR_NONE, FR_NONE}, before = FR_NONE;

    for (uint32_t o = 0; o < x->g->n_ops; o++)
        for (uint32_t u = x->scatter_at[o]; u != FR_NONE; u = x->units[u].next_scatter) {
            const struct fr__gather_unit *unit = &x->units[u];

            if (x->in->is_cut)
                before = FR_NONE;
            else if (recent[0] != FR_NONE && unit->first[FR__SIDE_BACKWARD] != FR_NONE &&
                     !unit->is_root)
                edge(x, recent[0], x->new_op[unit->first[FR__SIDE_BACKWARD]]);
            for (unsigned k = 0; k < FR__N_GATHER_SETS; k++) {
                uint32_t op = unit->sets[k].scatter.op;

                if (op == FR_NONE)
                    continue;
                edge(x, before, op);
                before = op;
            }
            if (!x->in->overlaps)
                stop_after(x, o, before);
            recent[0] = recent[1];
            recent[1] = before;
        }
}

static void add_samples(struct fr__gathering *x)
{
    for (size_t i = 0; i < x->g->n_samples; i++) {
        const struct fr_sample *s = &x->g->samples[i];

        fr_graph_builder_sample(x->b, x->new_op[s->op], s->device, s->batch, s->time_s);
    }
}

enum fr_status fr__gather_emit(struct fr__gathering *x, struct fr_graph **out, struct fr_error *err)
{
    FR_TRY(add_ops(x, err));
    keep_edges(x);
    lead_through_sets(x);
    for (uint32_t o = 0; o < x->g->n_ops; o++)
        if (!x->in->keeps_parameters &&
            (x->g->ops[o].phase == FR_PHASE_FORWARD || fr__gather_is_backward(&x->g->ops[o])))
            read_sets_of(x, o);
    order_gathers(x, FR__SIDE_FORWARD);
    order_gathers(x, FR__SIDE_BACKWARD);
    order_scatters(x);
    add_samples(x);
    return fr_graph_builder_finish(x->b, x->g, out, err);
}
