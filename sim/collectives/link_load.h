/* sim/collectives/link_load.h - what a collective or a message puts on links.
 *
 * A collective whose time is known when it starts (a formula's, or a cost of its own) sends no
 * messages one by one. It still takes its links from others. Its load says how much: at a rate of
 * x bytes a second of one message, each link carries weight * x. A rate is that of one message of
 * a ring's hop, as if the messages went one by one. So rates of collectives and messages compare,
 * and the network model can share links among them (sim/network/maxmin.h).
 *
 *   ring, chain   a message on each hop: the weight of a link is the number of hops over it; of R
 *                 rings that share the bytes unevenly R times each ring's share
 *   ring step     the same, one round
 *   all-to-all    the mean of its n - 1 rounds
 *   schedules     (schedule_choice.h) the bytes of all steps over those of the busiest link
 *
 * Folded plans. One member stands for all ranks of a stage. All groups that its group stands for
 * do the same at the same time, so the load is that of all of them together. A message between
 * stages counts with those of all ranks. Links that have the same weights in all loads of the plan,
 * and the same bandwidth, carry the same at all times. They are a class, which one of them stands
 * for. So a load is as long as there are classes, not links.
 *
 * Source of the classes: an equitable partition, as in sim/network/ring_period.h.
 */
#ifndef FR_SIM_COLLECTIVES_LINK_LOAD_H
#define FR_SIM_COLLECTIVES_LINK_LOAD_H

#include "sim/engine.h"

/* What one collective moves: its load at so many bytes of weight 1. */
struct fr__moved {
    const struct fr__link_load *load; /* NULL: it crosses no link, or the failure is kept */
    double bytes;                     /* by which links are counted: bytes * weight each */
    double held_bytes; /* the same, as long as they hold the links: more where a protocol is slow */
};

/* Before each run; in a folded plan makes all loads and the classes. FR_ENOMEM, or the failure of a
 * route. Cost: O(collectives + transfers), and for each different load its routes and O(links). */
enum fr_status fr__link_loads_reset(struct fr__engine *e);
void fr__link_loads_free(struct fr__link_loads *l);

/* Of a collective that takes a known time of bytes_s for its bytes. Where they cannot have crossed
 * the links in that time (a measured time of sums in switches), as many as can have. */
struct fr__moved fr__moved_by(struct fr__engine *e, uint32_t collective, double bytes_s);
/* Of a message between devices of a folded plan; NULL: the plan is not folded, the message is one
 * over its route, or the failure is kept. */
const struct fr__link_load *fr__link_load_of_pair(struct fr__engine *e, uint32_t src, uint32_t dst);
/* Adds what a collective of a known time puts on links. link_bytes: [n_links]. */
void fr__count_known(struct fr__engine *e, uint32_t collective, double link_bytes[]);
/* Gives all links of a class the bytes of the one that stands for them. */
void fr__link_loads_spread(const struct fr__engine *e, double link_bytes[]);

/* ---- link_classes.c ---- */

/* Finds the first link that carries the same as each link, class_of [n_links], and keeps of each
 * load those links alone. The failure is kept. Cost: O(links + entries of all loads). */
void fr__link_classes(struct fr__engine *e, struct fr__link_load *const loads[], size_t n_loads,
                      uint32_t class_of[]);

#endif
