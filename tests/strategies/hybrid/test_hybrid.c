/* tests/strategies/hybrid/test_hybrid.c - what the ranks of a hybrid send each other, counted in
 * the plan, and what is refused.
 *
 * The counts are those of Megatron-LM's code: U = (t - 1)/t X bytes sent, X = s b h w the
 * activation of a layer, is one gather or scatter over t ranks; an all-reduce is two
 * (Korthikanti et al., 2023, section 4.2).
 */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/shard_case.h"
#include "tests/support/strategies_case.h"

#include <check.h>
#include <stdint.h>
#include <string.h>

enum { SEQ = 64, HIDDEN = 128, N_MICROS = 2, N_GPUS = 8 };

#define GPT "gpt:hidden=128,heads=8,seq=64,vocab=1000,layers="
#define LLAMA "llama:hidden=128,heads=8,kv_heads=8,ffn=256,seq=64,vocab=1000,layers="
#define MOE "mixtral:hidden=128,heads=8,kv_heads=8,ffn=256,experts=8,seq=64,vocab=1000,layers="
#define GQA "llama:hidden=128,heads=8,kv_heads=2,ffn=256,seq=64,vocab=1000,layers="

static struct fr_topo *topo;

/* What device 0 sends and takes part in. */
struct sent {
    double wire_bytes[FR_N_COLLECTIVE_KINDS];
    size_t n[FR_N_COLLECTIVE_KINDS];
    uint32_t n_ranks; /* of the last group */
};

static bool is_asked(const struct fr_plan *p, const struct fr_collective *c, const char *label)
{
    return label ? c->label != FR_NONE && strstr(fr_plan_string(p, c->label), label)
                 : c->label == FR_NONE;
}

/* label: a part of it; NULL: messages inside the graph, which have none. */
static struct sent count(const struct fr_plan *p, const char *label)
{
    const struct fr_plan_view *v = fr_plan_view(p);
    struct sent sum = {.n_ranks = 0};

    for (size_t t = 0; t < v->n_tasks; t++) {
        const struct fr_collective *c;
        double n;

        if (v->tasks[t].kind != FR_TASK_COLLECTIVE || v->tasks[t].device != 0)
            continue;
        c = &v->collectives[v->tasks[t].collective];
        if (!is_asked(p, c, label))
            continue;
        sum.n_ranks = fr_plan_group_size(p, c->group);
        n = sum.n_ranks;
        sum.n[c->kind]++;
        sum.wire_bytes[c->kind] += (c->kind == FR_ALL_REDUCE ? 2 : 1) * (n - 1) / n * c->bytes;
    }
    return sum;
}

static void free_all(struct fr_plan *p)
{
    struct fr_graph *g = (struct fr_graph *)(uintptr_t)fr_plan_view(p)->user_graph;

    fr_plan_free(p);
    fr_graph_free(g);
}

/* On two micro-batches of one sample a replica; free_all. */
static struct fr_plan *plan(const char *model, const char *layers, uint32_t dp, const char *spec)
{
    struct case_problem c = {topo, NULL, N_GPUS, dp * N_MICROS, FR_ADAM, NULL};
    const struct fr_workload_options o = {.batch = 8, .dtype = FR_BF16};
    struct fr_graph *g = NULL;
    struct fr_error err;
    char name[200];

    snprintf(name, sizeof(name), "%s%s", model, layers);
    ck_assert_msg(fr_workload_load(&g, name, &o, &err) == FR_OK, "%s", err.text);
    c.graph = g;
    return case_plan(&c, spec);
}

/* Two layers more: what a layer and micro-batch adds. */
static struct sent of_a_layer(const char *model, uint32_t dp, const char *spec, const char *label)
{
    struct fr_plan *few = plan(model, "2", dp, spec), *many = plan(model, "4", dp, spec);
    struct sent a = count(few, label), b = count(many, label);
    double n = label ? 2 : 2 * N_MICROS;

    for (int k = 0; k < FR_N_COLLECTIVE_KINDS; k++) {
        b.wire_bytes[k] = (b.wire_bytes[k] - a.wire_bytes[k]) / n;
        b.n[k] = b.n[k] - a.n[k];
    }
    free_all(few);
    free_all(many);
    return b;
}

/* ---- messages of a layer ---- */

#define X_BYTES ((double)SEQ * HIDDEN * 2)
#define U_BYTES (3.0 / 4 * X_BYTES) /* four ranks */

static double all_bytes(const struct sent *s)
{
    double sum = 0;

    for (int k = 0; k < FR_N_COLLECTIVE_KINDS; k++)
        sum += s->wire_bytes[k];
    return sum;
}

/* Full recomputation redoes both sums of a layer, the last one too, though nothing in Llama's
 * backward pass reads it: Megatron-LM's checkpoint calls the whole forward function again.
 * PyTorch's stops early and leaves that one out. */
static const struct {
    const char *model, *spec;
    double reduce, gather, scatter; /* U a layer and micro-batch */
} tensor[] = {
    {GPT, "hybrid:tp=4,micro=1", 8, 0, 0},
    {GPT, "hybrid:tp=4,micro=1,recompute=selective", 8, 0, 0},
    {GPT, "hybrid:tp=4,micro=1,recompute=full", 12, 0, 0},
    {GPT, "hybrid:tp=4,sp=1,micro=1", 0, 6, 4},
    {GPT, "hybrid:tp=4,sp=1,micro=1,zero=1", 0, 6, 4},
    {GPT, "hybrid:tp=4,sp=1,micro=1,keep-gathered=1", 0, 4, 4},
    {GPT, "hybrid:tp=4,sp=1,micro=1,recompute=full", 0, 8, 6},
    {LLAMA, "hybrid:tp=4,micro=1", 8, 0, 0},
    {LLAMA, "hybrid:tp=4,micro=1,recompute=full", 12, 0, 0},
    {LLAMA, "hybrid:tp=4,micro=1,recompute=full,early-stop=1", 10, 0, 0},
    {LLAMA, "hybrid:tp=4,sp=1,micro=1,recompute=full", 0, 8, 6},
    {LLAMA, "hybrid:tp=4,sp=1,micro=1,recompute=full,early-stop=1", 0, 8, 5},
    {LLAMA, "hybrid:tp=4,sp=1,micro=1,recompute=99", 0, 8, 6},
};

LOOP_TEST(a_tensor_group_sends_eight_units_a_layer_and_ten_with_sequence_parallelism, 0,
          sizeof(tensor) / sizeof(tensor[0]))
{
    struct sent s = of_a_layer(tensor[_i].model, 2, tensor[_i].spec, NULL);

    ck_assert_uint_eq(s.n_ranks, 4);
    ck_assert_double_eq_tol(s.wire_bytes[FR_ALL_REDUCE], tensor[_i].reduce * U_BYTES, 1e-6);
    ck_assert_double_eq_tol(s.wire_bytes[FR_ALL_GATHER], tensor[_i].gather * U_BYTES, 1e-6);
    ck_assert_double_eq_tol(s.wire_bytes[FR_REDUCE_SCATTER], tensor[_i].scatter * U_BYTES, 1e-6);
    ck_assert_double_eq_tol(all_bytes(&s),
                            (tensor[_i].reduce + tensor[_i].gather + tensor[_i].scatter) * U_BYTES,
                            1e-6);
}

/* Keys and values, 2 (s/c) b h w a rank, are gathered, gathered again in the backward pass, and
 * their gradients scattered: (c - 1) times each. */
TEST(a_context_group_gathers_keys_and_values_twice_and_scatters_their_gradients)
{
    struct sent s = of_a_layer(GPT, 4, "hybrid:cp=2,micro=1", NULL);
    double chunk = 2 * X_BYTES / 2;

    ck_assert_double_eq_tol(s.wire_bytes[FR_ALL_GATHER], 2 * chunk, 1e-6);
    ck_assert_double_eq_tol(s.wire_bytes[FR_REDUCE_SCATTER], chunk, 1e-6);
    ck_assert_double_eq_tol(all_bytes(&s), 3 * chunk, 1e-6);
}

/* Two experts a token: tokens there and back, and their gradients; beside them two numbers a token
 * there, and their gradients back, in fp32 or less. A layer that runs again sends its tokens there
 * and back once more; where it stops early, at the experts' last products, they do not come
 * back. */
static const struct {
    const char *spec;
    double tokens, weights;
} exchanges[] = {
    {"hybrid:ep=4,micro=1", 4, 2},
    {"hybrid:ep=4,micro=1,recompute=selective", 4, 2},
    {"hybrid:ep=4,micro=1,recompute=full", 6, 3},
    {"hybrid:ep=4,micro=1,recompute=99", 6, 3},
    {"hybrid:ep=4,micro=1,recompute=full,early-stop=1", 5, 3},
};

LOOP_TEST(experts_exchange_each_token_four_times_and_six_where_layers_run_again, 0,
          sizeof(exchanges) / sizeof(exchanges[0]))
{
    struct sent s = of_a_layer(MOE, 8, exchanges[_i].spec, NULL);
    double tokens = exchanges[_i].tokens * 2 * U_BYTES;
    double weights = s.wire_bytes[FR_ALL_TO_ALL] - tokens;

    ck_assert_double_ge(weights, 0);
    ck_assert_double_le(weights, exchanges[_i].weights * 2 * SEQ * 4 * 3.0 / 4);
    ck_assert_double_eq_tol(all_bytes(&s), s.wire_bytes[FR_ALL_TO_ALL], 1e-6);
}

/* The tensor between two layers is read by a norm and by an add; the sum of both gradients is made
 * by who has them, so that one tensor of X crosses the boundary in each micro-batch. */
TEST(one_gradient_crosses_a_boundary_between_stages)
{
    struct fr_plan *p = plan(GPT, "4", 4, "hybrid:pp=2,micro=1,recompute=full,fold=0");
    const struct fr_plan_view *v = fr_plan_view(p);
    double there = 0, back = 0;

    for (size_t i = 0; i < v->n_transfers; i++) {
        const struct fr_task *t = &v->tasks[v->transfers[i].send];

        if (t->device == 0 && t->phase == FR_PHASE_FORWARD)
            there += v->transfers[i].bytes;
        if (t->device == 4 && t->phase == FR_PHASE_BACKWARD_DATA)
            back += v->transfers[i].bytes;
    }
    ck_assert_double_eq_tol(there, N_MICROS * X_BYTES, 1e-6);
    ck_assert_double_eq_tol(back, N_MICROS * X_BYTES, 1e-6);
    free_all(p);
}

/* Four ranks of a tensor group send a quarter of X each; the next stage's group gathers it. */
TEST(a_tensor_group_sends_parts_that_the_next_stage_gathers)
{
    struct fr_plan *p =
        plan(GPT, "4", 1, "hybrid:pp=2,tp=4,micro=1,recompute=full,scatter-gather=1,fold=0");
    struct fr_plan *whole = plan(GPT, "4", 1, "hybrid:pp=2,tp=4,micro=1,recompute=full,fold=0");
    const struct fr_plan_view *v = fr_plan_view(p);
    struct sent s = count(p, NULL), w = count(whole, NULL);
    double there = 0, back = 0;

    for (size_t i = 0; i < v->n_transfers; i++) {
        const struct fr_task *t = &v->tasks[v->transfers[i].send];

        if (t->device == 0 && t->phase == FR_PHASE_FORWARD)
            there += v->transfers[i].bytes;
        if (t->device == 4 && t->phase == FR_PHASE_BACKWARD_DATA)
            back += v->transfers[i].bytes;
    }
    ck_assert_double_eq_tol(there, N_MICROS * X_BYTES / 4, 1e-6);
    ck_assert_double_eq_tol(back, N_MICROS * X_BYTES / 4, 1e-6);
    ck_assert_uint_eq(s.n[FR_ALL_GATHER], N_MICROS); /* of gradients, on device 0 */
    ck_assert_double_eq_tol(s.wire_bytes[FR_ALL_GATHER], N_MICROS * U_BYTES, 1e-6);
    ck_assert_uint_eq(w.n[FR_ALL_GATHER], 0);
    ck_assert_uint_eq(s.n[FR_ALL_REDUCE], w.n[FR_ALL_REDUCE]);
    free_all(p);
    free_all(whole);
}

/* ---- sums of gradients ---- */

/* Weights and biases of a layer of GPT: qkv, output, two of the MLP, two norms. */
#define LAYER_PARAMS (12.0 * HIDDEN * HIDDEN + 13 * HIDDEN)

TEST(gradients_are_summed_over_replicas_and_context_groups_in_fp32)
{
    struct sent all = of_a_layer(GPT, 4, "hybrid:cp=2,micro=1", "bucket");
    struct sent sharded = of_a_layer(GPT, 4, "hybrid:cp=2,micro=1,zero=1", "bucket");

    ck_assert_uint_eq(all.n_ranks, 8);
    ck_assert_double_eq_tol(all_bytes(&all), 2 * 7.0 / 8 * LAYER_PARAMS * 4, 1e-6);
    ck_assert_double_eq_tol(sharded.wire_bytes[FR_REDUCE_SCATTER], 7.0 / 8 * LAYER_PARAMS * 4,
                            1e-6);
    ck_assert_double_eq_tol(sharded.wire_bytes[FR_ALL_GATHER], 7.0 / 8 * LAYER_PARAMS * 2, 1e-6);
    ck_assert_double_eq_tol(sharded.wire_bytes[FR_ALL_REDUCE], 0, 1e-6);
}

/* Llama's attention, the router and two norms over all eight ranks; 8/4 experts of three products
 * over the two that hold the same. */
TEST(gradients_of_experts_are_summed_by_those_who_hold_them)
{
    struct sent s = of_a_layer(MOE, 8, "hybrid:ep=4,micro=1", "bucket");
    double dense = 4.0 * HIDDEN * HIDDEN + 8 * HIDDEN + 2 * HIDDEN;
    double experts = 3.0 * HIDDEN * (2 * HIDDEN) * 8 / 4;

    ck_assert_double_eq_tol(all_bytes(&s), 2 * 7.0 / 8 * dense * 4 + 2 * 1.0 / 2 * experts * 4,
                            1e-6);
}

/* Two norms' weights and biases, and the biases of the two products that are split by depth: 6 h in
 * fp32, once for both micro-batches. */
TEST(partial_gradients_of_sequence_parallelism_are_summed_once_a_step)
{
    struct fr_plan *p = plan(GPT, "2", 2, "hybrid:tp=4,sp=1,micro=1");
    struct sent once = count(p, "partial gradients"),
                s = of_a_layer(GPT, 2, "hybrid:tp=4,sp=1,micro=1", "partial gradients");

    ck_assert_uint_eq(once.n[FR_ALL_REDUCE], 1);
    ck_assert_uint_eq(s.n_ranks, 4);
    ck_assert_double_eq_tol(all_bytes(&s), 2 * 3.0 / 4 * 6 * HIDDEN * 4, 1e-6);
    s = of_a_layer(GPT, 2, "hybrid:tp=4,micro=1", "partial gradients");
    ck_assert_double_eq_tol(all_bytes(&s), 0, 1e-6);
    free_all(p);
}

/* Two heads of keys and values on eight ranks: four neighbours hold each, and sum the gradients of
 * its two products, 2 h d in fp32 with d = h/8, among themselves; ranks 0 to 3 are of one group. */
TEST(gradients_of_heads_that_several_ranks_hold_are_summed_among_these)
{
    struct sent s = of_a_layer(GQA, 1, "hybrid:tp=8,micro=1", "equal heads");
    struct fr_plan *p = plan(GQA, "2", 1, "hybrid:tp=8,sp=1,micro=1,fold=0");
    struct sent once = count(p, "equal heads"), norms = count(p, "partial gradients");

    ck_assert_uint_eq(s.n_ranks, 4);
    ck_assert_double_eq_tol(all_bytes(&s), 2 * 3.0 / 4 * 2 * HIDDEN * (HIDDEN / 8.0) * 4, 1e-6);
    ck_assert_uint_eq(once.n[FR_ALL_REDUCE], 1);
    ck_assert_uint_eq(norms.n_ranks, 8);
    free_all(p);
    s = of_a_layer(GQA, 1, "hybrid:tp=8,micro=1", "partial gradients");
    ck_assert_double_eq_tol(all_bytes(&s), 0, 1e-6);
    s = of_a_layer(GQA, 4, "hybrid:tp=2,micro=1", "equal heads"); /* a head each */
    ck_assert_double_eq_tol(all_bytes(&s), 0, 1e-6);
}

/* Both ends have the table of the vocabulary, V h/t numbers a rank; of two ranks each sends half of
 * it twice, in fp32, once a step. */
static const struct {
    const char *model, *spec;
    bool is_summed;
} ends[] = {
    {GPT, "hybrid:tp=2,sp=1,pp=2,micro=1", true},
    {GPT, "hybrid:tp=2,sp=1,pp=2,micro=1,zero=1,fold=0", true},
    {GPT, "hybrid:tp=2,sp=1,pp=2,virtual=2,micro=1,recompute=full", true},
    {GPT, "hybrid:tp=2,sp=1,pp=2,micro=1,tie=0", false},
    {GPT, "hybrid:tp=2,sp=1,micro=1", false},
    {LLAMA, "hybrid:tp=2,sp=1,pp=2,micro=1", false},
};

LOOP_TEST(gradients_of_weights_that_both_ends_share_are_summed_once_a_step, 0,
          sizeof(ends) / sizeof(ends[0]))
{
    uint32_t dp = strstr(ends[_i].spec, "pp=2") ? 2 : 4;
    struct fr_plan *p = plan(ends[_i].model, "4", dp, ends[_i].spec);
    struct sent s = count(p, "shared weights");

    ck_assert_uint_eq(s.n[FR_ALL_REDUCE], ends[_i].is_summed ? 1 : 0);
    ck_assert_double_eq_tol(all_bytes(&s), ends[_i].is_summed ? 1000 / 2 * HIDDEN * 4 : 0, 1e-6);
    free_all(p);
}

/* A gradient of tied weights crosses stages too, but to their sum, which takes it whole. */
TEST(gradients_of_tied_weights_do_not_go_in_parts)
{
    struct fr_plan *p = plan("t5:hidden=128,heads=4,seq=32,layers=", "4", 2,
                             "hybrid:tp=2,pp=2,micro=1,vocab-parallel=0,scatter-gather=1");
    struct sent s = count(p, NULL);

    ck_assert_double_gt(s.wire_bytes[FR_ALL_GATHER], 0);
    free_all(p);
}

/* A large vocabulary makes the head a stage's work by itself; the loss then stands with it, since
 * the shared weights are summed between the first stage and the last. */
LOOP_TEST(a_head_with_shared_weights_stands_in_the_last_stage, 0, 3)
{
    static const char *const specs[] = {"hybrid:tp=2,pp=2,virtual=2,micro=1,schedule=looped-bfs",
                                        "hybrid:tp=2,pp=2,virtual=2,micro=1",
                                        "hybrid:tp=2,pp=4,micro=1,zero=1"};
    struct fr_plan *p = plan("gpt:hidden=128,heads=8,seq=64,vocab=60000,layers=", "4",
                             strstr(specs[_i], "pp=2") ? 2 : 1, specs[_i]);
    const struct fr_plan_view *v = fr_plan_view(p);
    uint32_t head = FR_NONE, loss = FR_NONE;

    for (size_t k = 0; k < v->n_tasks; k++) {
        const struct fr_task *t = &v->tasks[k];

        if (t->kind != FR_TASK_COMPUTE || t->op == FR_NONE || t->phase != FR_PHASE_FORWARD)
            continue;
        if (strcmp(v->graph->ops[t->op].name, "head") == 0)
            head = t->device;
        if (v->graph->ops[t->op].kind == FR_OP_LOSS)
            loss = t->device;
    }
    ck_assert_uint_ne(head, FR_NONE);
    ck_assert_uint_eq(head, loss);
    free_all(p);
}

/* ---- refusals ---- */

static const struct {
    const char *model, *spec, *says;
} refused[] = {
    {GPT, "hybrid:tp=3",
     "tp=3, cp=1 and pp=1 do not divide the 8 devices (dp is what is left; "
     "choose the number of devices with -g)"},
    {GPT, "hybrid:tp=0", "a degree of 0 leaves no rank; tp, pp, cp and ep are at least 1"},
    {GPT, "hybrid:tp=2,dp=2", "dp=2, tp=2, cp=1 and pp=1 make 4 ranks, but there are 8 devices"},
    {GPT, "hybrid:tp=2,cuts=layer1",
     "cuts=layer1 cuts stages of a pipeline: it needs pp of at least 2"},
    {GPT, "hybrid:pp=2,cuts=layer1,cut=layers",
     "cuts= says where stages begin, cut=layers too: give one of them"},
    {GPT, "hybrid:zero=9", NULL},
    {GPT, "hybrid:ep=3", "ep=3 times etp=1 does not divide the 8 ranks of a stage (dp x tp x cp)"},
    {MOE, "hybrid:tp=2,ep=4",
     "experts with tp=2 need sp=1: without it all ranks of a tensor group hold the same tokens"},
    {MOE, "hybrid:tp=2,sp=1,ep=8",
     "ep=8 times etp=2 (as tp, unless given) does not divide the 8 ranks of a stage (dp x tp x "
     "cp)"},
    {GPT, "hybrid:ep=2,dispatch=even",
     "dispatch=even is not balanced, model, skew:F (rows of the busiest rank over the mean) or "
     "zipf:S (the exponent)"},
    {MOE, "hybrid:ep=2,dispatch=skew:0.5",
     "dispatch=skew:0.5: the busiest of 2 ranks gets 1 to 2 times the mean"},
    {MOE, "hybrid:ep=2,dispatch=skew:3", NULL},
    {MOE, "hybrid:dispatch=zipf:1",
     "dispatch=zipf:1 needs ep: one rank has all experts, so it gets all tokens"},
    {GPT, "hybrid:recipe=fp8-nemo", NULL},
    {GPT, "hybrid:recipe=frozen", "recipe=frozen keeps no gradients, so nothing would be trained"},
    {GPT, "hybrid:recipe=master61", "no recipe 'master61', did you mean 'master16'?"},
    {GPT, "hybrid:early-stop=1", "early-stop=1 needs recompute: nothing runs again"},
    {GPT, "hybrid:micro=1,accumulate=2",
     "micro and accumulate say the same thing; give one of them"},
    {GPT, "hybrid:accumulate=3", "accumulate=3 does not divide the 2 samples of a replica"},
    {GPT, "hybrid:micro=3", "micro=3 is more than the 2 samples of a replica"},
    {GPT, "hybrid:recompute=all",
     "recompute=all is not none, selective, full, a number of layers, or modules: core_attn, "
     "layernorm, mla_up_proj, mlp, moe, shared_experts, moe_act, several joined by '+', nor "
     "budget:PART"},
    {GPT, "hybrid:tp=2,shard=mine", "shard=mine is neither megatron nor file:PATH"},
    {GPT, "hybrid:shard=mine", "shard=mine is neither megatron nor file:PATH"},
    {GPT, "hybrid:shard=file:layout.csv",
     "shard=file:layout.csv splits nothing: tp and cp have one rank each"},
    {GPT, "hybrid:tp=2,shard=file:no-such-file.csv", NULL},
    {GPT, "hybrid:map=tp-xx",
     "map=tp-xx: \"xx\" is no axis; expected tp, cp, ep, dp and pp joined "
     "by '-', innermost first, or megatron, megatron-dp, deepspeed, "
     "torchtitan, calculon"},
    {MOE, "hybrid:ep=2,pp=2,map=megatron-dp",
     "map=megatron-dp gives experts other stages than the rest; with ep or etp it must end in pp"},
    {GPT, "hybrid:pp=2,virtual=99", NULL},
    {GPT, "hybrid:tp=2,sp=1,pp=2,scatter-gather=1",
     "scatter-gather=1 is for stages of tensor groups without sp: it needs tp and pp of at least "
     "2, and with sp=1 each rank sends its part anyway"},
    {GPT, "hybrid:zero=1,shard-group=4",
     "shard-group=4 is of zero=3; with zero=1 all replicas share"},
    {GPT, "hybrid:zero=3,shard-group=3",
     "shard-group=3 does not cut the 8 ranks of dp x cp into groups of at least 2 and a multiple "
     "of cp=1"},
    {GPT, "hybrid:zero=3,cp=4,shard-group=2",
     "shard-group=2 does not cut the 8 ranks of dp x cp into groups of at least 2 and a multiple "
     "of cp=4"},
    {MOE, "hybrid:zero=3,ep=2,shard-group=2",
     "shard-group=2 is not combined with ep or etp, whose experts are shared by other ranks"},
};

LOOP_TEST(what_does_not_go_together_is_refused_with_the_reason, 0,
          sizeof(refused) / sizeof(refused[0]))
{
    const struct fr_workload_options o = {.batch = 8, .dtype = FR_BF16};
    struct case_problem c = {topo, NULL, N_GPUS, 16, FR_ADAM, NULL};
    struct fr_graph *g = NULL;
    struct fr_error err;
    char name[200];

    snprintf(name, sizeof(name), "%s2", refused[_i].model);
    ck_assert_msg(fr_workload_load(&g, name, &o, &err) == FR_OK, "%s", err.text);
    c.graph = g;
    case_fails(&c, refused[_i].spec, &err);
    if (refused[_i].says)
        ck_assert_str_eq(err.text, refused[_i].says);
    ck_assert(err.text[0]);
    fr_graph_free(g);
}

static void make_topo(void)
{
    topo = case_topo(N_GPUS, 1e11, UINT64_C(1) << 36);
}

static void free_topo(void)
{
    fr_topo_free(topo);
}

int main(void)
{
    TCase *c = tcase_create("hybrid");

    tcase_add_checked_fixture(c, make_topo, free_topo);
    add_tests(c);
    return run_case(c, "strategies/hybrid");
}
