/* topo/select/select.c - so many GPUs of a topology: the first ones, or evenly over its machines.
 *
 * Machines whose GPUs share a switch of NVLinks, as the trays of a rack do, count as one: what is
 * spread is the work over the network, not that inside a rack. Of such machines the first GPUs are
 * taken, whole machine after whole machine.
 */
#include "config.h"

#include "topo/internal.h"

#include <stdlib.h>

/* NVLink domains: [n_machines], the first machine of each machine's domain. Switches of no machine
 * have the machines of a rack; first_at: [n_vertices], the first machine found at each. */
static void find_domains(const struct fr_topo *t, uint32_t domain_of[], uint32_t first_at[])
{
    for (uint32_t m = 0; m < t->n_machines; m++)
        domain_of[m] = m;
    for (size_t v = 0; v < t->n_vertices; v++)
        first_at[v] = FR_NONE;
    for (size_t l = 0; l < t->n_links; l++) {
        uint32_t machine = t->vertices[t->links[l].src].machine, v = t->links[l].dst;

        if (t->vertices[v].kind != FR_VERTEX_NVSWITCH || t->vertices[v].machine != FR_NONE ||
            machine == FR_NONE)
            continue;
        if (first_at[v] == FR_NONE || machine < first_at[v])
            first_at[v] = machine;
    }
    for (size_t l = 0; l < t->n_links; l++) {
        uint32_t machine = t->vertices[t->links[l].src].machine, first = first_at[t->links[l].dst];

        if (machine != FR_NONE && first != FR_NONE && first < domain_of[machine])
            domain_of[machine] = first;
    }
}

static size_t n_gpus_of(const struct fr_topo *t, size_t machine)
{
    const struct fr__topo_priv *priv = t->priv;

    return priv->first_gpu[machine + 1] - priv->first_gpu[machine];
}

/* Takes n GPUs from the domains in rounds, one of each that has more. has, take: [n_machines] of
 * the first machine of each domain, zeroed. */
static void deal(const struct fr_topo *t, size_t n, const uint32_t domain_of[], size_t has[],
                 size_t take[])
{
    for (size_t m = 0; m < t->n_machines; m++)
        has[domain_of[m]] += n_gpus_of(t, m);
    while (n > 0)
        for (size_t m = 0; m < t->n_machines && n > 0; m++)
            if (take[m] < has[m]) {
                take[m]++;
                n--;
            }
}

static enum fr_status select_spread(const struct fr_topo *t, size_t n, uint32_t devices[],
                                    struct fr_error *err)
{
    const struct fr__topo_priv *priv = t->priv;
    uint32_t *domain_of = malloc(t->n_machines * sizeof(*domain_of));
    uint32_t *first_at = malloc(t->n_vertices * sizeof(*first_at));
    size_t *has = calloc(t->n_machines, sizeof(*has)), *take = calloc(t->n_machines, sizeof(*take));
    bool is_there = domain_of && first_at && has && take;
    size_t k = 0;

    if (is_there) {
        find_domains(t, domain_of, first_at);
        deal(t, n, domain_of, has, take);
    }
    for (size_t m = 0; is_there && m < t->n_machines; m++)
        for (uint32_t i = 0; i < n_gpus_of(t, m) && take[domain_of[m]] > 0; i++) {
            devices[k++] = priv->first_gpu[m] + i;
            take[domain_of[m]]--;
        }
    free(domain_of);
    free(first_at);
    free(has);
    free(take);
    return is_there ? FR_OK : fr__fail_nomem(err);
}

enum fr_status fr_topo_select(const struct fr_topo *t, size_t n, bool spread, uint32_t devices[],
                              struct fr_error *err)
{
    if (n == 0)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "0 GPUs asked for, at least 1 expected");
    if (n > t->n_gpus)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "%zu GPUs asked for, but '%s' has %zu", n,
                        t->name, t->n_gpus);
    if (spread)
        return select_spread(t, n, devices, err);
    for (uint32_t d = 0; d < n; d++)
        devices[d] = d;
    return FR_OK;
}
