/* strategies/hybrid/message_times.h - what the messages of a sharded graph take, so that stages are
 * cut with them. */
#ifndef FR_STRATEGIES_HYBRID_MESSAGE_TIMES_H
#define FR_STRATEGIES_HYBRID_MESSAGE_TIMES_H

#include "strategies/hybrid/hybrid.h"
#include "lowering/pipeline/sums.h"

/* *out: [n_ops] seconds at the graph's own batch, 0 where an op is no message; from the placer's
 * arena; NULL where the graph is not sharded. Of the first stage's first group of each axis: as
 * measured on its machines, else as a ring alone on its links,
 *
 *   all_reduce                    2 (k - 1) (latency + bytes / (k Bps))
 *   all_gather, reduce_scatter      (k - 1) (latency + bytes / (k Bps)),  all_to_all likewise
 *
 * with the narrowest link and longest latency between neighbours (P. Patarasuk, X. Yuan, JPDC
 * 69(2), 2009). Ignores passes that run beside a message. FR_ENOMEM. */
enum fr_status fr__hybrid_message_times(const double **out, struct fr__placer *pl,
                                        const struct fr__hybrid_graph *g,
                                        const struct fr__hybrid_ranks *r, struct fr_error *err);

/* What the replicas of each rank take to sum their gradients, as struct fr__stage_sums, in buckets
 * of so many bytes. *out is left as it is where nobody sums. FR_ENOMEM. */
enum fr_status fr__hybrid_sum_times(struct fr__stage_sums *out, struct fr__placer *pl,
                                    const struct fr__hybrid_ranks *r, double bucket_bytes,
                                    struct fr_error *err);

/* What the first stage and the last take to sum the gradients of weights that both have (sum_ends
 * in place.c): as measured on their machines, else as a ring of two, which is a message each way,
 * with its share of the links. *out is left as it is where they share none. FR_ENOMEM. */
enum fr_status fr__hybrid_ends_time(struct fr__ends_sum *out, struct fr__placer *pl,
                                    const struct fr__hybrid_options *o,
                                    const struct fr__hybrid_graph *g,
                                    const struct fr__hybrid_ranks *r, struct fr_error *err);

#endif
