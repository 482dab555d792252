/* tests/support/xml_check.c - a parser by recursive descent over the whole text of a document. */
#include "config.h"

#include "tests/support/xml_check.h"

#include "base/arena.h"

#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 64 };

struct reader {
    struct xml_tree *tree;
    const char *at;
    bool is_html;
};

static bool reject(struct reader *r, const char *what)
{
    if (!r->tree->fault[0])
        snprintf(r->tree->fault, sizeof(r->tree->fault), "%s before: %.120s", what, r->at);
    return false;
}

static bool is_next(const struct reader *r, const char *word)
{
    return strncmp(r->at, word, strlen(word)) == 0;
}

static bool skip_past(struct reader *r, const char *end)
{
    const char *found = strstr(r->at, end);

    if (!found)
        return reject(r, "no end");
    r->at = found + strlen(end);
    return true;
}

static void skip_blanks(struct reader *r)
{
    r->at += strspn(r->at, " \t\r\n");
}

static void *make(struct xml_tree *t, size_t n, size_t size)
{
    void *p = fr__arena_alloc(t->arena, n, size);

    ck_assert_ptr_nonnull(p);
    return p;
}

/* ---- text ---- */

static size_t put_utf8(char *out, unsigned long c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | c >> 12);
    out[1] = (char)(0x80 | (c >> 6 & 0x3f));
    out[2] = (char)(0x80 | (c & 0x3f));
    return 3;
}

/* One entity at r->at; what it stands for goes to out, which has room for three bytes. */
static bool read_entity(struct reader *r, char *out, size_t *n)
{
    static const struct {
        const char *name;
        char value;
    } known[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    char *end;
    unsigned long c;

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (is_next(r, known[i].name)) {
            out[(*n)++] = known[i].value;
            r->at += strlen(known[i].name);
            return true;
        }
    if (!is_next(r, "&#"))
        return reject(r, "a bare &");
    c = r->at[2] == 'x' ? strtoul(r->at + 3, &end, 16) : strtoul(r->at + 2, &end, 10);
    if (*end != ';' || c < 0x20 || c > 0xffff)
        return reject(r, "an entity that is no character");
    *n += put_utf8(out + *n, c);
    r->at = end + 1;
    return true;
}

/* Text up to the character `end`, decoded; NULL with the fault. */
static char *read_text(struct reader *r, char end)
{
    /* a character is never longer than its entity */
    char *out = make(r->tree, strcspn(r->at, end == '<' ? "<" : end == '"' ? "\"" : "'") + 4, 1);
    size_t n = 0;

    while (*r->at && *r->at != end) {
        unsigned char c = (unsigned char)*r->at;

        if (c == '&') {
            if (!read_entity(r, out, &n))
                return NULL;
            continue;
        }
        if (c == '<' || (c == '>' && r->is_html) || c == 0x7f ||
            (c < 0x20 && c != '\n' && c != '\t' && c != '\r')) {
            reject(r, "a character that does not belong in text");
            return NULL;
        }
        out[n++] = *r->at++;
    }
    out[n] = '\0';
    return out;
}

static const char *copy(struct reader *r, const char *from, size_t n)
{
    char *out = make(r->tree, n + 1, 1);

    memcpy(out, from, n);
    out[n] = '\0';
    return out;
}

static const char *read_name(struct reader *r)
{
    const char *from = r->at;

    while (isalnum((unsigned char)*r->at) || (*r->at && strchr("-:_.", *r->at)))
        r->at++;
    if (r->at == from) {
        reject(r, "no name");
        return NULL;
    }
    return copy(r, from, (size_t)(r->at - from));
}

/* ---- elements ---- */

static struct xml_node *add_node(struct reader *r, struct xml_node *parent)
{
    struct xml_node *n = make(r->tree, 1, sizeof(*n));

    *n = (struct xml_node){.parent = parent};
    if (parent->last)
        parent->last->next = n;
    else
        parent->first = n;
    parent->last = n;
    return n;
}

static void add_text(struct reader *r, struct xml_node *parent, const char *text)
{
    if (text[0])
        add_node(r, parent)->text = text;
}

static bool read_attribute(struct reader *r, struct xml_node *n)
{
    struct xml_attribute *a = make(r->tree, 1, sizeof(*a)), **last = &n->attributes;
    char quote;

    a->next = NULL;
    a->name = read_name(r);
    if (!a->name)
        return false;
    if (xml_attribute(n, a->name))
        return reject(r, "an attribute twice");
    if (!r->is_html)
        skip_blanks(r);
    if (*r->at++ != '=')
        return reject(r, "an attribute without a value");
    if (!r->is_html)
        skip_blanks(r);
    quote = *r->at;
    if (quote != '"' && (quote != '\'' || r->is_html))
        return reject(r, "a value without quotes");
    r->at++;
    a->value = read_text(r, quote);
    if (!a->value)
        return false;
    if (*r->at++ != quote)
        return reject(r, "an open attribute");
    while (*last)
        last = &(*last)->next;
    *last = a;
    return true;
}

static bool read_content(struct reader *r, struct xml_node *n, int depth);

/* <style> and <script> of HTML */
static bool read_raw(struct reader *r, struct xml_node *n, const char *end)
{
    const char *from = r->at;

    if (!skip_past(r, end))
        return false;
    add_text(r, n, copy(r, from, (size_t)(r->at - from) - strlen(end)));
    return true;
}

static bool read_element(struct reader *r, struct xml_node *parent, int depth)
{
    struct xml_node *n = add_node(r, parent);

    r->at++;
    n->tag = read_name(r);
    if (!n->tag)
        return false;
    if (depth == DEPTH)
        return reject(r, "too deep");
    for (;;) {
        const char *before = r->at;

        skip_blanks(r);
        if (is_next(r, "/>")) {
            r->at += 2;
            return true;
        }
        if (*r->at == '>')
            break;
        if (r->at == before)
            return reject(r, "no end of a tag");
        if (!read_attribute(r, n))
            return false;
    }
    r->at++;
    if (r->is_html && strcmp(n->tag, "meta") == 0)
        return true;
    if (r->is_html && strcmp(n->tag, "style") == 0)
        return read_raw(r, n, "</style>");
    if (r->is_html && strcmp(n->tag, "script") == 0)
        return read_raw(r, n, "</script>");
    return read_content(r, n, depth + 1);
}

static bool read_end(struct reader *r, const struct xml_node *n)
{
    const char *name;

    r->at += 2;
    name = read_name(r);
    if (!name)
        return false;
    if (strcmp(name, n->tag) != 0)
        return reject(r, "an end of another element");
    skip_blanks(r);
    return *r->at++ == '>' || reject(r, "no end of a tag");
}

/* Up to n's end. */
static bool read_content(struct reader *r, struct xml_node *n, int depth)
{
    while (*r->at) {
        const char *text;

        if (is_next(r, "</"))
            return read_end(r, n);
        if (!r->is_html && is_next(r, "<!--")) {
            if (!skip_past(r, "-->"))
                return false;
        } else if (!r->is_html && is_next(r, "<![CDATA[")) {
            r->at += strlen("<![CDATA[");
            if (!read_raw(r, n, "]]>"))
                return false;
        } else if (*r->at == '<') {
            if (!read_element(r, n, depth))
                return false;
        } else {
            text = read_text(r, '<');
            if (!text)
                return false;
            add_text(r, n, text);
        }
    }
    return reject(r, "elements left open");
}

static bool skip_prologue(struct reader *r)
{
    if (r->is_html) {
        if (!is_next(r, "<!DOCTYPE html>\n"))
            return reject(r, "no doctype");
        return skip_past(r, "\n");
    }
    for (skip_blanks(r); is_next(r, "<?") || is_next(r, "<!"); skip_blanks(r))
        if (!skip_past(r, is_next(r, "<?") ? "?>" : is_next(r, "<!--") ? "-->" : ">"))
            return false;
    return true;
}

static bool has_unique_ids(struct reader *r)
{
    struct xml_tree *t = r->tree;
    struct xml_wish with_id = {.attribute = "id"}, same = with_id;

    for (const struct xml_node *n = NULL; (n = xml_next(t->root, n, with_id));) {
        same.value = xml_attribute(n, "id");
        if (xml_next(t->root, n, same)) {
            snprintf(t->fault, sizeof(t->fault), "the id '%.100s' twice", same.value);
            return false;
        }
    }
    return true;
}

static struct xml_tree *parse(const char *text, bool is_html)
{
    struct xml_tree *t = calloc(1, sizeof(*t));
    struct reader r = {t, text, is_html};

    ck_assert_ptr_nonnull(t);
    t->arena = fr__arena_new();
    ck_assert_ptr_nonnull(t->arena);
    t->root = make(t, 1, sizeof(*t->root));
    *t->root = (struct xml_node){.tag = ""}; /* the document */
    if (skip_prologue(&r) && (*r.at == '<' || reject(&r, "no element")) &&
        read_element(&r, t->root, 0)) {
        skip_blanks(&r);
        if (!*r.at ? has_unique_ids(&r) : reject(&r, "more than one element"))
            return t;
    }
    t->root = NULL;
    return t;
}

struct xml_tree *xml_parse(const char *text)
{
    return parse(text, false);
}

struct xml_tree *html_parse(const char *text)
{
    return parse(text, true);
}

void xml_free(struct xml_tree *t)
{
    if (!t)
        return;
    fr__arena_free(t->arena);
    free(t);
}

/* ---- questions ---- */

const char *xml_attribute(const struct xml_node *n, const char *name)
{
    for (const struct xml_attribute *a = n->attributes; a; a = a->next)
        if (strcmp(a->name, name) == 0)
            return a->value;
    return NULL;
}

double xml_number(const struct xml_node *n, const char *name)
{
    const char *value = xml_attribute(n, name);
    char *end;
    double x;

    ck_assert_msg(value != NULL, "<%s> has no '%s'", n->tag, name);
    x = strtod(value, &end);
    ck_assert_msg(end != value && *end == '\0', "<%s>: '%s' is \"%s\"", n->tag, name, value);
    return x;
}

static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = words; *at; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (strcspn(at, " ") == n && strncmp(at, word, n) == 0)
            return true;
    }
    return false;
}

static const struct xml_node *next_node(const struct xml_node *root, const struct xml_node *n)
{
    if (n->first)
        return n->first;
    while (n != root && !n->next)
        n = n->parent;
    return n == root ? NULL : n->next;
}

/* Whether all the text inside n is `want`. */
static bool has_text(const struct xml_node *n, const char *want)
{
    for (const struct xml_node *x = n; (x = next_node(n, x));) {
        size_t len = x->text ? strlen(x->text) : 0;

        if (len > 0 && strncmp(want, x->text, len) != 0)
            return false;
        want += len;
    }
    return *want == '\0';
}

static bool is_as_wished(const struct xml_node *n, struct xml_wish w)
{
    const char *value = w.attribute ? xml_attribute(n, w.attribute) : NULL;

    if (!n->tag || (w.tag && strcmp(n->tag, w.tag) != 0) || (w.attribute && !value))
        return false;
    if (w.attribute && w.value &&
        !(strcmp(w.attribute, "class") == 0 ? has_word(value, w.value)
                                            : strcmp(value, w.value) == 0))
        return false;
    return !w.text || has_text(n, w.text);
}

const struct xml_node *xml_next(const struct xml_node *root, const struct xml_node *after,
                                struct xml_wish wish)
{
    const struct xml_node *n = next_node(root, after ? after : root);

    while (n && !is_as_wished(n, wish))
        n = next_node(root, n);
    return n;
}

size_t xml_count(const struct xml_node *root, struct xml_wish wish)
{
    size_t count = 0;

    for (const struct xml_node *n = NULL; (n = xml_next(root, n, wish));)
        count++;
    return count;
}

const struct xml_node *xml_only(const struct xml_node *root, struct xml_wish wish)
{
    size_t n = xml_count(root, wish);

    ck_assert_msg(n == 1, "%zu elements <%s %s=\"%s\"> \"%s\"", n, wish.tag ? wish.tag : "*",
                  wish.attribute ? wish.attribute : "", wish.value ? wish.value : "",
                  wish.text ? wish.text : "");
    return xml_next(root, NULL, wish);
}

const char *xml_text(struct xml_tree *t, const struct xml_node *n)
{
    size_t size = 1, used = 0;
    char *text;

    if (n->text)
        return n->text;
    if (n->first && n->first->text && !n->first->next)
        return n->first->text;
    for (const struct xml_node *x = n; (x = next_node(n, x));)
        size += x->text ? strlen(x->text) : 0;
    text = make(t, size, 1);
    for (const struct xml_node *x = n; (x = next_node(n, x));)
        if (x->text) {
            memcpy(text + used, x->text, strlen(x->text));
            used += strlen(x->text);
        }
    text[used] = '\0';
    return text;
}

const struct xml_node *xml_sibling(const struct xml_node *n)
{
    do
        n = n->next;
    while (n && !n->tag);
    return n;
}

size_t xml_n_children(const struct xml_node *n)
{
    size_t count = 0;

    while (xml_child(n, count))
        count++;
    return count;
}

const struct xml_node *xml_child(const struct xml_node *n, size_t i)
{
    const struct xml_node *x = n->first;

    if (x && !x->tag)
        x = xml_sibling(x);
    while (x && i-- > 0)
        x = xml_sibling(x);
    return x;
}

const char *xml_skeleton(struct xml_tree *t)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    char *out;

    ck_assert_ptr_nonnull(f);
    for (const struct xml_node *n = NULL; (n = xml_next(t->root, n, (struct xml_wish){0}));) {
        int depth = 0;

        for (const struct xml_node *up = n->parent; up; up = up->parent)
            depth++;
        fprintf(f, "%d %s", depth, n->tag);
        for (const struct xml_attribute *a = n->attributes; a; a = a->next)
            fprintf(f, " %s", a->name);
        putc('\n', f);
    }
    ck_assert_int_eq(fclose(f), 0);
    out = make(t, size + 1, 1);
    memcpy(out, text, size + 1);
    free(text);
    return out;
}
