/* lowering/partition/choose.h - the cut of a model for a schedule: dynamic programs propose, the
 * schedule itself decides.
 *
 * A schedule whose ranks run all forwards and then all backwards, one stage a rank, has a closed
 * form (`phases`), and one that never flushes an interval (`period`), which the dynamic program
 * makes least. Others have none. Neither knows launches, updates and sums. So the schedule is
 * replayed, or the interval counted, with all that: for the cut that the caller has, the dynamic
 * program's, and what a search makes of the better one (tries.h). With several stages a rank the
 * caller's cut gives way to the one whose busiest rank has least to do (ranks.h). */
#ifndef FR_LOWERING_PARTITION_CHOOSE_H
#define FR_LOWERING_PARTITION_CHOOSE_H

#include "lowering/partition/best.h"
#include "lowering/schedules/schedule.h"

/* Sums of gradients among the replicas of a rank's stages, as a line each. */
struct fr__stage_sums {
    const double *latency_s, *s_per_byte; /* [n_ranks]; NULL: there are no replicas */
    double bucket_bytes; /* a sum begins once so much of a stage is complete; INFINITY: all of it */
};

/* Item `user` uses parameters of item `owner`: see struct fr__timed_tie. */
struct fr__tie {
    uint32_t owner, user; /* items */
    bool is_sum;          /* both sum their gradients, and nothing goes back */
    /* [n_stages][n_stages] of the owner's stage and the user's: to the owner's rank, and back */
    const double *send_s, *back_s;
};

struct fr__choice_problem {
    const struct fr__chain *chain;
    const struct fr_schedule *schedule;
    double n_together;             /* micro-batches of an iteration, where it never flushes */
    const double *const *weight_s; /* [n_stages][n + 1] of the backward, what weights take */
    const double *const *tail_s;   /* [n_stages][n + 1] updates of the first items */
    /* [n_stages][n + 1] what the host takes to launch forwards, backwards, and of these the
     * weights' part; NULL: not counted */
    const double *const *forward_host_s, *const *backward_host_s, *const *weight_host_s;
    struct fr__stage_sums sums;
    const double *sent_bytes;   /* [n + 1] of the first items' gradients, as they are summed */
    const double *n_sent;       /* [n + 1] how many tensors that is */
    const struct fr__tie *ties; /* [n_ties] */
    size_t n_ties;
    double least_gain_frac; /* the caller's cut stays where another gains less by replay: times
                                      may be that far off */
};

enum fr__chosen_by {
    FR__CHOSEN_GIVEN,  /* it was the caller's and stays */
    FR__CHOSEN_FORM,   /* least by the closed form or the interval */
    FR__CHOSEN_REPLAY, /* least by replays of those that were tried */
};

struct fr__choice {
    enum fr__chosen_by by;
    enum fr__cut_rule rule;
    struct fr__best_cut best; /* of the dynamic program; of ranks with several stages, of ranks.h */
    double given_s;           /* what the caller's cut takes */
    double planned_s; /* what the chosen one takes, of the same kind: an iteration, updates and
                                 transfers counted */
    /* So of the cut that would be chosen if all fitted into memory; planned_s: that one fits */
    double free_s;
    double even_s;  /* so if a rank's several stages could be like all others; 0: not asked */
    bool fits;      /* the chosen cut, by what it is believed to hold */
    bool tried_all; /* every cut was replayed: no cut that fits takes less */
    size_t n_tried; /* cuts replayed */
};

/* Prices a cut; first: [n_stages + 1]. */
enum fr_status fr__cut_planned(const struct fr__choice_problem *in, const uint32_t first[],
                               double *planned_s, struct fr_error *err);

/* What that cut would take if the work of all its stages were shared out evenly; 0: nobody knows,
 * for the schedule is not replayed. n_stages > 1. */
enum fr_status fr__cut_even(const struct fr__choice_problem *in, const uint32_t first[],
                            double *even_s, struct fr_error *err);

/* first: in a cut; out even parts of the passes whose borders stand where little crosses, or the
 * same cut where there is no room for all of them. FR_ENOMEM. */
enum fr_status fr__cut_evenly(const struct fr__choice_problem *in, uint32_t first[],
                              struct fr_error *err);

/* first: in the caller's cut, which must be one; out the chosen one. Where the caller's does not
 * fit into memory, it stays unless the dynamic program finds one that does. Cost: that of
 * fr__cut_best, and some 10^6 actions. FR_ENOMEM. */
enum fr_status fr__cut_choose(const struct fr__choice_problem *in, uint32_t first[],
                              struct fr__choice *out, struct fr_error *err);

#endif
