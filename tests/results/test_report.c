/* The report on one page: a tree whose sections, tables and pictures say what the records say, and
 * harmless, whatever the names are. */
#include "config.h"

#include "base/units.h"
#include "results/html/inline.h"
#include "results/html/html.h"
#include "results/parts/number.h"
#include "results/parts/table.h"
#include "tests/support/html_check.h"
#include "tests/support/report_check.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <locale.h>
#include <math.h>
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

    ck_assert_msg(fr_show_file(fr_shown_run(&rs), PATH, NULL, &err) == FR_OK, "%s", err.text);
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

/* The page as a tree, well-formed and harmless; the caller releases it. */
static struct xml_tree *read_page(const char *text)
{
    struct xml_tree *page = html_parse(text);
    const char *fault = html_fault(page);

    ck_assert_msg(!fault, "%s", fault);
    return page;
}

/* The report of these records, checked in all that does not depend on which they are. */
static struct xml_tree *checked_report(const struct fr_record *const records[], size_t n,
                                       bool is_comparison)
{
    const struct fr_results rs = {.records = records, .n = n, .is_comparison = is_comparison};
    char *text = write_report(records, n, is_comparison);
    struct xml_tree *page = read_page(text);

    check_report(page, &rs);
    free(text);
    return page;
}

static const char *text_of_only(struct xml_tree *page, struct xml_wish wish)
{
    return xml_text(page, xml_only(page->root, wish));
}
#define LINE(words) ((struct xml_wish){.tag = "p", .text = words})

TEST(a_report_of_one_run_has_every_section)
{
    struct fr_record *r = answer("alexnet", "dgx1-v100", "dp", 64);
    struct xml_tree *page = checked_report((const struct fr_record *const[]){r}, 1, false);
    char held[160], path[80];
    const char *const headings[] = {"alexnet on all 8 GPUs of dgx1-v100, strategy dp",
                                    "Timeline",
                                    "Memory over time",
                                    held,
                                    "sensitivities",
                                    "devices",
                                    "links",
                                    path,
                                    "its longest tasks",
                                    "How far to trust this",
                                    "where the compute times come from",
                                    "The same again",
                                    NULL};
    char time[40];

    snprintf(held, sizeof(held), "most is held on %s at %s in %s (%s)", r->peak.device,
             fr__format_time(r->peak.at_s, time, sizeof(time)), r->peak.task, r->peak.phase);
    snprintf(path, sizeof(path), "critical path (%zu tasks)", r->critical_total);
    check_outline(page, headings);
    ck_assert_str_eq(text_of_only(page, (struct xml_wish){.tag = "pre"}), r->command);
    ck_assert_str_eq(xml_text(page, xml_next(page->root, NULL, (struct xml_wish){.tag = "title"})),
                     headings[0]);
    xml_free(page);
    fr_record_free(r);
}

/* Few enough tasks for a box each: as many boxes as tasks. */
TEST(each_task_of_a_small_run_has_its_box)
{
    struct fr_record *r = answer("lenet", "dgx1-v100", "dp", 64);
    struct xml_tree *page = checked_report((const struct fr_record *const[]){r}, 1, false);
    const struct xml_node *plot =
        xml_next(page->root, NULL, (struct xml_wish){.attribute = "class", .value = "zoom"});
    size_t n_tasks = 0, n_boxes = 0;

    for (uint32_t t = 0; t < r->n_tasks; t++)
        n_tasks += fr_plan_view(r->plan)->tasks[t].kind != FR_TASK_MARKER &&
                   r->run->end_s[t] > r->run->start_s[t];
    for (const struct xml_node *n = NULL;
         (n = xml_next(plot, n, (struct xml_wish){.tag = "rect", .attribute = "class"}));)
        n_boxes++;
    ck_assert_uint_gt(n_tasks, 100);
    ck_assert_uint_eq(n_boxes, n_tasks);
    ck_assert_uint_eq(check_timeline(page, page->root, r, 16), n_tasks);
    xml_free(page);
    fr_record_free(r);
}

TEST(a_report_of_a_comparison_names_the_fastest_that_fits)
{
    struct fr_record *a = answer("vgg19", "dgx1-v100", "single", 512);
    struct fr_record *b = answer("vgg19", "dgx1-v100", "dp", 512);
    struct xml_tree *page = checked_report((const struct fr_record *const[]){a, b}, 2, true);
    char want[160], time[40];

    ck_assert(a->oom && !b->oom);
    ck_assert_str_eq(text_of_only(page, (struct xml_wish){.tag = "h1"}),
                     "vgg19 on all 8 GPUs of dgx1-v100");
    for (size_t i = 0; i < 2; i++)
        xml_only(page->root, (struct xml_wish){.tag = "h2", .text = i ? "dp" : "single"});
    xml_only(page->root, (struct xml_wish){.tag = "h3", .text = "Over time, to one scale"});
    snprintf(want, sizeof(want), "dp is the fastest that fits: %s, ",
             fr__format_time(b->iteration_s, time, sizeof(time)));
    ck_assert_ptr_nonnull(strstr(xml_text(page, page->root), want));
    xml_only(page->root, LINE("1 of 2 does not fit in memory."));
    xml_free(page);
    fr_record_free(a);
    fr_record_free(b);
}

/* An iteration of each strategy: a chart each, axes as long as the longest one, a line at the end
 * of each, and no box behind it. */
TEST(a_comparison_draws_its_runs_to_one_scale)
{
    struct fr_record *a = answer("alexnet", "dgx1-v100", "dp", 64);
    struct fr_record *b = answer("alexnet", "dgx1-v100", "pp", 64);
    const struct fr_record *const both[] = {a, b};
    struct xml_tree *page = checked_report(both, 2, true);
    const struct xml_node *section = xml_only(
        page->root, (struct xml_wish){.tag = "section", .attribute = "class", .value = "only"});
    const struct xml_wish chart = {.tag = "svg", .attribute = "class", .value = "chart"};
    const struct xml_node *n = NULL, *axis[2];
    double longest_s = fmax(a->run->iteration_s, b->run->iteration_s);

    ck_assert_uint_eq(xml_count(section, chart), 2);
    for (size_t i = 0; i < 2; i++) {
        double end = FR__INLINE_PLOT * both[i]->run->iteration_s / longest_s;
        const struct xml_node *line, *box = NULL;

        n = xml_next(section, n, chart);
        axis[i] = xml_only(n, (struct xml_wish){.attribute = "class", .value = "axis"});
        line = xml_only(n, (struct xml_wish){.attribute = "class", .value = "cap"});
        ck_assert_double_eq_tol(xml_number(line, "x1"), end, 0.01);
        while ((box = xml_next(n, box, (struct xml_wish){.tag = "title"})))
            ck_assert_double_le(xml_number(box->parent, "x"), end);
    }
    ck_assert_str_eq(xml_attribute(axis[0], "data-span"), xml_attribute(axis[1], "data-span"));
    xml_free(page);
    fr_record_free(a);
    fr_record_free(b);
}

/* A figure takes keys, and each box says what, when and where. */
TEST(a_timeline_is_reached_by_keys_and_its_hints_name_the_device)
{
    struct fr_record *r = answer("alexnet", "dgx1-v100", "pp", 64);
    struct xml_tree *page = checked_report((const struct fr_record *const[]){r}, 1, false);
    const struct xml_node *figure =
        xml_next(page->root, NULL, (struct xml_wish){.tag = "figure", .attribute = "tabindex"});
    const struct xml_node *plot =
        xml_next(figure, NULL, (struct xml_wish){.attribute = "class", .value = "zoom"});
    const struct xml_node *hint = NULL;
    size_t n = 0;

    ck_assert_ptr_nonnull(strstr(xml_attribute(figure, "aria-label"), "arrow keys move"));
    for (; (hint = xml_next(plot, hint, (struct xml_wish){.tag = "title"})); n++) {
        const char *text = xml_text(page, hint), *where = strrchr(text, '\n');
        size_t lane = (size_t)(xml_number(hint->parent, "y") / 40);
        char want[32];

        snprintf(want, sizeof(want), "\nn0.gpu%zu", lane);
        ck_assert_str_eq(where, want);
        ck_assert_ptr_nonnull(strstr(text, " to "));
    }
    ck_assert_uint_gt(n, 100);
    xml_free(page);
    fr_record_free(r);
}

TEST(a_run_out_of_memory_says_what_is_missing)
{
    struct fr_record *r = answer("vgg19", "dgx1-v100", "single", 4096);
    struct xml_tree *page = checked_report((const struct fr_record *const[]){r}, 1, false);
    char lacks[40], want[160];

    snprintf(want, sizeof(want), " (%s too little); first to go over: %s (",
             fr__format_bytes((double)r->oom_why.over_bytes, lacks, sizeof(lacks)),
             r->oom_why.task);
    ck_assert_ptr_nonnull(strstr(
        text_of_only(page, (struct xml_wish){.tag = "p", .attribute = "class", .value = "bad"}),
        want));
    xml_only(page->root, /* the line at what it has */
             (struct xml_wish){.tag = "line", .attribute = "class", .value = "cap"});
    xml_free(page);
    fr_record_free(r);
}

/* 128 GPUs, a pipeline of a hundred thousand tasks; the most that is drawn is bounded. */
TEST(a_big_run_stays_below_a_megabyte)
{
    struct fr_record *r = answer("gpt2-small", "16x dgx1-v100 via ib:100Gbps", "pp", 128);
    char *text = write_report((const struct fr_record *const[]){r}, 1, false);
    struct xml_tree *page = read_page(text);
    const struct fr_record *const records[] = {r};
    const struct fr_results rs = {.records = records, .n = 1, .is_comparison = false};

    ck_assert_uint_gt(r->n_tasks, 100000);
    ck_assert_uint_lt(strlen(text), 1000000);
    check_report(page, &rs);
    ck_assert_int_eq(
        strncmp(xml_text(page, xml_next(page->root, NULL, (struct xml_wish){.tag = "figcaption"})),
                "16 of 128 busy devices. ", 24),
        0);
    xml_free(page);
    free(text);
    fr_record_free(r);
}

TEST(a_comparison_of_many_draws_the_first_sixteen)
{
    struct fr_record *r = answer("lenet", "dgx1-v100", "dp", 64);
    const struct fr_record *records[20];
    struct xml_tree *page;

    for (size_t i = 0; i < 20; i++)
        records[i] = r;
    page = checked_report(records, 20, true);
    ck_assert_uint_eq(xml_count(page->root, (struct xml_wish){.tag = "h3", .text = "Timeline"}),
                      16);
    xml_only(page->root,
             (struct xml_wish){.tag = "p", .text = "Details of the first 16 of 20 strategies."});
    xml_free(page);
    fr_record_free(r);
}

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

/* What a name is in the page: bytes that are not UTF-8 and controls are replaced. */
static const char *shown_as(const char *name)
{
    static const char *const replaced[][2] = {
        {"\xff\xfe\x80 latin \xe9", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd latin \xef\xbf\xbd"},
        {"\xc2\x9b[2J \x1b[31m\r\x7f", "?[2J ?[31m??"},
        {"\u202e right to left", "\\u202e right to left"}};

    for (size_t i = 0; i < sizeof(replaced) / sizeof(replaced[0]); i++)
        if (strcmp(name, replaced[i][0]) == 0)
            return replaced[i][1];
    return name;
}

/* A record by hand has neither plan nor run: the pictures are left out, all else is there. A page
 * has the same elements and attributes whatever the names are. */
TEST(names_are_text_and_nothing_else)
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
        "\xe2\x80\xae right to left",
        "javascript:alert(1)",
        "",
    };

    for (size_t n = 1; n <= 2; n++) {
        struct fr_record tame = hostile_record("tame");
        const struct fr_record *const tame_records[] = {&tame, &tame};
        struct xml_tree *wanted = checked_report(tame_records, n, n == 2);

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            struct fr_record r = hostile_record(names[i]);
            char *text = write_report((const struct fr_record *const[]){&r, &r}, n, n == 2);
            struct xml_tree *page = read_page(text);

            if (names[i][0]) { /* no command is no element */
                ck_assert_msg(strcmp(xml_skeleton(page), xml_skeleton(wanted)) == 0,
                              "another page for '%s'", names[i]);
                ck_assert_str_eq(text_of_only(page, (struct xml_wish){.tag = "pre"}),
                                 shown_as(names[i]));
            }
            xml_free(page);
            free(text);
        }
        xml_free(wanted);
    }
}

/* Ops whose names would do harm, as a profile from elsewhere may have them, in every picture. */
TEST(names_of_ops_are_text_in_pictures)
{
    static const char *const hostile[] = {"<script>alert(1)</script>", "\"><b onclick='x'>&"};
    const struct fr_workload_options own = {.dtype = FR_N_DTYPES};
    struct fr_setting loaded = {.topo = NULL}, s = {.topo = NULL};
    struct fr_question q;
    struct fr_record *r = NULL;
    struct fr_error err = {.text = ""};
    struct fr_graph graph;
    struct fr_op *ops;
    struct xml_tree *page;
    size_t n_hostile = 0;
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
    graph.name = "</title>\xff";
    s = (struct fr_setting){.topo = loaded.topo, .graph = &graph, .costs = loaded.costs};
    fr_question_init(&q);
    q.strategy = "pp:stages=2";
    q.global_batch = 8;
    q.n_gpus = 2;
    q.sensitivity = FR_SENSITIVITY_RUN;
    ck_assert_msg(fr_answer_on(&s, &q, NULL, &r, &err) == FR_OK, "%s", err.text);
    text = write_report((const struct fr_record *const[]){r}, 1, false);
    page = read_page(text);
    check_report(page,
                 &(struct fr_results){.records = (const struct fr_record *const[]){r}, .n = 1});
    for (const struct xml_node *n = NULL;
         (n = xml_next(page->root, n, (struct xml_wish){.tag = "title"}));)
        n_hostile += strncmp(xml_text(page, n), hostile[0], strlen(hostile[0])) == 0;
    ck_assert_uint_gt(n_hostile, 3);
    xml_free(page);
    free(text);
    fr_record_free(r);
    free(ops);
    fr_setting_fini(&loaded);
}

static void ck_text(const char *in, const char *want)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    fr__markup_text(f, in);
    fclose(f);
    ck_assert_str_eq(text, want);
    free(text);
}

TEST(text_is_escaped)
{
    ck_text("a\u202eb\u2066", "a\\u202eb\\u2066"); /* nothing turns text round */
    ck_text("a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;");
    ck_text("µ → 日本", "µ → 日本");
    ck_text("line\nline", "line\nline");
    ck_text("\x01\t\x7f", "???");
    ck_text("\xc2\x85", "?");
    ck_text("\xc3\xa9\xc3", "é\xef\xbf\xbd");                        /* a sequence cut short */
    ck_text("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* a surrogate */
    ck_text("", "");
}

static void ck_number(double x, const char *want)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    fr__markup_number(f, x);
    fclose(f);
    ck_assert_str_eq(text, want);
    free(text);
}

TEST(numbers_have_no_more_digits_than_a_picture_shows)
{
    ck_number(12.3456, "12.35");
    ck_number(12.5, "12.5");
    ck_number(100, "100");
    ck_number(0.001, "0");
    ck_number(-0.001, "0");
    ck_number(-3.25, "-3.25");
}

TEST(the_same_question_gives_the_same_bytes_in_any_locale)
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

static bool is_faulty(const char *body)
{
    char text[160];
    struct xml_tree *page;
    bool is_faulty;

    snprintf(text, sizeof(text), "<!DOCTYPE html>\n<html>%s</html>\n", body);
    page = html_parse(text);
    is_faulty = html_fault(page) != NULL;
    xml_free(page);
    return is_faulty;
}

TEST(the_check_of_reports_finds_faults)
{
    static const char *const bad[] = {"<p>",
                                      "<p></b>",
                                      "<p class=x></p>",
                                      "<p>a & b</p>",
                                      "<p>a > b</p>",
                                      "<a href=\"http://x\"></a>",
                                      "<a href=\"#x\"></a>",
                                      "<p onclick=\"x\"></p>",
                                      "<p style=\"background:url(x)\"></p>",
                                      "<p id=\"x\"></p><p id=\"x\"></p>",
                                      "<p id=\"x\" id=\"y\"></p>",
                                      "<img/>",
                                      "</html><p></p><html>",
                                      "<script></script><script></script>",
                                      "<p title=\"<\"></p>"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(is_faulty(bad[i]), "%s", bad[i]);
    ck_assert(!is_faulty("<p class=\"x\" id=\"y\">a &amp; b<meta></p><a href=\"#y\">&#39;</a>"));
}

int main(void)
{
    TCase *tc = tcase_create("report");

    add_tests(tc);
    return run_case(tc, "results/report");
}
