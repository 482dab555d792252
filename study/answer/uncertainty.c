/* study/answer/uncertainty.c - how far the iteration time may be wrong because costs of ops are.
 *
 * Every cost states the standard deviation of the logarithm of its error (error_frac of struct
 * fr_cost). The plan is run again DRAWS times, each cost times exp(error * z). Half of z's variance
 * is common to all ops of a kind whose costs have the same trust, because a curve that is wrong for
 * one shape tends to be wrong for its neighbours. The other half is drawn for each row alone. The
 * interval holds the middle 90 % of the times. The even split is an assumption: if all of it were
 * common, the interval would be widest; if none were, it would almost vanish.
 *
 * Times measured on a device type that nobody names (profiled-elsewhere) share their whole error,
 * since there is one unknown device.
 *
 * Why it is uncertain: the plan is run with the common part of one group after the other at one
 * standard deviation up and down. The squares of half the differences, over their sum, are the
 * shares.
 */
#include "config.h"

#include "study/question/host.h"

#include "base/error.h"
#include "base/rng.h"
#include "study/answer/record.h"

#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* groups: kinds of op by trust, then collectives; the last: all that was profiled elsewhere */
enum {
    DRAWS = 40,
    N_TRUSTS = FR_TRUST_PROFILED_ELSEWHERE,
    N_OP_GROUPS = FR_N_OP_KINDS * N_TRUSTS,
    ELSEWHERE = N_OP_GROUPS + N_TRUSTS,
    N_GROUPS
};
_Static_assert((int)N_TRUSTS == (int)FR_N_TRUSTS - 1, "one trust has a group of its own");

struct replay {
    const struct fr__making *m;
    const struct fr_plan_view *v;
    double *cost_s; /* [n_costs] */
    double added_s; /* what measured steps add to an iteration */
};

static unsigned group_of(const struct fr_cost *c)
{
    if (c->trust == FR_TRUST_PROFILED_ELSEWHERE)
        return ELSEWHERE;
    return (unsigned)c->kind * N_TRUSTS + (unsigned)c->trust;
}

static enum fr_status run_again(const struct replay *r, double *iteration_s, struct fr_error *err)
{
    struct fr_run_options o = r->m->options;
    struct fr_run *run;

    o.want = 0; /* the time alone */
    o.cost_s = r->cost_s;
    FR_TRY(fr_simulation_run(r->m->simulation, r->m->plan, &o, &run, err));
    *iteration_s = fr__with_input(r->m, run->iteration_s + r->added_s);
    fr_run_free(run);
    return FR_OK;
}

static enum fr_status draw(const struct replay *r, uint64_t number, double *iteration_s,
                           struct fr_error *err)
{
    double common[N_GROUPS];
    struct fr__rng rng, of_collectives;

    fr__rng_init(&rng, r->m->options.seed, number);
    fr__rng_init(&of_collectives, r->m->options.seed, DRAWS + number);
    for (unsigned g = 0; g < N_GROUPS; g++)
        common[g] = fr__rng_normal(g < N_OP_GROUPS ? &rng : &of_collectives);
    for (size_t i = 0; i < r->v->n_costs; i++) {
        const struct fr_cost *c = &r->v->costs[i];
        unsigned group = group_of(c);
        double own = fr__rng_normal(&rng);
        double z = group == ELSEWHERE ? common[group] : sqrt(0.5) * (common[group] + own);

        r->cost_s[i] = c->mean_s * exp(c->error_frac * z);
    }
    return run_again(r, iteration_s, err);
}

static enum fr_status find_interval(const struct replay *r, struct fr_record *out,
                                    struct fr_error *err)
{
    double times_s[DRAWS];

    for (unsigned d = 0; d < DRAWS; d++)
        FR_TRY(draw(r, d, &times_s[d], err));
    gsl_sort(times_s, 1, DRAWS);
    out->iteration_low_s = times_s[DRAWS / 20];
    out->iteration_high_s = times_s[DRAWS - 1 - DRAWS / 20];
    out->has_interval = true;
    return FR_OK;
}

const char *fr_record_error_share_name(const struct fr_record_error_share *d)
{
    if (d->trust == FR_TRUST_PROFILED_ELSEWHERE)
        return "profile";
    return d->kind < FR_N_OP_KINDS ? fr_op_kind_name(d->kind) : "collective";
}

/* Iteration time with the common part of one group at z. */
static enum fr_status move_group(const struct replay *r, unsigned group, double z,
                                 double *iteration_s, struct fr_error *err)
{
    for (size_t i = 0; i < r->v->n_costs; i++) {
        const struct fr_cost *c = &r->v->costs[i];

        r->cost_s[i] = c->mean_s * (group_of(c) == group ? exp(c->error_frac * z) : 1);
    }
    return run_again(r, iteration_s, err);
}

static int by_share(const void *a, const void *b)
{
    const struct fr_record_error_share *x = a, *y = b;

    return (x->share < y->share) - (x->share > y->share);
}

static enum fr_op_kind kind_of(unsigned group)
{
    return group == ELSEWHERE ? FR_N_OP_KINDS : (enum fr_op_kind)(group / N_TRUSTS);
}

static enum fr_trust trust_of(unsigned group)
{
    return group == ELSEWHERE ? FR_TRUST_PROFILED_ELSEWHERE : (enum fr_trust)(group % N_TRUSTS);
}

static enum fr_status find_error_shares(const struct replay *r, struct fr_record *out,
                                        struct fr__arena *arena, struct fr_error *err)
{
    double largest[N_GROUPS] = {0}, sum = 0;
    struct fr_record_error_share *list = fr__arena_alloc(arena, N_GROUPS, sizeof(*list));
    size_t n = 0;

    if (!list)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < r->v->n_costs; i++)
        largest[group_of(&r->v->costs[i])] =
            fmax(largest[group_of(&r->v->costs[i])], r->v->costs[i].error_frac);
    for (unsigned g = 0; g < N_GROUPS; g++) {
        double up_s, down_s;

        if (!(largest[g] > 0))
            continue;
        FR_TRY(move_group(r, g, 1, &up_s, err));
        FR_TRY(move_group(r, g, -1, &down_s, err));
        list[n] = (struct fr_record_error_share){.kind = kind_of(g),
                                                 .trust = trust_of(g),
                                                 .error_frac = largest[g],
                                                 .effect_s = (up_s - down_s) / 2};
        list[n].share = list[n].effect_s * list[n].effect_s;
        sum += list[n++].share;
    }
    for (size_t i = 0; i < n; i++)
        list[i].share = sum > 0 ? list[i].share / sum : 0;
    qsort(list, n, sizeof(*list), by_share);
    out->error_shares = list;
    out->n_error_shares = n;
    return FR_OK;
}

enum fr_status fr__fill_uncertainty(struct fr_record *out, struct fr__arena *arena,
                                    const struct fr__making *m, struct fr_error *err)
{
    struct replay r = {
        .m = m, .v = fr_plan_view(m->plan), .added_s = out->software_s + out->added_exchange_s};
    enum fr_status st;

    if (m->question->uncertainty == FR_UNCERTAINTY_NONE)
        return FR_OK;
    r.cost_s = calloc(r.v->n_costs + 1, sizeof(*r.cost_s));
    if (!r.cost_s)
        return fr__fail_nomem(err);
    st = find_interval(&r, out, err);
    if (st == FR_OK && m->question->uncertainty == FR_UNCERTAINTY_WHY)
        st = find_error_shares(&r, out, arena, err);
    free(r.cost_s);
    return st;
}
