/* tests/study/test_interval.c - the range in which a step's measured time will lie. */
#include "config.h"

#include "results/results.h"
#include "study/interval/interval.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct fr_record *answer(const char *workload, const char *topology, size_t n_gpus,
                                enum fr_dtype dtype)
{
    struct fr_question q;
    struct fr_record *r = NULL;
    struct fr_error err;

    fr_question_init(&q);
    q.workload = workload;
    q.topology = topology;
    q.strategy = "dp";
    q.n_gpus = n_gpus;
    q.batch_per_gpu = 8;
    q.dtype = dtype;
    q.no_timing = true;
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

static const struct fr__step_term term = {.name = "made up",
                                          .q = {-0.1, -0.02, 0.05, 0.1, 0.4},
                                          .cost_error = 0.06,
                                          .n_rows = 10,
                                          .n_sources = 3};

/* high = exp(q95), low = exp(q05) of the prediction. */
TEST(a_step_whose_costs_are_as_usual_has_the_quantiles_of_its_class)
{
    struct fr_record_interval i = {0};

    fr__interval_of(&i, 0.1, false, &term, 0.06);
    ck_assert(i.is_known);
    ck_assert_double_eq_tol(i.low_s, 0.1 * exp(-0.1), 1e-12);
    ck_assert_double_eq_tol(i.half_low_s, 0.1 * exp(-0.02), 1e-12);
    ck_assert_double_eq_tol(i.median_s, 0.1 * exp(0.05), 1e-12);
    ck_assert_double_eq_tol(i.half_high_s, 0.1 * exp(0.1), 1e-12);
    ck_assert_double_eq_tol(i.high_s, 0.1 * exp(0.4), 1e-12);
}

TEST(better_known_costs_do_not_narrow_it)
{
    struct fr_record_interval usual = {0}, better = {0};

    fr__interval_of(&usual, 0.1, false, &term, 0.06);
    fr__interval_of(&better, 0.1, false, &term, 0);
    ck_assert_double_eq(better.low_s, usual.low_s);
    ck_assert_double_eq(better.high_s, usual.high_s);
}

/* 0.1 of error against 0.06: the variance grows by 0.08^2. 0.35 and 1.64485 * 0.08 are at right
 * angles. */
TEST(worse_known_costs_widen_it_as_variances_add)
{
    struct fr_record_interval i = {0};

    fr__interval_of(&i, 0.1, false, &term, 0.1);
    ck_assert_double_eq_tol(i.high_s, 0.1 * exp(0.05 + hypot(0.35, 1.64485 * 0.08)), 1e-12);
    ck_assert_double_eq_tol(i.low_s, 0.1 * exp(0.05 - hypot(0.15, 1.64485 * 0.08)), 1e-12);
    ck_assert_double_eq_tol(i.half_high_s, 0.1 * exp(0.05 + hypot(0.05, 0.67449 * 0.08)), 1e-12);
}

/* Where all that was measured is slower than its predictions, and where it is faster. */
TEST(a_range_holds_the_prediction)
{
    static const struct fr__step_term slow = {
        .q = {0.1, 0.15, 0.2, 0.3, 0.4}, .cost_error = 0.06, .n_rows = 10, .n_sources = 3};
    static const struct fr__step_term fast = {
        .q = {-0.4, -0.3, -0.2, -0.15, -0.1}, .cost_error = 0.06, .n_rows = 10, .n_sources = 3};
    struct fr_record_interval i = {0};

    fr__interval_of(&i, 0.1, false, &slow, 0.06);
    ck_assert_double_eq(i.low_s, 0.1);
    ck_assert_double_eq_tol(i.half_low_s, 0.1 * exp(0.15), 1e-12);
    ck_assert_double_eq_tol(i.high_s, 0.1 * exp(0.4), 1e-12);
    fr__interval_of(&i, 0.1, false, &fast, 0.06);
    ck_assert_double_eq_tol(i.low_s, 0.1 * exp(-0.4), 1e-12);
    ck_assert_double_eq(i.high_s, 0.1);
}

TEST(classes_are_told_by_place_numbers_and_kind_of_work)
{
    static const char two[] = "2x dgx1-v100 via ib:100Gbps", gnmt[] = "gnmt-2";
    static const struct {
        const char *model, *topology;
        size_t n_gpus;
        enum fr_dtype dtype;
        const char *name;
    } cases[] = {{"lenet", "dgx1-v100", 1, FR_FP32, "one-gpu fp32 convolutions"},
                 {"resnet18", "dgx1-v100", 1, FR_FP32, "one-gpu fp32 convolutions"},
                 {"resnet18", "dgx1-v100", 4, FR_AMP, "one-machine half convolutions"},
                 {gnmt, "dgx-a100-40g", 2, FR_TF32, "one-machine fp32 products"},
                 {gnmt, two, 16, FR_FP16, "machines half products"},
                 {"resnet18", two, 8, FR_FP32, "one-machine fp32 convolutions"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_record *r =
            answer(cases[i].model, cases[i].topology, cases[i].n_gpus, cases[i].dtype);

        ck_assert(r->interval.is_known);
        ck_assert_str_eq(r->interval.name, cases[i].name);
        ck_assert(r->interval.low_s < r->interval.half_low_s);
        ck_assert(r->interval.half_low_s < r->interval.half_high_s);
        ck_assert(r->interval.half_high_s < r->interval.high_s);
        fr_record_free(r);
    }
}

/* What is built in must make sense whatever rows it was made from: 50 % inside 90 %, more room on
 * the slow side, and for every class what it leans on. */
TEST(every_class_has_terms_in_order)
{
    for (unsigned k = 0; k < FR__N_ANCHORS * FR__N_PLACES * 8; k++) {
        const struct fr__step_class c = {.place = (enum fr__place)(k / 8 % FR__N_PLACES),
                                         .is_convolutional = k / 4 % 2,
                                         .is_half = k / 2 % 2,
                                         .knows_recipe = k % 2,
                                         .anchor = (enum fr__anchor)(k / 8 / FR__N_PLACES)};
        const struct fr__step_term *t = fr__step_term(c);

        for (unsigned i = 1; i < FR__N_QUANTILES; i++)
            ck_assert_msg(t->q[i] > t->q[i - 1], "%s", fr__step_class_name(c));
        ck_assert_msg(t->q[FR__Q95] > 0 && t->q[FR__Q05] < 0.2, "%s", fr__step_class_name(c));
        ck_assert(t->cost_error > 0 && t->cost_error < 0.5);
    }
}

/* The rows that a claim names are there, and a guess is as wide as the widest class that somebody
 * published and wider than its parents. */
TEST(every_claim_says_what_it_rests_on)
{
    unsigned n_guesses = 0;

    for (unsigned k = 0; k < FR__N_ANCHORS * FR__N_PLACES * 8; k++) {
        const struct fr__step_class c = {.place = (enum fr__place)(k / 8 % FR__N_PLACES),
                                         .is_convolutional = k / 4 % 2,
                                         .is_half = k / 2 % 2,
                                         .knows_recipe = k % 2,
                                         .anchor = (enum fr__anchor)(k / 8 / FR__N_PLACES)};
        const struct fr__step_term *made = fr__step_term(c);
        struct fr__step_basis basis;
        struct fr__step_term claim = fr__step_claim(c, &basis);

        ck_assert_uint_gt(basis.n_rows, 0);
        ck_assert_uint_gt(basis.n_sources, 0);
        ck_assert_int_eq(basis.rows == FR__OWN_ROWS, made->n_rows > 0);
        for (unsigned i = 0; i < FR__N_QUANTILES; i++) {
            double far = fabs(claim.q[i] - claim.q[FR__Q50]);
            double was = fabs(made->q[i] - made->q[FR__Q50]);

            ck_assert_double_ge(far, (basis.is_guess ? sqrt(2) : 1) * was * (1 - 1e-12));
            ck_assert(basis.is_guess || far <= was * (1 + 1e-12));
        }
        n_guesses += basis.is_guess;
    }
    ck_assert_uint_gt(n_guesses, 0);
}

/* Convolutions over several machines with a recipe: nobody published such steps. Today's widest
 * classes reach from 0.71 to 2.2 times the prediction. */
TEST(a_class_that_nobody_published_is_a_guess_and_says_so)
{
    struct fr_record *r = NULL;
    struct fr_question q;
    struct fr_error err;

    fr_question_init(&q);
    q.workload = "resnet50";
    q.topology = "2x dgx1-v100 via ib:100Gbps";
    q.strategy = "dp";
    q.batch_per_gpu = 16;
    q.dtype = FR_AMP;
    q.recipe = "pytorch-ddp";
    q.is_brief = true;
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    ck_assert(r->interval.is_guess);
    ck_assert_ptr_nonnull(strstr(r->interval.of, "nobody published a step of several machines, "
                                                 "convolutions, 16 bits or fewer, recipe given"));
    ck_assert_ptr_null(strstr(r->interval.of, ": 0 published"));
    ck_assert_double_lt(r->interval.low_s, 0.75 * r->iteration_s);
    ck_assert_double_gt(r->interval.high_s, 2.1 * r->iteration_s);
    fr_record_free(r);
}

/* The costs of a toy are given by its files: nobody can be wrong about them. */
TEST(nothing_is_claimed_where_all_times_are_given)
{
    struct fr_question q;
    struct fr_record *r = NULL;
    struct fr_error err;
    char workload[512], topology[512];
    const char *top = getenv("srcdir") ? getenv("srcdir") : ".";

    snprintf(workload, sizeof(workload), "%s/examples/ten-tasks", top);
    snprintf(topology, sizeof(topology), "%s/examples/ten-tasks/processors.yaml", top);
    fr_question_init(&q);
    q.workload = workload;
    q.topology = topology;
    q.strategy = "heft";
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    ck_assert(!r->interval.is_known);
    fr_record_free(r);
}

/* Datasheet costs are worse known than fitted ones, so the range is wider on both sides. */
TEST(costs_from_data_sheets_have_a_wider_range)
{
    struct fr_record *fitted = answer("resnet50", "dgx1-v100", 1, FR_FP32), *sheet = NULL;
    struct fr_question q;
    struct fr_error err;

    fr_question_init(&q);
    q.workload = "resnet50";
    q.topology = "dgx1-v100";
    q.strategy = "dp";
    q.n_gpus = 1;
    q.batch_per_gpu = 8;
    q.costs = "datasheet";
    ck_assert(fr_answer(&q, NULL, &sheet, &err) == FR_OK);
    ck_assert(sheet->interval.cost_error > fitted->interval.cost_error);
    ck_assert(sheet->interval.high_s / sheet->iteration_s >
              fitted->interval.high_s / fitted->iteration_s);
    ck_assert(sheet->interval.low_s / sheet->iteration_s <
              fitted->interval.low_s / fitted->iteration_s);
    fr_record_free(fitted);
    fr_record_free(sheet);
}

int main(void)
{
    TCase *tc = tcase_create("interval");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "interval");
}
