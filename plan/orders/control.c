/* plan/orders/control.c - every compute task of a device after the one before it. */
#include "config.h"

#include "plan/orders/order.h"

#include "base/error.h"

#include <stdlib.h>

struct place {
    uint32_t device, task;
    int32_t priority;
};

static int by_device_and_priority(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

enum fr_status fr__chain_devices(struct fr_plan *out, const struct fr_plan *p, struct fr_error *err)
{
    const struct fr_plan_view *v = &p->view;
    struct place *places = malloc((v->n_tasks + 1) * sizeof(*places));
    size_t n = 0;

    if (!places)
        return fr__fail_nomem(err);
    for (uint32_t t = 0; t < v->n_tasks; t++)
        if (v->tasks[t].kind == FR_TASK_COMPUTE)
            places[n++] = (struct place){v->tasks[t].device, t, v->tasks[t].priority};
    qsort(places, n, sizeof(*places), by_device_and_priority);
    for (size_t i = 1; i < n; i++)
        if (places[i - 1].device == places[i].device)
            fr_plan_add_dep(out, places[i - 1].task, places[i].task);
    free(places);
    return FR_OK;
}
