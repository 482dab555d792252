/* lowering/replica/tail.c - a replica after its backward pass: sums of parameter gradients,
 * updates, copies of tied parameters, and what an exchange of gradients has to wait for.
 */
#include "config.h"

#include "lowering/replica/parts.h"

/* ---- tail ---- */

/* device: FR_NONE stands for all. */
static bool is_on(const struct fr__replica *r, uint32_t op, uint32_t device)
{
    return device == FR_NONE || r->device_of[op] == device;
}

static void place_tail(struct fr__replica *r, enum fr__role role, uint32_t device)
{
    const struct fr__params *p = &r->pl->params;

    for (size_t i = 0; i < p->n_tail; i++) {
        uint32_t op = p->tail[i];

        if (p->roles[op] == role && r->tail.task_of[op] == FR_NONE && fr__is_mine(r, op) &&
            is_on(r, op, device))
            fr__place_op(r, &r->tail, op, r->pl->n_tasks, FR_NONE);
    }
}

void fr__place_sums(struct fr__replica *r)
{
    place_tail(r, FR__ROLE_SUM, FR_NONE);
}

void fr__place_sums_on(struct fr__replica *r, uint32_t device)
{
    place_tail(r, FR__ROLE_SUM, device);
}

/* A gradient that is no tensor of the graph. */
static uint32_t plain_gradient(struct fr__replica *r, const struct fr__owner *w)
{
    if (r->pl->in->keeps_gradients || fr__adds_to_main(r->pl))
        return FR_NONE;
    return fr__add_buffer(r->pl, FR_BUFFER_GRADIENT, r->device_of[w->ready],
                          fr__has_main_gradients(r->pl) ? fr__gradient_bytes(r->pl, w->bytes)
                                                        : w->bytes,
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

/* Software's passes over the gradients of each device that has some. */
static void place_passes(struct fr__replica *r, uint32_t device)
{
    const struct fr__params *p = &r->pl->params;

    for (size_t i = 0; fr__has_passes(r) && i < p->n_updates; i++) {
        uint32_t on = r->device_of[p->updates[i]];

        if (fr__is_mine(r, p->updates[i]) && is_on(r, p->updates[i], device) &&
            r->passes_of[on] == FR_NONE)
            r->passes_of[on] = fr__place_passes(r, on, FR_PHASE_UPDATE, r->done_of[on]);
    }
}

static void place_updates(struct fr__replica *r, uint32_t device)
{
    struct fr__placer *pl = r->pl;
    const struct fr__params *p = &pl->params;

    place_passes(r, device);
    place_tail(r, FR__ROLE_UPDATE, device);
    for (size_t i = 0; i < p->n_tail; i++) {
        uint32_t op = p->tail[i], done = r->done_of[r->device_of[op]];

        if (p->roles[op] != FR__ROLE_UPDATE || !fr__is_mine(r, op) || !is_on(r, op, device))
            continue;
        if (done != FR_NONE)
            fr_plan_add_dep(pl->plan, done, r->tail.task_of[op]);
        if (r->passes_of[r->device_of[op]] != FR_NONE)
            fr_plan_add_dep(pl->plan, r->passes_of[r->device_of[op]], r->tail.task_of[op]);
        fr_plan_add_dep(pl->plan, r->tail.task_of[op], fr__drops_at(r, op, FR_NONE, FR_NONE));
    }
    for (size_t i = 0; i < p->n_owners; i++) {
        const struct fr__owner *w = &p->owners[i];
        uint32_t end = r->done_of[r->device_of[w->op]];

        if (w->ready == FR_NONE || w->has_tensor || !fr__is_mine(r, w->op) ||
            !is_on(r, w->op, device))
            continue;
        if (w->n_updates > 0 && fr__gradient_leaves(pl, w->op))
            continue;         /* the sum has dropped it */
        if (w->n_updates > 0) /* else nobody updates: it is dropped at the end of the body */
            end = r->step_of[r->device_of[p->updates[w->first_update]]];
        fr__add_free(pl, plain_gradient(r, w), end);
    }
}

void fr__place_updates(struct fr__replica *r)
{
    place_updates(r, FR_NONE);
    hold_to_the_end(r);
}

void fr__before_update(struct fr__replica *r, uint32_t op, uint32_t task)
{
    uint32_t device = r->device_of[op], update = fr__update_task(r, op);

    if (task == FR_NONE || update == FR_NONE)
        return;
    if (r->passes_of[device] == FR_NONE) {
        fr_plan_add_dep(r->pl->plan, task, update);
        return;
    }
    if (r->last_before[device] != task) /* updates of one sum come one after the other */
        fr_plan_add_dep(r->pl->plan, task, r->passes_of[device]);
    r->last_before[device] = task;
}

void fr__before_updates(struct fr__replica *r, uint32_t task)
{
    const struct fr__params *p = &r->pl->params;

    for (size_t i = 0; i < p->n_updates; i++)
        fr__before_update(r, p->updates[i], task);
}

uint32_t fr__update_task(const struct fr__replica *r, uint32_t op)
{
    return r->tail.task_of[op];
}

/* Of parameters on that device; FR_NONE stands for all. */
static void refresh_tied(struct fr__replica *r, uint32_t device)
{
    struct fr__placer *pl = r->pl;
    const struct fr_graph *g = pl->graph;

    for (uint32_t i = 0; i < g->n_edges; i++) {
        uint32_t src = g->edges[i].src, send, recv;
        const struct fr__owner *w;

        if (!fr__is_mine(r, src) || !fr__needs_tied_copy(r, i) ||
            pl->params.owner_of[src] == FR_NONE)
            continue;
        w = &pl->params.owners[pl->params.owner_of[src]];
        if (w->n_updates == 0 || !is_on(r, src, device))
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
                                            .bytes = (double)fr__weight_bytes(pl, src, w->bytes),
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

void fr__refresh_tied(struct fr__replica *r)
{
    refresh_tied(r, FR_NONE);
}

uint32_t fr__place_updates_on(struct fr__replica *r, uint32_t device, uint32_t *first)
{
    const struct fr__params *p = &r->pl->params;

    *first = FR_NONE;
    r->passes_of[device] = FR_NONE; /* those of the update before */
    place_tail(r, FR__ROLE_SUM, device);
    place_updates(r, device);
    refresh_tied(r, device);
    for (size_t i = p->n_tail; i-- > 0;)
        if (p->roles[p->tail[i]] == FR__ROLE_UPDATE && is_on(r, p->tail[i], device))
            *first = r->tail.task_of[p->tail[i]];
    return r->step_of[device];
}

void fr__after_gradient(struct fr__replica *r, const struct fr__owner *w, uint32_t task, bool frees)
{
    struct fr__placer *pl = r->pl;
    const struct fr_graph *g = pl->graph;

    if (!w->has_tensor) {
        fr_plan_add_dep(pl->plan, fr__complete_task(r, w->ready), task);
        if (frees)
            fr__add_free(pl, plain_gradient(r, w), task);
        return;
    }
    for (uint32_t k = 0; k < w->n_updates; k++) {
        uint32_t u = pl->params.updates[w->first_update + k];

        for (uint32_t i = g->in_first[u]; i < g->in_first[u + 1]; i++) {
            const struct fr_edge *e = &g->edges[g->in_edges[i]];
            struct fr__source s;

            if (pl->params.roles[e->src] != FR__ROLE_BACKWARD &&
                pl->params.roles[e->src] != FR__ROLE_SUM)
                continue;
            s = fr__source_of(r, &r->tail, e);
            fr_plan_add_dep(pl->plan, s.task, task);
            if (frees)
                fr__add_free(pl, s.buffer, task);
        }
    }
}

uint32_t fr__place_passes_before_sums(struct fr__replica *r, uint32_t device)
{
    const struct fr__params *p = &r->pl->params;
    uint32_t task = FR_NONE;

    if (r->passes.are_before_sums)
        task = fr__place_passes(r, device, FR_PHASE_BACKWARD_WEIGHT, r->done_of[device]);
    if (task == FR_NONE)
        return FR_NONE;
    for (size_t i = 0; i < p->n_owners; i++)
        if (p->owners[i].ready != FR_NONE && r->device_of[p->owners[i].op] == device)
            fr__after_gradient(r, &p->owners[i], task, false);
    r->has_passed = true;
    return task;
}
