/* study/validate/rows.c - reads a table of measurements into rows with their questions. */
#include "config.h"

#include "study/validate/rows.h"
#include "strategies/plugin.h"

#include "base/csv.h"
#include "base/error.h"
#include "study/sweep/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ID, WORKLOAD, TOPOLOGY, GPUS, STRATEGY, BATCH, PRECISION, OPTIONS, TIME, BYTES, NOTES };
static const struct fr__csv_column columns[] = {
    {"id", true},          {"workload", true},     {"topology", true},  {"gpus", true},
    {"strategy", true},    {"global_batch", true}, {"precision", true}, {"options", false},
    {"iteration_s", true}, {"peak_bytes", false},  {"notes", false},    {NULL, false},
};

/* Limits of a table of measurements. These are small, so a file of 4 GiB need not be read. */
enum { MOST_ROWS = 1000000, MOST_WORD = 256 };

/* Whether `options` of a row may set this: any setting of a question without a column of its
 * own. */
static bool may_set(const char *name)
{
    static const char *const others[] = {"workload", "topology", "gpus",  "batch-per-gpu",
                                         "strategy", "batch",    "costs", "precision"};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(name, others[i]) == 0)
            return false;
    return true;
}

/* The next word of *at, quotes taken off; false: no more, or one that is too long or never ends. */
static bool next_word(const char **at, char word[MOST_WORD])
{
    char quote = '\0';
    size_t n = 0;

    *at += strspn(*at, " ");
    if (**at == '\0')
        return false;
    for (; **at && (quote || **at != ' '); ++*at) {
        if (quote ? **at == quote : **at == '"' || **at == '\'') {
            quote = quote ? '\0' : **at;
            continue;
        }
        if (n + 1 >= MOST_WORD)
            return false;
        word[n++] = **at;
    }
    word[n] = '\0';
    return quote == '\0';
}

static enum fr_status set_option(struct fr__measurements *m, struct fr_question *q, const char **at,
                                 const char *word, struct fr_error *err)
{
    const char *equals = strchr(word, '=');
    char name[MOST_WORD], value[MOST_WORD];
    const char *kept;

    if (strcmp(word, "-O") == 0)
        snprintf(name, sizeof(name), "optimizer");
    else if (strncmp(word, "--", 2) == 0)
        snprintf(name, sizeof(name), "%.*s", equals ? (int)(equals - word - 2) : MOST_WORD - 1,
                 word + 2);
    else
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s' is not an option of a row", word);
    if (!may_set(name))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s' is not an option of a row", word);
    if (equals)
        snprintf(value, sizeof(value), "%s", equals + 1);
    else if (strcmp(name, "spread") == 0) /* a flag, as it is typed */
        snprintf(value, sizeof(value), "1");
    else if (!next_word(at, value))
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '%s' has no value", word);
    kept = fr__arena_strdup(m->arena, value);
    if (!kept)
        return fr__fail_nomem(err);
    return fr_question_set(q, name, kept, err);
}

static enum fr_status set_options(struct fr__measurements *m, struct fr_question *q,
                                  const char *options, struct fr_error *err)
{
    const char *at = options;
    char word[MOST_WORD];

    while (next_word(&at, word))
        FR_TRY(set_option(m, q, &at, word, err));
    if (at[strspn(at, " ")] != '\0')
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'options' end in the middle of a word");
    return FR_OK;
}

static enum fr_status set_question(struct fr__measurements *m, struct fr__measurement *x,
                                   struct fr_error *err)
{
    struct fr_question *q = &x->question;

    fr_question_init(q);
    q->workload = x->row.workload;
    q->topology = x->row.topology;
    q->strategy = x->row.strategy;
    q->n_gpus = x->row.gpus;
    q->global_batch = (uint32_t)x->row.global_batch;
    q->costs = m->how->costs;
    q->recipe = m->how->recipe;
    q->allow_implausible = m->how->allow_implausible;
    q->no_timing = true;
    FR_TRY(fr_question_set(q, "precision", x->row.precision, err));
    FR_TRY(set_options(m, q, x->row.options, err));
    if (q->devices) /* `gpus` must say how many these are: validate.c */
        q->n_gpus = 0;
    return FR_OK;
}

static enum fr_status keep(struct fr__measurements *m, const struct fr__cell *cell,
                           const char **out, struct fr_error *err)
{
    *out = fr__arena_strdup(m->arena, cell->text);
    return *out ? FR_OK : fr__fail_nomem(err);
}

static enum fr_status keep_texts(struct fr__measurements *m, const struct fr__cell cells[],
                                 struct fr_validation_row *r, struct fr_error *err)
{
    const struct {
        int column;
        const char **text;
    } texts[] = {{ID, &r->id},
                 {WORKLOAD, &r->workload},
                 {TOPOLOGY, &r->topology},
                 {STRATEGY, &r->strategy},
                 {PRECISION, &r->precision},
                 {OPTIONS, &r->options},
                 {NOTES, &r->notes}};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        FR_TRY(keep(m, &cells[texts[i].column], texts[i].text, err));
    return FR_OK;
}

static enum fr_status take_row(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    struct fr__measurements *m = user;
    struct fr__measurement x = {.row = {.device = "",
                                        .interval_class = "",
                                        .low_s = NAN,
                                        .high_s = NAN,
                                        .half_low_s = NAN,
                                        .half_high_s = NAN,
                                        .cost_error = NAN,
                                        .predicted_s = NAN,
                                        .error = NAN,
                                        .predicted_bytes = NAN,
                                        .memory_error = NAN}};
    struct fr_error why;
    char text[1024];

    if (m->n >= MOST_ROWS)
        return fr__fail(err, FR_ERANGE, cells[ID].loc, "more than %d rows", MOST_ROWS);
    FR_TRY(keep_texts(m, cells, &x.row, err));
    FR_TRY(fr__cell_count(&cells[GPUS], "gpus", 1, UINT32_MAX, &x.row.gpus, err));
    FR_TRY(fr__cell_count(&cells[BATCH], "global_batch", 1, UINT32_MAX, &x.row.global_batch, err));
    x.row.measured_s = NAN;
    if (cells[TIME].text[0] || !m->may_lack_time)
        FR_TRY(fr__cell_number(&cells[TIME], "iteration_s", 1e-9, 1e9, &x.row.measured_s, err));
    if (cells[BYTES].text[0])
        FR_TRY(fr__cell_number(&cells[BYTES], "peak_bytes", 0, 1e18, &x.row.measured_bytes, err));
    if (set_question(m, &x, &why) != FR_OK) {
        x.row.why_not = fr__arena_strdup(m->arena, fr_error_string(&why, text, sizeof(text)));
        if (!x.row.why_not)
            return fr__fail_nomem(err);
    }
    FR_TRY(fr__plugin_refuse(x.row.strategy, cells[STRATEGY].loc, err));
    FR_TRY(fr_question_refuse_code(&x.question, cells[OPTIONS].loc, err));
    if (!fr__grow(&m->list, &m->cap, m->n + 1, sizeof(x)))
        return fr__fail_nomem(err);
    m->list[m->n++] = x;
    return FR_OK;
}

enum fr_status fr__measurements_read(struct fr__measurements *m, const char *path,
                                     struct fr_error *err)
{
    return fr__csv_read(path, columns, take_row, m, err);
}
