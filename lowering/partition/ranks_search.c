/* lowering/partition/ranks_search.c - a descent, then a search depth first for cuts in which no
 * rank does more than a limit, with limits that fall. */
#include "config.h"

#include "lowering/partition/ranks_search.h"

#include "base/error.h"
#include "lowering/partition/balance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STAGES = 2000000, MOST_STEPS = 12 };
static const double BELOW = 1 - 1e-9; /* a limit is that far below what was reached */

struct search {
    const struct fr__chain *c;
    const struct fr__ranks_visitor *visitor;
    double *least_s;        /* [n + 1] prefix sums of items, each where it takes least */
    uint32_t *n_left;       /* [n_stages] of its rank's stages, it and those after it */
    double *load_s, *bytes; /* [n_ranks] of the stages so far */
    uint32_t *trial, *best; /* [n_stages + 1] */
    double *scratch;        /* [n_ranks] */
    double limit_s, best_s;
    double room_s;             /* of all ranks that have a stage left, below the limit */
    size_t n_stages, n_before; /* looked at; when this limit began */
    size_t most;               /* for this limit */
};

/* The first item j at which stage s, begun at i, takes more than s_most, or n + 1. */
static size_t reach(const struct search *x, size_t s, size_t i, double most_s)
{
    size_t low = i, high = x->c->n; /* fits up to low, and perhaps high */

    while (low < high) {
        size_t mid = low + (high - low + 1) / 2;

        if (fr__cut_passes_s(x->c, s, i, mid) <= most_s)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

static bool go_on(struct search *x, size_t s, size_t i);

/* Stage s of items i .. j - 1, and what comes after it. */
static bool go_to(struct search *x, size_t s, size_t i, size_t j)
{
    const struct fr__chain *c = x->c;
    size_t r = c->rank_of[s];
    double load_s = x->load_s[r], bytes = x->bytes[r], room_s = x->room_s;
    bool is_found = false;

    x->n_stages++;
    x->load_s[r] += fr__cut_passes_s(c, s, i, j);
    x->bytes[r] += fr__cut_held_bytes(c, s, i, j);
    x->room_s -= x->n_left[s] > 1 ? x->load_s[r] - load_s : x->limit_s - load_s;
    if (x->bytes[r] <= c->capacity_bytes[r] &&
        x->least_s[c->n] - x->least_s[j] <= x->room_s + 1e-12 * x->limit_s) {
        x->trial[s + 1] = (uint32_t)j;
        is_found = go_on(x, s + 1, j);
    }
    x->load_s[r] = load_s;
    x->bytes[r] = bytes;
    x->room_s = room_s;
    return is_found;
}

/* A cut of items i .. n - 1 into stages s .. below the limit: true, in the trial. The last stage of
 * a rank is tried as long as it can be and then shorter, others from an even share outwards. */
static bool go_on(struct search *x, size_t s, size_t i)
{
    const struct fr__chain *c = x->c;
    double left_s;
    size_t most, target, last;

    if (s == c->n_stages)
        return i == c->n && fr__cut_excess_bytes(c, x->trial, x->scratch) <= 0;
    left_s = x->limit_s - x->load_s[c->rank_of[s]];
    most = reach(x, s, i, left_s);
    last = c->n - (c->n_stages - 1 - s);
    most = most < last ? most : last;
    if (most <= i || (s + 1 == c->n_stages && most < c->n))
        return false;
    target = x->n_left[s] > 1 ? reach(x, s, i, left_s / x->n_left[s]) : most;
    target = target <= i ? i + 1 : target > most ? most : target;
    if (s + 1 == c->n_stages)
        return go_to(x, s, i, c->n);
    for (size_t by = 0; target + by <= most || target > i + by; by++) {
        if (x->n_stages - x->n_before >= x->most)
            return false;
        if (target + by <= most && go_to(x, s, i, target + by))
            return true;
        if (by > 0 && target > i + by && go_to(x, s, i, target - by))
            return true;
    }
    return false;
}

/* Whether there is a cut below the limit; it becomes the best. *is_proved: there is none. */
static bool is_below(struct search *x, double limit_s, size_t most, bool *is_proved)
{
    const struct fr__chain *c = x->c;

    memset(x->load_s, 0, c->n_ranks * sizeof(*x->load_s));
    memset(x->bytes, 0, c->n_ranks * sizeof(*x->bytes));
    for (size_t r = 0; c->more_bytes && r < c->n_ranks; r++)
        x->bytes[r] = c->more_bytes[r];
    x->limit_s = limit_s;
    x->room_s = 0;
    for (size_t s = 0; s < c->n_stages; s++)
        x->room_s += x->n_left[s] == 1 ? limit_s : 0; /* once a rank */
    x->trial[0] = 0;
    x->n_before = x->n_stages;
    x->most = most;
    *is_proved = false;
    if (!go_on(x, 0, 0)) {
        *is_proved = x->n_stages - x->n_before < most;
        return false;
    }
    x->best_s = fr__cut_most_s(c, x->trial, x->scratch);
    memcpy(x->best, x->trial, (c->n_stages + 1) * sizeof(*x->best));
    fr__ranks_show(x->visitor, x->best, x->best_s);
    return true;
}

/* No rank does less than an even share, nor than the longest item. */
static double floor_s(const struct search *x)
{
    const struct fr__chain *c = x->c;
    size_t n_used = 0;
    double most_s = 0;

    for (size_t s = 0; s < c->n_stages; s++)
        n_used += x->n_left[s] == 1;
    for (size_t i = 0; i < c->n; i++)
        most_s = fmax(most_s, x->least_s[i + 1] - x->least_s[i]);
    return fmax(most_s, x->least_s[c->n] / (double)n_used);
}

/* Limits half way to the floor, a fraction of the work for each; then just below the best. */
static void come_down(struct search *x, struct fr__ranks_cut *out)
{
    double low_s = floor_s(x);
    bool is_proved = false;

    for (int step = 0; step < MOST_STEPS && isinf(x->best_s); step++) /* nothing fits so far */
        (void)is_below(x, low_s * (1 + ldexp(1.0 / 64, step)), MOST_STAGES / MOST_STEPS,
                       &is_proved);
    for (int step = 0; step < MOST_STEPS && !isinf(x->best_s) && x->best_s * BELOW > low_s;
         step++) {
        double limit_s = low_s + (x->best_s - low_s) / 2;

        if (!is_below(x, limit_s, MOST_STAGES / MOST_STEPS, &is_proved)) {
            if (!is_proved)
                break;
            low_s = limit_s;
        }
    }
    while (!isinf(x->best_s) && x->best_s * BELOW > low_s && x->n_stages < MOST_STAGES)
        if (!is_below(x, x->best_s * BELOW, MOST_STAGES - x->n_stages, &is_proved))
            break;
    if (is_proved || x->best_s * BELOW <= low_s)
        low_s = x->best_s;
    *out = (struct fr__ranks_cut){x->best_s, fmin(low_s, x->best_s), low_s >= x->best_s};
}

/* As much for each stage. */
static void cut_evenly(const struct search *x, uint32_t first[])
{
    size_t n = x->c->n, k = x->c->n_stages;

    first[0] = 0;
    first[k] = (uint32_t)n;
    for (size_t s = 1, i = 0; s < k; s++) {
        double wanted_s = x->least_s[n] * (double)s / (double)k;

        for (i++; i < n - (k - s) && x->least_s[i] < wanted_s;)
            i++;
        first[s] = (uint32_t)i;
    }
}

static bool make_room(struct search *x)
{
    const struct fr__chain *c = x->c;

    x->least_s = calloc(c->n + 1, sizeof(*x->least_s));
    x->n_left = calloc(c->n_stages, sizeof(*x->n_left));
    x->load_s = calloc(c->n_ranks, sizeof(*x->load_s));
    x->bytes = calloc(c->n_ranks, sizeof(*x->bytes));
    x->scratch = calloc(c->n_ranks, sizeof(*x->scratch));
    x->trial = calloc(c->n_stages + 1, sizeof(*x->trial));
    if (!x->least_s || !x->n_left || !x->load_s || !x->bytes || !x->scratch || !x->trial)
        return false;
    for (size_t i = 0; i < c->n; i++) {
        double least_s = INFINITY;

        for (size_t s = 0; s < c->n_stages; s++)
            least_s = fmin(least_s, fr__cut_passes_s(c, s, i, i + 1));
        x->least_s[i + 1] = x->least_s[i] + fmax(least_s, 0);
    }
    for (size_t s = 0; s < c->n_stages; s++)
        for (size_t t = s; t < c->n_stages; t++)
            x->n_left[s] += c->rank_of[t] == c->rank_of[s];
    return true;
}

static enum fr_status look(struct search *x, struct fr__ranks_cut *out, struct fr_error *err)
{
    cut_evenly(x, x->best);
    FR_TRY(fr__cut_balance(x->c, x->best, err));
    x->best_s = INFINITY;
    if (fr__cut_excess_bytes(x->c, x->best, x->scratch) <= 0)
        x->best_s = fr__cut_most_s(x->c, x->best, x->scratch);
    if (!isinf(x->best_s))
        fr__ranks_show(x->visitor, x->best, x->best_s);
    come_down(x, out);
    return FR_OK;
}

enum fr_status fr__ranks_search(const struct fr__chain *c, const struct fr__ranks_visitor *visitor,
                                uint32_t first[], struct fr__ranks_cut *out, struct fr_error *err)
{
    struct search x = {.c = c, .visitor = visitor, .best = first};
    enum fr_status st = make_room(&x) ? look(&x, out, err) : fr__fail_nomem(err);

    free(x.least_s);
    free(x.n_left);
    free(x.load_s);
    free(x.bytes);
    free(x.scratch);
    free(x.trial);
    return st;
}
