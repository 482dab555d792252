/* results/document/sweep_points.h - points of a sweep as a table, a row each. */
#ifndef FR_RESULTS_DOCUMENT_SWEEP_POINTS_H
#define FR_RESULTS_DOCUMENT_SWEEP_POINTS_H

#include "results/document/document.h"
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
void fr__sweep_put_points(struct fr__document *doc, const struct fr__sweep_points *p);
/* The same of points that are out of memory: what they need, have and lack. */
void fr__sweep_put_oom(struct fr__document *doc, const struct fr__sweep_points *p);
#endif
