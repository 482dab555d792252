/* cli/options/man.c - the manual page of one command, made from the tables of its help. */
#include "config.h"

#include "cli/cli.h"

#include <string.h>

/* Text in roff: dashes are dashes that can be typed, nothing is a request or an escape. */
static void put_text(FILE *f, const char *text)
{
    bool is_start = true;

    for (; *text; text++) {
        if (is_start && (*text == '.' || *text == '\''))
            fputs("\\&", f);
        is_start = *text == '\n';
        if (*text == '\\')
            fputs("\\e", f);
        else if (*text == '-')
            fputs("\\-", f);
        else
            putc(*text, f);
    }
}

static void put_name(FILE *f, const struct fr__verb *v)
{
    fprintf(f, ".B forerun %s%s%s\n", v->group ? v->group : "", v->group ? " " : "", v->name);
}

static void put_options(FILE *f, uint64_t groups)
{
    struct fr__option o;

    for (size_t at = 0; fr__options_next(groups, &at, &o);) {
        fputs(".TP\n", f);
        if (o.letter)
            fprintf(f, "\\fB\\-%c\\fR, ", o.letter);
        fputs("\\fB\\-\\-", f);
        put_text(f, o.name);
        fputs("\\fR", f);
        if (o.argument) {
            fputs(" \\fI", f);
            put_text(f, o.argument);
            fputs("\\fR", f);
        }
        putc('\n', f);
        put_text(f, o.help);
        putc('\n', f);
    }
}

static void put_verb(FILE *f, const struct fr__verb *v, bool is_one_of_many)
{
    if (is_one_of_many) {
        fprintf(f, ".SS %s\n", v->name);
        put_text(f, v->summary);
        fputs("\n.PP\n", f);
    }
    put_options(f, v->options);
}

static bool is_meant(const struct fr__verb *v, const char *word)
{
    return strcmp(v->group ? v->group : v->name, word) == 0;
}

bool cli_print_man(FILE *f, const struct fr__verb verbs[], size_t n, const char *word)
{
    size_t n_meant = 0;
    const struct fr__verb *first = NULL;

    for (size_t i = 0; i < n; i++)
        if (is_meant(&verbs[i], word)) {
            n_meant++;
            first = first ? first : &verbs[i];
        }
    if (!first)
        return false;
    fprintf(f,
            ".TH FORERUN-%s 1 \"\" \"forerun %s\" \"User Commands\"\n.SH NAME\nforerun\\-%s \\- ",
            word, fr_version(), word);
    put_text(f, n_meant == 1 ? first->summary : "a group of commands of forerun(1)");
    fputs("\n.SH SYNOPSIS\n", f);
    for (size_t i = 0; i < n; i++)
        if (is_meant(&verbs[i], word)) {
            put_name(f, &verbs[i]);
            put_text(f, verbs[i].arguments);
            fprintf(f, "%s[\\fIOPTION\\fR]...\n.br\n", verbs[i].arguments[0] ? " " : "");
        }
    fputs(".SH OPTIONS\n", f);
    for (size_t i = 0; i < n; i++)
        if (is_meant(&verbs[i], word))
            put_verb(f, &verbs[i], n_meant > 1);
    fputs(".SH EXAMPLES\n.nf\n", f);
    for (size_t i = 0; i < n; i++)
        if (is_meant(&verbs[i], word))
            put_text(f, verbs[i].examples);
    fputs(".fi\n.SH SEE ALSO\n.BR forerun (1)\n", f);
    return true;
}
