/* topo/machines/wiring.c - how the parts of the machines that we know are wired, rule by rule.
 *
 * The figures are data (topo/machines/NAME.yaml). Vertices and links are added in one order, which
 * the numbers of devices and the ties of routes rest on.
 */
#include "config.h"

#include "topo/machines/machines.h"

#include <stdio.h>

static uint32_t add(struct fr_topo_builder *b, enum fr_vertex_kind kind, uint32_t machine,
                    const char *name, unsigned number)
{
    return fr__topo_builder_add(b, kind, machine, name, number, NULL);
}

static void add_gpus(struct fr_topo_builder *b, uint32_t machine, const struct fr__preset *m,
                     uint32_t gpu[], unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        gpu[i] = fr__topo_builder_add(b, FR_VERTEX_GPU, machine, "gpu", i, m->gpu);
}

static void add_host(struct fr_topo_builder *b, uint32_t machine, const struct fr__preset *m,
                     uint32_t sockets[2])
{
    struct fr__host host = *m->host;

    host.cpu = m->cpu ? m->cpu : host.cpu;
    fr__host_build(b, machine, &host, sockets);
}

static void join(struct fr_topo_builder *b, uint32_t one, uint32_t other,
                 const struct fr__preset *m)
{
    fr__wire_join(b, FR_LINK_PCIE, one, other, m->pcie, 1);
}

/* A slot of its own on its socket for each of eight GPUs, and one NIC. */
static void add_slots(struct fr_topo_builder *b, uint32_t machine, const struct fr__preset *m,
                      const uint32_t gpu[], const uint32_t socket[2])
{
    for (unsigned i = 0; i < FR__MESH_GPUS; i++)
        join(b, socket[i / 4], gpu[i], m);
    join(b, socket[0], add(b, FR_VERTEX_NIC, machine, "nic", 0), m);
}

/* Two sockets with PCIe switches that share eight GPUs out, and as many NICs. */
static void add_switches(struct fr_topo_builder *b, uint32_t machine, const struct fr__preset *m,
                         const uint32_t gpu[8])
{
    unsigned n_each = 8 / m->n_pcie_switches;
    uint32_t socket[2];

    add_host(b, machine, m, socket);
    for (unsigned p = 0; p < m->n_pcie_switches; p++) {
        uint32_t plx = add(b, FR_VERTEX_PCIE, machine, "plx", p);

        join(b, plx, socket[2 * p / m->n_pcie_switches], m);
        for (unsigned i = n_each * p; i < n_each * (p + 1); i++) {
            uint32_t nic = add(b, FR_VERTEX_NIC, machine, "nic", i);

            join(b, plx, gpu[i], m);
            join(b, plx, nic, m);
        }
    }
}

/* Eight SXM2 GPUs in a hybrid cube mesh. Two sockets, each with two PCIe switches; a switch carries
 * two GPUs and, on a DGX-1, one NIC. */
void fr__wire_cube_mesh(struct fr_topo_builder *b, uint32_t machine, const struct fr__preset *m)
{
    uint32_t gpu[FR__MESH_GPUS], socket[2];

    add_gpus(b, machine, m, gpu, FR__MESH_GPUS);
    for (unsigned i = 0; i < FR__MESH_GPUS; i++)
        for (unsigned j = i + 1; j < FR__MESH_GPUS; j++)
            if (m->nvlinks[i][j])
                fr__wire_join_measured(b, gpu[i], gpu[j], m->nvlink, m->nvlinks[i][j],
                                       m->messages[0], m->messages[1]);
    add_host(b, machine, m, socket);
    if (m->n_pcie_switches == 0)
        add_slots(b, machine, m, gpu, socket);
    for (unsigned p = 0; p < m->n_pcie_switches; p++) {
        uint32_t plx = add(b, FR_VERTEX_PCIE, machine, "plx", p), nic = FR_NONE;

        if (!m->has_one_nic || p == 0)
            nic = add(b, FR_VERTEX_NIC, machine, "nic", p);
        join(b, plx, socket[p / 2], m);
        join(b, plx, gpu[2 * p], m);
        join(b, plx, gpu[2 * p + 1], m);
        if (nic != FR_NONE)
            join(b, m->has_one_nic ? socket[0] : plx, nic, m);
    }
}

/* Eight GPUs behind NVSwitch. A GPU's NVLinks are spread over all NVSwitches of the board:
 *   A100   12 NVLink 3.0, two to each of six
 *   H100   18 NVLink 4.0, four or five to each of four (H200 too)
 *   B200   18 NVLink 5.0, nine to each of two
 * Every pair is then bounded by the GPU's own links and by nothing else, so one NVSwitch vertex
 * with the sum of the links is exact at the level of flows.
 *
 * PCIe: four switches of two GPUs and two NICs, or eight of one and one; a route to GPU d uses NIC
 * d mod 2 of a switch that has two, by the tie rule. */
void fr__wire_nvswitch(struct fr_topo_builder *b, uint32_t machine, const struct fr__preset *m)
{
    uint32_t gpu[8], nvswitch;

    if (m->collectives)
        fr_topo_builder_system(b, machine, m->collectives, FR_NOWHERE);
    nvswitch = add(b, FR_VERTEX_NVSWITCH, machine, "nvswitch0-", m->last_nvswitch);
    for (unsigned i = 0; i < 8; i++) {
        gpu[i] = fr__topo_builder_add(b, FR_VERTEX_GPU, machine, "gpu", i, m->gpu);
        fr__wire_join_measured(b, gpu[i], nvswitch, m->nvlink, 1, m->messages[0], m->messages[1]);
    }
    add_switches(b, machine, m, gpu);
}

/* Eight GPUs, every two on a link of their own without a switch; PCIe as above. */
void fr__wire_every_pair_of_8(struct fr_topo_builder *b, uint32_t machine,
                              const struct fr__preset *m)
{
    uint32_t gpu[8];

    add_gpus(b, machine, m, gpu, 8);
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = i + 1; j < 8; j++)
            fr__wire_join(b, FR_LINK_NVLINK, gpu[i], gpu[j], m->nvlink, 1);
    add_switches(b, machine, m, gpu);
}

/* Sixteen V100 on two boards of six NVSwitches. Each GPU has one NVLink 2.0 to each of its board's
 * six, and each NVSwitch eight to its counterpart on the other board. Traffic is spread over all
 * six, so that one NVSwitch vertex a board with the sums of the links is exact at the level of
 * flows: 6 links a GPU, 48 between the boards, which is full bisection.
 *
 * On each socket stand two PCIe switches, each with two lower ones of two GPUs and one NIC. */
void fr__wire_nvswitch_boards(struct fr_topo_builder *b, uint32_t machine,
                              const struct fr__preset *m)
{
    uint32_t gpu[16], nvswitch[2], socket[2];

    nvswitch[0] = add(b, FR_VERTEX_NVSWITCH, machine, "nvswitch0-", 5);
    nvswitch[1] = add(b, FR_VERTEX_NVSWITCH, machine, "nvswitch6-", 11);
    fr__wire_join(b, FR_LINK_NVLINK, nvswitch[0], nvswitch[1], m->boards, 48);
    for (unsigned i = 0; i < 16; i++) {
        gpu[i] = fr__topo_builder_add(b, FR_VERTEX_GPU, machine, "gpu", i, m->gpu);
        fr__wire_join(b, FR_LINK_NVLINK, gpu[i], nvswitch[i / 8], m->nvlink, 6);
    }
    add_host(b, machine, m, socket);
    for (unsigned p = 0; p < 4; p++) {
        uint32_t upper = add(b, FR_VERTEX_PCIE, machine, "plx", p);

        join(b, upper, socket[p / 2], m);
        for (unsigned i = 2 * p; i < 2 * p + 2; i++) {
            uint32_t lower = add(b, FR_VERTEX_PCIE, machine, "plx", 4 + i);
            uint32_t nic = add(b, FR_VERTEX_NIC, machine, "nic", i);

            join(b, lower, upper, m);
            join(b, lower, gpu[2 * i], m);
            join(b, lower, gpu[2 * i + 1], m);
            join(b, lower, nic, m);
        }
    }
}

static void wire_tray(struct fr_topo_builder *b, uint32_t machine, const struct fr__preset *m,
                      uint32_t nvswitch)
{
    uint32_t gpu[4], socket[2];

    for (unsigned i = 0; i < 4; i++) {
        gpu[i] = fr__topo_builder_add(b, FR_VERTEX_GPU, machine, "gpu", i, m->gpu);
        fr__wire_join(b, FR_LINK_NVLINK, gpu[i], nvswitch, m->nvlink, 1);
    }
    fr_topo_builder_system(b, machine, m->collectives, FR_NOWHERE);
    add_host(b, machine, m, socket);
    for (unsigned i = 0; i < 4; i++) {
        uint32_t nic = add(b, FR_VERTEX_NIC, machine, "nic", i);

        fr__wire_join(b, FR_LINK_NVLINK, socket[i / 2], gpu[i], m->c2c, 1);
        join(b, socket[i / 2], nic, m);
    }
}

/* A rack of trays in one NVLink domain. A tray is a machine of its own (it runs its own operating
 * system): two Grace CPUs, four GPUs and four NICs. Each Grace has two GPUs on NVLink-C2C and two
 * NICs on PCIe; a GPU reaches a NIC through its Grace, as GB200's GPUs have no PCIe to it
 * (`nvidia-smi topo -m` reads SYS to every NIC). The one CPU device of a tray stands for both
 * Graces.
 *
 * Each GPU has one NVLink 5.0 to each of the 18 switch chips in nine trays, and spreads its traffic
 * over all, so one NVSwitch vertex with the sum is exact at the level of flows. It belongs to the
 * rack: to no machine. */
void fr__wire_nvswitch_rack(struct fr_topo_builder *b, uint32_t machine, const struct fr__preset *m)
{
    char name[FR__MAX_VERTEX_NAME + 1];
    uint32_t nvswitch;

    /* called by its first tray, which no other rack has */
    snprintf(name, sizeof(name), "rack%u.nvswitch0-%u", (unsigned)machine, m->last_nvswitch);
    nvswitch = fr_topo_builder_vertex(b, FR_VERTEX_NVSWITCH, name, FR_NONE, FR_NONE, FR_NOWHERE);
    for (uint32_t i = 0; i < m->n_machines; i++)
        wire_tray(b, machine + i, m, nvswitch);
}

/* Four superchips, every two GPUs on six NVLinks without a switch (the 18 of a Hopper over its
 * three peers), a NIC on each Grace. The one CPU device stands for all four Graces. */
void fr__wire_every_pair(struct fr_topo_builder *b, uint32_t machine, const struct fr__preset *m)
{
    enum { N = 4 };
    uint32_t gpu[N], socket[N], cpu;

    add_gpus(b, machine, m, gpu, N);
    cpu = fr__topo_builder_add(b, FR_VERTEX_CPU, machine, "cpu", 0, m->host->cpu);
    for (unsigned i = 0; i < N; i++) {
        socket[i] = add(b, FR_VERTEX_PCIE, machine, "socket", i);
        fr__wire_join(b, FR_LINK_CPU, cpu, socket[i], &m->host->memory, 1);
        fr__wire_join(b, FR_LINK_NVLINK, socket[i], gpu[i], m->c2c, 1);
    }
    for (unsigned i = 0; i < N; i++)
        for (unsigned j = i + 1; j < N; j++) {
            fr__wire_join(b, FR_LINK_NVLINK, gpu[i], gpu[j], m->nvlink, 6);
            fr__wire_join(b, FR_LINK_CPU, socket[i], socket[j], &m->host->to_socket, 1);
        }
    for (unsigned i = 0; i < N; i++)
        join(b, socket[i], add(b, FR_VERTEX_NIC, machine, "nic", i), m);
    fr_topo_builder_system(b, machine, m->collectives, FR_NOWHERE);
}

/* Sixteen K80 dies on eight boards, no NVLink. A board is two dies behind a PCIe switch of its own;
 * two further switches a socket carry two boards each, and the NIC is on the first socket. */
void fr__wire_k80_boards(struct fr_topo_builder *b, uint32_t machine, const struct fr__preset *m)
{
    uint32_t gpu[16], socket[2], plx[4];

    add_gpus(b, machine, m, gpu, 16);
    add_host(b, machine, m, socket);
    for (unsigned p = 0; p < 4; p++) {
        plx[p] = add(b, FR_VERTEX_PCIE, machine, "plx", p);
        join(b, plx[p], socket[p / 2], m);
    }
    for (unsigned k = 0; k < 8; k++) {
        uint32_t board = add(b, FR_VERTEX_PCIE, machine, "k80-", k);

        join(b, board, plx[k / 2], m);
        fr__wire_join(b, FR_LINK_PCIE, board, gpu[2 * k], m->die, 1);
        fr__wire_join(b, FR_LINK_PCIE, board, gpu[2 * k + 1], m->die, 1);
    }
    join(b, socket[0], add(b, FR_VERTEX_NIC, machine, "nic", 0), m);
}
