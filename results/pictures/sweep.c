/* results/pictures/sweep.c - a sweep: time against cost, a panel a workload, the frontier named.
 *
 * It is separate from the points (charts/cost.c), which pages show, too.
 */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/charts/cost.h"
#include "results/parts/colours.h"
#include "results/parts/sweep_names.h"
#include "results/pictures/pictures.h"
#include "study/sweep/state.h"

#include <math.h>
#include <string.h>

enum { MAX_PANELS = 9, MAX_SHAPES = FR__N_SHAPES - 1, MAX_NAMED = 24 };

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
    struct fr__cost costs[MAX_PANELS]; /* [n_panels] */
    size_t n_panels, columns, rows;
    struct place places[MAX_PLACES];
    size_t n_places;
};

/* ---- one panel ---- */

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
static void put_name(struct picture *p, const struct fr__cost *c, size_t point, bool is_cheapest)
{
    struct fr_sweep_value v = fr_sweep_value(p->sweep->rows[point], &p->summary->terms);
    double x = c->factor * v.time_s;
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

static void put_deadline(const struct picture *p, const struct fr__cost *c)
{
    double at = c->factor * p->summary->terms.deadline_s;
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

/* panel: its number, from 0. Its axes leave room for names below and left of the points. */
static void put_panel(struct picture *p, size_t group, size_t panel)
{
    double wide = (RIGHT - LEFT + ACROSS) / (double)p->columns - ACROSS;
    double high = (TOP - BOTTOM + DOWN) / (double)p->rows - DOWN;
    double left = LEFT + (wide + ACROSS) * (double)(panel % p->columns);
    double top = TOP - (high + DOWN) * (double)(panel / p->columns);
    struct fr__cost *c = &p->costs[panel];
    char name[200];

    *c = (struct fr__cost){.sweep = p->sweep, .summary = p->summary};
    p->panel = fr__chart_panel(p->chart, left, left + wide, top - high, top);
    fr__sweep_group_text(&p->summary->groups[group], name, sizeof(name));
    p->panel->title = fr__chart_text(p->chart, "%s", name);
    p->panel->title_points = p->n_panels > 2 ? 12 : 15;
    fr__cost_begin(c, group, p->panel);
    fr__cost_widen(&p->panel->x, p->columns > 2 ? 5 : p->columns > 1 ? 4.5 : 3);
    fr__cost_widen(&p->panel->y, p->rows > 2 ? 2 : 1);
    put_deadline(p, c);
    fr__cost_put(c, p->panel, SIZE_MAX, p->n_panels > 2 ? 0.7 : 1.1, "frontier");
    if (panel == 0 && c->n_settings > 0)
        put_key_of(p, c->settings[0], FR__PALETTE, true);
    if (panel == 0 && fr__cost_has_shapes(c))
        put_key_of(p, c->settings[1], MAX_SHAPES, false);
}

static void put_names(struct picture *p, size_t panel)
{
    const struct fr__cost *c = &p->costs[panel];
    const struct fr_sweep_group *g = &p->summary->groups[c->group];

    p->panel = &p->chart->panels[panel];
    p->n_places = 0;
    for (size_t i = 0; i < g->n_frontier; i++)
        put_name(p, c, g->frontier[i], i + 1 == g->n_frontier);
}

/* ---- the picture ---- */

/* What all points share, which tells this picture from that of another sweep; what the colours and
 * shapes are, and how many workloads are left out. */
static void set_heading(struct picture *p, size_t n_groups)
{
    const struct fr__cost *c = &p->costs[0];
    char text[300];
    const char *left_out = "", *colour = "", *shape = "";

    fr__sweep_fixed_text(p->sweep, text, sizeof(text));
    if (text[0])
        p->chart->title = fr__chart_text(p->chart, "%s", text);
    if (n_groups > p->n_panels)
        left_out = fr__chart_text(p->chart, "the first %zu of %zu workloads that fit%s",
                                  p->n_panels, n_groups, c->n_settings > 0 ? "; " : "");
    if (c->n_settings > 0)
        colour = fr__chart_text(p->chart, "colour: %s", fr__sweep_setting_title(c->settings[0]));
    if (fr__cost_has_shapes(c))
        shape = fr__chart_text(p->chart, "; shape: %s", fr__sweep_setting_title(c->settings[1]));
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
    for (size_t i = 0; i < m->n_groups && n < p.n_panels; i++)
        if (m->groups[i].n_frontier > 0)
            put_panel(&p, i, n++);
    set_heading(&p, n_groups);
    c->panels[0].key = FR__KEY_BELOW;
    for (size_t i = 0; i < p.n_panels; i++) /* beside the key */
        put_names(&p, i);
}

enum fr_status fr__chart_of_sweep(struct fr__chart *c, const void *what, struct fr_error *err)
{
    const struct fr_sweep_answer *a = what;

    (void)err;
    describe(c, a->sweep, a->summary);
    return FR_OK;
}
