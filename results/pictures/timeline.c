/* results/pictures/timeline.c - one run over time: the work of each device, and below it the
 * memory.
 *
 * It is separate from charts/timeline.c, whose lanes other pictures and reports show too.
 * Devices with the same curve of memory share a line.
 */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/charts/timeline.h"
#include "results/parts/colours.h"
#include "results/parts/memory_curve.h"
#include "results/parts/palette.h"
#include "results/parts/times.h"
#include "results/pictures/pictures.h"

#include <math.h>

enum { MAX_BOXES = 20000, N_BINS = 1600 };

static const double LEFT = 0.09, RIGHT = 0.97;

/* ---- memory ---- */

struct memory {
    const struct fr_record *record;
    const struct fr_plan_view *view;
    uint32_t shown[FR__TIMELINE_LANES]; /* devices */
    size_t n_shown;
    double factor, unit_bytes; /* seconds and bytes to the units of the axes */
};

static void put_curve(struct fr__panel *p, const struct memory *t, const struct fr__memory_curve *c,
                      const char *colour)
{
    double bin = t->factor * t->record->run->makespan_s / N_BINS, last = -1;
    const char *name = t->view->topo->devices[c->device].name;
    struct fr__chart_series *s = fr__panel_series(
        p, (struct fr__chart_style){
               .mark = FR__STEPS,
               .colour = colour,
               .width = 2,
               .title = c->n_same > 0
                            ? fr__chart_text(p->chart, "%s and %zu more alike", name, c->n_same)
                            : name});

    for (size_t b = 0; b < N_BINS; b++) {
        double held = fr__memory_sum(c->bytes[b]) / t->unit_bytes;

        if (b + 1 == N_BINS || fabs(held - last) > 0)
            fr__series_point(s, (double)b * bin, held);
        last = held;
    }
    fr__series_point(s, N_BINS * bin, last);
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
    struct fr__memory_curves curves;
    double peak = 0;

    FR_TRY(fr__memory_curves(&curves, t->record, t->shown, t->n_shown, N_BINS, FR__MEMORY_CURVES,
                             err));
    for (size_t c = 0; c < curves.n; c++)
        peak = fmax(peak, curves.list[c].peak_bytes);
    t->unit_bytes = peak < 0.1 * 1024 * 1024 * 1024 ? 1024.0 * 1024 : 1024.0 * 1024 * 1024;
    p->x = (struct fr__chart_axis){.high = t->factor * t->record->run->makespan_s,
                                   .label = time_title};
    p->y.label = t->unit_bytes > 2e6 ? "memory (GiB)" : "memory (MiB)";
    p->y.has_grid = true;
    p->key = FR__KEY_ABOVE;
    put_capacity(p, t, peak);
    for (size_t c = 0; c < curves.n; c++)
        put_curve(p, t, &curves.list[c], fr__palette(c));
    fr__memory_curves_fini(&curves);
    return FR_OK;
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
    struct memory m = {.record = r, .view = fr_plan_view(r->plan)};
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
