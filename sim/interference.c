/* sim/interference.c - tasks that run on one device at the same time slow each other down.
 *
 * A compute task has work left (seconds alone) and a rate, which changes whenever something else
 * begins or ends on its device. Each change makes the task's pending event stale: events carry a
 * version. A message keeps the stretch it began with; a collective's steps are many and short, so
 * they follow the changes closely.
 */
#include "config.h"

#include "sim/engine.h"

enum { VERSION_BITS = 32 - EVENT_WHAT_BITS };

enum fr_status fr__interference_init(struct fr__engine *e)
{
    size_t n = e->v->n_tasks, n_devices = e->v->topo->n_devices;
    struct fr__interference *w = &e->work;

    if (!fr__has_interference(e))
        return FR_OK;
    w->left_s = fr__arena_take(e->scratch, n, sizeof(double));
    w->rate = fr__arena_take(e->scratch, n, sizeof(double));
    w->since_s = fr__arena_take(e->scratch, n, sizeof(double));
    w->version = fr__arena_alloc(e->scratch, n, sizeof(uint32_t));
    w->next = fr__arena_take(e->scratch, n, sizeof(uint32_t));
    w->prev = fr__arena_take(e->scratch, n, sizeof(uint32_t));
    w->first = fr__arena_take(e->scratch, n_devices, sizeof(uint32_t));
    if (!w->left_s || !w->rate || !w->since_s || !w->version || !w->next || !w->prev || !w->first)
        return fr__engine_fail_nomem(e);
    for (size_t d = 0; d < n_devices; d++)
        w->first[d] = FR_NONE;
    return FR_OK;
}

/* The stretch of work of class c on a device, with `own` of the running tasks being itself. */
static double stretch(const struct fr__engine *e, enum fr_work_class c, uint32_t device,
                      uint32_t own)
{
    const struct fr__device *k = &e->devices[device];
    const double *factor = e->o->interference->factor[c];
    double s = 1;

    if (k->n_computing > (c == FR_WORK_COMPUTE ? own : 0))
        s *= factor[FR_WORK_COMPUTE];
    if (k->n_copying > (c == FR_WORK_COPY ? own : 0))
        s *= factor[FR_WORK_COPY];
    if (k->n_collective > (c == FR_WORK_COLLECTIVE ? own : 0))
        s *= factor[FR_WORK_COLLECTIVE];
    return s;
}

double fr__stretch_between(const struct fr__engine *e, enum fr_work_class c, uint32_t src,
                           uint32_t dst)
{
    double a = stretch(e, c, src, 1), b = stretch(e, c, dst, 1);

    return a > b ? a : b;
}

static void set_rate(struct fr__engine *e, uint32_t task, double rate)
{
    double *left_s = &e->work.left_s[task];

    *left_s -= (e->now_s - e->work.since_s[task]) * e->work.rate[task];
    if (*left_s < 0)
        *left_s = 0;
    e->work.since_s[task] = e->now_s;
    e->work.rate[task] = rate;
    e->work.version[task] = (e->work.version[task] + 1) & ((1u << VERSION_BITS) - 1);
    fr__push_event(e, e->now_s + *left_s / rate, task,
                   EVENT_TASK_DONE | e->work.version[task] << EVENT_WHAT_BITS);
}

void fr__rerate_device(struct fr__engine *e, uint32_t device)
{
    double rate = 1 / stretch(e, FR_WORK_COMPUTE, device, 1);

    for (uint32_t t = e->work.first[device]; t != FR_NONE; t = e->work.next[t])
        if (e->work.rate[t] != rate)
            set_rate(e, t, rate);
}

void fr__compute_begin(struct fr__engine *e, uint32_t task, double work_s)
{
    uint32_t d = e->v->tasks[task].device, first = e->work.first[d];

    e->work.left_s[task] = work_s;
    e->work.since_s[task] = e->now_s;
    e->work.rate[task] = 0;
    e->work.next[task] = first;
    e->work.prev[task] = FR_NONE;
    if (first != FR_NONE)
        e->work.prev[first] = task;
    e->work.first[d] = task;
    fr__rerate(e, d);
}

void fr__compute_end(struct fr__engine *e, uint32_t task)
{
    uint32_t d = e->v->tasks[task].device, next = e->work.next[task], prev = e->work.prev[task];

    if (prev == FR_NONE)
        e->work.first[d] = next;
    else
        e->work.next[prev] = next;
    if (next != FR_NONE)
        e->work.prev[next] = prev;
    fr__rerate(e, d);
}

bool fr__compute_is_current(const struct fr__engine *e, uint32_t task, uint32_t version)
{
    return e->work.version[task] == version && e->tasks[task].progress != TASK_DONE;
}
