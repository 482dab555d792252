/* lowering/lowering.h - what strategies share: the problem that each is given, and the values of
 * its options.
 *
 * The folders below turn decisions into a plan: replicas of the model and the messages inside them
 * (replica/), averages of gradients (exchange/), stages and their actions (pipeline/, partition/,
 * schedules/), and the step as planners see it (dag/). None of them knows a strategy.
 */
#ifndef FORERUN_LOWERING_H
#define FORERUN_LOWERING_H

#include "base/base.h"
#include "sim/sim.h"
#include "topo/topo.h"
#include "workloads/workloads.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of lowering/optimizers.yaml. */
enum fr_optimizer {
    FR_SGD,
    FR_MOMENTUM,
    FR_ADAM,
    FR_LION,
    FR_ADAM_8BIT,
    FR_ADAFACTOR,
    FR_ADAFACTOR_MOMENTUM,
    FR_MUON,
    FR_SHAMPOO,
    FR_SOAP,
    FR_N_OPTIMIZERS
};
const char *fr_optimizer_name(enum fr_optimizer o);
enum fr_optimizer fr_optimizer_parse(const char *name);
/* What its states take of each parameter of a large tensor, where a state is of fp32. */
double fr_optimizer_bytes(enum fr_optimizer o);

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

struct fr_clocks;
struct fr_cost_memo;
struct fr_cost_model;
struct fr_decisions;
struct fr_kept_params;
struct fr_cut_memory;
struct fr_cut_choice;

struct fr_problem {
    const struct fr_topo *topo;
    const struct fr_graph *graph;        /* a training graph, at its own batch */
    const struct fr_cost_model *costs;   /* of the topology's device types */
    struct fr_cost_memo *memo;           /* of costs and graph, calibrate/cost/memo.h; NULL: none */
    struct fr_clocks *clocks;            /* under a power limit, calibrate/power/clocks.h; NULL:
                                            there is none */
    const struct fr_kept_params *params; /* of the graph, lowering/params.h; NULL: none */
    const uint32_t *devices;             /* [n_devices] GPUs to use, rank by rank */
    size_t n_devices;
    uint32_t global_batch; /* samples an iteration, over all devices */
    enum fr_optimizer optimizer;
    /* Why GPUs of one type do not take the same time for the same work: some are slowed by name, or
     * times are random. NULL: they do. */
    const char *why_devices_differ;
    uint64_t updates;     /* how software runs the step: rows of lowering/update.h; 0: the least */
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
    struct fr_cut_choice *cut;    /* NULL: nobody runs further cuts */
};

enum { FR_CUT_KINDS = 7 }; /* lowering/partition/kinds.h */

/* Between a strategy that chooses where stages are cut, and who runs its plans: the strategy
 * cuts by what it believes, the run decides among the cuts of several kinds. */
struct fr_cut_choice {
    unsigned kind; /* in, < FR_CUT_KINDS; 0: what is believed to be the best */
    /* In, [n_seen] signatures of cuts that were run. Of a cut that is among them, or does not fit,
     * the strategy makes no plan: its status is FR_ENOROOM and is_useless is set. NULL: there are
     * none, and any cut is planned. */
    const uint64_t *seen;
    unsigned n_seen;
    bool is_useless; /* out */
    /* Out. is_chosen: the strategy had a choice; else the rest says nothing */
    bool is_chosen;
    bool fits;          /* by what stages are believed to hold */
    uint64_t signature; /* of the cut: equal cuts have the same */
    double planned_s;   /* what it is believed to take */
    double n_tasks;     /* that compute, of all ranks: the same whether some are folded */
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

#ifdef __cplusplus
}
#endif

#endif
