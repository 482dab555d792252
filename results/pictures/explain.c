/* results/pictures/explain.c - draws an explained plan over time: a panel for each plan, a lane for
 * each device.
 *
 * It is separate from the timeline of a run, because its times are the planner's estimates.
 * Operations that are too short to be seen make one box with their neighbours of the same kind.
 */
#include "config.h"

#include "results/pictures/explain.h"

#include "base/error.h"
#include "base/units.h"
#include "results/parts/colours.h"
#include "results/parts/lanes.h"
#include "results/parts/number.h"
#include "results/pictures/gnuplot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LANES = 16, MAX_NAMES = 400, MAX_ARROWS = 60, CHAR_PIXELS = 10, MAX_NAME = 160 };

enum sort { FORWARD, DATA, WEIGHT, UPDATE, HELPER, OTHER, N_SORTS };

static const struct {
    const char *title, *colour;
} sorts[N_SORTS] = {
    [FORWARD] = {"forward", FR__COLOUR_FORWARD},
    [DATA] = {"backward (data)", FR__COLOUR_BACKWARD_DATA},
    [WEIGHT] = {"backward (weights)", FR__COLOUR_BACKWARD_WEIGHT},
    [UPDATE] = {"update", FR__COLOUR_UPDATE},
    [HELPER] = {"slices, joins, sums", FR__COLOUR_COMMUNICATION},
    [OTHER] = {"other", FR__COLOUR_OTHER},
};

struct box {
    double from, to; /* in the axis's unit */
    uint32_t op;     /* FR_NONE: several */
    size_t lane;
    enum sort sort;
    bool is_on_path;
};

struct panel {
    FILE *f;
    const struct fr_graph *graph; /* the problem's */
    const struct fr_decisions *x;
    const struct fr_decided_plan *p;
    double factor, length, pixel; /* the axis: seconds to its unit, what it spans, a pixel of it */
    bool is_plain;
    size_t n_lanes, n_boxes;
    struct box *boxes; /* [n_ops] */
};

static enum sort sort_of(const struct fr_decided_op *o)
{
    static const enum sort of_phase[FR_N_PHASES] = {
        [FR_PHASE_INPUT] = FORWARD,      [FR_PHASE_FORWARD] = FORWARD,
        [FR_PHASE_BACKWARD_DATA] = DATA, [FR_PHASE_BACKWARD_WEIGHT] = WEIGHT,
        [FR_PHASE_UPDATE] = UPDATE,
    };

    if (o->kind == FR_DECIDED_VARIABLE)
        return OTHER;
    return o->kind == FR_DECIDED_OP ? of_phase[o->phase] : HELPER;
}

/* Whether a box is too short to be seen apart from the next one. */
static bool joins(const struct panel *n, const struct box *last, const struct box *b)
{
    return last->lane == b->lane && last->sort == b->sort && b->from - last->to < n->pixel &&
           (b->to - b->from < 3 * n->pixel || last->op == FR_NONE) &&
           (last->to - last->from < 3 * n->pixel || last->op == FR_NONE) &&
           b->to - b->from < 12 * n->pixel;
}

static void list_boxes(struct panel *n)
{
    size_t last[MAX_LANES];

    for (size_t d = 0; d < MAX_LANES; d++)
        last[d] = SIZE_MAX;
    for (size_t i = 0; i < n->p->n_ops; i++) {
        uint32_t op = n->p->order[i];
        const struct fr_decided_op *o = &n->p->ops[op];
        struct box b = {.from = n->factor * o->start_s,
                        .to = n->factor * o->end_s,
                        .op = op,
                        .lane = o->device,
                        .sort = sort_of(o),
                        .is_on_path = o->is_on_path};

        if (b.lane >= n->n_lanes || !(b.to > b.from))
            continue;
        if (last[b.lane] != SIZE_MAX && joins(n, &n->boxes[last[b.lane]], &b)) {
            n->boxes[last[b.lane]].to = b.to;
            n->boxes[last[b.lane]].op = FR_NONE;
            continue;
        }
        last[b.lane] = n->n_boxes;
        n->boxes[n->n_boxes++] = b;
    }
}

static double floor_of(const struct panel *n, size_t lane)
{
    return (double)(n->n_lanes - 1 - lane);
}

/* ---- what a panel is made of ---- */

static void write_boxes(const struct panel *n)
{
    fputs("$boxes << FORERUN_END\n", n->f);
    for (unsigned s = 0; s < N_SORTS; s++) {
        fputs("NaN NaN NaN NaN NaN NaN\n", n->f); /* never empty: gnuplot refuses that */
        for (size_t i = 0; i < n->n_boxes; i++) {
            const struct box *b = &n->boxes[i];

            if (b->sort != (enum sort)s)
                continue;
            fr__plot_number(n->f, b->from);
            fr__plot_number(n->f, floor_of(n, b->lane) + 0.18);
            fr__plot_number(n->f, b->from);
            fr__plot_number(n->f, b->to);
            fr__plot_number(n->f, floor_of(n, b->lane) + 0.18);
            fr__plot_number(n->f, floor_of(n, b->lane) + 0.82);
            putc('\n', n->f);
        }
        fputs("\n\n", n->f);
    }
    fputs("FORERUN_END\n", n->f);
}

static bool has_sort(const struct panel *n, unsigned s)
{
    for (size_t i = 0; i < n->n_boxes; i++)
        if (n->boxes[i].sort == (enum sort)s)
            return true;
    return false;
}

/* The first that fits of an operation's name, that of the graph's op and that of its layer; NULL:
 * none. */
static const char *choose_name(const struct panel *n, const struct box *b)
{
    const struct fr_graph *g = n->graph;
    const struct fr_decided_op *o = &n->p->ops[b->op];
    size_t room = (size_t)((b->to - b->from) / n->pixel / CHAR_PIXELS);
    const char *name = o->name;

    if (strlen(name) > room && o->kind == FR_DECIDED_OP && o->op != FR_NONE)
        name = g->ops[o->op].name;
    if (strlen(name) > room && o->kind == FR_DECIDED_OP && o->op != FR_NONE)
        name = g->layer_names[g->ops[o->op].layer];
    return strlen(name) <= room ? name : NULL;
}

static void write_names(const struct panel *n)
{
    size_t n_written = 0;

    for (size_t i = 0; i < n->n_boxes && n_written < MAX_NAMES; i++) {
        const struct box *b = &n->boxes[i];
        const char *name = b->op == FR_NONE ? NULL : choose_name(n, b);

        if (!name)
            continue;
        fputs("set label ", n->f);
        fr__gnuplot_string(n->f, name, MAX_NAME);
        fputs(" at ", n->f);
        fr__plot_number(n->f, (b->from + b->to) / 2);
        putc(',', n->f);
        fr__plot_number(n->f, floor_of(n, b->lane) + 0.5);
        fprintf(n->f, "center font ',12' tc rgb '%s' front\n", fr__ink_on(sorts[b->sort].colour));
        n_written++;
    }
}

/* Draws a bar under operations on the critical path. */
static void write_path(const struct panel *n)
{
    for (size_t i = 0; i < n->n_boxes; i++) {
        const struct box *b = &n->boxes[i];
        double y = floor_of(n, b->lane) + 0.13;

        if (!b->is_on_path || b->op == FR_NONE)
            continue;
        fputs("set arrow from ", n->f);
        fr__plot_number(n->f, b->from);
        fprintf(n->f, ", first ");
        fr__plot_number(n->f, y);
        fputs("to ", n->f);
        fr__plot_number(n->f, b->to);
        fputs(", first ", n->f);
        fr__plot_number(n->f, y);
        fputs("nohead lw 4 lc rgb '#222222' front\n", n->f);
    }
}

static bool is_drawn_move(const struct panel *n, const struct fr_decided_edge *e)
{
    const struct fr_decided_op *src = &n->p->ops[e->src], *dst = &n->p->ops[e->dst];

    return !e->is_order && src->device != dst->device && src->device < n->n_lanes &&
           dst->device < n->n_lanes && src->kind != FR_DECIDED_VARIABLE;
}

static void write_move(const struct panel *n, const struct fr_decided_edge *e)
{
    uint32_t src = n->p->ops[e->src].device, dst = n->p->ops[e->dst].device;
    double end_s = n->p->ops[e->src].end_s, there_s = end_s + e->move_s;

    if (n->factor * (there_s - end_s) < 4 * n->pixel)
        return; /* an arrow with no length */
    fputs("set arrow from ", n->f);
    fr__plot_number(n->f, n->factor * end_s);
    fputs(", first ", n->f);
    fr__plot_number(n->f, floor_of(n, src) + (dst > src ? 0.18 : 0.82));
    fputs("to ", n->f);
    fr__plot_number(n->f, n->factor * there_s);
    fputs(", first ", n->f);
    fr__plot_number(n->f, floor_of(n, dst) + (dst > src ? 0.82 : 0.18));
    fputs("head filled size graph 0.006,18 lw 1.2 lc rgb '#777777' front\n", n->f);
}

/* Draws moves, from the end of the operation that made the data to their arrival, if these can be
 * followed. */
static void write_moves(const struct panel *n)
{
    const struct fr_decided_plan *p = n->p;
    size_t n_edges = p->edges ? p->n_edges : 0, count = 0;

    for (size_t e = 0; e < n_edges; e++)
        count += is_drawn_move(n, &p->edges[e]);
    for (size_t e = 0; e < n_edges && count <= MAX_ARROWS; e++)
        if (is_drawn_move(n, &p->edges[e]))
            write_move(n, &p->edges[e]);
}

static void write_devices(const struct panel *n)
{
    fprintf(n->f, "set yrange [0:%zu]\nset ytics (", n->n_lanes);
    for (size_t d = 0; d < n->n_lanes; d++) {
        if (d)
            putc(',', n->f);
        fr__gnuplot_string(n->f, n->x->devices[d].name, 16);
        putc(' ', n->f);
        fr__plot_number(n->f, floor_of(n, d) + 0.5);
    }
    fputs(") scale 0 tc rgb '" FR__COLOUR_TEXT "'\n", n->f);
}

static void write_plot(const struct panel *n)
{
    const char *separator = "plot ";

    for (unsigned s = 0; s < N_SORTS; s++) {
        if (!has_sort(n, s))
            continue;
        fprintf(n->f,
                "%s$boxes index %u using 1:2:3:4:5:6 with boxxyerror fc rgb '%s' fs solid 1 border "
                "lc rgb '#FFFFFF' title '%s'",
                separator, s, sorts[s].colour,
                s == FORWARD && n->is_plain ? "task" : sorts[s].title);
        separator = ", \\\n ";
    }
    fprintf(n->f, "%s\nunset label\nunset arrow\n", separator[0] == 'p' ? "plot NaN notitle" : "");
}

/* ---- panels and words ---- */

static const char *describe(const struct panel *n, char *buf, size_t size)
{
    char time[40];

    snprintf(buf, size, "%s: %s", n->p->caption,
             n->is_plain ? fr__plain(n->p->makespan_s, time, sizeof(time))
                         : fr__format_time(n->p->makespan_s, time, sizeof(time)));
    return buf;
}

/* top, bottom: of the lanes, as shares of the picture's height. */
static enum fr_status write_panel(struct panel *n, double top, double bottom, bool with_key,
                                  struct fr_error *err)
{
    char text[160];

    n->n_boxes = 0;
    n->boxes = malloc((n->p->n_ops + 1) * sizeof(*n->boxes));
    if (!n->boxes)
        return fr__fail_nomem(err);
    list_boxes(n);
    fprintf(n->f, "set tmargin at screen ");
    fr__plot_number(n->f, top);
    fputs("\nset bmargin at screen ", n->f);
    fr__plot_number(n->f, bottom);
    fputs("\nset label 3 ", n->f);
    fr__gnuplot_string(n->f, describe(n, text, sizeof(text)), 120);
    fputs(" at graph 0, graph 1 left offset 0,0.9 font ',14' tc rgb '" FR__COLOUR_TEXT "'\n", n->f);
    write_boxes(n);
    write_devices(n);
    write_names(n);
    write_path(n);
    write_moves(n);
    fputs(with_key ? "set key at screen 0.97, screen 0.905 right horizontal Left reverse samplen "
                     "1.2 width 1 tc rgb '" FR__COLOUR_TEXT "'\n"
                   : "unset key\n",
          n->f);
    write_plot(n);
    free(n->boxes);
    return FR_OK;
}

static void write_heading(FILE *f, const struct fr_explanation *e)
{
    const struct fr_problem *in = &e->problem;
    bool is_plain = fr__explanation_is_plain(e);
    char text[1024];

    if (is_plain)
        snprintf(text, sizeof(text), "%s on %s, %s", in->graph->name, in->topo->name,
                 e->question.strategy);
    else
        snprintf(text, sizeof(text), "%s on %zu of %zu GPUs of %s, %s", in->graph->name,
                 in->n_devices, in->topo->n_gpus, in->topo->name, e->question.strategy);
    fputs("set label 1 ", f);
    fr__gnuplot_string(f, text, 100);
    fputs(" at screen 0.03, screen 0.965 left font ',17' tc rgb '" FR__COLOUR_TEXT "'\n", f);
    if (is_plain)
        snprintf(text, sizeof(text), "as the planner believes; black bars: the critical path");
    else
        snprintf(text, sizeof(text),
                 "global batch %u, %s, %s; as the planner believes; black bars: the critical path",
                 in->global_batch, fr_dtype_name(in->graph->dtype),
                 fr_optimizer_name(in->optimizer));
    fputs("set label 2 ", f);
    fr__gnuplot_string(f, text, 120);
    fputs(" at screen 0.03, screen 0.928 left font ',12' tc rgb '" FR__COLOUR_QUIET "'\n", f);
}

enum fr_status fr__explain_plot(FILE *script, const struct fr_explanation *e,
                                const struct fr__plot_frame *frame, struct fr_error *err)
{
    const struct fr_decisions *x = e->decisions;
    size_t n_devices = x->n_devices;
    double most_s = 0, height = 0.78 / (double)x->n_plans;
    struct panel n = {.f = script,
                      .graph = e->problem.graph,
                      .x = x,
                      .n_lanes = n_devices < MAX_LANES ? n_devices : MAX_LANES,
                      .is_plain = fr__explanation_is_plain(e)};
    const char *unit = "as in the task file";

    for (size_t k = 0; k < x->n_plans; k++)
        most_s = fmax(most_s, x->plans[k].makespan_s);
    if (!(most_s > 0))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "nothing takes time: there is nothing to draw");
    n.factor = n.is_plain ? 1 : fr__time_unit(most_s, &unit);
    n.length = n.factor * most_s;
    n.pixel = n.length / frame->pixels_wide;
    fputs("set multiplot\nset lmargin at screen 0.09\nset rmargin at screen 0.97\n"
          "set border 1 lc rgb '#BBBBBB'\nset xtics nomirror scale 0.5 tc rgb '" FR__COLOUR_TEXT
          "'\nset grid xtics lt 1 lc rgb '#E6E6E6'\nset xrange [0:",
          script);
    fr__plot_number(script, n.length);
    fputs("]\n", script);
    write_heading(script, e);
    for (size_t k = 0; k < x->n_plans; k++) {
        bool is_last = k + 1 == x->n_plans;

        n.p = &x->plans[k];
        if (is_last)
            fprintf(script, "set xlabel 'time (%s)' tc rgb '" FR__COLOUR_TEXT "'\n", unit);
        FR_TRY(write_panel(&n, 0.82 - (double)k * height,
                           0.82 - (double)(k + 1) * height + (is_last ? 0.05 : 0.09), is_last,
                           err));
    }
    fputs("unset multiplot\n", script);
    return FR_OK;
}

enum fr_status fr__explain_draw(FILE *picture, const struct fr_explanation *e, const char *ending,
                                const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr__plot_frame *frame = fr__plot_frame(ending);
    FILE *script;
    enum fr_status st;

    FR_TRY(fr__gnuplot_script(&script, err));
    fputs(frame->terminal, script);
    st = fr__explain_plot(script, e, frame, err);
    if (st == FR_OK)
        st = fr__gnuplot_run(script, picture, ctx, err);
    fclose(script);
    return st;
}
