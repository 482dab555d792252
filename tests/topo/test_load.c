/* tests/topo/test_load.c - presets, and lines that name compositions of presets and files. */
#include "config.h"

#include "topo/topo.h"
#include "tests/support/base_check.h"
#include "tests/support/topo_case.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- presets ---- */

TEST(every_preset_loads_is_sound_and_names_its_sources)
{
    for (size_t i = 0; fr_topo_preset_name(i); i++) {
        struct fr_topo *t = topo_case_load(fr_topo_preset_name(i));

        ck_assert_str_eq(t->name, fr_topo_preset_name(i));
        ck_assert(fr_topo_preset_summary(i)[0]);
        ck_assert_uint_eq(fr_topo_check(t, topo_case_print, NULL), 0);
        ck_assert_uint_eq(t->n_devices, t->n_gpus + t->n_machines); /* a CPU each */
        for (size_t l = 0; l < t->n_links; l++)
            ck_assert(t->links[l].source[0]);
        fr_topo_free(t);
    }
    ck_assert_ptr_null(fr_topo_preset_name(1000));
    ck_assert_ptr_null(fr_topo_preset_summary(1000));
}

/* The matrix as `nvidia-smi topo -m` prints it on the machine. */
TEST(dgx1_nvlinks_equal_the_machines_own_matrix)
{
    const char *srcdir = getenv("srcdir");
    char path[512], line[512];
    struct fr_topo *t = topo_case_load("dgx1-v100");
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
            l = topo_case_link(t, name);
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

static void expect_route(const char *spec, const char *src, const char *dst, const char *want)
{
    struct fr_topo *t = topo_case_load(spec);
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

TEST(routes_follow_the_wiring)
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

/* ---- compositions ---- */

LOOP_TEST(a_composition_reloads_from_its_own_name, 0, 5)
{
    static const char *const rows[][2] = {
        {"  2x   dgx1-v100  via ib:100Gbps ", "2x dgx1-v100 via ib:100Gbps"},
        {"1x dgx1-v100", "dgx1-v100"},
        {"1x dgx1-v100 + 1x dgx-a100-80g via ib:100Gbps,2us",
         "1x dgx1-v100 + 1x dgx-a100-80g via ib:100Gbps,2us"},
        {"dgx1-v100 + 2x dgx-a100-80g", "1x dgx1-v100 + 2x dgx-a100-80g"},
        {"dgx1-v100 via eth:10Gbps", "1x dgx1-v100 via eth:10Gbps"},
    };
    struct fr_topo *a = topo_case_load(rows[_i][0]), *b;

    ck_assert_str_eq(a->name, rows[_i][1]);
    b = topo_case_load(a->name);
    ck_assert_str_eq(b->name, a->name);
    ck_assert_uint_eq(b->n_links, a->n_links);
    for (uint32_t l = 0; l < a->n_links; l++) {
        char name[FR_LINK_NAME], other[FR_LINK_NAME];

        ck_assert_str_eq(fr_topo_link_name(a, l, name), fr_topo_link_name(b, l, other));
        ck_assert_double_eq(a->links[l].bw_Bps, b->links[l].bw_Bps);
        ck_assert_double_eq(a->links[l].latency_s, b->links[l].latency_s);
    }
    ck_assert_uint_eq(fr_topo_check(a, topo_case_print, NULL), 0);
    fr_topo_free(a);
    fr_topo_free(b);
}

TEST(the_network_gets_its_rate_and_latency)
{
    struct fr_topo *t = topo_case_load("2x dgx1-v100 via ib:100Gbps,2us");
    const struct fr_link *l = topo_case_link(t, "n1.nic3>net.switch");

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
    t = topo_case_load("4x dgx-a100-80g"); /* HDR by the preset: 200 Gbit/s */
    l = topo_case_link(t, "net.switch>n3.nic7");
    ck_assert_ptr_nonnull(l);
    ck_assert_double_eq(l->bw_Bps, 25e9);
    fr_topo_free(t);
}

TEST(a_thousand_gpus_make_a_sound_topology)
{
    struct fr_topo *t = topo_case_load("128x dgx-a100-80g"),
                   *half = topo_case_load("64x dgx-a100-80g");

    ck_assert_uint_eq(t->n_gpus, 1024);
    ck_assert_uint_eq(t->n_links, 2 * half->n_links);
    ck_assert_uint_eq(fr_topo_check(t, topo_case_print, NULL), 0);
    fr_topo_free(t);
    fr_topo_free(half);
}

static const struct topo_case_refusal bad_lines[] = {
    {"dgx1-v10", FR_ENOENT, "no topology preset or file 'dgx1-v10', did you mean 'dgx1-v100'?"},
    {"nothing-like-it", FR_ENOENT, "no topology preset or file 'nothing-like-it'"},
    {"", FR_EPARSE, "the topology lacks a preset or file"},
    {"2x", FR_EPARSE, "lacks a preset or file after 2x"},
    {"2x + dgx1-v100", FR_EPARSE, "lacks a preset or file before +"},
    {"0x dgx1-v100", FR_ERANGE, "the number of machines"},
    {"99999999999999999999x dgx1-v100", FR_ERANGE, "the number of machines"},
    {"65536x dgx1-v100", FR_ERANGE, "more than 65536 GPUs"},
    {"2x dgx1-v100 ib:100Gbps", FR_EPARSE, "'ib:100Gbps' in the topology, '+' or 'via' expected"},
    {"2x dgx1-v100 via", FR_EPARSE, "no network after 'via'"},
    {"2x dgx1-v100 via ib", FR_EPARSE, "the network is 'ib', a kind and a rate"},
    {"2x dgx1-v100 via wet:100Gbps", FR_EPARSE, "of kind 'wet', one of ib, roce, slingshot, eth"},
    {"2x dgx1-v100 via ib:100", FR_EPARSE, "the network's rate"},
    {"2x dgx1-v100 via ib:0Gbps", FR_ERANGE, "the network's rate is 0"},
    {"2x dgx1-v100 via ib:100Gbps,fast", FR_EPARSE, "the network's latency"},
    {"2x dgx1-v100 + 1x dgx-a100-80", FR_ENOENT, "did you mean 'dgx-a100-80g'?"},
};

LOOP_TEST(a_bad_line_is_refused_with_a_sentence, 0, sizeof(bad_lines) / sizeof(bad_lines[0]))
{
    const struct topo_case_refusal *r = &bad_lines[_i];
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_msg(fr_topo_load(&t, r->text, &err) == r->status, "'%s' gives %d: %s", r->text,
                  (int)err.code, err.text);
    ck_assert_ptr_null(t);
    ck_assert_msg(strstr(err.text, r->sentence), "'%s' lacks '%s'", err.text, r->sentence);
}

TEST(a_line_without_end_is_refused)
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

/* ---- files in compositions ---- */

#define MACHINE                                                                                    \
    "machines:\n- vertices:\n  - {name: a, kind: gpu, type: v100-sxm2-16gb}\n"                     \
    "  - {name: b, kind: gpu, type: v100-sxm2-16gb}\n  - {name: x, kind: nic}\n"

TEST(a_file_takes_part_in_a_composition)
{
    static const char text[] = "network: roce:25Gbps\n" MACHINE "  links:\n"
                               "  - {from: a, to: x, kind: pcie, bandwidth: 12GB/s, latency: 0s}\n"
                               "  - {from: b, to: x, kind: pcie, bandwidth: 12GB/s, latency: 0s}\n";
    static const char path[] = "test_topo_load.tmp.yaml";
    struct fr_topo *t;
    struct fr_error err;

    topo_case_write(path, text);
    t = topo_case_load(path);
    ck_assert_str_eq(t->name, path);
    ck_assert_uint_eq(t->n_gpus, 2);
    fr_topo_free(t);
    t = topo_case_load("2x test_topo_load.tmp.yaml + 1x dgx1-v100");
    ck_assert_uint_eq(t->n_gpus, 12);
    ck_assert_uint_eq(t->n_machines, 3);
    ck_assert_double_eq(topo_case_link(t, "n1.x>net.switch")->bw_Bps, 3.125e9);
    ck_assert_double_eq(topo_case_link(t, "n2.nic0>net.switch")->bw_Bps, 12.5e9);
    ck_assert_uint_eq(fr_topo_check(t, topo_case_print, NULL), 0);
    fr_topo_free(t);
    topo_case_write(path, strchr(text, '\n') + 1); /* without its network: line */
    t = NULL;
    ck_assert_int_eq(fr_topo_load(&t, "2x test_topo_load.tmp.yaml", &err), FR_EUSAGE);
    ck_assert_msg(strstr(err.text, "does not say which network its NICs are for"), "%s", err.text);
    remove(path);
    ck_assert_int_eq(fr_topo_load(&t, path, &err), FR_ENOENT);
}

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
LOOP_TEST(a_composition_takes_collectives_over_machines_as_they_were_measured, 0,
          sizeof(overs) / sizeof(overs[0]))
{
    const struct over *o = &overs[_i];
    static const char path[] = "./test_topo_load.over.yaml";
    struct fr_topo *t;

    topo_case_write(path, "network: roce:25Gbps\ncollectives: own-system\n" ONE_GPU);
    t = topo_case_load(o->spec);
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

int main(void)
{
    TCase *c = tcase_create("all");

    add_tests(c);
    return run_case(c, "topo load");
}
