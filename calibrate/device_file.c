/* calibrate/device_file.c - reads and writes device files. */
#include "config.h"

#include "calibrate/device_file.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "base/yaml.h"
#include "calibrate/curve.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 16 << 20, NUMBER = 32 };

/* ---- reading ---- */

static enum fr_status read_number(const struct fr__yaml *map, const char *key, double min,
                                  double max, double *out, struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;
    char what[64];

    FR_TRY(fr__yaml_text(map, key, NULL, &text, &loc, err));
    snprintf(what, sizeof(what), "'%s'", key);
    return fr__parse_number(text, what, loc, min, max, out, err);
}

static enum fr_status read_count(const struct fr__yaml *map, const char *key, uint64_t *out,
                                 struct fr_error *err)
{
    double x;

    FR_TRY(read_number(map, key, 0, 1e15, &x, err));
    *out = (uint64_t)x;
    return FR_OK;
}

static enum fr_status read_text(const struct fr__yaml *map, const char *key,
                                char out[FR__CURVE_TEXT], struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;

    FR_TRY(fr__yaml_text(map, key, NULL, &text, &loc, err));
    if (strlen(text) >= FR__CURVE_TEXT)
        return fr__fail(err, FR_ERANGE, loc, "'%s' is longer than %d bytes", key,
                        FR__CURVE_TEXT - 1);
    strcpy(out, text);
    return FR_OK;
}

/* A child that must be there. */
static enum fr_status get(const struct fr__yaml *map, const char *key, enum fr__yaml_kind kind,
                          const struct fr__yaml **out, struct fr_error *err)
{
    *out = fr__yaml_get(map, key);
    if (!*out)
        return fr__fail(err, FR_EPARSE, map->loc, "'%s' is missing", key);
    return fr__yaml_expect(*out, kind, key, err);
}

static enum fr_status item_number(const struct fr__yaml *item, const char *what, double min,
                                  double max, double *out, struct fr_error *err)
{
    FR_TRY(fr__yaml_expect(item, FR__YAML_SCALAR, what, err));
    if (item->text[0] != '-')
        return fr__parse_number(item->text, what, item->loc, min, max, out, err);
    FR_TRY(fr__parse_number(item->text + 1, what, item->loc, 0, -min, out, err));
    *out = -*out;
    return FR_OK;
}

/* Parameters and machine are what a model can be evaluated with, in any combination. */
static const double MIN_PARAMETER = 1e-12, MAX_PARAMETER = 1e12, MAX_RATE = 1e21;

static enum fr_status read_parameters(struct fr_curve_info *info, const struct fr__yaml *node,
                                      struct fr_error *err)
{
    const char *known[FR_CURVE_PARAMETERS + 1] = {NULL};
    const struct fr__yaml *map;

    FR_TRY(get(node, "parameters", FR__YAML_MAP, &map, err));
    for (size_t i = 0; fr_curve_parameter_name(info->op_class, i); i++)
        known[i] = fr_curve_parameter_name(info->op_class, i);
    FR_TRY(fr__yaml_only(map, known, err));
    for (size_t i = 0; known[i]; i++) {
        const struct fr__yaml *pair;

        FR_TRY(get(map, known[i], FR__YAML_LIST, &pair, err));
        if (pair->n != 2)
            return fr__fail(err, FR_EPARSE, pair->loc,
                            "'%s' has %zu items, expected [value, error]", known[i], pair->n);
        FR_TRY(item_number(pair->items[0], known[i], MIN_PARAMETER, MAX_PARAMETER,
                           &info->parameters[i], err));
        FR_TRY(item_number(pair->items[1], known[i], 0, MAX_PARAMETER, &info->errors[i], err));
    }
    return FR_OK;
}

static enum fr_status read_axes(struct fr__residual *r, const struct fr__yaml *list, size_t *n,
                                struct fr_error *err)
{
    *n = 1;
    if (list->n != FR__RESIDUAL_AXES)
        return fr__fail(err, FR_EPARSE, list->loc, "'axes' has %zu items, expected %d", list->n,
                        FR__RESIDUAL_AXES);
    for (unsigned a = 0; a < FR__RESIDUAL_AXES; a++) {
        const struct fr__yaml *axis = list->items[a];
        double knots;

        FR_TRY(fr__yaml_expect(axis, FR__YAML_LIST, "an axis", err));
        if (axis->n != 3)
            return fr__fail(err, FR_EPARSE, axis->loc,
                            "an axis has %zu items, expected [first, step, knots]", axis->n);
        FR_TRY(item_number(axis->items[0], "an axis's start", -64, 64, &r->axes[a].first, err));
        FR_TRY(item_number(axis->items[1], "an axis's step", 1e-3, 64, &r->axes[a].step, err));
        FR_TRY(
            item_number(axis->items[2], "an axis's knots", 1, FR__RESIDUAL_MAX_KNOTS, &knots, err));
        r->axes[a].n = (uint32_t)knots;
        *n *= r->axes[a].n;
    }
    if (*n > FR__RESIDUAL_MAX_VALUES)
        return fr__fail(err, FR_ERANGE, list->loc, "the axes make %zu values, at most %d are read",
                        *n, FR__RESIDUAL_MAX_VALUES);
    return FR_OK;
}

static enum fr_status read_residual(struct fr__residual *r, const struct fr__yaml *node,
                                    struct fr_error *err)
{
    static const char *const known[] = {"axes", "thousandths", NULL};
    const struct fr__yaml *map = fr__yaml_get(node, "residual"), *axes, *values;
    size_t n;

    if (!map)
        return FR_OK;
    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, "residual", err));
    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(get(map, "axes", FR__YAML_LIST, &axes, err));
    FR_TRY(get(map, "thousandths", FR__YAML_LIST, &values, err));
    FR_TRY(read_axes(r, axes, &n, err));
    if (values->n != n)
        return fr__fail(err, FR_EPARSE, values->loc,
                        "'thousandths' has %zu items, the axes make %zu", values->n, n);
    r->values = calloc(n, sizeof(*r->values));
    if (!r->values)
        return fr__fail_nomem(err);
    r->n_values = n;
    for (size_t i = 0; i < n; i++) {
        double x;

        FR_TRY(item_number(values->items[i], "a residual", -10000, 10000, &x, err));
        r->values[i] = (float)(x / 1000);
    }
    return FR_OK;
}

static enum fr_status read_hash(const struct fr__yaml *node, uint64_t *out, struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;

    FR_TRY(fr__yaml_text(node, "data_hash", NULL, &text, &loc, err));
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return fr__fail(err, FR_EPARSE, loc, "'data_hash' is \"%.40s\", expected 16 digits 0-9a-f",
                        text);
    *out = strtoull(text, NULL, 16);
    return FR_OK;
}

static enum fr_status read_held_out(struct fr_misses *m, const struct fr__yaml *node,
                                    struct fr_error *err)
{
    static const char *const known[] = {"rows", "median", "p90", "worst", "bias", NULL};
    const struct fr__yaml *map, *bias;

    FR_TRY(get(node, "held_out", FR__YAML_MAP, &map, err));
    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(read_count(map, "rows", &m->n, err));
    FR_TRY(read_number(map, "median", 0, 1e9, &m->median, err));
    FR_TRY(read_number(map, "p90", 0, 1e9, &m->p90, err));
    FR_TRY(read_number(map, "worst", 0, 1e9, &m->worst, err));
    FR_TRY(get(map, "bias", FR__YAML_SCALAR, &bias, err));
    return item_number(bias, "'bias'", -1e9, 1e9, &m->bias, err);
}

static enum fr_status fail_unknown_class(const char *text, struct fr_loc loc, struct fr_error *err)
{
    const char *names[FR_N_CURVE_CLASSES];
    char hint[128];
    size_t n = 0;

    for (unsigned c = 0; c < FR_N_CURVE_CLASSES; c++)
        if (fr__curve_class_of((enum fr_curve_class)c))
            names[n++] = fr_curve_class_name((enum fr_curve_class)c);
    return fr__fail(err, FR_EPARSE, loc, "'class' is \"%.40s\", not a class of curves%s", text,
                    fr__did_you_mean(text, names, n, hint, sizeof(hint)));
}

static enum fr_status read_kind(struct fr_curve_info *info, const struct fr__yaml *node,
                                struct fr_error *err)
{
    const char *text;
    struct fr_loc loc;

    FR_TRY(fr__yaml_text(node, "class", NULL, &text, &loc, err));
    info->op_class = fr__curve_class_parse(text);
    if (info->op_class == FR_N_CURVE_CLASSES)
        return fail_unknown_class(text, loc, err);
    FR_TRY(fr__yaml_text(node, "dtype", NULL, &text, &loc, err));
    info->dtype = fr_dtype_parse(text);
    if (info->dtype == FR_N_DTYPES)
        return fr__fail(err, FR_EPARSE, loc,
                        "'dtype' is \"%.40s\", expected fp32, tf32, fp16, bf16 or fp8", text);
    return FR_OK;
}

static enum fr_status read_curve(struct fr__curve *c, const struct fr__yaml *node,
                                 struct fr_error *err)
{
    static const char *const known[] = {
        "class",       "dtype",    "gpus",  "source",           "data_hash",
        "rows_fitted", "held_out", "n_sms", "peak_flops_per_s", "mem_Bps",
        "parameters",  "residual", NULL};

    FR_TRY(fr__yaml_expect(node, FR__YAML_MAP, "a curve", err));
    FR_TRY(fr__yaml_only(node, known, err));
    FR_TRY(read_kind(&c->info, node, err));
    FR_TRY(read_text(node, "gpus", c->gpus, err));
    FR_TRY(read_text(node, "source", c->source, err));
    FR_TRY(read_hash(node, &c->info.data_hash, err));
    FR_TRY(read_count(node, "rows_fitted", &c->info.n_fitted, err));
    FR_TRY(read_held_out(&c->info.held_out, node, err));
    FR_TRY(read_number(node, "n_sms", 1, 1e6, &c->machine.n_sms, err));
    FR_TRY(read_number(node, "peak_flops_per_s", 1, MAX_RATE, &c->machine.peak_flops_per_s, err));
    FR_TRY(read_number(node, "mem_Bps", 1, MAX_RATE, &c->machine.mem_Bps, err));
    FR_TRY(read_parameters(&c->info, node, err));
    FR_TRY(read_residual(&c->residual, node, err));
    c->info.n_residuals = c->residual.n_values;
    fr__curve_prepare(c);
    return FR_OK;
}

static enum fr_status read_root(struct fr_calibration *c, const struct fr__yaml *root,
                                struct fr_error *err)
{
    static const char *const known[] = {"device", "curves", NULL};
    const struct fr__yaml *curves;

    FR_TRY(fr__yaml_expect(root, FR__YAML_MAP, "a device file", err));
    FR_TRY(fr__yaml_only(root, known, err));
    FR_TRY(read_text(root, "device", c->device, err));
    FR_TRY(get(root, "curves", FR__YAML_LIST, &curves, err));
    if (curves->n == 0)
        return fr__fail(err, FR_EPARSE, curves->loc, "'curves' is empty");
    for (size_t i = 0; i < curves->n; i++) {
        struct fr__curve *curve = fr__calibration_add(c);

        if (!curve)
            return fr__fail_nomem(err);
        FR_TRY(read_curve(curve, curves->items[i], err));
    }
    return FR_OK;
}

enum fr_status fr__device_file_read(struct fr_calibration **out, const char *text, size_t len,
                                    const char *name, struct fr_error *err)
{
    struct fr__arena *arena = fr__arena_new();
    struct fr_calibration *c = fr__calibration_new("");
    const struct fr__yaml *root;
    enum fr_status st = arena && c ? FR_OK : fr__fail_nomem(err);

    if (st == FR_OK)
        st = fr__yaml_load_text(arena, text, len, name, &root, err);
    if (st == FR_OK)
        st = read_root(c, root, err);
    if (st == FR_OK)
        *out = c;
    else
        fr_calibration_free(c);
    fr__arena_free(arena);
    return st;
}

const char *fr_calibration_shipped(size_t i)
{
    return i < fr__n_shipped ? fr__shipped[i].name : NULL;
}

static enum fr_status fail_unknown(const char *name, struct fr_error *err)
{
    const char *names[64];
    char hint[128];
    size_t n = 0;

    while (n < 64 && n < fr__n_shipped) {
        names[n] = fr__shipped[n].name;
        n++;
    }
    return fr__fail(
        err, FR_ENOENT, FR_NOWHERE,
        "'%s' is no device file, neither shipped ('forerun calibrate show') nor a path%s", name,
        fr__did_you_mean(name, names, n, hint, sizeof(hint)));
}

enum fr_status fr_calibration_load(struct fr_calibration **out, const char *name_or_path,
                                   struct fr_error *err)
{
    char *text;
    size_t len;
    enum fr_status st;

    for (size_t i = 0; i < fr__n_shipped; i++)
        if (strcmp(fr__shipped[i].name, name_or_path) == 0)
            return fr__device_file_read(out, fr__shipped[i].text, fr__shipped[i].len, name_or_path,
                                        err);
    if (!fr__exists(name_or_path))
        return fail_unknown(name_or_path, err);
    FR_TRY(fr__read_file(name_or_path, MAX_BYTES, &text, &len, err));
    st = fr__device_file_read(out, text, len, name_or_path, err);
    free(text);
    return st;
}

/* ---- writing ---- */

static void put_number(FILE *f, const char *before, double x, const char *after)
{
    char text[NUMBER];

    fprintf(f, "%s%s%s", before, fr__format_double(x, text, sizeof(text)), after);
}

/* In quotes; the data's names hold no others than printable bytes. */
static void put_text(FILE *f, const char *key, const char *text)
{
    fprintf(f, "    %s: '", key);
    for (; *text; text++) {
        if (*text == '\'')
            putc('\'', f);
        putc(*text, f);
    }
    fputs("'\n", f);
}

static void put_residual(FILE *f, const struct fr__residual *r, const char *axis_names)
{
    size_t row = r->axes[FR__RESIDUAL_AXES - 1].n * r->axes[FR__RESIDUAL_AXES - 2].n;

    if (r->n_values == 0)
        return;
    fprintf(f, "    residual:\n      axes: # log2 of %s: first, step, knots\n", axis_names);
    for (unsigned a = 0; a < FR__RESIDUAL_AXES; a++) {
        put_number(f, "        - [", r->axes[a].first, ", ");
        put_number(f, "", r->axes[a].step, "");
        fprintf(f, ", %" PRIu32 "]\n", r->axes[a].n);
    }
    fputs("      thousandths: [", f);
    for (size_t i = 0; i < r->n_values; i++)
        fprintf(f, "%s%s%ld", i ? "," : "", i % row ? " " : "\n        ",
                lround((double)r->values[i] * 1000));
    fputs("]\n", f);
}

static void put_curve(FILE *f, const struct fr__curve *c)
{
    const struct fr_curve_info *info = &c->info;

    fprintf(f, "  - class: %s\n    dtype: %s\n", fr_curve_class_name(info->op_class),
            fr_dtype_name(info->dtype));
    put_text(f, "gpus", info->gpus);
    put_text(f, "source", info->source);
    fprintf(f, "    data_hash: '%016" PRIx64 "'\n    rows_fitted: %" PRIu64 "\n", info->data_hash,
            info->n_fitted);
    fprintf(f, "    held_out: {rows: %" PRIu64, info->held_out.n);
    put_number(f, ", median: ", info->held_out.median, "");
    put_number(f, ", p90: ", info->held_out.p90, "");
    put_number(f, ", worst: ", info->held_out.worst, "");
    put_number(f, ", bias: ", info->held_out.bias, "}\n");
    put_number(f, "    n_sms: ", c->machine.n_sms, "\n");
    put_number(f, "    peak_flops_per_s: ", c->machine.peak_flops_per_s, "\n");
    put_number(f, "    mem_Bps: ", c->machine.mem_Bps, "\n    parameters: # value, error\n");
    for (size_t i = 0; fr_curve_parameter_name(info->op_class, i); i++) {
        fprintf(f, "      %s: [", fr_curve_parameter_name(info->op_class, i));
        put_number(f, "", info->parameters[i], ", ");
        put_number(f, "", info->errors[i], "]\n");
    }
    put_residual(f, &c->residual, fr__curve_class_of(info->op_class)->axis_names);
}

enum fr_status fr_calibration_write(const struct fr_calibration *c, const char *path,
                                    struct fr_error *err)
{
    struct fr__out out;

    FR_TRY(fr__out_open(&out, path, err));
    fprintf(out.f,
            "# Written by 'forerun calibrate fit' (doc/calibration.md).\ndevice: %s\ncurves:\n",
            c->device);
    for (size_t i = 0; i < c->n_curves; i++)
        put_curve(out.f, c->curves[i]);
    return fr__out_commit(&out, err);
}
