/* sim/collectives/internal.h - what the files of this room and the engine ask of each other
 * about collectives. It is the part of sim/engine.h for this room: that file includes it at its
 * end, as messages and collectives call each other.
 *
 * Two files send messages. ring_run.c sends those of rings, chains and shifts, which run where
 * nobody asks for an algorithm. schedule_run.c sends those of any schedule of
 * collectives/algorithms. A ring is a schedule too, but run as one it is slower and another ring:
 *
 *   - A ring is folded: a message stands for one of each machine (ring_fold.c). A schedule's
 *     messages may wait for any slot, so nothing says that they repeat. A step of AlexNet by
 *     data parallelism on 128 GPUs of 16 machines takes 100 million instructions by folded rings
 *     and 932 million by the schedule. Where nothing is folded (16 GPUs, channels limited), the
 *     schedule takes 11 % more in all, some 350 a message, for slots, for messages in flight and
 *     for those that come before their step. A ring counts rounds and needs none of these.
 *   - A ring's chunk is a whole number of bytes, and a chain has a chunk for each 512 KiB. A
 *     schedule's chunk is not rounded, and it has 64 chunks at most. The step above takes
 *     14.688257 ms by one and 14.688285 ms by the other.
 *   - In a shift a rank goes on when as many chunks have come as rounds are over, whichever they
 *     are. In a schedule it waits for the message of just that step, and the message for it.
 *   - When a message has arrived, a ring's sender goes on before its receiver, a schedule's
 *     afterwards. This orders what starts at the same time.
 */
#ifndef FR_SIM_COLLECTIVES_INTERNAL_H
#define FR_SIM_COLLECTIVES_INTERNAL_H

#include "sim/engine.h"

/* ---- collective.c ---- */
enum fr_status fr__collectives_reset(struct fr__engine *e);
void fr__collectives_fini(struct fr__engine *e);
void fr__collective_arrive(struct fr__engine *e, uint32_t task);
void fr__collective_start(struct fr__engine *e, uint32_t collective);

/* ---- group_rings.c ---- */
/* The rings of a group; NULL with the failure kept. */
const struct fr__ring_set *fr__group_rings(struct fr__engine *e, uint32_t group);
/* Its devices, [n] rank by rank, in the engine's scratch; NULL with the failure kept. */
uint32_t *fr__group_devices(struct fr__engine *e, uint32_t group);
/* How many rings a collective may use. */
size_t fr__most_rings(const struct fr__engine *e);

/* ---- closed_form.c ---- */
/* How a collective goes where no algorithm is asked for. */
enum fr__ring_pattern fr__ring_pattern_of(enum fr_collective_kind kind);
/* The rings of a collective, which run at the same time; 0 for fewer than two ranks, or with the
 * failure kept. */
uint32_t fr__collective_n_rings(struct fr__engine *e, uint32_t collective);
struct fr__ring fr__collective_ring(struct fr__engine *e, uint32_t collective, uint32_t r);
/* The position to which a position sends in a round (from 0). */
static inline uint32_t fr__ring_next(const struct fr__ring *k, uint32_t position, uint32_t round)
{
    uint32_t next = position + (k->pattern == PATTERN_SHIFT ? round + 1 : 1); /* less than 2 n */

    return next < k->n ? next : next - k->n;
}
/* The route of that message, to be given back by fr__route_release or with the message; FR_NONE
 * with the failure kept. */
uint32_t fr__shift_route(struct fr__engine *e, const struct fr__ring *k, uint32_t position,
                         uint32_t round);
static inline uint32_t fr__ring_route(struct fr__engine *e, const struct fr__ring *k,
                                      uint32_t position, uint32_t round)
{
    return k->pattern != PATTERN_SHIFT ? k->routes[position]
                                       : fr__shift_route(e, k, position, round);
}
/* Seconds of one message over a route, alone. */
double fr__hop_s(const struct fr__engine *e, uint32_t route, double bytes);
/* What a collective takes alone, and of what: the sum. */
struct fr__known {
    double start_s;         /* passes once, before all else, and takes no link */
    double latency_s;       /* of all rounds, takes no link */
    double bytes_s;         /* the rest, of which links are full */
    double n_rounds;        /* one after another, each with its part of both; >= 1 */
    enum fr_link_kind kind; /* that bounds it */
    bool is_behind; /* a round's latency passes behind its bytes, not before (schedule_run.c) */
};

/* By the closed form, of the slowest ring. */
struct fr__known fr__collective_alone(struct fr__engine *e, uint32_t collective);
/* The same; hands fn the messages that these seconds are made of: n of so many bytes over a
 * route. */
typedef void fr__hop_fn(struct fr__engine *e, void *user, uint32_t route, double bytes, double n);
double fr__collective_hops(struct fr__engine *e, uint32_t collective, fr__hop_fn *fn, void *user);
/* Adds what its steps put on each link. link_bytes: [n_links]. */
void fr__collective_bytes(struct fr__engine *e, uint32_t collective, double link_bytes[]);

/* ---- repeats.c ---- */
/* What collectives that repeat each other have in common, valid until the next call; NULL: the
 * failure is kept. */
struct fr__link_load;
struct fr__repeat {
    uint32_t of; /* the collective that it was found for */
    bool has_known, has_load;
    struct fr__known known;
    const struct fr__link_load *load; /* link_load.h; as in struct fr__moved */
    double bytes, held_bytes;
};
struct fr__repeat *fr__repeat_of(struct fr__engine *e, uint32_t collective);
enum fr_status fr__repeats_reset(struct fr__engine *e); /* before a run */
void fr__repeats_free(struct fr__repeats *t);

/* ---- ring_run.c ---- */
/* Sends the first messages of a collective whose members have all started. */
void fr__collective_steps(struct fr__engine *e, uint32_t collective);
/* Ends the member that one rank is. */
void fr__member_done(struct fr__engine *e, uint32_t task);

/* ---- ring_fold.c ---- */
/* Whether rings that start now may be folded: nothing else is on the way. */
bool fr__rings_may_fold(const struct fr__engine *e);
/* Folds a ring that is about to start, where it repeats itself. false with the failure kept: out of
 * memory. */
bool fr__ring_fold(struct fr__engine *e, struct fr__ring_state *r);
/* A folded ring is over. */
void fr__ring_fold_end(struct fr__engine *e, struct fr__ring_state *r);

/* ---- known_time.c ---- */
/* A cost of its own: the time is made of the bandwidth and the latency of one kind of link. */
struct fr__own_cost {
    double bandwidth_s, latency_s;
    enum fr_link_kind kind;
};
/* Whether the collective takes its own cost. */
bool fr__collective_has_cost(const struct fr__engine *e, uint32_t collective);
struct fr__own_cost fr__collective_cost(struct fr__engine *e, uint32_t collective);
/* What a collective takes alone, by its own cost or the closed form, with all groups that do the
 * same at work. */
struct fr__known fr__collective_known(struct fr__engine *e, uint32_t collective);
static inline double fr__collective_s(struct fr__engine *e, uint32_t collective)
{
    struct fr__known known = fr__collective_known(e, collective);

    return known.start_s + known.latency_s + known.bytes_s;
}
/* Whether it goes by a known time, and not message by message. */
bool fr__collective_is_known(const struct fr__engine *e, uint32_t collective);

/* ---- flows.c ---- */
/* Starts a collective of a known time, whose members have all started. */
void fr__known_start(struct fr__engine *e, uint32_t collective);
/* The event EVENT_COLLECTIVE_DONE: its time has passed. */
void fr__collective_done(struct fr__engine *e, uint32_t collective);

#endif
