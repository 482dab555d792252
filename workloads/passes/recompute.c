/* workloads/passes/recompute.c - rewrites a training graph so that forward ops run again; the rules
 * are in recompute.h, which ops make up a group is in recompute_groups.c.
 */
#include "config.h"

#include "workloads/passes/recompute_groups.h"

#include "base/error.h"
#include "workloads/graph/rewriter.h"

struct rewriting {
    const struct fr_graph *g;
    struct fr__rewriter r;
    struct fr__counterparts copy; /* what runs again */
    struct fr__groups groups;
    bool *is_copied;      /* [n_ops] of forward ops */
    uint32_t *place;      /* [n_groups] the op before which its copies stand; FR_NONE: none */
    uint32_t *group_at;   /* [n_ops] first group whose copies go before the op; FR_NONE */
    uint32_t *next_group; /* [n_groups] the next one there; FR_NONE */
    const bool *is_kept;  /* [n_tensors]; NULL */
    bool runs_all;
};

static bool is_backward(const struct fr_op *op)
{
    return op->phase == FR_PHASE_BACKWARD_DATA || op->phase == FR_PHASE_BACKWARD_WEIGHT;
}

/* Whether the backward op at the head of the edge reads a copy instead of the tensor. */
static bool is_redirected(const struct rewriting *w, const struct fr_edge *e)
{
    const uint32_t *group_of = w->groups.group_of_op;

    return e->tensor != FR_NONE && !(w->is_kept && w->is_kept[e->tensor]) &&
           group_of[e->src] != FR_NONE && w->g->ops[e->src].phase == FR_PHASE_FORWARD &&
           is_backward(&w->g->ops[e->dst]) &&
           (group_of[e->dst] == group_of[e->src] || w->groups.discards[group_of[e->src]]);
}

/* Whether a copy of the op at the head of the edge, if there is one, reads a copy too: of its own
 * group, or of one whose outputs are not kept. */
static bool is_copied_with(const struct rewriting *w, const struct fr_edge *e)
{
    const uint32_t *group_of = w->groups.group_of_op;
    uint32_t group = group_of[e->src];

    return group != FR_NONE && !(w->is_kept && e->tensor != FR_NONE && w->is_kept[e->tensor]) &&
           w->g->ops[e->src].phase == FR_PHASE_FORWARD &&
           w->g->ops[e->dst].phase == FR_PHASE_FORWARD &&
           (group == group_of[e->dst] ||
            (w->groups.discards[group] && group_of[e->dst] != FR_NONE));
}

/* Whether the edge leads from one forward op of a group to another. */
static bool is_inside(const struct rewriting *w, const struct fr_edge *e)
{
    const uint32_t *group_of = w->groups.group_of_op;

    return group_of[e->src] != FR_NONE && group_of[e->src] == group_of[e->dst] &&
           w->g->ops[e->src].phase == FR_PHASE_FORWARD &&
           w->g->ops[e->dst].phase == FR_PHASE_FORWARD;
}

/* ---- what runs again ---- */

static void copy_what_is_read(struct rewriting *w)
{
    const struct fr_graph *g = w->g;

    for (size_t i = 0; i < g->n_edges; i++) {
        const struct fr_edge *e = &g->edges[i];
        uint32_t *first;

        if (!is_redirected(w, e))
            continue;
        w->is_copied[e->src] = true;
        first = &w->place[w->groups.group_of_op[e->src]];
        if (*first == FR_NONE || e->dst < *first)
            *first = e->dst;
    }
    for (uint32_t o = (uint32_t)g->n_ops; o-- > 0;)
        for (uint32_t i = g->in_first[o]; w->is_copied[o] && i < g->in_first[o + 1]; i++) {
            const struct fr_edge *e = &g->edges[g->in_edges[i]];

            if (e->tensor != FR_NONE && is_copied_with(w, e))
                w->is_copied[e->src] = true;
        }
}

static uint32_t earlier(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* A group whose outputs are not kept runs again before the copies of another group read them. */
static void come_before_readers(struct rewriting *w)
{
    const struct fr_graph *g = w->g;
    bool has_moved;

    do {
        has_moved = false;
        for (size_t i = 0; i < g->n_edges; i++) {
            const struct fr_edge *e = &g->edges[i];
            uint32_t group, reader, place;

            if (e->tensor == FR_NONE || !w->is_copied[e->dst] || !is_copied_with(w, e))
                continue;
            group = w->groups.group_of_op[e->src];
            reader = w->groups.group_of_op[e->dst];
            place = w->place[reader];
            if (group == reader || place == FR_NONE || w->place[group] <= place)
                continue;
            w->place[group] = earlier(w->place[group], place);
            has_moved = true;
        }
    } while (has_moved);
}

static void copy_all(struct rewriting *w)
{
    for (uint32_t o = 0; o < w->g->n_ops; o++) {
        uint32_t group = w->groups.group_of_op[o];

        if (group != FR_NONE && w->place[group] != FR_NONE &&
            w->g->ops[o].phase == FR_PHASE_FORWARD)
            w->is_copied[o] = true;
    }
}

/* The copies need the group's input as it was. */
static enum fr_status refuse_overwriting(const struct rewriting *w, struct fr_error *err)
{
    const struct fr_graph *g = w->g;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        const struct fr_op *op = &g->ops[o];
        uint32_t storage = op->n_tensors ? g->tensors[op->first_tensor].alias : FR_NONE;

        if (!w->is_copied[o] || !op->is_in_place || storage == FR_NONE)
            continue;
        if (w->groups.group_of_op[g->tensors[storage].op] != w->groups.group_of_op[o])
            return fr__fail(err, FR_EUSAGE, op->loc,
                            "op '%s' writes over what enters its unit ('%s'), so the unit cannot "
                            "be recomputed",
                            op->name, g->ops[g->tensors[storage].op].name);
    }
    return FR_OK;
}

static enum fr_status refuse_late_forward(const struct rewriting *w, struct fr_error *err)
{
    for (uint32_t o = 0; o < w->g->n_ops; o++)
        if (w->is_copied[o] && o > w->place[w->groups.group_of_op[o]])
            return fr__fail(err, FR_EUSAGE, w->g->ops[o].loc,
                            "op '%s' comes after '%s', the backward pass of its unit, so the unit "
                            "cannot be recomputed",
                            w->g->ops[o].name, w->g->ops[w->place[w->groups.group_of_op[o]]].name);
    return FR_OK;
}

/* ---- the new graph ---- */

/* Adds the copy of op o. Where its output shares the storage of a copy, it is that of the copy. */
static void copy_op(struct rewriting *w, uint32_t o)
{
    const struct fr_graph *g = w->g;
    struct fr__mark mark = fr__arena_mark(w->r.scratch);
    struct fr_op op = g->ops[o];
    struct fr_tensor *outputs = fr__rewriter_outputs(&w->r, o);

    op.name = fr__rewriter_name(&w->r, op.name, "again", FR_NONE);
    op.phase = FR_PHASE_BACKWARD_DATA;
    op.is_recomputed = true;
    op.forward = w->r.now.op[o];
    op.n_params = 0;
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++)
        if (fr__edge_is_tie(&g->edges[g->in_edges[i]]))
            op.param_bytes += g->edges[g->in_edges[i]].bytes;
    for (uint32_t k = 0; outputs && k < op.n_tensors; k++) {
        uint32_t alias = g->tensors[op.first_tensor + k].alias;

        if (alias != FR_NONE && w->copy.tensor[alias] != FR_NONE)
            outputs[k].alias = w->copy.tensor[alias];
    }
    fr__rewriter_put(&w->r, &w->copy, o, &op, outputs);
    fr__arena_rewind(w->r.scratch, mark);
}

/* Adds all ops in the order in which they run: the copies of a group just before the first op that
 * reads one. */
static void add_ops(struct rewriting *w)
{
    for (uint32_t o = 0; o < w->g->n_ops; o++) {
        for (uint32_t group = w->group_at[o]; group != FR_NONE; group = w->next_group[group])
            for (uint32_t k = w->groups.first[group]; k < w->groups.first[group + 1]; k++)
                if (w->is_copied[w->groups.ops[k]])
                    copy_op(w, w->groups.ops[k]);
        fr__rewriter_keep(&w->r, o);
    }
}

static void keep_edges(struct rewriting *w)
{
    for (size_t i = 0; i < w->g->n_edges; i++) {
        const struct fr_edge *e = &w->g->edges[i];

        if (is_redirected(w, e))
            fr__rewriter_lead(&w->r, &w->copy, e, w->r.now.op[e->dst]);
        else
            fr__rewriter_keep_edge(&w->r, e);
    }
}

/* What the copy of o reads. Returns whether another copy of its group is among it. */
static bool add_copy_edges(struct rewriting *w, uint32_t o)
{
    const struct fr_graph *g = w->g;
    bool has_copy = false;

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];
        bool is_copy = is_copied_with(w, e) && w->is_copied[e->src];

        if (fr__edge_is_tie(e))
            continue;
        fr__rewriter_lead(&w->r, is_copy ? &w->copy : &w->r.now, e, w->copy.op[o]);
        has_copy = has_copy || (is_copy && is_inside(w, e));
    }
    return has_copy;
}

/* ---- when the copies run ---- */

/* The first backward op of the group but sums: the place of the copies. The gradient of the group's
 * end may be a sum, and that is complete before. first_user: the first that reads a copy. */
static uint32_t place_of(const struct rewriting *w, uint32_t group, uint32_t first_user)
{
    for (uint32_t k = w->groups.first[group]; k < w->groups.first[group + 1]; k++) {
        const struct fr_op *op = &w->g->ops[w->groups.ops[k]];

        if (is_backward(op) && op->kind != FR_OP_GRAD_ADD)
            return w->groups.ops[k] < first_user ? w->groups.ops[k] : first_user;
    }
    return first_user;
}

static bool is_gradient_before(const struct rewriting *w, uint32_t o, uint32_t place)
{
    return w->g->ops[o].phase == FR_PHASE_BACKWARD_DATA && o < place;
}

/* Whether another sum of the group before `place` takes what o adds up. */
static bool is_summed_further(const struct rewriting *w, uint32_t o, uint32_t place)
{
    for (uint32_t i = w->g->out_first[o]; i < w->g->out_first[o + 1]; i++) {
        uint32_t dst = w->g->edges[i].dst;

        if (w->groups.group_of_op[dst] == w->groups.group_of_op[o] &&
            is_gradient_before(w, dst, place))
            return true;
    }
    return false;
}

static bool leads_inside(const struct rewriting *w, uint32_t o)
{
    for (uint32_t i = w->g->out_first[o]; i < w->g->out_first[o + 1]; i++)
        if (!fr__edge_is_tie(&w->g->edges[i]) && is_inside(w, &w->g->edges[i]))
            return true;
    return false;
}

/* Appends the backward ops outside of the group whose gradients op o of it takes. */
static size_t add_senders(const struct rewriting *w, uint32_t o, uint32_t place, uint32_t waits[],
                          size_t n)
{
    const struct fr_graph *g = w->g;

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        uint32_t src = g->edges[g->in_edges[i]].src;
        bool is_new = is_gradient_before(w, src, place) &&
                      w->groups.group_of_op[src] != w->groups.group_of_op[o];

        for (size_t k = 0; is_new && k < n; k++)
            is_new = waits[k] != src;
        if (is_new)
            waits[n++] = src;
    }
    return n;
}

/* Appends the ops whose gradients the op at a place reads. */
static size_t add_gradients(const struct rewriting *w, uint32_t place, uint32_t waits[])
{
    const struct fr_graph *g = w->g;
    size_t n = 0;

    for (uint32_t i = g->in_first[place]; i < g->in_first[place + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->tensor != FR_NONE && is_gradient_before(w, e->src, place))
            waits[n++] = e->src;
    }
    return n;
}

/* Fills `waits` with the ops that the copies of a group wait for: where the gradient of the group's
 * end is complete, or where outputs are not kept, where its reader's gradient is. These are its own
 * sums of gradients before `place`; else who brings gradients
 * from outside; else, where the loss itself is in the group, the end of its forward pass. waits:
 * room for n_ops. Returns how many. */
static size_t find_waits(const struct rewriting *w, uint32_t group, uint32_t waits[])
{
    const uint32_t *ops = w->groups.ops, end = w->groups.first[group + 1];
    uint32_t place = w->place[group];
    size_t n = 0;

    if (w->groups.discards[group])
        n = add_gradients(w, place, waits);
    if (n > 0)
        return n;

    for (uint32_t k = w->groups.first[group]; k < end; k++)
        if (is_gradient_before(w, ops[k], place) && !is_summed_further(w, ops[k], place))
            waits[n++] = ops[k];
    if (n > 0)
        return n;
    for (uint32_t k = w->groups.first[group]; k < end; k++)
        if (is_backward(&w->g->ops[ops[k]]))
            n = add_senders(w, ops[k], place, waits, n);
    if (n > 0)
        return n;
    for (uint32_t k = w->groups.first[group]; k < end; k++)
        if (w->g->ops[ops[k]].phase == FR_PHASE_FORWARD && !leads_inside(w, ops[k]))
            waits[n++] = ops[k];
    return n;
}

/* Whether o is a backward op of the group that no other of them comes before. */
static bool begins_backward(const struct rewriting *w, uint32_t o, uint32_t place)
{
    const struct fr_graph *g = w->g;

    if (!is_backward(&g->ops[o]) || o < place)
        return false;
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        uint32_t src = g->edges[g->in_edges[i]].src;

        if (is_backward(&g->ops[src]) && src >= place &&
            w->groups.group_of_op[src] == w->groups.group_of_op[o])
            return false;
    }
    return true;
}

/* The backward pass of a group begins when all of it has run again: the checkpoint's function has
 * returned. */
static void wait_for_end(struct rewriting *w, uint32_t group)
{
    const uint32_t *ops = w->groups.ops, end = w->groups.first[group + 1];

    for (uint32_t k = w->groups.first[group]; k < end; k++) {
        if (!w->is_copied[ops[k]] || leads_inside(w, ops[k]))
            continue;
        for (uint32_t i = w->groups.first[group]; i < end; i++)
            if (begins_backward(w, ops[i], w->place[group]))
                fr__rewriter_order(&w->r, w->copy.op[ops[k]], w->r.now.op[ops[i]]);
    }
}

/* Adds what the copies of each group read; those that read no other copy wait. */
static enum fr_status add_copies_edges(struct rewriting *w, struct fr_error *err)
{
    uint32_t *waits = fr__arena_take(w->r.scratch, w->g->n_ops, sizeof(*waits));

    if (!waits)
        return fr__fail_nomem(err);
    for (uint32_t group = 0; group < w->groups.n_groups; group++) {
        size_t n = w->place[group] == FR_NONE ? 0 : find_waits(w, group, waits);

        for (uint32_t k = w->groups.first[group]; k < w->groups.first[group + 1]; k++) {
            uint32_t o = w->groups.ops[k];

            if (!w->is_copied[o] || add_copy_edges(w, o))
                continue;
            for (size_t i = 0; i < n; i++)
                fr__rewriter_order(&w->r, w->r.now.op[waits[i]], w->copy.op[o]);
        }
        if (w->runs_all && n > 0)
            wait_for_end(w, group);
    }
    return FR_OK;
}

/* ---- the whole ---- */

/* Groups from last to first, so that those of one place stand in order. */
static enum fr_status place_groups(struct rewriting *w, struct fr_error *err)
{
    w->place = fr__arena_nones(w->r.scratch, w->groups.n_groups);
    w->next_group = fr__arena_nones(w->r.scratch, w->groups.n_groups);
    if (!w->place || !w->next_group)
        return fr__fail_nomem(err);
    copy_what_is_read(w);
    if (w->runs_all)
        copy_all(w);
    for (uint32_t group = 0; group < w->groups.n_groups; group++)
        if (w->place[group] != FR_NONE)
            w->place[group] = place_of(w, group, w->place[group]);
    come_before_readers(w);
    for (uint32_t group = (uint32_t)w->groups.n_groups; group-- > 0;) {
        if (w->place[group] == FR_NONE)
            continue;
        w->next_group[group] = w->group_at[w->place[group]];
        w->group_at[w->place[group]] = group;
    }
    FR_TRY(refuse_overwriting(w, err));
    return refuse_late_forward(w, err);
}

static enum fr_status rewrite(struct rewriting *w, const struct fr__recompute_problem *in,
                              struct fr__recomputed *out, struct fr_error *err)
{
    const struct fr_graph *g = w->g;

    w->is_copied = fr__arena_alloc(w->r.scratch, g->n_ops, sizeof(*w->is_copied));
    w->group_at = fr__arena_nones(w->r.scratch, g->n_ops);
    if (!fr__rewriter_add_counterparts(&w->r, &w->copy) || !w->is_copied || !w->group_at)
        return fr__fail_nomem(err);
    FR_TRY(fr__groups_find(&w->groups, in, w->r.scratch, err));
    FR_TRY(place_groups(w, err));
    add_ops(w);
    keep_edges(w);
    FR_TRY(add_copies_edges(w, err));
    fr__rewriter_keep_samples(&w->r);
    for (size_t i = 0; i < g->n_samples; i++)
        fr__rewriter_keep_sample(&w->r, &w->copy, &g->samples[i]);
    FR_TRY(fr__rewriter_finish(&w->r, g, &out->graph, err));
    out->priv = fr__arena_new();
    out->from = out->priv ? fr__rewriter_from(&w->r, out->priv) : NULL;
    return out->from ? FR_OK : fr__fail_nomem(err);
}

enum fr_status fr__recompute(struct fr__recomputed *out, const struct fr__recompute_problem *in,
                             struct fr_error *err)
{
    struct rewriting w = {
        .g = in->graph, .is_kept = in->is_kept, .runs_all = in->runs_all && !in->is_kept};
    struct fr__recomputed made = {.graph = NULL};
    enum fr_status st;

    FR_TRY(fr__rewriter_init(&w.r, in->graph, err));
    st = rewrite(&w, in, &made, err);
    fr__rewriter_fini(&w.r);
    if (st == FR_OK)
        *out = made;
    else
        fr__recomputed_free(&made);
    return st;
}

void fr__recomputed_free(struct fr__recomputed *r)
{
    fr_graph_free(r->graph);
    fr__arena_free(r->priv);
    *r = (struct fr__recomputed){.graph = NULL};
}
