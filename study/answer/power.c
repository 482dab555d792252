/* study/answer/power.c - what GPUs draw under a power limit, and the clock that it leaves them.
 *
 * A GPU draws its idle power all the time, and while it computes what its mean op draws beside
 * (calibrate/power/power.h).
 * Ignores: what a GPU draws while it sends, and hosts, switches and cooling.
 */
#include "config.h"

#include "study/answer/record.h"

#include "base/error.h"
#include "calibrate/power/clocks.h"
#include "study/session/kept.h"

#include <math.h>
#include <stdio.h>

static void write_known(char text[256])
{
    size_t n = 0;

    for (size_t i = 0; i < fr__n_powers && n < 256; i++)
        n += (size_t)snprintf(text + n, 256 - n, "%s%s", i ? " " : "", fr__powers[i].chip);
}

/* Whether a limit that was typed can be kept by a GPU of this type. */
static enum fr_status check_limit(const char *name, double limit_W, struct fr_error *err)
{
    const struct fr__power *p = fr__power_of(name);
    char known[256] = "";

    write_known(known);
    if (!p)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "what a '%s' draws is not known, so no power limit can be asked for "
                        "(known: %s)",
                        name, known);
    if (limit_W <= p->idle_W)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "a '%s' draws %g W without work, so it cannot keep to %g W", name,
                        p->idle_W, limit_W);
    return FR_OK;
}

enum fr_status fr__clocks_make(struct fr_clocks **out, const struct fr_setting *s,
                               const struct fr_question *q, const uint32_t devices[],
                               size_t n_devices, struct fr_cost_memo *memo, struct fr_error *err)
{
    const struct fr_topo *t = s->topo;
    bool is_given = q->power_limit_W > 0, is_known = false;

    *out = NULL;
    if (isinf(q->power_limit_W))
        return FR_OK;
    for (size_t i = 0; i < n_devices; i++) {
        const struct fr_device_type *d = &t->types[t->devices[devices[i]].type];

        if (is_given)
            FR_TRY(check_limit(d->name, q->power_limit_W, err));
        is_known |= fr__power_of(d->name) && (is_given || d->board_W > 0);
    }
    if (!is_known)
        return FR_OK;
    *out = fr__clocks_new(s->costs, memo, s->graph, is_given ? q->power_limit_W : INFINITY);
    return *out ? FR_OK : fr__fail_nomem(err);
}

/* What one GPU draws over the step, and may draw. false: not known. */
static bool draw_of(const struct fr__making *m, const struct fr_record *r,
                    const struct fr_record_device *d, double *step_J, double *limit_W)
{
    const struct fr_topo *t = m->setting->topo;
    const struct fr_device_type *type = &t->types[t->devices[d->device].type];
    double asked_W = m->question->power_limit_W > 0 ? m->question->power_limit_W : INFINITY;
    struct fr__clock c;

    if (!fr__power_of(type->name))
        return false;
    c = fr__clock_of_type(m->clocks, t->devices[d->device].type);
    *limit_W = fmin(asked_W, type->board_W > 0 ? type->board_W : INFINITY);
    *step_J = c.idle_W * r->iteration_s + (c.working_W - c.idle_W) * d->compute_s;
    return isfinite(*limit_W);
}

void fr__fill_power(struct fr_record *r, const struct fr__making *m)
{
    const struct fr_topo *t = m->setting->topo;
    double step_J = 0, limits_W = 0, clock = 1;
    size_t n = 0;

    if (!m->clocks)
        return;
    for (size_t i = 0; i < r->n_devices; i++) {
        const struct fr_record_device *d = &r->devices[i];
        uint32_t type = t->devices[d->device].type;
        double each_J, limit_W;

        if (!t->types[type].is_gpu)
            continue;
        if (!draw_of(m, r, d, &each_J, &limit_W))
            return;
        step_J += (double)d->count * each_J;
        limits_W += (double)d->count * limit_W;
        n += d->count;
        if (d->compute_s > 0)
            clock = fmin(clock, fr__clock_of_type(m->clocks, type).clock);
    }
    if (n == 0 || !(r->iteration_s > 0))
        return;
    r->clock = clock;
    r->step_J = step_J;
    r->gpu_W = step_J / (double)n / r->iteration_s;
    r->power_limit_W = limits_W / (double)n;
    r->is_power_limited = clock < 1;
    r->asks_power_limit = m->question->power_limit_W > 0;
}
