/* results/drawings/ops.c - single ops, or the layers of one block, as a drawing.
 *
 * It is separate from the folded layers (graph.c): it folds nothing and refuses what is too large.
 */
#include "config.h"

#include "base/error.h"
#include "base/units.h"
#include "results/drawings/graph.h"
#include "results/drawings/snake.h"
#include "results/parts/colours.h"

#include <inttypes.h>
#include <string.h>

enum { NUMBER = 32, MAX_NAME = 26, MAX_SNAKE = 64 };

/* A node: an op, a layer, or the name of a layer next to what is drawn. */
struct item {
    enum { ITEM_OP, ITEM_LAYER, ITEM_BESIDE } what;
    uint32_t id;
    struct fr__box *box;
};

struct picture {
    struct fr_drawing *d;
    const struct fr_graph *g;
    const struct fr_draw_graph_options *opt;
    struct fr_layer_totals *totals;
    double *flops;      /* [n_layers] of the phases asked for */
    bool *is_taken;     /* [n_layers] */
    uint32_t *beside;   /* [n_layers] item, FR_NONE */
    uint32_t *item_of;  /* [n_ops] or [n_layers] */
    struct item *items; /* those that are read, what was asked for, those that read it */
    size_t n_items;
    struct fr__graph_arrow *lines; /* between items */
    size_t n_lines;
};

/* ---- what is drawn ---- */

static bool is_of(const char *layer, const char *wanted)
{
    size_t n = strlen(wanted);

    return strncmp(layer, wanted, n) == 0 && (layer[n] == '\0' || layer[n] == '.');
}

static enum fr_status take_layers(struct picture *p, struct fr_error *err)
{
    const struct fr_graph *g = p->g;
    char hint[128];
    bool has_any = false;

    for (size_t l = 0; l < g->n_layers; l++) {
        p->is_taken[l] = !p->opt->layer || is_of(g->layer_names[l], p->opt->layer);
        has_any = has_any || p->is_taken[l];
    }
    if (!has_any && p->opt->layer)
        return fr__fail(
            err, FR_ENOENT, FR_NOWHERE, "'%s' has no layer '%s'%s", g->name, p->opt->layer,
            fr__did_you_mean(p->opt->layer, g->layer_names, g->n_layers, hint, sizeof(hint)));
    return FR_OK;
}

static bool is_drawn_op(const struct picture *p, const struct fr_op *o)
{
    return p->opt->has_phase[o->phase] && p->is_taken[o->layer];
}

static enum fr_status check_size(const struct picture *p, struct fr_error *err)
{
    size_t n = 0;

    if (p->opt->is_ops)
        for (size_t o = 0; o < p->g->n_ops; o++)
            n += is_drawn_op(p, &p->g->ops[o]);
    else
        for (size_t l = 0; l < p->g->n_layers; l++)
            n += p->is_taken[l];
    if (n > FR_DRAW_MAX_OPS)
        return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                        "the drawing would have %zu %s, at most %d can be read: choose a layer "
                        "with --layer (like '%s')%s",
                        n, p->opt->is_ops ? "ops" : "layers", FR_DRAW_MAX_OPS,
                        p->g->layer_names[p->g->n_layers / 2],
                        p->opt->is_ops ? " or draw layers, without --ops" : "");
    return FR_OK;
}

/* ---- nodes ---- */

static void say_op(const struct picture *p, struct fr__box *b, uint32_t id)
{
    const struct fr_op *o = &p->g->ops[id];
    char number[NUMBER];

    fr__label_name(b, o->name, MAX_NAME);
    fr__label(b, "\n%s", fr_op_kind_name(o->kind));
    if (o->phase != FR_PHASE_FORWARD)
        fr__label(b, ", %s", fr_phase_name(o->phase));
    fr__graph_figures(b, p->g, o->n_tensors ? o->first_tensor : FR_NONE, 0, "", 0);
    if (o->param_bytes && o->phase == FR_PHASE_FORWARD)
        fr__label(b, "\n%s of params",
                  fr__format_bytes((double)o->param_bytes, number, sizeof(number)));
    fr__graph_figures(b, p->g, FR_NONE, 0, "", o->flops);
}

static void say_layer(const struct picture *p, struct fr__box *b, uint32_t l)
{
    const struct fr_layer_totals *t = &p->totals[l];

    fr__label_name(b, p->g->layer_names[l], MAX_NAME);
    for (unsigned i = 0; i < t->n_kinds && i < 4; i++)
        fr__label(b, "%s%s", i ? " " : "\n", fr_op_kind_name(t->kinds[i]));
    fr__graph_figures(b, p->g, t->output, t->params, "", p->flops[l]);
}

/* A layer that is not drawn but read or fed has its name alone. */
static void put_item(struct picture *p, size_t i, size_t n_columns)
{
    static const char *const prefixes[] = {
        [ITEM_OP] = "o", [ITEM_LAYER] = "l", [ITEM_BESIDE] = "b"};
    struct item *x = &p->items[i];
    const struct fr_layer_totals *t = &p->totals[x->what == ITEM_LAYER ? x->id : 0];
    struct fr__box like = fr__snake_node(n_columns, i);

    like.is_dashed = x->what == ITEM_BESIDE;
    if (x->what == ITEM_OP)
        like.fill = fr__graph_colour(p->g->ops[x->id].kind);
    else if (x->what == ITEM_LAYER)
        like.fill = fr__graph_colour(t->n_kinds ? t->kinds[0] : FR_OP_OTHER);
    else
        like.ink = FR__COLOUR_QUIET;
    x->box = fr__box(p->d, prefixes[x->what], x->id, like);
    if (x->what == ITEM_OP)
        say_op(p, x->box, x->id);
    else if (x->what == ITEM_LAYER)
        say_layer(p, x->box, x->id);
    else
        fr__label_name(x->box, p->g->layer_names[x->id], MAX_NAME);
}

/* ---- edges ---- */

/* Edges from or to what is drawn; ops of phases that are not asked for do not show. */
static bool is_drawn_edge(const struct picture *p, const struct fr_op *src, const struct fr_op *dst)
{
    if (!p->opt->has_phase[src->phase] || !p->opt->has_phase[dst->phase])
        return false;
    if (!p->is_taken[src->layer] && !p->is_taken[dst->layer])
        return false;
    return p->opt->is_ops || src->layer != dst->layer;
}

static void add_item(struct picture *p, uint32_t *at, int what, uint32_t id)
{
    if (*at != FR_NONE)
        return;
    *at = (uint32_t)p->n_items;
    p->items[p->n_items].what = (unsigned)what;
    p->items[p->n_items++].id = id;
}

/* What the other end of an edge into (is_from) or out of the drawing belongs to. */
static void add_beside(struct picture *p, bool is_from)
{
    const struct fr_graph *g = p->g;

    for (size_t e = 0; e < g->n_edges; e++) {
        const struct fr_op *src = &g->ops[g->edges[e].src], *dst = &g->ops[g->edges[e].dst];
        uint32_t layer = is_from ? src->layer : dst->layer;

        if (is_drawn_edge(p, src, dst) && !p->is_taken[layer])
            add_item(p, &p->beside[layer], ITEM_BESIDE, layer);
    }
}

static void list_items(struct picture *p)
{
    const struct fr_graph *g = p->g;

    add_beside(p, true);
    if (p->opt->is_ops) {
        for (uint32_t o = 0; o < g->n_ops; o++)
            if (is_drawn_op(p, &g->ops[o]))
                add_item(p, &p->item_of[o], ITEM_OP, o);
    } else {
        for (uint32_t l = 0; l < g->n_layers; l++)
            if (p->is_taken[l])
                add_item(p, &p->item_of[l], ITEM_LAYER, l);
    }
    add_beside(p, false);
}

static uint32_t item_of(const struct picture *p, uint32_t op)
{
    uint32_t layer = p->g->ops[op].layer;

    if (!p->is_taken[layer])
        return p->beside[layer];
    return p->item_of[p->opt->is_ops ? op : layer];
}

/* One line for all edges between the same two; edges are sorted by source, so that those of an
 * op follow each other, but those of a layer may not: the lines of the same source are looked
 * through. */
static void list_lines(struct picture *p)
{
    const struct fr_graph *g = p->g;

    for (size_t e = 0; e < g->n_edges; e++) {
        const struct fr_edge *x = &g->edges[e];
        struct fr__graph_arrow new = {.bytes = x->bytes, .is_tied = x->tensor == FR_NONE};
        size_t i = 0;

        if (!is_drawn_edge(p, &g->ops[x->src], &g->ops[x->dst]))
            continue;
        new.from = item_of(p, x->src);
        new.to = item_of(p, x->dst);
        while (i < p->n_lines && (p->lines[i].from != new.from || p->lines[i].to != new.to))
            i++;
        if (i == p->n_lines)
            p->lines[p->n_lines++] = new;
        else
            p->lines[i].bytes += new.is_tied ? 0 : new.bytes;
    }
}

/* Long thin graphs wind to and fro as the folded ones do; 0: `dot` makes a better picture. */
static size_t choose_columns(const struct picture *p, uint32_t depth[])
{
    uint32_t deepest = 0;

    for (size_t pass = 0; pass < 2; pass++) /* lines are sorted by source but for those beside */
        for (size_t i = 0; i < p->n_lines; i++) {
            const struct fr__graph_arrow *x = &p->lines[i];

            if (x->from < x->to && depth[x->to] < depth[x->from] + 1)
                depth[x->to] = depth[x->from] + 1;
            deepest = depth[x->to] > deepest ? depth[x->to] : deepest;
        }
    if (p->n_items > MAX_SNAKE || deepest < 6 || 2 * p->n_items > 5 * (size_t)deepest)
        return 0;
    return fr__snake_columns(p->n_items);
}

static void put_title(const struct picture *p)
{
    struct fr__box *b = fr__snake_title(p->d);

    fr__graph_title(b, p->g);
    if (p->opt->layer) {
        fr__label(b, ": ");
        fr__label_name(b, p->opt->layer, MAX_NAME);
    }
}

static enum fr_status allocate(struct picture *p, struct fr__arena *a, uint32_t **depth,
                               struct fr_error *err)
{
    size_t n = p->g->n_layers, n_items = n + (p->opt->is_ops ? FR_DRAW_MAX_OPS : n);

    p->flops = fr__arena_alloc(a, n, sizeof(*p->flops));
    p->beside = fr__arena_alloc(a, n, sizeof(*p->beside));
    p->totals = fr__arena_alloc(a, n, sizeof(*p->totals));
    p->item_of = fr__arena_alloc(a, p->g->n_ops + n, sizeof(*p->item_of));
    p->items = fr__arena_alloc(a, n_items, sizeof(*p->items));
    p->lines = fr__arena_alloc(a, p->g->n_edges, sizeof(*p->lines));
    *depth = fr__arena_alloc(a, n_items, sizeof(**depth));
    if (!p->flops || !p->beside || !p->totals || !p->item_of || !p->items || !p->lines || !*depth)
        return fr__fail_nomem(err);
    for (size_t l = 0; l < n; l++)
        p->beside[l] = FR_NONE;
    for (size_t i = 0; i < p->g->n_ops + n; i++)
        p->item_of[i] = FR_NONE;
    return FR_OK;
}

enum fr_status fr__draw_ops(struct fr_drawing *d, const struct fr_graph *g,
                            const struct fr_draw_graph_options *opt, struct fr_error *err)
{
    struct picture p = {.d = d, .g = g, .opt = opt};
    uint32_t *depth;
    size_t n_columns;

    p.is_taken = fr__arena_alloc(d->arena, g->n_layers, sizeof(*p.is_taken));
    if (!p.is_taken)
        return fr__fail_nomem(err);
    FR_TRY(take_layers(&p, err));
    FR_TRY(check_size(&p, err));
    FR_TRY(allocate(&p, d->arena, &depth, err));
    FR_TRY(fr_graph_layer_totals(g, p.totals, err));
    for (size_t o = 0; o < g->n_ops; o++)
        if (opt->has_phase[g->ops[o].phase])
            p.flops[g->ops[o].layer] += g->ops[o].flops;
    list_items(&p);
    list_lines(&p);
    n_columns = choose_columns(&p, depth);
    d->is_placed = n_columns > 0;
    put_title(&p);
    for (size_t i = 0; i < p.n_items; i++)
        put_item(&p, i, n_columns);
    for (size_t i = 0; i < p.n_lines; i++) {
        const struct fr__graph_arrow *a = &p.lines[i];

        fr__graph_arrow(d, p.items[a->from].box, p.items[a->to].box, a, n_columns);
    }
    fr__graph_key(d);
    return FR_OK;
}
