/* results/data/learn.h - rounds of learning as CSV; as JSON: fr_learning_print_json. */
#ifndef FR_RESULTS_DATA_LEARN_H
#define FR_RESULTS_DATA_LEARN_H

#include "results/results.h"

/* A line of column names, and a line for each round. */
void fr__learning_write_csv(FILE *f, const struct fr_learning *l);
#endif
