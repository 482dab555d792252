/* lowering/pipeline/stages_price.c - times, transfers and memory of a graph's items. */
#include "config.h"

#include "lowering/pipeline/stages_price.h"

#include "base/error.h"
#include "lowering/pipeline/sums.h"
#include "lowering/pipeline/ties.h"
#include "sim/network/alone.h"
#include "sim/sim.h"
#include "workloads/graph/elements.h"

#include <string.h>

/* What passes run beside messages is not known when stages are cut: a cut must gain more than this.
 * A choice of ours. */
static const double MESSAGES_OFF_FRAC = 0.005;

enum { N_HOST_ROWS = 3 }; /* forward, backward, weight */

/* [n + 1] what crosses where a stage begins at an item: bytes, and messages, one a storage. */
struct crossing {
    double *bytes, *messages;
};

struct pricing {
    struct fr__placer *pl;
    const struct fr__stages_problem *in;
    const struct fr__items *items;
    struct fr__chain *chain;
    const double **forward_s, **backward_s, **weight_s, **tail_s; /* [n_stages] */
    const double **host_s[N_HOST_ROWS];                           /* [n_stages] */
    double **send_s, **back_s;                                    /* [n_stages] */
    struct crossing forward, backward;
};

/* ---- passes and updates ---- */

enum kind {
    KIND_FORWARD,
    KIND_BACKWARD,
    KIND_WEIGHT,
    KIND_TAIL,
    KIND_FORWARD_HOST,
    KIND_BACKWARD_HOST,
    KIND_WEIGHT_HOST,
    N_KINDS
};

/* What the host takes to launch an op, as the run will count it (sim/host.c), but for ops inside
 * calls of recurrent layers. */
static double launch_s(const struct pricing *x, const struct fr_cost *cost, enum fr_host_work work)
{
    const struct fr_host *h = x->pl->in->run ? x->pl->in->run->host : NULL;

    if (!h || !(cost->launch_s > 0))
        return cost->launch_s;
    return (h->op_s[work] > 0 ? h->op_s[work] : cost->launch_s) * h->slowness;
}

static void add_op(const struct pricing *x, uint32_t type, uint32_t o, double *sum_s[N_KINDS])
{
    const struct fr_part part = {.batch = x->in->batch};
    size_t at = (size_t)x->items->item_of[o] + 1;
    struct fr_cost cost;
    double host_s;

    fr__price_op(x->pl, type, o, &part, &cost);
    if (x->in->message_s)
        cost.mean_s += x->in->message_s[o] * x->in->batch / x->pl->graph->batch;
    switch (x->pl->params.roles[o]) {
    case FR__ROLE_FORWARD:
        sum_s[KIND_FORWARD][at] += cost.mean_s;
        sum_s[KIND_FORWARD_HOST][at] += launch_s(x, &cost, FR_HOST_FORWARD);
        break;
    case FR__ROLE_BACKWARD:
        host_s = launch_s(x, &cost, FR_HOST_BACKWARD);
        sum_s[KIND_BACKWARD][at] += cost.mean_s;
        sum_s[KIND_BACKWARD_HOST][at] += host_s;
        if (x->pl->graph->ops[o].phase == FR_PHASE_BACKWARD_WEIGHT) {
            sum_s[KIND_WEIGHT][at] += cost.mean_s;
            sum_s[KIND_WEIGHT_HOST][at] += host_s;
        }
        break;
    case FR__ROLE_SUM:
    case FR__ROLE_UPDATE:
        sum_s[KIND_TAIL][at] += cost.mean_s;
        break;
    }
}

static enum fr_status price_type(struct pricing *x, uint32_t type, size_t s, struct fr_error *err)
{
    size_t n = x->items->n;
    double *sum_s[N_KINDS];

    for (int k = 0; k < N_KINDS; k++) {
        sum_s[k] = fr__arena_alloc(x->pl->arena, n + 1, sizeof(double));
        if (!sum_s[k])
            return fr__fail_nomem(err);
    }
    for (uint32_t o = 0; o < x->pl->graph->n_ops; o++)
        add_op(x, type, o, sum_s);
    for (int k = 0; k < N_KINDS; k++)
        for (size_t i = 0; i < n; i++)
            sum_s[k][i + 1] += sum_s[k][i];
    x->forward_s[s] = sum_s[KIND_FORWARD];
    x->backward_s[s] = sum_s[KIND_BACKWARD];
    x->weight_s[s] = sum_s[KIND_WEIGHT];
    x->tail_s[s] = sum_s[KIND_TAIL];
    for (int k = 0; k < N_HOST_ROWS; k++)
        x->host_s[k][s] = sum_s[KIND_FORWARD_HOST + k];
    return FR_OK;
}

/* Stages on the same type of device share their rows. */
static enum fr_status price_passes(struct pricing *x, struct fr_error *err)
{
    const struct fr_topo *topo = x->pl->in->topo;
    const uint32_t *devices = x->in->devices;

    for (size_t s = 0; s < x->in->n_stages; s++) {
        size_t same = 0;

        while (topo->devices[devices[same]].type != topo->devices[devices[s]].type)
            same++;
        if (same == s) {
            FR_TRY(price_type(x, topo->devices[devices[s]].type, s, err));
            continue;
        }
        x->forward_s[s] = x->forward_s[same];
        x->backward_s[s] = x->backward_s[same];
        x->weight_s[s] = x->weight_s[same];
        x->tail_s[s] = x->tail_s[same];
        for (int k = 0; k < N_HOST_ROWS; k++)
            x->host_s[k][s] = x->host_s[k][same];
    }
    return FR_OK;
}

/* ---- what crosses ---- */

/* The reader of each storage that is farthest from its maker: the last item of the forward ops, the
 * first of the backward ops. far: [n_tensors]. */
static void find_far(const struct pricing *x, enum fr__role role, uint32_t far[])
{
    const struct fr_graph *g = x->pl->graph;
    const enum fr__role *roles = x->pl->params.roles;

    memset(far, 0xff, g->n_tensors * sizeof(*far)); /* FR_NONE each */
    for (size_t i = 0; i < g->n_edges; i++) {
        const struct fr_edge *e = &g->edges[i];
        uint32_t t, reader = x->items->item_of[e->dst];

        if (e->tensor == FR_NONE || roles[e->src] != role || roles[e->dst] != role)
            continue;
        t = fr__tensor_storage(g, e->tensor);
        if (far[t] == FR_NONE || (role == FR__ROLE_FORWARD ? reader > far[t] : reader < far[t]))
            far[t] = reader;
    }
}

static void sum_crossing(const struct pricing *x, enum fr__role role, uint32_t far[],
                         const struct crossing *at)
{
    const struct fr_graph *g = x->pl->graph;

    find_far(x, role, far);
    for (uint32_t t = 0; t < g->n_tensors; t++) {
        uint32_t maker, low, high;
        double size;

        if (far[t] == FR_NONE)
            continue;
        maker = x->items->item_of[g->tensors[t].op];
        low = maker < far[t] ? maker : far[t];
        high = maker < far[t] ? far[t] : maker;
        if (low == high || (role == FR__ROLE_FORWARD) != (maker == low))
            continue;
        size = (double)fr__bytes_at(x->pl, g->tensors[t].bytes, g->tensors[t].scales, x->in->batch);
        at->bytes[low + 1] += size;
        at->bytes[high + 1] -= size;
        at->messages[low + 1] += size > 0;
        at->messages[high + 1] -= size > 0;
    }
    for (size_t i = 0; i < x->items->n; i++) {
        at->bytes[i + 1] += at->bytes[i];
        at->messages[i + 1] += at->messages[i];
    }
}

/* Messages from one GPU to another follow each other on its copy stream, each with its latency. */
static double messages_s(struct fr__alone_line line, const struct crossing *at, size_t item)
{
    double bytes = at->bytes[item];

    return bytes > 0 ? at->messages[item] * line.latency_s + bytes / line.Bps : 0;
}

static enum fr_status price_links(struct pricing *x, struct fr__routes *r, struct fr_error *err)
{
    size_t n = x->items->n;

    for (size_t s = 0; s < x->in->n_stages; s++) {
        uint32_t from = x->in->devices[s > 0 ? s - 1 : 0], to = x->in->devices[s];
        struct fr__alone_line there = fr__message_line(x->pl, r, from, to),
                              back = fr__message_line(x->pl, r, to, from);

        x->send_s[s] = fr__arena_alloc(x->pl->arena, n + 1, sizeof(double));
        x->back_s[s] = fr__arena_alloc(x->pl->arena, n + 1, sizeof(double));
        if (!x->send_s[s] || !x->back_s[s])
            return fr__fail_nomem(err);
        for (size_t i = 1; s > 0 && i < n; i++) {
            x->send_s[s][i] = messages_s(there, &x->forward, i);
            x->back_s[s][i] = messages_s(back, &x->backward, i);
        }
    }
    return FR_OK;
}

static bool make_crossing(struct crossing *at, struct fr__arena *arena, size_t n)
{
    at->bytes = fr__arena_alloc(arena, n + 1, sizeof(double));
    at->messages = fr__arena_alloc(arena, n + 1, sizeof(double));
    return at->bytes && at->messages;
}

/* What crosses cuts, and what stages exchange once an iteration. */
static enum fr_status price_transfers(struct pricing *x, struct fr__choice_problem *out,
                                      struct fr_error *err)
{
    struct fr__arena *arena = x->pl->arena;
    uint32_t *far = fr__arena_alloc(arena, x->pl->graph->n_tensors, sizeof(*far));
    struct fr__routes routes;
    enum fr_status st;

    if (!far || !make_crossing(&x->forward, arena, x->items->n) ||
        !make_crossing(&x->backward, arena, x->items->n))
        return fr__fail_nomem(err);
    sum_crossing(x, FR__ROLE_FORWARD, far, &x->forward);
    sum_crossing(x, FR__ROLE_BACKWARD, far, &x->backward);
    st = fr__routes_init(&routes, x->pl->in->topo, err);
    if (st == FR_OK)
        st = price_links(x, &routes, err);
    if (st == FR_OK)
        st = fr__stages_ties(out, x->pl, x->in, x->items, &routes, err);
    fr__routes_fini(&routes);
    return st;
}

/* ---- sums ---- */

static enum fr_status sum_gradients(struct pricing *x, struct fr__choice_problem *out,
                                    struct fr_error *err)
{
    const struct fr__params *p = &x->pl->params;
    double *sent = fr__arena_alloc(x->pl->arena, x->items->n + 1, sizeof(*sent));
    double *n_sent = fr__arena_alloc(x->pl->arena, x->items->n + 1, sizeof(*n_sent));

    if (!sent || !n_sent)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < p->n_owners; i++) {
        size_t at = (size_t)x->items->item_of[p->owners[i].op] + 1;

        if (p->owners[i].ready == FR_NONE)
            continue;
        sent[at] += (double)p->owners[i].bytes * x->pl->gradient_factor;
        n_sent[at]++;
    }
    for (size_t i = 0; i < x->items->n; i++) {
        sent[i + 1] += sent[i];
        n_sent[i + 1] += n_sent[i];
    }
    out->n_sent = n_sent;
    out->sums = x->in->sums;
    out->sent_bytes = sent;
    return FR_OK;
}

/* ---- memory ---- */

/* Versions of weights that a schedule keeps besides the newest: as many as micro-batches live, but
 * the newest; all stages' as many as the first's; or one. */
static enum fr_status count_versions(struct pricing *x, struct fr_error *err)
{
    const struct fr__params *p = &x->pl->params;
    enum fr_weights_rule rule = x->in->schedule->weights;
    size_t n = x->items->n;
    double *fixed = fr__arena_alloc(x->pl->arena, n + 1, sizeof(*fixed));
    double *live = fr__arena_alloc(x->pl->arena, n + 1, sizeof(*live));
    double *params = fr__arena_alloc(x->pl->arena, n + 1, sizeof(*params));
    double *burst = fr__arena_alloc(x->pl->arena, n + 1, sizeof(*burst));
    double n_fixed = rule == FR_WEIGHTS_STASH      ? -1
                     : rule == FR_WEIGHTS_DOUBLE   ? 1
                     : rule == FR_WEIGHTS_VERTICAL ? (double)x->in->schedule->n_ranks - 1
                                                   : 0;

    if (!fixed || !live || !params || !burst)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < p->n_owners; i++)
        if (p->owners[i].ready != FR_NONE)
            params[x->items->item_of[p->owners[i].op] + 1] += (double)p->owners[i].bytes;
    for (size_t i = 0; i <= n; i++) {
        params[i] += i > 0 ? params[i - 1] : 0;
        fixed[i] = x->chain->fixed_bytes[i] + n_fixed * params[i];
        live[i] = x->chain->live_bytes[i] + (rule == FR_WEIGHTS_STASH ? params[i] : 0);
    }
    for (size_t i = 0; rule == FR_WEIGHTS_STASH && i < n; i++) /* counted from live bytes on */
        burst[i] = x->chain->burst_bytes[i] + params[i + 1];
    if (rule == FR_WEIGHTS_STASH)
        x->chain->burst_bytes = burst;
    x->chain->fixed_bytes = fixed;
    x->chain->live_bytes = live;
    return FR_OK;
}

/* Two copies of the model share a rank's memory. */
static enum fr_status find_capacities(struct pricing *x, struct fr_error *err)
{
    const struct fr__stages_problem *in = x->in;
    double *capacity = fr__arena_alloc(x->pl->arena, in->schedule->n_ranks, sizeof(*capacity));
    double *more = fr__arena_alloc(x->pl->arena, in->schedule->n_ranks, sizeof(*more));
    double n_copies =
        in->stages_a_device > 1 && in->n_stages == in->schedule->n_ranks ? in->stages_a_device : 1;

    if (!capacity || !more)
        return fr__fail_nomem(err);
    for (size_t s = 0; s < in->n_stages; s++) {
        const struct fr_device_type *type = fr__type_of(x->pl, in->devices[s]);

        more[in->rank_of[s]] = fr__stages_more_bytes(x->pl, in->devices[s]) / n_copies;
        capacity[in->rank_of[s]] =
            ((double)type->mem_bytes - (double)type->context_bytes) / n_copies;
    }
    x->chain->capacity_bytes = capacity;
    x->chain->more_bytes = more;
    return FR_OK;
}

/* ---- all of it ---- */

static enum fr_status make_room(struct pricing *x, struct fr_error *err)
{
    struct fr__arena *arena = x->pl->arena;
    size_t k = x->in->n_stages;

    x->chain = fr__arena_alloc(arena, 1, sizeof(*x->chain));
    x->forward_s = fr__arena_alloc(arena, k, sizeof(*x->forward_s));
    x->backward_s = fr__arena_alloc(arena, k, sizeof(*x->backward_s));
    x->weight_s = fr__arena_alloc(arena, k, sizeof(*x->weight_s));
    x->tail_s = fr__arena_alloc(arena, k, sizeof(*x->tail_s));
    for (int i = 0; i < N_HOST_ROWS; i++)
        if (!(x->host_s[i] = fr__arena_alloc(arena, k, sizeof(*x->host_s[i]))))
            return fr__fail_nomem(err);
    x->send_s = fr__arena_alloc(arena, k, sizeof(*x->send_s));
    x->back_s = fr__arena_alloc(arena, k, sizeof(*x->back_s));
    if (!x->chain || !x->forward_s || !x->backward_s || !x->weight_s || !x->tail_s || !x->send_s ||
        !x->back_s)
        return fr__fail_nomem(err);
    return FR_OK;
}

enum fr_status fr__stages_price(struct fr__choice_problem *out, struct fr__placer *pl,
                                const struct fr__stages_problem *in, const struct fr__items *items,
                                const struct fr__stages_memory *memory, struct fr_error *err)
{
    struct pricing x = {.pl = pl, .in = in, .items = items};

    FR_TRY(make_room(&x, err));
    *x.chain = (struct fr__chain){.n = items->n,
                                  .n_stages = in->n_stages,
                                  .n_ranks = in->schedule->n_ranks,
                                  .rank_of = in->rank_of,
                                  .forward_s = x.forward_s,
                                  .backward_s = x.backward_s,
                                  .send_s = (const double *const *)x.send_s,
                                  .back_s = (const double *const *)x.back_s,
                                  .fixed_bytes = memory->fixed_bytes,
                                  .live_bytes = memory->live_bytes,
                                  .enter_bytes = memory->enter_bytes,
                                  .leave_bytes = memory->leave_bytes,
                                  .burst_bytes = memory->burst_bytes,
                                  .half_bytes = memory->half_bytes,
                                  .moments = in->moments,
                                  .in_flight = in->in_flight};
    FR_TRY(price_passes(&x, err));
    FR_TRY(find_capacities(&x, err));
    if (in->schedule->weights != FR_WEIGHTS_FLUSH)
        FR_TRY(count_versions(&x, err));
    *out = (struct fr__choice_problem){.least_gain_frac = in->message_s ? MESSAGES_OFF_FRAC : 0,
                                       .chain = x.chain,
                                       .schedule = in->schedule,
                                       .n_together = in->schedule->n_micros,
                                       .weight_s = x.weight_s,
                                       .tail_s = x.tail_s,
                                       .forward_host_s = x.host_s[0],
                                       .backward_host_s = x.host_s[1],
                                       .weight_host_s = x.host_s[2]};
    FR_TRY(price_transfers(&x, out, err));
    return in->sums.latency_s ? sum_gradients(&x, out, err) : FR_OK;
}
