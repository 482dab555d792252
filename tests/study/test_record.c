/* tests/study/test_record.c - a record made by hand, as each text writer shows it. */
#include "config.h"

#include "results/results.h"
#include "tests/support/json_check.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* Two GPUs of 16 GiB; the whole is 10 ms: 6 compute, 3 exposed communication, 1 bubble. */
static const struct fr_record_device devices[] = {
    {.name = "n0.gpu0",
     .count = 1,
     .is_gpu = true,
     .busy_s = 0.009,
     .compute_s = 0.006,
     .comm_s = 0.004,
     .exposed_comm_s = 0.003,
     .idle_s = 0.001,
     .peak_allocated_bytes = 1u << 30,
     .peak_reserved_bytes = 1u << 30,
     .peak_bytes = 5ull << 28,
     .capacity_bytes = 16ull << 30,
     .memory_bytes = {[FR_BUFFER_PARAMETER] = 1u << 30, [FR_BUFFER_CONTEXT] = 1u << 28}},
    {.name = "n0.gpu1",
     .count = 1,
     .is_gpu = true,
     .busy_s = 0.009,
     .compute_s = 0.006,
     .comm_s = 0.004,
     .exposed_comm_s = 0.003,
     .idle_s = 0.001,
     .peak_allocated_bytes = 1u << 29,
     .peak_reserved_bytes = 1u << 29,
     .peak_bytes = 3ull << 28,
     .capacity_bytes = 16ull << 30,
     .memory_bytes = {[FR_BUFFER_PARAMETER] = 1u << 29, [FR_BUFFER_CONTEXT] = 1u << 28}},
};
static const struct fr_record_link links[] = {{"n0.gpu0>n0.gpu1", 1, 1e6, 0.125}};
static const char *const path[] = {"conv \"1\"", "all-reduce bucket 0"};

static struct fr_record make_record(void)
{
    return (struct fr_record){
        .workload = "toy",
        .topology = "pair",
        .strategy = "dp:sync=ring,bucket=25MiB",
        .dtype = "fp32",
        .optimizer = "sgd",
        .order = "fifo",
        .network = "flow",
        .n_gpus = 2,
        .n_gpus_used = 2,
        .n_gpus_total = 8,
        .global_batch = 64,
        .iteration_s = 0.010,
        .samples_per_s = 6400,
        .compute_s = 0.006,
        .comm_s = 0.004,
        .exposed_comm_s = 0.003,
        .bubble_s = 0.001,
        .lower_bound_s = 0.008,
        .n_iterations = 1,
        .peak_bytes = 5ull << 28,
        .peak_allocated_bytes = 1u << 30,
        .peak_reserved_bytes = 1u << 30,
        .peak_device = "n0.gpu0",
        .memory_model = FR_MEMORY_DEVICE,
        .peak_capacity_bytes = 16ull << 30,
        .cost_frac = {[FR_TRUST_PROFILED] = 0.75, [FR_TRUST_DATASHEET] = 0.25},
        .n_devices = 2,
        .n_links = 1,
        .links_total = 3,
        .n_critical = 2,
        .critical_total = 2,
        .n_tasks = 12,
        .devices = devices,
        .links = links,
        .critical_path = path};
}

static struct fr_record make_oom_record(void)
{
    struct fr_record r = make_record();

    r.strategy = "single";
    r.oom = true;
    r.oom_why =
        (struct fr_record_oom){.device = "n0.gpu0", .task = "conv2", .over_bytes = 3ull << 30};
    return r;
}

typedef void (*print_fn)(FILE *f, const struct fr_results *rs);

static void print_table(FILE *f, const struct fr_results *rs)
{
    ck_assert_int_eq(fr_show_text(f, fr_shown_run(rs), 0, NULL), FR_OK);
}

static void print_json(FILE *f, const struct fr_results *rs)
{
    fr_show_json(f, fr_shown_run(rs));
}

static char *print(print_fn fn, const struct fr_record *const records[], size_t n,
                   bool is_comparison)
{
    const struct fr_results rs = {.records = records, .n = n, .is_comparison = is_comparison};
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    fn(f, &rs);
    fclose(f);
    return text;
}

TEST(json_has_every_promised_key)
{
    /* the list of design: the command's contract */
    static const char *const keys[] = {"iteration_s",
                                       "samples_per_s",
                                       "strategy",
                                       "workload",
                                       "topology",
                                       "gpus",
                                       "global_batch",
                                       "oom",
                                       "compute_s",
                                       "comm_s",
                                       "exposed_comm_s",
                                       "bubble_s",
                                       "lower_bound_s",
                                       "peak_bytes",
                                       "peak_allocated_bytes",
                                       "peak_reserved_bytes",
                                       "devices",
                                       "name",
                                       "count",
                                       "busy_s",
                                       "capacity_bytes",
                                       "memory",
                                       "links",
                                       "links_total",
                                       "bytes",
                                       "utilisation",
                                       "critical_path",
                                       "critical_path_total",
                                       "cost_sources",
                                       "tasks",
                                       "wall_s",
                                       "plan_cpu_s"};
    struct fr_record r = make_record();
    const struct fr_record *const records[] = {&r};
    char *text = print(print_json, records, 1, false);

    ck_assert(is_json(text));
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        char key[64];

        snprintf(key, sizeof(key), "\"%s\":", keys[i]);
        ck_assert_msg(count_of(text, key) > 0, "no %s", key);
    }
    ck_assert_uint_eq(count_of(text, "\"conv \\\"1\\\"\""), 1);
    ck_assert_double_eq(json_number(json_member(text, "iteration_s")), 0.01);
    ck_assert_double_eq(json_number(json_member(text, "gpus")), 2);
    ck_assert(json_is_string(json_member(text, "strategy"), "dp:sync=ring,bucket=25MiB"));
    ck_assert(json_is_string(json_member(json_item(json_member(text, "devices"), 0), "name"),
                             r.devices[0].name));
    ck_assert_double_eq(json_number(json_member(json_item(json_member(text, "links"), 0), "bytes")),
                        r.links[0].bytes);
    free(text);
}

TEST(json_of_a_run_out_of_memory_has_no_time)
{
    struct fr_record r = make_oom_record();
    const struct fr_record *const records[] = {&r};
    char *text = print(print_json, records, 1, false);

    ck_assert(is_json(text));
    ck_assert(json_is_word(json_member(text, "iteration_s"), "null"));
    ck_assert(json_is_word(json_member(text, "oom"), "true"));
    ck_assert_uint_eq(count_of(text, "\"over_bytes\": 3221225472"), 1);
    free(text);
}

TEST(json_of_a_comparison_is_an_array_under_results)
{
    struct fr_record a = make_record(), b = make_oom_record();
    const struct fr_record *const records[] = {&a, &b};
    char *text = print(print_json, records, 2, true);
    const char *first, *second;

    ck_assert(is_json(text));
    first = json_item(json_member(text, "results"), 0);
    second = json_item(json_member(text, "results"), 1);
    ck_assert(json_is_string(json_member(first, "strategy"), a.strategy));
    ck_assert(json_is_string(json_member(second, "strategy"), b.strategy));
    ck_assert(json_is_word(json_member(first, "oom"), "false"));
    ck_assert(json_is_word(json_member(second, "oom"), "true"));
    ck_assert(second && !json_next_item(second));
    free(text);
}

/* Whole output: people read it, so every blank counts. */
TEST(table_of_one_result_says_where_the_time_goes)
{
    struct fr_record r = make_record();
    const struct fr_record *const records[] = {&r};
    char *text = print(print_table, records, 1, false);

    ck_assert_str_eq(
        text,
        "toy on 2 of 8 GPUs of pair, strategy dp:sync=ring,bucket=25MiB\n"
        "global batch 64, fp32, sgd, order fifo, network flow\n"
        "\n"
        "  iteration time            10 ms\n"
        "  samples per second         6400\n"
        "  compute                    6 ms   60.0 %  mean over 2 GPUs\n"
        "  exposed communication      3 ms   30.0 %  of 4 ms of communication\n"
        "  bubble                     1 ms   10.0 %  neither computes nor communicates\n"
        "  lower bound                8 ms  +25.0 %  gap: no order of this plan's tasks is faster "
        "than the bound\n"
        "  peak memory            1.25 GiB    7.8 %  of the 16 GiB of n0.gpu0\n"
        "                                            1 GiB allocated, 1 GiB reserved; the rest "
        "is context\n"
        "\n"
        "costs from profiled 75.0 %, datasheet 25.0 % (a guess from peak rates)\n");
    free(text);
}

TEST(table_names_the_op_that_went_over)
{
    struct fr_record r = make_oom_record();
    const struct fr_record *const records[] = {&r};
    char *text = print(print_table, records, 1, false);

    ck_assert_uint_eq(count_of(text, "if only it fitted in memory"), 1);
    ck_assert_uint_eq(count_of(text, "(3 GiB too little); first to go over: conv2\n"), 1);
    free(text);
}

TEST(comparison_gives_speed_ups_over_single)
{
    struct fr_record a = make_record(), b = make_oom_record();
    const struct fr_record *const records[] = {&a, &b};
    char *text;

    b.iteration_s = 0.025; /* 2.5 times a's */
    text = print(print_table, records, 2, true);
    ck_assert_uint_eq(count_of(text, " 2.50x "), 1);
    ck_assert_uint_eq(count_of(text, " 1.00x "), 1);
    ck_assert_uint_eq(count_of(text, "OUT OF MEMORY by 3 GiB"), 1);
    ck_assert_uint_eq(count_of(text, "speed-up against single; costs from profiled"), 1);
    free(text);
}

TEST(a_locale_with_decimal_commas_changes_nothing)
{
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    struct fr_record r = make_record();
    const struct fr_record *const records[] = {&r};
    char *table = print(print_table, records, 1, false);
    char *json = print(print_json, records, 1, false);
    size_t i = 0;

    while (i < 4 && !setlocale(LC_ALL, locales[i]))
        i++;
    if (i == 4)
        puts("skipped: no locale with decimal commas is installed");
    for (print_fn fn = print_table; fn; fn = fn == print_table ? print_json : NULL) {
        char *again = print(fn, records, 1, false);

        ck_assert_str_eq(again, fn == print_table ? table : json);
        free(again);
    }
    setlocale(LC_ALL, "C");
    free(table);
    free(json);
}

TEST(formats_are_known_by_their_longest_ending)
{
    struct fr_error err;

    ck_assert_int_eq(fr_kind_check_path(FR_KIND_RUN, "a.trace.json", &err), FR_OK);
    ck_assert_int_eq(fr_kind_check_path(FR_KIND_COMPARISON, "a.json", &err), FR_OK);
    ck_assert_int_eq(fr_kind_check_path(FR_KIND_COMPARISON, "a.trace.json", &err), FR_EUSAGE);
    ck_assert_str_eq(err.text,
                     "'a.trace.json': a .trace.json file shows one run, not a comparison");
    ck_assert_int_eq(fr_kind_check_path(FR_KIND_RUN, "a.doc", &err), FR_EUSAGE);
    ck_assert_int_eq(fr_kind_check_path(FR_KIND_RUN, ".json", &err), FR_EUSAGE);
}

/* fr_setting_load promises an empty setting: the caller may release it without asking how far it
 * came. */
static const struct {
    const char *workload, *topology, *costs;
} unloadable[] = {
    {NULL, "dgx1-v100", NULL},
    {"lenet", NULL, NULL},
    {"lenet", "no-such-topology", NULL},
    {"lenet", "dgx1-v100", "no-such-device-file.yaml"},
    {"no-such-workload", "dgx1-v100", NULL},
};

LOOP_TEST(a_setting_that_does_not_load_is_empty_and_may_be_released_twice, 0,
          sizeof(unloadable) / sizeof(unloadable[0]))
{
    struct fr_setting s;
    struct fr_question q;
    struct fr_error err;

    memset(&s, 0xa5, sizeof(s));
    fr_question_init(&q);
    q.workload = unloadable[_i].workload;
    q.topology = unloadable[_i].topology;
    q.costs = unloadable[_i].costs;
    ck_assert_int_ne(fr_setting_load(&s, &q, &err), FR_OK);
    ck_assert_ptr_null(s.topo);
    ck_assert_ptr_null(s.graph);
    ck_assert_ptr_null(s.costs);
    fr_setting_fini(&s);
    fr_setting_fini(&s);
}

TEST(a_released_setting_is_empty)
{
    struct fr_setting s;
    struct fr_question q;
    struct fr_error err;

    fr_question_init(&q);
    q.workload = "lenet";
    q.topology = "dgx1-v100";
    ck_assert_msg(fr_setting_load(&s, &q, &err) == FR_OK, "%s", err.text);
    fr_setting_fini(&s);
    ck_assert_ptr_null(s.costs);
    fr_setting_fini(&s);
}

int main(void)
{
    TCase *tc = tcase_create("writers");

    add_tests(tc);
    return run_case(tc, "results/record");
}
