/* tests/workloads/test_quantise.c - casts of number-format recipes: what a layer keeps, what casts
 * move, which products are narrow, what messages carry. All numbers are derived by hand. */
#include "config.h"

#include "tests/support/base_check.h"
#include "workloads/load.h"
#include "workloads/passes/quantise.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* 256 tokens of width 256; keys and values of 128, 512 in the feed-forward layer. */
#define LLAMA                                                                                      \
    "llama:layers=1,hidden=256,heads=4,kv_heads=2,ffn=512,seq=128,vocab=1024,attention=flash"
enum { TOKENS = 256, HIDDEN = 256, KV = 128, FFN = 512, HEADS = 4 };

static struct fr_graph *load(const char *formats)
{
    const struct fr_workload_options opt = {.batch = 2, .dtype = FR_BF16};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr__workload_load_in(&g, LLAMA, &opt, formats, &err) == FR_OK, "%s", err.text);
    return g;
}

static struct fr__sharded quantise(const struct fr_graph *g, enum fr_units units,
                                   bool casts_each_use)
{
    const struct fr__quantise_problem p = {
        .graph = g, .units = units, .casts_each_use = casts_each_use};
    struct fr__sharded made;
    struct fr_error err;

    ck_assert_msg(fr__quantise(&made, &p, &err) == FR_OK, "%s", err.text);
    return made;
}

static const struct fr_op *find(const struct fr_graph *g, const char *name)
{
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (strcmp(g->ops[o].name, name) == 0)
            return &g->ops[o];
    return NULL;
}

static const struct fr_op *need(const struct fr_graph *g, const char *name)
{
    const struct fr_op *op = find(g, name);

    ck_assert_msg(op != NULL, "no op '%s'", name);
    return op;
}

static uint64_t saved_of(const struct fr_graph *g, const char *layer)
{
    struct fr_layer_totals totals[16];
    struct fr_error err;

    ck_assert_uint_le(g->n_layers, 16);
    ck_assert_int_eq(fr_graph_layer_totals(g, totals, &err), FR_OK);
    for (size_t i = 0; i < g->n_layers; i++)
        if (strcmp(g->layer_names[i], layer) == 0)
            return totals[i].saved_bytes;
    ck_abort_msg("no layer '%s'", layer);
    return 0;
}

/* ---- what is kept ---- */

/* Bytes of a copy by columns of [256][width] numbers:
 *     a scale a tensor   256 w + 4
 *     fp8-blockwise      256 w + w scales of 4 bytes for each 128 of the 256 rows: + 8 w
 *     mxfp8              256 w + a byte for each 32: + 8 w
 *     mxfp4              128 w + 8 w
 *     nvfp4              128 w + a byte for each 16: + 16 w; + 4 */
static const struct kept {
    const char *formats;
    enum fr_units units;
    uint64_t per_width, and;
    bool copies_input; /* the attention's result too, which attention keeps in 16 bits */
} kept[] = {
    {"fp8-delayed", FR_UNITS_MX, 256, 4, true},
    {"fp8-delayed", FR_UNITS_ANY, 256, 4, true}, /* transposed beside, or in the backward pass */
    {"fp8-current", FR_UNITS_MX, 256, 4, false},
    {"fp8-current", FR_UNITS_ANY, 256, 4, false},
    {"fp8-blockwise", FR_UNITS_ANY, 264, 0, false},
    {"mxfp8", FR_UNITS_MX, 264, 0, false},
    {"mxfp4", FR_UNITS_MX, 136, 0, false},
    {"nvfp4", FR_UNITS_MX_NV, 144, 4, false},
};

static uint64_t copy(const struct kept *k, uint64_t width)
{
    return k->per_width * width + k->and;
}

/* In bf16 a layer keeps its norms' results and their roots (4 bytes a token), queries, keys,
 * values, attention's result with a sum a head, what it adds; gate, silu, up and their product. */
START_TEST(a_layer_keeps_copies_in_place_of_what_products_read)
{
    const struct kept *k = &kept[_i];
    struct fr_graph *g = load(k->formats);
    struct fr__sharded made = quantise(g, k->units, false);
    uint64_t wide = 2 * TOKENS * HIDDEN, root = 4 * TOKENS;
    uint64_t attention =
        copy(k, HIDDEN) + root + wide + 2 * (2 * TOKENS * KV) + wide + 4 * TOKENS * HEADS + wide;
    uint64_t mlp = copy(k, HIDDEN) + root + 3 * (2 * TOKENS * FFN) + copy(k, FFN) + wide;

    if (k->copies_input)
        attention += copy(k, HIDDEN);
    ck_assert_uint_eq(saved_of(made.graph, "layer0.attn"), attention);
    ck_assert_uint_eq(saved_of(made.graph, "layer0.mlp"), mlp);
    fr__sharded_free(&made);
    fr_graph_free(g);
}
END_TEST

TEST(bf16_and_plain_fp8_keep_sixteen_bits)
{
    const struct fr_workload_options opt = {.batch = 2, .dtype = FR_FP8};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_int_eq(fr_workload_load(&g, LLAMA, &opt, &err), FR_OK);
    ck_assert_ptr_null(g->formats);
    ck_assert_uint_eq(saved_of(g, "layer0.attn"), 660480);
    ck_assert_uint_eq(saved_of(g, "layer0.mlp"), 1311744);
    fr_graph_free(g);
}

/* ---- what casts move ---- */

/* [256][256] numbers: 131072 bytes in 16 bits. */
static const struct moved {
    const char *formats, *op;
    enum fr_units units;
    double bytes;
} moved[] = {
    {"mxfp8", "layer0.attn.norm.cast", FR_UNITS_MX, 131072 + 2 * 67584},
    {"mxfp8", "layer0.attn.flash.cast", FR_UNITS_MX, 131072 + 67584},         /* rows */
    {"mxfp8", "layer0.attn.flash.cast_columns", FR_UNITS_MX, 131072 + 67584}, /* later */
    {"fp8-blockwise", "layer0.attn.norm.cast", FR_UNITS_ANY, 131072 + 2 * 67584},
    {"fp8-current", "layer0.attn.norm.amax", FR_UNITS_ANY, 131072},
    {"fp8-current", "layer0.attn.norm.cast", FR_UNITS_ANY, 131072 + 2 * 65540},
    {"fp8-current", "layer0.attn.norm.cast", FR_UNITS_MX, 131072 + 65540}, /* no transpose */
    {"fp8-delayed", "layer0.mlp.mul.cast", FR_UNITS_ANY, 2 * 131072 + 2 * 131076},
    {"fp8-delayed", "layer0.attn.norm.transpose", FR_UNITS_ANY, 2 * 65540},
    /* the norm itself writes 8 bits: 263168 - 131072 + 65540 */
    {"fp8-delayed", "layer0.attn.norm", FR_UNITS_ANY, 197636},
    {"nvfp4", "layer0.attn.norm.amax", FR_UNITS_MX_NV, 131072},
    {"nvfp4", "layer0.attn.norm.cast", FR_UNITS_MX_NV, 2 * 131072 + 2 * 36868},
    {"mxfp8", "layer0.attn.q.weight_cast", FR_UNITS_MX, 131072 + 2 * 67584},
    {"fp8-blockwise", "layer0.attn.q.weight_cast", FR_UNITS_ANY, 131072 + 2 * (65536 + 4 * 4)},
    {"fp8-delayed", "layer0.attn.q.weight_cast", FR_UNITS_MX, 131072 + 65540},
    {"nvfp4", "layer0.attn.q.weight_amax", FR_UNITS_MX_NV, 131072},
};

START_TEST(a_cast_reads_sixteen_bits_and_writes_its_copies)
{
    const struct moved *m = &moved[_i];
    struct fr_graph *g = load(m->formats);
    struct fr__sharded made = quantise(g, m->units, false);

    ck_assert_double_eq(need(made.graph, m->op)->bytes, m->bytes);
    fr__sharded_free(&made);
    fr_graph_free(g);
}
END_TEST

TEST(a_norm_that_casts_has_no_cast_behind_it)
{
    struct fr_graph *g = load("fp8-delayed");
    struct fr__sharded made = quantise(g, FR_UNITS_MX, false);

    ck_assert_ptr_null(find(made.graph, "layer0.attn.norm.cast"));
    ck_assert_ptr_null(find(made.graph, "layer0.attn.norm.transpose"));
    ck_assert_ptr_null(find(made.graph, "final.norm.cast")); /* the head reads it in 16 bits */
    ck_assert_uint_eq(made.graph->tensors[need(made.graph, "final.norm")->first_tensor].bytes,
                      131072);
    fr__sharded_free(&made);
    fr_graph_free(g);
}

TEST(weights_that_are_gathered_are_cast_before_each_use)
{
    struct fr_graph *g = load("mxfp8");
    struct fr__sharded made = quantise(g, FR_UNITS_MX, true);

    ck_assert_int_eq(need(made.graph, "layer0.mlp.up.weight_cast")->phase, FR_PHASE_FORWARD);
    ck_assert_ptr_null(find(made.graph, "head.weight_cast"));
    fr__sharded_free(&made);
    made = quantise(g, FR_UNITS_MX, false);
    ck_assert_int_eq(need(made.graph, "layer0.mlp.up.weight_cast")->phase, FR_PHASE_UPDATE);
    fr__sharded_free(&made);
    fr_graph_free(g);
}

/* ---- which products ---- */

TEST(linear_layers_are_narrow_and_nothing_else)
{
    struct fr_graph *g = load("nvfp4");
    const char *const wide[] = {"head",  "head.dgrad", "head.wgrad",
                                "embed", "final.norm", "layer0.attn.flash"};
    const char *const narrow[] = {"layer0.attn.q", "layer0.attn.out.dgrad", "layer0.mlp.up.wgrad"};

    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
        ck_assert_double_eq(fr__formats_bits(g->formats, g, (uint32_t)(need(g, wide[i]) - g->ops)),
                            16);
    for (size_t i = 0; i < sizeof(narrow) / sizeof(narrow[0]); i++)
        ck_assert_double_eq(
            fr__formats_bits(g->formats, g, (uint32_t)(need(g, narrow[i]) - g->ops)), 4);
    fr_graph_free(g);
}

TEST(blocks_at_the_ends_keep_sixteen_bits_where_asked)
{
    const struct fr_workload_options opt = {.batch = 2, .dtype = FR_BF16};
    const char *const model =
        "llama:layers=4,hidden=256,heads=4,kv_heads=2,ffn=512,seq=128,vocab=1024";
    const double bits[] = {16, 8, 8, 16};
    struct fr_graph *g = NULL;
    struct fr_error err;
    char name[64];

    ck_assert_int_eq(fr__workload_load_in(&g, model, &opt, "mxfp8:first=1,last=1", &err), FR_OK);
    for (unsigned i = 0; i < 4; i++) {
        snprintf(name, sizeof(name), "layer%u.mlp.up.dgrad", i);
        ck_assert_double_eq(fr__formats_bits(g->formats, g, (uint32_t)(need(g, name) - g->ops)),
                            bits[i]);
    }
    ck_assert_str_eq(g->formats->name, "mxfp8:first=1,last=1");
    fr_graph_free(g);
    ck_assert_int_eq(fr__workload_load_in(&g, model, &opt, "mxfp8:first=3,last=2", &err),
                     FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "5 layers keep 16 bits, but"));
    ck_assert_int_eq(fr__workload_load_in(&g, model, &opt, "mxfp8:frist=3", &err), FR_EUSAGE);
}

TEST(a_wide_gradient_of_weights_keeps_its_input_in_sixteen_bits)
{
    struct fr_graph *g = load("mxfp8:wgrad=16");
    struct fr__sharded made = quantise(g, FR_UNITS_MX, false);

    ck_assert_uint_eq(saved_of(made.graph, "layer0.mlp"), 1311744);
    ck_assert_double_eq(need(made.graph, "layer0.mlp.norm.cast")->bytes, 131072 + 67584);
    fr__sharded_free(&made);
    fr_graph_free(g);
}

/* ---- messages ---- */

/* The norm's result is split along the sequence and gathered for the products: by rows in the
 * forward pass, by columns again in the backward pass. */
TEST(a_gather_for_products_carries_copies)
{
    struct fr_graph *g = load("mxfp8");
    uint8_t split[256];
    const struct fr__shard_axis axis = {
        .name = "tp", .size = 2, .partial_to_sequence = true, .split = split};
    const struct fr__shard_problem p = {
        .graph = g, .n_axes = 1, .axes = &axis, .experts = {.ep = 1, .etp = 1}};
    struct fr__sharded sharded, made;
    struct fr_error err;
    size_t n_narrow = 0, n_wide = 0, n_both = 0;

    ck_assert_uint_lt(g->n_ops, sizeof(split));
    ck_assert_int_eq(fr__shard_megatron(g, true, split, &err), FR_OK);
    ck_assert_msg(fr__shard(&sharded, &p, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(fr__quantise(&made,
                                  &(struct fr__quantise_problem){.graph = sharded.graph,
                                                                 .sharded = &sharded,
                                                                 .n_axes = 1,
                                                                 .units = FR_UNITS_MX},
                                  &err),
                     FR_OK);
    ck_assert_uint_eq(made.n_comms, sharded.n_comms);
    for (size_t i = 0; i < made.n_comms; i++) {
        const struct fr_op *op = &made.graph->ops[made.comms[i].op];

        if (op->kind != FR_OP_ALL_GATHER)
            continue;
        if (strstr(op->name, "layer0.attn.norm.tp") || strstr(op->name, "layer0.mlp.norm.tp")) {
            ck_assert_double_eq(made.comms[i].bytes, 67584);
            n_narrow++;
        } else if (strstr(op->name, "final.norm.tp")) {
            ck_assert_double_eq(made.comms[i].bytes, 131072);
            n_wide++;
        } else if (strstr(op->name, "final.norm.dgrad.tp")) { /* for both gradients */
            ck_assert_double_eq(made.comms[i].bytes, 2 * 67584);
            n_both++;
        }
    }
    ck_assert_uint_eq(n_narrow, 4);
    ck_assert_uint_eq(n_wide, 2);
    ck_assert_uint_eq(n_both, 1);
    fr__sharded_free(&made);
    fr__sharded_free(&sharded);
    fr_graph_free(g);
}

int main(void)
{
    TCase *c = tcase_create("quantise");

    add_tests(c);
    tcase_add_loop_test(c, a_layer_keeps_copies_in_place_of_what_products_read, 0,
                        (int)(sizeof(kept) / sizeof(kept[0])));
    tcase_add_loop_test(c, a_cast_reads_sixteen_bits_and_writes_its_copies, 0,
                        (int)(sizeof(moved) / sizeof(moved[0])));
    return run_case(c, "workloads/quantise");
}
