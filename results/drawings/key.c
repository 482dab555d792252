/* results/drawings/key.c - what the colours of boxes and arrows mean, below a drawing of a graph.
 *
 * It is separate because drawings of layers and of ops have the same key. Its nodes are called
 * key0, key1, ... and have a shape of their own, by which tests tell them from the graph's.
 */
#include "config.h"

#include "results/drawings/dot.h"
#include "results/drawings/graph.h"
#include "results/drawings/snake.h"

#include <math.h>
#include <string.h>

enum { KEY_W = 108, KEY_H = 20, KEY_STEP = 116, KEY_LINE = 28 };

/* Kinds of one colour stand together: any of them, and their name. */
static const struct {
    enum fr_op_kind kind;
    const char *title;
} entries[] = {
    {FR_OP_INPUT, "input"},
    {FR_OP_CONV2D, "convolution"},
    {FR_OP_MATMUL, "matrix product"},
    {FR_OP_ATTENTION, "attention"},
    {FR_OP_EMBEDDING, "embedding, LSTM"},
    {FR_OP_LOSS, "loss"},
    {FR_OP_OTHER, "other"},
};

enum { N_ENTRIES = sizeof(entries) / sizeof(entries[0]) };

struct key {
    FILE *f;
    size_t n_columns, n_rows; /* of the drawing; no columns: graphviz places the nodes */
    size_t n;                 /* entries so far */
};

static bool has_colour(const bool has_kind[FR_N_OP_KINDS], const char *colour)
{
    for (unsigned k = 0; k < FR_N_OP_KINDS; k++)
        if (has_kind[k] && strcmp(fr__graph_colour((enum fr_op_kind)k), colour) == 0)
            return true;
    return false;
}

static void put_place(struct key *k)
{
    size_t a_line = k->n_columns * FR__SNAKE_CELL_W / KEY_STEP;
    size_t line = a_line ? k->n / a_line : 0, at = a_line ? k->n % a_line : 0;

    fputs(", fixedsize=true, width=", k->f);
    fr__dot_inches(k->f, KEY_W);
    fputs(", height=", k->f);
    fr__dot_inches(k->f, KEY_H);
    if (k->n_columns)
        fprintf(k->f, ", pos=\"%ld,%ld!\"",
                lround((double)at * KEY_STEP + (KEY_W - FR__SNAKE_NODE_W) / 2.0),
                lround(-(double)(k->n_rows - 1) * FR__SNAKE_CELL_H - FR__SNAKE_NODE_H / 2.0 - 34 -
                       (double)line * KEY_LINE));
    k->n++;
}

static void put_arrow(struct key *k, const char *colour, const char *text)
{
    fprintf(k->f,
            "  key%zu [shape=plaintext, style=\"\", fontsize=9, fontcolor=\"%s\", label=\"%s\"",
            k->n, colour, text);
    put_place(k);
    fputs("];\n", k->f);
}

void fr__graph_key(FILE *f, const struct fr__graph_key *what)
{
    struct key k = {.f = f, .n_columns = what->n_columns};

    k.n_rows = k.n_columns ? (what->n_nodes + k.n_columns - 1) / k.n_columns : 0;
    for (unsigned i = 0; i < N_ENTRIES; i++) {
        const char *colour = fr__graph_colour(entries[i].kind);

        if (!has_colour(what->has_kind, colour))
            continue;
        fprintf(f, "  key%zu [shape=rect, fontsize=9, fillcolor=\"%s\", label=\"%s\"", k.n, colour,
                entries[i].title);
        put_place(&k);
        fputs("];\n", f);
    }
    if (what->has_skip)
        put_arrow(&k, FR__GRAPH_SKIP, "→ skip past others");
    if (what->has_tied)
        put_arrow(&k, FR__GRAPH_TIED, "⇢ shared parameters");
}
