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

enum { MAX_SPEC = 2048, MAX_SAID = 1024, MAX_SETTING = 320, LONGEST_BY_ITSELF = 4096 };

/* ---- reading ---- */

struct reading {
    const struct fr__yaml *map;
    const struct fr__hf_family *family;
    char spec[MAX_SPEC];
    char unsaid[MAX_SAID]; /* "num_key_value_heads = 32, ..." */
    uint64_t heads;        /* for "=heads" */
    uint64_t layers;
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

/* What stands at a key, "text_config.hidden_size" inside a map; NULL: nothing. */
static const struct fr__yaml *at_key(const struct reading *r, const char *key)
{
    const char *dot = strchr(key, '.');
    char outer[64];
    const struct fr__yaml *map;

    if (!dot)
        return fr__yaml_get(r->map, key);
    snprintf(outer, sizeof(outer), "%.*s", (int)(dot - key), key);
    map = fr__yaml_get(r->map, outer);
    return map && map->kind == FR__YAML_MAP ? fr__yaml_get(map, dot + 1) : NULL;
}

/* The value of a key; NULL where the file is silent, which null is too. */
static const struct fr__yaml *said(const struct reading *r, const char *key)
{
    const struct fr__yaml *node = at_key(r, key);

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

/* ---- one key ---- */

/* What an option is set to: "32", "wwf". */
struct setting {
    char text[MAX_SETTING];
};

/* Adds what stands for a word of "w:sliding_attention|f:full_attention". */
static bool add_meaning(const char *words, const char *word, size_t len, struct setting *out)
{
    for (const char *at = words; at; at = strchr(at, '|')) {
        const char *colon;
        size_t used = strlen(out->text), n;

        at += *at == '|';
        colon = strchr(at, ':');
        n = strcspn(colon + 1, "|");
        if (n != len || memcmp(colon + 1, word, n) != 0)
            continue;
        if (used + (size_t)(colon - at) >= sizeof(out->text))
            return false;
        memcpy(out->text + used, at, (size_t)(colon - at));
        out->text[used + (size_t)(colon - at)] = '\0';
        return true;
    }
    return false;
}

static enum fr_status fail_word(const struct fr__yaml *node, const char *const key[],
                                struct fr_error *err)
{
    char known[160] = "";

    for (const char *at = key[FR__HF_WORDS]; at; at = strchr(at, '|')) {
        const char *word = strchr(at, ':') + 1;

        at += *at == '|';
        snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%.*s", *known ? "|" : "",
                 (int)strcspn(word, "|"), word);
    }
    return fr__fail(err, FR_EUNSUPPORTED, node->loc, "'%s' is \"%.60s\", known are %s",
                    key[FR__HF_THEIRS], node->text, known);
}

/* A word, else a number, else letter by letter. */
static enum fr_status read_meaning(const struct fr__yaml *node, const char *const key[],
                                   struct setting *out, struct fr_error *err)
{
    const char *text;
    uint64_t count;

    FR_TRY(fr__yaml_expect(node, FR__YAML_SCALAR, key[FR__HF_THEIRS], err));
    text = node->text;
    if (add_meaning(key[FR__HF_WORDS], text, strlen(text), out))
        return FR_OK;
    if (*text && text[strspn(text, "0123456789")] == '\0') {
        FR_TRY(read_count(node, key[FR__HF_THEIRS], &count, err));
        snprintf(out->text, sizeof(out->text), "%llu", (unsigned long long)count);
        return FR_OK;
    }
    for (; *text; text++)
        if (!add_meaning(key[FR__HF_WORDS], text, 1, out))
            return fail_word(node, key, err);
    return *out->text ? FR_OK : fail_word(node, key, err);
}

/* "0.25" as "25". */
static enum fr_status read_percent(const struct fr__yaml *node, const char *key,
                                   struct setting *out, struct fr_error *err)
{
    char what[80];
    double frac;

    FR_TRY(fr__yaml_expect(node, FR__YAML_SCALAR, key, err));
    snprintf(what, sizeof(what), "'%s'", key);
    FR_TRY(fr__parse_number(node->text, what, node->loc, 0, 1, &frac, err));
    snprintf(out->text, sizeof(out->text), "%d", (int)(frac * 100 + 0.5));
    return FR_OK;
}

static enum fr_status read_list(const struct fr__yaml *node, const char *const key[],
                                struct setting *out, struct fr_error *err)
{
    for (size_t i = 0; i < node->n; i++)
        FR_TRY(read_meaning(node->items[i], key, out, err));
    if (!node->n)
        return fr__fail(err, FR_EPARSE, node->loc, "'%s' is empty", key[FR__HF_THEIRS]);
    return FR_OK;
}

/* What the file says. */
static enum fr_status read_setting(const struct fr__yaml *node, const char *const key[],
                                   struct setting *out, struct fr_error *err)
{
    const char *words = key[FR__HF_WORDS];
    uint64_t value;

    out->text[0] = '\0';
    if (words && strcmp(words, "%") == 0)
        return read_percent(node, key[FR__HF_THEIRS], out, err);
    if (words && strcmp(words, "?") == 0) {
        bool is_off = node->kind == FR__YAML_SCALAR &&
                      (strcmp(node->text, "null") == 0 || strcmp(node->text, "false") == 0 ||
                       strcmp(node->text, "0") == 0 || strcmp(node->text, "0.0") == 0);

        snprintf(out->text, sizeof(out->text), "%d", !is_off);
        return FR_OK;
    }
    if (words && strchr(words, ':') && node->kind == FR__YAML_LIST)
        return read_list(node, key, out, err);
    if (words && strchr(words, ':'))
        return read_meaning(node, key, out, err);
    FR_TRY(words ? read_word(node, key, &value, err)
                 : read_count(node, key[FR__HF_THEIRS], &value, err));
    snprintf(out->text, sizeof(out->text), "%llu", (unsigned long long)value);
    return FR_OK;
}

/* What stands for a key of which the file is silent; it is listed unless "=" is before it. */
static void take_fallback(struct reading *r, const char *const key[], struct setting *out)
{
    const char *fallback = key[FR__HF_FALLBACK];
    bool is_heads = strcmp(fallback, "=heads") == 0, is_silent = fallback[0] == '=' && !is_heads;

    if (is_heads)
        snprintf(out->text, sizeof(out->text), "%llu", (unsigned long long)r->heads);
    else
        snprintf(out->text, sizeof(out->text), "%s", fallback + is_silent);
    if (!is_silent)
        append(r->unsaid, sizeof(r->unsaid), &r->is_too_long, "%s%s = %s", *r->unsaid ? ", " : "",
               key[FR__HF_THEIRS], out->text);
    if (strcmp(fallback, "true") == 0 || strcmp(fallback, "false") == 0)
        snprintf(out->text, sizeof(out->text), "%d", fallback[0] == 't');
}

/* Whether null says something: the words have it. */
static bool is_null_said(const char *words)
{
    return words && (strstr(words, ":null") != NULL || strcmp(words, "?") == 0);
}

static bool has_fallback(const char *const key[])
{
    return key[FR__HF_FALLBACK] && strcmp(key[FR__HF_FALLBACK], "=") != 0;
}

/* Whether another key has set the option. */
static bool is_set(const struct reading *r, const char *ours)
{
    size_t n = strlen(ours);

    for (const char *at = strchr(r->spec, ':'); at; at = strchr(at + 1, ','))
        if (strncmp(at + 1, ours, n) == 0 && at[n + 1] == '=')
            return true;
    return false;
}

static enum fr_status take_key(struct reading *r, const char *const key[], struct fr_error *err)
{
    const char *theirs = key[FR__HF_THEIRS];
    const struct fr__yaml *node =
        is_null_said(key[FR__HF_WORDS]) ? fr__yaml_get(r->map, theirs) : said(r, theirs);
    struct setting value;

    if ((!node && !has_fallback(key)) || is_set(r, key[FR__HF_OURS]))
        return FR_OK;
    if (node)
        FR_TRY(read_setting(node, key, &value, err));
    else
        take_fallback(r, key, &value);
    if (strcmp(key[FR__HF_OURS], "heads") == 0)
        r->heads = strtoull(value.text, NULL, 10);
    if (strcmp(key[FR__HF_OURS], "layers") == 0)
        r->layers = strtoull(value.text, NULL, 10);
    if (node && strcmp(key[FR__HF_OURS], "mixers") == 0 && strlen(value.text) != r->layers)
        return fr__fail(err, FR_ERANGE, node->loc, "'%s' has %zu layers, the model %llu", theirs,
                        strlen(value.text), (unsigned long long)r->layers);
    append(r->spec, sizeof(r->spec), &r->is_too_long, "%s%s=%s",
           r->spec[strlen(r->spec) - 1] == ':' ? "" : ",", key[FR__HF_OURS], value.text);
    return FR_OK;
}

/* ---- keys that nobody knows ---- */

/* '*' at the beginning, the end, or in the middle once more. */
static bool fits(const char *pattern, const char *key)
{
    for (; *pattern && *pattern != '*'; pattern++, key++)
        if (*pattern != *key)
            return false;
    if (!*pattern)
        return !*key;
    for (;; key++) {
        if (fits(pattern + 1, key))
            return true;
        if (!*key)
            return false;
    }
}

static bool says_nothing(const struct fr__yaml *node)
{
    if (node->kind != FR__YAML_SCALAR)
        return node->n == 0;
    return strcmp(node->text, "null") == 0 || strcmp(node->text, "false") == 0 || !*node->text;
}

/* Whether a key of a map is ours: "hidden_size", of a map inside "text_config.hidden_size". */
static bool is_same(const char *ours, const char *outer, const char *key)
{
    size_t n = strlen(outer);

    return strncmp(ours, outer, n) == 0 && strcmp(ours + n, key) == 0;
}

/* outer: "", or of a map inside the file "text_config.". */
static bool is_known(const struct reading *r, const char *outer, const char *key)
{
    const struct fr__hf_family *f = r->family;

    if (f->positions ? is_same(f->positions, outer, key) : is_same("image_size", outer, key))
        return true;
    for (size_t i = 0; f->keys[i][FR__HF_THEIRS]; i++)
        if (is_same(f->keys[i][FR__HF_THEIRS], outer, key))
            return true;
    for (size_t i = 0; f->limits[i][0]; i++)
        if (is_same(f->limits[i][0], outer, key))
            return true;
    for (size_t i = 0; f->ignored[i]; i++)
        if (fits(f->ignored[i], key))
            return true;
    for (size_t i = 0; i < fr__n_hf_ignored; i++)
        if (fits(fr__hf_ignored[i].key, key))
            return true;
    return false;
}

/* Whether keys of the family are inside the map of that name, "text_config.". */
static bool is_opened(const struct reading *r, const char *outer)
{
    for (size_t i = 0; r->family->keys[i][FR__HF_THEIRS]; i++)
        if (strncmp(r->family->keys[i][FR__HF_THEIRS], outer, strlen(outer)) == 0)
            return true;
    return false;
}

static enum fr_status check_unknown(const struct reading *r, const struct fr__yaml *map,
                                    const char *outer, struct fr_error *err)
{
    for (size_t i = 0; i < map->n; i++) {
        const struct fr__yaml *node = map->items[i];
        char inside[64];

        if (says_nothing(node) || is_known(r, outer, node->key))
            continue;
        snprintf(inside, sizeof(inside), "%.60s.", node->key);
        if (!*outer && node->kind == FR__YAML_MAP && is_opened(r, inside)) {
            FR_TRY(check_unknown(r, node, inside, err));
            continue;
        }
        return fr__fail(err, FR_EUNSUPPORTED, node->key_loc,
                        "key '%.60s' of '%s' models is not known here, so what it changes "
                        "cannot be told",
                        node->key, r->family->type);
    }
    return FR_OK;
}

static enum fr_status check_limit(const struct reading *r, const char *key, const char *allowed,
                                  struct fr_error *err)
{
    const struct fr__yaml *node = at_key(r, key);
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

/* Diffusers write the class in place of the family. */
static bool says_class_alone(const struct fr__yaml *map)
{
    return !fr__yaml_get(map, "model_type") && fr__yaml_get(map, "_class_name");
}

static enum fr_status find_family(struct reading *r, struct fr_error *err)
{
    enum { MOST_FAMILIES = 64 };
    const char *names[MOST_FAMILIES], *type;
    char known[1024] = "", hint[96];
    bool is_too_long = false;
    struct fr_loc loc;
    const char *key = says_class_alone(r->map) ? "_class_name" : "model_type";
    size_t place;

    FR_TRY(fr__yaml_text(r->map, key, NULL, &type, &loc, err));
    for (size_t i = 0; i < fr__n_hf_families && i < MOST_FAMILIES; i++) {
        names[i] = fr__hf_families[i].type;
        append(known, sizeof(known), &is_too_long, "%s%s", i ? ", " : "", names[i]);
        if (strcmp(names[i], type) == 0 || (*key == '_' && fr__hf_families[i].class_name &&
                                            is_among(fr__hf_families[i].class_name, type, &place)))
            r->family = &fr__hf_families[i];
    }
    if (r->family)
        return FR_OK;
    return fr__fail(err, FR_EUNSUPPORTED, loc, "'%s' is \"%.60s\", known are %s%s", key, type,
                    known, fr__did_you_mean(type, names, fr__n_hf_families, hint, sizeof(hint)));
}

/* A module whose sizes are in a map of their own; a file with it may have no other module. */
static enum fr_status go_inside(struct reading *r, struct fr_error *err)
{
    const struct fr__yaml *map, *tower = fr__yaml_get(r->map, "vision_config");

    if (!r->family->inside)
        return FR_OK;
    map = fr__yaml_get(r->map, r->family->inside);
    if (!map)
        return fr__fail(err, FR_EPARSE, r->map->loc, "key '%s' is missing", r->family->inside);
    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, r->family->inside, err));
    if (tower && !says_nothing(tower))
        return fr__fail(err, FR_EUNSUPPORTED, tower->key_loc,
                        "the vision tower is not simulated: the language model alone is what '%s' "
                        "says, as a file of its own",
                        r->family->inside);
    r->map = map;
    return FR_OK;
}

static enum fr_status read_config(struct reading *r, struct fr_error *err)
{
    FR_TRY(fr__yaml_expect(r->map, FR__YAML_MAP, "a model's configuration", err));
    FR_TRY(find_family(r, err));
    FR_TRY(go_inside(r, err));
    FR_TRY(check_unknown(r, r->map, "", err));
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
    if (in->more)
        append(r.spec, sizeof(r.spec), &r.is_too_long, ",%s", in->more);
    if (r.is_too_long)
        return fr__fail(err, FR_ERANGE, r.map->loc, "the options behind the file are too long");
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
    return *head == '{' && (strstr(head, "\"model_type\"") || strstr(head, "\"architectures\"") ||
                            strstr(head, "\"_class_name\""));
}

const struct fr__importer fr__importer_hf_config = {
    .name = "hf-config",
    .summary = "Hugging Face config.json",
    .recognises = recognises,
    .max_bytes = MAX_FILE_BYTES,
    .is_model = true,
    .load = load,
};
