/* lowering/schedules/passes.h - which action runs which pass, what it waits for, and the order in
 * which all of them can run. */
#ifndef FR_LOWERING_SCHEDULES_PASSES_H
#define FR_LOWERING_SCHEDULES_PASSES_H

#include "lowering/schedules/schedule.h"

/* Indices of actions, FR_NONE: no such pass. Cells are numbered stage n_micros + micro. */
struct fr__passes {
    uint32_t *forward, *backward, *weight; /* [n_stages n_micros]; backward: B or I */
    uint32_t *rank_of;                     /* [n_actions] */
};

/* FR_EPARSE: a pass is missing, or twice, or on two ranks, or a rank has none; FR_ENOMEM. fini
 * may follow a failure. */
enum fr_status fr__passes_init(struct fr__passes *out, const struct fr_schedule *s,
                               struct fr_error *err);
void fr__passes_fini(struct fr__passes *p);

/* The actions that this one waits for, besides its rank's order. Returns how many. */
enum { FR__MOST_WAITS = 4 };
unsigned fr__action_waits(const struct fr__passes *p, const struct fr_schedule *s, size_t action,
                          uint32_t waits[FR__MOST_WAITS]);

/* Calls `run` for all actions, each after what it waits for. FR_EPARSE: the circle of waits;
 * FR_ENOMEM. O(actions). */
enum fr_status fr__passes_walk(const struct fr__passes *p, const struct fr_schedule *s,
                               void (*run)(void *user, size_t action, const uint32_t waits[],
                                           unsigned n_waits),
                               void *user, struct fr_error *err);

#endif
