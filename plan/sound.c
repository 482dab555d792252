/* plan/sound.c - a quick verdict on a plan: surely without fault, or to be looked at closely.
 *
 * Strategies add tasks in an order in which they could run, so almost every dependency leads from a
 * lower to a higher number. The exceptions are tasks that were made before what they wait for, such
 * as the marker after all updates. Each of them has its place right after the last task that it
 * waits for; where that agrees with what follows it, the plan has no cycle. Then a few comparisons
 * for each task, dependency and buffer show that all else that plan/check.c looks for is not there.
 * For any other plan the answer is "not surely", and check.c, which can say what is wrong, decides.
 */
#include "config.h"

#include "plan/internal.h"

#include <stdlib.h>

static void ignore(void *user, const char *line)
{
    (void)user;
    (void)line;
}

/* FR_NONE, or less than n. */
static inline bool is_none_or_below(uint32_t id, size_t n)
{
    return (uint32_t)(id + 1) <= n;
}

/* Whether what a message or a member refers to refers to it. */
static bool is_referred_to(const struct fr_plan *p, const struct fr_task *k, uint32_t t)
{
    const struct fr_plan_view *v = &p->view;
    uint32_t group;

    switch (k->kind) {
    case FR_TASK_SEND:
        return k->transfer < v->n_transfers && v->transfers[k->transfer].send == t;
    case FR_TASK_RECV:
        return k->transfer < v->n_transfers && v->transfers[k->transfer].recv == t;
    case FR_TASK_COLLECTIVE:
        if (k->collective >= v->n_collectives)
            return false;
        group = v->collectives[k->collective].group; /* is there: fr__plan_check_tables */
        return k->rank < fr_plan_group_size(p, group) &&
               fr_plan_group_device(p, group, k->rank) == k->device;
    default:
        return false;
    }
}

static bool are_tasks_sound(const struct fr_plan *p)
{
    const struct fr_plan_view *v = &p->view;
    size_t n_ops = v->graph ? v->graph->n_ops : FR_NONE, n_devices = v->topo->n_devices;
    size_t n_costs = v->n_costs, n_strings = v->n_strings, n = v->n_tasks;
    const struct fr_task *tasks = v->tasks;

    for (uint32_t t = 0; t < n; t++) {
        const struct fr_task *k = &tasks[t];
        bool is_plain = k->kind == FR_TASK_COMPUTE || k->kind == FR_TASK_MARKER;

        if (k->device >= n_devices || (k->stream >= FR_N_STREAMS && k->stream != FR_STREAM_FREE) ||
            k->phase >= FR_N_PHASES || !is_none_or_below(k->cost_id, n_costs) ||
            !is_none_or_below(k->op, n_ops))
            return false;
        if (is_plain ? !is_none_or_below(k->label, n_strings) : !is_referred_to(p, k, t))
            return false;
    }
    return true;
}

/* Both ends name the transfer, or is_referred_to has found one that does not. */
static bool are_transfers_sound(const struct fr_plan_view *v)
{
    for (uint32_t x = 0; x < v->n_transfers; x++) {
        const struct fr_task *s = &v->tasks[v->transfers[x].send];
        const struct fr_task *r = &v->tasks[v->transfers[x].recv];

        if (s->kind != FR_TASK_SEND || r->kind != FR_TASK_RECV || s->transfer != x ||
            r->transfer != x)
            return false;
    }
    return true;
}

/* Notes where dependencies on later tasks are among the others. */
static bool are_deps_sound(const struct fr_plan *p, struct fr__span *backward)
{
    const struct fr__pair *deps = p->deps;
    size_t n = p->n_deps.n, n_tasks = p->n_tasks.n;

    *backward = (struct fr__span){n, n};
    for (size_t i = 0; i < n; i++) {
        if (deps[i].to >= n_tasks)
            return false;
        if (deps[i].from < deps[i].to)
            continue;
        if (deps[i].from >= n_tasks || deps[i].from == deps[i].to)
            return false;
        if (backward->first == n)
            backward->first = i;
        backward->end = i + 1;
    }
    return true;
}

/* An alias of an earlier buffer of the same device is in no circle and leads to a root there. */
static bool is_alias_sound(const struct fr_plan *p, uint32_t b)
{
    const struct fr_buffer *k = &p->buffers[b];

    return k->alias < b && p->buffers[k->alias].device == k->device &&
           k->bytes <= p->buffers[fr__alias_root(p, b)].bytes;
}

static bool are_buffers_sound(const struct fr_plan *p)
{
    const struct fr_plan_view *v = &p->view;
    const struct fr_buffer *buffers = v->buffers;
    const struct fr_task *tasks = v->tasks;
    size_t n_devices = v->topo->n_devices, n_tasks = v->n_tasks, n = v->n_buffers;

    for (uint32_t b = 0; b < n; b++) {
        const struct fr_buffer *k = &buffers[b];

        if (k->kind >= FR_N_BUFFER_KINDS || k->device >= n_devices)
            return false;
        if (k->alloc != FR_NONE &&
            (k->alloc >= n_tasks || (k->alias == FR_NONE && tasks[k->alloc].device != k->device)))
            return false;
        if (k->alias != FR_NONE && !is_alias_sound(p, b))
            return false;
    }
    return true;
}

static bool are_frees_in_range(const struct fr_plan *p)
{
    const struct fr__pair *frees = p->frees;
    size_t n = p->n_frees.n, n_tasks = p->n_tasks.n, n_buffers = p->n_buffers.n;

    for (size_t i = 0; i < n; i++)
        if (frees[i].from >= n_tasks || frees[i].to >= n_buffers)
            return false;
    return true;
}

bool fr__plan_refers_soundly(const struct fr_plan *p, struct fr__span *backward)
{
    const struct fr_plan_view *v = &p->view;

    for (size_t i = 0; i < v->n_iterations; i++)
        if (v->iteration_ends[i] >= v->n_tasks)
            return false;
    return fr__plan_check_tables(p, ignore, NULL) == 0 && are_tasks_sound(p) &&
           are_transfers_sound(v) && are_deps_sound(p, backward) && are_buffers_sound(p) &&
           are_frees_in_range(p);
}

/* Each member is on its own device and knows its rank (is_referred_to), so with none missing only
 * two of one rank could be wrong: there are as many tasks as places then. */
static bool are_members_sound(const struct fr_plan_view *v)
{
    uint32_t n_places = v->member_first[v->n_collectives], n_members = 0;

    for (uint32_t i = 0; i < n_places; i++)
        if (v->members[i] == FR_NONE)
            return false;
    for (uint32_t t = 0; n_places > 0 && t < v->n_tasks; t++)
        n_members += v->tasks[t].kind == FR_TASK_COLLECTIVE;
    return n_members == n_places;
}

/* Tasks that wait for later ones. */
struct order {
    const struct fr_plan *p;
    struct fr__span backward; /* the dependencies that say so are within */
    uint32_t *after;          /* [n_tasks] one more than the last task that it waits for, or 0 */
};

/* A late task comes before its successors, of which none is late, and allocates nothing, so that
 * only what frees buffers asks for its place. */
static bool is_late_task_sound(const struct order *o, const struct fr__pair *dep)
{
    const struct fr_plan_view *v = &o->p->view;
    uint32_t late = dep->to;

    if (v->alloc_first[late] < v->alloc_first[late + 1])
        return false;
    for (uint32_t i = v->succ_first[late]; i < v->succ_first[late + 1]; i++)
        if (o->after[v->succ[i]] > 0 || v->succ[i] < o->after[late])
            return false;
    return true;
}

static bool are_late_tasks_sound(struct order *o)
{
    const struct fr__pair *deps = o->p->deps;

    for (size_t i = o->backward.first; i < o->backward.end; i++)
        if (deps[i].from > deps[i].to && o->after[deps[i].to] <= deps[i].from)
            o->after[deps[i].to] = deps[i].from + 1;
    for (size_t i = o->backward.first; i < o->backward.end; i++)
        if (deps[i].from > deps[i].to && !is_late_task_sound(o, &deps[i]))
            return false;
    return true;
}

/* A buffer is freed by tasks that come after the one that allocates it, or are that one; a
 * persistent one by none. The rows' making has put roots in the place of aliases. */
static bool are_frees_in_order(const struct order *o)
{
    const struct fr__pair *frees = o->p->frees;
    const struct fr_buffer *buffers = o->p->buffers;
    size_t n = o->p->n_frees.n;

    for (size_t i = 0; i < n; i++) {
        uint32_t alloc = buffers[frees[i].to].alloc, task = frees[i].from;

        if (alloc > task && (alloc == FR_NONE || alloc >= o->after[task]))
            return false;
    }
    return true;
}

static bool are_all_freed(const struct fr_plan_view *v)
{
    for (uint32_t b = 0; b < v->n_buffers; b++)
        if (v->n_frees[b] == 0 && v->buffers[b].alloc != FR_NONE && v->buffers[b].alias == FR_NONE)
            return false;
    return true;
}

bool fr__plan_is_sound(const struct fr_plan *p, struct fr__span backward)
{
    const struct fr_plan_view *v = &p->view;
    struct order o = {
        .p = p, .backward = backward, .after = calloc(v->n_tasks + 1, sizeof(*o.after))};
    bool is_sound = o.after && are_late_tasks_sound(&o) && are_frees_in_order(&o) &&
                    are_all_freed(v) && are_members_sound(v);

    free(o.after);
    return is_sound;
}
