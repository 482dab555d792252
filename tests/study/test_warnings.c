/* tests/study/test_warnings.c - what an answer warns of, and the precision that nobody asked
 * for. */
#include "config.h"

#include "results/results.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct fr_record *answer(const char *workload, const char *topology, enum fr_dtype dtype)
{
    struct fr_question q;
    struct fr_record *r = NULL;
    struct fr_error err;

    fr_question_init(&q);
    q.workload = workload;
    q.topology = topology;
    q.strategy = "dp";
    q.dtype = dtype;
    q.no_timing = true;
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

static char *print(const struct fr_record *r, bool is_json)
{
    const struct fr_results rs = {.records = &r, .n = 1};
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    if (is_json)
        fr_show_json(f, fr_shown_run(&rs));
    else
        ck_assert_int_eq(fr_show_text(f, fr_shown_run(&rs), 0, NULL), FR_OK);
    fclose(f);
    return text;
}

TEST(a_precision_without_arithmetic_is_warned_of)
{
    static const struct {
        const char *topology;
        enum fr_dtype dtype;
        const char *warning; /* NULL: none */
    } rows[] = {
        {"dgx1-v100", FR_BF16,
         "v100-sxm2-16gb has no bf16 arithmetic: matrix products run as fp32"},
        {"dgx-a100-80g", FR_FP8,
         "a100-sxm4-80gb has no fp8 arithmetic: matrix products run as bf16"},
        {"dgx1-p100", FR_TF32,
         "p100-sxm2-16gb has no tf32 arithmetic: matrix products run as fp32"},
        {"dgx1-v100", FR_AMP, NULL},
        {"dgx1-v100", FR_N_DTYPES, NULL},
        {"hgx-h100", FR_FP8, NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fr_record *r = answer("lenet", rows[i].topology, rows[i].dtype);
        char *text = print(r, false), *json = print(r, true);

        ck_assert_uint_eq(r->n_warnings, rows[i].warning != NULL);
        ck_assert(r->n_warnings == 0 || strcmp(r->warnings[0], rows[i].warning) == 0);
        ck_assert((strstr(text, "\nwarning: ") != NULL) == (rows[i].warning != NULL));
        ck_assert(rows[i].warning || strstr(json, "\"warnings\": []"));
        ck_assert(!rows[i].warning ||
                  (strstr(text, rows[i].warning) && strstr(json, rows[i].warning)));
        free(text);
        free(json);
        fr_record_free(r);
    }
}

/* NCCL's model asks for as many GPUs of each machine; rings stand in, and that is said. */
TEST(rings_for_want_of_equal_machines_are_warned_of)
{
    static const struct {
        const char *topology, *devices;
        size_t n_warnings;
    } rows[] = {{"2x hgx-h100 via ib:400Gbps", "n0.gpu0..7,n1.gpu0..3", 1},
                {"2x hgx-h100 via ib:400Gbps", "n0.gpu0..3,n1.gpu0..3", 0},
                {"2x hgx-h100 via ib:400Gbps", "n0.gpu0..2", 0},
                {"2x hgx-h100 via ib:400Gbps", "n0.gpu0,n1.gpu0,n1.gpu1", 1},
                /* a rack is one machine to NCCL: trays 0 to 17, and 18 on */
                {"2x gb200-nvl72", "n16.gpu0..3,n17.gpu0..3,n18.gpu0..3", 1},
                {"2x gb200-nvl72", "n17.gpu0..3,n18.gpu0..3", 0}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fr_question q;
        struct fr_record *r = NULL;
        struct fr_error err;

        fr_question_init(&q);
        q.workload = "lenet";
        q.topology = rows[i].topology;
        q.devices = rows[i].devices;
        q.batch_per_gpu = 2;
        q.strategy = "dp";
        ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
        ck_assert_msg(r->n_warnings == rows[i].n_warnings, "%s", rows[i].devices);
        ck_assert(r->n_warnings == 0 || strstr(r->warnings[0], "different numbers of GPUs"));
        fr_record_free(r);
    }
}

TEST(each_type_of_gpu_is_named_once)
{
    struct fr_record *r =
        answer("lenet", "1x dgx1-v100 + 1x dgx1-p100 + 1x hgx-h100 via ib:100Gbps", FR_BF16);

    ck_assert_uint_eq(r->n_warnings, 2);
    ck_assert_str_eq(r->warnings[0],
                     "v100-sxm2-16gb has no bf16 arithmetic: matrix products run as fp32");
    ck_assert_str_eq(r->warnings[1],
                     "p100-sxm2-16gb has no bf16 arithmetic: matrix products run as fp32");
    fr_record_free(r);
}

TEST(a_precision_that_nobody_asked_for_is_named_as_such)
{
    struct fr_record *own = answer("gpt3-125m", "hgx-h100", FR_N_DTYPES);
    struct fr_record *asked = answer("gpt3-125m", "hgx-h100", FR_BF16);
    struct fr_record *usual = answer("gpt2-small", "hgx-h100", FR_N_DTYPES);
    char *text = print(own, false), *same = print(asked, false), *fp32 = print(usual, false);

    ck_assert_ptr_nonnull(strstr(text, "global batch 8, bf16 by default, sgd"));
    ck_assert_ptr_nonnull(strstr(same, "global batch 8, bf16, sgd"));
    ck_assert_ptr_nonnull(strstr(fp32, "global batch 8, fp32, sgd"));
    ck_assert_double_eq(own->iteration_s, asked->iteration_s);
    free(text);
    free(same);
    free(fp32);
    fr_record_free(own);
    fr_record_free(asked);
    fr_record_free(usual);
}

int main(void)
{
    TCase *tc = tcase_create("warnings");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "warnings");
}
