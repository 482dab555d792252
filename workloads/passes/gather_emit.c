/* workloads/passes/gather_emit.c - the graph with its gathers and reduce-scatters; the rules are
 * in gather.h. */
#include "config.h"

#include "workloads/passes/gather_parts.h"

#include "base/bytes.h"
#include "workloads/graph/shape.h"

#include <stdio.h>

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

static const char *name_of(struct fr__gathering *x, const struct message *m, const char *prefix)
{
    char what[64];

    snprintf(what, sizeof(what), "%s%s", m->what, set_names[m->set]);
    return fr__rewriter_name(&x->w, prefix, what, m->number);
}

/* Where no op brings its parameters before, it derives from itself. */
static uint32_t forward_of(const struct fr__gathering *x, const struct message *m)
{
    return m->forward == FR_NONE ? fr__rewriter_n_ops(&x->w) : m->forward;
}

static void add_message(struct fr__gathering *x, const struct message *m,
                        struct fr__gather_message *out)
{
    const struct fr_graph *g = x->g;
    struct fr_tensor output = {.bytes = fr__to_bytes(m->bytes), .alias = FR_NONE};
    struct fr_op op = {.kind = m->kind,
                       .phase = m->phase,
                       .forward = forward_of(x, m),
                       .layer = g->ops[m->near].layer};
    /* a layer has several modules */
    const char *prefix = x->in->are_modules ? g->ops[m->owner].name : g->layer_names[op.layer];

    op.name = name_of(x, m, prefix);
    out->tensor = fr__rewriter_n_tensors(&x->w);
    out->op = fr__rewriter_add(&x->w, m->owner, &op, &output, 1);
    fr__messages_add(
        &x->messages, &x->w,
        (struct fr__comm){.op = out->op, .axis = axis_of(m), .bytes = m->message_bytes});
}

/* A copy out of or into a message. bytes: that it reads and writes; message_bytes: of the
 * parameters in the given graph. Returns the op. */
static uint32_t add_copy(struct fr__gathering *x, const struct message *m)
{
    const struct fr_graph *g = x->g;

    return fr__rewriter_add(&x->w, m->owner,
                            &(struct fr_op){.name = name_of(x, m, g->ops[m->owner].name),
                                            .kind = FR_OP_CAST,
                                            .phase = m->phase,
                                            .layer = g->ops[m->near].layer,
                                            .forward = forward_of(x, m),
                                            .bytes = m->bytes,
                                            .shape = fr__shape_of_parameters(
                                                m->message_bytes / (double)g->param_elem_bytes)},
                            NULL, 0);
}

/* Bytes of a set that are gathered, at so many for each byte of parameters. */
static double gathered(const struct fr__gather_set *s, double each)
{
    return (double)(s->bytes - s->packed_bytes) * each + (double)s->stored_bytes;
}

/* Out of what was gathered: a read and a write of all of it. */
static void add_unpack(struct fr__gathering *x, const struct fr__gather_unit *u,
                       struct fr__gather_set *s, uint32_t set, unsigned side)
{
    static const char *const what[] = {"copy_parameters", "copy_parameters_again"};
    static const enum fr_phase phases[] = {FR_PHASE_FORWARD, FR_PHASE_BACKWARD_DATA};

    if (!x->in->packs)
        return;
    s->unpack[side] = add_copy(x, &(struct message){.what = what[side],
                                                    .number = FR_NONE,
                                                    .phase = phases[side],
                                                    .near = u->first[side],
                                                    .set = set,
                                                    .owner = s->owner,
                                                    .forward = s->unpack[FR__SIDE_FORWARD],
                                                    .bytes = 2 * gathered(s, x->in->sent),
                                                    .message_bytes = (double)s->bytes});
}

/* Into what will be scattered: gradients are read as the backward pass makes them, as wide as
 * parameters, and written as they travel. */
static void add_pack(struct fr__gathering *x, struct fr__gather_set *s, uint32_t set)
{
    if (!x->in->packs)
        return;
    s->pack =
        add_copy(x, &(struct message){.what = "copy_gradients",
                                      .number = FR_NONE,
                                      .phase = FR_PHASE_BACKWARD_WEIGHT,
                                      .near = s->ready,
                                      .set = set,
                                      .owner = s->owner,
                                      .forward = s->unpack[FR__SIDE_FORWARD],
                                      .bytes = (double)s->trained_bytes * (1 + x->in->gradient),
                                      .message_bytes = (double)s->trained_bytes});
}

static void add_gathers(struct fr__gathering *x, uint32_t unit, unsigned side)
{
    static const char *const what[] = {"gather_parameters", "gather_parameters_again"};
    static const enum fr_phase phases[] = {FR_PHASE_FORWARD, FR_PHASE_BACKWARD_DATA};
    struct fr__gather_unit *u = &x->units[unit];

    for (unsigned k = 0; k < FR__N_GATHER_SETS; k++) {
        struct fr__gather_set *s = &u->sets[k];

        if (s->bytes == 0)
            continue;
        add_message(x,
                    &(struct message){.what = what[side],
                                      .kind = FR_OP_ALL_GATHER,
                                      .phase = phases[side],
                                      .near = u->first[side],
                                      .set = k,
                                      .owner = s->owner,
                                      .forward = s->gather[FR__SIDE_FORWARD].op,
                                      .number = FR_NONE,
                                      .bytes = s->kept_bytes,
                                      .message_bytes = gathered(s, x->in->sent)},
                    &s->gather[side]);
        add_unpack(x, u, s, k, side);
    }
}

/* A set's gradients leave, and where groups share alike their parts are summed. */
static void add_scatter(struct fr__gathering *x, struct fr__gather_set *s, uint32_t set,
                        uint32_t number)
{
    uint32_t gather = s->gather[FR__SIDE_FORWARD].op;
    double bytes = (double)s->trained_bytes * x->in->gradient;
    struct message m = {.what = "scatter_gradients",
                        .kind = FR_OP_REDUCE_SCATTER,
                        .phase = FR_PHASE_BACKWARD_WEIGHT,
                        .near = s->ready,
                        .set = set,
                        .owner = s->owner,
                        .forward = gather == FR_NONE ? x->w.now.op[s->owner] : gather,
                        .number = number,
                        .bytes = bytes / x->in->ranks[set],
                        .message_bytes = bytes};

    add_pack(x, s, set);
    add_message(x, &m, &s->scatter);
    s->sum = s->scatter;
    if (x->in->copies < 2)
        return;
    m.what = "sum_gradients";
    m.kind = FR_OP_ALL_REDUCE;
    m.message_bytes = m.bytes;
    add_message(x, &m, &s->sum);
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

static void add_scatters(struct fr__gathering *x, uint32_t unit)
{
    for (unsigned k = 0; k < FR__N_GATHER_SETS; k++) {
        struct fr__gather_set *s = &x->units[unit].sets[k];
        uint32_t number = x->bucket_of ? unit : FR_NONE;

        if (s->trained_bytes == 0)
            continue;
        if (number == FR_NONE && shares_layer(x, unit, k))
            number = unit;
        add_scatter(x, s, k, number);
    }
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

static void keep_op(struct fr__gathering *x, uint32_t o)
{
    struct fr__mark mark = fr__arena_mark(x->w.scratch);
    struct fr_op op = fr__rewriter_op(&x->w, o);
    struct fr_tensor *outputs = fr__rewriter_outputs(&x->w, o);

    if (is_sum(&op) && feeds_scatter(x, o))
        op.kind = FR_OP_ADD; /* an op of each micro-batch */
    for (uint32_t k = 0; outputs && k < op.n_tensors; k++)
        if (is_scattered(x, op.first_tensor + k))
            outputs[k].bytes = fr__to_bytes((double)outputs[k].bytes * x->in->gradient);
    fr__rewriter_put(&x->w, &x->w.now, o, &op, outputs);
    fr__arena_rewind(x->w.scratch, mark);
}

/* The body with its messages, then the updates. */
static void add_ops(struct fr__gathering *x)
{
    const struct fr_graph *g = x->g;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        if (g->ops[o].phase == FR_PHASE_UPDATE)
            continue;
        for (unsigned side = 0; side < FR__N_SIDES; side++)
            for (uint32_t u = x->gather_at[side][o]; u != FR_NONE; u = x->units[u].next_at[side])
                add_gathers(x, u, side);
        keep_op(x, o);
        for (uint32_t u = x->scatter_at[o]; u != FR_NONE; u = x->units[u].next_scatter)
            add_scatters(x, u);
    }
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (g->ops[o].phase == FR_PHASE_UPDATE)
            keep_op(x, o);
}

/* ---- edges ---- */

static void edge(struct fr__gathering *x, uint32_t src, uint32_t dst)
{
    if (src < dst) /* FR_NONE is the largest */
        fr__rewriter_order(&x->w, src, dst);
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
            edge(x, x->w.now.op[e->src], s->scatter.op);
        else
            fr__rewriter_edge(&x->w, x->w.now.op[e->src], s->scatter.op, x->w.now.tensor[e->tensor],
                              fr__to_bytes((double)whole * x->in->gradient));
        edge(x, x->w.now.op[e->src], s->pack);
    }
    bytes = (uint64_t)((double)x->g->ops[e->dst].param_bytes * x->in->gradient / x->in->ranks[set]);
    if (!is_received(x, i))
        fr__rewriter_edge(&x->w, s->sum.op, x->w.now.op[e->dst], s->sum.tensor, bytes);
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
                    fr__rewriter_edge(&x->w, s->gather[side].op, s->unpack[side],
                                      s->gather[side].tensor, fr__to_bytes(s->kept_bytes));
            if (s->sum.op != s->scatter.op)
                fr__rewriter_edge(&x->w, s->scatter.op, s->sum.op, s->scatter.tensor,
                                  fr__to_bytes(bytes));
        }
}

static void keep_edges(struct fr__gathering *x)
{
    for (uint32_t i = 0; i < x->g->n_edges; i++) {
        const struct fr_edge *e = &x->g->edges[i];
        const struct fr__gather_set *s = fr__gather_of_update(x, i);

        if (s)
            lead_over_scatter(x, i, s);
        else if (e->tensor != FR_NONE && e->bytes == x->g->tensors[e->tensor].bytes)
            fr__rewriter_read(&x->w, x->w.now.op[e->dst], x->w.now.tensor[e->tensor]);
        else
            fr__rewriter_keep_edge(&x->w, e);
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
        edge(x, s->unpack[side], x->w.now.op[op]);
    if (m->op != FR_NONE && s->reader != op)
        fr__rewriter_edge(&x->w, m->op, x->w.now.op[op], m->tensor, fr__to_bytes(s->kept_bytes));
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
            return x->w.now.op[o];
    return FR_NONE;
}

/* What the gather of the n-th unit waits for. units: those before it, without the root. */
static uint32_t limit_of(const struct fr__gathering *x, const uint32_t *units, uint32_t n,
                         uint32_t unit, unsigned side)
{
    uint32_t ahead = x->in->prefetch, first;

    if (!x->in->are_modules)
        return n > ahead ? x->w.now.op[x->units[units[n - 1 - ahead]].last[side]] : FR_NONE;
    if (n < ahead)
        return FR_NONE;
    first = x->units[ahead == 0 ? unit : units[n - ahead]].first[side];
    return first == 0 ? FR_NONE : x->w.now.op[first - 1];
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
            edge(x, src, x->w.now.op[next]);
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
                edge(x, recent[0], x->w.now.op[unit->first[FR__SIDE_BACKWARD]]);
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

void fr__gather_emit(struct fr__gathering *x)
{
    add_ops(x);
    keep_edges(x);
    lead_through_sets(x);
    for (uint32_t o = 0; o < x->g->n_ops; o++)
        if (!x->in->keeps_parameters &&
            (x->g->ops[o].phase == FR_PHASE_FORWARD || fr__gather_is_backward(&x->g->ops[o])))
            read_sets_of(x, o);
    order_gathers(x, FR__SIDE_FORWARD);
    order_gathers(x, FR__SIDE_BACKWARD);
    order_scatters(x);
    fr__rewriter_keep_samples(&x->w);
}
