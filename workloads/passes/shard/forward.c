/* workloads/passes/shard/forward.c - forward ops, and those that run one again: what they read. */
#include "config.h"

#include "workloads/passes/shard/walk.h"

/* The in-edge of forward op f that carries tensor t or what t is a copy of; FR_NONE. */
uint32_t fr__sharding_input_of(const struct fr__sharding *s, uint32_t f, uint32_t t)
{
    const struct fr_graph *g = s->g;

    for (uint32_t i = g->in_first[f]; i < g->in_first[f + 1]; i++)
        if (g->edges[g->in_edges[i]].tensor == s->twin[t])
            return i;
    return FR_NONE;
}

/* Where forward op f wants its input t, or leaves its output t. */
void fr__sharding_want_forward(const struct fr__sharding *s, uint32_t f, uint32_t t, int8_t want[])
{
    uint32_t input = s->twin[t] == FR_NONE ? FR_NONE : fr__sharding_input_of(s, f, t);

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
    if ((op->kind != FR_OP_LOG_SOFTMAX && op->kind != FR_OP_LOSS) ||
        fr__shard_sums_over(s->g, f, FR__SPLIT_DEPTH))
        return;
    fr__sharding_local_op(s, o, NULL, &local);
    if (local.shape.of != FR_SHAPE_ROWS)
        return;
    row.dims[0] = (uint32_t)local.shape.rows.rows;
    row.bytes = SUM_BYTES * local.shape.rows.rows;
    for (size_t a = 0; a < s->n_axes; a++)
        for (unsigned i = 0; fr__sharding_split(s, f, a) == FR__SPLIT_DEPTH &&
                             i < (op->kind == FR_OP_LOSS ? 1u : 2u);
             i++) {
            struct fr__version in = *n_sums ? sums[*n_sums - 1] : *x;

            sums[(*n_sums)++] =
                fr__sharding_add_message(s, o, o, FR_OP_ALL_REDUCE, (uint32_t)a, s->axes[a].name,
                                         &in, &row, (double)row.bytes, fr__sharding_pass(op));
        }
}

/* The given ops that o follows without reading anything of them, as new ops. */
size_t fr__sharding_order_before(struct fr__sharding *s, uint32_t o, uint32_t **after)
{
    const struct fr_graph *g = s->g;
    uint32_t n_in = g->in_first[o + 1] - g->in_first[o];
    size_t n = 0;

    *after = fr__arena_alloc(s->w.scratch, n_in + 1, sizeof(**after));
    for (uint32_t i = g->in_first[o]; *after && i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->tensor == FR_NONE && e->bytes == 0 && s->w.now.op[e->src] != FR_NONE)
            (*after)[n++] = s->w.now.op[e->src];
    }
    if (!*after)
        fr__rewriter_fail(&s->w);
    return n;
}

/* Makes op o once its inputs are there; sums: messages that it waits for. */
void fr__sharding_make(struct fr__sharding *s, uint32_t o, struct fr__input in[], size_t n_in,
                       const int8_t *at)
{
    struct fr__version sums[2 * FR__MAX_AXES];
    size_t n_sums = 0;

    if (fr__sharding_receives(s, o))
        fr__sharding_receive(s, o, in, n_in);
    if (n_in > 0 && fr__sharding_runs_forward(&s->g->ops[o]))
        add_row_sums(s, o, &in[0].v, sums, &n_sums);
    fr__sharding_emit(s, o, in, n_in, at);
    for (size_t i = 0; i < n_sums; i++)
        fr__rewriter_edge(&s->w, sums[i].op, s->w.now.op[o], sums[i].tensor, sums[i].bytes);
}

void fr__sharding_walk_forward(struct fr__sharding *s, uint32_t o)
{
    const struct fr_graph *g = s->g;
    const struct fr_op *op = &g->ops[o];
    uint32_t f = op->phase <= FR_PHASE_FORWARD ? o : op->forward;
    uint32_t n_edges = g->in_first[o + 1] - g->in_first[o];
    struct fr__input *in = fr__arena_alloc(s->w.scratch, n_edges, sizeof(*in));
    struct fr__reader reader = {.op = o, .pass = fr__sharding_pass(op)};
    int8_t want[FR__MAX_AXES];
    size_t n_in = 0;
    uint32_t *after;

    reader.n_after = fr__sharding_order_before(s, o, &after);
    reader.after = after;
    if (!in || fr__rewriter_has_failed(&s->w)) {
        fr__rewriter_fail(&s->w);
        return;
    }
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        uint32_t e = g->in_edges[i], t = g->edges[e].tensor;

        if (t == FR_NONE)
            continue;
        in[n_in] = (struct fr__input){.edge = e};
        if (s->first_version[t] != FR_NONE) {
            fr__sharding_want_forward(s, f, t, want);
            in[n_in].v = fr__sharding_get(s, t, want, &reader);
        }
        n_in += s->first_version[t] != FR_NONE || fr__sharding_receives(s, o);
    }
    fr__sharding_make(s, o, in, n_in, &s->written[(size_t)g->ops[f].first_tensor * s->n_axes]);
}
