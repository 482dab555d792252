/* lowering/pipeline/sums.h - what the sums of gradients among the replicas of a stage take, for
 * the choice of a cut: a stage with more parameters has more to sum after its last pass. */
#ifndef FR_LOWERING_PIPELINE_SUMS_H
#define FR_LOWERING_PIPELINE_SUMS_H

#include "sim/network/alone.h"
#include "lowering/placer.h"
#include "lowering/partition/choose.h"

/* The slowest line between neighbours of a ring. devices: [n]. A route that does not exist is told
 * of when messages are placed. */
struct fr__alone_line fr__ring_line(const struct fr__placer *pl, struct fr__routes *routes,
                                    const uint32_t devices[], uint32_t n);

/* The line of a message, and so much of it as is left for each where replicas of the same message
 * share its links in a folded plan. Such a route too is told of later. */
struct fr__alone_line fr__message_line(const struct fr__placer *pl, struct fr__routes *routes,
                                       uint32_t src, uint32_t dst);

/* devices: [n_ranks][n_replicas] of a pipeline; groups: [n_ranks] the same as groups of the plan,
 * whose measured times count; NULL: there are none. */
struct fr__sums_problem {
    uint32_t n_ranks, n_replicas;
    const uint32_t *devices, *groups;
    double bucket_bytes; /* a sum begins once so much of a stage is complete; INFINITY: all of it */
};

/* Fills *out, from the placer's arena; with fewer than two replicas *out is left as it is. As
 * measured on the groups' system, or else as the rings of up to 64 ranks, or one ring of more, that
 * have their links alone: 2 (n - 1) steps of a latency and an n-th of the bytes (P. Patarasuk, X.
 * Yuan, J. Parallel Distrib. Comput. 69(2), 2009). What a rank hands on has come from the one
 * before it, so that the latencies add up along the ring: together those of 2 (n - 1) / n times
 * around. FR_ENOMEM. */
enum fr_status fr__pipeline_sums(struct fr__stage_sums *out, struct fr__placer *pl,
                                 const struct fr__sums_problem *in, struct fr_error *err);

/* *out becomes what its sums and the others take one after the other, in parts as those of the
 * others are. Both have n_ranks; from the arena. FR_ENOMEM. */
enum fr_status fr__pipeline_sums_add(struct fr__stage_sums *out, const struct fr__stage_sums *other,
                                     uint32_t n_ranks, struct fr__arena *arena,
                                     struct fr_error *err);

#endif
