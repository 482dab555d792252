/* workloads/passes/untie.c - the rewriting of untie.h. */
#include "config.h"

#include "workloads/passes/untie.h"

#include "base/arena.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

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
    struct fr__arena *keep, *scratch;
    struct fr_graph_builder *b;
    uint32_t *new_op, *new_tensor; /* [n_ops], [n_tensors] */
    uint32_t *parting_of;          /* [n_ops] of user, sum and update: which one; FR_NONE */
    struct parting *partings;
    size_t n_partings;
    uint32_t *from;
    struct fr__untied_pair *pairs;
    uint32_t n_ops, n_tensors;
};

static bool is_tie(const struct fr_edge *e)
{
    return e->tensor == FR_NONE && e->bytes > 0;
}

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

        if (!is_tie(e) || first == FR_NONE || e->src >= first || e->dst <= last ||
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

static enum fr_status copy_op(struct untying *u, uint32_t o, struct fr_error *err)
{
    const struct fr_graph *g = u->g;
    const struct parting *p = parting_of(u, o);
    struct fr_op op = g->ops[o];
    struct fr__mark mark = fr__arena_mark(u->scratch);
    struct fr_tensor *out = fr__arena_take(u->scratch, op.n_tensors + 1, sizeof(*out));

    if (!out)
        return fr__fail_nomem(err);
    u->new_op[o] = u->n_ops;
    u->from[u->n_ops++] = o;
    if (op.forward != FR_NONE)
        op.forward = u->new_op[op.forward];
    if (p && p->user == o) {
        op.param_bytes += p->bytes;
        op.n_params++;
    }
    for (uint32_t k = 0; k < op.n_tensors; k++) {
        out[k] = g->tensors[op.first_tensor + k];
        if (out[k].alias != FR_NONE)
            out[k].alias = u->new_tensor[out[k].alias];
        u->new_tensor[op.first_tensor + k] = u->n_tensors++;
    }
    fr_graph_builder_op(u->b, &op, g->layer_names[op.layer], out, op.n_tensors);
    fr__arena_rewind(u->scratch, mark);
    return FR_OK;
}

/* The update of what the user owns now, like that of the owner. */
static enum fr_status add_update(struct untying *u, const struct parting *p, struct fr_error *err)
{
    const struct fr_graph *g = u->g;
    struct fr_op op = g->ops[p->update];
    const char *user = g->ops[p->user].name;
    struct fr__mark mark = fr__arena_mark(u->scratch);
    size_t len = strlen(user) + sizeof(".update");
    char *name = fr__arena_take(u->scratch, len, 1);
    uint32_t gradient = g->tensors[p->other].op;

    if (!name)
        return fr__fail_nomem(err);
    snprintf(name, len, "%s.update", user);
    op.name = name;
    op.forward = u->new_op[p->user];
    fr_graph_builder_op(u->b, &op, g->layer_names[g->ops[p->user].layer], NULL, 0);
    fr_graph_builder_edge(u->b, u->new_op[gradient], u->n_ops, u->new_tensor[p->other],
                          g->tensors[p->other].bytes);
    u->from[u->n_ops++] = p->update;
    fr__arena_rewind(u->scratch, mark);
    return FR_OK;
}

static enum fr_status add_ops(struct untying *u, struct fr_error *err)
{
    for (uint32_t o = 0; o < u->g->n_ops; o++) {
        const struct parting *p = parting_of(u, o);

        if (is_sum(u, o)) { /* the owner's gradient takes its place */
            u->new_op[o] = u->new_op[u->g->tensors[p->own].op];
            u->new_tensor[u->g->ops[o].first_tensor] = u->new_tensor[p->own];
            continue;
        }
        FR_TRY(copy_op(u, o, err));
        if (p && p->update == o)
            FR_TRY(add_update(u, p, err));
    }
    return FR_OK;
}

static void keep_edges(struct untying *u)
{
    for (size_t i = 0; i < u->g->n_edges; i++) {
        const struct fr_edge *e = &u->g->edges[i];
        const struct parting *p = parting_of(u, e->dst);
        uint32_t src = u->new_op[e->src], dst = u->new_op[e->dst];

        if (is_sum(u, e->dst) || (is_tie(e) && p && p->owner == e->src && p->user == e->dst))
            continue;
        if (is_tie(e))
            fr_graph_builder_tie(u->b, src, dst);
        else if (e->tensor == FR_NONE)
            fr_graph_builder_edge(u->b, src, dst, FR_NONE, 0);
        else
            fr_graph_builder_edge(u->b, src, dst, u->new_tensor[e->tensor], e->bytes);
    }
    for (size_t i = 0; i < u->g->n_samples; i++) {
        const struct fr_sample *s = &u->g->samples[i];

        if (!is_sum(u, s->op))
            fr_graph_builder_sample(u->b, u->new_op[s->op], s->device, s->batch, s->time_s);
    }
}

static bool allocate(struct untying *u)
{
    size_t n = u->g->n_ops;

    u->keep = fr__arena_new();
    u->scratch = fr__arena_new();
    u->b = fr_graph_builder_new();
    if (!u->keep || !u->scratch || !u->b)
        return false;
    u->new_op = fr__arena_alloc(u->scratch, n + 1, sizeof(*u->new_op));
    u->new_tensor = fr__arena_alloc(u->scratch, u->g->n_tensors + 1, sizeof(*u->new_tensor));
    u->parting_of = fr__arena_alloc(u->scratch, n + 1, sizeof(*u->parting_of));
    u->partings = fr__arena_alloc(u->scratch, n + 1, sizeof(*u->partings));
    u->from = fr__arena_alloc(u->keep, 2 * n + 1, sizeof(*u->from));
    if (!u->new_op || !u->new_tensor || !u->parting_of || !u->partings || !u->from)
        return false;
    memset(u->parting_of, 0xff, n * sizeof(*u->parting_of)); /* FR_NONE each */
    return true;
}

static enum fr_status rewrite(struct untying *u, struct fr__untied *out, struct fr_error *err)
{
    find(u);
    if (u->n_partings == 0)
        return FR_OK;
    u->pairs = fr__arena_alloc(u->keep, u->n_partings, sizeof(*u->pairs));
    if (!u->pairs)
        return fr__fail_nomem(err);
    FR_TRY(add_ops(u, err));
    keep_edges(u);
    for (size_t k = 0; k < u->n_partings; k++)
        u->pairs[k] = (struct fr__untied_pair){u->new_op[u->partings[k].owner],
                                               u->new_op[u->partings[k].user]};
    return fr_graph_builder_finish(u->b, u->g, &out->graph, err);
}

enum fr_status fr__untie(struct fr__untied *out, const struct fr_graph *g,
                         const struct fr__units *units, struct fr_error *err)
{
    struct untying u = {.g = g, .units = units};
    struct fr__untied made = {.graph = NULL};
    enum fr_status st = allocate(&u) ? rewrite(&u, &made, err) : fr__fail_nomem(err);

    fr_graph_builder_free(u.b);
    fr__arena_free(u.scratch);
    if (st != FR_OK || !made.graph) {
        fr__arena_free(u.keep);
        u.keep = NULL;
    }
    if (st != FR_OK)
        return st;
    if (made.graph) {
        made.from = u.from;
        made.pairs = u.pairs;
        made.n_pairs = u.n_partings;
        made.priv = u.keep;
    }
    *out = made;
    return FR_OK;
}

void fr__untied_free(struct fr__untied *u)
{
    fr_graph_free(u->graph);
    fr__arena_free(u->priv);
    *u = (struct fr__untied){.graph = NULL};
}
