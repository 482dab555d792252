/* study/validate/figures.h - the figures of a validation and of its rows. */
#ifndef FR_STUDY_VALIDATE_FIGURES_H
#define FR_STUDY_VALIDATE_FIGURES_H

#include "base/figures.h"
#include "study/validate/validate.h"

/* Of struct fr_validation, and of struct fr_validation_row. */
extern const struct fr_figure fr__validation_figures[], fr__validation_row_figures[];
#endif
