/* results/html/sweep_plot.c - the points of a sweep, cost against time, in the report.
 *
 * It is separate from the picture by gnuplot (pictures/sweep.c), whose points have no hints. Both
 * axes are logarithmic.
 */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/html/inline.h"
#include "results/html/html.h"
#include "results/parts/colours.h"
#include "results/parts/number.h"
#include "results/parts/palette.h"
#include "results/parts/sweep_names.h"
#include "study/sweep/state.h"

#include <math.h>

enum { HEIGHT = 300, TOP = 30, MOST_POINTS = 3000, TEXT = 256 };

struct plot {
    FILE *f;
    const struct fr_sweep *sweep;
    const struct fr_sweep_summary *summary;
    size_t group, settings[FR_N_SETTINGS], n_settings;
    double low[2], high[2]; /* time, cost */
    double factor;          /* seconds to the unit of the axis */
    const char *unit;
};

static bool is_shown(const struct plot *p, size_t point)
{
    const struct fr_sweep_row *r = p->sweep->rows[point];

    return r && r->outcome == FR_FITS && fr__sweep_group_of(p->sweep, point) == p->group &&
           fr_sweep_value(r, &p->summary->terms).cost > 0;
}

static size_t find_ranges(struct plot *p)
{
    size_t n = 0;

    for (unsigned k = 0; k < 2; k++) {
        p->low[k] = INFINITY;
        p->high[k] = 0;
    }
    for (size_t i = 0; i < p->sweep->n_points; i++) {
        struct fr_sweep_value v;

        if (!is_shown(p, i))
            continue;
        v = fr_sweep_value(p->sweep->rows[i], &p->summary->terms);
        p->low[0] = fmin(p->low[0], v.time_s);
        p->high[0] = fmax(p->high[0], v.time_s);
        p->low[1] = fmin(p->low[1], v.cost);
        p->high[1] = fmax(p->high[1], v.cost);
        n++;
    }
    for (unsigned k = 0; k < 2; k++) {
        double room = 1.1 * pow(p->high[k] / p->low[k], 0.05);

        p->low[k] /= room;
        p->high[k] *= room;
    }
    return n;
}

/* ---- points ---- */

static size_t colour_of(const struct plot *p, size_t point)
{
    return p->n_settings > 0 ? fr__sweep_value_index(p->sweep, point, p->settings[0]) : 0;
}

static void put_frontier(const struct plot *p, struct fr__panel *panel)
{
    const struct fr_sweep_group *g = &p->summary->groups[p->group];
    struct fr__chart_series *s = fr__panel_series(
        panel, (struct fr__chart_style){.mark = FR__STEPS, .colour = FR__COLOUR_TEXT});

    for (size_t i = 0; i < g->n_frontier && g->n_frontier > 1; i++) {
        struct fr_sweep_value v =
            fr_sweep_value(p->sweep->rows[g->frontier[i]], &p->summary->terms);

        fr__series_point(s, p->factor * v.time_s, v.cost);
    }
}

static const char *hint_of(const struct plot *p, struct fr__chart *c, size_t point)
{
    const struct fr_sweep_row *r = p->sweep->rows[point];
    const struct fr_sweep_terms *terms = &p->summary->terms;
    struct fr_sweep_value v = fr_sweep_value(r, terms);
    char name[TEXT], iteration[40], time[40], cost[40], peak[40];

    fr__sweep_point_text(p->sweep, point, name, sizeof(name));
    return fr__chart_text(
        c, "%s\niteration %s\n%s %s\n%s %s\npeak memory %s", name[0] ? name : r->workload,
        fr__format_time(r->iteration_s, iteration, sizeof(iteration)), fr__sweep_time_title(terms),
        fr__format_time(v.time_s, time, sizeof(time)), fr__sweep_cost_title(terms),
        fr__sweep_cost_text(v.cost, cost, sizeof(cost)),
        fr__format_bytes((double)r->peak_bytes, peak, sizeof(peak)));
}

/* A series a colour. Returns how many points are shown. */
static size_t put_points(const struct plot *p, struct fr__panel *panel)
{
    struct fr__chart_series *series[FR__PALETTE];
    size_t n = 0;

    for (size_t k = 0; k < FR__PALETTE; k++)
        series[k] = fr__panel_series(
            panel, (struct fr__chart_style){.mark = FR__POINTS, .colour = fr__palette(k)});
    for (size_t i = 0; i < p->sweep->n_points && n < MOST_POINTS; i++) {
        size_t colour = colour_of(p, i) < FR__PALETTE ? colour_of(p, i) : FR__PALETTE - 1;
        struct fr_sweep_value v;

        if (!is_shown(p, i))
            continue;
        v = fr_sweep_value(p->sweep->rows[i], &p->summary->terms);
        fr__series_point(series[colour], p->factor * v.time_s, v.cost);
        fr__series_hint(series[colour], hint_of(p, panel->chart, i));
        n++;
    }
    return n;
}

static void write_key(const struct plot *p)
{
    const struct fr__axis *axis;

    fputs("<ul class=\"key\">\n", p->f);
    if (p->n_settings > 0) {
        axis = &p->sweep->axes[p->settings[0]];
        fprintf(p->f, "<li>%s:</li>\n", fr__sweep_setting_title(p->settings[0]));
        for (size_t i = 0; i < axis->n && i < FR__PALETTE; i++) {
            fprintf(p->f, "<li><i style=\"background:%s\"></i>", fr__palette(i));
            fr__html_text(p->f, i + 1 == FR__PALETTE && axis->n > FR__PALETTE ? "others"
                                                                              : axis->values[i]);
            fputs("</li>\n", p->f);
        }
    }
    fputs("</ul>\n<figcaption>The line joins the points that none beats in both time and "
          "cost.</figcaption>\n",
          p->f);
}

enum fr_status fr__html_sweep_plot(FILE *f, const struct fr_sweep *s,
                                   const struct fr_sweep_summary *m, size_t group,
                                   struct fr_error *err)
{
    struct plot p = {.f = f, .sweep = s, .summary = m, .group = group};
    size_t n_points = find_ranges(&p), n;
    struct fr__panel *panel;
    struct fr__chart *c;

    if (n_points == 0)
        return FR_OK;
    c = fr__inline_new(TOP, HEIGHT, 46);
    if (!c)
        return fr__fail_nomem(err);
    p.n_settings = fr__sweep_varying(s, p.settings);
    p.factor = fr__long_time_unit(p.high[0], &p.unit);
    panel = &c->panels[0];
    panel->x = (struct fr__chart_axis){
        .low = p.factor * p.low[0],
        .high = p.factor * p.high[0],
        .log = 10,
        .label = fr__chart_text(c, "%s (%s)", fr__sweep_time_title(&m->terms), p.unit)};
    panel->y = (struct fr__chart_axis){.low = p.low[1],
                                       .high = p.high[1],
                                       .log = 10,
                                       .has_grid = true,
                                       .label = fr__sweep_cost_title(&m->terms)};
    put_frontier(&p, panel);
    n = put_points(&p, panel);
    fputs(
        "<figure class=\"points\" tabindex=\"0\" role=\"group\" aria-label=\"Cost against time; n "
        "and p step through the points\">\n",
        f);
    FR_TRY(fr__inline_finish(c, f, "Cost against time", err));
    write_key(&p);
    if (n_points > n)
        fprintf(f, "<p class=\"note\">The first %zu of %zu points.</p>\n", n, n_points);
    fputs("</figure>\n", f);
    return FR_OK;
}
