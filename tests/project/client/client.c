/* tests/project/client/client.c - a program of somebody else's: it sees the installed headers and
 * pkg-config, nothing more. One op on each of two GPUs, and a tensor moved between them. */
#include <forerun/sim.h>
#include <forerun/topo.h>
#include <forerun/workloads.h>

#include <math.h>
#include <stdio.h>

#define OR_FAIL(call)                                                                              \
    if ((call) != FR_OK)                                                                           \
    goto fail

static enum fr_status make_topo(struct fr_topo **out, struct fr_error *err)
{
    struct fr_topo_builder *b = fr_topo_builder_new();
    uint32_t type = fr_topo_builder_type(b, fr_device_type_find("v100-sxm2-16gb"));
    struct fr_loc here = {NULL, 0, 0};
    uint32_t v0 = fr_topo_builder_vertex(b, FR_VERTEX_GPU, "left", 0, type, here);
    uint32_t v1 = fr_topo_builder_vertex(b, FR_VERTEX_GPU, "right", 0, type, here);
    enum fr_status st;

    fr_topo_builder_link(b, FR_LINK_NVLINK, v0, v1, 10e9, 1e-6, true, "an example", here);
    st = fr_topo_builder_finish(b, "a pair", out, err);
    fr_topo_builder_free(b);
    return st;
}

/* Its ops are number 0 and 1. */
static enum fr_status make_graph(struct fr_graph **out, struct fr_error *err)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_op op = {.name = "first", .kind = FR_OP_OTHER, .phase = FR_PHASE_FORWARD};
    struct fr_tensor tensor = {.bytes = 100000000, .alias = FR_NONE};
    struct fr_graph info = {.name = "two ops", .source = "an example", .batch = 1};
    uint32_t first, second;
    enum fr_status st;

    op.forward = FR_NONE;
    first = fr_graph_builder_op(b, &op, NULL, &tensor, 1);
    op.name = "second";
    second = fr_graph_builder_op(b, &op, NULL, NULL, 0);
    fr_graph_builder_edge(b, first, second, 0, tensor.bytes);
    info.param_elem_bytes = 4;
    st = fr_graph_builder_finish(b, &info, out, err);
    fr_graph_builder_free(b);
    return st;
}

static uint32_t add_compute(struct fr_plan *p, uint32_t device, uint32_t op, double time_s)
{
    struct fr_cost cost = {.mean_s = time_s, .kind = FR_OP_OTHER};
    struct fr_task t = {.device = device, .op = op, .kind = FR_TASK_COMPUTE};

    t.cost_id = fr_plan_add_cost(p, &cost);
    t.label = FR_NONE;
    t.microbatch = FR_NONE;
    return fr_plan_add_task(p, &t);
}

static uint32_t add_end(struct fr_plan *p, uint32_t device, enum fr_task_kind kind,
                        enum fr_stream stream)
{
    struct fr_task t = {.device = device, .op = 0, .cost_id = FR_NONE, .microbatch = FR_NONE};

    t.kind = (uint8_t)kind;
    t.stream = (uint8_t)stream;
    return fr_plan_add_task(p, &t);
}

static void fill(struct fr_plan *p)
{
    uint32_t a = add_compute(p, 0, 0, 1e-3), b = add_compute(p, 1, 1, 2e-3);
    uint32_t recv = add_end(p, 1, FR_TASK_RECV, FR_STREAM_RECV);
    uint32_t send = add_end(p, 0, FR_TASK_SEND, FR_STREAM_SEND);

    fr_plan_add_transfer(p, send, recv, 1e8, FR_NONE);
    fr_plan_add_dep(p, a, send);
    fr_plan_add_dep(p, recv, b);
}

int main(void)
{
    struct fr_error err = {.code = FR_OK};
    struct fr_run_options options;
    struct fr_topo *topo = NULL;
    struct fr_graph *graph = NULL;
    struct fr_plan *plan = NULL;
    struct fr_run *run = NULL;
    char text[1024];
    int status = 1;

    fr_init();
    OR_FAIL(make_topo(&topo, &err));
    OR_FAIL(make_graph(&graph, &err));
    plan = fr_plan_new(topo, graph);
    fill(plan);
    OR_FAIL(fr_plan_finish(plan, &err));
    fr_run_options_init(&options);
    OR_FAIL(fr_simulate(plan, &options, &run, &err));
    /* 1 ms + (1 us + 100 MB / 10 GB/s) + 2 ms */
    printf("libforerun %s: %.6f s\n", fr_version(), run->makespan_s);
    status = fabs(run->makespan_s - 0.013001) > 1e-12;
fail:
    if (err.code != FR_OK)
        fprintf(stderr, "%s\n", fr_error_string(&err, text, sizeof(text)));
    fr_run_free(run);
    fr_plan_free(plan);
    fr_graph_free(graph);
    fr_topo_free(topo);
    return status;
}
