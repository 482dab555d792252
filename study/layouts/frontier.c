/* study/layouts/frontier.c - the rows that an answer shows: the best by their time op by op, and
 * those that no other beats in both time and memory. */
#include "config.h"

#include "study/layouts/state.h"

#include "base/error.h"
#include "study/interval/missed_kind.h"
#include "study/interval/terms.h"

#include <math.h>
#include <stdlib.h>

struct ranked {
    double key;
    size_t row;
};

static int compare(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static enum fr_status rank_exact(struct fr_search *s, struct ranked scratch[], struct fr_error *err)
{
    size_t n = 0, *ranked;

    for (size_t i = 0; i < s->n_rows; i++)
        if (s->rows[i].fate == FR_LAYOUT_EXACT)
            scratch[n++] = (struct ranked){s->rows[i].exact_s, i};
    qsort(scratch, n, sizeof(*scratch), compare);
    ranked = fr__arena_alloc(s->arena, n + 1, sizeof(*ranked));
    if (!ranked)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        ranked[i] = scratch[i].row;
    s->summary.ranked = ranked;
    s->summary.n_ranked = n;
    /* fr__pair_error: two layouts of one model share their software */
    for (size_t i = 1; i < n && s->rows[ranked[0]].low_s > 0; i++)
        s->summary.n_like_best +=
            s->rows[ranked[i]].exact_s <= s->rows[ranked[0]].exact_s * exp(fr__pair_error());
    return FR_OK;
}

/* What published steps say against the fastest one. */
static enum fr_status error_share_best(struct fr_search *s, struct fr_error *err)
{
    const struct fr_search_layout *l;
    const struct fr__missed_kind *c;
    char text[400];

    if (s->summary.n_ranked == 0)
        return FR_OK;
    l = &s->rows[s->summary.ranked[0]].layout;
    c = l->zero >= 3 ? fr__missed_kind_of(l->dp * l->cp) : NULL;
    if (!c)
        return FR_OK;
    fr__missed_kind_say(c, text, sizeof(text));
    s->summary.contradicted = fr__arena_strdup(s->arena, text);
    return s->summary.contradicted ? FR_OK : fr__fail_nomem(err);
}

/* Of those with a time at the coarse fidelity: both figures come from it. */
static enum fr_status find_frontier(struct fr_search *s, double *time_s, double *bytes,
                                    struct fr_error *err)
{
    size_t *frontier = fr__arena_alloc(s->arena, s->n_rows + 1, sizeof(*frontier));

    if (!frontier)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < s->n_rows; i++) {
        const struct fr_search_row *r = &s->rows[i];
        bool fits = r->fate == FR_LAYOUT_EXACT ||
                    (r->fate == FR_LAYOUT_COARSE && r->coarse_bytes <= s->job.capacity_bytes);

        if (fits && (!(s->summary.best_coarse_s > 0) || r->coarse_s < s->summary.best_coarse_s))
            s->summary.best_coarse_s = r->coarse_s;
        time_s[i] = fits ? r->coarse_s : NAN;
        bytes[i] = fits ? r->coarse_bytes : NAN;
    }
    s->summary.n_frontier = fr_frontier(s->n_rows, time_s, bytes, frontier);
    s->summary.frontier = frontier;
    return FR_OK;
}

enum fr_status fr__search_rank(struct fr_search *s, struct fr_error *err)
{
    struct ranked *scratch = malloc((s->n_rows + 1) * sizeof(*scratch));
    double *values = malloc((2 * s->n_rows + 1) * sizeof(*values));
    enum fr_status st = FR_OK;

    if (!scratch || !values)
        st = fr__fail_nomem(err);
    if (st == FR_OK)
        st = rank_exact(s, scratch, err);
    if (st == FR_OK)
        st = error_share_best(s, err);
    if (st == FR_OK)
        st = find_frontier(s, values, values + s->n_rows, err);
    free(scratch);
    free(values);
    return st;
}
