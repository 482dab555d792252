/* study/interval/cost_error.h - what the errors of costs alone do to one iteration's time.
 *
 * Model:   the iteration is a sum of the busiest parts in proportion to their time: compute by the
 *          cost of each op, and communication that nothing hides. A cost states the standard
 *          deviation e of the logarithm of its error. Half of the variance is common to all ops of
 *          a kind and trust, half is each cost's own, as in study/answer/uncertainty.c:
 *          variance = sum over groups of ((sum w e)^2 + sum (w e)^2) / 2, w: share of the iteration
 *          Of compute that measured steps correct, what they leave of its error stands instead.
 * Ignores: that a slower op may hide another; study/answer/uncertainty.c runs the plan again for
 * that
 */
#ifndef FR_STUDY_INTERVAL_COST_ERROR_H
#define FR_STUDY_INTERVAL_COST_ERROR_H

#include "study/answer/record.h"

/* Standard deviation of the logarithm of the iteration time; r has its parts already. Cost: tasks +
 * costs. FR_ENOMEM. */
enum fr_status fr__cost_error(double *out, const struct fr__making *m, const struct fr_record *r,
                              struct fr_error *err);

#endif
