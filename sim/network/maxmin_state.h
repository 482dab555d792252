/* sim/network/maxmin_state.h - the inside of the max-min solver. maxmin.c keeps flows and their
 * ends, maxmin_room.c their memory, maxmin_level.c finds where a solve begins, maxmin_fill.c
 * computes rates.
 *
 * A resource that is full is ordered: it lists the flows that cross it by ascending rate, and for
 * each what was left of the capacity before it. So cutting the list at a rate restores, exactly,
 * the state that the resource had when filling reached that rate. Between solves the list is sorted
 * up to n_sorted; new flows, and what removals have disordered, are after that.
 *
 * A resource that is not full is loose: its list has any order, and it knows what its flows leave.
 * It holds no flow back. For most solves it is enough to know that this is still so, and only for
 * those loose resources where a flow is free to grow.
 */
#ifndef FR_SIM_NETWORK_MAXMIN_STATE_H
#define FR_SIM_NETWORK_MAXMIN_STATE_H

#include "sim/network/maxmin.h"
#include "sim/network/tournament.h"
#include "sim/event_queue.h"

#define FR__INLINE_ENTRIES 4u /* of a resource's list, before it moves to the heap */

struct fr__entry {
    uint32_t slot, hop; /* whose path[hop] is the resource */
};

/* A resource's arrays while they are short: one cache line. */
struct fr__room {
    double left_before_Bps[FR__INLINE_ENTRIES];
    struct fr__entry entries[FR__INLINE_ENTRIES];
};

/* One cache line. */
struct fr__resource {
    double capacity_Bps;
    double left_Bps;  /* capacity less the rates of settled entries; loose: of entries that are not
                       * open */
    double level_Bps; /* rate of the flows whose bottleneck it is; 0: it is not full */
    struct fr__entry *entries; /* [n] */
    double *left_before_Bps;   /* [n_sorted] */
    uint32_t n, n_sorted;      /* loose: n_sorted is 0 */
    uint32_t reached;          /* epoch of the last solve that reached it */
    /* while a solve has reached it: entries before n_sorted are as they were */
    uint32_t next;    /* first entry not looked at yet; loose: changes of left_Bps since it was
                         summed up */
    uint32_t n_open;  /* entries from n_sorted on that are not settled; loose, and between solves:
                         flows that have no rate, or in a solve are free to grow */
    bool is_ordered;  /* else loose */
    bool is_changed;  /* is in `changed` */
    bool is_waiting;  /* is in the queue; if loose, in `loose` */
    bool is_past_old; /* the level has passed the one at which it used to be full */
};

struct fr__hop {
    uint32_t resource, pos; /* entries[pos] of the resource is this hop */
};

/* What filling reads most. */
struct fr__share {
    double rate_Bps;     /* INFINITY: not worked out yet */
    uint32_t bottleneck; /* resource; FR_NONE: likewise */
    uint32_t mark;       /* the last solve that saw to it: epoch, rate kept; epoch + 1, changed;
                            epoch + 2, free to grow; of a flow without a rate the next one's */
};

/* The hops have an array of their own. */
struct fr__flow {
    double remaining_bytes, since_s; /* left at since_s */
    double end_s;                    /* at its rate */
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

struct fr__maxmin {
    struct fr__capacities capacities;
    void *resources_at; /* the memory of `resources`, which begin at a cache line */
    struct fr__resource *resources;
    struct fr__room *rooms; /* [n_resources] */
    uint32_t *cap;          /* [n_resources] how many entries a resource's arrays hold; 0: no flow
                               has crossed it yet, and all of it is 0 */
    uint32_t *crossed;      /* [n_crossed] resources that a flow has crossed, ever */
    uint32_t n_resources, n_crossed;

    /* by slot */
    struct fr__share *shares;
    struct fr__flow *flows;
    struct fr__ticket *tickets;
    struct fr__hop *hops; /* [cap_slots][stride] */
    /* how much of a hop's resource a rate of 1 takes: [cap_slots][stride], and the sum of those of
     * the open entries: [n_resources]; NULL, both: 1 each, no flow with other weights so far */
    double *weights, *open_weight;
    struct fr__done *done;
    uint32_t n_slots, cap_slots, stride, free_slot;
    uint32_t n_done, i_done;

    /* when watched: a slot enters at most once by its add and once by a solve */
    uint32_t *new_rates; /* [2 * cap_slots] users of flows with new rates */
    uint32_t n_new_rates;
    bool is_watched;

    /* what the next solve starts from */
    uint32_t *changed;         /* [n_changed] resources */
    uint32_t n_changed, n_new; /* n_new: flows that have no rate */
    double level_Bps;          /* least rate among the flows taken out */

    /* filling */
    uint32_t *active; /* [n_active] ordered resources that this solve reached */
    uint32_t *loose;  /* [n_loose] loose ones with open flows, and some that had them */
    uint32_t n_active, n_loose;
    uint32_t epoch;   /* a multiple of 4, the next one 4 more */
    double from_Bps;  /* the level at which filling resumes */
    double least_Bps; /* no loose resource can be full below this level */
    uint64_t n_open;  /* of all resources reached, and flows that have no rate yet */
    struct fr__event_queue
        queue; /* of resources, by the next level at which something may happen there */

    /* the only flow, while it crosses its narrowest resource and its own, and none of the others */
    struct fr__maxmin_path only;
    uint32_t only_slot;
    bool is_only_narrow;

    struct fr__tournament ends; /* by resource: the earliest end in its group */
    struct fr__maxmin_stats stats;
};

static inline struct fr__hop *fr__maxmin_hops(const struct fr__maxmin *m, uint32_t slot)
{
    return m->hops + (size_t)slot * m->stride;
}

/* ---- weights ---- */

static inline double fr__maxmin_weight(const struct fr__maxmin *m, uint32_t slot, uint32_t hop)
{
    return m->weights ? m->weights[(size_t)slot * m->stride + hop] : 1;
}
static inline double fr__maxmin_weight_of(const struct fr__maxmin *m, struct fr__entry e)
{
    return fr__maxmin_weight(m, e.slot, e.hop);
}
/* What the open entries of a resource take when all have a rate of 1: as many as there are. */
static inline double fr__maxmin_open(const struct fr__maxmin *m, const struct fr__resource *q)
{
    return m->weights ? m->open_weight[q - m->resources] : (double)q->n_open;
}
/* n more entries of this weight are open, or fewer. */
static inline void fr__maxmin_open_more(struct fr__maxmin *m, struct fr__resource *q, double weight)
{
    q->n_open++;
    if (m->weights)
        m->open_weight[q - m->resources] += weight;
}
static inline void fr__maxmin_open_less(struct fr__maxmin *m, struct fr__resource *q, double weight)
{
    q->n_open--;
    if (m->weights)
        m->open_weight[q - m->resources] -= weight;
}
static inline void fr__maxmin_open_none(struct fr__maxmin *m, struct fr__resource *q)
{
    q->n_open = 0;
    if (m->weights)
        m->open_weight[q - m->resources] = 0;
}
/* The weights of a resource's entries from i on: as many as there are. */
double fr__maxmin_sum_weights(const struct fr__maxmin *m, const struct fr__resource *q, uint32_t i);
static inline double fr__maxmin_weights_from(const struct fr__maxmin *m,
                                             const struct fr__resource *q, uint32_t i)
{
    return m->weights ? fr__maxmin_sum_weights(m, q, i) : (double)(q->n - i);
}
/* All entries from i on are open. */
static inline void fr__maxmin_open_from(struct fr__maxmin *m, struct fr__resource *q, uint32_t i)
{
    q->n_open = q->n - i;
    if (m->weights)
        m->open_weight[q - m->resources] = fr__maxmin_sum_weights(m, q, i);
}

static inline void fr__maxmin_note_rate(struct fr__maxmin *m, uint32_t slot)
{
    if (m->is_watched)
        m->new_rates[m->n_new_rates++] = m->tickets[slot].user;
}

/* ---- maxmin_room.c ---- */
/* Sets a resource that a flow has crossed to no flow. */
void fr__maxmin_set_free(struct fr__maxmin *m, uint32_t resource);
/* Room for one more flow over a path; false: out of memory. */
bool fr__maxmin_make_room(struct fr__maxmin *m, const struct fr__maxmin_path *p);
/* From now on hops have weights, those so far 1. */
bool fr__maxmin_begin_weights(struct fr__maxmin *m);
/* Room for the list of new rates, which was not asked for so far. */
bool fr__maxmin_make_new_rates(struct fr__maxmin *m);

/* ---- maxmin_level.c ---- */
/* Levels closer than this are a tie, computed in two ways, and get one rate to the bit. 2^-44,
 * 6e-14, covers the rounding of about 500 subtractions. */
#define FR__TIE 0x1p-44

/* A loose resource's sum is computed anew after so many changes. Each change may add an error of
 * 2^-53 of the capacity; this leaves half of FR__TIE for the sum itself. */
enum { FR__MOST_CHANGES = 256 };

static inline double fr__maxmin_rate_of(const struct fr__maxmin *m, struct fr__entry e)
{
    return m->shares[e.slot].rate_Bps;
}

/* What a loose resource has left for its open flows, less what rounding may have done to the
 * sum. */
static inline double fr__maxmin_loose_left(const struct fr__resource *q)
{
    return q->left_Bps - q->capacity_Bps * FR__TIE;
}

/* A lower bound of the level at which a loose resource is full: the one at which it is when all
 * others keep their rates. */
static inline double fr__maxmin_loose_share(const struct fr__maxmin *m,
                                            const struct fr__resource *q)
{
    return fr__maxmin_loose_left(q) / fr__maxmin_open(m, q);
}

/* Sums up a loose resource whose flows are not free to grow. */
void fr__maxmin_sum_up(const struct fr__maxmin *m, struct fr__resource *q);
/* The same if changes have taken their part of what fr__maxmin_loose_left allows for. */
static inline void fr__maxmin_sum_up_if_rough(const struct fr__maxmin *m, struct fr__resource *q)
{
    if (q->next >= FR__MOST_CHANGES)
        fr__maxmin_sum_up(m, q);
}

/* Sorts the entries of a resource from n_sorted on. */
void fr__maxmin_sort(struct fr__maxmin *m, struct fr__resource *q);
/* Makes a loose resource an ordered one, as it was when filling reached below_Bps. */
void fr__maxmin_put_in_order(struct fr__maxmin *m, struct fr__resource *q, double below_Bps);
/* The level at which filling resumes. Puts a loose resource that may be full before it in order. */
double fr__maxmin_first_level(struct fr__maxmin *m);

/* ---- maxmin_fill.c ---- */
/* Works out all rates that the changed resources touch, as of `now`. */
void fr__maxmin_refill(struct fr__maxmin *m, double now);

#endif
