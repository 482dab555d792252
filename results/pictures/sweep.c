/* results/pictures/sweep.c - draws a sweep by gnuplot: time against cost, a panel a workload.
 *
 * It is separate from the table of a sweep (text/sweep.c), which shows rows and not the frontier.
 */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/parts/colours.h"
#include "results/parts/number.h"
#include "results/parts/sweep_names.h"
#include "results/pictures/gnuplot.h"
#include "results/pictures/plot.h"
#include "results/pictures/sweep.h"
#include "study/sweep/state.h"

#include <math.h>
#include <string.h>

enum { MAX_PANELS = 9, MAX_COLOURS = 7, MAX_NAMED = 8 };

static const char *const colours[MAX_COLOURS] = {
    FR__COLOUR_FORWARD,       FR__COLOUR_BACKWARD_WEIGHT, FR__COLOUR_UPDATE,
    FR__COLOUR_COMMUNICATION, FR__COLOUR_BACKWARD_DATA,   FR__COLOUR_COPY,
    FR__COLOUR_OTHER};

struct picture {
    FILE *f;
    const struct fr_sweep *sweep;
    const struct fr_sweep_summary *summary;
    size_t settings[FR_N_SETTINGS], n_settings;
    size_t n_panels, columns, rows;
};

/* ---- units of the axis ---- */

static double time_unit(double max_s, const char **unit)
{
    static const struct {
        double from_s, factor;
        const char *unit;
    } units[] = {{2 * 86400.0, 1 / 86400.0, "days"},
                 {2 * 3600.0, 1 / 3600.0, "hours"},
                 {120, 1 / 60.0, "minutes"}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (max_s < units[i].from_s)
            continue;
        *unit = units[i].unit;
        return units[i].factor;
    }
    return fr__time_unit(max_s, unit);
}

/* ---- one panel ---- */

static bool is_of_group(const struct picture *p, const struct fr_sweep_group *g, size_t point)
{
    const struct fr_sweep_row *row = p->sweep->rows[point];

    return row && row->outcome == FR_FITS &&
           &p->summary->groups[fr__sweep_group_of(p->sweep, point)] == g;
}

/* The colour of a point: the index of its value among those of the first setting. */
static size_t colour_of(const struct picture *p, size_t point)
{
    size_t rest = point, n;

    if (p->n_settings == 0)
        return 0;
    for (size_t i = FR_N_SETTINGS - 1; i > p->settings[0]; i--)
        rest /= p->sweep->axes[i].n ? p->sweep->axes[i].n : 1;
    n = rest % p->sweep->axes[p->settings[0]].n;
    return n < MAX_COLOURS ? n : MAX_COLOURS - 1;
}

static void write_points(const struct picture *p, const struct fr_sweep_group *g, size_t panel,
                         double factor)
{
    fprintf(p->f, "$points%zu << FORERUN_END\n", panel);
    for (size_t i = 0; i < p->sweep->n_points; i++) {
        struct fr_sweep_value v;

        if (!is_of_group(p, g, i))
            continue;
        v = fr_sweep_value(p->sweep->rows[i], &p->summary->terms);
        if (isnan(v.cost))
            continue;
        fr__plot_number(p->f, factor * v.time_s);
        fr__plot_number(p->f, v.cost);
        fprintf(p->f, "%zu\n", colour_of(p, i));
    }
    fputs("FORERUN_END\n", p->f);
    fprintf(p->f, "$frontier%zu << FORERUN_END\n", panel);
    for (size_t i = 0; i < g->n_frontier; i++) {
        struct fr_sweep_value v =
            fr_sweep_value(p->sweep->rows[g->frontier[i]], &p->summary->terms);

        fr__plot_number(p->f, factor * v.time_s);
        fr__plot_number(p->f, v.cost);
        putc('\n', p->f);
    }
    fputs("FORERUN_END\n", p->f);
}

/* "dgx1-v100, 8 GPUs, dp, 64/GPU" */
static void name_point(const struct picture *p, size_t point, char *text, size_t n)
{
    char value[48];
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < p->n_settings && used + 1 < n; i++) {
        const char *name = fr_question_setting(p->settings[i]);
        bool is_batch = strcmp(name, "batch") == 0;

        fr__sweep_value_text(p->sweep, point, p->settings[i], value, sizeof(value));
        used += (size_t)snprintf(text + used, n - used, "%s%s%s%s", i ? ", " : "",
                                 is_batch ? "batch " : "", value,
                                 strcmp(name, "gpus") == 0            ? " GPUs"
                                 : strcmp(name, "batch-per-gpu") == 0 ? "/GPU"
                                                                      : "");
    }
}

/* Writes a name below and left of the point, where there can be no other: it would be faster and
 * cheaper. */
static void write_name(const struct picture *p, size_t point, double factor)
{
    struct fr_sweep_value v = fr_sweep_value(p->sweep->rows[point], &p->summary->terms);
    char text[160];

    name_point(p, point, text, sizeof(text));
    if (!text[0])
        return;
    fputs("set label ", p->f);
    fr__gnuplot_string(p->f, text, 60);
    fputs(" at ", p->f);
    fr__plot_number(p->f, factor * v.time_s);
    putc(',', p->f);
    fr__plot_number(p->f, v.cost);
    fprintf(p->f, "right offset -0.8,-0.5 font ',%d' tc rgb '" FR__COLOUR_TEXT "' front\n",
            p->n_panels > 2 ? 8 : 10);
}

static void write_deadline(const struct picture *p, double factor)
{
    char text[64], time_text[32];

    if (p->summary->terms.deadline_s <= 0)
        return;
    snprintf(text, sizeof(text), "deadline %s",
             fr__format_time(p->summary->terms.deadline_s, time_text, sizeof(time_text)));
    for (unsigned end = 0; end < 2; end++) {
        fputs(end ? "to first " : "set arrow from first ", p->f);
        fr__plot_number(p->f, factor * p->summary->terms.deadline_s);
        fprintf(p->f, ", graph %u ", end);
    }
    fputs("nohead dt 2 lw 1.5 lc rgb '" FR__COLOUR_LIMIT "' back\nset label ", p->f);
    fr__gnuplot_string(p->f, text, 60);
    fputs(" at first ", p->f);
    fr__plot_number(p->f, factor * p->summary->terms.deadline_s);
    fputs(", graph 0.98 right offset -0.5,0 font ',10' tc rgb '" FR__COLOUR_LIMIT "'\n", p->f);
}

/* Marks at 1, 2 and 5 times powers of ten; gnuplot's own would be too few for a short axis. */
static void write_tics(const struct picture *p, const char *axis, double low, double high)
{
    static const double steps[] = {1, 2, 5};
    double power = pow(10, floor(log10(low)));
    bool is_long = high / low > (p->rows > 2 ? 100 : 2e3), is_first = true;
    FILE *f = p->f;

    fprintf(f, "set %stics (", axis);
    for (size_t i = 0; power * steps[i % 3] <= high && i < 300; i++) {
        double x = power * steps[i % 3];
        char text[40];

        if (x >= low && (!is_long || i % 3 == 0)) {
            fprintf(f, "%s'%s' ", is_first ? "" : ", ", fr__format_double(x, text, sizeof(text)));
            fr__plot_number(f, x);
            is_first = false;
        }
        if (i % 3 == 2)
            power *= 10;
    }
    fputs(")\n", f);
}

/* Limits with room for names below and left of the points, on logarithmic axes. */
static void write_ranges(const struct picture *p, const struct fr_sweep_group *g, double factor)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {0, 0};
    static const char *const axes[2] = {"x", "y"};

    for (size_t i = 0; i < p->sweep->n_points; i++) {
        struct fr_sweep_value v;

        if (!is_of_group(p, g, i))
            continue;
        v = fr_sweep_value(p->sweep->rows[i], &p->summary->terms);
        if (!(v.cost > 0))
            continue;
        low[0] = fmin(low[0], factor * v.time_s);
        high[0] = fmax(high[0], factor * v.time_s);
        low[1] = fmin(low[1], v.cost);
        high[1] = fmax(high[1], v.cost);
    }
    for (unsigned k = 0; k < 2; k++) {
        double room;

        if (!(high[k] > 0))
            low[k] = high[k] = 1;
        room = 1.2 * pow(high[k] / low[k], 0.1);
        low[k] /= k == 0 ? pow(room, p->columns > 2 ? 5 : p->columns > 1 ? 4 : 3) : room;
        high[k] *= room;
        fprintf(p->f, "set %srange [", axes[k]);
        fr__plot_number(p->f, low[k]);
        fputs(":", p->f);
        fr__plot_number(p->f, high[k]);
        fputs("]\n", p->f);
        write_tics(p, axes[k], low[k], high[k]);
    }
}

static void write_key(const struct picture *p)
{
    const struct fr__axis *axis;

    if (p->n_settings == 0)
        return;
    axis = &p->sweep->axes[p->settings[0]];
    for (size_t i = 0; i < axis->n && i < MAX_COLOURS; i++) {
        const char *name =
            i + 1 == MAX_COLOURS && axis->n > MAX_COLOURS ? "others" : axis->values[i];

        fprintf(p->f, ", NaN with points pt 7 ps 1.1 lc rgb '%s' title ", colours[i]);
        fr__gnuplot_string(p->f, name, 40);
    }
}

static void write_panel(const struct picture *p, const struct fr_sweep_group *g, size_t panel)
{
    double factor, max_s = 0;
    const char *unit;
    char name[200];

    for (size_t i = 0; i < p->sweep->n_points; i++)
        if (is_of_group(p, g, i))
            max_s = fmax(max_s, fr_sweep_value(p->sweep->rows[i], &p->summary->terms).time_s);
    factor = time_unit(max_s > 0 ? max_s : 1, &unit);
    write_points(p, g, panel, factor);
    fputs(panel ? "unset label\nunset arrow\n" : "", p->f);
    fr__sweep_group_text(g, name, sizeof(name));
    fputs("set title ", p->f);
    fr__gnuplot_string(p->f, name, 80);
    fprintf(p->f, " font ',%d' tc rgb '" FR__COLOUR_TEXT "'\n", p->n_panels > 2 ? 12 : 15);
    fprintf(p->f, "set xlabel '%s (%s)' tc rgb '" FR__COLOUR_TEXT "'\n",
            p->summary->terms.samples > 0 || p->summary->terms.tokens > 0
                ? "time of the run"
                : "time of a million samples",
            unit);
    fprintf(p->f, "set ylabel '%s' tc rgb '" FR__COLOUR_TEXT "'\n",
            fr__sweep_cost_title(&p->summary->terms));
    write_ranges(p, g, factor);
    write_deadline(p, factor);
    for (size_t i = 0; i < g->n_frontier && g->n_frontier <= MAX_NAMED; i++)
        write_name(p, g->frontier[i], factor);
    fprintf(p->f,
            "plot $frontier%zu using 1:2 with steps lw 2 lc rgb '" FR__COLOUR_TEXT
            "' title 'frontier', $points%zu using 1:2:(colour(int($3))) with points pt 7 ps %s lc "
            "rgb variable notitle",
            panel, panel, p->n_panels > 2 ? "0.7" : "1.1");
    if (panel == 0)
        write_key(p);
    fputs("\nunset key\n", p->f);
}

/* ---- the picture ---- */

static void write_colours(FILE *f)
{
    fputs("colour(i) = ", f);
    for (size_t i = 0; i + 1 < MAX_COLOURS; i++)
        fprintf(f, "i == %zu ? 0x%s : ", i, colours[i] + 1);
    fprintf(f, "0x%s\n", colours[MAX_COLOURS - 1] + 1);
}

static size_t count_groups(const struct fr_sweep_summary *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_groups; i++)
        n += m->groups[i].n_frontier > 0;
    return n;
}

static void write_script(FILE *script, const struct fr_sweep *s, const struct fr_sweep_summary *m)
{
    struct picture p = {.f = script, .sweep = s, .summary = m};
    size_t n_groups = count_groups(m), panel = 0;

    p.n_panels = n_groups < MAX_PANELS ? n_groups : MAX_PANELS;
    p.n_settings = fr__sweep_varying(s, p.settings);
    if (p.n_panels == 0) {
        fputs("unset border\nunset tics\nset label 'nothing fits' at screen 0.5, screen 0.5 center "
              "font ',20'\nset yrange [0:1]\nplot NaN notitle\n",
              script);
        return;
    }
    p.columns = p.n_panels > 4 ? 3 : p.n_panels > 1 ? 2 : 1;
    p.rows = (p.n_panels + p.columns - 1) / p.columns;
    write_colours(script);
    fprintf(script, "set multiplot layout %zu,%zu margins 0.07,0.97,0.09,0.90 spacing 0.08,0.14\n",
            p.rows, p.columns);
    fputs("set border 3 lc rgb '#BBBBBB'\nset grid lt 1 lc rgb '#E6E6E6'\nset logscale xy\n"
          "set tics nomirror scale 0.5 tc rgb '" FR__COLOUR_TEXT "'\n"
          "set key at screen 0.97, screen 0.985 right horizontal Left reverse samplen 1.2 width 1 "
          "font ',10' tc rgb '" FR__COLOUR_TEXT "'\n",
          script);
    if (n_groups > p.n_panels)
        fprintf(script,
                "set label 1 'the first %zu of %zu workloads that fit' at screen 0.03, screen "
                "0.975 left font ',12' tc rgb '" FR__COLOUR_QUIET "'\n",
                p.n_panels, n_groups);
    for (size_t i = 0; i < m->n_groups && panel < p.n_panels; i++)
        if (m->groups[i].n_frontier > 0)
            write_panel(&p, &m->groups[i], panel++);
    fputs("unset multiplot\n", script);
}

enum fr_status fr__draw_sweep(FILE *picture, const struct fr_sweep *s,
                              const struct fr_sweep_summary *m, const char *ending,
                              const struct fr_context *ctx, struct fr_error *err)
{
    FILE *script;
    enum fr_status st;

    FR_TRY(fr__gnuplot_script(&script, err));
    fputs(fr__plot_frame(ending)->terminal, script);
    write_script(script, s, m);
    st = fr__gnuplot_run(script, picture, ctx, err);
    fclose(script);
    return st;
}
