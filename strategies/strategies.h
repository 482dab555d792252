/* strategies/strategies.h - from a problem (model, cluster, batch) to a plan.
 *
 * A strategy is one file and one row in FR_STRATEGIES. Everything it decides goes to the decision
 * log of the context, one line a decision.
 */
#ifndef FORERUN_STRATEGIES_H
#define FORERUN_STRATEGIES_H

#include "base/base.h"
#include "lowering/decisions.h"
#include "lowering/learning.h"
#include "lowering/lowering.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fr_profile;    /* workloads/profile.h */
struct fr_stage_plan; /* lowering/stage_plan.h */

/* How training software runs a strategy: not at all, since it is a paper's; with the whole model on
 * each GPU; with shards of the weights on each; with each layer, or the layers, divided. */
enum fr_software_run { FR_RUN_BY_NONE, FR_RUN_WHOLE, FR_RUN_SHARDED, FR_RUN_DIVIDED };

struct fr_strategy {
    const char *name, *summary, *source; /* token [a-z0-9-]+; one line for help; the paper */
    const struct fr_option *options;     /* ends with a NULL name */
    /* Adds to an empty plan on problem->topo and graph; the caller finishes it. */
    enum fr_status (*plan)(const struct fr_problem *in, const struct fr_context *ctx,
                           struct fr_plan *out, struct fr_error *err);
    /* How it comes to its plan, step by step, for the caller to free. NULL: it has nothing to
     * tell. */
    enum fr_status (*explain)(const struct fr_problem *in, const struct fr_context *ctx,
                              struct fr_decisions **out, struct fr_error *err);
    /* Learns the costs of operations and transfers round by round, the simulator being the cluster
     * that it measures. What the simulator runs takes the costs of in and the network, jitter and
     * slow devices of run. The caller frees *out and says in it what was asked. FR_ENOROOM: the
     * first plan does not fit; else as plan and fr_simulate. NULL: it has no costs to learn. */
    enum fr_status (*learn)(const struct fr_problem *in, const struct fr_learn_options *o,
                            const struct fr_run_options *run, const struct fr_context *ctx,
                            struct fr_learning **out, struct fr_error *err);
    bool learns_by_default; /* where learning is asked for and no strategy is named; one has it */
    /* Cuts a profile into stages for machines that its options describe, without a topology; the
     * profile must outlive the answer, which the caller frees. NULL: it needs a topology. */
    enum fr_status (*plan_stages)(const struct fr_profile *profile,
                                  const struct fr_option_values *options,
                                  const struct fr_context *ctx, struct fr_stage_plan **out,
                                  struct fr_error *err);
    /* How software runs it with these options. NULL: no software does. */
    enum fr_software_run (*software_run)(const struct fr_option_values *options);
    bool folds; /* ranks that do the same are planned once: large clusters cost no more */
    /* Its tests show that its plans are sound, whatever the problem. Sweeps then check them in
     * builds for debugging only. */
    bool is_trusted;
    /* Not among "all" strategies: compared, swept and advised where its name is given only. */
    bool is_by_name_only;
    /* At the end of the forward pass each parameter, and each result that the backward pass reads,
     * is on a GPU: nothing of the batch comes later, or is computed again. So a question that asks
     * for room alone need not plan what all GPUs together have no room for. */
    bool keeps_whole_batch;
    bool is_baseline; /* others are compared with it, where it was asked for without options */
    const char *required_option; /* without which it cannot plan; NULL: none */
};

/* ---- strategies from shared objects ----
 *
 * "-s ./mine.so:depth=2" loads a strategy that was built apart from this library, against its
 * installed headers. Such an object says FR_STRATEGY_PLUGIN(mine); once, where mine is its struct
 * fr_strategy. It is refused where it was built against headers with another interface. It stays
 * loaded until the program ends. */
#define FR_STRATEGY_INTERFACE 1 /* counts up when the meaning of what a strategy sees changes */
struct fr_strategy_plugin {
    unsigned interface_version; /* FR_STRATEGY_INTERFACE */
    /* of struct fr_strategy, fr_problem, fr_graph, fr_topo, fr_task and fr_cost, as built */
    size_t strategy_bytes, problem_bytes, graph_bytes, topo_bytes, task_bytes, cost_bytes;
    const struct fr_strategy *strategy;
};
#define FR_STRATEGY_PLUGIN_VALUE(strategy)                                                         \
    {                                                                                              \
        FR_STRATEGY_INTERFACE, sizeof(struct fr_strategy), sizeof(struct fr_problem),              \
            sizeof(struct fr_graph), sizeof(struct fr_topo), sizeof(struct fr_task),               \
            sizeof(struct fr_cost), &(strategy)                                                    \
    }
#define FR_STRATEGY_PLUGIN(strategy)                                                               \
    extern const struct fr_strategy_plugin fr_strategy_plugin;                                     \
    const struct fr_strategy_plugin fr_strategy_plugin = FR_STRATEGY_PLUGIN_VALUE(strategy)

/* clang-format off */
#define FR_STRATEGIES(X)                                                                           \
    X(single) X(dp) X(mp) X(pp) X(hybrid) X(dpos) X(os_dpos) X(pipedream)                          \
    X(heft) X(cpop) X(mcp) X(etf) X(fifo) X(critical_path) X(random) X(exact)       \
    X(placement)
/* clang-format on */

const struct fr_strategy *fr_strategy_at(size_t i); /* NULL past the end */
/* A name under which people know a way to train, "fsdp": fr_strategy_parse takes it, with further
 * options behind it. Its spec is empty where the name leaves a number open; then it is refused, and
 * says tells what to write. */
struct fr_strategy_alias {
    const char *name, *spec, *says; /* in any case; "hybrid:zero=3"; what that is */
};
const struct fr_strategy_alias *fr_strategy_alias_at(size_t i); /* NULL past the end */
/* That of "fsdp:micro=1"; NULL: its name is none. */
const struct fr_strategy_alias *fr_strategy_alias_of(const char *spec);
/* The strategy that learns where the user names none. */
const struct fr_strategy *fr_strategy_learner(void);
/* Whether a user asked for exactly the baseline: its name without options. */
bool fr_strategy_is_baseline(const char *spec);

/* "dp:sync=ring,bucket=25MiB" -> the strategy and its values (defaults filled in).
 * FR_EUSAGE names an unknown strategy, option or value with the nearest known one. */
enum fr_status fr_strategy_parse(const char *spec, const struct fr_strategy **out,
                                 struct fr_option_values *values, struct fr_error *err);
/* Gives an option that the user did not give another default. *has: whether the strategy has an
 * option of that name that is not text. FR_EUSAGE: the option does not take the value. */
enum fr_status fr_strategy_fill(const struct fr_strategy *s, struct fr_option_values *values,
                                const char *option, const char *text, bool *has,
                                struct fr_error *err);

#ifdef __cplusplus
}
#endif
#endif
