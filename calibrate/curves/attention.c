/* calibrate/curves/attention.c - evaluates the model of attention.h and describes its two classes,
 * forward and backward. */
#include "config.h"

#include "base/dtype.h"
#include "calibrate/curves/class.h"

#include <math.h>

static const double BLOCK_ROWS = 64, PART_ROWS = 128;

static void prepare(union fr__model *model, const struct fr__machine *machine, enum fr_dtype dtype,
                    const double parameters[])
{
    model->attention = (struct fr__attention){
        .n_sms = machine->n_sms,
        .launch_s = parameters[FR__ATTENTION_LAUNCH_S],
        .block_s = parameters[FR__ATTENTION_BLOCK_S],
        .sharpness = parameters[FR__ATTENTION_SHARPNESS],
        .half_head_dim = parameters[FR__ATTENTION_HALF_HEAD_DIM],
        .s_per_flop =
            machine->n_sms / (machine->peak_flops_per_s * parameters[FR__ATTENTION_EFFICIENCY]),
        .s_per_byte = 1 / (machine->mem_Bps * parameters[FR__ATTENTION_MEMORY_FRAC]),
        .kv_passes = parameters[FR__ATTENTION_KV_PASSES],
        .element_bytes = fr__dtype_bytes(dtype),
    };
}

/* The gradient needs 5 products where the forward pass needs 2. It moves twice the bytes, because
 * each operand is read again and has a gradient of its own size. */
static void prepare_backward(union fr__model *model, const struct fr__machine *machine,
                             enum fr_dtype dtype, const double parameters[])
{
    prepare(model, machine, dtype, parameters);
    model->attention.s_per_flop *= 2.5;
    model->attention.s_per_byte *= 2;
}

static double time_s(const union fr__model *model, const struct fr_kernel_shape *s)
{
    const struct fr__attention *m = &model->attention;
    double batch = fmax(s->attention.batch, 1), heads = fmax(s->attention.heads, 1);
    double kv_heads = fmin(fmax(s->attention.kv_heads, 1), heads), seq = fmax(s->attention.seq, 1);
    double head_dim = fmax(s->attention.head_dim, 1);
    double blocks =
        seq < 2 ? kv_heads * ceil(heads / kv_heads / BLOCK_ROWS) : heads * ceil(seq / BLOCK_ROWS);
    double waves = ceil(batch * blocks / m->n_sms);
    double longest = ceil(seq / PART_ROWS);
    double mean = s->attention.is_causal ? (longest + 1) / 2 : longest;
    double part_s =
        4 * BLOCK_ROWS * fmin(seq, PART_ROWS) * (head_dim + m->half_head_dim) * m->s_per_flop;
    double comp_s = fmax(waves * mean, longest) * part_s + waves * m->block_s;
    double mem_s = 2 * batch * seq * (heads + kv_heads * m->kv_passes) * head_dim *
                   m->element_bytes * m->s_per_byte;

    return m->launch_s + fr__smooth_max(comp_s, mem_s, m->sharpness);
}

static void coordinates(const struct fr_kernel_shape *s, double x[FR__RESIDUAL_AXES])
{
    double heads = fmax(s->attention.heads, 1), kv_heads = fmax(s->attention.kv_heads, 1);

    x[0] = log2(fmax(s->attention.seq, 1));
    x[1] = log2(fmax(s->attention.batch, 1) * heads);
    x[2] = log2(fmax(s->attention.head_dim, 1));
    x[3] = log2(fmax(heads / kv_heads, 1));
}

static void sizes(const struct fr_kernel_shape *s, double out[FR__CURVE_SIZES])
{
    out[0] = s->attention.batch;
    out[1] = s->attention.heads;
    out[2] = s->attention.kv_heads;
    out[3] = s->attention.seq;
    out[4] = s->attention.head_dim;
    out[5] = s->attention.is_causal;
}

/* starts of a fit: constants fitted to an A100 and to a B200 in bf16, forward, rounded */
#define ATTENTION_CLASS(NAME, PREPARE)                                                             \
    {                                                                                              \
        .name = NAME,                                                                              \
        .size_names = {"batch", "heads", "kv heads", "sequence", "head dim", "causal"},            \
        .axis_names = "sequence, batch x heads, head dim, heads per kv head",                      \
        .parameters =                                                                              \
            {                                                                                      \
                [FR__ATTENTION_LAUNCH_S] = {"launch_s", 1e-7, 1e-3, {1e-5, 2e-5}},                 \
                [FR__ATTENTION_EFFICIENCY] = {"efficiency", .01, 4, {.6, .8}},                     \
                [FR__ATTENTION_HALF_HEAD_DIM] = {"half_head_dim", 1e-3, 1e4, {20, 60}},            \
                [FR__ATTENTION_MEMORY_FRAC] = {"memory_frac", .01, 1.5, {.7, .5}},                 \
                [FR__ATTENTION_KV_PASSES] = {"kv_passes", .5, 10, {2, 3}},                         \
                [FR__ATTENTION_BLOCK_S] = {"block_s", 1e-9, 1e-4, {1e-6, 3e-6}},                   \
                [FR__ATTENTION_SHARPNESS] = {"sharpness", 1, 20, {3, 1.5}},                        \
            },                                                                                     \
        .n_starts = 2, .prepare = PREPARE, .time_s = time_s, .coordinates = coordinates,           \
        .sizes = sizes,                                                                            \
    }

const struct fr__curve_class fr__curve_attention = ATTENTION_CLASS("attention", prepare);
const struct fr__curve_class fr__curve_attention_backward =
    ATTENTION_CLASS("attention-backward", prepare_backward);
