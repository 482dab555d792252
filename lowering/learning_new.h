/* lowering/learning_new.h - makes a record of learning for a strategy to fill. */
#ifndef FR_LOWERING_LEARNING_NEW_H
#define FR_LOWERING_LEARNING_NEW_H

#include "base/arena.h"
#include "lowering/learning.h"
#include "lowering/lowering.h"

/* An empty record of a learning on this problem, with the names of workload, topology and GPUs.
 * *arena is the record's, for what it points to. *gpus is its list of GPUs, each with 0 operations.
 * The caller frees the record with fr_learning_free. NULL: out of memory. */
struct fr_learning *fr__learning_new(const struct fr_problem *in, struct fr__arena **arena,
                                     struct fr_learn_gpu **gpus);

/* Says which question was asked: the strategy as the user wrote it, and the seed. FR_ENOMEM. */
enum fr_status fr__learning_set_question(struct fr_learning *l, const char *strategy, uint64_t seed,
                                         struct fr_error *err);
#endif
