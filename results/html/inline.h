/* results/html/inline.h - a chart as SVG inside a page, whose script zooms and shows hints. */
#ifndef FR_RESULTS_HTML_INLINE_H
#define FR_RESULTS_HTML_INLINE_H

#include "results/charts/chart.h"

/* Charts of a page share their width: names to the left of the plot, the axis of time below.
 * Heights are the chart's own: `above` and `below` its one panel. */
enum { FR__INLINE_LEFT = 110, FR__INLINE_PLOT = 1000, FR__INLINE_WIDTH = 1120 };

/* A chart of that size with one panel. NULL: out of memory. */
struct fr__chart *fr__inline_new(double above, double high, double below);

/* Writes the chart as an <svg class="chart"> element; label: trusted text for readers that cannot
 * see. A zoomed panel is an <svg class="zoom"> of its own, which the script stretches, with its
 * notes in a group that says how much closer they have room. FR_ENOMEM. Frees the chart. */
enum fr_status fr__inline_finish(struct fr__chart *c, FILE *f, const char *label,
                                 struct fr_error *err);

#endif
