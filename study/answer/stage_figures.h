/* study/answer/stage_figures.h - the figures of a plan of stages: keys, titles, how they are
 * read. */
#ifndef FR_STUDY_ANSWER_STAGE_FIGURES_H
#define FR_STUDY_ANSWER_STAGE_FIGURES_H

#include "base/figures.h"
#include "lowering/stage_plan.h"

/* Of a struct fr_stage_plan; of a stage, read from an union fr_item whose pointers are the plan and
 * its struct fr_stage. */
extern const struct fr_figure fr__stage_plan_figures[], fr__stage_figures[];
#endif
