/* tests/workloads/test_shard_read.c - layouts from a file: what they say, what is refused, and the
 * examples. */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/native_case.h"
#include "tests/support/shard_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPT "gpt:layers=2,hidden=64,heads=8,seq=16,vocab=320"

static const char *const names[] = {"tp", "cp"};

struct layout {
    uint8_t *split[2];
};

static enum fr_status read_text(struct layout *l, const struct fr_graph *g, const char *text,
                                struct fr_error *err)
{
    for (size_t a = 0; a < 2; a++) {
        l->split[a] = calloc(g->n_ops, 1);
        ck_assert_ptr_nonnull(l->split[a]);
    }
    return fr__shard_read_text(text, strlen(text), "layout.csv", g, names, 2, l->split, err);
}

static void forget(struct layout *l)
{
    free(l->split[0]);
    free(l->split[1]);
}

TEST(a_line_names_ops_and_where_their_outputs_are)
{
    static const struct {
        const char *op;
        size_t axis;
        enum fr__split split;
    } wanted[] = {
        {"layer0.attn.qkv", 0, FR__SPLIT_COLUMNS}, {"layer1.attn.qkv", 0, FR__SPLIT_COLUMNS},
        {"layer0.attn.proj", 0, FR__SPLIT_DEPTH},  {"layer1.attn.proj", 0, FR__SPLIT_NONE},
        {"layer0.mlp.fc1", 0, FR__SPLIT_DERIVED},  {"layer0.attn.ln", 0, FR__SPLIT_SEQUENCE},
        {"layer0.attn.qkv", 1, FR__SPLIT_SAMPLES}, {"layer0.attn.ln", 1, FR__SPLIT_DERIVED},
    };
    struct fr_graph *g = shard_load(GPT, 4);
    struct fr_error err;
    struct layout l;

    ck_assert_msg(read_text(&l, g,
                            "op,axis,placement\nlayer?.attn.qkv,tp,S(2)\n*.proj,tp,P\n"
                            "layer1.*proj,tp,R\n*attn.ln,tp,sequence\nlayer*.mlp.fc1,tp,depth\n"
                            "*.fc1,tp,derived\nlayer0.attn.qkv,cp,samples\n",
                            &err) == FR_OK,
                  "%s", err.text);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        ck_assert_msg(l.split[wanted[i].axis][shard_find(g, wanted[i].op)] ==
                          (uint8_t)wanted[i].split,
                      "%s", wanted[i].op);
    forget(&l);
    fr_graph_free(g);
}

TEST(a_wrong_line_is_refused_at_its_place)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"layer0.attn.qkv,dp,columns", "layout.csv:2:17: the mesh has no axis 'dp', did you mean "
                                       "'tp'?"},
        {"layer0.attn.qkv,tp,rows",
         "layout.csv:2:20: 'placement' is \"rows\", not R, P, S(dimension), samples, sequence, "
         "columns, depth, none or derived"},
        {"layer0.attn.qkv,tp,S(9)",
         "layout.csv:2:20: 'placement' is \"S(9)\", not R, P, S(dimension), samples, sequence, "
         "columns, depth, none or derived"},
        {"layer0.attn.ln,tp,S(2)",
         "layout.csv:2:19: op 'layer0.attn.ln' (layernorm) cannot have S(2)"},
        {"layer0.attn.ln,tp,depth",
         "layout.csv:2:19: op 'layer0.attn.ln' (layernorm) cannot have depth"},
        {"layer9.*,tp,columns",
         "layout.csv:2:1: 'gpt:layers=2,hidden=64,heads=8,seq=16,vocab=320' has no forward op "
         "'layer9.*'"},
        {"layer0.attn.qkv.wgrad,tp,columns",
         "layout.csv:2:1: 'gpt:layers=2,hidden=64,heads=8,seq=16,vocab=320' has no forward op "
         "'layer0.attn.qkv.wgrad'"},
        {"layer0.attn.qkv,tp", "layout.csv:2:1: the row has 2 cells, the header 3"},
    };
    struct fr_graph *g = shard_load(GPT, 4);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        struct fr_error err;
        struct layout l;

        snprintf(text, sizeof(text), "op,axis,placement\n%s\n", cases[i].line);
        ck_assert_int_ne(read_text(&l, g, text, &err), FR_OK);
        assert_message(&err, cases[i].message);
        for (size_t o = 0; o < g->n_ops; o++)
            ck_assert_uint_eq(l.split[0][o], 0);
        forget(&l);
    }
    fr_graph_free(g);
}

/* ---- the examples ---- */

static void shard_by_file(struct fr__sharded *s, const struct fr_graph *g, const char *file,
                          uint32_t size)
{
    uint8_t *split[] = {calloc(g->n_ops, 1), calloc(g->n_ops, 1)};
    struct fr__shard_axis axis = {.name = "tp", .size = size};
    const struct fr__shard_problem in = {
        .graph = g, .n_axes = 1, .axes = &axis, .experts = {.ep = 1, .etp = 1, .skew = 1}};
    char path[1024];
    struct fr_error err;

    ck_assert(split[0] && split[1]);
    native_case_source(file, path, sizeof(path));
    ck_assert_msg(fr__shard_read(path, g, names, 2, split, &err) == FR_OK, "%s", err.text);
    axis.split = split[0];
    ck_assert_msg(fr__shard(s, &in, &err) == FR_OK, "%s", err.text);
    free(split[0]);
    free(split[1]);
}

/* N. Shazeer et al., Mesh-TensorFlow, NeurIPS 2018, section 5: heads, the feed-forward layer and
 * the vocabulary. The same messages as Megatron-LM's layout. */
TEST(mesh_tensorflows_transformer_is_megatrons)
{
    const struct shard_mesh mesh = {.tp = 4};
    struct fr_graph *g =
        shard_load("transformer:layers=2,hidden=64,heads=8,ffn=128,seq=16,vocab=320", 4);
    struct fr__sharded own, megatron;

    shard_by_file(&own, g, "examples/layouts/mesh-tensorflow-transformer.csv", 4);
    shard_graph(&megatron, g, &mesh);
    ck_assert_uint_eq(own.graph->n_ops, megatron.graph->n_ops);
    ck_assert_uint_eq(own.n_comms, megatron.n_comms);
    for (size_t c = 0; c < own.n_comms; c++)
        ck_assert_str_eq(own.graph->ops[own.comms[c].op].name,
                         megatron.graph->ops[megatron.comms[c].op].name);
    fr__sharded_free(&own);
    fr__sharded_free(&megatron);
    fr_graph_free(g);
}

/* A. Krizhevsky, 2014: convolutions by samples, fully connected layers by neurons. All ranks'
 * samples are gathered in front of the first of those, 9216 numbers each, and the sums of their
 * gradients scattered; the 4096 numbers between the second and third are summed. */
TEST(one_weird_trick_gathers_samples_in_front_of_the_fully_connected_layers)
{
    enum { IMAGES = 32, FEATURES = 9216, WIDTH = 4096 };
    struct fr_graph *g = shard_load("alexnet", IMAGES);
    struct fr__sharded s;
    const struct fr_graph *n;

    shard_by_file(&s, g, "examples/layouts/one-weird-trick-alexnet.csv", 4);
    n = s.graph;
    ck_assert_uint_eq(n->ops[shard_find(n, "conv5")].shape.conv.images, IMAGES / 4);
    ck_assert_uint_eq(n->ops[shard_find(n, "pool5")].shape.pool.images, IMAGES / 4);
    ck_assert_uint_eq(n->ops[shard_find(n, "conv5")].param_bytes,
                      g->ops[shard_find(g, "conv5")].param_bytes);
    ck_assert_uint_eq(s.partial[shard_find(n, "conv5")], 1);
    ck_assert_uint_eq(n->ops[shard_find(n, "fc6")].shape.product.rows, IMAGES);
    ck_assert_uint_eq(n->ops[shard_find(n, "fc6")].shape.product.columns, WIDTH / 4);
    ck_assert_uint_eq(s.partial[shard_find(n, "fc6")], 0);
    ck_assert_uint_eq(shard_count(&s, FR_OP_ALL_GATHER, 0, "fc6", true).n, 1);
    ck_assert_double_eq_tol(shard_count(&s, FR_OP_ALL_GATHER, 0, "fc6", true).bytes,
                            4.0 * IMAGES * FEATURES, 1e-6);
    ck_assert_double_eq_tol(shard_count(&s, FR_OP_REDUCE_SCATTER, 0, "", false).bytes,
                            4.0 * IMAGES * FEATURES, 1e-6);
    ck_assert_double_eq_tol(shard_count(&s, FR_OP_ALL_REDUCE, 0, "fc7", true).bytes,
                            4.0 * IMAGES * WIDTH, 1e-6);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

/* ---- layouts in a line or two ---- */

static void shard_by_text(struct fr__sharded *s, const struct fr_graph *g, const char *text,
                          uint32_t size)
{
    struct fr__shard_axis axis = {.name = "tp", .size = size};
    const struct fr__shard_problem in = {
        .graph = g, .n_axes = 1, .axes = &axis, .experts = {.ep = 1, .etp = 1, .skew = 1}};
    struct fr_error err;
    struct layout l;

    ck_assert_msg(read_text(&l, g, text, &err) == FR_OK, "%s", err.text);
    axis.split = l.split[0];
    ck_assert_msg(fr__shard(s, &in, &err) == FR_OK, "%s", err.text);
    forget(&l);
}

/* Data parallelism as a layout: the first op by samples, and all follow. Nothing is sent but the
 * loss, where a sum of losses reads it, and every gradient is partial. */
TEST(what_is_split_by_samples_stays_so_to_the_end)
{
    static const char *const cases[][2] = {
        {"alexnet", "op,axis,placement\nconv1,tp,samples\n"},
        {"resnet50", "op,axis,placement\nconv1,tp,S(0)\n"},
        {GPT, "op,axis,placement\nembed.tokens,tp,samples\n"},
        {"llama:layers=2,hidden=64,ffn=128,heads=8,kv_heads=4,seq=16,vocab=320",
         "op,axis,placement\nembed,tp,samples\n"},
        {"mixtral:layers=1,hidden=64,ffn=128,heads=8,kv_heads=8,seq=64,vocab=320",
         "op,axis,placement\nembed,tp,samples\n"},
        {"transformer:layers=2,hidden=64,heads=8,ffn=128,seq=16,vocab=320",
         "op,axis,placement\n*embed.words,tp,samples\n"},
        {"gnmt:encoder=2,decoder=2,hidden=64,vocab=320,source=8,target=8",
         "op,axis,placement\n*embed*,tp,samples\n"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_graph *g = shard_load(cases[i][0], 8);
        struct fr__sharded s;
        struct fr_graph_totals whole, part;

        shard_by_text(&s, g, cases[i][1], 4);
        ck_assert_msg(s.n_comms == 0, "%s: %s", cases[i][0],
                      s.n_comms ? s.graph->ops[s.comms[0].op].name : "");
        fr_graph_totals(g, &whole);
        fr_graph_totals(s.graph, &part);
        ck_assert_double_eq_tol(4 * part.flops[FR_PHASE_FORWARD], whole.flops[FR_PHASE_FORWARD],
                                1e-3 * whole.flops[FR_PHASE_FORWARD]);
        ck_assert_uint_eq(part.params, whole.params);
        for (uint32_t o = 0; o < s.graph->n_ops; o++)
            if (s.graph->ops[o].phase == FR_PHASE_FORWARD && s.graph->ops[o].param_bytes)
                ck_assert_msg(s.partial[o] == 1 && s.divided[o] == 0, "%s", s.graph->ops[o].name);
        fr__sharded_free(&s);
        fr_graph_free(g);
    }
}

/* By channels that are written, then by channels that are read: one sum forward, and one backward
 * of the images that the first reads, if they have a gradient. */
TEST(two_convolutions_by_channels_sum_once)
{
    enum { IMAGES = 8, SIDE = 27, CHANNELS = 192 };
    struct fr_graph *g = shard_load("alexnet", IMAGES);
    struct fr__sharded s;
    const struct fr_graph *n;

    shard_by_text(&s, g, "op,axis,placement\nconv1,tp,columns\nconv2,tp,P\n", 4);
    n = s.graph;
    ck_assert_uint_eq(n->ops[shard_find(n, "conv1")].shape.conv.out_channels, 16);
    ck_assert_uint_eq(n->ops[shard_find(n, "pool1")].shape.pool.channels, 16);
    ck_assert_uint_eq(n->ops[shard_find(n, "conv2")].shape.conv.in_channels, 16);
    ck_assert_uint_eq(n->ops[shard_find(n, "conv2")].param_bytes,
                      g->ops[shard_find(g, "conv2")].param_bytes / 4);
    ck_assert_uint_eq(n->ops[shard_find(n, "conv2.bias")].param_bytes, CHANNELS * 4);
    ck_assert_uint_eq(s.n_comms, 1);
    ck_assert_double_eq_tol(s.comms[0].bytes, 4.0 * IMAGES * CHANNELS * SIDE * SIDE, 1e-6);
    ck_assert_int_eq(n->ops[s.comms[0].op].kind, FR_OP_ALL_REDUCE);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

/* A layer norm needs all columns, so those of a product in front of it are gathered, and again for
 * the norm's gradient. That is whole on every rank, and each takes its part of it without a
 * message. */
TEST(columns_in_front_of_a_norm_are_gathered)
{
    struct fr_graph *g = shard_load("bert:layers=1,hidden=64,heads=8,seq=16,vocab=320,head=mlm", 4);
    struct fr__sharded s;
    const struct fr_graph *n;

    shard_by_text(&s, g, "op,axis,placement\nlayer0.mlp.fc2,tp,columns\n", 4);
    n = s.graph;
    ck_assert_uint_eq(s.n_comms, 3);
    ck_assert_str_eq(n->ops[s.comms[0].op].name, "layer0.mlp.add.tp.all_gather");
    ck_assert_str_eq(n->ops[s.comms[1].op].name, "layer0.mlp.add.tp.all_gather2");
    ck_assert_str_eq(n->ops[s.comms[2].op].name, "layer0.mlp.fc2.dgrad.tp.all_reduce");
    ck_assert_double_eq_tol(s.comms[0].bytes, 4.0 * 16 * 64 * 4, 1e-6);
    ck_assert_double_eq_tol(s.comms[1].bytes, 4.0 * 16 * 64 * 4, 1e-6);
    ck_assert_double_eq_tol(s.comms[2].bytes, 4 * 4.0 * 16 * 64 * 4, 1e-6);
    ck_assert_int_eq(n->ops[shard_find(n, "layer0.mlp.ln.dgrad.tp.slice")].kind, FR_OP_SLICE);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

int main(void)
{
    TCase *c = tcase_create("shard_read");

    add_tests(c);
    return run_case(c, "workloads/shard_read");
}
