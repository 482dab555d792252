/* study/recipe_fit/figures.h - the figures of a fitted recipe. */
#ifndef FR_STUDY_RECIPE_FIT_FIGURES_H
#define FR_STUDY_RECIPE_FIT_FIGURES_H

#include "base/figures.h"

extern const struct fr_figure fr__recipe_fit_figures[]; /* of struct fr_recipe_fit */
#endif
