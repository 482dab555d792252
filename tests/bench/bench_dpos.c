/* tests/bench/bench_dpos.c - speed of DPOS and OS-DPOS on large graphs.
 *
 * DPOS, the graph: rows of 40 operations, each reading two of the row before; costs and bytes
 * are drawn. OS-DPOS, the graph: eight replicas of a chain of 1200 operations, half of them
 * products that can be split, each fed by a variable that all replicas share, their gradients
 * summed; one such chain, eight times as long, of which the first 20 operations are tried; and
 * the data-parallel dags of two models on eight V100s.
 */
#include "base/rng.h"
#include "strategies/fastt/os_dpos.h"
#include "tests/bench/bench.h"

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

enum { LAYERS = 300 };

static void part_cost(const struct fr__dag *dag, uint32_t op, enum fr__dag_dim dim, unsigned n,
                      double out_s[])
{
    (void)dim;
    out_s[0] = 5e-6 + dag->cost_s[dag->ops[op].cost] / n;
}

static void bytes_cost(const struct fr__dag *dag, double bytes, double out_s[])
{
    (void)dag;
    out_s[0] = 5e-6 + bytes / 1.5e12;
}

static void add(struct fr__dag *g, uint32_t src, uint32_t dst, uint64_t bytes,
                enum fr__dag_cargo cargo)
{
    g->edges[g->n_edges++] = (struct fr__dag_edge){
        .bytes = bytes, .src = src, .dst = dst, .tensor = cargo, .cargo = (uint8_t)cargo};
}

static int by_ends(const void *a, const void *b)
{
    const struct fr__dag_edge *x = a, *y = b;

    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    if (x->dst != y->dst)
        return x->dst < y->dst ? -1 : 1;
    return (x->tensor > y->tensor) - (x->tensor < y->tensor);
}

static void index_edges(struct fr__dag *g)
{
    uint32_t *at = room(g->n_ops + 1, sizeof(*at));

    qsort(g->edges, g->n_edges, sizeof(*g->edges), by_ends);
    for (size_t e = 0; e < g->n_edges; e++) {
        g->out_first[g->edges[e].src + 1]++;
        g->in_first[g->edges[e].dst + 1]++;
    }
    for (size_t i = 0; i < g->n_ops; i++) {
        g->out_first[i + 1] += g->out_first[i];
        g->in_first[i + 1] += g->in_first[i];
        at[i] = g->in_first[i];
    }
    for (uint32_t e = 0; e < g->n_edges; e++)
        g->in_edges[at[g->edges[e].dst]++] = e;
    free(at);
}

/* Variables, then replicas (forward: product and activation a layer; backward the same), then a sum
 * a layer. */
static void make_replicas(struct fr__dag *g, uint32_t n_replicas, uint32_t layers)
{
    uint32_t step_ops = 4 * layers;
    size_t n_ops = layers + n_replicas * step_ops + layers, max_edges = 8 * n_ops;
    uint32_t sums = (uint32_t)(layers + n_replicas * step_ops);

    *g = (struct fr__dag){.n_ops = n_ops, .n_costs = 3, .n_types = 1, .n_replicas = n_replicas};
    g->ops = room(n_ops, sizeof(*g->ops));
    g->edges = room(max_edges, sizeof(*g->edges));
    g->out_first = room(n_ops + 1, sizeof(*g->out_first));
    g->in_first = room(n_ops + 1, sizeof(*g->in_first));
    g->in_edges = room(max_edges, sizeof(*g->in_edges));
    g->cost_s = room(g->n_costs, sizeof(*g->cost_s));
    g->cost_s[1] = 400e-6; /* a product */
    g->cost_s[2] = 20e-6;
    for (uint32_t i = 0; i < n_ops; i++) {
        bool in_replica = i >= layers && i < sums;
        bool is_product = in_replica && (i - layers) % 2 == 0;

        g->ops[i] = (struct fr__dag_op){.cost = i < layers   ? 0
                                                : is_product ? 1
                                                             : 2,
                                        .group = FR_NONE,
                                        .output_bytes = 1,
                                        .split_mask = is_product ? 6 : 0};
    }
    for (uint32_t r = 0; r < n_replicas; r++)
        for (uint32_t k = 0; k < step_ops; k++) {
            uint32_t op = layers + r * step_ops + k, layer = k / 2;

            if (k + 1 < step_ops)
                add(g, op, op + 1, 4 << 20, FR__DAG_ACTIVATION);
            if (k % 2)
                continue;
            if (layer >= layers) {
                layer = 2 * layers - 1 - layer;
                add(g, op, sums + layer, 4 << 20, FR__DAG_GRADIENT);
            }
            add(g, layer, op, 4 << 20, FR__DAG_WEIGHT);
        }
    index_edges(g);
}

static void free_dag(struct fr__dag *g)
{
    free(g->ops);
    free(g->edges);
    free(g->out_first);
    free(g->in_first);
    free(g->in_edges);
    free(g->cost_s);
}

struct search {
    struct job job;
    struct fr__os_dpos_result result;
    struct fr__os_dpos_options options;
    const char *name;
};

static double plan_with_splits(void *arg)
{
    struct search *s = arg;
    double begin_s = bench_cpu_s();
    struct fr__os_dpos *o;

    if (fr__os_dpos_run(&o, &s->job.dag, &s->job.m, &s->options, NULL, &s->result, NULL) != FR_OK)
        abort();
    fr__os_dpos_free(o);
    return bench_cpu_s() - begin_s;
}

static void bench_search(struct search *s)
{
    if (!s->options.costs.part)
        s->options.costs = (struct fr__split_costs){part_cost, bytes_cost};
    bench_print(&(struct bench_row){.name = s->name,
                                    .size = (double)s->job.dag.n_ops,
                                    .unit = "ops",
                                    .cpu_s = bench_median(plan_with_splits, s, 3)});
    printf("#   %zu candidates of %zu operations: %zu evaluations whole, %zu stopped, %zu kept, "
           "%.4f s to %.4f s; %.0f %% of decisions taken over\n",
           s->result.n_tries, s->result.n_ops_tried, s->result.n_whole, s->result.n_stopped,
           s->result.n_splits, s->result.start_s, s->result.plan.makespan_s,
           100 * (double)s->result.n_kept / (double)s->result.n_decisions);
}

static void bench_splits(const struct fr__dpos_machine *m)
{
    struct search s = {.job.m = *m};

    make_replicas(&s.job.dag, N_DEVICES, LAYERS);
    s.name = "os-dpos, 8 replicas";
    bench_search(&s);
    free_dag(&s.job.dag);
    make_replicas(&s.job.dag, 1, N_DEVICES * LAYERS);
    s.name = "os-dpos, one chain";
    s.options.max_tried = 20;
    bench_search(&s);
    s.name = "os-dpos, all planned anew";
    s.options.plans_anew = true;
    bench_search(&s);
    s.options.plans_anew = false;
    s.name = "os-dpos, nothing stopped";
    s.options.evaluates_whole = true;
    bench_search(&s);
    s.name = "os-dpos, neither";
    s.options.plans_anew = true;
    bench_search(&s);
    free_dag(&s.job.dag);
}

/* The dag of n_replicas of a model on the 8 V100s of a DGX-1, with nothing that is not in the
 * library. */
static void bench_model(const char *model, const char *name, size_t n_replicas)
{
    const struct fr_workload_options opt = {.dtype = FR_N_DTYPES};
    struct search s = {.name = name};
    struct fr_problem in = {.n_devices = N_DEVICES, .global_batch = (uint32_t)(64 * n_replicas)};
    uint32_t devices[N_DEVICES], type[N_DEVICES];
    uint64_t room_bytes[N_DEVICES];
    struct fr__dag_links links;
    struct fr_cost_model *costs;
    struct fr_topo *topo;
    struct fr_graph *graph;
    struct fr_plan *plan;
    struct fr__placer pl;
    struct fr__dag *dag;
    struct fr_error err;

    if (fr_topo_load(&topo, "dgx1-v100", &err) != FR_OK ||
        fr_workload_load(&graph, model, &opt, &err) != FR_OK ||
        fr_cost_model_new(&costs, topo->types, topo->n_types, &(struct fr_cost_options){0}, &err) !=
            FR_OK)
        abort();
    for (uint32_t d = 0; d < N_DEVICES; d++) {
        devices[d] = d;
        type[d] = topo->devices[d].type;
        room_bytes[d] = UINT64_C(1) << 40;
    }
    in.topo = topo;
    in.graph = graph;
    in.costs = costs;
    in.devices = devices;
    plan = fr_plan_new(topo, graph);
    if (!plan || fr__placer_init(&pl, &in, NULL, plan, &err) != FR_OK ||
        fr__dag_make(&dag, &pl, n_replicas, &err) != FR_OK ||
        fr__dag_links_make(&links, &pl, &err) != FR_OK)
        abort();
    s.job.dag = *dag;
    s.job.m = (struct fr__dpos_machine){.n_devices = N_DEVICES,
                                        .type = type,
                                        .room_bytes = room_bytes,
                                        .latency_s = links.latency_s,
                                        .s_per_byte = links.s_per_byte};
    s.options.costs = (struct fr__split_costs){fr__dag_part_cost, fr__dag_bytes_cost};
    bench_search(&s);
    if (n_replicas == 1) {
        s.name = "  all planned anew";
        s.options.plans_anew = true;
        bench_search(&s);
    }
    fr__dag_free(dag);
    fr__placer_fini(&pl);
    fr_plan_free(plan);
    fr_cost_model_free(costs);
    fr_graph_free(graph);
    fr_topo_free(topo);
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
    j.m = (struct fr__dpos_machine){.n_devices = N_DEVICES,
                                    .type = type,
                                    .room_bytes = room_bytes,
                                    .latency_s = latency_s,
                                    .s_per_byte = s_per_byte};
    for (size_t n = MAX_OPS / 10; n <= MAX_OPS; n *= 10) {
        make_dag(&j.dag, n);
        bench_print(&(struct bench_row){.name = "dpos, 8 devices",
                                        .size = (double)n,
                                        .unit = "ops",
                                        .cpu_s = bench_median(plan, &j, 3)});
        free_dag(&j.dag);
    }
    bench_model("transformer-big", "os-dpos, transformer-big", N_DEVICES);
    bench_model("vgg19", "os-dpos, vgg19", N_DEVICES);
    bench_model("bert-large", "os-dpos, one bert-large", 1);
    bench_splits(&j.m);
    return 0;
}
