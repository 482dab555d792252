/* cli/verbs/learn.c - a planner that has to learn what things cost. */
#include "config.h"

#include "base/error.h"
#include "cli/cli.h"

enum fr_status cli_learn(struct session *s, struct fr_error *err)
{
    const struct options *o = &s->options;
    struct fr_question q = o->question;
    struct fr_learning *l;
    enum fr_status st;

    if (o->n_strategies > 1)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "%zu strategies given, 'forerun learn' takes one", o->n_strategies);
    q.strategy = o->n_strategies ? o->strategies[0] : NULL;
    for (size_t i = 0; i < o->n_files; i++)
        FR_TRY(fr_learning_check_path(o->files[i], err));
    st = fr_learn(&l, &q, &o->learning, &s->context, err);
    cli_progress_end(s->context.progress_user);
    if (st != FR_OK)
        return st;
    for (size_t i = 0; i < o->n_files && st == FR_OK; i++)
        st = cli_file_done(s, fr_learning_write(l, o->files[i], &s->context, err), err);
    if (st == FR_OK && o->json)
        fr_learning_print_json(stdout, l);
    else if (st == FR_OK)
        st = fr_learning_print(stdout, l, o->verbose, err);
    fr_learning_free(l);
    return st;
}
