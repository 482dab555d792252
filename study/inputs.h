/* study/inputs.h - the workloads and topologies of a session, each loaded once, with a
 * topology's cost model.
 *
 * A loaded input is lent to any number of threads. One that nobody uses stays while there is
 * room; of these the one that was given back longest ago goes first. A file that changes on the
 * disk meanwhile is not read again.
 */
#ifndef FR_STUDY_INPUTS_H
#define FR_STUDY_INPUTS_H

#include "study/study.h"

struct fr__inputs;
struct fr__inputs *fr__inputs_new(void);     /* NULL: out of memory */
void fr__inputs_free(struct fr__inputs *in); /* nothing may be lent */

/* What q names, lent until given back; its session is the caller's to set. A second thread that
 * asks for what is being loaded waits; a failure to load is remembered, too. Any thread. On
 * failure *out is empty. */
enum fr_status fr__inputs_take(struct fr__inputs *in, const struct fr_question *q,
                               struct fr_setting *out, struct fr_error *err);
void fr__inputs_give(struct fr__inputs *in, const struct fr_setting *s);

/* What answers questions on one setting, and gains by having answered others before. One thread
 * at a time. */
struct fr__tools {
    struct fr_simulation *simulation; /* of the topology: keeps routes and rings */
    struct fr_cost_memo *memo;        /* of the graph under the cost model */
    uint64_t graph_id;                /* of the graph that the memo is of */
    struct fr__tools *next;           /* idle ones of the same topology */
};

/* Tools for a setting that was taken, lent to one thread until they are given back, before the
 * setting is. */
enum fr_status fr__inputs_take_tools(struct fr__inputs *in, const struct fr_setting *s,
                                     struct fr__tools **out, struct fr_error *err);
void fr__inputs_give_tools(struct fr__inputs *in, const struct fr_setting *s, struct fr__tools *t);
/* Tools that belong to no session; the caller frees them. */
enum fr_status fr__tools_new(struct fr__tools **out, const struct fr_setting *s,
                             struct fr_error *err);
void fr__tools_free(struct fr__tools *t); /* NULL is fine */
#endif
