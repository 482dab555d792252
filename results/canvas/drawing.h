/* results/canvas/drawing.h - a drawing: boxes with text in them, and wires between them.
 *
 * It is made once and then written as SVG, as a picture of other formats, or as DOT text. Points of
 * 1/72 inch, y upwards. Of a drawing that is not placed graphviz is to find the places.
 */
#ifndef FR_RESULTS_CANVAS_DRAWING_H
#define FR_RESULTS_CANVAS_DRAWING_H

#include "base/arena.h"
#include "base/error.h"
#include "results/draw.h"

enum { FR__BOX_TEXT = 640, FR__BOX_INSET = 3, FR__WIRE_WAY = 8 };

#define FR__WIRE_COLOUR "#555555" /* of wires that mean nothing more */

struct fr__stripe {
    const char *colour;
    unsigned percent; /* of the box's width */
};

struct fr__box {
    enum { FR__RECT, FR__ROUND, FR__OVAL, FR__FRAME, FR__WORDS } shape; /* frame: around others */
    double x, y, w, h; /* of its middle; of words x is where they begin, and w, h are found */
    const char *fill, *edge, *ink;    /* NULL: white, and greys */
    double pen, points;               /* 0: 1 and 10; text that is too wide is made smaller */
    bool is_dashed, is_double;        /* double: a second frame FR__BOX_INSET inside the first */
    const struct fr__stripe *stripes; /* instead of fill */
    size_t n_stripes;
    char id[24];
    char text[FR__BOX_TEXT]; /* lines, as they may be shown */
    struct fr__box *next;
};

struct fr__wire {
    const struct fr__box *from, *to; /* NULL: a sample in a key */
    const char *colour;
    double pen;
    enum { FR__SOLID, FR__DASHED, FR__DOTTED } dash;
    bool has_head;
    char text[40];
    bool is_beside; /* the text, at text_x, text_y; else it is shown at a pointer */
    double text_x, text_y;
    double (*way)[2]; /* room for FR__WIRE_WAY */
    size_t n;         /* points of the way; 0: straight */
    bool is_curve;    /* as fr__canvas_curve has it */
    struct fr__wire *next;
};

/* Everything is the arena's. */
struct fr_drawing {
    struct fr__arena *arena;
    const char *name;
    bool is_directed, is_placed;
    bool is_tall; /* from top to bottom, if it is not placed */
    bool is_out_of_memory;
    struct fr__box *boxes, **last_box, spare_box;
    struct fr__wire *wires, **last_wire, spare_wire;
    double spare_way[FR__WIRE_WAY][2];
};

/* name: a word. FR_ENOMEM. */
enum fr_status fr__drawing_new(struct fr_drawing **out, const char *name, bool is_directed,
                               struct fr_error *err);
/* Hands a drawing on, if st is FR_OK and all had room; else releases it. */
enum fr_status fr__drawing_finish(struct fr_drawing *d, enum fr_status st, struct fr_drawing **out,
                                  struct fr_error *err);

/* A copy of `like`, named prefix and number. Names that start with "key" explain a colour. */
struct fr__box *fr__box(struct fr_drawing *d, const char *prefix, size_t number,
                        struct fr__box like);
/* Words that begin at x, with their middle at y. */
struct fr__box *fr__words(struct fr_drawing *d, const char *prefix, size_t number, double x,
                          double y, double points);
/* Adds to a box's text; the second a name from an input, cut with "..." after max characters, with
 * what may not be shown as base/printable.h has it. */
void fr__label(struct fr__box *b, const char *format, ...) FR_PRINTF(2, 3);
void fr__label_name(struct fr__box *b, const char *name, size_t max);
/* The size at which a line of a box's text fits it, in points. */
double fr__box_points(const struct fr__box *b, const char *line, size_t n);
/* Where a box is, words too. */
struct fr__extent {
    double left, right, bottom, top;
};
struct fr__extent fr__box_extent(const struct fr__box *b);

/* A wire, straight. Of a directed drawing it has a head. */
struct fr__wire *fr__wire(struct fr_drawing *d, const struct fr__box *from,
                          const struct fr__box *to, const char *colour, double pen);
/* The next point of its way, of at most FR__WIRE_WAY. */
void fr__wire_to(struct fr__wire *w, double x, double y);

/* files.c: writes struct fr_drawing_answer, as SVG, as what librsvg's program makes of it, or as
 * DOT text. FR_EIO: a program is not installed, or failed; FR_ECANCELLED. */
enum fr_status fr__drawing_write(FILE *f, const void *answer, const char *ending,
                                 const struct fr_context *ctx, struct fr_error *err);
/* svg.c: of what is placed */
void fr__drawing_svg(FILE *f, const struct fr_drawing *d, bool is_grey);
/* dot.c: asks graphviz for places, below the title, which is the first box. FR_EIO,
 * FR_ECANCELLED. */
enum fr_status fr__drawing_place(struct fr_drawing *d, const struct fr_context *ctx,
                                 struct fr_error *err);
#endif
