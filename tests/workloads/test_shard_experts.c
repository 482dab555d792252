/* tests/workloads/test_shard_experts.c - experts on ranks of their own.
 *
 * Four experts, two for each token. Of two ranks that split the sequence each has n = batch * seq /
 * 2 tokens; one all-to-all of tokens holds n * 2 rows of the width.
 */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/shard_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 8,
    SEQ = 64,
    HIDDEN = 64,
    FFN = 128,
    EXPERTS = 4,
    TP = 2,
    TOKENS = BATCH * SEQ / TP,
    COPIES = 2 * TOKENS,
    MOVED = COPIES * HIDDEN * 4
};

#define SIZES "layers=1,hidden=64,ffn=128,heads=4,kv_heads=4,seq=64,vocab=128,experts=4"

static struct shard_mesh mesh_of(uint32_t ep, uint32_t etp, uint32_t coord, double skew)
{
    return (struct shard_mesh){
        .tp = TP,
        .has_sequence_parallel = true,
        .experts = {.ep = ep, .etp = etp, .coord = coord, .is_balanced = true, .skew = skew}};
}

static void assert_close(double a, double b)
{
    ck_assert_double_eq_tol(a, b, 1e-9 * (b > 1 ? b : 1));
}

TEST(a_layer_has_four_all_to_alls_of_tokens_and_two_of_their_weights)
{
    for (uint32_t ep = 2; ep <= 4; ep *= 2)
        for (uint32_t etp = 1; etp <= 2; etp++) {
            struct fr_graph *g = shard_load("mixtral:" SIZES, BATCH);
            const struct shard_mesh mesh = mesh_of(ep, etp, 0, 1);
            struct shard_sum forward, backward;
            struct fr__sharded s;
            size_t n_tokens = 0;

            shard_graph(&s, g, &mesh);
            forward = shard_count(&s, FR_OP_ALL_TO_ALL, FR__AXIS_EXPERTS, "layer0.mlp", true);
            backward = shard_count(&s, FR_OP_ALL_TO_ALL, FR__AXIS_EXPERTS, "layer0.mlp", false);
            ck_assert_uint_eq(forward.n, 3);
            ck_assert_uint_eq(backward.n, 3);
            assert_close(forward.bytes, 2.0 * MOVED + COPIES * 4);
            assert_close(backward.bytes, 2.0 * MOVED + COPIES * 4);
            for (size_t c = 0; c < s.n_comms; c++)
                n_tokens += s.comms[c].axis == FR__AXIS_EXPERTS && s.comms[c].bytes > MOVED - 1;
            ck_assert_uint_eq(n_tokens, 4);
            fr__sharded_free(&s);
            fr_graph_free(g);
        }
}

TEST(an_expert_works_on_the_rows_of_all_ranks_that_send_to_it)
{
    for (uint32_t ep = 2; ep <= 4; ep *= 2)
        for (uint32_t etp = 1; etp <= 2; etp++) {
            struct fr_graph *g = shard_load("mixtral:" SIZES, BATCH);
            const struct shard_mesh mesh = mesh_of(ep, etp, 1, 1);
            struct fr__sharded s;
            const struct fr_op *op;
            char name[64];

            shard_graph(&s, g, &mesh);
            snprintf(name, sizeof(name), "layer0.mlp.expert%u.w1", EXPERTS / ep);
            op = &s.graph->ops[shard_find(s.graph, name)];
            ck_assert_uint_eq(op->shape.product.rows, COPIES * ep * etp / EXPERTS);
            ck_assert_uint_eq(op->shape.product.columns, FFN / etp);
            ck_assert_uint_eq(op->param_bytes, HIDDEN * FFN * 4 / etp);
            assert_close(fr_op_shape_flops(op), op->flops);
            op = &s.graph->ops[shard_find(s.graph, "layer0.mlp.router")];
            ck_assert_uint_eq(op->shape.product.rows, TOKENS);
            ck_assert_uint_eq(op->param_bytes, HIDDEN * EXPERTS * 4);
            fr__sharded_free(&s);
            fr_graph_free(g);
        }
}

/* Ranks that share experts gather their rows and scatter the sums, forward and backward. */
TEST(ranks_that_share_an_expert_gather_and_scatter_its_rows)
{
    struct fr_graph *g = shard_load("mixtral:" SIZES, BATCH);
    const struct shard_mesh mesh = mesh_of(2, 2, 0, 1);
    struct fr__sharded s;

    shard_graph(&s, g, &mesh);
    for (unsigned is_forward = 0; is_forward < 2; is_forward++) {
        struct shard_sum gathered =
            shard_count(&s, FR_OP_ALL_GATHER, FR__AXIS_EXPERT_TENSOR, "layer0.mlp", is_forward);
        struct shard_sum scattered =
            shard_count(&s, FR_OP_REDUCE_SCATTER, FR__AXIS_EXPERT_TENSOR, "layer0.mlp", is_forward);

        ck_assert_uint_eq(gathered.n, is_forward ? 2 : 1); /* tokens, and their weights */
        ck_assert_uint_eq(scattered.n, is_forward ? 1 : 2);
        assert_close(gathered.bytes, 2.0 * MOVED + is_forward * 2.0 * COPIES * 4);
        assert_close(scattered.bytes, 2.0 * MOVED + !is_forward * 2.0 * COPIES * 4);
    }
    fr__sharded_free(&s);
    fr_graph_free(g);
}

static double flops_of_experts(const struct fr_graph *g)
{
    double flops = 0;

    for (size_t o = 0; o < g->n_ops; o++)
        if (strstr(g->layer_names[g->ops[o].layer], "expert") &&
            g->ops[o].phase != FR_PHASE_UPDATE && g->ops[o].kind == FR_OP_MATMUL)
            flops += g->ops[o].flops;
    return flops;
}

/* Every rank's products, over all ranks of the mesh, are the whole model's. A coordinate of ep
 * stands for as many ranks as the mesh has over ep. */
TEST(the_parts_of_all_experts_make_the_whole)
{
    struct fr_graph *g = shard_load(
        "mixtral:layers=1,hidden=64,ffn=128,heads=4,kv_heads=4,seq=64,vocab=128,experts=8", BATCH);
    double whole = flops_of_experts(g);

    for (uint32_t ep = 1; ep <= 8; ep *= 2)
        for (uint32_t etp = 1; etp <= 4; etp *= 2)
            for (uint32_t cp = 1; cp <= 4; cp *= 2) {
                double all = 0, params = 0;

                if (TP * cp < ep * etp)
                    continue;
                for (uint32_t coord = 0; coord < ep; coord++) {
                    struct shard_mesh mesh = mesh_of(ep, etp, coord, 1);
                    struct fr__sharded s;

                    mesh.cp = cp;
                    shard_graph(&s, g, &mesh);
                    all += flops_of_experts(s.graph) * TP * cp / ep;
                    for (size_t o = 0; o < s.graph->n_ops; o++)
                        if (s.graph->ops[o].phase == FR_PHASE_FORWARD &&
                            strstr(s.graph->ops[o].name, "expert"))
                            params += (double)s.graph->ops[o].param_bytes * etp;
                    fr__sharded_free(&s);
                }
                assert_close(all, whole);
                assert_close(params, 3.0 * 8 * HIDDEN * FFN * 4);
            }
    fr_graph_free(g);
}

/* The first of four groups gets twice the mean, so the others two thirds of it each. */
TEST(a_skew_gives_the_first_group_more_rows_and_the_others_less)
{
    static const double rows[] = {2, 2.0 / 3, 2.0 / 3, 2.0 / 3};
    struct fr_graph *g = shard_load("mixtral:" SIZES, BATCH);
    double even[2];

    for (uint32_t coord = 0; coord < 4; coord++) {
        const struct shard_mesh balanced = mesh_of(4, 1, coord, 1),
                                skewed = mesh_of(4, 1, coord, 2);
        struct fr__sharded s;

        shard_graph(&s, g, &balanced);
        even[0] = flops_of_experts(s.graph);
        even[1] = shard_count(&s, FR_OP_ALL_TO_ALL, FR__AXIS_EXPERTS, "", true).bytes;
        fr__sharded_free(&s);
        shard_graph(&s, g, &skewed);
        assert_close(flops_of_experts(s.graph), rows[coord] * even[0]);
        /* rows are whole: 10 2/3 of each sample become 11 */
        ck_assert_double_eq_tol(shard_count(&s, FR_OP_ALL_TO_ALL, FR__AXIS_EXPERTS, "", true).bytes,
                                2 * even[1], 0.02 * 2 * even[1]);
        fr__sharded_free(&s);
    }
    fr_graph_free(g);
}

/* A graph that is skewed itself, and the same one balanced. */
TEST(rows_are_the_graphs_own_unless_balanced)
{
    struct fr_graph *g = shard_load("mixtral:" SIZES ",skew=100", BATCH);
    struct shard_mesh mesh = mesh_of(4, 1, 0, 1);
    struct fr__sharded s;
    uint64_t own;

    own = g->tensors[g->ops[shard_find(g, "layer0.mlp.dispatch")].first_tensor].dims[1];
    shard_graph(&s, g, &mesh);
    ck_assert_uint_eq(s.graph->ops[shard_find(s.graph, "layer0.mlp.expert0.w1")].shape.product.rows,
                      COPIES * 4 / EXPERTS);
    fr__sharded_free(&s);
    mesh.experts.is_balanced = false;
    shard_graph(&s, g, &mesh);
    ck_assert_uint_eq(s.graph->ops[shard_find(s.graph, "layer0.mlp.expert0.w1")].shape.product.rows,
                      own * BATCH * 4 / TP);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

TEST(parameters_of_experts_say_so)
{
    struct fr_graph *g = shard_load("mixtral:" SIZES, BATCH);
    const struct shard_mesh mesh = mesh_of(2, 2, 0, 1);
    struct fr__sharded s;
    uint32_t w1;

    shard_graph(&s, g, &mesh);
    w1 = shard_find(s.graph, "layer0.mlp.expert0.w1");
    ck_assert_uint_eq(s.divided[w1], 1u << FR__AXIS_EXPERTS | 1u << FR__AXIS_EXPERT_TENSOR);
    ck_assert_uint_eq(s.partial[w1], 0);
    ck_assert_uint_eq(s.partial[shard_find(s.graph, "layer0.mlp.router")], 1u << SHARD_TP);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

/* The whole layer runs again, its two all-to-alls of tokens too. */
TEST(a_layer_that_runs_again_has_six_all_to_alls_of_tokens)
{
    struct fr_graph *g = shard_load("mixtral:" SIZES, BATCH), *twice = shard_run_again(g);
    const struct shard_mesh mesh = mesh_of(2, 1, 1, 1);
    struct fr__sharded s;
    size_t n_tokens = 0;

    shard_graph(&s, twice, &mesh);
    for (size_t c = 0; c < s.n_comms; c++)
        n_tokens += s.comms[c].axis == FR__AXIS_EXPERTS && s.comms[c].bytes > MOVED - 1;
    ck_assert_uint_eq(n_tokens, 6);
    ck_assert_uint_eq(
        s.graph->ops[shard_find(s.graph, "layer0.mlp.expert2.w1.again")].shape.product.rows,
        COPIES * 2 / EXPERTS);
    fr__sharded_free(&s);
    fr_graph_free(twice);
    fr_graph_free(g);
}

TEST(what_experts_cannot_do_is_refused)
{
    static const struct {
        const char *spec;
        uint32_t ep;
        bool has_sequence_parallel;
        double skew;
        const char *message;
    } cases[] = {
        {"mixtral:" SIZES, 3, true, 1,
         "the 4 experts of op 'layer0.mlp.dispatch' are not shared alike by 3 ranks"},
        {"mixtral:" SIZES, 2, false, 1,
         "the ranks of 'tp' have the same tokens at op 'layer0.mlp.dispatch', so experts would get "
         "copies of them: with experts on ranks of their own, split the sequence over 'tp' too"},
        {"mixtral:" SIZES, 2, true, 3, "a skew of 3 among 2 groups of experts, not 1 to 2"},
        {"gpt:layers=1,hidden=64,heads=4,seq=16,vocab=100", 2, true, 1,
         "'gpt:layers=1,hidden=64,heads=4,seq=16,vocab=100' has no layer of experts to share among "
         "ranks"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_graph *g = shard_load(cases[i].spec, BATCH);
        struct shard_mesh mesh = mesh_of(cases[i].ep, 1, 0, cases[i].skew);
        struct fr__sharded s;
        struct fr_error err;

        mesh.has_sequence_parallel = cases[i].has_sequence_parallel;
        ck_assert_int_eq(shard_try(&s, g, &mesh, &err), FR_EUSAGE);
        ck_assert_str_eq(err.text, cases[i].message);
        fr_graph_free(g);
    }
}

/* Two experts whose outputs meet in a sum. */
TEST(experts_that_meet_in_a_sum_are_not_torn_apart)
{
    const struct fr_graph info = {
        .name = "sum", .batch = 8, .seq_len = 4, .dtype = FR_FP32, .param_elem_bytes = 4};
    const struct fr_tensor rows = {
        .bytes = 8 * 4 * 2 * 4, .alias = FR_NONE, .n_dims = 3, .dims = {8, 4, 2}, .scales = true};
    const struct fr_tensor both[] = {rows, rows};
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_graph *forward = NULL, *g = NULL;
    const struct shard_mesh mesh = {.experts = {.ep = 2, .etp = 1, .skew = 1}};
    struct fr_op op = {.phase = FR_PHASE_INPUT, .kind = FR_OP_INPUT, .scales = true};
    struct fr__sharded s;
    struct fr_error err;

    op.name = "x";
    fr_graph_builder_op(b, &op, NULL, &rows, 1);
    op = (struct fr_op){.name = "norm",
                        .kind = FR_OP_RMSNORM,
                        .phase = FR_PHASE_FORWARD,
                        .flops = 1,
                        .param_bytes = 8,
                        .n_params = 1,
                        .scales = true};
    fr_graph_builder_op(b, &op, NULL, &rows, 1);
    op = (struct fr_op){.name = "dispatch",
                        .kind = FR_OP_GATHER,
                        .phase = FR_PHASE_FORWARD,
                        .flops = 1,
                        .scales = true};
    fr_graph_builder_op(b, &op, NULL, both, 2);
    op.name = "sum";
    op.kind = FR_OP_ADD;
    fr_graph_builder_op(b, &op, NULL, &rows, 1);
    op.name = "loss";
    op.kind = FR_OP_LOSS;
    fr_graph_builder_op(b, &op, NULL, &rows, 1);
    fr_graph_builder_edge(b, 0, 1, 0, rows.bytes);
    fr_graph_builder_edge(b, 1, 2, 1, rows.bytes);
    fr_graph_builder_edge(b, 2, 3, 2, rows.bytes);
    fr_graph_builder_edge(b, 2, 3, 3, rows.bytes);
    fr_graph_builder_edge(b, 3, 4, 4, rows.bytes);
    ck_assert_msg(fr_graph_builder_finish(b, &info, &forward, &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr_graph_expand_training(forward, &g, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(shard_try(&s, g, &mesh, &err), FR_EUSAGE);
    ck_assert_str_eq(err.text, "op 'sum' reads what several experts write, but is no scatter, so "
                               "they cannot be held by several ranks");
    fr_graph_builder_free(b);
    fr_graph_free(forward);
    fr_graph_free(g);
}

int main(void)
{
    TCase *c = tcase_create("shard_experts");

    add_tests(c);
    return run_case(c, "workloads/shard_experts");
}
