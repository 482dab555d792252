/* collectives/nccl/try.h - between the two halves of the search: search.c and levels.c. */
#ifndef FR_COLLECTIVES_NCCL_TRY_H
#define FR_COLLECTIVES_NCCL_TRY_H

#include "collectives/nccl/system.h"

/* Channels, and under which conditions. */
struct found {
    enum fr__nccl_pattern pattern;
    uint32_t n; /* channels */
    float speed_intra, speed_inter, latency_inter;
    unsigned type_intra, type_inter; /* the worst allowed, enum fr__nccl_path */
    bool same_channels;
    unsigned cross_nic;
    int n_hops;
    uint32_t *gpus; /* [most + 1][n_gpus] */
    uint32_t *nets; /* [most + 1][2] */
};

/* How good a GPU is as the next one. */
struct score {
    uint32_t g, start;
    int inter_bw, pci_bw, inter_hops, intra_bw, intra_hops;
};

struct trial {
    struct fr__ns *s;
    /* What a step of the search looks at lies here and not on the stack: a search of 72 GPUs and 32
     * channels is 2304 steps deep. room: [fr__ns_room_of] */
    uint32_t *room;
    size_t n_room;        /* taken */
    struct score *scores; /* [n_gpus] */
    uint32_t least, most; /* channels */
    struct found now;
    struct found *best;
};

/* For n channels at most. */
static inline size_t fr__ns_room_of(const struct fr__ns *s, size_t n)
{
    size_t n_gpus = s->count[FR__NS_GPU];

    return (n + 2) * (n_gpus * n_gpus + 2 * FR__NS_MOST_NODES);
}

/* Finds as many channels as fit under t->now's conditions, and puts them in *t->best where they are
 * better. *time: visits of GPUs that are left; -1 on return: as many channels as there may be. */
void fr__ns_try(struct trial *t, int *time);

#endif
