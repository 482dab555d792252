/* results/canvas/svg.c - writes a placed drawing as SVG.
 *
 * It is separate from canvas.c, which knows shapes but no drawing. Each box and each wire is a
 * group; a box has its name as id, a wire names its two ends, which is what tests read.
 */
#include "config.h"

#include "results/canvas/canvas.h"
#include "results/canvas/drawing.h"

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
                                .edge = b->edge ? b->edge : "#777777",
                                .width = PIXELS * (b->pen > 0 ? b->pen : 1),
                                .dashes = b->is_dashed ? "6 4" : NULL};

    fr__canvas_round(&p->canvas, across(p, b->x - b->w / 2 + inset),
                     down(p, b->y + b->h / 2 - inset), PIXELS * (b->w - 2 * inset),
                     PIXELS * (b->h - 2 * inset),
                     b->shape == FR__OVAL    ? PIXELS * fmax(b->w, b->h)
                     : b->shape == FR__ROUND ? 8
                                             : 0,
                     ink);
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
    double points = fr__box_points(b), x = b->x, y = b->y;
    size_t n_lines = 1;

    for (const char *s = b->text; *s; s++)
        n_lines += *s == '\n' && s[1];
    y += 0.6 * points * (double)(n_lines - 1);
    if (b->shape == FR__FRAME) { /* in its upper left corner */
        x -= b->w / 2 - 10;
        y = b->y + b->h / 2 - points;
    }
    fr__canvas_text(
        &p->canvas, across(p, x), down(p, y), b->text,
        (struct fr__font){.points = points,
                          .colour = b->ink ? b->ink : "#222222",
                          .align = b->shape >= FR__FRAME ? FR__TEXT_FROM : FR__TEXT_CENTRE});
}

static void put_box(const struct page *p, const struct fr__box *b)
{
    fprintf(p->canvas.f, "<g class=\"%s\" id=\"%s\">\n",
            b->shape == FR__WORDS   ? "words"
            : b->shape == FR__FRAME ? "frame"
                                    : "node",
            b->id);
    if (b->is_double)
        put_shape(p, b, 0, "#FFFFFF");
    put_stripes(p, b);
    if (b->shape != FR__WORDS)
        put_shape(p, b, b->is_double ? FR__BOX_INSET : 0,
                  b->n_stripes || b->shape == FR__FRAME ? NULL : b->fill);
    put_text(p, b);
    fputs("</g>\n", p->canvas.f);
}

/* ---- wires ---- */

/* Where the line from the middle of a box to another point leaves it. */
static void leave(const struct fr__box *b, const double to[2], double out[2])
{
    double dx = to[0] - b->x, dy = to[1] - b->y;
    double share =
        fmin(1, fmin(dx != 0 ? b->w / 2 / fabs(dx) : 1, dy != 0 ? b->h / 2 / fabs(dy) : 1));

    out[0] = b->x + share * dx;
    out[1] = b->y + share * dy;
}

static void put_wire(const struct page *p, const struct fr__wire *w)
{
    static const char *const dashes[] = {
        [FR__SOLID] = NULL, [FR__DASHED] = "6 4", [FR__DOTTED] = "1.5 3"};
    const struct fr__ink ink = {
        .edge = w->colour, .width = PIXELS * w->pen, .dashes = dashes[w->dash]};
    double way[FR__WIRE_WAY][2];
    size_t n = w->n ? w->n : 2;

    if (w->from)
        fprintf(p->canvas.f, "<g class=\"edge\" data-ends=\"%s %s\">\n", w->from->id, w->to->id);
    else
        fputs("<g class=\"key\">\n", p->canvas.f);
    if (w->text[0]) {
        fputs("<title>", p->canvas.f);
        fr__markup_text(p->canvas.f, w->text);
        fputs("</title>\n", p->canvas.f);
    }
    if (w->n == 0) {
        leave(w->from, (const double[2]){w->to->x, w->to->y}, way[0]);
        leave(w->to, (const double[2]){w->from->x, w->from->y}, way[1]);
    }
    for (size_t i = 0; i < n; i++) {
        way[i][0] = across(p, w->n ? w->way[i][0] : way[i][0]);
        way[i][1] = down(p, w->n ? w->way[i][1] : way[i][1]);
    }
    if (w->is_curve)
        fr__canvas_curve(&p->canvas, (const double(*)[2])way, ink);
    else
        fr__canvas_polyline(&p->canvas, (const double(*)[2])way, n, ink);
    if (w->has_head)
        fr__canvas_head(&p->canvas, way[n - 2][0], way[n - 2][1], way[n - 1][0], way[n - 1][1],
                        w->colour);
    fputs("</g>\n", p->canvas.f);
}

/* ---- the whole ---- */

static void widen(struct fr__extent *all, struct fr__extent e)
{
    all->left = fmin(all->left, e.left);
    all->right = fmax(all->right, e.right);
    all->bottom = fmin(all->bottom, e.bottom);
    all->top = fmax(all->top, e.top);
}

static struct fr__extent extent_of(const struct fr_drawing *d)
{
    struct fr__extent all = {INFINITY, -INFINITY, INFINITY, -INFINITY};

    for (const struct fr__box *b = d->boxes; b; b = b->next)
        widen(&all, fr__box_extent(b));
    for (const struct fr__wire *w = d->wires; w; w = w->next)
        for (size_t i = 0; i < w->n; i++)
            widen(&all,
                  (struct fr__extent){w->way[i][0], w->way[i][0], w->way[i][1], w->way[i][1]});
    return d->boxes ? all : (struct fr__extent){0, 0, 0, 0};
}

/* Frames lie below all, and wires below boxes. */
void fr__drawing_svg(FILE *f, const struct fr_drawing *d, bool is_grey)
{
    const struct fr__extent all = extent_of(d);
    const struct page p = {{f, is_grey}, all.left - PAD, all.top + PAD};
    double wide = PIXELS * (all.right - all.left + 2 * PAD);
    double high = PIXELS * (all.top - all.bottom + 2 * PAD);

    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", f);
    fr__markup_number(f, wide);
    fputs("\" height=\"", f);
    fr__markup_number(f, high);
    fputs("\" viewBox=\"0 0 ", f);
    fr__markup_number(f, wide);
    putc(' ', f);
    fr__markup_number(f, high);
    fputs("\" font-family=\"" FR__FONT "\" xml:space=\"preserve\">\n", f);
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
