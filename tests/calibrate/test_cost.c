/* Costs of single ops: the roofline by hand, samples exact, scaled and interpolated. */
#include "config.h"

#include "calibrate/calibrate.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Round numbers, so that expectations can be done in the head. */
static const struct fr_device_type gpu = {
    .name = "test-gpu",
    .is_gpu = true,
    .mem_bytes = 1u << 30,
    .mem_Bps = 1e12,
    .flops_per_s = {[FR_FP32] = 10e12, [FR_FP16] = 100e12},
    .vector_flops_per_s = 10e12,
    .launch_s = 5e-6,
};

static struct fr_graph *graph;

enum { MATMUL, RELU, VIEW, UPDATE, LAYER, TIED, N_OPS };

/* Batch 8. The layer has samples at batch 4, 8 and 16 but neither FLOPs nor bytes. */
static void build(void)
{
    static const struct fr_op ops[N_OPS] = {
        [MATMUL] = {.name = "fc.matmul",
                    .kind = FR_OP_MATMUL,
                    .flops = 80e9,
                    .bytes = 8e6,
                    .param_bytes = 4000000,
                    .scales = true,
                    .phase = FR_PHASE_FORWARD,
                    .forward = FR_NONE},
        [RELU] = {.name = "fc.relu",
                  .kind = FR_OP_RELU,
                  .flops = 1e6,
                  .bytes = 87e6,
                  .scales = true,
                  .phase = FR_PHASE_FORWARD,
                  .forward = FR_NONE},
        [VIEW] = {.name = "fc.view",
                  .kind = FR_OP_RESHAPE,
                  .scales = true,
                  .phase = FR_PHASE_FORWARD,
                  .forward = FR_NONE},
        [UPDATE] = {.name = "fc.update",
                    .kind = FR_OP_UPDATE,
                    .param_bytes = 8700000,
                    .phase = FR_PHASE_UPDATE,
                    .forward = FR_NONE},
        [LAYER] = {.name = "rest",
                   .kind = FR_OP_LAYER,
                   .scales = true,
                   .phase = FR_PHASE_FORWARD,
                   .forward = FR_NONE},
        [TIED] = {.name = "fc.again",
                  .kind = FR_OP_MATMUL,
                  .bytes = 3.5e6,
                  .scales = true,
                  .phase = FR_PHASE_FORWARD,
                  .forward = FR_NONE},
    };
    struct fr_graph_builder *b = fr_graph_builder_new();
    const struct fr_graph info = {
        .name = "hand", .source = "test", .batch = 8, .dtype = FR_FP16, .param_elem_bytes = 2};
    struct fr_error err;

    ck_assert_ptr_nonnull(b);
    for (uint32_t i = 0; i < N_OPS; i++)
        ck_assert_uint_eq(fr_graph_builder_op(b, &ops[i], NULL, NULL, 0), i);
    fr_graph_builder_tie(b, MATMUL, TIED);
    fr_graph_builder_sample(b, MATMUL, "test-gpu", 8, 3e-3);
    fr_graph_builder_sample(b, MATMUL, "test-gpu", 8, 5e-3);
    fr_graph_builder_sample(b, MATMUL, "*", 8, 7e-3);
    fr_graph_builder_sample(b, UPDATE, "test-gpu", 8, 1e-3);
    fr_graph_builder_sample(b, LAYER, "test-gpu", 4, 1e-3);
    fr_graph_builder_sample(b, LAYER, "test-gpu", 8, 4e-3);
    fr_graph_builder_sample(b, LAYER, "test-gpu", 16, 8e-3);
    ck_assert_int_eq(fr_graph_builder_finish(b, &info, &graph, &err), FR_OK);
    fr_graph_builder_free(b);
}

static void tear_down(void)
{
    fr_graph_free(graph);
}

static struct fr_cost cost_of(const struct fr_device_type *type, uint32_t op, double batch)
{
    const struct fr_cost_options rooflines = {.datasheet_only = true};
    const struct fr_part part = {.batch = batch};
    struct fr_cost_model *m = NULL;
    struct fr_error err;
    struct fr_cost c;

    ck_assert_int_eq(fr_cost_model_new(&m, type, 1, &rooflines, &err), FR_OK);
    fr_cost_op(m, 0, graph, op, &part, &c);
    fr_cost_model_free(m);
    return c;
}

static struct fr_cost cost(uint32_t op, double batch)
{
    return cost_of(&gpu, op, batch);
}

static struct fr_cost cost_on_other(uint32_t op, double batch, double vector_flops_per_s)
{
    struct fr_device_type other = gpu;

    other.name = "other-gpu";
    other.vector_flops_per_s = vector_flops_per_s;
    return cost_of(&other, op, batch);
}

/* 3.5 MB of its own, which scale, and the 4 MB of fc.matmul's parameters, which do not, at 0.75 of
 * 1e12 B/s: 10 us; half the batch 5.75 MB. */
TEST(a_forward_op_reads_the_parameters_it_is_tied_to)
{
    ck_assert_double_eq_tol(cost(TIED, 8).mean_s, 7.5e6 / 0.75e12, 1e-16);
    ck_assert_double_eq_tol(cost(TIED, 4).mean_s, 5.75e6 / 0.75e12, 1e-16);
}

/* relu: 87e6 bytes at 1e12 B/s times 0.87 = 100 us, far above its 1e6 FLOPs; half the batch,
 * half. */
TEST(a_memory_bound_op_takes_its_bytes_over_the_stated_bandwidth)
{
    struct fr_cost c = cost(RELU, 8);

    ck_assert_double_eq_tol(c.mean_s, 1e-4, 1e-16);
    ck_assert_double_eq_tol(cost(RELU, 4).mean_s, 0.5e-4, 1e-16);
    ck_assert_int_eq(c.trust, FR_TRUST_DATASHEET);
    ck_assert_double_eq(c.launch_s, 5e-6);
    /* with 1e9 FLOP/s the 1e6 FLOPs take 1 ms and bind */
    ck_assert_double_eq_tol(cost_on_other(RELU, 8, 1e9).mean_s, 1e-3, 1e-15);
}

TEST(a_view_takes_no_time_and_no_launch)
{
    struct fr_cost c = cost(VIEW, 8);

    ck_assert_double_eq(c.mean_s, 0);
    ck_assert_double_eq(c.launch_s, 0);
}

TEST(samples_of_the_device_type_beat_those_of_any_and_are_averaged)
{
    struct fr_cost c = cost(MATMUL, 8);

    ck_assert_double_eq_tol(c.mean_s, 4e-3, 1e-15);
    /* 3 and 5 ms: standard deviation sqrt(2) ms */
    ck_assert_double_eq_tol(c.spread_frac, 1.41421356237309505 / 4, 1e-12);
    ck_assert_int_eq(c.trust, FR_TRUST_PROFILED);
    ck_assert_double_eq(c.launch_s, 0);
    ck_assert_double_eq_tol(cost_on_other(MATMUL, 8, 1e12).mean_s, 7e-3, 1e-15);
}

/* matmul: 80 GFLOP over 100 TFLOP/s binds at both batches (8 MB take microseconds), so the curve is
 * proportional to the batch and so is the scaled sample. */
TEST(a_sample_moves_to_another_batch_by_the_ratio_of_the_curves)
{
    struct fr_cost c = cost(MATMUL, 2);

    ck_assert_double_eq_tol(c.mean_s, 1e-3, 1e-15);
    ck_assert_int_eq(c.trust, FR_TRUST_SCALED);
    ck_assert_double_eq(c.launch_s, 0);
}

TEST(parameters_do_not_shrink_with_the_batch)
{
    struct fr_device_type slow = gpu;
    struct fr_cost c;

    slow.name = "slow-memory";
    slow.mem_Bps = 1e6; /* memory binds: at 0.75 of 1e6 B/s, (8e6 + 4e6) / 0.75e6 = 16 s */
    c = cost_of(&slow, MATMUL, 2);
    /* sample "*": 7 ms at batch 8; bytes at batch 2: 2e6 + 4e6 = half of 12e6 */
    ck_assert_double_eq_tol(c.mean_s, 3.5e-3, 1e-15);
}

/* ratios per sample: 0.25 ms at batch 4, 0.5 ms at 8 and 16. At 6: half way, 0.375 * 6. */
TEST(between_two_sampled_batches_the_ratio_is_interpolated)
{
    ck_assert_double_eq_tol(cost(LAYER, 6).mean_s, 2.25e-3, 1e-15);
    ck_assert_double_eq_tol(cost(LAYER, 12).mean_s, 6e-3, 1e-15);
    ck_assert_double_eq_tol(cost(LAYER, 2).mean_s, 0.5e-3, 1e-15);
    ck_assert_double_eq_tol(cost(LAYER, 32).mean_s, 16e-3, 1e-15);
    ck_assert_int_eq(cost(LAYER, 6).trust, FR_TRUST_SCALED);
    ck_assert_int_eq(cost(LAYER, 16).trust, FR_TRUST_PROFILED);
}

TEST(an_op_that_does_not_scale_keeps_its_measured_time)
{
    struct fr_cost c = cost(UPDATE, 1);

    ck_assert_double_eq(c.mean_s, 1e-3);
    ck_assert_int_eq(c.trust, FR_TRUST_PROFILED);
}

TEST(streaming_bytes_costs_what_a_memory_bound_op_costs)
{
    const struct fr_cost_options rooflines = {.datasheet_only = true};
    struct fr_cost_model *m = NULL;
    struct fr_error err;
    struct fr_cost c;

    ck_assert_int_eq(fr_cost_model_new(&m, &gpu, 1, &rooflines, &err), FR_OK);
    fr_cost_bytes(m, 0, 8.7e6, FR_OP_GRAD_ADD, &c);
    ck_assert_double_eq_tol(c.mean_s, 1e-5, 1e-17);
    ck_assert_double_eq(c.launch_s, 5e-6);
    ck_assert_int_eq(c.trust, FR_TRUST_DATASHEET);
    fr_cost_bytes(m, 0, 0, FR_OP_GRAD_ADD, &c);
    ck_assert_double_eq(c.mean_s + c.launch_s, 0);
    fr_cost_model_free(m);
}

/* A fraction of a peak lies in (0, 1] and says where it comes from, for every kind. */
TEST(every_kind_of_op_has_an_efficiency_with_a_source)
{
    for (int k = 0; k < FR_N_OP_KINDS; k++) {
        struct fr_efficiency e = fr_efficiency_of((enum fr_op_kind)k);

        ck_assert_msg(e.source && strlen(e.source) > 10, "%s", fr_op_kind_name((enum fr_op_kind)k));
        ck_assert(e.flops_frac > 0 && e.flops_frac <= 1);
        ck_assert(e.bytes_frac > 0 && e.bytes_frac <= 1);
    }
    for (int t = 0; t < FR_N_TRUSTS; t++)
        ck_assert_str_ne(fr_trust_name((enum fr_trust)t), "unknown");
}

int main(void)
{
    TCase *c = tcase_create("cost");

    tcase_add_checked_fixture(c, build, tear_down);
    add_tests(c);
    return run_case(c, "calibrate/cost");
}
