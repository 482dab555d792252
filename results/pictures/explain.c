/* results/pictures/explain.c - an explained plan over time: a panel for each plan, a lane for each
 * device.
 *
 * It is separate from the timeline of a run, because its times are the planner's estimates.
 * Operations that are too short to be seen make one box with their neighbours of the same kind.
 */
#include "config.h"

#include "results/pictures/pictures.h"

#include "base/error.h"
#include "base/units.h"
#include "results/parts/colours.h"
#include "results/parts/explanation.h"
#include "results/parts/number.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_LANES = 16, MAX_NAMES = 400, MAX_ARROWS = 60 };

static const double LOW = 0.18, HIGH = 0.82; /* of a box in its lane */

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
    struct fr__panel *panel;
    const struct fr_graph *graph; /* the problem's */
    const struct fr_decisions *x;
    const struct fr_decided_plan *p;
    double factor, pixel; /* the axis: seconds to its unit, a pixel of it */
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

/* An operation's name, that of the graph's op, that of its layer: the first that fits. */
static void put_name(const struct panel *n, const struct box *b, const double at[4])
{
    const struct fr_graph *g = n->graph;
    const struct fr_decided_op *o = &n->p->ops[b->op];
    bool has_op = o->kind == FR_DECIDED_OP && o->op != FR_NONE;
    const char *names[3] = {o->name, has_op ? g->ops[o->op].name : NULL,
                            has_op ? g->layer_names[g->ops[o->op].layer] : NULL};

    fr__panel_name_box(n->panel, at, names, 3, 12, sorts[b->sort].colour);
}

static void put_boxes(const struct panel *n)
{
    struct fr__chart_series *series[N_SORTS];

    for (unsigned s = 0; s < N_SORTS; s++)
        series[s] = fr__panel_series(
            n->panel, (struct fr__chart_style){
                          .mark = FR__BOXES,
                          .colour = sorts[s].colour,
                          .edge = "#FFFFFF",
                          .title = s == FORWARD && n->is_plain ? "task" : sorts[s].title});
    for (size_t i = 0; i < n->n_boxes; i++) {
        const struct box *b = &n->boxes[i];
        double low = floor_of(n, b->lane);
        const double at[4] = {b->from, b->to, low + LOW, low + HIGH};

        fr__series_box(series[b->sort], at[0], at[1], at[2], at[3]);
        if (b->op == FR_NONE)
            continue;
        if (i < MAX_NAMES)
            put_name(n, b, at);
        if (b->is_on_path) /* a bar under it */
            fr__panel_line(n->panel, (struct fr__chart_line){.x0 = b->from,
                                                             .x1 = b->to,
                                                             .y0 = low + 0.13,
                                                             .y1 = low + 0.13,
                                                             .width = 4,
                                                             .colour = FR__COLOUR_TEXT});
    }
}

static bool is_drawn_move(const struct panel *n, const struct fr_decided_edge *e)
{
    const struct fr_decided_op *src = &n->p->ops[e->src], *dst = &n->p->ops[e->dst];

    return !e->is_order && src->device != dst->device && src->device < n->n_lanes &&
           dst->device < n->n_lanes && src->kind != FR_DECIDED_VARIABLE;
}

static void put_move(const struct panel *n, const struct fr_decided_edge *e)
{
    uint32_t src = n->p->ops[e->src].device, dst = n->p->ops[e->dst].device;
    double end_s = n->p->ops[e->src].end_s, there_s = end_s + e->move_s;

    if (n->factor * (there_s - end_s) < 4 * n->pixel)
        return; /* an arrow with no length */
    fr__panel_line(n->panel,
                   (struct fr__chart_line){.x0 = n->factor * end_s,
                                           .x1 = n->factor * there_s,
                                           .y0 = floor_of(n, src) + (dst > src ? LOW : HIGH),
                                           .y1 = floor_of(n, dst) + (dst > src ? HIGH : LOW),
                                           .width = 1.2,
                                           .has_head = true,
                                           .colour = FR__COLOUR_QUIET});
}

/* Draws moves, from the end of the operation that made the data to their arrival, if these can be
 * followed. */
static void put_moves(const struct panel *n)
{
    const struct fr_decided_plan *p = n->p;
    size_t n_edges = p->edges ? p->n_edges : 0, count = 0;

    for (size_t e = 0; e < n_edges; e++)
        count += is_drawn_move(n, &p->edges[e]);
    for (size_t e = 0; e < n_edges && count <= MAX_ARROWS; e++)
        if (is_drawn_move(n, &p->edges[e]))
            put_move(n, &p->edges[e]);
}

/* ---- panels and words ---- */

/* top, bottom: of the lanes, as shares of the picture's height. */
static enum fr_status put_panel(struct fr__chart *c, struct panel *n, double most, double bottom,
                                double top, struct fr_error *err)
{
    struct fr__panel *p = n->panel = fr__chart_panel(c, 0.09, 0.97, bottom, top);
    char time[40];

    p->frame = FR__FRAME_BELOW;
    p->x = (struct fr__chart_axis){.high = n->factor * most, .has_grid = true};
    p->y = (struct fr__chart_axis){.high = (double)n->n_lanes, .is_named = true};
    for (size_t d = 0; d < n->n_lanes; d++)
        fr__axis_tick(p, &p->y, floor_of(n, d) + 0.5, n->x->devices[d].name);
    p->caption =
        fr__chart_text(c, "%s: %s", n->p->caption,
                       n->is_plain ? fr__plain(n->p->makespan_s, time, sizeof(time))
                                   : fr__format_time(n->p->makespan_s, time, sizeof(time)));
    n->pixel = n->factor * most / fr__panel_wide(p, n->factor * most);
    n->n_boxes = 0;
    n->boxes = malloc((n->p->n_ops + 1) * sizeof(*n->boxes));
    if (!n->boxes)
        return fr__fail_nomem(err);
    list_boxes(n);
    put_boxes(n);
    put_moves(n);
    free(n->boxes);
    return FR_OK;
}

static void set_heading(struct fr__chart *c, const struct fr_explanation *e)
{
    const struct fr_problem *in = &e->problem;

    if (fr__explanation_is_plain(e)) {
        c->title = fr__chart_text(c, "%s on %s, %s", in->graph->name, in->topo->name,
                                  e->question.strategy);
        c->subtitle = "as the planner believes; black bars: the critical path";
        return;
    }
    c->title = fr__chart_text(c, "%s on %zu of %zu GPUs of %s, %s", in->graph->name, in->n_devices,
                              in->topo->n_gpus, in->topo->name, e->question.strategy);
    c->subtitle = fr__chart_text(
        c, "global batch %u, %s, %s; as the planner believes; black bars: the critical path",
        in->global_batch, fr_dtype_name(in->graph->dtype), fr_optimizer_name(in->optimizer));
}

enum fr_status fr__chart_of_explanation(struct fr__chart *c, const void *what, struct fr_error *err)
{
    const struct fr_explanation *e = ((const struct fr_explanation_answer *)what)->explanation;
    const struct fr_decisions *x = e->decisions;
    double most_s = 0, height = 0.78 / (double)x->n_plans;
    struct panel n = {.graph = e->problem.graph,
                      .x = x,
                      .n_lanes = x->n_devices < MAX_LANES ? x->n_devices : MAX_LANES,
                      .is_plain = fr__explanation_is_plain(e)};
    const char *unit = "as in the task file";

    for (size_t k = 0; k < x->n_plans; k++)
        most_s = fmax(most_s, x->plans[k].makespan_s);
    if (!(most_s > 0))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "nothing takes time: there is nothing to draw");
    n.factor = n.is_plain ? 1 : fr__time_unit(most_s, &unit);
    set_heading(c, e);
    for (size_t k = 0; k < x->n_plans && k < FR__CHART_PANELS; k++) {
        bool is_last = k + 1 == x->n_plans;

        n.p = &x->plans[k];
        FR_TRY(put_panel(c, &n, most_s, 0.82 - (double)(k + 1) * height + (is_last ? 0.05 : 0.09),
                         0.82 - (double)k * height, err));
    }
    n.panel->x.label = fr__chart_text(c, "time (%s)", unit);
    n.panel->key = FR__KEY_BELOW;
    n.panel->has_key_of_all = true;
    return FR_OK;
}
