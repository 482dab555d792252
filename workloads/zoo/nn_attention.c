/* workloads/zoo/nn_attention.c - shapes, FLOPs and bytes of the ops of Transformers. */
#include "config.h"

#include "workloads/zoo/nn_attention.h"

#include <assert.h>
#include <stdio.h>

/* Arithmetic per element, counted off the formula; a transcendental function counts as one. */
static const double silu_flops = 4;       /* x / (1 + exp(-x)) */
static const double sigmoid_flops = 3;    /* 1 / (1 + exp(-x)) */
static const double rotary_flops = 3;     /* x cos + its partner sin */
static const double plain_norm_flops = 6; /* sum; subtract, square, sum; subtract, scale */
static const double rmsnorm_flops = 4;    /* square, sum; scale; weight */

enum { BATCH = 1, DIM_1 = 2, DIM_2 = 4 }; /* dimensions that may be split */
enum { FLOAT_BYTES = 4, MOST_COLUMNS = 8 /* that one product is cut into */ };

const char *const fr__attention_forms[] = {[FR__ATTENTION_UNFUSED] = "unfused",
                                           [FR__ATTENTION_FLASH] = "flash",
                                           [FR__ATTENTION_FLASH_1] = "flash-1",
                                           [FR__ATTENTION_FLASH_2] = "flash-2",
                                           [FR__ATTENTION_FLASH_3] = "flash-3",
                                           [FR__ATTENTION_FP8] = "flash-fp8",
                                           NULL};

static struct fr_tensor activation(struct fr__net *net, uint8_t n_dims, const uint32_t dims[],
                                   uint8_t split_mask)
{
    return fr__nn_tensor(net, net->elem_bytes, n_dims, dims, split_mask);
}

struct fr__value fr__nn_silu(struct fr__net *net, const char *name, struct fr__value x)
{
    return fr__nn_map(net, name, FR_OP_SILU, x, silu_flops);
}

struct fr__value fr__nn_sigmoid(struct fr__net *net, const char *name, struct fr__value x)
{
    return fr__nn_map(net, name, FR_OP_SIGMOID, x, sigmoid_flops);
}

struct fr__value fr__nn_rotary(struct fr__net *net, const char *name, struct fr__value x)
{
    return fr__nn_map(net, name, FR_OP_ROTARY, x, rotary_flops);
}

struct fr__value fr__nn_rotary_part(struct fr__net *net, const char *name, struct fr__value x,
                                    uint32_t percent)
{
    return percent == 0 ? x
                        : fr__nn_map(net, name, FR_OP_ROTARY, x, rotary_flops * percent / 100.0);
}

struct fr__value fr__nn_square(struct fr__net *net, const char *name, struct fr__value x)
{
    return fr__nn_map(net, name, FR_OP_MUL, x, 1);
}

struct fr__value fr__nn_cap(struct fr__net *net, const char *name, struct fr__value x)
{
    static const char *const steps[] = {"divide", "tanh", "times"};
    char step[3][64];

    for (size_t i = 0; i < 3; i++)
        snprintf(step[i], sizeof(step[i]), "%s.%s", name, steps[i]);
    x = fr__nn_scale(net, step[0], x);
    return fr__nn_scale(net, step[2], fr__nn_tanh(net, step[1], x));
}

struct fr__value fr__nn_add_constant(struct fr__net *net, const char *name, struct fr__value x)
{
    return fr__nn_map(net, name, FR_OP_ADD, x, 1);
}

struct fr__value fr__nn_mul(struct fr__net *net, const char *name, struct fr__value x,
                            struct fr__value y)
{
    const struct fr__op_spec spec = {
        .name = name, .kind = FR_OP_MUL, .flops = (double)fr__nn_elements(net, &x.t)};
    const struct fr__value in[] = {x, y};
    struct fr_tensor out = fr__nn_like(net, &x.t, net->elem_bytes, BATCH | DIM_2);

    return fr__nn_op(net, &spec, in, 2, &out, 1);
}

struct fr__value fr__nn_dense(struct fr__net *net, const char *name, struct fr__value x,
                              uint32_t n_out)
{
    char bias[64];

    snprintf(bias, sizeof(bias), "%s.bias", name);
    return fr__nn_bias(net, bias, fr__nn_linear(net, name, x, n_out));
}

struct fr__value fr__nn_rmsnorm(struct fr__net *net, const char *name, struct fr__value x)
{
    const struct fr__op_spec spec = {.name = name,
                                     .kind = FR_OP_RMSNORM,
                                     .flops = rmsnorm_flops * (double)fr__nn_elements(net, &x.t),
                                     .n_weights = x.t.dims[2],
                                     .n_params = 1};
    struct fr_tensor out[] = {fr__nn_like(net, &x.t, net->elem_bytes, BATCH | DIM_1),
                              fr__nn_tensor(net, FLOAT_BYTES, 2, x.t.dims, BATCH | DIM_1)};

    return fr__nn_op(net, &spec, &x, 1, out, 2);
}

static struct fr__value norm_heads(struct fr__net *net, const char *name, struct fr__value x,
                                   uint32_t width, uint32_t n_weights)
{
    uint32_t heads = x.t.dims[2] / width;
    const uint32_t dims[] = {x.t.dims[0], x.t.dims[1], heads};
    const struct fr__op_spec spec = {
        .name = name,
        .kind = FR_OP_RMSNORM,
        .flops = rmsnorm_flops * (double)fr__nn_elements(net, &x.t),
        .n_weights = n_weights,
        .n_params = n_weights > 0,
        .shape = {.of = FR_SHAPE_ROWS,
                  .rows = {fr__nn_product(net, (uint64_t)dims[0] * dims[1], heads), width}}};
    struct fr_tensor out[] = {fr__nn_like(net, &x.t, net->elem_bytes, BATCH | DIM_1 | DIM_2),
                              fr__nn_tensor(net, FLOAT_BYTES, 3, dims, BATCH | DIM_1 | DIM_2)};

    return fr__nn_op(net, &spec, &x, 1, out, 2);
}

struct fr__value fr__nn_rmsnorm_heads(struct fr__net *net, const char *name, struct fr__value x,
                                      uint32_t width)
{
    return norm_heads(net, name, x, width, width);
}

struct fr__value fr__nn_rmsnorm_groups(struct fr__net *net, const char *name, struct fr__value x,
                                       uint32_t width)
{
    return norm_heads(net, name, x, width, x.t.dims[2]);
}

struct fr__value fr__nn_plain_norm_heads(struct fr__net *net, const char *name, struct fr__value x,
                                         uint32_t width)
{
    return norm_heads(net, name, x, width, 0);
}

struct fr__value fr__nn_plain_norm(struct fr__net *net, const char *name, struct fr__value x,
                                   bool has_gain)
{
    const struct fr__op_spec spec = {.name = name,
                                     .kind = FR_OP_LAYERNORM,
                                     .flops = (plain_norm_flops + has_gain) *
                                              (double)fr__nn_elements(net, &x.t),
                                     .n_weights = has_gain ? x.t.dims[2] : 0,
                                     .n_params = has_gain};
    struct fr_tensor out[] = {fr__nn_like(net, &x.t, net->elem_bytes, BATCH | DIM_1),
                              fr__nn_tensor(net, 2 * FLOAT_BYTES, 2, x.t.dims, BATCH | DIM_1)};

    return fr__nn_op(net, &spec, &x, 1, out, 2);
}

/* ---- columns of a sequence ---- */

void fr__nn_split_columns(struct fr__net *net, const char *name, struct fr__value x,
                          const uint32_t widths[], size_t n, struct fr__value out[])
{
    const struct fr__op_spec spec = {.name = name, .kind = FR_OP_SPLIT, .is_view = true};
    struct fr_tensor y[MOST_COLUMNS];
    struct fr__value first;

    assert(n <= MOST_COLUMNS);
    for (size_t i = 0; i < n; i++) {
        const uint32_t dims[] = {x.t.dims[0], x.t.dims[1], widths[i]};

        y[i] = activation(net, 3, dims, BATCH | DIM_2);
    }
    first = fr__nn_op(net, &spec, &x, 1, y, n);
    for (uint32_t i = 0; i < n; i++)
        out[i] = (struct fr__value){first.op, first.tensor + i, y[i]};
}

static struct fr__value join(struct fr__net *net, const char *name, struct fr__value a,
                             struct fr__value b, uint32_t width)
{
    const struct fr__op_spec spec = {.name = name, .kind = FR_OP_CONCAT};
    const uint32_t dims[] = {a.t.dims[0], a.t.dims[1], width};
    const struct fr__value in[] = {a, b};
    struct fr_tensor out = activation(net, 3, dims, BATCH | DIM_2);

    return fr__nn_op(net, &spec, in, 2, &out, 1);
}

struct fr__value fr__nn_join_columns(struct fr__net *net, const char *name, struct fr__value a,
                                     struct fr__value b)
{
    return join(net, name, a, b, a.t.dims[2] + b.t.dims[2]);
}

struct fr__value fr__nn_join_heads(struct fr__net *net, const char *name, struct fr__value a,
                                   struct fr__value b, uint32_t heads)
{
    return join(net, name, a, b, a.t.dims[2] + heads * b.t.dims[2]);
}

/* ---- positions ---- */

struct fr__value fr__nn_learned_positions(struct fr__net *net, const char *name, uint32_t n_rows,
                                          uint32_t width)
{
    const uint32_t dims[] = {1, net->seq_len, width};
    struct fr_tensor out = activation(net, 3, dims, DIM_1 | DIM_2);
    const struct fr__op_spec spec = {
        .name = name,
        .kind = FR_OP_EMBEDDING,
        .bytes = 2 * (double)out.bytes,
        .n_weights = fr__nn_product(net, n_rows, width),
        .n_params = 1,
        .shape = {.of = FR_SHAPE_EMBEDDING, .embedding = {net->seq_len, width, n_rows}}};

    out.scales = false;
    return fr__nn_op(net, &spec, NULL, 0, &out, 1);
}

struct fr__value fr__nn_relative_positions(struct fr__net *net, const char *name,
                                           uint32_t n_buckets, uint32_t heads)
{
    const uint32_t dims[] = {1, heads, net->seq_len, net->seq_len};
    struct fr_tensor out = activation(net, 4, dims, DIM_1);
    const struct fr__op_spec spec = {
        .name = name,
        .kind = FR_OP_EMBEDDING,
        .bytes = 2 * (double)out.bytes,
        .n_weights = fr__nn_product(net, n_buckets, heads),
        .n_params = 1,
        .shape = {.of = FR_SHAPE_EMBEDDING,
                  .embedding = {(uint64_t)net->seq_len * net->seq_len, heads, n_buckets}}};

    out.scales = false;
    return fr__nn_op(net, &spec, NULL, 0, &out, 1);
}

struct fr__value fr__nn_first_position(struct fr__net *net, const char *name, struct fr__value x)
{
    const struct fr__op_spec spec = {.name = name, .kind = FR_OP_SPLIT, .is_view = true};
    const uint32_t dims[] = {x.t.dims[0], x.t.dims[2]};
    struct fr_tensor out = activation(net, 2, dims, BATCH | DIM_1);

    return fr__nn_op(net, &spec, &x, 1, &out, 1);
}

struct fr__value fr__nn_gather(struct fr__net *net, const char *name, struct fr__value x,
                               struct fr__value indices)
{
    const uint32_t dims[] = {x.t.dims[0], indices.t.dims[1], x.t.dims[2]};
    const struct fr__value in[] = {x, indices};
    struct fr_tensor out = activation(net, 3, dims, BATCH | DIM_2);
    const struct fr__op_spec spec = {
        .name = name,
        .kind = FR_OP_GATHER,
        /* the rows that are read, not all */
        .bytes = (double)indices.t.bytes + 2 * (double)out.bytes,
        .shape = {.of = FR_SHAPE_ROWS, .rows = {(uint64_t)dims[0] * dims[1], dims[2]}}};

    return fr__nn_op(net, &spec, in, 2, &out, 1);
}

/* ---- attention ---- */

enum fr_status fr__check_heads(const char *model, uint32_t hidden, uint32_t heads,
                               struct fr_error *err)
{
    if (hidden % heads == 0)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "model '%s': hidden %u is not a multiple of %u heads", model, hidden, heads);
}

/* [batch, seq, heads width] to a contiguous [batch, heads, seq, width]. */
static struct fr__value heads_first(struct fr__net *net, const char *name, struct fr__value x,
                                    uint32_t heads)
{
    const struct fr__op_spec spec = {.name = name, .kind = FR_OP_TRANSPOSE};
    const uint32_t dims[] = {x.t.dims[0], heads, x.t.dims[1], x.t.dims[2] / heads};
    struct fr_tensor out = activation(net, 4, dims, BATCH | DIM_1);

    return fr__nn_op(net, &spec, &x, 1, &out, 1);
}

void fr__nn_split_heads(struct fr__net *net, const char *name, struct fr__value x, uint32_t heads,
                        struct fr__value qkv[3])
{
    const struct fr__op_spec spec = {.name = name, .kind = FR_OP_SPLIT};
    const uint32_t dims[] = {x.t.dims[0], heads, x.t.dims[1], x.t.dims[2] / 3 / heads};
    struct fr_tensor y = activation(net, 4, dims, BATCH | DIM_1), out[] = {y, y, y};

    qkv[0] = fr__nn_op(net, &spec, &x, 1, out, 3);
    for (uint32_t i = 1; i < 3; i++)
        qkv[i] = (struct fr__value){qkv[0].op, qkv[0].tensor + i, y};
}

struct fr__value fr__nn_merge_heads(struct fr__net *net, const char *name, struct fr__value x)
{
    const struct fr__op_spec spec = {.name = name, .kind = FR_OP_TRANSPOSE};
    const uint32_t dims[] = {x.t.dims[0], x.t.dims[2], x.t.dims[1] * x.t.dims[3]};
    struct fr_tensor out = activation(net, 3, dims, BATCH | DIM_2);

    return fr__nn_op(net, &spec, &x, 1, &out, 1);
}

/* Each head of x [batch, kv_heads, seq, width] as often as a group has query heads. */
static struct fr__value for_all_heads(struct fr__net *net, const char *name, struct fr__value x,
                                      const struct fr__dot_attention *a)
{
    const struct fr__op_spec spec = {.name = name, .kind = FR_OP_CONCAT};
    const uint32_t dims[] = {x.t.dims[0], a->heads, x.t.dims[2], x.t.dims[3]};
    struct fr_tensor out = activation(net, 4, dims, BATCH | DIM_1);

    return a->kv_heads == a->heads ? x : fr__nn_op(net, &spec, &x, 1, &out, 1);
}

/* A sink is a learned score of each head that joins every row in softmax and weighs no value. */
static struct fr__value masked(struct fr__net *net, const struct fr__dot_attention *a,
                               struct fr__value x)
{
    const struct fr__op_spec spec = {.name = "mask",
                                     .kind = FR_OP_MASK,
                                     .flops = (double)fr__nn_elements(net, &x.t),
                                     .n_weights = a->heads,
                                     .n_params = 1};
    struct fr_tensor out = fr__nn_like(net, &x.t, net->elem_bytes, BATCH | DIM_1);

    return a->has_sinks ? fr__nn_op(net, &spec, &x, 1, &out, 1) : fr__nn_mask(net, "mask", x);
}

/* From queries, keys and values with their heads first to the context, heads last. */
static struct fr__value unfused(struct fr__net *net, const struct fr__dot_attention *a,
                                struct fr__value q, struct fr__value k, struct fr__value v)
{
    struct fr__value y = fr__nn_batch_matmul(net, "scores", q, k, k.t.dims[2]);

    if (!a->is_unscaled)
        y = fr__nn_scale(net, "scale", y);
    if (a->is_capped)
        y = fr__nn_cap(net, "cap", y);
    if (a->bias)
        y = fr__nn_add(net, "position", y, *a->bias, false);
    y = masked(net, a, y);
    y = fr__nn_softmax(net, "softmax", y);
    if (a->has_dropout)
        y = fr__nn_dropout(net, "dropout", y);
    return fr__nn_merge_heads(net, "merge", fr__nn_batch_matmul(net, "context", y, v, v.t.dims[3]));
}

/* FlashAttention takes numbers of 16 bits (Dao-AILab/flash-attention, README: "Datatype fp16 and
 * bf16"), and its 8-bit kernels are of another call, as those of cuDNN are. In fp32 PyTorch's fused
 * attention is another kernel without generations. */
static void check_form(struct fr__net *net, enum fr__attention_form form)
{
    const char *name = fr__attention_forms[form], *format = fr_dtype_name(net->trained_in);
    bool is_16_bit = net->trained_in != FR_FP32 && net->trained_in != FR_TF32;

    if (form == FR__ATTENTION_FP8 && net->trained_in != FR_FP8)
        fr__nn_fault(net,
                     "attention=%s has operands of 8 bits, and this step is trained in %s: take "
                     "precision fp8, or attention=flash",
                     name, format);
    else if (form >= FR__ATTENTION_FLASH_1 && form <= FR__ATTENTION_FLASH_3 && !is_16_bit)
        fr__nn_fault(net,
                     "attention=%s is a kernel for fp16 and bf16, and this step is trained in %s: "
                     "attention=flash is the fused attention of any format",
                     name, format);
}

/* 0: the newest for the device. */
static uint64_t generation_of(enum fr__attention_form form)
{
    return form == FR__ATTENTION_FP8 ? 0 : form - FR__ATTENTION_FLASH;
}

/* hidden: of the queries. Where the mask is causal, half the blocks are skipped and half the FLOPs
 * counted (T. Dao, FlashAttention-2, 2023, sections 3.1 and 4.1); so are those outside a window
 * (Dao-AILab/flash-attention, README: sliding window attention). */
static struct fr_shape flash_shape(const struct fr__dot_attention *a, const struct fr_tensor *q,
                                   const struct fr_tensor *k, uint32_t hidden)
{
    return (struct fr_shape){.of = FR_SHAPE_ATTENTION,
                             .attention = {.batch = q->dims[0],
                                           .heads = a->heads,
                                           .kv_heads = a->kv_heads,
                                           .head_width = hidden / a->heads,
                                           .query_len = q->dims[1],
                                           .key_len = k->dims[1],
                                           .is_causal = a->is_causal,
                                           .generation = generation_of(a->form),
                                           .is_8_bit = a->form == FR__ATTENTION_FP8,
                                           .value_width = a->value_width,
                                           .window = a->window < k->dims[1] ? a->window : 0,
                                           .is_chunked = a->is_chunked && a->window < k->dims[1]}};
}

static struct fr__value flash(struct fr__net *net, const struct fr__dot_attention *a,
                              const struct fr__value in[], size_t n_in, uint32_t hidden)
{
    const struct fr_tensor *q = &in[0].t, *k = &in[n_in > 1].t;
    const uint32_t dims[] = {q->dims[0], q->dims[1],
                             a->value_width ? a->heads * a->value_width : hidden};
    const uint32_t sums[] = {q->dims[0], a->heads, q->dims[1]};
    struct fr_tensor out[] = {activation(net, 3, dims, BATCH | DIM_2),
                              fr__nn_tensor(net, FLOAT_BYTES, 3, sums, BATCH | DIM_1)};
    struct fr__op_spec spec = {.name = "flash",
                               .kind = FR_OP_ATTENTION,
                               .n_weights = a->has_sinks ? a->heads : 0,
                               .n_params = a->has_sinks,
                               .shape = flash_shape(a, q, k, hidden)};
    const struct fr_op like = {
        .kind = FR_OP_ATTENTION, .phase = FR_PHASE_FORWARD, .shape = spec.shape};

    spec.flops = fr_op_shape_flops(&like);
    check_form(net, a->form);
    return fr__nn_op(net, &spec, in, n_in, out, 2);
}

struct fr__value fr__nn_attend(struct fr__net *net, const struct fr__dot_attention *a,
                               struct fr__value q, struct fr__value k, struct fr__value v)
{
    const struct fr__value in[] = {q, k, v};

    assert(a->heads % a->kv_heads == 0);
    if (a->form != FR__ATTENTION_UNFUSED)
        return flash(net, a, in, 3, q.t.dims[2]);
    q = heads_first(net, "q.heads", q, a->heads);
    k = for_all_heads(net, "k.repeat", heads_first(net, "k.heads", k, a->kv_heads), a);
    v = for_all_heads(net, "v.repeat", heads_first(net, "v.heads", v, a->kv_heads), a);
    return unfused(net, a, q, k, v);
}

struct fr__value fr__nn_attend_packed(struct fr__net *net, const struct fr__dot_attention *a,
                                      struct fr__value qkv)
{
    struct fr__value heads[3];

    assert(a->heads == a->kv_heads);
    if (a->form != FR__ATTENTION_UNFUSED)
        return flash(net, a, &qkv, 1, qkv.t.dims[2] / 3);
    fr__nn_split_heads(net, "split", qkv, a->heads, heads);
    return unfused(net, a, heads[0], heads[1], heads[2]);
}

/* ---- losses ---- */

static struct fr_tensor scalar(void)
{
    return (struct fr_tensor){.bytes = FLOAT_BYTES, .alias = FR_NONE, .n_dims = 1, .dims = {1}};
}

struct fr__value fr__nn_sum_loss(struct fr__net *net, const char *layer, struct fr__value x)
{
    uint64_t n = fr__nn_elements(net, &x.t);
    const struct fr__op_spec spec = {.name = "",
                                     .kind = FR_OP_LOSS,
                                     .flops = (double)n,
                                     .shape = {.of = FR_SHAPE_ROWS, .rows = {1, n}}};
    struct fr_tensor out = scalar();

    fr__nn_layer(net, "%s", layer);
    return fr__nn_op(net, &spec, &x, 1, &out, 1);
}

struct fr__value fr__nn_add_losses(struct fr__net *net, const char *layer, struct fr__value a,
                                   struct fr__value b)
{
    const struct fr__op_spec spec = {.name = "", .kind = FR_OP_ADD, .flops = 1};
    const struct fr__value in[] = {a, b};
    struct fr_tensor out = scalar();

    fr__nn_layer(net, "%s", layer);
    return fr__nn_op(net, &spec, in, 2, &out, 1);
}
