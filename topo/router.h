/* topo/router.h - routes for callers in the library that keep routes themselves. */
#ifndef FR_TOPO_ROUTER_H
#define FR_TOPO_ROUTER_H

#include "topo/topo.h"

enum { FR__MAX_HOPS = 64 }; /* no machine has longer routes */

/* As fr_router_path, but writes the links into the caller's array and does not remember the pair.
 * src and dst must exist. src == dst: no links. */
enum fr_status fr__router_walk(struct fr_router *r, uint32_t src, uint32_t dst,
                               uint32_t hops[FR__MAX_HOPS], size_t *n_hops, struct fr_error *err);
#endif
