/* tests/topo/test_preset.c - the machines we know against what is known of them. */
#include "config.h"

#include "topo/topo.h"
#include "tests/support/base_check.h"
#include "tests/support/topo_case.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_GPUS = 72, MAX_RINGS = 16 };

static FILE *open_shared(const char *path, const char *test)
{
    const char *srcdir = getenv("srcdir");
    char full[512];
    FILE *f;

    snprintf(full, sizeof(full), "%s/../shared/data/%s", srcdir ? srcdir : ".", path);
    f = fopen(full, "r");
    if (!f)
        printf("SKIP %s: no %s beside the sources\n", test, path);
    return f;
}

/* ---- facts ---- */

/* From the vendors' datasheets and user guides:
 *   nvlinks      links of each GPU, and what one carries raw, one direction
 *   cut_links    between the first half of the GPUs and the second: 4 edges of the cube on a P100
 *                DGX-1, 2 + 2 + 1 + 1 on a V100 one; half of all GPUs' links where a switch joins
 *                them (DGX-2: 48 between its boards; NVL72: 36 x 18), none between K80s */
static const struct fact {
    const char *name, *gpu;
    size_t n_gpus, n_machines, n_nics;
    unsigned nvlinks;
    double link_Bps;
    unsigned cut_links;
    double nic_Bps;
    const char *system; /* fitted to its NVSwitches; NULL: none */
} facts[] = {
    {"dgx1-p100", "p100-sxm2-16gb", 8, 1, 4, 4, 20e9, 4, 100e9 / 8, NULL},
    {"dgx1-v100", "v100-sxm2-16gb", 8, 1, 4, 6, 25e9, 6, 100e9 / 8, NULL},
    {"dgx1-v100-32g", "v100-sxm2-32gb", 8, 1, 4, 6, 25e9, 6, 100e9 / 8, NULL},
    {"p2.16xlarge", "k80-die", 16, 1, 1, 0, 0, 0, 20e9 / 8, NULL},
    {"p3.16xlarge", "v100-sxm2-16gb", 8, 1, 1, 6, 25e9, 6, 25e9 / 8, NULL},
    {"8x-v100-own-x16", "v100-sxm2-16gb", 8, 1, 1, 6, 25e9, 6, 100e9 / 8, NULL},
    {"dgx2", "v100-sxm3-32gb", 16, 1, 8, 6, 25e9, 48, 100e9 / 8, NULL},
    {"dgx-a100-40g", "a100-sxm4-40gb", 8, 1, 8, 12, 25e9, 48, 200e9 / 8, "a100-nvswitch"},
    {"dgx-a100-80g", "a100-sxm4-80gb", 8, 1, 8, 12, 25e9, 48, 200e9 / 8, "a100-nvswitch"},
    {"hgx-h100", "h100-sxm5-80gb", 8, 1, 8, 18, 25e9, 72, 400e9 / 8, "h100-nvswitch"},
    {"hgx-h100-96g", "h100-sxm5-96gb", 8, 1, 8, 18, 25e9, 72, 400e9 / 8, "h100-nvswitch"},
    {"hgx-h800", "h800-sxm5-80gb", 8, 1, 8, 8, 25e9, 32, 400e9 / 8, NULL},
    {"hgx-h20", "h20-sxm-96gb", 8, 1, 8, 18, 25e9, 72, 400e9 / 8, "h100-nvswitch"},
    {"hgx-h200", "h200-sxm-141gb", 8, 1, 8, 18, 25e9, 72, 400e9 / 8, "h100-nvswitch"},
    {"gh200-quad", "gh200-96gb", 4, 1, 4, 18, 25e9, 24, 200e9 / 8, "gh200-slingshot"},
    {"hgx-b200", "b200-sxm-180gb", 8, 1, 8, 18, 50e9, 72, 400e9 / 8, "b200-nvswitch"},
    {"gb200-nvl72", "gb200-186gb", 72, 18, 72, 18, 50e9, 648, 400e9 / 8, "gb200-nvswitch"},
    {"hgx-b300", "b300-sxm-288gb", 8, 1, 8, 18, 50e9, 72, 800e9 / 8, "b200-nvswitch"},
    {"gb300-nvl72", "gb300-288gb", 72, 18, 72, 18, 50e9, 648, 800e9 / 8, "gb200-nvswitch"},
    {"8x-mi300x", "mi300x-192gb", 8, 1, 8, 7, 64e9, 16, 400e9 / 8, NULL},
    {"8x-mi325x", "mi325x-256gb", 8, 1, 8, 7, 64e9, 16, 400e9 / 8, NULL},
    {"8x-mi355x", "mi355x-288gb", 8, 1, 8, 7, 76.8e9, 16, 400e9 / 8, NULL},
};

enum { N_FACTS = sizeof(facts) / sizeof(facts[0]) };

/* What leaves a GPU over NVLink, to other GPUs and to NVSwitches. */
static double nvlink_Bps(const struct fr_topo *t, uint32_t gpu)
{
    double sum = 0;

    for (size_t l = 0; l < t->n_links; l++)
        if (t->links[l].src == t->devices[gpu].vertex && t->links[l].kind == FR_LINK_NVLINK &&
            t->vertices[t->links[l].dst].kind != FR_VERTEX_PCIE)
            sum += t->links[l].bw_Bps;
    return sum;
}

LOOP_TEST(machines_have_the_gpus_nvlinks_and_nics_that_they_are_sold_with, 0, N_FACTS)
{
    const struct fact *f = &facts[_i];
    struct fr_topo *t = topo_case_load(f->name);
    size_t n_nics = 0;

    ck_assert_uint_eq(t->n_gpus, f->n_gpus);
    ck_assert_uint_eq(t->n_machines, f->n_machines);
    for (uint32_t g = 0; g < t->n_gpus; g++) {
        double raw_Bps = f->nvlinks * f->link_Bps;

        ck_assert_str_eq(t->types[t->devices[g].type].name, f->gpu);
        /* what large messages get is 0.8 to 0.96 of the raw rate wherever it was measured; RCCL
         * counts 0.75 of it on AMD's links */
        ck_assert_double_le(nvlink_Bps(t, g), 0.97 * raw_Bps);
        ck_assert_double_ge(nvlink_Bps(t, g), 0.74 * raw_Bps);
    }
    for (size_t v = 0; v < t->n_vertices; v++)
        n_nics += t->vertices[v].kind == FR_VERTEX_NIC;
    ck_assert_uint_eq(n_nics, f->n_nics);
    fr_topo_free(t);
}

/* One link's share of what a GPU's NVLinks carry. */
static double effective_link_Bps(const struct fr_topo *t, const struct fact *f)
{
    return f->nvlinks ? nvlink_Bps(t, 0) / f->nvlinks : 0;
}

/* Which half of the GPUs a vertex stands with: by number, switches with the GPUs wired to them; 2
 * for a switch with GPUs of both. */
static unsigned half_of(const struct fr_topo *t, uint32_t vertex)
{
    unsigned halves = 0;

    if (t->vertices[vertex].kind == FR_VERTEX_GPU)
        return t->vertices[vertex].device >= t->n_gpus / 2;
    for (size_t l = 0; l < t->n_links; l++)
        if (t->links[l].src == vertex && t->vertices[t->links[l].dst].kind == FR_VERTEX_GPU)
            halves |= 1U << (t->vertices[t->links[l].dst].device >= t->n_gpus / 2);
    return halves == 3 ? 2 : halves >> 1;
}

LOOP_TEST(nvlinks_between_the_halves_add_up_to_the_known_bisection, 0, N_FACTS)
{
    const struct fact *f = &facts[_i];
    struct fr_topo *t = topo_case_load(f->name);
    double cut_Bps = 0;

    for (size_t l = 0; l < t->n_links; l++) {
        const struct fr_link *x = &t->links[l];

        if (x->kind != FR_LINK_NVLINK || t->vertices[x->src].kind == FR_VERTEX_PCIE ||
            t->vertices[x->dst].kind == FR_VERTEX_PCIE)
            continue;
        if (half_of(t, x->src) == 0 && half_of(t, x->dst) > 0)
            cut_Bps += x->bw_Bps;
    }
    ck_assert_double_eq_tol(cut_Bps, f->cut_links * effective_link_Bps(t, f), 1);
    fr_topo_free(t);
}

LOOP_TEST(collectives_are_those_of_the_boards_that_were_measured, 0, N_FACTS)
{
    const struct fact *f = &facts[_i];
    struct fr_topo *t = topo_case_load(f->name);

    for (size_t m = 0; m < t->n_machines; m++)
        if (f->system)
            ck_assert_str_eq(t->systems[t->system_of[m]].name, f->system);
        else
            ck_assert_uint_eq(t->system_of[m], FR_NONE);
    for (size_t i = 0; i < t->n_systems; i++) /* no others but for messages */
        ck_assert(strcmp(t->systems[i].name, f->system ? f->system : "") == 0 ||
                  (t->n_messages == 1 && t->messages[0].system == i));
    fr_topo_free(t);
}

LOOP_TEST(machines_joined_use_their_own_network, 0, N_FACTS)
{
    const struct fact *f = &facts[_i];
    char spec[64];
    struct fr_topo *t;
    size_t n_net = 0;

    snprintf(spec, sizeof(spec), "2x %s", f->name);
    t = topo_case_load(spec);
    ck_assert_uint_eq(t->n_gpus, 2 * f->n_gpus);
    ck_assert_uint_eq(t->n_machines, 2 * f->n_machines);
    ck_assert_uint_eq(fr_topo_check(t, NULL, NULL), 0);
    for (size_t l = 0; l < t->n_links; l++)
        if (t->links[l].kind == FR_LINK_NET) {
            ck_assert_double_eq_tol(t->links[l].bw_Bps, f->nic_Bps, 1);
            n_net++;
        }
    ck_assert_uint_eq(n_net, 2 * 2 * f->n_nics);
    fr_topo_free(t);

    snprintf(spec, sizeof(spec), "3x %s via ib:50Gbps,1us", f->name);
    t = topo_case_load(spec);
    ck_assert_uint_eq(t->n_gpus, 3 * f->n_gpus);
    ck_assert_str_eq(t->name, spec);
    fr_topo_free(t);
}

TEST(every_preset_has_its_facts_in_this_table)
{
    size_t n = 0;

    for (; fr_topo_preset_name(n); n++)
        ck_assert_str_eq(fr_topo_preset_name(n), facts[n].name);
    ck_assert_uint_eq(n, N_FACTS);
}

/* ---- wiring ---- */

static uint32_t find_vertex(const struct fr_topo *t, const char *name)
{
    for (uint32_t v = 0; v < t->n_vertices; v++)
        if (strcmp(t->vertices[v].name, name) == 0)
            return v;
    ck_abort_msg("no vertex %s", name);
    return FR_NONE;
}

static bool has_link(const struct fr_topo *t, const char *src, const char *dst)
{
    uint32_t a = find_vertex(t, src), b = find_vertex(t, dst);

    for (size_t l = 0; l < t->n_links; l++)
        if (t->links[l].src == a && t->links[l].dst == b)
            return true;
    return false;
}

/* Fewest PCIe switches between two vertices without leaving PCIe; counts sockets on the way. A
 * breadth-first search over PCIe and socket links. */
static unsigned switches_between(const struct fr_topo *t, uint32_t from, uint32_t to,
                                 unsigned *n_sockets)
{
    enum { FAR = 1000 };
    unsigned steps[256], sockets[256];

    ck_assert_uint_le(t->n_vertices, 256);
    for (size_t v = 0; v < t->n_vertices; v++)
        steps[v] = FAR;
    steps[from] = 0;
    sockets[from] = 0;
    for (unsigned round = 0; round < 10; round++)
        for (size_t l = 0; l < t->n_links; l++) {
            const struct fr_link *x = &t->links[l];
            enum fr_vertex_kind via = t->vertices[x->src].kind;

            if ((x->kind != FR_LINK_PCIE && x->kind != FR_LINK_CPU) || steps[x->src] != round ||
                steps[x->dst] <= round || (via != FR_VERTEX_PCIE && x->src != from))
                continue;
            steps[x->dst] = round + 1;
            sockets[x->dst] =
                sockets[x->src] + (strncmp(t->vertices[x->dst].name, "n0.socket", 9) == 0);
        }
    ck_assert_uint_lt(steps[to], FAR);
    *n_sockets = sockets[to];
    return steps[to] - 1 - sockets[to];
}

/* The word of `nvidia-smi topo -m`: PIX one switch, PXB several, NODE over one socket, SYS over
 * two. */
static const char *relation(const struct fr_topo *t, const char *a, const char *b)
{
    unsigned n_sockets;
    unsigned n = switches_between(t, find_vertex(t, a), find_vertex(t, b), &n_sockets);

    return n_sockets > 1 ? "SYS" : n_sockets == 1 ? "NODE" : n > 1 ? "PXB" : "PIX";
}

static void expect_row(const struct fr_topo *t, unsigned gpu, const char *want)
{
    char got[64] = "", a[32], b[32];
    size_t used = 0;

    snprintf(a, sizeof(a), "n0.gpu%u", gpu);
    for (unsigned i = 0; used + 1 < strlen(want); i++) {
        snprintf(b, sizeof(b), "n0.nic%u", i);
        used += (size_t)snprintf(got + used, sizeof(got) - used, "%s%s", i ? " " : "",
                                 relation(t, a, b));
    }
    ck_assert_msg(strcmp(got, want) == 0, "GPU%u: %s, not %s", gpu, got, want);
}

/* The rows of a real DGX-2, eight InfiniBand NICs (github.com/NVIDIA/nccl-tests issue 78). */
TEST(a_dgx2s_gpus_stand_to_its_nics_as_nvidia_smi_prints)
{
    struct fr_topo *t = topo_case_load("dgx2");

    expect_row(t, 0, "PIX PXB NODE NODE SYS SYS SYS SYS");
    expect_row(t, 1, "PIX PXB NODE NODE SYS SYS SYS SYS");
    expect_row(t, 2, "PXB PIX NODE NODE SYS SYS SYS SYS");
    expect_row(t, 3, "PXB PIX NODE NODE SYS SYS SYS SYS");
    expect_row(t, 4, "NODE NODE PIX PXB SYS SYS SYS SYS");
    expect_row(t, 15, "SYS SYS SYS SYS NODE NODE PXB PIX");
    fr_topo_free(t);
}

/* A real DGX A100 prints PXB for the pair of NICs that a GPU shares its switches with and SYS for
 * the rest (github.com/NVIDIA/nccl issue 1505); its eight NUMA nodes are two sockets, so that of
 * what it calls SYS the same socket's are NODE here, and one switch stands for the two in a row. A
 * DGX-1 prints PIX and PHB (its host bridge), a DGX H100 PIX for GPU i and NIC i. */
TEST(gpus_share_a_switch_with_the_nics_that_nvidia_smi_prints)
{
    struct fr_topo *t = topo_case_load("dgx-a100-40g");

    expect_row(t, 0, "PIX PIX NODE NODE SYS SYS SYS SYS");
    expect_row(t, 3, "NODE NODE PIX PIX SYS SYS SYS SYS");
    fr_topo_free(t);
    t = topo_case_load("dgx1-p100");
    expect_row(t, 1, "PIX NODE SYS SYS");
    expect_row(t, 6, "SYS SYS NODE PIX");
    fr_topo_free(t);
    t = topo_case_load("hgx-h200");
    expect_row(t, 0, "PIX NODE NODE NODE SYS SYS SYS SYS");
    expect_row(t, 7, "SYS SYS SYS SYS NODE NODE NODE PIX");
    fr_topo_free(t);
    t = topo_case_load("hgx-b200");
    expect_row(t, 1, "PIX PIX NODE NODE SYS SYS SYS SYS");
    fr_topo_free(t);
}

/* The matrix of a DGX H100: NV18 between all GPUs, PIX where the row's GPU and the column's NIC
 * share a switch. */
TEST(an_h100s_matrix_equals_the_machines_own)
{
    FILE *f = open_shared("topologies/nvidia-smi-topo/dgx-h100.txt",
                          "an_h100s_matrix_equals_the_machines_own");
    struct fr_topo *t = topo_case_load("hgx-h100");
    char line[512];
    unsigned n_rows = 0;

    while (f && fgets(line, sizeof(line), f)) {
        char *at = line, a[32], b[32];
        unsigned row;
        int used;

        if (sscanf(at, "GPU%u\t%n", &row, &used) != 1 || !strstr(line, " X "))
            continue;
        snprintf(a, sizeof(a), "n0.gpu%u", row);
        n_rows++;
        for (unsigned col = 0; col < 16; col++) {
            char cell[8];

            at += used;
            ck_assert_int_eq(sscanf(at, " %7[^\t]\t%n", cell, &used), 1);
            cell[strcspn(cell, " ")] = '\0';
            if (col < 8) {
                ck_assert_str_eq(cell, col == row ? "X" : "NV18");
                continue;
            }
            snprintf(b, sizeof(b), "n0.nic%u", col - 8);
            ck_assert_int_eq(strcmp(cell, "PIX") == 0, strcmp(relation(t, a, b), "PIX") == 0);
        }
    }
    ck_assert(!f || n_rows == 8);
    if (f)
        fclose(f);
    fr_topo_free(t);
}

/* Azure's ND A100 v4 is an HGX A100 with the host of a DGX: its file for NCCL has a line for each
 * PCIe switch (class 0604) and below it one for each GPU (0302) and InfiniBand NIC (0207). */
TEST(an_a100s_switches_carry_what_azures_file_says)
{
    FILE *f = open_shared("topologies/nccl-xml/azure-ndv4-topo.xml",
                          "an_a100s_switches_carry_what_azures_file_says");
    struct fr_topo *t = topo_case_load("dgx-a100-40g");
    unsigned n_switches = 0, gpu = 0, nic = 0;
    char line[512], name[32], below[32];

    while (f && fgets(line, sizeof(line), f)) {
        if (strstr(line, "0x060400"))
            n_switches++;
        else if (strstr(line, "0x030200"))
            snprintf(below, sizeof(below), "n0.gpu%u", gpu++);
        else if (strstr(line, "0x020700"))
            snprintf(below, sizeof(below), "n0.nic%u", nic++);
        if (!strstr(line, "0x030200") && !strstr(line, "0x020700"))
            continue;
        snprintf(name, sizeof(name), "n0.plx%u", n_switches - 1);
        ck_assert_msg(has_link(t, name, below), "%s is not below %s", below, name);
    }
    ck_assert(!f || (n_switches == 4 && gpu == 8 && nic == 8));
    if (f)
        fclose(f);
    fr_topo_free(t);
}

/* The file of a virtual machine with a whole HGX B200: four GPUs a socket, 18 NVLinks each into the
 * switches (target "fffffff", class 068000), 400 Gbit/s NICs. */
TEST(a_b200s_gpus_stand_as_a_real_machines_file_says)
{
    FILE *f = open_shared("topologies/nccl-xml/b200-8gpu-vm.xml",
                          "a_b200s_gpus_stand_as_a_real_machines_file_says");
    struct fr_topo *t = topo_case_load("hgx-b200");
    unsigned n_gpus = 0, n_nics = 0, socket = 0, n_sockets;
    char line[512], gpu[32], cpu[32];

    while (f && fgets(line, sizeof(line), f)) {
        if (strstr(line, "<cpu "))
            socket = strstr(line, "numaid=\"1\"") != NULL;
        n_nics += strstr(line, "speed=\"400000\"") != NULL;
        if (!strstr(line, "<nvlink "))
            continue;
        ck_assert_ptr_nonnull(strstr(line, "count=\"18\""));
        snprintf(gpu, sizeof(gpu), "n0.gpu%u", n_gpus++);
        snprintf(cpu, sizeof(cpu), "n0.socket%u", socket);
        switches_between(t, find_vertex(t, gpu), find_vertex(t, cpu), &n_sockets);
        ck_assert_msg(n_sockets == 1, "%s is not on %s", gpu, cpu);
    }
    ck_assert(!f || (n_gpus == 8 && n_nics == 8));
    if (f)
        fclose(f);
    fr_topo_free(t);
}

/* The next field of a line of CSV without quotes; NULL at its end. */
static char *next_field(char **at)
{
    char *field = *at, *comma;

    if (!field)
        return NULL;
    comma = strchr(field, ',');
    if (comma)
        *comma = '\0';
    *at = comma ? comma + 1 : NULL;
    return field;
}

/* Tartan copied between all pairs of a P100 DGX-1, one way: 18.4 GB/s where an NVLink is, about 9
 * over PCIe. */
TEST(a_p100_dgx1_has_its_nvlinks_where_copies_were_fast)
{
    FILE *f =
        open_shared("microbench/p2p.csv", "a_p100_dgx1_has_its_nvlinks_where_copies_were_fast");
    struct fr_topo *t = topo_case_load("dgx1-p100");
    char line[1024];
    unsigned n_pairs = 0;

    while (f && fgets(line, sizeof(line), f)) {
        char *at = line, *field[10], name[64], buf[FR_LINK_NAME];
        unsigned src, dst;
        bool has_link = false;

        for (unsigned i = 0; i < 10; i++)
            field[i] = next_field(&at);
        if (!field[9] || strcmp(field[1], "tartan_dgx1_p100") != 0 ||
            strncmp(field[5], "NVLink1", 7) != 0 || field[6][0] ||
            strncmp(field[9], "bw_uni", 6) != 0 || sscanf(field[3], "gpu%u", &src) != 1 ||
            sscanf(field[4], "gpu%u", &dst) != 1)
            continue;
        snprintf(name, sizeof(name), "n0.gpu%u>n0.gpu%u", src, dst);
        for (uint32_t l = 0; l < t->n_links; l++)
            if (strcmp(fr_topo_link_name(t, l, buf), name) == 0) {
                ck_assert_double_eq_tol(t->links[l].bw_Bps, atof(field[7]) * 1e9, 0.1e9);
                has_link = true;
            }
        ck_assert_int_eq(has_link, atof(field[7]) > 15);
        n_pairs++;
    }
    ck_assert(!f || n_pairs == 56);
    if (f)
        fclose(f);
    fr_topo_free(t);
}

/* ---- rings ---- */

/* What all rings of the first n GPUs carry together. */
static double rings_Bps(const char *spec, size_t n, size_t *n_rings)
{
    static uint32_t order[MAX_RINGS * 2 * MAX_GPUS];
    uint32_t devices[2 * MAX_GPUS];
    double share_frac[MAX_RINGS], *load_frac, worst = 0;
    struct fr_topo *t = topo_case_load(spec);
    struct fr_router *r;
    struct fr_error err;

    ck_assert_int_eq(fr_router_new(&r, t, &err), FR_OK);
    ck_assert_int_eq(fr_topo_select(t, n, false, devices, &err), FR_OK);
    ck_assert_int_eq(fr_topo_rings(r, devices, n, MAX_RINGS, order, share_frac, n_rings, &err),
                     FR_OK);
    load_frac = calloc(t->n_links, sizeof(*load_frac));
    ck_assert_ptr_nonnull(load_frac);
    for (size_t i = 0; i < *n_rings * n; i++) {
        const uint32_t *links;
        size_t n_links, to = i % n + 1 < n ? i + 1 : i + 1 - n;

        ck_assert_int_eq(fr_router_path(r, order[i], order[to], &links, &n_links, &err), FR_OK);
        for (size_t k = 0; k < n_links; k++)
            load_frac[links[k]] += share_frac[i / n];
    }
    for (size_t l = 0; l < t->n_links; l++)
        if (load_frac[l] / t->links[l].bw_Bps > worst)
            worst = load_frac[l] / t->links[l].bw_Bps;
    free(load_frac);
    fr_router_free(r);
    fr_topo_free(t);
    return 1 / worst;
}

/* Tartan's bus bandwidths of NCCL 2 all-reduce on a P100 DGX-1, over the 17.3 GB/s of one link:
 * 17.3, 34.6, 52.1, 34.7 and 62.2 GB/s on 2, 3, 4, 6 and 8 GPUs, that is 1, 2, 3, 2 and 4 links'
 * worth (3.6 measured). On 7, NCCL of 2017 found 2; without GPU 7 GPU 3 has three links, and three
 * links' worth of rings do exist: an upper bound that the search reaches. Five fall back to
 * PCIe. */
LOOP_TEST(a_p100_dgx1_finds_as_many_rings_as_were_measured, 0, 6)
{
    static const struct {
        size_t n;
        double links;
    } rows[] = {{2, 1}, {3, 2}, {4, 3}, {6, 2}, {7, 3}, {8, 4}};
    size_t n_rings;

    ck_assert_double_eq_tol(rings_Bps("dgx1-p100", rows[_i].n, &n_rings) / 18.4e9, rows[_i].links,
                            1e-6);
}

/* One ring fills every GPU's NVLinks where switches join them. On K80s the ring crosses between the
 * sockets both ways, 6 GB/s each. Two machines with eight NICs
 * behind PCIe 5.0 have eight rings of 48 GB/s. */
LOOP_TEST(rings_fill_switched_machines, 0, 8)
{
    static const struct {
        const char *spec;
        size_t n, n_rings;
        double Bps;
    } rows[] = {
        {"dgx2", 16, 1, 125e9},           {"hgx-h100", 8, 1, 375e9},
        {"hgx-b200", 8, 1, 721.8e9},      {"gb200-nvl72", 72, 1, 721.8e9},
        {"p2.16xlarge", 16, 1, 6e9},      {"2x hgx-h100", 16, 8, 8 * 48e9},
        {"2x hgx-b200", 16, 8, 8 * 48e9}, {"hgx-h800", 8, 1, 375e9 * 8 / 18},
    };
    size_t n_rings;
    double Bps = rings_Bps(rows[_i].spec, rows[_i].n, &n_rings);

    ck_assert_msg(n_rings == rows[_i].n_rings, "%s: %zu rings", rows[_i].spec, n_rings);
    ck_assert_double_eq_tol(Bps, rows[_i].Bps, 1);
}

/* ---- types ---- */

/* The dense peaks on the datasheets, Tflop/s, and the GB/s of the memory; what CUDA offers of the
 * memory is 0.90 (K80, its error correction takes a sixteenth) to 1 of what is on the label. */
LOOP_TEST(gpus_have_the_rates_of_their_datasheets, 0, 9)
{
    static const struct {
        const char *name;
        double fp32, tf32, fp16, fp8, mem_GBps, label_GB;
    } rows[] = {
        {"k80-die", 2.8, 0, 0, 0, 240, 12 * 1.0737},
        {"p100-sxm2-16gb", 10.6, 0, 21.2, 0, 732, 16 * 1.0737},
        {"v100-sxm2-32gb", 15.7, 0, 125, 0, 900, 32 * 1.0737},
        {"v100-sxm3-32gb", 15.7, 0, 125, 0, 900, 32 * 1.0737},
        {"a100-sxm4-40gb", 19.5, 156, 312, 0, 1555, 40 * 1.0737},
        {"h100-sxm5-80gb", 66.9, 494.7, 989.4, 1978.9, 3350, 80 * 1.0737},
        {"h200-sxm-141gb", 66.9, 494.7, 989.4, 1978.9, 4800, 141 * 1.0737},
        {"b200-sxm-180gb", 80, 1125, 2250, 4500, 8000, 180 * 1.0737},
        {"gb200-186gb", 80, 1250, 2500, 5000, 8000, 186 * 1.0737},
    };
    const struct fr_device_type *d = fr_device_type_find(rows[_i].name);

    ck_assert_ptr_nonnull(d);
    ck_assert_double_eq_tol(d->flops_per_s[FR_FP32], rows[_i].fp32 * 1e12, 1);
    ck_assert_double_eq_tol(d->flops_per_s[FR_TF32], rows[_i].tf32 * 1e12, 1);
    ck_assert_double_eq_tol(d->flops_per_s[FR_FP16], rows[_i].fp16 * 1e12, 1);
    ck_assert_double_eq_tol(d->flops_per_s[FR_FP8], rows[_i].fp8 * 1e12, 1);
    ck_assert_double_eq_tol(d->mem_Bps, rows[_i].mem_GBps * 1e9, 1);
    ck_assert_double_le((double)d->mem_bytes, rows[_i].label_GB * 1e9);
    ck_assert_double_ge((double)d->mem_bytes, 0.9 * rows[_i].label_GB * 1e9);
}

int main(void)
{
    TCase *c = tcase_create("all");

    add_tests(c);
    return run_case(c, "topo presets");
}
