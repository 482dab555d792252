/* cli/explain.c - how a planner came to its plan. */
#include "config.h"

#include "base/error.h"
#include "cli/cli.h"
#include "results/explain.h"

enum fr_status cli_explain(struct session *s, struct fr_error *err)
{
    const struct options *o = &s->options;
    struct fr_explanation_view view = {.n_ops = o->most_ops, .op = o->op};
    struct fr_question q = o->question;
    struct fr_explanation *e;
    enum fr_status st = FR_OK;

    if (o->n_strategies > 1)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "%zu strategies given, 'forerun explain' takes one", o->n_strategies);
    q.strategy = o->n_strategies ? o->strategies[0] : NULL;
    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(fr_explanation_check_path(o->files[i], err));
    FR_TRY(fr_explain(&e, &q, &s->context, err));
    for (size_t i = 0; i < o->n_files && st == FR_OK; i++)
        st = fr_explanation_write(e, o->files[i], &s->context, err);
    if (st == FR_OK && o->json)
        fr_explanation_print_json(stdout, e);
    else if (st == FR_OK)
        st = fr_explanation_print(stdout, e, &view, err);
    fr_explanation_free(e);
    return st;
}
