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

    fr__text_render(f, d);
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
    struct fr__document *d = fr__document_new(FR__FOR_LINES, 0);

    fr__say(d, "one ");
    fr__say_name(d, "two\x1b");
    fr__say(d, ", %d\nthe next\n\n", 3);
    fr__say(d, "\n  indented\n");
    check(d, "one two\\x1b, 3\nthe next\n\n\n  indented\n",
          "one two\\\\x1b, 3  \nthe next\n\nindented\n");
}

TEST(a_line_with_a_colon_is_the_heading_of_the_table_below)
{
    struct fr__document *d = fr__document_new(FR__FOR_LINES, 0);

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
    struct fr__document *d = fr__document_new(FR__FOR_LINES, 0);

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
    struct fr__document *d = fr__document_new(FR__FOR_LINES, 0);

    fr__say_drawn(d);
    fr__say(d, "  a   b\n  ```` *\n");
    fr__say_plain(d);
    fr__say(d, "done\n");
    check(d, "  a   b\n  ```` *\ndone\n", "`````text\n  a   b\n  ```` *\n`````\n\ndone\n");
}

static void fill_values(const void *user, size_t i, struct fr__table_row *row)
{
    static const char *const cells[][3] = {
        {"<b>", "1.5 ms", "-50.0 %"}, {"dp", "late: 2 days", "+25.0 %"}, {"all", "OOM", "12x"}};

    (void)user;
    for (size_t c = 0; c < 3; c++)
        fr__table_text(row->cell[c], cells[i][c]);
}

static char *page_of(const struct fr__document *d)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    ck_assert_int_eq(fr__html_render(f, d, "kind", NULL, NULL, NULL), FR_OK);
    fclose(f);
    return text;
}

/* Numbers are sorted by their value in seconds, bytes or shares; a cell that is called as a part
 * leads there; the sum is below the others and has no bar; markup of names is text. */
TEST(a_page_has_sortable_numbers_bars_and_links)
{
    static const struct fr__table_column titles[] = {
        {"a&b", false}, {"time", true}, {"change", true}};
    static const char *const bar[] = {"#123456"};
    static const char *const wanted[] = {
        "<title>one &lt;i&gt;</title>",
        "<h1>one &lt;i&gt;</h1>\n<section class=\"only\">\n<p>two</p>\n<p class=\"bad\">warning: "
        "three",
        "<h3>told</h3>\n<table class=\"sort\"><thead><tr><th>a&amp;b</th><th class=\"n\">time",
        "<td class=\"t\">&lt;b&gt;</td><td class=\"n\" data-v=\"0.0015\">1.5 ms</td>"
        "<td class=\"n\" data-v=\"-0.5\">-50.0 %</td><td class=\"w\"><span class=\"bar\">"
        "<i style=\"width:100%;background:#009E73\"></i></span></td></tr>",
        "<td class=\"t\"><a href=\"#part1\">dp</a></td><td class=\"n\" data-v=\"172800\">late: 2 "
        "days</td><td class=\"n\" data-v=\"0.25\">+25.0 %</td><td class=\"w\"><span "
        "class=\"bar\"><i style=\"width:50%;background:#123456\"></i></span></td></tr>\n"
        "</tbody><tfoot>\n<tr><td class=\"t\">all</td><td class=\"n\">OOM</td><td class=\"n\" "
        "data-v=\"12\">12x</td><td></td></tr>\n</tfoot></table>",
        "</section>\n<section class=\"run\" id=\"part1\">\n<h2>dp</h2>\n<pre> &lt;x&gt;\ny</pre>"};
    struct fr__document *d = fr__document_new(FR__FOR_PAGE, 0);
    char *page;

    fr__say(d, "one <i>\n  two\nwarning: three\n\ntold:\n");
    fr__say_table(d, &(struct fr__table){titles, 3, 3, fill_values, NULL}, 1);
    fr__say_bars(d, 2, 1, bar);
    fr__say_sum(d);
    fr__say_heading(d, "dp");
    fr__say_drawn(d);
    fr__say(d, " <x>\ny\n");
    ck_assert(fr__is_page(d));
    page = page_of(d);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        ck_assert_msg(strstr(page, wanted[i]) != NULL, "%s", wanted[i]);
    free(page);
    fr__document_free(d);
}

TEST(a_page_that_begins_with_a_table_is_called_by_its_kind)
{
    struct fr__document *d = fr__document_new(FR__FOR_PAGE, 0);
    char *page;

    fr__say_table(d, &table, 0);
    page = page_of(d);
    ck_assert_ptr_nonnull(strstr(page, "<h1>kind</h1>"));
    free(page);
    fr__document_free(d);
}

TEST(pictures_are_on_pages_alone)
{
    struct fr__document *d = fr__document_new(FR__FOR_LINES, 0);

    fr__say(d, "one\n");
    fr__say_picture(d, FR__PICTURE_TIMELINE, NULL, 1);
    fr__say(d, "two\n");
    ck_assert(!fr__is_page(d) && !fr__is_page(NULL));
    check(d, "one\ntwo\n", "one  \ntwo\n");
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
    fr__say_bars(NULL, 0, 0, NULL);
    fr__say_sum(NULL);
    fr__say_picture(NULL, FR__PICTURE_TIMELINE, NULL, 1);
    ck_assert_int_eq(fr__document_check(NULL, &err), FR_ENOMEM);
    fr__document_free(NULL);
}

int main(void)
{
    TCase *tc = tcase_create("document");

    add_tests(tc);
    return run_case(tc, "results/document");
}
