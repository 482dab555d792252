/* strategies/fastt/own.c - the planner's own best plan, with the engine as the referee: a plan by
 * each rule, of which the engine keeps the fastest. */
#include "config.h"

#include "strategies/fastt/fastt.h"

#include "base/error.h"
#include "lowering/dag/order.h"
#include "lowering/log.h"

#include <math.h>
#include <string.h>

struct search {
    struct fr__placer *pl;
    const struct fr__fastt_options *o;
    struct fr__referee *referee;
    bool has_several_on_machines; /* machines, of which one has several of the devices */
    struct fr__fastt best;        /* own_s NAN: none yet */
    /* the paper's rule: of the plan that came nearest to fitting; 0: none was too large */
    uint64_t lack_bytes;
    uint32_t lack_device; /* of the topology */
};

struct fr__placed_dag fr__fastt_placed(const struct fr__fastt *f)
{
    return (struct fr__placed_dag){.dag = f->result.dag,
                                   .device = f->result.plan.device,
                                   .order = f->result.plan.order,
                                   .turns = f->keeps_turns ? &f->turns : NULL};
}

static enum fr_status ask(struct search *s, const struct fr__fastt *f, double stop_s,
                          struct fr__made *made, struct fr_error *err)
{
    const struct fr__placed_dag d = fr__fastt_placed(f);

    FR_TRY(fr__referee_ask(s->referee, &d, stop_s, false, made, err));
    fr__log(s->pl->ctx, "rule %s%s%s: planned %.6f s, made %.6f s%s", f->rule->name,
            f->waits_for_slots ? ", slots of links" : "", f->keeps_turns ? " in turn" : "",
            f->result.plan.makespan_s, made->s, made->is_over ? ", out of memory" : "");
    return FR_OK;
}

/* Asks about *with, which is *f run otherwise, and makes it *f where that is faster. */
static enum fr_status ask_otherwise(struct search *s, struct fr__fastt *f,
                                    const struct fr__fastt *with, struct fr__made *made,
                                    struct fr_error *err)
{
    double best_s = isnan(s->best.own_s) ? (double)INFINITY : s->best.own_s;
    struct fr__made again;

    FR_TRY(ask(s, with, fmin(made->s, best_s), &again, err));
    if (again.s < made->s) {
        *made = again;
        *f = *with;
    } else {
        made->is_over = made->is_over && again.is_over;
    }
    return FR_OK;
}

/* The same placement in the order of the program. */
static enum fr_status ask_in_program_order(struct search *s, struct fr__fastt *f,
                                           struct fr__made *made, struct fr_error *err)
{
    uint32_t *order = fr__arena_alloc(s->pl->arena, f->result.dag->n_ops, sizeof(*order));
    struct fr__fastt with = *f;

    if (!order)
        return fr__fail_nomem(err);
    FR_TRY(fr__dag_program_order(f->result.dag, order, err));
    with.result.plan.order = order;
    with.is_in_program_order = true;
    with.keeps_turns = false;
    return ask_otherwise(s, f, &with, made, err);
}

/* Messages that were given slots of links in the order of these. */
static enum fr_status ask_in_turn(struct search *s, struct fr__fastt *f, struct fr__made *made,
                                  struct fr_error *err)
{
    struct fr__fastt with = *f;

    with.keeps_turns = true;
    return f->turns.links && f->result.dag->lines_up ? ask_otherwise(s, f, &with, made, err)
                                                     : FR_OK;
}

/* Asks the engine about a plan and keeps it if it is the best so far. */
static enum fr_status judge(struct search *s, struct fr__fastt *f, struct fr__made *made,
                            struct fr_error *err)
{
    bool has_best = isfinite(s->best.own_s);

    FR_TRY(ask(s, f, s->best.own_s, made, err));
    FR_TRY(ask_in_turn(s, f, made, err));
    if (f->rule->in_program_order)
        FR_TRY(ask_in_program_order(s, f, made, err));
    f->own_s = made->s;
    if (!isfinite(made->s) || (has_best && made->s >= s->best.own_s))
        return FR_OK;
    fr__fastt_fini(&s->best);
    s->best = *f;
    *f = (struct fr__fastt){.own_s = NAN};
    return FR_OK;
}

/* Plans by one rule and asks the engine. made: NULL, or how full devices were. */
static enum fr_status plan_and_judge(struct search *s, const struct fr__rule *rule,
                                     const struct fr__fastt_options *how, bool is_roomy,
                                     struct fr__made *made, struct fr_error *err)
{
    struct fr__fastt f = {.own_s = NAN};
    enum fr_status st = rule->is_paper ? fr__fastt_paper(&f, s->pl, how, err)
                                       : fr__fastt_by_rule(&f, s->pl, how, rule, is_roomy, err);

    *made = (struct fr__made){.s = INFINITY, .is_over = true};
    if (st == FR_OK && f.result.plan.outcome == FR__DPOS_DONE)
        st = judge(s, &f, made, err);
    fr__fastt_fini(&f);
    return st;
}

/* ---- the paper's rule and the room there is ---- */

/* What the planner's account may not fill, as the engine's answers have it. */
struct room {
    uint64_t *held_back_bytes; /* [devices] in the plan that is tried */
    uint64_t *last_bytes;      /* [devices] in the last plan that the account found room for */
    uint64_t *over_bytes;      /* [devices] by which that was too large */
    double step;               /* the part of these that is held back in addition */
};

static enum fr_status make_room(struct room *r, struct search *s, struct fr_error *err)
{
    size_t n = s->pl->in->n_devices;

    r->held_back_bytes = fr__arena_alloc(s->pl->arena, n, sizeof(uint64_t));
    r->last_bytes = fr__arena_alloc(s->pl->arena, n, sizeof(uint64_t));
    r->over_bytes = fr__arena_alloc(s->pl->arena, n, sizeof(uint64_t));
    r->step = 1;
    return r->held_back_bytes && r->last_bytes && r->over_bytes ? FR_OK : fr__fail_nomem(err);
}

/* Takes over by how much the plan was too large, and remembers the one that came nearest. */
static void note_over(struct room *r, struct search *s)
{
    uint64_t most_bytes = 0;
    uint32_t fullest = 0;

    for (size_t d = 0; d < s->pl->in->n_devices; d++) {
        uint32_t device = s->pl->in->devices[d];

        r->last_bytes[d] = r->held_back_bytes[d];
        r->over_bytes[d] = s->referee->over_bytes[device];
        if (r->over_bytes[d] > most_bytes) {
            most_bytes = r->over_bytes[d];
            fullest = device;
        }
    }
    if (s->lack_bytes == 0 || most_bytes < s->lack_bytes) {
        s->lack_bytes = most_bytes;
        s->lack_device = fullest;
    }
}

static void hold_back(struct room *r, size_t n_devices)
{
    for (size_t d = 0; d < n_devices; d++)
        r->held_back_bytes[d] =
            r->last_bytes[d] + (uint64_t)ceil(r->step * (double)r->over_bytes[d]);
}

/* The devices that the engine names get so much less room in the next plan. Where the account finds
 * no room for that, a part of it is held back. */
static enum fr_status try_less_where_it_lacks(struct search *s, const struct fr__rule *rule,
                                              struct fr__fastt_options how, struct fr_error *err)
{
    enum { MOST_PLANS = 16 };
    static const double LEAST_STEP = 1.0 / 16;
    struct room r;
    struct fr__made made;

    FR_TRY(make_room(&r, s, err));
    how.held_back_bytes = r.held_back_bytes;
    for (int k = 0; k < MOST_PLANS && r.step >= LEAST_STEP; k++) {
        enum fr_status st = plan_and_judge(s, rule, &how, false, &made, err);

        if (st == FR_ENOROOM && k > 0) {
            r.step /= 2;
        } else if (st != FR_OK || !made.is_over) {
            return st;
        } else {
            note_over(&r, s);
            r.step = 1;
        }
        hold_back(&r, s->pl->in->n_devices);
    }
    return FR_OK;
}

/* All devices get less room in the next plan. */
static enum fr_status try_less_everywhere(struct search *s, const struct fr__rule *rule,
                                          struct fr__fastt_options how, struct fr_error *err)
{
    enum { MOST_PLANS = 7 };
    double too_much = 1, too_little = 0;
    struct fr__made made;

    how.room_frac = 1;
    for (int k = 0; k < MOST_PLANS; k++) {
        enum fr_status st = plan_and_judge(s, rule, &how, false, &made, err);

        if (st == FR_ENOROOM && k > 0)
            too_little = how.room_frac;
        else if (st != FR_OK || !made.is_over)
            return st;
        else
            too_much = how.room_frac;
        if (too_little > 0)
            how.room_frac = (too_little + too_much) / 2;
        else
            how.room_frac *= fmin(1 / made.fullest_frac, 0.98);
    }
    return FR_OK;
}

/* The paper's account of memory leaves out what it does not foresee: messages and gradients under
 * way, pieces between what is held. Where the engine finds a plan too large, less room is given to
 * the next: everywhere, or else where it lacked. Replicas are planned, if the account has room for
 * them, else one model, as in the paper's section 4; and one model where the engine has room for no
 * plan of replicas. */
static enum fr_status try_paper(struct search *s, const struct fr__rule *rule,
                                struct fr__fastt_options how, struct fr_error *err)
{
    enum fr_status st = try_less_everywhere(s, rule, how, err);

    if (st == FR_OK && !isfinite(s->best.own_s))
        st = try_less_where_it_lacks(s, rule, how, err);
    if (st == FR_OK && !isfinite(s->best.own_s) && how.start == FR__FASTT_AUTO) {
        how.start = FR__FASTT_MODEL;
        st = try_less_where_it_lacks(s, rule, how, err);
        if (st == FR_ENOROOM)
            return FR_OK; /* what lacked of the plans before is said */
    }
    return st == FR_ENOROOM && !s->o->rule ? FR_OK : st;
}

/* Plans by a rule, first without counting memory: the engine knows what is held when. Only a plan
 * that it finds too large is made again by the planner's account, which is a sum. */
static enum fr_status try_rule(struct search *s, const struct fr__rule *rule,
                               enum fr__fastt_links links, struct fr_error *err)
{
    struct fr__fastt_options how = *s->o;
    struct fr__made made = {.is_over = true};

    how.links = links;
    if (rule->is_paper)
        return try_paper(s, rule, how, err);
    for (int roomy = 1; roomy >= 0 && made.is_over; roomy--) {
        enum fr_status st = plan_and_judge(s, rule, &how, roomy == 1, &made, err);

        if (st != FR_OK && (st != FR_ENOROOM || s->o->rule))
            return st;
    }
    return FR_OK;
}

/* A rule that looks more often at a device for an operation is not tried: seconds. Where that
 * leaves none, the rule that keeps replicas together is, which decides least, up to the second
 * number. */
static const double MOST_LOOKS = 2e7, MOST_LOOKS_TOGETHER = 6e7;

static bool is_small(const struct search *s, const struct fr__rule *rule, bool has_slots)
{
    size_t n_replicas = rule->replicates ? s->pl->in->n_devices : 1;
    double most =
        rule->keeps_together && !has_slots && rule->by_machine == s->has_several_on_machines
            ? MOST_LOOKS_TOGETHER
            : MOST_LOOKS;

    return fr__fastt_looks(s->pl, n_replicas, has_slots) <= most;
}

/* A rule with messages as the user asked for; or alone on their links, and with slots of them. */
static enum fr_status try_links(struct search *s, const struct fr__rule *rule, struct fr_error *err)
{
    if (s->o->links != FR__FASTT_LINKS_AUTO)
        return try_rule(s, rule, s->o->links, err);
    FR_TRY(try_rule(s, rule, FR__FASTT_ALONE, err));
    return rule->is_paper || s->pl->in->n_devices < 2 || !is_small(s, rule, true)
               ? FR_OK
               : try_rule(s, rule, FR__FASTT_SLOTS, err);
}

/* Tasks that train nothing have no variables to share: of our rules only that of one model differs
 * from the paper's. */
static bool is_wanted(const struct search *s, const struct fr__rule *rule)
{
    const struct fr_problem *in = s->pl->in;

    if (s->o->rule)
        return rule == s->o->rule;
    if (s->pl->params.n_owners == 0)
        return rule->is_paper || (!rule->replicates && !rule->splits);
    if (rule->is_paper || (rule->splits && !s->o->splits) ||
        (rule->by_machine && !s->has_several_on_machines))
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
                                 struct fr__fastt *out, struct fr_error *err)
{
    const struct fr__fastt *f = &s->best;
    const struct fr__dag *dag = f->result.dag;
    struct fr__dpos_result *r = &out->result.plan;
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
    if (f->is_in_program_order)
        how.list = f->result.plan.order; /* of the placer's arena */
    FR_TRY(fr__dpos_run(*planner, dag, &how, r, err));
    out->turns = (struct fr__dag_turns){m.links, r->there_s, r->between_s};
    return FR_OK;
}

/* Plans the best again with slots of links, and asks the engine about that order. It is the plan
 * where it is faster. Else only what it says of contention is believed. */
static enum fr_status add_slots(struct search *s, struct fr_error *err)
{
    struct fr__fastt *f = &s->best, with = *f;
    size_t n_ops = f->result.dag->n_ops;
    uint32_t *order = fr__arena_take(s->pl->arena, n_ops + 1, sizeof(*order));
    struct fr__dpos *planner = NULL;
    struct fr__made made = {.s = INFINITY};
    enum fr_status st;

    if (!order)
        return fr__fail_nomem(err);
    memcpy(order, f->result.plan.order, n_ops * sizeof(*order)); /* it outlives f's planner */
    st = plan_again(s, true, &planner, &with, err);
    with.waits_for_slots = true;
    with.is_in_program_order = with.keeps_turns = false;
    if (st == FR_OK && with.result.plan.outcome == FR__DPOS_DONE)
        st = ask(s, &with, f->own_s, &made, err);
    if (st == FR_OK && with.result.plan.outcome == FR__DPOS_DONE)
        st = ask_in_turn(s, &with, &made, err);
    if (st != FR_OK || with.result.plan.outcome != FR__DPOS_DONE) {
        fr__dpos_free(planner);
        return st;
    }
    if (made.s < f->own_s) {
        with.own_s = made.s;
    } else {
        with.result.plan.order = order;
        with.is_in_program_order = f->is_in_program_order;
        with.keeps_turns = f->keeps_turns;
    }
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
    struct fr__fastt alone = s->best;
    enum fr_status st;

    if (!s->best.machine.links)
        return s->best.machine.n_devices > 1 && !(s->o->rule && s->o->rule->is_paper)
                   ? add_slots(s, err)
                   : FR_OK;
    st = plan_again(s, false, &planner, &alone, err);
    if (st == FR_OK && alone.result.plan.outcome == FR__DPOS_DONE)
        s->best.foreseen_s = s->best.result.plan.makespan_s - alone.result.plan.makespan_s;
    fr__dpos_free(planner);
    return st;
}

/* What the plan takes with each message alone on its links; the rest is contention. */
static enum fr_status ask_alone(struct search *s, struct fr_error *err)
{
    const struct fr__placed_dag d = fr__fastt_placed(&s->best);
    struct fr__made made;

    FR_TRY(fr__referee_ask(s->referee, &d, 0, true, &made, err));
    s->best.alone_s = made.s;
    return FR_OK;
}

/* Whether replicas are among what is planned. */
static bool can_replicate(const struct search *s)
{
    const struct fr_problem *in = s->pl->in;

    return in->n_devices > 1 && in->global_batch >= in->n_devices &&
           s->o->start != FR__FASTT_MODEL && s->pl->params.n_owners > 0;
}

static enum fr_status look_at_machines(struct search *s, struct fr_error *err)
{
    const uint32_t *machine_of;
    size_t n;

    FR_TRY(fr__dag_machines(&machine_of, &n, s->pl, err));
    s->has_several_on_machines = n > 1 && n < s->pl->in->n_devices;
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

    FR_TRY(look_at_machines(&s, err));
    if (!o->rule)
        FR_TRY(fr__fastt_check_size(pl, can_replicate(&s) ? pl->in->n_devices : 1,
                                    MOST_LOOKS_TOGETHER, err));
    if (is_vain)
        fr__log(pl->ctx, "no rule is tried: all devices together cannot hold the variables");
    for (size_t k = 1; st == FR_OK && !is_vain && (rule = fr__rule_at(k)) != NULL; k++)
        if (is_wanted(&s, rule) && (s.o->rule || is_small(&s, rule, false)))
            st = try_links(&s, rule, err);
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
    if (o->rule && o->rule->is_paper) {
        out->lack_bytes = s.lack_bytes;
        out->lack_device = s.lack_device;
    }
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
    if (o->asks_engine && pl->in->run)
        return ask_engine(out, pl, o, err);
    if (!o->rule || o->rule->is_paper)
        return fr__fastt_paper(out, pl, o, err);
    FR_TRY(fr__fastt_by_rule(out, pl, o, o->rule, false, err));
    return out->result.plan.outcome == FR__DPOS_DONE ? FR_OK : fr__fastt_fail_no_room(out, pl, err);
}
