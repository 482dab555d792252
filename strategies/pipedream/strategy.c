/* strategies/pipedream/strategy.c - the row of the table of strategies: stages without a topology,
 * and stages on one, which the engine runs. */
#include "config.h"

#include "strategies/pipedream/cluster.h"

#include "base/error.h"
#include "base/units.h"
#include "strategies/list.h"
#include "lowering/decisions_new.h"
#include "lowering/log.h"
#include "lowering/check_problem.h"

#include <math.h>
#include <stdio.h>

static enum fr_status plan_stages(const struct fr_profile *profile,
                                  const struct fr_option_values *options,
                                  const struct fr_context *ctx, struct fr_stage_plan **out,
                                  struct fr_error *err)
{
    struct fr__pd_options o;

    FR_TRY(fr__pd_read_options(options, &o, err));
    if (o.micro_batch)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option 'micro' needs a topology (-t): a profile has its own batch");
    if (o.is_flush_given)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option 'flush' needs a topology (-t): nothing is run without one");
    FR_TRY(fr__pd_plan(profile, &o, ctx, out, err));
    (*out)->strategy = fr__strategy_pipedream.name;
    return FR_OK;
}

/* ---- on a topology ---- */

struct work {
    struct fr__placer *pl;
    struct fr__pd_options o;
    struct fr_profile profile;
    const uint32_t *item_of; /* [n_ops] */
    uint32_t *line;          /* as fr__pd_line */
    struct fr_stage_plan *stages;
    struct fr__pd_seats seats;
    double tied_s; /* as fr__pd_tied_s */
};

static enum fr_status choose_batch(struct work *w, struct fr__pd_run *run, struct fr_error *err)
{
    const struct fr_problem *in = w->pl->in;
    uint32_t micro = w->o.micro_batch;

    if (micro > in->global_batch)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "micro=%u is more than the %u samples", micro,
                        in->global_batch);
    if (micro == 0 && in->global_batch / 4 < in->n_devices)
        micro = 1;
    else if (micro == 0)
        micro = in->global_batch / (4 * (uint32_t)in->n_devices);
    while (w->o.micro_batch == 0 && !w->o.has_flush && in->global_batch % micro)
        micro--;
    if (!w->o.has_flush && in->global_batch % micro)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "micro=%u does not divide the %u samples, as it must without a flush "
                        "('flush=1' has one)",
                        micro, in->global_batch);
    run->n_micros = (in->global_batch - 1) / micro + 1;
    run->batch = micro;
    run->last_batch = in->global_batch - (run->n_micros - 1) * micro;
    return FR_OK;
}

/* A sum of gradients stands with the first stage that feeds it. Its item alone does not say which:
 * a cut through branches that read one tensor need not keep the order of items. */
static void settle_sums(const struct fr_graph *g, uint32_t of_op[])
{
    for (uint32_t o = 0; o < g->n_ops; o++) {
        uint32_t first = FR_NONE;

        if (g->ops[o].kind != FR_OP_GRAD_ADD || g->ops[o].phase != FR_PHASE_BACKWARD_DATA)
            continue;
        for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
            uint32_t stage = of_op[g->edges[g->in_edges[i]].src];

            first = stage < first ? stage : first;
        }
        of_op[o] = first == FR_NONE ? of_op[o] : first;
    }
}

/* The stage of each op; layers that no cut reaches stand with the last that they read. */
static enum fr_status assign(struct work *w, struct fr__pd_run *run, struct fr_error *err)
{
    const struct fr_profile *p = &w->profile;
    uint32_t *of_layer = fr__arena_alloc(w->pl->arena, p->n_layers, sizeof(*of_layer));
    uint32_t *of_op = fr__arena_alloc(w->pl->arena, w->pl->graph->n_ops, sizeof(*of_op));

    if (!of_layer || !of_op)
        return fr__fail_nomem(err);
    for (size_t e = 0, v = 0; v < p->n_layers; v++) { /* edges come by their first end */
        bool is_known = w->stages->stage_of[v] < w->stages->n_stages;

        if (is_known)
            of_layer[v] = w->stages->stage_of[v];
        for (; e < p->n_edges && p->edges[e][0] == v; e++)
            if (of_layer[v] > of_layer[p->edges[e][1]])
                of_layer[p->edges[e][1]] = of_layer[v];
    }
    for (size_t o = 0; o < w->pl->graph->n_ops; o++)
        of_op[o] = of_layer[w->item_of[o]];
    settle_sums(w->pl->graph, of_op);
    run->stage_of = of_op;
    return FR_OK;
}

/* ---- weights that stages share ---- */

/* The stages on their devices, and what weights that they share cost; infinite: these cannot be
 * run. */
static enum fr_status seat(struct work *w, struct fr__pd_run *run, struct fr_error *err)
{
    uint32_t stages[2], op;

    FR_TRY(fr__pd_seat(&w->seats, w->stages, w->line, w->pl->arena, err));
    run->seats = &w->seats;
    FR_TRY(assign(w, run, err));
    if (fr__pd_can_share(run, stages, &op))
        return fr__pd_tied_s(run, w->o.has_flush, &w->tied_s, err);
    w->tied_s = INFINITY;
    return FR_OK;
}

/* Of an iteration. Stages work while weights are under way, but a flush waits for them. */
static double planned_s(const struct work *w, const struct fr__pd_run *run)
{
    double pass_s = w->stages->pipeline_time_s;

    return w->o.has_flush ? pass_s * run->n_micros + w->tied_s
                          : fmax(pass_s, w->tied_s) * run->n_micros;
}

/* The planner counts no weights that two stages share. So what it found is held against its best
 * plan in which one stage has all that uses them, and that one is taken where it promises less. */
static enum fr_status hold_together(struct work *w, struct fr__pd_run *run, struct fr_error *err)
{
    struct work other = *w;
    struct fr__pd_run other_run = *run;
    char apart[32], together[32];
    enum fr_status st;

    FR_TRY(fr__pd_tied_layers(&other.o, w->pl, w->item_of, err));
    other.stages = NULL;
    st = fr__pd_plan(&w->profile, &other.o, w->pl->ctx, &other.stages, err);
    if (st == FR_ENOROOM) /* no such plan: the one that there is stays */
        return FR_OK;
    FR_TRY(st);
    st = seat(&other, &other_run, err);
    if (st == FR_OK && !isinf(w->tied_s) && fr__wants_log(w->pl->ctx))
        fr__log(w->pl->ctx, "stages share weights: an iteration of %s; in one stage: %s",
                fr__format_time(planned_s(w, run), apart, sizeof(apart)),
                fr__format_time(planned_s(&other, &other_run), together, sizeof(together)));
    if (st == FR_OK && planned_s(&other, &other_run) < planned_s(w, run)) {
        fr_stage_plan_free(w->stages);
        *w = other;
        *run = other_run;
        run->seats = &w->seats;
        return FR_OK;
    }
    fr_stage_plan_free(other.stages);
    return st;
}

static void log_stages(const struct work *w, const struct fr__pd_run *run)
{
    const struct fr_stage_plan *s = w->stages;
    char time[32], params[32], bound[32];

    if (!fr__wants_log(w->pl->ctx))
        return;
    fr__log(w->pl->ctx,
            "%zu stages (mode=%s, %zu states), %u micro-batches of %.17g samples: PipeDream "
            "promises one every %s",
            s->n_stages, s->mode, s->n_planned, run->n_micros, run->batch,
            fr__format_time(s->pipeline_time_s, time, sizeof(time)));
    if (s->is_restricted)
        fr__log(w->pl->ctx,
                "restricted: cuts go through a single tensor, of over %zu places; none takes less "
                "than %s",
                s->n_states_at_least, fr__format_time(s->lower_bound_s, bound, sizeof(bound)));
    for (size_t i = 0; i < s->n_stages; i++)
        fr__log(w->pl->ctx, "stage %zu: %zu layers from %s, %u replicas from %s, %s, %s", i,
                s->stages[i].n_layers,
                s->stages[i].n_layers ? w->profile.layers[s->stages[i].layers[0]].name : "none",
                s->stages[i].replicas,
                w->pl->in->topo->devices[run->seats->devices[i * run->seats->most]].name,
                fr__format_time(s->stages[i].time_s, time, sizeof(time)),
                fr__format_bytes(s->stages[i].param_bytes, params, sizeof(params)));
}

/* The planner counts passes, sums of gradients and, if asked to, what goes over cuts: of the
 * slowest stage, for ever; and weights that stages share. */
static enum fr_status promise(struct work *w, const struct fr__pd_run *run, struct fr_error *err)
{
    char by[64], left_out[160];

    snprintf(by, sizeof(by), "%s of PipeDream's planner, mode=%s",
             w->tied_s > w->stages->pipeline_time_s ? "tied weights between stages"
                                                    : "slowest stage",
             w->stages->mode);
    snprintf(left_out, sizeof(left_out),
             "%s%supdates, waits of stages for each other, interference",
             w->o.has_flush ? "filling and emptying the pipeline, " : "",
             w->o.compression > 0 ? "" : "transfers between stages, ");
    return fr__decisions_promise(w->pl->in,
                                 &(struct fr_decided_promise){.planned_s = planned_s(w, run),
                                                              .by = by,
                                                              .left_out = left_out},
                                 &w->stages, err);
}

static enum fr_status place(struct work *w, struct fr_error *err)
{
    struct fr__pd_run run = {.pl = w->pl};

    FR_TRY(fr__pd_read_options(w->pl->in->options, &w->o, err));
    if (w->o.compression_is_auto)
        w->o.compression = 1; /* the engine will run it: what goes over cuts takes time */
    w->line = fr__arena_alloc(w->pl->arena, w->pl->in->n_devices, sizeof(*w->line));
    if (!w->line)
        return fr__fail_nomem(err);
    FR_TRY(fr__pd_line(w->pl, w->line, err));
    FR_TRY(fr__pd_levels_of(&w->o, w->pl->in, w->line, err));
    FR_TRY(choose_batch(w, &run, err));
    FR_TRY(fr__pd_profile_of(&w->profile, &w->item_of, w->pl, run.batch, err));
    FR_TRY(fr__pd_plan(&w->profile, &w->o, w->pl->ctx, &w->stages, err));
    FR_TRY(seat(w, &run, err));
    if (w->tied_s > 0)
        FR_TRY(hold_together(w, &run, err));
    log_stages(w, &run);
    FR_TRY(w->o.has_flush ? fr__pd_place(&run, err) : fr__pd_place_async(&run, err));
    return promise(w, &run, err);
}

static enum fr_status plan(const struct fr_problem *in, const struct fr_context *ctx,
                           struct fr_plan *out, struct fr_error *err)
{
    struct fr__placer pl;
    struct work w = {.pl = &pl};
    enum fr_status st;

    FR_TRY(fr__check_problem(in, err));
    st = fr__placer_init(&pl, in, ctx, out, err);
    if (st == FR_OK)
        st = place(&w, err);
    fr_stage_plan_free(w.stages);
    fr__placer_fini(&pl);
    return st;
}

const struct fr_strategy fr__strategy_pipedream = {
    .name = "pipedream",
    .summary = "PipeDream's planner: stages of layers, replicated, by a measured profile",
    .source = "Narayanan et al., PipeDream, SOSP 2019, section 3.1, and its published optimizer",
    .options = fr__pd_option_list,
    .plan = plan,
    .plan_stages = plan_stages,
};
