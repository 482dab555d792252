/* How fast what a question names is loaded: a cluster of a thousand GPUs, and the largest models of
 * the zoo with the ops of their training. */
#include "config.h"

#include "tests/bench/bench.h"
#include "topo/topo.h"
#include "workloads/workloads.h"

#include <stdlib.h>

enum { ROUNDS = 10 };

static const char *const models[] = {"resnet200", "wresnet-152-10", "inception-v3", "densenet201",
                                     "gnmt-16",   "gpt2-xl",        "llama3-405b"};

struct load {
    const char *name;
    size_t size; /* of what was loaded last: GPUs, ops */
};

/* CPU seconds of ROUNDS loads. */
static double load_topology_s(void *arg)
{
    struct load *l = arg;
    double begin_s = bench_cpu_s();

    for (unsigned r = 0; r < ROUNDS; r++) {
        struct fr_topo *t;
        struct fr_error err;

        if (fr_topo_load(&t, l->name, &err) != FR_OK)
            exit(EXIT_FAILURE);
        l->size = t->n_gpus;
        fr_topo_free(t);
    }
    return bench_cpu_s() - begin_s;
}

static double make_model_s(void *arg)
{
    const struct fr_workload_options o = {.dtype = FR_N_DTYPES};
    struct load *l = arg;
    double begin_s = bench_cpu_s();

    for (unsigned r = 0; r < ROUNDS; r++) {
        struct fr_graph *g;
        struct fr_error err;

        if (fr_workload_load(&g, l->name, &o, &err) != FR_OK)
            exit(EXIT_FAILURE);
        l->size = g->n_ops;
        fr_graph_free(g);
    }
    return bench_cpu_s() - begin_s;
}

static void run(double (*load_s)(void *), const char *what, const char *name, const char *unit)
{
    struct load l = {.name = name};
    struct bench_row row = {.unit = unit};
    char title[64];

    snprintf(title, sizeof(title), "%s %s", what, name);
    row.name = title;
    row.cpu_s = bench_median(load_s, &l, 3);
    row.size = (double)l.size * ROUNDS;
    bench_print(&row);
}

int main(void)
{
    fr_init();
    run(load_topology_s, "load", "128x dgx-a100-80g", "GPUs");
    run(load_topology_s, "load", "2048x hgx-h100", "GPUs");
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
        run(make_model_s, "make", models[i], "ops");
    return EXIT_SUCCESS;
}
