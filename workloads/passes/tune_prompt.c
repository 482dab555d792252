/* workloads/passes/tune_prompt.c - prompt tuning: learned tokens before the words' embeddings. */
#include "config.h"

#include "workloads/passes/tune_parts.h"

#include "workloads/graph/elements.h"

/* ---- where words come in ---- */

static bool looks_up_words(const struct fr_graph *g, uint32_t o)
{
    const struct fr_op *op = &g->ops[o];

    return op->phase == FR_PHASE_FORWARD && op->kind == FR_OP_EMBEDDING && op->scales &&
           op->shape.of == FR_SHAPE_EMBEDDING && g->tensors[op->first_tensor].n_dims == 3;
}

bool fr__tune_is_words(const struct fr_graph *g, uint32_t o)
{
    uint64_t vocabulary = looks_up_words(g, o) ? g->ops[o].shape.embedding.vocabulary : 0;

    for (uint32_t i = 0; vocabulary && i < g->n_ops; i++)
        if (looks_up_words(g, i) && (g->ops[i].shape.embedding.vocabulary > vocabulary ||
                                     (g->ops[i].shape.embedding.vocabulary == vocabulary && i < o)))
            return false;
    return vocabulary > 0;
}

/* A tensor of [batch][positions]... with other positions. */
static struct fr_tensor with_rows(const struct fr_tensor *t, uint32_t rows)
{
    struct fr_tensor out = *t;

    out.bytes = out.bytes / out.dims[1] * rows;
    out.dims[1] = rows;
    return out;
}

/* ---- ops ---- */

void fr__tune_add_words(struct fr__tuned *t, uint32_t o)
{
    struct fr_op op = fr__rewriter_op(&t->w, o);
    const struct fr_tensor *given = &t->g->tensors[op.first_tensor];
    struct fr_tensor out = with_rows(given, given->dims[1] - t->how->tokens);

    fr__rewriter_put(&t->w, &t->w.now, o, &op, &out);
}

/* Adds an op of the layer of words. Returns the number of its output. */
static uint32_t add(struct fr__tuned *t, uint32_t words, const char *name, struct fr_op op,
                    const struct fr_tensor *out)
{
    op.name = name;
    op.layer = t->g->ops[words].layer;
    op.scales = true;
    fr__rewriter_add(&t->w, words, &op, out, 1);
    return fr__rewriter_n_tensors(&t->w) - 1;
}

/* The learned tokens of each sample. Returns the tensor. */
static uint32_t add_tokens(struct fr__tuned *t, uint32_t words, const struct fr_tensor *all)
{
    enum { INDEX_BYTES = 8, SPLIT_0 = 1, SPLIT_1 = 2 };
    uint32_t tokens = t->how->tokens, width = all->dims[2], index;
    struct fr_tensor numbers = {.bytes = (uint64_t)all->dims[0] * tokens * INDEX_BYTES,
                                .alias = FR_NONE,
                                .dims = {all->dims[0], tokens},
                                .n_dims = 2,
                                .split_mask = SPLIT_0 | SPLIT_1,
                                .scales = true};
    struct fr_tensor out = with_rows(all, tokens);
    struct fr_op op = {.kind = FR_OP_EMBEDDING,
                       .phase = FR_PHASE_FORWARD,
                       .bytes = (double)numbers.bytes + 2 * (double)out.bytes,
                       .param_bytes = (uint64_t)tokens * width * t->g->param_elem_bytes,
                       .n_params = 1,
                       .shape = {.of = FR_SHAPE_EMBEDDING,
                                 .embedding = {(uint64_t)all->dims[0] * tokens, width, tokens}}};

    index = add(t, words, "prompt.index",
                (struct fr_op){.kind = FR_OP_INPUT, .phase = FR_PHASE_INPUT}, &numbers);
    add(t, words, "prompt.embed", op, &out);
    fr__rewriter_read(&t->w, fr__rewriter_n_ops(&t->w) - 1, index);
    return fr__rewriter_n_tensors(&t->w) - 1;
}

void fr__tune_add_prompt(struct fr__tuned *t, uint32_t o)
{
    struct fr_op op = fr__rewriter_op(&t->w, o);
    struct fr_tensor all = t->g->tensors[op.first_tensor];
    struct fr_tensor words = with_rows(&all, all.dims[1] - t->how->tokens);
    double part = (double)words.dims[1] / (double)all.dims[1];
    uint32_t learned, joined;

    op.is_frozen = true;
    op.bytes *= part;
    op.shape.embedding.rows = (uint64_t)all.dims[0] * words.dims[1];
    fr__rewriter_put(&t->w, &t->w.now, o, &op, &words);
    learned = add_tokens(t, o, &all);
    joined =
        add(t, o, "prompt.join",
            (struct fr_op){
                .kind = FR_OP_CONCAT, .phase = FR_PHASE_FORWARD, .bytes = 2 * (double)all.bytes},
            &all);
    fr__rewriter_read(&t->w, fr__rewriter_n_ops(&t->w) - 1, learned);
    fr__rewriter_read(&t->w, fr__rewriter_n_ops(&t->w) - 1,
                      t->w.now.tensor[t->g->ops[o].first_tensor]);
    t->w.now.tensor[t->g->ops[o].first_tensor] = joined;
}
