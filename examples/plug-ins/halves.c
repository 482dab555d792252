/* halves.c - a strategy of one's own, built apart from forerun: the model is cut once, and its
 * halves stand on two GPUs.
 *
 *     cc -shared -fPIC $(pkg-config --cflags forerun) -o halves.so halves.c
 *     forerun simulate -w alexnet -t dgx1-v100 -g 2 -b 32 -s ./halves.so:cut=60
 *
 * It sees what any strategy sees (struct fr_problem) and fills in a plan: a compute task for each
 * op, a message where an op reads what the other half made, and the parameters' memory.
 */
#include <forerun/strategies.h>

#include <stdlib.h>

enum { OPTION_CUT };

static const struct fr_option options[] = {
    [OPTION_CUT] = {.name = "cut",
                    .type = FR_OPTION_COUNT,
                    .fallback = "50",
                    .help = "percent of the layers on the first GPU"},
    {.name = NULL},
};

/* What plan() needs on its way; all arrays are [n_ops]. */
struct making {
    const struct fr_problem *in;
    struct fr_plan *plan;
    uint32_t *device, *task;
    uint32_t *copy; /* the receive that brought the op's output to the other GPU; FR_NONE */
};

/* The layer of the op; of a backward op or an update its forward op's. */
static uint32_t layer_of(const struct fr_graph *g, uint32_t op)
{
    uint32_t forward = g->ops[op].forward;

    return g->ops[forward == FR_NONE ? op : forward].layer;
}

static void choose_devices(struct making *m)
{
    const struct fr_graph *g = m->in->graph;
    uint64_t most = 0, cut = m->in->options->value[OPTION_CUT];

    for (uint32_t op = 0; op < g->n_ops; op++)
        if (layer_of(g, op) != FR_NONE && layer_of(g, op) > most)
            most = layer_of(g, op);
    for (uint32_t op = 0; op < g->n_ops; op++) {
        uint32_t layer = layer_of(g, op);
        int is_second = layer != FR_NONE && 100 * (uint64_t)layer >= cut * (most + 1);

        m->device[op] = m->in->devices[is_second && m->in->n_devices > 1 ? 1 : 0];
    }
}

static void add_compute(struct making *m, uint32_t op)
{
    const struct fr_part whole = {.batch = m->in->global_batch};
    struct fr_cost cost;
    struct fr_task t = {.device = m->device[op],
                        .op = op,
                        .label = FR_NONE,
                        .microbatch = FR_NONE,
                        .priority = (int32_t)op,
                        .kind = FR_TASK_COMPUTE,
                        .phase = (uint8_t)m->in->graph->ops[op].phase,
                        .stream = FR_STREAM_COMPUTE};

    fr_cost_op(m->in->costs, m->in->topo->devices[m->device[op]].type, m->in->graph, op, &whole,
               &cost);
    t.cost_id = fr_plan_add_cost(m->plan, &cost);
    m->task[op] = fr_plan_add_task(m->plan, &t);
}

/* Brings what src made to the other GPU, once. */
static uint32_t bring(struct making *m, uint32_t src, uint32_t device, double bytes)
{
    struct fr_task t = {.device = m->device[src],
                        .cost_id = FR_NONE,
                        .op = src,
                        .transfer = FR_NONE,
                        .microbatch = FR_NONE,
                        .priority = (int32_t)src,
                        .kind = FR_TASK_SEND,
                        .stream = FR_STREAM_SEND};
    uint32_t send, recv;

    if (m->copy[src] != FR_NONE)
        return m->copy[src];
    send = fr_plan_add_task(m->plan, &t);
    t.device = device;
    t.kind = FR_TASK_RECV;
    t.stream = FR_STREAM_FREE;
    recv = fr_plan_add_task(m->plan, &t);
    fr_plan_add_transfer(m->plan, send, recv, bytes, FR_NONE);
    fr_plan_add_dep(m->plan, m->task[src], send);
    fr_plan_add_dep(m->plan, m->task[src], recv);
    return m->copy[src] = recv;
}

static void add_edges(struct making *m)
{
    const struct fr_graph *g = m->in->graph;

    for (size_t e = 0; e < g->n_edges; e++) {
        uint32_t src = g->edges[e].src, dst = g->edges[e].dst;
        double bytes = (double)g->edges[e].bytes * m->in->global_batch / (g->batch ? g->batch : 1);

        if (m->device[src] == m->device[dst] || g->edges[e].bytes == 0)
            fr_plan_add_dep(m->plan, m->task[src], m->task[dst]);
        else
            fr_plan_add_dep(m->plan, bring(m, src, m->device[dst], bytes), m->task[dst]);
    }
}

static void add_parameters(struct making *m)
{
    const struct fr_graph *g = m->in->graph;

    for (uint32_t op = 0; op < g->n_ops; op++) {
        const struct fr_buffer b = {.bytes = g->ops[op].param_bytes,
                                    .device = m->device[op],
                                    .alloc = FR_NONE,
                                    .alias = FR_NONE,
                                    .op = op,
                                    .kind = FR_BUFFER_PARAMETER};

        if (b.bytes > 0 && g->ops[op].phase == FR_PHASE_FORWARD)
            fr_plan_add_buffer(m->plan, &b);
    }
}

static enum fr_status plan(const struct fr_problem *in, const struct fr_context *ctx,
                           struct fr_plan *out, struct fr_error *err)
{
    size_t n = in->graph->n_ops + 1;
    uint32_t *arrays = malloc(3 * n * sizeof(*arrays));
    struct making m = {in, out, arrays, arrays + n, arrays + 2 * n};

    (void)ctx;
    (void)err;
    if (!arrays)
        return FR_ENOMEM;
    choose_devices(&m);
    for (uint32_t op = 0; op < in->graph->n_ops; op++) {
        m.copy[op] = FR_NONE;
        add_compute(&m, op);
    }
    add_edges(&m);
    add_parameters(&m);
    free(arrays);
    return FR_OK;
}

static const struct fr_strategy halves = {
    .name = "halves",
    .summary = "the model cut once, its halves on two GPUs",
    .source = "an example",
    .options = options,
    .plan = plan,
};

FR_STRATEGY_PLUGIN(halves);
