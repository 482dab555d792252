/* tests/support/strategies_case.h - small problems whose plans can be worked out by hand. */
#ifndef FR_TESTS_SUPPORT_STRATEGIES_CASE_H
#define FR_TESTS_SUPPORT_STRATEGIES_CASE_H

#include "strategies/strategies.h"

#include <stdio.h>

/* n GPUs and a CPU in one machine, every pair joined by a duplex link of bw_Bps without latency. A
 * GPU has mem_bytes and no context; it runs what samples say, else 1e12 FLOP/s and 1e12 B/s. */
struct fr_topo *case_topo(unsigned n, double bw_Bps, uint64_t mem_bytes);

/* A chain of n layers at batch `batch`, fp32, each with params[i] bytes of parameters (0: none),
 * forward time forward_s[i], data gradient and weight gradient half of backward_s[i] each (a layer
 * without parameters: the data gradient takes all), updates 0 s, for any device at the graph's
 * batch. Each layer's output has act_bytes and is saved for its own backward. */
struct chain_case {
    unsigned n;
    uint32_t batch;
    const uint64_t *params;
    const double *forward_s, *backward_s;
    uint64_t act_bytes;
};
struct fr_graph *case_chain(const struct chain_case *c);

/* What a test does with a problem: spec is parsed, planned on the first n devices, finished. Fails
 * the test on any error. The caller frees the plan. */
struct case_problem {
    const struct fr_topo *topo;
    const struct fr_graph *graph;
    uint32_t n_devices, global_batch;
    enum fr_optimizer optimizer;
    const struct fr_context *ctx;
};
struct fr_plan *case_plan(const struct case_problem *c, const char *spec);
/* The status of planning it with that choice of cuts; the plan is dropped. */
enum fr_status case_cut(const struct case_problem *c, const char *spec, struct fr_cut_choice *cut);
/* The same, expected to fail; the code and *err. */
enum fr_status case_fails(const struct case_problem *c, const char *spec, struct fr_error *err);

#endif
