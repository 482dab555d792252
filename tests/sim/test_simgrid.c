/* tests/sim/test_simgrid.c - task graphs, flows and rings against SimGrid's results.
 *
 * Small cases lie in tests/golden/simgrid (made by tests/oracles/gen_simgrid.py, run through
 * SimGrid 3.32); the large ones are read from ../shared/data/simgrid and skipped, visibly, where
 * that is absent. What is modelled: see the README beside each. Times are printed there with nine
 * decimals.
 */
#include "config.h"

#include "tests/support/sim_fixture.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double BW = 12.5e9; /* every link direction of every platform there */

static char folder[2][400]; /* golden, shared: set once by main */

static struct fr_topo *platform(const char *name)
{
    unsigned n = 0;

    if (sscanf(name, "star%u", &n) == 1)
        return fixture_star(n, BW, 1e-6);
    if (strcmp(name, "ft64") == 0)
        return fixture_fat_tree(8, 8, 4, BW, 0);
    if (strcmp(name, "ft256") == 0)
        return fixture_fat_tree(16, 16, 8, BW, 0);
    ck_assert_str_eq(name, "ft512");
    return fixture_fat_tree(32, 16, 16, BW, 0);
}

static bool is_there(const char *path)
{
    FILE *f = fopen(path, "r");

    if (f)
        fclose(f);
    else
        printf("SKIPPED: %s is not there\n", path);
    return f != NULL;
}

static struct fr_run *run(struct fr_plan *p, bool is_ring)
{
    struct fr_run_options o;

    fr_run_options_init(&o);
    o.rings = is_ring ? 1 : 0;
    fixture_finish(p);
    return fixture_run(p, &o);
}

/* Every finish of id,start,finish within tolerance, relative to the makespan. */
static void compare_finishes(const char *path, const double end_s[], const uint32_t id[],
                             uint32_t n, double tolerance_s)
{
    FILE *f = fopen(path, "r");
    double start_s, finish_s, worst_s = 0;
    uint32_t rows = 0;
    unsigned k;
    char line[128];

    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
    while (fgets(line, sizeof(line), f)) {
        ck_assert_int_eq(sscanf(line, "%u,%lf,%lf", &k, &start_s, &finish_s), 3);
        ck_assert_uint_lt(k, n);
        worst_s = fmax(worst_s, fabs(end_s[id[k]] - finish_s));
        rows++;
    }
    fclose(f);
    ck_assert_uint_eq(rows, n);
    ck_assert_double_le(worst_s, tolerance_s);
}

/* tolerance_s per task; 0: only the makespan is compared, to makespan_tolerance (relative). */
static void replay_dag(const char *dir, const char *name, const char *platform_name,
                       double makespan_s, double makespan_tolerance, double tolerance_s)
{
    char tasks[512], edges[512], finish[512];
    struct fr_topo *topo;
    uint32_t *id, n;
    struct fr_plan *p;
    struct fr_run *r;

    snprintf(tasks, sizeof(tasks), "%s/%s.tasks.csv", dir, name);
    snprintf(edges, sizeof(edges), "%s/%s.edges.csv", dir, name);
    snprintf(finish, sizeof(finish), "%s/%s.finish.csv", dir, name);
    if (!is_there(tasks))
        return;
    topo = platform(platform_name);
    p = fixture_dag(topo, tasks, edges, &id, &n);
    r = run(p, false);
    if (makespan_s > 0)
        ck_assert_double_eq_tol(r->makespan_s, makespan_s, makespan_tolerance * makespan_s);
    if (tolerance_s > 0)
        compare_finishes(finish, r->end_s, id, n, tolerance_s);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
    free(id);
}

static void replay_flows(const char *dir, const char *name, const char *platform_name,
                         double makespan_s, double mean_s, double tolerance_s)
{
    char path[512], finish[512], line[128];
    struct fr_topo *topo;
    struct fr_plan *p;
    struct fr_run *r;
    uint32_t *recv = NULL, n = 0;
    unsigned k, src, dst;
    double start_s, bytes, sum_s = 0;
    size_t cap = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s.flows.csv", dir, name);
    snprintf(finish, sizeof(finish), "%s/%s.finish.csv", dir, name);
    if (!is_there(path))
        return;
    topo = platform(platform_name);
    p = fr_plan_new(topo, NULL);
    f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
    while (fgets(line, sizeof(line), f)) {
        ck_assert_int_eq(sscanf(line, "%u,%lf,%u,%u,%lf", &k, &start_s, &src, &dst, &bytes), 5);
        if (n == cap) {
            cap = cap ? 2 * cap : 128;
            recv = realloc(recv, cap * sizeof(*recv));
            ck_assert_ptr_nonnull(recv);
        }
        /* all of these start at 0 */
        ck_assert_double_eq(start_s, 0);
        recv[n++] = fixture_message(p, src, dst, bytes, FR_NONE);
    }
    fclose(f);
    r = run(p, false);
    ck_assert_double_eq_tol(r->makespan_s, makespan_s, 1e-9);
    for (uint32_t i = 0; i < n; i++)
        sum_s += r->end_s[recv[i]];
    ck_assert_double_eq_tol(sum_s / n, mean_s, 1e-9);
    compare_finishes(finish, r->end_s, recv, n, tolerance_s);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
    free(recv);
}

static void ring(const char *platform_name, uint32_t n, double makespan_s)
{
    struct fr_topo *topo = platform(platform_name);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    uint32_t *members = calloc(n, sizeof(*members));
    struct fr_run *r;

    ck_assert_ptr_nonnull(members);
    fixture_collective(p, FR_ALL_REDUCE, n, 1e8, members);
    r = run(p, true);
    ck_assert_double_eq_tol(r->makespan_s, makespan_s, 1e-9);
    ck_assert_uint_eq(r->stats.flows, (uint64_t)2 * (n - 1) * n);
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
    free(members);
}

TEST(small_task_graphs_end_when_simgrids_do)
{
    replay_dag(folder[0], "dag_n200_g8", "star8", 0, 0, 2e-9);
    replay_dag(folder[0], "dag_n200_g64", "ft64", 0, 0, 2e-9);
}

/* truth.csv: exact for the stars, stable at 1e-9 for n1000_g64, 1e-4 relative for n10000_g64 */
TEST(large_task_graphs_end_when_simgrids_do)
{
    char dir[512];

    snprintf(dir, sizeof(dir), "%s/dag", folder[1]);
    replay_dag(dir, "dag_n1000_g8", "star8", 0.077843737, 1e-8, 2e-9);
    replay_dag(dir, "dag_n10000_g8", "star8", 0.745151746, 1e-9, 2e-9);
    replay_dag(dir, "dag_n1000_g64", "ft64", 0.012407701, 1e-7, 2e-9);
    replay_dag(dir, "dag_n10000_g64", "ft64", 0.120491579, 1e-4, 0);
}

TEST(flows_end_when_simgrids_do)
{
    char dir[512];

    snprintf(dir, sizeof(dir), "%s/flows", folder[1]);
    replay_flows(dir, "flows_f100", "ft256", 0.010746465, 0.004593989, 2e-9);
    replay_flows(dir, "flows_f1000", "ft256", 0.046109064, 0.017008973, 2e-9);
}

/* truth.csv, ring of 100 MB: 2 (P-1) (floor(1e8/P)/12.5e9 + 2e-6) */
TEST(rings_end_when_simgrids_do)
{
    ring("star8", 8, 0.014028000);
    ring("star16", 16, 0.015060000);
    ring("star32", 32, 0.015624000);
    ring("star64", 64, 0.016002000);
    ring("star128", 128, 0.016383000);
    ring("star256", 256, 0.016957500);
    ring("star512", 512, 0.018012709);
    ring("ft512", 512, 0.015968709);
}

int main(void)
{
    TCase *c = tcase_create("simgrid");
    const char *srcdir = getenv("srcdir");

    snprintf(folder[0], sizeof(folder[0]), "%s/tests/golden/simgrid", srcdir ? srcdir : ".");
    snprintf(folder[1], sizeof(folder[1]), "%s/../shared/data/simgrid", srcdir ? srcdir : ".");
    tcase_set_timeout(c, 300);
    add_tests(c);
    return run_case(c, "sim/simgrid");
}
