/* tests/results/test_document.c - what builders say becomes blocks; renderers write any of them. */
#include "config.h"

#include "results/render/render.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void fill(const void *user, size_t i, struct fr__table_row *row)
{
    (void)user;
    fr__table_text(row->cell[0], i ? "a|b" : "*x*");
    fr__table_text(row->cell[1], i ? "7" : "12");
}

static const struct fr__table_column columns[] = {{"name", false}, {"n", true}};
static const struct fr__table table = {columns, 2, 2, fill, NULL};

static char *text_of(const struct fr__document *d)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    fr__text_render(f, d, 0);
    fclose(f);
    return text;
}

static char *markdown_of(const struct fr__document *d)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    fr__markdown_render(f, d);
    fclose(f);
    return text;
}

/* Compares both and releases them and the document. */
static void check(struct fr__document *d, const char *text, const char *markdown)
{
    char *as_text, *as_markdown;

    ck_assert_int_eq(fr__document_check(d, NULL), FR_OK);
    as_text = text_of(d);
    as_markdown = markdown_of(d);
    ck_assert_str_eq(as_text, text);
    ck_assert_str_eq(as_markdown, markdown);
    free(as_text);
    free(as_markdown);
    fr__document_free(d);
}

TEST(pieces_of_a_sentence_make_lines_and_empty_lines_part_blocks)
{
    struct fr__document *d = fr__document_new();

    fr__say(d, "one ");
    fr__say_name(d, "two\x1b");
    fr__say(d, ", %d\nthe next\n\n", 3);
    fr__say(d, "\n  indented\n");
    check(d, "one two\\x1b, 3\nthe next\n\n\n  indented\n",
          "one two\\\\x1b, 3  \nthe next\n\nindented\n");
}

TEST(a_line_with_a_colon_is_the_heading_of_the_table_below)
{
    struct fr__document *d = fr__document_new();

    fr__say_heading(d, "dp");
    fr__say(d, "\nwhat is held:\n");
    fr__say_table(d, &table, 0);
    fr__say(d, "no heading:\n");
    check(d, "-- dp\n\nwhat is held:\n  name   n\n  *x*   12\n  a|b    7\nno heading:\n",
          "## dp\n\n### what is held\n\n| name | n |\n| --- | ---: |\n| \\*x\\* | 12 |\n"
          "| a\\|b | 7 |\n\nno heading:\n");
}

TEST(markup_of_a_name_is_only_text_in_markdown)
{
    struct fr__document *d = fr__document_new();

    fr__say(d, "<b>&amp; `x` [a](b) _c_ \\ #1\n");
    fr__say(d, "- not a list\n12. nor this one, 1.5\n1.5 and -3\n-3 +4\n--- 7) x\n7) x\n");
    check(d,
          "<b>&amp; `x` [a](b) _c_ \\ #1\n- not a list\n12. nor this one, 1.5\n1.5 and -3\n-3 "
          "+4\n--- 7) x\n7) x\n",
          "\\<b\\>\\&amp; \\`x\\` \\[a\\](b) \\_c\\_ \\\\ \\#1  \n\\- not a list  \n"
          "12\\. nor this one, 1.5  \n1.5 and -3  \n-3 +4  \n\\--- 7) x  \n7\\) x\n");
}

TEST(drawn_lines_keep_their_blanks_between_fences_that_they_cannot_close)
{
    struct fr__document *d = fr__document_new();

    fr__say_drawn(d);
    fr__say(d, "  a   b\n  ```` *\n");
    fr__say_plain(d);
    fr__say(d, "done\n");
    check(d, "  a   b\n  ```` *\ndone\n", "`````text\n  a   b\n  ```` *\n`````\n\ndone\n");
}

TEST(a_document_that_lacks_memory_is_an_error)
{
    struct fr_error err;

    fr__say(NULL, "nothing");
    fr__say_name(NULL, "nothing");
    fr__say_heading(NULL, "nothing");
    fr__say_table(NULL, &table, 0);
    fr__say_drawn(NULL);
    fr__say_plain(NULL);
    ck_assert_int_eq(fr__document_check(NULL, &err), FR_ENOMEM);
    fr__document_free(NULL);
}

int main(void)
{
    TCase *tc = tcase_create("document");

    add_tests(tc);
    return run_case(tc, "results/document");
}
