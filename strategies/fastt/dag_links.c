/* strategies/fastt/dag_links.c - what messages between the devices of a problem take alone. */
#include "config.h"

#include "strategies/fastt/dag.h"

#include "base/error.h"
#include "sim/network/alone.h"

static enum fr_status measure(struct fr__dag_links *l, const struct fr__placer *pl,
                              struct fr__routes *routes, size_t i, size_t j, struct fr_error *err)
{
    const uint32_t *devices = pl->in->devices;
    size_t n = pl->in->n_devices;
    struct fr__alone_line line;
    uint32_t route;

    FR_TRY(fr__routes_take(routes, devices[i], devices[j], &route, err));
    line = fr__alone_line(&routes->at[route], fr_cost_messages(pl->in->costs));
    fr__routes_release(routes, route);
    l->latency_s[i * n + j] = line.latency_s;
    l->s_per_byte[i * n + j] = 1 / line.Bps;
    return FR_OK;
}

enum fr_status fr__dag_links_make(struct fr__dag_links *out, struct fr__placer *pl,
                                  struct fr_error *err)
{
    size_t n = pl->in->n_devices;
    struct fr__routes routes;
    enum fr_status st;

    out->latency_s = fr__arena_alloc(pl->arena, n * n, sizeof(*out->latency_s));
    out->s_per_byte = fr__arena_alloc(pl->arena, n * n, sizeof(*out->s_per_byte));
    if (!out->latency_s || !out->s_per_byte)
        return fr__fail_nomem(err);
    st = fr__routes_init(&routes, pl->in->topo, err);
    for (size_t i = 0; i < n && st == FR_OK; i++)
        for (size_t j = 0; j < n && st == FR_OK; j++)
            st = measure(out, pl, &routes, i, j, err);
    fr__routes_fini(&routes);
    return st;
}
