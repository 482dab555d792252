/* sim/collectives/ring_fold.c - rings that repeat themselves, simulated once for all that do the
 * same.
 *
 * A ring over a hundred equal machines does the same in each of them at the same time (see
 * sim/network/ring_period.h). So one message stands for one of each machine, and the time of the
 * simulation is that of one machine's messages. Every event has the time that it would have.
 *
 * This holds as long as nothing else uses the links. Folding begins only while the network is idle.
 * When another message is about to start, the rings are unfolded: each message under way becomes
 * the messages that it stands for, as far as it is, and from then on all are simulated. The same
 * happens where a model has no sharing at all, but there nothing needs to be unfolded.
 */
#include "config.h"

#include "sim/engine.h"

#include <stdlib.h>
#include <string.h>

bool fr__rings_may_fold(const struct fr__engine *e)
{
    const struct fr__network *n = &e->network;

    if (e->parts || fr__has_interference(e) || e->o->channels > 0)
        return false;
    if (n->model->is_end_known)
        return true;
    return n->model->withdraw && n->n_under_way == 0 && e->collectives.n_folded == 0;
}

/* What all hops of a class have sent, on their links. */
static void add_bytes(struct fr__engine *e, const struct fr__ring_state *r)
{
    const struct fr__ring *k = &r->ring;
    double *link_bytes = e->network.link_bytes;

    for (uint32_t i = 0; link_bytes && i < k->n * k->times; i++) {
        const struct fr__route *route = fr__route_at(e, k->all_routes[i]);

        fr__route_count(&e->network.routes, route, r->sent[i % k->n] * k->chunk_bytes, link_bytes);
    }
}

/* ---- unfolding ---- */

/* The counts of rounds, for all positions. */
static bool spread_rounds(struct fr__ring_state *r)
{
    uint32_t period = r->ring.n, n = period * r->ring.times;
    uint32_t *rounds = malloc(3 * (size_t)n * sizeof(*rounds));

    if (!rounds)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        rounds[i] = r->launched[i % period];
        rounds[n + i] = r->sent[i % period];
        rounds[2 * n + i] = r->received[i % period];
    }
    free(r->launched);
    r->launched = rounds;
    r->sent = rounds + n;
    r->received = r->sent + n;
    r->cap = n;
    return true;
}

static void unfold(struct fr__engine *e, struct fr__ring_state *r)
{
    struct fr__fold_message *under_way = r->under_way;
    uint32_t period = r->ring.n, times = r->ring.times;

    add_bytes(e, r);
    if (!spread_rounds(r)) {
        fr__engine_fail_nomem(e);
        return;
    }
    r->under_way = NULL;
    r->ring.n = period * times;
    r->ring.times = 1;
    r->ring.routes = r->ring.all_routes;
    r->n_done *= times;
    for (uint32_t i = 0; i < period && e->status == FR_OK; i++) {
        const struct fr__route *route = fr__route_at(e, r->ring.routes[i]);

        if (r->launched[i] > r->sent[i])
            fr__message_split(
                e, under_way[i].message,
                &(struct fr__message_split){.woken_s = under_way[i].left_s + route->latency_s,
                                            .routes = r->ring.routes,
                                            .step = period,
                                            .n = times});
    }
    free(under_way);
}

static void unfold_all(struct fr__engine *e)
{
    struct fr__collectives *c = &e->collectives;

    c->n_folded = 0;
    e->network.before_sharing = NULL; /* the messages that unfolding starts are none that unfold */
    for (size_t i = 0; i < c->n_rings && e->status == FR_OK; i++)
        if (c->rings[i].under_way)
            unfold(e, &c->rings[i]);
}

/* ---- folding ---- */

bool fr__ring_fold(struct fr__engine *e, struct fr__ring_state *r)
{
    struct fr__ring *k = &r->ring;
    const struct fr__ring_set *set;
    uint32_t which;

    if (k->pattern != PATTERN_RING)
        return true;
    set = fr__group_rings(e, e->v->collectives[k->collective].group);
    if (!set || !set->period_routes)
        return set != NULL;
    which = (uint32_t)((size_t)(k->routes - set->routes) / set->n);
    r->under_way = malloc(set->period * sizeof(*r->under_way));
    if (!r->under_way) {
        fr__engine_fail_nomem(e);
        return false;
    }
    k->all_routes = k->routes;
    k->routes = set->period_routes + (size_t)which * set->period;
    k->n = set->period;
    k->times = set->n / set->period;
    e->collectives.n_folded++;
    e->network.before_sharing = unfold_all;
    return true;
}

void fr__ring_fold_end(struct fr__engine *e, struct fr__ring_state *r)
{
    add_bytes(e, r);
    free(r->under_way);
    r->under_way = NULL;
    if (--e->collectives.n_folded == 0)
        e->network.before_sharing = NULL;
}
