/* results/pictures/sweep.c - draws a sweep by gnuplot: time against cost, a panel a workload.
 *
 * It is separate from the table of a sweep (text/sweep.c), which shows rows and not the frontier.
 */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/parts/colours.h"
#include "results/parts/number.h"
#include "results/parts/palette.h"
#include "results/parts/sweep_names.h"
#include "results/pictures/gnuplot.h"
#include "results/pictures/plot.h"
#include "results/pictures/sweep.h"
#include "study/sweep/state.h"

#include <math.h>
#include <string.h>

enum { MAX_PANELS = 9, MAX_COLOURS = FR__PALETTE, MAX_SHAPES = 6, MAX_NAMED = 24 };

/* Types of points of gnuplot: disc, triangle, square, and the same empty. */
static const unsigned shapes[MAX_SHAPES] = {7, 9, 5, 6, 8, 4};

/* Of the points of one panel at most so many names are kept apart. */
enum { MAX_PLACES = MAX_NAMED };

/* A name on a panel, in shares of the picture. */
struct place {
    double left, right, bottom, top;
};

/* Margins of all panels together, and the picture's width in pixels. */
static const double LEFT = 0.07, RIGHT = 0.97, BOTTOM = 0.09, TOP = 0.86, WIDTH = 1600;
static const double ACROSS = 0.08, DOWN = 0.14; /* between panels */

struct picture {
    FILE *f;
    const struct fr_sweep *sweep;
    const struct fr_sweep_summary *summary;
    size_t settings[FR_N_SETTINGS], n_settings;
    size_t n_panels, columns, rows;
    double low[2], high[2]; /* of the panel's axes */
    struct place places[MAX_PLACES];
    size_t n_places;
};

/* ---- one panel ---- */

static bool is_of_group(const struct picture *p, const struct fr_sweep_group *g, size_t point)
{
    const struct fr_sweep_row *row = p->sweep->rows[point];

    return row && row->outcome == FR_FITS &&
           &p->summary->groups[fr__sweep_group_of(p->sweep, point)] == g;
}

/* The first setting that varies is shown by colour, the second by shape. */
static size_t colour_of(const struct picture *p, size_t point)
{
    size_t n = p->n_settings > 0 ? fr__sweep_value_index(p->sweep, point, p->settings[0]) : 0;

    return n < MAX_COLOURS ? n : MAX_COLOURS - 1;
}

static bool has_shapes(const struct picture *p)
{
    return p->n_settings > 1 && p->sweep->axes[p->settings[1]].n <= MAX_SHAPES;
}

static size_t shape_of(const struct picture *p, size_t point)
{
    return has_shapes(p) ? fr__sweep_value_index(p->sweep, point, p->settings[1]) : 0;
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
        fprintf(p->f, "0x%s %u\n", fr__palette(colour_of(p, i)) + 1, shapes[shape_of(p, i)]);
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

/* Where on its panel a value stands, from 0 to 1. */
static double share_of(const struct picture *p, unsigned axis, double x)
{
    return log(x / p->low[axis]) / log(p->high[axis] / p->low[axis]);
}

/* Whether the name has a place of its own left or right of its point, which it then takes. */
static bool take_place(struct picture *p, double x, double y, size_t n_chars, bool is_right)
{
    double wide = (RIGHT - LEFT + ACROSS) / (double)p->columns - ACROSS;
    double high = (TOP - BOTTOM + DOWN) / (double)p->rows - DOWN;
    double length = (double)n_chars * (p->n_panels > 2 ? 6 : 7.2) / WIDTH, gap = 0.006;
    double at_x = wide * share_of(p, 0, x), at_y = high * share_of(p, 1, y);
    struct place at = {is_right ? at_x + gap : at_x - gap - length,
                       is_right ? at_x + gap + length : at_x - gap,
                       at_y - (p->n_panels > 2 ? 0.018 : 0.022), at_y};

    if (at.left < 0 || at.right > wide || at.bottom < 0 || p->n_places == MAX_PLACES)
        return false;
    for (size_t i = 0; i < p->n_places; i++) {
        const struct place *o = &p->places[i];

        if (at.left < o->right && o->left < at.right && at.bottom < o->top && o->bottom < at.top)
            return false;
    }
    p->places[p->n_places++] = at;
    return true;
}

/* Writes a name below and left of the point, where there can be no other point: it would be faster
 * and cheaper; or below and right of the cheapest point. A name without room is left out. */
static void write_name(struct picture *p, size_t point, double factor, bool is_cheapest)
{
    struct fr_sweep_value v = fr_sweep_value(p->sweep->rows[point], &p->summary->terms);
    double x = factor * v.time_s;
    bool is_right = false;
    char text[160];
    size_t n;

    fr__sweep_point_text(p->sweep, point, text, sizeof(text));
    n = strlen(text) <= 60 ? strlen(text) : 63;
    if (n == 0)
        return;
    if (!take_place(p, x, v.cost, n, false)) {
        is_right = is_cheapest && take_place(p, x, v.cost, n, true);
        if (!is_right)
            return;
    }
    fputs("set label ", p->f);
    fr__gnuplot_string(p->f, text, 60);
    fputs(" at ", p->f);
    fr__plot_number(p->f, x);
    putc(',', p->f);
    fr__plot_number(p->f, v.cost);
    fprintf(p->f, "%s-0.5 font ',%d' tc rgb '" FR__COLOUR_TEXT "' front\n",
            is_right ? "left offset 0.8," : "right offset -0.8,", p->n_panels > 2 ? 8 : 10);
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

/* Limits with room for names below and left of the points, on logarithmic axes. */
static void write_ranges(struct picture *p, const struct fr_sweep_group *g, double factor)
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
        low[k] /= k == 0 ? pow(room, p->columns > 2   ? 5
                                     : p->columns > 1 ? 4
                                                      : 3)
                         : pow(room, p->rows > 2 ? 2 : 1);
        high[k] *= room;
        fprintf(p->f, "set %srange [", axes[k]);
        fr__plot_number(p->f, low[k]);
        fputs(":", p->f);
        fr__plot_number(p->f, high[k]);
        fputs("]\n", p->f);
        fr__plot_log_ticks(p->f, axes[k], low[k], high[k], (unsigned)(p->rows > 2 ? 6 : 10));
        p->low[k] = low[k];
        p->high[k] = high[k];
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

        fprintf(p->f, ", NaN with points pt 7 ps 1.1 lc rgb '%s' title ", fr__palette(i));
        fr__gnuplot_string(p->f, name, 40);
    }
    if (!has_shapes(p))
        return;
    axis = &p->sweep->axes[p->settings[1]];
    for (size_t i = 0; i < axis->n; i++) {
        fprintf(p->f, ", NaN with points pt %u ps 1.1 lc rgb '" FR__COLOUR_QUIET "' title ",
                shapes[i]);
        fr__gnuplot_string(p->f, axis->values[i], 40);
    }
}

static void write_panel(struct picture *p, const struct fr_sweep_group *g, size_t panel)
{
    double factor, max_s = 0;
    const char *unit;
    char name[200];

    for (size_t i = 0; i < p->sweep->n_points; i++)
        if (is_of_group(p, g, i))
            max_s = fmax(max_s, fr_sweep_value(p->sweep->rows[i], &p->summary->terms).time_s);
    factor = fr__long_time_unit(max_s > 0 ? max_s : 1, &unit);
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
    p->n_places = 0;
    for (size_t i = 0; i < g->n_frontier; i++)
        write_name(p, g->frontier[i], factor, i + 1 == g->n_frontier);
    fprintf(p->f,
            "plot $frontier%zu using 1:2 with steps lw 2 lc rgb '" FR__COLOUR_TEXT
            "' title 'frontier', $points%zu using 1:2:4:3 with points pt variable ps %s lc "
            "rgb variable notitle",
            panel, panel, p->n_panels > 2 ? "0.7" : "1.1");
    if (panel == 0)
        write_key(p);
    fputs("\nunset key\n", p->f);
}

/* ---- the picture ---- */

/* What all points share, which tells this picture from that of another sweep; false: nothing. */
static bool write_heading(const struct picture *p)
{
    char text[300];

    fr__sweep_fixed_text(p->sweep, text, sizeof(text));
    if (!text[0])
        return false;
    fputs("set label 1 ", p->f);
    fr__gnuplot_string(p->f, text, 90);
    fputs(" at screen 0.03, screen 0.97 left font ',13' tc rgb '" FR__COLOUR_TEXT "'\n", p->f);
    return true;
}

/* Below a heading, what the colours and shapes are, and how many workloads are left out. */
static void write_subheading(const struct picture *p, size_t n_groups, bool has_heading)
{
    char text[200] = "";
    size_t used = 0;

    if (n_groups > p->n_panels)
        used = (size_t)snprintf(text, sizeof(text), "the first %zu of %zu workloads that fit%s",
                                p->n_panels, n_groups, p->n_settings > 0 ? "; " : "");
    if (p->n_settings > 0)
        snprintf(text + used, sizeof(text) - used, "colour: %s%s%s",
                 fr__sweep_setting_title(p->settings[0]), has_shapes(p) ? "; shape: " : "",
                 has_shapes(p) ? fr__sweep_setting_title(p->settings[1]) : "");
    if (!text[0])
        return;
    fputs("set label 2 ", p->f);
    fr__gnuplot_string(p->f, text, 150);
    fprintf(p->f, " at screen 0.03, screen %s left font ',12' tc rgb '" FR__COLOUR_QUIET "'\n",
            has_heading ? "0.935" : "0.97");
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
    fprintf(script, "set multiplot layout %zu,%zu margins %g,%g,%g,%g spacing %g,%g\n", p.rows,
            p.columns, LEFT, RIGHT, BOTTOM, TOP, ACROSS, DOWN);
    fputs("set border 3 lc rgb '#BBBBBB'\nset grid lt 1 lc rgb '#E6E6E6'\nset logscale xy\n"
          "set tics nomirror scale 0.5 tc rgb '" FR__COLOUR_TEXT "'\n"
          "set key at screen 0.97, screen 0.985 right horizontal Left reverse samplen 1.2 width 1 "
          "font ',10' tc rgb '" FR__COLOUR_TEXT "'\n",
          script);
    write_subheading(&p, n_groups, write_heading(&p));
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
