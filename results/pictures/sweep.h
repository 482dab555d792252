/* results/pictures/sweep.h - a sweep as a picture: time against cost, and the frontier. */
#ifndef FR_RESULTS_PICTURES_SWEEP_H
#define FR_RESULTS_PICTURES_SWEEP_H

#include "results/results.h"

/* A panel a workload, at most nine; a point a row that fits, coloured by the first setting that
 * varies, the frontier joined and named. ending: ".png", ".svg" or ".pdf". FR_EIO: gnuplot is
 * missing or failed; FR_ECANCELLED. */
enum fr_status fr__draw_sweep(FILE *picture, const struct fr_sweep *s,
                              const struct fr_sweep_summary *m, const char *ending,
                              const struct fr_context *ctx, struct fr_error *err);
#endif
