/* tests/calibrate/test_rates.c - what no op may be: faster than its device, or than its own parts.
 *
 * Whatever the kind, the phase, the device and the format, and whether the graph says the shape or
 * it is guessed, an op takes at least its FLOPs at the peak and its operands at the bandwidth of
 * memory. A backward op that holds both gradients takes what the two take apart.
 */
#include "config.h"

#include "calibrate/cost/kernel.h"
#include "calibrate/cost/relatives.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct fr_graph *load(const char *model, enum fr_dtype dtype, uint32_t batch)
{
    const struct fr_workload_options opt = {.dtype = dtype, .batch = batch};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, model, &opt, &err) == FR_OK, "%s", err.text);
    return g;
}

static uint32_t find_op(const struct fr_graph *g, const char *op)
{
    uint32_t i = 0;

    while (i < g->n_ops && strcmp(g->ops[i].name, op) != 0)
        i++;
    ck_assert_msg(i < g->n_ops, "no op is called %s", op);
    return i;
}

static struct fr_cost_model *model_of(const struct fr_device_type *type)
{
    const struct fr_cost_options options = {.datasheet_only = false};
    struct fr_cost_model *m = NULL;
    struct fr_error err;

    ck_assert_msg(fr_cost_model_new(&m, type, 1, &options, &err) == FR_OK, "%s", err.text);
    return m;
}

static double cost_s(const struct fr_cost_model *m, const struct fr_graph *g, uint32_t op)
{
    const struct fr_part part = {.batch = g->batch};
    struct fr_cost c;

    fr_cost_op(m, 0, g, op, &part, &c);
    return c.mean_s;
}

/* A graph with ops of its own, which a test may change; none has a shape. */
struct bare {
    struct fr_graph g;
    struct fr_op *ops; /* g's; the test frees them */
};

static struct bare without_shapes(const struct fr_graph *g)
{
    struct bare copy = {.g = *g, .ops = malloc(g->n_ops * sizeof(*copy.ops))};

    ck_assert_ptr_nonnull(copy.ops);
    memcpy(copy.ops, g->ops, g->n_ops * sizeof(*copy.ops));
    for (size_t i = 0; i < g->n_ops; i++)
        copy.ops[i].shape = (struct fr_shape){.of = FR_SHAPE_UNKNOWN};
    copy.g.ops = copy.ops;
    return copy;
}

/* ---- both gradients in one op ---- */

static const struct {
    const char *model, *first, *second; /* the op that gets the other's work, and that other */
} pairs[] = {
    {"resnet50", "layer1.0.conv2.dgrad", "layer1.0.conv2.wgrad"},
    {"resnet50", "layer2.0.conv2.dgrad", "layer2.0.conv2.wgrad"},
    {"resnet50", "layer3.1.conv3.dgrad", "layer3.1.conv3.wgrad"},
    {"resnet50", "layer3.1.conv3.wgrad", "layer3.1.conv3.dgrad"},
    {"alexnet", "conv2.dgrad", "conv2.wgrad"},
    {"vgg16", "fc6.dgrad", "fc6.wgrad"},
    {"gpt2-small", "layer0.mlp.fc1.dgrad", "layer0.mlp.fc1.wgrad"},
    {"gpt2-small", "layer0.attn.scores.dgrad0", "layer0.attn.scores.dgrad1"},
};
static const char *const devices[] = {"v100-sxm2-16gb", "a100-sxm4-80gb", "h100-sxm5-80gb", "t4"};
static const enum fr_dtype formats[] = {FR_FP32, FR_TF32, FR_AMP, FR_BF16};
enum { N_DEVICES = sizeof(devices) / sizeof(devices[0]) };
enum { N_FORMATS = sizeof(formats) / sizeof(formats[0]) };

/* What the second op does is added to the first, as an import that has one backward op a layer says
 * it. The halves of the merged op's bytes are not quite those of the two ops, which moves the
 * bound of kernels that only memory bounds. */
LOOP_TEST(both_gradients_in_one_op_take_what_they_take_apart, 0, sizeof(pairs) / sizeof(pairs[0]))
{
    for (size_t f = 0; f < N_FORMATS; f++) {
        struct fr_graph *g = load(pairs[_i].model, formats[f], 32);
        struct bare bare = without_shapes(g);
        uint32_t first = find_op(g, pairs[_i].first), second = find_op(g, pairs[_i].second);

        bare.ops[first].flops += bare.ops[second].flops;
        bare.ops[first].bytes += bare.ops[second].bytes;
        bare.ops[first].param_bytes += bare.ops[second].param_bytes;
        for (size_t d = 0; d < N_DEVICES; d++) {
            struct fr_cost_model *m = model_of(fr_device_type_find(devices[d]));
            double apart_s = cost_s(m, g, first) + cost_s(m, g, second);
            double merged_s = cost_s(m, &bare.g, first);

            ck_assert_msg(fabs(merged_s / apart_s - 1) < 0.03,
                          "%s of %s in %s on %s: %g s, apart %g s", pairs[_i].first,
                          pairs[_i].model, fr_dtype_name(formats[f]), devices[d], merged_s,
                          apart_s);
            fr_cost_model_free(m);
        }
        free(bare.ops);
        fr_graph_free(g);
    }
}

/* 32 images of 64 x 64, 64 channels in 1, 2, 8 and 64 groups, 3 x 3: FLOPs of a gradient are
 * 2 x 32 x 64 x 64 x 64 x 64 / groups x 9; a group of one channel is a depthwise layer. */
static struct fr_graph *grouped(double groups, bool is_merged)
{
    const struct fr_graph info = {
        .name = "groups", .batch = 32, .dtype = FR_FP32, .param_elem_bytes = 4};
    const struct fr_tensor image = {.bytes = UINT64_C(32) * 64 * 64 * 64 * 4,
                                    .alias = FR_NONE,
                                    .n_dims = 4,
                                    .dims = {32, 64, 64, 64},
                                    .scales = true};
    struct fr_op op = {.name = "in", .kind = FR_OP_INPUT, .forward = FR_NONE, .scales = true};
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_graph *g = NULL;
    struct fr_error err;

    op.phase = FR_PHASE_INPUT;
    fr_graph_builder_op(b, &op, NULL, &image, 1);
    op.phase = FR_PHASE_FORWARD;
    op.name = "conv";
    op.kind = FR_OP_CONV2D;
    op.flops = 2.0 * 32 * 64 * 64 * 64 * 64 / groups * 9;
    op.bytes = 2.0 * (double)image.bytes;
    op.param_bytes = (uint64_t)(64 * 64 / groups * 9 * 4);
    fr_graph_builder_op(b, &op, NULL, &image, 1);
    op.phase = FR_PHASE_BACKWARD_DATA;
    op.forward = 1;
    op.name = "conv.backward";
    op.flops *= is_merged ? 2 : 1;
    op.bytes *= is_merged ? 2 : 1;
    fr_graph_builder_op(b, &op, NULL, &image, 1);
    op.phase = FR_PHASE_BACKWARD_WEIGHT;
    op.name = "conv.wgrad";
    if (!is_merged)
        fr_graph_builder_op(b, &op, NULL, NULL, 0);
    fr_graph_builder_edge(b, 0, 1, 0, image.bytes);
    fr_graph_builder_edge(b, 1, 2, 1, image.bytes);
    ck_assert_msg(fr_graph_builder_finish(b, &info, &g, &err) == FR_OK, "%s", err.text);
    fr_graph_builder_free(b);
    return g;
}

LOOP_TEST(so_they_do_where_a_convolution_has_groups, 0, 4)
{
    static const double groups[] = {1, 2, 8, 64};
    struct fr_graph *merged = grouped(groups[_i], true), *apart = grouped(groups[_i], false);

    for (size_t d = 0; d < N_DEVICES; d++) {
        struct fr_cost_model *m = model_of(fr_device_type_find(devices[d]));

        ck_assert_double_eq_tol(cost_s(m, merged, 2) / (cost_s(m, apart, 2) + cost_s(m, apart, 3)),
                                1, 1e-9);
        fr_cost_model_free(m);
    }
    fr_graph_free(apart);
    fr_graph_free(merged);
}

/* Half of a merged op's samples are half of both of its kernels. */
TEST(a_part_of_both_gradients_is_a_part_of_each)
{
    struct fr_graph *merged = grouped(1, true), *apart = grouped(1, false);
    const struct fr_part half = {.batch = 16, .channel_parts = 2};
    struct fr_cost_model *m = model_of(fr_device_type_find("v100-sxm2-16gb"));
    struct fr_cost both, one, other;

    fr_cost_op(m, 0, merged, 2, &half, &both);
    fr_cost_op(m, 0, apart, 2, &half, &one);
    fr_cost_op(m, 0, apart, 3, &half, &other);
    ck_assert_double_eq_tol(both.mean_s / (one.mean_s + other.mean_s), 1, 1e-9);
    fr_cost_model_free(m);
    fr_graph_free(apart);
    fr_graph_free(merged);
}

/* ---- FLOPs that no shape has ---- */

/* An import may count what it likes: an op of a guessed shape does all of its FLOPs, none of them
 * faster than the peak of an A100 in bf16, and ten times as many take longer. */
static void ck_grows(const struct fr_cost_model *m, const struct bare *bare, uint32_t op)
{
    static const double times[] = {0.4, 0.8, 1, 1.2, 2, 3, 10};
    const struct fr_part part = {.batch = bare->g.batch};
    double flops = bare->ops[op].flops, once_s = cost_s(m, &bare->g, op), s = 0;

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct fr__kernel k;
        double done;

        bare->ops[op].flops = times[i] * flops;
        fr__kernel_of(&bare->g, op, &part, &k);
        done = k.flops * k.repeats * (k.is_pair ? 2 : 1);
        s = cost_s(m, &bare->g, op);
        ck_assert_msg(fabs(done / bare->ops[op].flops - 1) < 1e-9, "%s: %g of %g FLOPs",
                      bare->ops[op].name, done, bare->ops[op].flops);
        ck_assert_msg(s > bare->ops[op].flops / 312e12, "%s: %g FLOPs in %g s", bare->ops[op].name,
                      bare->ops[op].flops, s);
    }
    ck_assert_msg(s > once_s, "%s: %g s, of ten times the FLOPs %g", bare->ops[op].name, once_s, s);
    bare->ops[op].flops = flops;
}

LOOP_TEST(all_flops_of_an_op_without_a_shape_take_time, 0, 4)
{
    static const char *const models[] = {"lenet", "resnet18", "gpt2-small",
                                         "gpt2-small:attention=flash"};
    struct fr_graph *g = load(models[_i], FR_BF16, 8);
    struct bare bare = without_shapes(g);
    struct fr_cost_model *m = model_of(fr_device_type_find("a100-sxm4-80gb"));

    for (uint32_t o = 0; o < bare.g.n_ops; o++)
        if (fr_op_kind_is_product(bare.ops[o].kind) && bare.ops[o].flops > 0)
            ck_grows(m, &bare, o);
    fr_cost_model_free(m);
    free(bare.ops);
    fr_graph_free(g);
}

/* ---- no op is faster than its device ---- */

/* Products that Winograd's F(4 x 4, 3 x 3) and F(2 x 2, 5 x 5) save (Lavin and Gray, CVPR 2016):
 * 16 pixels of 9 products, or 4 of 25, for 36. */
static double saving_of(const struct fr_kernel_shape *s)
{
    double side = s->conv.kernel_height;

    if (s->conv.kernel_width < side || s->conv.kernel_width > side || s->conv.stride > 1 ||
        s->conv.groups > 1)
        return 1;
    return side > 2 && side < 4 ? 4 : side > 4 && side < 6 ? 100.0 / 36 : 1;
}

static double peak_of(const struct fr_device_type *d, enum fr_dtype dtype, enum fr_op_kind kind,
                      const struct fr__kernel *k)
{
    double peak = fr_device_type_peak_flops_per_s(d, dtype);

    if (!fr_op_kind_is_product(kind))
        return d->vector_flops_per_s;
    if (fr_device_type_arithmetic(d, dtype) == FR_FP8 && !k->is_8_bit)
        peak = fr_device_type_peak_flops_per_s(d, FR_BF16);
    if (kind == FR_OP_CONV2D && k->has_shape)
        peak = fmax(peak, fr_device_type_peak_flops_per_s(d, FR_FP32) * saving_of(&k->shape));
    return peak;
}

/* Operands and result of a matrix product, one byte a number or more; else 0. */
static double least_bytes(const struct fr__kernel *k, double bytes)
{
    if (!k->has_shape || k->shape.op_class != FR_CURVE_MATMUL)
        return 0;
    return bytes * k->shape.matmul.batch *
           ((k->shape.matmul.rows + k->shape.matmul.columns) * k->shape.matmul.depth +
            k->shape.matmul.rows * k->shape.matmul.columns);
}

static bool is_alike(const struct fr_op *a, const struct fr_op *b)
{
    return a->kind == b->kind && a->phase == b->phase && a->n_tensors == b->n_tensors &&
           a->param_bytes == b->param_bytes && !(a->flops < b->flops || a->flops > b->flops) &&
           !(a->bytes < b->bytes || a->bytes > b->bytes) &&
           memcmp(&a->shape, &b->shape, sizeof(a->shape)) == 0;
}

/* Lists the ops of which none before has the same shape: layers of a model are alike. ops: [n_ops]
 */
static size_t list_unlike(const struct fr_graph *g, uint32_t ops[])
{
    size_t n = 0, i;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        for (i = 0; i < n && !is_alike(&g->ops[ops[i]], &g->ops[o]); i++)
            ;
        if (i == n)
            ops[n++] = o;
    }
    return n;
}

/* Asserts on the ops of g on a device; returns how many there were. */
static size_t ck_possible(const struct fr_cost_model *m, const struct fr_device_type *d,
                          const struct fr_graph *g, const uint32_t ops[], size_t n_ops)
{
    const struct fr_part part = {.batch = g->batch};
    double bytes_each = g->dtype == FR_FP32 ? 4 : 1;
    size_t n = 0;

    for (size_t i = 0; i < n_ops; i++) {
        uint32_t o = ops[i];
        double s = cost_s(m, g, o), flops_s, bytes_s;
        struct fr__kernel k;

        if (!(s > 0))
            continue;
        fr__kernel_of(g, o, &part, &k);
        flops_s = g->ops[o].flops / peak_of(d, g->dtype, g->ops[o].kind, &k);
        bytes_s = (least_bytes(&k, bytes_each) - 2 * fr__cache_bytes(d->name)) / d->mem_Bps;
        ck_assert_msg(s >= flops_s * (1 - 1e-12) && s >= bytes_s * (1 - 1e-12),
                      "%s of %s, batch %u, in %s on %s: %g s, of FLOPs alone %g, of bytes %g",
                      g->ops[o].name, g->name, (unsigned)g->batch, fr_dtype_name(g->dtype), d->name,
                      s, flops_s, bytes_s);
        n++;
    }
    return n;
}

static const char *const models[] = {
    "lenet",      "alexnet",   "vgg16",        "resnet50", "inception-v3",
    "gpt2-small", "llama3-8b", "mixtral-8x7b", "t5-base",  "gpt3-125m:attention=flash"};

static void ck_model(const char *model, enum fr_dtype dtype, uint32_t batch)
{
    struct fr_graph *g = load(model, dtype, batch);
    struct bare bare = without_shapes(g);
    uint32_t *ops = calloc(g->n_ops, sizeof(*ops));
    const struct fr_device_type *d;
    size_t n = 0, n_ops;

    ck_assert_ptr_nonnull(ops);
    n_ops = list_unlike(g, ops);

    for (size_t i = 0; (d = fr_device_type_builtin(i)) != NULL; i++) {
        struct fr_cost_model *m;

        if (!d->is_gpu)
            continue;
        m = model_of(d);
        n += ck_possible(m, d, g, ops, n_ops);
        n += ck_possible(m, d, &bare.g, ops, n_ops);
        fr_cost_model_free(m);
    }
    ck_assert_uint_gt(n, 100);
    free(bare.ops);
    free(ops);
    fr_graph_free(g);
}

LOOP_TEST(no_op_is_faster_than_its_device, 0, sizeof(models) / sizeof(models[0]))
{
    for (unsigned dtype = 0; dtype < FR_N_DTYPES; dtype++) {
        ck_model(models[_i], (enum fr_dtype)dtype, 1);
        ck_model(models[_i], (enum fr_dtype)dtype, 64);
    }
}

/* One row times a large weight, in fp32: 25088 x 4096 numbers of 4 bytes are 411 MB, which a V100
 * of 900 GB/s and 6 MB of cache writes in 443 us at the least. The fit says 315. */
TEST(a_product_of_one_row_takes_the_time_to_move_its_weight)
{
    struct fr_graph *g = load("vgg16", FR_FP32, 1);
    struct fr_cost_model *m = model_of(fr_device_type_find("v100-sxm2-16gb"));

    ck_assert_double_ge(cost_s(m, g, find_op(g, "fc6.wgrad")),
                        (25088.0 * 4096 * 4 - 2 * 6 * 1048576) / 900e9);
    fr_cost_model_free(m);
    fr_graph_free(g);
}

int main(void)
{
    TCase *t = tcase_create("all");

    tcase_set_timeout(t, 120);
    add_tests(t);
    return run_case(t, "calibrate/rates");
}
