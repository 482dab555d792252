/* api/call/request.c - each member of a request becomes a word, "--batch=32", and each word an
 * option by the reader of command lines, so that both know the same options and errors.
 */
#include "config.h"

#include "api/call/request.h"
#include "base/error.h"
#include "base/json_read.h"

#include <string.h>

enum { MOST_KEY = 64 };

struct request {
    struct fr__arena *arena;
    const struct fr__verb *verb;
    struct fr__options *options;
    struct fr__words *words;
    bool allows_code;
    struct fr_error *err;
};

/* An error without a place gets that of the value. */
static enum fr_status at(const struct fr__json_value *v, enum fr_status st, struct fr_error *err)
{
    if (st != FR_OK && !err->file[0] && err->line == 0) {
        err->line = v->loc.line;
        err->col = v->loc.col;
    }
    return st;
}

/* Room for the words of all members, those in lists too. */
static size_t count_words(const struct fr__json_value *top, const struct fr__verb *v)
{
    size_t n = 4 + (v->group != NULL); /* the program, the verb, --json, and a NULL */

    for (const struct fr__json_value *m = top ? top->first : NULL; m; m = m->next)
        n += m->kind == FR__JSON_ARRAY ? m->n : 1;
    return n;
}

/* Keeps and reads the text `before` + `text`. */
static enum fr_status add_word(struct request *r, const char *before, const char *text)
{
    size_t n = strlen(before), m = strlen(text);
    char *word = fr__arena_alloc(r->arena, n + m + 1, 1);

    if (!word)
        return fr__fail_nomem(r->err);
    memcpy(word, before, n);
    memcpy(word + n, text, m);
    r->words->words[r->words->n++] = word;
    return FR_OK;
}

/* Shared objects run code: the program says whether it wants that. */
static enum fr_status check_code(const struct request *r, const char *name, const char *text)
{
    struct fr_question q;

    fr_question_init(&q);
    if (strcmp(name, "strategy") == 0)
        q.strategy = text;
    else if (strcmp(name, "measured") == 0)
        q.measured = text;
    return r->allows_code ? FR_OK : fr_question_refuse_code(&q, FR_NOWHERE, r->err);
}

/* name: with dashes. One value of it. */
static enum fr_status set_option(struct request *r, const char *name,
                                 const struct fr__json_value *v)
{
    char before[MOST_KEY + 8];
    bool has_value = v->kind == FR__JSON_STRING || v->kind == FR__JSON_NUMBER;

    if (v->kind == FR__JSON_NULL || v->kind == FR__JSON_FALSE)
        return FR_OK;
    if (!has_value && v->kind != FR__JSON_TRUE)
        return fr__fail(r->err, FR_EUSAGE, FR_NOWHERE,
                        "option '--%s' is no text, number, true or list of these", name);
    if (has_value)
        FR_TRY(check_code(r, name, v->text));
    snprintf(before, sizeof(before), "--%s%s", name, has_value ? "=" : "");
    FR_TRY(add_word(r, before, has_value ? v->text : ""));
    return fr__verb_parse(r->verb, r->options, 1, &r->words->words[r->words->n - 1], r->err);
}

/* A word that stands alone; one that begins with a dash is no option here. */
static enum fr_status add_argument(struct request *r, const char *name,
                                   const struct fr__json_value *v)
{
    static char dashes[] = "--";
    char *words[2] = {dashes, NULL};

    (void)name;
    if (v->kind != FR__JSON_STRING && v->kind != FR__JSON_NUMBER)
        return fr__fail(r->err, FR_EUSAGE, FR_NOWHERE, "an argument is no text or number");
    FR_TRY(add_word(r, "", v->text));
    words[1] = r->words->words[r->words->n - 1];
    return fr__verb_parse(r->verb, r->options, 2, words, r->err);
}

/* Its letters, with dashes for underscores, as options are spelt. false: no option can be called
 * so. */
static bool read_key(const char *key, char name[MOST_KEY])
{
    size_t n = strlen(key);

    if (n == 0 || n >= MOST_KEY || strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_-") != n)
        return false;
    for (size_t i = 0; i <= n; i++)
        name[i] = key[i] == '_' ? '-' : key[i];
    return true;
}

static enum fr_status read_member(struct request *r, const struct fr__json_value *m)
{
    enum fr_status (*take)(struct request *, const char *, const struct fr__json_value *);
    const struct fr__json_value *v = m;
    char name[MOST_KEY], verb[MOST_KEY];
    struct fr__option row;

    if (!read_key(m->key, name) || strcmp(name, "help") == 0 || strcmp(name, "version") == 0)
        return fr__fail(r->err, FR_EUSAGE, FR_NOWHERE, "a request has no option '%.*s'", MOST_KEY,
                        m->key);
    take = strcmp(name, "arguments") == 0 ? add_argument : set_option;
    if (take == set_option &&
        !fr__options_find(r->verb->options, name, strlen(name), 0, &row)) /* also with null */
        return fr__options_unknown(r->verb->options, fr__verb_name(r->verb, verb, sizeof(verb)),
                                   name, strlen(name), 0, r->err);
    if (m->kind != FR__JSON_ARRAY)
        return take(r, name, m);
    for (v = m->first; v; v = v->next)
        FR_TRY(at(v, take(r, name, v), r->err));
    return FR_OK;
}

static enum fr_status read_members(struct request *r, const struct fr__json_value *top)
{
    static char json[] = "--json";
    char *word = json;
    struct fr__option row;
    bool is_said = false;

    for (const struct fr__json_value *m = top ? top->first : NULL; m; m = m->next) {
        is_said = is_said || (strcmp(m->key, "json") == 0 && m->kind != FR__JSON_NULL);
        FR_TRY(at(m, read_member(r, m), r->err));
    }
    if (is_said || !fr__options_find(r->verb->options, "json", 4, 0, &row))
        return FR_OK;
    r->words->words[r->words->n++] = json;
    return fr__verb_parse(r->verb, r->options, 1, &word, r->err);
}

enum fr_status fr__request_read(struct fr__arena *a, const char *request, const struct fr__verb *v,
                                bool allows_code, struct fr__options *o, struct fr__words *words,
                                struct fr_error *err)
{
    struct request r = {.arena = a,
                        .verb = v,
                        .options = o,
                        .words = words,
                        .allows_code = allows_code,
                        .err = err};
    const struct fr__json_value *top = NULL;

    if (request)
        FR_TRY(fr__json_read(a, request, strlen(request), NULL, &top, err));
    if (top && top->kind != FR__JSON_OBJECT)
        return at(top, fr__fail(err, FR_EPARSE, FR_NOWHERE, "the request is no object: {...}"),
                  err);
    words->words = fr__arena_alloc(a, count_words(top, v), sizeof(*words->words));
    if (!words->words)
        return fr__fail_nomem(err);
    FR_TRY(add_word(&r, "forerun", ""));
    if (v->group)
        FR_TRY(add_word(&r, v->group, ""));
    FR_TRY(add_word(&r, v->name, ""));
    FR_TRY(read_members(&r, top));
    return fr__verb_check_arguments(v, o, err);
}
