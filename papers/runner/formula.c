/* papers/runner/formula.c - reads and computes the formulas of formula.h in one go. */
#include "config.h"

#include "papers/runner/reader.h"

#include "base/error.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 64, MOST_TEXT = 1024 };

typedef enum fr_status part(struct fr__reader *r, struct fr__value *out, struct fr_error *err);
static part read_formula;

/* ---- texts ---- */

/* A value as it stands in a text. digits: after the point, or of all; -1: as many as it needs. */
static void put_value(char *out, size_t n, struct fr__value v, int digits, bool are_all)
{
    char number[40];

    if (are_all)
        snprintf(out, n, "%.*g", digits, v.number);
    else if (v.text && digits < 0)
        snprintf(out, n, "%s", v.text);
    else if (digits >= 0)
        snprintf(out, n, "%.*f", digits, v.number);
    else
        snprintf(out, n, "%s", isnan(v.number) ? "" : fr__format_double(v.number, number, 40));
}

/* "{formula}", "{formula:2}" or "{formula:g3}" at r->at, into out. */
static enum fr_status read_braces(struct fr__reader *r, char *out, size_t n, struct fr_error *err)
{
    struct fr__value v;
    bool are_all = false;
    int digits = -1;

    r->at++;
    FR_TRY(read_formula(r, &v, err));
    if (fr__reader_take(r, ":")) {
        are_all = fr__reader_take(r, "g");
        if (*r->at < '0' || *r->at > '9')
            return fr__reader_fail(r, "no digit behind ':'", err);
        digits = *r->at++ - '0';
    }
    FR_TRY(fr__reader_expect(r, "}", err));
    if (!r->skips)
        put_value(out, n, v, digits, are_all);
    return FR_OK;
}

/* Up to the byte `end`, which stays. */
static enum fr_status read_text(struct fr__reader *r, char end, const char **out,
                                struct fr_error *err)
{
    char text[MOST_TEXT] = "";
    size_t used = 0;

    while (*r->at && *r->at != end) {
        if (used + 1 >= sizeof(text))
            return fr__reader_fail(r, "a text of more than 1000 bytes", err);
        if (*r->at != '{') {
            text[used++] = *r->at++;
            text[used] = '\0';
            continue;
        }
        FR_TRY(read_braces(r, text + used, sizeof(text) - used, err));
        used += strlen(text + used);
    }
    *out = fr__arena_strdup(r->c->arena, text);
    return *out ? FR_OK : fr__fail_nomem(err);
}

/* ---- functions of values ---- */

static enum fr_status call(const struct fr__reader *r, const char *name, const struct fr__value v[],
                           size_t n, struct fr__value *out, struct fr_error *err)
{
    char what[64];
    double x = v[0].number;

    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0) {
        for (size_t i = 1; i < n; i++)
            x = name[1] == 'i' ? fmin(x, v[i].number) : fmax(x, v[i].number);
    } else if (strcmp(name, "abs") == 0 && n == 1)
        x = fabs(x);
    else if (strcmp(name, "floor") == 0 && n == 1)
        x = floor(x);
    else if (strcmp(name, "isnan") == 0 && n == 1)
        x = isnan(x);
    else if (strcmp(name, "has") == 0 && n == 2)
        x = v[0].text && v[1].text && strstr(v[0].text, v[1].text);
    else {
        snprintf(what, sizeof(what), "no function '%s' of %zu values", name, n);
        return fr__reader_fail(r, what, err);
    }
    *out = fr__value_number(x);
    return FR_OK;
}

static enum fr_status read_call(struct fr__reader *r, const char *name, struct fr__value *out,
                                struct fr_error *err)
{
    struct fr__value v[16];
    bool is_over;
    size_t n = 0;

    FR_TRY(fr__reader_over(r, name, &is_over, out, err));
    if (is_over)
        return fr__reader_expect(r, ")", err);
    do {
        if (n == sizeof(v) / sizeof(v[0]))
            return fr__reader_fail(r, "more than 16 arguments", err);
        FR_TRY(read_formula(r, &v[n++], err));
    } while (fr__reader_take(r, ","));
    FR_TRY(fr__reader_expect(r, ")", err));
    return r->skips ? FR_OK : call(r, name, v, n, out, err);
}

/* ---- values ---- */

static struct fr__value value_of(const struct fr__yaml *node)
{
    struct fr__value v = {.number = NAN};

    if (node->kind == FR__YAML_SCALAR && strcmp(node->text, "~") != 0)
        return fr__value_of_text(node->text);
    v.list = node->kind == FR__YAML_LIST ? node : NULL;
    return v;
}

/* The column of that name in the scope's row. A row is shorter than its columns only by mistake. */
static bool find_in(const struct fr__scope *s, const char *name, struct fr__value *out)
{
    const struct fr__yaml *given = s->list ? fr__yaml_get(s->list, "given") : NULL;
    const struct fr__yaml *row = given ? fr__yaml_get(s->list, "rows")->items[s->row] : NULL;

    if (s->name && strcmp(s->name, name) == 0) {
        *out = fr__value_number(s->number);
        return true;
    }
    for (size_t i = 0; row && i < given->n; i++)
        if (strcmp(given->items[i]->text, name) == 0) {
            *out = value_of(row->items[i]);
            return true;
        }
    return false;
}

static enum fr_status read_name(struct fr__reader *r, const char *name, struct fr__value *out,
                                struct fr_error *err)
{
    if (r->skips)
        return FR_OK;
    if (strcmp(name, "nan") == 0) {
        *out = fr__value_number(NAN);
        return FR_OK;
    }
    for (const struct fr__scope *s = r->scope; s; s = s->up)
        if (find_in(s, name, out))
            return FR_OK;
    return r->c->find(r->c->user, name, r->loc, r->scope, out, err);
}

static enum fr_status read_value(struct fr__reader *r, struct fr__value *out, struct fr_error *err)
{
    char name[FR__FORMULA_NAME];
    const char *end;

    r->at += strspn(r->at, " ");
    if (*r->at == '\'' || *r->at == '"') {
        const char quote = *r->at++;
        const char *text;

        FR_TRY(read_text(r, quote, &text, err));
        *out = (struct fr__value){.number = NAN, .text = text};
        return fr__reader_expect(r, (const char[]){quote, '\0'}, err);
    }
    if (fr__reader_take(r, "(")) {
        FR_TRY(read_formula(r, out, err));
        return fr__reader_expect(r, ")", err);
    }
    if (fr__reader_take_name(r, name))
        return fr__reader_take(r, "(") ? read_call(r, name, out, err)
                                       : read_name(r, name, out, err);
    *out = fr__value_number(fr__strtod(r->at, &end));
    if (end == r->at)
        return fr__reader_fail(r, *r->at ? "no value" : "the end", err);
    r->at = end;
    return FR_OK;
}

static enum fr_status read_field(struct fr__reader *r, struct fr__value *v, struct fr_error *err)
{
    char name[FR__FORMULA_NAME], what[80];

    if (!fr__reader_take_name(r, name))
        return fr__reader_fail(r, "no name behind '.'", err);
    if (r->skips)
        return FR_OK;
    for (const struct fr__field *f = v->fields; f && f->name; f++)
        if (strcmp(f->name, name) == 0) {
            *v = f->value;
            return FR_OK;
        }
    snprintf(what, sizeof(what), "an answer with no '%s'", name);
    return fr__reader_fail(r, what, err);
}

static enum fr_status read_index(struct fr__reader *r, struct fr__value *v, struct fr_error *err)
{
    struct fr__value i;

    FR_TRY(read_formula(r, &i, err));
    FR_TRY(fr__reader_expect(r, "]", err));
    if (r->skips)
        return FR_OK;
    if (!v->list || !(i.number >= 0 && i.number < (double)v->list->n))
        return fr__reader_fail(r, "no such place in a list", err);
    *v = value_of(v->list->items[(size_t)i.number]);
    return FR_OK;
}

static enum fr_status read_sign(struct fr__reader *r, struct fr__value *out, struct fr_error *err)
{
    r->at += strspn(r->at, " ");
    if (r->c->n_left-- == 0)
        return fr__fail(err, FR_ERANGE, r->loc, "the formulas take too long");
    *out = fr__value_number(NAN);
    if (*r->at == '-' || (*r->at == '!' && r->at[1] != '=')) {
        bool is_not = *r->at++ == '!';

        if (++r->c->depth > MOST_DEPTH)
            return fr__reader_fail(r, "too many signs", err);
        FR_TRY(read_sign(r, out, err));
        r->c->depth--;
        *out = fr__value_number(is_not ? !fr__value_is_true(*out) : -out->number);
        return FR_OK;
    }
    FR_TRY(read_value(r, out, err));
    for (;;)
        if (fr__reader_take(r, "."))
            FR_TRY(read_field(r, out, err));
        else if (fr__reader_take(r, "["))
            FR_TRY(read_index(r, out, err));
        else
            return FR_OK;
}

/* ---- operators ---- */

static bool compare(const char *word, struct fr__value a, struct fr__value b)
{
    double x = a.number, y = b.number;

    if (a.text && b.text && word[1] == '=' && (word[0] == '=' || word[0] == '!'))
        return (strcmp(a.text, b.text) == 0) == (word[0] == '=');
    switch (word[0]) {
    case '=':
        return x <= y && x >= y;
    case '!':
        return !(x <= y && x >= y);
    case '<':
        return word[1] ? x <= y : x < y;
    default:
        return word[1] ? x >= y : x > y;
    }
}

static enum fr_status read_product(struct fr__reader *r, struct fr__value *out,
                                   struct fr_error *err)
{
    struct fr__value v;

    FR_TRY(read_sign(r, out, err));
    for (;;) {
        bool is_over = false;

        if (!fr__reader_take(r, "*") && !(is_over = fr__reader_take(r, "/")))
            return FR_OK;
        FR_TRY(read_sign(r, &v, err));
        *out = fr__value_number(is_over ? out->number / v.number : out->number * v.number);
    }
}

static enum fr_status read_sum(struct fr__reader *r, struct fr__value *out, struct fr_error *err)
{
    struct fr__value v;

    FR_TRY(read_product(r, out, err));
    for (;;) {
        bool is_minus = false;

        if (!fr__reader_take(r, "+") && !(is_minus = fr__reader_take(r, "-")))
            return FR_OK;
        FR_TRY(read_product(r, &v, err));
        *out = fr__value_number(is_minus ? out->number - v.number : out->number + v.number);
    }
}

static enum fr_status read_test(struct fr__reader *r, struct fr__value *out, struct fr_error *err)
{
    static const char *const words[] = {"==", "!=", "<=", ">=", "<", ">"};
    struct fr__value v;

    FR_TRY(read_sum(r, out, err));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (fr__reader_take(r, words[i])) {
            FR_TRY(read_sum(r, &v, err));
            *out = fr__value_number(compare(words[i], *out, v));
            return FR_OK;
        }
    return FR_OK;
}

/* a && b && c, or a || b || c; b and c are computed where they decide. */
static enum fr_status read_several(struct fr__reader *r, const char *word, part *next,
                                   struct fr__value *out, struct fr_error *err)
{
    bool is_or = word[0] == '|', skips = r->skips;
    struct fr__value v;

    FR_TRY(next(r, out, err));
    while (fr__reader_take(r, word)) {
        bool is_first = fr__value_is_true(*out);

        r->skips = skips || is_first == is_or;
        FR_TRY(next(r, &v, err));
        *out = fr__value_number(is_or ? is_first || fr__value_is_true(v)
                                      : is_first && fr__value_is_true(v));
        r->skips = skips;
    }
    return FR_OK;
}

static enum fr_status read_and(struct fr__reader *r, struct fr__value *out, struct fr_error *err)
{
    return read_several(r, "&&", read_test, out, err);
}

static enum fr_status read_formula(struct fr__reader *r, struct fr__value *out,
                                   struct fr_error *err)
{
    struct fr__value yes, no;
    bool skips = r->skips;

    if (++r->c->depth > MOST_DEPTH)
        return fr__fail(err, FR_ERANGE, r->loc, "formulas are more than %d deep", (int)MOST_DEPTH);
    FR_TRY(read_several(r, "||", read_and, out, err));
    if (fr__reader_take(r, "?")) {
        bool is_yes = fr__value_is_true(*out);

        r->skips = skips || !is_yes;
        FR_TRY(read_formula(r, &yes, err));
        FR_TRY(fr__reader_expect(r, ":", err));
        r->skips = skips || is_yes;
        FR_TRY(read_formula(r, &no, err));
        *out = is_yes ? yes : no;
        r->skips = skips;
    }
    r->c->depth--;
    return FR_OK;
}

/* ---- whole ---- */

static struct fr__reader reader_of(struct fr__formula_context *c, const struct fr__yaml *node,
                                   const struct fr__scope *scope)
{
    return (struct fr__reader){.c = c,
                               .read = read_formula,
                               .scope = scope,
                               .at = node->text,
                               .whole = node->text,
                               .loc = node->loc};
}

enum fr_status fr__formula(struct fr__formula_context *c, const struct fr__yaml *node,
                           const struct fr__scope *scope, struct fr__value *out,
                           struct fr_error *err)
{
    struct fr__reader r;

    FR_TRY(fr__yaml_expect(node, FR__YAML_SCALAR, "a formula", err));
    r = reader_of(c, node, scope);
    FR_TRY(read_formula(&r, out, err));
    r.at += strspn(r.at, " ");
    return *r.at ? fr__reader_fail(&r, "more than a value", err) : FR_OK;
}

enum fr_status fr__formula_text(struct fr__formula_context *c, const struct fr__yaml *node,
                                const struct fr__scope *scope, const char **out,
                                struct fr_error *err)
{
    struct fr__reader r;

    FR_TRY(fr__yaml_expect(node, FR__YAML_SCALAR, "a text", err));
    r = reader_of(c, node, scope);
    return read_text(&r, '\0', out, err);
}
