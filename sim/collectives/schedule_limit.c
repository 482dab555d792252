/* sim/collectives/schedule_limit.c - slows collectives down whose thread blocks are slower than
 * their links. */
#include "config.h"

#include "sim/collectives/nccl_choice.h"
#include "sim/collectives/schedule_choice.h"

/* Up to NCCL 2.9 a tree sums up and copies down in turn: its messages hold their links longer. */
static void slow_down_tree(struct fr__engine *e, uint32_t collective,
                           struct fr__collective_schedule *w)
{
    double least_s, s;

    if (w->schedule.algorithm != &fr__tree_algorithm || w->schedule.kind != FR_ALL_REDUCE ||
        w->protocol != FR__NCCL_SIMPLE)
        return;
    least_s = fr__tree_in_turn_s(e, collective, e->o->way->version);
    s = least_s > 0 ? fr__scheduled_time(e, collective, w).alone_s : 0;
    if (s > 0 && s < least_s) {
        w->slow_factor *= least_s / s;
        w->wire_factor *= least_s / s;
    }
}

bool fr__collective_schedule_of(struct fr__engine *e, uint32_t collective,
                                struct fr__collective_schedule *out)
{
    if (!fr__schedule_choose(e, collective, out))
        return false;
    slow_down_tree(e, collective, out);
    return true;
}
