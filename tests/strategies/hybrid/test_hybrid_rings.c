/* tests/strategies/hybrid/test_hybrid_rings.c - messages in steps beside the parts of their ops,
 * and the three ways of context parallelism: bytes, and times by their closed forms. An op that
 * takes n m alone, and whose message over n ranks takes g a step, takes with it T = m + (n - 1)
 * max(m, g), attention's backward pass, which passes on keys and values and then sums their
 * gradients over the same links, n m + g where m >= 2 g, and never less than either does alone. Kc
 * = 2 (s/c) b h_kv w are the keys and values of a rank. A rank sends a layer and micro-batch all-
 * gather, ring (c - 1) Kc forward and 2 (c - 1) Kc backward Ulysses (c - 1)/c (s/c) b (2 h + 2
 * h_kv) w, each way */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/strategies_case.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>

/* A model for bytes, and one whose products take longer than reading their weights. */
enum { BIG_SEQ = 512, BIG_HIDDEN = 512, BIG_FFN = 1024, BIG_KV_HIDDEN = 256 };
#define BIG "llama:hidden=512,heads=8,kv_heads=4,ffn=1024,seq=512,vocab=1000,layers=1"

enum { SEQ = 64, HIDDEN = 128, KV_HIDDEN = 64, N_GPUS = 4 };

#define LLAMA "llama:hidden=128,heads=8,kv_heads=4,ffn=256,seq=64,vocab=1000,layers="
#define GPT "gpt:attention=flash,hidden=128,heads=8,seq=64,vocab=1000,layers="

struct ran {
    struct fr_topo *topo;
    struct fr_graph *g;
    struct fr_plan *p;
    struct fr_run *r;
};

static struct ran run(const char *model, enum fr_dtype dtype, double bw_Bps, const char *spec)
{
    struct ran x = {.topo = case_topo(N_GPUS, bw_Bps, UINT64_C(1) << 36)};
    struct case_problem c = {x.topo, NULL, N_GPUS, 1, FR_SGD, NULL};
    const struct fr_workload_options o = {.batch = 1, .dtype = dtype};
    struct fr_run_options options;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&x.g, model, &o, &err) == FR_OK, "%s", err.text);
    c.graph = x.g;
    x.p = case_plan(&c, spec);
    fr_run_options_init(&options);
    ck_assert_msg(fr_simulate(x.p, &options, &x.r, &err) == FR_OK, "%s: %s", spec, err.text);
    return x;
}

static void free_ran(struct ran *x)
{
    fr_run_free(x->r);
    fr_plan_free(x->p);
    fr_graph_free(x->g);
    fr_topo_free(x->topo);
}

/* ---- bytes ---- */

struct sent {
    double bytes[FR_N_COLLECTIVE_KINDS];
};

static struct sent count(const struct fr_plan *p)
{
    const struct fr_plan_view *v = fr_plan_view(p);
    struct sent sum = {{0}};

    for (size_t t = 0; t < v->n_tasks; t++) {
        const struct fr_collective *c;
        double n;

        if (v->tasks[t].kind != FR_TASK_COLLECTIVE || v->tasks[t].device != 0)
            continue;
        c = &v->collectives[v->tasks[t].collective];
        if (c->label != FR_NONE)
            continue; /* of gradients of parameters */
        n = fr_plan_group_size(p, c->group);
        sum.bytes[c->kind] += c->kind == FR_RING_STEP ? c->bytes : (n - 1) / n * c->bytes;
    }
    return sum;
}

/* What a layer adds. */
static struct sent of_a_layer(const char *model, const char *spec)
{
    struct sent two[2];
    char name[200];

    for (int i = 0; i < 2; i++) {
        struct ran x;

        snprintf(name, sizeof(name), "%s%d", model, i + 2);
        x = run(name, FR_BF16, 1e11, spec);
        two[i] = count(x.p);
        free_ran(&x);
    }
    for (int k = 0; k < FR_N_COLLECTIVE_KINDS; k++)
        two[1].bytes[k] -= two[0].bytes[k];
    return two[1];
}

#define U_BYTES (3.0 / 4 * SEQ * HIDDEN * 2)
#define KC_BYTES (2.0 * (SEQ / 4) * KV_HIDDEN * 2)
#define KC_OF_GPT (2.0 * (SEQ / 4) * HIDDEN * 2)
#define HEADS_BYTES (3.0 / 4 * (SEQ / 4) * (2 * HIDDEN + 2 * KV_HIDDEN) * 2)
#define HEADS_OF_GPT (3.0 / 4 * (SEQ / 4) * (4 * HIDDEN) * 2)

/* With tp-overlap the four messages of the forward pass and the two gathers of the gradients that
 * come in go in steps; the inputs that are gathered again, and the sums of the gradients that go
 * out, stay whole beside the gradient of the weights. */
static const struct {
    const char *model, *spec;
    double step, gather, scatter, exchange;
} sent[] = {
    {LLAMA, "hybrid:tp=4,sp=1", 0, 6 * U_BYTES, 4 * U_BYTES, 0},
    {LLAMA, "hybrid:tp=4,sp=1,tp-overlap=1", 6 * U_BYTES, 2 * U_BYTES, 2 * U_BYTES, 0},
    {LLAMA, "hybrid:tp=4,sp=1,tp-overlap=1,recompute=full", 10 * U_BYTES, 2 * U_BYTES, 2 * U_BYTES,
     0},
    {GPT, "hybrid:tp=4,sp=1,tp-overlap=1", 6 * U_BYTES, 2 * U_BYTES, 2 * U_BYTES, 0},
    {LLAMA, "hybrid:cp=4", 0, 2 * 3 * KC_BYTES, 3 * KC_BYTES, 0},
    {LLAMA, "hybrid:cp=4,cp-comm=ring", 3 * 3 * KC_BYTES, 0, 0, 0},
    {LLAMA, "hybrid:cp=4,cp-comm=ring,recompute=full", 4 * 3 * KC_BYTES, 0, 0, 0},
    {LLAMA, "hybrid:cp=4,cp-comm=ulysses", 0, 0, 0, 2 * HEADS_BYTES},
    {LLAMA, "hybrid:cp=4,cp-comm=ulysses,recompute=full", 0, 0, 0, 3 * HEADS_BYTES},
    {GPT, "hybrid:cp=4", 0, 2 * 3 * KC_OF_GPT, 3 * KC_OF_GPT, 0},
    {GPT, "hybrid:cp=4,cp-comm=ring", 3 * 3 * KC_OF_GPT, 0, 0, 0},
    {GPT, "hybrid:cp=4,cp-comm=ulysses", 0, 0, 0, 2 * HEADS_OF_GPT},
};

START_TEST(a_layer_sends_what_its_way_of_splitting_says)
{
    struct sent s = of_a_layer(sent[_i].model, sent[_i].spec);

    ck_assert_double_eq_tol(s.bytes[FR_RING_STEP], sent[_i].step, 1e-6);
    ck_assert_double_eq_tol(s.bytes[FR_ALL_GATHER], sent[_i].gather, 1e-6);
    ck_assert_double_eq_tol(s.bytes[FR_REDUCE_SCATTER], sent[_i].scatter, 1e-6);
    ck_assert_double_eq_tol(s.bytes[FR_ALL_TO_ALL], sent[_i].exchange, 1e-6);
    ck_assert_double_eq_tol(s.bytes[FR_ALL_REDUCE], 0, 1e-6);
}
END_TEST

/* ---- times ---- */

struct span {
    double from_s, to_s, part_s;
};

/* From the first to the last of the tasks of device 0 whose op has the name, or that with a part's
 * or step's number. part_s: of the last of them. */
static void add_span(const struct ran *x, const char *name, struct span *s)
{
    const struct fr_plan_view *v = fr_plan_view(x->p);
    size_t n = strlen(name);

    for (size_t t = 0; t < v->n_tasks; t++) {
        const struct fr_task *k = &v->tasks[t];
        const char *op = k->op == FR_NONE ? "" : v->graph->ops[k->op].name;

        if (k->device != 0 || strncmp(op, name, n) != 0 ||
            (op[n] && strncmp(op + n, ".part", 5) != 0 && strncmp(op + n, ".step", 5) != 0))
            continue;
        s->from_s = fmin(s->from_s, x->r->start_s[t]);
        s->to_s = fmax(s->to_s, x->r->end_s[t]);
        if (k->kind == FR_TASK_COMPUTE)
            s->part_s = x->r->end_s[t] - x->r->start_s[t];
    }
}

#define PRODUCT_RATE 0.8 /* of the data sheet's, by the rooflines of the test's cost model */

/* Links that are slower and faster than the parts. */
static const double speeds[] = {1e9, 2e9, 1e10, 1e11, 1e13};

START_TEST(a_product_and_the_sum_of_its_parts_take_the_longer_of_both)
{
    struct ran x = run(BIG, FR_FP32, speeds[_i], "hybrid:tp=4,sp=1,tp-overlap=1");
    double m = 2.0 * (BIG_SEQ / 4) * (BIG_FFN / 4.0) * BIG_HIDDEN / (PRODUCT_RATE * 1e12);
    double g = (BIG_SEQ / 4) * BIG_HIDDEN * 4 / speeds[_i];
    struct span s = {INFINITY, 0, 0};

    add_span(&x, "layer0.mlp.down", &s);
    ck_assert_double_eq_tol(s.part_s, m, 1e-9 * m);
    add_span(&x, "layer0.mlp.down.tp.reduce_scatter", &s);
    ck_assert_double_eq_tol(s.to_s - s.from_s, m + 3 * fmax(m, g), 1e-9 * (m + g));
    free_ran(&x);
}
END_TEST

/* Gate and up read the same rows; the elementwise op between them fits in where there is room. */
START_TEST(a_gather_brings_its_products_part_after_part)
{
    struct ran x = run(BIG, FR_FP32, speeds[_i], "hybrid:tp=4,sp=1,tp-overlap=1");
    double m = 2 * 2.0 * (BIG_SEQ / 4) * (BIG_FFN / 4.0) * BIG_HIDDEN / (PRODUCT_RATE * 1e12);
    double silu = 2.0 * BIG_SEQ * (BIG_FFN / 4.0) * 4 / 1e12;
    double g = (BIG_SEQ / 4) * BIG_HIDDEN * 4 / speeds[_i], least = m + 3 * fmax(m, g);
    struct span s = {INFINITY, 0, 0};

    add_span(&x, "layer0.mlp.gate", &s);
    add_span(&x, "layer0.mlp.up", &s);
    ck_assert_double_ge(s.to_s - s.from_s, least * (1 - 1e-9));
    ck_assert_double_le(s.to_s - s.from_s, (least + silu) * (1 + 1e-9));
    free_ran(&x);
}
END_TEST

/* Attention forward: 4 (s/c)^2 h FLOPs a part, half of them under the mask; backward 2.5 times as
 * many. */
START_TEST(ring_attention_takes_the_longer_of_its_parts_and_their_messages)
{
    struct ran x = run(BIG, FR_FP32, speeds[_i], "hybrid:cp=4,cp-comm=ring");
    double g = 2 * (BIG_SEQ / 4) * BIG_KV_HIDDEN * 4 / speeds[_i], m;
    struct span s = {INFINITY, 0, 0}, back = {INFINITY, 0, 0};

    add_span(&x, "layer0.attn.flash", &s);
    m = s.part_s;
    ck_assert_double_ge(m,
                        4.0 * (BIG_SEQ / 4) * (BIG_SEQ / 4) * BIG_HIDDEN / 2 / 1e12 * (1 - 1e-9));
    ck_assert_double_eq_tol(s.to_s - s.from_s, m + 3 * fmax(m, g), 1e-9 * (m + g));
    add_span(&x, "layer0.attn.flash.dgrad", &back);
    m = back.part_s;
    add_span(&x, "layer0.attn.flash.dgrad.cp.reduce_scatter", &back);
    add_span(&x, "layer0.attn.flash.dgrad.cp.reduce_scatter2", &back);
    if (m >= 2 * g)
        ck_assert_double_eq_tol(back.to_s - back.from_s, 4 * m + g, 1e-9 * (m + g));
    ck_assert_double_ge(back.to_s - back.from_s, (4 * m + g) * (1 - 1e-9));
    ck_assert_double_le(back.to_s - back.from_s, (4 * m + 6 * g) * (1 + 1e-9));
    free_ran(&x);
}
END_TEST

LOOP_TEST(over_links_without_end_steps_cost_nothing, 0, 2)
{
    static const char *const specs[][2] = {
        {"hybrid:tp=4,sp=1,overlap=0", "hybrid:tp=4,sp=1,overlap=0,tp-overlap=1"},
        {"hybrid:cp=4,overlap=0,cp-comm=ulysses", "hybrid:cp=4,overlap=0,cp-comm=ring"},
    };
    struct ran whole = run(LLAMA "2", FR_FP32, 1e18, specs[_i][0]),
               steps = run(LLAMA "2", FR_FP32, 1e18, specs[_i][1]);

    ck_assert_double_eq_tol(steps.r->makespan_s, whole.r->makespan_s,
                            (_i ? 0.02 : 0.001) * whole.r->makespan_s);
    free_ran(&whole);
    free_ran(&steps);
}

/* ---- memory ---- */

/* Queries, keys and values are kept once, whichever way; Ulysses keeps the outcome twice: by heads
 * for the backward pass of attention, by positions for that of the product after it. */
TEST(no_way_of_context_parallelism_keeps_gathered_keys_and_values)
{
    static const char *const specs[] = {"hybrid:cp=4", "hybrid:cp=4,cp-comm=ring",
                                        "hybrid:cp=4,cp-comm=ulysses"};
    uint64_t grows[3];

    for (int k = 0; k < 3; k++) {
        struct ran few = run(LLAMA "2", FR_BF16, 1e11, specs[k]),
                   many = run(LLAMA "6", FR_BF16, 1e11, specs[k]);

        grows[k] = (many.r->devices[0].peak_by_kind[FR_BUFFER_ACTIVATION] -
                    few.r->devices[0].peak_by_kind[FR_BUFFER_ACTIVATION]) /
                   4;
        free_ran(&few);
        free_ran(&many);
    }
    ck_assert_uint_eq(grows[1], grows[0]);
    ck_assert_uint_eq(grows[2], grows[0] + SEQ / 4 * HIDDEN * 2);
}

/* ---- messages in line ---- */

/* Seconds in which device 0 computes while a message of its tensor group is under way. */
static double seconds_beside(const struct ran *x)
{
    const struct fr_plan_view *v = fr_plan_view(x->p);
    double s = 0;

    for (size_t m = 0; m < v->n_tasks; m++)
        for (size_t t = 0; t < v->n_tasks; t++)
            if (v->tasks[m].kind == FR_TASK_COLLECTIVE && v->tasks[m].op != FR_NONE &&
                v->tasks[m].device == 0 && v->tasks[t].device == 0 &&
                v->tasks[t].kind == FR_TASK_COMPUTE)
                s += fmax(0, fmin(x->r->end_s[m], x->r->end_s[t]) -
                                 fmax(x->r->start_s[m], x->r->start_s[t]));
    return s;
}

/* Two sums of inputs' gradients a layer run beside the gradients of weights, or beside nothing. */
LOOP_TEST(nothing_runs_beside_a_message_that_is_not_asynchronous, 0, 2)
{
    static const char *const specs[] = {"hybrid:tp=4", "hybrid:tp=4,sp=1"};
    char in_line[100];
    struct ran beside, after;

    beside = run(BIG, FR_FP32, 1e10, specs[_i]);
    snprintf(in_line, sizeof(in_line), "%s,tp-async=0", specs[_i]);
    after = run(BIG, FR_FP32, 1e10, in_line);
    ck_assert_double_gt(seconds_beside(&beside), 0);
    ck_assert_double_lt(seconds_beside(&after), 1e-12);
    ck_assert_double_gt(after.r->makespan_s, beside.r->makespan_s * 1.001);
    free_ran(&beside);
    free_ran(&after);
}

/* ---- refusals ---- */

static const struct {
    const char *model, *spec, *says;
} refused[] = {
    {LLAMA "1", "hybrid:tp=4,tp-overlap=1",
     "tp-overlap=1 needs sp=1: a sum that all ranks need whole has no parts that one of them could "
     "begin with"},
    {LLAMA "1", "hybrid:tp=4,sp=1,tp-overlap=1,tp-async=0",
     "tp-overlap=1 runs messages of a tensor group beside products, which tp-async=0 excludes"},
    {"gpt:hidden=128,heads=8,seq=64,vocab=1000,layers=1", "hybrid:cp=4,cp-comm=ring",
     "cp-comm=ring needs attention as one op, which 'gpt:hidden=128,heads=8,seq=64,vocab=1000,"
     "layers=1' has not (where the model has it, attention=flash)"},
    {"llama:hidden=128,heads=8,kv_heads=2,ffn=256,seq=64,vocab=1000,layers=1",
     "hybrid:cp=4,cp-comm=ulysses",
     "op 'layer0.attn.flash' cannot be split over 'cp': its 2 heads are not shared alike by 4 "
     "ranks, but by 1 or 2"},
};

START_TEST(what_cannot_be_done_is_refused_with_the_reason)
{
    struct fr_topo *topo = case_topo(N_GPUS, 1e11, UINT64_C(1) << 36);
    struct case_problem c = {topo, NULL, N_GPUS, 4, FR_SGD, NULL};
    const struct fr_workload_options o = {.batch = 1, .dtype = FR_BF16};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, refused[_i].model, &o, &err) == FR_OK, "%s", err.text);
    c.graph = g;
    case_fails(&c, refused[_i].spec, &err);
    ck_assert_str_eq(err.text, refused[_i].says);
    fr_graph_free(g);
    fr_topo_free(topo);
}
END_TEST

#define COUNT(a) (int)(sizeof(a) / sizeof((a)[0]))

int main(void)
{
    TCase *c = tcase_create("hybrid_rings");

    tcase_add_loop_test(c, a_layer_sends_what_its_way_of_splitting_says, 0, COUNT(sent));
    tcase_add_loop_test(c, a_product_and_the_sum_of_its_parts_take_the_longer_of_both, 0,
                        COUNT(speeds));
    tcase_add_loop_test(c, a_gather_brings_its_products_part_after_part, 0, COUNT(speeds));
    tcase_add_loop_test(c, ring_attention_takes_the_longer_of_its_parts_and_their_messages, 0,
                        COUNT(speeds));
    add_tests(c);
    tcase_add_loop_test(c, what_cannot_be_done_is_refused_with_the_reason, 0, COUNT(refused));
    return run_case(c, "strategies/hybrid_rings");
}
