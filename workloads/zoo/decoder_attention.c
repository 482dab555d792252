/* workloads/zoo/decoder_attention.c - queries, keys and values of a decoder's attention, and the
 * norm that its layers share. */
#include "config.h"

#include "workloads/zoo/decoder.h"

struct fr__value fr__decoder_norm(struct fr__net *net, const char *name, const uint32_t s[],
                                  struct fr__value x)
{
    return s[FR__D_PLAIN_NORM] ? fr__nn_plain_norm(net, name, x, s[FR__D_PLAIN_NORM] == 2)
                               : fr__nn_rmsnorm(net, name, x);
}

uint32_t fr__decoder_head_width(const uint32_t s[])
{
    if (s[FR__D_KV_RANK])
        return s[FR__D_ROPE_WIDTH] + s[FR__D_NOPE_WIDTH];
    return s[FR__D_HEAD_WIDTH] ? s[FR__D_HEAD_WIDTH] : s[FR__D_HIDDEN] / s[FR__D_HEADS];
}

static struct fr__dot_attention attention_of(const uint32_t s[], char letter)
{
    bool is_bounded = letter == 'w' || letter == 'c';

    return (struct fr__dot_attention){.heads = s[FR__D_HEADS],
                                      .kv_heads =
                                          s[FR__D_KV_RANK] ? s[FR__D_HEADS] : s[FR__D_KV_HEADS],
                                      .form = (enum fr__attention_form)s[FR__D_ATTENTION],
                                      .is_causal = !s[FR__D_SEES_BOTH],
                                      .value_width = s[FR__D_KV_RANK] ? s[FR__D_VALUE_WIDTH] : 0,
                                      .window = is_bounded ? s[FR__D_WINDOW] : 0,
                                      .is_chunked = letter == 'c',
                                      .has_sinks = s[FR__D_SINKS],
                                      .is_capped = s[FR__D_CAPPED]};
}

static struct fr__value project(struct fr__net *net, const char *name, bool has_bias,
                                struct fr__value x, uint32_t n_out)
{
    return has_bias ? fr__nn_dense(net, name, x, n_out) : fr__nn_linear(net, name, x, n_out);
}

/* ---- grouped queries (J. Ainslie et al., GQA, EMNLP 2023) ---- */

struct heads {
    struct fr__value q, k, v, gate; /* gate: of the context, where queries bring one */
};

static struct heads project_heads(struct fr__net *net, const uint32_t s[], struct fr__value y)
{
    uint32_t width = fr__decoder_head_width(s), q = s[FR__D_HEADS] * width;
    uint32_t kv = s[FR__D_KV_HEADS] * width;
    const uint32_t widths[] = {q, kv, kv}, halves[] = {q, q};
    struct fr__value part[3];
    struct heads h = {.q = y};

    if (s[FR__D_FUSED]) {
        part[0] = project(net, "qkv", s[FR__D_QKV_BIAS], y, q + 2 * kv);
        fr__nn_split_columns(net, "qkv.split", part[0], widths, 3, part);
        return (struct heads){.q = part[0], .k = part[1], .v = part[2], .gate = part[0]};
    }
    h.q = project(net, "q", s[FR__D_QKV_BIAS], y, s[FR__D_OUT_GATE] ? 2 * q : q);
    if (s[FR__D_OUT_GATE]) {
        fr__nn_split_columns(net, "q.split", h.q, halves, 2, part);
        h.q = part[0];
        h.gate = part[1];
    }
    h.k = project(net, "k", s[FR__D_QKV_BIAS], y, kv);
    h.v = project(net, "v", s[FR__D_QKV_BIAS], y, kv);
    return h;
}

/* width: of a head, or of all of them where one norm has them all. */
static struct fr__value norm_heads(struct fr__net *net, const uint32_t s[], const char *name,
                                   struct fr__value x)
{
    switch (s[FR__D_QK_NORM]) {
    case FR__QK_NORM_HEADS:
        return fr__nn_rmsnorm_heads(net, name, x, fr__decoder_head_width(s));
    case FR__QK_NORM_ALL:
        return fr__nn_rmsnorm(net, name, x);
    default:
        return x;
    }
}

static void turn(struct fr__net *net, const uint32_t s[], char letter, struct heads *h)
{
    uint32_t width = fr__decoder_head_width(s), percent = letter == 'n' ? 0 : s[FR__D_ROTARY];

    h->q = norm_heads(net, s, "q.norm", h->q);
    h->k = norm_heads(net, s, "k.norm", h->k);
    h->q = fr__nn_rotary_part(net, "q.rotary", h->q, percent);
    h->k = fr__nn_rotary_part(net, "k.rotary", h->k, percent);
    if (s[FR__D_QK_NORM] == FR__QK_NORM_PLAIN && percent > 0) {
        h->q = fr__nn_plain_norm_heads(net, "q.norm", h->q, width);
        h->k = fr__nn_plain_norm_heads(net, "k.norm", h->k, width);
    }
}

/* ---- latent attention ---- */

/* DeepSeek-AI, DeepSeek-V2, 2024, section 2.1.2, in its form for training: keys and values are
 * expanded from a latent of kv_rank, and the part of the keys that turns is one for all heads. Op
 * by op as in Hugging Face Transformers (models/deepseek_v2/modeling_deepseek_v2.py). */
static struct heads expand_latents(struct fr__net *net, const uint32_t s[], struct fr__value y)
{
    uint32_t heads = s[FR__D_HEADS], rope = s[FR__D_ROPE_WIDTH], width = fr__decoder_head_width(s);
    const uint32_t latent[] = {s[FR__D_KV_RANK], rope};
    const uint32_t expanded[] = {heads * s[FR__D_NOPE_WIDTH], heads * s[FR__D_VALUE_WIDTH]};
    bool has_bias = s[FR__D_QKV_BIAS];
    struct fr__value kv, part[2];
    struct heads h = {.q = y};

    if (s[FR__D_Q_RANK])
        h.q =
            fr__decoder_norm(net, "q_a.norm", s, project(net, "q_a", has_bias, y, s[FR__D_Q_RANK]));
    h.q = fr__nn_linear(net, s[FR__D_Q_RANK] ? "q_b" : "q", h.q, heads * width);
    h.q = fr__nn_rotary_part(net, "q.rotary", h.q, 100 * rope / width);
    kv = project(net, "kv_a", has_bias, y, s[FR__D_KV_RANK] + rope);
    fr__nn_split_columns(net, "kv_a.split", kv, latent, 2, part);
    kv = fr__decoder_norm(net, "kv_a.norm", s, part[0]);
    h.k = fr__nn_rotary(net, "k.rotary", part[1]);
    kv = fr__nn_linear(net, "kv_b", kv, expanded[0] + expanded[1]);
    fr__nn_split_columns(net, "kv_b.split", kv, expanded, 2, part);
    h.k = fr__nn_join_heads(net, "k.join", part[0], h.k, heads);
    h.v = part[1];
    return h;
}

struct fr__value fr__decoder_attend(struct fr__net *net, const uint32_t s[], char letter,
                                    struct fr__value y)
{
    const struct fr__dot_attention a = attention_of(s, letter);
    struct heads h;

    if (s[FR__D_KV_RANK]) {
        h = expand_latents(net, s, y);
    } else {
        h = project_heads(net, s, y);
        turn(net, s, letter, &h);
    }
    y = fr__nn_attend(net, &a, h.q, h.k, h.v);
    if (s[FR__D_OUT_GATE] && !s[FR__D_KV_RANK])
        y = fr__nn_mul(net, "out.gate", y, fr__nn_sigmoid(net, "out.sigmoid", h.gate));
    return project(net, "out", s[FR__D_O_BIAS], y, s[FR__D_HIDDEN]);
}
