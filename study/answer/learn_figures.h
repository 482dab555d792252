/* study/answer/learn_figures.h - the figures of learning costs: keys, and how they are read. */
#ifndef FR_STUDY_ANSWER_LEARN_FIGURES_H
#define FR_STUDY_ANSWER_LEARN_FIGURES_H

#include "base/figures.h"
#include "study/answer/learn.h"

/* Of a struct fr_learning, and of one round. */
extern const struct fr_figure fr__learn_figures[], fr__learn_round_figures[];
#endif
