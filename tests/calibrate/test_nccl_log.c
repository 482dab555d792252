/* Logs of nccl-tests: what is read of them, what is refused and where. The lines are ours, made
 * up. */
#include "config.h"

#include "calibrate/fit/read/nccl_log.h"
#include "tests/support/base_check.h"

#include <stdio.h>
#include <string.h>

#define RUN                                                                                        \
    "# nThread 1 nGpus 2 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20\n#\n"
#define RANK_0 "#  Rank  0 Group  0 Pid    7 on   node-a device  0 [0x1b] Made-up GPU 80GB\n"
#define RANK_1 "#  Rank  1 Group  0 Pid    7 on   node-a device  1 [0x2b] Made-up GPU 80GB\n"
#define HEADER                                                                                     \
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     "    \
    "time   algbw   busbw #wrong\n"                                                                \
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            "    \
    "(us)  (GB/s)  (GB/s)\n"
#define ROW "  1048576   262144  float   sum   -1    25.5  41.12  41.12   0  24.10  43.5  43.5  0\n"

static enum fr_status read_log(struct fr__collective_data *d, const char *text, const char *name,
                               struct fr_error *err)
{
    ck_assert(fr__is_nccl_log(text, strlen(text)));
    return fr__nccl_log_read(d, text, strlen(text), name, 3, err);
}

TEST(a_row_is_read_with_the_operation_the_gpus_and_the_time_out_of_place)
{
    static const char text[] = "$ mpirun ./build/all_reduce_perf -g 2\n" RUN RANK_0 RANK_1
                               "node-a:7:7 [0] NCCL INFO Bootstrap : Using eth0\n" HEADER ROW
                               "# Avg bus bandwidth    : 41.1\n12 seconds\n";
    struct fr__collective_data d = {0};
    struct fr_error err;

    ck_assert_msg(read_log(&d, text, "a.log", &err) == FR_OK, "%s", err.text);
    ck_assert_uint_eq(d.n_rows, 1);
    ck_assert_uint_eq(d.rows[0].call.op, FR_SYSTEM_ALL_REDUCE);
    ck_assert_uint_eq(d.rows[0].call.n_gpus, 2);
    ck_assert_uint_eq(d.rows[0].call.n_nodes, 1);
    ck_assert_double_eq(d.rows[0].call.bytes, 1048576);
    ck_assert_double_eq_tol(d.rows[0].time_s, 25.5e-6, 1e-18);
    ck_assert_uint_eq(d.rows[0].line, 9);
    ck_assert_uint_eq(d.rows[0].file, 3);
    ck_assert_str_eq(d.sources[0], "nccl-tests, Made-up GPU 80GB");
    fr__collective_data_fini(&d);
}

TEST(blank_redop_and_root_of_an_old_version_are_no_columns)
{
    static const char text[] = RUN
        "#   Rank  0 Pid    7 on   node-a device  0 [0x1b] Made-up GPU\n"
        "#   Rank  1 Pid    7 on   node-a device  1 [0x1c] Made-up GPU\n"
        "#       size         count    type   redop     time   algbw   busbw  error     time   "
        "algbw   busbw  error\n"
        "        1024           256   float            12.50    0.08    0.08  0e+00    11.00    "
        "0.09    0.09  0e+00\n";
    struct fr__collective_data d = {0};
    struct fr_error err;

    ck_assert_msg(read_log(&d, text, "/logs.all_reduce/h100_alltoall_2.txt", &err) == FR_OK, "%s",
                  err.text);
    ck_assert_uint_eq(d.n_rows, 1);
    ck_assert_uint_eq(d.rows[0].call.op, FR_SYSTEM_ALL_TO_ALL);
    ck_assert_double_eq_tol(d.rows[0].time_s, 12.5e-6, 1e-18);
    fr__collective_data_fini(&d);
}

TEST(a_second_run_in_a_file_has_its_own_operation_and_gpus)
{
    static const char text[] =
        "# Collective test starting: reduce_scatter_perf\n" RUN RANK_0 RANK_1 HEADER ROW
        "# Out of bounds values : 0 OK\n# Collective test concluded: reduce_scatter_perf\n"
        "# Collective test starting: all_gather_perf\n" RUN RANK_0 RANK_1
        "#  Rank  2 Group  0 Pid    7 on   node-a device  2 [0x3b] Made-up GPU 80GB\n" HEADER ROW;
    struct fr__collective_data d = {0};
    struct fr_error err;

    ck_assert_msg(read_log(&d, text, "t", &err) == FR_OK, "%s", err.text);
    ck_assert_uint_eq(d.n_rows, 2);
    ck_assert_uint_eq(d.rows[0].call.op, FR_SYSTEM_REDUCE_SCATTER);
    ck_assert_uint_eq(d.rows[0].call.n_gpus, 2);
    ck_assert_uint_eq(d.rows[1].call.op, FR_SYSTEM_ALL_GATHER);
    ck_assert_uint_eq(d.rows[1].call.n_gpus, 3);
    ck_assert(d.rows[0].hash != d.rows[1].hash);
    fr__collective_data_fini(&d);
}

/* As -b 8 -f 2 prints an all-gather: the first sizes have no byte a rank; an all-to-all in place is
 * not checked; a warning stands between rows and another tears one. */
TEST(an_ordinary_log_is_read_whole)
{
    static const char text[] =
        "# nccl-tests version 2.17.1 nccl-headers=22703 nccl-library=22703\n"
        "# Collective test starting: alltoall_perf\n" RUN RANK_0 RANK_1
        "Reducing maxBytes to 8589934592 due to memory limitation\n"
        "#                               out-of-place            in-place\n" HEADER
        "  0  0  float  none  -1  5.71  0.00  0.00  0  5.60  0.00  0.00  N/A\n"
        "  1024  128  float  none  -1  9.71  0.11  0.05  0  9.60  0.11  0.05  N/A\n"
        "\nnode-a:7:9 [1] misc/ibvwrap.cc:162 NCCL WARN Call to ibv_reg_mr failed\n"
        "  2048  256  float  none  -1  10.1  0.20  0.10  N/A  9.9  0.21  0.10  N/A\n"
        "  4096  512  float  none  -1node-a:7:9 [1] init.cc:9 NCCL WARN slow\n"
        "  12  0.34  0.17  0  12  0.34  0.17  N/A\n"
        "  8192  1024  float  none  -1  14.1  0.58  0.29  0  14.0  0.58  0.29  N/A\n"
        "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.2\n";
    struct fr__collective_data d = {0};
    struct fr_error err;

    ck_assert_msg(read_log(&d, text, "t", &err) == FR_OK, "%s", err.text);
    ck_assert_uint_eq(d.n_rows, 3);
    ck_assert_double_eq(d.rows[0].call.bytes, 1024);
    ck_assert_double_eq(d.rows[1].call.bytes, 2048);
    ck_assert_double_eq(d.rows[2].call.bytes, 8192);
    ck_assert_uint_eq(d.rows[2].call.op, FR_SYSTEM_ALL_TO_ALL);
    fr__collective_data_fini(&d);
}

TEST(a_launcher_s_tag_before_each_line_is_dropped)
{
    static const char *const tags[] = {"[1,0]<stdout>:", "0: ", "[12,345]<stderr>: "};
    static const char *const lines[] = {
        "all_reduce_perf -g 2",
        "# nThread 1 nGpus 2 minBytes 8 maxBytes 64",
        "#  Rank  0 Group  0 Pid    7 on   node-a device  0 [0x1b] G",
        "#  Rank  1 Group  0 Pid    7 on   node-a device  1 [0x2b] G",
        "#   size   count   type   redop   root   time   algbw   busbw #wrong",
        "  1048576   262144  float   sum   -1    25.5  41.12  41.12   0"};

    for (size_t k = 0; k < sizeof(tags) / sizeof(tags[0]); k++) {
        struct fr__collective_data d = {0};
        struct fr_error err;
        char text[1024] = "";

        for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
            strcat(text, tags[k]);
            strcat(text, lines[i]);
            strcat(text, "\n");
        }
        ck_assert_msg(read_log(&d, text, "t", &err) == FR_OK, "%s: %s", tags[k], err.text);
        ck_assert_uint_eq(d.n_rows, 1);
        ck_assert_double_eq_tol(d.rows[0].time_s, 25.5e-6, 1e-18);
        fr__collective_data_fini(&d);
    }
}

/* As kubectl logs --prefix --timestamps and mpirun of Open MPI 5 print it, each line with its own
 * time or rank; lines of another program between them have it too. */
TEST(a_prefix_before_each_line_is_dropped)
{
    static const char *const around[][2] = {
        {"[prterun-node-a-77@1,", "]<stdout>: "},
        {"2026-01-02T03:04:0", ".5Z "},
        {"[pod/launcher-", "/main] "},
        {"launcher-", ": "},
        {"2026-01-02T03:04:0", ".5Z stdout F "},
    };
    static const char *const parts[] = {
        "# Collective test starting: all_reduce_perf\n",  RUN, RANK_0, RANK_1, HEADER,
        "node-a:7:7 [0] NCCL INFO Connected all rings\n", ROW, ROW,
    };

    for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++) {
        struct fr__collective_data d = {0};
        struct fr_error err;
        char text[4096];
        size_t n = 0;

        for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
            for (const char *at = parts[k], *next; *at; at = next) {
                next = strchr(at, '\n') + 1;
                n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%zu%s%.*s", around[i][0], k,
                                      around[i][1], (int)(next - at), at);
            }
        ck_assert_msg(read_log(&d, text, "a.log", &err) == FR_OK, "%s: %s", around[i][0], err.text);
        ck_assert_msg(d.n_rows == 2, "%s: %zu rows", around[i][0], d.n_rows);
        ck_assert_uint_eq(d.rows[0].call.n_gpus, 2);
        ck_assert_double_eq_tol(d.rows[1].time_s, 25.5e-6, 1e-18);
        fr__collective_data_fini(&d);
    }
}

/* A job that was killed: what stands before the row that it was writing is read. */
TEST(a_row_in_which_the_file_ends_is_passed_over)
{
    static const char whole[] = "# all_reduce_perf\n" RUN RANK_0 RANK_1 HEADER ROW ROW;
    const size_t n = sizeof(whole) - 1, row = sizeof(ROW) - 1;

    for (size_t left = 0; left <= row; left++) {
        struct fr__collective_data d = {0};
        char text[2048];
        struct fr_error err;

        snprintf(text, sizeof(text), "%.*s%s", (int)(n - row + left), whole,
                 left % 2 == 0 || left == row ? "" : "\n");
        ck_assert_msg(read_log(&d, text, "a.log", &err) == FR_OK, "%zu bytes: %s", left, err.text);
        ck_assert_uint_eq(d.n_rows, left + 1 >= row ? 2 : 1); /* all but its end of line */
        fr__collective_data_fini(&d);
    }
}

TEST(ranks_on_two_hosts_are_on_two_nodes)
{
    static const char text[] =
        "all_reduce_perf\n" RUN RANK_0
        "#  Rank  1 Group  0 Pid    7 on   node-b device  0 [0x1b] G\n" HEADER ROW;
    struct fr__collective_data d = {0};
    struct fr_error err;

    ck_assert_msg(read_log(&d, text, "t", &err) == FR_OK, "%s", err.text);
    ck_assert_uint_eq(d.n_rows, 1);
    ck_assert_uint_eq(d.rows[0].call.n_gpus, 2);
    ck_assert_uint_eq(d.rows[0].call.n_nodes, 2);
    fr__collective_data_fini(&d);
}

TEST(what_no_model_prices_is_passed_over)
{
    static const char *const texts[] = {
        "sendrecv_perf\n" RUN RANK_0 RANK_1 HEADER ROW, /* another operation */
        "all_reduce_perf\n" RUN RANK_0 HEADER ROW,      /* one GPU: built without MPI */
        "all_reduce_perf\n" RUN RANK_0 RANK_1 HEADER
        "  0  0  float   sum   -1    5.70  0.00  0.00   0  24.10  43.5  43.5  0\n",
        "all_reduce_perf\n" RUN RANK_0 RANK_1 HEADER, /* ended early */
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct fr__collective_data d = {0};
        struct fr_error err;

        ck_assert_msg(read_log(&d, texts[i], "t", &err) == FR_OK, "%s", err.text);
        ck_assert_uint_eq(d.n_rows, 0);
        fr__collective_data_fini(&d);
    }
}

TEST(a_control_character_in_a_gpu_s_name_becomes_a_question_mark)
{
    static const char text[] =
        "all_reduce_perf\n" RUN
        "#  Rank  0 Group  0 Pid 7 on node-a device  0 [0x1b] G\033[31m\xff 1\r\n" RANK_1 HEADER
            ROW;
    struct fr__collective_data d = {0};
    struct fr_error err;

    ck_assert_msg(read_log(&d, text, "t", &err) == FR_OK, "%s", err.text);
    ck_assert_str_eq(d.sources[0], "nccl-tests, G?[31m? 1");
    fr__collective_data_fini(&d);
}

#define GOOD "all_reduce_perf\n" RUN RANK_0 RANK_1

static const struct {
    const char *text, *message;
} bad_logs[] = {
    {RUN RANK_0 RANK_1 HEADER ROW,
     "t:5:9: nothing before this table names the program that made it (all_reduce_perf ...): name "
     "the file after it"},
    {"all_reduce_perf\n" RUN HEADER ROW,
     "t:4:9: a table without '# Rank' lines before it: how many GPUs were there?"},
    {GOOD HEADER "  1048576   262144  float   sum   -1    25.5\n",
     "t:8:3: a row of 6 words in a table of 13"},
    {GOOD HEADER "  8 2  float   sum -1  fast  41.12  41.12   0  24.10  43.5  43.5  0\n",
     "t:8:24: 'time' is \"fast\", not a number"},
    {GOOD HEADER "  8 2  float   sum -1  inf  41.12  41.12   0  24.10  43.5  43.5  0\n",
     "t:8:24: 'time' is \"inf\", not a number"},
    {GOOD HEADER "  99999999999999999999 2  float   sum -1  1  1  1  0  1  1  1  0\n",
     "t:8:3: 'size' is \"99999999999999999999\", expected a number from 0 to 1e+15"},
    {GOOD HEADER "  8 2  float   sum -1  1  1  1  12  1  1  1  0\n",
     "t:8:33: this run computed wrong results"},
    {GOOD "# size count time\n",
     "t:6:3: expected the columns of nccl-tests: size, count, type, ..., time, ..."},
    {"all_reduce_perf\n" RUN RANK_1 HEADER ROW, "t:4:10: rank 1, expected 0: a line is missing"},
    {RUN "# Rank x\n", "t:3:8: the rank is \"x\", not a whole number"},
    {RUN "# Rank\n", "t:3:3: a rank line without a number"},
    {RUN "# Rank 0 Group 1 Pid 7 on a device 0 [0x1b] G\n",
     "t:3:10: ranks in several groups (NCCL_TESTS_SPLIT) measure several collectives at once"},
    {RUN "# Rank 0 Group 0 Pid 7\n",
     "t:3:3: expected a rank line of nccl-tests: 'Rank K ... on HOST device D [BUS] GPU'"},
};

LOOP_TEST(a_bad_log_is_refused_with_its_place, 0, sizeof(bad_logs) / sizeof(bad_logs[0]))
{
    struct fr__collective_data d = {0};
    struct fr_error err = {.text = ""};

    ck_assert_int_ne(read_log(&d, bad_logs[_i].text, "t", &err), FR_OK);
    assert_message(&err, bad_logs[_i].message);
    fr__collective_data_fini(&d);
}

TEST(a_zero_byte_is_refused)
{
    static const char text[] = "# nThread 1\n# Rank 0\0 Group\n";
    struct fr__collective_data d = {0};
    struct fr_error err;

    ck_assert_int_eq(fr__nccl_log_read(&d, text, sizeof(text) - 1, "t", 0, &err), FR_EPARSE);
    assert_message(&err, "t:2:1: a byte that is 0: this is no text");
    fr__collective_data_fini(&d);
}

TEST(only_logs_are_taken_for_logs)
{
    static const char csv[] = "source,system,gpus,nodes,op,bytes,dtype,algorithm,protocol,time_us\n"
                              "# Rank,S,8,1,all_reduce,1024,float16,auto,auto,10\n";

    ck_assert(!fr__is_nccl_log("", 0));
    ck_assert(!fr__is_nccl_log(csv, strlen(csv)));
    ck_assert(!fr__is_nccl_log("#  Ran", 6));
}

/* tests/oracles/nccl_log/madeup.txt says what its times are: 12 us + 1.5 us a step + an eighth
 * of the bytes a step at 200 GB/s. */
TEST(a_fit_to_a_log_finds_the_formula_that_made_its_times)
{
    const char *srcdir = getenv("srcdir"), *paths[1];
    struct fr_system *s;
    struct fr_error err;
    char path[512];

    snprintf(path, sizeof(path), "%s/tests/oracles/nccl_log/madeup.txt", srcdir ? srcdir : ".");
    paths[0] = path;
    ck_assert_msg(fr_system_fit(&s, "mine", paths, 1, &err) == FR_OK, "%s", err.text);
    ck_assert_str_eq(fr_system_info(s)->source, "nccl-tests, Made-up GPU");
    ck_assert_uint_eq(fr_system_info(s)->most_gpus, 8);
    for (unsigned op = 0; op < FR_N_SYSTEM_OPS; op++)
        for (double bytes = 100; bytes < 4e9; bytes *= 7) {
            double steps = op == FR_SYSTEM_ALL_REDUCE ? 14 : 7;
            double t = fr_system_time_s(
                s, &(struct fr_system_call){(enum fr_system_op)op, 8, bytes, true, 1});

            ck_assert_double_eq_tol(t / (12e-6 + 1.5e-6 * steps + steps * bytes / 8 / 200e9), 1,
                                    0.03);
        }
    fr_system_free(s);
}

int main(void)
{
    TCase *tc = tcase_create("calibrate_nccl_log");

    add_tests(tc);
    return run_case(tc, "calibrate_nccl_log");
}
