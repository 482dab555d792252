/* Work on gradients beside the model's ops: copies into buckets and back, additions, clipping. */
#include "config.h"

#include "tests/support/strategies_case.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define GIB (UINT64_C(1) << 30)

enum { N_LAYERS = 4 };

static const double ones[] = {1, 1, 1, 1}, twos[] = {2, 2, 2, 2};

/* Four layers of 1 + 2 s and 1e9 bytes of parameters each, over links on which the sum of a layer's
 * gradients takes 1 s (see test_accumulate.c). n_devices: 1 or 2. */
static double time_in(const char *spec, uint32_t n_devices, uint32_t batch, size_t *n_collectives,
                      enum fr_dtype dtype)
{
    static const uint64_t params[] = {1000000000, 1000000000, 1000000000, 1000000000};
    const struct chain_case chain = {N_LAYERS, 2, params, ones, twos, 100};
    struct fr_topo *t = case_topo(2, 1e9, 64 * GIB);
    struct fr_graph *g = case_chain(&chain);
    struct case_problem c = {t, g, n_devices, batch, FR_SGD, NULL};
    struct fr_run_options o;
    struct fr_run *r = NULL;
    struct fr_error err;
    struct fr_plan *p;
    double s;

    g->dtype = dtype;
    p = case_plan(&c, spec);

    fr_run_options_init(&o);
    o.order = FR_ORDER_PRIORITY; /* as a question's */
    ck_assert_uint_eq(g->param_elem_bytes, 4);
    ck_assert_msg(fr_simulate(p, &o, &r, &err) == FR_OK, "%s", err.text);
    if (n_collectives)
        *n_collectives = fr_plan_view(p)->n_collectives;
    s = r->makespan_s;
    fr_run_free(r);
    fr_plan_free(p);
    fr_graph_free(g);
    fr_topo_free(t);
    return s;
}

static double time_of(const char *spec, uint32_t n_devices, uint32_t batch, size_t *n_collectives)
{
    return time_in(spec, n_devices, batch, n_collectives, FR_FP32);
}

static double dp(const char *options)
{
    char spec[128];

    snprintf(spec, sizeof(spec), "dp:bucket=1B%s%s", options[0] ? "," : "", options);
    return time_of(spec, 2, 4, NULL);
}

/* One pass over all gradients. */
static double pass_s(void)
{
    double s = time_of("single:passes=1", 1, 4, NULL) - time_of("single", 1, 4, NULL);

    ck_assert_double_gt(s, 1e-3); /* 4e9 bytes at 1e12 bytes/s at most */
    ck_assert_double_lt(s, 1e-1); /* far below the seconds of a layer, as the tests below need */
    return s;
}

TEST(passes_lengthen_a_step_by_their_number)
{
    double p = pass_s();

    ck_assert_double_eq_tol(time_of("single:passes=3", 1, 4, NULL),
                            time_of("single", 1, 4, NULL) + 3 * p, 1e-9);
    ck_assert_double_eq_tol(dp("passes=3"), dp("") + 3 * p, 1e-9);
    ck_assert_double_eq_tol(dp("overlap=0,passes=2"), dp("overlap=0") + 2 * p, 1e-9);
    ck_assert_double_eq_tol(time_of("dp:passes=2", 1, 4, NULL),
                            time_of("single:passes=2", 1, 4, NULL), 1e-12);
}

/* What looks at all gradients before they are summed hides none of the sums. */
TEST(passes_may_come_before_the_sums)
{
    ck_assert_double_eq_tol(dp("passes=2,passes-at=sum"), dp("overlap=0") + 2 * pass_s(), 1e-9);
    ck_assert_double_gt(dp("overlap=0"), dp("") + 1);
    ck_assert_double_eq_tol(dp("overlap=0,passes=2,passes-at=sum"), dp("overlap=0") + 2 * pass_s(),
                            1e-9);
    ck_assert_double_eq_tol(
        dp("overlap=0,passes=2,passes-at=sum,copies-in=2,copies-out=4,copies-on=comm"),
        dp("overlap=0") + 8 * pass_s(), 1e-9);
    ck_assert_double_eq(dp("passes-at=sum"), dp(""));
    ck_assert_double_eq(time_of("dp:passes=2,passes-at=sum", 1, 4, NULL),
                        time_of("dp:passes=2", 1, 4, NULL));
}

/* Each of n micro-batches but the first adds. */
TEST(micro_batches_are_added_one_time_less_than_there_are)
{
    double p = pass_s();
    char plain[64], adds[64];

    for (unsigned n = 1; n <= 5; n++) {
        snprintf(plain, sizeof(plain), "single:accumulate=%u", n);
        snprintf(adds, sizeof(adds), "single:accumulate=%u,adds=3", n);
        ck_assert_double_eq_tol(time_of(adds, 1, 2 * n, NULL),
                                time_of(plain, 1, 2 * n, NULL) + 3 * p * (n - 1), 1e-9);
        snprintf(plain, sizeof(plain), "dp:bucket=1B,overlap=0,accumulate=%u", n);
        snprintf(adds, sizeof(adds), "dp:bucket=1B,overlap=0,accumulate=%u,adds=3", n);
        ck_assert_double_eq_tol(time_of(adds, 2, 4 * n, NULL),
                                time_of(plain, 2, 4 * n, NULL) + 3 * p * (n - 1), 1e-9);
    }
}

/* In, sum, out, and then the next bucket: nothing of it overlaps. */
TEST(copies_on_the_stream_of_collectives_take_turns_with_them)
{
    ck_assert_double_eq_tol(dp("overlap=0,copies-in=2,copies-out=4,copies-on=comm"),
                            dp("overlap=0") + 6 * pass_s(), 1e-9);
}

/* After the backward pass: the first bucket's copy in and the last one's copy back show, the others
 * run beside the sums, which take longer. */
TEST(copies_on_the_compute_stream_run_beside_other_buckets)
{
    double p = pass_s();

    ck_assert_double_eq_tol(dp("overlap=0,copies-in=2,copies-out=4"),
                            dp("overlap=0") + 2 * p / N_LAYERS + 4 * p / N_LAYERS, 1e-9);
}

/* During the backward pass all copies in hold it up, and of the copies back only the last bucket's
 * shows, since its sum of 1 s hides the others. */
TEST(copies_into_buckets_hold_up_the_backward_pass)
{
    double p = pass_s();

    ck_assert_double_eq_tol(dp("copies-in=2"), dp("") + 2 * p, 1e-9);
    ck_assert_double_eq_tol(dp("copies-in=2,copies-out=2"), dp("") + 2 * p + 2 * p / N_LAYERS,
                            1e-9);
}

/* Sums of 4 s, and where gradients are made in 16 bits copies too, take half; under a precision of
 * 32 bits nothing changes. */
TEST(gradients_may_travel_in_the_16_bits_of_products)
{
    static const char kept[] = "dp:bucket=1B,overlap=0,copies-in=2,copies-out=4,copies-on=comm";
    char computed[128];
    double halved_s = (4 + 6 * pass_s()) / 2;

    snprintf(computed, sizeof(computed), "%s,travel=computed", kept);
    ck_assert_double_eq(time_in(computed, 2, 4, NULL, FR_TF32), time_in(kept, 2, 4, NULL, FR_TF32));
    ck_assert_double_eq_tol(time_in(computed, 2, 4, NULL, FR_AMP),
                            time_in(kept, 2, 4, NULL, FR_AMP) - halved_s, 1e-3);
    snprintf(computed, sizeof(computed), "%s,travel=compressed", kept);
    ck_assert_double_eq_tol(time_in(computed, 2, 4, NULL, FR_AMP),
                            time_in(kept, 2, 4, NULL, FR_AMP) - 4. / 2, 1e-3);
}

TEST(the_first_bucket_may_be_smaller)
{
    size_t n;

    time_of("dp:bucket=2GB", 2, 4, &n);
    ck_assert_uint_eq(n, 2);
    time_of("dp:bucket=2GB,first=1B", 2, 4, &n);
    ck_assert_uint_eq(n, 3); /* 1, 2 and 1 layers */
}

static void refuses(const char *spec, const char *text)
{
    static const uint64_t params[] = {8, 8, 8, 8};
    const struct chain_case chain = {N_LAYERS, 2, params, ones, twos, 100};
    struct fr_topo *t = case_topo(2, 1e9, 64 * GIB);
    struct fr_graph *g = case_chain(&chain);
    struct case_problem c = {t, g, 2, 4, FR_SGD, NULL};
    struct fr_error err = {.code = FR_OK};

    case_fails(&c, spec, &err);
    ck_assert_msg(strstr(err.text, text), "%s", err.text);
    fr_graph_free(g);
    fr_topo_free(t);
}

TEST(servers_have_no_buckets_to_copy_into)
{
    refuses("dp:sync=ps-cpu,copies-in=2", "belongs to sync=ring");
    refuses("dp:sync=ps-gpu0,passes=1", "belongs to sync=ring");
    refuses("dp:sync=ps-gpu0,passes-at=sum", "belongs to sync=ring");
    refuses("dp:step=bucket,copies-out=2", "step=all");
    refuses("dp:copies-in=65", "more than 64 passes");
    refuses("dp:adds=65", "more than 64 passes");
}

int main(void)
{
    TCase *c = tcase_create("copies");

    add_tests(c);
    return run_case(c, "strategies/copies");
}
