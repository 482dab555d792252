/* study/answer/sensitivity.c - how much faster links and devices would help, from one run and from
 * others.
 *
 * From one run: resource i accounts for part_s of the iteration (sim/sim.h). If it were FR_FASTER
 * times as fast it would account for part_s / FR_FASTER, provided that tasks still waited for the
 * same things. This is an estimate, too large if something else soon becomes the bottleneck.
 * Running again gives the answer.
 */
#include "config.h"

#include "base/error.h"
#include "study/answer/record.h"

#include <math.h>
#include <stdlib.h>

static const double STEP = 0.01; /* change of slowness between two runs for a slope */

static int compare(const void *a, const void *b)
{
    const struct fr_record_sensitivity *x = a, *y = b;
    double p = fabs(x->part_s), q = fabs(y->part_s);

    if (p != q)
        return p > q ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Time with one resource's slowness changed. slowness: [fr_n_resources] of the run. */
static enum fr_status run_again(const struct fr__making *m, double slowness[], size_t resource,
                                double factor, double *iteration_s, struct fr_error *err)
{
    struct fr_run_options o = m->options;
    double usual = slowness[resource];
    struct fr_run *run;
    enum fr_status st;

    o.want = 0; /* the time alone */
    o.slowness = slowness;
    slowness[resource] *= factor;
    st = fr_simulation_run(m->simulation, m->plan, &o, &run, err);
    slowness[resource] = usual;
    if (st != FR_OK)
        return st;
    *iteration_s = run->iteration_s;
    fr_run_free(run);
    return FR_OK;
}

static enum fr_status rerun(const struct fr__making *m, struct fr_record_sensitivity list[],
                            size_t n, struct fr_error *err)
{
    const struct fr_topo *t = m->setting->topo;
    size_t n_resources = fr_n_resources(t);
    double *slowness = calloc(n_resources, sizeof(*slowness));
    double base_s = m->run->iteration_s, slow_s = 0, fast_s = 0, faster_s = 0;
    enum fr_status st = slowness ? FR_OK : fr__fail_nomem(err);

    for (size_t i = 0; slowness && i < n_resources; i++)
        slowness[i] = m->options.slowness ? m->options.slowness[i] : 1;
    for (size_t i = 0; st == FR_OK && i < n; i++) {
        struct fr_record_sensitivity *s = &list[i];

        st = run_again(m, slowness, s->number, 1 + STEP / 2, &slow_s, err);
        if (st == FR_OK)
            st = run_again(m, slowness, s->number, 1 - STEP / 2, &fast_s, err);
        if (st == FR_OK)
            st = run_again(m, slowness, s->number, 1 / FR_FASTER, &faster_s, err);
        s->rerun_elasticity = (slow_s - fast_s) / (STEP * base_s) * (s->is_time ? 1 : -1);
        s->rerun_faster_frac = faster_s / base_s - 1;
    }
    free(slowness);
    return st;
}

/* list: [fr_n_resources], zeroed. */
static enum fr_status read_parts(const struct fr__making *m, struct fr__arena *arena,
                                 struct fr_record_sensitivity list[], size_t *n,
                                 struct fr_error *err)
{
    const struct fr_topo *t = m->setting->topo;
    const struct fr_run *run = m->run;

    for (size_t i = 0; i < fr_n_resources(t); i++) {
        struct fr_record_sensitivity *s = &list[*n];
        double share = run->parts_s[i] / run->iteration_s;
        char name[160];

        /* what is left of sums that cancel is rounding */
        if (!(fabs(share) > 1e-9))
            continue;
        s->number = (uint32_t)i;
        s->is_time = fr_resource_is_time(t, i);
        s->part_s = run->parts_s[i];
        s->elasticity = s->is_time ? share : -share;
        s->faster_frac = -share * (FR_FASTER - 1) / FR_FASTER;
        s->resource = fr__arena_strdup(arena, fr_resource_name(t, i, name, sizeof(name)));
        if (!s->resource)
            return fr__fail_nomem(err);
        ++*n;
    }
    return FR_OK;
}

enum fr_status fr__fill_sensitivities(struct fr_record *r, struct fr__arena *arena,
                                      const struct fr__making *m, struct fr_error *err)
{
    struct fr_record_sensitivity *list;
    size_t n = 0;

    if (m->question->sensitivity == FR_SENSITIVITY_NONE || !m->run->parts_s ||
        !(m->run->iteration_s > 0))
        return FR_OK;
    list = fr__arena_alloc(arena, fr_n_resources(m->setting->topo), sizeof(*list));
    if (!list)
        return fr__fail_nomem(err);
    FR_TRY(read_parts(m, arena, list, &n, err));
    qsort(list, n, sizeof(*list), compare);
    if (m->question->sensitivity == FR_SENSITIVITY_RERUN) {
        FR_TRY(rerun(m, list, n, err));
        r->has_reruns = true;
    }
    r->is_rough = m->run->n_rough > 0;
    r->sensitivities = list;
    r->n_sensitivities = n;
    return FR_OK;
}
