/* lowering/dag/dims.c - the dimensions along which each kind of op may be split, by its
 * tensors' shapes. */
#include "config.h"

#include "lowering/dag/dims.h"

#include <math.h>

enum channels { WHOLE, FILTERED, APART };

struct rule {
    bool has_samples; /* samples do not depend on each other */
    enum channels channels;
};

static const struct rule rules[FR_N_OP_KINDS] = {
    [FR_OP_CONV2D] = {true, FILTERED},    [FR_OP_MATMUL] = {true, FILTERED},
    [FR_OP_EMBEDDING] = {true, FILTERED}, [FR_OP_BATCH_MATMUL] = {true, APART},
    [FR_OP_ATTENTION] = {true, APART},    [FR_OP_SOFTMAX] = {true, APART},
    [FR_OP_LOG_SOFTMAX] = {true, APART},  [FR_OP_BIAS] = {true, APART},
    [FR_OP_RELU] = {true, APART},         [FR_OP_GELU] = {true, APART},
    [FR_OP_SILU] = {true, APART},         [FR_OP_TANH] = {true, APART},
    [FR_OP_SIGMOID] = {true, APART},      [FR_OP_DROPOUT] = {true, APART},
    [FR_OP_ADD] = {true, APART},          [FR_OP_MUL] = {true, APART},
    [FR_OP_SCALE] = {true, APART},        [FR_OP_MASK] = {true, APART},
    [FR_OP_CAST] = {true, APART},         [FR_OP_GRAD_ADD] = {true, APART},
    [FR_OP_MAXPOOL] = {true, APART},      [FR_OP_AVGPOOL] = {true, APART},
    [FR_OP_LAYERNORM] = {true, WHOLE},    [FR_OP_RMSNORM] = {true, WHOLE},
    [FR_OP_LSTM] = {true, WHOLE},         [FR_OP_TRANSPOSE] = {true, WHOLE},
    [FR_OP_ROTARY] = {true, WHOLE},       [FR_OP_GATHER] = {true, WHOLE},
    [FR_OP_SCATTER] = {true, WHOLE},      [FR_OP_TOPK] = {true, WHOLE},
};

/* The forward op of an op. A sum of gradients is an op of its own, whatever the op whose gradients
 * it adds. */
static const struct fr_op *forward_of(const struct fr_graph *g, uint32_t op)
{
    const struct fr_op *o = &g->ops[op];

    return o->forward == FR_NONE || o->kind == FR_OP_GRAD_ADD ? o : &g->ops[o->forward];
}

/* The tensor whose channels the op makes: a data gradient writes the channels that its forward op
 * reads. */
static const struct fr_tensor *written(const struct fr_graph *g, uint32_t op)
{
    const struct fr_op *o = &g->ops[op];

    if (o->phase != FR_PHASE_BACKWARD_DATA || o->n_tensors == 0)
        o = forward_of(g, op);
    return o->n_tensors > 0 ? &g->tensors[o->first_tensor] : NULL;
}

/* The dimension of the channels or heads: the second of images and scores, the last of
 * sequences. */
static unsigned channel_dim(const struct fr_tensor *t)
{
    return t->n_dims == 3 ? 2 : 1;
}

static bool may_split_channels(const struct fr_graph *g, uint32_t op)
{
    const struct fr_op *forward = forward_of(g, op);
    const struct fr_tensor *y = &g->tensors[forward->first_tensor];

    switch (rules[forward->kind].channels) {
    case FILTERED:
        return true;
    case APART:
        return y->n_dims >= 2 && y->split_mask >> channel_dim(y) & 1;
    default:
        return false;
    }
}

uint8_t fr__dag_dims(const struct fr_graph *g, uint32_t op)
{
    const struct fr_op *o = &g->ops[op], *forward = forward_of(g, op);
    uint8_t mask = 0;

    if (!o->scales || forward->n_tensors == 0 || !rules[o->kind].has_samples ||
        !rules[forward->kind].has_samples)
        return 0;
    if (g->tensors[forward->first_tensor].split_mask & 1)
        mask |= 1u << FR__DAG_BATCH;
    if (may_split_channels(g, op))
        mask |= 1u << FR__DAG_CHANNEL;
    return mask;
}

bool fr__dag_channels_apart(const struct fr_graph *g, uint32_t op)
{
    return rules[g->ops[op].kind].channels == APART;
}

double fr__dag_n_channels(const struct fr_graph *g, uint32_t op)
{
    const struct fr_tensor *t = written(g, op), *sums;
    const struct fr_op *forward = forward_of(g, op);

    if (!t || t->n_dims < 2)
        return INFINITY;
    if (forward->kind == FR_OP_ATTENTION && forward->n_tensors > 1) {
        sums = &g->tensors[forward->first_tensor + 1]; /* [batch, heads, seq] */
        return sums->n_dims == 3 ? (double)sums->dims[1] : (double)INFINITY;
    }
    return t->dims[channel_dim(t)];
}
