/* results/charts/timeline.c - the lanes and boxes of a run over time.
 *
 * It is separate from the pictures and reports that show them.
 */
#include "config.h"

#include "results/charts/timeline.h"

#include "base/arena.h"
#include "base/error.h"
#include "results/parts/microbatches.h"
#include "results/parts/task_order.h"
#include "results/parts/times.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { LEAST_BOXES = 12, MAX_NUMBERS = 1200, MAX_NAMES = 400, LEAST_PIXELS = 2, NAME_POINTS = 9 };

/* Parts of a lane, whose height is 1. */
enum band { BAND_COMPUTE, BAND_COLLECTIVE, BAND_SEND, BAND_RECV, N_BANDS };
static const struct {
    double low, high;
} bands[N_BANDS] = {[BAND_COMPUTE] = {0.45, 0.9},
                    [BAND_COLLECTIVE] = {0.1, 0.4},
                    [BAND_SEND] = {0.2625, 0.4},
                    [BAND_RECV] = {0.1, 0.2375}};

struct box {
    double from_s, to_s, busy_s;
    double share_s[FR__N_CATEGORIES];
    uint32_t first, last, n; /* tasks */
};

struct maker {
    struct fr__panel *panel;
    const struct fr_record *record;
    const struct fr_plan_view *view;
    const struct fr__timeline_span *span;
    uint32_t *order; /* tasks lane by lane */
    uint32_t shown[FR__TIMELINE_LANES];
    size_t n_shown;
    size_t max_boxes; /* in a band of a lane's stream */
    double factor;    /* seconds to the unit of the axis */
    struct box *boxes;
    size_t n_boxes, cap_boxes, n_names;
    struct fr__chart_series *series[FR__N_CATEGORIES];
    bool with_hints, has_numbers;
    struct fr__timeline_told *told;
};

static enum band band_of(const struct fr_task *k)
{
    switch (k->kind) {
    case FR_TASK_SEND:
        return BAND_SEND;
    case FR_TASK_RECV:
        return BAND_RECV;
    case FR_TASK_COLLECTIVE:
        return BAND_COLLECTIVE;
    default:
        return BAND_COMPUTE;
    }
}

static enum fr__category main_category(const struct box *b)
{
    unsigned best = 0;

    for (unsigned c = 1; c < FR__N_CATEGORIES; c++)
        if (b->share_s[c] > b->share_s[best])
            best = c;
    return (enum fr__category)best;
}

/* A time of the run in the part of it that is shown, whose begin is 0. */
static double in_span(const struct maker *t, double s)
{
    return fmin(fmax(s - t->span->from_s, 0), t->span->to_s - t->span->from_s);
}

static double floor_of(const struct maker *t, size_t lane)
{
    return (double)(t->n_shown - 1 - lane);
}

/* ---- boxes ---- */

/* Whether a task is drawn as part of the box before it, when shorter things than least_s merge. */
static bool joins(const struct box *b, enum fr__category c, double start_s, double end_s,
                  double least_s)
{
    if (end_s - b->from_s <= least_s)
        return true;
    return end_s - start_s <= least_s && start_s - b->to_s <= least_s / 2 && main_category(b) == c;
}

static bool begin_box(struct maker *t, uint32_t task, double start_s)
{
    if (!fr__grow(&t->boxes, &t->cap_boxes, t->n_boxes + 1, sizeof(*t->boxes)))
        return false;
    t->boxes[t->n_boxes++] = (struct box){.from_s = start_s, .to_s = start_s, .first = task};
    return true;
}

/* The boxes of one band of one stream; tasks: [n] by start. */
static bool make_boxes(struct maker *t, const uint32_t tasks[], size_t n, enum band band,
                       double least_s)
{
    t->n_boxes = 0;
    for (size_t i = 0; i < n; i++) {
        const struct fr_task *k = &t->view->tasks[tasks[i]];
        double start_s = in_span(t, t->record->run->start_s[tasks[i]]);
        double end_s = in_span(t, t->record->run->end_s[tasks[i]]);
        enum fr__category c = fr__category_of(k);
        struct box *b = t->n_boxes ? &t->boxes[t->n_boxes - 1] : NULL;

        if (k->kind == FR_TASK_MARKER || band_of(k) != band || !(end_s > start_s))
            continue;
        if (!b || !joins(b, c, start_s, end_s, least_s)) {
            if (!begin_box(t, tasks[i], start_s))
                return false;
            b = &t->boxes[t->n_boxes - 1];
        }
        b->to_s = end_s > b->to_s ? end_s : b->to_s;
        b->busy_s += end_s - start_s;
        b->share_s[c] += end_s - start_s;
        b->last = tasks[i];
        b->n++;
    }
    return true;
}

/* Name, kind, when, where. */
static void put_hint(struct maker *t, size_t lane, const struct box *b, enum fr__category c)
{
    const struct fr_record *r = t->record;
    char label[128], last[128] = "", from[40], to[40], took[40], kind[80];

    fr_plan_task_label(r->plan, b->first, label, sizeof(label));
    if (b->n > 1)
        fr_plan_task_label(r->plan, b->last, last, sizeof(last));
    if (b->n > 1)
        snprintf(kind, sizeof(kind), "%" PRIu32 " tasks, mostly %s", b->n,
                 fr__category_title(r, c));
    else
        snprintf(kind, sizeof(kind), "%s", fr__category_title(r, c));
    fr__series_hint(t->series[c],
                    fr__chart_text(t->panel->chart, "%s%s%s\n%s\n%s to %s: %s\n%s", label,
                                   b->n > 1 ? " … " : "", last, kind,
                                   fr__record_time(r, b->from_s, from, sizeof(from)),
                                   fr__record_time(r, b->to_s, to, sizeof(to)),
                                   fr__record_time(r, b->to_s - b->from_s, took, sizeof(took)),
                                   t->view->topo->devices[t->shown[lane]].name));
}

/* The task's name, else that of its op. */
static void put_name(struct maker *t, const struct box *b, const double at[4], enum fr__category c)
{
    char label[128];
    uint32_t op = t->view->tasks[b->first].op;
    const struct fr_graph *g = t->view->graph;
    const char *names[2] = {fr_plan_task_label(t->record->plan, b->first, label, sizeof(label)),
                            g && op != FR_NONE && op < g->n_ops ? g->layer_names[g->ops[op].layer]
                                                                : NULL};

    if (fr__panel_name_box(t->panel, at, names, 2, NAME_POINTS, fr__category_colour(c)))
        t->n_names++;
}

static void put_box(struct maker *t, size_t lane, enum band band, const struct box *b)
{
    enum fr__category c = main_category(b);
    double low = floor_of(t, lane) + bands[band].low, high = floor_of(t, lane) + bands[band].high;
    const double at[4] = {t->factor * b->from_s, t->factor * b->to_s, low, high};

    fr__series_box(t->series[c], at[0], at[1], at[2], at[3]);
    if (t->with_hints)
        put_hint(t, lane, b, c);
    if (!t->has_numbers && b->n == 1 && t->n_names < MAX_NAMES)
        put_name(t, b, at, c);
    t->told->has[fr__category_even(c)] = true;
    t->told->n_merged += b->n > 1;
}

static enum fr_status put_band(struct maker *t, size_t lane, enum band band, const uint32_t tasks[],
                               size_t n, struct fr_error *err)
{
    double least_s = 0;

    do {
        if (!make_boxes(t, tasks, n, band, least_s))
            return fr__fail_nomem(err);
        least_s = least_s > 0
                      ? 2 * least_s
                      : t->span->span_s / fr__panel_wide(t->panel, t->factor * t->span->span_s) /
                            LEAST_PIXELS;
    } while (t->n_boxes > t->max_boxes);
    for (size_t i = 0; i < t->n_boxes; i++)
        put_box(t, lane, band, &t->boxes[i]);
    return FR_OK;
}

/* Where the tasks of a device and stream end that begin at `first`. */
static size_t stream_end(const struct maker *t, size_t first)
{
    const struct fr_task *tasks = t->view->tasks, *k = &tasks[t->order[first]];
    size_t past = first + 1;

    while (past < t->view->n_tasks && tasks[t->order[past]].device == k->device &&
           tasks[t->order[past]].stream == k->stream)
        past++;
    return past;
}

/* Tasks by lane, stream (those of none are the last) and band. */
struct counts {
    size_t n[FR__TIMELINE_LANES][FR_N_STREAMS + 1][N_BANDS];
};

static size_t sum_up_to(const struct counts *c, size_t most)
{
    size_t sum = 0;

    for (size_t lane = 0; lane < FR__TIMELINE_LANES; lane++)
        for (size_t stream = 0; stream <= FR_N_STREAMS; stream++)
            for (size_t band = 0; band < N_BANDS; band++)
                sum += c->n[lane][stream][band] < most ? c->n[lane][stream][band] : most;
    return sum;
}

/* The most boxes a band of a stream may have, so that all have room together: what those with few
 * tasks do not need goes to the others. */
static size_t share_out(const struct maker *t, size_t boxes)
{
    struct counts c = {{{{0}}}};
    size_t low = LEAST_BOXES, high = boxes > LEAST_BOXES ? boxes : LEAST_BOXES;

    for (size_t i = 0; i < t->view->n_tasks; i++) {
        const struct fr_task *k = &t->view->tasks[i];
        size_t lane = fr__lane_of(t->shown, t->n_shown, k->device);

        if (lane < t->n_shown && k->kind != FR_TASK_MARKER)
            c.n[lane][k->stream < FR_N_STREAMS ? k->stream : FR_N_STREAMS][band_of(k)]++;
    }
    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;

        if (sum_up_to(&c, middle) <= boxes)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static enum fr_status put_boxes(struct maker *t, struct fr_error *err)
{
    t->max_boxes = share_out(t, t->span->boxes);
    for (size_t i = 0, past; i < t->view->n_tasks; i = past) {
        size_t lane = fr__lane_of(t->shown, t->n_shown, t->view->tasks[t->order[i]].device);

        past = stream_end(t, i);
        for (unsigned band = 0; lane < t->n_shown && band < N_BANDS; band++)
            FR_TRY(put_band(t, lane, (enum band)band, t->order + i, past - i, err));
    }
    return FR_OK;
}

/* ---- numbers of micro-batches ---- */

/* All boxes have their number, or none has, where one of them is too short for it. */
static enum fr_status put_numbers(struct maker *t, struct fr_error *err)
{
    double wide = fr__panel_wide(t->panel, t->factor), zoom;
    double digit = t->span->most_zoom > 1 ? 6.3 : 8; /* pixels; a page's numbers are smaller */
    struct fr__microbatch *list;
    size_t n;

    FR_TRY(fr__microbatches(t->record, t->order, t->shown, t->n_shown, t->span->from_s,
                            t->span->to_s, t->span->most_zoom > 1 ? MAX_NUMBERS / 2 : MAX_NUMBERS,
                            &list, &n, err));
    zoom = fr__microbatches_zoom(list, n, wide, digit);
    t->has_numbers = n > 0;
    if (n > 0 && zoom <= t->span->most_zoom) {
        t->told->n_numbers += n;
        t->told->n_hidden_numbers += zoom > 1 ? n : 0;
        t->panel->notes_zoom = zoom;
        for (size_t i = 0; i < n; i++)
            fr__panel_note(
                t->panel,
                (struct fr__chart_note){
                    .text = fr__chart_text(t->panel->chart, "%" PRIu32, list[i].microbatch),
                    .x = t->factor * ((list[i].from_s + list[i].to_s) / 2 - t->span->from_s),
                    .y = floor_of(t, list[i].lane) + 0.675,
                    .points = 10,
                    .on = fr__category_colour(list[i].category)});
    }
    free(list);
    return FR_OK;
}

/* ---- the panel ---- */

const char *fr__timeline_title(const struct fr_record *r, enum fr__category c)
{
    return c == FR__SEND || c == FR__RECV ? "message (send above, receive below)"
                                          : fr__category_title(r, c);
}

static void put_frame(struct maker *t, const char *unit)
{
    static const char *const groups[FR__N_CATEGORIES] = {"c0", "c1", "c2", "c3", "c4", "c5",
                                                         "c6", "c7", "c8", "c9", "c10"};
    struct fr__panel *p = t->panel;

    p->frame = FR__FRAME_BELOW;
    p->x = (struct fr__chart_axis){
        .high = t->factor * t->span->span_s, .has_grid = true, .label = unit};
    p->y = (struct fr__chart_axis){.high = (double)(t->n_shown ? t->n_shown : 1), .is_named = true};
    for (size_t lane = 0; lane < t->n_shown; lane++)
        fr__axis_tick(p, &p->y, floor_of(t, lane) + 0.5,
                      t->view->topo->devices[t->shown[lane]].name);
    for (unsigned c = 0; c < FR__N_CATEGORIES; c++)
        t->series[c] = fr__panel_series(
            p,
            (struct fr__chart_style){.mark = FR__BOXES,
                                     .colour = fr__category_colour((enum fr__category)c),
                                     .group = groups[c],
                                     .title = fr__timeline_title(t->record, (enum fr__category)c)});
    t->series[FR__RECV] = t->series[FR__SEND]; /* one colour */
}

enum fr_status fr__timeline_put(struct fr__panel *p, const struct fr_record *r,
                                const struct fr__timeline_span *span, bool with_hints,
                                struct fr__timeline_told *told, struct fr_error *err)
{
    struct maker t = {.panel = p,
                      .record = r,
                      .view = fr_plan_view(r->plan),
                      .span = span,
                      .with_hints = with_hints,
                      .told = told};
    const char *unit;
    size_t n_busy;
    enum fr_status st;

    t.factor = fr__record_time_unit(r, span->span_s, &unit);
    t.n_shown = fr__shown_devices(r, span->lanes, t.shown, &n_busy);
    told->record = r;
    told->n_shown += t.n_shown;
    told->n_busy += n_busy;
    FR_TRY(fr__tasks_by_lane(r, &t.order, err));
    put_frame(&t, unit);
    st = put_numbers(&t, err);
    if (st == FR_OK)
        st = put_boxes(&t, err);
    if (span->marks_end)
        fr__panel_limit(p, t.factor * (span->to_s - span->from_s), true);
    free(t.boxes);
    free(t.order);
    return st;
}
