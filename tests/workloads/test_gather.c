/* tests/workloads/test_gather.c - gathers and reduce-scatters that are added to a rank's graph. */
#include "config.h"

#include "tests/support/base_check.h"
#include "workloads/passes/gather.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPT "gpt:layers=4,hidden=64,heads=4,seq=32,vocab=1000"

static struct fr_graph *load(const char *spec)
{
    const struct fr_workload_options opt = {.batch = 2, .dtype = FR_FP32};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, spec, &opt, &err) == FR_OK, "%s: %s", spec, err.text);
    return g;
}

static struct fr__gather_problem problem(void)
{
    return (struct fr__gather_problem){
        .ranks = {4, 4}, .prefetch = 1, .reshards = true, .sent = 1, .kept = 1, .gradient = 1};
}

static struct fr__sharded gather(const struct fr_graph *g, struct fr__gather_problem in)
{
    struct fr__units units;
    struct fr__sharded out;
    struct fr_error err;

    in.graph = g;
    in.units = &units;
    ck_assert_int_eq(fr__units_find(&units, g, &err), FR_OK);
    ck_assert_msg(fr__gather(&out, &in, &err) == FR_OK, "%s", err.text);
    fr__units_free(&units);
    return out;
}

static double sent(const struct fr__sharded *s, enum fr_op_kind kind, size_t *n)
{
    double bytes = 0;

    *n = 0;
    for (size_t k = 0; k < s->n_comms; k++)
        if (s->graph->ops[s->comms[k].op].kind == kind) {
            bytes += s->comms[k].bytes;
            ++*n;
        }
    return bytes;
}

static double all_parameters(const struct fr_graph *g)
{
    struct fr_graph_totals t;

    fr_graph_totals(g, &t);
    return (double)t.param_bytes;
}

/* Whether `to` waits for `from`, over other ops too. */
static bool follows(const struct fr_graph *g, uint32_t to, uint32_t from)
{
    bool *is_after = calloc(g->n_ops, sizeof(*is_after)), answer;

    ck_assert_ptr_nonnull(is_after);
    is_after[from] = true;
    for (uint32_t o = from + 1; o <= to && o < g->n_ops; o++)
        for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
            const struct fr_edge *e = &g->edges[g->in_edges[i]];

            if ((e->tensor != FR_NONE || e->bytes == 0) && is_after[e->src])
                is_after[o] = true;
        }
    answer = is_after[to];
    free(is_after);
    return answer;
}

TEST(each_unit_is_gathered_twice_and_the_root_once)
{
    struct fr_graph *g = load(GPT);
    struct fr__sharded s = gather(g, problem());
    struct fr__units units;
    struct fr_error err;
    size_t n;
    double psi = all_parameters(g);

    ck_assert_int_eq(fr__units_find(&units, g, &err), FR_OK);
    ck_assert_double_eq(sent(&s, FR_OP_ALL_GATHER, &n), 2 * psi - (double)units.root_param_bytes);
    ck_assert_uint_eq(n, 2 * units.n_units + 1);
    ck_assert_double_eq(sent(&s, FR_OP_REDUCE_SCATTER, &n), psi);
    ck_assert_uint_eq(n, units.n_units + 1);
    fr__units_free(&units);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

TEST(without_resharding_each_unit_is_gathered_once)
{
    struct fr_graph *g = load(GPT);
    struct fr__gather_problem in = problem();
    struct fr__sharded s;
    size_t n;

    in.reshards = false;
    s = gather(g, in);
    ck_assert_double_eq(sent(&s, FR_OP_ALL_GATHER, &n), all_parameters(g));
    ck_assert_uint_eq(n, 5);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

TEST(every_reader_of_parameters_reads_a_gather)
{
    struct fr_graph *g = load(GPT);
    struct fr__sharded s = gather(g, problem());
    const struct fr_graph *n = s.graph;

    for (uint32_t o = 0; o < n->n_ops; o++) {
        bool reads = false;

        if (n->ops[o].param_bytes == 0 || n->ops[o].phase > FR_PHASE_BACKWARD_DATA)
            continue;
        for (uint32_t i = n->in_first[o]; i < n->in_first[o + 1]; i++)
            reads |= n->ops[n->edges[n->in_edges[i]].src].kind == FR_OP_ALL_GATHER;
        ck_assert_msg(reads, "%s", n->ops[o].name);
    }
    fr__sharded_free(&s);
    fr_graph_free(g);
}

TEST(every_update_reads_its_share_of_a_reduce_scatter)
{
    struct fr_graph *g = load(GPT);
    struct fr__sharded s = gather(g, problem());
    const struct fr_graph *n = s.graph;
    double bytes = 0;

    for (size_t i = 0; i < n->n_edges; i++) {
        const struct fr_edge *e = &n->edges[i];

        if (n->ops[e->dst].phase != FR_PHASE_UPDATE || e->tensor == FR_NONE)
            continue;
        ck_assert_int_eq(n->ops[e->src].kind, FR_OP_REDUCE_SCATTER);
        bytes += (double)e->bytes;
    }
    ck_assert_double_eq(bytes, all_parameters(g) / 4);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

TEST(sums_of_tied_gradients_are_ops_of_the_micro_batch)
{
    struct fr_graph *g = load(GPT);
    struct fr__sharded s = gather(g, problem());
    size_t n_before = 0, n_after = 0;

    for (size_t o = 0; o < g->n_ops; o++)
        n_before += g->ops[o].kind == FR_OP_GRAD_ADD && !g->ops[o].scales;
    for (size_t o = 0; o < s.graph->n_ops; o++)
        n_after += s.graph->ops[o].kind == FR_OP_GRAD_ADD && !s.graph->ops[o].scales;
    ck_assert_uint_gt(n_before, 0);
    ck_assert_uint_eq(n_after, 0);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

/* The names of the units' gathers, forward in order or backward in reverse. */
static size_t gathers_of_units(const struct fr_graph *g, const char *ending, uint32_t ops[])
{
    size_t n = 0;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        size_t len = strlen(g->ops[o].name), end = strlen(ending);

        if (len > end && strcmp(g->ops[o].name + len - end, ending) == 0 && n < 64)
            ops[n++] = o;
    }
    return n;
}

LOOP_TEST(a_gather_waits_for_the_end_of_the_unit_that_makes_room, 0, 3)
{
    struct fr_graph *g = load(GPT);
    struct fr__gather_problem in = problem();
    struct fr__sharded s;
    uint32_t ops[64];
    size_t n;

    in.prefetch = (uint32_t)_i;
    s = gather(g, in);
    n = gathers_of_units(s.graph, ".gather_parameters_again", ops);
    ck_assert_uint_eq(n, 4);
    for (size_t k = 1; k < n; k++) {
        /* an op that reads a gather can come before the gather of the k-th unit after it only if
         * that many units fit */
        for (size_t before = 0; before < k; before++) {
            bool waits = false;

            for (uint32_t i = s.graph->out_first[ops[before]];
                 i < s.graph->out_first[ops[before] + 1]; i++)
                if (s.graph->edges[i].tensor != FR_NONE)
                    waits |= follows(s.graph, ops[k], s.graph->edges[i].dst);
            ck_assert_int_eq(waits, k - before > (size_t)_i);
        }
    }
    fr__sharded_free(&s);
    fr_graph_free(g);
}

TEST(backward_gathers_wait_for_the_end_of_the_forward_pass)
{
    struct fr_graph *g = load(GPT);
    struct fr__sharded s = gather(g, problem());
    uint32_t ops[64], last = 0;
    size_t n = gathers_of_units(s.graph, ".gather_parameters_again", ops);

    for (uint32_t o = 0; o < s.graph->n_ops; o++)
        if (s.graph->ops[o].phase == FR_PHASE_FORWARD)
            last = o;
    for (size_t k = 0; k < n; k++)
        ck_assert(follows(s.graph, ops[k], last));
    fr__sharded_free(&s);
    fr_graph_free(g);
}

TEST(parameters_that_are_not_shared_stay_as_they_are)
{
    struct fr_graph *g = load(GPT);
    struct fr__gather_problem in = problem();
    struct fr__units units;
    struct fr__sharded s;
    struct fr_error err;

    in.ranks[FR__GATHER_DENSE] = 1;
    in.graph = g;
    in.units = &units;
    ck_assert_int_eq(fr__units_find(&units, g, &err), FR_OK);
    ck_assert_int_eq(fr__gather(&s, &in, &err), FR_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "no updates"));
    fr__units_free(&units);
    fr_graph_free(g);
}

TEST(a_graph_that_is_cut_has_a_gather_for_each_layer_of_the_root)
{
    struct fr_graph *g = load(GPT);
    struct fr__gather_problem in = problem();
    struct fr__sharded whole = gather(g, in), cut;
    size_t n_whole, n_cut;
    double bytes;

    in.is_cut = true;
    cut = gather(g, in);
    bytes = sent(&cut, FR_OP_ALL_GATHER, &n_cut);
    /* the head reads the embedding's weights on another stage */
    ck_assert_double_gt(bytes, sent(&whole, FR_OP_ALL_GATHER, &n_whole));
    ck_assert_uint_gt(n_cut, n_whole);
    ck_assert_double_eq(sent(&cut, FR_OP_REDUCE_SCATTER, &n_cut), all_parameters(g));
    fr__sharded_free(&whole);
    fr__sharded_free(&cut);
    fr_graph_free(g);
}

LOOP_TEST(work_and_parameters_stay_the_same, 0, 4)
{
    static const char *const specs[] = {GPT, "resnet50", "vgg16", "bert-large"};
    struct fr_graph *g = load(specs[_i]);
    struct fr__sharded s = gather(g, problem());
    struct fr_graph_totals a, b;

    fr_graph_totals(g, &a);
    fr_graph_totals(s.graph, &b);
    ck_assert_uint_eq(a.params, b.params);
    for (int p = 0; p < FR_N_PHASES; p++)
        ck_assert_double_eq(a.flops[p], b.flops[p]);
    for (size_t o = 0; o < s.graph->n_ops; o++)
        ck_assert_uint_lt(s.from[o], g->n_ops);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

int main(void)
{
    TCase *tc = tcase_create("gather");

    add_tests(tc);
    return run_case(tc, "gather");
}
