/* results/data/search.h - every layout of a search as CSV; as JSON: fr_search_print_json. */
#ifndef FR_RESULTS_DATA_SEARCH_H
#define FR_RESULTS_DATA_SEARCH_H

#include "results/search_answer.h"

/* A line of column names, and a line for each layout with what became of it. */
void fr__search_write_csv(FILE *f, const struct fr_search_results *r);
/* Of several clusters: their topology and GPUs come first. */
void fr__search_write_clusters_csv(FILE *f, size_t n, const struct fr_search_results r[]);
#endif
