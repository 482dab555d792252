/* results/drawings/explain.c - the graph of an explained plan, coloured by device.
 *
 * It is separate from the graphs of workloads, whose colours are kinds of ops. A small graph is
 * drawn whole: a node an operation, a thick frame on the critical path, moves between devices with
 * their time. Of a larger one a node is a layer of the workload, striped by the time that its
 * operations take on each device, forward to update.
 */
#include "config.h"

#include "results/drawings/explain.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/units.h"
#include "results/drawings/graph.h"
#include "results/drawings/snake.h"
#include "results/parts/number.h"

#include <inttypes.h>

enum { MAX_WHOLE = 100, MAX_NAME = 40, TIME = 40 };

/* Light enough for black text; after M. Okabe and K. Ito, as results/parts/colours.h. */
static const char *const colours[] = {"#8FC1E3", "#F5CE7E", "#8FD3B9", "#E8BBD3",
                                      "#F3EC9A", "#F0AE8A", "#C9E6F7", "#CFCFCF"};

#define MOVE "#B0487E" /* between devices, and what is split */

enum { N_COLOURS = sizeof(colours) / sizeof(colours[0]) };

struct picture {
    struct fr_drawing *d;
    const struct fr_problem *in;
    const struct fr_decisions *x;
    const struct fr_decided_plan *p; /* the one that became the plan */
    struct fr__explain_unit unit;
    bool is_plain;
};

static const char *colour_of(size_t device)
{
    return colours[device % N_COLOURS];
}

/* "80.3 ms", or "80" of tasks on machines without hardware. */
static const char *picture_time(const struct picture *p, double s, char *buf, size_t n)
{
    return p->is_plain ? fr__plain(s, buf, n) : fr__format_time(s, buf, n);
}

static void say_title(const struct picture *p, struct fr__box *b)
{
    const struct fr_problem *in = p->in;
    char time[TIME];

    fr__label_name(b, in->graph->name, 70);
    if (p->is_plain)
        fr__label(b, " on ");
    else
        fr__label(b, " on %zu GPUs of ", in->n_devices);
    fr__label_name(b, in->topo->name, 60);
    fr__label(b, ", as planned: %s", picture_time(p, p->p->makespan_s, time, sizeof(time)));
}

/* ---- whole ---- */

static struct fr__box *put_op(const struct picture *p, uint32_t op)
{
    const struct fr_decided_op *o = &p->p->ops[op];
    char start[TIME], end[TIME];
    struct fr__box *b = fr__box(p->d, "o", op,
                                (struct fr__box){.shape = FR__ROUND,
                                                 .fill = colour_of(o->device),
                                                 .edge = o->is_on_path ? "#222222" : NULL,
                                                 .pen = o->is_on_path ? 2.5 : 0});

    fr__label_name(b, o->name, MAX_NAME);
    fr__label(b, "\n");
    fr__label_name(b, p->x->devices[o->device].name, MAX_NAME);
    fr__label(b, ", %s to %s", fr__explain_time(&p->unit, o->start_s, start, sizeof(start)),
              fr__explain_time(&p->unit, o->end_s, end, sizeof(end)));
    return b;
}

/* One line for all tensors between two operations. */
static void put_edge(const struct picture *p, struct fr__box *const boxes[], size_t edge)
{
    const struct fr_decided_edge *e = &p->p->edges[edge];
    const struct fr_decided_op *ops = p->p->ops;
    bool is_move = !e->is_order && ops[e->src].device != ops[e->dst].device;
    struct fr__wire *w;
    char time[TIME];

    if (edge > 0 && e[-1].src == e->src && e[-1].dst == e->dst)
        return;
    w = fr__wire(p->d, boxes[e->src], boxes[e->dst], is_move ? MOVE : FR__WIRE_COLOUR,
                 is_move ? 1.6 : 1);
    w->dash = e->is_order ? FR__DOTTED : FR__SOLID;
    if (is_move)
        snprintf(w->text, sizeof(w->text), "%s",
                 fr__explain_time(&p->unit, e->move_s, time, sizeof(time)));
}

static enum fr_status draw_whole(const struct picture *p, struct fr_error *err)
{
    struct fr__box **boxes = fr__arena_alloc(p->d->arena, p->p->n_ops, sizeof(*boxes));
    struct fr__box *title = fr__snake_title(p->d);

    if (!boxes)
        return fr__fail_nomem(err);
    p->d->is_placed = false;
    p->d->is_tall = true;
    say_title(p, title);
    if (p->unit.after[0])
        fr__label(title, "\ntimes in %s", p->unit.name);
    else
        fr__label(title, "\ntimes as in the task file");
    fr__label(title, "; thick frames: the critical path; purple: moves");
    for (uint32_t op = 0; op < p->p->n_ops; op++)
        boxes[op] = put_op(p, op);
    for (size_t e = 0; e < p->p->n_edges && p->p->edges; e++)
        put_edge(p, boxes, e);
    return FR_OK;
}

/* ---- layers ---- */

struct layers {
    size_t n, n_devices, n_columns;
    struct fr__box **boxes; /* [n] */
    double *busy_s;         /* [n][n_devices] */
    unsigned *n_parts;      /* [n] most parts of an operation */
    bool *is_joined;        /* [n][n] a forward edge */
};

static void add_up(const struct picture *p, struct layers *l)
{
    const struct fr_graph *g = p->in->graph;

    for (size_t i = 0; i < p->p->n_ops; i++) {
        const struct fr_decided_op *o = &p->p->ops[i];
        uint32_t layer;

        if (o->op == FR_NONE)
            continue;
        layer = g->ops[o->op].layer;
        l->busy_s[layer * l->n_devices + o->device] += o->end_s - o->start_s;
        if (o->n_parts > l->n_parts[layer])
            l->n_parts[layer] = o->n_parts;
    }
    for (size_t e = 0; e < g->n_edges; e++) {
        const struct fr_op *src = &g->ops[g->edges[e].src], *dst = &g->ops[g->edges[e].dst];

        if (src->phase <= FR_PHASE_FORWARD && dst->phase <= FR_PHASE_FORWARD &&
            src->layer != dst->layer)
            l->is_joined[src->layer * l->n + dst->layer] = true;
    }
}

/* In whole percents. */
static void stripe(const struct picture *p, const struct layers *l, size_t layer, double sum_s,
                   struct fr__box *b)
{
    const double *busy_s = l->busy_s + layer * l->n_devices;
    struct fr__stripe *stripes = fr__arena_alloc(p->d->arena, l->n_devices, sizeof(*stripes));
    double done_s = 0;
    unsigned before = 0;

    p->d->is_out_of_memory = p->d->is_out_of_memory || !stripes;
    for (size_t d = 0; stripes && d < l->n_devices; d++) {
        unsigned percent;

        done_s += busy_s[d];
        percent = (unsigned)(100 * done_s / sum_s + 0.5);
        if (percent == before)
            continue;
        stripes[b->n_stripes++] = (struct fr__stripe){colour_of(d), percent - before};
        before = percent;
    }
    b->stripes = stripes;
}

static struct fr__box *put_layer(const struct picture *p, const struct layers *l, size_t layer)
{
    const double *busy_s = l->busy_s + layer * l->n_devices;
    bool is_split = l->n_parts[layer] > 1;
    struct fr__box *b = fr__box(p->d, "l", layer, fr__snake_node(l->n_columns, layer));
    double sum_s = 0;
    char time[TIME];

    for (size_t d = 0; d < l->n_devices; d++)
        sum_s += busy_s[d];
    b->shape = FR__RECT;
    b->fill = "#FFFFFF";
    if (sum_s > 0)
        stripe(p, l, layer, sum_s, b);
    fr__label_name(b, p->in->graph->layer_names[layer], MAX_NAME);
    if (sum_s > 0)
        fr__label(b, "\n%s", picture_time(p, sum_s, time, sizeof(time)));
    if (is_split) {
        fr__label(b, "\nsplit in %u", l->n_parts[layer]);
        b->pen = 2.5;
        b->edge = MOVE;
    }
    return b;
}

/* Devices stand in rows of their own below the layers, from the left, whichever way a row runs. */
static size_t place_of_device(const struct layers *l, size_t d)
{
    size_t row = (l->n + l->n_columns - 1) / l->n_columns + d / l->n_columns;
    size_t column = d % l->n_columns;

    return row * l->n_columns + (row % 2 ? l->n_columns - 1 - column : column);
}

static void put_device(const struct picture *p, const struct layers *l, size_t d)
{
    struct fr__box *b = fr__box(p->d, "d", d, fr__snake_node(l->n_columns, place_of_device(l, d)));
    char time[TIME];
    double busy_s = 0;

    for (size_t k = 0; k < l->n; k++)
        busy_s += l->busy_s[k * l->n_devices + d];
    b->shape = FR__OVAL;
    b->fill = colour_of(d);
    fr__label_name(b, p->x->devices[d].name, MAX_NAME);
    fr__label(b, "\nbusy %s", picture_time(p, busy_s, time, sizeof(time)));
}

static void put_lines(const struct picture *p, const struct layers *l)
{
    for (size_t i = 0; i < l->n * l->n; i++) {
        size_t a = i / l->n, b = i % l->n;

        if (!l->is_joined[i])
            continue;
        if (b == a + 1)
            fr__wire(p->d, l->boxes[a], l->boxes[b], FR__WIRE_COLOUR, 1);
        else
            fr__snake_detour(fr__wire(p->d, l->boxes[a], l->boxes[b], "#AAAAAA", 1), l->n_columns,
                             a, b);
    }
}

static enum fr_status draw_layers(const struct picture *p, struct fr_error *err)
{
    struct layers l = {.n = p->in->graph->n_layers, .n_devices = p->x->n_devices};
    struct fr__arena *a = p->d->arena;

    if (l.n > FR_DRAW_MAX_OPS)
        return fr__fail(
            err, FR_EUSAGE, FR_NOWHERE,
            "%zu layers are too many for a graph, at most %d can be drawn; the plan over "
            "time (.svg) takes any number",
            l.n, FR_DRAW_MAX_OPS);
    l.boxes = fr__arena_alloc(a, l.n, sizeof(*l.boxes));
    l.busy_s = fr__arena_alloc(a, l.n * l.n_devices, sizeof(*l.busy_s));
    l.n_parts = fr__arena_alloc(a, l.n, sizeof(*l.n_parts));
    l.is_joined = fr__arena_alloc(a, l.n * l.n, sizeof(*l.is_joined));
    if (!l.boxes || !l.busy_s || !l.n_parts || !l.is_joined)
        return fr__fail_nomem(err);
    add_up(p, &l);
    l.n_columns = fr__snake_columns(l.n + l.n_devices);
    say_title(p, fr__snake_title(p->d));
    fr__label(fr__snake_subtitle(p->d),
              "layers, striped by the time that their operations take on each device");
    for (size_t d = 0; d < l.n_devices; d++)
        put_device(p, &l, d);
    for (size_t k = 0; k < l.n; k++)
        l.boxes[k] = put_layer(p, &l, k);
    put_lines(p, &l);
    return FR_OK;
}

enum fr_status fr__explain_graph(struct fr_drawing **out, const struct fr_explanation *e,
                                 struct fr_error *err)
{
    const struct fr_decisions *x = e->decisions;
    struct picture p = {.in = &e->problem,
                        .x = x,
                        .p = fr_decisions_plan(x),
                        .unit = fr__explain_unit(e),
                        .is_plain = fr__explanation_is_plain(e)};

    FR_TRY(fr__drawing_new(&p.d, "training_graph", true, err));
    return fr__drawing_finish(
        p.d, p.p->n_ops > MAX_WHOLE ? draw_layers(&p, err) : draw_whole(&p, err), out, err);
}
