/* results/drawings/explain.h - the graph of an explained plan, coloured by device. */
#ifndef FR_RESULTS_DRAWINGS_EXPLAIN_H
#define FR_RESULTS_DRAWINGS_EXPLAIN_H

#include "results/draw.h"
#include "results/parts/explanation.h"

/* FR_EUSAGE: too many layers; FR_ENOMEM. */
enum fr_status fr__explain_graph(struct fr_drawing **out, const struct fr_explanation *e,
                                 struct fr_error *err);
#endif
