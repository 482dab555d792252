/* tests/bench/bench_pipedream.c - speed of PipeDream's planner on profiles made up here.
 *
 * Chains of residual blocks with as many states as the published ResNet-50 and ResNet-101 profiles,
 * modules of four branches of four layers, with 625 states each, too many for all cuts, and blocks
 * of two long branches, whose states stand beside each other.
 */
#include "strategies/pipedream/pipedream.h"
#include "tests/bench/bench.h"

#include <stdlib.h>

struct job {
    struct fr_profile profile;
    struct fr__pd_options options;
    size_t n_states;
};

enum { MOST = 4096 };

static struct fr_profile_layer layers[MOST];
static uint32_t edges[MOST][2];

static void *room(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p)
        abort();
    return p;
}

static uint32_t add_layer(struct fr_profile *p)
{
    uint32_t v = (uint32_t)p->n_layers++;
    double ms = 1 + v * 7 % 5;

    layers[v] = (struct fr_profile_layer){.name = "layer",
                                          .description = "Conv2d",
                                          .both_s = 1e-3 * ms,
                                          .activation_bytes = 1e6 * (1 + v % 3),
                                          .param_bytes = 1e5 * (1 + v % 7)};
    return v;
}

static void join(struct fr_profile *p, uint32_t from, uint32_t to)
{
    edges[p->n_edges][0] = from;
    edges[p->n_edges++][1] = to;
}

/* n blocks: `branches` branches of `length` layers and their sum, with a bare edge or not. */
static void make(struct job *j, size_t n, size_t branches, size_t length, bool has_skip)
{
    struct fr_profile *p = &j->profile;
    uint32_t last;

    *p = (struct fr_profile){
        .name = "bench", .layers = layers, .edges = (const uint32_t(*)[2])edges};
    last = add_layer(p);
    for (size_t i = 0; i < n; i++) {
        uint32_t ends[16], sum;

        for (size_t b = 0; b < branches; b++) {
            ends[b] = last;
            for (size_t k = 0; k < length; k++) {
                uint32_t v = add_layer(p);

                join(p, ends[b], v);
                ends[b] = v;
            }
        }
        sum = add_layer(p);
        if (has_skip)
            join(p, last, sum);
        for (size_t b = 0; b < branches; b++)
            join(p, ends[b], sum);
        last = sum;
    }
}

static double plan(void *arg)
{
    struct job *j = arg;
    struct fr_stage_plan *s;
    struct fr_error err;
    double start_s = bench_cpu_s();

    if (fr__pd_plan(&j->profile, &j->options, NULL, &s, &err) != FR_OK)
        abort();
    j->n_states = s->n_states ? s->n_states : s->n_states_at_least;
    fr_stage_plan_free(s);
    return bench_cpu_s() - start_s;
}

static void bench(struct job *j, const char *name, uint32_t inner, uint32_t outer,
                  const char *beside, double beside_s)
{
    double cpu_s;

    j->options = (struct fr__pd_options){.n_levels = 2,
                                         .levels = {{inner, 12e9}, {outer, 1e9}},
                                         .compression = 1,
                                         .max_states = 4096};
    cpu_s = bench_median(plan, j, 3);
    bench_print(&(struct bench_row){.name = name,
                                    .size = (double)j->n_states,
                                    .unit = "states",
                                    .cpu_s = cpu_s,
                                    .beside = beside,
                                    .beside_s = beside_s});
}

int main(void)
{
    struct job *j = room(1, sizeof(*j));

    /* the published program's times are those of its ResNet-50 and ResNet-101 profiles */
    make(j, 30, 1, 7, true);
    bench(j, "pipedream, 8x2 machines", 8, 2, "its program", 79);
    make(j, 51, 1, 7, true);
    bench(j, "pipedream, 4x2 machines", 4, 2, "its program", 120);
    make(j, 11, 4, 11, false);
    bench(j, "pipedream, wide modules", 4, 2, NULL, 0);
    make(j, 3, 2, 13, false);
    bench(j, "pipedream, 4x3 machines", 4, 3, NULL, 0);
    free(j);
    return 0;
}
