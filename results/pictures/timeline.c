/* results/pictures/timeline.c - one run over time by gnuplot: the work of each device, and memory.
 *
 * It is separate from the timeline in the report, which is zoomed and needs no gnuplot.
 *
 * Above, one lane a device: computation in the upper half by phase, communication below (sends in
 * its upper, receives in its lower half, collectives in both). Lanes with more tasks than can be
 * told apart are cut into bins as wide as a pixel, each in the colour of what takes most of it.
 * Below, memory over time; devices with the same curve share a line.
 */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/units.h"
#include "results/parts/colours.h"
#include "results/parts/lanes.h"
#include "results/parts/memory_curve.h"
#include "results/parts/microbatches.h"
#include "results/parts/number.h"
#include "results/parts/task_order.h"
#include "results/pictures/gnuplot.h"
#include "results/pictures/plot.h"
#include "results/pictures/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LANES = 16, MAX_CURVES = 8, MAX_NUMBERS = 1200 };

/* Of the plot, 0.88 of 1600, and of a digit of 10 points. */
static const double PLOT_PIXELS = 1408, DIGIT_PIXELS = 8;

/* title NULL: not in the key. low, high: part of the lane, whose height is 1. */
static const struct {
    const char *title;
    double low, high;
} categories[FR__N_CATEGORIES] = {
    [FR__FORWARD] = {"forward", 0.42, 0.92},
    [FR__FORWARD_ODD] = {NULL, 0.42, 0.92},
    [FR__DATA] = {"backward (data)", 0.42, 0.92},
    [FR__DATA_ODD] = {NULL, 0.42, 0.92},
    [FR__WEIGHT] = {"backward (weights)", 0.42, 0.92},
    [FR__WEIGHT_ODD] = {NULL, 0.42, 0.92},
    [FR__UPDATE] = {"update", 0.42, 0.92},
    [FR__OTHER] = {"other", 0.42, 0.92},
    [FR__COLLECTIVE] = {"collective", 0.08, 0.36},
    [FR__SEND] = {"message (send above, receive below)", 0.23, 0.36},
    [FR__RECV] = {NULL, 0.08, 0.21},
};

struct box {
    double from, to, low, high;
    enum fr__category category;
};

struct timeline {
    FILE *f;
    const struct fr_record *record;
    const struct fr_plan_view *view;
    uint32_t *order;           /* tasks lane by lane */
    uint32_t shown[MAX_LANES]; /* devices, top to bottom */
    size_t n_shown, n_busy;
    struct box *boxes;
    size_t n_boxes, cap_boxes;
    size_t n_bins; /* that can be told apart */
    double factor; /* seconds to the unit of the axis */
    const char *unit;
    bool is_out_of_memory;
};

/* ---- lanes ---- */

static void add_box(struct timeline *t, size_t lane, double from_s, double to_s,
                    enum fr__category c)
{
    double floor = (double)(t->n_shown - 1 - lane);

    if (!fr__grow(&t->boxes, &t->cap_boxes, t->n_boxes + 1, sizeof(*t->boxes))) {
        t->is_out_of_memory = true;
        return;
    }
    t->boxes[t->n_boxes++] = (struct box){t->factor * from_s, t->factor * to_s,
                                          floor + categories[c].low, floor + categories[c].high, c};
}

/* tasks: [n] of one stream in order of their start. */
static void add_every_task(struct timeline *t, size_t lane, const uint32_t tasks[], size_t n)
{
    const struct fr_run *run = t->record->run;

    for (size_t i = 0; i < n; i++)
        if (t->view->tasks[tasks[i]].kind != FR_TASK_MARKER)
            add_box(t, lane, run->start_s[tasks[i]], run->end_s[tasks[i]],
                    fr__category_of(&t->view->tasks[tasks[i]]));
}

/* Adds each task's time to the bins it covers: share_s[bin][category]. */
static void fill_bins(const struct timeline *t, const uint32_t tasks[], size_t n,
                      double (*share_s)[FR__N_CATEGORIES])
{
    const struct fr_run *run = t->record->run;
    double bin_s = run->makespan_s / (double)t->n_bins;

    for (size_t i = 0; i < n; i++) {
        const struct fr_task *task = &t->view->tasks[tasks[i]];
        double start_s = run->start_s[tasks[i]], end_s = run->end_s[tasks[i]];

        if (task->kind == FR_TASK_MARKER)
            continue;
        for (size_t bin = (size_t)(start_s / bin_s); bin < t->n_bins; bin++) {
            double from_s = fmax(start_s, (double)bin * bin_s);
            double to_s = fmin(end_s, (double)(bin + 1) * bin_s);

            if (to_s > from_s)
                share_s[bin][fr__category_of(task)] += to_s - from_s;
            if (end_s <= (double)(bin + 1) * bin_s)
                break;
        }
    }
}

/* What takes most of a bin; FR__N_CATEGORIES: it is idle for more than half. */
static enum fr__category winner_of(const double share_s[FR__N_CATEGORIES], double bin_s)
{
    enum fr__category best = FR__FORWARD;
    double total_s = 0;

    for (unsigned c = 0; c < FR__N_CATEGORIES; c++) {
        total_s += share_s[c];
        if (share_s[c] > share_s[best])
            best = (enum fr__category)c;
    }
    return total_s >= bin_s / 2 ? best : FR__N_CATEGORIES;
}

static void add_bins(struct timeline *t, size_t lane, const uint32_t tasks[], size_t n)
{
    double(*share_s)[FR__N_CATEGORIES] = calloc(t->n_bins, sizeof(*share_s));
    double bin_s = t->record->run->makespan_s / (double)t->n_bins;

    if (!share_s) {
        t->is_out_of_memory = true;
        return;
    }
    fill_bins(t, tasks, n, share_s);
    for (size_t bin = 0, past; bin < t->n_bins; bin = past) {
        enum fr__category c = winner_of(share_s[bin], bin_s);

        past = bin + 1;
        while (past < t->n_bins && winner_of(share_s[past], bin_s) == c)
            past++;
        if (c != FR__N_CATEGORIES)
            add_box(t, lane, (double)bin * bin_s, (double)past * bin_s, c);
    }
    free(share_s);
}

static void add_lanes(struct timeline *t)
{
    const struct fr_task *tasks = t->view->tasks;

    for (size_t first = 0, past; first < t->view->n_tasks; first = past) {
        const struct fr_task *k = &tasks[t->order[first]];
        size_t lane = fr__lane_of(t->shown, t->n_shown, k->device);

        past = first + 1;
        while (past < t->view->n_tasks && tasks[t->order[past]].device == k->device &&
               tasks[t->order[past]].stream == k->stream)
            past++;
        if (lane == t->n_shown)
            continue;
        if (past - first > t->n_bins)
            add_bins(t, lane, t->order + first, past - first);
        else
            add_every_task(t, lane, t->order + first, past - first);
    }
}

/* ---- numbers of micro-batches ---- */

/* All boxes have their number, or none has, where one of them has no room for it. */
static enum fr_status write_numbers(struct timeline *t, struct fr_error *err)
{
    double makespan_s = t->record->run->makespan_s;
    struct fr__microbatch *list;
    size_t n;

    FR_TRY(fr__microbatches(t->record, t->order, t->shown, t->n_shown, 0, makespan_s, MAX_NUMBERS,
                            &list, &n, err));
    if (fr__microbatches_zoom(list, n, PLOT_PIXELS / makespan_s, DIGIT_PIXELS) > 1)
        n = 0;
    for (size_t i = 0; i < n; i++) {
        fprintf(t->f, "set label '%u' at ", list[i].microbatch);
        fr__plot_number(t->f, t->factor * (list[i].from_s + list[i].to_s) / 2);
        putc(',', t->f);
        fr__plot_number(t->f, (double)(t->n_shown - 1 - list[i].lane) + 0.67);
        fprintf(t->f, "center font ',10' tc rgb '%s' front\n", fr__category_ink(list[i].category));
    }
    free(list);
    return FR_OK;
}

/* ---- the upper panel ---- */

static void write_boxes(const struct timeline *t)
{
    fputs("$boxes << FORERUN_END\n", t->f);
    for (unsigned c = 0; c < FR__N_CATEGORIES; c++) {
        /* never empty: gnuplot refuses data without a point */
        fprintf(t->f, "NaN NaN NaN NaN NaN NaN\n");
        for (size_t i = 0; i < t->n_boxes; i++) {
            const struct box *b = &t->boxes[i];

            if (b->category != c)
                continue;
            fr__plot_number(t->f, b->from);
            fr__plot_number(t->f, b->low);
            fr__plot_number(t->f, b->from);
            fr__plot_number(t->f, b->to);
            fr__plot_number(t->f, b->low);
            fr__plot_number(t->f, b->high);
            putc('\n', t->f);
        }
        fputs("\n\n", t->f); /* the next one is index c + 1 */
    }
    fputs("FORERUN_END\n", t->f);
}

static void write_device_tics(const struct timeline *t)
{
    fputs("set ytics (", t->f);
    for (size_t lane = 0; lane < t->n_shown; lane++) {
        if (lane)
            putc(',', t->f);
        fr__gnuplot_string(t->f, t->view->topo->devices[t->shown[lane]].name, 16);
        putc(' ', t->f);
        fr__plot_number(t->f, (double)(t->n_shown - 1 - lane) + 0.5);
    }
    fputs(") scale 0 tc rgb '" FR__COLOUR_TEXT "'\n", t->f);
}

static bool has_category(const struct timeline *t, unsigned category)
{
    for (size_t i = 0; i < t->n_boxes; i++)
        if (t->boxes[i].category == category)
            return true;
    return false;
}

static enum fr_status write_lanes(struct timeline *t, struct fr_error *err)
{
    const char *separator = "plot ";

    write_boxes(t);
    fputs("set lmargin at screen 0.09\nset rmargin at screen 0.97\n"
          "set tmargin at screen 0.845\nset bmargin at screen 0.40\n"
          "set border 1 lc rgb '#BBBBBB'\nset format x ''\nset xtics scale 0 nomirror\n"
          "set grid xtics lt 1 lc rgb '#E6E6E6'\n"
          "set key at screen 0.97, screen 0.905 right horizontal Left reverse samplen 1.2 "
          "width 1 tc rgb '" FR__COLOUR_TEXT "'\n",
          t->f);
    fprintf(t->f, "set yrange [0:%zu]\nset style fill solid 1.0 noborder\n", t->n_shown);
    write_device_tics(t);
    for (size_t lane = 1; lane < t->n_shown; lane++)
        fprintf(t->f,
                "set arrow from graph 0, first %zu to graph 1, first %zu nohead lc rgb "
                "'#E6E6E6' back\n",
                lane, lane);
    if (t->n_busy > t->n_shown)
        fprintf(t->f,
                "set label 3 '%zu of %zu busy devices shown' at screen 0.97, screen 0.965 "
                "right font ',12' tc rgb '" FR__COLOUR_QUIET "'\n",
                t->n_shown, t->n_busy);
    FR_TRY(write_numbers(t, err));
    for (unsigned c = 0; c < FR__N_CATEGORIES; c++) {
        if (!has_category(t, c))
            continue;
        fprintf(t->f, "%s$boxes index %u using 1:2:3:4:5:6 with boxxyerror lc rgb '%s' ", separator,
                c, fr__category_colour((enum fr__category)c));
        if (categories[c].title)
            fprintf(t->f, "title '%s'",
                    c == FR__FORWARD ? fr__category_title(t->record, FR__FORWARD)
                                     : categories[c].title);
        else
            fputs("notitle", t->f);
        separator = ", \\\n ";
    }
    fprintf(t->f, "%s\nunset label\nunset arrow\nunset key\n",
            separator[0] == 'p' ? "plot NaN notitle" : "");
    return FR_OK;
}

/* ---- the lower panel ---- */

/* Bytes held by one device: highest in each bin, so that no peak is lost. */
struct curve {
    uint32_t device;
    size_t n_same; /* other devices with the same curve */
    double *bytes; /* [n_bins] */
};

static void fill_curve(const struct timeline *t, struct curve *c,
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
static enum fr_status make_curves(const struct timeline *t, struct curve curves[], size_t *n,
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

static void write_curve_data(const struct timeline *t, const struct curve curves[], size_t n,
                             double unit_bytes)
{
    double bin_s = t->record->run->makespan_s / (double)t->n_bins;

    fputs("$memory << FORERUN_END\n", t->f);
    for (size_t c = 0; c < n; c++) {
        for (size_t bin = 0; bin < t->n_bins; bin++) {
            bool is_flat =
                bin > 0 && bin + 1 < t->n_bins && curves[c].bytes[bin] == curves[c].bytes[bin - 1];

            if (is_flat)
                continue;
            fr__plot_number(t->f, t->factor * (double)bin * bin_s);
            fr__plot_number(t->f, curves[c].bytes[bin] / unit_bytes);
            putc('\n', t->f);
        }
        fr__plot_number(t->f, t->factor * t->record->run->makespan_s);
        fr__plot_number(t->f, curves[c].bytes[t->n_bins - 1] / unit_bytes);
        fputs("\n\n\n", t->f);
    }
    fputs("FORERUN_END\n", t->f);
}

/* Draws the capacity as a line; as words if it is so high that the curves would look flat. */
static void write_capacity(const struct timeline *t, double peak_bytes, double unit_bytes)
{
    double capacity = (double)t->record->peak_capacity_bytes;
    bool is_far = peak_bytes < 0.3 * capacity;
    char text[32], label[64];
    double top = (is_far ? 1.3 * peak_bytes : 1.18 * fmax(peak_bytes, capacity)) / unit_bytes;

    fputs("set yrange [0:", t->f);
    fr__plot_number(t->f, top > 0 ? top : 1); /* an axis needs a length */
    fputs("]\n", t->f);
    if (capacity <= 0 || t->record->is_plain)
        return;
    snprintf(label, sizeof(label), "capacity %s%s", fr__format_bytes(capacity, text, sizeof(text)),
             is_far ? ", far above" : "");
    fputs("set label 4 ", t->f);
    fr__gnuplot_string(t->f, label, 60);
    if (is_far) {
        fputs(" at graph 0.995, graph 0.92 right", t->f);
    } else {
        fputs(" at graph 0.995, first ", t->f);
        fr__plot_number(t->f, capacity / unit_bytes);
        fputs("right offset 0,0.6", t->f);
    }
    fputs(" font ',11' tc rgb '" FR__COLOUR_LIMIT "'\n", t->f);
    if (is_far)
        return;
    fputs("set arrow from graph 0, first ", t->f);
    fr__plot_number(t->f, capacity / unit_bytes);
    fputs("to graph 1, first ", t->f);
    fr__plot_number(t->f, capacity / unit_bytes);
    fputs("nohead dt 2 lw 1.5 lc rgb '" FR__COLOUR_LIMIT "'\n", t->f);
}

static void write_curves(const struct timeline *t, const struct curve curves[], size_t n)
{
    static const char *const colours[MAX_CURVES] = {
        FR__COLOUR_FORWARD, FR__COLOUR_BACKWARD_DATA,   FR__COLOUR_UPDATE, FR__COLOUR_COMMUNICATION,
        FR__COLOUR_COPY,    FR__COLOUR_BACKWARD_WEIGHT, FR__COLOUR_OTHER,  "#000000"};
    double peak = 0, unit_bytes = 1024.0 * 1024 * 1024;
    char title[128];

    for (size_t c = 0; c < n; c++)
        for (size_t bin = 0; bin < t->n_bins; bin++)
            peak = fmax(peak, curves[c].bytes[bin]);
    if (peak < 0.1 * unit_bytes)
        unit_bytes = 1024.0 * 1024;
    write_curve_data(t, curves, n, unit_bytes);
    fprintf(t->f, "set ylabel 'memory (%s)' tc rgb '" FR__COLOUR_TEXT "'\n",
            unit_bytes > 2e6 ? "GiB" : "MiB");
    write_capacity(t, peak, unit_bytes);
    for (size_t c = 0; c < n; c++) {
        snprintf(title, sizeof(title), "%s", t->view->topo->devices[curves[c].device].name);
        if (curves[c].n_same > 0)
            snprintf(title, sizeof(title), "%s and %zu more alike",
                     t->view->topo->devices[curves[c].device].name, curves[c].n_same);
        fprintf(t->f, "%s$memory index %zu using 1:2 with steps lw 2 lc rgb '%s' title ",
                c ? ", \\\n " : "plot ", c, colours[c]);
        fr__gnuplot_string(t->f, title, 60);
    }
    if (n == 0)
        fputs("plot NaN notitle", t->f);
    putc('\n', t->f);
}

static enum fr_status write_memory(struct timeline *t, struct fr_error *err)
{
    struct curve curves[MAX_CURVES];
    size_t n = 0;
    enum fr_status st;

    fprintf(
        t->f,
        "set tmargin at screen 0.345\nset bmargin at screen 0.09\nset border 3 lc rgb "
        "'#BBBBBB'\nset format x '%%g'\nset xtics nomirror scale 0.5 tc rgb '%s'\n"
        "set ytics auto nomirror scale 0.5 tc rgb '%s'\nset grid ytics lt 1 lc rgb '#E6E6E6'\n"
        "set xlabel 'time (%s)' tc rgb '%s'\n"
        "set key at screen 0.97, screen 0.375 right horizontal Left reverse samplen 1.5 width 1\n",
        FR__COLOUR_TEXT, FR__COLOUR_TEXT, t->unit, FR__COLOUR_TEXT);
    st = make_curves(t, curves, &n, err);
    if (st == FR_OK)
        write_curves(t, curves, n);
    for (size_t c = 0; c < n; c++)
        free(curves[c].bytes);
    return st;
}

enum fr_status fr__plot_timeline(FILE *script, const struct fr_record *r,
                                 const struct fr__plot_frame *frame, struct fr_error *err)
{
    struct timeline t = {.f = script,
                         .record = r,
                         .view = fr_plan_view(r->plan),
                         .n_bins = (size_t)frame->pixels_wide};
    enum fr_status st;

    if (!(r->run->makespan_s > 0))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "nothing takes time: there is nothing to draw");
    t.factor = fr__time_unit(r->run->makespan_s, &t.unit);
    if (r->is_plain) { /* a number of whatever the tasks were measured in */
        t.factor = 1;
        t.unit = "as in the task file";
    }
    t.n_shown = fr__shown_devices(r, MAX_LANES, t.shown, &t.n_busy);
    FR_TRY(fr__tasks_by_lane(r, &t.order, err));
    add_lanes(&t);
    fputs("set multiplot\nset xrange [0:", script);
    fr__plot_number(script, t.factor * r->run->makespan_s);
    fputs("]\n", script);
    fr__plot_heading(script, r);
    st = t.is_out_of_memory ? fr__fail_nomem(err) : write_lanes(&t, err);
    if (st == FR_OK)
        st = write_memory(&t, err);
    fputs("unset multiplot\n", script);
    free(t.boxes);
    free(t.order);
    return st;
}
