/* sim/network/maxmin_room.c - memory of the max-min solver: slots, hops and lists of resources.
 *
 * All of it grows by doubling and is kept from run to run.
 */
#include "sim/network/maxmin_state.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void fr__maxmin_set_free(struct fr__maxmin *m, uint32_t resource)
{
    struct fr__resource *q = &m->resources[resource];
    double capacity_Bps = m->capacities.Bps(m->capacities.of, resource);

    assert(capacity_Bps > 0 && capacity_Bps < INFINITY);
    *q = (struct fr__resource){.capacity_Bps = capacity_Bps,
                               .left_Bps = capacity_Bps,
                               .entries = q->entries,
                               .left_before_Bps = q->left_before_Bps};
}

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

bool fr__maxmin_make_new_rates(struct fr__maxmin *m)
{
    return resize(&m->new_rates, 2 * (size_t)m->cap_slots, sizeof(*m->new_rates));
}

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
    fr__maxmin_set_free(m, resource);
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

static inline bool has_entry(struct fr__maxmin *m, uint32_t resource)
{
    assert(resource < m->n_resources);
    return m->resources[resource].n < m->cap[resource] || grow_entries(m, resource);
}

bool fr__maxmin_make_room(struct fr__maxmin *m, const struct fr__maxmin_path *p)
{
    uint32_t n_hops = p->n + p->has_own;

    if (n_hops > m->stride && !widen(m, n_hops))
        return false;
    if (m->free_slot == FR_NONE && m->n_slots == m->cap_slots && !grow_slots(m))
        return false;
    for (uint32_t h = 0; h < p->n; h++)
        if (!has_entry(m, p->resources[h]))
            return false;
    return !p->has_own || has_entry(m, p->own);
}

bool fr__maxmin_begin_weights(struct fr__maxmin *m)
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
