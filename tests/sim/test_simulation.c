/* tests/sim/test_simulation.c - the object that runs plan after plan, what is asked of a run, and
 * runs that are stopped. That it gives the same runs as a new one for plans of all kinds says
 * tests/sim/test_random.c. */
#include "config.h"

#include "sim/network/model.h"
#include "tests/support/base_check.h"
#include "tests/support/sim_fixture.h"

#include <check.h>
#include <math.h>
#include <string.h>

#define ck_assert_near(a, b) ck_assert_double_eq_tol(a, b, 1e-9)

static struct fr_topo *topo;
static struct fr_simulation *simulation;

static void set_up(void)
{
    struct fr_error err = {.text = ""};

    ck_assert_msg(fr_topo_load(&topo, "dgx1-v100", &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(fr_simulation_new(&simulation, topo, &err), FR_OK);
}

static void tear_down(void)
{
    fr_simulation_free(simulation);
    fr_topo_free(topo);
}

static struct fr_run *run_again(const struct fr_plan *p, const struct fr_run_options *o)
{
    struct fr_run *r = NULL;
    struct fr_error err = {.text = ""};

    ck_assert_msg(fr_simulation_run(simulation, p, o, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

/* Collectives of three patterns over all GPUs, messages from each to the next but one, a buffer.
 * bytes: of each, so that two plans need not be the same. */
static struct fr_plan *busy_plan(double bytes)
{
    static const enum fr_collective_kind kinds[] = {FR_ALL_REDUCE, FR_ALL_TO_ALL, FR_BROADCAST};
    struct fr_plan *p = fr_plan_new(topo, NULL);
    uint32_t first = fixture_compute(p, 0, fixture_cost(p, 1e-3), 0), members[8], buffer;

    for (int k = 0; k < 3; k++)
        fixture_collective(p, kinds[k], 8, bytes, members);
    for (uint32_t d = 0; d < 8; d++)
        fixture_message(p, d, (d + 2) % 8, bytes, first);
    buffer = fr_plan_add_buffer(
        p, &(struct fr_buffer){.bytes = 100, .alloc = first, .alias = FR_NONE, .op = FR_NONE});
    fr_plan_add_free(p, buffer, fixture_compute(p, 0, fixture_cost(p, 1e-3), 1));
    fixture_finish(p);
    return p;
}

/* ---- used again ---- */

LOOP_TEST(a_second_plan_on_the_same_devices_searches_for_nothing, 0, FR_N_NETWORKS)
{
    struct fr_plan *one = busy_plan(1e6), *other = busy_plan(3e6);
    struct fr_run_options o;
    struct fr_run *first, *second, *fresh;

    fr_run_options_init(&o);
    o.network = (enum fr_network)_i;
    o.want |= FR_WANT_PARTS | FR_WANT_HOLDERS | FR_WANT_TOTALS;
    first = run_again(one, &o);
    ck_assert_uint_eq(first->stats.router_builds, 1);
    ck_assert_uint_gt(first->stats.route_searches, 0);
    ck_assert_uint_eq(first->stats.ring_searches, 1); /* one group a collective, the same devices */
    second = run_again(other, &o);
    ck_assert_uint_eq(second->stats.router_builds, 0);
    ck_assert_uint_eq(second->stats.route_searches, 0);
    ck_assert_uint_eq(second->stats.ring_searches, 0);
    fresh = fixture_run(other, &o);
    ck_assert_ptr_null(fixture_difference(other, second, fresh));
    ck_assert_uint_eq(fresh->stats.router_builds, 1);
    ck_assert_uint_eq(fresh->stats.route_searches, first->stats.route_searches);
    fr_run_free(fresh);
    fr_run_free(second);
    second = run_again(one, &o);
    ck_assert_ptr_null(fixture_difference(one, second, first));
    fr_run_free(first);
    fr_run_free(second);
    fr_plan_free(one);
    fr_plan_free(other);
}

/* Stopped with messages under way and others that wait for channels; then in a dead lock, since the
 * strict order wants the second task first. */
LOOP_TEST(a_run_that_stopped_or_failed_leaves_nothing_behind, 0, FR_N_NETWORKS)
{
    struct fr_plan *good = busy_plan(1e6), *bad = fr_plan_new(topo, NULL);
    struct fr_run_options o;
    struct fr_run *before, *after, *none = NULL;
    struct fr_error err;
    uint32_t cost = fixture_cost(bad, 1), first = fixture_compute(bad, 0, cost, 1);

    fr_plan_add_dep(bad, first, fixture_compute(bad, 0, cost, 0));
    for (uint32_t d = 2; d < 8; d++)
        fixture_message(bad, d, d ^ 1, 1e6, FR_NONE);
    fixture_finish(bad);
    fr_run_options_init(&o);
    o.network = (enum fr_network)_i;
    o.channels = 1;
    before = run_again(good, &o);
    o.stop_s = before->makespan_s / 2;
    after = run_again(good, &o);
    ck_assert(after->is_stopped);
    fr_run_free(after);
    o.stop_s = 0;
    o.order = FR_ORDER_STRICT;
    ck_assert_int_eq(fr_simulation_run(simulation, bad, &o, &none, &err), FR_EDEADLOCK);
    ck_assert_ptr_null(none);
    o.order = FR_ORDER_FIFO;
    after = run_again(good, &o);
    ck_assert_ptr_null(fixture_difference(good, before, after));
    fr_run_free(before);
    fr_run_free(after);
    fr_plan_free(good);
    fr_plan_free(bad);
}

TEST(a_plan_on_another_topology_is_refused)
{
    struct fr_topo *pair = fixture_pair(1, 0);
    struct fr_plan *p = fr_plan_new(pair, NULL);
    struct fr_run_options o;
    struct fr_run *r = NULL;
    struct fr_error err;

    fixture_finish(p);
    fr_run_options_init(&o);
    ck_assert_int_eq(fr_simulation_run(simulation, p, &o, &r, &err), FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "dgx1-v100"));
    fr_plan_free(p);
    fr_topo_free(pair);
}

/* ---- what is wanted ---- */

static const char *part_is(unsigned want, const struct fr_run *r, const struct fr_run *all)
{
    const struct fr_device_result *d = r->devices, *e = all->devices;

    if (want & FR_WANT_TASKS ? memcmp(r->end_s, all->end_s, r->n_tasks * sizeof(double)) != 0
                             : r->start_s || r->end_s || r->cause)
        return "tasks";
    if (want & FR_WANT_ACCOUNT ? d[0].idle_s != e[0].idle_s || d[0].comm_s != e[0].comm_s
                               : d[0].idle_s > 0 || d[0].comm_s > 0)
        return "account";
    if (d[0].peak_bytes != (want & (FR_WANT_MEMORY | FR_WANT_HOLDERS) ? e[0].peak_bytes : 0))
        return "memory";
    if (want & FR_WANT_LINKS
            ? memcmp(r->link_bytes, all->link_bytes, r->n_links * sizeof(double)) != 0
            : r->link_bytes != NULL)
        return "links";
    if (want & FR_WANT_CRITICAL ? r->n_critical != all->n_critical : r->critical != NULL)
        return "critical path";
    if (r->lower_bound_s != (want & FR_WANT_BOUND ? all->lower_bound_s : 0))
        return "bound";
    if (r->serial_s != (want & FR_WANT_TOTALS ? all->serial_s : 0))
        return "totals";
    if (want & FR_WANT_PARTS
            ? memcmp(r->parts_s, all->parts_s, fr_n_resources(topo) * sizeof(double)) != 0
            : r->parts_s != NULL)
        return "parts";
    if ((want & FR_WANT_HOLDERS) != 0 ? r->held_from[0] != all->held_from[0] : r->held_from != NULL)
        return "holders";
    return NULL;
}

/* Each part alone, all but it, and nothing at all: the times of the run stay, the part is there or
 * not. (Once the bound went with the self-check.) */
LOOP_TEST(each_part_of_a_result_is_asked_for_alone, 0, FR_N_NETWORKS)
{
    struct fr_plan *p = busy_plan(1e6);
    unsigned every = FR_WANT_USUAL | FR_WANT_TOTALS | FR_WANT_PARTS | FR_WANT_HOLDERS;
    struct fr_run_options o;
    struct fr_run *all;

    fr_run_options_init(&o);
    o.network = (enum fr_network)_i;
    o.want = every;
    all = fixture_run(p, &o);
    ck_assert_double_gt(all->lower_bound_s, 0);
    ck_assert_double_gt(all->serial_s, 0);
    for (unsigned bit = 1; bit <= every; bit <<= 1)
        for (int but = 0; but < 2; but++) {
            const char *wrong;
            struct fr_run *r;

            o.want = but ? every & ~bit : every & bit;
            r = run_again(p, &o);
            ck_assert(r->makespan_s == all->makespan_s && r->iteration_s == all->iteration_s);
            ck_assert_uint_eq(r->want, o.want);
            wrong = part_is(o.want, r, all);
            ck_assert_msg(!wrong, "want 0x%x: %s", o.want, wrong);
            fr_run_free(r);
        }
    o.want = 0;
    fr_run_free(run_again(p, &o));
    fr_run_free(all);
    fr_plan_free(p);
}

/* ---- stopped ---- */

/* Tasks of 1, 2 and 4 s in a row on device 0, three iterations of one task each. */
static struct fr_plan *three_iterations(void)
{
    struct fr_plan *p = fr_plan_new(topo, NULL);
    uint32_t last = FR_NONE;

    for (int i = 0; i < 3; i++) {
        uint32_t t = fixture_compute(p, 0, fixture_cost(p, 1 << i), i);

        if (i > 0)
            fr_plan_add_dep(p, last, t);
        fr_plan_end_iteration(p, t);
        last = t;
    }
    fixture_finish(p);
    return p;
}

TEST(a_run_stops_when_time_passes_stop_s_and_says_so)
{
    /* stop, then: is it stopped, the time that it reached, the bound of the last interval (4 s) */
    static const struct {
        double stop_s;
        bool is_stopped;
        double makespan_s, iteration_s;
    } cases[] = {{0.5, true, 1, 0}, {1, true, 3, 0},  {2.9, true, 3, 0},
                 {3, true, 7, 4},   {7, false, 7, 4}, {INFINITY, false, 7, 4}};
    struct fr_plan *p = three_iterations();
    struct fr_run_options o;

    fr_run_options_init(&o);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_run *r;

        o.stop_s = cases[i].stop_s;
        r = run_again(p, &o);
        ck_assert_int_eq(r->is_stopped, cases[i].is_stopped);
        ck_assert_near(r->makespan_s, cases[i].makespan_s);
        ck_assert_near(r->iteration_s, cases[i].iteration_s);
        ck_assert((r->critical == NULL) == r->is_stopped);
        fr_run_free(r);
    }
    fr_plan_free(p);
}

/* At 1.5 s task 0 is over, task 1 runs until 3 s and task 2 waits. */
TEST(a_stopped_run_says_what_has_happened_so_far)
{
    struct fr_plan *p = three_iterations();
    struct fr_run_options o;
    struct fr_run *r;

    fr_run_options_init(&o);
    o.stop_s = 1.5;
    r = run_again(p, &o);
    ck_assert_near(r->end_s[0], 1);
    ck_assert_near(r->start_s[1], 1);
    ck_assert(isinf(r->end_s[1]) && isinf(r->start_s[2]) && isinf(r->end_s[2]));
    ck_assert_uint_eq(r->cause[1], 0);
    ck_assert_uint_eq(r->cause[2], FR_NONE);
    ck_assert_near(r->devices[0].compute_s, 3);
    ck_assert(!r->is_settled);
    fr_run_free(r);
    fr_plan_free(p);
}

/* ---- network models ---- */

/* What a model says a message takes alone is what one takes in a run: 2 to 3 are on one NVLink, 0
 * to 7 go another way. */
LOOP_TEST(a_message_alone_takes_what_its_model_says, 0, FR_N_NETWORKS)
{
    const struct fr__network_model *model = fr__network_model((enum fr_network)_i);
    struct fr__routes routes;
    struct fr_run_options o;

    fr_run_options_init(&o);
    o.network = (enum fr_network)_i;
    ck_assert_int_eq(fr__routes_init(&routes, topo, NULL), FR_OK);
    for (uint32_t dst = 1; dst < 8; dst++) {
        struct fr_plan *p = fr_plan_new(topo, NULL);
        uint32_t recv = fixture_message(p, 0, dst, 1e8, FR_NONE), route;
        struct fr_run *r;

        fixture_finish(p);
        r = run_again(p, &o);
        ck_assert_int_eq(fr__routes_find(&routes, 0, dst, &route, NULL), FR_OK);
        ck_assert_near(r->end_s[recv],
                       fr__alone_sum(model->alone(&routes, &routes.at[route], NULL, 1e8)));
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr__routes_fini(&routes);
}

LOOP_TEST(every_model_has_a_name_and_what_its_kind_needs, 0, FR_N_NETWORKS)
{
    const struct fr__network_model *m = fr__network_model((enum fr_network)_i);

    ck_assert_ptr_nonnull(m);
    ck_assert_str_eq(fr_network_name((enum fr_network)_i), m->name);
    ck_assert_int_gt((int)strlen(m->assumption), 0);
    ck_assert(m->alone && m->start && (m->wake || m->is_end_known));
    ck_assert(!m->make == !m->destroy && !m->next == !m->advance && !m->rate == !m->rate_changes);
    ck_assert_ptr_null(fr__network_model(FR_N_NETWORKS));
}

int main(void)
{
    TCase *c = tcase_create("simulation");

    tcase_add_checked_fixture(c, set_up, tear_down);
    add_tests(c);
    return run_case(c, "sim/simulation");
}
