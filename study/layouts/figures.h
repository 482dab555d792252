/* study/layouts/figures.h - the figures of a layout that a search went through. */
#ifndef FR_STUDY_LAYOUTS_FIGURES_H
#define FR_STUDY_LAYOUTS_FIGURES_H

#include "base/figures.h"
#include "study/layouts/search.h"

/* Of a struct fr_search_row, in the order of CSV. */
extern const struct fr_figure fr__layout_figures[];
#endif
