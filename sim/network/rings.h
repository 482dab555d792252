/* sim/network/rings.h - the rings of groups of devices, searched once and kept from run to run. */
#ifndef FR_SIM_NETWORK_RINGS_H
#define FR_SIM_NETWORK_RINGS_H

#include "base/hash.h"
#include "sim/network/routes.h"

/* A hop that NCCL sends through another GPU of the group (topo/routes/router.h,
 * fr__router_relay). */
struct fr__relayed {
    uint32_t from, to, route; /* ranks */
};

/* Rings over the n devices of a group that run at the same time, each with a share of the bytes. */
struct fr__ring_set {
    uint32_t n_rings, n;
    const uint32_t *ranks;    /* [n_rings][n] in ring order */
    const uint32_t *routes;   /* [n_rings][n] from a rank to the next in its ring; n >= 2 */
    const double *share_frac; /* [n_rings] */
    const struct fr__relayed *relayed;
    size_t n_relayed;
    enum fr_link_kind kind; /* the outermost that the first ring crosses */
    /* The rings look the same from `period` positions further (sim/network/ring_period.h); n: from
     * no other position. */
    uint32_t period;
    const uint32_t *period_routes; /* [n_rings][period] stand for all; NULL: period is n */
};

struct fr__kept_rings;

struct fr__rings {
    struct fr__kept_rings **kept; /* [n] */
    size_t n, cap, n_ranks;
    struct fr__hash_table table; /* of kept, on devices and max_rings */
    uint64_t n_searches;         /* of rings, so far */
};

/* On a struct of zeros, or for another run: drops everything when it has become a lot of memory. */
void fr__rings_reset(struct fr__rings *r);
void fr__rings_fini(struct fr__rings *r);

/* The rings of a group. devices: [n] by rank, all different. max_rings: at least 1; 1 asks for one
 * ring in rank order, more for a search (fr_topo_rings). *out is valid until reset or fini.
 * FR_ENOENT: no route between two of them; FR_ECHECK; FR_ENOMEM. */
enum fr_status fr__rings_find(struct fr__rings *r, struct fr__routes *routes,
                              const uint32_t devices[], uint32_t n, size_t max_rings,
                              const struct fr__ring_set **out, struct fr_error *err);

#endif
