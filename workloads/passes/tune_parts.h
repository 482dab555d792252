/* workloads/passes/tune_parts.h - what the files of the tuning pass share; others use tune.h. */
#ifndef FR_WORKLOADS_PASSES_TUNE_PARTS_H
#define FR_WORKLOADS_PASSES_TUNE_PARTS_H

#include "workloads/graph/rewriter.h"
#include "workloads/passes/tune.h"

/* The adapter of a product. */
struct fr__adapter {
    uint32_t n_parts; /* that have an A and a B; 0: there is no adapter */
    uint64_t columns; /* of all parts together */
};

struct fr__tuned {
    const struct fr_graph *g;
    const struct fr__tuning *how;
    struct fr__rewriter w;
    bool *is_frozen;              /* [n_ops] of ops with parameters */
    bool *is_packed;              /* [n_ops] of products whose weights are stored in 4 bits */
    struct fr__adapter *adapters; /* [n_ops] of products */
    uint32_t *adapted;            /* [n_ops] behind this op the adapter of that product is added;
                                     FR_NONE */
};

/* ---- tune_find.c ---- */

/* Whether an op is a linear layer: a product with weights of its own. */
bool fr__tune_is_linear(const struct fr_graph *g, uint32_t o);
/* Fills all of t but g, how and w. Errors as fr__tune. */
enum fr_status fr__tune_find(struct fr__tuned *t, struct fr_error *err);

/* ---- tune_adapters.c ---- */

/* Adds product o, with what decodes its weights where they are packed. */
void fr__tune_add_product(struct fr__tuned *t, uint32_t o);
/* Adds the adapter of product o behind `end`, which is in the new graph; who reads what `end`
 * writes reads the sum from now on. */
void fr__tune_add_adapter(struct fr__tuned *t, uint32_t o, uint32_t end);

/* ---- tune_prompt.c ---- */

/* Whether o looks words up in the largest table, and is the first to do so. */
bool fr__tune_is_words(const struct fr_graph *g, uint32_t o);
/* Adds the embedding of words o for the positions that samples have, the learned tokens, and both
 * joined; who reads the embedding reads that. */
void fr__tune_add_prompt(struct fr__tuned *t, uint32_t o);
/* Adds given op o, which brings token numbers, for the positions that samples have. */
void fr__tune_add_words(struct fr__tuned *t, uint32_t o);

#endif
