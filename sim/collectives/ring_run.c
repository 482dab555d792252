/* sim/collectives/ring_run.c - collectives message by message.
 *
 * Each message leaves as soon as its sender has what it needs. closed_form.c says how the messages
 * go.
 */
#include "config.h"

#include "sim/engine.h"

#include <stdlib.h>
#include <string.h>

void fr__member_done(struct fr__engine *e, uint32_t task)
{
    uint32_t d = fr__device_of(e, task);

    fr__device_account(e, &e->devices[d]);
    e->devices[d].n_collective--;
    fr__rerate(e, d);
    fr__task_done(e, task);
}

static uint32_t new_ring(struct fr__engine *e, uint32_t n)
{
    struct fr__collectives *c = &e->collectives;
    uint32_t id = c->free_ring;
    struct fr__ring_state *r;

    if (id != FR_NONE) {
        c->free_ring = c->rings[id].next_free;
    } else {
        if (!fr__grow(&c->rings, &c->cap_rings, c->n_rings + 1, sizeof(*c->rings))) {
            fr__engine_fail_nomem(e);
            return FR_NONE;
        }
        id = (uint32_t)c->n_rings++;
        c->rings[id] = (struct fr__ring_state){.cap = 0};
    }
    r = &c->rings[id];
    if (n > r->cap) {
        free(r->launched);
        r->launched = malloc(3 * (size_t)n * sizeof(*r->launched));
        r->cap = r->launched ? n : 0;
    }
    if (!r->launched) {
        fr__engine_fail_nomem(e);
        return FR_NONE;
    }
    r->sent = r->launched + n;
    r->received = r->sent + n;
    memset(r->launched, 0, 3 * (size_t)n * sizeof(*r->launched));
    return id;
}

/* Of a chain the first has everything from the start and the last sends nothing. */
static void open_chain(struct fr__ring_state *r)
{
    uint32_t first = r->ring.first, last = (first + r->ring.n - 1) % r->ring.n;

    r->received[first] = r->ring.n_rounds;
    r->sent[last] = r->launched[last] = r->ring.n_rounds;
}

static const struct fr__message_owner ring_messages, fold_messages;

/* Sends the next chunk of the rank at position i, if it may: its chunk of the round before has
 * gone, and one has come. In a chain the rank must have received what it passes on. */
static void try_hop(struct fr__engine *e, uint32_t ring, uint32_t i)
{
    struct fr__ring_state *r = &e->collectives.rings[ring];
    uint32_t round = r->launched[i], needed = round + (r->ring.pattern == PATTERN_CHAIN), route;
    uint32_t message;

    if (round == r->ring.n_rounds || r->sent[i] != round || r->received[i] < needed)
        return;
    route = fr__ring_route(e, &r->ring, i, round);
    if (route == FR_NONE)
        return;
    r->launched[i]++;
    e->stats.steps += r->ring.times;
    message = fr__message_start(
        e, &(struct fr__message){.bytes = r->ring.chunk_bytes,
                                 .owner = r->under_way ? &fold_messages : &ring_messages,
                                 .of = ring,
                                 .hop = i,
                                 .route = route,
                                 .times = 1});
    if (r->under_way) {
        e->stats.flows += r->ring.times - 1;
        r->under_way[i] = (struct fr__fold_message){.message = message, .left_s = e->now_s};
    }
}

/* The rank at position i of a ring has sent or received its last chunk, so it may have nothing left
 * to do there. Its task ends with its last ring. */
static void end_rank_if_done(struct fr__engine *e, uint32_t ring, uint32_t i)
{
    struct fr__ring_state *r = &e->collectives.rings[ring];
    const struct fr__ring k = r->ring;
    uint32_t first = e->v->member_first[k.collective];

    if (r->sent[i] < k.n_rounds || r->received[i] < k.n_rounds)
        return;
    if (++r->n_done == k.n) {
        if (r->under_way)
            fr__ring_fold_end(e, r);
        r->next_free = e->collectives.free_ring;
        e->collectives.free_ring = ring;
    }
    for (uint32_t at = i; at < k.n * k.times; at += k.n) {
        uint32_t member = first + (k.ranks ? k.ranks[at] : at);

        if (--e->collectives.rings_left[member] == 0)
            fr__member_done(e, e->v->members[member]);
    }
}

static void arrive(struct fr__engine *e, const struct fr__message *m, const struct fr__route *route)
{
    uint32_t ring = m->of, i = m->hop;
    struct fr__ring_state *r = &e->collectives.rings[ring];
    uint32_t next = fr__ring_next(&r->ring, i, r->sent[i]);
    bool is_last_sent = ++r->sent[i] == r->ring.n_rounds;
    bool is_last_received = ++r->received[next] == r->ring.n_rounds;

    (void)route;
    if (is_last_sent)
        end_rank_if_done(e, ring, i);
    if (is_last_received)
        end_rank_if_done(e, ring, next);
    try_hop(e, ring, i);
    try_hop(e, ring, next);
}

static const struct fr__message_owner ring_messages = {.work = FR_WORK_COLLECTIVE,
                                                       .arrive = arrive};

/* Of a folded ring. */
static const struct fr__message_owner fold_messages = {
    .work = FR_WORK_COLLECTIVE, .split = &ring_messages, .arrive = arrive};

void fr__collective_steps(struct fr__engine *e, uint32_t collective)
{
    uint32_t first = e->v->member_first[collective],
             n_rings = fr__collective_n_rings(e, collective);
    uint32_t n = e->v->member_first[collective + 1] - first;
    bool is_foldable = fr__rings_may_fold(e);

    for (uint32_t i = 0; i < n; i++)
        e->collectives.rings_left[first + i] = n_rings;
    for (uint32_t k = 0; k < n_rings; k++) {
        uint32_t id = new_ring(e, n);
        struct fr__ring_state *r;

        if (id == FR_NONE)
            return;
        r = &e->collectives.rings[id];
        r->ring = fr__collective_ring(e, collective, k);
        r->n_done = 0;
        if (r->ring.pattern == PATTERN_CHAIN)
            open_chain(r);
        if (is_foldable && !fr__ring_fold(e, r))
            return;
        for (uint32_t i = 0, n_positions = r->ring.n; i < n_positions; i++)
            try_hop(e, id, i);
    }
}
