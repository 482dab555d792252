/* calibrate/fit/read/kernels.c - reads measured kernels of many kinds. The name of a kernel says
 * what its cells `shape` ("batch=32;heads=8;..."), `bytes` and `flops` hold. */
#include "config.h"

#include "base/dtype.h"
#include "base/error.h"
#include "calibrate/curves/class.h"
#include "calibrate/fit/read/data.h"

#include <string.h>

enum { SOURCE, GPU, KERNEL, SHAPE, DTYPE, BYTES, FLOPS, TIME_US, NOTES };
static const struct fr__csv_column columns[] = {
    {"source", false}, {"gpu", true},    {"kernel", true},  {"shape", true},  {"dtype", true},
    {"bytes", false},  {"flops", false}, {"time_us", true}, {"notes", false}, {NULL, false},
};

/* Reads a number that must be there. */
static enum fr_status need(const struct fr__cell *shape, const char *key, double *out,
                           struct fr_error *err)
{
    *out = 0;
    FR_TRY(fr__read_pair(shape, key, "a number in 'shape'", out, err));
    if (*out > 0)
        return FR_OK;
    return fr__fail(err, FR_EPARSE, shape->loc, "'shape' has no %s=N", key);
}

/* Reads a number that may be missing; it is 0 then. */
static enum fr_status may_read(const struct fr__cell *shape, const char *key, double *out,
                               struct fr_error *err)
{
    *out = 0;
    return fr__read_pair(shape, key, "a number in 'shape'", out, err);
}

/* Reads a matrix: rows=N;cols=N or tokens=N;hidden=N. Rows with other shapes were timed in another
 * way and are skipped. */
static enum fr_status read_matrix(const struct fr__cell *shape, double *rows, double *width,
                                  bool *is_known, struct fr_error *err)
{
    FR_TRY(may_read(shape, "rows", rows, err));
    if (*rows > 0)
        return need(shape, "cols", width, err);
    FR_TRY(may_read(shape, "tokens", rows, err));
    *is_known = *rows > 0;
    return *is_known ? need(shape, "hidden", width, err) : FR_OK;
}

static enum fr_status read_reduction(const struct fr__cell cells[], enum fr_dtype dtype,
                                     struct fr_kernel_shape *s, bool *is_known,
                                     struct fr_error *err)
{
    (void)dtype;
    return read_matrix(&cells[SHAPE], &s->rows.rows, &s->rows.columns, is_known, err);
}

static enum fr_status read_elementwise(const struct fr__cell cells[], enum fr_dtype dtype,
                                       struct fr_kernel_shape *s, bool *is_known,
                                       struct fr_error *err)
{
    static const char *const wrapped[] = {"addu", "gelu", "relu"};
    double rows, width;
    uint64_t bytes;

    (void)dtype;
    FR_TRY(read_matrix(&cells[SHAPE], &rows, &width, is_known, err));
    if (!*is_known)
        return FR_OK;
    FR_TRY(fr__cell_count(&cells[BYTES], "bytes", 1, UINT64_C(1) << 48, &bytes, err));
    s->memory.bytes = (double)bytes;
    for (size_t i = 0; i < sizeof(wrapped) / sizeof(wrapped[0]); i++)
        if (strcmp(cells[KERNEL].text, wrapped[i]) == 0)
            s->memory.is_wrapped = true;
    return FR_OK;
}

/* Reads a table lookup: rows of a table are read and written. A table cut over several GPUs (tp >
 * 1) is skipped, since that is more than a lookup. */
static enum fr_status read_lookup(const struct fr__cell cells[], enum fr_dtype dtype,
                                  struct fr_kernel_shape *s, bool *is_known, struct fr_error *err)
{
    double rows, width, parts;

    FR_TRY(read_matrix(&cells[SHAPE], &rows, &width, is_known, err));
    FR_TRY(may_read(&cells[SHAPE], "tp", &parts, err));
    *is_known = *is_known && parts <= 1;
    s->memory.bytes = 2 * rows * width * fr__dtype_bytes(dtype);
    return FR_OK;
}

/* Reads a kernel whose time depends on its bytes alone. */
static enum fr_status read_bytes(const struct fr__cell cells[], enum fr_dtype dtype,
                                 struct fr_kernel_shape *s, bool *is_known, struct fr_error *err)
{
    uint64_t bytes;

    (void)dtype;
    (void)is_known;
    FR_TRY(fr__cell_count(&cells[BYTES], "bytes", 1, UINT64_C(1) << 48, &bytes, err));
    s->memory.bytes = (double)bytes;
    return FR_OK;
}

/* Reads images that have `pixels` values in each channel. */
static enum fr_status read_batchnorm(const struct fr__cell cells[], enum fr_dtype dtype,
                                     struct fr_kernel_shape *s, bool *is_known,
                                     struct fr_error *err)
{
    double images, pixels;

    (void)dtype;
    (void)is_known;
    FR_TRY(need(&cells[SHAPE], "n", &images, err));
    FR_TRY(need(&cells[SHAPE], "c", &s->batchnorm.channels, err));
    FR_TRY(need(&cells[SHAPE], "pixels", &pixels, err));
    s->batchnorm.values = images * pixels;
    if (s->batchnorm.values * s->batchnorm.channels <= 0x1p48)
        return FR_OK;
    return fr__fail(err, FR_ERANGE, cells[SHAPE].loc,
                    "'shape' makes more than 2^48 values, which no GPU holds");
}

/* Reads attention over whole sequences; rows about a later part of a sequence (step > 0) are
 * skipped. */
static enum fr_status read_attention(const struct fr__cell cells[], enum fr_dtype dtype,
                                     struct fr_kernel_shape *s, bool *is_known,
                                     struct fr_error *err)
{
    const struct fr__cell *shape = &cells[SHAPE];

    (void)dtype;
    *is_known = strstr(shape->text, "step=0;") != NULL || strstr(shape->text, "step=") == NULL;
    FR_TRY(need(shape, "batch", &s->attention.batch, err));
    FR_TRY(need(shape, "isl", &s->attention.seq, err));
    FR_TRY(need(shape, "heads", &s->attention.heads, err));
    FR_TRY(need(shape, "kv_heads", &s->attention.kv_heads, err));
    s->attention.is_causal = strncmp(cells[KERNEL].text, "context", 7) == 0;
    return need(shape, "head_dim", &s->attention.head_dim, err);
}

/* Kernels that have a class; others are skipped. */
static const struct {
    const char *name;
    enum fr_curve_class op_class;
    enum fr_status (*read)(const struct fr__cell cells[], enum fr_dtype dtype,
                           struct fr_kernel_shape *s, bool *is_known, struct fr_error *err);
} kernels[] = {
    {"context_attention", FR_CURVE_ATTENTION, read_attention},
    {"full_attention", FR_CURVE_ATTENTION, read_attention},
    {"context_attention_backward", FR_CURVE_ATTENTION_BACKWARD, read_attention},
    {"full_attention_backward", FR_CURVE_ATTENTION_BACKWARD, read_attention},
    {"add", FR_CURVE_ELEMENTWISE, read_elementwise},
    {"addu", FR_CURVE_ELEMENTWISE, read_elementwise},
    {"copy", FR_CURVE_ELEMENTWISE, read_elementwise},
    {"div", FR_CURVE_ELEMENTWISE, read_elementwise},
    {"dropout_backward", FR_CURVE_ELEMENTWISE, read_elementwise},
    {"gelu", FR_CURVE_ELEMENTWISE, read_elementwise},
    {"mul", FR_CURVE_ELEMENTWISE, read_elementwise},
    {"relu", FR_CURVE_ELEMENTWISE, read_elementwise},
    {"tanh", FR_CURVE_ELEMENTWISE, read_elementwise},
    {"softmax", FR_CURVE_SOFTMAX, read_reduction},
    {"ln", FR_CURVE_LAYERNORM, read_reduction},
    {"input_layernorm", FR_CURVE_LAYERNORM, read_reduction},
    {"post_attention_layernorm", FR_CURVE_LAYERNORM, read_reduction},
    {"emb", FR_CURVE_EMBEDDING, read_lookup},
    {"emb_backward", FR_CURVE_EMBEDDING_BACKWARD, read_bytes},
    {"softmax_backward", FR_CURVE_SOFTMAX_BACKWARD, read_reduction},
    {"ln_backward", FR_CURVE_LAYERNORM_BACKWARD, read_reduction},
    {"batchnorm", FR_CURVE_BATCHNORM, read_batchnorm},
    {"batchnorm_backward", FR_CURVE_BATCHNORM_BACKWARD, read_batchnorm},
    {"maxpool", FR_CURVE_POOLING, read_bytes},
    {"avgpool", FR_CURVE_POOLING, read_bytes},
    {"maxpool_backward", FR_CURVE_POOLING_BACKWARD, read_bytes},
    {"avgpool_backward", FR_CURVE_POOLING_BACKWARD, read_bytes},
    {"dropout", FR_CURVE_DROPOUT, read_bytes},
    {"reduction", FR_CURVE_REDUCTION, read_bytes},
    {"column_sum", FR_CURVE_REDUCTION, read_bytes},
    {"transpose", FR_CURVE_TRANSPOSE, read_bytes},
    {"sgd", FR_CURVE_OPTIMIZER, read_bytes},
    {"momentum", FR_CURVE_OPTIMIZER, read_bytes},
    {"adam", FR_CURVE_OPTIMIZER, read_bytes},
};

/* Kernels whose time is that of starting them. Rows with fewer than least_nodes in `nodes`, or with
 * more bytes than an L2 cache moves in a tenth of a microsecond, are skipped, because something
 * else takes time there. */
static const struct {
    const char *name;
    enum fr_launch what;
    double least_nodes;
} launches[] = {
    {"launch_chain", FR_LAUNCH_GAP, 0},       {"launch_graph", FR_LAUNCH_GRAPH_GAP, 100},
    {"launch_host", FR_LAUNCH_HOST, 0},       {"launch_framework", FR_LAUNCH_FRAMEWORK, 0},
    {"small_scale_kernel", FR_LAUNCH_GAP, 0}, {"small_scale_kernel_graph", FR_LAUNCH_GRAPH_GAP, 0},
};
static const uint64_t LAUNCH_BYTES = 1 << 18;

/* Takes a row about launches. *is_one: it was one. */
static enum fr_status take_launch(struct fr__scan *s, const struct fr__cell cells[], bool *is_one,
                                  struct fr_error *err)
{
    uint64_t bytes = 0;
    double nodes;
    size_t i = 0;

    while (i < sizeof(launches) / sizeof(launches[0]) &&
           strcmp(launches[i].name, cells[KERNEL].text) != 0)
        i++;
    *is_one = i < sizeof(launches) / sizeof(launches[0]);
    if (!*is_one || !fr__scan_is_gpu(s, &cells[GPU]))
        return FR_OK;
    FR_TRY(may_read(&cells[SHAPE], "nodes", &nodes, err));
    if (cells[BYTES].text[0] != '\0')
        FR_TRY(fr__cell_count(&cells[BYTES], "bytes", 0, UINT64_C(1) << 48, &bytes, err));
    if (nodes < launches[i].least_nodes || bytes > LAUNCH_BYTES)
        return FR_OK;
    return fr__scan_add_launch(s, launches[i].what, &cells[SOURCE], &cells[TIME_US], err);
}

static enum fr_status take_row(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    enum fr_dtype dtype;
    bool is_launch;

    FR_TRY(take_launch(user, cells, &is_launch, err));
    if (is_launch)
        return FR_OK;
    if (!fr__scan_wants(user, &cells[GPU], &cells[DTYPE], &dtype))
        return FR_OK;
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        struct fr_kernel_shape shape = {.op_class = kernels[i].op_class};
        bool is_known = true;

        if (strcmp(kernels[i].name, cells[KERNEL].text) != 0)
            continue;
        FR_TRY(kernels[i].read(cells, dtype, &shape, &is_known, err));
        if (!is_known)
            return FR_OK;
        return fr__scan_add(user, &shape, dtype, &cells[SOURCE], &cells[TIME_US], "time_us", err);
    }
    return FR_OK;
}

const struct fr__layout fr__layout_kernels = {
    .mark = "kernel", .columns = columns, .take_row = take_row};
