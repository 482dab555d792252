/* sim/analysis/critical.c - the chain of tasks that sets the makespan, found from its end. */
#include "config.h"

#include "sim/engine.h"

uint32_t fr__last_task(const struct fr__engine *e)
{
    uint32_t last = 0;

    for (uint32_t t = 1; t < e->v->n_tasks; t++)
        if (e->tasks[t].end_s > e->tasks[last].end_s)
            last = t;
    return e->v->n_tasks > 0 ? last : FR_NONE;
}

enum fr_status fr__critical_path(struct fr__engine *e, struct fr_run *run)
{
    uint32_t last = fr__last_task(e), n = 0, *path;

    /* causes end before what they cause starts, so the chain has no circle; the count is a guard */
    for (uint32_t t = last; t != FR_NONE && n < e->v->n_tasks; t = e->tasks[t].cause)
        n++;
    path = fr__arena_take(e->arena, n + 1, sizeof(*path));
    if (!path)
        return fr__fail_nomem(e->err);
    run->n_critical = n;
    for (uint32_t t = last; n > 0; t = e->tasks[t].cause)
        path[--n] = t;
    run->critical = path;
    return FR_OK;
}
