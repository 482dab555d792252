/* tests/workloads/test_shard_context.c - messages of context parallelism, from derivations; shapes
 * that are divided.
 *
 * X is one activation, batch * sequence * width * 4 bytes.
 */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/shard_case.h"
#include "workloads/passes/shard/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 4, SEQ = 16, HIDDEN = 64, X = BATCH * SEQ * HIDDEN * 4 };

#define GPT "gpt:layers=2,hidden=64,heads=8,seq=16,vocab=320"
#define GPT_FLASH GPT ",attention=flash"
#define LLAMA "llama:layers=2,hidden=64,ffn=128,heads=8,kv_heads=4,seq=16,vocab=320"
#define BERT "bert:layers=2,hidden=64,heads=8,seq=16,vocab=320,head=mlm"

static void assert_close(double a, double b)
{
    ck_assert_double_eq_tol(a, b, 1e-9 * (b > 1 ? b : 1));
}

/* Keys and values are gathered, again for the backward pass, and their gradients scattered. Bytes
 * of each: batch * sequence * width of keys and values * 4, for both. */
TEST(context_parallelism_moves_keys_and_values_three_times)
{
    static const struct {
        const char *spec;
        double kv;
    } cases[] = {
        {LLAMA, 2.0 * BATCH * SEQ * 32 * 4}, {GPT, 2.0 * X}, {GPT_FLASH, 2.0 * X}, {BERT, 2.0 * X}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (uint32_t cp = 2; cp <= 8; cp *= 2) {
            const struct shard_mesh mesh = {.cp = cp};
            struct fr_graph *g = shard_load(cases[i].spec, BATCH);
            struct fr__sharded s;

            shard_graph(&s, g, &mesh);
            assert_close(shard_count(&s, FR_OP_ALL_GATHER, SHARD_CP, "layer0", true).bytes,
                         cases[i].kv);
            assert_close(shard_count(&s, FR_OP_ALL_GATHER, SHARD_CP, "layer0", false).bytes,
                         cases[i].kv);
            assert_close(shard_count(&s, FR_OP_REDUCE_SCATTER, SHARD_CP, "layer0", false).bytes,
                         cases[i].kv);
            assert_close(shard_units(&s, SHARD_CP, "layer0", true, 1), cases[i].kv);
            assert_close(shard_units(&s, SHARD_CP, "layer0", false, 1), 2 * cases[i].kv);
            fr__sharded_free(&s);
            fr_graph_free(g);
        }
}

TEST(each_rank_does_its_share_of_causal_attention)
{
    const struct shard_mesh mesh = {.cp = 4};
    struct fr_graph *g = shard_load(LLAMA, BATCH);
    struct fr__sharded s;
    const struct fr_op *op;

    shard_graph(&s, g, &mesh);
    op = &s.graph->ops[shard_find(s.graph, "layer0.attn.flash")];
    assert_close(4 * op->flops, g->ops[shard_find(g, "layer0.attn.flash")].flops);
    assert_close(fr_op_shape_flops(op), op->flops);
    ck_assert_uint_eq(op->shape.attention.query_len, SEQ / 4);
    ck_assert_uint_eq(op->shape.attention.key_len, SEQ);
    op = &s.graph->ops[shard_find(s.graph, "layer0.attn.flash.dgrad")];
    assert_close(4 * op->flops, g->ops[shard_find(g, "layer0.attn.flash.dgrad")].flops);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

/* Both axes at once: a rank's messages over one have the sizes of its part over the other. */
TEST(messages_over_one_axis_shrink_with_the_other)
{
    const struct shard_mesh mesh = {.tp = 2, .cp = 2, .has_sequence_parallel = true};
    struct fr_graph *g = shard_load(LLAMA, BATCH);
    struct fr__sharded s;

    shard_graph(&s, g, &mesh);
    assert_close(shard_units(&s, SHARD_TP, "layer0", true, X / 2), 4);
    assert_close(shard_units(&s, SHARD_TP, "layer0", false, X / 2), 6);
    assert_close(shard_units(&s, SHARD_CP, "layer0", true, 2.0 * BATCH * SEQ * 32 * 4 / 2), 1);
    assert_close(shard_units(&s, SHARD_CP, "layer0", false, 2.0 * BATCH * SEQ * 32 * 4 / 2), 2);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

/* ---- shapes ---- */

TEST(a_shape_is_divided_by_the_loop_of_its_op)
{
    struct fr_shape s = {.of = FR_SHAPE_PRODUCT,
                         .product = {.batch = 1, .rows = 12, .columns = 10, .depth = 8}};

    fr__shape_divide(&s, FR_OP_MATMUL, FR__SPLIT_COLUMNS, 4);
    ck_assert_uint_eq(s.product.columns, 3); /* the largest part */
    fr__shape_divide(&s, FR_OP_MATMUL, FR__SPLIT_SAMPLES, 2);
    fr__shape_divide(&s, FR_OP_MATMUL, FR__SPLIT_SEQUENCE, 3);
    ck_assert_uint_eq(s.product.rows, 2);
    fr__shape_divide(&s, FR_OP_MATMUL, FR__SPLIT_DEPTH, 2);
    ck_assert_uint_eq(s.product.depth, 4);
    s = (struct fr_shape){.of = FR_SHAPE_ROWS, .rows = {64, 32}};
    fr__shape_divide(&s, FR_OP_LOSS, FR__SPLIT_DEPTH, 4);
    fr__shape_divide(&s, FR_OP_LOSS, FR__SPLIT_SEQUENCE, 2);
    ck_assert_uint_eq(s.rows.columns, 8);
    ck_assert_uint_eq(s.rows.rows, 32);
    s = (struct fr_shape){.of = FR_SHAPE_ATTENTION,
                          .attention = {.batch = 2,
                                        .heads = 8,
                                        .kv_heads = 2,
                                        .head_width = 4,
                                        .query_len = 16,
                                        .key_len = 16}};
    fr__shape_divide(&s, FR_OP_ATTENTION, FR__SPLIT_COLUMNS, 4);
    fr__shape_divide(&s, FR_OP_ATTENTION, FR__SPLIT_SEQUENCE, 4);
    ck_assert_uint_eq(s.attention.heads, 2);
    ck_assert_uint_eq(s.attention.kv_heads, 1);
    ck_assert_uint_eq(s.attention.query_len, 4);
    ck_assert_uint_eq(s.attention.key_len, 16);
    s = (struct fr_shape){.of = FR_SHAPE_CONV,
                          .conv = {.images = 8, .in_channels = 6, .out_channels = 4}};
    fr__shape_divide(&s, FR_OP_CONV2D, FR__SPLIT_DEPTH, 2);
    fr__shape_divide(&s, FR_OP_CONV2D, FR__SPLIT_COLUMNS, 2);
    fr__shape_divide(&s, FR_OP_CONV2D, FR__SPLIT_SAMPLES, 2);
    ck_assert_uint_eq(s.conv.in_channels, 3);
    ck_assert_uint_eq(s.conv.out_channels, 2);
    ck_assert_uint_eq(s.conv.images, 4);
}

int main(void)
{
    TCase *c = tcase_create("shard_context");

    add_tests(c);
    return run_case(c, "workloads/shard_context");
}
