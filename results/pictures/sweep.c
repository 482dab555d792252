/* results/pictures/sweep.c - a sweep: time against cost, a panel a workload.
 *
 * It is separate from the table of a sweep (text/sweep.c), which shows rows and not the frontier.
 */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/charts/chart.h"
#include "results/parts/colours.h"
#include "results/parts/number.h"
#include "results/parts/palette.h"
#include "results/parts/sweep_names.h"
#include "results/pictures/sweep.h"
#include "study/sweep/state.h"

#include <math.h>
#include <string.h>

enum { MAX_PANELS = 9, MAX_COLOURS = FR__PALETTE, MAX_SHAPES = 6, MAX_NAMED = 24 };

/* Of the points of one panel at most so many names are kept apart. */
enum { MAX_PLACES = MAX_NAMED };

/* A name on a panel, in shares of the picture. */
struct place {
    double left, right, bottom, top;
};

/* Margins of all panels together, and between them. */
static const double LEFT = 0.07, RIGHT = 0.97, BOTTOM = 0.09, TOP = 0.86;
static const double ACROSS = 0.08, DOWN = 0.14;

struct picture {
    struct fr__chart *chart;
    struct fr__panel *panel; /* at work */
    const struct fr_sweep *sweep;
    const struct fr_sweep_summary *summary;
    size_t settings[FR_N_SETTINGS], n_settings;
    size_t n_panels, columns, rows;
    double factor; /* seconds to the unit of the panel's axis */
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

static void put_points(const struct picture *p, const struct fr_sweep_group *g)
{
    struct fr__chart_series *s[MAX_COLOURS][MAX_SHAPES] = {{NULL}}, *frontier;

    frontier = fr__panel_series(p->panel, (struct fr__chart_style){.mark = FR__STEPS,
                                                                   .width = 2,
                                                                   .colour = FR__COLOUR_TEXT,
                                                                   .title = "frontier"});
    for (size_t i = 0; i < g->n_frontier; i++) {
        struct fr_sweep_value v =
            fr_sweep_value(p->sweep->rows[g->frontier[i]], &p->summary->terms);

        fr__series_point(frontier, p->factor * v.time_s, v.cost);
    }
    for (size_t i = 0; i < p->sweep->n_points; i++) {
        struct fr__chart_series **own = &s[colour_of(p, i)][shape_of(p, i)];
        struct fr_sweep_value v;

        if (!is_of_group(p, g, i))
            continue;
        v = fr_sweep_value(p->sweep->rows[i], &p->summary->terms);
        if (isnan(v.cost))
            continue;
        if (!*own)
            *own = fr__panel_series(
                p->panel, (struct fr__chart_style){.mark = FR__POINTS,
                                                   .colour = fr__palette(colour_of(p, i)),
                                                   .shape = (enum fr__chart_shape)shape_of(p, i),
                                                   .size = p->n_panels > 2 ? 0.7 : 1.1});
        fr__series_point(*own, p->factor * v.time_s, v.cost);
    }
}

/* Where on its panel a value stands, from 0 to 1. */
static double share_of(const struct fr__chart_axis *axis, double x)
{
    return log(x / axis->low) / log(axis->high / axis->low);
}

static unsigned points_of(const struct picture *p)
{
    return p->n_panels > 2 ? 8 : 10;
}

/* Whether the name has a place of its own left or right of its point, which it then takes. */
static bool take_place(struct picture *p, double x, double y, const char *text, bool is_right)
{
    struct fr__panel_place panel = fr__panel_place(p->panel);
    double wide = panel.right - panel.left, high = panel.top - panel.bottom;
    double length = fr__text_pixels(text, points_of(p)) / p->chart->wide, gap = 0.006;
    double at_x = wide * share_of(&p->panel->x, x), at_y = high * share_of(&p->panel->y, y);
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
static void put_name(struct picture *p, size_t point, bool is_cheapest)
{
    struct fr_sweep_value v = fr_sweep_value(p->sweep->rows[point], &p->summary->terms);
    double x = p->factor * v.time_s;
    bool is_right = false;
    char text[160];

    fr__sweep_point_text(p->sweep, point, text, sizeof(text));
    if (strlen(text) > 60)
        memcpy(text + 60, "...", sizeof("..."));
    if (!text[0])
        return;
    if (!take_place(p, x, v.cost, text, false)) {
        is_right = is_cheapest && take_place(p, x, v.cost, text, true);
        if (!is_right)
            return;
    }
    fr__panel_note(p->panel, (struct fr__chart_note){.text = text,
                                                     .x = x,
                                                     .y = v.cost,
                                                     .right = is_right ? 0.8 : -0.8,
                                                     .up = -0.5,
                                                     .align = is_right ? FR__FROM : FR__UP_TO,
                                                     .points = points_of(p)});
}

static void put_deadline(const struct picture *p)
{
    double at = p->factor * p->summary->terms.deadline_s;
    char time[32];

    if (at <= 0)
        return;
    fr__panel_limit(p->panel, at, true);
    fr__panel_note(
        p->panel,
        (struct fr__chart_note){.text = fr__chart_text(p->chart, "deadline %s",
                                                       fr__format_time(p->summary->terms.deadline_s,
                                                                       time, sizeof(time))),
                                .x = at,
                                .y = 0.98,
                                .y_by = FR__BY_PANEL,
                                .right = -0.5,
                                .align = FR__UP_TO,
                                .points = 10,
                                .colour = FR__COLOUR_LIMIT});
}

/* Limits with room for names below and left of the points, on logarithmic axes. */
static void set_ranges(struct picture *p, const struct fr_sweep_group *g)
{
    struct fr__chart_axis *axes[2] = {&p->panel->x, &p->panel->y};
    double left = p->columns > 2 ? 5 : p->columns > 1 ? 4.5 : 3;

    for (size_t i = 0; i < p->sweep->n_points; i++) {
        struct fr_sweep_value v;

        if (!is_of_group(p, g, i))
            continue;
        v = fr_sweep_value(p->sweep->rows[i], &p->summary->terms);
        if (!(v.cost > 0))
            continue;
        for (unsigned k = 0; k < 2; k++) {
            double x = k ? v.cost : p->factor * v.time_s;

            axes[k]->low = axes[k]->low > 0 ? fmin(axes[k]->low, x) : x;
            axes[k]->high = fmax(axes[k]->high, x);
        }
    }
    for (unsigned k = 0; k < 2; k++) {
        double room;

        if (!(axes[k]->high > 0))
            axes[k]->low = axes[k]->high = 1;
        room = 1.2 * pow(axes[k]->high / axes[k]->low, 0.1);
        axes[k]->low /= k == 0 ? pow(room, left) : pow(room, p->rows > 2 ? 2 : 1);
        axes[k]->high *= room;
    }
}

/* Entries of a setting's values, without points of their own. */
static void put_key_of(const struct picture *p, size_t setting, size_t most, bool by_colour)
{
    const struct fr__axis *axis = &p->sweep->axes[setting];

    for (size_t i = 0; i < axis->n && i < most; i++)
        fr__panel_series(
            p->panel, (struct fr__chart_style){
                          .mark = FR__POINTS,
                          .colour = by_colour ? fr__palette(i) : FR__COLOUR_QUIET,
                          .shape = by_colour ? FR__DISC : (enum fr__chart_shape)i,
                          .size = 1.1,
                          .is_key_alone = true,
                          .title = i + 1 == most && axis->n > most ? "others" : axis->values[i]});
}

/* Sets the factor to the unit that suits the group's longest time; returns the unit. */
static const char *set_unit(struct picture *p, const struct fr_sweep_group *g)
{
    const char *unit;
    double max_s = 0;

    for (size_t i = 0; i < p->sweep->n_points; i++)
        if (is_of_group(p, g, i))
            max_s = fmax(max_s, fr_sweep_value(p->sweep->rows[i], &p->summary->terms).time_s);
    p->factor = fr__long_time_unit(max_s > 0 ? max_s : 1, &unit);
    return unit;
}

/* panel: its number, from 0. */
static void put_panel(struct picture *p, const struct fr_sweep_group *g, size_t panel)
{
    double wide = (RIGHT - LEFT + ACROSS) / (double)p->columns - ACROSS;
    double high = (TOP - BOTTOM + DOWN) / (double)p->rows - DOWN;
    double left = LEFT + (wide + ACROSS) * (double)(panel % p->columns);
    double top = TOP - (high + DOWN) * (double)(panel / p->columns);
    const struct fr_sweep_terms *terms = &p->summary->terms;
    const char *unit = set_unit(p, g);
    char name[200];

    p->panel = fr__chart_panel(p->chart, left, left + wide, top - high, top);
    fr__sweep_group_text(g, name, sizeof(name));
    p->panel->title = fr__chart_text(p->chart, "%s", name);
    p->panel->title_points = p->n_panels > 2 ? 12 : 15;
    p->panel->x = (struct fr__chart_axis){
        .log = 10,
        .has_grid = true,
        .label = fr__chart_text(p->chart, "%s (%s)", fr__sweep_time_title(terms), unit)};
    p->panel->y =
        (struct fr__chart_axis){.log = 10, .has_grid = true, .label = fr__sweep_cost_title(terms)};
    set_ranges(p, g);
    put_deadline(p);
    put_points(p, g);
    if (panel == 0 && p->n_settings > 0)
        put_key_of(p, p->settings[0], MAX_COLOURS, true);
    if (panel == 0 && has_shapes(p))
        put_key_of(p, p->settings[1], MAX_SHAPES, false);
}

static void put_names(struct picture *p, const struct fr_sweep_group *g, size_t panel)
{
    set_unit(p, g);
    p->panel = &p->chart->panels[panel];
    p->n_places = 0;
    for (size_t i = 0; i < g->n_frontier; i++)
        put_name(p, g->frontier[i], i + 1 == g->n_frontier);
}

/* ---- the picture ---- */

/* What all points share, which tells this picture from that of another sweep; what the colours and
 * shapes are, and how many workloads are left out. */
static void set_heading(struct picture *p, size_t n_groups)
{
    char text[300];
    const char *left_out = "", *colour = "", *shape = "";

    fr__sweep_fixed_text(p->sweep, text, sizeof(text));
    if (text[0])
        p->chart->title = fr__chart_text(p->chart, "%s", text);
    if (n_groups > p->n_panels)
        left_out = fr__chart_text(p->chart, "the first %zu of %zu workloads that fit%s",
                                  p->n_panels, n_groups, p->n_settings > 0 ? "; " : "");
    if (p->n_settings > 0)
        colour = fr__chart_text(p->chart, "colour: %s", fr__sweep_setting_title(p->settings[0]));
    if (has_shapes(p))
        shape = fr__chart_text(p->chart, "; shape: %s", fr__sweep_setting_title(p->settings[1]));
    p->chart->subtitle = fr__chart_text(p->chart, "%s%s%s", left_out, colour, shape);
}

static size_t count_groups(const struct fr_sweep_summary *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_groups; i++)
        n += m->groups[i].n_frontier > 0;
    return n;
}

static void describe(struct fr__chart *c, const struct fr_sweep *s,
                     const struct fr_sweep_summary *m)
{
    struct picture p = {.chart = c, .sweep = s, .summary = m};
    size_t n_groups = count_groups(m), n = 0;

    p.n_panels = n_groups < MAX_PANELS ? n_groups : MAX_PANELS;
    p.n_settings = fr__sweep_varying(s, p.settings);
    if (p.n_panels == 0) {
        struct fr__panel *empty = fr__chart_panel(c, 0, 1, 0, 1);

        empty->frame = FR__FRAME_NONE;
        empty->x.hides_numbers = empty->y.hides_numbers = true;
        empty->x.high = empty->y.high = 1;
        fr__panel_note(empty, (struct fr__chart_note){
                                  .text = "nothing fits", .x = 0.5, .y = 0.5, .points = 20});
        return;
    }
    p.columns = p.n_panels > 4 ? 3 : p.n_panels > 1 ? 2 : 1;
    p.rows = (p.n_panels + p.columns - 1) / p.columns;
    set_heading(&p, n_groups);
    for (size_t i = 0; i < m->n_groups && n < p.n_panels; i++)
        if (m->groups[i].n_frontier > 0)
            put_panel(&p, &m->groups[i], n++);
    c->panels[0].key = FR__KEY_BELOW;
    n = 0;
    for (size_t i = 0; i < m->n_groups && n < p.n_panels; i++) /* beside the key */
        if (m->groups[i].n_frontier > 0)
            put_names(&p, &m->groups[i], n++);
}

enum fr_status fr__draw_sweep(FILE *picture, const struct fr_sweep *s,
                              const struct fr_sweep_summary *m, const char *ending,
                              const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__chart *c = fr__chart_new();

    if (c)
        describe(c, s, m);
    return fr__chart_finish(c, FR_OK, picture, ending, ctx, err);
}
