/* workloads/passes/fuse_find.c - which ops become one: patterns of forward ops, their backward ops,
 * and clusters; the rules are in fuse.h.
 */
#include "config.h"

#include "workloads/passes/fuse_parts.h"

#define KIND(name) (UINT64_C(1) << FR_OP_##name)
#define ACTIVATION (KIND(RELU) | KIND(GELU) | KIND(SILU) | KIND(TANH) | KIND(SIGMOID))
#define NORM (KIND(SOFTMAX) | KIND(LOG_SOFTMAX) | KIND(LAYERNORM) | KIND(RMSNORM) | KIND(BATCHNORM))
#define ELEMENTWISE                                                                                \
    (ACTIVATION | KIND(BIAS) | KIND(DROPOUT) | KIND(ADD) | KIND(MUL) | KIND(SCALE) | KIND(MASK) |  \
     KIND(CAST) | KIND(GRAD_ADD))
_Static_assert(FR_N_OP_KINDS <= 64, "a kind is a bit");

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
    {FR_FUSE_BIAS_ACTIVATION, {{KIND(BIAS), false}, {KIND(CAST), true}, {ACTIVATION, false}}},
    {FR_FUSE_DROPOUT_ADD,
     {{KIND(BIAS), true},
      {KIND(CAST), true},
      {KIND(DROPOUT), false},
      {KIND(CAST), true},
      {KIND(ADD), false}}},
    {FR_FUSE_ACTIVATION_DROPOUT, {{ACTIVATION, false}, {KIND(CAST), true}, {KIND(DROPOUT), false}}},
    {FR_FUSE_SOFTMAX,
     {{KIND(SCALE), true},
      {KIND(MASK) | KIND(ADD), true},
      {KIND(CAST), true},
      {KIND(SOFTMAX), false}}},
    {FR_FUSE_BATCHNORM, {{KIND(BATCHNORM), false}, {KIND(ADD), true}, {ACTIVATION, false}}},
};

static bool is_of(enum fr_op_kind kind, uint64_t kinds)
{
    return kinds >> kind & 1;
}

bool fr__fusing_is_elementwise(enum fr_op_kind kind)
{
    return is_of(kind, ELEMENTWISE);
}

static bool asks_for(const struct fr__fusing *f, enum fr_fusion fusion)
{
    return f->fusions >> fusion & 1;
}

/* A weight that is cast is a parameter, and an op that runs again stands where its copy does. */
static bool may_fuse(const struct fr__fusing *f, uint32_t o)
{
    const struct fr_op *op = &f->g->ops[o];

    return op->scales && !op->is_recomputed && op->n_tensors > 0 &&
           (op->phase == FR_PHASE_FORWARD || op->phase == FR_PHASE_BACKWARD_DATA) &&
           is_of(op->kind, ELEMENTWISE | NORM);
}

static void unite(struct fr__fusing *f, uint32_t a, uint32_t b, enum fr_fusion fusion)
{
    a = fr__fusing_group(f, a);
    b = fr__fusing_group(f, b);
    if (a == b)
        return;
    f->parent[b] = a;
    f->size[a] += f->size[b];
    f->has_rows[a] |= f->has_rows[b];
    if (f->by[a] == FR_N_FUSIONS)
        f->by[a] = f->by[b] != FR_N_FUSIONS ? f->by[b] : (uint8_t)fusion;
}

/* ---- patterns ---- */

/* The one op of o's phase that reads o, and reads its first output; FR_NONE: there are others. */
static uint32_t only_reader(const struct fr__fusing *f, uint32_t o)
{
    const struct fr_graph *g = f->g;
    uint32_t reader = FR_NONE;

    for (uint32_t i = g->out_first[o]; i < g->out_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[i];

        if (g->ops[e->dst].phase != g->ops[o].phase || (e->tensor == FR_NONE && e->bytes > 0))
            continue; /* of another phase, or a tie */
        if (e->tensor != g->ops[o].first_tensor || (reader != FR_NONE && reader != e->dst))
            return FR_NONE;
        reader = e->dst;
    }
    return reader;
}

/* How many ops from o on the pattern takes, into ops; 0: none, or only one. */
static size_t match(const struct fr__fusing *f, const struct pattern *p, uint32_t o,
                    uint32_t ops[MOST_STEPS])
{
    size_t n = 0;

    for (size_t k = 0; k < MOST_STEPS && p->steps[k].kinds; k++) {
        bool takes = o != FR_NONE && is_of(f->g->ops[o].kind, p->steps[k].kinds) &&
                     may_fuse(f, o) && f->size[fr__fusing_group(f, o)] == 1;

        if (!takes && !p->steps[k].is_optional)
            return 0;
        if (!takes)
            continue;
        ops[n++] = o;
        o = only_reader(f, o);
    }
    return n > 1 ? n : 0;
}

static void find_patterns(struct fr__fusing *f)
{
    uint32_t ops[MOST_STEPS];

    for (size_t k = 0; k < sizeof(patterns) / sizeof(patterns[0]); k++)
        for (uint32_t o = 0; asks_for(f, patterns[k].fusion) && o < f->g->n_ops; o++) {
            size_t n = f->g->ops[o].phase == FR_PHASE_FORWARD ? match(f, &patterns[k], o, ops) : 0;

            for (size_t i = 1; i < n; i++)
                unite(f, ops[0], ops[i], patterns[k].fusion);
        }
}

/* ---- backward ops of patterns ---- */

/* Whether o is the gradient of a forward op's inputs, of a group of several. */
static bool is_gradient_of_group(const struct fr__fusing *f, uint32_t o)
{
    const struct fr_op *op = &f->g->ops[o];

    return op->phase == FR_PHASE_BACKWARD_DATA && op->kind != FR_OP_GRAD_ADD && may_fuse(f, o) &&
           op->forward != FR_NONE && f->size[fr__fusing_group(f, op->forward)] > 1;
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
                unite(f, o, e->dst, (enum fr_fusion)f->by[group]);
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

        if (g->ops[e->dst].phase != g->ops[o].phase || (e->tensor == FR_NONE && e->bytes > 0))
            continue;
        if (e->tensor == FR_NONE || !may_fuse(f, e->dst) ||
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
                 group = may_fuse(f, o) ? group_of_readers(f, o) : FR_NONE;

        if (group != FR_NONE && group != own && !(f->has_rows[own] && f->has_rows[group]))
            unite(f, group, own, fusion);
    }
}

bool fr__fusing_find(struct fr__fusing *f)
{
    size_t n = f->g->n_ops;

    f->parent = fr__arena_take(f->scratch, n, sizeof(*f->parent));
    f->size = fr__arena_take(f->scratch, n, sizeof(*f->size));
    f->has_rows = fr__arena_take(f->scratch, n, sizeof(*f->has_rows));
    f->by = fr__arena_take(f->scratch, n, sizeof(*f->by));
    if (!f->parent || !f->size || !f->has_rows || !f->by)
        return false;
    for (uint32_t o = 0; o < n; o++) {
        f->parent[o] = o;
        f->size[o] = 1;
        f->has_rows[o] = is_of(f->g->ops[o].kind, NORM);
        f->by[o] = FR_N_FUSIONS;
    }
    find_patterns(f);
    find_gradients(f);
    if (asks_for(f, FR_FUSE_INDUCTOR))
        find_clusters(f, FR_FUSE_INDUCTOR);
    else if (asks_for(f, FR_FUSE_XLA))
        find_clusters(f, FR_FUSE_XLA);
    return true;
}
