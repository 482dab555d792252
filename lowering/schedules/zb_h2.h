/* lowering/schedules/zb_h2.h - one rank of ZB-H2: ZB-H1 with few micro-batches is the same. */
#ifndef FR_LOWERING_SCHEDULES_ZB_H2_H
#define FR_LOWERING_SCHEDULES_ZB_H2_H

#include "lowering/schedules/schedule.h"

/* Appends the rank's list; no rank holds more than the smaller of 2 p - 1 and m micro-batches. */
void fr__zb_h2_add_rank(const struct fr_schedule_spec *spec, struct fr_schedule *out, uint32_t r);

#endif
