/* tests/topo/import/test_simgrid.c - SimGrid platforms as topologies: who shares a link, which
 * routes there are, what is refused. */
#include "config.h"

#include "base/xml.h"
#include "tests/support/base_check.h"
#include "tests/support/topo_case.h"
#include "topo/load/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fr_topo *load_text(const char *text, const char *name)
{
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_msg(fr__topo_load_text(&t, text, strlen(text), name, &err) == FR_OK, "%s:%u:%u: %s",
                  name, err.line, err.col, err.text);
    return t;
}

static void refuse_text(const char *text, const char *message)
{
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_int_ne(fr__topo_load_text(&t, text, strlen(text), "f", &err), FR_OK);
    assert_message(&err, message);
    ck_assert_ptr_null(t);
}

static bool has_note(const struct fr_topo *t, const char *part)
{
    for (size_t i = 0; i < t->n_notes; i++)
        if (strstr(t->notes[i], part))
            return true;
    return false;
}

static double link_Bps(const struct fr_topo *t, const char *name)
{
    const struct fr_link *l = topo_case_link(t, name);

    ck_assert_msg(l != NULL, "no link %s", name);
    return l->bw_Bps;
}

/* ---- SimGrid, ASTRA-sim, TACCL ---- */

START_TEST(a_simgrid_star_shares_its_backbone)
{
    struct fr_topo *t = load_text(
        "<platform version='4.1'><cluster id='c' prefix='h' suffix='' radical='0-2,7' speed='2Gf' "
        "core='4' bw='10Gbps' lat='1us' bb_bw='1GBps' bb_lat='2us'/></platform>",
        "p.xml");
    struct fr_error err;
    struct fr_router *r;
    const uint32_t *links;
    size_t n;

    ck_assert_uint_eq(t->n_gpus, 4);
    ck_assert_double_eq(t->types[0].vector_flops_per_s, 8e9);
    ck_assert(fr_router_new(&r, t, &err) == FR_OK);
    ck_assert(fr_router_path(r, 0, 3, &links, &n, &err) == FR_OK);
    ck_assert_uint_eq(n, 3); /* up, backbone, down */
    ck_assert_double_eq(t->links[links[0]].bw_Bps, 1.25e9);
    ck_assert_double_eq(t->links[links[1]].bw_Bps, 1e9);
    ck_assert_double_eq(t->links[links[1]].latency_s, 2e-6);
    ck_assert_double_eq(t->links[links[2]].latency_s, 1e-6);
    fr_router_free(r);
    fr_topo_free(t);
}
END_TEST

/* SimGrid's own rule of ft64 in the shared data: host h is on leaf h / 8, a message to d takes
 * spine d mod 4. */
START_TEST(a_simgrid_fat_tree_routes_by_destination)
{
    struct fr_topo *t = load_text(
        "<platform version='4.1'><cluster id='ft' prefix='h' suffix='' radical='0-63' speed='1Gf' "
        "bw='1GBps' lat='0s' topology='FAT_TREE' topo_parameters='2;8,8;1,4;1,1'/></platform>",
        "ft.xml");
    struct fr_error err;
    struct fr_router *r;

    ck_assert_uint_eq(t->n_links, 2 * (64 + 8 * 4));
    ck_assert(fr_router_new(&r, t, &err) == FR_OK);
    for (uint32_t s = 0; s < 64; s++)
        for (uint32_t d = 0; d < 64; d++) {
            char spine[64];
            const uint32_t *links;
            size_t n;

            if (s == d)
                continue;
            ck_assert(fr_router_path(r, s, d, &links, &n, &err) == FR_OK);
            ck_assert_uint_eq(n, s / 8 == d / 8 ? 2 : 4);
            snprintf(spine, sizeof(spine), "ft_switch_2_%u", (unsigned)d % 4);
            if (n == 4)
                ck_assert_str_eq(t->vertices[t->links[links[1]].dst].name, spine);
        }
    fr_router_free(r);
    fr_topo_free(t);
}
END_TEST

START_TEST(simgrid_zones_keep_who_shares_a_link)
{
    static const char text[] =
        "<platform version='4.1'><zone id='z' routing='Full'>\n"
        "<host id='a' speed='1Gf'/><host id='b' speed='1Gf'/><host id='c' speed='1Gf'/>\n"
        "<link id='x' bandwidth='1GBps' latency='1us'/><link id='y' bandwidth='2GBps'/>\n"
        "<route src='a' dst='b'><link_ctn id='x'/><link_ctn id='y'/></route>\n"
        "<route src='a' dst='c'><link_ctn id='x'/></route>\n</zone></platform>";
    struct fr_topo *t = load_text(text, "z.xml");

    ck_assert_double_eq(link_Bps(t, "x:up.in>x:up.out"), 1e9);
    ck_assert_double_eq(link_Bps(t, "y:down.in>y:down.out"), 2e9);
    ck_assert_double_eq(link_Bps(t, "x:up.out>y:up.in"), 1e9); /* a joint narrows nothing */
    fr_topo_free(t);
    refuse_text("<platform version='4.1'><zone id='z' routing='Full'><host id='a' speed='1Gf'/>"
                "<host id='b' speed='1Gf'/><link id='x' bandwidth='1GBps'/>\n"
                "<route src='a' dst='b'><link_ctn id='x'/><link_ctn id='x'/></route></zone>"
                "</platform>",
                "f:2:1: the route from 'a' to 'b' is not the only one of fewest links, which is "
                "how messages go here");
}
END_TEST

/* Ring of 3 in each of two Switches of 2: NPU 4 is machine 2's first. */
#define FOUR_HOSTS                                                                                 \
    "<platform version='4.1'><zone id='z' routing='Full'>\n"                                       \
    "<host id='a' speed='1Gf'/><host id='b' speed='1Gf'/><host id='c' speed='1Gf'/>"               \
    "<host id='d' speed='1Gf'/>\n"                                                                 \
    "<link id='x' bandwidth='1GBps'/><link id='y' bandwidth='1GBps'/>\n"

/* b to c is the way back of c to b, so it goes down s. b to d and a to c go up s: b could reach c
 * so as well. That is the same link, and a note. Over another link it would be refused. */
START_TEST(simgrid_routes_may_differ_in_the_direction_of_a_link_but_not_in_links)
{
    struct fr_topo *t =
        load_text(FOUR_HOSTS "<route src='b' dst='d'><link_ctn id='x'/></route>"
                             "<route src='c' dst='b'><link_ctn id='x'/></route>"
                             "<route src='a' dst='c'><link_ctn id='x'/></route></zone></platform>",
                  "s.xml");

    ck_assert(has_note(t, "messages may take either of their directions"));
    fr_topo_free(t);
    refuse_text(FOUR_HOSTS "<route src='a' dst='b'><link_ctn id='x'/></route>\n"
                           "<route src='d' dst='c'><link_ctn id='x'/></route>\n"
                           "<route src='a' dst='c'><link_ctn id='y'/></route>\n"
                           "<route src='d' dst='b'><link_ctn id='y'/></route></zone></platform>",
                "f:4:1: the route from 'a' to 'b' is not the only one of fewest links, which is "
                "how messages go here");
}
END_TEST

/* Three hosts in a line of cables of their own, and a backbone from end to end. Through b there are
 * fewer links, but a host sends on nothing of others. */
START_TEST(simgrid_hosts_pass_nothing_on)
{
    struct fr_topo *t =
        load_text("<platform version='4.1'><zone id='z' routing='Full'>\n"
                  "<host id='a' speed='1Gf'/><host id='b' speed='1Gf'/><host id='c' speed='1Gf'/>\n"
                  "<link id='x' bandwidth='1GBps' sharing_policy='SPLITDUPLEX'/>\n"
                  "<link id='y' bandwidth='1GBps' sharing_policy='SPLITDUPLEX'/>\n"
                  "<link id='z' bandwidth='1GBps' sharing_policy='SHARED'/>\n"
                  "<route src='a' dst='b'><link_ctn id='x' direction='UP'/></route>\n"
                  "<route src='b' dst='c'><link_ctn id='y' direction='UP'/></route>\n"
                  "<route src='a' dst='c'><link_ctn id='z'/></route></zone></platform>",
                  "h.xml");
    struct fr_router *r;
    struct fr_error err;
    const uint32_t *links;
    size_t n;

    ck_assert(fr_router_new(&r, t, &err) == FR_OK);
    ck_assert(fr_router_path(r, 0, 2, &links, &n, &err) == FR_OK);
    ck_assert_uint_eq(n, 3); /* into z, z, out of it */
    fr_router_free(r);
    fr_topo_free(t);
}
END_TEST

/* 96 GPUs with each route spelt out, as exporters do: 9120 of them. */
START_TEST(simgrid_platforms_of_many_routes_load)
{
    struct fr_topo *t = topo_case_load("6x dgx2 via ib:100Gbps"), *again;
    char *text = NULL;
    size_t len = 0;
    FILE *f;
    struct fr_error err;

    f = open_memstream(&text, &len);
    ck_assert_ptr_nonnull(f);
    ck_assert_msg(fr_topo_write_simgrid(f, t, &err) == FR_OK, "%s", err.text);
    fclose(f);
    again = load_text(text, "many.xml");
    ck_assert_uint_eq(again->n_gpus, 96);
    fr_topo_free(again);
    fr_topo_free(t);
    free(text);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("simgrid");

    if (fr__xml_is_built()) {
        tcase_add_test(tc, a_simgrid_star_shares_its_backbone);
        tcase_add_test(tc, a_simgrid_fat_tree_routes_by_destination);
        tcase_add_test(tc, simgrid_zones_keep_who_shares_a_link);
        tcase_add_test(tc, simgrid_hosts_pass_nothing_on);
        tcase_add_test(tc, simgrid_platforms_of_many_routes_load);
        tcase_add_test(tc, simgrid_routes_may_differ_in_the_direction_of_a_link_but_not_in_links);
    }
    return run_case(tc, "topo/import/simgrid");
}
