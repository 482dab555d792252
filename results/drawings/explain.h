/* results/drawings/explain.h - the graph of an explained plan, coloured by device, as DOT text. */
#ifndef FR_RESULTS_DRAWINGS_EXPLAIN_H
#define FR_RESULTS_DRAWINGS_EXPLAIN_H

#include "results/parts/explanation.h"

/* *is_placed: neato is to draw it as placed, else dot. FR_EUSAGE: too many layers; FR_ENOMEM. */
enum fr_status fr__explain_graph(FILE *dot, const struct fr_explanation *e, bool *is_placed,
                                 struct fr_error *err);
#endif
