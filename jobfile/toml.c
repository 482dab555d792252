/* jobfile/toml.c - reads TOML by hand: a document is lines of "key = value" and "[table]", and
 * values hold others in brackets. No TOML library is among the project's; the tree is that of
 * base/yaml.h, so that all readers of trees share what comes behind. */
#include "config.h"

#include "base/error.h"
#include "base/utf8.h"
#include "jobfile/toml.h"

#include <ctype.h>
#include <string.h>

enum { MOST_DEPTH = 32, MOST_KEYS = 16 };

struct toml {
    struct fr__arena *arena;
    const char *name, *at, *end, *line_start;
    const char *counted; /* col is of there */
    unsigned line, col;
    size_t n_nodes;
    struct fr_error *err;
};

/* A node that can still grow; fr__yaml is its first member. */
struct node {
    struct fr__yaml yaml;
    const struct fr__yaml **items;
    size_t cap;
    bool is_defined; /* by its own [table], or a value: it may not be again */
    bool is_tables;  /* an array of tables */
};

/* Counts characters from where it was asked last, so that a long line costs its length once. */
static struct fr_loc here(struct toml *t)
{
    if (t->counted < t->line_start || t->counted > t->at) {
        t->counted = t->line_start;
        t->col = 1;
    }
    for (; t->counted < t->at; t->counted++)
        t->col += ((unsigned char)*t->counted & 0xC0) != 0x80;
    return (struct fr_loc){t->name, t->line, t->col};
}

static char peek(const struct toml *t, size_t ahead)
{
    return t->at + ahead < t->end ? t->at[ahead] : '\0';
}

static enum fr_status fail(struct toml *t, const char *what)
{
    return fr__fail(t->err, FR_EPARSE, here(t), "%s", what);
}

static void next_line(struct toml *t)
{
    t->at++;
    t->line++;
    t->line_start = t->at;
}

static void skip_blanks(struct toml *t)
{
    while (peek(t, 0) == ' ' || peek(t, 0) == '\t')
        t->at++;
}

/* Over blanks, remarks and ends of lines. */
static void skip_lines(struct toml *t)
{
    for (;;) {
        skip_blanks(t);
        if (peek(t, 0) == '#')
            while (t->at < t->end && *t->at != '\n')
                t->at++;
        if (peek(t, 0) == '\r' && peek(t, 1) == '\n')
            t->at++;
        if (t->at >= t->end || *t->at != '\n')
            return;
        next_line(t);
    }
}

/* ---- nodes ---- */

static enum fr_status new_node(struct toml *t, enum fr__yaml_kind kind, struct fr_loc loc,
                               struct node **out)
{
    if (++t->n_nodes > FR__TOML_MOST_NODES)
        return fr__fail(t->err, FR_EPARSE, loc, "more than %d values", (int)FR__TOML_MOST_NODES);
    *out = fr__arena_alloc(t->arena, 1, sizeof(**out));
    if (!*out)
        return fr__fail_nomem(t->err);
    (*out)->yaml.kind = kind;
    (*out)->yaml.loc = loc;
    return FR_OK;
}

static enum fr_status add(struct toml *t, struct node *to, struct node *child)
{
    if (to->yaml.n == to->cap) {
        size_t cap = to->cap ? 2 * to->cap : 8;
        const struct fr__yaml **items = fr__arena_alloc(t->arena, cap, sizeof(*items));

        if (!items)
            return fr__fail_nomem(t->err);
        if (to->yaml.n)
            memcpy(items, to->items, to->yaml.n * sizeof(*items));
        to->items = items;
        to->cap = cap;
        to->yaml.items = items;
    }
    to->items[to->yaml.n++] = &child->yaml;
    return FR_OK;
}

/* The child by that name; NULL: none. Children of maps are nodes of ours. */
static struct node *child_of(const struct node *map, const char *key)
{
    for (size_t i = 0; i < map->yaml.n; i++)
        if (strcmp(map->items[i]->key, key) == 0) {
            struct node *found;
            const struct fr__yaml *item = map->items[i];

            memcpy(&found, &item, sizeof(found)); /* its first member */
            return found;
        }
    return NULL;
}

/* ---- strings ---- */

static unsigned long read_hex(struct toml *t, size_t n)
{
    unsigned long code = 0;

    for (size_t i = 0; i < n && isxdigit((unsigned char)peek(t, 0)); i++, t->at++) {
        char c = *t->at;

        code =
            code * 16 + (unsigned long)(isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10);
    }
    return code;
}

static char *put_code(char *to, unsigned long code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3F));
    } else {
        if (code >= 0x10000) {
            *to++ = (char)(0xF0 | code >> 18);
            *to++ = (char)(0x80 | (code >> 12 & 0x3F));
        } else {
            *to++ = (char)(0xE0 | code >> 12);
        }
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
        *to++ = (char)(0x80 | (code & 0x3F));
    }
    return to;
}

/* Behind a backslash. NULL: FR_EPARSE in *st. */
static char *read_escape(struct toml *t, char *to, bool is_long, enum fr_status *st)
{
    static const char from[] = "btnfre\"\\", into[] = "\b\t\n\f\r\x1b\"\\";
    const char *found = peek(t, 0) ? strchr(from, peek(t, 0)) : NULL;
    unsigned long code;

    *st = FR_OK;
    if (found) {
        t->at++;
        *to = into[found - from];
        return to + 1;
    }
    if (peek(t, 0) == 'u' || peek(t, 0) == 'U') {
        code = (t->at++, read_hex(t, t->at[-1] == 'u' ? 4 : 8));
        if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
            *st = fail(t, "an escape \\u is no character");
            return NULL;
        }
        return put_code(to, code);
    }
    if (is_long && (peek(t, 0) == '\n' || peek(t, 0) == ' ' || peek(t, 0) == '\t')) {
        while (peek(t, 0) && strchr(" \t\r\n", peek(t, 0)))
            if (peek(t, 0) == '\n')
                next_line(t);
            else
                t->at++;
        return to;
    }
    *st = fail(t, "an escape that TOML has not");
    return NULL;
}

/* Letters up to the end of a string, or of the file: it has no more without its quotes. */
static size_t room_of_string(const struct toml *t, char quote, bool is_long)
{
    size_t i = is_long ? 3 : 1;

    for (; t->at + i < t->end; i++) {
        if (t->at[i] == '\\' && quote == '"')
            i++;
        else if (t->at[i] == quote &&
                 (!is_long ||
                  (peek(t, i + 1) == quote && peek(t, i + 2) == quote && peek(t, i + 3) != quote)))
            break;
    }
    return i + 3;
}

static enum fr_status read_string(struct toml *t, const char **out)
{
    char quote = peek(t, 0), *to, *text;
    bool is_long = peek(t, 1) == quote && peek(t, 2) == quote;
    size_t n_quotes = is_long ? 3 : 1;
    struct fr_loc from = here(t);
    enum fr_status st;

    text = to = fr__arena_take(t->arena, room_of_string(t, quote, is_long) + 1, 1);
    if (!text)
        return fr__fail_nomem(t->err);
    t->at += n_quotes;
    if (is_long && peek(t, 0) == '\r' && peek(t, 1) == '\n')
        t->at++;
    if (is_long && peek(t, 0) == '\n')
        next_line(t);
    while (t->at < t->end) {
        char c = *t->at;

        if (c == quote &&
            (!is_long || (peek(t, 1) == quote && peek(t, 2) == quote && peek(t, 3) != quote))) {
            t->at += n_quotes;
            *to = '\0';
            *out = text;
            return FR_OK;
        }
        if (c == '\n' && !is_long)
            break;
        if (c == '\n') {
            *to++ = c;
            next_line(t);
        } else if (c == '\\' && quote == '"') {
            t->at++;
            to = read_escape(t, to, is_long, &st);
            FR_TRY(st);
        } else {
            *to++ = c;
            t->at++;
        }
    }
    return fr__fail(t->err, FR_EPARSE, from, "a text %c has no end", quote);
}

/* ---- keys and values ---- */

static bool is_bare(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static enum fr_status read_key(struct toml *t, const char **key)
{
    const char *from = t->at;

    if (peek(t, 0) == '"' || peek(t, 0) == '\'')
        return read_string(t, key);
    while (is_bare(peek(t, 0)))
        t->at++;
    if (t->at == from)
        return fail(t, "expected a key");
    *key = fr__arena_strndup(t->arena, from, (size_t)(t->at - from));
    return *key ? FR_OK : fr__fail_nomem(t->err);
}

/* "a.b.c" */
static enum fr_status read_keys(struct toml *t, const char *keys[MOST_KEYS],
                                struct fr_loc locs[MOST_KEYS], size_t *n)
{
    for (*n = 0; *n < MOST_KEYS; (*n)++) {
        skip_blanks(t);
        locs[*n] = here(t);
        FR_TRY(read_key(t, &keys[*n]));
        skip_blanks(t);
        if (peek(t, 0) != '.') {
            (*n)++;
            return FR_OK;
        }
        t->at++;
    }
    return fail(t, "a key has too many parts");
}

/* The map below, made where it is not there. */
static enum fr_status enter(struct toml *t, struct node **map, const char *key, struct fr_loc loc)
{
    struct node *child = child_of(*map, key);

    if (child && child->is_tables && child->yaml.n > 0) { /* the last of them */
        const struct fr__yaml *last = child->items[child->yaml.n - 1];

        memcpy(map, &last, sizeof(*map));
        return FR_OK;
    }
    if (child && child->yaml.kind != FR__YAML_MAP)
        return fr__fail(t->err, FR_EPARSE, loc, "'%.60s' is a value, no table", key);
    if (!child) {
        FR_TRY(new_node(t, FR__YAML_MAP, loc, &child));
        child->yaml.key = key;
        child->yaml.key_loc = loc;
        FR_TRY(add(t, *map, child));
    }
    *map = child;
    return FR_OK;
}

static enum fr_status read_value(struct toml *t, unsigned depth, struct node **out);

static enum fr_status read_pair(struct toml *t, struct node *map, unsigned depth)
{
    const char *keys[MOST_KEYS];
    struct fr_loc locs[MOST_KEYS];
    struct node *value;
    size_t n;

    FR_TRY(read_keys(t, keys, locs, &n));
    if (peek(t, 0) != '=')
        return fail(t, "expected '=' behind a key");
    t->at++;
    skip_blanks(t);
    FR_TRY(read_value(t, depth, &value));
    for (size_t i = 0; i + 1 < n; i++)
        FR_TRY(enter(t, &map, keys[i], locs[i]));
    if (child_of(map, keys[n - 1]))
        return fr__fail(t->err, FR_EPARSE, locs[n - 1], "'%.60s' is defined twice", keys[n - 1]);
    value->yaml.key = keys[n - 1];
    value->yaml.key_loc = locs[n - 1];
    value->is_defined = true;
    return add(t, map, value);
}

static enum fr_status read_array(struct toml *t, unsigned depth, struct node *list)
{
    for (t->at++;;) {
        struct node *item;

        skip_lines(t);
        if (peek(t, 0) == ']')
            break;
        FR_TRY(read_value(t, depth + 1, &item));
        FR_TRY(add(t, list, item));
        skip_lines(t);
        if (peek(t, 0) == ',')
            t->at++;
        else if (peek(t, 0) != ']')
            return fail(t, "expected ',' or ']' in an array");
    }
    t->at++;
    return FR_OK;
}

static enum fr_status read_inline(struct toml *t, unsigned depth, struct node *map)
{
    t->at++;
    skip_blanks(t);
    while (peek(t, 0) != '}') {
        FR_TRY(read_pair(t, map, depth + 1));
        skip_blanks(t);
        if (peek(t, 0) == ',') {
            t->at++;
            skip_blanks(t);
        } else if (peek(t, 0) != '}') {
            return fail(t, "expected ',' or '}' in an inline table");
        }
    }
    t->at++;
    return FR_OK;
}

static enum fr_status read_value(struct toml *t, unsigned depth, struct node **out)
{
    struct fr_loc loc = here(t);
    const char *from = t->at;
    char c = peek(t, 0);

    if (depth > MOST_DEPTH)
        return fail(t, "values are nested too deeply");
    FR_TRY(new_node(t,
                    c == '['   ? FR__YAML_LIST
                    : c == '{' ? FR__YAML_MAP
                               : FR__YAML_SCALAR,
                    loc, out));
    if (c == '[')
        return read_array(t, depth, *out);
    if (c == '{')
        return read_inline(t, depth, *out);
    if (c == '"' || c == '\'')
        return read_string(t, &(*out)->yaml.text);
    while (is_bare(peek(t, 0)) || (peek(t, 0) && strchr("+.:", peek(t, 0))))
        t->at++;
    if (t->at == from)
        return fail(t, "expected a value");
    (*out)->yaml.text = fr__arena_strndup(t->arena, from, (size_t)(t->at - from));
    return (*out)->yaml.text ? FR_OK : fr__fail_nomem(t->err);
}

/* ---- lines ---- */

/* "[[a.b]]": one more table of an array. */
static enum fr_status open_tables(struct toml *t, struct node *map, const char *key,
                                  struct fr_loc loc, struct node **now)
{
    struct node *list = child_of(map, key);

    if (list && !list->is_tables)
        return fr__fail(t->err, FR_EPARSE, loc, "'%.60s' is defined twice", key);
    if (!list) {
        FR_TRY(new_node(t, FR__YAML_LIST, loc, &list));
        list->yaml.key = key;
        list->yaml.key_loc = loc;
        list->is_tables = true;
        FR_TRY(add(t, map, list));
    }
    FR_TRY(new_node(t, FR__YAML_MAP, loc, now));
    return add(t, list, *now);
}

static enum fr_status read_table(struct toml *t, struct node *root, struct node **now)
{
    bool is_array = peek(t, 1) == '[';
    const char *keys[MOST_KEYS];
    struct fr_loc locs[MOST_KEYS];
    struct node *map = root;
    size_t n;

    t->at += 1 + is_array;
    FR_TRY(read_keys(t, keys, locs, &n));
    if (peek(t, 0) != ']' || (is_array && peek(t, 1) != ']'))
        return fail(t, "a table's name has no ']'");
    t->at += 1 + is_array;
    for (size_t i = 0; i + 1 < n; i++)
        FR_TRY(enter(t, &map, keys[i], locs[i]));
    if (is_array)
        return open_tables(t, map, keys[n - 1], locs[n - 1], now);
    FR_TRY(enter(t, &map, keys[n - 1], locs[n - 1]));
    if (map->is_defined)
        return fr__fail(t->err, FR_EPARSE, locs[n - 1], "'%.60s' is defined twice", keys[n - 1]);
    map->is_defined = true;
    *now = map;
    return FR_OK;
}

enum fr_status fr__toml_load_text(struct fr__arena *a, const char *text, size_t len,
                                  const char *name, const struct fr__yaml **out,
                                  struct fr_error *err)
{
    struct toml t = {.arena = a,
                     .name = name,
                     .at = text,
                     .end = text + len,
                     .line_start = text,
                     .counted = text,
                     .line = 1,
                     .col = 1,
                     .err = err};
    struct node *root, *now;

    if (fr__utf8_text_length(text, len) != len)
        return fr__fail(err, FR_EPARSE, (struct fr_loc){name, 0, 0},
                        "the file is no text in UTF-8");
    FR_TRY(new_node(&t, FR__YAML_MAP, (struct fr_loc){name, 1, 1}, &root));
    now = root;
    for (skip_lines(&t); t.at < t.end; skip_lines(&t)) {
        FR_TRY(*t.at == '[' ? read_table(&t, root, &now) : read_pair(&t, now, 1));
        skip_blanks(&t);
        if (t.at < t.end && !strchr("\r\n#", *t.at))
            return fail(&t, "expected the end of the line");
    }
    *out = &root->yaml;
    return FR_OK;
}
