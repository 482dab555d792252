/* workloads/passes/tune_find.c - which parameters are frozen, which are stored in 4 bits, and which
 * products get adapters. */
#include "config.h"

#include "workloads/passes/tune_parts.h"

#include "base/error.h"
#include "base/names.h"
#include "workloads/passes/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- names ---- */

/* What libraries call a layer, and what it is called here. q_proj and the like: Hugging Face
 * Transformers; linear_qkv and the like: Megatron-LM; attention_qkv and the like: NVIDIA NeMo;
 * c_attn and the like: GPT-2. */
static const struct {
    const char *theirs, *ours[4];
} aliases[] = {
    {"q_proj", {"q", NULL}},
    {"k_proj", {"k", NULL}},
    {"v_proj", {"v", NULL}},
    {"o_proj", {"out", "proj", NULL}},
    {"out_proj", {"out", "proj", NULL}},
    {"query", {"q", NULL}},
    {"key", {"k", NULL}},
    {"value", {"v", NULL}},
    {"gate_proj", {"gate", "w1", NULL}},
    {"up_proj", {"up", "w3", NULL}},
    {"down_proj", {"down", "w2", NULL}},
    {"q_a_proj", {"q_a", NULL}},
    {"q_b_proj", {"q_b", NULL}},
    {"kv_a_proj_with_mqa", {"kv_a", NULL}},
    {"kv_b_proj", {"kv_b", NULL}},
    {"c_attn", {"qkv", NULL}},
    {"c_proj", {"proj", "fc2", NULL}},
    {"c_fc", {"fc1", NULL}},
    {"query_key_value", {"qkv", NULL}},
    {"linear_qkv", {"qkv", "q", "k", "v"}},
    {"linear_proj", {"out", "proj", NULL}},
    {"linear_fc1", {"fc1", "gate", "up", NULL}},
    {"linear_fc2", {"fc2", "down", NULL}},
    {"attention_qkv", {"qkv", "q", "k", "v"}},
    {"attention_dense", {"out", "proj", NULL}},
    {"mlp_fc1", {"fc1", "gate", "up", NULL}},
    {"mlp_fc2", {"fc2", "down", NULL}},
    {"attention", {"attn", NULL}},
    {"embed_tokens", {"embed", NULL}},
    {"lm_head", {"head", NULL}},
    {"vision_tower", {"image", "vision", NULL}},
    {"vision_model", {"image", "vision", NULL}},
};

/* Whether the word is a run of whole parts of the name, which dots separate. */
static bool is_part(const char *word, const char *name)
{
    char run[256];

    for (const char *from = name; from; from = strchr(from, '.')) {
        from += *from == '.';
        for (size_t n = strcspn(from, "."); n < sizeof(run); n += 1 + strcspn(from + n + 1, ".")) {
            memcpy(run, from, n);
            run[n] = '\0';
            if (fr__name_matches(word, run))
                return true;
            if (!from[n])
                break;
        }
    }
    return false;
}

static bool names_op(const char *word, const char *name)
{
    if (is_part(word, name))
        return true;
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        for (size_t k = 0; strcmp(aliases[i].theirs, word) == 0 && k < 4 && aliases[i].ours[k]; k++)
            if (is_part(aliases[i].ours[k], name))
                return true;
    return false;
}

/* Notes in is_used which words name the op; whether any does. */
static bool are_naming(const struct fr__tune_words *words, const char *name, bool is_used[])
{
    bool any = false;

    for (size_t i = 0; i < words->n; i++)
        if (names_op(fr__tune_word(words, i), name))
            is_used[i] = any = true;
    return any;
}

/* ---- linear layers ---- */

/* Whether steps of a recurrence, or another layer, use what op o owns. */
static bool is_shared(const struct fr_graph *g, uint32_t o)
{
    for (uint32_t i = g->out_first[o]; i < g->out_first[o + 1]; i++)
        if (fr__edge_is_tie(&g->edges[i]))
            return true;
    return false;
}

bool fr__tune_is_linear(const struct fr_graph *g, uint32_t o)
{
    const struct fr_op *op = &g->ops[o];

    return op->phase == FR_PHASE_FORWARD && op->kind == FR_OP_MATMUL && op->param_bytes > 0 &&
           op->shape.of == FR_SHAPE_PRODUCT && op->n_tensors == 1 &&
           g->tensors[op->first_tensor].n_dims >= 2 && !is_shared(g, o);
}

/* Sets has_loss of what leads to the classes of a loss with no other product between: the output
 * layer, which neither PEFT's "all-linear" nor 4 bits concern. */
static void find_ends(const struct fr_graph *g, bool has_loss[])
{
    for (uint32_t o = (uint32_t)g->n_ops; o-- > 0;) {
        const struct fr_op *op = &g->ops[o];

        if (op->kind == FR_OP_LOSS || op->kind == FR_OP_LOG_SOFTMAX)
            has_loss[o] = true;
        for (uint32_t i = g->out_first[o]; i < g->out_first[o + 1]; i++) {
            const struct fr_op *dst = &g->ops[g->edges[i].dst];

            if (g->edges[i].tensor != FR_NONE && has_loss[g->edges[i].dst] &&
                dst->kind != FR_OP_MATMUL && dst->kind != FR_OP_BATCH_MATMUL &&
                dst->kind != FR_OP_CONV2D)
                has_loss[o] = true;
        }
    }
}

/* The names of linear layers behind their last dot, each once. */
static const char *list_linear(const struct fr_graph *g, char *text, size_t n)
{
    const char *seen[16];
    size_t n_seen = 0, used = 0;

    text[0] = '\0';
    for (uint32_t o = 0; o < g->n_ops && n_seen < 16 && used < n; o++) {
        const char *dot = strrchr(g->ops[o].name, '.'), *last = dot ? dot + 1 : g->ops[o].name;
        bool is_new = fr__tune_is_linear(g, o);

        for (size_t i = 0; is_new && i < n_seen; i++)
            is_new = strcmp(seen[i], last) != 0;
        if (!is_new)
            continue;
        seen[n_seen++] = last;
        used += (size_t)snprintf(text + used, n - used, "%s%s", n_seen > 1 ? ", " : "", last);
    }
    return text;
}

/* ---- adapters ---- */

/* The widths of queries, keys and values of which op o writes `columns` behind each other, if it
 * does: what reads it, a bias aside, splits it or is attention. Returns how many; 0: none. */
static size_t parts_of(const struct fr_graph *g, uint32_t o, uint64_t columns, uint64_t widths[3])
{
    for (uint32_t i = g->out_first[o]; i < g->out_first[o + 1]; i++) {
        const struct fr_op *dst = &g->ops[g->edges[i].dst];
        const struct fr_shape *s = &dst->shape;
        double sum = 0;

        if (g->edges[i].tensor == FR_NONE)
            continue;
        if (dst->kind == FR_OP_BIAS)
            return parts_of(g, g->edges[i].dst, columns, widths);
        if (dst->kind == FR_OP_ATTENTION && s->of == FR_SHAPE_ATTENTION) {
            widths[0] = s->attention.heads * s->attention.head_width;
            widths[1] = s->attention.kv_heads * s->attention.head_width;
            widths[2] = s->attention.kv_heads * fr_shape_value_width(s);
            return widths[0] + widths[1] + widths[2] == columns ? 3 : 0;
        }
        if (dst->kind != FR_OP_SPLIT || dst->n_tensors != 3)
            continue;
        for (uint32_t k = 0; k < 3; k++)
            sum += (double)g->tensors[dst->first_tensor + k].bytes;
        for (uint32_t k = 0; k < 3; k++)
            widths[k] =
                (uint64_t)((double)g->tensors[dst->first_tensor + k].bytes / sum * (double)columns +
                           0.5);
        return 3;
    }
    return 0;
}

struct naming {
    bool targets[FR__TUNE_WORDS], parts[FR__TUNE_WORDS], train[FR__TUNE_WORDS]; /* words used */
};

/* The adapter of parts of a product that writes queries, keys and values. */
static struct fr__adapter adapter_of_parts(const struct fr__tuned *t, uint32_t o,
                                           struct naming *used)
{
    static const char *const names[] = {"q", "k", "v"};
    const struct fr_op *op = &t->g->ops[o];
    struct fr__adapter a = {.n_parts = 0};
    uint64_t widths[3];

    if (strchr(op->name, '.') == NULL || parts_of(t->g, o, op->shape.product.columns, widths) != 3)
        return a;
    for (size_t k = 0; k < 3; k++)
        if (are_naming(&t->how->targets, names[k], used->targets)) {
            a.n_parts++;
            a.columns += widths[k];
        }
    return a;
}

static bool names_all(const struct fr__tune_words *words, bool is_used[])
{
    for (size_t i = 0; i < words->n; i++)
        if (strcmp(fr__tune_word(words, i), "all") == 0 ||
            strcmp(fr__tune_word(words, i), "all-linear") == 0)
            return is_used[i] = true;
    return false;
}

/* The bias that alone reads what product o writes, else o. */
static uint32_t end_of(const struct fr_graph *g, uint32_t o)
{
    uint32_t end = o, n = 0;

    for (uint32_t i = g->out_first[o]; i < g->out_first[o + 1]; i++) {
        if (g->edges[i].tensor == FR_NONE)
            continue;
        n++;
        if (g->ops[g->edges[i].dst].kind == FR_OP_BIAS)
            end = g->edges[i].dst;
    }
    return n == 1 ? end : o;
}

static enum fr_status find_adapter(struct fr__tuned *t, uint32_t o, bool is_output,
                                   struct naming *used, struct fr_error *err)
{
    const struct fr_op *op = &t->g->ops[o];
    const struct fr__tune_words *targets = &t->how->targets;
    struct fr__adapter a = {.n_parts = 0};
    uint64_t most = op->shape.product.depth;

    if (are_naming(targets, op->name, used->targets) ||
        (names_all(targets, used->targets) && !is_output))
        a = (struct fr__adapter){1, op->shape.product.columns};
    else if (!is_output)
        a = adapter_of_parts(t, o, used);
    if (a.n_parts == 0)
        return FR_OK;
    if (a.columns / a.n_parts < most)
        most = a.columns / a.n_parts;
    if (t->how->rank > most)
        return fr__fail(
            err, FR_EUSAGE, op->loc,
            "a rank of %" PRIu32 " is over the %" PRIu64 " of layer '%s', whose weights "
            "are %" PRIu64 " x %" PRIu64,
            t->how->rank, most, op->name, op->shape.product.depth, a.columns / a.n_parts);
    t->adapters[o] = a;
    t->adapted[end_of(t->g, o)] = o;
    return FR_OK;
}

static enum fr_status check_targets(const struct fr__tuned *t, const struct naming *used,
                                    struct fr_error *err)
{
    const struct fr__tune_words *targets = &t->how->targets;
    char known[256];

    for (size_t i = 0; i < targets->n; i++)
        if (!used->targets[i])
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "'%s' has no linear layer '%.60s' for an adapter; it has %s, or all",
                            t->g->name, fr__tune_word(targets, i),
                            list_linear(t->g, known, sizeof(known)));
    return FR_OK;
}

static enum fr_status find_adapters(struct fr__tuned *t, struct naming *used, struct fr_error *err)
{
    bool *has_loss = fr__arena_alloc(t->w.scratch, t->g->n_ops, sizeof(*has_loss));

    if (!has_loss)
        return fr__fail_nomem(err);
    find_ends(t->g, has_loss);
    for (uint32_t o = 0; o < t->g->n_ops; o++) {
        if (!fr__tune_is_linear(t->g, o))
            continue;
        FR_TRY(find_adapter(t, o, has_loss[o], used, err));
        t->is_packed[o] = t->how->method == FR__TUNE_QLORA && !has_loss[o] && t->is_frozen[o];
    }
    return check_targets(t, used, err);
}

/* ---- frozen parameters ---- */

static bool stays(const struct fr__tuned *t, const struct fr__units *u, uint32_t o,
                  struct naming *used)
{
    const struct fr__tuning *how = t->how;
    const char *name = t->g->ops[o].name;
    uint32_t unit = u->unit_of_layer[t->g->ops[o].layer];

    if (how->method != FR__TUNE_FREEZE || how->train.n > 0)
        return !are_naming(&how->train, name, used->train);
    return are_naming(&how->parts, name, used->parts) || (unit != FR_NONE && unit < how->layers);
}

static enum fr_status check_words(const struct fr__tuned *t, const struct fr__tune_words *words,
                                  const bool is_used[], struct fr_error *err)
{
    char hint[128];

    for (size_t i = 0; i < words->n; i++)
        if (!is_used[i])
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "no part of '%s' with parameters is called '%.60s'%s", t->g->name,
                            fr__tune_word(words, i),
                            fr__did_you_mean(fr__tune_word(words, i), t->g->layer_names,
                                             t->g->n_layers, hint, sizeof(hint)));
    return FR_OK;
}

static enum fr_status find_frozen(struct fr__tuned *t, struct naming *used, struct fr_error *err)
{
    size_t n_owners = 0, n_frozen = 0, n_units;
    struct fr__units units;

    FR_TRY(fr__units_find(&units, t->g, err));
    for (uint32_t o = 0; o < t->g->n_ops; o++) {
        if (t->g->ops[o].phase != FR_PHASE_FORWARD || t->g->ops[o].param_bytes == 0)
            continue;
        t->is_frozen[o] = stays(t, &units, o, used);
        n_frozen += t->is_frozen[o];
        n_owners++;
    }
    n_units = units.n_units;
    fr__units_free(&units);
    if (t->how->layers > n_units)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' repeats %zu layers, so %" PRIu32 " cannot be frozen", t->g->name,
                        n_units, t->how->layers);
    FR_TRY(check_words(t, &t->how->parts, used->parts, err));
    FR_TRY(check_words(t, &t->how->train, used->train, err));
    if (t->how->method == FR__TUNE_FREEZE && n_frozen == n_owners)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "all parameters of '%s' are frozen, so there is nothing to train",
                        t->g->name);
    return FR_OK;
}

/* ---- the whole ---- */

static bool allocate(struct fr__tuned *t)
{
    size_t n = t->g->n_ops;

    t->is_frozen = fr__arena_alloc(t->w.scratch, n, sizeof(*t->is_frozen));
    t->is_packed = fr__arena_alloc(t->w.scratch, n, sizeof(*t->is_packed));
    t->adapters = fr__arena_alloc(t->w.scratch, n, sizeof(*t->adapters));
    t->adapted = fr__arena_nones(t->w.scratch, n);
    return t->is_frozen && t->is_packed && t->adapters && t->adapted;
}

enum fr_status fr__tune_find(struct fr__tuned *t, struct fr_error *err)
{
    struct naming used = {.targets = {false}};

    if (!allocate(t))
        return fr__fail_nomem(err);
    if (t->how->method == FR__TUNE_QLORA && t->g->param_elem_bytes != 2)
        return fr__fail(
            err, FR_EUSAGE, FR_NOWHERE,
            "qlora makes 16 bits of its 4-bit weights: take precision bf16 or fp16, not "
            "%s",
            t->g->param_elem_bytes == 4 ? "one of 32-bit parameters" : "another");
    FR_TRY(find_frozen(t, &used, err));
    return t->how->targets.n > 0 ? find_adapters(t, &used, err) : FR_OK;
}
