/* results/data/difference.h - a difference of two answers as an object of JSON. */
#ifndef FR_RESULTS_DATA_DIFFERENCE_H
#define FR_RESULTS_DATA_DIFFERENCE_H

#include "base/json.h"
#include "results/results.h"

/* The object, into an array or to the top of j. */
void fr__difference_write_json(struct fr__json *j, const struct fr_difference *d);
#endif
