/* collectives/nccl/from_topo.h - GPUs of a topology as NCCL would see them. */
#ifndef FR_COLLECTIVES_NCCL_FROM_TOPO_H
#define FR_COLLECTIVES_NCCL_FROM_TOPO_H

#include "collectives/nccl/system.h"
#include "topo/topo.h"

/* The communicator of n GPUs, rank by rank: those of one machine (or of one NVLink domain of
 * several hosts), then those of another one. The graphs are searched on the first machine of each
 * kind, and all take the least of them. version: as of struct fr__nccl_comm. chains: NULL, or gets
 * the GPUs of a machine in the order of each tree channel, [out->tree.n_channels][n /
 * out->n_nodes], the caller's to free. FR_EUSAGE: machines with different numbers of these GPUs,
 * GPUs of a generation that NCCL does not know, or machines without NICs; FR_ERANGE, FR_ENOMEM. */
enum fr_status fr__nccl_comm_of(const struct fr_topo *t, const uint32_t devices[], uint32_t n,
                                unsigned version, struct fr__nccl_comm *out, uint32_t **chains,
                                struct fr_error *err);

#endif
