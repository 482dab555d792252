/* tests/collectives/test_nccl_search.c - paths and graphs that NCCL's own code finds on 41 machines
 * (../shared/data/nccl), and ours. */
#include "config.h"

#include "base/error.h"
#include "collectives/nccl/from_topo.h"
#include "collectives/nccl/tuner.h"
#include "collectives/nccl/from_xml.h"
#include "tests/support/base_check.h"
#include "tests/support/nccl_case.h"

#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* false: no such file. */
static bool load(const char *system, unsigned version, bool can_peer, bool with_nets,
                 struct fr__ns *out)
{
    struct fr__arena *a = fr__arena_new();
    const struct fr__nccl_system *x = NULL;
    struct fr_error err = {.text = ""};
    char path[512];

    *out = (struct fr__ns){.version = version, .can_peer = can_peer};
    if (!nccl_xml_path(system, path, sizeof(path))) {
        fr__arena_free(a);
        return false;
    }
    ck_assert_msg(fr__nccl_xml_load(a, path, &x, &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr__ns_from_xml(out, x, &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr__ns_finish(out, with_nets, &err) == FR_OK, "%s", err.text);
    fr__arena_free(a);
    return true;
}

static unsigned version_of(const char *text)
{
    return strcmp(text, "2.21.5") == 0 ? 221 : 230;
}

static uint32_t number_of(const struct fr__ns *s, enum fr__ns_type type, unsigned dev)
{
    uint32_t i = 0;

    while (type == FR__NS_NET && i < s->count[type] && fr__ns_at(s, type, i)->dev != dev)
        i++;
    return type == FR__NS_NET ? i : dev;
}

static const struct fr__ns_path *path_of(const struct fr__ns *s, const char *from, const char *to)
{
    bool is_from_net = strncmp(from, "net", 3) == 0, is_to_net = strncmp(to, "net", 3) == 0;

    enum fr__ns_type a = is_from_net ? FR__NS_NET : FR__NS_GPU;
    enum fr__ns_type b = is_to_net ? FR__NS_NET : FR__NS_GPU;

    return fr__ns_path(s, a, number_of(s, a, (unsigned)atoi(from + 3)), b,
                       number_of(s, b, (unsigned)atoi(to + 3)));
}

TEST(kinds_and_bandwidths_of_paths_are_nccls)
{
    struct nccl_row row;
    struct fr__ns s = {.n = 0};
    char now[128] = "";
    unsigned n = 0, n_good = 0;
    FILE *f = nccl_data_open("paths.csv");
    bool is_there = false;

    while (f && nccl_row_read(f, &row)) {
        const struct fr__ns_path *p;
        char name[128];

        snprintf(name, sizeof(name), "%s %s %s", row.field[0], row.field[1], row.field[2]);
        if (strcmp(name, now) != 0) {
            fr__ns_fini(&s);
            is_there = load(row.field[1], version_of(row.field[0]), atoi(row.field[2]), true, &s);
            snprintf(now, sizeof(now), "%s", name);
        }
        if (!is_there)
            continue;
        p = path_of(&s, row.field[3], row.field[4]);
        n++;
        if (p->type == nccl_path_of(row.field[5]) &&
            fabs((double)p->bw - atof(row.field[6])) <= 1e-3 * atof(row.field[6]))
            n_good++;
        else if (n - n_good < 30)
            printf("%s: ours %u %g\n", row.line, p->type, (double)p->bw);
    }
    fr__ns_fini(&s);
    if (f) {
        fclose(f);
        printf("%u of %u paths\n", n_good, n);
        ck_assert_uint_gt(n, 4000);
        ck_assert_uint_eq(n, n_good);
    }
}

/* ---- graphs ---- */

struct system {
    char name[64];
    bool is_equal;
};

static bool same_speeds(const struct fr__nccl_graph *ours, const struct nccl_row *r)
{
    return ours->n_channels == (unsigned)atoi(r->field[6]) &&
           fabs(ours->bw_intra - atof(r->field[7])) < 1e-3 &&
           fabs(ours->bw_inter - atof(r->field[8])) < 1e-3;
}

static bool same_kinds(const struct fr__nccl_graph *ours, const struct nccl_row *r)
{
    return (int)ours->pattern == atoi(r->field[5]) &&
           ours->type_intra == nccl_path_of(r->field[10]) &&
           ours->type_inter == nccl_path_of(r->field[11]) &&
           (int)ours->same_channels == atoi(r->field[12]) &&
           (int)ours->cross_nic == atoi(r->field[13]);
}

static void note(struct system systems[], size_t *n, const char *name, bool is_equal)
{
    size_t i = 0;

    while (i < *n && strcmp(systems[i].name, name) != 0)
        i++;
    if (i == *n) {
        snprintf(systems[i].name, sizeof(systems[i].name), "%s", name);
        systems[i].is_equal = true;
        ++*n;
    }
    systems[i].is_equal &= is_equal;
}

static void print_difference(const struct nccl_row *row, const struct fr__nccl_graph *g,
                             unsigned n_channels)
{
    printf("%s: ours %d %u %g %g %u %u %d %u %u\n", row->line, (int)g->pattern, g->n_channels,
           g->bw_intra, g->bw_inter, g->type_intra, g->type_inter, g->same_channels, g->cross_nic,
           n_channels);
}

/* The search of all machines takes half a minute: without FORERUN_TESTS_WHOLE each fifth one. */
TEST(channels_and_speeds_are_nccls)
{
    enum { EVERY = 5 };
    struct system systems[64];
    size_t n_systems = 0, n_equal = 0;
    unsigned n = 0, n_speeds = 0, n_kinds = 0, n_channels = 0;
    struct nccl_row row;
    char now[128] = "";
    struct fr__nccl_comm comm = {.version = 0};
    struct fr_error err;
    FILE *f = nccl_data_open("graphs.csv");
    bool is_there = false, is_whole = getenv("FORERUN_TESTS_WHOLE") != NULL;
    unsigned n_setups = 0;

    while (f && nccl_row_read(f, &row)) {
        const struct fr__nccl_graph *g;
        char name[128];
        bool is_equal;

        snprintf(name, sizeof(name), "%s %s %u %s", row.field[0], row.field[1], row.nodes,
                 row.field[3]);
        if (strcmp(name, now) != 0) {
            struct fr__ns s = {.n = 0};

            is_there =
                (is_whole || n_setups++ % EVERY == 0) &&
                load(row.field[1], version_of(row.field[0]), atoi(row.field[3]), row.nodes > 1, &s);
            if (is_there)
                ck_assert(fr__ns_comm(&s, row.nodes, &comm, NULL, &err) == FR_OK);
            fr__ns_fini(&s);
            snprintf(now, sizeof(now), "%s", name);
        }
        if (!is_there)
            continue;
        g = strcmp(row.field[4], "ring") == 0   ? &comm.ring
            : strcmp(row.field[4], "tree") == 0 ? &comm.tree
                                                : &comm.nvls;
        is_equal = same_speeds(g, &row);
        n++;
        n_speeds += is_equal;
        n_kinds += is_equal && same_kinds(g, &row);
        n_channels += comm.n_channels == (unsigned)atoi(row.field[14]);
        if (strcmp(row.field[0], "2.30.7") == 0 && g != &comm.nvls)
            note(systems, &n_systems, row.field[1], is_equal);
        if (!is_equal || !same_kinds(g, &row))
            print_difference(&row, g, comm.n_channels);
    }
    if (!f)
        return;
    fclose(f);
    for (size_t i = 0; i < n_systems; i++)
        n_equal += systems[i].is_equal;
    printf("%u graphs: speeds of %u, kinds too of %u, channels of the communicator of %u\n", n,
           n_speeds, n_kinds, n_channels);
    printf("%zu of %zu systems\n", n_equal, n_systems);
    /* Not so: the machine that NCCL splits in two since its NICs are faster than the link between
     * its CPUs, and one of bridged pairs where 2.30 takes two channels of half the speed. */
    ck_assert_uint_ge(n_equal + 2, n_systems);
    ck_assert_uint_ge(n_systems, is_whole ? 41 : 20);
    ck_assert_uint_ge(100 * n_speeds, (is_whole ? 94 : 90) * n);
}

/* What NCCL 2.30.7 finds on such machines (graphs.csv), from our presets' links. */
TEST(our_presets_have_the_rings_of_their_machines)
{
    static const struct {
        const char *topology;
        unsigned n_channels;
        double speed;
    } cases[] = {
        {"dgx1-v100", 6, 20},
        {"dgx-a100-80g", 12, 20},
        {"hgx-h100", 12, 30},
        {"hgx-b200", 16, 45},
        {"2x dgx-a100-80g", 8, 24},
        {"2x hgx-h100", 8, 48},
        {"16x hgx-h100", 8, 48},
        {"2x hgx-h100 via rails:8x400Gbps,spine=1:1", 8, 48},
        {"4x hgx-h100 via leaf-spine:400Gbps", 8, 48},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_error err = {.text = ""};
        struct fr_topo *t = NULL;
        struct fr__nccl_comm c;
        uint32_t devices[128];

        ck_assert_msg(fr_topo_load(&t, cases[i].topology, &err) == FR_OK, "%s", err.text);
        for (uint32_t d = 0; d < t->n_gpus; d++)
            devices[d] = d;
        ck_assert_msg(fr__nccl_comm_of(t, devices, (uint32_t)t->n_gpus, 230, &c, NULL, &err) ==
                          FR_OK,
                      "%s", err.text);
        ck_assert_msg(c.ring.n_channels == cases[i].n_channels &&
                          fabs(c.ring.bw_intra - cases[i].speed) < 1e-3,
                      "%s: %u x %g", cases[i].topology, c.ring.n_channels, c.ring.bw_intra);
        fr_topo_free(t);
    }
}

static struct fr__nccl_comm comm_of(const char *topology)
{
    struct fr_error err = {.text = ""};
    struct fr_topo *t = NULL;
    struct fr__nccl_comm c;
    uint32_t devices[128];

    ck_assert_msg(fr_topo_load(&t, topology, &err) == FR_OK, "%s", err.text);
    ck_assert_uint_le(t->n_gpus, 128);
    for (uint32_t d = 0; d < t->n_gpus; d++)
        devices[d] = d;
    ck_assert_msg(fr__nccl_comm_of(t, devices, (uint32_t)t->n_gpus, 230, &c, NULL, &err) == FR_OK,
                  "%s", err.text);
    fr_topo_free(t);
    return c;
}

/* A100s have no NVLS, and fewer NVLinks than H100s. What both can do does not
 * depend on which machine comes first. */
TEST(unlike_machines_take_the_least_of_all)
{
    struct fr__nccl_comm a = comm_of("2x hgx-h100 + 2x dgx-a100-80g via rails:200Gbps");
    struct fr__nccl_comm b = comm_of("2x dgx-a100-80g + 2x hgx-h100 via rails:200Gbps");
    struct fr__nccl_comm h = comm_of("4x hgx-h100 via rails:200Gbps");
    struct fr__nccl_comm one = comm_of("4x hgx-h100 via rails:200Gbps less n3.nic0..3=0");

    ck_assert_uint_gt(h.nvls.n_channels, 0);
    ck_assert_uint_eq(a.nvls.n_channels, 0);
    ck_assert_uint_eq(a.min_sm, 80);
    ck_assert_uint_eq(a.max_sm, 90);
    ck_assert_uint_eq(b.min_sm, 80);
    ck_assert_uint_eq(b.max_sm, 90);
    ck_assert_uint_eq(a.n_channels, b.n_channels);
    ck_assert_uint_eq(a.ring.n_channels, b.ring.n_channels);
    ck_assert_double_eq(a.ring.bw_inter, b.ring.bw_inter);
    ck_assert_double_eq(a.tree.bw_intra, b.tree.bw_intra);
    ck_assert_int_eq(a.ring.type_inter, b.ring.type_inter);
    /* the last machine has half of its NICs */
    ck_assert_double_lt(one.ring.n_channels * one.ring.bw_inter,
                        h.ring.n_channels * h.ring.bw_inter);
}

/* NCCL_MAX_NVLS_ARITY; 18 NVLinks of 40.1 GB/s carry 32 times 20. */
TEST(a_rack_has_no_more_heads_of_nvls_than_nccl_knows)
{
    struct fr__nccl_comm c = comm_of("gb200-nvl72");

    ck_assert_uint_eq(c.n_nodes, 1);
    ck_assert_uint_eq(c.nvls.n_channels, 32);
    ck_assert_double_eq_tol(c.nvls.bw_intra, 20, 1e-6);
}

static double simple_us(const struct fr__nccl_comm *c, enum fr__nccl_algorithm a, double bytes)
{
    struct fr__nccl_model m;

    fr__nccl_model_make(&m, c);
    return fr__nccl_time_us(&m, FR_ALL_REDUCE, a, FR__NCCL_SIMPLE, bytes);
}

/* Two machines of two GPUs on PCIe of 24 GB/s each. A balanced tree's GPU sends to the other at the
 * speed of a channel and to the NIC at half of it. A NIC of 100 Gbit/s holds the search at 12 GB/s;
 * its second pass raises what is inside to 18, as 18 + 12 / 2 = 24. One of 200 Gbit/s lets both be
 * 15 (15 + 15 / 2 = 22.5), the next below 16. The tuner looks at the inside where there are two
 * machines, and so thinks a tree slower behind the faster NIC. Of 246 824 bytes:
 *
 *   Tree, 44.4 us and 0.92 x speed / 2 x 0.5:   44.4 + 246.824 / 4.14  = 104.0 us at 18,
 *                                               44.4 + 246.824 / 3.45  = 115.9 us at 15
 *   Ring, 1.4 x 60.4 us and 2 / 3 of its speed:  84.56 + 246.824 / 8   = 115.4 us at 12,
 *                                                84.56 + 246.824 / 16  = 100.0 us at 24
 *
 * It takes the tree at 100 Gbit/s and the ring at 200, whose latency is the longer one. */
TEST(a_faster_nic_may_turn_the_tuner_from_a_tree_to_a_ring)
{
    struct fr__nccl_comm slow = comm_of("2x box:2xa100-pcie-40gb via ib:100Gbps"),
                         fast = comm_of("2x box:2xa100-pcie-40gb via ib:200Gbps");
    double bytes = 246824;

    ck_assert_double_eq_tol(slow.tree.bw_intra, 18, 1e-6);
    ck_assert_double_eq_tol(fast.tree.bw_intra, 15, 1e-6);
    ck_assert_double_eq_tol(slow.ring.bw_intra, 12, 1e-6);
    ck_assert_double_eq_tol(fast.ring.bw_intra, 24, 1e-6);
    ck_assert_double_eq_tol(simple_us(&slow, FR__NCCL_ALGO_TREE, bytes), 104.0, 0.05);
    ck_assert_double_eq_tol(simple_us(&slow, FR__NCCL_ALGO_RING, bytes), 115.4, 0.05);
    ck_assert_double_eq_tol(simple_us(&fast, FR__NCCL_ALGO_TREE, bytes), 115.9, 0.05);
    ck_assert_double_eq_tol(simple_us(&fast, FR__NCCL_ALGO_RING, bytes), 100.0, 0.05);
}

static void *search_rack(void *user)
{
    struct fr_error err = {.text = ""};
    struct fr_topo *t = NULL;
    struct fr__nccl_comm c;
    uint32_t devices[128];

    (void)user;
    ck_assert_msg(fr_topo_load(&t, "gb200-nvl72", &err) == FR_OK, "%s", err.text);
    for (uint32_t d = 0; d < t->n_gpus; d++)
        devices[d] = d;
    ck_assert_msg(fr__nccl_comm_of(t, devices, (uint32_t)t->n_gpus, 230, &c, NULL, &err) == FR_OK,
                  "%s", err.text);
    ck_assert_uint_gt(c.ring.n_channels, 1);
    fr_topo_free(t);
    return NULL;
}

/* It is as deep as GPUs times channels, here more than a thousand calls; a thread may have no more
 * than this. With its candidates on the stack a search took 3 KB a call. */
TEST(a_search_of_a_rack_needs_less_than_two_megabytes_of_stack)
{
    pthread_attr_t attr;
    pthread_t thread;

    ck_assert_int_eq(pthread_attr_init(&attr), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&attr, 2 << 20), 0);
    ck_assert_int_eq(pthread_create(&thread, &attr, search_rack, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
}

int main(void)
{
    TCase *c = tcase_create("nccl_search");

    tcase_set_timeout(c, 120);
    add_tests(c);
    return run_case(c, "sim/nccl_search");
}
