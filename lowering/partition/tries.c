/* lowering/partition/tries.c - what a cut takes by its schedule, and the search for a better one.
 */
#include "config.h"

#include "lowering/partition/tries.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ACTIONS = 1000000 };
static const double MUCH_FRAC = 0.02; /* of the time that was planned; a choice of ours */

/* ---- what a cut takes ---- */

static double between(const double *sum, const uint32_t first[], size_t s)
{
    return sum[first[s + 1]] - sum[first[s]];
}

/* A stage's buckets, each with its latency; a tensor is in one bucket. */
static void describe_sum(const struct fr__tries *x, const uint32_t first[], size_t s)
{
    const struct fr__stage_sums *sums = &x->in->sums;
    uint32_t rank = x->in->chain->rank_of[s];
    double bytes = between(x->in->sent_bytes, first, s);

    if (!(bytes > 0))
        return;
    x->stages[s].n_sums =
        fmax(1, fmin(ceil(bytes / sums->bucket_bytes), between(x->in->n_sent, first, s)));
    x->stages[s].sum_s =
        x->stages[s].n_sums * sums->latency_s[rank] + bytes * sums->s_per_byte[rank];
}

static size_t stage_of(const struct fr__tries *x, const uint32_t first[], uint32_t item)
{
    size_t s = 0;

    while (s + 1 < x->in->chain->n_stages && first[s + 1] <= item)
        s++;
    return s;
}

/* What comes after the backward pass of one item. */
static double tail_of(const struct fr__tries *x, size_t s, uint32_t item)
{
    return x->in->tail_s[s][item + 1] - x->in->tail_s[s][item];
}

/* New parameters come back to a stage once, whatever uses them there. */
static bool comes_back(const struct fr__tries *x, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (x->in->ties[k].owner == x->in->ties[i].owner && x->ties[k].user == x->ties[i].user &&
            x->ties[k].back_s > 0)
            return false;
    return true;
}

static void describe_ties(struct fr__tries *x, const uint32_t first[])
{
    size_t n_stages = x->in->chain->n_stages;

    for (size_t i = 0; i < x->in->n_ties; i++) {
        const struct fr__tie *t = &x->in->ties[i];
        size_t owner = stage_of(x, first, t->owner), user = stage_of(x, first, t->user);
        struct fr__timed_tie *k = &x->ties[i];

        *k = (struct fr__timed_tie){.owner = (uint32_t)owner,
                                    .user = (uint32_t)user,
                                    .is_sum = t->is_sum,
                                    .send_s = t->send_s[owner * n_stages + user],
                                    .owner_s = tail_of(x, owner, t->owner),
                                    .user_s = tail_of(x, user, t->user)};
        if (!t->is_sum && comes_back(x, i))
            k->back_s = t->back_s[owner * n_stages + user];
    }
}

void fr__tries_describe(struct fr__tries *x, const uint32_t first[])
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
        if (x->in->sums.latency_s)
            describe_sum(x, first, s);
        x->tail_s[c->rank_of[s]] += between(x->in->tail_s[s], first, s);
    }
    describe_ties(x, first);
}

/* Passes of a stage, or their launches where those take longer. */
static double passes_s(const struct fr__timed_stage *k)
{
    return fmax(k->forward_s + k->input_s + k->weight_s,
                k->forward_host_s + k->input_host_s + k->weight_host_s);
}

/* What a stage sends for a micro-batch, one after the other: both ways, and where tables are
 * updated after each micro-batch, these and their gradients. */
static double sends_s(const struct fr__tries *x, size_t s, bool is_each)
{
    double sum_s = x->stages[s].back_s;

    if (s + 1 < x->in->chain->n_stages)
        sum_s += x->stages[s + 1].send_s;
    for (size_t i = 0; is_each && i < x->in->n_ties; i++) {
        if (x->ties[i].user == s)
            sum_s += x->ties[i].send_s;
        if (x->ties[i].owner == s)
            sum_s += x->ties[i].back_s;
    }
    return sum_s;
}

/* What tables add that are updated once: their gradients leave after the last micro-batch, and the
 * first of the next iteration reads the new ones. */
static double ties_interval_s(const struct fr__tries *x, bool is_each)
{
    double most_s = 0;

    for (size_t i = 0; !is_each && i < x->in->n_ties; i++)
        most_s = fmax(most_s, x->ties[i].send_s + x->ties[i].back_s);
    return most_s;
}

/* Interval of an iteration without a flush: a rank updates once in n_together micro-batches, or
 * after each where n_together is 1. A stage begins the next forward pass once one of its in_flight
 * micro-batches is back, so that no stage hands them on faster than they come back, so many
 * together (J. D. C. Little, Operations Research 9(3), 1961). */
static double interval_s(const struct fr__tries *x)
{
    const struct fr__chain *c = x->in->chain;
    bool is_each = x->in->schedule->weights == FR_WEIGHTS_STASH ||
                   x->in->schedule->weights == FR_WEIGHTS_VERTICAL;
    double most_s = 0, trip_s = 0; /* of a micro-batch from a stage to the last and back */

    for (size_t s = c->n_stages; s-- > 0;) {
        const struct fr__timed_stage *k = &x->stages[s];
        double n_updates = is_each ? x->in->n_together : 1;
        double load_s = fmax(passes_s(k), sends_s(x, s, is_each));

        trip_s += passes_s(k);
        load_s = fmax(load_s, trip_s / fmax(1, c->in_flight[s]));
        most_s = fmax(most_s, x->in->n_together * load_s);
        most_s =
            fmax(most_s, x->in->n_together * passes_s(k) + n_updates * x->tail_s[c->rank_of[s]]);
        trip_s += k->send_s + k->back_s;
    }
    return most_s + ties_interval_s(x, is_each);
}

double fr__tries_price(struct fr__tries *x, const uint32_t first[])
{
    x->n_tried++;
    fr__tries_describe(x, first);
    if (x->aim.rule == FR__CUT_PERIOD)
        return interval_s(x);
    return fr__timed_run(x->timed, x->stages, x->tail_s);
}

/* Keeps the trial if it fits and takes less. Returns whether it was so. */
bool fr__tries_try(struct fr__tries *x)
{
    const struct fr__chain *c = x->in->chain;
    double s;

    if (fr__cut_excess_bytes(c, x->trial, x->excess_bytes) > 0)
        return false;
    s = fr__tries_price(x, x->trial);
    if (!(s < x->best_s * FR__TRIES_BETTER))
        return false;
    x->best_s = s;
    memcpy(x->first, x->trial, (c->n_stages + 1) * sizeof(*x->first));
    return true;
}

bool fr__tries_has_work(const struct fr__tries *x)
{
    return (x->n_tried + 1 - x->n_before) * x->in->schedule->n_actions <= MOST_ACTIONS;
}

/* ---- all of them ---- */

/* n - 1 over k - 1 of them. */
bool fr__tries_can_be_all(const struct fr__tries *x)
{
    double n_cuts = 1, most = MOST_ACTIONS / (double)(x->in->schedule->n_actions + 1);
    size_t n = x->in->chain->n - 1, k = x->in->chain->n_stages - 1;

    for (size_t i = 0; i < k && n_cuts <= most * (double)n; i++)
        n_cuts *= (double)(n - i) / (double)(i + 1);
    return n_cuts <= most;
}

/* The next cut in the order of its borders, the last one fastest. false: it was the last. */
static bool next_cut(const struct fr__tries *x)
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

static void try_all(struct fr__tries *x)
{
    size_t k = x->in->chain->n_stages;

    for (size_t s = 0; s < k; s++)
        x->trial[s] = (uint32_t)s;
    x->trial[k] = (uint32_t)x->in->chain->n;
    do
        (void)fr__tries_try(x);
    while (next_cut(x));
}

/* ---- one from another ---- */

/* How far a border moves: to the next item, or to the next place where little crosses. */
enum step { STEP_ITEM, STEP_PLACE, N_STEPS };

static uint32_t next_border(const struct fr__tries *x, uint32_t border, enum step step, bool is_up)
{
    if (step == STEP_PLACE)
        return is_up ? x->after[border] : x->before[border];
    return is_up ? border + 1 : border - 1;
}

/* Borders from .. to of the trial, a step up or down. false: a stage would be empty. */
static bool move(struct fr__tries *x, size_t from, size_t to, enum step step, bool is_up)
{
    size_t k = x->in->chain->n_stages;

    memcpy(x->trial, x->first, (k + 1) * sizeof(*x->trial));
    for (size_t b = from; b <= to; b++)
        x->trial[b] = next_border(x, x->first[b], step, is_up);
    for (size_t b = from; b <= to + 1; b++)
        if (x->trial[b] <= x->trial[b - 1])
            return false;
    return true;
}

/* Moves of `width` borders at once. Returns whether one helped. */
static bool move_all(struct fr__tries *x, size_t width, enum step step)
{
    size_t k = x->in->chain->n_stages;
    bool helped = false;

    for (size_t from = 1; from + width <= k && fr__tries_has_work(x); from++)
        for (int is_up = 0; is_up < 2 && fr__tries_has_work(x); is_up++) {
            bool is_better = true;

            while (is_better && fr__tries_has_work(x) &&
                   move(x, from, from + width - 1, step, is_up)) {
                is_better = fr__tries_try(x);
                helped = helped || is_better;
            }
        }
    return helped;
}

/* Two borders, each a step up or down: with several stages a rank, work goes from one rank to
 * another through borders that are no neighbours. */
static bool move_pairs(struct fr__tries *x, enum step step)
{
    size_t k = x->in->chain->n_stages;
    bool helped = false;

    for (size_t a = 1; a < k; a++)
        for (size_t b = a + 1; b < k; b++)
            for (unsigned ways = 0; ways < 4 && fr__tries_has_work(x); ways++) {
                bool is_cut = move(x, a, a, step, ways & 1);

                x->trial[b] = next_border(x, x->first[b], step, ways & 2);
                for (size_t s = 0; s < k; s++)
                    is_cut = is_cut && x->trial[s] < x->trial[s + 1];
                helped = (is_cut && fr__tries_try(x)) || helped;
            }
    return helped;
}

/* From x->first on. Small steps end between two places where little crosses; then the next such
 * place is tried, and from there small steps again. */
static void descend(struct fr__tries *x)
{
    const struct fr__chain *c = x->in->chain;
    bool helped = true;

    while (helped && fr__tries_has_work(x)) {
        helped = false;
        for (int step = 0; step < N_STEPS && !helped; step++) {
            for (size_t width = 1; width < c->n_stages && !helped; width++)
                helped = move_all(x, width, (enum step)step);
            if (!helped && c->n_stages > c->n_ranks)
                helped = move_pairs(x, (enum step)step);
        }
    }
}

/* ---- where a search begins ---- */

/* Both ways over one link: all links of a model see the same bytes. */
static double crossing_s(const struct fr__chain *c, size_t i)
{
    return c->send_s[1][i] + c->back_s[1][i];
}

static bool is_little(const struct fr__chain *c, size_t i)
{
    return (i == 1 || crossing_s(c, i) <= crossing_s(c, i - 1)) &&
           (i + 1 == c->n || crossing_s(c, i) <= crossing_s(c, i + 1));
}

/* Beyond the last of them stand the ends of the chain. */
static void find_places(struct fr__tries *x)
{
    const struct fr__chain *c = x->in->chain;
    uint32_t next = 0;

    for (uint32_t i = 0; i <= c->n; i++) {
        x->before[i] = next;
        next = i > 0 && i < c->n && is_little(c, i) ? i : next;
    }
    next = (uint32_t)c->n;
    for (uint32_t i = (uint32_t)c->n + 1; i-- > 0;) {
        x->after[i] = next;
        next = i > 0 && i < c->n && is_little(c, i) ? i : next;
    }
}

/* Both passes of the first i items, or their launches where those take longer. */
static double first_s(const struct fr__choice_problem *in, size_t i)
{
    double host_s = in->forward_host_s ? in->forward_host_s[0][i] + in->backward_host_s[0][i] : 0;

    return fmax(fr__cut_passes_s(in->chain, 0, 0, i), host_s);
}

bool fr__tries_evenly(struct fr__tries *x)
{
    const struct fr__chain *c = x->in->chain;
    size_t k = c->n_stages;
    double all_s = first_s(x->in, c->n);

    x->trial[0] = 0;
    x->trial[k] = (uint32_t)c->n;
    for (size_t s = 1; s < k; s++) {
        double goal_s = all_s * (double)s / (double)k, least_s = INFINITY;

        for (size_t i = x->trial[s - 1] + 1; i + (k - s) <= c->n; i++) {
            double off_s = fabs(first_s(x->in, i) - goal_s) + crossing_s(c, i);

            if (off_s < least_s) {
                least_s = off_s;
                x->trial[s] = (uint32_t)i;
            }
        }
        if (isinf(least_s))
            return false;
    }
    return true;
}

/* Descends from the other cut as well, which takes other_s, and keeps the better end. */
static void descend_too(struct fr__tries *x, uint32_t other[], double other_s)
{
    size_t width = x->in->chain->n_stages + 1;
    double end_s = x->best_s;

    if (isinf(other_s) || !fr__tries_has_work(x))
        return;
    memcpy(x->trial, x->first, width * sizeof(*x->trial));
    memcpy(x->first, other, width * sizeof(*x->first));
    memcpy(other, x->trial, width * sizeof(*other));
    x->best_s = other_s;
    descend(x);
    if (x->best_s >= end_s * FR__TRIES_BETTER) {
        x->best_s = end_s;
        memcpy(x->first, other, width * sizeof(*x->first));
    }
}

/* Whether what stages share takes a part of the time that is worth another descent. */
static bool shares_much(struct fr__tries *x)
{
    double ties_s = 0;

    fr__tries_describe(x, x->first);
    for (size_t i = 0; i < x->in->n_ties; i++)
        if (x->ties[i].owner != x->ties[i].user)
            ties_s += x->ties[i].send_s + x->ties[i].back_s;
    return ties_s > MUCH_FRAC * x->best_s;
}

/* The trial: stage s has all items that use a tie's table and those between them, the other stages
 * have as many items each. false: too few are left for them. */
static bool hold_together(const struct fr__tries *x, const struct fr__tie *tie, size_t s)
{
    size_t k = x->in->chain->n_stages, n = x->in->chain->n, n_after = k - 1 - s, rest;
    uint32_t low = tie->owner, high = tie->owner;

    for (size_t i = 0; i < x->in->n_ties; i++)
        if (x->in->ties[i].owner == tie->owner) {
            low = x->in->ties[i].user < low ? x->in->ties[i].user : low;
            high = x->in->ties[i].user > high ? x->in->ties[i].user : high;
        }
    rest = n - 1 - high;
    if (low < s || rest < n_after)
        return false;
    for (size_t b = 1; b <= s; b++)
        x->trial[b] = (uint32_t)(low * b / s);
    for (size_t b = 0; b < n_after; b++)
        x->trial[s + 1 + b] = (uint32_t)(high + 1 + rest * b / n_after);
    x->trial[0] = 0;
    x->trial[k] = (uint32_t)n;
    return true;
}

/* A cut that leaves all who use a table in one stage is far from any that does not: no step of a
 * border leads there. */
static void descend_together(struct fr__tries *x)
{
    size_t k = x->in->chain->n_stages;

    if (!shares_much(x))
        return;
    for (size_t i = 0; i < x->in->n_ties; i++)
        for (size_t s = 0; s < k && fr__tries_has_work(x); s++) {
            if (!hold_together(x, &x->in->ties[i], s) ||
                fr__cut_excess_bytes(x->in->chain, x->trial, x->excess_bytes) > 0)
                continue;
            memcpy(x->other, x->trial, (k + 1) * sizeof(*x->other));
            descend_too(x, x->other, fr__tries_price(x, x->trial));
        }
}

void fr__tries_search(struct fr__tries *x)
{
    size_t width = x->in->chain->n_stages + 1;
    double other_s = INFINITY;
    bool is_better = false;

    if (fr__tries_can_be_all(x)) {
        try_all(x);
        return;
    }
    if (x->in->chain->n_stages == 1)
        return;
    find_places(x);
    if (fr__tries_evenly(x) && fr__cut_excess_bytes(x->in->chain, x->trial, x->excess_bytes) <= 0) {
        memcpy(x->other, x->trial, width * sizeof(*x->other));
        other_s = fr__tries_price(x, x->trial);
        is_better = other_s < x->best_s * FR__TRIES_BETTER;
    }
    if (is_better) {
        double best_s = x->best_s;

        memcpy(x->other, x->first, width * sizeof(*x->other));
        memcpy(x->first, x->trial, width * sizeof(*x->first));
        x->best_s = other_s;
        other_s = best_s;
    }
    descend(x);
    descend_too(x, x->other, other_s);
    descend_together(x);
}

/* ---- life ---- */

enum fr_status fr__tries_init(struct fr__tries *x, const struct fr__choice_problem *in,
                              const struct fr__cut_aim *aim, uint32_t first[], struct fr_error *err)
{
    const struct fr__chain *c = in->chain;
    size_t width = c->n_stages + 1;

    *x = (struct fr__tries){.in = in, .aim = *aim, .first = first};
    x->stages = calloc(c->n_stages, sizeof(*x->stages));
    x->tail_s = calloc(c->n_ranks, sizeof(*x->tail_s));
    x->ties = calloc(in->n_ties + 1, sizeof(*x->ties));
    x->excess_bytes = calloc(c->n_ranks, sizeof(*x->excess_bytes));
    x->trial = calloc(width, sizeof(*x->trial));
    x->given = calloc(width, sizeof(*x->given));
    x->other = calloc(width, sizeof(*x->other));
    x->after = calloc(c->n + 1, sizeof(*x->after));
    x->before = calloc(c->n + 1, sizeof(*x->before));
    if (!x->stages || !x->tail_s || !x->ties || !x->excess_bytes || !x->trial || !x->given ||
        !x->other || !x->after || !x->before)
        return fr__fail_nomem(err);
    if (x->aim.rule == FR__CUT_PERIOD)
        return FR_OK;
    FR_TRY(fr__timed_new(&x->timed, in->schedule, err));
    fr__timed_tie(x->timed, x->ties, in->n_ties);
    return FR_OK;
}

void fr__tries_fini(struct fr__tries *x)
{
    fr__timed_free(x->timed);
    free(x->stages);
    free(x->tail_s);
    free(x->ties);
    free(x->excess_bytes);
    free(x->trial);
    free(x->given);
    free(x->other);
    free(x->after);
    free(x->before);
}
