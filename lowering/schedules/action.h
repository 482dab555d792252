/* lowering/schedules/action.h - the text of an action, read. */
#ifndef FR_LOWERING_SCHEDULES_ACTION_H
#define FR_LOWERING_SCHEDULES_ACTION_H

#include "lowering/schedules/schedule.h"

/* Stages and micro-batches must be below FR_SCHEDULE_MOST_MICROS. false: it is no action. */
bool fr__action_parse(const char *text, struct fr_action *out);

#endif
