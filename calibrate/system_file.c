/* calibrate/system_file.c - a system's collectives as a YAML file (doc/collectives.md). */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "base/yaml.h"
#include "calibrate/device_file.h"
#include "calibrate/system_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 20, NUMBER = 32 };

/* ---- reading ---- */

static enum fr_status read_number(const struct fr__yaml *map, const char *key, double min,
                                  double max, double *out, struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;
    char what[64];

    FR_TRY(fr__yaml_text(map, key, NULL, &text, &loc, err));
    snprintf(what, sizeof(what), "'%s'", key);
    if (text[0] != '-' || min >= 0)
        return fr__parse_number(text, what, loc, min, max, out, err);
    FR_TRY(fr__parse_number(text + 1, what, loc, 0, -min, out, err));
    *out = -*out;
    return FR_OK;
}

static enum fr_status read_count(const struct fr__yaml *map, const char *key, uint64_t max,
                                 uint64_t *out, struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;

    FR_TRY(fr__yaml_text(map, key, NULL, &text, &loc, err));
    return fr__parse_count(text, key, loc, 0, max, out, err);
}

static enum fr_status read_text(const struct fr__yaml *map, const char *key, char *out, size_t n,
                                struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;

    FR_TRY(fr__yaml_text(map, key, NULL, &text, &loc, err));
    if (strlen(text) >= n)
        return fr__fail(err, FR_ERANGE, loc, "'%s' is longer than %zu bytes", key, n - 1);
    strcpy(out, text);
    return FR_OK;
}

static enum fr_status read_hash(const struct fr__yaml *map, uint64_t *out, struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;

    FR_TRY(fr__yaml_text(map, "data_hash", NULL, &text, &loc, err));
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return fr__fail(err, FR_EPARSE, loc, "'data_hash' is \"%.40s\", expected 16 digits 0-9a-f",
                        text);
    *out = strtoull(text, NULL, 16);
    return FR_OK;
}

static enum fr_status read_nvls(const struct fr__yaml *map, bool *out, struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;

    FR_TRY(fr__yaml_text(map, "nvls", NULL, &text, &loc, err));
    *out = strcmp(text, "true") == 0;
    if (!*out && strcmp(text, "false") != 0)
        return fr__fail(err, FR_EPARSE, loc, "'nvls' is \"%.40s\", expected true or false", text);
    return FR_OK;
}

/* A child that must be there. */
static enum fr_status get_map(const struct fr__yaml *map, const char *key,
                              const struct fr__yaml **out, struct fr_error *err)
{
    *out = fr__yaml_get(map, key);
    if (!*out)
        return fr__fail(err, FR_EPARSE, map->loc, "'%s' is missing", key);
    return fr__yaml_expect(*out, FR__YAML_MAP, key, err);
}

static enum fr_status read_misses(struct fr_misses *m, const struct fr__yaml *map,
                                  struct fr_error *err)
{
    static const char *const known[] = {"rows", "median", "p90", "worst", "bias", NULL};

    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(read_count(map, "rows", UINT64_C(1) << 48, &m->n, err));
    FR_TRY(read_number(map, "median", 0, 1e9, &m->median, err));
    FR_TRY(read_number(map, "p90", 0, 1e9, &m->p90, err));
    FR_TRY(read_number(map, "worst", 0, 1e9, &m->worst, err));
    return read_number(map, "bias", -1e9, 1e9, &m->bias, err);
}

static enum fr_status read_held_out(struct fr_system_info *info, const struct fr__yaml *root,
                                    struct fr_error *err)
{
    const char *known[FR_N_SYSTEM_OPS + 1] = {NULL};
    const struct fr__yaml *map, *of_op;

    FR_TRY(get_map(root, "held_out", &map, err));
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++)
        known[op] = fr_system_op_name((enum fr_system_op)op);
    FR_TRY(fr__yaml_only(map, known, err));
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++) {
        FR_TRY(get_map(map, known[op], &of_op, err));
        FR_TRY(read_misses(&info->held_out[op], of_op, err));
    }
    return FR_OK;
}

static enum fr_status read_parameters(struct fr_system_info *info, const struct fr__yaml *root,
                                      struct fr_error *err)
{
    const char *known[FR_SYSTEM_PARAMETERS + 1] = {NULL};
    const struct fr__yaml *map;

    FR_TRY(get_map(root, "parameters", &map, err));
    for (size_t i = 0; i < FR_SYSTEM_PARAMETERS; i++)
        known[i] = fr_system_parameter_name(i);
    FR_TRY(fr__yaml_only(map, known, err));
    for (size_t i = 0; i < FR_SYSTEM_PARAMETERS; i++)
        if (fr__system_has_parameter(info, i))
            FR_TRY(read_number(map, known[i], fr__system_parameter_low(i),
                               fr__system_parameter_high(i), &info->parameters[i], err));
    return FR_OK;
}

static enum fr_status read_root(struct fr_system_info *info, const struct fr__yaml *root,
                                struct fr_error *err)
{
    static const char *const known[] = {"system",   "source", "data_hash",  "rows_fitted", "gpus",
                                        "held_out", "nvls",   "parameters", NULL};
    uint64_t gpus;

    FR_TRY(fr__yaml_expect(root, FR__YAML_MAP, "a system file", err));
    FR_TRY(fr__yaml_only(root, known, err));
    FR_TRY(read_text(root, "system", info->name, sizeof(info->name), err));
    FR_TRY(read_text(root, "source", info->source, sizeof(info->source), err));
    FR_TRY(read_hash(root, &info->data_hash, err));
    FR_TRY(read_count(root, "rows_fitted", UINT64_C(1) << 48, &info->n_fitted, err));
    FR_TRY(read_count(root, "gpus", 1000000, &gpus, err));
    info->most_gpus = (unsigned)gpus;
    FR_TRY(read_held_out(info, root, err));
    FR_TRY(read_nvls(root, &info->has_nvls, err));
    return read_parameters(info, root, err);
}

enum fr_status fr_system_read(struct fr_system **out, const char *text, size_t len,
                              const char *name, struct fr_error *err)
{
    struct fr__arena *arena = fr__arena_new();
    struct fr_system *s = calloc(1, sizeof(*s));
    const struct fr__yaml *root;
    enum fr_status st = arena && s ? FR_OK : fr__fail_nomem(err);

    if (st == FR_OK)
        st = fr__yaml_load_text(arena, text, len, name, &root, err);
    if (st == FR_OK)
        st = read_root(&s->info, root, err);
    if (st == FR_OK)
        *out = s;
    else
        fr_system_free(s);
    fr__arena_free(arena);
    return st;
}

const char *fr_system_shipped(size_t i)
{
    return i < fr__n_shipped_systems ? fr__shipped_systems[i].name : NULL;
}

static enum fr_status fail_unknown(const char *name, struct fr_error *err)
{
    const char *names[64];
    char hint[128];
    size_t n = 0;

    for (; n < 64 && n < fr__n_shipped_systems; n++)
        names[n] = fr__shipped_systems[n].name;
    return fr__fail(err, FR_ENOENT, FR_NOWHERE,
                    "'%s' is no system, neither shipped ('forerun calibrate show') nor a path%s",
                    name, fr__did_you_mean(name, names, n, hint, sizeof(hint)));
}

enum fr_status fr_system_load(struct fr_system **out, const char *name_or_path,
                              struct fr_error *err)
{
    char *text;
    size_t len;
    enum fr_status st;

    for (size_t i = 0; i < fr__n_shipped_systems; i++)
        if (strcmp(fr__shipped_systems[i].name, name_or_path) == 0)
            return fr_system_read(out, fr__shipped_systems[i].text, fr__shipped_systems[i].len,
                                  name_or_path, err);
    if (!fr__exists(name_or_path))
        return fail_unknown(name_or_path, err);
    FR_TRY(fr__read_file(name_or_path, MAX_BYTES, &text, &len, err));
    st = fr_system_read(out, text, len, name_or_path, err);
    free(text);
    return st;
}

/* ---- writing ---- */

static void put_number(FILE *f, const char *before, double x, const char *after)
{
    char text[NUMBER];

    fprintf(f, "%s%s%s", before, fr__format_double(x, text, sizeof(text)), after);
}

/* In quotes; a name from the data may hold anything else than line ends. */
static void put_text(FILE *f, const char *key, const char *text)
{
    fprintf(f, "%s: '", key);
    for (; *text; text++) {
        if (*text == '\'')
            putc('\'', f);
        putc(*text, f);
    }
    fputs("'\n", f);
}

enum fr_status fr_system_write(const struct fr_system *s, const char *path, struct fr_error *err)
{
    const struct fr_system_info *info = &s->info;
    struct fr__out out;

    FR_TRY(fr__out_open(&out, path, err));
    fputs("# Written by 'forerun calibrate fit --system' (doc/collectives.md).\n", out.f);
    put_text(out.f, "system", info->name);
    put_text(out.f, "source", info->source);
    fprintf(out.f, "data_hash: '%016" PRIx64 "'\nrows_fitted: %" PRIu64 "\ngpus: %u\nheld_out:\n",
            info->data_hash, info->n_fitted, info->most_gpus);
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++) {
        const struct fr_misses *m = &info->held_out[op];

        fprintf(out.f, "  %s: {rows: %" PRIu64, fr_system_op_name((enum fr_system_op)op), m->n);
        put_number(out.f, ", median: ", m->median, "");
        put_number(out.f, ", p90: ", m->p90, "");
        put_number(out.f, ", worst: ", m->worst, "");
        put_number(out.f, ", bias: ", m->bias, "}\n");
    }
    fprintf(out.f, "nvls: %s\nparameters:\n", info->has_nvls ? "true" : "false");
    for (size_t i = 0; i < FR_SYSTEM_PARAMETERS; i++) {
        if (!fr__system_has_parameter(info, i))
            continue;
        fprintf(out.f, "  %s: ", fr_system_parameter_name(i));
        put_number(out.f, "", info->parameters[i], "\n");
    }
    return fr__out_commit(&out, err);
}
