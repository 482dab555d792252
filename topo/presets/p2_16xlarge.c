/* topo/presets/p2_16xlarge.c - AWS p2.16xlarge: sixteen K80 dies on eight boards, no NVLink.
 *
 * A K80 board is two dies behind a PCIe switch of its own. The virtual machine hides the rest of
 * the tree: two further switches a socket, each with two boards, and the NIC on the first socket
 * are our assumption (all sixteen dies do reach each other peer to peer, so AWS).
 */
#include "config.h"

#include "topo/presets/parts.h"

static const struct fr__wire die = {
    12e9, 0.25e-6,
    "PCIe 3.0 x16 to the board's own switch (NVIDIA Tesla K80 board specification BD-07317-001, "
    "2015: PEX 8747); NCCL src/graph/topo.h counts 12 GB/s; latency: half of a PCIe link's, our "
    "assumption"};

static const struct fr__host host = {
    .cpu = "2x-xeon-e5-2686v4",
    .memory = {76.8e9, 0.1e-6,
               "four DDR4-2400 channels a socket, as the E5-2698 v4 of the same "
               "family (Intel ARK); latency: our assumption"},
    .to_socket = {6e9, 0.1e-6,
                  "NCCL src/graph/topo.h, QPI_BW: GPU traffic between Broadwell "
                  "sockets; latency: our assumption"},
};

static void build(struct fr_topo_builder *b, uint32_t machine)
{
    uint32_t gpu[16], socket[2], plx[4], nic;

    for (unsigned i = 0; i < 16; i++)
        gpu[i] = fr__topo_builder_add(b, FR_VERTEX_GPU, machine, "gpu", i, "k80-die");
    fr__host_build(b, machine, &host, socket);
    for (unsigned p = 0; p < 4; p++) {
        plx[p] = fr__topo_builder_add(b, FR_VERTEX_PCIE, machine, "plx", p, NULL);
        fr__wire_join(b, FR_LINK_PCIE, plx[p], socket[p / 2], &fr__wire_pcie3, 1);
    }
    for (unsigned k = 0; k < 8; k++) {
        uint32_t board = fr__topo_builder_add(b, FR_VERTEX_PCIE, machine, "k80-", k, NULL);

        fr__wire_join(b, FR_LINK_PCIE, board, plx[k / 2], &fr__wire_pcie3, 1);
        fr__wire_join(b, FR_LINK_PCIE, board, gpu[2 * k], &die, 1);
        fr__wire_join(b, FR_LINK_PCIE, board, gpu[2 * k + 1], &die, 1);
    }
    nic = fr__topo_builder_add(b, FR_VERTEX_NIC, machine, "nic", 0, NULL);
    fr__wire_join(b, FR_LINK_PCIE, socket[0], nic, &fr__wire_pcie3, 1);
}

/* 20 Gbit/s: AWS at the launch, 2016; later machines of the family have 25. */
const struct fr__preset fr__preset_p2_16xlarge = {
    .name = "p2.16xlarge",
    .summary = "AWS: 8x K80 boards of two dies (16 GPUs), PCIe only, 20 Gbit/s Ethernet",
    .network = "eth:20Gbps",
    .build = build,
};
