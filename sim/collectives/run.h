/* sim/collectives/run.h - what the engine and the network ask of schedules in progress. */
#ifndef FR_SIM_COLLECTIVES_RUN_H
#define FR_SIM_COLLECTIVES_RUN_H

#include "sim/engine.h"

struct fr__step_work;

/* Drops what a run left unfinished; NULL: nothing to drop. */
void fr__step_work_reset(struct fr__step_work *w);
void fr__step_work_free(struct fr__step_work *w);
/* The event EVENT_STEPS_BEGIN: a collective's start is over. */
void fr__steps_begin(struct engine *e, uint32_t progress);
/* A message of a step has crossed its links; its receiver may take it later. */
void fr__step_done(struct engine *e, uint32_t flight, const struct fr__route *route);
/* By how much a message of a step holds its links longer than its bytes on the wire need. */
double fr__step_slow_factor(const struct engine *e, uint32_t flight);
/* Whether a message's latency passes behind its bytes, at the receiver (struct fr__schedule,
 * n_ahead), and not before. */
bool fr__step_is_ahead(const struct engine *e, uint32_t flight);
/* The event EVENT_STEP_TAKEN. */
void fr__step_taken(struct engine *e, uint32_t flight);

#endif
