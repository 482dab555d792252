/* tests/bench_dpos.c - speed of the DPOS planner on large graphs.
 *
 * The graph: rows of 40 operations, each reading two of the row before; costs and bytes are drawn.
 */
#include "base/rng.h"
#include "strategies/dpos.h"
#include "tests/bench.h"

#include <stdlib.h>

enum { N_DEVICES = 8, ROW = 40, MAX_OPS = 100000 };

struct job {
    struct fr__dag dag;
    struct fr__dpos_machine m;
};

static void *room(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p)
        abort();
    return p;
}

static void draw_edges(struct fr__dag *g, struct fr__rng *rng)
{
    uint32_t *at = room(g->n_ops + 1, sizeof(*at));

    for (uint32_t i = 0; i < g->n_ops; i++) {
        uint32_t next = (i / ROW + 1) * ROW, k = i % ROW;

        g->out_first[i] = (uint32_t)g->n_edges;
        for (uint32_t j = 0; j < 2; j++) {
            uint32_t dst = next + (k == ROW - 1 ? k - 1 + j : k + j);

            if (dst < g->n_ops) {
                g->edges[g->n_edges++] = (struct fr__dag_edge){
                    .bytes = fr__rng_below(rng, 1 << 20), .src = i, .dst = dst};
                g->in_first[dst + 1]++;
            }
        }
    }
    g->out_first[g->n_ops] = (uint32_t)g->n_edges;
    for (size_t i = 0; i < g->n_ops; i++) {
        g->in_first[i + 1] += g->in_first[i];
        at[i] = g->in_first[i];
    }
    for (uint32_t e = 0; e < g->n_edges; e++)
        g->in_edges[at[g->edges[e].dst]++] = e;
    free(at);
}

static void make_dag(struct fr__dag *g, size_t n_ops)
{
    struct fr__rng rng;

    fr__rng_init(&rng, 1, 0);
    *g = (struct fr__dag){.n_ops = n_ops, .n_costs = n_ops, .n_types = 1};
    g->ops = room(n_ops, sizeof(*g->ops));
    g->edges = room(2 * n_ops, sizeof(*g->edges));
    g->out_first = room(n_ops + 1, sizeof(*g->out_first));
    g->in_first = room(n_ops + 1, sizeof(*g->in_first));
    g->in_edges = room(2 * n_ops, sizeof(*g->in_edges));
    g->cost_s = room(n_ops, sizeof(*g->cost_s));
    for (uint32_t i = 0; i < n_ops; i++) {
        g->ops[i] = (struct fr__dag_op){.cost = i, .group = FR_NONE, .output_bytes = 1};
        g->cost_s[i] = 1e-4 * fr__rng_uniform(&rng);
    }
    draw_edges(g, &rng);
}

static double plan(void *arg)
{
    struct job *j = arg;
    double begin_s = bench_cpu_s();
    struct fr__dpos *p = fr__dpos_new(&j->m);
    struct fr__dpos_result r;

    if (!p || fr__dpos_run(p, &j->dag, &(struct fr__dpos_options){0}, &r, NULL) != FR_OK ||
        r.outcome != FR__DPOS_DONE)
        abort();
    fr__dpos_free(p);
    return bench_cpu_s() - begin_s;
}

int main(void)
{
    static const uint32_t type[N_DEVICES];
    static uint64_t room_bytes[N_DEVICES];
    static double latency_s[N_DEVICES * N_DEVICES], s_per_byte[N_DEVICES * N_DEVICES];
    struct job j;

    for (size_t d = 0; d < N_DEVICES; d++) {
        room_bytes[d] = UINT64_MAX;
        for (size_t e = 0; e < N_DEVICES; e++)
            if (d != e) {
                latency_s[d * N_DEVICES + e] = 5e-6;
                s_per_byte[d * N_DEVICES + e] = 1 / 25e9;
            }
    }
    j.m = (struct fr__dpos_machine){N_DEVICES, type, room_bytes, latency_s, s_per_byte};
    for (size_t n = MAX_OPS / 10; n <= MAX_OPS; n *= 10) {
        make_dag(&j.dag, n);
        bench_print(&(struct bench_row){.name = "dpos, 8 devices",
                                        .size = (double)n,
                                        .unit = "ops",
                                        .cpu_s = bench_median(plan, &j, 3)});
        free(j.dag.ops);
        free(j.dag.edges);
        free(j.dag.out_first);
        free(j.dag.in_first);
        free(j.dag.in_edges);
        free(j.dag.cost_s);
    }
    return 0;
}
