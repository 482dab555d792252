/* results/drawings/graph.c - a training graph as a drawing: its layers, folded to fit a slide.
 *
 * It is separate from single layers and ops (ops.c), which it calls where they are asked for.
 */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/drawings/graph.h"
#include "results/drawings/snake.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { NUMBER = 32, MAX_NAME = 24 };

struct picture {
    struct fr_drawing *d;
    const struct fr_graph *g;
    const struct fr__folding *folding;
    size_t n_columns;
    struct fr__box **boxes; /* [n] of folds */
    uint64_t *bytes;        /* [n][n] between folds, of tensors */
    bool *is_tied;          /* [n][n] parameters are shared */
};

/* ---- nodes ---- */

static void say_part(struct fr__box *b, const char *name, size_t len)
{
    char text[MAX_NAME + 5];

    snprintf(text, sizeof(text), "%.*s", (int)len, name);
    fr__label_name(b, text, MAX_NAME);
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
static void say_names(struct fr__box *b, const struct fr__fold *x)
{
    size_t same = without_number(x->first, x->first_len);

    say_part(b, x->first, x->first_len);
    if (x->n_blocks == 1)
        return;
    if (same != without_number(x->last, x->last_len) || memcmp(x->first, x->last, same) != 0)
        same = 0;
    fr__label(b, same ? " ... " : " ...\n");
    say_part(b, x->last + same, x->last_len - same);
    fr__label(b, "%s%" PRIu32 "%s", x->is_alike ? "  x" : ", ", x->n_blocks,
              x->is_alike ? "" : " different");
}

static void put_fold(struct picture *p, size_t i)
{
    const struct fr__fold *x = &p->folding->folds[i];
    struct fr__box like = fr__snake_node(p->n_columns, i), *b;

    like.fill = fr__graph_colour(x->kind);
    like.is_double = x->n_blocks > 1;
    b = fr__box(p->d, "f", i, like);
    p->boxes[i] = b;
    say_names(b, x);
    fr__graph_figures(b, p->g, p->folding->totals[x->last_layer].output, x->params,
                      x->n_blocks > 1 ? " in all" : "", x->flops);
    if (x->has_skip)
        fr__label(b, "\nskip connection%s", x->n_blocks > 1 ? "s" : "");
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

static void put_edges(const struct picture *p)
{
    size_t n = p->folding->n;

    for (size_t i = 0; i < n * n; i++) {
        const struct fr__graph_arrow a = {i / n, i % n, p->bytes[i], !p->bytes[i]};

        if (p->bytes[i] || p->is_tied[i])
            fr__graph_arrow(p->d, p->boxes[a.from], p->boxes[a.to], &a, p->n_columns);
    }
}

/* ---- words ---- */

static void put_words(const struct picture *p, const bool has_phase[FR_N_PHASES])
{
    struct fr_graph_totals t;
    const char *between = " ";
    char number[NUMBER];
    double sum = 0;
    struct fr__box *b;

    fr_graph_totals(p->g, &t);
    for (unsigned i = 0; i < FR_N_PHASES; i++)
        sum += has_phase[i] ? t.flops[i] : 0;
    fr__graph_title(fr__snake_title(p->d), p->g);
    b = fr__snake_subtitle(p->d);
    fr__label(b, "%s parameters, ", fr__format_count((double)t.params, number, sizeof(number)));
    fr__label(b, "%s of", fr__format_flops(sum, number, sizeof(number)));
    for (unsigned i = 0; i < FR_N_PHASES; i++)
        if (has_phase[i] && i != FR_PHASE_INPUT) {
            fr__label(b, "%s%s", between, fr_phase_name((enum fr_phase)i));
            between = ", ";
        }
    fr__label(b, "; %zu layers%s", p->g->n_layers,
              p->folding->n < p->g->n_layers ? ", folded" : "");
}

static enum fr_status draw_layers(struct fr_drawing *d, const struct fr_graph *g,
                                  const bool has_phase[FR_N_PHASES], struct fr_error *err)
{
    struct fr__folding folding;
    struct picture p = {.d = d, .g = g, .folding = &folding};
    size_t n;

    FR_TRY(fr__fold_layers(&folding, d->arena, g, has_phase, err));
    n = folding.n;
    p.n_columns = fr__snake_columns(n);
    p.boxes = fr__arena_alloc(d->arena, n, sizeof(*p.boxes));
    p.bytes = fr__arena_alloc(d->arena, n * n, sizeof(*p.bytes));
    p.is_tied = fr__arena_alloc(d->arena, n * n, sizeof(*p.is_tied));
    if (!p.boxes || !p.bytes || !p.is_tied)
        return fr__fail_nomem(err);
    add_edges(&p);
    put_words(&p, has_phase);
    for (size_t i = 0; i < n; i++)
        put_fold(&p, i);
    put_edges(&p);
    fr__graph_key(d);
    return FR_OK;
}

enum fr_status fr_draw_graph(struct fr_drawing **out, const struct fr_graph *g,
                             const struct fr_draw_graph_options *opt, struct fr_error *err)
{
    struct fr_draw_graph_options o = *opt;
    struct fr_drawing *d;
    bool has_any = false;

    for (unsigned i = 0; i < FR_N_PHASES; i++)
        has_any = has_any || o.has_phase[i];
    if (!has_any)
        o.has_phase[FR_PHASE_INPUT] = o.has_phase[FR_PHASE_FORWARD] = true;
    FR_TRY(fr__drawing_new(&d, "training_graph", true, err));
    return fr__drawing_finish(
        d, o.is_ops || o.layer ? fr__draw_ops(d, g, &o, err) : draw_layers(d, g, o.has_phase, err),
        out, err);
}
