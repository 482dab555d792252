/* results/canvas/svg.c - writes a placed drawing as SVG.
 *
 * It is separate from canvas.c, which knows shapes but no drawing. Each box and each wire is a
 * group; a box has its name as id, a wire names its two ends, which is what tests read.
 */
#include "config.h"

#include "results/canvas/canvas.h"
#include "results/canvas/drawing.h"
#include "results/parts/colours.h"

#include <math.h>
#include <string.h>

static const double PIXELS = 4.0 / 3; /* of a point */

enum { PAD = 14 };

/* ---- boxes ---- */

static void put_shape(const struct fr__canvas *c, const struct fr__box *b, double inset,
                      const char *fill)
{
    const struct fr__ink ink = {.fill = fill,
                                .edge = b->edge ? b->edge : FR__COLOUR_QUIET,
                                .width = b->pen,
                                .dashes = b->is_dashed ? "6 4" : NULL,
                                .corner = b->shape == FR__OVAL    ? 1e9
                                          : b->shape == FR__ROUND ? 6
                                                                  : 0};

    fr__canvas_box(c, b->x - b->w / 2 + inset, b->y + b->h / 2 - inset, b->w - 2 * inset,
                   b->h - 2 * inset, ink, NULL);
}

static void put_stripes(const struct fr__canvas *c, const struct fr__box *b)
{
    double x = b->x - b->w / 2;

    for (size_t i = 0; i < b->n_stripes; i++) {
        double w = b->w * b->stripes[i].percent / 100;

        fr__canvas_box(c, x, b->y + b->h / 2, w, b->h,
                       (struct fr__ink){.fill = b->stripes[i].colour}, NULL);
        x += w;
    }
}

/* A line that is too wide is smaller than the others. */
static void put_text(const struct fr__canvas *c, const struct fr__box *b)
{
    struct fr__font font = {.colour = b->ink ? b->ink : "#222222"};
    double points = fr__box_points(b, "", 0), x = b->x, y = b->y;
    char line[FR__BOX_TEXT];

    for (const char *s = b->text; *s; s++)
        y += *s == '\n' ? 0.6 * points : 0;
    if (b->shape == FR__FRAME) { /* in its upper left corner */
        x -= b->w / 2 - 10;
        y += b->h / 2 - points;
    } else if (b->shape != FR__WORDS) {
        font.align = FR__TEXT_CENTRE;
    }
    for (const char *s = b->text; *s; y -= 1.2 * points) {
        size_t n = strcspn(s, "\n");

        snprintf(line, sizeof(line), "%.*s", (int)n, s);
        font.points = fr__box_points(b, s, n);
        fr__canvas_text(c, x, y, line, font);
        s += n + (s[n] == '\n');
    }
}

static void put_box(const struct fr__canvas *c, const struct fr__box *b)
{
    static const char *const classes[] = {"node", "node", "node", "frame", "words"};

    fprintf(c->f, "<g class=\"%s\" id=\"%s\">\n", classes[b->shape], b->id);
    if (b->is_double)
        put_shape(c, b, 0, "#FFFFFF");
    put_stripes(c, b);
    if (b->shape != FR__WORDS)
        put_shape(c, b, b->is_double ? FR__BOX_INSET : 0, b->n_stripes ? NULL : b->fill);
    put_text(c, b);
    fputs("</g>\n", c->f);
}

/* ---- wires ---- */

/* Where the line from the middle of a box to that of another leaves it. */
static void leave(const struct fr__box *b, const struct fr__box *to, double out[2])
{
    double dx = to->x - b->x, dy = to->y - b->y;
    double share =
        fmin(1, fmin(dx != 0 ? b->w / 2 / fabs(dx) : 1, dy != 0 ? b->h / 2 / fabs(dy) : 1));

    out[0] = b->x + share * dx;
    out[1] = b->y + share * dy;
}

/* A wire's text stands next to it if it was given a place there, and is a tooltip otherwise. */
static void put_wire(const struct fr__canvas *c, const struct fr__wire *w)
{
    static const char *const dashes[] = {NULL, "6 4", "1.5 3"};
    const struct fr__ink ink = {.edge = w->colour, .width = w->pen, .dashes = dashes[w->dash]};
    double ends[2][2];
    const double(*way)[2] = (const double(*)[2])(w->n ? w->way : ends);
    size_t n = w->n ? w->n : 2;

    if (w->n == 0) {
        leave(w->from, w->to, ends[0]);
        leave(w->to, w->from, ends[1]);
    }
    fprintf(c->f, w->from ? "<g class=\"edge\" data-ends=\"%s %s\">" : "<g>",
            w->from ? w->from->id : "", w->from ? w->to->id : "");
    if (w->is_beside) {
        fr__canvas_text(c, w->text_x, w->text_y, w->text,
                        (struct fr__font){9, w->colour, FR__TEXT_CENTRE, 0});
    } else if (w->text[0]) {
        fputs("<title>", c->f);
        fr__markup_text(c->f, w->text);
        fputs("</title>", c->f);
    }
    fr__canvas_path(c, way, n, w->is_curve, ink);
    if (w->has_head)
        fr__canvas_head(c, way[n - 2][0], way[n - 2][1], way[n - 1][0], way[n - 1][1], w->colour);
    fputs("</g>\n", c->f);
}

/* ---- the whole ---- */

static void widen(struct fr__extent *all, double left, double right, double bottom, double top)
{
    all->left = fmin(all->left, left);
    all->right = fmax(all->right, right);
    all->bottom = fmin(all->bottom, bottom);
    all->top = fmax(all->top, top);
}

static struct fr__extent extent_of(const struct fr_drawing *d)
{
    struct fr__extent all = {0, 0, 0, 0}, e;

    if (d->boxes)
        all = fr__box_extent(d->boxes);
    for (const struct fr__box *b = d->boxes; b; b = b->next) {
        e = fr__box_extent(b);
        widen(&all, e.left, e.right, e.bottom, e.top);
    }
    for (const struct fr__wire *w = d->wires; w; w = w->next)
        for (size_t i = 0; i < w->n; i++)
            widen(&all, w->way[i][0], w->way[i][0], w->way[i][1], w->way[i][1]);
    return all;
}

/* Frames lie below all, and wires below boxes. */
void fr__drawing_svg(FILE *f, const struct fr_drawing *d, bool is_grey)
{
    const struct fr__extent all = extent_of(d);
    const struct fr__canvas c = {f, is_grey, PIXELS, all.left - PAD, all.top + PAD};
    double wide = all.right - all.left + 2 * PAD, high = all.top - all.bottom + 2 * PAD;

    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"" FR__FONT
          "\" xml:space=\"preserve\" width=\"",
          f);
    fr__markup_number(f, PIXELS * wide);
    fputs("\" height=\"", f);
    fr__markup_number(f, PIXELS * high);
    fputs("\">\n", f);
    fr__canvas_box(&c, c.left, c.top, wide, high, (struct fr__ink){.fill = "#FFFFFF"}, NULL);
    for (const struct fr__box *b = d->boxes; b; b = b->next)
        if (b->shape == FR__FRAME)
            put_box(&c, b);
    for (const struct fr__wire *w = d->wires; w; w = w->next)
        put_wire(&c, w);
    for (const struct fr__box *b = d->boxes; b; b = b->next)
        if (b->shape != FR__FRAME)
            put_box(&c, b);
    fputs("</svg>\n", f);
}
