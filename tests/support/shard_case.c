/* tests/support/shard_case.c */
#include "config.h"

#include "tests/support/shard_case.h"

#include "tests/support/base_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fr_graph *shard_load(const char *spec, uint32_t batch)
{
    const struct fr_workload_options opt = {.batch = batch, .dtype = FR_FP32};
    struct fr_graph *g = NULL;
    struct fr_error err;

    ck_assert_msg(fr_workload_load(&g, spec, &opt, &err) == FR_OK, "%s", err.text);
    return g;
}

enum fr_status shard_try(struct fr__sharded *out, const struct fr_graph *g,
                         const struct shard_mesh *mesh, struct fr_error *err)
{
    uint8_t *split = calloc(SHARD_N_AXES, g->n_ops);
    struct fr__shard_axis axes[SHARD_N_AXES] = {
        [SHARD_TP] = {.name = "tp",
                      .size = mesh->tp ? mesh->tp : 1,
                      .partial_to_sequence = mesh->has_sequence_parallel,
                      .keeps_gathered = mesh->keeps_gathered,
                      .split = split},
        [SHARD_CP] = {.name = "cp",
                      .size = mesh->cp ? mesh->cp : 1,
                      .refuses_copies = mesh->context == FR__CONTEXT_HEADS,
                      .split = split + g->n_ops}};
    struct fr__shard_problem in = {
        .graph = g, .n_axes = SHARD_N_AXES, .axes = axes, .experts = mesh->experts};
    enum fr_status st;

    ck_assert_ptr_nonnull(split);
    if (in.experts.ep == 0)
        in.experts = (struct fr__shard_experts){.ep = 1, .etp = 1, .skew = 1};
    st = fr__shard_megatron(g, !mesh->has_whole_vocabulary, split, err);
    ck_assert_int_eq(st, FR_OK);
    fr__shard_context(g, mesh->context, split + g->n_ops);
    st = fr__shard(out, &in, err);
    free(split);
    return st;
}

void shard_graph(struct fr__sharded *out, const struct fr_graph *g, const struct shard_mesh *mesh)
{
    struct fr_error err;

    ck_assert_msg(shard_try(out, g, mesh, &err) == FR_OK, "%s", err.text);
}

uint32_t shard_find(const struct fr_graph *g, const char *name)
{
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (strcmp(g->ops[o].name, name) == 0)
            return o;
    ck_abort_msg("there is no op '%s'", name);
    return FR_NONE;
}

static bool is_counted(const struct fr__sharded *s, const struct fr__comm *c, uint32_t axis,
                       const char *layer, bool is_forward)
{
    const struct fr_op *op = &s->graph->ops[c->op];

    return c->axis == axis && (op->phase == FR_PHASE_FORWARD) == is_forward &&
           strncmp(s->graph->layer_names[op->layer], layer, strlen(layer)) == 0;
}

struct shard_sum shard_count(const struct fr__sharded *s, enum fr_op_kind kind, uint32_t axis,
                             const char *layer, bool is_forward)
{
    struct shard_sum sum = {0, 0};

    for (size_t i = 0; i < s->n_comms; i++)
        if (is_counted(s, &s->comms[i], axis, layer, is_forward) &&
            s->graph->ops[s->comms[i].op].kind == kind) {
            sum.n++;
            sum.bytes += s->comms[i].bytes;
        }
    return sum;
}

double shard_units(const struct fr__sharded *s, uint32_t axis, const char *layer, bool is_forward,
                   double x_bytes)
{
    double units = 0;

    for (size_t i = 0; i < s->n_comms; i++)
        if (is_counted(s, &s->comms[i], axis, layer, is_forward))
            units += s->comms[i].bytes / x_bytes *
                     (s->graph->ops[s->comms[i].op].kind == FR_OP_ALL_REDUCE ? 2 : 1);
    return units;
}

/* ---- recomputation ---- */

static bool is_in_block(const struct fr_graph *g, uint32_t o)
{
    const char *name = g->layer_names[g->ops[o].layer];

    return g->ops[o].phase == FR_PHASE_FORWARD && strncmp(name, "layer0", 6) == 0;
}

/* Adds op o of g to b, which reads the copies of what the block writes if it is a backward op. */
static void copy_op(struct fr_graph_builder *b, const struct fr_graph *g, uint32_t o,
                    const uint32_t again[], const uint32_t new_of[], const uint32_t first_of[],
                    bool is_again)
{
    enum { MOST_OUTPUTS = 64 };
    struct fr_tensor out[MOST_OUTPUTS];
    struct fr_op op = g->ops[o];
    char name[128];
    uint32_t id;

    snprintf(name, sizeof(name), "%s%s", op.name, is_again ? ".again" : "");
    op.name = name;
    if (is_again) {
        op.phase = FR_PHASE_BACKWARD_DATA;
        op.is_recomputed = true;
        op.param_bytes = 0;
        op.n_params = 0;
    }
    if (op.forward != FR_NONE)
        op.forward = is_again ? new_of[o] : new_of[op.forward];
    op.is_in_place = false;
    ck_assert_uint_le(op.n_tensors, MOST_OUTPUTS);
    for (uint32_t k = 0; k < op.n_tensors; k++) {
        out[k] = g->tensors[op.first_tensor + k];
        out[k].alias = FR_NONE;
    }
    id = fr_graph_builder_op(b, &op, g->layer_names[op.layer], out, op.n_tensors);
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];
        bool is_copy = again[e->src] != FR_NONE && (is_again || op.phase > FR_PHASE_FORWARD);
        uint32_t src = is_copy ? again[e->src] : new_of[e->src];

        if (e->tensor != FR_NONE)
            fr_graph_builder_edge(
                b, src, id, first_of[src] + e->tensor - g->ops[e->src].first_tensor, e->bytes);
        else if (e->bytes && !is_again)
            fr_graph_builder_tie(b, src, id);
    }
}

struct fr_graph *shard_run_again(const struct fr_graph *g)
{
    struct fr_graph_builder *b = fr_graph_builder_new();
    uint32_t *numbers = malloc(5 * g->n_ops * sizeof(*numbers));
    uint32_t *again = numbers, *new_of = numbers + g->n_ops, *first_of = numbers + 2 * g->n_ops;
    uint32_t n = 0, n_tensors = 0, first_backward = 0;
    struct fr_graph *out = NULL;
    struct fr_error err;

    ck_assert_ptr_nonnull(numbers);
    while (g->ops[first_backward].phase <= FR_PHASE_FORWARD)
        first_backward++;
    for (uint32_t o = 0; o < g->n_ops; o++)
        again[o] = FR_NONE;
    for (uint32_t o = 0; o < g->n_ops; o++) {
        for (uint32_t f = 0; o == first_backward && f < o; f++)
            if (is_in_block(g, f)) {
                again[f] = n;
                first_of[n++] = n_tensors;
                n_tensors += g->ops[f].n_tensors;
                copy_op(b, g, f, again, new_of, first_of, true);
            }
        new_of[o] = n;
        first_of[n++] = n_tensors;
        n_tensors += g->ops[o].n_tensors;
        copy_op(b, g, o, again, new_of, first_of, false);
    }
    ck_assert_msg(fr_graph_builder_finish(b, g, &out, &err) == FR_OK, "%s", err.text);
    fr_graph_builder_free(b);
    free(numbers);
    return out;
}
