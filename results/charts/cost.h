/* results/charts/cost.h - the points of a sweep, cost against time, described once: on logarithmic
 * axes, coloured by the first setting that varies, the frontier joined.
 *
 * The picture of a sweep has a panel a workload, its page a chart.
 */
#ifndef FR_RESULTS_CHARTS_COST_H
#define FR_RESULTS_CHARTS_COST_H

#include "results/charts/chart.h"
#include "results/parts/palette.h"

struct fr__cost {
    const struct fr_sweep *sweep;
    const struct fr_sweep_summary *summary;
    size_t settings[FR_N_SETTINGS], n_settings; /* that vary */
    size_t group;                               /* whose points are shown */
    double factor;                              /* seconds to the unit of the axis */
    size_t n_points;                            /* with a cost */
};

/* Chooses the unit for the group; sets the axes of an empty panel from the least to the largest
 * values, or both to 1 where none has a cost. */
void fr__cost_begin(struct fr__cost *c, size_t group, struct fr__panel *p);
/* Room at the axis's ends: at the low one that power of what it is at the high one. */
void fr__cost_widen(struct fr__chart_axis *a, double low_power);
/* Those points, at most `most`, and the frontier, called so in the key (NULL: not). Shapes are by
 * the second setting, if it has few values. Returns how many are shown. */
size_t fr__cost_put(const struct fr__cost *c, struct fr__panel *p, size_t most, double size,
                    const char *frontier);
/* Whether shapes are by the second setting. */
bool fr__cost_has_shapes(const struct fr__cost *c);
#endif
