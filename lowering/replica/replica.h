/* lowering/replica/replica.h - one copy of the model on one or more devices: its ops become
 * tasks.
 *
 * The body (forward and backward ops) is placed once for each micro-batch. The tail (sums of
 * parameter gradients, updates) is placed once. A tensor that is read on another device is sent
 * there once for each micro-batch, into a buffer of the receiver.
 *
 * Memory. A tensor lives from its op's task until all its readers are done; a message that sends it
 * is a reader. Views and in-place outputs share the storage of the tensor that they are views of. A
 * parameter gradient lives from the first task that writes it, over all micro-batches, until the
 * last update on its device. No update starts before the last backward task of its device: in
 * PyTorch the optimizer's step follows the backward pass, and gradients are dropped after the step.
 * Without micro-batches the batch and the model's outputs are held until then too. Staging copies
 * of accumulated gradients are not modelled.
 */
#ifndef FR_LOWERING_REPLICA_REPLICA_H
#define FR_LOWERING_REPLICA_REPLICA_H

#include "lowering/placer.h"

/* The tasks and buffers of one micro-batch, or of the tail. */
struct fr__micro {
    uint32_t index;       /* FR_NONE: there is only one */
    double batch;         /* samples */
    uint32_t *task_of;    /* [n_ops] FR_NONE: not placed yet */
    int32_t *priority_of; /* [n_ops] of that task */
    uint32_t *buffer_of;  /* [n_tensors] on its op's device, FR_NONE: none */
    uint32_t *copies;     /* [n_tensors] first of a list in the replica's copies, FR_NONE */
    bool *is_followed;    /* [n_ops] a task on the same device reads what the op makes */
    uint32_t *end_of;     /* [n_ops] marker at the end of its block, FR_NONE */
};

/* Passes over the memory of all gradients that software makes beside the model's ops; each reads
 * them or writes them once. See passes.c. */
struct fr__step_passes {
    uint64_t adds;   /* adding a micro-batch's gradients to those before: PyTorch reads both and
                        writes one, 3 */
    uint64_t update; /* between the last gradient and the updates: 1 for a norm, 2 for a factor */
    bool are_before_sums; /* these, and rows of lowering/update.h that are of gradients, are done
                             before replicas sum them */
};

struct fr__replica {
    struct fr__placer *pl;
    struct fr__arena *arena;
    const uint32_t *device_of; /* [n_ops] caller's, lives as long */
    const bool *is_mine; /* [n_ops] ops whose parameters are kept and updated here; NULL: all */
    uint32_t number;     /* among the replicas, for messages of a sharded graph */
    struct fr__micro *micros; /* [n_micros] */
    size_t n_micros;
    struct fr__micro tail;
    /* [n_ops] of backward ops: the micro-batch whose task is the last to run; NULL: it is not
     * known, and gradients count as complete when the body of their device is done */
    const uint32_t *last_micro;
    uint32_t block_after; /* what the block being placed comes after, FR_NONE */
    uint32_t last_gather; /* of a tensor that came in parts, in that block; FR_NONE */
    bool is_in_turn;      /* a micro-batch begins when the one before has ended its backward pass */
    uint32_t *first_task; /* [n_ops] its first task, over all micro-batches */
    uint32_t *gradient_of; /* [n_tensors] buffer in which micro-batches add it up, FR_NONE */
    uint32_t *done_of;     /* [n_devices] marker after all of the body there, FR_NONE: unused */
    uint32_t *step_of;     /* [n_devices] marker after all updates there, FR_NONE: none yet */
    struct fr__copy *copies;
    size_t n_copies, cap_copies;
    struct fr__step_passes passes; /* the caller's, set before the body is placed; 0: none */
    uint32_t *passes_of;   /* [n_devices] these before the updates there, which wait for them;
                            FR_NONE: none */
    uint32_t *last_before; /* [n_devices] the last task that they were made to wait for */
    bool has_passed;       /* they were placed before the sums */
    bool is_out_of_memory;
};

/* The options of strategies for these. */
#define FR__ADDS_OPTION                                                                            \
    {                                                                                              \
        .name = "adds", .type = FR_OPTION_COUNT, .fallback = "0",                                  \
        .help = "passes over all gradients to add a micro-batch's to them"                         \
    }
#define FR__PASSES_OPTION                                                                          \
    {                                                                                              \
        .name = "passes", .type = FR_OPTION_COUNT, .fallback = "0",                                \
        .help = "passes over all gradients before the update: clipping and such"                   \
    }

/* FR_ERANGE where one of two options, a count of passes, is over 64: no software makes so many. */
enum fr_status fr__check_passes(const struct fr_option_values *v, size_t a, size_t b,
                                struct fr_error *err);

/* A replica's samples in micro-batches. */
struct fr__share {
    uint32_t n_micros;        /* >= 1 */
    double batch, last_batch; /* samples of each but the last, of the last */
};

/* FR_EUSAGE where n_micros does not divide the samples. */
enum fr_status fr__share_equally(struct fr__share *out, uint32_t samples, uint64_t n_micros,
                                 struct fr_error *err);

/* fini may follow a failed init. FR_ERANGE: more tasks than a plan holds. */
enum fr_status fr__replica_init(struct fr__replica *r, struct fr__placer *pl,
                                const uint32_t device_of[], const struct fr__share *share,
                                struct fr_error *err);
void fr__replica_fini(struct fr__replica *r);
/* Its micro-batches are numbers first, first + 1, ... of n_all, where others have the rest. */
void fr__replica_count_from(struct fr__replica *r, uint32_t first, uint32_t n_all);

/* Persistent buffers: context, parameters (copies of tied ones where they are used too) and, if
 * wanted, what the optimizer keeps. */
void fr__place_persistent(struct fr__replica *r, bool with_optimizer);

/* Places ops of the body in that order; the ops that they read must have been placed. An op that
 * reads nothing made on its device by this call waits for task `after` (FR_NONE: for nothing). */
void fr__place_ops(struct fr__replica *r, size_t micro, const uint32_t ops[], size_t n,
                   uint32_t after);
/* Adds a marker after the ops, which are on one device and all forward or all backward. Messages
 * that carry results of these ops to other devices wait for the marker: frameworks hand on a
 * stage's results when its whole pass is done, weight gradients included. */
uint32_t fr__place_join(struct fr__replica *r, size_t micro, const uint32_t ops[], size_t n,
                        uint32_t device);
/* Places the whole body in graph order, and a marker at its end on each device. A sum of parameter
 * gradients is placed right after the last gradient that it adds, as PyTorch's engine adds them
 * when they come. Several micro-batches (gradient accumulation) must be on one device; each runs
 * forward and backward before the next, and gradients are complete after the last. All between the
 * second and the last are repeated from a pattern (plan/pattern.h). */
void fr__place_body(struct fr__replica *r);

/* The tail; the whole body must be placed and done_of set. In this order: the sums that are not
 * placed yet; the updates; messages that bring updated parameters to devices that hold a copy (tied
 * weights). */
void fr__place_sums(struct fr__replica *r);
void fr__place_updates(struct fr__replica *r);
/* Of a replica on one device, whose passes are before the sums of its gradients over replicas:
 * places them, after all gradients. What sums them is to wait for the task that is returned;
 * FR_NONE: there are none, or they come after the sums. */
uint32_t fr__place_passes_before_sums(struct fr__replica *r, uint32_t device);
void fr__refresh_tied(struct fr__replica *r);

/* All three for the ops of one device, whose done_of must be set; bodies of other devices may still
 * be to come. Returns the marker at the end of the updates and the first update, FR_NONE: none. */
uint32_t fr__place_updates_on(struct fr__replica *r, uint32_t device, uint32_t *first);
/* The first of the three ahead of the others, for who waits for the sums. */
void fr__place_sums_on(struct fr__replica *r, uint32_t device);

/* Makes `task` wait until the owner's gradient is complete. frees: the task also frees it, for
 * plans in which the replica itself makes no update. */
void fr__after_gradient(struct fr__replica *r, const struct fr__owner *w, uint32_t task,
                        bool frees);
/* Makes the updates wait for `task`; to be called once they are placed. */
void fr__before_updates(struct fr__replica *r, uint32_t task);
/* The same of the update op alone; or of the passes before the updates of its device, where
 * software makes some. Nothing where the op is not placed. */
void fr__before_update(struct fr__replica *r, uint32_t op, uint32_t task);
/* Gradients of micro-batches after the first are added up: a task after `after`, or where
 * nothing is added `after`. ops: of whose parameters. Of pipelines, which place no whole body. */
uint32_t fr__place_adds_of(struct fr__replica *r, uint32_t device, uint32_t micro,
                           const uint32_t ops[], size_t n, uint32_t after);
/* Task of an update op, once placed. */
uint32_t fr__update_task(const struct fr__replica *r, uint32_t op);
/* FR_ENOMEM if any call above ran out of memory. */
enum fr_status fr__replica_status(const struct fr__replica *r, struct fr_error *err);

#endif
