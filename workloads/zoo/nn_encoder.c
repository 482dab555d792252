/* workloads/zoo/nn_encoder.c - attention and feed-forward layer of an encoder, patches in a row. */
#include "config.h"

#include "workloads/zoo/nn_encoder.h"

enum { BATCH = 1, DIM_1 = 2, DIM_2 = 4 }; /* dimensions that may be split */

struct fr__value fr__nn_encoder_attention(struct fr__net *net, const struct fr__encoder *e,
                                          struct fr__value x, const struct fr__value *memory)
{
    const struct fr__dot_attention a = {
        .heads = e->heads, .kv_heads = e->heads, .form = e->form, .is_causal = e->is_causal};
    uint32_t hidden = x.t.dims[2];
    struct fr__value y = fr__nn_layernorm(net, "ln", x), from = memory ? *memory : y;
    struct fr__value q = fr__nn_dense(net, "q", y, hidden);
    struct fr__value k = e->has_no_key_bias ? fr__nn_linear(net, "k", from, hidden)
                                            : fr__nn_dense(net, "k", from, hidden);
    struct fr__value v = fr__nn_dense(net, "v", from, hidden);

    if (e->has_rotary) {
        q = fr__nn_rotary(net, "q.rotary", q);
        k = fr__nn_rotary(net, "k.rotary", k);
    }
    y = fr__nn_dense(net, "out", fr__nn_attend(net, &a, q, k, v), hidden);
    return fr__nn_add(net, "add", x, y, false);
}

struct fr__value fr__nn_encoder_mlp(struct fr__net *net, const struct fr__encoder *e,
                                    struct fr__value x)
{
    struct fr__value y = fr__nn_dense(net, "fc1", fr__nn_layernorm(net, "ln", x), e->ffn);

    y = fr__nn_dense(net, "fc2", fr__nn_gelu(net, "gelu", y), x.t.dims[2]);
    return fr__nn_add(net, "add", x, y, false);
}

struct fr__value fr__nn_encoder_layers(struct fr__net *net, const char *prefix, uint32_t n_layers,
                                       const struct fr__encoder *e, struct fr__value x)
{
    for (uint32_t i = 0; i < n_layers; i++) {
        fr__nn_layer(net, "%s%u.attn", prefix, i);
        x = fr__nn_encoder_attention(net, e, x, NULL);
        fr__nn_layer(net, "%s%u.mlp", prefix, i);
        x = fr__nn_encoder_mlp(net, e, x);
    }
    return x;
}

struct fr__value fr__nn_line_up(struct fr__net *net, const char *name, struct fr__value x,
                                uint32_t n_extra)
{
    const uint32_t dims[] = {x.t.dims[0], n_extra + x.t.dims[2] * x.t.dims[3], x.t.dims[1]};
    const struct fr__op_spec spec = {.name = name, .kind = FR_OP_TRANSPOSE};
    struct fr_tensor out = fr__nn_tensor(net, net->elem_bytes, 3, dims, BATCH | DIM_1 | DIM_2);

    return fr__nn_op(net, &spec, &x, 1, &out, 1);
}

struct fr__value fr__nn_add_places(struct fr__net *net, const char *name, struct fr__value x,
                                   uint32_t n_extra)
{
    uint32_t rows = x.t.dims[1], hidden = x.t.dims[2];
    const uint32_t dims[] = {1, rows, hidden};
    struct fr_tensor out = fr__nn_tensor(net, net->elem_bytes, 3, dims, DIM_1 | DIM_2);
    const struct fr__op_spec spec = {
        .name = name,
        .kind = FR_OP_EMBEDDING,
        .bytes = 2 * (double)out.bytes,
        .n_weights = fr__nn_product(net, (uint64_t)rows + n_extra, hidden),
        .n_params = n_extra ? 2 : 1,
        .shape = {.of = FR_SHAPE_EMBEDDING, .embedding = {rows, hidden, (uint64_t)rows + n_extra}}};
    struct fr__value places;

    out.scales = false;
    places = fr__nn_op(net, &spec, NULL, 0, &out, 1);
    return fr__nn_add(net, "add", x, places, false);
}

struct fr__value fr__nn_join_rows(struct fr__net *net, const char *name, struct fr__value a,
                                  struct fr__value b)
{
    const struct fr__op_spec spec = {.name = name, .kind = FR_OP_CONCAT};
    const uint32_t dims[] = {a.t.dims[0], a.t.dims[1] + b.t.dims[1], a.t.dims[2]};
    const struct fr__value in[] = {a, b};
    struct fr_tensor out = fr__nn_tensor(net, net->elem_bytes, 3, dims, BATCH);

    return fr__nn_op(net, &spec, in, 2, &out, 1);
}

void fr__nn_cut_rows(struct fr__net *net, const char *name, struct fr__value x, uint32_t rows,
                     size_t n, struct fr__value out[])
{
    const struct fr__op_spec spec = {.name = name, .kind = FR_OP_SPLIT, .is_view = true};
    const uint32_t first[] = {x.t.dims[0], rows, x.t.dims[2]};
    const uint32_t rest[] = {x.t.dims[0], x.t.dims[1] - rows, x.t.dims[2]};
    struct fr_tensor t[] = {fr__nn_tensor(net, net->elem_bytes, 3, first, BATCH),
                            fr__nn_tensor(net, net->elem_bytes, 3, rest, BATCH)};

    out[0] = fr__nn_op(net, &spec, &x, 1, t, n);
    if (n > 1)
        out[1] = (struct fr__value){out[0].op, out[0].tensor + 1, t[1]};
}

struct fr__value fr__nn_probe(struct fr__net *net, const char *name, uint32_t width)
{
    const uint32_t dims[] = {net->batch, 1, width};
    struct fr_tensor out = fr__nn_tensor(net, net->elem_bytes, 3, dims, BATCH | DIM_2);
    const struct fr__op_spec spec = {
        .name = name,
        .kind = FR_OP_EMBEDDING,
        .bytes = 2 * (double)out.bytes,
        .n_weights = width,
        .n_params = 1,
        .shape = {.of = FR_SHAPE_EMBEDDING, .embedding = {net->batch, width, 1}}};

    return fr__nn_op(net, &spec, NULL, 0, &out, 1);
}

struct fr__value fr__nn_learned_scale(struct fr__net *net, const char *name, struct fr__value x,
                                      uint32_t n_numbers)
{
    const struct fr__op_spec spec = {.name = name,
                                     .kind = FR_OP_SCALE,
                                     .flops = n_numbers * (double)fr__nn_elements(net, &x.t),
                                     .n_weights = n_numbers,
                                     .n_params = n_numbers};
    struct fr_tensor out = fr__nn_like(net, &x.t, net->elem_bytes, BATCH);

    return fr__nn_op(net, &spec, &x, 1, &out, 1);
}
