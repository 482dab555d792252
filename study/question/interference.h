/* study/question/interference.h - how much work slows other work on its GPU, as a question asks. */
#ifndef FR_STUDY_QUESTION_INTERFERENCE_H
#define FR_STUDY_QUESTION_INTERFERENCE_H

#include "study/answer/record.h"

/* What q asks for on GPUs of the cost model: the factors of a device file, those of published runs,
 * a number, or none; in *store, with its source. NULL: work slows nothing. */
const struct fr_interference *fr__interference_of(const struct fr_cost_model *costs,
                                                  const struct fr_question *q,
                                                  struct fr_interference *store);

/* Runs once more without interference, so that the record says what it adds. Nothing where there
 * is none. */
enum fr_status fr__fill_interference(struct fr_record *r, struct fr__arena *arena,
                                     const struct fr__making *m, struct fr_error *err);

#endif
