/* collectives/algorithms/schedule.h - a collective's algorithm as a generator of steps.
 *
 * A schedule says what each rank sends when, and makes every step only when it is asked for, so
 * that a collective of many ranks takes no memory for its messages.
 *
 * The model. An entity is a rank or, behind the ranks, a switch that sums. Each entity has the same
 * number of slots: threads that work side by side (one a ring, one a direction of a tree). A slot
 * goes through its steps in order. A step has messages to send and a number of messages to wait
 * for. It is over when all of them have gone and come. A relay step sends only when everything that
 * it waits for has come; another step sends at once. Each message says which step of which slot
 * waits for it. Under rendezvous a message leaves when that step has begun as well, as large
 * messages do in MPI; else it leaves when it can and waits at the receiver.
 *
 * The data. The bytes are cut into pieces. A message carries some of them, as they are when its
 * step begins to send, and its receiver either adds them to its own or puts them in their place.
 * fr__schedule_check runs a schedule on sets of contributions and proves that every rank ends with
 * the right data.
 */
#ifndef FR_COLLECTIVES_ALGORITHMS_SCHEDULE_H
#define FR_COLLECTIVES_ALGORITHMS_SCHEDULE_H

#include "plan/plan.h"

/* Sides: a machine's ranks, and the most that a fabric has (topo/load/fabric.h). */
enum { FR__MOST_DIMS = 7, FR__MOST_AHEAD = 8 };

struct fr__step {
    uint32_t n_sends, n_recvs;
    bool is_relay; /* sends wait for what the step receives */
};

struct fr__send {
    uint32_t to;      /* slot */
    uint32_t to_step; /* that waits for the message */
    double bytes;
    bool is_sum; /* the receiver adds the pieces to its own */
};

struct fr__schedule;
struct fr__custom;

typedef void fr__piece_fn(void *user, uint32_t piece);
/* Seconds of one message between two entities, alone. */
typedef double fr__alone_hop_fn(void *user, uint32_t from, uint32_t to, double bytes);

/* n messages of so many bytes each. */
typedef void fr__traffic_fn(void *user, uint32_t from, uint32_t to, double n, double bytes);

struct fr__algorithm {
    const char *name;    /* "halving-doubling" */
    const char *summary; /* one line for people */
    const char *source;  /* authors, venue, year */
    unsigned kinds;      /* 1 << enum fr_collective_kind, or-ed */
    bool is_rendezvous;
    bool is_pipeline; /* does the same for each of n_chunks chunks, one after the other */
    /* In each step the ranks of a machine do what those of the first do, with all machines moved on
     * by as many places, or, of a power of two, renumbered by xor. */
    bool is_symmetric;
    bool is_on_grid; /* goes along the sides of the torus or mesh in which the ranks stand */
    /* Why the schedule's ranks are not for this algorithm, a sentence; NULL: they are. May be
     * NULL. */
    const char *(*refuse)(const struct fr__schedule *s);
    /* Sets n_entities, n_slots, n_steps, n_pieces and its own numbers. */
    void (*shape)(struct fr__schedule *s);
    /* Step `step` < n_steps of a slot; *out is zeroed before. */
    void (*step)(const struct fr__schedule *s, uint32_t slot, uint32_t step, struct fr__step *out);
    /* Message k of that step; *out is zeroed before. */
    void (*send)(const struct fr__schedule *s, uint32_t slot, uint32_t step, uint32_t k,
                 struct fr__send *out);
    /* The pieces that it carries. */
    void (*carry)(const struct fr__schedule *s, uint32_t slot, uint32_t step, uint32_t k,
                  fr__piece_fn *fn, void *user);
    /* The bytes of a piece; NULL: all are equal. */
    double (*piece_bytes)(const struct fr__schedule *s, uint32_t piece);
    /* The rank that a piece belongs to, of an all-gather and a reduce-scatter; NULL: piece mod n.
     * */
    uint32_t (*owner)(const struct fr__schedule *s, uint32_t piece);
    /* Seconds where no two messages share a link; NULL: the sum over steps of the slowest message
     * of each step. NAN: no memory. */
    double (*alone)(const struct fr__schedule *s, fr__alone_hop_fn *hop, void *user);
    /* What an entity sends to others in all steps, in any order; NULL: found step by step. */
    void (*traffic)(const struct fr__schedule *s, uint32_t entity, fr__traffic_fn *fn, void *user);
};

/* A collective and how it is done. The caller sets the first part and calls fr__schedule_make. What
 * it points to is borrowed. */
struct fr__schedule {
    const struct fr__algorithm *algorithm;
    enum fr_collective_kind kind;
    uint32_t n;    /* ranks, at least 1 */
    uint32_t root; /* of a broadcast and a reduce */
    double bytes;  /* as in struct fr_collective */
    /* Ranks of one machine stand one after the other, so many in each. 0: not known, as 1. */
    uint32_t per_node;
    uint32_t n_lanes;    /* rings, trees; 0: as many as the algorithm likes */
    uint32_t n_chunks;   /* of a pipeline's lane; 0: 1 */
    uint32_t aggregated; /* PAT: most pieces in a message, a power of two; 0: no limit */
    uint32_t dims[FR__MOST_DIMS], n_dims; /* of a torus, the innermost first; 0: one ring */
    /* [n_lanes][n] ranks in ring order; of trees [n_lanes][per_node] a machine's ranks along the
     * chain, counted from its first; NULL: rank order */
    const uint32_t *order;
    const uint32_t *place;    /* where each rank stands in it; NULL with order */
    uint32_t period;          /* of rings in that order: hops so many places apart, in any lane,
                                 take as long (sim/network/ring_period.h); 0: not known */
    const double *share_frac; /* [n_lanes] of the bytes; NULL: equal shares */
    const double *pair_bytes; /* all-to-all: [n][n] from rank to rank; NULL: bytes / n each */
    const struct fr__custom *custom; /* a person's own */
    /* Messages of a slot that may be on their way to one receiver (NCCL's steps of a buffer): the
     * sender goes on once the bytes of the last one have left it. At most FR__MOST_AHEAD. 0: it
     * waits until each has come. */
    uint32_t n_ahead;
    /* Of a symmetric algorithm: so many first ranks, those of a machine, stand for all in what
     * messages take; 0: each rank is looked at. */
    uint32_t n_standing;

    /* Set by fr__schedule_make. */
    uint32_t n_entities; /* ranks, then switches */
    uint32_t n_slots;    /* of each entity; a slot's number is entity * n_slots + its own */
    uint32_t n_steps;    /* of each slot */
    uint32_t n_pieces;
    uint32_t power; /* halving: the largest power of two <= n; else the algorithm's own */
};

/* ---- list.c: the table ---- */

/* NULL past the end. */
const struct fr__algorithm *fr__algorithm_at(size_t i);
/* NULL: unknown. */
const struct fr__algorithm *fr__algorithm_find(const char *name);
/* For a kind of which nothing is asked. */
const struct fr__algorithm *fr__algorithm_usual(enum fr_collective_kind kind);

/* ---- schedule.c ---- */

/* Completes a schedule. FR_EUSAGE: the algorithm has no such collective, or not for these ranks. */
enum fr_status fr__schedule_make(struct fr__schedule *s, struct fr_error *err);
static inline uint32_t fr__slot_entity(const struct fr__schedule *s, uint32_t slot)
{
    return slot / s->n_slots;
}
static inline uint32_t fr__slot_lane(const struct fr__schedule *s, uint32_t slot)
{
    return slot % s->n_slots;
}
void fr__schedule_step(const struct fr__schedule *s, uint32_t slot, uint32_t step,
                       struct fr__step *out);
void fr__schedule_send(const struct fr__schedule *s, uint32_t slot, uint32_t step, uint32_t k,
                       struct fr__send *out);
double fr__schedule_piece_bytes(const struct fr__schedule *s, uint32_t piece);
/* Seconds where no two messages share a link; NAN: no memory. Cost: O(messages), of a pipeline
 * those of one chunk, where n_standing is set those of so many ranks. */
double fr__schedule_alone(const struct fr__schedule *s, fr__alone_hop_fn *hop, void *user);
/* What an entity sends to others in all steps. Cost: O(its messages), of a pipeline those of one
 * chunk, or less. */
void fr__schedule_traffic(const struct fr__schedule *s, uint32_t entity, fr__traffic_fn *fn,
                          void *user);
/* A lane's share of the bytes. */
double fr__lane_frac(const struct fr__schedule *s, uint32_t lane);

/* What a schedule does in all. */
struct fr__schedule_totals {
    double messages;
    double most_sent_bytes; /* of the entity that sends most */
    double sent_bytes;      /* of all */
    uint32_t most_rounds;   /* steps with a message, of the slot with most */
};
void fr__schedule_count(const struct fr__schedule *s, struct fr__schedule_totals *out);

/* ---- schedule_check.c ---- */

/* Runs the schedule on sets of contributions, with messages arriving in an order drawn from `seed`
 * (0: always the same). FR_ECHECK: err says which rank lacks or doubles what; FR_ENOMEM.
 * Cost: O(n_entities * n_pieces * n / 64) memory. */
enum fr_status fr__schedule_check(const struct fr__schedule *s, uint64_t seed,
                                  struct fr_error *err);

/* ---- shared by several algorithms ---- */

static inline uint32_t fr__floor_log2(uint32_t n)
{
    uint32_t l = 0;

    while (n >>= 1)
        l++;
    return l;
}
static inline uint32_t fr__ceil_log2(uint32_t n)
{
    return n <= 1 ? 0 : fr__floor_log2(n - 1) + 1;
}
enum {
    FR__FOR_ALL_REDUCE = 1 << FR_ALL_REDUCE,
    FR__FOR_ALL_GATHER = 1 << FR_ALL_GATHER,
    FR__FOR_REDUCE_SCATTER = 1 << FR_REDUCE_SCATTER,
    FR__FOR_ALL_TO_ALL = 1 << FR_ALL_TO_ALL,
    FR__FOR_BROADCAST = 1 << FR_BROADCAST,
    FR__FOR_REDUCE = 1 << FR_REDUCE
};

extern const struct fr__algorithm fr__ring_algorithm, fr__chain_algorithm, fr__tree_algorithm,
    fr__binomial_algorithm, fr__halving_algorithm, fr__rabenseifner_algorithm, fr__bucket_algorithm,
    fr__bruck_algorithm, fr__hierarchical_algorithm, fr__hierarchical_ring_algorithm,
    fr__two_level_algorithm, fr__two_level_ring_algorithm, fr__direct_algorithm,
    fr__pairwise_algorithm, fr__shift_algorithm, fr__pairwise_nodes_algorithm, fr__nvls_algorithm,
    fr__sharp_algorithm, fr__pat_algorithm, fr__neighbour_algorithm, fr__custom_algorithm;

#endif
