/* results/parts/task_order.c - sorts the tasks of a run by device, stream and time.
 *
 * It is separate because traces, pictures and memory over time all read tasks in this order.
 */
#include "config.h"

#include "base/error.h"
#include "results/parts/task_order.h"

#include <stdlib.h>

struct key {
    uint32_t device, stream, task;
    double start_s, end_s;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->start_s != y->start_s)
        return x->start_s < y->start_s ? -1 : 1;
    if (x->end_s != y->end_s)
        return x->end_s < y->end_s ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

enum fr_status fr__tasks_by_lane(const struct fr_record *r, uint32_t **out, struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    struct key *keys = calloc(v->n_tasks + 1, sizeof(*keys));
    uint32_t *order = calloc(v->n_tasks + 1, sizeof(*order));

    if (!keys || !order) {
        free(keys);
        free(order);
        return fr__fail_nomem(err);
    }
    for (uint32_t t = 0; t < v->n_tasks; t++)
        keys[t] = (struct key){v->tasks[t].device, v->tasks[t].stream, t, r->run->start_s[t],
                               r->run->end_s[t]};
    qsort(keys, v->n_tasks, sizeof(*keys), compare_keys);
    for (size_t i = 0; i < v->n_tasks; i++)
        order[i] = keys[i].task;
    free(keys);
    *out = order;
    return FR_OK;
}
