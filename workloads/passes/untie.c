/* workloads/passes/untie.c - the rewriting of untie.h. */
#include "config.h"

#include "workloads/passes/untie.h"

#include "base/error.h"
#include "workloads/graph/rewriter.h"

/* A tie that is parted: ops of the given graph. */
struct parting {
    uint32_t owner, user;
    uint64_t bytes;
    uint32_t sum, update; /* of both gradients; of the owner */
    uint32_t own, other;  /* tensors: gradients of the owner, of the user */
};

struct untying {
    const struct fr_graph *g;
    const struct fr__units *units;
    struct fr__rewriter w;
    uint32_t *parting_of; /* [n_ops] of user, sum and update: which one; FR_NONE */
    struct parting *partings;
    size_t n_partings;
};

/* ---- what is parted ---- */

/* The first and last forward ops of the units. */
static void find_middle(const struct untying *u, uint32_t *first, uint32_t *last)
{
    *first = FR_NONE;
    *last = 0;
    for (uint32_t o = 0; o < u->g->n_ops; o++)
        if (u->g->ops[o].phase == FR_PHASE_FORWARD &&
            u->units->unit_of_layer[u->g->ops[o].layer] != FR_NONE) {
            *first = *first == FR_NONE ? o : *first;
            *last = o;
        }
}

/* The sum of two gradients, one of which derives from op `user`; FR_NONE. */
static uint32_t find_sum(const struct fr_graph *g, uint32_t owner, uint32_t user)
{
    for (uint32_t o = owner; o < g->n_ops; o++) {
        const struct fr_op *op = &g->ops[o];

        if (op->kind != FR_OP_GRAD_ADD || op->phase != FR_PHASE_BACKWARD_WEIGHT ||
            op->forward != owner)
            continue;
        if (g->in_first[o + 1] - g->in_first[o] != 2)
            return FR_NONE;
        for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++)
            if (g->ops[g->edges[g->in_edges[i]].src].forward == user)
                return o;
    }
    return FR_NONE;
}

/* Fills what belongs to a tie; false: it is not as expected. */
static bool complete(const struct fr_graph *g, struct parting *p)
{
    p->sum = find_sum(g, p->owner, p->user);
    p->own = p->other = p->update = FR_NONE;
    if (p->sum == FR_NONE || g->ops[p->user].param_bytes > 0)
        return false;
    for (uint32_t i = g->in_first[p->sum]; i < g->in_first[p->sum + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (g->ops[e->src].forward == p->user)
            p->other = e->tensor;
        else
            p->own = e->tensor;
    }
    for (uint32_t i = g->out_first[p->sum]; i < g->out_first[p->sum + 1]; i++)
        if (g->ops[g->edges[i].dst].phase == FR_PHASE_UPDATE)
            p->update = p->update == FR_NONE ? g->edges[i].dst : FR_NONE;
    return p->own != FR_NONE && p->other != FR_NONE && p->update != FR_NONE;
}

static void find(struct untying *u)
{
    uint32_t first, last;

    find_middle(u, &first, &last);
    for (size_t i = 0; i < u->g->n_edges; i++) {
        const struct fr_edge *e = &u->g->edges[i];
        struct parting p = {.owner = e->src, .user = e->dst, .bytes = e->bytes};

        if (!fr__edge_is_tie(e) || first == FR_NONE || e->src >= first || e->dst <= last ||
            u->parting_of[e->src] != FR_NONE || !complete(u->g, &p))
            continue;
        u->parting_of[p.owner] = u->parting_of[p.user] = u->parting_of[p.sum] =
            u->parting_of[p.update] = (uint32_t)u->n_partings;
        u->partings[u->n_partings++] = p;
    }
}

static const struct parting *parting_of(const struct untying *u, uint32_t o)
{
    return u->parting_of[o] == FR_NONE ? NULL : &u->partings[u->parting_of[o]];
}

static bool is_sum(const struct untying *u, uint32_t o)
{
    return parting_of(u, o) && parting_of(u, o)->sum == o;
}

/* ---- the new graph ---- */

/* What uses the owner's parameters owns some itself now. */
static void keep_op(struct untying *u, uint32_t o)
{
    const struct parting *p = parting_of(u, o);
    struct fr_op op;
    struct fr_tensor *out;

    if (!p || p->user != o) {
        fr__rewriter_keep(&u->w, o);
        return;
    }
    op = fr__rewriter_op(&u->w, o);
    op.param_bytes += p->bytes;
    op.n_params++;
    out = fr__rewriter_outputs(&u->w, o);
    fr__rewriter_put(&u->w, &u->w.now, o, &op, out);
}

/* The update of what the user owns now, like that of the owner. */
static void add_update(struct untying *u, const struct parting *p)
{
    const struct fr_op *user = &u->g->ops[p->user];
    struct fr_op op = u->g->ops[p->update];

    op.name = fr__rewriter_name(&u->w, user->name, "update", FR_NONE);
    op.forward = u->w.now.op[p->user];
    op.layer = user->layer;
    fr__rewriter_read(&u->w, fr__rewriter_add(&u->w, p->update, &op, NULL, 0),
                      u->w.now.tensor[p->other]);
}

static void add_ops(struct untying *u)
{
    for (uint32_t o = 0; o < u->g->n_ops; o++) {
        const struct parting *p = parting_of(u, o);

        if (is_sum(u, o)) { /* the owner's gradient takes its place */
            u->w.now.op[o] = u->w.now.op[u->g->tensors[p->own].op];
            u->w.now.tensor[u->g->ops[o].first_tensor] = u->w.now.tensor[p->own];
            continue;
        }
        keep_op(u, o);
        if (p && p->update == o)
            add_update(u, p);
    }
}

static void keep_edges(struct untying *u)
{
    for (size_t i = 0; i < u->g->n_edges; i++) {
        const struct fr_edge *e = &u->g->edges[i];
        const struct parting *p = parting_of(u, e->dst);
        bool is_parted = fr__edge_is_tie(e) && p && p->owner == e->src && p->user == e->dst;

        if (!is_sum(u, e->dst) && !is_parted)
            fr__rewriter_keep_edge(&u->w, e);
    }
    for (size_t i = 0; i < u->g->n_samples; i++)
        if (!is_sum(u, u->g->samples[i].op))
            fr__rewriter_keep_sample(&u->w, &u->w.now, &u->g->samples[i]);
}

/* What outlives the pass, beside the graph. */
static enum fr_status publish(const struct untying *u, struct fr__untied *out, struct fr_error *err)
{
    struct fr__untied_pair *pairs = fr__arena_take(out->priv, u->n_partings, sizeof(*pairs));

    out->from = fr__rewriter_from(&u->w, out->priv);
    if (!pairs || !out->from)
        return fr__fail_nomem(err);
    for (size_t k = 0; k < u->n_partings; k++)
        pairs[k] = (struct fr__untied_pair){u->w.now.op[u->partings[k].owner],
                                            u->w.now.op[u->partings[k].user]};
    out->pairs = pairs;
    out->n_pairs = u->n_partings;
    return FR_OK;
}

static enum fr_status rewrite(struct untying *u, struct fr__untied *out, struct fr_error *err)
{
    u->parting_of = fr__arena_nones(u->w.scratch, u->g->n_ops);
    u->partings = fr__arena_take(u->w.scratch, u->g->n_ops, sizeof(*u->partings));
    if (!u->parting_of || !u->partings)
        return fr__fail_nomem(err);
    find(u);
    if (u->n_partings == 0)
        return FR_OK;
    add_ops(u);
    keep_edges(u);
    FR_TRY(fr__rewriter_finish(&u->w, u->g, &out->graph, err));
    out->priv = fr__arena_new();
    return out->priv ? publish(u, out, err) : fr__fail_nomem(err);
}

enum fr_status fr__untie(struct fr__untied *out, const struct fr_graph *g,
                         const struct fr__units *units, struct fr_error *err)
{
    struct untying u = {.g = g, .units = units};
    struct fr__untied made = {.graph = NULL};
    enum fr_status st;

    FR_TRY(fr__rewriter_init(&u.w, g, err));
    st = rewrite(&u, &made, err);
    fr__rewriter_fini(&u.w);
    if (st == FR_OK)
        *out = made;
    else
        fr__untied_free(&made);
    return st;
}

void fr__untied_free(struct fr__untied *u)
{
    fr_graph_free(u->graph);
    fr__arena_free(u->priv);
    *u = (struct fr__untied){.graph = NULL};
}
