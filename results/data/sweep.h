/* results/data/sweep.h - a sweep as CSV; as JSON: fr_sweep_print_json. */
#ifndef FR_RESULTS_DATA_SWEEP_H
#define FR_RESULTS_DATA_SWEEP_H

#include "results/results.h"

/* A line of column names, and a line for each row that the sweep has. */
void fr__sweep_write_csv(FILE *f, const struct fr_sweep *s, const struct fr_sweep_summary *m);
#endif
