/* api/verbs/learn.c - a planner that has to learn what things cost. */
#include "config.h"

#include "base/error.h"
#include "api/verbs/verbs.h"

enum fr_status fr__verb_learn(struct fr__call *s, struct fr_error *err)
{
    const struct fr__options *o = &s->options;
    struct fr_question q = o->question;
    struct fr_learning *l;
    enum fr_status st;

    if (o->n_strategies > 1)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "%zu strategies given, 'forerun learn' takes one", o->n_strategies);
    q.strategy = o->n_strategies ? o->strategies[0] : NULL;
    FR_TRY(fr__check_files(o, FR_KIND_LEARNING, err));
    st = fr_learn(&l, &q, &o->learning, &s->context, err);
    fr__end_progress(s);
    if (st != FR_OK)
        return st;
    st = fr__show(s, fr_shown_learning(&(struct fr_learning_answer){l, o->verbose}), err);
    fr_learning_free(l);
    return st;
}
