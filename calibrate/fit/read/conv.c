/* calibrate/fit/read/conv.c - measured convolutions: one row has up to three times, the forward
 * pass and the gradients of the input and of the filter. */
#include "config.h"

#include "base/error.h"
#include "calibrate/fit/read/data.h"

enum { SOURCE, GPU, DTYPE, N, C, H, W, K, R, S, STRIDE, PAD, FORWARD, DATA, FILTER, NOTES };
static const struct fr__csv_column columns[] = {
    {"source", false},
    {"gpu", true},
    {"dtype", true},
    {"n", true},
    {"c", true},
    {"h", true},
    {"w", true},
    {"k", true},
    {"r", true},
    {"s", true},
    {"stride", true},
    {"pad", true},
    {"fwd_us", true},
    {"bwd_data_us", false},
    {"bwd_filter_us", false},
    {"notes", false},
    {NULL, false},
};

static enum fr_status read_shape(const struct fr__cell cells[], struct fr_kernel_shape *s,
                                 struct fr_error *err)
{
    uint64_t pad;

    FR_TRY(fr__read_size(&cells[N], "n", &s->conv.images, err));
    FR_TRY(fr__read_size(&cells[C], "c", &s->conv.in_channels, err));
    FR_TRY(fr__read_size(&cells[H], "h", &s->conv.height, err));
    FR_TRY(fr__read_size(&cells[W], "w", &s->conv.width, err));
    FR_TRY(fr__read_size(&cells[K], "k", &s->conv.out_channels, err));
    FR_TRY(fr__read_size(&cells[R], "r", &s->conv.kernel_height, err));
    FR_TRY(fr__read_size(&cells[S], "s", &s->conv.kernel_width, err));
    FR_TRY(fr__read_size(&cells[STRIDE], "stride", &s->conv.stride, err));
    FR_TRY(fr__cell_count(&cells[PAD], "pad", 0, 1 << 20, &pad, err));
    s->conv.pad = (double)pad;
    s->conv.groups = 1;
    if (s->conv.kernel_height > s->conv.height + 2 * s->conv.pad)
        return fr__fail(err, FR_ERANGE, cells[R].loc,
                        "'r' is %.0f, higher than the padded input of %.0f", s->conv.kernel_height,
                        s->conv.height + 2 * s->conv.pad);
    if (s->conv.kernel_width > s->conv.width + 2 * s->conv.pad)
        return fr__fail(err, FR_ERANGE, cells[S].loc,
                        "'s' is %.0f, wider than the padded input of %.0f", s->conv.kernel_width,
                        s->conv.width + 2 * s->conv.pad);
    return FR_OK;
}

static enum fr_status take_row(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    static const enum fr_curve_class classes[] = {
        FR_CURVE_CONV_FORWARD, FR_CURVE_CONV_BACKWARD_DATA, FR_CURVE_CONV_BACKWARD_FILTER};
    struct fr_kernel_shape shape = {.op_class = FR_CURVE_CONV_FORWARD};
    enum fr_dtype dtype;

    if (!fr__scan_wants(user, &cells[GPU], &cells[DTYPE], &dtype))
        return FR_OK;
    FR_TRY(read_shape(cells, &shape, err));
    for (unsigned i = 0; i < 3; i++) {
        const struct fr__cell *time = &cells[FORWARD + i];

        shape.op_class = classes[i];
        if (time->text[0]) /* a time that the source did not measure is an empty cell */
            FR_TRY(fr__scan_add(user, &shape, dtype, &cells[SOURCE], time,
                                columns[FORWARD + i].name, err));
    }
    return FR_OK;
}

const struct fr__layout fr__layout_conv = {
    .mark = "fwd_us", .columns = columns, .take_row = take_row};
