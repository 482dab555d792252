/* collectives/algorithms/custom.h - a person's own algorithm, from a text file.
 *
 *   # all-reduce of two ranks: both send a half, then give it back
 *   collective all-reduce
 *   ranks 2
 *   pieces 2
 *   round
 *   send 0 1 1 sum
 *   send 1 0 0 sum
 *   round
 *   send 0 1 0
 *   send 1 0 1
 *
 * `send FROM TO PIECES [sum]`: PIECES are numbers and ranges with commas between, "0,2-3". With
 * `sum` the receiver adds them to its own, else they take its own's place. What a rank sends in a
 * round it must have had before; a rank begins a round when its own messages of the round before
 * are over. The pieces cut the bytes evenly. Of an all-gather and a reduce-scatter the pieces
 * belong to the ranks in turn, as many to each; of an all-to-all piece s * ranks + d goes from rank
 * s to rank d. The root of a broadcast and a reduce is rank 0.
 *
 * A file is loaded only if every rank ends with the right data.
 */
#ifndef FR_COLLECTIVES_ALGORITHMS_CUSTOM_H
#define FR_COLLECTIVES_ALGORITHMS_CUSTOM_H

#include "collectives/algorithms/schedule.h"

enum {
    FR__CUSTOM_RANKS = 1024,
    FR__CUSTOM_PIECES = 1 << 20,
    FR__CUSTOM_ROUNDS = 1 << 16,
    FR__CUSTOM_SENDS = 1 << 16,   /* and as many ranges of pieces */
    FR__CUSTOM_CARRIED = 1 << 26, /* pieces of all messages together */
    FR__CUSTOM_BYTES = 64 << 20   /* of the file */
};

/* Reads and checks a file. The caller frees *out. FR_EPARSE, FR_ERANGE with file and line;
 * FR_EPARSE with what a rank lacks; FR_ENOENT, FR_EIO, FR_ENOMEM. */
enum fr_status fr__custom_load(struct fr__custom **out, const char *path, struct fr_error *err);
/* The same of text, with a NUL after len bytes; path is for messages. */
enum fr_status fr__custom_parse(struct fr__custom **out, const char *text, size_t len,
                                const char *path, struct fr_error *err);
void fr__custom_free(struct fr__custom *c);
enum fr_collective_kind fr__custom_kind(const struct fr__custom *c);
uint32_t fr__custom_ranks(const struct fr__custom *c);

#endif
