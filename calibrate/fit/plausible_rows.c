/* calibrate/fit/plausible_rows.c - the limit of how fast a measured kernel may be: some times what
 * the data sheet of its device allows. A column in another unit is far beyond it.
 */
#include "config.h"

#include "calibrate/fit/plausible_rows.h"

#include "base/error.h"
#include "calibrate/fit/read/data.h"

/* How many times the fastest format's peak, or the memory bandwidth, a kernel may be: small tensors
 * stay in caches, and figures of data sheets are for base clocks. */
static const double MOST_TIMES = 20;

static double conv_flops(const struct fr_kernel_shape *k)
{
    double height = k->conv.out_height, width = k->conv.out_width;
    double groups = k->conv.groups > 0 ? k->conv.groups : 1;

    if (height <= 0)
        height = (k->conv.height + 2 * k->conv.pad - k->conv.kernel_height) / k->conv.stride + 1;
    if (width <= 0)
        width = (k->conv.width + 2 * k->conv.pad - k->conv.kernel_width) / k->conv.stride + 1;
    return 2 * k->conv.images * height * width * k->conv.out_channels * k->conv.in_channels /
           groups * k->conv.kernel_height * k->conv.kernel_width;
}

/* What the kernel does, in FLOPs or bytes; 0: not looked at. */
static double work_of(const struct fr_kernel_shape *k, bool *is_memory)
{
    *is_memory = false;
    switch (k->op_class) {
    case FR_CURVE_MATMUL:
        return 2 * k->matmul.batch * k->matmul.rows * k->matmul.columns * k->matmul.depth;
    case FR_CURVE_CONV_FORWARD:
    case FR_CURVE_CONV_BACKWARD_DATA:
    case FR_CURVE_CONV_BACKWARD_FILTER:
        return conv_flops(k);
    case FR_CURVE_ELEMENTWISE:
    case FR_CURVE_EMBEDDING:
        *is_memory = true;
        return k->memory.bytes;
    default:
        return 0;
    }
}

enum fr_status fr__rows_plausible(const struct fr__data *d, const struct fr_device_type *type,
                                  const char *const paths[], struct fr_error *err)
{
    double peak = type->vector_flops_per_s;

    for (unsigned i = 0; i < FR_N_DTYPES; i++)
        peak = type->flops_per_s[i] > peak ? type->flops_per_s[i] : peak;
    for (size_t i = 0; i < d->n_rows; i++) {
        const struct fr__measured *r = &d->rows[i];
        bool is_memory;
        double work = work_of(&r->shape, &is_memory);
        double times = work / r->time_s / (is_memory ? type->mem_Bps : peak);

        if (times > MOST_TIMES)
            return fr__fail(err, FR_ERANGE, (struct fr_loc){paths[r->file], r->line, 1},
                            "a kernel that takes %g s is %.3g times as fast as %s of '%s': is the "
                            "time in another unit? --allow-implausible goes on",
                            r->time_s, times, is_memory ? "the memory" : "the highest peak",
                            type->name);
    }
    return FR_OK;
}
