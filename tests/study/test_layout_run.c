/* tests/study/test_layout_run.c - what is told of plans whose ops are split over a mesh: placements
 * against shapes, messages and bytes against derivations. */
#include "config.h"

#include "study/explain/layout_run.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <string.h>

#define assert_near(x, y) ck_assert_double_eq_tol(x, y, 1e-9 * (y))

struct told {
    struct fr_explanation *e;
    struct fr__layout_run r;
};

static void tell(struct told *t, const char *model, const char *topology, const char *strategy,
                 uint32_t global_batch)
{
    struct fr_error err = {.text = ""};
    struct fr_question q;

    fr_question_init(&q);
    q.workload = model;
    q.topology = topology;
    q.strategy = strategy;
    q.global_batch = global_batch;
    q.dtype = FR_BF16;
    q.optimizer = FR_ADAM;
    ck_assert_msg(fr_explain(&t->e, &q, NULL, &err) == FR_OK, "%s: %s", strategy, err.text);
    ck_assert(fr_explanation_is_layout(t->e));
    ck_assert_msg(fr__layout_run_make(&t->r, t->e, &err) == FR_OK, "%s", err.text);
}

static void tear_down(struct told *t)
{
    fr__layout_run_fini(&t->r);
    fr_explanation_free(t->e);
}

/* Bytes that a rank of a stage sends along an axis, over all kinds or one. */
static double sent(const struct told *t, uint32_t stage, const char *axis, const char *what)
{
    double bytes = 0;

    for (size_t i = 0; i < t->r.n_sums; i++) {
        const struct fr__layout_sum *s = &t->r.sums[i];

        if (s->stage_rank == stage && strcmp(s->axis, axis) == 0 &&
            (!what || strcmp(s->what, what) == 0))
            bytes += s->wire_bytes;
    }
    return bytes;
}

static const struct fr__layout_kind *layer_of(const struct told *t)
{
    ck_assert_uint_ge(t->r.n_kinds, 2);
    return &t->r.kinds[0];
}

static double layer_sent(const struct told *t)
{
    const struct fr__layout_kind *k = layer_of(t);
    double bytes = 0;

    for (size_t m = 0; m < k->n_messages; m++)
        bytes += t->r.messages[k->first_message + m].wire_bytes;
    return bytes;
}

/* Each message of a layer takes what a gather or scatter of X over four GPUs of the machine takes
 * by the curves of its system; the layer's ten take ten times that. */
static void assert_times(const struct told *t, double X)
{
    const struct fr__layout_kind *k = layer_of(t);
    const struct fr_plan *p = t->e->record->plan;
    double expected_s = 0, time_s = 0;

    ck_assert_uint_eq(k->n_messages, 10);
    for (size_t m = 0; m < k->n_messages; m++) {
        const struct fr__layout_message *x = &t->r.messages[k->first_message + m];
        struct fr_collective c = {.bytes = X, .kind = x->kind, .group = 0};
        struct fr_cost cost;

        while (fr_plan_group_size(p, c.group) != 4)
            c.group++;
        ck_assert(fr_plan_collective_cost(p, t->e->problem.costs, &c, false, &cost));
        expected_s += cost.mean_s;
        time_s += x->time_s;
    }
    assert_near(time_s, expected_s);
}

/* large-models 2.7: GPT-3 175B, t=4 with sequence parallelism, p=8, v=6, d=4, b=1, m=64, s=2048.
 * X = 2048 x 12288 x 2 bytes; U = 3/4 X = 37.75 MB. A rank of a middle stage has 12 layers of 10 U
 * in 64 micro-batches: 289.9 GB. Its 5.436e9 parameters (12 layers of (12 h^2 + 13 h)/4 and what a
 * tensor group does not split) have fp32 gradients, of which 3/4 are sent: 16.31 GB; the weights in
 * bf16 are half of that: 8.15 GB. */
TEST(the_worked_example_sends_the_bytes_that_were_derived)
{
    const double U = 0.75 * 2048 * 12288 * 2;
    struct told t;

    tell(&t, "gpt3-175b", "16x hgx-h100 via ib:400Gbps",
         "hybrid:tp=4,sp=1,pp=8,virtual=6,micro=1,zero=1,cut=layers", 256);
    assert_near(layer_sent(&t), 10 * U);
    assert_near(sent(&t, 3, "tp", "all-gather") + sent(&t, 3, "tp", "reduce-scatter"),
                12 * 10 * U * 64);
    ck_assert_double_eq_tol(sent(&t, 3, "tp", NULL), 289.9e9, 0.05e9);
    ck_assert_double_eq_tol(sent(&t, 3, "dp", "reduce-scatter"), 16.31e9, 0.005e9);
    assert_near(sent(&t, 3, "dp", "all-gather"), sent(&t, 3, "dp", "reduce-scatter") / 2);
    assert_times(&t, 2048.0 * 12288 * 2);
    ck_assert_double_eq_tol(sent(&t, 3, "dp", "all-gather"), 8.15e9, 0.01e9);
    tear_down(&t);
}

/* large-models 2.1, with U = (t-1)/t s b h w: two all-reduces each way; with sequence parallelism
 * two gathers and two scatters forward, and a gather of the gradient, one of the input, a scatter
 * for both blocks backward. h = 256, s = 128, b = 1, t = 4. */
static const struct {
    const char *strategy;
    double units;
} modes[] = {{"hybrid:tp=4,micro=1", 8},
             {"hybrid:tp=4,sp=1,micro=1", 10},
             {"hybrid:tp=4,sp=1,keep-gathered=1,micro=1", 8},
             {"hybrid:tp=4,micro=1,recompute=full", 12}};

START_TEST(a_layer_sends_as_many_units_as_derived)
{
    const double U = 0.75 * 128 * 256 * 2;
    struct told t;

    tell(&t, "gpt:layers=3,hidden=256,heads=8,seq=128,vocab=512", "dgx1-v100", modes[_i].strategy,
         4);
    ck_assert_uint_eq(t.r.n_kinds, 2);
    ck_assert_uint_eq(layer_of(&t)->n_units, 3);
    if (modes[_i].units < 12)
        assert_near(layer_sent(&t), modes[_i].units * U);
    else /* what is run again of the last block may be left out */
        ck_assert(layer_sent(&t) >= (modes[_i].units - 2) * U - 1 &&
                  layer_sent(&t) <= modes[_i].units * U + 1);
    tear_down(&t);
}
END_TEST

/* What is told of an op's placement is what its shape shows: the local extents times the sizes of
 * the axes that split a dimension are the whole op's. */
static const struct {
    const char *model, *strategy;
} placed[] = {
    {"gpt:layers=2,hidden=64,heads=4,seq=32,vocab=128", "hybrid:tp=2,sp=1,cp=2"},
    {"gpt:layers=2,hidden=64,heads=4,seq=32,vocab=128", "hybrid:tp=4"},
    {"gpt:layers=2,hidden=64,heads=4,seq=32,vocab=128", "hybrid:tp=2,sp=1,recompute=full,pp=2"},
    {"gpt:layers=2,hidden=64,heads=4,seq=32,vocab=128", "hybrid:zero=3,tp=2"}};

static double whole_extent(const struct told *t, const struct fr_layout_op *op, unsigned d)
{
    const struct fr_op *x = &t->r.graph->ops[op->op];
    double extent = t->r.graph->tensors[x->first_tensor].dims[d];

    for (size_t i = 0; i < op->n_splits; i++) {
        const struct fr_layout_split *s = &op->splits[i];

        if (s->output == FR_LAYOUT_SPLIT && s->dim == d &&
            strcmp(t->r.layout->axes[s->axis].name, "dp") != 0)
            extent *= t->r.layout->axes[s->axis].size;
    }
    return extent;
}

START_TEST(placements_agree_with_shapes)
{
    struct told t;
    size_t n = 0;

    tell(&t, placed[_i].model, "dgx1-v100", placed[_i].strategy, 16);
    for (size_t o = 0; o < t.r.layout->n_ops; o++) {
        const struct fr_layout_op *op = &t.r.layout->ops[o];
        const struct fr_op *x = &t.r.graph->ops[op->op];
        uint32_t user = fr_plan_user_op(t.e->record->plan, op->op);
        const struct fr_graph *g = t.e->problem.graph;
        const struct fr_tensor *whole;

        if (!x->n_tensors || user == FR_NONE || strcmp(g->ops[user].name, x->name) != 0)
            continue;
        whole = &g->tensors[g->ops[user].first_tensor];
        for (unsigned d = 0; d < whole->n_dims; d++)
            ck_assert_msg(whole_extent(&t, op, d) >= whole->dims[d] &&
                              whole_extent(&t, op, d) <= whole->dims[d],
                          "%s, %s: dimension %u", placed[_i].strategy, x->name, d);
        n++;
    }
    ck_assert_uint_gt(n, 40);
    tear_down(&t);
}
END_TEST

TEST(what_is_exposed_is_part_of_the_time_and_all_stages_add_up)
{
    struct told t;

    tell(&t, "gpt:layers=4,hidden=64,heads=4,seq=32,vocab=128", "dgx1-v100",
         "hybrid:tp=2,pp=2,zero=1", 16);
    ck_assert_uint_eq(t.r.n_stage_ranks, 2);
    ck_assert_uint_gt(t.r.n_sums, 4);
    for (size_t i = 0; i < t.r.n_sums; i++) {
        const struct fr__layout_sum *s = &t.r.sums[i];

        ck_assert(s->exposed_s >= 0 && s->exposed_s <= s->time_s * (1 + 1e-12));
        ck_assert_uint_le(s->a_micro_batch * t.r.layout->n_micros, s->a_step);
    }
    tear_down(&t);
}

/* 8 GPUs, two to a tensor group, four to experts': experts' replicas are the rest, 2. */
TEST(groups_are_named_after_their_axes)
{
    struct told t;
    size_t n = 0;

    tell(&t, "mixtral:layers=2,hidden=64,heads=4,kv_heads=4,ffn=128,seq=32,vocab=128,experts=4",
         "dgx1-v100", "hybrid:tp=2,sp=1,ep=4,etp=1,zero=1", 16);
    ck_assert(sent(&t, 0, "tp", "all-gather") > 0);
    ck_assert(sent(&t, 0, "ep", "all-to-all") > 0);
    ck_assert(sent(&t, 0, "edp", NULL) > 0);
    ck_assert(sent(&t, 0, "dp", NULL) > 0);
    for (size_t i = 0; i < t.r.n_sums; i++)
        n += strstr(t.r.sums[i].axis, "ranks") != NULL;
    ck_assert_uint_eq(n, 0);
    tear_down(&t);
}

TEST(replicas_alone_send_gradients_alone)
{
    struct told t;

    tell(&t, "lenet", "dgx1-v100", "hybrid", 16);
    ck_assert_uint_eq(t.r.n_messages, 0);
    ck_assert_uint_gt(t.r.n_sums, 0);
    for (size_t i = 0; i < t.r.n_sums; i++)
        ck_assert_str_eq(t.r.sums[i].axis, "dp");
    tear_down(&t);
}

int main(void)
{
    TCase *tc = tcase_create("layout");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    tcase_add_loop_test(tc, a_layer_sends_as_many_units_as_derived, 0,
                        (int)(sizeof(modes) / sizeof(modes[0])));
    tcase_add_loop_test(tc, placements_agree_with_shapes, 0,
                        (int)(sizeof(placed) / sizeof(placed[0])));
    return run_case(tc, "study/layout_run");
}
