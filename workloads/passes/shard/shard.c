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

    for (uint32_t o = 0; o < g->n_ops && !fr__rewriter_has_failed(&s->w); o++) {
        struct fr__mark mark = fr__arena_mark(s->w.scratch);

        if (fr__sharding_is_elsewhere(s, o))
            continue;
        fr__sharding_note_frozen(s, o);
        if (fr__sharding_runs_forward(&g->ops[o]))
            fr__sharding_walk_forward(s, o);
        else if (g->ops[o].kind == FR_OP_GRAD_ADD && g->ops[o].phase == FR_PHASE_BACKWARD_DATA) {
            fr__sharding_add_sum(s, o); /* keeps what waits: no rewind */
            continue;
        } else
            fr__sharding_walk_backward(s, o);
        fr__arena_rewind(s->w.scratch, mark);
    }
}

static bool allocate(struct fr__sharding *s)
{
    size_t n_ops = s->g->n_ops, n_tensors = s->g->n_tensors;

    s->split = fr__arena_alloc(s->w.scratch, s->n_axes * n_ops, sizeof(*s->split));
    s->tied_to = fr__arena_alloc(s->w.scratch, n_ops, sizeof(*s->tied_to));
    s->written = fr__arena_alloc(s->w.scratch, s->n_axes * n_tensors + 1, sizeof(*s->written));
    s->rest = fr__arena_alloc(s->w.scratch, s->n_axes * n_tensors + 1, sizeof(*s->rest));
    s->grains = fr__arena_alloc(s->w.scratch, n_tensors, sizeof(*s->grains));
    s->twin = fr__arena_alloc(s->w.scratch, n_tensors, sizeof(*s->twin));
    s->first_version = fr__arena_nones(s->w.scratch, n_tensors);
    s->n_moves = fr__arena_alloc(s->w.scratch, n_ops, sizeof(*s->n_moves));
    s->sums = fr__arena_alloc(s->w.scratch, n_ops, sizeof(struct fr__sum *));
    s->partial = fr__arena_alloc(s->w.scratch, n_ops, sizeof(*s->partial));
    s->divided = fr__arena_alloc(s->w.scratch, n_ops, sizeof(*s->divided));
    s->replicas = fr__arena_alloc(s->w.scratch, n_ops, sizeof(*s->replicas));
    for (size_t o = 0; s->replicas && o < n_ops; o++)
        s->replicas[o] = 1;
    return s->split && s->tied_to && s->written && s->rest && s->grains && s->twin &&
           s->first_version && s->n_moves && s->sums && s->partial && s->divided && s->replicas;
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

/* Ranks that share each expert are one more axis: columns and depth of the experts' products. */
static enum fr_status add_expert_axis(struct fr__sharding *s, struct fr_error *err)
{
    size_t n = s->in->n_axes;
    struct fr__shard_axis *axes = fr__arena_alloc(s->w.scratch, n + 1, sizeof(*axes));
    uint8_t *split = fr__arena_alloc(s->w.scratch, s->g->n_ops, sizeof(*split));

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

/* Samples stay where the op is whole: a part of an op was not measured. */
static void keep_samples(struct fr__sharding *s)
{
    const struct fr_graph *g = s->g;

    for (size_t i = 0; i < g->n_samples; i++) {
        uint32_t f = g->ops[g->samples[i].op].forward;
        bool is_whole = true;

        for (size_t a = 0; f != FR_NONE && g->ops[f].phase <= FR_PHASE_FORWARD && a < s->n_axes;
             a++)
            is_whole = is_whole && fr__sharding_split(s, f, a) <= FR__SPLIT_NONE;
        if (is_whole)
            fr__rewriter_keep_sample(&s->w, &s->w.now, &g->samples[i]);
    }
}

static enum fr_status shard(struct fr__sharding *s, struct fr__sharded *out, struct fr_error *err)
{
    const struct fr__sharded given = {
        .partial = s->partial, .divided = s->divided, .replicas = s->replicas, .split = s->split};
    const struct fr__sharded_end end = {
        .given = &given, .n_axes = s->in->n_axes, .messages = &s->messages};

    FR_TRY(fr__sharding_pair(s, err));
    FR_TRY(fr__sharding_find_experts(s, err));
    FR_TRY(add_expert_axis(s, err));
    FR_TRY(fr__sharding_derive(s, err));
    FR_TRY(fr__sharding_check_tokens(s, err));
    FR_TRY(fr__sharding_check_pairs(s, err));
    walk(s);
    keep_samples(s);
    return fr__sharded_finish(out, &s->w, &end, err);
}

enum fr_status fr__shard(struct fr__sharded *out, const struct fr__shard_problem *in,
                         struct fr_error *err)
{
    bool has_etp = in->experts.etp > 1;
    struct fr__sharding s = {.in = in, .g = in->graph, .n_axes = in->n_axes + has_etp};
    enum fr_status st;

    FR_TRY(refuse_unfit(in, err));
    FR_TRY(fr__rewriter_init(&s.w, in->graph, err));
    s.etp_axis = has_etp ? in->n_axes : s.n_axes;
    st = allocate(&s) ? shard(&s, out, err) : fr__fail_nomem(err);
    fr__rewriter_fini(&s.w);
    free(s.versions);
    free(s.messages.comms);
    return st;
}
