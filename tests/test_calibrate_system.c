/* Collectives inside a machine: the model by hand, data, fits, system files. */
#include "config.h"

#include "calibrate/collective_data.h"
#include "calibrate/system_model.h"
#include "tests/base_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* LL128 and Simple, and the large way of all-to-all, are 1000 times slower: their 8th powers vanish. */
static struct fr_system one_way(void)
{
    return (struct fr_system){
        .info = {.most_gpus = 8,
                 .parameters = {10e-6, 1e-6, 100e9, 10e-3, 1e-3, 1e8, 10e-3, 1e-3, 1e8, 0, 0, 5e-6,
                                2e-6, 50e9, 10e-3, 1e-3, 1e8}}};
}

static double time_s(const struct fr_system *s, enum fr_system_op op, unsigned n, double bytes,
                     bool is_summed)
{
    return fr_system_time_s(s, &(struct fr_system_call){op, n, bytes, is_summed});
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

START_TEST(rows_of_others_of_several_nodes_and_forced_ones_are_passed_over)
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
    ck_assert_uint_eq(d.n_rows, 2);
    ck_assert_uint_eq(d.n_sources, 2);
    ck_assert_uint_eq(d.rows[1].call.op, FR_SYSTEM_ALL_TO_ALL);
    ck_assert_uint_eq(d.rows[1].call.n_gpus, 4);
    ck_assert_double_eq(d.rows[1].call.bytes, 2048);
    ck_assert(d.rows[0].call.is_summed_in_switch && !d.rows[1].call.is_summed_in_switch);
    ck_assert_double_eq_tol(d.rows[1].time_s, 20e-6, 1e-18);
    ck_assert_uint_eq(d.rows[1].line, 10);
    ck_assert(d.rows[0].hash != d.rows[1].hash);
    fr__collective_data_fini(&d);
}
END_TEST

static const struct {
    const char *row, *message;
} bad_rows[] = {
    {"x,S,eight,1,all_reduce,1024,float16,auto,auto,10\n", "'gpus' is \"eight\""},
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
    ck_assert_ptr_nonnull(strstr(err.text, "0 rows to fit for 'S'"));
    remove(path);
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

    for (size_t i = 0; fr_system_shipped(i); i++) {
        struct fr_system *s;
        struct fr_error err;
        double t;

        ck_assert_str_eq(fr_system_shipped(i), links[i].name);
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

static const struct {
    const char *text, *message;
} bad_files[] = {
    {"", ""},
    {"[1]\n", "system file"},
    {"system: x\nsauce: y\n", "key 'sauce' is not known"},
    {"system: x\n", "'source' is missing"},
    {"system: x\nsource: y\ndata_hash: '12'\n", "expected 16 digits"},
    {"system: x\nsource: y\ndata_hash: '0123456789abcdef'\nrows_fitted: 1\ngpus: 8\nheld_out: 3\n",
     "held_out"},
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
    tcase_add_test(tc, rows_of_others_of_several_nodes_and_forced_ones_are_passed_over);
    tcase_add_loop_test(tc, a_bad_row_is_refused_with_its_place, 0,
                        sizeof(bad_rows) / sizeof(bad_rows[0]));
    tcase_add_loop_test(tc, a_fit_finds_the_machine_that_made_the_rows, 0, 2);
    tcase_add_test(tc, too_few_rows_make_no_system);
    tcase_add_loop_test(tc, a_system_reads_back_to_the_same_times, 0, 2);
    tcase_add_test(tc, shipped_systems_move_bytes_no_faster_than_their_links);
    tcase_add_loop_test(tc, a_bad_system_file_is_refused, 0,
                        sizeof(bad_files) / sizeof(bad_files[0]));
    return run_case(tc, "calibrate_system");
}
