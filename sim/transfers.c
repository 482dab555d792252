/* sim/transfers.c - a send and its receive meet, move their bytes as one message, and end.
 *
 * The latency of a transfer may be a measured one (sim/network/alone.h). In a folded plan a
 * transfer goes with those of all ranks that do the same.
 */
#include "config.h"

#include "sim/analysis/parts.h"
#include "sim/collectives/link_load.h"
#include "sim/engine.h"

static void mark_moving(struct fr__engine *e, uint32_t device, bool is_beginning)
{
    struct fr__device *k = &e->devices[device];

    fr__device_account(e, k);
    k->n_copying += is_beginning ? 1 : (uint32_t)-1;
    fr__rerate(e, device);
}

static void task_moves(struct fr__engine *e, uint32_t task)
{
    fr__task_started(e, task);
    if (e->o->alloc_at_start)
        fr__memory_alloc(e, task);
    mark_moving(e, fr__device_of(e, task), true);
}

/* ---- the message's owner ---- */

static void leave(struct fr__engine *e, const struct fr__message *m)
{
    task_moves(e, e->v->transfers[m->of].send);
    task_moves(e, e->v->transfers[m->of].recv);
}

static const struct fr__link_load *load(struct fr__engine *e, const struct fr__route *r)
{
    return e->v->device_counts ? fr__link_load_of_pair(e, r->src, r->dst) : NULL;
}

static void arrive(struct fr__engine *e, const struct fr__message *m, const struct fr__route *route)
{
    const struct fr_transfer *x = &e->v->transfers[m->of];

    (void)route;
    mark_moving(e, fr__device_of(e, x->send), false);
    mark_moving(e, fr__device_of(e, x->recv), false);
    fr__task_done(e, x->send);
    fr__task_done(e, x->recv);
}

const struct fr__message_owner fr__transfer_messages = {
    .work = FR_WORK_COPY,
    .is_fitted = true,
    .leave = leave,
    .load = load,
    .arrive = arrive,
};

/* ---- they meet ---- */

void fr__transfer_arrive(struct fr__engine *e, uint32_t task)
{
    uint32_t transfer = e->tasks[task].transfer;
    const struct fr_transfer *x = &e->v->transfers[transfer];
    struct fr__state *peer = &e->tasks[x->send == task ? x->recv : x->send];
    double launched_s = fr__host_launch(e, task);

    e->tasks[task].start_s = launched_s;
    if (peer->progress != TASK_DISPATCHED)
        return;
    /* this one came last, so what it waited for is what both waited for */
    peer->cause = e->tasks[task].cause;
    if (peer->start_s > launched_s)
        launched_s = peer->start_s;
    if (launched_s > e->now_s)
        fr__push_event(e, launched_s, transfer, EVENT_TRANSFER_START);
    else
        fr__transfer_start(e, transfer);
}

void fr__transfer_start(struct fr__engine *e, uint32_t transfer)
{
    const struct fr_transfer *x = &e->v->transfers[transfer];
    uint32_t route = fr__route_take(e, fr__device_of(e, x->send), fr__device_of(e, x->recv));

    if (route != FR_NONE)
        fr__message_start(e, &(struct fr__message){.bytes = x->bytes,
                                                   .owner = &fr__transfer_messages,
                                                   .of = transfer,
                                                   .route = route,
                                                   .times = x->share});
}

/* The launches of both ends are over; the later one's is what they waited for. */
void fr__transfer_launched(struct fr__engine *e, uint32_t transfer)
{
    const struct fr_transfer *x = &e->v->transfers[transfer];
    uint32_t later = e->tasks[x->send].start_s > e->tasks[x->recv].start_s ? x->send : x->recv;

    if (e->parts)
        fr__parts_at_launch(e, e->v->tasks[later].device);
    fr__transfer_start(e, transfer);
}
