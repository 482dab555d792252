/* results/parts/search_price.h - what a training run costs by a layout of a search. */
#ifndef FR_RESULTS_PARTS_SEARCH_PRICE_H
#define FR_RESULTS_PARTS_SEARCH_PRICE_H

#include "results/parts/table.h"
#include "results/results.h"

/* Samples of the whole run: what the user said, or a million. */
double fr__search_run_samples(const struct fr_search_results *r);
/* Whether its machines have a price. */
bool fr__search_has_price(const struct fr_search_results *r);
/* How long the run takes by an iteration of s seconds. */
double fr__search_run_s(const struct fr_search_results *r, double s);
/* The run in USD, without a price in GPU hours; s: of an iteration. */
double fr__search_price(const struct fr_search_results *r, double s);
const char *fr__search_price_title(const struct fr_search_results *r);
void fr__search_price_cell(char cell[FR__TABLE_CELL], double price);
/* How long the run takes by an iteration of s seconds: "12.5 days", with ", late" behind the
 * deadline. */
void fr__search_days_cell(char cell[FR__TABLE_CELL], const struct fr_search_results *r, double s);

/* A row of one of several searches. */
struct fr__search_point {
    size_t search, row;
    double time_s, bytes, price;
};
/* Of several searches the rows at the coarse fidelity that none of any other search or row beats in
 * time, memory and price, the fastest first: *out from malloc, [*n]. FR_ENOMEM. */
enum fr_status fr__search_frontier(struct fr__search_point **out, size_t *n, size_t n_searches,
                                   const struct fr_search_results r[], struct fr_error *err);

#endif
