/* lowering/partition/ranks_search.h - the second way of ranks.h: borders from left to right. */
#ifndef FR_LOWERING_PARTITION_RANKS_SEARCH_H
#define FR_LOWERING_PARTITION_RANKS_SEARCH_H

#include "lowering/partition/ranks.h"

/* As fr__cut_ranks, for any chain. */
enum fr_status fr__ranks_search(const struct fr__chain *c, const struct fr__ranks_visitor *visitor,
                                uint32_t first[], struct fr__ranks_cut *out, struct fr_error *err);

#endif
