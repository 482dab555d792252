/* Whole simulations on a device whose file says how work slows other work. */
#include "config.h"

#include "results/results.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FACTOR 1.5
static char path[64];

static void write_device(const char *device)
{
    FILE *f;

    snprintf(path, sizeof(path), "interference.%ld.yaml", (long)getpid());
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(
        f,
        "device: %s\ninterference:\n  gpus: 'G'\n  source: 'made up'\n"
        "  data_hash: '0000000000000000'\n  pairs:\n    - of: compute\n      beside: collective\n"
        "      factor: [%g, 0.1]\n      rows_fitted: 9\n"
        "      held_out: {rows: 0, median: 0, p90: 0, worst: 0, bias: 0}\n",
        device, FACTOR);
    fclose(f);
}

static struct fr_record *answer_with(const char *topology, const char *costs, const char *how)
{
    struct fr_record *r = NULL;
    struct fr_error err = {.text = ""};
    struct fr_question q;

    fr_question_init(&q);
    q.workload = "vgg16";
    q.topology = topology;
    q.strategy = "dp";
    q.n_gpus = 2;
    q.global_batch = 64;
    q.costs = costs;
    ck_assert_msg(fr_question_set(&q, "interference", how, &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s: %s", err.file, err.text);
    return r;
}

static struct fr_record *answer(const char *topology, const char *costs)
{
    return answer_with(topology, costs, "measured");
}

/* How long a collective runs on the device while that task does. Those of one group come one
 * after another. */
static double overlap_s(const struct fr_record *r, uint32_t task)
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    double sum_s = 0;

    for (uint32_t t = 0; t < v->n_tasks; t++)
        if (v->tasks[t].kind == FR_TASK_COLLECTIVE && v->tasks[t].device == v->tasks[task].device)
            sum_s += fmax(0, fmin(r->run->end_s[t], r->run->end_s[task]) -
                                 fmax(r->run->start_s[t], r->run->start_s[task]));
    return sum_s;
}

/* While a collective runs, a kernel does 1/f of its work in the same time: alone = (T - O) + O / f,
 * so T = alone + O (1 - 1/f). Returns how much they share. */
static double assert_kernels_share(const struct fr_record *r, double f)
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    double shared_s = 0;

    for (uint32_t t = 0; t < v->n_tasks; t++) {
        double alone_s, both_s;

        if (v->tasks[t].kind != FR_TASK_COMPUTE)
            continue;
        alone_s = v->costs[v->tasks[t].cost_id].mean_s;
        both_s = overlap_s(r, t);
        shared_s += both_s;
        ck_assert_double_eq_tol(r->run->end_s[t] - r->run->start_s[t],
                                alone_s + both_s * (1 - 1 / f), 1e-12);
    }
    return shared_s;
}

/* While a collective runs, a kernel does 1/1.5 of its work in the same time: alone = (T - O) + O
 * / 1.5, so T = alone + O / 3. */
TEST(kernels_take_longer_by_a_third_of_what_they_share_with_collectives)
{
    struct fr_record *r;

    write_device("a100-sxm4-80gb");
    r = answer("dgx-a100-80g", path);
    unlink(path);
    ck_assert_str_eq(r->interference, "a100-sxm4-80gb");
    ck_assert_double_gt(assert_kernels_share(r, FACTOR), 1e-3);
    fr_record_free(r);
}

/* Another board of the chip says; another chip does not, nor do peak rates. */
TEST(factors_hold_for_boards_of_the_chip_and_are_off_where_nothing_is_known)
{
    struct fr_record *r;

    write_device("v100-sxm2-16gb");
    r = answer("dgx1-v100", path);
    ck_assert_str_eq(r->interference, "v100-sxm2-16gb");
    fr_record_free(r);
    unlink(path);
    r = answer("dgx1-v100", "calibrated");
    ck_assert_ptr_null(r->interference);
    fr_record_free(r);
    r = answer("dgx1-v100", "datasheet");
    ck_assert_ptr_null(r->interference);
    fr_record_free(r);
}

TEST(an_answer_says_what_interference_adds)
{
    static const char *const how[] = {"published", "1.5", "none"};
    struct fr_record *plain = answer("dgx-a100-80g", "calibrated");

    for (size_t i = 0; i < 3; i++) {
        struct fr_record *r = answer_with("dgx-a100-80g", "calibrated", how[i]);
        double added_s = r->iteration_s - plain->iteration_s;

        ck_assert(r->interference_s == added_s);
        /* published: from nothing to 1.4; of a factor of one's own nobody knows the error */
        ck_assert_double_eq_tol(r->interference_low_s, i == 0 ? 0 : added_s, 1e-9);
        ck_assert((r->interference_high_s > added_s) == (i == 0));
        ck_assert((added_s > 0) == (i < 2) && (r->interference != NULL) == (i < 2));
        assert_kernels_share(r, i == 0 ? 1.189 : i == 1 ? 1.5 : 1);
        fr_record_free(r);
    }
    fr_record_free(plain);
}

/* A factor of 1.5 with an error of 0.1: what is added grows with 1 - 1/f. */
TEST(what_interference_adds_has_the_error_of_its_factors)
{
    struct fr_record *r;

    write_device("a100-sxm4-80gb");
    r = answer("dgx-a100-80g", path);
    unlink(path);
    ck_assert_double_gt(r->interference_low_s, 0);
    ck_assert_double_lt(r->interference_low_s, r->interference_s);
    ck_assert_double_gt(r->interference_high_s, r->interference_s);
    ck_assert_double_lt(r->interference_high_s, 2 * r->interference_s);
    fr_record_free(r);
}

TEST(none_is_none_whatever_a_device_file_says)
{
    struct fr_record *r;

    write_device("a100-sxm4-80gb");
    r = answer_with("dgx-a100-80g", path, "none");
    unlink(path);
    ck_assert_ptr_null(r->interference);
    fr_record_free(r);
}

TEST(published_factors_may_stand_in_where_nothing_was_measured)
{
    struct fr_record *r;

    r = answer_with("dgx-a100-80g", "calibrated", "measured-or-published");
    ck_assert_str_eq(r->interference, "GPUs of published runs");
    assert_kernels_share(r, 1.189);
    fr_record_free(r);
    write_device("a100-sxm4-80gb");
    r = answer_with("dgx-a100-80g", path, "measured-or-published");
    unlink(path);
    assert_kernels_share(r, FACTOR);
    fr_record_free(r);
}

TEST(words_for_interference_that_mean_nothing_are_refused)
{
    static const char *const words[] = {"non", "0.5", "nan", "-1", "1.2x", "101"};
    struct fr_question q;
    struct fr_error err;

    fr_question_init(&q);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        ck_assert_msg(fr_question_set(&q, "interference", words[i], &err) != FR_OK, "%s", words[i]);
    ck_assert(q.beside_collectives == 0);
}

int main(void)
{
    TCase *t = tcase_create("interference");

    fr_init();
    tcase_set_timeout(t, 30);
    add_tests(t);
    return run_case(t, "results/interference");
}
