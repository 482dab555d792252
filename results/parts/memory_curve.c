/* results/parts/memory_curve.c - all allocations and frees of a run, device by device in time, and
 * what devices hold over time.
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

/* ---- curves ---- */

double fr__memory_sum(const double bytes[FR_N_BUFFER_KINDS])
{
    double sum = 0;

    for (unsigned k = 0; k < FR_N_BUFFER_KINDS; k++)
        sum += bytes[k];
    return sum;
}

/* events: [n] of one device in order. */
static void fill_curve(struct fr__memory_curve *c, const struct fr_record *r,
                       const struct fr__memory_event events[], size_t n, size_t n_bins)
{
    const struct fr_buffer *buffers = fr_plan_view(r->plan)->buffers;
    double held[FR_N_BUFFER_KINDS] = {0}, most = -1;
    size_t bin = 0;

    for (size_t i = 0; i < n; i++) {
        const struct fr_buffer *b = &buffers[events[i].buffer];
        size_t at = (size_t)(events[i].t_s / r->run->makespan_s * (double)n_bins);

        if (at >= n_bins)
            at = n_bins - 1;
        while (bin < at) { /* what is held now lasts into the next bin */
            memcpy(c->bytes[++bin], held, sizeof(held));
            most = fr__memory_sum(held);
        }
        held[b->kind] += events[i].is_alloc ? (double)b->bytes : -(double)b->bytes;
        if (fr__memory_sum(held) > most) {
            most = fr__memory_sum(held);
            memcpy(c->bytes[bin], held, sizeof(held));
        }
        c->peak_bytes = most > c->peak_bytes ? most : c->peak_bytes;
    }
    while (bin + 1 < n_bins)
        memcpy(c->bytes[++bin], held, sizeof(held));
}

/* The first event of the device or of one after it. */
static size_t first_of(const struct fr__memory_event events[], size_t n, uint32_t device)
{
    size_t low = 0;

    while (low < n) {
        size_t middle = low + (n - low) / 2;

        if (events[middle].device < device)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* Keeps the last curve, whose place is list[n], if it differs from all and there is room. */
static void keep_curve(struct fr__memory_curves *out, size_t n_bins, size_t max)
{
    struct fr__memory_curve *last = &out->list[out->n];
    size_t i = 0;

    while (i < out->n &&
           memcmp(out->list[i].bytes, last->bytes, n_bins * sizeof(*last->bytes)) != 0)
        i++;
    if (i == out->n && out->n < max) {
        out->n++;
        return;
    }
    if (i < out->n)
        out->list[i].n_same++;
    else
        out->n_left_out++;
    free(last->bytes);
}

enum fr_status fr__memory_curves(struct fr__memory_curves *out, const struct fr_record *r,
                                 const uint32_t devices[], size_t n_devices, size_t n_bins,
                                 size_t max, struct fr_error *err)
{
    struct fr__memory_event *events;
    enum fr_status st = FR_OK;
    size_t n_events;

    *out = (struct fr__memory_curves){.n = 0};
    FR_TRY(fr__memory_events(r, &events, &n_events, err));
    for (size_t i = 0; i < n_devices && st == FR_OK; i++) {
        size_t first = first_of(events, n_events, devices[i]);
        size_t past = first_of(events, n_events, devices[i] + 1);
        struct fr__memory_curve *c = &out->list[out->n];

        if (first == past)
            continue;
        *c = (struct fr__memory_curve){.device = devices[i],
                                       .bytes = calloc(n_bins, sizeof(*c->bytes))};
        if (c->bytes) {
            fill_curve(c, r, events + first, past - first, n_bins);
            keep_curve(out, n_bins, max);
        } else {
            st = fr__fail_nomem(err);
        }
    }
    free(events);
    if (st != FR_OK)
        fr__memory_curves_fini(out);
    return st;
}

void fr__memory_curves_fini(struct fr__memory_curves *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->list[i].bytes);
    c->n = 0;
}
