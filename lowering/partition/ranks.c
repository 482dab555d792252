/* lowering/partition/ranks.c - equal items are dealt to ranks, for every choice of borders among
 * the items that are not equal. */
#include "config.h"

#include "lowering/partition/ranks.h"

#include "base/error.h"
#include "lowering/partition/ranks_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OTHERS = 12 };                 /* that borders may stand among: 2^12 choices */
enum { MOST_DEALS = 20000000 };            /* looks at a rank over all choices */
enum { MOST_TIMES = 3 };                   /* a choice of borders is dealt; a choice of ours */
static const double SAME = 1e-9;           /* relative: equal but for rounding */
static const double LESS = 1e-9;           /* relative: what is no less than that is not less */
static const double OF_ALL = 1e-13;        /* of a prefix sum, which is rounded as a whole */
static const double SAME_BYTES = 1.0 / 64; /* bytes are whole numbers */

struct dealing {
    const struct fr__chain *c;
    size_t low, high;         /* the run: items low .. high - 1 */
    size_t begin, end;        /* stages begin .. end - 1 have items of it */
    uint32_t *trial, *best;   /* [n_stages + 1] */
    size_t *count;            /* [n_stages] items of the run that a stage has */
    size_t *n_of, *most_of;   /* [n_ranks] so of a rank, and what it has room for */
    size_t *lean;             /* [n_ranks] its stage where an item holds least; SIZE_MAX: none */
    double *load_s, *scratch; /* [n_ranks] */
    double *over_bytes;       /* [n_ranks] held beyond the capacity */
    double *missed;           /* [n_ranks] held at another moment beyond that */
    double most_over; /* that a rank may hold beyond its capacity: 0, or what the fullest does */
    bool by_bytes;    /* the fullest rank is made least full, whatever takes how long */
    double best_cost; /* seconds, or bytes over */
    const struct fr__ranks_visitor *visitor;
};

/* ---- the run ---- */

static bool is_same_time(const double sum_s[], size_t a, size_t b, size_t n)
{
    double a_s = sum_s[a + 1] - sum_s[a], b_s = sum_s[b + 1] - sum_s[b];

    return fabs(a_s - b_s) <= SAME * fmax(a_s, b_s) + OF_ALL * sum_s[n];
}

static bool is_same_size(const double sum_bytes[], size_t a, size_t b)
{
    return fabs(sum_bytes[a + 1] - sum_bytes[a] - (sum_bytes[b + 1] - sum_bytes[b])) <= SAME_BYTES;
}

static bool is_same(const struct fr__chain *c, size_t a, size_t b)
{
    for (size_t s = 0; s < c->n_stages; s++) {
        if (s > 0 && c->forward_s[s] == c->forward_s[s - 1] &&
            c->backward_s[s] == c->backward_s[s - 1])
            continue; /* the same rows */
        if (!is_same_time(c->forward_s[s], a, b, c->n) ||
            !is_same_time(c->backward_s[s], a, b, c->n))
            return false;
    }
    return is_same_size(c->fixed_bytes, a, b) && is_same_size(c->live_bytes, a, b);
}

static void find_run(struct dealing *x)
{
    for (size_t i = 0, j; i < x->c->n; i = j) {
        for (j = i + 1; j < x->c->n && is_same(x->c, i, j);)
            j++;
        if (j - i > x->high - x->low) {
            x->low = i;
            x->high = j;
        }
    }
}

/* Seconds and bytes that an item of the run takes in a stage. */
static double item_s(const struct dealing *x, size_t s)
{
    return fr__cut_passes_s(x->c, s, x->low, x->low + 1);
}

static double item_bytes(const struct dealing *x, size_t s)
{
    const struct fr__chain *c = x->c;

    return c->fixed_bytes[x->low + 1] - c->fixed_bytes[x->low] +
           c->in_flight[s] * (c->live_bytes[x->low + 1] - c->live_bytes[x->low]);
}

/* ---- one choice of borders among the other items ---- */

/* Fills the trial with the borders of a choice, a bit each: items 1 .. low, then high .. n - 1.
 * false: more borders than there are, or a stage of the run would be empty. */
static bool set_borders(struct dealing *x, uint32_t choice)
{
    size_t n = x->c->n, k = x->c->n_stages, n_before = 0, n_after = 0;

    x->trial[0] = 0;
    for (size_t i = 1; i <= x->low; i++)
        if (choice >> (i - 1) & 1 && n_before < k)
            x->trial[++n_before] = (uint32_t)i;
    x->trial[k] = (uint32_t)n;
    for (size_t i = n; i-- > x->high;)
        if (choice >> (x->low + i - x->high) & 1 && n_before + n_after < k)
            x->trial[k - ++n_after] = (uint32_t)i;
    if (n_before + n_after > k - 1 || k - n_before - n_after > x->high - x->low)
        return false;
    x->begin = n_before;
    x->end = k - n_after;
    return true;
}

/* Borders within the run, from the counts. */
static void set_borders_within(struct dealing *x)
{
    size_t at = x->low;

    for (size_t s = x->begin; s + 1 < x->end; s++)
        x->trial[s + 1] = (uint32_t)(at += x->count[s]);
}

/* Every stage of the run has one item of it: what ranks then have to do and hold. A stage is put
 * where its border to the other items is, since equal items are alike. */
static void deal_first(struct dealing *x)
{
    const struct fr__chain *c = x->c;

    for (size_t r = 0; r < c->n_ranks; r++) {
        x->n_of[r] = 0;
        x->lean[r] = SIZE_MAX;
        x->load_s[r] = x->scratch[r] = 0;
        x->over_bytes[r] =
            x->missed[r] + (c->more_bytes ? c->more_bytes[r] : 0) - c->capacity_bytes[r];
    }
    for (size_t s = 0; s < c->n_stages; s++) {
        size_t r = c->rank_of[s], i = x->trial[s], j = x->trial[s + 1];
        bool is_of_run = s >= x->begin && s < x->end;

        if (is_of_run) {
            i = s == x->begin ? i : x->low;
            j = s + 1 == x->end ? j : (s == x->begin ? x->low : i) + 1;
            if (s + 1 == x->end && s > x->begin)
                i = x->high - 1;
            if (x->lean[r] == SIZE_MAX || item_bytes(x, s) < item_bytes(x, x->lean[r]))
                x->lean[r] = s;
            x->n_of[r]++;
        }
        x->count[s] = is_of_run;
        x->load_s[r] += fr__cut_passes_s(c, s, i, j);
        x->over_bytes[r] += fr__cut_held_bytes(c, s, i, j);
        x->scratch[r] = fmax(x->scratch[r], fr__cut_burst_bytes(c, i, j));
    }
    for (size_t r = 0; r < c->n_ranks; r++)
        x->over_bytes[r] += x->scratch[r];
}

/* How many items of the run each rank has room for. */
static void find_room(struct dealing *x)
{
    size_t n = x->high - x->low;

    for (size_t r = 0; r < x->c->n_ranks; r++) {
        double more = (double)n, bytes = x->lean[r] == SIZE_MAX ? 0 : item_bytes(x, x->lean[r]);

        if (x->lean[r] == SIZE_MAX || (!x->by_bytes && x->over_bytes[r] > 0))
            more = 0;
        else if (!x->by_bytes && bytes > 0)
            more = fmin(more, floor(-x->over_bytes[r] / bytes));
        x->most_of[r] = x->n_of[r] + (size_t)more;
    }
}

/* What is made least: of a rank with another item. */
static double cost_with_one(const struct dealing *x, size_t r)
{
    return x->by_bytes ? x->over_bytes[r] + item_bytes(x, x->lean[r])
                       : x->load_s[r] + item_s(x, x->lean[r]);
}

/* An item from one stage of a rank to another, if there is room for it. */
static bool move_item(struct dealing *x, size_t r, size_t from, size_t to)
{
    double more_bytes = item_bytes(x, to) - item_bytes(x, from);

    if (x->over_bytes[r] + more_bytes > x->most_over)
        return false;
    x->over_bytes[r] += more_bytes;
    x->count[to]++;
    x->count[from]--;
    return true;
}

/* Where a rank's items do not come out even over its stages: which of them have one more. */
enum way { WAY_ENDS, WAY_LATE, WAY_EARLY, N_WAYS };

static bool is_of(const struct dealing *x, size_t s, size_t r)
{
    return s >= x->begin && s < x->end && x->c->rank_of[s] == r;
}

/* The stage of the rank with fewest items, SIZE_MAX: none has two fewer than its leanest. */
static size_t emptiest(const struct dealing *x, size_t r, enum way way)
{
    size_t to = SIZE_MAX, lean = x->lean[r];

    for (size_t s = x->begin; s < x->end; s++)
        if (is_of(x, s, r) && x->count[s] + 1 < x->count[lean] &&
            (to == SIZE_MAX || x->count[s] < x->count[to] ||
             (x->count[s] == x->count[to] && way == WAY_LATE)))
            to = s;
    return to;
}

/* Each rank's items are in its leanest stage first; then, as long as they fit, they go from there
 * to where fewer are. */
static void spread(struct dealing *x, size_t r, enum way way)
{
    size_t lean = x->lean[r], to;

    while (lean != SIZE_MAX && (to = emptiest(x, r, way)) != SIZE_MAX && move_item(x, r, lean, to))
        continue;
    for (size_t s = x->begin; way == WAY_EARLY && s < x->end; s++)
        for (size_t t = s + 1; is_of(x, s, r) && t < x->end; t++)
            if (is_of(x, t, r) && x->count[t] == x->count[s] + 1 && move_item(x, r, t, s))
                break;
}

/* Deals the others one by one. false: there is no room for all. */
static bool deal(struct dealing *x, enum way way)
{
    size_t left = x->high - x->low - (x->end - x->begin);

    deal_first(x);
    if (x->end - x->begin == 1) { /* one stage has all of it, as deal_first counts it */
        x->count[x->begin] += left;
        return x->by_bytes || x->over_bytes[x->c->rank_of[x->begin]] <= 0;
    }
    find_room(x);
    for (; left > 0; left--) {
        size_t to = SIZE_MAX;

        for (size_t r = 0; r < x->c->n_ranks; r++)
            if (x->n_of[r] < x->most_of[r] &&
                (to == SIZE_MAX || cost_with_one(x, r) < cost_with_one(x, to)))
                to = r;
        if (to == SIZE_MAX)
            return false;
        x->n_of[to]++;
        x->count[x->lean[to]]++;
        x->load_s[to] += item_s(x, x->lean[to]);
        x->over_bytes[to] += item_bytes(x, x->lean[to]);
    }
    x->most_over = 0;
    for (size_t r = 0; r < x->c->n_ranks && x->by_bytes; r++)
        x->most_over = fmax(x->most_over, x->over_bytes[r]);
    for (size_t r = 0; r < x->c->n_ranks; r++)
        spread(x, r, way);
    return true;
}

/* Fills the trial. By stages alone a rank holds less than at its fullest moment: where that is over
 * its capacity, items are dealt again with what was missed. *over_bytes: of the fullest rank. */
static bool deal_choice(struct dealing *x, uint32_t choice, enum way way, double *over_bytes)
{
    memset(x->missed, 0, x->c->n_ranks * sizeof(*x->missed));
    for (int time = 0; time < MOST_TIMES; time++) {
        if (!set_borders(x, choice) || !deal(x, way))
            return false;
        set_borders_within(x);
        *over_bytes = fr__cut_excess_bytes(x->c, x->trial, x->scratch);
        if (x->by_bytes || *over_bytes <= 0)
            return true;
        for (size_t r = 0; r < x->c->n_ranks; r++)
            if (x->scratch[r] > 0)
                x->missed[r] += fmax(0, x->scratch[r] - x->over_bytes[r]);
    }
    return false;
}

static void try(struct dealing *x, uint32_t choice, enum way way)
{
    const struct fr__chain *c = x->c;
    double cost;

    if (!deal_choice(x, choice, way, &cost))
        return;
    if (!x->by_bytes) {
        cost = fr__cut_most_s(c, x->trial, x->scratch);
        fr__ranks_show(x->visitor, x->trial, cost);
    }
    if (cost >= x->best_cost - LESS * fabs(x->best_cost))
        return;
    x->best_cost = cost;
    memcpy(x->best, x->trial, (c->n_stages + 1) * sizeof(*x->best));
}

static void try_all(struct dealing *x, bool by_bytes)
{
    size_t n_others = x->c->n - (x->high - x->low);

    x->by_bytes = by_bytes;
    x->best_cost = INFINITY;
    for (uint32_t choice = 0; choice < 1u << n_others; choice++)
        for (int way = 0; way < (by_bytes ? 1 : N_WAYS); way++)
            try(x, choice, (enum way)way);
}

/* Whether all choices can be tried. */
static bool is_short(const struct dealing *x)
{
    size_t n_run = x->high - x->low, n_others = x->c->n - n_run;

    return n_others <= MOST_OTHERS &&
           ldexp((double)(N_WAYS * n_run * x->c->n_ranks), (int)n_others) <= MOST_DEALS;
}

/* ---- all of it ---- */

static bool make_room(struct dealing *x)
{
    size_t k = x->c->n_stages, p = x->c->n_ranks;

    x->trial = calloc(k + 1, sizeof(*x->trial));
    x->count = calloc(k, sizeof(*x->count));
    x->n_of = calloc(p, sizeof(*x->n_of));
    x->most_of = calloc(p, sizeof(*x->most_of));
    x->lean = calloc(p, sizeof(*x->lean));
    x->load_s = calloc(p, sizeof(*x->load_s));
    x->scratch = calloc(p, sizeof(*x->scratch));
    x->over_bytes = calloc(p, sizeof(*x->over_bytes));
    x->missed = calloc(p, sizeof(*x->missed));
    return x->trial && x->count && x->n_of && x->most_of && x->lean && x->load_s && x->scratch &&
           x->over_bytes && x->missed;
}

static void release(struct dealing *x)
{
    free(x->trial);
    free(x->count);
    free(x->n_of);
    free(x->most_of);
    free(x->lean);
    free(x->load_s);
    free(x->scratch);
    free(x->over_bytes);
    free(x->missed);
}

static enum fr_status look(struct dealing *x, struct fr__ranks_cut *out, struct fr_error *err)
{
    find_run(x);
    if (!is_short(x))
        return fr__ranks_search(x->c, x->visitor, x->best, out, err);
    try_all(x, false);
    *out = (struct fr__ranks_cut){x->best_cost, x->best_cost, true};
    if (isinf(x->best_cost))
        try_all(x, true);
    return FR_OK;
}

enum fr_status fr__cut_ranks(const struct fr__chain *c, const struct fr__ranks_visitor *visitor,
                             uint32_t first[], struct fr__ranks_cut *out, struct fr_error *err)
{
    struct dealing x = {.c = c, .best = first, .visitor = visitor};
    enum fr_status st = make_room(&x) ? look(&x, out, err) : fr__fail_nomem(err);

    release(&x);
    return st;
}
