/* results/pictures/timeline.c - one run over time: the work of each device, and below it the
 * memory.
 *
 * It is separate from charts/timeline.c, whose lanes other pictures and reports show too.
 * Devices with the same curve of memory share a line.
 */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/units.h"
#include "results/charts/timeline.h"
#include "results/parts/colours.h"
#include "results/parts/memory_curve.h"
#include "results/parts/palette.h"
#include "results/parts/times.h"
#include "results/pictures/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CURVES = 8, MAX_BOXES = 20000, N_BINS = 1600 };

static const double LEFT = 0.09, RIGHT = 0.97;

/* ---- memory ---- */

struct memory {
    const struct fr_record *record;
    const struct fr_plan_view *view;
    size_t n_bins;
    uint32_t shown[FR__TIMELINE_LANES]; /* devices */
    size_t n_shown;
    double factor, unit_bytes; /* seconds and bytes to the units of the axes */
};

/* Bytes held by one device: highest in each bin, so that no peak is lost. */
struct curve {
    uint32_t device;
    size_t n_same; /* other devices with the same curve */
    double *bytes; /* [n_bins] */
};

static void fill_curve(const struct memory *t, struct curve *c,
                       const struct fr__memory_event events[], size_t n)
{
    double bin_s = t->record->run->makespan_s / (double)t->n_bins;
    double held = 0;
    size_t bin = 0;

    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)(events[i].t_s / bin_s);
        double bytes = (double)t->view->buffers[events[i].buffer].bytes;

        if (at >= t->n_bins)
            at = t->n_bins - 1;
        while (bin < at) /* what is held now is still held in the next bin */
            c->bytes[++bin] = held;
        held += events[i].is_alloc ? bytes : -bytes;
        if (held > c->bytes[bin])
            c->bytes[bin] = held;
    }
    while (bin + 1 < t->n_bins)
        c->bytes[++bin] = held;
}

static void join_equal(struct curve curves[], size_t *n, size_t n_bins)
{
    struct curve *last = &curves[*n - 1];

    for (size_t i = 0; i + 1 < *n; i++) {
        if (memcmp(curves[i].bytes, last->bytes, n_bins * sizeof(double)) != 0)
            continue;
        curves[i].n_same++;
        free(last->bytes);
        (*n)--;
        return;
    }
}

/* At most MAX_CURVES different ones, of the devices shown. */
static enum fr_status make_curves(const struct memory *t, struct curve curves[], size_t *n,
                                  struct fr_error *err)
{
    struct fr__memory_event *events;
    size_t n_events;
    enum fr_status st = FR_OK;

    *n = 0;
    FR_TRY(fr__memory_events(t->record, &events, &n_events, err));
    for (size_t first = 0, past; first < n_events && st == FR_OK; first = past) {
        past = first;
        while (past < n_events && events[past].device == events[first].device)
            past++;
        if (fr__lane_of(t->shown, t->n_shown, events[first].device) == t->n_shown ||
            *n == MAX_CURVES)
            continue;
        curves[*n] = (struct curve){.device = events[first].device,
                                    .bytes = calloc(t->n_bins, sizeof(double))};
        if (!curves[*n].bytes) {
            st = fr__fail_nomem(err);
            break;
        }
        fill_curve(t, &curves[(*n)++], events + first, past - first);
        join_equal(curves, n, t->n_bins);
    }
    free(events);
    return st;
}

static void put_curve(struct fr__panel *p, const struct memory *t, const struct curve *c,
                      const char *colour)
{
    double bin = t->factor * t->record->run->makespan_s / (double)t->n_bins;
    const char *name = t->view->topo->devices[c->device].name;
    struct fr__chart_series *s = fr__panel_series(
        p, (struct fr__chart_style){
               .mark = FR__STEPS,
               .colour = colour,
               .width = 2,
               .title = c->n_same > 0
                            ? fr__chart_text(p->chart, "%s and %zu more alike", name, c->n_same)
                            : name});

    for (size_t b = 0; b < t->n_bins; b++)
        if (b == 0 || b + 1 == t->n_bins || c->bytes[b] != c->bytes[b - 1])
            fr__series_point(s, (double)b * bin, c->bytes[b] / t->unit_bytes);
    fr__series_point(s, (double)t->n_bins * bin, c->bytes[t->n_bins - 1] / t->unit_bytes);
}

/* Draws the capacity as a line; as words if it is so high that the curves would look flat. */
static void put_capacity(struct fr__panel *p, const struct memory *t, double peak_bytes)
{
    double capacity = (double)t->record->peak_capacity_bytes;
    bool is_far = peak_bytes < 0.3 * capacity;
    double top = (is_far ? 1.3 * peak_bytes : 1.18 * fmax(peak_bytes, capacity)) / t->unit_bytes;
    char text[32];

    p->y.high = top > 0 ? top : 1; /* an axis needs a length */
    if (capacity <= 0 || t->record->is_plain)
        return;
    fr__panel_note(p, (struct fr__chart_note){
                          .text = fr__chart_text(p->chart, "capacity %s%s",
                                                 fr__format_bytes(capacity, text, sizeof(text)),
                                                 is_far ? ", far above" : ""),
                          .x = 0.995,
                          .x_by = FR__BY_PANEL,
                          .y = is_far ? 0.92 : capacity / t->unit_bytes,
                          .y_by = is_far ? FR__BY_PANEL : FR__BY_AXIS,
                          .up = is_far ? 0 : 0.6,
                          .align = FR__UP_TO,
                          .points = 11,
                          .colour = FR__COLOUR_LIMIT});
    if (!is_far)
        fr__panel_limit(p, capacity / t->unit_bytes, false);
}

static enum fr_status put_memory(struct fr__chart *chart, struct memory *t, const char *time_title,
                                 struct fr_error *err)
{
    struct fr__panel *p = fr__chart_panel(chart, LEFT, RIGHT, 0.09, 0.345);
    struct curve curves[MAX_CURVES];
    double peak = 0;
    size_t n = 0;
    enum fr_status st = make_curves(t, curves, &n, err);

    for (size_t c = 0; c < n; c++)
        for (size_t bin = 0; bin < t->n_bins; bin++)
            peak = fmax(peak, curves[c].bytes[bin]);
    t->unit_bytes = peak < 0.1 * 1024 * 1024 * 1024 ? 1024.0 * 1024 : 1024.0 * 1024 * 1024;
    p->x = (struct fr__chart_axis){.high = t->factor * t->record->run->makespan_s,
                                   .label = time_title};
    p->y.label = t->unit_bytes > 2e6 ? "memory (GiB)" : "memory (MiB)";
    p->y.has_grid = true;
    p->key = FR__KEY_ABOVE;
    put_capacity(p, t, peak);
    for (size_t c = 0; c < n; c++) {
        put_curve(p, t, &curves[c], fr__palette(c));
        free(curves[c].bytes);
    }
    return st;
}

/* ---- the chart ---- */

enum fr_status fr__chart_timeline(struct fr__chart *c, const struct fr_record *r,
                                  struct fr_error *err)
{
    double makespan_s = r->run->makespan_s;
    const struct fr__timeline_span span = {.to_s = makespan_s,
                                           .span_s = makespan_s,
                                           .lanes = FR__TIMELINE_LANES,
                                           .boxes = MAX_BOXES,
                                           .most_zoom = 1};
    struct memory m = {.record = r, .view = fr_plan_view(r->plan), .n_bins = N_BINS};
    struct fr__timeline_told told = {.n_busy = 0};
    struct fr__panel *p = fr__chart_panel(c, LEFT, RIGHT, 0.40, 0.845);
    const char *unit;
    size_t n_busy;

    if (!(makespan_s > 0))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "nothing takes time: there is nothing to draw");
    p->key = FR__KEY_ABOVE;
    FR_TRY(fr__timeline_put(p, r, &span, false, &told, err));
    p->x.hides_numbers = true;
    p->x.label = NULL;
    if (told.n_busy > told.n_shown)
        c->remark = fr__chart_text(c, "%zu of %zu busy devices shown", told.n_shown, told.n_busy);
    m.factor = fr__record_time_unit(r, makespan_s, &unit);
    m.n_shown = fr__shown_devices(r, FR__TIMELINE_LANES, m.shown, &n_busy);
    return put_memory(c, &m, fr__chart_text(c, "time (%s)", unit[0] ? unit : "as in the task file"),
                      err);
}
