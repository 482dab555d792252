/* The report on one page: well-formed, whole and harmless, whatever the names are. */
#include "config.h"

#include "results/html/html.h"
#include "tests/support/html_check.h"
#include "tests/support/json_check.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const PATH = "test_results_report.tmp.html";

/* The file as one text; removed. */
static char *write_report(const struct fr_record *const records[], size_t n, bool is_comparison)
{
    const struct fr_results rs = {.records = records, .n = n, .is_comparison = is_comparison};
    struct fr_error err = {.text = ""};
    char *text;
    long size;
    FILE *f;

    ck_assert_msg(fr_results_write(&rs, PATH, NULL, &err) == FR_OK, "%s", err.text);
    f = fopen(PATH, "rb");
    ck_assert_ptr_nonnull(f);
    fseek(f, 0, SEEK_END);
    size = ftell(f);
    rewind(f);
    text = calloc(1, (size_t)size + 1);
    ck_assert_uint_eq(fread(text, 1, (size_t)size, f), (size_t)size);
    fclose(f);
    unlink(PATH);
    return text;
}

static struct fr_record *answer(const char *workload, const char *topology, const char *strategy,
                                uint32_t batch)
{
    struct fr_question q;
    struct fr_record *r = NULL;
    struct fr_error err = {.text = ""};

    fr_question_init(&q);
    q.workload = workload;
    q.topology = topology;
    q.strategy = strategy;
    q.global_batch = batch;
    q.sensitivity = FR_SENSITIVITY_RUN;
    q.no_timing = true;
    q.command = "forerun simulate -w 'a & b' <in >out";
    ck_assert_msg(fr_answer(&q, NULL, &r, &err) == FR_OK, "%s", err.text);
    return r;
}

static void ck_well_formed(const char *text)
{
    const char *fault = html_fault(text);

    ck_assert_msg(!fault, "%s", fault);
}

/* A word of each section, and of each number's meaning. */
START_TEST(a_report_of_one_run_has_every_section)
{
    static const char *const words[] = {"<h1>alexnet on all 8 GPUs of dgx1-v100</h1>",
                                        "One iteration takes <b>",
                                        "samples a second",
                                        "What would help",
                                        "Timeline",
                                        "Memory over time",
                                        "Who holds the memory",
                                        "The critical path",
                                        "Links by utilisation",
                                        "Devices in numbers",
                                        "How far to trust this",
                                        "transferred",
                                        "-w &#39;a &amp; b&#39; &lt;in &gt;out</pre>",
                                        "capacity 15.8 GiB",
                                        ", seed 0"};
    struct fr_record *r = answer("alexnet", "dgx1-v100", "dp", 64);
    char *text = write_report((const struct fr_record *const[]){r}, 1, false);

    ck_well_formed(text);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        ck_assert_msg(strstr(text, words[i]) != NULL, "no '%s'", words[i]);
    free(text);
    fr_record_free(r);
}
END_TEST

START_TEST(a_report_of_a_comparison_names_the_fastest_that_fits)
{
    struct fr_record *a = answer("vgg19", "dgx1-v100", "single", 512);
    struct fr_record *b = answer("vgg19", "dgx1-v100", "dp", 512);
    char *text = write_report((const struct fr_record *const[]){a, b}, 2, true);

    ck_well_formed(text);
    ck_assert(a->oom && !b->oom);
    ck_assert_ptr_nonnull(strstr(text, "<b>dp</b> is the fastest that fits: "));
    ck_assert_ptr_nonnull(strstr(text, "1 of 2 does not fit in memory: single."));
    ck_assert_uint_eq(count_of(text, "<h3>Timeline</h3>"), 2);
    ck_assert_uint_eq(count_of(text, "<a href=\"#run2\">dp</a>"), 1);
    ck_assert_uint_eq(count_of(text, "id=\"run2\""), 1);
    free(text);
    fr_record_free(a);
    fr_record_free(b);
}
END_TEST

START_TEST(a_run_out_of_memory_says_what_is_missing)
{
    struct fr_record *r = answer("vgg19", "dgx1-v100", "single", 4096);
    char *text = write_report((const struct fr_record *const[]){r}, 1, false);

    ck_well_formed(text);
    ck_assert_ptr_nonnull(strstr(text, "It does not fit: <b>n0.gpu0</b> lacks <b>"));
    ck_assert_ptr_nonnull(strstr(text, "First to go over: "));
    ck_assert_ptr_nonnull(strstr(text, "class=\"cap\""));
    free(text);
    fr_record_free(r);
}
END_TEST

/* 128 GPUs, a pipeline of a hundred thousand tasks; the most that is drawn is bounded. */
START_TEST(a_big_run_stays_below_a_megabyte)
{
    struct fr_record *r = answer("gpt2-small", "16x dgx1-v100 via ib:100Gbps", "pp", 128);
    char *text = write_report((const struct fr_record *const[]){r}, 1, false);

    ck_assert_uint_gt(r->n_tasks, 100000);
    ck_assert_uint_lt(strlen(text), 1000000);
    ck_well_formed(text);
    ck_assert_ptr_nonnull(strstr(text, "16 of 128 busy devices."));
    free(text);
    fr_record_free(r);
}
END_TEST

START_TEST(a_comparison_of_many_draws_the_first_sixteen)
{
    struct fr_record *r = answer("lenet", "dgx1-v100", "dp", 64);
    const struct fr_record *records[20];
    char *text;

    for (size_t i = 0; i < 20; i++)
        records[i] = r;
    text = write_report(records, 20, true);
    ck_well_formed(text);
    ck_assert_uint_eq(count_of(text, "<h3>Timeline</h3>"), 16);
    ck_assert_ptr_nonnull(strstr(text, "Details of the first 16 of 20 strategies."));
    ck_assert_ptr_null(strstr(text, "href=\"#run17\"")); /* nothing to lead to */
    free(text);
    fr_record_free(r);
}
END_TEST

static struct fr_record hostile_record(const char *name)
{
    static struct fr_record_device device;
    static struct fr_record_link link;
    static struct fr_record_sensitivity sensitivity;
    static struct fr_record_holder holder;

    device = (struct fr_record_device){
        .name = name, .count = 1, .is_gpu = true, .busy_s = 1, .compute_s = 1, .capacity_bytes = 1};
    link = (struct fr_record_link){name, 1, 1e6, 0.5};
    sensitivity = (struct fr_record_sensitivity){
        .resource = name, .part_s = 1, .elasticity = -1, .faster_frac = -0.2};
    holder = (struct fr_record_holder){.name = name, .bytes = 1};
    return (struct fr_record){.peak = {.device = name,
                                       .task = name,
                                       .bytes = 2,
                                       .n_holders = 1,
                                       .holders_total = 1,
                                       .holders = &holder},
                              .workload = name,
                              .topology = name,
                              .strategy = name,
                              .command = name,
                              .dtype = "fp32",
                              .optimizer = "sgd",
                              .order = "fifo",
                              .network = "flow",
                              .n_gpus = 1,
                              .n_gpus_used = 1,
                              .n_gpus_total = 2,
                              .oom = true,
                              .oom_why = {.device = name, .task = name, .over_bytes = 1},
                              .iteration_s = 1,
                              .samples_per_s = 1,
                              .compute_s = 1,
                              .n_iterations = 1,
                              .peak_device = name,
                              .n_devices = 1,
                              .n_links = 1,
                              .links_total = 1,
                              .n_sensitivities = 1,
                              .devices = &device,
                              .links = &link,
                              .sensitivities = &sensitivity};
}

/* A record by hand has neither plan nor run: the pictures are left out, all else is there. */
START_TEST(names_are_text_and_nothing_else)
{
    static const char *const names[] = {
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "'\" onmouseover='alert(1)",
        "</title></style></pre></td>",
        "&lt;b&gt;&",
        "<!--",
        "]]>",
        "\xff\xfe\x80 latin \xe9",
        "\xc2\x9b[2J \x1b[31m\r\x7f",
        "javascript:alert(1)",
        "",
        "\xe2\x80\xae right to left",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct fr_record r = hostile_record(names[i]);
        const struct fr_record *const records[] = {&r, &r};

        for (size_t n = 1; n <= 2; n++) {
            char *text = write_report(records, n, n == 2);

            ck_well_formed(text);
            ck_assert_ptr_null(strstr(text, "<script>alert"));
            ck_assert_ptr_null(strstr(text, "<img"));
            ck_assert_ptr_null(strchr(text, '\x1b'));
            ck_assert_ptr_null(strchr(text, '\xff'));
            free(text);
        }
    }
}
END_TEST

/* Ops whose names would do harm, as a profile from elsewhere may have them, in every picture. */
START_TEST(names_of_ops_are_text_in_pictures)
{
    static const char *const hostile[] = {"<script>alert(1)</script>", "\"><b onclick='x'>&\xff"};
    const struct fr_workload_options own = {.dtype = FR_N_DTYPES};
    struct fr_setting loaded = {.topo = NULL}, s = {.topo = NULL};
    struct fr_question q;
    struct fr_record *r = NULL;
    struct fr_error err = {.text = ""};
    struct fr_graph graph;
    struct fr_op *ops;
    char *text;

    ck_assert_int_eq(fr_topo_load(&loaded.topo, "dgx1-v100", &err), FR_OK);
    ck_assert_int_eq(fr_workload_load(&loaded.graph, "lenet", &own, &err), FR_OK);
    ck_assert_int_eq(fr_cost_model_new(&loaded.costs, loaded.topo->types, loaded.topo->n_types,
                                       &(struct fr_cost_options){0}, &err),
                     FR_OK);
    graph = *loaded.graph;
    ops = calloc(graph.n_ops, sizeof(*ops));
    ck_assert_ptr_nonnull(ops);
    memcpy(ops, graph.ops, graph.n_ops * sizeof(*ops));
    for (size_t i = 0; i < graph.n_ops; i++)
        ops[i].name = hostile[i % 2];
    graph.ops = ops;
    graph.name = hostile[1];
    s = (struct fr_setting){.topo = loaded.topo, .graph = &graph, .costs = loaded.costs};
    fr_question_init(&q);
    q.strategy = "pp:stages=2";
    q.global_batch = 8;
    q.n_gpus = 2;
    q.sensitivity = FR_SENSITIVITY_RUN;
    ck_assert_msg(fr_answer_on(&s, &q, NULL, &r, &err) == FR_OK, "%s", err.text);
    text = write_report((const struct fr_record *const[]){r}, 1, false);
    ck_well_formed(text);
    ck_assert_uint_gt(count_of(text, "<title>&lt;script&gt;alert(1)&lt;/script&gt;"), 3);
    ck_assert_ptr_null(strstr(text, "<script>alert"));
    free(text);
    fr_record_free(r);
    free(ops);
    fr_setting_fini(&loaded);
}
END_TEST

static void ck_text(const char *in, const char *want)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    fr__html_text(f, in);
    fclose(f);
    ck_assert_str_eq(text, want);
    free(text);
}

START_TEST(text_is_escaped)
{
    ck_text("a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;");
    ck_text("µ → 日本", "µ → 日本");
    ck_text("line\nline", "line\nline");
    ck_text("\x01\t\x7f", "???");
    ck_text("\xc2\x85", "?");
    ck_text("\xc3\xa9\xc3", "é\xef\xbf\xbd");                        /* a sequence cut short */
    ck_text("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* a surrogate */
    ck_text("", "");
}
END_TEST

static void ck_number(double x, const char *want)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    fr__html_number(f, x);
    fclose(f);
    ck_assert_str_eq(text, want);
    free(text);
}

START_TEST(numbers_have_no_more_digits_than_a_picture_shows)
{
    char buf[FR__HTML_TEXT];

    ck_number(12.3456, "12.35");
    ck_number(12.5, "12.5");
    ck_number(100, "100");
    ck_number(0.001, "0");
    ck_number(-0.001, "0");
    ck_number(-3.25, "-3.25");
    ck_assert_str_eq(fr__html_percent(0.3107, buf, sizeof(buf)), "31.1\xc2\xa0%");
    ck_assert_str_eq(fr__html_change(-0.0621, buf, sizeof(buf)), "−6.2\xc2\xa0%");
    ck_assert_str_eq(fr__html_change(0.25, buf, sizeof(buf)), "+25.0\xc2\xa0%");
}
END_TEST

START_TEST(the_same_question_gives_the_same_bytes_in_any_locale)
{
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    struct fr_record *a = answer("alexnet", "dgx1-v100", "pp", 64);
    struct fr_record *b = answer("alexnet", "dgx1-v100", "pp", 64);
    char *first = write_report((const struct fr_record *const[]){a}, 1, false), *second;
    size_t i = 0;

    while (i < 4 && !setlocale(LC_ALL, locales[i]))
        i++;
    if (i == 4)
        puts("skipped: no locale with decimal commas is installed");
    second = write_report((const struct fr_record *const[]){b}, 1, false);
    setlocale(LC_ALL, "C");
    ck_assert_str_eq(first, second);
    free(first);
    free(second);
    fr_record_free(a);
    fr_record_free(b);
}
END_TEST

START_TEST(the_check_of_reports_finds_faults)
{
    static const char *const bad[] = {"<p>",
                                      "<p></b>",
                                      "<p class=x></p>",
                                      "<p>a & b</p>",
                                      "<p>a > b</p>",
                                      "<a href=\"http://x\"></a>",
                                      "<p onclick=\"x\"></p>",
                                      "<img/>",
                                      "<script></script><script></script>",
                                      "<p title=\"<\"></p>"};
    char page[128];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(page, sizeof(page), "<!DOCTYPE html>\n%s", bad[i]);
        ck_assert_msg(html_fault(page) != NULL, "%s", bad[i]);
    }
    ck_assert_ptr_null(html_fault("<!DOCTYPE html>\n<p class=\"x\">a &amp; b<meta></p>\n"));
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("report");

    tcase_add_test(tc, a_report_of_one_run_has_every_section);
    tcase_add_test(tc, a_report_of_a_comparison_names_the_fastest_that_fits);
    tcase_add_test(tc, a_run_out_of_memory_says_what_is_missing);
    tcase_add_test(tc, a_big_run_stays_below_a_megabyte);
    tcase_add_test(tc, a_comparison_of_many_draws_the_first_sixteen);
    tcase_add_test(tc, names_are_text_and_nothing_else);
    tcase_add_test(tc, names_of_ops_are_text_in_pictures);
    tcase_add_test(tc, text_is_escaped);
    tcase_add_test(tc, numbers_have_no_more_digits_than_a_picture_shows);
    tcase_add_test(tc, the_same_question_gives_the_same_bytes_in_any_locale);
    tcase_add_test(tc, the_check_of_reports_finds_faults);
    return run_case(tc, "results/report");
}
