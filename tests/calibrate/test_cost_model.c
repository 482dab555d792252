/* Costs from curves: whose curve, how it moves to another device, and what it leaves out. */
#include "config.h"

#include "calibrate/cost/model.h"
#include "calibrate/cost/relatives.h"
#include "calibrate/messages/model.h"
#include "calibrate/cost/borrowed.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An A100 80 GB and, under other names, what has twice its rates. */
static struct fr_device_type gpu(const char *name, double factor)
{
    return (struct fr_device_type){
        .name = name,
        .is_gpu = true,
        .mem_bytes = UINT64_C(80) << 30,
        .mem_Bps = 2039e9 * factor,
        .flops_per_s = {[FR_FP32] = 19.5e12 * factor,
                        [FR_TF32] = 156e12 * factor,
                        [FR_FP16] = 312e12 * factor,
                        [FR_BF16] = 312e12 * factor},
        .vector_flops_per_s = 19.5e12 * factor,
        .n_sms = 108,
        .launch_s = 5e-6,
    };
}

static struct fr_cost_model *model_of(const struct fr_device_type types[], size_t n,
                                      bool datasheet_only)
{
    const struct fr_cost_options o = {.datasheet_only = datasheet_only};
    struct fr_cost_model *m = NULL;
    struct fr_error err;

    ck_assert_msg(fr_cost_model_new(&m, types, n, &o, &err) == FR_OK, "%s", err.text);
    return m;
}

/* T4: 900 of the 1590 MHz of its peak; L4: 795 of 2040 (data sheet). */
TEST(boards_of_70_watts_keep_less_of_their_peak)
{
    ck_assert_double_eq_tol(fr__sustained_ratio("t4", "v100-pcie-32gb"), 900.0 / 1590, 1e-12);
    ck_assert_double_eq_tol(fr__sustained_ratio("l4", "t4"), 795.0 / 2040 / (900.0 / 1590), 1e-12);
    ck_assert_double_eq(fr__sustained_ratio("h200-sxm-141gb", "h100-sxm5-80gb"), 1);
    ck_assert_double_eq(fr__sustained_ratio("t4", "t4"), 1);
    ck_assert_double_eq(fr__sustained_ratio("mine", "yours"), 1);
}

TEST(boards_of_a_chip_are_nearer_than_its_generation_and_that_than_the_next)
{
    ck_assert_int_eq(fr__kinship("v100-sxm2-16gb", "v100-sxm2-16gb"), 0);
    ck_assert_int_lt(fr__kinship("v100-sxm2-16gb", "v100-sxm2-16gb"),
                     fr__kinship("v100-sxm2-16gb", "v100-pcie-32gb"));
    ck_assert_int_lt(fr__kinship("v100-sxm2-16gb", "v100-pcie-32gb"),
                     fr__kinship("v100-sxm2-16gb", "t4-16gb"));
    ck_assert_int_lt(fr__kinship("a100-sxm4-80gb", "a40-48gb"),
                     fr__kinship("a100-sxm4-80gb", "h100-sxm5-80gb"));
    ck_assert_int_lt(fr__kinship("a100-sxm4-80gb", "h100-sxm5-80gb"),
                     fr__kinship("a100-sxm4-80gb", "v100-sxm2-16gb")); /* the newer neighbour */
    ck_assert_int_eq(fr__kinship("v100-sxm2-16gb", "my-own"), FR__NO_RELATIVE);
    ck_assert_int_eq(fr__kinship("l4-24gb", "l40s-48gb"), 3); /* one generation, two dies */
    ck_assert_int_lt(fr__kinship("rtx3090", "a40"), fr__kinship("rtx3090", "a100-sxm4-80gb"));
    ck_assert_int_lt(fr__kinship("a30", "a100-sxm4-80gb"), fr__kinship("a30", "a40"));
}

TEST(an_h200_is_an_h100_with_more_memory_and_an_a100_is_not)
{
    ck_assert(fr__is_same_die("h200-sxm-141gb", "h100-sxm5-80gb"));
    ck_assert(fr__is_same_die("gb200-186gb", "b200-sxm-180gb"));
    ck_assert(fr__is_same_die("v100-sxm2-16gb", "v100-pcie-32gb"));
    ck_assert(!fr__is_same_die("h200-sxm-141gb", "a100-sxm4-80gb"));
    ck_assert(!fr__is_same_die("h200-sxm-141gb", "b200-sxm-180gb"));
    ck_assert(!fr__is_same_die("my-own", "my-own"));
}

TEST(boards_that_lower_their_clocks_lend_to_others_only_where_nobody_else_does)
{
    /* a T4 of 70 W is nearer to an A100 than a V100 is, and comes after it all the same */
    ck_assert_int_gt(fr__kinship("a100-sxm4-80gb", "t4"), fr__kinship("a100-sxm4-80gb", "v100"));
    ck_assert_int_lt(fr__kinship("a100-sxm4-80gb", "t4"), FR__NO_RELATIVE);
    ck_assert_int_lt(fr__kinship("p4", "p100-pcie-16gb"), fr__kinship("p4", "t4"));
    ck_assert_int_lt(fr__kinship("l4", "t4"), fr__kinship("l40s", "t4"));
}

/* fp16 was measured; tf32 borrows it; fp8 is a format that an A100 has not got. */
TEST(a_measured_device_has_its_own_curves_and_borrows_the_rest)
{
    struct fr_device_type a100 = gpu("a100-sxm4-80gb", 1);
    struct fr_cost_model *m = model_of(&a100, 1, false);

    ck_assert_int_eq(fr__cost_model_curve(m, 0, FR_CURVE_MATMUL, FR_FP16).trust,
                     FR_TRUST_CALIBRATED);
    ck_assert_int_eq(fr__cost_model_curve(m, 0, FR_CURVE_MATMUL, FR_TF32).trust,
                     FR_TRUST_TRANSFERRED);
    ck_assert_str_eq(fr__cost_model_curve(m, 0, FR_CURVE_MATMUL, FR_TF32).from, "a100-sxm4-80gb");
    ck_assert_ptr_null(fr__cost_model_curve(m, 0, FR_CURVE_MATMUL, FR_FP8).curve);
    fr_cost_model_free(m);
}

/* No relative of an A100 is among them: a Pascal chip has a file of its own all the same, and a
 * Kepler chip borrows from Pascal, at 0.26 more than the curve's own error (transfer.h). */
TEST(old_chips_have_curves_too)
{
    const struct fr_device_type types[] = {*fr_device_type_find("p100-sxm2-16gb"),
                                           *fr_device_type_find("k80-die")};
    struct fr_cost_model *m = model_of(&types[0], 1, false);
    struct fr__known p100 = fr__cost_model_curve(m, 0, FR_CURVE_CONV_FORWARD, FR_FP32), k80;

    ck_assert_ptr_nonnull(p100.curve);
    ck_assert_str_eq(p100.from, "p100-pcie-16gb");
    fr_cost_model_free(m);
    m = model_of(&types[1], 1, false);
    k80 = fr__cost_model_curve(m, 0, FR_CURVE_CONV_FORWARD, FR_FP32);
    ck_assert_ptr_nonnull(k80.curve);
    ck_assert_str_eq(k80.from, "p100-pcie-16gb");
    ck_assert_int_eq(k80.trust, FR_TRUST_TRANSFERRED);
    ck_assert_double_eq_tol(
        k80.error_frac, hypot(fr__error_of_median(k80.curve->info.held_out.median), 0.26), 1e-12);
    ck_assert_ptr_null(
        fr__cost_model_curve(m, 0, FR_CURVE_MATMUL, FR_FP16).curve); /* no such units */
    fr_cost_model_free(m);
}

/* All parameters but the launch are fractions of the peaks, but for the start and end of a tile: a
 * board with twice the rates takes half the rest, exactly where tiles are large. */
TEST(a_relative_with_twice_the_rates_takes_half_as_long)
{
    struct fr_device_type types[] = {gpu("a100-sxm4-80gb", 1), gpu("a100-pcie-80gb-x2", 2)};
    struct fr_cost_model *m = model_of(types, 2, false);
    const struct fr_kernel_shape shape = {.op_class = FR_CURVE_MATMUL,
                                          .matmul = {1, 8192, 8192, 8192}};
    struct fr__known own = fr__cost_model_curve(m, 0, FR_CURVE_MATMUL, FR_FP16);
    struct fr__known moved = fr__cost_model_curve(m, 1, FR_CURVE_MATMUL, FR_FP16);

    ck_assert_int_eq(moved.trust, FR_TRUST_TRANSFERRED);
    ck_assert_double_eq_tol(fr__kernel_s(&moved, &shape) / fr__kernel_s(&own, &shape), 0.5, 0.01);
    fr_cost_model_free(m);
}

/* The curve holds for the whole call, launch and all; a kernel keeps at most 2.6 us of that. */
TEST(a_kernel_leaves_out_the_launch_that_was_measured_with_it)
{
    struct fr_device_type h100 = gpu("h100-sxm5-80gb", 1);
    struct fr_cost_model *m = model_of(&h100, 1, false);
    struct fr__known k = fr__cost_model_curve(m, 0, FR_CURVE_MATMUL, FR_FP32);
    const struct fr_kernel_shape tiny = {.op_class = FR_CURVE_MATMUL, .matmul = {1, 8, 8, 8}};

    ck_assert_double_gt(k.curve->info.parameters[0], 10e-6); /* a framework's call */
    ck_assert_double_lt(fr__kernel_s(&k, &tiny), 10e-6);
    ck_assert_double_gt(fr__kernel_s(&k, &tiny), 0);
    fr_cost_model_free(m);
}

/* 4096^3: 2 x 6.87e10 FLOPs; at 312e12 and at most all of it, no less than 440 us. */
TEST(ops_are_priced_by_curves_unless_the_datasheet_is_asked_for)
{
    const struct fr_workload_options opt = {.batch = 32, .dtype = FR_BF16};
    struct fr_device_type types[] = {gpu("a100-sxm4-80gb", 1), gpu("my-own", 1)};
    struct fr_cost_model *curves = model_of(types, 2, false), *sheet = model_of(types, 2, true);
    const struct fr_part part = {.batch = 32};
    struct fr_graph *g = NULL;
    struct fr_error err;
    struct fr_cost a, b, c;
    uint32_t op = 0;

    ck_assert_int_eq(fr_workload_load(&g, "bert-large", &opt, &err), FR_OK);
    while (strcmp(g->ops[op].name, "layer3.mlp.fc1") != 0)
        ck_assert_uint_lt(++op, (uint32_t)g->n_ops);
    fr_cost_op(curves, 0, g, op, &part, &a);
    fr_cost_op(sheet, 0, g, op, &part, &b);
    fr_cost_op(curves, 1, g, op, &part, &c);
    ck_assert_int_eq(a.trust, FR_TRUST_CALIBRATED);
    ck_assert_int_eq(b.trust, FR_TRUST_DATASHEET);
    ck_assert_int_eq(c.trust, FR_TRUST_DATASHEET); /* nobody knows a device of that name */
    ck_assert_double_eq(b.mean_s, c.mean_s);
    ck_assert_double_gt(a.mean_s, g->ops[op].flops / 312e12);
    ck_assert_double_lt(a.mean_s, 2 * g->ops[op].flops / 312e12);
    ck_assert_double_eq(fmax(a.flops_s, a.bytes_s), a.mean_s);
    fr_graph_free(g);
    fr_cost_model_free(curves);
    fr_cost_model_free(sheet);
}

/* Time of one product of BERT in a precision on a built-in type, and how it is known. */
static double product_s(const char *device, enum fr_dtype dtype, bool datasheet_only,
                        enum fr_trust *trust)
{
    const struct fr_workload_options opt = {.batch = 32, .dtype = dtype};
    struct fr_cost_model *m = model_of(fr_device_type_find(device), 1, datasheet_only);
    const struct fr_part part = {.batch = 32};
    struct fr_graph *g = NULL;
    struct fr_error err;
    struct fr_cost c;
    uint32_t op = 0;

    ck_assert_int_eq(fr_workload_load(&g, "bert-large", &opt, &err), FR_OK);
    while (strcmp(g->ops[op].name, "layer3.mlp.fc1") != 0)
        ck_assert_uint_lt(++op, (uint32_t)g->n_ops);
    fr_cost_op(m, 0, g, op, &part, &c);
    fr_graph_free(g);
    fr_cost_model_free(m);
    *trust = c.trust;
    return c.mean_s;
}

TEST(a_format_without_arithmetic_takes_the_time_of_the_one_it_runs_in)
{
    static const struct {
        const char *device;
        enum fr_dtype asked, runs;
    } rows[] = {{"v100-sxm2-16gb", FR_BF16, FR_FP32}, {"v100-sxm2-16gb", FR_TF32, FR_FP32},
                {"v100-sxm2-16gb", FR_FP8, FR_FP16},  {"p100-pcie-16gb", FR_TF32, FR_FP32},
                {"a100-sxm4-80gb", FR_FP8, FR_BF16},  {"p4", FR_FP16, FR_FP32}};
    enum fr_trust asked, runs;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (unsigned sheet = 0; sheet < 2; sheet++) {
            double got = product_s(rows[i].device, rows[i].asked, sheet, &asked);

            ck_assert_double_eq(got, product_s(rows[i].device, rows[i].runs, sheet, &runs));
            ck_assert_int_eq(asked, runs);
            ck_assert_int_eq(asked == FR_TRUST_DATASHEET, sheet);
        }
}

/* In fp16 an A100's layer normalisation was measured in an inference server, at 40 % of the
 * bandwidth; in fp32, on the PCIe board, in PyTorch. PyTorch's fp16 on an A100
 * (PrincetonUniversity/LLMCompass, framework's call included) goes from 8192 to 16384 rows of
 * 4096 in 76 us: 16384 take 153 without the call. The fp32 kernel moves twice the bytes. */
TEST(layer_normalisation_is_a_frameworks_on_another_board_of_the_chip)
{
    struct fr_device_type a100 = gpu("a100-sxm4-80gb", 1);
    struct fr_cost_model *m = model_of(&a100, 1, false);
    const struct fr_kernel_shape shape = {.op_class = FR_CURVE_LAYERNORM, .rows = {16384, 4096}};
    struct fr__known k = fr__cost_model_curve(m, 0, FR_CURVE_LAYERNORM, FR_FP32);

    ck_assert_int_eq(strncmp(k.from, "a100-pcie", 9), 0);
    ck_assert_int_eq(k.trust, FR_TRUST_TRANSFERRED);
    ck_assert_double_gt(fr__kernel_s(&k, &shape), 2 * 153e-6 * 0.8);
    ck_assert_double_lt(fr__kernel_s(&k, &shape), 2 * 153e-6 * 1.4);
    /* additions too, and products are the device's own still */
    ck_assert_int_eq(
        strncmp(fr__cost_model_curve(m, 0, FR_CURVE_ELEMENTWISE, FR_FP32).from, "a100-pcie", 9), 0);
    ck_assert_str_eq(fr__cost_model_curve(m, 0, FR_CURVE_MATMUL, FR_TF32).from, "a100-sxm4-80gb");
    fr_cost_model_free(m);
}

TEST(a_users_device_file_comes_before_another_board)
{
    struct fr_device_type a100 = gpu("a100-sxm4-80gb", 1);
    const struct fr_cost_options o = {.device_file = "a100-sxm4-80gb"};
    struct fr_cost_model *m = NULL;
    struct fr_error err;
    struct fr__known k;

    ck_assert_int_eq(fr_cost_model_new(&m, &a100, 1, &o, &err), FR_OK);
    k = fr__cost_model_curve(m, 0, FR_CURVE_LAYERNORM, FR_FP32);
    ck_assert_str_eq(k.from, "a100-sxm4-80gb");
    ck_assert_int_eq(k.trust, FR_TRUST_CALIBRATED);
    fr_cost_model_free(m);
}

TEST(a_device_file_for_another_device_is_refused)
{
    struct fr_device_type type = gpu("my-own", 1);
    const struct fr_cost_options o = {.device_file = "a100-sxm4-80gb"};
    struct fr_cost_model *m = NULL;
    struct fr_error err;

    ck_assert_int_eq(fr_cost_model_new(&m, &type, 1, &o, &err), FR_ENOENT);
    ck_assert_ptr_nonnull(strstr(err.text, "a100-sxm4-80gb"));
    ck_assert_ptr_null(m);
}

/* On its own data sheet a curve says the same; a device without fp8 has no curve for it. */
TEST(curves_move_whole_and_only_to_formats_that_a_device_has)
{
    const struct fr_kernel_shape shape = {.op_class = FR_CURVE_MATMUL,
                                          .matmul = {1, 512, 768, 1024}};
    const struct fr_device_type *own = fr_device_type_find("h100-sxm5-80gb");
    const struct fr_device_type *v100 = fr_device_type_find("v100-sxm2-16gb");
    struct fr_calibration *c = NULL, *moved = NULL;
    struct fr_error err;
    size_t i, n = 0;

    ck_assert_int_eq(fr_calibration_load(&c, "h100-sxm5-80gb", &err), FR_OK);
    ck_assert_int_eq(fr_calibration_move(&moved, c, own, &err), FR_OK);
    for (i = 0; fr_calibration_curve(c, i); i++)
        if (fr_calibration_curve(c, i)->op_class == FR_CURVE_MATMUL)
            ck_assert_double_eq(fr_calibration_time_s(c, i, &shape),
                                fr_calibration_time_s(moved, i, &shape));
    fr_calibration_free(moved);
    ck_assert_int_eq(fr_calibration_move(&moved, c, v100, &err), FR_OK);
    while (fr_calibration_curve(moved, n))
        n++;
    ck_assert_uint_lt(n, i);
    ck_assert_uint_eq(fr_calibration_find(moved, FR_CURVE_MATMUL, FR_FP8), SIZE_MAX);
    i = fr_calibration_find(moved, FR_CURVE_MATMUL, FR_FP32);
    n = fr_calibration_find(c, FR_CURVE_MATMUL, FR_FP32);
    ck_assert_double_gt(fr_calibration_time_s(moved, i, &shape),
                        fr_calibration_time_s(c, n, &shape));
    fr_calibration_free(moved);
    fr_calibration_free(c);
}

/* ---- collectives ---- */

static struct fr_cost_model *model_with(const struct fr_topo_system systems[], size_t n,
                                        bool datasheet_only)
{
    const struct fr_cost_options o = {
        .datasheet_only = datasheet_only, .systems = systems, .n_systems = n};
    const struct fr_device_type none = {.name = "cpu"};
    struct fr_cost_model *m = NULL;
    struct fr_error err;

    ck_assert_msg(fr_cost_model_new(&m, &none, 1, &o, &err) == FR_OK, "%s", err.text);
    return m;
}

/* Ways that are 1000 times slower vanish. 4 GPUs, 80 MB: 10 us, 6 steps of 1 us, and 20 MB at
 * 100 GB/s in each of 6 steps: of 1216 us the bytes take 1200. The rows held out are off by a
 * median of 5 %, which of a normal distribution lies 0.67449 standard deviations out. */
TEST(a_collective_costs_what_its_machines_system_says)
{
    const char *path = "test_calibrate_cost_model.system.yaml";
    struct fr_system s = {.info = {.name = "own",
                                   .source = "by hand",
                                   .most_gpus = 4,
                                   .n_fitted = 1,
                                   .has_rings = true,
                                   .has_all_to_all = true,
                                   .held_out = {[FR_SYSTEM_ALL_REDUCE] = {.n = 9, .median = 0.05},
                                                [FR_SYSTEM_ALL_GATHER] = {.n = 9}},
                                   .parameters = {10e-6, 1e-6, 100e9, 10e-3, 1e-3, 1e8, 10e-3, 1e-3,
                                                  1e8, 0, 0, 5e-6, 2e-6, 50e9, 10e-3, 1e-3, 1e8}}};
    const struct fr_topo_system systems[] = {{.name = "h100-nvswitch"}, {.name = path}};
    struct fr_system_call call = {FR_SYSTEM_ALL_REDUCE, 4, 80e6, true, 1};
    struct fr_cost cost = {.mean_s = -1};
    struct fr_cost_model *m;
    struct fr_error err;

    ck_assert_int_eq(fr_system_write(&s, path, &err), FR_OK);
    m = model_with(systems, 2, false);
    remove(path);
    ck_assert(fr_cost_collective(m, 1, &call, &cost));
    ck_assert_double_eq_tol(cost.mean_s, 1216e-6, 1e-12);
    ck_assert_double_eq_tol(cost.bytes_s, 1200e-6, 1e-10);
    ck_assert_double_eq_tol(cost.error_frac, log(1.05) / 0.67449, 1e-12);
    ck_assert_int_eq(cost.trust, FR_TRUST_CALIBRATED);
    ck_assert_int_eq(cost.kind, FR_N_OP_KINDS);
    ck_assert_double_eq(cost.launch_s + cost.flops_s, 0);
    call.op = FR_SYSTEM_ALL_GATHER; /* half the steps */
    ck_assert(fr_cost_collective(m, 1, &call, &cost));
    ck_assert_double_eq_tol(cost.mean_s, 613e-6, 1e-12);
    call.op = FR_SYSTEM_REDUCE_SCATTER; /* never judged */
    ck_assert(!fr_cost_collective(m, 1, &call, &cost));
    fr_cost_model_free(m);
}

/* Measured on 2 and 4 GPUs: 3 are moved, at twice the error; a file that does not say which numbers
 * were measured covers all up to the most. */
TEST(a_number_of_gpus_that_was_not_measured_is_moved_with_a_larger_error)
{
    const char *path = "test_calibrate_cost_model.counts.yaml";
    struct fr_system s = {
        .info = {.name = "own",
                 .source = "by hand",
                 .most_gpus = 4,
                 .n_fitted = 1,
                 .has_rings = true,
                 .held_out = {[FR_SYSTEM_ALL_REDUCE] = {.n = 9, .median = 0.05}},
                 .parameters = {10e-6, 1e-6, 100e9, 10e-3, 1e-3, 1e8, 10e-3, 1e-3, 1e8}}};
    const struct fr_topo_system system = {.name = path};
    struct fr_system_call call = {FR_SYSTEM_ALL_REDUCE, 2, 80e6, true, 1};
    struct fr_cost measured, moved;
    struct fr_error err;

    for (unsigned is_known = 0; is_known < 2; is_known++) {
        struct fr_cost_model *m;

        s.info.gpu_counts = is_known ? 1 << 1 | 1 << 3 : 0;
        ck_assert_int_eq(fr_system_write(&s, path, &err), FR_OK);
        m = model_with(&system, 1, false);
        remove(path);
        call.n_gpus = 2;
        ck_assert(fr_cost_collective(m, 0, &call, &measured));
        ck_assert_int_eq(measured.trust, FR_TRUST_CALIBRATED);
        call.n_gpus = 3;
        ck_assert(fr_cost_collective(m, 0, &call, &moved));
        ck_assert_int_eq(moved.trust, is_known ? FR_TRUST_TRANSFERRED : FR_TRUST_CALIBRATED);
        ck_assert_double_eq_tol(moved.error_frac, (is_known ? 2 : 1) * measured.error_frac, 1e-12);
        fr_cost_model_free(m);
    }
}

/* Systems whose ways are near each other: bytes alone and the rest alone still make the whole. */
TEST(the_bytes_of_a_collective_take_a_part_of_its_time)
{
    const struct fr_topo_system system = {.name = "h100-nvswitch"};
    struct fr_cost_model *m = model_with(&system, 1, false);
    double last = 0;

    for (double bytes = 1; bytes < 1e12; bytes *= 7) {
        struct fr_cost cost;

        ck_assert(fr_cost_collective(
            m, 0, &(struct fr_system_call){FR_SYSTEM_ALL_REDUCE, 8, bytes, true, 1}, &cost));
        ck_assert_double_ge(cost.bytes_s, last);
        ck_assert_double_le(cost.bytes_s, cost.mean_s);
        last = cost.bytes_s;
    }
    fr_cost_model_free(m);
}

TEST(what_no_system_was_fitted_to_has_no_cost)
{
    const struct fr_topo_system system = {.name = "a100-nvswitch"};
    struct fr_cost_model *m = model_with(&system, 1, false);
    struct fr_system_call call = {FR_SYSTEM_ALL_REDUCE, 8, 1e6, true, 1};
    struct fr_cost cost = {.mean_s = -1};

    ck_assert(!fr_cost_collective(m, FR_NONE, &call, &cost));
    ck_assert(!fr_cost_collective(m, 1, &call, &cost));
    call.n_gpus = 9;
    ck_assert(!fr_cost_collective(m, 0, &call, &cost));
    call.n_gpus = 1;
    ck_assert(!fr_cost_collective(m, 0, &call, &cost));
    call.n_gpus = 8;
    call.n_nodes = 2;
    ck_assert(!fr_cost_collective(m, 0, &call, &cost));
    call.n_nodes = 1;
    ck_assert_double_eq(cost.mean_s, -1);
    fr_cost_model_free(m);
    m = model_with(&system, 1, true); /* rooflines only */
    call.n_gpus = 8;
    ck_assert(!fr_cost_collective(m, 0, &call, &cost));
    fr_cost_model_free(m);
}

/* What a system over several machines of 4 GPUs costs, in a file of its own under the name. */
static struct fr_cost_model *model_of_nodes(unsigned most_nodes)
{
    const char *path = "test_calibrate_cost_model.nodes.yaml";
    const struct fr_topo_system system = {.name = path};
    struct fr_system s = {
        .info = {.name = "own",
                 .source = "by hand",
                 .nodes = {.most_gpus = 4 * most_nodes,
                           .most_nodes = most_nodes,
                           .n_fitted = 1,
                           .held_out = {[FR_SYSTEM_ALL_REDUCE] = {.n = 9, .median = 0.1}},
                           .choice = {100e9, 100e9, 100e9, false},
                           .has_way = {[FR_SYSTEM_RING_SIMPLE] = true},
                           .ways = {[FR_SYSTEM_RING_SIMPLE] = {20e-6, 10e-6, 1e-6, 50e9}}}}};
    struct fr_cost_model *m;
    struct fr_error err;

    ck_assert_msg(fr_system_write(&s, path, &err) == FR_OK, "%s", err.text);
    m = model_with(&system, 1, false);
    remove(path);
    return m;
}

/* 8 GPUs on 2 machines, 400 MB: 14 steps, of these 2 from machine to machine. 20 us + 2 x 10 us
 * + 12 x 1 us, and 50 MB at 50 GB/s in each of 14 steps: 14 ms. */
TEST(a_collective_over_machines_costs_what_their_system_says)
{
    struct fr_cost_model *m = model_of_nodes(2);
    struct fr_system_call call = {FR_SYSTEM_ALL_REDUCE, 8, 400e6, true, 2};
    struct fr_cost cost = {.mean_s = -1};

    ck_assert(fr_cost_collective(m, 0, &call, &cost));
    ck_assert_double_eq_tol(cost.mean_s, 14e-3 + 52e-6, 1e-12);
    ck_assert_double_eq_tol(cost.bytes_s, 14e-3, 1e-10);
    ck_assert_double_eq_tol(cost.error_frac, log(1.1) / 0.67449, 1e-12);
    ck_assert_int_eq(cost.trust, FR_TRUST_CALIBRATED);
    fr_cost_model_free(m);
}

static const struct far_call {
    unsigned most_nodes, n_nodes, n_gpus;
    int trust; /* FR_N_TRUSTS: no cost */
} far_calls[] = {
    {2, 2, 8, FR_TRUST_CALIBRATED},
    {2, 2, 4, FR_N_TRUSTS},
    {2, 2, 16, FR_N_TRUSTS},
    {2, 3, 12, FR_N_TRUSTS},
    {2, 1, 4, FR_N_TRUSTS},
    {4, 2, 8, FR_TRUST_CALIBRATED},
    {4, 4, 16, FR_TRUST_CALIBRATED},
    {4, 5, 20, FR_TRUST_TRANSFERRED},
    {4, 64, 256, FR_TRUST_TRANSFERRED},
    {4, 80, 320, FR_N_TRUSTS},
};

/* As many GPUs a machine as were measured; of machines more are a guess, which two give no
 * ground for. */
LOOP_TEST(a_fit_over_machines_is_taken_for_such_machines_and_marked_beyond, 0,
          sizeof(far_calls) / sizeof(far_calls[0]))
{
    const struct far_call *f = &far_calls[_i];
    struct fr_cost_model *m = model_of_nodes(f->most_nodes);
    struct fr_system_call call = {FR_SYSTEM_ALL_REDUCE, f->n_gpus, 1e6, true, f->n_nodes};
    struct fr_cost cost = {.mean_s = -1};

    ck_assert_int_eq(fr_cost_collective(m, 0, &call, &cost), f->trust < FR_N_TRUSTS);
    if (f->trust < FR_N_TRUSTS)
        ck_assert_int_eq(cost.trust, f->trust);
    call.op = FR_SYSTEM_ALL_GATHER; /* a ring could, but nobody judged it */
    ck_assert(!fr_cost_collective(m, 0, &call, &cost));
    fr_cost_model_free(m);
}

TEST(an_unknown_system_is_refused_where_the_topology_names_it)
{
    const struct fr_topo_system system = {.name = "a100-nvswich", .loc = {"mine.yaml", 7, 18}};
    const struct fr_cost_options o = {.systems = &system, .n_systems = 1};
    const struct fr_device_type none = {.name = "cpu"};
    struct fr_cost_model *m = NULL;
    struct fr_error err;

    ck_assert_int_eq(fr_cost_model_new(&m, &none, 1, &o, &err), FR_ENOENT);
    ck_assert_str_eq(err.file, "mine.yaml");
    ck_assert_uint_eq(err.line, 7);
    ck_assert_uint_eq(err.col, 18);
    ck_assert_msg(strstr(err.text, "did you mean 'a100-nvswitch'?"), "%s", err.text);
}

int main(void)
{
    TCase *t = tcase_create("all");

    add_tests(t);
    return run_case(t, "calibrate/cost_model");
}
