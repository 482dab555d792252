/* lowering/optimizer.h - what an optimizer keeps of a parameter beside its weight.
 *
 * Model:   `states` numbers in the format that the precision recipe gives to states, and `packed`
 *          numbers of a byte with a factor in fp32 for each block of them. Tensors that are small
 *          are not packed.
 * Sources: those of lowering/optimizers.yaml.
 * Ignores: step counts, a number a tensor; tables of quantization, a few hundred bytes in all.
 */
#ifndef FR_LOWERING_OPTIMIZER_H
#define FR_LOWERING_OPTIMIZER_H

#include "lowering/lowering.h"

/* A row of lowering/optimizers.yaml, which says what each is; in the order of enum fr_optimizer. */
struct fr__optimizer {
    const char *name, *summary;
    unsigned states, packed, temporaries;
    const char *source;
};

extern const struct fr__optimizer fr__optimizers[];
extern const size_t fr__n_optimizer_rows;

const struct fr__optimizer *fr__optimizer_at(enum fr_optimizer o);

/* Bytes of states for each of `elements` numbers of a tensor; state_bytes: of a number that is not
 * packed. */
double fr__state_bytes(enum fr_optimizer o, double state_bytes, double elements);
/* The same of a tensor that is large, the least. */
double fr__large_state_bytes(enum fr_optimizer o, double state_bytes);

#endif
