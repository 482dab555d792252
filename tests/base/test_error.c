/* tests/base/test_error.c - what reaches the user when something fails. */
#include "config.h"

#include "base/error.h"
#include "tests/support/base_check.h"

#include <stdint.h>
#include <string.h>

TEST(a_message_names_the_parts_of_the_place_that_exist)
{
    struct fr_error err;

    ck_assert_int_eq(fr__fail(&err, FR_EPARSE, (struct fr_loc){"a.csv", 3, 7}, "x is %d", 5),
                     FR_EPARSE);
    assert_message(&err, "a.csv:3:7: x is 5");
    ck_assert_int_eq(err.code, FR_EPARSE);
    fr__fail(&err, FR_EPARSE, (struct fr_loc){"a.csv", 3, 0}, "x");
    assert_message(&err, "a.csv:3: x");
    fr__fail(&err, FR_EPARSE, (struct fr_loc){"a.csv", 0, 0}, "x");
    assert_message(&err, "a.csv: x");
    fr__fail(&err, FR_EUSAGE, FR_NOWHERE, "x");
    assert_message(&err, "x");
    ck_assert_int_eq(fr__fail_nomem(&err), FR_ENOMEM);
    assert_message(&err, "out of memory");
}

TEST(nobody_has_to_want_the_message)
{
    char buf[4] = "abc";
    struct fr_error err;

    ck_assert_int_eq(fr__fail(NULL, FR_EIO, FR_NOWHERE, "x"), FR_EIO);
    fr__fail(&err, FR_EIO, FR_NOWHERE, "long");
    ck_assert_str_eq(fr_error_string(&err, buf, 0), "");
    ck_assert_str_eq(buf, "abc");
    ck_assert_str_eq(fr_error_string(&err, buf, sizeof(buf)), "lon");
}

/* ESC starts a terminal's commands; so does U+009B (c2 9b). */
TEST(no_input_reaches_the_terminal_raw)
{
    /* each character that Unicode Standard Annex 9 gives a direction without a shape, and the two
     * that end lines */
    static const char *const hidden[][2] = {
        {"\u061c", "\\u061c"}, {"\u200e", "\\u200e"}, {"\u200f", "\\u200f"}, {"\u202a", "\\u202a"},
        {"\u202e", "\\u202e"}, {"\u2066", "\\u2066"}, {"\u2069", "\\u2069"}, {"\u2028", "\\u2028"},
        {"\u2029", "\\u2029"}, {"\u2027", "\u2027"},  {"\u202f", "\u202f"},  {"\u206a", "\u206a"},
        {"\u00a0", "\u00a0"},
    };
    struct fr_error err;

    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
        fr__fail(&err, FR_EPARSE, FR_NOWHERE, "%s", hidden[i][0]);
        ck_assert_str_eq(err.text, hidden[i][1]);
    }

    fr__fail(&err, FR_EPARSE, (struct fr_loc){"a\x1b[2J", 1, 1}, "%s",
             "\x01\n\x7f\xff\xc2\x9b\xe2\x82 \xc3\xa9\xf0\x9f\x98\x80");
    ck_assert_str_eq(err.file, "a\\x1b[2J");
    ck_assert_str_eq(err.text, "\\x01\\x0a\\x7f\\xff\\u009b\\xe2\\x82 \xc3\xa9\xf0\x9f\x98\x80");
}

TEST(a_message_may_quote_the_last_one)
{
    struct fr_error err;

    fr__fail(&err, FR_EPARSE, (struct fr_loc){"a", 1, 1}, "inner");
    fr__fail(&err, FR_EPARSE, (struct fr_loc){err.file, 2, 2}, "outer: %s", err.text);
    assert_message(&err, "a:2:2: outer: inner");
}

TEST(a_long_message_is_cut_between_characters)
{
    char text[1001];
    struct fr_error err;

    /* 511 bytes hold 508 of text and three dots: 254 characters of two bytes */
    for (size_t i = 0; i + 1 < sizeof(text); i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    text[1000] = '\0';
    fr__fail(&err, FR_EPARSE, (struct fr_loc){text, 1, 1}, "%s", text);
    ck_assert_uint_eq(strlen(err.text), 511);
    ck_assert_str_eq(err.text + 508, "...");
    ck_assert_int_eq(strncmp(err.text, text, 508), 0);
    /* 255 bytes hold 252 and the dots */
    ck_assert_uint_eq(strlen(err.file), 255);
    ck_assert_str_eq(err.file + 252, "...");
    /* one byte shifts them: 507 and the dots */
    fr__fail(&err, FR_EPARSE, FR_NOWHERE, "x%s", text);
    ck_assert_uint_eq(strlen(err.text), 510);
    ck_assert_str_eq(err.text + 507, "...");
}

TEST(a_message_that_just_fits_is_whole)
{
    char text[513];
    struct fr_error err;

    memset(text, 'x', 512);
    text[511] = '\0';
    fr__fail(&err, FR_EPARSE, FR_NOWHERE, "%s", text);
    ck_assert_str_eq(err.text, text);
    text[511] = 'x';
    text[512] = '\0';
    fr__fail(&err, FR_EPARSE, FR_NOWHERE, "%s", text);
    ck_assert_uint_eq(strlen(err.text), 511);
    ck_assert_str_eq(err.text + 507, "x...");
}

TEST(an_excerpt_is_whole_or_says_that_it_is_not)
{
    char buf[FR__EXCERPT], text[200];

    ck_assert_str_eq(fr__excerpt("", buf), "");
    ck_assert_str_eq(fr__excerpt("short", buf), "short");
    memset(text, 'x', sizeof(text));
    text[63] = '\0';
    ck_assert_str_eq(fr__excerpt(text, buf), text);
    text[63] = 'x';
    text[64] = '\0';
    ck_assert_str_eq(fr__excerpt(text, buf) + 59, "x...");
    /* e-acute across the cut: both its bytes go */
    memcpy(text + 59, "\xc3\xa9", 2);
    ck_assert_str_eq(fr__excerpt(text, buf) + 58, "x...");
}

TEST(the_nearest_name_is_found_if_it_is_near)
{
    static const char *const names[] = {"bandwidth", "latency", "s", "links", NULL};

    ck_assert_str_eq(fr__nearest("bandwith", names, SIZE_MAX), "bandwidth"); /* one left out */
    ck_assert_str_eq(fr__nearest("latencies", names, SIZE_MAX), "latency");  /* 3 of 9 */
    ck_assert_str_eq(fr__nearest("lniks", names, 4), "links");               /* two swapped */
    ck_assert_ptr_null(fr__nearest("lnisk", names, SIZE_MAX));               /* two pairs, of 5 */
    ck_assert_ptr_null(fr__nearest("latent heat", names, SIZE_MAX));
    ck_assert_ptr_null(fr__nearest("d", names, SIZE_MAX)); /* nothing in common with "s" */
    ck_assert_ptr_null(fr__nearest("", names, SIZE_MAX));
    ck_assert_ptr_null(fr__nearest("bandwith", names, 0));
    ck_assert_ptr_null(fr__nearest("links", names, 3)); /* among the first three */
}

TEST(a_word_of_any_length_is_compared)
{
    char word[1000];
    const char *names[] = {"x", NULL};

    memset(word, 'x', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    ck_assert_ptr_null(fr__nearest(word, names, SIZE_MAX));
    names[0] = word;
    ck_assert_ptr_null(fr__nearest("xxxx", names, SIZE_MAX));
}

TEST(the_question_is_empty_without_a_near_name)
{
    static const char *const names[] = {"ring", "tree", NULL};
    char buf[64];

    ck_assert_str_eq(fr__did_you_mean("rimg", names, SIZE_MAX, buf, sizeof(buf)),
                     ", did you mean 'ring'?");
    ck_assert_str_eq(fr__did_you_mean("butterfly", names, SIZE_MAX, buf, sizeof(buf)), "");
}

TEST(a_word_that_names_go_on_from_suggests_them)
{
    static const char *const models[] = {"gpt",     "gpt2-small", "gpt2-xl", "gpt3-1b",
                                         "gpt3-2b", "gpt3-3b",    "gpt3-4b", "gpt3-5b"};
    char buf[256], tight[32];

    ck_assert_str_eq(fr__did_you_mean("gpt2", models, 8, buf, sizeof(buf)),
                     ", did you mean 'gpt2-small' or 'gpt2-xl'?");
    ck_assert_str_eq(fr__did_you_mean("gpt3", models, 7, buf, sizeof(buf)),
                     ", did you mean 'gpt3-1b', 'gpt3-2b', 'gpt3-3b' or 'gpt3-4b'?");
    ck_assert_str_eq(fr__did_you_mean("gpt3", models, 8, buf, sizeof(buf)), /* five are too many */
                     ", did you mean 'gpt3-1b', 'gpt3-2b', 'gpt3-3b', ...?");
    ck_assert_str_eq(fr__did_you_mean("gpt2-x", models, 8, buf, sizeof(buf)),
                     ", did you mean 'gpt2-xl'?");
    ck_assert_str_eq(fr__did_you_mean("gpt3-", models, 7, buf, sizeof(buf)),
                     ", did you mean 'gpt3-1b', 'gpt3-2b', 'gpt3-3b' or 'gpt3-4b'?");
    ck_assert_str_eq(fr__did_you_mean("gp", models, 8, buf, sizeof(buf)), ", did you mean 'gpt'?");
    ck_assert_str_eq(fr__did_you_mean("gpt2", models, 8, tight, sizeof(tight)),
                     ", did you mean 'gpt'?");
}

int main(void)
{
    TCase *tc = tcase_create("error");

    add_tests(tc);
    return run_case(tc, "error");
}
