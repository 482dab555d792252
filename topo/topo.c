/* topo/topo.c - functions on a finished topology: find the host, name a link. */
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
