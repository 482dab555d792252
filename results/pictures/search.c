/* results/pictures/search.c - the layouts of a search: time against memory, and the frontier
 * that no layout beats in both. With one cluster the price is in proportion to the time: a
 * second axis shows it. */
#include "config.h"

#include "results/pictures/pictures.h"

#include "base/error.h"
#include "results/parts/colours.h"
#include "results/parts/palette.h"

#include <math.h>

enum { MOST_NAMED = 8, N_COLOURS = FR__PALETTE - 1 };

static const double GIB = 1024.0 * 1024 * 1024;

struct picture {
    struct fr__panel *panel;
    const struct fr_search_results *r;
    const struct fr_search_summary *m;
    double top_bytes; /* of its axis */
};

static bool is_shown(const struct fr_search_row *x)
{
    return (x->fate == FR_LAYOUT_COARSE || x->fate == FR_LAYOUT_EXACT) && x->coarse_s > 0;
}

/* tp = 2^k has colour k. */
static unsigned colour_of(const struct fr_search_row *x)
{
    unsigned k = 0;

    for (uint32_t t = x->layout.tp; t > 1 && k + 1 < N_COLOURS; t /= 2)
        k++;
    return k;
}

/* A series for each colour, then the frontier. */
static void put_points(const struct picture *p)
{
    struct fr__chart_series *s[N_COLOURS], *frontier;
    const struct fr_search_row *x;

    for (unsigned k = 0; k < N_COLOURS; k++)
        s[k] = fr__panel_series(
            p->panel, (struct fr__chart_style){
                          .mark = FR__POINTS,
                          .colour = fr__palette(k),
                          .title = fr__chart_text(p->panel->chart, "tp %u%s", 1u << k,
                                                  k + 1 == N_COLOURS ? " and more" : "")});
    for (size_t i = 0; (x = fr_search_row(p->r->search, i)); i++)
        if (is_shown(x))
            fr__series_point(s[colour_of(x)], x->coarse_s, x->coarse_bytes / GIB);
    frontier = fr__panel_series(p->panel, (struct fr__chart_style){.mark = FR__LINE_POINTS,
                                                                   .colour = FR__COLOUR_TEXT,
                                                                   .shape = FR__CIRCLE,
                                                                   .title = "frontier"});
    for (size_t i = 0; i < p->m->n_frontier; i++) {
        x = fr_search_row(p->r->search, p->m->frontier[i]);
        fr__series_point(frontier, x->coarse_s, x->coarse_bytes / GIB);
    }
}

/* Names of the frontier, below and left of their points, where no layout can be: it would be faster
 * and smaller. One that would stand on the one before it is left out. */
static void put_names(const struct picture *p, double low, double high)
{
    size_t n = p->m->n_frontier, step = n / MOST_NAMED + 1;
    double last_s = -INFINITY, last_bytes = INFINITY;

    for (size_t i = 0; i < n; i += step) {
        const struct fr_search_row *x = fr_search_row(p->r->search, p->m->frontier[i]);
        const struct fr_search_layout *l = &x->layout;

        if (x->coarse_s - last_s < 0.12 * (high - low) &&
            last_bytes - x->coarse_bytes < 0.03 * p->top_bytes)
            continue;
        last_s = x->coarse_s;
        last_bytes = x->coarse_bytes;
        fr__panel_note(p->panel,
                       (struct fr__chart_note){
                           .text = fr__chart_text(p->panel->chart, "tp%u pp%u dp%u micro %u", l->tp,
                                                  l->pp, l->dp, l->micro),
                           .x = x->coarse_s,
                           .y = x->coarse_bytes / GIB,
                           .right = -0.8,
                           .up = -0.5,
                           .align = FR__UP_TO,
                           .points = 9});
    }
}

/* From the best time to twice as long, or to the end of the frontier. */
static void find_range(const struct picture *p, double *low, double *high)
{
    const struct fr_search_row *x;
    double longest = 0;

    *low = fr_search_row(p->r->search, p->m->frontier[0])->coarse_s;
    *high = fr_search_row(p->r->search, p->m->frontier[p->m->n_frontier - 1])->coarse_s;
    for (size_t i = 0; (x = fr_search_row(p->r->search, i)); i++)
        if (is_shown(x) && x->coarse_s < 2 * *low)
            longest = fmax(longest, x->coarse_s);
    *high = fmax(*high, longest);
    *high += 0.05 * (*high > *low ? *high - *low : *low);
    *low -= 0.14 * (*high - *low); /* for names */
}

/* The price of a million samples, along the top, at steps of 1, 2 or 5 times a power of ten. */
static void put_price(const struct picture *p, double low, double high)
{
    const struct fr_priced what = {p->m->topology, p->m->machines, p->m->gpu_types};
    double usd = p->r->terms->prices.n && p->m->gpu_types
                     ? fr_prices_usd_per_hour(&p->r->terms->prices, &what)
                     : NAN;
    double per_s = (isnan(usd) ? (double)p->m->n_gpus : usd) / 3600 * 1e6 / p->m->global_batch;
    double step = fr__chart_step(per_s * (high - low) / 8);
    struct fr__chart_axis *top = &p->panel->top_axis;

    *top = (struct fr__chart_axis){.low = low,
                                   .high = high,
                                   .label = isnan(usd) ? "GPU hours for a million samples"
                                                       : "USD for a million samples"};
    for (double i = ceil(low * per_s / step); i * step <= high * per_s; i++)
        fr__axis_tick(p->panel, top, i * step / per_s,
                      fr__chart_text(p->panel->chart, "%.6g", i * step));
}

/* All layouts, and the memory of a GPU where they fill half of it. */
static double find_top(const struct picture *p)
{
    double most = 0;
    const struct fr_search_row *x;

    for (size_t i = 0; (x = fr_search_row(p->r->search, i)); i++)
        if (is_shown(x))
            most = fmax(most, x->coarse_bytes);
    return most > p->m->capacity_bytes / 2 ? 1.05 * p->m->capacity_bytes : 1.15 * most;
}

static void describe(struct fr__chart *c, struct picture *p)
{
    double low, high;

    p->panel = fr__chart_panel(c, 0.06, 0.98, 0.1, 0.82);
    p->top_bytes = find_top(p);
    find_range(p, &low, &high);
    c->title = fr__chart_text(c, "%s on %zu GPUs of %s, global batch %u", p->m->workload,
                              p->m->n_gpus, p->m->topology, p->m->global_batch);
    p->panel->x = (struct fr__chart_axis){
        .low = low, .high = high, .has_grid = true, .label = "time of an iteration, s"};
    p->panel->y = (struct fr__chart_axis){
        .high = p->top_bytes / GIB, .has_grid = true, .label = "memory of the fullest GPU, GiB"};
    p->panel->key = FR__KEY_BELOW;
    put_price(p, low, high);
    put_points(p);
    put_names(p, low, high);
    if (p->m->capacity_bytes < p->top_bytes) {
        fr__panel_limit(p->panel, p->m->capacity_bytes / GIB, false);
        fr__panel_note(
            p->panel, (struct fr__chart_note){.text = fr__chart_text(c, "memory of a GPU, %.0f GiB",
                                                                     p->m->capacity_bytes / GIB),
                                              .x = 0.995,
                                              .x_by = FR__BY_PANEL,
                                              .y = p->m->capacity_bytes / GIB,
                                              .up = 0.6,
                                              .align = FR__UP_TO,
                                              .points = 11,
                                              .colour = FR__COLOUR_LIMIT});
    }
}

enum fr_status fr__chart_of_search(struct fr__chart *c, const void *what, struct fr_error *err)
{
    const struct fr_search_answer *a = what;
    struct picture p = {.r = a->results, .m = fr_search_summary(a->results->search)};

    if (a->n > 0)
        return fr__chart_clusters(c, a, err);
    if (p.m->n_frontier == 0)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "no layout fits, so there is nothing to draw");
    describe(c, &p);
    return FR_OK;
}
