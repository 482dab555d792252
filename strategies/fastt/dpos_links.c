/* strategies/fastt/dpos_links.c - when what an operation reads could be on a device, if messages
 * share links (lowering/dag/shared_links.h). */
#include "config.h"

#include "strategies/fastt/dpos_state.h"

#include <math.h>

static uint32_t via(const struct fr__dpos *p, uint32_t src, uint32_t dst)
{
    const struct fr__link_map *m = p->m.links;

    return m->via ? m->via[src * m->n_devices + dst] : FR_NONE;
}

/* When the same is on a device to which it was sent for an earlier reader, or that it passed; NAN:
 * it was not. */
static double sent_s(const struct fr__dpos *p, const struct fr__dag_edge *e, uint32_t device)
{
    const struct fr__dag *dag = p->dag;
    uint32_t n_left = p->n_sent[e->src];

    for (uint32_t k = dag->out_first[e->src]; n_left > 0; k++) {
        uint32_t there = p->device[dag->edges[k].dst];

        if (isnan(p->there_s[k]))
            continue;
        n_left--;
        if (!fr__dag_is_same_message(&dag->edges[k], e))
            continue;
        if (there == device)
            return p->there_s[k];
        if (via(p, p->device[e->src], there) == device)
            return p->between_s[k];
    }
    return NAN;
}

/* When what an edge carries is on the device. *between_s: when it was on the device that it goes
 * by; NAN: it goes straight, or was there already. */
static double arrival_s(struct fr__dpos *p, const struct fr__dag_edge *e, uint32_t device,
                        double *between_s)
{
    uint32_t src = p->device[e->src], by;
    double there_s;

    *between_s = NAN;
    if (src == device || e->cargo == FR__DAG_ORDER)
        return p->end_s[e->src];
    there_s = sent_s(p, e, device);
    if (!isnan(there_s))
        return there_s;
    by = via(p, src, device);
    if (by == FR_NONE)
        return fr__link_times_try(p->links, src, device, e->bytes, p->end_s[e->src]);
    *between_s = sent_s(p, e, by);
    if (isnan(*between_s))
        *between_s = fr__link_times_try(p->links, src, by, e->bytes, p->end_s[e->src]);
    return fr__link_times_try(p->links, by, device, e->bytes, *between_s);
}

void fr__dpos_follow_links(struct fr__dpos *p, uint32_t op, uint32_t device)
{
    const struct fr__dag *dag = p->dag;
    double between_s;

    p->ready_s[device] = 0;
    for (uint32_t k = dag->in_first[op]; k < dag->in_first[op + 1]; k++) {
        const struct fr__dag_edge *e = &dag->edges[dag->in_edges[k]];

        if (p->device[e->src] != FR_NONE)
            p->ready_s[device] = fmax(p->ready_s[device], arrival_s(p, e, device, &between_s));
    }
    fr__link_times_drop(p->links);
}

void fr__dpos_take_links(struct fr__dpos *p, uint32_t op)
{
    const struct fr__dag *dag = p->dag;

    for (uint32_t k = dag->in_first[op]; k < dag->in_first[op + 1]; k++) {
        uint32_t edge = dag->in_edges[k];
        const struct fr__dag_edge *e = &dag->edges[edge];

        if (p->device[e->src] == FR_NONE || p->device[e->src] == p->device[op] ||
            e->cargo == FR__DAG_ORDER)
            continue;
        p->there_s[edge] = arrival_s(p, e, p->device[op], &p->between_s[edge]);
        p->n_sent[e->src]++;
    }
    fr__link_times_keep(p->links);
}
