/* tests/topo/test_route.c - routes: the rule of topo.h, and a fat tree against SimGrid. */
#include "config.h"

#include "base/rng.h"
#include "topo/routes/search.h"
#include "topo/topo.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct fr_loc nowhere = {NULL, 0, 0};

static const struct fr_device_type gpu_type = {.name = "toy-gpu",
                                               .is_gpu = true,
                                               .mem_bytes = 1 << 20,
                                               .mem_Bps = 1e9,
                                               .vector_flops_per_s = 1e12,
                                               .n_sms = 4,
                                               .source = "made up for the test"};

static uint32_t add_gpu(struct fr_topo_builder *b, const char *name, uint32_t machine)
{
    return fr_topo_builder_vertex(b, FR_VERTEX_GPU, name, machine,
                                  fr_topo_builder_type(b, &gpu_type), nowhere);
}

static uint32_t add_switch(struct fr_topo_builder *b, const char *name)
{
    return fr_topo_builder_vertex(b, FR_VERTEX_SWITCH, name, FR_NONE, FR_NONE, nowhere);
}

static void cable(struct fr_topo_builder *b, uint32_t x, uint32_t y, double bw_Bps,
                  double latency_s)
{
    fr_topo_builder_link(b, FR_LINK_NET, x, y, bw_Bps, latency_s, true, "test", nowhere);
}

static struct fr_topo *finish(struct fr_topo_builder *b)
{
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_msg(fr_topo_builder_finish(b, "test", &t, &err) == FR_OK, "%s", err.text);
    fr_topo_builder_free(b);
    return t;
}

/* "a>s s>b", the names of the route's links. */
static void route_text(struct fr_router *r, const struct fr_topo *t, uint32_t src, uint32_t dst,
                       char *buf, size_t n)
{
    const uint32_t *links;
    size_t n_links, used = 0;
    struct fr_error err;
    char name[FR_LINK_NAME];

    ck_assert_int_eq(fr_router_path(r, src, dst, &links, &n_links, &err), FR_OK);
    buf[0] = '\0';
    for (size_t i = 0; i < n_links; i++)
        used += (size_t)snprintf(buf + used, n - used, "%s%s", i ? " " : "",
                                 fr_topo_link_name(t, links[i], name));
}

static void expect_route(const struct fr_topo *t, uint32_t src, uint32_t dst, const char *want)
{
    struct fr_router *r;
    struct fr_error err;
    char got[256];

    ck_assert_int_eq(fr_router_new(&r, t, &err), FR_OK);
    route_text(r, t, src, dst, got, sizeof(got));
    ck_assert_str_eq(got, want);
    route_text(r, t, src, dst, got, sizeof(got)); /* from the cache */
    ck_assert_str_eq(got, want);
    fr_router_free(r);
}

TEST(a_route_to_itself_has_no_links)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    struct fr_topo *t;

    add_gpu(b, "a", 0);
    t = finish(b);
    expect_route(t, 0, 0, "");
    fr_topo_free(t);
}

TEST(fewest_links_win_over_wide_and_fast_ones)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t x = add_gpu(b, "a", 0), y = add_gpu(b, "b", 0), s = add_switch(b, "s");
    struct fr_topo *t;

    cable(b, x, s, 1e12, 0);
    cable(b, s, y, 1e12, 0);
    cable(b, x, y, 1e3, 1);
    t = finish(b);
    expect_route(t, 0, 1, "a>b");
    fr_topo_free(t);
}

TEST(then_least_latency_then_greatest_width)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t x = add_gpu(b, "a", 0), y = add_gpu(b, "b", 0), z = add_gpu(b, "c", 0);
    uint32_t slow = add_switch(b, "slow"), thin = add_switch(b, "thin"),
             wide = add_switch(b, "wide");
    struct fr_topo *t;

    /* a to b: 3 us by slow, 2 us by thin and wide; wide's narrowest is 5, thin's 4 GB/s */
    cable(b, x, slow, 9e9, 1e-6);
    cable(b, slow, y, 9e9, 2e-6);
    cable(b, x, thin, 9e9, 1e-6);
    cable(b, thin, y, 4e9, 1e-6);
    cable(b, x, wide, 5e9, 1.5e-6);
    cable(b, wide, y, 9e9, 0.5e-6);
    cable(b, z, slow, 1e9, 0);
    t = finish(b);
    expect_route(t, 0, 1, "a>wide wide>b");
    expect_route(t, 1, 0, "b>wide wide>a");
    expect_route(t, 2, 1, "c>slow slow>b");
    fr_topo_free(t);
}

TEST(gpus_do_not_forward)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t x = add_gpu(b, "a", 0), y = add_gpu(b, "b", 0), z = add_gpu(b, "c", 0);
    uint32_t s = add_switch(b, "s"), u = add_switch(b, "u");
    struct fr_topo *t;

    cable(b, x, y, 1e12, 0); /* a - b - c would be two links */
    cable(b, y, z, 1e12, 0);
    cable(b, x, s, 1e9, 0);
    cable(b, s, u, 1e9, 0);
    cable(b, u, z, 1e9, 0);
    t = finish(b);
    expect_route(t, 0, 2, "a>s s>u u>c");
    fr_topo_free(t);
}

/* Even where there is no other way: a and c hang on b by one cable each, as on a switch. */
TEST(a_gpu_between_two_is_no_switch)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t x = add_gpu(b, "a", 0), y = add_gpu(b, "b", 0), z = add_gpu(b, "c", 0);
    struct fr_topo *t;
    struct fr_router *r;
    struct fr_error err;
    const uint32_t *links;
    size_t n;

    cable(b, x, y, 1e12, 0);
    cable(b, y, z, 1e12, 0);
    t = finish(b);
    expect_route(t, 0, 1, "a>b");
    ck_assert_int_eq(fr_router_new(&r, t, &err), FR_OK);
    ck_assert_int_eq(fr_router_path(r, 0, 2, &links, &n, &err), FR_ENOENT);
    fr_router_free(r);
    fr_topo_free(t);
}

TEST(an_unreachable_pair_is_named)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t x = add_gpu(b, "a", 0), y = add_gpu(b, "b", 0);
    struct fr_router *r;
    struct fr_topo *t;
    struct fr_error err;
    const uint32_t *links;
    size_t n;

    fr_topo_builder_link(b, FR_LINK_NET, x, y, 1, 0, false, "one way", nowhere);
    t = finish(b);
    ck_assert_int_eq(fr_router_new(&r, t, &err), FR_OK);
    ck_assert_int_eq(fr_router_path(r, 0, 1, &links, &n, &err), FR_OK);
    ck_assert_int_eq(fr_router_path(r, 1, 0, &links, &n, &err), FR_ENOENT);
    ck_assert_str_eq(err.text, "no route from 'b' to 'a'");
    ck_assert_int_eq(fr_router_path(r, 0, 2, &links, &n, &err), FR_ERANGE);
    fr_router_free(r);
    fr_topo_free(t);
}

/* ---- a two-level fat tree: 16 leaves x 16 hosts, 8 spines, as ft256 of the SimGrid data ---- */

enum { LEAVES = 16, HOSTS_PER_LEAF = 16, SPINES = 8, HOSTS = LEAVES * HOSTS_PER_LEAF };

static struct fr_topo *make_fat_tree(void)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t spine[SPINES];
    char name[32];

    for (unsigned s = 0; s < SPINES; s++) {
        snprintf(name, sizeof(name), "spine%u", s);
        spine[s] = add_switch(b, name);
    }
    for (unsigned l = 0; l < LEAVES; l++) {
        uint32_t leaf;

        snprintf(name, sizeof(name), "leaf%u", l);
        leaf = add_switch(b, name);
        for (unsigned s = 0; s < SPINES; s++)
            cable(b, leaf, spine[s], 12.5e9, 0);
        for (unsigned h = 0; h < HOSTS_PER_LEAF; h++) {
            unsigned host = l * HOSTS_PER_LEAF + h;

            snprintf(name, sizeof(name), "host%u", host);
            cable(b, add_gpu(b, name, host), leaf, 12.5e9, 0);
        }
    }
    return finish(b);
}

TEST(a_fat_tree_routes_by_destination_modulo_spines)
{
    struct fr_topo *t = make_fat_tree();
    struct fr_router *r;
    struct fr_error err;

    ck_assert_int_eq(fr_router_new(&r, t, &err), FR_OK);
    for (uint32_t s = 0; s < HOSTS; s += 7)
        for (uint32_t d = 0; d < HOSTS; d++) {
            unsigned a = s / HOSTS_PER_LEAF, z = d / HOSTS_PER_LEAF;
            char want[128] = "", got[128];

            if (s != d && a == z)
                snprintf(want, sizeof(want), "host%u>leaf%u leaf%u>host%u", s, a, z, d);
            else if (s != d)
                snprintf(want, sizeof(want),
                         "host%u>leaf%u leaf%u>spine%u spine%u>leaf%u leaf%u>host%u", s, a, a,
                         d % SPINES, d % SPINES, z, z, d);
            route_text(r, t, s, d, got, sizeof(got));
            ck_assert_str_eq(got, want);
        }
    fr_router_free(r);
    fr_topo_free(t);
}

/* SimGrid numbers its switches downwards: hosts 0..255, leaf l is 511 - l, spine s is 495 - s. A
 * link's name is link_from_X_Y_CABLE_UP or _DOWN, where the cable joins X below and Y above. */
static void simgrid_name(const char *ours, char *buf, size_t n)
{
    unsigned from, to;

    if (sscanf(ours, "host%u>leaf%u", &from, &to) == 2)
        snprintf(buf, n, "%u_%u UP", from, 511 - to);
    else if (sscanf(ours, "leaf%u>spine%u", &from, &to) == 2)
        snprintf(buf, n, "%u_%u UP", 511 - from, 495 - to);
    else if (sscanf(ours, "spine%u>leaf%u", &from, &to) == 2)
        snprintf(buf, n, "%u_%u DOWN", 511 - to, 495 - from);
    else if (sscanf(ours, "leaf%u>host%u", &from, &to) == 2)
        snprintf(buf, n, "%u_%u DOWN", to, 511 - from);
    else
        ck_abort_msg("unexpected link '%s'", ours);
}

static void compare_route(struct fr_router *r, const struct fr_topo *t, uint32_t src, uint32_t dst,
                          const char *theirs)
{
    char name[FR_LINK_NAME];
    const uint32_t *links;
    size_t n;
    struct fr_error err;

    ck_assert_int_eq(fr_router_path(r, src, dst, &links, &n, &err), FR_OK);
    for (size_t i = 0; i < n; i++) {
        char want[64], got[64], way[8];
        unsigned below, above, number;
        int used = 0;

        ck_assert_int_eq(
            sscanf(theirs, "link_from_%u_%u_%u_%7[UPDOWN]%n", &below, &above, &number, way, &used),
            4);
        snprintf(want, sizeof(want), "%u_%u %s", below, above, way);
        simgrid_name(fr_topo_link_name(t, links[i], name), got, sizeof(got));
        ck_assert_str_eq(got, want);
        theirs += used;
        theirs += *theirs == '|';
    }
    ck_assert_msg(*theirs == '\n' || *theirs == '\r' || !*theirs, "SimGrid's route is longer: %s",
                  theirs);
}

TEST(fat_tree_routes_equal_simgrids)
{
    const char *srcdir = getenv("srcdir");
    char path[512], flow[256], route[512];
    struct fr_topo *t;
    struct fr_router *r;
    struct fr_error err;
    FILE *flows, *routes;
    unsigned n = 0;

    srcdir = srcdir ? srcdir : ".";
    snprintf(path, sizeof(path), "%s/../shared/data/simgrid/flows/flows_f100.flows.csv", srcdir);
    flows = fopen(path, "r");
    if (!flows) {
        printf("SKIP fat_tree_routes_equal_simgrids: no SimGrid data beside the sources\n");
        return;
    }
    snprintf(path, sizeof(path), "%s/../shared/data/simgrid/flows/flows_f100.routes.csv", srcdir);
    routes = fopen(path, "r");
    ck_assert_ptr_nonnull(routes);
    t = make_fat_tree();
    ck_assert_int_eq(fr_router_new(&r, t, &err), FR_OK);
    while (fgets(flow, sizeof(flow), flows) && fgets(route, sizeof(route), routes)) {
        unsigned id, route_id, src, dst;
        double start;
        int used = 0;

        if (sscanf(flow, "%u,%lf,%u,%u", &id, &start, &src, &dst) != 4)
            continue; /* the header */
        ck_assert_int_eq(sscanf(route, "%u,%n", &route_id, &used), 1);
        ck_assert_uint_eq(id, route_id);
        compare_route(r, t, src, dst, route + used);
        n++;
    }
    ck_assert_uint_eq(n, 100);
    fclose(flows);
    fclose(routes);
    fr_router_free(r);
    fr_topo_free(t);
}

/* Any mesh of GPUs and switches, some of it one way only, with few different latencies and
 * widths so that ties are common. */
static struct fr_topo *make_random(uint64_t seed)
{
    enum { GPUS = 12, MOST_SWITCHES = 14 };
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t vertices[GPUS + MOST_SWITCHES], n = 0, n_switches;
    struct fr__rng rng;
    char name[32];

    fr__rng_init(&rng, seed, 0);
    n_switches = 1 + (uint32_t)fr__rng_below(&rng, MOST_SWITCHES);
    for (; n < GPUS + n_switches; n++) {
        snprintf(name, sizeof(name), "%s%u", n < GPUS ? "gpu" : "switch", n);
        vertices[n] = n < GPUS ? add_gpu(b, name, n / 4) : add_switch(b, name);
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (fr__rng_below(&rng, n) < 3)
                fr_topo_builder_link(b, FR_LINK_NET, vertices[i], vertices[k],
                                     1e9 * (double)(1 + fr__rng_below(&rng, 2)),
                                     1e-6 * (double)(1 + fr__rng_below(&rng, 2)),
                                     fr__rng_below(&rng, 4) > 0, "test", nowhere);
    return finish(b);
}

static unsigned compare_searches(const struct fr_topo *t)
{
    struct fr__route_search *s = fr__route_search_new(t);
    uint32_t *tree = calloc(t->n_vertices, sizeof(*tree));
    unsigned n_routes = 0;

    for (uint32_t dst = 0; dst < t->n_devices; dst++) {
        const struct fr__target target = {t->devices[dst].vertex, dst};

        fr__route_search_all(s, target, tree);
        for (uint32_t src = 0; src < t->n_devices; src++) {
            uint32_t links[64], v = t->devices[src].vertex;
            uint64_t n_seen = 0;
            size_t n;

            if (src == dst)
                continue;
            n = fr__route_search_pair(s, v, target, 64, links, &n_seen);
            if (tree[v] == FR_NONE) {
                ck_assert_uint_eq(n, 0);
                continue;
            }
            n_routes++;
            for (size_t i = 0; i < n; i++) {
                ck_assert_uint_eq(links[i], tree[v]);
                v = t->links[links[i]].dst;
            }
            ck_assert_uint_eq(v, t->devices[dst].vertex);
        }
    }
    free(tree);
    fr__route_search_free(s);
    return n_routes;
}

TEST(a_pair_searched_alone_takes_the_route_of_the_whole_tree)
{
    unsigned n_routes = 0;

    for (uint64_t seed = 0; seed < 300; seed++) {
        struct fr_topo *t = make_random(seed);

        n_routes += compare_searches(t);
        fr_topo_free(t);
    }
    ck_assert_uint_gt(n_routes, 10000); /* of 39 600 pairs */
}

TEST(a_pair_in_a_cluster_takes_the_route_of_the_whole_tree)
{
    struct fr_topo *t;
    struct fr_error err;

    ck_assert_int_eq(fr_topo_load(&t, "3x dgx1-v100 via ib:100Gbps", &err), FR_OK);
    ck_assert_uint_eq(compare_searches(t), t->n_devices * (t->n_devices - 1));
    fr_topo_free(t);
}

TEST(a_late_route_to_a_device_is_as_an_early_one)
{
    struct fr_topo *t = make_random(7);
    struct fr_router *r;
    struct fr_error err;
    char first[256], later[256];

    for (uint32_t asked = 0; asked < t->n_devices; asked++) {
        struct fr_router *fresh;
        const uint32_t *links;
        size_t n_links;
        uint32_t dst = 3;

        ck_assert_int_eq(fr_router_new(&fresh, t, &err), FR_OK);
        if (asked == dst || fr_router_path(fresh, asked, dst, &links, &n_links, &err) != FR_OK) {
            fr_router_free(fresh);
            continue;
        }
        ck_assert_int_eq(fr_router_new(&r, t, &err), FR_OK);
        for (uint32_t src = 0; src < t->n_devices; src++)
            if (src != asked)
                (void)fr_router_path(r, src, dst, &links, &n_links, &err);
        route_text(fresh, t, asked, dst, first, sizeof(first));
        route_text(r, t, asked, dst, later, sizeof(later));
        ck_assert_str_eq(first, later);
        fr_router_free(fresh);
        fr_router_free(r);
    }
    fr_topo_free(t);
}

int main(void)
{
    TCase *c = tcase_create("all");

    add_tests(c);
    return run_case(c, "topo route");
}
