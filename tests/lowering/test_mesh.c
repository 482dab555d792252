/* Ranks on a mesh: by hand, and against the groups that Megatron-LM's own functions give. */
#include "config.h"

#include "lowering/mesh.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* tp 2, pp 2, dp 2 over 8 ranks, innermost first tp, dp, pp: strides 1, 2, 4. Rank 5 is tp 1, dp 0,
 * pp 1. Its pipeline is 1, 5; its gradients' group 5, 7. */
TEST(ranks_count_the_innermost_axis_first)
{
    const uint32_t size[] = {2, 1, 1, 2, 2};
    uint32_t coord[FR__N_MESH_AXES], ranks[8];
    struct fr__mesh m;

    ck_assert_int_eq(fr__mesh_make(&m, "megatron", size, NULL), FR_OK);
    ck_assert_uint_eq(m.n_ranks, 8);
    fr__mesh_coord(&m, 5, coord);
    ck_assert_uint_eq(coord[FR__MESH_TP], 1);
    ck_assert_uint_eq(coord[FR__MESH_DP], 0);
    ck_assert_uint_eq(coord[FR__MESH_PP], 1);
    ck_assert_uint_eq(fr__mesh_rank(&m, coord), 5);
    ck_assert_uint_eq(fr__mesh_group_size(&m, 1u << FR__MESH_PP), 2);
    ck_assert_uint_eq(fr__mesh_group(&m, 1u << FR__MESH_PP, 5, ranks), 1);
    ck_assert_uint_eq(ranks[0], 1);
    ck_assert_uint_eq(ranks[1], 5);
    ck_assert_uint_eq(fr__mesh_group(&m, 1u << FR__MESH_DP, 5, ranks), 0);
    ck_assert_uint_eq(ranks[0], 5);
    ck_assert_uint_eq(ranks[1], 7);
}

TEST(refuses_what_is_no_map)
{
    static const struct {
        const char *map, *says;
    } cases[] = {
        {"tp-xx", "map=tp-xx: \"xx\" is no axis; expected tp, cp, ep, dp and pp joined by '-', "
                  "innermost first, or megatron, megatron-dp, deepspeed, torchtitan, calculon"},
        {"tp-dp-tp", "map=tp-dp-tp names the axis tp twice"},
    };
    const uint32_t size[] = {2, 1, 1, 2, 2}, huge[] = {65536, 1, 1, 65536, 1};
    struct fr_error err;
    struct fr__mesh m;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_int_eq(fr__mesh_make(&m, cases[i].map, size, &err), FR_EUSAGE);
        ck_assert_str_eq(err.text, cases[i].says);
    }
    ck_assert_int_eq(fr__mesh_make(&m, "megatron", huge, &err), FR_EUSAGE);
}

/* ---- groups made by Megatron's functions ---- */

enum { MAX_RANKS = 64 };

struct grids {
    struct fr__mesh dense, expert;
};

static struct grids grids_of(unsigned world, unsigned tp, unsigned cp, unsigned pp, unsigned ep,
                             unsigned etp, const char *map)
{
    const uint32_t dense[] = {tp, cp, 1, world / (tp * cp * pp), pp};
    const uint32_t expert[] = {etp, 1, ep, world / (etp * ep * pp), pp};
    struct grids g;

    ck_assert_int_eq(fr__mesh_make(&g.dense, map, dense, NULL), FR_OK);
    ck_assert_int_eq(fr__mesh_make(&g.expert, map, expert, NULL), FR_OK);
    return g;
}

/* "tp-dp-cp"; 0: not a set of axes. */
static fr__mesh_axes axes_of(const char *text)
{
    fr__mesh_axes axes = 0;

    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "-");
        fr__mesh_axes one = 0;

        for (int a = 0; a < FR__N_MESH_AXES; a++)
            if (n == 2 && strncmp(at, fr__mesh_axis_name((enum fr__mesh_axis)a), 2) == 0)
                one = 1u << a;
        if (!one)
            return 0;
        axes |= one;
        at += n;
        at += *at == '-';
    }
    return axes;
}

/* One line "grid,group,index,ranks"; returns whether it was compared. */
static bool check_line(const struct grids *g, char *line)
{
    const char *grid = strtok(line, ","), *group = strtok(NULL, ","), *index = strtok(NULL, ",");
    const char *ranks = strtok(NULL, "\n");
    fr__mesh_axes axes = group ? axes_of(group) : 0;
    uint32_t got[MAX_RANKS], first, n;
    const struct fr__mesh *m;
    char *at;

    if (!axes || !ranks)
        return false;
    m = strcmp(grid, "expert") == 0 ? &g->expert : &g->dense;
    first = (uint32_t)strtoul(ranks, &at, 10);
    n = fr__mesh_group_size(m, axes);
    ck_assert_uint_eq(fr__mesh_group(m, axes, first, got), 0);
    ck_assert_uint_eq(got[0], first);
    for (uint32_t i = 1; i < n; i++)
        ck_assert_uint_eq(strtoul(at, &at, 10), got[i]);
    ck_assert_uint_lt(strtoul(index, NULL, 10), m->n_ranks / n);
    ck_assert_uint_lt(fr__mesh_group_index(m, axes, first), m->n_ranks / n);
    return true;
}

static unsigned check_file(const char *name)
{
    const char *srcdir = getenv("srcdir"), *map = "megatron";
    unsigned world, tp, cp, pp, ep, etp, n = 0;
    char path[512], line[4096];
    struct grids g;
    FILE *f;

    ck_assert_int_eq(
        sscanf(name, "w%u_tp%u_cp%u_pp%u_ep%u_etp%u", &world, &tp, &cp, &pp, &ep, &etp), 6);
    if (strstr(name, "_tp-cp-ep-pp-dp"))
        map = "megatron-dp";
    g = grids_of(world, tp, cp, pp, ep, etp, map);
    snprintf(path, sizeof(path), "%s/../shared/data/sharding/rank_groups/%s.csv",
             srcdir ? srcdir : ".", name);
    f = fopen(path, "r");
    if (!f)
        return 0;
    while (fgets(line, sizeof(line), f))
        n += check_line(&g, line);
    fclose(f);
    return n;
}

TEST(groups_are_those_of_megatron)
{
    static const char *const names[] = {
        "w16_tp2_cp1_pp4_ep1_etp2", "w16_tp2_cp1_pp4_ep1_etp2_tp-cp-ep-pp-dp",
        "w16_tp2_cp1_pp4_ep2_etp2", "w16_tp2_cp2_pp2_ep1_etp2",
        "w24_tp2_cp3_pp2_ep6_etp1", "w32_tp2_cp2_pp2_ep4_etp1",
        "w32_tp4_cp1_pp2_ep8_etp1", "w32_tp4_cp2_pp2_ep1_etp4",
        "w48_tp4_cp1_pp3_ep1_etp4", "w64_tp1_cp1_pp8_ep8_etp1",
        "w64_tp2_cp4_pp2_ep8_etp2", "w64_tp8_cp1_pp4_ep8_etp1",
        "w8_tp2_cp1_pp2_ep1_etp2",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        unsigned n = check_file(names[i]);

        ck_assert_msg(n == 0 || n > 20, "%s: %u groups", names[i], n);
    }
}

int main(void)
{
    TCase *c = tcase_create("mesh");

    add_tests(c);
    return run_case(c, "strategies/mesh");
}
