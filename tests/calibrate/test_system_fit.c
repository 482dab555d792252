/* tests/calibrate/test_system_fit.c - measured rows of collectives and messages, and fits to them.
 *
 * Apart from test_system.c, which works out by hand what a system says.
 */
#include "config.h"

#include "calibrate/fit/read/collective_data.h"
#include "calibrate/fit/fitting.h"
#include "tests/support/base_check.h"
#include "tests/support/system_case.h"
#include "base/round.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- data ---- */

#define HEADER "source,system,gpus,nodes,op,bytes,dtype,algorithm,protocol,time_us\n"

TEST(rows_of_others_and_forced_ones_are_passed_over)
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

static const struct {
    const char *row, *message;
} bad_rows[] = {
    {"x,S,eight,1,all_reduce,1024,float16,auto,auto,10\n", "'gpus' is \"eight\""},
    {"x,S,2,4,all_reduce,1024,float16,auto,auto,10\n", "4 nodes have only 2 GPUs in all"},
    {"x,S,8,0,all_reduce,1024,float16,auto,auto,10\n", "'nodes' is \"0\""},
    {"x,S,8,1,all_reduce,-5,float16,auto,auto,10\n", "'bytes' is \"-5\""},
    {"x,S,8,1,all_reduce,1024,float16,auto,auto,nan\n", "'time_us' is \"nan\""},
    {"x,S,8,1,all_reduce,1024,float16,auto,auto,0\n", "'time_us' is \"0\""},
    {"x,S,8\n", ""},
};

LOOP_TEST(a_bad_row_is_refused_with_its_place, 0, sizeof(bad_rows) / sizeof(bad_rows[0]))
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

/* ---- fit ---- */

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
                            1e6 * system_case_s(s, (enum fr_system_op)op, n, bytes, !is_int8));
    fclose(f);
}

LOOP_TEST(a_fit_finds_the_machine_that_made_the_rows, 0, 2)
{
    struct fr_system made = system_case_one_node(_i), *s;
    const char *path = system_case_path();
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
            ck_assert_double_eq_tol(system_case_s(s, (enum fr_system_op)op, 6, bytes, true) /
                                        system_case_s(&made, (enum fr_system_op)op, 6, bytes, true),
                                    1, 0.1);
    }
    fr_system_free(s);
    remove(path);
}

/* A plateau of two octaves that no protocol explains; held-out sizes in it are predicted too. */
TEST(what_the_constants_miss_around_some_sizes_is_corrected_there)
{
    struct fr_system made = system_case_one_node(0), *s;
    const char *path = system_case_path();
    struct fr_error err;
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    fputs(HEADER, f);
    for (unsigned n = 2; n <= 8; n *= 2)
        for (double bytes = 1024; bytes < 2e9; bytes *= sqrt(2)) {
            double slow = bytes > 3e6 && bytes < 2e7 ? 1.3 : 1;

            fprintf(f, "x,S,%u,1,all_reduce,%.0f,float16,auto,auto,%.6f\n", n, floor(bytes),
                    1e6 * slow * system_case_s(&made, FR_SYSTEM_ALL_REDUCE, n, floor(bytes), true));
        }
    fclose(f);
    ck_assert_msg(fr_system_fit(&s, "S", &path, 1, &err) == FR_OK, "%s", err.text);
    ck_assert_uint_eq(fr_system_info(s)->n_corrections, 3);
    ck_assert_double_lt(fr_system_info(s)->held_out[FR_SYSTEM_ALL_REDUCE].p90, 0.15);
    for (unsigned n = 2; n <= 8; n *= 2) {
        ck_assert_double_eq_tol(system_case_s(s, FR_SYSTEM_ALL_REDUCE, n, 7.5e6, true) /
                                    system_case_s(&made, FR_SYSTEM_ALL_REDUCE, n, 7.5e6, true),
                                1.3, 0.07);
        ck_assert_double_eq_tol(system_case_s(s, FR_SYSTEM_ALL_REDUCE, n, 5e8, true) /
                                    system_case_s(&made, FR_SYSTEM_ALL_REDUCE, n, 5e8, true),
                                1, 0.05);
    }
    fr_system_free(s);
    remove(path);
}

/* What -b 8 -e 8G -f 2 prints: 31 rows of one collective on one number of GPUs, the held-out ones
 * among them, whatever the operation and number. */
LOOP_TEST(one_sweep_of_nccl_tests_makes_a_system, 0, 12)
{
    static const char *const ops[] = {"all_reduce", "all_gather", "reduce_scatter", "alltoall"};
    struct fr_system made = system_case_one_node(0), *s;
    const char *path = system_case_path();
    struct fr_error err;
    unsigned op = (unsigned)_i % 4, n = 2u << _i / 4;
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    fputs(HEADER, f);
    for (double bytes = 8; bytes <= 8.0 * (1 << 30); bytes *= 2)
        fprintf(f, "x,S,%u,1,%s,%.0f,float32,auto,auto,%.6f\n", n, ops[op], bytes,
                1e6 * system_case_s(&made, (enum fr_system_op)op, n, bytes, true));
    fclose(f);
    ck_assert_msg(fr_system_fit(&s, "S", &path, 1, &err) == FR_OK, "%s", err.text);
    ck_assert_double_eq_tol(system_case_s(s, (enum fr_system_op)op, n, 1e6, true) /
                                system_case_s(&made, (enum fr_system_op)op, n, 1e6, true),
                            1, 0.1);
    fr_system_free(s);
    remove(path);
}

TEST(too_few_rows_make_no_system)
{
    const char *path = system_case_path();
    struct fr_system *s;
    struct fr_error err;
    FILE *f = fopen(path, "w");

    fputs(HEADER "x,S,8,1,all_reduce,1024,float16,auto,auto,10\n", f);
    fclose(f);
    ck_assert_int_eq(fr_system_fit(&s, "S", &path, 1, &err), FR_ENOENT);
    ck_assert_ptr_nonnull(strstr(err.text, "too few rows of 'S' to fit"));
    remove(path);
}

/* ---- fit over several nodes ---- */

static const double made_ways[FR_N_SYSTEM_WAYS][FR_SYSTEM_WAY_PARAMETERS] = {
    [FR_SYSTEM_TREE_LL] = {8e-6, 7e-6, 0.5e-6, 5e9, 20e3, 1e9},
    [FR_SYSTEM_TREE_SIMPLE] = {10e-6, 20e-6, 4e-6, 90e9, 1e6, 30e9},
    [FR_SYSTEM_RING_LL] = {8e-6, 3e-6, 1e-6, 6e9},
    [FR_SYSTEM_RING_SIMPLE] = {10e-6, 15e-6, 3e-6, 100e9}};

static struct fr_system made_nodes(void)
{
    struct fr_system s = {.info = {.nodes = system_case_nodes()}};

    s.info.nodes.has_way[FR_SYSTEM_TREE_LL128] = s.info.nodes.has_way[FR_SYSTEM_RING_LL128] = false;
    memcpy(s.info.nodes.ways, made_ways, sizeof(made_ways));
    s.info.nodes.has_all_to_all = true;
    memcpy(s.info.nodes.all_to_all, (const double[]){20e-6, 0.5e-6, 20e9, 100e3, 0.5},
           5 * sizeof(double));
    return s;
}

TEST(a_fit_over_nodes_predicts_what_made_the_rows)
{
    static const char *const ops[] = {"all_reduce", "all_gather", "reduce_scatter", "alltoall"};
    struct fr_system made = made_nodes(), *s;
    const char *path = system_case_path();
    struct fr_error err;
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    fputs(HEADER, f);
    for (unsigned op = 0; op < 4; op++)
        for (unsigned nodes = 2; nodes <= 32; nodes *= 2)
            for (double bytes = 256; bytes < 5e9; bytes *= 2) {
                struct fr_system_call c =
                    system_case_over_nodes((enum fr_system_op)op, 4 * nodes, nodes, bytes);

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

/* ---- links ---- */

#define MESSAGES "source,system,gpu,src,dst,link,bytes,bandwidth_GBps,latency_us,notes\n"

TEST(messages_are_those_between_two_gpus_one_way)
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

static const struct {
    const char *row, *message;
} bad_messages[] = {
    {"x,S,G,gpu0,gpu1,NVLink,-1,2,,\n", "'bytes' is \"-1\""},
    {"x,S,G,gpu0,gpu1,NVLink,1000,0,,\n", "'bandwidth_GBps' is \"0\""},
    {"x,S,G,gpu0,gpu1,NVLink,1e15,1e-9,,\n", "over 1e12 us"},
    {"x,S,G,gpu0,gpu1,NVLink,1000,2,inf,\n", "'latency_us' is \"inf\""},
};

LOOP_TEST(a_bad_message_is_refused_with_its_place, 0,
          sizeof(bad_messages) / sizeof(bad_messages[0]))
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

TEST(a_fit_of_a_link_finds_its_latency_and_bandwidth)
{
    struct fr_system *s;
    const char *path = system_case_path();
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

/* ---- errors of parameters ---- */

struct mean {
    const double *values;
    size_t n;
};

static bool refit_mean(void *user, const uint32_t draws[], double parameters[])
{
    const struct mean *m = user;
    double sum = 0, n = 0;

    for (size_t i = 0; i < m->n; i++) {
        sum += draws[i] * m->values[i];
        n += draws[i];
    }
    parameters[0] = sum / n;
    return true;
}

TEST(the_bootstrap_of_a_mean_is_its_standard_error)
{
    /* 0, 1, ... 99: deviation sqrt((100^2 - 1) / 12) = 28.87, of the mean of 100 2.887; every value
     * four times tells no more when the four are drawn together, but twice as much when not */
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

TEST(numbers_are_rounded_to_five_digits)
{
    ck_assert_double_eq(fr__round_digits(1.23456789e-7), 1.2346e-7);
    ck_assert_double_eq(fr__round_digits(123456789), 123460000);
    ck_assert_double_eq(fr__round_digits(0), 0);
}

int main(void)
{
    TCase *tc = tcase_create("calibrate_system_fit");

    add_tests(tc);
    return run_case(tc, "calibrate_system_fit");
}
