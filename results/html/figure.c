/* results/html/figure.c - draws the chart of any answer inside a page.
 *
 * It is separate from inline.c, whose charts of one panel are zoomed in time: here is what a file
 * of the same chart shows (charts/script.c), with hints.
 */
#include "config.h"

#include "base/error.h"
#include "results/canvas/canvas.h"
#include "results/html/html.h"
#include "results/parts/colours.h"
#include "results/parts/lanes.h"
#include "results/parts/palette.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct figure {
    struct fr__canvas canvas;
    struct fr__chart *chart;
    struct fr__panel *panel;
    double left, top, wide, high; /* of the plot, in pixels */
};

#define FRAME "#BBBBBB"
#define GRID "#E6E6E6"
static const char *const DASHED = "7 5";
/* Pixels of a character and of a line, by which notes are moved. */
static const double CHARACTER = 8.5, LINE = 19;

/* ---- places ---- */

static double across(const struct figure *g, double x, enum fr__chart_by by)
{
    if (by == FR__BY_PICTURE)
        return x * g->chart->wide;
    return g->left + g->wide * (by == FR__BY_AXIS ? fr__axis_share(&g->panel->x, x) : x);
}

static double down(const struct figure *g, double y, enum fr__chart_by by)
{
    if (by == FR__BY_PICTURE)
        return (1 - y) * g->chart->high;
    return g->top + g->high * (1 - (by == FR__BY_AXIS ? fr__axis_share(&g->panel->y, y) : y));
}

/* ---- notes and lines ---- */

static void put_note(const struct figure *g, const struct fr__chart_note *n)
{
    char grey[8];
    struct fr__font font = {.points = n->points ? n->points : 12,
                            .colour = n->colour ? n->colour : FR__COLOUR_TEXT,
                            .align = n->align == FR__FROM    ? FR__TEXT_FROM
                                     : n->align == FR__UP_TO ? FR__TEXT_UP_TO
                                                             : FR__TEXT_CENTRE};

    if (n->on)
        font.colour = fr__ink_on(g->canvas.is_grey ? fr__colour_grey(n->on, grey) : n->on);
    fr__canvas_text(&g->canvas, across(g, n->x, n->x_by) + CHARACTER * n->right,
                    down(g, n->y, n->y_by) - LINE * n->up, n->text, font);
}

static void put_lines(const struct figure *g, bool is_behind)
{
    for (const struct fr__chart_line *l = g->panel->lines; l; l = l->next) {
        double x0 = across(g, l->x0, l->x_by), y0 = down(g, l->y0, l->y_by);
        double x1 = across(g, l->x1, l->x_by), y1 = down(g, l->y1, l->y_by);

        if (l->is_behind != is_behind)
            continue;
        fr__canvas_line(&g->canvas, x0, y0, x1, y1,
                        (struct fr__ink){.edge = l->colour,
                                         .width = l->width,
                                         .dashes = l->is_dashed ? DASHED : NULL});
        if (l->has_head)
            fr__canvas_head(&g->canvas, x0, y0, x1, y1, l->colour);
    }
}

/* ---- series ---- */

/* In grey, lines that would differ in colour differ in their dashes. */
static struct fr__ink ink_of(const struct figure *g, const struct fr__chart_style *y)
{
    static const char *const dashes[] = {NULL, "7 5", "2 4", "9 4 2 4", "12 4"};
    struct fr__ink ink = {.edge = y->colour, .width = y->width > 0 ? y->width : 1.5};
    size_t i = 0;

    if (y->is_dashed)
        ink.dashes = DASHED;
    while (i < FR__PALETTE && strcmp(fr__palette(i), y->colour) != 0)
        i++;
    if (g->canvas.is_grey && !y->is_dashed && i < FR__PALETTE)
        ink.dashes = dashes[i % (sizeof(dashes) / sizeof(dashes[0]))];
    return ink;
}

static void put_point(const struct figure *g, const struct fr__chart_style *y, double x, double at,
                      const char *hint)
{
    bool is_hollow =
        y->shape == FR__CIRCLE || y->shape == FR__EMPTY_TRIANGLE || y->shape == FR__EMPTY_SQUARE;
    double r = 5 * (y->size > 0 ? y->size : 0.8);
    const double triangle[4][2] = {{x, at - r}, {x + r, at + r}, {x - r, at + r}, {x, at - r}};
    struct fr__ink ink = {
        .fill = is_hollow ? NULL : y->colour, .edge = is_hollow ? y->colour : NULL, .width = 1.5};

    switch (y->shape) {
    case FR__TRIANGLE:
    case FR__EMPTY_TRIANGLE:
        fr__canvas_polyline(&g->canvas, triangle, 4, ink);
        break;
    case FR__SQUARE:
    case FR__EMPTY_SQUARE:
        fr__canvas_box(&g->canvas, x - r, at - r, 2 * r, 2 * r, ink, hint);
        break;
    case FR__CROSS:
        ink = (struct fr__ink){.edge = y->colour, .width = 1.5};
        fr__canvas_line(&g->canvas, x - r, at - r, x + r, at + r, ink);
        fr__canvas_line(&g->canvas, x - r, at + r, x + r, at - r, ink);
        break;
    case FR__DISC:
    case FR__CIRCLE:
    case FR__N_SHAPES:
        fr__canvas_disc(&g->canvas, x, at, r, ink, hint);
        break;
    }
}

static const char *hint_of(const struct fr__chart_series *s, size_t row)
{
    return s->hints ? s->hints[row] : NULL;
}

static void put_boxes(const struct figure *g, const struct fr__chart_series *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const double *r = s->rows[i];
        double x0 = across(g, r[0], FR__BY_AXIS), x1 = across(g, r[1], FR__BY_AXIS);
        double y0 = down(g, r[2], FR__BY_AXIS), y1 = down(g, r[3], FR__BY_AXIS);

        fr__canvas_box(&g->canvas, fmin(x0, x1), fmin(y0, y1), fabs(x1 - x0), fabs(y1 - y0),
                       (struct fr__ink){.fill = s->style.colour, .edge = s->style.edge},
                       hint_of(s, i));
    }
}

/* Lines, steps and areas: a step goes across, then up or down; an area is filled down to 0. */
static void put_polyline(const struct figure *g, const struct fr__chart_series *s)
{
    bool has_steps = s->style.mark == FR__STEPS || s->style.mark == FR__AREA;
    bool is_area = s->style.mark == FR__AREA;
    double(*points)[2] = fr__arena_alloc(g->chart->arena, 2 * s->n + 2, sizeof(*points));
    size_t n = 0;

    g->chart->is_out_of_memory = g->chart->is_out_of_memory || !points;
    for (size_t i = 0; points && i < s->n; i++) {
        double x = across(g, s->rows[i][0], FR__BY_AXIS), y = down(g, s->rows[i][1], FR__BY_AXIS);

        if (is_area && i == 0) {
            points[n][0] = x;
            points[n++][1] = down(g, 0, FR__BY_AXIS);
        } else if (has_steps && i > 0) {
            points[n][0] = x;
            points[n][1] = points[n - 1][1];
            n++;
        }
        points[n][0] = x;
        points[n++][1] = y;
    }
    if (n > 0 && is_area) {
        points[n][0] = points[n - 1][0];
        points[n++][1] = down(g, 0, FR__BY_AXIS);
    }
    if (n > 0)
        fr__canvas_polyline(&g->canvas, (const double(*)[2])points, n,
                            is_area ? (struct fr__ink){.fill = s->style.colour}
                                    : ink_of(g, &s->style));
}

static void put_arrows(const struct figure *g, const struct fr__chart_series *s)
{
    for (size_t i = 0; i < s->n; i++) {
        double x0 = across(g, s->rows[i][0], FR__BY_AXIS), y0 = down(g, s->rows[i][2], FR__BY_AXIS);
        double x1 = across(g, s->rows[i][1], FR__BY_AXIS), y1 = down(g, s->rows[i][3], FR__BY_AXIS);

        fr__canvas_line(&g->canvas, x0, y0, x1, y1, ink_of(g, &s->style));
        fr__canvas_head(&g->canvas, x0, y0, x1, y1, s->style.colour);
    }
}

static void put_ranges(const struct figure *g, const struct fr__chart_series *s)
{
    const double cap = 3;

    for (size_t i = 0; i < s->n; i++) {
        double x = across(g, s->rows[i][0], FR__BY_AXIS);
        double low = down(g, s->rows[i][1], FR__BY_AXIS);
        double high = down(g, s->rows[i][2], FR__BY_AXIS);
        const double bar[6][2] = {{x - cap, low}, {x + cap, low},  {x, low},
                                  {x, high},      {x - cap, high}, {x + cap, high}};

        fr__canvas_polyline(&g->canvas, bar, 6, ink_of(g, &s->style));
    }
}

static void put_points(const struct figure *g, const struct fr__chart_series *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (isfinite(s->rows[i][0]) && isfinite(s->rows[i][1]))
            put_point(g, &s->style, across(g, s->rows[i][0], FR__BY_AXIS),
                      down(g, s->rows[i][1], FR__BY_AXIS), hint_of(s, i));
}

static void put_series(const struct figure *g, const struct fr__chart_series *s)
{
    switch (s->style.mark) {
    case FR__BOXES:
        put_boxes(g, s);
        break;
    case FR__LINE:
    case FR__STEPS:
    case FR__AREA:
        put_polyline(g, s);
        break;
    case FR__LINE_POINTS:
        put_polyline(g, s);
        put_points(g, s);
        break;
    case FR__POINTS:
        put_points(g, s);
        break;
    case FR__ARROWS:
        put_arrows(g, s);
        break;
    case FR__RANGES:
        put_ranges(g, s);
        break;
    }
}

/* A series ends at the plot, but for points and arrows, which may stand on its edge. */
static void put_all_series(const struct figure *g)
{
    struct figure inside = *g;

    inside.left = inside.top = 0;
    for (const struct fr__chart_series *s = g->panel->series; s; s = s->next) {
        bool is_clipped = s->style.mark != FR__POINTS && s->style.mark != FR__LINE_POINTS &&
                          s->style.mark != FR__ARROWS;

        if (s->n == 0)
            continue;
        if (!is_clipped) {
            put_series(g, s);
            continue;
        }
        fr__canvas_clip(&g->canvas, g->left, g->top, g->wide, g->high);
        put_series(&inside, s);
        fr__canvas_unclip(&g->canvas);
    }
}

/* ---- keys ---- */

static void put_sample(const struct figure *g, const struct fr__chart_style *y, double x, double at)
{
    if (y->mark == FR__BOXES || y->mark == FR__AREA) {
        fr__canvas_box(&g->canvas, x + 4, at - 6, FR__KEY_SWATCH - 4, 12,
                       (struct fr__ink){.fill = y->colour}, NULL);
        if (y->stripe)
            fr__canvas_box(&g->canvas, x + 4, at + 3, FR__KEY_SWATCH - 4, 3,
                           (struct fr__ink){.fill = y->stripe}, NULL);
        return;
    }
    if (y->mark != FR__POINTS)
        fr__canvas_line(&g->canvas, x, at, x + FR__KEY_SWATCH, at, ink_of(g, y));
    if (y->mark == FR__ARROWS)
        fr__canvas_head(&g->canvas, x, at, x + FR__KEY_SWATCH, at, y->colour);
    if (y->mark == FR__POINTS || y->mark == FR__LINE_POINTS)
        put_point(g, y, x + FR__KEY_SWATCH / 2.0, at, NULL);
}

static void put_key(const struct figure *g)
{
    struct fr__key_item items[FR__KEY_ITEMS];
    size_t n = fr__panel_key(g->panel, items);

    for (size_t i = 0; i < n; i++) {
        const struct fr__chart_series *of = items[i].series;
        double at = g->chart->high - items[i].y;

        if (of)
            put_sample(g, &of->style, items[i].x, at);
        fr__canvas_text(&g->canvas, items[i].x + (of ? FR__KEY_SWATCH + 8 : 0), at,
                        of ? of->style.title : g->panel->key_title,
                        (struct fr__font){.points = g->chart->is_small ? 9 : 12,
                                          .colour = of ? FR__COLOUR_TEXT : FR__COLOUR_QUIET});
    }
}

/* ---- axes ---- */

static unsigned points_of(const struct fr__chart_axis *a)
{
    return a->points ? a->points : 12;
}

static size_t lines_of(const char *text)
{
    size_t n = 1;

    for (; (text = strchr(text, '\n')) != NULL; text++)
        n++;
    return n;
}

/* A tick in units of an axis along x: its mark, its text `away` from the plot. Returns how many
 * pixels the text is high. */
static double put_x_tick(const struct figure *g, const struct fr__chart_axis *a, size_t i,
                         bool is_top)
{
    const struct fr__chart_tick *t = &a->ticks[i];
    double x = g->left + g->wide * fr__axis_share(&g->panel->x, t->at);
    double edge = is_top ? g->top : g->top + g->high, mark = t->text[0] ? 7 : 4;
    double slant = a->is_slanted ? 40 * acos(-1) / 180 : 0;
    struct fr__font font = {
        .points = points_of(a), .colour = FR__COLOUR_TEXT, .align = FR__TEXT_CENTRE};

    if (a->has_grid && t->text[0])
        fr__canvas_line(&g->canvas, x, g->top, x, g->top + g->high, (struct fr__ink){.edge = GRID});
    if (!a->is_named)
        fr__canvas_line(&g->canvas, x, edge, x, edge + (is_top ? mark : -mark),
                        (struct fr__ink){.edge = FRAME});
    if (a->is_slanted) {
        font.align = FR__TEXT_UP_TO;
        font.degrees = -40;
    }
    fr__canvas_text(&g->canvas, x, edge + (is_top ? -16 : a->is_slanted ? 10 : 16), t->text, font);
    return a->is_slanted ? fr__text_pixels(t->text, font.points) * sin(slant)
                         : LINE * (double)(lines_of(t->text) - 1);
}

static void put_x_axis(const struct figure *g)
{
    const struct fr__chart_axis *a = &g->panel->x, *above = &g->panel->top_axis;
    struct fr__font font = {.points = 12, .colour = FR__COLOUR_TEXT, .align = FR__TEXT_CENTRE};
    double most = 0;

    for (size_t i = 0; i < a->n_ticks; i++)
        most = fmax(most, put_x_tick(g, a, i, false));
    for (size_t i = 0; i < above->n_ticks; i++)
        put_x_tick(g, above, i, true);
    if (a->label)
        fr__canvas_text(&g->canvas, g->left + g->wide / 2,
                        g->top + g->high + most + (a->n_ticks > 0 && !a->hides_numbers ? 40 : 18),
                        a->label, font);
    if (above->n_ticks > 0 && above->label)
        fr__canvas_text(&g->canvas, g->left + g->wide / 2, g->top - 38, above->label, font);
}

static void put_y_axis(const struct figure *g)
{
    const struct fr__chart_axis *a = &g->panel->y;
    struct fr__font font = {
        .points = points_of(a), .colour = FR__COLOUR_TEXT, .align = FR__TEXT_UP_TO};
    double most = 0;

    for (size_t i = 0; i < a->n_ticks; i++) {
        const struct fr__chart_tick *t = &a->ticks[i];
        double y = down(g, t->at, FR__BY_AXIS), mark = t->text[0] ? 7 : 4;
        double up = 0.5 * LINE * (double)(lines_of(t->text) - 1);

        if (a->has_grid && t->text[0])
            fr__canvas_line(&g->canvas, g->left, y, g->left + g->wide, y,
                            (struct fr__ink){.edge = GRID});
        if (!a->is_named && g->panel->frame == FR__FRAME_CORNER)
            fr__canvas_line(&g->canvas, g->left, y, g->left + mark, y,
                            (struct fr__ink){.edge = FRAME});
        fr__canvas_text(&g->canvas, g->left - 9, y - up, t->text, font);
        most = fmax(most, fr__text_pixels(t->text, font.points));
    }
    if (a->label)
        fr__canvas_text(
            &g->canvas, fmax(10, g->left - 9 - most - 16), g->top + g->high / 2, a->label,
            (struct fr__font){
                .points = 12, .colour = FR__COLOUR_TEXT, .align = FR__TEXT_CENTRE, .degrees = -90});
}

static void put_frame(const struct figure *g)
{
    const double corner[3][2] = {
        {g->left, g->top}, {g->left, g->top + g->high}, {g->left + g->wide, g->top + g->high}};
    bool is_below = g->panel->frame == FR__FRAME_BELOW;

    if (g->panel->frame != FR__FRAME_NONE)
        fr__canvas_polyline(&g->canvas, corner + is_below, 3 - (size_t)is_below,
                            (struct fr__ink){.edge = FRAME});
}

/* ---- the whole ---- */

static void put_panel(struct figure *g, struct fr__panel *p)
{
    struct fr__panel_place at = fr__panel_place(p);
    struct fr__chart_note heading;

    g->panel = p;
    g->left = at.left * g->chart->wide;
    g->top = (1 - at.top) * g->chart->high;
    g->wide = (at.right - at.left) * g->chart->wide;
    g->high = (at.top - at.bottom) * g->chart->high;
    fr__panel_settle(p);
    put_x_axis(g);
    put_y_axis(g);
    put_lines(g, true);
    put_all_series(g);
    put_frame(g);
    put_lines(g, false);
    for (const struct fr__chart_note *n = p->notes; n; n = n->next)
        put_note(g, n);
    if (fr__panel_heading(p, &heading))
        put_note(g, &heading);
    put_key(g);
}

static void put_words(const struct figure *g, const char *words, double x, double y,
                      unsigned points, bool is_quiet)
{
    struct fr__font font = {.points = points,
                            .colour = is_quiet ? FR__COLOUR_QUIET : FR__COLOUR_TEXT};

    if (x > 0.5)
        font.align = FR__TEXT_UP_TO;
    if (words)
        fr__canvas_text(&g->canvas, x * g->chart->wide, (1 - y) * g->chart->high, words, font);
}

static void draw(struct figure *g)
{
    struct fr__chart *c = g->chart;

    fputs("<figure>\n<svg class=\"chart\" viewBox=\"0 0 ", g->canvas.f);
    fr__markup_number(g->canvas.f, c->wide);
    putc(' ', g->canvas.f);
    fr__markup_number(g->canvas.f, c->high);
    fputs("\" role=\"img\" aria-label=\"", g->canvas.f);
    fr__markup_text(g->canvas.f, c->title ? c->title : "chart");
    fputs("\">\n", g->canvas.f);
    put_words(g, c->title, 0.03, 0.965, 17, false);
    put_words(g, c->subtitle, 0.03, 0.928, 12, true);
    put_words(g, c->remark, 0.97, 0.965, 12, true);
    for (size_t i = 0; i < c->n_panels; i++)
        put_panel(g, &c->panels[i]);
    fputs("</svg>\n</figure>\n", g->canvas.f);
}

enum fr_status fr__html_chart(FILE *f, fr__chart_fn *chart, const void *answer,
                              const struct fr_context *ctx, struct fr_error *err)
{
    struct figure g = {.canvas = {.f = f, .is_grey = ctx && ctx->is_grey},
                       .chart = fr__chart_new()};
    bool is_out_of_memory = !g.chart;
    enum fr_status st = is_out_of_memory ? FR_OK : chart(g.chart, answer, err);

    if (g.chart && st == FR_OK)
        draw(&g);
    is_out_of_memory = is_out_of_memory || g.chart->is_out_of_memory;
    fr__chart_free(g.chart);
    if (is_out_of_memory)
        return fr__fail_nomem(err);
    return st == FR_ENOMEM || st == FR_ECANCELLED ? st : FR_OK; /* else there is nothing to draw */
}
