/* strategies/lists/dispatch.c - moves time from one end of an operation to the next, and lets free
 * devices take what is ready. */
#include "config.h"

#include "strategies/lists/dispatch.h"

#include "base/error.h"
#include "strategies/lists/ready.h"
#include "lowering/log.h"

#include <math.h>

struct dispatch {
    struct fr__timetable *t;
    fr__dispatch_key_fn key;
    void *user;
    struct fr__ready later;   /* by when they become ready */
    struct fr__ready ready;   /* by the key */
    struct fr__ready blocked; /* ready, but their groups' devices are not free */
    double now_s;
};

/* When the last of what op reads has been computed. */
static double computed_s(const struct fr__timetable *t, uint32_t op)
{
    const struct fr__dag *dag = t->dag;
    double last_s = 0;

    for (uint32_t k = dag->in_first[op]; k < dag->in_first[op + 1]; k++)
        last_s = fmax(last_s, t->end_s[dag->edges[dag->in_edges[k]].src]);
    return last_s;
}

/* Moves what has become ready to the others that are. */
static void take_ready(struct dispatch *d)
{
    while (d->later.n > 0 && d->later.at[0].key <= d->now_s) {
        double ready_s = d->later.at[0].key;
        uint32_t op = fr__ready_pop(&d->later);

        fr__ready_push(&d->ready, d->key(d->user, op, ready_s), op);
    }
}

/* The best free device for op; FR_NONE: none is free. All that it may stand on are recorded. */
static struct fr__spot find_free(struct dispatch *d, uint32_t op)
{
    struct fr__timetable *t = d->t;
    struct fr__spot best = {.device = FR_NONE};

    for (uint32_t k = 0; k < t->machine->n_devices; k++) {
        size_t at = (size_t)op * t->machine->n_devices + k;
        struct fr__spot spot = fr__timetable_look(t, op, k, false);

        spot.start_s = fmax(spot.start_s, d->now_s);
        spot.end_s = spot.start_s + fr__timetable_cost(t, op, k);
        t->record.ready_s[at] = spot.ready_s;
        t->record.est_s[at] = spot.start_s;
        t->record.eft_s[at] = spot.end_s;
        if (fr__slots_end(t->slots, k) > d->now_s || !fr__timetable_allows(t, op, k))
            continue;
        if (best.device == FR_NONE || spot.start_s < best.start_s ||
            (spot.start_s <= best.start_s && spot.end_s < best.end_s))
            best = spot;
    }
    return best;
}

static void place(struct dispatch *d, uint32_t op, const struct fr__spot *spot)
{
    const struct fr__dag *dag = d->t->dag;

    fr__timetable_place(d->t, op, spot, FR__DPOS_ENDS_FIRST);
    for (uint32_t e = dag->out_first[op]; e < dag->out_first[op + 1]; e++)
        if (fr__ready_is_new(d->t, op, e))
            fr__ready_push(&d->later, computed_s(d->t, dag->edges[e].dst), dag->edges[e].dst);
}

static bool is_any_free(const struct dispatch *d)
{
    for (size_t k = 0; k < d->t->machine->n_devices; k++)
        if (fr__slots_end(d->t->slots, k) <= d->now_s)
            return true;
    return false;
}

/* Lets free devices take what is ready now. */
static void start_what_can(struct dispatch *d)
{
    take_ready(d);
    while (d->ready.n > 0 && is_any_free(d)) {
        uint32_t op = fr__ready_pop(&d->ready);
        struct fr__spot spot = find_free(d, op);

        if (spot.device == FR_NONE)
            fr__ready_push(&d->blocked, op, op);
        else
            place(d, op, &spot);
        take_ready(d);
    }
    while (d->blocked.n > 0) {
        uint32_t op = fr__ready_pop(&d->blocked);

        fr__ready_push(&d->ready, d->key(d->user, op, d->now_s), op);
    }
}

/* The next moment at which something changes. */
static double next_s(const struct dispatch *d)
{
    double next = d->later.n > 0 ? d->later.at[0].key : (double)INFINITY;

    for (size_t k = 0; k < d->t->machine->n_devices; k++) {
        double end_s = fr__slots_end(d->t->slots, k);

        if (end_s > d->now_s && end_s < next)
            next = end_s;
    }
    return next;
}

enum fr_status fr__dispatch(struct fr__timetable *t, fr__dispatch_key_fn key, void *user,
                            const struct fr_context *ctx, struct fr_error *err)
{
    struct dispatch d = {.t = t, .key = key, .user = user};

    if (!fr__ready_init(&d.later, t) || !fr__ready_init(&d.ready, t) ||
        !fr__ready_init(&d.blocked, t))
        return fr__fail_nomem(err);
    for (uint32_t i = 0; i < t->dag->n_ops; i++)
        if (fr__timetable_is_ready(t, i))
            fr__ready_push(&d.later, 0, i);
    for (start_what_can(&d); d.ready.n + d.later.n > 0; start_what_can(&d)) {
        if (fr__is_cancelled(ctx))
            return fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
        d.now_s = next_s(&d);
    }
    return FR_OK;
}
