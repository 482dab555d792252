/* lowering/partition/best.c - the best cut of a chain: limits to the load from above, and below
 * each of them the cut of least sum. */
#include "config.h"

#include "lowering/partition/best.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 10000000, MOST_LIMITS = 8 };
/* A limit lies that far below what was reached, so that rounding makes no new one. */
static const double BELOW = 1 - 1e-9;

/* Of a state: the first j items make the stages up to s. */
struct cell {
    double sum_s, load_s; /* load_s: the class that is made small beside the sum */
    uint32_t from;        /* where stage s begins */
};

struct search {
    const struct fr__chain *c;
    const struct fr__cut_aim *a;
    double *capacity_bytes; /* [n_stages] of a stage */
    double *most_burst;     /* [levels][n] of burst_bytes over 2^level items; NULL: no bursts */
    struct cell *cells;     /* [n_stages][n + 1] */
    uint32_t *trial;        /* [n_stages + 1] */
    uint32_t *low, *high;   /* [n_stages + 1] where a stage may begin, below the limits */
    bool *always_fits;      /* [n_stages] whatever the part */
    bool *has_room;         /* [n_stages] so, of the parts below the limits */
    double limit_s[FR__CUT_CLASSES];
    int small;    /* class that is made small */
    bool by_load; /* only the largest load counts, no sum */
    size_t n_parts;
    uint32_t *first;
    double best_s; /* without fr__cut_base_s */
};

static struct cell *cell_at(const struct search *x, size_t s, size_t j)
{
    return &x->cells[s * (x->c->n + 1) + j];
}

/* As fr__cut_burst_bytes, from the table of maxima. */
static double burst_bytes(const struct search *x, size_t i, size_t j)
{
    unsigned level = 0;
    const double *row;

    if (!x->most_burst)
        return 0;
    while ((size_t)2 << level <= j - i)
        level++;
    row = x->most_burst + level * x->c->n;
    return fmax(0, fmax(row[i], row[j - ((size_t)1 << level)]) - x->c->live_bytes[j]);
}

/* What is asked most often is written out: a chain of sums alone. */
static bool fits(const struct search *x, size_t s, size_t i, size_t j)
{
    const struct fr__chain *c = x->c;

    if (x->has_room[s])
        return true;
    if (!x->most_burst && !c->moments && !c->enter_bytes)
        return c->fixed_bytes[j] - c->fixed_bytes[i] +
                   c->in_flight[s] * (c->live_bytes[j] - c->live_bytes[i]) <=
               x->capacity_bytes[s];
    return fr__cut_held_bytes(x->c, s, i, j) + burst_bytes(x, i, j) <= x->capacity_bytes[s];
}

/* Whether all parts of a stage fit that lie within a reach. Some room is left for rounding. */
static bool all_fit(const struct search *x, size_t s, const struct fr__cut_reach *r)
{
    const struct fr__chain *c = x->c;
    double most_bytes = 0, least_live_bytes = INFINITY;

    for (size_t i = r->begin[0]; c->burst_bytes && i < r->end[1]; i++)
        most_bytes = fmax(most_bytes, c->burst_bytes[i]);
    for (size_t j = r->end[0]; j <= r->end[1]; j++)
        least_live_bytes = fmin(least_live_bytes, c->live_bytes[j]);
    return fr__cut_most_held_bytes(c, s, r) + fmax(0, most_bytes - least_live_bytes) <=
           x->capacity_bytes[s] * (1 - 1e-6);
}

/* Passes alone: this rises with the part, where transfers do not. */
static bool passes_are_over(const struct search *x, size_t s, size_t i, size_t j, double best_s)
{
    const struct fr__chain *c = x->c;
    double f_s = c->forward_s[s][j] - c->forward_s[s][i];
    double b_s = c->backward_s[s][j] - c->backward_s[s][i];

    if (x->a->rule == FR__CUT_PHASES)
        return f_s >= x->limit_s[0] || b_s >= x->limit_s[1] ||
               (x->by_load && (x->small == 0 ? f_s : b_s) >= best_s);
    return f_s + b_s >= x->limit_s[0] || (x->by_load && f_s + b_s >= best_s);
}

/* Whether a part is below the limits by its passes and fits, as it must. */
static bool can_be(const struct search *x, size_t s, size_t i, size_t j)
{
    return !passes_are_over(x, s, i, j, INFINITY) && fits(x, s, i, j);
}

/* Where each stage may begin: no later than if all before it are as long as they can be, no earlier
 * than if all from it on are. false: no cut is below the limits. */
static bool find_reach(struct search *x)
{
    size_t n = x->c->n, k = x->c->n_stages;

    memcpy(x->has_room, x->always_fits, k * sizeof(*x->has_room));
    x->high[0] = 0;
    for (size_t s = 0; s < k; s++) {
        size_t j = x->high[s], most = n - (k - 1 - s);

        while (j < most && can_be(x, s, x->high[s], j + 1))
            j++;
        if (j == x->high[s])
            return false;
        x->high[s + 1] = (uint32_t)j;
    }
    x->low[k] = (uint32_t)n;
    for (size_t s = k; s-- > 0;) {
        size_t i = x->low[s + 1];

        while (i > s && can_be(x, s, i - 1, x->low[s + 1]))
            i--;
        x->low[s] = (uint32_t)i;
        if (i > x->high[s])
            return false;
    }
    x->n_parts += 2 * n;
    for (size_t s = 0; s < k; s++) {
        const struct fr__cut_reach r = {{x->low[s], x->high[s]}, {x->low[s + 1], x->high[s + 1]}};

        x->has_room[s] = x->has_room[s] || all_fit(x, s, &r);
    }
    return x->high[k] == n;
}

static void fill_cell(struct search *x, size_t s, size_t j)
{
    struct cell best = {INFINITY, INFINITY, FR_NONE};

    for (size_t i = j <= x->high[s] ? j : x->high[s] + 1; i-- > x->low[s];) {
        const struct cell *before = s > 0 ? cell_at(x, s - 1, i) : NULL;
        size_t begin = s > 0 ? i : 0;
        struct fr__cut_part part;
        struct cell now;

        x->n_parts++;
        if (x->by_load && x->has_room[s] && before && before->load_s >= best.load_s)
            continue; /* no part makes that less */
        if (passes_are_over(x, s, begin, j, best.load_s) || !fits(x, s, begin, j))
            break;
        if (before && before->from == FR_NONE)
            continue;
        part = fr__cut_part(x->c, x->a, s, begin, j);
        if (part.load_s[0] >= x->limit_s[0] || part.load_s[1] >= x->limit_s[1])
            continue;
        now.load_s = fmax(before ? before->load_s : 0, part.load_s[x->small]);
        now.sum_s = x->by_load ? 0 : (before ? before->sum_s : 0) + part.sum_s;
        now.from = (uint32_t)begin;
        if (now.sum_s < best.sum_s || (now.sum_s <= best.sum_s && now.load_s < best.load_s))
            best = now;
    }
    *cell_at(x, s, j) = best;
}

/* The cut of least (sum, load) below the limits into trial. false: there is none. */
static bool solve(struct search *x)
{
    size_t n = x->c->n, k = x->c->n_stages;

    if (!find_reach(x))
        return false;
    for (size_t s = 0; s < k; s++)
        for (size_t j = x->low[s + 1]; j <= x->high[s + 1]; j++)
            fill_cell(x, s, j);
    if (cell_at(x, k - 1, n)->from == FR_NONE)
        return false;
    x->trial[k] = (uint32_t)n;
    for (size_t s = k; s-- > 0;)
        x->trial[s] = cell_at(x, s, x->trial[s + 1])->from;
    return true;
}

/* Keeps the trial if it is the best so far. load_s: its maxima. Returns its sum. */
static double weigh(struct search *x, double load_s[FR__CUT_CLASSES])
{
    double sum_s = 0, cost_s;

    load_s[0] = load_s[1] = 0;
    for (size_t s = 0; s < x->c->n_stages; s++) {
        const struct fr__cut_part part = fr__cut_part(x->c, x->a, s, x->trial[s], x->trial[s + 1]);

        load_s[0] = fmax(load_s[0], part.load_s[0]);
        load_s[1] = fmax(load_s[1], part.load_s[1]);
        sum_s += part.sum_s;
    }
    cost_s = fr__cut_total_s(x->a, load_s, sum_s);
    if (cost_s < x->best_s) {
        x->best_s = cost_s;
        memcpy(x->first, x->trial, (x->c->n_stages + 1) * sizeof(*x->first));
    }
    return sum_s;
}

/* Half of the passes of a stage of even ones, from where limits rise until a cut is below. */
static double first_limit(const struct search *x, int class)
{
    const struct fr__chain *c = x->c;
    double all_s = class == 1                     ? c->backward_s[0][c->n]
                   : x->a->rule == FR__CUT_PHASES ? c->forward_s[0][c->n]
                                                  : fr__cut_base_s(c);

    return all_s / (2 * (double)c->n_stages);
}

/* The least largest load of a class without limits to the other; INFINITY: nothing fits. */
static double least_load(struct search *x, int class)
{
    double load_s[FR__CUT_CLASSES], limit_s = first_limit(x, class);
    bool is_found = false;

    x->limit_s[0] = x->limit_s[1] = INFINITY;
    x->by_load = true;
    x->small = class;
    for (int i = 0; !is_found && i < MOST_LIMITS && limit_s > 0; i++, limit_s *= 2) {
        x->limit_s[class] = limit_s;
        is_found = solve(x);
    }
    x->limit_s[class] = INFINITY;
    if (!is_found && !solve(x))
        return INFINITY;
    (void)weigh(x, load_s);
    x->by_load = false;
    return load_s[class];
}

/* The cut of least S, whatever its loads; of one micro-batch it is the best. */
static void least_sum(struct search *x)
{
    double load_s[FR__CUT_CLASSES];

    x->limit_s[0] = x->limit_s[1] = INFINITY;
    x->small = 0;
    (void)solve(x);
    (void)weigh(x, load_s);
}

/* No S is less: each border at the place where least crosses, each item on the rank where it takes
 * least, with what every cut has taken away. */
static double sum_floor(const struct fr__chain *c)
{
    double floor_s = 0;

    for (size_t s = 1; s < c->n_stages; s++) {
        double least_s = INFINITY;

        for (size_t i = s; i + (c->n_stages - s) <= c->n; i++)
            least_s = fmin(least_s, c->send_s[s][i] + c->back_s[s][i]);
        floor_s += least_s;
    }
    for (size_t i = 0; i < c->n; i++) {
        double least_s = 0;

        for (size_t s = 1; s < c->n_stages; s++)
            least_s = fmin(least_s, c->forward_s[s][i + 1] - c->forward_s[s][i] +
                                        c->backward_s[s][i + 1] - c->backward_s[s][i] -
                                        (c->forward_s[0][i + 1] - c->forward_s[0][i]) -
                                        (c->backward_s[0][i + 1] - c->backward_s[0][i]));
        floor_s += least_s;
    }
    return floor_s;
}

/* What no cut is below. */
struct floors {
    double load_s[FR__CUT_CLASSES], sum_s;
};

/* The limit of a class comes down, from where a cut could still be cheaper than the best so far.
 * other_s: where that class is the second, in: least load of the first; out: load of the first of
 * the cut that is cheapest without it, INFINITY: there was no cut. false: out of work. */
static bool come_down(struct search *x, int class, const struct floors *f, double *other_s)
{
    double m = x->a->n_micros - 1, load_s[FR__CUT_CLASSES], cheapest_s = INFINITY;
    double least_other_s = *other_s;

    x->small = class;
    x->limit_s[class] = INFINITY;
    *other_s = INFINITY;
    while (x->n_parts < MOST_PARTS) {
        double could_s = (x->best_s - f->sum_s) / m - least_other_s, sum_s;

        x->limit_s[class] = fmin(x->limit_s[class], could_s);
        if (!(x->limit_s[class] > 0) || !solve(x))
            return true;
        sum_s = weigh(x, load_s);
        if (sum_s + m * load_s[class] < cheapest_s) {
            cheapest_s = sum_s + m * load_s[class];
            *other_s = load_s[0];
        }
        x->limit_s[class] = load_s[class] * BELOW;
    }
    return false;
}

/* Two classes: below each limit of the first, the second comes down. Of all cuts whose first load
 * is no less than that of the cheapest there, none is cheaper; so the limit goes on from it. */
static bool come_down_twice(struct search *x, const struct floors *f)
{
    double other_s = f->load_s[0];

    x->limit_s[0] = INFINITY;
    while (come_down(x, 1, f, &other_s)) {
        if (other_s <= 0 || isinf(other_s))
            return true;
        x->limit_s[0] = other_s * BELOW;
        other_s = f->load_s[0];
    }
    return false;
}

static void look(struct search *x, struct fr__best_cut *out)
{
    double base_s = x->a->rule == FR__CUT_PERIOD ? 0 : fr__cut_base_s(x->c), none_s = 0;
    struct floors f = {{0}, 0};

    f.load_s[0] = least_load(x, 0);
    *out = (struct fr__best_cut){INFINITY, INFINITY, true};
    if (isinf(f.load_s[0]))
        return;
    if (x->a->rule == FR__CUT_PHASES)
        f.load_s[1] = least_load(x, 1);
    if (x->a->rule != FR__CUT_PERIOD)
        f.sum_s = sum_floor(x->c);
    if (x->a->rule != FR__CUT_PERIOD && x->a->n_micros <= 1)
        least_sum(x);
    else if (x->a->rule != FR__CUT_PERIOD)
        out->is_exact =
            x->a->rule == FR__CUT_PHASES ? come_down_twice(x, &f) : come_down(x, 0, &f, &none_s);
    out->cost_s = base_s + x->best_s;
    out->bound_s = out->is_exact ? out->cost_s : base_s + fr__cut_total_s(x->a, f.load_s, f.sum_s);
}

/* false: out of memory. */
static bool fill_bursts(struct search *x)
{
    size_t n = x->c->n;
    unsigned n_levels = 1;

    if (!x->c->burst_bytes)
        return true;
    while ((size_t)1 << n_levels <= n)
        n_levels++;
    x->most_burst = calloc(n_levels * n, sizeof(*x->most_burst));
    if (!x->most_burst)
        return false;
    memcpy(x->most_burst, x->c->burst_bytes, n * sizeof(*x->most_burst));
    for (unsigned k = 1; k < n_levels; k++)
        for (size_t i = 0, half = (size_t)1 << (k - 1); i + 2 * half <= n; i++)
            x->most_burst[k * n + i] =
                fmax(x->most_burst[(k - 1) * n + i], x->most_burst[(k - 1) * n + i + half]);
    return true;
}

enum fr_status fr__cut_best(const struct fr__chain *c, const struct fr__cut_aim *a,
                            uint32_t first[], struct fr__best_cut *out, struct fr_error *err)
{
    struct search x = {.c = c, .a = a, .first = first, .best_s = INFINITY};
    const struct fr__cut_reach all = {{0, (uint32_t)c->n}, {0, (uint32_t)c->n}};
    enum fr_status st = FR_OK;

    x.capacity_bytes = calloc(c->n_stages, sizeof(*x.capacity_bytes));
    x.cells = calloc(c->n_stages * (c->n + 1), sizeof(*x.cells));
    x.trial = calloc(c->n_stages + 1, sizeof(*x.trial));
    x.low = calloc(c->n_stages + 1, sizeof(*x.low));
    x.high = calloc(c->n_stages + 1, sizeof(*x.high));
    x.always_fits = calloc(2 * c->n_stages, sizeof(*x.always_fits));
    x.has_room = x.always_fits ? x.always_fits + c->n_stages : NULL;
    if (!x.capacity_bytes || !x.cells || !x.trial || !x.low || !x.high || !x.always_fits ||
        !fill_bursts(&x))
        st = fr__fail_nomem(err);
    for (size_t s = 0; s < c->n_stages && st == FR_OK; s++) {
        size_t n_of_rank = 0;

        for (size_t k = 0; k < c->n_stages; k++)
            n_of_rank += c->rank_of[k] == c->rank_of[s];
        x.capacity_bytes[s] = (c->capacity_bytes[c->rank_of[s]] -
                               (c->more_bytes ? c->more_bytes[c->rank_of[s]] : 0)) /
                              (double)n_of_rank;
        x.always_fits[s] = all_fit(&x, s, &all);
    }
    if (st == FR_OK)
        look(&x, out);
    free(x.capacity_bytes);
    free(x.most_burst);
    free(x.cells);
    free(x.trial);
    free(x.low);
    free(x.high);
    free(x.always_fits);
    return st;
}
