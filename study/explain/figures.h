/* study/explain/figures.h - the figures of an explanation: keys, and how they are read. */
#ifndef FR_STUDY_EXPLAIN_FIGURES_H
#define FR_STUDY_EXPLAIN_FIGURES_H

#include "base/figures.h"
#include "study/explain/kept.h"

/* Of a struct fr_explanation whose ops are not split over a mesh. */
extern const struct fr_figure fr__explanation_figures[];
#endif
