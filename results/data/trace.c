/* results/data/trace.c - a timeline for ui.perfetto.dev and chrome://tracing.
 *
 * It is separate because it is the only format that holds every task.
 *
 * Format: "Trace Event Format" (the Chromium project), JSON object form, times in microseconds. One
 * process a device; a thread for each stream in use; tasks without a stream, which may overlap, are
 * asynchronous events; memory by kind is a counter of each process. An arrow leads from each send
 * to its receive: "bind_id", the second version of flows, which tasks without a stream have too.
 */
#include "config.h"

#include "base/error.h"
#include "base/json.h"
#include "base/units.h"
#include "results/data/data.h"
#include "results/data/trace_choice.h"
#include "results/parts/memory_curve.h"
#include "results/parts/output.h"
#include "results/parts/task_order.h"

#include <inttypes.h>
#include <stdlib.h>

struct trace {
    FILE *f;
    const struct fr_record *record;
    const struct fr_plan_view *view;
    const struct fr_context *context;
    struct fr__trace_choice choice;
    unsigned *kinds; /* [devices] of buffers that a device ever holds, a bit each */
    uint64_t n_written;
};

static const char *stream_name(unsigned stream, char *buf, size_t n)
{
    static const char *const names[] = {
        [FR_STREAM_COMPUTE] = "compute",
        [FR_STREAM_SEND] = "copy (send)",
        [FR_STREAM_RECV] = "copy (recv)",
        [FR_STREAM_COMM] = "communication",
    };

    if (stream < sizeof(names) / sizeof(names[0]))
        return names[stream];
    snprintf(buf, n, "stream %u", stream);
    return buf;
}

/* Numbers from 1: viewers keep process 0 for themselves. */
static void begin_event(struct trace *t, const char *phase, uint32_t device)
{
    fprintf(t->f, "%s\n{\"ph\":\"%s\",\"pid\":%" PRIu32, t->n_written++ ? "," : "", phase,
            device + 1);
}

static void write_text(struct trace *t, const char *key, const char *text)
{
    fprintf(t->f, ",\"%s\":", key);
    fr__json_write_string(t->f, text);
}

static void write_number(struct trace *t, const char *key, double x)
{
    char buf[40];

    fprintf(t->f, ",\"%s\":%s", key, fr__format_double(x, buf, sizeof(buf)));
}

static void write_metadata(struct trace *t, const char *what, uint32_t device, unsigned thread,
                           const char *key, const char *text)
{
    begin_event(t, "M", device);
    fprintf(t->f, ",\"tid\":%u,\"name\":\"%s\",\"args\":{\"%s\":", thread, what, key);
    fr__json_write_string(t->f, text);
    fputs("}}", t->f);
}

static void write_sort_index(struct trace *t, const char *what, uint32_t device, unsigned thread,
                             uint32_t index)
{
    begin_event(t, "M", device);
    fprintf(t->f, ",\"tid\":%u,\"name\":\"%s\",\"args\":{\"sort_index\":%" PRIu32 "}}", thread,
            what, index);
}

static void name_device(struct trace *t, uint32_t device)
{
    const struct fr_topo *topo = t->view->topo;

    write_metadata(t, "process_name", device, 0, "name", topo->devices[device].name);
    write_metadata(t, "process_labels", device, 0, "labels",
                   topo->types[topo->devices[device].type].name);
    write_sort_index(t, "process_sort_index", device, 0, device);
}

/* order: tasks lane by lane, so that a new device or stream shows itself. */
static void write_names(struct trace *t, const uint32_t order[])
{
    char buf[24];

    for (size_t i = 0; i < t->view->n_tasks; i++) {
        const struct fr_task *task = &t->view->tasks[order[i]];
        const struct fr_task *before = i ? &t->view->tasks[order[i - 1]] : NULL;
        bool is_new_device = !before || before->device != task->device;

        if (!t->choice.devices[task->device])
            continue;
        if (is_new_device)
            name_device(t, task->device);
        if ((is_new_device || before->stream != task->stream) && task->stream != FR_STREAM_FREE) {
            write_metadata(t, "thread_name", task->device, task->stream + 1u, "name",
                           stream_name(task->stream, buf, sizeof(buf)));
            write_sort_index(t, "thread_sort_index", task->device, task->stream + 1u, task->stream);
        }
    }
}

static const char *category_of(const struct fr_task *task)
{
    switch (task->kind) {
    case FR_TASK_SEND:
    case FR_TASK_RECV:
        return "copy";
    case FR_TASK_COLLECTIVE:
        return "communication";
    default:
        return fr_phase_name((enum fr_phase)task->phase);
    }
}

static void write_args(struct trace *t, uint32_t id)
{
    const struct fr_task *task = &t->view->tasks[id];
    uint32_t op = fr_plan_user_op(t->record->plan, task->op);

    fprintf(t->f, ",\"args\":{\"task\":%" PRIu32, id);
    write_text(t, "phase", fr_phase_name((enum fr_phase)task->phase));
    if (op != FR_NONE) {
        write_text(t, "op", t->view->user_graph->ops[op].name);
        write_text(t, "kind", fr_op_kind_name(t->view->user_graph->ops[op].kind));
    }
    if (task->microbatch != FR_NONE)
        fprintf(t->f, ",\"micro_batch\":%" PRIu32, task->microbatch);
    if (task->kind == FR_TASK_COLLECTIVE) {
        const struct fr_collective *c = &t->view->collectives[task->collective];

        write_number(t, "bytes", c->bytes);
        if (c->has_cost && t->record->n_fitted_collectives > 0)
            write_text(t, "cost", fr_trust_name(t->view->costs[c->cost_id].trust));
        fprintf(t->f, ",\"rank\":%" PRIu32, task->rank);
    } else if (fr_task_transfer(task) != FR_NONE) {
        write_number(t, "bytes", t->view->transfers[task->transfer].bytes);
    }
    if (task->cost_id != FR_NONE)
        write_text(t, "cost", fr_trust_name(t->view->costs[task->cost_id].trust));
    fputc('}', t->f);
}

/* The end of an arrow between a send and a receive that are both shown. */
static void write_flow(struct trace *t, const struct fr_task *task)
{
    uint32_t transfer = fr_task_transfer(task);
    const struct fr_transfer *x = transfer == FR_NONE ? NULL : &t->view->transfers[transfer];

    if (x && fr__trace_shows(&t->choice, &t->view->tasks[x->send]) &&
        fr__trace_shows(&t->choice, &t->view->tasks[x->recv]))
        fprintf(t->f, ",\"bind_id\":\"0x%" PRIx32 "\",\"%s\":true", transfer,
                task->kind == FR_TASK_SEND ? "flow_out" : "flow_in");
}

static void write_task(struct trace *t, uint32_t id)
{
    const struct fr_task *task = &t->view->tasks[id];
    double start_s = t->record->run->start_s[id], end_s = t->record->run->end_s[id];
    bool is_free = task->stream == FR_STREAM_FREE;
    char label[256];

    fr_plan_task_label(t->record->plan, id, label, sizeof(label));
    begin_event(t, is_free ? "b" : "X", task->device);
    fprintf(t->f, ",\"tid\":%u", is_free ? 0 : task->stream + 1u);
    write_text(t, "name", label);
    write_text(t, "cat", category_of(task));
    write_number(t, "ts", 1e6 * start_s);
    if (is_free)
        fprintf(t->f, ",\"id\":%" PRIu32, id);
    else
        write_number(t, "dur", 1e6 * (end_s - start_s));
    write_flow(t, task);
    write_args(t, id);
    fputc('}', t->f);
    if (!is_free)
        return;
    begin_event(t, "e", task->device);
    fputs(",\"tid\":0", t->f);
    write_text(t, "name", label);
    write_text(t, "cat", category_of(task));
    write_number(t, "ts", 1e6 * end_s);
    fprintf(t->f, ",\"id\":%" PRIu32 "}", id);
}

static void write_counter(struct trace *t, uint32_t device, double t_s,
                          const uint64_t bytes[FR_N_BUFFER_KINDS])
{
    const char *separator = "";

    begin_event(t, "C", device);
    write_text(t, "name", "memory (bytes)");
    write_number(t, "ts", 1e6 * t_s);
    fputs(",\"args\":{", t->f);
    for (unsigned kind = 0; kind < FR_N_BUFFER_KINDS; kind++) {
        if (!(t->kinds[device] & 1u << kind))
            continue;
        fprintf(t->f, "%s\"%s\":%" PRIu64, separator,
                fr_buffer_kind_name((enum fr_buffer_kind)kind), bytes[kind]);
        separator = ",";
    }
    fputs("}}", t->f);
}

/* Whether a trace has this moment: where micro-batches are left out, it has no memory either. */
static bool shows_memory(const struct fr__trace_choice *c, uint32_t device, double t_s)
{
    return c->devices[device] && !(t_s > c->gap_start_s && t_s < c->gap_end_s);
}

static enum fr_status write_memory(struct trace *t, struct fr_error *err)
{
    struct fr__memory_event *events;
    uint64_t bytes[FR_N_BUFFER_KINDS] = {0};
    size_t n;

    FR_TRY(fr__memory_events(t->record, &events, &n, err));
    for (size_t i = 0; i < n; i++) {
        const struct fr_buffer *b = &t->view->buffers[events[i].buffer];
        bool is_last_of_device = i + 1 == n || events[i + 1].device != events[i].device;

        if (events[i].is_alloc)
            bytes[b->kind] += b->bytes;
        else
            bytes[b->kind] -= b->bytes;
        if ((is_last_of_device || events[i + 1].t_s > events[i].t_s) &&
            shows_memory(&t->choice, events[i].device, events[i].t_s))
            write_counter(t, events[i].device, events[i].t_s, bytes);
        if (is_last_of_device)
            for (unsigned kind = 0; kind < FR_N_BUFFER_KINDS; kind++)
                bytes[kind] = 0;
    }
    free(events);
    return FR_OK;
}

/* The tasks that are receives, or those that are not. */
static enum fr_status write_tasks(struct trace *t, const uint32_t order[], bool receives,
                                  struct fr_error *err)
{
    for (size_t i = 0; i < t->view->n_tasks; i++) {
        const struct fr_task *task = &t->view->tasks[order[i]];

        if (task->kind != FR_TASK_MARKER && (task->kind == FR_TASK_RECV) == receives &&
            fr__trace_shows(&t->choice, task))
            write_task(t, order[i]);
        if (i % 1024 == 0)
            FR_TRY(fr__check_cancel(t->context, err));
    }
    return FR_OK;
}

/* Receives last: a viewer takes events of one moment in the file's order, and an arrow must begin
 * before it ends. */
static enum fr_status write_events(struct trace *t, struct fr_error *err)
{
    uint32_t *order;
    enum fr_status st;

    FR_TRY(fr__tasks_by_lane(t->record, &order, err));
    write_names(t, order);
    st = write_tasks(t, order, false, err);
    if (st == FR_OK)
        st = write_tasks(t, order, true, err);
    free(order);
    return st == FR_OK ? write_memory(t, err) : st;
}

static enum fr_status find_kinds(struct trace *t, struct fr_error *err)
{
    t->kinds = calloc(t->view->topo->n_devices + 1, sizeof(*t->kinds));
    if (!t->kinds)
        return fr__fail_nomem(err);
    for (size_t i = 0; i < t->view->n_buffers; i++)
        t->kinds[t->view->buffers[i].device] |= 1u << t->view->buffers[i].kind;
    return FR_OK;
}

/* Says what is left out, for people who open the file later. */
static void write_choice(struct trace *t)
{
    if (t->choice.micro < t->choice.of)
        fprintf(t->f, ",\"micro_batches\":\"the first %" PRIu32 " of %" PRIu32 "\"",
                t->choice.micro, t->choice.of);
}

enum fr_status fr__results_trace(FILE *f, const void *what, const char *ending,
                                 const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_results *rs = what;
    const struct fr_record *r = rs->records[0];
    struct trace t = {.f = f, .record = r, .context = ctx};
    enum fr_status st;

    (void)ending;
    if (!r->plan || !r->run)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "a trace needs the plan and its run");
    t.view = fr_plan_view(r->plan);
    FR_TRY(fr__trace_choose(r, rs->trace, &t.choice, err));
    fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"tool\":\"forerun\"", f);
    write_text(&t, "workload", r->workload);
    write_text(&t, "topology", r->topology);
    write_text(&t, "strategy", r->strategy);
    write_choice(&t);
    fputs("},\"traceEvents\":[", f);
    st = find_kinds(&t, err);
    if (st == FR_OK)
        st = write_events(&t, err);
    fputs("\n]}\n", f);
    free(t.kinds);
    free(t.choice.devices);
    return st;
}
