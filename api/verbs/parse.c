/* api/verbs/parse.c - reads words, as of a command line, into the options of a verb.
 *
 * It parses by hand and not by argp or popt: which options a verb takes depends on its groups, an
 * option that a sweep may vary goes to its grid and else to the question, settings of a question
 * name themselves, and manual pages, completion and the nearest name of a misspelt option read the
 * same rows. argp's vectors would be a second table beside this one, and its errors name neither.
 */
#include "config.h"

#include "api/verbs/verbs.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* Where parsing stands. */
struct scan {
    struct fr__options *options;
    const struct fr__verb *verb;
    int argc, at;
    char *const *argv;
};

enum { SPELT = 64 };

static enum fr_status apply(struct scan *s, const struct fr__option *row, const char *spelling,
                            const char *value, struct fr_error *err)
{
    if (!row->argument)
        return fr__options_set(s->options, row->which, NULL, err);
    if (!value) {
        if (s->at + 1 >= s->argc)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '%s' needs a value (%s)", spelling,
                            row->argument);
        value = s->argv[++s->at];
    }
    if (!value[0])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '%s' has an empty value", spelling);
    return fr__options_set(s->options, row->which, value, err);
}

static enum fr_status fail_unknown_option(const struct scan *s, const char *name, size_t length,
                                          char letter, struct fr_error *err)
{
    char verb[64];

    return fr__options_unknown(s->verb->options, fr__verb_name(s->verb, verb, sizeof(verb)), name,
                               length, letter, err);
}

static enum fr_status parse_long(struct scan *s, const char *name, struct fr_error *err)
{
    const char *value = strchr(name, '=');
    size_t length = value ? (size_t)(value - name) : strlen(name);
    struct fr__option row;
    char spelling[SPELT];

    if (!fr__options_find(s->verb->options, name, length, 0, &row))
        return fail_unknown_option(s, name, length, 0, err);
    snprintf(spelling, sizeof(spelling), "--%s", row.name);
    if (value && !row.argument)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '%s' takes no value", spelling);
    return apply(s, &row, spelling, value ? value + 1 : NULL, err);
}

/* "-g4", "-g 4", "-qv" */
static enum fr_status parse_letters(struct scan *s, const char *letters, struct fr_error *err)
{
    for (; *letters; letters++) {
        char spelling[3] = {'-', *letters, '\0'};
        struct fr__option row;

        if (!fr__options_find(s->verb->options, NULL, 0, *letters, &row))
            return fail_unknown_option(s, NULL, 0, *letters, err);
        if (row.argument)
            return apply(s, &row, spelling, letters[1] ? letters + 1 : NULL, err);
        FR_TRY(apply(s, &row, spelling, NULL, err));
    }
    return FR_OK;
}

static enum fr_status add_argument(const struct fr__verb *v, struct fr__options *o,
                                   const char *word, struct fr_error *err)
{
    size_t most = v->has_more_arguments ? FR__MOST_ARGUMENTS : v->n_arguments;

    if (o->n_arguments >= most)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "unexpected argument '%s'", word);
    o->arguments[o->n_arguments++] = word;
    return FR_OK;
}

enum fr_status fr__verb_parse(const struct fr__verb *v, struct fr__options *o, int argc,
                              char *const argv[], struct fr_error *err)
{
    struct scan s = {.options = o, .verb = v, .argc = argc, .argv = argv};
    bool only_arguments = false;

    for (s.at = 0; s.at < argc; s.at++) {
        const char *word = argv[s.at];

        if (only_arguments || word[0] != '-' || !word[1])
            FR_TRY(add_argument(v, o, word, err));
        else if (strcmp(word, "--") == 0)
            only_arguments = true;
        else if (word[1] == '-')
            FR_TRY(parse_long(&s, word + 2, err));
        else
            FR_TRY(parse_letters(&s, word + 1, err));
    }
    return FR_OK;
}

enum fr_status fr__verb_check_arguments(const struct fr__verb *v, const struct fr__options *o,
                                        struct fr_error *err)
{
    char name[64];

    if (o->n_arguments >= v->n_arguments)
        return FR_OK;
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'forerun %s' needs %s",
                    fr__verb_name(v, name, sizeof(name)), v->arguments);
}
