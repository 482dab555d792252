/* lowering/replica/tensors.c - where the inputs of a replica's ops come from and where the
 * outputs go: dependencies, messages between its devices, buffers and who frees them.
 */
#include "config.h"

#include "lowering/replica/parts.h"

#include "lowering/replica/group_ops.h"

/* ---- inputs ---- */

/* A gradient is complete after the last micro-batch's task, or where it is not known which one that
 * is, after the device's whole body. */
uint32_t fr__complete_task(const struct fr__replica *r, uint32_t op)
{
    if (r->is_out_of_memory)
        return FR_NONE; /* some micro-batches have no arrays then */
    if (r->n_micros == 1 || r->is_in_turn)
        return r->micros[r->n_micros - 1].task_of[op];
    if (r->last_micro)
        return r->micros[r->last_micro[op]].task_of[op];
    return r->done_of[r->device_of[op]];
}

/* Whether a gradient is but one of several of its parameters, to be summed at the end. */
static bool is_summed(const struct fr__replica *r, uint32_t tensor)
{
    const struct fr_graph *g = r->pl->graph;
    uint32_t op = g->tensors[tensor].op;

    for (uint32_t i = g->out_first[op]; i < g->out_first[op + 1]; i++)
        if (g->edges[i].tensor == tensor && r->pl->params.roles[g->edges[i].dst] == FR__ROLE_SUM)
            return true;
    return false;
}

static uint32_t gradient_buffer(struct fr__replica *r, uint32_t tensor)
{
    const struct fr_tensor *t = &r->pl->graph->tensors[tensor];
    /* it is the main gradient itself, until it is scattered */
    bool is_main = fr__has_main_gradients(r->pl) && !fr__adds_to_main(r->pl);

    if (fr__adds_to_main(r->pl) && !is_summed(r, tensor))
        return FR_NONE; /* it is added to the main gradient at once */
    if (r->gradient_of[tensor] == FR_NONE && r->first_task[t->op] != FR_NONE)
        r->gradient_of[tensor] = fr__add_buffer(
            r->pl, FR_BUFFER_GRADIENT, r->device_of[t->op],
            is_main ? fr__gradient_bytes(r->pl, t->bytes) : t->bytes, r->first_task[t->op], t->op);
    return r->gradient_of[tensor];
}

/* What leaves a device waits for the end of its block, where there are blocks. */
static uint32_t leaving_task(const struct fr__micro *m, uint32_t op)
{
    return m->end_of[op] != FR_NONE ? m->end_of[op] : m->task_of[op];
}

struct fr__source fr__source_of(struct fr__replica *r, const struct fr__micro *m,
                                const struct fr_edge *e)
{
    struct fr__source s = {m->task_of[e->src], FR_NONE, m->priority_of[e->src]};

    if (m == &r->tail && fr__is_body_op(r, e->src)) {
        s.task = fr__complete_task(r, e->src);
        s.priority = r->pl->next_priority;
        if (e->tensor != FR_NONE && r->pl->params.is_gradient[e->tensor] &&
            !(r->pl->in->keeps_gradients && !is_summed(r, e->tensor)))
            s.buffer = gradient_buffer(r, e->tensor);
    } else if (e->tensor != FR_NONE) {
        s.buffer = m->buffer_of[e->tensor];
    }
    return s;
}

/* Most bytes that a reader of the tensor on that device asks for. */
static uint64_t bytes_to(const struct fr__replica *r, const struct fr_edge *e, uint32_t device)
{
    const struct fr_graph *g = r->pl->graph;
    uint64_t most = 0;

    for (uint32_t i = g->out_first[e->src]; i < g->out_first[e->src + 1]; i++)
        if (g->edges[i].tensor == e->tensor && r->device_of[g->edges[i].dst] == device &&
            g->edges[i].bytes > most)
            most = g->edges[i].bytes;
    return most;
}

/* What arrived in parts is gathered: the task after which it is whole. A block's gathers follow
 * each other and the block before, wherever parts arrive first, so that all ranks of a group make
 * them in one order; Megatron-LM receives and gathers between two passes. */
static uint32_t gather_parts(struct fr__replica *r, const struct fr__micro *m,
                             const struct fr_edge *e, uint32_t crossing, struct fr__copy *c,
                             uint64_t part_bytes)
{
    struct fr__placer *pl = r->pl;
    uint32_t part =
        fr__add_buffer(pl, FR_BUFFER_COMMUNICATION, c->device, part_bytes, c->recv, e->src);
    uint32_t member =
        fr__add_crossing(pl->group_ops, pl, crossing,
                         &(struct fr_task){.device = c->device,
                                           .op = e->src,
                                           .microbatch = m->index,
                                           .phase = (uint8_t)pl->graph->ops[e->src].phase},
                         r->number, (uint32_t)(m - r->micros));

    fr_plan_add_dep(pl->plan, c->recv, member);
    if (r->last_gather != FR_NONE)
        fr_plan_add_dep(pl->plan, r->last_gather, member);
    else if (r->block_after != FR_NONE)
        fr_plan_add_dep(pl->plan, r->block_after, member);
    r->last_gather = member;
    fr__add_free(pl, part, member);
    return member;
}

/* Sends the edge's tensor to c's device. from: leaving task. */
static void send_copy(struct fr__replica *r, const struct fr__micro *m, const struct fr_edge *e,
                      const struct fr__source *from, uint32_t leaving, struct fr__copy *c)
{
    struct fr__placer *pl = r->pl;
    uint64_t bytes = fr__tensor_bytes(pl, e->tensor, bytes_to(r, e, c->device), m->batch);
    uint32_t crossing =
        m == &r->tail ? FR_NONE : fr__crossing_of(pl->group_ops, (uint32_t)(e - pl->graph->edges));
    uint32_t parts = crossing == FR_NONE ? 1 : fr__crossing_parts(pl->group_ops), send;

    fr__add_move(pl,
                 &(struct fr__move){.src = r->device_of[e->src],
                                    .dst = c->device,
                                    .from = leaving,
                                    .bytes = (double)bytes / parts,
                                    .op = e->src,
                                    .microbatch = m->index,
                                    .label = FR_NONE,
                                    .priority = from->priority,
                                    .phase = pl->graph->ops[e->src].phase,
                                    .send_stream = FR_STREAM_SEND},
                 &send, &c->recv);
    fr__add_free(pl, from->buffer, send);
    if (crossing != FR_NONE)
        c->recv = gather_parts(r, m, e, crossing, c, bytes / parts);
    c->buffer = fr__add_buffer(pl, FR_BUFFER_COMMUNICATION, c->device, bytes, c->recv, e->src);
}

/* The edge's tensor on another device: moved there by the first reader. NULL: out of memory. */
static const struct fr__copy *copy_on(struct fr__replica *r, struct fr__micro *m,
                                      const struct fr_edge *e, const struct fr__source *from,
                                      uint32_t device)
{
    struct fr__copy c = {.device = device, .next = m->copies[e->tensor]};
    uint32_t leaving = from->task;

    for (uint32_t i = c.next; i != FR_NONE; i = r->copies[i].next)
        if (r->copies[i].device == device)
            return &r->copies[i];
    if (!fr__grow(&r->copies, &r->cap_copies, r->n_copies + 1, sizeof(*r->copies))) {
        r->is_out_of_memory = true;
        return NULL;
    }
    if (m != &r->tail)
        leaving = leaving_task(m, e->src);
    send_copy(r, m, e, from, leaving, &c);
    m->copies[e->tensor] = (uint32_t)r->n_copies;
    r->copies[r->n_copies++] = c;
    return &r->copies[r->n_copies - 1];
}

/* What the reader of the edge waits for. An edge without a tensor only keeps an order: from another
 * device the reader hears of it when something of the source arrives here, if anything does. So a
 * layer of a pipeline's stage runs again once its gradient has come, not once it has been made. */
static const struct fr_edge *arriving(const struct fr__replica *r, const struct fr__micro *m,
                                      const struct fr_edge *e, uint32_t device)
{
    const struct fr_graph *g = r->pl->graph;

    if (e->tensor != FR_NONE || r->device_of[e->src] == device || m == &r->tail)
        return e;
    for (uint32_t i = g->out_first[e->src]; i < g->out_first[e->src + 1]; i++)
        if (g->edges[i].tensor != FR_NONE && r->device_of[g->edges[i].dst] == device)
            return &g->edges[i];
    return e;
}

/* The transfers that an op's inputs need. They come before its own task, so that tasks are made in
 * an order in which they could run. */
void fr__bring_inputs(struct fr__replica *r, struct fr__micro *m, uint32_t op)
{
    const struct fr_graph *g = r->pl->graph;
    uint32_t device = r->device_of[op];

    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        const struct fr_edge *e = arriving(r, m, &g->edges[g->in_edges[i]], device);
        struct fr__source s;

        if (e->tensor == FR_NONE || r->device_of[e->src] == device)
            continue;
        s = fr__source_of(r, m, e);
        if (s.task != FR_NONE)
            copy_on(r, m, e, &s, device);
    }
}

/* Who lets go of what an op reads: itself, but gradients are there until the optimizer's step on
 * the device is over. Where gradients are kept, a sum of several is added to the kept one by
 * `maker`. */
uint32_t fr__drops_at(struct fr__replica *r, uint32_t op, uint32_t task, uint32_t maker)
{
    uint32_t *step = &r->step_of[r->device_of[op]];

    if (r->pl->params.roles[op] != FR__ROLE_UPDATE)
        return task;
    if (r->pl->in->keeps_gradients && maker != FR_NONE)
        return maker;
    if (*step == FR_NONE)
        *step = fr__add_marker(r->pl, r->device_of[op], FR_PHASE_UPDATE, FR_NONE);
    return *step;
}

/* Waits for and frees what an op reads; true: one of its producers on its device was made since
 * task block_first. */
bool fr__read_inputs(struct fr__replica *r, struct fr__micro *m, uint32_t op, uint32_t task,
                     uint32_t block_first)
{
    const struct fr_graph *g = r->pl->graph;
    uint32_t device = r->device_of[op], last = FR_NONE;
    bool is_inside = false;

    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        const struct fr_edge *in = &g->edges[g->in_edges[i]];
        const struct fr_edge *e = arriving(r, m, in, device);
        struct fr__source s = fr__source_of(r, m, e);

        if (s.task == FR_NONE)
            continue;
        if (e->tensor != FR_NONE && r->device_of[e->src] != device) {
            const struct fr__copy *c = copy_on(r, m, e, &s, device);

            s.task = c ? c->recv : FR_NONE;
            s.buffer = c && e == in ? c->buffer : FR_NONE;
        } else if (r->device_of[e->src] == device) {
            m->is_followed[e->src] = true;
            is_inside |= s.task >= block_first;
        }
        if (s.task != last) /* edges come grouped by source */
            fr_plan_add_dep(r->pl->plan, s.task, task);
        last = s.task;
        if (r->pl->params.roles[op] != FR__ROLE_UPDATE ||
            !fr__gradient_leaves(r->pl, g->ops[op].forward))
            fr__add_free(r->pl, s.buffer, fr__drops_at(r, op, task, s.task));
    }
    return is_inside;
}

/* ---- outputs ---- */

/* The buffer on the device that holds the storage of which the tensor is a view, or FR_NONE. */
static uint32_t shared_storage(const struct fr__replica *r, const struct fr__micro *m,
                               const struct fr_tensor *t, uint32_t device)
{
    const struct fr_tensor *of;

    if (t->alias == FR_NONE)
        return FR_NONE;
    of = &r->pl->graph->tensors[t->alias];
    if (t->bytes > of->bytes || (t->scales && !of->scales))
        return FR_NONE;
    if (r->device_of[of->op] == device)
        return m->buffer_of[t->alias];
    for (uint32_t i = m->copies[t->alias]; i != FR_NONE; i = r->copies[i].next)
        if (r->copies[i].device == device)
            return r->copies[i].buffer;
    return FR_NONE;
}

void fr__write_outputs(struct fr__replica *r, struct fr__micro *m, uint32_t op, uint32_t task)
{
    struct fr__placer *pl = r->pl;
    const struct fr_op *o = &pl->graph->ops[op];
    uint32_t device = r->device_of[op];
    bool is_sum = pl->params.roles[op] == FR__ROLE_SUM;

    for (uint32_t t = o->first_tensor; t < o->first_tensor + o->n_tensors; t++) {
        const struct fr_tensor *x = &pl->graph->tensors[t];
        struct fr_buffer b = {.bytes = fr__bytes_at(pl, x->bytes, x->scales, m->batch),
                              .device = device,
                              .alloc = task,
                              .alias = shared_storage(r, m, x, device),
                              .op = op,
                              .kind = is_sum ? FR_BUFFER_GRADIENT
                                             : fr__group_ops_buffer(pl->group_ops, pl->graph, t)};

        if (pl->params.is_gradient[t] && pl->in->keeps_gradients && !is_summed(r, t))
            b.kind = FR_BUFFER_GRADIENT; /* the new one, added to the kept one at once */
        else if (pl->params.is_gradient[t])
            continue;
        if (b.bytes == 0)
            continue;
        m->buffer_of[t] = fr_plan_add_buffer(pl->plan, &b);
        if (!pl->params.is_read[t] || pl->params.is_gradient[t])
            fr__add_free(pl, m->buffer_of[t], task);
    }
    fr__add_workspace(pl, device, op, m->batch, task);
}
