/* sim/analysis/critical.c - the chain of tasks that set the makespan, walked back from the last one. */
#include "config.h"

#include "sim/engine.h"

enum fr_status fr__critical_path(struct engine *e, struct fr_run *run)
{
    uint32_t last = 0, n = 0, *path;

    for (uint32_t t = 1; t < run->n_tasks; t++)
        if (run->end_s[t] > run->end_s[last])
            last = t;
    /* causes end before what they cause starts, so the chain has no circle; the count is a guard */
    for (uint32_t t = run->n_tasks ? last : FR_NONE; t != FR_NONE && n < run->n_tasks;
         t = run->cause[t])
        n++;
    path = fr__arena_take(e->arena, n + 1, sizeof(*path));
    if (!path)
        return fr__fail_nomem(e->err);
    run->n_critical = n;
    for (uint32_t t = last; n > 0; t = run->cause[t])
        path[--n] = t;
    run->critical = path;
    return FR_OK;
}
