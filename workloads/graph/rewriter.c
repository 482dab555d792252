/* workloads/graph/rewriter.c - copies a graph with changes, on top of a builder. */
#include "config.h"

#include "workloads/graph/rewriter.h"

#include "base/error.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

enum fr_status fr__rewriter_init(struct fr__rewriter *w, const struct fr_graph *g,
                                 struct fr_error *err)
{
    *w = (struct fr__rewriter){.g = g, .b = fr_graph_builder_new(), .scratch = fr__arena_new()};
    if (w->b && w->scratch && fr__rewriter_add_counterparts(w, &w->now))
        return FR_OK;
    fr__rewriter_fini(w);
    return fr__fail_nomem(err);
}

void fr__rewriter_fini(struct fr__rewriter *w)
{
    fr_graph_builder_free(w->b);
    fr__arena_free(w->scratch);
    free(w->from);
    *w = (struct fr__rewriter){.g = NULL};
}

void fr__rewriter_fail(struct fr__rewriter *w)
{
    w->b->is_out_of_memory = true;
}

bool fr__rewriter_has_failed(const struct fr__rewriter *w)
{
    return w->b->is_out_of_memory || w->b->has_fault;
}

bool fr__rewriter_add_counterparts(struct fr__rewriter *w, struct fr__counterparts *out)
{
    out->op = fr__arena_nones(w->scratch, w->g->n_ops);
    out->tensor = fr__arena_nones(w->scratch, w->g->n_tensors);
    if (!out->op || !out->tensor)
        fr__rewriter_fail(w);
    return out->op && out->tensor;
}

const struct fr_tensor *fr__rewriter_tensor(const struct fr__rewriter *w, uint32_t t)
{
    static const struct fr_tensor none = {.alias = FR_NONE};

    return fr__rewriter_has_failed(w) ? &none : &w->b->tensors[t];
}

static uint32_t counterpart(const uint32_t numbers[], uint32_t id)
{
    return id == FR_NONE ? FR_NONE : numbers[id];
}

/* ---- ops ---- */

const char *fr__rewriter_name(struct fr__rewriter *w, const char *base, const char *suffix,
                              uint32_t number)
{
    enum { LONGEST_NUMBER = 10 };
    size_t len = strlen(base) + strlen(suffix) + LONGEST_NUMBER + sizeof(".");
    char *name = fr__arena_take(w->scratch, len, 1);

    if (!name) {
        fr__rewriter_fail(w);
        return "";
    }
    if (number == FR_NONE)
        snprintf(name, len, "%s.%s", base, suffix);
    else
        snprintf(name, len, "%s.%s%u", base, suffix, number);
    return name;
}

struct fr_op fr__rewriter_op(const struct fr__rewriter *w, uint32_t o)
{
    struct fr_op op = w->g->ops[o];

    op.forward = counterpart(w->now.op, op.forward);
    return op;
}

struct fr_tensor fr__rewriter_output(const struct fr__rewriter *w, uint32_t t)
{
    struct fr_tensor out = w->g->tensors[t];

    out.alias = counterpart(w->now.tensor, out.alias);
    return out;
}

struct fr_tensor *fr__rewriter_take(struct fr__rewriter *w, size_t n)
{
    struct fr_tensor *t = fr__arena_alloc(w->scratch, n, sizeof(*t));

    if (!t)
        fr__rewriter_fail(w);
    return t;
}

struct fr_tensor *fr__rewriter_outputs(struct fr__rewriter *w, uint32_t o)
{
    const struct fr_op *op = &w->g->ops[o];
    struct fr_tensor *out = fr__rewriter_take(w, op->n_tensors);

    for (uint32_t k = 0; out && k < op->n_tensors; k++)
        out[k] = fr__rewriter_output(w, op->first_tensor + k);
    return out;
}

uint32_t fr__rewriter_add(struct fr__rewriter *w, uint32_t from, const struct fr_op *op,
                          const struct fr_tensor outputs[], size_t n_outputs)
{
    uint32_t id;

    if (fr__rewriter_has_failed(w))
        return 0;
    if (!fr__grow(&w->from, &w->cap_from, w->b->n_ops + 1, sizeof(*w->from))) {
        fr__rewriter_fail(w);
        return 0;
    }
    id = fr_graph_builder_op(w->b, op, w->g->layer_names[op->layer], outputs, n_outputs);
    if (id == FR_NONE)
        return 0;
    w->from[id] = from;
    return id;
}

uint32_t fr__rewriter_put(struct fr__rewriter *w, const struct fr__counterparts *as, uint32_t o,
                          const struct fr_op *op, const struct fr_tensor outputs[])
{
    const struct fr_op *given = &w->g->ops[o];
    uint32_t base = fr__rewriter_n_tensors(w);

    as->op[o] = fr__rewriter_add(w, o, op, outputs, given->n_tensors);
    for (uint32_t k = 0; k < given->n_tensors; k++)
        as->tensor[given->first_tensor + k] = base + k;
    return as->op[o];
}

uint32_t fr__rewriter_keep(struct fr__rewriter *w, uint32_t o)
{
    struct fr__mark mark = fr__arena_mark(w->scratch);
    const struct fr_op op = fr__rewriter_op(w, o);
    uint32_t id = fr__rewriter_put(w, &w->now, o, &op, fr__rewriter_outputs(w, o));

    fr__arena_rewind(w->scratch, mark);
    return id;
}

/* ---- edges and samples ---- */

void fr__rewriter_edge(struct fr__rewriter *w, uint32_t src, uint32_t dst, uint32_t tensor,
                       uint64_t bytes)
{
    if (src != FR_NONE && dst != FR_NONE && !fr__rewriter_has_failed(w))
        fr_graph_builder_edge(w->b, src, dst, tensor, bytes);
}

void fr__rewriter_tie(struct fr__rewriter *w, uint32_t owner, uint32_t user)
{
    if (owner != FR_NONE && user != FR_NONE && !fr__rewriter_has_failed(w))
        fr_graph_builder_tie(w->b, owner, user);
}

void fr__rewriter_read(struct fr__rewriter *w, uint32_t dst, uint32_t tensor)
{
    const struct fr_tensor *t = fr__rewriter_tensor(w, tensor);

    fr__rewriter_edge(w, t->op, dst, tensor, t->bytes);
}

void fr__rewriter_lead(struct fr__rewriter *w, const struct fr__counterparts *from,
                       const struct fr_edge *e, uint32_t dst)
{
    if (fr__edge_is_tie(e))
        fr__rewriter_tie(w, from->op[e->src], dst);
    else
        fr__rewriter_edge(w, from->op[e->src], dst, counterpart(from->tensor, e->tensor), e->bytes);
}

void fr__rewriter_keep_edge(struct fr__rewriter *w, const struct fr_edge *e)
{
    fr__rewriter_lead(w, &w->now, e, w->now.op[e->dst]);
}

void fr__rewriter_keep_sample(struct fr__rewriter *w, const struct fr__counterparts *from,
                              const struct fr_sample *s)
{
    if (from->op[s->op] != FR_NONE && !fr__rewriter_has_failed(w))
        fr_graph_builder_sample(w->b, from->op[s->op], s->device, s->batch, s->time_s);
}

void fr__rewriter_keep_samples(struct fr__rewriter *w)
{
    for (size_t i = 0; i < w->g->n_samples; i++)
        fr__rewriter_keep_sample(w, &w->now, &w->g->samples[i]);
}

/* ---- the end ---- */

enum fr_status fr__rewriter_finish(struct fr__rewriter *w, const struct fr_graph *info,
                                   struct fr_graph **out, struct fr_error *err)
{
    FR_TRY(fr_graph_builder_finish(w->b, info, out, err));
    w->made = *out;
    return FR_OK;
}

uint32_t *fr__rewriter_from(const struct fr__rewriter *w, struct fr__arena *arena)
{
    size_t n = w->b->n_ops;
    uint32_t *from = fr__arena_take(arena, n, sizeof(*from));

    for (size_t o = 0; o < n; o++) /* they were added in an order in which they run */
        assert(w->made->ops[o].name == w->b->ops[o].name);
    if (from && n > 0)
        memcpy(from, w->from, n * sizeof(*from));
    return from;
}
