/* strategies/lower/stages_even.c - devices with several stages of a pipeline: the best cut makes
 * the stages take as long, this makes the devices.
 *
 * A local search from that cut. A move takes an item from a stage of the device that takes longest
 * and gives one to another stage; the stages between pass an item on. The move that leaves the
 * least longest device is taken, of several the one that leaves devices the most even, then stages,
 * until none helps.
 */
#include "config.h"

#include "strategies/lower/stages.h"

#include "base/error.h"

#include <stdlib.h>

struct evening {
    const struct fr__cut_problem *p;
    uint32_t *first;         /* [n_parts + 1] */
    size_t *leader;          /* [n_parts] the first stage on the same device */
    double *load_s, *excess; /* [n_parts] of a device, by its first stage */
};

/* What is to be small, the first number first. */
struct score {
    double longest_s, squares, longest_stage_s;
};

static bool is_less(const struct score *a, const struct score *b)
{
    const double x[] = {a->longest_s, a->squares, a->longest_stage_s};
    const double y[] = {b->longest_s, b->squares, b->longest_stage_s};

    for (int i = 0; i < 3; i++) {
        if (x[i] < y[i] * (1 - 1e-12))
            return true;
        if (x[i] > y[i] * (1 + 1e-12))
            return false;
    }
    return false;
}

/* false: a device's memory is too small. *longest: its first stage. */
static bool weigh(struct evening *e, struct score *out, size_t *longest)
{
    const struct fr__cut_problem *p = e->p;
    bool fits = true;

    *out = (struct score){0, 0, 0};
    for (size_t s = 0; s < p->n_parts; s++)
        e->load_s[s] = e->excess[s] = 0;
    for (size_t s = 0; s < p->n_parts; s++) {
        uint32_t i = e->first[s], j = e->first[s + 1];
        double stage_s = p->sum_s[s][j] - p->sum_s[s][i];

        e->load_s[e->leader[s]] += stage_s;
        e->excess[e->leader[s]] += p->fixed_bytes[j] - p->fixed_bytes[i] +
                                   p->in_flight[s] * (p->live_bytes[j] - p->live_bytes[i]) -
                                   p->capacity_bytes[s];
        if (stage_s > out->longest_stage_s)
            out->longest_stage_s = stage_s;
    }
    *longest = 0;
    for (size_t s = 0; s < p->n_parts; s++) {
        fits = fits && !(e->excess[s] > 0);
        out->squares += e->load_s[s] * e->load_s[s];
        if (e->load_s[s] > out->longest_s) {
            out->longest_s = e->load_s[s];
            *longest = s;
        }
    }
    return fits;
}

/* Stage `from` gives an item, `to` gets one. */
static void move(struct evening *e, size_t from, size_t to)
{
    for (size_t s = from + 1; s <= to; s++)
        e->first[s]--;
    for (size_t s = to + 1; s <= from; s++)
        e->first[s]++;
}

/* Takes the best move. false: none helps. */
static bool improve(struct evening *e)
{
    size_t n = e->p->n_parts, longest, ignored, best_from = n, best_to = n;
    struct score best, now;

    weigh(e, &best, &longest);
    for (size_t from = 0; from < n; from++) {
        if (e->leader[from] != longest || e->first[from + 1] - e->first[from] < 2)
            continue;
        for (size_t to = 0; to < n; to++) {
            bool fits;

            if (to == from)
                continue;
            move(e, from, to);
            fits = weigh(e, &now, &ignored);
            move(e, to, from);
            if (fits && is_less(&now, &best)) {
                best = now;
                best_from = from;
                best_to = to;
            }
        }
    }
    if (best_from == n)
        return false;
    move(e, best_from, best_to);
    return true;
}

enum fr_status fr__stages_even(const struct fr__cut_problem *p, const uint32_t devices[],
                               uint32_t first[], struct fr_error *err)
{
    struct evening e = {.p = p, .first = first};
    bool is_out_of_memory;

    e.leader = malloc(p->n_parts * sizeof(*e.leader));
    e.load_s = malloc(p->n_parts * sizeof(*e.load_s));
    e.excess = malloc(p->n_parts * sizeof(*e.excess));
    for (size_t s = 0; e.leader && s < p->n_parts; s++) {
        e.leader[s] = 0;
        while (devices[e.leader[s]] != devices[s])
            e.leader[s]++;
    }
    while (e.leader && e.load_s && e.excess && improve(&e))
        continue;
    is_out_of_memory = !e.leader || !e.load_s || !e.excess;
    free(e.leader);
    free(e.load_s);
    free(e.excess);
    return is_out_of_memory ? fr__fail_nomem(err) : FR_OK;
}
