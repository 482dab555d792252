/* tests/strategies/test_placement.c - placements from files: which row decides, what is refused and
 * at which line; shared objects that are no strategies for this library. */
#include "config.h"

#include "strategies/placement/file.h"
#include "strategies/plugin.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct fr__placement *load(const char *text)
{
    struct fr__placement *p = NULL;
    struct fr_error err;

    ck_assert_msg(fr__placement_load_text(&p, text, strlen(text), "p.csv", &err) == FR_OK, "%s",
                  err.text);
    return p;
}

static const char *device_of(struct fr__placement *p, const char *op)
{
    const struct fr__placement_row *row = fr__placement_find(p, op);

    return row ? row->device : "none";
}

TEST(a_name_goes_before_patterns_and_the_last_pattern_decides)
{
    struct fr__placement *p = load("op,device\nconv1,d\n*,a\nconv*,b\nconv[23],c\n");

    ck_assert_str_eq(device_of(p, "conv1"), "d");
    ck_assert_str_eq(device_of(p, "conv2"), "c");
    ck_assert_str_eq(device_of(p, "conv4"), "b");
    ck_assert_str_eq(device_of(p, "fc"), "a");
    fr__placement_free(p);
}

TEST(an_op_without_a_row_has_none_and_rows_know_whether_they_were_used)
{
    struct fr__placement *p = load("op,device,order,start_s\nx,a,3,\ny,b,,0.5\n");
    const struct fr__placement_row *x = fr__placement_find(p, "x");

    ck_assert_str_eq(device_of(p, "z"), "none");
    ck_assert(x->has_order && !x->has_start && x->is_used);
    ck_assert_double_eq(x->order, 3);
    ck_assert(!fr__placement_row(p, 1)->is_used && fr__placement_row(p, 1)->has_start);
    ck_assert_ptr_null(fr__placement_row(p, 2));
    fr__placement_free(p);
}

TEST(wrong_rows_are_refused_with_line_and_column)
{
    static const struct {
        const char *text, *says;
        unsigned line, col;
    } cases[] = {
        {"op,device\n", "places no op", 0, 0},
        {"op\nx\n", "device", 1, 0},
        {"op,device\nx,a\nx,b\n", "stands twice, first at line 2", 3, 1},
        {"op,device\nx,\n", "no device for 'x'", 2, 3},
        {"op,device\n,a\n", "no op", 2, 1},
        {"op,device,order\nx,a,first\n", "not a number", 2, 5},
        {"op,device,start_s\nx,a,-1\n", "start_s", 2, 5},
        {"op,device,when\nx,a,1\n", "'when'", 1, 11},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr__placement *p = NULL;
        struct fr_error err = {.code = FR_OK};
        const char *text = cases[i].text;

        ck_assert(fr__placement_load_text(&p, text, strlen(text), "p.csv", &err) != FR_OK);
        ck_assert_msg(strstr(err.text, cases[i].says) != NULL, "%s", err.text);
        ck_assert_str_eq(err.file, "p.csv");
        ck_assert_uint_eq(err.line, cases[i].line);
        if (cases[i].col)
            ck_assert_uint_eq(err.col, cases[i].col);
    }
}

/* ---- plug-ins ---- */

static enum fr_status plan_nothing(const struct fr_problem *in, const struct fr_context *ctx,
                                   struct fr_plan *out, struct fr_error *err)
{
    (void)in;
    (void)ctx;
    (void)out;
    (void)err;
    return FR_OK;
}

TEST(plug_ins_for_other_headers_are_refused_with_what_differs)
{
    static const struct fr_option no_options[] = {{.name = NULL}};
    const struct fr_strategy s = {
        .name = "mine", .summary = "", .source = "", .options = no_options, .plan = plan_nothing};
    const struct fr_strategy_plugin good = FR_STRATEGY_PLUGIN_VALUE(s);
    struct fr_strategy_plugin bad = good;
    struct fr_error err;

    ck_assert(fr__plugin_check(&good, "mine.so", &err) == FR_OK);
    bad.interface_version = FR_STRATEGY_INTERFACE + 1;
    ck_assert(fr__plugin_check(&bad, "mine.so", &err) == FR_EUSAGE);
    ck_assert(strstr(err.text, "build it again against the installed headers") != NULL);
    bad = good;
    bad.problem_bytes++;
    ck_assert(fr__plugin_check(&bad, "mine.so", &err) == FR_EUSAGE);
    ck_assert(strstr(err.text, "struct fr_problem") != NULL);
}

TEST(strategies_of_plug_ins_must_be_whole)
{
    static const struct fr_option no_default[] = {{.name = "x", .help = "y"}, {.name = NULL}};
    static const struct fr_option no_options[] = {{.name = NULL}};
    const struct fr_strategy whole = {
        .name = "mine", .summary = "", .source = "", .options = no_options, .plan = plan_nothing};
    struct fr_strategy s[4] = {whole, whole, whole, whole};

    s[0].plan = NULL;
    s[1].name = "My Strategy";
    s[2].options = NULL;
    s[3].options = no_default;
    for (size_t i = 0; i < 4; i++) {
        const struct fr_strategy_plugin p = FR_STRATEGY_PLUGIN_VALUE(s[i]);
        struct fr_error err = {.code = FR_OK};

        ck_assert_msg(fr__plugin_check(&p, "mine.so", &err) == FR_EUSAGE, "%zu", i);
        ck_assert_str_eq(err.file, "mine.so");
    }
}

TEST(a_path_means_a_plug_in_and_is_never_looked_for_among_libraries)
{
    char path[FR__PLUGIN_PATH];

    ck_assert(fr__is_plugin("./mine") && fr__is_plugin("mine.so") && !fr__is_plugin("dp"));
    ck_assert(fr__plugin_path("mine.so:opt=1", path, sizeof(path)));
    ck_assert_str_eq(path, "./mine.so");
    ck_assert(fr__plugin_path("/a/b.so", path, sizeof(path)));
    ck_assert_str_eq(path, "/a/b.so");
    ck_assert(!fr__plugin_path("pp:cuts=a/b", path, sizeof(path)));
}

TEST(a_missing_shared_object_is_named)
{
    struct fr_option_values values;
    const struct fr_strategy *s;
    struct fr_error err;

    ck_assert(fr_strategy_parse("./nowhere.so:x=1", &s, &values, &err) == FR_EUSAGE);
    ck_assert(strstr(err.text, "'./nowhere.so' cannot be loaded") != NULL);
    ck_assert(fr_strategy_parse("placement", &s, &values, &err) == FR_EUSAGE);
    ck_assert(strstr(err.text, "placement:file=") != NULL);
}

int main(void)
{
    TCase *tc = tcase_create("placement");

    add_tests(tc);
    return run_case(tc, "strategies/placement");
}
