/* results/html/memory.c - the memory of each device over time, a layer a kind, in the report.
 *
 * It is separate because it finds out which devices hold the same and shows them once.
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

enum { N_BINS = 400, HEIGHT = 104, TOP = 26, CHARTS = 8, FEW_CHARTS = 3 };

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

/* What one device holds in each bin, at the moment when it holds most there. */
struct chart {
    uint32_t device;
    size_t n_same;                      /* other devices that hold the same */
    double (*bytes)[FR_N_BUFFER_KINDS]; /* [N_BINS] */
    double peak_bytes;
};

struct memory {
    const struct fr_record *record;
    struct chart charts[CHARTS + 1]; /* one more to compare with */
    size_t n, n_left_out;
};

static double sum_of(const double bytes[FR_N_BUFFER_KINDS])
{
    double sum = 0;

    for (unsigned k = 0; k < FR_N_BUFFER_KINDS; k++)
        sum += bytes[k];
    return sum;
}

/* events: [n] of one device in order. */
static void fill_chart(struct chart *c, const struct fr_record *r,
                       const struct fr__memory_event events[], size_t n)
{
    const struct fr_buffer *buffers = fr_plan_view(r->plan)->buffers;
    double held[FR_N_BUFFER_KINDS] = {0}, most = -1;
    size_t bin = 0;

    for (size_t i = 0; i < n; i++) {
        const struct fr_buffer *b = &buffers[events[i].buffer];
        size_t at = (size_t)(events[i].t_s / r->run->makespan_s * N_BINS);

        if (at >= N_BINS)
            at = N_BINS - 1;
        while (bin < at) { /* what is held now lasts into the next bin */
            memcpy(c->bytes[++bin], held, sizeof(held));
            most = sum_of(held);
        }
        held[b->kind] += events[i].is_alloc ? (double)b->bytes : -(double)b->bytes;
        if (sum_of(held) > most) {
            most = sum_of(held);
            memcpy(c->bytes[bin], held, sizeof(held));
        }
        c->peak_bytes = fmax(c->peak_bytes, most);
    }
    while (bin + 1 < N_BINS)
        memcpy(c->bytes[++bin], held, sizeof(held));
}

/* The chart that holds the same, or the last one when none does. */
static struct chart *same_chart(struct chart charts[], size_t n)
{
    size_t i = 0;

    while (i + 1 < n &&
           memcmp(charts[i].bytes, charts[n - 1].bytes, N_BINS * sizeof(*charts[i].bytes)) != 0)
        i++;
    return &charts[i];
}

/* One device's events in the list of all. */
struct events_of {
    size_t first, n;
    uint32_t device;
    double fill_frac; /* peak over capacity */
};

/* Fullest first. */
static int compare(const void *a, const void *b)
{
    const struct events_of *x = a, *y = b;

    if (x->fill_frac != y->fill_frac)
        return x->fill_frac > y->fill_frac ? -1 : 1;
    return x->device < y->device ? -1 : x->device > y->device;
}

/* list: [n_devices of the topology]. Returns how many of them hold anything. */
static size_t sort_devices(const struct fr_record *r, const struct fr__memory_event events[],
                           size_t n_events, struct events_of list[])
{
    const struct fr_topo *t = fr_plan_view(r->plan)->topo;
    size_t n = 0;

    for (size_t first = 0, past; first < n_events; first = past) {
        uint32_t device;

        past = first;
        while (past < n_events && events[past].device == events[first].device)
            past++;
        device = events[first].device;
        list[n++] = (struct events_of){first, past - first, device,
                                       (double)r->run->devices[device].peak_bytes /
                                           (double)t->types[t->devices[device].type].mem_bytes};
    }
    qsort(list, n, sizeof(*list), compare);
    return n;
}

/* At most max different ones, of the fullest devices; the rest are counted where they are alike. */
static enum fr_status make_charts(struct memory *m, size_t max, struct fr_error *err)
{
    struct fr__memory_event *events;
    size_t n_events, n_devices;
    struct events_of *list =
        calloc(fr_plan_view(m->record->plan)->topo->n_devices + 1, sizeof(*list));
    enum fr_status st =
        list ? fr__memory_events(m->record, &events, &n_events, err) : fr__fail_nomem(err);

    if (st != FR_OK) {
        free(list);
        return st;
    }
    n_devices = sort_devices(m->record, events, n_events, list);
    for (size_t i = 0; i < n_devices && st == FR_OK; i++) {
        struct chart *c = &m->charts[m->n], *same;

        *c = (struct chart){.device = list[i].device, .bytes = calloc(N_BINS, sizeof(*c->bytes))};
        if (!c->bytes) {
            st = fr__fail_nomem(err);
            break;
        }
        fill_chart(c, m->record, events + list[i].first, list[i].n);
        same = same_chart(m->charts, m->n + 1);
        if (same == c && m->n < max) {
            m->n++;
            continue;
        }
        if (same == c)
            m->n_left_out++;
        else
            same->n_same++;
        free(c->bytes);
    }
    free(events);
    free(list);
    return st;
}

/* ---- drawing ---- */

/* The area under layers 0 .. layer; what is above it has been drawn before. */
static void put_layer(struct fr__panel *p, const struct chart *c, unsigned layer, double span)
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

static double capacity_of(const struct memory *m, const struct chart *c)
{
    const struct fr_topo *t = fr_plan_view(m->record->plan)->topo;

    return (double)t->types[t->devices[c->device].type].mem_bytes;
}

/* Devices of one capacity have one scale, so that their charts can be compared. */
static double most_alike(const struct memory *m, double capacity)
{
    double most = 0;

    for (size_t i = 0; i < m->n; i++)
        if (capacity_of(m, &m->charts[i]) == capacity)
            most = fmax(most, m->charts[i].peak_bytes);
    return most;
}

static enum fr_status write_chart(FILE *f, const struct memory *m, const struct chart *c,
                                  struct fr_error *err)
{
    const struct fr_topo *t = fr_plan_view(m->record->plan)->topo;
    double capacity = capacity_of(m, c), most = most_alike(m, capacity);
    bool is_shown = most >= 0.3 * capacity;
    double top = is_shown ? fmax(most, capacity) : most, span = m->record->run->makespan_s;
    struct fr__chart *chart = fr__inline_new(TOP, HEIGHT, 22);
    struct fr__panel *p;
    const char *unit;
    char text[FR__HTML_TEXT];

    if (!chart)
        return fr__fail_nomem(err);
    p = &chart->panels[0];
    span *= fr__record_time_unit(m->record, span, &unit);
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

static void write_key(FILE *f, const struct chart charts[], size_t n)
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
        fr__html_text(f, fr_buffer_kind_name(layers[l].kind));
        fputs("</li>\n", f);
    }
    fputs("</ul>\n", f);
}

enum fr_status fr__html_memory(FILE *f, const struct fr_record *r, size_t number,
                               struct fr_error *err)
{
    struct memory m = {.record = r};
    enum fr_status st;

    if (!r->plan || !r->run || !(r->run->makespan_s > 0) || r->is_plain)
        return FR_OK;
    st = make_charts(&m, number > 1 ? FEW_CHARTS : CHARTS, err);
    if (st == FR_OK && m.n > 0) {
        fputs("<h3>Memory over time</h3>\n", f);
        fr__html_zoom_begin(f, "Memory over time");
        for (size_t i = 0; i < m.n && st == FR_OK; i++)
            st = write_chart(f, &m, &m.charts[i], err);
        write_key(f, m.charts, m.n);
        fputs("<figcaption>Buffers as they are allocated, without rounding", f);
        if (m.n_left_out)
            fprintf(f, "; the fullest devices, %zu others are left out", m.n_left_out);
        fputs(".</figcaption>\n</figure>\n", f);
    }
    for (size_t i = 0; i < m.n; i++)
        free(m.charts[i].bytes);
    return st;
}
