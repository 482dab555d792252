/* plan/pattern.h - a part of a plan that is repeated.
 *
 * A builder makes the pass of one micro-batch through a stage, or one replica, op by op. The next
 * one has the same tasks, buffers, messages and dependencies, with other ids. A pattern is such a
 * block of a plan, learned once and then copied, which is much cheaper than building it again.
 *
 * Blocks stand in rows; a row is a micro-batch, say. What a block refers to outside itself is
 * either in another block of its own row, or the one task that the whole block waits for. A copy
 * refers to the same places in its own row.
 */
#ifndef FR_PLAN_PATTERN_H
#define FR_PLAN_PATTERN_H

#include "plan/internal.h"

/* Either where a block begins (its first task, buffer and priority), or how many of each it has. */
struct fr__begin {
    uint32_t task, buffer;
    int32_t priority;
};

/* How much a plan holds at one point of its building. */
struct fr__plan_mark {
    uint32_t n_tasks, n_buffers, n_transfers, n_named; /* named: strings, groups, collectives */
    size_t n_deps, n_frees;
    int32_t priority; /* the next priority that the builder will give */
};
struct fr__plan_mark fr__plan_mark(const struct fr_plan *p, int32_t next_priority);

struct fr__pattern;

struct fr__pattern_source {
    struct fr__plan_mark from, to; /* the block is what was added between these */
    uint32_t after;                /* the task outside that the block waits for; FR_NONE: none */
    const struct fr__begin *row;   /* [n_blocks] beginnings of the blocks of its row */
    const struct fr__begin *size;  /* [n_blocks] sizes of them; 0: not built yet */
    uint32_t n_blocks;
};

/* Learns a block, which may refer to its row and to source->after only. The caller frees the
 * pattern; it is valid until the plan is finished. NULL: out of memory. Cost: the block's size;
 * times n_blocks where each reference goes to another block than the one before. */
struct fr__pattern *fr__pattern_new(const struct fr_plan *p, const struct fr__pattern_source *s);
void fr__pattern_free(struct fr__pattern *k);
/* How many tasks, buffers and priorities the block has. */
struct fr__begin fr__pattern_size(const struct fr__pattern *k);

struct fr__pattern_place {
    const struct fr__begin *row; /* [n_blocks] beginnings of the blocks in the new row */
    uint32_t after;              /* task that the copy waits for */
    uint32_t microbatch;         /* of all tasks; FR_NONE: that of the source */
    uint32_t device;             /* of all tasks and buffers; FR_NONE: likewise */
    uint32_t rank;               /* of collectives' members; FR_NONE: likewise */
    uint32_t collective_by;      /* added to the collectives of members, modulo 2^32 */
    int32_t next_priority;       /* the builder's next priority */
};

/* Adds a copy of the block. The plan remembers that memory ran out (fr_plan_finish reports it). */
void fr__pattern_repeat(struct fr_plan *p, const struct fr__pattern *k,
                        const struct fr__pattern_place *place);

#endif
