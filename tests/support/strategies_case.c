/* tests/support/strategies_case.c - small problems for the tests of strategies. */
#include "config.h"

#include "tests/support/strategies_case.h"

#include <check.h>

struct fr_topo *case_topo(unsigned n, double bw_Bps, uint64_t mem_bytes)
{
    const struct fr_device_type gpu = {.name = "test-gpu",
                                       .is_gpu = true,
                                       .mem_bytes = mem_bytes,
                                       .mem_Bps = 1e12,
                                       .flops_per_s = {[FR_FP32] = 1e12},
                                       .vector_flops_per_s = 1e12,
                                       .n_sms = 1,
                                       .source = "test"};
    struct fr_device_type cpu = gpu;
    struct fr_topo_builder *b = fr_topo_builder_new();
    struct fr_loc loc = {NULL, 0, 0};
    struct fr_topo *t = NULL;
    struct fr_error err = {.code = FR_OK};
    uint32_t types[2], vertices[65];

    ck_assert(b && n <= 64);
    cpu.name = "test-cpu";
    cpu.is_gpu = false;
    types[0] = fr_topo_builder_type(b, &gpu);
    types[1] = fr_topo_builder_type(b, &cpu);
    for (unsigned i = 0; i <= n; i++) {
        char name[32];

        snprintf(name, sizeof(name), i < n ? "n0.gpu%u" : "n0.cpu%u", i < n ? i : 0);
        vertices[i] = fr_topo_builder_vertex(b, i < n ? FR_VERTEX_GPU : FR_VERTEX_CPU, name, 0,
                                             types[i == n], loc);
        for (unsigned k = 0; k < i; k++)
            fr_topo_builder_link(b, FR_LINK_NVLINK, vertices[k], vertices[i], bw_Bps, 0, true,
                                 "test", loc);
    }
    ck_assert_msg(fr_topo_builder_finish(b, "test", &t, &err) == FR_OK, "%s", err.text);
    fr_topo_builder_free(b);
    return t;
}

/* Ops are numbered: input, forward 0 .. n-1, then from the last layer back its data and (with
 * parameters) weight gradient, then updates. */
struct making {
    struct fr_graph_builder *b;
    const struct chain_case *c;
    uint32_t n_tensors;
    uint32_t forward[64], output[64];
};

static uint32_t add(struct making *m, const char *what, unsigned layer, struct fr_op op,
                    uint64_t out_bytes, bool scales, double time_s)
{
    struct fr_tensor t = {.bytes = out_bytes, .alias = FR_NONE, .scales = scales};
    char name[32];
    uint32_t id;

    snprintf(name, sizeof(name), "l%u.%s", layer, what);
    op.name = name;
    op.kind = op.phase == FR_PHASE_UPDATE ? FR_OP_UPDATE : FR_OP_LAYER;
    op.scales = op.phase != FR_PHASE_UPDATE;
    id = fr_graph_builder_op(m->b, &op, NULL, &t, out_bytes ? 1 : 0);
    m->n_tensors += out_bytes > 0;
    fr_graph_builder_sample(m->b, id, "*", m->c->batch, time_s);
    return id;
}

static void add_backward(struct making *m, unsigned i, uint32_t *from, uint32_t *from_tensor)
{
    const struct chain_case *c = m->c;
    bool has_params = c->params[i] > 0;
    struct fr_op op = {.phase = FR_PHASE_BACKWARD_DATA, .forward = m->forward[i]};
    double part_s = has_params ? c->backward_s[i] / 2 : c->backward_s[i];
    uint32_t data = add(m, "dgrad", i, op, c->act_bytes, true, part_s);
    uint32_t data_tensor = m->n_tensors - 1, weight;

    fr_graph_builder_edge(m->b, m->forward[i], data, m->output[i], c->act_bytes);
    if (*from != FR_NONE)
        fr_graph_builder_edge(m->b, *from, data, *from_tensor, c->act_bytes);
    if (has_params) {
        op.phase = FR_PHASE_BACKWARD_WEIGHT;
        weight = add(m, "wgrad", i, op, c->params[i], false, part_s);
        fr_graph_builder_edge(m->b, m->forward[i], weight, m->output[i], c->act_bytes);
        if (*from != FR_NONE)
            fr_graph_builder_edge(m->b, *from, weight, *from_tensor, c->act_bytes);
        op.phase = FR_PHASE_UPDATE;
        op.param_bytes = c->params[i];
        fr_graph_builder_edge(m->b, weight, add(m, "update", i, op, 0, false, 0), m->n_tensors - 1,
                              c->params[i]);
    }
    *from = data;
    *from_tensor = data_tensor;
}

struct fr_graph *case_chain(const struct chain_case *c)
{
    const struct fr_graph info = {
        .name = "chain", .source = "test", .batch = c->batch, .param_elem_bytes = 4};
    struct making m = {.b = fr_graph_builder_new(), .c = c};
    uint32_t from = FR_NONE, from_tensor = FR_NONE;
    struct fr_graph *g = NULL;
    struct fr_error err = {.code = FR_OK};

    ck_assert(m.b && c->n <= 64);
    for (unsigned i = 0; i < c->n; i++) {
        struct fr_op op = {.phase = FR_PHASE_FORWARD,
                           .forward = i,
                           .param_bytes = c->params[i],
                           .n_params = c->params[i] > 0};

        m.forward[i] = add(&m, "forward", i, op, c->act_bytes, true, c->forward_s[i]);
        m.output[i] = m.n_tensors - 1;
        if (i > 0)
            fr_graph_builder_edge(m.b, m.forward[i - 1], m.forward[i], m.output[i - 1],
                                  c->act_bytes);
    }
    for (unsigned i = c->n; i-- > 0;)
        add_backward(&m, i, &from, &from_tensor);
    ck_assert_msg(fr_graph_builder_finish(m.b, &info, &g, &err) == FR_OK, "%s", err.text);
    fr_graph_builder_free(m.b);
    return g;
}

static enum fr_status try_plan(const struct case_problem *c, const char *spec,
                               struct fr_cut_choice *cut, struct fr_plan **out,
                               struct fr_error *err)
{
    const struct fr_strategy *s = NULL;
    struct fr_option_values values;
    uint32_t devices[64];
    struct fr_problem in = {.topo = c->topo,
                            .graph = c->graph,
                            .devices = devices,
                            .n_devices = c->n_devices,
                            .global_batch = c->global_batch,
                            .optimizer = c->optimizer,
                            .options = &values,
                            .cut = cut};
    const struct fr_cost_options rooflines = {.datasheet_only = true};
    struct fr_cost_model *costs = NULL;
    enum fr_status st = fr_strategy_parse(spec, &s, &values, err);

    if (st != FR_OK)
        return st;
    for (uint32_t i = 0; i < c->n_devices && i < 64; i++)
        devices[i] = i;
    ck_assert_int_eq(fr_cost_model_new(&costs, c->topo->types, c->topo->n_types, &rooflines, err),
                     FR_OK);
    in.costs = costs;
    *out = fr_plan_new(c->topo, c->graph);
    ck_assert_ptr_nonnull(*out);
    st = s->plan(&in, c->ctx, *out, err);
    if (st == FR_OK)
        st = fr_plan_finish(*out, err);
    if (st != FR_OK)
        fr_plan_free(*out);
    fr_cost_model_free(costs);
    return st;
}

struct fr_plan *case_plan(const struct case_problem *c, const char *spec)
{
    struct fr_plan *p = NULL;
    struct fr_error err = {.code = FR_OK};
    enum fr_status st = try_plan(c, spec, NULL, &p, &err);

    ck_assert_msg(st == FR_OK, "%s on %s: %s", spec, c->graph->name, err.text);
    return p;
}

enum fr_status case_fails(const struct case_problem *c, const char *spec, struct fr_error *err)
{
    struct fr_plan *p = NULL;
    enum fr_status st = try_plan(c, spec, NULL, &p, err);

    ck_assert_msg(st != FR_OK, "%s: expected to fail", spec);
    return st;
}

enum fr_status case_cut(const struct case_problem *c, const char *spec, struct fr_cut_choice *cut)
{
    struct fr_plan *p = NULL;
    struct fr_error err;
    enum fr_status st = try_plan(c, spec, cut, &p, &err);

    if (st == FR_OK)
        fr_plan_free(p);
    return st;
}
