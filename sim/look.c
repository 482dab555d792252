/* sim/look.c - tells of progress, and looks at the flag that ends a run. Apart from engine.c, since
 * what the engine calls looks too. */
#include "config.h"

#include "sim/engine.h"

#include "base/cancel.h"
#include "base/error.h"

enum { LOOK_EVERY = 1 << 14 };

void fr__engine_look_up(struct fr__engine *e)
{
    const struct fr_context *c = e->o->context;

    if (!c)
        return;
    if (c->progress)
        c->progress(c->progress_user, "simulating", e->n_done, e->v->n_tasks);
    if (fr__flag_is_set(c->cancel) && e->status == FR_OK)
        e->status = fr__fail(e->err, FR_ECANCELLED, FR_NOWHERE,
                             "interrupted at %g simulated seconds", e->now_s);
}

bool fr__engine_goes_on(struct fr__engine *e)
{
    if (e->status == FR_OK && ++e->n_steps % LOOK_EVERY == 0)
        fr__engine_look_up(e);
    return e->status == FR_OK;
}
