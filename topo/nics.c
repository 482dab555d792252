/* topo/nics.c - the NICs of the machines in use: how many, how fast, and what holds them up.
 *
 * It is separate because it only describes a topology to people: a preset's NICs may have a network
 * that is faster than the PCIe links behind them, and then a faster network changes nothing.
 */
#include "config.h"

#include "topo/topo.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

/* What one NIC has: its fastest link of the network, and its fastest link inside the machine. */
struct nic {
    double rate_Bps, host_Bps;
};

static int by_rate(const void *a, const void *b)
{
    const struct nic *x = a, *y = b;

    if (x->rate_Bps != y->rate_Bps)
        return x->rate_Bps > y->rate_Bps ? -1 : 1;
    return (x->host_Bps < y->host_Bps) - (x->host_Bps > y->host_Bps);
}

static void read_links(const struct fr_topo *t, struct nic nics[])
{
    for (size_t i = 0; i < t->n_links; i++) {
        const struct fr_link *l = &t->links[i];
        struct nic *nic = &nics[l->src];

        if (t->vertices[l->src].kind != FR_VERTEX_NIC)
            continue;
        if (l->kind == FR_LINK_NET)
            nic->rate_Bps = fmax(nic->rate_Bps, l->bw_Bps);
        else
            nic->host_Bps = fmax(nic->host_Bps, l->bw_Bps);
    }
}

/* Adds the kinds of one machine: list[0..n) are its NICs by rate. */
static size_t add_kinds(const struct nic list[], size_t n, struct fr_topo_nics out[], size_t n_out,
                        size_t most)
{
    for (size_t i = 0, k; i < n; i = k) {
        size_t at = 0;

        k = i;
        while (k < n && by_rate(&list[k], &list[i]) == 0)
            k++;
        while (at < n_out &&
               !(out[at].n_a_machine == k - i &&
                 by_rate(&(struct nic){out[at].rate_Bps, out[at].host_Bps}, &list[i]) == 0))
            at++;
        if (at == most)
            continue;
        if (at == n_out)
            out[n_out++] = (struct fr_topo_nics){.n_a_machine = (uint32_t)(k - i),
                                                 .rate_Bps = list[i].rate_Bps,
                                                 .host_Bps = list[i].host_Bps};
        out[at].n_machines++;
    }
    return n_out;
}

enum fr_status fr_topo_nics_of(const struct fr_topo *t, const uint32_t devices[], size_t n_devices,
                               struct fr_topo_nics out[], size_t most, size_t *n,
                               struct fr_error *err)
{
    struct nic *nics = calloc(2 * t->n_vertices + 1, sizeof(*nics)), *list = nics + t->n_vertices;
    bool *is_used = calloc(t->n_machines + 1, sizeof(*is_used));
    size_t n_used = 0;

    *n = 0;
    if (!nics || !is_used) {
        free(nics);
        free(is_used);
        return fr__fail_nomem(err);
    }
    for (size_t i = 0; i < n_devices; i++) {
        bool *used = &is_used[t->devices[devices[i]].machine];

        n_used += !*used;
        *used = true;
    }
    if (n_used > 1)
        read_links(t, nics);
    for (size_t v = 0, past; n_used > 1 && v < t->n_vertices; v = past) {
        uint32_t machine = t->vertices[v].machine;
        size_t n_list = 0;

        for (past = v; past < t->n_vertices && t->vertices[past].machine == machine; past++)
            if (machine != FR_NONE && is_used[machine] && nics[past].rate_Bps > 0)
                list[n_list++] = nics[past];
        qsort(list, n_list, sizeof(*list), by_rate);
        *n = add_kinds(list, n_list, out, *n, most);
    }
    free(nics);
    free(is_used);
    return FR_OK;
}
