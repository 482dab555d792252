/* study/interval/interval.h - the range in which a step's measured time will lie. */
#ifndef FR_STUDY_INTERVAL_INTERVAL_H
#define FR_STUDY_INTERVAL_INTERVAL_H

#include "study/interval/terms.h"
#include "study/answer/record.h"

/* Fills in r->interval, after its devices, parts and cost sources. Nothing is claimed where nothing
 * was predicted: where all times were given, or where a machine's GPUs are of a type that is not
 * built in and has no curves. units: of its run, if measured steps correct it. FR_ENOMEM. */
enum fr_status fr__fill_interval(struct fr_record *r, struct fr__arena *arena,
                                 const struct fr__making *m, const struct fr__step_units *units,
                                 struct fr_error *err);

/* The range of a step that is predicted at iteration_s. Each quantile of the term keeps its
 * distance from the median, widened by as much as this step's costs are worse known than those of
 * the steps that the term comes from; of an anchored step, also narrowed where measured steps say
 * more. cost_error: fr__cost_error. Leaves `of` and `name` alone. */
void fr__interval_of(struct fr_record_interval *out, double iteration_s, bool is_anchored,
                     const struct fr__step_term *term, double cost_error);

#endif
