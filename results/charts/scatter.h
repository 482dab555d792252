/* results/charts/scatter.h - predicted against measured: what validations and fits share. */
#ifndef FR_RESULTS_CHARTS_SCATTER_H
#define FR_RESULTS_CHARTS_SCATTER_H

#include "results/charts/chart.h"

/* Both axes of an empty panel logarithmic from low to high, a line where both agree, and dashed
 * ones 10 % off. */
void fr__scatter_begin(struct fr__panel *p, double low, double high, const char *x_label,
                       const char *y_label);
/* The same lines over another x axis: at 1, and 10 % off, for ratios. */
void fr__scatter_ratios(struct fr__panel *p);
#endif
