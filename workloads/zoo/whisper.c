/* workloads/zoo/whisper.c - Whisper: an encoder of sound and a decoder of text.
 *
 * A. Radford et al., Robust Speech Recognition via Large-Scale Weak Supervision, ICML 2023, section
 * 2.2 and table 1: two convolutions over mel frames, the second of stride 2, sinusoids, an encoder;
 * a decoder with learned positions that attends to it, its output tied to the tokens' table. Op by
 * op as in Hugging Face Transformers (models/whisper/modeling_whisper.py), without dropout, as
 * published. The sinusoids are parameters there that are not trained; here they are trained as
 * learned positions are.
 */
#include "config.h"

#include "workloads/zoo/nn_encoder.h"
#include "workloads/zoo/zoo.h"

enum whisper_key {
    ATTENTION,
    LAYERS,
    DECODER_LAYERS,
    HIDDEN,
    HEADS,
    DECODER_HEADS,
    FFN,
    DECODER_FFN,
    MELS,
    FRAMES, /* positions of the encoder, half as many as mel frames */
    SEQ,
    VOCAB
};

static const struct fr__model_key keys[] = {
    [ATTENTION] = {FR__ATTENTION_KEY(FR__ATTENTION_FLASH)},
    [LAYERS] = {"layers", 4, 1, 1024, NULL},
    [DECODER_LAYERS] = {"decoder_layers", 4, 1, 1024, NULL},
    [HIDDEN] = {"hidden", 384, 1, 1 << 17, NULL},
    [HEADS] = {"heads", 6, 1, 1 << 12, NULL},
    [DECODER_HEADS] = {"decoder_heads", 6, 1, 1 << 12, NULL},
    [FFN] = {"ffn", 1536, 1, 1 << 19, NULL},
    [DECODER_FFN] = {"decoder_ffn", 1536, 1, 1 << 19, NULL},
    [MELS] = {"mels", 80, 1, 1 << 12, NULL},
    [FRAMES] = {"frames", 1500, 1, 1 << 16, NULL},
    [SEQ] = {"seq", 448, 1, 1 << 16, NULL},
    [VOCAB] = {"vocab", 51865, 2, 1 << 24, NULL},
    {0},
};

/* Mel frames, an image of one row. */
static struct fr__value sound(struct fr__net *net, const uint32_t s[])
{
    const struct fr__op_spec spec = {.name = "sound", .kind = FR_OP_INPUT, .is_input = true};
    const uint32_t dims[] = {net->batch, s[MELS], 1, 2 * s[FRAMES]};
    struct fr_tensor t = fr__nn_tensor(net, net->elem_bytes, 4, dims, 1);

    fr__nn_layer(net, "input");
    return fr__nn_op(net, &spec, NULL, 0, &t, 1);
}

static struct fr__value convolve(struct fr__net *net, const uint32_t s[],
                                 const char *const names[3], uint32_t stride, struct fr__value x)
{
    const struct fr__window w = {.height = 1, .width = 3, .stride = stride, .pad_width = 1};

    x = fr__nn_bias(net, names[1], fr__nn_conv(net, names[0], x, s[HIDDEN], w));
    return fr__nn_gelu(net, names[2], x);
}

static struct fr__value encode(struct fr__net *net, const uint32_t s[], struct fr__value x)
{
    static const char *const first[] = {"conv1", "conv1.bias", "gelu1"};
    static const char *const second[] = {"conv2", "conv2.bias", "gelu2"};
    const struct fr__encoder e = {.heads = s[HEADS],
                                  .ffn = s[FFN],
                                  .form = (enum fr__attention_form)s[ATTENTION],
                                  .has_no_key_bias = true};

    fr__nn_layer(net, "encoder.embed");
    x = convolve(net, s, second, 2, convolve(net, s, first, 1, x));
    x = fr__nn_add_places(net, "positions", fr__nn_line_up(net, "sequence", x, 0), 0);
    x = fr__nn_encoder_layers(net, "encoder", s[LAYERS], &e, x);
    fr__nn_layer(net, "encoder.final");
    return fr__nn_layernorm(net, "ln", x);
}

static struct fr__value decode(struct fr__net *net, const uint32_t s[], struct fr__value x,
                               const struct fr__value *memory)
{
    struct fr__encoder e = {.heads = s[DECODER_HEADS],
                            .ffn = s[DECODER_FFN],
                            .form = (enum fr__attention_form)s[ATTENTION],
                            .has_no_key_bias = true};

    for (uint32_t i = 0; i < s[DECODER_LAYERS]; i++) {
        e.is_causal = true;
        fr__nn_layer(net, "decoder%u.attn", i);
        x = fr__nn_encoder_attention(net, &e, x, NULL);
        e.is_causal = false;
        fr__nn_layer(net, "decoder%u.cross", i);
        x = fr__nn_encoder_attention(net, &e, x, memory);
        fr__nn_layer(net, "decoder%u.mlp", i);
        x = fr__nn_encoder_mlp(net, &e, x);
    }
    fr__nn_layer(net, "decoder.final");
    return fr__nn_layernorm(net, "ln", x);
}

static void build(struct fr__net *net, const uint32_t s[])
{
    struct fr__value mels = sound(net, s), tokens = fr__nn_indices(net, "tokens", net->seq_len);
    struct fr__value memory = encode(net, s, mels), table, x;

    fr__nn_layer(net, "decoder.embed");
    table = fr__nn_embedding(net, "words", tokens, s[VOCAB], s[HIDDEN]);
    x = fr__nn_learned_positions(net, "positions", s[SEQ], s[HIDDEN]);
    x = decode(net, s, fr__nn_add(net, "add", table, x, false), &memory);
    fr__nn_layer(net, "head");
    fr__nn_wide(net, true);
    fr__nn_cross_entropy(net, fr__nn_tied_linear(net, "", x, table, s[VOCAB]));
}

static enum fr_status check(const struct fr__model *m, const uint32_t s[], struct fr_error *err)
{
    return fr__check_heads(m->name, s[HIDDEN], s[DECODER_HEADS], err);
}

const struct fr__family fr__family_whisper = {
    .group = "Transformers",
    .batch = 8,
    .keys = keys,
    .length = "seq",
    .positions = "seq",
    .has_whole_heads = true,
    .check = check,
    .build = build,
};
