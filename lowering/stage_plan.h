/* lowering/stage_plan.h - a model cut into stages for a pipeline, and what the planner promises.
 *
 * It stands for itself, without a cluster or a plan of tasks: machines are counted, level by level
 * (the GPUs of a server, the servers, ...), innermost first. Times are seconds a mini-batch.
 */
#ifndef FORERUN_STAGE_PLAN_H
#define FORERUN_STAGE_PLAN_H

#include "base/base.h"
#include "workloads/profile.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FR_STAGE_MAX_LEVELS = 8 };

/* A set of layers that the same machines compute. */
struct fr_stage {
    size_t n_layers;
    const uint32_t *layers; /* of the profile, ascending */
    uint32_t replicas;      /* machines that take turns: the product over the levels */
    uint32_t replicas_of_level[FR_STAGE_MAX_LEVELS]; /* innermost first */
    double compute_s;                                /* of all its layers, one machine */
    double time_s; /* of a mini-batch with its replicas and the sums of gradients among them */
    /* of what comes in (of what goes out, too, where the planner counts it there), as it holds up a
     * mini-batch; 0: not counted. The slowest stage is the largest of both times. */
    double exchange_s;
    double activation_bytes, param_bytes; /* of its layers */
    double out_bytes;                     /* that go on to the next stage */
};

/* One stretch of states on one level, and what it was cut into. */
struct fr_stage_part {
    uint32_t begin, end; /* states begin .. end - 1 */
    uint32_t replicas;   /* of this level */
    double compute_s;
};
struct fr_stage_split {
    uint32_t level; /* 0: innermost */
    uint32_t begin, end, n_unused;
    double time_s; /* as the table of the level has it */
    size_t n_parts;
    const struct fr_stage_part *parts;
};

/* All of it belongs to the plan but the profile. */
struct fr_stage_plan {
    const struct fr_profile *profile; /* the caller's; must outlive the plan */
    const char *strategy, *mode;      /* "pipedream", "code" */
    size_t n_levels;
    uint32_t machines[FR_STAGE_MAX_LEVELS];
    double bandwidth_Bps[FR_STAGE_MAX_LEVELS];
    double pipeline_time_s;   /* the slowest stage's: the time between mini-batches */
    double dp_time_s;         /* of data parallelism on the same machines, no limit to memory */
    double single_time_s;     /* of one machine */
    size_t n_states;          /* places to cut at, the end included; 0: not counted to the end */
    size_t n_states_at_least; /* how far they were counted */
    size_t n_planned;         /* states that the plan was chosen among */
    bool is_restricted;   /* cuts go through a single tensor: the states were too many for all */
    double lower_bound_s; /* no plan of this profile takes less; the answer's own when exact */
    size_t n_stages;
    const struct fr_stage *stages; /* in the order of the pipeline */
    size_t n_splits;
    const struct fr_stage_split *splits; /* outermost level first */
    /* [n_layers] stage of each layer, FR_PROFILE_NO_STAGE: no cut reaches it, FR_PROFILE_LEFT_OUT:
     * nobody reads it */
    const uint32_t *stage_of;
    size_t n_unreached;
    /* the first stage that is no set of layers of its own, as its two ends are not one inside the
     * other; n_stages: none (see the manual: only by mode=code) */
    size_t first_unreal;
    void *priv;
};

void fr_stage_plan_free(struct fr_stage_plan *p); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
