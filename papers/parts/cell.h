/* papers/parts/cell.h - a figure of a reproduction with its unit, as people read it. */
#ifndef FR_PAPERS_CELL_H
#define FR_PAPERS_CELL_H

#include "papers/papers.h"
#include "results/parts/table.h"

/* "12.3 ms", "4.5 %", "1.07x" or the cell's own words; nothing for a number that is not there.
 * out: empty before. */
void fr__repro_cell_text(char out[FR__TABLE_CELL], const struct fr_repro_cell *c,
                         enum fr_unit unit);
#endif
