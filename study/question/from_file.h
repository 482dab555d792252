/* study/question/from_file.h - what a question that stands in a file may not ask for. */
#ifndef FR_STUDY_QUESTION_FROM_FILE_H
#define FR_STUDY_QUESTION_FROM_FILE_H

#include "study/study.h"

/* For a question whose settings were read from a file: refuses strategies that are shared objects,
 * also that of a measured step ("412ms@8:./mine.so"). Nothing is loaded by looking. A table of
 * measured steps looks at its own rows. FR_EUSAGE, at loc. */
enum fr_status fr__question_from_file(const struct fr_question *q, struct fr_loc loc,
                                      struct fr_error *err);
#endif
