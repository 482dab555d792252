/* topo/topo.c - functions on a finished topology: choose devices, find the host. */
#include "config.h"

#include "topo/internal.h"

#include <stdio.h>
#include <stdlib.h>

void fr_topo_free(struct fr_topo *t)
{
    struct fr__topo_priv *priv;

    if (!t)
        return;
    priv = t->priv;
    free(priv->vertices);
    free(priv->links);
    fr__arena_free(priv->arena); /* t is in the arena too */
}

uint32_t fr_topo_host_of(const struct fr_topo *t, uint32_t device)
{
    const struct fr__topo_priv *priv = t->priv;

    return device < t->n_devices ? priv->host_of[t->devices[device].machine] : FR_NONE;
}

const char *fr_topo_link_name(const struct fr_topo *t, uint32_t link, char buf[FR_LINK_NAME])
{
    const struct fr_link *l = &t->links[link];

    snprintf(buf, FR_LINK_NAME, "%s>%s", t->vertices[l->src].name, t->vertices[l->dst].name);
    return buf;
}

/* Takes n GPUs from the machines in rounds, one of each that has more. take: [n_machines],
 * zeroed. */
static void deal(const struct fr_topo *t, size_t n, uint32_t take[])
{
    const struct fr__topo_priv *priv = t->priv;

    while (n > 0)
        for (size_t m = 0; m < t->n_machines && n > 0; m++)
            if (take[m] < priv->first_gpu[m + 1] - priv->first_gpu[m]) {
                take[m]++;
                n--;
            }
}

enum fr_status fr_topo_select(const struct fr_topo *t, size_t n, bool spread, uint32_t devices[],
                              struct fr_error *err)
{
    const struct fr__topo_priv *priv = t->priv;
    uint32_t *take;
    size_t k = 0;

    if (n == 0)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "0 GPUs asked for, at least 1 expected");
    if (n > t->n_gpus)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "%zu GPUs asked for, but '%s' has %zu", n,
                        t->name, t->n_gpus);
    if (!spread) {
        for (uint32_t d = 0; d < n; d++)
            devices[d] = d;
        return FR_OK;
    }
    take = calloc(t->n_machines, sizeof(*take));
    if (!take)
        return fr__fail_nomem(err);
    deal(t, n, take);
    for (size_t m = 0; m < t->n_machines; m++)
        for (uint32_t i = 0; i < take[m]; i++)
            devices[k++] = priv->first_gpu[m] + i;
    free(take);
    return FR_OK;
}

uint32_t fr_topo_message_of(const struct fr_topo *t, uint32_t src, uint32_t dst,
                            const uint32_t hops[], size_t n)
{
    enum fr_link_kind outermost = FR_LINK_NVLINK;
    uint32_t message = FR_NONE;

    if (src >= t->n_gpus || dst >= t->n_gpus)
        return FR_NONE;
    for (size_t i = 0; i < n; i++) {
        const struct fr_link *l = &t->links[hops[i]];

        if (i == 0 || l->kind > outermost) {
            outermost = l->kind;
            message = l->message;
        } else if (l->kind == outermost && l->message != message) {
            message = FR_NONE;
        }
    }
    return message;
}
