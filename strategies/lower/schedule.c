/* strategies/lower/schedule.c - the orders of gpipe and 1f1b. */
#include "config.h"

#include "strategies/lower/schedule.h"

uint32_t fr__schedule_in_flight(enum fr__schedule kind, uint32_t stage, uint32_t n_stages,
                                uint32_t n_micros)
{
    uint32_t deepest = n_stages - stage;

    return kind == FR__SCHEDULE_GPIPE || n_micros < deepest ? n_micros : deepest;
}

static void fill_gpipe(uint32_t n_micros, struct fr__slot slots[])
{
    for (uint32_t m = 0; m < n_micros; m++) {
        slots[m] = (struct fr__slot){m, false};
        slots[n_micros + m] = (struct fr__slot){n_micros - 1 - m, true};
    }
}

static void fill_1f1b(uint32_t warm_up, uint32_t n_micros, struct fr__slot slots[])
{
    uint32_t n = 0, forward = 0;

    while (forward < warm_up)
        slots[n++] = (struct fr__slot){forward++, false};
    for (uint32_t backward = 0; backward < n_micros; backward++) {
        slots[n++] = (struct fr__slot){backward, true};
        if (forward < n_micros)
            slots[n++] = (struct fr__slot){forward++, false};
    }
}

void fr__schedule_stage(enum fr__schedule kind, uint32_t stage, uint32_t n_stages,
                        uint32_t n_micros, struct fr__slot slots[])
{
    if (kind == FR__SCHEDULE_GPIPE)
        fill_gpipe(n_micros, slots);
    else
        fill_1f1b(fr__schedule_in_flight(kind, stage, n_stages, n_micros), n_micros, slots);
}
