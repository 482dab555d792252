/* topo/topo.h - a cluster: devices, switches and the directed links between them.
 *
 * Vertices are devices (GPU, CPU), switches (NVSwitch, PCIe, network) and NICs. Every link is
 * directed: a full-duplex cable is two links. A message crosses the links of its route. The
 * network model (sim/sim.h) says how long that takes, not the topology.
 *
 * Devices are numbered GPUs first (machine by machine, in order), then one CPU of each machine. So
 * in a homogeneous cluster GPU g is in machine g / gpus_per_machine.
 *
 * A route has the fewest links; among those the least sum of latencies; among those the greatest
 * bandwidth of its narrowest link. Among next hops that are still equal, the candidate with number
 * (destination device index mod number of candidates) in link order is taken, which is the d-mod-k
 * rule of fat trees (Zahavi, Journal of Parallel and Distributed Computing 72(11), 2012).
 * Latencies are compared in whole picoseconds. GPUs never forward for others: a copy between two
 * GPUs without an NVLink between them crosses PCIe.
 *
 * The one exception is a topology with relays. There a message to another machine may go over
 * NVLink to a GPU of its own machine first, and on from there by that GPU's way to its host, as
 * NCCL's PXN does on separate rails. Routes there have the fewest links of the network first, then
 * the fewest between sockets, then the fewest of all.
 */
#ifndef FORERUN_TOPO_H
#define FORERUN_TOPO_H

#include "base/base.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The figures of a data sheet, each with its source. */
/* What matrix units do with numbers of 8 and 4 bits beside multiplying them: nothing; they scale
 * blocks of 32 by powers of two (OCP Microscaling), and take operands that lie by columns as well
 * as by rows; also blocks of 16 by E4M3 numbers (NVIDIA's NVFP4). Each does what those before it
 * do. */
enum fr_units { FR_UNITS_ANY, FR_UNITS_MX, FR_UNITS_MX_NV };

struct fr_device_type {
    const char *name; /* "v100-sxm2-16gb" */
    bool is_gpu;
    uint64_t mem_bytes;              /* capacity */
    double mem_Bps;                  /* memory bandwidth */
    double flops_per_s[FR_N_DTYPES]; /* dense peak of matrix units where the dtype has them;
                                           0: the dtype is not supported, another's rate applies
                                           (fr_device_type_arithmetic) */
    double vector_flops_per_s;       /* fp32 peak without matrix units */
    enum fr_units units;
    unsigned n_sms;
    double launch_s;        /* host time to launch one op (framework included) */
    uint64_t context_bytes; /* CUDA context and libraries */
    double board_W;         /* what the board may draw at most; 0: not known */
    const char *source;
};

enum fr_vertex_kind {
    FR_VERTEX_GPU,
    FR_VERTEX_CPU,
    FR_VERTEX_NVSWITCH,
    FR_VERTEX_PCIE,
    FR_VERTEX_NIC,
    FR_VERTEX_SWITCH, /* network switch */
    FR_N_VERTEX_KINDS
};

enum fr_link_kind {
    FR_LINK_NVLINK,
    FR_LINK_PCIE,
    FR_LINK_CPU, /* between sockets: QPI, UPI */
    FR_LINK_NET,
    FR_N_LINK_KINDS
};

struct fr_vertex {
    const char *name; /* unique, e.g. "n0.gpu3", "n1.plx0", "net.switch" */
    enum fr_vertex_kind kind;
    uint32_t machine;    /* FR_NONE: belongs to no machine (network switches) */
    uint32_t device;     /* index of the device, FR_NONE for switches and NICs */
    const char *network; /* what a NIC speaks that is on no network yet, "ib:100Gbps"; else NULL */
};

struct fr_device {
    const char *name; /* the vertex's */
    uint32_t type;    /* index into types */
    uint32_t machine;
    uint32_t vertex;
};

/* Parallel cables are one link with their sum. fr_topo_link_name() says its name. */
struct fr_link {
    enum fr_link_kind kind;
    uint32_t src, dst;  /* vertices */
    uint32_t message;   /* index into messages, or FR_NONE */
    double bw_Bps;      /* > 0, bandwidth of a large message: peak times efficiency */
    double latency_s;   /* >= 0 */
    const char *source; /* where the two numbers come from */
};

/* The system that collectives behave like: a name that has no meaning in this layer (see
 * calibrate/messages/system.h) or a file's path, and where it was read. */
struct fr_topo_system {
    const char *name;
    struct fr_loc loc;
};

/* A link of a system. Messages between two GPUs behave like it if the outermost link on their way
 * is this one (from inside to outside: NVLink, PCIe, CPU link, network). */
struct fr_topo_message {
    uint32_t system;  /* index into systems */
    const char *link; /* "NVLink1": a name that has no meaning in this layer either */
    struct fr_loc loc;
};

/* What a composition names: "hgx-h100", and its machines. */
struct fr_topo_part {
    const char *name; /* as it was typed */
    uint32_t first_machine, n_machines;
    uint32_t n_copies; /* of what is named: a rack has several machines */
};

/* NICs of one kind in machines in use. Answers name at most so many kinds. */
enum { FR_TOPO_NICS = 8 };
struct fr_topo_nics {
    uint32_t n_machines, n_a_machine; /* machines that have so many of them */
    double rate_Bps;                  /* on the network, one direction */
    double host_Bps; /* of the link between the NIC and the rest of its machine; 0: none */
};

/* Read-only once made. All memory belongs to the topology. */
struct fr_topo {
    const char *name;    /* one line that fr_topo_load accepts, or the file's name */
    const char *summary; /* one line for people */
    size_t n_types, n_vertices, n_devices, n_gpus, n_links, n_machines;
    const struct fr_device_type *types;
    const struct fr_vertex *vertices;
    const struct fr_device *devices; /* [n_devices], GPUs first */
    const struct fr_link *links;
    size_t n_systems;
    const struct fr_topo_system *systems; /* [n_systems] by different names */
    const uint32_t *system_of;            /* [n_machines] inside the machine, or FR_NONE */
    size_t n_messages;
    const struct fr_topo_message *messages; /* [n_messages] different ones */
    uint32_t network_system;                /* over several machines, or FR_NONE: */
    bool has_relays;                        /* GPUs pass on messages to other machines: PXN */
    bool has_hash;                          /* equal ways of the network are taken by hash */
    const char *network_system_why;         /* not taken, since "b200-infiniband was measured on
                                             ib:400Gbps"; NULL: there is none */
    size_t n_notes;
    const char *const *notes; /* [n_notes] what was assumed where an imported file is silent */
    size_t n_parts;
    const struct fr_topo_part *parts; /* [n_parts] of a composition, in its order */
    bool is_plain; /* machines without hardware, "3 machines": times there have no unit */
    void *priv;
};

/* Makes the topology that spec names: a preset ("dgx1-v100"), a composition
 * ("2x dgx1-v100 via ib:100Gbps", "1x dgx1-v100 + 1x mine.yaml via roce:25Gbps,4us"; every NIC of a
 * machine gets a link to one ideal switch at that rate, without "via" at its preset's own),
 * or the path of a YAML file (doc/topology.md). The caller frees it. At most 65536 GPUs.
 * FR_OK; FR_EPARSE, FR_ERANGE, FR_ENOENT (with the nearest known name), FR_EUSAGE (machines that
 * cannot be joined), FR_EIO, FR_ENOMEM. */
enum fr_status fr_topo_load(struct fr_topo **out, const char *spec, struct fr_error *err);
/* The same with links that carry less: less is what stands behind the word in a composition,
 * "n0.nic1=0.5,n*.nic7=0"; NULL: all are whole. is_over_sockets: as "over sockets" there. */
enum fr_status fr_topo_load_less(struct fr_topo **out, const char *spec, const char *less,
                                 bool is_over_sockets, struct fr_error *err);
void fr_topo_free(struct fr_topo *t);

/* Presets for lists and help: name and one-line summary; NULL past the end. */
const char *fr_topo_preset_name(size_t i);
const char *fr_topo_preset_summary(size_t i);

/* A name under which people know a machine, "p5.48xlarge", or the GPU of one, "h100". */
struct fr_topo_alias {
    const char *name, *preset; /* in any case; the machine that it stands for */
    const char *network;       /* what each of its NICs speaks there; "": the preset's own */
    const char *gpus;          /* a GPU's name: how many the machine has; "": a machine's name */
    const char *says;          /* what it is, in words */
};
const struct fr_topo_alias *fr_topo_alias_at(size_t i); /* NULL past the end */
/* The i-th of those that a line for fr_topo_load names, so that answers can say what it stood for;
 * NULL past the end. */
const struct fr_topo_alias *fr_topo_alias_in(const char *spec, size_t i);

/* Known device types, past the end NULL. */
const struct fr_device_type *fr_device_type_builtin(size_t i);
const struct fr_device_type *fr_device_type_find(const char *name);
/* The format in which devices of the type compute matrix products that are asked for in dtype:
 * dtype itself where they have a rate for it; else the next one with a rate that holds its numbers:
 * fp4 as fp8, fp8 as bf16, fp16 or fp32, the others as fp32. Never FR_AMP, whose products are
 * fp16. */
enum fr_dtype fr_device_type_arithmetic(const struct fr_device_type *type, enum fr_dtype dtype);
/* The peak rate of that; 0: not known. */
double fr_device_type_peak_flops_per_s(const struct fr_device_type *type, enum fr_dtype dtype);

/* Reads a file of another tool (doc/topology.md lists them): told by its content, as fr_topo_load
 * does. gpu_type: the device type of its GPUs, NULL where the file or its default says it. *format:
 * the importer's name, "nccl". FR_EUSAGE: nothing is known of GPUs of that type; else as
 * fr_topo_load; FR_EPARSE for a file of our own or of no known tool. */
enum fr_status fr_topo_import(struct fr_topo **out, const char *path, const char *gpu_type,
                              const char **format, struct fr_error *err);

/* Writes the topology as a file that fr_topo_load reads as the same one. Faults of the stream show
 * in ferror(f). FR_ERANGE: no such file may be so large, and nothing is written; FR_ENOMEM. Cost:
 * O(vertices + links). */
enum fr_status fr_topo_write_yaml(FILE *f, const struct fr_topo *t, struct fr_error *err);
/* Writes it as a SimGrid platform (version 4.1): GPUs as hosts, each link in its direction, the
 * routes that a router finds. FR_ERANGE: more than 1024 GPUs; FR_ENOENT: unreachable; FR_ENOMEM.
 * Cost: O(GPUs^2 * length of routes). */
enum fr_status fr_topo_write_simgrid(FILE *f, const struct fr_topo *t, struct fr_error *err);
/* The preset whose GPUs have the same types and, between any two, routes of the same length, rate
 * and latency; NULL: none. FR_ENOMEM. */
enum fr_status fr_topo_preset_like(const struct fr_topo *t, const char **out, struct fr_error *err);
/* Whether copies of a preset that is like it behave like copies of it in a cluster too: the same
 * NICs in the same order, beside the same GPUs and as fast. FR_ENOENT: no such preset; FR_ENOMEM.
 * Cost: O(NICs * links). */
enum fr_status fr_topo_preset_stands_for(const struct fr_topo *t, const char *preset, bool *out,
                                         struct fr_error *err);

/* The name of a link, "n0.gpu0>n0.gpu1", which no other has, written into buf. Returns buf. */
enum { FR_LINK_NAME = 128 }; /* bytes, with the end */
const char *fr_topo_link_name(const struct fr_topo *t, uint32_t link, char buf[FR_LINK_NAME]);

/* Reports everything that is wrong with a topology (unreachable pairs, vertices without a link,
 * links of bandwidth zero, links whose way back differs), one line each, through say() (may be
 * NULL). Returns how many were reported; SIZE_MAX: out of memory, nothing was looked at. Of
 * unreachable pairs the first hundred are named. */
size_t fr_topo_check(const struct fr_topo *t, void (*say)(void *user, const char *line),
                     void *user);

/* The first n GPUs, or with spread n GPUs taken evenly over the machines, of which those that share
 * a switch of NVLinks (the trays of a rack) count as one; devices: [n].
 * FR_ERANGE when there are fewer than n or n is 0. */
enum fr_status fr_topo_select(const struct fr_topo *t, size_t n, bool spread, uint32_t devices[],
                              struct fr_error *err);

/* The GPUs that text names, in its order. Names are separated by one comma: "n0.gpu0,n0.gpu4". Any
 * number in a name may be a range from..to with both ends, at most 4 in a name. Of several ranges
 * the last varies fastest: "n0..1.gpu0..2" is n0.gpu0, n0.gpu1, n0.gpu2, n1.gpu0, ... If text is
 * the whole name of a vertex, it is that vertex, even if it has dots like a range. Wildcards,
 * spaces and leading zeros have no meaning.
 *
 * devices: [n_gpus of t] the GPUs, each once; *n: how many there are, at least 1.
 *
 * FR_ENOENT: no such vertex (with the nearest known GPU); FR_EPARSE: not a list; FR_ERANGE: not a
 * GPU, named twice, a range that runs backwards or stands for more GPUs than t has; FR_ENOMEM. On
 * failure *n does not change. Cost: O(vertices + length of text). */
enum fr_status fr_topo_select_named(const struct fr_topo *t, const char *text, uint32_t devices[],
                                    size_t *n, struct fr_error *err);

/* Marks the devices that a pattern stands for: "n3.gpu2", "n0..1.gpu0..7", "n*.gpu0" ("*" is any
 * text, FROM..TO any number in between).
 *
 * is_meant: [n_devices], set to true where it matches, else left; *n: how many match, at least 1.
 * FR_ENOENT: none does (with the nearest known GPU); FR_EPARSE, FR_ERANGE: a range that is none.
 * Cost: O(devices). */
enum fr_status fr_topo_match(const struct fr_topo *t, const char *pattern, bool is_meant[],
                             size_t *n, struct fr_error *err);

/* The NICs that join the machines of these devices: out[most], kinds of equal number, rate and
 * link, of one machine the fastest first; *n: how many kinds, 0 where all devices are in one
 * machine. Kinds beyond `most` are left out. FR_ENOMEM. Cost: O(links + vertices log vertices). */
enum fr_status fr_topo_nics_of(const struct fr_topo *t, const uint32_t devices[], size_t n_devices,
                               struct fr_topo_nics out[], size_t most, size_t *n,
                               struct fr_error *err);

/* The CPU of a device's machine, or FR_NONE. */
uint32_t fr_topo_host_of(const struct fr_topo *t, uint32_t device);

/* ---- building one by hand (tests, importers, presets) ---- */

struct fr_topo_builder;
struct fr_topo_builder *fr_topo_builder_new(void); /* NULL: out of memory */
void fr_topo_builder_free(struct fr_topo_builder *b);
/* Each returns the new index, or FR_NONE when out of memory. Faults are kept and reported by
 * fr_topo_builder_finish. Names and types are copied; the same type added twice is one type.
 * machine: FR_NONE (not for devices), or a number; machines are numbered from 0 without gaps.
 * Vertices and links keep their indices. */
uint32_t fr_topo_builder_type(struct fr_topo_builder *b, const struct fr_device_type *type);
uint32_t fr_topo_builder_vertex(struct fr_topo_builder *b, enum fr_vertex_kind kind,
                                const char *name, uint32_t machine, uint32_t type,
                                struct fr_loc loc);
/* Adds one direction if !duplex; otherwise also the way back, with the next index. A second link
 * between the same two vertices is a fault. */
uint32_t fr_topo_builder_link(struct fr_topo_builder *b, enum fr_link_kind kind, uint32_t src,
                              uint32_t dst, double bw_Bps, double latency_s, bool duplex,
                              const char *source, struct fr_loc loc);
/* Sets the system that collectives inside a machine behave like; the last call counts. The machine
 * must have a vertex when the topology is finished. name and loc.file are copied. */
void fr_topo_builder_system(struct fr_topo_builder *b, uint32_t machine, const char *name,
                            struct fr_loc loc);
/* The same for collectives over several machines, which should all be alike. why: NULL, or why the
 * system is not used (copied, and kept for people in place of the name). */
void fr_topo_builder_network_system(struct fr_topo_builder *b, const char *name, const char *why,
                                    struct fr_loc loc);
/* Sets the link of a system that messages over a link of the builder, in one direction, behave
 * like. name and system are copied. */
void fr_topo_builder_message(struct fr_topo_builder *b, uint32_t link, const char *system,
                             const char *name, struct fr_loc loc);
/* GPUs pass on what others of their machine send to other machines, see above. */
void fr_topo_builder_relays(struct fr_topo_builder *b);
/* Of equally good ways over the network a hash of switch and destination picks one, so that some
 * carry several flows and others none, as ECMP does; without it the destination's number does. */
void fr_topo_builder_hash(struct fr_topo_builder *b);
/* Checks everything and makes the topology. Afterwards the builder may only be freed. FR_ERANGE,
 * FR_ENOMEM: the first fault of any call. */
enum fr_status fr_topo_builder_finish(struct fr_topo_builder *b, const char *name,
                                      struct fr_topo **out, struct fr_error *err);

/* ---- routing; a router caches routes and serves one thread ---- */

struct fr_router;
enum fr_status fr_router_new(struct fr_router **out, const struct fr_topo *t, struct fr_error *err);
void fr_router_free(struct fr_router *r);

/* The links from device src to device dst in order; *links stays valid until the router is freed.
 * src == dst: no links. FR_ENOENT: unreachable (both named). Cost: calls for a new pair look at the
 * links within half the way of either end until that has cost as much as looking at all; the next
 * one does so, and from then on a new pair costs its route. A known pair costs O(1). */
enum fr_status fr_router_path(struct fr_router *r, uint32_t src, uint32_t dst,
                              const uint32_t **links, size_t *n_links, struct fr_error *err);

/* What messages over a route behave like (hops[0..n), from device to device): the entry of the
 * outermost kind of link on the way, if both ends are GPUs and all links of that kind have the
 * same. FR_NONE: there is none. */
uint32_t fr_topo_message_of(const struct fr_topo *t, uint32_t src, uint32_t dst,
                            const uint32_t hops[], size_t n);

/* Rings for collectives, each through n different devices. They are found greedily, the widest
 * first; among equals the one on the widest edges, which leaves the narrow links for others. Each
 * has the bandwidth that the earlier ones left. The search ends when another ring would add less
 * than a third of the first one's bandwidth, or max_rings are found. Inside a machine, rings of
 * half the first one's bandwidth are tried too, and taken if they carry more together. For up to 8
 * devices in a machine all orders are searched; for more, each device is followed by the one with
 * the widest edge. Machines follow each other in the order of their first device, each with the
 * best order found for it alone.
 *
 *   order      [max_rings][n] devices, in ring order
 *   share_frac [max_rings]    the part of the bytes that each carries; sums to 1
 *   *n_rings   number of rings, at least 1 for n >= 2, 0 for n < 2
 *
 * FR_ERANGE: max_rings 0, a device that does not exist or is named twice; FR_ENOENT: unreachable.
 * NCCL uses a hybrid cube mesh in this way: several rings, so that each link is busy (nccl
 * src/graph/search.cc, described in its documentation; the search here is our own). */
enum fr_status fr_topo_rings(struct fr_router *r, const uint32_t devices[], size_t n,
                             size_t max_rings, uint32_t order[], double share_frac[],
                             size_t *n_rings, struct fr_error *err);

#ifdef __cplusplus
}
#endif
#endif
