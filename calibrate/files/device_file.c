/* calibrate/files/device_file.c - reads and writes device files: the curves, launches and
 * interference of one device as YAML. Tables that are compiled in are shipped.h's. */
#include "config.h"

#include "calibrate/files/device_file.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "calibrate/fit/beside.h"
#include "calibrate/curves/curve.h"
#include "calibrate/files/fields.h"
#include "calibrate/fit/launches.h"
#include "calibrate/files/shipped.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 16 << 20 };

/* ---- reading ---- */

/* Any parameters and machine within these bounds can be evaluated without overflow. */
static const double MIN_PARAMETER = 1e-12, MAX_PARAMETER = 1e12, MAX_RATE = 1e21;

static enum fr_status read_parameters(struct fr_curve_info *info, const struct fr__yaml *node,
                                      struct fr_error *err)
{
    const char *known[FR_CURVE_PARAMETERS + 1] = {NULL};
    const struct fr__yaml *map;

    FR_TRY(fr__fit_child(node, "parameters", FR__YAML_MAP, &map, err));
    for (size_t i = 0; fr_curve_parameter_name(info->op_class, i); i++)
        known[i] = fr_curve_parameter_name(info->op_class, i);
    FR_TRY(fr__yaml_only(map, known, err));
    for (size_t i = 0; known[i]; i++) {
        double if_absent = known[i + 1] ? 0 : fr__curve_class_of(info->op_class)->last_if_absent;

        if (if_absent > 0 && !fr__yaml_get(map, known[i])) {
            info->parameters[i] = if_absent;
            continue;
        }
        FR_TRY(fr__fit_pair(map, known[i], MIN_PARAMETER, MAX_PARAMETER, &info->parameters[i],
                            &info->errors[i], err));
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
        FR_TRY(fr__fit_item(axis->items[0], "an axis's start", -64, 64, &r->axes[a].first, err));
        FR_TRY(fr__fit_item(axis->items[1], "an axis's step", 1e-3, 64, &r->axes[a].step, err));
        FR_TRY(fr__fit_item(axis->items[2], "an axis's knots", 1, FR__RESIDUAL_MAX_KNOTS, &knots,
                            err));
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
    FR_TRY(fr__fit_child(map, "axes", FR__YAML_LIST, &axes, err));
    FR_TRY(fr__fit_child(map, "thousandths", FR__YAML_LIST, &values, err));
    FR_TRY(read_axes(r, axes, &n, err));
    if (values->n != n)
        return fr__fail(err, FR_EPARSE, values->loc,
                        "'thousandths' has %zu items, the axes make %zu", values->n, n);
    r->values = r->own = calloc(n, sizeof(*r->own));
    if (!r->own)
        return fr__fail_nomem(err);
    r->n_values = n;
    for (size_t i = 0; i < n; i++) {
        double x;

        FR_TRY(fr__fit_item(values->items[i], "a residual", -10000, 10000, &x, err));
        r->own[i] = (float)(x / 1000);
    }
    return FR_OK;
}

static enum fr_status read_feature(const struct fr__yaml *item, const char *const names[],
                                   unsigned *out, struct fr_error *err)
{
    char hint[128];
    unsigned n = 0;

    FR_TRY(fr__yaml_expect(item, FR__YAML_SCALAR, "a feature", err));
    for (*out = 0; names[n]; n++)
        if (strcmp(names[n], item->text) == 0)
            break;
    *out = n;
    if (names[n])
        return FR_OK;
    return fr__fail(err, FR_EPARSE, item->loc, "\"%.40s\" is no feature of this class%s",
                    item->text, fr__did_you_mean(item->text, names, n, hint, sizeof(hint)));
}

static enum fr_status read_splits(struct fr__trees *t, const struct fr__yaml *list,
                                  const char *const names[], struct fr_error *err)
{
    enum { TREE = 2 * FR__TREES_DEPTH };

    if (list->n == 0 || list->n % TREE != 0 || list->n / TREE > FR__TREES_MAX)
        return fr__fail(err, FR_EPARSE, list->loc,
                        "'splits' has %zu items, expected [feature, from, ...], %d items a tree, "
                        "at most %d trees",
                        list->n, TREE, FR__TREES_MAX);
    t->trees = t->own = calloc(list->n / TREE, sizeof(*t->own));
    if (!t->own)
        return fr__fail_nomem(err);
    t->n = list->n / TREE;
    for (size_t i = 0; i < list->n; i += 2) {
        struct fr__split *s = &t->own[i / TREE].splits[i % TREE / 2];

        FR_TRY(read_feature(list->items[i], names, &s->feature, err));
        FR_TRY(fr__fit_item(list->items[i + 1], "a split", 0, MAX_RATE, &s->from, err));
    }
    return FR_OK;
}

static enum fr_status read_leaves(struct fr__trees *t, const struct fr__yaml *list,
                                  struct fr_error *err)
{
    if (list->n != t->n * FR__TREES_LEAVES)
        return fr__fail(err, FR_EPARSE, list->loc,
                        "'thousandths' has %zu items, the splits make %zu", list->n,
                        t->n * FR__TREES_LEAVES);
    for (size_t i = 0; i < list->n; i++) {
        double x;

        FR_TRY(fr__fit_item(list->items[i], "a residual", -10000, 10000, &x, err));
        t->own[i / FR__TREES_LEAVES].thousandths[i % FR__TREES_LEAVES] = (int16_t)x;
    }
    return FR_OK;
}

static enum fr_status read_trees(struct fr__curve *c, const struct fr__yaml *node,
                                 struct fr_error *err)
{
    static const char *const known[] = {"range", "splits", "thousandths", NULL};
    const struct fr__curve_class *op_class = fr__curve_class_of(c->info.op_class);
    const struct fr__yaml *map = fr__yaml_get(node, "trees"), *range, *splits, *values;
    double low, high;

    if (!map)
        return FR_OK;
    if (!op_class->features)
        return fr__fail(err, FR_EPARSE, map->key_loc, "curves of class %s have no trees",
                        op_class->name);
    if (c->residual.n_values > 0)
        return fr__fail(err, FR_EPARSE, map->key_loc,
                        "a curve has 'residual' or 'trees', not both");
    FR_TRY(fr__yaml_expect(map, FR__YAML_MAP, "trees", err));
    FR_TRY(fr__yaml_only(map, known, err));
    FR_TRY(fr__fit_child(map, "range", FR__YAML_LIST, &range, err));
    FR_TRY(fr__fit_child(map, "splits", FR__YAML_LIST, &splits, err));
    FR_TRY(fr__fit_child(map, "thousandths", FR__YAML_LIST, &values, err));
    if (range->n != 2)
        return fr__fail(err, FR_EPARSE, range->loc, "'range' has %zu items, expected [low, high]",
                        range->n);
    FR_TRY(fr__fit_item(range->items[0], "the range's low end", -10000, 10000, &low, err));
    FR_TRY(fr__fit_item(range->items[1], "the range's high end", -10000, 10000, &high, err));
    c->trees.low = (int)low;
    c->trees.high = (int)high;
    FR_TRY(read_splits(&c->trees, splits, op_class->feature_names, err));
    return read_leaves(&c->trees, values, err);
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
        "class",       "dtype",      "gpus",     "source", "data_hash",
        "rows_fitted", "held_out",   "repeats",  "n_sms",  "peak_flops_per_s",
        "mem_Bps",     "parameters", "residual", "trees",  NULL};

    const struct fr__yaml *held_out, *repeats;

    FR_TRY(fr__yaml_expect(node, FR__YAML_MAP, "a curve", err));
    FR_TRY(fr__yaml_only(node, known, err));
    FR_TRY(read_kind(&c->info, node, err));
    FR_TRY(fr__fit_text(node, "gpus", c->gpus, FR__CURVE_TEXT, err));
    FR_TRY(fr__fit_text(node, "source", c->source, FR__CURVE_TEXT, err));
    FR_TRY(fr__fit_hash(node, &c->info.data_hash, err));
    FR_TRY(fr__fit_count(node, "rows_fitted", UINT64_C(1) << 48, &c->info.n_fitted, err));
    FR_TRY(fr__fit_child(node, "held_out", FR__YAML_MAP, &held_out, err));
    FR_TRY(fr__fit_misses(held_out, &c->info.held_out, err));
    repeats = fr__yaml_get(node, "repeats");
    if (repeats) {
        FR_TRY(fr__yaml_expect(repeats, FR__YAML_MAP, "repeats", err));
        FR_TRY(fr__fit_misses(repeats, &c->info.repeats, err));
    }
    FR_TRY(fr__fit_number(node, "n_sms", 1, 1e6, &c->machine.n_sms, err));
    if (c->machine.n_sms != floor(c->machine.n_sms))
        return fr__fail(err, FR_ERANGE, fr__yaml_get(node, "n_sms")->loc,
                        "'n_sms' is %g, expected a whole number", c->machine.n_sms);
    FR_TRY(
        fr__fit_number(node, "peak_flops_per_s", 1, MAX_RATE, &c->machine.peak_flops_per_s, err));
    FR_TRY(fr__fit_number(node, "mem_Bps", 1, MAX_RATE, &c->machine.mem_Bps, err));
    FR_TRY(read_parameters(&c->info, node, err));
    FR_TRY(read_residual(&c->residual, node, err));
    FR_TRY(read_trees(c, node, err));
    c->info.n_residuals = c->residual.n_values + c->trees.n * FR__TREES_LEAVES;
    fr__curve_prepare(c);
    return FR_OK;
}

static enum fr_status read_root(struct fr_calibration *c, const struct fr__yaml *root,
                                struct fr_error *err)
{
    static const char *const known[] = {"device", "curves", "launch", "interference", NULL};
    const struct fr__yaml *curves;
    struct fr__slowdowns *slowdowns = NULL;
    struct fr__launches *launches = NULL;
    enum fr_status st;

    FR_TRY(fr__yaml_expect(root, FR__YAML_MAP, "a device file", err));
    FR_TRY(fr__yaml_only(root, known, err));
    FR_TRY(fr__fit_text(root, "device", c->device, FR__CURVE_TEXT, err));
    st = fr__slowdowns_read(&slowdowns, root, err);
    if (st == FR_OK)
        st = fr__launches_read(&launches, root, err);
    fr__calibration_take(c, slowdowns, launches);
    FR_TRY(st);
    if (!fr__yaml_get(root, "curves") && (slowdowns || launches))
        return FR_OK;
    FR_TRY(fr__fit_child(root, "curves", FR__YAML_LIST, &curves, err));
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

/* ---- writing ---- */

static void put_residual(FILE *f, const struct fr__residual *r, const char *axis_names)
{
    size_t row = r->axes[FR__RESIDUAL_AXES - 1].n * r->axes[FR__RESIDUAL_AXES - 2].n;

    if (r->n_values == 0)
        return;
    fprintf(f, "    residual:\n      axes: # log2 of %s: first, step, knots\n", axis_names);
    for (unsigned a = 0; a < FR__RESIDUAL_AXES; a++) {
        fr__put_number(f, "        - [", r->axes[a].first, ", ");
        fr__put_number(f, "", r->axes[a].step, "");
        fprintf(f, ", %" PRIu32 "]\n", r->axes[a].n);
    }
    fputs("      thousandths: [", f);
    for (size_t i = 0; i < r->n_values; i++)
        fprintf(f, "%s%s%ld", i ? "," : "", i % row ? " " : "\n        ",
                lround((double)r->values[i] * 1000));
    fputs("]\n", f);
}

static void put_trees(FILE *f, const struct fr__trees *t, const char *const names[])
{
    if (t->n == 0)
        return;
    fprintf(f, "    trees: # each: %d questions, feature and from where on yes; %d values\n",
            FR__TREES_DEPTH, FR__TREES_LEAVES);
    fprintf(f, "      range: [%d, %d]\n      splits: [", t->low, t->high);
    for (size_t i = 0; i < t->n; i++)
        for (unsigned d = 0; d < FR__TREES_DEPTH; d++) {
            fprintf(f, "%s%s%s, ", i + d ? "," : "", d ? " " : "\n        ",
                    names[t->trees[i].splits[d].feature]);
            fr__put_number(f, "", t->trees[i].splits[d].from, "");
        }
    fputs("]\n      thousandths: [", f);
    for (size_t i = 0; i < t->n; i++)
        for (unsigned l = 0; l < FR__TREES_LEAVES; l++)
            fprintf(f, "%s%s%d", i + l ? "," : "", l ? " " : "\n        ",
                    t->trees[i].thousandths[l]);
    fputs("]\n", f);
}

static void put_curve(FILE *f, const struct fr__curve *c)
{
    const struct fr_curve_info *info = &c->info;

    fprintf(f, "  - class: %s\n    dtype: %s\n", fr_curve_class_name(info->op_class),
            fr_dtype_name(info->dtype));
    fr__put_text(f, "    ", "gpus", info->gpus);
    fr__put_text(f, "    ", "source", info->source);
    fprintf(f, "    data_hash: '%016" PRIx64 "'\n    rows_fitted: %" PRIu64 "\n", info->data_hash,
            info->n_fitted);
    fputs("    held_out: ", f);
    fr__put_misses(f, &info->held_out);
    if (info->repeats.n > 0) {
        fputs("    repeats: ", f);
        fr__put_misses(f, &info->repeats);
    }
    fr__put_number(f, "    n_sms: ", c->machine.n_sms, "\n");
    fr__put_number(f, "    peak_flops_per_s: ", c->machine.peak_flops_per_s, "\n");
    fr__put_number(f, "    mem_Bps: ", c->machine.mem_Bps, "\n    parameters: # value, error\n");
    for (size_t i = 0; fr_curve_parameter_name(info->op_class, i); i++)
        fr__put_pair(f, "      ", fr_curve_parameter_name(info->op_class, i), info->parameters[i],
                     info->errors[i]);
    put_residual(f, &c->residual, fr__curve_class_of(info->op_class)->axis_names);
    put_trees(f, &c->trees, fr__curve_class_of(info->op_class)->feature_names);
}

enum fr_status fr_calibration_write(const struct fr_calibration *c, const char *path,
                                    struct fr_error *err)
{
    struct fr__out out;

    FR_TRY(fr__out_open(&out, path, err));
    fprintf(out.f, "# Written by 'forerun calibrate fit' (doc/calibration.md).\ndevice: %s\n",
            c->device);
    if (c->launches)
        fr__launches_write(out.f, c->launches);
    if (c->slowdowns)
        fr__slowdowns_write(out.f, c->slowdowns);
    if (c->n_curves > 0)
        fputs("curves:\n", out.f);
    for (size_t i = 0; i < c->n_curves; i++)
        put_curve(out.f, c->curves[i]);
    return fr__out_commit(&out, err);
}
