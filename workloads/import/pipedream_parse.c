/* workloads/import/pipedream_parse.c - the text of a PipeDream profile.
 *
 * Format: graph/graph.py of github.com/msr-fiddle/pipedream (commit 7db6a1c): a node a line,
 *   ID -- DESCRIPTION -- forward_compute_time=MS, backward_compute_time=MS,
 *       activation_size=BYTES or [BYTES; BYTES; ...], parameter_size=BYTES[ -- stage_id=K]
 * and an edge a line, "<tab>ID -- ID", in any order. Stage numbers are checked and left out: they
 * are the result of PipeDream's optimizer, no property of the model.
 */
#include "config.h"

#include "workloads/import/pipedream.h"

#include "base/error.h"
#include "base/utf8.h"
#include "base/hash.h"
#include "base/units.h"
#include "workloads/graph/builder.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ID = 255, MAX_SIZES_OF_NODE = 4096, MAX_DIGITS = 63 };

#define MAX_NODES (FR__MAX_OPS / 3)
#define MAX_EDGES (FR__MAX_EDGES / 8)
#define MAX_SIZES (FR__MAX_TENSORS / 4)
#define MAX_TIME_MS (FR__MAX_TIME_S * 1e3)

struct raw_edge {
    const char *src, *dst; /* ids */
    unsigned line, src_col, dst_col;
};

struct parser {
    struct fr__arena *arena;
    const char *name;
    unsigned line_number;
    const char *line, *at, *end; /* the line and the place in it */
    struct fr__profile_node *nodes;
    uint64_t *sizes;
    struct raw_edge *edges;
    size_t n_nodes, n_sizes, n_edges, cap_nodes, cap_sizes, cap_edges;
    struct fr__strings ids;
};

static struct fr_loc here(const struct parser *ps, const char *at)
{
    return (struct fr_loc){ps->name, ps->line_number, (unsigned)(at - ps->line) + 1};
}

/* The first `what` in [from, to), or NULL. */
static const char *find(const char *from, const char *to, const char *what)
{
    size_t len = strlen(what);

    for (; (size_t)(to - from) >= len; from++)
        if (memcmp(from, what, len) == 0)
            return from;
    return NULL;
}

static const char *find_last(const char *from, const char *to, const char *what)
{
    const char *last = NULL;

    for (const char *at = from; (at = find(at, to, what)) != NULL; at++)
        last = at;
    return last;
}

static enum fr_status take(struct parser *ps, const char *text, struct fr_error *err)
{
    size_t len = strlen(text);

    if ((size_t)(ps->end - ps->at) < len || memcmp(ps->at, text, len) != 0)
        return fr__fail(err, FR_EPARSE, here(ps, ps->at), "expected \"%s\"", text);
    ps->at += len;
    return FR_OK;
}

static enum fr_status take_number(struct parser *ps, const char *what, double max, double *out,
                                  struct fr_error *err)
{
    const char *start = ps->at;
    char digits[MAX_DIGITS + 1];
    size_t len;

    while (ps->at < ps->end && !strchr(",;] ", *ps->at))
        ps->at++;
    len = (size_t)(ps->at - start);
    if (len > MAX_DIGITS)
        return fr__fail(err, FR_EPARSE, here(ps, start), "%s has %zu characters, not a number",
                        what, len);
    memcpy(digits, start, len);
    digits[len] = '\0';
    return fr__parse_number(digits, what, here(ps, start), 0, max, out, err);
}

/* PipeDream averages sizes over runs and prints them as decimals: to the nearest byte, and as they
 * stand there. */
static enum fr_status take_bytes(struct parser *ps, const char *what, uint64_t *out,
                                 double *out_exact, struct fr_error *err)
{
    FR_TRY(take_number(ps, what, (double)FR__MAX_BYTES, out_exact, err));
    *out = (uint64_t)(*out_exact + 0.5);
    return FR_OK;
}

static enum fr_status take_size(struct parser *ps, struct fr__profile_node *node,
                                struct fr_error *err)
{
    uint64_t bytes;
    double exact;

    if (ps->n_sizes >= MAX_SIZES)
        return fr__fail(err, FR_ERANGE, here(ps, ps->at), "more than %zu activations", MAX_SIZES);
    FR_TRY(take_bytes(ps, "'activation_size'", &bytes, &exact, err));
    node->activation_bytes += exact;
    if (!fr__grow(&ps->sizes, &ps->cap_sizes, ps->n_sizes + 1, sizeof(*ps->sizes)))
        return fr__fail_nomem(err);
    ps->sizes[ps->n_sizes++] = bytes;
    return FR_OK;
}

static enum fr_status take_sizes(struct parser *ps, struct fr__profile_node *node,
                                 struct fr_error *err)
{
    const char *start = ps->at;

    node->first_size = (uint32_t)ps->n_sizes;
    node->n_sizes = 1;
    if (ps->at == ps->end || *ps->at != '[')
        return take_size(ps, node, err);
    ps->at++;
    FR_TRY(take_size(ps, node, err));
    while (ps->at < ps->end && *ps->at == ';') {
        if (++node->n_sizes > MAX_SIZES_OF_NODE)
            return fr__fail(err, FR_ERANGE, here(ps, start), "'activation_size' has over %d items",
                            MAX_SIZES_OF_NODE);
        FR_TRY(take(ps, "; ", err));
        FR_TRY(take_size(ps, node, err));
    }
    return take(ps, "]", err);
}

/* A copy of [from, to), which names a node. */
static enum fr_status read_id(struct parser *ps, const char *from, const char *to, const char **out,
                              struct fr_error *err)
{
    if (from == to || to - from > MAX_ID)
        return fr__fail(err, FR_EPARSE, here(ps, from), "expected a node's name of 1 to %d bytes",
                        MAX_ID);
    for (const char *s = from; s < to; s++)
        if (*s <= ' ' || *s > '~' || *s == ';')
            return fr__fail(err, FR_EPARSE, here(ps, s),
                            "a node's name holds a space, ';' or a byte that is not printable "
                            "ASCII");
    *out = fr__arena_strndup(ps->arena, from, (size_t)(to - from));
    return *out ? FR_OK : fr__fail_nomem(err);
}

static enum fr_status add_id(struct parser *ps, const struct fr__profile_node *node,
                             struct fr_error *err)
{
    bool is_new;
    uint32_t id = fr__strings_add(&ps->ids, node->id, &is_new);

    if (id == FR_NONE)
        return fr__fail_nomem(err);
    if (!is_new)
        return fr__fail(err, FR_EPARSE, node->loc, "node '%s' is given twice, first on line %u",
                        node->id, ps->nodes[id].loc.line);
    return FR_OK;
}

static enum fr_status take_fields(struct parser *ps, struct fr__profile_node *node,
                                  struct fr_error *err)
{
    double forward_ms, backward_ms, stage;

    FR_TRY(take(ps, " -- forward_compute_time=", err));
    FR_TRY(take_number(ps, "'forward_compute_time'", MAX_TIME_MS, &forward_ms, err));
    FR_TRY(take(ps, ", backward_compute_time=", err));
    FR_TRY(take_number(ps, "'backward_compute_time'", MAX_TIME_MS, &backward_ms, err));
    FR_TRY(take(ps, ", activation_size=", err));
    FR_TRY(take_sizes(ps, node, err));
    FR_TRY(take(ps, ", parameter_size=", err));
    FR_TRY(take_bytes(ps, "'parameter_size'", &node->param_bytes, &node->parameter_bytes, err));
    node->line = fr__arena_strndup(ps->arena, ps->line, (size_t)(ps->at - ps->line));
    if (!node->line)
        return fr__fail_nomem(err);
    if (ps->at < ps->end) {
        FR_TRY(take(ps, " -- stage_id=", err));
        FR_TRY(take_number(ps, "'stage_id'", (double)MAX_NODES, &stage, err));
    }
    if (ps->at < ps->end)
        return fr__fail(err, FR_EPARSE, here(ps, ps->at), "text after the end of the node");
    node->forward_s = forward_ms / 1e3;
    node->backward_s = backward_ms / 1e3;
    node->both_s = (forward_ms + backward_ms) / 1e3;
    return FR_OK;
}

static enum fr_status parse_node(struct parser *ps, struct fr_error *err)
{
    struct fr__profile_node node = {.loc = here(ps, ps->line)};
    const char *after_id = find(ps->line, ps->end, " -- ");
    const char *fields = find_last(ps->line, ps->end, " -- forward_compute_time=");

    if (!after_id || !fields || after_id == fields)
        return fr__fail(err, FR_EPARSE, node.loc,
                        "expected \"NAME -- DESCRIPTION -- forward_compute_time=...\", or a tab "
                        "and an edge");
    if (ps->n_nodes >= MAX_NODES)
        return fr__fail(err, FR_ERANGE, node.loc, "more than %zu nodes", MAX_NODES);
    FR_TRY(read_id(ps, ps->line, after_id, &node.id, err));
    FR_TRY(add_id(ps, &node, err));
    node.desc = fr__arena_strndup(ps->arena, after_id + 4, (size_t)(fields - after_id) - 4);
    if (!node.desc)
        return fr__fail_nomem(err);
    ps->at = fields;
    FR_TRY(take_fields(ps, &node, err));
    fr__profile_classify(&node);
    if (!fr__grow(&ps->nodes, &ps->cap_nodes, ps->n_nodes + 1, sizeof(*ps->nodes)))
        return fr__fail_nomem(err);
    ps->nodes[ps->n_nodes++] = node;
    return FR_OK;
}

static enum fr_status parse_edge(struct parser *ps, struct fr_error *err)
{
    struct raw_edge e = {.line = ps->line_number};
    const char *sep;

    while (ps->at < ps->end && (*ps->at == '\t' || *ps->at == ' '))
        ps->at++;
    sep = find(ps->at, ps->end, " -- ");
    if (!sep)
        return fr__fail(err, FR_EPARSE, here(ps, ps->at), "expected an edge \"NAME -- NAME\"");
    if (ps->n_edges >= MAX_EDGES)
        return fr__fail(err, FR_ERANGE, here(ps, ps->at), "more than %zu edges", MAX_EDGES);
    e.src_col = here(ps, ps->at).col;
    e.dst_col = here(ps, sep + 4).col;
    FR_TRY(read_id(ps, ps->at, sep, &e.src, err));
    FR_TRY(read_id(ps, sep + 4, ps->end, &e.dst, err));
    if (!fr__grow(&ps->edges, &ps->cap_edges, ps->n_edges + 1, sizeof(*ps->edges)))
        return fr__fail_nomem(err);
    ps->edges[ps->n_edges++] = e;
    return FR_OK;
}

static enum fr_status parse_lines(struct parser *ps, const char *text, size_t len,
                                  struct fr_error *err)
{
    const char *stop = text + len;

    for (const char *next; text < stop; text = next) {
        const char *newline = memchr(text, '\n', (size_t)(stop - text));
        size_t n_text;

        next = newline ? newline + 1 : stop;
        ps->line_number++;
        ps->line = ps->at = text;
        ps->end = newline ? newline : stop;
        while (ps->end > ps->line && (ps->end[-1] == '\r' || ps->end[-1] == ' '))
            ps->end--;
        n_text = fr__utf8_text_length(ps->line, (size_t)(ps->end - ps->line));
        if (n_text < (size_t)(ps->end - ps->line))
            return fr__fail(
                err, FR_EPARSE, here(ps, ps->line + n_text), "byte 0x%02x %s",
                (unsigned)(unsigned char)ps->line[n_text],
                fr__utf8_fault(ps->line + n_text, (size_t)(ps->end - ps->line) - n_text));
        if (ps->line == ps->end)
            continue;
        if (*ps->line == '\t' || *ps->line == ' ')
            FR_TRY(parse_edge(ps, err));
        else
            FR_TRY(parse_node(ps, err));
    }
    if (ps->n_nodes == 0)
        return fr__fail(err, FR_EPARSE, (struct fr_loc){ps->name, 0, 0}, "no nodes in the profile");
    return FR_OK;
}

static enum fr_status find_node(const struct parser *ps, const char *id, unsigned line,
                                unsigned col, uint32_t *out, struct fr_error *err)
{
    char hint[MAX_ID + 32];

    *out = fr__strings_find(&ps->ids, id);
    if (*out != FR_NONE)
        return FR_OK;
    return fr__fail(err, FR_EPARSE, (struct fr_loc){ps->name, line, col}, "no node is named '%s'%s",
                    id, fr__did_you_mean(id, ps->ids.keys, ps->ids.n, hint, sizeof(hint)));
}

/* Groups the edges by the node that reads, keeping file order, and refuses doubled ones. */
static enum fr_status group_edges(struct parser *ps, struct fr__profile *p, struct fr_error *err)
{
    uint32_t(*ends)[2] = fr__arena_alloc(ps->arena, ps->n_edges, sizeof(*ends));
    uint32_t *fill = fr__arena_alloc(ps->arena, ps->n_nodes, sizeof(*fill));
    uint32_t *edge_of = fr__arena_alloc(ps->arena, ps->n_edges, sizeof(*edge_of));
    uint32_t *seen_at = fr__arena_alloc(ps->arena, ps->n_nodes, sizeof(*seen_at));

    p->in_first = fr__arena_alloc(ps->arena, ps->n_nodes + 1, sizeof(*p->in_first));
    p->in_src = fr__arena_alloc(ps->arena, ps->n_edges, sizeof(*p->in_src));
    if (!ends || !fill || !edge_of || !seen_at || !p->in_first || !p->in_src)
        return fr__fail_nomem(err);
    for (size_t e = 0; e < ps->n_edges; e++) {
        const struct raw_edge *raw = &ps->edges[e];

        FR_TRY(find_node(ps, raw->src, raw->line, raw->src_col, &ends[e][0], err));
        FR_TRY(find_node(ps, raw->dst, raw->line, raw->dst_col, &ends[e][1], err));
        p->in_first[ends[e][1] + 1]++;
    }
    p->edges = ends;
    for (size_t v = 0; v < ps->n_nodes; v++)
        p->in_first[v + 1] += p->in_first[v];
    for (uint32_t e = 0; e < ps->n_edges; e++)
        edge_of[p->in_first[ends[e][1]] + fill[ends[e][1]]++] = e;
    /* seen_at[u]: 1 + the last node found to read u */
    for (uint32_t i = 0, v = 0; i < ps->n_edges; i++) {
        const struct raw_edge *raw = &ps->edges[edge_of[i]];
        uint32_t src = ends[edge_of[i]][0];

        while (i >= p->in_first[v + 1])
            v++;
        p->in_src[i] = src;
        if (seen_at[src] == v + 1)
            return fr__fail(err, FR_EPARSE, (struct fr_loc){ps->name, raw->line, raw->src_col},
                            "the edge from '%s' to '%s' is given twice", raw->src, raw->dst);
        seen_at[src] = v + 1;
    }
    return FR_OK;
}

static enum fr_status keep(struct parser *ps, struct fr__profile *p, struct fr_error *err)
{
    p->nodes = fr__arena_alloc(ps->arena, ps->n_nodes, sizeof(*p->nodes));
    p->sizes = fr__arena_alloc(ps->arena, ps->n_sizes, sizeof(*p->sizes));
    p->name = fr__arena_strdup(ps->arena, ps->name);
    if (!p->nodes || !p->sizes || !p->name)
        return fr__fail_nomem(err);
    memcpy(p->nodes, ps->nodes, ps->n_nodes * sizeof(*p->nodes));
    memcpy(p->sizes, ps->sizes, ps->n_sizes * sizeof(*p->sizes));
    p->n_nodes = ps->n_nodes;
    p->n_sizes = ps->n_sizes;
    p->n_edges = ps->n_edges;
    return group_edges(ps, p, err);
}

enum fr_status fr__profile_parse(struct fr__arena *a, const char *text, size_t len,
                                 const char *name, struct fr__profile *out, struct fr_error *err)
{
    struct parser ps = {.arena = a, .name = name};
    enum fr_status st = parse_lines(&ps, text, len, err);

    if (st == FR_OK)
        st = keep(&ps, out, err);
    free(ps.nodes);
    free(ps.sizes);
    free(ps.edges);
    fr__strings_fini(&ps.ids);
    return st;
}

enum fr_status fr__profile_name(struct fr__arena *scratch, const char *path, const char **out,
                                struct fr_error *err)
{
    const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path, *end;

    if (strcmp(start, "graph.txt") == 0 && slash && slash != path) {
        end = slash;
        for (start = end; start > path && start[-1] != '/'; start--)
            ;
    } else {
        end = strrchr(start, '.');
        if (!end || end == start)
            end = start + strlen(start);
    }
    *out = end > start ? fr__arena_strndup(scratch, start, (size_t)(end - start)) : "profile";
    return *out ? FR_OK : fr__fail_nomem(err);
}
