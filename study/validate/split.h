/* study/validate/split.h - which part of a step is off: what grows with the batch, what does not,
 * what GPUs add, what a precision saves. */
#ifndef FR_STUDY_VALIDATE_SPLIT_H
#define FR_STUDY_VALIDATE_SPLIT_H

#include "base/arena.h"
#include "study/validate/validate.h"

/* Fills lines, changes and software of v from its rows. All comes from the arena. FR_ENOMEM. */
enum fr_status fr__validation_split(struct fr_validation *v, struct fr__arena *arena,
                                    struct fr_error *err);
#endif
