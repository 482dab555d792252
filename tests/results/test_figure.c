/* tests/results/test_figure.c - the chart of an answer inside a page: a picture of every mark, that
 * stays inside, says what it is told whatever that is, and leaves out what refuses to be drawn. */
#include "config.h"

#include "base/error.h"
#include "results/html/html.h"
#include "results/parts/colours.h"
#include "tests/support/base_check.h"
#include "tests/support/html_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char HOSTILE[] = "<script>alert(\"x\")</script> & ]]> 'y'";

/* One series of each mark, on logarithmic and on linear axes. */
static enum fr_status every_mark(struct fr__chart *c, const void *answer, struct fr_error *err)
{
    struct fr__panel *p = fr__chart_panel(c, 0.1, 0.5, 0.2, 0.8);
    struct fr__panel *q = fr__chart_panel(c, 0.6, 0.95, 0.2, 0.8);

    (void)err;
    c->title = fr__chart_text(c, "%s", (const char *)answer);
    p->x = (struct fr__chart_axis){.low = 1, .high = 1000, .log = 10, .has_grid = true};
    p->y = (struct fr__chart_axis){.high = 4, .label = answer, .has_grid = true};
    q->x = (struct fr__chart_axis){.high = 2, .label = "x", .is_named = true, .is_slanted = true};
    q->y = (struct fr__chart_axis){.low = 4, .high = 0};
    fr__axis_tick(q, &q->x, 1, answer);
    p->key = FR__KEY_BELOW;
    p->has_key_of_all = true;
    for (unsigned mark = FR__BOXES; mark <= FR__RANGES; mark++) {
        struct fr__chart_series *s =
            fr__panel_series(mark % 2 ? p : q,
                             (struct fr__chart_style){.mark = (enum fr__chart_mark)mark,
                                                      .colour = FR__COLOUR_FORWARD,
                                                      .shape = FR__CIRCLE,
                                                      .title = fr__chart_text(c, "mark %u", mark)});

        for (unsigned i = 1; i <= 3; i++)
            fr__series_box(s, 0.5 * i, mark == FR__BOXES ? 0.5 * i + 0.4 : 0.4 * i, 0.2 * i, 1);
        fr__series_hint(s, answer);
    }
    fr__panel_note(q, (struct fr__chart_note){.text = answer, .x = 1, .y = 1});
    fr__panel_line(
        q, (struct fr__chart_line){.x1 = 1, .y1 = 1, .colour = FR__COLOUR_LIMIT, .has_head = true});
    return FR_OK;
}

static enum fr_status refuse(struct fr__chart *c, const void *answer, struct fr_error *err)
{
    (void)c, (void)answer;
    return fr__fail(err, FR_ENOENT, FR_NOWHERE, "there is nothing to draw");
}

/* A page of the chart alone; the caller frees it. */
static char *draw(fr__chart_fn *chart, const char *answer, bool is_grey)
{
    const struct fr_context ctx = {.is_grey = is_grey};
    struct fr_error err = {.text = ""};
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    ck_assert_ptr_nonnull(f);
    fr__html_begin(f, "test");
    ck_assert_int_eq(fr__html_chart(f, chart, answer, &ctx, &err), FR_OK);
    fr__html_end(f);
    fclose(f);
    return text;
}

/* The style of the page has its own colours, the picture's end with its element. */
static const char *picture_in(const char *page)
{
    const char *svg = strstr(page, "<svg class=\"chart\"");

    ck_assert_ptr_nonnull(svg);
    return svg;
}

TEST(every_mark_is_drawn_and_no_text_is_markup)
{
    char *text = draw(every_mark, HOSTILE, false);
    struct xml_tree *page = html_parse(text);
    const char *fault = html_fault(page);
    const struct xml_node *svg;

    ck_assert_msg(!fault, "%s", fault);
    svg = xml_only(page->root, (struct xml_wish){.attribute = "class", .value = "chart"});
    ck_assert_str_eq(xml_attribute(svg, "aria-label"), HOSTILE);
    /* title, axis, tick and note; beside them two hints: of the last box and of the last circle of
     * points and of points on a line */
    ck_assert_uint_eq(xml_count(svg, (struct xml_wish){.tag = "text", .text = HOSTILE}), 4);
    ck_assert_uint_eq(xml_count(svg, (struct xml_wish){.tag = "title", .text = HOSTILE}), 3);
    /* three boxes, and a sample of boxes and of areas */
    ck_assert_uint_eq(xml_count(svg, (struct xml_wish){.tag = "rect"}), 5);
    /* points and points on a line, three each and a sample */
    ck_assert_uint_eq(xml_count(svg, (struct xml_wish){.tag = "circle"}), 8);
    for (unsigned mark = FR__BOXES; mark <= FR__RANGES; mark++) {
        char name[16];

        snprintf(name, sizeof(name), "mark %u", mark);
        ck_assert_uint_eq(xml_count(svg, (struct xml_wish){.tag = "text", .text = name}), 1);
    }
    xml_free(page);
    free(text);
}

/* 0.5, 1 and 1.5 of 2: the boxes stand at a quarter, a half and three quarters of a plot that takes
 * 0.35 of 1600 pixels. */
TEST(boxes_stand_where_their_axis_says)
{
    char *text = draw(every_mark, "plain", false);
    struct xml_tree *page = html_parse(text);
    const struct xml_node *box = NULL;

    for (unsigned sample = 0; sample < 2; sample++) /* of the key, which stands at the left plot */
        box = xml_next(page->root, box, (struct xml_wish){.tag = "rect"});
    for (unsigned i = 1; i <= 3; i++) {
        box = xml_next(page->root, box, (struct xml_wish){.tag = "rect"});
        ck_assert_ptr_nonnull(box);
        ck_assert_double_eq_tol(xml_number(box, "x"), 560 * i / 4.0, 0.01);
        ck_assert_double_eq_tol(xml_number(box, "width"), 560 * 0.2, 0.01);
    }
    xml_free(page);
    free(text);
}

TEST(a_grey_picture_has_no_colour)
{
    char *text = draw(every_mark, "plain", true);
    size_t n = 0;

    for (const char *s = picture_in(text); (s = strchr(s, '#')) && s < strstr(text, "</figure>");
         s++, n++)
        ck_assert_msg(strncmp(s + 1, s + 3, 2) == 0 && strncmp(s + 1, s + 5, 2) == 0, "%.7s", s);
    ck_assert_uint_gt(n, 20);
    free(text);
}

TEST(what_refuses_leaves_nothing)
{
    char *text = draw(refuse, "plain", false);

    ck_assert_ptr_null(strstr(text, "<figure"));
    ck_assert_ptr_null(strstr(text, "class=\"chart\""));
    free(text);
}

int main(void)
{
    TCase *tc = tcase_create("page");

    add_tests(tc);
    return run_case(tc, "results/figure");
}
