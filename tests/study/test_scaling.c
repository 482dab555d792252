/* tests/study/test_scaling.c - throughput a GPU over that on fewer GPUs, in the rows of a sweep. */
#include "config.h"

#include "results/results.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct axis {
    const char *setting, *values;
};

static struct fr_sweep *run(const struct axis axes[], size_t n)
{
    const struct fr_sweep_options options = {.n_threads = 1};
    struct fr_sweep *s = fr_sweep_new();
    struct fr_error err;

    ck_assert_ptr_nonnull(s);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(fr_sweep_add(s, axes[i].setting, axes[i].values, &err) == FR_OK, "%s",
                      err.text);
    ck_assert_msg(fr_sweep_finish(s, &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr_sweep_run(s, &options, NULL, &err) == FR_OK, "%s", err.text);
    return s;
}

static struct fr_sweep_summary *sum_up(const struct fr_sweep *s, double tokens)
{
    const struct fr_sweep_terms terms = {.tokens = tokens};
    struct fr_sweep_summary *m = NULL;
    struct fr_error err;

    ck_assert_int_eq(fr_sweep_summarise(s, &terms, &m, &err), FR_OK);
    return m;
}

static double per_gpu(const struct fr_sweep *s, size_t point)
{
    return fr_sweep_row(s, point)->samples_per_s / (double)fr_sweep_row(s, point)->gpus;
}

TEST(each_question_is_held_against_its_fewest_gpus)
{
    const struct axis axes[] = {{"workload", "lenet"},     {"workload", "alexnet"},
                                {"topology", "dgx1-v100"}, {"strategy", "dp"},
                                {"gpus", "2,1,8"},         {"batch", "64"}};
    struct fr_sweep *s = run(axes, sizeof(axes) / sizeof(*axes));
    struct fr_sweep_summary *m = sum_up(s, 0);

    ck_assert_ptr_nonnull(m->scaling);
    ck_assert_uint_eq(fr_sweep_n_points(s), 6);
    for (size_t i = 0; i < 6; i++) {
        size_t base = i / 3 * 3 + 1; /* points of a workload follow each other */

        ck_assert_uint_eq(fr_sweep_row(s, base)->gpus, 1);
        ck_assert_double_eq(m->scaling[i], per_gpu(s, i) / per_gpu(s, base));
        ck_assert_double_le(m->scaling[i], 1 + 1e-9);
    }
    fr_sweep_summary_free(m);
    fr_sweep_free(s);
}

TEST(several_machines_are_held_against_one_of_their_kind)
{
    const struct axis axes[] = {{"workload", "alexnet"},
                                {"topology", "dgx1-v100"},
                                {"topology", "2x dgx1-v100 via ib:100Gbps"},
                                {"topology", "4x dgx1-v100 via ib:100Gbps"},
                                {"topology", "4x dgx1-v100 via ib:10Gbps"},
                                {"topology", "dgx1-p100"},
                                {"strategy", "dp"},
                                {"batch-per-gpu", "16"}};
    struct fr_sweep *s = run(axes, sizeof(axes) / sizeof(*axes));
    struct fr_sweep_summary *m = sum_up(s, 0);

    ck_assert_ptr_nonnull(m->scaling);
    for (size_t i = 0; i < 4; i++)
        ck_assert_double_eq(m->scaling[i], per_gpu(s, i) / per_gpu(s, 0));
    ck_assert_double_lt(m->scaling[3], m->scaling[2]); /* the slower network */
    ck_assert_double_eq(m->scaling[4], 1);             /* no other of its kind */
    fr_sweep_summary_free(m);
    fr_sweep_free(s);
}

/* The pipeline does not fit on one GPU, so four are the fewest. */
TEST(what_does_not_fit_is_nobodys_base)
{
    const struct axis axes[] = {{"workload", "gpt2-large"},
                                {"topology", "dgx1-v100"},
                                {"strategy", "pp"},
                                {"gpus", "1,4,8"},
                                {"batch", "8"},
                                {"optimizer", "adam"}};
    struct fr_sweep *s = run(axes, sizeof(axes) / sizeof(*axes));
    struct fr_sweep_summary *m = sum_up(s, 0);

    ck_assert_int_eq(fr_sweep_row(s, 0)->outcome, FR_OOM);
    ck_assert_int_eq(fr_sweep_row(s, 1)->outcome, FR_FITS);
    ck_assert_int_eq(fr_sweep_row(s, 2)->outcome, FR_FITS);
    ck_assert(isnan(m->scaling[0]));
    ck_assert_double_eq(m->scaling[1], 1);
    ck_assert_double_eq(m->scaling[2], per_gpu(s, 2) / per_gpu(s, 1));
    fr_sweep_summary_free(m);
    fr_sweep_free(s);
}

TEST(one_number_of_gpus_does_not_scale)
{
    const struct axis axes[] = {{"workload", "lenet"},
                                {"topology", "dgx1-v100"},
                                {"strategy", "dp"},
                                {"gpus", "2"},
                                {"batch", "16,32"}};
    struct fr_sweep *s = run(axes, sizeof(axes) / sizeof(*axes));
    struct fr_sweep_summary *m = sum_up(s, 0);

    ck_assert_ptr_null(m->scaling);
    ck_assert(!m->has_tokens);
    fr_sweep_summary_free(m);
    fr_sweep_free(s);
}

TEST(rows_have_tokens_and_flops_and_a_run_may_be_counted_in_tokens)
{
    const struct axis axes[] = {
        {"workload", "gpt3-125m"}, {"workload", "lenet"}, {"topology", "dgx-a100-80g"},
        {"strategy", "dp"},        {"gpus", "1,2"},       {"batch-per-gpu", "1"}};
    struct fr_sweep *s = run(axes, sizeof(axes) / sizeof(*axes));
    struct fr_sweep_summary *m = sum_up(s, 1e9);
    const struct fr_sweep_row *r = fr_sweep_row(s, 1), *images = fr_sweep_row(s, 2);
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    ck_assert(m->has_tokens);
    ck_assert_double_eq(r->tokens_per_s, 2048 * r->samples_per_s);
    ck_assert(r->mfu > 0 && r->mfu < 1 && !(r->hfu < r->mfu));
    ck_assert_double_eq_tol(r->mfu, r->model_flops_per_s_per_gpu / 312e12, 1e-12);
    ck_assert_double_eq_tol(fr_sweep_value(r, &m->terms).time_s, 1e9 / r->tokens_per_s, 1e-6);
    ck_assert(isnan(images->tokens_per_s) && isnan(fr_sweep_value(images, &m->terms).time_s));
    const struct fr_sweep_answer a = {
        .sweep = s, .summary = m, .wanted = &(struct fr_sweep_table){.all_rows = true}};
    ck_assert_int_eq(fr_show_text(f, fr_shown_sweep(&a), 0, NULL), FR_OK);
    fclose(f);
    ck_assert_ptr_nonnull(strstr(text, "  tokens/s/GPU     MFU  scaling  peak memory  run time"));
    free(text);
    fr_sweep_summary_free(m);
    fr_sweep_free(s);
}

int main(void)
{
    TCase *tc = tcase_create("scaling");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "scaling");
}
