/* tests/workloads/test_zoo_options.c - what a model's name and options give, and what is
 * refused. */
#include "config.h"

#include "tests/support/base_check.h"
#include "workloads/zoo/zoo.h"

#include <check.h>
#include <string.h>

static struct fr_graph *load(const char *spec, uint32_t batch)
{
    const struct fr_workload_options opt = {.batch = batch, .dtype = FR_FP32};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr__zoo_load(&g, spec, &opt, &err) == FR_OK, "%s: %s", spec, err.text);
    return g;
}

TEST(precision_sets_the_size_of_elements)
{
    static const struct {
        enum fr_dtype dtype;
        unsigned elem_bytes;
    } cases[] = {{FR_FP32, 4}, {FR_TF32, 4}, {FR_FP16, 2}, {FR_BF16, 2}, {FR_FP8, 2}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct fr_workload_options opt = {.batch = 1, .dtype = cases[i].dtype};
        struct fr_graph *g = NULL;
        struct fr_graph_totals t;

        ck_assert_int_eq(fr__zoo_load(&g, "vgg16", &opt, NULL), FR_OK);
        fr_graph_totals(g, &t);
        ck_assert_int_eq(g->dtype, cases[i].dtype);
        ck_assert_uint_eq(t.params, 138357544);
        ck_assert_uint_eq(t.param_bytes, UINT64_C(138357544) * cases[i].elem_bytes);
        fr_graph_free(g);
    }
}

TEST(without_options_the_models_own_hold)
{
    struct fr_graph *g = NULL;

    ck_assert_int_eq(fr__zoo_load(&g, "vgg16", NULL, NULL), FR_OK);
    ck_assert_uint_eq(g->batch, 64);
    ck_assert_uint_eq(g->seq_len, 0);
    ck_assert_int_eq(g->dtype, FR_FP32);
    ck_assert_str_eq(g->name, "vgg16");
    fr_graph_free(g);
    ck_assert_int_eq(fr__zoo_load(&g, "gpt2-small", NULL, NULL), FR_OK);
    ck_assert_uint_eq(g->batch, 8);
    ck_assert_uint_eq(g->seq_len, 1024);
    fr_graph_free(g);
}

/* Expects fr__zoo_load to refuse with that code and sentence. */
static void refuse(const char *spec, uint32_t batch, uint32_t seq_len, enum fr_status code,
                   const char *text)
{
    const struct fr_workload_options opt = {
        .batch = batch, .seq_len = seq_len, .dtype = FR_N_DTYPES};
    struct fr_graph *g = NULL;
    struct fr_error err = {0};

    ck_assert_msg(fr__zoo_load(&g, spec, &opt, &err) == code, "%s: %s", spec, err.text);
    ck_assert_str_eq(err.text, text);
    ck_assert_ptr_null(g);
}

TEST(refuses_what_it_does_not_know)
{
    refuse("vgg61", 0, 0, FR_ENOENT, "no model is called 'vgg61', did you mean 'vgg11'?");
    refuse("", 0, 0, FR_ENOENT, "no model is called ''");
    refuse("vgg16:depth=3", 0, 0, FR_EUSAGE, "model 'vgg16' takes no options, found 'depth=3'");
    refuse("vgg16", 0, 128, FR_EUSAGE, "model 'vgg16' has no sequence length");
    refuse("gpt2-xl", 0, 1025, FR_ERANGE,
           "model 'gpt2-xl' has 1024 learned positions, a sequence of 1025 does not fit");
    refuse("lenet", 16777217, 0, FR_ERANGE, "batch 16777217 is over 16777216");
    /* 96 heads of 2048^2 scores, 2^24 samples: 2.7e16 bytes */
    refuse("gpt3-175b", 16777216, 0, FR_ERANGE,
           "'gpt3-175b' at batch 16777216 has a tensor of over 2^53 bytes");
}

TEST(a_decoder_is_gpt2_unless_told_otherwise)
{
    struct fr_graph *g = load("gpt", 1), *small = load("gpt2-small", 1);

    ck_assert_uint_eq(g->n_ops, small->n_ops);
    for (size_t i = 0; i < g->n_ops; i++) {
        ck_assert_str_eq(g->ops[i].name, small->ops[i].name);
        ck_assert_double_eq(g->ops[i].flops, small->ops[i].flops);
        ck_assert_uint_eq(g->ops[i].param_bytes, small->ops[i].param_bytes);
    }
    fr_graph_free(g);
    fr_graph_free(small);
}

/* 2 of 8 heads: keys and values are a quarter as wide. A layer's weights are 12 h h less 2 (1 -
 * 1/4) h h, its biases 13 h, with 4 h of the norms, less as much of h. */
TEST(a_decoder_may_share_keys_and_values)
{
    enum { H = 64, ALL = 12 * H * H + 13 * H, LESS = 2 * (H - H / 4) * (H + 1) };
    struct fr_graph *one = load("gpt:layers=1,hidden=64,heads=8,kv_heads=2,seq=8,vocab=16", 1);
    struct fr_graph *two = load("gpt:layers=2,hidden=64,heads=8,kv_heads=2,seq=8,vocab=16", 1);
    struct fr_graph_totals a, b;

    fr_graph_totals(one, &a);
    fr_graph_totals(two, &b);
    ck_assert_uint_eq(b.param_bytes - a.param_bytes, 4 * (ALL - LESS));
    fr_graph_free(one);
    fr_graph_free(two);
    refuse("gpt:heads=12,kv_heads=5", 0, 0, FR_EUSAGE,
           "model 'gpt': 12 heads are not a multiple of 5 heads of keys and values");
}

TEST(experts_may_be_few)
{
    struct fr_graph *one = load("mixtral:layers=1,experts=1,chosen=1,hidden=64,heads=8,ffn=128", 1);
    struct fr_graph *dense = load("llama:layers=1,kv_heads=8,hidden=64,heads=8,ffn=128", 1);
    struct fr_graph_totals a, b;

    fr_graph_totals(one, &a);
    fr_graph_totals(dense, &b);
    ck_assert_uint_eq(a.param_bytes - b.param_bytes, 64 * 4); /* the router's */
    fr_graph_free(one);
    fr_graph_free(dense);
}

TEST(refuses_options_that_make_no_sense)
{
    static const char *const bad_values[] = {"gpt:layers=0",   "gpt:layers=4097", "gpt:layers=-1",
                                             "gpt:layers=1e2", "gpt:layers=",     "gpt:vocab=1"};
    struct fr_graph *g = NULL;
    struct fr_error err;

    refuse("gpt:layer=2", 0, 0, FR_EUSAGE,
           "model 'gpt' has no option 'layer', did you mean 'layers'?");
    refuse("gpt:", 0, 0, FR_EPARSE, "model 'gpt': '' is not of the form key=value");
    refuse("gpt:layers=2,", 0, 0, FR_EPARSE, "model 'gpt': '' is not of the form key=value");
    refuse("gpt:seq", 0, 0, FR_EPARSE, "model 'gpt': 'seq' is not of the form key=value");
    refuse("gpt:seq=8,seq=8", 0, 0, FR_EUSAGE, "model 'gpt': option 'seq' is given twice");
    refuse("gpt:heads=7", 0, 0, FR_EUSAGE, "model 'gpt': hidden 768 is not a multiple of 7 heads");
    refuse("gpt:seq=64", 0, 65, FR_ERANGE,
           "model 'gpt' has 64 learned positions, a sequence of 65 does not fit");
    /* 8 samples, 4096 heads, 2^40 scores */
    refuse("gpt:hidden=131072,heads=4096,seq=1048576", 0, 0, FR_ERANGE,
           "'gpt:hidden=131072,heads=4096,seq=1048576' at batch 8 has a tensor of over 2^53 bytes");
    for (size_t i = 0; i < sizeof(bad_values) / sizeof(bad_values[0]); i++) {
        enum fr_status st = fr__zoo_load(&g, bad_values[i], NULL, &err);

        ck_assert_msg(st == FR_EPARSE || st == FR_ERANGE, "%s", bad_values[i]);
        ck_assert_msg(strstr(err.text, "of model 'gpt'") != NULL, "%s", err.text);
        ck_assert_ptr_null(g);
    }
}

TEST(what_a_model_leaves_open_are_keys_of_its_family)
{
    for (const struct fr__model *m = fr__models; m < fr__models + fr__n_models; m++) {
        const char *open = m->options && strcmp(m->options, "all") != 0 ? m->options : "";

        while (*open) {
            const struct fr__model_key *key = m->family->keys;
            size_t n = strcspn(open, " ");

            while (key->name && (strlen(key->name) != n || strncmp(key->name, open, n) != 0))
                key++;
            ck_assert_msg(key->name != NULL, "%s: %s", m->name, open);
            open += n + strspn(open + n, " ");
        }
    }
}

int main(void)
{
    TCase *c = tcase_create("all");

    add_tests(c);
    return run_case(c, "workloads/zoo_options");
}
