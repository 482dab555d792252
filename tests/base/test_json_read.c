/* tests/base/test_json_read.c - JSON as a tree: what is read, and where it is wrong. */
#include "config.h"

#include "base/json.h"
#include "base/json_read.h"
#include "tests/support/base_check.h"

#include <string.h>

static struct fr__arena *arena;

static void make_arena(void)
{
    arena = fr__arena_new();
    ck_assert_ptr_nonnull(arena);
}

static void free_arena(void)
{
    fr__arena_free(arena);
}

static const struct fr__json_value *read_text(const char *text)
{
    const struct fr__json_value *v;
    struct fr_error err = {.code = FR_OK};

    ck_assert_msg(fr__json_read(arena, text, strlen(text), "it", &v, &err) == FR_OK, "%s: %s", text,
                  err.text);
    return v;
}

TEST(reads_values_of_every_kind_with_their_places)
{
    const struct fr__json_value *v = read_text(" {\"a\": [1, -2.5e+3, \"x\"],\n  \"b\": {},\t\"c\":"
                                               " true, \"d\": false, \"e\": null} ");
    const struct fr__json_value *a = v->first, *b = a->next, *c = b->next, *d = c->next;

    ck_assert(v->kind == FR__JSON_OBJECT && v->n == 5);
    ck_assert_str_eq(a->key, "a");
    ck_assert(a->kind == FR__JSON_ARRAY && a->n == 3 && !a->first->key);
    ck_assert_str_eq(a->first->text, "1");
    ck_assert_str_eq(a->first->next->text, "-2.5e+3");
    ck_assert(a->first->next->kind == FR__JSON_NUMBER);
    ck_assert(a->first->next->next->kind == FR__JSON_STRING);
    ck_assert(b->kind == FR__JSON_OBJECT && b->n == 0 && !b->first);
    ck_assert(b->loc.line == 2 && b->loc.col == 8);
    ck_assert(c->kind == FR__JSON_TRUE && d->kind == FR__JSON_FALSE);
    ck_assert(d->next->kind == FR__JSON_NULL && !d->next->next);
    ck_assert_str_eq(v->loc.file, "it");
}

TEST(reads_escapes_and_pairs_of_units_as_utf8)
{
    ck_assert_str_eq(read_text("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")->text, "\"\\/\b\f\n\r\t");
    ck_assert_str_eq(read_text("\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\"")->text,
                     "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    ck_assert_str_eq(read_text("\"\xe2\x82\xac\"")->text, "\xe2\x82\xac");
    ck_assert_str_eq(read_text("\"\"")->text, "");
}

/* What is refused, and in which column. */
static const struct {
    const char *text;
    unsigned col;
    const char *says;
} wrong[] = {
    {"", 1, "ends here, expected a value"},
    {"[1,]", 4, "found ']', expected a value"},
    {"[1 2]", 4, "expected ',' or ']'"},
    {"{\"a\" 1}", 6, "expected ':'"},
    {"{a: 1}", 2, "expected a key in quotes"},
    {"{\"a\": 1", 8, "ends here, expected ',' or '}'"},
    {"01", 2, "nothing behind the value"},
    {"1.", 3, "expected a digit"},
    {"1e+", 4, "expected a digit"},
    {"-", 2, "expected a digit"},
    {"+1", 1, "expected a value"},
    {"nul", 1, "expected a value"},
    {"'a'", 1, "expected a value"},
    {"\"a", 3, "ends here"},
    {"\"a\\", 4, "ends here"},
    {"\"\\x\"", 3, "expected one of"},
    {"\"\\u12g4\"", 6, "four hexadecimal digits"},
    {"\"\\u0000\"", 8, "no character"},
    {"\"\\ud83d\"", 8, "no character"},
    {"\"\\ud83d\\u0041\"", 14, "no character"},
    {"\"\\ude00\"", 8, "no character"},
    {"\"\n\"", 2, "expected a character of the text"},
    {"\"\xff\"", 2, "not UTF-8"},
    {"{} {}", 4, "nothing behind the value"},
};

LOOP_TEST(refuses_what_is_no_json, 0, sizeof(wrong) / sizeof(wrong[0]))
{
    const struct fr__json_value *v;
    const char *text = wrong[_i].text;
    struct fr_error err;

    ck_assert(fr__json_read(arena, text, strlen(text), NULL, &v, &err) == FR_EPARSE);
    ck_assert_msg(err.line == 1 && err.col == wrong[_i].col, "%s: %u: %s", text, err.col, err.text);
    ck_assert_msg(strstr(err.text, wrong[_i].says) != NULL, "%s: %s", text, err.text);
}

TEST(brackets_stand_inside_each_other_as_deep_as_the_writer_makes_them)
{
    char text[2 * FR__JSON_DEPTH + 3];
    const struct fr__json_value *v;
    struct fr_error err;

    for (size_t depth = FR__JSON_DEPTH; depth <= FR__JSON_DEPTH + 1; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        text[2 * depth] = '\0';
        ck_assert((fr__json_read(arena, text, 2 * depth, NULL, &v, &err) == FR_OK) ==
                  (depth == FR__JSON_DEPTH));
    }
}

TEST(reads_no_byte_behind_the_length)
{
    const struct fr__json_value *v;
    char *text = malloc(4); /* where a sanitizer sees it */

    for (size_t n = 0; n <= 4; n++) {
        memcpy(text, "tru\"", 4);
        ck_assert(fr__json_read(arena, text, n, NULL, &v, NULL) == FR_EPARSE);
        memcpy(text, "\"\\u1", 4);
        ck_assert(fr__json_read(arena, text, n, NULL, &v, NULL) == FR_EPARSE);
    }
    free(text);
}

int main(void)
{
    TCase *tc = tcase_create("json_read");

    tcase_add_checked_fixture(tc, make_arena, free_arena);
    add_tests(tc);
    return run_case(tc, "json_read");
}
