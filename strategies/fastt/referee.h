/* strategies/fastt/referee.h - asks the engine what a plan takes, so that a planner need not trust
 * what it believes.
 *
 * All plans are run by one simulation object, under the options of the problem's run: the same
 * network, order of ready tasks, collectives and launches as the answer. A run stops as soon as
 * it must take longer than the best plan so far.
 */
#ifndef FR_STRATEGIES_FASTT_REFEREE_H
#define FR_STRATEGIES_FASTT_REFEREE_H

#include "lowering/dag/plan.h"
#include "strategies/strategies.h"

struct fr__referee {
    const struct fr_problem *in; /* its run is not NULL */
    struct fr_context quiet;     /* the caller's, without progress and log of single runs */
    struct fr_simulation *simulation, *own; /* own: made here, else NULL */
    size_t n_runs, n_stopped;
    /* [devices of the topology] of the last run: bytes that were in use at once beyond what the
     * device has; 0: it had enough */
    uint64_t *over_bytes;
};

/* in must outlive *r; fini may follow a failure. FR_ENOMEM. */
enum fr_status fr__referee_init(struct fr__referee *r, const struct fr_problem *in,
                                const struct fr_context *ctx, struct fr_error *err);
void fr__referee_fini(struct fr__referee *r);

struct fr__made {
    double s;            /* an iteration; INFINITY: stopped, or out of memory */
    bool is_over;        /* out of memory */
    double fullest_frac; /* most of a device's memory that was in use at once, over what it has */
};
/* stop_s: the run stops when it must take longer; 0: never. is_alone: each message as if it were
 * alone on its links, whatever the problem's network. *out is infinite, without being over, if
 * tasks wait for each other. Other errors as fr__dag_plan and fr_simulate. */
enum fr_status fr__referee_ask(struct fr__referee *r, const struct fr__placed_dag *d, double stop_s,
                               bool is_alone, struct fr__made *out, struct fr_error *err);
/* The same of another strategy with its default options, and with further cuts of stages where an
 * answer would run them (lowering/cut_runs.h); *kind: of the fastest one. *out is infinite, without
 * being over, if it has no plan for the problem. */
enum fr_status fr__referee_ask_strategy(struct fr__referee *r, const struct fr_strategy *s,
                                        double stop_s, struct fr__made *out, unsigned *kind,
                                        struct fr_error *err);
#endif
