/* lowering/dag/price.c - the time of a dag's operations, of their parts, and of slicing and
 * joining these, on each type of device. */
#include "config.h"

#include "lowering/dag/dag.h"
#include "lowering/dag/dims.h"

#include <math.h>

/* An operation takes at least its launch. */
static double seconds(const struct fr_cost *c)
{
    return c->mean_s > c->launch_s ? c->mean_s : c->launch_s;
}

double fr__dag_helper_bytes(const struct fr__dag *dag, uint32_t op)
{
    double bytes = 0;

    for (uint32_t k = dag->in_first[op]; k < dag->in_first[op + 1]; k++)
        bytes += (double)dag->edges[dag->in_edges[k]].bytes;
    if (dag->ops[op].role == FR__DAG_SUM && dag->in_first[op] < dag->in_first[op + 1])
        return bytes + (double)dag->edges[dag->in_edges[dag->in_first[op]]].bytes;
    return 2 * bytes;
}

/* A data gradient writes the channels that its forward op reads. */
static void set_channels(struct fr_part *part, const struct fr__dag_op *o, unsigned dim, unsigned n)
{
    bool is_of_input = o->phase == FR_PHASE_BACKWARD_DATA && !o->has_channels_apart;

    part->channel_parts = dim == FR__DAG_CHANNEL && !is_of_input ? n : 1;
    part->input_parts = dim == FR__DAG_CHANNEL && is_of_input ? n : 1;
}

bool fr__dag_is_tail(const struct fr__dag *dag, uint32_t op)
{
    enum fr__role role = dag->pl->params.roles[op];

    return role == FR__ROLE_SUM || role == FR__ROLE_UPDATE;
}

/* One of n pieces of an update or sum, which are bound by memory. */
static void take_piece(struct fr_cost *c, uint32_t n)
{
    c->mean_s /= n;
    c->flops_s /= n;
    c->bytes_s /= n;
}

void fr__dag_cost(const struct fr__dag *dag, uint32_t op, uint32_t type, struct fr_cost *out)
{
    const struct fr__dag_op *o = &dag->ops[op];
    double batch = fr__dag_is_tail(dag, o->op) ? dag->pl->graph->batch : dag->replica_batch;
    struct fr_part part = {.batch = o->dim == FR__DAG_BATCH ? batch / o->n_parts : batch};

    set_channels(&part, o, o->dim, o->n_parts);
    *out = (struct fr_cost){0};
    if (o->role == FR__DAG_OP)
        fr__price_op(dag->pl, type, o->op, &part, out);
    else if (o->role != FR__DAG_VARIABLE)
        fr_cost_bytes(dag->pl->in->costs, type, fr__dag_helper_bytes(dag, op), FR_OP_CONCAT, out);
    if (o->role == FR__DAG_OP && o->n_parts > 1 && o->dim == FR__DAG_WHOLE)
        take_piece(out, o->n_parts);
    if (dag->launches_ahead)
        return;
    if (out->launch_s > out->mean_s)
        out->flops_s = out->bytes_s = 0; /* neither peak bounds it: a faster one does not help */
    out->mean_s = seconds(out);
    out->launch_s = 0;
}

void fr__dag_piece_cost(const struct fr__dag *dag, uint32_t op, unsigned n, double out_s[])
{
    const struct fr_part tail = {.batch = dag->pl->graph->batch};

    for (uint32_t t = 0; t < dag->n_types; t++) {
        struct fr_cost c;

        fr__price_op(dag->pl, t, op, &tail, &c);
        c.mean_s /= n;
        out_s[t] = dag->launches_ahead ? c.mean_s : seconds(&c);
    }
}

void fr__dag_part_cost(const struct fr__dag *dag, uint32_t op, enum fr__dag_dim dim, unsigned n,
                       double out_s[])
{
    const struct fr__dag_op *o = &dag->ops[op];
    struct fr_part part = {.batch =
                               dim == FR__DAG_BATCH ? dag->replica_batch / n : dag->replica_batch};
    bool is_whole = part.batch >= 1 &&
                    (dim != FR__DAG_CHANNEL || n <= fr__dag_n_channels(dag->pl->graph, o->op));

    set_channels(&part, o, dim, n);
    for (uint32_t t = 0; t < dag->n_types; t++) {
        struct fr_cost c;

        fr__price_op(dag->pl, t, o->op, &part, &c);
        /* a part has at least one sample and one channel */
        out_s[t] = is_whole ? seconds(&c) : INFINITY;
    }
}

void fr__dag_bytes_cost(const struct fr__dag *dag, double bytes, double out_s[])
{
    for (uint32_t t = 0; t < dag->n_types; t++) {
        struct fr_cost c;

        fr_cost_bytes(dag->pl->in->costs, t, bytes, FR_OP_CONCAT, &c);
        out_s[t] = dag->launches_ahead ? c.mean_s : seconds(&c);
    }
}

/* What each op adds to the step of a replica on one device, where the host launches ops in the
 * graph's order and runs ahead: a device that is behind does not wait for launches. */
static void price_in_a_row(struct fr__dag *dag, uint32_t type)
{
    const struct fr__placer *pl = dag->pl;
    const struct fr_part body = {.batch = dag->replica_batch};
    const struct fr_part tail = {.batch = pl->graph->batch};
    double host_s = 0, end_s = 0;

    for (uint32_t o = 0; o < pl->graph->n_ops; o++) {
        double before_s = end_s;
        struct fr_cost c;

        fr__price_op(pl, type, o, fr__dag_is_tail(dag, o) ? &tail : &body, &c);
        host_s += c.launch_s;
        end_s = (host_s > end_s ? host_s : end_s) + c.mean_s;
        dag->cost_s[(1 + o) * dag->n_types + type] = end_s - before_s;
        dag->least_s[(1 + o) * dag->n_types + type] = c.mean_s;
    }
}

void fr__dag_price_ops(struct fr__dag *dag)
{
    const struct fr__placer *pl = dag->pl;
    const struct fr_part body = {.batch = dag->replica_batch};
    const struct fr_part tail = {.batch = pl->graph->batch};

    for (uint32_t t = 0; t < dag->n_types && dag->launches_ahead; t++)
        price_in_a_row(dag, t);
    for (uint32_t o = 0; o < pl->graph->n_ops && !dag->launches_ahead; o++)
        for (uint32_t t = 0; t < dag->n_types; t++) {
            struct fr_cost c;

            fr__price_op(pl, t, o, fr__dag_is_tail(dag, o) ? &tail : &body, &c);
            dag->cost_s[(1 + o) * dag->n_types + t] = seconds(&c);
        }
    dag->n_costs = 1 + pl->graph->n_ops;
    dag->n_least = dag->launches_ahead ? dag->n_costs : 0;
}
