/* study/layouts/block.h - a block's run while it is read: block.c times, block_bytes.c memory. */
#ifndef FR_STUDY_LAYOUTS_BLOCK_H
#define FR_STUDY_LAYOUTS_BLOCK_H

#include "study/layouts/state.h"

struct fr__block_reading {
    struct fr__block *b;
    const struct fr_plan_view *v;
    const struct fr_run *run;
    const uint32_t *item_of; /* [n_ops] */
    uint32_t device;
    double *ends_s[2];     /* [n_items] of the forward, the backward pass */
    double *messages_s[2]; /* [n_items] in flight */
    size_t *scratch;       /* [n_tasks] */
};

/* A task of the micro-batch on a device; messages of gradients belong to no op. */
static inline bool fr__is_pass_task(const struct fr_task *k, uint32_t device)
{
    return k->device == device && k->op != FR_NONE &&
           (k->phase == FR_PHASE_FORWARD || k->phase == FR_PHASE_BACKWARD_DATA ||
            k->phase == FR_PHASE_BACKWARD_WEIGHT);
}

/* So, on the probe's device. */
static inline bool fr__is_block_pass(const struct fr__block_reading *x, size_t t)
{
    return fr__is_pass_task(&x->v->tasks[t], x->device);
}

/* Fills the arrays of bytes, which are there and zero. FR_ENOMEM. */
enum fr_status fr__block_bytes(struct fr__block_reading *x, struct fr_error *err);
#endif
