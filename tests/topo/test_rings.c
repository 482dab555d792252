/* tests/topo/test_rings.c - rings on machines whose best rings are known. */
#include "config.h"

#include "topo/routes/router.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RINGS = 16, MAX_N = 64 };

/* What one V100 NVLink carries in the preset: 25 GB/s x 0.96, see topo/cables/cables.yaml. */
static const double NVLINK_Bps = 24e9;

struct rings {
    struct fr_topo *topo;
    struct fr_router *router;
    size_t n, n_rings;
    bool is_relayed, *is_member; /* [n_devices] */
    uint32_t order[MAX_RINGS * MAX_N];
    double share_frac[MAX_RINGS];
    double total_Bps; /* of all rings at their shares, found by adding up the links' loads */
};

/* Every ring visits every device once. */
static void expect_tours(const struct rings *x, const uint32_t devices[])
{
    double sum = 0;

    for (size_t r = 0; r < x->n_rings; r++) {
        sum += x->share_frac[r];
        for (size_t i = 0; i < x->n; i++) {
            size_t n_seen = 0;

            for (size_t k = 0; k < x->n; k++)
                n_seen += x->order[r * x->n + k] == devices[i];
            ck_assert_uint_eq(n_seen, 1);
        }
    }
    ck_assert_double_eq_tol(sum, 1, 1e-12);
}

static void load_route(const struct rings *x, uint32_t src, uint32_t dst, bool may_relay,
                       double share, double load[])
{
    const uint32_t *links;
    uint32_t via = FR_NONE;
    struct fr_error err;
    size_t n_links;

    ck_assert_int_eq(fr_router_path(x->router, src, dst, &links, &n_links, &err), FR_OK);
    if (may_relay)
        via = fr__router_relay(x->router, src, dst, links, n_links, x->is_member);
    if (via != FR_NONE) {
        load_route(x, src, via, false, share, load);
        load_route(x, via, dst, false, share, load);
        return;
    }
    for (size_t k = 0; k < n_links; k++)
        load[links[k]] += share;
}

/* One byte a second over all rings loads each link so much; the busiest link bounds the total. */
static double measure(const struct rings *x)
{
    double *load = calloc(x->topo->n_links, sizeof(*load)), worst = 0;

    ck_assert_ptr_nonnull(load);
    for (size_t r = 0; r < x->n_rings; r++)
        for (size_t i = 0; i < x->n; i++)
            load_route(x, x->order[r * x->n + i], x->order[r * x->n + (i + 1) % x->n],
                       x->is_relayed, x->share_frac[r], load);
    for (size_t l = 0; l < x->topo->n_links; l++)
        if (load[l] / x->topo->links[l].bw_Bps > worst)
            worst = load[l] / x->topo->links[l].bw_Bps;
    free(load);
    return 1 / worst;
}

static struct rings *find(const char *spec, size_t n)
{
    struct rings *x = calloc(1, sizeof(*x));
    uint32_t devices[MAX_N];
    struct fr_error err;

    ck_assert_ptr_nonnull(x);
    x->n = n;
    ck_assert_msg(fr_topo_load(&x->topo, spec, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(fr_router_new(&x->router, x->topo, &err), FR_OK);
    ck_assert_int_eq(fr_topo_select(x->topo, n, false, devices, &err), FR_OK);
    x->is_member = calloc(x->topo->n_devices, sizeof(*x->is_member));
    ck_assert_ptr_nonnull(x->is_member);
    for (size_t i = 0; i < n; i++)
        x->is_member[devices[i]] = true;
    ck_assert_msg(fr__router_rings(x->router, devices, n, MAX_RINGS, x->order, x->share_frac,
                                   &x->n_rings, &x->is_relayed, &err) == FR_OK,
                  "%s", err.text);
    if (n > 1) {
        expect_tours(x, devices);
        x->total_Bps = measure(x);
    }
    return x;
}

static void drop(struct rings *x)
{
    fr_router_free(x->router);
    fr_topo_free(x->topo);
    free(x->is_member);
    free(x);
}

/* NVLink pairs of the DGX-1 with two links: 0-3 0-4 1-2 1-5 2-3 4-7 5-6 6-7: each GPU has two, so
 * they close into one ring, 0-3-2-1-5-6-7-4. With one link: 0-1 0-2 1-3 2-6 3-7 4-5 4-6 5-7, again
 * one ring, 0-1-3-7-5-4-6-2. Each ring runs both ways: 2 x 2 + 2 x 1 links' worth, six NVLinks a
 * GPU, all busy. */
TEST(eight_gpus_of_a_dgx1_use_all_six_nvlinks)
{
    static const uint32_t doubled[8] = {0, 3, 2, 1, 5, 6, 7, 4};
    static const uint32_t single[8] = {0, 1, 3, 7, 5, 4, 6, 2};
    struct rings *x = find("dgx1-v100", 8);

    ck_assert_uint_eq(x->n_rings, 4);
    for (size_t r = 0; r < 4; r++) {
        const uint32_t *want = r < 2 ? doubled : single;
        const uint32_t *got = x->order + r * 8;
        bool is_forward = got[1] == want[1];

        ck_assert_uint_eq(got[0], 0);
        for (size_t i = 0; i < 8; i++)
            ck_assert_uint_eq(got[i], want[is_forward ? i : (8 - i) % 8]);
        ck_assert_double_eq_tol(x->share_frac[r], r < 2 ? 1.0 / 3 : 1.0 / 6, 1e-9);
    }
    ck_assert_uint_ne(x->order[1], x->order[8 + 1]); /* the same ring both ways */
    ck_assert_double_eq_tol(x->total_Bps, 6 * NVLINK_Bps, 1);
    drop(x);
}

/* How many NVLinks' worth the first n GPUs of a DGX-1 have in rings:
 *   2  0-1 has one link: one ring there and back
 *   3  0-1 0-2 single, 1-2 double: one ring, limited by the single links, both ways
 *   4  two rings (0-1-2-3 and 0-2-1-3), both ways
 *   6  4-5 is single and 4 has only 0 and 5: one ring, both ways
 *   7  4 has 0 (double), 5 and 6: two rings, both ways
 *   8  six, see above
 * vTrain measured all-reduce on V100s at 22.6, 45.5, 86.7, 46.3, 88.4 and 137.7 GB/s for these: 1,
 * 2, 4, 2, 4 and 6 times 22 to 23. */
LOOP_TEST(subsets_of_a_dgx1_find_as_many_rings_as_were_measured, 0, 6)
{
    static const struct {
        size_t n;
        double links;
    } rows[] = {{2, 1}, {3, 2}, {4, 4}, {6, 2}, {7, 4}, {8, 6}};
    struct rings *x = find("dgx1-v100", rows[_i].n);

    ck_assert_double_eq_tol(x->total_Bps, rows[_i].links * NVLINK_Bps, 1);
    drop(x);
}

/* GPU 4 has NVLink to 0 alone among 0..4, two of them, and 0 has two to 3. So a ring 4-0-...-3 ends
 * with 3-(0)-4, which no other edge needs in that direction, and it runs both ways. vTrain measured
 * 37.1 GB/s; PCIe between the sockets carries 6. */
TEST(five_gpus_of_a_dgx1_send_through_the_gpu_between)
{
    struct rings *x = find("dgx1-v100", 5);

    ck_assert(x->is_relayed);
    ck_assert_double_eq_tol(x->total_Bps, 2 * NVLINK_Bps, 1);
    drop(x);
}

/* GPUs 0 and 5 have NVLinks to 1 and to 4, but NCCL sends through no GPU outside of the group. Six
 * GPUs have rings of NVLinks alone. */
TEST(no_gpu_stands_between_where_none_may_or_need_be)
{
    struct rings *x = find("dgx1-v100", 6);
    const uint32_t *links, pair[] = {0, 5};
    bool is_relayed, is_member[8] = {[0] = true, [5] = true};
    struct fr_error err;
    size_t n_links;

    ck_assert(!x->is_relayed);
    ck_assert_int_eq(fr_router_path(x->router, 0, 5, &links, &n_links, &err), FR_OK);
    ck_assert_uint_eq(fr__router_relay(x->router, 0, 5, links, n_links, is_member), FR_NONE);
    is_member[4] = true;
    ck_assert_uint_eq(fr__router_relay(x->router, 0, 5, links, n_links, is_member), 4);
    ck_assert_int_eq(fr__router_rings(x->router, pair, 2, 1, x->order, x->share_frac, &x->n_rings,
                                      &is_relayed, &err),
                     FR_OK);
    ck_assert(!is_relayed);
    drop(x);
}

/* All GPUs behind one NVSwitch: the first ring fills every GPU's links both ways. */
TEST(one_ring_fills_an_nvswitch)
{
    struct rings *x = find("dgx-a100-80g", 8);

    ck_assert_uint_eq(x->n_rings, 1);
    ck_assert_double_eq(x->share_frac[0], 1);
    ck_assert_double_eq_tol(x->total_Bps, 273e9, 1); /* 300 GB/s x 0.91 */
    drop(x);
}

/* Four NICs a machine, each fed by PCIe 3.0 x16 at 12 GB/s, which is below 100 Gbps: four rings,
 * each through another NIC, 48 GB/s. Eight HDR NICs behind PCIe 4.0 at 24 GB/s: eight rings, 192
 * GB/s (189 measured on 2 x 8 A100). */
LOOP_TEST(rings_over_two_machines_use_every_nic, 0, 2)
{
    static const struct {
        const char *spec;
        size_t n_rings;
        double Bps;
    } rows[] = {{"2x dgx1-v100 via ib:100Gbps", 4, 48e9}, {"2x dgx-a100-80g", 8, 192e9}};
    struct rings *x = find(rows[_i].spec, 16);

    ck_assert_uint_eq(x->n_rings, rows[_i].n_rings);
    ck_assert_double_eq_tol(x->total_Bps, rows[_i].Bps, 1);
    drop(x);
}

/* With an even number of machines, a ring that goes through every other one backwards stays on two
 * rails. It loads NVLink as on one flat switch, where it leaves a machine at any NIC; a ring that
 * enters all machines at the same GPU crosses NVLink once more in each (371 to 354 GB/s). An odd
 * number of machines has one place where rails change. */
LOOP_TEST(rings_on_rails_carry_what_they_carry_on_a_flat_switch, 0, 3)
{
    static const size_t MACHINES[] = {2, 4, 3};
    static const char *const SPECS[][3] = {
        {"2x hgx-h100", "2x hgx-h100 via rails", "2x hgx-h100 via rails:8x400Gbps,spine=1:1"},
        {"4x hgx-h100", "4x hgx-h100 via rails", "4x hgx-h100 via rails:8x400Gbps,spine=1:1"},
        {"3x hgx-h100", "3x hgx-h100 via rails", "3x hgx-h100 via rails:8x400Gbps,spine=1:1"},
    };
    struct rings *flat = find(SPECS[_i][0], 8 * MACHINES[_i]);

    for (int i = 1; i < 3; i++) {
        struct rings *x = find(SPECS[_i][i], 8 * MACHINES[_i]);

        if (MACHINES[_i] % 2 == 0)
            ck_assert_double_eq_tol(x->total_Bps, flat->total_Bps, 1);
        else
            ck_assert_double_lt(x->total_Bps, flat->total_Bps);
        drop(x);
    }
    drop(flat);
}

TEST(unlike_machines_share_a_ring)
{
    struct rings *x = find("1x dgx1-v100 + 1x dgx-a100-80g via ib:100Gbps", 16);

    ck_assert_uint_ge(x->n_rings, 1);
    ck_assert_double_ge(x->total_Bps, 6e9); /* whatever enters, QPI is the narrowest link */
    drop(x);
}

TEST(one_device_needs_no_ring_and_bad_groups_are_refused)
{
    struct rings *x = find("dgx1-v100", 1);
    const uint32_t twice[2] = {3, 3}, far[2] = {0, 99}, fine[2] = {0, 1};
    struct fr_error err;
    size_t n = 9;

    ck_assert_uint_eq(x->n_rings, 0);
    ck_assert_int_eq(fr_topo_rings(x->router, twice, 2, 4, x->order, x->share_frac, &n, &err),
                     FR_ERANGE);
    ck_assert_str_eq(err.text, "device 'n0.gpu3' is twice in the group");
    ck_assert_uint_eq(n, 0);
    ck_assert_int_eq(fr_topo_rings(x->router, far, 2, 4, x->order, x->share_frac, &n, &err),
                     FR_ERANGE);
    ck_assert_int_eq(fr_topo_rings(x->router, fine, 2, 0, x->order, x->share_frac, &n, &err),
                     FR_ERANGE);
    drop(x);
}

/* Sixteen GPUs in one machine are more than the exact search takes: still one full ring. */
TEST(many_gpus_in_a_machine_still_get_a_ring)
{
    static const struct fr_device_type type = {.name = "toy-gpu", .is_gpu = true, .mem_bytes = 1};
    struct fr_topo_builder *b = fr_topo_builder_new();
    struct rings *x = calloc(1, sizeof(*x));
    const struct fr_loc nowhere = {NULL, 0, 0};
    uint32_t devices[16], hub, t;
    struct fr_error err;

    ck_assert_ptr_nonnull(x);
    x->n = 16;
    t = fr_topo_builder_type(b, &type);
    hub = fr_topo_builder_vertex(b, FR_VERTEX_NVSWITCH, "hub", 0, FR_NONE, nowhere);
    for (uint32_t i = 0; i < 16; i++) {
        char name[16];

        snprintf(name, sizeof(name), "g%u", (unsigned)i);
        fr_topo_builder_link(b, FR_LINK_NVLINK,
                             fr_topo_builder_vertex(b, FR_VERTEX_GPU, name, 0, t, nowhere), hub,
                             1e9, 0, true, "test", nowhere);
        devices[i] = 15 - i;
    }
    ck_assert_int_eq(fr_topo_builder_finish(b, "sixteen", &x->topo, &err), FR_OK);
    fr_topo_builder_free(b);
    ck_assert_int_eq(fr_router_new(&x->router, x->topo, &err), FR_OK);
    ck_assert_int_eq(fr_topo_rings(x->router, devices, 16, MAX_RINGS, x->order, x->share_frac,
                                   &x->n_rings, &err),
                     FR_OK);
    expect_tours(x, devices);
    ck_assert_uint_eq(x->n_rings, 1);
    ck_assert_double_eq_tol(measure(x), 1e9, 1e-3);
    drop(x);
}

int main(void)
{
    TCase *c = tcase_create("all");

    add_tests(c);
    return run_case(c, "topo rings");
}
