/* results/drawings/fold.c - folds the layers of a graph until they fit a slide.
 *
 * It is separate from the drawing: which layers make one node does not depend on how it looks.
 */
#include "config.h"

#include "base/error.h"
#include "results/drawings/graph.h"

#include <ctype.h>
#include <string.h>

/* A block: layers [first, past). */
struct block {
    const char *name;
    size_t len;
    uint32_t first, past;
};

struct folder {
    const struct fr_graph *g;
    struct fr__folding *out;
    struct block *blocks; /* [n_layers] */
    size_t n_blocks;
    double *kind_flops; /* [FR_N_OP_KINDS] scratch */
};

/* ---- names ---- */

/* The length of the block's name in a layer's name: the longest part before a '.' whose last word
 * has a digit, or all of it. */
static size_t block_length(const char *name)
{
    size_t best = strlen(name);
    bool has_digit = false;

    for (size_t i = 0; name[i]; i++) {
        if (name[i] == '.') {
            if (has_digit)
                best = i;
            has_digit = false;
        } else if (isdigit((unsigned char)name[i])) {
            has_digit = true;
        }
    }
    return best;
}

/* The name without the number at its end: what counted blocks share. */
static size_t family_length(const struct block *b)
{
    size_t n = b->len;

    while (n > 0 && isdigit((unsigned char)b->name[n - 1]))
        n--;
    return n;
}

/* Whether two blocks are of one family and follow each other: "layer3" and "layer4", "layer1.0" and
 * "layer1.1". */
static bool is_counted_on(const struct block *a, const struct block *b)
{
    size_t n = family_length(a);

    return n < a->len && n == family_length(b) && n < b->len && memcmp(a->name, b->name, n) == 0;
}

/* ---- blocks ---- */

static void find_blocks(struct folder *f)
{
    for (uint32_t l = 0; l < f->g->n_layers; l++) {
        const char *name = f->g->layer_names[l];
        size_t len = block_length(name);
        struct block *last = f->n_blocks ? &f->blocks[f->n_blocks - 1] : NULL;

        if (f->out->totals[l].n_ops == 0)
            continue; /* a layer of backward or update ops only */
        if (last && last->len == len && memcmp(last->name, name, len) == 0 && name[len] == '.')
            last->past = l + 1;
        else
            f->blocks[f->n_blocks++] = (struct block){name, len, l, l + 1};
    }
}

static bool is_same_output(const struct fr_graph *g, uint32_t a, uint32_t b)
{
    if (a == FR_NONE || b == FR_NONE)
        return a == b;
    return g->tensors[a].bytes == g->tensors[b].bytes &&
           g->tensors[a].n_dims == g->tensors[b].n_dims &&
           memcmp(g->tensors[a].dims, g->tensors[b].dims,
                  g->tensors[a].n_dims * sizeof(*g->tensors[a].dims)) == 0;
}

static bool is_alike(const struct folder *f, const struct block *a, const struct block *b)
{
    if (a->past - a->first != b->past - b->first)
        return false;
    for (uint32_t i = 0; i < a->past - a->first; i++) {
        const struct fr_layer_totals *x = &f->out->totals[a->first + i];
        const struct fr_layer_totals *y = &f->out->totals[b->first + i];

        if (x->params != y->params || x->forward_flops != y->forward_flops ||
            x->n_ops != y->n_ops || !is_same_output(f->g, x->output, y->output))
            return false;
    }
    return true;
}

/* ---- folds ---- */

/* Starts a new fold with blocks[i], or adds it to the last one. */
static void take(struct folder *f, size_t i, bool is_new)
{
    struct fr__folding *out = f->out;
    const struct block *b = &f->blocks[i];
    struct fr__fold *fold;

    if (is_new)
        out->folds[out->n++] = (struct fr__fold){
            .first = b->name, .first_len = b->len, .is_alike = true, .kind = FR_N_OP_KINDS};
    fold = &out->folds[out->n - 1];
    if (!is_new && !is_alike(f, b, &f->blocks[i - 1]))
        fold->is_alike = false;
    fold->last = b->name;
    fold->last_len = b->len;
    fold->n_blocks++;
    fold->last_layer = b->past - 1;
    for (uint32_t l = b->first; l < b->past; l++) {
        out->fold_of[l] = (uint32_t)(out->n - 1);
        fold->params += out->totals[l].params;
        fold->flops += out->flops[l];
    }
}

enum rule { RULE_ALIKE, RULE_COUNTED, RULE_ANY };

static void fold_by(struct folder *f, enum rule rule)
{
    size_t group = (f->n_blocks + FR__FOLD_MAX - 1) / FR__FOLD_MAX;

    f->out->n = 0;
    for (size_t i = 0; i < f->n_blocks; i++) {
        const struct block *b = &f->blocks[i], *before = i ? b - 1 : NULL;
        bool is_new = !before;

        if (before && rule == RULE_ALIKE)
            is_new = !is_counted_on(before, b) || !is_alike(f, before, b);
        else if (before && rule == RULE_COUNTED)
            is_new = !is_counted_on(before, b) || !memchr(b->name, '.', b->len);
        else if (before)
            is_new = i % group == 0;
        take(f, i, is_new);
    }
}

/* Finds the kind that does most of a fold's forward FLOPs; that of the last op if there are
 * none. */
static void find_kinds(struct folder *f)
{
    const struct fr_graph *g = f->g;
    struct fr__folding *out = f->out;

    for (size_t i = 0; i < out->n * FR_N_OP_KINDS; i++)
        f->kind_flops[i] = 0;
    for (size_t o = 0; o < g->n_ops; o++) {
        const struct fr_op *op = &g->ops[o];
        struct fr__fold *fold;
        double *sum;

        if (op->phase != FR_PHASE_FORWARD && op->phase != FR_PHASE_INPUT)
            continue;
        fold = &out->folds[out->fold_of[op->layer]];
        sum = &f->kind_flops[out->fold_of[op->layer] * FR_N_OP_KINDS];
        sum[op->kind] += op->flops;
        if (fold->kind == FR_N_OP_KINDS || sum[op->kind] >= sum[fold->kind])
            fold->kind = op->kind;
    }
}

static void add_flops(struct fr__folding *out, const struct fr_graph *g,
                      const bool has_phase[FR_N_PHASES])
{
    for (size_t o = 0; o < g->n_ops; o++)
        if (has_phase[g->ops[o].phase])
            out->flops[g->ops[o].layer] += g->ops[o].flops;
}

static bool is_forward(const struct fr_graph *g, const struct fr_edge *e)
{
    return e->tensor != FR_NONE && g->ops[e->src].phase == FR_PHASE_FORWARD &&
           g->ops[e->dst].phase == FR_PHASE_FORWARD;
}

/* A residual connection: an addition reads what others read as well, or a layer of its own block
 * that is not the one before it. n_readers: [n_ops], zeroed. */
static void find_skips(struct folder *f, uint32_t n_readers[])
{
    const struct fr_graph *g = f->g;
    const uint32_t *of = f->out->fold_of;

    for (size_t e = 0; e < g->n_edges; e++)
        n_readers[g->edges[e].src] += is_forward(g, &g->edges[e]);
    for (size_t e = 0; e < g->n_edges; e++) {
        const struct fr_op *src = &g->ops[g->edges[e].src], *dst = &g->ops[g->edges[e].dst];

        if (dst->kind == FR_OP_ADD && is_forward(g, &g->edges[e]) &&
            (n_readers[g->edges[e].src] > 1 ||
             (src->layer + 1 < dst->layer && of[src->layer] == of[dst->layer])))
            f->out->folds[of[dst->layer]].has_skip = true;
    }
}

enum fr_status fr__fold_layers(struct fr__folding *out, struct fr__arena *a,
                               const struct fr_graph *g, const bool has_phase[FR_N_PHASES],
                               struct fr_error *err)
{
    struct folder f = {.g = g, .out = out};
    size_t n = g->n_layers;
    uint32_t *n_readers = fr__arena_alloc(a, g->n_ops, sizeof(*n_readers));

    if (!n_readers)
        return fr__fail_nomem(err);
    *out = (struct fr__folding){.folds = fr__arena_alloc(a, n, sizeof(*out->folds)),
                                .fold_of = fr__arena_alloc(a, n, sizeof(*out->fold_of)),
                                .totals = fr__arena_alloc(a, n, sizeof(*out->totals)),
                                .flops = fr__arena_alloc(a, n, sizeof(*out->flops))};
    f.blocks = fr__arena_alloc(a, n, sizeof(*f.blocks));
    f.kind_flops = fr__arena_alloc(a, FR__FOLD_MAX * FR_N_OP_KINDS, sizeof(*f.kind_flops));
    if (!out->folds || !out->fold_of || !out->totals || !out->flops || !f.blocks || !f.kind_flops)
        return fr__fail_nomem(err);
    FR_TRY(fr_graph_layer_totals(g, out->totals, err));
    add_flops(out, g, has_phase);
    find_blocks(&f);
    fold_by(&f, RULE_ALIKE);
    if (out->n > FR__FOLD_MAX)
        fold_by(&f, RULE_COUNTED);
    if (out->n > FR__FOLD_MAX)
        fold_by(&f, RULE_ANY);
    find_kinds(&f);
    find_skips(&f, n_readers);
    return FR_OK;
}
