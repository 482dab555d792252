/* results/parts/microbatches.h - the numbers of micro-batches on a timeline. */
#ifndef FR_RESULTS_PARTS_MICROBATCHES_H
#define FR_RESULTS_PARTS_MICROBATCHES_H

#include "results/parts/lanes.h"
#include "results/results.h"

/* A run of tasks of one micro-batch in one direction: seconds of the run, lane of the picture. */
struct fr__microbatch {
    double from_s, to_s;
    size_t lane;
    uint32_t microbatch;
    enum fr__category category; /* of its first task */
};

/* All such runs on the lanes shown[n_shown] from from_s to to_s, where they are cut off. order: of
 * fr__tasks_by_lane. Runs so short beside the longest one that nobody takes them for a box are
 * left out. The caller frees *out; *n is 0 where there are more than most. FR_ENOMEM. */
enum fr_status fr__microbatches(const struct fr_record *r, const uint32_t order[],
                                const uint32_t shown[], size_t n_shown, double from_s, double to_s,
                                size_t most, struct fr__microbatch **out, size_t *n,
                                struct fr_error *err);

/* How many times wider a picture of pixels_per_s must be for each run to have room for its number
 * in digits of digit_pixels; at most 1: they have. 0: there are none. */
double fr__microbatches_zoom(const struct fr__microbatch list[], size_t n, double pixels_per_s,
                             double digit_pixels);
#endif
