/* tests/workloads/test_formats.c - number-format recipes by name and from files, and the devices
 * that they run on. */
#include "config.h"

#include "tests/support/base_check.h"
#include "workloads/graph/formats.h"

#include <check.h>
#include <string.h>

static struct fr_formats read_text(const char *text)
{
    const struct fr_formats *f;
    struct fr__formats_file *owned;
    struct fr_formats copy;
    struct fr_error err;

    ck_assert_msg(fr__formats_read(&f, &owned, text, strlen(text), "f", &err) == FR_OK, "%s",
                  err.text);
    copy = *f;
    copy.name = copy.summary = copy.source = NULL; /* the file's */
    fr__formats_free(owned);
    return copy;
}

TEST(a_file_says_what_is_different_from_its_base)
{
    const struct fr_formats *mx = fr__formats_named("mxfp8");
    struct fr_formats f = read_text("base: mxfp8\nbits: [8, 8, 16]\ngradient: [1, 64]\n"
                                    "scale_bytes: 2\nnorm: casts\nmultiple: 64\nunits: any\n");

    ck_assert_double_eq(f.bits[FR__PRODUCT_DGRAD], 8);
    ck_assert_double_eq(f.bits[FR__PRODUCT_WGRAD], 16);
    ck_assert_double_eq(f.block[FR__QUANTISED_GRADIENT][1], 64);
    ck_assert_double_eq(f.block[FR__QUANTISED_INPUT][1], 32);
    ck_assert_double_eq(f.scale_bytes, 2);
    ck_assert(f.norm_casts && !mx->norm_casts);
    ck_assert_uint_eq(f.multiple, 64);
    ck_assert_int_eq(f.units, FR_UNITS_ANY);
    ck_assert_uint_eq(f.cast_reads, mx->cast_reads);
}

static const struct wrong {
    const char *text, *why;
} wrong[] = {
    {"base: mxfp9\n", "no number-format recipe or file 'mxfp9', did you mean 'mxfp8'?"},
    {"name: mine\n", "'base' is missing"},
    {"- base\n", "a number-format recipe"},
    {"base: mxfp8\nbit: [8, 8, 8]\n", "did you mean 'bits'?"},
    {"base: mxfp8\nbits: [8, 8]\n", "'bits' has 2 numbers, expected 3"},
    {"base: mxfp8\nbits: [8, 8, 6]\n", "'bits' has 6, expected 4, 8 or 16"},
    {"base: mxfp8\nbits: [16, 16, 16]\n", "'bits' are 16 for all products: take -p bf16"},
    {"base: mxfp8\nbits: [4, 8, 8]\n", "'products' is fp8, but the narrowest of 'bits' is 4"},
    {"base: nvfp4\nbits: [8, 8, 8]\n", "'products' is fp4, but the narrowest of 'bits' is 8"},
    {"base: mxfp8\nunits: nv\n", "'units' is \"nv\", which is not known"},
    {"base: mxfp8\ninput: [1, 99999999]\n", "input"},
    {"base: mxfp8\ncast_reads: 0\n", "cast_reads"},
    {"base: mxfp8\nname:\n", "a number-format recipe has an empty name"},
};

START_TEST(a_file_that_is_wrong_is_refused_with_its_line)
{
    const struct fr_formats *f;
    struct fr__formats_file *owned;
    struct fr_error err;

    ck_assert_int_ne(
        fr__formats_read(&f, &owned, wrong[_i].text, strlen(wrong[_i].text), "f", &err), FR_OK);
    ck_assert_msg(strstr(err.text, wrong[_i].why) != NULL, "%s", err.text);
    ck_assert_uint_gt(err.line, 0);
}
END_TEST

TEST(a_name_that_is_none_is_refused_with_the_nearest)
{
    const struct fr_formats *f;
    struct fr__formats_file *owned;
    struct fr_error err;

    ck_assert_int_eq(fr__formats_load(&f, &owned, "nvfp8", &err), FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "'nvfp8', did you mean 'nvfp4'?"));
}

/* Hopper multiplies 8 bits; Blackwell scales blocks too; AMD's scale blocks of 32, not NVFP4's. */
static const struct runs {
    const char *formats, *device;
    bool runs;
} runs[] = {
    {"fp8-delayed", "h100-sxm5-80gb", true}, {"fp8-blockwise", "l40s", true},
    {"mxfp8", "h100-sxm5-80gb", false},      {"mxfp8", "b200-sxm-180gb", true},
    {"mxfp8", "mi300x-192gb", false},        {"mxfp8", "mi355x-288gb", true},
    {"mxfp4", "mi355x-288gb", true},         {"nvfp4", "mi355x-288gb", false},
    {"nvfp4", "gb300-288gb", true},          {"fp8-current", "a100-sxm4-80gb", false},
    {"nvfp4", "h100-sxm5-80gb", false},      {"mxfp4", "h200-sxm-141gb", false},
};

START_TEST(a_recipe_runs_where_there_are_units_for_it)
{
    const struct fr_formats *f = fr__formats_named(runs[_i].formats);
    const struct fr_device_type *type = fr_device_type_find(runs[_i].device);
    struct fr_error err;
    enum fr_status st = fr__formats_check_device(f, type, &err);

    ck_assert_int_eq(st, runs[_i].runs ? FR_OK : FR_EUSAGE);
    if (!runs[_i].runs) {
        ck_assert_ptr_nonnull(strstr(err.text, runs[_i].device));
        ck_assert_ptr_nonnull(strstr(err.text, "b200-sxm-180gb"));
    }
}
END_TEST

/* 300 x 160 numbers in blocks that do not fit: 10 rows of blocks of 32, 160 by 32 are 5. */
TEST(the_last_blocks_may_be_partial)
{
    const struct fr_formats *mx = fr__formats_named("mxfp8"),
                            *ds = fr__formats_named("fp8-blockwise");

    ck_assert_double_eq(fr__formats_copy_bytes(mx, FR__QUANTISED_INPUT, 300, 160, false),
                        300 * 160 + 300 * 5);
    ck_assert_double_eq(fr__formats_copy_bytes(mx, FR__QUANTISED_INPUT, 300, 160, true),
                        300 * 160 + 10 * 160);
    ck_assert_double_eq(fr__formats_copy_bytes(ds, FR__QUANTISED_WEIGHT, 300, 160, true),
                        300 * 160 + 3 * 2 * 4);
}

int main(void)
{
    TCase *c = tcase_create("formats");

    add_tests(c);
    tcase_add_loop_test(c, a_file_that_is_wrong_is_refused_with_its_line, 0,
                        (int)(sizeof(wrong) / sizeof(wrong[0])));
    tcase_add_loop_test(c, a_recipe_runs_where_there_are_units_for_it, 0,
                        (int)(sizeof(runs) / sizeof(runs[0])));
    return run_case(c, "workloads/formats");
}
