/* A memo of costs says what the cost model says, bit for bit. */
#include "config.h"

#include "calibrate/cost/memo.h"
#include "tests/support/base_check.h"

#include <stdlib.h>
#include <string.h>

struct memo_case {
    struct fr_topo *topo;
    struct fr_graph *graph;
    struct fr_cost_model *costs;
};

static void open_case(struct memo_case *c)
{
    const struct fr_cost_options o = {.datasheet_only = false};
    struct fr_error err;

    ck_assert_msg(fr_topo_load(&c->topo, "dgx1-v100", &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr_workload_load(&c->graph, "resnet50", NULL, &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr_cost_model_new(&c->costs, c->topo->types, c->topo->n_types, &o, &err) == FR_OK,
                  "%s", err.text);
}

static void close_case(struct memo_case *c)
{
    fr_cost_model_free(c->costs);
    fr_graph_free(c->graph);
    fr_topo_free(c->topo);
}

static void compare(const struct memo_case *c, struct fr_cost_memo *m, uint32_t type,
                    const struct fr_part *part)
{
    for (uint32_t op = 0; op < c->graph->n_ops; op++) {
        struct fr_cost want, got;

        memset(&want, 0, sizeof(want));
        memset(&got, 0, sizeof(got));
        fr_cost_op(c->costs, type, c->graph, op, part, &want);
        fr__cost_memo_op(m, type, op, part, &got);
        ck_assert_msg(memcmp(&want.mean_s, &got.mean_s, sizeof(want.mean_s)) == 0 &&
                          memcmp(&want.error_frac, &got.error_frac, sizeof(want.error_frac)) == 0 &&
                          memcmp(&want.flops_s, &got.flops_s, sizeof(want.flops_s)) == 0 &&
                          want.trust == got.trust && want.kind == got.kind,
                      "op %u", op);
    }
}

static void compare_bytes(const struct memo_case *c, struct fr_cost_memo *m)
{
    static const double bytes[] = {0, 1, 4096, 1e6, 1e9};

    for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
        for (int is_update = 0; is_update < 2; is_update++) {
            enum fr_op_kind kind = is_update ? FR_OP_UPDATE : FR_OP_GRAD_ADD;
            struct fr_cost want, got;

            fr_cost_bytes(c->costs, 0, bytes[i], kind, &want);
            fr__cost_memo_bytes(m, 0, bytes[i], kind, &got);
            ck_assert_msg(memcmp(&want.mean_s, &got.mean_s, sizeof(want.mean_s)) == 0 &&
                              want.kind == got.kind && want.trust == got.trust,
                          "%g bytes", bytes[i]);
        }
}

static void compare_products(const struct memo_case *c, struct fr_cost_memo *m)
{
    static const struct fr_cost_product products[] = {{4096, 4096, 1024, FR_BF16},
                                                      {4096, 1024, 4096, FR_BF16},
                                                      {4096, 4096, 1024, FR_FP32},
                                                      {6, 6, 25, FR_FP32}};

    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
        struct fr_cost want, got;

        fr_cost_product(c->costs, 0, &products[i], &want);
        fr__cost_memo_product(m, 0, &products[i], &got);
        ck_assert_double_gt(want.mean_s, 0);
        ck_assert_msg(memcmp(&want.mean_s, &got.mean_s, sizeof(want.mean_s)) == 0 &&
                          want.kind == got.kind && want.trust == got.trust,
                      "product %zu", i);
    }
}

/* Twice: the first time fills it. More pairs than it has tables for; parts, which it does not
 * keep. */
TEST(a_memo_says_what_the_model_says)
{
    struct memo_case c;
    struct fr_cost_memo *m;

    open_case(&c);
    m = fr__cost_memo_new(c.costs, c.graph);
    ck_assert_ptr_nonnull(m);
    for (int round = 0; round < 2; round++) {
        for (double batch = 1; batch < 80; batch++)
            compare(&c, m, 0, &(struct fr_part){.batch = batch});
        compare(&c, m, 0, &(struct fr_part){.batch = 32, .channel_parts = 2});
        compare(&c, m, 0, &(struct fr_part){.batch = 32, .input_parts = 4});
        compare(&c, m, 0, &(struct fr_part){.batch = 32});
        compare_bytes(&c, m);
        compare_products(&c, m);
    }
    fr__cost_memo_free(m);
    close_case(&c);
}

/* Dropout moves as many bytes forward and backward, and its forward pass also draws random numbers:
 * one that runs again for the backward pass is no gradient. */
TEST(a_memo_tells_an_op_that_runs_again_from_a_gradient)
{
    struct memo_case c;
    struct fr_graph *g = NULL, *own, changed;
    struct fr_cost_memo *m;
    struct fr_op *ops;
    struct fr_error err;
    size_t n = 0;

    open_case(&c);
    ck_assert_int_eq(fr_workload_load(&g, "bert-base", NULL, &err), FR_OK);
    ops = malloc(g->n_ops * sizeof(*ops));
    ck_assert_ptr_nonnull(ops);
    memcpy(ops, g->ops, g->n_ops * sizeof(*ops));
    for (size_t o = 0; o < g->n_ops; o++)
        if (ops[o].kind == FR_OP_DROPOUT && ops[o].phase == FR_PHASE_BACKWARD_DATA)
            ops[o].is_recomputed = n++ % 2 == 1;
    ck_assert_uint_gt(n, 10);
    changed = *g;
    changed.ops = ops;
    own = c.graph;
    m = fr__cost_memo_new(c.costs, &changed);
    ck_assert_ptr_nonnull(m);
    c.graph = &changed;
    compare(&c, m, 0, &(struct fr_part){.batch = 8});
    c.graph = own;
    fr__cost_memo_free(m);
    free(ops);
    fr_graph_free(g);
    close_case(&c);
}

int main(void)
{
    TCase *tc = tcase_create("memo");

    tcase_set_timeout(tc, 20);
    add_tests(tc);
    return run_case(tc, "memo");
}
