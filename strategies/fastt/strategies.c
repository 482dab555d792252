/* strategies/fastt/strategies.c - the rows of dpos and os-dpos in the list of strategies. */
#include "config.h"

#include "strategies/fastt/fastt.h"
#include "strategies/fastt/tell.h"
#include "strategies/list.h"

static enum fr_status plan_dpos(const struct fr_problem *in, const struct fr_context *ctx,
                                struct fr_plan *out, struct fr_error *err)
{
    return fr__fastt_plan(in, ctx, out, false, err);
}

static enum fr_status plan_os_dpos(const struct fr_problem *in, const struct fr_context *ctx,
                                   struct fr_plan *out, struct fr_error *err)
{
    return fr__fastt_plan(in, ctx, out, true, err);
}

static enum fr_status explain_dpos(const struct fr_problem *in, const struct fr_context *ctx,
                                   struct fr_decisions **out, struct fr_error *err)
{
    return fr__explain(out, in, ctx, false, err);
}

static enum fr_status explain_os_dpos(const struct fr_problem *in, const struct fr_context *ctx,
                                      struct fr_decisions **out, struct fr_error *err)
{
    return fr__explain(out, in, ctx, true, err);
}

static struct fr__fastt_options options_dpos(const struct fr_option_values *values)
{
    return fr__fastt_options(values, false);
}

static struct fr__fastt_options options_os_dpos(const struct fr_option_values *values)
{
    return fr__fastt_options(values, true);
}

static const struct fr__cost_planner by_costs_dpos = {options_dpos};
static const struct fr__cost_planner by_costs_os_dpos = {options_os_dpos};

const struct fr_strategy fr__strategy_dpos = {
    .name = "dpos",
    .summary = "each op where it ends first, the critical path together (FastT without splitting)",
    .source =
        "Yi et al., Fast Training of Deep Learning Models over Multiple GPUs, Middleware 2020",
    .options = fr__dpos_options,
    .plan = plan_dpos,
    .explain = explain_dpos,
    .by_costs = &by_costs_dpos,
};

const struct fr_strategy fr__strategy_os_dpos = {
    .name = "os-dpos",
    .summary = "FastT: dpos, and operations of the critical path split where that is shorter",
    .source =
        "Yi et al., Fast Training of Deep Learning Models over Multiple GPUs, Middleware 2020",
    .options = fr__os_dpos_options,
    .plan = plan_os_dpos,
    .explain = explain_os_dpos,
    .by_costs = &by_costs_os_dpos,
};
