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

static const double PIXELS = 4.0 / 3; /* of a point */

enum { PAD = 14 };

struct page {
    struct fr__canvas canvas;
    double left, top; /* in points */
};

static double across(const struct page *p, double x)
{
    return (x - p->left) * PIXELS;
}

static double down(const struct page *p, double y)
{
    return (p->top - y) * PIXELS;
}

/* ---- boxes ---- */

static void put_shape(const struct page *p, const struct fr__box *b, double inset, const char *fill)
{
    const struct fr__ink ink = {.fill = fill,
                                .edge = b->edge ? b->edge : FR__COLOUR_QUIET,
                                .width = PIXELS * (b->pen > 0 ? b->pen : 1),
                                .dashes = b->is_dashed ? "6 4" : NULL,
                                .corner = b->shape == FR__OVAL    ? 1e9
                                          : b->shape == FR__ROUND ? 8
                                                                  : 0};

    fr__canvas_box(&p->canvas, across(p, b->x - b->w / 2 + inset), down(p, b->y + b->h / 2 - inset),
                   PIXELS * (b->w - 2 * inset), PIXELS * (b->h - 2 * inset), ink, NULL);
}

static void put_stripes(const struct page *p, const struct fr__box *b)
{
    double x = b->x - b->w / 2;

    for (size_t i = 0; i < b->n_stripes; i++) {
        double wide = b->w * b->stripes[i].percent / 100;

        fr__canvas_box(&p->canvas, across(p, x), down(p, b->y + b->h / 2), PIXELS * wide,
                       PIXELS * b->h, (struct fr__ink){.fill = b->stripes[i].colour}, NULL);
        x += wide;
    }
}

static void put_text(const struct page *p, const struct fr__box *b)
{
    struct fr__font font = {.points = fr__box_points(b), .colour = b->ink ? b->ink : "#222222"};
    double x = b->x, y = b->y;

    for (const char *s = b->text; *s; s++)
        y += *s == '\n' ? 0.6 * font.points : 0;
    if (b->shape == FR__FRAME) { /* in its upper left corner */
        x -= b->w / 2 - 10;
        y += b->h / 2 - font.points;
    } else if (b->shape != FR__WORDS) {
        font.align = FR__TEXT_CENTRE;
    }
    fr__canvas_text(&p->canvas, across(p, x), down(p, y), b->text, font);
}

static void put_box(const struct page *p, const struct fr__box *b)
{
    static const char *const classes[] = {"node", "node", "node", "frame", "words"};

    fprintf(p->canvas.f, "<g class=\"%s\" id=\"%s\">\n", classes[b->shape], b->id);
    if (b->is_double)
        put_shape(p, b, 0, "#FFFFFF");
    put_stripes(p, b);
    if (b->shape != FR__WORDS)
        put_shape(p, b, b->is_double ? FR__BOX_INSET : 0, b->n_stripes ? NULL : b->fill);
    put_text(p, b);
    fputs("</g>\n", p->canvas.f);
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

/* Its text is beside it where there is a place, else it is a hint. */
static void put_wire_text(const struct page *p, const struct fr__wire *w)
{
    bool is_beside = w->text_x != 0 || w->text_y != 0;

    if (is_beside)
        fr__canvas_text(&p->canvas, across(p, w->text_x), down(p, w->text_y), w->text,
                        (struct fr__font){9, w->colour, FR__TEXT_CENTRE, 0});
    if (is_beside || !w->text[0])
        return;
    fputs("<title>", p->canvas.f);
    fr__markup_text(p->canvas.f, w->text);
    fputs("</title>\n", p->canvas.f);
}

static void put_wire(const struct page *p, const struct fr__wire *w)
{
    static const char *const dashes[] = {NULL, "6 4", "1.5 3"};
    const struct fr__ink ink = {
        .edge = w->colour, .width = PIXELS * w->pen, .dashes = dashes[w->dash]};
    double ends[2][2], x[2] = {NAN, NAN}, y[2] = {NAN, NAN};
    const double(*way)[2] = w->n ? (const double(*)[2])w->way : (const double(*)[2])ends;
    size_t n = w->n ? w->n : 2;

    if (w->from)
        fprintf(p->canvas.f, "<g class=\"edge\" data-ends=\"%s %s\">\n", w->from->id, w->to->id);
    else
        fputs("<g class=\"key\">\n", p->canvas.f);
    put_wire_text(p, w);
    if (w->n == 0) {
        leave(w->from, w->to, ends[0]);
        leave(w->to, w->from, ends[1]);
    }
    fputs("<path d=\"", p->canvas.f);
    for (size_t i = 0; i < n; i++) {
        x[0] = x[1];
        y[0] = y[1];
        x[1] = across(p, way[i][0]);
        y[1] = down(p, way[i][1]);
        fr__canvas_point(&p->canvas,
                         i == 0         ? "M"
                         : !w->is_curve ? "L"
                         : i == 1       ? "C"
                                        : " ",
                         x[1], y[1]);
    }
    fr__canvas_end_path(&p->canvas, ink);
    if (w->has_head)
        fr__canvas_head(&p->canvas, x[0], y[0], x[1], y[1], w->colour);
    fputs("</g>\n", p->canvas.f);
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
    const struct page p = {{f, is_grey}, all.left - PAD, all.top + PAD};
    double wide = PIXELS * (all.right - all.left + 2 * PAD);
    double high = PIXELS * (all.top - all.bottom + 2 * PAD);

    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"" FR__FONT
          "\" xml:space=\"preserve\" width=\"",
          f);
    fr__markup_number(f, wide);
    fputs("\" height=\"", f);
    fr__markup_number(f, high);
    fputs("\">\n", f);
    fr__canvas_box(&p.canvas, 0, 0, wide, high, (struct fr__ink){.fill = "#FFFFFF"}, NULL);
    for (const struct fr__box *b = d->boxes; b; b = b->next)
        if (b->shape == FR__FRAME)
            put_box(&p, b);
    for (const struct fr__wire *w = d->wires; w; w = w->next)
        put_wire(&p, w);
    for (const struct fr__box *b = d->boxes; b; b = b->next)
        if (b->shape != FR__FRAME)
            put_box(&p, b);
    fputs("</svg>\n", f);
}
