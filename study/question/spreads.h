/* study/question/spreads.h - the settings of a question that say how unlike runs, GPUs and samples
 * are, and how much slower kernels are beside a collective.
 *
 * Each pair reads a setting from text and writes it as it is read (struct setting in question.c).
 */
#ifndef FR_STUDY_QUESTION_SPREADS_H
#define FR_STUDY_QUESTION_SPREADS_H

#include "study/question/software.h"

#define FR__SPREAD_SETTINGS(X)                                                                     \
    X(jitter) X(device_jitter) X(interference) X(gpu_variation) X(length_variation)
FR__SPREAD_SETTINGS(FR__QUESTION_SETTING)
#undef FR__SPREAD_SETTINGS

#endif
