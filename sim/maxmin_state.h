/* sim/maxmin_state.h - the inside of the max-min solver: maxmin.c keeps flows and their ends,
 * maxmin_fill.c works out rates.
 *
 * Each resource lists the flows that cross it. The list starts with the frozen flows, those whose
 * rate is settled, in the order in which filling froze them, which is by ascending rate; each entry
 * remembers what was left of the capacity before it. Cutting the list at a rate therefore puts the
 * resource back, exactly, into the state it had when filling reached that rate. New flows stand
 * behind the frozen ones. The last entries, from `group` on, are the flows whose bottleneck the
 * resource is: they have one rate, so one number says when the first of them ends.
 */
#ifndef FR_SIM_MAXMIN_STATE_H
#define FR_SIM_MAXMIN_STATE_H

#include "sim/maxmin.h"

#define FR__N_BUCKETS 64      /* bits of a double */
#define FR__BLOCK 64          /* resources whose earliest end is kept as one number */
#define FR__INLINE_ENTRIES 4u /* of a resource's list, before it moves to the heap */

struct fr__entry {
    uint32_t slot, hop; /* whose path[hop] is the resource */
};

/* What filling reads and writes, in half a cache line. */
struct fr__resource {
    double left_Bps;           /* capacity less the rates of the frozen entries */
    struct fr__entry *entries; /* [n] */
    double *left_before_Bps;   /* [n_frozen] what was left before each was frozen */
    uint32_t n, n_frozen;
};

struct fr__resource_rest {
    double capacity_Bps;
    uint64_t key;    /* share in the queue, as bits */
    uint32_t next;   /* in its bucket; FR_NONE: last */
    uint32_t cap;    /* room in the resource's arrays */
    uint32_t group;  /* first entry with this bottleneck; used only while the end is finite */
    uint32_t mark;   /* epoch of the last solve that reached it */
    bool is_changed; /* stands in `changed` */
};

struct fr__hop {
    uint32_t resource, pos; /* entries[pos] of the resource is this hop */
};

/* What filling reads and writes; the rate and the hops have arrays of their own. */
struct fr__flow {
    double remaining_bytes, since_s; /* left at since_s */
    uint32_t n_hops;
};

struct fr__ticket {
    uint64_t seq;  /* insertion number; UINT64_MAX: the slot is free */
    uint32_t user; /* of a free slot: the next one, FR_NONE */
};

/* A flow found finished; it is gone already when its slot has another insertion number. */
struct fr__done {
    uint64_t seq;
    uint32_t slot;
};

/* Monotone radix heap (R. K. Ahuja, K. Mehlhorn, J. B. Orlin, R. E. Tarjan, Journal of the ACM
 * 37(2), 1990, section 2) of resources by share: bucket b holds keys that differ from `base` first
 * in bit b - 1. Keys are the bits of positive doubles, which sort like the doubles. */
struct fr__queue {
    uint64_t base, filled; /* filled: bit b set when bucket b holds something */
    uint32_t head[FR__N_BUCKETS], n[FR__N_BUCKETS];
};

struct fr__maxmin {
    struct fr__resource *resources;
    struct fr__resource_rest *rest;
    struct fr__entry *inline_entries; /* [n_resources][FR__INLINE_ENTRIES] */
    double *inline_left_Bps;          /* likewise */
    uint32_t n_resources, n_blocks;

    /* by slot; rates and marks apart, since finding what changed reads little else */
    double *rate_Bps; /* 0: not worked out yet */
    uint32_t *mark;
    struct fr__flow *flows;
    struct fr__ticket *tickets;
    struct fr__hop *hops; /* [cap_slots][stride] */
    struct fr__done *done;
    uint32_t n_slots, cap_slots, stride, free_slot;
    uint32_t n_done, i_done;

    /* what the next solve starts from */
    uint32_t *changed; /* [n_changed] resources */
    uint32_t n_changed;
    double level_Bps; /* least rate among the flows taken out */

    /* filling */
    uint32_t *active; /* [n_active] resources that this solve opened flows of */
    uint32_t n_active, epoch;
    uint32_t n_blind; /* solves to come that open flows without following connections */
    uint64_t n_hops;  /* of all live flows */
    uint64_t n_open;  /* of the open ones */
    struct fr__queue queue;

    /* next end */
    double *end_s;         /* [n_blocks][FR__BLOCK] earliest end in each resource's group */
    double *block_end_s;   /* [n_blocks] */
    uint32_t *stale_block; /* [n_stale] */
    bool *is_stale;        /* [n_blocks] */
    uint32_t n_stale;
    double next_s;

    struct fr__maxmin_stats stats;
};

static inline struct fr__hop *fr__maxmin_hops(const struct fr__maxmin *m, uint32_t slot)
{
    return m->hops + (size_t)slot * m->stride;
}

static inline void fr__maxmin_set_end(struct fr__maxmin *m, uint32_t resource, double end_s)
{
    uint32_t block = resource / FR__BLOCK;

    m->end_s[resource] = end_s;
    if (!m->is_stale[block]) {
        m->is_stale[block] = true;
        m->stale_block[m->n_stale++] = block;
    }
}

/* Works out all rates that the changed resources touch, as of `now`. */
void fr__maxmin_refill(struct fr__maxmin *m, double now);

#endif
