/* strategies/hybrid/graph.c - the graph that one rank runs. */
#include "config.h"

#include "strategies/hybrid/hybrid.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static enum fr_status read_splits(const struct fr_problem *in, const struct fr__hybrid_options *o,
                                  uint8_t *const split[], struct fr_error *err)
{
    static const char *const names[FR__N_HYBRID_AXES] = {
        [FR__HYBRID_TP] = "tp", [FR__HYBRID_CP] = "cp"};

    if (strncmp(o->annotations, "file:", 5) == 0)
        return fr__shard_read(o->annotations + 5, in->graph, names, FR__N_HYBRID_AXES, split, err);
    if (strcmp(o->annotations, "megatron") != 0)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "shard=%s is neither megatron nor file:PATH",
                        o->annotations);
    FR_TRY(fr__shard_megatron(in->graph, o->vocab_parallel, split[FR__HYBRID_TP], err));
    fr__shard_context(in->graph, split[FR__HYBRID_CP]);
    return FR_OK;
}

/* The user's op that each op of the rank's graph stands for. */
static enum fr_status own(struct fr__hybrid_graph *g, struct fr_plan *plan, struct fr_error *err)
{
    size_t n = g->sharded.graph->n_ops;
    uint32_t *first = malloc((n + 1) * sizeof(*first));
    enum fr_status st;

    if (!first)
        return fr__fail_nomem(err);
    for (size_t o = 0; o <= n; o++)
        first[o] = (uint32_t)o;
    st = fr_plan_own_graph(plan, g->sharded.graph,
                           &(struct fr_op_map){.first = first, .user = g->sharded.from}, err);
    free(first);
    if (st != FR_OK)
        return st;
    g->graph = g->sharded.graph;
    g->sharded.graph = NULL; /* the plan's now */
    return FR_OK;
}

enum fr_status fr__hybrid_graph_make(struct fr__hybrid_graph *out, const struct fr_problem *in,
                                     const struct fr__hybrid_options *o, struct fr_plan *plan,
                                     struct fr_error *err)
{
    size_t n = in->graph->n_ops;
    uint8_t *splits, *split[FR__N_HYBRID_AXES];
    struct fr__shard_axis axes[FR__N_HYBRID_AXES];
    struct fr__shard_problem p = {
        .graph = in->graph,
        .n_axes = FR__N_HYBRID_AXES,
        .axes = axes,
        .experts = {.ep = o->ep, .etp = o->etp, .is_balanced = true, .skew = 1}};
    enum fr_status st;

    *out = (struct fr__hybrid_graph){.graph = in->graph};
    if (o->tp == 1 && o->cp == 1 && o->ep == 1 && o->etp == 1)
        return FR_OK;
    splits = calloc(FR__N_HYBRID_AXES * n + 1, sizeof(*splits));
    if (!splits)
        return fr__fail_nomem(err);
    for (size_t a = 0; a < FR__N_HYBRID_AXES; a++)
        split[a] = splits + a * n;
    axes[FR__HYBRID_TP] = (struct fr__shard_axis){.name = "tp",
                                                  .size = o->tp,
                                                  .partial_to_sequence = o->sequence_parallel,
                                                  .keeps_gathered = o->keeps_gathered,
                                                  .split = split[FR__HYBRID_TP]};
    axes[FR__HYBRID_CP] =
        (struct fr__shard_axis){.name = "cp", .size = o->cp, .split = split[FR__HYBRID_CP]};
    st = read_splits(in, o, split, err);
    if (st == FR_OK)
        st = fr__shard(&out->sharded, &p, err);
    free(splits);
    if (st != FR_OK)
        return st;
    out->is_sharded = true;
    return own(out, plan, err);
}

void fr__hybrid_graph_free(struct fr__hybrid_graph *g)
{
    if (g->is_sharded)
        fr__sharded_free(&g->sharded);
}
