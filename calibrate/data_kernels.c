/* calibrate/data_kernels.c - other measured kernels: the name of the kernel says what the cells
 * `shape` ("batch=32;heads=8;..."), `bytes` and `flops` hold. */
#include "config.h"

#include "base/error.h"
#include "calibrate/data.h"

#include <string.h>

enum { SOURCE, GPU, KERNEL, SHAPE, DTYPE, BYTES, FLOPS, TIME_US, NOTES };
static const struct fr__csv_column columns[] = {
    {"source", false}, {"gpu", true},    {"kernel", true},  {"shape", true},  {"dtype", true},
    {"bytes", false},  {"flops", false}, {"time_us", true}, {"notes", false}, {NULL, false},
};

/* A number that must be there. */
static enum fr_status need(const struct fr__cell *shape, const char *key, double *out,
                           struct fr_error *err)
{
    *out = 0;
    FR_TRY(fr__read_pair(shape, key, "a number in 'shape'", out, err));
    if (*out > 0)
        return FR_OK;
    return fr__fail(err, FR_EPARSE, shape->loc, "'shape' has no %s=N", key);
}

/* Causal attention over a whole prompt; rows with an earlier part of it (step > 0) are passed over. */
static enum fr_status read_prefill(const struct fr__cell cells[], struct fr_shape *s,
                                   bool *is_known, struct fr_error *err)
{
    const struct fr__cell *shape = &cells[SHAPE];

    *is_known = strstr(shape->text, "step=0;") != NULL || strstr(shape->text, "step=") == NULL;
    FR_TRY(need(shape, "batch", &s->attention.batch, err));
    FR_TRY(need(shape, "isl", &s->attention.seq, err));
    FR_TRY(need(shape, "heads", &s->attention.heads, err));
    FR_TRY(need(shape, "kv_heads", &s->attention.kv_heads, err));
    s->attention.is_causal = true;
    return need(shape, "head_dim", &s->attention.head_dim, err);
}

/* Kernels that have a class; others are passed over. */
static const struct {
    const char *name;
    enum fr_curve_class op_class;
    enum fr_status (*read)(const struct fr__cell cells[], struct fr_shape *s, bool *is_known,
                           struct fr_error *err);
} kernels[] = {
    {"context_attention", FR_CURVE_ATTENTION, read_prefill},
};

static enum fr_status take_row(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    enum fr_dtype dtype;

    if (!fr__scan_wants(user, &cells[GPU], &cells[DTYPE], &dtype))
        return FR_OK;
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        struct fr_shape shape = {.op_class = kernels[i].op_class};
        bool is_known = true;

        if (strcmp(kernels[i].name, cells[KERNEL].text) != 0)
            continue;
        FR_TRY(kernels[i].read(cells, &shape, &is_known, err));
        if (!is_known)
            return FR_OK;
        return fr__scan_add(user, &shape, dtype, &cells[SOURCE], &cells[TIME_US], "time_us", err);
    }
    return FR_OK;
}

const struct fr__layout fr__layout_kernels = {
    .mark = "kernel", .columns = columns, .take_row = take_row};
