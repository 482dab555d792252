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

enum fr_status fr__clocks_make(struct fr_clocks **out, const struct fr__making *m,
                               struct fr_error *err)
{
    const struct fr_topo *t = m->setting->topo;
    double limit_W = m->question->power_limit_W;

    *out = NULL;
    if (!(limit_W > 0))
        return FR_OK;
    for (size_t i = 0; i < m->n_devices; i++) {
        const char *name = t->types[t->devices[m->devices[i]].type].name;
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
    }
    *out = fr__clocks_new(m->setting->costs, m->tools->memo, m->setting->graph, limit_W);
    return *out ? FR_OK : fr__fail_nomem(err);
}

void fr__fill_power(struct fr_record *r, const struct fr__making *m)
{
    const struct fr_topo *t = m->setting->topo;
    double step_J = 0;
    size_t n = 0;

    if (!m->clocks)
        return;
    r->power_limit_W = m->question->power_limit_W;
    r->clock = 1;
    for (size_t i = 0; i < r->n_devices; i++) {
        const struct fr_record_device *d = &r->devices[i];
        const struct fr_device_type *type = &t->types[t->devices[d->device].type];
        struct fr__clock c;

        if (!type->is_gpu)
            continue;
        c = fr__clock_of_type(m->clocks, t->devices[d->device].type);
        step_J += (double)d->count *
                  (c.idle_W * r->iteration_s + (c.working_W - c.idle_W) * d->compute_s);
        n += d->count;
        if (d->compute_s > 0)
            r->clock = fmin(r->clock, c.clock);
    }
    r->step_J = step_J;
    r->gpu_W = n > 0 && r->iteration_s > 0 ? step_J / (double)n / r->iteration_s : 0;
}
