/* topo/presets/cube_mesh.c - eight SXM2 GPUs in a hybrid cube mesh: both DGX-1 and p3.16xlarge.
 *
 * Two sockets, each with two PCIe switches; a switch carries two GPUs and, on a DGX-1, one NIC.
 */
#include "config.h"

#include "topo/presets/parts.h"

struct cube_mesh {
    const char *gpu;
    const struct fr__wire *nvlink;
    const unsigned char (*nvlinks)[8]; /* [8][8] between GPUs; 0 is PCIe only */
    const char *cpu;                   /* on Broadwell's sockets */
    const char *messages[2]; /* over one NVLink: of a system, a link; NULL: not measured */
    bool has_own_x16;        /* no PCIe switches; sockets are Skylake's */
    bool has_one_nic;        /* on the first socket, instead of one on each PCIe switch */
};

/* Two fully connected fours, joined corner to corner: four NVLinks a GPU (NVIDIA DGX-1 system
 * architecture white paper, 2016; the pairs that copied at NVLink's rate in Tartan, IISWC 2018). */
static const unsigned char p100_nvlinks[8][8] = {
    {0, 1, 1, 1, 1, 0, 0, 0}, {1, 0, 1, 1, 0, 1, 0, 0}, {1, 1, 0, 1, 0, 0, 1, 0},
    {1, 1, 1, 0, 0, 0, 0, 1}, {1, 0, 0, 0, 0, 1, 1, 1}, {0, 1, 0, 0, 1, 0, 1, 1},
    {0, 0, 1, 0, 1, 1, 0, 1}, {0, 0, 0, 1, 1, 1, 1, 0},
};

/* The same edges, eight of them doubled: six NVLinks a GPU, from `nvidia-smi topo -m` of the
 * machine (NV1, NV2); p3.16xlarge prints the same. */
static const unsigned char v100_nvlinks[8][8] = {
    {0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0},
    {2, 1, 2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1},
    {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0},
};

static const struct cube_mesh dgx1_p100 = {
    .gpu = "p100-sxm2-16gb",
    .nvlink = &fr__wire_nvlink1,
    .nvlinks = p100_nvlinks,
    .messages = {"dgx1-p100", "NVLink1"},
    .cpu = "2x-xeon-e5-2698v4",
};

static const struct cube_mesh dgx1_v100 = {
    .gpu = "v100-sxm2-16gb",
    .nvlink = &fr__wire_nvlink2,
    .nvlinks = v100_nvlinks,
    .cpu = "2x-xeon-e5-2698v4",
};

static const struct cube_mesh dgx1_v100_32g = {
    .gpu = "v100-sxm2-32gb",
    .nvlink = &fr__wire_nvlink2,
    .nvlinks = v100_nvlinks,
    .cpu = "2x-xeon-e5-2698v4",
};

/* Its virtual machine hides the PCIe tree (`nvidia-smi topo -m` prints PHB): switches as in a
 * DGX-1, the NIC on the first socket, both our assumption. */
static const struct cube_mesh p3_16xlarge = {
    .gpu = "v100-sxm2-16gb",
    .nvlink = &fr__wire_nvlink2,
    .nvlinks = v100_nvlinks,
    .cpu = "2x-xeon-e5-2686v4",
    .has_one_nic = true,
};

/* The servers of X. Yi et al., FastT, Middleware 2020, of which is known: 8 V100 of 16 GB, NVLink,
 * two Xeon Platinum 8163 of 24 cores. Assumed: NVLinks as in a DGX-1, an x16 to the socket for each
 * GPU (whether GPUs share one is not stated), a NIC of 100 Gbit/s on the first socket. Figures of
 * the 8168, of 24 cores too, stand for those of the 8163, which Intel does not list. */
static const struct cube_mesh own_x16 = {
    .gpu = "v100-sxm2-16gb",
    .nvlink = &fr__wire_nvlink2,
    .nvlinks = v100_nvlinks,
    .cpu = "2x-xeon-8168",
    .has_own_x16 = true,
    .has_one_nic = true,
};

static void build(struct fr_topo_builder *b, uint32_t machine, const struct cube_mesh *m)
{
    struct fr__host host = m->has_own_x16 ? fr__host_skylake : fr__host_broadwell;
    uint32_t gpu[8], socket[2];

    for (unsigned i = 0; i < 8; i++)
        gpu[i] = fr__topo_builder_add(b, FR_VERTEX_GPU, machine, "gpu", i, m->gpu);
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = i + 1; j < 8; j++)
            if (m->nvlinks[i][j])
                fr__wire_join_measured(b, gpu[i], gpu[j], m->nvlink, m->nvlinks[i][j],
                                       m->messages[0], m->messages[1]);

    host.cpu = m->cpu;
    fr__host_build(b, machine, &host, socket);
    for (unsigned i = 0; m->has_own_x16 && i < 8; i++)
        fr__wire_join(b, FR_LINK_PCIE, socket[i / 4], gpu[i], &fr__wire_pcie3, 1);
    if (m->has_own_x16)
        fr__wire_join(b, FR_LINK_PCIE, socket[0],
                      fr__topo_builder_add(b, FR_VERTEX_NIC, machine, "nic", 0, NULL),
                      &fr__wire_pcie3, 1);
    for (unsigned p = 0; !m->has_own_x16 && p < 4; p++) {
        uint32_t plx = fr__topo_builder_add(b, FR_VERTEX_PCIE, machine, "plx", p, NULL);
        uint32_t nic = FR_NONE;

        if (!m->has_one_nic || p == 0)
            nic = fr__topo_builder_add(b, FR_VERTEX_NIC, machine, "nic", p, NULL);
        fr__wire_join(b, FR_LINK_PCIE, plx, socket[p / 2], &fr__wire_pcie3, 1);
        fr__wire_join(b, FR_LINK_PCIE, plx, gpu[2 * p], &fr__wire_pcie3, 1);
        fr__wire_join(b, FR_LINK_PCIE, plx, gpu[2 * p + 1], &fr__wire_pcie3, 1);
        if (nic != FR_NONE)
            fr__wire_join(b, FR_LINK_PCIE, m->has_one_nic ? socket[0] : plx, nic, &fr__wire_pcie3,
                          1);
    }
}

static void build_dgx1_p100(struct fr_topo_builder *b, uint32_t machine)
{
    build(b, machine, &dgx1_p100);
}

static void build_dgx1_v100(struct fr_topo_builder *b, uint32_t machine)
{
    build(b, machine, &dgx1_v100);
}

static void build_dgx1_v100_32g(struct fr_topo_builder *b, uint32_t machine)
{
    build(b, machine, &dgx1_v100_32g);
}

static void build_p3_16xlarge(struct fr_topo_builder *b, uint32_t machine)
{
    build(b, machine, &p3_16xlarge);
}

static void build_own_x16(struct fr_topo_builder *b, uint32_t machine)
{
    build(b, machine, &own_x16);
}

const struct fr__preset fr__preset_dgx1_p100 = {
    .name = "dgx1-p100",
    .summary = "DGX-1: 8x P100 16 GB, NVLink hybrid cube mesh, 4x InfiniBand EDR",
    .network = "ib:100Gbps",
    .build = build_dgx1_p100,
};

const struct fr__preset fr__preset_dgx1_v100 = {
    .name = "dgx1-v100",
    .summary = "DGX-1: 8x V100 16 GB, NVLink hybrid cube mesh, 4x InfiniBand EDR",
    .network = "ib:100Gbps",
    .build = build_dgx1_v100,
};

const struct fr__preset fr__preset_dgx1_v100_32g = {
    .name = "dgx1-v100-32g",
    .summary = "DGX-1: 8x V100 32 GB, NVLink hybrid cube mesh, 4x InfiniBand EDR",
    .network = "ib:100Gbps",
    .build = build_dgx1_v100_32g,
};

const struct fr__preset fr__preset_p3_16xlarge = {
    .name = "p3.16xlarge",
    .summary = "AWS: 8x V100 16 GB, NVLink hybrid cube mesh, 25 Gbit/s Ethernet",
    .network = "eth:25Gbps",
    .build = build_p3_16xlarge,
};

const struct fr__preset fr__preset_v100_own_x16 = {
    .name = "8x-v100-own-x16",
    .summary = "8x V100 16 GB, NVLink cube mesh, an x16 each, Skylake (FastT's, as far as known)",
    .network = "ib:100Gbps",
    .build = build_own_x16,
};
