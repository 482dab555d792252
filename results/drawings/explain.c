/* results/drawings/explain.c - the graph of an explained plan, coloured by device, as DOT text.
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
#include "results/drawings/dot.h"
#include "results/drawings/graph.h"
#include "results/drawings/snake.h"
#include "results/parts/number.h"

#include <inttypes.h>

enum { MAX_WHOLE = 100, MAX_NAME = 40, TIME = 40 };

/* Light enough for black text; after M. Okabe and K. Ito, as results/parts/colours.h. */
static const char *const colours[] = {"#8FC1E3", "#F5CE7E", "#8FD3B9", "#E8BBD3",
                                      "#F3EC9A", "#F0AE8A", "#C9E6F7", "#CFCFCF"};

enum { N_COLOURS = sizeof(colours) / sizeof(colours[0]) };

struct picture {
    FILE *f;
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

static void write_title(const struct picture *p)
{
    const struct fr_problem *in = p->in;
    char time[TIME];

    fr__dot_text(p->f, in->graph->name, 70);
    if (p->is_plain)
        fputs(" on ", p->f);
    else
        fprintf(p->f, " on %zu GPUs of ", in->n_devices);
    fr__dot_text(p->f, in->topo->name, 60);
    fprintf(p->f, ", as planned: %s\\l", picture_time(p, p->p->makespan_s, time, sizeof(time)));
}

/* ---- whole ---- */

static void write_op(const struct picture *p, uint32_t op)
{
    const struct fr_decided_op *o = &p->p->ops[op];
    char start[TIME], end[TIME];

    fprintf(p->f, "  o%" PRIu32 " [fillcolor=\"%s\", label=\"", op, colour_of(o->device));
    fr__dot_text(p->f, o->name, MAX_NAME);
    fputs("\\n", p->f);
    fr__dot_text(p->f, p->x->devices[o->device].name, MAX_NAME);
    fprintf(p->f, ", %s to %s\"", fr__explain_time(&p->unit, o->start_s, start, sizeof(start)),
            fr__explain_time(&p->unit, o->end_s, end, sizeof(end)));
    if (o->is_on_path)
        fputs(", penwidth=2.5, color=\"#222222\"", p->f);
    fputs("];\n", p->f);
}

/* One line for all tensors between two operations. */
static void write_edge(const struct picture *p, size_t edge)
{
    const struct fr_decided_edge *e = &p->p->edges[edge];
    const struct fr_decided_op *ops = p->p->ops;
    char time[TIME];

    if (edge > 0 && e[-1].src == e->src && e[-1].dst == e->dst)
        return;
    fprintf(p->f, "  o%" PRIu32 " -> o%" PRIu32, e->src, e->dst);
    if (e->is_order)
        fputs(" [style=dotted]", p->f);
    else if (ops[e->src].device != ops[e->dst].device)
        fprintf(p->f, " [color=\"#B0487E\", fontcolor=\"#B0487E\", penwidth=1.6, label=\" %s\"]",
                fr__explain_time(&p->unit, e->move_s, time, sizeof(time)));
    fputs(";\n", p->f);
}

static void draw_whole(const struct picture *p)
{
    fr__graph_open(p->f, false);
    fputs("  rankdir=TB; ranksep=0.45; nodesep=0.25;\n"
          "  labelloc=t; labeljust=l; fontname=" FR__DOT_FONT "; fontsize=16; label=\"",
          p->f);
    write_title(p);
    if (p->unit.after[0])
        fprintf(p->f, "times in %s", p->unit.name);
    else
        fputs("times as in the task file", p->f);
    fputs("; thick frames: the critical path; purple: moves\\l\";\n", p->f);
    for (uint32_t op = 0; op < p->p->n_ops; op++)
        write_op(p, op);
    for (size_t e = 0; e < p->p->n_edges && p->p->edges; e++)
        write_edge(p, e);
    fputs("}\n", p->f);
}

/* ---- layers ---- */

struct layers {
    size_t n, n_devices, n_columns;
    double *busy_s;    /* [n][n_devices] */
    unsigned *n_parts; /* [n] most parts of an operation */
    bool *is_joined;   /* [n][n] a forward edge */
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

/* "#8FC1E3;0.25:#F5CE7E;0.75"; percents, so that no locale has a say. */
static void write_stripes(const struct picture *p, const struct layers *l, size_t layer)
{
    const double *busy_s = l->busy_s + layer * l->n_devices;
    double sum_s = 0, done_s = 0;
    long before = 0, percent;
    const char *between = "";

    for (size_t d = 0; d < l->n_devices; d++)
        sum_s += busy_s[d];
    if (!(sum_s > 0)) {
        fputs("fillcolor=\"#FFFFFF\"", p->f);
        return;
    }
    fputs("style=striped, fillcolor=\"", p->f);
    for (size_t d = 0; d < l->n_devices; d++) {
        done_s += busy_s[d];
        percent = (long)(100 * done_s / sum_s + 0.5);
        if (percent == before)
            continue;
        fprintf(p->f, "%s%s", between, colour_of(d));
        if (percent - before < 100)
            fprintf(p->f, ";0.%02ld", percent - before);
        between = ":";
        before = percent;
    }
    putc('"', p->f);
}

static void write_layer(const struct picture *p, const struct layers *l, size_t layer)
{
    const double *busy_s = l->busy_s + layer * l->n_devices;
    double sum_s = 0;
    char time[TIME];

    for (size_t d = 0; d < l->n_devices; d++)
        sum_s += busy_s[d];
    fprintf(p->f, "  l%zu [", layer);
    write_stripes(p, l, layer);
    fputs(", label=\"", p->f);
    fr__dot_text(p->f, p->in->graph->layer_names[layer], MAX_NAME);
    if (sum_s > 0)
        fprintf(p->f, "\\n%s", picture_time(p, sum_s, time, sizeof(time)));
    if (l->n_parts[layer] > 1)
        fprintf(p->f, "\\nsplit in %u", l->n_parts[layer]);
    putc('"', p->f);
    if (l->n_parts[layer] > 1)
        fputs(", penwidth=2.5, color=\"#B0487E\"", p->f);
    fr__snake_node(p->f, l->n_columns, layer);
    fputs("];\n", p->f);
}

/* Devices stand in rows of their own below the layers, from the left, whichever way a row runs. */
static size_t place_of_device(const struct layers *l, size_t d)
{
    size_t row = (l->n + l->n_columns - 1) / l->n_columns + d / l->n_columns;
    size_t column = d % l->n_columns;

    return row * l->n_columns + (row % 2 ? l->n_columns - 1 - column : column);
}

static void write_device(const struct picture *p, const struct layers *l, size_t d)
{
    char time[TIME];
    double busy_s = 0;

    for (size_t k = 0; k < l->n; k++)
        busy_s += l->busy_s[k * l->n_devices + d];
    fprintf(p->f, "  d%zu [shape=ellipse, style=filled, fillcolor=\"%s\", label=\"", d,
            colour_of(d));
    fr__dot_text(p->f, p->x->devices[d].name, MAX_NAME);
    fprintf(p->f, "\\nbusy %s\"", picture_time(p, busy_s, time, sizeof(time)));
    fr__snake_node(p->f, l->n_columns, place_of_device(l, d));
    fputs("];\n", p->f);
}

static void write_lines(const struct picture *p, const struct layers *l)
{
    for (size_t a = 0; a < l->n; a++)
        for (size_t b = 0; b < l->n; b++) {
            if (!l->is_joined[a * l->n + b])
                continue;
            fprintf(p->f, "  l%zu -> l%zu [tooltip=\"\"", a, b);
            if (b != a + 1) {
                fputs(", color=\"#AAAAAA\"", p->f);
                fr__snake_detour(p->f, l->n_columns, a, b);
            }
            fputs("];\n", p->f);
        }
}

static enum fr_status draw_layers(const struct picture *p, struct fr__arena *a,
                                  struct fr_error *err)
{
    struct layers l = {.n = p->in->graph->n_layers, .n_devices = p->x->n_devices};

    if (l.n > FR_DRAW_MAX_OPS)
        return fr__fail(
            err, FR_EUSAGE, FR_NOWHERE,
            "%zu layers are too many for a graph, at most %d can be drawn; the plan over "
            "time (.svg) takes any number",
            l.n, FR_DRAW_MAX_OPS);
    l.busy_s = fr__arena_alloc(a, l.n * l.n_devices, sizeof(*l.busy_s));
    l.n_parts = fr__arena_alloc(a, l.n, sizeof(*l.n_parts));
    l.is_joined = fr__arena_alloc(a, l.n * l.n, sizeof(*l.is_joined));
    if (!l.busy_s || !l.n_parts || !l.is_joined)
        return fr__fail_nomem(err);
    add_up(p, &l);
    l.n_columns = fr__snake_columns(l.n + l.n_devices);
    fr__graph_open(p->f, true);
    fr__snake_title(p->f);
    write_title(p);
    fputs("layers, striped by the time that their operations take on each device\\l\"];\n", p->f);
    for (size_t d = 0; d < l.n_devices; d++)
        write_device(p, &l, d);
    for (size_t k = 0; k < l.n; k++)
        write_layer(p, &l, k);
    write_lines(p, &l);
    fputs("}\n", p->f);
    return FR_OK;
}

enum fr_status fr__explain_graph(FILE *dot, const struct fr_explanation *e, bool *is_placed,
                                 struct fr_error *err)
{
    const struct fr_decisions *x = e->decisions;
    const struct picture p = {.f = dot,
                              .in = &e->problem,
                              .x = x,
                              .p = fr_decisions_plan(x),
                              .unit = fr__explain_unit(e),
                              .is_plain = fr__explanation_is_plain(e)};
    struct fr__arena *a;
    enum fr_status st;

    *is_placed = p.p->n_ops > MAX_WHOLE;
    if (!*is_placed) {
        draw_whole(&p);
        return FR_OK;
    }
    a = fr__arena_new();
    if (!a)
        return fr__fail_nomem(err);
    st = draw_layers(&p, a, err);
    fr__arena_free(a);
    return st;
}
