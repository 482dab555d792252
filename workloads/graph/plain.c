/* workloads/graph/plain.c - makes a graph of ops and edges alone, for strategies that rewrite a
 * graph. A graph that is read or trained goes through the builder and its checks instead. */
#include "config.h"

#include "workloads/graph/plain.h"

#include "base/error.h"
#include "workloads/graph/builder.h"

enum fr_status fr__graph_of_plain(struct fr_graph **out, const struct fr__plain_graph *plain,
                                  struct fr__arena *arena, struct fr_error *err)
{
    struct fr_graph *g = fr__arena_alloc(arena, 1, sizeof(*g));
    struct fr__graph_priv *priv = fr__arena_alloc(arena, 1, sizeof(*priv));

    if (!g || !priv)
        return fr__fail_nomem(err);
    priv->arena = arena;
    *g = (struct fr_graph){.name = plain->like->name,
                           .source = plain->like->source,
                           .batch = plain->like->batch,
                           .seq_len = plain->like->seq_len,
                           .dtype = plain->like->dtype,
                           .formats = plain->like->formats,
                           .layout = plain->like->layout,
                           .param_elem_bytes = plain->like->param_elem_bytes,
                           .is_tasks = plain->like->is_tasks,
                           .n_ops = plain->n_ops,
                           .n_edges = plain->n_edges,
                           .n_layers = plain->like->n_layers,
                           .ops = plain->ops,
                           .edges = plain->edges,
                           .out_first = plain->out_first,
                           .in_first = plain->in_first,
                           .in_edges = plain->in_edges,
                           .layer_names = plain->like->layer_names,
                           .priv = priv};
    *out = g;
    return FR_OK;
}
