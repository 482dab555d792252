/* results/text/search.h - what tables of searches share. */
#ifndef FR_RESULTS_TEXT_SEARCH_H
#define FR_RESULTS_TEXT_SEARCH_H

#include "results/parts/search_price.h"
#include "results/text/table.h"

void fr__search_cell_price(char cell[FR__TABLE_CELL], double price);

#endif
