/* tests/study/test_split.c - what of a step is off, from rows whose parts are known. */
#include "config.h"

#include "study/validate/split.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>

#define SAME "-O adam --recipe tf-horovod"

static struct fr_validation_row row(const char *id, const char *strategy, uint64_t gpus,
                                    uint64_t batch, double measured_s, double predicted_s)
{
    return (struct fr_validation_row){.id = id,
                                      .workload = "bert-base",
                                      .topology = gpus > 8 ? "2x dgx1-v100" : "dgx1-v100",
                                      .strategy = strategy,
                                      .precision = "fp32",
                                      .options = SAME,
                                      .notes = "",
                                      .gpus = gpus,
                                      .global_batch = batch,
                                      .measured_s = measured_s,
                                      .predicted_s = predicted_s};
}

/* fr__arena_free(arena) frees what it found. */
static struct fr_validation split(const struct fr_validation_row rows[], size_t n,
                                  struct fr__arena *arena)
{
    struct fr_validation v = {.rows = rows, .n_rows = n};
    struct fr_error err;

    ck_assert_int_eq(fr__validation_split(&v, arena, &err), FR_OK);
    return v;
}

/* 10 ms + 2 ms a sample measured, 4 ms + 3 ms predicted. */
TEST(rows_that_differ_in_the_batch_make_a_line)
{
    struct fr__arena *arena = fr__arena_new();
    struct fr_validation v;
    const struct fr_validation_row rows[] = {
        row("A-1", "single", 1, 32, 0.074, 0.100), row("A-2", "single", 1, 96, 0.202, 0.292),
        row("A-3", "single", 1, 64, 0.138, 0.196), row("B-1", "single", 1, 64, 0.5, 0.5)};

    v = split(rows, 4, arena);
    ck_assert_uint_eq(v.n_lines, 1);
    ck_assert_uint_eq(v.lines[0].n, 3);
    ck_assert_double_eq_tol(v.lines[0].measured_per_sample_s, 0.002, 1e-12);
    ck_assert_double_eq_tol(v.lines[0].measured_per_step_s, 0.010, 1e-12);
    ck_assert_double_eq_tol(v.lines[0].predicted_per_sample_s, 0.003, 1e-12);
    ck_assert_double_eq_tol(v.lines[0].predicted_per_step_s, 0.004, 1e-12);
    ck_assert_double_eq(v.lines[0].least_batch, 32);
    ck_assert_double_eq(v.lines[0].most_batch, 96);
    /* weights of the times at batch 0: 1/3 + 1, 1/3, 1/3 - 1, times 0.7 % of each */
    ck_assert_double_eq_tol(
        v.lines[0].noise_s,
        0.007 * sqrt(pow(0.074 * 4 / 3, 2) + pow(0.138 / 3, 2) + pow(0.202 * 2 / 3, 2)), 1e-9);
    ck_assert_uint_eq(v.n_changes, 0);
    ck_assert_uint_eq(v.n_software, 1);
    ck_assert_str_eq(v.software[0].software, "tf-horovod");
    ck_assert_double_eq_tol(v.software[0].per_sample_error, 0.5, 1e-9);
    ck_assert_double_eq_tol(v.software[0].per_step_missing_s, 0.006, 1e-12);
    ck_assert(isnan(v.software[0].per_change_missing_s));
    fr__arena_free(arena);
}

/* From 1 to 4 GPUs 20 and 30 ms are added, 6 and 8 predicted; from 4 to 16 40 and 10. */
TEST(rows_that_differ_in_gpus_say_what_these_add)
{
    struct fr__arena *arena = fr__arena_new();
    struct fr_validation v;
    const struct fr_validation_row rows[] = {
        row("A-1", "dp:bucket=1MiB", 4, 128, 0.120, 0.106),
        row("A-2", "single", 1, 32, 0.1, 0.1),
        row("A-3", "dp", 16, 512, 0.160, 0.116),
        row("A-4", "single", 1, 64, 0.2, 0.2),
        row("A-5", "dp:bucket=1MiB", 4, 256, 0.230, 0.208),
        row("A-6", "mp", 4, 128, 1, 1),
    };

    v = split(rows, 6, arena);
    ck_assert_uint_eq(v.n_changes, 3);
    ck_assert_str_eq(v.changes[0].from, "1");
    ck_assert_str_eq(v.changes[0].to, "4");
    ck_assert_str_eq(v.changes[0].strategy, "dp:bucket=1MiB");
    ck_assert_uint_eq(v.changes[0].n, 2);
    ck_assert_double_eq_tol(v.changes[0].measured_added_s, 0.025, 1e-12);
    ck_assert_double_eq_tol(v.changes[0].predicted_added_s, 0.007, 1e-12);
    ck_assert_double_eq_tol(v.changes[0].measured_ratio, (1.2 + 1.15) / 2, 1e-12);
    ck_assert_str_eq(v.changes[1].strategy, "mp");
    ck_assert_double_eq_tol(v.changes[1].measured_added_s, 0.9, 1e-12);
    /* "dp" is another strategy than that of 4 GPUs, and is compared with one GPU */
    ck_assert_str_eq(v.changes[2].from, "1");
    ck_assert_str_eq(v.changes[2].to, "16");
    ck_assert_double_eq_tol(v.changes[2].measured_added_s, 0.060, 1e-12);
    ck_assert_uint_eq(v.software[0].n_changes, 3);
    fr__arena_free(arena);
}

TEST(the_number_of_replicas_is_no_other_strategy)
{
    struct fr__arena *arena = fr__arena_new();
    struct fr_validation v;
    const struct fr_validation_row rows[] = {
        row("A-1", "hybrid:tp=2,dp=2,zero=1", 4, 64, 0.3, 0.2),
        row("A-2", "hybrid:tp=2,dp=4,zero=1", 8, 128, 0.4, 0.21),
        row("A-3", "hybrid:tp=4,dp=2,zero=1", 8, 128, 0.5, 0.22),
    };

    v = split(rows, 3, arena);
    ck_assert_uint_eq(v.n_changes, 1);
    ck_assert_double_eq_tol(v.changes[0].measured_added_s, 0.1, 1e-12);
    fr__arena_free(arena);
}

TEST(rows_that_differ_in_precision_say_what_it_saves)
{
    struct fr__arena *arena = fr__arena_new();
    struct fr_validation v;
    struct fr_validation_row rows[] = {row("A-1", "single", 1, 64, 0.1, 0.08),
                                       row("A-2", "single", 1, 64, 0.3, 0.3),
                                       row("A-3", "single", 1, 64, 0.2, 0.25)};

    rows[0].precision = "amp";
    rows[2].precision = "tf32";
    v = split(rows, 3, arena);
    ck_assert_uint_eq(v.n_lines, 0);
    ck_assert_uint_eq(v.n_changes, 2);
    ck_assert_str_eq(v.changes[0].from, "fp32");
    ck_assert_str_eq(v.changes[0].to, "tf32");
    ck_assert_str_eq(v.changes[1].from, "tf32");
    ck_assert_str_eq(v.changes[1].to, "amp");
    ck_assert_double_eq_tol(v.changes[1].measured_ratio, 0.5, 1e-12);
    ck_assert_double_eq_tol(v.changes[1].predicted_ratio, 0.32, 1e-12);
    ck_assert_uint_eq(v.n_software, 0);
    fr__arena_free(arena);
}

TEST(software_is_what_notes_name_before_a_bar)
{
    struct fr__arena *arena = fr__arena_new();
    struct fr_validation v;
    struct fr_validation_row rows[] = {row("A-1", "single", 1, 32, 0.1, 0.1),
                                       row("A-2", "single", 1, 64, 0.2, 0.1),
                                       row("A-3", "single", 1, 64, 0.2, 0.1)};

    rows[0].notes = rows[1].notes = "MXNet 1.6|RN50|fp32";
    rows[2].why_not = "is not predicted";
    v = split(rows, 3, arena);
    ck_assert_uint_eq(v.n_software, 1);
    ck_assert_str_eq(v.software[0].software, "MXNet 1.6");
    ck_assert_uint_eq(v.lines[0].n, 2);
    fr__arena_free(arena);
}

int main(void)
{
    TCase *tc = tcase_create("split");

    add_tests(tc);
    return run_case(tc, "split");
}
