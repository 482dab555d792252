/* results/drawings/key.c - what the colours of boxes and arrows mean, below a drawing of a graph.
 *
 * It is separate because drawings of layers and of ops have the same key. Its nodes are called
 * key0, key1, ... and have a shape of their own, by which tests tell them from the graph's.
 */
#include "config.h"

#include "results/drawings/graph.h"
#include "results/drawings/snake.h"

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

static bool has_colour(const bool has_kind[FR_N_OP_KINDS], const char *colour)
{
    for (unsigned k = 0; k < FR_N_OP_KINDS; k++)
        if (has_kind[k] && strcmp(fr__graph_colour((enum fr_op_kind)k), colour) == 0)
            return true;
    return false;
}

/* Entry n, and what it is drawn like. */
static struct fr__box *put_entry(struct fr_drawing *d, const struct fr__graph_key *what, size_t n,
                                 struct fr__box like)
{
    size_t a_line = what->n_columns * FR__SNAKE_CELL_W / KEY_STEP;
    size_t line = a_line ? n / a_line : 0, at = a_line ? n % a_line : 0;
    size_t n_rows = a_line ? (what->n_nodes + what->n_columns - 1) / what->n_columns : 1;

    like.points = 9;
    like.x = (double)at * KEY_STEP + (KEY_W - FR__SNAKE_NODE_W) / 2.0;
    like.y = -(double)(n_rows - 1) * FR__SNAKE_CELL_H - FR__SNAKE_NODE_H / 2.0 - 34 -
             (double)line * KEY_LINE;
    if (like.shape == FR__WORDS)
        like.x -= KEY_W / 2.0;
    return fr__box(d, "key", n, like);
}

void fr__graph_key(struct fr_drawing *d, const struct fr__graph_key *what)
{
    size_t n = 0;

    for (unsigned i = 0; i < N_ENTRIES; i++) {
        const char *colour = fr__graph_colour(entries[i].kind);

        if (has_colour(what->has_kind, colour))
            fr__label(put_entry(d, what, n++,
                                (struct fr__box){
                                    .shape = FR__ROUND, .w = KEY_W, .h = KEY_H, .fill = colour}),
                      "%s", entries[i].title);
    }
    if (what->has_skip)
        fr__label(
            put_entry(d, what, n++, (struct fr__box){.shape = FR__WORDS, .ink = FR__GRAPH_SKIP}),
            "→ skip past others");
    if (what->has_tied)
        fr__label(
            put_entry(d, what, n, (struct fr__box){.shape = FR__WORDS, .ink = FR__GRAPH_TIED}),
            "⇢ shared parameters");
}
