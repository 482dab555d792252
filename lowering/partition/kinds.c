/* lowering/partition/kinds.c - cuts that a replay does not call the best, but a run may: it has
 * links that messages share.
 */
#include "config.h"

#include "lowering/partition/kinds.h"

#include "base/error.h"
#include "lowering/partition/tries.h"

#include <stdlib.h>
#include <string.h>

/* How much longer than alone messages take; 0: the kind is made otherwise. Choices of ours. */
static const double TIMES[FR__N_CUT_KINDS] = {
    [FR__CUT_BY_REPLAY] = 1,
    [FR__CUT_FASTER_LINKS] = 0.5,
    [FR__CUT_SLOWER_LINKS] = 2,
    [FR__CUT_SLOWEST_LINKS] = 4,
};

/* A problem whose messages take so much longer. */
struct scaled {
    struct fr__chain chain;
    struct fr__choice_problem problem;
    const double **send_s, **back_s; /* [n_stages] into values */
    double *values;
    struct fr__tie *ties;
};

static void fini(struct scaled *x)
{
    free(x->send_s);
    free(x->back_s);
    free(x->values);
    free(x->ties);
}

static double *scale(double *to, const double from[], size_t n, double times)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[i] * times;
    return to + n;
}

static enum fr_status init(struct scaled *x, const struct fr__choice_problem *in, double times,
                           struct fr_error *err)
{
    size_t k = in->chain->n_stages, width = in->chain->n + 1;
    double *at;

    *x = (struct scaled){.chain = *in->chain, .problem = *in};
    x->send_s = calloc(k, sizeof(*x->send_s));
    x->back_s = calloc(k, sizeof(*x->back_s));
    x->values = calloc(2 * k * width + 2 * in->n_ties * k * k + 1, sizeof(*x->values));
    x->ties = calloc(in->n_ties + 1, sizeof(*x->ties));
    if (!x->send_s || !x->back_s || !x->values || !x->ties)
        return fr__fail_nomem(err);
    at = x->values;
    for (size_t s = 0; s < k; s++) {
        x->send_s[s] = at;
        at = scale(at, in->chain->send_s[s], width, times);
        x->back_s[s] = at;
        at = scale(at, in->chain->back_s[s], width, times);
    }
    for (size_t i = 0; i < in->n_ties; i++) {
        x->ties[i] = in->ties[i];
        x->ties[i].send_s = at;
        at = scale(at, in->ties[i].send_s, k * k, times);
        x->ties[i].back_s = at;
        at = scale(at, in->ties[i].back_s, k * k, times);
    }
    x->chain.send_s = x->send_s;
    x->chain.back_s = x->back_s;
    x->problem.chain = &x->chain;
    x->problem.ties = x->ties;
    return FR_OK;
}

static enum fr_status choose_scaled(const struct fr__choice_problem *in, double times,
                                    uint32_t first[], struct fr__choice *out, struct fr_error *err)
{
    struct scaled x;
    enum fr_status st = init(&x, in, times, err);

    if (st == FR_OK)
        st = fr__cut_choose(&x.problem, first, out, err);
    fini(&x);
    return st;
}

enum fr_status fr__cut_choose_kind(const struct fr__choice_problem *in, enum fr__cut_kind kind,
                                   uint32_t first[], struct fr__choice *out, struct fr_error *err)
{
    double *room = calloc(in->chain->n_ranks, sizeof(*room));
    enum fr_status st = room ? FR_OK : fr__fail_nomem(err);

    *out = (struct fr__choice){.by = FR__CHOSEN_GIVEN};
    if (st == FR_OK && kind == FR__CUT_EVEN)
        st = fr__cut_evenly(in, first, err);
    else if (st == FR_OK && TIMES[kind] > 0)
        st = choose_scaled(in, TIMES[kind], first, out, err);
    if (st == FR_OK)
        st = fr__cut_planned(in, first, &out->planned_s, err);
    if (st == FR_OK)
        out->fits = fr__cut_excess_bytes(in->chain, first, room) <= 0;
    out->given_s = out->free_s = out->planned_s;
    out->even_s = 0;
    if (st == FR_OK && in->chain->n_stages > in->chain->n_ranks)
        st = fr__cut_even(in, first, &out->even_s, err);
    free(room);
    return st;
}
