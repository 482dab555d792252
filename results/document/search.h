/* results/document/search.h - what tables of searches share. */
#ifndef FR_RESULTS_DOCUMENT_SEARCH_H
#define FR_RESULTS_DOCUMENT_SEARCH_H

#include "results/parts/search_price.h"
#include "results/parts/table.h"

void fr__search_cell_price(char cell[FR__TABLE_CELL], double price);
/* How long a training run takes by an iteration of s seconds: "12.5 days", with ", late" behind the
 * deadline. */
void fr__search_days_cell(char cell[FR__TABLE_CELL], const struct fr_search_results *r, double s);

#endif
