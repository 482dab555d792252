/* workloads/passes/tune_adapters.c - the ops that LoRA adds beside a product: adapters, and what
 * decodes weights of 4 bits. */
#include "config.h"

#include "workloads/passes/tune_parts.h"

#include "workloads/graph/elements.h"
#include "workloads/graph/shape.h"

/* The edge over which an op gets its first input; FR_NONE. */
static uint32_t input_edge(const struct fr_graph *g, uint32_t o)
{
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++)
        if (g->edges[g->in_edges[i]].tensor != FR_NONE)
            return g->in_edges[i];
    return FR_NONE;
}

static unsigned width_of(const struct fr_tensor *t)
{
    return (unsigned)((double)t->bytes / fr__tensor_elements(t));
}

/* Like t with other columns. */
static struct fr_tensor with_columns(const struct fr_tensor *t, uint64_t columns)
{
    struct fr_tensor out = *t;

    out.alias = FR_NONE;
    out.dims[t->n_dims - 1] = (uint32_t)columns;
    out.bytes = (uint64_t)fr__tensor_elements(&out) * width_of(t);
    return out;
}

/* ---- one op ---- */

struct reads {
    uint32_t tensors[2]; /* of the new graph */
    size_t n;
};

/* Adds an op of product o's layer that writes out[0 .. n). Returns its first output's number. */
static uint32_t add(struct fr__tuned *t, uint32_t o, const char *what, struct fr_op op,
                    const struct reads *in, const struct fr_tensor out[], size_t n)
{
    const struct fr_op *of = &t->g->ops[o];
    uint32_t made;

    op.name = fr__rewriter_name(&t->w, of->name, what, FR_NONE);
    op.loc = of->loc;
    op.phase = FR_PHASE_FORWARD;
    op.layer = of->layer;
    op.scales = of->scales;
    op.is_adapter = true;
    op.bytes = 0;
    for (size_t i = 0; i < in->n; i++)
        op.bytes += (double)fr__rewriter_tensor(&t->w, in->tensors[i])->bytes;
    for (size_t i = 0; i < n; i++)
        op.bytes += (double)out[i].bytes;
    if (op.shape.of == FR_SHAPE_UNKNOWN)
        op.shape = fr__shape_of_output(op.kind, &out[0]);
    made = fr__rewriter_add(&t->w, o, &op, out, n);
    for (size_t i = 0; i < in->n; i++)
        fr__rewriter_read(&t->w, made, in->tensors[i]);
    return fr__rewriter_n_tensors(&t->w) - (uint32_t)n;
}

static struct reads reads_one(uint32_t tensor)
{
    return (struct reads){.tensors = {tensor}, .n = 1};
}

/* ---- an adapter ---- */

static uint32_t add_dropout(struct fr__tuned *t, uint32_t o, uint32_t x)
{
    const unsigned flops_each = 2; /* compare the random number, scale */
    struct fr_tensor out[2] = {*fr__rewriter_tensor(&t->w, x), *fr__rewriter_tensor(&t->w, x)};
    const struct reads in = reads_one(x);

    out[0].alias = out[1].alias = FR_NONE;
    out[1].bytes = out[1].bytes / width_of(&out[1]);
    return add(
        t, o, "lora_dropout",
        (struct fr_op){.kind = FR_OP_DROPOUT, .flops = flops_each * fr__tensor_elements(&out[0])},
        &in, out, 2);
}

/* One of the two products: [rows][depth] times n weights, which together give `columns`. What it
 * writes is `out`. In a step in fp8 adapters keep operands of 16 bits: they are no modules of
 * Transformer Engine (NVIDIA NeMo, collections/llm/peft and lightning adapters). */
static uint32_t add_part(struct fr__tuned *t, uint32_t o, const char *what, uint64_t columns,
                         uint64_t depth, uint32_t x, const struct fr_tensor *out)
{
    uint32_t n = t->adapters[o].n_parts;
    uint64_t rows = t->g->ops[o].shape.product.rows;
    const struct reads in = reads_one(x);
    struct fr_op op = {.kind = FR_OP_MATMUL,
                       .flops = 2 * (double)rows * (double)columns * (double)depth,
                       .param_bytes = columns * depth * t->g->param_elem_bytes,
                       .n_params = n,
                       .shape = {.of = FR_SHAPE_PRODUCT,
                                 .product = {.batch = 1,
                                             .rows = rows,
                                             .columns = columns,
                                             .depth = depth,
                                             .is_transposed = true,
                                             .is_wide = t->g->dtype == FR_FP8}}};

    return add(t, o, what, op, &in, out, 1);
}

void fr__tune_add_adapter(struct fr__tuned *t, uint32_t o, uint32_t end)
{
    const struct fr_graph *g = t->g;
    const struct fr__adapter *a = &t->adapters[o];
    uint32_t last = g->ops[end].first_tensor, base = t->w.now.tensor[last], edge = input_edge(g, o);
    struct fr_tensor y = g->tensors[last], narrow;
    uint32_t x, tensor;
    struct reads both;

    y.alias = FR_NONE;
    if (edge == FR_NONE || fr__rewriter_has_failed(&t->w))
        return;
    x = t->w.now.tensor[g->edges[edge].tensor];
    if (t->how->has_dropout)
        x = add_dropout(t, o, x);
    narrow = with_columns(&y, (uint64_t)a->n_parts * t->how->rank);
    tensor = add_part(t, o, "lora_a", (uint64_t)a->n_parts * t->how->rank,
                      g->ops[o].shape.product.depth, x, &narrow);
    tensor = add_part(t, o, "lora_b", a->columns, t->how->rank, tensor, &y);
    both = reads_one(tensor);
    tensor =
        add(t, o, "lora_scale",
            (struct fr_op){.kind = FR_OP_SCALE, .flops = fr__tensor_elements(&y)}, &both, &y, 1);
    both = (struct reads){.tensors = {base, tensor}, .n = 2};
    t->w.now.tensor[last] =
        add(t, o, "lora_add", (struct fr_op){.kind = FR_OP_ADD, .flops = fr__tensor_elements(&y)},
            &both, &y, 1);
}

/* ---- weights in 4 bits ---- */

/* Adds what makes 16 bits of the weights of product o, once its input is there. Returns the
 * weights. 2 FLOPs each: looked up, and multiplied with the constant of their block. */
static uint32_t add_decoder(struct fr__tuned *t, uint32_t o)
{
    const struct fr_op *of = &t->g->ops[o];
    uint64_t n = of->param_bytes / t->g->param_elem_bytes;
    uint32_t edge = input_edge(t->g, o), made;
    struct fr_tensor weights = {.bytes = of->param_bytes, .alias = FR_NONE};
    struct fr_op op = {.name = fr__rewriter_name(&t->w, of->name, "dequant", FR_NONE),
                       .loc = of->loc,
                       .kind = FR_OP_CAST,
                       .phase = FR_PHASE_FORWARD,
                       .layer = of->layer,
                       .flops = 2 * (double)n,
                       .bytes = (double)weights.bytes,
                       .param_bytes = of->param_bytes,
                       .n_params = of->n_params,
                       .is_frozen = true,
                       .packing = t->how->packing,
                       .shape = fr__shape_of_parameters((double)n)};

    weights.dims[0] = n > UINT32_MAX ? 0 : (uint32_t)n;
    weights.n_dims = n <= UINT32_MAX;
    made = fr__rewriter_add(&t->w, o, &op, &weights, 1);
    if (edge != FR_NONE && !fr__rewriter_has_failed(&t->w))
        fr__rewriter_order(
            &t->w, fr__rewriter_tensor(&t->w, t->w.now.tensor[t->g->edges[edge].tensor])->op, made);
    return fr__rewriter_n_tensors(&t->w) - 1;
}

void fr__tune_add_product(struct fr__tuned *t, uint32_t o)
{
    struct fr_op op = fr__rewriter_op(&t->w, o);
    uint32_t weights = FR_NONE;

    if (t->is_packed[o]) {
        weights = add_decoder(t, o);
        op.param_bytes = 0;
        op.n_params = 0;
    } else {
        op.is_frozen = t->is_frozen[o];
    }
    fr__rewriter_put(&t->w, &t->w.now, o, &op, fr__rewriter_outputs(&t->w, o));
    if (weights != FR_NONE)
        fr__rewriter_read(&t->w, t->w.now.op[o], weights);
}
