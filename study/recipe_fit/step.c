/* study/recipe_fit/step.c - a row of a fit as a question that is asked again and again. */
#include "config.h"

#include "base/error.h"
#include "study/answer/record.h"
#include "study/recipe_fit/fitting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Quantile of a normal distribution: 95 %. */
static const double Z95 = 1.64485;

double fr__fit_reach(double variance)
{
    return Z95 * sqrt(variance + FR__NOISE * FR__NOISE);
}

/* Deviation of steps on more GPUs than any that was measured, beside what the parts leave: so that
 * 89 % of 200 published ones lie in the range of 90 %, of four steps each on at most 8 and 16 GPUs
 * (DLPerf, 2020). */
static const double BEYOND = 0.1;

double fr__fit_variance(const struct fr__fit_step *s, const struct fr__fitting *f,
                        const struct fr__fit_step *with)
{
    double variance =
        fr__normal_spread(s->slope, (const double(*)[FR__N_MOVED])f->correction.variance);
    bool has_network = f->n_machines > 1 || (with && with->n_machines > 1);
    uint64_t most = with ? with->gpus : 0;

    for (size_t i = 0; i < f->n_measured; i++)
        if (f->steps[i].gpus > most)
            most = f->steps[i].gpus;
    if (!has_network && s->n_machines > 1)
        variance += s->slope[FR__EXCHANGE] * s->slope[FR__EXCHANGE] * f->network_variance;
    return s->gpus > most ? variance + BEYOND * BEYOND : variance;
}

enum fr_status fr__fit_step_open(struct fr__fit_step *s, const struct fr__fitting *f,
                                 struct fr_error *err)
{
    uint32_t *devices = NULL;
    size_t n = 0;
    enum fr_status st;

    FR_TRY(fr_session_setting(f->session, &s->question, &s->setting, err));
    st = fr__devices_choose(&devices, &n, s->setting.topo, &s->question, err);
    if (st == FR_OK)
        st = fr__check_types(s->setting.topo, devices, n, err);
    if (st == FR_OK) {
        s->type = s->setting.topo->devices[devices[0]].type;
        s->n_machines = fr__place_of(s->setting.topo, devices, n) == FR__MACHINES ? 2 : 1;
    } else {
        fr_setting_fini(&s->setting);
    }
    free(devices);
    return st;
}

enum fr_status fr__fit_step_ask(struct fr__fit_step *s, struct fr__fitting *f, struct fr_error *err)
{
    struct fr__simulated_step out = {.parts_s = NULL};
    enum fr_status st;

    out.parts_s = calloc(fr_n_resources(s->setting.topo) + 1, sizeof(*out.parts_s));
    if (!out.parts_s)
        return fr__fail_nomem(err);
    st = fr__step_simulate(&f->correction, &s->setting, &s->question, s->type, fr__answer_step,
                           f->context, &out, err);
    free(out.parts_s);
    FR_TRY(st);
    s->time_s = out.time_s;
    memcpy(s->slope, out.slope, sizeof(s->slope));
    f->n_asked++;
    if (f->context && f->context->progress)
        f->context->progress(f->context->progress_user, "steps", f->n_asked, 0);
    return FR_OK;
}
