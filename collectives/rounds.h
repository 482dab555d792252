/* collectives/rounds.h - who sends what to whom, round by round: a collective's algorithm for
 * people.
 *
 * Every message takes one round here, whatever its links are. A message leaves in the first round
 * in which its sender has what it needs. Of an algorithm that does the same on several rings or
 * trees and for many chunks, one ring or tree and its first chunk are told.
 */
#ifndef FORERUN_ROUNDS_H
#define FORERUN_ROUNDS_H

#include "collectives/collectives.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FR_ROUNDS_MOST_RANKS = 64, FR_ROUNDS_MOST_MESSAGES = 20000 };

struct fr_collective_message {
    uint32_t round;    /* from 0 */
    uint32_t from, to; /* ranks; n_ranks and more: switches that sum */
    double bytes;
    uint32_t first_piece, n_pieces; /* what it carries: the lowest number, and how many */
    bool is_sum;                    /* the receiver adds it to its own */
};

struct fr_collective_rounds {
    const char *algorithm, *summary, *source; /* of ours; constants */
    uint32_t n_ranks, n_switches, n_rounds, n_pieces;
    uint32_t n_lanes;       /* 1; else messages of the first of so many are kept */
    double sent_bytes;      /* of all ranks, in the lane and the chunk that are told */
    double most_sent_bytes; /* of the rank that sends most */
    size_t n_messages;
    struct fr_collective_message *messages; /* [n_messages] by round, then sender */
};

/* how: its algorithm is of fr_collective_algorithm_name, of NCCL ("Tree", "NVLS"), or file:PATH;
 * NULL: the usual one for the kind; its version of NCCL finds the chains of a tree; nothing else of
 * it matters. devices: [n] rank by rank, for the order of a ring, the chains of a tree and the
 * sides of a torus, which are those that a run takes. The caller frees *out. FR_EUSAGE: no such
 * algorithm, or not for these ranks; FR_ERANGE: more than FR_ROUNDS_MOST_RANKS ranks or
 * FR_ROUNDS_MOST_MESSAGES messages; errors of reading a file; FR_ENOMEM. */
enum fr_status fr_collective_rounds_new(struct fr_collective_rounds **out, const struct fr_topo *t,
                                        const uint32_t devices[], uint32_t n,
                                        enum fr_collective_kind kind, double bytes,
                                        const struct fr_collective_options *how,
                                        struct fr_error *err);
void fr_collective_rounds_free(struct fr_collective_rounds *s);

#ifdef __cplusplus
}
#endif
#endif
