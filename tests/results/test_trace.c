/* tests/results/test_trace.c - a plan made by hand, run, recorded, traced and drawn.
 *
 * Two GPUs joined by links of 1 GB/s without latency. On each: forward 2 ms, backward 3 ms, an
 * all-reduce of 1 MB, update 1 ms; beside the backward pass GPU 0 sends 1 MB to GPU 1 (1 ms). A
 * ring all-reduce over two ranks moves 2 (n-1)/n = 1 times its bytes over each link: 1 ms. So:
 *   forward [0, 2], copy [2, 3], backward [2, 5], all-reduce [5, 6], update [6, 7] ms;
 *   compute 6 ms, exposed communication 1 ms, no bubble;
 *   GPU 0 -> GPU 1 carries 2 MB in 7 ms, 2/7 of what it could; the other direction 1 MB.
 */
#include "config.h"

#include "results/memory_curve.h"
#include "study/record.h"
#include "tests/support/json_check.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct fr_loc nowhere = {NULL, 0, 0};
enum { KIB = 1024, MIB = 1024 * 1024 };

struct hand {
    struct fr_setting setting;
    struct fr_graph graph;
    struct fr_question question;
    uint32_t devices[2];
    struct fr_record *record;
};

static struct fr_topo *make_pair(uint64_t mem_bytes)
{
    const struct fr_device_type type = {.name = "toy-gpu",
                                        .is_gpu = true,
                                        .mem_bytes = mem_bytes,
                                        .mem_Bps = 1e9,
                                        .vector_flops_per_s = 1e12,
                                        .n_sms = 1,
                                        .source = "made up for the test"};
    struct fr_topo_builder *b = fr_topo_builder_new();
    struct fr_topo *t = NULL;
    struct fr_error err;
    uint32_t id = fr_topo_builder_type(b, &type);
    uint32_t v0 = fr_topo_builder_vertex(b, FR_VERTEX_GPU, "n0.gpu0", 0, id, nowhere);
    uint32_t v1 = fr_topo_builder_vertex(b, FR_VERTEX_GPU, "n0.gpu1", 0, id, nowhere);

    fr_topo_builder_link(b, FR_LINK_NVLINK, v0, v1, 1e9, 0, true, "test", nowhere);
    ck_assert_int_eq(fr_topo_builder_finish(b, "pair", &t, &err), FR_OK);
    fr_topo_builder_free(b);
    return t;
}

static uint32_t add_compute(struct fr_plan *p, uint32_t device, enum fr_phase phase, double time_s)
{
    const struct fr_cost cost = {.mean_s = time_s,
                                 .kind = FR_OP_OTHER,
                                 .trust = phase == FR_PHASE_FORWARD ? FR_TRUST_PROFILED
                                                                    : FR_TRUST_DATASHEET};
    const struct fr_task task = {.device = device,
                                 .cost_id = fr_plan_add_cost(p, &cost),
                                 .op = FR_NONE,
                                 .label = FR_NONE,
                                 .microbatch = 0,
                                 .kind = FR_TASK_COMPUTE,
                                 .phase = (uint8_t)phase,
                                 .stream = FR_STREAM_COMPUTE};

    return fr_plan_add_task(p, &task);
}

static uint32_t add_moving(struct fr_plan *p, uint32_t device, enum fr_task_kind kind,
                           enum fr_stream stream, uint32_t collective)
{
    const struct fr_task task = {.device = device,
                                 .cost_id = FR_NONE,
                                 .op = FR_NONE,
                                 .collective = collective,
                                 .rank = device,
                                 .microbatch = FR_NONE,
                                 .kind = (uint8_t)kind,
                                 .phase = FR_PHASE_BACKWARD_WEIGHT,
                                 .stream = (uint8_t)stream};

    return fr_plan_add_task(p, &task);
}

static void add_buffers(struct fr_plan *p, uint32_t device, uint32_t forward, uint32_t backward)
{
    struct fr_buffer b = {.device = device, .alloc = FR_NONE, .alias = FR_NONE, .op = FR_NONE};

    b.bytes = 3 * MIB;
    b.kind = FR_BUFFER_PARAMETER;
    fr_plan_add_buffer(p, &b);
    b.bytes = MIB;
    b.kind = FR_BUFFER_CONTEXT;
    fr_plan_add_buffer(p, &b);
    b.bytes = 4 * MIB + 512 * KIB;
    b.kind = FR_BUFFER_ACTIVATION;
    b.alloc = forward;
    fr_plan_add_free(p, fr_plan_add_buffer(p, &b), backward);
}

static struct fr_plan *make_plan(const struct fr_topo *topo)
{
    struct fr_plan *p = fr_plan_new(topo, NULL);
    struct fr_error err = {.text = ""};
    const struct fr_collective c = {.bytes = 1e6,
                                    .group = fr_plan_add_group(p, 0, 1, 2),
                                    .label = fr_plan_add_string(p, "bucket \"0\""),
                                    .kind = FR_ALL_REDUCE};
    uint32_t collective = fr_plan_add_collective(p, &c), forward[2];

    for (uint32_t d = 0; d < 2; d++) {
        uint32_t backward, member, update;

        forward[d] = add_compute(p, d, FR_PHASE_FORWARD, 2e-3);
        backward = add_compute(p, d, FR_PHASE_BACKWARD_DATA, 3e-3);
        member = add_moving(p, d, FR_TASK_COLLECTIVE, FR_STREAM_COMM, collective);
        update = add_compute(p, d, FR_PHASE_UPDATE, 1e-3);
        fr_plan_add_dep(p, forward[d], backward);
        fr_plan_add_dep(p, backward, member);
        fr_plan_add_dep(p, member, update);
        add_buffers(p, d, forward[d], backward);
    }
    uint32_t send = add_moving(p, 0, FR_TASK_SEND, FR_STREAM_SEND, FR_NONE);
    uint32_t recv = add_moving(p, 1, FR_TASK_RECV, FR_STREAM_RECV, FR_NONE);

    fr_plan_add_dep(p, forward[0], send);
    fr_plan_add_transfer(p, send, recv, 1e6, fr_plan_add_string(p, "x"));
    ck_assert_msg(fr_plan_finish(p, &err) == FR_OK, "%s", err.text);
    return p;
}

static void make_hand(struct hand *h, uint64_t mem_bytes)
{
    struct fr__making m = {.setting = &h->setting,
                           .question = &h->question,
                           .devices = h->devices,
                           .n_devices = 2,
                           .global_batch = 4};
    struct fr_error err = {.text = ""};

    memset(h, 0, sizeof(*h));
    h->graph.name = "toy";
    h->graph.batch = 4;
    h->setting.topo = make_pair(mem_bytes);
    h->setting.graph = &h->graph;
    h->devices[1] = 1;
    fr_question_init(&h->question);
    h->question.strategy = "by hand";
    m.plan = make_plan(h->setting.topo);
    m.options = h->question.run;
    m.options.with_holders = true;
    ck_assert_msg(fr_simulate(m.plan, &m.options, &m.run, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(fr__record_make(&m, &h->record, &err), FR_OK);
}

static void free_hand(struct hand *h)
{
    fr_record_free(h->record);
    fr_topo_free(h->setting.topo);
}

static const double close_s = 1e-9;

START_TEST(a_record_says_where_the_time_goes)
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
END_TEST

/* 3 MiB stay and 4.5 MiB come: both are large blocks, from one segment of 20 MiB; 1 MiB of context. */
START_TEST(memory_is_what_the_allocator_reserves_and_the_context)
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
END_TEST

/* At the start of the forward task: its activation, the parameters, the context, in that order. */
START_TEST(the_peak_names_who_holds_it)
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
END_TEST

START_TEST(a_device_too_small_by_its_rounding_is_out_of_memory)
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
END_TEST

START_TEST(memory_events_follow_the_tasks)
{
    struct hand h;
    struct fr__memory_event *events;
    struct fr_error err;
    size_t n;

    make_hand(&h, 64 * MIB);
    ck_assert_int_eq(fr__memory_events(h.record, &events, &n, &err), FR_OK);
    ck_assert_uint_eq(n, 8); /* on each GPU three come, one goes */
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(events[i].device, 0);
    for (size_t i = 0; i < 3; i++)
        ck_assert(events[i].is_alloc && events[i].t_s == 0);
    ck_assert(!events[3].is_alloc);
    ck_assert_double_eq_tol(events[3].t_s, 5e-3, close_s);
    free(events);
    free_hand(&h);
}
END_TEST

/* The highest point of each device's curve is the peak that the engine counted. */
static void check_peaks(const struct fr_record *r)
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    uint64_t held = 0, peak = 0;
    struct fr__memory_event *events;
    struct fr_error err;
    size_t n;

    ck_assert_int_eq(fr__memory_events(r, &events, &n, &err), FR_OK);
    for (size_t i = 0; i < n; i++) {
        uint64_t bytes = v->buffers[events[i].buffer].bytes;

        if (i == 0 || events[i].device != events[i - 1].device)
            held = peak = 0;
        held += events[i].is_alloc ? bytes : -bytes;
        peak = held > peak ? held : peak;
        if (i + 1 == n || events[i + 1].device != events[i].device)
            ck_assert_msg(peak == r->run->devices[events[i].device].peak_bytes,
                          "%s, device %u: the curve reaches %ju, the engine counted %ju",
                          r->strategy, events[i].device, (uintmax_t)peak,
                          (uintmax_t)r->run->devices[events[i].device].peak_bytes);
    }
    free(events);
}

START_TEST(memory_curves_reach_the_peaks_that_the_engine_counted)
{
    static const char *const specs[] = {"single", "dp", "dp:sync=ps-cpu",   "dp:sync=ps-sharded",
                                        "mp",     "pp", "pp:schedule=gpipe"};
    struct fr_setting setting;
    struct fr_question q;
    struct fr_error err = {.text = ""};

    fr_question_init(&q);
    q.workload = "alexnet";
    q.topology = "dgx1-v100";
    q.n_gpus = 4;
    q.global_batch = 64;
    ck_assert_msg(fr_setting_load(&setting, &q, &err) == FR_OK, "%s", err.text);
    for (size_t i = 0; i < 2 * sizeof(specs) / sizeof(specs[0]); i++) {
        struct fr_record *r;

        q.strategy = specs[i / 2];
        q.run.alloc_at_start = i % 2 == 1;
        ck_assert_msg(fr_answer_on(&setting, &q, NULL, &r, &err) == FR_OK, "%s", err.text);
        check_peaks(r);
        fr_record_free(r);
    }
    fr_setting_fini(&setting);
}
END_TEST

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

START_TEST(a_trace_shows_every_lane_bucket_and_byte)
{
    static const char *const once[] = {"\"name\":\"process_name\",\"args\":{\"name\":\"n0.gpu0\"}",
                                       "\"name\":\"process_name\",\"args\":{\"name\":\"n0.gpu1\"}",
                                       "\"args\":{\"name\":\"copy (send)\"}",
                                       "\"args\":{\"name\":\"copy (recv)\"}"};
    static const char *const twice[] = {"\"args\":{\"name\":\"compute\"}",
                                        "\"args\":{\"name\":\"communication\"}",
                                        "\"name\":\"all-reduce bucket \\\"0\\\"\"",
                                        "\"cost\":\"profiled\"",
                                        "\"phase\":\"forward\"",
                                        "\"cat\":\"copy\""};
    const char *path = "test_results_trace.tmp.trace.json";
    struct fr_error err = {.text = ""};
    struct hand h;
    char *text;

    make_hand(&h, 64 * MIB);
    const struct fr_record *const records[] = {h.record};
    const struct fr_results rs = {records, 1, false};
    ck_assert_msg(fr_results_write(&rs, path, NULL, &err) == FR_OK, "%s", err.text);
    text = read_all(path);
    ck_assert(is_json(text));
    for (size_t i = 0; i < sizeof(once) / sizeof(once[0]); i++)
        ck_assert_msg(count_of(text, once[i]) == 1, "%s", once[i]);
    for (size_t i = 0; i < sizeof(twice) / sizeof(twice[0]); i++)
        ck_assert_msg(count_of(text, twice[i]) == 2, "%s", twice[i]);
    /* 4 tasks on each GPU and two copies */
    ck_assert_uint_eq(count_of(text, "\"ph\":\"X\""), 10);
    /* memory changes at 0 and at 5 ms on each */
    ck_assert_uint_eq(count_of(text, "\"ph\":\"C\""), 4);
    free(text);
    unlink(path);
    free_hand(&h);
}
END_TEST

/* ---- the traces of every strategy ---- */

/* Bytes that a task moves; below 0: it moves none. */
static double bytes_of(const struct fr_plan_view *v, const struct fr_task *k)
{
    if (fr_task_transfer(k) != FR_NONE)
        return v->transfers[fr_task_transfer(k)].bytes;
    if (fr_task_collective(k) != FR_NONE)
        return v->collectives[fr_task_collective(k)].bytes;
    return -1;
}

/* One event a line: does it name its task as the plan does, and move what the plan moves? */
static void check_event(const struct fr_record *r, const char *line)
{
    const struct fr_plan_view *v = fr_plan_view(r->plan);
    const char *task = strstr(line, "\"task\":"), *bytes = strstr(line, "\"bytes\":");
    const struct fr_task *k;
    double expected;

    ck_assert_ptr_nonnull(task);
    k = &v->tasks[strtoul(task + strlen("\"task\":"), NULL, 10)];
    expected = bytes_of(v, k);
    ck_assert_msg(!strstr(line, "\"name\":\"\""), "%s: no name: %s", r->strategy, line);
    if (k->kind == FR_TASK_COMPUTE)
        ck_assert_msg(strstr(line, "\"op\":\"") || !strstr(line, "\"name\":\"task "),
                      "%s: no op: %s", r->strategy, line);
    if (expected < 0)
        ck_assert_msg(!bytes, "%s: bytes of a task that moves none: %s", r->strategy, line);
    else
        ck_assert_msg(bytes && strtod(bytes + strlen("\"bytes\":"), NULL) == expected,
                      "%s: not %g bytes: %s", r->strategy, expected, line);
}

/* The caller frees. */
static char *trace_of(const struct fr_setting *setting, const struct fr_question *q,
                      struct fr_record **r)
{
    const char *path = "test_results_trace.all.trace.json";
    struct fr_error err = {.text = ""};
    char *text;

    ck_assert_msg(fr_answer_on(setting, q, NULL, r, &err) == FR_OK, "%s", err.text);
    const struct fr_record *const records[] = {*r};
    const struct fr_results rs = {records, 1, false};
    ck_assert_msg(fr_results_write(&rs, path, NULL, &err) == FR_OK, "%s", err.text);
    text = read_all(path);
    unlink(path);
    return text;
}

START_TEST(every_strategy_traces_what_its_plan_holds)
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
        char *text, *again, *rest;

        q.strategy = fr_strategy_at(i)->name;
        q.n_gpus = strcmp(q.strategy, "single") == 0 ? 1 : 4;
        text = trace_of(&setting, &q, &r);
        again = trace_of(&setting, &q, &other);
        ck_assert_msg(strcmp(text, again) == 0, "%s: two runs, two traces", q.strategy);
        ck_assert_msg(is_json(text) && !strstr(text, ":nan") && !strstr(text, ":-nan"),
                      "%s: no JSON", q.strategy);
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            if (strstr(line, "\"ph\":\"X\"") || strstr(line, "\"ph\":\"b\""))
                check_event(r, line);
        free(text);
        free(again);
        fr_record_free(r);
        fr_record_free(other);
    }
    fr_setting_fini(&setting);
}
END_TEST

START_TEST(a_picture_is_drawn_or_the_way_out_is_named)
{
    const char *path = "test_results_trace.tmp.svg";
    struct fr_error err = {.text = ""};
    struct hand h;

    make_hand(&h, 64 * MIB);
    const struct fr_record *const records[] = {h.record};
    const struct fr_results rs = {records, 1, false};
    enum fr_status st = fr_results_write(&rs, path, NULL, &err);

    if (st != FR_OK) {
        ck_assert_str_eq(err.text, "gnuplot is not installed; write .csv or .trace.json instead");
        ck_assert_int_ne(access(path, F_OK), 0);
        puts("skipped: gnuplot is not installed, no picture is looked at");
    } else {
        char *text;

        text = read_all(path);
        ck_assert_uint_eq(count_of(text, "<svg"), 1);
        ck_assert(count_of(text, "toy on 2 of 2 GPUs of pair, by hand") > 0);
        ck_assert(count_of(text, "backward (data)") > 0);
        ck_assert(count_of(text, "n0.gpu1") > 0);
        free(text);
        unlink(path);
    }
    free_hand(&h);
}
END_TEST

START_TEST(a_hostile_name_cannot_leave_its_string)
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
    const struct fr_results rs = {records, 1, false};
    enum fr_status st = fr_results_write(&rs, path, NULL, &err);

    ck_assert(st == FR_OK || strstr(err.text, "not installed"));
    ck_assert_int_ne(access("test_results_trace.pwned", F_OK), 0);
    unlink(path);
    free_hand(&h);
}
END_TEST

START_TEST(an_unwritable_file_leaves_nothing_behind)
{
    struct fr_error err = {.text = ""};
    struct hand h;

    make_hand(&h, 64 * MIB);
    const struct fr_record *const records[] = {h.record};
    const struct fr_results rs = {records, 1, false};
    ck_assert_int_ne(fr_results_write(&rs, "no-such-folder/x.json", NULL, &err), FR_OK);
    ck_assert(strlen(err.text) > 0);
    free_hand(&h);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("hand");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_record_says_where_the_time_goes);
    tcase_add_test(tc, memory_is_what_the_allocator_reserves_and_the_context);
    tcase_add_test(tc, the_peak_names_who_holds_it);
    tcase_add_test(tc, a_device_too_small_by_its_rounding_is_out_of_memory);
    tcase_add_test(tc, memory_events_follow_the_tasks);
    tcase_add_test(tc, memory_curves_reach_the_peaks_that_the_engine_counted);
    tcase_add_test(tc, a_trace_shows_every_lane_bucket_and_byte);
    tcase_add_test(tc, every_strategy_traces_what_its_plan_holds);
    tcase_add_test(tc, a_picture_is_drawn_or_the_way_out_is_named);
    tcase_add_test(tc, a_hostile_name_cannot_leave_its_string);
    tcase_add_test(tc, an_unwritable_file_leaves_nothing_behind);
    return run_case(tc, "results/trace");
}
