/* results/parts/cells.h - numbers and names from outside as the cells of several tables. */
#ifndef FR_RESULTS_PARTS_CELLS_H
#define FR_RESULTS_PARTS_CELLS_H

#include "base/figures.h"
#include "results/parts/table.h"

/* "31.1 %"; returns buf. */
const char *fr__percent(double frac, char *buf, size_t n);
/* "+25.0 %", "-6.2 %" */
void fr__change_cell(char cell[FR__TABLE_CELL], double frac);
/* A rate with four digits, more only before the point. */
void fr__rate_cell(char cell[FR__TABLE_CELL], double per_s);
/* How far a time is above its lower bound, "+3.1 %"; nothing without a bound. */
void fr__gap_cell(char cell[FR__TABLE_CELL], double time_s, double bound_s);
/* "68.0 ms to 104 ms"; empty where nothing is claimed. */
void fr__range_cell(char cell[FR__TABLE_CELL], double low_s, double high_s);

/* A figure, in the unit that its key ends with: a time (in no unit where is_plain), bytes, a rate,
 * else a share; a count as it is. */
void fr__figure_cell(char cell[FR__TABLE_CELL], const struct fr_figure *f, const struct fr_value *v,
                     bool is_plain);
#endif
