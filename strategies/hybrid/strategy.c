/* strategies/hybrid/strategy.c - the row of the hybrid strategy: see hybrid.h. */
#include "config.h"

#include "strategies/hybrid/hybrid.h"

#include "base/error.h"
#include "strategies/list.h"
#include "lowering/log.h"
#include "lowering/check_problem.h"

static enum fr_status place(struct fr__placer *pl, const struct fr__hybrid_options *o,
                            const struct fr__hybrid_graph *g, struct fr_decisions **tell,
                            struct fr_error *err)
{
    struct fr__hybrid_ranks ranks;
    enum fr_status st = fr__hybrid_ranks_make(&ranks, pl, o, g, err);

    if (st == FR_OK)
        st = fr__hybrid_place(pl, o, g, &ranks, tell, err);
    fr__hybrid_ranks_fini(&ranks);
    return st;
}

static enum fr_status plan_graph(const struct fr_problem *in, const struct fr_context *ctx,
                                 const struct fr__hybrid_options *o,
                                 const struct fr__hybrid_graph *g, struct fr_plan *out,
                                 struct fr_decisions **tell, struct fr_error *err)
{
    struct fr_problem local = *in;
    struct fr__placer pl;
    enum fr_status st;

    local.graph = g->graph;
    if (g->graph != in->graph)
        local.memo = NULL; /* it knows the problem's ops */
    st = fr__placer_init(&pl, &local, ctx, out, err);
    if (st == FR_OK)
        st = place(&pl, o, g, tell, err);
    fr__placer_fini(&pl);
    return st;
}

static enum fr_status make(const struct fr_problem *in, const struct fr_context *ctx,
                           struct fr_plan *out, struct fr_decisions **tell, struct fr_error *err)
{
    struct fr__hybrid_options o;
    struct fr__hybrid_graph g;
    enum fr_status st;

    FR_TRY(fr__check_problem(in, err));
    FR_TRY(fr__hybrid_read(&o, in, err));
    fr__log(ctx, "dp %u, tp %u, pp %u, cp %u, ep %u: %u micro-batches of %u samples", o.dp, o.tp,
            o.pp, o.cp, o.ep, o.n_micros, o.micro_batch);
    st = fr__hybrid_graph_make(&g, in, &o, out, err);
    if (st == FR_OK)
        st = plan_graph(in, ctx, &o, &g, out, tell, err);
    fr__hybrid_graph_free(&g);
    return st;
}

static enum fr_status plan(const struct fr_problem *in, const struct fr_context *ctx,
                           struct fr_plan *out, struct fr_error *err)
{
    return make(in, ctx, out, NULL, err);
}

static enum fr_status explain(const struct fr_problem *in, const struct fr_context *ctx,
                              struct fr_decisions **out, struct fr_error *err)
{
    struct fr_plan *scratch = fr_plan_new(in->topo, in->graph);
    enum fr_status st;

    if (!scratch)
        return fr__fail_nomem(err);
    st = make(in, ctx, scratch, out, err);
    fr_plan_free(scratch);
    return st;
}

const struct fr_strategy fr__strategy_hybrid = {
    .name = "hybrid",
    .summary = "data, tensor, sequence, context, expert and pipeline parallelism together",
    .source = "Narayanan et al., Megatron-LM, SC 2021; Korthikanti et al., 2022; Rajbhandari et "
              "al., ZeRO, SC 2020",
    .options = fr__hybrid_option_rows,
    .plan = plan,
    .explain = explain,
    .software_run = fr__hybrid_software_run,
    .folds = true,
};
