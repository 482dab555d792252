/* results/canvas/dot.c - writes a drawing as DOT text, the language of graphviz.
 *
 * It is separate because graphviz also finds the places of a drawing that has none. Text stands in
 * quoted strings only. Samples of a key hang between points that are not seen.
 */
#include "config.h"

#include "results/canvas/canvas.h"
#include "results/canvas/drawing.h"
#include "results/parts/colours.h"

#include <math.h>
#include <string.h>

enum { HEAD = 7 }; /* how long graphviz draws an arrow's, in points */

struct text {
    FILE *f;
    const struct fr_drawing *drawing;
    bool is_grey;
    const char *between; /* what stands before the next attribute */
};

/* ---- attributes ---- */

static void put_key(struct text *t, const char *key)
{
    fprintf(t->f, "%s%s=", t->between, key);
    t->between = ", ";
}

static void end_list(struct text *t)
{
    fputs(*t->between == ',' ? "];\n" : ";\n", t->f);
    t->between = " [";
}

static void put_word(struct text *t, const char *key, const char *word)
{
    put_key(t, key);
    fputs(word, t->f);
}

static void put_number(struct text *t, const char *key, double x)
{
    put_key(t, key);
    fr__markup_number(t->f, x);
}

static void put_colour(struct text *t, const char *key, const char *colour)
{
    char grey[8];

    if (!colour)
        return;
    put_key(t, key);
    fprintf(t->f, "\"%s\"", t->is_grey ? fr__colour_grey(colour, grey) : colour);
}

/* Inches with three decimals. */
static void put_inches(struct text *t, const char *key, double points)
{
    long thousandths = lround(points) * 1000 / 72;

    put_key(t, key);
    fprintf(t->f, "%ld.%03ld", thousandths / 1000, thousandths % 1000);
}

static void put_point(const struct text *t, const char *before, double x, double y)
{
    fprintf(t->f, "%s%ld,%ld", before, lround(x), lround(y));
}

/* Lines, the end of each but the last written as `end`. Labels decode entities. */
static void put_text(struct text *t, const char *key, const char *text, const char *end)
{
    put_word(t, key, "\"");
    for (; *text; text++)
        if (*text == '\n')
            fputs(end, t->f);
        else if (*text == '&')
            fputs("&amp;", t->f);
        else
            fprintf(t->f, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
}

/* ---- nodes ---- */

static void put_place(struct text *t, const struct fr__box *b)
{
    struct fr__extent e = fr__box_extent(b);
    double more = b->shape == FR__WORDS ? 16 : 0; /* neato takes no text as wide as its node */

    if (t->drawing->is_placed) {
        put_key(t, "pos");
        put_point(t, "\"", (e.left + e.right) / 2, b->y);
        fputs("!\"", t->f);
    }
    put_inches(t, "width", e.right - e.left + more);
    put_inches(t, "height", e.top - e.bottom);
    put_word(t, "fixedsize", "true");
}

static void put_fill(struct text *t, const struct fr__box *b)
{
    char grey[8];

    put_word(t, "style", b->n_stripes ? "\"striped" : b->fill ? "\"filled" : "\"");
    fputs(b->shape == FR__ROUND ? b->fill ? ",rounded" : "rounded" : "", t->f);
    fputs(b->is_dashed ? ",dashed\"" : "\"", t->f);
    if (b->n_stripes == 0) {
        put_colour(t, "fillcolor", b->fill);
        return;
    }
    put_word(t, "fillcolor", "\"");
    for (const struct fr__stripe *s = b->stripes; s < b->stripes + b->n_stripes; s++) {
        fprintf(t->f, "%s%s", s > b->stripes ? ":" : "",
                t->is_grey ? fr__colour_grey(s->colour, grey) : s->colour);
        if (s->percent < 100)
            fprintf(t->f, ";0.%02u", s->percent);
    }
    putc('"', t->f);
}

static void put_box(struct text *t, const struct fr__box *b)
{
    static const char *const shapes[] = {[FR__RECT] = "rect",
                                         [FR__ROUND] = "rect",
                                         [FR__OVAL] = "ellipse",
                                         [FR__FRAME] = "rect",
                                         [FR__WORDS] = "plaintext"};
    bool is_key = strncmp(b->id, "key", 3) == 0;
    double points = fr__box_points(b);

    fprintf(t->f, "  %s", b->id);
    if (t->drawing->is_placed || is_key)
        put_place(t, b);
    put_fill(t, b);
    if (b->shape >= FR__OVAL || is_key)
        put_word(t, "shape", shapes[b->shape]);
    if (b->shape == FR__FRAME)
        put_word(t, "labelloc", "t");
    put_colour(t, "color", b->edge);
    put_colour(t, "fontcolor", b->ink);
    if (b->pen > 0)
        put_number(t, "penwidth", b->pen);
    if (b->is_double)
        put_word(t, "peripheries", "2");
    if (points < 10 || points > 10)
        put_number(t, "fontsize", points);
    put_text(t, "label", b->text, b->shape >= FR__FRAME ? "\\l" : "\\n");
    fputs(b->shape >= FR__FRAME ? "\\l\"" : "\"", t->f);
    end_list(t);
}

/* ---- edges ---- */

/* Splines: the tip of an arrow, a point, then three for each piece. */
static void put_way(struct text *t, const struct fr__wire *w)
{
    const double(*p)[2] = w->way;
    double x = p[w->n - 1][0], y = p[w->n - 1][1];
    double dx = x - p[w->n - 2][0], dy = y - p[w->n - 2][1], length = hypot(dx, dy);

    put_word(t, "pos", "\"");
    if (w->has_head && length > 0) {
        put_point(t, "e,", x, y);
        x -= HEAD * dx / length;
        y -= HEAD * dy / length;
    }
    put_point(t, w->has_head ? " " : "", p[0][0], p[0][1]);
    for (size_t i = 1; i < w->n; i++) {
        double to[2] = {i + 1 < w->n ? p[i][0] : x, i + 1 < w->n ? p[i][1] : y};

        if (!w->is_curve) { /* control points on the ends */
            put_point(t, " ", p[i - 1][0], p[i - 1][1]);
            put_point(t, " ", to[0], to[1]);
        }
        put_point(t, " ", to[0], to[1]);
    }
    putc('"', t->f);
}

static void put_wire(struct text *t, const struct fr__wire *w, size_t n_samples)
{
    const char *line = t->drawing->is_directed ? "->" : "--";

    for (size_t end = 0; end < 2 && !w->from; end++) {
        fprintf(t->f, "  keyline%zu [pos=\"", 2 * n_samples + end);
        put_point(t, "", w->way[end][0], w->way[end][1]);
        fputs("!\", shape=point, style=invis, width=0.01, height=0.01, label=\"\"];\n", t->f);
    }
    if (w->from)
        fprintf(t->f, "  %s %s %s", w->from->id, line, w->to->id);
    else
        fprintf(t->f, "  keyline%zu %s keyline%zu", 2 * n_samples, line, 2 * n_samples + 1);
    if (w->text[0]) {
        put_text(t, t->drawing->is_placed ? "tooltip" : "label", w->text, "");
        putc('"', t->f);
        put_colour(t, "fontcolor", t->drawing->is_placed ? NULL : w->colour);
    }
    if (strcmp(w->colour, FR__WIRE_COLOUR) != 0)
        put_colour(t, "color", w->colour);
    if (w->pen < 1 || w->pen > 1)
        put_number(t, "penwidth", w->pen);
    if (w->dash != FR__SOLID)
        put_word(t, "style", w->dash == FR__DASHED ? "dashed" : "dotted");
    if (w->has_head && !t->drawing->is_directed)
        put_word(t, "dir", "forward");
    if (w->n && t->drawing->is_placed)
        put_way(t, w);
    end_list(t);
}

/* ---- the whole ---- */

void fr__drawing_dot(FILE *f, const struct fr_drawing *d, bool is_grey)
{
    struct text t = {f, d, is_grey, " ["};
    const struct fr__box *first = d->boxes;
    size_t n_samples = 0;

    fprintf(f,
            "// %s -Tsvg draws this\n"
            "%s %s {\n"
            "  bgcolor=white; pad=0.2; %s\n"
            "  node [shape=box, %sfontname=\"" FR__FONT "\", fontsize=10,\n"
            "        color=\"#777777\", fontcolor=\"#222222\"];\n"
            "  edge [fontname=\"" FR__FONT "\", fontsize=9, color=\"" FR__WIRE_COLOUR
            "\", arrowsize=0.7];\n",
            d->is_placed ? "neato -n2" : "dot", d->is_directed ? "digraph" : "graph", d->name,
            d->is_placed ? "layout=neato; inputscale=72; splines=line; outputorder=edgesfirst;"
            : d->is_tall ? "rankdir=TB; nodesep=0.25; ranksep=0.45;"
                         : "rankdir=LR; nodesep=0.15; ranksep=0.35;",
            d->is_placed ? "margin=0, " : "");
    if (!d->is_placed && first) { /* the title */
        t.between = "  labelloc=t; labeljust=l; fontname=\"" FR__FONT "\"; fontsize=16; ";
        put_text(&t, "label", first->text, "\\l");
        fputs("\\l\";\n", f);
        t.between = " [";
        first = first->next;
    }
    for (const struct fr__box *b = first; b; b = b->next)
        put_box(&t, b);
    for (const struct fr__wire *w = d->wires; w; w = w->next) {
        put_wire(&t, w, n_samples);
        n_samples += !w->from;
    }
    fputs("}\n", f);
}
