/* results/charts/cost.c - the points of a sweep, cost against time.
 *
 * It is separate because the picture of a sweep and its page both show them.
 */
#include "config.h"

#include "results/charts/cost.h"

#include "base/units.h"
#include "results/parts/colours.h"
#include "results/parts/number.h"
#include "results/parts/sweep_names.h"
#include "study/sweep/state.h"

#include <math.h>

/* Whether the point is shown; *v is what it takes. */
static bool is_shown(const struct fr__cost *c, size_t point, struct fr_sweep_value *v)
{
    const struct fr_sweep_row *r = c->sweep->rows[point];

    if (!r || r->outcome != FR_FITS || fr__sweep_group_of(c->sweep, point) != c->group)
        return false;
    *v = fr_sweep_value(r, &c->summary->terms);
    return v->cost > 0;
}

static void include(struct fr__chart_axis *a, double x)
{
    a->low = a->low > 0 ? fmin(a->low, x) : x;
    a->high = fmax(a->high, x);
}

void fr__cost_widen(struct fr__chart_axis *a, double low_power)
{
    double room = 1.2 * pow(a->high / a->low, 0.1);

    a->low /= pow(room, low_power);
    a->high *= room;
}

void fr__cost_begin(struct fr__cost *c, size_t group, struct fr__panel *p)
{
    const struct fr_sweep_terms *terms = &c->summary->terms;
    struct fr_sweep_value v;
    const char *unit;

    c->group = group;
    c->n_points = 0;
    c->n_settings = fr__sweep_varying(c->sweep, c->settings);
    p->x = p->y = (struct fr__chart_axis){.log = 10, .has_grid = true};
    for (size_t i = 0; i < c->sweep->n_points; i++) {
        if (!is_shown(c, i, &v))
            continue;
        include(&p->x, v.time_s);
        include(&p->y, v.cost);
        c->n_points++;
    }
    if (c->n_points == 0)
        p->x.low = p->x.high = p->y.low = p->y.high = 1;
    c->factor = fr__long_time_unit(p->x.high, &unit);
    p->x.low *= c->factor;
    p->x.high *= c->factor;
    p->x.label = fr__chart_text(p->chart, "%s (%s)", fr__sweep_time_title(terms), unit);
    p->y.label = fr__sweep_cost_title(terms);
}

/* ---- points ---- */

/* The setting's value, by which colours or shapes are chosen. */
static size_t value_of(const struct fr__cost *c, size_t point, size_t setting, size_t most)
{
    size_t n =
        c->n_settings > setting ? fr__sweep_value_index(c->sweep, point, c->settings[setting]) : 0;

    return n < most ? n : most - 1;
}

bool fr__cost_has_shapes(const struct fr__cost *c)
{
    return c->n_settings > 1 && c->sweep->axes[c->settings[1]].n < FR__N_SHAPES;
}

static const char *hint_of(const struct fr__cost *c, struct fr__chart *chart, size_t point,
                           const struct fr_sweep_value *v)
{
    const struct fr_sweep_row *r = c->sweep->rows[point];
    const struct fr_sweep_terms *terms = &c->summary->terms;
    char name[256], iteration[40], time[40], cost[40], peak[40];

    fr__sweep_point_text(c->sweep, point, name, sizeof(name));
    return fr__chart_text(
        chart, "%s\niteration %s\n%s %s\n%s %s\npeak memory %s", name[0] ? name : r->workload,
        fr__format_time(r->iteration_s, iteration, sizeof(iteration)), fr__sweep_time_title(terms),
        fr__format_time(v->time_s, time, sizeof(time)), fr__sweep_cost_title(terms),
        fr__sweep_cost_text(v->cost, cost, sizeof(cost)),
        fr__format_bytes((double)r->peak_bytes, peak, sizeof(peak)));
}

static void put_frontier(const struct fr__cost *c, struct fr__panel *p, const char *title)
{
    const struct fr_sweep_group *g = &c->summary->groups[c->group];
    struct fr__chart_series *s = fr__panel_series(
        p, (struct fr__chart_style){
               .mark = FR__STEPS, .width = 2, .colour = FR__COLOUR_TEXT, .title = title});

    for (size_t i = 0; i < g->n_frontier; i++) {
        struct fr_sweep_value v =
            fr_sweep_value(c->sweep->rows[g->frontier[i]], &c->summary->terms);

        fr__series_point(s, c->factor * v.time_s, v.cost);
    }
}

size_t fr__cost_put(const struct fr__cost *c, struct fr__panel *p, size_t most, double size,
                    const char *frontier)
{
    struct fr__chart_series *s[FR__PALETTE][FR__N_SHAPES] = {{NULL}};
    size_t n = 0;

    put_frontier(c, p, frontier);
    for (size_t i = 0; i < c->sweep->n_points && n < most; i++) {
        size_t colour = value_of(c, i, 0, FR__PALETTE);
        size_t shape = fr__cost_has_shapes(c) ? value_of(c, i, 1, FR__N_SHAPES) : 0;
        struct fr__chart_series **own = &s[colour][shape];
        struct fr_sweep_value v;

        if (!is_shown(c, i, &v))
            continue;
        if (!*own)
            *own =
                fr__panel_series(p, (struct fr__chart_style){.mark = FR__POINTS,
                                                             .colour = fr__palette(colour),
                                                             .shape = (enum fr__chart_shape)shape,
                                                             .size = size});
        fr__series_point(*own, c->factor * v.time_s, v.cost);
        fr__series_hint(*own, hint_of(c, p->chart, i, &v));
        n++;
    }
    return n;
}
