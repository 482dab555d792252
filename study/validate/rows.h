/* study/validate/rows.h - the file of measurements as rows with their questions. */
#ifndef FR_STUDY_VALIDATE_ROWS_H
#define FR_STUDY_VALIDATE_ROWS_H

#include "base/arena.h"
#include "study/validate/validate.h"

struct fr__measurement {
    struct fr_validation_row row;
    struct fr_question question; /* not asked if row.why_not is set */
};

struct fr__measurements {
    struct fr__measurement *list; /* heap */
    size_t n, cap;
    struct fr__arena *arena;               /* of the strings; belongs to the caller */
    const struct fr_validate_options *how; /* while rows are read; and */
    bool may_lack_time;                    /* measured_s is NAN where a cell is empty */
};

/* Appends the rows of path. A row whose settings we do not know gets a why_not; a cell that is
 * no number is an error. */
enum fr_status fr__measurements_read(struct fr__measurements *m, const char *path,
                                     struct fr_error *err);
#endif
