/* topo/presets/hosts.c - the two sockets of machines that several presets and importers share.
 *
 * Apart from parts.c, which has cables and the building of any host.
 */
#include "config.h"

#include "topo/presets/parts.h"

const struct fr__host fr__host_broadwell = {
    .cpu = "2x-xeon-e5-2698v4",
    .memory = {76.8e9, 0.1e-6,
               "four DDR4-2400 channels a socket (Intel ARK, E5-2698 v4); latency: our assumption"},
    .to_socket =
        {6e9, 0.1e-6,
         "NCCL src/graph/topo.h, QPI_BW: GPU traffic between Broadwell sockets (rings of 5 "
         "GPUs on a "
         "DGX-1 measured at 5.6 GB/s by Tartan, IISWC 2018); latency: our assumption"},
};

const struct fr__host fr__host_skylake = {
    .cpu = "2x-xeon-8168",
    .memory = {128e9, 0.1e-6,
               "six DDR4-2666 channels a socket (Intel ARK, Xeon Platinum 8168); latency: our "
               "assumption"},
    .to_socket = {10e9, 0.1e-6,
                  "NCCL src/graph/topo.h, SKL_QPI_BW: GPU traffic between Skylake "
                  "sockets; latency: our assumption"},
};

const struct fr__host fr__host_rome = {
    .cpu = "2x-epyc-7742",
    .memory = {204.8e9, 0.1e-6,
               "eight DDR4-3200 channels a socket (AMD EPYC 7742 data sheet); latency: our "
               "assumption"},
    .to_socket = {16e9, 0.1e-6,
                  "NCCL src/graph/topo.h, AMD_BW: GPU traffic between EPYC sockets; latency: "
                  "our assumption"},
};

const struct fr__host fr__host_sapphire_rapids = {
    .cpu = "2x-xeon-8480c",
    .memory = {307.2e9, 0.1e-6,
               "eight DDR5-4800 channels a socket (Intel ARK, Xeon Platinum 8480+); latency: "
               "our assumption"},
    .to_socket = {22e9, 0.1e-6,
                  "NCCL src/graph/topo.h, SRP_QPI_BW: GPU traffic between Sapphire Rapids "
                  "sockets; latency: our assumption"},
};

const struct fr__host fr__host_emerald_rapids = {
    .cpu = "2x-xeon-8570",
    .memory = {358.4e9, 0.1e-6,
               "eight DDR5-5600 channels a socket (Intel ARK, Xeon Platinum 8570); "
               "latency: our assumption"},
    .to_socket = {40e9, 0.1e-6,
                  "NCCL src/graph/topo.h, ERP_QPI_BW: GPU traffic between Emerald Rapids "
                  "sockets; latency: our assumption"},
};

const struct fr__host fr__host_grace = {
    .cpu = "2x-grace",
    .memory = {512e9, 0.1e-6,
               "NVIDIA GB200 NVL72 datasheet, 2024: 18.4 TB/s over 36 Graces; latency: our "
               "assumption"},
    .to_socket = {6e9, 0.1e-6,
                  "NCCL src/graph/topo.h, ARM_BW: GPU traffic between Arm sockets; "
                  "latency: our assumption"},
};
