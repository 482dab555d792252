/* tests/support/sim_fixture.c - builds small clusters and plans for tests. */
#include "config.h"

#include "tests/support/sim_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct fr_device_type test_gpu = {.name = "test-gpu",
                                               .is_gpu = true,
                                               .mem_bytes = (uint64_t)1 << 40,
                                               .mem_Bps = 1e12,
                                               .flops_per_s = {1e12},
                                               .vector_flops_per_s = 1e12,
                                               .n_sms = 1,
                                               .source = "made up for tests"};

static const struct fr_loc nowhere = {NULL, 0, 0};

static void die(const char *what, const struct fr_error *err)
{
    fprintf(stderr, "fixture: %s: %s\n", what, err ? err->text : "");
    abort();
}

static struct fr_topo *finish(struct fr_topo_builder *b, const char *name)
{
    struct fr_topo *t = NULL;
    struct fr_error err;

    if (fr_topo_builder_finish(b, name, &t, &err) != FR_OK)
        die(name, &err);
    fr_topo_builder_free(b);
    return t;
}

static uint32_t add_hosts(struct fr_topo_builder *b, uint32_t n)
{
    uint32_t type = fr_topo_builder_type(b, &test_gpu), first = FR_NONE;

    for (uint32_t i = 0; i < n; i++) {
        char name[32];
        uint32_t v;

        snprintf(name, sizeof(name), "h%u", i);
        v = fr_topo_builder_vertex(b, FR_VERTEX_GPU, name, 0, type, nowhere);
        first = i == 0 ? v : first;
    }
    return first;
}

static uint32_t add_switch(struct fr_topo_builder *b, const char *kind, uint32_t i)
{
    char name[32];

    snprintf(name, sizeof(name), "%s%u", kind, i);
    return fr_topo_builder_vertex(b, FR_VERTEX_SWITCH, name, FR_NONE, FR_NONE, nowhere);
}

struct fr_topo *fixture_star(uint32_t n, double bw_Bps, double latency_s)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t first = add_hosts(b, n), hub = add_switch(b, "hub", 0);

    for (uint32_t i = 0; i < n; i++)
        fr_topo_builder_link(b, FR_LINK_NET, first + i, hub, bw_Bps, latency_s, true, "test",
                             nowhere);
    return finish(b, "star");
}

struct fr_topo *fixture_fat_tree(uint32_t leaves, uint32_t per_leaf, uint32_t spines, double bw_Bps,
                                 double latency_s)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t first = add_hosts(b, leaves * per_leaf), leaf = FR_NONE, spine = FR_NONE;

    for (uint32_t i = 0; i < leaves; i++) {
        uint32_t v = add_switch(b, "leaf", i);

        leaf = i == 0 ? v : leaf;
    }
    for (uint32_t i = 0; i < spines; i++) {
        uint32_t v = add_switch(b, "spine", i);

        spine = i == 0 ? v : spine;
    }
    for (uint32_t i = 0; i < leaves * per_leaf; i++)
        fr_topo_builder_link(b, FR_LINK_NET, first + i, leaf + i / per_leaf, bw_Bps, latency_s,
                             true, "test", nowhere);
    for (uint32_t i = 0; i < leaves; i++)
        for (uint32_t k = 0; k < spines; k++)
            fr_topo_builder_link(b, FR_LINK_NET, leaf + i, spine + k, bw_Bps, latency_s, true,
                                 "test", nowhere);
    return finish(b, "fat tree");
}

struct fr_topo *fixture_pair(double bw_Bps, double latency_s)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t first = add_hosts(b, 2);

    fr_topo_builder_link(b, FR_LINK_NVLINK, first, first + 1, bw_Bps, latency_s, true, "test",
                         nowhere);
    return finish(b, "pair");
}

uint32_t fixture_cost(struct fr_plan *p, double s)
{
    return fixture_launched_cost(p, s, 0);
}

uint32_t fixture_launched_cost(struct fr_plan *p, double s, double launch_s)
{
    return fr_plan_add_cost(
        p, &(struct fr_cost){
               .mean_s = s, .launch_s = launch_s, .kind = FR_OP_OTHER, .trust = FR_TRUST_PROFILED});
}

static struct fr_task blank(uint32_t device, enum fr_task_kind kind, unsigned stream)
{
    return (struct fr_task){.device = device,
                            .cost_id = FR_NONE,
                            .op = FR_NONE,
                            .label = FR_NONE,
                            .microbatch = FR_NONE,
                            .kind = (uint8_t)kind,
                            .phase = FR_PHASE_FORWARD,
                            .stream = (uint8_t)stream};
}

uint32_t fixture_compute(struct fr_plan *p, uint32_t device, uint32_t cost, int32_t priority)
{
    struct fr_task t = blank(device, FR_TASK_COMPUTE, FR_STREAM_COMPUTE);

    t.cost_id = cost;
    t.priority = priority;
    return fr_plan_add_task(p, &t);
}

uint32_t fixture_message(struct fr_plan *p, uint32_t src, uint32_t dst, double bytes,
                         uint32_t after)
{
    struct fr_task s = blank(src, FR_TASK_SEND, FR_STREAM_FREE);
    struct fr_task r = blank(dst, FR_TASK_RECV, FR_STREAM_FREE);
    uint32_t send = fr_plan_add_task(p, &s), recv = fr_plan_add_task(p, &r);

    fr_plan_add_transfer(p, send, recv, bytes, FR_NONE);
    if (after != FR_NONE) {
        fr_plan_add_dep(p, after, send);
        fr_plan_add_dep(p, after, recv);
    }
    return recv;
}

static uint32_t add_collective(struct fr_plan *p, const struct fr_collective *collective,
                               uint32_t n, uint32_t members[])
{
    uint32_t c = fr_plan_add_collective(p, collective);

    for (uint32_t i = 0; i < n; i++) {
        struct fr_task t = blank(i, FR_TASK_COLLECTIVE, FR_STREAM_COMM);

        t.collective = c;
        t.rank = i;
        members[i] = fr_plan_add_task(p, &t);
    }
    return c;
}

uint32_t fixture_collective(struct fr_plan *p, enum fr_collective_kind kind, uint32_t n,
                            double bytes, uint32_t members[])
{
    return add_collective(
        p,
        &(struct fr_collective){
            .bytes = bytes, .group = fr_plan_add_group(p, 0, 1, n), .label = FR_NONE, .kind = kind},
        n, members);
}

uint32_t fixture_priced_collective(struct fr_plan *p, enum fr_collective_kind kind, uint32_t n,
                                   double bytes, double s, double bytes_s, uint32_t members[])
{
    const struct fr_cost cost = {.mean_s = s, .bytes_s = bytes_s, .kind = FR_N_OP_KINDS};

    return add_collective(p,
                          &(struct fr_collective){.bytes = bytes,
                                                  .group = fr_plan_add_group(p, 0, 1, n),
                                                  .label = FR_NONE,
                                                  .kind = kind,
                                                  .has_cost = true,
                                                  .cost_id = fr_plan_add_cost(p, &cost)},
                          n, members);
}

void fixture_finish(struct fr_plan *p)
{
    struct fr_error err;

    if (fr_plan_finish(p, &err) != FR_OK)
        die("finish", &err);
}

struct fr_run *fixture_run(struct fr_plan *p, const struct fr_run_options *o)
{
    struct fr_run *r = NULL;
    struct fr_error err;

    if (fr_simulate(p, o, &r, &err) != FR_OK)
        die("simulate", &err);
    return r;
}

static bool is_same(const void *a, const void *b, size_t n, size_t size)
{
    return (!a && !b) || (a && b && (n == 0 || memcmp(a, b, n * size) == 0));
}

static bool is_same_stats(const struct fr_run_stats *a, const struct fr_run_stats *b)
{
    return a->events == b->events && a->solves == b->solves && a->flows == b->flows &&
           a->flows_visited == b->flows_visited && a->flows_live_max == b->flows_live_max &&
           a->steps == b->steps && a->fitted_messages == b->fitted_messages;
}

const char *fixture_difference(const struct fr_plan *p, const struct fr_run *a,
                               const struct fr_run *b)
{
    const struct fr_plan_view *v = fr_plan_view(p);
    const double x[] = {a->makespan_s,       a->iteration_s, a->lower_bound_s,
                        a->makespan_bound_s, a->serial_s,    a->busiest_s};
    const double y[] = {b->makespan_s,       b->iteration_s, b->lower_bound_s,
                        b->makespan_bound_s, b->serial_s,    b->busiest_s};

    if (!is_same(x, y, sizeof(x) / sizeof(x[0]), sizeof(x[0])) || a->want != b->want ||
        a->is_stopped != b->is_stopped || a->n_iterations != b->n_iterations ||
        a->is_settled != b->is_settled)
        return "times";
    if (!is_same(a->start_s, b->start_s, v->n_tasks, sizeof(double)) ||
        !is_same(a->end_s, b->end_s, v->n_tasks, sizeof(double)) ||
        !is_same(a->cause, b->cause, v->n_tasks, sizeof(uint32_t)))
        return "tasks";
    if (!is_same(a->devices, b->devices, v->topo->n_devices, sizeof(*a->devices)))
        return "devices";
    if (!is_same(a->link_bytes, b->link_bytes, v->topo->n_links, sizeof(double)))
        return "links";
    if (a->n_critical != b->n_critical ||
        !is_same(a->critical, b->critical, a->n_critical, sizeof(uint32_t)))
        return "critical path";
    if (a->n_rough != b->n_rough ||
        !is_same(a->parts_s, b->parts_s, fr_n_resources(v->topo), sizeof(double)))
        return "parts";
    if (!is_same(a->held_from, b->held_from, v->n_buffers, sizeof(uint32_t)) ||
        !is_same(a->held_until, b->held_until, v->n_buffers, sizeof(uint32_t)))
        return "holders";
    return is_same_stats(&a->stats, &b->stats) ? NULL : "stats";
}

/* Rows of three numbers after a header. */
static double *read_rows(const char *path, uint32_t *n)
{
    FILE *f = fopen(path, "r");
    double *rows = NULL, a, b, c;
    size_t cap = 0;
    char line[256];

    *n = 0;
    if (!f)
        return NULL;
    if (!fgets(line, sizeof(line), f))
        die(path, NULL);
    while (fgets(line, sizeof(line), f)) {
        if (sscanf(line, "%lf,%lf,%lf", &a, &b, &c) != 3)
            die(path, NULL);
        if (*n == cap) {
            cap = cap ? cap * 2 : 1024;
            rows = realloc(rows, cap * 3 * sizeof(*rows));
            if (!rows)
                die("memory", NULL);
        }
        rows[*n * 3] = a;
        rows[*n * 3 + 1] = b;
        rows[*n * 3 + 2] = c;
        ++*n;
    }
    fclose(f);
    return rows;
}

struct fr_plan *fixture_dag(const struct fr_topo *topo, const char *tasks_path,
                            const char *edges_path, uint32_t **compute, uint32_t *n)
{
    uint32_t n_edges, *id;
    double *tasks = read_rows(tasks_path, n), *edges;
    struct fr_plan *p;

    if (!tasks)
        return NULL;
    edges = read_rows(edges_path, &n_edges);
    p = fr_plan_new(topo, NULL);
    id = malloc((*n + 1) * sizeof(*id));
    if (!p || !id || !edges)
        die(edges_path, NULL);
    for (uint32_t t = 0; t < *n; t++)
        id[t] = fixture_compute(p, (uint32_t)tasks[t * 3 + 2],
                                fixture_cost(p, tasks[t * 3 + 1] / 1e9), 0);
    for (uint32_t e = 0; e < n_edges; e++) {
        uint32_t src = (uint32_t)edges[e * 3], dst = (uint32_t)edges[e * 3 + 1], recv;

        if (edges[e * 3 + 2] > 0) {
            recv = fixture_message(p, (uint32_t)tasks[src * 3 + 2], (uint32_t)tasks[dst * 3 + 2],
                                   edges[e * 3 + 2], id[src]);
            fr_plan_add_dep(p, recv, id[dst]);
        } else {
            fr_plan_add_dep(p, id[src], id[dst]);
        }
    }
    free(tasks);
    free(edges);
    *compute = id;
    return p;
}
