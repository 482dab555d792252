/* lowering/pipeline/stages_cut.c - the best contiguous cut of a chain. */
#include "config.h"

#include "lowering/pipeline/stages.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

/* best[p][j]: the least largest weight of a part when the first j items make p parts; from[p][j]:
 * where the last of them begins. */
struct table {
    const struct fr__cut_problem *p;
    bool by_excess; /* weigh parts by bytes over their capacity, not by time */
    double *best;
    uint32_t *from;
};

static inline double excess_bytes(const struct fr__cut_problem *p, size_t part, size_t i, size_t j)
{
    return p->fixed_bytes[j] - p->fixed_bytes[i] +
           p->in_flight[part] * (p->live_bytes[j] - p->live_bytes[i]) - p->capacity_bytes[part];
}

/* Of part `part` made of items i .. j-1; never rises with i. */
static inline double weight(const struct table *t, size_t part, size_t i, size_t j)
{
    double over_bytes = excess_bytes(t->p, part, i, j);

    if (t->by_excess)
        return over_bytes;
    return over_bytes > 0 ? INFINITY : t->p->sum_s[part][j] - t->p->sum_s[part][i];
}

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/* best[p][j] for p >= 2: best[p - 1][i] never falls with i, the last part's weight never rises, so
 * their maximum is least where they cross, or one before. at: not beyond that. Returns it. */
static size_t fill_cell(struct table *t, size_t p, size_t j, size_t at)
{
    size_t width = t->p->n + 1, low = at;
    const double *before = t->best + (p - 1) * width;
    double value;

    while (low < j - 1 && !(before[low] >= weight(t, p - 1, low, j)))
        low++;
    at = low;
    value = larger(before[low], weight(t, p - 1, low, j));
    if (low > p - 1) {
        double left = larger(before[low - 1], weight(t, p - 1, low - 1, j));

        if (left < value) {
            value = left;
            low--;
        }
    }
    t->best[p * width + j] = value;
    t->from[p * width + j] = (uint32_t)low;
    return at;
}

/* A part's weight never falls with its end, so the crossing never moves back.
 * Cost: O(n_parts n). */
static double solve(struct table *t, uint32_t first[])
{
    size_t n = t->p->n, width = n + 1, n_parts = t->p->n_parts;

    for (size_t j = 1; j <= n; j++) {
        t->best[width + j] = weight(t, 0, 0, j);
        t->from[width + j] = 0;
    }
    for (size_t p = 2; p <= n_parts; p++) {
        size_t at = p - 1;

        for (size_t j = p < n_parts ? p : n; j <= n; j++)
            at = fill_cell(t, p, j, at);
    }
    first[n_parts] = (uint32_t)n;
    for (size_t p = n_parts; p > 0; p--)
        first[p - 1] = t->from[p * width + first[p]];
    return t->best[n_parts * width + n];
}

enum fr_status fr__cut_chain(const struct fr__cut_problem *p, uint32_t first[], bool *fits,
                             struct fr_error *err)
{
    struct table t = {.p = p};
    size_t n_cells = (p->n_parts + 1) * (p->n + 1);

    t.best = malloc(n_cells * sizeof(*t.best));
    t.from = malloc(n_cells * sizeof(*t.from));
    if (!t.best || !t.from) {
        free(t.best);
        free(t.from);
        return fr__fail_nomem(err);
    }
    *fits = solve(&t, first) < INFINITY;
    if (!*fits) {
        t.by_excess = true;
        solve(&t, first);
    }
    free(t.best);
    free(t.from);
    return FR_OK;
}
