/* workloads/zoo/mmdit.c - diffusion transformers over images and text: Stable Diffusion 3 and FLUX.
 *
 * P. Esser et al., Scaling Rectified Flow Transformers for High-Resolution Image Synthesis, ICML
 * 2024, section 4 and figure 2: patches of a latent image and tokens of text have weights of their
 * own and attend to each other; what the time step and the pooled text say shifts, scales and gates
 * each sublayer (W. Peebles, S. Xie, Scalable Diffusion Models with Transformers, ICCV 2023,
 * section 3.2). FLUX has layers behind them in which both are one sequence, and attention and
 * feed-forward layer stand beside each other. Op by op as in Hugging Face Diffusers
 * (models/transformers/transformer_sd3.py and transformer_flux.py).
 *
 * The latent image, the text's states and the step's sinusoids come with the data: the encoders
 * that make them are not trained. The loss is the sum of the squared differences.
 */
#include "config.h"

#include "workloads/zoo/nn_encoder.h"
#include "workloads/zoo/zoo.h"

#include <stdio.h>

enum mmdit_key {
    ATTENTION,
    LAYERS,
    SINGLE,
    HEADS,
    HEAD_WIDTH,
    CHANNELS, /* of the latent image; with PATCH 1 of a patch */
    OUT_CHANNELS,
    PATCH,
    IMAGE,      /* side of the latent image */
    TEXT,       /* tokens */
    TEXT_WIDTH, /* of a token's state */
    POOLED,     /* width of the pooled text */
    GUIDANCE,   /* its strength is one more input */
    QK_NORM,
    OPEN_END /* the text has a feed-forward layer in the last layer too */
};

static const struct fr__model_key keys[] = {
    [ATTENTION] = {FR__ATTENTION_KEY(FR__ATTENTION_FLASH)},
    [LAYERS] = {"layers", 24, 1, 1024, NULL},
    [SINGLE] = {"singles", 0, 0, 1024, NULL},
    [HEADS] = {"heads", 24, 1, 1 << 12, NULL},
    [HEAD_WIDTH] = {"head_width", 64, 1, 1 << 12, NULL},
    [CHANNELS] = {"channels", 16, 1, 1 << 12, NULL},
    [OUT_CHANNELS] = {"out_channels", 0, 0, 1 << 12, NULL},
    [PATCH] = {"patch", 2, 1, 1 << 8, NULL},
    [IMAGE] = {"image", 128, 1, 1 << 12, NULL},
    [TEXT] = {"text", 333, 1, 1 << 16, NULL},
    [TEXT_WIDTH] = {"text_width", 4096, 1, 1 << 17, NULL},
    [POOLED] = {"pooled", 2048, 1, 1 << 17, NULL},
    [GUIDANCE] = {"guidance", 0, 0, 1, NULL},
    [QK_NORM] = {"qk_norm", 0, 0, 1, NULL},
    [OPEN_END] = {"open_end", 0, 0, 1, NULL},
    {0},
};

enum { SINUSOIDS = 256, MLP_RATIO = 4, IMAGES = 0, WORDS = 1, N_STREAMS = 2 };

static const char *const streams[N_STREAMS] = {[IMAGES] = "image", [WORDS] = "text"};

static uint32_t width_of(const uint32_t s[])
{
    return s[HEADS] * s[HEAD_WIDTH];
}

/* ---- inputs ---- */

static struct fr__value input(struct fr__net *net, const char *name, uint32_t rows, uint32_t width)
{
    const struct fr__op_spec spec = {.name = name, .kind = FR_OP_INPUT, .is_input = true};
    const uint32_t dims[] = {net->batch, rows, width};
    struct fr_tensor t = fr__nn_tensor(net, net->elem_bytes, 3, dims, 1);

    return fr__nn_op(net, &spec, NULL, 0, &t, 1);
}

/* Two products with SiLU between them: [batch, 1, width]. */
static struct fr__value embed_number(struct fr__net *net, const char *name, const uint32_t s[],
                                     struct fr__value x)
{
    fr__nn_layer(net, "embed.%s", name);
    x = fr__nn_silu(net, "silu", fr__nn_dense(net, "fc1", x, width_of(s)));
    return fr__nn_dense(net, "fc2", x, width_of(s));
}

/* What shifts, scales and gates all layers: the step, the pooled text, and the guidance. */
static struct fr__value condition(struct fr__net *net, const uint32_t s[],
                                  const struct fr__value in[3])
{
    struct fr__value x = embed_number(net, "step", s, in[0]),
                     y = embed_number(net, "pooled", s, in[1]);

    x = fr__nn_add(net, "add", x, y, false);
    if (s[GUIDANCE]) {
        y = embed_number(net, "guidance", s, in[2]);
        x = fr__nn_add(net, "add", x, y, false);
    }
    fr__nn_layer(net, "embed.all");
    return fr__nn_silu(net, "silu", x);
}

/* ---- shifts, scales and gates ---- */

/* n rows of the width for one stream of a layer, each [batch, 1, width]. */
static void modulate(struct fr__net *net, const char *name, const uint32_t s[], struct fr__value c,
                     size_t n, struct fr__value out[])
{
    uint32_t widths[6];
    char part[48];

    for (size_t i = 0; i < n; i++)
        widths[i] = width_of(s);
    snprintf(part, sizeof(part), "%s.split", name);
    fr__nn_split_columns(net, part, fr__nn_dense(net, name, c, (uint32_t)n * width_of(s)), widths,
                         n, out);
}

/* The norm of x, scaled and shifted. */
static struct fr__value norm(struct fr__net *net, const char *stream, struct fr__value x,
                             struct fr__value shift, struct fr__value scale)
{
    char name[48];

    snprintf(name, sizeof(name), "%s.norm", stream);
    x = fr__nn_plain_norm(net, name, x, false);
    snprintf(name, sizeof(name), "%s.norm.scale", stream);
    x = fr__nn_mul(net, name, x, scale);
    snprintf(name, sizeof(name), "%s.norm.shift", stream);
    return fr__nn_add(net, name, x, shift, false);
}

static struct fr__value add_gated(struct fr__net *net, const char *stream, struct fr__value x,
                                  struct fr__value y, struct fr__value gate)
{
    char name[48];

    snprintf(name, sizeof(name), "%s.gate", stream);
    y = fr__nn_mul(net, name, y, gate);
    snprintf(name, sizeof(name), "%s.add", stream);
    return fr__nn_add(net, name, x, y, false);
}

/* ---- attention of both streams ---- */

struct qkv {
    struct fr__value part[3];
};

static struct qkv project(struct fr__net *net, const char *stream, const uint32_t s[],
                          struct fr__value x)
{
    static const char *const letters[3] = {"q", "k", "v"};
    struct qkv p;
    char name[48];

    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof(name), "%s.%s", stream, letters[i]);
        p.part[i] = fr__nn_dense(net, name, x, width_of(s));
        snprintf(name, sizeof(name), "%s.%s.norm", stream, letters[i]);
        if (s[QK_NORM] && i < 2)
            p.part[i] = fr__nn_rmsnorm_heads(net, name, p.part[i], s[HEAD_WIDTH]);
    }
    return p;
}

static struct fr__value attend(struct fr__net *net, const uint32_t s[], struct qkv p)
{
    const struct fr__dot_attention a = {
        .heads = s[HEADS], .kv_heads = s[HEADS], .form = (enum fr__attention_form)s[ATTENTION]};

    if (s[QK_NORM]) { /* FLUX turns both by their places */
        p.part[0] = fr__nn_rotary(net, "q.rotary", p.part[0]);
        p.part[1] = fr__nn_rotary(net, "k.rotary", p.part[1]);
    }
    return fr__nn_attend(net, &a, p.part[0], p.part[1], p.part[2]);
}

/* ---- layers ---- */

static struct fr__value feed_forward(struct fr__net *net, const char *stream, const uint32_t s[],
                                     struct fr__value x)
{
    char name[48];

    snprintf(name, sizeof(name), "%s.fc1", stream);
    x = fr__nn_dense(net, name, x, MLP_RATIO * width_of(s));
    snprintf(name, sizeof(name), "%s.gelu", stream);
    x = fr__nn_gelu(net, name, x);
    snprintf(name, sizeof(name), "%s.fc2", stream);
    return fr__nn_dense(net, name, x, width_of(s));
}

/* x: the streams, and what becomes of them. In a last layer nothing is left of the text. */
static void double_layer(struct fr__net *net, const uint32_t s[], uint32_t layer, bool is_last,
                         struct fr__value c, struct fr__value x[N_STREAMS])
{
    struct fr__value m[N_STREAMS][6], context[2];
    struct qkv p[N_STREAMS];
    size_t n_left = is_last ? 1 : N_STREAMS;
    char name[48];

    fr__nn_layer(net, "layer%u.attn", layer);
    for (size_t i = 0; i < N_STREAMS; i++) {
        snprintf(name, sizeof(name), "%s.mod", streams[i]);
        modulate(net, name, s, c, is_last && i == WORDS ? 2 : 6, m[i]);
        p[i] = project(net, streams[i], s, norm(net, streams[i], x[i], m[i][0], m[i][1]));
    }
    for (size_t k = 0; k < 3; k++) {
        snprintf(name, sizeof(name), "join%zu", k);
        p[IMAGES].part[k] = fr__nn_join_rows(net, name, p[IMAGES].part[k], p[WORDS].part[k]);
    }
    fr__nn_cut_rows(net, "cut", attend(net, s, p[IMAGES]), x[IMAGES].t.dims[1], n_left, context);
    for (size_t i = 0; i < n_left; i++) {
        struct fr__value y;

        fr__nn_layer(net, "layer%u.attn", layer);
        snprintf(name, sizeof(name), "%s.out", streams[i]);
        y = fr__nn_dense(net, name, context[i], width_of(s));
        x[i] = add_gated(net, streams[i], x[i], y, m[i][2]);
        fr__nn_layer(net, "layer%u.mlp", layer);
        y = feed_forward(net, streams[i], s, norm(net, streams[i], x[i], m[i][3], m[i][4]));
        x[i] = add_gated(net, streams[i], x[i], y, m[i][5]);
    }
}

/* One sequence of both; attention and feed-forward layer read the same and are added up. */
static struct fr__value single_layer(struct fr__net *net, const uint32_t s[], uint32_t layer,
                                     struct fr__value c, struct fr__value x)
{
    struct fr__value m[3], y, z;

    fr__nn_layer(net, "single%u", layer);
    modulate(net, "mod", s, c, 3, m);
    y = norm(net, "both", x, m[0], m[1]);
    z = fr__nn_gelu(net, "gelu", fr__nn_dense(net, "mlp", y, MLP_RATIO * width_of(s)));
    y = fr__nn_join_columns(net, "join", attend(net, s, project(net, "both", s, y)), z);
    return add_gated(net, "both", x, fr__nn_dense(net, "out", y, width_of(s)), m[2]);
}

/* ---- the whole ---- */

/* Patches of the latent image in a row; with patches of 1 they come so. */
static struct fr__value embed_image(struct fr__net *net, const uint32_t s[])
{
    struct fr__value x;

    net->image_size = s[IMAGE];
    if (s[PATCH] == 1) {
        fr__nn_layer(net, "input");
        x = input(net, "image", s[IMAGE] * s[IMAGE], s[CHANNELS]);
        fr__nn_layer(net, "embed.image");
        return fr__nn_dense(net, "fc", x, width_of(s));
    }
    x = fr__nn_images(net, s[CHANNELS]);
    fr__nn_layer(net, "embed.image");
    x = fr__nn_conv(net, "patches", x, width_of(s), fr__square(s[PATCH], s[PATCH], 0));
    x = fr__nn_line_up(net, "sequence", fr__nn_bias(net, "patches.bias", x), 0);
    return fr__nn_add_constant(net, "positions", x);
}

static void build(struct fr__net *net, const uint32_t s[])
{
    uint32_t out = s[OUT_CHANNELS] ? s[OUT_CHANNELS] : s[CHANNELS], n_patches;
    struct fr__value in[4], x[N_STREAMS], c, m[2], y;

    x[IMAGES] = embed_image(net, s);
    n_patches = x[IMAGES].t.dims[1];
    fr__nn_layer(net, "input.text");
    in[3] = input(net, "states", s[TEXT], s[TEXT_WIDTH]);
    in[0] = input(net, "step", 1, SINUSOIDS);
    in[1] = input(net, "pooled", 1, s[POOLED]);
    if (s[GUIDANCE])
        in[2] = input(net, "guidance", 1, SINUSOIDS);
    fr__nn_layer(net, "embed.text");
    x[WORDS] = fr__nn_dense(net, "fc", in[3], width_of(s));
    c = condition(net, s, in);
    for (uint32_t i = 0; i < s[LAYERS]; i++)
        double_layer(net, s, i, i + 1 == s[LAYERS] && !s[OPEN_END], c, x);
    if (s[SINGLE]) {
        fr__nn_layer(net, "join");
        y = fr__nn_join_rows(net, "", x[IMAGES], x[WORDS]);
        for (uint32_t i = 0; i < s[SINGLE]; i++)
            y = single_layer(net, s, i, c, y);
        fr__nn_layer(net, "cut");
        fr__nn_cut_rows(net, "", y, n_patches, 1, x);
    }
    fr__nn_layer(net, "head");
    modulate(net, "mod", s, c, 2, m);
    y = norm(net, "image", x[IMAGES], m[0], m[1]);
    y = fr__nn_dense(net, "fc", y, s[PATCH] * s[PATCH] * out);
    fr__nn_sum_loss(net, "loss", fr__nn_square(net, "square", y));
}

static enum fr_status check(const struct fr__model *m, const uint32_t s[], struct fr_error *err)
{
    if (s[SINGLE] && !s[OPEN_END])
        return fr__fail(
            err, FR_EUSAGE, FR_NOWHERE,
            "model '%s': layers of one sequence follow (singles=%u), so the text has to "
            "be kept (open_end=1)",
            m->name, s[SINGLE]);
    return FR_OK;
}

const struct fr__family fr__family_mmdit = {
    .group = "Transformers",
    .batch = 8,
    .keys = keys,
    .check = check,
    .build = build,
};
