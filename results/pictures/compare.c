/* results/pictures/compare.c - strategies side by side: parts of the time above, memory below.
 *
 * It is separate from the timeline of one run, with which it shares neither axes nor data.
 */
#include "config.h"

#include "base/units.h"
#include "results/parts/colours.h"
#include "results/parts/number.h"
#include "results/parts/rows.h"
#include "results/parts/times.h"
#include "results/pictures/pictures.h"

#include <math.h>
#include <string.h>

enum { ROW = 140, MAX_NAME = 72, MAX_UPRIGHT = 12 };

static const double GIB = 1024.0 * 1024 * 1024, HALF = 0.3; /* of a bar */

/* The length of the piece at s: names of strategies may break after ':' and ','. */
static size_t piece_length(const char *s)
{
    size_t n = strcspn(s, ":,");

    return n + (s[n] != '\0');
}

/* A strategy's name under its bar, in lines that fit under it if possible. Returns how many. */
static size_t break_name(const struct fr_results *rs, size_t i, char text[2 * MAX_NAME + 1])
{
    char name[FR__ROW_NAME];
    size_t width = rs->n > MAX_UPRIGHT ? MAX_NAME : ROW / rs->n;
    size_t in_line = 0, n_lines = 1, total = 0, used = 0;

    fr__row_name(rs, i, name);
    for (const char *s = name; *s && total < MAX_NAME; s += piece_length(s)) {
        size_t n = piece_length(s);

        if (n > MAX_NAME - total)
            n = MAX_NAME - total;
        if (in_line > 0 && in_line + n > width) {
            text[used++] = '\n';
            in_line = 0;
            n_lines++;
        }
        memcpy(text + used, s, n);
        used += n;
        total += n;
        in_line += n;
    }
    text[used] = '\0';
    return n_lines;
}

static void put_names(struct fr__panel *p, const struct fr_results *rs)
{
    char text[2 * MAX_NAME + 1];

    p->x.is_slanted = rs->n > MAX_UPRIGHT;
    p->x.points = rs->n > MAX_UPRIGHT ? 9 : 11;
    for (size_t i = 0; i < rs->n; i++) {
        break_name(rs, i, text);
        fr__axis_tick(p, &p->x, (double)i, text);
    }
}

static struct fr__panel *panel_of(struct fr__chart *c, const struct fr_results *rs, double bottom,
                                  double top)
{
    struct fr__panel *p = fr__chart_panel(c, 0.09, 0.97, bottom, top);

    p->x = (struct fr__chart_axis){
        .low = -0.6, .high = (double)rs->n - 0.4, .is_named = true, .hides_numbers = true};
    p->y.has_grid = true;
    return p;
}

static double top_of(const struct fr_record *r)
{
    return r->compute_s + r->exposed_comm_s + r->bubble_s;
}

/* What stands over the bar of record i. */
static void put_over(struct fr__panel *p, const struct fr_record *r, size_t i, double y,
                     const char *text, unsigned points)
{
    fr__panel_note(p, (struct fr__chart_note){.text = text,
                                              .x = (double)i,
                                              .y = y,
                                              .up = 0.65,
                                              .points = points,
                                              .colour = r->oom ? FR__COLOUR_LIMIT : NULL});
}

static void put_times(struct fr__panel *p, const struct fr_results *rs, double max_s)
{
    static const struct fr__chart_style styles[3] = {
        {.mark = FR__BOXES, .colour = FR__COLOUR_IDLE, .title = "bubble"},
        {.mark = FR__BOXES, .colour = FR__COLOUR_COMMUNICATION, .title = "exposed communication"},
        {.mark = FR__BOXES, .colour = FR__COLOUR_FORWARD, .title = "compute"}};
    struct fr__chart_series *parts[3];
    const char *unit;
    double factor = fr__results_are_plain(rs) ? fr__record_time_unit(rs->records[0], max_s, &unit)
                                              : fr__time_unit(max_s, &unit);
    char time[32];

    p->key = FR__KEY_ABOVE;
    p->y.high = 1.15 * factor * max_s;
    p->y.label =
        unit[0] ? fr__chart_text(p->chart, "time of one iteration (%s)", unit) : "makespan";
    for (unsigned k = 0; k < 3; k++)
        parts[k] = fr__panel_series(p, styles[k]);
    for (size_t i = 0; i < rs->n; i++) {
        const struct fr_record *r = rs->records[i];
        double x = (double)i, compute = factor * r->compute_s;
        double exposed = compute + factor * r->exposed_comm_s;

        fr__series_box(parts[2], x - HALF, x + HALF, 0, compute);
        fr__series_box(parts[1], x - HALF, x + HALF, compute, exposed);
        fr__series_box(parts[0], x - HALF, x + HALF, exposed, factor * top_of(r));
        put_over(p, r, i, factor * top_of(r),
                 fr__chart_text(p->chart, "%s%s",
                                fr__record_time(r, r->iteration_s, time, sizeof(time)),
                                !r->oom     ? ""
                                : rs->n > 6 ? ", OOM"
                                            : " (out of memory)"),
                 rs->n > 8 ? 10 : 13);
    }
}

/* The line of available memory, as if it were the same for all results. */
static void put_capacity(struct fr__panel *p, double capacity_bytes)
{
    char text[32];

    if (capacity_bytes <= 0)
        return;
    fr__panel_note(p,
                   (struct fr__chart_note){
                       .text = fr__chart_text(p->chart, "capacity %s",
                                              fr__format_bytes(capacity_bytes, text, sizeof(text))),
                       .x = 0.995,
                       .x_by = FR__BY_PANEL,
                       .y = capacity_bytes / GIB,
                       .up = 0.6,
                       .align = FR__UP_TO,
                       .points = 11,
                       .colour = FR__COLOUR_LIMIT});
    fr__panel_limit(p, capacity_bytes / GIB, false);
}

static void put_memory(struct fr__panel *p, const struct fr_results *rs)
{
    struct fr__chart_series *bars = fr__panel_series(
        p, (struct fr__chart_style){.mark = FR__BOXES, .colour = FR__COLOUR_OTHER});
    double most = (double)rs->records[0]->peak_capacity_bytes;
    char text[32];

    put_capacity(p, most);
    for (size_t i = 0; i < rs->n; i++) {
        const struct fr_record *r = rs->records[i];
        double bytes = (double)r->peak_bytes;

        most = fmax(most, bytes);
        fr__series_box(bars, (double)i - HALF, (double)i + HALF, 0, bytes / GIB);
        put_over(p, r, i, bytes / GIB, fr__format_bytes(bytes, text, sizeof(text)), 11);
    }
    p->y.high = most > 0 ? 1.25 * most / GIB : 1;
    p->y.label = "peak memory (GiB)";
}

void fr__chart_comparison(struct fr__chart *c, const struct fr_results *rs)
{
    char text[2 * MAX_NAME + 1];
    bool is_plain = fr__results_are_plain(rs); /* machines without hardware have no memory */
    double max_s = 0, bottom;
    size_t n_lines = 1;
    struct fr__panel *p;

    for (size_t i = 0; i < rs->n; i++) {
        size_t lines = break_name(rs, i, text);

        max_s = fmax(max_s, top_of(rs->records[i]));
        n_lines = lines > n_lines ? lines : n_lines;
    }
    bottom = rs->n > MAX_UPRIGHT ? 0.2 : 0.05 + 0.022 * (double)n_lines;
    p = panel_of(c, rs, is_plain ? bottom : 0.41, 0.85);
    put_times(p, rs, max_s > 0 ? max_s : 1); /* an axis needs a length */
    if (!is_plain) {
        p = panel_of(c, rs, bottom, 0.36);
        put_memory(p, rs);
    }
    put_names(p, rs);
}
