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

int main(void)
{
    struct fr_error err = {.code = FR_OK};
    char text[1024];
    struct fr_topo *topo = NULL;
    struct fr_graph *graph = NULL;
    struct fr_plan *plan = NULL;
    struct fr_run *run = NULL;
    fr_init();

    struct fr_topo_builder *tb = fr_topo_builder_new();
    uint32_t type = fr_topo_builder_type(tb, fr_device_type_find("v100-sxm2-16gb"));
    struct fr_loc here = {NULL, 0, 0};
    uint32_t v0 = fr_topo_builder_vertex(tb, FR_VERTEX_GPU, "left", 0, type, here);
    uint32_t v1 = fr_topo_builder_vertex(tb, FR_VERTEX_GPU, "right", 0, type, here);
    fr_topo_builder_link(tb, FR_LINK_NVLINK, v0, v1, 10e9, 1e-6, true, "an example", here);
    OR_FAIL(fr_topo_builder_finish(tb, "a pair", &topo, &err));

    struct fr_graph_builder *gb = fr_graph_builder_new();
    struct fr_op op = {.name = "first", .kind = FR_OP_OTHER, .phase = FR_PHASE_FORWARD};
    struct fr_tensor tensor = {.bytes = 100000000, .alias = FR_NONE};
    op.forward = FR_NONE;
    uint32_t first = fr_graph_builder_op(gb, &op, NULL, &tensor, 1);
    op.name = "second";
    uint32_t second = fr_graph_builder_op(gb, &op, NULL, NULL, 0);
    fr_graph_builder_edge(gb, first, second, 0, tensor.bytes);
    struct fr_graph info = {.name = "two ops", .source = "an example", .batch = 1};
    info.param_elem_bytes = 4;
    OR_FAIL(fr_graph_builder_finish(gb, &info, &graph, &err));

    plan = fr_plan_new(topo, graph);
    uint32_t cost[2];
    cost[0] = fr_plan_add_cost(plan, &(struct fr_cost){.mean_s = 1e-3, .kind = FR_OP_OTHER});
    cost[1] = fr_plan_add_cost(plan, &(struct fr_cost){.mean_s = 2e-3, .kind = FR_OP_OTHER});
    struct fr_task t = {.kind = FR_TASK_COMPUTE, .op = first, .cost_id = cost[0], .label = FR_NONE};
    t.microbatch = FR_NONE;
    uint32_t a = fr_plan_add_task(plan, &t);
    t.device = 1;
    t.op = second;
    t.cost_id = cost[1];
    uint32_t b = fr_plan_add_task(plan, &t);
    t.cost_id = FR_NONE;
    t.kind = FR_TASK_RECV;
    t.stream = FR_STREAM_RECV;
    uint32_t recv = fr_plan_add_task(plan, &t);
    t.device = 0;
    t.kind = FR_TASK_SEND;
    t.stream = FR_STREAM_SEND;
    uint32_t send = fr_plan_add_task(plan, &t);
    fr_plan_add_transfer(plan, send, recv, 1e8, FR_NONE);
    fr_plan_add_dep(plan, a, send);
    fr_plan_add_dep(plan, recv, b);
    OR_FAIL(fr_plan_finish(plan, &err));

    struct fr_run_options options;
    fr_run_options_init(&options);
    OR_FAIL(fr_simulate(plan, &options, &run, &err));
    /* 1 ms + (1 us + 100 MB / 10 GB/s) + 2 ms */
    printf("libforerun %s: %.6f s\n", fr_version(), run->makespan_s);
    int status = fabs(run->makespan_s - 0.013001) > 1e-12;
    fr_run_free(run);
    fr_plan_free(plan);
    fr_graph_free(graph);
    fr_topo_free(topo);
    fr_graph_builder_free(gb);
    fr_topo_builder_free(tb);
    return status;
fail:
    fprintf(stderr, "%s\n", fr_error_string(&err, text, sizeof(text)));
    return 1;
}
