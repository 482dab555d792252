/* lowering/pipeline/sums.c - sums of gradients as a line: a latency, and seconds a byte. */
#include "config.h"

#include "lowering/pipeline/sums.h"

#include "base/error.h"
#include "lowering/price.h"
#include "sim/network/rings.h"

#include <math.h>

enum { MOST_RINGS = 16, MOST_SEARCHED = 64 }; /* rings as the engine's; ranks */

/* The neighbours of a ring. */
struct ring {
    struct fr__alone_line worst; /* the largest latency and the least bandwidth */
    double latencies_s;          /* all of them, once around */
};

static struct ring look_at_ring(const struct fr__placer *pl, struct fr__routes *routes,
                                const uint32_t devices[], uint32_t n)
{
    struct ring ring = {.worst = {0, INFINITY}};

    for (uint32_t i = 0; i < n; i++) {
        uint32_t src = devices[i], dst = devices[(i + 1) % n], route;
        struct fr__alone_line line;
        enum fr_status st;

        if (src == dst)
            continue;
        st = fr__routes_take(routes, src, dst, &route, NULL);
        fr_plan_keep_failure(pl->plan, st);
        if (st != FR_OK)
            continue;
        line = fr__alone_line(&routes->at[route], NULL);
        fr__routes_release(routes, route);
        ring.latencies_s += line.latency_s;
        ring.worst.latency_s = fmax(ring.worst.latency_s, line.latency_s);
        ring.worst.Bps = fmin(ring.worst.Bps, line.Bps);
    }
    return ring;
}

struct fr__alone_line fr__ring_line(const struct fr__placer *pl, struct fr__routes *routes,
                                    const uint32_t devices[], uint32_t n)
{
    return look_at_ring(pl, routes, devices, n).worst;
}

struct fr__alone_line fr__message_line(const struct fr__placer *pl, struct fr__routes *routes,
                                       uint32_t src, uint32_t dst)
{
    struct fr__alone_line line = {0, INFINITY};
    enum fr_status st;
    uint32_t route;

    if (src == dst)
        return line;
    st = fr__routes_take(routes, src, dst, &route, NULL);
    fr_plan_keep_failure(pl->plan, st);
    if (st != FR_OK)
        return line;
    line = fr__alone_line(&routes->at[route], fr_cost_messages(pl->in->costs));
    fr__routes_release(routes, route);
    if (pl->share_of)
        line.Bps /= pl->share_of(pl->share_user, src, dst);
    return line;
}

/* Bytes of the gradients of a stage, if all stages were alike. */
static double bytes_of_stage(const struct fr__placer *pl, uint32_t n_ranks)
{
    double bytes = 0;

    for (size_t i = 0; i < pl->params.n_owners; i++)
        if (pl->params.owners[i].ready != FR_NONE)
            bytes += (double)pl->params.owners[i].bytes;
    return bytes * pl->gradient_factor / n_ranks;
}

static bool price_group(const struct fr__placer *pl, uint32_t group, double bytes, double *s)
{
    struct fr_collective c = {
        .bytes = bytes, .group = group, .label = FR_NONE, .kind = FR_ALL_REDUCE};
    struct fr_cost cost;

    if (group == FR_NONE || !fr__price_collective(pl, &c, &cost))
        return false;
    *s = cost.mean_s;
    return true;
}

/* A search of rings takes a while, and a device must not be there twice. */
static bool can_search(const uint32_t devices[], uint32_t n)
{
    for (uint32_t i = 0; i < n && n <= MOST_SEARCHED; i++)
        for (uint32_t k = 0; k < i; k++)
            if (devices[k] == devices[i])
                return false;
    return n <= MOST_SEARCHED;
}

/* All rings that the links give go at the same time, each with its share of the bytes. false: they
 * are not known. */
static bool price_rings(struct fr__routes *routes, const uint32_t devices[], uint32_t n,
                        double *latency_s, double *s_per_byte)
{
    struct fr__rings found = {0};
    const struct fr__ring_set *set;
    bool is_known = can_search(devices, n) &&
                    fr__rings_find(&found, routes, devices, n, MOST_RINGS, &set, NULL) == FR_OK;

    *latency_s = *s_per_byte = 0;
    for (uint32_t r = 0; is_known && r < set->n_rings; r++) {
        double latencies_s = 0, Bps = INFINITY;

        for (uint32_t i = 0; i < n; i++) {
            struct fr__alone_line line =
                fr__alone_line(&routes->at[set->routes[(size_t)r * n + i]], NULL);

            latencies_s += line.latency_s;
            Bps = fmin(Bps, line.Bps);
        }
        *latency_s = fmax(*latency_s, 2 * (n - 1.0) / n * latencies_s);
        *s_per_byte = fmax(*s_per_byte, set->share_frac[r] * 2 * (n - 1.0) / n / Bps);
    }
    fr__rings_fini(&found);
    return is_known && *s_per_byte > 0;
}

/* Where a time is known, the line through half of a stage and a whole one. */
static void price_rank(struct fr__placer *pl, struct fr__routes *routes,
                       const struct fr__sums_problem *in, uint32_t rank, double *latency_s,
                       double *s_per_byte)
{
    double n = in->n_replicas, bytes = bytes_of_stage(pl, in->n_ranks), half_s, whole_s;
    const uint32_t *devices = in->devices + (size_t)rank * in->n_replicas;
    uint32_t group = in->groups ? in->groups[rank] : FR_NONE;
    struct ring ring;

    if (bytes > 0 && price_group(pl, group, bytes / 2, &half_s) &&
        price_group(pl, group, bytes, &whole_s)) {
        *s_per_byte = fmax(0, (whole_s - half_s) / (bytes / 2));
        *latency_s = fmax(0, whole_s - *s_per_byte * bytes);
        return;
    }
    if (price_rings(routes, devices, in->n_replicas, latency_s, s_per_byte))
        return;
    ring = look_at_ring(pl, routes, devices, in->n_replicas);
    *latency_s = 2 * (n - 1) / n * ring.latencies_s;
    *s_per_byte = 2 * (n - 1) / n / ring.worst.Bps;
}

enum fr_status fr__pipeline_sums(struct fr__stage_sums *out, struct fr__placer *pl,
                                 const struct fr__sums_problem *in, struct fr_error *err)
{
    double *latency_s, *s_per_byte;
    struct fr__routes routes;
    enum fr_status st;

    if (in->n_replicas < 2)
        return FR_OK;
    latency_s = fr__arena_alloc(pl->arena, in->n_ranks, sizeof(*latency_s));
    s_per_byte = fr__arena_alloc(pl->arena, in->n_ranks, sizeof(*s_per_byte));
    if (!latency_s || !s_per_byte)
        return fr__fail_nomem(err);
    st = fr__routes_init(&routes, pl->in->topo, err);
    for (uint32_t r = 0; st == FR_OK && r < in->n_ranks; r++)
        price_rank(pl, &routes, in, r, &latency_s[r], &s_per_byte[r]);
    fr__routes_fini(&routes);
    *out = (struct fr__stage_sums){latency_s, s_per_byte, in->bucket_bytes};
    return st;
}

enum fr_status fr__pipeline_sums_add(struct fr__stage_sums *out, const struct fr__stage_sums *other,
                                     uint32_t n_ranks, struct fr__arena *arena,
                                     struct fr_error *err)
{
    double *latency_s = fr__arena_alloc(arena, n_ranks, sizeof(*latency_s));
    double *s_per_byte = fr__arena_alloc(arena, n_ranks, sizeof(*s_per_byte));

    if (!latency_s || !s_per_byte)
        return fr__fail_nomem(err);
    for (uint32_t r = 0; r < n_ranks; r++) {
        latency_s[r] = out->latency_s[r] + other->latency_s[r];
        s_per_byte[r] = out->s_per_byte[r] + other->s_per_byte[r];
    }
    *out = (struct fr__stage_sums){latency_s, s_per_byte, other->bucket_bytes};
    return FR_OK;
}
