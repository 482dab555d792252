/* tests/workloads/test_fuse.c - ops that become one kernel. Sizes are counted by hand: T is one
 * tensor of the layer in question. */
#include "config.h"

#include "workloads/passes/fuse.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <string.h>

/* One layer of BERT: 4 tokens of width 8, 2 heads, a hidden layer of 32. */
#define TINY "bert:layers=1,hidden=8,heads=2,seq=4,vocab=16"
enum { T = 4 * 8 * 4, FFN = 4 * 32 * 4, SCORES = 2 * 4 * 4 * 4, MASK = T / 4 };

static struct fr_graph *load(const char *spec, enum fr_dtype dtype, unsigned fusions)
{
    const struct fr_workload_options opt = {.batch = 1, .dtype = dtype, .fusions = fusions};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, spec, &opt, &err) == FR_OK, "%s: %s", spec, err.text);
    return g;
}

static const struct fr_op *find(const struct fr_graph *g, const char *name)
{
    for (size_t o = 0; o < g->n_ops; o++)
        if (strcmp(g->ops[o].name, name) == 0)
            return &g->ops[o];
    return NULL;
}

static const struct fr_op *get(const struct fr_graph *g, const char *name)
{
    const struct fr_op *o = find(g, name);

    ck_assert_msg(o != NULL, "there is no op '%s'", name);
    return o;
}

/* Whether an op reads what another one writes. */
static bool reads(const struct fr_graph *g, const char *reader, const char *writer)
{
    uint32_t o = (uint32_t)(get(g, reader) - g->ops), w = (uint32_t)(get(g, writer) - g->ops);

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->src == w && e->tensor != FR_NONE)
            return true;
    }
    return false;
}

static uint64_t saved_bytes(const struct fr_graph *g)
{
    struct fr_graph_totals t;

    fr_graph_totals(g, &t);
    return t.saved_bytes;
}

TEST(a_bias_and_its_gelu_are_one_op_and_the_gradient_adds_the_bias_again)
{
    struct fr_graph *g = load(TINY, FR_FP32, 0);
    struct fr_graph *f = load(TINY, FR_FP32, 1u << FR_FUSE_BIAS_ACTIVATION);
    const struct fr_op *bias = get(g, "layer0.mlp.fc1.bias"), *gelu = get(g, "layer0.mlp.gelu");
    const struct fr_op *both = get(f, "layer0.mlp.gelu");

    ck_assert_double_eq(bias->bytes + gelu->bytes, 4 * FFN);
    ck_assert_double_eq(both->bytes, 2 * FFN);
    ck_assert_double_eq(both->flops, bias->flops + gelu->flops);
    ck_assert_uint_eq(both->param_bytes, 32 * 4);
    ck_assert_uint_eq(both->n_params, 1);
    ck_assert_int_eq(both->kind, FR_OP_GELU);
    ck_assert_ptr_null(find(f, "layer0.mlp.fc1.bias"));
    /* the gradient read what the bias wrote, and reads what the product wrote: as much */
    ck_assert(reads(g, "layer0.mlp.gelu.dgrad", "layer0.mlp.fc1.bias"));
    ck_assert(reads(f, "layer0.mlp.gelu.dgrad", "layer0.mlp.fc1"));
    ck_assert_double_eq(get(f, "layer0.mlp.gelu.dgrad")->bytes, 3 * FFN);
    ck_assert_uint_eq(saved_bytes(f), saved_bytes(g));
    /* its own gradient and update go on */
    ck_assert(reads(f, "layer0.mlp.fc1.bias.update", "layer0.mlp.fc1.bias.wgrad"));
    fr_graph_free(f);
    fr_graph_free(g);
}

TEST(a_product_with_its_bias_writes_no_sums_before_it)
{
    struct fr_graph *g = load(TINY, FR_FP32, 0);
    struct fr_graph *f = load(TINY, FR_FP32, 1u << FR_FUSE_PRODUCT_BIAS);
    const struct fr_op *alone = get(g, "layer0.mlp.fc1"), *both = get(f, "layer0.mlp.fc1");
    struct fr_fusion_effect x = fr_graph_fusion_effect(f, FR_FUSE_PRODUCT_BIAS);

    ck_assert_int_eq(both->kind, FR_OP_MATMUL);
    ck_assert_double_eq(both->bytes, alone->bytes);
    ck_assert_double_eq(both->flops, alone->flops);
    ck_assert_uint_eq(both->shape.product.epilogue, 0);
    ck_assert_uint_eq(both->n_params, 2);
    ck_assert_uint_eq(both->param_bytes, 32 * 8 * 4 + 32 * 4);
    ck_assert_ptr_null(find(f, "layer0.mlp.fc1.bias"));
    ck_assert_ptr_nonnull(find(f, "layer0.mlp.gelu"));
    ck_assert_ptr_nonnull(find(f, "layer0.mlp.fc1.bias.wgrad"));
    ck_assert_uint_eq(saved_bytes(f), saved_bytes(g));
    /* q, k, v and out of attention, two of the layer behind it, and of the two heads */
    ck_assert_uint_eq(x.n_groups, x.ops_after);
    ck_assert_uint_eq(x.ops_before, 2 * x.ops_after);
    ck_assert_uint_ge(x.n_groups, 6);
    fr_graph_free(f);
    fr_graph_free(g);
}

TEST(epilogues_hold_the_activation_and_its_gradient_and_the_bias_s)
{
    struct fr_graph *g = load(TINY, FR_FP32, 0);
    struct fr_graph *f = load(TINY, FR_FP32, 1u << FR_FUSE_PRODUCT_EPILOGUE);
    const struct fr_op *up = get(f, "layer0.mlp.fc1"), *down = get(f, "layer0.mlp.fc2.dgrad"),
                       *weights = get(f, "layer0.mlp.fc1.wgrad");

    /* reads T, writes the GELU's input for its gradient and its output */
    ck_assert_double_eq(up->bytes, T + 2 * FFN);
    ck_assert_uint_eq(up->shape.product.epilogue, FFN);
    ck_assert_uint_eq(up->n_tensors, 2);
    /* reads the gradient T and the GELU's input, writes the gradient of that */
    ck_assert_double_eq(down->bytes, T + 2 * FFN);
    ck_assert_uint_eq(down->shape.product.epilogue, FFN);
    ck_assert(reads(f, "layer0.mlp.fc2.dgrad", "layer0.mlp.fc1"));
    /* the bias's gradient sums what the weights' product reads anyway */
    ck_assert_double_eq(weights->bytes, get(g, "layer0.mlp.fc1.wgrad")->bytes);
    ck_assert_uint_eq(weights->shape.product.epilogue, 0);
    ck_assert(reads(f, "layer0.mlp.fc1.bias.update", "layer0.mlp.fc1.wgrad"));
    ck_assert(reads(f, "layer0.mlp.fc1.update", "layer0.mlp.fc1.wgrad"));
    ck_assert_ptr_null(find(f, "layer0.mlp.gelu"));
    ck_assert_ptr_null(find(f, "layer0.mlp.gelu.dgrad"));
    ck_assert_ptr_null(find(f, "layer0.mlp.fc1.bias.wgrad"));
    ck_assert_uint_eq(saved_bytes(f), saved_bytes(g));
    fr_graph_free(f);
    fr_graph_free(g);
}

TEST(scaling_masking_and_softmax_are_one_op_and_so_are_their_gradients)
{
    struct fr_graph *g = load(TINY, FR_FP32, 0);
    struct fr_graph *f = load(TINY, FR_FP32, 1u << FR_FUSE_SOFTMAX);
    struct fr_fusion_effect x = fr_graph_fusion_effect(f, FR_FUSE_SOFTMAX);

    ck_assert_double_eq(get(g, "layer0.attn.scale")->bytes, 2 * SCORES);
    ck_assert_double_eq(get(g, "layer0.attn.softmax.dgrad")->bytes, 3 * SCORES);
    ck_assert_double_eq(get(f, "layer0.attn.softmax")->bytes, 2 * SCORES);
    ck_assert_double_eq(get(f, "layer0.attn.softmax.dgrad")->bytes, 3 * SCORES);
    ck_assert(reads(f, "layer0.attn.softmax", "layer0.attn.scores"));
    ck_assert(reads(f, "layer0.attn.scores.dgrad0", "layer0.attn.softmax.dgrad"));
    ck_assert_uint_eq(f->n_ops, g->n_ops - 4);
    ck_assert_uint_eq(x.n_groups, 1);
    ck_assert_uint_eq(x.ops_before, 6);
    ck_assert_uint_eq(x.ops_after, 2);
    ck_assert_double_eq(x.bytes_before, (2 + 2 + 2 + 3 + 2 + 2) * SCORES);
    ck_assert_double_eq(x.bytes_after, (2 + 3) * SCORES);
    fr_graph_free(f);
    fr_graph_free(g);
}

TEST(dropout_and_the_residual_are_one_op_that_keeps_the_mask)
{
    struct fr_graph *f = load(TINY, FR_FP32, 1u << FR_FUSE_DROPOUT_ADD);
    const struct fr_op *op = get(f, "layer0.mlp.out.dropout");

    /* reads the product and the residual, writes the sum and the mask */
    ck_assert_double_eq(op->bytes, 3 * T + MASK);
    ck_assert_uint_eq(op->n_tensors, 2);
    ck_assert_uint_eq(f->tensors[op->first_tensor].bytes, T);
    ck_assert_uint_eq(f->tensors[op->first_tensor + 1].bytes, MASK);
    ck_assert(reads(f, "layer0.mlp.out.dropout", "layer0.mlp.fc2"));
    ck_assert(reads(f, "layer0.mlp.out.dropout", "layer0.attn.ln"));
    ck_assert(reads(f, "layer0.mlp.out.dropout.dgrad", "layer0.mlp.out.dropout"));
    ck_assert_double_eq(get(f, "layer0.mlp.out.dropout.dgrad")->bytes, 2 * T + MASK);
    fr_graph_free(f);
}

TEST(casts_between_the_ops_of_a_pattern_belong_to_it)
{
    struct fr_graph *f = load(TINY, FR_AMP, 1u << FR_FUSE_SOFTMAX);

    /* fp16 in, fp32 out; its gradient the other way round, with the fp32 output */
    ck_assert_ptr_null(find(f, "layer0.attn.softmax.cast"));
    ck_assert_double_eq(get(f, "layer0.attn.softmax")->bytes, SCORES / 2 + SCORES);
    ck_assert_double_eq(get(f, "layer0.attn.softmax.dgrad")->bytes, 2 * SCORES + SCORES / 2);
    fr_graph_free(f);
}

TEST(a_batch_norm_and_its_relu_are_one_op_and_the_weights_gradient_makes_the_relus_again)
{
    enum { C = 64 * 56 * 56 * 4 };
    struct fr_graph *g = load("resnet18", FR_FP32, 0);
    struct fr_graph *f = load("resnet18", FR_FP32, 1u << FR_FUSE_BATCHNORM);

    ck_assert_double_eq(get(g, "layer1.0.conv1.bn")->bytes, 2 * C);
    ck_assert_double_eq(get(f, "layer1.0.conv1.bn")->bytes, 2 * C);
    ck_assert_ptr_null(find(f, "layer1.0.conv1.relu"));
    /* gradients: of the output, the output, the input; writes one */
    ck_assert_double_eq(get(f, "layer1.0.conv1.bn.dgrad")->bytes, 4 * C);
    ck_assert_double_eq(get(g, "layer1.0.conv1.bn.wgrad")->bytes, 2 * C);
    ck_assert_double_eq(get(f, "layer1.0.conv1.bn.wgrad")->bytes, 3 * C);
    /* with the residual: it is read, and its gradient is written too */
    ck_assert_double_eq(get(f, "layer1.0.conv2.bn")->bytes, 3 * C);
    ck_assert_double_eq(get(f, "layer1.0.conv2.bn.dgrad")->bytes, 5 * C);
    ck_assert_double_eq(get(f, "layer1.0.conv2.bn.wgrad")->bytes, 2 * C);
    ck_assert_uint_eq(saved_bytes(f), saved_bytes(g));
    fr_graph_free(f);
    fr_graph_free(g);
}

TEST(inductor_makes_a_norm_and_all_elementwise_ops_before_it_one_kernel)
{
    struct fr_graph *g = load(TINY, FR_FP32, 0);
    struct fr_graph *f = load(TINY, FR_FP32, 1u << FR_FUSE_INDUCTOR);
    const struct fr_op *ln = get(f, "layer0.mlp.ln");

    /* bias, dropout, addition, norm: the product and the residual in; the result, what the norm's
     * gradient reads, the mask and a mean and a deviation a row out */
    ck_assert_double_eq(ln->bytes, 4 * T + MASK + get(g, "layer0.mlp.ln")->bytes - 2 * T);
    ck_assert_uint_eq(ln->n_params, 3);
    ck_assert_uint_eq(ln->param_bytes, 3 * 8 * 4);
    ck_assert_uint_le(saved_bytes(f), saved_bytes(g));
    ck_assert_uint_lt(f->n_ops, g->n_ops);
    fr_graph_free(f);
    fr_graph_free(g);
}

TEST(xla_reads_the_input_of_a_softmax_twice_more)
{
    struct fr_graph *f = load(TINY, FR_FP32, 1u << FR_FUSE_XLA);

    /* the scores, the result, what dropout makes of it, its mask; the two reductions; and random
     * numbers of 4 bytes, which another kernel wrote */
    ck_assert_double_eq(get(f, "layer0.attn.softmax")->bytes,
                        3 * SCORES + SCORES / 4 + 2 * SCORES + 2 * SCORES);
    fr_graph_free(f);
}

/* In tensors like the result, of 4 bytes a number: what small_ops.h adds up by hand. */
TEST(small_ops_read_and_write_whole_tensors)
{
    struct fr_graph *g = load(TINY, FR_FP32, 0);
    struct fr_graph *f = load(TINY, FR_FP32, 1u << FR_FUSE_SMALL_OPS);
    const struct fr_op *ln = get(g, "layer0.mlp.ln"), *ln_grad = get(g, "layer0.mlp.ln.dgrad");
    struct fr_fusion_effect e = fr_graph_fusion_effect(f, FR_FUSE_SMALL_OPS);

    ck_assert_uint_eq(f->n_ops, g->n_ops);
    ck_assert_uint_eq(saved_bytes(f), saved_bytes(g));
    ck_assert_double_eq(get(f, "layer0.attn.softmax")->bytes, 4 * SCORES);
    ck_assert_double_eq(get(f, "layer0.attn.softmax.dgrad")->bytes, 9 * SCORES);
    /* a random number is as large as a number here, a mask's byte a quarter of it */
    ck_assert_double_eq(get(f, "layer0.mlp.out.dropout")->bytes, 6 * T + 2 * T + 2 * (T / 4.0));
    ck_assert_double_eq(get(f, "layer0.mlp.out.dropout.dgrad")->bytes, 5 * T);
    ck_assert_double_eq(get(f, "layer0.mlp.ln")->bytes, ln->bytes + 13 * T);
    ck_assert_double_eq(get(f, "layer0.mlp.ln.dgrad")->bytes, ln_grad->bytes + 33 * T);
    ck_assert_double_eq(get(f, "layer0.mlp.gelu")->bytes,
                        11 / 2.0 * get(g, "layer0.mlp.gelu")->bytes);
    ck_assert_double_eq(get(f, "layer0.mlp.gelu.dgrad")->bytes,
                        24 / 3.0 * get(g, "layer0.mlp.gelu.dgrad")->bytes);
    ck_assert_uint_eq(e.ops_before, 2 * e.n_groups);
    ck_assert_uint_gt(e.ops_after, 5 * e.n_groups);
    ck_assert_double_gt(e.bytes_after, 4 * e.bytes_before);
    fr_graph_free(f);
    fr_graph_free(g);
}

/* What small_ops.h adds up by hand, of numbers of 2 and of 4 bytes. */
TEST(torch_models_write_norms_and_rotary_positions_out)
{
    static const char spec[] =
        "llama:layers=2,hidden=64,heads=2,kv_heads=2,ffn=128,seq=16,vocab=50";
    unsigned fusions = 1u << FR_FUSE_TORCH_NORMS;

    for (unsigned half = 0; half < 2; half++) {
        struct fr_graph *g = load(spec, half ? FR_BF16 : FR_FP32, 0);
        struct fr_graph *f = load(spec, half ? FR_BF16 : FR_FP32, fusions);
        double n = 8 * 16 * 64, forward = half ? 32 : 20, backward = half ? 74 : 64;
        double rotary = half ? 16 : 0;

        n *= g->batch / 8.0;
        ck_assert_double_eq(get(f, "layer0.mlp.norm")->bytes - get(g, "layer0.mlp.norm")->bytes,
                            forward * n);
        ck_assert_double_eq(get(f, "layer0.mlp.norm.dgrad")->bytes -
                                get(g, "layer0.mlp.norm.dgrad")->bytes,
                            backward * n);
        ck_assert_double_eq(get(f, "layer0.attn.q.rotary")->bytes -
                                get(g, "layer0.attn.q.rotary")->bytes,
                            rotary * n);
        fr_graph_free(f);
        fr_graph_free(g);
    }
}

/* WIDE: a tensor of the hidden layer, 16 tokens of 128 numbers of 2 bytes. Kept of a layer and
 * token (Megatron-LM, megatron/core/fusions/fused_bias_swiglu.py): 2 h before and behind each of
 * two norms, 2 h of queries and of attention's outcome, 4 h_kv of keys and values, 4 f of gate
 * and up, 2 f of their product, 4 bytes a head of attention, 4 a norm. */
TEST(swiglu_fused_keeps_its_input_alone)
{
    static const char *const specs[] = {
        "llama:layers=1,hidden=64,heads=4,kv_heads=2,ffn=128,seq=16,vocab=50",
        "llama:layers=2,hidden=64,heads=4,kv_heads=2,ffn=128,seq=16,vocab=50"};
    enum { TOKENS = 16, H = 64, KV = 32, F = 128, HEADS = 4, WIDE = TOKENS * F * 2 };
    uint64_t saved[2];

    for (unsigned k = 0; k < 2; k++) {
        struct fr_graph *g = load(specs[k], FR_BF16, 0);
        struct fr_graph *f = load(specs[k], FR_BF16, 1u << FR_FUSE_GATED_ACTIVATION);
        const struct fr_op *both =
            find(f, "layer0.mlp.silu") ? find(f, "layer0.mlp.silu") : get(f, "layer0.mlp.mul");

        ck_assert_uint_eq(saved_bytes(g) - saved_bytes(f), (k + 1) * WIDE);
        ck_assert_double_eq(get(g, "layer0.mlp.silu")->bytes + get(g, "layer0.mlp.mul")->bytes,
                            5 * WIDE);
        ck_assert_double_eq(both->bytes, 3 * WIDE);
        ck_assert(!find(f, "layer0.mlp.silu") || !find(f, "layer0.mlp.mul"));
        saved[k] = saved_bytes(f);
        fr_graph_free(f);
        fr_graph_free(g);
    }
    ck_assert_uint_eq(saved[1] - saved[0], TOKENS * (12 * H + 4 * KV + 6 * F + 4 * HEADS + 2 * 4));
}

TEST(gpt2_in_torch_writes_gelu_out)
{
    struct fr_graph *g = load(TINY, FR_FP32, 0);
    struct fr_graph *f = load(TINY, FR_FP32, 1u << FR_FUSE_TORCH_GELU);

    ck_assert_double_eq(get(f, "layer0.mlp.gelu")->bytes, 9 * get(g, "layer0.mlp.gelu")->bytes);
    ck_assert_double_eq(get(f, "layer0.mlp.gelu.dgrad")->bytes,
                        28 / 3.0 * get(g, "layer0.mlp.gelu.dgrad")->bytes);
    ck_assert_double_eq(get(f, "layer0.mlp.ln")->bytes, get(g, "layer0.mlp.ln")->bytes);
    fr_graph_free(f);
    fr_graph_free(g);
}

/* Everything that holds for any graph: parameters, FLOPs of products and the number of updates
 * stay; traffic never grows but for what XLA reads again and what small ops move. */
LOOP_TEST(what_is_trained_stays_as_it_was, 0, 16)
{
    static const char *const specs[] = {TINY,
                                        "resnet18",
                                        "gpt:layers=2,hidden=64,heads=2,seq=16",
                                        "gnmt-8",
                                        "transformer",
                                        "inception-v3",
                                        "densenet121",
                                        "t5:layers=2,hidden=64,heads=2"};
    unsigned which = (unsigned)_i / 2, dtype = _i % 2 ? FR_AMP : FR_FP32;
    struct fr_graph *g = load(specs[which], (enum fr_dtype)dtype, 0);
    struct fr_graph_totals before, after;

    fr_graph_totals(g, &before);
    for (unsigned f = 0; f < FR_N_FUSIONS; f++) {
        struct fr_graph *x = load(specs[which], (enum fr_dtype)dtype, 1u << f);
        struct fr_fusion_effect e = fr_graph_fusion_effect(x, (enum fr_fusion)f);

        fr_graph_totals(x, &after);
        ck_assert_uint_eq(after.params, before.params);
        ck_assert_uint_eq(after.param_tensors, before.param_tensors);
        ck_assert_uint_eq(after.ops[FR_PHASE_UPDATE], before.ops[FR_PHASE_UPDATE]);
        ck_assert_double_eq(after.model_flops, before.model_flops);
        ck_assert_uint_eq(x->n_layers > 0, 1);
        if (f != FR_FUSE_XLA && f < FR_FUSE_SMALL_OPS) {
            ck_assert_double_le(e.bytes_after, e.bytes_before);
            ck_assert_uint_eq(x->n_ops, g->n_ops - (e.ops_before - e.ops_after));
        }
        fr_graph_free(x);
    }
    fr_graph_free(g);
}

TEST(a_measured_graph_keeps_its_ops)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    const struct fr_graph info = {.name = "m", .batch = 1, .param_elem_bytes = 4};
    const struct fr_tensor t = {.bytes = 64, .alias = FR_NONE, .scales = true};
    struct fr_op op = {.name = "b",
                       .kind = FR_OP_BIAS,
                       .phase = FR_PHASE_FORWARD,
                       .bytes = 128,
                       .forward = FR_NONE,
                       .scales = true};
    struct fr_graph *g = NULL, *f = NULL;
    struct fr_error err;

    ck_assert_uint_eq(fr_graph_builder_op(b, &op, "l", &t, 1), 0);
    op.name = "r";
    op.kind = FR_OP_RELU;
    ck_assert_uint_eq(fr_graph_builder_op(b, &op, "l", &t, 1), 1);
    fr_graph_builder_edge(b, 0, 1, 0, 64);
    fr_graph_builder_sample(b, 0, "*", 1, 1e-3);
    ck_assert_msg(fr_graph_builder_finish(b, &info, &g, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(fr__fuse(g, 1u << FR_FUSE_BIAS_ACTIVATION, &f, &err), FR_OK);
    ck_assert_uint_eq(f->n_ops, 2);
    ck_assert_uint_eq(f->n_samples, 1);
    fr_graph_free(f);
    fr_graph_free(g);
    fr_graph_builder_free(b);
}

int main(void)
{
    TCase *t = tcase_create("fuse");

    add_tests(t);
    return run_case(t, "fuse");
}
