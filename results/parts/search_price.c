/* results/parts/search_price.c - what a training run costs by a layout, and which layouts of
 * several clusters none beats in time, memory and price. */
#include "config.h"

#include "results/parts/search_price.h"

#include "base/error.h"
#include "base/units.h"
#include "results/parts/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* USD an hour of all GPUs; NAN: no price. */
static double usd_per_hour(const struct fr_search_results *r)
{
    const struct fr_search_summary *m = fr_search_summary(r->search);
    const struct fr_priced what = {m->topology, m->machines, m->gpu_types};

    return r->terms->prices.n && m->gpu_types ? fr_prices_usd_per_hour(&r->terms->prices, &what)
                                              : NAN;
}

double fr__search_run_samples(const struct fr_search_results *r)
{
    const struct fr_search_summary *m = fr_search_summary(r->search);

    if (r->terms->tokens > 0 && m->seq_len > 0)
        return r->terms->tokens / m->seq_len;
    return r->terms->samples > 0 ? r->terms->samples : 1e6;
}

bool fr__search_has_price(const struct fr_search_results *r)
{
    return !isnan(usd_per_hour(r));
}

const char *fr__search_price_title(const struct fr_search_results *r)
{
    return fr__search_has_price(r) ? "USD" : "GPU hours";
}

void fr__search_price_cell(char cell[FR__TABLE_CELL], double price)
{
    fr__fixed(price, price < 10 ? 2 : price < 100 ? 1 : 0, cell, FR__TABLE_CELL);
}

void fr__search_days_cell(char cell[FR__TABLE_CELL], const struct fr_search_results *r, double s)
{
    double run_s = fr__search_run_s(r, s);
    size_t used = strlen(fr__format_time(run_s, cell, FR__TABLE_CELL));

    if (r->terms->deadline_s > 0 && run_s > r->terms->deadline_s)
        snprintf(cell + used, FR__TABLE_CELL - used, ", late");
}

double fr__search_run_s(const struct fr_search_results *r, double s)
{
    return s / fr_search_summary(r->search)->global_batch * fr__search_run_samples(r);
}

double fr__search_price(const struct fr_search_results *r, double s)
{
    const struct fr_search_summary *m = fr_search_summary(r->search);
    double hours = fr__search_run_s(r, s) / 3600, usd = usd_per_hour(r);

    return hours * (isnan(usd) ? (double)m->n_gpus : usd);
}

static int by_time(const void *a, const void *b)
{
    const struct fr__search_point *x = a, *y = b;

    if (x->time_s != y->time_s)
        return x->time_s < y->time_s ? -1 : 1;
    if (x->search != y->search)
        return x->search < y->search ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* As good in all three, and better in one; of equals the first stays. */
static bool is_beaten(const struct fr__search_point p[], size_t n, size_t i)
{
    for (size_t k = 0; k < n; k++) {
        bool is_as_good =
            p[k].time_s <= p[i].time_s && p[k].bytes <= p[i].bytes && p[k].price <= p[i].price;
        bool is_better = p[k].time_s < p[i].time_s || p[k].bytes < p[i].bytes ||
                         p[k].price < p[i].price || k < i;

        if (k != i && is_as_good && is_better)
            return true;
    }
    return false;
}

enum fr_status fr__search_frontier(struct fr__search_point **out, size_t *n, size_t n_searches,
                                   const struct fr_search_results r[], struct fr_error *err)
{
    size_t n_points = 0, n_kept = 0;
    struct fr__search_point *all, *kept;

    for (size_t i = 0; i < n_searches; i++)
        n_points += fr_search_summary(r[i].search)->n_frontier;
    all = calloc(2 * n_points + 1, sizeof(*all));
    if (!all)
        return fr__fail_nomem(err);
    kept = all + n_points;
    n_points = 0;
    for (size_t i = 0; i < n_searches; i++) {
        const struct fr_search_summary *m = fr_search_summary(r[i].search);

        for (size_t k = 0; k < m->n_frontier; k++) {
            const struct fr_search_row *x = fr_search_row(r[i].search, m->frontier[k]);

            all[n_points++] =
                (struct fr__search_point){i, m->frontier[k], x->coarse_s, x->coarse_bytes,
                                          fr__search_price(&r[i], x->coarse_s)};
        }
    }
    if (n_points)
        qsort(all, n_points, sizeof(*all), by_time);
    for (size_t i = 0; i < n_points; i++)
        if (!is_beaten(all, n_points, i))
            kept[n_kept++] = all[i];
    for (size_t i = 0; i < n_kept; i++)
        all[i] = kept[i];
    *out = all;
    *n = n_kept;
    return FR_OK;
}
