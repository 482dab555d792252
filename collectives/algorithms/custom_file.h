/* collectives/algorithms/custom_file.h - a person's own algorithm as it is kept. */
#ifndef FR_COLLECTIVES_ALGORITHMS_CUSTOM_FILE_H
#define FR_COLLECTIVES_ALGORITHMS_CUSTOM_FILE_H

#include "collectives/algorithms/custom.h"

struct fr__custom_range {
    uint32_t first, last; /* pieces, both ends */
};

struct fr__custom_send {
    uint32_t round, from, to;
    uint32_t first_range, n_ranges;
    bool is_sum;
    uint32_t line;
};

struct fr__custom {
    enum fr_collective_kind kind;
    uint32_t n, n_pieces, n_rounds;
    struct fr__custom_send *sends; /* [n_sends] by round and sender */
    size_t n_sends, cap_sends;
    struct fr__custom_range *ranges;
    size_t n_ranges, cap_ranges;
    uint32_t *first;   /* [n_rounds * n + 1] of sends */
    uint32_t *n_recvs; /* [n_rounds * n] */
};

#endif
