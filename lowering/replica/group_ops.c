/* lowering/replica/group_ops.c - messages of a sharded graph become collectives: see group_ops.h.
 *
 * Collectives are numbered micro-batch by micro-batch, then message by message, then group by
 * group, so that a block that is repeated for another micro-batch moves all of its collectives
 * alike.
 */
#include "config.h"

#include "lowering/replica/group_ops.h"

#include "base/error.h"

struct fr__group_ops {
    struct fr__group_ops_problem in;
    uint32_t *first;         /* [n_comms]: offset of a message's first group */
    uint32_t base, stride;   /* of the first micro-batch; from one to the next */
    uint32_t first_crossing; /* offset of the crossings' groups */
};

/* Gathers of parameters have a stream, and sums of gradients that of all such sums. Sums over
 * copies have that of experts' tensor groups, with which they do not go together. */
static uint8_t stream_of(const struct fr__group_ops *x, uint32_t axis, enum fr_op_kind kind)
{
    if (x->in.computes_nothing_beside[axis])
        return FR_STREAM_COMPUTE;
    if (axis == FR__AXIS_COPIES)
        axis = FR__AXIS_EXPERT_TENSOR;
    if (axis == FR__AXIS_REPLICAS || axis == FR__AXIS_EXPERT_REPLICAS)
        return kind == FR_OP_ALL_GATHER ? FR_STREAM_RECV : FR_STREAM_COMM;
    return (uint8_t)(axis >= FR__AXIS_EXPERTS ? axis - FR__AXIS_EXPERTS + 6 : 4 + axis % 2);
}

enum fr_collective_kind fr__collective_of(enum fr_op_kind kind)
{
    switch (kind) {
    case FR_OP_ALL_GATHER:
        return FR_ALL_GATHER;
    case FR_OP_REDUCE_SCATTER:
        return FR_REDUCE_SCATTER;
    case FR_OP_ALL_TO_ALL:
        return FR_ALL_TO_ALL;
    default:
        return FR_ALL_REDUCE;
    }
}

static enum fr_collective_kind kind_of(const struct fr__comm *m, const struct fr_op *op)
{
    return m->is_step ? FR_RING_STEP : fr__collective_of(op->kind);
}

/* The message's collectives in one micro-batch, in the order of the groups. */
static void add_message(const struct fr__group_ops *x, struct fr__placer *pl, uint32_t comm,
                        double batch)
{
    const struct fr__comm *m = &x->in.sharded->comms[comm];
    const struct fr__rank_groups *over = x->in.axes[m->axis];
    uint32_t stage = x->in.stage_of ? x->in.stage_of[m->op] : 0;
    double scale = m->scales ? batch / pl->graph->batch : 1;

    for (uint32_t g = 0; g < over->n_groups; g++)
        fr__add_collective(pl, &(struct fr_collective){
                                   .bytes = m->bytes * scale,
                                   .group = over->plan_group[(size_t)stage * over->n_groups + g],
                                   .label = FR_NONE,
                                   .kind = kind_of(m, &pl->graph->ops[m->op]),
                                   .is_folded = x->in.is_folded,
                               });
}

/* The gathers of a crossing, likewise. */
static void add_gather(const struct fr__group_ops *x, struct fr__placer *pl, uint32_t crossing,
                       double batch)
{
    const struct fr__crossing *c = &x->in.crossings[crossing];
    const struct fr__rank_groups *over = x->in.axes[x->in.crossing_axis];

    for (uint32_t g = 0; g < over->n_groups; g++)
        fr__add_collective(pl, &(struct fr_collective){
                                   .bytes = c->bytes * (c->scales ? batch / pl->graph->batch : 1),
                                   .group = over->plan_group[(size_t)c->stage * over->n_groups + g],
                                   .label = FR_NONE,
                                   .kind = FR_ALL_GATHER,
                                   .is_folded = x->in.is_folded,
                               });
}

/* All of a micro-batch. */
static void add_all(const struct fr__group_ops *x, struct fr__placer *pl, double batch)
{
    for (uint32_t k = 0; k < x->in.sharded->n_comms; k++)
        add_message(x, pl, k, batch);
    for (uint32_t k = 0; k < x->in.n_crossings; k++)
        add_gather(x, pl, k, batch);
}

/* The first micro-batch's collectives once more. */
static void repeat_all(const struct fr__group_ops *x, struct fr__placer *pl)
{
    for (uint32_t i = 0; i < x->stride; i++)
        fr__repeat_collective(pl, x->base + i);
}

static enum fr_status too_many(const struct fr__group_ops *x, struct fr_error *err)
{
    return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                    "%zu messages in %u micro-batches are too many for one plan",
                    x->in.sharded->n_comms + x->in.n_crossings, x->in.share->n_micros);
}

static enum fr_status number(struct fr__group_ops *x, struct fr__placer *pl, struct fr_error *err)
{
    size_t n_comms = x->in.sharded->n_comms;
    uint64_t n = 0;

    x->first = fr__arena_alloc(pl->arena, n_comms, sizeof(*x->first));
    if (!x->first)
        return fr__fail_nomem(err);
    for (size_t k = 0; k < n_comms; k++) {
        x->first[k] = (uint32_t)n;
        n += x->in.axes[x->in.sharded->comms[k].axis]->n_groups;
        if (n * x->in.share->n_micros >= FR_NONE)
            return too_many(x, err);
    }
    x->first_crossing = (uint32_t)n;
    if (x->in.n_crossings > 0)
        n += (uint64_t)x->in.n_crossings * x->in.axes[x->in.crossing_axis]->n_groups;
    if (n * x->in.share->n_micros >= FR_NONE)
        return too_many(x, err);
    x->stride = (uint32_t)n;
    return FR_OK;
}

enum fr_status fr__group_ops_add(struct fr__placer *pl, const struct fr__group_ops_problem *in,
                                 struct fr_error *err)
{
    struct fr__group_ops *x = fr__arena_alloc(pl->arena, 1, sizeof(*x));
    const struct fr__share *share = in->share;

    if (!x)
        return fr__fail_nomem(err);
    x->in = *in;
    FR_TRY(number(x, pl, err));
    x->base = (uint32_t)pl->plan->n_collectives.n;
    for (uint32_t m = 0; m < share->n_micros; m++) {
        double batch = m + 1 < share->n_micros ? share->batch : share->last_batch;

        if (m > 0 && batch <= share->batch && batch >= share->batch)
            repeat_all(x, pl);
        else
            add_all(x, pl, batch);
    }
    pl->group_ops = x;
    return FR_OK;
}

bool fr__is_group_op(const struct fr__group_ops *x, uint32_t op)
{
    return x && x->in.sharded->comm_of[op] != FR_NONE;
}

uint32_t fr__add_group_op(const struct fr__group_ops *x, struct fr__placer *pl, uint32_t op,
                          uint32_t device, uint32_t replica, uint32_t micro, uint32_t microbatch)
{
    uint32_t k = x->in.sharded->comm_of[op];
    const struct fr__rank_groups *over = x->in.axes[x->in.sharded->comms[k].axis];

    return fr__add_task(
        pl, &(struct fr_task){
                .device = device,
                .cost_id = FR_NONE,
                .op = op,
                .collective = x->base + micro * x->stride + x->first[k] + over->group_of[replica],
                .rank = over->rank_of[replica],
                .microbatch = microbatch,
                .kind = FR_TASK_COLLECTIVE,
                .phase = (uint8_t)pl->graph->ops[op].phase,
                .stream = stream_of(x, x->in.sharded->comms[k].axis, pl->graph->ops[op].kind),
            });
}

uint32_t fr__crossing_of(const struct fr__group_ops *x, uint32_t edge)
{
    return x && x->in.crossing_of ? x->in.crossing_of[edge] : FR_NONE;
}

uint32_t fr__crossing_parts(const struct fr__group_ops *x)
{
    return x->in.axes[x->in.crossing_axis]->n_ranks;
}

uint32_t fr__add_crossing(const struct fr__group_ops *x, struct fr__placer *pl, uint32_t crossing,
                          const struct fr_task *member, uint32_t replica, uint32_t micro)
{
    const struct fr__rank_groups *over = x->in.axes[x->in.crossing_axis];
    struct fr_task t = *member;

    t.cost_id = FR_NONE;
    t.collective = x->base + micro * x->stride + x->first_crossing + crossing * over->n_groups +
                   over->group_of[replica];
    t.rank = over->rank_of[replica];
    t.kind = FR_TASK_COLLECTIVE;
    t.stream = stream_of(x, x->in.crossing_axis, FR_OP_ALL_GATHER);
    return fr__add_task(pl, &t);
}

/* Whether an op is a message of a sharded optimizer, of that kind. */
static bool is_of_parameters(const struct fr__group_ops *x, const struct fr_graph *g, uint32_t op,
                             enum fr_op_kind kind)
{
    uint32_t k = x->in.sharded->comm_of[op], axis;

    if (k == FR_NONE || g->ops[op].kind != kind)
        return false;
    axis = x->in.sharded->comms[k].axis;
    return axis == FR__AXIS_REPLICAS || axis == FR__AXIS_EXPERT_REPLICAS || axis == FR__AXIS_COPIES;
}

enum fr_buffer_kind fr__group_ops_buffer(const struct fr__group_ops *x, const struct fr_graph *g,
                                         uint32_t tensor)
{
    uint32_t op = g->tensors[tensor].op;

    if (!x)
        return FR_BUFFER_ACTIVATION;
    if (is_of_parameters(x, g, op, FR_OP_ALL_GATHER))
        return FR_BUFFER_COMMUNICATION;
    if (g->ops[op].phase != FR_PHASE_BACKWARD_WEIGHT)
        return FR_BUFFER_ACTIVATION;
    for (uint32_t i = g->out_first[op]; i < g->out_first[op + 1]; i++)
        if (g->edges[i].tensor == tensor &&
            (is_of_parameters(x, g, g->edges[i].dst, FR_OP_REDUCE_SCATTER) ||
             is_of_parameters(x, g, g->edges[i].dst, FR_OP_ALL_REDUCE)))
            return FR_BUFFER_GRADIENT;
    return FR_BUFFER_ACTIVATION;
}

uint32_t fr__group_ops_stride(const struct fr__group_ops *x)
{
    return x ? x->stride : 0;
}
