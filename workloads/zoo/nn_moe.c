/* workloads/zoo/nn_moe.c - router, dispatch, experts, combine. */
#include "config.h"

#include "workloads/zoo/nn_moe.h"

#include "workloads/zoo/nn_attention.h"

#include <assert.h>

enum { BATCH = 1, DIM_1 = 2, DIM_2 = 4 }; /* dimensions that may be split */
enum { INT64_BYTES = 8 };

/* Gives each of `left` tokens to the expert with the largest remainder. */
static void give_rest(uint32_t n_experts, double remainders[], uint32_t left, uint32_t tokens[])
{
    for (; left > 0; left--) {
        uint32_t best = 0;

        for (uint32_t e = 1; e < n_experts; e++)
            if (remainders[e] > remainders[best])
                best = e;
        tokens[best]++;
        remainders[best] = -1;
    }
}

/* The last of those with the most. */
static uint32_t busiest(uint32_t n_experts, const uint32_t tokens[])
{
    uint32_t best = 0;

    for (uint32_t e = 1; e < n_experts; e++)
        if (tokens[e] >= tokens[best])
            best = e;
    return best;
}

void fr__moe_tokens(uint32_t n_tokens, uint32_t n_experts, unsigned skew_percent, uint32_t tokens[])
{
    double remainders[FR__MAX_EXPERTS], harmonic = 0, skew = skew_percent / 100.0;
    uint32_t left = n_tokens;

    assert(n_experts <= FR__MAX_EXPERTS && n_tokens >= n_experts && skew_percent <= 100);
    for (uint32_t e = 0; e < n_experts; e++)
        harmonic += 1.0 / (e + 1);
    for (uint32_t e = 0; e < n_experts; e++) {
        double share = (1 - skew) / n_experts + skew / ((e + 1) * harmonic);
        double exact = share * n_tokens;

        tokens[e] = (uint32_t)exact < left ? (uint32_t)exact : left;
        remainders[e] = exact - tokens[e];
        left -= tokens[e];
    }
    give_rest(n_experts, remainders, left, tokens);
    for (uint32_t e = 1; e < n_experts; e++)
        if (tokens[e] == 0) {
            tokens[busiest(n_experts, tokens)]--;
            tokens[e]++;
        }
}

/* What the router says, [batch, seq, n_chosen]: the weight of each token's experts, and the order
 * that puts the copies of tokens expert by expert (int64). */
struct routing {
    struct fr__value weights, order;
};

/* Sorts the copies by expert; numbers only, so nothing flows back. */
static struct fr__value sort(struct fr__net *net, struct fr__value experts)
{
    const struct fr__op_spec spec = {.name = "sort", .kind = FR_OP_OTHER};
    struct fr_tensor out = fr__nn_like(net, &experts.t, INT64_BYTES, BATCH | DIM_1);

    return fr__nn_op(net, &spec, &experts, 1, &out, 1);
}

const char *const fr__routers[] = {[FR__ROUTER_TOPK] = "topk",
                                   [FR__ROUTER_SOFTMAX] = "softmax",
                                   [FR__ROUTER_SIGMOID] = "sigmoid",
                                   [FR__ROUTER_FIRST] = "first",
                                   NULL};

/* Scores of all experts, [batch, seq, n_experts]; those of groups that are not among the best are
 * masked. */
static struct fr__value score(struct fr__net *net, const struct fr__moe *m, struct fr__value x)
{
    struct fr__value scores;

    fr__nn_wide(net, true);
    scores = m->has_router_bias ? fr__nn_dense(net, "router", x, m->n_experts)
                                : fr__nn_linear(net, "router", x, m->n_experts);
    fr__nn_wide(net, false);
    if (m->router == FR__ROUTER_SOFTMAX)
        scores = fr__nn_softmax(net, "softmax", scores);
    else if (m->router == FR__ROUTER_SIGMOID)
        scores = fr__nn_sigmoid(net, "sigmoid", scores);
    return m->n_groups > 1 ? fr__nn_mask(net, "groups", scores) : scores;
}

/* The weights of the chosen experts, of their scores. */
static struct fr__value weigh(struct fr__net *net, const struct fr__moe *m, struct fr__value top)
{
    switch (m->router) {
    case FR__ROUTER_SOFTMAX:
    case FR__ROUTER_SIGMOID: /* over their sum, times a number */
        return fr__nn_scale(net, "scale", top);
    case FR__ROUTER_FIRST:
        return fr__nn_sigmoid(net, "sigmoid", top);
    default:
        return fr__nn_softmax(net, "softmax", top);
    }
}

static struct routing route(struct fr__net *net, const struct fr__moe *m, struct fr__value x)
{
    const struct fr__op_spec spec = {
        .name = "topk",
        .kind = FR_OP_TOPK,
        .flops = (double)m->n_experts * x.t.dims[0] * x.t.dims[1] /* comparisons */,
        .shape = {.of = FR_SHAPE_ROWS,
                  .rows = {(uint64_t)x.t.dims[0] * x.t.dims[1], m->n_experts}}};
    const uint32_t dims[] = {x.t.dims[0], x.t.dims[1], m->n_chosen};
    struct fr_tensor out[] = {fr__nn_tensor(net, net->elem_bytes, 3, dims, BATCH | DIM_1),
                              fr__nn_tensor(net, INT64_BYTES, 3, dims, BATCH | DIM_1)};
    struct fr__value scores = score(net, m, x), top, experts;

    top = fr__nn_op(net, &spec, &scores, 1, out, 2);
    experts = (struct fr__value){top.op, top.tensor + 1, out[1]};
    return (struct routing){.weights = weigh(net, m, top), .order = sort(net, experts)};
}

/* Each expert's rows of x, of `width` elements each, one after the other. */
static void dispatch(struct fr__net *net, const char *name, const struct fr__moe *m,
                     struct fr__value x, struct fr__value order, uint32_t width,
                     const uint32_t tokens[], struct fr__value rows[])
{
    const struct fr__value in[] = {x, order};
    struct fr_tensor out[FR__MAX_EXPERTS];
    struct fr__op_spec spec = {.name = name, .kind = FR_OP_GATHER, .bytes = (double)order.t.bytes};
    struct fr__value first;

    for (uint32_t e = 0; e < m->n_experts; e++) {
        const uint32_t dims[] = {x.t.dims[0], tokens[e], width};

        out[e] = fr__nn_tensor(net, net->elem_bytes, 3, dims, BATCH | DIM_2);
        spec.bytes += 2 * (double)out[e].bytes; /* a row is read for each copy */
    }
    spec.shape.of = FR_SHAPE_ROWS;
    spec.shape.rows.rows = fr__nn_elements(net, &order.t);
    spec.shape.rows.columns = width;
    first = fr__nn_op(net, &spec, in, 2, out, m->n_experts);
    for (uint32_t e = 0; e < m->n_experts; e++)
        rows[e] = (struct fr__value){first.op, first.tensor + e, out[e]};
}

static struct fr__value expert(struct fr__net *net, const struct fr__moe *m, struct fr__value x,
                               struct fr__value weights)
{
    if (m->router == FR__ROUTER_FIRST)
        return fr__nn_mlp(net, &m->expert, fr__nn_mul(net, "weight", x, weights));
    return fr__nn_mul(net, "weight", fr__nn_mlp(net, &m->expert, x), weights);
}

/* Each token's rows added up, in x's shape. */
static struct fr__value combine(struct fr__net *net, const struct fr__moe *m, struct fr__value x,
                                const struct fr__value rows[], struct fr__value order)
{
    struct fr__value in[FR__MAX_EXPERTS + 1];
    struct fr_tensor out = fr__nn_like(net, &x.t, net->elem_bytes, BATCH | DIM_2);
    struct fr__op_spec spec = {.name = "combine", .kind = FR_OP_SCATTER};

    for (uint32_t e = 0; e < m->n_experts; e++) {
        in[e] = rows[e];
        spec.flops += (double)fr__nn_elements(net, &rows[e].t);
    }
    in[m->n_experts] = order;
    spec.shape.of = FR_SHAPE_ROWS;
    spec.shape.rows.rows = fr__nn_elements(net, &order.t);
    spec.shape.rows.columns = x.t.dims[2];
    return fr__nn_op(net, &spec, in, m->n_experts + 1, &out, 1);
}

struct fr__value fr__nn_moe(struct fr__net *net, const char *layer, const struct fr__moe *m,
                            struct fr__value x)
{
    struct fr__value rows[FR__MAX_EXPERTS], weights[FR__MAX_EXPERTS];
    uint32_t tokens[FR__MAX_EXPERTS];
    struct routing r;

    fr__moe_tokens(x.t.dims[1] * m->n_chosen, m->n_experts, m->skew_percent, tokens);
    fr__nn_layer(net, "%s", layer);
    r = route(net, m, x);
    dispatch(net, "dispatch", m, x, r.order, x.t.dims[2], tokens, rows);
    dispatch(net, "weights", m, r.weights, r.order, 1, tokens, weights);
    for (uint32_t e = 0; e < m->n_experts; e++) {
        fr__nn_layer(net, "%s.expert%u", layer, e);
        rows[e] = expert(net, m, rows[e], weights[e]);
    }
    fr__nn_layer(net, "%s", layer);
    return combine(net, m, x, rows, r.order);
}
