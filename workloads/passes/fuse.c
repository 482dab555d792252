/* workloads/passes/fuse.c - writes the fused graph once fuse_find.c and fuse_inside.c have said
 * which ops become one; the rules are in fuse.h.
 */
#include "config.h"

#include "workloads/passes/fuse_parts.h"

#include "base/error.h"
#include "workloads/graph/builder.h"
#include "workloads/graph/elements.h"
#include "workloads/graph/infer_shape.h"
#include "workloads/graph/rewriter.h"
#include "workloads/passes/small_ops.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *summary;
} fusions[FR_N_FUSIONS] = {
    [FR_FUSE_BIAS_ACTIVATION] = {"bias-activation", "a bias and the activation behind it"},
    [FR_FUSE_GATED_ACTIVATION] = {"gated-activation", "an activation and the product with what it "
                                                      "gates (SwiGLU, GeGLU)"},
    [FR_FUSE_DROPOUT_ADD] = {"bias-dropout-add", "dropout and the residual addition"},
    [FR_FUSE_ACTIVATION_DROPOUT] = {"activation-dropout", "an activation and the dropout behind"},
    [FR_FUSE_SOFTMAX] = {"scale-mask-softmax", "scaling and masking of scores, and the softmax"},
    [FR_FUSE_BATCHNORM] = {"batchnorm-activation",
                           "batch norm, the residual addition, and the activation"},
    [FR_FUSE_PRODUCT_BIAS] = {"gemm-bias", "a matrix product and the bias behind it"},
    [FR_FUSE_PRODUCT_EPILOGUE] = {"gemm-epilogue",
                                  "a matrix product, the bias and the ReLU or GELU behind it, and "
                                  "the gradients of these"},
    [FR_FUSE_XLA] = {"xla", "clusters of elementwise ops; norms and softmax as reductions"},
    [FR_FUSE_INDUCTOR] = {"inductor", "clusters with a norm or softmax in one kernel; cheap values "
                                      "are made again for the backward pass"},
    [FR_FUSE_SMALL_OPS] = {"small-ops", "no fusion: GELU, dropout, layer norm and softmax as the "
                                        "small ops of TensorFlow without XLA"},
    [FR_FUSE_TORCH_NORMS] = {"torch-norms", "no fusion: RMS norm and rotary positions as the small "
                                            "ops that PyTorch models write"},
    [FR_FUSE_TORCH_GELU] = {"torch-gelu", "no fusion: GELU as the small ops that GPT-2 in PyTorch "
                                          "writes"},
};

const char *fr_fusion_name(enum fr_fusion f)
{
    return fusions[f].name;
}

const char *fr_fusion_summary(enum fr_fusion f)
{
    return fusions[f].summary;
}

struct fr_fusion_effect fr_graph_fusion_effect(const struct fr_graph *g, enum fr_fusion f)
{
    return ((const struct fr__graph_priv *)g->priv)->effects[f];
}

struct writing {
    struct fr__fusing f;
    struct fr__rewriter r; /* counterparts are numbered before an op is added; of an internal
                              tensor there is none */
    uint32_t *first;       /* [n_ops + 1] of groups in order of new ops: first of members */
    uint32_t *members;     /* [n_ops] */
    double *bytes;         /* [new ops] traffic */
    struct fr_edge *edges;
    size_t n_edges, cap_edges, n_new;
    uint32_t made_for; /* new op that an internal tensor is made again for */
};

/* ---- numbers of new ops and tensors ---- */

/* A fused op stands where its last op stood: all that it reads has come. */
static bool number_ops(struct writing *w)
{
    const struct fr_graph *g = w->f.g;
    struct fr__arena *a = w->f.scratch;
    uint32_t *left = fr__arena_take(a, g->n_ops, sizeof(*left));
    uint32_t *at = fr__arena_take(a, g->n_ops, sizeof(*at));

    w->first = fr__arena_alloc(a, g->n_ops + 1, sizeof(*w->first));
    w->members = fr__arena_take(a, g->n_ops, sizeof(*w->members));
    if (!left || !at || !w->first || !w->members)
        return false;
    memcpy(left, w->f.size, g->n_ops * sizeof(*left));
    for (uint32_t o = 0; o < g->n_ops; o++) {
        uint32_t group = fr__fusing_group(&w->f, o);

        if (--left[group] > 0)
            continue;
        at[w->n_new] = w->first[w->n_new];
        w->first[w->n_new + 1] = w->first[w->n_new] + w->f.size[group];
        w->r.now.op[group] = (uint32_t)w->n_new++;
    }
    for (uint32_t o = 0; o < g->n_ops; o++) {
        w->r.now.op[o] = w->r.now.op[fr__fusing_group(&w->f, o)];
        w->members[at[w->r.now.op[o]]++] = o;
    }
    return true;
}

/* The result comes first: the first output of the last op that keeps one. */
static uint32_t result_of(const struct writing *w, size_t k)
{
    const struct fr_graph *g = w->f.g;

    for (uint32_t i = w->first[k + 1]; i-- > w->first[k];) {
        const struct fr_op *o = &g->ops[w->members[i]];

        if (o->n_tensors > 0 && !w->f.is_internal[o->first_tensor])
            return o->first_tensor;
    }
    return FR_NONE;
}

typedef void (*output_call)(struct writing *w, uint32_t tensor, void *user);

static void for_outputs(struct writing *w, size_t k, output_call call, void *user)
{
    const struct fr_graph *g = w->f.g;
    uint32_t result = result_of(w, k);

    if (result != FR_NONE)
        call(w, result, user);
    for (uint32_t i = w->first[k]; i < w->first[k + 1]; i++) {
        const struct fr_op *o = &g->ops[w->members[i]];

        for (uint32_t t = o->first_tensor; t < o->first_tensor + o->n_tensors; t++)
            if (t != result && !w->f.is_internal[t])
                call(w, t, user);
    }
}

static void number_tensor(struct writing *w, uint32_t tensor, void *user)
{
    uint32_t *n = user;

    w->r.now.tensor[tensor] = (*n)++;
}

static void number_tensors(struct writing *w)
{
    uint32_t n = 0;

    for (size_t k = 0; k < w->n_new; k++)
        for_outputs(w, k, number_tensor, &n);
}

/* ---- edges ---- */

static void add_edge(struct writing *w, struct fr_edge e)
{
    if (fr__grow(&w->edges, &w->cap_edges, w->n_edges + 1, sizeof(*w->edges)))
        w->edges[w->n_edges++] = e;
    else
        fr__rewriter_fail(&w->r);
}

/* Edges of the given graph's tensors, between new ops. */
static void read_instead(void *user, uint32_t tensor)
{
    struct writing *w = user;
    const struct fr_tensor *t = &w->f.g->tensors[tensor];

    add_edge(w, (struct fr_edge){w->r.now.op[t->op], w->made_for, tensor, t->bytes});
}

static int compare_edges(const void *x, const void *y)
{
    const struct fr_edge *a = x, *b = y;

    if (a->dst != b->dst)
        return a->dst < b->dst ? -1 : 1;
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    if (a->tensor != b->tensor)
        return a->tensor < b->tensor ? -1 : 1;
    return a->bytes < b->bytes ? 1 : a->bytes > b->bytes ? -1 : 0; /* the larger part first */
}

static void collect_edges(struct writing *w)
{
    const struct fr_graph *g = w->f.g;
    size_t n = 0;

    for (size_t i = 0; i < g->n_edges; i++) {
        const struct fr_edge *e = &g->edges[i];
        uint32_t src = w->r.now.op[e->src], dst = w->r.now.op[e->dst];

        if (src == dst || fr__edge_is_tie(e))
            continue;
        w->made_for = dst;
        if (e->tensor != FR_NONE && w->f.is_internal[e->tensor])
            (void)fr__fusing_inputs(&w->f, e->tensor, read_instead, w);
        else
            add_edge(w, (struct fr_edge){src, dst, e->tensor, e->bytes});
    }
    if (w->n_edges > 0)
        qsort(w->edges, w->n_edges, sizeof(*w->edges), compare_edges);
    for (size_t i = 0; i < w->n_edges; i++) {
        const struct fr_edge *e = &w->edges[i];

        if (e->src == e->dst ||
            (n > 0 && e->dst == w->edges[n - 1].dst && e->src == w->edges[n - 1].src &&
             e->tensor == w->edges[n - 1].tensor))
            continue;
        w->edges[n++] = *e;
    }
    w->n_edges = n;
}

/* ---- traffic ---- */

/* Whether an op's `bytes` count what it reads of a tensor: those that grow with the batch, or all
 * of an op that does not. */
static bool is_counted(const struct writing *w, uint32_t op, uint32_t tensor)
{
    return tensor != FR_NONE && (w->f.g->tensors[tensor].scales || !w->f.g->ops[op].scales);
}

/* Whether any op of the new one reads an internal tensor of another, or they are several. */
static bool is_changed(const struct writing *w, size_t k)
{
    const struct fr_graph *g = w->f.g;
    uint32_t o = w->members[w->first[k]];

    if (w->first[k + 1] - w->first[k] > 1)
        return true;
    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        uint32_t t = g->edges[g->in_edges[i]].tensor;

        if (t != FR_NONE && w->f.is_internal[t])
            return true;
    }
    return false;
}

enum { RANDOM_BYTES = 4 };

/* Whether an op is run as small ops: no fusion took it. */
static bool is_small(const struct writing *w, uint32_t o)
{
    return w->f.size[fr__fusing_group(&w->f, o)] == 1 &&
           fr__small_ops_of(w->f.g, o, w->f.fusions).n_ops > 0;
}

/* What XLA moves more of an op than a kernel that keeps a row, or draws its own random numbers.
 *
 * Dropout: TensorFlow draws the numbers outside of clusters (a stateful op), in 32 bits, and the
 * cluster reads them.
 *
 * On rows: its reductions are kernels of their own, each of which reads its input. Softmax: the
 * largest, the sum; layer norm: the mean, then the squared differences; RMS norm: the squares.
 * Their gradients read both inputs once more for the sums over a row. */
static double moved_more(const struct writing *w, uint32_t o)
{
    const struct fr_op *op = &w->f.g->ops[o];
    const struct fr_tensor *out = &w->f.g->tensors[op->first_tensor];
    bool is_forward = fr_op_runs_forward(op);

    if (is_small(w, o))
        return fr__small_ops_of(w->f.g, o, w->f.fusions).more_bytes;
    if (!fr__fusing_splits_rows(&w->f) || op->n_tensors == 0 ||
        (!is_forward && op->phase != FR_PHASE_BACKWARD_DATA))
        return 0;
    switch (op->kind) {
    case FR_OP_DROPOUT:
        return is_forward && out->n_dims > 0 ? 2 * RANDOM_BYTES * fr__tensor_elements(out) : 0;
    case FR_OP_SOFTMAX:
    case FR_OP_LOG_SOFTMAX:
    case FR_OP_LAYERNORM:
        return 2 * (double)out->bytes;
    case FR_OP_RMSNORM:
        return (is_forward ? 1 : 2) * (double)out->bytes;
    default:
        return 0;
    }
}

/* What the ops of new op k move, without what they read and what they write inside. */
static double written_bytes(const struct writing *w, size_t k)
{
    const struct fr_graph *g = w->f.g;
    double bytes = 0;

    for (uint32_t m = w->first[k]; m < w->first[k + 1]; m++) {
        uint32_t o = w->members[m];

        bytes += g->ops[o].bytes + moved_more(w, o);
        for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
            const struct fr_edge *e = &g->edges[g->in_edges[i]];

            if (is_counted(w, o, e->tensor))
                bytes -= (double)e->bytes;
        }
        for (uint32_t t = g->ops[o].first_tensor; t < g->ops[o].first_tensor + g->ops[o].n_tensors;
             t++)
            if (w->f.is_internal[t])
                bytes -= (double)g->tensors[t].bytes;
    }
    return bytes > 0 ? bytes : 0;
}

static bool count_bytes(struct writing *w)
{
    const struct fr_graph *g = w->f.g;
    bool *is_new = fr__arena_take(w->f.scratch, w->n_new, sizeof(*is_new));

    w->bytes = fr__arena_take(w->f.scratch, w->n_new, sizeof(*w->bytes));
    if (!is_new || !w->bytes)
        return false;
    for (size_t k = 0; k < w->n_new; k++) {
        is_new[k] = is_changed(w, k);
        w->bytes[k] = is_new[k] ? written_bytes(w, k)
                                : g->ops[w->members[w->first[k]]].bytes +
                                      moved_more(w, w->members[w->first[k]]);
    }
    for (size_t i = 0; i < w->n_edges; i++) {
        const struct fr_edge *e = &w->edges[i];

        if (is_new[e->dst] && is_counted(w, w->members[w->first[e->dst]], e->tensor))
            w->bytes[e->dst] += (double)e->bytes;
    }
    return true;
}

/* ---- the new graph ---- */

/* The op that says what the fused one is: products cost most, then rows, then random numbers, then
 * functions. */
static unsigned rank_of(const struct fr_op *o)
{
    switch (o->kind) {
    case FR_OP_MATMUL:
        return 6;
    case FR_OP_SOFTMAX:
    case FR_OP_LOG_SOFTMAX:
    case FR_OP_LAYERNORM:
    case FR_OP_RMSNORM:
    case FR_OP_BATCHNORM:
        return 5;
    case FR_OP_DROPOUT:
        return fr_op_runs_forward(o) ? 4 : 2;
    case FR_OP_GELU:
    case FR_OP_SILU:
    case FR_OP_TANH:
    case FR_OP_SIGMOID:
        return 3;
    case FR_OP_CAST:
    case FR_OP_BIAS:
        return 1;
    default:
        return 2;
    }
}

static uint32_t leader_of(const struct writing *w, size_t k)
{
    const struct fr_graph *g = w->f.g;
    uint32_t best = w->members[w->first[k]];

    for (uint32_t i = w->first[k]; i < w->first[k + 1]; i++)
        if (rank_of(&g->ops[w->members[i]]) > rank_of(&g->ops[best]))
            best = w->members[i];
    return best;
}

struct outputs {
    struct fr_tensor *t;
    size_t n;
};

static void copy_output(struct writing *w, uint32_t tensor, void *user)
{
    struct outputs *out = user;
    struct fr_tensor t = w->f.g->tensors[tensor];
    uint32_t own = w->r.now.tensor[tensor];

    /* the storage of an internal tensor is none, but what that one shared may be there */
    while (t.alias != FR_NONE && w->f.is_internal[t.alias])
        t.alias = w->f.g->tensors[t.alias].alias;
    if (t.alias != FR_NONE)
        t.alias = w->r.now.tensor[t.alias];
    if (t.alias != FR_NONE && t.alias >= own)
        t.alias = FR_NONE;
    out->t[out->n++] = t;
}

/* Sums up what the ops of new op k say. */
static void add_up(const struct writing *w, size_t k, struct fr_op *op)
{
    const struct fr_graph *g = w->f.g;

    op->flops = 0;
    op->param_bytes = op->workspace_bytes = 0;
    op->n_params = 0;
    op->is_frozen = op->is_adapter = false;
    for (uint32_t i = w->first[k]; i < w->first[k + 1]; i++) {
        const struct fr_op *o = &g->ops[w->members[i]];

        op->is_frozen |= o->is_frozen;
        op->is_adapter |= o->is_adapter;
        op->flops += o->flops;
        op->param_bytes += o->param_bytes;
        op->n_params += o->n_params;
        if (op->workspace_bytes < o->workspace_bytes)
            op->workspace_bytes = o->workspace_bytes;
    }
}

/* The leader's shape, unless it is a guess of which the leader is more than one: that is guessed
 * again from what is fused. */
static void take_shape(const struct fr_graph *g, uint32_t leader, struct fr_op *op)
{
    struct fr_shape shape;
    struct fr__op_parts parts;

    if (!fr__op_shape(g, leader, &shape))
        return;
    parts = fr__op_parts(g, leader, &shape);
    if (parts.n_gradients == 1 && !(parts.repeats < 1 || parts.repeats > 1))
        op->shape = shape;
}

static void write_op(struct writing *w, size_t k)
{
    const struct fr_graph *g = w->f.g;
    uint32_t leader = leader_of(w, k), n_outputs = 0;
    struct fr_op op = fr__rewriter_op(&w->r, leader);
    struct fr__mark mark = fr__arena_mark(w->f.scratch);
    struct outputs out = {.n = 0};

    for (uint32_t i = w->first[k]; i < w->first[k + 1]; i++)
        n_outputs += g->ops[w->members[i]].n_tensors;
    out.t = fr__rewriter_take(&w->r, n_outputs);
    if (!out.t)
        return;
    for_outputs(w, k, copy_output, &out);
    if (w->first[k + 1] - w->first[k] > 1) {
        take_shape(g, leader, &op);
        op.is_in_place = out.n > 0 && out.t[0].alias != FR_NONE;
        add_up(w, k, &op);
        if (op.shape.of == FR_SHAPE_PRODUCT)
            op.flops = g->ops[leader].flops; /* those of matrix units */
        if (op.shape.of == FR_SHAPE_PRODUCT && w->bytes[k] > g->ops[leader].bytes)
            op.shape.product.epilogue += (uint64_t)(w->bytes[k] - g->ops[leader].bytes);
    }
    op.bytes = w->bytes[k];
    fr__rewriter_add(&w->r, leader, &op, out.t, out.n);
    fr__arena_rewind(w->f.scratch, mark);
}

static void write_edges(struct writing *w)
{
    const struct fr_graph *g = w->f.g;

    for (size_t i = 0; i < w->n_edges; i++) {
        const struct fr_edge *e = &w->edges[i];

        fr__rewriter_edge(&w->r, e->src, e->dst,
                          e->tensor == FR_NONE ? FR_NONE : w->r.now.tensor[e->tensor], e->bytes);
    }
    for (size_t i = 0; i < g->n_edges; i++)
        if (fr__edge_is_tie(&g->edges[i]))
            fr__rewriter_keep_edge(&w->r, &g->edges[i]);
}

static void note_small_ops(const struct writing *w, size_t k, struct fr_fusion_effect effects[])
{
    uint32_t o = w->members[w->first[k]];
    struct fr__small_ops small = fr__small_ops_of(w->f.g, o, w->f.fusions);
    struct fr_fusion_effect *x = &effects[small.by];

    if (!is_small(w, o))
        return;
    x->n_groups += w->f.g->ops[o].phase == FR_PHASE_FORWARD;
    x->ops_before++;
    x->ops_after += small.n_ops;
    x->bytes_before += w->f.g->ops[o].bytes;
    x->bytes_after += w->bytes[k];
}

static void note_effects(const struct writing *w, struct fr_graph *made)
{
    struct fr_fusion_effect *effects = ((struct fr__graph_priv *)made->priv)->effects;

    for (size_t k = 0; k < w->n_new; k++) {
        uint32_t n = w->first[k + 1] - w->first[k];
        struct fr_fusion_effect *x;

        if (n < 2) {
            note_small_ops(w, k, effects);
            continue;
        }
        x = &effects[w->f.by[fr__fusing_group(&w->f, w->members[w->first[k]])]];
        x->n_groups += w->f.g->ops[w->members[w->first[k]]].phase == FR_PHASE_FORWARD;
        x->ops_before += n;
        x->ops_after++;
        x->bytes_after += w->bytes[k];
        for (uint32_t i = w->first[k]; i < w->first[k + 1]; i++)
            x->bytes_before += w->f.g->ops[w->members[i]].bytes;
    }
}

static enum fr_status rewrite(struct writing *w, struct fr_graph **out, struct fr_error *err)
{
    if (!fr__fusing_find(&w->f) || !fr__fusing_look_inside(&w->f) || !number_ops(w))
        return fr__fail_nomem(err);
    number_tensors(w);
    collect_edges(w);
    if (!count_bytes(w))
        return fr__fail_nomem(err);
    for (size_t k = 0; k < w->n_new; k++)
        write_op(w, k);
    write_edges(w);
    fr__rewriter_keep_samples(&w->r);
    FR_TRY(fr__rewriter_finish(&w->r, w->f.g, out, err));
    note_effects(w, *out);
    return FR_OK;
}

enum fr_status fr__fuse(const struct fr_graph *g, unsigned wanted, struct fr_graph **out,
                        struct fr_error *err)
{
    struct writing w = {.f = {.g = g, .fusions = g->n_samples > 0 ? 0 : wanted}};
    enum fr_status st;

    FR_TRY(fr__rewriter_init(&w.r, g, err));
    w.f.scratch = w.r.scratch;
    st = rewrite(&w, out, err);
    fr__rewriter_fini(&w.r);
    free(w.edges);
    return st;
}
