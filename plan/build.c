/* plan/build.c - building a plan: arrays that grow, and the steps that finish it. */
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

    if (!out)
        return NULL;
    out->limit_bytes = p->limit_bytes;
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
    free(p->group_folds);
    free(p->group_devices);
    free(p->iteration_ends);
    free(p->strings);
    fr__rewrite_leave(p->rewrite);
    fr__arena_free(p->arena);
    free(p);
}

void fr_plan_keep_failure(struct fr_plan *p, enum fr_status st)
{
    p->is_out_of_memory |= st == FR_ENOMEM;
}

/* Whether an array may get longer, which doubles it. */
static bool may_grow(struct fr_plan *p)
{
    return fr__plan_has_room(p, &(struct fr__plan_size){.tasks = 0});
}

/* Room for one more element in *array; its index, or FR_NONE with the failure kept. */
static uint32_t grow_one(struct fr_plan *p, struct fr__array *a, void *array, size_t size)
{
    if (p->is_finished || a->n >= FR_NONE - 1 || (a->n == a->cap && !may_grow(p)) ||
        !fr__grow(array, &a->cap, a->n + 1, size)) {
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

enum fr_status fr__plan_expect(struct fr_plan *p, const struct fr__plan_size *more,
                               struct fr_error *err)
{
    if (!fr__plan_has_room(p, more))
        return fr__plan_check_room(p, err);
    expect(&p->n_tasks, more->tasks, &p->tasks, sizeof(*p->tasks));
    expect(&p->n_deps, more->deps, &p->deps, sizeof(*p->deps));
    expect(&p->n_buffers, more->buffers, &p->buffers, sizeof(*p->buffers));
    expect(&p->n_frees, more->frees, &p->frees, sizeof(*p->frees));
    return FR_OK;
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

struct fr_task fr_task_marker(uint32_t device, enum fr_phase phase)
{
    return (struct fr_task){.device = device,
                            .cost_id = FR_NONE,
                            .op = FR_NONE,
                            .label = FR_NONE,
                            .microbatch = FR_NONE,
                            .kind = FR_TASK_MARKER,
                            .phase = (uint8_t)phase,
                            .stream = FR_STREAM_FREE};
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
    if (p->is_finished || (a->n == a->cap && !may_grow(p)) ||
        !fr__grow(pairs, &a->cap, a->n + 1, sizeof(**pairs))) {
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

static struct fr_plan_fold copy_fold(struct fr_plan *p, uint32_t n, size_t size,
                                     const uint32_t devices[])
{
    uint32_t *copy = fr__arena_alloc(p->arena, n * size + 1, sizeof(*copy));

    if (!copy) {
        p->is_out_of_memory = true;
        return (struct fr_plan_fold){0, NULL};
    }
    memcpy(copy, devices, n * size * sizeof(*copy));
    return (struct fr_plan_fold){n, copy};
}

void fr_plan_fold_device(struct fr_plan *p, uint32_t device, uint32_t count,
                         const uint32_t devices[])
{
    size_t n = p->view.topo->n_devices;

    if (!p->device_counts)
        p->device_counts = fr__arena_alloc(p->arena, n + 1, sizeof(*p->device_counts));
    if (!p->device_folds)
        p->device_folds = fr__arena_alloc(p->arena, n + 1, sizeof(*p->device_folds));
    if (!p->device_counts || !p->device_folds) {
        p->is_out_of_memory = true;
        return;
    }
    if (device >= n)
        return;
    p->device_counts[device] = count;
    if (devices)
        p->device_folds[device] = copy_fold(p, count, 1, devices);
}

void fr_plan_fold_group(struct fr_plan *p, uint32_t group, uint32_t n_groups,
                        const uint32_t devices[])
{
    if (group >= p->n_groups.n)
        return;
    if (!fr__grow(&p->group_folds, &p->cap_group_folds, (size_t)group + 1,
                  sizeof(*p->group_folds))) {
        p->is_out_of_memory = true;
        return;
    }
    while (p->n_group_folds <= group)
        p->group_folds[p->n_group_folds++] = (struct fr_plan_fold){0, NULL};
    p->group_folds[group] = copy_fold(p, n_groups, fr_plan_group_size(p, group), devices);
}

static const struct fr_plan_fold *told(const struct fr_plan_fold folds[], size_t n, uint32_t i)
{
    return folds && i < n && folds[i].n > 0 ? &folds[i] : NULL;
}

const struct fr_plan_fold *fr_plan_device_fold(const struct fr_plan *p, uint32_t device)
{
    return told(p->device_folds, p->view.topo->n_devices, device);
}

const struct fr_plan_fold *fr_plan_group_fold(const struct fr_plan *p, uint32_t group)
{
    return told(p->group_folds, p->n_group_folds, group);
}

void fr_plan_say_gradients(struct fr_plan *p, double kept_bytes, double sent_bytes)
{
    p->gradient_bytes = kept_bytes;
    p->sent_gradient_bytes = sent_bytes;
}

void fr_plan_say_shards(struct fr_plan *p, uint32_t param_shards)
{
    p->param_shards = param_shards;
}

void fr_plan_say_folding(struct fr_plan *p, const char *text)
{
    p->folding = fr__arena_strdup(p->arena, text);
    p->is_out_of_memory |= !p->folding;
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

void fr_plan_add_collective_of(struct fr_plan *p, const uint32_t devices[], uint32_t n,
                               const struct fr_collective *c)
{
    struct fr_collective own = *c;
    uint32_t collective;

    own.group = fr_plan_add_group_of(p, devices, n);
    collective = fr_plan_add_collective(p, &own);
    for (uint32_t i = 0; i < n; i++)
        fr_plan_add_task(p, &(struct fr_task){.device = devices[i],
                                              .cost_id = FR_NONE,
                                              .op = FR_NONE,
                                              .collective = collective,
                                              .rank = i,
                                              .microbatch = FR_NONE,
                                              .kind = FR_TASK_COLLECTIVE,
                                              .stream = FR_STREAM_COMM});
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
    v->folding = p->folding;
    v->gradient_bytes = p->gradient_bytes;
    v->sent_gradient_bytes = p->sent_gradient_bytes;
    v->param_shards = p->param_shards;
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

static inline bool is_checked(const struct fr_plan *p)
{
#ifdef FR_CHECK_PLANS
    (void)p;
    return true;
#else
    return !p->is_trusted;
#endif
}

/* Makes the rows and checks the plan; n_faults: how many there are, the first in *first. false: out
 * of memory. */
static bool index_and_check(struct fr_plan *p, size_t *n_faults, struct first_line *first)
{
    struct fr__span backward;
    bool is_sound, is_out_of_memory = false;

    if (!is_checked(p)) {
        *n_faults = fr__plan_check_tables(p, keep_first, first);
        return *n_faults > 0 || fr__plan_index(p);
    }
    is_sound = fr__plan_refers_soundly(p, &backward);
    *n_faults = is_sound ? 0 : fr__plan_check_references(p, keep_first, first);
    if (*n_faults > 0)
        return true;
    if (!fr__plan_index(p))
        return false;
    if (!is_sound || !fr__plan_is_sound(p, backward))
        *n_faults = fr__plan_check_structure(p, keep_first, first, &is_out_of_memory);
    return !is_out_of_memory;
}

enum fr_status fr_plan_finish(struct fr_plan *p, struct fr_error *err)
{
    struct first_line first = {.is_set = false};
    size_t n_faults;

    if (p->is_finished)
        return FR_OK;
    FR_TRY(fr__plan_check_room(p, err));
    if (p->is_out_of_memory)
        return fr__fail_nomem(err);
    set_view(p);
    if (!index_and_check(p, &n_faults, &first))
        return fr__fail_nomem(err);
    if (n_faults)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "the plan has %zu fault%s, the first: %s",
                        n_faults, n_faults == 1 ? "" : "s", first.text);
    free_pairs(p);
    p->is_finished = true;
    return FR_OK;
}

size_t fr_plan_check(const struct fr_plan *p, void (*say)(void *user, const char *line), void *user)
{
    bool is_out_of_memory = false;
    size_t n;

    if (!p->is_finished) {
        say(user, "the plan is not finished");
        return 1;
    }
    n = fr__plan_check_references(p, say, user);
    n += fr__plan_check_structure(p, say, user, &is_out_of_memory);
    if (is_out_of_memory)
        say(user, "out of memory while checking");
    return n + is_out_of_memory;
}
