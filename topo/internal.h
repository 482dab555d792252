/* topo/internal.h - what the files of topo/ share with each other. */
#ifndef FR_TOPO_INTERNAL_H
#define FR_TOPO_INTERNAL_H

#include "base/arena.h"
#include "base/error.h"
#include "topo/topo.h"

/* Hard limits, so that no input makes the simulator ask for huge amounts of memory. */
enum {
    FR__MAX_GPUS = 65536, /* and a CPU for each machine */
    FR__MAX_MACHINES = 65536,
    FR__MAX_TYPES = 256,
    FR__MAX_MESSAGES = 255, /* a byte holds these and a number for "none" */
    FR__MAX_VERTICES = 1 << 20,
    FR__MAX_LINKS = 1 << 23,
    FR__MAX_NOTES = 256,
    FR__MAX_VERTEX_NAME = 63 /* bytes; two, and one between, fit into FR_LINK_NAME */
};

struct fr__topo_priv {
    struct fr__arena *arena;    /* holds all else of the topology, this struct included */
    struct fr_vertex *vertices; /* heap, as the builder made them */
    struct fr_link *links;
    const uint32_t *host_of;   /* [n_machines] the CPU device of each, or FR_NONE */
    const uint32_t *first_gpu; /* [n_machines + 1] machine m has GPUs first_gpu[m]..[m+1] */
};

/* ---- the built-in device types (made of topo/devices/ by the build) ---- */

extern const struct fr_device_type fr__device_types[];
extern const size_t fr__n_device_types;

/* ---- the builder, from inside (builder.c; layout.c finishes) ---- */

/* The vertex of that name, or FR_NONE. */
uint32_t fr__topo_builder_find(const struct fr_topo_builder *b, const char *name);
size_t fr__topo_builder_n_vertices(const struct fr_topo_builder *b);
bool fr__topo_builder_has_fault(const struct fr_topo_builder *b);
/* Valid until the next vertex is added. */
const struct fr_vertex *fr__topo_builder_get(const struct fr_topo_builder *b, uint32_t vertex);
/* A vertex named "n<machine>.<name>" with the number behind, e.g. "n0.gpu3"; type: a built-in
 * device type's name, NULL for switches and NICs. */
uint32_t fr__topo_builder_add(struct fr_topo_builder *b, enum fr_vertex_kind kind, uint32_t machine,
                              const char *name, unsigned number, const char *type);
/* What is left of the network links at a vertex, or of a link and the way back: frac of their rate;
 * 0 takes them away. name: of vertices or links, or a pattern of them (topo/select/pattern.h). What
 * was measured of whole links is no longer said of these, their machines and the network.
 * FR_ENOENT: nothing of that name; FR_EUSAGE: no network link there; FR_EPARSE, FR_ERANGE: a range
 * that is none. Cost: O(links). */
enum fr_status fr__topo_builder_degrade(struct fr_topo_builder *b, const char *name, double frac,
                                        struct fr_error *err);
/* The same of a list, "n0.nic1=0.5,net.rail3=0". */
enum fr_status fr__topo_builder_degrade_all(struct fr_topo_builder *b, const char *text,
                                            struct fr_error *err);
/* NCCL sends through sockets over the cards of all machines: see topo/builder/degrade.c. */
void fr__topo_builder_over_sockets(struct fr_topo_builder *b);
/* Multiplies the rate of the PCIe links at each vertex; factors: [n_vertices], 0: as they are. */
void fr__topo_builder_widen(struct fr_topo_builder *b, const double factors[]);
/* What a NIC speaks that no network joins yet; copied. */
void fr__topo_builder_network(struct fr_topo_builder *b, uint32_t vertex, const char *text);
/* A sentence about what was assumed, for people; copied, the same one twice is one. */
void fr__topo_builder_note(struct fr_topo_builder *b, const char *text);
/* So many machines from number `first` on are copies of what a composition names so; copied. */
void fr__topo_builder_part(struct fr_topo_builder *b, const char *name, uint32_t first, uint32_t n,
                           uint32_t n_copies);
/* The machines have no hardware. */
void fr__topo_builder_plain(struct fr_topo_builder *b);
/* A full-duplex link made by the program itself. */
void fr__topo_builder_cable(struct fr_topo_builder *b, enum fr_link_kind kind, uint32_t one,
                            uint32_t other, double bw_Bps, double latency_s, const char *source);

/* ---- copies of machines, in a builder (repeat.c) ---- */

/* What has been added from begin to end. */
struct fr__repeated {
    uint32_t first_vertex, past_vertex, first_link, past_link, first_machine, past_machine;
};
/* machine: the number of the first one that is added next; at the end, of the one after them. */
struct fr__repeated fr__topo_builder_begin(const struct fr_topo_builder *b, uint32_t machine);
void fr__topo_builder_end(const struct fr_topo_builder *b, struct fr__repeated *r,
                          uint32_t machine);
/* Adds the same machines again from the number `machine` on. The names of their vertices begin with
 * a word and their machine's number, "n0.", or the first one's. No link leads out of them. The
 * builder does not find the copies by name, nor notices a second link between two vertices of one.
 * false: nothing is added, as a limit would be passed. Faults stay in the builder. Cost:
 * O(vertices + links) of them. */
bool fr__topo_builder_repeat(struct fr_topo_builder *b, const struct fr__repeated *r,
                             uint32_t machine);

/* ---- the router, from inside (route.c) ---- */

const struct fr_topo *fr__router_topo(const struct fr_router *r);

#endif
