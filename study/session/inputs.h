/* study/session/inputs.h - the workloads and topologies of a session, each loaded once, with a
 * topology's cost model.
 *
 * A loaded input may be lent to any number of threads. An input that nobody uses is kept as long as
 * there is room; the one that was given back longest ago is dropped first. A file that changes on
 * the disk meanwhile is not read again.
 */
#ifndef FR_STUDY_SESSION_INPUTS_H
#define FR_STUDY_SESSION_INPUTS_H

#include "study/study.h"

struct fr__inputs;
struct fr__inputs *fr__inputs_new(void);     /* NULL: out of memory */
void fr__inputs_free(struct fr__inputs *in); /* nothing may be lent */

/* Lends what q names; the caller sets the setting's session and gives it back. A second thread that
 * asks for an input that is being loaded waits for it. A failure to load is remembered too. Any
 * thread may call it. On failure *out is empty. */
enum fr_status fr__inputs_take(struct fr__inputs *in, const struct fr_question *q,
                               struct fr_setting *out, struct fr_error *err);
void fr__inputs_give(struct fr__inputs *in, const struct fr_setting *s);

/* Tools that answer questions on one setting, and are faster after the first. For one thread at a
 * time. */
struct fr__tools {
    struct fr_simulation *simulation; /* of the topology; keeps routes and rings */
    struct fr_cost_memo *memo;        /* costs of the graph's ops under the cost model */
    struct fr_kept_params *params;    /* of the graph */
    uint64_t graph_id;                /* number of the graph of memo and params */
    size_t most_tasks;                /* of a plan that the simulation ran */
    struct fr__tools *next;           /* idle ones of the same topology */
};

/* Lends tools for a setting to one thread. They are given back before the setting is. Tools that
 * ran a very large plan are freed then: a simulation keeps the memory of its largest plan, some 200
 * bytes a task, and a session has many topologies. */
enum fr_status fr__inputs_take_tools(struct fr__inputs *in, const struct fr_setting *s,
                                     struct fr__tools **out, struct fr_error *err);
void fr__inputs_give_tools(struct fr__inputs *in, const struct fr_setting *s, struct fr__tools *t);
/* Tools that belong to no session; the caller frees them. */
enum fr_status fr__tools_new(struct fr__tools **out, const struct fr_setting *s,
                             struct fr_error *err);
void fr__tools_free(struct fr__tools *t); /* NULL is allowed */
#endif
