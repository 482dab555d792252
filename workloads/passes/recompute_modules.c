/* workloads/passes/recompute_modules.c - which ops are a module of a layer that is recomputed by
 * itself: recompute.h says what each is. Modules are found by structure, for graphs of any names.
 */
#include "config.h"

#include "workloads/passes/recompute_groups.h"

#include "base/error.h"
#include "base/names.h"
#include "workloads/graph/experts.h"

#include <string.h>

static const char *const names[FR__N_MODULES] = {[FR__MODULE_CORE_ATTN] = "core_attn",
                                                 [FR__MODULE_LAYERNORM] = "layernorm",
                                                 [FR__MODULE_MLA_UP_PROJ] = "mla_up_proj",
                                                 [FR__MODULE_MLP] = "mlp",
                                                 [FR__MODULE_MOE] = "moe",
                                                 [FR__MODULE_SHARED_EXPERTS] = "shared_experts",
                                                 [FR__MODULE_MOE_ACT] = "moe_act"};
static const struct fr__name_list module_names = FR__NAMES(names);

const char *fr__module_name(enum fr__module m)
{
    return fr__name_of(&module_names, m);
}

unsigned fr__modules_read(const char *text)
{
    unsigned modules = 0;
    char word[32];

    for (const char *at = text;; at++) {
        size_t n = strcspn(at, "+");
        unsigned m;

        if (n >= sizeof(word))
            return 0;
        memcpy(word, at, n);
        word[n] = '\0';
        m = fr__name_parse(&module_names, word);
        if (m == FR__N_MODULES)
            return 0;
        modules |= 1u << m;
        at += n;
        if (!*at)
            return modules;
    }
}

struct finding {
    const struct fr_graph *g;
    const struct fr__recompute_problem *in;
    struct fr__groups *out;
    uint32_t *expert_of; /* [n_ops] FR_NONE: no expert's */
    uint32_t *layer_of;  /* [n_ops] the dispatch of the layer of experts that it is in; FR_NONE */
    bool *discards;      /* [n_ops] of groups, as they are numbered */
};

/* ---- what an op is ---- */

static bool is_forward(const struct finding *f, uint32_t o)
{
    return f->g->ops[o].phase == FR_PHASE_FORWARD;
}

/* Whether the op may run again: one of a unit that keeps everything may not. A model that repeats
 * layers may have one more that is no unit, such as a module that predicts a further token. */
static bool is_asked(const struct finding *f, uint32_t o)
{
    uint32_t unit = f->in->units->unit_of_layer[f->g->ops[o].layer];

    if (!is_forward(f, o) || f->in->units->n_units == 0)
        return false;
    return unit == FR_NONE || !f->in->group_of || f->in->group_of[unit] != FR_NONE;
}

static bool is_norm(enum fr_op_kind kind)
{
    return kind == FR_OP_LAYERNORM || kind == FR_OP_RMSNORM;
}

static bool is_activation(enum fr_op_kind kind)
{
    return kind == FR_OP_RELU || kind == FR_OP_GELU || kind == FR_OP_SILU;
}

static bool is_inside_mlp(enum fr_op_kind kind)
{
    return is_activation(kind) || kind == FR_OP_MUL || kind == FR_OP_BIAS ||
           kind == FR_OP_DROPOUT || kind == FR_OP_CAST;
}

/* The forward op that writes what o reads first; FR_NONE. */
static uint32_t source_of(const struct fr_graph *g, uint32_t o)
{
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++)
        if (g->edges[g->in_edges[i]].tensor != FR_NONE)
            return g->edges[g->in_edges[i]].src;
    return FR_NONE;
}

/* Whether a forward op of the kinds reads the first output of o. */
static bool is_read_by(const struct fr_graph *g, uint32_t o, bool (*is_kind)(enum fr_op_kind))
{
    for (uint32_t i = g->out_first[o]; i < g->out_first[o + 1]; i++)
        if (g->edges[i].tensor == g->ops[o].first_tensor &&
            g->ops[g->edges[i].dst].phase == FR_PHASE_FORWARD &&
            is_kind(g->ops[g->edges[i].dst].kind))
            return true;
    return false;
}

static bool is_add(enum fr_op_kind kind)
{
    return kind == FR_OP_ADD;
}

/* A norm in front of a sublayer: what it reads goes round the sublayer too, into the sum behind. */
static bool is_in_front(const struct fr_graph *g, uint32_t o)
{
    uint32_t source = source_of(g, o);

    return is_norm(g->ops[o].kind) && source != FR_NONE && is_read_by(g, source, is_add);
}

/* ---- groups ---- */

/* The number of a new group; FR_NONE where op o has one already. */
static uint32_t new_group(struct finding *f, uint32_t o, bool discards)
{
    if (f->out->group_of_op[o] != FR_NONE)
        return FR_NONE;
    f->discards[f->out->n_groups] = discards;
    return (uint32_t)f->out->n_groups++;
}

static void find_attention(struct finding *f)
{
    for (uint32_t o = 0; o < f->g->n_ops; o++) {
        if (!is_asked(f, o))
            continue;
        if (f->g->ops[o].kind == FR_OP_ATTENTION)
            f->out->group_of_op[o] = new_group(f, o, false);
        else if (f->g->ops[o].kind == FR_OP_SOFTMAX &&
                 fr__groups_mark_core(f->g, o, FR_NONE, f->out->group_of_op))
            fr__groups_mark_core(f->g, o, new_group(f, o, false), f->out->group_of_op);
    }
}

static void find_norms(struct finding *f)
{
    for (uint32_t o = 0; o < f->g->n_ops; o++)
        if (is_asked(f, o) && is_in_front(f->g, o))
            f->out->group_of_op[o] = new_group(f, o, true);
}

/* ---- latent attention ---- */

/* Whether a product makes latents: a norm reads its columns, or a part of them. */
static bool makes_latents(const struct fr_graph *g, uint32_t o)
{
    for (uint32_t i = g->out_first[o]; i < g->out_first[o + 1]; i++) {
        const struct fr_op *dst = &g->ops[g->edges[i].dst];

        if (g->edges[i].tensor == FR_NONE || dst->phase != FR_PHASE_FORWARD)
            continue;
        if (is_norm(dst->kind) || (dst->kind == FR_OP_SPLIT && makes_latents(g, g->edges[i].dst)))
            return true;
    }
    return false;
}

/* Marks what makes an input of attention, back to the products of latents. Returns whether one of
 * them reads a latent. */
static bool mark_expansion(struct finding *f, uint32_t o, uint32_t group)
{
    const struct fr_graph *g = f->g;
    bool reads_latents = false;

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];
        const struct fr_op *src = &g->ops[e->src];
        uint32_t latents;

        if (e->tensor == FR_NONE || !is_forward(f, e->src) || is_norm(src->kind) ||
            makes_latents(g, e->src))
            continue;
        if (group != FR_NONE && f->out->group_of_op[e->src] == FR_NONE)
            f->out->group_of_op[e->src] = group;
        latents = source_of(g, e->src);
        if (src->kind != FR_OP_MATMUL)
            reads_latents |= mark_expansion(f, e->src, group);
        else if (latents != FR_NONE && is_norm(g->ops[latents].kind) && !is_in_front(g, latents))
            reads_latents = true;
    }
    return reads_latents;
}

/* The op with which attention begins: fused, or the product of queries and keys. */
static bool begins_attention(const struct fr_graph *g, uint32_t o)
{
    return g->ops[o].kind == FR_OP_ATTENTION ||
           (g->ops[o].kind == FR_OP_BATCH_MATMUL && g->ops[o].param_bytes == 0);
}

static void find_expansions(struct finding *f)
{
    for (uint32_t o = 0; o < f->g->n_ops; o++)
        if (is_asked(f, o) && begins_attention(f->g, o) && mark_expansion(f, o, FR_NONE)) {
            f->discards[f->out->n_groups] = true;
            mark_expansion(f, o, (uint32_t)f->out->n_groups++);
        }
}

/* ---- feed-forward layers ---- */

enum {
    MOST_STEPS = 8 /* between the products of a feed-forward layer: bias, activation, product with a
                      gate, dropout, casts */
};

/* The product behind an activation, with nothing between but elementwise ops; FR_NONE. */
static uint32_t product_behind(const struct fr_graph *g, uint32_t o)
{
    for (unsigned n = 0; n < MOST_STEPS; n++) {
        uint32_t next = FR_NONE;

        for (uint32_t i = g->out_first[o]; i < g->out_first[o + 1]; i++) {
            const struct fr_edge *e = &g->edges[i];

            if (e->tensor != FR_NONE && g->ops[e->dst].phase == FR_PHASE_FORWARD)
                next = e->dst;
        }
        if (next == FR_NONE || g->ops[next].kind == FR_OP_MATMUL)
            return next;
        if (!is_inside_mlp(g->ops[next].kind))
            return FR_NONE;
        o = next;
    }
    return FR_NONE;
}

/* Marks what op o is made of, back to the products that begin the layer. */
static void mark_sources(const struct fr_graph *g, uint32_t o, uint32_t group,
                         uint32_t group_of_op[])
{
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];
        const struct fr_op *src = &g->ops[e->src];

        if (e->tensor == FR_NONE || src->phase != FR_PHASE_FORWARD ||
            group_of_op[e->src] == group ||
            !(src->kind == FR_OP_MATMUL || is_inside_mlp(src->kind)))
            continue;
        group_of_op[e->src] = group;
        if (src->kind != FR_OP_MATMUL)
            mark_sources(g, e->src, group, group_of_op);
    }
}

/* is_shared: beside experts, else in layers that have none. */
static void find_mlps(struct finding *f, bool is_shared)
{
    const struct fr_graph *g = f->g;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        uint32_t end, group;

        if (!is_activation(g->ops[o].kind) || !is_asked(f, o) || f->expert_of[o] != FR_NONE ||
            (f->layer_of[o] != FR_NONE) != is_shared)
            continue;
        end = product_behind(g, o);
        group = end == FR_NONE ? FR_NONE : new_group(f, end, false);
        if (group == FR_NONE)
            continue;
        f->out->group_of_op[end] = group;
        mark_sources(g, end, group, f->out->group_of_op);
    }
}

/* ---- experts ---- */

static uint32_t unit_of(const struct finding *f, uint32_t o)
{
    return f->in->units->unit_of_layer[f->g->ops[o].layer];
}

/* The norm in front of the layer of experts whose tokens op `dispatch` hands out; FR_NONE. */
static uint32_t norm_before(const struct fr_graph *g, uint32_t dispatch)
{
    uint32_t o = source_of(g, dispatch);

    for (unsigned n = 0; n < MOST_STEPS && o != FR_NONE && !is_in_front(g, o); n++)
        o = source_of(g, o);
    return o != FR_NONE && is_in_front(g, o) ? o : FR_NONE;
}

/* The sum behind the sublayer of a norm: it reads what the norm does. The last op if there is none.
 */
static uint32_t sum_behind(const struct fr_graph *g, uint32_t norm, uint32_t after)
{
    uint32_t source = source_of(g, norm);

    for (uint32_t i = g->out_first[source]; i < g->out_first[source + 1]; i++)
        if (g->edges[i].dst > after && g->ops[g->edges[i].dst].kind == FR_OP_ADD &&
            g->ops[g->edges[i].dst].phase == FR_PHASE_FORWARD)
            return g->edges[i].dst;
    return (uint32_t)g->n_ops;
}

/* A layer of experts is what its unit does between the norm in front and the sum behind. */
static void find_layers_of_experts(struct finding *f)
{
    const struct fr_graph *g = f->g;

    for (uint32_t d = 0; d < g->n_ops; d++) {
        uint32_t norm, end;

        if (g->ops[d].kind != FR_OP_GATHER || g->ops[d].n_tensors < 2 || !is_forward(f, d) ||
            f->layer_of[d] != FR_NONE)
            continue;
        norm = norm_before(g, d);
        end = norm == FR_NONE ? 0 : sum_behind(g, norm, d);
        for (uint32_t o = norm == FR_NONE ? 0 : norm + 1; o < end; o++)
            if (is_forward(f, o) && unit_of(f, o) == unit_of(f, d))
                f->layer_of[o] = d;
    }
}

static void group_layers_of_experts(struct finding *f)
{
    uint32_t layer = FR_NONE, group = FR_NONE;

    for (uint32_t o = 0; o < f->g->n_ops; o++) {
        if (f->layer_of[o] == FR_NONE || !is_asked(f, o) || f->out->group_of_op[o] != FR_NONE)
            continue;
        if (layer != f->layer_of[o])
            group = new_group(f, o, false);
        layer = f->layer_of[o];
        f->out->group_of_op[o] = group;
    }
}

static void find_expert_activations(struct finding *f)
{
    const struct fr_graph *g = f->g;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        uint32_t group;

        if (!is_activation(g->ops[o].kind) || !is_asked(f, o) || f->expert_of[o] == FR_NONE)
            continue;
        group = new_group(f, o, true);
        for (uint32_t at = o; group != FR_NONE && is_inside_mlp(g->ops[at].kind);) {
            uint32_t next = FR_NONE;

            f->out->group_of_op[at] = group;
            for (uint32_t i = g->out_first[at]; i < g->out_first[at + 1]; i++)
                if (g->edges[i].tensor != FR_NONE && is_forward(f, g->edges[i].dst))
                    next = g->edges[i].dst;
            if (next == FR_NONE)
                break;
            at = next;
        }
    }
}

/* ---- all ---- */

/* Groups in the order of their first ops, so that one stands before those that read it. */
static bool number_groups(struct finding *f, struct fr__arena *arena)
{
    uint32_t *number = fr__arena_nones(arena, f->out->n_groups + 1), n = 0;
    bool *discards = fr__arena_alloc(arena, f->out->n_groups + 1, sizeof(*discards));

    if (!number || !discards)
        return false;
    for (uint32_t o = 0; o < f->g->n_ops; o++) {
        uint32_t group = f->out->group_of_op[o];

        if (group == FR_NONE)
            continue;
        if (number[group] == FR_NONE) {
            discards[n] = f->discards[group];
            number[group] = n++;
        }
        f->out->group_of_op[o] = number[group];
    }
    f->out->n_groups = n;
    f->out->discards = discards;
    return true;
}

static void find_module(struct finding *f, enum fr__module m)
{
    switch (m) {
    case FR__MODULE_CORE_ATTN:
        find_attention(f);
        break;
    case FR__MODULE_LAYERNORM:
        find_norms(f);
        break;
    case FR__MODULE_MLA_UP_PROJ:
        find_expansions(f);
        break;
    case FR__MODULE_MLP:
    case FR__MODULE_SHARED_EXPERTS:
        find_mlps(f, m == FR__MODULE_SHARED_EXPERTS);
        break;
    case FR__MODULE_MOE:
        group_layers_of_experts(f);
        break;
    default:
        find_expert_activations(f);
        break;
    }
}

enum fr_status fr__groups_of_modules(struct fr__groups *out, const struct fr__recompute_problem *in,
                                     struct fr__arena *arena, struct fr_error *err)
{
    const struct fr_graph *g = in->graph;
    struct finding f = {.g = g, .in = in, .out = out};
    size_t n_before;

    f.expert_of = fr__arena_nones(arena, g->n_ops);
    f.layer_of = fr__arena_nones(arena, g->n_ops);
    f.discards = fr__arena_alloc(arena, g->n_ops + 1, sizeof(*f.discards));
    if (!f.expert_of || !f.layer_of || !f.discards)
        return fr__fail_nomem(err);
    fr__graph_experts(g, f.expert_of);
    find_layers_of_experts(&f);
    for (unsigned m = 0; m < FR__N_MODULES; m++) {
        n_before = out->n_groups;
        if (!(in->modules >> m & 1))
            continue;
        find_module(&f, (enum fr__module)m);
        if (out->n_groups == n_before && !(m > FR__MODULE_MOE && in->modules >> FR__MODULE_MOE & 1))
            return fr__fail(err, FR_EUSAGE, FR_NOWHERE, "'%s' has no %s in its layers to recompute",
                            g->name, names[m]);
    }
    return number_groups(&f, arena) ? FR_OK : fr__fail_nomem(err);
}
