/* strategies/partition/choose.c - cuts are tried by the schedule that will run them. */
#include "config.h"

#include "strategies/partition/choose.h"

#include "base/error.h"
#include "strategies/partition/ranks.h"
#include "strategies/partition/timed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ACTIONS = 1000000, MOST_SEEN = 256 };
static const double NEARLY = 1.1; /* a choice of ours: stages of a rank differ by more than this */
static const double BETTER = 1 - 1e-6;

struct choosing {
    const struct fr__choice_problem *in;
    struct fr__cut_aim aim;
    struct fr__timed *timed; /* NULL: not needed */
    struct fr__timed_stage *stages;
    double *tail_s;       /* [n_ranks] */
    double *excess_bytes; /* [n_ranks] */
    uint32_t *first, *trial, *given;
    double best_s;
    size_t n_tried, n_before; /* n_before: when the search began */
};

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

/* ---- what a cut takes ---- */

static double between(const double *sum, const uint32_t first[], size_t s)
{
    return sum[first[s + 1]] - sum[first[s]];
}

static void describe(struct choosing *x, const uint32_t first[])
{
    const struct fr__chain *c = x->in->chain;

    memset(x->tail_s, 0, c->n_ranks * sizeof(*x->tail_s));
    for (size_t s = 0; s < c->n_stages; s++) {
        double weight_s = between(x->in->weight_s[s], first, s);

        x->stages[s] = (struct fr__timed_stage){
            .forward_s = between(c->forward_s[s], first, s),
            .input_s = between(c->backward_s[s], first, s) - weight_s,
            .weight_s = weight_s,
            .send_s = s > 0 ? c->send_s[s][first[s]] : 0,
            .back_s = s > 0 ? c->back_s[s][first[s]] : 0,
        };
        if (x->in->forward_host_s) {
            struct fr__timed_stage *k = &x->stages[s];

            k->forward_host_s = between(x->in->forward_host_s[s], first, s);
            k->weight_host_s = between(x->in->weight_host_s[s], first, s);
            k->input_host_s = between(x->in->backward_host_s[s], first, s) - k->weight_host_s;
        }
        x->tail_s[c->rank_of[s]] += between(x->in->tail_s[s], first, s);
    }
}

/* Interval of an iteration without a flush: a rank updates once in n_together micro-batches, or
 * after each where n_together is 1. */
static double interval_s(const struct choosing *x)
{
    const struct fr__chain *c = x->in->chain;
    double most_s = 0;

    for (size_t s = 0; s < c->n_stages; s++) {
        const struct fr__timed_stage *k = &x->stages[s];
        bool is_each = x->in->schedule->weights == FR_WEIGHTS_STASH ||
                       x->in->schedule->weights == FR_WEIGHTS_VERTICAL;
        double passes_s = k->forward_s + k->input_s + k->weight_s;
        double n_updates = is_each ? x->in->n_together : 1;

        most_s = fmax(most_s, x->in->n_together * fmax(passes_s, fmax(k->send_s, k->back_s)));
        most_s = fmax(most_s, x->in->n_together * passes_s + n_updates * x->tail_s[c->rank_of[s]]);
    }
    return most_s;
}

static enum fr_status price(struct choosing *x, const uint32_t first[], double *s,
                            struct fr_error *err)
{
    x->n_tried++;
    describe(x, first);
    if (x->aim.rule == FR__CUT_PERIOD) {
        *s = interval_s(x);
        return FR_OK;
    }
    return fr__timed_run(x->timed, x->stages, x->tail_s, s, err);
}

/* ---- the search ---- */

/* Keeps the trial if it fits and takes less. *is_better: so it was. */
static enum fr_status try(struct choosing *x, double enough, bool *is_better, struct fr_error *err)
{
    const struct fr__chain *c = x->in->chain;
    double s;

    *is_better = false;
    if (fr__cut_excess_bytes(c, x->trial, x->excess_bytes) > 0)
        return FR_OK;
    FR_TRY(price(x, x->trial, &s, err));
    *is_better = s < x->best_s * enough;
    if (*is_better) {
        x->best_s = s;
        memcpy(x->first, x->trial, (c->n_stages + 1) * sizeof(*x->first));
    }
    return FR_OK;
}

/* Borders from .. to of the trial, by an item up or down. false: a stage would be empty. */
static bool move(struct choosing *x, size_t from, size_t to, bool is_up)
{
    size_t k = x->in->chain->n_stages;

    memcpy(x->trial, x->first, (k + 1) * sizeof(*x->trial));
    for (size_t b = from; b <= to; b++)
        x->trial[b] += is_up ? 1 : UINT32_MAX;
    return x->trial[from] > x->trial[from - 1] && x->trial[to] < x->trial[to + 1];
}

static bool has_work(const struct choosing *x)
{
    return (x->n_tried + 1 - x->n_before) * x->in->schedule->n_actions <= MOST_ACTIONS;
}

/* Moves of `width` borders at once; *helped: one did. */
static enum fr_status move_all(struct choosing *x, size_t width, bool *helped, struct fr_error *err)
{
    size_t k = x->in->chain->n_stages;

    for (size_t from = 1; from + width <= k && has_work(x); from++)
        for (int is_up = 0; is_up < 2 && has_work(x); is_up++) {
            bool is_better = true;

            while (is_better && has_work(x) && move(x, from, from + width - 1, is_up)) {
                FR_TRY(try(x, BETTER, &is_better, err));
                *helped = *helped || is_better;
            }
        }
    return FR_OK;
}

/* Two borders, each an item up or down: with several stages a rank, work goes from one rank to
 * another through borders that are no neighbours. */
static enum fr_status move_pairs(struct choosing *x, bool *helped, struct fr_error *err)
{
    size_t k = x->in->chain->n_stages;

    for (size_t a = 1; a < k; a++)
        for (size_t b = a + 1; b < k; b++)
            for (unsigned ways = 0; ways < 4 && has_work(x); ways++) {
                bool is_better = false, is_cut = move(x, a, a, ways & 1);

                x->trial[b] += ways & 2 ? 1 : UINT32_MAX;
                for (size_t s = 0; s < k; s++)
                    is_cut = is_cut && x->trial[s] < x->trial[s + 1];
                if (is_cut)
                    FR_TRY(try(x, BETTER, &is_better, err));
                *helped = *helped || is_better;
            }
    return FR_OK;
}

/* Whether all cuts can be tried: n - 1 over k - 1 of them. */
static bool can_try_all(const struct choosing *x)
{
    double n_cuts = 1, most = MOST_ACTIONS / (double)(x->in->schedule->n_actions + 1);
    size_t n = x->in->chain->n - 1, k = x->in->chain->n_stages - 1;

    for (size_t i = 0; i < k && n_cuts <= most * (double)n; i++)
        n_cuts *= (double)(n - i) / (double)(i + 1);
    return n_cuts <= most;
}

/* The next cut in the order of its borders, the last one fastest. false: it was the last. */
static bool next_cut(const struct choosing *x)
{
    size_t k = x->in->chain->n_stages, b = k;

    while (--b > 0)
        if (x->trial[b] + (k - b) < x->in->chain->n) {
            x->trial[b]++;
            for (size_t c = b + 1; c < k; c++)
                x->trial[c] = x->trial[c - 1] + 1;
            return true;
        }
    return false;
}

static enum fr_status try_all(struct choosing *x, struct fr_error *err)
{
    size_t k = x->in->chain->n_stages;
    bool is_better;

    for (size_t s = 0; s < k; s++)
        x->trial[s] = (uint32_t)s;
    x->trial[k] = (uint32_t)x->in->chain->n;
    do
        FR_TRY(try(x, BETTER, &is_better, err));
    while (next_cut(x));
    return FR_OK;
}

static enum fr_status search(struct choosing *x, struct fr_error *err)
{
    const struct fr__chain *c = x->in->chain;
    bool helped = true;

    while (helped && has_work(x)) {
        helped = false;
        for (size_t width = 1; width < c->n_stages && !helped; width++)
            FR_TRY(move_all(x, width, &helped, err));
        if (!helped && c->n_stages > c->n_ranks)
            FR_TRY(move_pairs(x, &helped, err));
    }
    return FR_OK;
}

/* From the cut that is the best so far. given: the caller's. */
static enum fr_status improve(struct choosing *x, const uint32_t given[], struct fr__choice *out,
                              struct fr_error *err)
{
    x->n_before = x->n_tried;
    out->tried_all = can_try_all(x);
    FR_TRY(out->tried_all ? try_all(x, err) : search(x, err));
    out->by = FR__CHOSEN_REPLAY;
    if (x->best_s >= out->given_s * (1 - x->in->least_gain_frac)) {
        out->by = FR__CHOSEN_GIVEN;
        x->best_s = out->given_s;
        memcpy(x->first, given, (x->in->chain->n_stages + 1) * sizeof(*given));
    }
    return FR_OK;
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
static enum fr_status take_seen(struct choosing *x, const struct seen *k, double least_s,
                                struct fr_error *err)
{
    double best_s = INFINITY, now_s;

    for (size_t i = 0; i < k->n; i++) {
        const uint32_t *cut = k->cuts + i * k->width;

        if (k->most_s[i] > least_s * NEARLY || (i > 0 && !has_work(x)))
            continue;
        FR_TRY(price(x, cut, &now_s, err));
        if (now_s < best_s * BETTER) {
            best_s = now_s;
            memcpy(x->first, cut, k->width * sizeof(*cut));
        }
    }
    return FR_OK;
}

/* The cut whose busiest rank has least to do takes the place of the caller's, for which each stage
 * was looked at alone. */
static enum fr_status take_ranks(struct choosing *x, struct seen *k, struct fr__choice *out,
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
    return take_seen(x, k, ranks.most_s, err);
}

static enum fr_status propose_ranks(struct choosing *x, struct fr__choice *out,
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
static enum fr_status propose(struct choosing *x, struct fr__choice *out, struct fr_error *err)
{
    const struct fr__chain *c = x->in->chain;

    if (c->n_stages > c->n_ranks)
        return propose_ranks(x, out, err);
    return fr__cut_best(c, &x->aim, x->trial, &out->best, err);
}

static enum fr_status choose(struct choosing *x, struct fr__choice *out, struct fr_error *err)
{
    const struct fr__chain *c = x->in->chain;
    bool fits, is_better = false;

    out->rule = x->aim.rule;
    FR_TRY(propose(x, out, err));
    fits = fr__cut_excess_bytes(c, x->first, x->excess_bytes) <= 0;
    memcpy(x->given, x->first, (c->n_stages + 1) * sizeof(*x->given));
    FR_TRY(price(x, x->first, &out->given_s, err));
    x->best_s = fits ? out->given_s : INFINITY;
    if (!isinf(out->best.cost_s) && c->n_stages == c->n_ranks)
        FR_TRY(try(x, BETTER, &is_better, err));
    out->by = is_better ? FR__CHOSEN_FORM : FR__CHOSEN_GIVEN;
    if (!fits)
        out->given_s = INFINITY; /* whatever fits is better */
    if (x->aim.rule == FR__CUT_TURNS && !isinf(x->best_s))
        FR_TRY(improve(x, x->given, out, err));
    if (isinf(out->given_s))
        FR_TRY(price(x, x->given, &out->given_s, err));
    out->planned_s = isinf(x->best_s) ? out->given_s : x->best_s;
    out->n_tried = x->n_tried;
    return FR_OK;
}

/* ---- both questions ---- */

static void release(struct choosing *x)
{
    fr__timed_free(x->timed);
    free(x->stages);
    free(x->tail_s);
    free(x->excess_bytes);
    free(x->trial);
    free(x->given);
}

static enum fr_status begin(struct choosing *x, struct fr_error *err)
{
    const struct fr__chain *c = x->in->chain;

    x->aim = aim_of(x->in->schedule);
    x->stages = calloc(c->n_stages, sizeof(*x->stages));
    x->tail_s = calloc(c->n_ranks, sizeof(*x->tail_s));
    x->excess_bytes = calloc(c->n_ranks, sizeof(*x->excess_bytes));
    x->trial = calloc(c->n_stages + 1, sizeof(*x->trial));
    x->given = calloc(c->n_stages + 1, sizeof(*x->given));
    if (!x->stages || !x->tail_s || !x->excess_bytes || !x->trial || !x->given)
        return fr__fail_nomem(err);
    if (x->aim.rule != FR__CUT_PERIOD)
        FR_TRY(fr__timed_new(&x->timed, x->in->schedule, err));
    return FR_OK;
}

enum fr_status fr__cut_planned(const struct fr__choice_problem *in, const uint32_t first[],
                               double *planned_s, struct fr_error *err)
{
    struct choosing x = {.in = in};
    enum fr_status st = begin(&x, err);

    if (st == FR_OK)
        st = price(&x, first, planned_s, err);
    release(&x);
    return st;
}

/* What the schedule takes if the work, the transfers and the updates of all stages together were
 * shared out evenly. */
static enum fr_status price_even(struct choosing *x, double *s, struct fr_error *err)
{
    const struct fr__chain *c = x->in->chain;
    struct fr__timed_stage all = {0};
    double tail_s = 0, k = (double)c->n_stages;

    describe(x, x->first);
    for (size_t i = 0; i < c->n_stages; i++) {
        all.forward_s += x->stages[i].forward_s / k;
        all.input_s += x->stages[i].input_s / k;
        all.weight_s += x->stages[i].weight_s / k;
        all.forward_host_s += x->stages[i].forward_host_s / k;
        all.input_host_s += x->stages[i].input_host_s / k;
        all.weight_host_s += x->stages[i].weight_host_s / k;
        all.send_s += x->stages[i].send_s / (k - 1);
        all.back_s += x->stages[i].back_s / (k - 1);
    }
    for (size_t r = 0; r < c->n_ranks; r++)
        tail_s += x->tail_s[r] / (double)c->n_ranks;
    for (size_t i = 0; i < c->n_stages; i++)
        x->stages[i] = all;
    for (size_t r = 0; r < c->n_ranks; r++)
        x->tail_s[r] = tail_s;
    return fr__timed_run(x->timed, x->stages, x->tail_s, s, err);
}

static enum fr_status choose_in(const struct fr__choice_problem *in, uint32_t first[],
                                struct fr__choice *out, struct fr_error *err)
{
    struct choosing x = {.in = in, .first = first};
    enum fr_status st = begin(&x, err);

    if (st == FR_OK)
        st = choose(&x, out, err);
    if (st == FR_OK && in->chain->n_stages > in->chain->n_ranks && x.timed)
        st = price_even(&x, &out->even_s, err);
    release(&x);
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
