/* study/question/loading.h - checks the names in a question, and makes the cost model that it asks
 * for. */
#ifndef FR_STUDY_QUESTION_LOADING_H
#define FR_STUDY_QUESTION_LOADING_H

#include "study/study.h"

/* FR_EUSAGE when a name is missing. */
enum fr_status fr__question_check(const struct fr_question *q, struct fr_error *err);

/* Position of a setting in keys (fr_question_setting); the name must exist. */
size_t fr__setting_index(const char *name);

/* Makes the cost model that a question's `costs` asks for, for the topology's device types; see
 * fr_cost_model_new. graph: the model may move its recorded times from one type to another, as
 * `profile_device` says; NULL: none. */
enum fr_status fr__costs_load(struct fr_cost_model **out, const struct fr_topo *topo,
                              const struct fr_graph *graph, const struct fr_question *q,
                              struct fr_error *err);

/* The kind of collective that text names. FR_EUSAGE with the nearest known one. */
enum fr_status fr__collective_kind_named(const char *text, enum fr_collective_kind *out,
                                         struct fr_error *err);
/* The CPU on which times of the workload were measured that are dropped, since the topology has no
 * such device: "cpu-xeon". NULL: there are none. */
const char *fr__dropped_cpu(const struct fr_topo *topo, const struct fr_graph *g);

#endif
