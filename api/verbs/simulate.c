/* api/verbs/simulate.c - one workload, one cluster, one strategy. */
#include "config.h"

#include "base/error.h"
#include "api/verbs/verbs.h"
#include "study/answer/staging.h"

static void print_decision(void *user, const char *line)
{
    fprintf(user, "%s\n", line);
}

/* Plans of more tasks take seconds: the question is not asked a second time. */
enum { MOST_TASKS = 100000 };

/* Asks the same question with ideal software, for comparison. Not done for an answer that was
 * corrected by measured steps: they were measured under real software. */
static enum fr_status ask_ideal(struct fr__call *s, const struct fr_question *asked,
                                struct fr_record *record, struct fr_error *err)
{
    struct fr_question q = *asked;
    struct fr_record *ideal;

    if (!record->recipe || record->oom || record->correction.is_asked ||
        fr_plan_view(record->plan)->n_tasks > MOST_TASKS)
        return FR_OK;
    q.recipe = NULL;
    q.sensitivity = FR_SENSITIVITY_NONE;
    q.with_advice = false;
    FR_TRY(fr_answer(&q, &s->context, &ideal, err));
    record->ideal_iteration_s = ideal->oom ? 0 : ideal->iteration_s;
    fr_record_free(ideal);
    return FR_OK;
}

enum fr_status fr__verb_simulate(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_question q;
    struct fr_record *record;
    const struct fr_record *records[1];
    struct fr_results rs = {.records = records,
                            .n = 1,
                            .terms = &o->terms,
                            .trace = &o->trace,
                            .is_verbose = o->verbose};
    enum fr_status st;

    if (o->n_strategies > 1)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "%zu strategies given, 'forerun simulate' takes one; try 'forerun compare'",
                        o->n_strategies);
    FR_TRY(fr__options_ask_job(&s->options, true, err));
    rs.job = o->job;
    q = o->question;
    q.strategy = o->n_strategies ? o->strategies[0] : NULL;
    if (fr_staging_is_for(&q))
        return fr__verb_stages(s, &q, err);
    q.sensitivity = fr__options_sensitivity(o);
    q.with_advice = !o->no_advice;
    FR_TRY(fr__check_files(o, FR_KIND_RUN, err));
    FR_TRY(fr__check_terms(o, err));
    if (o->verbose) {
        s->context.log = print_decision;
        s->context.log_user = s->notes;
    }
    FR_TRY(fr_answer(&q, &s->context, &record, err));
    records[0] = record;
    st = ask_ideal(s, &q, record, err);
    if (st == FR_OK)
        st = fr__write_results(s, &rs, err);
    s->status = record->oom ? FR_CALL_NO_MEMORY : fr__call_doubts(s, records, 1);
    fr_record_free(record);
    return st;
}
