/* study/loading.h - what the names in a question stand for, as far as it is not loaded by one
 * call. */
#ifndef FR_STUDY_LOADING_H
#define FR_STUDY_LOADING_H

#include "study/study.h"

/* FR_EUSAGE when a name is missing. */
enum fr_status fr__question_check(const struct fr_question *q, struct fr_error *err);

/* Position of a setting in keys (fr_question_setting); the name must be one. */
size_t fr__setting_index(const char *name);

/* What a question's `costs` says, for the topology's device types; see fr_cost_model_new. graph:
 * whose recorded times the model may move from one type to another, as `profile_device` says;
 * NULL: none. */
enum fr_status fr__costs_load(struct fr_cost_model **out, const struct fr_topo *topo,
                              const struct fr_graph *graph, const struct fr_question *q,
                              struct fr_error *err);
#endif
