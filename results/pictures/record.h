/* results/pictures/record.h - the scripts for gnuplot that draw records. */
#ifndef FR_RESULTS_PICTURES_RECORD_H
#define FR_RESULTS_PICTURES_RECORD_H

#include "results/pictures/plot.h"

/* The timeline of one run over its memory. FR_ENOMEM. */
enum fr_status fr__plot_timeline(FILE *script, const struct fr_record *r,
                                 const struct fr__plot_frame *frame, struct fr_error *err);
/* Times and memory of several strategies. FR_ENOMEM. */
enum fr_status fr__plot_comparison(FILE *script, const struct fr_results *rs, struct fr_error *err);
#endif
