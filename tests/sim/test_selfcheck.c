/* tests/sim/test_selfcheck.c - each self-check finds the fault that it is there for. */
#include "config.h"

#include "sim/analysis/selfcheck.h"
#include "tests/support/sim_fixture.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* A sound run of: 2 s of compute on a, 1e9 bytes to b at 1e9 B/s, 1 s of compute on b; a's output
 * lives until it is sent. */
static struct fr_topo *topo;
static struct fr_plan *plan;
static struct fr_run *run;
static struct fr_run copy;
static double start_s[8], end_s[8], link_bytes[8], expected[8];
static struct fr_device_result devices[4];

static void set_up(void)
{
    struct fr_run_options o;
    uint32_t a, recv, b;

    topo = fixture_pair(1e9, 0);
    plan = fr_plan_new(topo, NULL);
    a = fixture_compute(plan, 0, fixture_cost(plan, 2), 0);
    recv = fixture_message(plan, 0, 1, 1e9, a);
    b = fr_plan_add_buffer(
        plan, &(struct fr_buffer){
                  .bytes = 1000000000, .device = 0, .alloc = a, .alias = FR_NONE, .op = FR_NONE});
    fr_plan_add_free(plan, b, recv);
    fr_plan_add_dep(plan, recv, fixture_compute(plan, 1, fixture_cost(plan, 1), 0));
    fixture_finish(plan);
    fr_run_options_init(&o);
    run = fixture_run(plan, &o);
    copy = *run;
    memcpy(start_s, run->start_s, run->n_tasks * sizeof(double));
    memcpy(end_s, run->end_s, run->n_tasks * sizeof(double));
    memcpy(devices, run->devices, run->n_devices * sizeof(*devices));
    memcpy(link_bytes, run->link_bytes, run->n_links * sizeof(double));
    memcpy(expected, run->link_bytes, run->n_links * sizeof(double));
    copy.start_s = start_s;
    copy.end_s = end_s;
    copy.devices = devices;
    copy.link_bytes = link_bytes;
}

static void tear_down(void)
{
    fr_run_free(run);
    fr_plan_free(plan);
    fr_topo_free(topo);
}

static void finds(const char *text)
{
    struct fr_error err = {.text = ""};

    ck_assert_int_eq(fr__self_check(plan, &copy, expected, &err), FR_ECHECK);
    ck_assert_msg(strstr(err.text, text) != NULL, "'%s' does not hold '%s'", err.text, text);
}

TEST(a_sound_run_passes)
{
    ck_assert_double_eq_tol(run->makespan_s, 4, 1e-9);
    ck_assert_int_eq(fr__self_check(plan, &copy, expected, NULL), FR_OK);
}

/* The first link carried as much as it can in the makespan; a little more is found. */
TEST(a_link_that_carried_more_than_it_can_is_found)
{
    double Bps[16], could_bytes;
    struct fr_error err = {.text = ""};

    ck_assert_uint_le(run->n_links, 16);
    for (size_t l = 0; l < run->n_links; l++)
        Bps[l] = topo->links[l].bw_Bps;
    could_bytes = Bps[0] * run->makespan_s;
    link_bytes[0] = could_bytes;
    ck_assert_int_eq(fr__check_links(plan, &copy, Bps, NULL), FR_OK);
    link_bytes[0] = could_bytes * 1.5;
    ck_assert_int_eq(fr__check_links(plan, &copy, Bps, &err), FR_ECHECK);
    ck_assert_msg(strstr(err.text, "self-check 'links': link ") && strstr(err.text, "150 %"),
                  "'%s'", err.text);
}

TEST(a_task_that_starts_before_its_predecessor_ends_is_found)
{
    start_s[3] = 2.5;
    finds("self-check 'order': 'task 3' starts at 2.5 s, before 'recv task 2' ends at 3 s");
}

TEST(a_task_that_ends_before_it_starts_is_found)
{
    end_s[3] = 2;
    finds("self-check 'order': 'task 3' runs from 3 s to 2 s");
}

TEST(a_task_that_never_ran_is_found)
{
    start_s[0] = -1;
    finds("self-check 'order': 'task 0' runs from -1 s");
}

TEST(lost_idle_time_is_found)
{
    devices[1].idle_s -= 0.5;
    finds("self-check 'account': h1 was busy or idle for 3.5 s of 4 s");
}

TEST(compute_time_that_no_task_took_is_found)
{
    devices[0].compute_s += 0.25;
    devices[0].idle_s -= 0.25;
    finds("self-check 'account': h0 computed for 2.25 s, its tasks take 2 s");
}

TEST(an_iteration_that_is_not_accounted_for_is_found)
{
    devices[1].iteration.idle_s -= 0.5;
    finds("self-check 'account': h1 was busy or idle for 3.5 s of an iteration of 4 s");
}

TEST(lost_bytes_are_found)
{
    link_bytes[0] -= 1000;
    finds("self-check 'bytes': link h0>h1 carried 999999000 bytes instead of 1000000000");
}

TEST(a_buffer_left_behind_is_found)
{
    devices[0].end_bytes = 8;
    finds("self-check 'memory': h0 ends with 8 bytes (peak 1000000000), its persistent buffers are "
          "0");
}

TEST(a_run_shorter_than_the_bound_is_found)
{
    copy.makespan_bound_s = 4.001;
    finds("self-check 'bound': the run took 4 s, below the lower bound 4.001 s");
}

TEST(an_iteration_shorter_than_its_bound_is_found)
{
    copy.lower_bound_s = 4.001;
    finds("self-check 'bound': an iteration took 4 s, below its lower bound 4.001 s");
}

TEST(parts_that_do_not_sum_to_the_iteration_are_found)
{
    double parts_s[64] = {3, 1.5};

    copy.parts_s = parts_s;
    finds("self-check 'parts': the iteration takes 4 s, its parts 4.5 s");
    parts_s[1] = 1;
    ck_assert_int_eq(fr__self_check(plan, &copy, expected, NULL), FR_OK);
}

int main(void)
{
    TCase *c = tcase_create("selfcheck");

    tcase_add_checked_fixture(c, set_up, tear_down);
    add_tests(c);
    return run_case(c, "sim/selfcheck");
}
