/* strategies/lower/exchange.c - how replicas average their gradients: see exchange.h. */
#include "config.h"

#include "strategies/lower/exchange.h"

#include "base/error.h"
#include "base/units.h"
#include "strategies/lower/log.h"

#include <stdio.h>
#include <stdlib.h>

struct fr__exchange {
    const struct policy *policy;
    struct fr__placer *pl;
    struct fr__exchange_options options;
    /* all-reduce: sets of gradients that travel together; a set of a bucket or of a stage */
    struct fr__buckets sets;
    uint32_t n_ranks;
    uint32_t *collectives; /* [sets] FR_NONE: nothing to average */
    uint32_t *set_of;      /* [n_ops] by update op, FR_NONE */
    uint32_t *members;     /* [sets] of the rank being placed, FR_NONE */
    /* servers */
    uint32_t n_workers;
    struct fr__replica *workers; /* [n_workers] */
    uint32_t n_servers;
    uint32_t *servers;     /* [n_servers] devices */
    uint32_t *server_of;   /* [n_owners] index into servers */
    uint32_t *last_pull;   /* [n_servers][n_workers] send of the pull before, FR_NONE */
    const uint32_t *order; /* [n_order] trained owners as their gradients become ready */
    size_t n_order;
};

/* One row a policy; finish NULL: the exchange is local. */
struct policy {
    enum fr_status (*prepare)(struct fr__exchange *x, struct fr_error *err);
    void (*place)(struct fr__exchange *x, struct fr__replica *r, uint32_t rank); /* NULL: nothing */
    enum fr_status (*finish)(struct fr__exchange *x, struct fr_error *err);
    bool is_chained;   /* members of a rank follow each other in the order of the sets */
    bool keeps_copies; /* the storage of the sets is kept in addition to the gradients */
};

/* ---- all-reduce: buckets ---- */

struct key {
    uint32_t ready, owner;
};

static int by_ready(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    if (x->ready != y->ready)
        return x->ready < y->ready ? -1 : 1;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

/* keys: [p->n_owners] scratch. */
static size_t sort_ready(const struct fr__params *p, struct key keys[])
{
    size_t n = 0;

    for (uint32_t i = 0; i < p->n_owners; i++)
        if (p->owners[i].ready != FR_NONE)
            keys[n++] = (struct key){p->owners[i].ready, i};
    qsort(keys, n, sizeof(*keys), by_ready);
    return n;
}

static enum fr_status ready_order(const struct fr__params *p, struct fr__arena *arena,
                                  const uint32_t **out, size_t *n, struct fr_error *err)
{
    struct key *keys = fr__arena_alloc(arena, p->n_owners, sizeof(*keys));
    uint32_t *owners = fr__arena_alloc(arena, p->n_owners, sizeof(*owners));

    if (!keys || !owners)
        return fr__fail_nomem(err);
    *n = sort_ready(p, keys);
    for (size_t i = 0; i < *n; i++)
        owners[i] = keys[i].owner;
    *out = owners;
    return FR_OK;
}

enum fr_status fr__buckets_make(struct fr__buckets *out, const struct fr__params *p,
                                uint64_t bucket_bytes, struct fr__arena *arena,
                                struct fr_error *err)
{
    uint32_t *first = fr__arena_alloc(arena, p->n_owners + 1, sizeof(*first));
    uint64_t *bytes = fr__arena_alloc(arena, p->n_owners + 1, sizeof(*bytes));
    const uint32_t *owners;
    size_t n_owners, n = 0;

    if (!first || !bytes)
        return fr__fail_nomem(err);
    FR_TRY(ready_order(p, arena, &owners, &n_owners, err));
    for (size_t i = 0; i < n_owners; i++) {
        bytes[n] += p->owners[owners[i]].bytes;
        if (bytes[n] >= bucket_bytes || i + 1 == n_owners)
            first[++n] = (uint32_t)(i + 1);
    }
    *out = (struct fr__buckets){.n = n, .first = first, .owners = owners, .bytes = bytes};
    return FR_OK;
}

static const char *owner_name(const struct fr__exchange *x, uint32_t i)
{
    return x->pl->graph->ops[x->pl->params.owners[x->sets.owners[i]].op].name;
}

static void log_bucket(const struct fr__exchange *x, uint32_t b)
{
    uint32_t first = x->sets.first[b], end = x->sets.first[b + 1];
    char bytes[32];

    fr__log(x->pl->ctx, "bucket %u: %u gradients, %s, from %s to %s", b, end - first,
            fr__format_bytes((double)x->sets.bytes[b], bytes, sizeof(bytes)), owner_name(x, first),
            owner_name(x, end - 1));
}

static enum fr_status make_room(struct fr__exchange *x, struct fr_error *err)
{
    struct fr__arena *arena = x->pl->arena;
    size_t n_ops = x->pl->graph->n_ops;

    x->collectives = fr__arena_alloc(arena, x->sets.n, sizeof(*x->collectives));
    x->members = fr__arena_alloc(arena, x->sets.n, sizeof(*x->members));
    x->set_of = fr__arena_alloc(arena, n_ops, sizeof(*x->set_of));
    if (!x->collectives || !x->members || !x->set_of)
        return fr__fail_nomem(err);
    for (size_t o = 0; o < n_ops; o++)
        x->set_of[o] = FR_NONE;
    return FR_OK;
}

/* The all-reduce of a set, and which updates wait for it. */
static void add_collective(struct fr__exchange *x, uint32_t set, uint32_t group, const char *label)
{
    struct fr__placer *pl = x->pl;

    x->collectives[set] =
        fr__add_collective(pl, &(struct fr_collective){.bytes = (double)x->sets.bytes[set],
                                                       .group = group,
                                                       .label = fr_plan_add_string(pl->plan, label),
                                                       .kind = FR_ALL_REDUCE});
    for (uint32_t i = x->sets.first[set]; i < x->sets.first[set + 1]; i++) {
        const struct fr__owner *w = &pl->params.owners[x->sets.owners[i]];

        for (uint32_t k = 0; k < w->n_updates; k++)
            x->set_of[pl->params.updates[w->first_update + k]] = set;
    }
}

static enum fr_status prepare_buckets(struct fr__exchange *x, struct fr_error *err)
{
    const struct fr_problem *in = x->pl->in;
    uint32_t group = fr_plan_add_group_of(x->pl->plan, in->devices, (uint32_t)in->n_devices);
    char label[32];

    x->n_ranks = (uint32_t)in->n_devices;
    FR_TRY(fr__buckets_make(&x->sets, &x->pl->params, x->options.bucket_bytes, x->pl->arena, err));
    FR_TRY(make_room(x, err));
    for (uint32_t b = 0; b < x->sets.n; b++) {
        snprintf(label, sizeof(label), "bucket %u", b);
        add_collective(x, b, group, label);
        log_bucket(x, b);
    }
    return FR_OK;
}

/* ---- all-reduce: stages ---- */

/* The trained owners, stage by stage. */
static enum fr_status sort_by_stage(struct fr__exchange *x, struct fr_error *err)
{
    const struct fr__params *p = &x->pl->params;
    struct fr__arena *arena = x->pl->arena;
    uint32_t n = x->options.n_stages, at = 0;
    uint32_t *first = fr__arena_alloc(arena, n + 1, sizeof(*first));
    uint32_t *owners = fr__arena_alloc(arena, p->n_owners, sizeof(*owners));
    uint64_t *bytes = fr__arena_alloc(arena, n, sizeof(*bytes));

    if (!first || !owners || !bytes)
        return fr__fail_nomem(err);
    for (uint32_t s = 0; s < n; s++) {
        for (uint32_t i = 0; i < p->n_owners; i++) {
            if (p->owners[i].ready == FR_NONE || x->options.stage_of[p->owners[i].op] != s)
                continue;
            bytes[s] += p->owners[i].bytes;
            owners[at++] = i;
        }
        first[s + 1] = at;
    }
    x->sets = (struct fr__buckets){.n = n, .first = first, .owners = owners, .bytes = bytes};
    return FR_OK;
}

static enum fr_status prepare_stages(struct fr__exchange *x, struct fr_error *err)
{
    const struct fr__exchange_options *o = &x->options;
    char label[40];

    x->n_ranks = o->n_replicas;
    FR_TRY(sort_by_stage(x, err));
    FR_TRY(make_room(x, err));
    for (uint32_t s = 0; s < o->n_stages; s++) {
        const uint32_t *devices = o->devices + (size_t)s * o->n_replicas;
        uint32_t n = o->replicas_of ? o->replicas_of[s] : o->n_replicas;

        x->collectives[s] = FR_NONE;
        if (n == 1 || x->sets.bytes[s] == 0)
            continue;
        snprintf(label, sizeof(label), "gradients of stage %u", s);
        add_collective(x, s, fr_plan_add_group_of(x->pl->plan, devices, n), label);
    }
    return FR_OK;
}

/* ---- all-reduce: a replica's part ---- */

static uint32_t device_of(const struct fr__exchange *x, uint32_t set, uint32_t rank)
{
    if (x->options.policy == FR__EXCHANGE_STAGES)
        return x->options.devices[(size_t)set * x->n_ranks + rank];
    return x->pl->in->devices[rank];
}

/* The replica's member of a set's all-reduce, after the gradients of the set. */
static uint32_t place_member(struct fr__exchange *x, struct fr__replica *r, uint32_t set,
                             uint32_t rank)
{
    struct fr__placer *pl = x->pl;
    uint32_t device = device_of(x, set, rank);
    uint32_t member = fr__add_task(pl, &(struct fr_task){.device = device,
                                                         .cost_id = FR_NONE,
                                                         .op = FR_NONE,
                                                         .collective = x->collectives[set],
                                                         .rank = rank,
                                                         .microbatch = FR_NONE,
                                                         .kind = FR_TASK_COLLECTIVE,
                                                         .phase = FR_PHASE_BACKWARD_WEIGHT,
                                                         .stream = FR_STREAM_COMM});

    for (uint32_t i = x->sets.first[set]; i < x->sets.first[set + 1]; i++)
        fr__after_gradient(r, &pl->params.owners[x->sets.owners[i]], member, false);
    if (!x->options.overlap)
        fr_plan_add_dep(pl->plan, r->done_of[device], member);
    if (x->policy->is_chained && set > 0)
        fr_plan_add_dep(pl->plan, x->members[set - 1], member);
    if (x->policy->keeps_copies)
        fr__add_buffer(pl, FR_BUFFER_COMMUNICATION, device, x->sets.bytes[set], FR_NONE, FR_NONE);
    return member;
}

/* An update waits for the member of its set, or for the last: chained members end in order. */
static void hold_back_updates(struct fr__exchange *x, const struct fr__replica *r)
{
    const struct fr__params *p = &x->pl->params;
    bool waits_for_all = x->policy->is_chained && !x->options.is_step_by_bucket;

    for (size_t i = 0; i < p->n_updates; i++) {
        uint32_t op = p->updates[i], set = x->set_of[op];

        if (set != FR_NONE && fr__update_task(r, op) != FR_NONE)
            fr_plan_add_dep(x->pl->plan, x->members[waits_for_all ? x->sets.n - 1 : set],
                            fr__update_task(r, op));
    }
}

static void place_reduced(struct fr__exchange *x, struct fr__replica *r, uint32_t rank)
{
    const uint32_t *n = x->options.replicas_of; /* [sets]; NULL: all ranks */

    for (uint32_t set = 0; set < x->sets.n; set++)
        x->members[set] = x->collectives[set] == FR_NONE || (n && rank >= n[set])
                              ? FR_NONE
                              : place_member(x, r, set, rank);
    fr__place_updates(r);
    hold_back_updates(x, r);
}

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

static enum fr_status find_servers(struct fr__exchange *s, struct fr_error *err)
{
    enum fr__server_place place = s->options.place;
    const struct fr_problem *in = s->pl->in;
    struct fr__arena *arena = s->pl->arena;

    s->n_servers = place == FR__SERVER_SHARDED ? s->n_workers : 1;
    s->servers = fr__arena_alloc(arena, s->n_servers, sizeof(*s->servers));
    s->server_of = fr__arena_alloc(arena, s->pl->params.n_owners, sizeof(*s->server_of));
    s->last_pull = fr__arena_alloc(arena, (size_t)s->n_servers * s->n_workers, sizeof(uint32_t));
    if (!s->servers || !s->server_of || !s->last_pull)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < (size_t)s->n_servers * s->n_workers; i++)
        s->last_pull[i] = FR_NONE;
    for (uint32_t k = 0; k < s->n_servers; k++)
        s->servers[k] = in->devices[k];
    if (place == FR__SERVER_CPU) {
        s->servers[0] = fr_topo_host_of(in->topo, in->devices[0]);
        if (s->servers[0] == FR_NONE)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "sync=ps-cpu needs a CPU in the machine of %s, but '%s' has none there",
                            in->topo->devices[in->devices[0]].name, in->topo->name);
    }
    return shard(s, err);
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
        fr__add_optimizer(pl, server, w->bytes, w->op);
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
                                    .bytes = (double)w->bytes,
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
    fr__add_free(pl, fr__add_buffer(pl, FR_BUFFER_COMMUNICATION, server, w->bytes, recv, w->op),
                 sum);
}

/* Reads n gradients, writes one. */
static uint32_t add_sum(struct fr__exchange *s, const struct fr__owner *w, uint32_t server)
{
    struct fr__placer *pl = s->pl;
    struct fr_cost cost;

    fr__price_sum(pl, pl->in->topo->devices[server].type, w->bytes, s->n_workers, &cost);
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
    uint32_t *last = &s->last_pull[(size_t)k * s->n_workers + rank];

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
    uint32_t buffer = fr__add_buffer(pl, FR_BUFFER_GRADIENT, server, w->bytes, sum, w->op);
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

static enum fr_status prepare_servers(struct fr__exchange *s, struct fr_error *err)
{
    s->n_workers = (uint32_t)s->pl->in->n_devices;
    FR_TRY(ready_order(&s->pl->params, s->pl->arena, &s->order, &s->n_order, err));
    FR_TRY(find_servers(s, err));
    place_server_memory(s);
    return FR_OK;
}

static enum fr_status place_rounds(struct fr__exchange *s, struct fr_error *err)
{
    if (s->options.pulls_at_start)
        pull_all_at_start(s);
    for (size_t i = 0; i < s->n_order; i++)
        FR_TRY(place_round(s, s->order[i], err));
    return FR_OK;
}

/* ---- policies ---- */

static const struct policy policies[] = {
    [FR__EXCHANGE_BUCKETS] = {.prepare = prepare_buckets,
                              .place = place_reduced,
                              .is_chained = true,
                              .keeps_copies = true},
    [FR__EXCHANGE_STAGES] = {.prepare = prepare_stages, .place = place_reduced},
    [FR__EXCHANGE_SERVERS] = {.prepare = prepare_servers, .finish = place_rounds},
};

enum fr_status fr__exchange_new(struct fr__exchange **out, struct fr__placer *pl,
                                const struct fr__exchange_options *o, struct fr_error *err)
{
    struct fr__exchange *x = fr__arena_alloc(pl->arena, 1, sizeof(*x));

    if (!x)
        return fr__fail_nomem(err);
    x->policy = &policies[o->policy];
    x->pl = pl;
    x->options = *o;
    FR_TRY(x->policy->prepare(x, err));
    *out = x;
    return FR_OK;
}

bool fr__exchange_is_local(const struct fr__exchange *x)
{
    return !x->policy->finish;
}

void fr__exchange_place(struct fr__exchange *x, struct fr__replica *r, uint32_t rank)
{
    if (x->policy->place)
        x->policy->place(x, r, rank);
}

enum fr_status fr__exchange_finish(struct fr__exchange *x, struct fr__replica replicas[],
                                   struct fr_error *err)
{
    x->workers = replicas;
    return x->policy->finish ? x->policy->finish(x, err) : FR_OK;
}
