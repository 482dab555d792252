/* results/pictures/validate.h - a validation as a picture. */
#ifndef FR_RESULTS_PICTURES_VALIDATE_H
#define FR_RESULTS_PICTURES_VALIDATE_H

#include "results/results.h"

/* Measured against predicted on logarithmic axes, with lines at 10 % off. ending: ".png", ".svg" or
 * ".pdf". FR_ENOENT: no row is predicted; FR_EIO: gnuplot is missing or failed; FR_ECANCELLED. */
enum fr_status fr__draw_validation(FILE *picture, const struct fr_validation *v, const char *ending,
                                   const struct fr_context *ctx, struct fr_error *err);
/* Step times over the batch, a panel for each software, workload and precision; the dozen that is
 * furthest off. The same errors; FR_ENOENT: no rows differ in their batch alone. */
enum fr_status fr__draw_validation_split(FILE *picture, const struct fr_validation *v,
                                         const char *ending, const struct fr_context *ctx,
                                         struct fr_error *err);
#endif
