/* results/charts/chart.h - a chart, described once: panels with axes, series, notes, lines and
 * keys.
 *
 * A picture builds one and asks for a file, which gnuplot makes (script.c), or for SVG inside a
 * page (html/inline.c); it knows neither language. Text may be anything: it is copied, and escaped
 * where it is written. A failed allocation is remembered and reported when the chart is drawn, so
 * that a builder need not look.
 */
#ifndef FR_RESULTS_CHARTS_CHART_H
#define FR_RESULTS_CHARTS_CHART_H

#include "base/arena.h"
#include "results/results.h"

enum { FR__CHART_PANELS = 16, FR__TICK_TEXT = 32 };

/* ---- series ---- */

enum fr__chart_mark {
    FR__BOXES,       /* rows: x0, x1, y0, y1 */
    FR__LINE,        /* x, y; NaN breaks it */
    FR__STEPS,       /* x, y: across, then up or down */
    FR__AREA,        /* x, y: steps, filled down to 0 */
    FR__POINTS,      /* x, y */
    FR__LINE_POINTS, /* x, y */
    FR__ARROWS,      /* x0, x1, y0, y1 */
    FR__RANGES,      /* x, low, high */
};

enum fr__chart_shape {
    FR__DISC,
    FR__TRIANGLE,
    FR__SQUARE,
    FR__CIRCLE,
    FR__EMPTY_TRIANGLE,
    FR__EMPTY_SQUARE,
    FR__CROSS,
    FR__N_SHAPES
};

struct fr__chart_style {
    enum fr__chart_mark mark;
    const char *colour; /* "#RRGGBB" */
    const char *title;  /* in the key; NULL: not there */
    const char *edge;   /* of boxes; NULL: none */
    const char *stripe; /* along the foot of the key's box; NULL: none */
    const char *group;  /* the class in a page; NULL: the colour stands at the element */
    double width;       /* of a line; 0: 1.5 */
    double size;        /* of a point; 0: 0.8 */
    enum fr__chart_shape shape;
    bool is_dashed;
    bool is_key_alone; /* stands in the key though it has no rows */
};

struct fr__chart_series {
    struct fr__chart_style style;
    double (*rows)[4];
    const char **hints; /* of each row, or NULL */
    size_t n, cap;
    struct fr__chart *chart;
    struct fr__chart_series *next;
};

/* ---- axes ---- */

struct fr__chart_tick {
    const char *text; /* "": a mark without a number */
    double at;
};

struct fr__chart_axis {
    const char *label; /* NULL: none */
    double low, high;  /* low > high: it runs down; equal: chosen by the caller's mistake */
    double log;        /* the base of a logarithmic axis; 0: linear */
    struct fr__chart_tick *ticks; /* of fr__axis_tick; none: round numbers */
    size_t n_ticks, cap_ticks;
    bool has_grid;
    bool hides_numbers;
    bool is_named;   /* its ticks are names, without marks */
    bool is_slanted; /* so are its names */
    bool has_si;     /* 2M instead of 2000000 */
    unsigned points; /* of its numbers; 0: as all text */
};

/* ---- notes and lines ---- */

/* What a coordinate counts: the axis's unit, shares of the panel, shares of the picture. */
enum fr__chart_by { FR__BY_AXIS, FR__BY_PANEL, FR__BY_PICTURE };

struct fr__chart_note {
    const char *text;
    double x, y;
    double right, up; /* moved by so many characters, lines */
    enum fr__chart_by x_by, y_by;
    enum { FR__CENTRE, FR__FROM, FR__UP_TO } align; /* x is its middle, begin, end */
    unsigned points;                                /* 0: 12 */
    const char *colour;                             /* NULL: that of text */
    const char *on; /* the colour behind it, on which it is to be read; NULL: white */
    struct fr__chart_note *next;
};

struct fr__chart_line {
    double x0, y0, x1, y1;
    enum fr__chart_by x_by, y_by;
    const char *colour;
    double width; /* 0: 1 */
    bool is_dashed, has_head, is_behind;
    struct fr__chart_line *next;
};

/* ---- panels ---- */

enum fr__key_place {
    FR__KEY_NONE,
    FR__KEY_ABOVE, /* in rows above the panel, on its right */
    FR__KEY_INSIDE,
    FR__KEY_RIGHT, /* a column beside the panel, which gets narrower */
    FR__KEY_BELOW  /* in rows at the foot of the picture: its panels end above */
};

struct fr__panel {
    double left, right, bottom, top; /* shares of the picture, before keys take room */
    struct fr__chart_axis x, y;
    struct fr__chart_axis top_axis; /* in units of x; no ticks: there is none */
    const char *title;              /* over its middle */
    const char *caption;            /* over its left end */
    unsigned title_points;          /* 0: 15, of a caption 13 */
    enum { FR__FRAME_CORNER, FR__FRAME_BELOW, FR__FRAME_NONE } frame;
    enum fr__key_place key;
    const char *key_title;
    bool has_key_of_all; /* of the series of all panels, each title once */
    bool is_zoomed;      /* in a page, whose script stretches it along x */
    double notes_zoom;   /* how much closer its notes have room; at most 1: always */
    double narrows_to;   /* the width over the height; 0: the whole place */
    struct fr__chart_series *series, *last_series;
    struct fr__chart_note *notes, *last_note;
    struct fr__chart_line *lines, *last_line;
    struct fr__chart *chart;
};

struct fr__chart {
    struct fr__arena *arena;
    double wide, high;                     /* pixels */
    bool is_small;                         /* text of 10 points, for pictures inside documents */
    const char *title, *subtitle, *remark; /* the remark stands at the right of the title */
    struct fr__panel panels[FR__CHART_PANELS];
    size_t n_panels;
    bool is_out_of_memory;
};

/* Describes the chart of an answer, of the type that stands at the function. */
typedef enum fr_status fr__chart_fn(struct fr__chart *c, const void *answer, struct fr_error *err);

/* 1600 x 900. NULL: out of memory. */
struct fr__chart *fr__chart_new(void);
void fr__chart_free(struct fr__chart *c);
/* At most FR__CHART_PANELS. */
struct fr__panel *fr__chart_panel(struct fr__chart *c, double left, double right, double bottom,
                                  double top);
/* A copy of printf-like text. */
const char *fr__chart_text(struct fr__chart *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Series are drawn in their order. The style's text is copied, its colours are not. */
struct fr__chart_series *fr__panel_series(struct fr__panel *p, struct fr__chart_style style);
void fr__series_box(struct fr__chart_series *s, double x0, double x1, double y0, double y1);
void fr__series_point(struct fr__chart_series *s, double x, double y);
/* What the last row is, for pages. */
void fr__series_hint(struct fr__chart_series *s, const char *hint);
void fr__axis_tick(struct fr__panel *p, struct fr__chart_axis *axis, double at, const char *text);
/* Round numbers, where the axis has no ticks of its own; nothing for a hidden axis. most: numbers.
 * Both renderers call it. */
void fr__axis_settle(struct fr__panel *p, struct fr__chart_axis *axis, unsigned most);
/* The same of both axes, as many as have room. */
void fr__panel_settle(struct fr__panel *p);
/* Where x is along the axis: 0 at its low end, 1 at its high end. */
double fr__axis_share(const struct fr__chart_axis *a, double x);
void fr__panel_note(struct fr__panel *p, struct fr__chart_note note);
void fr__panel_line(struct fr__panel *p, struct fr__chart_line line);
/* A dashed line in the colour of limits, across the panel at y or, with is_upright, up at it. */
void fr__panel_limit(struct fr__panel *p, double at, bool is_upright);

/* Writes the first of names [n] that fits into a box in the middle of it, smaller where it must
 * be; names may be NULL. colour: the box's. Returns whether one did. */
bool fr__panel_name_box(struct fr__panel *p, const double box[4], const char *const names[],
                        size_t n, unsigned points, const char *colour);

/* 1, 2 or 5 times a power of ten, the least that is not below `least`. */
double fr__chart_step(double least);

/* ---- measures ---- */

/* How wide text of that size is, in pixels, rather too wide than too narrow. */
double fr__text_pixels(const char *text, double points);
/* Where a panel is, in shares of the picture, beside the keys. */
struct fr__panel_place {
    double left, right, bottom, top;
};
struct fr__panel_place fr__panel_place(const struct fr__panel *p);
/* Pixels of a length along the x axis, and along the y axis, both linear. */
double fr__panel_wide(const struct fr__panel *p, double length);
double fr__panel_high(const struct fr__panel *p, double length);

/* The title over the middle of a panel, or its caption over the left end, as a note; false: it has
 * neither. */
bool fr__panel_heading(const struct fr__panel *p, struct fr__chart_note *out);

/* What a key shows, and where: the left end and the middle of a row, in pixels from the left and
 * from the bottom. */
struct fr__key_item {
    const struct fr__chart_series *series; /* NULL: the key's title */
    double x, y;
};
enum { FR__KEY_ITEMS = 48 };
size_t fr__panel_key(const struct fr__panel *p, struct fr__key_item items[FR__KEY_ITEMS]);
enum { FR__KEY_SWATCH = 26, FR__KEY_ROW = 22 }; /* pixels of a sample, of a row */

/* ---- files, by gnuplot ---- */

/* gnuplot's script without the line that sets the terminal. is_grey: without colours. */
void fr__chart_script(struct fr__chart *c, bool is_grey, FILE *script);
/* Draws the chart to the end of picture where st is FR_OK, and frees it in any case. ending:
 * ".png", ".svg" or ".pdf". FR_EIO: gnuplot is missing or failed; FR_ECANCELLED; FR_ENOMEM; else
 * st. */
enum fr_status fr__chart_finish(struct fr__chart *c, enum fr_status st, FILE *picture,
                                const char *ending, const struct fr_context *ctx,
                                struct fr_error *err);
/* The chart of an answer to the end of picture; the ending may have more before its last point. As
 * fr__chart_finish, and what the chart says. */
enum fr_status fr__chart_draw(FILE *picture, fr__chart_fn *chart, const void *answer,
                              const char *ending, const struct fr_context *ctx,
                              struct fr_error *err);
/* The same as fr__chart_finish into a file of that name, whose ending says what it is. */
enum fr_status fr__chart_save(struct fr__chart *c, const char *path, const struct fr_context *ctx,
                              struct fr_error *err);
/* Whether a picture can have that ending. */
bool fr__chart_has_ending(const char *ending);
#endif
