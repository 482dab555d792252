/* jobfile/verdicts.c - gives each argument its verdict and takes facts from those that are
 * understood. The tables know the arguments; here is how a value becomes a fact's. */
#include "config.h"

#include "base/units.h"
#include "jobfile/facts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 2048, PART = 128 };

/* One argument, and what is being made of it. */
struct judging {
    struct fr_job *j;
    struct fr_job_argument *a;
    const char *unknown; /* a variable that the value lacks; NULL */
    const struct fr__job_framework *framework;
    struct fr_error *err;
};

static bool is_false(const char *value)
{
    static const char *const words[] = {"false", "False", "FALSE", "no", "off", "0", NULL};

    for (size_t i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0)
            return true;
    return false;
}

static bool is_true(const char *value)
{
    static const char *const words[] = {"true", "True", "TRUE", "yes", "on", "1", NULL};

    for (size_t i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0)
            return true;
    return false;
}

/* A word for no value, or for the program's own choice. */
static bool is_nothing(const char *value)
{
    return strcmp(value, "null") == 0 || strcmp(value, "None") == 0 || strcmp(value, "~") == 0 ||
           strcmp(value, "auto") == 0 || strcmp(value, "") == 0;
}

/* A word that something else puts a value in place of, "CONFIG_BATCH_SIZE": as a variable. */
static bool is_placeholder(const char *value)
{
    size_t n = strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

    return n > 2 && !value[n] && strchr(value, '_') && value[0] >= 'A' && value[0] <= 'Z';
}

static enum fr_status fail_value(const struct judging *x, const char *expected)
{
    char excerpt[FR__EXCERPT];

    if (!x->a->value)
        return fr__fail(x->err, FR_EPARSE, x->a->loc, "'%.80s' has no value; expected %s",
                        x->a->name, expected);
    return fr__fail(x->err, FR_EPARSE, x->a->loc, "'%.80s' is \"%s\", expected %s", x->a->name,
                    fr__excerpt(x->a->value, excerpt), expected);
}

/* ---- ways to read a value; *fact NULL: the fact is not set ---- */

/* "220_000_000" and "8.0" are numbers too, as Python and YAML write them. */
static enum fr_status read_number(const struct judging *x, uint64_t least, const char **fact)
{
    const char *value = x->a->value ? x->a->value : "";
    char digits[32];
    size_t n = 0;
    uint64_t number = 0;

    for (; *value && n + 1 < sizeof(digits); value++)
        if (*value != '_')
            digits[n++] = *value;
    digits[n] = '\0';
    if (n > 2 && strcmp(digits + n - 2, ".0") == 0)
        digits[n - 2] = '\0';
    if (least == 0 && digits[0] == '-' && digits[1] &&
        digits[1 + strspn(digits + 1, "0123456789")] == '\0') {
        *fact = x->a->value;
        return FR_OK;
    }
    if (*value || !digits[0] || digits[strspn(digits, "0123456789")] ||
        fr__parse_count(digits, x->a->name, x->a->loc, least, UINT32_MAX - 1, &number, x->err) !=
            FR_OK)
        return fail_value(x, least ? "a whole number of at least 1" : "a whole number");
    snprintf(digits, sizeof(digits), "%" PRIu64, number);
    *fact = fr__arena_strdup(x->j->arena, digits);
    return *fact ? FR_OK : fr__fail_nomem(x->err);
}

/* "0.5" as 50: whole hundredths of at most 1. */
static enum fr_status read_percent(const struct judging *x, const char **fact)
{
    const char *value = x->a->value ? x->a->value : "";
    char *end;
    double share = strtod(value, &end), percent = share * 100;
    char digits[32];

    if (end == value || *end || !(share >= 0 && share <= 1) ||
        fabs(percent - round(percent)) > 1e-9)
        return fail_value(x, "a share between 0 and 1 of whole hundredths");
    snprintf(digits, sizeof(digits), "%.0f", percent);
    *fact = fr__arena_strdup(x->j->arena, digits);
    return *fact ? FR_OK : fr__fail_nomem(x->err);
}

/* The word behind "name=" in "a=b|c=d"; "*" before "=": any other name; behind it: as it is. */
static enum fr_status read_words(const struct judging *x, const char *how, const char **fact)
{
    const char *value = x->a->value ? x->a->value : "";

    for (const char *at = how; at;) {
        size_t n, m, end;

        at += strspn(at, " \n");
        n = strcspn(at, "=");
        m = strcspn(at, "|");
        end = m;
        while (end > 0 && strchr(" \n", at[end - 1])) /* of a line that YAML folds */
            end--;
        if ((n == strlen(value) && strncmp(at, value, n) == 0) || (n == 1 && at[0] == '*')) {
            if (end - n == 2 && at[n + 1] == '*') /* "*=*": as it is */
                *fact = x->a->value;
            else
                *fact = fr__arena_strndup(x->j->arena, at + n + 1, end - n - 1);
            return *fact ? FR_OK : fr__fail_nomem(x->err);
        }
        at = at[m] ? at + m + 1 : NULL;
    }
    return fail_value(x, how);
}

static enum fr_status read_value(struct judging *x, const char *how, const char **fact)
{
    const char *value = x->a->value;

    *fact = NULL;
    if (value && !x->unknown && strcmp(how, "text") != 0 && is_placeholder(value) &&
        (how[0] == '=' || !strchr(how, '=')))
        x->unknown = value;
    if (value && is_nothing(value) && !strstr(how, "null="))
        return FR_OK;
    if (how[0] == '=') {
        if (!(value && is_false(value)) && !x->unknown)
            *fact = how + 1;
        return FR_OK;
    }
    if (x->unknown && (how[0] != '*' || how[2] == '*'))
        return FR_OK; /* whoever asks for the fact needs the variable's value */
    if (strcmp(how, "count") == 0)
        return read_number(x, 1, fact);
    if (strcmp(how, "number") == 0)
        return read_number(x, 0, fact);
    if (strcmp(how, "percent") == 0)
        return read_percent(x, fact);
    if (strcmp(how, "bool") == 0 || strcmp(how, "not") == 0) {
        bool is_on = !value || is_true(value);

        if (value && !is_on && !is_false(value))
            return fail_value(x, "true or false");
        *fact = is_on == (how[0] == 'b') ? "1" : "0";
        return FR_OK;
    }
    if (strcmp(how, "text") != 0)
        return read_words(x, how, fact);
    if (!value)
        return fail_value(x, "a value");
    *fact = value;
    return FR_OK;
}

/* ---- verdicts ---- */

static enum fr_status understand(struct judging *x, const char *const *row)
{
    const char *how = row[FR__JOB_HOW], *fact;
    enum fr__job_fact_kind k = fr__job_fact_parse(row[FR__JOB_FACT]);
    bool is_weak = how[0] == '~';

    if (k == FR__N_JOB_FACTS)
        return fr__fail(x->err, FR_ECHECK, FR_NOWHERE, "no fact '%s'", row[FR__JOB_FACT]);
    FR_TRY(read_value(x, how + is_weak, &fact));
    x->a->why = fr__job_fact_name(k);
    if (is_weak && (x->j->facts[k].value || x->j->facts[k].unknown))
        return FR_OK;
    x->j->facts[k] = (struct fr__job_held){.value = fact,
                                           .argument = fact || x->unknown ? x->a->name : NULL,
                                           .unknown = fact ? NULL : x->unknown,
                                           .loc = x->a->loc};
    return FR_OK;
}

/* ", did you mean ...?" among all names of the framework and its bases. */
static const char *hint_of(const struct fr__job_framework *f, const char *name, char hint[PART])
{
    const char *names[MOST_NAMES];
    size_t n = 0;

    for (; f; f = f->like ? fr__job_framework(f->like) : NULL) {
        for (size_t i = 0; i < sizeof(f->sets) / sizeof(f->sets[0]) && f->sets[i][0]; i++)
            if (n < MOST_NAMES)
                names[n++] = f->sets[i][FR__JOB_ARGUMENT];
        for (size_t i = 0; i < sizeof(f->no_effect) / sizeof(f->no_effect[0]); i++)
            for (size_t k = 1; k < 96 && f->no_effect[i][0] && f->no_effect[i][k]; k++)
                if (n < MOST_NAMES && !strchr(f->no_effect[i][k], '*'))
                    names[n++] = f->no_effect[i][k];
    }
    return fr__did_you_mean(name, names, n, hint, PART);
}

/* Without dashes before it, with dashes for underscores. */
static void plain_name(const char *name, char out[PART])
{
    size_t n = 0;

    for (name += strspn(name, "-"); *name && n + 1 < PART; name++)
        out[n++] = *name == '_' ? '-' : *name;
    out[n] = '\0';
}

static enum fr_status judge_unknown(const struct judging *x, const char *name, bool is_lenient)
{
    char hint[PART];

    hint_of(x->framework, name, hint);
    if (!is_lenient)
        return fr__fail(x->err, FR_EPARSE, x->a->loc,
                        "no argument '%.80s' of %s is known%s; --lenient goes on without it",
                        x->a->name, x->framework->name, hint);
    x->a->verdict = FR_JOB_UNKNOWN;
    return fr__job_note(x->j, x->err, "%s:%u:%u: '%.80s' is not known%s", x->a->loc.file,
                        x->a->loc.line, x->a->loc.col, x->a->name, hint);
}

static enum fr_status judge(struct judging *x, bool is_lenient)
{
    struct fr_job_argument *a = x->a;
    struct fr__job_row row;
    char name[PART];

    plain_name(a->name, name);
    if (!fr__job_look_up(x->framework, name, 0, &row)) {
        if (!a->value || (!is_nothing(a->value) && strcmp(a->value, "{}") != 0))
            return judge_unknown(x, name, is_lenient);
        a->verdict = FR_JOB_NO_EFFECT;
        a->why = "it is empty";
        return FR_OK;
    }
    if (row.verdict == FR_JOB_NOT_MODELLED && a->value) { /* but for one of its values */
        char with_value[2 * PART];

        snprintf(with_value, sizeof(with_value), "%s=%.*s", name, PART - 2, a->value);
        (void)fr__job_look_up_value(x->framework, with_value, &row);
    }
    a->verdict = row.verdict;
    a->why = row.why;
    if (row.verdict == FR_JOB_NOT_MODELLED && a->value &&
        (is_false(a->value) || is_nothing(a->value) || strcmp(a->value, "none") == 0)) {
        a->verdict = FR_JOB_NO_EFFECT;
        a->why = "it is switched off";
    }
    for (size_t i = 0; row.sets && fr__job_look_up(x->framework, name, i, &row); i++)
        FR_TRY(understand(x, row.sets));
    return FR_OK;
}

/* One note a reason, with the arguments that it is said of. */
static enum fr_status note_not_modelled(struct fr_job *j, struct fr_error *err)
{
    for (size_t i = 0; i < j->arguments.n; i++) {
        const struct fr_job_argument *a = &j->arguments.at[i];
        char names[400] = "";
        size_t used = 0;
        bool is_first = true;

        if (a->verdict != FR_JOB_NOT_MODELLED)
            continue;
        for (size_t k = 0; k < j->arguments.n; k++) {
            const struct fr_job_argument *b = &j->arguments.at[k];

            if (b->verdict != FR_JOB_NOT_MODELLED || strcmp(b->why, a->why) != 0)
                continue;
            is_first = is_first && k >= i;
            if (used < sizeof(names) - 100)
                used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%.40s%s%.40s",
                                         used ? ", " : "", b->name, b->value ? " " : "",
                                         b->value ? b->value : "");
        }
        if (is_first)
            FR_TRY(fr__job_note(j, err, "not modelled: %s: %s", a->why, names));
    }
    return FR_OK;
}

/* What starts the processes: what is not known of it says nothing. */
static enum fr_status judge_launcher(struct fr_job *j, struct fr_error *err)
{
    const struct fr__job_framework *launcher = fr__job_framework("launcher");

    for (size_t i = 0; i < j->launcher.n; i++) {
        struct judging x = {j, &j->launcher.at[i], j->launcher.unknown[i], launcher, err};
        const char *colon = x.a->value ? strrchr(x.a->value, ':') : NULL;
        struct fr__job_row row;
        char name[PART];

        plain_name(x.a->name, name);
        if (!x.a->value || !fr__job_look_up(launcher, name, 0, &row))
            continue;
        if (colon) /* gpu:a100:8 */
            x.a->value = colon + 1;
        if (x.unknown && fr__job_fact_parse(row.sets[FR__JOB_FACT]) < FR__N_JOB_FACTS)
            j->facts[fr__job_fact_parse(row.sets[FR__JOB_FACT])].argument = x.a->name;
        if (x.unknown)
            FR_TRY(fr__job_note(j, err,
                                "%.80s needs the value of %s: the number of GPUs is not known from "
                                "it (--set '%s=VALUE')",
                                x.a->name, x.unknown, x.unknown));
        else if (x.a->value[0] && !x.a->value[strspn(x.a->value, "0123456789")])
            FR_TRY(understand(&x, row.sets));
    }
    return FR_OK;
}

enum fr_status fr__job_judge(struct fr_job *j, bool is_lenient, struct fr_error *err)
{
    FR_TRY(judge_launcher(j, err));
    for (size_t i = 0; i < j->arguments.n; i++) {
        struct judging x = {j, &j->arguments.at[i], j->arguments.unknown[i],
                            j->arguments.framework[i], err};

        FR_TRY(judge(&x, is_lenient));
    }
    for (size_t i = 0; i < j->arguments.n; i++)
        j->summary.n[j->arguments.at[i].verdict]++;
    j->summary.n_arguments = j->arguments.n;
    return note_not_modelled(j, err);
}
