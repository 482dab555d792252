/* lowering/optimizer.h - what an optimizer keeps of parameters beside their weights.
 *
 * Model:   `states` numbers for each parameter in the format that the precision recipe gives to
 *          states, and `packed` numbers of a byte with a factor in fp32 for each block of 256 of a
 *          tensor. Tensors of under 4096 numbers are not packed. What a row's rule adds, m and n
 *          being the sizes of a matrix:
 *
 *            factored  m + n numbers, sums of squares by row and by column of the last two dims,
 *                      of every matrix in them; of a vector one for each parameter
 *            muon      nothing; tensors that are no matrices, embeddings and output layers have
 *                      the `other_states`
 *            shampoo   for each block of at most `most` x `most` and each of its dims of size d two
 *                      matrices of d x d: a sum of products and its root. Neighbouring dims are one
 *                      where their product is no more than `most`
 *            soap      for each dim of size d, unless it is over `most`, two matrices of d x d: a
 *                      sum of products and its eigenvectors. None of a vector
 *
 * Sources: those of lowering/optimizers.yaml.
 * Ignores: step counts, a number a tensor; tables of quantization, a few hundred bytes in all; that
 *          some of what a rule adds may stay in 32 bits where states have 16; the messages by which
 *          ranks with slices of a matrix add up its rows and columns (factored).
 */
#ifndef FR_LOWERING_OPTIMIZER_H
#define FR_LOWERING_OPTIMIZER_H

#include "lowering/lowering.h"
#include "lowering/weights.h"

enum fr__matrix_rule {
    FR__RULE_NONE,
    FR__RULE_FACTORED,
    FR__RULE_MUON,
    FR__RULE_SHAMPOO,
    FR__RULE_SOAP
};

/* A row of lowering/optimizers.yaml, which says what each is; in the order of enum fr_optimizer. */
struct fr__optimizer {
    const char *name, *summary;
    enum fr__matrix_rule rule;
    unsigned states, packed, other_states, temporaries;
    double most, every, more_bytes;
    const char *source;
};

extern const struct fr__optimizer fr__optimizers[];
extern const size_t fr__n_optimizer_rows;

const struct fr__optimizer *fr__optimizer_at(enum fr_optimizer o);

/* Bytes of all states of those tensors; state_bytes: of a number that is not packed. */
double fr__states_bytes(enum fr_optimizer o, const struct fr__weights *w, double state_bytes);
/* Of a parameter of large tensors, the least. */
double fr__large_state_bytes(enum fr_optimizer o, double state_bytes);

/* Whether the row's rule is for a tensor: of the matrices, or of the vectors. */
bool fr__rule_holds(enum fr_optimizer o, const struct fr__weights *w, bool is_matrix);

/* The dims of a tensor as Shampoo has them, neighbours merged. */
struct fr__tensors fr__merged_dims(const struct fr__tensors *t, double most);

/* Whether a rank updates tensors as a whole, so that ZeRO shares them out one by one. */
bool fr__takes_whole_tensors(enum fr_optimizer o);

#endif
