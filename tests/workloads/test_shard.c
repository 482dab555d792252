/* tests/workloads/test_shard.c - messages of Megatron-LM's tensor and sequence
 * parallelism: kinds, numbers and bytes, from derivations; recomputation, memory.
 *
 * X is one activation, batch * sequence * width * 4 bytes. A unit is what a ring sends of it for
 * one all-gather or reduce-scatter, (t - 1) / t X; an all-reduce takes two.
 */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/shard_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 4, SEQ = 16, HIDDEN = 64, HEADS = 8, VOCAB = 320, X = BATCH * SEQ * HIDDEN * 4 };

#define GPT "gpt:layers=2,hidden=64,heads=8,seq=16,vocab=320"
#define GPT_FLASH GPT ",attention=flash"
#define TRANSFORMER "transformer:layers=2,hidden=64,heads=8,ffn=128,seq=16,vocab=320"
#define LLAMA "llama:layers=2,hidden=64,ffn=128,heads=8,kv_heads=4,seq=16,vocab=320"
#define BERT "bert:layers=2,hidden=64,heads=8,seq=16,vocab=320,head=mlm"

static void assert_close(double a, double b)
{
    ck_assert_double_eq_tol(a, b, 1e-9 * (b > 1 ? b : 1));
}

/* ---- one layer ---- */

TEST(a_layer_takes_8_units_10_with_split_sequences_and_8_where_gathered_inputs_stay)
{
    static const struct {
        struct shard_mesh mesh;
        double forward, backward;
    } cases[] = {
        {{.tp = 2}, 4, 4},
        {{.tp = 8}, 4, 4},
        {{.tp = 4, .has_sequence_parallel = true}, 4, 6},
        {{.tp = 4, .has_sequence_parallel = true, .keeps_gathered = true}, 4, 4},
    };
    static const char *const specs[] = {GPT, GPT_FLASH, LLAMA, BERT, TRANSFORMER};

    for (size_t k = 0; k < sizeof(specs) / sizeof(specs[0]); k++) {
        struct fr_graph *g = shard_load(specs[k], BATCH);
        const char *layer = k == 4 ? "encoder0" : "layer0";

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            struct fr__sharded s;

            if (k == 2 && cases[i].mesh.tp > 4)
                continue; /* four heads of keys and values */
            shard_graph(&s, g, &cases[i].mesh);
            assert_close(shard_units(&s, SHARD_TP, layer, true, X), cases[i].forward);
            assert_close(shard_units(&s, SHARD_TP, layer, false, X), cases[i].backward);
            if (k < 3) /* a norm that comes last has its gradients in the layer before */
                assert_close(shard_units(&s, SHARD_TP, "layer1", false, X), cases[i].backward);
            fr__sharded_free(&s);
        }
        fr_graph_free(g);
    }
}

TEST(a_layer_without_split_sequences_has_four_all_reduces)
{
    const struct shard_mesh mesh = {.tp = 2};
    struct fr_graph *g = shard_load(LLAMA, BATCH);
    struct fr__sharded s;
    const struct fr_graph *n;

    shard_graph(&s, g, &mesh);
    n = s.graph;
    ck_assert_uint_eq(shard_count(&s, FR_OP_ALL_REDUCE, SHARD_TP, "layer1", true).n, 2);
    ck_assert_uint_eq(shard_count(&s, FR_OP_ALL_REDUCE, SHARD_TP, "layer1", false).n, 2);
    /* the inputs of queries, keys and values: their sum, once */
    ck_assert_ptr_nonnull(strstr(
        n->ops[shard_find(n, "layer1.attn.norm.grad_add2.tp.all_reduce")].name, "grad_add2"));
    ck_assert_uint_eq(n->ops[shard_find(n, "layer1.attn.q")].shape.product.columns, 32);
    ck_assert_uint_eq(n->ops[shard_find(n, "layer1.attn.flash")].shape.attention.heads, 4);
    ck_assert_uint_eq(n->ops[shard_find(n, "layer1.attn.flash")].shape.attention.kv_heads, 2);
    ck_assert_uint_eq(n->ops[shard_find(n, "layer1.mlp.down")].shape.product.depth, 64);
    ck_assert_uint_eq(n->ops[shard_find(n, "layer1.mlp.down.dgrad")].shape.product.depth, 64);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

/* Sequence parallelism: an all-gather in front of each block and a reduce-scatter behind it;
 * backward an all-gather of the gradient, another of the input, a reduce-scatter. */
TEST(split_sequences_are_gathered_and_scattered_around_each_block)
{
    const struct shard_mesh mesh = {.tp = 2, .has_sequence_parallel = true};
    struct fr_graph *g = shard_load(GPT, BATCH);
    struct fr__sharded s;

    shard_graph(&s, g, &mesh);
    ck_assert_uint_eq(shard_count(&s, FR_OP_ALL_GATHER, SHARD_TP, "layer0", true).n, 2);
    ck_assert_uint_eq(shard_count(&s, FR_OP_REDUCE_SCATTER, SHARD_TP, "layer0", true).n, 2);
    ck_assert_uint_eq(shard_count(&s, FR_OP_ALL_GATHER, SHARD_TP, "layer0", false).n, 4);
    ck_assert_uint_eq(shard_count(&s, FR_OP_REDUCE_SCATTER, SHARD_TP, "layer0", false).n, 2);
    ck_assert_uint_eq(shard_count(&s, FR_OP_ALL_REDUCE, SHARD_TP, "layer0", true).n, 0);
    /* norms, residuals and dropout work on their part of the sequence */
    ck_assert_uint_eq(
        s.graph->tensors[s.graph->ops[shard_find(s.graph, "layer0.attn.ln")].first_tensor].dims[1],
        SEQ / 2);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

/* Edges into op o from ops of that kind; only those that carry nothing if is_order. */
static size_t n_edges_from(const struct fr_graph *g, uint32_t o, enum fr_op_kind kind,
                           bool is_order)
{
    size_t n = 0;

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        n += g->ops[e->src].kind == kind && (e->tensor == FR_NONE) == is_order;
    }
    return n;
}

TEST(an_input_is_gathered_again_once_the_gradient_of_the_output_is_there)
{
    const struct shard_mesh mesh = {.tp = 2, .has_sequence_parallel = true};
    struct fr_graph *g = shard_load(GPT, BATCH);
    struct fr__sharded s;
    uint32_t again;

    shard_graph(&s, g, &mesh);
    again = shard_find(s.graph, "layer0.mlp.ln.tp.all_gather2");
    ck_assert_int_eq(s.graph->ops[again].phase, FR_PHASE_BACKWARD_DATA);
    /* what the first product writes goes through a bias, in place, and GELU */
    ck_assert_uint_eq(n_edges_from(s.graph, again, FR_OP_GELU, true), 1);
    ck_assert_uint_eq(
        n_edges_from(s.graph, shard_find(s.graph, "layer0.mlp.fc1.wgrad"), FR_OP_ALL_GATHER, false),
        1);
    ck_assert_uint_eq(s.from[again], shard_find(g, "layer0.mlp.ln"));
    fr__sharded_free(&s);
    fr_graph_free(g);
}

/* So that a pipeline's stages exchange parts: what is gathered belongs to who reads it, a sum to
 * who writes its terms. */
TEST(a_message_belongs_to_the_layer_that_needs_it)
{
    const struct shard_mesh mesh = {.tp = 2, .has_sequence_parallel = true};
    struct fr_graph *g = shard_load(LLAMA, BATCH);
    struct fr__sharded s;
    const struct fr_graph *n;
    uint32_t gathered, scattered;

    shard_graph(&s, g, &mesh);
    n = s.graph;
    gathered = shard_find(n, "final.norm.dgrad.tp.all_gather");
    ck_assert_str_eq(n->layer_names[n->ops[gathered].layer], "layer1.mlp");
    ck_assert_uint_eq(n->ops[gathered].forward, shard_find(n, "layer1.mlp.down"));
    gathered = shard_find(n, "final.norm.tp.all_gather");
    ck_assert_str_eq(n->layer_names[n->ops[gathered].layer], "head");
    scattered = shard_find(n, "embed.tp.reduce_scatter");
    ck_assert_str_eq(n->layer_names[n->ops[scattered].layer], "embed");
    fr__sharded_free(&s);
    fr_graph_free(g);
}

/* Norm last: the residual's gradient comes first and is whole, the three products' are partial. */
TEST(partial_gradients_are_added_before_the_residuals)
{
    const struct shard_mesh mesh = {.tp = 2};
    struct fr_graph *g = shard_load(BERT, BATCH);
    struct fr__sharded s;

    shard_graph(&s, g, &mesh);
    /* one of the feed-forward's first product, one of the next layer's queries, keys and values */
    ck_assert_uint_eq(shard_count(&s, FR_OP_ALL_REDUCE, SHARD_TP, "layer0.mlp", false).n, 2);
    ck_assert_uint_eq(n_edges_from(s.graph, shard_find(s.graph, "layer0.mlp.ln.grad_add3"),
                                   FR_OP_ALL_REDUCE, false),
                      1);
    ck_assert_uint_eq(
        n_edges_from(s.graph, shard_find(s.graph, "layer0.mlp.ln.grad_add2"), FR_OP_MATMUL, false),
        1);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

/* GPT-3 175B with t = 4, p = 8, one sample of 2048 a micro-batch, 64 of them, in 16 bits: 12 layers
 * of 10 units, 3/4 of X each, are 289.9 GB. */
TEST(gpt3_sends_as_much_over_four_ranks_as_was_worked_out)
{
    const struct shard_mesh mesh = {.tp = 4, .has_sequence_parallel = true};
    const struct fr_workload_options opt = {.batch = 1, .dtype = FR_BF16};
    const double x = 2048.0 * 12288 * 2;
    struct fr_graph *g = NULL;
    struct fr__sharded s;
    struct fr_error err;
    double units;

    ck_assert_msg(fr_workload_load(&g, "gpt3-175b", &opt, &err) == FR_OK, "%s", err.text);
    shard_graph(&s, g, &mesh);
    units = shard_units(&s, SHARD_TP, "layer47", true, x) +
            shard_units(&s, SHARD_TP, "layer47", false, x);
    assert_close(units, 10);
    ck_assert_double_eq_tol(12 * 64 * units * 3 / 4 * x, 289.9e9, 0.05e9);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

/* ---- embedding, head and loss ---- */

TEST(embedding_head_and_loss_are_split_by_the_vocabulary)
{
    const struct shard_mesh plain = {.tp = 2}, split = {.tp = 2, .has_sequence_parallel = true};
    struct fr_graph *g = shard_load(LLAMA, BATCH);
    struct fr__sharded s;
    struct shard_sum loss;

    shard_graph(&s, g, &plain);
    assert_close(shard_units(&s, SHARD_TP, "embed", true, X), 2);
    assert_close(shard_units(&s, SHARD_TP, "embed", false, X), 0);
    assert_close(shard_units(&s, SHARD_TP, "final", true, X), 0);
    assert_close(shard_units(&s, SHARD_TP, "head", true, X), 0);
    assert_close(shard_units(&s, SHARD_TP, "head", false, X), 2);
    loss = shard_count(&s, FR_OP_ALL_REDUCE, SHARD_TP, "loss", true);
    ck_assert_uint_eq(loss.n, 3);
    assert_close(loss.bytes, 3 * 4 * SEQ * BATCH);
    ck_assert_uint_eq(s.graph->ops[shard_find(s.graph, "embed")].shape.embedding.vocabulary, 160);
    ck_assert_uint_eq(s.graph->ops[shard_find(s.graph, "loss.log_softmax")].shape.rows.columns,
                      160);
    fr__sharded_free(&s);

    shard_graph(&s, g, &split);
    assert_close(shard_units(&s, SHARD_TP, "embed", true, X), 1);
    assert_close(shard_units(&s, SHARD_TP, "embed", false, X), 1);
    assert_close(shard_units(&s, SHARD_TP, "head", true, X), 1);
    assert_close(shard_units(&s, SHARD_TP, "head", false, X), 2); /* the input again, the sum */
    assert_close(shard_units(&s, SHARD_TP, "final", true, X), 0);
    assert_close(shard_units(&s, SHARD_TP, "final", false, X), 0);
    ck_assert_uint_eq(shard_count(&s, FR_OP_ALL_REDUCE, SHARD_TP, "loss", true).n, 3);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

/* large-models 9.3: t = 2, tied weights, L layers: 4 L gathers and scatters forward, 6 L backward,
 * embedding 1 and 1, head 1 and 2, loss 3. */
TEST(a_step_has_no_messages_but_those_of_its_parts)
{
    const struct shard_mesh mesh = {.tp = 2, .has_sequence_parallel = true};
    struct fr_graph *g = shard_load(GPT, BATCH);
    struct fr__sharded s;

    shard_graph(&s, g, &mesh);
    ck_assert_uint_eq(s.n_comms, 4 * 2 + 6 * 2 + 2 + 3 + 3);
    for (size_t c = 0; c < s.n_comms; c++) {
        const struct fr_op *op = &s.graph->ops[s.comms[c].op];

        ck_assert(fr_op_kind_is_message(op->kind) && op->flops <= 0 && op->bytes <= 0);
        ck_assert_uint_eq(s.comm_of[s.comms[c].op], c);
    }
    fr__sharded_free(&s);
    fr_graph_free(g);
}

TEST(a_vocabulary_that_does_not_divide_takes_the_largest_part)
{
    const struct shard_mesh mesh = {.tp = 4};
    struct fr_graph *g =
        shard_load("llama:layers=1,hidden=64,ffn=128,heads=8,kv_heads=8,seq=16,vocab=321", BATCH);
    struct fr__sharded s;

    shard_graph(&s, g, &mesh);
    ck_assert_uint_eq(s.graph->ops[shard_find(s.graph, "head")].shape.product.columns, 81);
    ck_assert_uint_eq(s.graph->ops[shard_find(s.graph, "embed")].param_bytes, 81 * 64 * 4);
    ck_assert_uint_eq(s.graph->ops[shard_find(s.graph, "loss.log_softmax")].shape.rows.columns, 81);
    ck_assert_uint_eq(shard_count(&s, FR_OP_ALL_GATHER, SHARD_TP, "", true).n, 0);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

TEST(without_a_split_vocabulary_embedding_and_head_are_whole)
{
    const struct shard_mesh mesh = {.tp = 2, .has_whole_vocabulary = true};
    struct fr_graph *g = shard_load(GPT, BATCH);
    struct fr__sharded s;

    shard_graph(&s, g, &mesh);
    ck_assert_uint_eq(s.graph->ops[shard_find(s.graph, "embed.tokens")].param_bytes,
                      VOCAB * HIDDEN * 4);
    ck_assert_uint_eq(s.n_comms, 8);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

/* ---- gradients that are sums ---- */

static bool is_partial(const struct fr__sharded *s, const char *name, unsigned axis)
{
    return s->partial[shard_find(s->graph, name)] >> axis & 1;
}

static bool is_divided(const struct fr__sharded *s, const char *name, unsigned axis)
{
    return s->divided[shard_find(s->graph, name)] >> axis & 1;
}

TEST(what_a_rank_computes_of_its_part_of_the_sequence_has_partial_gradients)
{
    const struct shard_mesh tp = {.tp = 2}, sp = {.tp = 2, .has_sequence_parallel = true},
                            cp = {.cp = 2};
    struct fr_graph *g = shard_load(GPT, BATCH);
    struct fr__sharded s;

    shard_graph(&s, g, &tp);
    for (uint32_t o = 0; o < s.graph->n_ops; o++)
        ck_assert_uint_eq(s.partial[o], 0);
    fr__sharded_free(&s);

    shard_graph(&s, g, &sp);
    ck_assert(is_partial(&s, "layer0.attn.ln", SHARD_TP));
    ck_assert(is_partial(&s, "final.ln", SHARD_TP));
    ck_assert(is_partial(&s, "layer0.attn.proj.bias", SHARD_TP)); /* added after the sum */
    ck_assert(is_partial(&s, "layer0.mlp.fc2.bias", SHARD_TP));
    ck_assert(!is_partial(&s, "layer0.attn.qkv", SHARD_TP));
    ck_assert(!is_partial(&s, "layer0.attn.qkv.bias", SHARD_TP));
    ck_assert(is_divided(&s, "layer0.attn.qkv.bias", SHARD_TP));
    ck_assert(!is_partial(&s, "embed.tokens", SHARD_TP));
    ck_assert(is_divided(&s, "embed.tokens", SHARD_TP));
    fr__sharded_free(&s);

    shard_graph(&s, g, &cp);
    for (uint32_t o = 0; o < s.graph->n_ops; o++) {
        const struct fr_op *op = &s.graph->ops[o];

        if (op->phase == FR_PHASE_FORWARD && op->param_bytes)
            ck_assert_msg(s.partial[o] == 1u << SHARD_CP && s.divided[o] == 0, "%s", op->name);
    }
    fr__sharded_free(&s);
    fr_graph_free(g);
}

/* Bytes of layer 1's parameters that have partial gradients. */
static uint64_t partial_bytes(const char *spec)
{
    const struct shard_mesh mesh = {.tp = 2, .has_sequence_parallel = true};
    struct fr_graph *g = shard_load(spec, BATCH);
    struct fr__sharded s;
    uint64_t bytes = 0;

    shard_graph(&s, g, &mesh);
    for (uint32_t o = 0; o < s.graph->n_ops; o++)
        if (s.partial[o] && strncmp(s.graph->ops[o].name, "layer1", 6) == 0)
            bytes += s.graph->ops[o].param_bytes;
    fr__sharded_free(&s);
    fr_graph_free(g);
    return bytes;
}

/* Two norms of two parameters a column and two biases; two norms of one. */
TEST(a_layer_sums_6_or_2_numbers_a_column_once_a_step)
{
    ck_assert_uint_eq(partial_bytes(GPT), 6 * HIDDEN * 4);
    ck_assert_uint_eq(partial_bytes(LLAMA), 2 * HIDDEN * 4);
}

/* Two heads of keys and values on eight ranks: four ranks hold each, and sum its gradient. */
TEST(heads_of_keys_and_values_fewer_than_ranks_are_held_by_several)
{
    const struct shard_mesh mesh = {.tp = 8};
    struct fr_graph *g =
        shard_load("llama:layers=1,hidden=64,ffn=128,heads=8,kv_heads=2,seq=16,vocab=320", BATCH);
    struct fr__sharded s;
    uint32_t k, q;

    shard_graph(&s, g, &mesh);
    k = shard_find(s.graph, "layer0.attn.k");
    q = shard_find(s.graph, "layer0.attn.q");
    ck_assert_uint_eq(s.graph->ops[q].shape.product.columns, 8);
    ck_assert_uint_eq(s.graph->ops[k].shape.product.columns, 8); /* a whole head */
    ck_assert_uint_eq(s.graph->ops[k].param_bytes, 64 * 8 * 4);
    ck_assert_uint_eq(s.replicas[k], 4);
    ck_assert(is_partial(&s, "layer0.attn.k", SHARD_TP));
    ck_assert(is_divided(&s, "layer0.attn.k", SHARD_TP));
    ck_assert_uint_eq(s.replicas[q], 1);
    ck_assert_uint_eq(s.partial[q], 0);
    assert_close(shard_units(&s, SHARD_TP, "layer0", true, X), 4);
    assert_close(shard_units(&s, SHARD_TP, "layer0", false, X), 4);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

/* ---- graphs of others ---- */

/* A copy of g in which the op of that name writes seven numbers. */
static struct fr_graph *with_odd_gradient(const struct fr_graph *g, const char *name)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_graph *out = NULL;
    struct fr_error err;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        const struct fr_op *op = &g->ops[o];
        struct fr_tensor t = op->n_tensors ? g->tensors[op->first_tensor] : (struct fr_tensor){0};

        t.n_dims = 1;
        t.dims[0] = 7;
        fr_graph_builder_op(b, op, g->layer_names[op->layer],
                            strcmp(op->name, name) == 0 ? &t : &g->tensors[op->first_tensor],
                            op->n_tensors);
    }
    for (size_t e = 0; e < g->n_edges; e++)
        if (g->edges[e].tensor == FR_NONE && g->edges[e].bytes)
            fr_graph_builder_tie(b, g->edges[e].src, g->edges[e].dst);
        else
            fr_graph_builder_edge(b, g->edges[e].src, g->edges[e].dst, g->edges[e].tensor,
                                  g->edges[e].bytes);
    ck_assert_msg(fr_graph_builder_finish(b, g, &out, &err) == FR_OK, "%s", err.text);
    fr_graph_builder_free(b);
    return out;
}

TEST(a_gradient_like_no_input_keeps_its_op_whole)
{
    const struct shard_mesh one = {.tp = 1}, two = {.tp = 2};
    struct fr_graph *g = shard_load(GPT, BATCH);
    struct fr_graph *odd = with_odd_gradient(g, "layer1.mlp.gelu.dgrad");
    struct fr__sharded s;
    struct fr_error err;

    ck_assert_int_eq(shard_try(&s, odd, &two, &err), FR_EUSAGE);
    ck_assert_str_eq(err.text, "op 'layer1.mlp.gelu' cannot be split over 'tp': what its gradient "
                               "'layer1.mlp.gelu.dgrad' writes is like none of its inputs");
    shard_graph(&s, odd, &one);
    fr__sharded_free(&s);
    fr_graph_free(odd);
    fr_graph_free(g);
}

/* ---- memory ---- */

/* What a layer more keeps for the backward pass, in elements of X. */
static double kept_by_a_layer(const struct shard_mesh *mesh)
{
    enum { S = 256, H = 256 };
    const struct fr_workload_options opt = {.batch = 1, .dtype = FR_BF16};
    uint64_t saved[2];

    for (unsigned i = 0; i < 2; i++) {
        struct fr_graph_totals totals;
        struct fr_graph *g = NULL;
        struct fr__sharded s;
        struct fr_error err;

        ck_assert_int_eq(fr_workload_load(&g,
                                          i ? "gpt:layers=2,hidden=256,heads=16,seq=256,vocab=64"
                                            : "gpt:layers=1,hidden=256,heads=16,seq=256,vocab=64",
                                          &opt, &err),
                         FR_OK);
        shard_graph(&s, g, mesh);
        fr_graph_totals(s.graph, &totals);
        saved[i] = totals.saved_bytes;
        fr__sharded_free(&s);
        fr_graph_free(g);
    }
    return (double)(saved[1] - saved[0]) / (S * H);
}

/* V. Korthikanti et al., MLSys 2023, table 2, bytes over s b h, with a heads: without parallelism
 * 34 + 5 a s / h; tensor-parallel 10 + 24 / t + 5 a s / (h t); with sequence parallelism all of it
 * over t. They leave out the norms' statistics, 1/16 of a number here. */
TEST(a_layer_keeps_what_korthikanti_says)
{
    const struct shard_mesh one = {.tp = 1}, tp = {.tp = 8},
                            sp = {.tp = 8, .has_sequence_parallel = true};

    ck_assert_double_eq_tol(kept_by_a_layer(&one), 34 + 80, 0.07);
    ck_assert_double_eq_tol(kept_by_a_layer(&tp), 10 + 24.0 / 8 + 80.0 / 8, 0.07);
    ck_assert_double_eq_tol(kept_by_a_layer(&sp), (34 + 80) / 8.0, 0.01);
}

/* ---- recomputation ---- */

/* Full recomputation repeats the forward messages of a layer: four units more. What the forward
 * pass gathered is not kept, and what the copies gather is not kept for the gradients either. */
TEST(a_layer_that_runs_again_takes_four_units_more)
{
    const struct shard_mesh plain = {.tp = 2}, split = {.tp = 2, .has_sequence_parallel = true};
    struct fr_graph *g = shard_load(GPT, BATCH), *twice = shard_run_again(g);
    struct fr__sharded s;

    shard_graph(&s, twice, &plain);
    assert_close(shard_units(&s, SHARD_TP, "layer0", true, X), 4);
    assert_close(shard_units(&s, SHARD_TP, "layer0", false, X), 4 + 4);
    assert_close(shard_units(&s, SHARD_TP, "layer1", false, X), 4);
    fr__sharded_free(&s);
    shard_graph(&s, twice, &split);
    assert_close(shard_units(&s, SHARD_TP, "layer0", true, X), 4);
    assert_close(shard_units(&s, SHARD_TP, "layer0", false, X), 6 + 4);
    ck_assert(s.graph->ops[shard_find(s.graph, "layer0.mlp.fc1.again")].is_recomputed);
    ck_assert_uint_eq(
        s.graph->ops[shard_find(s.graph, "layer0.mlp.fc1.again")].shape.product.columns, 128);
    fr__sharded_free(&s);
    fr_graph_free(twice);
    fr_graph_free(g);
}

/* ---- mixed precision ---- */

TEST(casts_of_weights_are_split_as_their_products)
{
    const struct shard_mesh mesh = {.tp = 2, .has_sequence_parallel = true};
    const struct fr_workload_options opt = {.batch = BATCH, .dtype = FR_AMP};
    struct fr_graph *g = NULL;
    struct fr__sharded s;
    struct fr_error err;
    uint32_t cast;

    ck_assert_int_eq(fr_workload_load(&g, GPT, &opt, &err), FR_OK);
    shard_graph(&s, g, &mesh);
    cast = shard_find(s.graph, "layer0.mlp.fc1.weight_cast");
    ck_assert_uint_eq(s.graph->ops[cast].param_bytes, 64 * 256 * 4 / 2);
    ck_assert_uint_eq(s.graph->tensors[s.graph->ops[cast].first_tensor].bytes, 64 * 256 * 2 / 2);
    ck_assert(is_divided(&s, "layer0.mlp.fc1.weight_cast", SHARD_TP));
    ck_assert_uint_eq(s.partial[cast], 0);
    ck_assert_uint_eq(
        s.graph->ops[shard_find(s.graph, "layer0.mlp.fc1.weight_cast.update")].param_bytes,
        64 * 256 * 4 / 2);
    ck_assert(is_partial(&s, "layer0.mlp.ln", SHARD_TP));
    fr__sharded_free(&s);
    fr_graph_free(g);
}

int main(void)
{
    TCase *c = tcase_create("shard");

    add_tests(c);
    return run_case(c, "workloads/shard");
}
