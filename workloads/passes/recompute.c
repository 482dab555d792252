/* workloads/passes/recompute.c - rewrites a training graph so that forward ops run again; the rules
 * are in recompute.h, which ops make up a group is in recompute_groups.c.
 */
#include "config.h"

#include "workloads/passes/recompute_groups.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rewriting {
    const struct fr_graph *g;
    struct fr__groups groups;
    struct fr__arena *keep, *scratch;
    struct fr_graph_builder *b;
    bool *is_copied;       /* [n_ops] of forward ops */
    uint32_t *place;       /* [n_groups] the op before which its copies stand; FR_NONE: none */
    uint32_t *group_at;    /* [n_ops] first group whose copies go before the op; FR_NONE */
    uint32_t *next_group;  /* [n_groups] the next one there; FR_NONE */
    uint32_t *new_op;      /* [n_ops] */
    uint32_t *new_tensor;  /* [n_tensors] */
    uint32_t *copy_op;     /* [n_ops] */
    uint32_t *copy_tensor; /* [n_tensors] */
    uint32_t *from;        /* [n_ops + copies] */
    uint32_t n_ops, n_tensors;
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

    return e->tensor != FR_NONE && group_of[e->src] != FR_NONE &&
           w->g->ops[e->src].phase == FR_PHASE_FORWARD && is_backward(&w->g->ops[e->dst]) &&
           group_of[e->dst] == group_of[e->src];
}

/* Whether the edge leads from one forward op of a group to another. */
static bool is_inside(const struct rewriting *w, const struct fr_edge *e)
{
    const uint32_t *group_of = w->groups.group_of_op;

    return group_of[e->src] != FR_NONE && group_of[e->src] == group_of[e->dst] &&
           w->g->ops[e->src].phase == FR_PHASE_FORWARD &&
           w->g->ops[e->dst].phase == FR_PHASE_FORWARD;
}

static bool is_tie(const struct fr_edge *e)
{
    return e->tensor == FR_NONE && e->bytes > 0;
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

            if (e->tensor != FR_NONE && is_inside(w, e))
                w->is_copied[e->src] = true;
        }
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

static enum fr_status copy_op(struct rewriting *w, uint32_t o, struct fr_error *err)
{
    const struct fr_graph *g = w->g;
    struct fr_op op = g->ops[o];
    struct fr__mark mark = fr__arena_mark(w->scratch);
    size_t len = strlen(op.name) + sizeof(".again");
    char *name = fr__arena_take(w->scratch, len, 1);
    struct fr_tensor *outputs = fr__arena_take(w->scratch, op.n_tensors, sizeof(*outputs));

    if (!name || !outputs)
        return fr__fail_nomem(err);
    snprintf(name, len, "%s.again", op.name);
    op.name = name;
    op.phase = FR_PHASE_BACKWARD_DATA;
    op.is_recomputed = true;
    op.forward = w->new_op[o];
    op.n_params = 0;
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++)
        if (is_tie(&g->edges[g->in_edges[i]]))
            op.param_bytes += g->edges[g->in_edges[i]].bytes;
    w->copy_op[o] = w->n_ops;
    w->from[w->n_ops++] = o;
    for (uint32_t k = 0; k < op.n_tensors; k++) {
        outputs[k] = g->tensors[op.first_tensor + k];
        if (outputs[k].alias != FR_NONE)
            outputs[k].alias = w->copy_tensor[outputs[k].alias] != FR_NONE
                                   ? w->copy_tensor[outputs[k].alias]
                                   : w->new_tensor[outputs[k].alias];
        w->copy_tensor[op.first_tensor + k] = w->n_tensors++;
    }
    fr_graph_builder_op(w->b, &op, g->layer_names[op.layer], outputs, op.n_tensors);
    fr__arena_rewind(w->scratch, mark);
    return FR_OK;
}

/* An op of the given graph. What it derives from and aliases has come already: forward ops come
 * before what derives from them. */
static enum fr_status keep_op(struct rewriting *w, uint32_t o, struct fr_error *err)
{
    const struct fr_graph *g = w->g;
    struct fr_op op = g->ops[o];
    struct fr__mark mark = fr__arena_mark(w->scratch);
    struct fr_tensor *outputs = fr__arena_take(w->scratch, op.n_tensors, sizeof(*outputs));

    if (!outputs)
        return fr__fail_nomem(err);
    w->new_op[o] = w->n_ops;
    w->from[w->n_ops++] = o;
    if (op.forward != FR_NONE)
        op.forward = w->new_op[op.forward];
    for (uint32_t k = 0; k < op.n_tensors; k++) {
        outputs[k] = g->tensors[op.first_tensor + k];
        if (outputs[k].alias != FR_NONE)
            outputs[k].alias = w->new_tensor[outputs[k].alias];
        w->new_tensor[op.first_tensor + k] = w->n_tensors++;
    }
    fr_graph_builder_op(w->b, &op, g->layer_names[op.layer], outputs, op.n_tensors);
    fr__arena_rewind(w->scratch, mark);
    return FR_OK;
}

/* Adds all ops in the order in which they run: the copies of a group just before the first op that
 * reads one. */
static enum fr_status add_ops(struct rewriting *w, struct fr_error *err)
{
    for (uint32_t o = 0; o < w->g->n_ops; o++) {
        for (uint32_t group = w->group_at[o]; group != FR_NONE; group = w->next_group[group])
            for (uint32_t k = w->groups.first[group]; k < w->groups.first[group + 1]; k++)
                if (w->is_copied[w->groups.ops[k]])
                    FR_TRY(copy_op(w, w->groups.ops[k], err));
        FR_TRY(keep_op(w, o, err));
    }
    return FR_OK;
}

static void keep_edges(struct rewriting *w)
{
    const struct fr_graph *g = w->g;

    for (size_t i = 0; i < g->n_edges; i++) {
        const struct fr_edge *e = &g->edges[i];
        uint32_t dst = w->new_op[e->dst];

        if (is_tie(e))
            fr_graph_builder_tie(w->b, w->new_op[e->src], dst);
        else if (e->tensor == FR_NONE)
            fr_graph_builder_edge(w->b, w->new_op[e->src], dst, FR_NONE, 0);
        else if (is_redirected(w, e))
            fr_graph_builder_edge(w->b, w->copy_op[e->src], dst, w->copy_tensor[e->tensor],
                                  e->bytes);
        else
            fr_graph_builder_edge(w->b, w->new_op[e->src], dst, w->new_tensor[e->tensor], e->bytes);
    }
}

/* What the copy of o reads. Returns whether another copy is among it. */
static bool add_copy_edges(struct rewriting *w, uint32_t o)
{
    const struct fr_graph *g = w->g;
    bool has_copy = false;

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];
        bool is_copy = is_inside(w, e) && w->is_copied[e->src];

        if (is_tie(e))
            continue;
        if (e->tensor == FR_NONE)
            fr_graph_builder_edge(w->b, is_copy ? w->copy_op[e->src] : w->new_op[e->src],
                                  w->copy_op[o], FR_NONE, 0);
        else if (is_copy)
            fr_graph_builder_edge(w->b, w->copy_op[e->src], w->copy_op[o],
                                  w->copy_tensor[e->tensor], e->bytes);
        else
            fr_graph_builder_edge(w->b, w->new_op[e->src], w->copy_op[o], w->new_tensor[e->tensor],
                                  e->bytes);
        has_copy = has_copy || is_copy;
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
        if (!is_tie(&w->g->edges[i]) && is_inside(w, &w->g->edges[i]))
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

/* Fills `waits` with the ops that the copies of a group wait for: where the gradient of the group's
 * end is complete. These are its own sums of gradients before `place`; else who brings gradients
 * from outside; else, where the loss itself is in the group, the end of its forward pass. waits:
 * room for n_ops. Returns how many. */
static size_t find_waits(const struct rewriting *w, uint32_t group, uint32_t waits[])
{
    const uint32_t *ops = w->groups.ops, end = w->groups.first[group + 1];
    uint32_t place = w->place[group];
    size_t n = 0;

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
                fr_graph_builder_edge(w->b, w->copy_op[ops[k]], w->new_op[ops[i]], FR_NONE, 0);
    }
}

/* Adds what the copies of each group read; those that read no other copy wait. */
static enum fr_status add_copies_edges(struct rewriting *w, struct fr_error *err)
{
    uint32_t *waits = fr__arena_take(w->scratch, w->g->n_ops, sizeof(*waits));

    if (!waits)
        return fr__fail_nomem(err);
    for (uint32_t group = 0; group < w->groups.n_groups; group++) {
        size_t n = w->place[group] == FR_NONE ? 0 : find_waits(w, group, waits);

        for (uint32_t k = w->groups.first[group]; k < w->groups.first[group + 1]; k++) {
            uint32_t o = w->groups.ops[k];

            if (!w->is_copied[o] || add_copy_edges(w, o))
                continue;
            for (size_t i = 0; i < n; i++)
                fr_graph_builder_edge(w->b, w->new_op[waits[i]], w->copy_op[o], FR_NONE, 0);
        }
        if (w->runs_all && n > 0)
            wait_for_end(w, group);
    }
    return FR_OK;
}

static void add_samples(struct rewriting *w)
{
    const struct fr_graph *g = w->g;

    for (size_t i = 0; i < g->n_samples; i++) {
        const struct fr_sample *s = &g->samples[i];

        fr_graph_builder_sample(w->b, w->new_op[s->op], s->device, s->batch, s->time_s);
        if (w->is_copied[s->op])
            fr_graph_builder_sample(w->b, w->copy_op[s->op], s->device, s->batch, s->time_s);
    }
}

/* ---- the whole ---- */

/* Groups from last to first, so that those of one place stand in order. */
static enum fr_status place_groups(struct rewriting *w, struct fr_error *err)
{
    w->place = fr__arena_take(w->scratch, w->groups.n_groups, sizeof(*w->place));
    w->next_group = fr__arena_take(w->scratch, w->groups.n_groups, sizeof(*w->next_group));
    if (!w->place || !w->next_group)
        return fr__fail_nomem(err);
    memset(w->place, 0xff, w->groups.n_groups * sizeof(*w->place)); /* FR_NONE each */
    copy_what_is_read(w);
    if (w->runs_all)
        copy_all(w);
    for (uint32_t group = (uint32_t)w->groups.n_groups; group-- > 0;) {
        if (w->place[group] == FR_NONE)
            continue;
        w->place[group] = place_of(w, group, w->place[group]);
        w->next_group[group] = w->group_at[w->place[group]];
        w->group_at[w->place[group]] = group;
    }
    FR_TRY(refuse_overwriting(w, err));
    return refuse_late_forward(w, err);
}

static uint32_t *nones(struct fr__arena *arena, size_t n)
{
    uint32_t *ids = fr__arena_take(arena, n, sizeof(*ids));

    if (ids)
        memset(ids, 0xff, n * sizeof(*ids)); /* FR_NONE each */
    return ids;
}

static bool allocate(struct rewriting *w)
{
    const struct fr_graph *g = w->g;

    w->keep = fr__arena_new();
    w->scratch = fr__arena_new();
    w->b = fr_graph_builder_new();
    if (!w->keep || !w->scratch || !w->b)
        return false;
    w->is_copied = fr__arena_alloc(w->scratch, g->n_ops, sizeof(*w->is_copied));
    w->group_at = nones(w->scratch, g->n_ops);
    w->new_op = nones(w->scratch, g->n_ops);
    w->copy_op = nones(w->scratch, g->n_ops);
    w->new_tensor = nones(w->scratch, g->n_tensors);
    w->copy_tensor = nones(w->scratch, g->n_tensors);
    w->from = fr__arena_take(w->keep, 2 * g->n_ops, sizeof(*w->from));
    return w->is_copied && w->group_at && w->new_op && w->copy_op && w->new_tensor &&
           w->copy_tensor && w->from;
}

static enum fr_status rewrite(struct rewriting *w, const struct fr__recompute_problem *in,
                              struct fr_graph **out, struct fr_error *err)
{
    FR_TRY(fr__groups_find(&w->groups, in, w->scratch, err));
    FR_TRY(place_groups(w, err));
    FR_TRY(add_ops(w, err));
    keep_edges(w);
    FR_TRY(add_copies_edges(w, err));
    add_samples(w);
    return fr_graph_builder_finish(w->b, w->g, out, err);
}

enum fr_status fr__recompute(struct fr__recomputed *out, const struct fr__recompute_problem *in,
                             struct fr_error *err)
{
    struct rewriting w = {.g = in->graph, .runs_all = in->runs_all};
    struct fr_graph *g = NULL;
    enum fr_status st = allocate(&w) ? rewrite(&w, in, &g, err) : fr__fail_nomem(err);

    if (st == FR_OK)
        *out = (struct fr__recomputed){g, w.from, w.keep};
    else
        fr__arena_free(w.keep);
    fr_graph_builder_free(w.b);
    fr__arena_free(w.scratch);
    return st;
}

void fr__recomputed_free(struct fr__recomputed *r)
{
    fr_graph_free(r->graph);
    fr__arena_free(r->priv);
    *r = (struct fr__recomputed){0};
}
