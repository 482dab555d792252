/* study/interval/contradiction.c - holds measured steps against published ones and against each
 * other. */
#include "config.h"

#include "study/interval/contradiction.h"

#include "base/error.h"
#include "base/units.h"
#include "study/interval/terms.h"

#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Other steps are asked for, which costs a run each. */
enum { MOST_OTHERS = 8 };

/* The class of a step before anything was measured. */
static struct fr__step_term term_of(const struct fr__update *u, uint32_t n_gpus,
                                    enum fr__anchor anchor)
{
    const struct fr_topo *t = n_gpus > u->setting->topo->n_gpus ? u->grown.topo : u->setting->topo;
    struct fr__step_class c = fr__step_class_of(u->setting->graph);
    struct fr__step_basis basis;

    c.knows_recipe = u->question->recipe && !u->question->is_recipe_assumed;
    c.anchor = anchor;
    if (n_gpus > 1 && n_gpus <= u->n_devices)
        c.place = fr__place_of(t, u->devices, n_gpus);
    else if (n_gpus > 1)
        c.place = t->devices[n_gpus - 1].machine != t->devices[0].machine ? FR__MACHINES
                                                                          : FR__ONE_MACHINE;
    return fr__step_claim(c, &basis);
}

/* Keeps the contradiction that is further outside of its range than the one so far. */
static void offer(const struct fr__update *u, const struct fr__contradiction *new)
{
    struct fr__contradiction *worst = &u->c->contradiction;
    double over = fmax(log(new->measured_s / new->high_s), log(new->low_s / new->measured_s));
    double so_far =
        worst->contradicts == FR__CONTRADICTS_NOTHING
            ? 0
            : fmax(log(worst->measured_s / worst->high_s), log(worst->low_s / worst->measured_s));

    if (over > so_far)
        *worst = *new;
}

/* Holds a step of the fit against its class and the other steps of the fit. The correction is the
 * fitted one. */
static enum fr_status check_step(const struct fr__update *u, const struct fr__measured_step *m,
                                 struct fr_error *err)
{
    struct fr__correction *c = u->c, fitted = *c;
    const struct fr__step_term term = term_of(u, m->n_gpus, FR__NOT_ANCHORED);
    struct fr__contradiction x = {
        FR__CONTRADICTS_CLASS, m->n_gpus, m->batch, m->time_s, 0, 0, 0, 0};
    double slope[FR__N_MOVED], bytes, time_s, leverage, miss, deviation;

    memset(c->moved, 0, sizeof(c->moved));
    FR_TRY(u->run(u, m, &x.expected_s, slope, &bytes, err));
    memcpy(c->moved, fitted.moved, sizeof(c->moved));
    x.low_s = x.expected_s * exp(fmin(0, term.q[FR__Q05]));
    x.high_s = x.expected_s * exp(fmax(0, term.q[FR__Q95]));
    x.expected_s *= exp(term.q[FR__Q50]);
    offer(u, &x);
    if (u->measured->n < 2)
        return FR_OK;
    FR_TRY(u->run(u, m, &time_s, slope, &bytes, err));
    miss = log(m->time_s / time_s);
    leverage = fr__normal_weight(miss, FR__NOISE * FR__NOISE, u->freedom) *
               fr__normal_spread(slope, (const double(*)[FR__N_MOVED])c->variance) /
               (FR__NOISE * FR__NOISE);
    leverage = fmin(fmax(leverage, 0), 0.999);
    miss /= 1 - leverage;
    deviation = fmax(FR__NOISE / sqrt(1 - leverage), sqrt(2) * FR__NOISE);
    x.contradicts = FR__CONTRADICTS_STEPS;
    x.n_others = u->measured->n - 1;
    x.expected_s = m->time_s * exp(-miss);
    x.low_s = x.expected_s * exp(-1.96 * deviation);
    x.high_s = x.expected_s * exp(1.96 * deviation);
    offer(u, &x);
    return FR_OK;
}

/* Whether the fit took a step. */
static bool is_kept(const struct fr__update *u, const struct fr__measured_step *m)
{
    for (size_t i = 0; i < u->measured->n; i++)
        if (u->measured->steps[i].n_gpus == m->n_gpus && u->measured->steps[i].batch == m->batch &&
            strcmp(u->measured->steps[i].strategy, m->strategy) == 0)
            return true;
    return false;
}

/* Holds the fit against the steps that it did not take, on other numbers of GPUs, of which those on
 * several come first. Their misses by the fit are what the first step of the fit is wrong by. */
static enum fr_status check_fit(const struct fr__update *u, const struct fr__measured *all,
                                struct fr_error *err)
{
    const struct fr__measured_step *m = &u->measured->steps[0];
    double misses[MOST_OTHERS], slope[FR__N_MOVED], bytes, time_s, median;
    bool have_several = false;
    struct fr__step_term term;
    size_t n = 0;
    struct fr__contradiction x = {
        FR__CONTRADICTS_STEPS, m->n_gpus, m->batch, m->time_s, 0, 0, 0, 0};

    for (size_t i = 0; i < all->n; i++)
        have_several = have_several || (all->steps[i].n_gpus > 1 && !is_kept(u, &all->steps[i]));
    for (size_t i = 0; i < all->n && n < MOST_OTHERS; i++) {
        const struct fr__measured_step *o = &all->steps[i];

        if (is_kept(u, o) || (have_several && o->n_gpus == 1) ||
            o->n_gpus > u->setting->topo->n_gpus ||
            (u->question->devices && o->n_gpus > u->n_devices))
            continue;
        FR_TRY(u->run(u, o, &time_s, slope, &bytes, err));
        misses[n++] = log(o->time_s / time_s);
    }
    if (n == 0)
        return FR_OK;
    gsl_sort(misses, 1, n);
    median = (misses[(n - 1) / 2] + misses[n / 2]) / 2;
    term =
        term_of(u, m->n_gpus, have_several && m->n_gpus > 1 ? FR__BY_SEVERAL_GPUS : FR__BY_ONE_GPU);
    /* what the others miss by the fit, the step misses by the others, with the sign turned round; a
     * step of several GPUs takes longer by what they lose than one GPU says */
    x.n_others = n;
    x.expected_s = m->time_s * exp(median);
    x.low_s = x.expected_s * exp(fmin(m->n_gpus > 1 ? term.q[FR__Q05] : -term.q[FR__Q95], 0));
    x.high_s = x.expected_s * exp(fmax(m->n_gpus > 1 ? term.q[FR__Q95] : -term.q[FR__Q05], 0));
    offer(u, &x);
    return FR_OK;
}

enum fr_status fr__find_contradiction(const struct fr__update *u, const struct fr__measured *all,
                                      struct fr_error *err)
{
    for (size_t i = 0; i < u->measured->n && i < MOST_OTHERS; i++)
        FR_TRY(check_step(u, &u->measured->steps[i], err));
    return check_fit(u, all, err);
}

void fr__say_contradiction(char text[], size_t size, const struct fr__contradiction *x)
{
    char measured[32], expected[32], low[32], high[32], where[24] = "one GPU", by[80];
    bool is_slower = x->measured_s > x->expected_s;
    double percent = 100 * fabs(x->measured_s / x->expected_s - 1);

    if (x->n_gpus > 1)
        snprintf(where, sizeof(where), "%u GPUs", (unsigned)x->n_gpus);
    if (x->contradicts == FR__CONTRADICTS_CLASS)
        snprintf(by, sizeof(by), "published steps of its class");
    else
        snprintf(by, sizeof(by), "%zu other measured step%s", x->n_others,
                 x->n_others == 1 ? "" : "s");
    snprintf(text, size,
             "a measured step (%s, %u samples) contradicts %s: it took %s, %.3g %% %s than the %s "
             "that they say (90 %%: %s to %s), and this answer leans on it",
             where, (unsigned)x->batch, by,
             fr__format_time(x->measured_s, measured, sizeof(measured)), percent,
             is_slower ? "longer" : "less",
             fr__format_time(x->expected_s, expected, sizeof(expected)),
             fr__format_time(x->low_s, low, sizeof(low)),
             fr__format_time(x->high_s, high, sizeof(high)));
}
