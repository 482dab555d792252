/* XML as a tree with positions: what is read, what is refused and where. */
#include "config.h"

#include "base/xml.h"
#include "tests/support/base_check.h"

#include <stdio.h>
#include <string.h>

static struct fr__arena *arena;

static void set_up(void)
{
    arena = fr__arena_new();
    ck_assert_ptr_nonnull(arena);
}

static void tear_down(void)
{
    fr__arena_free(arena);
}

static enum fr_status read_text(const char *text, const struct fr__xml **root, struct fr_error *err)
{
    return fr__xml_load_text(arena, text, strlen(text), "a.xml", root, err);
}

START_TEST(elements_keep_their_order_attributes_and_places)
{
    static const char text[] = "<?xml version='1.0'?>\n<!DOCTYPE a SYSTEM \"a.dtd\">\n"
                               "<a x=\"1\">\n  <!-- no -->text<b y='&lt;2'/><c/>\n</a>\n";
    const struct fr__xml *root = NULL;
    struct fr_error err;

    ck_assert_msg(read_text(text, &root, &err) == FR_OK, "%s", err.text);
    ck_assert_str_eq(root->name, "a");
    ck_assert_uint_eq(root->loc.line, 3);
    ck_assert_uint_eq(root->loc.col, 1);
    ck_assert_str_eq(fr__xml_get(root, "x"), "1");
    ck_assert_ptr_null(fr__xml_get(root, "y"));
    ck_assert_uint_eq(root->n, 2);
    ck_assert_str_eq(root->items[0]->name, "b");
    ck_assert_str_eq(fr__xml_get(root->items[0], "y"), "<2");
    ck_assert_str_eq(root->items[1]->name, "c");
    ck_assert_uint_eq(root->items[1]->loc.line, 4);
    ck_assert_uint_eq(root->items[1]->loc.col, 32);
}
END_TEST

START_TEST(entities_depth_and_broken_tags_are_refused_at_their_place)
{
    static const char bomb[] = "<?xml version='1.0'?>\n<!DOCTYPE a [\n<!ENTITY b \"bbbbbbbbbb\">\n"
                               "<!ENTITY c \"&b;&b;&b;\">\n]>\n<a>&c;</a>\n";
    char deep[64 * 3 + 8] = "";
    const struct fr__xml *root = NULL;
    struct fr_error err;

    ck_assert_int_eq(read_text(bomb, &root, &err), FR_EPARSE);
    ck_assert_uint_eq(err.line, 2);
    ck_assert_str_eq(err.text, "the DOCTYPE has declarations of its own, which are not read here");
    ck_assert_int_eq(read_text("<a>&b;</a>", &root, &err), FR_EPARSE);
    assert_message(&err, "a.xml:1:4: not XML: undefined entity");
    ck_assert_int_eq(read_text("<a>\n<b></a>", &root, &err), FR_EPARSE);
    assert_message(&err, "a.xml:2:6: not XML: mismatched tag");
    ck_assert_int_eq(read_text("", &root, &err), FR_EPARSE);
    assert_message(&err, "a.xml:1:1: not XML: no element found");
    ck_assert_int_eq(read_text("<a b='1' b='2'/>", &root, &err), FR_EPARSE);
    for (int i = 0; i < 65; i++)
        strcat(deep, "<a>");
    ck_assert_int_eq(read_text(deep, &root, &err), FR_EPARSE);
    assert_message(&err, "a.xml:1:193: nested deeper than 64 elements");
    ck_assert_ptr_null(root);
}
END_TEST

START_TEST(numbers_in_attributes_are_read_within_their_bounds)
{
    const struct fr__xml *root = NULL;
    struct fr_error err;
    int64_t count;
    double number;
    const char *text;

    ck_assert(read_text("<a n='-12' big='1000000000' f='2.5' bad='7x'/>", &root, &err) == FR_OK);
    ck_assert(fr__xml_integer(root, "n", 0, -20, 20, &count, &err) == FR_OK);
    ck_assert_int_eq(count, -12);
    ck_assert(fr__xml_integer(root, "none", 3, 0, 1, &count, &err) == FR_OK);
    ck_assert_int_eq(count, 3);
    ck_assert(fr__xml_number(root, "f", 0, 0, 3, &number, &err) == FR_OK);
    ck_assert_double_eq(number, 2.5);
    ck_assert_int_eq(fr__xml_integer(root, "big", 0, 1, 1024, &count, &err), FR_ERANGE);
    assert_message(&err, "a.xml:1:1: 'big' of <a> is \"1000000000\", 1 to 1024 expected");
    ck_assert_int_eq(fr__xml_integer(root, "bad", 0, 1, 1024, &count, &err), FR_EPARSE);
    assert_message(&err, "a.xml:1:1: 'bad' of <a> is \"7x\", a whole number expected");
    ck_assert_int_eq(fr__xml_number(root, "bad", 0, 0, 9, &number, &err), FR_EPARSE);
    ck_assert_int_eq(fr__xml_text(root, "none", &text, &err), FR_EPARSE);
    assert_message(&err, "a.xml:1:1: <a> has no 'none'");
    ck_assert_int_eq(count, 3);
    ck_assert_double_eq(number, 2.5);
}
END_TEST

START_TEST(without_expat_any_document_is_refused_with_the_reason)
{
    const struct fr__xml *root = NULL;
    struct fr_error err;

    ck_assert_int_eq(read_text("<a/>", &root, &err), FR_EUSAGE);
    assert_message(&err, "a.xml: is XML, and reading XML is not built in: expat was missing when "
                         "forerun was configured");
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("xml");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    if (fr__xml_is_built()) {
        tcase_add_test(tc, elements_keep_their_order_attributes_and_places);
        tcase_add_test(tc, entities_depth_and_broken_tags_are_refused_at_their_place);
        tcase_add_test(tc, numbers_in_attributes_are_read_within_their_bounds);
    } else {
        tcase_add_test(tc, without_expat_any_document_is_refused_with_the_reason);
    }
    return run_case(tc, "base/xml");
}
