/* topo/builder/builder.h - what a builder has collected, shared by builder.c and layout.c. */
#ifndef FR_TOPO_BUILDER_BUILDER_H
#define FR_TOPO_BUILDER_BUILDER_H

#include "base/hash.h"
#include "topo/internal.h"

struct fr_topo_builder {
    struct fr__arena *arena; /* becomes the topology's */
    struct fr_device_type *types;
    struct fr_vertex *vertices;
    uint32_t *vertex_types; /* [n_vertices] */
    struct fr_link *links;
    struct fr__strings sources; /* distinct; thousands of links share a few */
    struct fr_topo_system *systems;
    uint32_t *system_of; /* [n_system_of] by machine, FR_NONE: none */
    struct fr_topo_message *messages;
    size_t n_messages, cap_messages;
    uint32_t network_system;
    const char *network_system_why;
    size_t n_types, n_vertices, n_links, n_devices, n_gpus, n_machines;
    size_t n_systems, n_system_of;
    size_t cap_types, cap_vertices, cap_vertex_types, cap_links;
    size_t cap_systems, cap_system_of;
    bool has_relays, has_hash;
    const char **notes; /* heap; the texts are in the arena */
    size_t n_notes, cap_notes;
    struct fr_topo_part *parts; /* heap; the names are in the arena */
    size_t n_parts, cap_parts;
    bool is_plain;
    struct fr__hash_table by_name, by_ends; /* of vertices, of links */
    enum fr_status fault;
    struct fr_error fault_error;
};

#endif
