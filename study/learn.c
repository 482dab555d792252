/* study/learn.c - asks a question round by round. */
#include "config.h"

#include "study/learn.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/names.h"
#include "base/units.h"
#include "study/record.h"
#include "study/session.h"
#include "strategies/fastt/learn/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double ROUNDING = 1e-9; /* a smaller change is of no sample */

struct box {
    struct fr_learning learning;
    struct fr__arena *arena;
};

void fr_learn_options_init(struct fr_learn_options *o)
{
    *o = (struct fr_learn_options){.rounds = 100,
                                   .iterations = 10,
                                   .period = 500,
                                   .eps = 0.05,
                                   .activation_s = 30,
                                   .drift_factor = 1};
}

static const char *const outcome_names[FR_N_LEARN_OUTCOMES] = {
    [FR_LEARN_FIRST] = "first",
    [FR_LEARN_KEPT] = "kept",
    [FR_LEARN_ROLLED_BACK] = "rolled back",
    [FR_LEARN_SAME] = "same again",
    [FR_LEARN_REJECTED] = "was slower before",
    [FR_LEARN_NOT_BETTER] = "no better",
    [FR_LEARN_WATCHED] = "watched",
    [FR_LEARN_CHANGED] = "has changed",
};
static const struct fr__name_list outcomes = FR__NAMES(outcome_names);

const char *fr_learn_outcome_name(enum fr_learn_outcome o)
{
    return fr__name_of(&outcomes, o);
}

/* ---- the record ---- */

static const char *gpu_name(const struct fr_problem *in, uint32_t i)
{
    return in->topo->devices[in->devices[i]].name;
}

static const char *name_change(struct fr__arena *a, const struct fr__learned_change *c,
                               const struct fr_problem *in)
{
    char text[512];

    if (c->most < ROUNDING)
        return "";
    if (c->is_move)
        snprintf(text, sizeof(text), "%s to %s", gpu_name(in, c->device), gpu_name(in, c->other));
    else
        snprintf(text, sizeof(text), "%s on %s", c->what, gpu_name(in, c->device));
    return fr__arena_strdup(a, text);
}

static bool fill_rounds(struct box *b, const struct fr__learning *g, const struct fr_problem *in)
{
    struct fr_learn_round *rounds = fr__arena_alloc(b->arena, g->n_rounds, sizeof(*rounds));

    for (size_t i = 0; rounds && i < g->n_rounds; i++) {
        const struct fr__learn_round *r = &g->rounds[i];

        rounds[i] =
            (struct fr_learn_round){.outcome = (enum fr_learn_outcome)r->verdict,
                                    .is_profile = r->is_profile,
                                    .is_settled = r->is_settled,
                                    .iteration = r->first_iteration,
                                    .strategy = r->strategy,
                                    .in_use = r->in_use,
                                    .planned_s = r->planned_s,
                                    .estimated_s = r->estimated_s,
                                    .measured_s = r->measured_s,
                                    .activation_s = r->activation_s,
                                    .n_ops = r->n_ops,
                                    .n_splits = r->n_splits,
                                    .n_gpus = r->n_devices,
                                    .n_measured = r->change.n_measured,
                                    .n_new = r->change.n_new,
                                    .n_changed = r->change.n_changed,
                                    .change = r->change.most < ROUNDING ? 0 : r->change.most,
                                    .before_s = r->change.before_s,
                                    .after_s = r->change.after_s,
                                    .changed = name_change(b->arena, &r->change, in)};
        if (!rounds[i].changed)
            return false;
        if (r->is_profile && r->verdict != FR__LEARN_KEPT && r->change.n_changed > 0)
            b->learning.has_changed = true;
    }
    b->learning.rounds = rounds;
    b->learning.n_rounds = g->n_rounds;
    return rounds;
}

/* Of the parts of an operation the first stands for all. */
static bool is_first_part(const struct fr__dag_op *o)
{
    return o->role == FR__DAG_OP && o->n_parts > 1 && o->part == 0;
}

static bool fill_splits(struct box *b, const struct fr__dag *dag)
{
    static const char *const dims[] = {"whole", "batch", "channels"};
    const char **splits = fr__arena_alloc(b->arena, dag->n_ops + 1, sizeof(*splits));
    size_t n = 0;

    for (size_t i = 0; splits && i < dag->n_ops; i++) {
        const struct fr__dag_op *o = &dag->ops[i];
        char replica[32] = "", text[512];

        if (!is_first_part(o))
            continue;
        if (o->replica != FR_NONE)
            snprintf(replica, sizeof(replica), " of replica %u", o->replica + 1u);
        snprintf(text, sizeof(text), "%s%s in %u along the %s", dag->pl->graph->ops[o->op].name,
                 replica, (unsigned)o->n_parts, dims[o->dim]);
        splits[n] = fr__arena_strdup(b->arena, text);
        if (!splits[n++])
            return false;
    }
    b->learning.splits = splits;
    b->learning.n_splits = n;
    return splits;
}

static bool fill_gpus(struct box *b, const struct fr__learning *g, const struct fr_problem *in)
{
    struct fr_learn_gpu *gpus = fr__arena_alloc(b->arena, in->n_devices, sizeof(*gpus));

    for (uint32_t d = 0; gpus && d < in->n_devices; d++) {
        gpus[d].name = fr__arena_strdup(b->arena, gpu_name(in, d));
        for (size_t i = 0; i < g->in_use.dag->n_ops; i++)
            gpus[d].n_ops +=
                g->in_use.device[i] == d && g->in_use.dag->ops[i].role != FR__DAG_VARIABLE;
        if (!gpus[d].name)
            return false;
    }
    b->learning.gpus = gpus;
    b->learning.n_gpus_total = in->topo->n_gpus;
    b->learning.n_gpus = in->n_devices;
    return gpus;
}

static bool fill(struct box *b, const struct fr__learn_sim *sim, const struct fr_problem *in,
                 const struct fr_question *q)
{
    const struct fr__learning *g = fr__learn_sim_result(sim);
    struct fr_learning *l = &b->learning;

    l->workload = fr__arena_strdup(b->arena, in->graph->name);
    l->topology = fr__arena_strdup(b->arena, in->topo->name);
    l->strategy = fr__arena_strdup(b->arena, q->strategy);
    l->global_batch = in->global_batch;
    l->seed = q->run.seed;
    l->is_data_parallel = fr__learn_sim_is_data_parallel(sim);
    l->has_converged = g->has_converged;
    l->n_pre_training = g->n_pre_training;
    l->n_activated = g->n_activated;
    l->n_rolled_back = g->n_rolled_back;
    l->first_s = g->rounds[0].measured_s;
    l->in_use_s = g->in_use_s;
    l->n_iterations = g->n_iterations;
    l->training_s = g->training_s;
    l->activation_s = g->activation_s;
    return l->workload && l->topology && l->strategy && fill_rounds(b, g, in) &&
           fill_splits(b, g->in_use.dag) && fill_gpus(b, g, in);
}

static enum fr_status make_record(struct fr_learning **out, const struct fr__learn_sim *sim,
                                  const struct fr_problem *in, const struct fr_question *q,
                                  struct fr_error *err)
{
    struct fr__arena *arena = fr__arena_new();
    struct box *b = arena ? fr__arena_alloc(arena, 1, sizeof(*b)) : NULL;

    if (b)
        b->arena = arena;
    if (!b || !fill(b, sim, in, q)) {
        fr__arena_free(arena);
        return fr__fail_nomem(err);
    }
    b->learning.priv = b;
    *out = &b->learning;
    return FR_OK;
}

void fr_learning_free(struct fr_learning *l)
{
    struct box *b = l ? l->priv : NULL;

    if (b)
        fr__arena_free(b->arena);
}

/* ---- learning ---- */

static enum fr_status check(const struct fr_learn_options *o, size_t n_gpus, struct fr_error *err)
{
    char text[40];

    if (o->drift_gpu >= n_gpus)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "GPU %u is to drift, but those in use are 0 to %zu", o->drift_gpu,
                        n_gpus - 1);
    if (!(o->drift_factor > 0) || !isfinite(o->drift_factor))
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "a drift by a factor of %s is none",
                        fr__format_double(o->drift_factor, text, sizeof(text)));
    if (!(o->eps > 0) || !isfinite(o->eps))
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "a change of %s is no bound, expected a number above 0",
                        fr__format_double(o->eps, text, sizeof(text)));
    if (o->iterations == 0)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "no iteration is to be measured in a round");
    return FR_OK;
}

static enum fr_status learn_on(struct fr_learning **out, const struct fr_setting *s,
                               const struct fr_question *q, const struct fr_learn_options *o,
                               const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr__drift drift = {
        .from = o->drift_from, .device = o->drift_gpu, .factor = o->drift_factor};
    const struct fr__learn_options how = {.iterations = o->iterations,
                                          .max_rounds = o->rounds,
                                          .n_profiles = o->profiles,
                                          .period = o->period,
                                          .eps = o->eps,
                                          .activation_s = o->activation_s};
    const struct fr_strategy *strategy;
    struct fr_option_values values;
    struct fr_run_options run = q->run;
    struct fr_interference interference;
    struct fr__learn_sim *sim = NULL;
    struct fr_problem problem;
    uint32_t *devices = NULL;
    enum fr_status st;

    FR_TRY(fr_strategy_parse(q->strategy, &strategy, &values, err));
    FR_TRY(fr__problem_make(&problem, &devices, s, q, err));
    problem.options = &values;
    st = check(o, problem.n_devices, err);
    run.interference = fr__interference_of(s->costs, &interference);
    if (st == FR_OK)
        st = fr__learn_sim(&sim, &problem, strategy, &how, &run, &drift, ctx, err);
    if (st == FR_OK)
        st = make_record(out, sim, &problem, q, err);
    fr__learn_sim_free(sim);
    free(devices);
    return st;
}

enum fr_status fr_learn(struct fr_learning **out, const struct fr_question *q,
                        const struct fr_learn_options *o, const struct fr_context *ctx,
                        struct fr_error *err)
{
    struct fr_session *session = fr_session_new(NULL);
    struct fr_question question = *q;
    struct fr_setting s;
    enum fr_status st;

    if (!session)
        return fr__fail_nomem(err);
    if (!question.strategy)
        question.strategy = "os-dpos";
    st = fr_session_setting(session, &question, &s, err);
    if (st == FR_OK) {
        st = learn_on(out, &s, &question, o, ctx, err);
        fr_setting_fini(&s);
    }
    fr_session_free(session);
    return st;
}
