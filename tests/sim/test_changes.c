/* tests/sim/test_changes.c - how answers must change when the plan or the options do. */
#include "config.h"

#include "tests/support/sim_fixture.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bandwidth of one link a direction unless a test says otherwise. */
static const double BW = 1e9;

#define ck_assert_near(a, b) ck_assert_double_eq_tol((a), (b), 1e-9 * (fabs((double)(b)) + 1e-3))

static struct fr_run_options options(enum fr_network network)
{
    struct fr_run_options o;

    fr_run_options_init(&o);
    o.network = network;
    return o;
}

struct mix {
    double bw, lat, bytes, time;
    uint32_t n, shift;
};

/* Some of everything on n devices, numbered from `shift` round: compute, messages, a collective. */
static struct fr_run *run_mix(const struct mix *m, struct fr_topo **topo, struct fr_plan **plan)
{
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    struct fr_plan *p;
    uint32_t members[8], devices[8], last[8], group, c;

    *topo = fixture_star(m->n, m->bw, m->lat);
    *plan = p = fr_plan_new(*topo, NULL);
    for (uint32_t i = 0; i < m->n; i++)
        devices[i] = (i + m->shift) % m->n;
    for (uint32_t i = 0; i < m->n; i++)
        last[i] = fixture_compute(p, devices[i], fixture_cost(p, m->time * (1 + i)), 0);
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t r = fixture_message(p, devices[i], devices[(i * 3 + 1) % m->n], m->bytes * (2 + i),
                                     last[i]);

        fr_plan_add_dep(
            p, r,
            fixture_compute(p, devices[(i * 3 + 1) % m->n], fixture_cost(p, m->time * 0.3), 1));
    }
    group = fr_plan_add_group_of(p, devices, m->n);
    c = fr_plan_add_collective(
        p, &(struct fr_collective){
               .bytes = 8 * m->bytes, .group = group, .label = FR_NONE, .kind = FR_ALL_REDUCE});
    for (uint32_t i = 0; i < m->n; i++) {
        struct fr_task t = {.device = devices[i],
                            .cost_id = FR_NONE,
                            .op = FR_NONE,
                            .collective = c,
                            .rank = i,
                            .kind = FR_TASK_COLLECTIVE,
                            .stream = FR_STREAM_COMM};

        members[i] = fr_plan_add_task(p, &t);
        fr_plan_add_dep(p, last[i], members[i]);
    }
    fixture_finish(p);
    o.rings = 1;
    return fixture_run(p, &o);
}

static double mix_time(struct mix m)
{
    struct fr_topo *topo;
    struct fr_plan *p;
    struct fr_run *r = run_mix(&m, &topo, &p);
    double t = r->makespan_s;

    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
    return t;
}

TEST(answers_scale_as_they_must)
{
    const struct mix base = {1e9, 1e-3, 7e7, 0.1, 7, 0};
    struct mix m = base;
    double t = mix_time(base);

    /* twice the bandwidth for twice the bytes: nothing changes, to the bit */
    m.bw *= 2;
    m.bytes *= 2;
    ck_assert_double_eq(mix_time(m), t);
    /* all times four times as long (a power of two keeps the bits) */
    m = base;
    m.lat *= 4;
    m.time *= 4;
    m.bytes *= 4;
    ck_assert_double_eq(mix_time(m), 4 * t);
    /* other names for the devices */
    for (m = base; m.shift < 7; m.shift++)
        ck_assert_near(mix_time(m), t);
    /* more bandwidth helps, as does less latency */
    m = base;
    m.bw *= 2;
    ck_assert_double_lt(mix_time(m), t);
    m = base;
    m.lat /= 2;
    ck_assert_double_lt(mix_time(m), t);
}

TEST(two_runs_are_equal_to_the_bit)
{
    const struct mix base = {1e9, 1e-3, 7e7, 0.1, 7, 0};
    struct fr_topo *topo[2];
    struct fr_plan *p[2];
    struct fr_run *r[2];

    for (int i = 0; i < 2; i++)
        r[i] = run_mix(&base, &topo[i], &p[i]);
    ck_assert_mem_eq(r[0]->start_s, r[1]->start_s, r[0]->n_tasks * sizeof(double));
    ck_assert_mem_eq(r[0]->end_s, r[1]->end_s, r[0]->n_tasks * sizeof(double));
    for (int i = 0; i < 2; i++) {
        fr_run_free(r[i]);
        fr_plan_free(p[i]);
        fr_topo_free(topo[i]);
    }
}

TEST(jitter_depends_on_the_seed_and_keeps_the_mean)
{
    struct fr_topo *topo = fixture_pair(BW, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t cost = fixture_cost(p, 1e-3);
    struct fr_run *r;
    double a, b;

    for (int i = 0; i < 10000; i++)
        fixture_compute(p, 0, cost, 0);
    fixture_finish(p);
    o.jitter_cv = 0.1;
    o.seed = 1;
    r = fixture_run(p, &o);
    a = r->makespan_s;
    fr_run_free(r);
    r = fixture_run(p, &o);
    ck_assert_double_eq(r->makespan_s, a);
    fr_run_free(r);
    o.seed = 2;
    r = fixture_run(p, &o);
    b = r->makespan_s;
    fr_run_free(r);
    ck_assert_double_ne(a, b);
    /* the mean of 10 000 draws of spread 0.1 is within five standard errors, 0.005, of 1 */
    ck_assert_double_eq_tol(a, 10, 0.05);
    ck_assert_double_eq_tol(b, 10, 0.05);
    fr_plan_free(p);
    fr_topo_free(topo);
}

TEST(a_slow_device_takes_longer)
{
    const double slow[] = {1, 3};
    struct fr_topo *topo = fixture_pair(BW, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    struct fr_run *r;

    fixture_compute(p, 0, fixture_cost(p, 2), 0);
    fixture_compute(p, 1, fixture_cost(p, 2), 0);
    fixture_finish(p);
    o.device_slowdown = slow;
    r = fixture_run(p, &o);
    ck_assert_near(r->end_s[0], 2);
    ck_assert_near(r->end_s[1], 6);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

TEST(another_cost_vector_replays_the_same_plan)
{
    struct fr_topo *topo = fixture_pair(BW, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    const double costs[] = {7};
    struct fr_run *r;

    fixture_compute(p, 0, fixture_cost(p, 2), 0);
    fixture_finish(p);
    o.cost_s = costs;
    r = fixture_run(p, &o);
    ck_assert_near(r->makespan_s, 7);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* Two devices: a on 0 (2 s), then a message of no size, then b on 1 (1 s). Unrolled, device 0 goes
 * on at once: iteration ends at 3, 5, 7, 9: the interval is 2 s, the slower stage. */
TEST(unrolled_iterations_settle_at_the_slowest_stage)
{
    struct fr_topo *topo = fixture_pair(BW, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL), *many = NULL;
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    uint32_t a = fixture_compute(p, 0, fixture_cost(p, 2), 0);
    uint32_t b = fixture_compute(p, 1, fixture_cost(p, 1), 0);
    struct fr_error err;
    struct fr_run *r;

    fr_plan_add_dep(p, fixture_message(p, 0, 1, 0, a), b);
    fixture_finish(p);
    r = fixture_run(p, &o);
    ck_assert_near(r->iteration_s, 3);
    ck_assert_uint_eq(r->n_iterations, 1);
    fr_run_free(r);
    ck_assert_int_eq(fr_plan_unroll(p, 4, &many, &err), FR_OK);
    r = fixture_run(many, &o);
    ck_assert_near(r->makespan_s, 9);
    ck_assert_near(r->iteration_s, 2);
    ck_assert_uint_eq(r->n_iterations, 4);
    ck_assert(r->is_settled);
    fr_run_free(r);
    fr_plan_free(many);
    fr_plan_free(p);
    fr_topo_free(topo);
}

TEST(a_cancelled_run_says_so)
{
    struct fr_topo *topo = fixture_pair(BW, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_run_options o = options(FR_NETWORK_FLOW);
    volatile int cancel = 1;
    struct fr_context context = {.cancel = &cancel};
    uint32_t cost = fixture_cost(p, 1);
    struct fr_run *r = NULL;
    struct fr_error err;

    for (int i = 0; i < 100000; i++)
        fixture_compute(p, 0, cost, 0);
    fixture_finish(p);
    o.context = &context;
    ck_assert_int_eq(fr_simulate(p, &o, &r, &err), FR_ECANCELLED);
    ck_assert_ptr_null(r);
    fr_plan_free(p);
    fr_topo_free(topo);
}

int main(void)
{
    TCase *c = tcase_create("changes");

    tcase_set_timeout(c, 60);
    add_tests(c);
    return run_case(c, "sim/changes");
}
