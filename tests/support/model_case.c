/* tests/support/model_case.c - loads a zoo model and a machine, and makes the problem. */
#include "config.h"

#include "tests/support/model_case.h"

#include <check.h>
#include <string.h>

void model_case_open(struct model_case *c, const char *model, size_t n_devices, uint32_t batch)
{
    model_case_open_on(c, "dgx1-v100", model, n_devices, batch);
}

void model_case_open_on(struct model_case *c, const char *topology, const char *model,
                        size_t n_devices, uint32_t batch)
{
    struct fr_cost_options costs = {0};
    const struct fr_workload_options opt = {.dtype = FR_N_DTYPES};
    struct fr_error err;

    memset(c, 0, sizeof(*c));
    ck_assert_uint_le(n_devices, MODEL_CASE_DEVICES);
    ck_assert_int_eq(fr_topo_load(&c->topo, topology, &err), FR_OK);
    ck_assert_msg(fr_workload_load(&c->graph, model, &opt, &err) == FR_OK, "%s", err.text);
    costs.systems = c->topo->systems;
    costs.n_systems = c->topo->n_systems;
    costs.messages = c->topo->messages;
    costs.n_messages = c->topo->n_messages;
    ck_assert_int_eq(fr_cost_model_new(&c->costs, c->topo->types, c->topo->n_types, &costs, &err),
                     FR_OK);
    for (uint32_t d = 0; d < n_devices; d++)
        c->devices[d] = d;
    c->in = (struct fr_problem){.topo = c->topo,
                                .graph = c->graph,
                                .costs = c->costs,
                                .devices = c->devices,
                                .n_devices = n_devices,
                                .global_batch = batch,
                                .optimizer = FR_SGD};
}

void model_case_close(struct model_case *c)
{
    fr_cost_model_free(c->costs);
    fr_graph_free(c->graph);
    fr_topo_free(c->topo);
}

void dag_case_open(struct dag_case *c, const char *model, size_t n_devices, size_t n_replicas,
                   uint32_t batch)
{
    struct fr_error err;

    memset(c, 0, sizeof(*c));
    model_case_open(&c->model, model, n_devices, batch);
    c->plan = fr_plan_new(c->model.topo, c->model.graph);
    ck_assert_int_eq(fr__placer_init(&c->pl, &c->model.in, NULL, c->plan, &err), FR_OK);
    ck_assert_msg(fr__dag_make(&c->dag, &c->pl, n_replicas, &err) == FR_OK, "%s", err.text);
    ck_assert_int_eq(fr__dag_links_make(&c->links, &c->pl, &err), FR_OK);
    for (size_t d = 0; d < n_devices; d++) {
        c->type[d] = c->model.topo->devices[c->model.devices[d]].type;
        c->room_bytes[d] = UINT64_C(1) << 40;
    }
    c->machine = (struct fr__dpos_machine){.n_devices = n_devices,
                                           .type = c->type,
                                           .room_bytes = c->room_bytes,
                                           .latency_s = c->links.latency_s,
                                           .s_per_byte = c->links.s_per_byte};
}

void dag_case_close(struct dag_case *c)
{
    fr__dag_free(c->dag);
    fr__placer_fini(&c->pl);
    fr_plan_free(c->plan);
    model_case_close(&c->model);
}

uint32_t dag_case_op(const struct dag_case *c, const char *name)
{
    for (uint32_t o = 0; o < c->dag->n_ops; o++)
        if (c->dag->ops[o].role == FR__DAG_OP &&
            strcmp(c->model.graph->ops[c->dag->ops[o].op].name, name) == 0)
            return o;
    ck_abort_msg("no operation %s in %s", name, c->model.graph->name);
    return 0;
}
