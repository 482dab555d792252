/* strategies/lower/replica.c - places the ops of one replica: tasks, dependencies, transfers, buffers. */
#include "config.h"

#include "strategies/lower/replica.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A tensor received on another device than its op's. */
struct fr__copy {
    uint32_t device, recv, buffer;
    uint32_t next;
};

/* ---- life ---- */

enum fr_status fr__share_equally(struct fr__share *out, uint32_t samples, uint64_t n_micros,
                                 struct fr_error *err)
{
    if (n_micros == 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "accumulate=0 runs no micro-batch, expected at least 1");
    if (samples % n_micros)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "accumulate=%" PRIu64 " does not divide the %u sample%s of a replica",
                        n_micros, samples, samples == 1 ? "" : "s");
    out->n_micros = (uint32_t)n_micros;
    out->batch = out->last_batch = samples / (uint32_t)n_micros;
    return FR_OK;
}

static uint32_t *new_ids(struct fr__replica *r, size_t n)
{
    uint32_t *ids = fr__arena_take(r->arena, n, sizeof(*ids));

    if (ids)
        memset(ids, 0xff, n * sizeof(*ids)); /* FR_NONE each */
    return ids;
}

/* Its arrays; nothing when it has them. false: out of memory. */
static bool micro_ready(struct fr__replica *r, struct fr__micro *m)
{
    const struct fr_graph *g = r->pl->graph;

    if (m->end_of)
        return true;
    m->task_of = new_ids(r, g->n_ops);
    m->priority_of = fr__arena_alloc(r->arena, g->n_ops, sizeof(*m->priority_of));
    m->buffer_of = new_ids(r, g->n_tensors);
    m->copies = new_ids(r, g->n_tensors);
    m->is_followed = fr__arena_alloc(r->arena, g->n_ops, sizeof(*m->is_followed));
    m->end_of = new_ids(r, 2 * r->pl->in->topo->n_devices);
    return m->task_of && m->priority_of && m->buffer_of && m->copies && m->is_followed && m->end_of;
}

enum fr_status fr__replica_init(struct fr__replica *r, struct fr__placer *pl,
                                const uint32_t device_of[], const struct fr__share *share,
                                struct fr_error *err)
{
    size_t n_micros = share->n_micros;

    *r = (struct fr__replica){.pl = pl, .device_of = device_of, .n_micros = n_micros};
    if ((uint64_t)n_micros * pl->graph->n_ops >= INT32_MAX / 4) /* priorities count tasks */
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "%zu micro-batches of %zu ops are too many tasks for one plan", n_micros,
                        pl->graph->n_ops);
    r->arena = fr__arena_new();
    if (!r->arena)
        return fr__fail_nomem(err);
    r->micros = fr__arena_alloc(r->arena, n_micros, sizeof(*r->micros));
    r->first_task = new_ids(r, pl->graph->n_ops);
    r->gradient_of = new_ids(r, pl->graph->n_tensors);
    r->done_of = new_ids(r, pl->in->topo->n_devices);
    r->step_of = new_ids(r, pl->in->topo->n_devices);
    r->tail = (struct fr__micro){.index = FR_NONE, .batch = pl->graph->batch};
    if (!r->micros || !r->first_task || !r->gradient_of || !r->done_of || !r->step_of ||
        !micro_ready(r, &r->tail) || !micro_ready(r, &r->micros[0]))
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n_micros; i++) {
        r->micros[i].index = n_micros == 1 ? FR_NONE : (uint32_t)i;
        r->micros[i].batch = i + 1 < n_micros ? share->batch : share->last_batch;
    }
    return FR_OK;
}

void fr__replica_fini(struct fr__replica *r)
{
    fr__arena_free(r->arena);
    free(r->copies);
}

enum fr_status fr__replica_status(const struct fr__replica *r, struct fr_error *err)
{
    return r->is_out_of_memory ? fr__fail_nomem(err) : FR_OK;
}

/* ---- persistent memory ---- */

/* An edge between forward ops with bytes but no tensor: dst uses the parameters of src. */
static bool is_tied(const struct fr__replica *r, const struct fr_edge *e)
{
    const struct fr__params *p = &r->pl->params;

    return e->tensor == FR_NONE && e->bytes > 0 && p->roles[e->src] == FR__ROLE_FORWARD &&
           p->roles[e->dst] == FR__ROLE_FORWARD;
}

/* Whether edge i is the first that needs a copy of its tail's parameters on its head's device. */
static bool needs_tied_copy(const struct fr__replica *r, uint32_t i)
{
    const struct fr_graph *g = r->pl->graph;
    uint32_t src = g->edges[i].src, device = r->device_of[g->edges[i].dst];

    if (!is_tied(r, &g->edges[i]) || device == r->device_of[src])
        return false;
    for (uint32_t k = g->out_first[src]; k < i; k++)
        if (is_tied(r, &g->edges[k]) && r->device_of[g->edges[k].dst] == device)
            return false;
    return true;
}

void fr__place_persistent(struct fr__replica *r, bool with_optimizer)
{
    struct fr__placer *pl = r->pl;
    const struct fr_graph *g = pl->graph;

    for (uint32_t o = 0; o < g->n_ops; o++)
        fr__use_device(pl, r->device_of[o]);
    for (size_t i = 0; i < pl->params.n_owners; i++) {
        const struct fr__owner *w = &pl->params.owners[i];
        uint32_t device = r->device_of[w->op];

        fr__add_buffer(pl, FR_BUFFER_PARAMETER, device, w->bytes, FR_NONE, w->op);
        if (pl->in->keeps_gradients && w->ready != FR_NONE)
            fr__add_buffer(pl, FR_BUFFER_GRADIENT, device, w->bytes, FR_NONE, w->op);
        if (with_optimizer && w->n_updates > 0)
            fr__add_optimizer(pl, device, w->bytes, w->op);
        for (uint32_t e = g->out_first[w->op]; e < g->out_first[w->op + 1]; e++)
            if (needs_tied_copy(r, e))
                fr__add_buffer(pl, FR_BUFFER_PARAMETER, r->device_of[g->edges[e].dst], w->bytes,
                               FR_NONE, w->op);
    }
}

/* ---- inputs ---- */

/* Where an edge's tensor stands: after which task, in which buffer. */
struct source {
    uint32_t task, buffer;
    int32_t priority;
};

/* A gradient is complete after the last micro-batch's task, or where another may be the last to run,
 * after the device's whole body. */
static uint32_t complete_task(const struct fr__replica *r, uint32_t op)
{
    if (r->n_micros == 1 || r->is_in_turn)
        return r->micros[r->n_micros - 1].task_of[op];
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

    if (r->gradient_of[tensor] == FR_NONE && r->first_task[t->op] != FR_NONE)
        r->gradient_of[tensor] = fr__add_buffer(r->pl, FR_BUFFER_GRADIENT, r->device_of[t->op],
                                                t->bytes, r->first_task[t->op], t->op);
    return r->gradient_of[tensor];
}

static bool is_body_op(const struct fr__replica *r, uint32_t op)
{
    enum fr__role role = r->pl->params.roles[op];

    return role == FR__ROLE_FORWARD || role == FR__ROLE_BACKWARD;
}

/* What leaves a device waits for the end of its block, where there are blocks. */
static uint32_t leaving_task(const struct fr__replica *r, const struct fr__micro *m, uint32_t op)
{
    bool is_backward = r->pl->params.roles[op] == FR__ROLE_BACKWARD;
    uint32_t end = m->end_of[2 * r->device_of[op] + is_backward];

    return end != FR_NONE ? end : m->task_of[op];
}

static struct source source_of(struct fr__replica *r, const struct fr__micro *m,
                               const struct fr_edge *e)
{
    struct source s = {m->task_of[e->src], FR_NONE, m->priority_of[e->src]};

    if (m == &r->tail && is_body_op(r, e->src)) {
        s.task = complete_task(r, e->src);
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

/* The edge's tensor on another device: moved there by the first reader. NULL: out of memory. */
static const struct fr__copy *copy_on(struct fr__replica *r, struct fr__micro *m,
                                      const struct fr_edge *e, const struct source *from,
                                      uint32_t device)
{
    struct fr__placer *pl = r->pl;
    const struct fr_tensor *t = &pl->graph->tensors[e->tensor];
    struct fr__copy c = {.device = device, .next = m->copies[e->tensor]};
    uint64_t bytes;
    uint32_t send, leaving = from->task;

    for (uint32_t i = c.next; i != FR_NONE; i = r->copies[i].next)
        if (r->copies[i].device == device)
            return &r->copies[i];
    if (!fr__grow(&r->copies, &r->cap_copies, r->n_copies + 1, sizeof(*r->copies))) {
        r->is_out_of_memory = true;
        return NULL;
    }
    if (m != &r->tail)
        leaving = leaving_task(r, m, e->src);
    bytes = fr__bytes_at(pl, bytes_to(r, e, device), t->scales, m->batch);
    fr__add_move(pl,
                 &(struct fr__move){.src = r->device_of[e->src],
                                    .dst = device,
                                    .from = leaving,
                                    .bytes = (double)bytes,
                                    .op = e->src,
                                    .microbatch = m->index,
                                    .label = FR_NONE,
                                    .priority = from->priority,
                                    .phase = pl->graph->ops[e->src].phase,
                                    .send_stream = FR_STREAM_SEND},
                 &send, &c.recv);
    fr__add_free(pl, from->buffer, send);
    c.buffer = fr__add_buffer(pl, FR_BUFFER_COMMUNICATION, device, bytes, c.recv, e->src);
    m->copies[e->tensor] = (uint32_t)r->n_copies;
    r->copies[r->n_copies++] = c;
    return &r->copies[r->n_copies - 1];
}

/* The transfers that an op's inputs need. They come before its own task, so that tasks are made in an
 * order in which they could run. */
static void bring_inputs(struct fr__replica *r, struct fr__micro *m, uint32_t op)
{
    const struct fr_graph *g = r->pl->graph;
    uint32_t device = r->device_of[op];

    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];
        struct source s;

        if (e->tensor == FR_NONE || r->device_of[e->src] == device)
            continue;
        s = source_of(r, m, e);
        if (s.task != FR_NONE)
            copy_on(r, m, e, &s, device);
    }
}

/* Who lets go of what an op reads: itself, but gradients are there until the optimizer's step on the
 * device is over. Where gradients are kept, a sum of several is added to the kept one by `maker`. */
static uint32_t drops_at(struct fr__replica *r, uint32_t op, uint32_t task, uint32_t maker)
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

/* Waits for and frees what an op reads; true: one of its producers on its device was made since task
 * block_first. */
static bool read_inputs(struct fr__replica *r, struct fr__micro *m, uint32_t op, uint32_t task,
                        uint32_t block_first)
{
    const struct fr_graph *g = r->pl->graph;
    uint32_t device = r->device_of[op], last = FR_NONE;
    bool is_inside = false;

    for (uint32_t i = g->in_first[op]; i < g->in_first[op + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];
        struct source s = source_of(r, m, e);

        if (s.task == FR_NONE)
            continue;
        if (e->tensor != FR_NONE && r->device_of[e->src] != device) {
            const struct fr__copy *c = copy_on(r, m, e, &s, device);

            s.task = c ? c->recv : FR_NONE;
            s.buffer = c ? c->buffer : FR_NONE;
        } else if (r->device_of[e->src] == device) {
            m->is_followed[e->src] = true;
            is_inside |= s.task >= block_first;
        }
        if (s.task != last) /* edges come grouped by source */
            fr_plan_add_dep(r->pl->plan, s.task, task);
        last = s.task;
        fr__add_free(r->pl, s.buffer, drops_at(r, op, task, s.task));
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

static void write_outputs(struct fr__replica *r, struct fr__micro *m, uint32_t op, uint32_t task)
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
                              .kind = is_sum ? FR_BUFFER_GRADIENT : FR_BUFFER_ACTIVATION};

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

/* ---- ops ---- */

static void place_op(struct fr__replica *r, struct fr__micro *m, uint32_t op, uint32_t block_first,
                     uint32_t after)
{
    struct fr__placer *pl = r->pl;
    uint32_t device = r->device_of[op], task;
    struct fr__cost_rows *rows = fr__cost_rows(pl, pl->in->topo->devices[device].type, m->batch);

    if (!rows) {
        r->is_out_of_memory = true;
        return;
    }
    bring_inputs(r, m, op);
    m->priority_of[op] = pl->next_priority;
    task = fr__add_compute(pl, device, fr__op_cost(pl, rows, op), op, pl->graph->ops[op].phase,
                           m->index);
    m->task_of[op] = task;
    if (r->first_task[op] == FR_NONE)
        r->first_task[op] = task;
    if (!read_inputs(r, m, op, task, block_first) && after != FR_NONE)
        fr_plan_add_dep(pl->plan, after, task);
    write_outputs(r, m, op, task);
}

void fr__place_ops(struct fr__replica *r, size_t micro, const uint32_t ops[], size_t n,
                   uint32_t after)
{
    uint32_t block_first = r->pl->n_tasks;

    if (!micro_ready(r, &r->micros[micro])) {
        r->is_out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        place_op(r, &r->micros[micro], ops[i], block_first, after);
}

uint32_t fr__place_join(struct fr__replica *r, size_t micro, const uint32_t ops[], size_t n,
                        uint32_t device)
{
    struct fr__micro *m = &r->micros[micro];
    bool is_backward = n > 0 && r->pl->params.roles[ops[0]] == FR__ROLE_BACKWARD;
    uint32_t marker = fr__add_marker(
        r->pl, device, is_backward ? FR_PHASE_BACKWARD_DATA : FR_PHASE_FORWARD, m->index);

    if (!m->end_of)
        return marker; /* out of memory */
    for (size_t i = 0; i < n; i++)
        if (!m->is_followed[ops[i]])
            fr_plan_add_dep(r->pl->plan, m->task_of[ops[i]], marker);
    m->end_of[2 * device + is_backward] = marker;
    return marker;
}

/* A sum of parameter gradients that reads what op makes, not placed yet, all of whose inputs are
 * there; FR_NONE. */
static uint32_t ready_sum(const struct fr__replica *r, uint32_t op)
{
    const struct fr_graph *g = r->pl->graph;
    const enum fr__role *roles = r->pl->params.roles;
    const struct fr__micro *last = &r->micros[r->n_micros - 1];

    for (uint32_t i = g->out_first[op]; i < g->out_first[op + 1]; i++) {
        uint32_t sum = g->edges[i].dst;
        bool is_ready = roles[sum] == FR__ROLE_SUM && r->tail.task_of[sum] == FR_NONE;

        for (uint32_t k = g->in_first[sum]; is_ready && k < g->in_first[sum + 1]; k++) {
            uint32_t src = g->edges[g->in_edges[k]].src;

            is_ready = last->task_of[src] != FR_NONE || r->tail.task_of[src] != FR_NONE;
        }
        if (is_ready)
            return sum;
    }
    return FR_NONE;
}

/* ---- the body, micro-batch after micro-batch ---- */

/* A marker on each device after what nothing there follows. */
static void mark_end(struct fr__replica *r, const struct fr__micro *m)
{
    for (uint32_t o = 0; o < r->pl->graph->n_ops; o++) {
        uint32_t *done = &r->done_of[r->device_of[o]];

        if (!is_body_op(r, o) || m->is_followed[o] || m->task_of[o] == FR_NONE)
            continue;
        if (*done == FR_NONE)
            *done = fr__add_marker(r->pl, r->device_of[o], FR_PHASE_BACKWARD_DATA, m->index);
        fr_plan_add_dep(r->pl->plan, m->task_of[o], *done);
    }
}

static void place_micro(struct fr__replica *r, size_t micro, uint32_t after)
{
    struct fr__micro *m = &r->micros[micro];
    uint32_t block_first = r->pl->n_tasks;
    bool is_last = micro + 1 == r->n_micros;

    if (!micro_ready(r, m)) {
        r->is_out_of_memory = true;
        return;
    }
    for (uint32_t o = 0; o < r->pl->graph->n_ops; o++) {
        if (!is_body_op(r, o))
            continue;
        place_op(r, m, o, block_first, after);
        for (uint32_t s = o; is_last && !r->is_out_of_memory && (s = ready_sum(r, s)) != FR_NONE;)
            place_op(r, &r->tail, s, r->pl->n_tasks, FR_NONE);
    }
    mark_end(r, m);
}

/* Places a micro-batch on the replica's only device, once that before is done, and returns its
 * marker, the last of its tasks. */
static uint32_t place_next(struct fr__replica *r, size_t micro, uint32_t after)
{
    uint32_t *done = &r->done_of[r->device_of[0]], marker;

    place_micro(r, micro, after);
    marker = *done;
    *done = FR_NONE;
    return marker;
}

static struct fr__pattern *learn_next(struct fr__replica *r, size_t micro, uint32_t *after)
{
    const struct fr__begin nothing = {0};
    struct fr__pattern_source s = {.from = fr__placer_mark(r->pl), .after = *after};
    struct fr__pattern *k;

    *after = place_next(r, micro, *after);
    s.to = fr__placer_mark(r->pl);
    s.row = s.size = &nothing; /* it refers to no other micro-batch */
    k = r->is_out_of_memory ? NULL : fr__pattern_new(r->pl->plan, &s);
    r->is_out_of_memory |= !k;
    return k;
}

/* All micro-batches but the last; the marker at their end. The first comes after nothing, so that the
 * second is the pattern of the others. */
static uint32_t place_but_last(struct fr__replica *r)
{
    struct fr__pattern *k = NULL;
    uint32_t after = place_next(r, 0, FR_NONE);

    if (r->n_micros > 2)
        k = learn_next(r, 1, &after);
    for (size_t m = 2; k && m + 1 < r->n_micros; m++) {
        fr__placer_repeat(
            r->pl, k,
            &(struct fr__pattern_place){
                .after = after, .microbatch = (uint32_t)m, .device = FR_NONE, .rank = FR_NONE});
        after = r->pl->n_tasks - 1;
    }
    fr__pattern_free(k);
    return after;
}

void fr__place_body(struct fr__replica *r)
{
    r->is_in_turn = true;
    place_micro(r, r->n_micros - 1, r->n_micros > 1 ? place_but_last(r) : FR_NONE);
}

/* ---- tail ---- */

static void place_tail(struct fr__replica *r, enum fr__role role)
{
    const struct fr__params *p = &r->pl->params;

    for (size_t i = 0; i < p->n_tail; i++) {
        uint32_t op = p->tail[i];

        if (p->roles[op] == role && r->tail.task_of[op] == FR_NONE)
            place_op(r, &r->tail, op, r->pl->n_tasks, FR_NONE);
    }
}

void fr__place_sums(struct fr__replica *r)
{
    place_tail(r, FR__ROLE_SUM);
}

/* A gradient that is no tensor of the graph. */
static uint32_t plain_gradient(struct fr__replica *r, const struct fr__owner *w)
{
    if (r->pl->in->keeps_gradients)
        return FR_NONE;
    return fr__add_buffer(r->pl, FR_BUFFER_GRADIENT, r->device_of[w->ready], w->bytes,
                          r->first_task[w->ready], w->op);
}

/* The batch and the model's outputs stay until the step is over: the training loop has them in
 * variables. Micro-batches are their runtime's own and go when nothing reads them any more. */
static void hold_to_the_end(struct fr__replica *r)
{
    const struct fr_graph *g = r->pl->graph;

    for (uint32_t t = 0; r->n_micros == 1 && t < g->n_tensors; t++) {
        uint32_t device = r->device_of[g->tensors[t].op], end = r->step_of[device];

        end = end == FR_NONE ? r->done_of[device] : end;
        if (r->pl->params.is_held[t] && end != FR_NONE)
            fr__add_free(r->pl, r->micros[0].buffer_of[t], end);
    }
}

void fr__place_updates(struct fr__replica *r)
{
    struct fr__placer *pl = r->pl;
    const struct fr__params *p = &pl->params;

    place_tail(r, FR__ROLE_UPDATE);
    for (size_t i = 0; i < p->n_tail; i++) {
        uint32_t op = p->tail[i], done = r->done_of[r->device_of[op]];

        if (p->roles[op] != FR__ROLE_UPDATE)
            continue;
        if (done != FR_NONE)
            fr_plan_add_dep(pl->plan, done, r->tail.task_of[op]);
        fr_plan_add_dep(pl->plan, r->tail.task_of[op], drops_at(r, op, FR_NONE, FR_NONE));
    }
    for (size_t i = 0; i < p->n_owners; i++) {
        const struct fr__owner *w = &p->owners[i];
        uint32_t end = r->done_of[r->device_of[w->op]];

        if (w->ready == FR_NONE || w->has_tensor)
            continue;
        if (w->n_updates > 0) /* else nobody updates: it is dropped at the end of the body */
            end = r->step_of[r->device_of[p->updates[w->first_update]]];
        fr__add_free(pl, plain_gradient(r, w), end);
    }
    hold_to_the_end(r);
}

uint32_t fr__update_task(const struct fr__replica *r, uint32_t op)
{
    return r->tail.task_of[op];
}

void fr__refresh_tied(struct fr__replica *r)
{
    struct fr__placer *pl = r->pl;
    const struct fr_graph *g = pl->graph;

    for (uint32_t i = 0; i < g->n_edges; i++) {
        uint32_t src = g->edges[i].src, send, recv;
        const struct fr__owner *w;

        if (!needs_tied_copy(r, i) || pl->params.owner_of[src] == FR_NONE)
            continue;
        w = &pl->params.owners[pl->params.owner_of[src]];
        if (w->n_updates == 0)
            continue;
        for (uint32_t k = 0; k < w->n_updates; k++) {
            uint32_t update = r->tail.task_of[pl->params.updates[w->first_update + k]];

            if (k > 0) {
                fr_plan_add_dep(pl->plan, update, send);
                fr_plan_add_dep(pl->plan, update, recv);
                continue;
            }
            fr__add_move(pl,
                         &(struct fr__move){.src = r->device_of[src],
                                            .dst = r->device_of[g->edges[i].dst],
                                            .from = update,
                                            .bytes = (double)w->bytes,
                                            .op = src,
                                            .microbatch = FR_NONE,
                                            .label = FR_NONE,
                                            .priority = pl->next_priority,
                                            .phase = FR_PHASE_UPDATE,
                                            .send_stream = FR_STREAM_SEND},
                         &send, &recv);
        }
    }
}

void fr__after_gradient(struct fr__replica *r, const struct fr__owner *w, uint32_t task, bool frees)
{
    struct fr__placer *pl = r->pl;
    const struct fr_graph *g = pl->graph;

    if (!w->has_tensor) {
        fr_plan_add_dep(pl->plan, complete_task(r, w->ready), task);
        if (frees)
            fr__add_free(pl, plain_gradient(r, w), task);
        return;
    }
    for (uint32_t k = 0; k < w->n_updates; k++) {
        uint32_t u = pl->params.updates[w->first_update + k];

        for (uint32_t i = g->in_first[u]; i < g->in_first[u + 1]; i++) {
            const struct fr_edge *e = &g->edges[g->in_edges[i]];
            struct source s;

            if (pl->params.roles[e->src] != FR__ROLE_BACKWARD &&
                pl->params.roles[e->src] != FR__ROLE_SUM)
                continue;
            s = source_of(r, &r->tail, e);
            fr_plan_add_dep(pl->plan, s.task, task);
            if (frees)
                fr__add_free(pl, s.buffer, task);
        }
    }
}
