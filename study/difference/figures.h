/* study/difference/figures.h - the figures of a difference of two answers. */
#ifndef FR_STUDY_DIFFERENCE_FIGURES_H
#define FR_STUDY_DIFFERENCE_FIGURES_H

#include "base/figures.h"
#include "study/difference/difference.h"

/* Of a struct fr_difference: the answers and settings; behind the parts of the time, the pieces.
 * Of a struct fr_difference_row. */
extern const struct fr_figure fr__difference_figures[], fr__difference_pieces_figures[],
    fr__difference_row_figures[];
#endif
