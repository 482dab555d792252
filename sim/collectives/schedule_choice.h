/* sim/collectives/schedule_choice.h - how each collective of a run is done, where the options say
 * more than rings.
 *
 * fr__schedule_choose turns what a person asked for (collectives/options.h) into a schedule
 * for one collective. Collectives for which it returns false go by the rings, chains and shifts of
 * closed_form.c.
 */
#ifndef FR_SIM_COLLECTIVES_SCHEDULE_CHOICE_H
#define FR_SIM_COLLECTIVES_SCHEDULE_CHOICE_H

#include "collectives/options.h"
#include "sim/engine.h"

/* One collective of a run. */
struct fr__collective_schedule {
    struct fr__schedule schedule;
    enum fr__nccl_protocol protocol; /* FR__NCCL_N_PROTOCOLS: none, as the links are */
    enum fr_link_kind start_kind;    /* of which start_s is a latency */
    double start_s;                  /* before the first message, with own_s */
    double own_s; /* of it, what counts as bandwidth of start_kind: moved inside a GPU's memory */
    double wire_factor;  /* how long a message holds its links: bytes on the wire for each byte of
                           data, times slow_factor */
    double slow_factor;  /* more than the links say, of bytes */
    double slow_latency; /* more than NCCL's constants and the links say, of latencies */
    const struct fr__ring_set *rings; /* whose relayed hops are taken; NULL: none */
    const uint32_t *devices; /* [n] of another group that does the same; NULL: the collective's */
    double hop_s[FR_N_LINK_KINDS]; /* least latency of a message by its outermost kind of link */
};

/* false: it goes by closed_form.c, or the failure is kept. As fast as its links and protocol. */
bool fr__schedule_choose(struct fr__engine *e, uint32_t collective,
                         struct fr__collective_schedule *out);
/* The route of a message between two entities of the schedule, to be given back by
 * fr__route_release or with the message; FR_NONE with the failure kept. */
uint32_t fr__scheduled_route(struct fr__engine *e, uint32_t collective,
                             const struct fr__collective_schedule *w, uint32_t from, uint32_t to);
/* What the protocol takes at the receiver beyond the route's latency. *kind: of the links whose
 * latency it is. */
double fr__scheduled_extra_s(const struct fr__engine *e, const struct fr__collective_schedule *w,
                             const struct fr__route *route, enum fr_link_kind *kind);

/* ---- schedule_time.c ---- */

/* By the closed form. */
struct fr__scheduled_time {
    double alone_s;   /* where no link is shared exactly what the steps take; else not less than the
                         busiest link needs */
    double latency_s; /* of that, after start_s, the latency that bytes do not hide: no more than
                         what the busiest link leaves */
};
/* Cost: O(messages), of symmetric collectives (symmetry.h) those of one machine. */
struct fr__scheduled_time fr__scheduled_time(struct fr__engine *e, uint32_t collective,
                                             const struct fr__collective_schedule *w);

/* ---- schedule_limit.c ---- */

/* As fr__schedule_choose, and as slow as NCCL's blocks of threads. */
bool fr__collective_schedule_of(struct fr__engine *e, uint32_t collective,
                                struct fr__collective_schedule *out);

/* ---- schedule_bytes.c ---- */

struct fr__symmetry;
/* Whether the first machine stands for all; then the caller calls fr__symmetry_end. */
bool fr__scheduled_is_symmetric(struct fr__engine *e, uint32_t collective,
                                const struct fr__collective_schedule *w, struct fr__symmetry *out);
/* Adds what its steps put on each link. link_bytes: [n_links]. Cost: as fr__scheduled_time. */
void fr__scheduled_bytes(struct fr__engine *e, uint32_t collective,
                         const struct fr__collective_schedule *w, double link_bytes[]);

/* ---- schedule_run.c: the steps ---- */

/* Begins the messages of a collective whose members have all started. */
void fr__scheduled_start(struct fr__engine *e, uint32_t collective,
                         const struct fr__collective_schedule *w);

#endif
