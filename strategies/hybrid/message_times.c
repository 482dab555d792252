/* strategies/hybrid/message_times.c - the messages of a sharded graph, each alone. */
#include "config.h"

#include "strategies/hybrid/message_times.h"

#include "base/error.h"
#include "lowering/replica/group_ops.h"

static const struct fr__rank_groups *groups_of(const struct fr__hybrid_ranks *r, uint32_t axis)
{
    switch (axis) {
    case FR__HYBRID_TP:
        return &r->tensor;
    case FR__HYBRID_CP:
        return &r->context;
    case FR__AXIS_REPLICAS:
        return &r->data;
    case FR__AXIS_EXPERT_REPLICAS:
        return &r->expert_data;
    case FR__AXIS_EXPERTS:
        return &r->experts;
    default:
        return &r->expert_tensor;
    }
}

/* The worst pair of neighbours in a group of the plan. scratch: room for its devices. */
static struct fr__alone_line neighbours(const struct fr__placer *pl, struct fr__routes *routes,
                                        uint32_t group, uint32_t scratch[])
{
    uint32_t n = fr_plan_group_size(pl->plan, group);

    for (uint32_t i = 0; i < n; i++)
        scratch[i] = fr_plan_group_device(pl->plan, group, i);
    return fr__ring_line(pl, routes, scratch, n);
}

static double message_s(const struct fr__placer *pl, struct fr__routes *routes,
                        const struct fr__comm *m, uint32_t group, uint32_t scratch[])
{
    struct fr_collective c = {.bytes = m->bytes,
                              .group = group,
                              .label = FR_NONE,
                              .kind = fr__collective_of(pl->graph->ops[m->op].kind)};
    double k = group == FR_NONE ? 0 : fr_plan_group_size(pl->plan, group); /* out of memory: kept */
    struct fr__alone_line line;
    struct fr_cost cost;

    if (k < 2)
        return 0;
    line = neighbours(pl, routes, group, scratch);
    if (m->is_step)
        return line.latency_s + m->bytes / line.Bps;
    if (fr__price_collective(pl, &c, &cost))
        return cost.mean_s;
    return (c.kind == FR_ALL_REDUCE ? 2 : 1) * (k - 1) *
           (line.latency_s + m->bytes / (k * line.Bps));
}

static void fill(double s[], const struct fr__placer *pl, const struct fr__hybrid_graph *g,
                 const struct fr__hybrid_ranks *r, struct fr__routes *routes, uint32_t scratch[])
{
    for (size_t i = 0; i < g->sharded.n_comms; i++) {
        const struct fr__comm *m = &g->sharded.comms[i];
        const struct fr__rank_groups *over = groups_of(r, m->axis);

        if (over->n_groups > 0)
            s[m->op] = message_s(pl, routes, m, over->plan_group[0], scratch);
    }
}

enum fr_status fr__hybrid_message_times(const double **out, struct fr__placer *pl,
                                        const struct fr__hybrid_graph *g,
                                        const struct fr__hybrid_ranks *r, struct fr_error *err)
{
    double *s;
    uint32_t *scratch;
    struct fr__routes routes;
    enum fr_status st;

    *out = NULL;
    if (!g->is_sharded)
        return FR_OK;
    s = fr__arena_alloc(pl->arena, pl->graph->n_ops, sizeof(*s));
    scratch = fr__arena_alloc(pl->arena, pl->in->topo->n_devices, sizeof(*scratch));
    if (!s || !scratch)
        return fr__fail_nomem(err);
    st = fr__routes_init(&routes, pl->in->topo, err);
    if (st == FR_OK)
        fill(s, pl, g, r, &routes, scratch);
    fr__routes_fini(&routes);
    *out = s;
    return st;
}

enum fr_status fr__hybrid_sum_times(struct fr__stage_sums *out, struct fr__placer *pl,
                                    const struct fr__hybrid_ranks *r, double bucket_bytes,
                                    struct fr_error *err)
{
    struct fr__sums_problem in = {
        .n_ranks = r->o->pp, .n_replicas = r->data.n_ranks, .bucket_bytes = bucket_bytes};
    uint32_t *devices, *groups;

    if (in.n_replicas < 2 || r->data.n_groups == 0)
        return FR_OK;
    devices = fr__arena_alloc(pl->arena, (size_t)in.n_ranks * in.n_replicas, sizeof(*devices));
    groups = fr__arena_alloc(pl->arena, in.n_ranks, sizeof(*groups));
    if (!devices || !groups)
        return fr__fail_nomem(err);
    for (uint32_t s = 0; s < in.n_ranks; s++) {
        groups[s] = r->data.plan_group[(size_t)s * r->data.n_groups];
        for (uint32_t i = 0; i < in.n_replicas && groups[s] != FR_NONE; i++)
            devices[(size_t)s * in.n_replicas + i] = fr_plan_group_device(pl->plan, groups[s], i);
    }
    in.devices = devices;
    in.groups = groups;
    return fr__pipeline_sums(out, pl, &in, err);
}

/* As late_bytes of lowering/exchange/late.c; the two ends have as many. */
static double bytes_of_end(const struct fr__placer *pl, const struct fr__hybrid_options *o,
                           const struct fr__hybrid_graph *g, const struct fr__hybrid_ranks *r,
                           bool is_end[])
{
    double bytes = 0, n_shards = g->is_scattered && o->zero ? r->data.n_ranks : 1;

    for (size_t i = 0; i < pl->params.n_owners; i++) {
        const struct fr__owner *w = &pl->params.owners[i];

        is_end[w->op] = w->ready != FR_NONE && fr__hybrid_is_end(g, o, w->op);
        if (is_end[w->op])
            bytes += (double)w->bytes / n_shards;
    }
    return bytes * pl->gradient_factor / 2;
}

static double ends_s(const struct fr__placer *pl, struct fr__routes *routes, uint32_t group,
                     double bytes)
{
    uint32_t first = fr_plan_group_device(pl->plan, group, 0),
             last = fr_plan_group_device(pl->plan, group, 1);
    struct fr_collective c = {
        .bytes = bytes, .group = group, .label = FR_NONE, .kind = FR_ALL_REDUCE};
    struct fr__alone_line there, back;
    struct fr_cost cost;

    if (fr__price_collective(pl, &c, &cost))
        return cost.mean_s;
    there = fr__message_line(pl, routes, first, last);
    back = fr__message_line(pl, routes, last, first);
    return there.latency_s + back.latency_s + bytes / (there.Bps < back.Bps ? there.Bps : back.Bps);
}

enum fr_status fr__hybrid_ends_time(struct fr__ends_sum *out, struct fr__placer *pl,
                                    const struct fr__hybrid_options *o,
                                    const struct fr__hybrid_graph *g,
                                    const struct fr__hybrid_ranks *r, struct fr_error *err)
{
    struct fr__routes routes;
    enum fr_status st;
    bool *is_end;
    double bytes;

    if (r->ends.n_groups == 0 || r->ends.plan_group[0] == FR_NONE)
        return FR_OK;
    is_end = fr__arena_alloc(pl->arena, pl->graph->n_ops, sizeof(*is_end));
    if (!is_end)
        return fr__fail_nomem(err);
    bytes = bytes_of_end(pl, o, g, r, is_end);
    st = fr__routes_init(&routes, pl->in->topo, err);
    if (st == FR_OK)
        *out = (struct fr__ends_sum){is_end, ends_s(pl, &routes, r->ends.plan_group[0], bytes)};
    fr__routes_fini(&routes);
    return st;
}
