/* GPUs that a question names: the answer is about these, in this order. */
#include "config.h"

#include "results/results.h"
#include "study/comm/comm.h"
#include "study/study.h"
#include "study/sweep/sweep.h"
#include "tests/support/base_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct fr_question alexnet(const char *topology, const char *strategy, const char *devices)
{
    struct fr_question q;

    fr_question_init(&q);
    q.workload = "alexnet";
    q.topology = topology;
    q.strategy = strategy;
    q.devices = devices;
    q.global_batch = 64;
    q.no_timing = true;
    return q;
}

static struct fr_record *answer(const struct fr_question *q)
{
    struct fr_record *r = NULL;
    struct fr_error err;

    ck_assert_msg(fr_answer(q, NULL, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

/* The record as JSON without what was asked, one line; the caller frees. */
static char *json_of(const struct fr_question *q)
{
    struct fr_record *r = answer(q);
    char *text = NULL, *from;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    ck_assert_ptr_nonnull(f);
    fr_record_print_json(f, r);
    ck_assert_int_eq(fclose(f), 0);
    fr_record_free(r);
    from = strstr(text, "\"question\": {");
    ck_assert_ptr_nonnull(from);
    memmove(from, strchr(from, '\n'), strlen(strchr(from, '\n')) + 1);
    return text;
}

static const char *const strategies[] = {"single",      "dp",  "dp:sync=ps-cpu", "mp", "pp",
                                         "pp:stages=2", "dpos"};
enum { N_STRATEGIES = sizeof(strategies) / sizeof(strategies[0]) };

LOOP_TEST(the_first_ones_named_are_the_first_ones_counted, 0, N_STRATEGIES)
{
    struct fr_question named = alexnet("dgx1-v100", strategies[_i], "n0.gpu0,n0.gpu1..3");
    struct fr_question counted = alexnet("dgx1-v100", strategies[_i], NULL);
    char *a, *b;

    counted.n_gpus = 4;
    a = json_of(&named);
    b = json_of(&counted);
    ck_assert_str_eq(a, b);
    free(a);
    free(b);
}

LOOP_TEST(one_of_each_machine_named_is_spread, 0, N_STRATEGIES)
{
    struct fr_question named = alexnet("3x dgx1-v100", strategies[_i], "n0..2.gpu0");
    struct fr_question spread = alexnet("3x dgx1-v100", strategies[_i], NULL);
    char *a, *b;

    named.global_batch = spread.global_batch = 66;
    spread.n_gpus = 3;
    spread.is_spread = true;
    if (strncmp(strategies[_i], "pp:", 3) == 0) /* three GPUs are no pairs */
        return;
    a = json_of(&named);
    b = json_of(&spread);
    ck_assert_str_eq(a, b);
    free(a);
    free(b);
}

LOOP_TEST(the_order_given_is_that_of_ranks, 0, N_STRATEGIES)
{
    static const char *const names[] = {"n1.gpu5", "n0.gpu2", "n1.gpu0", "n0.gpu7"};
    struct fr_question q =
        alexnet("2x dgx1-v100", strategies[_i], "n1.gpu5,n0.gpu2,n1.gpu0,n0.gpu7");
    struct fr_record *r = answer(&q);

    ck_assert_uint_eq(r->n_gpus, 4);
    ck_assert_uint_eq(r->n_gpus_total, 16);
    for (size_t i = 0; i < 4; i++)
        ck_assert_str_eq(r->devices[i].name, names[i]);
    if (strcmp(strategies[_i], "single") == 0)
        ck_assert_double_gt(r->devices[0].compute_s, 0);
    fr_record_free(r);
}

/* The stages of a network cut in two are on the GPUs in their order. */
TEST(the_other_way_round_the_ranks_are_others)
{
    struct fr_question q = alexnet("dgx1-v100", "mp", "n0.gpu0,n0.gpu1");
    struct fr_record *one = answer(&q), *other;

    q.devices = "n0.gpu1,n0.gpu0";
    other = answer(&q);
    ck_assert_str_eq(one->devices[0].name, "n0.gpu0");
    ck_assert_str_eq(other->devices[0].name, "n0.gpu1");
    ck_assert_double_ne(one->devices[0].compute_s, one->devices[1].compute_s);
    for (size_t i = 0; i < 2; i++)
        ck_assert_double_eq(one->devices[i].compute_s, other->devices[i].compute_s);
    ck_assert_double_eq(one->iteration_s, other->iteration_s); /* cables go both ways alike */
    fr_record_free(one);
    fr_record_free(other);
}

/* GPU 0 has two NVLinks to GPU 4 and none to GPU 5, which is reached over PCIe and between the
 * sockets. */
TEST(which_gpus_decides_over_which_links_they_talk)
{
    struct fr_question q = alexnet("dgx1-v100", "dp", "n0.gpu0,n0.gpu4");
    struct fr_record *cabled = answer(&q), *other;

    q.devices = "n0.gpu0,n0.gpu5";
    other = answer(&q);
    ck_assert_double_gt(other->comm_s, 5 * cabled->comm_s);
    ck_assert_str_eq(cabled->links[0].name, "n0.gpu0>n0.gpu4");
    for (size_t i = 0; i < other->n_links; i++)
        ck_assert_ptr_null(strstr(other->links[i].name, "gpu0>n0.gpu"));
    fr_record_free(cabled);
    fr_record_free(other);
}

TEST(what_cannot_be_is_refused)
{
    static const struct {
        const char *devices;
        size_t n_gpus;
        bool is_spread;
        enum fr_status code;
        const char *sentence;
    } cases[] = {
        {"n0.gpu0,n0.gpu1", 2, false, FR_EUSAGE,
         "a number of GPUs (-g) and their names (--devices) exclude each other"},
        {"n0.gpu0", 0, true, FR_EUSAGE,
         "--spread and names of GPUs (--devices) exclude each other"},
        {"n0.gpu8", 0, false, FR_ENOENT,
         "'dgx1-v100' has no GPU 'n0.gpu8', did you mean 'n0.gpu0'?"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_question q = alexnet("dgx1-v100", "dp", cases[i].devices);
        struct fr_record *r = NULL;
        struct fr_error err;

        q.n_gpus = cases[i].n_gpus;
        q.is_spread = cases[i].is_spread;
        ck_assert_int_eq(fr_answer(&q, NULL, &r, &err), cases[i].code);
        assert_message(&err, cases[i].sentence);
    }
}

/* With -B a batch is for each of those named. */
TEST(a_batch_per_gpu_is_for_each_one_named)
{
    struct fr_question q = alexnet("dgx1-v100", "dp", "n0.gpu1,n0.gpu2,n0.gpu7");
    struct fr_record *r;

    q.global_batch = 0;
    q.batch_per_gpu = 8;
    r = answer(&q);
    ck_assert_uint_eq(r->global_batch, 24);
    fr_record_free(r);
}

/* ---- sweeps ---- */

static void add(struct fr_sweep *s, const char *setting, const char *values)
{
    struct fr_error err;

    ck_assert_msg(fr_sweep_add(s, setting, values, &err) == FR_OK, "%s", err.text);
}

/* Three values, the commas in them no list's. */
static struct fr_sweep *sweep_over_devices(void)
{
    struct fr_sweep *s = fr_sweep_new();
    struct fr_error err;

    add(s, "workload", "lenet");
    add(s, "topology", "dgx1-v100");
    add(s, "strategy", "dp");
    add(s, "devices", "n0.gpu0,n0.gpu4");
    add(s, "devices", "n0.gpu0,n0.gpu5");
    add(s, "devices", "n0.gpu6..8");
    add(s, "devices", "none");
    ck_assert_msg(fr_sweep_finish(s, &err) == FR_OK, "%s", err.text);
    return s;
}

static void run(struct fr_sweep *s, struct fr_store *store)
{
    const struct fr_sweep_options o = {.n_threads = 2, .store = store};
    struct fr_error err;

    ck_assert_msg(fr_sweep_run(s, &o, NULL, &err) == FR_OK, "%s", err.text);
}

TEST(a_sweep_may_vary_them)
{
    struct fr_sweep *s = sweep_over_devices();

    run(s, NULL);
    ck_assert_uint_eq(fr_sweep_n_points(s), 4);
    ck_assert_str_eq(fr_sweep_row(s, 0)->devices, "n0.gpu0,n0.gpu4");
    ck_assert_uint_eq(fr_sweep_row(s, 0)->gpus, 2);
    ck_assert_str_eq(fr_sweep_row(s, 0)->gpu_types, "v100-sxm2-16gb:2");
    ck_assert_double_lt(fr_sweep_row(s, 0)->comm_s, fr_sweep_row(s, 1)->comm_s);
    ck_assert_int_eq(fr_sweep_row(s, 2)->outcome, FR_IMPOSSIBLE);
    ck_assert_str_eq(fr_sweep_row(s, 2)->devices, "n0.gpu6..8");
    ck_assert_str_eq(fr_sweep_row(s, 2)->reason,
                     "'dgx1-v100' has no GPU 'n0.gpu8' (of 'n0.gpu6..8'), did you mean 'n0.gpu0'?");
    ck_assert_str_eq(fr_sweep_row(s, 3)->devices, "none");
    ck_assert_uint_eq(fr_sweep_row(s, 3)->gpus, 8);
    fr_sweep_free(s);
}

TEST(a_sweep_counts_them_or_names_them)
{
    static const struct {
        const char *setting, *value, *sentence;
    } cases[] = {
        {"gpus", "2", "a number of GPUs (-g) and their names (--devices) exclude each other"},
        {"spread", "1", "--spread and names of GPUs (--devices) exclude each other"},
    };

    for (size_t i = 0; i < 2; i++) {
        struct fr_sweep *s = fr_sweep_new();
        struct fr_error err;

        add(s, "workload", "lenet");
        add(s, "topology", "dgx1-v100");
        add(s, "devices", "n0.gpu0");
        add(s, cases[i].setting, cases[i].value);
        ck_assert_int_eq(fr_sweep_finish(s, &err), FR_EUSAGE);
        assert_message(&err, cases[i].sentence);
        fr_sweep_free(s);
    }
}

/* The store's name: its ending says of which kind it is. */
static void use_store(const char *path)
{
    struct fr_sweep *first = sweep_over_devices(), *again = sweep_over_devices();
    struct fr_store *store;
    struct fr_error err;

    for (size_t i = 0; i < 2; i++) {
        ck_assert_msg(fr_store_open(&store, path, &err) == FR_OK, "%s", err.text);
        run(i ? again : first, store);
        ck_assert_msg(fr_store_close(store, &err) == FR_OK, "%s", err.text);
    }
    ck_assert_uint_eq(fr_sweep_n_found(first), 0);
    ck_assert_uint_eq(fr_sweep_n_found(again), 4);
    for (size_t i = 0; i < 4; i++)
        ck_assert_str_eq(fr_sweep_row(again, i)->devices, fr_sweep_row(first, i)->devices);
    fr_sweep_free(first);
    fr_sweep_free(again);
}

TEST(stored_rows_tell_them)
{
    char folder[] = "/tmp/forerun-devices-XXXXXX", path[64];

    ck_assert_ptr_nonnull(mkdtemp(folder));
    for (size_t i = 0; i < (fr_has_sqlite() ? 2 : 1); i++) {
        snprintf(path, sizeof(path), "%s/store.%s", folder, i ? "sqlite" : "csv");
        use_store(path);
        ck_assert_int_eq(unlink(path), 0);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}

/* ---- collectives ---- */

static struct fr_comm_table *time_of(const char *topology, const char *devices)
{
    static const uint64_t sizes[] = {64 << 20};
    const struct fr_comm_question q = {.topology = topology,
                                       .kind = "all-reduce",
                                       .sizes = sizes,
                                       .n_sizes = 1,
                                       .is_by_models = true,
                                       .devices = devices};
    struct fr_comm_table *t = NULL;
    struct fr_error err;

    ck_assert_msg(fr_comm(&t, &q, NULL, &err) == FR_OK, "%s", err.text);
    return t;
}

/* n1, n0, n0 of three are two machines. */
TEST(collectives_take_named_gpus)
{
    struct fr_comm_table *cabled = time_of("dgx1-v100", "n0.gpu0,n0.gpu4");
    struct fr_comm_table *other = time_of("dgx1-v100", "n0.gpu0,n0.gpu5");
    struct fr_comm_table *mixed = time_of("2x dgx1-v100", "n0.gpu1,n1.gpu0,n0.gpu0");

    ck_assert_double_gt(other->times[0].expanded_s, 5 * cabled->times[0].expanded_s);
    ck_assert_uint_eq(mixed->n_machines, 2);
    ck_assert_uint_eq(mixed->n_gpus, 3);
    fr_comm_free(cabled);
    fr_comm_free(other);
    fr_comm_free(mixed);
}

/* Whole machines in any order are what was measured; machines that take turns are not. */
TEST(a_fit_over_machines_does_not_ask_for_their_order)
{
    struct fr_comm_table *rising = time_of("2x hgx-b200", "n0..1.gpu0..7");
    struct fr_comm_table *falling = time_of("2x hgx-b200", "n1.gpu0..7,n0.gpu0..7");
    struct fr_comm_table *turns =
        time_of("2x hgx-b200", "n0.gpu0..3,n1.gpu0..3,n0.gpu4..7,n1.gpu4..7");

    ck_assert_str_eq(rising->system, "b200-infiniband");
    ck_assert_str_eq(falling->system, "b200-infiniband");
    ck_assert_double_eq(rising->times[0].fitted_s, falling->times[0].fitted_s);
    ck_assert_ptr_null(turns->system);
    fr_comm_free(rising);
    fr_comm_free(falling);
    fr_comm_free(turns);
}

int main(void)
{
    TCase *tc = tcase_create("devices");

    add_tests(tc);
    return run_case(tc, "study_devices");
}
