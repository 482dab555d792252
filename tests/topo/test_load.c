/* tests/topo/test_load.c - presets, compositions and files. */
#include "config.h"

#include "topo/load/load.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fr_topo *load(const char *spec)
{
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_msg(fr_topo_load(&t, spec, &err) == FR_OK, "%s: %s", spec, err.text);
    return t;
}

static void print_line(void *user, const char *line)
{
    (void)user;
    printf("  %s\n", line);
}

/* ---- presets ---- */

START_TEST(every_preset_loads_is_sound_and_names_its_sources)
{
    for (size_t i = 0; fr_topo_preset_name(i); i++) {
        struct fr_topo *t = load(fr_topo_preset_name(i));

        ck_assert_str_eq(t->name, fr_topo_preset_name(i));
        ck_assert(fr_topo_preset_summary(i)[0]);
        ck_assert_uint_eq(fr_topo_check(t, print_line, NULL), 0);
        ck_assert_uint_eq(t->n_devices, t->n_gpus + t->n_machines); /* a CPU each */
        for (size_t l = 0; l < t->n_links; l++)
            ck_assert(t->links[l].source[0]);
        fr_topo_free(t);
    }
    ck_assert_ptr_null(fr_topo_preset_name(1000));
    ck_assert_ptr_null(fr_topo_preset_summary(1000));
}
END_TEST

static const struct fr_link *find_link(const struct fr_topo *t, const char *name)
{
    for (size_t l = 0; l < t->n_links; l++)
        if (strcmp(t->links[l].name, name) == 0)
            return &t->links[l];
    return NULL;
}

/* The matrix as `nvidia-smi topo -m` prints it on the machine. */
START_TEST(dgx1_nvlinks_equal_the_machines_own_matrix)
{
    const char *srcdir = getenv("srcdir");
    char path[512], line[512];
    struct fr_topo *t = load("dgx1-v100");
    FILE *f;
    unsigned row = 0, n_nvlink = 0;

    snprintf(path, sizeof(path), "%s/../shared/data/topologies/nvidia-smi-topo/dgx1-v100.txt",
             srcdir ? srcdir : ".");
    f = fopen(path, "r");
    if (!f)
        printf("SKIP dgx1_nvlinks_equal_the_machines_own_matrix: no matrix beside the sources\n");
    while (f && row < 8 && fgets(line, sizeof(line), f)) {
        const char *at = line;
        int used = 0;

        if (sscanf(line, "GPU%u\t%n", &row, &used) != 1 || !strstr(line, " X "))
            continue;
        at += used;
        for (unsigned col = 0; col < 8; col++) {
            char cell[8], name[64];
            const struct fr_link *l;

            ck_assert_int_eq(sscanf(at, " %7[^\t]\t%n", cell, &used), 1);
            at += used;
            snprintf(name, sizeof(name), "n0.gpu%u>n0.gpu%u", row, col);
            l = find_link(t, name);
            if (strncmp(cell, "NV", 2) == 0) {
                ck_assert_msg(l, "%s is missing", name);
                ck_assert_double_eq_tol(l->bw_Bps, (cell[2] - '0') * 24e9, 1);
                n_nvlink++;
            } else {
                ck_assert_msg(!l, "%s should not be", name);
            }
        }
        row++;
    }
    ck_assert(!f || n_nvlink == 32);
    if (f)
        fclose(f);
    fr_topo_free(t);
}
END_TEST

static void expect_route(const char *spec, const char *src, const char *dst, const char *want)
{
    struct fr_topo *t = load(spec);
    struct fr_router *r;
    struct fr_error err;
    const uint32_t *links;
    uint32_t s = FR_NONE, d = FR_NONE;
    size_t n, used = 0;
    char got[512] = "";

    for (uint32_t i = 0; i < t->n_devices; i++) {
        s = strcmp(t->devices[i].name, src) == 0 ? i : s;
        d = strcmp(t->devices[i].name, dst) == 0 ? i : d;
    }
    ck_assert_int_eq(fr_router_new(&r, t, &err), FR_OK);
    ck_assert_int_eq(fr_router_path(r, s, d, &links, &n, &err), FR_OK);
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(got + used, sizeof(got) - used, "%s ",
                                 t->vertices[t->links[links[i]].dst].name);
    ck_assert_str_eq(got, want);
    fr_router_free(r);
    fr_topo_free(t);
}

START_TEST(routes_follow_the_wiring)
{
    /* NVLink where there is one, else over PCIe: the same socket, or across QPI */
    expect_route("dgx1-v100", "n0.gpu0", "n0.gpu3", "n0.gpu3 ");
    expect_route("dgx1-v100", "n0.gpu0", "n0.gpu5",
                 "n0.plx0 n0.socket0 n0.socket1 n0.plx2 n0.gpu5 ");
    expect_route("dgx1-v100", "n0.gpu6", "n0.cpu0", "n0.plx3 n0.socket1 n0.cpu0 ");
    /* by the NIC of the GPU's own switch */
    expect_route("2x dgx1-v100 via ib:100Gbps", "n0.gpu2", "n1.gpu7",
                 "n0.plx1 n0.nic1 net.switch n1.nic3 n1.plx3 n1.gpu7 ");
    /* device 13 is n1.gpu5: of two NICs a switch it takes number 13 mod 2 = 1 on both sides */
    expect_route("2x dgx-a100-80g", "n0.gpu0", "n1.gpu5",
                 "n0.plx0 n0.nic1 net.switch n1.nic5 n1.plx2 n1.gpu5 ");
    expect_route("dgx-a100-80g", "n0.gpu0", "n0.gpu5", "n0.nvswitch0-5 n0.gpu5 ");
}
END_TEST

/* ---- compositions ---- */

START_TEST(a_composition_reloads_from_its_own_name)
{
    static const char *const rows[][2] = {
        {"  2x   dgx1-v100  via ib:100Gbps ", "2x dgx1-v100 via ib:100Gbps"},
        {"1x dgx1-v100", "dgx1-v100"},
        {"1x dgx1-v100 + 1x dgx-a100-80g via ib:100Gbps,2us",
         "1x dgx1-v100 + 1x dgx-a100-80g via ib:100Gbps,2us"},
        {"dgx1-v100 + 2x dgx-a100-80g", "1x dgx1-v100 + 2x dgx-a100-80g"},
        {"dgx1-v100 via eth:10Gbps", "1x dgx1-v100 via eth:10Gbps"},
    };
    struct fr_topo *a = load(rows[_i][0]), *b;

    ck_assert_str_eq(a->name, rows[_i][1]);
    b = load(a->name);
    ck_assert_str_eq(b->name, a->name);
    ck_assert_uint_eq(b->n_links, a->n_links);
    for (size_t l = 0; l < a->n_links; l++) {
        ck_assert_str_eq(a->links[l].name, b->links[l].name);
        ck_assert_double_eq(a->links[l].bw_Bps, b->links[l].bw_Bps);
        ck_assert_double_eq(a->links[l].latency_s, b->links[l].latency_s);
    }
    ck_assert_uint_eq(fr_topo_check(a, print_line, NULL), 0);
    fr_topo_free(a);
    fr_topo_free(b);
}
END_TEST

START_TEST(the_network_gets_its_rate_and_latency)
{
    struct fr_topo *t = load("2x dgx1-v100 via ib:100Gbps,2us");
    const struct fr_link *l = find_link(t, "n1.nic3>net.switch");

    ck_assert_ptr_nonnull(l);
    ck_assert_double_eq(l->bw_Bps, 12.5e9);
    ck_assert_double_eq_tol(l->latency_s, 1e-6, 1e-15); /* half of it on each side */
    ck_assert_int_eq(l->kind, FR_LINK_NET);
    ck_assert_uint_eq(t->n_machines, 2);
    ck_assert_uint_eq(t->n_gpus, 16);
    ck_assert_uint_eq(t->n_devices, 18);
    ck_assert_str_eq(t->devices[9].name, "n1.gpu1");
    ck_assert_uint_eq(fr_topo_host_of(t, 9), 17);
    fr_topo_free(t);
    t = load("4x dgx-a100-80g"); /* HDR by the preset: 200 Gbit/s */
    l = find_link(t, "net.switch>n3.nic7");
    ck_assert_ptr_nonnull(l);
    ck_assert_double_eq(l->bw_Bps, 25e9);
    fr_topo_free(t);
}
END_TEST

START_TEST(a_thousand_gpus_make_a_sound_topology)
{
    struct fr_topo *t = load("128x dgx-a100-80g"), *half = load("64x dgx-a100-80g");

    ck_assert_uint_eq(t->n_gpus, 1024);
    ck_assert_uint_eq(t->n_links, 2 * half->n_links);
    ck_assert_uint_eq(fr_topo_check(t, print_line, NULL), 0);
    fr_topo_free(t);
    fr_topo_free(half);
}
END_TEST

struct refusal {
    const char *text;
    enum fr_status status;
    const char *sentence; /* a part of it */
};

static const struct refusal bad_lines[] = {
    {"dgx1-v10", FR_ENOENT, "no topology preset or file 'dgx1-v10', did you mean 'dgx1-v100'?"},
    {"nothing-like-it", FR_ENOENT, "no topology preset or file 'nothing-like-it'"},
    {"", FR_EPARSE, "the topology lacks a preset or file"},
    {"2x", FR_EPARSE, "lacks a preset or file after 2x"},
    {"2x + dgx1-v100", FR_EPARSE, "lacks a preset or file before +"},
    {"0x dgx1-v100", FR_ERANGE, "the number of machines"},
    {"99999999999999999999x dgx1-v100", FR_ERANGE, "the number of machines"},
    {"65536x dgx1-v100", FR_ERANGE, "more than 65536 devices"},
    {"2x dgx1-v100 ib:100Gbps", FR_EPARSE, "'ib:100Gbps' in the topology, '+' or 'via' expected"},
    {"2x dgx1-v100 via", FR_EPARSE, "no network after 'via'"},
    {"2x dgx1-v100 via ib", FR_EPARSE, "the network is 'ib', a kind and a rate"},
    {"2x dgx1-v100 via wet:100Gbps", FR_EPARSE, "of kind 'wet', one of ib, roce, slingshot, eth"},
    {"2x dgx1-v100 via ib:100", FR_EPARSE, "the network's rate"},
    {"2x dgx1-v100 via ib:0Gbps", FR_ERANGE, "the network's rate is 0"},
    {"2x dgx1-v100 via ib:100Gbps,fast", FR_EPARSE, "the network's latency"},
    {"2x dgx1-v100 + 1x dgx-a100-80", FR_ENOENT, "did you mean 'dgx-a100-80g'?"},
};

START_TEST(a_bad_line_is_refused_with_a_sentence)
{
    const struct refusal *r = &bad_lines[_i];
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_msg(fr_topo_load(&t, r->text, &err) == r->status, "'%s' gives %d: %s", r->text,
                  (int)err.code, err.text);
    ck_assert_ptr_null(t);
    ck_assert_msg(strstr(err.text, r->sentence), "'%s' lacks '%s'", err.text, r->sentence);
}
END_TEST

START_TEST(a_line_without_end_is_refused)
{
    char *line = malloc(100000);
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_ptr_nonnull(line);
    memset(line, '+', 99999);
    line[99999] = '\0';
    ck_assert_int_eq(fr_topo_load(&t, line, &err), FR_ERANGE);
    line[4000] = '\0';
    for (size_t i = 0; i < 4000; i += 2)
        line[i] = ' ';
    ck_assert_int_ne(fr_topo_load(&t, line, &err), FR_OK);
    free(line);
}
END_TEST

/* ---- files ---- */

/* The manual's example between ```yaml and ```, so that the manual stays true. */
static char *read_example(void)
{
    const char *srcdir = getenv("srcdir");
    char path[512], line[256];
    char *text = calloc(1, 16384);
    size_t used = 0;
    bool is_inside = false;
    FILE *f;

    snprintf(path, sizeof(path), "%s/doc/topology.md", srcdir ? srcdir : ".");
    f = fopen(path, "r");
    ck_assert_msg(f && text, "cannot read %s", path);
    while (fgets(line, sizeof(line), f)) {
        if (is_inside && strncmp(line, "```", 3) == 0)
            break;
        if (is_inside)
            used += (size_t)snprintf(text + used, 16384 - used, "%s", line);
        is_inside = is_inside || strncmp(line, "```yaml", 7) == 0;
    }
    fclose(f);
    ck_assert_uint_gt(used, 0);
    return text;
}

START_TEST(the_manuals_example_loads)
{
    char *text = read_example();
    struct fr_topo *t = NULL;
    struct fr_error err;
    const struct fr_link *l;

    ck_assert_msg(fr__topo_load_text(&t, text, strlen(text), "example.yaml", &err) == FR_OK,
                  "%u:%u: %s", err.line, err.col, err.text);
    ck_assert_str_eq(t->name, "example.yaml");
    ck_assert_str_eq(t->summary, "two small boxes: 4 GPUs (4x toy-gpu) on 2 machines");
    ck_assert_uint_eq(t->n_machines, 2);
    ck_assert_uint_eq(t->n_devices, 6);
    ck_assert_uint_eq(t->n_vertices, 11);
    ck_assert_uint_eq(t->n_links, 24); /* (2 x 5 + 2) cables */
    l = find_link(t, "n1.gpu0>n1.gpu1");
    ck_assert_ptr_nonnull(l);
    ck_assert_double_eq(l->bw_Bps, 50e9);
    ck_assert_double_eq_tol(l->latency_s, 0.7e-6, 1e-18);
    ck_assert_str_eq(l->source, "vendor's datasheets");
    ck_assert_uint_eq(t->types[t->devices[0].type].mem_bytes, UINT64_C(24) << 30);
    ck_assert_double_eq(t->types[t->devices[0].type].flops_per_s[FR_FP16], 142e12);
    ck_assert_uint_eq(fr_topo_check(t, print_line, NULL), 0);
    fr_topo_free(t);
    free(text);
}
END_TEST

#define MACHINE                                                                                    \
    "machines:\n- vertices:\n  - {name: a, kind: gpu, type: v100-sxm2-16gb}\n"                     \
    "  - {name: b, kind: gpu, type: v100-sxm2-16gb}\n  - {name: x, kind: nic}\n"
#define LINK(extra) "  links:\n  - {from: a, to: b, kind: nvlink, " extra "}\n"

static const struct refusal bad_files[] = {
    {"", FR_EPARSE, ""},
    {"[1, 2]", FR_EPARSE, ""},
    {"name: x\n", FR_EPARSE, "'machines' is missing or empty"},
    {"machnies: []\n", FR_EPARSE, "machines"},
    {"machines: []\n", FR_EPARSE, "'machines' is missing or empty"},
    {"machines: 3\n", FR_EPARSE, ""},
    {"machines:\n- count: 2\n", FR_EPARSE, "a machine has no 'vertices'"},
    {"machines:\n- collectives: ''\n", FR_EPARSE, "'collectives' names no system"},
    {"machines:\n- collectives: [a]\n", FR_EPARSE, ""},
    {"collectives: a\n" MACHINE LINK("bandwidth: 1GB/s, latency: 0s"), FR_EPARSE,
     "'collectives' of the whole file needs the 'network'"},
    {"network: ib:1Gbps\ncollectives: ''\n" MACHINE LINK("bandwidth: 1GB/s, latency: 0s"),
     FR_EPARSE, "'collectives' names no system"},
    {MACHINE LINK("bandwidth: 1GB/s, latency: 0s, messages: x"), FR_EPARSE, ""},
    {MACHINE LINK("bandwidth: 1GB/s, latency: 0s, messages: {link: x}"), FR_EPARSE,
     "'messages' names no 'system'"},
    {MACHINE LINK("bandwidth: 1GB/s, latency: 0s, messages: {system: x}"), FR_EPARSE, "'link'"},
    {MACHINE LINK("bandwidth: 1GB/s, latency: 0s, messages: {system: x, link: ''}"), FR_EPARSE,
     "'link' names no link of 'x'"},
    {MACHINE LINK("bandwidth: 1GB/s, latency: 0s, messages: {system: x, lnk: y}"), FR_EPARSE,
     "did you mean 'link'?"},
    {"machines:\n- collectivs: a\n", FR_EPARSE, "did you mean 'collectives'?"},
    {"machines:\n- vertices:\n  - {name: a, kind: gpu, type: v100-sxm2-16g}\n", FR_ENOENT,
     "no device type 'v100-sxm2-16g', did you mean 'v100-sxm2-16gb'?"},
    {"machines:\n- vertices:\n  - {name: a, kind: gqu, type: v100-sxm2-16gb}\n", FR_EPARSE,
     "'kind' is 'gqu', which is none we know, did you mean 'gpu'?"},
    {"machines:\n- vertices:\n  - {name: a, kind: nic, type: v100-sxm2-16gb}\n", FR_EPARSE,
     "'a' is no device and has no 'type'"},
    {MACHINE LINK("bandwidth: 25, latency: 1us"), FR_EPARSE, "'bandwidth'"},
    {MACHINE LINK("bandwidth: 25GB/s, latency: soon"), FR_EPARSE, "'latency'"},
    {MACHINE LINK("bandwidth: 0GB/s, latency: 1us"), FR_ERANGE, "bandwidth must be above 0"},
    {MACHINE LINK("bandwidth: 25GB/s, latency: 1us, duplex: no"), FR_EPARSE, "'duplex' is 'no'"},
    {MACHINE "  links:\n  - {from: a, to: c, kind: nvlink, bandwidth: 1GB/s, latency: 0s}\n",
     FR_ENOENT, "this machine has no vertex 'c'"},
    {MACHINE "links:\n- {from: n0.x, to: tor, kind: net, bandwidth: 1GB/s, latency: 0s}\n",
     FR_ENOENT, "no vertex 'tor'"},
    {MACHINE "network: ib\n", FR_EPARSE, "the network is 'ib'"},
    {"types:\n- {name: v100-sxm2-16gb, memory: 1GiB, memory_bandwidth: 1GB/s, vector: 1Tflop/s, "
     "sms: 1}\n" MACHINE,
     FR_ERANGE, "is a built-in device type"},
    {"machines:\n- count: 70000\n", FR_ERANGE, "count"},
    {"machines:\n- count: 65536\n  vertices:\n  - {name: a, kind: gpu, type: v100-sxm2-16gb}\n"
     "  - {name: b, kind: gpu, type: v100-sxm2-16gb}\n",
     FR_ERANGE, "more than 65536 devices"},
};

START_TEST(a_bad_file_is_refused_with_place_and_sentence)
{
    const struct refusal *r = &bad_files[_i];
    struct fr_topo *t = NULL;
    struct fr_error err;
    enum fr_status status = fr__topo_load_text(&t, r->text, strlen(r->text), "bad.yaml", &err);

    ck_assert_msg(status == r->status, "%s\ngives %d: %s", r->text, (int)status, err.text);
    ck_assert_ptr_null(t);
    ck_assert_str_eq(err.file, "bad.yaml");
    ck_assert_msg(strstr(err.text, r->sentence), "'%s' lacks '%s'", err.text, r->sentence);
}
END_TEST

START_TEST(a_misspelt_word_is_reported_at_its_place)
{
    static const char text[] = MACHINE LINK("bandwidth: 25GB/s, latency: 1us, kimd: pcie");
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_int_eq(fr__topo_load_text(&t, text, strlen(text), "bad.yaml", &err), FR_EPARSE);
    ck_assert_uint_eq(err.line, 7);
    ck_assert_uint_eq(err.col, 69); /* 5 for "  - {", then 9 + 7 + 14 + 19 + 14 */
    ck_assert_msg(strstr(err.text, "'kind'"), "%s", err.text);
}
END_TEST

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

START_TEST(a_file_takes_part_in_a_composition)
{
    static const char text[] = "network: roce:25Gbps\n" MACHINE "  links:\n"
                               "  - {from: a, to: x, kind: pcie, bandwidth: 12GB/s, latency: 0s}\n"
                               "  - {from: b, to: x, kind: pcie, bandwidth: 12GB/s, latency: 0s}\n";
    static const char path[] = "test_topo_load.tmp.yaml";
    struct fr_topo *t;
    struct fr_error err;

    write_text(path, text);
    t = load(path);
    ck_assert_str_eq(t->name, path);
    ck_assert_uint_eq(t->n_gpus, 2);
    fr_topo_free(t);
    t = load("2x test_topo_load.tmp.yaml + 1x dgx1-v100");
    ck_assert_uint_eq(t->n_gpus, 12);
    ck_assert_uint_eq(t->n_machines, 3);
    ck_assert_double_eq(find_link(t, "n1.x>net.switch")->bw_Bps, 3.125e9);
    ck_assert_double_eq(find_link(t, "n2.nic0>net.switch")->bw_Bps, 12.5e9);
    ck_assert_uint_eq(fr_topo_check(t, print_line, NULL), 0);
    fr_topo_free(t);
    write_text(path, strchr(text, '\n') + 1); /* without its network: line */
    t = NULL;
    ck_assert_int_eq(fr_topo_load(&t, "2x test_topo_load.tmp.yaml", &err), FR_EUSAGE);
    ck_assert_msg(strstr(err.text, "does not say what its NICs speak"), "%s", err.text);
    remove(path);
    ck_assert_int_eq(fr_topo_load(&t, path, &err), FR_ENOENT);
}
END_TEST

/* A name is kept as it is; a file's is beside the topology's; each is there once, with its place. */
START_TEST(machines_say_what_their_collectives_behave_like)
{
    static const char text[] =
        "network: roce:25Gbps\nmachines:\n- collectives: a100-nvswitch\n  count: 2\n  vertices:\n"
        "  - {name: a, kind: gpu, type: v100-sxm2-16gb}\n  - {name: x, kind: nic}\n"
        "  links:\n"
        "  - {from: a, to: x, kind: pcie, bandwidth: 12GB/s, latency: 0s}\n"
        "- collectives: own.yaml\n  vertices:\n"
        "  - {name: a, kind: gpu, type: v100-sxm2-16gb}\n  - {name: x, kind: nic}\n"
        "  links:\n"
        "  - {from: a, to: x, kind: pcie, bandwidth: 12GB/s, latency: 0s}\n";
    static const char path[] = "./test_topo_load.system.yaml";
    struct fr_topo *t;

    write_text(path, text);
    t = load("1x dgx1-v100 + 1x ./test_topo_load.system.yaml + 1x dgx-a100-80g");
    remove(path);
    ck_assert_uint_eq(t->n_machines, 5);
    ck_assert_uint_eq(t->n_systems, 3); /* one is of messages between A100s */
    ck_assert_uint_eq(t->system_of[0], FR_NONE);
    ck_assert_uint_eq(t->system_of[1], 0);
    ck_assert_uint_eq(t->system_of[2], 0);
    ck_assert_uint_eq(t->system_of[3], 1);
    ck_assert_uint_eq(t->system_of[4], 0);
    ck_assert_str_eq(t->systems[0].name, "a100-nvswitch");
    ck_assert_str_eq(t->systems[0].loc.file, path);
    ck_assert_uint_eq(t->systems[0].loc.line, 3);
    ck_assert_str_eq(t->systems[1].name, "./own.yaml");
    fr_topo_free(t);
}
END_TEST

#define ONE_GPU                                                                                    \
    "machines:\n- vertices:\n  - {name: a, kind: gpu, type: v100-sxm2-16gb}\n"                     \
    "  - {name: x, kind: nic}\n  links:\n"                                                         \
    "  - {from: a, to: x, kind: pcie, bandwidth: 12GB/s, latency: 0s}\n"

static const struct over {
    const char *spec, *system, *why; /* NULL: none */
} overs[] = {
    {"2x hgx-b200", "b200-infiniband", NULL},
    {"2x hgx-b200 via ib:400Gbps", "b200-infiniband", NULL},
    {"1x hgx-b200 + 2x hgx-b200", "b200-infiniband", NULL},
    {"hgx-b200", NULL, NULL},
    {"1x hgx-b200 via ib:400Gbps", NULL, NULL},
    {"2x hgx-b200 via ib:200Gbps", NULL, "b200-infiniband was measured on ib:400Gbps"},
    {"2x hgx-b200 via roce:400Gbps", NULL, "b200-infiniband was measured on ib:400Gbps"},
    {"2x hgx-b200 via ib:400Gbps,9us", NULL, "b200-infiniband was measured on ib:400Gbps"},
    {"1x hgx-b200 + 1x hgx-h100", NULL, "b200-infiniband is of several hgx-b200 alone"},
    {"1x hgx-h100 + 1x hgx-b200", NULL, NULL},
    {"2x hgx-h100", NULL, NULL},
    {"2x ./test_topo_load.over.yaml", "own-system", NULL},
    {"2x ./test_topo_load.over.yaml via roce:25Gbps", "own-system", NULL},
    {"2x ./test_topo_load.over.yaml via roce:50Gbps", NULL,
     "own-system was measured on roce:25Gbps"},
};

/* What was measured of several machines holds for several of them, on such a network. */
START_TEST(a_composition_takes_collectives_over_machines_as_they_were_measured)
{
    const struct over *o = &overs[_i];
    static const char path[] = "./test_topo_load.over.yaml";
    struct fr_topo *t;

    write_text(path, "network: roce:25Gbps\ncollectives: own-system\n" ONE_GPU);
    t = load(o->spec);
    remove(path);
    if (o->system)
        ck_assert_str_eq(t->systems[t->network_system].name, o->system);
    else
        ck_assert_uint_eq(t->network_system, FR_NONE);
    if (o->why)
        ck_assert_str_eq(t->network_system_why, o->why);
    else
        ck_assert_ptr_null(t->network_system_why);
    fr_topo_free(t);
}
END_TEST

/* Both ways of a cable, and one entry for all; another link has none. */
START_TEST(links_say_what_messages_over_them_behave_like)
{
    static const char text[] =
        "machines:\n- vertices:\n  - {name: a, kind: gpu, type: v100-sxm2-16gb}\n"
        "  - {name: b, kind: gpu, type: v100-sxm2-16gb}\n"
        "  - {name: c, kind: gpu, type: v100-sxm2-16gb}\n  links:\n"
        "  - {from: a, to: b, kind: nvlink, bandwidth: 1GB/s, latency: 0s, messages: {system: "
        "./own.yaml, link: 'NVLink 1'}}\n"
        "  - {from: b, to: c, kind: nvlink, bandwidth: 1GB/s, latency: 0s, messages: {system: "
        "./own.yaml, link: 'NVLink 1'}}\n"
        "  - {from: c, to: a, kind: nvlink, bandwidth: 1GB/s, latency: 0s}\n";
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_int_eq(fr__topo_load_text(&t, text, sizeof(text) - 1, "dir/t.yaml", &err), FR_OK);
    ck_assert_uint_eq(t->n_messages, 1);
    ck_assert_str_eq(t->messages[0].link, "NVLink 1");
    ck_assert_str_eq(t->systems[t->messages[0].system].name, "dir/./own.yaml");
    ck_assert_uint_eq(t->messages[0].loc.line, 7);
    for (size_t l = 0; l < t->n_links; l++)
        ck_assert_uint_eq(t->links[l].message, l < 4 ? 0 : FR_NONE);
    fr_topo_free(t);
}
END_TEST

/* ---- the check ---- */

struct lines {
    size_t n;
    char text[8][160];
};

static void keep_line(void *user, const char *line)
{
    struct lines *x = user;

    if (x->n < 8)
        snprintf(x->text[x->n], sizeof(x->text[0]), "%s", line);
    x->n++;
}

START_TEST(the_check_reports_every_violation)
{
    static const char text[] =
        MACHINE "  - {name: c, kind: gpu, type: v100-sxm2-16gb}\n  links:\n"
                "  - {from: a, to: b, kind: nvlink, bandwidth: 2GB/s, latency: 0s, duplex: false}\n"
                "  - {from: b, to: a, kind: nvlink, bandwidth: 1GB/s, latency: 0s, duplex: false}\n"
                "  - {from: a, to: x, kind: pcie, bandwidth: 1GB/s, latency: 0s, duplex: false}\n";
    static const char *const want[] = {
        "link 'n0.a>n0.b' differs from its way back in bandwidth or latency",
        "link 'n0.a>n0.x' has no way back",
        "'n0.c' has no link",
        "no route from 'n0.a' to 'n0.c'",
        "no route from 'n0.b' to 'n0.c'",
        "no route from 'n0.c' to 'n0.a'",
        "no route from 'n0.c' to 'n0.b'",
    };
    struct lines x = {.n = 0};
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_msg(fr__topo_load_text(&t, text, strlen(text), "x", &err) == FR_OK, "%s", err.text);
    ck_assert_uint_eq(fr_topo_check(t, keep_line, &x), 7);
    ck_assert_uint_eq(x.n, 7);
    for (size_t i = 0; i < 7; i++)
        ck_assert_str_eq(x.text[i], want[i]);
    ck_assert_uint_eq(fr_topo_check(t, NULL, NULL), 7);
    fr_topo_free(t);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("all");

    tcase_add_test(c, every_preset_loads_is_sound_and_names_its_sources);
    tcase_add_test(c, dgx1_nvlinks_equal_the_machines_own_matrix);
    tcase_add_test(c, routes_follow_the_wiring);
    tcase_add_loop_test(c, a_composition_reloads_from_its_own_name, 0, 5);
    tcase_add_test(c, the_network_gets_its_rate_and_latency);
    tcase_add_test(c, a_thousand_gpus_make_a_sound_topology);
    tcase_add_loop_test(c, a_bad_line_is_refused_with_a_sentence, 0,
                        sizeof(bad_lines) / sizeof(bad_lines[0]));
    tcase_add_test(c, a_line_without_end_is_refused);
    tcase_add_test(c, the_manuals_example_loads);
    tcase_add_loop_test(c, a_bad_file_is_refused_with_place_and_sentence, 0,
                        sizeof(bad_files) / sizeof(bad_files[0]));
    tcase_add_test(c, a_misspelt_word_is_reported_at_its_place);
    tcase_add_test(c, a_file_takes_part_in_a_composition);
    tcase_add_test(c, machines_say_what_their_collectives_behave_like);
    tcase_add_test(c, links_say_what_messages_over_them_behave_like);
    tcase_add_loop_test(c, a_composition_takes_collectives_over_machines_as_they_were_measured, 0,
                        sizeof(overs) / sizeof(overs[0]));
    tcase_add_test(c, the_check_reports_every_violation);
    return run_case(c, "topo load");
}
