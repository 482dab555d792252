/* calibrate/power/clocks.h - the clocks of a question's GPUs under a power limit.
 *
 * What a step computes and moves decides the clock: the forward and backward ops of the graph, at
 * the batch that they are asked for.
 */
#ifndef FR_CALIBRATE_POWER_CLOCKS_H
#define FR_CALIBRATE_POWER_CLOCKS_H

#include "calibrate/calibrate.h"
#include "calibrate/power/power.h"

struct fr_clocks;
struct fr_cost_memo;

/* One thread at a time may use it. costs, memo (may be NULL) and graph are borrowed. limit_W: of
 * each GPU; one above a board's own, INFINITY too, counts as that. NULL: out of memory. */
struct fr_clocks *fr__clocks_new(const struct fr_cost_model *costs, struct fr_cost_memo *memo,
                                 const struct fr_graph *graph, double limit_W);
void fr__clocks_free(struct fr_clocks *c); /* NULL is fine */

struct fr__clock {
    double clock;             /* over the highest */
    double slowdown;          /* of compute-bound ops against what curves say */
    double memory_slowdown;   /* of the others */
    double measured_slowdown; /* of ops whose time was measured, at the board's own limit */
    double idle_W, working_W; /* drawn in either case; equal: what the type draws is not known */
};
/* Of a device type at a batch. Cost: linear in the graph when a pair is asked for first. */
struct fr__clock fr__clock_at(struct fr_clocks *c, uint32_t type, double batch);
/* Of the batch that was asked for first on that type; of the graph's where none was. */
struct fr__clock fr__clock_of_type(struct fr_clocks *c, uint32_t type);
/* What an op costs at that clock that costs so much by the curves. */
void fr__clock_apply(const struct fr__clock *clock, struct fr_cost *cost);
#endif
