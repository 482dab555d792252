/* workloads/import/hf_config.c - a model by its config.json, as Hugging Face Transformers write it.
 *
 * The file names a family (model_type) and its sizes; hf_families.yaml says what they mean for a
 * model of the zoo. What the file does not say comes from the defaults of Transformers, and the
 * graph's source lists it. What the zoo does not model is refused where it would change sizes or
 * times.
 *
 * JSON is read as YAML, of which it is a part.
 */
#include "config.h"

#include "workloads/import/hf_families.h"
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

/* ---- reading ---- */

struct reading {
    const struct fr__yaml *map;
    const struct fr__hf_family *family;
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

/* Whether the value is one of "a|b|c", and which. */
static bool is_among(const char *words, const char *value, size_t *place)
{
    size_t n = strlen(value);

    *place = 0;
    for (const char *at = words; at; at = strchr(at, '|'), (*place)++) {
        at += *at == '|';
        if (strncmp(at, value, n) == 0 && (at[n] == '|' || !at[n]))
            return true;
    }
    return false;
}

static enum fr_status read_word(const struct fr__yaml *node, const char *const key[], uint64_t *out,
                                struct fr_error *err)
{
    size_t place;

    FR_TRY(fr__yaml_expect(node, FR__YAML_SCALAR, key[FR__HF_THEIRS], err));
    if (!is_among(key[FR__HF_WORDS], node->text, &place))
        return fr__fail(err, FR_EUNSUPPORTED, node->loc, "'%s' is \"%.60s\", known are %s",
                        key[FR__HF_THEIRS], node->text, key[FR__HF_WORDS]);
    *out = place;
    return FR_OK;
}

static enum fr_status take_key(struct reading *r, const char *const key[], struct fr_error *err)
{
    const char *theirs = key[FR__HF_THEIRS], *fallback = key[FR__HF_FALLBACK];
    const struct fr__yaml *node = said(r, theirs);
    char heads[24];
    uint64_t value;

    if (!node && !fallback)
        return FR_OK;
    if (node && key[FR__HF_WORDS]) {
        FR_TRY(read_word(node, key, &value, err));
    } else if (node) {
        FR_TRY(read_count(node, theirs, &value, err));
    } else {
        snprintf(heads, sizeof(heads), "%llu", (unsigned long long)r->heads);
        if (strcmp(fallback, "=heads") == 0)
            fallback = heads;
        value = strcmp(fallback, "true") == 0    ? 1
                : strcmp(fallback, "false") == 0 ? 0
                                                 : strtoull(fallback, NULL, 10);
        append(r->unsaid, sizeof(r->unsaid), &r->is_too_long, "%s%s = %s", *r->unsaid ? ", " : "",
               theirs, fallback);
    }
    if (strcmp(key[FR__HF_OURS], "heads") == 0)
        r->heads = value;
    append(r->spec, sizeof(r->spec), &r->is_too_long, "%s%s=%llu",
           r->spec[strlen(r->spec) - 1] == ':' ? "" : ",", key[FR__HF_OURS],
           (unsigned long long)value);
    return FR_OK;
}

static enum fr_status check_limit(const struct reading *r, const char *key, const char *allowed,
                                  struct fr_error *err)
{
    const struct fr__yaml *node = fr__yaml_get(r->map, key);
    const char *value = node && node->kind == FR__YAML_SCALAR             ? node->text
                        : node && node->kind == FR__YAML_LIST && !node->n ? "[]"
                                                                          : "...";
    size_t place;

    if (!node || is_among(allowed, value, &place))
        return FR_OK;
    return fr__fail(err, FR_EUNSUPPORTED, node->loc,
                    "'%s' is %.60s; of '%s' models only %s is simulated here", key, value,
                    r->family->type, allowed);
}

/* The sequence: all positions, or as many as are usual; the user may ask for others. */
static enum fr_status take_positions(struct reading *r, struct fr_error *err)
{
    const struct fr__yaml *node = said(r, r->family->positions);
    uint64_t n = r->family->n_positions, seq;

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
    enum { MOST_FAMILIES = 64 };
    const char *names[MOST_FAMILIES], *type;
    char known[256] = "", hint[96];
    bool is_too_long = false;
    struct fr_loc loc;

    FR_TRY(fr__yaml_text(r->map, "model_type", NULL, &type, &loc, err));
    for (size_t i = 0; i < fr__n_hf_families && i < MOST_FAMILIES; i++) {
        names[i] = fr__hf_families[i].type;
        append(known, sizeof(known), &is_too_long, "%s%s", i ? ", " : "", names[i]);
        if (strcmp(names[i], type) == 0)
            r->family = &fr__hf_families[i];
    }
    if (r->family)
        return FR_OK;
    return fr__fail(err, FR_EUNSUPPORTED, loc, "'model_type' is \"%.60s\", known are %s%s", type,
                    known, fr__did_you_mean(type, names, fr__n_hf_families, hint, sizeof(hint)));
}

static enum fr_status read_config(struct reading *r, struct fr_error *err)
{
    FR_TRY(fr__yaml_expect(r->map, FR__YAML_MAP, "a model's configuration", err));
    FR_TRY(find_family(r, err));
    append(r->spec, sizeof(r->spec), &r->is_too_long, "%s:%s", r->family->model,
           r->family->fixed ? r->family->fixed : "");
    for (size_t i = 0; r->family->limits[i][0]; i++)
        FR_TRY(check_limit(r, r->family->limits[i][0], r->family->limits[i][1], err));
    for (size_t i = 0; r->family->keys[i][FR__HF_THEIRS]; i++)
        FR_TRY(take_key(r, r->family->keys[i], err));
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

static enum fr_status load(struct fr_graph **out, const struct fr__import *in, struct fr_error *err)
{
    static const struct fr_workload_options own = {.dtype = FR_N_DTYPES};
    struct fr_workload_options o = in->opt ? *in->opt : own;
    struct reading r = {.map = NULL};
    char source[MAX_SAID + 128];
    const char *name;

    FR_TRY(fr__yaml_load_text(in->arena, in->text, in->len, in->name, &r.map, err));
    FR_TRY(read_config(&r, err));
    FR_TRY(settle_dtype(&r, &o, err));
    FR_TRY(settle_images(&r, &o, err));
    name = name_of(&r, in->arena, in->name);
    if (!name)
        return fr__fail_nomem(err);
    snprintf(source, sizeof(source), "a Hugging Face config.json of a %s%s%s", r.family->type,
             *r.unsaid ? "; not said there: " : "", r.unsaid);
    return fr__zoo_load_as(out, r.spec, name, source, &o, err);
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
    .is_model = true,
    .load = load,
};
