/* strategies/fastt/learn/learn.c - the rounds of learning: pre-training, then profiles. The rules
 * are in learn.h. */
#include "config.h"

#include "strategies/fastt/learn/learn.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/rng.h"
#include "lowering/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A strategy, and the search that owns its dag (NULL: it is the start's). */
struct held {
    struct fr__learn_strategy s;
    struct fr__os_dpos *search;
    uint32_t *device, *order;
    uint64_t digest;
    double estimated_s;
    size_t n_splits;
};

struct loop {
    struct fr__learning out; /* must be first: its address is that of the loop */
    const struct fr__learn_options *o;
    const struct fr__learn_truth *truth;
    const struct fr_context *ctx;
    struct fr_context quiet; /* without the progress of single searches */
    struct fr__dag start;    /* with a column for each device */
    struct fr__dpos_machine m;
    uint32_t *type;
    double *latency_s, *s_per_byte;
    struct held current, tried;
    uint64_t *rejected; /* digests */
    size_t n_rejected, cap_rejected, cap_rounds;
    uint32_t n_strategies;
};

/* ---- strategies ---- */

static void drop(struct held *h)
{
    fr__os_dpos_free(h->search);
    free(h->device);
    free(h->order);
    *h = (struct held){0};
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h ^= x;
    return fr__splitmix64(&h);
}

/* A hash of where operations are and in which order each device runs them; of variables only where
 * they are. */
static uint64_t digest_of(const struct fr__learn_strategy *s, size_t n_devices, uint64_t chain[])
{
    uint64_t h = s->dag->n_ops;

    memset(chain, 0, n_devices * sizeof(*chain));
    for (size_t k = 0; k < s->dag->n_ops; k++) {
        uint32_t op = s->order[k], d = s->device[op];
        const struct fr__dag_op *o = &s->dag->ops[op];

        h += mix(op, d);
        if (o->role != FR__DAG_VARIABLE)
            chain[d] = mix(chain[d], mix((uint64_t)o->n_parts << 8 | o->dim, op));
    }
    for (size_t d = 0; d < n_devices; d++)
        h = mix(h, chain[d]);
    return h;
}

static enum fr_status hold(struct loop *l, struct held *h, const struct fr__dag *dag,
                           struct fr_error *err)
{
    h->device = calloc(dag->n_ops + 1, sizeof(*h->device));
    h->order = calloc(dag->n_ops + 1, sizeof(*h->order));
    if (!h->device || !h->order)
        return fr__fail_nomem(err);
    h->s = (struct fr__learn_strategy){
        .dag = dag, .device = h->device, .order = h->order, .number = l->n_strategies};
    return FR_OK;
}

static enum fr_status finish(struct loop *l, struct held *h, struct fr_error *err)
{
    uint64_t *chain = calloc(l->m.n_devices + 1, sizeof(*chain));

    if (!chain)
        return fr__fail_nomem(err);
    h->digest = digest_of(&h->s, l->m.n_devices, chain);
    free(chain);
    return FR_OK;
}

static enum fr_status make_first(struct loop *l, struct fr_error *err)
{
    struct held *h = &l->current;

    FR_TRY(hold(l, h, &l->start, err));
    FR_TRY(fr__learn_first(&l->start, &l->m, h->device, err));
    for (uint32_t i = 0; i < l->start.n_ops; i++)
        h->order[i] = i;
    h->estimated_s = NAN;
    l->n_strategies++;
    return finish(l, h, err);
}

/* Makes a plan from what is known; *fits false: it does not fit. */
static enum fr_status make_plan(struct loop *l, bool *fits, struct fr_error *err)
{
    struct fr__os_dpos_options how = l->o->search;
    struct fr__os_dpos_result r;
    struct held *h = &l->tried;

    drop(h);
    fr__learned_fill_costs(l->out.costs, &l->start);
    fr__learned_fill_links(l->out.costs, l->latency_s, l->s_per_byte);
    how.costs = fr__learned_split_costs();
    FR_TRY(fr__os_dpos_run(&h->search, &l->start, &l->m, &how, &l->quiet, &r, err));
    *fits = r.plan.outcome == FR__DPOS_DONE;
    if (!*fits)
        return FR_OK;
    FR_TRY(hold(l, h, r.dag, err));
    memcpy(h->device, r.plan.device, r.dag->n_ops * sizeof(*h->device));
    memcpy(h->order, r.plan.order, r.dag->n_ops * sizeof(*h->order));
    h->estimated_s = r.plan.makespan_s;
    h->n_splits = r.n_splits;
    return finish(l, h, err);
}

/* ---- rounds ---- */

static size_t devices_at_work(const struct held *h, size_t n_devices)
{
    size_t n = 0;

    for (uint32_t d = 0; d < n_devices; d++)
        for (size_t i = 0; i < h->s.dag->n_ops; i++)
            if (h->device[i] == d && h->s.dag->ops[i].role != FR__DAG_VARIABLE) {
                n++;
                break;
            }
    return n;
}

/* Measures a strategy and adds a row for it. */
static enum fr_status measure(struct loop *l, struct held *h, bool is_profile,
                              struct fr__learn_round **row, struct fr_error *err)
{
    struct fr__learning *g = &l->out;
    const struct fr__learned_terms terms = {
        .eps = l->o->eps, .forgets = is_profile, .strategy = h->s.number};
    struct fr__learn_round *r;

    if (fr__is_cancelled(l->ctx))
        return fr__fail(err, FR_ECANCELLED, FR_NOWHERE, "interrupted");
    if (!fr__grow(&g->rounds, &l->cap_rounds, g->n_rounds + 1, sizeof(*g->rounds)))
        return fr__fail_nomem(err);
    if (l->ctx && l->ctx->progress)
        l->ctx->progress(l->ctx->progress_user, "rounds", g->n_rounds, 0);
    r = &g->rounds[g->n_rounds];
    *r = (struct fr__learn_round){.is_profile = is_profile,
                                  .strategy = h->s.number,
                                  .first_iteration = g->n_iterations,
                                  .planned_s = NAN,
                                  .estimated_s = NAN,
                                  .n_ops = h->s.dag->n_ops,
                                  .n_splits = h->n_splits,
                                  .n_devices = devices_at_work(h, l->m.n_devices)};
    if (g->n_rounds > 0)
        FR_TRY(fr__learn_estimate(&r->estimated_s, g->costs, &h->s, l->m.n_devices, err));
    FR_TRY(l->truth->measure(l->truth->user, &h->s, g->n_iterations, l->o->iterations, g->costs,
                             &r->measured_s, err));
    FR_TRY(fr__learned_update(g->costs, &terms, &r->change, err));
    r->is_settled = r->change.n_new == 0 && r->change.n_changed == 0;
    if (isfinite(r->measured_s)) {
        g->n_iterations += l->o->iterations;
        g->training_s += l->o->iterations * r->measured_s;
    }
    g->n_rounds++;
    *row = r;
    return FR_OK;
}

static void charge(struct loop *l, struct fr__learn_round *r)
{
    r->activation_s += l->o->activation_s;
    l->out.activation_s += l->o->activation_s;
    l->out.n_activated++;
}

static bool is_rejected(const struct loop *l, uint64_t digest)
{
    for (size_t k = 0; k < l->n_rejected; k++)
        if (l->rejected[k] == digest)
            return true;
    return false;
}

static enum fr_status reject(struct loop *l, uint64_t digest, struct fr_error *err)
{
    if (!fr__grow(&l->rejected, &l->cap_rejected, l->n_rejected + 1, sizeof(*l->rejected)))
        return fr__fail_nomem(err);
    l->rejected[l->n_rejected++] = digest;
    return FR_OK;
}

/* Activates what was planned, measures it, keeps it or goes back. */
static enum fr_status try_plan(struct loop *l, bool is_profile, struct fr_error *err)
{
    struct fr__learning *g = &l->out;
    struct fr__learn_round *r;

    l->tried.s.number = l->n_strategies++;
    FR_TRY(measure(l, &l->tried, is_profile, &r, err));
    r->planned_s = l->tried.estimated_s;
    charge(l, r);
    if (r->measured_s > g->in_use_s) {
        FR_TRY(reject(l, l->tried.digest, err));
        charge(l, r);
        g->n_rolled_back++;
        r->verdict = FR_LEARN_ROLLED_BACK;
    } else {
        struct held was = l->current;

        l->current = l->tried;
        l->tried = was;
        g->in_use_s = r->measured_s;
        r->verdict = FR_LEARN_KEPT;
    }
    r->in_use = l->current.s.number;
    return FR_OK;
}

/* Measures the strategy in use; why: the outcome of the round. */
static enum fr_status watch(struct loop *l, bool is_profile, enum fr_learn_outcome why,
                            struct fr__learn_round **row, struct fr_error *err)
{
    FR_TRY(measure(l, &l->current, is_profile, row, err));
    (*row)->verdict = why;
    (*row)->in_use = l->current.s.number;
    return FR_OK;
}

static enum fr_status pre_train_once(struct loop *l, struct fr_error *err)
{
    enum fr_learn_outcome why = FR_LEARN_WATCHED;
    struct fr__learn_round *r;
    bool fits;

    FR_TRY(make_plan(l, &fits, err));
    if (fits && l->tried.digest == l->current.digest)
        why = FR_LEARN_SAME;
    else if (fits && is_rejected(l, l->tried.digest))
        why = FR_LEARN_REJECTED;
    else if (fits)
        return try_plan(l, false, err);
    FR_TRY(watch(l, false, why, &r, err));
    r->planned_s = fits ? l->tried.estimated_s : NAN;
    return FR_OK;
}

static enum fr_status pre_train(struct loop *l, struct fr_error *err)
{
    struct fr__learning *g = &l->out;
    struct fr__learn_round *r;

    FR_TRY(watch(l, false, FR_LEARN_FIRST, &r, err));
    if (!isfinite(r->measured_s))
        return fr__fail(err, FR_ENOROOM, FR_NOWHERE, "the first plan runs out of memory");
    g->in_use_s = r->measured_s;
    for (unsigned k = 0; k < l->o->max_rounds && !g->has_converged; k++) {
        FR_TRY(pre_train_once(l, err));
        /* a strategy that ran out of memory has taught nothing */
        g->has_converged = g->rounds[g->n_rounds - 1].is_settled &&
                           isfinite(g->rounds[g->n_rounds - 1].measured_s);
    }
    g->n_pre_training = g->n_rounds;
    return FR_OK;
}

/* Makes a plan after a profile; a plan that was slower once may be faster now. */
static enum fr_status plan_again(struct loop *l, struct fr__learn_round *r, struct fr_error *err)
{
    double current_s;
    bool fits;

    FR_TRY(make_plan(l, &fits, err));
    if (!fits)
        return FR_OK;
    r->planned_s = l->tried.estimated_s;
    FR_TRY(fr__learn_estimate(&current_s, l->out.costs, &l->current.s, l->m.n_devices, err));
    if (l->tried.digest == l->current.digest)
        r->verdict = FR_LEARN_SAME;
    else if (is_rejected(l, l->tried.digest))
        r->verdict = FR_LEARN_REJECTED;
    else if (!(l->tried.estimated_s < current_s))
        r->verdict = FR_LEARN_NOT_BETTER;
    else {
        if (!r->is_settled)
            r->verdict = FR_LEARN_CHANGED;
        return try_plan(l, true, err);
    }
    return FR_OK;
}

static enum fr_status train(struct loop *l, struct fr_error *err)
{
    struct fr__learning *g = &l->out;
    bool is_settled = true;

    for (unsigned k = 0; k < l->o->n_profiles; k++) {
        struct fr__learn_round *r;

        g->n_iterations += l->o->period;
        g->training_s += (double)l->o->period * g->in_use_s;
        FR_TRY(watch(l, true, FR_LEARN_WATCHED, &r, err));
        if (!r->is_settled) {
            l->n_rejected = 0;
            g->in_use_s = r->measured_s;
        }
        if (r->is_settled && is_settled)
            continue;
        FR_TRY(plan_again(l, r, err));
        is_settled = g->rounds[g->n_rounds - 1].is_settled;
    }
    return FR_OK;
}

/* ---- the whole ---- */

/* Copies the start's dag, with a column of costs for each device; the rest is shared. */
static enum fr_status begin(struct loop *l, const struct fr__dag *start,
                            const struct fr__dpos_machine *m, struct fr_error *err)
{
    size_t n = m->n_devices;

    l->out.costs = fr__learned_new(n);
    l->type = calloc(n + 1, sizeof(*l->type));
    l->latency_s = calloc(n * n + 1, sizeof(*l->latency_s));
    l->s_per_byte = calloc(n * n + 1, sizeof(*l->s_per_byte));
    l->start = *start;
    l->start.n_types = n;
    l->start.user = l->out.costs;
    l->start.cost_s = calloc(start->n_costs * n + 1, sizeof(*l->start.cost_s));
    if (!l->out.costs || !l->type || !l->latency_s || !l->s_per_byte || !l->start.cost_s)
        return fr__fail_nomem(err);
    for (uint32_t d = 0; d < n; d++)
        l->type[d] = d;
    l->m = (struct fr__dpos_machine){.n_devices = n,
                                     .type = l->type,
                                     .room_bytes = m->room_bytes,
                                     .latency_s = l->latency_s,
                                     .s_per_byte = l->s_per_byte};
    return make_first(l, err);
}

void fr__learn_free(struct fr__learning *g)
{
    struct loop *l = g ? g->priv : NULL;

    if (!l)
        return;
    drop(&l->current);
    drop(&l->tried);
    fr__learned_free(l->out.costs);
    free(l->out.rounds);
    free(l->rejected);
    free(l->start.cost_s);
    free(l->type);
    free(l->latency_s);
    free(l->s_per_byte);
    free(l);
}

enum fr_status fr__learn_run(struct fr__learning **out, const struct fr__dag *start,
                             const struct fr__dpos_machine *m, const struct fr__learn_options *o,
                             const struct fr__learn_truth *truth, const struct fr_context *ctx,
                             struct fr_error *err)
{
    struct loop *l = calloc(1, sizeof(*l));
    enum fr_status st;

    if (!l)
        return fr__fail_nomem(err);
    l->out.priv = l;
    l->o = o;
    l->truth = truth;
    l->ctx = ctx;
    if (ctx)
        l->quiet = (struct fr_context){.seed = ctx->seed, .cancel = ctx->cancel};
    st = begin(l, start, m, err);
    if (st == FR_OK)
        st = pre_train(l, err);
    if (st == FR_OK)
        st = train(l, err);
    if (st != FR_OK) {
        fr__learn_free(&l->out);
        return st;
    }
    l->out.in_use = l->current.s;
    *out = &l->out;
    return FR_OK;
}
