/* plan/orders/receives.c - which transfers are ordered, and how far into the plan each is. */
#include "config.h"

#include "plan/orders/order.h"

#include "base/error.h"

#include <string.h>

/* Kahn's walk over tasks, where the two ends of a transfer, and the members of a collective, are
 * passed together. */
struct walk {
    struct fr__receives *r;
    uint32_t *waits;   /* [n_tasks] predecessors not passed */
    uint32_t *level;   /* [n_tasks] most ordered transfers on a way to it, itself included */
    uint32_t *arrived; /* [n_transfers + n_collectives] ends, members that wait for nothing more */
    uint32_t *ready;   /* [n_tasks] stack */
    size_t n_ready;
    uint32_t *passed; /* [n_tasks] */
    size_t n_passed;
};

static void pass(struct walk *w, uint32_t task, uint32_t level)
{
    const struct fr_plan_view *v = w->r->v;

    w->level[task] = level;
    w->passed[w->n_passed++] = task;
    for (uint32_t i = v->succ_first[task]; i < v->succ_first[task + 1]; i++) {
        uint32_t next = v->succ[i];

        if (fr__is_turn(v, w->r->is_ordered, task, next))
            continue;
        if (level > w->level[next])
            w->level[next] = level;
        if (--w->waits[next] == 0)
            w->ready[w->n_ready++] = next;
    }
}

static void visit(struct walk *w, uint32_t task)
{
    const struct fr_plan_view *v = w->r->v;
    const struct fr_task *k = &v->tasks[task];
    uint32_t level = w->level[task];

    if (k->kind == FR_TASK_SEND || k->kind == FR_TASK_RECV) {
        const struct fr_transfer *x = &v->transfers[k->transfer];

        if (++w->arrived[k->transfer] < 2)
            return;
        if (w->level[x->send] > level)
            level = w->level[x->send];
        if (w->level[x->recv] > level)
            level = w->level[x->recv];
        w->r->wave[k->transfer] = level;
        level += w->r->is_ordered[k->transfer];
        pass(w, x->send, level);
        pass(w, x->recv, level);
    } else if (k->kind == FR_TASK_COLLECTIVE) {
        uint32_t c = k->collective, first = v->member_first[c], end = v->member_first[c + 1];

        if (++w->arrived[v->n_transfers + c] < end - first)
            return;
        for (uint32_t m = first; m < end; m++)
            if (w->level[v->members[m]] > level)
                level = w->level[v->members[m]];
        for (uint32_t m = first; m < end; m++)
            pass(w, v->members[m], level);
    } else {
        pass(w, task, level);
    }
}

static void count_waits(struct walk *w)
{
    const struct fr_plan_view *v = w->r->v;

    for (uint32_t t = 0; t < v->n_tasks; t++)
        for (uint32_t i = v->succ_first[t]; i < v->succ_first[t + 1]; i++)
            w->waits[v->succ[i]] += !fr__is_turn(v, w->r->is_ordered, t, v->succ[i]);
}

static bool walk_init(struct walk *w, struct fr__arena *arena)
{
    const struct fr_plan_view *v = w->r->v;

    w->waits = fr__arena_alloc(arena, v->n_tasks, sizeof(*w->waits));
    w->level = fr__arena_alloc(arena, v->n_tasks, sizeof(*w->level));
    w->arrived = fr__arena_alloc(arena, v->n_transfers + v->n_collectives, sizeof(*w->arrived));
    w->ready = fr__arena_take(arena, v->n_tasks, sizeof(*w->ready));
    w->passed = fr__arena_take(arena, v->n_tasks, sizeof(*w->passed));
    return w->waits && w->level && w->arrived && w->ready && w->passed;
}

static bool walk_all(struct walk *w)
{
    const struct fr_plan_view *v = w->r->v;

    count_waits(w);
    for (uint32_t t = (uint32_t)v->n_tasks; t-- > 0;) /* the first is on top */
        if (w->waits[t] == 0)
            w->ready[w->n_ready++] = t;
    while (w->n_ready > 0)
        visit(w, w->ready[--w->n_ready]);
    return w->n_passed == v->n_tasks;
}

/* Whether a dependency is inside a partition. */
static bool is_inside(const struct fr__receives *r, uint32_t before, uint32_t after)
{
    return r->v->tasks[before].device == r->v->tasks[after].device &&
           !fr__is_turn(r->v, r->is_ordered, before, after);
}

/* Rows of tasks by device, and of predecessors on the same device by task. */
static bool index_devices(struct fr__receives *r, const uint32_t passed[], struct fr__arena *arena)
{
    const struct fr_plan_view *v = r->v;
    uint32_t *first = fr__arena_alloc(arena, v->topo->n_devices + 2, sizeof(*first));
    uint32_t *pred = fr__arena_alloc(arena, v->n_tasks + 2, sizeof(*pred));

    r->tasks = fr__arena_take(arena, v->n_tasks, sizeof(*r->tasks));
    r->preds = fr__arena_take(arena, v->succ_first[v->n_tasks], sizeof(*r->preds));
    if (!first || !pred || !r->tasks || !r->preds)
        return false;
    /* counted two places on, so that filling moves each start to where it belongs */
    for (uint32_t t = 0; t < v->n_tasks; t++) {
        first[v->tasks[t].device + 2]++;
        for (uint32_t i = v->succ_first[t]; i < v->succ_first[t + 1]; i++)
            pred[v->succ[i] + 2] += is_inside(r, t, v->succ[i]);
    }
    for (size_t d = 2; d < v->topo->n_devices + 2; d++)
        first[d] += first[d - 1];
    for (size_t t = 2; t < v->n_tasks + 2; t++)
        pred[t] += pred[t - 1];
    for (size_t i = 0; i < v->n_tasks; i++)
        r->tasks[first[v->tasks[passed[i]].device + 1]++] = passed[i];
    for (uint32_t t = 0; t < v->n_tasks; t++)
        for (uint32_t i = v->succ_first[t]; i < v->succ_first[t + 1]; i++)
            if (is_inside(r, t, v->succ[i]))
                r->preds[pred[v->succ[i] + 1]++] = t;
    r->task_first = first;
    r->pred_first = pred;
    return true;
}

enum fr_status fr__receives_find(struct fr__receives *out, const struct fr_plan *p,
                                 struct fr__arena *arena, struct fr_error *err)
{
    const struct fr_plan_view *v = &p->view;
    struct fr__receives r = {.v = v};
    struct walk w = {.r = &r};

    r.is_ordered = fr__arena_alloc(arena, v->n_transfers, sizeof(*r.is_ordered));
    r.wave = fr__arena_alloc(arena, v->n_transfers, sizeof(*r.wave));
    if (!r.is_ordered || !r.wave || !walk_init(&w, arena))
        return fr__fail_nomem(err);
    for (uint32_t x = 0; x < v->n_transfers; x++) {
        r.is_ordered[x] = v->tasks[v->transfers[x].recv].phase != FR_PHASE_BACKWARD_WEIGHT;
        r.n_ordered += r.is_ordered[x];
    }
    if (!walk_all(&w)) {
        memset(r.is_ordered, 0, v->n_transfers * sizeof(*r.is_ordered));
        r.n_ordered = 0;
    }
    if (!index_devices(&r, w.passed, arena))
        return fr__fail_nomem(err);
    *out = r;
    return FR_OK;
}
