/* The strategies dpos and os-dpos: that the engine does what the planner foresaw, and what they
 * refuse. */
#include "config.h"

#include "strategies/fastt/fastt.h"

#include "tests/support/base_check.h"
#include "tests/support/model_case.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A model on the first n GPUs of a machine, planned by a strategy. */
struct setup {
    struct model_case model;
    struct fr_plan *plan;
    struct fr_decisions *decided;
    struct fr_option_values values;
    const struct fr_strategy *strategy;
    struct fr_error err;
};

static enum fr_status plan(struct setup *s, const char *spec, enum fr_optimizer optimizer)
{
    enum fr_status st;

    ck_assert_int_eq(fr_strategy_parse(spec, &s->strategy, &s->values, &s->err), FR_OK);
    s->model.in.optimizer = optimizer;
    s->model.in.options = &s->values;
    s->model.in.decisions = &s->decided;
    s->plan = fr_plan_new(s->model.topo, s->model.graph);
    st = s->strategy->plan(&s->model.in, NULL, s->plan, &s->err);
    if (st == FR_OK)
        st = fr_plan_finish(s->plan, &s->err);
    return st;
}

static enum fr_status set_up_with(struct setup *s, enum fr_optimizer optimizer, const char *model,
                                  const char *spec, size_t n_devices, uint32_t batch)
{
    memset(s, 0, sizeof(*s));
    model_case_open(&s->model, model, n_devices, batch);
    return plan(s, spec, optimizer);
}

static enum fr_status set_up(struct setup *s, const char *model, const char *spec, size_t n_devices,
                             uint32_t batch)
{
    return set_up_with(s, FR_SGD, model, spec, n_devices, batch);
}

static void tear_down(struct setup *s)
{
    fr_decisions_free(s->decided);
    fr_plan_free(s->plan);
    model_case_close(&s->model);
}

static struct fr_run *run(struct setup *s, enum fr_order order, enum fr_network network)
{
    struct fr_run_options o;
    struct fr_run *r;

    fr_run_options_init(&o);
    o.order = order;
    o.network = network;
    o.messages = fr_cost_messages(s->model.costs);
    ck_assert_msg(fr_simulate(s->plan, &o, &r, &s->err) == FR_OK, "%s", s->err.text);
    return r;
}

static const char *const models[] = {"lenet", "vgg16", "resnet50", "gnmt-2", "rnnlm", "bert-base"};
enum {
    N_MODELS = sizeof(models) / sizeof(models[0]),
    N_SIZES = 4,
    N_CASES = N_MODELS * N_SIZES * 2
};

/* In strict order and with nothing else on the links each operation begins and ends when the
 * planner said, not only the last one. */
LOOP_TEST(the_engine_does_what_the_planner_foresaw, 0, N_CASES)
{
    static const size_t sizes[N_SIZES] = {1, 2, 4, 8};
    struct fr_run *r;
    struct setup s;

    ck_assert_msg(set_up(&s, models[_i / 2 % N_MODELS], _i % 2 ? "os-dpos" : "dpos",
                         sizes[_i / 2 / N_MODELS], 32) == FR_OK,
                  "%s", s.err.text);
    r = run(&s, FR_ORDER_STRICT, FR_NETWORK_ANALYTIC);
    ck_assert_double_eq_tol(r->makespan_s, s.decided->believed_s, 1e-9 * s.decided->believed_s);
    for (size_t i = 0; i < s.decided->plans[0].n_ops; i++) {
        const struct fr_decided_op *o = &s.decided->plans[0].ops[i];

        ck_assert_double_eq_tol(r->end_s[o->task], o->end_s, 1e-9 * s.decided->believed_s);
        ck_assert(o->end_s <= o->start_s ||
                  fabs(r->start_s[o->task] - o->start_s) <= 1e-9 * s.decided->believed_s);
    }
    ck_assert_double_le(s.decided->believed_s, s.decided->start_s);
    ck_assert_double_le(s.decided->plans[0].bounds.best_s, s.decided->believed_s * (1 + 1e-9));
    fr_run_free(r);
    tear_down(&s);
}

/* Of one GPT with long sequences the fused attention is what takes longest; its heads are
 * shared, then the columns of products, along the channels alone as in tensor parallelism. Still
 * the engine does it all to the second. */
TEST(heads_are_shared_and_the_engine_does_as_foreseen)
{
    struct fr_run *r;
    struct setup s;
    size_t n_heads = 0;

    ck_assert_int_eq(set_up(&s, "gpt:layers=2,hidden=256,heads=8,seq=4096,vocab=64,attention=flash",
                            "os-dpos:start=model,dims=channel,replicas=ignore,patience=2", 4, 4),
                     FR_OK);
    for (size_t i = 0; i < s.decided->n_splits; i++)
        n_heads += strstr(s.decided->splits[i].op, "flash") != NULL;
    ck_assert_uint_eq(n_heads, 4); /* of two layers, forward and back */
    ck_assert_double_lt(s.decided->believed_s, 0.6 * s.decided->start_s);
    r = run(&s, FR_ORDER_STRICT, FR_NETWORK_ANALYTIC);
    for (size_t i = 0; i < s.decided->plans[0].n_ops; i++)
        ck_assert_double_eq_tol(r->end_s[s.decided->plans[0].ops[i].task],
                                s.decided->plans[0].ops[i].end_s, 1e-9 * s.decided->believed_s);
    fr_run_free(r);
    tear_down(&s);
}

/* A DGX A100's copies take what was measured, 15 us and more: planner and engine agree on that
 * too. */
TEST(the_planner_knows_what_messages_were_measured_to_take)
{
    struct fr_run *r;
    struct setup s = {0};

    model_case_open_on(&s.model, "dgx-a100-80g", "inception-v3", 4, 64);
    ck_assert_int_eq(plan(&s, "os-dpos:start=model,replicas=ignore", FR_SGD), FR_OK);
    ck_assert_uint_gt(s.decided->n_splits, 0);
    r = run(&s, FR_ORDER_STRICT, FR_NETWORK_ANALYTIC);
    ck_assert_uint_gt(r->stats.fitted_messages, 0);
    ck_assert_double_eq_tol(r->makespan_s, s.decided->believed_s, 1e-9 * s.decided->believed_s);
    fr_run_free(r);
    tear_down(&s);
}

/* VGG-19 on four GPUs: placing op by op is believed to take longer than a replica each, which
 * needs no splitting to be kept; dpos alone does not look at it. */
TEST(replicas_are_left_alone_where_nothing_better_was_found)
{
    struct setup s;
    double dpos_s;

    ck_assert_int_eq(set_up(&s, "vgg19", "dpos", 4, 64), FR_OK);
    ck_assert(!s.decided->keeps_replicas);
    dpos_s = s.decided->believed_s;
    tear_down(&s);
    ck_assert_int_eq(set_up(&s, "vgg19", "os-dpos", 4, 64), FR_OK);
    ck_assert(s.decided->keeps_replicas);
    ck_assert_double_lt(s.decided->believed_s, dpos_s);
    ck_assert_uint_eq(s.decided->n_splits, 0);
    for (size_t i = 0; i < s.decided->plans[0].n_ops; i++) {
        const char *of = strstr(s.decided->plans[0].ops[i].name, " of replica ");

        if (of && strncmp(s.decided->plans[0].ops[i].name, "sum", 3) != 0)
            ck_assert_uint_eq(s.decided->plans[0].ops[i].device, (uint32_t)(of[12] - '1'));
    }
    tear_down(&s);
}

/* Links that are shared can only be slower than links that are not, in the same strict order. */
LOOP_TEST(a_shared_network_is_no_faster_than_believed, 0, N_MODELS)
{
    struct fr_run *r;
    struct setup s;

    ck_assert_int_eq(set_up(&s, models[_i], "dpos", 4, 32), FR_OK);
    r = run(&s, FR_ORDER_STRICT, FR_NETWORK_FLOW);
    ck_assert_double_ge(r->makespan_s, s.decided->believed_s * (1 - 1e-9));
    fr_run_free(r);
    tear_down(&s);
}

static int by_text(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;

    return strcmp(*x, *y);
}

TEST(no_two_operations_have_the_same_name)
{
    const char **names;
    struct setup s;

    ck_assert_int_eq(set_up(&s, "transformer-big", "os-dpos", 8, 64), FR_OK);
    ck_assert_uint_gt(s.decided->n_splits, 0);
    names = malloc(s.decided->plans[0].n_ops * sizeof(*names));
    for (size_t i = 0; i < s.decided->plans[0].n_ops; i++)
        names[i] = s.decided->plans[0].ops[i].name;
    qsort(names, s.decided->plans[0].n_ops, sizeof(*names), by_text);
    for (size_t i = 1; i < s.decided->plans[0].n_ops; i++)
        ck_assert_str_ne(names[i - 1], names[i]);
    free(names);
    tear_down(&s);
}

/* LeNet's 156 + 2416 + 48120 + 10164 + 850 parameters are held once, with two states each. */
TEST(parameters_and_states_are_held_once)
{
    uint64_t held[FR_N_BUFFER_KINDS] = {0};
    const struct fr_plan_view *v;
    struct setup s;

    ck_assert_int_eq(set_up_with(&s, FR_ADAM, "lenet", "dpos", 2, 64), FR_OK);
    v = fr_plan_view(s.plan);
    for (size_t b = 0; b < v->n_buffers; b++)
        if (v->buffers[b].alloc == FR_NONE)
            held[v->buffers[b].kind] += v->buffers[b].bytes;
    ck_assert_uint_eq(held[FR_BUFFER_PARAMETER], 61706 * 4);
    ck_assert_uint_eq(held[FR_BUFFER_OPTIMIZER], 2 * 61706 * 4);
    ck_assert_uint_eq(held[FR_BUFFER_GRADIENT], 0);
    tear_down(&s);
}

/* What many operations of a device read is sent there once: no two transfers of the same name
 * and size end on the same device. */
TEST(a_tensor_moves_to_a_device_once)
{
    const struct fr_plan_view *v;
    char a[200], b[200];
    struct setup s;

    ck_assert_int_eq(set_up(&s, "lenet", "dpos", 4, 64), FR_OK);
    v = fr_plan_view(s.plan);
    for (uint32_t i = 0; i < v->n_transfers; i++)
        for (uint32_t j = 0; j < i; j++) {
            const struct fr_transfer *x = &v->transfers[i], *y = &v->transfers[j];

            if (v->tasks[x->recv].device != v->tasks[y->recv].device || x->bytes < y->bytes ||
                x->bytes > y->bytes)
                continue;
            ck_assert_str_ne(fr_plan_task_label(s.plan, x->send, a, sizeof(a)),
                             fr_plan_task_label(s.plan, y->send, b, sizeof(b)));
        }
    tear_down(&s);
}

/* Everything that is not persistent is gone when the step is over. */
TEST(nothing_is_left_behind)
{
    struct fr_run *r;
    struct setup s;

    ck_assert_int_eq(set_up(&s, "transformer-big", "os-dpos", 8, 64), FR_OK);
    r = run(&s, FR_ORDER_PRIORITY, FR_NETWORK_FLOW);
    for (size_t d = 0; d < r->n_devices; d++) {
        uint64_t stays = 0;

        for (size_t b = 0; b < fr_plan_view(s.plan)->n_buffers; b++) {
            const struct fr_buffer *x = &fr_plan_view(s.plan)->buffers[b];

            stays += x->alloc == FR_NONE && x->device == d ? x->bytes : 0;
        }
        ck_assert_uint_eq(r->devices[d].end_bytes, stays);
    }
    fr_run_free(r);
    tear_down(&s);
}

/* The plan's graph is the dag: each of its ops has a name of its own and leads back to the op of
 * the model that the record of decisions says. */
TEST(the_plan_owns_the_graph_that_was_split)
{
    const struct fr_decided_plan *p;
    const struct fr_plan_view *v;
    char label[200];
    struct setup s;

    ck_assert_int_eq(set_up(&s, "inception-v3", "os-dpos:start=model,replicas=ignore", 4, 64),
                     FR_OK);
    v = fr_plan_view(s.plan);
    p = &s.decided->plans[0];
    ck_assert_uint_gt(s.decided->n_splits, 0);
    ck_assert_ptr_eq(v->user_graph, s.model.graph);
    ck_assert_ptr_ne(v->graph, s.model.graph);
    ck_assert_uint_eq(v->graph->n_ops, p->n_ops);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        ck_assert_str_eq(v->graph->ops[i].name, p->ops[i].name);
        ck_assert_uint_eq(fr_plan_user_op(s.plan, i), p->ops[i].op);
        if (p->ops[i].kind == FR_DECIDED_VARIABLE)
            continue; /* a marker */
        ck_assert_uint_eq(v->tasks[p->ops[i].task].op, i);
        ck_assert_str_eq(fr_plan_task_label(s.plan, p->ops[i].task, label, sizeof(label)),
                         p->ops[i].name);
    }
    tear_down(&s);
}

TEST(replicas_are_planned_where_one_fits_a_device)
{
    struct setup s;

    ck_assert_int_eq(set_up(&s, "lenet", "dpos", 2, 64), FR_OK);
    ck_assert_str_eq(s.decided->start, "dp");
    tear_down(&s);
    ck_assert_int_eq(set_up(&s, "lenet", "dpos:start=model", 2, 64), FR_OK);
    ck_assert_str_eq(s.decided->start, "model");
    tear_down(&s);
    ck_assert_int_eq(set_up(&s, "lenet", "dpos", 4, 2), FR_OK); /* fewer samples than GPUs */
    ck_assert_str_eq(s.decided->start, "model");
    tear_down(&s);
    ck_assert_int_eq(set_up(&s, "lenet", "dpos:start=dp", 4, 2), FR_EUSAGE);
    tear_down(&s);
}

/* GPT-2 XL has 1.56 billion parameters, 25 GB with gradients and two states: not for 16 GB. */
TEST(what_fits_nowhere_is_refused_by_name_and_size)
{
    struct setup s;

    ck_assert_int_eq(set_up_with(&s, FR_ADAM, "gpt2-xl", "dpos", 1, 1), FR_ENOROOM);
    ck_assert_ptr_nonnull(strstr(s.err.text, "needs"));
    ck_assert_ptr_nonnull(strstr(s.err.text, "n0.gpu0"));
    tear_down(&s);
    ck_assert_int_eq(set_up_with(&s, FR_ADAM, "gpt2-xl", "dpos", 8, 1),
                     FR_OK); /* over eight of them it does */
    ck_assert_str_eq(s.decided->start, "model");
    tear_down(&s);
}

int main(void)
{
    TCase *t = tcase_create("all");

    tcase_set_timeout(t, 120);
    add_tests(t);
    return run_case(t, "strategies/fastt");
}
