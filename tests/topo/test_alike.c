/* tests/topo/test_alike.c - routes of a router, which searches for few pairs of machines that are
 * alike, are those of a search for each destination. */
#include "config.h"

#include "base/rng.h"
#include "topo/routes/search.h"
#include "topo/routes/router.h"
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

static struct fr_topo *finish(struct fr_topo_builder *b)
{
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_msg(fr_topo_builder_finish(b, "test", &t, &err) == FR_OK, "%s", err.text);
    fr_topo_builder_free(b);
    return t;
}

/* All routes of a router, which searches for few of them, and those of whole trees. */
static void compare_with_trees(const struct fr_topo *t)
{
    struct fr__route_search *s = fr__route_search_new(t);
    uint32_t *tree = calloc(t->n_vertices, sizeof(*tree));
    struct fr_router *r;
    struct fr_error err;

    ck_assert_int_eq(fr_router_new(&r, t, &err), FR_OK);
    for (uint32_t i = 0; i < t->n_devices; i++) {
        uint32_t dst = (uint32_t)((i * UINT64_C(7)) % t->n_devices); /* not in their order */

        fr__route_search_all(s, (struct fr__target){t->devices[dst].vertex, dst}, tree);
        for (uint32_t src = 0; src < t->n_devices; src++) {
            uint32_t hops[FR__MAX_HOPS], v = t->devices[src].vertex;
            char name[FR_LINK_NAME], other[FR_LINK_NAME];
            enum fr_status st;
            size_t n;

            st = fr__router_walk(r, src, dst, hops, &n, &err);
            if (src != dst && tree[v] == FR_NONE) {
                ck_assert_int_eq(st, FR_ENOENT);
                ck_assert_ptr_nonnull(strstr(err.text, t->devices[src].name));
                continue;
            }
            ck_assert_int_eq(st, FR_OK);
            for (size_t k = 0; k < n; k++) {
                ck_assert_msg(hops[k] == tree[v], "from %s to %s over %s instead of %s in '%s'",
                              t->devices[src].name, t->devices[dst].name,
                              fr_topo_link_name(t, hops[k], name),
                              fr_topo_link_name(t, tree[v], other), t->name);
                v = t->links[hops[k]].dst;
            }
            ck_assert_uint_eq(v, t->devices[dst].vertex);
        }
    }
    fr_router_free(r);
    free(tree);
    fr__route_search_free(s);
}

START_TEST(routes_of_machines_that_are_alike_are_those_of_whole_trees)
{
    static const char *const specs[] = {
        "6x hgx-h100",
        "6x hgx-h100 via rails:8x400Gbps",
        "6x hgx-h100 via rails:8x400Gbps,spine=2:1",
        "5x dgx1-v100 via leaf-spine:100Gbps,machines=2",
        "9x dgx1-v100 via leaf-spine:100Gbps,machines=3,spines=3",
        "8x hgx-h100 via leaf-spine:400Gbps,machines=2,spines=4,over=2:1",
        "8x hgx-h100 via fat-tree:400Gbps,machines=2,leaves=2,spines=4,cores=8",
        "24x gh200-quad via torus:dims=4x3x2",
        "24x gh200-quad via dragonfly:machines=2,routers=3",
        "6x gh200-quad via ring:link=100Gbps",
        "5x gh200-quad via full",
        "3x hgx-h100 + 3x dgx1-v100 + 2x hgx-h100 via rails:bond=2,kind=roce",
        "6x hgx-h100 via rails less n2.nic1=0.5",
        "6x hgx-h100 via rails less n2.nic1=0",
        "4x dgx1-p100 + 1x p2.16xlarge via ib:100Gbps",
        "3x gb200-nvl72",
        "7x dgx2",
        /* so many machines of a kind that routes are searched among a few */
        "8x hgx-h100 via rails:8x400Gbps",
        "8x hgx-h100 via rails:8x400Gbps,spine=2:1",
        "9x dgx1-v100",
        "24x gh200-quad via leaf-spine:400Gbps,machines=12,spines=4,over=2:1",
        "5x hgx-h100 + 6x dgx1-v100 + 2x hgx-h100 via rails:bond=2,kind=roce",
        "8x hgx-h100 via rails less n2.nic1=0.5",
    };
    struct fr_topo *t;
    struct fr_error err;

    ck_assert_msg(fr_topo_load(&t, specs[_i], &err) == FR_OK, "%s", err.text);
    compare_with_trees(t);
    fr_topo_free(t);
}
END_TEST
enum { N_SPECS = 23 };

/* Three kinds of machines, each some switches and GPUs linked at random and to random switches of
 * the network, of which there are some copies in any order. */
static void add_random_machine(struct fr_topo_builder *b, uint32_t machine, uint64_t kind,
                               const uint32_t network[], uint32_t n_network)
{
    enum { MOST = 9 };
    uint32_t vertices[MOST], n = 2, n_all;
    struct fr__rng rng;
    char name[32];

    fr__rng_init(&rng, kind, 1);
    n += (uint32_t)fr__rng_below(&rng, 3);
    n_all = n + 1 + (uint32_t)fr__rng_below(&rng, MOST - 5);
    for (uint32_t i = 0; i < n_all; i++) {
        snprintf(name, sizeof(name), "n%u.%s%u", machine, i < n ? "gpu" : "nic", i);
        vertices[i] =
            i < n ? add_gpu(b, name, machine)
                  : fr_topo_builder_vertex(b, FR_VERTEX_NIC, name, machine, FR_NONE, nowhere);
    }
    for (uint32_t i = 0; i < n_all; i++) {
        for (uint32_t k = 0; k < i; k++)
            if (fr__rng_below(&rng, 3) > 0)
                fr_topo_builder_link(b, FR_LINK_PCIE, vertices[i], vertices[k],
                                     1e9 * (double)(1 + fr__rng_below(&rng, 2)),
                                     1e-6 * (double)(1 + fr__rng_below(&rng, 2)), true, "test",
                                     nowhere);
        for (uint32_t k = 0; i >= n && k < n_network; k++)
            if (fr__rng_below(&rng, 2) > 0)
                fr_topo_builder_link(b, FR_LINK_NET, vertices[i], network[k], 1e9, 1e-6,
                                     fr__rng_below(&rng, 8) > 0, "test", nowhere);
    }
}

LOOP_TEST(routes_of_random_machines_that_are_alike_are_those_of_whole_trees, 0, 200)
{
    enum { MOST_SWITCHES = 4 };
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t network[MOST_SWITCHES], n_network, n_machines;
    struct fr__rng rng;
    struct fr_topo *t;
    char name[32];

    fr__rng_init(&rng, (uint64_t)_i, 2);
    n_network = 1 + (uint32_t)fr__rng_below(&rng, MOST_SWITCHES);
    n_machines = 2 + (uint32_t)fr__rng_below(&rng, 8);
    n_machines *= _i % 3 == 2 ? 3 : 1; /* routes are searched among a few */
    for (uint32_t i = 0; i < n_network; i++) {
        snprintf(name, sizeof(name), "switch%u", i);
        network[i] = add_switch(b, name);
    }
    for (uint32_t m = 0; m < n_machines; m++) {
        /* links of the network between those of machines, so that their order matters */
        if (n_network > 1 && m == n_machines / 2)
            for (uint32_t i = 1; i < n_network; i++)
                fr_topo_builder_link(b, FR_LINK_NET, network[0], network[i], 1e9, 1e-6, true,
                                     "test", nowhere);
        add_random_machine(b, m, (uint64_t)_i * 3 + fr__rng_below(&rng, 3), network, n_network);
    }
    if (_i % 4 == 0)
        fr_topo_builder_relays(b);
    t = finish(b);
    compare_with_trees(t);
    fr_topo_free(t);
}

/* Each machine has a link to each other one: the same parts, but for whom they lead to. */
TEST(machines_linked_to_each_other_are_not_alike)
{
    enum { MACHINES = 5 };
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t nics[MACHINES];
    struct fr_topo *t;
    char name[32];

    for (uint32_t m = 0; m < MACHINES; m++) {
        uint32_t gpu;

        snprintf(name, sizeof(name), "n%u.gpu", m);
        gpu = add_gpu(b, name, m);
        snprintf(name, sizeof(name), "n%u.nic", m);
        nics[m] = fr_topo_builder_vertex(b, FR_VERTEX_NIC, name, m, FR_NONE, nowhere);
        fr_topo_builder_link(b, FR_LINK_PCIE, gpu, nics[m], 1e9, 1e-6, true, "test", nowhere);
    }
    for (uint32_t m = 0; m < MACHINES; m++)
        for (uint32_t k = 0; k < m; k++)
            fr_topo_builder_link(b, FR_LINK_NET, nics[m], nics[k], 1e9, 1e-6, true, "test",
                                 nowhere);
    t = finish(b);
    compare_with_trees(t);
    fr_topo_free(t);
}

int main(void)
{
    TCase *c = tcase_create("all");

    add_tests(c);
    tcase_add_loop_test(c, routes_of_machines_that_are_alike_are_those_of_whole_trees, 0, N_SPECS);
    return run_case(c, "topo alike");
}
