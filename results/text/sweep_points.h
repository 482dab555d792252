/* results/text/sweep_points.h - points of a sweep as a table, a row each. */
#ifndef FR_RESULTS_TEXT_SWEEP_POINTS_H
#define FR_RESULTS_TEXT_SWEEP_POINTS_H

#include "results/results.h"

struct fr__sweep_points {
    const struct fr_sweep *sweep;
    const struct fr_sweep_summary *summary;
    const struct fr_sweep_table *wanted;
    const size_t *points;      /* [n] */
    const char *const *labels; /* [n]; NULL: the workloads */
    size_t n;
    const char *label_title;
};

/* A label, the settings that vary, and what came of each point. */
void fr__sweep_put_points(FILE *f, const struct fr__sweep_points *p);
/* The same of points that are out of memory: what they need, have and lack. */
void fr__sweep_put_oom(FILE *f, const struct fr__sweep_points *p);
#endif
