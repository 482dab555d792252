/* sim/order.c - the order of a plan that is meant for a run: what its messages take alone there.
 *
 * It stands apart from plan/orders/, which knows no network and is given the times.
 */
#include "config.h"

#include "base/error.h"
#include "sim/engine.h"
#include "sim/network/model.h"

#include <stdlib.h>

/* time_s: [n_transfers] */
static enum fr_status time_transfers(const struct fr_plan_view *v, const struct fr_run_options *o,
                                     struct fr__routes *routes, double time_s[],
                                     struct fr_error *err)
{
    const struct fr__network_model *model = fr__network_model(o->network);

    fr__routes_reset(routes, o->slowness);
    for (uint32_t x = 0; x < v->n_transfers; x++) {
        const struct fr_transfer *k = &v->transfers[x];
        uint32_t src = v->tasks[k->send].device, dst = v->tasks[k->recv].device, route;

        FR_TRY(fr__routes_take(routes, src, dst, &route, err));
        time_s[x] = fr__alone_sum(model->alone(routes, &routes->at[route], o->messages, k->bytes));
        fr__routes_release(routes, route);
    }
    return FR_OK;
}

/* compute_s: [n_tasks] */
static void time_compute(const struct fr_plan_view *v, const struct fr_run_options *o,
                         double compute_s[])
{
    const struct fr__engine e = {.v = v, .o = o};

    for (size_t t = 0; t < v->n_tasks; t++)
        compute_s[t] =
            v->tasks[t].kind == FR_TASK_COMPUTE ? fr__mean_duration(&e, &v->tasks[t]) : 0;
}

enum fr_status fr_run_order(const struct fr_plan *p, const struct fr_run_options *o,
                            struct fr_plan **out, size_t *n_ordered, struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(p);
    struct fr__routes routes;
    double *time_s, *compute_s = NULL;
    enum fr_status st;

    if (o->order != FR_ORDER_TAC)
        return fr_plan_order(p, o->order, o->seed, NULL, NULL, out, n_ordered, err);
    time_s = malloc((v->n_transfers + 1) * sizeof(*time_s));
    if (o->slowness)
        compute_s = malloc((v->n_tasks + 1) * sizeof(*compute_s));
    st = fr__routes_init(&routes, v->topo, err);
    if (st == FR_OK && (!time_s || (o->slowness && !compute_s)))
        st = fr__fail_nomem(err);
    if (st == FR_OK)
        st = time_transfers(v, o, &routes, time_s, err);
    if (st == FR_OK && compute_s)
        time_compute(v, o, compute_s);
    if (st == FR_OK)
        st = fr_plan_order(p, o->order, o->seed, time_s, compute_s, out, n_ordered, err);
    fr__routes_fini(&routes);
    free(compute_s);
    free(time_s);
    return st;
}
