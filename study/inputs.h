/* study/inputs.h - the workloads and topologies of a session, each loaded once, with a topology's cost model.
 *
 * A loaded input is lent to any number of threads. One that nobody uses stays while there is room; of
 * these the one that was given back longest ago goes first. A file that changes on the disk meanwhile is
 * not read again.
 */
#ifndef FR_STUDY_INPUTS_H
#define FR_STUDY_INPUTS_H

#include "study/study.h"

struct fr__inputs;
struct fr__inputs *fr__inputs_new(void);     /* NULL: out of memory */
void fr__inputs_free(struct fr__inputs *in); /* nothing may be lent */

/* What q names, lent until given back; its session is the caller's to set. A second thread that asks for what
 * is being loaded waits; a failure to load is remembered, too. Any thread. On failure *out is empty. */
enum fr_status fr__inputs_take(struct fr__inputs *in, const struct fr_question *q,
                               struct fr_setting *out, struct fr_error *err);
void fr__inputs_give(struct fr__inputs *in, const struct fr_setting *s);
#endif
