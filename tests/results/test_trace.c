/* tests/results/test_trace.c - the plan of hand_case.h recorded, traced and drawn. */
#include "config.h"

#include "tests/support/hand_case.h"
#include "tests/support/json_check.h"
#include "tests/support/quick_spec.h"
#include "tests/support/xml_check.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double close_s = 1e-9;

TEST(a_record_says_where_the_time_goes)
{
    struct hand h;
    const struct fr_record *r;

    make_hand(&h, 64 * MIB);
    r = h.record;
    ck_assert_double_eq_tol(r->iteration_s, 7e-3, close_s);
    ck_assert_double_eq_tol(r->samples_per_s, 4 / 7e-3, 1e-3);
    ck_assert_double_eq_tol(r->compute_s, 6e-3, close_s);
    ck_assert_double_eq_tol(r->comm_s, 2e-3, close_s);
    ck_assert_double_eq_tol(r->exposed_comm_s, 1e-3, close_s);
    ck_assert_double_eq_tol(r->bubble_s, 0, close_s);
    /* forward 2 of 6 ms is profiled, the rest a guess */
    ck_assert_double_eq_tol(r->cost_frac[FR_TRUST_PROFILED], 1.0 / 3, 1e-9);
    ck_assert_double_eq_tol(r->cost_frac[FR_TRUST_DATASHEET], 2.0 / 3, 1e-9);
    ck_assert_uint_eq(r->links_total, 2);
    ck_assert_str_eq(r->links[0].name, "n0.gpu0>n0.gpu1");
    ck_assert_double_eq_tol(r->links[0].bytes, 2e6, 1);
    ck_assert_double_eq_tol(r->links[0].utilisation_frac, 2.0 / 7, 1e-6);
    ck_assert_uint_eq(r->n_devices, 2);
    ck_assert_uint_eq(r->n_gpus_used, 2);
    ck_assert_str_eq(r->workload, "toy");
    free_hand(&h);
}

/* 3 MiB stay and 4.5 MiB come: both are large blocks, from one segment of 20 MiB; 1 MiB of
 * context. */
TEST(memory_is_what_the_allocator_reserves_and_the_context)
{
    struct hand h;

    make_hand(&h, 64 * MIB);
    ck_assert_uint_eq(h.record->peak_allocated_bytes, 7 * MIB + 512 * KIB);
    ck_assert_uint_eq(h.record->peak_reserved_bytes, 20 * MIB);
    ck_assert_uint_eq(h.record->peak_bytes, 21 * MIB);
    ck_assert_uint_eq(h.record->devices[1].memory_bytes[FR_BUFFER_PARAMETER], 3 * MIB);
    ck_assert(!h.record->oom);
    free_hand(&h);
}

/* At the start of the forward task: its activation, the parameters, the context, in that order. */
TEST(the_peak_names_who_holds_it)
{
    const struct fr_record_peak *p;
    struct hand h;

    make_hand(&h, 64 * MIB);
    p = &h.record->peak;
    ck_assert_str_eq(p->device, "n0.gpu0");
    ck_assert_str_eq(p->task, "task 0 [mb 0]");
    ck_assert_str_eq(p->phase, "forward");
    ck_assert_double_eq(p->at_s, 0);
    ck_assert_uint_eq(p->bytes, 8 * MIB + 512 * KIB);
    ck_assert_uint_eq(p->holders_total, 3);
    ck_assert_str_eq(p->holders[0].name, "task 0 [mb 0]");
    ck_assert_uint_eq(p->holders[0].bytes, 4 * MIB + 512 * KIB);
    ck_assert(!p->holders[0].stays);
    ck_assert_str_eq(p->holders[1].name, "parameters");
    ck_assert(p->holders[1].stays);
    ck_assert_str_eq(p->holders[2].name, "context");
    free_hand(&h);
}

TEST(a_device_too_small_by_its_rounding_is_out_of_memory)
{
    struct hand h;

    make_hand(&h, 20 * MIB + 512 * KIB); /* the buffers fit, the segment and the context do not */
    ck_assert(h.record->oom);
    ck_assert_uint_eq(h.record->oom_why.over_bytes, 512 * KIB);
    ck_assert_uint_eq(h.record->oom_why.asked_bytes, 3 * MIB);
    ck_assert_str_eq(h.record->oom_why.device, "n0.gpu0");
    ck_assert_ptr_null(h.record->oom_why.task); /* the parameters' segment already */
    free_hand(&h);
}

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "rb");
    long size;
    char *text;

    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
    size = ftell(f);
    rewind(f);
    text = calloc((size_t)size + 1, 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(fread(text, 1, (size_t)size, f), (size_t)size);
    fclose(f);
    return text;
}

/* The trace's text; the caller frees it. */
static char *write_trace(const struct fr_record *r)
{
    const char *path = "test_results_trace.tmp.trace.json";
    const struct fr_results rs = {.records = &r, .n = 1};
    struct fr_error err = {.text = ""};
    char *text;

    ck_assert_msg(fr_show_file(fr_shown_run(&rs), path, NULL, &err) == FR_OK, "%s", err.text);
    text = read_all(path);
    unlink(path);
    ck_assert(is_json(text));
    return text;
}

static bool is_event(const char *event, const char *phase, const char *name)
{
    return json_is_string(json_member(event, "ph"), phase) &&
           (!name || json_is_string(json_member(event, "name"), name));
}

/* The name that the metadata event `what` gives to a process or to a thread of it; fails unless
 * there is exactly one. */
static const char *name_of(const char *events, const char *what, unsigned process, unsigned thread)
{
    const char *found = NULL;

    for (const char *e = json_item(events, 0); e; e = json_next_item(e)) {
        if (!is_event(e, "M", what) || json_number(json_member(e, "pid")) != process ||
            json_number(json_member(e, "tid")) != thread)
            continue;
        ck_assert_msg(!found, "two of %s of process %u, thread %u", what, process, thread);
        found = json_member(json_member(e, "args"), "name");
    }
    ck_assert_msg(found != NULL, "no %s of process %u, thread %u", what, process, thread);
    return found;
}

/* Each task is one event on the process of its device and the thread of its stream, at its time. */
static size_t check_task_events(const char *events, const struct fr_record *r)
{
    const struct fr_task *tasks = fr_plan_view(r->plan)->tasks;
    bool is_seen[16] = {false};
    size_t n = 0;

    for (const char *e = json_item(events, 0); e; e = json_next_item(e)) {
        const char *args = json_member(e, "args");
        char label[64];
        size_t t;

        if (!is_event(e, "X", NULL))
            continue;
        t = (size_t)json_number(json_member(args, "task"));
        ck_assert(t < r->n_tasks && t < 16 && !is_seen[t]);
        is_seen[t] = true;
        n++;
        fr_plan_task_label(r->plan, (uint32_t)t, label, sizeof(label));
        ck_assert(json_is_string(json_member(e, "name"), label));
        ck_assert_uint_eq((size_t)json_number(json_member(e, "pid")), tasks[t].device + 1);
        ck_assert_uint_eq((size_t)json_number(json_member(e, "tid")), tasks[t].stream + 1u);
        ck_assert_double_eq_tol(json_number(json_member(e, "ts")), 1e6 * r->run->start_s[t], 1e-6);
        ck_assert_double_eq_tol(json_number(json_member(e, "dur")),
                                1e6 * (r->run->end_s[t] - r->run->start_s[t]), 1e-6);
        ck_assert(json_is_string(json_member(args, "phase"),
                                 fr_phase_name((enum fr_phase)tasks[t].phase)));
        if (tasks[t].phase == FR_PHASE_FORWARD)
            ck_assert(json_is_string(json_member(args, "cost"), "profiled"));
        if (tasks[t].kind == FR_TASK_COLLECTIVE)
            ck_assert_str_eq(label, "all-reduce bucket \"0\"");
    }
    return n;
}

TEST(a_trace_shows_every_lane_bucket_and_byte)
{
    struct hand h;
    const char *events;
    char *text;

    make_hand(&h, 64 * MIB);
    text = write_trace(h.record);
    events = json_member(text, "traceEvents");
    ck_assert(json_is_string(name_of(events, "process_name", 1, 0), "n0.gpu0"));
    ck_assert(json_is_string(name_of(events, "process_name", 2, 0), "n0.gpu1"));
    for (unsigned p = 1; p <= 2; p++) {
        ck_assert(
            json_is_string(name_of(events, "thread_name", p, 1 + FR_STREAM_COMPUTE), "compute"));
        ck_assert(
            json_is_string(name_of(events, "thread_name", p, 1 + FR_STREAM_COMM), "communication"));
    }
    ck_assert(json_is_string(name_of(events, "thread_name", 1, 1 + FR_STREAM_SEND), "copy (send)"));
    ck_assert(json_is_string(name_of(events, "thread_name", 2, 1 + FR_STREAM_RECV), "copy (recv)"));
    ck_assert_uint_eq(h.record->n_tasks, 10);
    ck_assert_uint_eq(check_task_events(events, h.record), 10);
    free(text);
    free_hand(&h);
}

/* Memory changes at 0 and at 5 ms on each: the activation of 4.5 MiB comes and goes. */
TEST(a_trace_counts_the_memory_of_each_device)
{
    size_t n[2] = {0, 0};
    struct hand h;
    char *text;

    make_hand(&h, 64 * MIB);
    text = write_trace(h.record);
    for (const char *e = json_item(json_member(text, "traceEvents"), 0); e; e = json_next_item(e)) {
        const char *bytes = json_member(e, "args");
        size_t device = (size_t)json_number(json_member(e, "pid")) - 1;

        if (!is_event(e, "C", NULL))
            continue;
        ck_assert_uint_lt(device, 2);
        ck_assert_double_eq_tol(json_number(json_member(e, "ts")), n[device] ? 5e3 : 0, 1e-6);
        ck_assert_double_eq(json_number(json_member(bytes, "parameters")), 3 * MIB);
        ck_assert_double_eq(json_number(json_member(bytes, "context")), MIB);
        ck_assert_double_eq(json_number(json_member(bytes, "activations")),
                            n[device] ? 0 : 4 * MIB + 512 * KIB);
        n[device]++;
    }
    ck_assert(n[0] == 2 && n[1] == 2);
    free(text);
    free_hand(&h);
}

/* ---- the traces of every strategy ---- */

/* Bytes that a task moves; NaN: it moves none. */
static double bytes_of(const struct fr_plan_view *v, const struct fr_task *k)
{
    if (fr_task_transfer(k) != FR_NONE)
        return v->transfers[fr_task_transfer(k)].bytes;
    if (fr_task_collective(k) != FR_NONE)
        return v->collectives[fr_task_collective(k)].bytes;
    return NAN;
}

/* Does the event name its task as the plan does, and move what the plan moves? */
static void check_event(const struct fr_record *r, const char *event)
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    const char *args = json_member(event, "args");
    double task = json_number(json_member(args, "task")), expected;
    double bytes = json_number(json_member(args, "bytes"));
    const struct fr_task *k;
    char label[256];

    ck_assert(task >= 0 && task < (double)r->n_tasks);
    k = &v->tasks[(size_t)task];
    expected = bytes_of(v, k);
    fr_plan_task_label(r->plan, (uint32_t)task, label, sizeof(label));
    ck_assert_msg(label[0] && json_is_string(json_member(event, "name"), label),
                  "%s: no name of %s", r->strategy, label);
    if (k->kind == FR_TASK_COMPUTE)
        ck_assert_msg(json_member(args, "op") || strncmp(label, "task ", 5) != 0, "%s: no op of %s",
                      r->strategy, label);
    ck_assert_msg(isnan(expected) ? !json_member(args, "bytes") : bytes == expected,
                  "%s: not %g bytes: %s", r->strategy, expected, label);
}

TEST(every_strategy_traces_what_its_plan_holds)
{
    struct fr_error err = {.text = ""};
    struct fr_setting setting;
    struct fr_question q;

    fr_question_init(&q);
    q.workload = "lenet";
    q.topology = "dgx1-v100";
    q.n_gpus = 4;
    q.global_batch = 64;
    ck_assert_msg(fr_setting_load(&setting, &q, &err) == FR_OK, "%s", err.text);
    for (size_t i = 0; fr_strategy_at(i); i++) {
        struct fr_record *r, *other;
        char *text, *again;

        if (fr_strategy_at(i)->required_option)
            continue;
        q.strategy = quick_spec(i);
        q.n_gpus = strcmp(q.strategy, "single") == 0 ? 1 : 4;
        ck_assert_msg(fr_answer_on(&setting, &q, NULL, &r, &err) == FR_OK, "%s", err.text);
        ck_assert_msg(fr_answer_on(&setting, &q, NULL, &other, &err) == FR_OK, "%s", err.text);
        text = write_trace(r);
        again = write_trace(other);
        ck_assert_msg(strcmp(text, again) == 0, "%s: two runs, two traces", q.strategy);
        for (const char *e = json_item(json_member(text, "traceEvents"), 0); e;
             e = json_next_item(e))
            if (is_event(e, "X", NULL) || is_event(e, "b", NULL))
                check_event(r, e);
        free(text);
        free(again);
        fr_record_free(r);
        fr_record_free(other);
    }
    fr_setting_fini(&setting);
}

/* ---- the picture, drawn by gnuplot ---- */

struct axis {
    double at_zero, per_unit; /* pixels */
};

/* gnuplot writes a number below an axis as <g transform="translate(x,y)"
 * text-anchor="middle"><text>; those of the time axis stand lowest. The numbers rise from 0 from
 * left to right in equal steps. */
static struct axis read_time_axis(struct xml_tree *svg)
{
    const struct xml_wish middle = {.tag = "g", .attribute = "text-anchor", .value = "middle"};
    double value[32], x[32], lowest = 0;
    struct axis a;
    size_t n = 0;

    for (const struct xml_node *g = NULL; (g = xml_next(svg->root, g, middle));) {
        const char *text = xml_text(svg, xml_only(g, (struct xml_wish){.tag = "text"}));
        double v, at_x, at_y;
        char *end;

        v = strtod(text, &end);
        if (end == text || *end != '\0')
            continue;
        ck_assert_int_eq(sscanf(xml_attribute(g, "transform"), "translate(%lf,%lf)", &at_x, &at_y),
                         2);
        if (at_y > lowest)
            n = 0; /* those before are numbers of micro-batches */
        if (at_y < lowest || n == 32)
            continue;
        lowest = at_y;
        value[n] = v;
        x[n++] = at_x;
    }
    ck_assert_uint_ge(n, 3);
    ck_assert_double_eq(value[0], 0);
    a = (struct axis){x[0], (x[n - 1] - x[0]) / value[n - 1]};
    for (size_t i = 1; i < n; i++) {
        ck_assert_double_eq_tol(value[i] - value[i - 1], value[1], 1e-6);
        ck_assert_double_eq_tol(x[i], a.at_zero + value[i] * a.per_unit, 0.02);
    }
    return a;
}

/* Marks the task that the box from x0 to x1 is, of those not yet marked; false: there is none. */
static bool mark_task(const struct fr_record *r, bool is_marked[], double from_s, double to_s)
{
    for (size_t t = 0; t < r->n_tasks; t++)
        if (!is_marked[t] && fabs(r->run->start_s[t] - from_s) < 2e-5 &&
            fabs(r->run->end_s[t] - to_s) < 2e-5) {
            is_marked[t] = true;
            return true;
        }
    return false;
}

/* The boxes of one group have one colour, which is returned, or NULL when there are none; each is a
 * task at its time. */
static const char *check_group(const struct xml_node *g, struct axis a, const struct fr_record *r,
                               bool is_marked[], size_t *n)
{
    const char *colour = NULL;

    for (const struct xml_node *p = NULL;
         (p = xml_next(g, p, (struct xml_wish){.tag = "polygon"}));) {
        double x0, x1;

        ck_assert(!colour || strcmp(colour, xml_attribute(p, "fill")) == 0);
        colour = xml_attribute(p, "fill");
        ck_assert_int_eq(sscanf(xml_attribute(p, "points"), "%lf,%*f %lf,", &x0, &x1), 2);
        ck_assert_msg(mark_task(r, is_marked, (x0 - a.at_zero) / a.per_unit / 1e3,
                                (x1 - a.at_zero) / a.per_unit / 1e3),
                      "a box from %g to %g is no task", x0, x1);
        (*n)++;
    }
    return colour;
}

/* Groups differ in colour. Returns how many boxes there are. */
static size_t check_boxes(struct xml_tree *svg, const struct fr_record *r, bool is_marked[])
{
    struct axis a = read_time_axis(svg);
    const char *colours[16];
    size_t n = 0, n_colours = 0;

    for (const struct xml_node *g = NULL;
         (g = xml_next(svg->root, g, (struct xml_wish){.tag = "g", .attribute = "id"}));) {
        const char *colour;

        if (strncmp(xml_attribute(g, "id"), "gnuplot_plot_", 13) != 0)
            continue;
        colour = check_group(g, a, r, is_marked, &n);
        if (!colour)
            continue;
        for (size_t i = 0; i < n_colours; i++)
            ck_assert_str_ne(colour, colours[i]);
        ck_assert_uint_lt(n_colours, 16);
        colours[n_colours++] = colour;
    }
    ck_assert_uint_ge(n_colours, 4);
    return n;
}

static void check_picture(struct xml_tree *svg, const struct fr_record *r)
{
    static const char *const texts[] = {"toy on all 2 GPUs of pair, by hand", "forward",
                                        "backward (data)", "update", "collective"};
    bool is_marked[16] = {false};

    ck_assert_msg(svg->root != NULL, "%s", svg->fault);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        xml_only(svg->root, (struct xml_wish){.tag = "text", .text = texts[i]});
    for (size_t d = 0; d < 2; d++) /* the lane, and the curve of its memory */
        ck_assert_uint_ge(
            xml_count(svg->root, (struct xml_wish){.tag = "text", .text = r->devices[d].name}), 1);
    ck_assert_uint_eq(check_boxes(svg, r, is_marked), r->n_tasks);
}

TEST(a_picture_is_drawn_or_the_way_out_is_named)
{
    const char *path = "test_results_trace.tmp.svg";
    struct fr_error err = {.text = ""};
    struct hand h;

    make_hand(&h, 64 * MIB);
    const struct fr_record *const records[] = {h.record};
    const struct fr_results rs = {.records = records, .n = 1};
    enum fr_status st = fr_show_file(fr_shown_run(&rs), path, NULL, &err);

    if (st != FR_OK) {
        ck_assert_str_eq(err.text, "gnuplot is not installed; write .csv or .trace.json instead");
        ck_assert_int_ne(access(path, F_OK), 0);
        puts("skipped: gnuplot is not installed, no picture is looked at");
    } else {
        char *text = read_all(path);
        struct xml_tree *svg = xml_parse(text);

        check_picture(svg, h.record);
        xml_free(svg);
        free(text);
        unlink(path);
    }
    free_hand(&h);
}

TEST(a_hostile_name_cannot_leave_its_string)
{
    const char *path = "test_results_trace.tmp.svg";
    struct fr_error err = {.text = ""};
    struct hand h;
    struct fr_record copy;

    make_hand(&h, 64 * MIB);
    copy = *h.record;
    copy.workload =
        "x'\nsystem('touch test_results_trace.pwned')\n`touch test_results_trace.pwned`";
    const struct fr_record *const records[] = {&copy};
    const struct fr_results rs = {.records = records, .n = 1};
    enum fr_status st = fr_show_file(fr_shown_run(&rs), path, NULL, &err);

    ck_assert_int_ne(access("test_results_trace.pwned", F_OK), 0);
    if (st == FR_OK) {
        char *text = read_all(path);
        struct xml_tree *svg = xml_parse(text);

        ck_assert_msg(svg->root != NULL, "%s", svg->fault);
        xml_only(svg->root,
                 (struct xml_wish){.tag = "text",
                                   .text =
                                       "x'\\x0asystem('touch test_results_trace.pwned')\\x0a`touch "
                                       "test_results_trace.pwned` on all 2 GPUs of pair, ..."});
        xml_free(svg);
        free(text);
        unlink(path);
    } else {
        ck_assert_str_eq(err.text, "gnuplot is not installed; write .csv or .trace.json instead");
    }
    free_hand(&h);
}

TEST(an_unwritable_file_leaves_nothing_behind)
{
    struct fr_error err = {.text = ""};
    struct hand h;

    make_hand(&h, 64 * MIB);
    const struct fr_record *const records[] = {h.record};
    const struct fr_results rs = {.records = records, .n = 1};
    ck_assert_int_ne(fr_show_file(fr_shown_run(&rs), "no-such-folder/x.json", NULL, &err), FR_OK);
    ck_assert(strlen(err.text) > 0);
    free_hand(&h);
}

int main(void)
{
    TCase *tc = tcase_create("hand");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "results/trace");
}
