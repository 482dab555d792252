/* sim/network/maxmin.c - flows of the max-min solver: adding them, ending them, and the time of the
 * next end. */
#include "sim/network/maxmin.h"

#include "sim/network/maxmin_state.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ends within this part of `now` are one instant. An end is since + remaining / rate: three
 * roundings of at most 2^-53 of a value no greater than the end, and one more each time the flow's
 * rate changed. 2^-47, 7e-15, leaves room for some sixty. */
static const double END_TOLERANCE = 0x1p-47;

static double listed_Bps(const void *of, uint32_t resource)
{
    return ((const double *)of)[resource];
}

struct fr__capacities fr__listed_capacities(const double Bps[])
{
    return (struct fr__capacities){listed_Bps, Bps};
}

/* Sets the state after fr__maxmin_new: no flow, all resources free. */
static void set_empty(struct fr__maxmin *m)
{
    m->n_slots = m->n_done = m->i_done = m->n_new_rates = 0;
    m->n_changed = m->n_new = m->n_active = m->n_loose = m->epoch = 0;
    m->n_open = 0;
    m->is_only_narrow = false;
    m->free_slot = FR_NONE;
    m->level_Bps = INFINITY;
    m->from_Bps = m->least_Bps = 0;
    m->stats = (struct fr__maxmin_stats){.solves = 0};
    fr__event_queue_clear(&m->queue);
    free(m->weights); /* until a flow has some again */
    m->weights = NULL;
    for (uint32_t i = 0; i < m->n_crossed; i++)
        fr__maxmin_set_free(m, m->crossed[i]);
}

/* Zeros at the start of a cache line: memory that calloc has from the system is not touched. */
static bool alloc_resources(struct fr__maxmin *m, size_t n)
{
    const size_t line = sizeof(*m->resources);
    char *at = calloc(n + 1, line);

    if (!at)
        return false;
    m->resources_at = at;
    m->resources = (void *)(at + (line - (uintptr_t)at % line) % line);
    return true;
}

struct fr__maxmin *fr__maxmin_new(uint32_t n_resources, struct fr__capacities c)
{
    struct fr__maxmin *m = calloc(1, sizeof(*m));
    size_t n = n_resources ? n_resources : 1;

    if (!m)
        return NULL;
    m->capacities = c;
    m->n_resources = n_resources;
    m->stride = 4;
    m->cap = calloc(n, sizeof(*m->cap));
    m->rooms = aligned_alloc(sizeof(*m->rooms), n * sizeof(*m->rooms));
    m->crossed = malloc(n * sizeof(*m->crossed));
    m->changed = calloc(n, sizeof(*m->changed));
    m->active = calloc(n, sizeof(*m->active));
    m->loose = calloc(n, sizeof(*m->loose));
    if (!alloc_resources(m, n) || !m->cap || !m->rooms || !m->crossed || !m->changed ||
        !m->active || !m->loose || !fr__event_queue_init(&m->queue, n) ||
        !fr__tournament_init(&m->ends, n_resources)) {
        fr__maxmin_free(m);
        return NULL;
    }
    set_empty(m);
    return m;
}

bool fr__maxmin_reset(struct fr__maxmin *m, bool is_watched)
{
    if (is_watched && !m->is_watched && m->cap_slots > 0 && !fr__maxmin_make_new_rates(m))
        return false;
    m->is_watched = is_watched;
    set_empty(m);
    fr__tournament_clear(&m->ends);
    return true;
}

void fr__maxmin_free(struct fr__maxmin *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < m->n_crossed; i++)
        if (m->cap[m->crossed[i]] > FR__INLINE_ENTRIES)
            free(m->resources[m->crossed[i]].left_before_Bps);
    free(m->new_rates);
    free(m->done);
    free(m->hops);
    free(m->weights);
    free(m->open_weight);
    free(m->tickets);
    free(m->flows);
    free(m->shares);
    fr__tournament_fini(&m->ends);
    fr__heap_fini(&m->queue.rest);
    free(m->loose);
    free(m->active);
    free(m->changed);
    free(m->crossed);
    free(m->cap);
    free(m->rooms);
    free(m->resources_at);
    free(m);
}

/* ---- adding and taking out ---- */

static void change(struct fr__maxmin *m, uint32_t resource)
{
    if (m->resources[resource].is_changed)
        return;
    m->resources[resource].is_changed = true;
    m->changed[m->n_changed++] = resource;
}

static uint32_t take_slot(struct fr__maxmin *m)
{
    uint32_t slot = m->free_slot;

    if (slot == FR_NONE)
        slot = m->n_slots++;
    else
        m->free_slot = m->tickets[slot].user;
    return slot;
}

/* A flow that shares nothing runs at its narrowest resource's capacity; no solve needed. */
static void start_alone(struct fr__maxmin *m, double now, uint32_t slot)
{
    struct fr__flow *f = &m->flows[slot];
    const struct fr__hop *hops = fr__maxmin_hops(m, slot);
    struct fr__resource *narrowest = &m->resources[hops[0].resource];
    double rate_Bps = INFINITY;

    for (uint32_t h = 0; h < f->n_hops; h++) {
        struct fr__resource *q = &m->resources[hops[h].resource];
        double full_Bps = q->capacity_Bps / fr__maxmin_weight(m, slot, h);

        if (full_Bps < rate_Bps) {
            rate_Bps = full_Bps;
            narrowest = q;
        }
    }
    for (uint32_t h = 0; h < f->n_hops; h++) {
        struct fr__resource *q = &m->resources[hops[h].resource];

        fr__maxmin_open_none(m, q);
        q->left_Bps = q->capacity_Bps - fr__maxmin_weight(m, slot, h) * rate_Bps;
    }
    m->n_new--;
    narrowest->left_before_Bps[0] = narrowest->capacity_Bps;
    narrowest->level_Bps = rate_Bps;
    narrowest->left_Bps = 0;
    narrowest->n_sorted = 1;
    narrowest->is_ordered = true;
    m->shares[slot] = (struct fr__share){rate_Bps, (uint32_t)(narrowest - m->resources), 0};
    fr__maxmin_note_rate(m, slot);
    m->stats.visited++;
    f->end_s = now + f->remaining_bytes / rate_Bps;
    fr__tournament_set(&m->ends, m->shares[slot].bottleneck, f->end_s);
}

/* Puts hop h of a flow on a resource. Returns whether no other flow crosses it. */
static inline bool add_hop(struct fr__maxmin *m, uint32_t slot, uint32_t h, uint32_t resource,
                           double weight)
{
    struct fr__resource *q = &m->resources[resource];
    bool is_first = q->n == 0;

    fr__maxmin_hops(m, slot)[h] = (struct fr__hop){resource, q->n};
    q->entries[q->n++] = (struct fr__entry){slot, h};
    if (m->weights)
        m->weights[(size_t)slot * m->stride + h] = weight;
    fr__maxmin_open_more(m, q, weight);
    return is_first;
}

/* FR_NONE: out of memory. */
static uint32_t add_whole(struct fr__maxmin *m, double now, const struct fr__maxmin_path *p,
                          double bytes, uint32_t user)
{
    bool is_alone = true;
    uint32_t slot;

    if (!fr__maxmin_make_room(m, p) || (p->weights && !m->weights && !fr__maxmin_begin_weights(m)))
        return FR_NONE;
    slot = take_slot(m);
    m->flows[slot] = (struct fr__flow){bytes, now, INFINITY, p->n + p->has_own};
    m->tickets[slot] = (struct fr__ticket){m->stats.flows++, user};
    m->shares[slot] = (struct fr__share){INFINITY, FR_NONE, m->epoch + 6};
    m->n_new++;
    for (uint32_t h = 0; h < p->n; h++)
        is_alone &= add_hop(m, slot, h, p->resources[h], p->weights ? p->weights[h] : 1);
    if (p->has_own)
        is_alone &= add_hop(m, slot, p->n, p->own, p->own_weight);
    if (is_alone) {
        start_alone(m, now, slot);
    } else {
        for (uint32_t h = 0; h < p->n; h++)
            change(m, p->resources[h]);
        if (p->has_own)
            change(m, p->own);
    }
    if (++m->stats.live > m->stats.live_max)
        m->stats.live_max = m->stats.live;
    return slot;
}

/* ---- the only flow ---- */

/* Of a flow that is the only one the narrowest resource says the rate, and no other is looked at.
 * So it crosses that one alone, and its own, until there is a second flow. */
static uint32_t add_only(struct fr__maxmin *m, double now, const struct fr__maxmin_path *p,
                         double bytes, uint32_t user)
{
    struct fr__maxmin_path narrow = *p;
    uint32_t slot;

    narrow.resources = p->resources + p->narrowest;
    narrow.weights = p->weights + p->narrowest;
    narrow.n = 1;
    slot = add_whole(m, now, &narrow, bytes, user);
    if (slot == FR_NONE)
        return FR_NONE;
    m->only = *p;
    m->only_slot = slot;
    m->is_only_narrow = true;
    return slot;
}

/* A resource that the only flow crosses and does not fill. */
static void cross(struct fr__maxmin *m, uint32_t slot, uint32_t h, uint32_t resource, double weight)
{
    struct fr__resource *q = &m->resources[resource];

    add_hop(m, slot, h, resource, weight);
    fr__maxmin_open_none(m, q);
    q->left_Bps = q->capacity_Bps - weight * m->shares[slot].rate_Bps;
}

/* The resource stays as it is, but is another hop of the only flow. */
static void renumber(struct fr__maxmin *m, uint32_t slot, uint32_t h, uint32_t resource,
                     double weight)
{
    m->resources[resource].entries[0].hop = h;
    fr__maxmin_hops(m, slot)[h] = (struct fr__hop){resource, 0};
    m->weights[(size_t)slot * m->stride + h] = weight;
}

/* Puts the only flow on all of its resources, as add_whole would have. false: out of memory. */
static bool widen_only(struct fr__maxmin *m)
{
    const struct fr__maxmin_path *p = &m->only;
    uint32_t slot = m->only_slot;

    if (!fr__maxmin_make_room(m, p))
        return false;
    m->is_only_narrow = false;
    m->flows[slot].n_hops = p->n + p->has_own;
    for (uint32_t h = 0; h < p->n; h++) {
        if (h == p->narrowest)
            renumber(m, slot, h, p->resources[h], p->weights[h]);
        else
            cross(m, slot, h, p->resources[h], p->weights[h]);
    }
    if (p->has_own)
        renumber(m, slot, p->n, p->own, p->own_weight);
    return true;
}

uint32_t fr__maxmin_add_path(struct fr__maxmin *m, double now, const struct fr__maxmin_path *p,
                             double bytes, uint32_t user)
{
    assert(p->n >= 1 && bytes >= 0 && now >= 0);
    assert(p->weights || (p->narrowest == FR_NONE && !p->has_own));
    if (m->stats.live == 0 && p->narrowest != FR_NONE && p->n > 1)
        return add_only(m, now, p, bytes, user);
    if (m->is_only_narrow && !widen_only(m))
        return FR_NONE;
    return add_whole(m, now, p, bytes, user);
}

uint32_t fr__maxmin_add(struct fr__maxmin *m, double now, const uint32_t path[], uint32_t n_path,
                        double bytes, uint32_t user)
{
    return fr__maxmin_add_weighted(m, now, path, NULL, n_path, bytes, user);
}

uint32_t fr__maxmin_add_weighted(struct fr__maxmin *m, double now, const uint32_t path[],
                                 const double weights[], uint32_t n_path, double bytes,
                                 uint32_t user)
{
    const struct fr__maxmin_path p = {
        .resources = path, .weights = weights, .n = n_path, .narrowest = FR_NONE};

    return fr__maxmin_add_path(m, now, &p, bytes, user);
}

/* Removes the entry at pos from a resource's list; the last entry takes its place. */
static void drop_entry(struct fr__maxmin *m, struct fr__resource *q, uint32_t pos)
{
    struct fr__entry last = q->entries[--q->n];

    if (pos < q->n_sorted) {
        q->n_sorted = pos;
        q->left_Bps = q->left_before_Bps[pos];
    }
    if (pos < q->n) {
        q->entries[pos] = last;
        fr__maxmin_hops(m, last.slot)[last.hop].pos = pos;
    }
}

static void make_empty(struct fr__maxmin *m, uint32_t resource)
{
    struct fr__resource *q = &m->resources[resource];

    q->left_Bps = q->capacity_Bps;
    q->next = 0;
    if (!q->is_ordered)
        return;
    fr__tournament_set(&m->ends, resource, INFINITY);
    q->is_ordered = false;
    q->level_Bps = 0;
}

void fr__maxmin_remove(struct fr__maxmin *m, uint32_t slot)
{
    const struct fr__hop *hops = fr__maxmin_hops(m, slot);
    uint32_t n_hops = m->flows[slot].n_hops;
    bool has_rate = m->shares[slot].bottleneck != FR_NONE, was_alone = true;

    assert(slot < m->n_slots && m->tickets[slot].seq != UINT64_MAX);
    m->is_only_narrow = false; /* there is no other flow, if it was true */
    for (uint32_t h = 0; h < n_hops; h++) {
        struct fr__resource *q = &m->resources[hops[h].resource];

        drop_entry(m, q, hops[h].pos);
        if (!has_rate)
            fr__maxmin_open_less(m, q, fr__maxmin_weight(m, slot, h));
        if (q->n == 0) {
            make_empty(m, hops[h].resource);
        } else if (q->is_ordered) {
            was_alone = false;
            change(m, hops[h].resource);
        } else if (has_rate) {
            q->left_Bps += fr__maxmin_weight(m, slot, h) * m->shares[slot].rate_Bps;
            q->next++;
        }
    }
    m->n_new -= !has_rate;
    if (!was_alone && m->shares[slot].rate_Bps < m->level_Bps)
        m->level_Bps = m->shares[slot].rate_Bps;
    m->tickets[slot] = (struct fr__ticket){UINT64_MAX, m->free_slot};
    m->free_slot = slot;
    m->stats.live--;
}

/* ---- ends ---- */

double fr__maxmin_solve(struct fr__maxmin *m, double now)
{
    if (m->n_changed)
        fr__maxmin_refill(m, now);
    return fr__tournament_least(&m->ends);
}

/* Sorts by insertion number (D. L. Shell, Communications of the ACM 2(7), 1959): in place, and in
 * one pass if the order is right already, as it mostly is. */
static void sort_done(struct fr__done done[], uint32_t n)
{
    uint32_t gap = 1;

    for (uint32_t i = 1; i < n; i++)
        if (done[i].seq < done[i - 1].seq)
            goto unsorted;
    return;
unsorted:
    while (gap < n / 3)
        gap = 3 * gap + 1;
    for (; gap; gap /= 3)
        for (uint32_t i = gap; i < n; i++) {
            struct fr__done d = done[i];
            uint32_t j = i;

            for (; j >= gap && done[j - gap].seq > d.seq; j -= gap)
                done[j] = done[j - gap];
            done[j] = d;
        }
}

static void collect_group(struct fr__maxmin *m, uint32_t resource, double limit_s)
{
    const struct fr__resource *q = &m->resources[resource];

    for (uint32_t k = 0; k < q->n; k++) {
        uint32_t slot = q->entries[k].slot;

        if (m->shares[slot].bottleneck == resource && m->flows[slot].end_s <= limit_s)
            m->done[m->n_done++] = (struct fr__done){m->tickets[slot].seq, slot};
    }
}

static void collect_done(struct fr__maxmin *m, double now)
{
    double limit_s = now + now * END_TOLERANCE;
    uint32_t n;

    m->n_done = m->i_done = 0;
    if (fr__maxmin_solve(m, now) > limit_s)
        return;
    n = fr__tournament_list(&m->ends, limit_s, m->active);
    for (uint32_t i = 0; i < n; i++)
        collect_group(m, m->active[i], limit_s);
    sort_done(m->done, m->n_done);
}

bool fr__maxmin_pop_finished(struct fr__maxmin *m, double now, uint32_t *user)
{
    bool is_first = m->n_done == 0;

    if (is_first)
        collect_done(m, now);
    while (m->i_done < m->n_done) {
        struct fr__done d = m->done[m->i_done++];

        if (m->tickets[d.slot].seq != d.seq)
            continue;
        *user = m->tickets[d.slot].user;
        fr__maxmin_remove(m, d.slot);
        return true;
    }
    m->n_done = m->i_done = 0;
    return false;
}

void fr__maxmin_watch(struct fr__maxmin *m)
{
    assert(m->cap_slots == 0);
    m->is_watched = true;
}

const uint32_t *fr__maxmin_take_changes(struct fr__maxmin *m, uint32_t *n)
{
    *n = m->n_new_rates;
    m->n_new_rates = 0;
    return m->new_rates;
}

uint32_t fr__maxmin_bottleneck(const struct fr__maxmin *m, uint32_t slot)
{
    return m->shares[slot].bottleneck;
}

uint32_t fr__maxmin_n_crossing(const struct fr__maxmin *m, uint32_t resource)
{
    return m->resources[resource].n;
}

uint32_t fr__maxmin_crossing(const struct fr__maxmin *m, uint32_t resource, uint32_t i)
{
    return m->resources[resource].entries[i].slot;
}

double fr__maxmin_weight_on(const struct fr__maxmin *m, uint32_t resource, uint32_t i)
{
    return fr__maxmin_weight_of(m, m->resources[resource].entries[i]);
}

double fr__maxmin_rate(const struct fr__maxmin *m, uint32_t slot)
{
    return m->shares[slot].bottleneck == FR_NONE ? 0 : m->shares[slot].rate_Bps;
}

double fr__maxmin_remaining(const struct fr__maxmin *m, uint32_t slot, double now)
{
    const struct fr__flow *f = &m->flows[slot];
    double left_bytes = f->remaining_bytes - fr__maxmin_rate(m, slot) * (now - f->since_s);

    return left_bytes > 0 ? left_bytes : 0;
}

uint32_t fr__maxmin_find(const struct fr__maxmin *m, uint32_t user)
{
    for (uint32_t slot = 0; slot < m->n_slots; slot++)
        if (m->tickets[slot].seq != UINT64_MAX && m->tickets[slot].user == user)
            return slot;
    return FR_NONE;
}

struct fr__maxmin_stats fr__maxmin_stats(const struct fr__maxmin *m)
{
    return m->stats;
}
