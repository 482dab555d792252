/* study/question/variation.c - order statistics of GPUs, and the slowness that they make. */
#include "config.h"

#include "study/question/variation.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

/* E = integral of 1 - F(x)^n over x > 0, less that of F(x)^n over x < 0; F: the normal
 * distribution. Trapezoids, whose error is far below the figures' own on a smooth integrand. */
double fr__largest_normal(size_t n)
{
    static const double LEAST = -9, STEP = 1.0 / 64;
    enum { N_STEPS = 18 * 64 };
    double sum = 0;

    if (n < 2)
        return 0;
    for (int i = 0; i <= N_STEPS; i++) {
        double x = LEAST + i * STEP, below = pow(0.5 * erfc(-x / sqrt(2)), (double)n);

        sum += x < 0 ? -below : x > 0 ? 1 - below : 0.5 - below;
    }
    return sum * STEP;
}

double fr__wait_factor(const struct fr__making *m)
{
    double of_gpus = fmax(m->question->gpu_variation, 0);
    double of_lengths = fmax(m->question->length_variation, 0);

    if (!(of_gpus + of_lengths > 0))
        return 1;
    return 1 + hypot(of_gpus, of_lengths) * fr__largest_normal(m->n_devices);
}

double fr__length_wait_frac(const struct fr__making *m)
{
    double of_gpus = fmax(m->question->gpu_variation, 0);
    double of_lengths = fmax(m->question->length_variation, 0);

    return of_lengths > 0 ? 1 - of_gpus / hypot(of_gpus, of_lengths) : 0;
}

enum fr_status fr__wait_for_slowest(struct fr__making *m, struct fr_error *err)
{
    const struct fr_topo *t = m->setting->topo;
    const double *given = m->question->run.slowness;
    size_t n = fr_n_resources(t);
    double factor = fr__wait_factor(m);
    bool *is_done;

    if (!(factor > 1))
        return FR_OK;
    is_done = calloc(t->n_types + 1, sizeof(*is_done));
    if (is_done && !m->slowness) {
        m->slowness = calloc(n + 1, sizeof(*m->slowness));
        for (size_t i = 0; m->slowness && i < n; i++)
            m->slowness[i] = given ? given[i] : 1;
    }
    if (!is_done || !m->slowness) {
        free(is_done);
        return fr__fail_nomem(err);
    }
    for (size_t d = 0; d < m->n_devices; d++) {
        uint32_t type = t->devices[m->devices[d]].type;

        for (unsigned what = 0; what < FR_N_DEVICE_RESOURCES && !is_done[type]; what++)
            if (what != FR_DEVICE_LAUNCH)
                m->slowness[fr_device_resource(type, (enum fr_device_resource)what)] *= factor;
        is_done[type] = true;
    }
    free(is_done);
    return FR_OK;
}
