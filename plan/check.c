/* plan/check.c - every violation a plan can hold, one line each.
 *
 * Two passes: references (indices that point outside), without which nothing may be followed; then
 * structure (rendezvous partners, ranks, cycles, buffers' lives), on the compressed rows.
 * fr_plan_finish runs them only where plan/sound.c cannot say at once that the plan is sound.
 */
#include "config.h"

#include "plan/internal.h"

#include "base/error.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report {
    const struct fr_plan *plan;
    void (*say)(void *user, const char *line);
    void *user;
    size_t n;
    bool is_out_of_memory;
};

static void fault(struct report *r, const char *fmt, ...) FR_PRINTF(2, 3);

static void fault(struct report *r, const char *fmt, ...)
{
    char line[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    r->n++;
    r->say(r->user, line);
}

static bool is_outside(uint32_t id, size_t n)
{
    return id != FR_NONE && id >= n;
}

/* ---- references ---- */

static void check_task(struct report *r, uint32_t t)
{
    const struct fr_plan_view *v = &r->plan->view;
    const struct fr_task *k = &v->tasks[t];
    char label[80] = "";

    if (k->kind >= FR_N_TASK_KINDS)
        fault(r, "task %u: kind %u does not exist", t, (unsigned)k->kind);
    if (k->device >= v->topo->n_devices)
        fault(r, "task %u: device %u does not exist (there are %zu)", t, k->device,
              v->topo->n_devices);
    if (k->stream >= FR_N_STREAMS && k->stream != FR_STREAM_FREE)
        fault(r, "task %u: stream %u does not exist (0 to %d)", t, (unsigned)k->stream,
              FR_N_STREAMS - 1);
    if (k->phase >= FR_N_PHASES)
        fault(r, "task %u: phase %u does not exist", t, (unsigned)k->phase);
    if (is_outside(k->cost_id, v->n_costs))
        fault(r, "task %u: cost %u does not exist (there are %zu)", t, k->cost_id, v->n_costs);
    if (k->op != FR_NONE && v->graph && k->op >= v->graph->n_ops)
        fault(r, "task %u: op %u does not exist (there are %zu)", t, k->op, v->graph->n_ops);
    if (is_outside(fr_task_label(k), v->n_strings))
        fault(r, "task %u: label %u does not exist (there are %zu strings)", t, k->label,
              v->n_strings);
    if ((k->kind == FR_TASK_SEND || k->kind == FR_TASK_RECV) && k->transfer >= v->n_transfers)
        fault(r, "task %u: a %s that belongs to no transfer", t,
              k->kind == FR_TASK_SEND ? "send" : "receive");
    if (k->kind == FR_TASK_COLLECTIVE && k->collective >= v->n_collectives)
        fault(r, "task %u: a member that belongs to no collective", t);
    else if (k->kind == FR_TASK_COLLECTIVE) {
        uint32_t group = v->collectives[k->collective].group;

        if (group >= v->n_groups)
            fault(r, "collective %u: group %u does not exist", k->collective, group);
        else if (k->rank >= fr_plan_group_size(r->plan, group))
            fault(r, "%s: rank %u in a group of %u", fr_plan_task_label(r->plan, t, label, 80),
                  k->rank, fr_plan_group_size(r->plan, group));
    }
}

static void check_pairs(struct report *r)
{
    const struct fr_plan *p = r->plan;

    for (size_t i = 0; p->deps && i < p->n_deps.n; i++) {
        struct fr__pair d = p->deps[i];

        if (d.from >= p->n_tasks.n || d.to >= p->n_tasks.n)
            fault(r, "dependency %zu: from task %u to task %u, but there are %zu tasks", i, d.from,
                  d.to, p->n_tasks.n);
        else if (d.from == d.to)
            fault(r, "task %u waits for itself", d.to);
    }
    for (size_t i = 0; p->frees && i < p->n_frees.n; i++) {
        struct fr__pair f = p->frees[i];

        if (f.from >= p->n_tasks.n || f.to >= p->n_buffers.n)
            fault(r, "free %zu: task %u frees buffer %u, but there are %zu tasks and %zu buffers",
                  i, f.from, f.to, p->n_tasks.n, p->n_buffers.n);
    }
}

static void check_groups(struct report *r)
{
    const struct fr_plan *p = r->plan;

    for (uint32_t g = 0; g < p->n_groups.n; g++) {
        if (p->groups[g].count == 0)
            fault(r, "group %u is empty", g);
        for (uint32_t i = 0; i < p->groups[g].count; i++)
            if (fr_plan_group_device(p, g, i) >= p->view.topo->n_devices) {
                fault(r, "group %u: rank %u is device %u, which does not exist", g, i,
                      fr_plan_group_device(p, g, i));
                break;
            }
    }
}

static void check_values(struct report *r)
{
    const struct fr_plan_view *v = &r->plan->view;

    for (uint32_t c = 0; c < v->n_costs; c++) {
        const struct fr_cost *k = &v->costs[c];

        if (!isfinite(k->mean_s) || k->mean_s < 0 || !isfinite(k->launch_s) || k->launch_s < 0 ||
            !isfinite(k->spread_frac) || k->spread_frac < 0)
            fault(r, "cost %u: %g s, spread %g, launch %g s: not all finite and >= 0", c, k->mean_s,
                  k->spread_frac, k->launch_s);
        if (!isfinite(k->flops_s) || k->flops_s < 0 || !isfinite(k->bytes_s) || k->bytes_s < 0)
            fault(r, "cost %u: a roofline of %g s and %g s: not both finite and >= 0", c,
                  k->flops_s, k->bytes_s);
    }
    for (uint32_t x = 0; x < v->n_transfers; x++) {
        const struct fr_transfer *k = &v->transfers[x];

        if (!isfinite(k->bytes) || k->bytes < 0)
            fault(r, "transfer %u: %g bytes", x, k->bytes);
        if (k->share == 0)
            fault(r, "transfer %u: shared by none, at least by itself", x);
        if (k->send >= v->n_tasks || k->recv >= v->n_tasks)
            fault(r, "transfer %u: between task %u and task %u, but there are %zu tasks", x,
                  k->send, k->recv, v->n_tasks);
    }
    for (uint32_t c = 0; c < v->n_collectives; c++) {
        const struct fr_collective *k = &v->collectives[c];

        if (!isfinite(k->bytes) || k->bytes < 0)
            fault(r, "collective %u: %g bytes", c, k->bytes);
        if (k->kind >= FR_N_COLLECTIVE_KINDS || k->group >= v->n_groups)
            fault(r, "collective %u: kind %u on group %u does not exist", c, (unsigned)k->kind,
                  k->group);
        else if ((k->kind == FR_BROADCAST || k->kind == FR_REDUCE) &&
                 k->root >= fr_plan_group_size(r->plan, k->group))
            fault(r, "collective %u: its root is rank %u of %u", c, k->root,
                  fr_plan_group_size(r->plan, k->group));
        if (k->is_folded && !k->has_cost && !k->is_formula)
            fault(r, "collective %u: one member stands for all, but its time is not known", c);
        if (!isfinite(k->crowding) || k->crowding < 0)
            fault(r, "collective %u: %g times longer than alone", c, k->crowding);
        if (k->has_cost && k->cost_id >= v->n_costs)
            fault(r, "collective %u: cost %u does not exist (there are %zu)", c, k->cost_id,
                  v->n_costs);
        else if (k->has_cost && v->costs[k->cost_id].bytes_s > v->costs[k->cost_id].mean_s)
            fault(r, "collective %u: its bytes take %g s of %g s", c, v->costs[k->cost_id].bytes_s,
                  v->costs[k->cost_id].mean_s);
    }
}

size_t fr__plan_check_tables(const struct fr_plan *p, void (*say)(void *, const char *), void *user)
{
    struct report r = {.plan = p, .say = say, .user = user};

    check_groups(&r);
    check_values(&r);
    return r.n;
}

size_t fr__plan_check_references(const struct fr_plan *p, void (*say)(void *, const char *),
                                 void *user)
{
    struct report r = {.plan = p, .say = say, .user = user};
    const struct fr_plan_view *v = &p->view;

    check_groups(&r);
    check_values(&r);
    for (uint32_t t = 0; t < v->n_tasks; t++)
        check_task(&r, t);
    check_pairs(&r);
    for (uint32_t b = 0; b < v->n_buffers; b++) {
        const struct fr_buffer *k = &v->buffers[b];

        if (k->kind >= FR_N_BUFFER_KINDS || k->device >= v->topo->n_devices ||
            is_outside(k->alloc, v->n_tasks) || is_outside(k->alias, v->n_buffers))
            fault(&r, "buffer %u: kind %u, device %u, task %u or alias %u does not exist", b,
                  (unsigned)k->kind, k->device, k->alloc, k->alias);
    }
    for (size_t i = 0; i < v->n_iterations; i++)
        if (v->iteration_ends[i] >= v->n_tasks)
            fault(&r, "iteration %zu ends with task %u, which does not exist", i,
                  v->iteration_ends[i]);
    return r.n;
}

/* ---- structure ---- */

static void check_rendezvous(struct report *r)
{
    const struct fr_plan_view *v = &r->plan->view;

    for (uint32_t x = 0; x < v->n_transfers; x++) {
        const struct fr_transfer *k = &v->transfers[x];
        const struct fr_task *s = &v->tasks[k->send], *d = &v->tasks[k->recv];

        if (s->kind != FR_TASK_SEND || d->kind != FR_TASK_RECV || s->transfer != x ||
            d->transfer != x)
            fault(r, "transfer %u: tasks %u and %u are not its send and its receive", x, k->send,
                  k->recv);
    }
    for (uint32_t t = 0; t < v->n_tasks; t++) {
        const struct fr_task *k = &v->tasks[t];

        if ((k->kind == FR_TASK_SEND && v->transfers[k->transfer].send != t) ||
            (k->kind == FR_TASK_RECV && v->transfers[k->transfer].recv != t))
            fault(r, "task %u: its transfer %u belongs to other tasks", t, k->transfer);
    }
}

static void check_members(struct report *r)
{
    const struct fr_plan *p = r->plan;
    const struct fr_plan_view *v = &p->view;

    for (uint32_t c = 0; c < v->n_collectives; c++) {
        for (uint32_t i = 0; i < fr__plan_n_members(p, c); i++)
            if (v->members[v->member_first[c] + i] == FR_NONE)
                fault(r, "collective %u (%s): rank %u has no member task", c,
                      fr_plan_string(p, v->collectives[c].label), i);
    }
    for (uint32_t t = 0; t < v->n_tasks && v->n_collectives > 0; t++) {
        const struct fr_task *k = &v->tasks[t];
        uint32_t c = fr_task_collective(k), member, device;

        if (c == FR_NONE)
            continue;
        member = v->members[v->member_first[c] + fr__plan_member_at(p, k)];
        device = fr_plan_group_device(p, v->collectives[c].group, k->rank);
        if (member != t)
            fault(r, "collective %u: rank %u has two member tasks, %u and %u", c, k->rank, member,
                  t);
        if (device != k->device)
            fault(r, "collective %u: rank %u is on device %u, its member task on device %u", c,
                  k->rank, device, k->device);
    }
}

/* Names the tasks of one cycle among those that Kahn's algorithm left over (waits > 0). */
static void report_cycle(struct report *r, const uint32_t waits[])
{
    const struct fr_plan_view *v = &r->plan->view;
    uint32_t *seen = calloc(v->n_tasks + 1, sizeof(*seen)), t = 0, step = 0;
    char names[240] = "", label[80];
    size_t used = 0;

    if (!seen) {
        fault(r, "a cycle of tasks");
        return;
    }
    /* walking backwards is not indexed; forwards among leftovers may end in a dead end, so walk
     * only to leftovers that still lead on: drop leftovers without leftover successors first */
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (uint32_t u = 0; u < v->n_tasks; u++) {
            bool leads_on = false;

            if (waits[u] == 0 || seen[u] == FR_NONE)
                continue;
            for (uint32_t i = v->succ_first[u]; i < v->succ_first[u + 1]; i++)
                leads_on |= waits[v->succ[i]] > 0 && seen[v->succ[i]] != FR_NONE;
            if (!leads_on) {
                seen[u] = FR_NONE;
                is_changed = true;
            }
        }
    }
    while (t < v->n_tasks && (waits[t] == 0 || seen[t] == FR_NONE))
        t++;
    while (seen[t] == 0) {
        uint32_t i = v->succ_first[t];

        seen[t] = ++step;
        while (waits[v->succ[i]] == 0 || seen[v->succ[i]] == FR_NONE)
            i++;
        t = v->succ[i];
    }
    for (uint32_t first = t, n = 0; used < sizeof(names) - 90 && (n == 0 || t != first); n++) {
        uint32_t i = v->succ_first[t];

        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s -> ",
                                 fr_plan_task_label(r->plan, t, label, sizeof(label)));
        while (waits[v->succ[i]] == 0 || seen[v->succ[i]] == FR_NONE || seen[v->succ[i]] == 0)
            i++;
        t = v->succ[i];
    }
    fault(r, "a cycle of tasks: %s...", names);
    free(seen);
}

struct ordering {
    const struct fr_plan_view *v;
    uint32_t *position; /* [n_tasks] */
    uint32_t *waits;    /* [n_tasks] predecessors without a position */
    uint32_t *late;     /* [n_tasks] passed before they were ready, and ready now */
    size_t n_late, n;
    uint32_t at; /* tasks up to this one have been passed */
};

static inline void take_position(struct ordering *o, uint32_t t)
{
    const struct fr_plan_view *v = o->v;

    o->position[t] = (uint32_t)o->n++;
    for (uint32_t i = v->succ_first[t]; i < v->succ_first[t + 1]; i++) {
        uint32_t next = v->succ[i];

        if (--o->waits[next] == 0 && next <= o->at)
            o->late[o->n_late++] = next;
    }
}

/* A topological position for every task; false when there is a cycle (reported). Most tasks are
 * numbered in such an order, so they are gone through by number, and what waits for a later one
 * catches up. */
static bool order_tasks(struct report *r, uint32_t position[])
{
    const struct fr_plan_view *v = &r->plan->view;
    struct ordering o = {.v = v, .position = position};

    o.waits = malloc((v->n_tasks + 1) * sizeof(*o.waits));
    o.late = malloc((v->n_tasks + 1) * sizeof(*o.late));
    if (!o.waits || !o.late) {
        free(o.waits);
        free(o.late);
        r->is_out_of_memory = true;
        return false;
    }
    memcpy(o.waits, v->n_preds, v->n_tasks * sizeof(*o.waits));
    for (uint32_t t = 0; t < v->n_tasks; t++) {
        o.at = t;
        if (o.waits[t] == 0)
            take_position(&o, t);
        while (o.n_late > 0)
            take_position(&o, o.late[--o.n_late]);
    }
    if (o.n < v->n_tasks)
        report_cycle(r, o.waits);
    free(o.waits);
    free(o.late);
    return o.n == v->n_tasks;
}

static void check_alias(struct report *r, uint32_t b)
{
    const struct fr_plan_view *v = &r->plan->view;
    uint32_t root = b;
    size_t steps = 0;

    while (v->buffers[root].alias != FR_NONE && steps++ < v->n_buffers)
        root = v->buffers[root].alias;
    if (v->buffers[root].alias != FR_NONE)
        fault(r, "buffer %u: its aliases form a circle", b);
    else if (v->buffers[root].device != v->buffers[b].device)
        fault(r, "buffer %u on device %u shares storage with buffer %u on device %u", b,
              v->buffers[b].device, root, v->buffers[root].device);
    else if (v->buffers[b].bytes > v->buffers[root].bytes)
        fault(r, "buffer %u of %llu bytes shares storage of only %llu bytes", b,
              (unsigned long long)v->buffers[b].bytes, (unsigned long long)v->buffers[root].bytes);
}

static void check_buffers(struct report *r, const uint32_t position[])
{
    const struct fr_plan_view *v = &r->plan->view;

    for (uint32_t b = 0; b < v->n_buffers; b++) {
        const struct fr_buffer *k = &v->buffers[b];

        if (k->alias != FR_NONE) {
            check_alias(r, b);
            continue;
        }
        if (k->alloc != FR_NONE && v->tasks[k->alloc].device != k->device)
            fault(r, "buffer %u: on device %u, but allocated by task %u on device %u", b, k->device,
                  k->alloc, v->tasks[k->alloc].device);
        if (k->alloc != FR_NONE && v->n_frees[b] == 0)
            fault(r, "buffer %u: allocated by task %u and never freed", b, k->alloc);
        if (k->alloc == FR_NONE && v->n_frees[b] > 0)
            fault(r, "buffer %u: persistent, yet some task frees it", b);
    }
    for (uint32_t t = 0; t < v->n_tasks; t++)
        for (uint32_t i = v->free_first[t]; i < v->free_first[t + 1]; i++) {
            uint32_t alloc = v->buffers[v->free[i]].alloc;

            if (alloc != FR_NONE && position[t] < position[alloc])
                fault(r, "buffer %u: task %u may free it before task %u allocates it", v->free[i],
                      t, alloc);
        }
}

size_t fr__plan_check_structure(const struct fr_plan *p, void (*say)(void *, const char *),
                                void *user, bool *is_out_of_memory)
{
    struct report r = {.plan = p, .say = say, .user = user};
    uint32_t *position = malloc((p->view.n_tasks + 1) * sizeof(*position));

    if (!position) {
        *is_out_of_memory = true;
        return r.n;
    }
    check_rendezvous(&r);
    check_members(&r);
    if (order_tasks(&r, position))
        check_buffers(&r, position);
    free(position);
    *is_out_of_memory |= r.is_out_of_memory;
    return r.n;
}
