/* tests/support/dot_check.c - a parser for the DOT text that our writers make. */
#include "config.h"

#include "tests/support/dot_check.h"

#include "base/arena.h"

#include <check.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct dot_graph *g;
    const char *at;
    size_t cap_nodes, cap_edges;
};

#define CK_HERE(condition, r, what) ck_assert_msg(condition, what " before: %.100s", (r)->at)

static void *make(struct dot_graph *g, size_t n, size_t size)
{
    void *p = fr__arena_alloc(g->arena, n, size);

    ck_assert_ptr_nonnull(p);
    return p;
}

static void *more(struct dot_graph *g, const void *old, size_t n, size_t *cap, size_t size)
{
    void *p;

    if (n < *cap)
        return NULL;
    *cap = *cap ? 2 * *cap : 64;
    p = make(g, *cap, size);
    if (n > 0)
        memcpy(p, old, n * size);
    return p;
}

/* ---- words ---- */

static void skip_blanks(struct reader *r)
{
    r->at += strspn(r->at, " \n");
    while (strncmp(r->at, "//", 2) == 0) {
        r->at += strcspn(r->at, "\n");
        r->at += strspn(r->at, " \n");
    }
}

static bool take(struct reader *r, const char *word)
{
    skip_blanks(r);
    if (strncmp(r->at, word, strlen(word)) != 0)
        return false;
    r->at += strlen(word);
    return true;
}

/* Graphviz decodes entities in labels; we write one. */
static char read_entity(struct reader *r)
{
    CK_HERE(strncmp(r->at, "&amp;", 5) == 0, r, "a bare &");
    r->at += 5;
    return '&';
}

static const char *read_quoted(struct reader *r)
{
    char *out = make(r->g, strlen(r->at) < 4096 ? strlen(r->at) : 4096, 1);
    size_t n = 0;

    for (r->at++; *r->at != '"'; n++) {
        CK_HERE((unsigned char)*r->at >= 0x20 && n < 4000, r, "no end of a string");
        if (*r->at == '&') {
            out[n] = read_entity(r);
        } else if (*r->at == '\\') {
            CK_HERE(strchr("\"\\nl", r->at[1]) != NULL, r, "an escape");
            out[n] = strchr("nl", r->at[1]) ? '\n' : r->at[1];
            r->at += 2;
        } else {
            out[n] = *r->at++;
        }
    }
    out[n] = '\0';
    r->at++;
    return out;
}

static const char *read_word(struct reader *r)
{
    const char *from;
    char *out;

    skip_blanks(r);
    if (*r->at == '"')
        return read_quoted(r);
    from = r->at;
    while (isalnum((unsigned char)*r->at) || *r->at == '_' || *r->at == '.')
        r->at++;
    CK_HERE(r->at > from, r, "no name");
    out = make(r->g, (size_t)(r->at - from) + 1, 1);
    memcpy(out, from, (size_t)(r->at - from));
    return out;
}

static void add_attribute(struct reader *r, struct dot_attribute **list, const char *name)
{
    struct dot_attribute *a = make(r->g, 1, sizeof(*a));

    CK_HERE(!dot_attribute(*list, name), r, "an attribute twice");
    *a = (struct dot_attribute){name, read_word(r), *list};
    *list = a;
}

static struct dot_attribute *read_attributes(struct reader *r)
{
    struct dot_attribute *list = NULL;

    if (!take(r, "["))
        return NULL;
    while (!take(r, "]")) {
        const char *name = read_word(r);

        CK_HERE(take(r, "="), r, "no value");
        add_attribute(r, &list, name);
        take(r, ",");
    }
    return list;
}

/* ---- statements ---- */

static struct dot_node *find_node(const struct dot_graph *g, const char *id)
{
    for (size_t i = 0; i < g->n_nodes; i++)
        if (strcmp(g->nodes[i].id, id) == 0)
            return &g->nodes[i];
    return NULL;
}

static void read_node(struct reader *r, const char *id)
{
    struct dot_graph *g = r->g;
    struct dot_node n = {.id = id}, *grown;
    const char *pos, *w, *h;

    CK_HERE(!find_node(g, id), r, "a node twice");
    n.attributes = read_attributes(r);
    pos = dot_attribute(n.attributes, "pos");
    w = dot_attribute(n.attributes, "width");
    h = dot_attribute(n.attributes, "height");
    if (pos && w && h) {
        ck_assert_int_eq(sscanf(pos, "%lf,%lf!", &n.x, &n.y), 2);
        n.w = 72 * strtod(w, NULL);
        n.h = 72 * strtod(h, NULL);
        n.has_box = true;
    }
    grown = more(g, g->nodes, g->n_nodes, &r->cap_nodes, sizeof(*g->nodes));
    if (grown)
        g->nodes = grown;
    g->nodes[g->n_nodes++] = n;
}

/* Nodes come before edges, so that they no longer move. */
static void read_edge(struct reader *r, const char *from)
{
    struct dot_graph *g = r->g;
    struct dot_edge e = {.from = find_node(g, from)}, *grown;

    e.to = find_node(g, read_word(r));
    CK_HERE(e.from && e.to, r, "an edge of no node");
    e.attributes = read_attributes(r);
    grown = more(g, g->edges, g->n_edges, &r->cap_edges, sizeof(*g->edges));
    if (grown)
        g->edges = grown;
    g->edges[g->n_edges++] = e;
}

static void read_statement(struct reader *r, bool is_for_edges)
{
    const char *id = read_word(r);

    if (take(r, "=")) {
        if (is_for_edges)
            read_word(r);
        else
            add_attribute(r, &r->g->settings, id);
    } else if (take(r, r->g->is_directed ? "->" : "--")) {
        if (is_for_edges) {
            read_edge(r, id);
        } else {
            read_word(r);
            read_attributes(r);
        }
    } else if (is_for_edges || strcmp(id, "node") == 0 || strcmp(id, "edge") == 0) {
        read_attributes(r);
    } else {
        read_node(r, id);
    }
    CK_HERE(take(r, ";"), r, "no end of a statement");
}

struct dot_graph *dot_parse(const char *text)
{
    struct dot_graph *g = calloc(1, sizeof(*g));

    ck_assert_ptr_nonnull(g);
    g->arena = fr__arena_new();
    ck_assert_ptr_nonnull(g->arena);
    for (unsigned is_for_edges = 0; is_for_edges < 2; is_for_edges++) {
        struct reader r = {.g = g, .at = text};

        g->is_directed = take(&r, "digraph");
        CK_HERE(g->is_directed || take(&r, "graph"), &r, "no graph");
        read_word(&r);
        CK_HERE(take(&r, "{"), &r, "no beginning");
        while (!take(&r, "}"))
            read_statement(&r, is_for_edges);
        skip_blanks(&r);
        CK_HERE(*r.at == '\0', &r, "more than a graph");
    }
    return g;
}

void dot_free(struct dot_graph *g)
{
    if (!g)
        return;
    fr__arena_free(g->arena);
    free(g);
}

/* ---- questions ---- */

const char *dot_attribute(const struct dot_attribute *attributes, const char *name)
{
    for (; attributes; attributes = attributes->next)
        if (strcmp(attributes->name, name) == 0)
            return attributes->value;
    return NULL;
}

const struct dot_node *dot_node(const struct dot_graph *g, const char *id)
{
    return find_node(g, id);
}

static const char *label_of(const struct dot_node *n)
{
    const char *label = dot_attribute(n->attributes, "label");

    return label ? label : n->id;
}

const struct dot_node *dot_labelled(const struct dot_graph *g, const char *label)
{
    const struct dot_node *found = NULL;

    for (size_t i = 0; i < g->n_nodes; i++)
        if (strcmp(label_of(&g->nodes[i]), label) == 0) {
            ck_assert_msg(!found, "two nodes '%s'", label);
            found = &g->nodes[i];
        }
    ck_assert_msg(found != NULL, "no node '%s'", label);
    return found;
}

size_t dot_count(const struct dot_graph *g, const char *label_start)
{
    size_t n = 0;

    for (size_t i = 0; i < g->n_nodes; i++)
        n += strncmp(label_of(&g->nodes[i]), label_start, strlen(label_start)) == 0;
    return n;
}

bool dot_is_box(const struct dot_node *n)
{
    const char *shape = dot_attribute(n->attributes, "shape");

    return !shape && !dot_attribute(n->attributes, "labelloc");
}

/* ---- places ---- */

static bool do_cover(const struct dot_node *a, const struct dot_node *b)
{
    return fabs(a->x - b->x) < (a->w + b->w) / 2 - 1 && fabs(a->y - b->y) < (a->h + b->h) / 2 - 1;
}

/* Whether the point is on the border of the box, but for rounding to points. */
static bool is_at(const struct dot_node *n, double x, double y)
{
    double right = fabs(x - n->x) - n->w / 2, up = fabs(y - n->y) - n->h / 2;

    return right < 2 && up < 2 && (right > -2 || up > -2);
}

static void check_way(const struct dot_edge *e, const char *pos)
{
    const char *last = strrchr(pos, ' ');
    double x0, y0, x1, y1;
    int n;

    if (strncmp(pos, "e,", 2) == 0) /* where the arrow's point is, then the way */
        n = sscanf(pos, "e,%lf,%lf %lf,%lf", &x1, &y1, &x0, &y0);
    else
        n = sscanf(pos, "%lf,%lf", &x0, &y0) + (last ? sscanf(last, " %lf,%lf", &x1, &y1) : 0);
    ck_assert_int_eq(n, 4);
    ck_assert_msg((is_at(e->from, x0, y0) && is_at(e->to, x1, y1)) ||
                      (is_at(e->to, x0, y0) && is_at(e->from, x1, y1)),
                  "%s to %s goes from (%g, %g) to (%g, %g)", label_of(e->from), label_of(e->to), x0,
                  y0, x1, y1);
}

void dot_check_places(const struct dot_graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++)
        for (size_t k = 0; k < i; k++) {
            const struct dot_node *a = &g->nodes[i], *b = &g->nodes[k];

            if (a->has_box && b->has_box && dot_is_box(a) && dot_is_box(b))
                ck_assert_msg(!do_cover(a, b), "'%s' covers '%s'", label_of(a), label_of(b));
        }
    for (size_t i = 0; i < g->n_edges; i++) {
        const char *pos = dot_attribute(g->edges[i].attributes, "pos");

        if (pos)
            check_way(&g->edges[i], pos);
    }
}

char *drawing_text(const struct fr_drawing *d, const char *ending)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    struct fr_error err;

    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fr_drawing_write(f, d, ending, NULL, &err), FR_OK);
    ck_assert_int_eq(fclose(f), 0);
    return text;
}

struct dot_graph *dot_of(struct fr_drawing *d)
{
    char *text = drawing_text(d, ".dot");
    struct dot_graph *g = dot_parse(text);

    free(text);
    fr_drawing_free(d);
    return g;
}
