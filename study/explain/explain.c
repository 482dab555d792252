/* study/explain/explain.c - asks a strategy for its decisions and keeps them.
 *
 * It is separate from the answers of questions: nothing is simulated, unless the plan splits ops or
 * a run decides where stages are cut.
 */
#include "config.h"

#include "study/explain/kept.h"

#include "base/error.h"
#include "calibrate/power/clocks.h"
#include "lowering/cut_runs.h"
#include "strategies/list.h"
#include "study/answer/record.h"
#include "study/recipes/recipes.h"

#include <stdlib.h>

static bool explains(const struct fr_strategy *s)
{
    return s->explain;
}

/* Of the stages that an answer would have: where further runs may decide, an answer is asked for
 * the cut that it takes. What cannot be run is explained as planned. */
static enum fr_status explain_cut(struct fr_explanation *e, const struct fr_strategy *strategy,
                                  const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_context quiet = {
        .seed = ctx->seed, .cancel = ctx->cancel, .memory_bytes = ctx->memory_bytes};
    struct fr_cut_choice cut = {.kind = 0};
    struct fr_record *record = NULL;
    enum fr_status st;

    e->problem.cut = &cut;
    st = strategy->explain(&e->problem, ctx, &e->decisions, err);
    if (st == FR_OK && fr__cut_may_want_runs(&cut)) {
        st = fr_answer_on(&e->setting, &e->question, &quiet, &record, err);
        cut = (struct fr_cut_choice){.kind = st == FR_OK ? record->cut_kind : 0};
        st = st == FR_ECANCELLED || st == FR_ENOMEM ? st : FR_OK;
        fr_record_free(record);
    }
    if (st == FR_OK && cut.kind > 0) {
        fr_decisions_free(e->decisions);
        e->decisions = NULL;
        st = strategy->explain(&e->problem, ctx, &e->decisions, err);
    }
    e->problem.cut = NULL;
    return st;
}

static enum fr_status explain(struct fr_explanation *e, const struct fr_context *ctx,
                              struct fr_error *err)
{
    const struct fr_strategy *strategy = NULL;
    char names[160];

    if (!e->question.strategy)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "no strategy given (-s, --strategy)");
    FR_TRY(fr_strategy_parse(e->question.strategy, &strategy, &e->values, err));
    FR_TRY(fr__recipe_apply(&e->question, strategy, &e->values, err));
    if (!strategy->explain)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "strategy '%s' has nothing to explain, expected %s", strategy->name,
                        fr__strategy_names(explains, " or ", names, sizeof(names)));
    FR_TRY(fr_setting_load(&e->setting, &e->question, err));
    FR_TRY(fr__problem_make(&e->problem, &e->devices, &e->setting, &e->question, err));
    e->problem.options = &e->values;
    FR_TRY(fr__clocks_make(&e->clocks, &e->setting, &e->question, e->devices, e->problem.n_devices,
                           NULL, err));
    e->problem.clocks = e->clocks;
    FR_TRY(explain_cut(e, strategy, ctx, err));
    if (!e->decisions->layout)
        return FR_OK;
    e->question.iterations = 1;
    return fr_answer_on(&e->setting, &e->question, ctx, &e->record, err); /* for its times */
}

enum fr_status fr_explain(struct fr_explanation **out, const struct fr_question *q,
                          const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_context nothing = {0};
    struct fr_explanation *e = calloc(1, sizeof(*e));
    enum fr_status st;

    if (!e)
        return fr__fail_nomem(err);
    e->question = *q;
    st = explain(e, ctx ? ctx : &nothing, err);
    if (st == FR_OK)
        *out = e;
    else
        fr_explanation_free(e);
    return st;
}

void fr_explanation_free(struct fr_explanation *e)
{
    if (!e)
        return;
    fr_record_free(e->record);
    fr_decisions_free(e->decisions);
    free(e->devices);
    fr__clocks_free(e->clocks);
    fr_setting_fini(&e->setting);
    free(e);
}

bool fr_explanation_is_pipeline(const struct fr_explanation *e)
{
    return e->decisions->pipeline != NULL;
}

bool fr_explanation_is_layout(const struct fr_explanation *e)
{
    return e->decisions->layout != NULL;
}
