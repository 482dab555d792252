/* jobfile/shell_parameters.c - what stands behind a '$': ${NAME} with defaults, elements, lengths
 * and cuts, and $(( )) (POSIX.1-2008, Shell Command Language, 2.6.2; arrays and changes of case as
 * in bash). ${NAME/a/b}, ${NAME:1:2} and ${!NAME} are unknown values.
 */
#include "config.h"

#include "jobfile/shell_state.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum fr_status fr__give_unknown(struct fr__shell_state *s, const char *name, struct fr__cell where,
                                struct fr__expansion *e)
{
    struct fr__cells cells = {.n = 0};

    FR_TRY(fr__cells_add_unknown(s, &cells, name, where));
    return fr__fields_add(s, &e->parts, cells);
}

static enum fr_status give_number(struct fr__shell_state *s, int64_t n, struct fr__cell where,
                                  struct fr__expansion *e)
{
    struct fr__cells cells = {.n = 0};
    char text[32];

    snprintf(text, sizeof(text), "%" PRId64, n);
    where.unknown = 0;
    for (const char *c = text; *c; c++) {
        where.c = *c;
        FR_TRY(fr__cells_add(s, &cells, where));
    }
    return fr__fields_add(s, &e->parts, cells);
}

enum fr_status fr__expand_sum(struct fr__shell_state *s, struct fr__cells text, bool is_live,
                              struct fr__cell where, struct fr__expansion *e)
{
    struct fr__cells sum;
    const char *unknown, *plain;
    int64_t value;

    FR_TRY(fr__shell_inner(s, text, is_live, &sum));
    unknown = fr__cells_unknown(s, &sum);
    if (unknown)
        return fr__give_unknown(s, unknown, where, e);
    plain = fr__cells_text(s, &sum);
    if (!plain)
        return fr__fail_nomem(s->err);
    FR_TRY(fr__shell_arithmetic(s, plain, &value, &unknown));
    if (unknown)
        return fr__give_unknown(s, *unknown ? unknown : "$((...))", where, e);
    return give_number(s, value, where, e);
}

/* ---- ${NAME...} ---- */

struct parameter {
    char name[FR__SHELL_NAME];
    char index;            /* '@', '*', '1': an element; '\0': none */
    struct fr__cells pick; /* the element's number */
    struct fr__cells rest; /* behind the name: ":-8" */
    bool is_length, is_indirect;
};

bool fr__is_special(char c)
{
    return c && strchr("@*#?$!-", c);
}

void fr__shell_name_read(struct fr__scan *x, char name[FR__SHELL_NAME])
{
    size_t n = 0;

    if (isdigit((unsigned char)fr__scan_at(x, 0)) || fr__is_special(fr__scan_at(x, 0))) {
        name[n++] = fr__scan_at(x, 0);
        x->i++;
        while (isdigit((unsigned char)name[0]) && isdigit((unsigned char)fr__scan_at(x, 0)) &&
               n < 8) {
            name[n++] = fr__scan_at(x, 0);
            x->i++;
        }
    } else {
        for (; fr__is_name_letter(fr__scan_at(x, 0), false); x->i++)
            if (n + 1 < FR__SHELL_NAME)
                name[n++] = fr__scan_at(x, 0);
    }
    name[n] = '\0';
}

static enum fr_status read_parameter(struct fr__shell_state *s, struct fr__cells text,
                                     struct parameter *p)
{
    struct fr__scan x = {.text = text};
    size_t first, last;

    *p = (struct parameter){.index = '\0'};
    p->is_length = fr__scan_at(&x, 0) == '#' && text.n > 1 && !strchr(":-+=?", fr__scan_at(&x, 1));
    p->is_indirect = fr__scan_at(&x, 0) == '!' && text.n > 1;
    x.i += p->is_length || p->is_indirect;
    fr__shell_name_read(&x, p->name);
    if (fr__scan_at(&x, 0) == '[') {
        x.i++;
        FR_TRY(fr__shell_balanced(s, &x, '[', ']', &first, &last));
        p->pick = fr__scan_piece(&x, first, last);
        p->index = fr__cells_are(&p->pick, "@") ? '@' : fr__cells_are(&p->pick, "*") ? '*' : '1';
    }
    p->rest = fr__scan_piece(&x, x.i, text.n);
    return FR_OK;
}

/* The value as it is; is_set: there is one. */
static enum fr_status value_of(struct fr__shell_state *s, const struct parameter *p, bool is_live,
                               struct fr__cell where, struct fr__expansion *e, bool *is_set)
{
    const struct fr__shell_variable *v = fr__shell_find(s, p->name);
    const char *unknown = NULL;
    struct fr__cells pick;
    int64_t i = 0;

    *is_set = v && (v->fields.n > 0 || v->is_array);
    e->is_list = p->index == '@' || strcmp(p->name, "@") == 0;
    if (!*is_set || (p->index != '1' && p->index)) {
        e->parts = *is_set ? v->fields : e->parts;
        return FR_OK;
    }
    if (p->index == '1') {
        FR_TRY(fr__shell_inner(s, p->pick, is_live, &pick));
        unknown = fr__cells_unknown(s, &pick);
        if (!unknown)
            FR_TRY(fr__shell_arithmetic(s, fr__cells_text(s, &pick), &i, &unknown));
    }
    if (unknown)
        return fr__give_unknown(s, p->name, where, e);
    if (i < 0 || (size_t)i >= v->fields.n)
        return FR_OK;
    return fr__fields_add(s, &e->parts, v->fields.at[i]);
}

static bool is_empty(const struct fr__expansion *e)
{
    for (size_t i = 0; i < e->parts.n; i++)
        if (e->parts.at[i].n > 0)
            return false;
    return true;
}

static enum fr_status give_inner(struct fr__shell_state *s, struct fr__cells text, bool is_live,
                                 struct fr__expansion *e)
{
    struct fr__cells cells;

    e->parts = (struct fr__fields){.n = 0};
    e->is_list = false;
    FR_TRY(fr__shell_inner(s, text, is_live, &cells));
    return cells.n ? fr__fields_add(s, &e->parts, cells) : FR_OK;
}

/* ${X:-W}, ${X:=W}, ${X:+W}, ${X:?W} and these without the colon. *is_done: it was one. */
static enum fr_status default_of(struct fr__shell_state *s, const struct parameter *p, bool is_live,
                                 bool is_set, struct fr__cell where, struct fr__expansion *e,
                                 bool *is_done)
{
    struct fr__scan x = {.text = p->rest};
    bool has_colon =
        fr__scan_at(&x, 0) == ':' && fr__scan_at(&x, 1) && strchr("-=+?", fr__scan_at(&x, 1));
    char sign = fr__scan_at(&x, has_colon);
    bool is_there = is_set && !(has_colon && is_empty(e));
    struct fr__cells word;

    *is_done = sign && strchr("-=+?", sign) != NULL;
    if (!*is_done)
        return FR_OK;
    word = fr__scan_piece(&x, (size_t)has_colon + 1, p->rest.n);
    if (sign == '+') {
        if (is_there)
            return give_inner(s, word, is_live, e);
        *e = (struct fr__expansion){.is_list = false};
        return FR_OK;
    }
    if (is_there)
        return FR_OK;
    if (sign == '?')
        return fr__give_unknown(s, p->name, where, e);
    FR_TRY(give_inner(s, word, is_live, e));
    if (sign == '=' && is_live)
        FR_TRY(fr__shell_assign(s, p->name, &e->parts, false, false));
    return FR_OK;
}

/* ${X%P}, ${X%%P}, ${X#P}, ${X##P}: without the shortest or longest end or beginning that matches.
 */
static enum fr_status cut(struct fr__shell_state *s, const char *pattern, bool at_end, bool longest,
                          struct fr__cells *cells)
{
    char *text = fr__cells_text(s, cells);
    size_t n = cells->n;

    for (size_t k = 0; text && k <= n; k++) {
        size_t m = longest ? n - k : k; /* letters that go */
        bool is_match;
        char kept;

        if (at_end) {
            is_match = fr__shell_matches(pattern, text + n - m);
        } else {
            kept = text[m];
            text[m] = '\0';
            is_match = fr__shell_matches(pattern, text);
            text[m] = kept;
        }
        if (!is_match)
            continue;
        *cells = (struct fr__cells){.at = cells->at + (at_end ? 0 : m), .n = n - m, .cap = n - m};
        return FR_OK;
    }
    return text ? FR_OK : fr__fail_nomem(s->err);
}

static enum fr_status change_case(struct fr__shell_state *s, bool is_up, struct fr__cells *cells)
{
    struct fr__cells new = {.n = 0};

    for (size_t i = 0; i < cells->n; i++) {
        struct fr__cell c = cells->at[i];

        if (!c.unknown)
            c.c = (char)(is_up ? toupper((unsigned char)c.c) : tolower((unsigned char)c.c));
        FR_TRY(fr__cells_add(s, &new, c));
    }
    *cells = new;
    return FR_OK;
}

/* Signs behind a name that change its value. What is not known here is an unknown value. */
static enum fr_status change(struct fr__shell_state *s, const struct parameter *p, bool is_live,
                             struct fr__cell where, struct fr__expansion *e)
{
    struct fr__scan x = {.text = p->rest};
    char sign = fr__scan_at(&x, 0);
    bool is_double = fr__scan_at(&x, 1) == sign;
    struct fr__cells word, value;
    const char *pattern;

    if (e->parts.n != 1 || fr__cells_unknown(s, &e->parts.at[0]))
        return FR_OK;
    value = e->parts.at[0];
    if ((sign == '^' || sign == ',') && is_double && p->rest.n == 2) {
        FR_TRY(change_case(s, sign == '^', &value));
    } else if (sign == '%' || sign == '#') {
        FR_TRY(fr__shell_inner(s, fr__scan_piece(&x, 1 + (size_t)is_double, p->rest.n), is_live,
                               &word));
        pattern = fr__cells_unknown(s, &word) ? NULL : fr__cells_text(s, &word);
        if (pattern)
            FR_TRY(cut(s, pattern, sign == '%', is_double, &value));
    } else {
        e->parts = (struct fr__fields){.n = 0};
        return fr__give_unknown(s, p->name, where, e);
    }
    e->parts = (struct fr__fields){.n = 0};
    return fr__fields_add(s, &e->parts, value);
}

enum fr_status fr__expand_parameter(struct fr__shell_state *s, struct fr__cells text, bool is_live,
                                    struct fr__cell where, struct fr__expansion *e)
{
    struct parameter p;
    bool is_set, is_done;
    int64_t n = 0;

    FR_TRY(read_parameter(s, text, &p));
    if (!p.name[0] || p.is_indirect)
        return fr__give_unknown(s, p.name[0] ? p.name : "${...}", where, e);
    if (strcmp(p.name, "?") == 0)
        return give_number(s, 0, where, e);
    FR_TRY(value_of(s, &p, is_live, where, e, &is_set));
    if (p.is_length) {
        n = p.index ? (int64_t)e->parts.n : e->parts.n ? (int64_t)e->parts.at[0].n : 0;
        e->parts = (struct fr__fields){.n = 0};
        e->is_list = false;
        return is_set ? give_number(s, n, where, e) : fr__give_unknown(s, p.name, where, e);
    }
    FR_TRY(default_of(s, &p, is_live, is_set, where, e, &is_done));
    if (is_done)
        return FR_OK;
    if (!is_set)
        return fr__give_unknown(s, p.name, where, e);
    return p.rest.n ? change(s, &p, is_live, where, e) : FR_OK;
}
