/* topo/internal.h - what the files of topo/ share with each other. */
#ifndef FR_TOPO_INTERNAL_H
#define FR_TOPO_INTERNAL_H

#include "base/arena.h"
#include "base/error.h"
#include "topo/topo.h"

/* Hard limits, so that no input makes the simulator ask for absurd memory. */
enum {
    FR__MAX_DEVICES = 65536,
    FR__MAX_MACHINES = 65536,
    FR__MAX_TYPES = 256,
    FR__MAX_MESSAGES = 255, /* and a number for none in a byte */
    FR__MAX_VERTICES = 1 << 20,
    FR__MAX_LINKS = 1 << 23,
    FR__MAX_VERTEX_NAME = 63 /* bytes */
};

struct fr__topo_priv {
    struct fr__arena *arena;   /* holds everything of the topology, this struct included */
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
/* A full-duplex link made by the program itself. */
void fr__topo_builder_cable(struct fr_topo_builder *b, enum fr_link_kind kind, uint32_t one,
                            uint32_t other, double bw_Bps, double latency_s, const char *source);

/* ---- the router, from inside (route.c) ---- */

const struct fr_topo *fr__router_topo(const struct fr_router *r);

/* ---- presets (presets.c; a new one is a file or a table in one, and a word in the list) ---- */

struct fr__preset {
    const char *name;    /* token [a-z0-9.-]+ */
    const char *summary; /* one line for help */
    const char
        *network; /* what its NICs speak, "ib:100Gbps"; taken where a composition says none */
    const char
        *network_system; /* what collectives over several of it behave like on that network, or
                                   NULL */
    uint32_t n_machines; /* that it has; 0: one */
    /* Adds them under the numbers from machine on; faults stay in the builder. */
    void (*build)(struct fr_topo_builder *b, uint32_t machine);
};

/* clang-format off */
#define FR__PRESETS(X)                                                                             \
    X(dgx1_p100) X(dgx1_v100) X(dgx1_v100_32g) X(p2_16xlarge) X(p3_16xlarge) X(dgx2)               \
    X(dgx_a100_40g) X(dgx_a100_80g) X(hgx_h100) X(hgx_h200) X(gh200_quad)             \
    X(hgx_b200) X(gb200_nvl72)
/* clang-format on */

#define FR__DECLARE_PRESET(id) extern const struct fr__preset fr__preset_##id;
FR__PRESETS(FR__DECLARE_PRESET)
#undef FR__DECLARE_PRESET

const struct fr__preset *fr__preset_find(const char *name); /* NULL: unknown */

/* ---- networks between machines (network.c) ---- */

struct fr__network {
    double bw_Bps;    /* of one NIC, each direction */
    double latency_s; /* of one NIC-to-switch link */
    const char *kind; /* "ib": one of ours, so that addresses tell them apart */
    const char *source;
    const char *text; /* as it was written, without the blanks around */
};

/* Whether what was measured on one network holds on the other: one kind, rate and latency. */
bool fr__network_is_same(const struct fr__network *a, const struct fr__network *b);

/* "ib:100Gbps" or "roce:25Gbps,3us" (NIC to NIC, so half of it a link). The text is kept, not
 * copied. FR_EPARSE, FR_ERANGE. */
enum fr_status fr__network_parse(struct fr__network *out, const char *text, struct fr_loc loc,
                                 struct fr_error *err);

/* ---- files (yaml.c) ---- */

struct fr__topo_file; /* lives in the arena it was read into */

enum fr_status fr__topo_file_read(struct fr__arena *a, const char *path, struct fr__topo_file **out,
                                  struct fr_error *err);
/* The whole file: machines from number 0, network and all. */
enum fr_status fr__topo_file_load(const struct fr__topo_file *f, struct fr_topo **out,
                                  struct fr_error *err);
/* Adds its machines under numbers from first on; returns how many. Only for a file without
 * switches and links between machines. */
uint32_t fr__topo_file_place(const struct fr__topo_file *f, struct fr_topo_builder *b,
                             uint32_t first);
bool fr__topo_file_has_fabric(const struct fr__topo_file *f);     /* switches or links between */
const char *fr__topo_file_network(const struct fr__topo_file *f); /* NULL: not said */
/* What collectives over its machines behave like, on its network; NULL: not said. */
const char *fr__topo_file_system(const struct fr__topo_file *f, struct fr_loc *loc);

/* Reads YAML text as fr_topo_load reads a file; name stands for the path. */
enum fr_status fr__topo_load_text(struct fr_topo **out, const char *text, size_t len,
                                  const char *name, struct fr_error *err);

#endif
