/* results/drawings/graph.c - a training graph as DOT text: its layers, folded to fit a slide.
 *
 * It is separate from single layers and ops (ops.c), which it calls where they are asked for.
 */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/drawings/dot.h"
#include "results/drawings/graph.h"
#include "results/drawings/snake.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { NUMBER = 32, MAX_NAME = 24 };

struct picture {
    FILE *f;
    const struct fr_graph *g;
    const struct fr__folding *folding;
    size_t n_columns;
    uint64_t *bytes; /* [n][n] between folds, of tensors */
    bool *is_tied;   /* [n][n] parameters are shared */
};

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

/* "layer0 ... 11  x12": if two names differ in their last number only, the second is that
 * number. */
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
    if (x->has_skip)
        fprintf(f, "\\nskip connection%s", x->n_blocks > 1 ? "s" : "");
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
                fputs(", style=dashed, color=\"" FR__GRAPH_TIED "\"", p->f);
            else if (to != from + 1)
                fputs(", color=\"" FR__GRAPH_SKIP "\"", p->f);
            if (to != from + 1)
                fr__snake_detour(p->f, p->n_columns, from, to);
            fputs("];\n", p->f);
        }
}

static void write_key(const struct picture *p)
{
    struct fr__graph_key key = {.n_columns = p->n_columns, .n_nodes = p->folding->n};
    size_t n = p->folding->n;

    for (size_t i = 0; i < n; i++) {
        key.has_kind[p->folding->folds[i].kind] = true;
        for (size_t to = 0; to < n; to++) {
            uint64_t bytes = p->bytes[i * n + to];

            key.has_skip = key.has_skip || (bytes && to != i + 1);
            key.has_tied = key.has_tied || (!bytes && p->is_tied[i * n + to]);
        }
    }
    fr__graph_key(p->f, &key);
}

/* ---- words ---- */

static void write_words(const struct picture *p, const bool has_phase[FR_N_PHASES])
{
    struct fr_graph_totals t;
    const char *between = " ";
    char number[NUMBER];
    double sum = 0, width = FR__SNAKE_CELL_W * 4.0;
    FILE *f = p->f;

    fr_graph_totals(p->g, &t);
    for (unsigned i = 0; i < FR_N_PHASES; i++)
        sum += has_phase[i] ? t.flops[i] : 0;
    fr__snake_title(f);
    fr__graph_title(f, p->g);
    fprintf(f,
            "\\l\"];\n  words [pos=\"%ld,%d!\", width=", lround(width / 2 - FR__SNAKE_NODE_W / 2.0),
            FR__SNAKE_NODE_H + 12);
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
    write_key(&p);
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
