/* workloads/graph/formats_read.c - a number-format recipe by its name, or from a file that says
 * what is different from one that has a name.
 *
 *     base: mxfp8          every key that is left out is as there
 *     name: mine
 *     bits: [8, 8, 16]     the gradient of the weights in 16 bits
 *
 * The keys are those of workloads/graph/formats.yaml.
 */
#include "config.h"

#include "workloads/graph/formats.h"

#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "base/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fr__formats_file {
    struct fr__arena *arena;
    struct fr_formats formats;
};

void fr__formats_free(struct fr__formats_file *f)
{
    if (f)
        fr__arena_free(f->arena);
    free(f);
}

/* ---- values ---- */

/* Sets *out to the number of a word, where the key is there. */
static enum fr_status read_word(const struct fr__yaml *map, const char *key,
                                const char *const words[], size_t n, unsigned *out,
                                struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;
    char hint[128];

    if (!fr__yaml_get(map, key))
        return FR_OK;
    FR_TRY(fr__yaml_text(map, key, NULL, &text, &loc, err));
    for (unsigned i = 0; i < n; i++)
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return FR_OK;
        }
    return fr__fail(err, FR_EPARSE, loc, "'%s' is \"%.40s\", which is not known%s", key, text,
                    fr__did_you_mean(text, words, n, hint, sizeof(hint)));
}

static enum fr_status read_flag(const struct fr__yaml *map, const char *key, const char *yes,
                                const char *no, bool *out, struct fr_error *err)
{
    const char *const words[] = {no, yes};
    unsigned word = *out;

    FR_TRY(read_word(map, key, words, 2, &word, err));
    *out = word == 1;
    return FR_OK;
}

static enum fr_status read_count(const struct fr__yaml *map, const char *key, uint64_t least,
                                 uint64_t most, uint64_t *out, struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;

    if (!fr__yaml_get(map, key))
        return FR_OK;
    FR_TRY(fr__yaml_text(map, key, NULL, &text, &loc, err));
    return fr__parse_count(text, key, loc, least, most, out, err);
}

/* A list of n whole numbers up to `most`. */
static enum fr_status read_numbers(const struct fr__yaml *map, const char *key, size_t n,
                                   uint64_t most, double out[], struct fr_error *err)
{
    const struct fr__yaml *list = fr__yaml_get(map, key);
    uint64_t number;

    if (!list)
        return FR_OK;
    FR_TRY(fr__yaml_expect(list, FR__YAML_LIST, key, err));
    if (list->n != n)
        return fr__fail(err, FR_EPARSE, list->loc, "'%s' has %zu numbers, expected %zu", key,
                        list->n, n);
    for (size_t i = 0; i < n; i++) {
        FR_TRY(fr__yaml_expect(list->items[i], FR__YAML_SCALAR, key, err));
        FR_TRY(
            fr__parse_count(list->items[i]->text, key, list->items[i]->loc, 0, most, &number, err));
        out[i] = (double)number;
    }
    return FR_OK;
}

/* ---- what goes together ---- */

static bool is_width(double bits)
{
    unsigned whole = (unsigned)bits;

    return whole == 4 || whole == 8 || whole == 16;
}

static enum fr_status check(const struct fr_formats *f, const struct fr__yaml *root,
                            struct fr_error *err)
{
    double least = 16;

    for (size_t i = 0; i < 3; i++) {
        if (!is_width(f->bits[i]))
            return fr__fail(err, FR_ERANGE, root->loc, "'bits' has %g, expected 4, 8 or 16",
                            f->bits[i]);
        least = f->bits[i] < least ? f->bits[i] : least;
    }
    if (least >= 16)
        return fr__fail(err, FR_ERANGE, root->loc, "'bits' are 16 for all products: take -p bf16");
    if ((f->dtype == FR_FP4) != (least < 8))
        return fr__fail(err, FR_ERANGE, root->loc,
                        "'products' is %s, but the narrowest of 'bits' is %g",
                        fr_dtype_name(f->dtype), least);
    return FR_OK;
}

/* ---- the file ---- */

static enum fr_status fail_unknown(const char *text, struct fr_loc loc, struct fr_error *err)
{
    const char *names[64];
    char hint[128];
    size_t n = 0;

    for (; n < fr__n_format_rows && n < 64; n++)
        names[n] = fr__format_rows[n].name;
    return fr__fail(err, FR_EUSAGE, loc,
                    "no number-format recipe or file '%.100s'%s (fp8-delayed, fp8-current, "
                    "fp8-blockwise, mxfp8, mxfp4, nvfp4)",
                    text, fr__did_you_mean(text, names, n, hint, sizeof(hint)));
}

static enum fr_status read_base(struct fr_formats *f, const struct fr__yaml *root,
                                struct fr_error *err)
{
    const struct fr_formats *base;
    const char *name;
    struct fr_loc loc;

    FR_TRY(fr__yaml_text(root, "base", NULL, &name, &loc, err));
    base = fr__formats_named(name);
    if (!base)
        return fail_unknown(name, loc, err);
    *f = *base;
    return FR_OK;
}

static enum fr_status read_root(struct fr_formats *f, const struct fr__yaml *root,
                                struct fr_error *err)
{
    static const char *const known[] = {"base",        "name",
                                        "summary",     "products",
                                        "bits",        "units",
                                        "multiple",    "input",
                                        "weight",      "gradient",
                                        "scale_bytes", "columnwise",
                                        "norm",        "tensor_scale_bytes",
                                        "amax_reads",  "cast_reads",
                                        "wide_first",  "wide_last",
                                        "source",      "saved_input",
                                        NULL};
    static const char *const units[] = {"any", "mx", "mx-nv"}, *const products[] = {"fp8", "fp4"};
    static const char *const blocks[FR__N_QUANTISED] = {"input", "weight", "gradient"};
    enum { MOST_BLOCK = 65536, MOST_SCALE = 16, MOST_READS = 8 };
    unsigned unit, product;
    uint64_t amax, cast, scale, tensor_scale;
    struct fr_loc loc;

    FR_TRY(fr__yaml_expect(root, FR__YAML_MAP, "a number-format recipe", err));
    FR_TRY(fr__yaml_only(root, known, err));
    FR_TRY(read_base(f, root, err));
    unit = f->units;
    product = f->dtype == FR_FP4;
    amax = f->amax_reads;
    cast = f->cast_reads;
    scale = (uint64_t)f->scale_bytes;
    tensor_scale = (uint64_t)f->tensor_scale_bytes;
    FR_TRY(fr__yaml_text(root, "name", f->name, &f->name, &loc, err));
    if (!f->name[0])
        return fr__fail(err, FR_EPARSE, loc, "a number-format recipe has an empty name");
    FR_TRY(fr__yaml_text(root, "summary", f->summary, &f->summary, &loc, err));
    FR_TRY(fr__yaml_text(root, "source", f->source, &f->source, &loc, err));
    FR_TRY(read_word(root, "products", products, 2, &product, err));
    FR_TRY(read_word(root, "units", units, 3, &unit, err));
    FR_TRY(read_numbers(root, "bits", 3, 16, f->bits, err));
    FR_TRY(read_count(root, "multiple", 1, MOST_BLOCK, &f->multiple, err));
    for (size_t i = 0; i < FR__N_QUANTISED; i++)
        FR_TRY(read_numbers(root, blocks[i], 2, MOST_BLOCK, f->block[i], err));
    FR_TRY(read_count(root, "scale_bytes", 1, MOST_SCALE, &scale, err));
    FR_TRY(read_count(root, "tensor_scale_bytes", 0, MOST_SCALE, &tensor_scale, err));
    FR_TRY(read_count(root, "amax_reads", 0, MOST_READS, &amax, err));
    FR_TRY(read_count(root, "cast_reads", 1, MOST_READS, &cast, err));
    FR_TRY(read_count(root, "wide_first", 0, MOST_BLOCK, &f->wide_first, err));
    FR_TRY(read_count(root, "wide_last", 0, MOST_BLOCK, &f->wide_last, err));
    FR_TRY(read_flag(root, "columnwise", "shared", "own", &f->is_shared, err));
    FR_TRY(read_flag(root, "norm", "casts", "apart", &f->norm_casts, err));
    FR_TRY(read_flag(root, "saved_input", "kept", "copied", &f->keeps_input, err));
    f->dtype = product ? FR_FP4 : FR_FP8;
    f->units = (enum fr_units)unit;
    f->amax_reads = (unsigned)amax;
    f->cast_reads = (unsigned)cast;
    f->scale_bytes = (double)scale;
    f->tensor_scale_bytes = (double)tensor_scale;
    return check(f, root, err);
}

enum fr_status fr__formats_read(const struct fr_formats **out, struct fr__formats_file **owned,
                                const char *text, size_t len, const char *name,
                                struct fr_error *err)
{
    struct fr__formats_file *f = calloc(1, sizeof(*f));
    const struct fr__yaml *root;
    enum fr_status st;

    if (!f)
        return fr__fail_nomem(err);
    f->arena = fr__arena_new();
    st = f->arena ? fr__yaml_load_text(f->arena, text, len, name, &root, err) : fr__fail_nomem(err);
    if (st == FR_OK)
        st = read_root(&f->formats, root, err);
    if (st != FR_OK) {
        fr__formats_free(f);
        return st;
    }
    *out = &f->formats;
    *owned = f;
    return FR_OK;
}

/* ---- a name with options ---- */

/* "first=2" into *f. */
static enum fr_status set_option(struct fr_formats *f, const char *word, struct fr_error *err)
{
    uint64_t bits = 0;

    if (strncmp(word, "first=", 6) == 0)
        return fr__parse_count(word + 6, "first", FR_NOWHERE, 0, UINT16_MAX, &f->wide_first, err);
    if (strncmp(word, "last=", 5) == 0)
        return fr__parse_count(word + 5, "last", FR_NOWHERE, 0, UINT16_MAX, &f->wide_last, err);
    if (strncmp(word, "wgrad=", 6) != 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "a number-format recipe has no option '%.40s', but first=N, last=N (blocks "
                        "that keep 16 bits) and wgrad=16",
                        word);
    FR_TRY(fr__parse_count(word + 6, "wgrad", FR_NOWHERE, 16, 16, &bits, err));
    f->bits[FR__PRODUCT_WGRAD] = (double)bits;
    return FR_OK;
}

static enum fr_status set_options(struct fr__formats_file *f, const char *text, size_t name_len,
                                  struct fr_error *err)
{
    char *words = fr__arena_strdup(f->arena, text + name_len + 1), *next;

    f->formats.name = fr__arena_strdup(f->arena, text);
    if (!words || !f->formats.name)
        return fr__fail_nomem(err);
    for (char *word = words; word; word = next) {
        next = strchr(word, ',');
        if (next)
            *next++ = '\0';
        FR_TRY(set_option(&f->formats, word, err));
    }
    return FR_OK;
}

static enum fr_status load_named(const struct fr_formats **out, struct fr__formats_file **owned,
                                 const struct fr_formats *base, const char *text, size_t name_len,
                                 struct fr_error *err)
{
    struct fr__formats_file *f = calloc(1, sizeof(*f));
    enum fr_status st;

    if (!f)
        return fr__fail_nomem(err);
    f->formats = *base;
    f->arena = fr__arena_new();
    st = f->arena ? set_options(f, text, name_len, err) : fr__fail_nomem(err);
    if (st != FR_OK) {
        fr__formats_free(f);
        return st;
    }
    *out = &f->formats;
    *owned = f;
    return FR_OK;
}

/* The row whose name stands before a ':'. */
static const struct fr_formats *base_of(const char *text, size_t *name_len)
{
    *name_len = strcspn(text, ":");
    for (size_t i = 0; text[*name_len] && i < fr__n_format_rows; i++)
        if (strlen(fr__format_rows[i].name) == *name_len &&
            strncmp(fr__format_rows[i].name, text, *name_len) == 0)
            return &fr__format_rows[i];
    return NULL;
}

enum fr_status fr__formats_load(const struct fr_formats **out, struct fr__formats_file **owned,
                                const char *text, struct fr_error *err)
{
    enum { MOST_BYTES = 1 << 16 };
    const struct fr_formats *base;
    size_t name_len;
    enum fr_status st;
    char *content;
    size_t len;

    *owned = NULL;
    *out = fr__formats_named(text);
    if (*out)
        return FR_OK;
    base = base_of(text, &name_len);
    if (base)
        return load_named(out, owned, base, text, name_len, err);
    if (!fr__exists(text) || fr__is_folder(text))
        return fail_unknown(text, FR_NOWHERE, err);
    FR_TRY(fr__read_file(text, MOST_BYTES, &content, &len, err));
    st = fr__formats_read(out, owned, content, len, text, err);
    free(content);
    return st;
}
