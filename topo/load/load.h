/* topo/load/load.h - makes a topology of what a user names: presets, files, networks.
 *
 * The room is above topo/ and topo/machines/: it calls both, and neither calls it.
 */
#ifndef FR_TOPO_LOAD_LOAD_H
#define FR_TOPO_LOAD_LOAD_H

#include "topo/internal.h"

/* ---- networks between machines (network.c) ---- */

struct fr__network {
    double bw_Bps;    /* of one NIC, each direction */
    double hop_s;     /* that one more switch on the way takes */
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

/* A kind of network alone, "ib": its latencies, no rate. FR_EPARSE. */
enum fr_status fr__network_kind(struct fr__network *out, const char *name, struct fr_loc loc,
                                struct fr_error *err);

/* ---- files (file.c reads, file_place.c builds) ---- */

struct fr__topo_file; /* lives in the arena it was read into */

enum fr_status fr__topo_file_read(struct fr__arena *a, const char *path, struct fr__topo_file **out,
                                  struct fr_error *err);
/* The whole file: machines from number 0, network and all. */
enum fr_status fr__topo_file_load(const struct fr__topo_file *f, struct fr_topo **out,
                                  struct fr_error *err);
/* Adds all of it to an empty builder: machines, switches, links between, what was assumed. */
enum fr_status fr__topo_file_fill(const struct fr__topo_file *f, struct fr_topo_builder *b,
                                  struct fr_error *err);
/* Adds its machines under numbers from first on; returns how many. Only for a file without
 * switches and links between machines. */
uint32_t fr__topo_file_place(const struct fr__topo_file *f, struct fr_topo_builder *b,
                             uint32_t first);
bool fr__topo_file_has_fabric(const struct fr__topo_file *f);     /* switches or links between */
const char *fr__topo_file_network(const struct fr__topo_file *f); /* NULL: not said */
/* What the NIC at a row of its machines speaks, counted on over copies of the file; NULL: what the
 * file does. */
const char *fr__topo_file_nic_network(const struct fr__topo_file *f, size_t row);
bool fr__topo_file_has_networks(const struct fr__topo_file *f); /* some NIC says its own */
/* What was assumed of it goes to the builder. */
void fr__topo_file_note(const struct fr__topo_file *f, struct fr_topo_builder *b);
/* What collectives over its machines behave like, on its network; NULL: not said. */
const char *fr__topo_file_system(const struct fr__topo_file *f, struct fr_loc *loc);

/* ---- machines without hardware (toy.c) ---- */

/* Whether the words of a line are some: "3 machines", "machines P1 P2 via 1GB/s". */
bool fr__toy_is(const char *const words[], size_t n);
/* name: of the topology. FR_EPARSE, FR_ERANGE, FR_ENOMEM. */
enum fr_status fr__toy_load(struct fr__arena *a, const char *const words[], size_t n,
                            const char *name, struct fr_topo **out, struct fr_error *err);

/* FR_EPARSE: the text is a graph of NCCL, other XML, or of ASTRA-sim's other back ends; asked where
 * no importer knows it. */
enum fr_status fr__topo_refuse_others(const char *text, size_t len, const char *name,
                                      struct fr_error *err);

/* FR_ENOENT: the name of a part is neither preset, box nor file; says what may be meant. */
enum fr_status fr__topo_fail_unknown(const char *name, struct fr_error *err);

/* Reads a text, YAML or of another tool, as fr_topo_load reads a file; name stands for the path. */
enum fr_status fr__topo_load_text(struct fr_topo **out, const char *text, size_t len,
                                  const char *name, struct fr_error *err);

#endif
