/* tests/bench/bench_engine.c - the event queue and the engine by themselves.
 *
 * phold: the classic hold model (Fujimoto, PADS 1990). Each event schedules one more at an
 * exponential distance, so that the number of pending events stays the same.
 *
 * layered: layers of 2 G tasks on G devices. Each task depends on its device's last task and on two
 * random tasks of the layer before, by a message if these are elsewhere. Every task and message has
 * a buffer; the network is analytic. The rate is tasks (compute, send, receive) per second of a
 * plan's first run; "allocator" is that of a second run, under FR_MEMORY_DEVICE. Medians of five.
 *
 * dag, ring: what SimGrid is measured on (../shared/bench/simgrid), generated here in the same way.
 */
#include "config.h"

#include "base/rng.h"
#include "sim/heap.h"
#include "tests/bench/bench.h"
#include "tests/support/sim_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_STEPS = 4096 };

/* SimGrid's CPU seconds for a job, from the lines of bench_simgrid.sh; 0 when it was not run. */
static double simgrid_s(const char *results, const char *job)
{
    FILE *f = results && job ? fopen(results, "r") : NULL;
    char line[512];
    double s = 0;

    while (f && fgets(line, sizeof(line), f)) {
        const char *at = strstr(line, "run_cpu_s=");

        /* a name goes on with its ending: flows_f1000 is not flows_f10000 */
        if (at && strncmp(line, job, strlen(job)) == 0 && line[strlen(job)] == '.')
            s = strtod(at + strlen("run_cpu_s="), NULL);
    }
    if (f)
        fclose(f);
    return s;
}

static void print_beside(const char *name, double size, const char *unit, double cpu_s,
                         double beside_s)
{
    bench_print(&(struct bench_row){.name = name,
                                    .size = size,
                                    .unit = unit,
                                    .cpu_s = cpu_s,
                                    .beside = beside_s > 0 ? "SimGrid" : NULL,
                                    .beside_s = beside_s});
    fflush(stdout);
}

static void print(const char *name, double size, const char *unit, double cpu_s)
{
    print_beside(name, size, unit, cpu_s, 0);
}

static void print_solver(const struct fr_run *r)
{
    printf("  %.9f s simulated; %llu solves, %llu flows visited, %llu live at most\n",
           r->makespan_s, (unsigned long long)r->stats.solves,
           (unsigned long long)r->stats.flows_visited, (unsigned long long)r->stats.flows_live_max);
}

static double resident_bytes(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long total = 0, resident = 0;

    if (!f)
        return 0;
    if (fscanf(f, "%ld %ld", &total, &resident) != 2)
        resident = 0;
    fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static void phold(size_t pending, uint64_t n_events)
{
    struct fr__heap h = {NULL, 0, 0};
    struct fr__rng rng;
    double *step_s = malloc(N_STEPS * sizeof(*step_s)), t0;
    uint64_t mixed = 0;
    char name[48];

    fr__rng_init(&rng, 1, 2);
    for (size_t i = 0; i < N_STEPS; i++)
        step_s[i] = 1 - log(1 - fr__rng_uniform(&rng));
    if (!fr__heap_reserve(&h, pending))
        abort();
    for (uint32_t i = 0; i < pending; i++)
        fr__heap_push(&h, step_s[fr__rng_below(&rng, N_STEPS)], i, 0);
    t0 = bench_cpu_s();
    for (uint64_t i = 0; i < n_events; i++) {
        struct fr__event e = fr__heap_pop(&h);

        mixed = mixed * 6364136223846793005u + fr__event_id(e) + 1;
        fr__heap_push(&h, fr__event_time(e) + step_s[mixed >> 52], fr__event_id(e), 0);
    }
    snprintf(name, sizeof(name), "phold, %zu pending", pending);
    print(name, (double)n_events, "events", bench_cpu_s() - t0);
    fr__heap_fini(&h);
    free(step_s);
}

static void add_buffer(struct fr_plan *p, uint32_t device, uint32_t task, uint64_t bytes,
                       enum fr_buffer_kind kind, uint32_t *id)
{
    *id = fr_plan_add_buffer(p, &(struct fr_buffer){.bytes = bytes,
                                                    .device = device,
                                                    .alloc = task,
                                                    .alias = FR_NONE,
                                                    .op = FR_NONE,
                                                    .kind = kind});
}

static struct fr_plan *layered_plan(const struct fr_topo *topo, uint32_t n_devices,
                                    uint32_t n_compute)
{
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr__rng rng;
    uint32_t width = 2 * n_devices, costs[256];
    uint32_t *task = malloc(n_compute * sizeof(*task)),
             *device = malloc(n_compute * sizeof(*device));
    uint32_t *buffer = malloc(n_compute * sizeof(*buffer));
    uint32_t *last = malloc(n_devices * sizeof(*last));

    fr__rng_init(&rng, 7, n_devices);
    for (size_t i = 0; i < 256; i++)
        costs[i] = fixture_cost(p, 50e-6 + 450e-6 * fr__rng_uniform(&rng));
    for (uint32_t d = 0; d < n_devices; d++)
        last[d] = FR_NONE;
    for (uint32_t i = 0; i < n_compute; i++) {
        uint32_t d = device[i] = (uint32_t)fr__rng_below(&rng, n_devices);

        task[i] = fixture_compute(p, d, costs[fr__rng_below(&rng, 256)], 0);
        add_buffer(p, d, task[i], 1000000, FR_BUFFER_ACTIVATION, &buffer[i]);
        fr_plan_add_free(p, buffer[i], task[i]);
        if (last[d] != FR_NONE)
            fr_plan_add_dep(p, last[d], task[i]);
        last[d] = task[i];
        for (int k = 0; i >= width && k < 2; k++) {
            uint32_t src = i / width * width - width + (uint32_t)fr__rng_below(&rng, width), recv,
                     b;

            if (device[src] == d) {
                fr_plan_add_dep(p, task[src], task[i]);
                fr_plan_add_free(p, buffer[src], task[i]);
                continue;
            }
            recv = fixture_message(p, device[src], d, 1e6, task[src]);
            add_buffer(p, d, recv, 1000000, FR_BUFFER_COMMUNICATION, &b);
            fr_plan_add_free(p, b, task[i]);
            fr_plan_add_dep(p, recv, task[i]);
        }
    }
    free(task);
    free(device);
    free(buffer);
    free(last);
    fixture_finish(p);
    return p;
}

enum { N_LAYERED = 5 };

struct layered {
    const struct fr_topo *topo;
    uint32_t n_devices, n_compute;
    size_t n_tasks, n_runs;
    double bytes; /* resident for plan and run, of the first */
    double again_s[N_LAYERED];
};

static struct fr_run *run_layered(struct fr_plan *p, enum fr_memory_model memory, double *cpu_s)
{
    struct fr_run_options o;
    struct fr_run *r;
    double t0;

    fr_run_options_init(&o);
    o.network = FR_NETWORK_ANALYTIC;
    o.memory = memory;
    o.want &= ~(unsigned)(FR_WANT_CHECK | FR_WANT_BOUND);
    t0 = bench_cpu_s();
    r = fixture_run(p, &o);
    *cpu_s = bench_cpu_s() - t0;
    return r;
}

/* The first run of a plan just made: what it reads has left the cache meanwhile. And a second
 * one. */
static double first_run(void *arg)
{
    struct layered *k = arg;
    double rss_before = resident_bytes(), cpu_s;
    struct fr_plan *p = layered_plan(k->topo, k->n_devices, k->n_compute);
    struct fr_run *r = run_layered(p, FR_MEMORY_LIVENESS, &cpu_s);

    if (k->n_runs == 0)
        k->bytes = resident_bytes() - rss_before;
    k->n_tasks = r->n_tasks;
    fr_run_free(r);
    fr_run_free(run_layered(p, FR_MEMORY_DEVICE, &k->again_s[k->n_runs++]));
    fr_plan_free(p);
    return cpu_s;
}

static double second_run(void *arg)
{
    struct layered *k = arg;

    return k->again_s[--k->n_runs];
}

static void layered(uint32_t n_devices, uint32_t n_tasks)
{
    struct fr_topo *topo = fixture_star(n_devices, 12.5e9, 1e-6);
    /* of two inputs 1 - 1/G are elsewhere, each a send and a receive */
    uint32_t n_compute = (uint32_t)(n_tasks / (1 + 4 * (1 - 1.0 / n_devices)));
    struct layered k = {.topo = topo, .n_devices = n_devices, .n_compute = n_compute};
    double cpu_s = bench_median(first_run, &k, N_LAYERED);
    char name[48];

    snprintf(name, sizeof(name), "layered, %u devices", n_devices);
    print(name, (double)k.n_tasks, "tasks", cpu_s);
    printf("  %.0f bytes a task with dependencies, buffers and results\n",
           k.bytes / (double)k.n_tasks);
    snprintf(name, sizeof(name), "the same, allocator, %u devices", n_devices);
    print(name, (double)k.n_tasks, "tasks", bench_median(second_run, &k, N_LAYERED));
    fr_topo_free(topo);
}

/* Runs a plan as SimGrid runs its job: no checks afterwards. Median of three. */
static struct fr_run *run_timed(struct fr_plan *p, unsigned rings, double *cpu_s)
{
    struct fr_run_options o;
    struct fr_run *r = NULL;
    double t[3];

    fr_run_options_init(&o);
    o.want &= ~(unsigned)(FR_WANT_CHECK | FR_WANT_BOUND);
    o.rings = rings;
    for (int i = 0; i < 3; i++) {
        fr_run_free(r);
        t[i] = bench_cpu_s();
        r = fixture_run(p, &o);
        t[i] = bench_cpu_s() - t[i];
    }
    *cpu_s = fmax(fmin(t[0], t[1]), fmin(fmax(t[0], t[1]), t[2]));
    return r;
}

static void ring(uint32_t n, const char *results)
{
    struct fr_topo *topo = fixture_star(n, 12.5e9, 1e-6);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    uint32_t *members = malloc(n * sizeof(*members));
    struct fr_run *r;
    char name[48], job[32];
    double t0;

    fixture_collective(p, FR_ALL_REDUCE, n, 1e8, members);
    fixture_finish(p);
    r = run_timed(p, 1, &t0);
    snprintf(name, sizeof(name), "ring all-reduce, %u ranks", n);
    snprintf(job, sizeof(job), "star%u", n);
    print_beside(name, (double)r->stats.flows, "flows", t0, simgrid_s(results, job));
    fr_run_free(r);
    fr_plan_free(p);
    fr_topo_free(topo);
    free(members);
}

static bool is_there(const char *path)
{
    FILE *f = fopen(path, "r");

    if (f)
        fclose(f);
    else
        printf("# %s: no such input, left out\n", path);
    return f != NULL;
}

static void dag(const char *folder, const char *job, uint32_t hosts, const char *results)
{
    struct fr_topo *topo =
        hosts == 64 ? fixture_fat_tree(8, 8, 4, 12.5e9, 0) : fixture_star(hosts, 12.5e9, 1e-6);
    char tasks[512], edges[512], name[48];
    uint32_t *compute = NULL, n;
    struct fr_plan *p;
    struct fr_run *r;
    double t0;

    snprintf(tasks, sizeof(tasks), "%s/%s.tasks.csv", folder, job);
    snprintf(edges, sizeof(edges), "%s/%s.edges.csv", folder, job);
    if (is_there(tasks)) {
        p = fixture_dag(topo, tasks, edges, &compute, &n);
        fixture_finish(p);
        r = run_timed(p, 0, &t0);
        snprintf(name, sizeof(name), "task graph, %u hosts", hosts);
        print_beside(name, (double)n + (double)r->stats.flows, "acts", t0, simgrid_s(results, job));
        print_solver(r);
        fr_run_free(r);
        fr_plan_free(p);
    }
    fr_topo_free(topo);
    free(compute);
}

static void flows(const char *folder, const char *job, const char *name, const char *results)
{
    struct fr_topo *topo = fixture_fat_tree(16, 16, 8, 12.5e9, 0);
    struct fr_plan *p = fr_plan_new(topo, NULL);
    char path[512], line[256];
    struct fr_run *r;
    double t0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s.flows.csv", folder, job);
    if (is_there(path)) {
        f = fopen(path, "r");
        while (f && fgets(line, sizeof(line), f)) {
            uint32_t after = FR_NONE;
            unsigned id, src, dst;
            double start_s, bytes;

            if (sscanf(line, "%u,%lf,%u,%u,%lf", &id, &start_s, &src, &dst, &bytes) != 5)
                continue; /* the header */
            if (start_s > 0)
                after = fr_plan_add_task(p, &(struct fr_task){.device = src,
                                                              .cost_id = fixture_cost(p, start_s),
                                                              .op = FR_NONE,
                                                              .label = FR_NONE,
                                                              .microbatch = FR_NONE,
                                                              .kind = FR_TASK_COMPUTE,
                                                              .stream = FR_STREAM_FREE});
            fixture_message(p, src, dst, bytes, after);
        }
        if (f)
            fclose(f);
        fixture_finish(p);
        r = run_timed(p, 0, &t0);
        print_beside(name, (double)r->stats.flows, "flows", t0, simgrid_s(results, job));
        print_solver(r);
        fr_run_free(r);
    }
    fr_plan_free(p);
    fr_topo_free(topo);
}

/* bench_engine [FOLDER made by gen_simgrid.py bench [RESULTS of bench_simgrid.sh]] */
int main(int argc, char **argv)
{
    const char *results = argc > 2 ? argv[2] : NULL;

    bench_head();
    phold(1000, 20000000);
    phold(16000, 20000000);
    for (uint32_t n = 1000; n <= 1000000; n *= 10)
        layered(64, n);
    layered(8, 1000000);
    layered(1024, 1000000);
    ring(8, results);
    ring(512, results);
    if (argc > 1) {
        dag(argv[1], "dag_n10000_g8", 8, results);
        dag(argv[1], "dag_n10000_g64", 64, results);
        dag(argv[1], "dag_n100000_g64", 64, results);
        flows(argv[1], "flows_f1000", "flows at once", results);
        flows(argv[1], "flows_f10000", "flows at once", results);
        flows(argv[1], "flows_arriving_f10000", "flows arriving", results);
    }
    return 0;
}
