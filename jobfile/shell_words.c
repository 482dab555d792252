/* jobfile/shell_words.c - a word of a script: quotes are removed, variables and $(( )) replaced,
 * and what was not quoted is split at blanks (POSIX.1-2008, Shell Command Language, 2.2 and 2.6;
 * arrays as in bash). Commands within $( ) and backquotes are not run: they give an unknown part.
 * Left out: tildes, braces {a,b}, names of files with * and ?, which stay as they are written.
 */
#include "config.h"

#include "jobfile/shell_state.h"

#include <ctype.h>
#include <string.h>

/* How far text is read, and what in it is special. */
enum reading {
    WORD,  /* to a blank or an operator */
    INNER, /* to the end; quotes are signs */
    QUOTED /* to the end; quotes are letters */
};

struct building {
    struct fr__shell_state *s;
    struct fr__fields *out;
    struct fr__cells now;
    bool has_now; /* also where it is empty: '' */
};

/* ---- what ends where ---- */

/* From a quote to behind its end. */
static enum fr_status skip_quoted(struct fr__shell_state *s, struct fr__scan *x)
{
    struct fr_loc from = fr__scan_loc(s, x);
    char quote = fr__scan_at(x, 0);

    for (x->i++; x->i < x->text.n && fr__scan_at(x, 0) != quote; x->i++)
        x->i += quote != '\'' && fr__scan_at(x, 0) == '\\';
    if (x->i >= x->text.n)
        return fr__fail(s->err, FR_EPARSE, from, "a quote %c has no end", quote);
    x->i++;
    return FR_OK;
}

enum fr_status fr__shell_balanced(struct fr__shell_state *s, struct fr__scan *x, char open,
                                  char close, size_t *first, size_t *last)
{
    struct fr_loc from = fr__scan_loc(s, x);
    unsigned depth = 1;

    *first = x->i;
    while (x->i < x->text.n && depth > 0) {
        char c = fr__scan_at(x, 0);

        if (c == '\\') {
            x->i += 2;
        } else if (c == '\'' || c == '"' || c == '`') {
            FR_TRY(skip_quoted(s, x));
        } else {
            depth += c == open;
            depth -= c == close;
            x->i++;
        }
    }
    if (depth > 0 || x->i > x->text.n)
        return fr__fail(s->err, FR_EPARSE, from, "a '%c' has no '%c'", open, close);
    *last = x->i - 1;
    return FR_OK;
}

static enum fr_status read_to(struct fr__shell_state *s, struct fr__scan *x, enum reading how,
                              struct fr__fields *out);

/* Text inside ${ } or $(( )) as one field. */
enum fr_status fr__shell_inner(struct fr__shell_state *s, struct fr__cells text, bool is_live,
                               struct fr__cells *out)
{
    struct fr__scan x = {.text = text, .is_live = is_live};
    struct fr__fields fields = {.n = 0};

    if (++s->depth > FR__SHELL_MOST_DEPTH)
        return fr__fail(s->err, FR_EPARSE, fr__scan_loc(s, &x), "deeper than %d levels",
                        (int)FR__SHELL_MOST_DEPTH);
    FR_TRY(read_to(s, &x, INNER, &fields));
    s->depth--;
    return fr__fields_join(s, &fields, out);
}

/* Behind '$': from '(' or '{' or a name. *is_any: it was an expansion. */
static enum fr_status dollar(struct fr__shell_state *s, struct fr__scan *x, struct fr__expansion *e,
                             bool *is_any)
{
    struct fr__cell where = x->text.at[x->i];
    size_t first, last;
    char name[FR__SHELL_NAME];

    *is_any = true;
    x->i++;
    if (fr__scan_has(x, "((")) {
        x->i += 2;
        FR_TRY(fr__shell_balanced(s, x, '(', ')', &first, &last));
        if (fr__scan_at(x, 0) == ')') {
            x->i++;
            return fr__expand_sum(s, fr__scan_piece(x, first, last), x->is_live, where, e);
        }
        x->i = first - 1; /* a command in $( ) that begins with a subshell */
        FR_TRY(fr__shell_balanced(s, x, '(', ')', &first, &last));
        return fr__give_unknown(s, "$(...)", where, e);
    }
    if (fr__scan_at(x, 0) == '(') {
        x->i++;
        FR_TRY(fr__shell_balanced(s, x, '(', ')', &first, &last));
        return fr__give_unknown(s, "$(...)", where, e);
    }
    if (fr__scan_at(x, 0) == '{') {
        x->i++;
        FR_TRY(fr__shell_balanced(s, x, '{', '}', &first, &last));
        return fr__expand_parameter(s, fr__scan_piece(x, first, last), x->is_live, where, e);
    }
    first = x->i;
    if (!fr__is_name_letter(fr__scan_at(x, 0), false) && !fr__is_special(fr__scan_at(x, 0))) {
        *is_any = false;
        return FR_OK;
    }
    if (isdigit((unsigned char)fr__scan_at(x, 0)))
        x->i++; /* "$10" is "${1}0" */
    else
        fr__shell_name_read(x, name);
    return fr__expand_parameter(s, fr__scan_piece(x, first, x->i), x->is_live, where, e);
}

/* ---- fields ---- */

static enum fr_status end_field(struct building *b)
{
    struct fr__cells done = b->now;

    if (!b->has_now)
        return FR_OK;
    b->now = (struct fr__cells){.n = 0};
    b->has_now = false;
    return fr__fields_add(b->s, b->out, done);
}

static enum fr_status add_cell(struct building *b, struct fr__cell c)
{
    b->has_now = true;
    return fr__cells_add(b->s, &b->now, c);
}

/* is_split: at blanks. */
static enum fr_status add_expansion(struct building *b, const struct fr__expansion *e,
                                    bool is_split)
{
    for (size_t k = 0; k < e->parts.n; k++) {
        const struct fr__cells *cells = &e->parts.at[k];
        struct fr__cell blank = {.c = ' '};

        if (k > 0 && (is_split || e->is_list))
            FR_TRY(end_field(b));
        else if (k > 0)
            FR_TRY(add_cell(b, blank));
        for (size_t i = 0; i < cells->n; i++) {
            if (is_split && !cells->at[i].unknown && strchr(" \t\n", cells->at[i].c))
                FR_TRY(end_field(b));
            else
                FR_TRY(add_cell(b, cells->at[i]));
        }
        if (!is_split && e->is_list)
            b->has_now = true;
    }
    return FR_OK;
}

static enum fr_status add_dollar(struct building *b, struct fr__scan *x, bool is_split)
{
    struct fr__expansion e = {.is_list = false};
    struct fr__cell sign = x->text.at[x->i];
    bool is_any;

    if (++b->s->depth > FR__SHELL_MOST_DEPTH)
        return fr__fail(b->s->err, FR_EPARSE, fr__scan_loc(b->s, x), "deeper than %d levels",
                        (int)FR__SHELL_MOST_DEPTH);
    FR_TRY(dollar(b->s, x, &e, &is_any));
    b->s->depth--;
    return is_any ? add_expansion(b, &e, is_split) : add_cell(b, sign);
}

static enum fr_status add_backquoted(struct building *b, struct fr__scan *x)
{
    struct fr__cell where = x->text.at[x->i];

    FR_TRY(skip_quoted(b->s, x));
    b->has_now = true;
    return fr__cells_add_unknown(b->s, &b->now, "$(...)", where);
}

/* '...' and $'...' */
static enum fr_status add_single(struct building *b, struct fr__scan *x)
{
    struct fr_loc from = fr__scan_loc(b->s, x);

    b->has_now = true;
    for (x->i++; x->i < x->text.n && fr__scan_at(x, 0) != '\''; x->i++)
        FR_TRY(add_cell(b, x->text.at[x->i]));
    if (x->i >= x->text.n)
        return fr__fail(b->s->err, FR_EPARSE, from, "a quote ' has no end");
    x->i++;
    return FR_OK;
}

/* A backslash between double quotes, or in a here-document. */
static enum fr_status add_escaped(struct building *b, struct fr__scan *x)
{
    if (fr__scan_at(x, 1) == '\n') {
        x->i += 2;
        return FR_OK;
    }
    if (!fr__scan_at(x, 1) || !strchr("$`\"\\", fr__scan_at(x, 1)))
        FR_TRY(add_cell(b, x->text.at[x->i]));
    x->i++;
    if (x->i < x->text.n)
        FR_TRY(add_cell(b, x->text.at[x->i++]));
    return FR_OK;
}

static enum fr_status add_double(struct building *b, struct fr__scan *x)
{
    struct fr_loc from = fr__scan_loc(b->s, x);

    b->has_now = true;
    x->i++;
    while (x->i < x->text.n && fr__scan_at(x, 0) != '"') {
        if (fr__scan_at(x, 0) == '\\')
            FR_TRY(add_escaped(b, x));
        else if (fr__scan_at(x, 0) == '$')
            FR_TRY(add_dollar(b, x, false));
        else if (fr__scan_at(x, 0) == '`')
            FR_TRY(add_backquoted(b, x));
        else
            FR_TRY(add_cell(b, x->text.at[x->i++]));
    }
    if (x->i >= x->text.n)
        return fr__fail(b->s->err, FR_EPARSE, from, "a quote \" has no end");
    x->i++;
    return FR_OK;
}

static enum fr_status add_plain_escape(struct building *b, struct fr__scan *x)
{
    x->i++;
    if (fr__scan_at(x, 0) == '\n') {
        x->i++;
        return FR_OK;
    }
    return x->i < x->text.n ? add_cell(b, x->text.at[x->i++]) : FR_OK;
}

static enum fr_status read_to(struct fr__shell_state *s, struct fr__scan *x, enum reading how,
                              struct fr__fields *out)
{
    struct building b = {.s = s, .out = out};

    while (x->i < x->text.n) {
        char c = x->text.at[x->i].unknown ? 'x' : fr__scan_at(x, 0);

        if (how == WORD && strchr(" \t\r\n;&|<>()", c))
            break;
        if (how != QUOTED && c == '\'')
            FR_TRY(add_single(&b, x));
        else if (how != QUOTED && c == '"')
            FR_TRY(add_double(&b, x));
        else if (c == '\\')
            FR_TRY(how == QUOTED ? add_escaped(&b, x) : add_plain_escape(&b, x));
        else if (c == '`')
            FR_TRY(add_backquoted(&b, x));
        else if (how == WORD && fr__scan_has(x, "$'"))
            x->i++;
        else if (c == '$')
            FR_TRY(add_dollar(&b, x, how == WORD));
        else
            FR_TRY(add_cell(&b, x->text.at[x->i++]));
    }
    return end_field(&b);
}

enum fr_status fr__shell_word_read(struct fr__shell_state *s, struct fr__scan *x,
                                   struct fr__fields *out)
{
    return read_to(s, x, WORD, out);
}

/* To the end of the word, which quotes and expansions may hold blanks of. */
enum fr_status fr__shell_value_read(struct fr__shell_state *s, struct fr__scan *x,
                                    struct fr__cells *out)
{
    struct fr__scan rest = *x;
    struct fr__fields fields = {.n = 0};
    size_t first = x->i;

    rest.is_live = false;
    FR_TRY(read_to(s, &rest, WORD, &fields)); /* where it ends */
    x->i = rest.i;
    rest = (struct fr__scan){.text = fr__scan_piece(x, first, x->i), .is_live = x->is_live};
    fields = (struct fr__fields){.n = 0};
    FR_TRY(read_to(s, &rest, INNER, &fields));
    return fr__fields_join(s, &fields, out);
}

enum fr_status fr__shell_expand(struct fr__shell_state *s, const struct fr__cells *text,
                                struct fr__cells *out)
{
    struct fr__scan x = {.text = *text, .is_live = true};
    struct fr__fields fields = {.n = 0};

    FR_TRY(read_to(s, &x, QUOTED, &fields));
    return fr__fields_join(s, &fields, out);
}
