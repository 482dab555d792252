/* Systems: the models by hand, data, fits, system files. */
#include "config.h"

#include "calibrate/fit/read/collective_data.h"
#include "calibrate/fit/fitting.h"
#include "calibrate/system_model.h"
#include "calibrate/system_nodes.h"
#include "tests/support/base_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* LL128 and Simple, and the large way of all-to-all, are 1000 times slower: their 8th powers vanish. */
static struct fr_system one_way(void)
{
    return (struct fr_system){
        .info = {.most_gpus = 8,
                 .has_rings = true,
                 .has_all_to_all = true,
                 .parameters = {10e-6, 1e-6, 100e9, 10e-3, 1e-3, 1e8, 10e-3, 1e-3, 1e8, 0, 0, 5e-6,
                                2e-6, 50e9, 10e-3, 1e-3, 1e8}}};
}

static double time_s(const struct fr_system *s, enum fr_system_op op, unsigned n, double bytes,
                     bool is_summed)
{
    return fr_system_time_s(s, &(struct fr_system_call){op, n, bytes, is_summed, 1});
}

START_TEST(a_ring_takes_its_steps_and_its_share_of_the_bytes)
{
    struct fr_system s = one_way();

    /* 4 GPUs, 80 MB: 6 steps of 1 us and 20 MB at 100 GB/s, after 10 us */
    ck_assert_double_eq_tol(time_s(&s, FR_SYSTEM_ALL_REDUCE, 4, 80e6, true), 1216e-6, 1e-9);
    /* half the steps */
    ck_assert_double_eq_tol(time_s(&s, FR_SYSTEM_ALL_GATHER, 4, 80e6, true), 613e-6, 1e-9);
    ck_assert_double_eq_tol(time_s(&s, FR_SYSTEM_REDUCE_SCATTER, 4, 80e6, true), 613e-6, 1e-9);
    /* 5 us, 3 peers of 2 us and 20 MB at 50 GB/s each */
    ck_assert_double_eq_tol(time_s(&s, FR_SYSTEM_ALL_TO_ALL, 4, 80e6, true), 1211e-6, 1e-9);
}
END_TEST

START_TEST(two_equal_ways_take_a_twelfth_less_than_one)
{
    struct fr_system s = one_way();
    double one = time_s(&s, FR_SYSTEM_ALL_REDUCE, 4, 80e6, true);

    memcpy(s.info.parameters + 3, s.info.parameters, 3 * sizeof(double));
    ck_assert_double_eq_tol(time_s(&s, FR_SYSTEM_ALL_REDUCE, 4, 80e6, true) / one, pow(2, -1.0 / 8),
                            1e-9);
}
END_TEST

START_TEST(the_switch_sums_for_all_reduces_of_three_gpus_and_formats_it_knows)
{
    struct fr_system s = one_way();

    s.info.parameters[9] = 20e-6;
    s.info.parameters[10] = 800e9;
    /* there but not allowed */
    ck_assert_double_gt(time_s(&s, FR_SYSTEM_ALL_REDUCE, 4, 80e6, true), 1e-3);
    s.info.has_nvls = true;
    /* 20 us and 80 MB at 800 GB/s */
    ck_assert_double_eq_tol(time_s(&s, FR_SYSTEM_ALL_REDUCE, 4, 80e6, true), 120e-6, 1e-9);
    ck_assert_double_gt(time_s(&s, FR_SYSTEM_ALL_REDUCE, 4, 80e6, false), 1e-3);
    ck_assert_double_gt(time_s(&s, FR_SYSTEM_ALL_REDUCE, 2, 80e6, true), 8e-4);
    ck_assert_double_gt(time_s(&s, FR_SYSTEM_ALL_GATHER, 4, 80e6, true), 6e-4);
}
END_TEST

START_TEST(one_gpu_waits_for_nobody)
{
    struct fr_system s = one_way();

    ck_assert_double_eq(time_s(&s, FR_SYSTEM_ALL_REDUCE, 1, 80e6, true), 0);
    ck_assert_double_eq(time_s(&s, FR_SYSTEM_ALL_REDUCE, 0, 80e6, true), 0);
}
END_TEST

/* ---- data ---- */

#define HEADER "source,system,gpus,nodes,op,bytes,dtype,algorithm,protocol,time_us\n"

START_TEST(rows_of_others_and_forced_ones_are_passed_over)
{
    static const char text[] = HEADER "x,S,8,1,all_reduce,1024,float16,auto,auto,10\n"
                                      "x,T,8,1,all_reduce,1024,float16,auto,auto,10\n"
                                      "x,S,16,2,all_reduce,1024,float16,auto,auto,10\n"
                                      "x,S,8,1,all_reduce,1024,float16,ring,auto,10\n"
                                      "x,S,8,1,all_reduce,1024,float16,auto,LL,10\n"
                                      "x,S,8,1,all_reduce,1024,float16,auto,auto,\n"
                                      "x,S,8,1,sendrecv,1024,float16,auto,auto,10\n"
                                      "x,S,8,1,all_reduce,0,float16,auto,auto,10\n"
                                      "y,S,4,1,alltoall,2048,int8,auto,auto,20\n";
    struct fr__collective_data d = {0};
    struct fr_error err;

    ck_assert_int_eq(fr__collective_data_read_text(&d, text, strlen(text), "t", "S", &err), FR_OK);
    ck_assert_uint_eq(d.n_rows, 3);
    ck_assert_uint_eq(d.n_sources, 2);
    ck_assert_uint_eq(d.rows[0].call.n_nodes, 1);
    ck_assert_uint_eq(d.rows[1].call.n_nodes, 2);
    ck_assert_uint_eq(d.rows[2].call.op, FR_SYSTEM_ALL_TO_ALL);
    ck_assert_uint_eq(d.rows[2].call.n_gpus, 4);
    ck_assert_double_eq(d.rows[2].call.bytes, 2048);
    ck_assert(d.rows[0].call.is_summed_in_switch && !d.rows[2].call.is_summed_in_switch);
    ck_assert_double_eq_tol(d.rows[2].time_s, 20e-6, 1e-18);
    ck_assert_uint_eq(d.rows[2].line, 10);
    ck_assert(d.rows[0].hash != d.rows[2].hash);
    fr__collective_data_fini(&d);
}
END_TEST

static const struct {
    const char *row, *message;
} bad_rows[] = {
    {"x,S,eight,1,all_reduce,1024,float16,auto,auto,10\n", "'gpus' is \"eight\""},
    {"x,S,2,4,all_reduce,1024,float16,auto,auto,10\n", "4 nodes with 2 GPUs in all"},
    {"x,S,8,0,all_reduce,1024,float16,auto,auto,10\n", "'nodes' is \"0\""},
    {"x,S,8,1,all_reduce,-5,float16,auto,auto,10\n", "'bytes' is \"-5\""},
    {"x,S,8,1,all_reduce,1024,float16,auto,auto,nan\n", "'time_us' is \"nan\""},
    {"x,S,8,1,all_reduce,1024,float16,auto,auto,0\n", "'time_us' is \"0\""},
    {"x,S,8\n", ""},
};

START_TEST(a_bad_row_is_refused_with_its_place)
{
    struct fr__collective_data d = {0};
    struct fr_error err = {.text = ""};
    char text[512];

    snprintf(text, sizeof(text), HEADER "%s", bad_rows[_i].row);
    ck_assert_int_ne(fr__collective_data_read_text(&d, text, strlen(text), "t", "S", &err), FR_OK);
    ck_assert_msg(err.line == 2, "%s", err.text);
    ck_assert_msg(strstr(err.text, bad_rows[_i].message) != NULL, "%s", err.text);
    fr__collective_data_fini(&d);
}
END_TEST

/* ---- fit ---- */

static const char *scratch(void)
{
    static char path[64];

    snprintf(path, sizeof(path), "test_calibrate_system.%ld", (long)getpid());
    return path;
}

static struct fr_system truth(bool has_nvls)
{
    struct fr_system s = {
        .info = {.most_gpus = 8,
                 .n_fitted = 1,
                 .has_rings = true,
                 .has_all_to_all = true,
                 .parameters = {7e-6, 0.9e-6, 30e9, 12e-6, 1.2e-6, 150e9, 30e-6, 2e-6, 300e9, 0, 0,
                                6e-6, 0.3e-6, 60e9, 20e-6, 0.2e-6, 250e9}}};

    if (has_nvls) {
        s.info.has_nvls = true;
        s.info.parameters[9] = 25e-6;
        s.info.parameters[10] = 400e9;
    }
    return s;
}

static void write_rows(const struct fr_system *s, const char *path)
{
    static const char *const ops[] = {"all_reduce", "all_gather", "reduce_scatter", "alltoall"};
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    fputs(HEADER, f);
    for (unsigned op = 0; op < 4; op++)
        for (unsigned n = 2; n <= 8; n *= 2)
            for (unsigned is_int8 = 0; is_int8 < 2; is_int8++)
                for (double bytes = 1024; bytes < 2e9; bytes *= 4)
                    fprintf(f, "x,S,%u,1,%s,%.0f,%s,auto,auto,%.6f\n", n, ops[op], bytes,
                            is_int8 ? "int8" : "float16",
                            1e6 * time_s(s, (enum fr_system_op)op, n, bytes, !is_int8));
    fclose(f);
}

START_TEST(a_fit_finds_the_machine_that_made_the_rows)
{
    struct fr_system made = truth(_i), *s;
    const char *path = scratch();
    struct fr_error err;

    write_rows(&made, path);
    ck_assert_msg(fr_system_fit(&s, "S", &path, 1, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(fr_system_info(s)->has_nvls, _i);
    ck_assert_uint_eq(fr_system_info(s)->most_gpus, 8);
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++) {
        ck_assert_uint_gt(fr_system_info(s)->held_out[op].n, 5);
        ck_assert_double_lt(fr_system_info(s)->held_out[op].p90, 0.05);
        /* between the sizes that were measured, on a number of GPUs that was not */
        for (double bytes = 2000; bytes < 1e9; bytes *= 5)
            ck_assert_double_eq_tol(time_s(s, (enum fr_system_op)op, 6, bytes, true) /
                                        time_s(&made, (enum fr_system_op)op, 6, bytes, true),
                                    1, 0.1);
    }
    fr_system_free(s);
    remove(path);
}
END_TEST

START_TEST(too_few_rows_make_no_system)
{
    const char *path = scratch();
    struct fr_system *s;
    struct fr_error err;
    FILE *f = fopen(path, "w");

    fputs(HEADER "x,S,8,1,all_reduce,1024,float16,auto,auto,10\n", f);
    fclose(f);
    ck_assert_int_eq(fr_system_fit(&s, "S", &path, 1, &err), FR_ENOENT);
    ck_assert_ptr_nonnull(strstr(err.text, "too few rows of 'S' to fit"));
    remove(path);
}
END_TEST

/* ---- over several nodes ---- */

static struct fr_system_call over_nodes(enum fr_system_op op, unsigned n, unsigned nodes,
                                        double bytes)
{
    return (struct fr_system_call){.op = op, .n_gpus = n, .n_nodes = nodes, .bytes = bytes};
}

START_TEST(a_ring_over_nodes_has_far_and_near_steps)
{
    static const double p[FR_SYSTEM_WAY_PARAMETERS] = {10e-6, 5e-6, 1e-6, 10e9};
    struct fr_system_call c = over_nodes(FR_SYSTEM_ALL_REDUCE, 8, 2, 80e6);

    /* 14 steps, of which 2 far: 10 + 2 * 5 + 12 * 1 us, and 14 times 10 MB at 10 GB/s */
    ck_assert_double_eq_tol(fr__nodes_way_s(FR_SYSTEM_RING_SIMPLE, p, &c), 32e-6 + 14e-3, 1e-9);
    /* half of each */
    c.op = FR_SYSTEM_ALL_GATHER;
    ck_assert_double_eq_tol(fr__nodes_way_s(FR_SYSTEM_RING_SIMPLE, p, &c), 21e-6 + 7e-3, 1e-9);
}
END_TEST

START_TEST(a_tree_over_nodes_passes_chunks_up_and_down_its_depth)
{
    static const double p[FR_SYSTEM_WAY_PARAMETERS] = {10e-6, 5e-6, 1e-6, 10e9, 1e6, 1e9};
    struct fr_system_call c = over_nodes(FR_SYSTEM_ALL_REDUCE, 8, 2, 1e6);

    /* depth 1: 10 + 2 * 5 + 2 * 3 * 1 us, twice half a megabyte at 1 GB/s, and 1 MB at 10 GB/s */
    ck_assert_double_eq_tol(fr__nodes_way_s(FR_SYSTEM_TREE_LL, p, &c), 26e-6 + 1e-3 + 100e-6, 1e-9);
    /* five nodes have depth 3, and more than two nodes send each byte twice */
    c = over_nodes(FR_SYSTEM_ALL_REDUCE, 20, 5, 1e6);
    ck_assert_double_eq_tol(fr__nodes_way_s(FR_SYSTEM_TREE_LL, p, &c), 46e-6 + 3e-3 + 200e-6, 1e-9);
}
END_TEST

START_TEST(an_all_to_all_over_nodes_waits_for_what_leaves_them)
{
    /* half of 80 MB leaves a node of two; a knee as large, of power 1, doubles that */
    static const double p[FR_SYSTEM_NODES_ALL_TO_ALL] = {10e-6, 1e-6, 10e9, 40e6, 1};
    struct fr_system_call c = over_nodes(FR_SYSTEM_ALL_TO_ALL, 8, 2, 80e6);

    ck_assert_double_eq_tol(fr__nodes_all_to_all_s(p, &c), 14e-6 + 8e-3, 1e-9);
}
END_TEST

/* A GPU of four on each node of a bus of 100 GB/s: by hand with NCCL's constants. */
static struct fr_system_nodes believed(void)
{
    struct fr_system_nodes nodes = {.choice = {100e9, 100e9, 100e9, false}};

    for (unsigned w = 0; w < FR_N_SYSTEM_WAYS; w++)
        nodes.has_way[w] = true;
    return nodes;
}

START_TEST(nccl_takes_low_latency_for_little_and_simple_for_much)
{
    struct fr_system_nodes nodes = believed();
    struct fr_system_call little = over_nodes(FR_SYSTEM_ALL_REDUCE, 32, 8, 1024),
                          middle = over_nodes(FR_SYSTEM_ALL_REDUCE, 32, 8, 4e6),
                          much = over_nodes(FR_SYSTEM_ALL_REDUCE, 32, 8, 4e9);

    /* little: tree LL 6.8 + 2 (3 * 0.6 + 3 * 5) = 40 us; ring LL 6.6 + 46 * 1 + 16 * 2.7 = 96; tree Simple
     * 8.4 + 2 (3 * 4 + 3 * 14) = 116 */
    ck_assert_int_eq(fr__nodes_choose(&nodes, &little), FR_SYSTEM_TREE_LL);
    /* middle: tree Simple 116 + 4 MB at 46 * 0.5 GB/s = 290; tree LL 40 + 4 MB at 12.1 * 0.7 = 512; ring
     * Simple 1.4 (8.4 + 46 * 3.4 + 16 * 14) + 4 MB at 52 = 621 */
    ck_assert_int_eq(fr__nodes_choose(&nodes, &middle), FR_SYSTEM_TREE_SIMPLE);
    /* much: ring Simple 544 us + 4 GB at 51.6 GB/s, tree Simple at 46 */
    ck_assert_int_eq(fr__nodes_choose(&nodes, &much), FR_SYSTEM_RING_SIMPLE);
    /* no trees but for all-reduces, and no way that is not there */
    little.op = FR_SYSTEM_ALL_GATHER;
    ck_assert_int_eq(fr__nodes_choose(&nodes, &little), FR_SYSTEM_RING_LL);
    nodes.has_way[FR_SYSTEM_RING_LL] = nodes.has_way[FR_SYSTEM_RING_SIMPLE] = false;
    ck_assert_int_eq(fr__nodes_choose(&nodes, &little), FR_N_SYSTEM_WAYS);
    ck_assert_double_eq(fr__nodes_time_s(&nodes, &little), 0);
}
END_TEST

static const double made_ways[FR_N_SYSTEM_WAYS][FR_SYSTEM_WAY_PARAMETERS] = {
    [FR_SYSTEM_TREE_LL] = {8e-6, 7e-6, 0.5e-6, 5e9, 20e3, 1e9},
    [FR_SYSTEM_TREE_SIMPLE] = {10e-6, 20e-6, 4e-6, 90e9, 1e6, 30e9},
    [FR_SYSTEM_RING_LL] = {8e-6, 3e-6, 1e-6, 6e9},
    [FR_SYSTEM_RING_SIMPLE] = {10e-6, 15e-6, 3e-6, 100e9}};

static struct fr_system made_nodes(void)
{
    struct fr_system s = {.info = {.nodes = believed()}};

    s.info.nodes.has_way[FR_SYSTEM_TREE_LL128] = s.info.nodes.has_way[FR_SYSTEM_RING_LL128] = false;
    memcpy(s.info.nodes.ways, made_ways, sizeof(made_ways));
    s.info.nodes.has_all_to_all = true;
    memcpy(s.info.nodes.all_to_all, (const double[]){20e-6, 0.5e-6, 20e9, 100e3, 0.5},
           5 * sizeof(double));
    return s;
}

START_TEST(a_fit_over_nodes_predicts_what_made_the_rows)
{
    static const char *const ops[] = {"all_reduce", "all_gather", "reduce_scatter", "alltoall"};
    struct fr_system made = made_nodes(), *s;
    const char *path = scratch();
    struct fr_error err;
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    fputs(HEADER, f);
    for (unsigned op = 0; op < 4; op++)
        for (unsigned nodes = 2; nodes <= 32; nodes *= 2)
            for (double bytes = 256; bytes < 5e9; bytes *= 2) {
                struct fr_system_call c =
                    over_nodes((enum fr_system_op)op, 4 * nodes, nodes, bytes);

                fprintf(f, "x,S,%u,%u,%s,%.0f,half,auto,auto,%.6f\n", c.n_gpus, nodes, ops[op],
                        bytes, 1e6 * fr_system_time_s(&made, &c));
            }
    fclose(f);
    ck_assert_msg(fr_system_fit(&s, "S", &path, 1, &err) == FR_OK, "%s", err.text);
    ck_assert_uint_eq(fr_system_info(s)->nodes.most_nodes, 32);
    ck_assert_uint_eq(fr_system_info(s)->n_fitted, 0);
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++) {
        ck_assert(fr_system_covers(s, (enum fr_system_op)op, 2));
        ck_assert(!fr_system_covers(s, (enum fr_system_op)op, 1));
        ck_assert_double_lt(fr_system_info(s)->nodes.held_out[op].median, 0.03);
        ck_assert_double_lt(fr_system_info(s)->nodes.held_out[op].p90, 0.2);
    }
    fr_system_free(s);
    remove(path);
}
END_TEST

/* ---- links ---- */

#define MESSAGES "source,system,gpu,src,dst,link,bytes,bandwidth_GBps,latency_us,notes\n"

START_TEST(messages_are_those_between_two_gpus_one_way)
{
    static const char text[] = MESSAGES "x,S,G,gpu0,gpu1,NVLink,1000,2,,bw_uni\n"
                                        "x,S,G,gpu0,gpu1,NVLink,1000,2,0.7,\n"
                                        "x,S,G,gpu0,gpu1,PCIe,1000,2,,bw_bi\n"
                                        "x,S,G,gpu0,gpu0,memory,1000,2,,bw_uni\n"
                                        "x,S,G,gpu0,gpu1,NVLink,,2,,bw_uni\n"
                                        "x,T,G,gpu0,gpu1,NVLink,1000,2,,bw_uni\n";
    struct fr__collective_data d = {0};
    struct fr_error err;

    ck_assert_msg(fr__collective_data_read_text(&d, text, strlen(text), "t", "S", &err) == FR_OK,
                  "%s", err.text);
    ck_assert_uint_eq(d.n_messages, 2);
    ck_assert_uint_eq(d.n_links, 1);
    /* 1000 bytes at 2 GB/s; the whole transfer's time where it is told */
    ck_assert_double_eq_tol(d.messages[0].time_s, 0.5e-6, 1e-15);
    ck_assert_double_eq_tol(d.messages[1].time_s, 0.7e-6, 1e-15);
    fr__collective_data_fini(&d);
}
END_TEST

static const struct {
    const char *row, *message;
} bad_messages[] = {
    {"x,S,G,gpu0,gpu1,NVLink,-1,2,,\n", "'bytes' is \"-1\""},
    {"x,S,G,gpu0,gpu1,NVLink,1000,0,,\n", "'bandwidth_GBps' is \"0\""},
    {"x,S,G,gpu0,gpu1,NVLink,1e15,1e-9,,\n", "over 1e12 us"},
    {"x,S,G,gpu0,gpu1,NVLink,1000,2,inf,\n", "'latency_us' is \"inf\""},
};

START_TEST(a_bad_message_is_refused_with_its_place)
{
    struct fr__collective_data d = {0};
    struct fr_error err = {.text = ""};
    char text[512];

    snprintf(text, sizeof(text), MESSAGES "%s", bad_messages[_i].row);
    ck_assert_int_ne(fr__collective_data_read_text(&d, text, strlen(text), "t", "S", &err), FR_OK);
    ck_assert_uint_eq(err.line, 2);
    ck_assert_msg(strstr(err.text, bad_messages[_i].message) != NULL, "%s", err.text);
    fr__collective_data_fini(&d);
}
END_TEST

START_TEST(a_fit_of_a_link_finds_its_latency_and_bandwidth)
{
    struct fr_system *s;
    const char *path = scratch();
    struct fr_error err;
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    fputs(MESSAGES, f);
    for (double bytes = 64; bytes < 3e9; bytes *= 2) {
        /* 8 us and 200 GB/s, with a knee at 1 MB; 2 us and 10 GB/s without */
        fprintf(f, "x,S,G,a,b,fast,%.0f,,%.6f,\n", bytes,
                8 + bytes / 200e3 * (1 + sqrt(1e6 / bytes)));
        fprintf(f, "x,S,G,a,c,slow,%.0f,,%.6f,\n", bytes, 2 + bytes / 10e3);
    }
    fclose(f);
    ck_assert_msg(fr_system_fit(&s, "S", &path, 1, &err) == FR_OK, "%s", err.text);
    ck_assert_uint_eq(fr_system_info(s)->n_links, 2);
    ck_assert_str_eq(fr_system_info(s)->links[0].name, "fast");
    for (double bytes = 100; bytes < 1e9; bytes *= 7) {
        ck_assert_double_eq_tol(fr_system_send_s(s, 0, bytes) /
                                    (8e-6 + bytes / 200e9 * (1 + sqrt(1e6 / bytes))),
                                1, 0.03);
        ck_assert_double_eq_tol(fr_system_send_s(s, 1, bytes) / (2e-6 + bytes / 10e9), 1, 0.03);
    }
    fr_system_free(s);
    remove(path);
}
END_TEST

/* ---- errors of parameters ---- */

struct mean {
    const double *values;
    size_t n;
};

static void refit_mean(void *user, const uint32_t draws[], double parameters[])
{
    const struct mean *m = user;
    double sum = 0, n = 0;

    for (size_t i = 0; i < m->n; i++) {
        sum += draws[i] * m->values[i];
        n += draws[i];
    }
    parameters[0] = sum / n;
}

START_TEST(the_bootstrap_of_a_mean_is_its_standard_error)
{
    /* 0, 1, ... 99: deviation sqrt((100^2 - 1) / 12) = 28.87, of the mean of 100 2.887; every value four
     * times tells no more when the four are drawn together, but twice as much when not */
    double values[400], one = 0, together = 0, apart = 0, start = 49.5;
    uint64_t hashes[400];
    struct mean m = {values, 100};
    struct fr_error err;

    for (size_t i = 0; i < 400; i++) {
        values[i] = (double)(i % 100);
        hashes[i] = i % 100 * 977;
    }
    ck_assert_int_eq(fr__bootstrap(100, NULL, 2000, refit_mean, &m, 1, &start, &one, &err), FR_OK);
    m.n = 400;
    ck_assert_int_eq(fr__bootstrap(400, hashes, 2000, refit_mean, &m, 1, &start, &together, &err),
                     FR_OK);
    ck_assert_int_eq(fr__bootstrap(400, NULL, 2000, refit_mean, &m, 1, &start, &apart, &err),
                     FR_OK);
    ck_assert_double_eq_tol(one, 2.887, 0.15);
    ck_assert_double_eq_tol(together, 2.887, 0.15);
    ck_assert_double_eq_tol(apart, 1.443, 0.08);
}
END_TEST

START_TEST(numbers_are_rounded_to_five_digits)
{
    ck_assert_double_eq(fr__round_digits(1.23456789e-7), 1.2346e-7);
    ck_assert_double_eq(fr__round_digits(123456789), 123460000);
    ck_assert_double_eq(fr__round_digits(0), 0);
}
END_TEST

/* ---- files ---- */

START_TEST(a_system_reads_back_to_the_same_times)
{
    struct fr_system made = truth(_i), *s;
    const char *path = scratch();
    struct fr_error err;

    strcpy(made.info.name, "it's S");
    ck_assert_int_eq(fr_system_write(&made, path, &err), FR_OK);
    ck_assert_msg(fr_system_load(&s, path, &err) == FR_OK, "%s", err.text);
    ck_assert_str_eq(fr_system_info(s)->name, "it's S");
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++)
        ck_assert_double_eq(time_s(s, (enum fr_system_op)op, 5, 12345678, true),
                            time_s(&made, (enum fr_system_op)op, 5, 12345678, true));
    fr_system_free(s);
    remove(path);
}
END_TEST

START_TEST(shipped_systems_move_bytes_no_faster_than_their_links)
{
    /* bus bandwidth of one GPU's NVLink, each direction, by datasheet */
    static const struct {
        const char *name;
        double Bps;
    } links[] = {{"a100-nvswitch", 300e9}, {"b200-nvswitch", 900e9}, {"h100-nvswitch", 450e9}};

    for (size_t i = 0; i < 3; i++) {
        struct fr_system *s;
        struct fr_error err;
        double t;

        ck_assert_msg(fr_system_load(&s, links[i].name, &err) == FR_OK, "%s", err.text);
        t = time_s(s, FR_SYSTEM_ALL_GATHER, 8, 1e10, true);
        ck_assert_double_gt(t, 7.0 / 8 * 1e10 / links[i].Bps);
        ck_assert_double_lt(t, 2 * 7.0 / 8 * 1e10 / links[i].Bps);
        for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++)
            ck_assert_double_lt(fr_system_info(s)->held_out[op].median, 0.1);
        fr_system_free(s);
    }
}
END_TEST

START_TEST(shipped_systems_read_back_as_they_are_written)
{
    const char *path = scratch();

    for (size_t i = 0; fr_system_shipped(i); i++) {
        struct fr_system *s, *again;
        struct fr_error err;

        ck_assert_msg(fr_system_load(&s, fr_system_shipped(i), &err) == FR_OK, "%s", err.text);
        ck_assert_msg(fr_system_write(s, path, &err) == FR_OK, "%s", err.text);
        ck_assert_msg(fr_system_load(&again, path, &err) == FR_OK, "%s", err.text);
        ck_assert_mem_eq(fr_system_info(s), fr_system_info(again), sizeof(struct fr_system_info));
        fr_system_free(again);
        fr_system_free(s);
    }
    remove(path);
}
END_TEST

START_TEST(shipped_systems_price_what_they_cover)
{
    for (size_t i = 0; fr_system_shipped(i); i++) {
        struct fr_system *s;
        struct fr_error err;
        unsigned n_covered = 0;

        ck_assert_msg(fr_system_load(&s, fr_system_shipped(i), &err) == FR_OK, "%s", err.text);
        for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++)
            for (unsigned nodes = 1; nodes <= 64; nodes *= 2)
                for (double bytes = 1; bytes < 1e12; bytes *= 100) {
                    double t = fr_system_time_s(s, &(struct fr_system_call){(enum fr_system_op)op,
                                                                            4 * nodes, bytes, true,
                                                                            nodes});

                    if (!fr_system_covers(s, (enum fr_system_op)op, nodes))
                        continue;
                    ck_assert_double_gt(t, 1e-6);
                    ck_assert_double_lt(t, 1e4);
                    n_covered++;
                }
        ck_assert_uint_gt(n_covered + (unsigned)fr_system_info(s)->n_links, 0);
        for (size_t link = 0; link < fr_system_info(s)->n_links; link++)
            ck_assert_double_gt(fr_system_send_s(s, link, 1e6), fr_system_send_s(s, link, 1));
        fr_system_free(s);
    }
}
END_TEST

#define HEAD "system: x\nsource: y\ndata_hash: '0123456789abcdef'\n"

static const struct {
    const char *text, *message;
} bad_files[] = {
    {"", ""},
    {"[1]\n", "system file"},
    {"system: x\nsauce: y\n", "key 'sauce' is not known"},
    {"system: x\n", "a system has 'one_node', 'several_nodes' or 'links'"},
    {"system: x\none_node: {}\n", "'source' is missing"},
    {"system: x\nsource: y\ndata_hash: '12'\none_node: {}\n", "expected 16 digits"},
    {HEAD "one_node: {gpus: 8, rows_fitted: 1, held_out: 3}\n", "held_out"},
    {HEAD "one_node: {gpus: 8, rows_fitted: 1, held_out: {}, parameters: {}}\n",
     "'ll_base_s' is missing"},
    {HEAD "one_node: {gpus: 8, rows_fitted: 1, held_out: {}, parameters: {ll_base_s: [1e-6, 0]}}\n",
     "'ll_hop_s' is missing"},
    {HEAD "one_node: {gpus: 8, rows_fitted: 1, held_out: {}, parameters: {ll_base_s: 1e-6}}\n",
     "ll_base_s"},
    {HEAD "several_nodes: {gpus: 8, nodes: 2, rows_fitted: 1, held_out: {all-to-all: {rows: 1, "
          "median: 0, p90: 0, worst: 0, bias: 0}}}\n",
     "'held_out' judges all-to-all, but no parameters are there for it"},
    {HEAD "several_nodes: {gpus: 8, nodes: 2, rows_fitted: 1, held_out: {all-gather: {rows: 1, "
          "median: 0, p90: 0, worst: 0, bias: 0}}, choice: {near_Bps: 1e9, tree_near_Bps: 1e9, "
          "far_Bps: 1e9, ll128: false}, ring_ll128: {base_s: [1e-6, 0], far_hop_s: [1e-6, 0], "
          "near_hop_s: [1e-6, 0], Bps: [1e9, 0]}}\n",
     "'held_out' judges all-gather, but no parameters are there for it"},
    {HEAD
     "several_nodes: {gpus: 8, nodes: 2, rows_fitted: 1, held_out: {}, choice: {near_Bps: 0}}\n",
     "near_Bps"},
    {HEAD "several_nodes: {gpus: 8, nodes: 2, rows_fitted: 1, held_out: {}, ring_ll: {chunk_bytes: "
          "[1, 0]}}\n",
     "chunk_bytes"},
    {"system: x\nlinks: 3\n", "links"},
    {"system: x\nlinks: [{link: y, sauce: z}]\n", "'sauce'"},
};

START_TEST(a_bad_system_file_is_refused)
{
    struct fr_system *s;
    struct fr_error err = {.text = ""};

    ck_assert_int_ne(fr_system_read(&s, bad_files[_i].text, strlen(bad_files[_i].text), "t", &err),
                     FR_OK);
    ck_assert_msg(strstr(err.text, bad_files[_i].message) != NULL, "%s", err.text);
    ck_assert(err.text[0] != '\0');
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("calibrate_system");

    tcase_add_test(tc, a_ring_takes_its_steps_and_its_share_of_the_bytes);
    tcase_add_test(tc, two_equal_ways_take_a_twelfth_less_than_one);
    tcase_add_test(tc, the_switch_sums_for_all_reduces_of_three_gpus_and_formats_it_knows);
    tcase_add_test(tc, one_gpu_waits_for_nobody);
    tcase_add_test(tc, rows_of_others_and_forced_ones_are_passed_over);
    tcase_add_loop_test(tc, a_bad_row_is_refused_with_its_place, 0,
                        sizeof(bad_rows) / sizeof(bad_rows[0]));
    tcase_add_loop_test(tc, a_fit_finds_the_machine_that_made_the_rows, 0, 2);
    tcase_add_test(tc, too_few_rows_make_no_system);
    tcase_add_test(tc, a_ring_over_nodes_has_far_and_near_steps);
    tcase_add_test(tc, a_tree_over_nodes_passes_chunks_up_and_down_its_depth);
    tcase_add_test(tc, an_all_to_all_over_nodes_waits_for_what_leaves_them);
    tcase_add_test(tc, nccl_takes_low_latency_for_little_and_simple_for_much);
    tcase_add_test(tc, a_fit_over_nodes_predicts_what_made_the_rows);
    tcase_add_test(tc, messages_are_those_between_two_gpus_one_way);
    tcase_add_loop_test(tc, a_bad_message_is_refused_with_its_place, 0,
                        sizeof(bad_messages) / sizeof(bad_messages[0]));
    tcase_add_test(tc, a_fit_of_a_link_finds_its_latency_and_bandwidth);
    tcase_add_test(tc, the_bootstrap_of_a_mean_is_its_standard_error);
    tcase_add_test(tc, numbers_are_rounded_to_five_digits);
    tcase_add_loop_test(tc, a_system_reads_back_to_the_same_times, 0, 2);
    tcase_add_test(tc, shipped_systems_read_back_as_they_are_written);
    tcase_add_test(tc, shipped_systems_price_what_they_cover);
    tcase_add_test(tc, shipped_systems_move_bytes_no_faster_than_their_links);
    tcase_add_loop_test(tc, a_bad_system_file_is_refused, 0,
                        sizeof(bad_files) / sizeof(bad_files[0]));
    return run_case(tc, "calibrate_system");
}
