/* strategies/fastt/learn/record.c - runs FastT's learning and copies its rounds, its splits and its
 * placement into a neutral record.
 *
 * It is separate from learn.c because it alone knows the names that a user sees.
 */
#include "config.h"

#include "strategies/fastt/learn/record.h"

#include "base/arena.h"
#include "base/error.h"
#include "lowering/learning_new.h"

#include <stdio.h>

static const double ROUNDING = 1e-9; /* relative; a smaller change comes from rounding alone */

static const char *name_change(struct fr__arena *a, const struct fr__learned_change *c,
                               const struct fr_learning *l)
{
    const char *gpu;
    char text[512];

    if (c->most < ROUNDING)
        return "";
    gpu = l->gpus[c->device].name;
    if (c->is_move)
        snprintf(text, sizeof(text), "%s to %s", gpu, l->gpus[c->other].name);
    else
        snprintf(text, sizeof(text), "%s on %s", c->what, gpu);
    return fr__arena_strdup(a, text);
}

static bool fill_rounds(struct fr_learning *l, struct fr__arena *a, const struct fr__learning *g)
{
    struct fr_learn_round *rounds = fr__arena_alloc(a, g->n_rounds, sizeof(*rounds));

    for (size_t i = 0; rounds && i < g->n_rounds; i++) {
        const struct fr__learn_round *r = &g->rounds[i];

        rounds[i] =
            (struct fr_learn_round){.outcome = r->verdict,
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
                                    .changed = name_change(a, &r->change, l)};
        if (!rounds[i].changed)
            return false;
        if (r->is_profile && r->verdict != FR_LEARN_KEPT && r->change.n_changed > 0)
            l->has_changed = true;
    }
    l->rounds = rounds;
    l->n_rounds = g->n_rounds;
    return rounds;
}

/* One part of a split operation is listed, and stands for all of them. */
static bool is_first_part(const struct fr__dag_op *o)
{
    return o->role == FR__DAG_OP && o->n_parts > 1 && o->part == 0;
}

static bool fill_splits(struct fr_learning *l, struct fr__arena *a, const struct fr__dag *dag)
{
    static const char *const dims[] = {"whole", "batch", "channels"};
    const char **splits = fr__arena_alloc(a, dag->n_ops + 1, sizeof(*splits));
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
        splits[n] = fr__arena_strdup(a, text);
        if (!splits[n++])
            return false;
    }
    l->splits = splits;
    l->n_splits = n;
    return splits;
}

static void count_ops(struct fr_learn_gpu gpus[], const struct fr__learn_strategy *s)
{
    for (size_t i = 0; i < s->dag->n_ops; i++)
        gpus[s->device[i]].n_ops += s->dag->ops[i].role != FR__DAG_VARIABLE;
}

static enum fr_status make_record(struct fr_learning **out, const struct fr__learn_sim *sim,
                                  const struct fr_problem *in, struct fr_error *err)
{
    const struct fr__learning *g = fr__learn_sim_result(sim);
    struct fr_learn_gpu *gpus;
    struct fr__arena *arena;
    struct fr_learning *l = fr__learning_new(in, &arena, &gpus);

    if (!l)
        return fr__fail_nomem(err);
    l->start = fr__learn_sim_is_data_parallel(sim) ? "dp" : "model";
    l->start_words = fr__learn_sim_is_data_parallel(sim) ? "data parallel" : "model parallel";
    if (in->n_devices == 1)
        l->start_words = "on one GPU";
    l->has_converged = g->has_converged;
    l->n_pre_training = g->n_pre_training;
    l->n_activated = g->n_activated;
    l->n_rolled_back = g->n_rolled_back;
    l->first_s = g->rounds[0].measured_s;
    l->in_use_s = g->in_use_s;
    l->n_iterations = g->n_iterations;
    l->training_s = g->training_s;
    l->activation_s = g->activation_s;
    count_ops(gpus, &g->in_use);
    if (!fill_rounds(l, arena, g) || !fill_splits(l, arena, g->in_use.dag)) {
        fr_learning_free(l);
        return fr__fail_nomem(err);
    }
    *out = l;
    return FR_OK;
}

enum fr_status fr__fastt_learn(const struct fr_problem *in, bool splits,
                               const struct fr_learn_options *o, const struct fr_run_options *run,
                               const struct fr_context *ctx, struct fr_learning **out,
                               struct fr_error *err)
{
    const struct fr__fastt_options how = fr__fastt_options(in->options, splits);
    const struct fr__drift drift = {
        .from = o->drift_from, .device = o->drift_gpu, .factor = o->drift_factor};
    const struct fr__learn_options rounds = {.iterations = o->iterations,
                                             .max_rounds = o->rounds,
                                             .n_profiles = o->profiles,
                                             .period = o->period,
                                             .eps = o->eps,
                                             .activation_s = o->activation_s};
    struct fr__learn_sim *sim = NULL;
    enum fr_status st = fr__learn_sim(&sim, in, &how, &rounds, run, &drift, ctx, err);

    if (st == FR_OK)
        st = make_record(out, sim, in, err);
    fr__learn_sim_free(sim);
    return st;
}
