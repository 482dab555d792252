/* sim/maxmin.c - progressive filling from scratch at each solve. */
#include "sim/maxmin.h"

#include "base/arena.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct flow {
    double rate_Bps, remaining_bytes, since_s;
    uint64_t seq;
    uint32_t *path;
    uint32_t n_path, user;
    bool is_live, is_frozen;
};

struct fr__maxmin {
    double *capacity_Bps, *left_Bps;
    uint32_t *n_open; /* flows of a resource that filling has not frozen yet */
    uint32_t n_resources, n_slots;
    struct flow *flows;
    size_t cap_flows;
    double next_s;
    bool is_dirty;
    struct fr__maxmin_stats stats;
};

/* An end counts as reached when it differs from now by this part of now: the end is since +
 * remaining / rate, and each of the few roundings in it is at most 2^-53 of a value <= now. */
static const double END_TOLERANCE = 0x1p-47;

struct fr__maxmin *fr__maxmin_new(uint32_t n_resources, const double capacity_Bps[])
{
    struct fr__maxmin *m = calloc(1, sizeof(*m));
    size_t n = n_resources ? n_resources : 1;

    if (!m)
        return NULL;
    m->n_resources = n_resources;
    m->next_s = INFINITY;
    m->capacity_Bps = calloc(n, sizeof(double));
    m->left_Bps = calloc(n, sizeof(double));
    m->n_open = calloc(n, sizeof(uint32_t));
    if (!m->capacity_Bps || !m->left_Bps || !m->n_open) {
        fr__maxmin_free(m);
        return NULL;
    }
    if (n_resources)
        memcpy(m->capacity_Bps, capacity_Bps, n_resources * sizeof(double));
    return m;
}

void fr__maxmin_free(struct fr__maxmin *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < m->n_slots; i++)
        free(m->flows[i].path);
    free(m->flows);
    free(m->n_open);
    free(m->left_Bps);
    free(m->capacity_Bps);
    free(m);
}

uint32_t fr__maxmin_add(struct fr__maxmin *m, double now, const uint32_t path[], uint32_t n_path,
                        double bytes, uint32_t user)
{
    uint32_t slot = 0, *copy;
    struct flow *f;

    assert(n_path >= 1 && bytes >= 0);
    while (slot < m->n_slots && m->flows[slot].is_live)
        slot++;
    if (!fr__grow(&m->flows, &m->cap_flows, (size_t)slot + 1, sizeof(*m->flows)))
        return FR_NONE;
    copy = malloc(n_path * sizeof(*copy));
    if (!copy)
        return FR_NONE;
    memcpy(copy, path, n_path * sizeof(*copy));
    f = &m->flows[slot];
    if (slot == m->n_slots)
        m->n_slots++;
    else
        free(f->path);
    *f = (struct flow){.remaining_bytes = bytes,
                       .since_s = now,
                       .seq = m->stats.flows++,
                       .path = copy,
                       .n_path = n_path,
                       .user = user,
                       .is_live = true};
    m->is_dirty = true;
    if (++m->stats.live > m->stats.live_max)
        m->stats.live_max = m->stats.live;
    return slot;
}

void fr__maxmin_remove(struct fr__maxmin *m, uint32_t slot)
{
    m->flows[slot].is_live = false;
    m->stats.live--;
    m->is_dirty = true;
}

/* The open resource with the least share, FR_NONE when all flows are frozen. */
static uint32_t bottleneck(const struct fr__maxmin *m, double *share)
{
    uint32_t best = FR_NONE;

    for (uint32_t r = 0; r < m->n_resources; r++) {
        double s = m->left_Bps[r] / m->n_open[r];

        if (m->n_open[r] && (best == FR_NONE || s < *share)) {
            best = r;
            *share = s;
        }
    }
    return best;
}

static void freeze(struct fr__maxmin *m, uint32_t resource, double rate_Bps, double now)
{
    for (uint32_t i = 0; i < m->n_slots; i++) {
        struct flow *f = &m->flows[i];
        bool crosses = false;

        if (!f->is_live || f->is_frozen)
            continue;
        for (uint32_t h = 0; h < f->n_path; h++)
            crosses |= f->path[h] == resource;
        if (!crosses)
            continue;
        f->remaining_bytes -= f->rate_Bps * (now - f->since_s);
        f->since_s = now;
        f->rate_Bps = rate_Bps;
        f->is_frozen = true;
        m->stats.visited++;
        for (uint32_t h = 0; h < f->n_path; h++) {
            m->left_Bps[f->path[h]] -= rate_Bps;
            m->n_open[f->path[h]]--;
        }
        m->next_s = fmin(m->next_s, now + fmax(f->remaining_bytes, 0) / rate_Bps);
    }
}

double fr__maxmin_solve(struct fr__maxmin *m, double now)
{
    double share = 0;
    uint32_t r;

    if (!m->is_dirty)
        return m->next_s;
    m->is_dirty = false;
    m->stats.solves++;
    m->next_s = INFINITY;
    memset(m->n_open, 0, m->n_resources * sizeof(*m->n_open));
    memcpy(m->left_Bps, m->capacity_Bps, m->n_resources * sizeof(double));
    for (uint32_t i = 0; i < m->n_slots; i++) {
        struct flow *f = &m->flows[i];

        f->is_frozen = false;
        for (uint32_t h = 0; f->is_live && h < f->n_path; h++)
            m->n_open[f->path[h]]++;
    }
    while ((r = bottleneck(m, &share)) != FR_NONE)
        freeze(m, r, share, now);
    return m->next_s;
}

bool fr__maxmin_pop_finished(struct fr__maxmin *m, double now, uint32_t *user)
{
    struct flow *first = NULL;

    for (uint32_t i = 0; i < m->n_slots; i++) {
        struct flow *f = &m->flows[i];
        double left = f->remaining_bytes - f->rate_Bps * (now - f->since_s);

        if (f->is_live && left <= f->rate_Bps * (now * END_TOLERANCE) &&
            (!first || f->seq < first->seq))
            first = f;
    }
    if (!first)
        return false;
    *user = first->user;
    fr__maxmin_remove(m, (uint32_t)(first - m->flows));
    return true;
}

double fr__maxmin_rate(const struct fr__maxmin *m, uint32_t slot)
{
    return m->flows[slot].rate_Bps;
}

double fr__maxmin_remaining(const struct fr__maxmin *m, uint32_t slot, double now)
{
    const struct flow *f = &m->flows[slot];

    return f->remaining_bytes - f->rate_Bps * (now - f->since_s);
}

struct fr__maxmin_stats fr__maxmin_stats(const struct fr__maxmin *m)
{
    return m->stats;
}
