/* topo/presets/gh200_quad.c - a node of four GH200 superchips, as in Alps (HPE Cray EX254n): every
 * two GPUs on six NVLinks 4 without a switch (the 18 of a Hopper over its three peers), a Slingshot
 * NIC on each Grace. The one CPU device stands for all four Graces.
 *
 * L. Fusco and others, Understanding Data Movement in Tightly Coupled Heterogeneous Systems: A Case
 * Study with the Grace Hopper Superchip, arXiv 2408.11556, 2024, describes the node; CSCS's
 * documentation of the hardware of Alps (docs.cscs.ch/alps/hardware) counts four superchips and
 * four NICs in one.
 */
#include "config.h"

#include "topo/presets/parts.h"

enum { N = 4 };

static const struct fr__wire nvlink4 = {20.6e9, 0.7e-6,
                                        "NVLink 4, 25 GB/s raw; NCCL src/graph/topo.h, "
                                        "SM90_NVLINK_BW, counts 20.6; latency: what TACCL, "
                                        "NSDI 2023, table 1 gives a transfer between two A100s, "
                                        "taken whole without a switch, our assumption"};

static const struct fr__wire c2c = {
    450e9, 0.5e-6,
    "NVIDIA GH200 datasheet, 2024: 900 GB/s both ways over NVLink-C2C; taken whole, latency: our "
    "assumptions"};

static const struct fr__wire memory = {
    512e9, 0.1e-6, "NVIDIA GH200 datasheet, 2024: 512 GB/s a Grace; latency: our assumption"};

static const struct fr__wire to_socket = {
    6e9, 0.1e-6,
    "NCCL src/graph/topo.h, ARM_BW: GPU traffic between Arm sockets; latency: our assumption"};

static void build(struct fr_topo_builder *b, uint32_t machine)
{
    uint32_t gpu[N], socket[N], cpu;

    for (unsigned i = 0; i < N; i++)
        gpu[i] = fr__topo_builder_add(b, FR_VERTEX_GPU, machine, "gpu", i, "gh200-96gb");
    cpu = fr__topo_builder_add(b, FR_VERTEX_CPU, machine, "cpu", 0, "4x-grace");
    for (unsigned i = 0; i < N; i++) {
        socket[i] = fr__topo_builder_add(b, FR_VERTEX_PCIE, machine, "socket", i, NULL);
        fr__wire_join(b, FR_LINK_CPU, cpu, socket[i], &memory, 1);
        fr__wire_join(b, FR_LINK_NVLINK, socket[i], gpu[i], &c2c, 1);
    }
    for (unsigned i = 0; i < N; i++)
        for (unsigned j = i + 1; j < N; j++) {
            fr__wire_join(b, FR_LINK_NVLINK, gpu[i], gpu[j], &nvlink4, 6);
            fr__wire_join(b, FR_LINK_CPU, socket[i], socket[j], &to_socket, 1);
        }
    for (unsigned i = 0; i < N; i++) {
        uint32_t nic = fr__topo_builder_add(b, FR_VERTEX_NIC, machine, "nic", i, NULL);

        fr__wire_join(b, FR_LINK_PCIE, socket[i], nic, &fr__wire_pcie4, 1);
    }
    fr_topo_builder_system(b, machine, "gh200-slingshot", FR_NOWHERE);
}

const struct fr__preset fr__preset_gh200_quad = {
    .name = "gh200-quad",
    .summary = "Alps node: 4x GH200 96 GB, NVLink between every two, 4x Slingshot 11",
    .network = "slingshot:200Gbps",
    .network_system = "gh200-slingshot",
    .build = build,
};
