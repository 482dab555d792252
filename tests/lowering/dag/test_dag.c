/* Dags of real models: what they hold, and that DPOS and OS-DPOS plan them soundly. */
#include "config.h"

#include "strategies/fastt/os_dpos.h"
#include "tests/support/base_check.h"
#include "tests/support/model_case.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t count(const struct fr__dag *d, enum fr__dag_role role)
{
    size_t n = 0;

    for (size_t o = 0; o < d->n_ops; o++)
        n += d->ops[o].role == role;
    return n;
}

/* LeNet has 2 convolutions and 3 linear layers, each with a bias of its own: 10 owners, whose
 * weight gradients are 10 tensors and whose updates 10 ops. All other ops are in each replica. */
TEST(a_data_parallel_dag_has_one_set_of_parameters)
{
    struct dag_case one, two;

    dag_case_open(&one, "lenet", 1, 1, 64);
    dag_case_open(&two, "lenet", 2, 2, 64);
    ck_assert_uint_eq(count(one.dag, FR__DAG_VARIABLE), 10);
    ck_assert_uint_eq(count(one.dag, FR__DAG_SUM), 0);
    ck_assert_uint_eq(one.dag->n_ops, one.model.graph->n_ops + 10);
    ck_assert_uint_eq(count(two.dag, FR__DAG_VARIABLE), 10);
    ck_assert_uint_eq(count(two.dag, FR__DAG_SUM), 10);
    ck_assert_uint_eq(two.dag->n_ops, 10 + 2 * (one.model.graph->n_ops - 10) + 10 + 10);
    dag_case_close(&one);
    dag_case_close(&two);
}

TEST(edges_are_in_the_order_of_their_ends)
{
    struct dag_case s;

    dag_case_open(&s, "lenet", 2, 2, 64);
    for (size_t i = 1; i < s.dag->n_edges; i++) {
        const struct fr__dag_edge *a = &s.dag->edges[i - 1], *b = &s.dag->edges[i];

        ck_assert(a->src < b->src || (a->src == b->src && a->dst < b->dst) ||
                  (a->src == b->src && a->dst == b->dst && a->tensor <= b->tensor));
    }
    dag_case_close(&s);
}

TEST(a_dag_is_not_made_to_the_end_once_told)
{
    volatile int cancel = 1;
    const struct fr_context ctx = {.cancel = &cancel};
    struct fr__dag *dag = NULL;
    struct fr_error err;
    struct dag_case s;

    dag_case_open(&s, "lenet", 2, 2, 64);
    s.pl.ctx = &ctx;
    ck_assert_int_eq(fr__dag_make(&dag, &s.pl, 2, &err), FR_ECANCELLED);
    ck_assert_ptr_null(dag);
    ck_assert_int_eq(fr__dag_index(s.dag, &ctx, &err), FR_ECANCELLED);
    dag_case_close(&s);
}

/* A fully connected layer's weights are read by its product and by the gradient of its input;
 * the first layer's input has no gradient. */
TEST(parameters_are_read_forward_and_for_the_gradient_of_the_input)
{
    struct dag_case s;
    uint64_t want = 0, got = 0;

    dag_case_open(&s, "lenet", 2, 2, 64);
    for (uint32_t o = 0; o < s.model.graph->n_ops; o++) {
        const struct fr_op *op = &s.model.graph->ops[o];

        if (op->phase == FR_PHASE_FORWARD || op->phase == FR_PHASE_BACKWARD_DATA)
            want += 2 * op->param_bytes;
    }
    for (size_t i = 0; i < s.dag->n_edges; i++)
        if (s.dag->edges[i].cargo == FR__DAG_WEIGHT)
            got += s.dag->edges[i].bytes;
    ck_assert_uint_eq(got, want);
    dag_case_close(&s);
}

static const char *const models[] = {"lenet",  "alexnet", "vgg16",      "resnet50",  "inception-v3",
                                     "gnmt-2", "rnnlm",   "bert-large", "gpt2-small"};

START_TEST(dags_are_in_topological_order_and_hold_every_cost)
{
    struct dag_case s;

    dag_case_open(&s, models[_i], 4, 4, 64);
    for (size_t i = 0; i < s.dag->n_edges; i++) {
        const struct fr__dag_edge *e = &s.dag->edges[i];

        ck_assert_uint_lt(e->src, e->dst);
        ck_assert(i == 0 || e[-1].src < e->src || (e[-1].src == e->src && e[-1].dst <= e->dst));
    }
    for (size_t o = 0; o < s.dag->n_ops; o++) {
        ck_assert_uint_lt(s.dag->ops[o].cost, (uint32_t)s.dag->n_costs);
        for (uint32_t i = s.dag->in_first[o]; i < s.dag->in_first[o + 1]; i++)
            ck_assert_uint_eq(s.dag->edges[s.dag->in_edges[i]].dst, (uint32_t)o);
    }
    dag_case_close(&s);
}
END_TEST

static struct fr__dpos_result plan(struct fr__dpos *p, const struct dag_case *s)
{
    struct fr__dpos_options o = {0};
    struct fr__dpos_result r;
    struct fr_error err;

    ck_assert_int_eq(fr__dpos_run(p, s->dag, &o, &r, &err), FR_OK);
    return r;
}

/* On one device nothing moves and nothing waits: the step is the sum of all costs. */
START_TEST(one_device_takes_the_sum_of_all_costs)
{
    struct dag_case s;
    struct fr__dpos *p;
    double sum_s = 0;

    dag_case_open(&s, models[_i], 1, 1, 4);
    p = fr__dpos_new(&s.machine);
    for (size_t o = 0; o < s.dag->n_ops; o++)
        sum_s += s.dag->cost_s[s.dag->ops[o].cost * s.dag->n_types + s.type[0]];
    ck_assert_double_eq_tol(plan(p, &s).makespan_s, sum_s, 1e-9 * sum_s);
    fr__dpos_free(p);
    dag_case_close(&s);
}
END_TEST

/* No operation begins before what it reads has arrived, groups stay together, and four devices
 * are no slower than the bound allows and no faster than it. */
START_TEST(plans_of_models_are_sound)
{
    struct fr__dpos_bounds b;
    struct fr__dpos_result r;
    uint32_t *device_of_group;
    struct fr_error err;
    struct fr__dpos *p;
    struct dag_case s;

    dag_case_open(&s, models[_i], 4, 4, 32);
    p = fr__dpos_new(&s.machine);
    r = plan(p, &s);
    ck_assert_int_eq(r.outcome, FR__DPOS_DONE);
    for (size_t i = 0; i < s.dag->n_edges; i++) {
        const struct fr__dag_edge *e = &s.dag->edges[i];
        double there_s =
            r.end_s[e->src] + fr__dpos_move_s(&s.machine, e, r.device[e->src], r.device[e->dst]);

        ck_assert_double_ge(r.start_s[e->dst], there_s - 1e-12);
    }
    device_of_group = malloc(s.dag->n_groups * sizeof(*device_of_group));
    for (size_t g = 0; g < s.dag->n_groups; g++)
        device_of_group[g] = FR_NONE;
    for (size_t o = 0; o < s.dag->n_ops; o++) {
        uint32_t g = s.dag->ops[o].group;

        if (g == FR_NONE)
            continue;
        ck_assert(device_of_group[g] == FR_NONE || device_of_group[g] == r.device[o]);
        device_of_group[g] = r.device[o];
    }
    free(device_of_group);
    ck_assert_int_eq(fr__dpos_bounds(&b, s.dag, &s.machine, &err), FR_OK);
    ck_assert_double_le(b.best_s, r.makespan_s * (1 + 1e-9));
    fr__dpos_free(p);
    dag_case_close(&s);
}
END_TEST

/* Splitting keeps what shortens the plan only; stopping evaluations early changes no answer. */
LOOP_TEST(splits_never_make_a_model_slower, 0, 3)
{
    static const char *const few[] = {"lenet", "vgg16", "gnmt-2"};
    const struct fr__split_costs costs = {fr__dag_part_cost, fr__dag_bytes_cost};
    struct fr__os_dpos_options o = {.costs = costs, .max_tried = 3};
    struct fr__os_dpos_result pruned, whole;
    struct fr__os_dpos *a, *b;
    struct fr_error err;
    struct dag_case s;

    dag_case_open(&s, few[_i], 2, 2, 64);
    ck_assert_int_eq(fr__os_dpos_run(&a, s.dag, &s.machine, &o, NULL, &pruned, &err), FR_OK);
    o.evaluates_whole = true;
    ck_assert_int_eq(fr__os_dpos_run(&b, s.dag, &s.machine, &o, NULL, &whole, &err), FR_OK);
    ck_assert_double_le(pruned.plan.makespan_s, pruned.start_s);
    ck_assert_double_eq(pruned.plan.makespan_s, whole.plan.makespan_s);
    ck_assert_uint_eq(pruned.n_splits, whole.n_splits);
    for (size_t i = 0; i < pruned.dag->n_ops; i++)
        ck_assert_uint_eq(pruned.plan.device[i], whole.plan.device[i]);
    fr__os_dpos_free(a);
    fr__os_dpos_free(b);
    dag_case_close(&s);
}

/* Two samples through fc6 and back are bound by its 411 MB of weights, or of their gradient.
 * Half of the channels is half of these, whichever of the three products it is; half of the
 * batch is not. */
LOOP_TEST(half_of_the_channels_is_half_of_the_weights, 0, 3)
{
    static const char *const ops[] = {"fc6", "fc6.dgrad", "fc6.wgrad"};
    double whole_s[8], half_s[8];
    struct dag_case s;
    uint32_t o;

    dag_case_open(&s, "vgg16", 2, 1, 2);
    o = dag_case_op(&s, ops[_i]);
    ck_assert(s.dag->ops[o].split_mask & 1u << FR__DAG_CHANNEL);
    fr__dag_part_cost(s.dag, o, FR__DAG_BATCH, 1, whole_s);
    fr__dag_part_cost(s.dag, o, FR__DAG_CHANNEL, 2, half_s);
    ck_assert_double_lt(half_s[s.type[0]], 0.65 * whole_s[s.type[0]]);
    fr__dag_part_cost(s.dag, o, FR__DAG_BATCH, 2, half_s);
    ck_assert_double_gt(half_s[s.type[0]], 0.8 * whole_s[s.type[0]]);
    dag_case_close(&s);
}

/* conv2_1.wgrad reads the input of conv2_1, which every part needs whole, and the gradient of
 * its output, of which it needs its channels; its own output, the filters, is joined. */
TEST(a_weight_gradient_needs_its_channels_of_what_comes_back)
{
    const struct fr__split_costs costs = {fr__dag_part_cost, fr__dag_bytes_cost};
    struct fr__arena *a = fr__arena_new();
    uint64_t sliced = 0, whole = 0;
    struct fr__dag split;
    struct fr_error err;
    struct dag_case s;
    uint32_t o;

    dag_case_open(&s, "vgg16", 2, 1, 4);
    o = dag_case_op(&s, "conv2_1.wgrad");
    ck_assert_int_eq(fr__dag_split(&split, s.dag, o, FR__DAG_CHANNEL, 2, &costs, a, &err), FR_OK);
    for (size_t i = 0; i < split.n_edges; i++) {
        const struct fr__dag_edge *e = &split.edges[i];

        if (split.ops[e->dst].op != s.dag->ops[o].op || split.ops[e->dst].n_parts != 2 ||
            split.ops[e->dst].part != 0)
            continue;
        if (split.ops[e->src].role == FR__DAG_SPLIT)
            sliced += e->bytes;
        else
            whole += e->bytes;
    }
    ck_assert_uint_eq(whole, UINT64_C(4) * 64 * 112 * 112 * 4);
    ck_assert_uint_eq(sliced, UINT64_C(4) * 128 * 112 * 112 * 4 / 2);
    fr__arena_free(a);
    dag_case_close(&s);
}

/* Half the batch in two parts is priced at half the batch, not at half the time. */
TEST(a_part_is_priced_at_its_own_shape)
{
    struct dag_case s;
    double whole_s[8], half_s[8];
    uint32_t o = 0;

    dag_case_open(&s, "vgg16", 2, 1, 2);
    while (!(s.dag->ops[o].split_mask & 1u << FR__DAG_CHANNEL) ||
           s.dag->ops[o].kind != FR_OP_MATMUL)
        o++;
    fr__dag_part_cost(s.dag, o, FR__DAG_BATCH, 2, half_s);
    fr__dag_part_cost(s.dag, o, FR__DAG_BATCH, 1, whole_s);
    /* two samples through fc6 are bound by its 411 MB of weights: one sample takes nearly as
     * long */
    ck_assert_double_gt(half_s[s.type[0]], 0.8 * whole_s[s.type[0]]);
    fr__dag_part_cost(s.dag, o, FR__DAG_CHANNEL, 2, half_s);
    ck_assert_double_lt(half_s[s.type[0]], 0.7 * whole_s[s.type[0]]);
    fr__dag_part_cost(s.dag, o, FR__DAG_BATCH, 4, half_s); /* half a sample */
    ck_assert(isinf(half_s[s.type[0]]));
    dag_case_close(&s);
}

/* Operations that add gradients and read so many. */
static size_t n_sums_of(const struct fr__dag *dag, uint32_t n_read)
{
    size_t n = 0;

    for (uint32_t i = 0; i < dag->n_ops; i++)
        n += dag->ops[i].role == FR__DAG_SUM && dag->in_first[i + 1] - dag->in_first[i] == n_read;
    return n;
}

/* Two replicas on each of two machines: each gradient has a sum of two on each, and a sum of these
 * two. One replica beside three: the sum of three, and of it and the one. */
LOOP_TEST(gradients_are_added_on_their_machines_first, 0, 2)
{
    static const uint32_t machines[][4] = {{0, 0, 1, 1}, {0, 1, 1, 1}};
    struct fr__dag_how how = {.n_replicas = 4, .n_machines = 2, .machine_of = machines[_i]};
    struct fr__dag *dag;
    struct fr_error err;
    struct dag_case c;
    size_t n;

    dag_case_open(&c, "lenet", 4, 4, 64);
    n = n_sums_of(c.dag, 4);
    ck_assert_uint_gt(n, 5);
    ck_assert_int_eq(fr__dag_make_as(&dag, &c.pl, &how, &err), FR_OK);
    ck_assert_uint_eq(n_sums_of(dag, 4), 0);
    ck_assert_uint_eq(n_sums_of(dag, 2), _i == 0 ? 3 * n : n);
    ck_assert_uint_eq(n_sums_of(dag, 3), _i == 0 ? 0 : n);
    ck_assert_uint_eq(dag->n_ops, c.dag->n_ops + (_i == 0 ? 2 * n : n));
    for (size_t e = 0; e < dag->n_edges; e++)
        ck_assert_uint_lt(dag->edges[e].src, dag->edges[e].dst);
    for (uint32_t i = 1; i < dag->n_ops; i++) { /* neighbours of one role have names of their own */
        char before[160], name[160];

        ck_assert_str_ne(fr__dag_name(dag, i - 1, before, sizeof(before)),
                         fr__dag_name(dag, i, name, sizeof(name)));
    }
    fr__dag_free(dag);
    dag_case_close(&c);
}

/* What all four GPUs of a machine read comes from the other by the one that has its number. */
TEST(messages_to_another_machine_go_by_one_gpu_there)
{
    struct model_case m;
    struct fr__dag_links links;
    struct fr__placer pl;
    const uint32_t *via;
    struct fr_error err;
    struct fr_plan *plan;

    model_case_open_on(&m, "2x box:4xa10g via eth:25Gbps", "lenet", 8, 64);
    plan = fr_plan_new(m.topo, m.graph);
    ck_assert_int_eq(fr__placer_init(&pl, &m.in, NULL, plan, &err), FR_OK);
    ck_assert_int_eq(fr__dag_links_make(&links, &pl, &err), FR_OK);
    ck_assert_int_eq(fr__dag_links_by_machine(&via, &links, &pl, &err), FR_OK);
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t j = 0; j < 8; j++) {
            bool is_straight = i / 4 == j / 4 || i % 4 == j % 4;

            ck_assert_uint_eq(via[i * 8 + j], is_straight ? FR_NONE : j / 4 * 4 + i % 4);
        }
    fr__placer_fini(&pl);
    fr_plan_free(plan);
    model_case_close(&m);
}

int main(void)
{
    const int n = (int)(sizeof(models) / sizeof(models[0]));
    TCase *t = tcase_create("all");

    tcase_set_timeout(t, 120);
    add_tests(t);
    tcase_add_loop_test(t, dags_are_in_topological_order_and_hold_every_cost, 0, n);
    tcase_add_loop_test(t, one_device_takes_the_sum_of_all_costs, 0, n);
    tcase_add_loop_test(t, plans_of_models_are_sound, 0, n);
    return run_case(t, "strategies/dag");
}
