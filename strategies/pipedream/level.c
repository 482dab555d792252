/* strategies/pipedream/level.c - the dynamic program of one level of machines.
 *
 * A(i, j, m): the least time between mini-batches with layers of states i..j on m groups of
 * machines. All together on m groups (fr__pd_replicated_s), or the last part, states k + 1..j, on
 * m' of them and the rest before it:
 *
 *     A(i, j, m) = min over k inside j, m' < m of max(A(i, k, m - m'), T(k + 1, j, m'), C)
 *
 *   mode=code  T = (t + 4 (m' - 1) p / (B m')) / m', C only with `compression`: what goes in and
 *              out of the last part over m' links, 2 a / (B m') / compression. The program
 *              divides the second summand by the machines of the level below as well, but only
 *              where all m groups compute all of i..j (is_first).
 *   mode=paper T = max(t, 2 (m' - 1) p / B) / m', C = 2 a(k) / B, divided by `compression`
 *              if given; parts must be sets of layers (state i - 1 inside k inside j).
 *
 * t is what one group takes, p the bytes of parameters, a(k) those that go over the cut, B the
 * bandwidth. Memory, per part: ceil((M - m so far) / m') mini-batches of activations and
 * parameters, M of the level.
 *
 * The search is exact. A grows with the work of state k and T falls, roughly. So states are looked
 * at in the order of their work (two branches of a model make many states beside each other, whose
 * order of the program says little of it); the search begins where A and T meet and goes both ways
 * while bounds (the least A from k on, the least T up to k) promise less than the best so far. Time
 * and memory tests give the same doubles as a full search: only maxima and minima are taken of
 * them.
 */
#include "config.h"

#include "strategies/pipedream/pipedream.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

/* One group of the level below on states i..j. */
static double group_s(const struct fr__pd_table *t, uint32_t i, uint32_t j)
{
    const struct fr__pd_states *s = t->states;

    if (t->below_s)
        return t->below_s[i * s->n + j];
    return i == 0 ? s->both_s[j] : s->both_s[j] - s->both_s[i - 1];
}

static double between(const double *sum, uint32_t i, uint32_t j)
{
    return i == 0 ? sum[j] : sum[j] - sum[i - 1];
}

double fr__pd_spread_s(const struct fr__pd_table *t, double base_s, double param_bytes, uint32_t m,
                       bool is_first)
{
    const struct fr__pd_options *o = t->options;
    double bytes_per_s = o->levels[t->level].bytes_per_s, n = m, sum_s;

    if (o->mode == FR__PD_PAPER)
        return fmax(base_s, 2 * (n - 1) * param_bytes / bytes_per_s) / n;
    sum_s = 4 * (n - 1) * param_bytes / (bytes_per_s * n);
    if (is_first && t->level > 0)
        sum_s /= o->levels[t->level - 1].n;
    return (base_s + sum_s) / n;
}

double fr__pd_replicated_s(const struct fr__pd_table *t, uint32_t i, uint32_t j, uint32_t m,
                           bool is_first)
{
    return fr__pd_spread_s(t, group_s(t, i, j), between(t->states->param_bytes, i, j), m, is_first);
}

/* Whether states i..j fit where n_left groups come after m replicas of them. */
static bool fits(const struct fr__pd_table *t, uint32_t i, uint32_t j, size_t n_left, uint32_t m)
{
    const struct fr__pd_states *s = t->states;
    double bytes;

    if (t->options->memory_bytes <= 0)
        return true;
    bytes = between(s->activation_bytes, i, j) + between(s->param_bytes, i, j);
    return bytes * (double)((n_left + m - 1) / m) <= t->options->memory_bytes;
}

static double exchange_s(const struct fr__pd_table *t, double bytes, uint32_t m)
{
    const struct fr__pd_options *o = t->options;
    double bytes_per_s = o->levels[t->level].bytes_per_s, seconds;

    seconds = 2.0 * bytes / (o->mode == FR__PD_CODE ? bytes_per_s * m : bytes_per_s);
    return o->compression > 0 ? seconds / o->compression : seconds;
}

double fr__pd_crossing_s(const struct fr__pd_table *t, uint32_t k, uint32_t j, uint32_t m)
{
    const struct fr__pd_states *s = t->states;
    double seconds;

    if (t->options->mode == FR__PD_CODE && t->options->compression <= 0)
        return 0;
    seconds = exchange_s(t, s->out_bytes[k], m);
    if (t->options->mode == FR__PD_CODE && j + 1 < s->n)
        seconds = fmax(seconds, exchange_s(t, s->out_bytes[j], m));
    return seconds;
}

/* The part k + 1..j on m replicas, with what goes in and out of it. */
static double last_s(const struct fr__pd_table *t, uint32_t k, uint32_t j, uint32_t m)
{
    return fmax(fr__pd_replicated_s(t, k + 1, j, m, false), fr__pd_crossing_s(t, k, j, m));
}

/* No more than last_s() for any state up to place p of the row; falls with p. Without divisions, so
 * a hair is taken off for what they may round otherwise. */
static double last_floor_s(const struct fr__pd_row *r, uint32_t p, uint32_t j, uint32_t m)
{
    const double hair = 1e-12;
    const struct fr__pd_table *t = r->table;
    const struct fr__pd_states *s = t->states;
    uint32_t k = s->rank_of[r->order[p]];
    double base_s = t->floor_s ? t->floor_s[j * s->n + k] : s->both_s[j] - r->most_both_s[k];
    double sum_s = r->sum_s_per_byte[m - 1] * (s->param_bytes[j] - r->most_param_bytes[k]);
    double seconds;

    if (t->options->mode == FR__PD_PAPER)
        seconds = (base_s > sum_s ? base_s : sum_s) * r->share[m - 1];
    else
        seconds = (base_s + sum_s) * r->share[m - 1];
    return seconds - hair * fabs(seconds);
}

/* ---- one row: all j and m of one i ---- */

enum fr_status fr__pd_row_init(struct fr__pd_row *r, const struct fr__pd_table *t,
                               struct fr_error *err)
{
    const struct fr__pd_states *s = t->states;

    *r = (struct fr__pd_row){.table = t, .m = t->options->levels[t->level].n};
    r->time_s = malloc(r->m * s->n * sizeof(double));
    r->order = malloc(s->n * sizeof(*r->order));
    r->ordered_s = malloc(r->m * s->n * sizeof(double));
    r->least_s = malloc(r->m * s->n * sizeof(double));
    r->most_both_s = malloc(s->n * sizeof(double));
    r->most_param_bytes = malloc(s->n * sizeof(double));
    r->sum_s_per_byte = malloc(r->m * sizeof(double));
    r->share = malloc(r->m * sizeof(double));
    r->meet = calloc(r->m * r->m, sizeof(*r->meet));
    r->likely = malloc(r->m * sizeof(*r->likely));
    if (!r->time_s || !r->order || !r->ordered_s || !r->least_s || !r->most_both_s ||
        !r->most_param_bytes || !r->sum_s_per_byte || !r->share || !r->meet || !r->likely) {
        fr__pd_row_fini(r);
        return fr__fail_nomem(err);
    }
    for (uint32_t m = 1; m <= r->m; m++) {
        double sum_s = fr__pd_spread_s(t, 0, 1, m, false) * m; /* of a byte and no work */

        r->likely[m - 1] = 1;
        r->share[m - 1] = 1.0 / m;
        r->sum_s_per_byte[m - 1] = sum_s;
    }
    for (size_t k = 0; k < s->n; k++) {
        uint32_t state = s->by_work[k];

        r->most_both_s[k] = k ? fmax(r->most_both_s[k - 1], s->both_s[state]) : s->both_s[state];
        r->most_param_bytes[k] =
            k ? fmax(r->most_param_bytes[k - 1], s->param_bytes[state]) : s->param_bytes[state];
    }
    return FR_OK;
}

void fr__pd_row_fini(struct fr__pd_row *r)
{
    free(r->time_s);
    free(r->order);
    free(r->ordered_s);
    free(r->least_s);
    free(r->most_both_s);
    free(r->most_param_bytes);
    free(r->sum_s_per_byte);
    free(r->share);
    free(r->meet);
    free(r->likely);
    *r = (struct fr__pd_row){0};
}

static double *cell(const struct fr__pd_row *r, uint32_t m)
{
    return r->time_s + (m - 1) * r->table->states->n;
}

/* Whether states first..j are the layers of a set, as the paper's formula wants. */
static bool is_real(const struct fr__pd_row *r, uint32_t j)
{
    const struct fr__pd_states *s = r->table->states;

    return r->first == 0 || fr__pd_has(s->before + j * s->n_before_words, r->first - 1);
}

/* All of first..j on m groups; infinite: it does not fit, or may not be. */
static double whole_s(const struct fr__pd_row *r, uint32_t j, uint32_t m)
{
    const struct fr__pd_table *t = r->table;

    if ((t->options->is_straight && m > 1) || !fits(t, r->first, j, r->m - m, m))
        return INFINITY;
    if (t->options->mode == FR__PD_PAPER && !is_real(r, j))
        return INFINITY;
    return fr__pd_replicated_s(t, r->first, j, m, true);
}

/* How the search for one cell and m' goes, over places of the row's order. */
struct scan {
    const struct fr__pd_row *r;
    const uint64_t *inside; /* states inside j */
    const double *before_s; /* A(first, k, m - m') */
    const double *least_s;
    uint32_t j, end, m, replicas; /* end: of the places before j's */
    double best_s;
};

static void look(struct scan *c, uint32_t place)
{
    const struct fr__pd_table *t = c->r->table;
    double seconds = c->before_s[place], last;
    uint32_t k = c->r->order[place];

    if (!(seconds < c->best_s) || !fr__pd_has(c->inside, k))
        return;
    last = last_s(t, k, c->j, c->replicas);
    if (last > seconds)
        seconds = last;
    if (seconds < c->best_s && fits(t, k + 1, c->j, c->r->m - c->m, c->replicas))
        c->best_s = seconds;
}

static bool is_past(const struct scan *c, uint32_t k)
{
    return c->least_s[k] >= last_floor_s(c->r, k, c->j, c->replicas);
}

/* The first place from which on A is no less than T's floor, end: none. It moves little from one j
 * to the next: the search begins there, in steps that double, and ends in halves. */
static uint32_t find_meet(const struct scan *c)
{
    uint32_t *kept = &c->r->meet[(c->m - 1) * c->r->m + c->replicas - 1];
    uint32_t low = 0, high = c->end, k = *kept;

    if (k >= high)
        k = high - 1;
    if (is_past(c, k)) {
        high = k;
        for (uint32_t step = 1; low < high; step *= 2) {
            k = high - low > step ? high - step : low;
            if (!is_past(c, k)) {
                low = k + 1;
                break;
            }
            high = k;
        }
    } else {
        low = k + 1;
        for (uint32_t step = 1; low < high; step *= 2) {
            k = high - low > step ? low + step - 1 : high - 1;
            if (is_past(c, k)) {
                high = k;
                break;
            }
            low = k + 1;
        }
    }
    while (low < high) {
        k = low + (high - low) / 2;
        if (is_past(c, k))
            high = k;
        else
            low = k + 1;
    }
    return *kept = low;
}

/* Whether the bounds about the k kept from the last j promise nothing below the best so far: A is
 * no less than least_s[k] from there on, and T no less than its floor before. */
static bool is_vain(const struct scan *c)
{
    uint32_t k = c->r->meet[(c->m - 1) * c->r->m + c->replicas - 1];

    if (k > c->end)
        return false;
    return (k == c->end || !(c->least_s[k] < c->best_s)) &&
           (k == 0 || !(last_floor_s(c->r, k - 1, c->j, c->replicas) < c->best_s));
}

static void search(struct scan *c)
{
    uint32_t meet;

    if (is_vain(c))
        return;
    meet = find_meet(c);
    for (uint32_t k = meet; k < c->end && c->least_s[k] < c->best_s; k++)
        look(c, k);
    for (uint32_t k = meet; k > 0; k--) {
        if (!(last_floor_s(c->r, k - 1, c->j, c->replicas) < c->best_s))
            return;
        look(c, k - 1);
    }
}

static void search_with(struct scan *c, uint32_t replicas)
{
    c->replicas = replicas;
    c->before_s = c->r->ordered_s + (c->m - replicas - 1) * c->r->table->states->n;
    c->least_s = c->r->least_s + (c->m - replicas - 1) * c->r->table->states->n;
    search(c);
}

/* Of the row's state at that place. */
static double cell_s(const struct fr__pd_row *r, uint32_t place, uint32_t m)
{
    const struct fr__pd_options *o = r->table->options;
    const struct fr__pd_states *s = r->table->states;
    uint32_t j = r->order[place];
    struct scan c = {
        .r = r, .inside = s->before + j * s->n_before_words, .j = j, .end = place, .m = m};
    uint32_t likely = r->likely[m - 1];

    c.best_s = whole_s(r, j, m);
    if (j == r->first || m == 1)
        return c.best_s;
    if (o->uses_fewer && cell(r, m - 1)[j] < c.best_s)
        c.best_s = cell(r, m - 1)[j];
    if (place == 0)
        return c.best_s;
    /* first what was best for the state before: bounds then leave little of the others */
    search_with(&c, r->likely[m - 1]);
    for (uint32_t n = 1; n < (o->is_straight ? 2 : m); n++) {
        double before_s = c.best_s;

        if (n != r->likely[m - 1])
            search_with(&c, n);
        likely = c.best_s < before_s ? n : likely;
    }
    r->likely[m - 1] = likely;
    return c.best_s;
}

/* Time of the state at that place enters the bounds of those up to it. */
static void lower(const struct fr__pd_row *r, uint32_t place, uint32_t m)
{
    size_t row = (m - 1) * r->table->states->n;
    double *least_s = r->least_s + row, seconds = cell(r, m)[r->order[place]];

    r->ordered_s[row + place] = least_s[place] = seconds;
    for (uint32_t k = place; k > 0 && least_s[k - 1] > seconds; k--)
        least_s[k - 1] = seconds;
}

void fr__pd_row_fill(struct fr__pd_row *r, uint32_t first, uint32_t end)
{
    const struct fr__pd_states *s = r->table->states;

    r->first = first;
    r->n_order = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->by_work[i] >= first && s->by_work[i] < end)
            r->order[r->n_order++] = s->by_work[i];
    for (uint32_t i = 0; i < r->n_order; i++) {
        for (uint32_t m = 1; m <= r->m; m++)
            cell(r, m)[r->order[i]] = cell_s(r, i, m);
        for (uint32_t m = 1; m <= r->m; m++)
            lower(r, i, m);
    }
}

struct fr__pd_choice fr__pd_row_choice(const struct fr__pd_row *r, uint32_t j, uint32_t m)
{
    const struct fr__pd_table *t = r->table;
    const uint64_t *inside = t->states->before + j * t->states->n_before_words;
    struct fr__pd_choice c = {.time_s = cell(r, m)[j], .split = FR_NONE, .replicas = m};

    /* in the program's order, the first that gives the least */
    if (isinf(c.time_s) || whole_s(r, j, m) == c.time_s)
        return c;
    if (t->options->uses_fewer && m > 1 && cell(r, m - 1)[j] == c.time_s)
        return fr__pd_row_choice(r, j, m - 1);
    for (uint32_t k = r->first; k < j; k++)
        for (uint32_t n = 1; n < (t->options->is_straight ? 2 : m); n++) {
            double before_s = cell(r, m - n)[k];

            if (!fr__pd_has(inside, k) || !(before_s <= c.time_s) ||
                fmax(before_s, last_s(t, k, j, n)) > c.time_s || !fits(t, k + 1, j, r->m - m, n))
                continue;
            c.split = k;
            c.m_before = m - n;
            c.replicas = n;
            return c;
        }
    return c;
}
