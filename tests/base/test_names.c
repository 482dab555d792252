/* tests/base/test_names.c - words for enumerations; names and widths of number formats. */
#include "config.h"

#include "base/dtype.h"
#include "base/names.h"
#include "tests/support/base_check.h"

#include <limits.h>

static const char *const colours[] = {"red", "green", "blue"};
static const struct fr__name_list list = FR__NAMES(colours);

TEST(words_read_back)
{
    ck_assert_uint_eq(list.n, 3);
    for (unsigned i = 0; i < list.n; i++) {
        ck_assert_str_eq(fr__name_of(&list, i), colours[i]);
        ck_assert_uint_eq(fr__name_parse(&list, colours[i]), i);
    }
}

TEST(a_value_without_a_word_is_unknown)
{
    ck_assert_str_eq(fr__name_of(&list, 3), "unknown");
    ck_assert_str_eq(fr__name_of(&list, UINT_MAX), "unknown");
}

TEST(a_word_of_no_value_is_past_the_end)
{
    static const char *const words[] = {"", "re", "redd", "Red", "blue ", "unknown"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        ck_assert_uint_eq(fr__name_parse(&list, words[i]), 3);
}

TEST(the_nearest_word_is_offered)
{
    char hint[64];

    ck_assert_str_eq(fr__name_hint(&list, "gren", hint, sizeof(hint)), ", did you mean 'green'?");
    ck_assert_str_eq(fr__name_hint(&list, "black", hint, sizeof(hint)), "");
}

TEST(number_formats_read_back)
{
    ck_assert_uint_eq(fr__dtype_names.n, FR_N_DTYPES);
    for (unsigned i = 0; i < FR_N_DTYPES; i++)
        ck_assert_uint_eq(fr_dtype_parse(fr_dtype_name((enum fr_dtype)i)), i);
    ck_assert_str_eq(fr_dtype_name(FR_BF16), "bf16");
    ck_assert_str_eq(fr_dtype_name(FR_N_DTYPES), "unknown");
    ck_assert_int_eq(fr_dtype_parse("fp64"), FR_N_DTYPES);
    ck_assert_int_eq(fr_dtype_parse(""), FR_N_DTYPES);
}

/* IEEE 754 binary32 and binary16, bfloat16, the two fp8 of the OCP; TF32 is rounded in the
 * registers alone (NVIDIA A100 white paper, 2020). */
TEST(number_formats_have_their_width)
{
    ck_assert_double_eq(fr__dtype_bytes(FR_FP32), 4);
    ck_assert_double_eq(fr__dtype_bytes(FR_TF32), 4);
    ck_assert_double_eq(fr__dtype_bytes(FR_FP16), 2);
    ck_assert_double_eq(fr__dtype_bytes(FR_BF16), 2);
    ck_assert_double_eq(fr__dtype_bytes(FR_FP8), 1);
    ck_assert_double_eq(fr__dtype_bytes(FR_AMP), 4);
}

int main(void)
{
    TCase *tc = tcase_create("names");

    add_tests(tc);
    return run_case(tc, "names");
}
