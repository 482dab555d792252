/* results/data/validate.h - the rows of a validation as CSV; as JSON: fr_validation_print_json. */
#ifndef FR_RESULTS_DATA_VALIDATE_H
#define FR_RESULTS_DATA_VALIDATE_H

#include "results/results.h"

/* A line of column names, and a line for each row with its prediction. */
void fr__validation_write_csv(FILE *f, const struct fr_validation *v);
#endif
