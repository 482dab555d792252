/* lowering/partition/balance.c - borders move until ranks are as even as they get. */
#include "config.h"

#include "lowering/partition/balance.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 64, STEP = 3 };
static const double BETTER = 1 - 1e-9;

struct balance {
    const struct fr__chain *c;
    uint32_t *first, *trial;
    double *load_s, *scratch; /* [n_ranks] */
    double best;
};

/* Scaled by all passes, so that powers stay small. */
static double unevenness(const struct balance *x, const uint32_t first[])
{
    const struct fr__chain *c = x->c;
    double all_s = c->forward_s[0][c->n] + c->backward_s[0][c->n], sum = 0;

    memset(x->load_s, 0, c->n_ranks * sizeof(*x->load_s));
    for (size_t s = 0; s < c->n_stages; s++)
        x->load_s[c->rank_of[s]] += c->forward_s[s][first[s + 1]] - c->forward_s[s][first[s]] +
                                    c->backward_s[s][first[s + 1]] - c->backward_s[s][first[s]];
    for (size_t r = 0; r < c->n_ranks; r++)
        sum += all_s > 0 ? pow(x->load_s[r] / all_s, 6) : 0;
    return sum;
}

/* Takes the trial if it is a better cut. */
static bool take(struct balance *x)
{
    const struct fr__chain *c = x->c;
    double now;

    for (size_t s = 0; s < c->n_stages; s++)
        if (x->trial[s] >= x->trial[s + 1])
            return false;
    now = unevenness(x, x->trial);
    if (now >= x->best * BETTER || fr__cut_excess_bytes(c, x->trial, x->scratch) > 0)
        return false;
    x->best = now;
    memcpy(x->first, x->trial, (c->n_stages + 1) * sizeof(*x->first));
    return true;
}

static void start_over(struct balance *x)
{
    memcpy(x->trial, x->first, (x->c->n_stages + 1) * sizeof(*x->trial));
}

static bool move_one(struct balance *x, size_t b)
{
    uint32_t low = x->first[b - 1] + 1, high = x->first[b + 1];
    bool helped = false;

    for (uint32_t at = low; at < high; at++) {
        start_over(x);
        x->trial[b] = at;
        helped = take(x) || helped;
    }
    return helped;
}

/* All borders from a to b - 1 by i items, and b by j. */
static bool move_two(struct balance *x, size_t a, size_t b)
{
    for (int i = -STEP; i <= STEP; i++)
        for (int j = -STEP; j <= STEP; j++)
            for (int is_row = 0; is_row < 2; is_row++) {
                start_over(x);
                for (size_t s = a; s < (is_row ? b : a + 1); s++)
                    x->trial[s] = (uint32_t)((int)x->trial[s] + i);
                x->trial[b] = (uint32_t)((int)x->trial[b] + j);
                if (take(x))
                    return true;
            }
    return false;
}

static void descend(struct balance *x)
{
    size_t k = x->c->n_stages;
    bool helped = true;

    for (int round = 0; helped && round < MOST_ROUNDS; round++) {
        helped = false;
        for (size_t b = 1; b < k; b++)
            helped = move_one(x, b) || helped;
        for (size_t a = 1; a < k && !helped; a++)
            for (size_t b = a + 1; b < k; b++)
                helped = move_two(x, a, b) || helped;
    }
}

enum fr_status fr__cut_balance(const struct fr__chain *c, uint32_t first[], struct fr_error *err)
{
    struct balance x = {.c = c, .first = first};
    enum fr_status st = FR_OK;

    x.trial = calloc(c->n_stages + 1, sizeof(*x.trial));
    x.load_s = calloc(c->n_ranks, sizeof(*x.load_s));
    x.scratch = calloc(c->n_ranks, sizeof(*x.scratch));
    if (!x.trial || !x.load_s || !x.scratch) {
        st = fr__fail_nomem(err);
    } else {
        x.best = unevenness(&x, first);
        descend(&x);
    }
    free(x.trial);
    free(x.load_s);
    free(x.scratch);
    return st;
}
