/* tests/support/hand_case.c - builds, runs and records the plan that hand_case.h describes. */
#include "config.h"

#include "tests/support/hand_case.h"

#include "study/answer/record.h"

#include <check.h>
#include <string.h>

static const struct fr_loc nowhere = {NULL, 0, 0};

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

void make_hand(struct hand *h, uint64_t mem_bytes)
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
    m.options.want |= FR_WANT_HOLDERS;
    ck_assert_msg(fr_simulate(m.plan, &m.options, &m.run, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(fr__record_make(&m, &h->record, &err), FR_OK);
}

void free_hand(struct hand *h)
{
    fr_record_free(h->record);
    fr_topo_free(h->setting.topo);
}
