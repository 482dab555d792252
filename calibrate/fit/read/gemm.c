/* calibrate/fit/read/gemm.c - measured matrix products: gpu, dtype, m, n, k, time_us. */
#include "config.h"

#include "base/error.h"
#include "calibrate/fit/read/data.h"

enum { SOURCE, GPU, DTYPE, M, N, K, TRANS, TIME_US, TFLOPS, NOTES };
static const struct fr__csv_column columns[] = {
    {"source", false}, {"gpu", true},    {"dtype", true},  {"m", true},
    {"n", true},       {"k", true},      {"trans", false}, {"time_us", true},
    {"tflops", false}, {"notes", false}, {NULL, false},
};

static enum fr_status take_row(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    struct fr_kernel_shape shape = {.op_class = FR_CURVE_MATMUL};
    enum fr_dtype dtype;

    if (!fr__scan_wants(user, &cells[GPU], &cells[DTYPE], &dtype))
        return FR_OK;
    shape.matmul.batch = 1;
    FR_TRY(fr__read_size(&cells[M], "m", &shape.matmul.rows, err));
    FR_TRY(fr__read_size(&cells[N], "n", &shape.matmul.columns, err));
    FR_TRY(fr__read_size(&cells[K], "k", &shape.matmul.depth, err));
    FR_TRY(fr__read_pair(&cells[NOTES], "batch", "the batch in 'notes'", &shape.matmul.batch, err));
    return fr__scan_add(user, &shape, dtype, &cells[SOURCE], &cells[TIME_US], "time_us", err);
}

const struct fr__layout fr__layout_gemm = {.mark = "m", .columns = columns, .take_row = take_row};
