/* topo/plausible.h - whether a cluster could exist. */
#ifndef FR_TOPO_PLAUSIBLE_H
#define FR_TOPO_PLAUSIBLE_H

#include "topo/topo.h"

/* Refuses devices and links with figures that no machine has, whatever they were read from: a unit
 * that was left out or a column that was mistaken gives an answer otherwise. The sentence says
 * which figure, the limit and the way round, --allow-implausible. FR_ERANGE. */
enum fr_status fr__topo_plausible(const struct fr_topo *t, struct fr_error *err);
#endif
