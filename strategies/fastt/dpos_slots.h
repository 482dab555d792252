/* strategies/fastt/dpos_slots.h - when devices are free, indexed by time.
 *
 * The free intervals of a device are kept in order, those of no length between two neighbours too, in
 * blocks of at most FR__SLOTS_BLOCK that know the longest of theirs. A search bisects to the moment
 * asked for and then skips every block in which nothing is long enough.
 *
 * Cost: find and add O(log n + n / FR__SLOTS_BLOCK) at worst, n the operations on the device; what
 * begins near the end, as most do, costs the logarithm. Adds are undone last first, which leaves no
 * trace: the same blocks with the same content.
 */
#ifndef FR_STRATEGIES_FASTT_DPOS_SLOTS_H
#define FR_STRATEGIES_FASTT_DPOS_SLOTS_H

#include <stdbool.h>
#include <stddef.h>

enum { FR__SLOTS_BLOCK = 64 };

struct fr__slots;

/* Room for n_adds adds, over all devices, after each reset. NULL: out of memory. */
struct fr__slots *fr__slots_new(size_t n_devices, size_t n_adds);
void fr__slots_free(struct fr__slots *s);
/* All devices free from 0 on. */
void fr__slots_reset(struct fr__slots *s);

/* The first moment, not before ready_s, from which the device is free for length_s:
 * max(begin, ready_s) + length_s <= end. */
double fr__slots_find(const struct fr__slots *s, size_t device, double ready_s, double length_s);
/* The end of the last interval taken: where an op goes that must not be inserted. */
double fr__slots_end(const struct fr__slots *s, size_t device);
/* Takes [begin_s, end_s], which must be free. */
void fr__slots_add(struct fr__slots *s, size_t device, double begin_s, double end_s);
/* How many adds there were since the reset, but for those undone. */
size_t fr__slots_n_adds(const struct fr__slots *s);
/* Undoes the last adds, so that n are left. Cost: constant an add. */
void fr__slots_undo(struct fr__slots *s, size_t n);
#endif
