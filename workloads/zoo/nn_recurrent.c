/* workloads/zoo/nn_recurrent.c - shapes, FLOPs and bytes of unrolled steps. */
#include "config.h"

#include "workloads/zoo/nn_recurrent.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* Arithmetic per element, as in nn.c: two biases; three of four gates 1 / (1 + exp(-x)), one tanh;
 * the sum before attention's tanh. */
static const double add_flops = 1, mul_flops = 1, tanh_flops = 1, bias_flops = 2;
static const double gate_flops = (3 * 3 + 1) / 4.0, add_tanh_flops = 2;

enum { N_GATES = 4, MAX_NAME = 48 };
enum { SPLIT_0 = 1, SPLIT_1 = 2, SPLIT_2 = 4 };

static struct fr_tensor matrix(struct fr__net *net, uint32_t width)
{
    const uint32_t dims[] = {net->batch, width};

    return fr__nn_tensor(net, net->elem_bytes, 2, dims, SPLIT_0 | SPLIT_1);
}

static struct fr_tensor sequence(struct fr__net *net, uint32_t n_steps, uint32_t width)
{
    const uint32_t dims[] = {net->batch, n_steps, width};

    return fr__nn_tensor(net, net->elem_bytes, 3, dims, SPLIT_0 | SPLIT_2);
}

/* ---- sequences and their steps ---- */

struct fr__value fr__nn_sentences(struct fr__net *net, const char *name, uint32_t n_steps)
{
    fr__nn_layer(net, "input");
    return fr__nn_indices(net, name, n_steps);
}

void fr__nn_unstack(struct fr__net *net, const char *name, struct fr__value x,
                    struct fr__value out[])
{
    uint32_t n = x.t.dims[1];
    const struct fr__op_spec spec = {.name = name, .kind = FR_OP_SPLIT, .is_view = true};
    struct fr_tensor *steps = calloc(n, sizeof(*steps));
    struct fr__value first;

    if (!steps) {
        net->is_out_of_memory = true;
        for (uint32_t t = 0; t < n; t++) /* the ops to come still look at shapes */
            out[t] =
                (struct fr__value){.op = x.op, .tensor = x.tensor, .t = matrix(net, x.t.dims[2])};
        return;
    }
    for (uint32_t t = 0; t < n; t++)
        steps[t] = matrix(net, x.t.dims[2]);
    first = fr__nn_op(net, &spec, &x, 1, steps, n);
    for (uint32_t t = 0; t < n; t++)
        out[t] = (struct fr__value){first.op, first.tensor + t, steps[t]};
    free(steps);
}

struct fr__value fr__nn_stack(struct fr__net *net, const char *name, const struct fr__value steps[],
                              size_t n)
{
    const struct fr__op_spec spec = {.name = name, .kind = FR_OP_CONCAT};
    struct fr_tensor y = sequence(net, (uint32_t)n, steps[0].t.dims[1]);

    return fr__nn_op(net, &spec, steps, n, &y, 1);
}

struct fr__value fr__nn_join(struct fr__net *net, const char *name, struct fr__value a,
                             struct fr__value b)
{
    const struct fr__op_spec spec = {.name = name, .kind = FR_OP_CONCAT};
    const struct fr__value in[] = {a, b};
    struct fr_tensor y = matrix(net, a.t.dims[1] + b.t.dims[1]);

    return fr__nn_op(net, &spec, in, 2, &y, 1);
}

/* ---- ops of one step ---- */

/* An op that uses parameters which the steps share: spec says what the first user owns. */
static struct fr__value shared_op(struct fr__net *net, struct fr__op_spec *spec,
                                  const struct fr__value *x, struct fr_tensor y,
                                  struct fr__shared *w)
{
    struct fr__value v;

    if (w->is_owned) {
        spec->n_weights = 0;
        spec->n_params = 0;
    }
    v = fr__nn_op(net, spec, x, 1, &y, 1);
    if (w->is_owned)
        fr_graph_builder_tie(net->b, w->op, v.op);
    else
        w->op = v.op;
    w->is_owned = true;
    return v;
}

struct fr__value fr__nn_shared_linear(struct fr__net *net, const char *name, struct fr__value x,
                                      uint32_t n_out, struct fr__shared *w)
{
    uint32_t n_in = x.t.dims[x.t.n_dims - 1];
    struct fr_tensor y = matrix(net, x.t.n_dims == 3 ? x.t.dims[1] : n_out);
    struct fr__op_spec spec = {
        .name = name,
        .kind = FR_OP_MATMUL,
        .flops = 2 * (double)n_in * (double)fr__nn_elements(net, &y),
        .n_weights = fr__nn_product(net, n_in, n_out),
        .n_params = 1,
        .shape = fr__shape_of_linear(fr__nn_elements(net, &y) / n_out, n_out, n_in)};

    assert(x.t.n_dims == 2 || n_out == 1);
    /* cells are no modules that are turned into 8-bit ones: torchao swaps nn.Linear alone */
    spec.shape.product.is_wide = net->dtype == FR_FP8 || net->dtype == FR_FP4;
    return shared_op(net, &spec, &x, y, w);
}

/* An elementwise op of a or of a and b (NULL: none); in place: into a's storage. */
static struct fr__value elementwise(struct fr__net *net, const char *name, enum fr_op_kind kind,
                                    double flops, const struct fr__value *a,
                                    const struct fr__value *b, bool in_place)
{
    const struct fr__op_spec spec = {.name = name,
                                     .kind = kind,
                                     .flops = flops * (double)fr__nn_elements(net, &a->t),
                                     .is_in_place = in_place};
    const struct fr__value in[] = {*a, b ? *b : *a};
    struct fr_tensor y = fr__nn_like(net, &a->t, net->elem_bytes, a->t.split_mask);

    return fr__nn_op(net, &spec, in, b ? 2 : 1, &y, 1);
}

/* ---- long short-term memory ---- */

/* Names of one step's ops. */
struct step {
    struct fr__net *net;
    struct fr__lstm *l;
    uint32_t t;
    char name[MAX_NAME];
};

static const char *named(struct step *s, const char *op)
{
    int n = snprintf(s->name, sizeof(s->name), "%st%u.%s", s->l->prefix, s->t, op);

    assert(n > 0 && (size_t)n < sizeof(s->name));
    (void)n;
    return s->name;
}

void fr__lstm_init(struct fr__net *net, struct fr__lstm *l, const char *prefix, uint32_t hidden)
{
    struct fr_tensor zeros[] = {matrix(net, hidden), matrix(net, hidden)};
    char name[MAX_NAME];
    const struct fr__op_spec spec = {.name = name, .kind = FR_OP_INPUT, .is_input = true};

    snprintf(name, sizeof(name), "%sstate", prefix);
    *l = (struct fr__lstm){.prefix = prefix, .hidden = hidden};
    l->h = fr__nn_op(net, &spec, NULL, 0, zeros, 2);
    l->c = (struct fr__value){l->h.op, l->h.tensor + 1, zeros[1]};
}

static struct fr__value bias(struct step *s, struct fr__value x)
{
    struct fr__op_spec spec = {.name = named(s, "bias"),
                               .kind = FR_OP_BIAS,
                               .flops = bias_flops * (double)fr__nn_elements(s->net, &x.t),
                               .n_weights = 2 * (uint64_t)x.t.dims[1],
                               .n_params = 2,
                               .is_in_place = true};

    return shared_op(s->net, &spec, &x, fr__nn_like(s->net, &x.t, s->net->elem_bytes, SPLIT_0),
                     &s->l->bias);
}

/* i, f, g and o. */
static void gates(struct step *s, struct fr__value x, struct fr__value gate[N_GATES])
{
    uint32_t hidden = s->l->hidden;
    struct fr__op_spec spec = {.kind = FR_OP_SPLIT, .is_view = true};
    struct fr_tensor part[N_GATES];
    struct fr__value y, z;

    y = fr__nn_shared_linear(s->net, named(s, "ih"), x, N_GATES * hidden, &s->l->ih);
    z = fr__nn_shared_linear(s->net, named(s, "hh"), s->l->h, N_GATES * hidden, &s->l->hh);
    y = elementwise(s->net, named(s, "sum"), FR_OP_ADD, add_flops, &y, &z, true);
    y = bias(s, y);
    y = elementwise(s->net, named(s, "act"), FR_OP_SIGMOID, gate_flops, &y, NULL, true);
    for (size_t k = 0; k < N_GATES; k++)
        part[k] = matrix(s->net, hidden);
    spec.name = named(s, "gates");
    gate[0] = fr__nn_op(s->net, &spec, &y, 1, part, N_GATES);
    for (uint32_t k = 1; k < N_GATES; k++)
        gate[k] = (struct fr__value){gate[0].op, gate[0].tensor + k, part[k]};
}

struct fr__value fr__lstm_step(struct fr__net *net, struct fr__lstm *l, uint32_t t,
                               struct fr__value x)
{
    struct step s = {.net = net, .l = l, .t = t};
    struct fr__value gate[N_GATES], kept, fresh;

    gates(&s, x, gate);
    kept = elementwise(net, named(&s, "forget"), FR_OP_MUL, mul_flops, &gate[1], &l->c, false);
    fresh = elementwise(net, named(&s, "input"), FR_OP_MUL, mul_flops, &gate[0], &gate[2], false);
    l->c = elementwise(net, named(&s, "c"), FR_OP_ADD, add_flops, &kept, &fresh, true);
    fresh = elementwise(net, named(&s, "tanh"), FR_OP_TANH, tanh_flops, &l->c, NULL, false);
    l->h = elementwise(net, named(&s, "h"), FR_OP_MUL, mul_flops, &gate[3], &fresh, false);
    return l->h;
}

/* ---- attention ---- */

void fr__attention_init(struct fr__net *net, struct fr__attention *a, struct fr__value memory,
                        uint32_t units)
{
    *a = (struct fr__attention){.memory = memory};
    a->keys = fr__nn_linear(net, "keys", memory, units);
}

static const char *step_name(char name[MAX_NAME], uint32_t t, const char *op)
{
    snprintf(name, MAX_NAME, "t%u.%s", t, op);
    return name;
}

struct fr__value fr__attention_step(struct fr__net *net, struct fr__attention *a, uint32_t t,
                                    struct fr__value query)
{
    struct fr_tensor y = matrix(net, a->memory.t.dims[2]);
    char name[MAX_NAME];
    struct fr__op_spec spec = {.name = name, .kind = FR_OP_BATCH_MATMUL};
    struct fr__value v, in[2];

    v = fr__nn_shared_linear(net, step_name(name, t, "query"), query, query.t.dims[1], &a->query);
    v = elementwise(net, step_name(name, t, "tanh"), FR_OP_TANH, add_tanh_flops, &a->keys, &v,
                    false);
    v = fr__nn_shared_linear(net, step_name(name, t, "scores"), v, 1, &a->score);
    in[0] = fr__nn_softmax(net, step_name(name, t, "softmax"), v);
    in[1] = a->memory;
    step_name(name, t, "context");
    spec.flops = 2 * (double)a->memory.t.dims[1] * (double)fr__nn_elements(net, &y);
    spec.shape.of = FR_SHAPE_PRODUCT;
    spec.shape.product.batch = y.dims[0];
    spec.shape.product.rows = 1;
    spec.shape.product.columns = y.dims[1];
    spec.shape.product.depth = a->memory.t.dims[1];
    return fr__nn_op(net, &spec, in, 2, &y, 1);
}
