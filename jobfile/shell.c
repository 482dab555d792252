/* jobfile/shell.c - lists of commands and blocks: which of them run (POSIX.1-2008, Shell Command
 * Language, 2.9). Files are read in one go, from letters with places (shell_state.h); blocks that
 * do not run are read over by the same functions.
 */
#include "config.h"

#include "jobfile/shell_state.h"

#include <string.h>

void fr__scan_blanks(struct fr__scan *x)
{
    for (;;) {
        char c = fr__scan_at(x, 0);

        if (c == ' ' || c == '\t' || c == '\r')
            x->i++;
        else if (c == '\\' && (fr__scan_at(x, 1) == '\n' || fr__scan_has(x, "\\\r\n")))
            x->i += fr__scan_at(x, 1) == '\n' ? 2 : 3;
        else
            return;
    }
}

void fr__scan_line(struct fr__scan *x)
{
    x->i = x->next_body > x->i ? x->next_body : x->i + 1;
    x->next_body = 0;
}

/* ---- words that open and close blocks ---- */

static const char *const closers[] = {"then", "else", "elif", "fi", "do",
                                      "done", "esac", "}",    NULL};

/* Whether that word stands at x by itself. */
static bool is_keyword(const struct fr__scan *x, const char *word)
{
    char behind = fr__scan_at(x, strlen(word));

    return fr__scan_has(x, word) && (!behind || strchr(" \t\r\n;&|()<>", behind));
}

static bool is_closed(const struct fr__scan *x)
{
    for (size_t i = 0; closers[i]; i++)
        if (is_keyword(x, closers[i]))
            return true;
    return x->i >= x->text.n || fr__scan_at(x, 0) == ')' || fr__scan_has(x, ";;");
}

/* Over blanks, remarks, ends of lines and semicolons. */
static void skip_lines(struct fr__scan *x)
{
    for (;;) {
        fr__scan_blanks(x);
        if (fr__scan_at(x, 0) == '#')
            while (x->i < x->text.n && fr__scan_at(x, 0) != '\n')
                x->i++;
        if (fr__scan_at(x, 0) == '\n')
            fr__scan_line(x);
        else if (fr__scan_at(x, 0) == ';' && fr__scan_at(x, 1) != ';')
            x->i++;
        else if (fr__scan_at(x, 0) == '&' && fr__scan_at(x, 1) != '&' && fr__scan_at(x, 1) != '>')
            x->i++;
        else
            return;
    }
}

static enum fr_status expect(struct fr__shell_state *s, struct fr__scan *x, const char *word,
                             struct fr_loc from, const char *block)
{
    skip_lines(x);
    if (!is_keyword(x, word))
        return fr__fail(s->err, FR_EPARSE, from, "'%s' has no '%s'", block, word);
    x->i += strlen(word);
    return FR_OK;
}

static enum fr_status read_list(struct fr__shell_state *s, struct fr__scan *x,
                                enum fr__truth *truth);

static enum fr_status read_dead(struct fr__shell_state *s, struct fr__scan *x, bool is_live)
{
    bool was_live = x->is_live;
    enum fr__truth truth;

    x->is_live = was_live && is_live;
    FR_TRY(read_list(s, x, &truth));
    x->is_live = was_live;
    return FR_OK;
}

/* ---- blocks ---- */

static const char no_condition[] = "what the condition says is known only when the script runs; "
                                   "it is taken as false";
static const char no_loop[] = "the loop is left out: how often it runs is known only when the "
                              "script runs";

static enum fr_status read_if(struct fr__shell_state *s, struct fr__scan *x)
{
    struct fr_loc from = fr__scan_loc(s, x);
    bool is_done = false;

    for (x->i += 2;; x->i += 4) { /* "if", "elif" */
        bool was_live = x->is_live;
        enum fr__truth truth = FR__UNKNOWN;
        unsigned n_assumed;
        struct fr_loc where;

        skip_lines(x);
        where = fr__scan_loc(s, x);
        x->is_live = was_live && !is_done;
        s->has_assumed = false;
        FR_TRY(read_list(s, x, &truth));
        s->n_assumed += n_assumed = s->has_assumed;
        if (x->is_live && truth == FR__UNKNOWN && !s->has_ended)
            FR_TRY(fr__shell_note(s, where, no_condition));
        x->is_live = was_live;
        FR_TRY(expect(s, x, "then", from, "if"));
        FR_TRY(read_dead(s, x, !is_done && truth == FR__TRUE));
        s->n_assumed -= n_assumed;
        is_done = is_done || truth == FR__TRUE;
        skip_lines(x);
        if (!is_keyword(x, "elif"))
            break;
    }
    if (is_keyword(x, "else")) {
        x->i += 4;
        FR_TRY(read_dead(s, x, !is_done));
    }
    return expect(s, x, "fi", from, "if");
}

static enum fr_status read_while(struct fr__shell_state *s, struct fr__scan *x)
{
    struct fr_loc from = fr__scan_loc(s, x);

    if (x->is_live)
        FR_TRY(fr__shell_note(s, from, no_loop));
    x->i += 5; /* "while", "until" */
    FR_TRY(read_dead(s, x, false));
    FR_TRY(expect(s, x, "do", from, "while"));
    FR_TRY(read_dead(s, x, false));
    return expect(s, x, "done", from, "while");
}

/* The body once for each value. */
static enum fr_status run_for(struct fr__shell_state *s, struct fr__scan *x, const char *name,
                              const struct fr__fields *values, struct fr_loc from)
{
    size_t start = x->i, next = x->next_body;

    if (!x->is_live || values->n == 0)
        FR_TRY(read_dead(s, x, false));
    for (size_t i = 0; x->is_live && i < values->n; i++) {
        const struct fr__fields one = {.at = &values->at[i], .n = 1};
        struct fr__cell spent = {.c = ' '};
        struct fr__cells work = {.n = 0};

        FR_TRY(fr__shell_assign(s, name, &one, false, false));
        x->i = start;
        x->next_body = next;
        FR_TRY(read_dead(s, x, true));
        for (size_t k = start; k < x->i; k += 16) /* so that nested loops end */
            FR_TRY(fr__cells_add(s, &work, spent));
    }
    return expect(s, x, "done", from, "for");
}

static enum fr_status read_for(struct fr__shell_state *s, struct fr__scan *x)
{
    struct fr_loc from = fr__scan_loc(s, x);
    struct fr__fields values = {.n = 0};
    char name[FR__SHELL_NAME];
    size_t first, last;

    x->i += 3;
    fr__scan_blanks(x);
    if (fr__scan_has(x, "((")) {
        if (x->is_live)
            FR_TRY(fr__shell_note(s, from, no_loop));
        x->i++;
        FR_TRY(fr__shell_balanced(s, x, '(', ')', &first, &last));
        FR_TRY(expect(s, x, "do", from, "for"));
        FR_TRY(read_dead(s, x, false));
        return expect(s, x, "done", from, "for");
    }
    fr__shell_name_read(x, name);
    skip_lines(x);
    if (is_keyword(x, "in")) {
        x->i += 2;
        for (fr__scan_blanks(x); x->i < x->text.n && !strchr("\n;#", fr__scan_at(x, 0));
             fr__scan_blanks(x)) {
            last = x->i;
            FR_TRY(fr__shell_word_read(s, x, &values));
            if (x->i == last)
                return fr__fail(s->err, FR_EPARSE, fr__scan_loc(s, x), "'%c' is no word of a loop",
                                fr__scan_at(x, 0));
        }
    }
    FR_TRY(expect(s, x, "do", from, "for"));
    return run_for(s, x, name, &values, from);
}

/* The patterns before ')'. *is_match: the word is one of them. */
static enum fr_status read_patterns(struct fr__shell_state *s, struct fr__scan *x,
                                    const struct fr__shell_word *word, bool *is_match)
{
    struct fr_loc from = fr__scan_loc(s, x);

    *is_match = false;
    x->i += fr__scan_at(x, 0) == '(';
    for (;;) {
        struct fr__cells cells;
        struct fr__shell_word pattern;

        fr__scan_blanks(x);
        FR_TRY(fr__shell_value_read(s, x, &cells));
        FR_TRY(fr__cells_word(s, &cells, &pattern));
        *is_match |=
            !word->unknown && !pattern.unknown && fr__shell_matches(pattern.text, word->text);
        fr__scan_blanks(x);
        if (fr__scan_at(x, 0) == ')')
            break;
        if (fr__scan_at(x, 0) != '|')
            return fr__fail(s->err, FR_EPARSE, from, "a pattern of 'case' has no ')'");
        x->i++;
    }
    x->i++;
    return FR_OK;
}

static enum fr_status read_case(struct fr__shell_state *s, struct fr__scan *x)
{
    struct fr_loc from = fr__scan_loc(s, x);
    struct fr__cells cells;
    struct fr__shell_word word;
    bool is_done = false, is_match;

    x->i += 4;
    fr__scan_blanks(x);
    FR_TRY(fr__shell_value_read(s, x, &cells));
    FR_TRY(fr__cells_word(s, &cells, &word));
    FR_TRY(expect(s, x, "in", from, "case"));
    if (x->is_live && word.unknown)
        FR_TRY(fr__shell_note(s, from, no_condition));
    for (skip_lines(x); !is_keyword(x, "esac"); skip_lines(x)) {
        if (x->i >= x->text.n)
            return fr__fail(s->err, FR_EPARSE, from, "'case' has no 'esac'");
        FR_TRY(read_patterns(s, x, &word, &is_match));
        FR_TRY(read_dead(s, x, is_match && !is_done));
        is_done = is_done || is_match;
        if (fr__scan_has(x, ";;"))
            x->i += fr__scan_has(x, ";;&") ? 3 : 2;
    }
    x->i += 4;
    return FR_OK;
}

static enum fr_status read_group(struct fr__shell_state *s, struct fr__scan *x, char close)
{
    struct fr_loc from = fr__scan_loc(s, x);

    x->i++;
    FR_TRY(read_dead(s, x, true));
    skip_lines(x);
    if (fr__scan_at(x, 0) != close)
        return fr__fail(s->err, FR_EPARSE, from, "a block has no '%c'", close);
    x->i++;
    return FR_OK;
}

/* "NAME() {", "function NAME {" */
static bool is_function(const struct fr__scan *x, char name[FR__SHELL_NAME], size_t *body)
{
    struct fr__scan at = *x;
    bool has_word = is_keyword(x, "function");
    size_t n = 0;

    at.i += has_word ? 8 : 0;
    fr__scan_blanks(&at);
    for (; fr__is_name_letter(fr__scan_at(&at, 0), false) || fr__scan_at(&at, 0) == '-'; at.i++)
        if (n + 1 < FR__SHELL_NAME)
            name[n++] = fr__scan_at(&at, 0);
    name[n] = '\0';
    fr__scan_blanks(&at);
    if (n == 0 || (!has_word && fr__scan_at(&at, 0) != '('))
        return false;
    if (fr__scan_at(&at, 0) == '(') {
        at.i++;
        fr__scan_blanks(&at);
        if (fr__scan_at(&at, 0) != ')')
            return false;
        at.i++;
    }
    skip_lines(&at);
    *body = at.i;
    return fr__scan_at(&at, 0) == '{';
}

static enum fr_status read_function(struct fr__shell_state *s, struct fr__scan *x, const char *name,
                                    size_t body)
{
    bool was_live = x->is_live;
    size_t first = body + 1;
    struct fr__cells text;
    char *copy;

    x->i = body;
    x->is_live = false;
    FR_TRY(read_group(s, x, '}'));
    x->is_live = was_live;
    text = fr__scan_piece(x, first, x->i - 1);
    if (!was_live)
        return FR_OK;
    copy = fr__arena_strdup(s->arena, name);
    if (!copy)
        return fr__fail_nomem(s->err);
    FR_TRY(
        fr__shell_room(s, &s->functions, s->n_functions, &s->cap_functions, sizeof(*s->functions)));
    s->functions[s->n_functions++] = (struct fr__shell_function){copy, text};
    return FR_OK;
}

/* (( )) as a command. */
static enum fr_status read_sum(struct fr__shell_state *s, struct fr__scan *x, enum fr__truth *truth)
{
    size_t first, last;
    const char *unknown, *text;
    struct fr__cells cells;
    int64_t value;

    x->i += 2;
    FR_TRY(fr__shell_balanced(s, x, '(', ')', &first, &last));
    x->i += fr__scan_at(x, 0) == ')';
    *truth = FR__UNKNOWN;
    FR_TRY(fr__shell_inner(s, fr__scan_piece(x, first, last), x->is_live, &cells));
    if (fr__cells_unknown(s, &cells))
        return FR_OK;
    text = fr__cells_text(s, &cells);
    if (!text)
        return fr__fail_nomem(s->err);
    FR_TRY(fr__shell_arithmetic(s, text, &value, &unknown));
    if (!unknown)
        *truth = value ? FR__TRUE : FR__FALSE;
    return FR_OK;
}

static enum fr_status read_one(struct fr__shell_state *s, struct fr__scan *x, enum fr__truth *truth)
{
    char name[FR__SHELL_NAME];
    size_t body;

    *truth = FR__UNKNOWN;
    if (is_keyword(x, "if"))
        return read_if(s, x);
    if (is_keyword(x, "for"))
        return read_for(s, x);
    if (is_keyword(x, "while") || is_keyword(x, "until"))
        return read_while(s, x);
    if (is_keyword(x, "case"))
        return read_case(s, x);
    if (fr__scan_has(x, "(("))
        return read_sum(s, x, truth);
    if (fr__scan_at(x, 0) == '(')
        return read_group(s, x, ')');
    if (is_keyword(x, "{"))
        return read_group(s, x, '}');
    if (is_function(x, name, &body))
        return read_function(s, x, name, body);
    return fr__shell_command_read(s, x, truth);
}

/* "! A | B && C || D": what stands behind && or || runs by what came before it. */
static enum fr_status read_chain(struct fr__shell_state *s, struct fr__scan *x,
                                 enum fr__truth *truth)
{
    bool was_live = x->is_live;

    for (;;) {
        enum fr__truth last;
        bool is_not;

        fr__scan_blanks(x);
        while (fr__scan_at(x, 0) == '\n') {
            fr__scan_line(x);
            fr__scan_blanks(x);
        }
        is_not = is_keyword(x, "!");
        x->i += is_not;
        fr__scan_blanks(x);
        if (is_keyword(x, "time"))
            x->i += 4;
        fr__scan_blanks(x);
        if (is_closed(x))
            break;
        FR_TRY(read_one(s, x, &last));
        if (is_not && last != FR__UNKNOWN)
            last = last == FR__TRUE ? FR__FALSE : FR__TRUE;
        *truth = x->is_live ? last : *truth;
        fr__scan_blanks(x);
        if (fr__scan_has(x, "&&"))
            x->is_live = was_live && *truth != FR__FALSE;
        else if (fr__scan_has(x, "||"))
            x->is_live = was_live && *truth == FR__FALSE;
        else if (fr__scan_at(x, 0) != '|')
            break;
        x->i += fr__scan_at(x, 1) == '&' || fr__scan_at(x, 1) == '|' ? 2 : 1;
        x->is_live = x->is_live && !s->has_ended;
    }
    x->is_live = was_live;
    return FR_OK;
}

/* To a word that closes a block; *truth: of the last command. */
static enum fr_status read_list(struct fr__shell_state *s, struct fr__scan *x,
                                enum fr__truth *truth)
{
    *truth = FR__UNKNOWN;
    if (++s->depth > FR__SHELL_MOST_DEPTH)
        return fr__fail(s->err, FR_EPARSE, fr__scan_loc(s, x), "deeper than %d levels",
                        (int)FR__SHELL_MOST_DEPTH);
    for (skip_lines(x); !is_closed(x); skip_lines(x)) {
        size_t from = x->i;

        x->is_live = x->is_live && !s->has_ended;
        FR_TRY(read_chain(s, x, truth));
        if (x->i == from)
            return fr__fail(s->err, FR_EPARSE, fr__scan_loc(s, x), "'%c' begins no command",
                            fr__scan_at(x, 0));
    }
    s->depth--;
    return FR_OK;
}

enum fr_status fr__shell_run(struct fr__shell_state *s, struct fr__cells text)
{
    struct fr__scan x = {.text = text, .is_live = true};
    enum fr__truth truth;

    FR_TRY(read_list(s, &x, &truth));
    if (x.i < x.text.n)
        return fr__fail(s->err, FR_EPARSE, fr__scan_loc(s, &x), "'%c' closes nothing that is open",
                        fr__scan_at(&x, 0));
    return FR_OK;
}
