/* collectives/nccl/system.h - a machine as NCCL sees it: GPUs, PCIe switches, CPUs, NICs, their
 * links and the best paths between them.
 *
 * Source: NVIDIA/nccl src/graph/topo.cc, paths.cc of 2.30.7 and 2.21.5. Bandwidths are GB/s, one
 * direction. Nodes have no names; those of one type are numbered in the order in which they were
 * added, since NCCL breaks ties by it.
 */
#ifndef FR_COLLECTIVES_NCCL_SYSTEM_H
#define FR_COLLECTIVES_NCCL_SYSTEM_H

#include "base/base.h"
#include "collectives/nccl/comm.h"

enum fr__ns_type {
    FR__NS_GPU,
    FR__NS_PCI,
    FR__NS_NVS,
    FR__NS_CPU,
    FR__NS_NIC,
    FR__NS_NET,
    FR__NS_N
};

enum {
    FR__NS_MOST_NODES = 576,
    FR__NS_MOST_LINKS = 128,
    FR__NS_MOST_GPUS = 128,
    FR__NS_MOST_HOPS = 40
};

enum fr__ns_link_type {
    FR__NS_NVLINK,
    FR__NS_C2C,
    FR__NS_PCIE,
    FR__NS_BETWEEN_CPUS,
    FR__NS_TO_NET
};

struct fr__ns_link {
    uint32_t to; /* node */
    enum fr__ns_link_type type;
    float bw; /* what is left of it during a search; NCCL computes in single precision, too */
};

struct fr__ns_node {
    enum fr__ns_type type;
    uint32_t number; /* of its type */
    struct fr__ns_link *links;
    uint32_t n_links, cap_links;
    unsigned sm, dev;              /* GPUs */
    bool has_gdr;                  /* GPUs and nets: GPUDirect RDMA */
    enum fr__nccl_cpu_kind vendor; /* CPUs */
    bool is_x86;
    float net_bw, net_latency; /* nets; net_bw: what is left of it */
    uint64_t asic;
    uint32_t port;
    uint64_t used; /* GPUs: a bit a channel of the search */
};

/* From a node to one of a type. list: links as (node, index of its link), packed. */
struct fr__ns_path {
    uint16_t count;
    uint8_t type; /* enum fr__nccl_path */
    float bw;
    struct fr__ns_hop {
        uint16_t node, link;
    } hops[FR__NS_MOST_HOPS];
};

struct fr__ns {
    unsigned version; /* as of struct fr__nccl_comm */
    bool can_peer;    /* GPUs can reach each other's memory */
    bool is_out_of_memory;
    struct fr__ns_node *nodes;
    uint32_t n, cap;
    uint32_t *of[FR__NS_N]; /* [count[type]] nodes of a type */
    uint32_t count[FR__NS_N];
    struct fr__ns_path *paths[FR__NS_N]; /* [n][count[type]]; NULL: none are kept to that type */
    float max_bw, total_bw;
};

void fr__ns_fini(struct fr__ns *s);
/* FR_NONE: out of memory or too many; fr__ns_fail_full() says which. */
uint32_t fr__ns_add(struct fr__ns *s, enum fr__ns_type type);
/* Both ways; bandwidths of the same type to the same node add up. false: out of memory or too
 * many. */
bool fr__ns_connect(struct fr__ns *s, uint32_t one, uint32_t other, enum fr__ns_link_type type,
                    float bw);
/* One way. */
bool fr__ns_link(struct fr__ns *s, uint32_t from, uint32_t to, enum fr__ns_link_type type,
                 float bw);
/* After one of these failed. FR_ENOMEM, FR_ERANGE. */
enum fr_status fr__ns_fail_full(const struct fr__ns *s, struct fr_error *err);
/* After all nodes: joins the CPUs, puts links in NCCL's order and finds the paths. FR_ENOMEM;
 * FR_ERANGE: a way of too many links. */
enum fr_status fr__ns_finish(struct fr__ns *s, bool with_nets, struct fr_error *err);

static inline struct fr__ns_node *fr__ns_at(const struct fr__ns *s, enum fr__ns_type type,
                                            uint32_t i)
{
    return &s->nodes[s->of[type][i]];
}
/* From node i of a type to node j of another one; NULL where none are kept. */
static inline struct fr__ns_path *fr__ns_path(const struct fr__ns *s, enum fr__ns_type from,
                                              uint32_t i, enum fr__ns_type to, uint32_t j)
{
    return s->paths[to] ? &s->paths[to][(size_t)s->of[from][i] * s->count[to] + j] : NULL;
}

/* ---- nets.c ---- */

/* The nodes of a type with the best bandwidth, then the best kind of path. locals: room for all.
 * Returns how many. */
uint32_t fr__ns_local(const struct fr__ns *s, enum fr__ns_type type, uint32_t i,
                      enum fr__ns_type result, uint32_t locals[]);
/* The GPU that uses a net; FR_NONE: none. */
uint32_t fr__ns_local_gpu(const struct fr__ns *s, uint32_t net);
/* Nets in the order in which a search tries them, up to a kind of path; gpu: FR_NONE for all. */
uint32_t fr__ns_select_nets(const struct fr__ns *s, unsigned type_inter, uint32_t gpu,
                            uint32_t nets[]);

/* ---- search.c ---- */

struct fr__ns_channels {
    uint32_t *gpus; /* [n_channels][n_gpus] in order; of NVLS the head first */
    uint32_t *nets; /* [n_channels][2] in and out, or FR_NONE */
};
/* All three, and the channels of the communicator of n_nodes such machines. tree: as out of
 * search in levels.c. */
enum fr_status fr__ns_comm(struct fr__ns *s, unsigned n_nodes, struct fr__nccl_comm *out,
                           struct fr__ns_channels *tree, struct fr_error *err);
/* Where machines of another kind take part, of which other is the communicator: all ranks take the
 * fewest channels, the least bandwidths and the worst paths of any (src/init.cc). */
void fr__ns_comm_merge(struct fr__nccl_comm *into, const struct fr__nccl_comm *other);

#endif
