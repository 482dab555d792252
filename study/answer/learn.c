/* study/answer/learn.c - asks a question about learning: checks it, loads what it names, runs the
 * strategy. */
#include "config.h"

#include "study/answer/learn.h"

#include "base/error.h"
#include "base/names.h"
#include "base/units.h"
#include "calibrate/power/clocks.h"
#include "study/question/interference.h"
#include "study/answer/record.h"
#include "study/session/session.h"
#include "study/question/slow.h"
#include "strategies/list.h"
#include "lowering/learning_new.h"

#include <math.h>
#include <stdlib.h>

void fr_learn_options_init(struct fr_learn_options *o)
{
    *o = (struct fr_learn_options){.rounds = 100,
                                   .iterations = 10,
                                   .period = 500,
                                   .eps = 0.05,
                                   .activation_s = 30,
                                   .drift_factor = 1};
}

static const char *const outcome_names[FR_N_LEARN_OUTCOMES] = {
    [FR_LEARN_FIRST] = "first",
    [FR_LEARN_KEPT] = "kept",
    [FR_LEARN_ROLLED_BACK] = "rolled back",
    [FR_LEARN_SAME] = "same again",
    [FR_LEARN_REJECTED] = "was slower before",
    [FR_LEARN_NOT_BETTER] = "no better",
    [FR_LEARN_WATCHED] = "watched",
    [FR_LEARN_CHANGED] = "has changed",
};
static const struct fr__name_list outcomes = FR__NAMES(outcome_names);

const char *fr_learn_outcome_name(enum fr_learn_outcome o)
{
    return fr__name_of(&outcomes, o);
}

static enum fr_status check(const struct fr_learn_options *o, size_t n_gpus, struct fr_error *err)
{
    char text[40];

    if (o->drift_gpu >= n_gpus)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "option '--drift' names GPU %u, but the GPUs in use are 0 to %zu",
                        o->drift_gpu, n_gpus - 1);
    if (!(o->drift_factor > 0) || !isfinite(o->drift_factor))
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "the factor of a drift is %s, expected a number above 0",
                        fr__format_double(o->drift_factor, text, sizeof(text)));
    if (!(o->eps > 0) || !isfinite(o->eps))
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "eps is %s, expected a number above 0",
                        fr__format_double(o->eps, text, sizeof(text)));
    if (o->iterations == 0)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "0 iterations in a round, at least 1 expected");
    return FR_OK;
}

static bool learns(const struct fr_strategy *s)
{
    return s->learn;
}

static enum fr_status parse_strategy(const char *spec, const struct fr_strategy **out,
                                     struct fr_option_values *values, struct fr_error *err)
{
    char names[160];

    FR_TRY(fr_strategy_parse(spec, out, values, err));
    if ((*out)->learn)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "'%s' does not plan by the costs of operations, so it has none to learn; "
                    "%s do",
                    (*out)->name, fr__strategy_names(learns, " and ", names, sizeof(names)));
}

static enum fr_status learn_on(struct fr_learning **out, const struct fr_setting *s,
                               const struct fr_question *q, const struct fr_learn_options *o,
                               const struct fr_context *ctx, struct fr_error *err)
{
    const struct fr_strategy *strategy;
    struct fr_option_values values;
    struct fr_run_options run = q->run;
    struct fr_interference interference;
    struct fr_learning *learning = NULL;
    struct fr_problem problem;
    uint32_t *devices = NULL;
    double *slow = NULL;
    struct fr_clocks *clocks = NULL;
    enum fr_status st;

    if (q->n_seeds > 1)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "learning takes one seed, not %u",
                        (unsigned)q->n_seeds);
    if (q->measured)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "learning takes no measured step (--measured): it measures what it runs");
    FR_TRY(parse_strategy(q->strategy, &strategy, &values, err));
    FR_TRY(fr__problem_make(&problem, &devices, s, q, err));
    problem.options = &values;
    run.interference = fr__interference_of(s->costs, q, &interference);
    st = check(o, problem.n_devices, err);
    if (st == FR_OK)
        st = fr__clocks_make(&clocks, s, q, devices, problem.n_devices, NULL, err);
    problem.clocks = clocks;
    if (st == FR_OK)
        st = fr__slow_devices(&slow, s->topo, q, err);
    run.device_slowdown = slow;
    if (st == FR_OK)
        st = strategy->learn(&problem, o, &run, ctx, &learning, err);
    if (st == FR_OK)
        st = fr__learning_set_question(learning, q->strategy, run.seed, err);
    if (st == FR_OK)
        *out = learning;
    else
        fr_learning_free(learning);
    fr__clocks_free(clocks);
    free(devices);
    free(slow);
    return st;
}

enum fr_status fr_learn(struct fr_learning **out, const struct fr_question *q,
                        const struct fr_learn_options *o, const struct fr_context *ctx,
                        struct fr_error *err)
{
    struct fr_session *session = fr_session_new(NULL);
    struct fr_question question = *q;
    struct fr_setting s;
    enum fr_status st;

    if (!session)
        return fr__fail_nomem(err);
    if (!question.strategy)
        question.strategy = fr_strategy_learner()->name;
    st = fr_session_setting(session, &question, &s, err);
    if (st == FR_OK) {
        st = learn_on(out, &s, &question, o, ctx, err);
        fr_setting_fini(&s);
    }
    fr_session_free(session);
    return st;
}
