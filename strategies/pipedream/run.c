/* strategies/pipedream/run.c - stages with different numbers of replicas as tasks, with a flush.
 *
 * Micro-batches take the ways of lists.h. Training is synchronous: gradients are added up over all
 * micro-batches, replicas of a stage average theirs, and each updates once at the end. PipeDream
 * itself updates after each mini-batch and stashes weights: see async.c.
 *
 * The replicas of all stages with the same number q are a column. Columns keep and update
 * parameters of their own; micro-batches pass through all of them, so there is one fr__replica,
 * whose arrays of the column change with the block that is placed.
 */
#include "config.h"

#include "strategies/pipedream/lists.h"

#include "base/error.h"
#include "lowering/exchange/exchange.h"
#include "lowering/replica/replica.h"

/* What a fr__replica keeps for one replica of each stage. */
struct column {
    uint32_t *first_task, *gradient_of;
    struct fr__micro tail;
    bool *is_mine;
};

struct placing {
    const struct fr__pd_run *run;
    struct fr__placer *pl;
    const struct fr__pd_seats *seats;
    struct fr__replica r;
    struct fr__exchange *exchange;
    uint32_t *device_of; /* [n_ops] of the micro-batch being placed */
    struct column *columns;
    struct fr__pd_block (*blocks)[2]; /* [n_stages] */
    struct fr__pd_lists lists;
    uint32_t *marker; /* [n_stages][most] end of the block before, FR_NONE */
};

static uint32_t device_at(const struct placing *p, uint32_t stage, uint32_t q)
{
    return p->seats->devices[(size_t)stage * p->seats->most + q];
}

static uint32_t *marker_at(const struct placing *p, uint32_t stage, uint32_t q)
{
    return &p->marker[(size_t)stage * p->seats->most + q];
}

/* ---- what cannot be done ---- */

bool fr__pd_can_share(const struct fr__pd_run *run, uint32_t stages[2], uint32_t *op)
{
    const struct fr_graph *g = run->pl->graph;
    const enum fr__role *roles = run->pl->params.roles;

    for (size_t i = 0; i < g->n_edges; i++) {
        const struct fr_edge *e = &g->edges[i];
        uint32_t a = run->stage_of[e->src], b = run->stage_of[e->dst];
        bool is_tied = e->tensor == FR_NONE && e->bytes > 0;
        bool is_tail = roles[e->dst] == FR__ROLE_SUM || roles[e->dst] == FR__ROLE_UPDATE;

        if ((is_tied || is_tail) && run->seats->replicas_of[a] != run->seats->replicas_of[b]) {
            stages[0] = a;
            stages[1] = b;
            *op = e->src;
            return false;
        }
    }
    return true;
}

enum fr_status fr__pd_check_run(const struct fr__pd_run *run, struct fr_error *err)
{
    const struct fr_graph *g = run->pl->graph;
    uint32_t stages[2], op;

    if (!fr__pd_can_share(run, stages, &op))
        return fr__fail(err, FR_EUNSUPPORTED, FR_NOWHERE,
                        "parameters of '%s' are shared by stages with %u and %u replicas, which "
                        "cannot be run; 'straight=1' replicates none",
                        g->ops[op].name, run->seats->replicas_of[stages[0]],
                        run->seats->replicas_of[stages[1]]);
    if (run->n_micros < run->seats->most)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "%u micro-batches leave some of the %u replicas of a stage without work; a "
                        "larger batch or a smaller 'micro' makes more",
                        run->n_micros, run->seats->most);
    if ((uint64_t)run->n_micros * g->n_ops >= INT32_MAX / 4)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "%u micro-batches of %zu ops are too many tasks for one plan",
                        run->n_micros, g->n_ops);
    return FR_OK;
}

/* ---- room ---- */

static enum fr_status make_column(struct placing *p, uint32_t q, struct fr_error *err)
{
    const struct fr_graph *g = p->pl->graph;
    struct fr__arena *arena = p->pl->arena;
    struct column *c = &p->columns[q];

    c->first_task = fr__arena_nones(arena, g->n_ops);
    c->gradient_of = fr__arena_nones(arena, g->n_tensors);
    c->tail = (struct fr__micro){.index = FR_NONE, .batch = g->batch};
    c->tail.task_of = fr__arena_nones(arena, g->n_ops);
    c->tail.priority_of = fr__arena_alloc(arena, g->n_ops, sizeof(*c->tail.priority_of));
    c->tail.buffer_of = fr__arena_nones(arena, g->n_tensors);
    c->tail.copies = fr__arena_nones(arena, g->n_tensors);
    c->tail.is_followed = fr__arena_alloc(arena, g->n_ops, sizeof(bool));
    c->tail.end_of = fr__arena_nones(arena, 2 * p->pl->in->topo->n_devices);
    c->is_mine = fr__arena_alloc(arena, g->n_ops, sizeof(*c->is_mine));
    if (!c->first_task || !c->gradient_of || !c->tail.task_of || !c->tail.priority_of ||
        !c->tail.buffer_of || !c->tail.copies || !c->tail.is_followed || !c->tail.end_of ||
        !c->is_mine)
        return fr__fail_nomem(err);
    for (uint32_t o = 0; o < g->n_ops; o++)
        c->is_mine[o] = q < p->seats->replicas_of[p->run->stage_of[o]];
    return FR_OK;
}

static enum fr_status make_room(struct placing *p, struct fr_error *err)
{
    const struct fr__pd_seats *seats = p->seats;
    struct fr__arena *arena = p->pl->arena;

    p->device_of = fr__arena_alloc(arena, p->pl->graph->n_ops, sizeof(*p->device_of));
    p->columns = fr__arena_alloc(arena, seats->most, sizeof(*p->columns));
    p->marker = fr__arena_nones(p->pl->arena, seats->n_stages * seats->most);
    if (!p->device_of || !p->columns || !p->marker)
        return fr__fail_nomem(err);
    for (uint32_t q = 0; q < seats->most; q++)
        FR_TRY(make_column(p, q, err));
    FR_TRY(fr__pd_lists_make(&p->lists, seats, p->run->n_micros, false, arena, err));
    return fr__pd_blocks_make(&p->blocks, p->pl, p->run->stage_of, seats->n_stages, err);
}

/* ---- blocks in an order in which they can run ---- */

/* Where the ops of a micro-batch run, or those of a column. */
static void stand(struct placing *p, uint32_t micro)
{
    for (uint32_t o = 0; o < p->pl->graph->n_ops; o++) {
        uint32_t s = p->run->stage_of[o];

        p->device_of[o] = device_at(p, s, micro % p->seats->replicas_of[s]);
    }
}

static void enter(struct placing *p, uint32_t q)
{
    p->r.first_task = p->columns[q].first_task;
    p->r.gradient_of = p->columns[q].gradient_of;
    p->r.tail = p->columns[q].tail;
    p->r.is_mine = p->columns[q].is_mine;
}

static enum fr_status place_block(void *user, uint32_t stage, uint32_t q,
                                  const struct fr__pd_slot *k, struct fr_error *err)
{
    struct placing *p = user;
    const struct fr__pd_block *b = &p->blocks[stage][k->pass];
    uint32_t *marker = marker_at(p, stage, q);

    (void)err;
    if (b->n == 0)
        return FR_OK;
    stand(p, k->micro);
    enter(p, q);
    fr__place_ops(&p->r, k->micro, b->ops, b->n, *marker);
    *marker = fr__place_join(&p->r, k->micro, b->ops, b->n, device_at(p, stage, q));
    return FR_OK;
}

static enum fr_status place_blocks(struct placing *p, struct fr_error *err)
{
    FR_TRY(fr__pd_lists_walk(&p->lists, p->pl->ctx, place_block, p, err));
    for (uint32_t s = 0; s < p->seats->n_stages; s++)
        for (uint32_t q = 0; q < p->seats->replicas_of[s]; q++)
            p->r.done_of[device_at(p, s, q)] = *marker_at(p, s, q);
    return FR_OK;
}

/* ---- all of it ---- */

static void place_columns(struct placing *p)
{
    for (uint32_t q = 0; q < p->seats->most; q++) {
        stand(p, q);
        enter(p, q);
        fr__place_sums(&p->r);
        fr__exchange_place(p->exchange, &p->r, q);
        fr__refresh_tied(&p->r);
    }
}

static enum fr_status place(struct placing *p, struct fr_error *err)
{
    const struct fr__share share = {p->run->n_micros, p->run->batch, p->run->last_batch};
    enum fr_status st;

    stand(p, 0);
    FR_TRY(fr__replica_init(&p->r, p->pl, p->device_of, &share, err));
    p->pl->next_priority = 0;
    FR_TRY(fr__placer_expect(p->pl, p->run->n_micros, err));
    for (uint32_t q = 0; q < p->seats->most; q++) {
        stand(p, q);
        enter(p, q);
        fr__place_persistent(&p->r, true);
    }
    st = place_blocks(p, err);
    if (st == FR_OK)
        place_columns(p);
    return st == FR_OK ? fr__replica_status(&p->r, err) : st;
}

/* The replicas of each stage are a group. */
static enum fr_status group_stages(struct placing *p, struct fr__reduce_part *out,
                                   struct fr_error *err)
{
    const struct fr__pd_seats *seats = p->seats;
    struct fr__arena *arena = p->pl->arena;
    uint32_t *groups = fr__arena_alloc(arena, seats->n_stages, sizeof(*groups));
    uint32_t *group_of = fr__arena_alloc(arena, seats->most, sizeof(*group_of));
    uint32_t *rank_of = fr__arena_alloc(arena, seats->most, sizeof(*rank_of));

    if (!groups || !group_of || !rank_of)
        return fr__fail_nomem(err);
    for (uint32_t q = 0; q < seats->most; q++)
        rank_of[q] = q;
    for (size_t s = 0; s < seats->n_stages; s++)
        if (seats->replicas_of[s] > 1)
            groups[s] = fr_plan_add_group_of(p->pl->plan, seats->devices + s * seats->most,
                                             seats->replicas_of[s]);
    out->over = (struct fr__rank_groups){.n_groups = 1,
                                         .n_ranks = seats->most,
                                         .plan_group = groups,
                                         .group_of = group_of,
                                         .rank_of = rank_of};
    return FR_OK;
}

enum fr_status fr__pd_place(const struct fr__pd_run *run, struct fr_error *err)
{
    struct placing p = {.run = run, .pl = run->pl, .seats = run->seats};
    struct fr__exchange_options exchange = {.policy = FR__EXCHANGE_STAGES, .overlap = true};
    struct fr__reduce_part part = {.shards = 1};
    enum fr_status st;

    FR_TRY(fr__pd_check_run(run, err));
    FR_TRY(make_room(&p, err));
    exchange.n_stages = (uint32_t)run->seats->n_stages;
    exchange.n_replicas = run->seats->most;
    exchange.stage_of = run->stage_of;
    exchange.devices = run->seats->devices;
    exchange.replicas_of = run->seats->replicas_of;
    exchange.n_parts = 1;
    exchange.parts = &part;
    FR_TRY(group_stages(&p, &part, err));
    FR_TRY(fr__exchange_new(&p.exchange, run->pl, &exchange, err));
    st = place(&p, err);
    fr__replica_fini(&p.r);
    return st;
}
