/* results/pictures/fit_runs.c - finds the longest runs of rows that differ in one size alone.
 *
 * It is separate because pictures of kernels and of systems choose their slices so.
 */
#include "config.h"

#include "results/pictures/fit.h"

#include <string.h>

enum { MIN_POINTS = 5 };

/* Puts the run among the longest ones, longest first, of equals the first. */
static void keep(struct fr__fit_run best[], size_t n_best, const struct fr__fit_run *r)
{
    size_t at = n_best;

    if (r->n_distinct < MIN_POINTS)
        return;
    while (at > 0 && r->n_distinct > best[at - 1].n_distinct)
        at--;
    if (at == n_best)
        return;
    memmove(&best[at + 1], &best[at], (n_best - 1 - at) * sizeof(*best));
    best[at] = *r;
}

size_t fr__fit_longest(const struct fr__fit_place places[], size_t n, size_t n_best,
                       struct fr__fit_run best[])
{
    struct fr__fit_run r = {0, 0, 0};
    size_t n_points = 0;

    memset(best, 0, n_best * sizeof(*best));
    for (size_t k = 0; k < n; k++) {
        if (k > 0 && places[k].group != places[k - 1].group) {
            keep(best, n_best, &r);
            r = (struct fr__fit_run){k, 0, 0};
        }
        r.n_distinct += r.n == 0 || places[k].x > places[k - 1].x;
        r.n++;
    }
    keep(best, n_best, &r);
    for (size_t s = 0; s < n_best; s++)
        n_points += best[s].n_distinct;
    return n_points;
}
