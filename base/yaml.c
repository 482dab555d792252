/* base/yaml.c - a YAML document from libyaml's events, with a depth limit of our own. */
#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/utf8.h"
#include "base/yaml.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { MAX_DEPTH = 32, MAX_NODES = 1000000, MAX_FILE_BYTES = FR__YAML_MOST_BYTES };

/* A place in the text, moved forward only: libyaml counts characters, we count bytes. */
struct cursor {
    const char *text;
    size_t len;
    size_t at, index; /* bytes and characters from the start */
    size_t line_start;
    unsigned line;
};

/* A list or map not yet closed. */
struct frame {
    struct fr__yaml *node;
    size_t first;    /* of its children in builder.pending */
    const char *key; /* in a map: the key whose value comes next, else NULL */
    struct fr_loc key_loc;
};

struct builder {
    yaml_parser_t parser;
    struct fr__arena *arena;
    struct cursor cursor;
    const char *file;
    struct fr_error *err;

    struct frame frames[MAX_DEPTH];
    size_t depth;
    struct fr__yaml **pending; /* children of the open frames, the outermost first */
    size_t n_pending, pending_cap;
    size_t n_nodes;
    struct fr__yaml *root;
    bool is_done;
};

/* ---- positions ---- */

/* One character on; a line ends at LF, CR or CR LF. */
static void cursor_step(struct cursor *c)
{
    size_t left = c->len - c->at;
    char ch = c->text[c->at];
    size_t n = fr__utf8_length(c->text + c->at, left);

    c->at += n ? n : 1;
    c->index++;
    if (ch == '\n' || (ch == '\r' && (left < 2 || c->text[c->at] != '\n'))) {
        c->line++;
        c->line_start = c->at;
    }
}

static void cursor_rewind(struct cursor *c)
{
    c->at = c->index = c->line_start = 0;
    c->line = 1;
}

static struct fr_loc cursor_loc(const struct builder *b)
{
    const struct cursor *c = &b->cursor;

    return (struct fr_loc){b->file, c->line, (unsigned)(c->at - c->line_start) + 1};
}

static struct fr_loc loc_of_mark(struct builder *b, yaml_mark_t mark)
{
    struct cursor *c = &b->cursor;

    if (mark.index < c->index)
        cursor_rewind(c);
    while (c->index < mark.index && c->at < c->len)
        cursor_step(c);
    return cursor_loc(b);
}

static struct fr_loc loc_of_byte(struct builder *b, size_t at)
{
    struct cursor *c = &b->cursor;

    cursor_rewind(c);
    while (c->at < at && c->at < c->len)
        cursor_step(c);
    return cursor_loc(b);
}

/* ---- building the tree ---- */

static enum fr_status fail_at(struct builder *b, yaml_mark_t mark, const char *text)
{
    return fr__fail(b->err, FR_EPARSE, loc_of_mark(b, mark), "%s", text);
}

static enum fr_status fail_parser(struct builder *b)
{
    const yaml_parser_t *p = &b->parser;

    if (p->error == YAML_MEMORY_ERROR)
        return fr__fail_nomem(b->err);
    if (p->error == YAML_READER_ERROR)
        return fr__fail(b->err, FR_EPARSE, loc_of_byte(b, p->problem_offset), "not YAML: %s",
                        p->problem);
    return fr__fail(b->err, FR_EPARSE, loc_of_mark(b, p->problem_mark), "not YAML: %s%s%s",
                    p->context ? p->context : "", p->context ? ", " : "", p->problem);
}

static struct frame *top(struct builder *b)
{
    return b->depth ? &b->frames[b->depth - 1] : NULL;
}

/* Hangs a new node under the open frame, or makes it the root. */
static enum fr_status add_node(struct builder *b, enum fr__yaml_kind kind, yaml_mark_t mark,
                               struct fr__yaml **out)
{
    struct frame *f = top(b);
    struct fr__yaml *node;

    if (f && f->node->kind == FR__YAML_MAP && !f->key)
        return fail_at(b, mark, "a list or map as a key, expected plain text");
    if (++b->n_nodes > MAX_NODES)
        return fail_at(b, mark, "more than a million values");
    node = fr__arena_alloc(b->arena, 1, sizeof(*node));
    if (!node || !fr__grow(&b->pending, &b->pending_cap, b->n_pending + 1, sizeof(*b->pending)))
        return fr__fail_nomem(b->err);
    node->kind = kind;
    node->loc = loc_of_mark(b, mark);
    if (f) {
        node->key = f->key;
        node->key_loc = f->key_loc;
        f->key = NULL;
        b->pending[b->n_pending++] = node;
    } else {
        b->root = node;
    }
    *out = node;
    return FR_OK;
}

static enum fr_status on_scalar(struct builder *b, const yaml_event_t *e)
{
    struct frame *f = top(b);
    const char *value = (const char *)e->data.scalar.value;
    size_t len = e->data.scalar.length;
    bool is_key = f && f->node->kind == FR__YAML_MAP && !f->key;
    struct fr__yaml *node;
    char *text;

    if (e->data.scalar.anchor)
        return fail_at(b, e->start_mark, "an anchor (&) is not supported here");
    if (e->data.scalar.tag)
        return fail_at(b, e->start_mark, "a tag (!) is not supported here");
    if (memchr(value, '\0', len))
        return fail_at(b, e->start_mark, "a NUL character in a text");
    if (fr__utf8_text_length(value, len) < len) /* written as an escape, such as "\\e" */
        return fail_at(b, e->start_mark, "a control character in a text");
    text = fr__arena_strndup(b->arena, value, len);
    if (!text)
        return fr__fail_nomem(b->err);
    if (is_key) {
        f->key = text;
        f->key_loc = loc_of_mark(b, e->start_mark);
        return FR_OK;
    }
    FR_TRY(add_node(b, FR__YAML_SCALAR, e->start_mark, &node));
    node->text = text;
    return FR_OK;
}

static enum fr_status on_open(struct builder *b, const yaml_event_t *e)
{
    bool is_map = e->type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *anchor =
        is_map ? e->data.mapping_start.anchor : e->data.sequence_start.anchor;
    const yaml_char_t *tag = is_map ? e->data.mapping_start.tag : e->data.sequence_start.tag;
    struct fr__yaml *node;

    if (anchor)
        return fail_at(b, e->start_mark, "an anchor (&) is not supported here");
    if (tag)
        return fail_at(b, e->start_mark, "a tag (!) is not supported here");
    if (b->depth == MAX_DEPTH)
        return fail_at(b, e->start_mark, "nested deeper than 32 levels");
    FR_TRY(add_node(b, is_map ? FR__YAML_MAP : FR__YAML_LIST, e->start_mark, &node));
    b->frames[b->depth++] = (struct frame){node, b->n_pending, NULL, {NULL, 0, 0}};
    return FR_OK;
}

static bool is_before(struct fr_loc a, struct fr_loc b)
{
    return a.line < b.line || (a.line == b.line && a.col < b.col);
}

static int compare_keys(const void *a, const void *b)
{
    const struct fr__yaml *x = *(struct fr__yaml *const *)a, *y = *(struct fr__yaml *const *)b;
    int order = strcmp(x->key, y->key);

    if (order != 0)
        return order;
    return is_before(x->key_loc, y->key_loc) ? -1 : is_before(y->key_loc, x->key_loc);
}

/* Sorting keeps a map of a million keys from taking hours; of several doubled keys the first one in
 * the text is reported. */
static enum fr_status check_keys(const struct builder *b, struct fr__yaml *const nodes[], size_t n)
{
    const struct fr__yaml **sorted = n > 1 ? malloc(n * sizeof(*sorted)) : NULL;
    const struct fr__yaml *doubled = NULL, *first = NULL;
    char excerpt[FR__EXCERPT];

    if (n < 2)
        return FR_OK;
    if (!sorted)
        return fr__fail_nomem(b->err);
    for (size_t i = 0; i < n; i++)
        sorted[i] = nodes[i];
    qsort(sorted, n, sizeof(*sorted), compare_keys);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(sorted[i - 1]->key, sorted[i]->key) != 0)
            continue;
        if (!doubled || is_before(sorted[i]->key_loc, doubled->key_loc)) {
            first = sorted[i - 1];
            doubled = sorted[i];
        }
    }
    free(sorted);
    if (!doubled)
        return FR_OK;
    return fr__fail(b->err, FR_EPARSE, doubled->key_loc,
                    "key '%s' appears twice, first at line %u column %u",
                    fr__excerpt(doubled->key, excerpt), first->key_loc.line, first->key_loc.col);
}

static enum fr_status on_close(struct builder *b)
{
    struct frame *f = top(b);
    struct fr__yaml **children;
    size_t n;
    const struct fr__yaml **items;

    assert(f && !f->key);
    n = b->n_pending - f->first;
    items = fr__arena_alloc(b->arena, n, sizeof(*items));
    if (!items)
        return fr__fail_nomem(b->err);
    children = n ? b->pending + f->first : NULL;
    if (f->node->kind == FR__YAML_MAP)
        FR_TRY(check_keys(b, children, n));
    for (size_t i = 0; i < n; i++)
        items[i] = children[i];
    f->node->items = items;
    f->node->n = n;
    b->n_pending = f->first;
    b->depth--;
    return FR_OK;
}

static enum fr_status on_event(struct builder *b, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (b->root)
            return fail_at(b, e->start_mark, "a second document, expected one only");
        return FR_OK;
    case YAML_ALIAS_EVENT:
        return fail_at(b, e->start_mark, "an alias (*) is not supported here");
    case YAML_SCALAR_EVENT:
        return on_scalar(b, e);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return on_open(b, e);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return on_close(b);
    case YAML_STREAM_END_EVENT:
        b->is_done = true;
        return FR_OK;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
    return FR_OK;
}

static enum fr_status build(struct builder *b)
{
    while (!b->is_done) {
        yaml_event_t e;
        enum fr_status st;

        if (!yaml_parser_parse(&b->parser, &e))
            return fail_parser(b);
        st = on_event(b, &e);
        yaml_event_delete(&e);
        if (st != FR_OK)
            return st;
    }
    if (!b->root || (b->root->kind == FR__YAML_SCALAR && !*b->root->text))
        return fr__fail(b->err, FR_EPARSE, (struct fr_loc){b->file, 1, 1},
                        "the document is empty, expected lines such as \"key: value\"");
    return FR_OK;
}

static enum fr_status load(struct builder *b, const char *text, size_t len)
{
    size_t mark = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    size_t good;
    enum fr_status st;

    text += mark;
    len -= mark;
    b->cursor = (struct cursor){text, len, 0, 0, 0, 1};
    good = fr__utf8_text_length(text, len);
    if (good < len) {
        struct fr_loc loc = loc_of_byte(b, good);

        return fr__fail(b->err, FR_EPARSE, loc, "byte 0x%02x %s",
                        (unsigned)(unsigned char)text[good],
                        fr__utf8_fault(text + good, len - good));
    }
    if (!yaml_parser_initialize(&b->parser))
        return fr__fail_nomem(b->err);
    yaml_parser_set_encoding(&b->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b->parser, (const unsigned char *)text, len);
    st = build(b);
    yaml_parser_delete(&b->parser);
    free(b->pending);
    return st;
}

enum fr_status fr__yaml_load_text(struct fr__arena *a, const char *text, size_t len,
                                  const char *name, const struct fr__yaml **out,
                                  struct fr_error *err)
{
    struct builder *b;
    char *file = fr__arena_strdup(a, name);
    enum fr_status st;

    if (len > MAX_FILE_BYTES)
        return fr__fail(err, FR_ERANGE, (struct fr_loc){name, 0, 0}, "is larger than 16 MiB");
    b = calloc(1, sizeof(*b));
    if (!file || !b) {
        free(b);
        return fr__fail_nomem(err);
    }
    b->arena = a;
    b->file = file;
    b->err = err;
    st = load(b, text, len);
    if (st == FR_OK)
        *out = b->root;
    free(b);
    return st;
}

enum fr_status fr__yaml_load(struct fr__arena *a, const char *path, const struct fr__yaml **out,
                             struct fr_error *err)
{
    enum fr_status st;
    char *text;
    size_t len;

    FR_TRY(fr__read_file(path, MAX_FILE_BYTES, &text, &len, err));
    st = fr__yaml_load_text(a, text, len, path, out, err);
    free(text);
    return st;
}

/* ---- reading the tree ---- */

const struct fr__yaml *fr__yaml_get(const struct fr__yaml *map, const char *key)
{
    assert(map->kind == FR__YAML_MAP);
    for (size_t i = 0; i < map->n; i++)
        if (strcmp(map->items[i]->key, key) == 0)
            return map->items[i];
    return NULL;
}

enum fr_status fr__yaml_expect(const struct fr__yaml *node, enum fr__yaml_kind kind,
                               const char *what, struct fr_error *err)
{
    static const char *const names[] = {[FR__YAML_SCALAR] = "a single value",
                                        [FR__YAML_LIST] = "a list",
                                        [FR__YAML_MAP] = "a map (\"key: value\")"};

    if (node->kind == kind)
        return FR_OK;
    return fr__fail(err, FR_EPARSE, node->loc, "%s is %s, expected %s", what, names[node->kind],
                    names[kind]);
}

enum fr_status fr__yaml_only(const struct fr__yaml *map, const char *const known[],
                             struct fr_error *err)
{
    assert(map->kind == FR__YAML_MAP);
    for (size_t i = 0; i < map->n; i++) {
        const char *key = map->items[i]->key;
        char excerpt[FR__EXCERPT], near[FR__EXCERPT + 32];
        size_t k = 0;

        while (known[k] && strcmp(key, known[k]) != 0)
            k++;
        if (!known[k])
            return fr__fail(err, FR_EPARSE, map->items[i]->key_loc, "key '%s' is not known%s",
                            fr__excerpt(key, excerpt),
                            fr__did_you_mean(key, known, SIZE_MAX, near, sizeof(near)));
    }
    return FR_OK;
}

enum fr_status fr__yaml_text(const struct fr__yaml *map, const char *key, const char *fallback,
                             const char **out, struct fr_loc *loc, struct fr_error *err)
{
    const struct fr__yaml *node = fr__yaml_get(map, key);
    char what[FR__EXCERPT + 2], excerpt[FR__EXCERPT];

    if (!node && !fallback)
        return fr__fail(err, FR_EPARSE, map->loc, "key '%s' is missing", key);
    if (node) {
        snprintf(what, sizeof(what), "'%s'", fr__excerpt(key, excerpt));
        FR_TRY(fr__yaml_expect(node, FR__YAML_SCALAR, what, err));
    }
    *out = node ? node->text : fallback;
    if (loc)
        *loc = node ? node->loc : map->loc;
    return FR_OK;
}
