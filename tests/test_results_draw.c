/* tests/test_results_draw.c - DOT text: what is in it, and that no input breaks out of it. */
#include "config.h"

#include "results/dot.h"
#include "results/draw.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* What writer puts out; the caller frees. */
static char *written(void (*write)(FILE *f, const void *user), const void *user)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(f);
    write(f, user);
    ck_assert_int_eq(fclose(f), 0);
    return text;
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what))
        n++;
    return n;
}

/* ---- text ---- */

static void write_text(FILE *f, const void *user)
{
    fr__dot_text(f, user, 12);
}

/* Inside a quoted string of DOT a quote ends it, a backslash begins an escape (\N is the node's name),
 * and & begins an entity. */
START_TEST(text_from_inputs_stays_inside_its_string)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"conv1", "conv1"},
        {"", ""},
        {"a\"]; x [b", "a\\\"]; x [b"},
        {"\\N\\\"", "\\\\N\\\\\\\""},
        {"<b>&lt;", "<b>&amp;lt;"},
        {"a\nb\tc\x7f", "a?b?c?"},
        {"\xff\xc3(\xc3\xa9", "?\?(\xc3\xa9"},
        {"twelve chars", "twelve chars"},
        {"thirteen char", "thirteen cha..."},
        {"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
         "\xc3\xa9",
         "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
         "\xc3\xa9"},
    };
    char *got = written(write_text, rows[_i].in);

    ck_assert_str_eq(got, rows[_i].out);
    free(got);
}
END_TEST

static void write_inches(FILE *f, const void *user)
{
    fr__dot_inches(f, *(const long *)user);
}

START_TEST(points_are_inches_with_three_decimals)
{
    static const struct {
        long points;
        const char *out;
    } rows[] = {{72, "1.000"}, {0, "0.000"}, {36, "0.500"}, {58, "0.805"}, {7200, "100.000"}};
    char *got = written(write_inches, &rows[_i].points);

    ck_assert_str_eq(got, rows[_i].out);
    free(got);
}
END_TEST

/* ---- clusters ---- */

static void write_topo(FILE *f, const void *user)
{
    struct fr_error err;

    ck_assert_int_eq(fr_draw_topo(f, user, &err), FR_OK);
}

static char *draw(const char *spec)
{
    struct fr_topo *t;
    struct fr_error err;
    char *text;

    ck_assert_msg(fr_topo_load(&t, spec, &err) == FR_OK, "%s", err.text);
    text = written(write_topo, t);
    fr_topo_free(t);
    return text;
}

/* Every vertex once, every cable once: 8 GPUs, 1 CPU, 2 sockets, 4 switches, 4 NICs; 16 NVLink edges,
 * 2 memories, 1 QPI, 4 uplinks, 8 + 4 below the switches (matrix and DGX-1 guide). The legend's 5
 * samples are edges, too. */
START_TEST(a_dgx1_shows_each_part_and_each_cable_once)
{
    char *text = draw("dgx1-v100");

    ck_assert_uint_eq(count(text, "label=\"gpu"), 8);
    ck_assert_uint_eq(count(text, "label=\"nic"), 4);
    ck_assert_uint_eq(count(text, "label=\"plx"), 4);
    ck_assert_uint_eq(count(text, "label=\"socket"), 2);
    ck_assert_uint_eq(count(text, "label=\"cpu0: 2x-xeon-e5-2698v4"), 1);
    ck_assert_uint_eq(count(text, "  v") - 19, 16 + 2 + 1 + 4 + 8 + 4); /* 19 nodes */
    ck_assert_uint_eq(count(text, " -- key"), 5);
    ck_assert_ptr_nonnull(strstr(text, "2 NVLinks side by side, 48 GB/s"));
    free(text);
}
END_TEST

START_TEST(equal_machines_fold_into_one_box_that_counts_them)
{
    static const struct {
        const char *spec, *has, *has_not;
    } rows[] = {
        {"1x dgx1-v100 via ib:1Gbps", "label=\"gpu7", "folded"},
        {"3x dgx1-v100", "label=\"n2\\n8x v100-sxm2-16gb\\n4 NICs\"", "folded"},
        {"4x dgx1-v100", "label=\"n2\\n", "folded"},
        {"1000x dgx1-v100", "label=\"n2 ... n998\\n997 more, folded\"", "label=\"n3"},
        {"1x dgx1-v100 + 5x dgx2", "label=\"n2 ... n4\\n3 more, folded\"", "label=\"n3"},
        {"gb200-nvl72", "label=\"n2 ... n16\\n15 more, folded\"", "label=\"gpu4"},
        {"1x dgx1-v100 + 1x dgx2 + 1x dgx1-p100 + 1x hgx-h100 + 1x dgx2 + 1x hgx-b200 + 1x dgx2 + "
         "1x dgx1-p100 + 1x dgx2 + 1x hgx-h200",
         "label=\"n8 ... n9\\n2 more, folded\"", "label=\"n9"},
    };
    char *text = draw(rows[_i].spec);

    ck_assert_msg(strstr(text, rows[_i].has), "%s lacks %s", rows[_i].spec, rows[_i].has);
    ck_assert_msg(!strstr(text, rows[_i].has_not), "%s has %s", rows[_i].spec, rows[_i].has_not);
    free(text);
}
END_TEST

START_TEST(every_preset_is_drawn)
{
    for (size_t i = 0; fr_topo_preset_name(i); i++) {
        char *text = draw(fr_topo_preset_name(i));

        ck_assert_ptr_nonnull(strstr(text, fr_topo_preset_summary(i)));
        ck_assert_uint_ge(count(text, "label=\"gpu"), 4);
        free(text);
    }
}
END_TEST

/* A machine of more than 160 parts is a box; one without PCIe or CPU stands for itself. */
START_TEST(odd_machines_are_drawn_too)
{
    static const struct fr_device_type type = {
        .name = "toy \"gpu\" <b>", .is_gpu = true, .mem_bytes = 1, .source = "test"};
    const struct fr_loc nowhere = {NULL, 0, 0};

    for (unsigned n = 1; n <= 200; n += n < 3 ? 1 : 197) {
        struct fr_topo_builder *b = fr_topo_builder_new();
        uint32_t t = fr_topo_builder_type(b, &type);
        struct fr_topo *topo;
        struct fr_error err;
        char *text;

        for (unsigned i = 0; i < n; i++) {
            char name[16];

            snprintf(name, sizeof(name), "g%u", i);
            fr_topo_builder_vertex(b, FR_VERTEX_GPU, name, 0, t, nowhere);
        }
        ck_assert_int_eq(fr_topo_builder_finish(b, "a \"name\"\\", &topo, &err), FR_OK);
        fr_topo_builder_free(b);
        text = written(write_topo, topo);
        ck_assert_ptr_nonnull(strstr(text, "label=\"a \\\"name\\\"\\\\\\l\""));
        ck_assert_uint_eq(count(text, "label=\"g"), n > 160 ? 0 : n);
        ck_assert_int_eq(strstr(text, "200x toy \\\"gpu\\\" <b>") != NULL, n > 160);
        free(text);
        fr_topo_free(topo);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("results draw");
    TCase *c = tcase_create("all");
    SRunner *sr;
    int n_failed;

    tcase_add_loop_test(c, text_from_inputs_stays_inside_its_string, 0, 10);
    tcase_add_loop_test(c, points_are_inches_with_three_decimals, 0, 5);
    tcase_add_test(c, a_dgx1_shows_each_part_and_each_cable_once);
    tcase_add_loop_test(c, equal_machines_fold_into_one_box_that_counts_them, 0, 7);
    tcase_add_test(c, every_preset_is_drawn);
    tcase_add_test(c, odd_machines_are_drawn_too);
    suite_add_tcase(s, c);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    n_failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
