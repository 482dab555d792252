/* sim/maxmin_state.h - the inside of the max-min solver: maxmin.c keeps flows and their ends,
 * maxmin_fill.c works out rates.
 *
 * A resource that is full lists the flows that cross it by ascending rate, and with each what was
 * left of the capacity before it: it is ordered. Cutting the list at a rate therefore puts the
 * resource back, exactly, into the state it had when filling reached that rate. Between solves the
 * list is sorted up to n_sorted; behind that stand new flows and what removals have disordered.
 *
 * A resource that is not full is loose: it keeps its list in any order and only the sum. It holds
 * no flow back, so most solves need to know no more of it than that this is still so.
 */
#ifndef FR_SIM_MAXMIN_STATE_H
#define FR_SIM_MAXMIN_STATE_H

#include "sim/maxmin.h"
#include "sim/radix.h"

#define FR__BLOCK 64          /* resources whose earliest end is kept as one number */
#define FR__INLINE_ENTRIES 4u /* of a resource's list, before it moves to the heap */

struct fr__entry {
    uint32_t slot, hop; /* whose path[hop] is the resource */
};

struct fr__resource {
    double left_Bps; /* capacity less the rates of entries that are settled; loose: not open */
    struct fr__entry *entries; /* [n] */
    double *left_before_Bps;   /* [n_sorted] */
    uint32_t n, n_sorted;      /* loose: n_sorted is 0 */
    /* while a solve has reached it: entries before n_sorted are as they were */
    uint32_t next;   /* first entry not looked at yet */
    uint32_t n_open; /* entries from n_sorted on that are not settled; loose, and between solves:
                        flows that have no rate, or in a solve are free to grow */
};

struct fr__resource_rest {
    double capacity_Bps;
    double level_Bps; /* rate of the flows whose bottleneck it is; 0: it is not full */
    uint32_t cap;     /* room in the resource's arrays */
    bool is_changed;  /* stands in `changed` */
    bool is_waiting;  /* stands in the queue with its share; while a solve has reached it */
    bool is_ordered;  /* else loose */
};

struct fr__hop {
    uint32_t resource, pos; /* entries[pos] of the resource is this hop */
};

/* What filling reads and writes; the rate and the hops have arrays of their own. */
struct fr__flow {
    double remaining_bytes, since_s; /* left at since_s */
    uint32_t n_hops;
};

struct fr__fate {
    uint32_t bottleneck; /* resource; FR_NONE: rate not worked out yet */
    uint32_t mark;       /* the last solve that saw to it: epoch, rate kept; epoch + 1, changed;
                      epoch + 2, free to grow */
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

/* Room to sort a resource's entries. */
struct fr__sort_item {
    double key;
    struct fr__entry entry;
};

struct fr__maxmin {
    struct fr__resource *resources;
    struct fr__resource_rest *rest;
    struct fr__entry *inline_entries; /* [n_resources][FR__INLINE_ENTRIES] */
    double *inline_left_Bps;          /* likewise */
    uint32_t n_resources, n_blocks;

    struct fr__sort_item *sorting; /* [cap_sorting] the longest list's length */
    uint32_t cap_sorting;

    /* by slot */
    double *rate_Bps;
    struct fr__fate *fates;
    struct fr__flow *flows;
    struct fr__ticket *tickets;
    struct fr__hop *hops; /* [cap_slots][stride] */
    struct fr__done *done;
    uint32_t n_slots, cap_slots, stride, free_slot;
    uint32_t n_done, i_done;

    /* when watched: a slot enters at most once by its add and once by a solve */
    uint32_t *new_rates; /* [2 * cap_slots] users of flows with new rates */
    uint32_t n_new_rates;
    bool is_watched;

    /* what the next solve starts from */
    uint32_t *changed; /* [n_changed] resources */
    uint32_t n_changed;
    double level_Bps; /* least rate among the flows taken out */

    /* filling */
    uint32_t *active;  /* [n_active] resources that this solve reached or touched */
    uint32_t *reached; /* [n_resources] epoch of the last solve that reached it, or epoch + 1:
                          touched, which is for loose ones */
    uint32_t n_active, epoch;
    double from_Bps;        /* the level at which filling resumes */
    uint64_t n_open;        /* of all resources reached */
    struct fr__radix queue; /* resource r by its share as r, by its old level as n_resources + r */

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

/* What all flows leave of a loose resource; one that has no rate takes nothing. Summed anew each
 * time, so that no rounding adds up over a run. */
static inline void fr__maxmin_sum_up(struct fr__maxmin *m, uint32_t resource)
{
    struct fr__resource *q = &m->resources[resource];
    double left_Bps = m->rest[resource].capacity_Bps;

    for (uint32_t k = 0; k < q->n; k++)
        left_Bps -= m->rate_Bps[q->entries[k].slot];
    q->left_Bps = left_Bps;
}

static inline void fr__maxmin_note_rate(struct fr__maxmin *m, uint32_t slot)
{
    if (m->is_watched)
        m->new_rates[m->n_new_rates++] = m->tickets[slot].user;
}

/* Works out all rates that the changed resources touch, as of `now`. */
void fr__maxmin_refill(struct fr__maxmin *m, double now);

#endif
