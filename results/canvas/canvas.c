/* results/canvas/canvas.c - writes the shapes of a canvas as SVG 1.1 elements.
 *
 * It is separate from charts (html/figure.c) and drawings (svg.c), which know no SVG.
 */
#include "config.h"

#include "results/canvas/canvas.h"
#include "results/parts/colours.h"

#include <math.h>
#include <string.h>

/* Between the middles of two lines of text, and from a line's middle to its foot, as shares of the
 * font's size. */
static const double LINE = 1.2, FOOT = 0.35;

enum { MOST_LINE = 640 };

static void number(const struct fr__canvas *c, const char *before, double x)
{
    fputs(before, c->f);
    fr__markup_number(c->f, x);
}

static double length(const struct fr__canvas *c, double units)
{
    return c->scale > 0 ? c->scale * units : units;
}

static double across(const struct fr__canvas *c, double x)
{
    return length(c, x - c->left);
}

static double down(const struct fr__canvas *c, double y)
{
    return c->scale > 0 ? c->scale * (c->top - y) : y;
}

static void point(const struct fr__canvas *c, const char *before, const double at[2])
{
    number(c, before, across(c, at[0]));
    number(c, " ", down(c, at[1]));
}

static const char *shade(const struct fr__canvas *c, const char *colour, char grey[8])
{
    return c->is_grey ? fr__colour_grey(colour, grey) : colour;
}

/* As a style, since the page's own style is stronger than attributes. */
static void put_ink(const struct fr__canvas *c, struct fr__ink ink)
{
    char grey[8];

    if (ink.is_of_page && ink.group)
        fprintf(c->f, " class=\"%s\"", ink.group);
    if (ink.is_of_page && ink.fill)
        fprintf(c->f, " fill=\"%s\"", ink.fill);
    if (ink.is_of_page)
        return;
    fprintf(c->f, " style=\"fill:%s", ink.fill ? shade(c, ink.fill, grey) : "none");
    fprintf(c->f, ";stroke:%s", ink.edge ? shade(c, ink.edge, grey) : "none");
    if (ink.edge)
        number(c, ";stroke-width:", length(c, ink.width > 0 ? ink.width : 1));
    if (ink.edge && ink.dashes)
        fprintf(c->f, ";stroke-dasharray:%s", ink.dashes);
    putc('"', c->f);
}

static void end_element(const struct fr__canvas *c, const char *tag, const char *hint)
{
    if (!hint) {
        fputs("/>\n", c->f);
        return;
    }
    fputs("><title>", c->f);
    fr__markup_text(c->f, hint);
    fprintf(c->f, "</title></%s>\n", tag);
}

void fr__canvas_box(const struct fr__canvas *c, double x, double y, double wide, double high,
                    struct fr__ink ink, const char *hint)
{
    number(c, "<rect x=\"", across(c, x));
    number(c, "\" y=\"", down(c, y));
    number(c, "\" width=\"", fmax(length(c, wide), 0.2));
    number(c, "\" height=\"", fmax(length(c, high), 0));
    if (ink.corner > 0) {
        number(c, "\" rx=\"", length(c, fmin(ink.corner, wide / 2)));
        number(c, "\" ry=\"", length(c, fmin(ink.corner, high / 2)));
    }
    putc('"', c->f);
    put_ink(c, ink);
    end_element(c, "rect", hint);
}

void fr__canvas_disc(const struct fr__canvas *c, double x, double y, double radius,
                     struct fr__ink ink, const char *hint)
{
    number(c, "<circle cx=\"", across(c, x));
    number(c, "\" cy=\"", down(c, y));
    number(c, "\" r=\"", length(c, radius));
    putc('"', c->f);
    put_ink(c, ink);
    end_element(c, "circle", hint);
}

void fr__canvas_line(const struct fr__canvas *c, double x0, double y0, double x1, double y1,
                     struct fr__ink ink)
{
    number(c, "<line x1=\"", across(c, x0));
    number(c, "\" y1=\"", down(c, y0));
    number(c, "\" x2=\"", across(c, x1));
    number(c, "\" y2=\"", down(c, y1));
    putc('"', c->f);
    put_ink(c, ink);
    end_element(c, "line", NULL);
}

void fr__canvas_path(const struct fr__canvas *c, const double (*points)[2], size_t n, bool is_curve,
                     struct fr__ink ink)
{
    bool is_open = false;

    fputs("<path d=\"", c->f);
    for (size_t i = 0; i < n; i++) {
        bool is_there = isfinite(points[i][0]) && isfinite(points[i][1]);

        if (is_there)
            point(c, !is_open ? "M" : !is_curve ? "L" : i == 1 ? "C" : " ", points[i]);
        is_open = is_there;
    }
    fputs(ink.fill ? "Z\"" : "\"", c->f);
    put_ink(c, ink);
    end_element(c, "path", NULL);
}

void fr__canvas_polyline(const struct fr__canvas *c, const double (*points)[2], size_t n,
                         struct fr__ink ink)
{
    fr__canvas_path(c, points, n, false, ink);
}

void fr__canvas_head(const struct fr__canvas *c, double x0, double y0, double x1, double y1,
                     const char *colour)
{
    double far = hypot(x1 - x0, y1 - y0), pixels = c->scale > 0 ? 1 / c->scale : 1;
    double back = 10 * pixels, aside = 3.5 * pixels;
    double dx = far > 0 ? (x1 - x0) / far : 0, dy = far > 0 ? (y1 - y0) / far : 0;
    const double points[3][2] = {{x1, y1},
                                 {x1 - back * dx - aside * dy, y1 - back * dy + aside * dx},
                                 {x1 - back * dx + aside * dy, y1 - back * dy - aside * dx}};

    if (far > 0)
        fr__canvas_path(c, points, 3, false, (struct fr__ink){.fill = colour});
}

void fr__canvas_text(const struct fr__canvas *c, double x, double y, const char *text,
                     struct fr__font font)
{
    static const char *const anchors[] = {
        [FR__TEXT_FROM] = "start", [FR__TEXT_CENTRE] = "middle", [FR__TEXT_UP_TO] = "end"};
    double size = font.points * 4.0 / 3;
    char grey[8];

    for (size_t line = 0; *text; line++) {
        size_t n = strcspn(text, "\n");
        char part[MOST_LINE];

        snprintf(part, sizeof(part), "%.*s", (int)(n < MOST_LINE ? n : MOST_LINE - 1), text);
        text += n + (text[n] == '\n');
        number(c, "<text x=\"", across(c, x));
        number(c, "\" y=\"", down(c, y) + size * (LINE * (double)line + FOOT));
        fprintf(c->f, "\" style=\"font-size:");
        fr__markup_number(c->f, size);
        fprintf(c->f, "px;text-anchor:%s;fill:%s\"", anchors[font.align],
                shade(c, font.colour, grey));
        if (font.degrees != 0) {
            number(c, " transform=\"rotate(", font.degrees);
            point(c, " ", (const double[2]){x, y});
            fputs(")\"", c->f);
        }
        putc('>', c->f);
        fr__markup_text(c->f, part);
        fputs("</text>\n", c->f);
    }
}

void fr__canvas_clip(const struct fr__canvas *c, double x, double y, double wide, double high)
{
    number(c, "<svg x=\"", x);
    number(c, "\" y=\"", y);
    number(c, "\" width=\"", wide);
    number(c, "\" height=\"", high);
    fputs("\">\n", c->f);
}

void fr__canvas_unclip(const struct fr__canvas *c)
{
    fputs("</svg>\n", c->f);
}
