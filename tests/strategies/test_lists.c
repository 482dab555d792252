/* The classic list schedulers: their published examples, Graham's anomalies, bounds, and the exact
 * search against all schedules of small graphs. */
#include "config.h"

#include "strategies/lists/dispatch.h"
#include "strategies/lists/exact_search.h"
#include "strategies/lists/lists.h"
#include "tests/support/base_check.h"
#include "tests/support/dpos_case.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* ---- cases ---- */

/* Ten tasks on three processors: H. Topcuoglu, S. Hariri, M.-Y. Wu, IEEE TPDS 13(3), 2002,
 * figure 2. */
static void topcuoglu(struct dpos_case *c)
{
    static const double cost_s[10][3] = {{14, 16, 9},  {13, 19, 18}, {11, 13, 19}, {13, 8, 17},
                                         {12, 13, 10}, {13, 16, 9},  {7, 15, 11},  {5, 11, 14},
                                         {18, 12, 20}, {21, 7, 16}};
    static const uint32_t edges[][3] = {{1, 2, 18},  {1, 3, 12},  {1, 4, 9},  {1, 5, 11},
                                        {1, 6, 14},  {2, 8, 19},  {2, 9, 16}, {3, 7, 23},
                                        {4, 8, 27},  {4, 9, 23},  {5, 9, 13}, {6, 8, 15},
                                        {7, 10, 17}, {8, 10, 11}, {9, 10, 13}};

    dpos_case_init(c, 10, 3, 15);
    for (uint32_t i = 0; i < 10; i++)
        for (size_t d = 0; d < 3; d++)
            dpos_case_cost(c, i)[d] = cost_s[i][d];
    for (size_t e = 0; e < 15; e++)
        dpos_case_edge(c, edges[e][0] - 1, edges[e][1] - 1, edges[e][2]);
    dpos_case_index(c);
}

/* Nine tasks: R. L. Graham, SIAM J. Appl. Math. 17(2), 1969, figures 3 to 6. T1 < T9, T4 < T5 to
 * T8; times less shorter_by; without T4 < T5 and T4 < T6 where it is relaxed. */
static void graham(struct dpos_case *c, size_t n_devices, double shorter_by, bool is_relaxed)
{
    static const double cost_s[9] = {3, 2, 2, 2, 4, 4, 4, 4, 9};

    dpos_case_init(c, 9, n_devices, 5);
    for (uint32_t i = 0; i < 9; i++)
        for (size_t d = 0; d < n_devices; d++)
            dpos_case_cost(c, i)[d] = cost_s[i] - shorter_by;
    dpos_case_edge(c, 0, 8, 0);
    for (uint32_t to = is_relaxed ? 6 : 4; to < 8; to++)
        dpos_case_edge(c, 3, to, 0);
    dpos_case_index(c);
}

static void random_case(struct dpos_case *c, uint64_t seed, size_t max_ops, size_t n_devices,
                        bool is_alike, uint64_t max_bytes)
{
    struct fr__rng rng;
    size_t n;

    fr__rng_init(&rng, 18, seed);
    n = 1 + fr__rng_below(&rng, max_ops);
    dpos_case_init(c, n, n_devices, n * n);
    for (uint32_t i = 0; i < n; i++)
        for (size_t d = 0; d < n_devices; d++)
            dpos_case_cost(c, i)[d] =
                is_alike && d > 0 ? dpos_case_cost(c, i)[0] : (double)fr__rng_below(&rng, 9);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++)
            if (fr__rng_below(&rng, 10) < 4)
                dpos_case_edge(c, i, j, max_bytes ? fr__rng_below(&rng, max_bytes) : 0);
    dpos_case_index(c);
}

/* ---- checks ---- */

/* No device does two things at once, nothing starts before its inputs are there, all have a place.
 * Returns the makespan. */
static double check(struct fr__timetable *t)
{
    double makespan_s = fr__timetable_finish(t);
    const struct fr__dag *dag = t->dag;

    ck_assert_uint_eq(t->n_listed, dag->n_ops);
    for (uint32_t i = 0; i < dag->n_ops; i++) {
        ck_assert_double_eq_tol(t->end_s[i] - t->start_s[i], fr__timetable_cost(t, i, t->device[i]),
                                1e-9);
        for (uint32_t j = 0; j < i; j++)
            if (t->device[i] == t->device[j])
                ck_assert(t->end_s[i] <= t->start_s[j] + 1e-9 ||
                          t->end_s[j] <= t->start_s[i] + 1e-9);
    }
    for (size_t e = 0; e < dag->n_edges; e++) {
        const struct fr__dag_edge *edge = &dag->edges[e];

        ck_assert_double_ge(t->start_s[edge->dst] + 1e-9,
                            t->end_s[edge->src] + fr__dpos_move_s(t->machine, edge,
                                                                  t->device[edge->src],
                                                                  t->device[edge->dst]));
    }
    return makespan_s;
}

static double makespan_of(const struct dpos_case *c, fr__list_run_fn run)
{
    struct fr__timetable t;
    struct fr_error err;
    double makespan_s;

    ck_assert_int_eq(fr__timetable_init(&t, &c->dag, &c->m, &err), FR_OK);
    ck_assert_int_eq(run(&t, NULL, NULL, &err), FR_OK);
    makespan_s = check(&t);
    fr__timetable_fini(&t);
    return makespan_s;
}

static double by_number(void *user, uint32_t op, double ready_s)
{
    (void)user;
    (void)ready_s;
    return op;
}

static enum fr_status run_list(struct fr__timetable *t, const struct fr_problem *in,
                               const struct fr_context *ctx, struct fr_error *err)
{
    (void)in;
    return fr__dispatch(t, by_number, NULL, ctx, err);
}

/* ---- tests ---- */

/* Figure 3 of the paper: HEFT 80, CPOP 86. */
TEST(heft_and_cpop_plan_the_example_as_published)
{
    struct dpos_case c;

    topcuoglu(&c);
    ck_assert_double_eq_tol(makespan_of(&c, fr__heft_run), 80, 1e-9);
    ck_assert_double_eq_tol(makespan_of(&c, fr__cpop_run), 86, 1e-9);
    dpos_case_fini(&c);
}

/* Table 3 of the paper: upward and downward ranks of the ten tasks. */
TEST(the_ranks_of_cpop_are_those_published)
{
    static const double up_s[10] = {108,       77,        80,        80,        69,
                                    190.0 / 3, 128.0 / 3, 107.0 / 3, 133.0 / 3, 44.0 / 3};
    static const double down_s[10] = {0,  31,        25,        22,        24,
                                      27, 187.0 / 3, 200.0 / 3, 191.0 / 3, 280.0 / 3};
    struct dpos_case c;
    struct fr__timetable t;
    struct fr_error err;

    topcuoglu(&c);
    ck_assert_int_eq(fr__timetable_init(&t, &c.dag, &c.m, &err), FR_OK);
    ck_assert_int_eq(fr__cpop_run(&t, NULL, NULL, &err), FR_OK);
    for (size_t i = 0; i < 10; i++) {
        ck_assert_double_eq_tol(t.rank_s[i], up_s[i], 1e-9);
        ck_assert_double_eq_tol(t.down_s[i], down_s[i], 1e-9);
    }
    ck_assert_uint_eq(t.n_path, 4); /* t1, t2, t9, t10 */
    ck_assert_uint_eq(t.path[1], 1);
    ck_assert_uint_eq(t.path[2], 8);
    fr__timetable_fini(&t);
    dpos_case_fini(&c);
}

/* Graham's figures: 12 on three machines; 15 on four; 13 where every task is shorter by one; 16
 * where T4 need not be done before T5 and T6. */
TEST(more_of_everything_can_take_longer)
{
    static const struct {
        size_t n_devices;
        double shorter_by, makespan_s;
        bool is_relaxed;
    } cases[] = {{3, 0, 12, false}, {4, 0, 15, false}, {3, 1, 13, false}, {3, 0, 16, true}};

    for (size_t i = 0; i < 4; i++) {
        struct dpos_case c;

        graham(&c, cases[i].n_devices, cases[i].shorter_by, cases[i].is_relaxed);
        ck_assert_double_eq(makespan_of(&c, run_list), cases[i].makespan_s);
        dpos_case_fini(&c);
    }
}

/* By hand. Two like devices; tasks a 2, b 2, c 3, d 1; a > c 1, a > d 4, b > d 1. Ranks: d 1, c 3,
 * b 2+1+1=4, a 2+max(1+3, 4+1)=7. Latest starts: a 0, b 3, c 4, d 6. MCP: a on 0 at 0; b starts
 * first on 1 at 0; c on 0 at 2 (on 1: 3); d on 0 at 5 (1: a's bytes at 6), end 6. */
TEST(mcp_plans_four_tasks_as_worked_by_hand)
{
    static const double cost_s[4] = {2, 2, 3, 1}, start_s[4] = {0, 0, 2, 5};
    struct dpos_case c;
    struct fr__timetable t;
    struct fr_error err;

    dpos_case_init(&c, 4, 2, 3);
    for (uint32_t i = 0; i < 4; i++)
        dpos_case_cost(&c, i)[0] = dpos_case_cost(&c, i)[1] = cost_s[i];
    dpos_case_edge(&c, 0, 2, 1);
    dpos_case_edge(&c, 0, 3, 4);
    dpos_case_edge(&c, 1, 3, 1);
    dpos_case_index(&c);
    ck_assert_int_eq(fr__timetable_init(&t, &c.dag, &c.m, &err), FR_OK);
    ck_assert_int_eq(fr__mcp_run(&t, NULL, NULL, &err), FR_OK);
    ck_assert_double_eq_tol(check(&t), 6, 1e-9);
    for (size_t i = 0; i < 4; i++)
        ck_assert_double_eq_tol(t.start_s[i], start_s[i], 1e-9);
    fr__timetable_fini(&t);
    dpos_case_fini(&c);
}

/* All schedules that place ready operations one after the other, each behind what its device
 * has. */
static double brute_force(const struct dpos_case *c, double start_s[], double end_s[],
                          uint32_t device[], double free_s[], size_t n_placed)
{
    double best_s = INFINITY, so_far_s = 0;
    const struct fr__dag *dag = &c->dag;

    for (size_t d = 0; d < c->m.n_devices; d++)
        so_far_s = fmax(so_far_s, free_s[d]);
    if (n_placed == dag->n_ops)
        return so_far_s;
    for (uint32_t i = 0; i < dag->n_ops; i++) {
        bool is_ready = device[i] == FR_NONE;

        for (uint32_t k = dag->in_first[i]; k < dag->in_first[i + 1]; k++)
            is_ready &= device[dag->edges[dag->in_edges[k]].src] != FR_NONE;
        for (uint32_t d = 0; is_ready && d < c->m.n_devices; d++) {
            double was_s = free_s[d];

            start_s[i] = free_s[d];
            for (uint32_t k = dag->in_first[i]; k < dag->in_first[i + 1]; k++) {
                const struct fr__dag_edge *e = &dag->edges[dag->in_edges[k]];

                start_s[i] =
                    fmax(start_s[i], end_s[e->src] + fr__dpos_move_s(&c->m, e, device[e->src], d));
            }
            end_s[i] = free_s[d] =
                start_s[i] + dag->cost_s[dag->ops[i].cost * dag->n_types + c->m.type[d]];
            device[i] = d;
            best_s = fmin(best_s, brute_force(c, start_s, end_s, device, free_s, n_placed + 1));
            device[i] = FR_NONE;
            free_s[d] = was_s;
        }
    }
    return best_s;
}

static double optimum_of(const struct dpos_case *c)
{
    double start_s[8], end_s[8], free_s[4] = {0};
    uint32_t device[8];

    memset(device, 0xff, sizeof(device));
    return brute_force(c, start_s, end_s, device, free_s, 0);
}

static void search(const struct dpos_case *c, double start_s, uint64_t max_nodes,
                   struct fr__exact_answer *out)
{
    struct fr__timetable t;
    struct fr_error err;

    ck_assert_int_eq(fr__timetable_init(&t, &c->dag, &c->m, &err), FR_OK);
    ck_assert_int_eq(fr__exact_search(&t, start_s, max_nodes, NULL, out, &err), FR_OK);
    fr__timetable_fini(&t);
    out->order = out->device = NULL;
}

/* 200 graphs of up to 6 tasks on 2 or 3 devices, alike and not. */
TEST(the_exact_search_finds_what_trying_all_finds)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct dpos_case c;
        struct fr__exact_answer found;
        double best_s, heft_s;

        random_case(&c, seed, seed % 2 ? 5 : 6, 2 + seed % 2, seed % 4 < 2, 8);
        best_s = optimum_of(&c);
        heft_s = makespan_of(&c, fr__heft_run);
        search(&c, heft_s, UINT64_MAX, &found);
        ck_assert_double_eq_tol(found.best_s, best_s, 1e-9);
        ck_assert_double_eq_tol(found.bound_s, best_s, 1e-9);
        ck_assert_double_ge(heft_s, best_s - 1e-9);
        dpos_case_fini(&c);
    }
}

/* A search that is cut off says less, and nothing wrong. */
TEST(a_search_that_is_stopped_proves_a_bound)
{
    struct dpos_case c;
    struct fr__exact_answer whole, part;
    double last_s = 0;

    topcuoglu(&c);
    search(&c, 80, UINT64_MAX, &whole);
    ck_assert_double_eq_tol(whole.best_s, 73, 1e-9);
    for (uint64_t nodes = 1; nodes < whole.n_nodes; nodes *= 4) {
        search(&c, 80, nodes, &part);
        ck_assert_uint_eq(part.n_nodes, nodes);
        ck_assert_double_le(part.bound_s, whole.best_s);
        ck_assert_double_ge(part.best_s, whole.best_s);
        ck_assert_double_ge(part.bound_s, last_s - 1e-9);
        last_s = part.bound_s;
    }
    dpos_case_fini(&c);
}

/* Graham 1969, theorem 1, for every rule that keeps no device idle: without communication and on n
 * like devices, at most 2 - 1/n times the optimum. ETF is one of them there. */
TEST(greedy_schedules_keep_grahams_bound)
{
    static const fr__list_run_fn runs[] = {run_list, fr__critical_path_run, fr__etf_run};

    for (uint64_t seed = 0; seed < 120; seed++) {
        size_t n_devices = 2 + seed % 2;
        struct dpos_case c;
        double best_s;

        random_case(&c, 1000 + seed, n_devices == 2 ? 6 : 5, n_devices, true, 0);
        best_s = optimum_of(&c);
        for (size_t k = 0; k < 3; k++)
            ck_assert_double_le(makespan_of(&c, runs[k]),
                                (2 - 1 / (double)n_devices) * best_s + 1e-9);
        dpos_case_fini(&c);
    }
}

/* Larger graphs: every scheduler makes a schedule that can be run. */
TEST(every_schedule_is_sound)
{
    static const fr__list_run_fn runs[] = {fr__heft_run, fr__cpop_run, fr__mcp_run,
                                           fr__etf_run,  run_list,     fr__critical_path_run};

    for (uint64_t seed = 0; seed < 60; seed++)
        for (size_t k = 0; k < 6; k++) {
            struct dpos_case c;

            random_case(&c, 2000 + seed, 60, 1 + seed % 5, seed % 2, 20);
            makespan_of(&c, runs[k]);
            dpos_case_fini(&c);
        }
}

int main(void)
{
    TCase *tc = tcase_create("lists");

    add_tests(tc);
    return run_case(tc, "strategies/lists");
}
