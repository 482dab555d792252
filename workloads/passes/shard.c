/* workloads/passes/shard.c - the walk over the given graph, op by op.
 *
 * First every forward op gets its splits (shard_derive.c). Then the ops are copied in order, at
 * their local size. Before an op come the redistributions of what it reads (shard_move.c).
 *
 * A backward op reads gradients in the placement that is the mirror image of the forward tensor's:
 * split where that is split, whole where it is whole, and whole where it is partial, for each rank's
 * term has the gradient of the sum (M. Shoeybi et al., Megatron-LM, 2019, section 3: the functions f
 * and g). What it reads of the forward pass has the placement that its forward op reads or writes.
 */
#include "config.h"

#include "workloads/passes/shard_walk.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static const char *const split_names[FR__N_SPLITS] = {
    [FR__SPLIT_DERIVED] = "derived", [FR__SPLIT_NONE] = "none",
    [FR__SPLIT_SAMPLES] = "samples", [FR__SPLIT_SEQUENCE] = "sequence",
    [FR__SPLIT_COLUMNS] = "columns", [FR__SPLIT_DEPTH] = "depth",
};

const char *fr__split_name(enum fr__split split)
{
    return (unsigned)split < FR__N_SPLITS ? split_names[split] : "unknown";
}

static enum fr__split split_of(const struct fr__sharding *s, uint32_t op, size_t a)
{
    return (enum fr__split)s->split[a * s->g->n_ops + op];
}

/* ---- one op of the new graph ---- */

static uint32_t root_of(const struct fr_graph *g, uint32_t t)
{
    return g->tensors[t].alias == FR_NONE ? t : g->tensors[t].alias;
}

/* The new tensor whose storage a view or an op in place shares: of what it reads. */
static uint32_t local_alias(const struct fr__sharding *s, uint32_t alias,
                            const struct fr__input in[], size_t n_in)
{
    const struct fr_graph *g = s->g;

    if (alias == FR_NONE)
        return FR_NONE;
    for (size_t i = 0; i < n_in; i++)
        if (root_of(g, g->edges[in[i].edge].tensor) == alias)
            return in[i].v.tensor;
    return s->first_version[alias] == FR_NONE ? FR_NONE
                                              : s->versions[s->first_version[alias]].tensor;
}

/* Bytes that the op moves: as much of the whole op's as is left of what it reads and writes. */
static double local_traffic(const struct fr__sharding *s, uint32_t o, const struct fr__input in[],
                            size_t n_in, const struct fr_tensor out[])
{
    const struct fr_graph *g = s->g;
    const struct fr_op *op = &g->ops[o];
    double whole = 0, local = 0;

    for (size_t i = 0; i < n_in; i++)
        if (g->tensors[g->edges[in[i].edge].tensor].scales == op->scales) {
            whole += (double)g->tensors[g->edges[in[i].edge].tensor].bytes;
            local += (double)in[i].v.bytes;
        }
    for (uint32_t k = 0; k < op->n_tensors; k++)
        if (out[k].scales == op->scales) {
            whole += (double)g->tensors[op->first_tensor + k].bytes;
            local += (double)out[k].bytes;
        }
    return whole > 0 && (local < whole || local > whole) ? op->bytes * (local / whole) : op->bytes;
}

/* Edges without tensors: order, and tied parameters. */
static void copy_order(struct fr__sharding *s, uint32_t o)
{
    const struct fr_graph *g = s->g;

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->tensor != FR_NONE || s->new_op[e->src] == FR_NONE)
            continue;
        if (e->bytes)
            fr_graph_builder_tie(s->b, s->new_op[e->src], s->new_op[o]);
        else
            fr_graph_builder_edge(s->b, s->new_op[e->src], s->new_op[o], FR_NONE, 0);
    }
}

/* A part of the tensor if the edge carries a part. */
static uint64_t edge_bytes(const struct fr_graph *g, const struct fr__input *in)
{
    const struct fr_edge *e = &g->edges[in->edge];
    uint64_t whole = g->tensors[e->tensor].bytes;

    if (e->bytes == whole || whole == 0)
        return in->v.bytes;
    return (uint64_t)((double)e->bytes / (double)whole * (double)in->v.bytes);
}

static void copy_samples(struct fr__sharding *s, uint32_t o)
{
    const struct fr_graph *g = s->g;
    uint32_t f = g->ops[o].forward;
    size_t low = 0, high = g->n_samples;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (g->samples[mid].op < o)
            low = mid + 1;
        else
            high = mid;
    }
    /* a part of an op was not measured */
    for (size_t a = 0; f != FR_NONE && g->ops[f].phase <= FR_PHASE_FORWARD && a < s->n_axes; a++)
        if (split_of(s, f, a) > FR__SPLIT_NONE)
            return;
    for (; low < g->n_samples && g->samples[low].op == o; low++)
        fr_graph_builder_sample(s->b, s->new_op[o], g->samples[low].device, g->samples[low].batch,
                                g->samples[low].time_s);
}

/* What o writes on one rank. The gradient of parameters has no dimensions. */
static void set_outputs(struct fr__sharding *s, uint32_t o, const struct fr__input in[],
                        size_t n_in, const int8_t *at, struct fr_tensor out[])
{
    const struct fr_graph *g = s->g;
    const struct fr_op *op = &g->ops[o];

    for (uint32_t k = 0; k < op->n_tensors; k++) {
        uint32_t t = op->first_tensor + k;

        out[k] = fr__sharding_local_tensor(s, t, &at[k * s->n_axes]);
        out[k].alias = local_alias(s, g->tensors[t].alias, in, n_in);
        if (s->twin[t] == FR_NONE && op->phase == FR_PHASE_BACKWARD_WEIGHT &&
            op->forward != FR_NONE)
            out[k].bytes = fr__sharding_local_params(s, op->forward, out[k].bytes);
    }
}

static enum fr__pass pass_of(const struct fr_op *op)
{
    if (op->phase <= FR_PHASE_FORWARD)
        return FR__PASS_FORWARD;
    return op->is_recomputed ? FR__PASS_AGAIN : FR__PASS_BACKWARD;
}

void fr__sharding_emit(struct fr__sharding *s, uint32_t o, const struct fr__input in[], size_t n_in,
                       const int8_t *at)
{
    const struct fr_graph *g = s->g;
    struct fr__mark mark = fr__arena_mark(s->arena);
    struct fr_op op = g->ops[o];
    struct fr_tensor *out = fr__arena_alloc(s->arena, op.n_tensors, sizeof(*out));

    if (!out || s->is_out_of_memory) {
        s->is_out_of_memory = true;
        return;
    }
    set_outputs(s, o, in, n_in, at, out);
    fr__sharding_local_op(s, o, op.n_tensors ? &out[0] : NULL, &op);
    op.bytes = local_traffic(s, o, in, n_in, out);
    if (op.phase > FR_PHASE_FORWARD && op.forward != FR_NONE)
        op.forward = s->new_op[op.forward];
    s->new_op[o] = fr__sharding_add_op(s, o, &op, out, op.n_tensors);
    for (size_t i = 0; i < n_in; i++)
        fr_graph_builder_edge(s->b, in[i].v.op, s->new_op[o], in[i].v.tensor,
                              edge_bytes(g, &in[i]));
    copy_order(s, o);
    copy_samples(s, o);
    for (uint32_t k = 0; k < op.n_tensors; k++)
        fr__sharding_add_version(s, g->ops[o].first_tensor + k, op.n_tensors - k, out[k].bytes,
                                 &at[k * s->n_axes], pass_of(&g->ops[o]), false);
    fr__arena_rewind(s->arena, mark);
}

/* ---- forward ops, now or again ---- */

/* The in-edge of forward op f that carries tensor t or what t is a copy of; FR_NONE. */
static uint32_t input_of(const struct fr__sharding *s, uint32_t f, uint32_t t)
{
    const struct fr_graph *g = s->g;

    for (uint32_t i = g->in_first[f]; i < g->in_first[f + 1]; i++)
        if (g->edges[g->in_edges[i]].tensor == s->twin[t])
            return i;
    return FR_NONE;
}

/* Where forward op f wants its input t, or leaves its output t. */
static void want_forward(const struct fr__sharding *s, uint32_t f, uint32_t t, int8_t want[])
{
    uint32_t input = s->twin[t] == FR_NONE ? FR_NONE : input_of(s, f, t);

    for (size_t a = 0; a < s->n_axes; a++)
        want[a] = input == FR_NONE ? s->rest[(size_t)s->twin[t] * s->n_axes + a]
                                   : fr__sharding_wants(s, f, input, a);
}

/* The three sums over all words that a vocabulary-parallel loss needs, of 4 bytes a row: the
 * largest logit, the sum of exponentials, and the logit of the target (Megatron-LM,
 * tensor_parallel/cross_entropy.py). The first two belong to the logarithm of the softmax. */
static void add_row_sums(struct fr__sharding *s, uint32_t o, const struct fr__version *x,
                         struct fr__version sums[], size_t *n_sums)
{
    enum { SUM_BYTES = 4 };
    const struct fr_graph *g = s->g;
    const struct fr_op *op = &g->ops[o];
    uint32_t f = op->is_recomputed ? op->forward : o;
    struct fr_op local = *op;
    struct fr_tensor row = {.alias = FR_NONE, .n_dims = 1, .scales = op->scales};

    *n_sums = 0;
    if (op->kind != FR_OP_LOG_SOFTMAX && op->kind != FR_OP_LOSS)
        return;
    fr__sharding_local_op(s, o, NULL, &local);
    if (local.shape.of != FR_SHAPE_ROWS)
        return;
    row.dims[0] = (uint32_t)local.shape.rows.rows;
    row.bytes = SUM_BYTES * local.shape.rows.rows;
    for (size_t a = 0; a < s->n_axes; a++)
        for (unsigned i = 0;
             split_of(s, f, a) == FR__SPLIT_DEPTH && i < (op->kind == FR_OP_LOSS ? 1u : 2u); i++) {
            struct fr__version in = *n_sums ? sums[*n_sums - 1] : *x;

            sums[(*n_sums)++] =
                fr__sharding_add_message(s, o, FR_OP_ALL_REDUCE, (uint32_t)a, s->axes[a].name, &in,
                                         &row, (double)row.bytes, pass_of(op));
        }
}

/* The given ops that o follows without reading anything of them, as new ops. */
static size_t order_before(struct fr__sharding *s, uint32_t o, uint32_t **after)
{
    const struct fr_graph *g = s->g;
    uint32_t n_in = g->in_first[o + 1] - g->in_first[o];
    size_t n = 0;

    *after = fr__arena_alloc(s->arena, n_in + 1, sizeof(**after));
    for (uint32_t i = g->in_first[o]; *after && i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->tensor == FR_NONE && e->bytes == 0 && s->new_op[e->src] != FR_NONE)
            (*after)[n++] = s->new_op[e->src];
    }
    if (!*after)
        s->is_out_of_memory = true;
    return n;
}

/* Makes op o once its inputs are there; sums: messages that it waits for. */
static void make(struct fr__sharding *s, uint32_t o, const struct fr__input in[], size_t n_in,
                 const int8_t *at)
{
    struct fr__version sums[2 * FR__MAX_AXES];
    size_t n_sums = 0;

    if (n_in > 0 && fr__sharding_runs_forward(&s->g->ops[o]))
        add_row_sums(s, o, &in[0].v, sums, &n_sums);
    fr__sharding_emit(s, o, in, n_in, at);
    for (size_t i = 0; i < n_sums; i++)
        fr_graph_builder_edge(s->b, sums[i].op, s->new_op[o], sums[i].tensor, sums[i].bytes);
}

static void walk_forward(struct fr__sharding *s, uint32_t o)
{
    const struct fr_graph *g = s->g;
    const struct fr_op *op = &g->ops[o];
    uint32_t f = op->phase <= FR_PHASE_FORWARD ? o : op->forward;
    uint32_t n_edges = g->in_first[o + 1] - g->in_first[o];
    struct fr__input *in = fr__arena_alloc(s->arena, n_edges, sizeof(*in));
    struct fr__reader reader = {.op = o, .pass = pass_of(op)};
    int8_t want[FR__MAX_AXES];
    size_t n_in = 0;
    uint32_t *after;

    reader.n_after = order_before(s, o, &after);
    reader.after = after;
    if (!in || s->is_out_of_memory) {
        s->is_out_of_memory = true;
        return;
    }
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        uint32_t e = g->in_edges[i], t = g->edges[e].tensor;

        if (t == FR_NONE)
            continue;
        want_forward(s, f, t, want);
        in[n_in++] = (struct fr__input){e, fr__sharding_get(s, t, want, &reader)};
    }
    make(s, o, in, n_in, &s->written[(size_t)g->ops[f].first_tensor * s->n_axes]);
}

/* ---- backward ops ---- */

/* Whether o only passes on what belongs to parameters: sums and updates, and the backward of a
 * cast. */
static bool is_of_parameters(const struct fr__sharding *s, uint32_t o)
{
    const struct fr_op *op = &s->g->ops[o];

    return op->phase == FR_PHASE_UPDATE || (op->phase == FR_PHASE_BACKWARD_WEIGHT &&
                                            (op->kind == FR_OP_GRAD_ADD || op->kind == FR_OP_CAST));
}

/* Where o wants gradient t of what its forward op f writes. A gradient whose extent is not the
 * output's is that of a broadcast, which each rank sums up for itself. */
static void want_gradient(const struct fr__sharding *s, uint32_t o, uint32_t f, uint32_t t,
                          int8_t want[])
{
    const int8_t *has = s->versions[s->first_version[t]].at;
    const struct fr_op *forward = &s->g->ops[f];
    const struct fr_tensor *gy = &s->g->tensors[t];
    const struct fr_tensor *y = &s->g->tensors[forward->first_tensor];

    for (size_t a = 0; a < s->n_axes; a++) {
        int8_t at = forward->n_tensors ? s->written[(size_t)forward->first_tensor * s->n_axes + a]
                                       : FR__WHOLE;

        want[a] = at == FR__PARTIAL ? FR__WHOLE : at;
        if (is_of_parameters(s, o) ||
            (has[a] >= 0 && forward->n_tensors && gy->n_dims == y->n_dims &&
             gy->dims[has[a]] != y->dims[has[a]]))
            want[a] = has[a];
    }
}

/* Where o leaves its output t. */
static void place_gradient(const struct fr__sharding *s, uint32_t o, uint32_t f, uint32_t t,
                           int8_t at[])
{
    const struct fr_op *op = &s->g->ops[o];
    uint32_t input = s->twin[t] == FR_NONE ? FR_NONE : input_of(s, f, t);

    for (size_t a = 0; a < s->n_axes; a++) {
        at[a] = FR__WHOLE;
        if (input == FR_NONE || split_of(s, f, a) <= FR__SPLIT_NONE ||
            op->phase > FR_PHASE_BACKWARD_WEIGHT)
            continue;
        at[a] = fr__sharding_wants(s, f, input, a);
        if (at[a] == FR__WHOLE)
            at[a] = FR__PARTIAL;
    }
}

/* Notes over which axes the gradient of o's parameters is a sum, and over which they are split. */
static void note_parameters(struct fr__sharding *s, uint32_t o, uint32_t f,
                            const struct fr__input in[], size_t n_in)
{
    uint32_t owner = s->tied_to[f];

    if (s->g->ops[o].phase != FR_PHASE_BACKWARD_WEIGHT || owner == FR_NONE ||
        s->g->ops[o].kind == FR_OP_GRAD_ADD)
        return;
    for (size_t a = 0; a < s->n_axes; a++) {
        enum fr__split split = split_of(s, f, a);
        uint32_t bit = UINT32_C(1) << a;

        if (s->axes[a].size <= 1)
            continue;
        if (split > FR__SPLIT_NONE && fr__shard_params_carry(s->g, f, split)) {
            uint64_t parts = fr__sharding_cut(s, f, a).parts;

            s->divided[owner] |= bit;
            if (parts < s->axes[a].size) {
                s->partial[owner] |= bit;
                s->replicas[owner] = s->axes[a].size / (uint32_t)parts;
            }
        } else if (split > FR__SPLIT_NONE)
            s->partial[owner] |= bit;
        for (size_t i = 0; i < n_in; i++) {
            bool is_gradient = fr__sharding_is_gradient(s->g, s->g->edges[in[i].edge].tensor);

            if (is_gradient &&
                (in[i].v.at[a] == FR__PARTIAL || (split <= FR__SPLIT_NONE && in[i].v.at[a] >= 0)))
                s->partial[owner] |= bit;
        }
    }
}

/* Gradients first: what is gathered for them starts once they are there. */
static size_t read_gradients(struct fr__sharding *s, uint32_t o, uint32_t f,
                             struct fr__reader *reader, uint32_t after[], struct fr__input in[])
{
    const struct fr_graph *g = s->g;
    int8_t want[FR__MAX_AXES];
    size_t n_in = 0;

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        uint32_t e = g->in_edges[i], t = g->edges[e].tensor;

        if (t == FR_NONE || !fr__sharding_is_gradient(g, t) || s->first_version[t] == FR_NONE)
            continue;
        want_gradient(s, o, f, t, want);
        in[n_in] = (struct fr__input){e, fr__sharding_get(s, t, want, reader)};
        after[reader->n_after++] = in[n_in++].v.op;
    }
    return n_in;
}

static void walk_backward(struct fr__sharding *s, uint32_t o)
{
    const struct fr_graph *g = s->g;
    const struct fr_op *op = &g->ops[o];
    uint32_t f = op->forward, n_edges = g->in_first[o + 1] - g->in_first[o];
    struct fr__input *in = fr__arena_alloc(s->arena, n_edges, sizeof(*in));
    int8_t *at = fr__arena_alloc(s->arena, op->n_tensors * s->n_axes, sizeof(*at));
    struct fr__reader reader = {.op = o, .pass = FR__PASS_BACKWARD};
    int8_t want[FR__MAX_AXES];
    uint32_t *after;
    size_t n_in;

    reader.n_after = order_before(s, o, &after);
    reader.after = after;
    if (!in || !at || s->is_out_of_memory) {
        s->is_out_of_memory = true;
        return;
    }
    n_in = read_gradients(s, o, f, &reader, after, in);
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        uint32_t e = g->in_edges[i], t = g->edges[e].tensor;

        if (t == FR_NONE || fr__sharding_is_gradient(g, t))
            continue;
        want_forward(s, f, t, want);
        in[n_in++] = (struct fr__input){e, fr__sharding_get(s, t, want, &reader)};
    }
    for (uint32_t k = 0; k < op->n_tensors; k++)
        place_gradient(s, o, f, op->first_tensor + k, &at[k * s->n_axes]);
    note_parameters(s, o, f, in, n_in);
    make(s, o, in, n_in, at);
}

/* ---- the whole ---- */

static void walk(struct fr__sharding *s)
{
    const struct fr_graph *g = s->g;

    for (uint32_t o = 0; o < g->n_ops && !s->is_out_of_memory; o++) {
        struct fr__mark mark = fr__arena_mark(s->arena);

        if (fr__sharding_runs_forward(&g->ops[o]))
            walk_forward(s, o);
        else if (g->ops[o].kind == FR_OP_GRAD_ADD && g->ops[o].phase == FR_PHASE_BACKWARD_DATA) {
            fr__sharding_add_sum(s, o); /* keeps what waits: no rewind */
            continue;
        } else
            walk_backward(s, o);
        fr__arena_rewind(s->arena, mark);
    }
}

static bool allocate(struct fr__sharding *s)
{
    size_t n_ops = s->g->n_ops, n_tensors = s->g->n_tensors;

    s->b = fr_graph_builder_new();
    s->arena = fr__arena_new();
    if (!s->b || !s->arena)
        return false;
    s->split = fr__arena_alloc(s->arena, s->n_axes * n_ops, sizeof(*s->split));
    s->tied_to = fr__arena_alloc(s->arena, n_ops, sizeof(*s->tied_to));
    s->written = fr__arena_alloc(s->arena, s->n_axes * n_tensors + 1, sizeof(*s->written));
    s->rest = fr__arena_alloc(s->arena, s->n_axes * n_tensors + 1, sizeof(*s->rest));
    s->grains = fr__arena_alloc(s->arena, n_tensors, sizeof(*s->grains));
    s->twin = fr__arena_alloc(s->arena, n_tensors, sizeof(*s->twin));
    s->new_op = fr__arena_alloc(s->arena, n_ops, sizeof(*s->new_op));
    s->first_version = fr__arena_alloc(s->arena, n_tensors, sizeof(*s->first_version));
    s->n_moves = fr__arena_alloc(s->arena, n_ops, sizeof(*s->n_moves));
    s->sums = fr__arena_alloc(s->arena, n_ops, sizeof(struct fr__sum *));
    s->partial = fr__arena_alloc(s->arena, n_ops, sizeof(*s->partial));
    s->divided = fr__arena_alloc(s->arena, n_ops, sizeof(*s->divided));
    s->replicas = fr__arena_alloc(s->arena, n_ops, sizeof(*s->replicas));
    if (!s->split || !s->tied_to || !s->written || !s->rest || !s->grains || !s->twin ||
        !s->new_op || !s->first_version || !s->n_moves || !s->sums || !s->partial || !s->divided ||
        !s->replicas)
        return false;
    for (size_t i = 0; i < n_ops; i++)
        s->new_op[i] = FR_NONE;
    for (size_t i = 0; i < n_tensors; i++)
        s->first_version[i] = FR_NONE;
    return true;
}

static void release(struct fr__sharding *s)
{
    fr_graph_builder_free(s->b);
    fr__arena_free(s->arena);
    free(s->versions);
    free(s->from);
    free(s->comms);
    free(s->name);
}

static enum fr_status refuse_unfit(const struct fr__shard_problem *in, struct fr_error *err)
{
    const struct fr_graph *g = in->graph;

    if (in->n_axes > FR__MAX_AXES)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "a mesh of %zu axes, over %d", in->n_axes,
                        FR__MAX_AXES);
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (g->ops[o].phase > FR_PHASE_FORWARD && g->ops[o].forward == FR_NONE)
            return fr__fail(err, FR_EUSAGE, g->ops[o].loc,
                            "op '%s' (%s) does not say which forward op it derives from, so it "
                            "cannot be split",
                            g->ops[o].name, fr_phase_name(g->ops[o].phase));
    return FR_OK;
}

/* Arrays that outlive the pass, by number of the new ops. */
static enum fr_status keep(struct fr__sharded *out, const struct fr__sharding *s,
                           struct fr__arena *arena, struct fr_error *err)
{
    size_t n = out->graph->n_ops;
    uint32_t *from = fr__arena_alloc(arena, n, sizeof(*from));
    uint32_t *comm_of = fr__arena_alloc(arena, n, sizeof(*comm_of));
    uint32_t *partial = fr__arena_alloc(arena, n, sizeof(*partial));
    uint32_t *divided = fr__arena_alloc(arena, n, sizeof(*divided));
    uint32_t *replicas = fr__arena_alloc(arena, n, sizeof(*replicas));
    uint8_t *split = fr__arena_alloc(arena, n * s->n_axes + 1, sizeof(*split));
    struct fr__comm *comms = fr__arena_alloc(arena, s->n_comms, sizeof(*comms));

    if (!from || !comm_of || !partial || !divided || !replicas || !split || !comms)
        return fr__fail_nomem(err);
    for (size_t o = 0; o < n; o++) {
        uint32_t given = from[o] = s->from[o];
        bool is_copy = s->new_op[given] == o;

        comm_of[o] = FR_NONE;
        partial[o] = is_copy ? s->partial[given] : 0;
        divided[o] = is_copy ? s->divided[given] : 0;
        replicas[o] = is_copy && s->replicas[given] ? s->replicas[given] : 1;
        for (size_t a = 0; a < s->n_axes; a++)
            split[a * n + o] = is_copy && s->g->ops[given].phase <= FR_PHASE_FORWARD
                                   ? s->split[a * s->g->n_ops + given]
                                   : FR__SPLIT_NONE;
    }
    for (size_t c = 0; c < s->n_comms; c++) {
        comms[c] = s->comms[c];
        comm_of[comms[c].op] = (uint32_t)c;
    }
    out->from = from;
    out->comm_of = comm_of;
    out->partial = partial;
    out->divided = divided;
    out->replicas = replicas;
    out->split = split;
    out->comms = comms;
    out->n_comms = s->n_comms;
    out->priv = arena;
    return FR_OK;
}

static enum fr_status shard(struct fr__sharding *s, struct fr__sharded *out, struct fr_error *err)
{
    struct fr__arena *arena;
    enum fr_status st;

    FR_TRY(fr__sharding_pair(s, err));
    FR_TRY(fr__sharding_derive(s, err));
    walk(s);
    if (s->is_out_of_memory || !(arena = fr__arena_new()))
        return fr__fail_nomem(err);
    st = fr_graph_builder_finish(s->b, s->g, &out->graph, err);
    if (st == FR_OK)
        st = keep(out, s, arena, err);
    if (st != FR_OK) {
        fr_graph_free(out->graph);
        fr__arena_free(arena);
    }
    return st;
}

enum fr_status fr__shard(struct fr__sharded *out, const struct fr__shard_problem *in,
                         struct fr_error *err)
{
    struct fr__sharding s = {.in = in, .g = in->graph, .n_axes = in->n_axes, .axes = in->axes};
    struct fr__sharded made = {.graph = NULL};
    enum fr_status st;

    FR_TRY(refuse_unfit(in, err));
    st = allocate(&s) ? shard(&s, &made, err) : fr__fail_nomem(err);
    release(&s);
    if (st == FR_OK)
        *out = made;
    return st;
}

void fr__sharded_free(struct fr__sharded *s)
{
    fr_graph_free(s->graph);
    fr__arena_free(s->priv);
    *s = (struct fr__sharded){.graph = NULL};
}
