/* workloads/passes/tune.c - the forward graph of a model of which a part is trained; the rules
 * are in tune.h. */
#include "config.h"

#include "workloads/passes/tune_parts.h"

#include "base/error.h"

/* Whether o brings the token numbers that op `words` looks up. */
static bool brings_words(const struct fr_graph *g, uint32_t o, uint32_t words)
{
    for (uint32_t i = g->out_first[o]; words != FR_NONE && i < g->out_first[o + 1]; i++)
        if (g->edges[i].dst == words && g->ops[o].phase == FR_PHASE_INPUT &&
            g->ops[o].n_tensors == 1 && g->tensors[g->ops[o].first_tensor].n_dims == 2)
            return true;
    return false;
}

static enum fr_status find_words(const struct fr__tuned *t, uint32_t *words, struct fr_error *err)
{
    *words = FR_NONE;
    if (t->how->method != FR__TUNE_PROMPT)
        return FR_OK;
    for (uint32_t o = 0; o < t->g->n_ops && *words == FR_NONE; o++)
        if (fr__tune_is_words(t->g, o))
            *words = o;
    if (*words == FR_NONE)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "'%s' looks no words up, so it has no prompt to tune", t->g->name);
    if (t->g->tensors[t->g->ops[*words].first_tensor].dims[1] <= t->how->tokens)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "a prompt of %u tokens leaves no words of '%s'",
                        t->how->tokens, t->g->name);
    return FR_OK;
}

static void add_op(struct fr__tuned *t, uint32_t o, uint32_t words)
{
    if (o == words)
        fr__tune_add_prompt(t, o);
    else if (brings_words(t->g, o, words))
        fr__tune_add_words(t, o);
    else if (fr__tune_is_linear(t->g, o))
        fr__tune_add_product(t, o);
    else {
        struct fr_op op = fr__rewriter_op(&t->w, o);

        op.is_frozen = t->is_frozen[o];
        fr__rewriter_put(&t->w, &t->w.now, o, &op, fr__rewriter_outputs(&t->w, o));
    }
    if (t->adapted[o] != FR_NONE)
        fr__tune_add_adapter(t, t->adapted[o], o);
}

/* A reader of a tensor reads what stands for it now, whoever writes that. */
static void keep_edge(struct fr__tuned *t, const struct fr_edge *e)
{
    const struct fr_tensor *now;
    uint32_t tensor;

    if (e->tensor == FR_NONE) {
        fr__rewriter_keep_edge(&t->w, e);
        return;
    }
    tensor = t->w.now.tensor[e->tensor];
    now = fr__rewriter_tensor(&t->w, tensor);
    fr__rewriter_edge(&t->w, now->op, t->w.now.op[e->dst], tensor,
                      e->bytes < now->bytes ? e->bytes : now->bytes);
}

static enum fr_status rewrite(struct fr__tuned *t, struct fr_graph **out, struct fr_error *err)
{
    const struct fr_graph *g = t->g;
    struct fr_graph info = *g;
    uint32_t words;

    FR_TRY(fr__tune_find(t, err));
    FR_TRY(find_words(t, &words, err));
    for (uint32_t o = 0; o < g->n_ops && !fr__rewriter_has_failed(&t->w); o++)
        add_op(t, o, words);
    for (size_t i = 0; i < g->n_edges && !fr__rewriter_has_failed(&t->w); i++)
        keep_edge(t, &g->edges[i]);
    fr__rewriter_keep_samples(&t->w);
    info.seq_len -= t->how->tokens;
    return fr__rewriter_finish(&t->w, &info, out, err);
}

enum fr_status fr__tune(const struct fr_graph *forward, const struct fr__tuning *how,
                        struct fr_graph **out, struct fr_error *err)
{
    struct fr__tuned t = {.g = forward, .how = how};
    enum fr_status st;

    FR_TRY(fr__rewriter_init(&t.w, forward, err));
    st = rewrite(&t, out, err);
    fr__rewriter_fini(&t.w);
    return st;
}
