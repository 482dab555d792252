/* cli/compare.c - several strategies on one workload and cluster, loaded once. */
#include "config.h"

#include "base/error.h"
#include "cli/cli.h"
#include "study/difference.h"
#include "study/session.h"

struct comparison {
    struct session *session;
    struct fr_session *asking;
    struct fr_question question;
    struct fr_record *records[CLI_MAX_STRATEGIES];
    size_t n;
    struct fr_error left_out[CLI_MAX_STRATEGIES]; /* code FR_OK: was not */
};

/* Without -s: every strategy, as far as it can do with this problem. */
static void choose_all(struct options *o)
{
    const struct fr_strategy *strategy;

    for (size_t i = 0; (strategy = fr_strategy_at(i)) != NULL && i < CLI_MAX_STRATEGIES; i++)
        if (!strategy->is_by_name_only)
            o->strategies[o->n_strategies++] = strategy->name;
}

/* A strategy that was not asked for by name may be unable to do it: that is worth a note only. */
static bool may_be_left_out(enum fr_status st)
{
    return st == FR_EUSAGE || st == FR_ERANGE || st == FR_EUNSUPPORTED || st == FR_ENOENT ||
           st == FR_ENOROOM;
}

static enum fr_status answer_all(struct comparison *c, bool is_asked_for, struct fr_error *err)
{
    struct session *s = c->session;
    struct progress *progress = s->context.progress_user;
    enum fr_status st = FR_OK;

    for (size_t i = 0; i < s->options.n_strategies; i++) {
        c->question.strategy = progress->prefix = s->options.strategies[i];
        st = fr_session_ask(c->asking, &c->question, &s->context, &c->records[c->n], err);
        if (st == FR_OK)
            c->n++;
        else if (is_asked_for || !may_be_left_out(st))
            return st;
        else
            c->left_out[i] = *err;
    }
    return c->n > 0 ? FR_OK : st;
}

static void print_left_out(const struct comparison *c)
{
    const struct options *o = &c->session->options;
    char text[1024];

    for (size_t i = 0; !o->quiet && i < o->n_strategies; i++)
        if (c->left_out[i].code != FR_OK)
            fprintf(stderr, "forerun: note: %s is left out: %s\n", o->strategies[i],
                    fr_error_string(&c->left_out[i], text, sizeof(text)));
}

/* Each record beside the first: differences [n - 1]. */
static enum fr_status explain_all(const struct comparison *c, struct fr_difference *differences[],
                                  size_t *n, struct fr_error *err)
{
    if (c->n < 2)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option '--explain' needs two strategies that can do it");
    for (size_t i = 1; i < c->n; i++) {
        FR_TRY(fr_difference_new(&differences[*n], c->records[0], c->records[i], err));
        (*n)++;
    }
    return FR_OK;
}

static enum fr_status write_explained(struct comparison *c, struct fr_results *rs,
                                      struct fr_error *err)
{
    struct fr_difference *differences[CLI_MAX_STRATEGIES];
    size_t n = 0;
    enum fr_status st = explain_all(c, differences, &n, err);

    rs->differences = (const struct fr_difference *const *)differences;
    rs->n_differences = n;
    if (st == FR_OK)
        st = cli_write_results(c->session, rs, err);
    for (size_t i = 0; i < n; i++)
        fr_difference_free(differences[i]);
    return st;
}

static enum fr_status write_all(struct comparison *c, struct fr_error *err)
{
    const struct fr_record *records[CLI_MAX_STRATEGIES];
    struct fr_results rs = {.records = records,
                            .n = c->n,
                            .is_comparison = true,
                            .terms = &c->session->options.terms,
                            .width = cli_width()};

    c->session->status = CLI_NO_MEMORY;
    for (size_t i = 0; i < c->n; i++) {
        records[i] = c->records[i];
        if (!records[i]->oom)
            c->session->status = CLI_DONE;
    }
    return c->session->options.why ? write_explained(c, &rs, err)
                                   : cli_write_results(c->session, &rs, err);
}

enum fr_status cli_compare(struct session *s, struct fr_error *err)
{
    struct comparison c = {.session = s, .question = s->options.question};
    bool is_asked_for = s->options.n_strategies > 0;
    struct fr_setting setting;
    enum fr_status st;

    c.question.sensitivity = cli_sensitivity(&s->options);
    FR_TRY(cli_check_files(&s->options, true, err));
    FR_TRY(cli_check_terms(&s->options, err));
    if (!is_asked_for)
        choose_all(&s->options);
    c.asking = fr_session_new(NULL);
    if (!c.asking)
        return fr__fail_nomem(err);
    /* what cannot be loaded is no strategy's fault */
    st = fr_session_setting(c.asking, &c.question, &setting, err);
    if (st == FR_OK)
        st = answer_all(&c, is_asked_for, err);
    if (st == FR_OK)
        st = write_all(&c, err);
    cli_progress_end(s->context.progress_user);
    if (st == FR_OK)
        print_left_out(&c);
    for (size_t i = 0; i < c.n; i++)
        fr_record_free(c.records[i]);
    fr_setting_fini(&setting);
    fr_session_free(c.asking);
    return st;
}
