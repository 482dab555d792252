/* sim/collectives/link_classes.c - links of a folded plan that carry the same at all times; see
 * link_load.h.
 *
 * What tells a link from others is its kind and bandwidth, and its weight in each load. A number of
 * 64 bits stands for all of these. Two links with the same number are a class.
 */
#include "config.h"

#include "sim/collectives/link_load.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t with)
{
    return fr__hash_id(hash ^ fr__hash_id(with));
}

static uint64_t bits(double x)
{
    uint64_t b;

    memcpy(&b, &x, sizeof(b));
    return b;
}

/* [n_links], the caller's; NULL: the failure is kept. */
static uint64_t *tell_apart(struct fr__engine *e, struct fr__link_load *const loads[],
                            size_t n_loads)
{
    size_t n = e->v->topo->n_links;
    uint64_t *of = malloc((n + 1) * sizeof(*of));

    for (uint32_t i = 0; of && i < n; i++)
        of[i] = mix(e->v->topo->links[i].kind, bits(fr__link_bw_Bps(&e->network.routes, i)));
    for (size_t k = 0; of && k < n_loads; k++)
        for (uint32_t i = 0; i < loads[k]->n; i++) {
            uint64_t *link = &of[loads[k]->links[i]];

            *link = mix(mix(*link, k), bits(loads[k]->weights[i]));
        }
    if (!of)
        fr__engine_fail_nomem(e);
    return of;
}

/* Keeps of a load the links that stand for others. */
static void keep_first(struct fr__link_load *load, const uint32_t class_of[])
{
    uint32_t n = 0, narrowest = load->narrowest; /* the first one, so it stands for its class */

    for (uint32_t i = 0; i < load->n; i++)
        if (class_of[load->links[i]] == load->links[i]) {
            if (i == narrowest)
                load->narrowest = n;
            load->links[n] = load->links[i];
            load->sums[n] = load->sums[i];
            load->weights[n++] = load->weights[i];
        }
    load->n = n;
}

void fr__link_classes(struct fr__engine *e, struct fr__link_load *const loads[], size_t n_loads,
                      uint32_t class_of[])
{
    size_t n = e->v->topo->n_links, at;
    struct fr__hash_table table = {.n = 0};
    uint64_t *apart = tell_apart(e, loads, n_loads);

    for (uint32_t i = 0; apart && e->status == FR_OK && i < n; i++) {
        uint32_t id = fr__hash_first(&table, apart[i], &at);

        while (id != FR_NONE && apart[id] != apart[i])
            id = fr__hash_next(&table, apart[i], &at);
        class_of[i] = id != FR_NONE ? id : i;
        if (id == FR_NONE && !fr__hash_add(&table, apart[i], i))
            fr__engine_fail_nomem(e);
    }
    for (size_t k = 0; e->status == FR_OK && k < n_loads; k++)
        keep_first(loads[k], class_of);
    fr__hash_fini(&table);
    free(apart);
}
