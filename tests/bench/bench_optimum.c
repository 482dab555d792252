/* tests/bench/bench_optimum.c - how far the planner and simpler methods are from the optimum of
 * small graphs.
 *
 * Random graphs of 4 to 8 operations on 2 and 3 devices, like and unlike, by how much moves. Each
 * figure is the makespan over the optimum (branch and bound), on average and at worst:
 *
 *     ours    dpos by the best of its rules, one device alone among them
 *     paper   dpos by the paper's rule
 *     heft    HEFT
 *     random  the best of 20 list schedules that take any ready operation, where it ends first
 *     climb   hill climbing over devices and priorities, 200 steps from a random one
 */
#include "config.h"

#include "strategies/fastt/fastt.h"
#include "strategies/lists/exact_search.h"
#include "tests/support/base_check.h"
#include "tests/support/dpos_case.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_OPS = 8, N_GRAPHS = 100, N_RANDOM = 20, N_STEPS = 200 };
enum yardstick { OURS, PAPER, HEFT, RANDOM, CLIMB, N_YARDSTICKS };
static const char *const names[N_YARDSTICKS] = {"ours", "paper", "heft", "random", "climb"};

/* Operations in the order of their priorities; a device of DPOS_CASE_DEVICES: where it ends first.
 * */
struct schedule {
    uint32_t priority[MAX_OPS], device[MAX_OPS];
};

static struct schedule draw(const struct dpos_case *c, struct fr__rng *rng, bool with_devices)
{
    struct schedule s;

    for (size_t i = 0; i < c->dag.n_ops; i++) {
        s.priority[i] = (uint32_t)fr__rng_below(rng, 1 << 20);
        s.device[i] = with_devices ? (uint32_t)fr__rng_below(rng, c->m.n_devices)
                                   : (uint32_t)DPOS_CASE_DEVICES;
    }
    return s;
}

static double run(const struct dpos_case *c, const struct schedule *s)
{
    bool is_placed[MAX_OPS] = {false};
    struct fr__timetable t;
    struct fr_error err;
    double makespan_s;

    ck_assert_int_eq(fr__timetable_init(&t, &c->dag, &c->m, &err), FR_OK);
    for (size_t k = 0; k < c->dag.n_ops; k++) {
        uint32_t best = FR_NONE;
        struct fr__spot spot;

        for (uint32_t i = 0; i < c->dag.n_ops; i++)
            if (!is_placed[i] && fr__timetable_is_ready(&t, i) &&
                (best == FR_NONE || s->priority[i] > s->priority[best]))
                best = i;
        spot = s->device[best] == DPOS_CASE_DEVICES
                   ? fr__timetable_choose(&t, best, FR__SPOT_ENDS_FIRST, true)
                   : fr__timetable_look(&t, best, s->device[best], true);
        fr__timetable_place(&t, best, &spot, FR__DPOS_ENDS_FIRST);
        is_placed[best] = true;
    }
    makespan_s = fr__timetable_finish(&t);
    fr__timetable_fini(&t);
    return makespan_s;
}

static double best_of_random(const struct dpos_case *c, struct fr__rng *rng)
{
    double best_s = INFINITY;

    for (int i = 0; i < N_RANDOM; i++) {
        struct schedule s = draw(c, rng, false);

        best_s = fmin(best_s, run(c, &s));
    }
    return best_s;
}

static double climb(const struct dpos_case *c, struct fr__rng *rng)
{
    struct schedule s = draw(c, rng, true);
    double best_s = run(c, &s);

    for (int i = 0; i < N_STEPS; i++) {
        struct schedule next = s;
        size_t op = fr__rng_below(rng, c->dag.n_ops);
        double next_s;

        if (i % 2)
            next.device[op] = (uint32_t)fr__rng_below(rng, c->m.n_devices);
        else
            next.priority[op] = (uint32_t)fr__rng_below(rng, 1 << 20);
        next_s = run(c, &next);
        if (next_s <= best_s) {
            best_s = next_s;
            s = next;
        }
    }
    return best_s;
}

static double plan(const struct dpos_case *c, enum yardstick how)
{
    const struct fr__dpos_options paper = {0},
                                  heft = {.ranks_of_means = true, .ignores_path = true};
    struct fr__dpos *p = fr__dpos_new(&c->m);
    struct fr__dpos_options won;
    struct fr__dpos_result r;
    struct fr_error err;

    ck_assert_int_eq(how == OURS ? fr__dpos_best(p, &c->dag, &c->m, &paper, &won, &r, &err)
                                 : fr__dpos_run(p, &c->dag, how == HEFT ? &heft : &paper, &r, &err),
                     FR_OK);
    fr__dpos_free(p);
    return r.makespan_s;
}

static double optimum(const struct dpos_case *c, double start_s)
{
    struct fr__exact_answer found;
    struct fr__timetable t;
    struct fr_error err;

    ck_assert_int_eq(fr__timetable_init(&t, &c->dag, &c->m, &err), FR_OK);
    ck_assert_int_eq(fr__exact_search(&t, start_s, UINT64_MAX, NULL, &found, &err), FR_OK);
    fr__timetable_fini(&t);
    return fmin(found.best_s, start_s);
}

/* Figures of one graph over its optimum are added. */
static void measure(const struct dpos_case *c, uint64_t seed, double sum[], double worst[])
{
    struct fr__rng rng;
    double took_s[N_YARDSTICKS], best_s;

    fr__rng_init(&rng, seed, 0);
    for (enum yardstick y = OURS; y <= HEFT; y++)
        took_s[y] = plan(c, y);
    took_s[RANDOM] = best_of_random(c, &rng);
    took_s[CLIMB] = climb(c, &rng);
    best_s = optimum(c, took_s[OURS]);
    for (int y = 0; y < N_YARDSTICKS; y++) {
        double over = best_s > 0 ? took_s[y] / best_s : 1;

        sum[y] += over;
        worst[y] = fmax(worst[y], over);
    }
}

/* One row: devices alike or not, most bytes of an edge (a second each; operations take up to 9). */
static void measure_row(bool is_unlike, uint64_t most_bytes)
{
    double sum[N_YARDSTICKS] = {0}, worst[N_YARDSTICKS] = {0};

    for (uint64_t seed = 0; seed < N_GRAPHS; seed++) {
        struct dpos_random how = {.n_ops = 4 + seed % (MAX_OPS - 3),
                                  .n_devices = 2 + seed % 2,
                                  .edges_an_op = 1.3,
                                  .max_cost = 9,
                                  .max_bytes = most_bytes,
                                  .is_heterogeneous = is_unlike};
        struct dpos_case c;

        dpos_case_random(&c, &how, seed);
        measure(&c, seed, sum, worst);
        dpos_case_fini(&c);
    }
    printf("dpos over the optimum, %-6s %2u", is_unlike ? "unlike" : "like", (unsigned)most_bytes);
    for (int y = 0; y < N_YARDSTICKS; y++)
        printf("  %s %.3f (%.2f)", names[y], sum[y] / N_GRAPHS, worst[y]);
    putchar('\n');
    fflush(stdout);
}

START_TEST(yardsticks)
{
    static const uint64_t bytes[] = {0, 5, 20, 90};

    for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
        measure_row(_i, bytes[i]);
}
END_TEST

/* The cases of the tests assert, so they want Check around them. */
int main(void)
{
    Suite *s = suite_create("bench/optimum");
    TCase *c = tcase_create("yardsticks");
    SRunner *r;
    int n_failed;

    tcase_add_loop_test(c, yardsticks, 0, 2);
    tcase_set_timeout(c, 120);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_set_fork_status(r, CK_NOFORK);
    srunner_run_all(r, CK_MINIMAL);
    n_failed = srunner_ntests_failed(r);
    srunner_free(r);
    return n_failed != 0;
}
