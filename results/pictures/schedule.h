/* results/pictures/schedule.h - pipeline schedules over time, as the papers draw them. */
#ifndef FR_RESULTS_PICTURES_SCHEDULE_H
#define FR_RESULTS_PICTURES_SCHEDULE_H

#include "results/schedules.h"

/* One panel below the other, in one scale; a row a rank, a box an action. ending: ".png", ".svg" or
 * ".pdf". FR_EUSAGE: too many rows to be read; FR_EIO: gnuplot is missing or failed;
 * FR_ECANCELLED. */
enum fr_status fr__schedules_draw(FILE *picture, const struct fr_timed_schedule all[], size_t n,
                                  const char *ending, const struct fr_context *ctx,
                                  struct fr_error *err);
#endif
