/* workloads/import/hf_config.c - a model by its config.json, as Hugging Face Transformers write it.
 *
 * The file names a family (model_type) and its sizes. A family is a row here: which model of the
 * zoo it is, and which of its options each key of the file sets. What the file does not say comes
 * from the defaults of the family's configuration class in Transformers (4.5x), and the graph's
 * source lists it. What the zoo does not model is refused where it would change sizes or times.
 *
 * JSON is read as YAML, of which it is a part.
 */
#include "config.h"

#include "workloads/import/import.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/units.h"
#include "base/yaml.h"
#include "workloads/zoo/zoo.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES ((size_t)1 << 24)

enum { MAX_SPEC = 1024, MAX_SAID = 1024, LONGEST_BY_ITSELF = 4096 };

/* One key of the file, and the option of the model that it sets. */
struct field {
    const char *theirs, *ours;
    /* where the file is silent: a number; "" leaves the model's own; NULL: it must be said */
    const char *fallback;
    const char *const *words; /* the words that stand for 0, 1, ..., ending with NULL; NULL: none */
};

/* A key that must have one of these values where it is said, since the model knows no other. */
struct limit {
    const char *key, *allowed; /* "false|null" */
};

struct family {
    const char *type, *model; /* model_type; of the zoo */
    const char *fixed;        /* options that all of the family have: "qkv_bias=1"; NULL */
    /* The key of the longest sequence, and its default; NULL: it takes images. */
    const char *positions, *n_positions;
    bool is_table; /* positions are a learned table, of that many rows, whatever the sequence */
    const struct field *fields; /* ends with NULL */
    const struct limit *limits; /* ends with NULL */
};

/* ---- the families ---- */

static const struct field llama_fields[] = {{"num_hidden_layers", "layers", "32", NULL},
                                            {"hidden_size", "hidden", "4096", NULL},
                                            {"intermediate_size", "ffn", "11008", NULL},
                                            {"num_attention_heads", "heads", "32", NULL},
                                            {"num_key_value_heads", "kv_heads", "=heads", NULL},
                                            {"head_dim", "head_width", "", NULL},
                                            {"vocab_size", "vocab", "32000", NULL},
                                            {"tie_word_embeddings", "tied", "false", NULL},
                                            {NULL, NULL, NULL, NULL}};
static const struct limit llama_limits[] = {{"attention_bias", "false|null"},
                                            {"mlp_bias", "false|null"},
                                            {"hidden_act", "silu|swish"},
                                            {NULL, NULL}};

static const struct field mistral_fields[] = {{"num_hidden_layers", "layers", "32", NULL},
                                              {"hidden_size", "hidden", "4096", NULL},
                                              {"intermediate_size", "ffn", "14336", NULL},
                                              {"num_attention_heads", "heads", "32", NULL},
                                              {"num_key_value_heads", "kv_heads", "8", NULL},
                                              {"head_dim", "head_width", "", NULL},
                                              {"vocab_size", "vocab", "32000", NULL},
                                              {"tie_word_embeddings", "tied", "false", NULL},
                                              {NULL, NULL, NULL, NULL}};

static const struct field mixtral_fields[] = {{"num_hidden_layers", "layers", "32", NULL},
                                              {"hidden_size", "hidden", "4096", NULL},
                                              {"intermediate_size", "ffn", "14336", NULL},
                                              {"num_attention_heads", "heads", "32", NULL},
                                              {"num_key_value_heads", "kv_heads", "8", NULL},
                                              {"head_dim", "head_width", "", NULL},
                                              {"vocab_size", "vocab", "32000", NULL},
                                              {"num_local_experts", "experts", "8", NULL},
                                              {"num_experts_per_tok", "chosen", "2", NULL},
                                              {"tie_word_embeddings", "tied", "false", NULL},
                                              {NULL, NULL, NULL, NULL}};

static const struct field qwen2_fields[] = {
    {"num_hidden_layers", "layers", "32", NULL},     {"hidden_size", "hidden", "4096", NULL},
    {"intermediate_size", "ffn", "22016", NULL},     {"num_attention_heads", "heads", "32", NULL},
    {"num_key_value_heads", "kv_heads", "32", NULL}, {"vocab_size", "vocab", "151936", NULL},
    {"tie_word_embeddings", "tied", "false", NULL},  {NULL, NULL, NULL, NULL}};
static const struct limit qwen_limits[] = {
    {"hidden_act", "silu|swish"}, {"use_sliding_window", "false|null"}, {NULL, NULL}};

static const struct field qwen2_moe_fields[] = {
    {"num_hidden_layers", "layers", "24", NULL},
    {"hidden_size", "hidden", "2048", NULL},
    {"moe_intermediate_size", "ffn", "1408", NULL},
    {"shared_expert_intermediate_size", "shared", "5632", NULL},
    {"num_attention_heads", "heads", "16", NULL},
    {"num_key_value_heads", "kv_heads", "16", NULL},
    {"vocab_size", "vocab", "151936", NULL},
    {"num_experts", "experts", "60", NULL},
    {"num_experts_per_tok", "chosen", "4", NULL},
    {"tie_word_embeddings", "tied", "false", NULL},
    {NULL, NULL, NULL, NULL}};
static const struct limit moe_limits[] = {
    {"hidden_act", "silu|swish"},     {"use_sliding_window", "false|null"},
    {"attention_bias", "false|null"}, {"decoder_sparse_step", "1"},
    {"mlp_only_layers", "[]|null"},   {NULL, NULL}};

static const struct field qwen3_fields[] = {{"num_hidden_layers", "layers", "32", NULL},
                                            {"hidden_size", "hidden", "4096", NULL},
                                            {"intermediate_size", "ffn", "22016", NULL},
                                            {"num_attention_heads", "heads", "32", NULL},
                                            {"num_key_value_heads", "kv_heads", "32", NULL},
                                            {"head_dim", "head_width", "128", NULL},
                                            {"vocab_size", "vocab", "151936", NULL},
                                            {"tie_word_embeddings", "tied", "false", NULL},
                                            {NULL, NULL, NULL, NULL}};
static const struct limit qwen3_limits[] = {{"hidden_act", "silu|swish"},
                                            {"use_sliding_window", "false|null"},
                                            {"attention_bias", "false|null"},
                                            {NULL, NULL}};

static const struct field qwen3_moe_fields[] = {{"num_hidden_layers", "layers", "24", NULL},
                                                {"hidden_size", "hidden", "2048", NULL},
                                                {"moe_intermediate_size", "ffn", "768", NULL},
                                                {"num_attention_heads", "heads", "32", NULL},
                                                {"num_key_value_heads", "kv_heads", "4", NULL},
                                                {"head_dim", "head_width", "", NULL},
                                                {"vocab_size", "vocab", "151936", NULL},
                                                {"num_experts", "experts", "128", NULL},
                                                {"num_experts_per_tok", "chosen", "8", NULL},
                                                {"tie_word_embeddings", "tied", "false", NULL},
                                                {NULL, NULL, NULL, NULL}};

static const struct field gpt2_fields[] = {
    {"n_layer", "layers", "12", NULL},      {"n_embd", "hidden", "768", NULL},
    {"n_head", "heads", "12", NULL},        {"n_inner", "ffn", "", NULL},
    {"vocab_size", "vocab", "50257", NULL}, {NULL, NULL, NULL, NULL}};
static const struct limit gpt2_limits[] = {{"tie_word_embeddings", "true|null"}, {NULL, NULL}};

static const struct field neox_fields[] = {{"num_hidden_layers", "layers", "44", NULL},
                                           {"hidden_size", "hidden", "6144", NULL},
                                           {"intermediate_size", "ffn", "24576", NULL},
                                           {"num_attention_heads", "heads", "64", NULL},
                                           {"vocab_size", "vocab", "50432", NULL},
                                           {"use_parallel_residual", "parallel", "true", NULL},
                                           {NULL, NULL, NULL, NULL}};
static const struct limit neox_limits[] = {
    {"tie_word_embeddings", "false|null"}, {"attention_bias", "true|null"}, {NULL, NULL}};

static const struct field bert_fields[] = {{"num_hidden_layers", "layers", "12", NULL},
                                           {"hidden_size", "hidden", "768", NULL},
                                           {"intermediate_size", "ffn", "3072", NULL},
                                           {"num_attention_heads", "heads", "12", NULL},
                                           {"vocab_size", "vocab", "30522", NULL},
                                           {"type_vocab_size", "segments", "2", NULL},
                                           {"max_position_embeddings", "positions", "512", NULL},
                                           {NULL, NULL, NULL, NULL}};
static const struct limit bert_limits[] = {
    {"position_embedding_type", "absolute|null"}, {"is_decoder", "false|null"}, {NULL, NULL}};

static const char *const t5_forms[] = {"relu", "gated-gelu", NULL};
static const struct field t5_fields[] = {{"num_layers", "layers", "6", NULL},
                                         {"num_decoder_layers", "decoder_layers", "", NULL},
                                         {"d_model", "hidden", "512", NULL},
                                         {"d_ff", "ffn", "2048", NULL},
                                         {"num_heads", "heads", "8", NULL},
                                         {"d_kv", "head_width", "64", NULL},
                                         {"vocab_size", "vocab", "32128", NULL},
                                         {"relative_attention_num_buckets", "buckets", "32", NULL},
                                         {"feed_forward_proj", "gated", "0", t5_forms},
                                         {"tie_word_embeddings", "tied", "true", NULL},
                                         {NULL, NULL, NULL, NULL}};

static const struct field vit_fields[] = {
    {"num_hidden_layers", "layers", "12", NULL}, {"hidden_size", "hidden", "768", NULL},
    {"intermediate_size", "ffn", "3072", NULL},  {"num_attention_heads", "heads", "12", NULL},
    {"patch_size", "patch", "16", NULL},         {"num_channels", "channels", "3", NULL},
    {"id2label", "classes", "2", NULL},          {NULL, NULL, NULL, NULL}};
static const struct limit vit_limits[] = {{"qkv_bias", "true|null"}, {NULL, NULL}};

static const struct limit no_limits[] = {{NULL, NULL}};

static const struct family families[] = {
    {"bert", "bert", NULL, "max_position_embeddings", "512", false, bert_fields, bert_limits},
    {"gpt2", "gpt", NULL, "n_positions", "1024", true, gpt2_fields, gpt2_limits},
    {"gpt_neox", "gpt-neox", NULL, "max_position_embeddings", "2048", false, neox_fields,
     neox_limits},
    {"llama", "llama", NULL, "max_position_embeddings", "2048", false, llama_fields, llama_limits},
    {"mistral", "llama", NULL, "max_position_embeddings", "131072", false, mistral_fields,
     llama_limits},
    {"mixtral", "mixtral", NULL, "max_position_embeddings", "131072", false, mixtral_fields,
     llama_limits},
    {"qwen2", "llama", "qkv_bias=1", "max_position_embeddings", "32768", false, qwen2_fields,
     qwen_limits},
    {"qwen2_moe", "mixtral", "qkv_bias=1", "max_position_embeddings", "32768", false,
     qwen2_moe_fields, moe_limits},
    {"qwen3", "llama", "qk_norm=1", "max_position_embeddings", "32768", false, qwen3_fields,
     qwen3_limits},
    {"qwen3_moe", "mixtral", "qk_norm=1", "max_position_embeddings", "32768", false,
     qwen3_moe_fields, moe_limits},
    {"t5", "t5", NULL, "n_positions", "512", false, t5_fields, no_limits},
    {"vit", "vit", NULL, NULL, NULL, false, vit_fields, vit_limits},
};
enum { N_FAMILIES = sizeof(families) / sizeof(families[0]) };

/* ---- reading ---- */

struct reading {
    const struct fr__yaml *map;
    const struct family *family;
    char spec[MAX_SPEC];
    char unsaid[MAX_SAID]; /* "num_key_value_heads = 32, ..." */
    uint64_t heads;        /* for "=heads" */
    bool is_too_long;
};

static void append(char *text, size_t size, bool *is_too_long, const char *fmt, ...)
    FR_PRINTF(4, 5);

static void append(char *text, size_t size, bool *is_too_long, const char *fmt, ...)
{
    size_t used = strlen(text);
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(text + used, size - used, fmt, ap);
    va_end(ap);
    *is_too_long |= n < 0 || (size_t)n >= size - used;
}

/* The value of a key; NULL where the file is silent, which null is too. */
static const struct fr__yaml *said(const struct reading *r, const char *key)
{
    const struct fr__yaml *node = fr__yaml_get(r->map, key);

    return node && node->kind == FR__YAML_SCALAR && strcmp(node->text, "null") == 0 ? NULL : node;
}

/* A number, true and false as 1 and 0, how many keys a map has, or which of some words it is. */
static enum fr_status read_count(const struct fr__yaml *node, const char *key, uint64_t *out,
                                 struct fr_error *err)
{
    char what[80];

    if (node->kind == FR__YAML_MAP) {
        *out = node->n;
        return FR_OK;
    }
    FR_TRY(fr__yaml_expect(node, FR__YAML_SCALAR, key, err));
    if (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0) {
        *out = node->text[0] == 't';
        return FR_OK;
    }
    snprintf(what, sizeof(what), "'%s'", key);
    return fr__parse_count(node->text, what, node->loc, 0, UINT32_MAX, out, err);
}

static enum fr_status read_word(const struct fr__yaml *node, const struct field *f, uint64_t *out,
                                struct fr_error *err)
{
    char known[128] = "";
    bool is_too_long = false;

    FR_TRY(fr__yaml_expect(node, FR__YAML_SCALAR, f->theirs, err));
    for (size_t i = 0; f->words[i]; i++) {
        append(known, sizeof(known), &is_too_long, "%s%s", i ? "|" : "", f->words[i]);
        if (strcmp(node->text, f->words[i]) == 0) {
            *out = i;
            return FR_OK;
        }
    }
    return fr__fail(err, FR_EUNSUPPORTED, node->loc, "'%s' is \"%.60s\", known are %s", f->theirs,
                    node->text, known);
}

static enum fr_status take_field(struct reading *r, const struct field *f, struct fr_error *err)
{
    const struct fr__yaml *node = said(r, f->theirs);
    const char *fallback = f->fallback;
    char heads[24];
    uint64_t value;

    if (!node && fallback && !*fallback)
        return FR_OK;
    if (node && f->words) {
        FR_TRY(read_word(node, f, &value, err));
    } else if (node) {
        FR_TRY(read_count(node, f->theirs, &value, err));
    } else {
        snprintf(heads, sizeof(heads), "%llu", (unsigned long long)r->heads);
        if (strcmp(fallback, "=heads") == 0)
            fallback = heads;
        value = strcmp(fallback, "true") == 0    ? 1
                : strcmp(fallback, "false") == 0 ? 0
                                                 : strtoull(fallback, NULL, 10);
        append(r->unsaid, sizeof(r->unsaid), &r->is_too_long, "%s%s = %s", *r->unsaid ? ", " : "",
               f->theirs, fallback);
    }
    if (strcmp(f->ours, "heads") == 0)
        r->heads = value;
    append(r->spec, sizeof(r->spec), &r->is_too_long, "%s%s=%llu",
           r->spec[strlen(r->spec) - 1] == ':' ? "" : ",", f->ours, (unsigned long long)value);
    return FR_OK;
}

static bool is_allowed(const char *allowed, const char *value)
{
    size_t n = strlen(value);

    for (const char *at = allowed; at; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, value, n) == 0 && (at[n] == '|' || !at[n]))
            return true;
    }
    return false;
}

static enum fr_status check_limit(const struct reading *r, const struct limit *l,
                                  struct fr_error *err)
{
    const struct fr__yaml *node = fr__yaml_get(r->map, l->key);
    const char *value = node && node->kind == FR__YAML_SCALAR             ? node->text
                        : node && node->kind == FR__YAML_LIST && !node->n ? "[]"
                                                                          : "...";

    if (!node || is_allowed(l->allowed, value))
        return FR_OK;
    return fr__fail(err, FR_EUNSUPPORTED, node->loc,
                    "'%s' is %.60s; of '%s' models only %s is simulated here", l->key, value,
                    r->family->type, l->allowed);
}

/* The sequence: all positions, or as many as are usual; the user may ask for others. */
static enum fr_status take_positions(struct reading *r, struct fr_error *err)
{
    const struct fr__yaml *node = said(r, r->family->positions);
    uint64_t n = strtoull(r->family->n_positions, NULL, 10), seq;

    if (node)
        FR_TRY(read_count(node, r->family->positions, &n, err));
    if (n == 0)
        return fr__fail(err, FR_ERANGE, node ? node->loc : r->map->loc, "'%s' is 0",
                        r->family->positions);
    seq = n > LONGEST_BY_ITSELF && !r->family->is_table ? LONGEST_BY_ITSELF : n;
    append(r->spec, sizeof(r->spec), &r->is_too_long, ",seq=%llu", (unsigned long long)seq);
    if (!node || seq != n)
        append(r->unsaid, sizeof(r->unsaid), &r->is_too_long, "%ssequences of %llu%s",
               *r->unsaid ? ", " : "", (unsigned long long)seq,
               seq != n ? " (of the positions; --seq-len takes others)" : "");
    return FR_OK;
}

static enum fr_status find_family(struct reading *r, struct fr_error *err)
{
    const char *names[N_FAMILIES], *type;
    char known[256] = "", hint[96];
    bool is_too_long = false;
    struct fr_loc loc;

    FR_TRY(fr__yaml_text(r->map, "model_type", NULL, &type, &loc, err));
    for (size_t i = 0; i < N_FAMILIES; i++) {
        names[i] = families[i].type;
        append(known, sizeof(known), &is_too_long, "%s%s", i ? ", " : "", names[i]);
        if (strcmp(names[i], type) == 0)
            r->family = &families[i];
    }
    if (r->family)
        return FR_OK;
    return fr__fail(err, FR_EUNSUPPORTED, loc, "'model_type' is \"%.60s\", known are %s%s", type,
                    known, fr__did_you_mean(type, names, N_FAMILIES, hint, sizeof(hint)));
}

static enum fr_status read_config(struct reading *r, struct fr_error *err)
{
    FR_TRY(fr__yaml_expect(r->map, FR__YAML_MAP, "a model's configuration", err));
    FR_TRY(find_family(r, err));
    append(r->spec, sizeof(r->spec), &r->is_too_long, "%s:%s", r->family->model,
           r->family->fixed ? r->family->fixed : "");
    for (const struct limit *l = r->family->limits; l->key; l++)
        FR_TRY(check_limit(r, l, err));
    for (const struct field *f = r->family->fields; f->theirs; f++)
        FR_TRY(take_field(r, f, err));
    if (r->family->positions)
        FR_TRY(take_positions(r, err));
    return r->is_too_long ? fr__fail(err, FR_ERANGE, r->map->loc, "too much to say of it") : FR_OK;
}

/* ---- the graph ---- */

/* The precision of its weights where the file says it and the user does not. */
static enum fr_status settle_dtype(const struct reading *r, struct fr_workload_options *opt,
                                   struct fr_error *err)
{
    static const struct {
        const char *theirs;
        enum fr_dtype dtype;
    } dtypes[] = {{"bfloat16", FR_BF16}, {"float16", FR_FP16}, {"float32", FR_FP32}};
    const struct fr__yaml *node = said(r, "dtype") ? said(r, "dtype") : said(r, "torch_dtype");

    if (opt->dtype < FR_N_DTYPES || !node)
        return FR_OK;
    FR_TRY(fr__yaml_expect(node, FR__YAML_SCALAR, "'torch_dtype'", err));
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
        if (strcmp(node->text, dtypes[i].theirs) == 0) {
            opt->dtype = dtypes[i].dtype;
            return FR_OK;
        }
    return fr__fail(err, FR_EUNSUPPORTED, node->loc,
                    "'torch_dtype' is \"%.60s\", known are bfloat16, float16, float32", node->text);
}

/* The size of the images, likewise. */
static enum fr_status settle_images(const struct reading *r, struct fr_workload_options *opt,
                                    struct fr_error *err)
{
    const struct fr__yaml *node = said(r, "image_size");
    uint64_t size;

    if (opt->image_size || r->family->positions || !node)
        return FR_OK;
    FR_TRY(read_count(node, "image_size", &size, err));
    opt->image_size = (uint32_t)size;
    return FR_OK;
}

/* "Llama-2-7b" of "meta/Llama-2-7b" in the file or of "Llama-2-7b/config.json"; in the arena. */
static const char *name_of(const struct reading *r, struct fr__arena *arena, const char *path)
{
    const struct fr__yaml *node = said(r, "_name_or_path");
    const char *name = node && node->kind == FR__YAML_SCALAR && *node->text ? node->text : path;
    const char *slash = strrchr(name, '/'), *end = name + strlen(name);

    if (name == path && slash && strcmp(slash, "/config.json") == 0) {
        end = slash;
        slash = end;
        while (slash > path && slash[-1] != '/')
            slash--;
        return fr__arena_strndup(arena, slash, (size_t)(end - slash));
    }
    return fr__arena_strdup(arena, slash && slash[1] ? slash + 1 : name);
}

static enum fr_status load_text(struct fr_graph **out, const char *text, size_t len,
                                const char *path, const struct fr_workload_options *opt,
                                struct fr__arena *arena, struct fr_error *err)
{
    static const struct fr_workload_options own = {.dtype = FR_N_DTYPES};
    struct fr_workload_options o = opt ? *opt : own;
    struct reading r = {.map = NULL};
    char source[MAX_SAID + 128];
    const char *name;

    FR_TRY(fr__yaml_load_text(arena, text, len, path, &r.map, err));
    FR_TRY(read_config(&r, err));
    FR_TRY(settle_dtype(&r, &o, err));
    FR_TRY(settle_images(&r, &o, err));
    name = name_of(&r, arena, path);
    if (!name)
        return fr__fail_nomem(err);
    snprintf(source, sizeof(source), "a Hugging Face config.json of a %s%s%s", r.family->type,
             *r.unsaid ? "; not said there: " : "", r.unsaid);
    return fr__zoo_load_as(out, r.spec, name, source, &o, err);
}

enum fr_status fr__hf_config_load_text(struct fr_graph **out, const char *text, size_t len,
                                       const char *name, const struct fr_workload_options *opt,
                                       struct fr_error *err)
{
    struct fr__arena *arena = fr__arena_new();
    enum fr_status st;

    if (!arena)
        return fr__fail_nomem(err);
    st = load_text(out, text, len, name, opt, arena, err);
    fr__arena_free(arena);
    return st;
}

/* ---- the importer ---- */

static bool recognises(const char *head, size_t len)
{
    (void)len;
    head += strspn(head, " \t\r\n");
    return *head == '{' && (strstr(head, "\"model_type\"") || strstr(head, "\"architectures\""));
}

const struct fr__importer fr__importer_hf_config = {
    .name = "hf-config",
    .summary = "Hugging Face config.json",
    .recognises = recognises,
    .max_bytes = MAX_FILE_BYTES,
    .load_model_text = fr__hf_config_load_text,
};
