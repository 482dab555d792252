/* results/drawings/key.c - what the colours of boxes and arrows mean, below a drawing of a graph.
 *
 * It is separate because drawings of layers and of ops have the same key. Its boxes are called
 * key0, key1, ..., by which tests and graphviz tell them from the graph's.
 */
#include "config.h"

#include "results/drawings/graph.h"

#include <math.h>
#include <string.h>

enum { KEY_W = 108, KEY_H = 20, KEY_STEP = 116, KEY_LINE = 28, FEW = 4 /* entries of a row */ };

struct key {
    struct fr_drawing *d;
    double left, right, x, y;
    size_t n; /* entries so far */
};

/* A box, or words in a colour. */
static void put_entry(struct key *k, const char *fill, const char *ink, const char *text)
{
    struct fr__box like = {.points = 9, .y = k->y, .ink = ink, .fill = fill};

    like.shape = fill ? FR__ROUND : FR__WORDS;
    like.x = k->x + (fill ? KEY_W / 2.0 : 0);
    if (fill) {
        like.w = KEY_W;
        like.h = KEY_H;
    }
    fr__label(fr__box(k->d, "key", k->n++, like), "%s", text);
    k->x += KEY_STEP;
    if (k->x + KEY_W > k->right) {
        k->x = k->left;
        k->y -= KEY_LINE;
    }
}

static void put_fill(struct key *k, enum fr_op_kind kind, const char *text)
{
    const char *fill = fr__graph_colour(kind);

    for (const struct fr__box *b = k->d->boxes; b; b = b->next)
        if (b->fill && strcmp(b->fill, fill) == 0) {
            put_entry(k, fill, NULL, text);
            return;
        }
}

static void put_arrow(struct key *k, const char *colour, const char *text)
{
    for (const struct fr__wire *w = k->d->wires; w; w = w->next)
        if (strcmp(w->colour, colour) == 0) {
            put_entry(k, NULL, colour, text);
            return;
        }
}

/* Kinds of one colour stand together: any of them, and their name. */
void fr__graph_key(struct fr_drawing *d)
{
    struct key k = {.d = d, .left = d->boxes->x, .x = d->boxes->x};

    k.right = k.left + FEW * KEY_STEP;
    for (const struct fr__box *b = d->boxes; b; b = b->next) {
        k.y = fmin(k.y, b->y - b->h / 2 - 34);
        k.right = fmax(k.right, b->x + b->w / 2);
    }
    put_fill(&k, FR_OP_INPUT, "input");
    put_fill(&k, FR_OP_CONV2D, "convolution");
    put_fill(&k, FR_OP_MATMUL, "matrix product");
    put_fill(&k, FR_OP_ATTENTION, "attention");
    put_fill(&k, FR_OP_EMBEDDING, "embedding, LSTM");
    put_fill(&k, FR_OP_LOSS, "loss");
    put_fill(&k, FR_OP_OTHER, "other");
    put_arrow(&k, FR__GRAPH_SKIP, "→ skip past others");
    put_arrow(&k, FR__GRAPH_TIED, "⇢ shared parameters");
}
