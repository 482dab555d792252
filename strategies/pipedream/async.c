/* strategies/pipedream/async.c - stages with different numbers of replicas as tasks, without a
 * flush: PipeDream with weight stashing.
 *
 * Every micro-batch is a fr__replica of its own, on the devices that it visits: what it adds to
 * gradients is one update of each stage's replica. Replicas of a stage sum the gradients of a round
 * in buckets on the stream for communication, beside the rest of the backward and the next forward
 * (lists.h).
 *
 * A version of the weights that a backward still has to read stays in memory when an update
 * replaces it, until that backward is done. */
#include "config.h"

#include "strategies/pipedream/lists.h"

#include "base/arena.h"
#include "base/error.h"
#include "lowering/exchange/exchange.h"
#include "lowering/log.h"
#include "lowering/pipeline/async.h"
#include "lowering/replica/replica.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROBED_ITERATIONS = 32, MOST_PASSES = 1 << 20 };

/* Gradients of a stage that are summed together, as PyTorch's DDP has them (S. Li et al., VLDB
 * 2020, section 3.2), which PipeDream's replicated stages use. */
struct bucket {
    uint32_t stage;
    double bytes;
};
static const double BUCKET_BYTES = 25.0 * 1048576;

struct placing {
    const struct fr__pd_run *run;
    struct fr__placer *pl;
    const struct fr__pd_seats *seats;
    struct fr__pd_lists lists;
    struct fr__pd_block (*blocks)[2]; /* [n_stages] */
    uint32_t n_micros, n_iterations;  /* n_micros: of all iterations */
    bool has_settled;
    uint64_t *param_bytes;        /* [n_stages] that updates write */
    uint32_t *groups;             /* [n_stages] of replicas; unused where there is one */
    struct fr__replica *replicas; /* [n_micros] */
    uint32_t **device_of;         /* [n_micros] [n_ops] of each; NULL: not made, or done */
    uint32_t *n_left;             /* [n_micros] updates to come */
    uint32_t *marker;             /* [n_stages][most] end of the slot before, FR_NONE */
    uint32_t n_buckets;
    struct bucket *buckets; /* [n_owners] */
    uint32_t *bucket_of;    /* [n_owners] FR_NONE: not summed */
    uint32_t *collective;   /* [n_buckets][n_micros] of each round, FR_NONE: none yet */
    uint32_t *member; /* [n_stages][n_micros] task that ends the sums of its gradients, FR_NONE */
    uint32_t *stash;  /* [n_stages][n_micros] buffer that its backward frees, FR_NONE */
    uint32_t *keeper; /* [n_stages][n_micros] of the version that the update after this
                                      micro-batch replaces: the last that reads it, FR_NONE */
    /* The first stage that computes backwards: where one stands before it that casts images or
     * tokens, no gradient comes back there, and it runs ahead of all others. */
    uint32_t end_stage;
    uint32_t n_ends;
};

static uint32_t device_at(const struct placing *g, uint32_t stage, uint32_t q)
{
    return g->seats->devices[(size_t)stage * g->seats->most + q];
}

static size_t cell(const struct placing *g, uint32_t stage, uint32_t micro)
{
    return (size_t)stage * g->n_micros + micro;
}

static uint32_t end_of(const struct placing *g, uint32_t i)
{
    return fr__async_end_of(g->run->n_micros, g->pl->in->n_devices, i);
}

/* ---- how many iterations ---- */

struct replay {
    const struct placing *g;
    double (*pass_s)[2]; /* [n_stages] */
    double *seat_s;      /* [n_stages][most] */
    double *there_s;     /* [n_stages][2][n_micros] */
    double ends_s[PROBED_ITERATIONS];
};

static double *there(const struct replay *x, uint32_t stage, enum fr__pd_pass pass, uint32_t micro)
{
    return &x->there_s[((size_t)stage * 2 + (pass == FR__PD_BACKWARD)) * x->g->n_micros + micro];
}

static enum fr_status replay_slot(void *user, uint32_t stage, uint32_t q,
                                  const struct fr__pd_slot *k, struct fr_error *err)
{
    struct replay *x = user;
    double *seat_s = &x->seat_s[(size_t)stage * x->g->seats->most + q], ready_s = 0;

    (void)err;
    if (k->pass == FR__PD_UPDATE)
        return FR_OK;
    if (k->pass == FR__PD_FORWARD && stage > 0)
        ready_s = *there(x, stage - 1, FR__PD_FORWARD, k->micro);
    if (k->pass == FR__PD_BACKWARD && stage + 1 < x->g->seats->n_stages)
        ready_s = *there(x, stage + 1, FR__PD_BACKWARD, k->micro);
    *seat_s = fmax(*seat_s, ready_s) + x->pass_s[stage][k->pass];
    *there(x, stage, k->pass, k->micro) = *seat_s;
    if (k->pass != FR__PD_BACKWARD || stage != x->g->end_stage)
        return FR_OK;
    for (uint32_t i = 0; i < x->g->n_iterations; i++)
        if (end_of(x->g, i + 1) == k->micro)
            x->ends_s[i] = *seat_s;
    return FR_OK;
}

static double block_s(const struct placing *g, uint32_t stage, int pass)
{
    const struct fr_part part = {.batch = g->run->batch};
    uint32_t type = g->pl->in->topo->devices[device_at(g, stage, 0)].type;
    const struct fr__pd_block *b = &g->blocks[stage][pass];
    double sum_s = 0;

    for (size_t i = 0; i < b->n; i++) {
        struct fr_cost cost;

        fr__price_op(g->pl, type, b->ops[i], &part, &cost);
        sum_s += cost.mean_s;
    }
    return sum_s;
}

static enum fr_status probe(struct placing *g, struct replay *x, struct fr_error *err)
{
    for (uint32_t s = 0; s < g->seats->n_stages; s++)
        for (int pass = 0; pass < 2; pass++)
            x->pass_s[s][pass] = block_s(g, s, pass);
    FR_TRY(fr__pd_lists_walk(&g->lists, g->pl->ctx, replay_slot, x, err));
    g->n_iterations = fr__async_settle(x->ends_s, g->n_iterations, &g->has_settled);
    return FR_OK;
}

/* Makes the lists of so many iterations as it takes until the interval settles without transfers.
 */
static enum fr_status unroll(struct placing *g, struct fr_error *err)
{
    size_t n_stages = g->seats->n_stages;
    struct replay x = {.g = g};
    enum fr_status st;

    while (g->end_stage + 1 < n_stages && g->blocks[g->end_stage][FR__PD_BACKWARD].n == 0)
        g->end_stage++;
    g->n_iterations =
        fr__async_probes(2 * n_stages * g->run->n_micros, MOST_PASSES, PROBED_ITERATIONS);
    g->n_micros = g->n_iterations * g->run->n_micros;
    FR_TRY(fr__pd_lists_make(&g->lists, g->seats, g->n_micros, true, g->pl->arena, err));
    x.pass_s = calloc(n_stages, sizeof(*x.pass_s));
    x.seat_s = calloc(n_stages * g->seats->most, sizeof(*x.seat_s));
    x.there_s = calloc(2 * n_stages * g->n_micros, sizeof(*x.there_s));
    st = x.pass_s && x.seat_s && x.there_s ? probe(g, &x, err) : fr__fail_nomem(err);
    free(x.pass_s);
    free(x.seat_s);
    free(x.there_s);
    FR_TRY(st);
    g->n_micros = g->n_iterations * g->run->n_micros;
    if ((uint64_t)g->n_micros * g->pl->graph->n_ops >= INT32_MAX / 4)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "%u micro-batches of %zu ops in %u iterations are too many tasks for one "
                        "plan",
                        g->run->n_micros, g->pl->graph->n_ops, g->n_iterations);
    return fr__pd_lists_make(&g->lists, g->seats, g->n_micros, true, g->pl->arena, err);
}

/* ---- versions ---- */

/* Which micro-batch is the last to read a version, by the order of each list. */
static void find_keepers(struct placing *g)
{
    for (uint32_t s = 0; s < g->seats->n_stages; s++)
        for (uint32_t q = 0; q < g->seats->replicas_of[s]; q++) {
            const struct fr__pd_list *l = fr__pd_list_at(&g->lists, s, q);
            uint32_t reader = FR_NONE; /* of the newest version */

            for (size_t i = 0; i < l->n; i++) {
                if (l->slots[i].pass == FR__PD_FORWARD)
                    reader = l->slots[i].micro;
                if (l->slots[i].pass != FR__PD_UPDATE)
                    continue;
                g->keeper[cell(g, s, l->slots[i].micro)] =
                    reader != FR_NONE && reader > l->slots[i].micro ? reader : FR_NONE;
                reader = FR_NONE;
            }
        }
}

/* How many versions a replica of the stage has at most, and how many updates old they are. */
static void count_versions(const struct placing *g, uint32_t stage, uint32_t *versions,
                           uint32_t *staleness)
{
    const struct fr__pd_list *l = fr__pd_list_at(&g->lists, stage, 0);
    uint32_t r = g->seats->replicas_of[stage], n_updates = 0, n_kept = 1;
    uint32_t *read = calloc(g->n_micros / r + 1, sizeof(*read)); /* version by micro-batch */

    *versions = 1;
    *staleness = 0;
    for (size_t i = 0; read && i < l->n; i++) {
        const struct fr__pd_slot *k = &l->slots[i];

        if (k->pass == FR__PD_FORWARD)
            read[k->micro / r] = n_updates;
        if (k->pass == FR__PD_BACKWARD && n_updates - read[k->micro / r] > *staleness)
            *staleness = n_updates - read[k->micro / r];
        if (k->pass == FR__PD_BACKWARD && g->stash[cell(g, stage, k->micro)] != FR_NONE)
            n_kept--;
        if (k->pass == FR__PD_UPDATE) {
            n_kept += g->keeper[cell(g, stage, k->micro)] != FR_NONE;
            n_updates++;
        }
        *versions = n_kept > *versions ? n_kept : *versions;
    }
    free(read);
}

/* ---- placing ---- */

static enum fr_status enter(struct placing *g, uint32_t micro, struct fr_error *err)
{
    const struct fr__share share = {
        .n_micros = 1, .batch = g->run->batch, .last_batch = g->run->batch};
    size_t n_ops = g->pl->graph->n_ops;
    uint32_t *device_of;

    if (g->device_of[micro])
        return FR_OK;
    device_of = g->device_of[micro] = malloc(n_ops * sizeof(*device_of));
    if (!device_of)
        return fr__fail_nomem(err);
    for (size_t o = 0; o < n_ops; o++) {
        uint32_t s = g->run->stage_of[o];

        device_of[o] = device_at(g, s, micro % g->seats->replicas_of[s]);
    }
    FR_TRY(fr__replica_init(&g->replicas[micro], g->pl, device_of, &share, err));
    fr__replica_count_from(&g->replicas[micro], micro, g->n_micros);
    g->n_left[micro] = (uint32_t)g->seats->n_stages;
    return FR_OK;
}

static void leave(struct placing *g, uint32_t micro)
{
    fr__replica_fini(&g->replicas[micro]);
    g->replicas[micro] = (struct fr__replica){0};
    free(g->device_of[micro]);
    g->device_of[micro] = NULL;
}

static uint32_t sum_of(struct placing *g, uint32_t bucket, uint32_t round)
{
    uint32_t *c = &g->collective[(size_t)bucket * g->n_micros + round];

    if (*c == FR_NONE)
        *c = fr__add_collective(
            g->pl, &(struct fr_collective){.bytes = g->buckets[bucket].bytes,
                                           .group = g->groups[g->buckets[bucket].stage],
                                           .label = fr_plan_add_string(g->pl->plan, "gradients"),
                                           .kind = FR_ALL_REDUCE});
    return *c;
}

/* The replica's part in the sums of its round: a bucket leaves when its gradients are complete, one
 * after the other. */
static void place_members(struct placing *g, uint32_t stage, uint32_t q, uint32_t micro)
{
    const struct fr__params *p = &g->pl->params;
    uint32_t r = g->seats->replicas_of[stage], *last = &g->member[cell(g, stage, micro)];

    if (r < 2 || micro / r >= g->n_micros / r) /* the last round may be short: it is not summed */
        return;
    fr__place_sums_on(&g->replicas[micro], device_at(g, stage, q)); /* of tied weights */
    for (uint32_t b = 0; b < g->n_buckets; b++) {
        uint32_t task;

        if (g->buckets[b].stage != stage)
            continue;
        task = fr__add_task(g->pl, &(struct fr_task){.device = device_at(g, stage, q),
                                                     .cost_id = FR_NONE,
                                                     .op = FR_NONE,
                                                     .collective = sum_of(g, b, micro / r),
                                                     .rank = q,
                                                     .microbatch = micro,
                                                     .kind = FR_TASK_COLLECTIVE,
                                                     .phase = FR_PHASE_BACKWARD_WEIGHT,
                                                     .stream = FR_STREAM_COMM});
        for (size_t i = 0; i < p->n_owners; i++)
            if (g->bucket_of[i] == b)
                fr__after_gradient(&g->replicas[micro], &p->owners[i], task, false);
        if (*last != FR_NONE)
            fr_plan_add_dep(g->pl->plan, *last, task);
        *last = task;
    }
}

static void place_update(struct placing *g, uint32_t stage, uint32_t q, uint32_t micro)
{
    const struct fr__params *p = &g->pl->params;
    struct fr__replica *r = &g->replicas[micro];
    uint32_t device = device_at(g, stage, q), *marker = &g->marker[stage * g->seats->most + q];
    uint32_t member = g->member[cell(g, stage, micro)], keeper = g->keeper[cell(g, stage, micro)];
    uint32_t first, end;

    r->done_of[device] = *marker;
    end = fr__place_updates_on(r, device, &first);
    for (size_t i = 0; member != FR_NONE && i < p->n_updates; i++)
        if (r->device_of[p->updates[i]] == device && fr__update_task(r, p->updates[i]) != FR_NONE)
            fr_plan_add_dep(g->pl->plan, member, fr__update_task(r, p->updates[i]));
    if (end != FR_NONE) {
        if (keeper != FR_NONE)
            g->stash[cell(g, stage, keeper)] = fr__add_buffer(
                g->pl, FR_BUFFER_PARAMETER, device, g->param_bytes[stage], first, FR_NONE);
        *marker = end;
    }
    if (--g->n_left[micro] == 0)
        leave(g, micro);
}

static void place_pass(struct placing *g, uint32_t stage, uint32_t q, const struct fr__pd_slot *k)
{
    const struct fr__pd_block *b = &g->blocks[stage][k->pass];
    uint32_t *marker = &g->marker[stage * g->seats->most + q];
    struct fr__replica *r = &g->replicas[k->micro];

    if (b->n > 0) {
        fr__place_ops(r, 0, b->ops, b->n, *marker);
        *marker = fr__place_join(r, 0, b->ops, b->n, device_at(g, stage, q));
    }
    if (k->pass == FR__PD_FORWARD)
        return;
    fr__add_free(g->pl, g->stash[cell(g, stage, k->micro)], *marker);
    r->done_of[device_at(g, stage, q)] = *marker;
    place_members(g, stage, q, k->micro);
    if (stage != g->end_stage)
        return;
    while (g->n_ends < g->n_iterations && end_of(g, g->n_ends + 1) == k->micro) {
        fr_plan_end_iteration(g->pl->plan, *marker);
        g->n_ends++;
    }
}

static enum fr_status place_slot(void *user, uint32_t stage, uint32_t q,
                                 const struct fr__pd_slot *k, struct fr_error *err)
{
    struct placing *g = user;

    FR_TRY(enter(g, k->micro, err));
    if (k->pass != FR__PD_UPDATE) {
        place_pass(g, stage, q, k);
        return fr__replica_status(&g->replicas[k->micro], err);
    }
    place_update(g, stage, q, k->micro);
    return FR_OK;
}

/* Parameters and states of each replica of each stage, once: columns as in run.c. */
static enum fr_status place_persistent(struct placing *g, struct fr_error *err)
{
    size_t n_ops = g->pl->graph->n_ops;
    bool *is_mine = fr__arena_alloc(g->pl->arena, n_ops, sizeof(*is_mine));

    if (!is_mine)
        return fr__fail_nomem(err);
    for (uint32_t q = 0; q < g->seats->most; q++) {
        FR_TRY(enter(g, q, err));
        for (size_t o = 0; o < n_ops; o++)
            is_mine[o] = q < g->seats->replicas_of[g->run->stage_of[o]];
        g->replicas[q].is_mine = is_mine;
        fr__place_persistent(&g->replicas[q], true);
        g->replicas[q].is_mine = NULL;
    }
    return FR_OK;
}

/* ---- all of it ---- */

static void log_versions(const struct placing *g)
{
    if (!fr__wants_log(g->pl->ctx))
        return;
    fr__log(g->pl->ctx, "%u iterations in a row%s, an update after each micro-batch",
            g->n_iterations, g->has_settled ? "" : ", though the interval has not settled by then");
    for (uint32_t s = 0; s < g->seats->n_stages; s++) {
        uint32_t versions, staleness;

        count_versions(g, s, &versions, &staleness);
        fr__log(g->pl->ctx,
                "stage %u keeps %u versions of its weights and uses them %u updates old", s,
                versions, staleness);
    }
}

static bool make_room(struct placing *g)
{
    size_t n_stages = g->seats->n_stages, n_cells = n_stages * g->n_micros;

    g->param_bytes = calloc(n_stages, sizeof(*g->param_bytes));
    g->groups = fr__nones_new(n_stages);
    g->replicas = calloc(g->n_micros, sizeof(*g->replicas));
    g->device_of = calloc(g->n_micros, sizeof(*g->device_of));
    g->n_left = calloc(g->n_micros, sizeof(*g->n_left));
    g->marker = fr__nones_new(n_stages * g->seats->most);
    g->member = fr__nones_new(n_cells);
    g->stash = fr__nones_new(n_cells);
    g->keeper = fr__nones_new(n_cells);
    return g->param_bytes && g->groups && g->replicas && g->device_of && g->n_left && g->marker &&
           g->member && g->stash && g->keeper;
}

static void release(struct placing *g)
{
    for (uint32_t m = 0; g->replicas && g->device_of && m < g->n_micros; m++) {
        if (g->replicas[m].pl)
            fr__replica_fini(&g->replicas[m]);
        free(g->device_of[m]);
    }
    free(g->param_bytes);
    free(g->groups);
    free(g->replicas);
    free(g->device_of);
    free(g->n_left);
    free(g->marker);
    free(g->collective);
    free(g->member);
    free(g->stash);
    free(g->keeper);
}

/* A bucket of a stage is open until it holds enough. */
static enum fr_status fill_buckets(struct placing *g, struct fr_error *err)
{
    const struct fr__params *p = &g->pl->params;
    uint32_t *open = fr__arena_nones(g->pl->arena, g->seats->n_stages);
    const struct fr__bucket_limits each = {.bytes = 0};
    struct fr__buckets ready; /* one an owner, in the order of their gradients */

    g->buckets = fr__arena_alloc(g->pl->arena, p->n_owners, sizeof(*g->buckets));
    g->bucket_of = fr__arena_nones(g->pl->arena, p->n_owners);
    if (!open || !g->buckets || !g->bucket_of)
        return fr__fail_nomem(err);
    FR_TRY(fr__buckets_make(&ready, p, &each, NULL, g->pl->arena, err));
    for (size_t i = 0; i < ready.n; i++) {
        const struct fr__owner *w = &p->owners[ready.owners[i]];
        uint32_t s = g->run->stage_of[w->op];

        if (open[s] == FR_NONE) {
            open[s] = g->n_buckets;
            g->buckets[g->n_buckets++].stage = s;
        }
        g->buckets[open[s]].bytes += (double)w->bytes;
        g->bucket_of[ready.owners[i]] = open[s];
        if (g->buckets[open[s]].bytes >= BUCKET_BYTES)
            open[s] = FR_NONE;
    }
    g->collective = fr__nones_new((size_t)g->n_buckets * g->n_micros);
    return g->collective ? FR_OK : fr__fail_nomem(err);
}

static enum fr_status describe_stages(struct placing *g, struct fr_error *err)
{
    const struct fr__params *p = &g->pl->params;

    for (size_t i = 0; i < p->n_owners; i++)
        if (p->owners[i].ready != FR_NONE)
            g->param_bytes[g->run->stage_of[p->owners[i].op]] += p->owners[i].bytes;
    for (size_t s = 0; s < g->seats->n_stages; s++)
        if (g->seats->replicas_of[s] > 1)
            g->groups[s] = fr_plan_add_group_of(g->pl->plan, g->seats->devices + s * g->seats->most,
                                                g->seats->replicas_of[s]);
    return fill_buckets(g, err);
}

static enum fr_status place(struct placing *g, struct fr_error *err)
{
    if (!make_room(g))
        return fr__fail_nomem(err);
    FR_TRY(describe_stages(g, err));
    find_keepers(g);
    g->pl->next_priority = 0;
    FR_TRY(fr__placer_expect(g->pl, g->n_micros, err));
    FR_TRY(place_persistent(g, err));
    FR_TRY(fr__pd_lists_walk(&g->lists, g->pl->ctx, place_slot, g, err));
    log_versions(g);
    return FR_OK;
}

enum fr_status fr__pd_place_async(const struct fr__pd_run *run, struct fr_error *err)
{
    struct placing g = {.run = run, .pl = run->pl, .seats = run->seats};
    enum fr_status st;

    FR_TRY(fr__pd_check_run(run, err));
    FR_TRY(fr__pd_blocks_make(&g.blocks, g.pl, run->stage_of, run->seats->n_stages, err));
    FR_TRY(unroll(&g, err));
    st = place(&g, err);
    release(&g);
    return st;
}
