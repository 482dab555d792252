/* tests/topo/test_builder.c - topologies built by hand: numbering, selection, refusals. */
#include "config.h"

#include "topo/topo.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct fr_loc nowhere = {NULL, 0, 0};

static const struct fr_device_type gpu_type = {.name = "toy-gpu",
                                               .is_gpu = true,
                                               .mem_bytes = 1 << 20,
                                               .mem_Bps = 1e9,
                                               .vector_flops_per_s = 1e12,
                                               .n_sms = 4,
                                               .source = "made up for the test"};
static const struct fr_device_type cpu_type = {.name = "toy-cpu",
                                               .mem_bytes = 1 << 20,
                                               .mem_Bps = 1e9,
                                               .vector_flops_per_s = 1e9,
                                               .n_sms = 1,
                                               .source = "made up for the test"};

/* gpus[m] GPUs and a CPU on machine m, all on one switch; vertices are added CPU first. */
static struct fr_topo *make_star(const size_t gpus[], size_t n_machines)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    struct fr_error err;
    struct fr_topo *t = NULL;
    uint32_t g = fr_topo_builder_type(b, &gpu_type), c = fr_topo_builder_type(b, &cpu_type);
    uint32_t hub = fr_topo_builder_vertex(b, FR_VERTEX_SWITCH, "hub", FR_NONE, FR_NONE, nowhere);

    for (uint32_t m = 0; m < n_machines; m++) {
        char name[32];
        uint32_t v;

        snprintf(name, sizeof(name), "n%u.cpu", (unsigned)m);
        v = fr_topo_builder_vertex(b, FR_VERTEX_CPU, name, m, c, nowhere);
        fr_topo_builder_link(b, FR_LINK_NET, v, hub, 1e9, 1e-6, true, "test", nowhere);
        for (unsigned i = 0; i < gpus[m]; i++) {
            snprintf(name, sizeof(name), "n%u.gpu%u", (unsigned)m, i);
            v = fr_topo_builder_vertex(b, FR_VERTEX_GPU, name, m, g, nowhere);
            fr_topo_builder_link(b, FR_LINK_NET, v, hub, 1e9, 1e-6, true, "test", nowhere);
        }
    }
    ck_assert_int_eq(fr_topo_builder_finish(b, "star", &t, &err), FR_OK);
    fr_topo_builder_free(b);
    return t;
}

TEST(devices_are_numbered_gpus_first_then_one_cpu_a_machine)
{
    const size_t gpus[] = {2, 3};
    struct fr_topo *t = make_star(gpus, 2);
    const char *const names[] = {"n0.gpu0", "n0.gpu1", "n1.gpu0", "n1.gpu1",
                                 "n1.gpu2", "n0.cpu",  "n1.cpu"};
    char name[FR_LINK_NAME];

    ck_assert_uint_eq(t->n_gpus, 5);
    ck_assert_uint_eq(t->n_devices, 7);
    ck_assert_uint_eq(t->n_machines, 2);
    ck_assert_uint_eq(t->n_links, 14);
    for (uint32_t d = 0; d < 7; d++) {
        ck_assert_str_eq(t->devices[d].name, names[d]);
        ck_assert_uint_eq(t->vertices[t->devices[d].vertex].device, d);
        ck_assert_uint_eq(fr_topo_host_of(t, d), 5 + t->devices[d].machine);
    }
    ck_assert_str_eq(fr_topo_link_name(t, 0, name), "n0.cpu>hub");
    ck_assert_str_eq(fr_topo_link_name(t, 1, name), "hub>n0.cpu");
    ck_assert_uint_eq(fr_topo_host_of(t, 99), FR_NONE);
    fr_topo_free(t);
}

TEST(select_takes_the_first_or_spreads_over_machines)
{
    const size_t gpus[] = {4, 1, 4};
    struct fr_topo *t = make_star(gpus, 3);
    struct fr_error err;
    uint32_t d[9];

    ck_assert_int_eq(fr_topo_select(t, 3, false, d, &err), FR_OK);
    ck_assert(d[0] == 0 && d[1] == 1 && d[2] == 2);
    /* rounds: one each for machines 0, 1, 2; then 0 and 2, since 1 has no second; then 0 */
    ck_assert_int_eq(fr_topo_select(t, 6, true, d, &err), FR_OK);
    ck_assert(d[0] == 0 && d[1] == 1 && d[2] == 2 && d[3] == 4 && d[4] == 5 && d[5] == 6);
    ck_assert_int_eq(fr_topo_select(t, 9, true, d, &err), FR_OK);
    for (uint32_t i = 0; i < 9; i++)
        ck_assert_uint_eq(d[i], i);
    ck_assert_int_eq(fr_topo_select(t, 0, false, d, &err), FR_ERANGE);
    ck_assert_int_eq(fr_topo_select(t, 10, true, d, &err), FR_ERANGE);
    ck_assert_str_eq(err.text, "10 GPUs asked for, but 'star' has 9");
    fr_topo_free(t);
}

/* 100 of 144 GPUs: 50 of each rack, from its first tray on. Of two DGX-1, 3 and 2. */
TEST(gpus_are_spread_over_racks_and_machines)
{
    static const struct {
        const char *spec;
        size_t n, n_of_first;
        uint32_t first_of_second;
    } rows[] = {{"2x gb200-nvl72", 100, 50, 72}, {"2x dgx1-v100 via ib:100Gbps", 5, 3, 8}};
    struct fr_topo *t;
    uint32_t d[100];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ck_assert_int_eq(fr_topo_load(&t, rows[i].spec, NULL), FR_OK);
        ck_assert_int_eq(fr_topo_select(t, rows[i].n, true, d, NULL), FR_OK);
        for (size_t k = 0; k < rows[i].n; k++)
            ck_assert_uint_eq(d[k], k < rows[i].n_of_first
                                        ? k
                                        : rows[i].first_of_second + k - rows[i].n_of_first);
        fr_topo_free(t);
    }
}

/* One fault each; what the finished sentence must hold. */
enum fault {
    SAME_NAME,
    BAD_NAME,
    SELF_LINK,
    NO_BANDWIDTH,
    NAN_LATENCY,
    DOUBLED_LINK,
    LOST_GPU,
    NO_TYPE,
    WRONG_TYPE,
    TWO_CPUS,
    EMPTY_MACHINE,
    NO_DEVICE,
    LOST_LINK,
    N_FAULTS
};

static const char *const sentences[N_FAULTS] = {
    [SAME_NAME] = "two vertices are named 'a'",
    [BAD_NAME] = "'a>b' is no name",
    [SELF_LINK] = "a link leads from 'a' to itself",
    [NO_BANDWIDTH] = "link 'a>b': the bandwidth must be above 0",
    [NAN_LATENCY] = "link 'a>b': the latency must be from 0 to 1000 s",
    [DOUBLED_LINK] = "two links lead from 'b' to 'a'",
    [LOST_GPU] = "device 'c' belongs to no machine",
    [NO_TYPE] = "device 'c' has no type",
    [WRONG_TYPE] = "device 'c' is a CPU, but its type 'toy-gpu' is not",
    [TWO_CPUS] = "machine 0 has 2 CPUs",
    [EMPTY_MACHINE] = "machine 1 has no device",
    [NO_DEVICE] = "the topology has no device",
    [LOST_LINK] = "a link leads to a vertex that does not exist"};

static void commit_fault(struct fr_topo_builder *b, enum fault f, uint32_t a, uint32_t v)
{
    uint32_t g = fr_topo_builder_type(b, &gpu_type), c = fr_topo_builder_type(b, &cpu_type);
    enum fr_vertex_kind gpu = FR_VERTEX_GPU, cpu = FR_VERTEX_CPU;

    switch (f) {
    case SAME_NAME:
        fr_topo_builder_vertex(b, gpu, "a", 0, g, nowhere);
        break;
    case BAD_NAME:
        fr_topo_builder_vertex(b, gpu, "a>b", 0, g, nowhere);
        break;
    case SELF_LINK:
        fr_topo_builder_link(b, FR_LINK_NET, a, a, 1, 0, true, "", nowhere);
        break;
    case NO_BANDWIDTH:
        fr_topo_builder_link(b, FR_LINK_NET, a, v, 0, 0, true, "", nowhere);
        break;
    case NAN_LATENCY:
        fr_topo_builder_link(b, FR_LINK_NET, a, v, 1, (double)NAN, true, "", nowhere);
        break;
    case DOUBLED_LINK:
        fr_topo_builder_link(b, FR_LINK_NET, a, v, 1, 0, true, "", nowhere);
        fr_topo_builder_link(b, FR_LINK_NET, v, a, 1, 0, false, "", nowhere);
        break;
    case LOST_GPU:
        fr_topo_builder_vertex(b, gpu, "c", FR_NONE, g, nowhere);
        break;
    case NO_TYPE:
        fr_topo_builder_vertex(b, gpu, "c", 0, 7, nowhere);
        break;
    case WRONG_TYPE:
        fr_topo_builder_vertex(b, cpu, "c", 0, g, nowhere);
        break;
    case TWO_CPUS:
        fr_topo_builder_vertex(b, cpu, "c", 0, c, nowhere);
        fr_topo_builder_vertex(b, cpu, "d", 0, c, nowhere);
        break;
    case EMPTY_MACHINE:
        fr_topo_builder_vertex(b, FR_VERTEX_NIC, "c", 1, c, nowhere);
        break;
    case LOST_LINK:
        fr_topo_builder_link(b, FR_LINK_NET, a, 99, 1, 0, true, "", nowhere);
        break;
    default:
        break;
    }
}

LOOP_TEST(finish_reports_the_first_fault, 0, N_FAULTS)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    struct fr_topo *t = NULL;
    struct fr_error err;
    uint32_t g = fr_topo_builder_type(b, &gpu_type), a = FR_NONE, v = FR_NONE;

    if (_i != NO_DEVICE) {
        a = fr_topo_builder_vertex(b, FR_VERTEX_GPU, "a", 0, g, nowhere);
        v = fr_topo_builder_vertex(b, FR_VERTEX_GPU, "b", 0, g, nowhere);
    }
    commit_fault(b, (enum fault)_i, a, v);
    ck_assert_int_eq(fr_topo_builder_finish(b, "faulty", &t, &err), FR_ERANGE);
    ck_assert_ptr_null(t);
    ck_assert_msg(strstr(err.text, sentences[_i]), "'%s' lacks '%s'", err.text, sentences[_i]);
    fr_topo_builder_free(b);
}

TEST(a_type_given_twice_is_one_and_a_different_one_is_refused)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    struct fr_device_type other = gpu_type;
    struct fr_topo *t = NULL;
    struct fr_error err;

    other.mem_bytes++;
    ck_assert_uint_eq(fr_topo_builder_type(b, &gpu_type), 0);
    ck_assert_uint_eq(fr_topo_builder_type(b, &cpu_type), 1);
    ck_assert_uint_eq(fr_topo_builder_type(b, &gpu_type), 0);
    ck_assert_uint_eq(fr_topo_builder_type(b, &other), FR_NONE);
    ck_assert_int_eq(fr_topo_builder_finish(b, "x", &t, &err), FR_ERANGE);
    ck_assert_str_eq(err.text, "two different device types are named 'toy-gpu'");
    fr_topo_builder_free(b);
}

/* NVIDIA's datasheets: V100 SXM2 15.7 and 125 Tflop/s, 900 GB/s; A100 SXM 19.5, 156, 312, and 2039
 * GB/s (80 GB). 2 x 40 cores x ... checked by hand: 40 cores x 2.2 GHz x 32 = 2.816 Tflop/s. */
TEST(built_in_types_hold_the_datasheets_figures)
{
    const struct fr_device_type *v = fr_device_type_find("v100-sxm2-16gb");
    const struct fr_device_type *a = fr_device_type_find("a100-sxm4-80gb");
    const struct fr_device_type *x = fr_device_type_find("2x-xeon-e5-2698v4");

    ck_assert(v && a && x);
    ck_assert_double_eq(v->flops_per_s[FR_FP32], 15.7e12);
    ck_assert_double_eq(v->flops_per_s[FR_FP16], 125e12);
    ck_assert_double_eq(v->flops_per_s[FR_BF16], 0);
    ck_assert_double_eq(v->mem_Bps, 900e9);
    ck_assert_double_eq(a->flops_per_s[FR_FP32], 19.5e12);
    ck_assert_double_eq(a->flops_per_s[FR_TF32], 156e12);
    ck_assert_double_eq(a->flops_per_s[FR_BF16], 312e12);
    ck_assert_double_eq(a->mem_Bps, 2039e9);
    ck_assert_double_eq_tol((double)a->mem_bytes / (1 << 30), 79.15, 0.005); /* "79.15 GiB" */
    ck_assert_double_eq(x->vector_flops_per_s, 40 * 2.2e9 * 32);
    ck_assert_ptr_null(fr_device_type_find("v100"));
    for (size_t i = 0; fr_device_type_builtin(i); i++)
        ck_assert(fr_device_type_builtin(i)->source[0]);
}

int main(void)
{
    TCase *c = tcase_create("all");

    add_tests(c);
    return run_case(c, "topo builder");
}
