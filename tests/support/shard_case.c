/* tests/support/shard_case.c */
#include "config.h"

#include "tests/support/shard_case.h"

#include "tests/support/base_check.h"

#include <stdlib.h>
#include <string.h>

struct fr_graph *shard_load(const char *spec, uint32_t batch)
{
    const struct fr_workload_options opt = {.batch = batch, .dtype = FR_N_DTYPES};
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
        [SHARD_CP] = {.name = "cp", .size = mesh->cp ? mesh->cp : 1, .split = split + g->n_ops}};
    struct fr__shard_problem in = {
        .graph = g, .n_axes = SHARD_N_AXES, .axes = axes, .experts = mesh->experts};
    enum fr_status st;

    ck_assert_ptr_nonnull(split);
    if (in.experts.ep == 0)
        in.experts = (struct fr__shard_experts){.ep = 1, .etp = 1, .skew = 1};
    st = fr__shard_megatron(g, !mesh->has_whole_vocabulary, split, err);
    ck_assert_int_eq(st, FR_OK);
    fr__shard_context(g, split + g->n_ops);
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
