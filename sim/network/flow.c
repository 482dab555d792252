/* sim/network/flow.c - the network model `flow`: messages share links max-min fairly.
 *
 * Model:   a message's latency passes first and takes no bandwidth. Then the bytes go over all
 *          links of the route at once, at a rate that is max-min fair among all messages
 *          (sim/network/maxmin.h).
 * Source:  D. Bertsekas, R. Gallager, Data Networks, 2nd ed. 1992, section 6.5.2.
 *
 * For sensitivities it says what each rate is made of. The rate is the level of the link that
 * bounds the message, which is full: n messages share what those bounded elsewhere leave of its
 * capacity C,
 *
 *   q = (C e - sum of the others' q) / n,   e: 1 for bandwidth of the link's kind
 *
 * (with weights w the others' w q, and n the sum of w)
 *
 * with q the parts of a rate by kind of link, - s_i d rate / d s_i in the terms of
 * sim/analysis/sensitivity.c.
 */
#include "config.h"

#include "sim/network/model.h"

#include "base/arena.h"
#include "sim/network/maxmin.h"

#include <stdlib.h>

/* Parts of the rate of the messages that a link bounds, valid in one epoch. */
struct level {
    uint64_t epoch;
    double bound_Bps[FR_N_LINK_KINDS];
};

struct flow {
    const struct fr__routes *routes;
    struct fr__maxmin *solver;
    /* only where rates are asked for: */
    bool wants_rates;
    uint32_t *slot_of; /* [cap_slots] by message, in the solver */
    size_t cap_slots;
    struct level *levels; /* [n_resources] */
    uint8_t *own_kinds;   /* [n_own] kind of link that stands for a flow's own limit */
    uint64_t epoch;       /* epoch of the levels that are valid now */
};

/* A flow's own limit is a resource of its own, behind the links. Its capacity is 1 and its weight 1
 * over the limit. */
static size_t n_own(const struct flow *f)
{
    return (f->routes->topo->n_devices + 1) * FR__OWN_FLOWS;
}

/* ---- life ---- */

static void destroy(void *state)
{
    struct flow *f = state;

    if (!f)
        return;
    fr__maxmin_free(f->solver);
    free(f->slot_of);
    free(f->levels);
    free(f->own_kinds);
    free(f);
}

static double link_Bps(const void *of, uint32_t link)
{
    const struct fr__routes *routes = of;

    if (link >= routes->topo->n_links)
        return 1;
    return fr__link_bw_Bps(routes, link);
}

static void *make(const struct fr__routes *routes)
{
    struct flow *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->routes = routes;
    f->solver = fr__maxmin_new((uint32_t)(routes->topo->n_links + n_own(f)),
                               (struct fr__capacities){link_Bps, routes});
    if (!f->solver) {
        destroy(f);
        return NULL;
    }
    return f;
}

static bool reset(void *state, bool wants_rates)
{
    struct flow *f = state;
    size_t n_links = f->routes->topo->n_links + n_own(f);

    f->wants_rates = wants_rates;
    if (wants_rates && !f->levels)
        f->levels = malloc((n_links + 1) * sizeof(*f->levels));
    if (wants_rates && !f->own_kinds)
        f->own_kinds = malloc(n_own(f));
    if (wants_rates && (!f->levels || !f->own_kinds))
        return false;
    f->epoch = 1;
    for (size_t l = 0; wants_rates && l < n_links; l++)
        f->levels[l].epoch = 0;
    return fr__maxmin_reset(f->solver, wants_rates);
}

/* ---- messages ---- */

/* The slot in the solver; FR_NONE: out of memory. */
static uint32_t add_load(struct flow *f, const struct fr__departure *d, double now_s)
{
    const struct fr__link_load *load = d->load;
    struct fr__maxmin_path path = {.resources = load->links,
                                   .weights = load->weights,
                                   .n = load->n,
                                   .narrowest = load->narrowest};

    if (d->most_Bps > 0 && d->own < n_own(f)) {
        path.has_own = true;
        path.own = (uint32_t)f->routes->topo->n_links + d->own;
        path.own_weight = 1 / d->most_Bps;
        if (f->wants_rates)
            f->own_kinds[d->own] = (uint8_t)d->kind;
    }
    return fr__maxmin_add_path(f->solver, now_s, &path, d->bytes * d->stretch, d->message);
}

static enum fr__fate share(struct flow *f, const struct fr__departure *d, double now_s)
{
    uint32_t slot = d->load ? add_load(f, d, now_s)
                            : fr__maxmin_add(f->solver, now_s, fr__route_links(f->routes, d->route),
                                             d->route->n_links, d->bytes * d->stretch, d->message);

    if (slot == FR_NONE)
        return FR__NO_MEMORY;
    if (!f->wants_rates)
        return FR__UNDER_WAY;
    if (!fr__grow(&f->slot_of, &f->cap_slots, (size_t)d->message + 1, sizeof(*f->slot_of)))
        return FR__NO_MEMORY;
    f->slot_of[d->message] = slot;
    return FR__UNDER_WAY;
}

static enum fr__fate start(void *state, const struct fr__departure *d, double now_s, double *wake_s)
{
    if (!(d->latency_s > 0))
        return share(state, d, now_s);
    *wake_s = now_s + d->latency_s * d->stretch;
    return FR__WAKE_AT;
}

static enum fr__fate wake(void *state, const struct fr__departure *d, double now_s, double *wake_s)
{
    (void)wake_s;
    return share(state, d, now_s);
}

static double next(void *state, double now_s)
{
    const struct flow *f = state;

    return fr__maxmin_solve(f->solver, now_s);
}

static bool advance(void *state, double now_s, uint32_t *message)
{
    const struct flow *f = state;

    return fr__maxmin_pop_finished(f->solver, now_s, message);
}

static bool withdraw(void *state, uint32_t message, double now_s, double *left_bytes)
{
    const struct flow *f = state;
    uint32_t slot = fr__maxmin_find(f->solver, message);

    if (slot == FR_NONE)
        return false;
    fr__maxmin_solve(f->solver, now_s);
    *left_bytes = fr__maxmin_remaining(f->solver, slot, now_s);
    fr__maxmin_remove(f->solver, slot);
    return true;
}

static void add_stats(const void *state, struct fr_run_stats *stats)
{
    const struct flow *f = state;
    struct fr__maxmin_stats solver = fr__maxmin_stats(f->solver);

    stats->solves += solver.solves;
    stats->flows_visited += solver.visited;
    stats->flows_live_max += solver.live_max;
}

/* ---- what rates are made of ---- */

/* Along a chain of links levels only rise, except for ties; beyond this depth a link counts as its
 * own bound. */
enum { MOST_DEEP = 64 };

/* A flow that starts at this instant has no rate and no bottleneck before the next solve. */
static const struct level *level_of(struct flow *f, uint32_t link, unsigned depth)
{
    struct level *level = &f->levels[link];
    size_t n_links = f->routes->topo->n_links;
    unsigned kind =
        link < n_links ? f->routes->topo->links[link].kind : f->own_kinds[link - n_links];
    uint32_t n = fr__maxmin_n_crossing(f->solver, link), n_bound = 0, n_new = 0;
    double left_Bps[FR_N_LINK_KINDS] = {0}, rate_Bps = 0, bound = 0;

    if (level->epoch == f->epoch)
        return level;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = fr__maxmin_crossing(f->solver, link, i);

        n_new += fr__maxmin_bottleneck(f->solver, slot) == FR_NONE;
        if (fr__maxmin_bottleneck(f->solver, slot) != link)
            continue;
        rate_Bps = fr__maxmin_rate(f->solver, slot);
        bound += fr__maxmin_weight_on(f->solver, link, i);
        n_bound++;
    }
    *level = (struct level){.epoch = f->epoch}; /* if ties form a circle, its own */
    level->bound_Bps[kind] = rate_Bps;
    if (n_bound + n_new == n || n_bound == 0 || depth == MOST_DEEP)
        return level;
    left_Bps[kind] = fr__link_bw_Bps(f->routes, link);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = fr__maxmin_crossing(f->solver, link, i);
        uint32_t other = fr__maxmin_bottleneck(f->solver, slot);

        if (other != link && other != FR_NONE)
            for (unsigned k = 0; k < FR_N_LINK_KINDS; k++)
                left_Bps[k] -= fr__maxmin_weight_on(f->solver, link, i) *
                               level_of(f, other, depth + 1)->bound_Bps[k];
    }
    for (unsigned k = 0; k < FR_N_LINK_KINDS; k++)
        level->bound_Bps[k] = left_Bps[k] / bound;
    /* the capacity less almost all of it is mostly rounding: keep the sum */
    for (unsigned k = 0; k < FR_N_LINK_KINDS; k++)
        rate_Bps -= level->bound_Bps[k];
    level->bound_Bps[kind] += rate_Bps;
    return level;
}

static const uint32_t *rate_changes(void *state, uint32_t *n)
{
    struct flow *f = state;

    f->epoch++;
    return fr__maxmin_take_changes(f->solver, n);
}

static struct fr__rate rate(void *state, uint32_t message)
{
    struct flow *f = state;
    uint32_t slot = f->slot_of[message];
    uint32_t link = fr__maxmin_bottleneck(f->solver, slot);

    return (struct fr__rate){fr__maxmin_rate(f->solver, slot), level_of(f, link, 0)->bound_Bps};
}

const struct fr__network_model fr__flow = {
    .name = "flow",
    .assumption = "messages share the links on their way max-min fairly; no packets, congestion "
                  "control or loss",
    .alone = fr__alone_by_curve,
    .make = make,
    .destroy = destroy,
    .reset = reset,
    .start = start,
    .wake = wake,
    .next = next,
    .advance = advance,
    .withdraw = withdraw,
    .rate_changes = rate_changes,
    .rate = rate,
    .add_stats = add_stats,
};
