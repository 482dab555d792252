/* tests/workloads/test_autocast.c - mixed precision: which ops are cast and what is saved, compared
 * with PyTorch's autocast. */
#include "config.h"

#include "workloads/workloads.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fr_graph *load(const char *spec, uint32_t batch, enum fr_dtype dtype)
{
    struct fr_workload_options opt = {.batch = batch, .dtype = dtype};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, spec, &opt, &err) == FR_OK, "%s", err.text);
    return g;
}

static struct fr_graph_totals totals(const char *spec, uint32_t batch, enum fr_dtype dtype)
{
    struct fr_graph *g = load(spec, batch, dtype);
    struct fr_graph_totals t;

    fr_graph_totals(g, &t);
    fr_graph_free(g);
    return t;
}

static uint32_t find(const struct fr_graph *g, const char *name)
{
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (strcmp(g->ops[o].name, name) == 0)
            return o;
    ck_abort_msg("no op is called '%s'", name);
    return FR_NONE;
}

static uint64_t output_bytes(const struct fr_graph *g, const char *name)
{
    return g->tensors[g->ops[find(g, name)].first_tensor].bytes;
}

static bool reads(const struct fr_graph *g, const char *reader, const char *writer)
{
    uint32_t dst = find(g, reader), src = find(g, writer);

    for (uint32_t i = g->in_first[dst]; i < g->in_first[dst + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->src == src && e->tensor != FR_NONE)
            return true;
    }
    return false;
}

static unsigned count(const struct fr_graph *g, const char *ending)
{
    unsigned n = 0;

    for (size_t o = 0; o < g->n_ops; o++) {
        size_t length = strlen(g->ops[o].name), end = strlen(ending);

        n += length >= end && strcmp(g->ops[o].name + length - end, ending) == 0;
    }
    return n;
}

/* PyTorch 1.13.0, torchvision 0.14.1, on the CPU under torch.autocast(dtype=bfloat16), whose lists
 * agree with those of the GPU on all ops of these models: storages that torch.autograd.graph.
 * saved_tensors_hooks sees once each, without parameters and buffers, training mode, 224 x 224,
 * cross entropy. VGG's dropouts had p = 0 there: they save nothing and hand their input on, so
 * ours, with p = 0.5, saves for each of two layers of 4096 a mask of 1 byte and an output of 2
 * bytes an element more: 24 576 bytes a sample. */
TEST(saved_bytes_equal_pytorchs_under_autocast)
{
    static const struct {
        const char *model;
        uint32_t batch;
        uint64_t saved_bytes, dropout_bytes;
    } rows[] = {
        {"resnet18", 2, 47189716, 0},   {"resnet18", 4, 70983204, 0},
        {"resnet50", 2, 138741460, 0},  {"resnet50", 4, 226264612, 0},
        {"vgg11", 2, 326757588, 24576}, {"vgg11", 4, 387812388, 24576},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ck_assert_uint_eq(totals(rows[i].model, rows[i].batch, FR_AMP).saved_bytes,
                          rows[i].saved_bytes + rows[i].batch * rows[i].dropout_bytes);
}

TEST(parameters_and_products_stay_what_they_are_in_fp32)
{
    static const char *const models[] = {"lenet", "alexnet", "resnet50", "gpt2-small"};

    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        struct fr_graph_totals full = totals(models[i], 32, FR_FP32);
        struct fr_graph_totals half = totals(models[i], 32, FR_AMP);

        ck_assert_uint_eq(half.params, full.params);
        ck_assert_uint_eq(half.param_bytes, full.param_bytes);
        ck_assert_uint_eq(half.param_tensors, full.param_tensors);
        ck_assert_uint_eq(half.ops[FR_PHASE_UPDATE], full.ops[FR_PHASE_UPDATE]);
        /* casts count one an element: less than a hundredth of the products */
        ck_assert_double_ge(half.flops[FR_PHASE_FORWARD], full.flops[FR_PHASE_FORWARD]);
        ck_assert_double_le(half.flops[FR_PHASE_FORWARD], 1.01 * full.flops[FR_PHASE_FORWARD]);
        ck_assert_double_ge(half.flops[FR_PHASE_BACKWARD_WEIGHT],
                            full.flops[FR_PHASE_BACKWARD_WEIGHT]);
    }
}

/* One layer, width 8, 2 heads, 4 tokens, 16 words, 3 samples: scores are 3 x 2 x 4 x 4 elements,
 * the residual stream 3 x 4 x 8. */
static const char *const tiny = "gpt:layers=1,hidden=8,heads=2,seq=4,vocab=16";

TEST(products_run_in_half_and_normalisation_in_full)
{
    struct fr_graph *g = load(tiny, 3, FR_AMP);

    ck_assert_uint_eq(output_bytes(g, "layer0.attn.ln"), UINT64_C(4) * 3 * 4 * 8);
    ck_assert_uint_eq(output_bytes(g, "layer0.attn.qkv.cast"), UINT64_C(2) * 3 * 4 * 8);
    ck_assert_uint_eq(output_bytes(g, "layer0.attn.qkv.weight_cast"), UINT64_C(2) * 8 * 24);
    ck_assert_uint_eq(output_bytes(g, "layer0.attn.qkv"), UINT64_C(2) * 3 * 4 * 24);
    ck_assert_uint_eq(output_bytes(g, "layer0.attn.softmax"), UINT64_C(4) * 3 * 2 * 4 * 4);
    ck_assert(reads(g, "layer0.attn.qkv.cast", "layer0.attn.ln"));
    ck_assert(reads(g, "layer0.attn.qkv", "layer0.attn.qkv.cast"));
    ck_assert(reads(g, "layer0.attn.qkv", "layer0.attn.qkv.weight_cast"));
    ck_assert_uint_eq(g->ops[find(g, "layer0.attn.qkv")].param_bytes, 0);
    ck_assert_uint_eq(g->ops[find(g, "layer0.attn.qkv.weight_cast")].param_bytes, 4 * 8 * 24);
    fr_graph_free(g);
}

/* The backward of a cast is a cast: half to full for weights, full to half back to full for what
 * was read. */
TEST(gradients_have_the_precision_of_what_they_are_for)
{
    struct fr_graph *g = load(tiny, 3, FR_AMP);

    ck_assert_uint_eq(output_bytes(g, "layer0.attn.qkv.wgrad"), UINT64_C(2) * 8 * 24);
    ck_assert_uint_eq(output_bytes(g, "layer0.attn.qkv.weight_cast.wgrad"), UINT64_C(4) * 8 * 24);
    ck_assert_uint_eq(output_bytes(g, "layer0.attn.qkv.dgrad"), UINT64_C(2) * 3 * 4 * 8);
    ck_assert_uint_eq(output_bytes(g, "layer0.attn.qkv.cast.dgrad"), UINT64_C(4) * 3 * 4 * 8);
    ck_assert(reads(g, "layer0.attn.qkv.weight_cast.wgrad", "layer0.attn.qkv.wgrad"));
    ck_assert(reads(g, "layer0.attn.qkv.dgrad", "layer0.attn.qkv.weight_cast"));
    ck_assert(reads(g, "layer0.attn.qkv.wgrad", "layer0.attn.qkv.cast"));
    ck_assert(reads(g, "layer0.attn.qkv.weight_cast.update", "layer0.attn.qkv.weight_cast.wgrad"));
    fr_graph_free(g);
}

/* The head's weights are the embedding's table: cast for the head, owned by the embedding, whose
 * own rows stay in fp32. */
TEST(tied_weights_are_cast_where_they_are_multiplied)
{
    struct fr_graph *g = load(tiny, 3, FR_AMP);
    uint32_t cast = find(g, "head.weight_cast");

    ck_assert_uint_eq(g->ops[cast].param_bytes, 0);
    ck_assert_uint_eq(output_bytes(g, "head.weight_cast"), UINT64_C(2) * 16 * 8);
    ck_assert_uint_eq(g->ops[find(g, "embed.tokens")].param_bytes, 4 * 16 * 8);
    ck_assert_uint_eq(output_bytes(g, "embed.tokens"), UINT64_C(4) * 3 * 4 * 8);
    ck_assert(reads(g, "embed.tokens.wgrad_add", "head.weight_cast.wgrad"));
    fr_graph_free(g);
}

/* Weights that the steps of a recurrence share are cast once a forward pass, and have one gradient:
 * two layers of an LSTM have an input and a recurrent matrix each, and there is the output
 * layer. */
TEST(shared_weights_are_cast_once)
{
    struct fr_graph *g = load("rnnlm", 2, FR_AMP);

    ck_assert_uint_eq(count(g, ".weight_cast"), 5);
    ck_assert_uint_eq(count(g, ".weight_cast.wgrad"), 5);
    ck_assert_uint_eq(count(g, ".weight_cast.update"), 5);
    fr_graph_free(g);
}

/* What the residual stream adds is half from a product and full from the stream: the sum is
 * full. */
TEST(a_sum_has_the_wider_type)
{
    struct fr_graph *g = load(tiny, 3, FR_AMP);

    ck_assert_uint_eq(output_bytes(g, "layer0.attn.proj"), UINT64_C(2) * 3 * 4 * 8);
    ck_assert_uint_eq(output_bytes(g, "layer0.attn.add"), UINT64_C(4) * 3 * 4 * 8);
    fr_graph_free(g);
}

static void fail_with(void *user, const char *line)
{
    ck_abort_msg("%s: %s", (const char *)user, line);
}

TEST(nothing_is_odd_about_the_zoo_in_full_and_mixed_precision)
{
    static const enum fr_dtype dtypes[] = {FR_FP32, FR_AMP};
    const char *name;

    for (size_t i = 0; (name = fr_zoo_name(i)) != NULL; i++)
        for (size_t k = 0; k < 2; k++) {
            char spec[64];
            struct fr_graph *g;

            snprintf(spec, sizeof(spec), "%s", strcmp(name, "wresnet-L-W") ? name : "wresnet-50-2");
            g = load(spec, 2, dtypes[k]);
            fr_graph_check(g, fail_with, spec);
            fr_graph_free(g);
        }
}

int main(void)
{
    TCase *c = tcase_create("all");

    add_tests(c);
    return run_case(c, "workloads/autocast");
}
