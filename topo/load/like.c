/* topo/load/like.c - which preset a machine behaves like, so that one word can stand for a file.
 *
 * Two machines are alike where their GPUs have the same types in the same order, and the routes
 * between any two have as many links, the same narrowest rate and the same latency. What else hangs
 * on them (NICs, sockets without GPUs) is not compared.
 */
#include "config.h"

#include "topo/load/load.h"
#include "topo/presets/presets.h"

#include <math.h>
#include <string.h>

/* Latencies add up in another order: equal in whole picoseconds. */
static bool is_same_time(double a_s, double b_s)
{
    return fabs(a_s - b_s) < 0.5e-12;
}

static enum fr_status measure(struct fr_router *r, uint32_t src, uint32_t dst, size_t *n,
                              double *bw_Bps, double *latency_s, struct fr_error *err)
{
    const struct fr_topo *t = fr__router_topo(r);
    const uint32_t *links;

    FR_TRY(fr_router_path(r, src, dst, &links, n, err));
    *bw_Bps = INFINITY;
    *latency_s = 0;
    for (size_t i = 0; i < *n; i++) {
        *bw_Bps = fmin(*bw_Bps, t->links[links[i]].bw_Bps);
        *latency_s += t->links[links[i]].latency_s;
    }
    return FR_OK;
}

static enum fr_status compare_routes(struct fr_router *a, struct fr_router *b, bool *is_alike,
                                     struct fr_error *err)
{
    size_t n_gpus = fr__router_topo(a)->n_gpus;

    for (uint32_t src = 0; src < n_gpus; src++)
        for (uint32_t dst = 0; dst < n_gpus; dst++) {
            double bw[2], latency[2];
            size_t n[2];

            if (src == dst)
                continue;
            FR_TRY(measure(a, src, dst, &n[0], &bw[0], &latency[0], err));
            FR_TRY(measure(b, src, dst, &n[1], &bw[1], &latency[1], err));
            if (n[0] != n[1] || bw[0] != bw[1] || !is_same_time(latency[0], latency[1]))
                return FR_OK;
        }
    *is_alike = true;
    return FR_OK;
}

static bool has_same_gpus(const struct fr_topo *a, const struct fr_topo *b)
{
    if (a->n_gpus != b->n_gpus || a->n_machines != b->n_machines)
        return false;
    for (size_t i = 0; i < a->n_gpus; i++)
        if (strcmp(a->types[a->devices[i].type].name, b->types[b->devices[i].type].name) != 0 ||
            a->devices[i].machine != b->devices[i].machine)
            return false;
    return true;
}

static enum fr_status compare(const struct fr_topo *t, const char *preset, bool *is_alike,
                              struct fr_error *err)
{
    struct fr_router *a = NULL, *b = NULL;
    struct fr_topo *other = NULL;
    enum fr_status status;

    *is_alike = false;
    FR_TRY(fr_topo_load(&other, preset, err));
    status = FR_OK;
    if (has_same_gpus(t, other)) {
        status = fr_router_new(&a, t, err);
        if (status == FR_OK)
            status = fr_router_new(&b, other, err);
        if (status == FR_OK)
            status = compare_routes(a, b, is_alike, err);
        if (status == FR_ENOENT)
            status = FR_OK; /* no route: not alike */
    }
    fr_router_free(a);
    fr_router_free(b);
    fr_topo_free(other);
    return status;
}

enum fr_status fr_topo_preset_like(const struct fr_topo *t, const char **out, struct fr_error *err)
{
    bool is_alike = false;

    *out = NULL;
    for (size_t i = 0; fr_topo_preset_name(i) && !is_alike; i++) {
        FR_TRY(compare(t, fr_topo_preset_name(i), &is_alike, err));
        if (is_alike)
            *out = fr_topo_preset_name(i);
    }
    return FR_OK;
}
