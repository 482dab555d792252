/* calibrate/data.c - see data.h. */
#include "config.h"

#include "calibrate/data.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE, GPU, DTYPE, M, N, K, TRANS, TIME_US, TFLOPS, NOTES };
static const struct fr__csv_column columns[] = {
    {"source", false}, {"gpu", true},    {"dtype", true},  {"m", true},
    {"n", true},       {"k", true},      {"trans", false}, {"time_us", true},
    {"tflops", false}, {"notes", false}, {NULL, false},
};

/* Names of number formats in the data sets at hand. Those with other arithmetic (int8, fp16 storage
 * with fp32 arithmetic, weights of fewer bits) have no curve. */
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

struct scan {
    struct fr__data *data;
    const char *const *gpus;
    size_t n_gpus;
    uint32_t file;
};

static enum fr_dtype dtype_of(const char *name)
{
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
        if (strcmp(dtypes[i].name, name) == 0)
            return dtypes[i].dtype;
    return FR_N_DTYPES;
}

static bool is_wanted(const struct scan *s, const char *gpu)
{
    for (size_t i = 0; i < s->n_gpus; i++)
        if (strcmp(s->gpus[i], gpu) == 0)
            return true;
    return false;
}

static enum fr_status read_size(const struct fr__cell *cell, const char *name, double *out,
                                struct fr_error *err)
{
    uint64_t n;

    FR_TRY(fr__cell_count(cell, name, 1, UINT64_C(1) << 31, &n, err));
    *out = (double)n;
    return FR_OK;
}

/* "batch=24;kernel=..." at the start of the notes or after a semicolon; 1 without. */
static enum fr_status read_batch(const struct fr__cell *notes, double *out, struct fr_error *err)
{
    static const char key[] = "batch=";
    const char *at = notes->text;
    char digits[16];
    size_t length;
    uint64_t n;

    *out = 1;
    while (at && strncmp(at, key, sizeof(key) - 1) != 0) {
        at = strchr(at, ';');
        at = at ? at + 1 + strspn(at + 1, " ") : NULL;
    }
    if (!at)
        return FR_OK;
    at += sizeof(key) - 1;
    length = strcspn(at, ";");
    snprintf(digits, sizeof(digits), "%.*s", (int)(length < 15 ? length : 15), at);
    FR_TRY(
        fr__parse_count(digits, "the batch in 'notes'", notes->loc, 1, UINT64_C(1) << 31, &n, err));
    *out = (double)n;
    return FR_OK;
}

/* FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo, 1991) of the sizes, then one round of splitmix64. */
static uint64_t hash_shape(const struct fr_shape *s)
{
    const double sizes[] = {s->batch, s->rows, s->columns, s->depth};
    uint64_t h = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint64_t n = (uint64_t)sizes[i];

        for (unsigned byte = 0; byte < 8; byte++)
            h = (h ^ (n >> (8 * byte) & 0xff)) * UINT64_C(1099511628211);
    }
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

bool fr__is_held_out(uint64_t shape_hash)
{
    return shape_hash % 5 == 0;
}

/* A source's name without the table inside it ("ai-dynamo/aiconfigurator a100_sxm ..."). */
static enum fr_status find_source(struct fr__data *d, const char *text, uint32_t *out,
                                  struct fr_error *err)
{
    size_t length = strcspn(text, " ");

    for (size_t i = 0; i < d->n_sources; i++)
        if (strlen(d->sources[i]) == length && strncmp(d->sources[i], text, length) == 0) {
            *out = (uint32_t)i;
            return FR_OK;
        }
    if (!fr__grow(&d->sources, &d->sources_cap, d->n_sources + 1, sizeof(*d->sources)))
        return fr__fail_nomem(err);
    d->sources[d->n_sources] = strndup(text, length);
    if (!d->sources[d->n_sources])
        return fr__fail_nomem(err);
    *out = (uint32_t)d->n_sources++;
    return FR_OK;
}

static enum fr_status take_row(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    struct scan *s = user;
    struct fr__measured row = {
        .file = s->file, .line = cells[GPU].loc.line, .dtype = dtype_of(cells[DTYPE].text)};
    double time_us;

    if (!is_wanted(s, cells[GPU].text) || row.dtype == FR_N_DTYPES)
        return FR_OK;
    FR_TRY(read_size(&cells[M], "m", &row.shape.rows, err));
    FR_TRY(read_size(&cells[N], "n", &row.shape.columns, err));
    FR_TRY(read_size(&cells[K], "k", &row.shape.depth, err));
    FR_TRY(fr__cell_number(&cells[TIME_US], "time_us", 1e-3, 1e12, &time_us, err));
    FR_TRY(read_batch(&cells[NOTES], &row.shape.batch, err));
    FR_TRY(find_source(s->data, cells[SOURCE].text, &row.source, err));
    row.time_s = time_us * 1e-6;
    row.hash = hash_shape(&row.shape);
    if (!fr__grow(&s->data->rows, &s->data->cap, s->data->n_rows + 1, sizeof(row)))
        return fr__fail_nomem(err);
    s->data->rows[s->data->n_rows++] = row;
    return FR_OK;
}

enum fr_status fr__data_read(struct fr__data *d, const char *path, uint32_t file,
                             const char *const gpus[], size_t n_gpus, struct fr_error *err)
{
    struct scan s = {.data = d, .gpus = gpus, .n_gpus = n_gpus, .file = file};

    return fr__csv_read(path, columns, take_row, &s, err);
}

void fr__data_fini(struct fr__data *d)
{
    for (size_t i = 0; i < d->n_sources; i++)
        free(d->sources[i]);
    free(d->sources);
    free(d->rows);
    memset(d, 0, sizeof(*d));
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double quantile(const double sorted[], size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t low = (size_t)at;
    size_t high = low + 1 < n ? low + 1 : low;

    return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

struct fr_misses fr__misses_of(double signed_errors[], size_t n)
{
    struct fr_misses m = {.n = n};

    if (n == 0)
        return m;
    qsort(signed_errors, n, sizeof(*signed_errors), by_value);
    m.bias = quantile(signed_errors, n, 0.5);
    for (size_t i = 0; i < n; i++)
        signed_errors[i] = fabs(signed_errors[i]);
    qsort(signed_errors, n, sizeof(*signed_errors), by_value);
    m.median = quantile(signed_errors, n, 0.5);
    m.p90 = quantile(signed_errors, n, 0.9);
    m.worst = signed_errors[n - 1];
    return m;
}
