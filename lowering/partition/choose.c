/* lowering/partition/choose.c - cuts are tried by the schedule that will run them. */
#include "config.h"

#include "lowering/partition/choose.h"

#include "base/error.h"
#include "lowering/partition/ranks.h"
#include "lowering/partition/tries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SEEN = 256 };
static const double NEARLY = 1.1; /* a choice of ours: stages of a rank differ by more than this */

/* ---- which rule ---- */

/* No forward after a backward, and one stage a rank. */
static bool has_phases(const struct fr_schedule *s)
{
    for (uint32_t r = 0; r < s->n_ranks; r++)
        for (size_t i = s->first[r], n_backwards = 0; i < s->first[r + 1]; i++) {
            const struct fr_action *a = &s->actions[i];

            n_backwards += a->kind == FR_ACTION_B;
            if (a->with != FR_ACTION_NONE || (a->kind == FR_ACTION_F && n_backwards > 0) ||
                (a->kind != FR_ACTION_F && a->kind != FR_ACTION_B))
                return false;
        }
    return s->n_stages == s->n_ranks && s->n_virtual <= 1;
}

/* Several stages of a rank: each is a part of what the rank does for a micro-batch. */
static struct fr__cut_aim aim_of(const struct fr_schedule *s)
{
    struct fr__cut_aim a = {.rule = FR__CUT_TURNS, .n_micros = s->n_micros};

    if (s->weights != FR_WEIGHTS_FLUSH)
        a.rule = FR__CUT_PERIOD;
    else if (has_phases(s))
        a.rule = FR__CUT_PHASES;
    else
        a.n_micros *= (double)s->n_stages / s->n_ranks;
    return a;
}

/* From the cut that is the best so far. given: the caller's. */
static void improve(struct fr__tries *x, const uint32_t given[], struct fr__choice *out)
{
    double before_s = x->best_s;

    x->n_before = x->n_tried;
    out->tried_all = fr__tries_can_be_all(x);
    fr__tries_search(x);
    if (x->best_s < before_s)
        out->by = FR__CHOSEN_REPLAY;
    if (x->best_s >= out->given_s * (1 - x->in->least_gain_frac)) {
        out->by = FR__CHOSEN_GIVEN;
        x->best_s = out->given_s;
        memcpy(x->first, given, (x->in->chain->n_stages + 1) * sizeof(*given));
    }
}

/* ---- several stages a rank ---- */

struct seen {
    uint32_t *cuts; /* [cap][n_stages + 1] */
    double *most_s; /* [cap] of the busiest rank */
    size_t n, cap, width;
};

static void see(void *user, const uint32_t first[], double most_s)
{
    struct seen *k = user;

    if (k->n == k->cap) /* the latest takes the last place */
        k->n--;
    memcpy(k->cuts + k->n * k->width, first, k->width * sizeof(*first));
    k->most_s[k->n++] = most_s;
}

/* Of the cuts whose busiest rank has nearly as little to do as can be, the one that ends first by
 * the schedule: with equal ranks stages may still be unlike. */
static void take_seen(struct fr__tries *x, const struct seen *k, double least_s)
{
    double best_s = INFINITY, now_s;

    for (size_t i = 0; i < k->n; i++) {
        const uint32_t *cut = k->cuts + i * k->width;

        if (k->most_s[i] > least_s * NEARLY || (i > 0 && !fr__tries_has_work(x)))
            continue;
        now_s = fr__tries_price(x, cut);
        if (now_s < best_s * FR__TRIES_BETTER) {
            best_s = now_s;
            memcpy(x->first, cut, k->width * sizeof(*cut));
        }
    }
}

/* The cut whose busiest rank has least to do takes the place of the caller's, for which each stage
 * was looked at alone. */
static enum fr_status take_ranks(struct fr__tries *x, struct seen *k, struct fr__choice *out,
                                 struct fr_error *err)
{
    const struct fr__chain *c = x->in->chain;
    const struct fr__ranks_visitor visitor = {see, k};
    double given_bytes = fr__cut_excess_bytes(c, x->first, x->excess_bytes);
    struct fr__ranks_cut ranks;

    FR_TRY(fr__cut_ranks(c, &visitor, x->trial, &ranks, err));
    out->best = (struct fr__best_cut){ranks.most_s, ranks.bound_s, ranks.is_exact};
    if (!isinf(ranks.most_s) || fr__cut_excess_bytes(c, x->trial, x->excess_bytes) < given_bytes)
        memcpy(x->first, x->trial, (c->n_stages + 1) * sizeof(*x->first));
    take_seen(x, k, ranks.most_s);
    return FR_OK;
}

static enum fr_status propose_ranks(struct fr__tries *x, struct fr__choice *out,
                                    struct fr_error *err)
{
    struct seen k = {.cap = MOST_SEEN, .width = x->in->chain->n_stages + 1};
    enum fr_status st;

    k.cuts = calloc(k.cap * k.width, sizeof(*k.cuts));
    k.most_s = calloc(k.cap, sizeof(*k.most_s));
    st = k.cuts && k.most_s ? take_ranks(x, &k, out, err) : fr__fail_nomem(err);
    free(k.cuts);
    free(k.most_s);
    return st;
}

/* The best cut by the rule, where each rank has one stage. */
static enum fr_status propose(struct fr__tries *x, struct fr__choice *out, struct fr_error *err)
{
    const struct fr__chain *c = x->in->chain;

    if (c->n_stages > c->n_ranks)
        return propose_ranks(x, out, err);
    return fr__cut_best(c, &x->aim, x->trial, &out->best, err);
}

static enum fr_status choose(struct fr__tries *x, struct fr__choice *out, struct fr_error *err)
{
    const struct fr__chain *c = x->in->chain;
    bool fits, is_better;

    out->rule = x->aim.rule;
    FR_TRY(propose(x, out, err));
    fits = fr__cut_excess_bytes(c, x->first, x->excess_bytes) <= 0;
    memcpy(x->given, x->first, (c->n_stages + 1) * sizeof(*x->given));
    out->given_s = fr__tries_price(x, x->first);
    x->best_s = fits ? out->given_s : INFINITY;
    is_better = !isinf(out->best.cost_s) && c->n_stages == c->n_ranks && fr__tries_try(x);
    out->by = is_better ? FR__CHOSEN_FORM : FR__CHOSEN_GIVEN;
    if (!fits)
        out->given_s = INFINITY; /* whatever fits is better */
    if (!isinf(x->best_s))
        improve(x, x->given, out);
    if (isinf(out->given_s))
        out->given_s = fr__tries_price(x, x->given);
    out->planned_s = isinf(x->best_s) ? out->given_s : x->best_s;
    out->n_tried = x->n_tried;
    return FR_OK;
}

/* ---- both questions ---- */

enum fr_status fr__cut_planned(const struct fr__choice_problem *in, const uint32_t first[],
                               double *planned_s, struct fr_error *err)
{
    const struct fr__cut_aim aim = aim_of(in->schedule);
    struct fr__tries x;
    enum fr_status st = fr__tries_init(&x, in, &aim, NULL, err);

    if (st == FR_OK)
        *planned_s = fr__tries_price(&x, first);
    fr__tries_fini(&x);
    return st;
}

/* What the schedule takes if the work, the transfers and the updates of all stages together were
 * shared out evenly. */
static double price_even(struct fr__tries *x, const uint32_t first[])
{
    const struct fr__chain *c = x->in->chain;
    struct fr__timed_stage all = {0};
    double tail_s = 0, k = (double)c->n_stages;

    fr__tries_describe(x, first);
    for (size_t i = 0; i < c->n_stages; i++) {
        all.forward_s += x->stages[i].forward_s / k;
        all.input_s += x->stages[i].input_s / k;
        all.weight_s += x->stages[i].weight_s / k;
        all.forward_host_s += x->stages[i].forward_host_s / k;
        all.input_host_s += x->stages[i].input_host_s / k;
        all.weight_host_s += x->stages[i].weight_host_s / k;
        all.send_s += x->stages[i].send_s / (k - 1);
        all.back_s += x->stages[i].back_s / (k - 1);
        all.sum_s += x->stages[i].sum_s / k;
        all.n_sums += x->stages[i].n_sums / k;
    }
    for (size_t r = 0; r < c->n_ranks; r++)
        tail_s += x->tail_s[r] / (double)c->n_ranks;
    for (size_t i = 0; i < c->n_stages; i++)
        x->stages[i] = all;
    for (size_t r = 0; r < c->n_ranks; r++)
        x->tail_s[r] = tail_s;
    return fr__timed_run(x->timed, x->stages, x->tail_s);
}

enum fr_status fr__cut_even(const struct fr__choice_problem *in, const uint32_t first[],
                            double *even_s, struct fr_error *err)
{
    const struct fr__cut_aim aim = aim_of(in->schedule);
    struct fr__tries x;
    enum fr_status st = fr__tries_init(&x, in, &aim, NULL, err);

    *even_s = 0;
    if (st == FR_OK && x.timed)
        *even_s = price_even(&x, first);
    fr__tries_fini(&x);
    return st;
}

enum fr_status fr__cut_evenly(const struct fr__choice_problem *in, uint32_t first[],
                              struct fr_error *err)
{
    const struct fr__cut_aim aim = aim_of(in->schedule);
    struct fr__tries x;
    enum fr_status st = fr__tries_init(&x, in, &aim, first, err);

    if (st == FR_OK && fr__tries_evenly(&x))
        memcpy(first, x.trial, (in->chain->n_stages + 1) * sizeof(*first));
    fr__tries_fini(&x);
    return st;
}

static enum fr_status choose_in(const struct fr__choice_problem *in, uint32_t first[],
                                struct fr__choice *out, struct fr_error *err)
{
    const struct fr__cut_aim aim = aim_of(in->schedule);
    struct fr__tries x;
    enum fr_status st = fr__tries_init(&x, in, &aim, first, err);

    if (st == FR_OK)
        st = choose(&x, out, err);
    if (st == FR_OK && in->chain->n_stages > in->chain->n_ranks && x.timed)
        out->even_s = price_even(&x, first);
    fr__tries_fini(&x);
    return st;
}

/* First as if there were room for everything: if that cut fits, memory has no say. */
static enum fr_status choose_twice(const struct fr__choice_problem *in, uint32_t first[],
                                   uint32_t free_first[], double room_bytes[],
                                   struct fr__choice *out, struct fr_error *err)
{
    struct fr__chain roomy = *in->chain;
    struct fr__choice_problem without = *in;
    struct fr__choice c = {0};
    size_t width = in->chain->n_stages + 1;
    double free_s;

    for (size_t r = 0; r < roomy.n_ranks; r++)
        room_bytes[r] = INFINITY;
    roomy.capacity_bytes = room_bytes;
    without.chain = &roomy;
    memcpy(free_first, first, width * sizeof(*first));
    FR_TRY(choose_in(&without, free_first, &c, err));
    free_s = c.planned_s;
    if (fr__cut_excess_bytes(in->chain, free_first, room_bytes) <= 0) {
        memcpy(first, free_first, width * sizeof(*first));
    } else {
        c = (struct fr__choice){0};
        FR_TRY(choose_in(in, first, &c, err));
    }
    c.fits = fr__cut_excess_bytes(in->chain, first, room_bytes) <= 0;
    c.free_s = free_s;
    *out = c;
    return FR_OK;
}

enum fr_status fr__cut_choose(const struct fr__choice_problem *in, uint32_t first[],
                              struct fr__choice *out, struct fr_error *err)
{
    uint32_t *free_first = calloc(in->chain->n_stages + 1, sizeof(*free_first));
    double *room_bytes = calloc(in->chain->n_ranks, sizeof(*room_bytes));
    enum fr_status st = free_first && room_bytes
                            ? choose_twice(in, first, free_first, room_bytes, out, err)
                            : fr__fail_nomem(err);

    free(free_first);
    free(room_bytes);
    return st;
}
