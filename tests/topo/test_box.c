/* Machines of PCIe cards in one word: their wiring, their routes, and words that mean nothing. */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/topo_case.h"

#include <string.h>

/* What the narrowest link of the way between two GPUs carries. */
static double way_Bps(const struct fr_topo *t, uint32_t src, uint32_t dst)
{
    struct fr_router *r;
    const uint32_t *links;
    struct fr_error err;
    double least = 0;
    size_t n;

    ck_assert(fr_router_new(&r, t, &err) == FR_OK);
    ck_assert_msg(fr_router_path(r, src, dst, &links, &n, &err) == FR_OK, "%s", err.text);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || t->links[links[i]].bw_Bps < least)
            least = t->links[links[i]].bw_Bps;
    fr_router_free(r);
    return least;
}

TEST(each_card_has_a_slot_on_its_half_of_the_sockets)
{
    struct fr_topo *t = topo_case_load("box:6xa10");

    ck_assert_uint_eq(t->n_gpus, 6);
    ck_assert_uint_eq(t->n_machines, 1);
    /* a host's three cables, six slots, one NIC: two directions each */
    ck_assert_uint_eq(t->n_links, 2 * (3 + 6 + 1));
    ck_assert_ptr_nonnull(topo_case_link(t, "n0.socket0>n0.gpu2"));
    ck_assert_ptr_nonnull(topo_case_link(t, "n0.socket1>n0.gpu3"));
    ck_assert_double_eq(way_Bps(t, 0, 2), 24e9); /* PCIe 4.0 */
    ck_assert_double_eq(way_Bps(t, 0, 3), 16e9); /* from socket to socket */
    ck_assert_uint_eq(t->n_notes, 1);
    fr_topo_free(t);
}

TEST(up_to_four_cards_share_a_socket_unless_told_otherwise)
{
    struct fr_topo *one = topo_case_load("box:4xa10"), *two = topo_case_load("box:4xa10,sockets=2");

    ck_assert_double_eq(way_Bps(one, 0, 3), 24e9);
    ck_assert_double_eq(way_Bps(two, 0, 3), 16e9);
    fr_topo_free(one);
    fr_topo_free(two);
}

TEST(a_switch_takes_so_many_cards_and_one_nic_where_there_are_as_many)
{
    struct fr_topo *t = topo_case_load("box:8xt4,switch=4,nics=2"),
                   *odd = topo_case_load("box:5xt4,switch=2");

    ck_assert_ptr_nonnull(topo_case_link(t, "n0.plx0>n0.gpu3"));
    ck_assert_ptr_nonnull(topo_case_link(t, "n0.plx1>n0.gpu4"));
    ck_assert_ptr_nonnull(topo_case_link(t, "n0.plx1>n0.nic1"));
    ck_assert_ptr_nonnull(topo_case_link(t, "n0.plx1>n0.socket1"));
    ck_assert_ptr_nonnull(topo_case_link(odd, "n0.plx2>n0.gpu4"));
    ck_assert_ptr_nonnull(topo_case_link(odd, "n0.socket0>n0.nic0"));
    fr_topo_free(t);
    fr_topo_free(odd);
}

TEST(a_bridge_joins_neighbours_by_all_links_of_a_card)
{
    struct fr_topo *t = topo_case_load("2x box:3xa40,bridge via eth:25Gbps");

    ck_assert_double_eq(way_Bps(t, 0, 1), 4 * 12e9); /* NCCL counts 12 GB/s a link */
    ck_assert_double_eq(way_Bps(t, 1, 2), 24e9);     /* the third card has no neighbour */
    ck_assert_double_eq(way_Bps(t, 0, 3), 25e9 / 8);
    fr_topo_free(t);
}

TEST(a_box_speaks_the_network_of_its_kind)
{
    struct fr_topo *t = topo_case_load("4x box:8xrtx4090");

    ck_assert_uint_eq(t->n_machines, 4);
    ck_assert_double_eq(way_Bps(t, 0, 8), 25e9 / 8);
    fr_topo_free(t);
}

TEST(boxes_that_mean_nothing_are_refused)
{
    static const struct topo_case_refusal cases[] = {
        {"box:", FR_EPARSE, "cards like 8xa40 expected"},
        {"box:8", FR_EPARSE, "cards like 8xa40 expected"},
        {"box:xa40", FR_EPARSE, "cards like 8xa40 expected"},
        {"box:0xa40", FR_ERANGE, "the number of cards of a box"},
        {"box:1000000000xa40", FR_ERANGE, "the number of cards of a box"},
        {"box:8xrtx309", FR_ENOENT, "did you mean 'rtx3090'?"},
        {"box:8x", FR_ENOENT, "no device type ''"},
        {"box:8x2x-epyc-7742", FR_ENOENT, "no device type"},
        {"box:8xa100-sxm4-80gb", FR_EUSAGE, "is no PCIe card"},
        {"box:8xa10,bridge", FR_EUSAGE, "takes no NVLink bridge"},
        {"box:8xa10,switch=0", FR_ERANGE, "switch of a box"},
        {"box:8xa10,sockets=3", FR_ERANGE, "sockets of a box"},
        {"box:8xa10,nics=17", FR_ERANGE, "nics of a box"},
        {"box:8xa10,,", FR_EPARSE, "a box has no option ''"},
        {"box:8xa10,rails", FR_EPARSE, "a box has no option 'rails'"},
        {"8x a40", FR_ENOENT, "'box:8xa40' for PCIe cards"},
    };

    topo_case_refuse(cases, sizeof(cases) / sizeof(cases[0]));
}

int main(void)
{
    TCase *tc = tcase_create("box");

    add_tests(tc);
    return run_case(tc, "topo/box");
}
