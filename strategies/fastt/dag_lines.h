/* strategies/fastt/dag_lines.h - messages of a planned dag wait in line for their pair of devices.
 *
 * Messages that are all sent as soon as they are made share the links, so that the first that is
 * needed arrives as late as the last: of the parameters of a model, all arrive when the slowest
 * does. Here the messages from one device to another are sent in the order of the plan, two at a
 * time, so that the second hides the latency of the first. Parameters count from the operation that
 * reads them first, everything else from the operation that makes it.
 *
 * That order is one of the whole plan. So a wait in line never closes a circle.
 */
#ifndef FR_STRATEGIES_FASTT_DAG_LINES_H
#define FR_STRATEGIES_FASTT_DAG_LINES_H

#include "strategies/fastt/dag.h"

/* device: [n_ops]; order: [n_ops] the plan's; both must outlive *out. All memory comes from the
 * placer's arena. FR_ENOMEM. */
struct fr__dag_lines;
enum fr_status fr__dag_lines_new(struct fr__dag_lines **out, struct fr__placer *pl,
                                 const struct fr__dag *dag, const uint32_t device[],
                                 const uint32_t order[], struct fr_error *err);
/* A message of what the edge carries. */
void fr__dag_lines_add(struct fr__dag_lines *l, uint32_t edge, uint32_t send, uint32_t recv);
/* The reader of another edge reads the message too. */
void fr__dag_lines_read(struct fr__dag_lines *l, uint32_t edge, uint32_t recv);
/* Adds the waits to the plan, when all messages are there. Cost: O(n log n) of n messages. */
void fr__dag_lines_join(struct fr__dag_lines *l);
#endif
