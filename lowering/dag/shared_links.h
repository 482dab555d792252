/* lowering/dag/shared_links.h - links as resources with slots of time, which messages share.
 *
 * The paper's planner believes that a message has its links to itself. Here a message of b bytes
 * first passes its latency, which takes no bandwidth. Then it takes a slot of b / bandwidth on each
 * link of its way, from the first moment on at which all of these are free for so long. So
 * messages of several pairs that share a PCIe switch, the link between two sockets or a network
 * card wait for each other. A message that goes by a third device is received there before it is
 * sent on. Slots are taken message by message, into gaps too.
 *
 * Source:  O. Sinnen, L. Sousa, "Communication contention in task scheduling", IEEE TPDS 16(6),
 *          2005: messages are scheduled on links as tasks are on processors, with insertion. Times
 *          of a message alone: sim/network/alone.h.
 * Ignores: the order of messages of a link. The engine gives all messages under way a share, so
 *          that the first takes longer than here and the last takes as long.
 *
 * Cost:    O(log n + busy intervals passed) a link to find a slot, O(n) to take it, n being the
 *          busy intervals of the link. Intervals that touch are one.
 */
#ifndef FR_LOWERING_DAG_SHARED_LINKS_H
#define FR_LOWERING_DAG_SHARED_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Arrays belong to the caller. Pairs are source * n_devices + destination. */
struct fr__link_map {
    size_t n_devices, n_links;
    const double *link_s_per_byte; /* [n_links] 1 / bandwidth */
    const uint32_t *first, *links; /* [n_devices^2 + 1]: the links of each pair's straight way */
    /* [n_devices^2] of the straight way: what passes before the bytes take the links. The second is
     * what a measured message takes a byte beyond the narrowest link. */
    const double *latency_s, *extra_s_per_byte;
    const uint32_t *via; /* [n_devices^2] the device by which messages go; FR_NONE: straight */
};

struct fr__link_times;

/* Keeps *m, which must outlive it. NULL: out of memory. All links are free. */
struct fr__link_times *fr__link_times_new(const struct fr__link_map *m);
void fr__link_times_free(struct fr__link_times *t);
/* Makes all links free. */
void fr__link_times_reset(struct fr__link_times *t);

/* When a message arrives that is made at made_s, if it goes straight. Its slots are taken for the
 * messages tried after it, until fr__link_times_drop or fr__link_times_keep. */
double fr__link_times_try(struct fr__link_times *t, uint32_t src, uint32_t dst, uint64_t bytes,
                          double made_s);
/* Gives back, or takes for good, the slots of all messages tried since the last of these two. */
void fr__link_times_drop(struct fr__link_times *t);
void fr__link_times_keep(struct fr__link_times *t);
/* Number of slots taken for good since the reset, without those given back. */
size_t fr__link_times_n_kept(const struct fr__link_times *t);
/* Gives back the slots that were kept last, so that n are left. Cost: as to take them. */
void fr__link_times_undo(struct fr__link_times *t, size_t n);

/* Whether memory ran out since the reset: answers since then are of no use. */
bool fr__link_times_failed(const struct fr__link_times *t);
#endif
