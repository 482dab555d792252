/* lowering/replica/line_up.c - devices in a line in which neighbours are well joined. */
#include "config.h"

#include "lowering/replica/line_up.h"

#include "base/error.h"
#include "sim/network/alone.h"
#include "lowering/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A line must be better by more than rounding. */
static const double BETTER_FRAC = 1 - 1e-9;

/* What a message from src to dst takes alone. */
struct hops {
    struct fr_plan *plan; /* keeps a failure */
    struct fr__routes routes;
    const struct fr_message_fit *fits;
};

/* Seconds a byte from src to dst, on the narrowest link of the route or as measured; infinite
 * without a route. */
static double hop_s(struct hops *h, uint32_t src, uint32_t dst)
{
    double s;
    uint32_t route;
    enum fr_status st = fr__routes_take(&h->routes, src, dst, &route, NULL);

    fr_plan_keep_failure(h->plan, st);
    if (st != FR_OK)
        return INFINITY;
    s = 1 / fr__alone_line(&h->routes.at[route], h->fits).Bps;
    fr__routes_release(&h->routes, route);
    return s;
}

static double line_s(struct hops *h, const uint32_t line[], size_t n)
{
    double sum_s = 0;

    for (size_t i = 0; i + 1 < n; i++)
        sum_s += hop_s(h, line[i], line[i + 1]);
    return sum_s;
}

/* Turns the ring so that its worst hop leads from the line's end to its start; of equal ones the
 * hop to the device that comes first by rank. */
static void open_ring(struct hops *h, const uint32_t ring[], size_t n, uint32_t first,
                      uint32_t line[])
{
    size_t start = 0;
    double worst_s = -1;

    for (size_t i = 0; i < n; i++) {
        double s = hop_s(h, ring[(i + n - 1) % n], ring[i]);

        if (s > worst_s || (!(s < worst_s) && ring[i] == first)) {
            worst_s = s;
            start = i;
        }
    }
    for (size_t i = 0; i < n; i++)
        line[i] = ring[(start + i) % n];
}

static void log_line(const struct fr__placer *pl, const uint32_t line[], size_t n)
{
    char text[512];
    size_t used = 0;

    if (!fr__wants_log(pl->ctx))
        return;
    text[0] = '\0';
    for (size_t i = 0; i < n && used < sizeof(text); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, " %s",
                                 pl->in->topo->devices[line[i]].name);
    fr__log(pl->ctx, "stages along the widest ring:%s%s", text, used < sizeof(text) ? "" : " ...");
}

static enum fr_status try_ring(struct fr__placer *pl, struct hops *h, uint32_t line[],
                               struct fr_error *err)
{
    const struct fr_problem *in = pl->in;
    size_t n = in->n_devices, n_rings;
    uint32_t *ring = fr__arena_alloc(pl->arena, n, sizeof(*ring));
    uint32_t *opened = fr__arena_alloc(pl->arena, n, sizeof(*opened));
    double share_frac;
    enum fr_status st;

    if (!ring || !opened)
        return fr__fail_nomem(err);
    st = fr_topo_rings(h->routes.router, in->devices, n, 1, ring, &share_frac, &n_rings, NULL);
    if (st == FR_ENOMEM)
        return fr__fail_nomem(err);
    if (st != FR_OK)
        return FR_OK; /* no ring, no other order */
    open_ring(h, ring, n, in->devices[0], opened);
    if (line_s(h, opened, n) < line_s(h, line, n) * BETTER_FRAC) {
        memcpy(line, opened, n * sizeof(*line));
        log_line(pl, line, n);
    }
    return FR_OK;
}

enum fr_status fr__line_up(struct fr__placer *pl, uint32_t line[], struct fr_error *err)
{
    const struct fr_problem *in = pl->in;
    struct hops h = {.plan = pl->plan, .fits = fr_cost_messages(in->costs)};
    enum fr_status st;

    memcpy(line, in->devices, in->n_devices * sizeof(*line));
    if (in->n_devices < 3)
        return FR_OK;
    st = fr__routes_init(&h.routes, in->topo, err);
    if (st == FR_OK)
        st = try_ring(pl, &h, line, err);
    fr__routes_fini(&h.routes);
    return st;
}
