/* lowering/dag/lines.h - messages of a planned dag wait in line for their pair of devices, or
 * for their links.
 *
 * Messages that are all sent as soon as they are made share the links, so that the first that is
 * needed arrives as late as the last: of the parameters of a model, all arrive when the slowest
 * does. Here the messages from one device to another are sent in the order of the plan, two at a
 * time, so that the second hides the latency of the first. Parameters count from the operation that
 * reads them first, everything else from the operation that makes it.
 *
 * All messages of all pairs have one order: by that operation, then by what they carry, then a
 * message before its second part. No message waits for a later one, so no wait closes a circle.
 *
 * A planner that gave messages slots of time on their links (struct fr__link_map) may have them
 * keep that order where pairs share a link: several GPUs their machine's network card. Then a
 * message waits, on each of its links, for the last one before it that the link held up, which is
 * one with no slower link on its way. All messages have the order in which their slots begin. What
 * a message depends on, it begins after, so that no wait closes a circle here either.
 */
#ifndef FR_LOWERING_DAG_LINES_H
#define FR_LOWERING_DAG_LINES_H

#include "lowering/dag/dag.h"
#include "lowering/dag/shared_links.h"

/* When messages were planned to arrive. Arrays belong to the caller. */
struct fr__dag_turns {
    const struct fr__link_map *links;
    /* [n_edges] on the reader's device, and on the device that it goes by; NAN: not sent */
    const double *there_s, *between_s;
};

/* n_messages: at most so many are added. All memory comes from the placer's arena. *placed and its
 * arrays must outlive it. FR_ENOMEM. */
struct fr__dag_lines;
struct fr__placed_dag;
enum fr_status fr__dag_lines_new(struct fr__dag_lines **out, struct fr__placer *pl,
                                 const struct fr__placed_dag *placed, size_t n_messages,
                                 struct fr_error *err);
/* A message of what the edge carries, or a part of its way. */
struct fr__dag_message {
    uint32_t src, dst; /* index among the problem's devices */
    uint32_t edge, send, recv;
    unsigned hop; /* 1: what was received by another device goes on */
};
void fr__dag_lines_add(struct fr__dag_lines *l, const struct fr__dag_message *m);
/* Adds the waits to the plan, when all messages are there. Cost: O(n log n) of n messages. */
enum fr_status fr__dag_lines_join(struct fr__dag_lines *l, struct fr_error *err);
#endif
