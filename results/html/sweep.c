/* results/html/sweep.c - a sweep on one page: what is best, a picture, a table of all points, and
 * the best ones over time.
 *
 * It is separate from the report of records: a sweep keeps figures of its points and no runs, so
 * its caller lends a function that asks those that are shown over time once more.
 */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/html/html.h"
#include "results/parts/nics.h"
#include "results/parts/output.h"
#include "results/parts/number.h"
#include "results/parts/sweep_names.h"
#include "study/sweep/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 2000, MOST_GROUPS = 9, MOST_RUNS = 4, MOST_TASKS = 400000, TEXT = 256 };

struct page {
    FILE *f;
    const struct fr_sweep *sweep;
    const struct fr_sweep_summary *summary;
    size_t settings[FR_N_SETTINGS], n_settings;
};

/* ---- what is best ---- */

static void write_value(const struct page *p, size_t point)
{
    const struct fr_sweep_row *r = p->sweep->rows[point];
    struct fr_sweep_value v = fr_sweep_value(r, &p->summary->terms);
    char text[FR__HTML_TEXT], name[TEXT];

    fr__sweep_point_text(p->sweep, point, name, sizeof(name));
    fr__html_text(p->f, name[0] ? name : "the only one");
    if (!p->sweep->has_training) {
        fprintf(p->f, ": <b>%s</b>",
                fr__sweep_time_text(p->sweep, r->iteration_s, text, sizeof(text)));
        return;
    }
    fprintf(p->f, ": <b>%s</b> an iteration, %s",
            fr__format_time(r->iteration_s, text, sizeof(text)),
            fr__sweep_time_title(&p->summary->terms));
    fprintf(p->f, " %s", fr__format_time(v.time_s, text, sizeof(text)));
    if (!isnan(v.cost))
        fprintf(p->f, ", %s %s", fr__sweep_cost_title(&p->summary->terms),
                fr__sweep_cost_text(v.cost, text, sizeof(text)));
    fprintf(p->f, ", %s of memory", fr__format_bytes((double)r->peak_bytes, text, sizeof(text)));
}

static void write_group(const struct page *p, const struct fr_sweep_group *g)
{
    static const char *const words[] = {"Fastest", "Cheapest", "Least memory"};
    const size_t best[] = {g->best_time, g->best_cost, g->best_memory};
    char name[TEXT];

    fr__sweep_group_text(g, name, sizeof(name));
    fputs("<h2>", p->f);
    fr__html_text(p->f, name);
    fputs("</h2>\n", p->f);
    if (p->sweep->has_training)
        fprintf(p->f, "<p>%zu of %zu questions fit in memory.</p>\n", g->n_fits, g->n_points);
    if (g->n_fits == 0)
        return;
    fputs("<ul>\n", p->f);
    for (unsigned i = 0; i < (p->sweep->has_training ? 3 : 1); i++) {
        if (best[i] == SIZE_MAX)
            continue;
        fprintf(p->f, "<li>%s: ", words[i]);
        write_value(p, best[i]);
        fputs("</li>\n", p->f);
    }
    fputs("</ul>\n", p->f);
    if (g->n_like_best > 0)
        fprintf(p->f,
                "<p class=\"note\">%zu more cannot be told from the fastest: measurements would "
                "not show the difference.</p>\n",
                g->n_like_best);
}

/* ---- the table ---- */

static void write_columns(const struct page *p, bool has_workloads)
{
    static const char *const measures[] = {"iteration", "90 %", "samples/s", "peak memory"};
    bool is_plain = !p->sweep->has_training;

    fputs("<table class=\"sort\"><thead><tr>", p->f);
    if (has_workloads)
        fputs("<th>workload</th>", p->f);
    for (size_t i = 0; i < p->n_settings; i++) {
        fputs("<th>", p->f);
        fr__html_text(p->f, fr__sweep_setting_title(p->settings[i]));
        fputs("</th>", p->f);
    }
    if (is_plain) {
        fputs("<th class=\"n\">makespan</th><th></th></tr></thead><tbody>\n", p->f);
        return;
    }
    for (size_t i = 0; i < sizeof(measures) / sizeof(measures[0]); i++)
        fprintf(p->f, "<th class=\"n\">%s</th>", measures[i]);
    if (p->summary->scaling)
        fputs("<th class=\"n\">efficiency</th>", p->f);
    if (p->summary->has_tokens)
        fputs("<th class=\"n\">MFU</th>", p->f);
    fprintf(p->f, "<th class=\"n\">%s</th><th class=\"n\">%s</th><th></th></tr></thead><tbody>\n",
            fr__sweep_time_title(&p->summary->terms), fr__sweep_cost_title(&p->summary->terms));
}

/* A setting's value; numbers are sorted as numbers. */
static void write_setting(const struct page *p, size_t point, size_t setting)
{
    char value[TEXT], *end;
    double number;

    fr__sweep_value_text(p->sweep, point, setting, value, sizeof(value));
    number = strtod(value, &end);
    if (*end || end == value || !isfinite(number)) {
        fr__html_text_cell(p->f, value);
        return;
    }
    fr__html_number_cell(p->f, number, value);
}

/* "75.8 ms to 158 ms", sorted by its beginning; empty where no range is known. */
static void write_range(const struct page *p, double low_s, double high_s)
{
    char low[40], high[40], text[2 * FR__HTML_TEXT + 4] = "";

    if (low_s > 0)
        snprintf(text, sizeof(text), "%s to %s", fr__format_time(low_s, low, sizeof(low)),
                 fr__format_time(high_s, high, sizeof(high)));
    fr__html_number_cell(p->f, low_s > 0 ? low_s : NAN, text);
}

/* What only training has: rates, memory, the whole run and its cost. */
static void write_training(const struct page *p, size_t point)
{
    const struct fr_sweep_row *r = p->sweep->rows[point];
    struct fr_sweep_value v = fr_sweep_value(r, &p->summary->terms);
    bool fits = r->outcome == FR_FITS, ran = fits || r->outcome == FR_OOM;
    char text[FR__HTML_TEXT];

    write_range(p, fits ? r->low_s : 0, r->high_s);
    fr__html_number_cell(p->f, fits ? r->samples_per_s : NAN,
                         fr__fixed(fits ? r->samples_per_s : 0,
                                   fits && r->samples_per_s >= 1000 ? 0 : 1, text, sizeof(text)));
    fr__html_bytes_cell(p->f, ran ? (double)r->peak_bytes : NAN);
    if (p->summary->scaling)
        fr__html_percent_cell(p->f, fits ? p->summary->scaling[point] : NAN);
    if (p->summary->has_tokens)
        fr__html_percent_cell(p->f, fits && r->mfu > 0 ? r->mfu : NAN);
    fr__html_number_cell(p->f, fits ? v.time_s : NAN,
                         fr__format_time(v.time_s, text, sizeof(text)));
    fr__html_number_cell(p->f, fits ? v.cost : NAN,
                         fr__sweep_cost_text(fits ? v.cost : NAN, text, sizeof(text)));
}

static void write_measures(const struct page *p, size_t point)
{
    const struct fr_sweep_row *r = p->sweep->rows[point];
    struct fr_sweep_value v = fr_sweep_value(r, &p->summary->terms);
    bool fits = r->outcome == FR_FITS;
    char text[FR__HTML_TEXT];

    fr__html_number_cell(p->f, fits ? r->iteration_s : NAN,
                         fr__sweep_time_text(p->sweep, r->iteration_s, text, sizeof(text)));
    if (p->sweep->has_training)
        write_training(p, point);
    fprintf(p->f, "<td class=\"t%s\">", fits ? "" : " bad");
    fr__html_text(p->f, !fits ? r->reason : v.is_late ? "fits, too late" : "fits");
    fputs("</td>", p->f);
}

static void write_table(const struct page *p)
{
    bool has_workloads = p->summary->n_groups > 1;
    size_t n = 0, n_rows = 0;

    fputs("<section>\n<h2>All points</h2>\n", p->f);
    write_columns(p, has_workloads);
    for (size_t i = 0; i < p->sweep->n_points; i++) {
        char name[TEXT];

        n_rows += p->sweep->rows[i] != NULL;
        if (!p->sweep->rows[i] || n == MOST_ROWS)
            continue;
        n++;
        fputs("<tr>", p->f);
        if (has_workloads) {
            fr__sweep_group_text(&p->summary->groups[fr__sweep_group_of(p->sweep, i)], name,
                                 sizeof(name));
            fr__html_text_cell(p->f, name);
        }
        for (size_t k = 0; k < p->n_settings; k++)
            write_setting(p, i, p->settings[k]);
        write_measures(p, i);
        fputs("</tr>\n", p->f);
    }
    fputs("</tbody></table>\n", p->f);
    if (n_rows > n)
        fprintf(p->f, "<p class=\"note\">The first %zu of %zu; the CSV file has all.</p>\n", n,
                n_rows);
    fputs("</section>\n", p->f);
}

/* ---- the best over time ---- */

struct runs {
    size_t points[MOST_RUNS], n;
    size_t n_large; /* left out */
    struct fr_record *records[MOST_RUNS];
    char titles[MOST_RUNS][2 * TEXT + 4];
};

static void add_run(const struct page *p, struct runs *runs, size_t point)
{
    if (point == SIZE_MAX || runs->n == MOST_RUNS)
        return;
    for (size_t i = 0; i < runs->n; i++)
        if (runs->points[i] == point)
            return;
    if (p->sweep->rows[point]->tasks > MOST_TASKS)
        runs->n_large++;
    else
        runs->points[runs->n++] = point;
}

/* The fastest of each group, then the cheapest and the smallest ones. */
static void choose_runs(const struct page *p, struct runs *runs)
{
    const struct fr_sweep_group *groups = p->summary->groups;

    for (size_t i = 0; i < p->summary->n_groups; i++)
        add_run(p, runs, groups[i].best_time);
    for (size_t i = 0; i < p->summary->n_groups; i++)
        add_run(p, runs, groups[i].best_cost);
    for (size_t i = 0; i < p->summary->n_groups; i++)
        add_run(p, runs, groups[i].best_memory);
}

static void name_run(const struct page *p, size_t point, char title[2 * TEXT + 4])
{
    char name[TEXT], group[TEXT];

    fr__sweep_group_text(&p->summary->groups[fr__sweep_group_of(p->sweep, point)], group,
                         sizeof(group));
    fr__sweep_point_text(p->sweep, point, name, sizeof(name));
    snprintf(title, 2 * TEXT + 4, "%s%s%s", group, name[0] ? ", " : "", name);
}

/* Only cancelling is an error: a point that cannot be asked again, as its files are gone, is left
 * out. */
static enum fr_status ask_runs(const struct page *p, struct runs *runs, fr_sweep_ask_fn *ask,
                               const struct fr_context *ctx, struct fr_error *err)
{
    size_t n = 0;

    for (size_t i = 0; ask && i < runs->n; i++) {
        FR_TRY(fr__check_cancel(ctx, err));
        if (ask(p->sweep, runs->points[i], ctx, &runs->records[n], NULL) != FR_OK)
            continue;
        name_run(p, runs->points[i], runs->titles[n++]);
    }
    runs->n = n;
    return FR_OK;
}

static enum fr_status write_runs(const struct page *p, fr_sweep_ask_fn *ask,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    struct runs runs = {.n = 0};
    struct fr__html_run shown[MOST_RUNS];
    enum fr_status st;

    choose_runs(p, &runs);
    st = ask_runs(p, &runs, ask, ctx, err);
    for (size_t i = 0; i < runs.n && st == FR_OK; i++)
        shown[i] = (struct fr__html_run){runs.records[i], runs.titles[i], NULL};
    if (st == FR_OK)
        st = fr__html_scale(p->f, shown, runs.n, true, err);
    if (st == FR_OK && runs.n_large > 0)
        fprintf(p->f, "<p class=\"note\">%zu of the best %s too many tasks to be shown.</p>\n",
                runs.n_large, runs.n_large == 1 ? "has" : "have");
    for (size_t i = 0; i < MOST_RUNS; i++)
        fr_record_free(runs.records[i]);
    return st;
}

/* ---- the page ---- */

static void write_heading(const struct page *p)
{
    char text[TEXT], nics[FR__NICS_TEXT];

    fprintf(p->f, "<h1>A sweep of %zu question%s</h1>\n<p class=\"sub\">", p->sweep->n_points,
            p->sweep->n_points == 1 ? "" : "s");
    fr__sweep_fixed_text(p->sweep, text, sizeof(text));
    fr__html_text(p->f, text);
    fputs("</p>\n", p->f);
    for (size_t i = 0; i < p->sweep->n_nics; i++)
        if (fr__sweep_nics_text(p->sweep, i, nics)[0]) {
            fputs("<p class=\"sub\">", p->f);
            fr__html_text(p->f, nics);
            fputs("</p>\n", p->f);
        }
    fputs("<p class=\"answer\">", p->f);
    if (p->summary->n[FR_FITS] == 0)
        fputs("Nothing fits.", p->f);
    else if (!p->sweep->has_training)
        fprintf(p->f, "%zu have an answer, %zu cannot be.", p->summary->n[FR_FITS],
                p->summary->n[FR_OOM] + p->summary->n[FR_IMPOSSIBLE] + p->summary->n[FR_FAILED]);
    else
        fprintf(p->f, "%zu fit in memory, %zu do not, %zu cannot be.", p->summary->n[FR_FITS],
                p->summary->n[FR_OOM], p->summary->n[FR_IMPOSSIBLE] + p->summary->n[FR_FAILED]);
    fputs("</p>\n", p->f);
}

enum fr_status fr__html_sweep(FILE *f, const struct fr_sweep *s, const struct fr_sweep_summary *m,
                              fr_sweep_ask_fn *ask, const struct fr_context *ctx,
                              struct fr_error *err)
{
    struct page p = {.f = f, .sweep = s, .summary = m};
    size_t n_shown = 0;

    p.n_settings = fr__sweep_varying(s, p.settings);
    fr__html_begin(f, "A sweep");
    write_heading(&p);
    for (size_t i = 0; i < m->n_groups && n_shown < MOST_GROUPS; i++) {
        if (m->groups[i].n_points == 0)
            continue;
        n_shown++;
        fputs("<section>\n", f);
        write_group(&p, &m->groups[i]);
        if (s->has_training)
            FR_TRY(fr__html_sweep_plot(f, s, m, i, err));
        fputs("</section>\n", f);
    }
    if (m->n_groups > n_shown)
        fprintf(f, "<p class=\"note\">The first %zu of %zu workloads.</p>\n", n_shown, m->n_groups);
    FR_TRY(write_runs(&p, ask, ctx, err));
    write_table(&p);
    fprintf(f, "<p class=\"note\">forerun %s</p>\n", fr_version());
    fr__html_end(f);
    return FR_OK;
}
