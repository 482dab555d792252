/* topo/load/fabric.h - a network of several switches between machines, in one word.
 *
 *   fabric = SHAPE [ ( ":" | "," ) option { "," option } ]
 *   option = [ N "x" ] RATE | KEY [ "=" VALUE ]
 *
 * Shapes and what their options mean are in the table of fabric.c. Machines stand in order; a
 * rack's trays are machines. Switches are ideal inside: they never block, their links do.
 */
#ifndef FR_TOPO_LOAD_FABRIC_H
#define FR_TOPO_LOAD_FABRIC_H

#include "topo/load/load.h"

enum fr__shape {
    FR__SHAPE_RAILS,     /* NIC k of each machine on switch k */
    FR__SHAPE_LEAVES,    /* machines on leaf switches, leaves on spines */
    FR__SHAPE_FAT_TREE,  /* leaves and spines in pods, pods on cores */
    FR__SHAPE_DRAGONFLY, /* groups of routers, every two groups joined */
    FR__SHAPE_TORUS,     /* a switch a machine, neighbours joined around */
    FR__SHAPE_MESH,      /* the same without the way around */
    FR__SHAPE_RING,      /* a torus of one dimension */
    FR__SHAPE_FULL,      /* a switch a machine, every two joined */
    FR__N_SHAPES
};

/* Which of several equal ways over spines and cores a message takes. MODULO: the one that the
 * destination's number picks (d-mod-k), HASH: the one that a hash picks, ADAPTIVE: all of them at
 * once, each packet the emptiest, so that parallel switches are as one that carries their sum. */
enum fr__routing { FR__ROUTING_MODULO, FR__ROUTING_HASH, FR__ROUTING_ADAPTIVE, FR__N_ROUTINGS };

enum { FR__MAX_FABRIC_DIMS = 6 };

struct fr__fabric {
    enum fr__shape shape;
    const char *text;       /* as it was written */
    struct fr__network net; /* bw_Bps 0: each NIC's own */
    double link_Bps;        /* between switches, 0: what the shape says */
    double over, core_over; /* oversubscription: downlinks to uplinks of a leaf, of a spine */
    uint32_t rails;         /* 0: as many as the machines have NICs */
    uint32_t machines;      /* on a leaf or router */
    uint32_t spines;        /* of rails or leaves, or of a pod; 0: no spine */
    uint32_t leaves, cores; /* of a pod; in all */
    uint32_t routers;       /* of a group */
    uint32_t bond;          /* NICs of one adapter, which is as wide as all of them */
    enum fr__routing routing;
    uint32_t dims[FR__MAX_FABRIC_DIMS];
    size_t n_dims;
};

/* Whether the text names a shape rather than a plain network, "ib:100Gbps". */
bool fr__fabric_is(const char *text);
/* The shapes' names in their order; NULL past the last. */
const char *fr__fabric_shape_name(size_t i);
/* The text is kept, not copied. FR_EPARSE, FR_ERANGE. */
enum fr_status fr__fabric_parse(struct fr__fabric *out, const char *text, struct fr_loc loc,
                                struct fr_error *err);

/* One NIC to be joined. */
struct fr__fabric_nic {
    uint32_t vertex, machine;
    double bw_Bps, latency_s; /* of its link */
    uint32_t number;          /* of its machine's, from 0 */
};

/* Adds the switches and links for machines 0 .. n_machines - 1. FR_EUSAGE: the shape does not fit
 * that many. Cost: O(NICs + links). */
enum fr_status fr__fabric_build(const struct fr__fabric *f, struct fr_topo_builder *b,
                                const struct fr__fabric_nic nics[], size_t n_nics,
                                uint32_t n_machines, struct fr_error *err);

#endif
