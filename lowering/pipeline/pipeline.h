/* lowering/pipeline/pipeline.h - replicas of a model run as a pipeline by a schedule
 * (lowering/schedules/schedule.h): its actions become blocks of tasks.
 *
 * A stage's block is one pass of one micro-batch: all its forward ops, all its backward ops, or of
 * these the gradients of inputs or of weights alone. A rank's blocks follow each other by explicit
 * dependencies, so the schedule holds under any order of ready tasks. The two blocks of an
 * overlapped pair start together and both end before the next action.
 *
 * Where a schedule runs a stage on two ranks (two pipelines in opposite directions), there are two
 * copies of the model, each with a part of the micro-batches. Every copy is a replica of its own
 * and takes part in the sum of gradients as one.
 */
#ifndef FR_LOWERING_PIPELINE_PIPELINE_H
#define FR_LOWERING_PIPELINE_PIPELINE_H

#include "lowering/replica/replica.h"
#include "lowering/pipeline/stages.h"
#include "lowering/schedules/schedule.h"

enum { FR__MOST_COPIES = 2 };

/* Ops in graph order. */
struct fr__block_ops {
    const uint32_t *ops;
    size_t n;
};

/* What all replicas share. Memory comes from the placer's arena. */
struct fr__pipeline {
    struct fr__placer *pl;
    struct fr__stages stages;
    uint32_t n_ranks, n_stages, n_copies;
    const uint32_t *rank_of; /* [n_copies][n_stages] */
    /* [n_stages][4]: by enum fr_action_kind F, B, I, W */
    struct fr__block_ops (*blocks)[4];
};

/* The schedule that a user named ("1f1b", "file:PATH"), for so many ranks and micro-batches.
 * `virtual` 0: as few stages a rank as the kind allows. gpipe runs its backwards with the last
 * micro-batch first. The caller frees it. Errors as fr_schedule_get, wrong usage all of them. */
enum fr_status fr__schedule_for_pipeline(struct fr_schedule **out,
                                         const struct fr_schedule_spec *spec, struct fr_error *err);

struct fr__pipeline_problem {
    const struct fr_schedule *schedule; /* checked */
    const uint32_t *devices;            /* [n_ranks] of a replica */
    double micro_batch;                 /* samples of a micro-batch */
    const uint32_t *unit_of_layer;      /* as in struct fr__stages_problem, */
    bool is_by_count;                   /* and so is this */
    const double *message_s;            /* likewise */
    struct fr__stage_sums sums;         /* likewise; not of schedules with two copies */
    struct fr__ends_sum ends;           /* likewise */
    const char *cuts;                   /* struct fr__stages_problem's `given` */
    bool is_asynchronous;               /* the schedule may update within an iteration */
};

/* Cuts the placer's graph into the schedule's stages. FR_EUSAGE: the schedule updates the
 * weights more than once an iteration, it runs a stage on more than two ranks, or the
 * model has too few layers. */
enum fr_status fr__pipeline_make(struct fr__pipeline *out, struct fr__placer *pl,
                                 const struct fr__pipeline_problem *in, struct fr_error *err);

/* Micro-batches of a copy, and the first of them; they follow each other. */
uint32_t fr__pipeline_micros(const struct fr__pipeline *p, const struct fr_schedule *schedule,
                             uint32_t copy, uint32_t *first);

/* How the stages of a schedule end. Memory comes from the placer's arena. */
struct fr__stage_ends {
    const uint32_t *order; /* [n_stages] by the place of their last backward pass on their rank */
    const uint32_t *last_micro; /* [n_ops] of backward ops: as in struct fr__replica */
};
/* For one copy of the model. FR_ENOMEM. O(actions + stages^2 + ops). */
enum fr_status fr__pipeline_ends(struct fr__stage_ends *out, const struct fr__pipeline *p,
                                 const struct fr_schedule *schedule, struct fr_error *err);

/* Places the bodies of a replica's copies: each initialised for its micro-batches and with its
 * persistent memory placed. schedule: as fr__pipeline_make's, but for the number of micro-batches.
 * Sets done_of. FR_ECANCELLED, FR_ENOMEM. */
enum fr_status fr__pipeline_place(const struct fr__pipeline *p, const struct fr_schedule *schedule,
                                  struct fr__replica copies[], const uint32_t devices[],
                                  struct fr_error *err);

#endif
