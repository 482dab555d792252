/* strategies/fastt/learn/sim.c - runs a placed dag on the simulator and reports what each operation
 * and transfer took. */
#include "config.h"

#include "strategies/fastt/learn/sim.h"

#include "base/error.h"
#include "base/rng.h"
#include "lowering/dag/plan.h"
#include "lowering/check_problem.h"

#include <math.h>
#include <stdlib.h>

/* Slow devices are drawn as in sim/random.c, from other streams of random numbers. */
static const double LEAST_FACTOR = 0.1;
static const uint64_t DEVICE_STREAMS = (uint64_t)1 << 41, ITERATION_STREAM = (uint64_t)1 << 42;

struct fr__learn_sim {
    const struct fr_problem *in;
    struct fr_context quiet; /* the caller's, without the progress of single runs */
    struct fr_simulation *simulation;
    struct fr_run_options run;
    struct fr__drift drift;
    double *slowdown, *drifted; /* [n_devices of the topology] before and after */
    uint32_t *index_of;         /* [n_devices of the topology] among the problem's */
    struct fr_plan *scratch;    /* the placer of the start adds to it; it is never run */
    struct fr__placer pl;
    struct fr__fastt fastt;
    struct fr__learning *learning;
};

/* A strategy's plan, and where its operations are in it. */
struct measured {
    struct fr__placer pl;
    struct fr_plan *plan;
    uint32_t *task_of; /* [n_ops] */
};

static void fini_measured(struct measured *m)
{
    fr_plan_free(m->plan);
    if (m->pl.arena)
        fr__placer_fini(&m->pl);
    free(m->task_of);
}

/* Applies an order that changes the plan itself (fr_order_is_pass). Tasks keep their numbers. */
static enum fr_status put_in_order(const struct fr__learn_sim *sim, struct measured *m,
                                   struct fr_error *err)
{
    struct fr_plan *ordered;
    size_t n_ordered;

    if (!fr_order_is_pass(sim->run.order))
        return FR_OK;
    FR_TRY(fr_run_order(m->plan, &sim->run, &ordered, &n_ordered, err));
    fr_plan_free(m->plan);
    m->plan = ordered;
    return FR_OK;
}

static enum fr_status make_plan(struct fr__learn_sim *sim, const struct fr__learn_strategy *s,
                                struct measured *m, struct fr_error *err)
{
    struct fr__dag dag = *s->dag; /* tasks cost what the devices' types say */
    const struct fr__placed_dag placed = {.dag = &dag, .device = s->device, .order = s->order};

    dag.n_types = sim->in->topo->n_types;
    m->task_of = calloc(dag.n_ops + 1, sizeof(*m->task_of));
    m->plan = fr_plan_new(sim->in->topo, sim->in->graph);
    if (!m->task_of || !m->plan)
        return fr__fail_nomem(err);
    FR_TRY(fr__placer_init(&m->pl, sim->in, NULL, m->plan, err));
    FR_TRY(fr__dag_plan(&m->pl, &placed, m->task_of, err));
    FR_TRY(fr_plan_finish(m->plan, err));
    return put_in_order(sim, m, err);
}

static bool is_over(const struct fr_run *r)
{
    for (size_t d = 0; d < r->n_devices; d++)
        if (r->devices[d].is_over)
            return true;
    return false;
}

static enum fr_status take_samples(const struct fr__learn_sim *sim,
                                   const struct fr__learn_strategy *s, const struct measured *m,
                                   const struct fr_run *r, struct fr__learned *into,
                                   struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(m->plan);

    for (uint32_t op = 0; op < s->dag->n_ops; op++) {
        uint32_t t = m->task_of[op];

        FR_TRY(
            fr__learned_add_op(into, s->dag, op, s->device[op], r->end_s[t] - r->start_s[t], err));
    }
    for (size_t i = 0; i < v->n_transfers; i++) {
        const struct fr_transfer *x = &v->transfers[i];

        FR_TRY(fr__learned_add_move(into, sim->index_of[v->tasks[x->send].device],
                                    sim->index_of[v->tasks[x->recv].device], x->bytes,
                                    r->end_s[x->recv] - r->start_s[x->send], err));
    }
    return FR_OK;
}

static uint64_t seed_of(const struct fr__learn_sim *sim, uint64_t iteration)
{
    struct fr__rng rng;

    fr__rng_init(&rng, sim->run.seed, ITERATION_STREAM + iteration);
    return fr__rng_next(&rng);
}

static enum fr_status run_once(const struct fr__learn_sim *sim, const struct measured *m,
                               uint64_t iteration, struct fr_run **out, struct fr_error *err)
{
    struct fr_run_options o = sim->run;

    o.seed = seed_of(sim, iteration);
    o.device_cv = 0;
    o.device_slowdown = iteration >= sim->drift.from ? sim->drifted : sim->slowdown;
    o.context = &sim->quiet;
    return fr_simulation_run(sim->simulation, m->plan, &o, out, err);
}

/* Without jitter iterations differ only by drift. */
static bool is_repeated(const struct fr__learn_sim *sim, uint64_t iteration, uint64_t first)
{
    return iteration > first && sim->run.jitter_cv <= 0 && iteration != sim->drift.from;
}

static enum fr_status run_all(struct fr__learn_sim *sim, const struct fr__learn_strategy *s,
                              const struct measured *m, uint64_t first, unsigned n,
                              struct fr__learned *into, double *step_s, struct fr_error *err)
{
    struct fr_run *r = NULL;
    enum fr_status st = FR_OK;
    double sum_s = 0;

    for (uint64_t i = first; i < first + n && st == FR_OK; i++) {
        if (!is_repeated(sim, i, first)) {
            fr_run_free(r);
            r = NULL;
            st = run_once(sim, m, i, &r, err);
        }
        if (st == FR_OK && is_over(r))
            break;
        if (st == FR_OK)
            st = take_samples(sim, s, m, r, into, err);
        if (st == FR_OK)
            sum_s += r->makespan_s;
    }
    if (st == FR_OK)
        *step_s = is_over(r) ? (double)INFINITY : sum_s / n;
    fr_run_free(r);
    return st;
}

static enum fr_status measure(void *user, const struct fr__learn_strategy *s, uint64_t first,
                              unsigned n, struct fr__learned *into, double *step_s,
                              struct fr_error *err)
{
    struct fr__learn_sim *sim = user;
    struct measured m = {.plan = NULL};
    enum fr_status st = make_plan(sim, s, &m, err);

    if (st == FR_OK)
        st = run_all(sim, s, &m, first, n, into, step_s, err);
    fini_measured(&m);
    return st;
}

/* ---- the whole ---- */

static enum fr_status draw_devices(struct fr__learn_sim *sim, struct fr_error *err)
{
    const struct fr_topo *t = sim->in->topo;

    sim->slowdown = calloc(t->n_devices + 1, sizeof(*sim->slowdown));
    sim->drifted = calloc(t->n_devices + 1, sizeof(*sim->drifted));
    sim->index_of = calloc(t->n_devices + 1, sizeof(*sim->index_of));
    if (!sim->slowdown || !sim->drifted || !sim->index_of)
        return fr__fail_nomem(err);
    for (size_t d = 0; d < t->n_devices; d++) {
        struct fr__rng rng;

        fr__rng_init(&rng, sim->run.seed, DEVICE_STREAMS + d);
        sim->slowdown[d] = fmax(1 + sim->run.device_cv * fr__rng_normal(&rng), LEAST_FACTOR);
        sim->drifted[d] = sim->slowdown[d];
    }
    for (uint32_t i = 0; i < sim->in->n_devices; i++)
        sim->index_of[sim->in->devices[i]] = i;
    sim->drifted[sim->in->devices[sim->drift.device]] *= sim->drift.factor;
    return FR_OK;
}

static enum fr_status learn(struct fr__learn_sim *sim, const struct fr__fastt_options *how,
                            const struct fr__learn_options *o, const struct fr_context *ctx,
                            struct fr_error *err)
{
    const struct fr__learn_truth truth = {.user = sim, .measure = measure};
    struct fr__learn_options options = *o;

    options.search = how->search;
    if (!how->splits)
        options.search.max_parts = 1;
    FR_TRY(fr__check_problem(sim->in, err));
    FR_TRY(draw_devices(sim, err));
    FR_TRY(fr_simulation_new(&sim->simulation, sim->in->topo, err));
    sim->scratch = fr_plan_new(sim->in->topo, sim->in->graph);
    if (!sim->scratch)
        return fr__fail_nomem(err);
    FR_TRY(fr__placer_init(&sim->pl, sim->in, &sim->quiet, sim->scratch, err));
    FR_TRY(fr__fastt_prepare(&sim->fastt, &sim->pl, how->start, err));
    return fr__learn_run(&sim->learning, sim->fastt.start, &sim->fastt.machine, &options, &truth,
                         ctx, err);
}

enum fr_status fr__learn_sim(struct fr__learn_sim **out, const struct fr_problem *in,
                             const struct fr__fastt_options *how, const struct fr__learn_options *o,
                             const struct fr_run_options *run, const struct fr__drift *drift,
                             const struct fr_context *ctx, struct fr_error *err)
{
    struct fr__learn_sim *sim = calloc(1, sizeof(*sim));
    enum fr_status st;

    if (!sim)
        return fr__fail_nomem(err);
    sim->in = in;
    if (ctx)
        sim->quiet = (struct fr_context){.seed = ctx->seed, .cancel = ctx->cancel};
    sim->run = *run;
    sim->drift = *drift;
    st = learn(sim, how, o, ctx, err);
    if (st == FR_OK)
        *out = sim;
    else
        fr__learn_sim_free(sim);
    return st;
}

void fr__learn_sim_free(struct fr__learn_sim *s)
{
    if (!s)
        return;
    fr__learn_free(s->learning);
    fr__fastt_fini(&s->fastt);
    if (s->pl.arena)
        fr__placer_fini(&s->pl);
    fr_plan_free(s->scratch);
    fr_simulation_free(s->simulation);
    free(s->slowdown);
    free(s->drifted);
    free(s->index_of);
    free(s);
}

const struct fr__learning *fr__learn_sim_result(const struct fr__learn_sim *s)
{
    return s->learning;
}

bool fr__learn_sim_is_data_parallel(const struct fr__learn_sim *s)
{
    return s->fastt.is_data_parallel;
}
