/* calibrate/cost/memo.h - remembers the costs of one graph's ops from question to question.
 *
 * Questions about one model on one cluster ask for the same ops at the same batches again and
 * again. The layers of a model are often alike, too: where no sample was measured, kernels of the
 * same sizes are priced once. A memo gives the same answers as fr_cost_op, fr_cost_bytes and
 * fr_cost_product, to the last bit. One thread at a time may use it.
 */
#ifndef FR_CALIBRATE_COST_MEMO_H
#define FR_CALIBRATE_COST_MEMO_H

#include "calibrate/calibrate.h"

struct fr_cost_memo;

/* Both are borrowed and must outlive the memo. NULL: out of memory. */
struct fr_cost_memo *fr__cost_memo_new(const struct fr_cost_model *costs,
                                       const struct fr_graph *graph);
void fr__cost_memo_free(struct fr_cost_memo *m); /* NULL is allowed */

/* As fr_cost_op on the memo's model and graph. Only whole ops (no channel_parts or input_parts) are
 * remembered, for up to 64 pairs of type and batch. All others, and all when memory is short, are
 * computed again. */
void fr__cost_memo_op(struct fr_cost_memo *m, uint32_t type, uint32_t op,
                      const struct fr_part *part, struct fr_cost *out);
/* As fr_cost_bytes. */
void fr__cost_memo_bytes(struct fr_cost_memo *m, uint32_t type, double bytes, enum fr_op_kind kind,
                         struct fr_cost *out);
/* As fr_cost_product. */
void fr__cost_memo_product(struct fr_cost_memo *m, uint32_t type,
                           const struct fr_cost_product *product, struct fr_cost *out);
#endif
