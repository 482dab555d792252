/* topo/import/simgrid_graph.h - a SimGrid platform as vertices and directed links.
 *
 * SimGrid says which links a route crosses, not what a link joins. A link that one route alone
 * uses, and alone, joins that route's ends. Any other becomes a pair of vertices with the link
 * between them, and routes pass from pair to pair over joints, as wide as the narrower side, which
 * take no time. So each link is shared by exactly those that share it in SimGrid; whether routes
 * found by fewest links are the file's is checked at the end.
 */
#ifndef FR_TOPO_IMPORT_SIMGRID_GRAPH_H
#define FR_TOPO_IMPORT_SIMGRID_GRAPH_H

#include "base/hash.h"
#include "base/xml.h"
#include "topo/import/sketch.h"

enum fr__sg_policy { FR__SG_SPLIT, FR__SG_SHARED, FR__SG_FATPIPE };

struct fr__sg_link {
    const char *id;
    double bw_Bps, latency_s;
    enum fr__sg_policy policy;
    uint32_t n_uses;      /* in routes of the file */
    uint32_t pairs[2][2]; /* [up, down][in, out]; FR_NONE until wanted */
    struct fr_loc loc;
};

struct fr__sg_route {
    uint32_t src, dst;
    uint32_t n_edges; /* as drawn */
    struct fr_loc loc;
};

struct fr__sg {
    struct fr__sketch *s;
    struct fr__strings ids; /* of vertices, by SimGrid's names; number = vertex */
    const char **names;     /* [ids.n] heap: global names here */
    bool *is_host;          /* [ids.n] heap: it is a GPU here, which passes nothing on */
    size_t cap_names, cap_hosts;
    struct fr__strings link_ids;
    struct fr__sg_link *links;
    size_t cap_links;
    uint32_t (*edges)[2]; /* directed */
    size_t n_edges, cap_edges;
    struct fr__hash_table by_ends;
    struct fr__sg_route *routes;
    size_t n_routes, cap_routes;
    bool is_full; /* out of memory */
};

void fr__sg_init(struct fr__sg *g, struct fr__sketch *s);
void fr__sg_fini(struct fr__sg *g);

/* A vertex called `id` in the file: a switch of that name, or where global is not NULL that vertex
 * of a machine. FR_EPARSE: the id is taken. */
enum fr_status fr__sg_vertex(struct fr__sg *g, const char *id, const char *global,
                             struct fr_loc loc, uint32_t *out);
/* FR_EPARSE: no such vertex, with the nearest. */
enum fr_status fr__sg_find(struct fr__sg *g, const char *id, struct fr_loc loc, uint32_t *out);
/* One direction; a second one between the same two is dropped. */
void fr__sg_edge(struct fr__sg *g, uint32_t from, uint32_t to, double bw_Bps, double latency_s,
                 struct fr_loc loc);
/* Both directions, shared by both where the policy says so: then over a pair called `id`. */
enum fr_status fr__sg_cable(struct fr__sg *g, const char *id, uint32_t one, uint32_t other,
                            double bw_Bps, double latency_s, enum fr__sg_policy policy,
                            struct fr_loc loc);

/* FR_EPARSE: the id is taken. */
enum fr_status fr__sg_add_link(struct fr__sg *g, const struct fr__sg_link *link);
enum fr_status fr__sg_find_link(struct fr__sg *g, const char *id, struct fr_loc loc,
                                struct fr__sg_link **out);
/* A route over links[0..n), each up (0) or down (1), and its way back where it is symmetrical. */
enum fr_status fr__sg_route(struct fr__sg *g, uint32_t src, uint32_t dst, size_t n,
                            struct fr__sg_link *const links[], const unsigned char is_down[],
                            bool is_symmetrical, struct fr_loc loc);
/* FR_EPARSE: a route of the file is not of fewest links, or another one is of as few and over other
 * links. Hosts pass nothing on. Ways that differ only in the direction of a link are alike, with a
 * note. Cost: routes of one host that stand together take one search of the links. */
enum fr_status fr__sg_check_routes(struct fr__sg *g);

#endif
