/* study/interval/interval.c - from a prediction to the range that holds 90 % of measured steps.
 *
 * Model:   ln(measured / predicted) has the quantiles q of the step's class (terms.h). They hold
 *          what the costs of those steps did. Where this step's costs are worse known, errors add
 *          as variances:
 *          high = predicted * exp(q50 + sqrt((q95 - q50)^2 + 1.645^2 (c^2 - c_class^2)))
 *          and low alike. Where they are better known, nothing is narrowed: what a class has in
 *          common is software, not kernels. Where measured steps correct the answer, c is what they
 *          leave, and more of them than the one that the class is made with do narrow it.
 *          The range of 90 % always holds the prediction.
 * It is separate from the terms, which are made from measurements.
 */
#include "config.h"

#include "study/interval/interval.h"

#include "base/error.h"
#include "study/interval/missed_kind.h"
#include "study/interval/cost_error.h"

#include <math.h>
#include <stdio.h>

/* Quantiles of a normal distribution: 95 % and 75 %. */
static const double Z95 = 1.64485, Z75 = 0.67449;

static struct fr__step_class class_of(const struct fr__making *m)
{
    struct fr__step_class c = fr__step_class_of(m->setting->graph);

    c.knows_recipe = m->question->recipe && !m->question->is_recipe_assumed;
    c.anchor = m->correction.anchor;
    c.place = fr__place_of(m->setting->topo, m->devices, m->n_devices);
    /* pairs of several GPUs, the one predicted from the other, are as far apart */
    if (c.place == FR__ONE_GPU && c.anchor == FR__BY_SEVERAL_GPUS)
        c.place = FR__ONE_MACHINE;
    return c;
}

/* Whether a GPU is one that we know, not one that a file made up. */
static bool are_known(const struct fr__making *m)
{
    const struct fr_topo *t = m->setting->topo;

    for (size_t i = 0; i < m->n_devices; i++)
        if (!fr_device_type_find(t->types[t->devices[m->devices[i]].type].name))
            return false;
    return true;
}

/* The share of compute time that is a prediction at all. */
static double predicted_frac(const struct fr_record *r, const struct fr__making *m)
{
    double frac = r->cost_frac[FR_TRUST_SCALED] + r->cost_frac[FR_TRUST_CALIBRATED] +
                  r->cost_frac[FR_TRUST_TRANSFERRED];

    return are_known(m) ? frac + r->cost_frac[FR_TRUST_DATASHEET] : frac;
}

/* A distance from the median is never more than halved. */
static double spread(double quantile, double median, double z, double extra)
{
    double d = quantile - median;

    return (d < 0 ? -1 : 1) * sqrt(fmax(d * d / 4, d * d + z * z * extra));
}

void fr__interval_of(struct fr_record_interval *out, double iteration_s, bool is_anchored,
                     const struct fr__step_term *term, double cost_error)
{
    const double *q = term->q, median = q[FR__Q50];
    double extra = cost_error * cost_error - term->cost_error * term->cost_error;

    if (!is_anchored)
        extra = fmax(0, extra);

    out->is_known = true;
    out->cost_error = cost_error;
    out->median_s = iteration_s * exp(median);
    /* a range that does not hold the time beside it is taken for a mistake */
    out->low_s = iteration_s * exp(fmin(0, median + spread(q[FR__Q05], median, Z95, extra)));
    out->high_s = iteration_s * exp(fmax(0, median + spread(q[FR__Q95], median, Z95, extra)));
    out->half_low_s = iteration_s * exp(median + spread(q[FR__Q25], median, Z75, extra));
    out->half_high_s = iteration_s * exp(median + spread(q[FR__Q75], median, Z75, extra));
}

/* What the measured steps are to the question. */
static const char *anchor_words(enum fr__anchor anchor)
{
    static const char *const words[FR__N_ANCHORS] = {"", ", their one-GPU step known",
                                                     ", their step on another number of GPUs known",
                                                     ", their step on as many GPUs known"};

    return words[anchor];
}

/* "several machines, convolutions, fp32 or tf32": the class, or as much of it as a basis is of. */
static void name_class(char text[], size_t size, struct fr__step_class c, enum fr__basis basis)
{
    const char *work = c.is_convolutional ? "convolutions" : "products";
    const char *recipe = c.knows_recipe ? ", recipe given" : "";
    const char *anchor = anchor_words(c.anchor);

    if (basis == FR__OWN_ROWS)
        snprintf(text, size, "%s, %s, %s%s%s", fr__place_name(c.place), work,
                 c.is_half ? "16 bits or fewer" : "fp32 or tf32", recipe, anchor);
    else if (basis == FR__OTHER_NUMBERS)
        snprintf(text, size, "%s, %s, any format%s%s", fr__place_name(c.place), work, recipe,
                 anchor);
    else if (basis == FR__OTHER_PLACES)
        snprintf(text, size, "%s anywhere%s%s", work, recipe, anchor);
    else
        snprintf(text, size, "any work anywhere%s%s", recipe, anchor);
}

/* "one GPU, convolutions, fp32 or tf32: 81 published steps of 4 sources" */
static enum fr_status say_class(struct fr_record_interval *out, struct fr__arena *arena,
                                struct fr__step_class c, const struct fr__step_basis *basis,
                                struct fr_error *err)
{
    bool are_pairs = c.anchor > FR__BY_ONE_GPU; /* one measured, the other predicted from it */
    char text[600], of[160], own[160];

    name_class(of, sizeof(of), c, basis->rows);
    name_class(own, sizeof(own), c, FR__OWN_ROWS);
    snprintf(text, sizeof(text), "%s: %u %s%s of %s%u source%s", of, basis->n_rows,
             are_pairs ? "published pair" : "published step", basis->n_rows == 1 ? "" : "s",
             basis->rows == FR__OWN_ROWS ? "" : "at least ", basis->n_sources,
             basis->n_sources == 1 ? "" : "s");
    if (basis->is_guess && basis->n_rows > 0)
        snprintf(text, sizeof(text),
                 "nobody published a step of %s; as wide as the widest class that somebody did, "
                 "and nearest are %u %s%s of %s",
                 own, basis->n_rows, are_pairs ? "published pair" : "published step",
                 basis->n_rows == 1 ? "" : "s", of);
    else if (basis->is_guess)
        snprintf(text, sizeof(text),
                 "nobody published a step of %s; as wide as the widest class that somebody did",
                 own);
    out->is_guess = basis->is_guess;
    out->of = fr__arena_strdup(arena, text);
    out->name = fr__step_class_name(c);
    return out->of ? FR_OK : fr__fail_nomem(err);
}

static void fill_correction(struct fr_record *r, const struct fr__making *m,
                            const struct fr__step_units *units)
{
    const struct fr__correction *c = &m->correction;
    const struct fr__contradiction *x;

    r->correction.is_asked = m->question->measured != NULL || c->n_believed > 0;
    if (!fr__is_corrected(c))
        return;
    x = &c->contradiction;
    r->correction = (struct fr_record_correction){
        .is_asked = true,
        .n_steps = c->n_steps,
        .n_recipe_steps = c->n_believed,
        .n_gpus = c->n_gpus,
        .compute_factor = exp(c->moved[FR__COMPUTE]),
        .host_factor = exp(c->moved[FR__HOST]),
        .exchange_factor = 1 + c->moved[FR__EXCHANGE],
        .copies_s = c->moved[FR__COPIES] * units->copies_s,
        .step_s = fr__correction_step_s(c, units),
        .exchange_s = fr__correction_exchange_s(c, units),
        .batch = c->batch,
        .n_events = c->n_events,
        .predicted_s = c->predicted_s,
        .measured_s = c->measured_s,
        .predicted_bytes = c->predicted_bytes,
        .measured_bytes = c->measured_bytes,
        .contradiction = {x->contradicts != FR__CONTRADICTS_NOTHING, x->n_gpus, x->batch,
                          x->measured_s, x->expected_s, x->low_s, x->high_s, x->n_others},
        .error = fr__correction_error(c, m->setting->topo->devices[m->devices[0]].type,
                                      m->run->parts_s, units, r->iteration_s - r->input_wait_s)};
}

/* Where a measured step contradicts what is known, nobody can tell which of them is wrong: the
 * range also holds what the answer were if the step had taken what is known of it. */
static void hold_both(struct fr_record_interval *out, const struct fr_record_contradiction *x)
{
    double factor = x->is_known ? x->expected_s / x->measured_s : 1;

    out->low_s *= fmin(factor, 1);
    out->high_s *= fmax(factor, 1);
}

/* Samples take what the user, or the recipe, says that they take: software's error is that of what
 * is computed meanwhile, and the step takes the longer of the two. */
static void wait_for_input(struct fr_record_interval *out, double input_s)
{
    out->low_s = fmax(out->low_s, input_s);
    out->half_low_s = fmax(out->half_low_s, input_s);
    out->median_s = fmax(out->median_s, input_s);
    out->half_high_s = fmax(out->half_high_s, input_s);
    out->high_s = fmax(out->high_s, input_s);
}

/* Where published steps of this kind took longer than its class allows, the range holds them. A
 * step of several GPUs that the user measured knows better. */
static void hold_missed_kind(struct fr_record_interval *out, double iteration_s,
                             uint32_t param_shards)
{
    const struct fr__missed_kind *c = fr__missed_kind_of(param_shards);

    if (!c)
        return;
    out->half_high_s = fmax(out->half_high_s, iteration_s * sqrt(c->least * c->most));
    out->high_s = fmax(out->high_s, iteration_s * c->most);
}

enum fr_status fr__fill_interval(struct fr_record *r, struct fr__arena *arena,
                                 const struct fr__making *m, const struct fr__step_units *units,
                                 struct fr_error *err)
{
    struct fr__step_class c = class_of(m);
    struct fr__step_basis basis;
    const struct fr__step_term term = fr__step_claim(c, &basis);
    double cost_error, computed_s;

    fill_correction(r, m, units);
    computed_s = r->iteration_s - r->input_wait_s;
    if (!(computed_s > 0) || !(predicted_frac(r, m) > 0))
        return FR_OK;
    FR_TRY(fr__cost_error(&cost_error, m, r, err));
    fr__interval_of(&r->interval, computed_s, c.anchor != FR__NOT_ANCHORED, &term, cost_error);
    if (c.anchor == FR__NOT_ANCHORED || c.anchor == FR__BY_ONE_GPU)
        hold_missed_kind(&r->interval, computed_s, fr_plan_view(m->plan)->param_shards);
    hold_both(&r->interval, &r->correction.contradiction);
    wait_for_input(&r->interval, r->input_s);
    return say_class(&r->interval, arena, c, &basis, err);
}
