/* tests/workloads/test_graph.c - building, sorting and summing graphs. */
#include "config.h"

#include "workloads/workloads.h"
#include "tests/support/base_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct fr_graph info = {.name = "g", .batch = 8, .param_elem_bytes = 4};

static uint32_t add_op(struct fr_graph_builder *b, const char *name, enum fr_phase phase,
                       uint32_t forward, uint64_t out_bytes)
{
    struct fr_op op = {.name = name,
                       .flops = 10,
                       .bytes = 100,
                       .kind = FR_OP_LAYER,
                       .phase = phase,
                       .forward = forward,
                       .scales = true};
    struct fr_tensor t = {.bytes = out_bytes, .alias = FR_NONE, .scales = true};

    return fr_graph_builder_op(b, &op, NULL, &t, out_bytes ? 1 : 0);
}

static struct fr_graph *finish(struct fr_graph_builder *b)
{
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr_graph_builder_finish(b, &info, &g, &err) == FR_OK, "%s", err.text);
    fr_graph_builder_free(b);
    return g;
}

/* Expects the builder to refuse with that code and sentence. */
static void refuse(struct fr_graph_builder *b, enum fr_status code, const char *text)
{
    struct fr_graph *g = NULL;
    struct fr_error err = {0};

    ck_assert_int_eq(fr_graph_builder_finish(b, &info, &g, &err), code);
    ck_assert_str_eq(err.text, text);
    ck_assert_ptr_null(g);
    fr_graph_builder_free(b);
}

TEST(names_of_kinds_and_phases_read_back)
{
    for (unsigned k = 0; k < FR_N_OP_KINDS; k++)
        ck_assert_uint_eq(fr_op_kind_parse(fr_op_kind_name((enum fr_op_kind)k)), k);
    for (unsigned p = 0; p < FR_N_PHASES; p++)
        ck_assert_uint_eq(fr_phase_parse(fr_phase_name((enum fr_phase)p)), p);
    ck_assert_uint_eq(fr_op_kind_parse("Conv2d"), FR_N_OP_KINDS);
    ck_assert_uint_eq(fr_phase_parse(""), FR_N_PHASES);
    ck_assert_str_eq(fr_phase_name(FR_PHASE_BACKWARD_WEIGHT), "backward-weight");
    ck_assert_str_eq(fr_op_kind_name(FR_OP_GRAD_ADD), "grad_add");
}

TEST(an_order_that_is_right_stays)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_graph *g;
    const char *names[] = {"d", "b", "c", "a"};

    for (size_t i = 0; i < 4; i++)
        add_op(b, names[i], FR_PHASE_FORWARD, 0, 4);
    fr_graph_builder_edge(b, 0, 3, 0, 4);
    fr_graph_builder_edge(b, 1, 2, 1, 4);
    g = finish(b);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_str_eq(g->ops[i].name, names[i]);
        ck_assert_uint_eq(g->ops[i].forward, i);
    }
    fr_graph_free(g);
}

/* Given: last(0) <- mid(1) <- first(2), free(3). Each op after what it reads, the smallest number
 * among the ready ones first: first, mid, last, free. */
TEST(ops_in_any_order_are_sorted_and_renumbered)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_graph *g;

    add_op(b, "last", FR_PHASE_BACKWARD_DATA, 2, 30);
    add_op(b, "mid", FR_PHASE_FORWARD, 0, 20);
    add_op(b, "first", FR_PHASE_FORWARD, 0, 10);
    add_op(b, "free", FR_PHASE_FORWARD, 0, 40);
    fr_graph_builder_edge(b, 1, 0, 1, 20);
    fr_graph_builder_edge(b, 2, 1, 2, 10);
    fr_graph_builder_edge(b, 2, 0, FR_NONE, 0);
    fr_graph_builder_sample(b, 0, "v100", 8, 0.5);
    fr_graph_builder_sample(b, 2, "v100", 8, 0.25);
    fr_graph_builder_sample(b, 2, "a100", 8, 0.125);
    g = finish(b);
    ck_assert_str_eq(g->ops[0].name, "first");
    ck_assert_str_eq(g->ops[1].name, "mid");
    ck_assert_str_eq(g->ops[2].name, "last");
    ck_assert_str_eq(g->ops[3].name, "free");
    ck_assert_uint_eq(g->ops[2].forward, 0);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(g->ops[i].first_tensor, i);
        ck_assert_uint_eq(g->tensors[i].op, i);
    }
    ck_assert_uint_eq(g->tensors[2].bytes, 30);
    /* sorted by (src, dst, tensor): 0->1, 0->2, 1->2 */
    ck_assert_uint_eq(g->n_edges, 3);
    ck_assert_uint_eq(g->edges[0].dst, 1);
    ck_assert_uint_eq(g->edges[1].dst, 2);
    ck_assert_uint_eq(g->edges[1].tensor, FR_NONE);
    ck_assert_uint_eq(g->edges[2].src, 1);
    ck_assert_uint_eq(g->edges[2].tensor, 1);
    ck_assert_uint_eq(g->out_first[1] - g->out_first[0], 2);
    ck_assert_uint_eq(g->in_first[3] - g->in_first[2], 2);
    ck_assert_uint_eq(g->in_edges[g->in_first[2]], 1);
    ck_assert_uint_eq(g->in_edges[g->in_first[2] + 1], 2);
    ck_assert_str_eq(g->samples[0].device, "a100");
    ck_assert_double_eq(g->samples[1].time_s, 0.25);
    ck_assert_uint_eq(g->samples[2].op, 2);
    fr_graph_free(g);
}

TEST(layers_count_up_in_forward_order)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_op op = {.name = "x", .phase = FR_PHASE_UPDATE, .forward = FR_NONE};
    struct fr_graph *g;

    fr_graph_builder_op(b, &op, "only-update", NULL, 0);
    add_op(b, "fc.backward", FR_PHASE_BACKWARD_DATA, 3, 4);
    add_op(b, "conv", FR_PHASE_FORWARD, 0, 4);
    add_op(b, "fc.matmul", FR_PHASE_FORWARD, 0, 4);
    g = finish(b);
    ck_assert_uint_eq(g->n_layers, 3);
    ck_assert_str_eq(g->layer_names[0], "conv");
    ck_assert_str_eq(g->layer_names[1], "fc");
    ck_assert_str_eq(g->layer_names[2], "only-update");
    ck_assert_uint_eq(g->ops[0].layer, 2);
    ck_assert_uint_eq(g->ops[1].layer, 1);
    fr_graph_free(g);
}

TEST(a_cycle_is_named)
{
    struct fr_graph_builder *b = fr_graph_builder_new();

    for (int i = 0; i < 5; i++)
        add_op(b, (const char *[]){"a", "b", "c", "d", "e"}[i], FR_PHASE_FORWARD, 0, 4);
    /* a -> b -> c -> d -> b, d -> e: b, c, d are the cycle, a and e are not on it */
    fr_graph_builder_edge(b, 0, 1, 0, 4);
    fr_graph_builder_edge(b, 1, 2, 1, 4);
    fr_graph_builder_edge(b, 2, 3, 2, 4);
    fr_graph_builder_edge(b, 3, 1, 3, 4);
    fr_graph_builder_edge(b, 3, 4, 3, 4);
    refuse(b, FR_EPARSE, "the ops form a cycle: b -> c -> d -> b");
}

TEST(an_op_that_reads_itself_is_a_cycle)
{
    struct fr_graph_builder *b = fr_graph_builder_new();

    add_op(b, "a", FR_PHASE_FORWARD, 0, 4);
    fr_graph_builder_edge(b, 0, 0, 0, 4);
    refuse(b, FR_EPARSE, "the ops form a cycle: a -> a");
}

TEST(a_long_cycle_is_cut_short)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    char name[8];

    for (uint32_t i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "n%u", i);
        add_op(b, name, FR_PHASE_FORWARD, 0, 4);
        fr_graph_builder_edge(b, i, (i + 1) % 100, i, 4);
    }
    refuse(b, FR_EPARSE, "the ops form a cycle: n0 -> n1 -> n2 -> n3 -> n4 -> ... -> n99 -> n0");
}

TEST(a_name_given_twice_is_refused_with_both_places)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_op op = {.name = "conv", .loc = {"net/ops.csv", 2, 3}};
    struct fr_graph *g;
    struct fr_error err;
    char text[600];

    fr_graph_builder_op(b, &op, NULL, NULL, 0);
    op.loc.line = 7;
    fr_graph_builder_op(b, &op, NULL, NULL, 0);
    ck_assert_int_eq(fr_graph_builder_finish(b, &info, &g, &err), FR_EPARSE);
    ck_assert_str_eq(fr_error_string(&err, text, sizeof(text)),
                     "net/ops.csv:7:3: op 'conv' is named twice, first at net/ops.csv:2:3");
    fr_graph_builder_free(b);
}

TEST(dangling_numbers_are_refused)
{
    struct fr_graph_builder *b = fr_graph_builder_new();

    add_op(b, "a", FR_PHASE_FORWARD, 0, 4);
    fr_graph_builder_edge(b, 0, 9, 0, 4);
    refuse(b, FR_EPARSE, "edge 0 leads from op 0 to op 9, but there are 1 ops");

    b = fr_graph_builder_new();
    add_op(b, "a", FR_PHASE_FORWARD, 0, 4);
    add_op(b, "b", FR_PHASE_FORWARD, 0, 4);
    fr_graph_builder_edge(b, 0, 1, 1, 4);
    refuse(b, FR_EPARSE, "the edge from 'a' to 'b' carries tensor 1, which 'a' does not write");

    b = fr_graph_builder_new();
    add_op(b, "a", FR_PHASE_BACKWARD_DATA, 5, 4);
    refuse(b, FR_EPARSE, "op 'a' derives from op 5, but there are 1 ops");

    b = fr_graph_builder_new();
    add_op(b, "a", FR_PHASE_FORWARD, 0, 4);
    fr_graph_builder_sample(b, 1, "*", 8, 1);
    refuse(b, FR_EPARSE, "sample 0 is of op 1, but there are 1 ops");
}

TEST(numbers_out_of_bounds_are_refused)
{
    struct fr_op op = {.name = "a", .flops = (double)NAN};
    struct fr_tensor t = {.bytes = UINT64_MAX, .alias = FR_NONE};
    struct fr_graph_builder *b = fr_graph_builder_new();

    fr_graph_builder_op(b, &op, NULL, NULL, 0);
    refuse(b, FR_ERANGE, "op 'a' has nan flops, not 0 to 1e+21");

    op.flops = 0;
    b = fr_graph_builder_new();
    fr_graph_builder_op(b, &op, NULL, &t, 1);
    refuse(b, FR_ERANGE, "an output of op 'a' has over 2^53 bytes");

    b = fr_graph_builder_new();
    fr_graph_builder_op(b, &op, NULL, NULL, 0);
    fr_graph_builder_sample(b, 0, "*", 8, -1);
    refuse(b, FR_ERANGE, "a sample of op 'a' takes -1 s, not 0 to 1e+09");
}

/* 130 outputs of 2^53 bytes are 1.17e18, more than 2^60 = 1.15e18, each alone allowed. */
TEST(sums_that_could_overflow_are_refused)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    char name[8];

    for (unsigned i = 0; i < 130; i++) {
        snprintf(name, sizeof(name), "n%u", i);
        add_op(b, name, FR_PHASE_FORWARD, 0, UINT64_C(1) << 53);
    }
    refuse(b, FR_ERANGE, "the outputs of all ops together pass 2^60 bytes");
}

TEST(a_graph_without_ops_is_refused)
{
    refuse(fr_graph_builder_new(), FR_EPARSE, "graph 'g' has no ops");
}

TEST(reading_a_tensor_twice_is_one_edge)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_graph *g;

    add_op(b, "a", FR_PHASE_FORWARD, 0, 8);
    add_op(b, "b", FR_PHASE_FORWARD, 0, 4);
    fr_graph_builder_edge(b, 0, 1, 0, 4);
    fr_graph_builder_edge(b, 0, 1, 0, 8);
    g = finish(b);
    ck_assert_uint_eq(g->n_edges, 1);
    ck_assert_uint_eq(g->edges[0].bytes, 8);
    ck_assert_uint_eq(g->in_first[2], 1);
    fr_graph_free(g);
}

static uint32_t add_view(struct fr_graph_builder *b, const char *name, uint32_t of)
{
    struct fr_op op = {.name = name, .kind = FR_OP_RESHAPE, .phase = FR_PHASE_FORWARD};
    struct fr_tensor t = {.bytes = 1000, .alias = of};

    return fr_graph_builder_op(b, &op, NULL, &t, 1);
}

/* x (1000 B) is seen through v and w; a backward op reads all three: one storage. y (24 B) is read
 * by an update op only, so it is not saved. */
TEST(saved_bytes_count_each_storage_once)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_graph_totals t;
    struct fr_graph *g;
    uint32_t x = add_op(b, "x", FR_PHASE_FORWARD, 0, 1000), v = add_view(b, "v", x);
    uint32_t w = add_view(b, "w", v), y = add_op(b, "y", FR_PHASE_FORWARD, 0, 24);
    uint32_t back = add_op(b, "x.backward", FR_PHASE_BACKWARD_DATA, x, 50);
    uint32_t update = add_op(b, "x.update", FR_PHASE_UPDATE, x, 0);

    fr_graph_builder_edge(b, x, v, 0, 0);
    fr_graph_builder_edge(b, v, w, 1, 0);
    fr_graph_builder_edge(b, x, back, 0, 1000);
    fr_graph_builder_edge(b, v, back, 1, 1000);
    fr_graph_builder_edge(b, w, back, 2, 1000);
    fr_graph_builder_edge(b, y, update, 3, 24);
    fr_graph_builder_edge(b, back, update, 4, 50);
    g = finish(b);
    ck_assert_uint_eq(g->tensors[g->ops[w].first_tensor].alias, g->ops[x].first_tensor);
    fr_graph_totals(g, &t);
    ck_assert_uint_eq(t.saved_bytes, 1000);
    fr_graph_free(g);
}

TEST(storage_shared_in_a_ring_is_refused)
{
    struct fr_graph_builder *b = fr_graph_builder_new();

    add_view(b, "v", 1);
    add_view(b, "w", 0);
    refuse(b, FR_EPARSE, "an output of op 'v' shares storage with itself in a ring");
}

/* Two samples at the graph's batch of 8 on the first device count by their mean (2+4)/2 = 3; the
 * other device's and the other batch's do not. */
TEST(totals_add_up_by_phase)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_op op = {.name = "fc",
                       .flops = 5,
                       .param_bytes = 40,
                       .n_params = 2,
                       .phase = FR_PHASE_FORWARD,
                       .kind = FR_OP_MATMUL};
    struct fr_graph_totals t;
    struct fr_graph *g;
    uint32_t fc = fr_graph_builder_op(b, &op, NULL, NULL, 0);
    uint32_t act = add_op(b, "act", FR_PHASE_FORWARD, 0, 4);

    op.name = "fc.update";
    op.phase = FR_PHASE_UPDATE;
    fr_graph_builder_op(b, &op, NULL, NULL, 0);
    fr_graph_builder_sample(b, fc, "k80", 8, 2);
    fr_graph_builder_sample(b, fc, "k80", 8, 4);
    fr_graph_builder_sample(b, fc, "k80", 16, 100);
    fr_graph_builder_sample(b, fc, "v100", 8, 1000);
    fr_graph_builder_sample(b, act, "*", 8, 0.5);
    g = finish(b);
    fr_graph_totals(g, &t);
    ck_assert_uint_eq(t.param_bytes, 40);
    ck_assert_uint_eq(t.params, 10);
    ck_assert_uint_eq(t.param_tensors, 2);
    ck_assert_double_eq(t.flops[FR_PHASE_FORWARD], 15);
    ck_assert_double_eq(t.flops[FR_PHASE_UPDATE], 5);
    ck_assert_uint_eq(t.ops[FR_PHASE_FORWARD], 2);
    ck_assert_uint_eq(t.ops[FR_PHASE_UPDATE], 1);
    ck_assert_double_eq(t.sample_s[FR_PHASE_FORWARD], 3.5);
    fr_graph_free(g);
}

struct lines {
    char text[16][256];
    size_t n;
};

static void keep_line(void *user, const char *line)
{
    struct lines *l = user;

    if (l->n < 16)
        snprintf(l->text[l->n], sizeof(l->text[0]), "%s", line);
    l->n++;
}

/* A sound step: input, product, loss, their backward ops and the update; nothing to say. */
static struct fr_graph_builder *sound_step(void)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_op fc = {.name = "fc",
                       .flops = 5,
                       .bytes = 9,
                       .param_bytes = 8,
                       .n_params = 1,
                       .kind = FR_OP_MATMUL,
                       .phase = FR_PHASE_FORWARD,
                       .scales = true};
    struct fr_tensor y = {
        .bytes = 64, .alias = FR_NONE, .dims = {8, 2}, .n_dims = 2, .scales = true};
    struct fr_op update = {.name = "fc.update",
                           .flops = 1,
                           .param_bytes = 8,
                           .forward = 1,
                           .kind = FR_OP_UPDATE,
                           .phase = FR_PHASE_UPDATE};

    add_op(b, "x", FR_PHASE_INPUT, 0, 64);
    fr_graph_builder_op(b, &fc, NULL, &y, 1);
    add_op(b, "loss", FR_PHASE_FORWARD, 0, 0);
    add_op(b, "loss.backward", FR_PHASE_BACKWARD_DATA, 2, 64);
    add_op(b, "fc.backward", FR_PHASE_BACKWARD_WEIGHT, 1, 8);
    fr_graph_builder_op(b, &update, NULL, NULL, 0);
    fr_graph_builder_edge(b, 0, 1, 0, 64);
    fr_graph_builder_edge(b, 1, 2, 1, 64);
    fr_graph_builder_edge(b, 2, 3, FR_NONE, 0);
    fr_graph_builder_edge(b, 3, 4, 2, 64);
    fr_graph_builder_edge(b, 4, 5, 3, 8);
    return b;
}

TEST(a_sound_step_gives_no_complaint)
{
    struct fr_graph *g = finish(sound_step());
    struct lines l = {.n = 0};

    ck_assert_uint_eq(fr_graph_check(g, keep_line, &l), 0);
    ck_assert_uint_eq(l.n, 0);
    fr_graph_free(g);
}

TEST(everything_odd_is_said_on_a_line)
{
    static const char *const expected[] = {
        "op 'idle' has no backward op",
        "op 'idle' has parameters but no update op",
        "op 'idle' has 6 bytes of parameters, not a multiple of 4",
        "op 'idle' has 6 bytes in 0 parameter tensors",
        "op 'stray' (backward-data) does not say which forward op it derives from",
        "op 'stray' costs nothing: no flops, no bytes, no measured time",
        "output 0 of op 'idle' is read by nobody",
        "output 0 of op 'idle' has 30 bytes, not 1, 2, 4 or 8 for each element of its dims",
        "output 0 of op 'idle' scales, but its 30 bytes are no multiple of the batch 8",
        "the edge from 'x' to 'idle' moves 65 bytes of a tensor of 64",
    };
    struct fr_graph_builder *b = sound_step();
    struct fr_op idle = {.name = "idle",
                         .flops = 1,
                         .param_bytes = 6,
                         .kind = FR_OP_MATMUL,
                         .phase = FR_PHASE_FORWARD};
    struct fr_op stray = {
        .name = "stray", .kind = FR_OP_OTHER, .phase = FR_PHASE_BACKWARD_DATA, .forward = FR_NONE};
    struct fr_tensor y = {.bytes = 30, .alias = FR_NONE, .dims = {5}, .n_dims = 1, .scales = true};
    struct lines l = {.n = 0};
    struct fr_graph *g;

    fr_graph_builder_op(b, &idle, NULL, &y, 1);
    fr_graph_builder_op(b, &stray, NULL, NULL, 0);
    fr_graph_builder_edge(b, 0, 6, 0, 65);
    g = finish(b);
    ck_assert_uint_eq(fr_graph_check(g, keep_line, &l), 10);
    for (size_t i = 0; i < 10; i++)
        ck_assert_str_eq(l.text[i], expected[i]);
    fr_graph_free(g);
}

TEST(a_forward_graph_alone_is_said_once)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct lines l = {.n = 0};
    struct fr_graph *g;

    add_op(b, "a", FR_PHASE_FORWARD, 0, 0);
    add_op(b, "b", FR_PHASE_FORWARD, 0, 0);
    g = finish(b);
    ck_assert_uint_eq(fr_graph_check(g, keep_line, &l), 1);
    ck_assert_str_eq(l.text[0], "graph 'g' has no backward ops");
    fr_graph_free(g);
}

/* The lists of native files could not hold such a name. */
TEST(names_that_cannot_be_written_are_refused)
{
    struct fr_graph_builder *b = fr_graph_builder_new();

    add_op(b, "a;b", FR_PHASE_FORWARD, 0, 4);
    refuse(b, FR_EPARSE, "the name of op 'a;b' or of its layer holds ';' or a control character");
}

/* A quadratic step anywhere would take hours on 300000 ops. Given back to front. */
TEST(large_graphs_build_in_reasonable_time)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    enum { N = 300000 };
    struct fr_graph *g;
    char name[32];

    for (uint32_t i = 0; i < N; i++) {
        snprintf(name, sizeof(name), "layer%u.op", i / 3);
        snprintf(name + strlen(name), 12, "%u", i);
        add_op(b, name, FR_PHASE_FORWARD, 0, 4);
        if (i > 0)
            fr_graph_builder_edge(b, i, i - 1, i, 4);
    }
    g = finish(b);
    ck_assert_str_eq(g->ops[0].name, "layer99999.op299999");
    ck_assert_uint_eq(g->n_layers, N / 3);
    ck_assert_str_eq(g->layer_names[0], "layer99999");
    fr_graph_free(g);
}

int main(void)
{
    TCase *tc = tcase_create("graph");

    tcase_set_timeout(tc, 60);
    add_tests(tc);
    return run_case(tc, "workloads/graph");
}
