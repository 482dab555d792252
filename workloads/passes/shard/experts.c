/* workloads/passes/shard/experts.c - which experts a rank holds, and how many rows they get.
 *
 * A rank holds n/ep of a layer's n experts; the ops of the others are left out of its graph. An
 * expert works on the rows that all ranks of its group have for it: on ep * etp times those of the
 * given graph, where tokens are shared evenly.
 */
#include "config.h"

#include "workloads/passes/shard/walk.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static const struct fr__shard_experts *experts(const struct fr__sharding *s)
{
    return &s->in->experts;
}

static bool is_dispatch(const struct fr_op *op)
{
    return op->kind == FR_OP_GATHER && op->n_tensors > 1;
}

uint32_t fr__shard_n_experts(const struct fr_graph *g)
{
    for (size_t o = 0; o < g->n_ops; o++)
        if (is_dispatch(&g->ops[o]) && g->ops[o].phase == FR_PHASE_FORWARD)
            return (uint32_t)g->ops[o].n_tensors;
    return 0;
}

/* ---- which experts ---- */

static const struct fr_op *forward_of(const struct fr__sharding *s, uint32_t op)
{
    const struct fr_op *o = &s->g->ops[op];

    return o->phase <= FR_PHASE_FORWARD || o->forward == FR_NONE ? o : &s->g->ops[o->forward];
}

/* The expert whose rows tensor t holds, also on the way to it and from it; FR_NONE. */
uint32_t fr__sharding_expert(const struct fr__sharding *s, uint32_t t)
{
    uint32_t like = s->twin[t];
    const struct fr_op *op;

    if (!s->expert_of || like == FR_NONE)
        return FR_NONE;
    op = &s->g->ops[s->g->tensors[like].op];
    return is_dispatch(op) ? like - op->first_tensor : s->expert_of[s->g->tensors[like].op];
}

/* Experts of the layer, and rows of them all, by a tensor of one of them: from the dispatch that it
 * comes from. */
static uint32_t dispatch_of(const struct fr__sharding *s, uint32_t op)
{
    while (!is_dispatch(&s->g->ops[op])) {
        uint32_t next = s->dispatch_of[op];

        if (next == op || next == FR_NONE)
            return FR_NONE;
        op = next;
    }
    return op;
}

bool fr__sharding_is_elsewhere(const struct fr__sharding *s, uint32_t op)
{
    uint32_t f = (uint32_t)(forward_of(s, op) - s->g->ops), expert, n;

    if (!s->expert_of || s->expert_of[f] == FR_NONE)
        return false;
    expert = s->expert_of[f];
    n = s->g->ops[dispatch_of(s, f)].n_tensors / experts(s)->ep;
    return expert / n != experts(s)->coord;
}

/* Whether op o writes what goes to experts: a dispatch, or the gradients of a
 * combine. */
bool fr__sharding_sends(const struct fr__sharding *s, uint32_t o)
{
    const struct fr_op *op = &s->g->ops[o], *f = forward_of(s, o);

    if (!s->expert_of)
        return false;
    if (fr__sharding_runs_forward(op))
        return is_dispatch(f);
    return op->phase == FR_PHASE_BACKWARD_DATA && f->kind == FR_OP_SCATTER &&
           op->kind == FR_OP_SCATTER;
}

bool fr__sharding_receives(const struct fr__sharding *s, uint32_t o)
{
    const struct fr_op *op = &s->g->ops[o], *f = forward_of(s, o);

    if (!s->expert_of)
        return false;
    if (fr__sharding_runs_forward(op))
        return f->kind == FR_OP_SCATTER;
    return op->phase == FR_PHASE_BACKWARD_DATA && is_dispatch(f) && op->kind == FR_OP_GATHER;
}

bool fr__sharding_is_here(const struct fr__sharding *s, uint32_t t)
{
    uint32_t e = fr__sharding_expert(s, t), op = dispatch_of(s, s->g->tensors[s->twin[t]].op);

    return e / (s->g->ops[op].n_tensors / experts(s)->ep) == experts(s)->coord;
}

/* ---- how many rows ---- */

/* Rows that expert `e` of the dispatch gets, over those of the given graph. */
static double share(const struct fr__sharding *s, uint32_t dispatch, uint32_t e)
{
    const struct fr_op *op = &s->g->ops[dispatch];
    const struct fr_tensor *t = &s->g->tensors[op->first_tensor];
    uint32_t ep = experts(s)->ep;
    double rows = 0, ratio = 1;

    for (uint32_t k = 0; k < op->n_tensors; k++)
        rows += t[k].dims[1];
    if (experts(s)->shares)
        return t[e].dims[1] ? experts(s)->shares[e] * rows / t[e].dims[1] : 1;
    if (experts(s)->is_balanced && t[e].dims[1])
        ratio = rows / op->n_tensors / t[e].dims[1];
    if (ep > 1)
        ratio *=
            e / (op->n_tensors / ep) == 0 ? experts(s)->skew : (ep - experts(s)->skew) / (ep - 1);
    return ratio;
}

double fr__sharding_rows(const struct fr__sharding *s, uint32_t t)
{
    uint32_t e = fr__sharding_expert(s, t), op;
    double all = s->is_raw ? 1 : (double)experts(s)->ep * experts(s)->etp;

    if (e == FR_NONE)
        return 1;
    op = dispatch_of(s, s->g->tensors[s->twin[t]].op);
    return op == FR_NONE ? 1 : share(s, op, e) * all;
}

double fr__sharding_load(const struct fr__sharding *s, uint32_t t)
{
    uint32_t op = dispatch_of(s, s->g->tensors[s->twin[t]].op), ep = experts(s)->ep;
    double all = 0, most = 0;

    if (op == FR_NONE)
        return 1;
    for (uint32_t group = 0, n = s->g->ops[op].n_tensors / ep; group < ep; group++) {
        double rows = 0;

        for (uint32_t e = group * n; e < (group + 1) * n; e++)
            rows += share(s, op, e) * s->g->tensors[s->g->ops[op].first_tensor + e].dims[1];
        all += rows;
        most = rows > most ? rows : most;
    }
    return all > 0 ? most / all * ep : 1;
}

double fr__sharding_rows_of_op(const struct fr__sharding *s, uint32_t f)
{
    uint32_t dispatch;

    if (!s->expert_of || s->expert_of[f] == FR_NONE)
        return 1;
    dispatch = dispatch_of(s, f);
    return share(s, dispatch, s->expert_of[f]) * experts(s)->ep * experts(s)->etp;
}

/* ---- making ready ---- */

static enum fr_status check_layer(const struct fr__sharding *s, uint32_t o, struct fr_error *err)
{
    const struct fr_op *op = &s->g->ops[o];
    const struct fr__shard_experts *x = experts(s);

    if (op->n_tensors % x->ep)
        return fr__fail(err, FR_EUSAGE, op->loc,
                        "the %u experts of op '%s' are not shared alike by %u ranks",
                        (unsigned)op->n_tensors, op->name, (unsigned)x->ep);
    if (x->shares && op->n_tensors != x->n_shares)
        return fr__fail(err, FR_EUSAGE, op->loc,
                        "shares of %u experts are given, but op '%s' has %u", (unsigned)x->n_shares,
                        op->name, (unsigned)op->n_tensors);
    for (uint32_t k = 0; k < op->n_tensors; k++)
        if (s->g->tensors[op->first_tensor + k].n_dims != 3)
            return fr__fail(err, FR_EUSAGE, op->loc,
                            "the outputs of op '%s' are no rows of tokens, so its experts cannot "
                            "be split",
                            op->name);
    return FR_OK;
}

/* An op that reads the rows of two experts belongs to neither. */
static enum fr_status check_apart(const struct fr__sharding *s, uint32_t o, struct fr_error *err)
{
    const struct fr_graph *g = s->g;

    for (uint32_t i = g->in_first[o]; s->expert_of[o] != FR_NONE && i < g->in_first[o + 1]; i++) {
        uint32_t t = g->edges[g->in_edges[i]].tensor;
        uint32_t expert = t == FR_NONE ? FR_NONE : fr__sharding_expert(s, t);

        if (expert != FR_NONE && expert != s->expert_of[o])
            return fr__fail(err, FR_EUSAGE, g->ops[o].loc,
                            "op '%s' reads what several experts write, but is no scatter, so they "
                            "cannot be held by several ranks",
                            g->ops[o].name);
    }
    return FR_OK;
}

/* Which dispatch the rows of each op of an expert come from, step by step. */
static void find_dispatches(struct fr__sharding *s)
{
    const struct fr_graph *g = s->g;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        s->dispatch_of[o] = FR_NONE;
        if (is_dispatch(&g->ops[o]) && g->ops[o].phase == FR_PHASE_FORWARD)
            s->dispatch_of[o] = o;
        if (s->expert_of[o] == FR_NONE)
            continue;
        for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
            const struct fr_edge *e = &g->edges[g->in_edges[i]];

            if (e->tensor != FR_NONE && s->dispatch_of[e->src] != FR_NONE)
                s->dispatch_of[o] = s->dispatch_of[e->src];
        }
    }
}

enum fr_status fr__sharding_find_experts(struct fr__sharding *s, struct fr_error *err)
{
    const struct fr__shard_experts *x = experts(s);
    bool has_any = false;

    if (x->ep <= 1 && x->etp <= 1)
        return FR_OK;
    if (x->coord >= x->ep || (!x->shares && !(x->skew >= 1 && x->skew <= x->ep)))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "a skew of %g among %u groups of experts, not 1 to %u", x->skew,
                        (unsigned)x->ep, (unsigned)x->ep);
    s->expert_of = fr__arena_alloc(s->w.scratch, s->g->n_ops, sizeof(*s->expert_of));
    s->dispatch_of = fr__arena_alloc(s->w.scratch, s->g->n_ops, sizeof(*s->dispatch_of));
    if (!s->expert_of || !s->dispatch_of)
        return fr__fail_nomem(err);
    fr__graph_experts(s->g, s->expert_of);
    find_dispatches(s);
    for (uint32_t o = 0; o < s->g->n_ops; o++) {
        FR_TRY(check_apart(s, o, err));
        if (s->dispatch_of[o] == o) {
            has_any = true;
            FR_TRY(check_layer(s, o, err));
        }
    }
    if (!has_any)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' has no layer of experts to share among ranks", s->g->name);
    return FR_OK;
}

/* All ranks of the other axes have tokens of their own, else experts would get copies. */
enum fr_status fr__sharding_check_tokens(const struct fr__sharding *s, struct fr_error *err)
{
    for (uint32_t o = 0; s->expert_of && o < s->g->n_ops; o++)
        for (size_t a = 0; s->dispatch_of[o] == o && a < s->n_axes; a++) {
            uint8_t split = s->split[a * s->g->n_ops + o];

            if (a != s->etp_axis && s->axes[a].size > 1 && split != FR__SPLIT_SAMPLES &&
                split != FR__SPLIT_SEQUENCE)
                return fr__fail(err, FR_EUSAGE, s->g->ops[o].loc,
                                "the ranks of '%s' have the same tokens at op '%s', so experts "
                                "would get copies of them: with experts on ranks of their own, "
                                "split the sequence over '%s' too",
                                s->axes[a].name, s->g->ops[o].name, s->axes[a].name);
        }
    return FR_OK;
}
