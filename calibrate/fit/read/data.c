/* calibrate/fit/read/data.c - the list of measured kernels, and what the readers of all layouts
 * share. */
#include "config.h"

#include "calibrate/fit/read/data.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/units.h"
#include "calibrate/curves/class.h"
#include "calibrate/fit/read/row_hash.h"

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of number formats in the data sets. Formats with other arithmetic (int8, fp16 storage with
 * fp32 arithmetic, weights of fewer bits) are left out, because they have no curve. */
static const struct {
    const char *name;
    enum fr_dtype dtype;
} dtypes[] = {
    {"float32", FR_FP32},
    {"fp32", FR_FP32},
    {"tf32", FR_TF32},
    {"float16", FR_FP16},
    {"fp16", FR_FP16},
    {"bfloat16", FR_BF16},
    {"bf16", FR_BF16},
    {"fp8", FR_FP8},
    {"float16 in; float32 accumulate (tensor core where present)", FR_FP16},
};

static enum fr_dtype dtype_of(const char *name)
{
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
        if (strcmp(dtypes[i].name, name) == 0)
            return dtypes[i].dtype;
    return FR_N_DTYPES;
}

bool fr__scan_wants(struct fr__scan *s, const struct fr__cell *gpu,
                    const struct fr__cell *dtype_name, enum fr_dtype *dtype)
{
    *dtype = dtype_of(dtype_name->text);
    return *dtype != FR_N_DTYPES && fr__scan_is_gpu(s, gpu);
}

bool fr__scan_is_gpu(struct fr__scan *s, const struct fr__cell *gpu)
{
    for (size_t i = 0; i < s->n_gpus; i++)
        if (strcmp(s->gpus[i], gpu->text) == 0) {
            s->gpu = (uint32_t)i;
            return true;
        }
    return false;
}

enum fr_status fr__read_size(const struct fr__cell *cell, const char *name, double *out,
                             struct fr_error *err)
{
    uint64_t n;

    FR_TRY(fr__cell_count(cell, name, 1, UINT64_C(1) << 31, &n, err));
    *out = (double)n;
    return FR_OK;
}

enum fr_status fr__read_pair(const struct fr__cell *cell, const char *key, const char *what,
                             double *out, struct fr_error *err)
{
    const char *at = cell->text;
    size_t length = strlen(key);
    char digits[24];
    uint64_t n;

    while (at && !(strncmp(at, key, length) == 0 && at[length] == '=')) {
        at = strchr(at, ';');
        at = at ? at + 1 + strspn(at + 1, " ") : NULL;
    }
    if (!at)
        return FR_OK;
    at += length + 1;
    length = strcspn(at, ";");
    snprintf(digits, sizeof(digits), "%.*s", (int)(length < 23 ? length : 23), at);
    FR_TRY(fr__parse_count(digits, what, cell->loc, 1, UINT64_C(1) << 48, &n, err));
    *out = (double)n;
    return FR_OK;
}

/* Hash of a shape's sizes. */
static uint64_t hash_shape(const struct fr__curve_class *c, const struct fr_kernel_shape *shape)
{
    double sizes[FR__CURVE_SIZES];
    uint64_t h = FR__FNV_START;

    c->sizes(shape, sizes);
    for (size_t i = 0; c->size_names[i]; i++)
        h = fr__fnv_word(h, (uint64_t)sizes[i]);
    return fr__hash_id(h);
}

bool fr__is_held_out(uint64_t shape_hash)
{
    return shape_hash % 5 == 0;
}

/* From a source "project table software ..." keeps project and software ("ai-dynamo/aiconfigurator
 * h100_sxm vllm/0.24.0"), since times differ between these. The table is dropped. */
static char *shorten_source(const char *text)
{
    size_t project = strcspn(text, " ");
    const char *table = text + project + strspn(text + project, " ");
    const char *software = table + strcspn(table, " ");
    size_t length;
    char *out;

    software += strspn(software, " ");
    length = strcspn(software, " ");
    if (software[0] == '[') /* the sheet of a spreadsheet */
        length = 0;
    out = malloc(project + length + 2);
    if (out)
        snprintf(out, project + length + 2, "%.*s%s%.*s", (int)project, text, length ? " " : "",
                 (int)length, software);
    return out;
}

static enum fr_status find_source(struct fr__data *d, const char *text, uint32_t *out,
                                  struct fr_error *err)
{
    char *name = shorten_source(text);
    size_t i = 0;

    if (!name)
        return fr__fail_nomem(err);
    while (i < d->n_sources && strcmp(d->sources[i], name) != 0)
        i++;
    *out = (uint32_t)i;
    if (i < d->n_sources) {
        free(name);
        return FR_OK;
    }
    if (!fr__grow(&d->sources, &d->sources_cap, d->n_sources + 1, sizeof(*d->sources))) {
        free(name);
        return fr__fail_nomem(err);
    }
    d->sources[d->n_sources++] = name;
    return FR_OK;
}

enum fr_status fr__scan_add(struct fr__scan *s, const struct fr_kernel_shape *shape,
                            enum fr_dtype dtype, const struct fr__cell *source,
                            const struct fr__cell *time, const char *time_name,
                            struct fr_error *err)
{
    const struct fr__curve_class *op_class = fr__curve_class_of(shape->op_class);
    struct fr__measured row = {
        .shape = *shape, .dtype = dtype, .file = s->file, .line = time->loc.line, .gpu = s->gpu};
    double time_us;

    FR_TRY(fr__cell_number(time, time_name, 1e-3, 1e12, &time_us, err));
    if (!op_class)
        return FR_OK;
    FR_TRY(find_source(s->data, source->text, &row.source, err));
    row.time_s = time_us * 1e-6;
    row.hash = hash_shape(op_class, shape);
    if (!fr__grow(&s->data->rows, &s->data->cap, s->data->n_rows + 1, sizeof(row)))
        return fr__fail_nomem(err);
    s->data->rows[s->data->n_rows++] = row;
    return FR_OK;
}

enum fr_status fr__scan_source(struct fr__scan *s, const struct fr__cell *source, uint32_t *out,
                               struct fr_error *err)
{
    return find_source(s->data, source->text, out, err);
}

enum fr_status fr__scan_add_launch(struct fr__scan *s, enum fr_launch what,
                                   const struct fr__cell *source, const struct fr__cell *time_us,
                                   struct fr_error *err)
{
    struct fr__launch_row row = {.what = what, .gpu = s->gpu};
    struct fr__data *d = s->data;

    FR_TRY(fr__cell_number(time_us, "time_us", 1e-3, 1e4, &row.time_s, err));
    row.time_s *= 1e-6;
    FR_TRY(find_source(d, source->text, &row.source, err));
    if (!fr__grow(&d->launches, &d->launches_cap, d->n_launches + 1, sizeof(row)))
        return fr__fail_nomem(err);
    d->launches[d->n_launches++] = row;
    return FR_OK;
}

void fr__data_fini(struct fr__data *d)
{
    for (size_t i = 0; i < d->n_sources; i++)
        free(d->sources[i]);
    free(d->sources);
    free(d->rows);
    free(d->beside);
    free(d->launches);
    memset(d, 0, sizeof(*d));
}

struct fr_misses fr__misses_of(double signed_errors[], size_t n)
{
    struct fr_misses m = {.n = n};

    if (n == 0)
        return m;
    gsl_sort(signed_errors, 1, n);
    m.bias = gsl_stats_quantile_from_sorted_data(signed_errors, 1, n, 0.5);
    for (size_t i = 0; i < n; i++)
        signed_errors[i] = fabs(signed_errors[i]);
    gsl_sort(signed_errors, 1, n);
    m.median = gsl_stats_quantile_from_sorted_data(signed_errors, 1, n, 0.5);
    m.p90 = gsl_stats_quantile_from_sorted_data(signed_errors, 1, n, 0.9);
    m.worst = signed_errors[n - 1];
    return m;
}
