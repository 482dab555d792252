/* results/html/memory.c - the memory of each device over time, a layer a kind, on pages.
 *
 * It is separate from the curves (parts/memory_curve.c), which the picture of a run shows, too.
 */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/html/inline.h"
#include "results/html/html.h"
#include "results/parts/colours.h"
#include "results/parts/lanes.h"
#include "results/parts/memory_curve.h"
#include "results/parts/times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_BINS = 400, HEIGHT = 104, TOP = 26, FEW_CHARTS = 3 };

/* From the bottom up: what stays, then what comes and goes. */
static const struct {
    enum fr_buffer_kind kind;
    const char *colour;
} layers[] = {
    {FR_BUFFER_CONTEXT, FR__COLOUR_OTHER},
    {FR_BUFFER_PARAMETER, FR__COLOUR_FORWARD},
    {FR_BUFFER_OPTIMIZER, FR__COLOUR_UPDATE},
    {FR_BUFFER_WEIGHT_VERSION, FR__COLOUR_COPY},
    {FR_BUFFER_GRADIENT, FR__COLOUR_BACKWARD_DATA},
    {FR_BUFFER_ACTIVATION, FR__COLOUR_BACKWARD_WEIGHT},
    {FR_BUFFER_COMMUNICATION, FR__COLOUR_COMMUNICATION},
    {FR_BUFFER_WORKSPACE, FR__COLOUR_WORKSPACE},
};
enum { N_LAYERS = sizeof(layers) / sizeof(layers[0]) };

/* A device that holds anything. */
struct holder {
    uint32_t device;
    double fill_frac; /* peak over capacity */
};

/* Fullest first. */
static int compare(const void *a, const void *b)
{
    const struct holder *x = a, *y = b;

    if (x->fill_frac != y->fill_frac)
        return x->fill_frac > y->fill_frac ? -1 : 1;
    return x->device < y->device ? -1 : x->device > y->device;
}

/* At most max different curves, of the fullest devices. */
static enum fr_status make_curves(struct fr__memory_curves *m, const struct fr_record *r,
                                  size_t max, struct fr_error *err)
{
    const struct fr_topo *t = fr_plan_view(r->plan)->topo;
    struct holder *list = calloc(t->n_devices + 1, sizeof(*list));
    uint32_t *devices = calloc(t->n_devices + 1, sizeof(*devices));
    enum fr_status st = list && devices ? FR_OK : fr__fail_nomem(err);
    size_t n = 0;

    for (uint32_t d = 0; d < t->n_devices && st == FR_OK; d++)
        if (r->run->devices[d].peak_bytes > 0)
            list[n++] = (struct holder){d, (double)r->run->devices[d].peak_bytes /
                                               (double)t->types[t->devices[d].type].mem_bytes};
    if (n > 0)
        qsort(list, n, sizeof(*list), compare);
    for (size_t i = 0; i < n; i++)
        devices[i] = list[i].device;
    if (st == FR_OK)
        st = fr__memory_curves(m, r, devices, n, N_BINS, max, err);
    free(list);
    free(devices);
    return st;
}

/* ---- drawing ---- */

/* The area under layers 0 .. layer; what is above it has been drawn before. */
static void put_layer(struct fr__panel *p, const struct fr__memory_curve *c, unsigned layer,
                      double span)
{
    struct fr__chart_series *s = fr__panel_series(
        p, (struct fr__chart_style){.mark = FR__AREA, .colour = layers[layer].colour});
    double most = 0;
    char peak[FR__HTML_TEXT];

    for (unsigned bin = 0; bin < N_BINS; bin++)
        most = fmax(most, c->bytes[bin][layers[layer].kind]);
    if (!(most > 0))
        return;
    for (unsigned bin = 0; bin < N_BINS; bin++) {
        double y = 0;

        for (unsigned l = 0; l <= layer; l++)
            y += c->bytes[bin][layers[l].kind];
        fr__series_point(s, span * bin / N_BINS, y);
    }
    fr__series_hint(s, fr__chart_text(p->chart, "%s\nat most %s",
                                      fr_buffer_kind_name(layers[layer].kind),
                                      fr__format_bytes(most, peak, sizeof(peak))));
}

/* Words above the plot, at its left or right end. */
static void put_above(struct fr__panel *p, bool is_right, const char *text)
{
    fr__panel_note(p, (struct fr__chart_note){.text = text,
                                              .x = is_right ? p->right : p->left,
                                              .y = 1 - (TOP - 5) / p->chart->high,
                                              .x_by = FR__BY_PICTURE,
                                              .y_by = FR__BY_PICTURE,
                                              .align = is_right ? FR__UP_TO : FR__FROM});
}

static double capacity_of(const struct fr_record *r, const struct fr__memory_curve *c)
{
    const struct fr_topo *t = fr_plan_view(r->plan)->topo;

    return (double)t->types[t->devices[c->device].type].mem_bytes;
}

/* Devices of one capacity have one scale, so that their charts can be compared. */
static double most_alike(const struct fr_record *r, const struct fr__memory_curves *m,
                         double capacity)
{
    double most = 0;

    for (size_t i = 0; i < m->n; i++)
        if (capacity_of(r, &m->list[i]) == capacity)
            most = fmax(most, m->list[i].peak_bytes);
    return most;
}

static enum fr_status write_chart(FILE *f, const struct fr_record *r,
                                  const struct fr__memory_curves *m,
                                  const struct fr__memory_curve *c, struct fr_error *err)
{
    const struct fr_topo *t = fr_plan_view(r->plan)->topo;
    double capacity = capacity_of(r, c), most = most_alike(r, m, capacity);
    bool is_shown = most >= 0.3 * capacity;
    double top = is_shown ? fmax(most, capacity) : most, span = r->run->makespan_s;
    struct fr__chart *chart = fr__inline_new(TOP, HEIGHT, 22);
    struct fr__panel *p;
    const char *unit;
    char text[FR__HTML_TEXT];

    if (!chart)
        return fr__fail_nomem(err);
    p = &chart->panels[0];
    span *= fr__record_time_unit(r, span, &unit);
    p->is_zoomed = true;
    p->x = (struct fr__chart_axis){.high = span, .label = unit};
    p->y = (struct fr__chart_axis){.high = top > 0 ? top : 1};
    for (unsigned half = 1; half <= 2; half++)
        fr__axis_tick(p, &p->y, top * half / 2,
                      fr__format_bytes(top * half / 2, text, sizeof(text)));
    put_above(
        p, false,
        fr__chart_text(chart, "%s%s, at most %s", t->devices[c->device].name,
                       c->n_same ? fr__chart_text(chart, " and %zu more alike", c->n_same) : "",
                       fr__format_bytes(c->peak_bytes, text, sizeof(text))));
    for (unsigned layer = N_LAYERS; layer-- > 0;)
        put_layer(p, c, layer, span);
    if (capacity > 0)
        put_above(p, true,
                  fr__chart_text(chart, "capacity %s%s",
                                 fr__format_bytes(capacity, text, sizeof(text)),
                                 is_shown ? "" : ", far above"));
    if (capacity > 0 && is_shown)
        fr__panel_limit(p, capacity, false);
    return fr__inline_finish(chart, f, "Memory over time", err);
}

static void write_key(FILE *f, const struct fr__memory_curve charts[], size_t n)
{
    fputs("<ul class=\"key\">\n", f);
    for (unsigned l = 0; l < N_LAYERS; l++) {
        bool is_there = false;

        for (size_t c = 0; c < n; c++)
            for (unsigned bin = 0; bin < N_BINS; bin++)
                is_there = is_there || charts[c].bytes[bin][layers[l].kind] > 0;
        if (!is_there)
            continue;
        fprintf(f, "<li><i style=\"background:%s\"></i>", layers[l].colour);
        fr__markup_text(f, fr_buffer_kind_name(layers[l].kind));
        fputs("</li>\n", f);
    }
    fputs("</ul>\n", f);
}

enum fr_status fr__html_memory(FILE *f, const struct fr_record *r, size_t number,
                               struct fr_error *err)
{
    struct fr__memory_curves m;
    enum fr_status st;

    if (!r->plan || !r->run || !(r->run->makespan_s > 0) || r->is_plain)
        return FR_OK;
    FR_TRY(make_curves(&m, r, number > 1 ? FEW_CHARTS : FR__MEMORY_CURVES, err));
    st = FR_OK;
    if (m.n > 0) {
        fputs("<h3>Memory over time</h3>\n", f);
        fr__html_zoom_begin(f, "Memory over time");
        for (size_t i = 0; i < m.n && st == FR_OK; i++)
            st = write_chart(f, r, &m, &m.list[i], err);
        write_key(f, m.list, m.n);
        fputs("<figcaption>Buffers as they are allocated, without rounding", f);
        if (m.n_left_out)
            fprintf(f, "; the fullest devices, %zu others are left out", m.n_left_out);
        fputs(".</figcaption>\n</figure>\n", f);
    }
    fr__memory_curves_fini(&m);
    return st;
}
