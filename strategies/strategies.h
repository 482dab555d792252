/* strategies/strategies.h - from a problem (model, cluster, batch) to a plan.
 *
 * A strategy is one file and one row in FR_STRATEGIES. Everything it decides goes to the decision
 * log of the context, one line a decision.
 */
#ifndef FORERUN_STRATEGIES_H
#define FORERUN_STRATEGIES_H

#include "base/base.h"
#include "sim/sim.h"
#include "strategies/decisions.h"
#include "strategies/learning.h"
#include "topo/topo.h"
#include "workloads/workloads.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fr_optimizer { FR_SGD, FR_MOMENTUM, FR_ADAM, FR_N_OPTIMIZERS };
const char *fr_optimizer_name(enum fr_optimizer o);
enum fr_optimizer fr_optimizer_parse(const char *name);

enum fr_option_type {
    FR_OPTION_COUNT,  /* integer >= 0 */
    FR_OPTION_BOOL,   /* 0|1 */
    FR_OPTION_BYTES,  /* with unit: 25MiB */
    FR_OPTION_CHOICE, /* one of choices, separated by | */
    FR_OPTION_TEXT,   /* anything that has no comma; the strategy reads it */
    FR_OPTION_FILE    /* the same: a path; what the file holds counts as part of the question */
};

/* What may be done to an option where a plan does not fit in memory; the training stays the
 * same. */
enum fr_option_advice {
    FR_ADVICE_NONE,
    FR_ADVICE_DOUBLE, /* a count of which twice as many needs less memory */
    FR_ADVICE_LEAST   /* some values need less memory */
};

struct fr_option {
    const char *name;
    enum fr_option_type type;
    const char *fallback; /* default, as a user would type it */
    const char *choices;  /* FR_OPTION_CHOICE only */
    const char *help;
    enum fr_option_advice advice;
    /* FR_ADVICE_DOUBLE: what the values count, for people. FR_ADVICE_LEAST: those values, joined
     * by '|', the one that needs least memory last. */
    const char *advice_text;
};

enum { FR_MAX_OPTIONS = 48, FR_MAX_OPTION_TEXT = 1024 };

/* Values in the order of the strategy's options: count, bool, bytes, index of the choice, or where
 * the text begins (fr_option_text). */
struct fr_option_values {
    uint64_t value[FR_MAX_OPTIONS];
    bool is_set[FR_MAX_OPTIONS];   /* given by the user */
    char text[FR_MAX_OPTION_TEXT]; /* all texts, each with its terminator */
};

/* The value of an option that is text. */
static inline const char *fr_option_text(const struct fr_option_values *v, size_t option)
{
    return v->text + v->value[option];
}

struct fr_cost_memo;
struct fr__kept_params;
struct fr_cut_memory;

struct fr_problem {
    const struct fr_topo *topo;
    const struct fr_graph *graph;      /* a training graph, at its own batch */
    const struct fr_cost_model *costs; /* of the topology's device types */
    struct fr_cost_memo *memo;         /* of costs and graph, calibrate/cost_memo.h; NULL: none */
    const struct fr__kept_params *params; /* of the graph, strategies/lower/params.h; NULL: none */
    const uint32_t *devices;              /* [n_devices] GPUs to use, rank by rank */
    size_t n_devices;
    uint32_t global_batch; /* samples an iteration, over all devices */
    enum fr_optimizer optimizer;
    /* Why GPUs of one type do not take the same time for the same work: some are slowed by name, or
     * times are random. NULL: they do. */
    const char *why_devices_differ;
    bool keeps_gradients; /* they are set to zero after the step, not dropped (zero_grad) */
    /* Adam is written as ops, as google-research/bert, optimization.py has it: under TensorFlow 1
     * the products of the states and the weight decay, which wait for nothing, are made when the
     * step begins and live until the update. */
    bool steps_by_ops;
    const struct fr_option_values *options;
    bool prefers_folding; /* the plan is one of many that are tried: ranks that do the same are
                             placed once, even where their messages would go over the links */
    /* How the plan will be run, so that a planner can ask the engine what a plan takes. Of these,
     * want, stop_s and context are the planner's to set. NULL: it can only go by what it
     * believes. */
    const struct fr_run_options *run;
    struct fr_simulation *simulation; /* on topo, for the planner's runs; NULL: it makes one */
    /* where a strategy leaves what it decided, for the caller to free: the plan, with the tasks
     * that its operations became; NULL: not wanted */
    struct fr_decisions **decisions;
    struct fr_cut_memory *memory; /* NULL: nobody measures */
};

/* Between a strategy that cuts a model where memory allows, and who runs its plan and measures. */
struct fr_cut_memory {
    /* In, [n_devices of the topology]: what a GPU held more than was believed when the plan was
     * run before; NULL: it was not. */
    const double *more_bytes;
    /* Out, likewise: what a GPU is believed to hold at most, its context included; 0: nothing was
     * chosen by it. With what was measured before. */
    double *believed_bytes;
    char note[320]; /* out: what memory, or the number of layers, did to the cut; "": nothing */
};

struct fr_profile;    /* workloads/profile.h */
struct fr_stage_plan; /* strategies/stage_plan.h */

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
    bool folds; /* ranks that do the same are planned once: large clusters cost no more */
    /* Its tests show that its plans are sound, whatever the problem. Sweeps then check them in
     * builds for debugging only. */
    bool is_trusted;
    /* Not among "all" strategies: compared, swept and advised where its name is given only. */
    bool is_by_name_only;
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
