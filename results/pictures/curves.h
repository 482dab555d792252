/* results/pictures/curves.h - a collective's curves over the size, and its messages round by
 * round, by gnuplot. */
#ifndef FR_RESULTS_PICTURES_CURVES_H
#define FR_RESULTS_PICTURES_CURVES_H

#include "results/comm_table.h"
#include "results/results.h"

/* ending: ".svg", ".png" or ".pdf". FR_EIO: no gnuplot, or it failed; FR_ECANCELLED. */
enum fr_status fr__draw_curves(FILE *picture, struct fr_comm_table *const t[], size_t n,
                               const char *ending, const struct fr_context *ctx,
                               struct fr_error *err);
/* FR_EUSAGE: no messages, or too many to be told apart. */
enum fr_status fr__draw_steps(FILE *picture, const struct fr_comm_story *s, const char *ending,
                              const struct fr_context *ctx, struct fr_error *err);
#endif
