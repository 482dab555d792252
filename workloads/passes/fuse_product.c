/* workloads/passes/fuse_product.c - matrix products with the bias and the activation behind them;
 * the rules are in fuse.h.
 */
#include "config.h"

#include "workloads/passes/fuse_parts.h"

struct products {
    struct fr__fusing *f;
    uint32_t *of_bias;     /* [n_ops] forward bias: the product that has it; FR_NONE */
    uint32_t *weights;     /* [n_ops] forward product: the product of its weights' gradient */
    enum fr_fusion fusion; /* that asked for it */
    bool with_activation;  /* and its gradient, and the bias's */
};

static bool asks_for(const struct fr__fusing *f, enum fr_fusion fusion)
{
    return f->fusions >> fusion & 1;
}

static bool is_alone(const struct fr__fusing *f, uint32_t o)
{
    return f->size[fr__fusing_group(f, o)] == 1;
}

/* What cuBLASLt's epilogues know (CUBLASLT_EPILOGUE_RELU, _GELU). */
static bool is_epilogue(enum fr_op_kind kind)
{
    return kind == FR_OP_RELU || kind == FR_OP_GELU;
}

/* Whether the op is a product that runs once, in that phase, and gives one tensor. */
static bool is_product(const struct fr__fusing *f, uint32_t o, enum fr_phase phase)
{
    const struct fr_op *op = &f->g->ops[o];

    return op->kind == FR_OP_MATMUL && op->phase == phase && !op->is_recomputed &&
           op->n_tensors == 1 && op->scales;
}

static void find_forward(struct products *p, uint32_t o)
{
    struct fr__fusing *f = p->f;
    uint32_t bias = fr__fusing_only_reader(f, o), act;

    if (bias == FR_NONE || f->g->ops[bias].kind != FR_OP_BIAS || !fr__fusing_may_join(f, bias) ||
        !fr__fusing_agrees(f->owns[o], f->owns[bias]))
        return;
    fr__fusing_unite(f, o, bias, p->fusion);
    p->of_bias[bias] = o;
    act = fr__fusing_only_reader(f, bias);
    if (p->with_activation && act != FR_NONE && is_epilogue(f->g->ops[act].kind) &&
        fr__fusing_may_join(f, act))
        fr__fusing_unite(f, o, act, p->fusion);
}

/* The one tensor that an op reads of another backward op's; FR_NONE: there are several. */
static uint32_t gradient_read(const struct fr__fusing *f, uint32_t o)
{
    const struct fr_graph *g = f->g;
    uint32_t tensor = FR_NONE;

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (g->ops[e->src].phase <= FR_PHASE_FORWARD)
            continue;
        if (tensor != FR_NONE || e->tensor == FR_NONE)
            return FR_NONE;
        tensor = e->tensor;
    }
    return tensor;
}

/* The bias's gradient is the sum over a product's operand, which the gradient of its weights
 * reads. */
static void find_bias_gradient(struct products *p, uint32_t o)
{
    const struct fr_op *op = &p->f->g->ops[o];
    uint32_t product = op->forward == FR_NONE ? FR_NONE : p->of_bias[op->forward], weights;

    if (op->kind != FR_OP_BIAS || op->phase != FR_PHASE_BACKWARD_WEIGHT || product == FR_NONE)
        return;
    weights = p->weights[product];
    if (weights != FR_NONE && is_alone(p->f, weights) && gradient_read(p->f, o) != FR_NONE &&
        gradient_read(p->f, o) == gradient_read(p->f, weights))
        fr__fusing_unite(p->f, weights, o, p->fusion);
}

static size_t count_readers(const struct fr_graph *g, uint32_t o)
{
    size_t n = 0;

    for (uint32_t i = g->out_first[o]; i < g->out_first[o + 1]; i++)
        n += g->edges[i].tensor != FR_NONE;
    return n;
}

/* An activation's gradient behind the product that gives the gradient of its output, where nothing
 * else reads that. */
static void find_activation_gradient(struct products *p, uint32_t o)
{
    const struct fr_graph *g = p->f->g;
    const struct fr_op *op = &g->ops[o];
    uint32_t read, product;

    if (!is_epilogue(op->kind) || op->phase != FR_PHASE_BACKWARD_DATA || op->is_recomputed ||
        op->forward == FR_NONE || !p->f->has_product[fr__fusing_group(p->f, op->forward)])
        return;
    read = gradient_read(p->f, o);
    product = read == FR_NONE ? FR_NONE : g->tensors[read].op;
    if (product != FR_NONE && is_product(p->f, product, FR_PHASE_BACKWARD_DATA) &&
        is_alone(p->f, product) && count_readers(g, product) == 1)
        fr__fusing_unite(p->f, product, o, p->fusion);
}

bool fr__fusing_find_products(struct fr__fusing *f)
{
    const struct fr_graph *g = f->g;
    struct products p = {.f = f, .with_activation = asks_for(f, FR_FUSE_PRODUCT_EPILOGUE)};

    p.fusion = p.with_activation ? FR_FUSE_PRODUCT_EPILOGUE : FR_FUSE_PRODUCT_BIAS;
    if (!asks_for(f, p.fusion))
        return true;
    p.of_bias = fr__arena_take(f->scratch, g->n_ops, sizeof(*p.of_bias));
    p.weights = fr__arena_take(f->scratch, g->n_ops, sizeof(*p.weights));
    if (!p.of_bias || !p.weights)
        return false;
    for (uint32_t o = 0; o < g->n_ops; o++)
        p.of_bias[o] = p.weights[o] = FR_NONE;
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (is_product(f, o, FR_PHASE_FORWARD))
            find_forward(&p, o);
        else if (is_product(f, o, FR_PHASE_BACKWARD_WEIGHT) && g->ops[o].forward != FR_NONE)
            p.weights[g->ops[o].forward] = o;
    for (uint32_t o = 0; p.with_activation && o < g->n_ops; o++) {
        find_bias_gradient(&p, o);
        find_activation_gradient(&p, o);
    }
    return true;
}
