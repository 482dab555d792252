/* strategies/fastt/own.c - the planner's own best plan, with the engine as the referee: a plan by
 * each rule, of which the engine keeps the fastest. */
#include "config.h"

#include "strategies/fastt/fastt.h"

#include "base/error.h"
#include "strategies/fastt/dag_order.h"
#include "strategies/lower/log.h"

#include <math.h>
#include <string.h>

struct search {
    struct fr__placer *pl;
    const struct fr__fastt_options *o;
    struct fr__referee *referee;
    struct fr__fastt best; /* own_s NAN: none yet */
};

static struct fr__placed_dag placed(const struct fr__fastt *f)
{
    return (struct fr__placed_dag){f->result.dag, f->result.plan.device, f->result.plan.order};
}

static enum fr_status ask(struct search *s, struct fr__fastt *f, double stop_s,
                          struct fr__made *made, struct fr_error *err)
{
    const struct fr__placed_dag d = placed(f);

    FR_TRY(fr__referee_ask(s->referee, &d, stop_s, false, made, err));
    fr__log(s->pl->ctx, "rule %s: planned %.6f s, made %.6f s%s", f->rule->name,
            f->result.plan.makespan_s, made->s, made->is_over ? ", out of memory" : "");
    return FR_OK;
}

/* Asks about the same placement in the order of the program, and keeps that where it is faster. */
static enum fr_status ask_in_program_order(struct search *s, struct fr__fastt *f,
                                           struct fr__made *made, struct fr_error *err)
{
    uint32_t *order = fr__arena_alloc(s->pl->arena, f->result.dag->n_ops, sizeof(*order));
    const uint32_t *list = f->result.plan.order;
    struct fr__made again;

    if (!order)
        return fr__fail_nomem(err);
    FR_TRY(fr__dag_program_order(f->result.dag, order, err));
    f->result.plan.order = order;
    FR_TRY(ask(s, f, fmin(made->s, isnan(s->best.own_s) ? (double)INFINITY : s->best.own_s), &again,
               err));
    if (again.s < made->s) {
        *made = again;
        f->is_in_program_order = true;
    } else {
        made->is_over = made->is_over && again.is_over;
        f->result.plan.order = list;
    }
    return FR_OK;
}

/* Asks the engine about a plan and keeps it if it is the best so far. *is_over: out of memory. */
static enum fr_status judge(struct search *s, struct fr__fastt *f, bool *is_over,
                            struct fr_error *err)
{
    bool has_best = isfinite(s->best.own_s);
    struct fr__made made;

    FR_TRY(ask(s, f, s->best.own_s, &made, err));
    if (f->rule->in_program_order)
        FR_TRY(ask_in_program_order(s, f, &made, err));
    *is_over = made.is_over;
    f->own_s = made.s;
    if (!isfinite(made.s) || (has_best && made.s >= s->best.own_s))
        return FR_OK;
    fr__fastt_fini(&s->best);
    s->best = *f;
    *f = (struct fr__fastt){.own_s = NAN};
    return FR_OK;
}

/* Plans by a rule, first without counting memory: the engine knows what is held when. Only a plan
 * that it finds too large is made again by the planner's account, which is a sum. */
static enum fr_status try_rule(struct search *s, const struct fr__rule *rule, struct fr_error *err)
{
    bool is_over = true;

    for (int roomy = 1; roomy >= 0 && is_over; roomy--) {
        struct fr__fastt f = {.own_s = NAN};
        enum fr_status st = rule->is_paper
                                ? fr__fastt_paper(&f, s->pl, s->o, err)
                                : fr__fastt_by_rule(&f, s->pl, s->o, rule, roomy == 1, err);

        if (st == FR_OK && f.result.plan.outcome == FR__DPOS_DONE)
            st = judge(s, &f, &is_over, err);
        fr__fastt_fini(&f);
        if (st != FR_OK && (st != FR_ENOROOM || s->o->rule))
            return st;
        if (rule->is_paper)
            return FR_OK;
    }
    return FR_OK;
}

static bool is_wanted(const struct search *s, const struct fr__rule *rule)
{
    const struct fr_problem *in = s->pl->in;

    if (s->o->rule)
        return rule == s->o->rule;
    if (rule->is_paper || (rule->splits && !s->o->splits))
        return false;
    if (rule->replicates)
        return s->o->start != FR__FASTT_MODEL && in->n_devices > 1 &&
               in->global_batch >= in->n_devices;
    return s->o->start != FR__FASTT_DP || in->n_devices == 1;
}

/* ---- the best, once more with slots of links ---- */

/* The operations of the best where they are, ordered as if messages waited for slots of links, or
 * did not. */
static enum fr_status plan_again(struct search *s, bool has_slots, struct fr__dpos **planner,
                                 struct fr__dpos_result *out, struct fr_error *err)
{
    const struct fr__fastt *f = &s->best;
    const struct fr__dag *dag = f->result.dag;
    struct fr__dpos_machine m = f->machine;
    struct fr__dpos_options how = {.inputs_wait = f->rule->inputs_wait};
    uint32_t *placed = fr__arena_take(s->pl->arena, dag->n_ops + 1, sizeof(*placed));

    m.links = NULL;
    if (has_slots)
        FR_TRY(fr__dag_links_map(&m.links, dag->via, s->pl, err));
    *planner = fr__dpos_new(&m);
    if (!placed || !*planner)
        return fr__fail_nomem(err);
    memcpy(placed, f->result.plan.device, dag->n_ops * sizeof(*placed));
    how.placed = placed;
    return fr__dpos_run(*planner, dag, &how, out, err);
}

/* Plans the best again with slots of links, and asks the engine about that order. It is the plan
 * where it is faster. Where the order of the program is the fastest, neither list is what is run;
 * then the plan that knows of contention is what is believed. */
static enum fr_status add_slots(struct search *s, struct fr_error *err)
{
    struct fr__fastt *f = &s->best, with = *f;
    struct fr__dpos *planner = NULL;
    struct fr__made made = {.s = INFINITY};
    enum fr_status st;

    st = plan_again(s, true, &planner, &with.result.plan, err);
    if (st == FR_OK && with.result.plan.outcome == FR__DPOS_DONE)
        st = ask(s, &with, f->own_s, &made, err);
    if (st != FR_OK || !(made.s < f->own_s || f->is_in_program_order) ||
        with.result.plan.outcome != FR__DPOS_DONE) {
        fr__dpos_free(planner);
        return st;
    }
    if (made.s < f->own_s) {
        with.own_s = made.s;
        with.is_in_program_order = false;
    } else {
        with.result.plan.order = f->result.plan.order;
    }
    with.waits_for_slots = true;
    with.foreseen_s = with.result.plan.makespan_s - f->result.plan.makespan_s;
    fr__dpos_free(with.planner);
    with.planner = planner;
    *f = with;
    return FR_OK;
}

/* Finds how much of what is believed of the best is contention. */
static enum fr_status find_foreseen(struct search *s, struct fr_error *err)
{
    struct fr__dpos *planner = NULL;
    struct fr__dpos_result alone;
    enum fr_status st;

    if (!s->best.machine.links)
        return s->best.machine.n_devices > 1 && !s->best.rule->is_paper ? add_slots(s, err) : FR_OK;
    st = plan_again(s, false, &planner, &alone, err);
    if (st == FR_OK && alone.outcome == FR__DPOS_DONE)
        s->best.foreseen_s = s->best.result.plan.makespan_s - alone.makespan_s;
    fr__dpos_free(planner);
    return st;
}

/* What the plan takes with each message alone on its links; the rest is contention. */
static enum fr_status ask_alone(struct search *s, struct fr_error *err)
{
    const struct fr__placed_dag d = placed(&s->best);
    struct fr__made made;

    FR_TRY(fr__referee_ask(s->referee, &d, 0, true, &made, err));
    s->best.alone_s = made.s;
    return FR_OK;
}

/* One plan for each rule that o allows, of which the engine keeps the fastest. */
static enum fr_status own_plan(struct fr__fastt *out, struct fr__placer *pl,
                               const struct fr__fastt_options *o, struct fr__referee *referee,
                               struct fr_error *err)
{
    struct search s = {.pl = pl, .o = o, .referee = referee, .best = {.own_s = NAN}};
    const struct fr__rule *rule;
    bool is_vain = fr__fastt_cannot_fit(pl);
    enum fr_status st = FR_OK;

    if (is_vain)
        fr__log(pl->ctx, "no rule is tried: all devices together cannot hold the variables");
    for (size_t k = 1; st == FR_OK && !is_vain && (rule = fr__rule_at(k)) != NULL; k++)
        if (is_wanted(&s, rule))
            st = try_rule(&s, rule, err);
    if (st == FR_OK && isfinite(s.best.own_s))
        st = find_foreseen(&s, err);
    if (st == FR_OK && isfinite(s.best.own_s))
        st = ask_alone(&s, err);
    if (st != FR_OK) {
        fr__fastt_fini(&s.best);
        return st;
    }
    *out = s.best;
    if (isfinite(s.best.own_s))
        return FR_OK;
    /* the engine finds no room for any: the plan by the account is the answer, or says what lacks
     */
    FR_TRY(fr__fastt_paper(out, pl, o, err));
    out->own_s = INFINITY;
    return FR_OK;
}

/* ---- with or without the engine ---- */

static enum fr_status ask_engine(struct fr__fastt *out, struct fr__placer *pl,
                                 const struct fr__fastt_options *o, struct fr_error *err)
{
    struct fr__referee referee;
    enum fr_status st = fr__referee_init(&referee, pl->in, pl->ctx, err);

    *out = (struct fr__fastt){.own_s = NAN};
    if (st == FR_OK)
        st = own_plan(out, pl, o, &referee, err);
    out->n_runs = referee.n_runs;
    out->n_stopped = referee.n_stopped;
    fr__referee_fini(&referee);
    return st;
}

enum fr_status fr__fastt_run(struct fr__fastt *out, struct fr__placer *pl,
                             const struct fr__fastt_options *o, struct fr_error *err)
{
    /* our rules are about variables and replicas: tasks that train nothing go by the paper's */
    if (o->asks_engine && pl->in->run && (o->rule || pl->params.n_owners > 0))
        return ask_engine(out, pl, o, err);
    if (!o->rule || o->rule->is_paper)
        return fr__fastt_paper(out, pl, o, err);
    FR_TRY(fr__fastt_by_rule(out, pl, o, o->rule, false, err));
    return out->result.plan.outcome == FR__DPOS_DONE ? FR_OK : fr__fastt_fail_no_room(out, pl, err);
}
