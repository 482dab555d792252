/* tests/workloads/test_untie.c - heads that get a table of their own. */
#include "config.h"

#include "tests/support/base_check.h"
#include "workloads/passes/untie.h"

#include <check.h>
#include <string.h>

enum { VOCAB = 1000, HIDDEN = 128 };

#define GPT "gpt:hidden=128,heads=8,seq=64,vocab=1000,layers=3"
#define LLAMA "llama:hidden=128,heads=8,kv_heads=8,ffn=256,seq=64,vocab=1000,layers=3"

static struct fr_graph *load(const char *spec, enum fr_dtype dtype)
{
    const struct fr_workload_options opt = {.batch = 2, .dtype = dtype};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, spec, &opt, &err) == FR_OK, "%s: %s", spec, err.text);
    return g;
}

static struct fr__untied untie(const struct fr_graph *g)
{
    struct fr__untied u;
    struct fr__units units;
    struct fr_error err;

    ck_assert_int_eq(fr__units_find(&units, g, &err), FR_OK);
    ck_assert_msg(fr__untie(&u, g, &units, &err) == FR_OK, "%s", err.text);
    fr__units_free(&units);
    return u;
}

static uint32_t find(const struct fr_graph *g, const char *name)
{
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (strcmp(g->ops[o].name, name) == 0)
            return o;
    return FR_NONE;
}

TEST(a_head_owns_a_table_as_large_as_the_embeddings)
{
    struct fr_graph *g = load(GPT, FR_BF16);
    struct fr__untied u = untie(g);
    struct fr_graph_totals before, after;
    uint32_t head, update;

    ck_assert_ptr_nonnull(u.graph);
    fr_graph_totals(g, &before);
    fr_graph_totals(u.graph, &after);
    ck_assert_uint_eq(after.params, before.params + VOCAB * HIDDEN);
    ck_assert_uint_eq(after.param_tensors, before.param_tensors + 1);
    ck_assert_uint_eq(u.graph->n_ops, g->n_ops); /* an update more, a sum less */
    ck_assert_uint_eq(find(u.graph, "embed.tokens.wgrad_add"), FR_NONE);
    ck_assert_uint_eq(u.n_pairs, 1);
    ck_assert_str_eq(u.graph->ops[u.pairs[0].owner].name, "embed.tokens");
    ck_assert_str_eq(u.graph->ops[u.pairs[0].user].name, "head");
    head = find(u.graph, "head.wgrad");
    update = find(u.graph, "head.update");
    ck_assert_uint_ne(update, FR_NONE);
    ck_assert_uint_eq(u.graph->out_first[head + 1] - u.graph->out_first[head], 1);
    ck_assert_uint_eq(u.graph->edges[u.graph->out_first[head]].dst, update);
    ck_assert_uint_eq(u.graph->ops[update].forward, u.pairs[0].user);
    fr__untied_free(&u);
    fr_graph_free(g);
}

static const struct {
    const char *model;
    enum fr_dtype dtype;
    bool has_ends;
} models[] = {
    {GPT, FR_FP32, true},         {GPT, FR_FP8, true},       {LLAMA, FR_BF16, false},
    {"bert-base", FR_BF16, true}, {"vgg19", FR_FP32, false},
};

START_TEST(a_model_without_shared_weights_stays_as_it_is)
{
    struct fr_graph *g = load(models[_i].model, models[_i].dtype);
    struct fr__untied u = untie(g);

    ck_assert_int_eq(u.graph != NULL, models[_i].has_ends);
    fr__untied_free(&u);
    fr_graph_free(g);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("untie");

    add_tests(c);
    tcase_add_loop_test(c, a_model_without_shared_weights_stays_as_it_is, 0,
                        (int)(sizeof(models) / sizeof(models[0])));
    return run_case(c, "workloads/untie");
}
