/* tests/study/test_comm.c - a collective over a range of sizes: the sizes, number formats, links
 * and refusals of forerun comm. */
#include "config.h"

#include "study/comm/comm.h"
#include "tests/support/base_check.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static struct fr_comm_question question(const char *topology, const char *kind)
{
    return (struct fr_comm_question){
        .topology = topology, .kind = kind, .min_bytes = 1024, .max_bytes = 4096, .factor = 2};
}

static struct fr_comm_table *table_of(const struct fr_comm_question *q)
{
    struct fr_comm_table *t = NULL;
    struct fr_error err = {.text = ""};

    ck_assert_msg(fr_comm(&t, q, NULL, &err) == FR_OK, "%s", err.text);
    return t;
}

TEST(sizes_go_by_factor_by_step_or_from_a_list)
{
    static const uint64_t list[] = {7, 5};
    static const struct {
        uint64_t step, expected[5];
        size_t n, n_list;
    } cases[] = {
        {0, {1024, 2048, 4096}, 3, 0}, {1000, {1024, 2024, 3024, 4024}, 4, 0}, {0, {7, 5}, 2, 2}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_comm_question q = question("hgx-h100", "all-reduce");
        struct fr_comm_table *t;

        q.step_bytes = cases[i].step;
        q.sizes = cases[i].n_list ? list : NULL;
        q.n_sizes = cases[i].n_list;
        t = table_of(&q);
        ck_assert_uint_eq(t->n_rows, cases[i].n);
        for (size_t k = 0; k < t->n_rows; k++)
            ck_assert_uint_eq(t->rows[k].bytes, cases[i].expected[k]);
        fr_comm_free(t);
    }
}

TEST(nvls_is_not_chosen_for_a_format_that_the_switch_cannot_add)
{
    struct fr_comm_question q = question("hgx-h100", "all-reduce");
    struct fr_comm_table *t;
    struct fr_error err;

    q.min_bytes = q.max_bytes = (uint64_t)1 << 28;
    t = table_of(&q);
    ck_assert_str_eq(t->rows[0].algorithm, "NVLS");
    fr_comm_free(t);
    ck_assert_int_eq(fr_comm_type_named("int8", &q.type, &err), FR_OK);
    t = table_of(&q);
    ck_assert_str_eq(t->rows[0].algorithm, "Ring");
    fr_comm_free(t);
    ck_assert_int_eq(fr_comm_type_named("floot", &q.type, &err), FR_EUSAGE);
    ck_assert_msg(strstr(err.text, "did you mean 'float'?") != NULL, "%s", err.text);
}

/* By hand: 4 GPUs in one ring move 2 * 3 / 4 of the bytes over each GPU's way to the switch, which
 * is 1.5 MiB / 375 GB/s of the time. */
TEST(the_busiest_link_is_the_one_in_use_for_most_of_the_time)
{
    struct fr_comm_question q = question("hgx-h100", "all-reduce");
    struct fr_comm_table *t;

    q.n_gpus = 4;
    q.min_bytes = q.max_bytes = 1 << 20;
    q.way.algorithm = "ring";
    t = table_of(&q);
    ck_assert_uint_ne(t->rows[0].busiest, FR_NONE);
    ck_assert_str_eq(t->links[t->rows[0].busiest], "n0.gpu0>n0.nvswitch0-3");
    ck_assert_double_eq_tol(t->rows[0].busiest_frac, 1.5 * (1 << 20) / 375e9 / t->rows[0].time_s,
                            1e-6);
    fr_comm_free(t);
}

TEST(an_explanation_is_of_the_largest_size_with_its_links_and_rounds)
{
    struct fr_comm_question q = question("dgx1-v100", "all-reduce");
    struct fr_comm_explanation *s = NULL;
    struct fr_error err = {.text = ""};

    q.n_gpus = 4;
    ck_assert_msg(fr_comm_explain(&s, &q, NULL, &err) == FR_OK, "%s", err.text);
    ck_assert_uint_eq(s->table->n_rows, 1);
    ck_assert_uint_eq(s->table->rows[0].bytes, 4096);
    ck_assert_ptr_nonnull(s->steps);
    ck_assert_uint_eq(s->steps->n_rounds, 6);
    ck_assert_uint_gt(s->n_links, 1);
    for (size_t i = 1; i < s->n_links; i++)
        ck_assert_double_le(s->links[i].used_frac, s->links[i - 1].used_frac * (1 + 1e-9));
    ck_assert_double_eq_tol(s->links[0].used_frac, s->table->rows[0].busiest_frac, 1e-12);
    fr_comm_explanation_free(s);
}

/* The tuner's estimate is that of the algorithm asked for, and none where NCCL has none. */
TEST(nccls_estimate_is_of_the_algorithm_asked_for)
{
    static const struct {
        const char *kind, *algorithm;
        bool is_known;
    } cases[] = {{"all-reduce", "ring", true},     {"all-reduce", "tree", true},
                 {"all-reduce", "direct", false},  {"all-gather", "ring", true},
                 {"all-gather", "bruck", false},   {"broadcast", "chain", true},
                 {"broadcast", "binomial", false}, {"all-to-all", "shift", false}};
    double ring = 0;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_comm_question q = question("2x hgx-h100", cases[i].kind);
        struct fr_comm_table *t;

        q.max_bytes = 1024;
        q.way.algorithm = cases[i].algorithm;
        t = table_of(&q);
        ck_assert_msg(!isnan(t->rows[0].nccl_s) == cases[i].is_known, "%s", cases[i].algorithm);
        if (i == 0)
            ring = t->rows[0].nccl_s;
        if (i == 1) /* 2 hops between two machines, and not 30 */
            ck_assert_double_lt(t->rows[0].nccl_s, ring);
        fr_comm_free(t);
    }
}

TEST(a_protocol_that_nccl_does_not_have_is_said_or_refused)
{
    struct fr_comm_question q = question("2x p3.16xlarge", "all-reduce"); /* NICs far off */
    struct fr_comm_table *t = NULL;
    struct fr_error err;

    q.way.protocol = "LL128";
    t = table_of(&q);
    ck_assert_str_eq(t->nccl_why, "no LL128 of all-reduce over their links");
    ck_assert_ptr_null(t->rows[0].algorithm);
    fr_comm_free(t);
    q = question("hgx-h100", "all-to-all");
    q.way.protocol = "ll128";
    ck_assert_int_eq(fr_comm(&t, &q, NULL, &err), FR_EUSAGE);
    ck_assert_msg(strstr(err.text, "LL and Simple and no LL128") != NULL, "%s", err.text);
    q.way.protocol = "LL";
    t = table_of(&q);
    fr_comm_free(t);
}

TEST(sizes_that_are_none_are_refused)
{
    static const struct {
        uint64_t min, max, step;
        const char *message;
    } cases[] = {
        {4096, 1024, 0, "the sizes end before they begin: from 4096 to 1024 bytes"},
        {0, 8, 0, "the sizes end before they begin: from 0 to 8 bytes"},
        {1, (uint64_t)1 << 40, 1, "more than 100000 sizes from 1 to 1099511627776 bytes"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_comm_question q = question("hgx-h100", "all-reduce");
        struct fr_comm_table *t = NULL;
        struct fr_error err;

        q.min_bytes = cases[i].min;
        q.max_bytes = cases[i].max;
        q.step_bytes = cases[i].step;
        ck_assert_int_eq(fr_comm(&t, &q, NULL, &err), FR_EUSAGE);
        assert_message(&err, cases[i].message);
        ck_assert(t == NULL);
    }
}

/* Ends the work once told of so much of it. */
struct watch {
    volatile int cancel;
    unsigned n_told, last;
};

static void tell(void *user, const char *what, uint64_t done, uint64_t total)
{
    struct watch *w = user;

    ck_assert_str_eq(what, "simulating");
    ck_assert_uint_le(done, total);
    w->cancel = ++w->n_told >= w->last;
}

/* All hops of a tree are priced within one event of the engine. */
TEST(a_collective_of_many_gpus_ends_soon_after_it_is_told)
{
    struct fr_comm_question q = question("512x hgx-h100", "all-reduce");
    struct watch w = {.last = UINT_MAX};
    const struct fr_context ctx = {.cancel = &w.cancel, .progress = tell, .progress_user = &w};
    struct fr_comm_table *t = NULL;
    struct fr_error err;

    q.max_bytes = q.min_bytes;
    ck_assert_int_eq(fr_comm(&t, &q, &ctx, &err), FR_OK);
    ck_assert_uint_ge(w.n_told, 3);
    fr_comm_free(t);
    for (unsigned last = 1; last < 3; last++) {
        w = (struct watch){.last = last};
        ck_assert_int_eq(fr_comm(&t, &q, &ctx, &err), FR_ECANCELLED);
        ck_assert_uint_eq(w.n_told, last);
    }
}

int main(void)
{
    TCase *tc = tcase_create("comm");

    add_tests(tc);
    return run_case(tc, "study/comm");
}
