/* tests/lowering/test_update.c - ways to run an optimizer's step: bytes and kernels counted from
 * the ops of each software's source, what they cost on a device, and their names. */
#include "config.h"

#include "lowering/placer.h"
#include "lowering/price.h"
#include "lowering/update.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* Element-wise ops of a chain by operands read and written, all of 4 bytes: "2" reads or writes
 * two, as w *= c does; 3 as a + b does. Word by word from the sources of the rows. */
static const struct {
    const char *name, *operands;
    double more_bytes; /* what a kernel moves in other sizes */
} chains[] = {
    /* decay: g + w d; buf *= m; buf += g; w -= lr buf */
    {"torch-sgd-loop", "3 2 3 3", 0},
    /* m *= b1; m += g; v *= b2; v += g g; sqrt; / c; + eps; w += m / d, which reads three */
    {"torch-adam-loop", "2 3 2 3 2 2 2 4", 0},
    {"torch-adam-foreach", "2 3 2 3 2 2 2 4", 0},
    {"torch-adamw-loop", "2 2 3 2 3 2 2 2 4", 0},
    /* one kernel: g read, m, v and w read and written */
    {"torch-adam-fused", "7", 0},
    {"keras-adam", "7", 0},
    {"apex-adam", "7", 0},
    /* m: b1 m, b1' g, +; v: b2 v, g g, b2' x, +; u: sqrt, + eps, m /; decay: d w, +; lr u; w - ;
     * three assignments */
    {"tf1-adamweightdecay", "2 2 3 2 2 2 3 2 2 3 2 3 2 3 2 2 2", 0},
    {"mindspore-adamweightdecay", "2 2 3 2 2 2 3 2 2 3 2 3 2 3 2 2 2", 0},
    /* lr w; d x; w -= x; one kernel of Adam */
    {"tf2-adamweightdecay", "2 2 3 7", 0},
    /* 1.0 w; Adam; d w; lr x; w - x; assign */
    {"paddle1-adam", "2 7 2 2 3 2", 0},
    /* g read, sum of blocks; sum of sums; g c */
    {"tf-clip", "1 0 2", 0},
    {"paddle1-clip", "2 1 2", 0},
    {"mindspore-clip", "2 1 2 2", 0},
    {"torch-clip-loop", "1 2", 0},
    /* g c; is_finite reads 4 bytes and writes 1, which two kernels reduce */
    {"keras-loss-scale", "2 0 0 0", 6},
    {"torch-unscale", "2", 0},
};

static const struct fr__update *row_named(const char *name)
{
    for (size_t i = 0; i < fr__n_updates; i++)
        if (strcmp(fr__updates[i].name, name) == 0)
            return &fr__updates[i];
    ck_abort_msg("no row '%s'", name);
}

LOOP_TEST(bytes_and_kernels_are_those_of_the_ops, 0, sizeof(chains) / sizeof(chains[0]))
{
    const struct fr__update *u = row_named(chains[_i].name);
    double bytes = chains[_i].more_bytes, kernels = 0;

    for (const char *at = chains[_i].operands; *at; at++)
        if (*at != ' ') {
            bytes += 4 * (*at - '0');
            kernels++;
        }
    ck_assert_msg(!(fabs(u->bytes - bytes) > 1e-9), "%s: %g bytes, not %g", u->name, u->bytes,
                  bytes);
    ck_assert_msg(!(u->kernels > 0) || !(fabs(u->kernels - kernels) > 1e-9),
                  "%s: %g kernels, not %g", u->name, u->kernels, kernels);
}

/* ---- what they cost ---- */

static struct fr_op ops[] = {{.kind = FR_OP_MATMUL},
                             {.kind = FR_OP_LAYERNORM},
                             {.kind = FR_OP_EMBEDDING},
                             {.kind = FR_OP_BIAS}};
enum { PRODUCT, NORM, TABLE, BIAS };

struct scene {
    struct fr_graph graph;
    struct fr_cost_model *costs;
    struct fr_problem in;
    struct fr__placer pl;
};

static void set_up(struct scene *s, unsigned elem_bytes)
{
    static const struct fr_cost_options usual = {.datasheet_only = false};
    struct fr_error err = {.text = ""};

    *s = (struct scene){.graph = {.ops = ops, .n_ops = 4, .param_elem_bytes = elem_bytes}};
    ck_assert_msg(fr_cost_model_new(&s->costs, fr_device_type_find("v100-sxm2-16gb"), 1, &usual,
                                    &err) == FR_OK,
                  "%s", err.text);
    s->in = (struct fr_problem){.graph = &s->graph, .costs = s->costs};
    s->pl = (struct fr__placer){.in = &s->in, .graph = &s->graph};
}

static double kernel_s(const struct scene *s, double bytes)
{
    struct fr_cost cost;

    fr_cost_bytes(s->costs, 0, bytes, FR_OP_GRAD_ADD, &cost);
    return cost.mean_s;
}

static struct fr_cost price(const struct scene *s, const char *name, uint32_t op, uint32_t tensors,
                            double parameters)
{
    uint64_t bytes = (uint64_t)parameters * s->graph.param_elem_bytes;
    const struct fr__owner w = {.op = op, .bytes = bytes, .n_tensors = tensors};
    struct fr_cost cost;

    fr__price_update(&s->pl, 0, row_named(name), &w, bytes, 1, &cost);
    return cost;
}

static void is_close(double a, double b)
{
    ck_assert_msg(!(fabs(a - b) > 1e-9 * fabs(b)), "%g, not %g", a, b);
}

TEST(a_chain_makes_its_kernels_for_each_tensor)
{
    struct scene s;
    struct fr_cost cost, least;
    double one_s;

    set_up(&s, 4);
    one_s = kernel_s(&s, 1);
    fr_cost_bytes(s.costs, 0, 1, FR_OP_GRAD_ADD, &least);
    /* 80 bytes of 50 million parameters in 8 kernels */
    cost = price(&s, "torch-adam-loop", PRODUCT, 1, 50e6);
    is_close(cost.mean_s, 8 * kernel_s(&s, 50e6 * 80 / 8));
    is_close(cost.launch_s, 8 * least.launch_s);
    /* a product's bias: eight more of a kernel's own time */
    is_close(price(&s, "torch-adam-loop", PRODUCT, 2, 50e6).mean_s, cost.mean_s + 8 * one_s);
    /* a norm's two tensors are not decayed: 15 of 17 kernels each */
    cost = price(&s, "tf1-adamweightdecay", NORM, 2, 1536);
    is_close(cost.mean_s, 15 * kernel_s(&s, 1536 * 156 / 15.) + 15 * one_s);
    is_close(cost.launch_s, 30 * least.launch_s);
    /* nearly as many bytes as at the rate, but a bias takes what a launch does */
    ck_assert(price(&s, "torch-adam-loop", BIAS, 1, 768).mean_s > 8 * 1e-6);
    fr_cost_model_free(s.costs);
}

TEST(kernels_over_lists_only_move_bytes)
{
    struct scene s;
    struct fr_cost cost;
    double rate_s;

    set_up(&s, 4);
    rate_s = kernel_s(&s, 1e9) / 1e9;
    is_close(price(&s, "torch-adam-foreach", PRODUCT, 2, 50e6).mean_s, 80 * 50e6 * rate_s);
    is_close(price(&s, "torch-adam-foreach", BIAS, 1, 768).mean_s, 80 * 768 * rate_s);
    /* between two ways the bytes differ, and nothing else */
    is_close(price(&s, "torch-adamw-foreach", PRODUCT, 2, 50e6).mean_s -
                 price(&s, "torch-adam-fused", PRODUCT, 2, 50e6).mean_s,
             60 * 50e6 * rate_s);
    /* 36 tensors a launch */
    cost = price(&s, "apex-adam", PRODUCT, 72, 50e6);
    is_close(cost.launch_s, 2 * 36 * price(&s, "apex-adam", PRODUCT, 1, 50e6).launch_s);
    is_close(cost.mean_s, 28 * 50e6 * rate_s);
    fr_cost_model_free(s.costs);
}

TEST(weights_of_16_bits_are_made_of_masters)
{
    struct scene s;
    double rate_s;

    set_up(&s, 2);
    rate_s = kernel_s(&s, 1e9) / 1e9;
    is_close(price(&s, "apex-adam", PRODUCT, 1, 50e6).mean_s, 34 * 50e6 * rate_s);
    is_close(price(&s, "torch-adam-fused", PRODUCT, 1, 50e6).mean_s, 28 * 50e6 * rate_s);
    fr_cost_model_free(s.costs);
}

TEST(a_table_with_sparse_gradients_moves_more_and_a_drain_waits)
{
    struct scene s;
    double rate_s;

    set_up(&s, 4);
    rate_s = kernel_s(&s, 1e9) / 1e9;
    is_close(price(&s, "tf2-adamweightdecay", TABLE, 1, 23e6).mean_s,
             4 * kernel_s(&s, 23e6 * 166 / 4));
    is_close(price(&s, "tf2-adamweightdecay", PRODUCT, 1, 23e6).mean_s,
             4 * kernel_s(&s, 23e6 * 56 / 4));
    /* 30 us a tensor, as .item() takes */
    is_close(price(&s, "deepspeed-fp16-adam", PRODUCT, 5, 23e6).mean_s,
             28 * 23e6 * rate_s + 5 * 30e-6);
    fr_cost_model_free(s.costs);
}

/* ---- names ---- */

TEST(names_read_back_and_a_wrong_one_is_refused)
{
    struct fr_error err = {.text = ""};
    uint64_t rows = 7;
    char text[192];

    ck_assert(fr__n_updates <= FR__MOST_UPDATES);
    ck_assert_int_eq(fr__updates_read(&rows, "none", "--update", &err), FR_OK);
    ck_assert_uint_eq(rows, 0);
    ck_assert_str_eq(fr__updates_text(rows, text, sizeof(text)), "none");
    ck_assert_int_eq(fr__updates_read(&rows, "tf-clip+mxnet-sgd+keras-adam", "--update", &err),
                     FR_OK);
    ck_assert_str_eq(fr__updates_text(rows, text, sizeof(text)), "keras-adam+mxnet-sgd+tf-clip");
    ck_assert_str_eq(fr__update_of(rows, FR_ADAM)->name, "keras-adam");
    ck_assert_str_eq(fr__update_of(rows, FR_MOMENTUM)->name, "mxnet-sgd");
    ck_assert_ptr_null(fr__update_of(rows, FR_SGD));
    ck_assert_str_eq(fr__updates_text(fr__updates_of_gradients(rows), text, sizeof(text)),
                     "tf-clip");
    ck_assert_int_eq(fr__updates_read(&rows, "apex-adan", "--update", &err), FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "'apex-adam'"));
    ck_assert_int_eq(fr__updates_read(&rows, "apex-adam+keras-adam", "--update", &err), FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "of one optimizer"));
}

int main(void)
{
    TCase *tc = tcase_create("update");

    add_tests(tc);
    return run_case(tc, "update");
}
