/* How fast collectives of a thousand GPUs and more are simulated message by message, and of 65 536
 * by their closed form, one machine for all. */
#include "config.h"

#include "sim/sim.h"
#include "tests/bench/bench.h"
#include "tests/support/sim_fixture.h"
#include "topo/topo.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 65536 };

struct job {
    const char *name, *topology;
    enum fr_collective_kind kind;
    const char *algorithm; /* NULL: rings */
    double bytes;
    bool is_folded;
};

static const struct job jobs[] = {
    {"ring all-reduce", "128x hgx-h100", FR_ALL_REDUCE, NULL, 8 << 20, false},
    {"ring all-reduce, rails", "128x hgx-h100 via rails:8x400Gbps,spine=2:1", FR_ALL_REDUCE, NULL,
     8 << 20, false},
    {"all-to-all", "128x hgx-h100", FR_ALL_TO_ALL, NULL, 8 << 20, false},
    {"all-to-all, rails", "128x hgx-h100 via rails:8x400Gbps,spine=2:1", FR_ALL_TO_ALL, NULL,
     8 << 20, false},
    {"hierarchical all-reduce", "2048x hgx-h100", FR_ALL_REDUCE, "hierarchical", 64 << 20, false},
    {"folded all-reduce", "8192x hgx-h100", FR_ALL_REDUCE, "nccl", 1 << 30, true},
    {"folded all-reduce, leaves", "8192x hgx-h100 via leaf-spine:400Gbps", FR_ALL_REDUCE, "nccl",
     1 << 30, true},
    {"folded all-reduce, rails", "8192x hgx-h100 via rails:8x400Gbps", FR_ALL_REDUCE, "nccl",
     1 << 30, true},
    {"folded all-reduce, rails, spine", "8192x hgx-h100 via rails:8x400Gbps,spine=2:1",
     FR_ALL_REDUCE, "nccl", 1 << 30, true},
    {"folded all-reduce, torus", "8192x hgx-h100 via torus:400Gbps,dims=32x16x16", FR_ALL_REDUCE,
     "nccl", 1 << 30, true},
    {"folded all-gather", "8192x hgx-h100", FR_ALL_GATHER, "nccl", 1 << 30, true},
    {"folded reduce-scatter", "8192x hgx-h100", FR_REDUCE_SCATTER, "nccl", 1 << 30, true},
    {"folded all-to-all", "8192x hgx-h100", FR_ALL_TO_ALL, "nccl", 1 << 30, true},
    {"folded broadcast", "8192x hgx-h100", FR_BROADCAST, "nccl", 1 << 30, true},
    {"folded reduce", "8192x hgx-h100", FR_REDUCE, "nccl", 1 << 30, true},
};

static void die(const struct fr_error *err)
{
    fprintf(stderr, "bench_collectives: %s\n", err->text);
    exit(EXIT_FAILURE);
}

static struct fr_collective_way *way_of(const struct job *job)
{
    const struct fr_collective_options o = {.algorithm = job->algorithm};
    struct fr_collective_way *way = NULL;
    struct fr_error err;

    if (job->algorithm && fr_collective_way_new(&way, &o, &err) != FR_OK)
        die(&err);
    return way;
}

/* Begins the peak of memory anew, where the system can. */
static void forget_peak(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");

    if (f && fputs("5\n", f) >= 0)
        fflush(f);
    if (f)
        fclose(f);
}

static void run(const struct job *job)
{
    static uint32_t members[MOST_RANKS];
    struct fr_collective_way *way = way_of(job);
    struct fr_run_options o;
    struct fr_topo *topo;
    struct fr_plan *p;
    struct fr_run *r;
    struct fr_error err;
    double begin_s = bench_cpu_s();

    forget_peak();
    if (fr_topo_load(&topo, job->topology, &err) != FR_OK)
        die(&err);
    p = fr_plan_new(topo, NULL);
    fixture_collective(p, job->kind, (uint32_t)topo->n_gpus, job->bytes, members);
    fixture_finish(p);
    fr_run_options_init(&o);
    o.want &= ~(unsigned)(FR_WANT_CHECK | FR_WANT_BOUND);
    o.way = way;
    o.closed_form_collectives = job->is_folded;
    if (job->is_folded)
        o.want |= FR_WANT_LINKS;
    r = fixture_run(p, &o);
    bench_print(
        &(struct bench_row){.name = job->name,
                            .size = job->is_folded ? (double)topo->n_gpus : (double)r->stats.flows,
                            .unit = job->is_folded ? "GPUs" : "flows",
                            .cpu_s = bench_cpu_s() - begin_s});
    printf("  %.9f s simulated; %llu events\n", r->makespan_s, (unsigned long long)r->stats.events);
    fflush(stdout);
    fr_run_free(r);
    fr_plan_free(p);
    fr_collective_way_free(way);
    fr_topo_free(topo);
}

int main(int argc, char **argv)
{
    bench_head();
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
        if (argc < 2 || strcmp(argv[1], jobs[i].name) == 0)
            run(&jobs[i]);
    return 0;
}
