/* tests/workloads/test_load.c - which workload a name stands for. */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/native_case.h"

#include <check.h>
#include <string.h>

TEST(an_unknown_name_gets_the_nearest_model)
{
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_int_eq(fr_workload_load(&g, "vgg91", NULL, &err), FR_ENOENT);
    ck_assert_ptr_eq(strstr(err.text, "no model, folder or file named 'vgg91', did you mean 'vgg1"),
                     err.text);
    ck_assert_int_eq(fr_workload_load(&g, "some/where/else", NULL, &err), FR_ENOENT);
    ck_assert_str_eq(err.text, "no model, folder or file named 'some/where/else'");
}

TEST(a_file_of_no_known_format_is_refused)
{
    struct native_case c;
    struct fr_graph *g = NULL;
    struct fr_error err;
    char path[128];

    native_case_make(&c);
    native_case_write(&c, "ops.csv", "nothing of interest\n");
    native_case_path(&c, "ops.csv", path, sizeof(path));
    ck_assert_int_eq(fr_workload_load(&g, path, NULL, &err), FR_EPARSE);
    ck_assert_str_eq(err.text, "no workload format that is known here (PipeDream profile "
                               "(graph.txt), task graph (CSV with task,time,after), standard task "
                               "graph (.stg), Pegasus workflow (DAX), WfCommons workflow (JSON), "
                               "Hugging Face config.json); a native workload is a folder");
    native_case_write(&c, "ops.csv", "");
    ck_assert_int_eq(fr_workload_load(&g, path, NULL, &err), FR_EPARSE);
    ck_assert_str_eq(err.text, "the file is empty");
    native_case_remove(&c);
    ck_assert_int_eq(fr_workload_load(&g, "/dev/null", NULL, &err), FR_EPARSE);
}

TEST(what_is_recorded_has_one_precision_and_length)
{
    struct fr_workload_options opt = {.batch = 512, .dtype = FR_N_DTYPES};
    struct fr_graph *g = NULL;
    struct fr_error err;
    char path[1024];

    native_case_source("examples/gnmt-head", path, sizeof(path));
    ck_assert_int_eq(fr_workload_load(&g, path, &opt, &err), FR_OK);
    ck_assert_uint_eq(g->batch, 32);
    fr_graph_free(g);
    g = NULL;
    opt.dtype = FR_FP16;
    ck_assert_int_eq(fr_workload_load(&g, path, &opt, &err), FR_EUSAGE);
    opt.dtype = FR_FP32;
    opt.seq_len = 50;
    ck_assert_int_eq(fr_workload_load(&g, path, &opt, &err), FR_EUSAGE);
    ck_assert_str_eq(err.text, "workload 'gnmt-head' was recorded at sequence length 48 and cannot "
                               "be changed to 50");
    ck_assert_ptr_null(g);
}

int main(void)
{
    TCase *tc = tcase_create("load");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "workloads/load");
}
