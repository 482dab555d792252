/* api/verbs/compare.c - several strategies, workloads and clusters side by side, each loaded once.
 *
 * Options of the question that are given several times make a grid of questions, as long as it
 * fits into one table. Of how plans are run one setting at a time may have several values: more
 * would be a grid that nobody reads line by line, which 'forerun sweep' is for.
 */
#include "config.h"

#include "base/error.h"
#include "api/verbs/verbs.h"
#include "study/difference/difference.h"
#include "study/session/session.h"

#include <stdlib.h>
#include <string.h>

struct comparison {
    struct fr__call *session;
    struct fr_session *asking;
    struct fr_question question;
    /* the settings that have several values, in the order given, and where each stands */
    const struct fr__variation *asked[FR_N_SETTINGS];
    size_t at[FR_N_SETTINGS], n_asked;
    const struct fr__variation *variation; /* a setting of the run with several values; or NULL */
    struct fr_record *records[FR__MOST_STRATEGIES];
    /* what is shown of them: their strategies' names say the value of the variation too */
    struct fr_record shown[FR__MOST_STRATEGIES];
    char *labels[FR__MOST_STRATEGIES]; /* those names; NULL: the record's own */
    size_t n;
    struct left_out {
        char where[200]; /* "os-dpos", "os-dpos with batch 7" */
        struct fr_error why;
    } left_out[FR__MOST_STRATEGIES];
    size_t n_left_out;
};

/* Without -s: every strategy, as far as it can do with this problem. */
static void choose_all(struct fr__options *o)
{
    const struct fr_strategy *strategy;

    for (size_t i = 0; (strategy = fr_strategy_at(i)) != NULL && i < FR__MOST_STRATEGIES; i++)
        if (!strategy->is_by_name_only)
            o->strategies[o->n_strategies++] = strategy->name;
}

/* A strategy that was not asked for by name may be unable to do it: that is worth a note only. */
static bool may_be_left_out(enum fr_status st)
{
    return st == FR_EUSAGE || st == FR_ERANGE || st == FR_EUNSUPPORTED || st == FR_ENOENT ||
           st == FR_ENOROOM;
}

/* Settings whose values tables show in a column of their own (results/document/comparison.c). */
static bool has_column(const char *setting)
{
    static const char *const names[] = {"workload", "topology",      "gpus",      "devices",
                                        "batch",    "batch-per-gpu", "precision", "optimizer"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(setting, names[i]) == 0)
            return true;
    return false;
}

/* Keeps a record under its name: "dp, order fifo" where orders are compared. */
static enum fr_status keep(struct comparison *c, struct fr_record *r, const char *value,
                           struct fr_error *err)
{
    char label[1100];
    size_t n, used;

    c->records[c->n] = r;
    c->shown[c->n] = *r;
    n = used = (size_t)snprintf(label, sizeof(label), "%.900s", r->strategy);
    for (size_t i = 0; i < c->n_asked && used < sizeof(label); i++)
        if (!has_column(c->asked[i]->name))
            used += (size_t)snprintf(label + used, sizeof(label) - used, ", %s %s",
                                     c->asked[i]->name, c->asked[i]->values[c->at[i]]);
    if (value && used < sizeof(label))
        used += (size_t)snprintf(label + used, sizeof(label) - used, ", %s %s", c->variation->name,
                                 value);
    if (used > n) {
        c->labels[c->n] = strdup(label);
        if (!c->labels[c->n]) {
            fr_record_free(r);
            return fr__fail_nomem(err);
        }
        c->shown[c->n].strategy = c->labels[c->n];
    }
    if (value && strcmp(c->variation->name, "order") == 0) /* the heading is the first one's */
        c->shown[c->n].order = "as named";
    if (value && strcmp(c->variation->name, "network") == 0)
        c->shown[c->n].network = "as named";
    c->n++;
    return FR_OK;
}

static enum fr_status answer_one(struct comparison *c, const char *value, struct fr_error *err)
{
    struct fr_record *r = NULL;

    if (c->n == FR__MOST_STRATEGIES)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "more than %d answers to compare; 'forerun sweep' takes more",
                        FR__MOST_STRATEGIES);
    if (value)
        FR_TRY(fr_question_set(&c->question, c->variation->name, value, err));
    FR_TRY(fr_session_ask(c->asking, &c->question, &c->session->context, &r, err));
    return keep(c, r, value, err);
}

/* Notes that a strategy that nobody named cannot do the question at hand. */
static void leave_out(struct comparison *c, const char *strategy, const struct fr_error *why)
{
    struct left_out *l = &c->left_out[c->n_left_out];
    size_t used;

    if (c->n_left_out == FR__MOST_STRATEGIES)
        return;
    l->why = *why;
    used = (size_t)snprintf(l->where, sizeof(l->where), "%s", strategy);
    for (size_t i = 0; i < c->n_asked && used < sizeof(l->where); i++)
        used +=
            (size_t)snprintf(l->where + used, sizeof(l->where) - used, "%s %s %s",
                             i ? "," : " with", c->asked[i]->name, c->asked[i]->values[c->at[i]]);
    c->n_left_out++;
}

/* Of the question at hand: the strategies, each in all variations of the run. */
static enum fr_status answer_strategies(struct comparison *c, bool is_asked_for,
                                        struct fr_error *err)
{
    struct fr__call *s = c->session;
    size_t n_values = c->variation ? c->variation->n : 1;

    for (size_t i = 0; i < s->options.n_strategies; i++)
        for (size_t k = 0; k < n_values; k++) {
            enum fr_status st;

            c->question.strategy = s->progress_of = s->options.strategies[i];
            st = answer_one(c, c->variation ? c->variation->values[k] : NULL, err);
            if (st == FR_OK)
                continue;
            if (is_asked_for || !may_be_left_out(st) || c->n == FR__MOST_STRATEGIES)
                return st;
            if (k == 0)
                leave_out(c, s->options.strategies[i], err);
        }
    return FR_OK;
}

/* Puts the values at hand into the question, and loads what it names: what cannot be loaded is no
 * strategy's fault. */
static enum fr_status set_question(struct comparison *c, struct fr_error *err)
{
    struct fr_setting setting;

    for (size_t i = 0; i < c->n_asked; i++)
        FR_TRY(
            fr_question_set(&c->question, c->asked[i]->name, c->asked[i]->values[c->at[i]], err));
    FR_TRY(fr_session_setting(c->asking, &c->question, &setting, err));
    fr_setting_fini(&setting);
    return FR_OK;
}

/* The next values, the last setting's first; false: there are no more. */
static bool step(struct comparison *c)
{
    for (size_t i = c->n_asked; i-- > 0;) {
        if (++c->at[i] < c->asked[i]->n)
            return true;
        c->at[i] = 0;
    }
    return false;
}

static enum fr_status answer_all(struct comparison *c, bool is_asked_for, struct fr_error *err)
{
    do {
        FR_TRY(set_question(c, err));
        FR_TRY(answer_strategies(c, is_asked_for, err));
    } while (step(c));
    if (c->n > 0)
        return FR_OK;
    *err = c->left_out[c->n_left_out - 1].why;
    return err->code;
}

/* The settings that have several values. FR_EUSAGE: more than one of the run has; too many. */
static enum fr_status find_variations(struct comparison *c, struct fr_error *err)
{
    const struct fr__options *o = &c->session->options;

    for (size_t i = 0; i < o->n_variations; i++) {
        const struct fr__variation *v = &o->variations[i];

        if (v->n < 2)
            continue;
        if (!v->is_of_run) {
            c->asked[c->n_asked++] = v;
            continue;
        }
        if (c->variation)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                            "'--%s' and '--%s' both have several values; 'forerun sweep' takes a "
                            "grid of them",
                            c->variation->name, v->name);
        c->variation = v;
    }
    return FR_OK;
}

static void print_left_out(const struct comparison *c)
{
    const struct fr__options *o = &c->session->options;
    char text[1024];

    for (size_t i = 0; !o->quiet && i < c->n_left_out; i++)
        fr__note(c->session, "%s is left out: %s", c->left_out[i].where,
                 fr_error_string(&c->left_out[i].why, text, sizeof(text)));
}

/* Each record beside the first: differences [n - 1]. */
static enum fr_status explain_all(const struct comparison *c, struct fr_difference *differences[],
                                  size_t *n, struct fr_error *err)
{
    if (c->n < 2)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "option '--explain' needs two strategies that can do it, or two questions");
    for (size_t i = 1; i < c->n; i++) {
        FR_TRY(fr_difference_new(&differences[*n], &c->shown[0], &c->shown[i], err));
        (*n)++;
    }
    return FR_OK;
}

static enum fr_status write_explained(struct comparison *c, struct fr_results *rs,
                                      struct fr_error *err)
{
    struct fr_difference *differences[FR__MOST_STRATEGIES];
    size_t n = 0;
    enum fr_status st = explain_all(c, differences, &n, err);

    rs->differences = (const struct fr_difference *const *)differences;
    rs->n_differences = n;
    if (st == FR_OK)
        st = fr__write_results(c->session, rs, err);
    for (size_t i = 0; i < n; i++)
        fr_difference_free(differences[i]);
    return st;
}

static enum fr_status write_all(struct comparison *c, struct fr_error *err)
{
    const struct fr_record *records[FR__MOST_STRATEGIES];
    struct fr_results rs = {.records = records,
                            .n = c->n,
                            .is_comparison = true,
                            .terms = &c->session->options.terms,
                            .is_verbose = c->session->options.verbose};

    c->session->status = FR_CALL_NO_MEMORY;
    for (size_t i = 0; i < c->n; i++) {
        records[i] = &c->shown[i];
        if (!records[i]->oom)
            c->session->status = FR_CALL_DONE;
    }
    if (c->session->status == FR_CALL_DONE)
        c->session->status = fr__call_doubts(c->session, records, c->n);
    return c->session->options.why ? write_explained(c, &rs, err)
                                   : fr__write_results(c->session, &rs, err);
}

/* c is on the heap: it is too large for a small stack. */
static enum fr_status compare(struct comparison *c, bool is_asked_for, struct fr_error *err)
{
    enum fr_status st = find_variations(c, err);

    if (st != FR_OK)
        return st;
    c->asking = fr_session_new(NULL);
    if (!c->asking)
        return fr__fail_nomem(err);
    st = answer_all(c, is_asked_for, err);
    if (st == FR_OK)
        st = write_all(c, err);
    fr__end_progress(c->session);
    if (st == FR_OK)
        print_left_out(c);
    for (size_t i = 0; i < c->n; i++) {
        fr_record_free(c->records[i]);
        free(c->labels[i]);
    }
    fr_session_free(c->asking);
    return st;
}

enum fr_status fr__verb_compare(struct fr__call *s, struct fr_error *err)
{
    bool is_asked_for = s->options.n_strategies > 0;
    struct comparison *c;
    enum fr_status st;

    FR_TRY(fr__check_files(&s->options, FR_KIND_COMPARISON, err));
    FR_TRY(fr__check_terms(&s->options, err));
    FR_TRY(fr__check_measured(&s->options, err));
    if (!is_asked_for)
        choose_all(&s->options);
    c = calloc(1, sizeof(*c));
    if (!c)
        return fr__fail_nomem(err);
    c->session = s;
    c->question = s->options.question;
    c->question.sensitivity = fr__options_sensitivity(&s->options);
    st = compare(c, is_asked_for, err);
    free(c);
    return st;
}
