/* results/canvas/drawing.c - gathers what is drawn: see drawing.h. */
#include "config.h"

#include "results/canvas/drawing.h"

#include "base/error.h"
#include "base/printable.h"
#include "results/canvas/canvas.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static const double LINE = 1.2; /* from one line of text to the next, in sizes */

enum fr_status fr__drawing_new(struct fr_drawing **out, const char *name, bool is_directed,
                               struct fr_error *err)
{
    struct fr__arena *a = fr__arena_new();
    struct fr_drawing *d = a ? fr__arena_alloc(a, 1, sizeof(*d)) : NULL;

    *out = d;
    if (!d) {
        fr__arena_free(a);
        return fr__fail_nomem(err);
    }
    d->arena = a;
    d->name = name;
    d->is_directed = is_directed;
    d->is_placed = true;
    d->last_box = &d->boxes;
    d->last_wire = &d->wires;
    return FR_OK;
}

void fr_drawing_free(struct fr_drawing *d)
{
    if (d)
        fr__arena_free(d->arena);
}

enum fr_status fr__drawing_finish(struct fr_drawing *d, enum fr_status st, struct fr_drawing **out,
                                  struct fr_error *err)
{
    if (st == FR_OK && d->is_out_of_memory)
        st = fr__fail_nomem(err);
    if (st != FR_OK)
        fr_drawing_free(d);
    *out = st == FR_OK ? d : NULL;
    return st;
}

/* ---- boxes ---- */

struct fr__box *fr__box(struct fr_drawing *d, const char *prefix, size_t number,
                        struct fr__box like)
{
    struct fr__box *b = fr__arena_alloc(d->arena, 1, sizeof(*b));

    if (b) {
        *d->last_box = b;
        d->last_box = &b->next;
    } else {
        d->is_out_of_memory = true;
        b = &d->spare_box;
    }
    *b = like;
    snprintf(b->id, sizeof(b->id), "%s%zu", prefix, number);
    return b;
}

struct fr__box *fr__words(struct fr_drawing *d, const char *prefix, size_t number, double x,
                          double y, double points)
{
    return fr__box(d, prefix, number,
                   (struct fr__box){.shape = FR__WORDS, .x = x, .y = y, .points = points});
}

void fr__label(struct fr__box *b, const char *format, ...)
{
    size_t n = strlen(b->text);
    va_list values;

    va_start(values, format);
    vsnprintf(b->text + n, sizeof(b->text) - n, format, values);
    va_end(values);
}

void fr__label_name(struct fr__box *b, const char *name, size_t max)
{
    size_t left = strlen(name), n = 0, at = strlen(b->text);

    for (size_t len; left > 0; name += len, left -= len) {
        char shown[FR__PRINTABLE];
        size_t length = fr__printable(name, left, shown, &len);

        if (n++ == max || at + length + sizeof("...") > sizeof(b->text)) {
            fr__label(b, "...");
            return;
        }
        memcpy(b->text + at, shown, length);
        at += length;
        b->text[at] = '\0';
    }
}

/* The width of the longest line at a size of 1, and how many lines there are. */
static double text_size(const char *text, size_t *n_lines)
{
    double widest = 0;

    for (*n_lines = 0; *text; ++*n_lines) {
        size_t n = strcspn(text, "\n");

        widest = fmax(widest, fr__text_wide(text, n, 1));
        text += n + (text[n] == '\n');
    }
    return widest;
}

double fr__box_points(const struct fr__box *b, const char *line, size_t n)
{
    double points = b->points > 0 ? b->points : 10, wide = fr__text_wide(line, n, 1);
    double inset = b->is_double ? FR__BOX_INSET : 0;
    size_t n_lines;

    if (b->shape == FR__WORDS || b->shape == FR__FRAME || !(b->w > 0))
        return points;
    text_size(b->text, &n_lines);
    if (n_lines > 0)
        points = fmin(points, (b->h - 2 * inset - 1) / (LINE * (double)n_lines));
    return wide > 0 ? fmin(points, (b->w - 2 * inset - 4) / wide) : points;
}

struct fr__extent fr__box_extent(const struct fr__box *b)
{
    size_t n;
    double points = b->points > 0 ? b->points : 10;
    double wide = text_size(b->text, &n) * points, high = LINE * points * (double)n;

    if (b->shape == FR__WORDS)
        return (struct fr__extent){b->x, b->x + wide, b->y - high / 2, b->y + high / 2};
    wide = b->w > 0 ? b->w : wide + 16;
    high = b->h > 0 ? b->h : high + 8;
    return (struct fr__extent){b->x - wide / 2, b->x + wide / 2, b->y - high / 2, b->y + high / 2};
}

/* ---- wires ---- */

struct fr__wire *fr__wire(struct fr_drawing *d, const struct fr__box *from,
                          const struct fr__box *to, const char *colour, double pen)
{
    struct fr__wire *w = fr__arena_alloc(d->arena, 1, sizeof(*w));
    double(*way)[2] = fr__arena_alloc(d->arena, FR__WIRE_WAY, sizeof(*way));

    if (!w || !way) {
        d->is_out_of_memory = true;
        w = &d->spare_wire;
        way = d->spare_way;
    } else {
        *d->last_wire = w;
        d->last_wire = &w->next;
    }
    *w = (struct fr__wire){.from = from,
                           .to = to,
                           .colour = colour,
                           .pen = pen,
                           .has_head = d->is_directed,
                           .way = way};
    return w;
}

void fr__wire_to(struct fr__wire *w, double x, double y)
{
    w->way[w->n][0] = x;
    w->way[w->n++][1] = y;
}
