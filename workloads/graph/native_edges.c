/* workloads/graph/native_edges.c - reads edges.csv: every row is a dependency.
 *
 * A row may say how many bytes move though ops.csv names no output of its source. The source then
 * has one output that nobody listed: as large as the most that a row moves. Since outputs are
 * numbered through all rows of ops.csv, edges are kept until all are read, and numbered anew where
 * there are such outputs.
 */
#include "config.h"

#include "workloads/graph/native.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

const struct fr__csv_column fr__edge_columns[] = {
    {"src", true}, {"dst", true}, {"bytes", false}, {"tensor", false}, {NULL, false}};

enum { EDGE_SRC, EDGE_DST, EDGE_BYTES, EDGE_TENSOR };

struct edge_row {
    struct fr_edge edge;
    unsigned line;
    bool is_implied; /* it carries an output that ops.csv does not list */
};

struct edge_reader {
    struct fr__native *n;
    struct edge_row *rows;
    size_t n_rows, cap_rows;
    uint64_t *implied; /* [n->n_rows] bytes of the output that ops.csv does not list; 0: none */
    size_t n_implied;
};

/* Which output of src the edge carries: an index, '-' for none, by default the first if any. */
static enum fr_status read_tensor(const struct fr__native_row *src, const struct fr__cell *cell,
                                  uint32_t *out, struct fr_error *err)
{
    uint64_t index;

    *out = src->n_outputs ? src->first_output : FR_NONE;
    if (!cell->text[0])
        return FR_OK;
    *out = FR_NONE;
    if (strcmp(cell->text, "-") == 0)
        return FR_OK;
    FR_TRY(fr__cell_count(cell, "tensor", 0, FR__MAX_TENSORS, &index, err));
    if (index >= src->n_outputs)
        return fr__fail(err, FR_ERANGE, cell->loc, "'tensor' is %s, but op '%s' has %u outputs",
                        cell->text, src->op.name, src->n_outputs);
    *out = src->first_output + (uint32_t)index;
    return FR_OK;
}

/* An edge that carries no listed output. */
static enum fr_status read_unlisted(struct edge_reader *r, const struct fr__cell cells[],
                                    struct edge_row *row, struct fr_error *err)
{
    uint64_t *implied = &r->implied[row->edge.src];

    if (row->edge.bytes == 0)
        return FR_OK;
    if (cells[EDGE_TENSOR].text[0])
        return fr__fail(err, FR_EPARSE, cells[EDGE_BYTES].loc,
                        "'bytes' is %s, but a 'tensor' of '-' carries no data (an op that uses "
                        "another's parameters says so in 'tied_to' of ops.csv)",
                        cells[EDGE_BYTES].text);
    r->n_implied += *implied == 0;
    if (row->edge.bytes > *implied)
        *implied = row->edge.bytes;
    row->is_implied = true;
    return FR_OK;
}

static enum fr_status read_edge(void *user, const struct fr__cell cells[], struct fr_error *err)
{
    struct edge_reader *r = user;
    struct fr__native *n = r->n;
    struct edge_row row = {.line = cells[EDGE_SRC].loc.line};
    struct fr_edge *e = &row.edge;

    FR_TRY(fr__native_find(n, cells[EDGE_SRC].text, cells[EDGE_SRC].loc, &e->src, err));
    FR_TRY(fr__native_find(n, cells[EDGE_DST].text, cells[EDGE_DST].loc, &e->dst, err));
    FR_TRY(read_tensor(&n->rows[e->src], &cells[EDGE_TENSOR], &e->tensor, err));
    e->bytes = e->tensor == FR_NONE ? 0 : n->outputs[e->tensor].bytes;
    if (cells[EDGE_BYTES].text[0])
        FR_TRY(fr__cell_count(&cells[EDGE_BYTES], "bytes", 0, FR__MAX_BYTES, &e->bytes, err));
    if (e->tensor == FR_NONE)
        FR_TRY(read_unlisted(r, cells, &row, err));
    n->rows[e->dst].read_bytes += (double)e->bytes;
    if (!fr__grow(&r->rows, &r->cap_rows, r->n_rows + 1, sizeof(*r->rows)))
        return fr__fail_nomem(err);
    r->rows[r->n_rows++] = row;
    return FR_OK;
}

static int compare_edge_rows(const void *a, const void *b)
{
    const struct edge_row *x = a, *y = b;

    if (x->edge.src != y->edge.src)
        return x->edge.src < y->edge.src ? -1 : 1;
    if (x->edge.dst != y->edge.dst)
        return x->edge.dst < y->edge.dst ? -1 : 1;
    if (x->edge.tensor != y->edge.tensor)
        return x->edge.tensor < y->edge.tensor ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* The builder would merge equal edges; in a file a doubled row is a slip. */
static enum fr_status refuse_doubled(struct edge_reader *r, const char *path, struct fr_error *err)
{
    if (r->n_rows)
        qsort(r->rows, r->n_rows, sizeof(*r->rows), compare_edge_rows);
    for (size_t i = 1; i < r->n_rows; i++) {
        const struct fr_edge *a = &r->rows[i - 1].edge, *b = &r->rows[i].edge;

        if (a->src == b->src && a->dst == b->dst && a->tensor == b->tensor)
            return fr__fail(err, FR_EPARSE, (struct fr_loc){path, r->rows[i].line, 1},
                            "the edge from '%s' to '%s' is given twice, first on line %u",
                            r->n->ids.keys[b->src], r->n->ids.keys[b->dst], r->rows[i - 1].line);
    }
    return FR_OK;
}

/* ---- outputs that are not listed ---- */

/* Puts them between the listed outputs, in the order of the rows of ops.csv. number: [n_outputs]
 * where each listed output went. */
static void insert_outputs(const struct edge_reader *r, struct fr_tensor outputs[],
                           uint32_t number[])
{
    struct fr__native *n = r->n;
    uint32_t made = 0;

    for (size_t i = 0; i < n->n_rows; i++) {
        struct fr__native_row *row = &n->rows[i];
        uint32_t first = made;

        for (uint32_t k = 0; k < row->n_outputs; k++) {
            number[row->first_output + k] = made;
            outputs[made++] = n->outputs[row->first_output + k];
        }
        if (r->implied[i])
            outputs[made++] = (struct fr_tensor){.bytes = r->implied[i],
                                                 .alias = FR_NONE,
                                                 .split_mask = row->op.scales,
                                                 .scales = row->op.scales};
        row->n_outputs = made - first;
        row->first_output = first;
    }
}

static enum fr_status add_implied(struct edge_reader *r, struct fr_error *err)
{
    struct fr__native *n = r->n;
    size_t n_outputs = n->n_outputs + r->n_implied;
    struct fr_tensor *outputs;
    uint32_t *number;

    if (n_outputs > FR__MAX_TENSORS)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "more than %zu tensors", FR__MAX_TENSORS);
    number = fr__arena_alloc(n->arena, n->n_outputs, sizeof(*number));
    outputs = calloc(n_outputs, sizeof(*outputs));
    if (!number || !outputs) {
        free(outputs);
        return fr__fail_nomem(err);
    }
    insert_outputs(r, outputs, number);
    for (size_t i = 0; i < n_outputs; i++)
        if (outputs[i].alias != FR_NONE)
            outputs[i].alias = number[outputs[i].alias];
    for (size_t i = 0; i < r->n_rows; i++) {
        struct fr_edge *e = &r->rows[i].edge;

        e->tensor = r->rows[i].is_implied  ? n->rows[e->src].first_output
                    : e->tensor == FR_NONE ? FR_NONE
                                           : number[e->tensor];
    }
    free(n->outputs);
    n->outputs = outputs;
    n->n_outputs = n->cap_outputs = n_outputs;
    return FR_OK;
}

/* ---- the file ---- */

enum fr_status fr__native_read_edges(struct fr__native *n, const char *path, struct fr_error *err)
{
    struct edge_reader r = {.n = n};
    enum fr_status st;

    r.implied = fr__arena_alloc(n->arena, n->n_rows, sizeof(*r.implied));
    if (!r.implied)
        return fr__fail_nomem(err);
    st = fr__csv_read(path, fr__edge_columns, read_edge, &r, err);
    if (st == FR_OK)
        st = refuse_doubled(&r, path, err);
    if (st == FR_OK && r.n_implied)
        st = add_implied(&r, err);
    for (size_t i = 0; st == FR_OK && i < r.n_rows; i++)
        fr_graph_builder_edge(n->b, r.rows[i].edge.src, r.rows[i].edge.dst, r.rows[i].edge.tensor,
                              r.rows[i].edge.bytes);
    free(r.rows);
    return st;
}
