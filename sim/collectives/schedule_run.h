/* sim/collectives/schedule_run.h - what the engine asks of schedules in progress. */
#ifndef FR_SIM_COLLECTIVES_SCHEDULE_RUN_H
#define FR_SIM_COLLECTIVES_SCHEDULE_RUN_H

#include "sim/engine.h"

struct fr__step_work;

/* Drops what a run left unfinished; NULL: nothing to drop. */
void fr__step_work_reset(struct fr__step_work *w);
void fr__step_work_free(struct fr__step_work *w);
/* The event EVENT_STEPS_BEGIN: a collective's start is over. */
void fr__steps_begin(struct fr__engine *e, uint32_t progress);
/* The event EVENT_STEP_TAKEN: a message's receiver has it. */
void fr__step_taken(struct fr__engine *e, uint32_t flight);

#endif
