/* papers/runner/over.c - the functions of formulas over rows: sum, best and others, and largest.
 *
 * They are separate because they read their arguments anew for each row. */
#include "config.h"

#include "papers/runner/reader.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum over { SUM, MEAN, COUNT, ANY, LEAST, MOST, MEDIAN, FIRST, LAST, BEST, N_OVER };
static const char *const over_names[N_OVER] = {"sum",  "mean",   "count", "any",  "least",
                                               "most", "median", "first", "last", "best"};

struct gathered {
    const struct fr__reader *r;
    enum over how;
    const char *begin, *end; /* of the arguments */
    struct fr__value value;  /* so far */
    double best;
    double *sorted; /* median's, on the heap */
    size_t n, n_rows;
};

static enum fr_status keep_sorted(struct gathered *g, double x, struct fr_error *err)
{
    double *grown = realloc(g->sorted, (g->n + 1) * sizeof(*grown));
    size_t k = g->n;

    if (!grown)
        return fr__fail_nomem(err);
    for (g->sorted = grown; k > 0 && grown[k - 1] > x; k--)
        grown[k] = grown[k - 1];
    grown[k] = x;
    return FR_OK;
}

static enum fr_status gather(void *what, const struct fr__scope *scope, struct fr_error *err)
{
    struct gathered *g = what;
    struct fr__reader r = *g->r;
    struct fr__value v;
    double x;

    r.scope = scope;
    r.at = g->begin;
    FR_TRY(r.read(&r, &v, err));
    x = v.number;
    if (g->how == BEST && !isnan(x) && (g->n == 0 || x > g->best)) {
        FR_TRY(fr__reader_expect(&r, ",", err));
        FR_TRY(r.read(&r, &g->value, err));
        g->best = x;
    }
    if (g->how == LAST || (g->how == FIRST && g->n_rows == 0))
        g->value = v;
    g->n_rows++;
    if (g->how == COUNT || g->how == ANY ? !fr__value_is_true(v) : isnan(x))
        return FR_OK;
    if (g->how == SUM || g->how == MEAN)
        g->value.number += x;
    if (g->how == LEAST || g->how == MOST)
        g->value.number = g->n == 0         ? x
                          : g->how == LEAST ? fmin(g->value.number, x)
                                            : fmax(g->value.number, x);
    if (g->how == MEDIAN)
        FR_TRY(keep_sorted(g, x, err));
    g->n++;
    return FR_OK;
}

static struct fr__value result_of(const struct gathered *g)
{
    size_t n = g->n;

    switch (g->how) {
    case MEAN:
        return fr__value_number(n ? g->value.number / (double)n : (double)NAN);
    case COUNT:
        return fr__value_number((double)n);
    case ANY:
        return fr__value_number(n > 0);
    case MEDIAN:
        return fr__value_number(n == 0  ? (double)NAN
                                : n % 2 ? g->sorted[n / 2]
                                        : (g->sorted[n / 2 - 1] + g->sorted[n / 2]) / 2);
    default:
        return g->value;
    }
}

/* Reads past the arguments without computing them. */
static enum fr_status skip_arguments(struct fr__reader *r, struct fr_error *err)
{
    struct fr__value unused;
    bool skips = r->skips;

    r->skips = true;
    do
        FR_TRY(r->read(r, &unused, err));
    while (fr__reader_take(r, ","));
    r->skips = skips;
    return FR_OK;
}

/* Behind the bracket: "[LIST:] formula[, formula])". */
static enum fr_status read_over(struct fr__reader *r, enum over how, struct fr__value *out,
                                struct fr_error *err)
{
    struct gathered g = {.r = r, .how = how};
    const char *begin = r->at;
    char list[FR__FORMULA_NAME];
    enum fr_status st;
    bool has_list = fr__reader_take_name(r, list) && fr__reader_take(r, ":");

    g.value = fr__value_number(how == SUM || how == MEAN ? 0 : (double)NAN);
    if (!has_list)
        r->at = begin;
    g.begin = r->at;
    FR_TRY(skip_arguments(r, err));
    if (r->skips)
        return FR_OK;
    st = r->c->each(r->c->user, has_list ? list : NULL, r->loc, r->scope, gather, &g, err);
    *out = result_of(&g);
    free(g.sorted);
    return st;
}

/* Behind the bracket: "NAME, from, below, formula)". */
static enum fr_status read_largest(struct fr__reader *r, struct fr__value *out,
                                   struct fr_error *err)
{
    struct fr__value from, below, is_fine;
    struct fr__scope scope = {.up = r->scope};
    struct fr__reader inner;
    char name[FR__FORMULA_NAME];

    if (!fr__reader_take_name(r, name))
        return fr__reader_fail(r, "no name", err);
    FR_TRY(fr__reader_expect(r, ",", err));
    FR_TRY(r->read(r, &from, err));
    FR_TRY(fr__reader_expect(r, ",", err));
    FR_TRY(r->read(r, &below, err));
    FR_TRY(fr__reader_expect(r, ",", err));
    inner = *r;
    FR_TRY(skip_arguments(r, err));
    if (r->skips)
        return FR_OK;
    if (!(from.number >= 0 && below.number <= 1e6))
        return fr__reader_fail(r, "no whole numbers up to a million", err);
    scope.name = name;
    inner.scope = &scope;
    while (below.number - from.number > 1) {
        struct fr__reader once = inner;

        scope.number = from.number + floor((below.number - from.number) / 2);
        FR_TRY(once.read(&once, &is_fine, err));
        *(fr__value_is_true(is_fine) ? &from.number : &below.number) = scope.number;
    }
    *out = fr__value_number(from.number);
    return FR_OK;
}

enum fr_status fr__reader_over(struct fr__reader *r, const char *name, bool *is_one,
                               struct fr__value *out, struct fr_error *err)
{
    *is_one = true;
    for (unsigned how = 0; how < N_OVER; how++)
        if (strcmp(over_names[how], name) == 0)
            return read_over(r, (enum over)how, out, err);
    if (strcmp(name, "largest") == 0)
        return read_largest(r, out, err);
    *is_one = false;
    return FR_OK;
}
