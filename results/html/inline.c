/* results/html/inline.c - writes a chart as SVG inside a page.
 *
 * It is separate from script.c because a page's charts have hints and are zoomed, and because no
 * other program draws them. The classes of elements are those of the page's style.
 */
#include "config.h"

#include "results/html/inline.h"

#include "base/error.h"
#include "base/units.h"
#include "results/html/html.h"
#include "results/parts/colours.h"
#include "results/parts/lanes.h"
#include "results/parts/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row of a series of boxes. */
struct drawn {
    const struct fr__chart_series *series;
    size_t row;
};

struct page {
    FILE *f;
    struct fr__canvas canvas; /* of f */
    struct fr__chart *chart;
    struct fr__panel *panel;
    double left, top, wide, high; /* of the plot, in pixels from the upper left */
};

struct fr__chart *fr__inline_new(double above, double high, double below)
{
    struct fr__chart *c = fr__chart_new();

    if (!c)
        return NULL;
    c->wide = FR__INLINE_WIDTH;
    c->high = above + high + below;
    fr__chart_panel(c, FR__INLINE_LEFT / c->wide, (FR__INLINE_LEFT + FR__INLINE_PLOT) / c->wide,
                    below / c->high, (below + high) / c->high);
    return c;
}

/* ---- places ---- */

/* Pixels from the plot's left and top. */
static double across(const struct page *p, double x)
{
    return p->wide * fr__axis_share(&p->panel->x, x);
}

static double down(const struct page *p, double y)
{
    return p->high * (1 - fr__axis_share(&p->panel->y, y));
}

static void put(const struct page *p, const char *before, double x)
{
    fputs(before, p->f);
    fr__markup_number(p->f, x);
}

static void put_text(const struct page *p, const char *classes, double x, double y,
                     const char *text)
{
    fputs("<text", p->f);
    if (classes)
        fprintf(p->f, " class=\"%s\"", classes);
    put(p, " x=\"", x);
    put(p, "\" y=\"", y);
    fputs("\">", p->f);
    fr__markup_text(p->f, text);
    fputs("</text>\n", p->f);
}

/* As the page's style has it. */
static struct fr__ink ink_of(const char *group, const char *fill)
{
    return (struct fr__ink){.is_of_page = true, .group = group, .fill = group ? NULL : fill};
}

/* ---- series ---- */

static const char *hint_of(const struct fr__chart_series *s, size_t row)
{
    return s->hints ? s->hints[row] : NULL;
}

static void put_box(const struct page *p, const struct fr__chart_series *s, size_t row)
{
    const double *at = s->rows[row];
    double x = across(p, at[0]), width = across(p, at[1]) - x;

    if (width > 3)
        width -= 0.4; /* neighbours stay apart */
    fr__canvas_box(&p->canvas, x, down(p, at[3]), width, down(p, at[2]) - down(p, at[3]),
                   ink_of(s->style.group, s->style.colour), hint_of(s, row));
}

/* The unit of y that a box stands in counts from the top, then how high in it, then time. */
static int in_reading_order(const void *a, const void *b)
{
    const struct drawn *x = a, *y = b;
    const double *p = x->series->rows[x->row], *q = y->series->rows[y->row];
    double lane = floor(q[2]) - floor(p[2]);

    if (lane < 0 || lane > 0)
        return lane < 0 ? -1 : 1;
    if (p[0] < q[0] || p[0] > q[0])
        return p[0] < q[0] ? -1 : 1;
    return p[3] > q[3] ? -1 : p[3] < q[3];
}

/* All boxes, lane by lane, as a reader's keys step through them. */
static void put_boxes(const struct page *p)
{
    struct drawn *all;
    size_t n = 0;

    for (const struct fr__chart_series *s = p->panel->series; s; s = s->next)
        n += s->style.mark == FR__BOXES ? s->n : 0;
    all = fr__arena_alloc(p->chart->arena, n, sizeof(*all));
    if (!all) {
        p->chart->is_out_of_memory = true;
        return;
    }
    n = 0;
    for (const struct fr__chart_series *s = p->panel->series; s; s = s->next)
        for (size_t i = 0; s->style.mark == FR__BOXES && i < s->n; i++)
            all[n++] = (struct drawn){s, i};
    if (n > 1)
        qsort(all, n, sizeof(*all), in_reading_order);
    for (size_t i = 0; i < n; i++)
        put_box(p, all[i].series, all[i].row);
}

static void put_points(const struct page *p, const struct fr__chart_series *s)
{
    for (size_t i = 0; i < s->n; i++)
        fr__canvas_disc(&p->canvas, p->left + across(p, s->rows[i][0]),
                        p->top + down(p, s->rows[i][1]), 5, ink_of(NULL, s->style.colour),
                        hint_of(s, i));
}

/* Steps, joined to the foot where they are an area. Pieces too small to be seen are left out. */
static void put_steps(const struct page *p, const struct fr__chart_series *s)
{
    bool is_area = s->style.mark == FR__AREA;
    double left = is_area ? 0 : p->left, top = is_area ? 0 : p->top, last = NAN;
    const char *hint = s->n ? hint_of(s, s->n - 1) : NULL;

    if (s->n == 0)
        return;
    fprintf(p->f, "<path %s=\"%s\"", is_area && !s->style.group ? "fill" : "class",
            !is_area         ? "front"
            : s->style.group ? s->style.group
                             : s->style.colour);
    put(p, " d=\"M", left + across(p, s->rows[0][0]));
    put(p, " ", is_area ? p->high : top + down(p, s->rows[0][1]));
    for (size_t i = is_area ? 0 : 1; i < s->n; i++) {
        double y = nearbyint(10 * (top + down(p, s->rows[i][1]))) / 10;

        if (is_area && fabs(y - last) < 0.15)
            continue;
        put(p, "H", left + across(p, s->rows[i][0]));
        put(p, "V", y);
        last = y;
    }
    if (is_area) {
        put(p, "H", p->wide);
        put(p, "V", p->high);
        fputs("Z", p->f);
    }
    fputs(hint ? "\"><title>" : "\">", p->f);
    fr__markup_text(p->f, hint ? hint : "");
    fputs(hint ? "</title></path>\n" : "</path>\n", p->f);
}

static void put_series(const struct page *p, bool is_inside)
{
    for (const struct fr__chart_series *s = p->panel->series; s; s = s->next) {
        bool is_area = s->style.mark == FR__AREA;

        if ((s->style.mark == FR__STEPS && !is_inside) || (is_area && is_inside))
            put_steps(p, s);
        else if (s->style.mark == FR__POINTS && !is_inside)
            put_points(p, s);
    }
}

/* ---- what is in a zoomed plot ---- */

static void put_limits(const struct page *p, bool is_inside)
{
    for (const struct fr__chart_line *l = p->panel->lines; l; l = l->next) {
        bool is_upright = l->y_by == FR__BY_PANEL;

        if (is_upright != is_inside)
            continue;
        if (!is_upright) {
            fr__canvas_line(&p->canvas, p->left, p->top + down(p, l->y0), p->left + p->wide,
                            p->top + down(p, l->y0), ink_of("cap", NULL));
            continue;
        }
        fputs("<line class=\"cap\" vector-effect=\"non-scaling-stroke\" y1=\"0\" y2=\"100%\"",
              p->f);
        put(p, " x1=\"", across(p, l->x0));
        put(p, "\" x2=\"", across(p, l->x0));
        fputs("\"/>\n", p->f);
    }
}

/* Notes that stand in the plot, all or none of which have room. */
static void put_inner_notes(const struct page *p)
{
    double zoom = p->panel->notes_zoom;
    bool has_any = false;

    for (const struct fr__chart_note *n = p->panel->notes; n; n = n->next) {
        if (n->x_by != FR__BY_AXIS)
            continue;
        if (!has_any) {
            put(p, "<g class=\"numbers\" data-zoom=\"", zoom + 0.005); /* rounded up */
            fprintf(p->f, "\"%s>\n", zoom > 1 ? " display=\"none\"" : "");
        }
        has_any = true;
        fprintf(p->f, "<text class=\"o\" style=\"fill:%s\"",
                n->on       ? fr__ink_on(n->on)
                : n->colour ? n->colour
                            : FR__COLOUR_TEXT);
        put(p, " transform=\"translate(", across(p, n->x));
        put(p, " ", down(p, n->y) + 4);
        fputs(")\">", p->f);
        fr__markup_text(p->f, n->text);
        fputs("</text>\n", p->f);
    }
    if (has_any)
        fputs("</g>\n", p->f);
}

static void put_zoomed(const struct page *p)
{
    put(p, "<svg class=\"zoom\" x=\"", p->left);
    put(p, "\" y=\"", p->top);
    put(p, "\" width=\"", p->wide);
    put(p, "\" height=\"", p->high);
    put(p, "\" viewBox=\"0 0 ", p->wide);
    put(p, " ", p->high);
    fputs("\" preserveAspectRatio=\"none\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\" "
          "fill-opacity=\"0\"/>\n",
          p->f);
    put_boxes(p);
    put_series(p, true);
    put_inner_notes(p);
    put_limits(p, true);
    fputs("</svg>\n", p->f);
}

/* ---- axes ---- */

/* The axis of a zoomed panel names what the script needs to draw it again. */
static void put_x_axis(const struct page *p)
{
    const struct fr__chart_axis *a = &p->panel->x;
    double bottom = p->top + p->high;
    char span[40];

    if (p->panel->is_zoomed) {
        put_text(p, "r q", p->left - 8, bottom + 15, a->label && a->label[0] ? a->label : "time");
        fprintf(p->f, "<g class=\"g axis\" data-span=\"%s\"",
                fr__format_double(a->high - a->low, span, sizeof(span)));
        put(p, " data-y0=\"", p->top);
        put(p, "\" data-y1=\"", bottom);
        fputs("\">\n", p->f);
    } else {
        if (a->label)
            put_text(p, "m q", p->left + p->wide / 2, bottom + 38, a->label);
        fputs("<g class=\"g\">\n", p->f);
    }
    for (size_t i = 0; i < a->n_ticks; i++) {
        double x = p->left + across(p, a->ticks[i].at);

        fr__canvas_line(&p->canvas, x, p->top, x, bottom, ink_of(NULL, NULL));
        put_text(p, "m q", x, bottom + 15, a->ticks[i].text);
    }
    fputs("</g>\n", p->f);
}

static void put_ground(const struct page *p, double top, double high)
{
    fr__canvas_box(&p->canvas, p->left, top, p->wide, high, ink_of("lane", NULL), NULL);
}

/* Names of lanes have a ground behind each; numbers one behind all, or a line across. */
static void put_y_axis(const struct page *p)
{
    const struct fr__chart_axis *a = &p->panel->y;

    if (a->label)
        put_text(p, "q", 4, p->top - 12, a->label);
    if (!a->is_named && !a->has_grid)
        put_ground(p, p->top, p->high);
    for (size_t i = 0; i < a->n_ticks; i++) {
        double y = p->top + down(p, a->ticks[i].at), lane = p->high / (a->high - a->low);

        if (a->is_named) {
            put_ground(p, y - lane / 2 + 2, lane - 4);
        } else if (a->has_grid) {
            fputs("<g class=\"g\">", p->f);
            fr__canvas_line(&p->canvas, p->left, y, p->left + p->wide, y, ink_of(NULL, NULL));
            fputs("</g>", p->f);
        }
        put_text(p, a->is_named ? "r" : "r q", p->left - 8, y + 4, a->ticks[i].text);
    }
}

/* Notes beside the plot, in shares of the picture. */
static void put_outer_notes(const struct page *p)
{
    for (const struct fr__chart_note *n = p->panel->notes; n; n = n->next)
        if (n->x_by == FR__BY_PICTURE)
            put_text(p, n->align == FR__UP_TO ? "r capt" : NULL, n->x * p->chart->wide,
                     (1 - n->y) * p->chart->high, n->text);
}

/* ---- the element ---- */

enum fr_status fr__inline_finish(struct fr__chart *c, FILE *f, const char *label,
                                 struct fr_error *err)
{
    struct page p = {.f = f, .canvas = {.f = f}, .chart = c};
    struct fr__panel_place at;
    bool is_out_of_memory;

    if (!c)
        return fr__fail_nomem(err);
    p.panel = &c->panels[0];
    at = fr__panel_place(p.panel);
    p.left = at.left * c->wide;
    p.top = (1 - at.top) * c->high;
    p.wide = (at.right - at.left) * c->wide;
    p.high = (at.top - at.bottom) * c->high;
    fr__axis_settle(p.panel, &p.panel->x, p.panel->x.log > 0 ? 12 : 8);
    fr__axis_settle(p.panel, &p.panel->y, 8);
    put(&p, "<svg class=\"chart\" viewBox=\"0 0 ", c->wide);
    put(&p, " ", c->high);
    fprintf(f, "\" role=\"img\" aria-label=\"%s\">\n", label);
    put_outer_notes(&p);
    put_y_axis(&p);
    put_x_axis(&p);
    if (p.panel->is_zoomed)
        put_zoomed(&p);
    put_series(&p, false);
    put_limits(&p, false);
    fputs("</svg>\n", f);
    is_out_of_memory = c->is_out_of_memory;
    fr__chart_free(c);
    return is_out_of_memory ? fr__fail_nomem(err) : FR_OK;
}
