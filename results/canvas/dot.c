/* results/canvas/dot.c - a drawing as DOT text, and graphviz' places for one that has none.
 *
 * It is separate because graphviz is a program: it is told boxes with their sizes and wires, and
 * tells where they stand; what they look like is ours (svg.c). Text stands in quoted strings only.
 */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/canvas/canvas.h"
#include "results/canvas/drawing.h"
#include "results/parts/colours.h"
#include "results/parts/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BELOW_TITLE = 50, MOST = 9999 /* points of a curve */ };

static const double INCH = 72, HEAD = 7.5; /* points; how long graphviz makes an arrow's head */

/* ---- text ---- */

/* Labels decode entities. */
static void put_text(FILE *f, const char *before, const char *text)
{
    fputs(before, f);
    for (; *text; text++)
        if (*text == '\n' || *text == '&')
            fputs(*text == '&' ? "&amp;" : "\\n", f);
        else
            fprintf(f, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
    putc('"', f);
}

static void put_inches(FILE *f, const char *before, double points)
{
    long thousandths = lround(points * 1000 / INCH);

    fprintf(f, "%s%ld.%03ld", before, thousandths / 1000, thousandths % 1000);
}

/* Whether a box is a node of the graph, not a colour of the legend or a note. */
static bool is_node(const struct fr__box *b)
{
    return b->shape < FR__FRAME && strncmp(b->id, "key", 3) != 0;
}

void fr_drawing_print(FILE *f, const struct fr_drawing *d, bool is_grey)
{
    static const char *const dashes[] = {"", ", style=dashed", ", style=dotted"};
    char grey[8];

    fprintf(f,
            "// dot -Tsvg draws this\n%s %s {\n"
            "  rankdir=%s; nodesep=0.2; ranksep=0.4; labelloc=t; labeljust=l;\n"
            "  node [shape=box, style=filled, fixedsize=true, fontsize=10];\n"
            "  edge [fontsize=9, arrowsize=0.7];\n",
            d->is_directed ? "digraph" : "graph", d->name, d->is_tall ? "TB" : "LR");
    for (const struct fr__box *b = d->boxes; b; b = b->next) {
        struct fr__extent e = fr__box_extent(b);
        const char *fill = b->n_stripes ? b->stripes[0].colour : b->fill ? b->fill : "#FFFFFF";

        if (strcmp(b->id, "title0") == 0) {
            put_text(f, "  label=\"", b->text);
            fputs(";\n", f);
        }
        if (!is_node(b))
            continue;
        fprintf(f, "  %s [", b->id);
        put_inches(f, "width=", e.right - e.left);
        put_inches(f, ", height=", e.top - e.bottom);
        fprintf(f, ", fillcolor=\"%s\"", is_grey ? fr__colour_grey(fill, grey) : fill);
        put_text(f, ", label=\"", b->text);
        fputs("];\n", f);
    }
    for (const struct fr__wire *w = d->wires; w; w = w->next) {
        if (!w->from)
            continue;
        fprintf(f, "  %s %s %s [color=\"%s\"%s", w->from->id, d->is_directed ? "->" : "--",
                w->to->id, is_grey ? fr__colour_grey(w->colour, grey) : w->colour, dashes[w->dash]);
        if (w->has_head && !d->is_directed)
            fputs(", dir=forward", f);
        if (w->text[0])
            put_text(f, ", label=\" ", w->text); /* away from the line */
        fputs("];\n", f);
    }
    fputs("}\n", f);
}

/* ---- places ---- */

/* The next word of a line of numbers, in points. */
static bool take(char **rest, double *points)
{
    const char *word = strtok_r(NULL, " ", rest);

    *points = NAN;
    if (!word || fr__parse_number(word, "", FR_NOWHERE, -1e6, 1e6, points, NULL) != FR_OK)
        return false;
    *points *= INCH;
    return true;
}

/* "ID X Y W H ..." */
static bool read_box(struct fr_drawing *d, char **rest)
{
    const char *id = strtok_r(NULL, " ", rest);

    for (struct fr__box *b = d->boxes; id && b; b = b->next)
        if (strcmp(b->id, id) == 0)
            return take(rest, &b->x) && take(rest, &b->y) && take(rest, &b->w) && take(rest, &b->h);
    return false;
}

static struct fr__wire *find_wire(struct fr_drawing *d, const char *from, const char *to)
{
    for (struct fr__wire *w = d->wires; from && to && w; w = w->next)
        if (w->n == 0 && strcmp(w->from->id, from) == 0 && strcmp(w->to->id, to) == 0)
            return w;
    return NULL;
}

/* "FROM TO N X Y ... X Y [LABEL X Y] STYLE COLOUR": the points of a curve up to its head. */
static bool read_wire(struct fr_drawing *d, char **rest)
{
    const char *from = strtok_r(NULL, " ", rest), *to = strtok_r(NULL, " ", rest);
    struct fr__wire *w = find_wire(d, from, to);
    const char *count = strtok_r(NULL, " ", rest);
    size_t n = count ? strtoul(count, NULL, 10) : 0;
    double(*way)[2] = n < 4 || n > MOST ? NULL : fr__arena_alloc(d->arena, n, sizeof(*way));
    double length;
    char *after;

    if (!w || !way)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!take(rest, &way[i][0]) || !take(rest, &way[i][1]))
            return false;
    w->way = way;
    w->n = n;
    w->is_curve = true;
    length = hypot(way[n - 1][0] - way[n - 2][0], way[n - 1][1] - way[n - 2][1]);
    for (unsigned k = 0; k < 2 && length > 0; k++)
        way[n - 1][k] += HEAD * (way[n - 1][k] - way[n - 2][k]) / length;
    after = w->text[0] && **rest == '"' ? strstr(*rest + 1, "\" ") : NULL;
    if (!after)
        return true;
    w->is_beside = true;
    return strtok_r(after, " ", rest) && take(rest, &w->text_x) && take(rest, &w->text_y);
}

static bool read_places(struct fr_drawing *d, FILE *plain)
{
    char *line = NULL, *rest;
    size_t size = 0;
    bool is_good = true;

    rewind(plain);
    while (is_good && getline(&line, &size, plain) > 0) {
        const char *what = strtok_r(line, " \n", &rest);

        if (what && strcmp(what, "node") == 0)
            is_good = read_box(d, &rest);
        else if (what && strcmp(what, "edge") == 0)
            is_good = read_wire(d, &rest);
    }
    free(line);
    return is_good && !ferror(plain);
}

/* Moves what was placed below the title, and keys below that. */
static void move(struct fr_drawing *d)
{
    double left = INFINITY, top = -INFINITY, bottom = INFINITY;
    double x = d->boxes->x, y = d->boxes->y - BELOW_TITLE;

    for (const struct fr__box *b = d->boxes; b; b = b->next)
        if (is_node(b)) {
            left = fmin(left, b->x - b->w / 2);
            top = fmax(top, b->y + b->h / 2);
            bottom = fmin(bottom, b->y - b->h / 2);
        }
    for (struct fr__box *b = d->boxes->next; b; b = b->next) {
        b->x += is_node(b) ? x - left : 0;
        b->y += is_node(b) ? y - top : y - top + bottom;
    }
    for (struct fr__wire *w = d->wires; w; w = w->next) {
        w->text_x += x - left;
        w->text_y += y - top;
        for (size_t i = 0; i < w->n; i++) {
            w->way[i][0] += x - left;
            w->way[i][1] += y - top;
        }
    }
}

enum fr_status fr__drawing_place(struct fr_drawing *d, const struct fr_context *ctx,
                                 struct fr_error *err)
{
    char dot[] = "dot", format[] = "-Tplain";
    const struct fr__program program = {
        .argv = (char *[]){dot, format, NULL},
        .instead = "install graphviz, or write .dot and draw that elsewhere",
        .picture = FR__PICTURE_PLAIN};
    FILE *text, *plain;
    enum fr_status st;

    FR_TRY(fr__program_file(&text, err));
    st = fr__program_file(&plain, err);
    if (st == FR_OK) {
        fr_drawing_print(text, d, false);
        st = fr__program_run(&program, text, plain, ctx, err);
        if (st == FR_OK && !read_places(d, plain))
            st = fr__fail(err, FR_EIO, FR_NOWHERE, "dot told no places that can be read");
        fclose(plain);
    }
    fclose(text);
    if (st == FR_OK)
        move(d);
    d->is_placed = st == FR_OK;
    return st;
}
