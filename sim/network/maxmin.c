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

static bool resize(void *array, size_t n, size_t size)
{
    void *old, *grown;

    memcpy(&old, array, sizeof(old));
    grown = n <= SIZE_MAX / size ? realloc(old, n * size) : NULL;
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof(grown));
    return true;
}

static double listed_Bps(const void *of, uint32_t resource)
{
    return ((const double *)of)[resource];
}

struct fr__capacities fr__listed_capacities(const double Bps[])
{
    return (struct fr__capacities){listed_Bps, Bps};
}

/* Sets a resource that a flow has crossed to no flow. */
static void set_free(struct fr__maxmin *m, uint32_t resource)
{
    struct fr__resource *q = &m->resources[resource];
    double capacity_Bps = m->capacities.Bps(m->capacities.of, resource);

    assert(capacity_Bps > 0 && capacity_Bps < INFINITY);
    *q = (struct fr__resource){.capacity_Bps = capacity_Bps,
                               .left_Bps = capacity_Bps,
                               .entries = q->entries,
                               .left_before_Bps = q->left_before_Bps};
}

/* Sets the state after fr__maxmin_new: no flow, all resources free. */
static void set_empty(struct fr__maxmin *m)
{
    m->n_slots = m->n_done = m->i_done = m->n_new_rates = 0;
    m->n_changed = m->n_new = m->n_active = m->n_loose = m->epoch = 0;
    m->n_open = 0;
    m->free_slot = FR_NONE;
    m->level_Bps = INFINITY;
    m->from_Bps = m->least_Bps = 0;
    m->stats = (struct fr__maxmin_stats){.solves = 0};
    fr__event_queue_clear(&m->queue);
    free(m->weights); /* until a flow has some again */
    m->weights = NULL;
    for (uint32_t i = 0; i < m->n_crossed; i++)
        set_free(m, m->crossed[i]);
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
    if (is_watched && !m->is_watched && m->cap_slots > 0 &&
        !resize(&m->new_rates, 2 * (size_t)m->cap_slots, sizeof(*m->new_rates)))
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

/* ---- room ---- */

static bool grow_slots(struct fr__maxmin *m)
{
    size_t cap = m->cap_slots ? (size_t)m->cap_slots * 2 : 64;

    if (cap >= FR_NONE || !resize(&m->shares, cap, sizeof(*m->shares)) ||
        !resize(&m->flows, cap, sizeof(*m->flows)) ||
        !resize(&m->tickets, cap, sizeof(*m->tickets)) ||
        !resize(&m->done, cap, sizeof(*m->done)) ||
        (m->is_watched && !resize(&m->new_rates, 2 * cap, sizeof(*m->new_rates))) ||
        (m->weights && !resize(&m->weights, cap * m->stride, sizeof(*m->weights))) ||
        !resize(&m->hops, cap * m->stride, sizeof(*m->hops)))
        return false;
    m->cap_slots = (uint32_t)cap;
    return true;
}

/* Makes paths of n_path hops fit. */
static bool widen(struct fr__maxmin *m, uint32_t n_path)
{
    uint32_t stride = m->stride;
    size_t n = m->cap_slots ? m->cap_slots : 1;
    struct fr__hop *wide;
    double *weights = NULL;

    while (stride < n_path)
        stride = stride > UINT32_MAX / 2 ? n_path : stride * 2;
    wide = calloc(n, stride * sizeof(*wide));
    if (m->weights)
        weights = calloc(n, stride * sizeof(*weights));
    if (!wide || (m->weights && !weights)) {
        free(wide);
        free(weights);
        return false;
    }
    for (uint32_t s = 0; s < m->n_slots; s++)
        memcpy(wide + (size_t)s * stride, fr__maxmin_hops(m, s), m->stride * sizeof(*wide));
    for (uint32_t s = 0; weights && s < m->n_slots; s++)
        memcpy(weights + (size_t)s * stride, m->weights + (size_t)s * m->stride,
               m->stride * sizeof(*weights));
    free(m->hops);
    free(m->weights);
    m->hops = wide;
    m->weights = weights;
    m->stride = stride;
    return true;
}

/* The first flow crosses a resource. */
static void begin_to_cross(struct fr__maxmin *m, uint32_t resource)
{
    m->cap[resource] = FR__INLINE_ENTRIES;
    m->resources[resource].entries = m->rooms[resource].entries;
    m->resources[resource].left_before_Bps = m->rooms[resource].left_before_Bps;
    set_free(m, resource);
    m->crossed[m->n_crossed++] = resource;
}

/* Doubles a resource's two arrays, which stand in one piece of memory. */
static bool grow_entries(struct fr__maxmin *m, uint32_t resource)
{
    struct fr__resource *q = &m->resources[resource];
    size_t old = m->cap[resource], cap = old * 2;
    struct fr__entry *entries;
    double *left_Bps;

    if (old == 0) {
        begin_to_cross(m, resource);
        return true;
    }
    if (cap >= FR_NONE || cap > SIZE_MAX / (sizeof(*left_Bps) + sizeof(*entries)))
        return false;
    left_Bps = malloc(cap * (sizeof(*left_Bps) + sizeof(*entries)));
    if (!left_Bps)
        return false;
    entries = (struct fr__entry *)(void *)(left_Bps + cap);
    memcpy(left_Bps, q->left_before_Bps, old * sizeof(*left_Bps));
    memcpy(entries, q->entries, old * sizeof(*entries));
    if (old > FR__INLINE_ENTRIES)
        free(q->left_before_Bps);
    q->left_before_Bps = left_Bps;
    q->entries = entries;
    m->cap[resource] = (uint32_t)cap;
    return true;
}

static bool make_room(struct fr__maxmin *m, const uint32_t path[], uint32_t n_path)
{
    if (n_path > m->stride && !widen(m, n_path))
        return false;
    if (m->free_slot == FR_NONE && m->n_slots == m->cap_slots && !grow_slots(m))
        return false;
    for (uint32_t h = 0; h < n_path; h++) {
        assert(path[h] < m->n_resources);
        if (m->resources[path[h]].n == m->cap[path[h]] && !grow_entries(m, path[h]))
            return false;
    }
    return true;
}

/* From now on hops have weights, those so far 1. */
static bool begin_weights(struct fr__maxmin *m)
{
    size_t n = (size_t)m->cap_slots * m->stride;
    double *weights = malloc(n * sizeof(*weights));

    if (!m->open_weight)
        m->open_weight = calloc((size_t)m->n_resources + 1, sizeof(*m->open_weight));
    if (!weights || !m->open_weight) {
        free(weights);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        weights[i] = 1;
    for (uint32_t i = 0; i < m->n_crossed; i++)
        m->open_weight[m->crossed[i]] = m->resources[m->crossed[i]].n_open;
    m->weights = weights;
    return true;
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

uint32_t fr__maxmin_add(struct fr__maxmin *m, double now, const uint32_t path[], uint32_t n_path,
                        double bytes, uint32_t user)
{
    return fr__maxmin_add_weighted(m, now, path, NULL, n_path, bytes, user);
}

uint32_t fr__maxmin_add_weighted(struct fr__maxmin *m, double now, const uint32_t path[],
                                 const double weights[], uint32_t n_path, double bytes,
                                 uint32_t user)
{
    bool is_alone = true;
    struct fr__hop *hops;
    uint32_t slot;

    assert(n_path >= 1 && bytes >= 0 && now >= 0);
    if (!make_room(m, path, n_path) || (weights && !m->weights && !begin_weights(m)))
        return FR_NONE;
    slot = take_slot(m);
    m->flows[slot] = (struct fr__flow){bytes, now, INFINITY, n_path};
    m->tickets[slot] = (struct fr__ticket){m->stats.flows++, user};
    m->shares[slot] = (struct fr__share){INFINITY, FR_NONE, m->epoch + 6};
    m->n_new++;
    hops = fr__maxmin_hops(m, slot);
    for (uint32_t h = 0; h < n_path; h++) {
        struct fr__resource *q = &m->resources[path[h]];

        is_alone = is_alone && q->n == 0;
        hops[h] = (struct fr__hop){path[h], q->n};
        q->entries[q->n++] = (struct fr__entry){slot, h};
        if (m->weights)
            m->weights[(size_t)slot * m->stride + h] = weights ? weights[h] : 1;
        fr__maxmin_open_more(m, q, weights ? weights[h] : 1);
    }
    if (is_alone)
        start_alone(m, now, slot);
    else
        for (uint32_t h = 0; h < n_path; h++)
            change(m, path[h]);
    if (++m->stats.live > m->stats.live_max)
        m->stats.live_max = m->stats.live;
    return slot;
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
