/* tests/study/test_seeds.c - many seeds in one answer, devices slowed and links degraded by name.
 */
#include "config.h"

#include "study/study.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fr_question question(const char *topology, const char *strategy, size_t n_gpus)
{
    struct fr_question q;

    fr_question_init(&q);
    q.workload = "vgg16";
    q.topology = topology;
    q.strategy = strategy;
    q.n_gpus = n_gpus;
    q.batch_per_gpu = 32;
    q.costs = "datasheet";
    q.is_brief = true;
    return q;
}

static struct fr_record *ask(const struct fr_question *q)
{
    struct fr_record *r = NULL;
    struct fr_error err;

    ck_assert_msg(fr_answer(q, NULL, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

static double time_of(const struct fr_question *q)
{
    struct fr_record *r = ask(q);
    double s = r->iteration_s;

    fr_record_free(r);
    return s;
}

static void assert_seeds_are_single_runs(struct fr_question q)
{
    double t[5], mean = 0, squares = 0, low = INFINITY, high = 0;
    struct fr_record *r;

    for (unsigned i = 0; i < 5; i++) {
        q.run.seed = 3 + i;
        t[i] = time_of(&q);
        mean += t[i] / 5;
        low = fmin(low, t[i]);
        high = fmax(high, t[i]);
    }
    for (unsigned i = 0; i < 5; i++)
        squares += (t[i] - mean) * (t[i] - mean);
    q.run.seed = 3;
    q.n_seeds = 5;
    r = ask(&q);
    ck_assert_uint_eq(r->seeds.first, 3);
    ck_assert_uint_eq(r->seeds.n, 5);
    ck_assert_double_eq_tol(r->seeds.mean_s, mean, 1e-12 * mean);
    ck_assert_double_eq_tol(r->seeds.standard_error_s, sqrt(squares / 4 / 5), 1e-9 * mean);
    ck_assert(r->seeds.min_s == low && r->seeds.max_s == high && low < high);
    ck_assert(r->seeds.p50_s >= low && r->seeds.p50_s <= r->seeds.p95_s);
    ck_assert(r->seeds.p95_s <= r->seeds.p99_s && r->seeds.p99_s <= high);
    /* of 5 times the 99th of 100 parts lies at 3.96: between the last two */
    ck_assert(r->iteration_s == r->seeds.mean_s);
    fr_record_free(r);
}

TEST(many_seeds_in_one_answer_are_what_single_runs_say)
{
    struct fr_question q = question("dgx1-v100", "dp", 2);

    q.run.jitter_cv = 0.2;
    assert_seeds_are_single_runs(q);
}

TEST(each_seed_draws_its_own_random_order_of_transfers)
{
    struct fr_question q = question("dgx1-v100", "mp", 4);

    q.run.order = FR_ORDER_RANDOM;
    q.run.channels = 1;
    q.run.jitter_cv = 0.1;
    q.iterations = 2;
    assert_seeds_are_single_runs(q);
}

TEST(seeds_of_a_question_without_chance_are_all_alike)
{
    struct fr_question q = question("dgx1-v100", "dp", 2);
    double once_s = time_of(&q);
    struct fr_record *r;

    q.n_seeds = 1000;
    r = ask(&q);
    ck_assert(r->seeds.is_all_alike);
    ck_assert(r->seeds.mean_s == once_s && r->seeds.standard_error_s == 0);
    ck_assert(r->seeds.p99_s == once_s);
    fr_record_free(r);
}

TEST(a_slowed_device_takes_that_many_times_as_long)
{
    struct fr_question q = question("dgx1-v100", "single", 1);
    double once_s = time_of(&q);

    q.slow = "n0.gpu0=1.3";
    ck_assert_double_eq_tol(time_of(&q), 1.3 * once_s, 1e-4 * once_s);
    q.slow = "n0.gpu*=1.3,n0.gpu0..3=2";
    ck_assert_double_eq_tol(time_of(&q), 2.6 * once_s, 1e-4 * once_s);
    q.slow = "n0.gpu1..7=2"; /* does not work */
    ck_assert_double_eq(time_of(&q), once_s);
}

/* All wait for the last gradient: one straggler costs as much as if all were slow. */
TEST(data_parallel_training_is_as_slow_as_its_slowest_device)
{
    struct fr_question q = question("dgx1-v100", "dp:overlap=0", 4);
    double once_s = time_of(&q), all_s, one_s;

    q.slow = "n0.gpu0..3=1.5";
    all_s = time_of(&q);
    q.slow = "n0.gpu2=1.5";
    one_s = time_of(&q);
    ck_assert_double_gt(one_s, 1.3 * once_s);
    ck_assert_double_eq_tol(one_s, all_s, 0.02 * all_s); /* all update after it, at full speed */
    ck_assert_double_le(one_s, all_s);
}

TEST(ranks_on_devices_that_differ_are_not_folded)
{
    struct fr_question q = question("4x dgx-a100-80g", "hybrid:tp=8,dp=4", 0), plain;
    struct fr_record *folded, *slow, *unfolded;

    q.workload = "bert-large";
    q.batch_per_gpu = 1;
    plain = q;
    folded = ask(&plain);
    ck_assert_msg(strncmp(folded->folding, "folded:", 7) == 0, "%s", folded->folding);
    q.slow = "n3.gpu5=2";
    slow = ask(&q);
    ck_assert_str_eq(slow->folding, "not folded: some devices are slowed by name");
    ck_assert_double_gt(slow->iteration_s, 1.2 * folded->iteration_s);
    q.strategy = "hybrid:tp=8,dp=4,fold=0";
    unfolded = ask(&q);
    ck_assert(unfolded->iteration_s == slow->iteration_s);
    fr_record_free(folded);
    fr_record_free(slow);
    fr_record_free(unfolded);
}

/* Two machines of one NIC: what crosses takes twice as long on half the link. */
TEST(a_degraded_link_slows_what_goes_over_it)
{
    struct fr_question q = question("2x p2.16xlarge", "dp:overlap=0", 0);
    double once_s, half_s;

    q.is_spread = true;
    q.n_gpus = 2;
    once_s = time_of(&q);
    q.degrade = "n0.nic0=0.5";
    half_s = time_of(&q);
    ck_assert_double_gt(half_s, once_s);
    q.degrade = "n*.nic0=0.5";
    ck_assert_double_eq_tol(time_of(&q), half_s, 1e-3 * half_s);
}

/* Pairs of ranks, one a machine, sum the weights that both ends of the model share, all pairs at
 * once and each over a card of its own. The pair with the bad card holds up the step as all pairs
 * would with such cards; it is not slower for being the only one. */
TEST(one_bad_network_card_costs_what_all_of_them_bad_would)
{
    static const char *const options[] = {"tp=2,pp=2,micro=8", "tp=2,pp=2,micro=8,fold=0"};

    for (int i = 0; i < 2; i++) {
        char strategy[64];
        struct fr_question q = question("2x hgx-h100", strategy, 0);
        double whole_s, one_s, all_s;

        snprintf(strategy, sizeof(strategy), "hybrid:%s", options[i]);
        q.workload = "gpt:hidden=1024,heads=16,seq=256,vocab=32000,layers=4";
        q.batch_per_gpu = 4;
        whole_s = time_of(&q);
        q.degrade = "n0.nic3=0.02";
        one_s = time_of(&q);
        q.degrade = "n0.nic0..7=0.02";
        all_s = time_of(&q);
        ck_assert_double_gt(one_s, 1.05 * whole_s);
        ck_assert_double_eq_tol(one_s, all_s, 0.01 * all_s);
    }
}

TEST(names_that_mean_nothing_are_refused_with_a_suggestion)
{
    static const struct {
        const char *slow, *degrade, *sentence;
    } cases[] = {
        {"n0.gpu9=2", NULL, "has no device 'n0.gpu9', did you mean 'n0.gpu"},
        {"n1.gpu*=2", NULL, "has no device 'n1.gpu*'"},
        {"n0.gpu3..1=2", NULL, "runs backwards"},
        {"n0.gpu..1=2", NULL, "no range"},
        {"n0.gpu1", NULL, "expected devices like n3.gpu2=1.3"},
        {"n0.gpu1=0", NULL, "'--slow': a factor"},
        {"n0.gpu1=nan", NULL, "'--slow': a factor"},
        {"n0.gpu1=2,", NULL, "expected devices like"},
        {"*****=2", NULL, "more than 4 stars"},
        {NULL, "n0.nic9=0.5", "no vertex or link 'n0.nic9', did you mean 'n0.nic"},
        {NULL, "n0.nic*=2", "what is left of a link"},
        {NULL, "n0.gpu0>n0.gpu9=0", "no vertex or link 'n0.gpu0>n0.gpu9', did you mean"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_question q = question("dgx1-v100", "dp", 2);
        struct fr_record *r = NULL;
        struct fr_error err;

        q.slow = cases[i].slow;
        q.degrade = cases[i].degrade;
        ck_assert_msg(fr_answer(&q, NULL, &r, &err) != FR_OK, "case %zu", i);
        ck_assert_msg(strstr(err.text, cases[i].sentence) != NULL, "%s", err.text);
        ck_assert_ptr_null(r);
    }
}

TEST(settings_of_chance_read_back_what_they_write)
{
    static const char *const texts[][2] = {{"seed", "0..19"},
                                           {"seed", "7"},
                                           {"jitter", "gamma:2"},
                                           {"jitter", "0.05"},
                                           {"device-jitter", "lognormal:0.5"},
                                           {"slow", "n0.gpu1=2"},
                                           {"degrade", "n0.nic0=0"}};
    static const char *const refused[][2] = {{"seed", "5..4"},     {"seed", "0..10000"},
                                             {"seed", "0..x"},     {"jitter", "gauss:0.1"},
                                             {"jitter", "gamma:"}, {"jitter", "normal:0.5"}};
    struct fr_question q;
    struct fr_error err;

    fr_question_init(&q);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char text[64];
        char *key;

        ck_assert(fr_question_set(&q, texts[i][0], texts[i][1], &err) == FR_OK);
        snprintf(text, sizeof(text), "|%s=%s|", texts[i][0], texts[i][1]);
        key = fr_question_key(&q);
        ck_assert_msg(strstr(key, text) != NULL, "%s in %s", text, key);
        free(key);
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        ck_assert_msg(fr_question_set(&q, refused[i][0], refused[i][1], &err) != FR_OK, "%s",
                      refused[i][1]);
}

int main(void)
{
    TCase *tc = tcase_create("seeds");

    add_tests(tc);
    return run_case(tc, "study/seeds");
}
