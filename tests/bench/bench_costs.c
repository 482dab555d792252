/* How fast ops are priced: every op of a training graph, by curves and again from a plan's
 * table. */
#include "config.h"

#include "calibrate/calibrate.h"
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 40 };

static struct fr_cost_model *model;
static struct fr_graph *graph;
static volatile double sink_s; /* keeps the compiler from leaving the work out */

static double price_all_s(void *arg)
{
    const struct fr_part part = {.batch = 32};
    double begin_s = bench_cpu_s();

    (void)arg;
    for (unsigned r = 0; r < ROUNDS; r++)
        for (uint32_t o = 0; o < graph->n_ops; o++) {
            struct fr_cost c;

            fr_cost_op(model, 0, graph, o, &part, &c);
            sink_s += c.mean_s;
        }
    return bench_cpu_s() - begin_s;
}

static void run(const char *name, const char *workload)
{
    const struct fr_workload_options o = {.dtype = FR_N_DTYPES};
    struct bench_row row = {.name = name, .unit = "costs"};
    struct fr_error err;

    if (fr_workload_load(&graph, workload, &o, &err) != FR_OK)
        exit(EXIT_FAILURE);
    row.cpu_s = bench_median(price_all_s, NULL, 5);
    row.size = (double)graph->n_ops * ROUNDS;
    bench_print(&row);
    fr_graph_free(graph);
}

int main(void)
{
    struct fr_topo *t = NULL;
    struct fr_error err;

    fr_init();
    if (fr_topo_load(&t, "dgx1-v100", &err) != FR_OK ||
        fr_cost_model_new(&model, t->types, t->n_types, &(struct fr_cost_options){0}, &err) !=
            FR_OK)
        return EXIT_FAILURE;
    run("costs of resnet50's ops", "resnet50");
    run("costs of bert-large's ops", "bert-large");
    fr_cost_model_free(model);
    fr_topo_free(t);
    return EXIT_SUCCESS;
}
