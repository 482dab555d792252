/* sim/maxmin_fill.c - progressive filling, resumed at the first level that can have changed.
 *
 * Filling raises the rates of all open flows together until a resource is full, freezes its flows
 * at that level and goes on with the others. Levels only rise. Therefore:
 *  - Taking out a flow of rate x leaves all that was frozen below x as it was: up to x, the flow
 *    and its absence differ only by what it took itself, and no resource it crosses was full.
 *  - A new flow changes nothing below the least level at which one of its resources, given the old
 *    flows, would be full: the s with sum of min(rate, s) over the old flows + n_new s = capacity.
 * So the frozen flows below the least of these levels stay, and of the others only those that a
 * chain of shared resources connects with a changed one are opened and filled again.
 */
#include "sim/maxmin_state.h"

#include <math.h>
#include <string.h>

/* Shares this close to the level reached are that level: a tie, computed on two ways. Ties then
 * have one rate to the bit. 2^-44, 6e-14, covers the rounding of some 500 subtractions. */
static const double TIE = 0x1p-44;

/* Buckets of the queue up to this size are searched; measured, 4 to 16 do not differ. */
static const uint32_t FEW = 8;

/* ---- what changed ---- */

/* The level at which a resource with new flows is full, given the frozen ones. */
static double full_level(const struct fr__maxmin *m, const struct fr__resource *q)
{
    double left_Bps = q->left_Bps;
    uint32_t i = q->n_frozen;

    while (i && left_Bps <= m->rate_Bps[q->entries[i - 1].slot] * (q->n - i))
        left_Bps = q->left_before_Bps[--i];
    return left_Bps / (q->n - i);
}

static double first_level(const struct fr__maxmin *m)
{
    double level_Bps = m->level_Bps;

    for (uint32_t i = 0; i < m->n_changed; i++) {
        const struct fr__resource *q = &m->resources[m->changed[i]];

        if (q->n > q->n_frozen) {
            double full_Bps = full_level(m, q);

            level_Bps = full_Bps < level_Bps ? full_Bps : level_Bps;
        }
    }
    return level_Bps;
}

/* Puts a resource back to where filling was at level_Bps. Returns its first open entry. */
static uint32_t cut(struct fr__maxmin *m, uint32_t resource, double level_Bps)
{
    struct fr__resource *q = &m->resources[resource];
    const struct fr__entry *entries = q->entries;
    const double *rate_Bps = m->rate_Bps;
    uint32_t i = q->n_frozen;

    while (i && rate_Bps[entries[i - 1].slot] >= level_Bps)
        i--;
    if (i < q->n_frozen) {
        q->n_frozen = i;
        q->left_Bps = q->left_before_Bps[i];
    }
    m->n_open += q->n - i;
    if (i < q->n && m->end_s[resource] < INFINITY)
        fr__maxmin_set_end(m, resource, INFINITY);
    return i;
}

static void reach(struct fr__maxmin *m, uint32_t resource)
{
    if (m->rest[resource].mark == m->epoch)
        return;
    m->rest[resource].mark = m->epoch;
    m->active[m->n_active++] = resource;
}

static void next_epoch(struct fr__maxmin *m)
{
    if (++m->epoch)
        return;
    memset(m->mark, 0, m->n_slots * sizeof(*m->mark)); /* marks of 2^32 solves ago look new */
    for (uint32_t r = 0; r < m->n_resources; r++)
        m->rest[r].mark = 0;
    m->epoch = 1;
}

/* Opens what shared resources connect with the changed ones. */
static void open_connected(struct fr__maxmin *m, double level_Bps)
{
    next_epoch(m);
    for (uint32_t i = 0; i < m->n_changed; i++)
        reach(m, m->changed[i]);
    for (uint32_t i = 0; i < m->n_active; i++) {
        const struct fr__resource *q = &m->resources[m->active[i]];

        for (uint32_t k = cut(m, m->active[i], level_Bps); k < q->n; k++) {
            uint32_t slot = q->entries[k].slot;
            const struct fr__hop *hops = fr__maxmin_hops(m, slot);

            if (m->mark[slot] == m->epoch)
                continue;
            m->mark[slot] = m->epoch;
            for (uint32_t h = 0; h < m->flows[slot].n_hops; h++)
                reach(m, hops[h].resource);
        }
    }
}

/* Opens everything from the level on: more than must be, found faster. */
static void open_all(struct fr__maxmin *m, double level_Bps)
{
    for (uint32_t r = 0; r < m->n_resources; r++)
        if (m->resources[r].n && cut(m, r, level_Bps) < m->resources[r].n)
            m->active[m->n_active++] = r;
}

/* Opens all that may change; afterwards `active` holds every resource with an open flow. Where one
 * connected part is a good share of the network, following connections costs more than it saves;
 * every 16th solve finds out whether that still holds. */
static void open_flows(struct fr__maxmin *m, double level_Bps)
{
    m->n_active = 0;
    m->n_open = 0;
    if (m->n_blind) {
        open_all(m, level_Bps);
        m->n_blind--;
    } else {
        open_connected(m, level_Bps);
        if (m->n_open >= m->n_hops / 4 && m->n_open >= m->n_resources / 2)
            m->n_blind = 15;
    }
    for (uint32_t i = 0; i < m->n_changed; i++) {
        const struct fr__resource *q = &m->resources[m->changed[i]];

        m->rest[m->changed[i]].is_changed = false;
        if (m->rest[m->changed[i]].group >= q->n) /* the last of its group went */
            fr__maxmin_set_end(m, m->changed[i], INFINITY);
    }
    m->n_changed = 0;
    m->level_Bps = INFINITY;
}

/* ---- the queue of resources by share ---- */

static unsigned bit_length(uint64_t x)
{
#ifdef __GNUC__
    return x ? 64u - (unsigned)__builtin_clzll(x) : 0;
#else
    unsigned n = 0;

    for (; x; x >>= 1)
        n++;
    return n;
#endif
}

/* x is not 0. */
static unsigned lowest_bit(uint64_t x)
{
#ifdef __GNUC__
    return (unsigned)__builtin_ctzll(x);
#else
    return bit_length(x & (~x + 1)) - 1;
#endif
}

static uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static double value_of(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* Puts a resource, whose key is set, into its bucket. */
static void push(struct fr__maxmin *m, uint32_t resource)
{
    struct fr__queue *u = &m->queue;
    struct fr__resource_rest *q = &m->rest[resource];
    unsigned b = bit_length(q->key ^ u->base);
    bool is_filled = u->filled >> b & 1;

    q->next = is_filled ? u->head[b] : FR_NONE;
    u->n[b] = is_filled ? u->n[b] + 1 : 1;
    u->head[b] = resource;
    u->filled |= UINT64_C(1) << b;
}

/* What each open flow of a resource gets now; shares grow while others freeze, up to rounding. */
static uint64_t share_key(const struct fr__queue *u, const struct fr__resource *q, double level_Bps)
{
    double share_Bps = q->left_Bps / (q->n - q->n_frozen);
    uint64_t key;

    if (share_Bps <= level_Bps + level_Bps * TIE)
        share_Bps = level_Bps;
    key = bits_of(share_Bps);
    return share_Bps <= 0 || key < u->base ? u->base : key;
}

/* Empties bucket b: what has grown out of its range goes up, what has no open flow is dropped.
 * Returns the rest as a list and, when there is any, the resource of least key in *least. */
static uint32_t sift(struct fr__maxmin *m, unsigned b, double level_Bps, uint32_t *least)
{
    struct fr__queue *u = &m->queue;
    uint64_t least_key = UINT64_MAX;
    uint32_t rest = FR_NONE, next;

    u->filled &= ~(UINT64_C(1) << b);
    for (uint32_t r = u->head[b]; r != FR_NONE; r = next) {
        const struct fr__resource *q = &m->resources[r];
        uint64_t key;

        next = m->rest[r].next;
        if (q->n == q->n_frozen)
            continue;
        m->rest[r].key = key = share_key(u, q, level_Bps);
        if (bit_length(key ^ u->base) > b) {
            push(m, r);
            continue;
        }
        m->rest[r].next = rest;
        rest = r;
        if (key < least_key) {
            least_key = key;
            *least = r;
        }
    }
    return rest;
}

/* Takes one resource out of bucket 0, where all keys are the base; false: it has grown. */
static bool pop_tied(struct fr__maxmin *m, double level_Bps, uint32_t *resource)
{
    struct fr__queue *u = &m->queue;
    const struct fr__resource *q = &m->resources[u->head[0]];

    *resource = u->head[0];
    u->head[0] = m->rest[*resource].next;
    u->n[0]--;
    if (u->head[0] == FR_NONE)
        u->filled &= ~UINT64_C(1);
    if (q->n == q->n_frozen)
        return false;
    m->rest[*resource].key = share_key(u, q, level_Bps);
    if (m->rest[*resource].key == u->base)
        return true;
    push(m, *resource);
    return false;
}

/* Takes out the resource with the least share and sets the level to that. Call only while some
 * flow is open. A bucket of a few is searched as it is; a larger one is spread over lower ones. */
static uint32_t pop(struct fr__maxmin *m, double *level_Bps)
{
    struct fr__queue *u = &m->queue;
    uint32_t least = FR_NONE, next;

    for (;;) {
        unsigned b = lowest_bit(u->filled);
        bool is_few = u->n[b] <= FEW;
        uint32_t rest;

        if (b == 0) {
            if (!pop_tied(m, *level_Bps, &least))
                continue;
            break;
        }
        rest = sift(m, b, *level_Bps, &least);
        if (rest == FR_NONE)
            continue;
        if (!is_few)
            u->base = m->rest[least].key;
        for (uint32_t r = rest; r != FR_NONE; r = next) {
            next = m->rest[r].next;
            if (r != least)
                push(m, r);
        }
        break;
    }
    *level_Bps = value_of(m->rest[least].key);
    return least;
}

/* ---- filling ---- */

/* Freezes one hop: the entry becomes the last of the resource's frozen ones. */
static void freeze_hop(struct fr__maxmin *m, uint32_t slot, uint32_t h, struct fr__hop *hop,
                       double rate_Bps)
{
    struct fr__resource *q = &m->resources[hop->resource];
    uint32_t to = q->n_frozen++;

    if (hop->pos != to) {
        struct fr__entry other = q->entries[to];

        q->entries[hop->pos] = other;
        fr__maxmin_hops(m, other.slot)[other.hop].pos = hop->pos;
        q->entries[to] = (struct fr__entry){slot, h};
        hop->pos = to;
    }
    q->left_before_Bps[to] = q->left_Bps;
    q->left_Bps -= rate_Bps;
}

/* Gives all open flows of a resource their rate. The resource itself is the one hop that all of
 * them share, so what is left of it stays in a register. */
static void freeze(struct fr__maxmin *m, uint32_t resource, double rate_Bps, double now)
{
    struct fr__resource *q = &m->resources[resource];
    double least_bytes = INFINITY, left_Bps = q->left_Bps;
    uint32_t first = q->n_frozen, n = q->n;

    for (uint32_t k = first; k < n; k++) {
        struct fr__entry e = q->entries[k];
        struct fr__hop *hops = fr__maxmin_hops(m, e.slot);
        struct fr__flow *f = &m->flows[e.slot];
        double left_bytes = f->remaining_bytes - m->rate_Bps[e.slot] * (now - f->since_s);
        uint32_t n_hops = f->n_hops;

        left_bytes = left_bytes > 0 ? left_bytes : 0;
        least_bytes = left_bytes < least_bytes ? left_bytes : least_bytes;
        f->remaining_bytes = left_bytes;
        f->since_s = now;
        m->rate_Bps[e.slot] = rate_Bps;
        q->left_before_Bps[k] = left_Bps;
        left_Bps -= rate_Bps;
        for (uint32_t h = 0; h < n_hops; h++)
            if (h != e.hop)
                freeze_hop(m, e.slot, h, &hops[h], rate_Bps);
        m->n_open -= n_hops;
    }
    q->left_Bps = left_Bps;
    q->n_frozen = n;
    m->rest[resource].group = first;
    m->stats.visited += n - first;
    fr__maxmin_set_end(m, resource, now + least_bytes / rate_Bps);
}

void fr__maxmin_refill(struct fr__maxmin *m, double now)
{
    double from_Bps = first_level(m), level_Bps = 0;

    from_Bps -= from_Bps * TIE; /* what ties with it is filled again */
    open_flows(m, from_Bps);
    m->stats.solves++;
    m->queue.filled = 0;
    m->queue.base = bits_of(from_Bps);
    for (uint32_t i = 0; i < m->n_active; i++) {
        const struct fr__resource *q = &m->resources[m->active[i]];

        if (q->n == q->n_frozen)
            continue;
        m->rest[m->active[i]].key = share_key(&m->queue, q, 0);
        push(m, m->active[i]);
    }
    while (m->n_open) {
        uint32_t r = pop(m, &level_Bps);

        freeze(m, r, level_Bps, now);
    }
}
