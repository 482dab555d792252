/* Hosts that launch ahead of their GPUs, and the points at which they wait: worked out by hand. */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/sim_fixture.h"

#include <check.h>

enum { OPS = 3 };
static const size_t LAUNCH = (size_t)FR_N_LINK_KINDS * FR_N_LINK_RESOURCES + FR_DEVICE_LAUNCH;

/* An op of device 0 after the one before; each op launches in 1 s by its cost. */
static void add(struct fr_plan *p, uint32_t op, enum fr_phase phase, double s, uint32_t microbatch)
{
    struct fr_task t = {.op = op,
                        .label = FR_NONE,
                        .microbatch = microbatch,
                        .kind = FR_TASK_COMPUTE,
                        .phase = (uint8_t)phase,
                        .cost_id = fixture_launched_cost(p, s, 1)};
    size_t n = fr_plan_view(p)->n_tasks;
    uint32_t task = fr_plan_add_task(p, &t);

    if (n > 0)
        fr_plan_add_dep(p, task - 1, task);
}

static void add_op(struct fr_plan *p, enum fr_phase phase, double s, uint32_t microbatch)
{
    add(p, 0, phase, s, microbatch);
}

/* Three ops of each part: forward 4 s each, backward 4 s, updates 0.5 s. The costs' launches, 1 s,
 * are hidden but for the first: 1 + 12 + 12 + 1.5 s, in the order of launches that end at 9 s. */
static struct fr_plan *step(struct fr_topo *t, unsigned n_micros)
{
    struct fr_plan *p = fr_plan_new(t, NULL);

    for (uint32_t micro = 0; micro < n_micros; micro++) {
        for (unsigned i = 0; i < OPS; i++)
            add_op(p, FR_PHASE_FORWARD, 4, micro);
        for (unsigned i = 0; i < OPS; i++)
            add_op(p, i % 2 ? FR_PHASE_BACKWARD_WEIGHT : FR_PHASE_BACKWARD_DATA, 4, micro);
    }
    for (unsigned i = 0; i < OPS; i++)
        add_op(p, FR_PHASE_UPDATE, 0.5, FR_NONE);
    fixture_finish(p);
    return p;
}

/* Time of a step under a host, and when the host had launched everything. */
static double run_host(const struct fr_host *h, unsigned n_micros, double *host_s)
{
    struct fr_topo *t = fixture_pair(1e9, 0);
    struct fr_plan *p = step(t, n_micros);
    struct fr_run_options o;
    struct fr_run *r;
    double s, sum = 0;

    fr_run_options_init(&o);
    o.want |= FR_WANT_PARTS;
    o.host = h;
    r = fixture_run(p, &o);
    s = r->iteration_s;
    for (size_t i = 0; i < fr_n_resources(t); i++)
        sum += r->parts_s[i];
    ck_assert_double_eq_tol(sum, s, 1e-9); /* each moment is made of something */
    ck_assert_double_le(r->lower_bound_s, s + 1e-9);
    if (host_s)
        *host_s = r->devices[0].host_s;
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(t);
    return s;
}

TEST(without_a_host_launches_take_what_costs_say)
{
    double host_s;

    ck_assert_double_eq_tol(run_host(NULL, 1, &host_s), 26.5, 1e-9);
    ck_assert_double_eq_tol(host_s, 9, 1e-9);
    ck_assert_double_eq_tol(run_host(&(struct fr_host){.slowness = 1}, 1, NULL), 26.5, 1e-9);
}

TEST(a_slow_host_holds_its_gpu_up)
{
    /* launches of 5 s: the last of 9 at 45 s, and 0.5 s more */
    const struct fr_host h = {.op_s = {5, 5, 5}, .slowness = 1}, slower = {.slowness = 5};

    ck_assert_double_eq_tol(run_host(&h, 1, NULL), 45.5, 1e-9);
    ck_assert_double_eq_tol(run_host(&slower, 1, NULL), 45.5, 1e-9);
}

TEST(ops_inside_a_call_are_launched_as_costs_say)
{
    const bool is_inside[] = {true};
    const struct fr_host h = {.op_s = {5, 5, 5}, .slowness = 1, .is_inside = is_inside};

    ck_assert_double_eq_tol(run_host(&h, 1, NULL), 26.5, 1e-9);
}

TEST(parts_of_a_step_may_take_the_host_different_times)
{
    /* forward 1 + 12; backward hidden; updates launched at 6 + 10, + 20, + 30 */
    const struct fr_host h = {.op_s = {1, 1, 10}, .slowness = 1};

    ck_assert_double_eq_tol(run_host(&h, 1, NULL), 36.5, 1e-9);
}

TEST(after_a_wait_the_first_launch_is_exposed)
{
    /* 1 + 12, then 1 more before the backward pass */
    const struct fr_host loss = {.slowness = 1, .syncs = FR_HOST_SYNC_LOSS};
    /* 25 s, then updates of 0.5 s that are launched each second: 3 + 0.5 */
    const struct fr_host norm = {.slowness = 1, .syncs = FR_HOST_SYNC_NORM};
    const struct fr_host both = {.slowness = 1, .syncs = FR_HOST_SYNC_LOSS | FR_HOST_SYNC_NORM};

    ck_assert_double_eq_tol(run_host(&loss, 1, NULL), 27.5, 1e-9);
    ck_assert_double_eq_tol(run_host(&norm, 1, NULL), 28.5, 1e-9);
    ck_assert_double_eq_tol(run_host(&both, 1, NULL), 29.5, 1e-9);
}

TEST(launches_of_updates_run_beside_what_is_done_to_gradients_before_them)
{
    /* forward 1 + 4, a wait, a launch, 10 s over all gradients; updates launched at 6 + 10, + 20 */
    const struct fr_host h = {.op_s = {1, 1, 10}, .slowness = 1, .syncs = FR_HOST_SYNC_NORM};
    struct fr_topo *t = fixture_pair(1e9, 0);
    struct fr_plan *p = fr_plan_new(t, NULL);
    struct fr_run_options o;
    struct fr_run *r;

    add_op(p, FR_PHASE_FORWARD, 4, 0);
    add(p, FR_NONE, FR_PHASE_UPDATE, 10, FR_NONE);
    add_op(p, FR_PHASE_UPDATE, 0.5, FR_NONE);
    add_op(p, FR_PHASE_UPDATE, 0.5, FR_NONE);
    fixture_finish(p);
    fr_run_options_init(&o);
    o.host = &h;
    r = fixture_run(p, &o);
    ck_assert_double_eq_tol(r->iteration_s, 26.5, 1e-9);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(t);
}

TEST(a_host_may_wait_after_each_micro_batch)
{
    const struct fr_host free_running = {.slowness = 1};
    const struct fr_host micro = {.slowness = 1, .syncs = FR_HOST_SYNC_MICRO};

    ck_assert_double_eq_tol(run_host(&free_running, 3, NULL), 1 + 3 * 24 + 1.5, 1e-9);
    ck_assert_double_eq_tol(run_host(&micro, 3, NULL), 3 * 25 + 1.5, 1e-9);
}

TEST(a_host_that_is_ahead_hides_the_beginning)
{
    const double ahead_s[] = {4, 0}, far_s[] = {100, 0};
    const struct fr_host step = {.slowness = 1, .step_s = 3};
    const struct fr_host lead = {.slowness = 1, .step_s = 3, .ahead_s = ahead_s};
    const struct fr_host far = {.slowness = 1, .step_s = 3, .ahead_s = far_s};
    double host_s;

    ck_assert_double_eq_tol(run_host(&step, 1, NULL), 29.5, 1e-9);
    ck_assert_double_eq_tol(run_host(&lead, 1, &host_s), 25.5, 1e-9);
    ck_assert_double_eq_tol(host_s, 8, 1e-9);
    ck_assert_double_eq_tol(run_host(&far, 1, NULL), 25.5, 1e-9);
}

TEST(iterations_wait_for_each_other_only_where_asked)
{
    struct fr_topo *t = fixture_pair(1e9, 0);
    struct fr_plan *one = step(t, 1), *p;
    const struct fr_host ahead = {.slowness = 1, .step_s = 3};
    const struct fr_host waits = {.slowness = 1, .step_s = 3, .syncs = FR_HOST_SYNC_STEP};
    struct fr_run_options o;
    struct fr_error err = {0};
    struct fr_run *r;

    ck_assert_int_eq(fr_plan_unroll(one, 3, &p, &err), FR_OK);
    fr_run_options_init(&o);
    o.host = &ahead;
    r = fixture_run(p, &o);
    ck_assert_double_eq_tol(r->iteration_s, 25.5, 1e-9);
    fr_run_free(r);
    o.host = &waits; /* 3 s of the host, 1 s of a launch */
    r = fixture_run(p, &o);
    ck_assert_double_eq_tol(r->iteration_s, 29.5, 1e-9);
    fr_run_free(r);
    fr_plan_free(p);
    fr_plan_free(one);
    fr_topo_free(t);
}

TEST(after_a_wait_later_launches_are_made_of_launch_time)
{
    const struct fr_host h = {.slowness = 1, .syncs = FR_HOST_SYNC_NORM};
    struct fr_topo *t = fixture_pair(1e9, 0);
    struct fr_plan *p = step(t, 1);
    struct fr_run_options o;
    struct fr_run *r;

    fr_run_options_init(&o);
    o.want |= FR_WANT_PARTS;
    o.host = &h;
    r = fixture_run(p, &o);
    ck_assert_double_eq_tol(r->parts_s[LAUNCH], 1 + 3, 1e-9);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(t);
}

int main(void)
{
    TCase *c = tcase_create("host");

    add_tests(c);
    return run_case(c, "sim/host");
}
