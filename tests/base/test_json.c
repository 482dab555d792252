/* tests/base/test_json.c - what the JSON writer writes, byte for byte. */
#include "config.h"

#include "base/json.h"
#include "tests/support/base_check.h"

#include <math.h>
#include <string.h>

/* What a writer writes into memory. */
static char *written;
static size_t written_len;
static FILE *stream;
static struct fr__json json;

static void open_stream(void)
{
    stream = open_memstream(&written, &written_len);
    ck_assert_ptr_nonnull(stream);
    fr__json_init(&json, stream);
}

static void close_stream(void)
{
    fclose(stream);
    free(written);
}

static void assert_written(const char *expected)
{
    ck_assert_int_eq(fflush(stream), 0);
    ck_assert_str_eq(written, expected);
}

TEST(nested_values_are_indented_by_two)
{
    fr__json_open(&json, NULL, '{', false);
    fr__json_string(&json, "name", "vgg16");
    fr__json_open(&json, "list", '[', false);
    fr__json_count(&json, NULL, 1);
    fr__json_open(&json, NULL, '{', false);
    fr__json_bool(&json, "yes", true);
    fr__json_bool(&json, "no", false);
    fr__json_close(&json, '}');
    fr__json_close(&json, ']');
    fr__json_null(&json, "none");
    fr__json_close(&json, '}');
    assert_written("{\n"
                   "  \"name\": \"vgg16\",\n"
                   "  \"list\": [\n"
                   "    1,\n"
                   "    {\n"
                   "      \"yes\": true,\n"
                   "      \"no\": false\n"
                   "    }\n"
                   "  ],\n"
                   "  \"none\": null\n"
                   "}\n");
}

TEST(compact_values_stay_on_one_line_with_all_inside)
{
    fr__json_open(&json, NULL, '[', false);
    fr__json_open(&json, NULL, '{', true);
    fr__json_count(&json, "a", 1);
    fr__json_open(&json, "b", '[', false);
    fr__json_count(&json, NULL, 2);
    fr__json_count(&json, NULL, 3);
    fr__json_close(&json, ']');
    fr__json_close(&json, '}');
    fr__json_count(&json, NULL, 4);
    fr__json_close(&json, ']');
    assert_written("[\n  {\"a\": 1, \"b\": [2, 3]},\n  4\n]\n");
}

TEST(empty_values_have_no_line_inside)
{
    fr__json_open(&json, NULL, '[', false);
    fr__json_close(&json, ']');
    fr__json_open(&json, NULL, '{', true);
    fr__json_close(&json, '}');
    assert_written("[]\n{}\n");
}

TEST(a_closed_value_does_not_leak_into_the_next)
{
    fr__json_open(&json, NULL, '[', true);
    fr__json_count(&json, NULL, 1);
    fr__json_close(&json, ']');
    fr__json_open(&json, NULL, '[', false);
    fr__json_count(&json, NULL, 2);
    fr__json_close(&json, ']');
    assert_written("[1]\n[\n  2\n]\n");
}

TEST(numbers_are_shortest_and_null_when_not_finite)
{
    fr__json_open(&json, NULL, '[', true);
    fr__json_number(&json, NULL, 0.1);
    fr__json_number(&json, NULL, 1e-9);
    fr__json_number(&json, NULL, -3);
    fr__json_number(&json, NULL, HUGE_VAL);
    fr__json_number(&json, NULL, NAN);
    fr__json_count(&json, NULL, UINT64_MAX);
    fr__json_close(&json, ']');
    assert_written("[0.1, 1e-09, -3, null, null, 18446744073709551615]\n");
}

TEST(strings_are_escaped)
{
    fr__json_open(&json, NULL, '{', true);
    fr__json_string(&json, "k\"\n", "\"\\/\b\f\n\r\t\x01\x1f\x7f");
    fr__json_string(&json, "n", NULL);
    fr__json_string(&json, "", "");
    fr__json_close(&json, '}');
    assert_written("{\"k\\\"\\n\": \"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\", "
                   "\"n\": null, \"\": \"\"}\n");
}

/* What a reader would not see: RFC 8259 lets any character be written so. */
TEST(hidden_characters_are_escaped)
{
    fr__json_write_string(stream, "a\u202eb\u2066\xc2\x9b\x7f\r\xc3\xa9");
    assert_written("\"a\\u202eb\\u2066\\u009b\\u007f\\r\xc3\xa9\"");
}

/* One U+FFFD (ef bf bd) for each byte that belongs to no character. */
TEST(bytes_that_are_not_utf8_are_replaced)
{
    fr__json_write_string(stream, "\xc3\xa9\xff\xe2\x82-\xf0\x9f\x98\x80");
    assert_written("\"\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd-\xf0\x9f\x98\x80\"");
}

TEST(nesting_may_be_as_deep_as_promised)
{
    char expected[2 * FR__JSON_DEPTH + 2];

    for (int i = 0; i < FR__JSON_DEPTH; i++)
        fr__json_open(&json, NULL, '[', true);
    for (int i = 0; i < FR__JSON_DEPTH; i++)
        fr__json_close(&json, ']');
    memset(expected, '[', FR__JSON_DEPTH);
    memset(expected + FR__JSON_DEPTH, ']', FR__JSON_DEPTH);
    memcpy(expected + 2 * FR__JSON_DEPTH, "\n", 2);
    assert_written(expected);
}

int main(void)
{
    TCase *tc = tcase_create("json");

    tcase_add_checked_fixture(tc, open_stream, close_stream);
    add_tests(tc);
    return run_case(tc, "json");
}
