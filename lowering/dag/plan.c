/* lowering/dag/plan.c - emits the tasks, messages and buffers of a dag. Its operations are
 * the ops of the plan's graph, with the same numbers. */
#include "config.h"

#include "lowering/dag/plan.h"

#include "base/error.h"
#include "lowering/dag/graph.h"
#include "lowering/dag/lines.h"

struct planning {
    struct fr__placer *pl;
    const struct fr__dag *dag;
    const uint32_t *device;
    uint32_t *cost_id;   /* [n_costs][n_types] row of the plan's cost table + 1; 0: not there yet */
    uint32_t *source_of; /* [n_edges] the task that the reader waits for */
    uint32_t *buffer_of; /* [n_edges] what the reader reads; FR_NONE: nothing that is freed */
    uint32_t *made_of;   /* [n_edges] the same on the device where it was made */
    uint32_t *tensor_of; /* [most tensors of an op] buffers of the current operation */
    uint32_t *sent;      /* [n_devices] last edge for which the current operation sent; FR_NONE */
    uint32_t *sent_before;       /* [n_edges] the edge before it to the same device */
    struct fr__dag_lines *lines; /* NULL: messages do not line up */
};

static uint32_t device_of(const struct planning *g, uint32_t op)
{
    return g->pl->in->devices[g->device[op]];
}

static uint32_t cost_of(struct planning *g, uint32_t op)
{
    uint32_t type = g->pl->in->topo->devices[device_of(g, op)].type;
    uint32_t *id = &g->cost_id[g->dag->ops[op].cost * g->dag->n_types + type];
    struct fr_cost cost;

    if (*id == 0) {
        fr__dag_cost(g->dag, op, type, &cost);
        *id = fr_plan_add_cost(g->pl->plan, &cost) + 1;
    }
    return *id - 1;
}

/* ---- outputs ---- */

static enum fr_buffer_kind kind_of(const struct fr__dag_edge *e)
{
    static const enum fr_buffer_kind kinds[] = {
        [FR__DAG_ACTIVATION] = FR_BUFFER_ACTIVATION, [FR__DAG_SHARED] = FR_BUFFER_ACTIVATION,
        [FR__DAG_WEIGHT] = FR_BUFFER_WEIGHT_VERSION, [FR__DAG_GRADIENT] = FR_BUFFER_GRADIENT,
        [FR__DAG_ORDER] = FR_BUFFER_ACTIVATION,
    };

    return kinds[e->cargo];
}

/* The buffer that op reads tensor from. */
static uint32_t input_buffer(const struct planning *g, uint32_t op, uint32_t tensor)
{
    const struct fr__dag *d = g->dag;

    for (uint32_t k = d->in_first[op]; k < d->in_first[op + 1]; k++)
        if (d->edges[d->in_edges[k]].tensor == tensor)
            return g->buffer_of[d->in_edges[k]];
    return FR_NONE;
}

/* The storage of a tensor. A view keeps the storage of the tensor that it is a view of, unless the
 * view is larger (as in replicas). */
static uint32_t storage_of(const struct planning *g, uint32_t op, const struct fr_tensor *t)
{
    const struct fr_graph *graph = g->pl->graph;

    if (t->alias == FR_NONE || t->bytes > graph->tensors[t->alias].bytes ||
        (t->scales && !graph->tensors[t->alias].scales))
        return FR_NONE;
    return input_buffer(g, op, t->alias);
}

static double batch_of(const struct planning *g, uint32_t op)
{
    const struct fr__dag_op *o = &g->dag->ops[op];
    enum fr__role role = g->pl->params.roles[o->op];

    if (role == FR__ROLE_SUM || role == FR__ROLE_UPDATE)
        return g->pl->graph->batch;
    return o->dim == FR__DAG_BATCH ? g->dag->replica_batch / o->n_parts : g->dag->replica_batch;
}

/* Adds a buffer for each tensor that a whole operation of the graph writes. */
static void add_tensors(struct planning *g, uint32_t op, uint32_t task)
{
    struct fr__placer *pl = g->pl;
    const struct fr_op *o = &pl->graph->ops[g->dag->ops[op].op];
    double batch = batch_of(g, op);

    for (uint32_t k = 0; k < o->n_tensors; k++) {
        const struct fr_tensor *t = &pl->graph->tensors[o->first_tensor + k];
        bool is_gradient = pl->params.is_gradient[o->first_tensor + k];
        struct fr_buffer b = {.bytes = fr__tensor_bytes(pl, o->first_tensor + k, t->bytes, batch),
                              .device = device_of(g, op),
                              .alloc = task,
                              .alias = storage_of(g, op, t),
                              .op = op,
                              .kind = is_gradient ? FR_BUFFER_GRADIENT : FR_BUFFER_ACTIVATION};

        g->tensor_of[k] = b.bytes ? fr_plan_add_buffer(pl->plan, &b) : FR_NONE;
        fr__add_free(pl, g->tensor_of[k], task);
    }
}

/* The buffer of what an edge carries, on the device of op: one of op's tensors, or else a buffer of
 * the edge's size, one for all edges that carry the same. */
static uint32_t made_for(struct planning *g, uint32_t op, uint32_t edge, uint32_t task)
{
    const struct fr__dag *d = g->dag;
    const struct fr__dag_edge *e = &d->edges[edge];
    const struct fr__dag_op *o = &d->ops[op];
    uint32_t buffer;

    if (e->cargo == FR__DAG_ORDER || o->role == FR__DAG_VARIABLE)
        return FR_NONE;
    if (o->role == FR__DAG_OP && o->n_parts == 1 && e->tensor != FR_NONE)
        return g->tensor_of[e->tensor - g->pl->graph->ops[o->op].first_tensor];
    for (uint32_t i = d->out_first[op]; i < edge; i++)
        if (fr__dag_is_same_message(&d->edges[i], e))
            return g->made_of[i];
    buffer = fr__add_buffer(g->pl, kind_of(e), device_of(g, op), e->bytes, task, op);
    fr__add_free(g->pl, buffer, task);
    return buffer;
}

/* ---- moves ---- */

/* A message straight from one device to another, or a part of its way. */
struct hop {
    uint32_t src, dst;     /* index among the problem's devices */
    uint32_t from, buffer; /* the task that it waits for, and what it reads */
    unsigned number;       /* 0: the first part of the way */
};

/* Replaces the hop's task and buffer by those at its end. */
static void add_hop(struct planning *g, uint32_t op, uint32_t edge, struct hop *h)
{
    const struct fr__dag_edge *e = &g->dag->edges[edge];
    struct fr__move m = {.src = g->pl->in->devices[h->src],
                         .dst = g->pl->in->devices[h->dst],
                         .from = h->from,
                         .bytes = (double)e->bytes,
                         .op = op,
                         .microbatch = FR_NONE,
                         .label = FR_NONE,
                         .priority = g->pl->next_priority - 1,
                         .phase = (enum fr_phase)g->dag->ops[op].phase,
                         .send_stream = FR_STREAM_FREE};
    uint32_t send;

    fr__add_move(g->pl, &m, &send, &h->from);
    fr__add_free(g->pl, h->buffer, send);
    if (g->lines)
        fr__dag_lines_add(g->lines, &(struct fr__dag_message){.src = h->src,
                                                              .dst = h->dst,
                                                              .edge = edge,
                                                              .hop = h->number,
                                                              .send = send,
                                                              .recv = h->from});
    h->buffer = fr__add_buffer(g->pl, kind_of(e), m.dst, e->bytes, h->from, op);
    fr__add_free(g->pl, h->buffer, h->from);
}

/* The device by which messages to another go; FR_NONE: straight. */
static uint32_t via(const struct planning *g, uint32_t from, uint32_t to)
{
    return g->dag->via ? g->dag->via[from * g->pl->in->n_devices + to] : FR_NONE;
}

/* The edge along which the same was already sent there; FR_NONE. */
static uint32_t sent_already(const struct planning *g, uint32_t edge, uint32_t there)
{
    const struct fr__dag_edge *edges = g->dag->edges;
    uint32_t i = g->sent[there];

    while (i != FR_NONE && !fr__dag_is_same_message(&edges[i], &edges[edge]))
        i = g->sent_before[i];
    return i;
}

/* Sends what the edge carries. A copy that was sent to the device in between anyway goes on from
 * there. */
static void add_move(struct planning *g, uint32_t op, uint32_t edge, uint32_t task)
{
    uint32_t there = g->device[g->dag->edges[edge].dst];
    struct hop h = {.src = g->device[op], .from = task, .buffer = g->made_of[edge]};
    uint32_t between = via(g, h.src, there), copy;

    if (between != FR_NONE) {
        copy = sent_already(g, edge, between);
        h.dst = between;
        if (copy == FR_NONE) {
            add_hop(g, op, edge, &h);
        } else {
            h.from = g->source_of[copy];
            h.buffer = g->buffer_of[copy];
        }
        h.src = between;
        h.number = 1;
    }
    h.dst = there;
    add_hop(g, op, edge, &h);
    g->source_of[edge] = h.from;
    g->buffer_of[edge] = h.buffer;
}

static void hand_on(struct planning *g, uint32_t op, uint32_t edge, uint32_t task)
{
    uint32_t there = g->device[g->dag->edges[edge].dst], earlier = sent_already(g, edge, there);

    if (earlier != FR_NONE) {
        g->source_of[edge] = g->source_of[earlier];
        g->buffer_of[edge] = g->buffer_of[earlier];
        return;
    }
    add_move(g, op, edge, task);
    g->sent_before[edge] = g->sent[there];
    g->sent[there] = edge;
}

/* Hands on all that an operation makes; what goes by another device after what goes straight. */
static void hand_all_on(struct planning *g, uint32_t op, uint32_t task)
{
    const struct fr__dag *d = g->dag;

    for (uint32_t e = d->out_first[op]; e < d->out_first[op + 1]; e++) {
        g->made_of[e] = made_for(g, op, e, task);
        g->source_of[e] = task;
        g->buffer_of[e] = g->made_of[e];
    }
    for (int relayed = 0; relayed < 2; relayed++)
        for (uint32_t e = d->out_first[op]; e < d->out_first[op + 1]; e++) {
            uint32_t there = g->device[d->edges[e].dst];

            if (there != g->device[op] && d->edges[e].cargo != FR__DAG_ORDER &&
                (via(g, g->device[op], there) != FR_NONE) == relayed)
                hand_on(g, op, e, task);
        }
}

/* ---- operations ---- */

static uint32_t add_variable(struct planning *g, uint32_t op)
{
    const struct fr__dag_op *o = &g->dag->ops[op];
    const struct fr__params *p = &g->pl->params;
    uint64_t all_bytes = g->pl->graph->ops[o->op].param_bytes;
    uint64_t bytes = all_bytes / o->n_parts + (o->part < all_bytes % o->n_parts);
    uint32_t device = device_of(g, op);

    fr__add_buffer(g->pl, FR_BUFFER_PARAMETER, device, bytes, FR_NONE, op);
    if (g->pl->in->keeps_gradients)
        fr__add_buffer(g->pl, FR_BUFFER_GRADIENT, device, fr__gradient_bytes(g->pl, bytes), FR_NONE,
                       op);
    fr__add_optimizer(g->pl, device, &p->owners[p->owner_of[o->op]], bytes, op);
    return fr__add_marker(g->pl, device, FR_PHASE_FORWARD, FR_NONE);
}

static uint32_t add_compute(struct planning *g, uint32_t op)
{
    const struct fr__dag *d = g->dag;
    const struct fr__dag_op *o = &d->ops[op];
    uint32_t task = fr__add_task(g->pl, &(struct fr_task){.device = device_of(g, op),
                                                          .cost_id = cost_of(g, op),
                                                          .op = op,
                                                          .label = FR_NONE,
                                                          .microbatch = FR_NONE,
                                                          .kind = FR_TASK_COMPUTE,
                                                          .phase = o->phase,
                                                          .stream = FR_STREAM_COMPUTE});

    for (uint32_t k = d->in_first[op]; k < d->in_first[op + 1]; k++) {
        fr_plan_add_dep(g->pl->plan, g->source_of[d->in_edges[k]], task);
        fr__add_free(g->pl, g->buffer_of[d->in_edges[k]], task);
    }
    if (o->role == FR__DAG_OP && o->n_parts == 1)
        add_tensors(g, op, task);
    if (o->role == FR__DAG_OP)
        fr__add_workspace_as(g->pl, device_of(g, op), o->op, op, batch_of(g, op),
                             o->dim == FR__DAG_WHOLE ? o->n_parts : 1, task);
    return task;
}

static uint32_t add_op(struct planning *g, uint32_t op)
{
    const struct fr__dag *d = g->dag;
    bool is_variable = d->ops[op].role == FR__DAG_VARIABLE;
    uint32_t task;

    fr__use_device(g->pl, device_of(g, op));
    task = is_variable ? add_variable(g, op) : add_compute(g, op);
    for (size_t i = 0; i < g->pl->in->n_devices; i++)
        g->sent[i] = FR_NONE;
    hand_all_on(g, op, task);
    return task;
}

/* At most two for each edge that crosses. */
static size_t most_messages(const struct planning *g)
{
    size_t n = 0;

    for (size_t e = 0; e < g->dag->n_edges; e++)
        n += g->device[g->dag->edges[e].src] != g->device[g->dag->edges[e].dst];
    return 2 * n;
}

static enum fr_status make_room(struct planning *g, struct fr_error *err)
{
    const struct fr__dag *d = g->dag;
    const struct fr_graph *graph = g->pl->graph;
    struct fr__arena *a = g->pl->arena;
    size_t most_tensors = 1;

    for (size_t o = 0; o < graph->n_ops; o++)
        if (graph->ops[o].n_tensors > most_tensors)
            most_tensors = graph->ops[o].n_tensors;
    g->cost_id = fr__arena_alloc(a, d->n_costs * d->n_types, sizeof(*g->cost_id));
    g->source_of = fr__arena_alloc(a, d->n_edges + 1, sizeof(*g->source_of));
    g->buffer_of = fr__arena_alloc(a, d->n_edges + 1, sizeof(*g->buffer_of));
    g->made_of = fr__arena_alloc(a, d->n_edges + 1, sizeof(*g->made_of));
    g->sent_before = fr__arena_alloc(a, d->n_edges + 1, sizeof(*g->sent_before));
    g->tensor_of = fr__arena_alloc(a, most_tensors, sizeof(*g->tensor_of));
    g->sent = fr__arena_alloc(a, g->pl->in->n_devices, sizeof(*g->sent));
    if (!g->cost_id || !g->source_of || !g->buffer_of || !g->made_of || !g->sent_before ||
        !g->tensor_of || !g->sent)
        return fr__fail_nomem(err);
    return FR_OK;
}

enum fr_status fr__dag_plan(struct fr__placer *pl, const struct fr__placed_dag *placed,
                            uint32_t task_of[], struct fr_error *err)
{
    const struct fr__dag *dag = placed->dag;
    const uint32_t *order = placed->order;
    struct planning g = {.pl = pl, .dag = dag, .device = placed->device};

    FR_TRY(make_room(&g, err));
    FR_TRY(fr__dag_give_graph(pl->plan, dag, err));
    if (dag->lines_up)
        FR_TRY(fr__dag_lines_new(&g.lines, pl, placed, most_messages(&g), err));
    for (size_t i = 0; i < dag->n_ops; i++) {
        uint32_t task = add_op(&g, order[i]);

        if (task_of)
            task_of[order[i]] = task;
    }
    return g.lines ? fr__dag_lines_join(g.lines, err) : FR_OK;
}
