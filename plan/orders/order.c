/* plan/orders/order.c - a plan in another order: copied, numbered device by device, gated. */
#include "config.h"

#include "plan/orders/order.h"

#include "base/error.h"

#include <assert.h>

bool fr_order_is_pass(enum fr_order o)
{
    return o >= FR_ORDER_CONTROL;
}

/* ---- numbers ---- */

struct numbering {
    const struct fr__receives *r;
    enum fr_order order;
    uint64_t seed;
    const double *time_s; /* [n_transfers], or NULL */
    uint32_t *number;     /* [n_transfers] */
    struct fr__arena *arena;
};

static enum fr_status number_device(const struct numbering *o, uint32_t device,
                                    struct fr_error *err)
{
    struct fr__partition k;
    uint32_t *number;

    FR_TRY(fr__partition_make(&k, o->r, device, o->time_s, o->arena, err));
    number = fr__arena_take(o->arena, k.n, sizeof(*number));
    if (!number)
        return fr__fail_nomem(err);
    if (o->order == FR_ORDER_TIC)
        FR_TRY(fr__number_tic(&k, number, o->arena, err));
    else if (o->order == FR_ORDER_TAC)
        FR_TRY(fr__number_tac(&k, number, o->arena, err));
    else
        FR_TRY(fr__number_random(&k, o->seed, device, number, o->arena, err));
    for (uint32_t i = 0; i < k.n; i++)
        o->number[k.transfers[i]] = number[i];
    return FR_OK;
}

static enum fr_status number_all(const struct numbering *o, struct fr_error *err)
{
    for (uint32_t d = 0; d < o->r->v->topo->n_devices; d++) {
        struct fr__mark mark = fr__arena_mark(o->arena);

        FR_TRY(number_device(o, d, err));
        fr__arena_rewind(o->arena, mark);
    }
    return FR_OK;
}

static enum fr_status order_receives(struct fr_plan *out, const struct fr_plan *p,
                                     enum fr_order order, uint64_t seed, const double transfer_s[],
                                     const double compute_s[], struct fr__arena *arena,
                                     size_t *n_ordered, struct fr_error *err)
{
    const struct fr_plan_view *v = &p->view;
    uint32_t *number = fr__arena_alloc(arena, v->n_transfers, sizeof(*number));
    struct fr__receives r;

    if (!number)
        return fr__fail_nomem(err);
    FR_TRY(fr__receives_find(&r, p, arena, err));
    r.compute_s = compute_s;
    FR_TRY(number_all(&(struct numbering){&r, order, seed, transfer_s, number, arena}, err));
    *n_ordered = r.n_ordered;
    return fr__gate(out, &r, number, arena, err);
}

/* ---- the pass ---- */

enum fr_status fr_plan_order(const struct fr_plan *p, enum fr_order order, uint64_t seed,
                             const double transfer_s[], const double compute_s[],
                             struct fr_plan **out, size_t *n_ordered, struct fr_error *err)
{
    struct fr__arena *arena;
    struct fr_plan *plan;
    enum fr_status st;

    assert(p->is_finished && fr_order_is_pass(order));
    *n_ordered = 0;
    if (order == FR_ORDER_TAC && !transfer_s)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "the order 'tac' needs to know how long transfers take");
    arena = fr__arena_new();
    plan = fr__plan_copy(p);
    if (!arena || !plan)
        st = fr__fail_nomem(err);
    else if (order == FR_ORDER_CONTROL)
        st = fr__chain_devices(plan, p, err);
    else
        st = order_receives(plan, p, order, seed, transfer_s, compute_s, arena, n_ordered, err);
    if (st == FR_OK)
        st = fr_plan_finish(plan, err);
    if (st == FR_OK)
        *out = plan;
    else
        fr_plan_free(plan);
    fr__arena_free(arena);
    return st;
}
