/* tests/results/test_pictures.c - what pictures share: marks of axes, colours of text, and the
 * numbers of micro-batches, all or none. */
#include "config.h"

#include "results/charts/chart.h"
#include "results/parts/colours.h"
#include "results/parts/lanes.h"
#include "results/parts/microbatches.h"
#include "results/parts/palette.h"
#include "results/parts/task_order.h"
#include "results/parts/ticks.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- marks ---- */

static bool is_1_2_or_5(double x)
{
    double power = pow(10, floor(log10(x) + 1e-9)), m = x / power;

    return fabs(m - 1) < 1e-9 || fabs(m - 2) < 1e-9 || fabs(m - 5) < 1e-9;
}

/* Over nine decades of lengths at odd places: marks inside, rising, from three to the most that is
 * asked for (twice as many where only powers of ten are left), at 1, 2, 5 or at equal steps of one
 * of these. */
START_TEST(an_axis_of_any_length_has_round_marks_neither_few_nor_many)
{
    static const double lows[] = {1e-6, 0.0037, 0.9, 1, 3.3, 47, 1e5};
    static const double lengths[] = {1.1, 1.5, 2, 3, 7, 10, 99, 1e3, 1e5, 1e9};
    double ticks[FR__MAX_TICKS];

    for (size_t i = 0; i < sizeof(lows) / sizeof(*lows); i++)
        for (size_t k = 0; k < sizeof(lengths) / sizeof(*lengths); k++) {
            double low = lows[i], high = low * lengths[k];
            unsigned n = fr__log_ticks(low, high, 10, ticks);
            bool is_even = n >= 3 && fabs(ticks[2] - 2 * ticks[1] + ticks[0]) < 1e-6 * ticks[1];

            ck_assert_uint_ge(n, 3);
            ck_assert_uint_le(n, 10);
            for (unsigned t = 0; t < n; t++) {
                ck_assert(ticks[t] >= low * (1 - 1e-6) && ticks[t] <= high * (1 + 1e-6));
                ck_assert(t == 0 || ticks[t] > ticks[t - 1]);
                ck_assert(is_1_2_or_5(is_even ? ticks[1] - ticks[0] : ticks[t]));
            }
        }
}
END_TEST

/* ---- colours ---- */

static double luminance(const char *colour)
{
    static const double weights[3] = {0.2126, 0.7152, 0.0722};
    unsigned long rgb = strtoul(colour + 1, NULL, 16);
    double sum = 0;

    for (unsigned i = 0; i < 3; i++) {
        double c = (double)((rgb >> (16 - 8 * i)) & 0xff) / 255;

        sum += weights[i] * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

/* 4.5 is what the Web Content Accessibility Guidelines 2.1 ask for (success criterion 1.4.3). */
static void check_contrast(const char *colour, const char *ink)
{
    double a = luminance(colour), b = luminance(ink);

    ck_assert_msg((fmax(a, b) + 0.05) / (fmin(a, b) + 0.05) >= 4.0, "%s on %s", ink, colour);
}

START_TEST(text_on_every_colour_can_be_read)
{
    for (unsigned c = 0; c < FR__N_CATEGORIES; c++)
        check_contrast(fr__category_colour((enum fr__category)c),
                       fr__ink_on(fr__category_colour((enum fr__category)c)));
    for (size_t i = 0; i < FR__PALETTE; i++)
        check_contrast(fr__palette(i), fr__ink_on(fr__palette(i)));
    ck_assert_str_eq(fr__ink_on("#F2C14E"), "#1F2328"); /* never white on pale yellow */
    ck_assert_str_eq(fr__ink_on("#000000"), "#FFFFFF");
    ck_assert_str_eq(fr__ink_on("#FFFFFF"), "#1F2328");
}
END_TEST

/* Text on a box is black or white by the grey that the box then has. */
START_TEST(text_on_every_grey_can_be_read)
{
    char grey[8];

    for (unsigned c = 0; c < FR__N_CATEGORIES; c++) {
        fr__colour_grey(fr__category_colour((enum fr__category)c), grey);
        check_contrast(grey, fr__ink_on(grey));
    }
}
END_TEST

START_TEST(the_colours_of_values_differ)
{
    for (size_t i = 0; i < FR__PALETTE; i++)
        for (size_t k = 0; k < i; k++)
            ck_assert_str_ne(fr__palette(i), fr__palette(k));
    ck_assert_str_eq(fr__palette(100), fr__palette(FR__PALETTE - 1));
}
END_TEST

/* Steps of 13 levels of 255 are what an eye tells apart in print, side by side. */
START_TEST(no_two_meanings_have_one_grey)
{
    static const char *const meanings[] = {FR__COLOUR_FORWARD,
                                           FR__COLOUR_FORWARD_LIGHT,
                                           FR__COLOUR_BACKWARD_DATA,
                                           FR__COLOUR_BACKWARD_DATA_LIGHT,
                                           FR__COLOUR_BACKWARD_WEIGHT,
                                           FR__COLOUR_BACKWARD_WEIGHT_LIGHT,
                                           FR__COLOUR_UPDATE,
                                           FR__COLOUR_COMMUNICATION,
                                           FR__COLOUR_COPY,
                                           FR__COLOUR_WORKSPACE,
                                           FR__COLOUR_OTHER,
                                           FR__COLOUR_IDLE};
    enum { N = sizeof(meanings) / sizeof(*meanings) };
    long levels[N];
    char grey[8];

    for (size_t i = 0; i < N; i++) {
        levels[i] = strtol(fr__colour_grey(meanings[i], grey) + 5, NULL, 16);
        ck_assert_int_eq(strncmp(grey + 1, grey + 3, 2), 0);
        ck_assert_int_eq(strncmp(grey + 3, grey + 5, 2), 0);
        for (size_t k = 0; k < i; k++)
            ck_assert_msg(labs(levels[i] - levels[k]) >= 13, "%s and %s are alike in grey",
                          meanings[i], meanings[k]);
    }
    ck_assert_str_eq(fr__colour_grey("#FF0000", grey), "#363636"); /* as light as red: 54 of 255 */
}
END_TEST

/* ---- charts ---- */

/* A chart of many series with long titles. */
static struct fr__chart *chart_with_key(enum fr__key_place place, unsigned n)
{
    struct fr__chart *c = fr__chart_new();
    struct fr__panel *p;

    ck_assert_ptr_nonnull(c);
    p = fr__chart_panel(c, 0.1, 0.9, 0.1, 0.8);
    p->x.high = p->y.high = 1;
    p->key = place;
    for (unsigned i = 0; i < n; i++)
        fr__series_point(
            fr__panel_series(p, (struct fr__chart_style){.mark = FR__LINE_POINTS,
                                                         .colour = FR__COLOUR_BACKWARD_DATA,
                                                         .title = fr__chart_text(
                                                             c, "the series with number %u", i)}),
            0.5, 0.5);
    return c;
}

START_TEST(no_key_is_clipped_and_none_of_its_entries_overlap)
{
    static const enum fr__key_place places[] = {FR__KEY_ABOVE, FR__KEY_INSIDE, FR__KEY_RIGHT,
                                                FR__KEY_BELOW};

    for (size_t k = 0; k < sizeof(places) / sizeof(*places); k++) {
        struct fr__chart *c = chart_with_key(places[k], 17);
        struct fr__key_item items[FR__KEY_ITEMS];
        size_t n = fr__panel_key(&c->panels[0], items);

        ck_assert_uint_eq(n, 17);
        for (size_t i = 0; i < n; i++) {
            double right =
                items[i].x + FR__KEY_SWATCH + 8 + fr__text_pixels(items[i].series->style.title, 12);

            ck_assert(items[i].x >= 0 && right <= c->wide);
            ck_assert(items[i].y >= 8 && items[i].y <= c->high - 8);
            for (size_t j = 0; j < n; j++)
                ck_assert(j == i || fabs(items[j].y - items[i].y) >= 16 || items[j].x >= right ||
                          items[j].x < items[i].x);
        }
        fr__chart_free(c);
    }
}
END_TEST

/* Each colour of a script is "rgb '#RRGGBB'". */
START_TEST(a_grey_chart_has_no_colour)
{
    for (unsigned is_grey = 0; is_grey < 2; is_grey++) {
        struct fr__chart *c = chart_with_key(FR__KEY_ABOVE, 3);
        unsigned n_coloured = 0;
        size_t size;
        char *text, *at;
        FILE *f = open_memstream(&text, &size);

        ck_assert_ptr_nonnull(f);
        fr__chart_script(c, is_grey, f);
        fclose(f);
        for (at = text; (at = strstr(at, "rgb '#")); at++)
            n_coloured += strncmp(at + 6, at + 8, 2) != 0 || strncmp(at + 8, at + 10, 2) != 0;
        ck_assert_uint_eq(n_coloured > 0, !is_grey);
        free(text);
        fr__chart_free(c);
    }
}
END_TEST

START_TEST(a_name_stands_in_its_box_where_it_fits)
{
    struct fr__chart *c = chart_with_key(FR__KEY_NONE, 1);
    struct fr__panel *p = &c->panels[0]; /* 1280 pixels for an axis of length 1 */
    const char *const names[] = {"a very long name of an operation", "conv1"};
    const double wide[4] = {0, 0.5, 0, 0.5}, narrow[4] = {0, 0.05, 0, 0.5},
                 none[4] = {0, 0.01, 0, 1};

    ck_assert(fr__panel_name_box(p, wide, names, 2, 12, FR__COLOUR_FORWARD));
    ck_assert_str_eq(p->last_note->text, names[0]);
    ck_assert_str_eq(p->last_note->on, FR__COLOUR_FORWARD);
    ck_assert(fr__panel_name_box(p, narrow, names, 2, 12, FR__COLOUR_BACKWARD_DATA));
    ck_assert_str_eq(p->last_note->text, "conv1");
    ck_assert(!fr__panel_name_box(p, none, names, 2, 12, FR__COLOUR_FORWARD));
    fr__chart_free(c);
}
END_TEST

/* ---- numbers of micro-batches ---- */

/* Each of 8 micro-batches passes forward and backward once on each of 4 stages. */
START_TEST(each_pass_of_a_pipeline_has_its_number_once)
{
    struct fr_question q;
    struct fr_record *r = NULL;
    struct fr_error err = {.text = ""};
    uint32_t *order, shown[8];
    struct fr__microbatch *list;
    size_t n_busy, n_shown, n;
    unsigned seen[4][8][2] = {{{0}}};

    fr_question_init(&q);
    q.workload = "vgg11";
    q.topology = "dgx1-v100";
    q.strategy = "pp:stages=4,micro=8,schedule=gpipe";
    q.n_gpus = 4;
    q.global_batch = 64;
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    n_shown = fr__shown_devices(r, 8, shown, &n_busy);
    ck_assert_uint_eq(n_shown, 4);
    ck_assert_int_eq(fr__tasks_by_lane(r, &order, &err), FR_OK);
    ck_assert_int_eq(
        fr__microbatches(r, order, shown, n_shown, 0, r->run->makespan_s, 1000, &list, &n, &err),
        FR_OK);
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_lt(list[i].microbatch, 8);
        ck_assert_double_lt(list[i].from_s, list[i].to_s);
        seen[list[i].lane][list[i].microbatch]
            [fr__category_even(list[i].category) == FR__FORWARD]++;
    }
    for (size_t lane = 0; lane < 4; lane++)
        for (size_t m = 0; m < 8; m++)
            ck_assert_msg(seen[lane][m][0] == 1 && seen[lane][m][1] == 1,
                          "lane %zu, micro-batch %zu: %u forward, %u backward", lane, m,
                          seen[lane][m][1], seen[lane][m][0]);
    free(list);
    /* more than there may be: none */
    ck_assert_int_eq(
        fr__microbatches(r, order, shown, n_shown, 0, r->run->makespan_s, 63, &list, &n, &err),
        FR_OK);
    ck_assert_uint_eq(n, 0);
    free(list);
    free(order);
    fr_record_free(r);
}
END_TEST

/* Boxes 10, 20 and 30 pixels wide; the narrowest has a number of two digits, 2.3 digits wide. */
START_TEST(the_narrowest_box_says_how_close_to_look)
{
    const struct fr__microbatch list[] = {
        {0, 1, 0, 12, FR__FORWARD}, {1, 3, 0, 13, FR__FORWARD}, {3, 6, 0, 7, FR__FORWARD}};

    ck_assert_double_eq_tol(fr__microbatches_zoom(list, 3, 10, 7), 7 * 2.3 / 10, 1e-12);
    ck_assert_double_eq_tol(fr__microbatches_zoom(list + 2, 1, 10, 7), 7 * 1.3 / 30, 1e-12);
    ck_assert_double_eq(fr__microbatches_zoom(list, 0, 10, 7), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("results/pictures");
    TCase *axes = tcase_create("axes"), *colours = tcase_create("colours");
    TCase *numbers = tcase_create("numbers"), *charts = tcase_create("charts");

    tcase_add_test(axes, an_axis_of_any_length_has_round_marks_neither_few_nor_many);
    tcase_add_test(colours, text_on_every_colour_can_be_read);
    tcase_add_test(colours, the_colours_of_values_differ);
    tcase_add_test(colours, text_on_every_grey_can_be_read);
    tcase_add_test(colours, no_two_meanings_have_one_grey);
    tcase_add_test(charts, no_key_is_clipped_and_none_of_its_entries_overlap);
    tcase_add_test(charts, a_grey_chart_has_no_colour);
    tcase_add_test(charts, a_name_stands_in_its_box_where_it_fits);
    tcase_add_test(numbers, each_pass_of_a_pipeline_has_its_number_once);
    tcase_add_test(numbers, the_narrowest_box_says_how_close_to_look);
    suite_add_tcase(s, axes);
    suite_add_tcase(s, colours);
    suite_add_tcase(s, numbers);
    suite_add_tcase(s, charts);
    return run_suite(s);
}
