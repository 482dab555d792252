/* tests/workloads/test_shard_zoo.c - what every model keeps when it is split: the parts of all
 * ranks make the whole. */
#include "config.h"

#include "tests/support/base_check.h"
#include "tests/support/shard_case.h"
#include "workloads/passes/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Models of any size have a small one here; the others are as they are. */
static const char *spec_of(const char *name)
{
    static const char *const sized[][2] = {
        {"gnmt", "gnmt:encoder=2,decoder=2,hidden=64,vocab=320,source=8,target=8"},
        {"transformer", "transformer:layers=2,hidden=64,heads=8,ffn=128,seq=32,vocab=320"},
        {"bert", "bert:layers=2,hidden=64,heads=8,seq=64,vocab=320"},
        {"gpt", "gpt:layers=2,hidden=64,heads=8,seq=32,vocab=320"},
        {"llama", "llama:layers=2,hidden=64,ffn=128,heads=8,kv_heads=8,seq=32,vocab=320"},
        {"mixtral", "mixtral:layers=1,hidden=64,ffn=128,heads=8,kv_heads=8,seq=64,vocab=320"},
        {"wresnet-L-W", "wresnet-50-2"}};

    for (size_t i = 0; i < sizeof(sized) / sizeof(sized[0]); i++)
        if (strcmp(name, sized[i][0]) == 0)
            return sized[i][1];
    return name;
}

/* The op of the new graph that is a part of given op o. */
static uint32_t part_of(const struct fr__sharded *s, const struct fr_graph *g, uint32_t o,
                        uint32_t *at)
{
    for (; *at < s->graph->n_ops; ++*at)
        if (s->from[*at] == o && strcmp(s->graph->ops[*at].name, g->ops[o].name) == 0)
            return (*at)++;
    return FR_NONE;
}

struct numbers {
    double flops;
    double params, gradients;
};

/* Of op o times the number of different parts; for a sum of partial gradients 0. */
static struct numbers of_all_parts(const struct fr__sharded *s, uint32_t o, const uint32_t new_of[],
                                   const struct fr_graph *g, const uint32_t sizes[])
{
    const struct fr_graph *n = s->graph;
    const struct fr_op *op = &n->ops[new_of[o]];
    uint32_t f = g->ops[o].phase > FR_PHASE_FORWARD ? g->ops[o].forward : o;
    uint32_t owner = new_of[f];
    double parts = 1, of_params = 1;

    for (uint32_t i = g->in_first[f]; i < g->in_first[f + 1]; i++)
        if (g->edges[g->in_edges[i]].tensor == FR_NONE && g->edges[g->in_edges[i]].bytes)
            owner = new_of[g->edges[g->in_edges[i]].src];
    for (size_t a = 0; a < SHARD_N_AXES; a++) {
        if (s->split[a * n->n_ops + new_of[f]] > FR__SPLIT_NONE)
            parts *= sizes[a];
        if (s->divided[owner] >> a & 1)
            of_params *= sizes[a];
    }
    if (op->kind == FR_OP_UPDATE || (op->kind == FR_OP_GRAD_ADD && !g->ops[o].scales))
        parts = of_params;
    return (struct numbers){op->kind == FR_OP_GRAD_ADD && g->ops[o].scales ? 0 : op->flops * parts,
                            (double)op->param_bytes * of_params,
                            op->phase == FR_PHASE_BACKWARD_WEIGHT && op->n_tensors
                                ? (double)n->tensors[op->first_tensor].bytes * of_params
                                : 0};
}

/* The classes of a loss may be shared unevenly. The largest of n parts is less than one of them
 * larger than the mean, so all parts as large make less than 1 + n / classes of the whole. */
static double most_of(const struct fr_graph *g, uint32_t n)
{
    double classes = 1e9;

    for (uint32_t o = 0; o < g->n_ops; o++)
        if (g->ops[o].kind == FR_OP_LOSS && g->ops[o].shape.of == FR_SHAPE_ROWS &&
            (double)g->ops[o].shape.rows.columns < classes &&
            g->ops[o].shape.rows.columns % n != 0 && g->ops[o].shape.rows.columns > n)
            classes = (double)g->ops[o].shape.rows.columns;
    return 1 + n / classes;
}

static void compare(const char *model, const struct fr_graph *g, uint32_t o, double all,
                    double whole, double most, const char *what)
{
    ck_assert_msg(all >= whole * (1 - 1e-12) && all <= whole * most * (1 + 1e-12),
                  "%s, op '%s': the %s of all parts are %.17g, of the whole %.17g", model,
                  g->ops[o].name, what, all, whole);
}

static void check_sums(const char *model, const struct fr_graph *g, const struct fr__sharded *s,
                       const struct shard_mesh *mesh)
{
    const uint32_t sizes[] = {mesh->tp ? mesh->tp : 1, mesh->cp ? mesh->cp : 1};
    uint32_t *new_of = malloc(g->n_ops * sizeof(*new_of));
    double most = most_of(g, sizes[0]);

    ck_assert_ptr_nonnull(new_of);
    for (uint32_t o = 0, at = 0; o < g->n_ops; o++) {
        uint32_t before = at;

        new_of[o] = part_of(s, g, o, &at);
        if (new_of[o] == FR_NONE) { /* sums of gradients may run later */
            at = 0;
            new_of[o] = part_of(s, g, o, &at);
            at = before;
        }
        ck_assert_msg(new_of[o] != FR_NONE, "%s: op '%s' is lost", model, g->ops[o].name);
    }
    for (uint32_t o = 0; o < g->n_ops; o++) {
        const struct fr_op *op = &g->ops[o];
        struct numbers all = of_all_parts(s, o, new_of, g, sizes);

        if (op->kind != FR_OP_GRAD_ADD || !op->scales)
            compare(model, g, o, all.flops, op->flops, most, "FLOPs");
        compare(model, g, o, all.params, (double)op->param_bytes, most, "parameters");
        if (op->phase == FR_PHASE_BACKWARD_WEIGHT && op->n_tensors)
            compare(model, g, o, all.gradients, (double)g->tensors[op->first_tensor].bytes, most,
                    "gradient bytes");
    }
    free(new_of);
}

static const struct shard_mesh meshes[] = {
    {.tp = 2},
    {.tp = 4},
    {.tp = 8},
    {.tp = 2, .has_sequence_parallel = true},
    {.tp = 4, .has_sequence_parallel = true, .keeps_gathered = true},
    {.tp = 8, .has_sequence_parallel = true},
    {.cp = 2},
    {.cp = 4},
    {.cp = 8},
    {.tp = 2, .cp = 2},
    {.tp = 2, .cp = 4, .has_sequence_parallel = true},
    {.tp = 8, .cp = 8},
    {.tp = 4, .has_whole_vocabulary = true},
};
enum { N_MESHES = sizeof(meshes) / sizeof(meshes[0]) };

static void count(void *user, const char *line)
{
    (void)line;
    ++*(size_t *)user;
}

TEST(the_parts_of_all_ranks_make_the_whole)
{
    size_t n_split = 0, n_refused = 0;
    const char *name;

    for (size_t i = 0; (name = fr_zoo_name(i)) != NULL; i++) {
        struct fr_graph *g = shard_load(spec_of(name), 8);
        size_t n_odd = fr_graph_check(g, NULL, NULL);

        for (size_t k = 0; k < N_MESHES; k++) {
            struct fr__sharded s;
            struct fr_error err;
            size_t n_said = 0;

            if (shard_try(&s, g, &meshes[k], &err) != FR_OK) {
                ck_assert_int_eq(err.code, FR_EUSAGE);
                ck_assert_msg(strstr(err.text, "shared alike") != NULL, "%s", err.text);
                n_refused++;
                continue;
            }
            n_split++;
            check_sums(name, g, &s, &meshes[k]);
            fr_graph_check(s.graph, count, &n_said);
            ck_assert_msg(n_said <= n_odd, "%s, mesh %zu", name, k);
            fr__sharded_free(&s);
        }
        fr_graph_free(g);
    }
    printf("%zu splits, %zu refused\n", n_split, n_refused);
    ck_assert_uint_gt(n_split, 8 * n_refused);
}

/* Heads that ranks cannot share alike, and nothing else, stand in the way of these. */
TEST(what_does_not_divide_is_refused_with_the_sizes_that_would)
{
    static const struct {
        const char *spec;
        struct shard_mesh mesh;
        const char *message;
    } cases[] = {
        {"gpt2-xl",
         {.tp = 2},
         "op 'layer0.attn.qkv' cannot be split over 'tp': its 25 heads are not shared alike by 2 "
         "ranks, but by 1, 5 or 25"},
        {"bert-base",
         {.tp = 8},
         "op 'layer0.attn.q' cannot be split over 'tp': its 12 heads are not shared alike by 8 "
         "ranks, but by 1, 2, 3, 4, 6 or 12"},
        {"gpt:layers=1,hidden=64,heads=4,seq=6,vocab=100",
         {.cp = 4},
         "op 'embed.tokens' cannot be split over 'cp': its 6 positions are not shared alike by 4 "
         "ranks, but by 1, 2, 3 or 6"},
        {"gpt:layers=1,hidden=64,heads=4,seq=6,vocab=100",
         {.tp = 4, .has_sequence_parallel = true},
         "the sums of op 'embed.tokens' over 'tp' cannot be split along the sequence: its 6 "
         "positions are not shared alike by 4 ranks, but by 1, 2, 3 or 6"},
        {"llama:layers=1,hidden=96,ffn=128,heads=12,kv_heads=3,seq=32,vocab=100",
         {.tp = 4},
         "op 'layer0.attn.k' cannot be split over 'tp': its 3 heads are not shared alike by 4 "
         "ranks, but by 1 or 3"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fr_graph *g = shard_load(cases[i].spec, 0);
        struct fr__sharded s;
        struct fr_error err;

        ck_assert_int_eq(shard_try(&s, g, &cases[i].mesh, &err), FR_EUSAGE);
        ck_assert_str_eq(err.text, cases[i].message);
        fr_graph_free(g);
    }
}

/* ---- a mesh of one rank ---- */

static void compare_ops(const struct fr_graph *g, const struct fr_graph *n)
{
    for (size_t o = 0; o < g->n_ops; o++) {
        struct fr_op x = g->ops[o], y = n->ops[o];

        ck_assert_str_eq(x.name, y.name);
        ck_assert_str_eq(g->layer_names[x.layer], n->layer_names[y.layer]);
        ck_assert(x.flops <= y.flops && x.flops >= y.flops);
        ck_assert(x.bytes <= y.bytes && x.bytes >= y.bytes);
        ck_assert_uint_eq(x.param_bytes, y.param_bytes);
        ck_assert_uint_eq(x.workspace_bytes, y.workspace_bytes);
        ck_assert_int_eq(x.kind, y.kind);
        ck_assert_int_eq(x.phase, y.phase);
        ck_assert_uint_eq(x.forward, y.forward);
        ck_assert_uint_eq(x.first_tensor, y.first_tensor);
        ck_assert_uint_eq(x.n_tensors, y.n_tensors);
        ck_assert_uint_eq(x.n_params, y.n_params);
        ck_assert_int_eq(x.scales, y.scales);
        ck_assert_int_eq(x.is_in_place, y.is_in_place);
        ck_assert_mem_eq(&x.shape, &y.shape, sizeof(x.shape));
    }
}

TEST(one_rank_has_the_graph_as_it_was)
{
    const struct shard_mesh one = {.tp = 1, .cp = 1, .has_sequence_parallel = true};
    const char *name;

    for (size_t i = 0; (name = fr_zoo_name(i)) != NULL; i++) {
        struct fr_graph *g = shard_load(spec_of(name), 0);
        struct fr__sharded s;

        shard_graph(&s, g, &one);
        ck_assert_uint_eq(s.n_comms, 0);
        ck_assert_uint_eq(s.graph->n_ops, g->n_ops);
        ck_assert_uint_eq(s.graph->n_tensors, g->n_tensors);
        ck_assert_uint_eq(s.graph->n_edges, g->n_edges);
        ck_assert_uint_eq(s.graph->batch, g->batch);
        compare_ops(g, s.graph);
        ck_assert_mem_eq(s.graph->tensors, g->tensors, g->n_tensors * sizeof(*g->tensors));
        for (size_t e = 0; e < g->n_edges; e++) {
            const struct fr_edge *x = &g->edges[e], *y = &s.graph->edges[e];

            ck_assert_msg(x->src == y->src && x->dst == y->dst && x->tensor == y->tensor &&
                              x->bytes == y->bytes,
                          "%s: edge %zu leads from '%s' to '%s'", name, e, g->ops[x->src].name,
                          g->ops[x->dst].name);
        }
        for (uint32_t o = 0; o < g->n_ops; o++)
            ck_assert_uint_eq(s.from[o], o);
        fr__sharded_free(&s);
        fr_graph_free(g);
    }
}

/* Of alexnet's layers a rank sums the outputs of some and not of others, so that they are alike no
 * more. Its five convolutions and three products are the units that they are of the model. */
TEST(the_units_of_a_rank_are_those_of_the_model)
{
    struct fr_graph *g = shard_load("alexnet", 8);
    struct fr__units model, rank, alone;
    uint64_t bytes;
    struct fr__sharded s;
    struct fr_error err;

    shard_graph(&s, g, &(struct shard_mesh){.tp = 2});
    ck_assert_int_eq(fr__units_find(&model, g, &err), FR_OK);
    ck_assert_int_eq(fr__units_find(&alone, s.graph, &err), FR_OK);
    ck_assert_int_eq(fr__units_within(&rank, s.graph, g, &err), FR_OK);
    ck_assert_uint_eq(model.n_units, 8);
    ck_assert_uint_ne(alone.n_units, 8);
    ck_assert_uint_eq(rank.n_units, 8);
    bytes = rank.root_param_bytes;
    for (size_t u = 0; u < 8; u++) {
        ck_assert_str_eq(rank.units[u].name, model.units[u].name);
        ck_assert_uint_eq(rank.units[u].n_layers, model.units[u].n_layers);
        ck_assert_uint_eq(rank.unit_of_layer[rank.units[u].first_layer], u);
        ck_assert_uint_le(rank.units[u].param_bytes, model.units[u].param_bytes);
        bytes += rank.units[u].param_bytes;
    }
    for (size_t o = 0; o < s.graph->n_ops; o++)
        if (s.graph->ops[o].phase <= FR_PHASE_FORWARD)
            bytes -= s.graph->ops[o].param_bytes;
    ck_assert_uint_eq(bytes, 0);
    fr__units_free(&alone);
    fr__units_free(&rank);
    fr__units_free(&model);
    fr__sharded_free(&s);
    fr_graph_free(g);
}

int main(void)
{
    TCase *c = tcase_create("shard_zoo");

    tcase_set_timeout(c, 120);
    add_tests(c);
    return run_case(c, "workloads/shard_zoo");
}
