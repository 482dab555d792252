/* tests/topo/test_repeat.c - machines that are copied are what building each alone gives. */
#include "tests/support/base_check.h"
#include "topo/machines/machines.h"
#include "topo/topo.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct fr_topo *load(const char *spec)
{
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_msg(fr_topo_load(&t, spec, &err) == FR_OK, "%s", err.text);
    return t;
}

/* Three of a preset without a network, each built by itself. */
static struct fr_topo *build_one_by_one(const struct fr__preset *preset)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    struct fr_topo *t = NULL;
    struct fr_error err;

    for (uint32_t i = 0; i < 3; i++)
        preset->build(b, i * (preset->n_machines ? preset->n_machines : 1), preset);
    ck_assert_msg(fr_topo_builder_finish(b, "alone", &t, &err) == FR_OK, "%s", err.text);
    fr_topo_builder_free(b);
    return t;
}

static void compare_vertices(const struct fr_topo *alone, const struct fr_topo *copied)
{
    /* the composition's switch comes first */
    ck_assert_uint_eq(copied->n_vertices, alone->n_vertices + 1);
    for (size_t v = 0; v < alone->n_vertices; v++) {
        const struct fr_vertex *a = &alone->vertices[v], *b = &copied->vertices[v + 1];

        ck_assert_str_eq(a->name, b->name);
        ck_assert_int_eq(a->kind, b->kind);
        ck_assert_uint_eq(a->machine, b->machine);
        ck_assert_uint_eq(a->device, b->device);
    }
    ck_assert_uint_eq(alone->n_devices, copied->n_devices);
    for (size_t d = 0; d < alone->n_devices; d++)
        ck_assert_str_eq(alone->types[alone->devices[d].type].name,
                         copied->types[copied->devices[d].type].name);
    for (size_t m = 0; m < alone->n_machines; m++)
        ck_assert_uint_eq(alone->system_of[m], copied->system_of[m]);
}

/* Links of the network, which the composition adds behind all machines, are left out. */
static void compare_links(const struct fr_topo *alone, const struct fr_topo *copied)
{
    ck_assert_uint_gt(copied->n_links, alone->n_links);
    for (size_t l = 0; l < alone->n_links; l++) {
        const struct fr_link *a = &alone->links[l], *b = &copied->links[l];

        ck_assert_uint_eq(a->src + 1, b->src);
        ck_assert_uint_eq(a->dst + 1, b->dst);
        ck_assert_int_eq(a->kind, b->kind);
        ck_assert_uint_eq(a->message, b->message);
        ck_assert_double_eq(a->bw_Bps, b->bw_Bps);
        ck_assert_double_eq(a->latency_s, b->latency_s);
        ck_assert_str_eq(a->source, b->source);
    }
}

START_TEST(copies_of_a_preset_are_what_building_each_gives)
{
    const char *name = fr_topo_preset_name((size_t)_i);
    struct fr_topo *alone = build_one_by_one(fr__preset_find(name)), *copied;
    char spec[64];

    snprintf(spec, sizeof(spec), "3x %s via ib:100Gbps", name);
    copied = load(spec);
    compare_vertices(alone, copied);
    compare_links(alone, copied);
    fr_topo_free(alone);
    fr_topo_free(copied);
}
END_TEST

TEST(a_machine_after_copies_of_others_has_the_next_number)
{
    struct fr_topo *t = load("3x dgx1-v100 + 2x dgx2 + 2x dgx1-v100 via ib:100Gbps");

    ck_assert_uint_eq(t->n_machines, 7);
    ck_assert_uint_eq(t->n_gpus, 3 * 8 + 2 * 16 + 2 * 8);
    ck_assert_str_eq(t->devices[24].name, "n3.gpu0");
    ck_assert_str_eq(t->devices[71].name, "n6.gpu7");
    ck_assert_uint_eq(t->devices[71].machine, 6);
    ck_assert_str_eq(t->types[t->devices[40].type].name, "v100-sxm3-32gb");
    fr_topo_free(t);
}

TEST(copies_end_at_the_limit_of_gpus)
{
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_int_eq(fr_topo_load(&t, "8193x hgx-h100 via rails", &err), FR_ERANGE);
    ck_assert_ptr_nonnull(strstr(err.text, "more than 65536 GPUs"));
    ck_assert_ptr_null(t);
}

int main(void)
{
    TCase *c = tcase_create("all");
    int n_presets = 0;

    while (fr_topo_preset_name((size_t)n_presets))
        n_presets++;
    tcase_add_loop_test(c, copies_of_a_preset_are_what_building_each_gives, 0, n_presets);
    add_tests(c);
    return run_case(c, "topo repeat");
}
