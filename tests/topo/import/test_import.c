/* Files of other tools as topologies: the same machine as the preset, what is assumed, what is
 * refused and why. */
#include "config.h"

#include "base/arena.h"
#include "base/xml.h"
#include "tests/support/base_check.h"
#include "tests/support/topo_case.h"
#include "topo/load/load.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_GPUS = 32, MAX_RINGS = 8 };

static struct fr_topo *load_text(const char *text, const char *name)
{
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_msg(fr__topo_load_text(&t, text, strlen(text), name, &err) == FR_OK, "%s:%u:%u: %s",
                  name, err.line, err.col, err.text);
    return t;
}

static void refuse_text(const char *text, const char *message)
{
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_int_ne(fr__topo_load_text(&t, text, strlen(text), "f", &err), FR_OK);
    assert_message(&err, message);
    ck_assert_ptr_null(t);
}

static bool has_note(const struct fr_topo *t, const char *part)
{
    for (size_t i = 0; i < t->n_notes; i++)
        if (strstr(t->notes[i], part))
            return true;
    return false;
}

static double link_Bps(const struct fr_topo *t, const char *name)
{
    const struct fr_link *l = topo_case_link(t, name);

    ck_assert_msg(l != NULL, "no link %s", name);
    return l->bw_Bps;
}

/* ---- a board as its preset ---- */

/* NCCL's XML of a board of eight GPUs behind NVSwitch, n_each to a PCIe switch with as many NICs,
 * on two sockets. */
static void write_board(char *text, size_t size, const char *cpu, unsigned sm, unsigned device,
                        unsigned n_links, unsigned n_each, double GTps, unsigned nic_Mbps)
{
    unsigned n_switches = 8 / n_each;
    size_t used = 0;

#define PUT(...) used += (size_t)snprintf(text + used, size - used, __VA_ARGS__)
    PUT("<system version='1'>\n");
    for (unsigned p = 0; p < n_switches; p++) {
        if (p % (n_switches / 2) == 0)
            PUT("%s<cpu numaid='%u' arch='x86_64' %s>\n", p ? "</cpu>\n" : "", p / (n_switches / 2),
                cpu);
        PUT("<pci busid='a:%02x:00.0' class='0x060400' link_speed='%g GT/s' link_width='16'>\n", p,
            GTps);
        for (unsigned i = n_each * p; i < n_each * (p + 1); i++) {
            PUT("<pci busid='b:%02x:00.0' class='0x030200' device='0x%04x' link_speed='%g GT/s' "
                "link_width='16'><gpu dev='%u' sm='%u' rank='%u' gdr='1'><nvlink "
                "target='c:0:0.0' count='%u' tclass='0x068000'/></gpu></pci>\n",
                i, device, GTps, i, sm, i, n_links);
            PUT("<pci busid='d:%02x:00.0' class='0x020700' link_speed='%g GT/s' link_width='16'>"
                "<nic><net name='mlx5_%u' dev='%u' speed='%u' guid='0x%x'/></nic></pci>\n",
                i, GTps, i, i, nic_Mbps, i + 1);
        }
        PUT("</pci>\n");
    }
    PUT("</cpu></system>\n");
#undef PUT
    ck_assert_uint_lt(used, size);
}

#define ROME "vendor='AuthenticAMD' familyid='23' modelid='49'"
#define SPR "vendor='GenuineIntel' familyid='6' modelid='143'"
#define EMR "vendor='GenuineIntel' familyid='6' modelid='207'"

static const struct board {
    const char *preset, *cpu, *network;
    unsigned sm, device, n_links, n_each;
    double GTps;
    unsigned nic_Mbps;
} boards[] = {
    {"dgx-a100-80g", ROME, "ib:200Gbps", 80, 0x20b2, 12, 2, 16, 200000},
    {"dgx-a100-40g", ROME, "ib:200Gbps", 80, 0x20b0, 12, 2, 16, 200000},
    {"hgx-h100", SPR, "ib:400Gbps", 90, 0x2330, 18, 1, 32, 400000},
    {"hgx-h200", SPR, "ib:400Gbps", 90, 0x2335, 18, 1, 32, 400000},
    {"hgx-b200", EMR, "ib:400Gbps", 100, 0x2901, 18, 2, 32, 400000},
};

enum { N_BOARDS = sizeof(boards) / sizeof(boards[0]), BOARD_SIZE = 1 << 14 };

static void put_board(char *text, const struct board *b)
{
    write_board(text, BOARD_SIZE, b->cpu, b->sm, b->device, b->n_links, b->n_each, b->GTps,
                b->nic_Mbps);
}

/* Same types, same lengths, rates and latencies between any two GPUs. */
static void compare_routes(const struct fr_topo *a, const struct fr_topo *b)
{
    struct fr_router *ra, *rb;
    struct fr_error err;

    ck_assert_uint_eq(a->n_gpus, b->n_gpus);
    ck_assert(fr_router_new(&ra, a, &err) == FR_OK && fr_router_new(&rb, b, &err) == FR_OK);
    for (uint32_t s = 0; s < a->n_gpus; s++)
        for (uint32_t d = 0; d < a->n_gpus; d++) {
            const uint32_t *la, *lb;
            size_t na, nb;

            ck_assert(fr_router_path(ra, s, d, &la, &na, &err) == FR_OK);
            ck_assert(fr_router_path(rb, s, d, &lb, &nb, &err) == FR_OK);
            ck_assert_uint_eq(na, nb);
            for (size_t i = 0; i < na; i++) {
                ck_assert_double_eq(a->links[la[i]].bw_Bps, b->links[lb[i]].bw_Bps);
                ck_assert_double_eq(a->links[la[i]].latency_s, b->links[lb[i]].latency_s);
                ck_assert_int_eq(a->links[la[i]].kind, b->links[lb[i]].kind);
            }
        }
    fr_router_free(ra);
    fr_router_free(rb);
}

static void compare_rings(const struct fr_topo *a, const struct fr_topo *b)
{
    const struct fr_topo *t[2] = {a, b};
    uint32_t order[2][MAX_RINGS * MAX_GPUS], devices[MAX_GPUS];
    double share[2][MAX_RINGS];
    size_t n_rings[2];
    struct fr_error err;

    for (uint32_t i = 0; i < a->n_gpus; i++)
        devices[i] = i;
    for (size_t k = 0; k < 2; k++) {
        struct fr_router *r;

        ck_assert(fr_router_new(&r, t[k], &err) == FR_OK);
        ck_assert(fr_topo_rings(r, devices, a->n_gpus, MAX_RINGS, order[k], share[k], &n_rings[k],
                                &err) == FR_OK);
        fr_router_free(r);
    }
    ck_assert_uint_eq(n_rings[0], n_rings[1]);
    ck_assert_mem_eq(order[0], order[1], n_rings[0] * a->n_gpus * sizeof(uint32_t));
    for (size_t i = 0; i < n_rings[0]; i++)
        ck_assert_double_eq(share[0][i], share[1][i]);
}

START_TEST(a_board_in_nccls_xml_has_the_routes_rings_and_systems_of_its_preset)
{
    const struct board *b = &boards[_i];
    struct fr_topo *preset = topo_case_load(b->preset), *t;
    char *text = malloc(BOARD_SIZE);
    bool is_same = false;
    const char *like;
    struct fr_error err;

    put_board(text, b);
    t = load_text(text, "board.xml");
    compare_routes(t, preset);
    compare_rings(t, preset);
    ck_assert_str_eq(t->systems[t->system_of[0]].name, preset->systems[preset->system_of[0]].name);
    ck_assert_uint_eq(t->n_messages, preset->n_messages);
    for (size_t i = 0; i < t->n_messages; i++)
        ck_assert_str_eq(t->messages[i].link, preset->messages[i].link);
    ck_assert_uint_eq(t->n_notes, 0); /* all of it is said */
    ck_assert(fr_topo_preset_like(t, &like, &err) == FR_OK);
    ck_assert_str_eq(like, b->preset);
    ck_assert(fr_topo_preset_stands_for(t, like, &is_same, &err) == FR_OK && is_same);
    fr_topo_free(t);
    fr_topo_free(preset);
    free(text);
}
END_TEST

/* As an Amazon p3 differs from a DGX-1; or a DGX-1 one of whose NICs has half a slot. */
START_TEST(a_machine_of_other_nics_is_no_preset_of_a_cluster)
{
    static const char *const others[] = {
        "p3.16xlarge",
        "dgx1-v100 less n0.plx1>n0.nic1=0.5",
        "dgx1-v100 less n0.plx1>n0.nic1=0",
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct fr_topo *t = topo_case_load(others[i]);
        const char *like = NULL;
        bool is_same = true;
        struct fr_error err;

        ck_assert(fr_topo_preset_like(t, &like, &err) == FR_OK);
        ck_assert_str_eq(like, "dgx1-v100"); /* the GPUs among each other */
        ck_assert(fr_topo_preset_stands_for(t, like, &is_same, &err) == FR_OK);
        ck_assert_msg(!is_same, "%s", others[i]);
        fr_topo_free(t);
    }
}
END_TEST

START_TEST(several_boards_from_a_file_are_joined_as_several_of_the_preset)
{
    const struct board *b = &boards[_i];
    char *text = malloc(BOARD_SIZE), spec[64];
    struct fr_topo *a, *t;

    put_board(text, b);
    topo_case_write("test_import_board.xml", text);
    snprintf(spec, sizeof(spec), "2x %s", b->preset);
    a = topo_case_load(spec);
    t = topo_case_load("2x test_import_board.xml");
    compare_routes(t, a);
    compare_rings(t, a);
    ck_assert_int_eq(t->network_system == FR_NONE, a->network_system == FR_NONE);
    fr_topo_free(t);
    fr_topo_free(a);
    snprintf(spec, sizeof(spec), "2x %s via roce:50Gbps", b->preset);
    a = topo_case_load(spec);
    t = topo_case_load("2x test_import_board.xml via roce:50Gbps");
    compare_routes(t, a);
    fr_topo_free(t);
    fr_topo_free(a);
    remove("test_import_board.xml");
    free(text);
}
END_TEST

START_TEST(half_a_board_takes_no_system_that_was_measured_on_a_whole_one)
{
    char *text = malloc(BOARD_SIZE), *half;
    struct fr_topo *t;

    put_board(text, &boards[2]);
    half = strstr(text, "</cpu>");
    strcpy(half, "</cpu></system>");
    t = load_text(text, "half.xml");
    ck_assert_uint_eq(t->n_gpus, 4);
    ck_assert_uint_eq(t->system_of[0], FR_NONE);
    fr_topo_free(t);
    free(text);
}
END_TEST

START_TEST(each_nic_of_a_file_keeps_its_rate_in_a_composition)
{
    static const char text[] =
        "<system version='1'><cpu numaid='0' arch='x86_64' " ROME ">\n"
        "<pci busid='1:0' class='0x030200' device='0x20b5'><gpu dev='0' sm='80'/></pci>\n"
        "<pci busid='2:0' class='0x020000'><nic><net dev='0' speed='25000' guid='0x1'/>"
        "<net dev='1' speed='25000' guid='0x1'/></nic></pci>\n"
        "<pci busid='3:0' class='0x020700'><nic><net dev='2' speed='100000' guid='0x2'/></nic>"
        "</pci></cpu></system>";
    struct fr_topo *t;

    topo_case_write("test_import_nics.xml", text);
    t = topo_case_load("2x test_import_nics.xml + 1x dgx1-v100");
    ck_assert_double_eq(link_Bps(t, "n1.nic0>net.switch"), 2 * 25e9 / 8); /* bonded ports */
    ck_assert_double_eq(link_Bps(t, "n1.nic1>net.switch"), 100e9 / 8);
    ck_assert_double_eq(link_Bps(t, "n2.nic0>net.switch"), 100e9 / 8);
    ck_assert(has_note(t, "PCIe links without speed or width"));
    fr_topo_free(t);
    remove("test_import_nics.xml");
}
END_TEST

/* ---- nvidia-smi ---- */

START_TEST(a_matrix_becomes_switches_sockets_and_nvlinks)
{
    static const char text[] =
        "$ nvidia-smi topo -m\n\t\033[4mGPU0\tGPU1\tGPU2\tNIC0\tNIC1\tCPU Affinity\tNUMA "
        "Affinity\033[0m\n"
        "GPU0\t X \tNV2\tNV4\tPIX\tSYS\t0-9\t0\n"
        "GPU1\tNV2\t X \tSYS\tPXB\tSYS\t0-9\t0\n"
        "GPU2\tNV4\tSYS\t X \tSYS\tPHB\t10-19\t1\n"
        "NIC0\tPIX\tPXB\tSYS\t X \tSYS\n"
        "NIC1\tSYS\tSYS\tPHB\tSYS\t X \n\nNIC Legend:\n\n  NIC0: mlx5_0\n";
    struct fr_topo *t = load_text(text, "smi.txt");

    /* six NVLinks of GPU 0: a V100 (its data sheet) */
    ck_assert_str_eq(t->types[t->devices[0].type].name, "v100-sxm2-16gb");
    ck_assert(has_note(t, "by their number of NVLinks"));
    ck_assert_double_eq(link_Bps(t, "n0.gpu0>n0.gpu2"), 2 * link_Bps(t, "n0.gpu0>n0.gpu1"));
    ck_assert_ptr_null(topo_case_link(t, "n0.gpu1>n0.gpu2"));
    /* GPU 0 and NIC 0 below one switch, GPU 1 beside it below the upper one */
    ck_assert_ptr_nonnull(topo_case_link(t, "n0.plx1>n0.gpu0"));
    ck_assert_ptr_nonnull(topo_case_link(t, "n0.plx1>n0.nic0"));
    ck_assert_ptr_nonnull(topo_case_link(t, "n0.plx0>n0.plx1"));
    ck_assert_ptr_nonnull(topo_case_link(t, "n0.plx0>n0.gpu1"));
    ck_assert_ptr_nonnull(topo_case_link(t, "n0.socket0>n0.plx0"));
    ck_assert_ptr_nonnull(topo_case_link(t, "n0.socket1>n0.gpu2"));
    ck_assert_ptr_nonnull(topo_case_link(t, "n0.socket1>n0.nic1"));
    ck_assert_uint_eq(fr_topo_check(t, topo_case_print, NULL), 0);
    fr_topo_free(t);
}
END_TEST

TEST(broken_matrices_are_refused_where_they_break)
{
    refuse_text("GPU0 GPU1 CPU Affinity\nGPU0 X NV2 0\nGPU1 NV1 X 0\n",
                "f:3:1: 'GPU1' to 'GPU0' is another connection than back");
    refuse_text("GPU0 GPU1 CPU Affinity\nGPU0 X NVX 0\nGPU1 NV1 X 0\n",
                "f:2:8: 'NVX' is no connection, one of X, NV1 to NV64, PIX, PXB, PHB, NODE, SYS "
                "expected");
    refuse_text("GPU0 GPU1 CPU Affinity\nGPU0 X NV999999999 0\nGPU1 NV1 X 0\n",
                "f:2:8: 'NV999999999' is no connection, one of X, NV1 to NV64, PIX, PXB, PHB, "
                "NODE, SYS expected");
    refuse_text("GPU0 GPU1 CPU Affinity\nGPU0 X SYS 0\n",
                "f:2:1: the matrix ends before row 'GPU1'");
    refuse_text("GPU0 GPU1\nGPU0 X\n", "f:2:1: 1 connections in row 'GPU0', 2 expected");
}

/* ---- ASTRA-sim, TACCL ---- */

TEST(dimensions_of_astra_sim_become_a_machine_and_the_network)
{
    struct fr_topo *t = load_text("topology: [Switch, Ring]\nnpus_count: [2, 3]\n"
                                  "bandwidth: [400, 50]\nlatency: [100, 700]\n",
                                  "net.yml");

    ck_assert_uint_eq(t->n_gpus, 6);
    ck_assert_uint_eq(t->n_machines, 3);
    ck_assert_double_eq(link_Bps(t, "n2.router0>n2.nvswitch"), 400e9);
    ck_assert_double_eq(link_Bps(t, "n2.router1>n0.router1"), 50e9);
    ck_assert_double_eq(link_Bps(t, "n0.gpu0>n0.router0"), 500e9); /* 400 + 2 x 50 */
    ck_assert_double_eq_tol(topo_case_link(t, "n2.router1>n0.router1")->latency_s, 700e-9, 1e-18);
    ck_assert_uint_eq(fr_topo_check(t, topo_case_print, NULL), 0);
    fr_topo_free(t);
    refuse_text("topology: [Rink]\nnpus_count: [2]\nbandwidth: [1]\nlatency: [1]\n",
                "f:1:12: topology 'Rink', one of Ring, FullyConnected, Switch expected, did you "
                "mean 'Ring'?");
    refuse_text("\n", "f:1:1: the document is empty, expected lines such as \"key: value\"");
    refuse_text("topology: [Ring]\nnpus_count: [1000000000]\nbandwidth: [1]\nlatency: [1]\n",
                "f:2:14: npus_count is \"1000000000\", expected a whole number from "
                "2 to 65536");
}

TEST(alpha_and_beta_of_taccl_become_latency_and_rate)
{
    struct fr_topo *t =
        load_text("{\"name\": \"x\", \"gpus_per_node\": 2, \"nics_per_node\": 1, \"alpha\": 0.7,\n"
                  "\"node_betas_list\": [8], \"remote_alpha\": 2.6, \"remote_beta\": 100}",
                  "t.json");

    ck_assert_double_eq_tol(link_Bps(t, "n0.gpu0>n0.nvswitch"), 125e9, 1);
    ck_assert_double_eq_tol(topo_case_link(t, "n0.gpu0>n0.nvswitch")->latency_s, 0.35e-6, 1e-15);
    fr_topo_free(t);
    refuse_text("{\"intranode_sketch\": {}}",
                "f:1:1: is a TACCL sketch, which says how to send and not what the machine is: "
                "its topology file expected");
}

/* ---- hwloc ---- */

/* The sample has an idle GPU, whose link is at a quarter of its speed, and a display of the
 * board's own controller. */
START_TEST(hwlocs_packages_bridges_and_nvlink_matrix_become_a_machine)
{
    const char *srcdir = getenv("srcdir"), *format;
    struct fr_topo *t = NULL;
    struct fr_error err;
    char path[512];

    snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/fuzz_import_hwloc/four-v100.xml",
             srcdir ? srcdir : ".");
    ck_assert_msg(fr_topo_import(&t, path, NULL, &format, &err) == FR_OK, "%s", err.text);
    ck_assert_str_eq(format, "hwloc");
    ck_assert_uint_eq(t->n_gpus, 4);
    ck_assert_str_eq(t->types[t->devices[0].type].name, "v100-sxm2-16gb");
    ck_assert_double_eq(link_Bps(t, "n0.gpu0>n0.plx0"), link_Bps(t, "n0.gpu1>n0.plx0"));
    ck_assert_double_eq_tol(link_Bps(t, "n0.plx0>n0.nic0"), 12e9, 1e7);
    ck_assert_ptr_nonnull(topo_case_link(t, "n0.socket1>n0.plx1"));
    /* 51562 MB/s are two NVLinks, 25781 one; none between GPUs 1 and 3 */
    ck_assert_double_eq(link_Bps(t, "n0.gpu0>n0.gpu3"), 2 * link_Bps(t, "n0.gpu0>n0.gpu1"));
    ck_assert_ptr_null(topo_case_link(t, "n0.gpu1>n0.gpu3"));
    ck_assert_uint_eq(fr_topo_check(t, topo_case_print, NULL), 0);
    fr_topo_free(t);
    t = NULL;
    ck_assert(fr_topo_import(&t, path, "p100-sxm2-16gb", NULL, &err) == FR_OK);
    ck_assert_str_eq(t->types[t->devices[0].type].name, "p100-sxm2-16gb");
    fr_topo_free(t);
    t = NULL;
    ck_assert_int_eq(fr_topo_import(&t, path, "p1000", NULL, &err), FR_EUSAGE);
    ck_assert_ptr_null(t);
}
END_TEST

/* ---- hostile input ---- */

START_TEST(hostile_xml_of_any_importer_is_refused_at_once)
{
    refuse_text("<!DOCTYPE system [<!ENTITY a \"aaaa\">]><system>&a;</system>",
                "f:1:18: the DOCTYPE has declarations of its own, which are not read here");
    refuse_text("<system><cpu numaid='0'><pci busid='1' class='0x0302'/></cpu></system>",
                "f:1:1: no GPU: no <pci> has a GPU's class (NCCL asks the driver; a file that "
                "NCCL_TOPO_DUMP_FILE writes has all)");
    refuse_text("<graphs version='1'/>",
                "f:1:1: is a graph of NCCL, which says how rings go and not what the machine is: "
                "what NCCL_TOPO_DUMP_FILE writes expected");
    refuse_text("<rails version='1'/>",
                "f:1:1: is XML whose root is not of a topology that is known here: NCCL's "
                "<system>, hwloc's <topology> or SimGrid's <platform>");
    refuse_text("<platform version='4.1'><cluster id='c' prefix='' suffix='' "
                "radical='0-999999999' speed='1f' bw='1Bps' lat='0'/></platform>",
                "f:1:25: more than 65536 hosts");
    refuse_text("<platform version='4.1'><cluster id='c' prefix='' suffix='' radical='0-3' "
                "speed='1f' bw='5furlongs' lat='0'/></platform>",
                "f:1:25: 'bw' of <cluster> is \"5furlongs\", a number with a unit like Bps "
                "expected");
    refuse_text("<topology version='1.0'/>",
                "f:1:1: is of hwloc 1, of hwloc 2 expected: write it anew with lstopo --of xml");
}
END_TEST

LOOP_TEST(what_is_written_as_yaml_reads_back_as_the_same, 0, 5)
{
    static const char *const specs[] = {"dgx1-v100", "2x hgx-h100", "1x gb200-nvl72",
                                        "1x dgx2 + 2x p3.16xlarge via eth:25Gbps,10us",
                                        "2x hgx-h100 via rails:spine,spines=2,routing=hash"};
    struct fr_topo *a = topo_case_load(specs[_i]), *t;
    struct fr_error err;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    ck_assert(fr_topo_write_yaml(f, a, &err) == FR_OK);
    fclose(f);
    t = load_text(text, "written.yaml");
    ck_assert_uint_eq(t->n_links, a->n_links);
    ck_assert_uint_eq(t->n_vertices, a->n_vertices);
    ck_assert(t->has_relays == a->has_relays && t->has_hash == a->has_hash);
    for (uint32_t i = 0; i < a->n_links; i++) {
        char name[FR_LINK_NAME];
        const struct fr_link *l = topo_case_link(t, fr_topo_link_name(a, i, name));

        ck_assert_ptr_nonnull(l);
        ck_assert_double_eq(l->bw_Bps, a->links[i].bw_Bps);
        ck_assert_double_eq(l->latency_s, a->links[i].latency_s);
        ck_assert_int_eq(l->message == FR_NONE, a->links[i].message == FR_NONE);
        if (i > 40)
            i += (uint32_t)(a->n_links / 37); /* a sample: finding a link is slow */
    }
    for (size_t m = 0; m < a->n_machines; m++)
        ck_assert_int_eq(t->system_of[m] == FR_NONE, a->system_of[m] == FR_NONE);
    fr_topo_free(t);
    fr_topo_free(a);
    free(text);
}

/* ---- everything that is at hand ---- */

/* Files that no rule can read, each with the reason. */
static const struct {
    const char *name, *reason;
} refused[] = {
    {"aws-g5.48xl-topo.xml", "no GPU: no <pci> has a GPU's class"},
    {"azure-ncv4-graph.xml", "is a graph of NCCL"},
    {"azure-ndv2-topo.xml", "does not say what it is"},
    {"azure-ndv4-topo.xml", "does not say what it is"},
    {"rccl-topo_4p_940.xml", "'speed' of <net> is \"200000000\""},
    {"small_platform.xml", "not the only one of fewest links"},
    {"sk", "is a TACCL sketch"},
    {"sample_", "is ASTRA-sim's file for ns-3"},
    {"8nodes.topo", "is a topology of htsim"},
};

static size_t load_folder(const char *folder)
{
    const char *srcdir = getenv("srcdir");
    char path[512], file[1024];
    struct dirent *entry;
    size_t n = 0;
    DIR *d;

    snprintf(path, sizeof(path), "%s/../shared/data/%s", srcdir ? srcdir : ".", folder);
    d = opendir(path);
    if (!d) {
        fprintf(stderr, "skipped: no ../shared/data/%s\n", folder);
        return 0;
    }
    while ((entry = readdir(d))) {
        struct fr_topo *t = NULL;
        const char *reason = NULL;
        struct fr_error err;

        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "SOURCE.txt") == 0)
            continue;
        for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
            if (strncmp(entry->d_name, refused[i].name, strlen(refused[i].name)) == 0)
                reason = refused[i].reason;
        snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
        if (fr_topo_import(&t, file, NULL, NULL, &err) == FR_OK) {
            ck_assert_msg(!reason, "%s was read", entry->d_name);
            ck_assert_uint_gt(t->n_gpus, 0);
            fr_topo_free(t);
        } else {
            ck_assert_msg(reason && strstr(err.text, reason), "%s: %s", entry->d_name, err.text);
        }
        n++;
    }
    closedir(d);
    return n;
}

START_TEST(every_file_at_hand_loads_or_is_refused_for_a_known_reason)
{
    static const char *const folders[] = {"topologies/nccl-xml",
                                          "topologies/nvidia-smi-topo",
                                          "topologies/simgrid",
                                          "topologies/taccl",
                                          "nccl/xml",
                                          "simgrid/platforms",
                                          "astra-sim/inputs/network",
                                          "astra-sim/examples/network/ns3",
                                          "astra-sim/examples/network/htsim",
                                          "astra-sim/examples/network/analytical"};

    load_folder(folders[_i]);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("import");

    if (fr__xml_is_built()) {
        tcase_add_loop_test(tc, a_board_in_nccls_xml_has_the_routes_rings_and_systems_of_its_preset,
                            0, N_BOARDS);
        tcase_add_test(tc, a_machine_of_other_nics_is_no_preset_of_a_cluster);
        tcase_add_loop_test(tc, several_boards_from_a_file_are_joined_as_several_of_the_preset, 0,
                            N_BOARDS);
        tcase_add_test(tc, half_a_board_takes_no_system_that_was_measured_on_a_whole_one);
        tcase_add_test(tc, each_nic_of_a_file_keeps_its_rate_in_a_composition);
        tcase_add_test(tc, hwlocs_packages_bridges_and_nvlink_matrix_become_a_machine);
        tcase_add_test(tc, hostile_xml_of_any_importer_is_refused_at_once);
        tcase_add_loop_test(tc, every_file_at_hand_loads_or_is_refused_for_a_known_reason, 0, 10);
    }
    tcase_add_test(tc, a_matrix_becomes_switches_sockets_and_nvlinks);
    add_tests(tc);
    return run_case(tc, "topo/import");
}
