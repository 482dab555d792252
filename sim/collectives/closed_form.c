/* sim/collectives/closed_form.c - how the messages of collectives go, and what they take alone.
 *
 * Ring (all-reduce, all-gather, reduce-scatter; Patarasuk and Yuan, J. Parallel Distrib. Comput.
 * 69(2), 2009). With n ranks the bytes S are cut into n chunks of floor(S / n). Reduce-scatter and
 * all-gather take n - 1 rounds each, an all-reduce does both. In round r a rank sends one chunk to
 * the next rank. It does so once its own send of round r - 1 is done and the chunk of round r - 1
 * has come from the rank before. Several rings run at the same time (one for each set of links, see
 * fr_topo_rings), and each carries its share of the bytes. Closed form: rounds x (latency + chunk /
 * bandwidth) of the slowest hop of the slowest ring. It equals the steps wherever no link is
 * shared: the slowest hop is never idle, and the others have ended when it ends.
 *
 * Chain (broadcast, reduce). These are the same rings, cut open before or behind the root. NCCL has
 * no other algorithm for the two (src/graph/tuning.cc: rings alone), so there is no tree for small
 * ones here. A ring's share is cut into m = ceil(share / 512 KiB) equal chunks (NCCL's buffer of 4
 * MiB in 8 steps of one chunk each: NCCL_BUFFSIZE, NCCL_STEPS, BROADCAST_CHUNKSTEPS). A rank passes
 * a chunk on once it has the chunk and has sent the one before. Closed form, exact where no link is
 * shared: the first chunk's n - 1 hops, then m - 1 times the slowest of them,
 *   t = sum of h_i + (m - 1) max h_i,   h_i = latency + chunk / bandwidth;
 * on equal hops (n - 2 + m) h.
 *
 * Shift (all-to-all; pairwise exchange: Thakur, Rabenseifner and Gropp, Int. J. High Perform.
 * Comput. Appl. 19(1), 2005, section 4.3). Each of the n ranks has S bytes, a chunk of floor(S / n)
 * for each rank. In round r = 1 .. n-1 rank i sends one to rank (i + r) mod n. It does so once its
 * own send of the round before is done and as many chunks have come to it as rounds are over.
 * Closed form: the sum over rounds of the slowest message of each; on equal hops (n - 1) (latency +
 * chunk / bandwidth), which the steps take where no link is shared. A ring step is the first round
 * alone, with all bytes: to the next rank, on one route.
 */
#include "config.h"

#include "sim/collectives/symmetry.h"
#include "sim/collectives/schedule_choice.h"

#include <math.h>
#include <stdlib.h>

enum { CHAIN_CHUNK_BYTES = 512 << 10 };

/* ---- the rings of a collective ---- */

enum fr__ring_pattern fr__ring_pattern_of(enum fr_collective_kind kind)
{
    switch (kind) {
    case FR_ALL_TO_ALL:
    case FR_RING_STEP:
        return PATTERN_SHIFT;
    case FR_BROADCAST:
    case FR_REDUCE:
        return PATTERN_CHAIN;
    default:
        return PATTERN_RING;
    }
}

static double chain_chunks(double bytes)
{
    return fmax(ceil(bytes / CHAIN_CHUNK_BYTES), 1);
}

/* Of a ring or a shift. */
static uint32_t rounds_of(enum fr_collective_kind kind, uint32_t n)
{
    if (kind == FR_RING_STEP)
        return 1;
    return kind == FR_ALL_REDUCE ? 2 * (n - 1) : n - 1;
}

double fr_collective_steps(enum fr_collective_kind kind, uint32_t n, double bytes)
{
    double others = n > 0 ? n - 1.0 : 0;

    if (fr__ring_pattern_of(kind) == PATTERN_CHAIN)
        return others * chain_chunks(bytes);
    return (n > 1 ? rounds_of(kind, n) : 0) * (double)n;
}

uint32_t fr__collective_n_rings(struct fr__engine *e, uint32_t collective)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    const struct fr__ring_set *rings;

    if (fr_plan_group_size(e->plan, c->group) < 2)
        return 0;
    if (fr__ring_pattern_of(c->kind) == PATTERN_SHIFT)
        return 1;
    rings = fr__group_rings(e, c->group);
    return rings ? rings->n_rings : 0;
}

/* The position in the ring at which the chain begins: the root's, or the next one. */
static uint32_t first_position(const struct fr_collective *c, const struct fr__ring *k)
{
    uint32_t position = 0;

    while (k->ranks[position] != c->root)
        position++;
    return c->kind == FR_REDUCE ? (position + 1) % k->n : position;
}

struct fr__ring fr__collective_ring(struct fr__engine *e, uint32_t collective, uint32_t r)
{
    const struct fr_collective *c = &e->v->collectives[collective];
    uint32_t n = fr_plan_group_size(e->plan, c->group);
    struct fr__ring k = {
        .pattern = fr__ring_pattern_of(c->kind), .collective = collective, .n = n, .times = 1};
    const struct fr__ring_set *rings;
    double bytes;

    k.n_rounds = rounds_of(c->kind, n);
    k.chunk_bytes = c->kind == FR_RING_STEP ? c->bytes : floor(c->bytes / n);
    if (k.pattern == PATTERN_SHIFT)
        return k;
    rings = fr__group_rings(e, c->group); /* not NULL, as the collective has a ring */
    bytes = rings->n_rings == 1 ? c->bytes : c->bytes * rings->share_frac[r];
    k.ranks = rings->ranks + (size_t)r * n;
    k.routes = rings->routes + (size_t)r * n;
    k.chunk_bytes = floor(bytes / n);
    if (k.pattern == PATTERN_CHAIN) {
        k.n_rounds = (uint32_t)fmin(chain_chunks(bytes), UINT32_MAX);
        k.chunk_bytes = bytes / k.n_rounds;
        k.first = first_position(c, &k);
    }
    return k;
}

uint32_t fr__shift_route(struct fr__engine *e, const struct fr__ring *k, uint32_t position,
                         uint32_t round)
{
    uint32_t group = e->v->collectives[k->collective].group;

    return fr__route_take(e, fr_plan_group_device(e->plan, group, position),
                          fr_plan_group_device(e->plan, group, fr__ring_next(k, position, round)));
}

/* ---- what they take alone ---- */

double fr__hop_s(const struct fr__engine *e, uint32_t route, double bytes)
{
    const struct fr__route *k = fr__route_at(e, route);

    return k->n_links ? k->latency_s + bytes / k->bw_Bps : 0;
}

struct sum {
    const struct fr__ring *ring;
    fr__hop_fn *fn; /* NULL: the sum alone */
    void *user;
    double s;
};

static void add_hop(struct fr__engine *e, struct sum *sum, uint32_t route, double n)
{
    double bytes = sum->ring->chunk_bytes;

    sum->s += n * fr__hop_s(e, route, bytes);
    if (sum->fn && n > 0)
        sum->fn(e, sum->user, route, bytes, n);
}

/* Of n hops, from position `from` on. */
static uint32_t slowest_route(const struct fr__engine *e, const struct fr__ring *k, uint32_t from,
                              uint32_t n)
{
    uint32_t slowest = k->routes[from];

    for (uint32_t i = 1; i < n; i++) {
        uint32_t route = k->routes[(from + i) % k->n];

        if (fr__hop_s(e, route, k->chunk_bytes) > fr__hop_s(e, slowest, k->chunk_bytes))
            slowest = route;
    }
    return slowest;
}

static void add_chain(struct fr__engine *e, const struct fr__ring *k, struct sum *sum)
{
    for (uint32_t i = 0; i + 1 < k->n; i++)
        add_hop(e, sum, k->routes[(k->first + i) % k->n], 1);
    add_hop(e, sum, slowest_route(e, k, k->first, k->n - 1), k->n_rounds - 1.0);
}

/* Whether the first machine's ranks stand for all; then the caller calls fr__symmetry_end. */
static bool is_shift_symmetric(struct fr__engine *e, const struct fr__ring *k,
                               struct fr__symmetry *out)
{
    uint32_t group = e->v->collectives[k->collective].group;
    uint32_t machines = fr_plan_group_machines(e->plan, group);

    return machines > 1 && k->n % machines == 0 &&
           fr__symmetry_begin(e, group, k->n / machines, out);
}

/* The slowest route of a round among those of the first machine. */
static uint32_t slowest_of_first(const struct fr__engine *e, const struct fr__ring *k,
                                 const struct fr__symmetry *symmetry, uint32_t round)
{
    uint32_t slowest = FR_NONE;

    for (uint32_t i = 0; i < symmetry->m; i++) {
        uint32_t route = symmetry->routes[fr__symmetry_at(symmetry, i, fr__ring_next(k, i, round))];

        if (slowest == FR_NONE ||
            fr__hop_s(e, route, k->chunk_bytes) > fr__hop_s(e, slowest, k->chunk_bytes))
            slowest = route;
    }
    return slowest;
}

/* The slowest route of a round, to be given back; FR_NONE with the failure kept. */
static uint32_t slowest_of_all(struct fr__engine *e, const struct fr__ring *k, uint32_t round)
{
    uint32_t slowest = FR_NONE;

    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t route = fr__ring_route(e, k, i, round);

        if (route == FR_NONE)
            return FR_NONE;
        if (slowest != FR_NONE &&
            fr__hop_s(e, route, k->chunk_bytes) <= fr__hop_s(e, slowest, k->chunk_bytes)) {
            fr__route_release(e, route);
            continue;
        }
        if (slowest != FR_NONE)
            fr__route_release(e, slowest);
        slowest = route;
    }
    return slowest;
}

static void add_shift(struct fr__engine *e, const struct fr__ring *k, struct sum *sum)
{
    struct fr__symmetry symmetry;

    if (is_shift_symmetric(e, k, &symmetry)) {
        for (uint32_t round = 0; round < k->n_rounds; round++)
            add_hop(e, sum, slowest_of_first(e, k, &symmetry, round), 1);
        fr__symmetry_end(e, &symmetry);
        return;
    }
    for (uint32_t round = 0; round < k->n_rounds; round++) {
        uint32_t slowest = slowest_of_all(e, k, round);

        if (slowest == FR_NONE)
            return;
        add_hop(e, sum, slowest, 1);
        fr__route_release(e, slowest);
    }
}

static double sum_ring(struct fr__engine *e, const struct fr__ring *k, fr__hop_fn *fn, void *user)
{
    struct sum sum = {.ring = k, .fn = fn, .user = user};

    switch (k->pattern) {
    case PATTERN_RING:
        add_hop(e, &sum, slowest_route(e, k, 0, k->n), k->n_rounds);
        break;
    case PATTERN_CHAIN:
        add_chain(e, k, &sum);
        break;
    case PATTERN_SHIFT:
        add_shift(e, k, &sum);
        break;
    }
    return sum.s;
}

double fr__collective_hops(struct fr__engine *e, uint32_t collective, fr__hop_fn *fn, void *user)
{
    uint32_t n = fr__collective_n_rings(e, collective);
    struct fr__ring slowest = {.n = 0};
    double most_s = 0;

    for (uint32_t r = 0; r < n; r++) {
        struct fr__ring k = fr__collective_ring(e, collective, r);
        double s = sum_ring(e, &k, NULL, NULL);

        if (s > most_s) {
            most_s = s;
            slowest = k;
        }
    }
    if (fn && slowest.n > 0)
        sum_ring(e, &slowest, fn, user);
    return most_s;
}

/* Of messages that take their time one after another. */
static void add_latency(struct fr__engine *e, void *user, uint32_t route, double bytes, double n)
{
    struct fr__known *known = user;
    const struct fr__route *r = fr__route_at(e, route);

    (void)bytes;
    if (r->n_links == 0)
        return;
    known->latency_s += n * r->latency_s;
    known->n_rounds += n;
    known->kind = (enum fr_link_kind)r->narrowest;
}

struct fr__known fr__collective_alone(struct fr__engine *e, uint32_t collective)
{
    struct fr__known known = {.n_rounds = 0};
    struct fr__collective_schedule how;
    double alone_s;

    if (fr__collective_schedule_of(e, collective, &how)) {
        struct fr__scheduled_time t = fr__scheduled_time(e, collective, &how);

        alone_s = t.alone_s;
        known.start_s = how.start_s;
        known.latency_s = t.latency_s;
        known.kind = how.start_kind;
        known.is_behind = how.schedule.n_ahead > 0;
        known.n_rounds = how.schedule.n_steps;
    } else {
        alone_s = fr__collective_hops(e, collective, add_latency, &known);
    }
    known.bytes_s = fmax(alone_s - known.start_s - known.latency_s, 0);
    if (!(known.n_rounds >= 1) ||
        fr__ring_pattern_of(e->v->collectives[collective].kind) == PATTERN_CHAIN)
        known.n_rounds = 1;
    return known;
}

/* ---- bytes ---- */

/* A shift is the schedule of that name, of so many rounds. */
static void add_shift_bytes(struct fr__engine *e, const struct fr__ring *k, double link_bytes[])
{
    uint32_t group = e->v->collectives[k->collective].group;
    uint32_t machines = fr_plan_group_machines(e->plan, group);
    struct fr__collective_schedule how = {.wire_factor = 1, .slow_factor = 1};
    struct fr__schedule *s = &how.schedule;
    enum fr_status st;

    *s = (struct fr__schedule){.algorithm = &fr__shift_algorithm,
                               .kind = FR_ALL_TO_ALL,
                               .n = k->n,
                               .bytes = k->chunk_bytes * k->n,
                               .per_node = machines ? k->n / machines : 1};
    st = fr__schedule_make(s, e->err);
    s->n_steps = k->n_rounds;
    if (st == FR_OK)
        fr__scheduled_bytes(e, k->collective, &how, link_bytes);
    else
        fr__engine_fail(e, st);
}

void fr__collective_bytes(struct fr__engine *e, uint32_t collective, double link_bytes[])
{
    uint32_t n_rings;
    struct fr__collective_schedule how;

    if (fr__collective_schedule_of(e, collective, &how)) {
        fr__scheduled_bytes(e, collective, &how, link_bytes);
        return;
    }
    n_rings = fr__collective_n_rings(e, collective);
    for (uint32_t r = 0; r < n_rings; r++) {
        struct fr__ring k = fr__collective_ring(e, collective, r);
        uint32_t n_hops = k.pattern == PATTERN_CHAIN ? k.n - 1 : k.n;

        if (k.pattern == PATTERN_SHIFT) {
            add_shift_bytes(e, &k, link_bytes);
            continue;
        }
        for (uint32_t i = 0; i < n_hops; i++)
            fr__route_count(&e->network.routes, fr__route_at(e, k.routes[(k.first + i) % k.n]),
                            k.n_rounds * k.chunk_bytes, link_bytes);
    }
}
