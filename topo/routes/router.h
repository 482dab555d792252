/* topo/routes/router.h - routes for callers in the library that keep routes themselves. */
#ifndef FR_TOPO_ROUTES_ROUTER_H
#define FR_TOPO_ROUTES_ROUTER_H

#include "topo/topo.h"

enum { FR__MAX_HOPS = 64 }; /* no machine has longer routes */

/* As fr_router_path, but writes the links into the caller's array and does not remember the pair.
 * src and dst must exist. src == dst: no links. */
enum fr_status fr__router_walk(struct fr_router *r, uint32_t src, uint32_t dst,
                               uint32_t hops[FR__MAX_HOPS], size_t *n_hops, struct fr_error *err);

/* The GPU through which NCCL sends from one GPU of a machine to another, its path NVB: the route
 * (links, [n_links]) leaves NVLink, but one member of the group has an NVLink to each of the two.
 * is_member: [n_devices]. FR_NONE: the route itself is taken. */
uint32_t fr__router_relay(const struct fr_router *r, uint32_t src, uint32_t dst,
                          const uint32_t links[], size_t n_links, const bool is_member[]);

/* As fr_topo_rings. *is_relayed: whether hops inside a machine go through another GPU where
 * fr__router_relay knows one. */
enum fr_status fr__router_rings(struct fr_router *r, const uint32_t devices[], size_t n,
                                size_t max_rings, uint32_t order[], double share_frac[],
                                size_t *n_rings, bool *is_relayed, struct fr_error *err);

/* ---- one machine that stands for many ---- */

/* Whether two devices have the same place in machines that are alike, so that routes to and from
 * them are the same, link by link. A route that was walked may show that it is not so; who takes
 * one machine for all walks its routes before asking. */
bool fr__router_is_like(const struct fr_router *r, uint32_t one, uint32_t other);
/* Of such machines alone: the links with an end in one, in an order that is the same for all that
 * are alike. Returns how many. */
size_t fr__router_links_of(const struct fr_router *r, uint32_t machine, const uint32_t **links);
/* Where one of those links stands among them. Cost: O(log links). */
uint32_t fr__router_place(const struct fr_router *r, uint32_t machine, uint32_t link);

#endif
