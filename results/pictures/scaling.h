/* results/pictures/scaling.h - how a sweep scales with the number of GPUs. */
#ifndef FR_RESULTS_PICTURES_SCALING_H
#define FR_RESULTS_PICTURES_SCALING_H

#include "results/results.h"

/* Throughput against GPUs with what would be ideal, and beside it the efficiency; a line for each
 * question that was asked on several numbers of GPUs, at most eight. ending: ".png", ".svg" or
 * ".pdf". FR_EUSAGE: nothing fits on several numbers of GPUs; FR_EIO, FR_ENOMEM, FR_ECANCELLED. */
enum fr_status fr__draw_scaling(FILE *picture, const struct fr_sweep *s,
                                const struct fr_sweep_summary *m, const char *ending,
                                const struct fr_context *ctx, struct fr_error *err);
#endif
