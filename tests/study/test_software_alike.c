/* tests/study/test_software_alike.c - what software does is counted alike by every strategy: the
 * format of gradients, passes over them, and recipes, which refuse nothing that nobody typed. */
#include "config.h"

#include "plan/plan.h"
#include "strategies/strategies.h"
#include "study/recipes/recipe.h"
#include "study/study.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SMALL_LLAMA "llama:layers=2,hidden=256,ffn=512,heads=4,kv_heads=4,seq=64,vocab=512"
#define SMALL_GPT "gpt:layers=2,hidden=256,heads=4,seq=64,vocab=512"

struct asked {
    const char *workload, *strategy, *recipe;
    size_t n_gpus;
    enum fr_dtype dtype;
};

static enum fr_status try(const struct asked *a, bool is_brief, struct fr_record **out,
                          struct fr_error *err)
{
    struct fr_question q;

    fr_question_init(&q);
    q.workload = a->workload;
    q.topology = "dgx-a100-80g";
    q.strategy = a->strategy;
    q.recipe = a->recipe;
    q.n_gpus = a->n_gpus;
    q.global_batch = 16;
    q.dtype = a->dtype;
    q.optimizer = FR_ADAM;
    q.is_brief = is_brief;
    return fr_answer(&q, NULL, out, err);
}

static struct fr_record *answer(const struct asked *a)
{
    struct fr_record *r = NULL;
    struct fr_error err;

    ck_assert_msg(try(a, false, &r, &err) == FR_OK, "%s, recipe %s: %s", a->strategy,
                  a->recipe ? a->recipe : "none", err.text);
    return r;
}

static double sum_of_all_reduces(const struct fr_record *r)
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    double bytes = 0;

    for (uint32_t c = 0; c < v->n_collectives; c++)
        if (v->collectives[c].kind == FR_ALL_REDUCE)
            bytes += v->collectives[c].bytes;
    return bytes;
}

static double n_parameters(const struct fr_record *r)
{
    const struct fr_graph *g = fr_plan_user_graph(r->plan);
    double bytes = 0;

    for (size_t o = 0; o < g->n_ops; o++)
        if (g->ops[o].phase == FR_PHASE_FORWARD)
            bytes += (double)g->ops[o].param_bytes;
    return bytes / g->param_elem_bytes;
}

/* Weights are not tied in a Llama, so each gradient is summed once: parameters times the bytes of a
 * gradient. Stages of a pipeline sum their own, which together are all. */
TEST(gradients_have_one_format_whatever_the_strategy)
{
    static const struct {
        enum fr_dtype dtype;
        double bytes;
        const char *name;
    } formats[] = {{FR_FP32, 4, "fp32"}, {FR_TF32, 4, "fp32"}, {FR_AMP, 4, "fp32"},
                   {FR_FP16, 2, "fp16"}, {FR_BF16, 4, "fp32"}, {FR_FP8, 4, "fp32"}};
    static const char *const summing[] = {"dp",
                                          "hybrid:dp=4",
                                          "hybrid:dp=4,recompute=full",
                                          "hybrid:dp=4,recompute=selective",
                                          "hybrid:dp=4,micro=1",
                                          "hybrid:dp=2,pp=2",
                                          "hybrid:dp=2,cp=2",
                                          "pp:stages=2"};
    static const char *const others[] = {
        "single", "mp",  "pp",          "hybrid:zero=1", "hybrid:zero=3",   "dpos",
        "heft",   "etf", "hybrid:tp=4", "pipedream",     "hybrid:pp=4,dp=1"};

    for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
        struct asked a = {SMALL_LLAMA, NULL, NULL, 4, formats[f].dtype};

        for (size_t i = 0; i < sizeof(summing) / sizeof(summing[0]); i++) {
            struct fr_record *r;
            double want;

            a.strategy = summing[i];
            r = answer(&a);
            want = n_parameters(r) * formats[f].bytes;
            ck_assert_str_eq(r->gradient_dtype, formats[f].name);
            ck_assert_msg(fabs(sum_of_all_reduces(r) - want) <= 1e-9 * want,
                          "%s in %s sums %.0f bytes, not %.0f", a.strategy, r->dtype,
                          sum_of_all_reduces(r), want);
            fr_record_free(r);
        }
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
            struct fr_record *r;

            a.strategy = others[i];
            r = answer(&a);
            ck_assert_msg(r->gradient_dtype && strcmp(r->gradient_dtype, formats[f].name) == 0,
                          "%s in %s keeps %s", a.strategy, r->dtype, r->gradient_dtype);
            fr_record_free(r);
        }
    }
}

/* Whoever trains with 16-bit gradients says so, in one word. */
TEST(what_is_kept_is_an_option_of_every_plain_strategy)
{
    static const char *const names[] = {"single", "mp", "pp", "hybrid:pp=2"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char text[80];
        struct asked a = {SMALL_LLAMA, text, NULL, 2, FR_BF16};
        struct fr_record *r;

        snprintf(text, sizeof(text), "%s%crecipe=master16", names[i],
                 strchr(names[i], ':') ? ',' : ':');
        r = answer(&a);
        ck_assert_str_eq(r->gradient_dtype, "bf16");
        fr_record_free(r);
    }
}

/* On one GPU all of them run the same ops, so the same passes over the same gradients. */
TEST(clipping_takes_the_same_time_whatever_the_strategy)
{
    static const char *const names[] = {"dp", "hybrid", "mp", "pp"};
    struct asked a = {SMALL_LLAMA, "single", "megatron-lm", 1, FR_FP32};
    struct fr_record *single = answer(&a), *plain;

    a.recipe = "synchronous";
    plain = answer(&a);
    ck_assert_double_gt(single->iteration_s, plain->iteration_s);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct asked b = {SMALL_LLAMA, NULL, "megatron-lm", 1, FR_FP32};
        char text[40];
        struct fr_record *r;

        snprintf(text, sizeof(text), "%s%s", names[i],
                 strcmp(names[i], "pp") == 0 ? ":micro=16" : "");
        b.strategy = text;
        r = answer(&b);
        ck_assert_msg(fabs(r->iteration_s - single->iteration_s) <= 1e-9 * single->iteration_s,
                      "%s takes %.17g s, single %.17g s", text, r->iteration_s,
                      single->iteration_s);
        fr_record_free(r);
    }
    fr_record_free(single);
    fr_record_free(plain);
}

/* A pass moves memory at one rate, so passes over parts of the gradients take together what one
 * over all of them takes, but for a launch each; a rank that has a share of them takes that
 * share. */
TEST(passes_go_over_the_gradients_that_a_gpu_has)
{
    static const struct {
        const char *strategy;
        double share; /* of all gradients, on all GPUs together */
    } rows[] = {{"dp", 2}, {"hybrid:dp=2", 2}, {"hybrid:dp=2,zero=1", 1},
                {"mp", 1}, {"hybrid:pp=2", 1}, {"pp", 1}};
    static const char model[] =
        "llama:layers=4,hidden=2048,ffn=5632,heads=16,kv_heads=16,seq=64,vocab=512";
    const char *passes[] = {"passes=0", "passes=60"};
    double one_s = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double busy_s[2];

        for (int k = 0; k < 2; k++) {
            char text[80];
            struct asked a = {model, text, NULL, 2, FR_BF16};
            struct fr_record *r;

            snprintf(text, sizeof(text), "%s%c%s", rows[i].strategy,
                     strchr(rows[i].strategy, ':') ? ',' : ':', passes[k]);
            r = answer(&a);
            busy_s[k] = r->compute_s * 2;
            fr_record_free(r);
        }
        one_s = i == 0 ? (busy_s[1] - busy_s[0]) / rows[0].share : one_s;
        ck_assert_msg(fabs((busy_s[1] - busy_s[0]) / (rows[i].share * one_s) - 1) < 0.03,
                      "%s: %.6g s of passes, not %.6g", rows[i].strategy, busy_s[1] - busy_s[0],
                      rows[i].share * one_s);
    }
}

/* Megatron-LM keeps two buffers, so experts between dense layers end no bucket of these. 4 ranks, 2
 * to an expert's copy: all dense gradients, far below 40 million, are one sum over 4; those of
 * experts one sum over 2 in each of the two groups. */
TEST(gradients_of_experts_end_no_bucket_of_dense_ones)
{
    const struct asked a = {
        "mixtral:layers=4,hidden=64,ffn=128,heads=4,kv_heads=4,seq=32,vocab=64,experts=4",
        "hybrid:ep=2", NULL, 4, FR_BF16};
    struct fr_record *r = answer(&a);
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    size_t n_of[5] = {0};

    for (uint32_t c = 0; c < v->n_collectives; c++)
        if (v->collectives[c].kind == FR_ALL_REDUCE)
            n_of[fr_plan_group_size(r->plan, v->collectives[c].group)]++;
    ck_assert_uint_eq(n_of[4], 1);
    ck_assert_uint_eq(n_of[2], 2);
    fr_record_free(r);
}

static bool is_refused(const struct asked *a, char text[], size_t size)
{
    struct fr_record *r = NULL;
    struct fr_error err;
    enum fr_status st = try(a, true, &r, &err);

    if (st == FR_OK)
        fr_record_free(r);
    snprintf(text, size, "%.500s", st == FR_OK ? "" : err.text);
    return st != FR_OK;
}

/* Whatever runs without a recipe runs with each of them. */
START_TEST(a_recipe_refuses_nothing_that_runs_without_it)
{
    static const char *const more[] = {
        "hybrid:tp=4",         "hybrid:tp=2,sp=1",      "hybrid:pp=2",          "hybrid:dp=2,cp=2",
        "hybrid:zero=1",       "hybrid:zero=3",         "hybrid:zero=0",        "dp:sync=ps-cpu",
        "dp:step=bucket",      "hybrid:recompute=full", "dp:accumulate=2",      "dp:overlap=0",
        "hybrid:early-stop=0", "pp:schedule=gpipe",     "hybrid:tp=2,pp=2,sp=1"};
    static const char *const models[] = {
        "llama:layers=4,hidden=64,ffn=128,heads=4,kv_heads=4,seq=32,vocab=64", "lenet"};
    enum { N_MORE = sizeof(more) / sizeof(more[0]) };
    const char *recipe = fr_recipe_shipped((size_t)_i);
    size_t n_run = 0;

    for (size_t m = 0; m < 2; m++)
        for (size_t i = 0; i < N_MORE || fr_strategy_at(i - N_MORE); i++) {
            const char *spec = i < N_MORE ? more[i] : fr_strategy_at(i - N_MORE)->name;
            struct asked a = {models[m], spec, NULL, 4, FR_BF16};
            char without[512], with[512];

            if (strcmp(spec, "exact") == 0 || strcmp(spec, "os-dpos") == 0 ||
                is_refused(&a, without, sizeof(without)))
                continue;
            a.recipe = recipe;
            n_run++;
            ck_assert_msg(!is_refused(&a, with, sizeof(with)), "%s, %s, recipe %s: %s", models[m],
                          spec, recipe, with);
        }
    ck_assert_uint_gt(n_run, 2 * N_MORE);
}
END_TEST

TEST(what_a_strategy_does_not_count_of_a_recipe_is_said)
{
    static const struct {
        const char *strategy, *recipe, *says; /* NULL: nothing */
        size_t n_gpus;
    } rows[] = {
        {"pp", "megatron-lm", "also says overlap=0, copies-out=2: not counted", 2},
        {"hybrid", "megatron-lm", "also says copies-out=2: not counted", 2},
        {"dp", "torchtitan", "also says zero=3: not counted", 2},
        {"heft", "megatron-lm", "passes=3", 2},
        {"dp", "megatron-lm", NULL, 2},
        {"single", "megatron-lm", NULL, 2},
        {"pp", "megatron-lm", NULL, 1},
        {"pp", NULL, NULL, 2},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct asked a = {SMALL_GPT, rows[i].strategy, rows[i].recipe, rows[i].n_gpus,
                                FR_FP32};
        struct fr_record *r = answer(&a);
        bool is_said = false;

        for (size_t k = 0; k < r->n_warnings; k++) {
            is_said |= rows[i].says && strstr(r->warnings[k], rows[i].says);
            ck_assert_msg(rows[i].says || !strstr(r->warnings[k], "not counted"), "%s",
                          r->warnings[k]);
        }
        ck_assert_msg(is_said == (rows[i].says != NULL), "%s, %s", rows[i].strategy,
                      rows[i].recipe);
        fr_record_free(r);
    }
}

int main(void)
{
    TCase *c = tcase_create("alike");
    int n_recipes = 0;

    while (fr_recipe_shipped((size_t)n_recipes))
        n_recipes++;
    tcase_set_timeout(c, 600);
    add_tests(c);
    tcase_add_loop_test(c, a_recipe_refuses_nothing_that_runs_without_it, 0, n_recipes);
    return run_case(c, "study/software_alike");
}
