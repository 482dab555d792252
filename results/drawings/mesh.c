/* results/drawings/mesh.c - the picture of a mesh on its machines: see mesh.h.
 *
 * Points of 1/72 inch, y upwards. A row is up to eight GPUs of a machine. Between the rows and left
 * of each GPU is room for a line an axis.
 */
#include "config.h"

#include "results/drawings/mesh.h"

#include "base/arena.h"
#include "base/error.h"
#include "results/drawings/dot.h"
#include "study/explain/layout_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 8,    /* GPUs of a row */
    MOST_ROWS = 10, /* that are drawn */
    MOST_AXES = 6,
    CELL_W = 76,
    CELL_H = 44,
    PITCH_X = 106,
    PITCH_Y = 92,
    LANE = 5, /* from one axis' line to the next */
    LEFT = 110
};

static const char *const axis_colours[MOST_AXES] = {"#0072B2", "#D55E00", "#009E73",
                                                    "#CC79A7", "#E69F00", "#333333"};
static const char *const stage_fills[] = {"#E3EEF7", "#FBEBD3", "#DDF0E8", "#F6E3EE",
                                          "#F7F5CF", "#E6E6E6", "#D8EFF9", "#F9DED0"};

struct row {
    uint32_t machine, block; /* of the machine's GPUs: COLUMNS each */
    bool is_drawn;
    double y;
};

struct spot {
    uint32_t row, column; /* row: FR_NONE for what is not used */
};

struct picture {
    FILE *f;
    const struct fr_explanation *e;
    const struct fr_topo *topo;
    const struct fr__layout_run *r;
    struct row *rows;   /* [n_rows] */
    struct spot *spots; /* [n_ranks] */
    size_t n_rows, n_axes, axes[MOST_AXES];
    double bottom;
};

/* ---- rows ---- */

struct place {
    uint32_t device, rank;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return x->device < y->device ? -1 : x->device > y->device;
}

static enum fr_status make_rows(struct picture *p, struct fr__arena *arena, struct fr_error *err)
{
    const struct fr_layout *l = p->r->layout;
    struct place *places = fr__arena_alloc(arena, l->n_ranks, sizeof(*places));
    uint32_t in_machine = 0;

    p->rows = fr__arena_alloc(arena, l->n_ranks, sizeof(*p->rows));
    p->spots = fr__arena_alloc(arena, l->n_ranks, sizeof(*p->spots));
    if (!places || !p->rows || !p->spots)
        return fr__fail_nomem(err);
    for (uint32_t r = 0; r < l->n_ranks; r++)
        places[r] = (struct place){l->devices[r], r};
    qsort(places, l->n_ranks, sizeof(*places), compare_places);
    for (uint32_t i = 0; i < l->n_ranks; i++, in_machine++) {
        uint32_t machine = p->topo->devices[places[i].device].machine;

        if (i == 0 || machine != p->rows[p->n_rows - 1].machine)
            in_machine = 0;
        if (in_machine % COLUMNS == 0)
            p->rows[p->n_rows++] = (struct row){.machine = machine, .block = in_machine / COLUMNS};
        p->spots[places[i].rank] = (struct spot){(uint32_t)p->n_rows - 1, in_machine % COLUMNS};
    }
    return FR_OK;
}

static size_t draw_row(struct picture *p, size_t row, size_t left)
{
    if (left == 0 || p->rows[row].is_drawn)
        return left;
    p->rows[row].is_drawn = true;
    return left - 1;
}

/* The first row, the members of rank 0's groups in turn, the last row. */
static void choose_rows(struct picture *p)
{
    const struct fr_layout *l = p->r->layout;
    size_t left = MOST_ROWS;

    left = draw_row(p, 0, left);
    for (uint32_t i = 1; i < l->n_ranks && left > 0; i++)
        for (size_t k = 0; k < p->n_axes; k++) {
            const struct fr_layout_axis *a = &l->axes[p->axes[k]];

            if (i < a->size)
                left = draw_row(p, p->spots[i * a->stride].row, left);
        }
    left = draw_row(p, p->n_rows - 1, left);
    for (size_t r = 0; r < p->n_rows && left > 0; r++)
        left = draw_row(p, r, left);
}

static void place_rows(struct picture *p)
{
    double y = 0;

    for (size_t r = 0, hidden = 0; r < p->n_rows; r++) {
        if (!p->rows[r].is_drawn) {
            hidden++;
            continue;
        }
        y -= hidden ? 34 : 0;
        p->rows[r].y = y;
        y -= PITCH_Y;
        hidden = 0;
    }
    p->bottom = y + PITCH_Y - CELL_H;
}

/* ---- pieces ---- */

static double x_of(const struct picture *p, uint32_t rank)
{
    return LEFT + (double)PITCH_X * p->spots[rank].column;
}

static double y_of(const struct picture *p, uint32_t rank)
{
    return p->rows[p->spots[rank].row].y;
}

static bool is_drawn(const struct picture *p, uint32_t rank)
{
    return p->rows[p->spots[rank].row].is_drawn;
}

static void open_node(FILE *f, const char *prefix, size_t id, double x, double y, long w, long h)
{
    fprintf(f, "  %s%zu [pos=\"%ld,%ld!\", width=", prefix, id, lround(x), lround(y));
    fr__dot_inches(f, w);
    fputs(", height=", f);
    fr__dot_inches(f, h);
}

/* Text that begins at x. */
static void write_text(const struct picture *p, const char *prefix, size_t id, double x, double y,
                       unsigned size, const char *text)
{
    long w = lround(0.66 * size * (double)strlen(text)) + 16; /* no narrower than the text */

    open_node(p->f, prefix, id, x - 8 + (double)w / 2, y, w, 16);
    fprintf(p->f, ", shape=plaintext, style=\"\", fontsize=%u, label=\"", size);
    fr__dot_text(p->f, text, 120);
    fputs("\\l\"];\n", p->f);
}

static void write_rank(const struct picture *p, uint32_t rank)
{
    const struct fr_layout *l = p->r->layout;
    size_t n_fills = sizeof(stage_fills) / sizeof(stage_fills[0]);
    uint32_t stage = 0;
    const char *name = p->topo->devices[l->devices[rank]].name;
    const char *dot = strchr(name, '.');

    for (size_t a = 0; a < l->n_axes; a++)
        if (l->axes[a].is_stages)
            stage = fr__layout_coord(&l->axes[a], rank);
    open_node(p->f, "r", rank, x_of(p, rank), y_of(p, rank), CELL_W, CELL_H);
    fprintf(p->f, ", fillcolor=\"%s\", penwidth=%s, label=\"", stage_fills[stage % n_fills],
            rank == 0 ? "2.2" : "0.8");
    fr__dot_text(p->f, dot && dot[1] ? dot + 1 : name, 12);
    fprintf(p->f, ": %u\\n", rank);
    for (size_t k = 0, n = 0; k < p->n_axes; k++) {
        const struct fr_layout_axis *a = &l->axes[p->axes[k]];

        if (!a->is_of_experts)
            fprintf(p->f, "%s%s%u",
                    n == 0  ? ""
                    : n % 2 ? " "
                            : "\\n",
                    a->name, fr__layout_coord(a, rank));
        n += !a->is_of_experts;
    }
    fputs("\"];\n", p->f);
}

static void write_row_names(const struct picture *p)
{
    size_t hidden = 0;
    char text[64];

    for (size_t r = 0; r < p->n_rows; r++) {
        const struct row *k = &p->rows[r];

        if (!k->is_drawn) {
            hidden++;
            continue;
        }
        if (hidden) {
            snprintf(text, sizeof(text), "... %zu more row%s ...", hidden, hidden == 1 ? "" : "s");
            write_text(p, "gap", r, LEFT - 30, k->y + CELL_H / 2.0 + 42, 10, text);
        }
        hidden = 0;
        if (k->block)
            snprintf(text, sizeof(text), "n%u, %u ..", k->machine, k->block * COLUMNS);
        else
            snprintf(text, sizeof(text), "n%u", k->machine);
        write_text(p, "row", r, 0, k->y, 12, text);
    }
}

/* ---- lines ---- */

struct line {
    double points[8][2];
    size_t n;
};

static void add(struct line *l, double x, double y)
{
    l->points[l->n][0] = x;
    l->points[l->n++][1] = y;
}

/* Over the top where both stand in one row, else down the left side of the first one. */
static struct line line_between(const struct picture *p, uint32_t a, uint32_t b, size_t lane)
{
    double ax = x_of(p, a), ay = y_of(p, a), bx = x_of(p, b), by = y_of(p, b);
    double above = CELL_H / 2.0 + 5 + LANE * (double)lane, aside = CELL_W / 2.0 + 3;
    double shift = -16 + 6.0 * (double)lane;
    struct line l = {.n = 0};

    aside += 4.0 * (double)lane;
    if (p->spots[a].row == p->spots[b].row) {
        add(&l, ax + shift, ay + CELL_H / 2.0);
        add(&l, ax + shift, ay + above);
        add(&l, bx + shift, by + above);
        add(&l, bx + shift, by + CELL_H / 2.0);
        return l;
    }
    add(&l, ax - CELL_W / 2.0, ay - 12 + 4.0 * (double)lane);
    add(&l, ax - aside, ay - 12 + 4.0 * (double)lane);
    if (p->spots[a].column == p->spots[b].column) {
        add(&l, bx - aside, by - 12 + 4.0 * (double)lane);
        add(&l, bx - CELL_W / 2.0, by - 12 + 4.0 * (double)lane);
        return l;
    }
    add(&l, ax - aside, by + above);
    add(&l, bx + shift, by + above);
    add(&l, bx + shift, by + CELL_H / 2.0);
    return l;
}

static void write_line(const struct picture *p, const char *from, const char *to,
                       const struct line *l, size_t axis, bool is_cut)
{
    fprintf(p->f, "  %s -- %s [color=\"%s\", penwidth=2.4%s, pos=\"%ld,%ld", from, to,
            axis_colours[axis], is_cut ? ", style=dashed" : "", lround(l->points[0][0]),
            lround(l->points[0][1]));
    for (size_t i = 1; i < l->n; i++) { /* straight: control points on the ends */
        for (size_t k = 0; k < 3; k++)
            fprintf(p->f, " %ld,%ld", lround(l->points[i - (k == 0)][0]),
                    lround(l->points[i - (k == 0)][1]));
    }
    fputs("\"];\n", p->f);
}

/* Rank 0's group along an axis, as far as it is drawn. */
static void write_group(const struct picture *p, size_t k)
{
    const struct fr_layout_axis *a = &p->r->layout->axes[p->axes[k]];
    uint32_t last = 0, last_i = 0;

    for (uint32_t i = 1; i < a->size; i++) {
        uint32_t rank = i * a->stride;
        char from[24], to[24];
        struct line l;

        if (!is_drawn(p, rank))
            continue;
        l = line_between(p, last, rank, k);
        snprintf(from, sizeof(from), "r%u", last);
        snprintf(to, sizeof(to), "r%u", rank);
        write_line(p, from, to, &l, k, i > last_i + 1);
        last = rank;
        last_i = i;
    }
}

/* ---- words ---- */

static void write_key(const struct picture *p)
{
    double y = p->bottom - 24;

    write_text(p, "key", 99, 0, y, 11,
               "Lines: the groups of rank 0. GPU: rank, and where it stands on each axis. Colour: "
               "stage.");
    for (size_t k = 0; k < p->n_axes; k++) {
        const struct fr_layout_axis *a = &p->r->layout->axes[p->axes[k]];
        const struct fr__layout_link *links = &p->r->links[p->axes[k]];
        const struct fr_link *link = links->outside ? links->outside : links->inside;
        struct line l = {.points = {{4, y - 22}, {40, y - 22}}, .n = 2};
        char text[200], name[64], from[24];

        y -= 22;
        for (unsigned end = 0; end < 2; end++) {
            open_node(p->f, "end", 2 * k + end, end ? 40 : 4, y, 1, 1);
            fputs(", shape=point, style=invis, label=\"\"];\n", p->f);
        }
        snprintf(from, sizeof(from), "end%zu", 2 * k);
        snprintf(name, sizeof(name), "end%zu", 2 * k + 1);
        write_line(p, from, name, &l, k, false);
        snprintf(text, sizeof(text), "%s: %u ranks share %s; %s, %s", a->name, a->size, a->what,
                 links->n_inside == links->n_hops ? "inside a machine"
                 : links->n_inside                ? "partly across machines"
                                                  : "across machines",
                 fr__layout_link_name(link, links->is_network, name, sizeof(name)));
        write_text(p, "key", k, 56, y, 11, text);
    }
}

static void write_title(const struct picture *p)
{
    const struct fr_record *r = p->e->record;
    char text[240];

    snprintf(text, sizeof(text), "%.80s, %.120s", r->workload, r->strategy);
    write_text(p, "title", 0, 0, CELL_H / 2.0 + 82, 16, text);
    snprintf(text, sizeof(text), "%u ranks on %.100s, map=%.40s", p->r->layout->n_ranks,
             r->topology, p->r->layout->map);
    write_text(p, "title", 1, 0, CELL_H / 2.0 + 60, 11, text);
}

static void write_all(const struct picture *p)
{
    fputs("// neato -n2 -Tsvg draws this\n"
          "graph mesh_picture {\n"
          "  layout=neato; inputscale=72; splines=line; outputorder=nodesfirst; pad=0.2;\n"
          "  bgcolor=white;\n"
          "  node [shape=box, style=\"filled,rounded\", fixedsize=true, fontname=" FR__DOT_FONT
          ", fontsize=10,\n"
          "        color=\"#777777\", fontcolor=\"#222222\", margin=0];\n",
          p->f);
    write_title(p);
    for (uint32_t rank = 0; rank < p->r->layout->n_ranks; rank++)
        if (is_drawn(p, rank))
            write_rank(p, rank);
    write_row_names(p);
    for (size_t k = 0; k < p->n_axes; k++)
        write_group(p, k);
    write_key(p);
    fputs("}\n", p->f);
}

static enum fr_status draw(struct picture *p, struct fr__arena *arena, struct fr_error *err)
{
    const struct fr_layout *l = p->r->layout;

    for (size_t a = 0; a < l->n_axes && p->n_axes < MOST_AXES; a++)
        if (l->axes[a].size > 1)
            p->axes[p->n_axes++] = a;
    FR_TRY(make_rows(p, arena, err));
    choose_rows(p);
    place_rows(p);
    write_all(p);
    return FR_OK;
}

enum fr_status fr__mesh_draw(FILE *dot, const struct fr_explanation *e, struct fr_error *err)
{
    struct fr__layout_run r;
    struct picture p = {.f = dot, .e = e, .topo = e->problem.topo, .r = &r};
    enum fr_status st;

    FR_TRY(fr__layout_run_make(&r, e, err));
    st = draw(&p, r.arena, err);
    fr__layout_run_fini(&r);
    return st;
}
