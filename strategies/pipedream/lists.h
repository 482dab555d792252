/* strategies/pipedream/lists.h - what each replica of each stage does, in order.
 *
 * Micro-batch b goes to replica b mod r of a stage with r of them, forwards and backwards (1F1B-RR,
 * PipeDream, SOSP 2019, section 3.2). A replica of stage s begins with as many forwards as keep it
 * busy until the first backward comes back, ceil(machines from s on / r), then alternates; so no
 * two stages wait for each other in a circle.
 *
 * Without a flush every backward leads to an update. Of a stage that is alone it follows at once.
 * Replicas of a stage sum their gradients of a round (one micro-batch each) while they run the next
 * forward; the update comes after that.
 */
#ifndef FR_STRATEGIES_PIPEDREAM_LISTS_H
#define FR_STRATEGIES_PIPEDREAM_LISTS_H

#include "strategies/pipedream/cluster.h"

enum fr__pd_pass { FR__PD_FORWARD, FR__PD_BACKWARD, FR__PD_UPDATE };

struct fr__pd_slot {
    uint32_t micro;
    enum fr__pd_pass pass;
};

/* Of one seat: replica q of a stage. */
struct fr__pd_list {
    struct fr__pd_slot *slots;
    size_t n;
};

struct fr__pd_lists {
    const struct fr__pd_seats *seats;
    uint32_t n_micros;
    struct fr__pd_list *of; /* [n_stages][most] */
};

/* In the arena. has_updates: no flush. FR_ENOMEM. */
enum fr_status fr__pd_lists_make(struct fr__pd_lists *out, const struct fr__pd_seats *seats,
                                 uint32_t n_micros, bool has_updates, struct fr__arena *arena,
                                 struct fr_error *err);

static inline const struct fr__pd_list *fr__pd_list_at(const struct fr__pd_lists *l, size_t stage,
                                                       uint32_t q)
{
    return &l->of[stage * l->seats->most + q];
}

/* Calls `run` for all slots, each after those that it waits for: the one before in its list, the
 * forward of the stage before, the backward of the stage after. It may end the walk by an error.
 * Errors of `run`; FR_ECANCELLED; FR_ECHECK: a circle; FR_ENOMEM. */
enum fr_status fr__pd_lists_walk(const struct fr__pd_lists *l, const struct fr_context *ctx,
                                 enum fr_status (*run)(void *user, uint32_t stage, uint32_t q,
                                                       const struct fr__pd_slot *slot,
                                                       struct fr_error *err),
                                 void *user, struct fr_error *err);

/* The ops of one stage in graph order, by pass (FORWARD, BACKWARD). */
struct fr__pd_block {
    uint32_t *ops;
    size_t n;
};
/* *out: [n_stages][2], from the placer's arena. stage_of: [n_ops]. FR_ENOMEM. */
enum fr_status fr__pd_blocks_make(struct fr__pd_block (**out)[2], struct fr__placer *pl,
                                  const uint32_t stage_of[], size_t n_stages, struct fr_error *err);

#endif
