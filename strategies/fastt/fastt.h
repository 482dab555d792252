/* strategies/fastt/fastt.h - FastT's planners on a problem: from a model, a cluster and a batch to
 * a placement.
 *
 * The start is a dag. It is the data-parallel one (a replica on each device, one set of variables)
 * if the model with its share of the batch fits the smallest device, otherwise that of the single
 * model. The start is planned by DPOS (strategies/fastt/dpos.h), or by OS-DPOS
 * (strategies/fastt/os_dpos.h), which also splits operations.
 *
 * OS-DPOS is never worse than plain replicas: if the planner expects that one whole replica on each
 * device ends sooner than what its search found, these replicas are the plan. The paper's
 * pre-training also starts from them and rolls back to them.
 *
 * The room of a device is its memory without the CUDA context and without what the operation with
 * the largest need takes while it runs. The planner counts what is held for long: parameters,
 * optimizer states, a copy of the parameters for each replica, what the backward pass reads again,
 * gradients.
 *
 * All that is the paper's rule (strategies/fastt/rules.h). Where the engine can be asked, plans by
 * our other rules are made as well, and the engine says which of them is the fastest: that is the
 * planner's own plan. It is made without a look at plans of other strategies. os-dpos then compares
 * it with these, and hands over the fastest of all.
 *
 * Source:  X. Yi et al., FastT, Middleware 2020; its section 4 says which start.
 */
#ifndef FR_STRATEGIES_FASTT_FASTT_H
#define FR_STRATEGIES_FASTT_FASTT_H

#include "strategies/fastt/os_dpos.h"
#include "strategies/fastt/referee.h"
#include "strategies/fastt/rules.h"

enum fr__fastt_start { FR__FASTT_AUTO, FR__FASTT_DP, FR__FASTT_MODEL };

/* Plain replicas: kept if they are faster; always kept; or not tried, as in the paper's Algorithm
 * 2. */
enum fr__fastt_replicas { FR__FASTT_COMPARE, FR__FASTT_ONLY, FR__FASTT_IGNORE };

/* What the planner believes that a message takes: what it takes alone; while all pairs send at the
 * same time (our rules only); or with slots of links (struct fr__link_map). Auto: alone, and where
 * the engine is the referee our rules plan with slots as well. */
enum fr__fastt_links { FR__FASTT_LINKS_AUTO, FR__FASTT_ALONE, FR__FASTT_SHARED, FR__FASTT_SLOTS };

struct fr__fastt_options {
    enum fr__fastt_start start;
    enum fr__fastt_replicas replicas;
    bool splits;                 /* OS-DPOS */
    bool limits_tries;           /* the user did not say how many splits are tried */
    const struct fr__rule *rule; /* NULL: the fastest of all but the paper's */
    enum fr__fastt_links links;
    bool asks_engine;    /* if the problem has a run to ask about */
    bool compares_plain; /* with other strategies, if the engine is asked */
    double room_frac;    /* of each device's room that the account may fill; 0: all */
    /* [devices] of that, which the account may not fill; or NULL */
    const uint64_t *held_back_bytes;
    struct fr__os_dpos_options search; /* costs are filled in */
};
/* The options that a user gave for `dpos` or `os-dpos`. */
struct fr__fastt_options fr__fastt_options(const struct fr_option_values *values, bool splits);

/* Another strategy, with its default options. */
struct fr__fastt_plain {
    const struct fr_strategy *strategy;
    double made_s; /* INFINITY: no plan, out of memory, or given up as longer than the best */
    unsigned cut;  /* the kind of the fastest cut of its stages */
};
enum { FR__FASTT_MOST_PLAIN = 4 };

struct fr__fastt {
    const char *name; /* of the strategy that plans */
    const struct fr__rule *rule;
    struct fr__dag *start;
    bool is_data_parallel;
    struct fr__dpos_machine machine; /* arrays of the placer's arena */
    struct fr__os_dpos *search;
    struct fr__dpos_options way;      /* of `planner`'s plan, to make it again */
    struct fr__dpos *planner;         /* of rules without splits; NULL: the search's */
    struct fr__os_dpos_result result; /* for DPOS: without splits */
    struct fr__dpos *replicas;        /* the planner of plain replicas; NULL: not tried */
    double replicas_s;                /* step with plain replicas; infinite: they do not fit, or
                                       * there are none */
    const uint32_t *placed;           /* devices of their operations; in the placer's arena */
    bool keeps_replicas;              /* result.plan and dag are theirs */
    struct fr__dpos_bounds bounds;    /* of result.dag */
    /* What the engine said; own_s is NAN if it was not asked. */
    double own_s;               /* of the planner's own plan */
    double alone_s;             /* of it, with each message alone on its links */
    double foreseen_s;          /* what waiting for slots of links adds to what is believed of it */
    bool is_in_program_order;   /* not in that of the planner's list */
    bool waits_for_slots;       /* planned with slots of links (struct fr__link_map) */
    bool keeps_turns;           /* messages keep the order of their slots */
    struct fr__dag_turns turns; /* of result.plan; links NULL: it was planned without slots */
    /* The paper's rule, where the engine finds room for none of its plans: the bytes that lacked on
     * a device in the plan that came nearest; 0: one fits, or the engine was not asked. */
    uint64_t lack_bytes;
    uint32_t lack_device; /* of the topology */
    bool has_spare_room;  /* planned without the account of memory, since the engine finds room */
    size_t n_plain, n_runs, n_stopped;
    struct fr__fastt_plain plain[FR__FASTT_MOST_PLAIN];
    const struct fr_strategy *plan_of; /* whose plan is handed over; NULL: the planner's own */
    unsigned cut;                      /* of that plan */
};

/* Its plan, for the engine. Valid as long as *f is not changed. */
struct fr__placed_dag fr__fastt_placed(const struct fr__fastt *f);

/* Plans pl's problem (own.c), without a look at other strategies: with the engine as the referee if
 * o and the problem allow it. FR_ENOROOM: it fits in no way. fini may follow a failure; pl must
 * outlive *out. */
enum fr_status fr__fastt_run(struct fr__fastt *out, struct fr__placer *pl,
                             const struct fr__fastt_options *o, struct fr_error *err);
void fr__fastt_fini(struct fr__fastt *f);

/* The same by the paper's rule, whatever o says, and without the engine. */
enum fr_status fr__fastt_paper(struct fr__fastt *out, struct fr__placer *pl,
                               const struct fr__fastt_options *o, struct fr_error *err);

/* Whether parameters, the gradients that are kept and optimizer states, held once, are more than
 * the memory of all devices: then no plan fits, by the planner's account or by the engine's. Cost:
 * O(parameters + devices). */
bool fr__fastt_cannot_fit(const struct fr__placer *pl);

/* How many times about a planner looks at a device for an operation: operations of n_replicas times
 * devices. With slots of links a look takes as long as eight without. */
double fr__fastt_looks(const struct fr__placer *pl, size_t n_replicas, bool has_slots);
/* FR_ERANGE: more looks than `most`; FR_ENOMEM: the dag would not fit in our own memory. */
enum fr_status fr__fastt_check_size(const struct fr__placer *pl, size_t n_replicas, double most,
                                    struct fr_error *err);

/* Fails with FR_ENOROOM if the engine found room for no plan by the paper's rule. */
enum fr_status fr__fastt_check_fits(const struct fr__fastt *f, const struct fr__placer *pl,
                                    struct fr_error *err);

/* Says what lacks, for a result without room. */
enum fr_status fr__fastt_fail_no_room(const struct fr__fastt *f, const struct fr__placer *pl,
                                      struct fr_error *err);
/* One rule but the paper's. is_roomy: memory is not counted. out->result.plan.outcome says whether
 * it fits; fini may follow a failure. */
enum fr_status fr__fastt_by_rule(struct fr__fastt *out, struct fr__placer *pl,
                                 const struct fr__fastt_options *o, const struct fr__rule *rule,
                                 bool is_roomy, struct fr_error *err);

/* Makes what fr__fastt_run starts from (the dag, the machine and its links) without planning. */
enum fr_status fr__fastt_prepare(struct fr__fastt *out, struct fr__placer *pl,
                                 enum fr__fastt_start start, struct fr_error *err);

/* The options of the two strategies, in the order of their values. */
extern const struct fr_option fr__dpos_options[], fr__os_dpos_options[];

/* Plans the problem and adds the plan to an empty one. plain: [n_plain] strategies that the plan is
 * compared with. */
struct fr__fastt_asked {
    const char *name; /* of the strategy */
    bool splits;
    const struct fr_strategy *const *plain;
    size_t n_plain;
};
enum fr_status fr__fastt_plan(const struct fr_problem *in, const struct fr_context *ctx,
                              struct fr_plan *out, const struct fr__fastt_asked *asked,
                              struct fr_error *err);
#endif
