/* workloads/passes/autocast.c - mixed precision: casts between ops, op by op in their order. */
#include "config.h"

#include "workloads/passes/autocast.h"

#include "base/error.h"
#include "workloads/graph/elements.h"
#include "workloads/graph/rewriter.h"
#include "workloads/graph/shape.h"

enum { HALF_BYTES = 2, FULL_BYTES = 4 };

enum policy { FOLLOW, HALF, FULL };

struct casting {
    const struct fr_graph *f;
    struct fr__rewriter w;
    uint8_t *elem_bytes;       /* [f->n_tensors] 0: not floating-point */
    uint32_t *keeper_of;       /* [f->n_ops] who owns its parameters now: itself or its cast */
    uint32_t *weights;         /* [f->n_ops] fp16 copy of its parameters, a new tensor; FR_NONE */
    uint32_t *owner_of;        /* [f->n_ops] whose parameters it uses, FR_NONE */
    struct fr_tensor *outputs; /* [most outputs of an op] */
    uint32_t *inputs;          /* [most inputs of an op] new tensors */
    uint32_t n_inputs;
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
    return t->n_dims > 0 ? (uint64_t)fr__tensor_elements(t) : 0;
}

static bool is_float(const struct fr_tensor *t)
{
    return t->n_dims > 0 && t->bytes == n_elements(t) * FULL_BYTES;
}

/* ---- making ops ---- */

static uint64_t bytes_of(const struct casting *c, uint32_t made)
{
    return fr__rewriter_tensor(&c->w, made)->bytes;
}

/* A copy of tensor t with other elements, for op o; one for each op that wants it. Returns the new
 * tensor. */
static uint32_t cast_activation(struct casting *c, uint32_t o, uint32_t t, unsigned elem_bytes,
                                unsigned number)
{
    const struct fr_tensor *old = &c->f->tensors[t];
    uint32_t from = c->w.now.tensor[t], cast;
    struct fr_tensor copy = *old;
    struct fr_op op = {.kind = FR_OP_CAST,
                       .phase = FR_PHASE_FORWARD,
                       .layer = c->f->ops[o].layer,
                       .scales = old->scales};

    copy.alias = FR_NONE;
    copy.bytes = n_elements(old) * elem_bytes;
    op.name = fr__rewriter_name(&c->w, c->f->ops[o].name, "cast", number ? number : FR_NONE);
    op.flops = (double)n_elements(old);
    op.bytes = (double)bytes_of(c, from) + (double)copy.bytes;
    op.shape = fr__shape_of_output(FR_OP_CAST, &copy);
    cast = fr__rewriter_add(&c->w, o, &op, &copy, 1);
    fr__rewriter_read(&c->w, cast, from);
    return fr__rewriter_n_tensors(&c->w) - 1;
}

/* The fp16 copy of the parameters that op o uses. Where o owns them, the cast becomes their owner;
 * where another op does, the cast is tied to that op. It runs when o's first input is there, not
 * before. */
static uint32_t cast_weights(struct casting *c, uint32_t o)
{
    const struct fr_op *old = &c->f->ops[o];
    uint32_t owner = c->owner_of[o], cast, before;
    const struct fr_op *owning = &c->f->ops[owner];
    struct fr_tensor copy = {.alias = FR_NONE, .n_dims = 1};
    struct fr_op op = {.kind = FR_OP_CAST, .phase = FR_PHASE_FORWARD, .layer = old->layer};
    uint64_t n = owning->param_bytes / FULL_BYTES;

    if (c->weights[owner] != FR_NONE)
        return c->weights[owner];
    copy.bytes = n * HALF_BYTES;
    copy.dims[0] = n > UINT32_MAX ? 0 : (uint32_t)n;
    copy.n_dims = n <= UINT32_MAX;
    op.name = fr__rewriter_name(&c->w, old->name, "weight_cast", FR_NONE);
    op.flops = (double)n;
    op.bytes = (double)copy.bytes;
    op.shape = fr__shape_of_parameters((double)n);
    if (owner == o) {
        op.param_bytes = old->param_bytes;
        op.n_params = old->n_params;
    } else {
        op.bytes += (double)owning->param_bytes;
    }
    cast = fr__rewriter_add(&c->w, o, &op, &copy, 1);
    if (owner == o)
        c->keeper_of[o] = cast;
    else
        fr__rewriter_tie(&c->w, c->keeper_of[owner], cast);
    before = c->n_inputs > 0 ? fr__rewriter_tensor(&c->w, c->inputs[0])->op : FR_NONE;
    if (before != c->keeper_of[owner])
        fr__rewriter_order(&c->w, before, cast);
    c->weights[owner] = fr__rewriter_n_tensors(&c->w) - 1;
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
        uint32_t in;

        if (t == FR_NONE)
            continue;
        in = c->w.now.tensor[t];
        if (policy != FOLLOW && c->elem_bytes[t] && c->elem_bytes[t] != want)
            in = cast_activation(c, o, t, want, n_casts++);
        if (f->tensors[t].scales == f->ops[o].scales)
            more_bytes += (double)bytes_of(c, in) - (double)f->tensors[t].bytes;
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

        c->outputs[k] = fr__rewriter_output(&c->w, t);
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
    uint32_t made = c->w.now.op[o];

    for (uint32_t i = 0; i < c->n_inputs; i++)
        fr__rewriter_read(&c->w, made, c->inputs[i]);
    for (uint32_t i = f->in_first[o]; i < f->in_first[o + 1]; i++) {
        const struct fr_edge *e = &f->edges[f->in_edges[i]];

        if (!fr__edge_is_tie(e) && e->tensor == FR_NONE)
            fr__rewriter_keep_edge(&c->w, e);
        else if (fr__edge_is_tie(e) && policy_of(f->ops[o].kind) != HALF)
            fr__rewriter_tie(&c->w, c->keeper_of[e->src], made);
    }
}

static void convert(struct casting *c, uint32_t o)
{
    const struct fr_op *old = &c->f->ops[o];
    unsigned width = output_width(c, o);
    double more_bytes = gather_inputs(c, o);
    struct fr_op op = *old;

    if (policy_of(old->kind) == HALF && c->owner_of[o] != FR_NONE) {
        uint32_t weights = cast_weights(c, o);

        c->inputs[c->n_inputs++] = weights;
        op.param_bytes = 0;
        op.n_params = 0;
    }
    more_bytes += set_outputs(c, o, width);
    if (op.bytes > 0)
        op.bytes = op.bytes + more_bytes > 0 ? op.bytes + more_bytes : 0;
    fr__rewriter_put(&c->w, &c->w.now, o, &op, c->outputs);
    if (c->keeper_of[o] == FR_NONE)
        c->keeper_of[o] = c->w.now.op[o];
    add_edges(c, o);
}

/* ---- the whole ---- */

static void find_owners(struct casting *c)
{
    const struct fr_graph *f = c->f;

    for (uint32_t o = 0; o < f->n_ops; o++) {
        c->owner_of[o] = f->ops[o].param_bytes ? o : FR_NONE;
        for (uint32_t i = f->in_first[o]; i < f->in_first[o + 1]; i++) {
            const struct fr_edge *e = &f->edges[f->in_edges[i]];

            if (fr__edge_is_tie(e) && c->owner_of[o] == FR_NONE)
                c->owner_of[o] = c->owner_of[e->src];
        }
    }
}

static bool allocate(struct casting *c)
{
    const struct fr_graph *f = c->f;
    struct fr__arena *arena = c->w.scratch;
    size_t most_outputs = 1, most_inputs = 0;

    for (size_t o = 0; o < f->n_ops; o++) {
        size_t n_inputs = f->in_first[o + 1] - f->in_first[o];

        most_outputs = f->ops[o].n_tensors > most_outputs ? f->ops[o].n_tensors : most_outputs;
        most_inputs = n_inputs > most_inputs ? n_inputs : most_inputs;
    }
    c->elem_bytes = fr__arena_alloc(arena, f->n_tensors, sizeof(*c->elem_bytes));
    c->keeper_of = fr__arena_nones(arena, f->n_ops);
    c->weights = fr__arena_nones(arena, f->n_ops);
    c->owner_of = fr__arena_nones(arena, f->n_ops);
    c->outputs = fr__arena_alloc(arena, most_outputs, sizeof(*c->outputs));
    c->inputs = fr__arena_nones(arena, most_inputs + 1);
    return c->elem_bytes && c->keeper_of && c->weights && c->owner_of && c->outputs && c->inputs;
}

enum fr_status fr__autocast(const struct fr_graph *forward, struct fr_graph **out,
                            struct fr_error *err)
{
    struct casting c = {.f = forward};
    struct fr_graph info = *forward;
    enum fr_status st;

    FR_TRY(fr__rewriter_init(&c.w, forward, err));
    if (!allocate(&c)) {
        st = fr__fail_nomem(err);
        goto done;
    }
    find_owners(&c);
    for (uint32_t o = 0; o < forward->n_ops && !fr__rewriter_has_failed(&c.w); o++)
        convert(&c, o);
    info.dtype = FR_AMP;
    info.param_elem_bytes = FULL_BYTES;
    st = fr__rewriter_finish(&c.w, &info, out, err);
done:
    fr__rewriter_fini(&c.w);
    return st;
}
