/* tests/topo/test_file.c - topology files, and what the check says of a topology.
 *
 * Apart from test_load.c, whose lines name files as a whole.
 */
#include "config.h"

#include "topo/load/load.h"
#include "tests/support/base_check.h"
#include "tests/support/topo_case.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

TEST(the_manuals_example_loads)
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
    l = topo_case_link(t, "n1.gpu0>n1.gpu1");
    ck_assert_ptr_nonnull(l);
    ck_assert_double_eq(l->bw_Bps, 50e9);
    ck_assert_double_eq_tol(l->latency_s, 0.7e-6, 1e-18);
    ck_assert_str_eq(l->source, "vendor's datasheets");
    ck_assert_uint_eq(t->types[t->devices[0].type].mem_bytes, UINT64_C(24) << 30);
    ck_assert_double_eq(t->types[t->devices[0].type].flops_per_s[FR_FP16], 142e12);
    ck_assert_uint_eq(fr_topo_check(t, topo_case_print, NULL), 0);
    fr_topo_free(t);
    free(text);
}

#define MACHINE                                                                                    \
    "machines:\n- vertices:\n  - {name: a, kind: gpu, type: v100-sxm2-16gb}\n"                     \
    "  - {name: b, kind: gpu, type: v100-sxm2-16gb}\n  - {name: x, kind: nic}\n"
#define LINK(extra) "  links:\n  - {from: a, to: b, kind: nvlink, " extra "}\n"

static const struct topo_case_refusal bad_files[] = {
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
     "'kind' is 'gqu', which is not known, did you mean 'gpu'?"},
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
     FR_ERANGE, "more than 65536 GPUs"},
};

LOOP_TEST(a_bad_file_is_refused_with_place_and_sentence, 0,
          sizeof(bad_files) / sizeof(bad_files[0]))
{
    const struct topo_case_refusal *r = &bad_files[_i];
    struct fr_topo *t = NULL;
    struct fr_error err;
    enum fr_status status = fr__topo_load_text(&t, r->text, strlen(r->text), "bad.yaml", &err);

    ck_assert_msg(status == r->status, "%s\ngives %d: %s", r->text, (int)status, err.text);
    ck_assert_ptr_null(t);
    ck_assert_str_eq(err.file, "bad.yaml");
    ck_assert_msg(strstr(err.text, r->sentence), "'%s' lacks '%s'", err.text, r->sentence);
}

TEST(a_misspelt_word_is_reported_at_its_place)
{
    static const char text[] = MACHINE LINK("bandwidth: 25GB/s, latency: 1us, kimd: pcie");
    struct fr_topo *t = NULL;
    struct fr_error err;

    ck_assert_int_eq(fr__topo_load_text(&t, text, strlen(text), "bad.yaml", &err), FR_EPARSE);
    ck_assert_uint_eq(err.line, 7);
    ck_assert_uint_eq(err.col, 69); /* 5 for "  - {", then 9 + 7 + 14 + 19 + 14 */
    ck_assert_msg(strstr(err.text, "'kind'"), "%s", err.text);
}

/* A name is kept as it is; a file's is beside the topology's; each is there once, with its
 * place. */
TEST(machines_say_what_their_collectives_behave_like)
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

    topo_case_write(path, text);
    t = topo_case_load("1x dgx1-v100 + 1x ./test_topo_load.system.yaml + 1x dgx-a100-80g");
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

/* Both ways of a cable, and one entry for all; another link has none. */
TEST(links_say_what_messages_over_them_behave_like)
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

TEST(the_check_reports_every_violation)
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

int main(void)
{
    TCase *c = tcase_create("all");

    add_tests(c);
    return run_case(c, "topo file");
}
