/* lowering/schedules/zb_v.h - one rank's list of ZB-V, which zb-v-auto starts from. */
#ifndef FR_LOWERING_SCHEDULES_ZB_V_H
#define FR_LOWERING_SCHEDULES_ZB_V_H

#include "lowering/schedules/schedule.h"

/* Appends it. */
void fr__zb_v_rank(struct fr_schedule *out, const struct fr_schedule_spec *spec, uint32_t r);

#endif
