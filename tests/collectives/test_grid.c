/* tests/collectives/test_grid.c - the torus or mesh in which ranks stand, and what the bucket
 * algorithm takes on it. */
#include "config.h"

#include "collectives/grid.h"
#include "sim/sim.h"
#include "tests/support/base_check.h"
#include "tests/support/sim_fixture.h"

#include <math.h>
#include <stdlib.h>

/* Places of a grid; links: 1 to a neighbour, else as many as a walk along the sides needs. */
struct grid {
    uint32_t dims[4], n_dims;
    bool is_closed;
    uint32_t extra; /* links of every route besides, as NICs have them */
};

static uint32_t hops(void *user, uint32_t from, uint32_t to)
{
    const struct grid *g = user;
    uint32_t n = 0, stride = 1;

    for (uint32_t d = 0; d < g->n_dims; stride *= g->dims[d++]) {
        uint32_t a = from / stride % g->dims[d], b = to / stride % g->dims[d];
        uint32_t way = a > b ? a - b : b - a, back = g->dims[d] - way;

        n += g->is_closed && back < way ? back : way;
    }
    return n + g->extra;
}

static uint32_t same_for_all(void *user, uint32_t from, uint32_t to)
{
    (void)user, (void)from, (void)to;
    return 4;
}

TEST(the_sides_of_a_torus_and_of_a_mesh_are_found)
{
    static const struct grid grids[] = {
        {{4, 4}, 2, true, 0},    {{4, 4}, 2, false, 3},    {{8, 2}, 2, true, 3},
        {{2, 8}, 2, false, 0},   {{3, 5}, 2, true, 2},     {{2, 2, 2}, 3, true, 0},
        {{4, 2, 4}, 3, true, 3}, {{5, 4, 3}, 3, false, 1}, {{2, 3, 2, 3}, 4, true, 0},
    };

    for (size_t i = 0; i < sizeof(grids) / sizeof(grids[0]); i++) {
        struct grid g = grids[i];
        uint32_t n = 1, dims[FR__MOST_DIMS];

        for (uint32_t d = 0; d < g.n_dims; d++)
            n *= g.dims[d];
        ck_assert_uint_eq(fr__grid_find(n, hops, &g, FR__MOST_DIMS, dims), g.n_dims);
        for (uint32_t d = 0; d < g.n_dims; d++)
            ck_assert_uint_eq(dims[d], g.dims[d]);
    }
}

TEST(a_ring_a_line_and_a_switch_are_no_grid)
{
    struct grid ring = {{12}, 1, true, 0}, line = {{12}, 1, false, 2};
    uint32_t dims[FR__MOST_DIMS];

    ck_assert_uint_eq(fr__grid_find(12, hops, &ring, FR__MOST_DIMS, dims), 0);
    ck_assert_uint_eq(fr__grid_find(12, hops, &line, FR__MOST_DIMS, dims), 0);
    for (uint32_t n = 1; n <= 16; n++)
        ck_assert_uint_eq(fr__grid_find(n, same_for_all, NULL, FR__MOST_DIMS, dims), 0);
}

static double bucket_s(const char *topology, enum fr_collective_kind kind, double bytes,
                       double *hop_latency_s)
{
    const struct fr_collective_options options = {.algorithm = "bucket"};
    struct fr_topo *t = NULL;
    struct fr_router *router = NULL;
    struct fr_collective_way *way = NULL;
    struct fr_run_options o;
    struct fr_error err = {.text = ""};
    const uint32_t *links;
    size_t n_links;
    struct fr_plan *p;
    struct fr_run *r = NULL;
    uint32_t *members;
    double s;

    ck_assert_msg(fr_topo_load(&t, topology, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(fr_router_new(&router, t, &err), FR_OK);
    /* device 0 and the first of the next machine */
    ck_assert_int_eq(
        fr_router_path(router, 0, (uint32_t)(t->n_gpus / t->n_machines), &links, &n_links, &err),
        FR_OK);
    *hop_latency_s = 0;
    for (size_t i = 0; i < n_links; i++)
        *hop_latency_s += t->links[links[i]].latency_s;
    fr_router_free(router);
    p = fr_plan_new(t, NULL);
    members = calloc(t->n_gpus, sizeof(*members));
    fixture_collective(p, kind, (uint32_t)t->n_gpus, bytes, members);
    fixture_finish(p);
    fr_run_options_init(&o);
    ck_assert_int_eq(fr_collective_way_new(&way, &options, &err), FR_OK);
    o.way = way;
    ck_assert_msg(fr_simulate(p, &o, &r, &err) == FR_OK, "%s", err.text);
    s = r->makespan_s;
    fr_run_free(r);
    fr_collective_way_free(way);
    fr_plan_free(p);
    free(members);
    fr_topo_free(t);
    return s;
}

/* Chan et al. 2007, as in bucket.c: 2 D (k - 1) a + 2 (n - 1)/n S / (2 D B), half of it for an
 * all-gather. The NICs carry all 2 D directions at once, so that a link of 25 Gbit/s is the
 * narrowest: on 4 x 4 machines 2 (15/16) 16 MiB / (4 x 3.125 GB/s) = 2 516.6 us and twelve hops.
 * By one ring both ways it was twice that, 5 033 us and thirty hops. */
TEST(buckets_go_along_all_sides_of_a_torus_at_once)
{
    static const struct {
        const char *topology;
        double d, k, n;
    } cases[] = {
        {"16x box:1xa40 via torus:400Gbps,dims=4x4,link=25Gbps", 2, 4, 16},
        {"9x box:1xa40 via torus:400Gbps,dims=3x3,link=25Gbps", 2, 3, 9},
        {"27x box:1xa40 via torus:400Gbps,dims=3x3x3,link=25Gbps", 3, 3, 27},
        {"6x box:1xa40 via ring:400Gbps,link=25Gbps", 1, 6, 6},
    };
    const double link_Bps = 25e9 / 8, bytes = 16 << 20;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double d = cases[i].d, n = cases[i].n, a_s, expected_s;
        double s = bucket_s(cases[i].topology, FR_ALL_REDUCE, bytes, &a_s);

        expected_s = 2 * d * (cases[i].k - 1) * a_s + 2 * (n - 1) / n * bytes / (2 * d * link_Bps);
        ck_assert_double_eq_tol(s, expected_s, 1e-9 * expected_s);
        s = bucket_s(cases[i].topology, FR_ALL_GATHER, bytes, &a_s);
        ck_assert_double_eq_tol(s, expected_s / 2, 1e-9 * expected_s);
    }
}

/* Two ranks a machine are one more side: 2 x 3 x 3, six lanes, and links between machines carry at
 * least what leaves a machine: no time is below the bytes of the busiest link. The same torus under
 * another name, from a file that lists its links, takes as long to the last bit. */
TEST(ranks_of_a_machine_are_one_more_side)
{
    const char *torus = "9x box:2xa40 via torus:400Gbps,dims=3x3,link=25Gbps";
    double a_s, bytes = 18 << 20, s = bucket_s(torus, FR_ALL_REDUCE, bytes, &a_s);
    double least_s = 2.0 * 8 / 9 * bytes / (4 * 25e9 / 8);
    struct fr_topo *t = NULL;
    struct fr_error err = {.text = ""};
    FILE *f = fopen("test_grid.tmp.yaml", "w");

    ck_assert_double_gt(s, least_s);
    ck_assert_double_lt(s, 3 * least_s);
    ck_assert_int_eq(fr_topo_load(&t, torus, &err), FR_OK);
    ck_assert_ptr_nonnull(f);
    ck_assert_msg(fr_topo_write_yaml(f, t, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(fclose(f), 0);
    fr_topo_free(t);
    ck_assert_double_eq(bucket_s("test_grid.tmp.yaml", FR_ALL_REDUCE, bytes, &a_s), s);
    ck_assert_int_eq(remove("test_grid.tmp.yaml"), 0);
}

int main(void)
{
    TCase *tc = tcase_create("grid");

    add_tests(tc);
    return run_case(tc, "sim/grid");
}
