/* tests/workloads/test_units.c - the blocks that a model repeats. */
#include "config.h"

#include "workloads/passes/units.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct fr_graph *load(const char *spec)
{
    const struct fr_workload_options opt = {.dtype = FR_N_DTYPES};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, spec, &opt, &err) == FR_OK, "%s: %s", spec, err.text);
    return g;
}

static struct fr__units find(const struct fr_graph *g)
{
    struct fr__units u;
    struct fr_error err;

    ck_assert_msg(fr__units_find(&u, g, &err) == FR_OK, "%s", err.text);
    return u;
}

/* Blocks counted off each paper's table of the model. gnmt-4 has two layers an encoder and decoder,
 * and the first one of each is unlike the second: nothing repeats. */
static const struct {
    const char *model;
    size_t n_units;
    const char *first, *last; /* NULL: there is none */
} expected[] = {
    {"gpt:layers=5", 5, "layer0", "layer4"},
    {"bert-base", 12, "layer0", "layer11"},
    {"llama2-7b", 32, "layer0", "layer31"},
    {"mixtral:layers=3,hidden=64,ffn=64,heads=4,kv_heads=2,vocab=100", 3, "layer0", "layer2"},
    {"transformer-base", 12, "encoder0", "decoder5"},
    {"gnmt-8", 8, "encoder.layer0", "decoder.layer3"},
    {"gnmt-4", 0, NULL, NULL},
    {"resnet18", 8, "layer1.0", "layer4.1"},
    {"resnet50", 16, "layer1.0", "layer4.2"},
    {"vgg16", 16, "conv1_1", "fc8"},
    {"gpt:layers=1", 0, NULL, NULL},
};

START_TEST(units_of_zoo_models_are_their_repeated_blocks)
{
    struct fr_graph *g = load(expected[_i].model);
    struct fr__units u = find(g);

    ck_assert_uint_eq(u.n_units, expected[_i].n_units);
    if (u.n_units > 0) {
        ck_assert_str_eq(u.units[0].name, expected[_i].first);
        ck_assert_str_eq(u.units[u.n_units - 1].name, expected[_i].last);
    }
    fr__units_free(&u);
    fr_graph_free(g);
}
END_TEST

START_TEST(units_and_root_hold_all_layers_and_parameters)
{
    struct fr_graph *g = load(expected[_i].model);
    struct fr__units u = find(g);
    struct fr_graph_totals t;
    uint64_t bytes = u.root_param_bytes;
    size_t n_layers = 0;

    fr_graph_totals(g, &t);
    for (size_t i = 0; i < u.n_units; i++) {
        ck_assert_uint_gt(u.units[i].param_bytes, 0);
        ck_assert_uint_eq(u.unit_of_layer[u.units[i].first_layer], i);
        ck_assert(i == 0 || u.units[i].first_layer > u.units[i - 1].first_layer);
        bytes += u.units[i].param_bytes;
        n_layers += u.units[i].n_layers;
    }
    for (size_t i = 0; i < g->n_layers; i++)
        n_layers += u.unit_of_layer[i] == FR_NONE;
    ck_assert_uint_eq(bytes, t.param_bytes);
    ck_assert_uint_eq(n_layers, g->n_layers);
    fr__units_free(&u);
    fr_graph_free(g);
}
END_TEST

/* Of a GPT layer h wide, the four products have 3 h^2 to 4 h^2 parameters, the norms and what else
 * is small far fewer than 100 000. */
TEST(modules_of_a_layer_are_its_products_and_what_follows_them)
{
    struct fr_graph *g = load("gpt2-small");
    struct fr__units u = find(g), m;
    struct fr_error err;
    uint64_t least = 100000 * (uint64_t)g->param_elem_bytes, bytes = 0, whole = 0;

    ck_assert_int_eq(fr__units_by_module(&m, &u, g, least, &err), FR_OK);
    ck_assert_uint_eq(m.n_units, 4 * u.n_units);
    ck_assert_uint_eq(m.root_param_bytes, u.root_param_bytes);
    for (size_t i = 0; i < m.n_units; i++) {
        ck_assert_uint_ge(m.units[i].param_bytes, least);
        ck_assert_str_eq(m.units[i].name, u.units[i / 4].name);
        bytes += m.units[i].param_bytes;
    }
    for (size_t i = 0; i < u.n_units; i++)
        whole += u.units[i].param_bytes;
    ck_assert_uint_eq(bytes, whole);
    for (size_t o = 0; o < g->n_ops; o++) {
        uint32_t unit = u.unit_of_layer[g->ops[o].layer], module = m.unit_of_op[o];

        ck_assert_uint_eq(module == FR_NONE ? FR_NONE : module / 4, unit);
    }
    fr__units_free(&m);
    /* nothing is as large as that: a unit is one module */
    ck_assert_int_eq(fr__units_by_module(&m, &u, g, UINT64_MAX, &err), FR_OK);
    ck_assert_uint_eq(m.n_units, u.n_units);
    fr__units_free(&m);
    fr__units_free(&u);
    fr_graph_free(g);
}

/* A chain of matrix products; their sizes are the letters of `widths`, their layers are named
 * `names`, by spaces. */
static struct fr_graph *chain(const char *widths, const char *names)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    const struct fr_graph info = {
        .name = "chain", .batch = 1, .dtype = FR_FP32, .param_elem_bytes = 4};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_ptr_nonnull(b);
    for (size_t i = 0; widths[i]; i++) {
        char name[32], layer[32];
        int n;
        const struct fr_op op = {.name = name,
                                 .kind = FR_OP_MATMUL,
                                 .phase = FR_PHASE_FORWARD,
                                 .flops = widths[i],
                                 .param_bytes = widths[i] == 'z' ? 0 : 4,
                                 .n_params = widths[i] != 'z',
                                 .scales = true};
        const struct fr_tensor out = {.bytes = 4, .alias = FR_NONE, .scales = true};

        ck_assert_int_eq(sscanf(names, "%31s%n", layer, &n), 1);
        names += n;
        snprintf(name, sizeof(name), "op%zu", i);
        ck_assert_uint_eq(fr_graph_builder_op(b, &op, layer, &out, 1), i);
        if (i > 0)
            fr_graph_builder_edge(b, (uint32_t)i - 1, (uint32_t)i, (uint32_t)i - 1, 4);
    }
    ck_assert_msg(fr_graph_builder_finish(b, &info, &g, &err) == FR_OK, "%s", err.text);
    fr_graph_builder_free(b);
    return g;
}

/* "name:first+n ...", then the root's layers. */
static const char *units_of(const char *widths, const char *names)
{
    static char text[512];
    struct fr_graph *g = chain(widths, names);
    struct fr__units u = find(g);
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < u.n_units; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s:%u+%u ", u.units[i].name,
                                 u.units[i].first_layer, u.units[i].n_layers);
    used += (size_t)snprintf(text + used, sizeof(text) - used, "root");
    for (size_t i = 0; i < g->n_layers; i++)
        if (u.unit_of_layer[i] == FR_NONE)
            used += (size_t)snprintf(text + used, sizeof(text) - used, " %zu", i);
    fr__units_free(&u);
    fr_graph_free(g);
    return text;
}

TEST(layers_named_alike_up_to_a_number_are_a_block)
{
    ck_assert_str_eq(units_of("aabcbcd", "in in.2 h.0.a h.0.b h.1.a h.1.b out"),
                     "h.0:2+2 h.1:4+2 root 0 1 6");
}

TEST(the_first_number_counts_under_which_two_blocks_are_equal)
{
    /* stage1 and stage2 differ, their blocks do not */
    ck_assert_str_eq(units_of("bbbbb", "stage1.0 stage1.1 stage2.0 stage2.1 stage2.2"),
                     "stage1.0:0+1 stage1.1:1+1 stage2.0:2+1 stage2.1:3+1 stage2.2:4+1 root");
    /* here the stages are equal */
    ck_assert_str_eq(units_of("bcbc", "stage1.0 stage1.1 stage2.0 stage2.1"),
                     "stage1:0+2 stage2:2+2 root");
}

TEST(blocks_of_the_same_kinds_of_ops_are_units_where_none_are_equal)
{
    ck_assert_str_eq(units_of("abcd", "in conv1 conv2 out"), "conv1:1+1 conv2:2+1 root 0 3");
}

TEST(without_numbers_the_longest_run_of_equal_blocks_are_the_units)
{
    ck_assert_str_eq(units_of("abcbcbcd", "in p q r s t u out"), "p:1+2 r:3+2 t:5+2 root 0 7");
    /* two equal layers are shorter than three pairs */
    ck_assert_str_eq(units_of("aabcbcbc", "i j k l m n o p"), "k:2+2 m:4+2 o:6+2 root 0 1");
    ck_assert_str_eq(units_of("abcd", "i j k l"), "root 0 1 2 3");
    ck_assert_str_eq(units_of("a", "i"), "root 0");
}

TEST(a_block_without_parameters_is_no_unit)
{
    ck_assert_str_eq(units_of("azaz", "conv1 pool1 conv2 pool2"), "conv1:0+1 conv2:2+1 root 1 3");
    ck_assert_str_eq(units_of("zz", "i j"), "root 0 1");
}

int main(void)
{
    TCase *tc = tcase_create("units");
    int n = sizeof(expected) / sizeof(*expected);

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, units_of_zoo_models_are_their_repeated_blocks, 0, n);
    tcase_add_loop_test(tc, units_and_root_hold_all_layers_and_parameters, 0, n);
    add_tests(tc);
    return run_case(tc, "units");
}
