/* results/pictures/difference.c - the timelines of two answers under one another, to one scale.
 *
 * It is separate from timeline.c, which shows one run from its start with its memory. Here both
 * iterations begin at 0 and the axis has the length of the longer one, so that lengths compare.
 * Lanes are cut into bins as wide as a pixel, each in the colour of what takes most of it:
 * computation in the upper half of a lane, communication in the lower.
 */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/parts/colours.h"
#include "results/parts/difference_lines.h"
#include "results/parts/lanes.h"
#include "results/parts/number.h"
#include "results/parts/times.h"
#include "results/pictures/difference.h"
#include "results/pictures/gnuplot.h"
#include "results/pictures/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LANES = 8, N_BINS = 1400 };

/* Time of a bin by category. */
struct bin {
    double s[FR__N_CATEGORIES];
};

struct picture {
    FILE *f;
    const struct fr_difference *d;
    double span_s; /* of the axis */
    double factor; /* seconds to its unit */
    const char *unit;
    bool has_category[FR__N_CATEGORIES];
};

/* One of the two answers. */
struct panel {
    const struct fr_record *record;
    char letter;
    double top;     /* of the screen */
    double begin_s; /* of the iteration in the run */
    uint32_t shown[MAX_LANES];
    size_t n_shown, n_busy;
};

static bool is_moving(unsigned category)
{
    return category == FR__COLLECTIVE || category == FR__SEND || category == FR__RECV;
}

/* Adds a task's time to the bins that it covers. */
static void add_task(const struct picture *p, const struct panel *panel, uint32_t task,
                     struct bin bins[])
{
    const struct fr_record *r = panel->record;
    const struct fr_task *t = &fr_plan_view(r->plan)->tasks[task];
    double begin_s = panel->begin_s, bin_s = p->span_s / N_BINS;
    double from_s = fmax(r->run->start_s[task] - begin_s, 0);
    double to_s = r->run->end_s[task] - begin_s;

    for (size_t b = (size_t)(from_s / bin_s); b < N_BINS && (double)b * bin_s < to_s; b++) {
        double part_s = fmin(to_s, (double)(b + 1) * bin_s) - fmax(from_s, (double)b * bin_s);

        if (part_s > 0)
            bins[b].s[fr__category_of(t)] += part_s;
    }
}

/* What takes most of a bin, of what moves or of the rest; FR__N_CATEGORIES: less than half of it is
 * taken. */
static unsigned winner_of(const struct picture *p, const struct bin *bin, bool moving)
{
    unsigned best = FR__N_CATEGORIES;
    double total_s = 0;

    for (unsigned c = 0; c < FR__N_CATEGORIES; c++) {
        if (is_moving(c) != moving)
            continue;
        total_s += bin->s[c];
        if (bin->s[c] > 0 && (best == FR__N_CATEGORIES || bin->s[c] > bin->s[best]))
            best = c;
    }
    return total_s >= p->span_s / N_BINS / 2 ? best : FR__N_CATEGORIES;
}

/* Boxes of one half of a lane: from, to, low, high, colour. */
static void put_half(struct picture *p, const struct bin bins[], double floor, bool moving)
{
    double width = p->factor * p->span_s / N_BINS;

    for (size_t b = 0, past; b < N_BINS; b = past) {
        unsigned c = winner_of(p, &bins[b], moving);

        past = b + 1;
        while (past < N_BINS && winner_of(p, &bins[past], moving) == c)
            past++;
        if (c == FR__N_CATEGORIES)
            continue;
        p->has_category[c] = true;
        fr__plot_number(p->f, (double)b * width);
        fr__plot_number(p->f, (double)past * width);
        fr__plot_number(p->f, floor + (moving ? 0.08 : 0.42));
        fr__plot_number(p->f, floor + (moving ? 0.36 : 0.92));
        fprintf(p->f, "0x%s\n", fr__category_colour((enum fr__category)c) + 1);
    }
}

static enum fr_status put_boxes(struct picture *p, struct panel *panel, struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(panel->record->plan);
    struct bin *bins = calloc(N_BINS, sizeof(*bins));

    if (!bins)
        return fr__fail_nomem(err);
    panel->n_shown = fr__shown_devices(panel->record, MAX_LANES, panel->shown, &panel->n_busy);
    fprintf(p->f, "$boxes%c << FORERUN_END\nNaN NaN NaN NaN 0\n", panel->letter);
    for (size_t lane = 0; lane < panel->n_shown; lane++) {
        memset(bins, 0, N_BINS * sizeof(*bins));
        for (uint32_t t = 0; t < v->n_tasks; t++)
            if (v->tasks[t].device == panel->shown[lane] && v->tasks[t].kind != FR_TASK_MARKER)
                add_task(p, panel, t, bins);
        put_half(p, bins, (double)(panel->n_shown - 1 - lane), false);
        put_half(p, bins, (double)(panel->n_shown - 1 - lane), true);
    }
    fputs("FORERUN_END\n", p->f);
    free(bins);
    return FR_OK;
}

/* ---- words ---- */

static void put_label(const struct picture *p, const char *text, double x, double y,
                      const char *style)
{
    fputs("set label ", p->f);
    fr__gnuplot_string(p->f, text, 150);
    fputs(" at screen ", p->f);
    fr__plot_number(p->f, x);
    fputs(", screen ", p->f);
    fr__plot_number(p->f, y);
    fprintf(p->f, " left %s\n", style);
}

/* Adds ": strategy dp | pp", in what the two questions differ. */
static void put_settings(const struct fr_difference *d, char *text, size_t n)
{
    size_t used = strlen(text);

    for (size_t i = 0; i < d->n_settings && used + 1 < n; i++)
        used +=
            (size_t)snprintf(text + used, n - used, "%s %s %.60s | %.60s", i ? "," : ":",
                             d->settings[i].name, d->settings[i].a[0] ? d->settings[i].a : "none",
                             d->settings[i].b[0] ? d->settings[i].b : "none");
}

/* "B takes 45.6 ms longer than A: compute +15.9 ms, bubble +22.4 ms, ..." */
static void put_headline(const struct picture *p)
{
    const struct fr_parts *a = p->d->parts_a, *b = p->d->parts_b;
    double change_s = b->iteration_s - a->iteration_s;
    char text[512], time[32];
    size_t n;

    snprintf(text, sizeof(text), "B takes %s %s than A",
             fr__record_time(fr__difference_unit(p->d), fabs(change_s), time, sizeof(time)),
             change_s < 0 ? "less" : "longer");
    put_settings(p->d, text, sizeof(text));
    put_label(p, text, 0.03, 0.965, "font ',17' tc rgb '" FR__COLOUR_TEXT "'");
    n = 0;
    for (unsigned part = 0; part < FR_N_PARTS; part++) {
        double s = b->part_s[part] - a->part_s[part];

        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %s%s", part ? ",  " : "",
                              fr_part_name((enum fr_time_part)part), s > 0 ? "+" : "",
                              fr__record_time(fr__difference_unit(p->d), s, time, sizeof(time)));
    }
    put_label(p, text, 0.03, 0.93, "font ',12' tc rgb '" FR__COLOUR_QUIET "'");
}

static void put_title(const struct picture *p, const struct panel *panel)
{
    const struct fr_record *r = panel->record;
    char text[512], time[32], some[80] = "";

    if (panel->n_busy > panel->n_shown)
        snprintf(some, sizeof(some), " (%zu of %zu busy devices shown)", panel->n_shown,
                 panel->n_busy);
    fr__record_time(r, r->run->iteration_s, time, sizeof(time));
    if (r->is_plain)
        snprintf(text, sizeof(text), "%c: %s, %s, %s: %s%s", panel->letter, r->workload,
                 r->topology, r->strategy, time, some);
    else
        snprintf(text, sizeof(text), "%c: %s, %zu GPUs of %s, batch %u, %s: %s%s", panel->letter,
                 r->workload, r->n_gpus, r->topology, r->global_batch, r->strategy, time, some);
    put_label(p, text, 0.09, panel->top + 0.022, "font ',13' tc rgb '" FR__COLOUR_TEXT "'");
}

/* Category titles and colours, each once, by lines that lie outside of the panel. */
static void put_key(const struct picture *p)
{
    static const char *const own_titles[FR__N_CATEGORIES] = {
        [FR__SEND] = "message", [FR__COLLECTIVE] = "collective"};
    bool is_copy_shown = false;

    for (unsigned c = 0; c < FR__N_CATEGORIES; c++) {
        bool is_copy = c == FR__SEND || c == FR__RECV;

        if (!p->has_category[c] ||
            fr__category_even((enum fr__category)c) != (enum fr__category)c ||
            (is_copy && is_copy_shown))
            continue;
        is_copy_shown = is_copy_shown || is_copy;
        fprintf(p->f, ", \\\n NaN with boxes lc rgb '%s' title '%s'",
                fr__category_colour((enum fr__category)c),
                is_copy ? own_titles[FR__SEND]
                : own_titles[c]
                    ? own_titles[c]
                    : fr__category_title(fr__difference_unit(p->d), (enum fr__category)c));
    }
}

static void put_panel(const struct picture *p, const struct panel *panel)
{
    bool is_lower = panel->letter == 'B';
    char title[FR__DIFFERENCE_TITLE];

    fprintf(p->f, "set tmargin at screen %s\nset bmargin at screen %s\n",
            is_lower ? "0.46" : "0.85", is_lower ? "0.10" : "0.54");
    fprintf(p->f, "set yrange [0:%zu]\nset ytics (", panel->n_shown ? panel->n_shown : 1);
    for (size_t lane = 0; lane < panel->n_shown; lane++) {
        const struct fr_topo *t = fr_plan_view(panel->record->plan)->topo;

        fputs(lane ? "," : "", p->f);
        fr__gnuplot_string(p->f, t->devices[panel->shown[lane]].name, 16);
        putc(' ', p->f);
        fr__plot_number(p->f, (double)(panel->n_shown - 1 - lane) + 0.5);
    }
    fputs(") scale 0 tc rgb '" FR__COLOUR_TEXT "'\nunset arrow\nset arrow from first ", p->f);
    fr__plot_number(p->f, p->factor * panel->record->run->iteration_s);
    fputs(", graph 0 to first ", p->f);
    fr__plot_number(p->f, p->factor * panel->record->run->iteration_s);
    fputs(", graph 1.03 nohead dt 2 lw 1.5 lc rgb '" FR__COLOUR_LIMIT "' front\n", p->f);
    if (is_lower)
        fprintf(p->f, "set xlabel '%s' tc rgb '" FR__COLOUR_TEXT "'\nunset key\n",
                fr__difference_title("time", p->unit, title));
    else
        fputs("set key at screen 0.97, screen 0.035 right horizontal Left reverse samplen 1.2 "
              "width 1 tc rgb '" FR__COLOUR_TEXT "'\n",
              p->f);
    fprintf(p->f, "plot $boxes%c using 1:3:1:2:3:4:5 with boxxyerror lc rgb variable notitle",
            panel->letter);
    if (!is_lower)
        put_key(p);
    fputs("\nunset label\n", p->f);
}

static enum fr_status write_script(struct picture *p, struct fr_error *err)
{
    struct panel a = {
        .record = p->d->a, .letter = 'A', .top = 0.85, .begin_s = p->d->parts_a->from_s};
    struct panel b = {
        .record = p->d->b, .letter = 'B', .top = 0.46, .begin_s = p->d->parts_b->from_s};

    FR_TRY(put_boxes(p, &a, err));
    FR_TRY(put_boxes(p, &b, err));
    fputs("set multiplot\nset xrange [0:", p->f);
    fr__plot_number(p->f, p->factor * p->span_s);
    fputs("]\nset lmargin at screen 0.09\nset rmargin at screen 0.97\n"
          "set border 1 lc rgb '#BBBBBB'\nset xtics nomirror scale 0.5 tc rgb '" FR__COLOUR_TEXT
          "'\nset grid xtics lt 1 lc rgb '#E6E6E6'\nset style fill solid 1.0 noborder\n",
          p->f);
    put_headline(p);
    put_title(p, &a);
    put_title(p, &b);
    put_panel(p, &a);
    put_panel(p, &b);
    fputs("unset multiplot\n", p->f);
    return FR_OK;
}

enum fr_status fr__draw_difference(FILE *f, const struct fr_difference *d, const char *ending,
                                   const struct fr_context *ctx, struct fr_error *err)
{
    struct picture p = {.d = d, .span_s = fmax(d->parts_a->iteration_s, d->parts_b->iteration_s)};
    enum fr_status st;

    if (!(p.span_s > 0))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "nothing takes time: there is nothing to draw");
    FR_TRY(fr__gnuplot_script(&p.f, err));
    p.factor = fr__record_time_unit(fr__difference_unit(d), p.span_s, &p.unit);
    fputs(fr__plot_frame(ending)->terminal, p.f);
    st = write_script(&p, err);
    if (st == FR_OK)
        st = fr__gnuplot_run(p.f, f, ctx, err);
    fclose(p.f);
    return st;
}
