/* strategies/fastt/referee.c - plans are made on the side, run, and thrown away. */
#include "config.h"

#include "strategies/fastt/referee.h"

#include "base/error.h"
#include "plan/internal.h"
#include "lowering/cut_runs.h"
#include "lowering/values.h"

#include <math.h>
#include <stdlib.h>

enum fr_status fr__referee_init(struct fr__referee *r, const struct fr_problem *in,
                                const struct fr_context *ctx, struct fr_error *err)
{
    *r = (struct fr__referee){.in = in, .simulation = in->simulation};
    if (ctx)
        r->quiet = (struct fr_context){
            .seed = ctx->seed, .cancel = ctx->cancel, .memory_bytes = ctx->memory_bytes};
    r->over_bytes = calloc(in->topo->n_devices + 1, sizeof(*r->over_bytes));
    if (!r->over_bytes)
        return fr__fail_nomem(err);
    if (r->simulation)
        return FR_OK;
    FR_TRY(fr_simulation_new(&r->own, in->topo, err));
    r->simulation = r->own;
    return FR_OK;
}

void fr__referee_fini(struct fr__referee *r)
{
    fr_simulation_free(r->own);
    free(r->over_bytes);
    r->own = NULL;
    r->over_bytes = NULL;
}

/* Applies an order that changes the plan itself (fr_order_is_pass). */
static enum fr_status put_in_order(const struct fr_run_options *o, struct fr_plan **plan,
                                   struct fr_error *err)
{
    struct fr_plan *ordered;
    size_t n_ordered;

    if (!fr_order_is_pass(o->order))
        return FR_OK;
    FR_TRY(fr_run_order(*plan, o, &ordered, &n_ordered, err));
    fr_plan_free(*plan);
    *plan = ordered;
    return FR_OK;
}

static enum fr_status run(struct fr__referee *r, struct fr_plan **plan, double stop_s,
                          bool is_alone, struct fr__made *out, struct fr_error *err)
{
    struct fr_run_options o = *r->in->run;
    struct fr_run *made;

    o.want = FR_WANT_MEMORY;
    o.stop_s = isfinite(stop_s) ? stop_s : 0;
    o.context = &r->quiet;
    if (is_alone)
        o.network = FR_NETWORK_ANALYTIC;
    fr__plan_trust(*plan);
    FR_TRY(fr_plan_finish(*plan, err));
    FR_TRY(put_in_order(&o, plan, err));
    FR_TRY(fr_simulation_run(r->simulation, *plan, &o, &made, err));
    r->n_runs++;
    r->n_stopped += made->is_stopped;
    *out = (struct fr__made){.s = made->is_stopped ? (double)INFINITY : made->iteration_s};
    for (uint32_t d = 0; d < made->n_devices; d++) {
        const struct fr_device_result *m = &made->devices[d];
        const struct fr_device_type *type = &r->in->topo->types[r->in->topo->devices[d].type];
        uint64_t bytes =
            m->peak_reserved_bytes > m->peak_bytes ? m->peak_reserved_bytes : m->peak_bytes;

        bytes += type->is_gpu && m->peak_bytes > 0 ? type->context_bytes : 0;
        out->is_over = out->is_over || m->is_over;
        out->fullest_frac = fmax(out->fullest_frac, (double)bytes / (double)type->mem_bytes);
        r->over_bytes[d] = bytes > type->mem_bytes ? bytes - type->mem_bytes : m->is_over;
    }
    if (out->is_over)
        out->s = INFINITY;
    fr_run_free(made);
    return FR_OK;
}

enum fr_status fr__referee_ask(struct fr__referee *r, const struct fr__placed_dag *d, double stop_s,
                               bool is_alone, struct fr__made *out, struct fr_error *err)
{
    struct fr_plan *plan = fr_plan_new(r->in->topo, r->in->graph);
    struct fr__placer pl;
    enum fr_status st;

    if (!plan)
        return fr__fail_nomem(err);
    fr__plan_limit(plan, r->quiet.memory_bytes);
    st = fr__placer_init(&pl, r->in, &r->quiet, plan, err);
    if (st == FR_OK)
        st = fr__dag_plan(&pl, d, NULL, err);
    fr__placer_fini(&pl);
    if (st == FR_OK)
        st = run(r, &plan, stop_s, is_alone, out, err);
    fr_plan_free(plan);
    if (st != FR_EDEADLOCK)
        return st;
    *out = (struct fr__made){.s = INFINITY};
    return FR_OK;
}

/* Plans of one strategy, a cut of stages each. */
struct plain {
    struct fr__referee *referee;
    const struct fr_strategy *strategy;
    struct fr__cuts_seen seen;
    struct fr_cut_choice cut; /* the one at hand */
};

static enum fr_status make_and_run(struct plain *p, struct fr_plan **plan, double stop_s,
                                   struct fr__made *out, struct fr_error *err)
{
    struct fr__referee *r = p->referee;
    struct fr_problem in = *r->in;
    struct fr_option_values values;

    in.options = &values;
    in.decisions = NULL;
    in.cut = &p->cut;
    FR_TRY(fr__values_default(p->strategy->name, p->strategy->options, &values, err));
    FR_TRY(p->strategy->plan(&in, &r->quiet, *plan, err));
    if (!fr__cut_is_new(&p->seen, &p->cut) && p->cut.kind > 0)
        return FR_OK;
    FR_TRY(run(r, plan, stop_s, false, out, err));
    return FR_OK;
}

/* *out stays where the cut was run before. */
static enum fr_status ask_kind(struct plain *p, unsigned kind, double stop_s, struct fr__made *out,
                               struct fr_error *err)
{
    struct fr_plan *plan = fr_plan_new(p->referee->in->topo, p->referee->in->graph);
    enum fr_status st;

    if (!plan)
        return fr__fail_nomem(err);
    fr__plan_limit(plan, p->referee->quiet.memory_bytes);
    p->cut = (struct fr_cut_choice){.kind = kind, .seen = p->seen.signatures, .n_seen = p->seen.n};
    st = make_and_run(p, &plan, stop_s, out, err);
    fr_plan_free(plan);
    if (st == FR_OK || st == FR_ENOMEM || st == FR_ECANCELLED)
        return st;
    *out = (struct fr__made){.s = INFINITY};
    return FR_OK;
}

enum fr_status fr__referee_ask_strategy(struct fr__referee *r, const struct fr_strategy *s,
                                        double stop_s, struct fr__made *out, unsigned *kind,
                                        struct fr_error *err)
{
    struct plain p = {.referee = r, .strategy = s};
    struct fr__made other;
    unsigned n_kinds;

    *kind = 0;
    *out = (struct fr__made){.s = INFINITY};
    FR_TRY(ask_kind(&p, 0, stop_s, out, err));
    n_kinds = out->is_over ? 0 : fr__cut_wants_runs(&p.cut, out->s);
    for (unsigned k = 1; k <= n_kinds; k++) {
        other = (struct fr__made){.s = INFINITY};
        FR_TRY(ask_kind(&p, k, fmin(stop_s, out->s), &other, err));
        if (!(other.s < out->s))
            continue;
        *out = other;
        *kind = k;
    }
    return FR_OK;
}
