/* plan/pattern.h - a part of a plan that comes again and again.
 *
 * Builders make a micro-batch's pass through a stage, or a replica, once with care; the next one
 * has the same tasks, buffers, messages and dependencies, only elsewhere in the plan. A block is
 * such a part. What it refers to outside itself lies in other blocks of the same row (of the same
 * micro-batch), at the same places in them, or is the one task that the block comes after.
 */
#ifndef FR_PLAN_PATTERN_H
#define FR_PLAN_PATTERN_H

#include "plan/internal.h"

/* Where a block begins: its first task, buffer and priority; or how many of each it has. */
struct fr__begin {
    uint32_t task, buffer;
    int32_t priority;
};

/* How much a plan holds at a moment of its building. */
struct fr__plan_mark {
    uint32_t n_tasks, n_buffers, n_transfers, n_named; /* named: strings, groups, collectives */
    size_t n_deps, n_frees;
    int32_t priority; /* the builder's next one */
};
struct fr__plan_mark fr__plan_mark(const struct fr_plan *p, int32_t next_priority);

struct fr__pattern;

struct fr__pattern_source {
    struct fr__plan_mark from, to; /* the block */
    uint32_t after;                /* task outside that tasks wait for, or FR_NONE */
    const struct fr__begin *row;   /* [n_blocks] where the blocks of its row begin */
    const struct fr__begin *size;  /* [n_blocks] of each; 0: not there yet */
    uint32_t n_blocks;
};

/* Learns a block, which refers to nothing else. NULL: out of memory. The caller frees it; it is
 * good until the plan is finished. Cost: the block's size, times n_blocks where references leap
 * from block to block. */
struct fr__pattern *fr__pattern_new(const struct fr_plan *p, const struct fr__pattern_source *s);
void fr__pattern_free(struct fr__pattern *k);
/* How many tasks, buffers and priorities the block has. */
struct fr__begin fr__pattern_size(const struct fr__pattern *k);

struct fr__pattern_place {
    const struct fr__begin *row; /* [n_blocks] of the new block's row */
    uint32_t after;              /* instead of the source's */
    uint32_t microbatch;         /* of all tasks; FR_NONE: as in the source */
    uint32_t device;             /* of all tasks and buffers; FR_NONE: likewise */
    uint32_t rank;               /* of collectives' members; FR_NONE: likewise */
    int32_t next_priority;       /* the builder's */
};

/* Adds the block once more; want of memory is kept by the plan. */
void fr__pattern_repeat(struct fr_plan *p, const struct fr__pattern *k,
                        const struct fr__pattern_place *place);

#endif
