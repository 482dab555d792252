/* base/json_read.c - a recursive descent over the text. */
#include "config.h"

#include "base/error.h"
#include "base/json.h"
#include "base/json_read.h"
#include "base/utf8.h"

#include <string.h>

struct reader {
    struct fr__arena *arena;
    const char *at, *end, *line; /* where the line at hand begins */
    struct fr_loc loc;           /* of `at` but for the column */
    struct fr_error *err;
    unsigned depth;
};

static struct fr_loc here(const struct reader *r)
{
    struct fr_loc loc = r->loc;

    loc.col = (unsigned)(r->at - r->line) + 1;
    return loc;
}

/* expected: "a value", "',' or ']'" */
static enum fr_status fail(const struct reader *r, const char *expected)
{
    size_t n = (size_t)(r->end - r->at), length = n ? fr__utf8_length(r->at, n) : 0;

    if (n == 0)
        return fr__fail(r->err, FR_EPARSE, here(r), "the JSON ends here, expected %s", expected);
    if (length == 0)
        return fr__fail(r->err, FR_EPARSE, here(r), "a byte is not UTF-8");
    return fr__fail(r->err, FR_EPARSE, here(r), "found '%.*s', expected %s", (int)length, r->at,
                    expected);
}

static void skip_space(struct reader *r)
{
    for (; r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r' || *r->at == '\n');
         r->at++)
        if (*r->at == '\n') {
            r->loc.line++;
            r->line = r->at + 1;
        }
}

static bool take(struct reader *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* ---- strings ---- */

/* Four hexadecimal digits. */
static enum fr_status read_unit(struct reader *r, unsigned *out)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";

    *out = 0;
    for (unsigned i = 0; i < 4; i++, r->at++) {
        const char *d = r->at < r->end && *r->at ? strchr(digits, *r->at) : NULL;

        if (!d)
            return fail(r, "four hexadecimal digits");
        *out = *out << 4 | ((unsigned)(d - digits) & 15);
    }
    return FR_OK;
}

/* Behind "\u": a character, which two units make where it is beyond 16 bits; *to moves past it. */
static enum fr_status read_character(struct reader *r, char **to)
{
    unsigned c, low;
    char *s = *to;

    FR_TRY(read_unit(r, &c));
    if (c >= 0xd800 && c < 0xdc00 && r->end - r->at > 1 && r->at[0] == '\\' && r->at[1] == 'u') {
        r->at += 2;
        FR_TRY(read_unit(r, &low));
        c = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00) : 0;
    }
    if (c == 0 || (c >= 0xd800 && c < 0xe000))
        return fr__fail(r->err, FR_EPARSE, here(r), "an escape before this is no character");
    if (c < 0x80) {
        *s++ = (char)c;
    } else if (c < 0x800) {
        *s++ = (char)(0xc0 | c >> 6);
    } else if (c < 0x10000) {
        *s++ = (char)(0xe0 | c >> 12);
        *s++ = (char)(0x80 | (c >> 6 & 63));
    } else {
        *s++ = (char)(0xf0 | c >> 18);
        *s++ = (char)(0x80 | (c >> 12 & 63));
        *s++ = (char)(0x80 | (c >> 6 & 63));
    }
    if (c >= 0x80)
        *s++ = (char)(0x80 | (c & 63));
    *to = s;
    return FR_OK;
}

static enum fr_status read_escape(struct reader *r, char **to)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *letter;

    if (take(r, 'u'))
        return read_character(r, to);
    letter = r->at < r->end && *r->at ? strchr(letters, *r->at) : NULL;
    if (!letter)
        return fail(r, "one of \"\\/bfnrtu");
    *(*to)++ = meanings[letter - letters];
    r->at++;
    return FR_OK;
}

/* Behind the quote. An escape is never shorter than what it stands for. */
static enum fr_status read_string(struct reader *r, const char **out)
{
    const char *end = r->at;
    char *s, *to;

    while (end < r->end && *end != '"')
        end += *end == '\\' && r->end - end > 1 ? 2 : 1;
    s = to = fr__arena_take(r->arena, (size_t)(end - r->at) + 1, 1);
    if (!s)
        return fr__fail_nomem(r->err);
    while (!take(r, '"')) {
        size_t n = fr__utf8_length(r->at, (size_t)(r->end - r->at));

        if (take(r, '\\')) {
            FR_TRY(read_escape(r, &to));
        } else if (n == 0 || (unsigned char)*r->at < ' ') {
            return fail(r, "a character of the text, or '\"'");
        } else {
            memcpy(to, r->at, n);
            to += n;
            r->at += n;
        }
    }
    *to = '\0';
    *out = s;
    return FR_OK;
}

/* ---- other values ---- */

static size_t skip_digits(struct reader *r)
{
    const char *from = r->at;

    while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        r->at++;
    return (size_t)(r->at - from);
}

static enum fr_status read_number(struct reader *r, const char **out)
{
    const char *from = r->at;
    bool has_minus = take(r, '-');

    (void)has_minus;
    if (!take(r, '0') && skip_digits(r) == 0)
        return fail(r, "a digit");
    if (take(r, '.') && skip_digits(r) == 0)
        return fail(r, "a digit");
    if (take(r, 'e') || take(r, 'E')) {
        if (!take(r, '+'))
            (void)take(r, '-');
        if (skip_digits(r) == 0)
            return fail(r, "a digit");
    }
    *out = fr__arena_strndup(r->arena, from, (size_t)(r->at - from));
    return *out ? FR_OK : fr__fail_nomem(r->err);
}

static enum fr_status read_word(struct reader *r, enum fr__json_kind *out)
{
    static const struct {
        const char *word;
        enum fr__json_kind kind;
    } words[] = {{.word = "null", .kind = FR__JSON_NULL},
                 {.word = "false", .kind = FR__JSON_FALSE},
                 {.word = "true", .kind = FR__JSON_TRUE}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t n = strlen(words[i].word);

        if ((size_t)(r->end - r->at) >= n && memcmp(r->at, words[i].word, n) == 0) {
            r->at += n;
            *out = words[i].kind;
            return FR_OK;
        }
    }
    return fail(r, "a value");
}

static enum fr_status read_value(struct reader *r, struct fr__json_value *v);

static enum fr_status read_key(struct reader *r, const char **out)
{
    if (!take(r, '"'))
        return fail(r, "a key in quotes");
    FR_TRY(read_string(r, out));
    skip_space(r);
    return take(r, ':') ? FR_OK : fail(r, "':'");
}

/* Behind the bracket. */
static enum fr_status read_members(struct reader *r, struct fr__json_value *of, char bracket)
{
    const struct fr__json_value **to = &of->first;

    if (++r->depth > FR__JSON_DEPTH)
        return fr__fail(r->err, FR_EPARSE, here(r), "more than %d brackets inside each other",
                        FR__JSON_DEPTH);
    skip_space(r);
    while (of->n > 0 || !take(r, bracket)) {
        struct fr__json_value *v = fr__arena_alloc(r->arena, 1, sizeof(*v));

        if (!v)
            return fr__fail_nomem(r->err);
        skip_space(r);
        if (of->kind == FR__JSON_OBJECT)
            FR_TRY(read_key(r, &v->key));
        FR_TRY(read_value(r, v));
        *to = v;
        to = &v->next;
        of->n++;
        skip_space(r);
        if (take(r, bracket))
            break;
        if (!take(r, ','))
            return fail(r, bracket == ']' ? "',' or ']'" : "',' or '}'");
    }
    r->depth--;
    return FR_OK;
}

static enum fr_status read_value(struct reader *r, struct fr__json_value *v)
{
    skip_space(r);
    v->loc = here(r);
    if (take(r, '"')) {
        v->kind = FR__JSON_STRING;
        return read_string(r, &v->text);
    }
    if (take(r, '[')) {
        v->kind = FR__JSON_ARRAY;
        return read_members(r, v, ']');
    }
    if (take(r, '{')) {
        v->kind = FR__JSON_OBJECT;
        return read_members(r, v, '}');
    }
    if (r->at < r->end && (*r->at == '-' || (*r->at >= '0' && *r->at <= '9'))) {
        v->kind = FR__JSON_NUMBER;
        return read_number(r, &v->text);
    }
    return read_word(r, &v->kind);
}

enum fr_status fr__json_read(struct fr__arena *a, const char *text, size_t len, const char *name,
                             const struct fr__json_value **out, struct fr_error *err)
{
    struct reader r = {.arena = a,
                       .at = text,
                       .end = text + len,
                       .line = text,
                       .loc = {.file = name, .line = 1},
                       .err = err};
    struct fr__json_value *top = fr__arena_alloc(a, 1, sizeof(*top));

    if (!top)
        return fr__fail_nomem(err);
    FR_TRY(read_value(&r, top));
    skip_space(&r);
    if (r.at < r.end)
        return fail(&r, "nothing behind the value");
    *out = top;
    return FR_OK;
}
