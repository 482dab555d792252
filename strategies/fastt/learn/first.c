/* strategies/fastt/learn/first.c - the plan that learning begins with, and the estimate of a plan's
 * time from what is known. */
#include "config.h"

#include "strategies/fastt/learn/learn.h"

#include "base/error.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>

struct placing {
    const struct fr__dag *dag;
    const struct fr__dpos_machine *m;
    uint64_t *used_bytes;   /* [n_devices] */
    uint64_t *group_bytes;  /* [n_groups] */
    uint32_t *group_device; /* [n_groups] FR_NONE: not yet */
    uint32_t *device_of;    /* [n_ops of the graph] device of the forward op; FR_NONE */
    size_t n_graph_ops;
};

static uint64_t bytes_of(const struct placing *p, uint32_t op)
{
    const struct fr__dag_op *o = &p->dag->ops[op];

    return o->group == FR_NONE ? o->resident_bytes + o->output_bytes : p->group_bytes[o->group];
}

static uint64_t left_on(const struct placing *p, uint32_t d)
{
    return p->m->room_bytes[d] > p->used_bytes[d] ? p->m->room_bytes[d] - p->used_bytes[d] : 0;
}

static enum fr_status fail_no_room(const struct placing *p, uint32_t op, struct fr_error *err)
{
    char name[160], bytes[32];

    return fr__fail(err, FR_ENOROOM, FR_NOWHERE,
                    "the first plan does not fit: no device has %s left for '%s'",
                    fr__format_bytes((double)bytes_of(p, op), bytes, sizeof(bytes)),
                    fr__dag_name(p->dag, op, name, sizeof(name)));
}

static void put(struct placing *p, uint32_t device[], uint32_t op, uint32_t d)
{
    const struct fr__dag_op *o = &p->dag->ops[op];

    device[op] = d;
    if (o->group == FR_NONE || p->group_device[o->group] == FR_NONE)
        p->used_bytes[d] += bytes_of(p, op);
    if (o->group != FR_NONE)
        p->group_device[o->group] = d;
    if (o->op < p->n_graph_ops && p->device_of[o->op] == FR_NONE)
        p->device_of[o->op] = d;
}

/* Puts replica r on device r, and what the replicas share on the first device with room. */
static enum fr_status place_replicas(struct placing *p, uint32_t device[], struct fr_error *err)
{
    const struct fr__dag *g = p->dag;

    for (uint32_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].replica != FR_NONE)
            put(p, device, i, g->ops[i].replica % (uint32_t)p->m->n_devices);
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct fr__dag_op *o = &g->ops[i];
        uint32_t d = 0;

        if (o->replica != FR_NONE)
            continue;
        if (o->group != FR_NONE && p->group_device[o->group] != FR_NONE) {
            put(p, device, i, p->group_device[o->group]);
            continue;
        }
        while (d < p->m->n_devices && left_on(p, d) < bytes_of(p, i))
            d++;
        if (d == p->m->n_devices)
            return fail_no_room(p, i, err);
        put(p, device, i, d);
    }
    return FR_OK;
}

/* The device of a backward or update op's forward op; FR_NONE: it is no such op, or the forward op
 * is not placed. */
static uint32_t beside_forward(const struct placing *p, uint32_t op)
{
    const struct fr__dag_op *o = &p->dag->ops[op];
    uint32_t forward;

    if (!p->dag->pl || o->op == FR_NONE)
        return FR_NONE;
    forward = p->dag->pl->graph->ops[o->op].forward;
    return forward == FR_NONE ? FR_NONE : p->device_of[forward];
}

/* Fills one device after the other. A device is full when it holds its share or has no room. */
static enum fr_status place_model(struct placing *p, uint32_t device[], struct fr_error *err)
{
    const struct fr__dag *g = p->dag;
    double need = 0, room = 0;
    uint32_t d = 0;

    for (uint32_t i = 0; i < g->n_ops; i++)
        need += (double)(g->ops[i].resident_bytes + g->ops[i].output_bytes);
    for (uint32_t k = 0; k < p->m->n_devices; k++)
        room += (double)p->m->room_bytes[k];
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct fr__dag_op *o = &g->ops[i];
        uint32_t there = o->group != FR_NONE ? p->group_device[o->group] : beside_forward(p, i);

        if (there != FR_NONE && (o->group != FR_NONE || left_on(p, there) >= bytes_of(p, i))) {
            put(p, device, i, there);
            continue;
        }
        while (
            d + 1 < p->m->n_devices &&
            (left_on(p, d) < bytes_of(p, i) ||
             (need > 0 && (double)p->used_bytes[d] >= need * ((double)p->m->room_bytes[d] / room))))
            d++;
        for (there = d; there < p->m->n_devices && left_on(p, there) < bytes_of(p, i);)
            there++;
        if (there == p->m->n_devices)
            for (there = 0; there < d && left_on(p, there) < bytes_of(p, i);)
                there++;
        if (left_on(p, there) < bytes_of(p, i))
            return fail_no_room(p, i, err);
        put(p, device, i, there);
    }
    return FR_OK;
}

static bool begin(struct placing *p)
{
    const struct fr__dag *g = p->dag;

    p->n_graph_ops = g->pl ? g->pl->graph->n_ops : 0;
    p->used_bytes = calloc(p->m->n_devices + 1, sizeof(*p->used_bytes));
    p->group_bytes = calloc(g->n_groups + 1, sizeof(*p->group_bytes));
    p->group_device = calloc(g->n_groups + 1, sizeof(*p->group_device));
    p->device_of = calloc(p->n_graph_ops + 1, sizeof(*p->device_of));
    if (!p->used_bytes || !p->group_bytes || !p->group_device || !p->device_of)
        return false;
    for (size_t k = 0; k < g->n_groups; k++)
        p->group_device[k] = FR_NONE;
    for (size_t k = 0; k < p->n_graph_ops; k++)
        p->device_of[k] = FR_NONE;
    for (size_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].group != FR_NONE)
            p->group_bytes[g->ops[i].group] += g->ops[i].resident_bytes + g->ops[i].output_bytes;
    return true;
}

enum fr_status fr__learn_first(const struct fr__dag *dag, const struct fr__dpos_machine *m,
                               uint32_t device[], struct fr_error *err)
{
    struct placing p = {.dag = dag, .m = m};
    enum fr_status st;

    if (!begin(&p))
        st = fr__fail_nomem(err);
    else
        st = dag->n_replicas > 1 ? place_replicas(&p, device, err) : place_model(&p, device, err);
    free(p.used_bytes);
    free(p.group_bytes);
    free(p.group_device);
    free(p.device_of);
    return st;
}

/* ---- estimates ---- */

static double move_s(const struct fr__learned *l, const struct fr__dag_edge *e, uint32_t src,
                     uint32_t dst)
{
    double latency_s, s_per_byte;

    if (src == dst || e->cargo == FR__DAG_ORDER)
        return 0;
    fr__learned_line(l, src, dst, &latency_s, &s_per_byte);
    return latency_s + (double)e->bytes * s_per_byte;
}

enum fr_status fr__learn_estimate(double *out_s, const struct fr__learned *l,
                                  const struct fr__learn_strategy *s, size_t n_devices,
                                  struct fr_error *err)
{
    const struct fr__dag *g = s->dag;
    double *end_s = calloc(g->n_ops + 1, sizeof(*end_s));
    double *free_s = calloc(n_devices + 1, sizeof(*free_s));
    double last_s = 0;

    if (!end_s || !free_s) {
        free(end_s);
        free(free_s);
        return fr__fail_nomem(err);
    }
    for (size_t k = 0; k < g->n_ops; k++) {
        uint32_t op = s->order[k], d = s->device[op];
        double ready_s = free_s[d];

        if (g->ops[op].role == FR__DAG_VARIABLE)
            continue;
        for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
            const struct fr__dag_edge *e = &g->edges[g->in_edges[i]];

            ready_s = fmax(ready_s, end_s[e->src] + move_s(l, e, s->device[e->src], d));
        }
        end_s[op] = free_s[d] = ready_s + fr__learned_op_s(l, g, op, d);
        last_s = fmax(last_s, end_s[op]);
    }
    *out_s = last_s;
    free(end_s);
    free(free_s);
    return FR_OK;
}
