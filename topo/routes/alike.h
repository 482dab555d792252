/* topo/routes/alike.h - machines that are alike, and routes between them.
 *
 * Two machines are alike if they have the same vertices and links, in the same order, and are
 * connected to the same switches of the network. If two such machines change places, the topology
 * is what it was. So a route between two machines is the same, link by link, as the one between two
 * others like them, and a few searches serve clusters of any size.
 *
 * One thing tells machines apart: among equally good next links a route takes number (destination
 * mod how many there are). So the destination's stand-in must have the same remainder, for all
 * numbers that searches have met; their least common multiple is the modulus.
 *
 * It all holds as long as no route leads through a third machine, and no switch of the network
 * chooses between a link into the destination's machine and one to another switch (their order need
 * not be the same for another machine). The search says so (route_search.h).
 */
#ifndef FR_TOPO_ROUTES_ALIKE_H
#define FR_TOPO_ROUTES_ALIKE_H

#include "topo/routes/router.h"

struct fr__alike;

/* *out: NULL where no two machines are alike. FR_ENOMEM. Cost: O(vertices + links). */
enum fr_status fr__alike_new(struct fr__alike **out, const struct fr_topo *t, struct fr_error *err);
void fr__alike_free(struct fr__alike *a);

uint32_t fr__alike_modulus(const struct fr__alike *a); /* 1 at first */
/* Forgets all routes. FR_ENOMEM. Cost: O(machines). */
enum fr_status fr__alike_set_modulus(struct fr__alike *a, uint32_t modulus, struct fr_error *err);

/* The devices whose route stands for that from src to dst. */
struct fr__stand_in {
    uint32_t src, dst;
};
struct fr__stand_in fr__alike_stand_in(const struct fr__alike *a, uint32_t src, uint32_t dst);

/* Which machines topo/routes/thin.h keeps: is_kept [n_machines], the first three of each kind.
 * Returns how many. */
size_t fr__alike_first_ones(const struct fr__alike *a, bool is_kept[]);
/* The devices of kept machines that have the same places, in two machines if they are in two. */
struct fr__stand_in fr__alike_among_first(const struct fr__alike *a, struct fr__stand_in in);

/* Whether no more routes can be kept. */
bool fr__alike_is_full(const struct fr__alike *a);
/* The route from src to dst, if that of its stand-in is kept. false: it is not. Cost: O(links of
 * the route). */
bool fr__alike_find(const struct fr__alike *a, struct fr__stand_in in, uint32_t src, uint32_t dst,
                    uint32_t hops[FR__MAX_HOPS], size_t *n_hops);
/* Keeps the route of a stand-in. hops: that route or, link by link, the one between `ends`, which
 * have the same places. *is_kept false: it leads through a third machine. FR_ENOMEM. */
enum fr_status fr__alike_keep(struct fr__alike *a, struct fr__stand_in in, struct fr__stand_in ends,
                              const uint32_t hops[], size_t n_hops, bool *is_kept,
                              struct fr_error *err);

/* Whether the first device stands in its machine as the second one in its own, and routes to and
 * from both machines are the same, link by link, as far as the modulus says. */
bool fr__alike_is_like(const struct fr__alike *a, uint32_t one, uint32_t other);
/* The links with an end in a machine. *links: in an order that is the same for machines that are
 * alike. Returns how many. */
size_t fr__alike_links(const struct fr__alike *a, uint32_t machine, const uint32_t **links);
/* Where one of those links stands among them. Cost: O(log links). */
uint32_t fr__alike_place(const struct fr__alike *a, uint32_t machine, uint32_t link);

#endif
