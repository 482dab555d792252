/* workloads/passes/shard/shard.c - the steps of the sharding pass in their order.
 *
 * First every forward op gets its splits (derive.c). Then the ops are copied in order, at
 * their local size. Before an op come the redistributions of what it reads (move.c).
 */
#include "config.h"

#include "workloads/passes/shard/walk.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static void walk(struct fr__sharding *s)
{
    const struct fr_graph *g = s->g;

    for (uint32_t o = 0; o < g->n_ops && !s->is_out_of_memory; o++) {
        struct fr__mark mark = fr__arena_mark(s->arena);

        if (fr__sharding_is_elsewhere(s, o))
            continue;
        if (fr__sharding_runs_forward(&g->ops[o]))
            fr__sharding_walk_forward(s, o);
        else if (g->ops[o].kind == FR_OP_GRAD_ADD && g->ops[o].phase == FR_PHASE_BACKWARD_DATA) {
            fr__sharding_add_sum(s, o); /* keeps what waits: no rewind */
            continue;
        } else
            fr__sharding_walk_backward(s, o);
        fr__arena_rewind(s->arena, mark);
    }
}

static bool allocate(struct fr__sharding *s)
{
    size_t n_ops = s->g->n_ops, n_tensors = s->g->n_tensors;

    s->b = fr_graph_builder_new();
    s->arena = fr__arena_new();
    if (!s->b || !s->arena)
        return false;
    s->split = fr__arena_alloc(s->arena, s->n_axes * n_ops, sizeof(*s->split));
    s->tied_to = fr__arena_alloc(s->arena, n_ops, sizeof(*s->tied_to));
    s->written = fr__arena_alloc(s->arena, s->n_axes * n_tensors + 1, sizeof(*s->written));
    s->rest = fr__arena_alloc(s->arena, s->n_axes * n_tensors + 1, sizeof(*s->rest));
    s->grains = fr__arena_alloc(s->arena, n_tensors, sizeof(*s->grains));
    s->twin = fr__arena_alloc(s->arena, n_tensors, sizeof(*s->twin));
    s->new_op = fr__arena_alloc(s->arena, n_ops, sizeof(*s->new_op));
    s->first_version = fr__arena_alloc(s->arena, n_tensors, sizeof(*s->first_version));
    s->n_moves = fr__arena_alloc(s->arena, n_ops, sizeof(*s->n_moves));
    s->sums = fr__arena_alloc(s->arena, n_ops, sizeof(struct fr__sum *));
    s->partial = fr__arena_alloc(s->arena, n_ops, sizeof(*s->partial));
    s->divided = fr__arena_alloc(s->arena, n_ops, sizeof(*s->divided));
    s->replicas = fr__arena_alloc(s->arena, n_ops, sizeof(*s->replicas));
    if (!s->split || !s->tied_to || !s->written || !s->rest || !s->grains || !s->twin ||
        !s->new_op || !s->first_version || !s->n_moves || !s->sums || !s->partial || !s->divided ||
        !s->replicas)
        return false;
    for (size_t i = 0; i < n_ops; i++)
        s->new_op[i] = FR_NONE;
    for (size_t i = 0; i < n_tensors; i++)
        s->first_version[i] = FR_NONE;
    return true;
}

static void release(struct fr__sharding *s)
{
    fr_graph_builder_free(s->b);
    fr__arena_free(s->arena);
    free(s->versions);
    free(s->from);
    free(s->comms);
    free(s->name);
}

static enum fr_status refuse_unfit(const struct fr__shard_problem *in, struct fr_error *err)
{
    const struct fr_graph *g = in->graph;

    if (in->n_axes >= FR__MAX_AXES)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "a mesh of %zu axes, over %d", in->n_axes,
                        FR__MAX_AXES - 1);
    for (uint32_t o = 0; o < g->n_ops; o++)
        if (g->ops[o].phase > FR_PHASE_FORWARD && g->ops[o].forward == FR_NONE)
            return fr__fail(err, FR_EUSAGE, g->ops[o].loc,
                            "op '%s' (%s) does not say which forward op it derives from, so it "
                            "cannot be split",
                            g->ops[o].name, fr_phase_name(g->ops[o].phase));
    return FR_OK;
}

/* Arrays that outlive the pass, by number of the new ops. */
static enum fr_status keep(struct fr__sharded *out, const struct fr__sharding *s,
                           struct fr__arena *arena, struct fr_error *err)
{
    size_t n = out->graph->n_ops;
    uint32_t *from = fr__arena_alloc(arena, n, sizeof(*from));
    uint32_t *comm_of = fr__arena_alloc(arena, n, sizeof(*comm_of));
    uint32_t *partial = fr__arena_alloc(arena, n, sizeof(*partial));
    uint32_t *divided = fr__arena_alloc(arena, n, sizeof(*divided));
    uint32_t *replicas = fr__arena_alloc(arena, n, sizeof(*replicas));
    uint8_t *split = fr__arena_alloc(arena, n * s->in->n_axes + 1, sizeof(*split));
    struct fr__comm *comms = fr__arena_alloc(arena, s->n_comms, sizeof(*comms));

    if (!from || !comm_of || !partial || !divided || !replicas || !split || !comms)
        return fr__fail_nomem(err);
    for (size_t o = 0; o < n; o++) {
        uint32_t given = from[o] = s->from[o];
        bool is_copy = s->new_op[given] == o;

        comm_of[o] = FR_NONE;
        partial[o] = is_copy ? s->partial[given] : 0;
        divided[o] = is_copy ? s->divided[given] : 0;
        replicas[o] = is_copy && s->replicas[given] ? s->replicas[given] : 1;
        for (size_t a = 0; a < s->in->n_axes; a++)
            split[a * n + o] = is_copy && s->g->ops[given].phase <= FR_PHASE_FORWARD
                                   ? s->split[a * s->g->n_ops + given]
                                   : FR__SPLIT_NONE;
    }
    for (size_t c = 0; c < s->n_comms; c++) {
        comms[c] = s->comms[c];
        comm_of[comms[c].op] = (uint32_t)c;
    }
    out->from = from;
    out->comm_of = comm_of;
    out->partial = partial;
    out->divided = divided;
    out->replicas = replicas;
    out->split = split;
    out->comms = comms;
    out->n_comms = s->n_comms;
    out->priv = arena;
    return FR_OK;
}

/* Ranks that share each expert are one more axis: columns and depth of the experts' products. */
static enum fr_status add_expert_axis(struct fr__sharding *s, struct fr_error *err)
{
    size_t n = s->in->n_axes;
    struct fr__shard_axis *axes = fr__arena_alloc(s->arena, n + 1, sizeof(*axes));
    uint8_t *split = fr__arena_alloc(s->arena, s->g->n_ops, sizeof(*split));

    if (!axes || !split)
        return fr__fail_nomem(err);
    if (n)
        memcpy(axes, s->in->axes, n * sizeof(*axes));
    s->axes = axes;
    if (s->etp_axis == s->n_axes)
        return FR_OK;
    axes[n] = (struct fr__shard_axis){
        .name = "etp", .size = s->in->experts.etp, .partial_to_sequence = true, .split = split};
    return fr__shard_annotate_experts(s->g, s->expert_of, split, err);
}

static enum fr_status shard(struct fr__sharding *s, struct fr__sharded *out, struct fr_error *err)
{
    struct fr__arena *arena;
    enum fr_status st;

    FR_TRY(fr__sharding_pair(s, err));
    FR_TRY(fr__sharding_find_experts(s, err));
    FR_TRY(add_expert_axis(s, err));
    FR_TRY(fr__sharding_derive(s, err));
    FR_TRY(fr__sharding_check_tokens(s, err));
    FR_TRY(fr__sharding_check_pairs(s, err));
    walk(s);
    if (s->is_out_of_memory || !(arena = fr__arena_new()))
        return fr__fail_nomem(err);
    st = fr_graph_builder_finish(s->b, s->g, &out->graph, err);
    if (st == FR_OK)
        st = keep(out, s, arena, err);
    if (st != FR_OK) {
        fr_graph_free(out->graph);
        fr__arena_free(arena);
    }
    return st;
}

enum fr_status fr__shard(struct fr__sharded *out, const struct fr__shard_problem *in,
                         struct fr_error *err)
{
    bool has_etp = in->experts.etp > 1;
    struct fr__sharding s = {.in = in, .g = in->graph, .n_axes = in->n_axes + has_etp};
    struct fr__sharded made = {.graph = NULL};
    enum fr_status st;

    FR_TRY(refuse_unfit(in, err));
    s.etp_axis = has_etp ? in->n_axes : s.n_axes;
    st = allocate(&s) ? shard(&s, &made, err) : fr__fail_nomem(err);
    release(&s);
    if (st == FR_OK)
        *out = made;
    return st;
}

void fr__sharded_free(struct fr__sharded *s)
{
    fr_graph_free(s->graph);
    fr__arena_free(s->priv);
    *s = (struct fr__sharded){.graph = NULL};
}
