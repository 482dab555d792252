/* results/parts/lanes.h - what pictures of a run share: the kinds of work they tell apart, and
 * which devices they show. */
#ifndef FR_RESULTS_PARTS_LANES_H
#define FR_RESULTS_PARTS_LANES_H

#include "results/results.h"

enum fr__category {
    FR__FORWARD,
    FR__FORWARD_ODD, /* odd micro-batches, lighter, so that neighbours can be told apart */
    FR__DATA,
    FR__DATA_ODD,
    FR__WEIGHT,
    FR__WEIGHT_ODD,
    FR__UPDATE,
    FR__OTHER,
    FR__COLLECTIVE,
    FR__SEND,
    FR__RECV,
    FR__N_CATEGORIES
};
enum fr__category fr__category_of(const struct fr_task *task);
/* The same for even and odd micro-batches. */
enum fr__category fr__category_even(enum fr__category c);
/* "forward", or "task" of tasks on machines without hardware; "send" and "receive" apart. */
const char *fr__category_title(const struct fr_record *r, enum fr__category c);
const char *fr__category_colour(enum fr__category c);

/* The colour of text on "#RRGGBB": white, or nearly black, whichever is read more easily. */
const char *fr__ink_on(const char *colour);

/* Busy devices in the record's order, evenly chosen where there are more than max; shown: [max].
 * Returns how many; *n_busy: of how many. */
size_t fr__shown_devices(const struct fr_record *r, size_t max, uint32_t shown[], size_t *n_busy);

/* Which lane a device has: shown[lane], or n when it is not shown. */
size_t fr__lane_of(const uint32_t shown[], size_t n, uint32_t device);
#endif
