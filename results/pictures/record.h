/* results/pictures/record.h - the charts of records. */
#ifndef FR_RESULTS_PICTURES_RECORD_H
#define FR_RESULTS_PICTURES_RECORD_H

#include "results/charts/chart.h"

/* ending: ".png", ".svg" or ".pdf". FR_EUSAGE: one record without plan or run, or nothing takes
 * time; FR_EIO: gnuplot is missing or failed; FR_ECANCELLED, FR_ENOMEM. */
enum fr_status fr__draw_results(FILE *picture, const struct fr_results *rs, const char *ending,
                                const struct fr_context *ctx, struct fr_error *err);

/* The timeline of one run over its memory. FR_EUSAGE: nothing takes time; FR_ENOMEM. */
enum fr_status fr__chart_timeline(struct fr__chart *c, const struct fr_record *r,
                                  struct fr_error *err);
/* Times and memory of several strategies. */
void fr__chart_comparison(struct fr__chart *c, const struct fr_results *rs);
#endif
