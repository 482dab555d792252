/* study/session/grown.h - a larger cluster of the same machines.
 *
 * A step that was measured on more GPUs than a question's cluster has stands on a cluster of its
 * own: the same line, with more machines.
 */
#ifndef FR_STUDY_SESSION_GROWN_H
#define FR_STUDY_SESSION_GROWN_H

#include "study/study.h"

/* The inputs of q on so many machines more that the cluster has n_gpus at least. s: those of q;
 * *out: the caller calls fr_setting_fini. Only a line of one kind of machine grows, as "32x
 * hgx-h100 via ib:400Gbps", "hgx-h100" or "2x mine.yaml". FR_EUSAGE says why another one does
 * not. */
enum fr_status fr__setting_grow(struct fr_setting *out, const struct fr_setting *s,
                                const struct fr_question *q, uint32_t n_gpus, struct fr_error *err);

#endif
