/* topo/import/sketch.h - the rows of a topology while an importer makes them.
 *
 * Faults (no memory, too many rows) are kept and told by fr__sketch_finish, so that an importer can
 * go on drawing; what it adds then is dropped.
 */
#ifndef FR_TOPO_IMPORT_SKETCH_H
#define FR_TOPO_IMPORT_SKETCH_H

#include "base/hash.h"
#include "topo/hosts/hosts.h"
#include "topo/rows.h"

enum {
    FR__MAX_IMPORT_MACHINES = 4096, /* makes and copies of them in one file */
    FR__MAX_IMPORT_NOTES = 64,
};

struct fr__sketch {
    struct fr__arena *arena; /* what is kept */
    const char *path;
    struct fr_error *err;
    enum fr_status fault;
    struct fr__make *makes;          /* heap, as all arrays here; the last one is being drawn */
    struct fr__vertex_row *vertices; /* of the last make */
    struct fr__link_row *links;      /* of the last make */
    struct fr__vertex_row *switches;
    struct fr__link_row *cables; /* between machines and switches */
    const char *notes[FR__MAX_IMPORT_NOTES];
    struct fr__hash_table pairs; /* links of the last make by their ends, in either direction */
    size_t n_makes, n_vertices, n_links, n_switches, n_cables, n_notes;
    size_t cap_makes, cap_vertices, cap_links, cap_switches, cap_cables;
    uint32_t n_machines;                      /* copies included */
    const char *network_system, *measured_on; /* of the whole file */
    const char *gpu_type;                     /* what the caller says its GPUs are, or NULL */
};

void fr__sketch_init(struct fr__sketch *s, struct fr__arena *a, const char *path,
                     struct fr_error *err);
void fr__sketch_fini(struct fr__sketch *s);

/* Begins a make of `count` equal machines; rows that follow are its own. */
void fr__sketch_machine(struct fr__sketch *s, uint32_t count, struct fr_loc loc);
/* A vertex "NAME<number>" of the make, its row. type: NULL for switches and NICs. A number of
 * FR_NONE leaves the digits out. */
uint32_t fr__sketch_vertex(struct fr__sketch *s, enum fr_vertex_kind kind, const char *name,
                           uint32_t number, const struct fr_device_type *type, struct fr_loc loc);
/* A link between two rows of the make. Between two that have one already (in that direction) the
 * wider stays. The source is kept, not copied. Cost: O(1) on average. */
void fr__sketch_link(struct fr__sketch *s, enum fr_link_kind kind, uint32_t src, uint32_t dst,
                     double bw_Bps, double latency_s, bool is_duplex, const char *source,
                     struct fr_loc loc);
/* The same, full duplex, of a pair that is known to have none yet. */
void fr__sketch_wire(struct fr__sketch *s, enum fr_link_kind kind, uint32_t src, uint32_t dst,
                     double bw_Bps, double latency_s, const char *source, struct fr_loc loc);
/* Messages over the link added last behave like that link of that system; kept, not copied. */
void fr__sketch_message(struct fr__sketch *s, const char *system, const char *message);
/* Collectives inside the make behave like the system. */
void fr__sketch_system(struct fr__sketch *s, const char *system);
/* Collectives over several such machines behave like it, if all NICs speak that network. */
void fr__sketch_network_system(struct fr__sketch *s, const char *system, const char *network);
/* What the NIC of that row speaks, "ib:100Gbps"; kept, not copied. */
void fr__sketch_network(struct fr__sketch *s, uint32_t nic, const char *network);
/* The host of the make: "cpu0" and n sockets, all joined with each other; sockets: [n], their rows.
 * The two sockets' memory is shared out where there are more domains. numbers: [n] of the names. */
void fr__sketch_host(struct fr__sketch *s, const struct fr__host *host, size_t n,
                     const uint32_t numbers[], uint32_t sockets[], struct fr_loc loc);

/* A switch of the network, by its global name (copied). */
void fr__sketch_switch(struct fr__sketch *s, const char *name, struct fr_loc loc);
/* A cable by global names, "n3.gpu0" or a switch's (copied). The source is kept. */
void fr__sketch_cable(struct fr__sketch *s, enum fr_link_kind kind, const char *from,
                      const char *to, double bw_Bps, double latency_s, bool is_duplex,
                      const char *source, struct fr_loc loc);

/* One sentence about what was assumed; the same sentence twice counts once, after
 * FR__MAX_IMPORT_NOTES they are dropped. */
void fr__sketch_note(struct fr__sketch *s, const char *fmt, ...) FR_PRINTF(2, 3);

/* The file of all rows, in the arena; what fr__sketch_init to here kept as a fault is told. */
enum fr_status fr__sketch_finish(struct fr__sketch *s, struct fr__topo_file **out);

#endif
