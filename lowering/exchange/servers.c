/* lowering/exchange/servers.c - parameter servers: who serves what, and one owner's
 * round of pushes, sum, updates and pulls. The policy is described in exchange.h.
 */
#include "config.h"

#include "lowering/exchange/parts.h"

#include "base/error.h"
#include "base/units.h"
#include "plan/internal.h"
#include "lowering/log.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- servers: who serves what ---- */

static int by_bytes_descending(const void *a, const void *b)
{
    const struct fr__owner *const *x = a, *const *y = b;

    if ((*x)->bytes != (*y)->bytes)
        return (*x)->bytes > (*y)->bytes ? -1 : 1;
    return ((*x)->op > (*y)->op) - ((*x)->op < (*y)->op);
}

/* Longest first to the least loaded; the lowest server among equals. */
static enum fr_status shard(struct fr__exchange *s, struct fr_error *err)
{
    const struct fr__params *p = &s->pl->params;
    const struct fr__owner **sorted = fr__arena_alloc(s->pl->arena, s->n_order, sizeof(*sorted));
    uint64_t *load_bytes = fr__arena_alloc(s->pl->arena, s->n_servers, sizeof(*load_bytes));
    char text[32];

    if (!sorted || !load_bytes)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < s->n_order; i++)
        sorted[i] = &p->owners[s->order[i]];
    qsort(sorted, s->n_order, sizeof(*sorted), by_bytes_descending);
    for (size_t i = 0; i < s->n_order; i++) {
        uint32_t least = 0;

        for (uint32_t k = 1; k < s->n_servers; k++)
            if (load_bytes[k] < load_bytes[least])
                least = k;
        load_bytes[least] += sorted[i]->bytes;
        s->server_of[p->owner_of[sorted[i]->op]] = least;
    }
    for (uint32_t k = 0; k < s->n_servers; k++)
        fr__log(s->pl->ctx, "server %u on %s holds %s of parameters", k,
                s->pl->in->topo->devices[s->servers[k]].name,
                fr__format_bytes((double)load_bytes[k], text, sizeof(text)));
    return FR_OK;
}

/* A connection of each server that holds anything to each worker. There are as many as owners at
 * most, which may be far fewer than devices. */
static enum fr_status number_connections(struct fr__exchange *s, struct fr_error *err)
{
    size_t n_used = 0, n;

    s->row_of = fr__arena_alloc(s->pl->arena, s->n_servers, sizeof(*s->row_of));
    if (!s->row_of)
        return fr__fail_nomem(err);
    for (size_t k = 0; k < s->n_servers; k++)
        s->row_of[k] = FR_NONE;
    for (size_t i = 0; i < s->n_order; i++) {
        uint32_t *row = &s->row_of[s->server_of[s->order[i]]];

        if (*row == FR_NONE)
            *row = (uint32_t)n_used++;
    }
    n = n_used * s->n_workers;
    s->last_pull = fr__arena_take(s->pl->arena, n + 1, sizeof(*s->last_pull));
    if (!s->last_pull)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        s->last_pull[i] = FR_NONE;
    return FR_OK;
}

static enum fr_status find_servers(struct fr__exchange *s, struct fr_error *err)
{
    enum fr__server_place place = s->options.place;
    const struct fr_problem *in = s->pl->in;
    struct fr__arena *arena = s->pl->arena;

    s->n_servers = place == FR__SERVER_SHARDED ? s->n_workers : 1;
    s->servers = fr__arena_alloc(arena, s->n_servers, sizeof(*s->servers));
    s->server_of = fr__arena_alloc(arena, s->pl->params.n_owners, sizeof(*s->server_of));
    if (!s->servers || !s->server_of)
        return fr__fail_nomem(err);
    for (uint32_t k = 0; k < s->n_servers; k++)
        s->servers[k] = in->devices[k];
    if (place == FR__SERVER_CPU) {
        s->servers[0] = fr_topo_host_of(in->topo, in->devices[0]);
        if (s->servers[0] == FR_NONE)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "sync=ps-cpu needs a CPU in the machine of %s, but '%s' has none there",
                            in->topo->devices[in->devices[0]].name, in->topo->name);
    }
    FR_TRY(shard(s, err));
    return number_connections(s, err);
}

/* The server's own copy (a GPU that works too has one already) and what the optimizer keeps. */
static void place_server_memory(struct fr__exchange *s)
{
    struct fr__placer *pl = s->pl;

    for (size_t i = 0; i < s->n_order; i++) {
        const struct fr__owner *w = &pl->params.owners[s->order[i]];
        uint32_t server = s->servers[s->server_of[s->order[i]]];

        if (w->n_updates == 0)
            continue;
        if (!fr__type_of(pl, server)->is_gpu)
            fr__add_buffer(pl, FR_BUFFER_PARAMETER, server, w->bytes, FR_NONE, w->op);
        fr__add_optimizer(pl, server, w, w->bytes, w->op);
    }
}

/* ---- servers: one owner's round ---- */

static uint32_t done_of(const struct fr__exchange *s, uint32_t rank)
{
    return s->workers[rank].done_of[s->pl->in->devices[rank]];
}

static uint32_t add_label(struct fr__exchange *s, const char *what, const struct fr__owner *w)
{
    char text[300];

    snprintf(text, sizeof(text), "%s of %s", what, s->pl->graph->ops[w->op].name);
    return fr_plan_add_string(s->pl->plan, text);
}

static void wait_for(struct fr__exchange *s, uint32_t before, uint32_t send, uint32_t recv)
{
    fr_plan_add_dep(s->pl->plan, before, send);
    fr_plan_add_dep(s->pl->plan, before, recv);
}

static void push(struct fr__exchange *s, uint32_t rank, const struct fr__owner *w, uint32_t server,
                 uint32_t label, uint32_t sum)
{
    struct fr__placer *pl = s->pl;
    struct fr__replica *r = &s->workers[rank];
    uint32_t device = pl->in->devices[rank], send, recv;

    if (device == server) {
        fr__after_gradient(r, w, sum, true);
        return;
    }
    fr__add_move(pl,
                 &(struct fr__move){.src = device,
                                    .dst = server,
                                    .from = FR_NONE,
                                    .bytes = (double)fr__gradient_bytes(pl, w->bytes),
                                    .op = w->op,
                                    .microbatch = FR_NONE,
                                    .label = label,
                                    .priority = pl->next_priority,
                                    .phase = FR_PHASE_BACKWARD_WEIGHT,
                                    .send_stream = FR_STREAM_SEND},
                 &send, &recv);
    fr__after_gradient(r, w, send, true);
    fr__after_gradient(r, w, recv, false);
    if (!s->options.overlap)
        wait_for(s, done_of(s, rank), send, recv);
    fr_plan_add_dep(pl->plan, recv, sum);
    fr__add_free(pl,
                 fr__add_buffer(pl, FR_BUFFER_COMMUNICATION, server,
                                fr__gradient_bytes(pl, w->bytes), recv, w->op),
                 sum);
}

/* Reads n gradients, writes one. */
static uint32_t add_sum(struct fr__exchange *s, const struct fr__owner *w, uint32_t server)
{
    struct fr__placer *pl = s->pl;
    struct fr_cost cost;

    fr__price_sum(pl, pl->in->topo->devices[server].type, fr__gradient_bytes(pl, w->bytes),
                  s->n_workers, &cost);
    return fr__add_compute(pl, server, fr_plan_add_cost(pl->plan, &cost), w->op,
                           FR_PHASE_BACKWARD_WEIGHT, FR_NONE);
}

/* The parameters go to a worker, after `update` if there is one; one connection a server and worker
 * carries them one after the other. *send, *recv: the tasks; false: they are there. */
static bool move_parameters(struct fr__exchange *s, uint32_t rank, const struct fr__owner *w,
                            uint32_t k, uint32_t label, uint32_t update, uint32_t *send,
                            uint32_t *recv)
{
    struct fr__placer *pl = s->pl;
    uint32_t *last = &s->last_pull[(size_t)s->row_of[k] * s->n_workers + rank];

    if (pl->in->devices[rank] == s->servers[k])
        return false;
    fr__add_move(pl,
                 &(struct fr__move){.src = s->servers[k],
                                    .dst = pl->in->devices[rank],
                                    .from = update,
                                    .bytes = (double)w->bytes,
                                    .op = w->op,
                                    .microbatch = FR_NONE,
                                    .label = label,
                                    .priority = pl->next_priority,
                                    .phase = FR_PHASE_UPDATE,
                                    .send_stream = FR_STREAM_FREE},
                 send, recv);
    if (*last != FR_NONE)
        wait_for(s, *last, *send, *recv);
    *last = *send;
    return true;
}

/* After the worker's backward pass, which reads the old ones. */
static void pull(struct fr__exchange *s, uint32_t rank, const struct fr__owner *w, uint32_t k,
                 uint32_t label, uint32_t update)
{
    uint32_t send, recv;

    if (move_parameters(s, rank, w, k, label, update, &send, &recv))
        wait_for(s, done_of(s, rank), send, recv);
}

/* Before the op that reads them first; others that do, and later micro-batches, follow it. */
static void pull_at_start(struct fr__exchange *s, uint32_t owner)
{
    const struct fr__owner *w = &s->pl->params.owners[owner];
    uint32_t k = s->server_of[owner], label, send, recv;

    if (w->n_updates == 0)
        return;
    label = add_label(s, "parameters", w);
    for (uint32_t rank = 0; rank < s->n_workers; rank++)
        if (move_parameters(s, rank, w, k, label, FR_NONE, &send, &recv))
            fr_plan_add_dep(s->pl->plan, recv, s->workers[rank].first_task[w->op]);
    s->pl->next_priority++;
}

/* In the order of the model. */
static void pull_all_at_start(struct fr__exchange *s)
{
    for (uint32_t i = 0; i < s->pl->params.n_owners; i++)
        if (s->pl->params.owners[i].ready != FR_NONE)
            pull_at_start(s, i);
}

/* The owner's update ops one after the other; the last of them, or FR_NONE. */
static enum fr_status place_updates(struct fr__exchange *s, const struct fr__owner *w, uint32_t k,
                                    uint32_t sum, uint32_t *last, struct fr_error *err)
{
    struct fr__placer *pl = s->pl;
    uint32_t server = s->servers[k];
    uint32_t buffer = fr__add_buffer(pl, FR_BUFFER_GRADIENT, server,
                                     fr__gradient_bytes(pl, w->bytes), sum, w->op);
    struct fr__cost_rows *rows =
        fr__cost_rows(pl, pl->in->topo->devices[server].type, pl->graph->batch);

    if (!rows)
        return fr__fail_nomem(err);
    *last = sum;
    for (uint32_t i = 0; i < w->n_updates; i++) {
        uint32_t op = pl->params.updates[w->first_update + i];
        uint32_t task =
            fr__add_compute(pl, server, fr__op_cost(pl, rows, op), op, FR_PHASE_UPDATE, FR_NONE);

        fr__add_workspace(pl, server, op, pl->graph->batch, task);
        fr_plan_add_dep(pl->plan, *last, task);
        *last = task;
        /* a GPU that works too updates the parameters that its own backward pass reads */
        for (uint32_t rank = 0; rank < s->n_workers; rank++)
            if (pl->in->devices[rank] == server)
                fr_plan_add_dep(pl->plan, done_of(s, rank), task);
    }
    fr__add_free(pl, buffer, *last);
    return FR_OK;
}

static enum fr_status place_round(struct fr__exchange *s, uint32_t owner, struct fr_error *err)
{
    const struct fr__owner *w = &s->pl->params.owners[owner];
    uint32_t k = s->server_of[owner], server = s->servers[k], sum;
    uint32_t updated = FR_NONE;
    uint32_t push_label = add_label(s, "gradient", w), pull_label;

    sum = add_sum(s, w, server);
    for (uint32_t rank = 0; rank < s->n_workers; rank++)
        push(s, rank, w, server, push_label, sum);
    FR_TRY(place_updates(s, w, k, sum, &updated, err));
    if (w->n_updates == 0 || s->options.pulls_at_start)
        return FR_OK;
    pull_label = add_label(s, "parameters", w);
    for (uint32_t rank = 0; rank < s->n_workers; rank++)
        pull(s, rank, w, k, pull_label, updated);
    return FR_OK;
}

/* Makes room for what workers send and receive, as far as there is. Each owner's gradient and
 * parameters go between the server and each worker but itself, as a send and a receive with a
 * buffer; the copies of the model are workers' own. */
static enum fr_status expect_messages(const struct fr__exchange *s, struct fr_error *err)
{
    const struct fr_graph *g = s->pl->graph;
    size_t n = s->n_workers, n_messages = 0;
    struct fr__plan_size more;

    for (size_t i = 0; i < s->n_order; i++)
        n_messages += (s->pl->params.owners[s->order[i]].n_updates > 0 ? 2 : 1) * n;
    more = (struct fr__plan_size){.tasks = n * g->n_ops + 2 * n_messages,
                                  .deps = n * g->n_edges + 4 * n_messages,
                                  .buffers = n * g->n_tensors + n_messages / 2,
                                  .frees = n * g->n_edges + n_messages / 2};
    return fr__plan_expect(s->pl->plan, &more, err);
}

enum fr_status fr__servers_prepare(struct fr__exchange *s, struct fr_error *err)
{
    s->n_workers = (uint32_t)s->pl->in->n_devices;
    FR_TRY(fr__ready_order(&s->pl->params, s->pl->arena, &s->order, &s->n_order, err));
    FR_TRY(expect_messages(s, err));
    FR_TRY(find_servers(s, err));
    place_server_memory(s);
    return FR_OK;
}

enum fr_status fr__servers_finish(struct fr__exchange *s, struct fr_error *err)
{
    if (s->options.pulls_at_start)
        pull_all_at_start(s);
    for (size_t i = 0; i < s->n_order; i++) {
        FR_TRY(fr__check_cancelled(s->pl->ctx, err));
        FR_TRY(place_round(s, s->order[i], err));
    }
    return FR_OK;
}
