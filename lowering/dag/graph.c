/* lowering/dag/graph.c - names, kinds and edges of a dag's operations, for the plan that
 * keeps them when the planner is gone. What operations cost and hold is in the plan's own tables.
 */
#include "config.h"

#include "lowering/dag/graph.h"

#include "base/error.h"
#include "workloads/graph/plain.h"

#include <string.h>

static enum fr_op_kind kind_of(const struct fr__dag_op *o)
{
    static const enum fr_op_kind kinds[FR__N_DAG_ROLES] = {
        [FR__DAG_VARIABLE] = FR_OP_OTHER,
        [FR__DAG_SUM] = FR_OP_GRAD_ADD,
        [FR__DAG_SPLIT] = FR_OP_CONCAT,
        [FR__DAG_CONCAT] = FR_OP_CONCAT,
    };

    return o->role == FR__DAG_OP ? (enum fr_op_kind)o->kind : kinds[o->role];
}

/* Names of the user's ops stay as long as the user's graph. */
static const char *name_of(const struct fr__dag *dag, uint32_t op, struct fr__arena *arena)
{
    const char *own = fr__dag_own_name(dag, op);
    char name[160];

    if (own)
        return own;
    return fr__arena_strdup(arena, fr__dag_name(dag, op, name, sizeof(name)));
}

static struct fr_op *list_ops(const struct fr__dag *dag, struct fr__arena *arena)
{
    struct fr_op *ops = fr__arena_alloc(arena, dag->n_ops, sizeof(*ops));

    for (uint32_t i = 0; ops && i < dag->n_ops; i++) {
        const struct fr__dag_op *o = &dag->ops[i];

        ops[i] = (struct fr_op){.name = name_of(dag, i, arena),
                                .kind = kind_of(o),
                                .phase = (enum fr_phase)o->phase,
                                .layer = dag->pl->graph->ops[o->op].layer,
                                .forward = FR_NONE};
        if (!ops[i].name)
            return NULL;
    }
    return ops;
}

static struct fr_edge *list_edges(const struct fr__dag *dag, struct fr__arena *arena)
{
    struct fr_edge *edges = fr__arena_take(arena, dag->n_edges, sizeof(*edges));

    for (size_t i = 0; edges && i < dag->n_edges; i++)
        edges[i] = (struct fr_edge){.src = dag->edges[i].src,
                                    .dst = dag->edges[i].dst,
                                    .tensor = FR_NONE,
                                    .bytes = dag->edges[i].bytes};
    return edges;
}

static uint32_t *copy_of(struct fr__arena *arena, const uint32_t ids[], size_t n)
{
    uint32_t *copy = fr__arena_take(arena, n, sizeof(*copy));

    if (copy && n > 0)
        memcpy(copy, ids, n * sizeof(*copy));
    return copy;
}

/* The graph takes the arena over, on success only. */
static enum fr_status make_graph(struct fr_graph **out, const struct fr__dag *dag,
                                 struct fr__arena *arena, struct fr_error *err)
{
    const struct fr__plain_graph plain = {.like = dag->pl->graph,
                                          .n_ops = dag->n_ops,
                                          .n_edges = dag->n_edges,
                                          .ops = list_ops(dag, arena),
                                          .edges = list_edges(dag, arena),
                                          .out_first =
                                              copy_of(arena, dag->out_first, dag->n_ops + 1),
                                          .in_first = copy_of(arena, dag->in_first, dag->n_ops + 1),
                                          .in_edges = copy_of(arena, dag->in_edges, dag->n_edges)};

    if (!plain.ops || !plain.edges || !plain.out_first || !plain.in_first || !plain.in_edges)
        return fr__fail_nomem(err);
    return fr__graph_of_plain(out, &plain, arena, err);
}

static enum fr_status own(struct fr_plan *plan, struct fr_graph *graph, const struct fr__dag *dag,
                          struct fr_error *err)
{
    struct fr__arena *scratch = fr__arena_new();
    uint32_t *first = scratch ? fr__arena_take(scratch, dag->n_ops + 1, sizeof(*first)) : NULL;
    uint32_t *user = scratch ? fr__arena_take(scratch, dag->n_ops, sizeof(*user)) : NULL;
    enum fr_status st = fr__fail_nomem(err);

    for (uint32_t i = 0; first && user && i < dag->n_ops; i++)
        user[i] = dag->ops[i].op;
    for (uint32_t i = 0; first && user && i <= dag->n_ops; i++)
        first[i] = i;
    if (first && user)
        st = fr_plan_own_graph(plan, graph, &(struct fr_op_map){first, user}, err);
    if (scratch)
        fr__arena_free(scratch);
    return st;
}

enum fr_status fr__dag_give_graph(struct fr_plan *plan, const struct fr__dag *dag,
                                  struct fr_error *err)
{
    struct fr__arena *arena = fr__arena_new();
    struct fr_graph *graph;
    enum fr_status st;

    if (!arena)
        return fr__fail_nomem(err);
    st = make_graph(&graph, dag, arena, err);
    if (st != FR_OK) {
        fr__arena_free(arena);
        return st;
    }
    st = own(plan, graph, dag, err);
    if (st != FR_OK)
        fr_graph_free(graph);
    return st;
}
