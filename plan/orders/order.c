/* plan/orders/order.c - a plan in another order: copied, numbered device by device, gated. */
#include "config.h"

#include "plan/orders/order.h"

#include "base/error.h"

#include <assert.h>
#include <math.h>

bool fr_order_is_pass(enum fr_order o)
{
    return o >= FR_ORDER_CONTROL;
}

/* ---- how long a transfer takes alone ---- */

static enum fr_status time_transfers(const struct fr_plan_view *v, double time_s[],
                                     struct fr_error *err)
{
    struct fr_router *router = NULL;
    enum fr_status st = fr_router_new(&router, v->topo, err);

    for (uint32_t x = 0; st == FR_OK && x < v->n_transfers; x++) {
        const struct fr_transfer *k = &v->transfers[x];
        double latency_s = 0, least_Bps = INFINITY;
        const uint32_t *links;
        size_t n;

        st = fr_router_path(router, v->tasks[k->send].device, v->tasks[k->recv].device, &links, &n,
                            err);
        for (size_t i = 0; st == FR_OK && i < n; i++) {
            latency_s += v->topo->links[links[i]].latency_s;
            least_Bps = fmin(least_Bps, v->topo->links[links[i]].bw_Bps);
        }
        time_s[x] = latency_s + k->bytes / least_Bps;
    }
    fr_router_free(router);
    return st;
}

/* ---- numbers ---- */

struct numbering {
    const struct fr__receives *r;
    enum fr_order order;
    uint64_t seed;
    const double *time_s; /* [n_transfers] */
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
                                     enum fr_order order, uint64_t seed, struct fr__arena *arena,
                                     size_t *n_ordered, struct fr_error *err)
{
    const struct fr_plan_view *v = &p->view;
    double *time_s = fr__arena_take(arena, v->n_transfers, sizeof(*time_s));
    uint32_t *number = fr__arena_alloc(arena, v->n_transfers, sizeof(*number));
    struct fr__receives r;

    if (!time_s || !number)
        return fr__fail_nomem(err);
    FR_TRY(fr__receives_find(&r, p, arena, err));
    FR_TRY(time_transfers(v, time_s, err));
    FR_TRY(number_all(&(struct numbering){&r, order, seed, time_s, number, arena}, err));
    *n_ordered = r.n_ordered;
    return fr__gate(out, &r, number, arena, err);
}

/* ---- the pass ---- */

enum fr_status fr_plan_order(const struct fr_plan *p, enum fr_order order, uint64_t seed,
                             struct fr_plan **out, size_t *n_ordered, struct fr_error *err)
{
    struct fr__arena *arena = fr__arena_new();
    struct fr_plan *plan = fr__plan_copy(p);
    enum fr_status st;

    assert(p->is_finished && fr_order_is_pass(order));
    *n_ordered = 0;
    if (!arena || !plan)
        st = fr__fail_nomem(err);
    else if (order == FR_ORDER_CONTROL)
        st = fr__chain_devices(plan, p, err);
    else
        st = order_receives(plan, p, order, seed, arena, n_ordered, err);
    if (st == FR_OK)
        st = fr_plan_finish(plan, err);
    if (st == FR_OK)
        *out = plan;
    else
        fr_plan_free(plan);
    fr__arena_free(arena);
    return st;
}
