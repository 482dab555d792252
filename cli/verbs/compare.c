/* cli/verbs/compare.c - several strategies on one workload and cluster, loaded once. */
#include "config.h"

#include "base/error.h"
#include "cli/cli.h"
#include "study/difference.h"
#include "study/session.h"

#include <stdlib.h>
#include <string.h>

struct comparison {
    struct session *session;
    struct fr_session *asking;
    struct fr_question question;
    const struct cli_variation *variation; /* a setting with several values; NULL: none */
    struct fr_record *records[CLI_MAX_STRATEGIES];
    /* what is shown of them: their strategies' names say the value of the variation too */
    struct fr_record shown[CLI_MAX_STRATEGIES];
    char *labels[CLI_MAX_STRATEGIES]; /* those names; NULL: the record's own */
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

/* Keeps a record under its name, "dp, order fifo" where orders are compared. */
static enum fr_status keep(struct comparison *c, struct fr_record *r, const char *value,
                           struct fr_error *err)
{
    char label[1100];

    c->records[c->n] = r;
    c->shown[c->n] = *r;
    if (value) {
        snprintf(label, sizeof(label), "%s, %s %s", r->strategy, c->variation->name, value);
        c->labels[c->n] = strdup(label);
        if (!c->labels[c->n]) {
            fr_record_free(r);
            return fr__fail_nomem(err);
        }
        c->shown[c->n].strategy = c->labels[c->n];
        if (strcmp(c->variation->name, "order") == 0) /* the heading is the first one's */
            c->shown[c->n].order = "as named";
        if (strcmp(c->variation->name, "network") == 0)
            c->shown[c->n].network = "as named";
    }
    c->n++;
    return FR_OK;
}

static enum fr_status answer_one(struct comparison *c, const char *value, struct fr_error *err)
{
    struct fr_record *r = NULL;

    if (c->n == CLI_MAX_STRATEGIES)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "more than %d answers to compare",
                        CLI_MAX_STRATEGIES);
    if (value)
        FR_TRY(fr_question_set(&c->question, c->variation->name, value, err));
    FR_TRY(fr_session_ask(c->asking, &c->question, &c->session->context, &r, err));
    return keep(c, r, value, err);
}

static enum fr_status answer_all(struct comparison *c, bool is_asked_for, struct fr_error *err)
{
    struct session *s = c->session;
    struct progress *progress = s->context.progress_user;
    size_t n_values = c->variation ? c->variation->n : 1;
    enum fr_status st = FR_OK;

    for (size_t i = 0; i < s->options.n_strategies; i++)
        for (size_t k = 0; k < n_values; k++) {
            c->question.strategy = progress->prefix = s->options.strategies[i];
            st = answer_one(c, c->variation ? c->variation->values[k] : NULL, err);
            if (st == FR_OK)
                continue;
            if (is_asked_for || !may_be_left_out(st))
                return st;
            c->left_out[i] = *err;
        }
    return c->n > 0 ? FR_OK : st;
}

/* The setting that has several values; FR_EUSAGE: more than one has. */
static enum fr_status find_variation(struct comparison *c, struct fr_error *err)
{
    const struct options *o = &c->session->options;

    for (size_t i = 0; i < o->n_variations; i++) {
        if (o->variations[i].n < 2)
            continue;
        if (c->variation)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "'--%s' and '--%s' both have several values; 'forerun sweep' takes a "
                            "grid of them",
                            c->variation->name, o->variations[i].name);
        c->variation = &o->variations[i];
    }
    return FR_OK;
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
        FR_TRY(fr_difference_new(&differences[*n], &c->shown[0], &c->shown[i], err));
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
        records[i] = &c->shown[i];
        if (!records[i]->oom)
            c->session->status = CLI_DONE;
    }
    return c->session->options.why ? write_explained(c, &rs, err)
                                   : cli_write_results(c->session, &rs, err);
}

static enum fr_status compare(struct comparison *c, struct fr_error *err)
{
    struct session *s = c->session;
    bool is_asked_for = s->options.n_strategies > 0;
    struct fr_setting setting;
    enum fr_status st;

    c->question.sensitivity = cli_sensitivity(&s->options);
    FR_TRY(cli_check_files(&s->options, true, err));
    FR_TRY(cli_check_terms(&s->options, err));
    FR_TRY(cli_check_measured(&s->options, err));
    FR_TRY(find_variation(c, err));
    if (!is_asked_for)
        choose_all(&s->options);
    c->asking = fr_session_new(NULL);
    if (!c->asking)
        return fr__fail_nomem(err);
    /* what cannot be loaded is no strategy's fault */
    st = fr_session_setting(c->asking, &c->question, &setting, err);
    if (st == FR_OK)
        st = answer_all(c, is_asked_for, err);
    if (st == FR_OK)
        st = write_all(c, err);
    cli_progress_end(s->context.progress_user);
    if (st == FR_OK)
        print_left_out(c);
    for (size_t i = 0; i < c->n; i++) {
        fr_record_free(c->records[i]);
        free(c->labels[i]);
    }
    fr_setting_fini(&setting);
    fr_session_free(c->asking);
    return st;
}

enum fr_status cli_compare(struct session *s, struct fr_error *err)
{
    struct comparison *c = calloc(1, sizeof(*c)); /* too large for a small stack */
    enum fr_status st;

    if (!c)
        return fr__fail_nomem(err);
    c->session = s;
    c->question = s->options.question;
    st = compare(c, err);
    free(c);
    return st;
}
