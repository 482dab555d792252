/* workloads/passes/untie.h - gives the last layers of a model weights of their own, where they use
 * those of the first ones.
 *
 * A language model's head often uses the table of its embedding. It rewrites the training graph:
 * the head owns a table, with its own gradient and update, and the sum of both gradients is gone.
 * So every stage of a pipeline has what it needs. What trains a tied model like this sums the two
 * gradients itself: Megatron-LM keeps the table on the first and the last stage and adds up the
 * gradients of both in an all-reduce (megatron/core/distributed/finalize_model_grads.py).
 *
 * Ties are parted whose owner stands in front of the first unit (workloads/passes/units.h) and
 * whose user behind the last one, if both have one gradient each. Others stay.
 */
#ifndef FR_WORKLOADS_PASSES_UNTIE_H
#define FR_WORKLOADS_PASSES_UNTIE_H

#include "workloads/passes/units.h"

struct fr__untied_pair {
    uint32_t owner, user; /* forward ops of the new graph */
};

struct fr__untied {
    struct fr_graph *graph; /* NULL: there was nothing to part */
    const uint32_t *from;   /* [n_ops] op of the given graph */
    const struct fr__untied_pair *pairs;
    size_t n_pairs;
    void *priv;
};

/* g: a training graph as differentiation makes it; units: its own. Free with fr__untied_free(), or
 * set graph to NULL if it was taken. FR_ENOMEM. O(ops + edges). */
enum fr_status fr__untie(struct fr__untied *out, const struct fr_graph *g,
                         const struct fr__units *units, struct fr_error *err);
void fr__untied_free(struct fr__untied *u);

#endif
