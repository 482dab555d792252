/* workloads/passes/fuse_find.c - which ops become one: patterns of forward ops, their backward ops,
 * and clusters; the rules are in fuse.h.
 */
#include "config.h"

#include "workloads/passes/fuse_parts.h"

enum { MOST_STEPS = 6 };

/* A chain of ops each of which alone reads the one before. */
struct pattern {
    enum fr_fusion fusion;
    struct {
        uint64_t kinds;
        bool is_optional;
    } steps[MOST_STEPS]; /* ends with no kinds */
};

static const struct pattern patterns[] = {
    {FR_FUSE_BIAS_ACTIVATION,
     {{FR__KIND(BIAS), false}, {FR__KIND(CAST), true}, {FR__ACTIVATION, false}}},
    {FR_FUSE_GATED_ACTIVATION,
     {{FR__ACTIVATION, false}, {FR__KIND(CAST), true}, {FR__KIND(MUL), false}}},
    {FR_FUSE_DROPOUT_ADD,
     {{FR__KIND(BIAS), true},
      {FR__KIND(CAST), true},
      {FR__KIND(DROPOUT), false},
      {FR__KIND(CAST), true},
      {FR__KIND(ADD), false}}},
    {FR_FUSE_ACTIVATION_DROPOUT,
     {{FR__ACTIVATION, false}, {FR__KIND(CAST), true}, {FR__KIND(DROPOUT), false}}},
    {FR_FUSE_SOFTMAX,
     {{FR__KIND(SCALE), true},
      {FR__KIND(MASK) | FR__KIND(ADD), true},
      {FR__KIND(CAST), true},
      {FR__KIND(SOFTMAX), false}}},
    {FR_FUSE_BATCHNORM,
     {{FR__KIND(BATCHNORM), false}, {FR__KIND(ADD), true}, {FR__ACTIVATION, false}}},
};

static bool is_of(enum fr_op_kind kind, uint64_t kinds)
{
    return kinds >> kind & 1;
}

static bool asks_for(const struct fr__fusing *f, enum fr_fusion fusion)
{
    return f->fusions >> fusion & 1;
}

/* ---- patterns ---- */

/* How many ops from o on the pattern takes, into ops; 0: none, or only one. */
static size_t match(const struct fr__fusing *f, const struct pattern *p, uint32_t o,
                    uint32_t ops[MOST_STEPS])
{
    unsigned owns = 0;
    size_t n = 0;

    for (size_t k = 0; k < MOST_STEPS && p->steps[k].kinds; k++) {
        bool takes = o != FR_NONE && is_of(f->g->ops[o].kind, p->steps[k].kinds) &&
                     fr__fusing_may_join(f, o) && f->size[fr__fusing_group(f, o)] == 1;

        if (!takes && !p->steps[k].is_optional)
            return 0;
        if (!takes)
            continue;
        ops[n++] = o;
        owns |= f->owns[o];
        o = fr__fusing_only_reader(f, o);
    }
    return n > 1 && fr__fusing_agrees(owns, 0) ? n : 0;
}

static void find_patterns(struct fr__fusing *f)
{
    uint32_t ops[MOST_STEPS];

    for (size_t k = 0; k < sizeof(patterns) / sizeof(patterns[0]); k++)
        for (uint32_t o = 0; asks_for(f, patterns[k].fusion) && o < f->g->n_ops; o++) {
            size_t n = f->g->ops[o].phase == FR_PHASE_FORWARD ? match(f, &patterns[k], o, ops) : 0;

            for (size_t i = 1; i < n; i++)
                fr__fusing_unite(f, ops[0], ops[i], patterns[k].fusion);
        }
}

/* ---- backward ops of patterns ---- */

/* Whether o is the gradient of a forward op's inputs, of a group of several. */
static bool is_gradient_of_group(const struct fr__fusing *f, uint32_t o)
{
    const struct fr_op *op = &f->g->ops[o];

    return op->phase == FR_PHASE_BACKWARD_DATA && op->kind != FR_OP_GRAD_ADD &&
           fr__fusing_may_join(f, o) && op->forward != FR_NONE &&
           f->size[fr__fusing_group(f, op->forward)] > 1;
}

/* Whether all that o reads but what `but` writes comes from the forward pass, so that o may run as
 * soon as `but`. */
static bool waits_for_one(const struct fr__fusing *f, uint32_t o, uint32_t but)
{
    const struct fr_graph *g = f->g;

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        uint32_t src = g->edges[g->in_edges[i]].src;

        if (src != but && g->ops[src].phase > FR_PHASE_FORWARD)
            return false;
    }
    return true;
}

static void find_gradients(struct fr__fusing *f)
{
    const struct fr_graph *g = f->g;

    for (uint32_t o = 0; o < g->n_ops; o++) {
        uint32_t group;

        if (!is_gradient_of_group(f, o))
            continue;
        group = fr__fusing_group(f, g->ops[o].forward);
        for (uint32_t i = g->out_first[o]; i < g->out_first[o + 1]; i++) {
            const struct fr_edge *e = &g->edges[i];

            if (e->tensor == g->ops[o].first_tensor && is_gradient_of_group(f, e->dst) &&
                fr__fusing_group(f, g->ops[e->dst].forward) == group && waits_for_one(f, e->dst, o))
                fr__fusing_unite(f, o, e->dst, (enum fr_fusion)f->by[group]);
        }
    }
}

/* ---- clusters ---- */

/* The group of all ops of o's phase that read o; FR_NONE: they are of several, or there is none. */
static uint32_t group_of_readers(const struct fr__fusing *f, uint32_t o)
{
    const struct fr_graph *g = f->g;
    uint32_t group = FR_NONE;

    for (uint32_t i = g->out_first[o]; i < g->out_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[i];

        if (g->ops[e->dst].phase != g->ops[o].phase || fr__edge_is_tie(e))
            continue;
        if (e->tensor == FR_NONE || !fr__fusing_may_join(f, e->dst) ||
            (group != FR_NONE && group != fr__fusing_group(f, e->dst)))
            return FR_NONE;
        group = fr__fusing_group(f, e->dst);
    }
    return group;
}

/* From the end, so that a group is complete before what feeds it is asked. An op whose readers of
 * its phase are all in one group can join without closing a circle. */
static void find_clusters(struct fr__fusing *f, enum fr_fusion fusion)
{
    for (uint32_t o = (uint32_t)f->g->n_ops; o-- > 0;) {
        uint32_t own = fr__fusing_group(f, o),
                 group = fr__fusing_may_join(f, o) ? group_of_readers(f, o) : FR_NONE;

        if (group != FR_NONE && group != own && !f->has_product[own] && !f->has_product[group] &&
            !(f->has_rows[own] && f->has_rows[group]) &&
            fr__fusing_agrees(f->owns[own], f->owns[group]))
            fr__fusing_unite(f, group, own, fusion);
    }
}

bool fr__fusing_find(struct fr__fusing *f)
{
    size_t n = f->g->n_ops;

    f->parent = fr__arena_take(f->scratch, n, sizeof(*f->parent));
    f->size = fr__arena_take(f->scratch, n, sizeof(*f->size));
    f->has_rows = fr__arena_take(f->scratch, n, sizeof(*f->has_rows));
    f->has_product = fr__arena_take(f->scratch, n, sizeof(*f->has_product));
    f->by = fr__arena_take(f->scratch, n, sizeof(*f->by));
    f->owns = fr__arena_alloc(f->scratch, n, sizeof(*f->owns));
    if (!f->owns || !f->has_product || !f->parent || !f->size || !f->has_rows || !f->by)
        return false;
    for (uint32_t o = 0; o < n; o++) {
        f->parent[o] = o;
        f->size[o] = 1;
        f->has_rows[o] = fr__fusing_is_on_rows(f->g->ops[o].kind);
        f->has_product[o] = fr_op_kind_is_product(f->g->ops[o].kind);
        f->by[o] = FR_N_FUSIONS;
        if (f->g->ops[o].phase == FR_PHASE_FORWARD && f->g->ops[o].param_bytes > 0)
            f->owns[o] = f->g->ops[o].is_frozen ? FR__OWNS_FROZEN : FR__OWNS_TRAINED;
    }
    if (!fr__fusing_find_products(f))
        return false;
    find_patterns(f);
    find_gradients(f);
    if (asks_for(f, FR_FUSE_INDUCTOR))
        find_clusters(f, FR_FUSE_INDUCTOR);
    else if (asks_for(f, FR_FUSE_XLA))
        find_clusters(f, FR_FUSE_XLA);
    return true;
}
