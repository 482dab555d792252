/* study/validate/anchored.h - rows of several GPUs with their source's one-GPU row as an anchor. */
#ifndef FR_STUDY_VALIDATE_ANCHORED_H
#define FR_STUDY_VALIDATE_ANCHORED_H

#include "study/validate/rows.h"

/* Gives each row's question the measured step of its one-GPU row, see fr_validate_anchored; a row
 * without one, and of one GPU, gets a why_not. FR_ENOMEM. Cost: O(rows^2). */
enum fr_status fr__measurements_anchor(struct fr__measurements *m, struct fr_error *err);

#endif
