/* results/pictures/sweep.h - a sweep as a picture: time against cost, and the frontier. */
#ifndef FR_RESULTS_SWEEP_PLOT_H
#define FR_RESULTS_SWEEP_PLOT_H

#include "results/results.h"

#include <stdio.h>

/* A panel a workload, at most nine; a point a row that fits, coloured by the first setting that
 * varies, the frontier joined and named. */
void fr__plot_sweep(FILE *script, const struct fr_sweep *s, const struct fr_sweep_summary *m);
#endif
