/* jobfile/shell_command.c - one command of a script: what it assigns, where it writes, and what
 * its words are.
 *
 * Builtins that set variables are followed. A command that runs another text (eval, bash -c, a word
 * that holds a Python program, a here-document) has that text read as a script. Others are noted
 * down with their words.
 */
#include "config.h"

#include "jobfile/shell_state.h"

#include <ctype.h>
#include <string.h>

/* A command that is being read. */
struct command {
    struct fr__fields fields;
    struct fr__cells body;   /* of its here-document */
    struct fr__cells output; /* the file that it writes */
    bool has_body, has_output;
};

/* ---- assignments ---- */

/* "NAME=", "NAME+=", "NAME[1]=" at x; name, *adds, *end: behind the sign. */
static bool is_assignment(const struct fr__scan *x, char name[FR__SHELL_NAME], bool *adds,
                          bool *is_element, size_t *end)
{
    size_t n = 0;

    if (!fr__is_name_letter(fr__scan_at(x, 0), true))
        return false;
    for (; fr__is_name_letter(fr__scan_at(x, n), false); n++)
        if (n + 1 < FR__SHELL_NAME)
            name[n] = fr__scan_at(x, n);
    name[n < FR__SHELL_NAME ? n : FR__SHELL_NAME - 1] = '\0';
    *is_element = fr__scan_at(x, n) == '[';
    if (*is_element) {
        while (fr__scan_at(x, n) && fr__scan_at(x, n) != ']' && fr__scan_at(x, n) != '\n')
            n++;
        n++;
    }
    *adds = fr__scan_at(x, n) == '+' && fr__scan_at(x, n + 1) == '=';
    n += *adds;
    *end = x->i + n + 1;
    return fr__scan_at(x, n) == '=';
}

/* From '#' to the end of the line. */
static void skip_remark(struct fr__scan *x)
{
    while (x->i < x->text.n && fr__scan_at(x, 0) != '\n')
        x->i++;
}

/* ( WORD ... ) over several lines. */
static enum fr_status read_array(struct fr__shell_state *s, struct fr__scan *x,
                                 struct fr__fields *out)
{
    struct fr_loc from = fr__scan_loc(s, x);

    for (x->i++;;) {
        fr__scan_blanks(x);
        if (x->i >= x->text.n)
            return fr__fail(s->err, FR_EPARSE, from, "an array '(' has no ')'");
        if (fr__scan_at(x, 0) == ')')
            break;
        if (fr__scan_at(x, 0) == '#')
            skip_remark(x);
        else if (fr__scan_at(x, 0) == '\n')
            fr__scan_line(x);
        else if (strchr(";&|<>(", fr__scan_at(x, 0)))
            return fr__fail(s->err, FR_EPARSE, fr__scan_loc(s, x), "'%c' is no word of an array",
                            fr__scan_at(x, 0));
        else
            FR_TRY(fr__shell_word_read(s, x, out));
    }
    x->i++;
    return FR_OK;
}

static enum fr_status assign(struct fr__shell_state *s, struct fr__scan *x, const char *name,
                             bool adds, bool is_element)
{
    struct fr__fields fields = {.n = 0};
    struct fr__cells value = {.n = 0};
    bool is_array = fr__scan_at(x, 0) == '(';

    if (is_array) {
        FR_TRY(read_array(s, x, &fields));
    } else {
        FR_TRY(fr__shell_value_read(s, x, &value));
        FR_TRY(fr__fields_add(s, &fields, value));
    }
    return x->is_live && !is_element ? fr__shell_assign(s, name, &fields, is_array, adds) : FR_OK;
}

/* export, declare and others like it: assignments as words. */
static enum fr_status declare(struct fr__shell_state *s, struct fr__scan *x)
{
    char name[FR__SHELL_NAME];
    struct fr__fields unused = {.n = 0};

    for (fr__scan_blanks(x); x->i < x->text.n && !strchr("\n;&|<>()", fr__scan_at(x, 0));
         fr__scan_blanks(x)) {
        bool adds, is_element;
        size_t end;

        if (fr__scan_at(x, 0) == '#') {
            skip_remark(x);
        } else if (is_assignment(x, name, &adds, &is_element, &end)) {
            x->i = end;
            FR_TRY(assign(s, x, name, adds, is_element));
        } else {
            FR_TRY(fr__shell_word_read(s, x, &unused));
        }
    }
    return FR_OK;
}

/* ---- redirections ---- */

/* The line that ends the document is `end` by itself; tabs before it and before each line go under
 * "<<-". */
static enum fr_status read_document(struct fr__shell_state *s, struct fr__scan *x, const char *end,
                                    bool has_tabs, struct fr__cells *body)
{
    struct fr_loc from = fr__scan_loc(s, x);
    size_t i = x->next_body, n = strlen(end);

    *body = (struct fr__cells){.n = 0};
    for (size_t k = x->i; i == 0; k++)
        if (k >= x->text.n)
            return fr__fail(s->err, FR_EPARSE, from, "a here-document '%.40s' has no text", end);
        else if (x->text.at[k].c == '\n')
            i = k + 1;
    while (i < x->text.n) {
        struct fr__scan line = {.text = x->text};
        size_t last = i;

        while (last < x->text.n && x->text.at[last].c != '\n')
            last++;
        while (has_tabs && i < last && x->text.at[i].c == '\t')
            i++;
        line.i = i;
        if (last - i == n && fr__scan_has(&line, end)) {
            x->next_body = last + 1;
            return FR_OK;
        }
        for (; i <= last && i < x->text.n; i++)
            FR_TRY(fr__cells_add(s, body, x->text.at[i]));
    }
    return fr__fail(s->err, FR_EPARSE, from, "a here-document has no end '%.40s'", end);
}

static enum fr_status read_here(struct fr__shell_state *s, struct fr__scan *x, struct command *c)
{
    bool has_tabs = fr__scan_at(x, 0) == '-', is_plain;
    struct fr__fields word = {.n = 0};
    struct fr__cells body;
    size_t first;
    char *end;

    x->i += has_tabs;
    fr__scan_blanks(x);
    first = x->i;
    is_plain = strchr("'\"\\", fr__scan_at(x, 0)) != NULL && fr__scan_at(x, 0);
    FR_TRY(fr__shell_word_read(s, x, &word));
    if (word.n == 0)
        return fr__fail(s->err, FR_EPARSE, fr__scan_loc(s, x), "a here-document has no name");
    end = fr__cells_text(s, &word.at[0]);
    if (!end)
        return fr__fail_nomem(s->err);
    (void)first;
    FR_TRY(read_document(s, x, end, has_tabs, &body));
    c->has_body = true;
    if (!x->is_live || is_plain)
        c->body = body;
    else
        FR_TRY(fr__shell_expand(s, &body, &c->body));
    return FR_OK;
}

/* A redirection at x, of which the number before it has been dropped. */
static enum fr_status redirect(struct fr__shell_state *s, struct fr__scan *x, struct command *c)
{
    bool is_output = fr__scan_at(x, 0) == '>' || fr__scan_at(x, 0) == '&';
    struct fr__fields word = {.n = 0};
    size_t first, last;

    if (fr__scan_has(x, "<<") && !fr__scan_has(x, "<<<")) {
        x->i += 2;
        return read_here(s, x, c);
    }
    while (fr__scan_at(x, 0) && strchr("<>&|", fr__scan_at(x, 0)))
        x->i++;
    fr__scan_blanks(x);
    if (fr__scan_at(x, 0) == '(') { /* >(command) */
        x->i++;
        return fr__shell_balanced(s, x, '(', ')', &first, &last);
    }
    FR_TRY(fr__shell_word_read(s, x, &word));
    if (is_output && word.n == 1 && !c->has_output && !isdigit((unsigned char)word.at[0].at[0].c)) {
        c->output = word.at[0];
        c->has_output = true;
    }
    return FR_OK;
}

static bool is_redirection(const struct fr__scan *x)
{
    char c = fr__scan_at(x, 0);

    return c == '<' || c == '>' || fr__scan_has(x, "&>");
}

static bool is_number(const struct fr__cells *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (!isdigit((unsigned char)c->at[i].c) || c->at[i].unknown)
            return false;
    return c->n > 0;
}

/* ---- what a command does ---- */

static bool is_one_of(const char *word, const char *const names[])
{
    for (size_t i = 0; names[i]; i++)
        if (strcmp(names[i], word) == 0)
            return true;
    return false;
}

static enum fr_status words_of(struct fr__shell_state *s, const struct fr__fields *f,
                               struct fr__shell_word **out)
{
    *out = fr__arena_alloc(s->arena, f->n ? f->n : 1, sizeof(**out));
    if (!*out)
        return fr__fail_nomem(s->err);
    for (size_t i = 0; i < f->n; i++)
        FR_TRY(fr__cells_word(s, &f->at[i], &(*out)[i]));
    return FR_OK;
}

static enum fr_status keep(struct fr__shell_state *s, const struct fr__shell_word *words, size_t n)
{
    FR_TRY(fr__shell_room(s, &s->commands, s->n_commands, &s->cap_commands, sizeof(*s->commands)));
    s->commands[s->n_commands++] = (struct fr__shell_command){words, n};
    return FR_OK;
}

/* read X, printf -v X, mapfile X: what only the run knows. */
static enum fr_status forget(struct fr__shell_state *s, const struct fr__fields *f,
                             const struct fr__shell_word *words)
{
    for (size_t i = 1; i < f->n; i++) {
        struct fr__fields value = {.n = 0};
        struct fr__cells cells = {.n = 0};

        if (!fr__is_name_letter(words[i].text[0], true) || f->at[i].n == 0)
            continue;
        if (strcmp(words[0].text, "printf") == 0 && strcmp(words[i - 1].text, "-v") != 0)
            continue;
        FR_TRY(fr__cells_add_unknown(s, &cells, words[i].text, f->at[i].at[0]));
        FR_TRY(fr__fields_add(s, &value, cells));
        FR_TRY(fr__shell_assign(s, words[i].text, &value, false, false));
    }
    return FR_OK;
}

/* Whether a word holds a command with a Python program: "cd x; python train.py --lr 1". */
static bool holds_program(const struct fr__shell_word *w)
{
    const char *py = strstr(w->text, ".py");

    return py && strchr(" \t\n", py[3]) && py[3] && strpbrk(w->text, " \t\n") < py;
}

static enum fr_status run_texts(struct fr__shell_state *s, const struct fr__fields *f,
                                const struct fr__shell_word *words, bool *is_text)
{
    static const char *const shells[] = {"bash", "sh", "/bin/bash", "/bin/sh", "zsh", NULL};
    struct fr__cells all;
    struct fr__fields rest = {.n = f->n ? f->n - 1 : 0};

    *is_text = true;
    if (strcmp(words[0].text, "eval") == 0) {
        rest.at = f->at + 1;
        FR_TRY(fr__fields_join(s, &rest, &all));
        return fr__shell_run(s, all);
    }
    for (size_t i = 0; i < f->n; i++) {
        bool is_argument = i > 1 && words[i - 1].text[0] == '-' && strchr(words[i - 1].text, 'c') &&
                           words[i - 1].text[1] != '-';

        for (size_t k = i; is_argument && k > 0; k--)
            if (is_one_of(words[k - 1].text, shells))
                return fr__shell_run(s, f->at[i]);
        if (holds_program(&words[i]))
            return fr__shell_run(s, f->at[i]);
    }
    *is_text = false;
    return FR_OK;
}

static enum fr_status call_function(struct fr__shell_state *s, const struct fr__fields *f,
                                    const char *name, bool *is_called)
{
    for (size_t i = 0; i < s->n_functions; i++) {
        if (strcmp(s->functions[i].name, name) != 0)
            continue;
        *is_called = true;
        for (size_t k = 1; k < f->n && k < 10; k++) {
            const char digit[2] = {(char)('0' + k), '\0'};
            const struct fr__fields value = {.at = &f->at[k], .n = 1};

            FR_TRY(fr__shell_assign(s, digit, &value, false, false));
        }
        return fr__shell_run(s, s->functions[i].body);
    }
    return FR_OK;
}

static enum fr_status builtin(struct fr__shell_state *s, const struct fr__fields *f,
                              const struct fr__shell_word *words, enum fr__truth *truth,
                              bool *is_done)
{
    static const char *const silent[] = {"echo", "printf", "set",   "shopt", "ulimit", "cd",
                                         "wait", "sleep",  "mkdir", "trap",  "let",    NULL};
    static const char *const readers[] = {"read", "printf", "mapfile", "readarray", NULL};
    const char *name = words[0].text;

    *is_done = true;
    if (strcmp(name, "true") == 0 || strcmp(name, ":") == 0 || strcmp(name, "false") == 0) {
        *truth = name[0] == 'f' ? FR__FALSE : FR__TRUE;
        return FR_OK;
    }
    if (strcmp(name, "[") == 0 || strcmp(name, "test") == 0) {
        size_t n = f->n - 1 - (name[0] == '[' && strcmp(words[f->n - 1].text, "]") == 0);

        *truth = fr__shell_test(s, words + 1, n);
        return FR_OK;
    }
    if (strcmp(name, "exit") == 0 || strcmp(name, "exec") == 0) {
        *is_done = name[2] == 'i';
        s->has_ended = *is_done && s->n_assumed == 0;
        return FR_OK;
    }
    if (strcmp(name, "unset") == 0) {
        const struct fr__fields none = {.n = 0};

        for (size_t i = 1; i < f->n; i++)
            FR_TRY(fr__shell_assign(s, words[i].text, &none, false, false));
        return FR_OK;
    }
    if ((strcmp(name, "source") == 0 || strcmp(name, ".") == 0) && f->n > 1)
        return fr__shell_source(s, words[1].text, is_done);
    if (is_one_of(name, readers))
        FR_TRY(forget(s, f, words));
    *is_done = is_one_of(name, silent) || is_one_of(name, readers);
    return FR_OK;
}

/* A document that is written to a file, or is a script for what reads it. */
static enum fr_status use_body(struct fr__shell_state *s, const struct command *c, const char *name)
{
    struct fr__shell_made made;

    if (strcmp(name, "cat") != 0 && strcmp(name, "tee") != 0)
        return fr__shell_run(s, c->body);
    FR_TRY(
        fr__cells_word(s, c->has_output ? &c->output : &c->fields.at[c->fields.n - 1], &made.name));
    FR_TRY(fr__cells_word(s, &c->body, &made.body));
    FR_TRY(fr__shell_room(s, &s->made, s->n_made, &s->cap_made, sizeof(*s->made)));
    s->made[s->n_made++] = made;
    return FR_OK;
}

static enum fr_status do_command(struct fr__shell_state *s, const struct command *c,
                                 enum fr__truth *truth)
{
    struct fr__shell_word *words;
    bool is_done = false;

    FR_TRY(words_of(s, &c->fields, &words));
    FR_TRY(builtin(s, &c->fields, words, truth, &is_done));
    if (!is_done)
        FR_TRY(call_function(s, &c->fields, words[0].text, &is_done));
    if (!is_done)
        FR_TRY(run_texts(s, &c->fields, words, &is_done));
    if (!is_done)
        FR_TRY(keep(s, words, c->fields.n));
    return c->has_body && !s->has_ended ? use_body(s, c, words[0].text) : FR_OK;
}

/* ---- reading one ---- */

/* [[ WORDS ]]: && || ( ) < > are words there. */
static enum fr_status read_condition(struct fr__shell_state *s, struct fr__scan *x,
                                     enum fr__truth *truth)
{
    struct fr_loc from = fr__scan_loc(s, x);
    struct fr__fields fields = {.n = 0};
    struct fr__shell_word *words;

    for (x->i += 2;;) {
        struct fr__cells one = {.n = 0};
        size_t n = fields.n, last = x->i;

        fr__scan_blanks(x);
        while (fr__scan_at(x, 0) == '\n') {
            fr__scan_line(x);
            fr__scan_blanks(x);
        }
        if (x->i >= x->text.n)
            return fr__fail(s->err, FR_EPARSE, from, "[[ has no ]]");
        if (fr__scan_has(x, "]]"))
            break;
        if (strchr("&|()<>;", fr__scan_at(x, 0))) {
            bool is_pair = fr__scan_has(x, "&&") || fr__scan_has(x, "||");

            one = fr__scan_piece(x, x->i, x->i + 1 + is_pair);
            x->i += one.n;
            FR_TRY(fr__fields_add(s, &fields, one));
            continue;
        }
        last = x->i;
        FR_TRY(fr__shell_value_read(s, x, &one)); /* is not split here */
        if (x->i == last)
            return fr__fail(s->err, FR_EPARSE, from, "[[ has no ]]");
        if (fields.n == n)
            FR_TRY(fr__fields_add(s, &fields, one));
    }
    x->i += 2;
    FR_TRY(words_of(s, &fields, &words));
    *truth = fr__shell_test(s, words, fields.n);
    return FR_OK;
}

static bool is_declaration(const struct fr__cells *c)
{
    return fr__cells_are(c, "export") || fr__cells_are(c, "declare") || fr__cells_are(c, "local") ||
           fr__cells_are(c, "readonly") || fr__cells_are(c, "typeset");
}

/* The words and redirections, after assignments before them. */
static enum fr_status read_words(struct fr__shell_state *s, struct fr__scan *x, struct command *c)
{
    char name[FR__SHELL_NAME];

    for (;;) {
        size_t n = c->fields.n, end;
        bool adds, is_element;

        fr__scan_blanks(x);
        if (x->i >= x->text.n || (strchr("\n;|()", fr__scan_at(x, 0)) && !is_redirection(x)) ||
            (fr__scan_at(x, 0) == '&' && !is_redirection(x)))
            return FR_OK;
        if (fr__scan_at(x, 0) == '#') {
            skip_remark(x);
        } else if (is_redirection(x)) {
            FR_TRY(redirect(s, x, c));
        } else if (n == 0 && is_assignment(x, name, &adds, &is_element, &end)) {
            x->i = end;
            FR_TRY(assign(s, x, name, adds, is_element));
        } else {
            FR_TRY(fr__shell_word_read(s, x, &c->fields));
            if (c->fields.n == n + 1 && is_redirection(x) && is_number(&c->fields.at[n]))
                c->fields.n = n; /* 2> */
            if (n == 0 && c->fields.n == 1 && is_declaration(&c->fields.at[0])) {
                c->fields.n = 0;
                FR_TRY(declare(s, x));
            }
        }
    }
}

enum fr_status fr__shell_command_read(struct fr__shell_state *s, struct fr__scan *x,
                                      enum fr__truth *truth)
{
    struct command c = {.has_body = false};

    *truth = FR__UNKNOWN;
    if (fr__scan_has(x, "[[") && strchr(" \t\n", fr__scan_at(x, 2)))
        return read_condition(s, x, truth);
    FR_TRY(read_words(s, x, &c));
    if (x->is_live && c.fields.n > 0)
        return do_command(s, &c, truth);
    return FR_OK;
}
