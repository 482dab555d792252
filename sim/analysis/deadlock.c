/* sim/analysis/deadlock.c - why a plan cannot go on: the circle of tasks that wait for each other.
 *
 * Every task that is not done waits for another one that is not: a predecessor, the task that holds
 * its stream, its turn on a strict stream, or its partner in a message or collective. Following one
 * such wait a task from any of them must come back to where it has been.
 */
#include "config.h"

#include "sim/engine.h"

#include <stdio.h>
#include <stdlib.h>

struct wait {
    uint32_t task;
    const char *why;
};

static bool is_done(const struct fr__engine *e, uint32_t task)
{
    return e->tasks[task].progress == TASK_DONE;
}

static bool is_dispatched(const struct fr__engine *e, uint32_t task)
{
    return e->tasks[task].progress >= TASK_DISPATCHED;
}

/* A partner that has not been dispatched. */
static struct wait absent_partner(const struct fr__engine *e, uint32_t task)
{
    const struct fr_plan_view *v = e->v;
    const struct fr_task *k = &v->tasks[task];

    if (k->kind == FR_TASK_SEND)
        return (struct wait){v->transfers[k->transfer].recv, "waits for its receive"};
    if (k->kind == FR_TASK_RECV)
        return (struct wait){v->transfers[k->transfer].send, "waits for its send"};
    if (k->kind == FR_TASK_COLLECTIVE)
        for (uint32_t m = v->member_first[k->collective]; m < v->member_first[k->collective + 1];
             m++)
            if (!is_dispatched(e, v->members[m]))
                return (struct wait){v->members[m], "waits for the member"};
    return (struct wait){FR_NONE, ""};
}

static struct wait what_it_waits_for(const struct fr__engine *e, uint32_t task,
                                     const uint32_t pred_of[])
{
    const struct fr_task *k = &e->v->tasks[task];
    const struct fr__stream *s = &e->streams[fr__stream_number(e, k->device, k->stream)];

    if (!is_dispatched(e, task) && e->tasks[task].waits > 0)
        return (struct wait){pred_of[task], "follows"};
    if (is_dispatched(e, task))
        return absent_partner(e, task);
    if (s->running != FR_NONE)
        return (struct wait){s->running, "waits for the stream held by"};
    return (struct wait){e->order ? e->order[s->next] : FR_NONE, "waits its turn after"};
}

/* For each task some predecessor that is not done. */
static uint32_t *unfinished_preds(const struct fr__engine *e)
{
    const struct fr_plan_view *v = e->v;
    uint32_t *pred_of = malloc((v->n_tasks + 1) * sizeof(*pred_of));

    for (uint32_t t = 0; pred_of && t < v->n_tasks; t++)
        pred_of[t] = FR_NONE;
    for (uint32_t t = 0; pred_of && t < v->n_tasks; t++)
        for (uint32_t i = v->succ_first[t]; !is_done(e, t) && i < v->succ_first[t + 1]; i++)
            pred_of[v->succ[i]] = t;
    return pred_of;
}

static void describe(const struct fr__engine *e, uint32_t start, const uint32_t pred_of[],
                     char *text, size_t n)
{
    char label[64];
    size_t used = 0;
    uint32_t t = start;

    do {
        struct wait w = what_it_waits_for(e, t, pred_of);
        int wrote = snprintf(text + used, n - used, "%s'%s' on %s %s ", used ? "; " : "",
                             fr_plan_task_label(e->plan, t, label, sizeof(label)),
                             e->v->topo->devices[e->v->tasks[t].device].name, w.why);

        if (wrote < 0 || (size_t)wrote >= n - used || w.task == FR_NONE)
            return;
        used += (size_t)wrote;
        wrote = snprintf(text + used, n - used, "'%s'",
                         fr_plan_task_label(e->plan, w.task, label, sizeof(label)));
        if (wrote < 0 || (size_t)wrote >= n - used)
            return;
        used += (size_t)wrote;
        t = w.task;
    } while (t != start);
}

enum fr_status fr__deadlock_report(struct fr__engine *e)
{
    char text[360] = "";
    uint32_t *pred_of = unfinished_preds(e), t = 0;

    if (!pred_of)
        return fr__fail_nomem(e->err);
    while (is_done(e, t))
        t++;
    /* as many steps as there are tasks lead into the circle */
    for (size_t i = 0; i < e->v->n_tasks; i++) {
        uint32_t next = what_it_waits_for(e, t, pred_of).task;

        if (next == FR_NONE)
            break;
        t = next;
    }
    describe(e, t, pred_of, text, sizeof(text));
    free(pred_of);
    return fr__fail(e->err, FR_EDEADLOCK, FR_NOWHERE,
                    "deadlock at %g s with %u of %zu tasks done: %s", e->now_s, e->n_done,
                    e->v->n_tasks, text);
}
