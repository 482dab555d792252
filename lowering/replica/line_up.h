/* lowering/replica/line_up.h - devices in a line in which neighbours are well joined, for
 * pipelines.
 *
 * The line is the widest ring that collectives would use over the devices (fr_topo_rings), opened
 * where it is narrowest, if its hops are wider in all than those of the devices in rank order: on a
 * hybrid cube mesh not all ranks that follow each other have a link. Wider: the sum of the time
 * that a byte takes alone over each hop, as its links say or as measured, is less. Where all are
 * joined alike, ranks stay in order.
 */
#ifndef FR_LOWERING_REPLICA_LINE_UP_H
#define FR_LOWERING_REPLICA_LINE_UP_H

#include "lowering/placer.h"

/* line: [pl->in->n_devices] the problem's devices, each once; says in the log when it is not their
 * order by rank. FR_ENOMEM. Cost: that of fr_topo_rings. */
enum fr_status fr__line_up(struct fr__placer *pl, uint32_t line[], struct fr_error *err);

#endif
