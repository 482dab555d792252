/* workloads/passes/autocast.c - mixed precision: casts between ops, op by op in their order. */
#include "config.h"

#include "workloads/passes/autocast.h"

#include "base/arena.h"
#include "base/error.h"
#include "workloads/graph/shape.h"

#include <stdio.h>
#include <stdlib.h>

enum { HALF_BYTES = 2, FULL_BYTES = 4 };

enum policy { FOLLOW, HALF, FULL };

/* A tensor of the graph being made. */
struct made {
    uint32_t op, tensor;
    uint64_t bytes;
};

struct casting {
    const struct fr_graph *f;
    struct fr_graph_builder *b;
    struct fr__arena *arena;
    struct made *tensors;      /* [f->n_tensors] what became of each */
    uint8_t *elem_bytes;       /* [f->n_tensors] 0: not floating-point */
    uint32_t *op_of;           /* [f->n_ops] */
    uint32_t *keeper_of;       /* [f->n_ops] who owns its parameters now: itself or its cast */
    struct made *weights;      /* [f->n_ops] fp16 copy of its parameters; op FR_NONE: none yet */
    uint32_t *owner_of;        /* [f->n_ops] whose parameters it uses, FR_NONE */
    struct fr_tensor *outputs; /* [most outputs of an op] */
    struct made *inputs;       /* [most inputs of an op] */
    uint32_t n_inputs;
    uint32_t n_ops, n_tensors; /* made so far */
    bool is_out_of_memory;
};

static enum policy policy_of(enum fr_op_kind kind)
{
    switch (kind) {
    case FR_OP_CONV2D:
    case FR_OP_MATMUL:
    case FR_OP_BATCH_MATMUL:
    case FR_OP_LSTM:
    case FR_OP_ATTENTION:
        return HALF;
    case FR_OP_SOFTMAX:
    case FR_OP_LOG_SOFTMAX:
    case FR_OP_LAYERNORM:
    case FR_OP_LOSS:
        return FULL;
    default:
        return FOLLOW;
    }
}

static uint64_t n_elements(const struct fr_tensor *t)
{
    uint64_t n = t->n_dims > 0;

    for (unsigned d = 0; d < t->n_dims; d++)
        n *= t->dims[d];
    return n;
}

static bool is_float(const struct fr_tensor *t)
{
    return t->n_dims > 0 && t->bytes == n_elements(t) * FULL_BYTES;
}

/* ---- making ops ---- */

static uint32_t add_op(struct casting *c, uint32_t from, const struct fr_op *op,
                       const struct fr_tensor outputs[], size_t n_outputs)
{
    const struct fr_graph *f = c->f;

    if (fr_graph_builder_op(c->b, op, f->layer_names[f->ops[from].layer], outputs, n_outputs) ==
        FR_NONE)
        c->is_out_of_memory = true;
    c->n_tensors += (uint32_t)n_outputs;
    return c->n_ops++;
}

/* NAME.SUFFIX, alive until the builder has copied it. */
static const char *suffixed(struct casting *c, const char *name, const char *suffix)
{
    int n = snprintf(NULL, 0, "%s.%s", name, suffix);
    char *text = n < 0 ? NULL : fr__arena_alloc(c->arena, (size_t)n + 1, 1);

    if (!text) {
        c->is_out_of_memory = true;
        return "";
    }
    snprintf(text, (size_t)n + 1, "%s.%s", name, suffix);
    return text;
}

/* A copy of tensor t, made of `from`, with other elements; one for each op that wants it. */
static struct made cast_activation(struct casting *c, uint32_t o, uint32_t t, unsigned elem_bytes,
                                   unsigned number)
{
    const struct fr_tensor *old = &c->f->tensors[t];
    struct made from = c->tensors[t];
    struct fr_tensor copy = *old;
    char suffix[32];
    struct fr_op op = {.kind = FR_OP_CAST, .phase = FR_PHASE_FORWARD, .scales = old->scales};

    copy.alias = FR_NONE;
    copy.bytes = n_elements(old) * elem_bytes;
    snprintf(suffix, sizeof(suffix), number ? "cast%u" : "cast", number);
    op.name = suffixed(c, c->f->ops[o].name, suffix);
    op.flops = (double)n_elements(old);
    op.bytes = (double)from.bytes + (double)copy.bytes;
    op.shape = fr__shape_of_output(FR_OP_CAST, &copy);
    op.forward = c->n_ops;
    add_op(c, o, &op, &copy, 1);
    fr_graph_builder_edge(c->b, from.op, c->n_ops - 1, from.tensor, from.bytes);
    return (struct made){c->n_ops - 1, c->n_tensors - 1, copy.bytes};
}

/* The fp16 copy of the parameters that op o uses. Where o owns them, the cast becomes their owner;
 * where another op does, the cast is tied to that op. It runs when o's first input is there, not
 * before. */
static struct made cast_weights(struct casting *c, uint32_t o)
{
    const struct fr_op *old = &c->f->ops[o];
    uint32_t owner = c->owner_of[o];
    const struct fr_op *owning = &c->f->ops[owner];
    struct fr_tensor copy = {.alias = FR_NONE, .n_dims = 1};
    struct fr_op op = {.kind = FR_OP_CAST, .phase = FR_PHASE_FORWARD};
    uint64_t n = owning->param_bytes / FULL_BYTES;

    if (c->weights[owner].op != FR_NONE)
        return c->weights[owner];
    copy.bytes = n * HALF_BYTES;
    copy.dims[0] = n > UINT32_MAX ? 0 : (uint32_t)n;
    copy.n_dims = n <= UINT32_MAX;
    op.name = suffixed(c, old->name, "weight_cast");
    op.flops = (double)n;
    op.bytes = (double)copy.bytes;
    op.shape = fr__shape_of_parameters((double)n);
    op.forward = c->n_ops;
    if (owner == o) {
        op.param_bytes = old->param_bytes;
        op.n_params = old->n_params;
    } else {
        op.bytes += (double)owning->param_bytes;
    }
    add_op(c, o, &op, &copy, 1);
    if (owner == o)
        c->keeper_of[o] = c->n_ops - 1;
    else
        fr_graph_builder_tie(c->b, c->keeper_of[owner], c->n_ops - 1);
    if (c->n_inputs > 0 && c->inputs[0].op != c->keeper_of[owner])
        fr_graph_builder_edge(c->b, c->inputs[0].op, c->n_ops - 1, FR_NONE, 0);
    c->weights[owner] = (struct made){c->n_ops - 1, c->n_tensors - 1, copy.bytes};
    return c->weights[owner];
}

/* ---- one op ---- */

/* Bytes an element of what op o writes; 0: it reads and writes nothing floating-point. */
static unsigned output_width(const struct casting *c, uint32_t o)
{
    const struct fr_graph *f = c->f;
    const struct fr_op *op = &f->ops[o];
    enum policy policy = policy_of(op->kind);
    unsigned widest = 0;

    if (policy != FOLLOW)
        return policy == HALF ? HALF_BYTES : FULL_BYTES;
    if (op->n_tensors > 0 && f->tensors[op->first_tensor].alias != FR_NONE)
        return c->elem_bytes[f->tensors[op->first_tensor].alias];
    for (uint32_t i = f->in_first[o]; i < f->in_first[o + 1]; i++) {
        uint32_t t = f->edges[f->in_edges[i]].tensor;

        if (t != FR_NONE && c->elem_bytes[t] > widest)
            widest = c->elem_bytes[t];
    }
    return widest ? widest : FULL_BYTES;
}

/* Collects what the op reads, cast where its policy asks for it. Returns by how much the traffic of
 * what it reads changes. */
static double gather_inputs(struct casting *c, uint32_t o)
{
    const struct fr_graph *f = c->f;
    enum policy policy = policy_of(f->ops[o].kind);
    unsigned want = policy == HALF ? HALF_BYTES : FULL_BYTES, n_casts = 0;
    double more_bytes = 0;

    c->n_inputs = 0;
    for (uint32_t i = f->in_first[o]; i < f->in_first[o + 1]; i++) {
        uint32_t t = f->edges[f->in_edges[i]].tensor;
        struct made in;

        if (t == FR_NONE)
            continue;
        in = c->tensors[t];
        if (policy != FOLLOW && c->elem_bytes[t] && c->elem_bytes[t] != want)
            in = cast_activation(c, o, t, want, n_casts++);
        if (f->tensors[t].scales == f->ops[o].scales)
            more_bytes += (double)in.bytes - (double)f->tensors[t].bytes;
        c->inputs[c->n_inputs++] = in;
    }
    return more_bytes;
}

/* Sets the op's outputs in `outputs`; only what has a gradient changes, statistics stay fp32. */
static double set_outputs(struct casting *c, uint32_t o, unsigned width)
{
    const struct fr_op *op = &c->f->ops[o];
    bool is_each = op->kind == FR_OP_SPLIT || op->n_tensors == 1;
    double more_bytes = 0;

    for (uint32_t k = 0; k < op->n_tensors; k++) {
        uint32_t t = op->first_tensor + k;
        const struct fr_tensor *old = &c->f->tensors[t];

        c->outputs[k] = *old;
        if (old->alias != FR_NONE)
            c->outputs[k].alias = c->tensors[old->alias].tensor;
        c->elem_bytes[t] = is_float(old) ? FULL_BYTES : 0;
        if (c->elem_bytes[t] && op->phase == FR_PHASE_FORWARD && (k == 0 || is_each)) {
            c->elem_bytes[t] = (uint8_t)width;
            c->outputs[k].bytes = n_elements(old) * width;
        }
        if (old->scales == op->scales)
            more_bytes += (double)c->outputs[k].bytes - (double)old->bytes;
    }
    return more_bytes;
}

static void add_edges(struct casting *c, uint32_t o)
{
    const struct fr_graph *f = c->f;

    for (uint32_t i = 0; i < c->n_inputs; i++)
        fr_graph_builder_edge(c->b, c->inputs[i].op, c->op_of[o], c->inputs[i].tensor,
                              c->inputs[i].bytes);
    for (uint32_t i = f->in_first[o]; i < f->in_first[o + 1]; i++) {
        const struct fr_edge *e = &f->edges[f->in_edges[i]];
        bool is_tied = e->tensor == FR_NONE && e->bytes > 0;

        if (is_tied && policy_of(f->ops[o].kind) != HALF)
            fr_graph_builder_tie(c->b, c->keeper_of[e->src], c->op_of[o]);
        else if (e->tensor == FR_NONE && !is_tied)
            fr_graph_builder_edge(c->b, c->op_of[e->src], c->op_of[o], FR_NONE, 0);
    }
}

static void convert(struct casting *c, uint32_t o)
{
    const struct fr_op *old = &c->f->ops[o];
    struct fr__mark mark = fr__arena_mark(c->arena);
    unsigned width = output_width(c, o);
    double more_bytes = gather_inputs(c, o);
    struct fr_op op = *old;

    if (policy_of(old->kind) == HALF && c->owner_of[o] != FR_NONE) {
        struct made weights = cast_weights(c, o);

        c->inputs[c->n_inputs++] = weights;
        op.param_bytes = 0;
        op.n_params = 0;
    }
    more_bytes += set_outputs(c, o, width);
    if (op.bytes > 0)
        op.bytes = op.bytes + more_bytes > 0 ? op.bytes + more_bytes : 0;
    op.forward = c->n_ops;
    for (uint32_t k = 0; k < old->n_tensors; k++)
        c->tensors[old->first_tensor + k] =
            (struct made){c->n_ops, c->n_tensors + k, c->outputs[k].bytes};
    c->op_of[o] = add_op(c, o, &op, c->outputs, old->n_tensors);
    if (c->keeper_of[o] == FR_NONE)
        c->keeper_of[o] = c->op_of[o];
    add_edges(c, o);
    fr__arena_rewind(c->arena, mark);
}

/* ---- the whole ---- */

static void find_owners(struct casting *c)
{
    const struct fr_graph *f = c->f;

    for (uint32_t o = 0; o < f->n_ops; o++) {
        c->owner_of[o] = f->ops[o].param_bytes ? o : FR_NONE;
        c->weights[o].op = c->keeper_of[o] = FR_NONE;
        for (uint32_t i = f->in_first[o]; i < f->in_first[o + 1]; i++) {
            const struct fr_edge *e = &f->edges[f->in_edges[i]];

            if (e->tensor == FR_NONE && e->bytes && c->owner_of[o] == FR_NONE)
                c->owner_of[o] = c->owner_of[e->src];
        }
    }
}

static bool allocate(struct casting *c)
{
    const struct fr_graph *f = c->f;
    size_t most_outputs = 1, most_inputs = 0;

    for (size_t o = 0; o < f->n_ops; o++) {
        size_t n_inputs = f->in_first[o + 1] - f->in_first[o];

        most_outputs = f->ops[o].n_tensors > most_outputs ? f->ops[o].n_tensors : most_outputs;
        most_inputs = n_inputs > most_inputs ? n_inputs : most_inputs;
    }
    c->b = fr_graph_builder_new();
    c->arena = fr__arena_new();
    if (!c->b || !c->arena)
        return false;
    c->tensors = fr__arena_alloc(c->arena, f->n_tensors, sizeof(*c->tensors));
    c->elem_bytes = fr__arena_alloc(c->arena, f->n_tensors, sizeof(*c->elem_bytes));
    c->op_of = fr__arena_alloc(c->arena, f->n_ops, sizeof(*c->op_of));
    c->keeper_of = fr__arena_alloc(c->arena, f->n_ops, sizeof(*c->keeper_of));
    c->weights = fr__arena_alloc(c->arena, f->n_ops, sizeof(*c->weights));
    c->owner_of = fr__arena_alloc(c->arena, f->n_ops, sizeof(*c->owner_of));
    c->outputs = fr__arena_alloc(c->arena, most_outputs, sizeof(*c->outputs));
    c->inputs = fr__arena_alloc(c->arena, most_inputs + 1, sizeof(*c->inputs));
    return c->tensors && c->elem_bytes && c->op_of && c->keeper_of && c->weights && c->owner_of &&
           c->outputs && c->inputs;
}

enum fr_status fr__autocast(const struct fr_graph *forward, struct fr_graph **out,
                            struct fr_error *err)
{
    struct casting c = {.f = forward};
    struct fr_graph info = *forward;
    enum fr_status st;

    if (!allocate(&c)) {
        st = fr__fail_nomem(err);
        goto done;
    }
    find_owners(&c);
    for (uint32_t o = 0; o < forward->n_ops && !c.is_out_of_memory; o++)
        convert(&c, o);
    info.dtype = FR_AMP;
    info.param_elem_bytes = FULL_BYTES;
    st = c.is_out_of_memory ? fr__fail_nomem(err) : fr_graph_builder_finish(c.b, &info, out, err);
done:
    fr_graph_builder_free(c.b);
    fr__arena_free(c.arena);
    return st;
}
