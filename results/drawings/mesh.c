/* results/drawings/mesh.c - the picture of a mesh on its machines: see mesh.h.
 *
 * Points of 1/72 inch, y upwards. A row is up to eight GPUs of a machine. Between the rows and left
 * of each GPU is room for a line an axis.
 */
#include "config.h"

#include "results/drawings/mesh.h"

#include "base/error.h"
#include "results/canvas/drawing.h"
#include "study/explain/layout_run.h"

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
    uint32_t row, column;
    const struct fr__box *box; /* NULL: it is not drawn */
};

struct picture {
    struct fr_drawing *d;
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
        p->spots[places[i].rank] =
            (struct spot){(uint32_t)p->n_rows - 1, in_machine % COLUMNS, NULL};
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

static void write_rank(const struct picture *p, uint32_t rank)
{
    const struct fr_layout *l = p->r->layout;
    size_t n_fills = sizeof(stage_fills) / sizeof(stage_fills[0]);
    uint32_t stage = 0;
    const char *name = p->topo->devices[l->devices[rank]].name;
    const char *dot = strchr(name, '.');
    struct fr__box *b;

    for (size_t a = 0; a < l->n_axes; a++)
        if (l->axes[a].is_stages)
            stage = fr__layout_coord(&l->axes[a], rank);
    b = fr__box(p->d, "r", rank,
                (struct fr__box){.shape = FR__ROUND,
                                 .x = x_of(p, rank),
                                 .y = y_of(p, rank),
                                 .w = CELL_W,
                                 .h = CELL_H,
                                 .fill = stage_fills[stage % n_fills],
                                 .pen = rank == 0 ? 2.2 : 0.8});
    p->spots[rank].box = b;
    fr__label_name(b, dot && dot[1] ? dot + 1 : name, 12);
    fr__label(b, ": %u\n", rank);
    for (size_t k = 0, n = 0; k < p->n_axes; k++) {
        const struct fr_layout_axis *a = &l->axes[p->axes[k]];

        if (!a->is_of_experts)
            fr__label(b, "%s%s%u",
                      n == 0  ? ""
                      : n % 2 ? " "
                              : "\n",
                      a->name, fr__layout_coord(a, rank));
        n += !a->is_of_experts;
    }
}

static void write_row_names(const struct picture *p)
{
    size_t hidden = 0;

    for (size_t r = 0; r < p->n_rows; r++) {
        const struct row *k = &p->rows[r];
        struct fr__box *name;

        if (!k->is_drawn) {
            hidden++;
            continue;
        }
        if (hidden)
            fr__label(fr__words(p->d, "gap", r, LEFT - 30, k->y + CELL_H / 2.0 + 42, 10),
                      "... %zu more row%s ...", hidden, hidden == 1 ? "" : "s");
        hidden = 0;
        name = fr__words(p->d, "row", r, 0, k->y, 12);
        fr__label(name, "n%u", k->machine);
        if (k->block)
            fr__label(name, ", %u ..", k->block * COLUMNS);
    }
}

/* ---- lines ---- */

/* Over the top where both stand in one row, else down the left side of the first one. */
static void put_line(const struct picture *p, uint32_t a, uint32_t b, size_t lane, bool is_cut)
{
    struct fr__wire *l = fr__wire(p->d, p->spots[a].box, p->spots[b].box, axis_colours[lane], 2.4);
    double ax = x_of(p, a), ay = y_of(p, a), bx = x_of(p, b), by = y_of(p, b);
    double above = CELL_H / 2.0 + 5 + LANE * (double)lane, aside = CELL_W / 2.0 + 3;
    double shift = -16 + 6.0 * (double)lane;

    l->dash = is_cut ? FR__DASHED : FR__SOLID;
    aside += 4.0 * (double)lane;
    if (p->spots[a].row == p->spots[b].row) {
        fr__wire_to(l, ax + shift, ay + CELL_H / 2.0);
        fr__wire_to(l, ax + shift, ay + above);
        fr__wire_to(l, bx + shift, by + above);
        fr__wire_to(l, bx + shift, by + CELL_H / 2.0);
        return;
    }
    fr__wire_to(l, ax - CELL_W / 2.0, ay - 12 + 4.0 * (double)lane);
    fr__wire_to(l, ax - aside, ay - 12 + 4.0 * (double)lane);
    if (p->spots[a].column == p->spots[b].column) {
        fr__wire_to(l, bx - aside, by - 12 + 4.0 * (double)lane);
        fr__wire_to(l, bx - CELL_W / 2.0, by - 12 + 4.0 * (double)lane);
        return;
    }
    fr__wire_to(l, ax - aside, by + above);
    fr__wire_to(l, bx + shift, by + above);
    fr__wire_to(l, bx + shift, by + CELL_H / 2.0);
}

/* Rank 0's group along an axis, as far as it is drawn. */
static void write_group(const struct picture *p, size_t k)
{
    const struct fr_layout_axis *a = &p->r->layout->axes[p->axes[k]];
    uint32_t last = 0, last_i = 0;

    for (uint32_t i = 1; i < a->size; i++) {
        uint32_t rank = i * a->stride;

        if (!is_drawn(p, rank))
            continue;
        put_line(p, last, rank, k, i > last_i + 1);
        last = rank;
        last_i = i;
    }
}

/* ---- words ---- */

static void write_key(const struct picture *p)
{
    double y = p->bottom - 24;

    fr__label(fr__words(p->d, "key", p->n_axes, 0, y, 11),
              "Lines: the groups of rank 0. GPU: rank, and where it stands on each axis. Colour: "
              "stage.");
    for (size_t k = 0; k < p->n_axes; k++) {
        const struct fr_layout_axis *a = &p->r->layout->axes[p->axes[k]];
        const struct fr__layout_link *links = &p->r->links[p->axes[k]];
        const struct fr_link *link = links->outside ? links->outside : links->inside;
        struct fr__box *text = fr__words(p->d, "key", k, 56, y -= 22, 11);
        struct fr__wire *line;
        char name[64];

        line = fr__wire(p->d, NULL, NULL, axis_colours[k], 2.4);
        fr__wire_to(line, 4, y);
        fr__wire_to(line, 40, y);
        fr__label(text, "%s: %u ranks share %s; %s, ", a->name, a->size, a->what,
                  links->n_inside == links->n_hops ? "inside a machine"
                  : links->n_inside                ? "partly across machines"
                                                   : "across machines");
        fr__label_name(text, fr__layout_link_name(link, links->is_network, name, sizeof(name)), 64);
    }
}

static void write_title(const struct picture *p)
{
    const struct fr_record *r = p->e->record;
    struct fr__box *title = fr__words(p->d, "title", 0, 0, CELL_H / 2.0 + 82, 16);
    struct fr__box *below = fr__words(p->d, "title", 1, 0, CELL_H / 2.0 + 60, 11);

    fr__label_name(title, r->workload, 80);
    fr__label(title, ", ");
    fr__label_name(title, r->strategy, 120);
    fr__label(below, "%u ranks on ", p->r->layout->n_ranks);
    fr__label_name(below, r->topology, 100);
    fr__label(below, ", map=%s", p->r->layout->map);
}

static enum fr_status draw(struct picture *p, struct fr_error *err)
{
    const struct fr_layout *l = p->r->layout;

    for (size_t a = 0; a < l->n_axes && p->n_axes < MOST_AXES; a++)
        if (l->axes[a].size > 1)
            p->axes[p->n_axes++] = a;
    FR_TRY(make_rows(p, p->d->arena, err));
    choose_rows(p);
    place_rows(p);
    write_title(p);
    for (uint32_t rank = 0; rank < l->n_ranks; rank++)
        if (is_drawn(p, rank))
            write_rank(p, rank);
    write_row_names(p);
    for (size_t k = 0; k < p->n_axes; k++)
        write_group(p, k);
    write_key(p);
    return FR_OK;
}

enum fr_status fr__mesh_draw(struct fr_drawing **out, const struct fr_explanation *e,
                             struct fr_error *err)
{
    struct fr__layout_run r;
    struct picture p = {.e = e, .topo = e->problem.topo, .r = &r};
    enum fr_status st;

    FR_TRY(fr__layout_run_make(&r, e, err));
    st = fr__drawing_new(&p.d, "mesh_picture", false, err);
    if (st == FR_OK)
        st = fr__drawing_finish(p.d, draw(&p, err), out, err);
    fr__layout_run_fini(&r);
    return st;
}
