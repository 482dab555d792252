/* study/answer/seeds.c - runs a question with many seeds and says what their times have in common.
 *
 * The plan is the same for all seeds, but for a random order of transfers, which each seed draws
 * anew. Only times are kept of these runs.
 */
#include "config.h"

#include "base/error.h"
#include "study/answer/record.h"

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

/* The plan that a seed runs: the question's, or with transfers in that seed's order. *own: what the
 * caller frees. */
static enum fr_status plan_of(const struct fr__making *m, const struct fr_run_options *o,
                              const struct fr_plan **plan, struct fr_plan **own,
                              struct fr_error *err)
{
    struct fr_plan *many;
    size_t n_ordered;

    *own = NULL;
    *plan = m->plan;
    if (!m->unordered)
        return FR_OK;
    FR_TRY(fr_run_order(m->unordered, o, own, &n_ordered, err));
    if (m->question->iterations > 1) {
        enum fr_status st = fr_plan_unroll(*own, m->question->iterations, &many, err);

        fr_plan_free(*own);
        *own = NULL;
        if (st != FR_OK)
            return st;
        *own = many;
    }
    *plan = *own;
    return FR_OK;
}

static enum fr_status run_seed(const struct fr__making *m, uint64_t seed, double *iteration_s,
                               struct fr_error *err)
{
    struct fr_run_options o = m->options;
    const struct fr_plan *plan;
    struct fr_plan *own;
    struct fr_run *run;
    enum fr_status st;

    o.want = 0; /* the time alone */
    o.seed = seed;
    FR_TRY(plan_of(m, &o, &plan, &own, err));
    st = fr_simulation_run(m->simulation, plan, &o, &run, err);
    if (st == FR_OK) {
        *iteration_s = run->iteration_s;
        fr_run_free(run);
    }
    fr_plan_free(own);
    return st;
}

/* Sorts times_s: [s->n]. */
static void summarise(struct fr_record_seeds *s, double times_s[])
{
    double sum = 0, squares = 0;

    for (uint32_t i = 0; i < s->n;
         i++) /* in this order, for the same bytes: GSL's mean is another */
        sum += times_s[i];
    s->mean_s = sum / s->n;
    for (uint32_t i = 0; i < s->n; i++)
        squares += (times_s[i] - s->mean_s) * (times_s[i] - s->mean_s);
    s->standard_error_s = sqrt(squares / (s->n - 1.0) / s->n);
    gsl_sort(times_s, 1, s->n);
    s->min_s = times_s[0];
    s->p50_s = gsl_stats_quantile_from_sorted_data(times_s, 1, s->n, 0.50);
    s->p95_s = gsl_stats_quantile_from_sorted_data(times_s, 1, s->n, 0.95);
    s->p99_s = gsl_stats_quantile_from_sorted_data(times_s, 1, s->n, 0.99);
    s->max_s = times_s[s->n - 1];
    if (s->min_s >= s->max_s) { /* a sum of equal numbers may round */
        s->mean_s = s->min_s;
        s->standard_error_s = 0;
    }
}

enum fr_status fr__fill_seeds(struct fr_record *r, const struct fr__making *m, struct fr_error *err)
{
    const struct fr_question *q = m->question;
    struct fr_record_seeds s = {.first = q->run.seed, .n = q->n_seeds};
    enum fr_status st = FR_OK;
    double *times_s;

    if (q->n_seeds < 2)
        return FR_OK;
    s.is_all_alike =
        !(q->run.jitter_cv > 0) && !(q->run.device_cv > 0) && q->run.order != FR_ORDER_RANDOM;
    times_s = calloc(s.n, sizeof(*times_s));
    if (!times_s)
        return fr__fail_nomem(err);
    times_s[0] = m->run->iteration_s;
    for (uint32_t i = 1; i < s.n && st == FR_OK; i++) {
        times_s[i] = times_s[0];
        if (!s.is_all_alike)
            st = run_seed(m, s.first + i, &times_s[i], err);
    }
    if (st == FR_OK) {
        summarise(&s, times_s);
        r->seeds = s;
    }
    free(times_s);
    return st;
}
