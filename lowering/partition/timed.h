/* lowering/partition/timed.h - what a schedule takes with the stages of a cut, transfers
 * included, and the search for a better cut by that.
 *
 * Only the orders of the ranks and what passes wait for count, as in fr_schedule_replay. Here a
 * transfer takes its time, and those that leave a rank take turns, whichever way they go. What the
 * engine has besides: links that several pairs share.
 */
#ifndef FR_LOWERING_PARTITION_TIMED_H
#define FR_LOWERING_PARTITION_TIMED_H

#include "lowering/partition/chain.h"
#include "lowering/schedules/schedule.h"

/* Scratch for one schedule, used for any number of cuts. */
struct fr__timed;
/* The schedule must outlive it, and be one that fr_schedule_check accepts. FR_ENOMEM. */
enum fr_status fr__timed_new(struct fr__timed **out, const struct fr_schedule *s,
                             struct fr_error *err);
void fr__timed_free(struct fr__timed *t); /* NULL is fine */

/* One stage of a cut. */
struct fr__timed_stage {
    double forward_s, input_s, weight_s; /* passes; a whole backward is the sum of the last two */
    double send_s, back_s;               /* from the stage before, and back; 0 on the same rank */
    /* What the host takes to launch the same passes. It does not wait for other ranks, and a pass
     * ends no earlier than its last launch. 0: not counted. */
    double forward_host_s, input_host_s, weight_host_s;
    /* What replicas take to sum its gradients, in so many parts, each when its share of the last
     * backward pass is over. A rank's sums follow each other, beside its passes. 0: nothing. */
    double sum_s, n_sums;
};
/* Parameters that ops of two stages use, on two ranks. Either the owner's stage gets the user's
 * gradient, updates, and sends the new parameters back; or both stages sum their gradients and
 * update by themselves. The gradient leaves when the user's rank has ended its passes and sent what
 * it had to send; a sum begins when both ranks have ended their passes and the sums of replicas. */
struct fr__timed_tie {
    uint32_t owner, user;   /* stages */
    bool is_sum;            /* send_s is that of the sum, and nothing goes back */
    double send_s, back_s;  /* to the owner's rank, and back */
    double owner_s, user_s; /* the part of a rank's tail_s that waits for it */
};
/* What the runs from now on have between their stages. ties: [n], the caller's, to be there as long
 * as runs; NULL: nothing. */
void fr__timed_tie(struct fr__timed *t, const struct fr__timed_tie ties[], size_t n);

/* Makespan. stages: [n_stages]; tail_s: [n_ranks] after a rank's last pass and sum, NULL: nothing.
 * O(actions). */
double fr__timed_run(struct fr__timed *t, const struct fr__timed_stage stages[],
                     const double tail_s[]);

#endif
