/* cli/options/parse.c - reads the words of a command into its options.
 *
 * It parses by hand and not by argp or popt: which options a verb takes depends on its groups, an
 * option that a sweep may vary goes to its grid and else to the question, settings of a question
 * name themselves, and manual pages, completion and the nearest name of a misspelt option read the
 * same rows. argp's vectors would be a second table beside this one, and its errors name neither.
 */
#include "config.h"

#include "base/error.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

/* Where parsing stands. */
struct scan {
    struct options *options;
    const struct verb *verb;
    int argc, at;
    char *const *argv;
};

enum { MOST_NAMES = 256, SPELT = 64 };

static enum fr_status apply(struct scan *s, const struct cli_option *row, const char *spelling,
                            const char *value, struct fr_error *err)
{
    if (!row->argument)
        return cli_set_option(s->options, row->which, NULL, err);
    if (!value) {
        if (s->at + 1 >= s->argc)
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '%s' needs a value (%s)", spelling,
                            row->argument);
        value = s->argv[++s->at];
    }
    if (!value[0])
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "option '%s' has an empty value", spelling);
    return cli_set_option(s->options, row->which, value, err);
}

/* The first option of these groups with that name, or, without one, that letter. */
static bool find(unsigned groups, const char *name, size_t length, char letter,
                 struct cli_option *out)
{
    for (size_t at = 0; cli_next_option(groups, &at, out);)
        if (name ? strlen(out->name) == length && strncmp(out->name, name, length) == 0
                 : out->letter == letter)
            return true;
    return false;
}

/* name: as in find. Says which option is meant, or where it would be one. */
static enum fr_status fail_unknown_option(const struct scan *s, const char *name, size_t length,
                                          char letter, struct fr_error *err)
{
    char spelt[MOST_NAMES][SPELT], word[SPELT], hint[256];
    const char *names[MOST_NAMES];
    struct cli_option row;
    size_t n = 0;

    if (name)
        snprintf(word, sizeof(word), "--%.*s", (int)(length < SPELT - 3 ? length : SPELT - 3),
                 name);
    else
        snprintf(word, sizeof(word), "-%c", letter);
    for (size_t at = 0; name && n < MOST_NAMES && cli_next_option(s->verb->options, &at, &row);
         n++) {
        snprintf(spelt[n], SPELT, "--%s", row.name);
        names[n] = spelt[n];
    }
    fr__did_you_mean(word, names, n, hint, sizeof(hint));
    if (!hint[0] && find(~0U & ~(unsigned)OPTIONS_SWEEP, name, length, letter, &row))
        snprintf(hint, sizeof(hint), " here: other commands have it ('forerun help %s%s%s')",
                 s->verb->group ? s->verb->group : "", s->verb->group ? " " : "", s->verb->name);
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "unknown option '%s'%s", word, hint);
}

static enum fr_status parse_long(struct scan *s, const char *name, struct fr_error *err)
{
    const char *value = strchr(name, '=');
    size_t length = value ? (size_t)(value - name) : strlen(name);
    struct cli_option row;
    char spelling[SPELT];

    if (!find(s->verb->options, name, length, 0, &row))
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
        struct cli_option row;

        if (!find(s->verb->options, NULL, 0, *letters, &row))
            return fail_unknown_option(s, NULL, 0, *letters, err);
        if (row.argument)
            return apply(s, &row, spelling, letters[1] ? letters + 1 : NULL, err);
        FR_TRY(apply(s, &row, spelling, NULL, err));
    }
    return FR_OK;
}

static enum fr_status add_argument(struct scan *s, const char *word, struct fr_error *err)
{
    struct options *o = s->options;

    size_t most = s->verb->has_more_arguments ? CLI_MAX_ARGUMENTS : s->verb->n_arguments;

    if (o->n_arguments >= most)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "unexpected argument '%s'", word);
    o->arguments[o->n_arguments++] = word;
    return FR_OK;
}

enum fr_status cli_parse_options(struct options *o, const struct verb *v, int argc,
                                 char *const argv[], struct fr_error *err)
{
    struct scan s = {.options = o, .verb = v, .argc = argc, .argv = argv};
    bool only_arguments = false;

    o->takes_several = (v->options & OPTIONS_COMPARE) != 0;
    for (s.at = 0; s.at < argc; s.at++) {
        const char *word = argv[s.at];

        if (only_arguments || word[0] != '-' || !word[1])
            FR_TRY(add_argument(&s, word, err));
        else if (strcmp(word, "--") == 0)
            only_arguments = true;
        else if (word[1] == '-')
            FR_TRY(parse_long(&s, word + 2, err));
        else
            FR_TRY(parse_letters(&s, word + 1, err));
    }
    if (o->n_arguments < v->n_arguments && !o->help && !o->version)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'forerun %s%s%s' needs %s",
                        v->group ? v->group : "", v->group ? " " : "", v->name, v->arguments);
    return FR_OK;
}
