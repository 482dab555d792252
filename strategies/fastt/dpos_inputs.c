/* strategies/fastt/dpos_inputs.c - what an operation reads: when it could be on each device, and
 * which copies it would leave there. */
#include "config.h"

#include "strategies/fastt/dpos_state.h"

/* Adds the copies that an edge into the current op would leave on each device. */
static void count_copies(struct fr__dpos *p, const struct fr__dag_edge *e)
{
    const uint8_t *there = p->there + e->src * p->m.n_devices;

    for (size_t d = 0; d < p->m.n_devices; d++)
        if (d != p->device[e->src] && !(there[d] & fr__dpos_tensor_bit(e)))
            p->copy_bytes[d] += e->bytes;
    p->has_copies = true;
}

void fr__dpos_keep_copies(struct fr__dpos *p, uint32_t op, uint32_t device)
{
    const struct fr__dag *dag = p->dag;

    p->used_bytes[device] += p->copy_bytes[device];
    for (uint32_t k = dag->in_first[op]; p->copy_bytes[device] && k < dag->in_first[op + 1]; k++) {
        const struct fr__dag_edge *e = &dag->edges[dag->in_edges[k]];

        if (e->stays)
            p->there[e->src * p->m.n_devices + device] |= fr__dpos_tensor_bit(e);
    }
}

/* Adds the bytes of a variable that waits for op. */
static void count_along(struct fr__dpos *p, uint32_t op, uint32_t variable)
{
    uint32_t g = p->dag->ops[variable].group;

    if (g == FR_NONE || g != p->dag->ops[op].group)
        p->along_bytes += fr__dpos_needs(p, variable);
}

/* Raises ready_s of each device to the arrival of what the edge carries. */
static void follow(struct fr__dpos *p, const struct fr__dag_edge *e)
{
    const double *latency_s = p->m.latency_s + p->device[e->src] * p->m.n_devices;
    const double *s_per_byte = p->m.s_per_byte + p->device[e->src] * p->m.n_devices;
    double end_s = p->end_s[e->src], bytes = (double)e->bytes;
    bool moves = e->cargo != FR__DAG_ORDER;

    for (size_t d = 0; d < p->m.n_devices; d++) {
        double t_s = moves ? end_s + (latency_s[d] + bytes * s_per_byte[d]) : end_s;

        p->ready_s[d] = t_s > p->ready_s[d] ? t_s : p->ready_s[d];
    }
}

void fr__dpos_find_inputs(struct fr__dpos *p, uint32_t op, bool has_times)
{
    const struct fr__dag *dag = p->dag;

    p->along_bytes = 0;
    for (size_t d = 0; d < p->m.n_devices; d++) {
        p->ready_s[d] = 0;
        p->copy_bytes[d] = 0;
    }
    for (uint32_t k = dag->in_first[op]; k < dag->in_first[op + 1]; k++) {
        const struct fr__dag_edge *e = &dag->edges[dag->in_edges[k]];

        if (p->device[e->src] == FR_NONE) {
            count_along(p, op, e->src);
            continue;
        }
        if (e->stays)
            count_copies(p, e);
        if (has_times)
            follow(p, e);
    }
}
