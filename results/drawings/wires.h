/* results/drawings/wires.h - the way of a line past what it does not touch. */
#ifndef FR_RESULTS_DRAWINGS_WIRES_H
#define FR_RESULTS_DRAWINGS_WIRES_H

#include "results/drawings/topo.h"

/* Gives a wire between two spots its way where the straight one would pass behind a third: from
 * edge to edge, else along a line between their rows. Nothing where the straight one will do. */
void fr__wire_past(struct fr__wire *w, const struct fr__layout *l, const struct fr__spot *a,
                   const struct fr__spot *b);
#endif
