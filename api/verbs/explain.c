/* api/verbs/explain.c - how a planner came to its plan. */
#include "config.h"

#include "base/error.h"
#include "api/verbs/verbs.h"
#include "results/explain.h"

/* ---- one plan, or several pipelines ---- */

static enum fr_status tell_one(struct fr__call *s, const struct fr_explanation *e,
                               struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    const struct fr_explanation_answer a = {e, {.n_ops = o->most_ops, .op = o->op}};

    FR_TRY(fr__show_files(s, fr_shown_explanation(&a), err));
    if (o->json)
        return fr_explanation_print_json(s->out, e, err);
    FR_TRY(fr_show_text(s->out, fr_shown_explanation(&a), 0, err));
    if (!fr_explanation_is_pipeline(e))
        return FR_OK;
    putc('\n', s->out);
    return fr_explanation_print_pipelines(s->out, &e, 1, false, err);
}

static enum fr_status tell_pipelines(struct fr__call *s, const struct fr_explanation *const es[],
                                     size_t n, struct fr_error *err)
{
    const struct fr__options *o = &s->options;

    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(fr__file_done(
            s, fr_explanation_write_pipelines(es, n, o->files[i], &s->context, err), err));
    return fr_explanation_print_pipelines(s->out, es, n, o->json, err);
}

static enum fr_status explain_all(struct fr__call *s, struct fr_explanation *es[], size_t *n,
                                  struct fr_error *err)
{
    const struct fr__options *o = &s->options;

    do {
        struct fr_question q = o->question;

        q.strategy = o->n_strategies ? o->strategies[*n] : NULL;
        FR_TRY(fr_explain(&es[*n], &q, &s->context, err));
        (*n)++;
    } while (*n < o->n_strategies);
    return FR_OK;
}

/* What software makes one kernel of, and how images lie, if the question or its recipe says so. */
static enum fr_status tell_fusions(FILE *f, const struct fr__options *o, struct fr_error *err)
{
    const struct fr_workload_options opt = fr_question_workload(&o->question);
    struct fr_graph *g;

    if (o->json || (opt.fusions == 0 && opt.layout == FR_LAYOUT_DEFAULT))
        return FR_OK;
    FR_TRY(fr_question_graph(&g, &o->question, &opt, err));
    fr__print_fusions(f, g);
    fr__print_layout(f, g);
    fr_graph_free(g);
    return FR_OK;
}

enum fr_status fr__verb_explain(struct fr__call *s, struct fr_error *err)
{
    struct fr_explanation *es[FR__MOST_STRATEGIES];
    size_t n = 0;
    enum fr_status st;

    FR_TRY(fr__check_files(&s->options, FR_KIND_EXPLANATION, err));
    st = explain_all(s, es, &n, err);
    if (st == FR_OK && n == 1 &&
        (fr_explanation_is_layout(es[0]) || !fr_explanation_is_pipeline(es[0])))
        st = tell_one(s, es[0], err);
    else if (st == FR_OK)
        st = tell_pipelines(s, (const struct fr_explanation *const *)es, n, err);
    if (st == FR_OK)
        st = tell_fusions(s->out, &s->options, err);
    for (size_t i = 0; i < n; i++)
        fr_explanation_free(es[i]);
    return st;
}
