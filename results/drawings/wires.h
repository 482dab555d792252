/* results/drawings/wires.h - lines of a drawn cluster: paths as graphviz has them, and the way of a
 * line past what it does not touch. */
#ifndef FR_RESULTS_DRAWINGS_WIRES_H
#define FR_RESULTS_DRAWINGS_WIRES_H

#include "results/drawings/topo.h"

#include <stdio.h>

/* "x,y", in points. */
void fr__wire_position(FILE *f, double x, double y);

/* The attribute pos: n points joined by straight lines, or the four of one curve. */
void fr__wire_path(FILE *f, const double (*points)[2], size_t n, bool is_curve);

/* The attribute pos of a line between two spots where the straight one would pass behind a third:
 * from edge to edge, else along a line between their rows. Nothing where the straight one will
 * do. */
void fr__wire_past(FILE *f, const struct fr__layout *l, const struct fr__spot *a,
                   const struct fr__spot *b);
#endif
