/* results/drawings/graph.c - the picture of a training graph: its layers, folded, in rows that wind to and
 * fro, so that a chain of any length has the shape of a slide. */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/drawings/dot.h"
#include "results/drawings/graph.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { NUMBER = 32, MAX_NAME = 24, NODE_W = 150, NODE_H = 66, CELL_W = 184, CELL_H = 108 };

struct picture {
    FILE *f;
    const struct fr_graph *g;
    const struct fr__folding *folding;
    size_t n_columns;
    uint64_t *bytes; /* [n][n] between folds, of tensors */
    bool *is_tied;   /* [n][n] parameters are shared */
};

/* ---- shared with draw_ops.c ---- */

void fr__graph_open(FILE *f, bool is_placed)
{
    fprintf(f,
            "// %s -Tsvg draws this\n"
            "digraph training_graph {\n"
            "  bgcolor=white; pad=0.2; %s\n"
            "  node [shape=box, style=\"filled,rounded\", fontname=" FR__DOT_FONT
            ", fontsize=10,\n        color=\"#777777\", fontcolor=\"#222222\"];\n"
            "  edge [fontname=" FR__DOT_FONT ", fontsize=9, color=\"#555555\", arrowsize=0.7];\n",
            is_placed ? "neato -n2" : "dot",
            is_placed ? "layout=neato; inputscale=72; splines=line; outputorder=edgesfirst;"
                      : "rankdir=LR; nodesep=0.15; ranksep=0.35;");
}

void fr__graph_title(FILE *f, const struct fr_graph *g)
{
    fr__dot_text(f, g->name, 70);
    fprintf(f, ", batch %" PRIu32, g->batch);
    if (g->seq_len)
        fprintf(f, ", sequence length %" PRIu32, g->seq_len);
    fprintf(f, ", %s", fr_dtype_name(g->dtype));
}

void fr__graph_shape(FILE *f, const struct fr_graph *g, uint32_t tensor)
{
    const struct fr_tensor *t = tensor == FR_NONE ? NULL : &g->tensors[tensor];

    for (unsigned d = 0; t && d < t->n_dims; d++)
        fprintf(f, "%s%" PRIu32, d ? "x" : "", t->dims[d]);
}

const char *fr__graph_colour(enum fr_op_kind kind)
{
    static const char *const colours[FR_N_OP_KINDS] = {
        [FR_OP_INPUT] = "#F2F2F2",     [FR_OP_CONV2D] = "#CFE3F2",
        [FR_OP_MATMUL] = "#DDF0D0",    [FR_OP_BATCH_MATMUL] = "#DDF0D0",
        [FR_OP_ATTENTION] = "#F9E2C0", [FR_OP_SOFTMAX] = "#F9E2C0",
        [FR_OP_LSTM] = "#E5DAF0",      [FR_OP_EMBEDDING] = "#E5DAF0",
        [FR_OP_LOSS] = "#F3DDE9",      [FR_OP_LOG_SOFTMAX] = "#F3DDE9",
    };

    return kind < FR_N_OP_KINDS && colours[kind] ? colours[kind] : "#ECECEC";
}

/* ---- places ---- */

size_t fr__snake_columns(size_t n)
{
    size_t columns = (size_t)ceil(sqrt((double)n * 16 / 9 * CELL_H / CELL_W));

    return columns > 0 ? columns : 1;
}

/* Every second row runs back. */
static void place(size_t n_columns, size_t i, double *x, double *y)
{
    size_t row = i / n_columns, column = i % n_columns;

    *x = CELL_W * (double)(row % 2 ? n_columns - 1 - column : column);
    *y = -CELL_H * (double)row;
}

void fr__snake_node(FILE *f, size_t n_columns, size_t i)
{
    double x, y;

    place(n_columns, i, &x, &y);
    fprintf(f, ", pos=\"%ld,%ld!\", width=", lround(x), lround(y));
    fr__dot_inches(f, NODE_W);
    fputs(", height=", f);
    fr__dot_inches(f, NODE_H);
    fputs(", fixedsize=true", f);
}

/* Over what lies between in the same row, or from row to row between the columns. */
void fr__snake_detour(FILE *f, size_t n_columns, size_t from, size_t to)
{
    double x0, y0, x1, y1, aside, out, in, down, reach = NODE_H / 2.0;

    place(n_columns, from, &x0, &y0);
    place(n_columns, to, &x1, &y1);
    if (lround(y0) == lround(y1)) {
        double up = reach + 18 + 6 * fabs(x1 - x0) / CELL_W;

        fprintf(f, ", pos=\"e,%ld,%ld %ld,%ld %ld,%ld %ld,%ld %ld,%ld\"", lround(x1),
                lround(y1 + reach), lround(x0), lround(y0 + reach), lround(x0), lround(y0 + up),
                lround(x1), lround(y1 + up), lround(x1), lround(y1 + reach + 7));
        return;
    }
    aside = (x1 >= x0 ? 1 : -1) * NODE_W / 4.0;
    out = x0 + aside;
    in = x1 - aside;
    down = y1 < y0 ? -1 : 1;
    fprintf(f, ", pos=\"e,%ld,%ld %ld,%ld %ld,%ld %ld,%ld %ld,%ld\"", lround(in),
            lround(y1 - down * reach), lround(out), lround(y0 + down * reach), lround(out),
            lround(y0 + down * (reach + 40)), lround(in), lround(y1 - down * (reach + 40)),
            lround(in), lround(y1 - down * (reach + 7)));
}

void fr__snake_title(FILE *f)
{
    double width = CELL_W * 4.0;

    fprintf(f, "  title [pos=\"%ld,%d!\", width=", lround(width / 2 - NODE_W / 2.0), NODE_H + 32);
    fr__dot_inches(f, lround(width));
    fputs(", height=0.5, fixedsize=true, shape=plaintext, style=\"\", fontsize=16, label=\"", f);
}

/* ---- nodes ---- */

static void write_name(FILE *f, const char *name, size_t len)
{
    char text[MAX_NAME + 5];
    size_t n = len < MAX_NAME + 4 ? len : MAX_NAME + 4;

    memcpy(text, name, n);
    text[n] = '\0';
    fr__dot_text(f, text, MAX_NAME);
}

/* How long a name is without the number at its end. */
static size_t without_number(const char *name, size_t len)
{
    while (len > 0 && isdigit((unsigned char)name[len - 1]))
        len--;
    return len;
}

/* "layer0 ... 11  x12": of names that differ in their last number only the number is said again. */
static void write_names(FILE *f, const struct fr__fold *x)
{
    size_t same = without_number(x->first, x->first_len);

    write_name(f, x->first, x->first_len);
    if (x->n_blocks == 1)
        return;
    if (same != without_number(x->last, x->last_len) || memcmp(x->first, x->last, same) != 0)
        same = 0;
    fputs(same ? " ... " : " ...\\n", f);
    write_name(f, x->last + same, x->last_len - same);
    fprintf(f, "%s%" PRIu32 "%s", x->is_alike ? "  x" : ", ", x->n_blocks,
            x->is_alike ? "" : " different");
}

static void write_fold(const struct picture *p, size_t i)
{
    const struct fr__fold *x = &p->folding->folds[i];
    uint32_t output = p->folding->totals[x->last_layer].output;
    char number[NUMBER];
    FILE *f = p->f;

    fprintf(f, "  f%zu [fillcolor=\"%s\"%s", i, fr__graph_colour(x->kind),
            x->n_blocks > 1 ? ", peripheries=2" : "");
    fr__snake_node(f, p->n_columns, i);
    fputs(", label=\"", f);
    write_names(f, x);
    if (output != FR_NONE && p->g->tensors[output].n_dims > 0)
        fputs("\\n", f);
    fr__graph_shape(f, p->g, output);
    if (x->params)
        fprintf(f, "\\n%s params%s", fr__format_count((double)x->params, number, sizeof(number)),
                x->n_blocks > 1 ? " in all" : "");
    if (x->flops > 0)
        fprintf(f, "\\n%s", fr__format_flops(x->flops, number, sizeof(number)));
    fputs("\"];\n", f);
}

/* ---- edges ---- */

static void add_edges(struct picture *p)
{
    const struct fr_graph *g = p->g;

    for (size_t e = 0; e < g->n_edges; e++) {
        const struct fr_op *src = &g->ops[g->edges[e].src], *dst = &g->ops[g->edges[e].dst];
        size_t from = p->folding->fold_of[src->layer], to = p->folding->fold_of[dst->layer];

        if (from == to || src->phase > FR_PHASE_FORWARD || dst->phase > FR_PHASE_FORWARD)
            continue;
        if (g->edges[e].tensor != FR_NONE)
            p->bytes[from * p->folding->n + to] += g->edges[e].bytes;
        else if (g->edges[e].bytes > 0)
            p->is_tied[from * p->folding->n + to] = true;
    }
}

static void write_edges(const struct picture *p)
{
    size_t n = p->folding->n;
    char number[NUMBER];

    for (size_t from = 0; from < n; from++)
        for (size_t to = 0; to < n; to++) {
            uint64_t bytes = p->bytes[from * n + to];
            bool is_tied = p->is_tied[from * n + to];

            if (bytes == 0 && !is_tied)
                continue;
            fprintf(p->f, "  f%zu -> f%zu [tooltip=\"%s\"", from, to,
                    bytes ? fr__format_bytes((double)bytes, number, sizeof(number))
                          : "shared parameters");
            if (!bytes)
                fputs(", style=dashed, color=\"#CC79A7\"", p->f);
            else if (to != from + 1)
                fputs(", color=\"#AAAAAA\"", p->f);
            if (to != from + 1)
                fr__snake_detour(p->f, p->n_columns, from, to);
            fputs("];\n", p->f);
        }
}

/* ---- words ---- */

static void write_words(const struct picture *p, const bool has_phase[FR_N_PHASES])
{
    struct fr_graph_totals t;
    const char *between = " ";
    char number[NUMBER];
    double sum = 0, width = CELL_W * 4.0;
    FILE *f = p->f;

    fr_graph_totals(p->g, &t);
    for (unsigned i = 0; i < FR_N_PHASES; i++)
        sum += has_phase[i] ? t.flops[i] : 0;
    fr__snake_title(f);
    fr__graph_title(f, p->g);
    fprintf(f, "\\l\"];\n  words [pos=\"%ld,%d!\", width=", lround(width / 2 - NODE_W / 2.0),
            NODE_H + 12);
    fr__dot_inches(f, lround(width));
    fprintf(f,
            ", height=0.3, fixedsize=true, shape=plaintext, style=\"\", fontsize=11, "
            "label=\"%s parameters, ",
            fr__format_count((double)t.params, number, sizeof(number)));
    fprintf(f, "%s of", fr__format_flops(sum, number, sizeof(number)));
    for (unsigned i = 0; i < FR_N_PHASES; i++)
        if (has_phase[i] && i != FR_PHASE_INPUT) {
            fprintf(f, "%s%s", between, fr_phase_name((enum fr_phase)i));
            between = ", ";
        }
    fprintf(f, "; %zu layers%s\\l\"];\n", p->g->n_layers,
            p->folding->n < p->g->n_layers ? ", folded" : "");
}

static enum fr_status draw_layers(FILE *f, const struct fr_graph *g,
                                  const bool has_phase[FR_N_PHASES], struct fr__arena *a,
                                  struct fr_error *err)
{
    struct fr__folding folding;
    struct picture p = {.f = f, .g = g, .folding = &folding};
    size_t n;

    FR_TRY(fr__fold_layers(&folding, a, g, has_phase, err));
    n = folding.n;
    p.n_columns = fr__snake_columns(n);
    p.bytes = fr__arena_alloc(a, n * n, sizeof(*p.bytes));
    p.is_tied = fr__arena_alloc(a, n * n, sizeof(*p.is_tied));
    if (!p.bytes || !p.is_tied)
        return fr__fail_nomem(err);
    add_edges(&p);
    fr__graph_open(f, true);
    for (size_t i = 0; i < n; i++)
        write_fold(&p, i);
    write_edges(&p);
    write_words(&p, has_phase);
    fputs("}\n", f);
    return FR_OK;
}

enum fr_status fr_draw_graph(FILE *f, const struct fr_graph *g,
                             const struct fr_draw_graph_options *opt, bool *is_placed,
                             struct fr_error *err)
{
    struct fr_draw_graph_options o = *opt;
    struct fr__arena *a;
    enum fr_status st;
    bool has_any = false;

    for (unsigned i = 0; i < FR_N_PHASES; i++)
        has_any = has_any || o.has_phase[i];
    if (!has_any)
        o.has_phase[FR_PHASE_INPUT] = o.has_phase[FR_PHASE_FORWARD] = true;
    if (o.is_ops || o.layer)
        return fr__draw_ops(f, g, &o, is_placed, err);
    *is_placed = true;
    a = fr__arena_new();
    if (!a)
        return fr__fail_nomem(err);
    st = draw_layers(f, g, o.has_phase, a, err);
    fr__arena_free(a);
    return st;
}
