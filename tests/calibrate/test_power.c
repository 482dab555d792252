/* tests/calibrate/test_power.c - the clock under a power limit: by hand, and as measured. */
#include "config.h"

#include "calibrate/power/power.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>

/* Voltage is 1 at any clock: power is linear in the clock. */
static const struct fr__power flat = {.idle_W = 100, .busy_W = 40, .byte_pJ = 100};

START_TEST(a_limit_that_nothing_reaches_leaves_the_clock)
{
    const struct fr__load load = {.dynamic_W = 200, .memory_W = 50};

    ck_assert_double_eq(fr__clock_under(&flat, load, 354), 1);
    ck_assert_double_eq_tol(fr__draw_W(&flat, load, 1), 350, 1e-12);
}
END_TEST

/* 0.99 x 250 = 247.5 = 100 + 200 clock + 50. */
START_TEST(the_clock_is_the_highest_within_the_limit)
{
    const struct fr__load load = {.dynamic_W = 200, .memory_W = 50};

    ck_assert_double_eq_tol(fr__clock_under(&flat, load, 250), 0.4875, 1e-9);
    ck_assert_double_eq_tol(fr__draw_W(&flat, load, 0.4875), 247.5, 1e-9);
}
END_TEST

/* Voltage 0.8 at a clock of 0.6 with slope 0.5: 100 + 200 x 0.6 x 0.64. */
START_TEST(voltage_falls_with_the_clock_down_to_its_least)
{
    struct fr__power p = {.idle_W = 100, .slope = 0.5, .least_voltage = 0.7};
    const struct fr__load load = {.dynamic_W = 200};

    ck_assert_double_eq_tol(fr__draw_W(&p, load, 0.6), 176.8, 1e-9);
    ck_assert_double_eq_tol(fr__draw_W(&p, load, 0.2), 100 + 200 * 0.2 * 0.49, 1e-9);
    ck_assert_double_eq_tol(fr__clock_under(&p, load, 176.8 / 0.99), 0.6, 1e-9);
}
END_TEST

START_TEST(compute_slows_less_than_the_clock)
{
    ck_assert_double_eq(fr__clock_rate(1), 1);
    ck_assert_double_eq_tol(fr__clock_rate(0.8), pow(0.8, 0.8), 1e-12);
    ck_assert_double_eq_tol(fr__clock_rate(0.35), pow(0.7, 0.8) * pow(0.5, 0.97), 1e-12);
}
END_TEST

/* In 10 ms: 1 J for the FLOPs, which is 100 W and adds to the 40 W of any kernel; 1e10 bytes at 100
 * pJ, which is 100 W as well. */
START_TEST(a_load_is_energy_over_time)
{
    struct fr__load load = fr__load_of(&flat, 1, 1e10, 0.01);

    ck_assert_double_eq_tol(load.dynamic_W, 140, 1e-9);
    ck_assert_double_eq_tol(load.memory_W, 100, 1e-9);
    ck_assert_double_eq(fr__load_of(&flat, 0, 0, 0).dynamic_W, 0);
}
END_TEST

/* A quarter goes with the clock: at half of it, 0.75 + 0.25 x 2. */
START_TEST(a_share_of_memory_goes_with_the_clock)
{
    const struct fr__power p = {.memory_share = 0.25};

    ck_assert_double_eq_tol(fr__memory_rate(&p, 0.5), 1 / 1.25, 1e-12);
    ck_assert_double_eq(fr__memory_rate(&flat, 0.5), 1);
}
END_TEST

START_TEST(boards_are_found_by_their_chip)
{
    ck_assert_ptr_nonnull(fr__power_of("h100-sxm5-80gb"));
    ck_assert_str_eq(fr__power_of("a100-pcie-40gb")->chip, "a100");
    ck_assert_str_eq(fr__power_of("gb200-186gb")->chip, "gb200");
    ck_assert_ptr_null(fr__power_of("a10"));
    ck_assert_ptr_null(fr__power_of("k80-die"));
    for (size_t i = 0; i < fr__n_powers; i++) {
        const struct fr__power *p = &fr__powers[i];

        ck_assert(p->idle_W > 10 && p->idle_W < 250 && p->slope > 0 && p->byte_pJ > 10 &&
                  p->busy_W > 10);
        ck_assert(p->tensor8_pJ <= p->tensor16_pJ && p->tensor16_pJ <= p->tf32_pJ);
        ck_assert(p->source[0] != '\0');
    }
}
END_TEST

/* Large products alone on one GPU: what runs at burst_flops_per_s at the highest clock runs at
 * held_flops_per_s under the limit, within 5 %. */
static void products(const char *device, double limit_W, double burst_flops_per_s,
                     double held_flops_per_s)
{
    const struct fr__power *p = fr__power_of(device);
    struct fr__load load =
        fr__load_of(p, 1e-12 * p->tensor16_pJ * burst_flops_per_s, 4e-4 * burst_flops_per_s, 1);
    double rate = burst_flops_per_s * fr__clock_rate(fr__clock_under(p, load, limit_W));

    ck_assert_double_eq_tol(rate / held_flops_per_s, 1, 0.05);
}

/* napkin-math-gpu, 700 W; SimuMax, taken as 1000 W; A100 PCIe of 300 W: 281 is what its sweep's 237
 * are at the highest clock. */
START_TEST(products_keep_what_was_measured_of_long_runs)
{
    products("h100-sxm5-80gb", 700, 768e12, 695e12);
    products("b200-sxm-180gb", 1000, 1430e12, 1090e12);
    products("a100-pcie-80gb", 300, 281e12, 237e12);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("power");

    tcase_add_test(tc, a_limit_that_nothing_reaches_leaves_the_clock);
    tcase_add_test(tc, the_clock_is_the_highest_within_the_limit);
    tcase_add_test(tc, voltage_falls_with_the_clock_down_to_its_least);
    tcase_add_test(tc, compute_slows_less_than_the_clock);
    tcase_add_test(tc, a_load_is_energy_over_time);
    tcase_add_test(tc, a_share_of_memory_goes_with_the_clock);
    tcase_add_test(tc, boards_are_found_by_their_chip);
    tcase_add_test(tc, products_keep_what_was_measured_of_long_runs);
    return run_case(tc, "power");
}
