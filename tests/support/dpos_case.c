/* tests/support/dpos_case.c - makes dags and machines by hand or at random, and checks plans of
 * them. */
#include "config.h"

#include "tests/support/dpos_case.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static void *zeroed(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);

    ck_assert_ptr_nonnull(p);
    return p;
}

void dpos_case_init(struct dpos_case *c, size_t n_ops, size_t n_devices, size_t max_edges)
{
    struct fr__dag *g = &c->dag;

    ck_assert_uint_le(n_devices, DPOS_CASE_DEVICES);
    *c = (struct dpos_case){0};
    g->n_ops = g->n_costs = n_ops;
    g->n_types = n_devices;
    g->n_replicas = 1;
    g->ops = zeroed(n_ops, sizeof(*g->ops));
    g->edges = zeroed(max_edges, sizeof(*g->edges));
    g->out_first = zeroed(n_ops + 1, sizeof(*g->out_first));
    g->in_first = zeroed(n_ops + 1, sizeof(*g->in_first));
    g->in_edges = zeroed(max_edges, sizeof(*g->in_edges));
    g->cost_s = zeroed(n_ops * n_devices, sizeof(*g->cost_s));
    for (uint32_t i = 0; i < n_ops; i++)
        g->ops[i] = (struct fr__dag_op){
            .op = i, .cost = i, .group = FR_NONE, .replica = FR_NONE, .n_parts = 1};
    for (uint32_t d = 0; d < n_devices; d++) {
        c->type[d] = d;
        c->room_bytes[d] = UINT64_MAX;
        for (uint32_t b = 0; b < n_devices; b++)
            c->s_per_byte[d * n_devices + b] = d != b;
    }
    c->m = (struct fr__dpos_machine){.n_devices = n_devices,
                                     .type = c->type,
                                     .room_bytes = c->room_bytes,
                                     .latency_s = c->latency_s,
                                     .s_per_byte = c->s_per_byte};
}

void dpos_case_fini(struct dpos_case *c)
{
    free(c->dag.ops);
    free(c->dag.edges);
    free(c->dag.out_first);
    free(c->dag.in_first);
    free(c->dag.in_edges);
    free(c->dag.cost_s);
}

double *dpos_case_cost(struct dpos_case *c, uint32_t op)
{
    return c->dag.cost_s + op * c->dag.n_types;
}

void dpos_case_edge(struct dpos_case *c, uint32_t src, uint32_t dst, uint64_t bytes)
{
    c->dag.edges[c->dag.n_edges] =
        (struct fr__dag_edge){.bytes = bytes, .src = src, .dst = dst, .tensor = src};
    c->dag.n_edges++;
}

static int by_ends(const void *a, const void *b)
{
    const struct fr__dag_edge *x = a, *y = b;

    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    return (x->dst > y->dst) - (x->dst < y->dst);
}

void dpos_case_index(struct dpos_case *c)
{
    struct fr__dag *g = &c->dag;
    uint32_t *at = zeroed(g->n_ops + 1, sizeof(*at));

    qsort(g->edges, g->n_edges, sizeof(*g->edges), by_ends);
    for (size_t e = 0; e < g->n_edges; e++) {
        ck_assert_uint_lt(g->edges[e].src, g->edges[e].dst);
        g->out_first[g->edges[e].src + 1]++;
        g->in_first[g->edges[e].dst + 1]++;
    }
    for (size_t i = 0; i < g->n_ops; i++) {
        g->out_first[i + 1] += g->out_first[i];
        g->in_first[i + 1] += g->in_first[i];
        at[i] = g->in_first[i];
    }
    for (size_t e = 0; e < g->n_edges; e++)
        g->in_edges[at[g->edges[e].dst]++] = (uint32_t)e;
    free(at);
}

void dpos_case_random(struct dpos_case *c, const struct dpos_random *r, uint64_t seed)
{
    size_t n_edges = (size_t)(r->edges_an_op * (double)r->n_ops);
    struct fr__rng rng;

    fr__rng_init(&rng, seed, 1);
    dpos_case_init(c, r->n_ops, r->n_devices, n_edges);
    for (uint32_t i = 0; i < r->n_ops; i++) {
        double cost_s = (double)fr__rng_below(&rng, r->max_cost + 1);

        for (size_t d = 0; d < r->n_devices; d++)
            dpos_case_cost(c, i)[d] =
                r->is_heterogeneous ? (double)fr__rng_below(&rng, r->max_cost + 1) : cost_s;
    }
    for (size_t e = 0; r->n_ops > 1 && e < n_edges; e++) {
        uint32_t dst = 1 + (uint32_t)fr__rng_below(&rng, r->n_ops - 1);
        uint32_t near = dst < 40 ? dst : 40; /* far edges would make a chain of any large dag */
        uint32_t src = dst - 1 - (uint32_t)fr__rng_below(&rng, near);

        dpos_case_edge(c, src, dst, fr__rng_below(&rng, r->max_bytes + 1));
    }
    dpos_case_index(c);
}

static void check_devices(const struct dpos_case *c, const struct fr__dpos_result *r)
{
    double free_s[DPOS_CASE_DEVICES] = {0};
    uint64_t used_bytes[DPOS_CASE_DEVICES] = {0};

    for (size_t k = 0; k < c->dag.n_ops; k++) {
        uint32_t i = r->order[k], d = r->device[i];

        ck_assert_uint_eq(r->position[i], k);
        ck_assert_uint_lt(d, c->m.n_devices);
        ck_assert(k == 0 || r->start_s[r->order[k - 1]] <= r->start_s[i]);
        ck_assert(r->start_s[i] >= free_s[d]);
        free_s[d] = r->end_s[i];
        ck_assert(r->end_s[i] <= r->makespan_s);
        used_bytes[d] += c->dag.ops[i].resident_bytes + c->dag.ops[i].output_bytes;
    }
    for (size_t d = 0; d < c->m.n_devices; d++) {
        ck_assert_uint_le(used_bytes[d], c->room_bytes[d]);
        ck_assert_uint_eq(used_bytes[d], r->used_bytes[d]);
    }
}

void dpos_case_check(const struct dpos_case *c, const struct fr__dpos_result *r)
{
    const struct fr__dag *g = &c->dag;

    ck_assert_int_eq(r->outcome, FR__DPOS_DONE);
    check_devices(c, r);
    for (uint32_t i = 0; i < g->n_ops; i++) {
        double dt_s = g->cost_s[g->ops[i].cost * g->n_types + c->type[r->device[i]]];

        ck_assert(!(fabs(r->end_s[i] - r->start_s[i] - dt_s) > 1e-9 * r->makespan_s));
        for (uint32_t j = 0; g->ops[i].group != FR_NONE && j < i; j++)
            if (g->ops[j].group == g->ops[i].group)
                ck_assert_uint_eq(r->device[i], r->device[j]);
    }
    for (size_t e = 0; e < g->n_edges; e++) {
        const struct fr__dag_edge *x = &g->edges[e];

        ck_assert(r->end_s[x->src] +
                      fr__dpos_move_s(&c->m, x, r->device[x->src], r->device[x->dst]) <=
                  r->start_s[x->dst]);
    }
}
