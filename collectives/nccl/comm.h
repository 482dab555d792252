/* collectives/nccl/comm.h - what NCCL's tuner knows of a communicator: its ranks, and the
 * graphs that the search found on its machines.
 *
 * Words and units are NCCL's: GB/s are 1e9 bytes per second, times are microseconds.
 */
#ifndef FR_COLLECTIVES_NCCL_COMM_H
#define FR_COLLECTIVES_NCCL_COMM_H

#include <stdbool.h>
#include <stdint.h>

/* NCCL's kinds of paths, best first (src/graph/topo.h of 2.30). */
enum fr__nccl_path {
    FR__PATH_LOC, /* itself */
    FR__PATH_NVL, /* NVLink */
    FR__PATH_NVB, /* NVLink through one GPU */
    FR__PATH_C2C, /* chip to chip, GPU to CPU */
    FR__PATH_PIX, /* one PCIe switch */
    FR__PATH_PXB, /* several, not the host bridge */
    FR__PATH_P2C, /* C2C, then PCIe */
    FR__PATH_PXN, /* through a GPU that is nearer to the NIC */
    FR__PATH_PHB, /* the host bridge */
    FR__PATH_SYS, /* between CPUs */
    FR__PATH_NET,
    FR__PATH_DIS, /* no way */
    FR__N_PATHS
};

enum fr__nccl_pattern {
    FR__NCCL_BALANCED_TREE = 1,
    FR__NCCL_SPLIT_TREE,
    FR__NCCL_TREE,
    FR__NCCL_RING,
    FR__NCCL_NVLS
};

/* What the search found for one pattern; n_channels 0: nothing. */
struct fr__nccl_graph {
    enum fr__nccl_pattern pattern;
    unsigned n_channels;       /* as searched; NCCL doubles those of rings and trees later */
    double bw_intra, bw_inter; /* GB/s of a channel in a machine and over the NICs */
    double latency_inter;      /* us, of the NIC */
    enum fr__nccl_path type_intra, type_inter; /* the worst; type_inter of one machine: LOC */
    bool same_channels;
    unsigned cross_nic; /* 0, 1, 2: alternating */
};

/* MIXED: of several machines, not all of one. */
enum fr__nccl_cpu_kind {
    FR__NCCL_CPU_INTEL,
    FR__NCCL_CPU_AMD,
    FR__NCCL_CPU_OTHER,
    FR__NCCL_CPU_MIXED
};

struct fr__nccl_comm {
    unsigned version; /* 205, 210, 218, 221, 223, 226, 227, 228, 230 */
    unsigned n_ranks, n_nodes;
    unsigned min_sm, max_sm; /* compute capability, 90 */
    enum fr__nccl_cpu_kind cpu;
    bool is_x86;
    unsigned n_channels; /* of the communicator */
    struct fr__nccl_graph ring, tree, nvls;
};

#endif
