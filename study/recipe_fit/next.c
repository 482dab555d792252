/* study/recipe_fit/next.c - which further measurement would narrow the answers most.
 *
 * Method:  a measurement with slopes s and the noise of all measurements leaves of the parts'
 *          covariance V the matrix V - V s s' V / (noise^2 + s' V s); of a question with slopes t
 *          the variance is then t' that t (Bayesian experimental design, the c-optimal one;
 *          Chaloner and Verdinelli, Statistical Science 10, 1995). Each variation of a measured row
 *          is simulated once: what its user can run too, on at most twice the GPUs.
 */
#include "config.h"

#include "base/error.h"
#include "study/recipe_fit/fitting.h"

#include <math.h>
#include <string.h>

/* Rows that variations are made of, and variations of each: cheap ones that a user can run. */
enum { MOST_ROWS = 8, N_VARIATIONS = 6 };

/* s' V t */
static double product(const double s[FR__N_MOVED], const struct fr__correction *c,
                      const double t[FR__N_MOVED])
{
    double sum = 0;

    for (unsigned k = 0; k < FR__N_MOVED; k++)
        for (unsigned l = 0; l < FR__N_MOVED; l++)
            sum += s[k] * c->variance[k][l] * t[l];
    return sum;
}

/* The mean width of what is asked; with: a further measurement, NULL: none. */
static double width(const struct fr__fitting *f, const struct fr__fit_step *with)
{
    bool have_questions = f->n_steps > f->n_measured;
    size_t from = have_questions ? f->n_measured : 0;
    double sum = 0;

    for (size_t i = from; i < f->n_steps; i++) {
        const struct fr__fit_step *s = &f->steps[i];
        double variance = fr__fit_variance(s, f, with);

        if (with)
            variance -= pow(product(s->slope, &f->correction, with->slope), 2) /
                        (FR__NOISE * FR__NOISE + product(with->slope, &f->correction, with->slope));
        sum += 2 * sinh(fr__fit_reach(fmax(0, variance)));
    }
    return sum / (double)(f->n_steps - from);
}

/* Variation v of a row: one GPU, one machine, half and twice the GPUs, twice and half the batch;
 * each GPU has as many samples as before unless the batch is varied. false: there is none. */
static bool vary(const struct fr__fit_step *row, unsigned v, struct fr_recipe_fit_next *out)
{
    const struct fr_validation_row *r = &row->row->row;
    const struct fr_topo *t = row->setting.topo;
    uint64_t each = r->global_batch / r->gpus, gpus = r->gpus, batch = r->global_batch;

    switch (v) {
    case 0:
        gpus = 1;
        break;
    case 1:
        gpus = 0;
        break;
    case 2:
        gpus = r->gpus / 2;
        break;
    case 3:
        gpus = 2 * r->gpus;
        break;
    case 4:
        batch = 2 * r->global_batch;
        break;
    default:
        batch = r->global_batch / 2;
        break;
    }
    if (v == 1)
        while (gpus < t->n_gpus && t->devices[gpus].machine == t->devices[0].machine)
            gpus++;
    if (v < 4)
        batch = each * gpus;
    if (gpus < 1 || gpus > t->n_gpus || batch < gpus || batch > UINT32_MAX ||
        (gpus == 1 && r->gpus == 1 && v < 4) || (row->question.devices && gpus != r->gpus))
        return false;
    *out = (struct fr_recipe_fit_next){.like = r->id,
                                       .strategy = gpus == 1 ? fr__baseline_name() : r->strategy,
                                       .gpus = gpus,
                                       .global_batch = batch};
    return true;
}

/* Whether a row is that measurement already, or a question: those one does not want to run. */
static bool is_there(const struct fr__fitting *f, const struct fr__fit_step *row,
                     const struct fr_recipe_fit_next *x)
{
    for (size_t i = 0; i < f->n_steps; i++) {
        const struct fr_validation_row *r = &f->steps[i].row->row, *of = &row->row->row;

        if (r->gpus == x->gpus && r->global_batch == x->global_batch &&
            strcmp(r->workload, of->workload) == 0 && strcmp(r->precision, of->precision) == 0 &&
            strcmp(r->options, of->options) == 0 &&
            (x->gpus == 1 || strcmp(r->strategy, of->strategy) == 0))
            return true;
    }
    return false;
}

/* Keeps the best, each once: variations of two rows may be the same question. */
static void offer(struct fr_recipe_fit *out, const struct fr_recipe_fit_next *x)
{
    size_t at = out->n_next;

    for (size_t k = 0; k < out->n_next; k++)
        if (out->next[k].gpus == x->gpus && out->next[k].global_batch == x->global_batch &&
            fabs(out->next[k].width_after / x->width_after - 1) < 1e-9)
            return;
    while (at > 0 && x->width_after < out->next[at - 1].width_after * (1 - 1e-9))
        at--;
    if (at == FR_RECIPE_FIT_NEXT)
        return;
    if (out->n_next < FR_RECIPE_FIT_NEXT)
        out->n_next++;
    memmove(&out->next[at + 1], &out->next[at], (out->n_next - 1 - at) * sizeof(*x));
    out->next[at] = *x;
}

/* Simulates a variation; one that cannot be run is no advice. */
static enum fr_status consider(struct fr_recipe_fit *out, struct fr__fitting *f,
                               const struct fr__fit_step *row, struct fr_recipe_fit_next *x,
                               struct fr_error *err)
{
    struct fr__fit_step s = *row;
    struct fr_error why;
    enum fr_status st;

    s.gpus = x->gpus;
    s.question.strategy = x->strategy;
    s.question.n_gpus = row->question.devices ? 0 : x->gpus;
    s.question.global_batch = (uint32_t)x->global_batch;
    st = fr__fit_step_open(&s, f, &why);
    if (st == FR_OK) {
        st = fr__fit_step_ask(&s, f, &why);
        fr_setting_fini(&s.setting);
    }
    if (st == FR_ENOMEM || st == FR_ECANCELLED) {
        *err = why;
        return st;
    }
    if (st != FR_OK)
        return FR_OK;
    x->width_before = width(f, NULL);
    x->width_after = width(f, &s);
    offer(out, x);
    return FR_OK;
}

enum fr_status fr__fit_next(struct fr_recipe_fit *out, struct fr__fitting *f, struct fr_error *err)
{
    for (size_t i = 0; i < f->n_measured && i < MOST_ROWS; i++)
        for (unsigned v = 0; v < N_VARIATIONS; v++) {
            struct fr_recipe_fit_next x;

            if (vary(&f->steps[i], v, &x) && !is_there(f, &f->steps[i], &x))
                FR_TRY(consider(out, f, &f->steps[i], &x, err));
        }
    return FR_OK;
}
