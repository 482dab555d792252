/* results/pictures/learn.h - rounds of learning as a picture. */
#ifndef FR_RESULTS_PICTURES_LEARN_H
#define FR_RESULTS_PICTURES_LEARN_H

#include "results/results.h"

/* Estimated and measured times by round. Steps show the strategy in use; marks show strategies that
 * were rolled back or ran out of memory; profiles after pre-training have a grey ground. ending:
 * ".png", ".svg" or ".pdf". FR_EIO: gnuplot is missing or failed; FR_ECANCELLED. */
enum fr_status fr__draw_learning(FILE *picture, const struct fr_learning *l, const char *ending,
                                 const struct fr_context *ctx, struct fr_error *err);
#endif
