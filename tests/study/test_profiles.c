/* From a workload that says on which device its times were measured, or does not, to the answer. */
#include "config.h"

#include "study/study.h"
#include "study/sweep/sweep.h"
#include "tests/support/base_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *source_path(const char *path, char buf[1024])
{
    const char *srcdir = getenv("srcdir");

    snprintf(buf, 1024, "%s/%s", srcdir ? srcdir : ".", path);
    return buf;
}

static enum fr_status ask(const char *workload, const char *topology, const char *device,
                          struct fr_record **r, struct fr_error *err)
{
    struct fr_question q;

    fr_question_init(&q);
    q.workload = workload;
    q.topology = topology;
    q.profile_device = device;
    q.strategy = "single";
    q.n_gpus = 1;
    q.uncertainty = FR_UNCERTAINTY_WHY;
    return fr_answer(&q, NULL, r, err);
}

static struct fr_record *answer(const char *workload, const char *topology, const char *device)
{
    struct fr_record *r = NULL;
    struct fr_error err;
    char path[1024];

    ck_assert_msg(ask(source_path(workload, path), topology, device, &r, &err) == FR_OK, "%s",
                  err.text);
    return r;
}

#define UNNAMED "tests/golden/cli/anywhere"
#define NAMED "examples/gnmt-head" /* on a V100 */

/* The one GPU that nobody knows moves all times at once: 90 % of exp(1.1 z) is a factor of 6.1
 * either way. */
TEST(times_of_an_unnamed_device_are_marked_and_uncertain)
{
    struct fr_record *r = answer(UNNAMED, "dgx1-v100", NULL);

    ck_assert_double_eq_tol(r->cost_frac[FR_TRUST_PROFILED_ELSEWHERE], 1, 1e-9);
    ck_assert_double_eq(r->cost_frac[FR_TRUST_PROFILED], 0);
    ck_assert_double_gt(r->iteration_high_s / r->iteration_low_s, 10);
    ck_assert_uint_eq(r->n_error_shares, 1);
    ck_assert_str_eq(fr_record_error_share_name(&r->error_shares[0]), "profile");
    fr_record_free(r);
}

TEST(naming_the_device_from_outside_makes_them_profiled)
{
    struct fr_record *unnamed = answer(UNNAMED, "dgx1-v100", NULL);
    struct fr_record *named = answer(UNNAMED, "dgx1-v100", "v100-sxm2-16gb");

    ck_assert_double_eq_tol(named->cost_frac[FR_TRUST_PROFILED], 1, 1e-9);
    ck_assert_double_eq(named->iteration_s, unnamed->iteration_s);
    ck_assert_uint_eq(named->n_error_shares, 0);
    fr_record_free(unnamed);
    fr_record_free(named);
}

/* Each of its forward and streaming ops on the P100 is slower by what the curves say. */
TEST(a_named_profile_moves_to_another_gpu_as_scaled)
{
    struct fr_record *home = answer(NAMED, "dgx1-v100", NULL);
    struct fr_record *away = answer(NAMED, "dgx1-p100", NULL);

    ck_assert_double_gt(home->cost_frac[FR_TRUST_PROFILED], 0.9);
    ck_assert_double_eq(away->cost_frac[FR_TRUST_PROFILED], 0);
    ck_assert_double_gt(away->cost_frac[FR_TRUST_SCALED], 0.01);
    ck_assert_double_gt(away->iteration_s, home->iteration_s);
    fr_record_free(home);
    fr_record_free(away);
}

TEST(a_device_that_nobody_knows_is_refused)
{
    struct fr_record *r = NULL;
    struct fr_error err;

    ck_assert_int_eq(ask("lenet", "dgx1-v100", "v100-sxm2-16g", &r, &err), FR_ENOENT);
    assert_message(&err, "option '--profile-device' is \"v100-sxm2-16g\", no device type that is "
                         "known, did you mean 'v100-sxm2-16gb'?");
}

/* A sweep keeps loaded workloads and cost models: not across devices. */
TEST(a_sweep_over_devices_answers_each_with_its_own)
{
    static const double profiled[] = {0, 0, 1};
    const struct fr_sweep_options o = {.n_threads = 2};
    struct fr_sweep *s = fr_sweep_new();
    struct fr_error err;
    char path[1024];

    ck_assert_int_eq(fr_sweep_add(s, "workload", source_path(UNNAMED, path), &err), FR_OK);
    ck_assert_int_eq(fr_sweep_add(s, "topology", "dgx1-v100", &err), FR_OK);
    ck_assert_int_eq(fr_sweep_add(s, "gpus", "1", &err), FR_OK);
    ck_assert_int_eq(fr_sweep_add(s, "strategy", "single", &err), FR_OK);
    ck_assert_int_eq(fr_sweep_add(s, "profile-device", "none,p100-pcie-16gb,v100-sxm2-16gb", &err),
                     FR_OK);
    ck_assert_msg(fr_sweep_finish(s, &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr_sweep_run(s, &o, NULL, &err) == FR_OK, "%s", err.text);
    ck_assert_uint_eq(fr_sweep_n_points(s), 3);
    for (size_t i = 0; i < 3; i++) {
        const struct fr_sweep_row *row = fr_sweep_row(s, i);

        ck_assert_int_eq(row->outcome, FR_FITS);
        ck_assert_double_eq_tol(row->cost_frac[FR_TRUST_PROFILED], profiled[i], 1e-9);
    }
    ck_assert_double_eq(fr_sweep_row(s, 0)->cost_frac[FR_TRUST_PROFILED_ELSEWHERE], 1);
    ck_assert_double_gt(fr_sweep_row(s, 1)->cost_frac[FR_TRUST_SCALED], 0.1);
    ck_assert_str_eq(fr_sweep_row(s, 1)->profile_device, "p100-pcie-16gb");
    fr_sweep_free(s);
}

int main(void)
{
    TCase *tc = tcase_create("profiles");

    add_tests(tc);
    return run_case(tc, "results_profiles");
}
