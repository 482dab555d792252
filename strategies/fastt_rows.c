/* strategies/fastt_rows.c - the rows of dpos and os-dpos in the list of strategies. It stands above
 * strategies/fastt because it uses both the planner there and learning, which uses the planner. */
#include "config.h"

#include "strategies/fastt/fastt.h"
#include "strategies/fastt/learn/record.h"
#include "strategies/fastt/tell.h"
#include "strategies/list.h"

static enum fr_status plan_dpos(const struct fr_problem *in, const struct fr_context *ctx,
                                struct fr_plan *out, struct fr_error *err)
{
    const struct fr__fastt_asked asked = {.name = fr__strategy_dpos.name};

    return fr__fastt_plan(in, ctx, out, &asked, err);
}

static enum fr_status plan_os_dpos(const struct fr_problem *in, const struct fr_context *ctx,
                                   struct fr_plan *out, struct fr_error *err)
{
    static const struct fr_strategy *const plain[] = {&fr__strategy_single, &fr__strategy_dp,
                                                      &fr__strategy_mp, &fr__strategy_pp};
    const struct fr__fastt_asked asked = {.name = fr__strategy_os_dpos.name,
                                          .splits = true,
                                          .plain = plain,
                                          .n_plain = sizeof(plain) / sizeof(plain[0])};

    return fr__fastt_plan(in, ctx, out, &asked, err);
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

static enum fr_status learn_dpos(const struct fr_problem *in, const struct fr_learn_options *o,
                                 const struct fr_run_options *run, const struct fr_context *ctx,
                                 struct fr_learning **out, struct fr_error *err)
{
    return fr__fastt_learn(in, false, o, run, ctx, out, err);
}

static enum fr_status learn_os_dpos(const struct fr_problem *in, const struct fr_learn_options *o,
                                    const struct fr_run_options *run, const struct fr_context *ctx,
                                    struct fr_learning **out, struct fr_error *err)
{
    return fr__fastt_learn(in, true, o, run, ctx, out, err);
}

const struct fr_strategy fr__strategy_dpos = {
    .name = "dpos",
    .summary = "each op where it ends first, the critical path together (FastT without splitting)",
    .source =
        "Yi et al., Fast Training of Deep Learning Models over Multiple GPUs, Middleware 2020",
    .options = fr__dpos_options,
    .keeps_whole_batch = true,
    .plan = plan_dpos,
    .explain = explain_dpos,
    .learn = learn_dpos,
};

const struct fr_strategy fr__strategy_os_dpos = {
    .name = "os-dpos",
    .summary = "FastT: dpos, and operations of the critical path split where that is shorter",
    .source =
        "Yi et al., Fast Training of Deep Learning Models over Multiple GPUs, Middleware 2020",
    .options = fr__os_dpos_options,
    .keeps_whole_batch = true,
    .plan = plan_os_dpos,
    .explain = explain_os_dpos,
    .learn = learn_os_dpos,
    .learns_by_default = true,
};
