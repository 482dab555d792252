/* tests/workloads/test_rewriter.c - copies of graphs: ops kept, dropped, replaced and doubled. */
#include "config.h"

#include "tests/support/base_check.h"
#include "workloads/graph/rewriter.h"

#include <check.h>
#include <string.h>

static struct fr__rewriter w;

static struct fr_graph *load(const char *spec, enum fr_dtype dtype)
{
    const struct fr_workload_options opt = {.batch = 2, .dtype = dtype};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, spec, &opt, &err) == FR_OK, "%s: %s", spec, err.text);
    return g;
}

static void begin(const struct fr_graph *g)
{
    struct fr_error err;

    ck_assert_int_eq(fr__rewriter_init(&w, g, &err), FR_OK);
}

static void keep_edges(const struct fr_graph *g)
{
    for (size_t i = 0; i < g->n_edges; i++)
        fr__rewriter_keep_edge(&w, &g->edges[i]);
    fr__rewriter_keep_samples(&w);
}

static struct fr_graph *finish(const struct fr_graph *g)
{
    struct fr_graph *made = NULL;
    struct fr_error err;

    ck_assert_msg(fr__rewriter_finish(&w, g, &made, &err) == FR_OK, "%s", err.text);
    return made;
}

static uint32_t find(const struct fr_graph *g, const char *name)
{
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (strcmp(g->ops[o].name, name) == 0)
            return o;
    return FR_NONE;
}

static bool has_edge(const struct fr_graph *g, uint32_t src, uint32_t dst, uint32_t tensor)
{
    for (uint32_t i = g->out_first[src]; i < g->out_first[src + 1]; i++)
        if (g->edges[i].dst == dst && g->edges[i].tensor == tensor)
            return true;
    return false;
}

static const char *const models[] = {
    "resnet18", "rnnlm", "t5-small",
    "mixtral:layers=1,hidden=64,heads=8,kv_heads=2,ffn=64,seq=16,vocab=100"};

static void compare_ops(const struct fr_graph *g, const struct fr_graph *made, uint32_t o)
{
    const struct fr_op *a = &g->ops[o], *b = &made->ops[o];
    char shape[2][FR_SHAPE_TEXT];

    ck_assert_str_eq(a->name, b->name);
    ck_assert_str_eq(g->layer_names[a->layer], made->layer_names[b->layer]);
    ck_assert_uint_eq(a->kind, b->kind);
    ck_assert_uint_eq(a->phase, b->phase);
    ck_assert_uint_eq(a->forward, b->forward);
    ck_assert_uint_eq(a->param_bytes, b->param_bytes);
    ck_assert_uint_eq(a->n_tensors, b->n_tensors);
    ck_assert(a->flops >= b->flops && a->flops <= b->flops);
    ck_assert(a->bytes >= b->bytes && a->bytes <= b->bytes);
    ck_assert_str_eq(fr_shape_format(&a->shape, shape[0], FR_SHAPE_TEXT),
                     fr_shape_format(&b->shape, shape[1], FR_SHAPE_TEXT));
    ck_assert_uint_eq(w.from[o], o);
}

START_TEST(what_is_kept_is_as_it_was)
{
    struct fr_graph *g = load(models[_i], FR_AMP), *made;

    begin(g);
    for (uint32_t o = 0; o < g->n_ops; o++)
        ck_assert_uint_eq(fr__rewriter_keep(&w, o), o);
    keep_edges(g);
    made = finish(g);
    ck_assert_uint_eq(made->n_ops, g->n_ops);
    ck_assert_uint_eq(made->n_tensors, g->n_tensors);
    ck_assert_uint_eq(made->n_edges, g->n_edges);
    for (uint32_t o = 0; o < g->n_ops; o++)
        compare_ops(g, made, o);
    for (size_t t = 0; t < g->n_tensors; t++) {
        ck_assert_uint_eq(made->tensors[t].bytes, g->tensors[t].bytes);
        ck_assert_uint_eq(made->tensors[t].alias, g->tensors[t].alias);
        ck_assert_uint_eq(made->tensors[t].n_dims, g->tensors[t].n_dims);
    }
    for (size_t i = 0; i < g->n_edges; i++) {
        ck_assert_uint_eq(made->edges[i].src, g->edges[i].src);
        ck_assert_uint_eq(made->edges[i].dst, g->edges[i].dst);
        ck_assert_uint_eq(made->edges[i].tensor, g->edges[i].tensor);
        ck_assert_uint_eq(made->edges[i].bytes, g->edges[i].bytes);
    }
    fr_graph_free(made);
    fr__rewriter_fini(&w);
    fr_graph_free(g);
}
END_TEST

/* a -> b -> c, with a sample of each. */
static struct fr_graph *make_chain(void)
{
    static const char *const names[] = {"l.a", "l.b", "m.c"};
    static const struct fr_graph info = {.name = "chain", .batch = 8, .param_elem_bytes = 4};
    struct fr_graph_builder *b = fr_graph_builder_new();
    struct fr_graph *g = NULL;
    struct fr_error err;

    for (uint32_t i = 0; i < 3; i++) {
        const struct fr_op op = {
            .name = names[i], .kind = FR_OP_LAYER, .phase = FR_PHASE_FORWARD, .scales = true};
        const struct fr_tensor t = {.bytes = UINT64_C(64) << i, .alias = FR_NONE, .scales = true};

        fr_graph_builder_op(b, &op, NULL, &t, 1);
        fr_graph_builder_sample(b, i, "v100", 8, 1.0 + i);
        if (i > 0)
            fr_graph_builder_edge(b, i - 1, i, i - 1, 64u << (i - 1));
    }
    ck_assert_msg(fr_graph_builder_finish(b, &info, &g, &err) == FR_OK, "%s", err.text);
    fr_graph_builder_free(b);
    return g;
}

TEST(edges_and_samples_of_a_dropped_op_go_with_it)
{
    struct fr_graph *g = make_chain(), *made;

    begin(g);
    fr__rewriter_keep(&w, 0);
    fr__rewriter_keep(&w, 2);
    keep_edges(g);
    made = finish(g);
    ck_assert_uint_eq(made->n_ops, 2);
    ck_assert_str_eq(made->ops[1].name, "m.c");
    ck_assert_uint_eq(w.from[1], 2);
    ck_assert_uint_eq(made->n_edges, 0);
    ck_assert_uint_eq(made->n_samples, 2);
    ck_assert_uint_eq(made->samples[1].op, 1);
    fr_graph_free(made);
    fr__rewriter_fini(&w);
    fr_graph_free(g);
}

TEST(readers_of_a_dropped_op_read_what_stands_for_it)
{
    struct fr_graph *g = make_chain(), *made;

    begin(g);
    fr__rewriter_keep(&w, 0);
    w.now.op[1] = w.now.op[0];
    w.now.tensor[1] = w.now.tensor[0];
    fr__rewriter_keep(&w, 2);
    fr__rewriter_keep_edge(&w, &g->edges[1]);
    made = finish(g);
    ck_assert_uint_eq(made->n_edges, 1);
    ck_assert(has_edge(made, 0, 1, 0));
    fr_graph_free(made);
    fr__rewriter_fini(&w);
    fr_graph_free(g);
}

TEST(an_op_that_comes_twice_has_two_counterparts)
{
    struct fr_graph *g = make_chain(), *made;
    struct fr__counterparts again;
    struct fr_tensor out;
    struct fr_op op;

    begin(g);
    ck_assert(fr__rewriter_add_counterparts(&w, &again));
    for (uint32_t o = 0; o < 2; o++)
        fr__rewriter_keep(&w, o);
    op = fr__rewriter_op(&w, 1);
    out = fr__rewriter_output(&w, 1);
    op.name = fr__rewriter_name(&w, op.name, "again", 7);
    fr__rewriter_put(&w, &again, 1, &op, &out);
    fr__rewriter_keep(&w, 2);
    ck_assert_uint_eq(w.now.op[1], 1);
    ck_assert_uint_eq(again.op[1], 2);
    ck_assert_uint_eq(again.op[2], FR_NONE);
    fr__rewriter_lead(&w, &w.now, &g->edges[0], again.op[1]); /* the copy reads a */
    fr__rewriter_lead(&w, &again, &g->edges[1], w.now.op[2]); /* c reads the copy */
    fr__rewriter_order(&w, w.now.op[1], again.op[1]);
    fr__rewriter_keep_sample(&w, &again, &g->samples[1]);
    made = finish(g);
    ck_assert_uint_eq(find(made, "l.b.again7"), 2);
    ck_assert_str_eq(made->layer_names[made->ops[2].layer], "l");
    ck_assert(has_edge(made, 0, 2, 0));
    ck_assert(has_edge(made, 1, 2, FR_NONE));
    ck_assert(has_edge(made, 2, 3, 2));
    ck_assert_uint_eq(made->n_edges, 3);
    ck_assert_uint_eq(made->samples[0].op, 2);
    fr_graph_free(made);
    fr__rewriter_fini(&w);
    fr_graph_free(g);
}

TEST(a_reader_of_a_whole_tensor_reads_its_new_size)
{
    struct fr_graph *g = make_chain(), *made;
    struct fr_tensor half;
    struct fr_op op;

    begin(g);
    op = fr__rewriter_op(&w, 0);
    half = fr__rewriter_output(&w, 0);
    half.bytes /= 2;
    fr__rewriter_put(&w, &w.now, 0, &op, &half);
    fr__rewriter_keep(&w, 1);
    fr__rewriter_read(&w, w.now.op[1], w.now.tensor[0]);
    made = finish(g);
    ck_assert_uint_eq(made->edges[0].bytes, 32);
    fr_graph_free(made);
    fr__rewriter_fini(&w);
    fr_graph_free(g);
}

TEST(the_first_failure_is_kept_and_nothing_follows_it)
{
    struct fr_graph *g = make_chain(), *made = NULL;
    struct fr_error err;

    begin(g);
    fr__rewriter_keep(&w, 0);
    fr__rewriter_fail(&w);
    ck_assert(fr__rewriter_has_failed(&w));
    ck_assert_uint_eq(fr__rewriter_keep(&w, 1), 0);
    fr__rewriter_read(&w, 1, 1);
    ck_assert_uint_eq(fr__rewriter_n_ops(&w), 1);
    ck_assert_int_eq(fr__rewriter_finish(&w, g, &made, &err), FR_ENOMEM);
    ck_assert_ptr_null(made);
    fr__rewriter_fini(&w);
    fr_graph_free(g);
}

TEST(an_op_that_is_kept_twice_is_refused_by_its_name)
{
    struct fr_graph *g = make_chain(), *made = NULL;
    struct fr_error err;

    begin(g);
    fr__rewriter_keep(&w, 0);
    fr__rewriter_keep(&w, 0);
    ck_assert_int_eq(fr__rewriter_finish(&w, g, &made, &err), FR_EPARSE);
    ck_assert_str_eq(err.text, "op 'l.a' is named twice, as op 0 and as op 1");
    fr__rewriter_fini(&w);
    fr_graph_free(g);
}

int main(void)
{
    TCase *c = tcase_create("rewriter");

    tcase_add_loop_test(c, what_is_kept_is_as_it_was, 0, (int)(sizeof(models) / sizeof(*models)));
    add_tests(c);
    return run_case(c, "workloads/rewriter");
}
