/* study/question/software.h - the settings of a question that say what software and hosts do beside
 * the model: fusions, layouts, launches, waits, input. They are apart from question.c because
 * recipes (study/recipes/recipe.h) set them.
 *
 * Each pair reads a setting from text and writes it as it is read (struct setting in question.c).
 */
#ifndef FR_STUDY_QUESTION_SOFTWARE_H
#define FR_STUDY_QUESTION_SOFTWARE_H

#include "study/study.h"

enum { FR__SETTING_VALUE = 192 }; /* room for a setting as text */

/* A recipe that nobody knows, or that cannot be read, is refused before anything runs. */
#define FR__SOFTWARE_SETTINGS(X)                                                                   \
    X(recipe)                                                                                      \
    X(fuse)                                                                                        \
    X(input_rate)                                                                                  \
    X(host_op)                                                                                     \
    X(host_sync)                                                                                   \
    X(host_step)                                                                                   \
    X(host_process)                                                                                \
    X(transport)                                                                                   \
    X(host_speed)                                                                                  \
    X(decode_rate)                                                                                 \
    X(host_cores)                                                                                  \
    X(layout)                                                                                      \
    X(tune)                                                                                        \
    X(power_limit)                                                                                 \
    X(update)
#define FR__QUESTION_SETTING(name)                                                                 \
    enum fr_status fr__set_##name(struct fr_question *q, const char *text, const char *what,       \
                                  struct fr_error *err);                                           \
    const char *fr__text_##name(const struct fr_question *q, char buf[FR__SETTING_VALUE]);
FR__SOFTWARE_SETTINGS(FR__QUESTION_SETTING)

/* Whether the question says of some part of a step what the host takes to launch it. */
bool fr__has_host_op(const struct fr_question *q);

#endif
