/* strategies/strategies.h - from a problem (model, cluster, batch) to a plan.
 *
 * A strategy is one file and one row in FR_STRATEGIES. Everything it decides goes to the decision
 * log of the context, one line a decision.
 */
#ifndef FORERUN_STRATEGIES_H
#define FORERUN_STRATEGIES_H

#include "base/base.h"
#include "sim/sim.h"
#include "topo/topo.h"
#include "workloads/workloads.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fr_optimizer { FR_SGD, FR_MOMENTUM, FR_ADAM, FR_N_OPTIMIZERS };
const char *fr_optimizer_name(enum fr_optimizer o);
enum fr_optimizer fr_optimizer_parse(const char *name);

enum fr_option_type {
    FR_OPTION_COUNT, /* integer >= 0 */
    FR_OPTION_BOOL,  /* 0|1 */
    FR_OPTION_BYTES, /* with unit: 25MiB */
    FR_OPTION_CHOICE /* one of choices, separated by | */
};

struct fr_option {
    const char *name;
    enum fr_option_type type;
    const char *fallback; /* default, as a user would type it */
    const char *choices;  /* FR_OPTION_CHOICE only */
    const char *help;
};

#define FR_MAX_OPTIONS 16

/* Values in the order of the strategy's options: count, bool, bytes, or index of the choice. */
struct fr_option_values {
    uint64_t value[FR_MAX_OPTIONS];
    bool is_set[FR_MAX_OPTIONS]; /* given by the user */
};

/* ---- what a planner believed ---- */

struct fr_planned_op {
    const char *name; /* "conv1_1", "conv1_1, part 1 of 2", "parameters of fc6"; no two alike */
    uint32_t device;  /* of the topology */
    uint32_t task;    /* of the plan */
    double start_s, end_s;
};

struct fr_planned_split {
    const char *op, *dim; /* "batch", "channel" */
    unsigned n;
    double before_s, after_s; /* of the whole step */
};

/* Of a strategy that plans by a model of the machine of its own. */
struct fr_planned {
    double planned_s; /* the step, as it believes */
    double start_s;   /* before operations were split */
    double bound_s;   /* no placement of these operations takes less: the largest of */
    double path_bound_s, work_bound_s,
        cross_bound_s;   /* chain of ops; shared evenly; what must cross */
    bool keeps_replicas; /* found nothing better than a replica a device */
    const char *start;   /* "dp", "model": planned from */
    size_t n_ops, n_splits;
    const struct fr_planned_op *ops; /* in execution order: of starts */
    const struct fr_planned_split *splits;
    size_t n_tried, n_whole, n_stopped; /* splits; evaluations in full, and stopped early */
    void *priv;
};
void fr_planned_free(struct fr_planned *p);

struct fr_problem {
    const struct fr_topo *topo;
    const struct fr_graph *graph;      /* a training graph, at its own batch */
    const struct fr_cost_model *costs; /* of the topology's device types */
    const uint32_t *devices;           /* [n_devices] GPUs to use, rank by rank */
    size_t n_devices;
    uint32_t global_batch; /* samples an iteration, over all devices */
    enum fr_optimizer optimizer;
    bool keeps_gradients; /* they are set to zero after the step, not dropped (zero_grad) */
    const struct fr_option_values *options;
    /* where a strategy that plans leaves what it believed, for the caller to free; NULL: not wanted */
    struct fr_planned **planned;
};

struct fr_explained; /* strategies/fastt/explain.h */

struct fr_strategy {
    const char *name, *summary, *source; /* token [a-z0-9-]+; one line for help; the paper */
    const struct fr_option *options;     /* ends with a NULL name */
    /* Adds to an empty plan on problem->topo and graph; the caller finishes it. */
    enum fr_status (*plan)(const struct fr_problem *in, const struct fr_context *ctx,
                           struct fr_plan *out, struct fr_error *err);
    /* How it comes to its plan, step by step, for the caller to free; *in and what it points to must stay.
     * NULL: it has nothing to tell. */
    enum fr_status (*explain)(const struct fr_problem *in, const struct fr_context *ctx,
                              struct fr_explained **out, struct fr_error *err);
};

#define FR_STRATEGIES(X) X(single) X(dp) X(mp) X(pp) X(dpos) X(os_dpos)

const struct fr_strategy *fr_strategy_at(size_t i); /* NULL past the end */

/* "dp:sync=ring,bucket=25MiB" -> the strategy and its values (defaults filled in).
 * FR_EUSAGE names an unknown strategy, option or value with the nearest known one. */
enum fr_status fr_strategy_parse(const char *spec, const struct fr_strategy **out,
                                 struct fr_option_values *values, struct fr_error *err);

#ifdef __cplusplus
}
#endif
#endif
