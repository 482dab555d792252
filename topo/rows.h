/* topo/rows.h - a topology file as plain arrays of rows.
 *
 * Whatever the format, a file becomes rows first: a list of machine makes, each with its vertices
 * and links by local number, and the fabric between machines by global names. Placing a machine is
 * then a loop, so that a composition of a thousand copies parses nothing twice. topo/load/ reads
 * our own format into rows and builds topologies of them; topo/import/ reads those of others.
 */
#ifndef FR_TOPO_ROWS_H
#define FR_TOPO_ROWS_H

#include "topo/internal.h"

struct fr__vertex_row {
    enum fr_vertex_kind kind;
    const char *name;
    const struct fr_device_type *type; /* NULL for switches and NICs */
    const char *network;               /* a NIC's own, "ib:100Gbps"; NULL: the file's */
    struct fr_loc loc;
};

struct fr__link_row {
    enum fr_link_kind kind;
    const char *from, *to; /* global names, for the fabric */
    uint32_t src, dst;     /* rows of the make, inside a machine */
    double bw_Bps, latency_s;
    bool is_duplex;
    const char *source;
    const char *system, *message; /* what messages over it behave like; NULL: none */
    struct fr_loc loc, message_loc;
};

struct fr__make {
    uint32_t count;
    const char *system; /* NULL: none */
    struct fr_loc system_loc;
    size_t n_vertices, n_links;
    struct fr__vertex_row *vertices;
    struct fr__link_row *links;
};

struct fr__topo_file {
    struct fr__arena *arena;
    const char *path, *name, *network, *source;
    const char *system; /* over several machines; NULL: none */
    struct fr_loc system_loc;
    struct fr_device_type *types;
    struct fr__make *makes;
    struct fr__vertex_row *switches;
    struct fr__link_row *links;
    size_t n_types, n_makes, n_switches, n_links;
    bool has_relays, has_hash;
    size_t n_notes;
    const char *const *notes; /* what was assumed where the file is silent, a sentence each */
};

#endif
