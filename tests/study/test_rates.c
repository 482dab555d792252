/* tests/study/test_rates.c - tokens, FLOP/s, MFU, price and energy of an answer. */
#include "config.h"

#include "results/results.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct fr_record *answer(const char *workload, const char *topology, size_t n_gpus,
                                uint32_t batch)
{
    struct fr_question q;
    struct fr_record *r = NULL;
    struct fr_error err;

    fr_question_init(&q);
    q.workload = workload;
    q.topology = topology;
    q.strategy = "dp";
    q.n_gpus = n_gpus;
    q.global_batch = batch;
    q.no_timing = true;
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

static char *print(const struct fr_record *r, const struct fr_sweep_terms *terms, bool is_json)
{
    const struct fr_results rs = {.records = &r, .n = 1, .terms = terms};
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    if (is_json)
        fr_show_json(f, fr_shown_run(&rs));
    else
        ck_assert_int_eq(fr_show_text(f, fr_shown_run(&rs), 0, NULL), FR_OK);
    fclose(f);
    return text;
}

/* The number behind a key of the JSON; fails where there is none. */
static double value_of(const char *json, const char *key)
{
    char quoted[64];
    const char *at;

    snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
    at = strstr(json, quoted);
    ck_assert_msg(at != NULL, "there is no %s", key);
    return strtod(at + strlen(quoted), NULL);
}

/* GPT-2 small in fp32 has 6 x 123.7 M products a token in its layers and head, and all scores:
 * 6 (12 L h^2 + V h) + 12 L h s with L 12, h 768, V 50257, s 1024. */
TEST(rates_follow_from_the_iteration_time)
{
    struct fr_record *r = answer("gpt2-small", "dgx-a100-80g", 4, 16);
    double flops = 16. * 1024 * (6 * (12. * 12 * 768 * 768 + 50257. * 768) + 12. * 12 * 768 * 1024);
    char *json = print(r, NULL, true);

    ck_assert_uint_eq(r->tokens_per_sample, 1024);
    ck_assert_double_eq(r->tokens_per_s, 1024 * r->samples_per_s);
    ck_assert_double_eq_tol(r->model_flops, flops, 1e-9 * flops);
    ck_assert_double_eq(r->hardware_flops, r->model_flops);
    ck_assert_double_eq(r->peak_flops_per_s, 4 * 19.5e12);
    ck_assert_double_eq_tol(r->mfu, flops / r->iteration_s / (4 * 19.5e12), 1e-12);
    ck_assert(r->mfu > 0.3 && r->mfu < 1);
    ck_assert_double_eq_tol(value_of(json, "tokens_per_s_per_gpu"), r->tokens_per_s / 4, 1e-6);
    ck_assert_double_eq_tol(value_of(json, "model_flops_per_s_per_gpu"), flops / r->iteration_s / 4,
                            1e3);
    ck_assert_double_eq(value_of(json, "mfu"), r->mfu);
    ck_assert_double_eq(value_of(json, "hfu"), r->hfu);
    free(json);
    fr_record_free(r);
}

TEST(the_peak_is_that_of_the_precision_that_runs)
{
    struct fr_record *bf16 = answer("gpt3-125m", "dgx-a100-80g", 2, 2);
    struct fr_record *as_fp32 = answer("gpt3-125m", "dgx1-v100", 2, 2); /* bf16 by default */
    struct fr_record *mixed =
        answer("gpt3-125m", "1x dgx1-v100 + 1x hgx-h100 via ib:100Gbps", 0, 16);

    ck_assert_double_eq(bf16->peak_flops_per_s, 2 * 312e12);
    ck_assert_double_eq(as_fp32->peak_flops_per_s, 2 * 15.7e12);
    ck_assert_double_eq(mixed->peak_flops_per_s, 8 * (15.7e12 + 989.4e12));
    ck_assert_str_eq(mixed->gpu_types, "v100-sxm2-16gb:8;h100-sxm5-80gb:8");
    ck_assert_double_eq(mixed->board_W, 8 * (300. + 700));
    fr_record_free(bf16);
    fr_record_free(as_fp32);
    fr_record_free(mixed);
}

TEST(images_have_no_tokens_but_an_mfu)
{
    struct fr_record *r = answer("resnet50", "dgx1-v100", 2, 64);
    char *text = print(r, NULL, false), *json = print(r, NULL, true);

    ck_assert_uint_eq(r->tokens_per_sample, 0);
    ck_assert_ptr_null(strstr(json, "tokens_per_s"));
    ck_assert_ptr_null(strstr(text, "tokens"));
    ck_assert_double_eq(value_of(json, "mfu"), r->mfu);
    ck_assert(r->mfu > 0.1 && r->mfu < 1);
    free(text);
    free(json);
    fr_record_free(r);
}

/* 1e9 tokens at the answer's rate; two A100 at 2 USD an hour, each of which draws less than its
 * 400 W. */
TEST(a_run_takes_its_tokens_at_the_answers_rate)
{
    struct fr_record *r = answer("gpt3-125m", "dgx-a100-80g", 2, 2);
    struct fr_sweep_terms terms = {.tokens = 1e9};
    double time_s = 1e9 / r->tokens_per_s;
    struct fr_record_run run;
    struct fr_error err;
    char *text, *json;

    ck_assert(fr_record_run_of(r, &terms, &run));
    ck_assert_double_eq_tol(run.time_s, time_s, 1e-9 * time_s);
    ck_assert_double_eq_tol(run.gpu_hours, 2 * time_s / 3600, 1e-9);
    ck_assert(isnan(run.cost_usd));
    ck_assert_double_eq_tol(run.energy_J, 2 * r->gpu_W * time_s, 1e-9 * run.energy_J);
    ck_assert(r->gpu_W > 60 && r->gpu_W < 400);
    ck_assert_int_eq(fr_prices_parse(&terms.prices, "a100=2", &err), FR_OK);
    ck_assert(fr_record_run_of(r, &terms, &run));
    ck_assert_double_eq_tol(run.cost_usd, 2 * run.gpu_hours, 1e-9);
    text = print(r, &terms, false);
    json = print(r, &terms, true);
    ck_assert_ptr_nonnull(strstr(text, "\n1 G tokens: "));
    ck_assert_ptr_null(strstr(text, " USD, at most "));
    ck_assert_double_eq(value_of(json, "run_tokens"), 1e9);
    ck_assert_double_eq_tol(value_of(json, "run_s"), run.time_s, 1e-6);
    ck_assert_double_eq_tol(value_of(json, "cost_usd"), run.cost_usd, 1e-9);
    free(text);
    free(json);
    fr_record_free(r);
}

/* A kilowatt-hour is 3.6 MJ; its price comes on top of that of GPUs, or stands alone. */
TEST(energy_has_a_price)
{
    struct fr_record *r = answer("gpt3-125m", "dgx-a100-80g", 2, 2);
    struct fr_sweep_terms terms = {.tokens = 1e9}, alone = {.tokens = 1e9};
    struct fr_sweep_row row = {.outcome = FR_FITS,
                               .samples_per_s = r->samples_per_s,
                               .gpus = 2,
                               .seq_len = r->tokens_per_sample,
                               .gpu_W = r->gpu_W,
                               .gpu_types = "a100-sxm4-80gb:2"};
    struct fr_record_run run;
    struct fr_error err;
    char *text, *json;
    double usd;

    ck_assert_int_eq(fr_prices_parse(&terms.prices, "2,energy=0.12", &err), FR_OK);
    ck_assert(fr_record_run_of(r, &terms, &run));
    usd = run.energy_J / 3.6e6 * 0.12;
    ck_assert_double_eq_tol(run.energy_usd, usd, 1e-9 * usd);
    ck_assert_double_eq_tol(run.cost_usd, 2 * run.gpu_hours + usd, 1e-9 * run.cost_usd);
    ck_assert_double_eq_tol(fr_sweep_value(&row, &terms).cost, run.cost_usd, 1e-9 * run.cost_usd);
    text = print(r, &terms, false);
    json = print(r, &terms, true);
    ck_assert_ptr_nonnull(strstr(text, " of these USD\n"));
    ck_assert_double_eq_tol(value_of(json, "energy_usd"), usd, 1e-6 * usd);
    ck_assert_int_eq(fr_prices_parse(&alone.prices, "energy=0.12", &err), FR_OK);
    ck_assert(fr_record_run_of(r, &alone, &run));
    ck_assert_double_eq_tol(run.cost_usd, usd, 1e-9 * usd);
    ck_assert_double_eq_tol(fr_sweep_value(&row, &alone).cost, usd, 1e-9 * usd);
    row.gpu_W = NAN;
    ck_assert(isnan(fr_sweep_value(&row, &alone).cost));
    ck_assert_int_ne(fr_prices_parse(&alone.prices, "energy=0.2", &err), FR_OK);
    free(text);
    free(json);
    fr_record_free(r);
}

TEST(a_run_without_tokens_or_a_price_says_so)
{
    struct fr_record *images = answer("lenet", "dgx1-v100", 1, 8);
    struct fr_record *tokens = answer("gpt3-125m", "dgx-a100-80g", 1, 1);
    struct fr_sweep_terms terms = {.tokens = 1e9};
    struct fr_record_run run;
    struct fr_error err;
    char *text = print(images, &terms, false), *json;

    ck_assert(!fr_record_run_of(images, &terms, &run));
    ck_assert_ptr_nonnull(strstr(text, "1 G tokens: the workload does not count tokens\n"));
    free(text);
    terms = (struct fr_sweep_terms){.samples = 1e6};
    ck_assert(fr_record_run_of(images, &terms, &run));
    ck_assert_double_eq_tol(run.time_s, 1e6 / images->samples_per_s, 1e-9);
    ck_assert_int_eq(fr_prices_parse(&terms.prices, "v100=3", &err), FR_OK);
    text = print(tokens, &terms, false);
    json = print(tokens, &terms, true);
    ck_assert_ptr_nonnull(strstr(text, "GPU hours, a part of it without a price"));
    ck_assert_ptr_nonnull(strstr(json, "\"cost_usd\": null"));
    free(text);
    free(json);
    ck_assert_int_eq(fr_prices_check_topo(&terms.prices, fr_plan_view(images->plan)->topo, &err),
                     FR_OK);
    fr_record_free(images);
    fr_record_free(tokens);
}

TEST(the_report_has_tokens_in_words)
{
    struct fr_record *r = answer("gpt3-125m", "dgx1-v100", 2, 2);
    const struct fr_record *const records[] = {r};
    const struct fr_results rs = {.records = records, .n = 1};
    char path[] = "test_rates_XXXXXX.html", page[65536];
    int fd = mkstemps(path, 5);
    struct fr_error err;
    size_t n;
    FILE *f;

    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_msg(fr_show_file(fr_shown_run(&rs), path, NULL, &err) == FR_OK, "%s", err.text);
    f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    n = fread(page, 1, sizeof(page) - 1, f);
    page[n] = '\0';
    fclose(f);
    unlink(path);
    ck_assert_ptr_nonnull(strstr(page, "tokens per second"));
    ck_assert_ptr_nonnull(strstr(page, "a GPU; MFU, of the "));
    ck_assert_ptr_nonnull(strstr(page, "bf16 by default"));
    ck_assert_ptr_nonnull(
        strstr(page, "<p class=\"bad\">warning: v100-sxm2-16gb has no bf16 arithmetic"));
    fr_record_free(r);
}

TEST(what_does_not_fit_has_no_rates)
{
    struct fr_record *r = answer("gpt3-6.7b", "dgx1-v100", 1, 8);
    const struct fr_sweep_terms terms = {.tokens = 1e9};
    char *json = print(r, &terms, true);

    ck_assert(r->oom);
    ck_assert_ptr_nonnull(strstr(json, "\"tokens_per_s\": null"));
    ck_assert_ptr_nonnull(strstr(json, "\"mfu\": null"));
    ck_assert_ptr_nonnull(strstr(json, "\"run_s\": null"));
    free(json);
    fr_record_free(r);
}

int main(void)
{
    TCase *tc = tcase_create("rates");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "rates");
}
