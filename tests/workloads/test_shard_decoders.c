/* tests/workloads/test_shard_decoders.c - decoders with latent attention, state spaces and experts,
 * split over a mesh: what a rank holds, and what it sends. One layer of width 64, 8 heads. */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/shard_case.h"

#include <stdio.h>
#include <string.h>

enum { BATCH = 2, SEQ = 32, HIDDEN = 64, TP = 2, X_BYTES = BATCH * SEQ * HIDDEN * 4 };

#define SIZES "layers=1,hidden=64,ffn=128,heads=8,kv_heads=8,seq=32,vocab=100"
#define LATENT ",q_rank=24,kv_rank=16,rope_width=4,nope_width=8,value_width=8"
#define MAMBA ",mixers=m,ssm_heads=8,ssm_width=16,ssm_state=4,ssm_groups=2,ssm_chunk=8"

/* Parameters that a rank holds of ops whose name begins so. */
static uint64_t held(const struct fr_graph *g, const char *begins)
{
    uint64_t bytes = 0;

    for (size_t o = 0; o < g->n_ops; o++)
        if (g->ops[o].phase == FR_PHASE_FORWARD &&
            strncmp(g->ops[o].name, begins, strlen(begins)) == 0)
            bytes += g->ops[o].param_bytes;
    return bytes / g->param_elem_bytes;
}

static void split(const char *spec, const struct shard_mesh *mesh, struct fr__sharded *s)
{
    struct fr_graph *g = shard_load(spec, BATCH);

    shard_graph(s, g, mesh);
    fr_graph_free(g);
}

/* As Megatron-LM: the products to the latents are whole, those from them are split by heads, and
 * one sum is left behind the output product (multi_latent_attention.py). Whole: q_a 64 x 24, its
 * norm, kv_a 64 x 20, its norm. Split: q_b 24 x 96, kv_b 16 x 128, out 64 x 64. */
TEST(latent_attention_is_split_by_heads_behind_the_latents)
{
    static const struct shard_mesh mesh = {.tp = TP};
    struct fr__sharded s;
    struct shard_sum sums;

    split("decoder:" SIZES LATENT, &mesh, &s);
    ck_assert_uint_eq(held(s.graph, "layer0.attn.q_a"), 64 * 24 + 24);
    ck_assert_uint_eq(held(s.graph, "layer0.attn.kv_a"), 64 * 20 + 16);
    ck_assert_uint_eq(held(s.graph, "layer0.attn.q_b"), 24 * 96 / 2);
    ck_assert_uint_eq(held(s.graph, "layer0.attn.kv_b"), 16 * 128 / 2);
    ck_assert_uint_eq(held(s.graph, "layer0.attn.out"), 64 * 64 / 2);
    sums = shard_count(&s, FR_OP_ALL_REDUCE, SHARD_TP, "layer0.attn", true);
    ck_assert_uint_eq(sums.n, 1);
    ck_assert_double_eq(sums.bytes, X_BYTES);
    ck_assert_uint_eq(s.graph->ops[shard_find(s.graph, "layer0.attn.flash")].shape.attention.heads,
                      4);
    fr__sharded_free(&s);
}

/* In 64 x (2 x 128 + 2 x 8 + 8), convolution of 144 channels over 4 and a bias, 3 numbers a head, a
 * norm of 128, out 128 x 64: each rank has half. */
TEST(a_state_space_is_split_by_heads_and_groups)
{
    static const struct shard_mesh mesh = {.tp = TP};
    struct fr__sharded s;

    split("decoder:" SIZES MAMBA, &mesh, &s);
    ck_assert_uint_eq(held(s.graph, "layer0.mamba.in"), 64 * 280 / 2);
    ck_assert_uint_eq(held(s.graph, "layer0.mamba.conv"), 144 * 5 / 2);
    ck_assert_uint_eq(held(s.graph, "layer0.mamba.scan"), 3 * 8 / 2);
    ck_assert_uint_eq(held(s.graph, "layer0.mamba.gate.norm"), 128 / 2);
    ck_assert_uint_eq(held(s.graph, "layer0.mamba.ssm.out"), 128 * 64 / 2);
    ck_assert_uint_eq(shard_count(&s, FR_OP_ALL_REDUCE, SHARD_TP, "layer0.mamba", true).n, 1);
    ck_assert_uint_eq(shard_count(&s, FR_OP_ALL_GATHER, SHARD_TP, "layer0.mamba", true).n, 0);
    fr__sharded_free(&s);
}

/* Sinks are split with their heads. Windows too: half of the FLOPs. */
TEST(sinks_and_windows_are_split_by_heads)
{
    static const struct shard_mesh mesh = {.tp = TP};
    struct fr_graph *g = shard_load("decoder:" SIZES ",sinks=1,mixers=w,window=8", BATCH);
    const struct fr_op *op, *whole = &g->ops[shard_find(g, "layer0.attn.flash")];
    struct fr__sharded s;

    shard_graph(&s, g, &mesh);
    op = &s.graph->ops[shard_find(s.graph, "layer0.attn.flash")];
    ck_assert_uint_eq(op->param_bytes, whole->param_bytes / 2);
    ck_assert_double_eq(op->flops, whole->flops / 2);
    ck_assert_uint_eq(op->shape.attention.window, 8);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

/* Of 8 experts a rank of four holds two, whatever the router; the shared one is split over the
 * tensor axis as an MLP is. */
TEST(experts_behind_any_router_are_shared_among_ranks)
{
    static const char *const routers[] = {"topk", "softmax", "sigmoid", "first"};
    const struct shard_mesh mesh = {.tp = TP,
                                    .has_sequence_parallel = true,
                                    .experts = {.ep = 4, .etp = 1, .is_balanced = true, .skew = 1}};

    for (size_t i = 0; i < sizeof(routers) / sizeof(routers[0]); i++) {
        char spec[256];
        struct fr__sharded s;

        snprintf(spec, sizeof(spec),
                 "decoder:" SIZES
                 ",experts=8,chosen=2,expert_ffn=32,shared_experts=1,expert_bias=1,"
                 "router_bias=1,groups=4,router=%s",
                 routers[i]);
        split(spec, &mesh, &s);
        ck_assert_uint_eq(held(s.graph, "layer0.mlp.expert"), 2 * (3 * 64 * 32 + 32 + 32 + 64));
        ck_assert_uint_eq(held(s.graph, "layer0.mlp.shared.w1"), 64 * 32 / 2 + 32 / 2);
        ck_assert_uint_eq(shard_count(&s, FR_OP_ALL_TO_ALL, FR__AXIS_EXPERTS, "layer0.mlp", true).n,
                          3);
        fr__sharded_free(&s);
    }
}

/* A soft cap stands between the product of queries and keys and the softmax: heads are exchanged in
 * front of both products and behind the second alone, as without it. */
TEST(a_soft_cap_changes_no_message_of_exchanged_heads)
{
    static const struct shard_mesh mesh = {.cp = 2, .context = FR__CONTEXT_HEADS};
    struct fr__sharded plain, capped;
    struct shard_sum a, b;

    split("decoder:" SIZES ",attention=unfused", &mesh, &plain);
    split("decoder:" SIZES ",attention=unfused,capped=1", &mesh, &capped);
    a = shard_count(&plain, FR_OP_ALL_TO_ALL, SHARD_CP, "layer0.attn", true);
    b = shard_count(&capped, FR_OP_ALL_TO_ALL, SHARD_CP, "layer0.attn", true);
    ck_assert_uint_eq(a.n, 4);
    ck_assert_uint_eq(b.n, a.n);
    ck_assert_double_eq(b.bytes, a.bytes);
    fr__sharded_free(&plain);
    fr__sharded_free(&capped);
}

int main(void)
{
    TCase *tc = tcase_create("all");

    add_tests(tc);
    return run_case(tc, "workloads/shard_decoders");
}
