/* study/validate/summary.h - sums up the errors of a validation. */
#ifndef FR_STUDY_VALIDATE_SUMMARY_H
#define FR_STUDY_VALIDATE_SUMMARY_H

#include "base/arena.h"
#include "study/validate/validate.h"

/* Fills all but rows, n_rows and priv. Texts and groups come from the arena. */
enum fr_status fr__validation_summarise(struct fr_validation *v, struct fr__arena *arena,
                                        struct fr_error *err);
#endif
