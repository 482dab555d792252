/* sim/network/maxmin_level.c - finds the level where filling resumes, and sorts resources for it.
 *
 * A solve begins at the least level at which a changed resource can be full (see maxmin_fill.c). To
 * find that level, this file sorts the flows of resources and turns loose ones into ordered ones.
 */
#include "sim/network/maxmin_state.h"

#include <math.h>

/* ---- lists ---- */

/* Sorts the entries from n_sorted on: by insertion, at growing distances when there are many
 * (D. L. Shell, Communications of the ACM 2(7), 1959). The lists are nearly sorted. */
void fr__maxmin_sort(struct fr__maxmin *m, struct fr__resource *q)
{
    struct fr__entry *x = q->entries + q->n_sorted;
    uint32_t n = q->n - q->n_sorted, gap = 1, first = 1;
    double last, key;

    if (n < 2)
        return;
    last = fr__maxmin_rate_of(m, x[0]);
    for (; first < n && (key = fr__maxmin_rate_of(m, x[first])) >= last; first++)
        last = key;
    if (first >= n)
        return;
    while (n > 64 && gap < n / 3)
        gap = 3 * gap + 1;
    for (; gap; gap /= 3, first = 0)
        for (uint32_t i = gap > first ? gap : first; i < n; i++) {
            struct fr__entry e = x[i];
            uint32_t j = i;

            key = fr__maxmin_rate_of(m, e);
            for (; j >= gap && fr__maxmin_rate_of(m, x[j - gap]) > key; j -= gap)
                x[j] = x[j - gap];
            x[j] = e;
        }
    for (uint32_t i = 0; i < n; i++)
        fr__maxmin_hops(m, x[i].slot)[x[i].hop].pos = q->n_sorted + i;
}

double fr__maxmin_sum_weights(const struct fr__maxmin *m, const struct fr__resource *q, uint32_t i)
{
    double sum = 0;

    for (; i < q->n; i++)
        sum += fr__maxmin_weight_of(m, q->entries[i]);
    return sum;
}

/* Sums up a loose resource whose flows are not free to grow. */
void fr__maxmin_sum_up(const struct fr__maxmin *m, struct fr__resource *q)
{
    q->next = 0;
    q->left_Bps = q->capacity_Bps;
    for (uint32_t k = 0; k < q->n; k++)
        if (fr__maxmin_rate_of(m, q->entries[k]) < INFINITY)
            q->left_Bps -=
                fr__maxmin_weight_of(m, q->entries[k]) * fr__maxmin_rate_of(m, q->entries[k]);
}

/* Makes a loose resource an ordered one, as it was when filling reached below_Bps. */
void fr__maxmin_put_in_order(struct fr__maxmin *m, struct fr__resource *q, double below_Bps)
{
    double left_Bps = q->capacity_Bps;
    uint32_t k = 0;

    fr__maxmin_sort(m, q);
    for (; k < q->n; k++) {
        double rate_Bps = fr__maxmin_rate_of(m, q->entries[k]);

        q->left_before_Bps[k] = left_Bps;
        if (rate_Bps >= below_Bps)
            break;
        left_Bps -= fr__maxmin_weight_of(m, q->entries[k]) * rate_Bps;
    }
    q->n_sorted = k;
    q->left_Bps = left_Bps;
    q->is_ordered = true;
}

/* ---- where to resume ---- */

/* The level at which an ordered resource with new flows is full, given the old ones. */
static double full_level(const struct fr__maxmin *m, const struct fr__resource *q)
{
    double left_Bps = q->left_Bps;
    uint32_t i = q->n_sorted;
    double open = fr__maxmin_weights_from(m, q, i);

    while (i && left_Bps <= fr__maxmin_rate_of(m, q->entries[i - 1]) * open) {
        left_Bps = q->left_before_Bps[--i];
        open += fr__maxmin_weight_of(m, q->entries[i]);
    }
    return left_Bps / open;
}

/* The least level at which an ordered resource changes; *least: of the loose ones, the one with the
 * least share, NULL when there is none. */
static double first_ordered_level(struct fr__maxmin *m, struct fr__resource **least)
{
    double level_Bps = m->level_Bps, least_Bps = INFINITY;

    *least = NULL;
    for (uint32_t i = 0; i < m->n_changed; i++) {
        struct fr__resource *q = &m->resources[m->changed[i]];

        if (q->is_ordered) {
            double full_Bps = q->n > q->n_sorted ? full_level(m, q) : (double)INFINITY;

            level_Bps = full_Bps < level_Bps ? full_Bps : level_Bps;
        } else if (q->n_open) {
            fr__maxmin_sum_up_if_rough(m, q);
            if (fr__maxmin_loose_left(q) < least_Bps * fr__maxmin_open(m, q)) {
                least_Bps = fr__maxmin_loose_share(m, q);
                *least = q;
            }
        }
    }
    return level_Bps;
}

/* A loose resource that may be full before any other is put in order; the one with the least share
 * first, since then there may be no need for the others. */
double fr__maxmin_first_level(struct fr__maxmin *m)
{
    struct fr__resource *q;
    double level_Bps = first_ordered_level(m, &q);

    for (uint32_t i = 0; q; q = &m->resources[m->changed[i++]]) {
        if (!q->is_ordered && q->n_open &&
            fr__maxmin_loose_left(q) < level_Bps * fr__maxmin_open(m, q)) {
            double full_Bps;

            fr__maxmin_put_in_order(m, q, INFINITY);
            full_Bps = full_level(m, q);
            level_Bps = full_Bps < level_Bps ? full_Bps : level_Bps;
        }
        if (i == m->n_changed)
            break;
    }
    return level_Bps > 0 ? level_Bps * (1 - FR__TIE) : 0;
}
