/* strategies/pipedream/cluster.h - a plan of stages on the GPUs of a topology: the profile of a
 * training graph, the levels of the machines, and which GPU is which replica of which stage. */
#ifndef FR_STRATEGIES_PIPEDREAM_CLUSTER_H
#define FR_STRATEGIES_PIPEDREAM_CLUSTER_H

#include "lowering/placer.h"
#include "strategies/pipedream/pipedream.h"

/* ---- profile.c ---- */

/* The placer's graph as a profile at so many samples, on the slowest of the problem's devices for
 * each layer; layers are the items of lowering/pipeline/stages.h. item_of: [n_ops], out. All
 * memory comes from the placer's arena. */
enum fr_status fr__pd_profile_of(struct fr_profile *out, const uint32_t **item_of,
                                 struct fr__placer *pl, double batch, struct fr_error *err);

/* ---- cluster.c ---- */

/* The devices in the order in which stages stand on them: joined well (fr__line_up), but machines
 * as whole as their order by rank has them. line: [n_devices]. FR_ENOMEM. */
enum fr_status fr__pd_line(struct fr__placer *pl, uint32_t line[], struct fr_error *err);
/* Fills in levels that the options do not give: GPUs of a machine and machines, where all machines
 * have as many, else all GPUs on one level; the bandwidth is the narrowest link's between
 * neighbours of the level. FR_EUSAGE: the options are for another number of GPUs. */
enum fr_status fr__pd_levels_of(struct fr__pd_options *o, const struct fr_problem *in,
                                const uint32_t line[], struct fr_error *err);

/* Devices of each stage. A group of the level below is `inner` devices in a row; parts of a split
 * take groups in order, and replicas of a part do the same inside their groups. Replica q of a
 * stage that is r times in its group stands in group q mod R of the R: so a micro-batch stays on
 * its machine from stage to stage. */
struct fr__pd_seats {
    size_t n_stages;
    uint32_t most;         /* the most replicas of a stage */
    uint32_t *replicas_of; /* [n_stages] */
    uint32_t *devices;     /* [n_stages][most] */
};
enum fr_status fr__pd_seat(struct fr__pd_seats *out, const struct fr_stage_plan *plan,
                           const uint32_t line[], struct fr__arena *arena, struct fr_error *err);

/* ---- run.c ---- */

/* Adds the stages to the placer's plan: n_micros micro-batches of `batch` samples, the last of
 * last_batch, round robin over the replicas of each stage, one forward one backward, and one
 * update of all at the end. stage_of: [n_ops]. FR_EUNSUPPORTED: parameters shared by stages with
 * different numbers of replicas. */
struct fr__pd_run {
    struct fr__placer *pl;
    const struct fr__pd_seats *seats;
    const uint32_t *stage_of;
    uint32_t n_micros;
    double batch, last_batch;
};
enum fr_status fr__pd_place(const struct fr__pd_run *run, struct fr_error *err);
/* What no run can do. FR_EUNSUPPORTED, FR_EUSAGE, FR_ERANGE. */
enum fr_status fr__pd_check_run(const struct fr__pd_run *run, struct fr_error *err);

/* ---- tied.c ---- */

/* Pairs of layers that share weights, into o->together. item_of: [n_ops]. FR_ENOMEM. */
enum fr_status fr__pd_tied_layers(struct fr__pd_options *o, const struct fr__placer *pl,
                                  const uint32_t item_of[], struct fr_error *err);
/* What the busiest link takes for weights that stages share, copies and gradients: a micro-batch's,
 * or, with a flush, an iteration's; 0: no stages share any. FR_ENOMEM, FR_ENOENT. */
enum fr_status fr__pd_tied_s(const struct fr__pd_run *run, bool has_flush, double *out_s,
                             struct fr_error *err);
/* Whether stages that share weights, or sums of gradients, have as many replicas each: replica q of
 * one stands with replica q of the other. *op: one that they share. */
bool fr__pd_can_share(const struct fr__pd_run *run, uint32_t stages[2], uint32_t *op);

/* ---- async.c ---- */

/* The same without a flush: a replica updates after each of its micro-batches, replicas of a stage
 * with the sum of a round; a backward reads the version of the weights that its forward read. The
 * plan holds several iterations in a row, until the interval between them has settled; last_batch
 * must be batch. */
enum fr_status fr__pd_place_async(const struct fr__pd_run *run, struct fr_error *err);
#endif
