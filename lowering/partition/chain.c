/* lowering/partition/chain.c - what a cut of a chain costs and holds. */
#include "config.h"

#include "lowering/partition/chain.h"

#include <math.h>
#include <string.h>

struct fr__cut_part fr__cut_part(const struct fr__chain *c, const struct fr__cut_aim *a, size_t s,
                                 size_t begin, size_t end)
{
    double f_s = c->forward_s[s][end] - c->forward_s[s][begin];
    double b_s = c->backward_s[s][end] - c->backward_s[s][begin];
    double base_s = c->forward_s[0][end] - c->forward_s[0][begin] + c->backward_s[0][end] -
                    c->backward_s[0][begin];
    double send_s = s > 0 ? c->send_s[s][begin] : 0, back_s = s > 0 ? c->back_s[s][begin] : 0;
    struct fr__cut_part part = {.sum_s = f_s + b_s - base_s + send_s + back_s};

    if (a->is_sequential) {
        bool is_last = s + 1 == c->n_stages;

        f_s += send_s + (is_last ? 0 : c->send_s[s + 1][end]);
        b_s += back_s + (is_last ? 0 : c->back_s[s + 1][end]);
        send_s = back_s = 0;
    }
    if (a->rule == FR__CUT_PHASES) {
        part.load_s[0] = fmax(f_s, send_s);
        part.load_s[1] = fmax(b_s, back_s);
    } else {
        part.load_s[0] = fmax(f_s + b_s, fmax(send_s, back_s));
    }
    return part;
}

double fr__cut_passes_s(const struct fr__chain *c, size_t s, size_t begin, size_t end)
{
    return c->forward_s[s][end] - c->forward_s[s][begin] + c->backward_s[s][end] -
           c->backward_s[s][begin];
}

double fr__cut_most_s(const struct fr__chain *c, const uint32_t first[], double scratch[])
{
    double most_s = 0;

    memset(scratch, 0, c->n_ranks * sizeof(*scratch));
    for (size_t s = 0; s < c->n_stages; s++)
        scratch[c->rank_of[s]] += fr__cut_passes_s(c, s, first[s], first[s + 1]);
    for (size_t r = 0; r < c->n_ranks; r++)
        most_s = fmax(most_s, scratch[r]);
    return most_s;
}

double fr__cut_base_s(const struct fr__chain *c)
{
    return c->forward_s[0][c->n] + c->backward_s[0][c->n];
}

double fr__cut_total_s(const struct fr__cut_aim *a, const double load_s[FR__CUT_CLASSES],
                       double sum_s)
{
    if (a->rule == FR__CUT_PERIOD)
        return load_s[0];
    return sum_s + (a->n_micros - 1) * (load_s[0] + load_s[1]);
}

double fr__cut_cost_s(const struct fr__chain *c, const struct fr__cut_aim *a,
                      const uint32_t first[])
{
    double load_s[FR__CUT_CLASSES] = {0}, sum_s = 0;

    for (size_t s = 0; s < c->n_stages; s++) {
        const struct fr__cut_part part = fr__cut_part(c, a, s, first[s], first[s + 1]);

        for (int k = 0; k < FR__CUT_CLASSES; k++)
            load_s[k] = fmax(load_s[k], part.load_s[k]);
        sum_s += part.sum_s;
    }
    if (a->rule != FR__CUT_PERIOD)
        sum_s += fr__cut_base_s(c);
    return fr__cut_total_s(a, load_s, sum_s);
}

/* Of one live micro-batch. */
static double live_bytes(const struct fr__chain *c, size_t begin, size_t end)
{
    double bytes = c->live_bytes[end] - c->live_bytes[begin];

    return c->enter_bytes ? bytes + c->enter_bytes[begin] - c->leave_bytes[end] : bytes;
}

/* At the fullest moment of a rank. */
static double most_live_bytes(const struct fr__chain *c, const struct fr__moments *m,
                              const uint32_t first[])
{
    const uint32_t *row = m->counts;
    double most_bytes = 0;

    for (size_t i = 0; i < m->n; i++, row += 2 * m->n_stages) {
        double bytes = 0;

        for (size_t k = 0; k < m->n_stages; k++) {
            size_t begin = first[m->stages[k]], end = first[m->stages[k] + 1];

            bytes += row[k] * live_bytes(c, begin, end);
            if (row[m->n_stages + k] > 0)
                bytes += row[m->n_stages + k] * (c->half_bytes[end] - c->half_bytes[begin]);
        }
        most_bytes = fmax(most_bytes, bytes);
    }
    return most_bytes;
}

/* Of a stage whose items have these sums. */
static double held_bytes(const struct fr__chain *c, size_t s, double fixed_bytes, double live,
                         double half)
{
    const struct fr__moments *m = c->moments ? &c->moments[c->rank_of[s]] : NULL;
    double most_bytes = 0;

    if (!m || m->n_stages > 1)
        return fixed_bytes + c->in_flight[s] * live;
    for (size_t i = 0; i < m->n; i++)
        most_bytes = fmax(most_bytes, m->counts[2 * i] * live + m->counts[2 * i + 1] * half);
    return fixed_bytes + most_bytes;
}

double fr__cut_held_bytes(const struct fr__chain *c, size_t s, size_t begin, size_t end)
{
    double half = c->half_bytes ? c->half_bytes[end] - c->half_bytes[begin] : 0;

    return held_bytes(c, s, c->fixed_bytes[end] - c->fixed_bytes[begin], live_bytes(c, begin, end),
                      half);
}

/* The largest difference of prefix sums within a reach, at least 0. enter, leave: [n + 1] more by
 * where a part begins, less by where it ends; NULL: nothing. */
static double most_between(const double sum[], const double enter[], const double leave[],
                           const struct fr__cut_reach *r)
{
    double first = INFINITY, last = -INFINITY;

    for (size_t i = r->begin[0]; i <= r->begin[1]; i++)
        first = fmin(first, sum[i] - (enter ? enter[i] : 0));
    for (size_t j = r->end[0]; j <= r->end[1]; j++)
        last = fmax(last, sum[j] - (leave ? leave[j] : 0));
    return fmax(0, last - first);
}

double fr__cut_most_held_bytes(const struct fr__chain *c, size_t s, const struct fr__cut_reach *r)
{
    double fixed_bytes = most_between(c->fixed_bytes, NULL, NULL, r);
    double live = most_between(c->live_bytes, c->enter_bytes, c->leave_bytes, r);
    double half = c->half_bytes ? most_between(c->half_bytes, NULL, NULL, r) : 0;

    return held_bytes(c, s, fixed_bytes, live, half);
}

double fr__cut_burst_bytes(const struct fr__chain *c, size_t begin, size_t end)
{
    double most_bytes = 0;

    if (!c->burst_bytes)
        return 0;
    for (size_t x = begin; x < end; x++)
        most_bytes = fmax(most_bytes, c->burst_bytes[x] - c->live_bytes[end]);
    return most_bytes;
}

double fr__cut_rank_bytes(const struct fr__chain *c, size_t rank, const uint32_t first[])
{
    const struct fr__moments *m = c->moments ? &c->moments[rank] : NULL;
    double bytes = c->more_bytes ? c->more_bytes[rank] : 0, burst_bytes = 0;
    bool is_by_moments = m && m->n_stages > 1;

    for (size_t s = 0; s < c->n_stages; s++) {
        size_t begin = first[s], end = first[s + 1];

        if (c->rank_of[s] != rank)
            continue;
        bytes += is_by_moments ? c->fixed_bytes[end] - c->fixed_bytes[begin]
                               : fr__cut_held_bytes(c, s, begin, end);
        burst_bytes = fmax(burst_bytes, fr__cut_burst_bytes(c, begin, end));
    }
    return bytes + burst_bytes + (is_by_moments ? most_live_bytes(c, m, first) : 0);
}

double fr__cut_excess_bytes(const struct fr__chain *c, const uint32_t first[], double scratch[])
{
    double worst = -INFINITY;

    for (size_t r = 0; r < c->n_ranks; r++) {
        scratch[r] = isinf(c->capacity_bytes[r])
                         ? -INFINITY
                         : fr__cut_rank_bytes(c, r, first) - c->capacity_bytes[r];
        worst = fmax(worst, scratch[r]);
    }
    return worst;
}
