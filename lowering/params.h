/* lowering/params.h - who owns parameters, where their gradients come from, what they cost.
 *
 * A training graph's ops fall into a body, which runs once a micro-batch (input, forward,
 * backward), and a tail, which runs once an iteration: sums of parameter gradients (tied weights)
 * and updates. A gradient tensor is one that a body op writes and the tail reads; its storage is
 * kept over all micro-batches, which add into it.
 */
#ifndef FR_LOWERING_PARAMS_H
#define FR_LOWERING_PARAMS_H

#include "base/arena.h"
#include "lowering/lowering.h"
#include "lowering/weights.h"

enum fr__role { FR__ROLE_FORWARD, FR__ROLE_BACKWARD, FR__ROLE_SUM, FR__ROLE_UPDATE };

/* A forward op with parameters. */
struct fr__owner {
    uint32_t op;
    uint64_t bytes;
    uint32_t n_tensors; /* parameter tensors that it owns, at least 1 */
    uint32_t ready;     /* op after which its gradient is complete; FR_NONE: it is not trained */
    /* its update ops: updates[first_update .. first_update + n_updates) */
    uint32_t first_update, n_updates;
    bool
        has_tensor; /* its gradient is a tensor of the graph; else of `bytes`, written by `ready` */
    struct fr__weights weights;
};

struct fr__params {
    const enum fr__role *roles; /* [n_ops] */
    const bool *is_gradient;    /* [n_tensors] */
    const bool *is_read;        /* [n_tensors] in the body (by the tail: of its own tensors) */
    /* [n_tensors] the caller of the training loop holds it: the batch, and what the model hands to
     * the loss, that is what ops of a layer with a loss read from other layers */
    const bool *is_held;
    size_t n_owners, n_updates, n_tail;
    const struct fr__owner *owners; /* in graph order */
    const uint32_t *owner_of;       /* [n_ops] index into owners, by owning op; FR_NONE */
    const uint32_t *updates;        /* [n_updates] grouped by owner */
    const uint32_t *tail;           /* [n_tail] sums and updates, in graph order */
};

/* All memory comes from the arena. Cost: O(ops + edges). */
enum fr_status fr__params_find(struct fr__params *out, const struct fr_graph *g,
                               struct fr__arena *arena, struct fr_error *err);

/* The same, kept from question to question on one graph, which is borrowed. NULL: out of memory. */
struct fr_kept_params;
struct fr_kept_params *fr__kept_params_new(const struct fr_graph *g);
void fr__kept_params_free(struct fr_kept_params *k); /* NULL is fine */
/* false: they are of another graph, or k is NULL. What *out points to lives as long as k. */
bool fr__kept_params_of(const struct fr_kept_params *k, const struct fr_graph *g,
                        struct fr__params *out);

#endif
