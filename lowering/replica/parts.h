/* lowering/replica/parts.h - what the files of a replica share; others use replica.h. */
#ifndef FR_LOWERING_REPLICA_PARTS_H
#define FR_LOWERING_REPLICA_PARTS_H

#include "lowering/replica/replica.h"

/* A tensor received on another device than its op's: an element of a list for each tensor. */
struct fr__copy {
    uint32_t device, recv, buffer;
    uint32_t next;
};

/* Where an edge's tensor can be read: after which task, in which buffer (FR_NONE: none). */
struct fr__source {
    uint32_t task, buffer;
    int32_t priority;
};

/* Whether an op is forward or backward, not tail. */
static inline bool fr__is_body_op(const struct fr__replica *r, uint32_t op)
{
    enum fr__role role = r->pl->params.roles[op];

    return role == FR__ROLE_FORWARD || role == FR__ROLE_BACKWARD;
}

static inline bool fr__is_mine(const struct fr__replica *r, uint32_t op)
{
    return !r->is_mine || r->is_mine[op];
}

/* ---- replica.c ---- */

/* Whether edge i is the first that needs a copy of its source's parameters on its reader's
 * device. */
bool fr__needs_tied_copy(const struct fr__replica *r, uint32_t i);

/* Adds the task of an op with its inputs and outputs. block_first: first task of the present block;
 * an op none of whose inputs were made in the block on its device waits for `after` (FR_NONE: for
 * nothing). */
void fr__place_op(struct fr__replica *r, struct fr__micro *m, uint32_t op, uint32_t block_first,
                  uint32_t after);

/* ---- passes.c ---- */

/* After micro-batch `micro` on a device: its gradients are added to those before. after: the end
 * of the micro-batch. Returns the marker of the new end; `after` where nothing is added. */
uint32_t fr__place_adds(struct fr__replica *r, const struct fr__micro *m, size_t micro,
                        uint32_t device, uint32_t after);
/* Whether something is done to all gradients before the updates. */
bool fr__has_passes(const struct fr__replica *r);
/* That, on a device; FR_NONE: it has none. */
uint32_t fr__place_passes(struct fr__replica *r, uint32_t device, enum fr_phase phase,
                          uint32_t after);

/* ---- tensors.c ---- */

/* The task after which the parameter gradient that a body op makes is complete: the last
 * micro-batch's, or the end of the device's body where it is not known which one is the last. */
uint32_t fr__complete_task(const struct fr__replica *r, uint32_t op);

/* Where the edge's tensor stands for a reader in micro-batch (or tail) m. */
struct fr__source fr__source_of(struct fr__replica *r, const struct fr__micro *m,
                                const struct fr_edge *e);

/* Adds the messages that an op's inputs need. They come before the op's own task, so that tasks are
 * made in an order in which they could run. */
void fr__bring_inputs(struct fr__replica *r, struct fr__micro *m, uint32_t op);

/* Makes `task` wait for what op reads, and free it. true: a producer on its device was made since
 * task block_first. */
bool fr__read_inputs(struct fr__replica *r, struct fr__micro *m, uint32_t op, uint32_t task,
                     uint32_t block_first);

/* Adds the buffers that op writes, and its scratch. */
void fr__write_outputs(struct fr__replica *r, struct fr__micro *m, uint32_t op, uint32_t task);

/* The task that frees what `op` reads in `task`: itself, but for an update the end of the device's
 * step. Where gradients are kept, a sum of several is added to the kept one by `maker` (FR_NONE:
 * not a sum). */
uint32_t fr__drops_at(struct fr__replica *r, uint32_t op, uint32_t task, uint32_t maker);

#endif
