/* tests/bench/bench_flows.c - speed of the max-min solver alone, on the jobs that were also given
 * to SimGrid (tests/bench/bench_simgrid.sh).
 *
 * usage: bench_flows [runs [simgrid.txt]]
 *   runs         CPU time is the median of so many runs, 3 by default
 *   simgrid.txt  output of bench_simgrid.sh: prints SimGrid's CPU time next to ours
 */
#include "sim/network/maxmin.h"
#include "tests/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double LINK_BPS = 12.5e9; /* 100 Gbit/s, every direction */

/* The generator of tests/oracles/gen_simgrid.py, so that the flows are the same. */
struct lcg {
    uint64_t state;
};

static double draw(struct lcg *g)
{
    uint64_t x;

    g->state = g->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    x = g->state ^ (g->state >> 33);
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    return (double)(x >> 11) / 9007199254740992.0; /* 2^53 */
}

static uint32_t draw_below(struct lcg *g, uint32_t n)
{
    return (uint32_t)(draw(g) * n);
}

/* Two-level fat tree: host h on leaf h / per_leaf; the spine is the destination mod spines. */
struct tree {
    uint32_t leaves, per_leaf, spines;
};

static uint32_t n_hosts(const struct tree *t)
{
    return t->leaves * t->per_leaf;
}

static uint32_t n_links(const struct tree *t)
{
    return 2 * n_hosts(t) + 2 * t->leaves * t->spines;
}

static uint32_t route(const struct tree *t, uint32_t src, uint32_t dst, uint32_t path[4])
{
    uint32_t h = n_hosts(t), from = src / t->per_leaf, to = dst / t->per_leaf;
    uint32_t spine = dst % t->spines, n = 0;

    path[n++] = src;
    if (from != to) {
        path[n++] = 2 * h + from * t->spines + spine;
        path[n++] = 2 * h + (t->leaves + to) * t->spines + spine;
    }
    path[n++] = h + dst;
    return n;
}

static struct fr__maxmin *new_solver(const struct tree *t)
{
    double *capacity_Bps = malloc(n_links(t) * sizeof(*capacity_Bps));
    struct fr__maxmin *m;

    if (!capacity_Bps)
        abort();
    for (uint32_t l = 0; l < n_links(t); l++)
        capacity_Bps[l] = LINK_BPS;
    m = fr__maxmin_new(n_links(t), fr__listed_capacities(capacity_Bps));
    free(capacity_Bps);
    if (!m)
        abort();
    return m;
}

struct job {
    struct tree tree;
    uint32_t n_flows;
    uint64_t seed;
    double span_s; /* starts are spread over it */
    uint32_t rounds;
    /* out */
    double end_s;
    struct fr__maxmin_stats stats;
};

struct flow {
    double start_s, bytes;
    uint32_t n_path, path[4];
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Random pairs, 1 to 64 MB, as gen_simgrid.py draws them. */
static struct flow *draw_flows(const struct job *j)
{
    struct lcg g = {j->seed * UINT64_C(0x9E3779B97F4A7C15) + 1};
    struct flow *f = calloc(j->n_flows, sizeof(*f));
    double *starts_s = calloc(j->n_flows, sizeof(*starts_s));
    uint32_t hosts = n_hosts(&j->tree);

    if (!f || !starts_s)
        abort();
    for (uint32_t i = 0; j->span_s > 0 && i < j->n_flows; i++)
        starts_s[i] = draw_below(&g, 1000000000) * 1e-9 * j->span_s;
    qsort(starts_s, j->n_flows, sizeof(*starts_s), by_value);
    for (uint32_t i = 0; i < j->n_flows; i++) {
        uint32_t src = draw_below(&g, hosts), dst = draw_below(&g, hosts - 1);

        dst += dst >= src;
        f[i].start_s = starts_s[i];
        f[i].n_path = route(&j->tree, src, dst, f[i].path);
        f[i].bytes = 1000000 + draw_below(&g, 63000000);
    }
    free(starts_s);
    return f;
}

static double run_flows(void *arg)
{
    struct job *j = arg;
    struct flow *f = draw_flows(j);
    double now = 0, next = 0, cpu_s = bench_cpu_s();
    struct fr__maxmin *m = new_solver(&j->tree);
    uint32_t i = 0, user;

    while (i < j->n_flows || next < INFINITY) {
        double start_s = i < j->n_flows ? f[i].start_s : INFINITY;

        now = start_s < next ? start_s : next;
        while (fr__maxmin_pop_finished(m, now, &user))
            continue;
        for (; i < j->n_flows && f[i].start_s <= now; i++)
            if (fr__maxmin_add(m, now, f[i].path, f[i].n_path, f[i].bytes, i) == FR_NONE)
                abort();
        next = fr__maxmin_solve(m, now);
    }
    j->end_s = now;
    j->stats = fr__maxmin_stats(m);
    fr__maxmin_free(m);
    cpu_s = bench_cpu_s() - cpu_s;
    free(f);
    return cpu_s;
}

/* The flows of a ring all-reduce of 100 MB: each rank sends to the next, round after round. */
static double run_ring(void *arg)
{
    struct job *j = arg;
    uint32_t n = n_hosts(&j->tree), user, path[4], n_path;
    double now = 0, cpu_s = bench_cpu_s(), bytes = floor(1e8 / n);
    struct fr__maxmin *m = new_solver(&j->tree);

    for (uint32_t r = 0; r < j->rounds; r++) {
        for (uint32_t i = 0; i < n; i++) {
            n_path = route(&j->tree, i, (i + 1) % n, path);
            if (fr__maxmin_add(m, now, path, n_path, bytes, i) == FR_NONE)
                abort();
        }
        now = fr__maxmin_solve(m, now);
        while (fr__maxmin_pop_finished(m, now, &user))
            continue;
    }
    j->end_s = now;
    j->stats = fr__maxmin_stats(m);
    fr__maxmin_free(m);
    return bench_cpu_s() - cpu_s;
}

/* The engine's everyday use: n flows live; one ends, one starts, each at its own time. */
static double run_steady(void *arg)
{
    struct job *j = arg;
    struct lcg g = {j->seed};
    uint32_t hosts = n_hosts(&j->tree), n_live = j->n_flows, user, path[4];
    double now = 0, cpu_s = bench_cpu_s();
    struct fr__maxmin *m = new_solver(&j->tree);

    for (uint32_t r = 0; r < j->rounds; r++) {
        while (fr__maxmin_stats(m).live < n_live) {
            uint32_t src = draw_below(&g, hosts), dst = draw_below(&g, hosts - 1), n_path;

            n_path = route(&j->tree, src, dst + (dst >= src), path);
            if (fr__maxmin_add(m, now, path, n_path, 1e5 + 1.9e6 * draw(&g), r) == FR_NONE)
                abort();
        }
        now = fr__maxmin_solve(m, now);
        while (fr__maxmin_pop_finished(m, now, &user))
            continue;
    }
    j->end_s = now;
    j->stats = fr__maxmin_stats(m);
    fr__maxmin_free(m);
    return bench_cpu_s() - cpu_s;
}

static const struct tree TREE_64 = {8, 8, 4}, TREE_256 = {16, 16, 8}, TREE_512 = {32, 16, 16};

struct bench {
    const char *name;
    const char *simgrid; /* how the line of bench_simgrid.sh begins; NULL: not given to it */
    double (*run)(void *);
    const struct tree *tree;
    uint32_t n_flows;
    uint64_t seed;
    double span_s;
    uint32_t rounds;
};

static const struct bench BENCHES[] = {
    {"flows at once, 256 hosts", "flows_f100.", run_flows, &TREE_256, 100, 100, 0, 0},
    {"flows at once, 256 hosts", "flows_f1000.", run_flows, &TREE_256, 1000, 1000, 0, 0},
    {"flows at once, 256 hosts", "flows_f10000.", run_flows, &TREE_256, 10000, 10000, 0, 0},
    {"flows arriving, 256 hosts", "flows_arriving_f10000.", run_flows, &TREE_256, 10000, 77, 0.6,
     0},
    {"ring steps, 512 hosts", "ft512.xml", run_ring, &TREE_512, 512, 0, 0, 1022},
    {"24 flows live, 64 hosts", NULL, run_steady, &TREE_64, 24, 1, 0, 100000},
    {"100 flows live, 64 hosts", NULL, run_steady, &TREE_64, 100, 1, 0, 100000},
};

/* The figure after run_cpu_s= in the line that begins with `name`; 0: there is none. */
static double simgrid_cpu_s(FILE *f, const char *name)
{
    char line[256];

    if (!f || !name)
        return 0;
    rewind(f);
    while (fgets(line, sizeof(line), f)) {
        const char *figure = strstr(line, "run_cpu_s=");

        if (figure && strncmp(line, name, strlen(name)) == 0)
            return strtod(figure + strlen("run_cpu_s="), NULL);
    }
    return 0;
}

static void run_bench(const struct bench *b, int runs, FILE *simgrid)
{
    struct job j = {*b->tree, b->n_flows, b->seed, b->span_s, b->rounds, 0, {0}};
    struct bench_row row = {.name = b->name, .unit = "flows"};

    row.cpu_s = bench_median(b->run, &j, runs);
    row.size = (double)j.stats.flows;
    row.beside_s = simgrid_cpu_s(simgrid, b->simgrid);
    row.beside = row.beside_s > 0 ? "SimGrid" : NULL;
    bench_print(&row);
    printf("  %llu solves, %llu rates worked out, at most %u live, ends at %.9f s\n",
           (unsigned long long)j.stats.solves, (unsigned long long)j.stats.visited,
           j.stats.live_max, j.end_s);
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 3;
    FILE *simgrid = argc > 2 ? fopen(argv[2], "r") : NULL;

    if (runs < 1 || runs > 15 || (argc > 2 && !simgrid)) {
        fprintf(stderr, "usage: bench_flows [runs 1..15 [simgrid.txt]]\n");
        return 2;
    }
    bench_head();
    for (size_t i = 0; i < sizeof(BENCHES) / sizeof(BENCHES[0]); i++)
        run_bench(&BENCHES[i], runs, simgrid);
    if (simgrid)
        fclose(simgrid);
    return 0;
}
