/* results/pictures/search_clusters.c - searches on several clusters: the time of an iteration
 * against the price of the run, a colour a cluster; rings around what no layout of any cluster
 * beats in time, memory and price. */
#include "config.h"

#include "results/pictures/pictures.h"

#include "base/error.h"
#include "results/parts/colours.h"
#include "results/parts/palette.h"
#include "results/parts/search_price.h"

#include <math.h>
#include <stdlib.h>

/* The smallest and largest of what an axis shows, so that both ends have room. */
static void widen(struct fr__chart_axis *axis, double x)
{
    axis->low = axis->low > 0 ? fmin(axis->low, x / 1.15) : x / 1.15;
    axis->high = fmax(axis->high, x * 1.15);
}

static void put_cluster(struct fr__panel *p, const struct fr_search_results *r, const char *colour)
{
    const struct fr_search_summary *m = fr_search_summary(r->search);
    struct fr__chart_series *s = fr__panel_series(
        p, (struct fr__chart_style){
               .mark = FR__LINE_POINTS,
               .colour = colour,
               .title = fr__chart_text(p->chart, "%zu GPUs of %s", m->n_gpus, m->topology)});

    for (size_t k = 0; k < m->n_frontier; k++) {
        double time_s = fr_search_row(r->search, m->frontier[k])->coarse_s;
        double price = fr__search_price(r, time_s);

        widen(&p->x, time_s);
        widen(&p->y, price);
        fr__series_point(s, time_s, price);
    }
}

static void describe(struct fr__chart *c, size_t n, const struct fr_search_results r[],
                     const struct fr__search_point points[], size_t n_points)
{
    struct fr__panel *p = fr__chart_panel(c, 0.08, 0.98, 0.1, 0.88);
    struct fr__chart_series *rings;

    c->title = fr__chart_text(c, "%s, global batch %u", fr_search_summary(r[0].search)->workload,
                              fr_search_summary(r[0].search)->global_batch);
    p->x = (struct fr__chart_axis){.log = 10, .has_grid = true, .label = "time of an iteration, s"};
    p->y = (struct fr__chart_axis){
        .log = 10,
        .has_grid = true,
        .label = fr__chart_text(c, "%s for the run", fr__search_price_title(&r[0]))};
    p->key = FR__KEY_BELOW;
    for (size_t i = 0; i < n; i++)
        put_cluster(p, &r[i], fr__palette(i % FR__PALETTE));
    rings =
        fr__panel_series(p, (struct fr__chart_style){.mark = FR__POINTS,
                                                     .colour = FR__COLOUR_TEXT,
                                                     .shape = FR__CIRCLE,
                                                     .size = 1.6,
                                                     .title = "frontier of time, memory, price"});
    for (size_t i = 0; i < n_points; i++)
        fr__series_point(rings, points[i].time_s, points[i].price);
}

enum fr_status fr__chart_clusters(struct fr__chart *c, const struct fr_search_answer *a,
                                  struct fr_error *err)
{
    struct fr__search_point *points;
    size_t n_points;

    FR_TRY(fr__search_frontier(&points, &n_points, a->n, a->results, err));
    if (n_points > 0)
        describe(c, a->n, a->results, points, n_points);
    free(points);
    if (n_points == 0)
        return fr__fail(err, FR_EIO, FR_NOWHERE, "no layout fits, so there is nothing to draw");
    return FR_OK;
}
