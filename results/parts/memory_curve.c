/* results/parts/memory_curve.c - all allocations and frees of a run, device by device in time.
 *
 * It is separate because traces, the report and the picture by gnuplot all show memory over time.
 */
#include "config.h"

#include "base/error.h"
#include "results/parts/memory_curve.h"
#include "results/parts/task_order.h"

#include <stdlib.h>
#include <string.h>

static int compare_events(const void *a, const void *b)
{
    const struct fr__memory_event *x = a, *y = b;

    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->t_s != y->t_s)
        return x->t_s < y->t_s ? -1 : 1;
    if (x->is_alloc != y->is_alloc)
        return x->is_alloc ? 1 : -1;
    return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

/* When each task was dispatched, into taken_s [n_tasks]. */
static enum fr_status find_dispatch(const struct fr_record *r, double taken_s[],
                                    struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    uint32_t *order;

    FR_TRY(fr__tasks_by_lane(r, &order, err));
    for (size_t t = 0; t < v->n_tasks; t++)
        taken_s[t] = 0;
    for (size_t t = 0; t < v->n_tasks; t++)
        for (uint32_t i = v->succ_first[t]; i < v->succ_first[t + 1]; i++)
            if (r->run->end_s[t] > taken_s[v->succ[i]])
                taken_s[v->succ[i]] = r->run->end_s[t];
    for (size_t i = 1; i < v->n_tasks; i++) {
        const struct fr_task *before = &v->tasks[order[i - 1]], *task = &v->tasks[order[i]];
        double end_s = r->run->end_s[order[i - 1]];

        if (before->device == task->device && before->stream == task->stream &&
            task->stream != FR_STREAM_FREE && end_s > taken_s[order[i]])
            taken_s[order[i]] = end_s;
    }
    free(order);
    return FR_OK;
}

/* When each buffer is let go, into freed_s [n_buffers]; 0 for those never freed. */
static void find_frees(const struct fr_record *r, double freed_s[])
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);

    for (size_t t = 0; t < v->n_tasks; t++)
        for (uint32_t i = v->free_first[t]; i < v->free_first[t + 1]; i++)
            if (r->run->end_s[t] > freed_s[v->free[i]])
                freed_s[v->free[i]] = r->run->end_s[t];
}

static size_t collect(const struct fr_record *r, const double taken_s[], const double freed_s[],
                      struct fr__memory_event list[])
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    size_t n = 0;

    for (uint32_t b = 0; b < v->n_buffers; b++) {
        const struct fr_buffer *k = &v->buffers[b];
        bool is_persistent = k->alloc == FR_NONE;
        double from_s = is_persistent ? 0 : taken_s[k->alloc];

        if (k->alias != FR_NONE || k->bytes == 0 || (!is_persistent && freed_s[b] <= from_s))
            continue;
        list[n++] = (struct fr__memory_event){from_s, k->device, b, true};
        if (!is_persistent)
            list[n++] = (struct fr__memory_event){freed_s[b], k->device, b, false};
    }
    return n;
}

enum fr_status fr__memory_events(const struct fr_record *r, struct fr__memory_event **out,
                                 size_t *n, struct fr_error *err)
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    struct fr__memory_event *list = calloc(2 * v->n_buffers + 1, sizeof(*list));
    double *taken_s = calloc(v->n_tasks + 1, sizeof(*taken_s));
    double *freed_s = calloc(v->n_buffers + 1, sizeof(*freed_s));
    enum fr_status st = FR_OK;

    if (!list || !taken_s || !freed_s)
        st = fr__fail_nomem(err);
    else if (r->alloc_at_start)
        memcpy(taken_s, r->run->start_s, v->n_tasks * sizeof(*taken_s));
    else
        st = find_dispatch(r, taken_s, err);
    if (st == FR_OK) {
        find_frees(r, freed_s);
        *n = collect(r, taken_s, freed_s, list);
        qsort(list, *n, sizeof(*list), compare_events);
        *out = list;
    } else {
        free(list);
    }
    free(freed_s);
    free(taken_s);
    return st;
}
