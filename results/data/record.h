/* results/data/record.h - records as files for programs; as JSON: fr_results_print_json. */
#ifndef FR_RESULTS_DATA_RECORD_H
#define FR_RESULTS_DATA_RECORD_H

#include "results/results.h"

/* A line of column names, and a line for each record. */
void fr__results_write_csv(FILE *f, const struct fr_results *rs);
/* The timeline of the first record for ui.perfetto.dev. FR_EUSAGE: it has no plan or run; what
 * fr__trace_choose says; FR_ECANCELLED, FR_ENOMEM. */
enum fr_status fr__results_write_trace(FILE *f, const struct fr_results *rs,
                                       const struct fr_context *ctx, struct fr_error *err);
/* The first record's stages as PipeDream's profile with a stage_id a layer. FR_EUSAGE: its strategy
 * has none. */
enum fr_status fr__results_write_profile(FILE *f, const struct fr_results *rs,
                                         struct fr_error *err);
#endif
