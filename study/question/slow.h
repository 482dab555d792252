/* study/question/slow.h - devices that a question slows down by name, and those that differ by
 * chance. */
#ifndef FR_STUDY_QUESTION_SLOW_H
#define FR_STUDY_QUESTION_SLOW_H

#include "study/study.h"

/* q->slow as factors on the devices' times. *out: [t->n_devices], the caller frees it; NULL: the
 * question slows none. FR_EPARSE: not NAME=FACTOR; FR_ENOENT: a name that no device has; FR_ERANGE,
 * FR_ENOMEM. Cost: O(names * devices). */
enum fr_status fr__slow_devices(double **out, const struct fr_topo *t, const struct fr_question *q,
                                struct fr_error *err);

/* Why devices of one type do not take the same time for the same work; NULL: they do. */
const char *fr__why_devices_differ(const struct fr_question *q);

#endif
