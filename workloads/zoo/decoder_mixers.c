/* workloads/zoo/decoder_mixers.c - state spaces and the gated delta rule.
 *
 * All run in chunks: inside a chunk the work is products as attention's, and a state of a head goes
 * from chunk to chunk. The scan is one op of kind scan. It keeps its inputs and the state at the
 * end of each chunk in fp32; the convolution's kernel applies SiLU too (Dao-AILab/causal-conv1d).
 */
#include "config.h"

#include "workloads/zoo/decoder.h"

enum { BATCH = 1, DIM_2 = 4, FLOAT_BYTES = 4, MOST_INPUTS = 5 };

static const double silu_flops = 4;
static const double delta_chunk =
    64; /* fla-org/flash-linear-attention, gated_delta_rule/chunk.py */
/* Of Mamba's recurrence, for each element of a state and token (state-spaces/mamba, issue 110):
 * exp(dt A), times the state, dt B x added, times C, summed. */
static const double mamba_flops = 9;

/* Each channel by itself over the last few positions. */
static struct fr__value convolve(struct fr__net *net, const uint32_t s[], struct fr__value x)
{
    uint32_t channels = x.t.dims[2], taps = s[FR__D_SSM_CONV];
    bool has_bias = s[FR__D_SSM_CONV_BIAS];
    const struct fr__op_spec spec = {.name = "conv",
                                     .kind = FR_OP_CONV1D,
                                     .flops = (2.0 * taps + silu_flops) *
                                              (double)fr__nn_elements(net, &x.t),
                                     .n_weights = (uint64_t)channels * (taps + has_bias),
                                     .n_params = has_bias ? 2 : 1};
    struct fr_tensor out = fr__nn_like(net, &x.t, net->elem_bytes, BATCH | DIM_2);

    return fr__nn_op(net, &spec, &x, 1, &out, 1);
}

/* What a scan does and keeps. */
struct scan {
    double flops;   /* of a token */
    uint32_t width; /* of what it writes */
    uint32_t state; /* numbers that each of these ends a chunk with */
    uint32_t chunk; /* positions; 0: one state at the end, as the recurrence has it */
    uint64_t n_weights;
    uint32_t n_params;
};

static struct fr__value run(struct fr__net *net, const struct scan *c, const struct fr__value in[],
                            size_t n_in)
{
    uint32_t batch = in[0].t.dims[0], seq = in[0].t.dims[1];
    uint32_t n_chunks = c->chunk ? (seq + c->chunk - 1) / c->chunk : 1;
    const uint32_t dims[] = {batch, seq, c->width};
    const uint32_t states[] = {batch, n_chunks, c->width, c->state};
    struct fr_tensor out[] = {fr__nn_tensor(net, net->elem_bytes, 3, dims, BATCH | DIM_2),
                              fr__nn_tensor(net, FLOAT_BYTES, 4, states, BATCH | DIM_2)};
    const struct fr__op_spec spec = {.name = "scan",
                                     .kind = FR_OP_SCAN,
                                     .flops = c->flops * batch * seq,
                                     .n_weights = c->n_weights,
                                     .n_params = c->n_params};

    return fr__nn_op(net, &spec, in, n_in, out, 2);
}

/* y times silu(z), normalised in groups of so many columns; 0: not normalised. */
static struct fr__value gate(struct fr__net *net, struct fr__value y, struct fr__value z,
                             uint32_t columns, bool is_shared)
{
    y = fr__nn_mul(net, "gate", y, fr__nn_silu(net, "silu", z));
    if (columns == 0)
        return y;
    if (columns == y.t.dims[2])
        return fr__nn_rmsnorm(net, "gate.norm", y);
    return is_shared ? fr__nn_rmsnorm_heads(net, "gate.norm", y, columns)
                     : fr__nn_rmsnorm_groups(net, "gate.norm", y, columns);
}

/* ---- Mamba-2 ---- */

/* The four products of section 6 with chunks of Q positions, G groups of B and C, H heads of width
 * P and state N, for each token: C B^T 2 Q N in each group; that times x 2 Q P in each head; the
 * chunk's state 2 N P, and C times the state before it 2 N P, in each head. */
static struct scan scan_of_mamba2(const uint32_t s[])
{
    double chunk = s[FR__D_SSM_CHUNK], heads = s[FR__D_SSM_HEADS], width = s[FR__D_SSM_WIDTH];
    double state = s[FR__D_SSM_STATE], groups = s[FR__D_SSM_GROUPS];

    return (struct scan){.flops = 2 * chunk * state * groups +
                                  heads * (2 * chunk * width + 4 * state * width),
                         .width = s[FR__D_SSM_HEADS] * s[FR__D_SSM_WIDTH],
                         .state = s[FR__D_SSM_STATE],
                         .chunk = s[FR__D_SSM_CHUNK],
                         /* decay, skip and bias of the step, of each head */
                         .n_weights = 3 * (uint64_t)s[FR__D_SSM_HEADS],
                         .n_params = 3};
}

struct fr__value fr__decoder_mamba2(struct fr__net *net, const uint32_t s[], struct fr__value y)
{
    uint32_t inner = s[FR__D_SSM_HEADS] * s[FR__D_SSM_WIDTH];
    uint32_t group = s[FR__D_SSM_GROUPS] * s[FR__D_SSM_STATE];
    const uint32_t parts[] = {inner, inner + 2 * group, s[FR__D_SSM_HEADS]};
    const uint32_t inside[] = {inner, group, group};
    const struct scan c = scan_of_mamba2(s);
    struct fr__value part[3], in[MOST_INPUTS];

    y = fr__nn_linear(net, "in", y, parts[0] + parts[1] + parts[2]);
    fr__nn_split_columns(net, "in.split", y, parts, 3, part);
    fr__nn_split_columns(net, "conv.split", convolve(net, s, part[1]), inside, 3, in);
    in[3] = part[2];
    y = run(net, &c, in, 4);
    y = gate(net, y, part[0], s[FR__D_SSM_NORM] ? inner / s[FR__D_SSM_GROUPS] : 0, false);
    return fr__nn_linear(net, "ssm.out", y, s[FR__D_HIDDEN]);
}

/* ---- Mamba ---- */

/* Steps and both projections of the state, from what the convolution gives; each is normalised. */
static void project_state(struct fr__net *net, const uint32_t s[], struct fr__value in[4])
{
    uint32_t state = s[FR__D_SSM_STATE], inner = s[FR__D_SSM_EXPAND] * s[FR__D_HIDDEN];
    const uint32_t parts[] = {s[FR__D_DT_RANK], state, state};
    struct fr__value part[3], x;

    x = fr__nn_linear(net, "x", in[0], parts[0] + 2 * state);
    fr__nn_split_columns(net, "x.split", x, parts, 3, part);
    x = fr__nn_rmsnorm(net, "dt.norm", part[0]);
    in[1] = fr__nn_rmsnorm(net, "b.norm", part[1]);
    in[2] = fr__nn_rmsnorm(net, "c.norm", part[2]);
    in[3] = fr__nn_dense(net, "dt", x, inner);
}

struct fr__value fr__decoder_mamba(struct fr__net *net, const uint32_t s[], struct fr__value y)
{
    uint32_t inner = s[FR__D_SSM_EXPAND] * s[FR__D_HIDDEN];
    const uint32_t halves[] = {inner, inner};
    const struct scan c = {.flops = mamba_flops * inner * s[FR__D_SSM_STATE],
                           .width = inner,
                           .state = s[FR__D_SSM_STATE],
                           /* decays of each channel and state, skips of each channel */
                           .n_weights = (uint64_t)inner * s[FR__D_SSM_STATE] + inner,
                           .n_params = 2};
    struct fr__value half[2], in[MOST_INPUTS];

    fr__nn_split_columns(net, "in.split", fr__nn_linear(net, "in", y, 2 * inner), halves, 2, half);
    in[0] = convolve(net, s, half[0]);
    project_state(net, s, in);
    y = gate(net, run(net, &c, in, 4), half[1], 0, false);
    return fr__nn_linear(net, "ssm.out", y, s[FR__D_HIDDEN]);
}

/* ---- the gated delta rule ---- */

/* Section 3.3 with chunks of C positions, keys of width K and values of width V, for each token and
 * head: K K^T, its inverse (C^3 / 3 multiply-adds a chunk) times K and V, and Q K^T, 2 C (3 K + V)
 * with the inverse's products; Q K^T times values 2 C V; three products with the state, 2 K V. */
static struct scan scan_of_delta(const uint32_t s[])
{
    double keys = s[FR__D_SSM_STATE], values = s[FR__D_SSM_WIDTH], heads = s[FR__D_SSM_HEADS];
    double inside = 2 * delta_chunk * (3 * keys + 2 * values) + 2 * delta_chunk * delta_chunk / 3;

    return (struct scan){.flops = heads * (inside + 6 * keys * values),
                         .width = s[FR__D_SSM_HEADS] * s[FR__D_SSM_WIDTH],
                         .state = s[FR__D_SSM_STATE],
                         .chunk = (uint32_t)delta_chunk,
                         .n_weights = 2 * (uint64_t)s[FR__D_SSM_HEADS],
                         .n_params = 2};
}

struct fr__value fr__decoder_delta(struct fr__net *net, const uint32_t s[], struct fr__value y)
{
    uint32_t keys = s[FR__D_SSM_GROUPS] * s[FR__D_SSM_STATE];
    uint32_t values = s[FR__D_SSM_HEADS] * s[FR__D_SSM_WIDTH];
    const uint32_t parts[] = {2 * keys + values, values}, inside[] = {keys, keys, values};
    const uint32_t steps[] = {s[FR__D_SSM_HEADS], s[FR__D_SSM_HEADS]};
    const struct scan c = scan_of_delta(s);
    struct fr__value part[2], in[MOST_INPUTS], qkvz, ba;

    qkvz = fr__nn_linear(net, "qkvz", y, parts[0] + parts[1]);
    ba = fr__nn_linear(net, "ba", y, steps[0] + steps[1]);
    fr__nn_split_columns(net, "qkvz.split", qkvz, parts, 2, part);
    fr__nn_split_columns(net, "conv.split", convolve(net, s, part[0]), inside, 3, in);
    fr__nn_split_columns(net, "ba.split", ba, steps, 2, in + 3);
    y = gate(net, run(net, &c, in, 5), part[1], s[FR__D_SSM_WIDTH], true);
    return fr__nn_linear(net, "delta.out", y, s[FR__D_HIDDEN]);
}
