/* lowering/placer.c - adds tasks, messages, dependencies and buffers to the plan that
 * strategies make. What they cost and how large they are is price.c's to say.
 */
#include "config.h"

#include "lowering/placer.h"

#include "base/error.h"
#include "lowering/update.h"
#include "sim/collectives/equal_groups.h"

/* ---- what is kept of parameters ---- */

static bool trains(const struct fr__params *p)
{
    for (size_t i = 0; i < p->n_owners; i++)
        if (p->owners[i].ready != FR_NONE)
            return true;
    return false;
}

void fr__placer_keep_so(struct fr__placer *pl, const struct fr__keeping *keeping)
{
    double kept_bytes = pl->graph->param_elem_bytes;

    if (keeping)
        kept_bytes = fr__recipe_reduced_bytes(keeping->recipe);
    pl->keeping = keeping;
    pl->gradient_factor = keeping ? kept_bytes / pl->graph->param_elem_bytes : 1;
    if (trains(&pl->params))
        fr_plan_say_gradients(pl->plan, kept_bytes, kept_bytes);
}

enum fr_status fr__placer_keep(struct fr__placer *pl, const struct fr__recipe *recipe,
                               struct fr_error *err)
{
    struct fr__keeping *k;
    uint32_t *shards;

    if (!recipe)
        return FR_OK;
    k = fr__arena_alloc(pl->arena, 1, sizeof(*k));
    shards = fr__arena_alloc(pl->arena, pl->graph->n_ops, sizeof(*shards));
    if (!k || !shards)
        return fr__fail_nomem(err);
    for (size_t o = 0; o < pl->graph->n_ops; o++)
        shards[o] = 1;
    *k = (struct fr__keeping){.recipe = recipe, .shards = shards};
    fr__placer_keep_so(pl, k);
    return FR_OK;
}

/* Where weights have 16 bits or less, software differs from what a graph's tensors say. */
static enum fr_status keep_usual(struct fr__placer *pl, struct fr_error *err)
{
    fr__placer_keep_so(pl, NULL);
    if (pl->in->steps_by_ops || pl->graph->param_elem_bytes >= 4)
        return FR_OK;
    return fr__placer_keep(pl, fr__recipe_of(pl->graph->dtype), err);
}

static enum fr_status find_params(struct fr__placer *pl, struct fr_error *err)
{
    if (fr__kept_params_of(pl->in->params, pl->graph, &pl->params))
        return FR_OK;
    return fr__params_find(&pl->params, pl->graph, pl->arena, err);
}

/* A name that all devices' tasks have. */
static uint32_t name_of_gradients(const struct fr_problem *in, struct fr_plan *plan)
{
    uint64_t rows = fr__updates_of_gradients(in->updates);
    char text[200];

    if (rows == 0)
        return FR_NONE;
    return fr_plan_add_string(plan, fr__updates_text(rows, text, sizeof(text)));
}

enum fr_status fr__placer_init(struct fr__placer *pl, const struct fr_problem *in,
                               const struct fr_context *ctx, struct fr_plan *plan,
                               struct fr_error *err)
{
    *pl = (struct fr__placer){
        .in = in, .graph = in->graph, .ctx = ctx, .plan = plan, .gradient_factor = 1};
    pl->arena = fr__arena_new();
    if (!pl->arena)
        return fr__fail_nomem(err);
    pl->has_context = fr__arena_alloc(pl->arena, in->topo->n_devices, sizeof(*pl->has_context));
    if (!pl->has_context)
        return fr__fail_nomem(err);
    pl->on_gradients = name_of_gradients(in, plan);
    FR_TRY(find_params(pl, err));
    return keep_usual(pl, err);
}

void fr__placer_fini(struct fr__placer *pl)
{
    fr__arena_free(pl->arena);
}

const struct fr_device_type *fr__type_of(const struct fr__placer *pl, uint32_t device)
{
    return &pl->in->topo->types[pl->in->topo->devices[device].type];
}

uint32_t fr__add_task(struct fr__placer *pl, const struct fr_task *task)
{
    struct fr_task t = *task;
    uint32_t id;

    t.priority = pl->next_priority++;
    id = fr_plan_add_task(pl->plan, &t);
    pl->n_tasks += id != FR_NONE;
    return id;
}

uint32_t fr__add_compute(struct fr__placer *pl, uint32_t device, uint32_t cost_id, uint32_t op,
                         enum fr_phase phase, uint32_t microbatch)
{
    return fr__add_task(pl, &(struct fr_task){.device = device,
                                              .cost_id = cost_id,
                                              .op = op,
                                              .label = FR_NONE,
                                              .microbatch = microbatch,
                                              .kind = FR_TASK_COMPUTE,
                                              .phase = (uint8_t)phase,
                                              .stream = FR_STREAM_COMPUTE});
}

uint32_t fr__add_marker(struct fr__placer *pl, uint32_t device, enum fr_phase phase,
                        uint32_t microbatch)
{
    struct fr_task marker = fr_task_marker(device, phase);

    marker.microbatch = microbatch;
    return fr__add_task(pl, &marker);
}

/* The collective goes by formula, and as much slower as its rings are with all groups at work. A
 * group without routes shows when the plan runs. */
static void set_crowding(struct fr_plan *plan, struct fr__equal_groups *others,
                         struct fr_collective *c)
{
    enum fr_status st = fr__equal_groups_factor(
        others, c->kind, fr_plan_group_device(plan, c->group, 0), &c->crowding, NULL);

    c->is_formula = true;
    fr_plan_keep_failure(plan, st);
    if (st != FR_OK)
        c->crowding = 1;
}

uint32_t fr__add_collective(struct fr__placer *pl, const struct fr_collective *collective)
{
    struct fr_collective c = *collective;
    struct fr_cost cost;

    if (c.group == FR_NONE) /* out of memory: the plan keeps it */
        return fr_plan_add_collective(pl->plan, &c);
    c.has_cost = fr__price_collective(pl, &c, &cost);
    if (c.has_cost)
        c.cost_id = fr_plan_add_cost(pl->plan, &cost);
    else if (c.group < pl->n_equal_groups_of && pl->equal_groups_of[c.group])
        set_crowding(pl->plan, pl->equal_groups_of[c.group], &c);
    return fr_plan_add_collective(pl->plan, &c);
}

uint32_t fr__repeat_collective(struct fr__placer *pl, uint32_t collective)
{
    struct fr_collective copy;

    if (collective >= pl->plan->n_collectives.n)
        return FR_NONE; /* out of memory: the plan keeps it */
    copy = pl->plan->collectives[collective];
    return fr_plan_add_collective(pl->plan, &copy);
}

void fr__add_move(struct fr__placer *pl, const struct fr__move *m, uint32_t *send, uint32_t *recv)
{
    struct fr_task t = {.device = m->src,
                        .cost_id = FR_NONE,
                        .op = m->op,
                        .transfer = FR_NONE,
                        .microbatch = m->microbatch,
                        .priority = m->priority,
                        .kind = FR_TASK_SEND,
                        .phase = (uint8_t)m->phase,
                        .stream = m->send_stream};
    uint32_t transfer;

    *send = fr_plan_add_task(pl->plan, &t);
    t.device = m->dst;
    t.kind = FR_TASK_RECV;
    t.stream = FR_STREAM_FREE;
    *recv = fr_plan_add_task(pl->plan, &t);
    pl->n_tasks += *recv != FR_NONE ? 2 : 0;
    transfer = fr_plan_add_transfer(pl->plan, *send, *recv, m->bytes, m->label);
    if (pl->is_folded && pl->share_of && transfer != FR_NONE)
        fr_plan_share_transfer(pl->plan, transfer, pl->share_of(pl->share_user, m->src, m->dst));
    if (m->from == FR_NONE)
        return;
    fr_plan_add_dep(pl->plan, m->from, *send);
    fr_plan_add_dep(pl->plan, m->from, *recv);
}

uint32_t fr__add_buffer(struct fr__placer *pl, enum fr_buffer_kind kind, uint32_t device,
                        uint64_t bytes, uint32_t alloc, uint32_t op)
{
    struct fr_buffer b = {
        .bytes = bytes, .device = device, .alloc = alloc, .alias = FR_NONE, .op = op, .kind = kind};

    return bytes ? fr_plan_add_buffer(pl->plan, &b) : FR_NONE;
}

void fr__add_free(struct fr__placer *pl, uint32_t buffer, uint32_t task)
{
    if (buffer != FR_NONE)
        fr_plan_add_free(pl->plan, buffer, task);
}

static void add_scratch(struct fr__placer *pl, uint32_t device, uint64_t bytes, uint32_t task,
                        uint32_t op)
{
    fr__add_free(pl, fr__add_buffer(pl, FR_BUFFER_WORKSPACE, device, bytes, task, op), task);
}

void fr__add_workspace(struct fr__placer *pl, uint32_t device, uint32_t op, double batch,
                       uint32_t task)
{
    fr__add_workspace_as(pl, device, op, op, batch, 1, task);
}

void fr__add_workspace_as(struct fr__placer *pl, uint32_t device, uint32_t op, uint32_t as,
                          double batch, unsigned n_pieces, uint32_t task)
{
    const struct fr_op *o = &pl->graph->ops[op];

    add_scratch(pl, device, fr__bytes_at(pl, o->workspace_bytes, o->scales, batch), task, as);
    if (pl->params.roles[op] != FR__ROLE_UPDATE || pl->keeping)
        return;
    for (unsigned i = 0, n = fr__update_temporaries(pl->in); i < n; i++)
        add_scratch(pl, device, fr__update_workspace_bytes(pl->in, o->param_bytes / n_pieces) / n,
                    task, as);
}

void fr__add_optimizer(struct fr__placer *pl, uint32_t device, const struct fr__owner *w,
                       uint64_t param_bytes, uint32_t as)
{
    uint64_t bytes = fr__whole_optimizer_bytes(pl, w, param_bytes);
    unsigned n = pl->keeping ? 1 : fr__optimizer_tensors(pl->in, w);

    for (unsigned i = 0; i < n; i++)
        fr__add_buffer(pl, FR_BUFFER_OPTIMIZER, device, bytes / n + (i == 0 ? bytes % n : 0),
                       FR_NONE, as);
}

static void add_kept_by_recipe(struct fr__placer *pl, uint32_t device, const struct fr__owner *w,
                               bool with_optimizer)
{
    static const enum fr_buffer_kind kinds[FR__N_PARTS] = {
        [FR__PART_WEIGHT] = FR_BUFFER_PARAMETER,        [FR__PART_CACHE] = FR_BUFFER_PARAMETER,
        [FR__PART_MAIN_GRADIENT] = FR_BUFFER_GRADIENT,  [FR__PART_MASTER] = FR_BUFFER_OPTIMIZER,
        [FR__PART_STEP_GRADIENT] = FR_BUFFER_OPTIMIZER, [FR__PART_STATES] = FR_BUFFER_OPTIMIZER,
        [FR__PART_GRADIENT] = FR_N_BUFFER_KINDS, /* tensors of the graph */
    };

    if (pl->in->keeps_gradients && w->ready != FR_NONE && !fr__has_main_gradients(pl))
        fr__add_buffer(pl, FR_BUFFER_GRADIENT, device,
                       fr__kept_bytes(pl, FR__PART_GRADIENT, w->op, w->bytes), FR_NONE, w->op);
    for (int part = 0; part < FR__N_PARTS; part++) {
        if (kinds[part] == FR_N_BUFFER_KINDS ||
            (part == FR__PART_CACHE && pl->keeping->zero >= 3 && pl->keeping->shards[w->op] > 1) ||
            (kinds[part] == FR_BUFFER_GRADIENT && w->ready == FR_NONE) ||
            (kinds[part] == FR_BUFFER_OPTIMIZER && (!with_optimizer || w->n_updates == 0)))
            continue;
        fr__add_buffer(pl, kinds[part], device,
                       fr__kept_bytes(pl, (enum fr__recipe_part)part, w->op, w->bytes), FR_NONE,
                       w->op);
    }
}

void fr__add_kept(struct fr__placer *pl, uint32_t device, const struct fr__owner *w,
                  bool with_optimizer)
{
    if (pl->keeping) {
        add_kept_by_recipe(pl, device, w, with_optimizer);
        return;
    }
    fr__add_buffer(pl, FR_BUFFER_PARAMETER, device,
                   fr_op_stored_bytes(pl->graph, &pl->graph->ops[w->op]), FR_NONE, w->op);
    if (pl->in->keeps_gradients && w->ready != FR_NONE)
        fr__add_buffer(pl, FR_BUFFER_GRADIENT, device, w->bytes, FR_NONE, w->op);
    if (with_optimizer && w->n_updates > 0)
        fr__add_optimizer(pl, device, w, w->bytes, w->op);
}

void fr__use_device(struct fr__placer *pl, uint32_t device)
{
    const struct fr_device_type *type = fr__type_of(pl, device);

    if (!pl->has_context[device] && type->is_gpu)
        fr__add_buffer(pl, FR_BUFFER_CONTEXT, device, type->context_bytes, FR_NONE, FR_NONE);
    pl->has_context[device] = true;
}

enum fr_status fr__placer_expect(struct fr__placer *pl, size_t n, struct fr_error *err)
{
    const struct fr_graph *g = pl->graph;
    struct fr__plan_size more = {.tasks = n * g->n_ops,
                                 .deps = n * g->n_edges,
                                 .buffers = n * g->n_tensors,
                                 .frees = n * g->n_edges};

    return fr__plan_expect(pl->plan, &more, err);
}

struct fr__plan_mark fr__placer_mark(const struct fr__placer *pl)
{
    return fr__plan_mark(pl->plan, pl->next_priority);
}

void fr__placer_repeat(struct fr__placer *pl, const struct fr__pattern *k,
                       const struct fr__pattern_place *place)
{
    struct fr__begin size = fr__pattern_size(k);
    struct fr__pattern_place here = *place;

    here.next_priority = pl->next_priority;
    fr__pattern_repeat(pl->plan, k, &here);
    pl->n_tasks += size.task;
    pl->next_priority += size.priority;
}
