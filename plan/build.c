/* plan/build.c - building a plan: growing arrays, then compressed rows. */
#include "config.h"

#include "plan/internal.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fr_plan *fr_plan_new(const struct fr_topo *topo, const struct fr_graph *graph)
{
    struct fr_plan *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    p->arena = fr__arena_new();
    if (!p->arena) {
        free(p);
        return NULL;
    }
    p->view.topo = topo;
    p->view.graph = p->view.user_graph = graph;
    return p;
}

struct fr_plan *fr__plan_new_like(const struct fr_plan *p)
{
    struct fr_plan *out = fr_plan_new(p->view.topo, p->view.user_graph);

    if (out)
        fr__rewrite_share(p, out);
    return out;
}

static void free_pairs(struct fr_plan *p)
{
    free(p->deps);
    free(p->frees);
    p->deps = NULL;
    p->frees = NULL;
}

void fr_plan_free(struct fr_plan *p)
{
    if (!p)
        return;
    free_pairs(p);
    free(p->tasks);
    free(p->costs);
    free(p->transfers);
    free(p->collectives);
    free(p->buffers);
    free(p->groups);
    free(p->group_devices);
    free(p->iteration_ends);
    free(p->strings);
    fr__rewrite_leave(p->rewrite);
    fr__arena_free(p->arena);
    free(p);
}

/* Room for one more element in *array; its index, or FR_NONE with the failure kept. */
static uint32_t grow_one(struct fr_plan *p, struct fr__array *a, void *array, size_t size)
{
    if (p->is_finished || a->n >= FR_NONE - 1 || !fr__grow(array, &a->cap, a->n + 1, size)) {
        p->is_out_of_memory = true;
        return FR_NONE;
    }
    return (uint32_t)a->n++;
}

/* Without the room now there may be some later; more than can be numbered never. */
static void expect(struct fr__array *a, size_t n_more, void *array, size_t size)
{
    if (n_more < FR_NONE - a->n)
        (void)fr__grow(array, &a->cap, a->n + n_more, size);
}

void fr__plan_expect(struct fr_plan *p, size_t n_tasks, size_t n_deps, size_t n_buffers,
                     size_t n_frees)
{
    expect(&p->n_tasks, n_tasks, &p->tasks, sizeof(*p->tasks));
    expect(&p->n_deps, n_deps, &p->deps, sizeof(*p->deps));
    expect(&p->n_buffers, n_buffers, &p->buffers, sizeof(*p->buffers));
    expect(&p->n_frees, n_frees, &p->frees, sizeof(*p->frees));
}

uint32_t fr_plan_add_cost(struct fr_plan *p, const struct fr_cost *cost)
{
    uint32_t id = grow_one(p, &p->n_costs, &p->costs, sizeof(*p->costs));

    if (id != FR_NONE)
        p->costs[id] = *cost;
    return id;
}

uint32_t fr_plan_add_string(struct fr_plan *p, const char *text)
{
    char *copy = fr__arena_strdup(p->arena, text);
    uint32_t id;

    if (!copy) {
        p->is_out_of_memory = true;
        return FR_NONE;
    }
    id = grow_one(p, &p->n_strings, &p->strings, sizeof(*p->strings));
    if (id != FR_NONE)
        p->strings[id] = copy;
    return id;
}

uint32_t fr_plan_add_task(struct fr_plan *p, const struct fr_task *task)
{
    uint32_t id = grow_one(p, &p->n_tasks, &p->tasks, sizeof(*p->tasks));

    if (id != FR_NONE)
        p->tasks[id] = *task;
    return id;
}

static void add_pair(struct fr_plan *p, struct fr__array *a, struct fr__pair **pairs, uint32_t from,
                     uint32_t to)
{
    if (p->is_finished || !fr__grow(pairs, &a->cap, a->n + 1, sizeof(**pairs))) {
        p->is_out_of_memory = true;
        return;
    }
    (*pairs)[a->n++] = (struct fr__pair){from, to};
}

void fr_plan_add_dep(struct fr_plan *p, uint32_t before, uint32_t after)
{
    add_pair(p, &p->n_deps, &p->deps, before, after);
}

void fr_plan_add_free(struct fr_plan *p, uint32_t buffer, uint32_t task)
{
    add_pair(p, &p->n_frees, &p->frees, task, buffer);
}

/* Leaves a task of another kind alone: fr_plan_finish refuses the transfer. */
static void join(struct fr_plan *p, uint32_t task, uint32_t transfer)
{
    struct fr_task *k = task < p->n_tasks.n ? &p->tasks[task] : NULL;

    if (k && (k->kind == FR_TASK_SEND || k->kind == FR_TASK_RECV))
        k->transfer = transfer;
}

uint32_t fr_plan_add_transfer(struct fr_plan *p, uint32_t send, uint32_t recv, double bytes,
                              uint32_t label)
{
    uint32_t id = grow_one(p, &p->n_transfers, &p->transfers, sizeof(*p->transfers));

    if (id == FR_NONE)
        return id;
    p->transfers[id] = (struct fr_transfer){bytes, send, recv, label, 1};
    join(p, send, id);
    join(p, recv, id);
    return id;
}

void fr_plan_share_transfer(struct fr_plan *p, uint32_t transfer, uint32_t share)
{
    if (transfer < p->n_transfers.n)
        p->transfers[transfer].share = share;
}

void fr_plan_fold_device(struct fr_plan *p, uint32_t device, uint32_t count)
{
    size_t n = p->view.topo->n_devices;

    if (!p->device_counts)
        p->device_counts = fr__arena_alloc(p->arena, n + 1, sizeof(*p->device_counts));
    if (!p->device_counts)
        p->is_out_of_memory = true;
    else if (device < n)
        p->device_counts[device] = count;
}

uint32_t fr_plan_add_group(struct fr_plan *p, uint32_t first, uint32_t stride, uint32_t count)
{
    uint32_t id = grow_one(p, &p->n_groups, &p->groups, sizeof(*p->groups));

    /* stride 0 marks a list, so a group of one is given a stride */
    if (id != FR_NONE)
        p->groups[id] = (struct fr__group){first, stride ? stride : 1, count, 0};
    return id;
}

uint32_t fr_plan_add_group_of(struct fr_plan *p, const uint32_t devices[], uint32_t n)
{
    struct fr__array *a = &p->n_group_devices;
    uint32_t id;

    if (a->n + n >= FR_NONE ||
        !fr__grow(&p->group_devices, &a->cap, a->n + n, sizeof(*p->group_devices))) {
        p->is_out_of_memory = true;
        return FR_NONE;
    }
    id = grow_one(p, &p->n_groups, &p->groups, sizeof(*p->groups));
    if (id == FR_NONE)
        return id;
    p->groups[id] = (struct fr__group){0, 0, n, (uint32_t)a->n};
    memcpy(p->group_devices + a->n, devices, n * sizeof(*devices));
    a->n += n;
    return id;
}

uint32_t fr_plan_add_collective(struct fr_plan *p, const struct fr_collective *c)
{
    uint32_t id = grow_one(p, &p->n_collectives, &p->collectives, sizeof(*p->collectives));

    if (id != FR_NONE)
        p->collectives[id] = *c;
    return id;
}

uint32_t fr_plan_add_buffer(struct fr_plan *p, const struct fr_buffer *b)
{
    uint32_t id = grow_one(p, &p->n_buffers, &p->buffers, sizeof(*p->buffers));

    if (id != FR_NONE)
        p->buffers[id] = *b;
    return id;
}

void fr_plan_end_iteration(struct fr_plan *p, uint32_t task)
{
    uint32_t id = grow_one(p, &p->n_iterations, &p->iteration_ends, sizeof(*p->iteration_ends));

    if (id != FR_NONE)
        p->iteration_ends[id] = task;
}

/* ---- finishing ---- */

/* Rows of pairs by `from` (0 .. n_rows-1), each row in the order the pairs were added. */
static bool compress(struct fr_plan *p, const struct fr__pair *pairs, size_t n, size_t n_rows,
                     const uint32_t **first_out, const uint32_t **items_out)
{
    uint32_t *first = fr__arena_alloc(p->arena, n_rows + 2, sizeof(*first));
    uint32_t *items = fr__arena_take(p->arena, n + 1, sizeof(*items));

    if (!first || !items || n >= FR_NONE)
        return false;
    /* counted two places on, so that filling moves each start to where it belongs */
    for (size_t i = 0; i < n; i++)
        first[pairs[i].from + 2]++;
    for (size_t r = 2; r < n_rows + 2; r++)
        first[r] += first[r - 1];
    for (size_t i = 0; i < n; i++)
        items[first[pairs[i].from + 1]++] = pairs[i].to;
    *first_out = first;
    *items_out = items;
    return true;
}

static bool index_deps(struct fr_plan *p)
{
    struct fr_plan_view *v = &p->view;
    uint32_t *n_preds = fr__arena_alloc(p->arena, v->n_tasks + 1, sizeof(*n_preds));

    if (!n_preds)
        return false;
    for (size_t i = 0; i < p->n_deps.n; i++)
        n_preds[p->deps[i].to]++;
    v->n_preds = n_preds;
    return compress(p, p->deps, p->n_deps.n, v->n_tasks, &v->succ_first, &v->succ);
}

/* The buffer whose storage b uses; references are checked, cycles are cut by the length. */
static uint32_t alias_root(const struct fr_plan *p, uint32_t b)
{
    for (size_t steps = 0; p->buffers[b].alias != FR_NONE && steps < p->n_buffers.n; steps++)
        b = p->buffers[b].alias;
    return b;
}

static bool index_buffers(struct fr_plan *p)
{
    struct fr_plan_view *v = &p->view;
    uint32_t *n_frees = fr__arena_alloc(p->arena, v->n_buffers + 1, sizeof(*n_frees));
    struct fr__pair *allocs;
    size_t n_allocs = 0;
    bool ok;

    allocs = malloc((v->n_buffers + 1) * sizeof(*allocs));
    if (!n_frees || !allocs) {
        free(allocs);
        return false;
    }
    for (uint32_t b = 0; b < v->n_buffers; b++)
        if (p->buffers[b].alloc != FR_NONE && p->buffers[b].alias == FR_NONE)
            allocs[n_allocs++] = (struct fr__pair){p->buffers[b].alloc, b};
    ok = compress(p, allocs, n_allocs, v->n_tasks, &v->alloc_first, &v->alloc);
    free(allocs);
    /* who frees an alias holds on to the storage it shares */
    for (size_t i = 0; i < p->n_frees.n; i++) {
        p->frees[i].to = alias_root(p, p->frees[i].to);
        n_frees[p->frees[i].to]++;
    }
    v->n_frees = n_frees;
    return ok && compress(p, p->frees, p->n_frees.n, v->n_tasks, &v->free_first, &v->free);
}

static bool index_members(struct fr_plan *p)
{
    struct fr_plan_view *v = &p->view;
    uint32_t *first = fr__arena_alloc(p->arena, v->n_collectives + 1, sizeof(*first));
    uint32_t *members;
    uint64_t n = 0;

    if (!first)
        return false;
    for (size_t c = 0; c < v->n_collectives; c++) {
        n += fr__plan_n_members(p, (uint32_t)c);
        if (n >= FR_NONE)
            return false;
        first[c + 1] = (uint32_t)n;
    }
    members = fr__arena_take(p->arena, n + 1, sizeof(*members));
    if (!members)
        return false;
    for (size_t i = 0; i < n; i++)
        members[i] = FR_NONE;
    for (uint32_t t = 0; t < v->n_tasks; t++) {
        const struct fr_task *k = &p->tasks[t];

        if (k->kind == FR_TASK_COLLECTIVE)
            members[first[k->collective] + fr__plan_member_at(p, k)] = t;
    }
    v->member_first = first;
    v->members = members;
    return true;
}

static void set_view(struct fr_plan *p)
{
    struct fr_plan_view *v = &p->view;

    v->n_tasks = p->n_tasks.n;
    v->n_costs = p->n_costs.n;
    v->n_transfers = p->n_transfers.n;
    v->n_collectives = p->n_collectives.n;
    v->n_groups = p->n_groups.n;
    v->n_buffers = p->n_buffers.n;
    v->n_strings = p->n_strings.n;
    v->n_iterations = p->n_iterations.n;
    v->tasks = p->tasks;
    v->costs = p->costs;
    v->transfers = p->transfers;
    v->collectives = p->collectives;
    v->buffers = p->buffers;
    v->iteration_ends = p->iteration_ends;
    v->device_counts = p->device_counts;
}

struct first_line {
    char text[400];
    bool is_set;
};

static void keep_first(void *user, const char *line)
{
    struct first_line *f = user;

    if (!f->is_set)
        snprintf(f->text, sizeof(f->text), "%s", line);
    f->is_set = true;
}

enum fr_status fr_plan_finish(struct fr_plan *p, struct fr_error *err)
{
    struct first_line first = {.is_set = false};
    size_t n_faults;

    if (p->is_finished)
        return FR_OK;
    if (p->is_out_of_memory)
        return fr__fail_nomem(err);
    set_view(p);
    n_faults = fr__plan_check_references(p, keep_first, &first);
    if (n_faults == 0) {
        if (!index_deps(p) || !index_buffers(p) || !index_members(p))
            return fr__fail_nomem(err);
        n_faults = fr__plan_check_structure(p, keep_first, &first);
    }
    if (n_faults)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "the plan has %zu fault%s, the first: %s",
                        n_faults, n_faults == 1 ? "" : "s", first.text);
    free_pairs(p);
    p->is_finished = true;
    return FR_OK;
}

size_t fr_plan_check(const struct fr_plan *p, void (*say)(void *user, const char *line), void *user)
{
    if (p->is_finished)
        return fr__plan_check_references(p, say, user) + fr__plan_check_structure(p, say, user);
    say(user, "the plan is not finished");
    return 1;
}
