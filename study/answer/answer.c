/* study/answer/answer.c - from a question to its record: load, plan, run. */
#include "config.h"

#include "base/error.h"
#include "calibrate/power/clocks.h"
#include "plan/internal.h"
#include "study/question/interference.h"
#include "study/session/grown.h"
#include "study/question/host.h"
#include "study/answer/cuts.h"
#include "study/answer/recut.h"
#include "study/recipes/recipes.h"
#include "study/session/kept.h"
#include "study/answer/record.h"
#include "study/question/slow.h"
#include "study/study.h"
#include "study/question/variation.h"
#include "workloads/graph/formats.h"
#include "workloads/graph/totals.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Steps of rings that take a few seconds if several rings share the bytes; see fr_collectives. */
static const double MOST_RING_STEPS = 5e6;

static double clock_s(clockid_t id)
{
    struct timespec t;

    if (clock_gettime(id, &t) != 0)
        return 0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum fr_status choose_batch(const struct fr_question *q, const struct fr_graph *g,
                                   size_t n_gpus, uint32_t *batch, struct fr_error *err)
{
    if (q->global_batch && q->batch_per_gpu)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "a global batch and a batch per GPU exclude each other");
    if (q->batch_per_gpu && n_gpus > UINT32_MAX / q->batch_per_gpu)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "%u samples on each of %zu GPUs are too many",
                        q->batch_per_gpu, n_gpus);
    *batch = q->global_batch    ? q->global_batch
             : q->batch_per_gpu ? q->batch_per_gpu * (uint32_t)n_gpus
                                : g->batch;
    return FR_OK;
}

/* Replaces a synchronous plan of one iteration by one of n iterations. */
static enum fr_status unroll(struct fr__making *m, uint32_t n, struct fr_error *err)
{
    struct fr_plan *many;

    if (fr_plan_view(m->plan)->n_iterations > 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "this strategy's plan already holds %zu iterations",
                        fr_plan_view(m->plan)->n_iterations);
    FR_TRY(fr_plan_unroll(m->plan, n, &many, err));
    fr_plan_free(m->plan);
    m->plan = many;
    return FR_OK;
}

/* Applies the order asked for, if it changes the plan itself. */
static enum fr_status put_in_order(struct fr__making *m, struct fr_error *err)
{
    struct fr_plan *ordered;

    if (!fr_order_is_pass(m->options.order))
        return FR_OK;
    FR_TRY(fr_run_order(m->plan, &m->options, &ordered, &m->n_ordered, err));
    if (m->question->n_seeds > 1)
        m->unordered = m->plan;
    else
        fr_plan_free(m->plan);
    m->plan = ordered;
    return FR_OK;
}

/* Steps of one ring, over all collectives of the plan that have no cost of their own. */
static double ring_steps(const struct fr_plan *p)
{
    const struct fr_plan_view *v = fr_plan_view(p);
    double steps = 0;

    for (size_t c = 0; c < v->n_collectives; c++) {
        const struct fr_collective *k = &v->collectives[c];

        if (!k->has_cost)
            steps += fr_collective_steps(k->kind, fr_plan_group_size(p, k->group), k->bytes);
    }
    return steps;
}

/* By hand, or as NCCL would choose; rings where rings are asked for, or data sheets alone. */
static enum fr_status choose_way(struct fr__making *m, struct fr_error *err)
{
    const struct fr_question *q = m->question;
    struct fr_collective_options way = q->way;
    bool is_measured = !q->costs || strcmp(q->costs, "datasheet") != 0;
    bool wants_rings = q->collectives != FR_COLLECTIVES_AUTO || q->run.rings > 0 || !is_measured;

    if (wants_rings && !way.algorithm && !way.protocol)
        return FR_OK;
    way.algorithm = way.algorithm ? way.algorithm : "nccl";
    way.as_measured = is_measured;
    FR_TRY(fr_collective_way_new(&m->way, &way, err));
    m->options.way = m->way;
    return FR_OK;
}

/* For a question that asks for room alone. */
static enum fr_status say_overfull(const struct fr__making *m, bool is_overfull,
                                   struct fr_error *err)
{
    *m->question->is_overfull = is_overfull;
    return is_overfull ? fr__fail(err, FR_ENOROOM, FR_NOWHERE,
                                  "what stays for the whole iteration does not fit in memory")
                       : FR_OK;
}

/* Whether no plan can fit, before there is one: what all GPUs must hold between them at the end of
 * the forward pass is more than they have. */
static enum fr_status check_all_room(const struct fr__making *m, const struct fr_problem *in,
                                     struct fr_error *err)
{
    double has_bytes = 0, least_bytes;

    FR_TRY(fr__graph_kept_bytes(in->graph, in->global_batch, &least_bytes, err));
    for (size_t i = 0; i < in->n_devices; i++)
        has_bytes += (double)in->topo->types[in->topo->devices[in->devices[i]].type].mem_bytes;
    return say_overfull(m, least_bytes > has_bytes, err);
}

/* Whether what a device holds for the whole iteration is more than its memory. */
static enum fr_status check_room(const struct fr__making *m, struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(m->plan);
    const struct fr_topo *t = v->topo;
    double *bytes = calloc(t->n_devices + 1, sizeof(*bytes));
    bool is_overfull = false;

    if (!bytes)
        return fr__fail_nomem(err);
    for (size_t b = 0; b < v->n_buffers; b++)
        if (v->buffers[b].alloc == FR_NONE && v->buffers[b].alias == FR_NONE)
            bytes[v->buffers[b].device] += (double)v->buffers[b].bytes;
    for (size_t d = 0; d < t->n_devices; d++)
        is_overfull = is_overfull || bytes[d] > (double)t->types[t->devices[d].type].mem_bytes;
    free(bytes);
    return say_overfull(m, is_overfull, err);
}

/* How the plan will be run, as far as the plan need not be known for it. */
static enum fr_status choose_run(struct fr__making *m, const struct fr_problem *problem,
                                 struct fr_error *err)
{
    const struct fr_question *q = m->question;

    m->options = q->run;
    if (m->slow)
        m->options.device_slowdown = m->slow;
    if (m->slowness)
        m->options.slowness = m->slowness;
    fr__host_choose(m);
    FR_TRY(choose_way(m, err));
    m->options.messages = fr_cost_messages(problem->costs);
    m->options.want = FR_WANT_TASKS | FR_WANT_ACCOUNT | FR_WANT_MEMORY | FR_WANT_BOUND;
    if (!q->is_brief)
        m->options.want |= FR_WANT_USUAL | FR_WANT_HOLDERS;
    if (q->sensitivity != FR_SENSITIVITY_NONE || fr__is_corrected(&m->correction))
        m->options.want |= FR_WANT_PARTS;
    if (q->run.channels == 1)
        m->options.want |= FR_WANT_TOTALS;
    m->options.context = m->context;
    m->options.interference = fr__interference_of(m->setting->costs, q, &m->interference);
    /* a user who says how collectives run wants no fitted time */
    m->options.rings_only = q->collectives != FR_COLLECTIVES_AUTO || q->run.rings > 0 ||
                            q->way.algorithm || q->way.protocol;
    m->options.closed_form_collectives = q->collectives == FR_COLLECTIVES_CLOSED;
    return FR_OK;
}

/* A plan without work takes no time, which would look like the best of answers. */
static enum fr_status check_content(const struct fr_plan *plan, const struct fr_strategy *strategy,
                                    struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(plan);

    for (size_t t = 0; t < v->n_tasks; t++)
        if (v->tasks[t].kind == FR_TASK_COMPUTE)
            return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "strategy '%.40s' made a plan in which no GPU computes anything (%zu tasks)",
                    strategy->name, v->n_tasks);
}

/* Casts are ops of the graph that a strategy makes for each rank, for units that its devices
 * have. */
static enum fr_status check_formats(const struct fr_problem *p, const struct fr_strategy *strategy,
                                    struct fr_error *err)
{
    const struct fr_formats *f = p->graph->formats;

    if (!f)
        return FR_OK;
    if (!strategy->adds_casts)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "precision %.40s: strategy '%.40s' adds no casts; take hybrid, which "
                        "replicates and cuts as dp and pp do (hybrid:pp=4)",
                        f->name, strategy->name);
    for (size_t i = 0; i < p->n_devices; i++)
        FR_TRY(fr__formats_check_device(f, &p->topo->types[p->topo->devices[p->devices[i]].type],
                                        err));
    return FR_OK;
}

static enum fr_status make_plan(struct fr__making *m, const struct fr_problem *problem,
                                const struct fr_strategy *strategy, struct fr_error *err)
{
    struct fr_problem asked = *problem;
    struct fr_context context = *m->context;

    if (m->cut.kind > 0) /* the log tells of the first cut, and of the fastest one's time */
        context.log = NULL;
    asked.run = &m->options;
    asked.simulation = m->simulation;
    asked.decisions = &m->decisions;
    asked.memory = &m->cut_memory;
    asked.cut = &m->cut;
    m->plan = fr_plan_new(problem->topo, problem->graph);
    if (!m->plan)
        return fr__fail_nomem(err);
    fr__plan_limit(m->plan, m->context->memory_bytes);
    FR_TRY(check_formats(problem, strategy, err));
    FR_TRY(strategy->plan(&asked, &context, m->plan, err));
    if (m->question->is_brief && strategy->is_trusted)
        fr__plan_trust(m->plan);
    FR_TRY(fr_plan_finish(m->plan, err));
    return check_content(m->plan, strategy, err);
}

/* A plan that can be run. */
static enum fr_status plan_once(struct fr__making *m, const struct fr_problem *problem,
                                const struct fr_strategy *strategy, struct fr_error *err)
{
    const struct fr_question *q = m->question;
    double cpu_s = clock_s(CLOCK_THREAD_CPUTIME_ID);

    if (q->is_overfull && strategy->keeps_whole_batch)
        FR_TRY(check_all_room(m, problem, err));
    FR_TRY(make_plan(m, problem, strategy, err));
    if (q->is_overfull)
        FR_TRY(check_room(m, err));
    FR_TRY(put_in_order(m, err));
    if (q->iterations > 1)
        FR_TRY(unroll(m, q->iterations, err));
    m->plan_cpu_s += q->no_timing ? 0 : clock_s(CLOCK_THREAD_CPUTIME_ID) - cpu_s;
    return FR_OK;
}

static enum fr_status run_once(struct fr__making *m, struct fr_error *err)
{
    if (m->question->collectives == FR_COLLECTIVES_AUTO && ring_steps(m->plan) > MOST_RING_STEPS)
        m->options.closed_form_collectives = true;
    return fr__host_run(m, err);
}

/* Plans and runs into m, which owns what it gets even on failure. */
static enum fr_status plan_and_run(struct fr__making *m, const struct fr_problem *problem,
                                   const struct fr_strategy *strategy, struct fr_error *err)
{
    double wall_s = clock_s(CLOCK_MONOTONIC);

    FR_TRY(plan_once(m, problem, strategy, err));
    FR_TRY(run_once(m, err));
    m->wall_s += m->question->no_timing ? 0 : clock_s(CLOCK_MONOTONIC) - wall_s;
    return FR_OK;
}

struct replanning {
    const struct fr_problem *problem;
    const struct fr_strategy *strategy;
};

static enum fr_status plan_again(struct fr__making *m, void *user, struct fr_error *err)
{
    const struct replanning *r = user;

    return plan_once(m, r->problem, r->strategy, err);
}

/* Where the run is far from what was planned for the cut, by runs of others. */
static enum fr_status decide_cut(struct fr__making *m, const struct fr_problem *problem,
                                 const struct fr_strategy *strategy, struct fr_error *err)
{
    struct replanning user = {problem, strategy};
    const struct fr__replanner by = {.plan = plan_again, .run = run_once, .user = &user};
    double wall_s = clock_s(CLOCK_MONOTONIC);

    FR_TRY(fr__cuts_decide(m, &by, err));
    m->wall_s += m->question->no_timing ? 0 : clock_s(CLOCK_MONOTONIC) - wall_s;
    return FR_OK;
}

/* Until the plan holds no more than it was made for, or no cut is believed to. */
static enum fr_status plan_within_memory(struct fr__making *m, const struct fr_problem *problem,
                                         const struct fr_strategy *strategy, struct fr_error *err)
{
    struct fr__recut recut;
    enum fr_status st;

    FR_TRY(choose_run(m, problem, err));
    st = fr__recut_init(&recut, m, err);
    if (st == FR_OK)
        do
            st = plan_and_run(m, problem, strategy, err);
        while (st == FR_OK && fr__recut_again(&recut));
    if (st == FR_OK)
        st = decide_cut(m, problem, strategy, err);
    fr__recut_fini(&recut);
    return st;
}

/* A question names its GPUs or counts them, not both. */
static enum fr_status check_choice(const struct fr_question *q, struct fr_error *err)
{
    if (q->devices && q->n_gpus > 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, FR__COUNTED_AND_NAMED);
    if (q->devices && q->is_spread)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, FR__SPREAD_AND_NAMED);
    return FR_OK;
}

enum fr_status fr__devices_choose(uint32_t **devices, size_t *n, const struct fr_topo *topo,
                                  const struct fr_question *q, struct fr_error *err)
{
    size_t n_counted = q->n_gpus ? q->n_gpus : topo->n_gpus;
    uint32_t *list;
    enum fr_status st;

    FR_TRY(check_choice(q, err));
    list = calloc(topo->n_gpus + 1, sizeof(*list));
    if (!list)
        return fr__fail_nomem(err);
    if (q->devices)
        st = fr_topo_select_named(topo, q->devices, list, &n_counted, err);
    else
        st = fr_topo_select(topo, n_counted, q->is_spread, list, err);
    if (st != FR_OK) {
        free(list);
        return st;
    }
    *devices = list;
    *n = n_counted;
    return FR_OK;
}

enum fr_status fr__problem_make(struct fr_problem *out, uint32_t **devices,
                                const struct fr_setting *s, const struct fr_question *q,
                                struct fr_error *err)
{
    struct fr_problem p = {.topo = s->topo,
                           .graph = s->graph,
                           .costs = s->costs,
                           .optimizer = q->optimizer,
                           .updates = q->updates,
                           .keeps_gradients = q->keeps_gradients,
                           .steps_by_ops = fr__recipe_form(q).is_tf1,
                           .why_devices_differ = fr__why_devices_differ(q)};
    uint32_t *list;
    enum fr_status st;

    FR_TRY(fr__devices_choose(&list, &p.n_devices, s->topo, q, err));
    st = choose_batch(q, s->graph, p.n_devices, &p.global_batch, err);
    if (st != FR_OK) {
        free(list);
        return st;
    }
    p.devices = *devices = list;
    *out = p;
    return FR_OK;
}

enum fr_status fr__answer_step(const struct fr_setting *s, const struct fr_question *q,
                               const struct fr_context *ctx, struct fr__simulated_step *out,
                               struct fr_error *err)
{
    struct fr_record *r = NULL;
    enum fr_status st;

    FR_TRY(fr_answer_on(s, q, ctx, &r, err));
    out->computed_s = r->run->parts_s ? r->iteration_s - r->input_wait_s : 0;
    out->input_s = r->input_s;
    out->bytes = (double)r->peak_bytes;
    out->n_events += r->run->stats.events;
    for (size_t i = 0; r->run->parts_s && i < fr_n_resources(s->topo); i++)
        out->parts_s[i] = r->run->parts_s[i];
    st = fr__step_units(&out->units, r->plan, r->run, err);
    fr_record_free(r);
    return st;
}

/* Corrects the question by the steps that were measured of it, or that its recipe was fitted to.
 * Slowness given by hand leaves no room for either. */
static enum fr_status correct(struct fr__making *m, struct fr_error *err)
{
    const struct fr_topo *t = m->setting->topo;
    const struct fr_question *q = m->question;
    const struct fr__asking asking = {
        .answer = fr__answer_step, .grow = fr__setting_grow, .release = fr_setting_fini};
    uint32_t each = m->global_batch / (uint32_t)m->n_devices, type = t->devices[m->devices[0]].type;
    struct fr__believed believed = {.n_steps = 0};

    if (q->run.slowness && !q->measured)
        return FR_OK;
    if (q->run.slowness)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "a measured step and slowness given by hand exclude each other");
    FR_TRY(fr__recipe_believe(
        q,
        &(struct fr__fitted_of){.graph = m->setting->graph,
                                .workload = q->workload,
                                .gpu = t->types[type].name,
                                .n_gpus = m->n_devices,
                                .has_network =
                                    fr__place_of(t, m->devices, m->n_devices) == FR__MACHINES},
        &believed, err));
    if (!q->measured && believed.n_steps == 0)
        return FR_OK;
    FR_TRY(fr__correction_find(&m->correction, m->setting, q, m->devices, m->n_devices,
                               each ? each : 1, believed.n_steps ? &believed : NULL, &asking,
                               m->context, err));
    return fr__is_corrected(&m->correction)
               ? fr__correction_slowness(&m->slowness, &m->correction, t, type, err)
               : FR_OK;
}

static void note_size(struct fr__tools *t, const struct fr_plan *p)
{
    size_t n = fr_plan_view(p)->n_tasks;

    if (n > t->most_tasks)
        t->most_tasks = n;
}

enum fr_status fr_answer_on(const struct fr_setting *s, const struct fr_question *q,
                            const struct fr_context *ctx, struct fr_record **out,
                            struct fr_error *err)
{
    const struct fr_context nothing = {0};
    struct fr__making m = {.setting = s, .question = q, .context = ctx ? ctx : &nothing};
    struct fr_option_values values;
    const struct fr_strategy *strategy;
    struct fr_question made = *q; /* with what its recipe says */
    struct fr_problem problem;
    enum fr_status st;

    if (!q->strategy)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no strategy given (-s, --strategy)");
    FR_TRY(fr_strategy_parse(q->strategy, &strategy, &values, err));
    FR_TRY(fr__recipe_apply(&made, strategy, &values, err));
    m.question = q = &made;
    FR_TRY(fr__problem_make(&problem, &m.devices, s, q, err));
    problem.options = &values;
    problem.prefers_folding = q->is_overfull != NULL;
    m.n_devices = problem.n_devices;
    m.global_batch = problem.global_batch;
    st = fr__slow_devices(&m.slow, s->topo, q, err);
    if (st == FR_OK)
        st = correct(&m, err);
    if (st == FR_OK)
        st = fr__wait_for_slowest(&m, err);
    if (st == FR_OK)
        st = fr__tools_take(s, &m.tools, err);
    if (st == FR_OK) {
        m.simulation = m.tools->simulation;
        problem.memo = m.tools->memo;
        problem.params = m.tools->params;
        st = fr__clocks_make(&m.clocks, s, q, m.devices, m.n_devices, problem.memo, err);
        problem.clocks = m.clocks;
    }
    if (st == FR_OK) {
        st = plan_within_memory(&m, &problem, strategy, err);
        if (st == FR_OK)
            note_size(m.tools, m.plan);
    }
    if (st == FR_OK)
        st = fr__record_make(&m, out, err);
    if (st != FR_OK) {
        fr_decisions_free(m.decisions);
        fr_run_free(m.run);
        fr_plan_free(m.plan);
    }
    fr__clocks_free(m.clocks);
    fr__tools_give(s, m.tools);
    free(m.cut_memory.believed_bytes);
    fr_collective_way_free(m.way);
    fr_plan_free(m.unordered);
    free(m.ahead_s);
    free(m.is_inside);
    free(m.slowness);
    free(m.slow);
    free(m.devices);
    return st;
}
