/* Fabrics in one line: which switches and links they make, and how routes go over them. */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/topo_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double link_Bps(const struct fr_topo *t, const char *name)
{
    const struct fr_link *l = topo_case_link(t, name);

    ck_assert_msg(l != NULL, "no link %s", name);
    return l->bw_Bps;
}

static size_t count_switches(const struct fr_topo *t)
{
    size_t n = 0;

    for (size_t v = 0; v < t->n_vertices; v++)
        n += t->vertices[v].kind == FR_VERTEX_SWITCH;
    return n;
}

/* What lies on the way between two GPUs. */
struct way {
    size_t n, n_net, n_relays; /* links, those of the network, GPUs in between */
    double bw_Bps, latency_s;
    bool has_spine;
};

static struct way find_way(struct fr_router *r, const struct fr_topo *t, uint32_t src, uint32_t dst)
{
    struct way w = {.bw_Bps = INFINITY};
    const uint32_t *links;
    struct fr_error err;

    ck_assert_msg(fr_router_path(r, src, dst, &links, &w.n, &err) == FR_OK, "%s", err.text);
    for (size_t i = 0; i < w.n; i++) {
        const struct fr_link *l = &t->links[links[i]];
        const struct fr_vertex *v = &t->vertices[l->dst];

        w.n_net += l->kind == FR_LINK_NET;
        w.n_relays += i + 1 < w.n && v->kind == FR_VERTEX_GPU;
        w.has_spine |= strstr(v->name, "spine") != NULL;
        w.bw_Bps = fmin(w.bw_Bps, l->bw_Bps);
        w.latency_s += l->latency_s;
    }
    return w;
}

static struct fr_router *new_router(const struct fr_topo *t)
{
    struct fr_router *r;
    struct fr_error err;

    ck_assert(fr_router_new(&r, t, &err) == FR_OK);
    return r;
}

static size_t gpus_each(const struct fr_topo *t)
{
    return t->n_gpus / t->n_machines;
}

/* Machines of several makes; the last two have no PCIe to NICs, or no NVLink between all GPUs. */
static const char *const makes[] = {"hgx-h100", "dgx-a100-80g", "hgx-b200", "gh200-quad",
                                    "dgx1-v100"};
enum { N_MAKES = sizeof(makes) / sizeof(makes[0]) };

LOOP_TEST(traffic_along_a_rail_takes_the_same_way_as_over_one_switch, 0, N_MAKES)
{
    const char *const rails[] = {"rails", "rails:spine=8:1", "rails:spine,spines=4"};
    struct fr_topo *flat, *t;
    struct fr_router *ra, *rb;
    char spec[96];

    snprintf(spec, sizeof(spec), "4x %s", makes[_i]);
    flat = topo_case_load(spec);
    ra = new_router(flat);
    for (size_t k = 0; k < 3; k++) {
        snprintf(spec, sizeof(spec), "4x %s via %s", makes[_i], rails[k]);
        t = topo_case_load(spec);
        rb = new_router(t);
        for (uint32_t m = 1; m < 4; m++)
            for (uint32_t g = 0; g < gpus_each(t); g++) {
                uint32_t dst = m * (uint32_t)gpus_each(t) + g;
                struct way a = find_way(ra, flat, g, dst), b = find_way(rb, t, g, dst);

                ck_assert_uint_eq(a.n, b.n);
                ck_assert_uint_eq(b.n_net, 2);
                ck_assert_double_eq(a.bw_Bps, b.bw_Bps);
                ck_assert(!b.has_spine);
            }
        fr_router_free(rb);
        fr_topo_free(t);
    }
    fr_router_free(ra);
    fr_topo_free(flat);
}

LOOP_TEST(rails_without_a_spine_join_all_gpus_by_relays, 0, N_MAKES)
{
    struct fr_topo *t;
    struct fr_router *r;
    char spec[96];
    size_t n_relayed = 0;

    snprintf(spec, sizeof(spec), "3x %s via rails", makes[_i]);
    t = topo_case_load(spec);
    r = new_router(t);
    ck_assert(t->has_relays);
    for (uint32_t s = 0; s < t->n_gpus; s++)
        for (uint32_t d = 0; d < t->n_gpus; d++) {
            bool is_inside = t->devices[s].machine == t->devices[d].machine;
            struct way w;

            if (s == d)
                continue;
            w = find_way(r, t, s, d);
            ck_assert_uint_eq(w.n_net, is_inside ? 0 : 2);
            ck_assert_uint_le(w.n_relays, is_inside ? 0 : 1);
            n_relayed += w.n_relays;
        }
    ck_assert_uint_gt(n_relayed, 0);
    fr_router_free(r);
    fr_topo_free(t);
}

TEST(without_rails_no_gpu_relays)
{
    struct fr_topo *t = topo_case_load("4x dgx1-v100 via leaf-spine:100Gbps,machines=2");
    struct fr_router *r = new_router(t);

    ck_assert(!t->has_relays);
    for (uint32_t d = 1; d < t->n_gpus; d++)
        ck_assert_uint_eq(find_way(r, t, 0, d).n_relays, 0);
    fr_router_free(r);
    fr_topo_free(t);
}

/* 16 NICs of 50 GB/s on a leaf; 2:1 leaves 400 GB/s up, over 4 spines. Over 8 cores at 4:1: a
 * pod's spine has 2 leaves of 100 GB/s below, 200 / 4 / 8 to each core. */
TEST(uplinks_are_as_wide_as_the_oversubscription_leaves)
{
    struct fr_topo *t =
        topo_case_load("8x hgx-h100 via leaf-spine:400Gbps,machines=2,spines=4,over=2:1");

    ck_assert_uint_eq(count_switches(t), 4 + 4);
    ck_assert_double_eq(link_Bps(t, "net.leaf3>net.spine2"), 100e9);
    ck_assert_double_eq(link_Bps(t, "n7.nic7>net.leaf3"), 50e9);
    fr_topo_free(t);
    t = topo_case_load("8x hgx-h100 via fat-tree:400Gbps,machines=2,leaves=2,spines=4,cores=8,"
                       "over=2:1,core-over=4:1");
    ck_assert_uint_eq(count_switches(t), 4 + 2 * 4 + 8);
    ck_assert_double_eq(link_Bps(t, "net.leaf2>net.pod1-spine3"), 100e9);
    ck_assert_double_eq(link_Bps(t, "net.pod1-spine3>net.core7"), 200e9 / 4 / 8);
    ck_assert_uint_eq(fr_topo_check(t, topo_case_print, NULL), 0);
    fr_topo_free(t);
    t = topo_case_load("2x hgx-h100 via rails:8x200Gbps,spine=2:1");
    ck_assert_uint_eq(count_switches(t), 8 + 1);
    ck_assert_double_eq(link_Bps(t, "n1.nic3>net.rail3"), 25e9);
    ck_assert_double_eq(link_Bps(t, "net.rail3>net.spine"), 25e9); /* 2 x 25 / 2 */
    fr_topo_free(t);
}

/* Links between the switches of machines a and b. */
static size_t hops(struct fr_router *r, const struct fr_topo *t, uint32_t a, uint32_t b)
{
    uint32_t each = (uint32_t)gpus_each(t);

    return find_way(r, t, a * each, b * each).n_net - 2; /* to the first switch, from the last */
}

static size_t around(uint32_t a, uint32_t b, uint32_t n)
{
    uint32_t d = a > b ? a - b : b - a;

    return d < n - d ? d : n - d;
}

/* Manhattan distance, on a torus the shorter way around. */
TEST(tori_and_meshes_route_by_distance)
{
    struct fr_topo *torus = topo_case_load("24x gh200-quad via torus:dims=4x3x2");
    struct fr_topo *mesh = topo_case_load("24x gh200-quad via mesh:dims=4x3x2");
    struct fr_router *rt = new_router(torus), *rm = new_router(mesh);

    for (uint32_t a = 0; a < 24; a++)
        for (uint32_t b = 0; b < 24; b++) {
            uint32_t x[2] = {a % 4, b % 4}, y[2] = {a / 4 % 3, b / 4 % 3}, z[2] = {a / 12, b / 12};
            size_t far = (size_t)abs((int)x[0] - (int)x[1]) + (size_t)abs((int)y[0] - (int)y[1]) +
                         (z[0] != z[1]);

            if (a == b)
                continue;
            ck_assert_uint_eq(hops(rt, torus, a, b),
                              around(x[0], x[1], 4) + around(y[0], y[1], 3) + (z[0] != z[1]));
            ck_assert_uint_eq(hops(rm, mesh, a, b), far);
        }
    fr_router_free(rt);
    fr_router_free(rm);
    fr_topo_free(torus);
    fr_topo_free(mesh);
}

/* Kim and others, ISCA 2008: at most one link in each group and one between them. */
TEST(a_dragonfly_has_one_link_between_any_two_groups)
{
    struct fr_topo *t = topo_case_load("24x gh200-quad via dragonfly:machines=2,routers=3");
    struct fr_router *r = new_router(t);

    ck_assert_uint_eq(count_switches(t), 12); /* 4 groups */
    for (uint32_t a = 0; a < 24; a++)
        for (uint32_t b = 0; b < 24; b++) {
            bool is_group = a / 6 == b / 6;

            if (a != b)
                ck_assert_uint_le(hops(r, t, a, b), a / 2 == b / 2 ? 0 : is_group ? 1 : 3);
        }
    ck_assert_uint_eq(fr_topo_check(t, topo_case_print, NULL), 0);
    fr_router_free(r);
    fr_topo_free(t);
}

TEST(rings_and_full_meshes_join_neighbours_and_all)
{
    struct fr_topo *t = topo_case_load("6x gh200-quad via ring:link=100Gbps");

    ck_assert_double_eq(link_Bps(t, "net.router5>net.router0"), 12.5e9);
    ck_assert_ptr_null(topo_case_link(t, "net.router0>net.router2"));
    fr_topo_free(t);
    t = topo_case_load("5x gh200-quad via full");
    ck_assert_double_eq(link_Bps(t, "net.router0>net.router4"), 4 * 25e9 / 4);
    fr_topo_free(t);
}

TEST(bonded_nics_are_one_link_of_their_sum)
{
    struct fr_topo *t = topo_case_load("2x hgx-h100 + 2x dgx1-v100 via rails:bond=2,kind=roce");

    ck_assert_double_eq(link_Bps(t, "n0.nic2>net.rail1"), 100e9);
    ck_assert_ptr_null(topo_case_link(t, "n0.nic3>net.rail1"));
    ck_assert_double_eq(link_Bps(t, "n3.nic2>net.rail1"), 25e9); /* its own 2 x 100 Gbit/s */
    fr_topo_free(t);
    /* four NICs of a machine in bonds of three: three, and one by itself */
    t = topo_case_load("2x dgx1-v100 via rails:100Gbps,bond=3");
    ck_assert_double_eq(link_Bps(t, "n0.nic0>net.rail0"), 37.5e9);
    ck_assert_double_eq(link_Bps(t, "n0.nic3>net.rail1"), 12.5e9);
    fr_topo_free(t);
}

/* The slot of an adapter is as wide as its ports together, so a copy of the host gets all of it. */
TEST(a_bond_is_not_held_back_by_the_slot_of_one_nic)
{
    struct fr_topo *one = topo_case_load("2x gh200-quad via rails:200Gbps");
    struct fr_topo *t = topo_case_load("2x gh200-quad via rails:200Gbps,bond=4");

    for (size_t i = 0; i < one->n_links; i++) {
        const struct fr_link *l = &one->links[i], *now;
        const char *from = one->vertices[l->src].name, *to = one->vertices[l->dst].name;
        bool is_slot = l->kind == FR_LINK_PCIE && (strstr(from, ".nic0") || strstr(to, ".nic0"));
        char name[128];

        snprintf(name, sizeof(name), "%s>%s", from, to);
        now = topo_case_link(t, name);
        if (now && l->kind != FR_LINK_NET)
            ck_assert_double_eq_tol(now->bw_Bps, is_slot ? 4 * l->bw_Bps : l->bw_Bps, 1);
    }
    fr_topo_free(one);
    fr_topo_free(t);
}

/* What goes over each spine of a leaf, in flows of GPU 0 .. 15 to 16 .. 31 (machines 0, 1 to 2,
 * 3). */
static size_t flows_on_spine(struct fr_router *r, const struct fr_topo *t, const char *name)
{
    size_t n = 0;

    for (uint32_t g = 0; g < 16; g++) {
        const uint32_t *links;
        struct fr_error err;
        size_t n_links;

        ck_assert(fr_router_path(r, g, 16 + g, &links, &n_links, &err) == FR_OK);
        for (size_t i = 0; i < n_links; i++)
            n += strcmp(t->vertices[t->links[links[i]].dst].name, name) == 0;
    }
    return n;
}

/* 16 flows over 4 spines: by number 4 each; by hash they collide somewhere, the same in every run;
 * adaptive routing has one switch with the four spines' links in sum. */
TEST(equal_ways_are_taken_by_number_by_hash_or_all_at_once)
{
    struct fr_topo *t = topo_case_load("4x hgx-h100 via leaf-spine:machines=2,spines=4");
    struct fr_topo *h =
        topo_case_load("4x hgx-h100 via leaf-spine:machines=2,spines=4,routing=hash");
    struct fr_topo *a =
        topo_case_load("4x hgx-h100 via leaf-spine:machines=2,spines=4,routing=adaptive");
    struct fr_router *rt = new_router(t), *rh = new_router(h), *again = new_router(h);
    size_t most = 0, sum = 0;

    for (unsigned s = 0; s < 4; s++) {
        char name[32];
        size_t n;

        snprintf(name, sizeof(name), "net.spine%u", s);
        ck_assert_uint_eq(flows_on_spine(rt, t, name), 4);
        n = flows_on_spine(rh, h, name);
        ck_assert_uint_eq(n, flows_on_spine(again, h, name));
        most = n > most ? n : most;
        sum += n;
    }
    ck_assert_uint_eq(sum, 16);
    ck_assert_uint_gt(most, 4);
    ck_assert_double_eq(link_Bps(a, "net.leaf0>net.spine0"),
                        4 * link_Bps(t, "net.leaf0>net.spine0"));
    ck_assert_ptr_null(topo_case_link(a, "net.leaf0>net.spine1"));
    fr_router_free(rt);
    fr_router_free(rh);
    fr_router_free(again);
    fr_topo_free(t);
    fr_topo_free(h);
    fr_topo_free(a);
}

TEST(links_carry_less_or_nothing_where_the_line_says_so)
{
    struct fr_topo *t = topo_case_load("2x hgx-h100 via rails:spine less "
                                       "n0.nic1=0.5,net.rail3>net.spine=0.25,n1.nic7=0");
    struct fr_router *r = new_router(t);

    ck_assert_double_eq(link_Bps(t, "n0.nic1>net.rail1"), 25e9);
    ck_assert_double_eq(link_Bps(t, "net.rail1>n0.nic1"), 25e9);
    ck_assert_double_eq(link_Bps(t, "net.spine>net.rail3"), 25e9);
    ck_assert_ptr_null(topo_case_link(t, "n1.nic7>net.rail7"));
    ck_assert_uint_ge(find_way(r, t, 7, 15).n_net, 2); /* by another rail */
    fr_router_free(r);
    fr_topo_free(t);
}

static double link_latency_s(const struct fr_topo *t, const char *name)
{
    return topo_case_link(t, name)->latency_s;
}

/* 7/10 of the wire, and 4 GB/s at most; the kernel's 15 us at each card, once. */
TEST(sockets_carry_less_and_later)
{
    struct fr_error err = {.text = ""};
    struct fr_topo *ib = topo_case_load("2x dgx1-v100 via ib:100Gbps");
    struct fr_topo *fast = topo_case_load("2x dgx1-v100 via ib:100Gbps over sockets");
    struct fr_topo *slow = topo_case_load("2x dgx1-v100 via eth:10Gbps over sockets");
    struct fr_topo *eth = topo_case_load("2x dgx1-v100 via eth:10Gbps");
    struct fr_topo *less = NULL;
    static const char nic[] = "n0.nic0>net.switch";

    ck_assert_double_eq(link_Bps(fast, nic), 4e9);
    ck_assert_double_eq_tol(link_Bps(slow, nic), 0.7 * 1.25e9, 1e-3);
    ck_assert_double_eq_tol(link_latency_s(fast, nic), link_latency_s(ib, nic) + 15e-6, 1e-12);
    ck_assert_double_eq(link_latency_s(slow, nic), link_latency_s(eth, nic));
    ck_assert_double_eq(link_Bps(fast, "n0.gpu0>n0.gpu1"), link_Bps(ib, "n0.gpu0>n0.gpu1"));
    ck_assert_str_eq(fast->name, "2x dgx1-v100 via ib:100Gbps over sockets");
    ck_assert_int_eq(fr_topo_load_less(&less, fast->name, "n0.nic0=0.5", false, &err), FR_OK);
    ck_assert_str_eq(less->name, "2x dgx1-v100 via ib:100Gbps less n0.nic0=0.5 over sockets");
    ck_assert_double_eq(link_Bps(less, "n1.nic0>net.switch"), 4e9);
    fr_topo_free(less);
    fr_topo_free(eth);
    fr_topo_free(slow);
    fr_topo_free(fast);
    fr_topo_free(ib);
}

/* What people type: the same cluster, whatever the blanks and the way to write a ratio. */
TEST(blanks_and_ratios_may_be_written_in_several_ways)
{
    static const char *const lines[][2] = {
        {"4x hgx-h100 via rails:8x400Gbps,spine=3:2 less n0.nic1=0.5,n1.nic7=0",
         "4 x hgx-h100 via rails: 8x400Gbps , spine=1.5:1 less n0.nic1=0.5, n1.nic7=0"},
        {"4x hgx-h100 via rails:spine=2:1", "4xhgx-h100 via rails,spine=4:2"},
        {"4x dgx1-v100 via leaf-spine:machines=2,over=0.5:1",
         "4X dgx1-v100 via leaf-spine,machines=2,over=1:2"},
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct fr_topo *one = topo_case_load(lines[i][0]), *other = topo_case_load(lines[i][1]);

        ck_assert_uint_eq(one->n_links, other->n_links);
        for (size_t k = 0; k < one->n_links; k++)
            ck_assert_double_eq(one->links[k].bw_Bps, other->links[k].bw_Bps);
        fr_topo_free(one);
        fr_topo_free(other);
    }
}

TEST(fabrics_that_mean_nothing_are_refused)
{
    static const struct topo_case_refusal cases[] = {
        {"2x hgx-h100 via rail:8x400Gbps", FR_EPARSE, "the network is of kind 'rail'"},
        {"2x hgx-h100 via dragonfli:400Gbps", FR_EPARSE, "did you mean 'dragonfly'?"},
        {"2x hgx-h100 via ib:400Gbps,bond=2", FR_EPARSE, "like leaf-spine:400Gbps,bond=2"},
        {"2x hgx-h100 via rails:9x400Gbps", FR_EUSAGE, "the NICs of a machine are 8 at most"},
        {"2x hgx-h100 via rails:5x400Gbps,bond=2", FR_EUSAGE, "once bonded, of a machine are 4"},
        {"2x hgx-h100 via rails:bond=9", FR_EUSAGE, "the NICs of machine n0, which are 8"},
        {"2x hgx-h100 via rails:400Gbps,400Gbps", FR_EPARSE, "rate appears twice"},
        {"2x hgx-h100 via torus:dims=2x", FR_EPARSE, "end with an x"},
        {"2x hgx-h100 via rails,", FR_EPARSE, "nothing behind 'rails,'"},
        {"2x hgx-h100 via rails:spine=1:0", FR_ERANGE, "'spine' of the fabric"},
        {"2x hgx-h100 via rails:spine=1000:0.5", FR_ERANGE, "from 1:1000 to 1000:1"},
        {"dgx1-v100 less gpu0>gpu1=0.5", FR_ENOENT, "did you mean 'n0.gpu0>n0.gpu1'?"},
        {"2x hgx-h100 via rails:spin=2:1", FR_EPARSE,
         "'spin' is no option of rails, did you mean 'spine'?"},
        {"2x hgx-h100 via rails:8x400", FR_EPARSE, "the network's rate is \"400\""},
        {"2x hgx-h100 via rails:0x400Gbps", FR_ERANGE, "the number of rails"},
        {"2x hgx-h100 via rails:spine=2", FR_EPARSE, "a ratio like 2:1 expected"},
        {"2x hgx-h100 via rails:spine,spine", FR_EPARSE, "'spine' of the fabric appears twice"},
        {"2x hgx-h100 via rails:", FR_EPARSE, "nothing behind 'rails:'"},
        {"2x hgx-h100 via torus:dims=3x3", FR_EUSAGE, "make 9 machines, and there are 2"},
        {"2x hgx-h100 via torus", FR_EPARSE, "torus lacks dims=..."},
        {"2x hgx-h100 via rails:routing=hsh", FR_EUSAGE, "did you mean 'hash'?"},
        {"2x hgx-h100 via ring:routing=hash", FR_EPARSE, "'routing' is no option of ring"},
        {"2x hgx-h100 via torus:8x400Gbps,dims=2", FR_EPARSE, "stands with rails alone"},
        {"2x hgx-h100 via leaf-spine:machines=1000000000", FR_ERANGE, "'machines' of the fabric"},
        {"2x hgx-h100 via rails less n9.nic0=0.5", FR_ENOENT, "no vertex or link 'n9.nic0'"},
        {"2x hgx-h100 via rails less n0.nic0=2", FR_ERANGE, "what is left of a link"},
        {"2x hgx-h100 via rails less n0.gpu0=0.5", FR_EUSAGE, "has no link of the network"},
        {"2x hgx-h100 via rails less n0.nic0", FR_EPARSE, "links like n0.nic1=0.5 expected"},
        {"2x hgx-h100 via rails less", FR_EPARSE, "nothing after 'less'"},
        {"2x hgx-h100 via rails over", FR_EPARSE, "is no 'sockets'"},
        {"2x hgx-h100 via rails over verbs", FR_EPARSE, "is no 'sockets'"},
        {"2x hgx-h100 via rails over sockets now", FR_EPARSE, "'now' in the topology"},
    };

    topo_case_refuse(cases, sizeof(cases) / sizeof(cases[0]));
}

int main(void)
{
    TCase *tc = tcase_create("fabric");

    add_tests(tc);
    return run_case(tc, "topo/fabric");
}
