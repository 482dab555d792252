/* lowering/dag/slots.h - when devices are free, indexed by time.
 *
 * The free intervals of a device are kept in order, including those of no length between two
 * neighbours. They are in blocks of at most FR__SLOTS_BLOCK; a block knows its longest interval. A
 * search finds the block of the time asked for by bisection, and then skips each block whose
 * intervals are all too short.
 *
 * Adds are undone in reverse order, which restores the same blocks with the same content.
 *
 * Cost:    O(log n + n / FR__SLOTS_BLOCK) at worst to find and to add, n being the operations on
 *          the device. What begins near the end, as most operations do, costs O(log n).
 */
#ifndef FR_LOWERING_DAG_SLOTS_H
#define FR_LOWERING_DAG_SLOTS_H

#include <stdbool.h>
#include <stddef.h>

enum { FR__SLOTS_BLOCK = 64 };

struct fr__slots;

/* Makes room for n_adds adds, over all devices, after each reset. NULL: out of memory. */
struct fr__slots *fr__slots_new(size_t n_devices, size_t n_adds);
void fr__slots_free(struct fr__slots *s);
/* Makes all devices free from time 0 on. */
void fr__slots_reset(struct fr__slots *s);

/* The first time, not before ready_s, from which the device is free for length_s: max(begin,
 * ready_s) + length_s <= end. */
double fr__slots_find(const struct fr__slots *s, size_t device, double ready_s, double length_s);
/* The end of the last interval taken: where an op goes if it may not be inserted. */
double fr__slots_end(const struct fr__slots *s, size_t device);
/* Takes [begin_s, end_s], which must be free. */
void fr__slots_add(struct fr__slots *s, size_t device, double begin_s, double end_s);
/* Number of adds since the reset, without those undone. */
size_t fr__slots_n_adds(const struct fr__slots *s);
/* Undoes the last adds, so that n are left. Cost: constant for each add. */
void fr__slots_undo(struct fr__slots *s, size_t n);
#endif
