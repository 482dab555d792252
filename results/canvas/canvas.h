/* results/canvas/canvas.h - boxes, lines and text in pixels, written as SVG: in pages and alone.
 *
 * The origin is the upper left and y runs down, unless a scale is given. Text may be anything: it
 * is escaped here. Colours are our own, "#RRGGBB".
 */
#ifndef FR_RESULTS_CANVAS_CANVAS_H
#define FR_RESULTS_CANVAS_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct fr__canvas {
    FILE *f;
    bool is_grey;            /* without colours */
    double scale, left, top; /* not 0: units of so many pixels, y upwards, with their upper left */
};

/* How a shape is filled and its edge is drawn. */
struct fr__ink {
    const char *fill, *edge; /* NULL: not */
    double width;            /* of the edge; 0: 1 */
    const char *dashes;      /* lengths, "6 4"; NULL: none */
    bool is_of_page;         /* the page's style says the rest: class and fill are attributes */
    const char *group;       /* the class, of a page's; NULL: none */
    double corner;           /* a box's, rounded; of half its size and more they make an oval */
};

struct fr__font {
    double points;
    const char *colour;
    enum { FR__TEXT_FROM, FR__TEXT_CENTRE, FR__TEXT_UP_TO } align; /* x is its begin, middle, end */
    double degrees;                                                /* turned to the right */
};

#define FR__FONT "Helvetica,Arial,sans-serif" /* of all pictures */

/* ---- canvas.c: hints are shown where a pointer is; NULL: none ---- */

void fr__canvas_box(const struct fr__canvas *c, double x, double y, double wide, double high,
                    struct fr__ink ink, const char *hint);
void fr__canvas_disc(const struct fr__canvas *c, double x, double y, double radius,
                     struct fr__ink ink, const char *hint);
void fr__canvas_line(const struct fr__canvas *c, double x0, double y0, double x1, double y1,
                     struct fr__ink ink);
/* n points joined; a filled one is closed. A point that is no number breaks it. */
void fr__canvas_polyline(const struct fr__canvas *c, const double (*points)[2], size_t n,
                         struct fr__ink ink);
/* The same, or as cubic Bezier curves: of the points after the first, each third is on it. */
void fr__canvas_path(const struct fr__canvas *c, const double (*points)[2], size_t n, bool is_curve,
                     struct fr__ink ink);
/* The head of an arrow from x0, y0 that ends at x1, y1. */
void fr__canvas_head(const struct fr__canvas *c, double x0, double y0, double x1, double y1,
                     const char *colour);
/* Lines of text below each other, the first with its middle at y. */
void fr__canvas_text(const struct fr__canvas *c, double x, double y, const char *text,
                     struct fr__font font);
/* A part of the canvas with an origin of its own, beyond which nothing is seen; and its end. */
void fr__canvas_clip(const struct fr__canvas *c, double x, double y, double wide, double high);
void fr__canvas_unclip(const struct fr__canvas *c);

/* ---- text.c ---- */

/* Text for elements and quoted attributes: & < > " ' become entities, control characters '?' (a
 * line end stays), bytes that are not UTF-8 U+FFFD. */
void fr__markup_text(FILE *f, const char *text);
/* x with at most two decimals, without zeros at the end: coordinates, widths. */
void fr__markup_number(FILE *f, double x);
/* How wide a line of text is, in the size's unit, in the widest font that FR__FONT may mean. */
double fr__text_wide(const char *line, size_t n, double size);
#endif
