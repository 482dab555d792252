/* How images lie in memory, and what convolutions cost for it: the transposes of NCHW. */
#include "config.h"

#include "calibrate/calibrate.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <string.h>

enum { BATCH = 8 };

static struct fr_graph *load(enum fr_dtype dtype, enum fr_image_layout layout)
{
    const struct fr_workload_options opt = {.batch = BATCH, .dtype = dtype, .layout = layout};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, "resnet50", &opt, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(g->layout, layout);
    return g;
}

/* The last convolution of that phase, filter, and stride. */
static uint32_t find(const struct fr_graph *g, enum fr_phase phase, uint64_t filter,
                     uint64_t stride)
{
    uint32_t found = FR_NONE;

    for (uint32_t o = 0; o < g->n_ops; o++)
        if (g->ops[o].kind == FR_OP_CONV2D && g->ops[o].phase == phase &&
            g->ops[o].shape.conv.filter_height == filter &&
            g->ops[o].shape.conv.stride_height == stride)
            found = o;
    ck_assert_uint_ne(found, FR_NONE);
    return found;
}

static double seconds_of(const char *device, const struct fr_graph *g, uint32_t op)
{
    const struct fr_cost_options o = {.datasheet_only = false};
    const struct fr_part all = {.batch = BATCH};
    struct fr_cost_model *m;
    struct fr_cost cost;
    struct fr_error err;

    ck_assert_msg(fr_cost_model_new(&m, fr_device_type_find(device), 1, &o, &err) == FR_OK, "%s",
                  err.text);
    fr_cost_op(m, 0, g, op, &all, &cost);
    fr_cost_model_free(m);
    return cost.mean_s;
}

/* Seconds of a convolution in each layout. */
static void price(const char *device, enum fr_dtype dtype, enum fr_phase phase, uint64_t filter,
                  uint64_t stride, double s[FR_N_LAYOUTS])
{
    for (unsigned l = 0; l < FR_N_LAYOUTS; l++) {
        struct fr_graph *g = load(dtype, (enum fr_image_layout)l);

        s[l] = seconds_of(device, g, find(g, phase, filter, stride));
        fr_graph_free(g);
    }
}

TEST(tf32_transposes_unless_images_lie_pixel_by_pixel)
{
    double s[FR_N_LAYOUTS];

    for (unsigned phase = FR_PHASE_FORWARD; phase <= FR_PHASE_BACKWARD_WEIGHT; phase++) {
        price("a100-sxm4-80gb", FR_TF32, (enum fr_phase)phase, 3, 1, s);
        ck_assert_double_eq(s[FR_LAYOUT_DEFAULT], s[FR_LAYOUT_NCHW]);
        ck_assert_double_lt(s[FR_LAYOUT_NHWC], s[FR_LAYOUT_NCHW]);
    }
}

/* DeepBench measured 16 bits in NCHW: its rows hold the transposes. */
TEST(sixteen_bits_are_as_measured_unless_images_lie_pixel_by_pixel)
{
    double s[FR_N_LAYOUTS];

    price("v100-sxm2-16gb", FR_FP16, FR_PHASE_FORWARD, 3, 1, s);
    ck_assert_double_eq(s[FR_LAYOUT_DEFAULT], s[FR_LAYOUT_NCHW]);
    ck_assert_double_le(s[FR_LAYOUT_NHWC], s[FR_LAYOUT_NCHW]);
    price("a100-sxm4-80gb", FR_AMP, FR_PHASE_BACKWARD_WEIGHT, 3, 1, s);
    ck_assert_double_eq(s[FR_LAYOUT_DEFAULT], s[FR_LAYOUT_NCHW]);
    ck_assert_double_lt(s[FR_LAYOUT_NHWC], s[FR_LAYOUT_NCHW]);
}

TEST(fp32_products_as_they_lie_and_first_layers_have_one_price)
{
    static const struct {
        enum fr_dtype dtype;
        uint64_t filter, stride;
    } rows[] = {{FR_FP32, 3, 1}, {FR_TF32, 7, 2}};
    double s[FR_N_LAYOUTS];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        price("a100-sxm4-80gb", rows[i].dtype, FR_PHASE_FORWARD, rows[i].filter, rows[i].stride, s);
        ck_assert_double_eq(s[FR_LAYOUT_NHWC], s[FR_LAYOUT_NCHW]);
        ck_assert_double_eq(s[FR_LAYOUT_NHWC], s[FR_LAYOUT_DEFAULT]);
    }
}

/* ResNet-50 has 53 convolutions of 3 kernels each, the first without a gradient of its input. 16
 * are 3 x 3 and 3 are 1 x 1 of stride 2; of the others, 1 x 1, the 5 of images of 7 x 7 begin their
 * channels anywhere, in 16 bits also the 12 of 14 x 14: 196 numbers are no multiple of 8. */
TEST(a_graph_counts_the_transposes_of_its_convolutions)
{
    struct fr_graph *g = load(FR_FP16, FR_LAYOUT_NHWC);
    struct fr_layout_effect x, twice;
    double bytes = 0;

    fr_layout_effect_of(g, &x);
    ck_assert_uint_eq(x.n_convolutions, 3 * 53 - 1);
    ck_assert_uint_eq(x.n_transposes, 3 * 3 * (16 + 3 + 5 + 12));
    for (size_t o = 0; o < g->n_ops; o++) { /* each tensor of these is read and written once */
        const struct fr_op *op = &g->ops[o];

        if (op->kind == FR_OP_CONV2D && op->shape.conv.in_channels > 3 &&
            (op->shape.conv.filter_height > 1 || op->shape.conv.stride_height > 1 ||
             op->shape.conv.out_height * op->shape.conv.out_width % 8 > 0))
            bytes +=
                2 * (op->bytes +
                     2.0 * (double)(op->shape.conv.in_channels * op->shape.conv.out_channels *
                                    op->shape.conv.filter_height * op->shape.conv.filter_width));
    }
    ck_assert_double_eq_tol(x.bytes, bytes, 1e-9 * bytes);
    fr_graph_free(g);
    g = load(FR_TF32, FR_LAYOUT_NCHW);
    fr_layout_effect_of(g, &twice);
    ck_assert_uint_eq(twice.n_transposes, 3 * 3 * (16 + 3 + 5));
    ck_assert_double_lt(twice.bytes, 2 * x.bytes); /* of fewer numbers, of 4 bytes */
    ck_assert_double_gt(twice.bytes, x.bytes);
    fr_graph_free(g);
    g = load(FR_FP32, FR_LAYOUT_NHWC);
    fr_layout_effect_of(g, &x);
    ck_assert_uint_eq(x.n_transposes, 0);
    fr_graph_free(g);
}

int main(void)
{
    TCase *c = tcase_create("layout");

    add_tests(c);
    return run_case(c, "calibrate/layout");
}
