/* results/pictures/difference.h - two answers over time, to one scale. */
#ifndef FR_RESULTS_PICTURES_DIFFERENCE_H
#define FR_RESULTS_PICTURES_DIFFERENCE_H

#include "results/results.h"

/* The picture to the end of f. ending: of fr__chart_has_ending. FR_EUSAGE: nothing takes time;
 * FR_EIO: no gnuplot; FR_ENOMEM; FR_ECANCELLED. */
enum fr_status fr__draw_difference(FILE *f, const struct fr_difference *d, const char *ending,
                                   const struct fr_context *ctx, struct fr_error *err);
#endif
