/* workloads/passes/quantise.c - emits the graph with its casts: see quantise.h. */
#include "config.h"

#include "workloads/passes/quantise_parts.h"

#include "base/bytes.h"
#include "base/error.h"
#include "workloads/graph/elements.h"
#include "workloads/graph/shape.h"

#include <stdlib.h>

/* ---- copies ---- */

static double copy_bytes(const struct fr__quantising *q, uint32_t t, bool by_columns)
{
    const struct fr_tensor *tensor = &q->g->tensors[t];
    double columns = tensor->dims[tensor->n_dims - 1];

    return fr__formats_copy_bytes(q->f,
                                  q->is_gradient[t] ? FR__QUANTISED_GRADIENT : FR__QUANTISED_INPUT,
                                  fr__tensor_elements(tensor) / columns, columns, by_columns);
}

/* Whether one copy is read both by rows and by columns. */
static bool is_one_copy(const struct fr__quantising *q)
{
    return q->f->is_shared && q->takes_columns;
}

/* Bytes of the copies for these uses. */
static double copies_bytes(const struct fr__quantising *q, uint32_t t, unsigned uses)
{
    double bytes = 0;

    if (uses & FR__BY_ROWS || is_one_copy(q))
        bytes += copy_bytes(q, t, false);
    if (uses & FR__BY_COLUMNS && !is_one_copy(q))
        bytes += copy_bytes(q, t, true);
    return bytes;
}

static struct fr_tensor copy_of(const struct fr__quantising *q, uint32_t t, double bytes)
{
    struct fr_tensor copy = q->g->tensors[t];

    copy.alias = FR_NONE;
    copy.bytes = fr__to_bytes(bytes);
    return copy;
}

/* An op beside given op `reader`, which needs it, in its layer and its pass. */
static struct fr_op helper(struct fr__quantising *q, uint32_t reader, uint32_t t,
                           enum fr_op_kind kind, const char *what)
{
    const struct fr_op *of = &q->g->ops[reader], *writer = &q->g->ops[q->g->tensors[t].op];
    uint32_t k = t - writer->first_tensor;
    struct fr_op op = {.kind = kind,
                       .phase = of->phase == FR_PHASE_BACKWARD_WEIGHT ? FR_PHASE_BACKWARD_DATA
                                                                      : of->phase,
                       .is_recomputed = of->is_recomputed,
                       .layer = of->layer,
                       .forward = FR_NONE,
                       .scales = q->g->tensors[t].scales};

    if (of->phase > FR_PHASE_FORWARD && of->forward != FR_NONE)
        op.forward = q->w.now.op[of->forward];
    op.name = fr__rewriter_name(&q->w, writer->name, what, k ? k : FR_NONE);
    op.flops = fr__tensor_elements(&q->g->tensors[t]);
    op.shape = fr__shape_of_output(kind, &q->g->tensors[t]);
    return op;
}

/* The pass that looks for the largest number; FR_NONE where there is none. */
static uint32_t add_amax(struct fr__quantising *q, uint32_t reader, uint32_t t, const char *what)
{
    enum { FP32_BYTES = 4 };
    const struct fr_tensor largest = {
        .alias = FR_NONE, .bytes = FP32_BYTES, .n_dims = 1, .dims = {1}};
    struct fr_op op;
    uint32_t made;

    if (q->f->amax_reads == 0)
        return FR_NONE;
    op = helper(q, reader, t, FR_OP_CAST, what);
    op.bytes = q->f->amax_reads * (double)q->g->tensors[t].bytes;
    made = fr__rewriter_add(&q->w, reader, &op, &largest, 1);
    fr__rewriter_read(&q->w, made, q->w.now.tensor[t]);
    return fr__rewriter_n_tensors(&q->w) - 1;
}

/* Casts tensor t before given op `reader`, into a copy for each of `uses`. */
static void add_cast(struct fr__quantising *q, uint32_t reader, uint32_t t, unsigned uses)
{
    bool is_late = q->n_made[t]++ > 0;
    uint32_t amax = add_amax(q, reader, t, is_late ? "amax_columns" : "amax"), made, base;
    struct fr_op op = helper(q, reader, t, FR_OP_CAST, is_late ? "cast_columns" : "cast");
    unsigned n = uses == (FR__BY_ROWS | FR__BY_COLUMNS) && !is_one_copy(q) ? 2 : 1;
    struct fr_tensor copies[2];

    copies[0] = copy_of(q, t, copies_bytes(q, t, n == 2 ? FR__BY_ROWS : uses));
    copies[1] = copy_of(q, t, n == 2 ? copies_bytes(q, t, FR__BY_COLUMNS) : 0);
    op.bytes =
        (double)q->g->tensors[t].bytes * (n == 2 ? q->f->cast_reads : 1) + copies_bytes(q, t, uses);
    base = fr__rewriter_n_tensors(&q->w);
    made = fr__rewriter_add(&q->w, reader, &op, copies, n);
    fr__rewriter_read(&q->w, made, q->w.now.tensor[t]);
    if (amax != FR_NONE)
        fr__rewriter_read(&q->w, made, amax);
    if (uses & FR__BY_ROWS)
        q->rows[t] = base;
    if (uses & FR__BY_COLUMNS)
        q->columns[t] = base + n - 1;
}

/* The copy by columns from the one by rows. */
static void add_transpose(struct fr__quantising *q, uint32_t reader, uint32_t t)
{
    struct fr_op op = helper(q, reader, t, FR_OP_TRANSPOSE, "transpose");
    const struct fr_tensor copy = copy_of(q, t, copy_bytes(q, t, true));
    uint32_t made;

    op.shape = (struct fr_shape){.of = FR_SHAPE_UNKNOWN};
    op.flops = 0;
    op.bytes = copy_bytes(q, t, false) + (double)copy.bytes;
    made = fr__rewriter_add(&q->w, reader, &op, &copy, 1);
    fr__rewriter_read(&q->w, made, q->rows[t]);
    q->columns[t] = fr__rewriter_n_tensors(&q->w) - 1;
}

/* Whether t stays in 16 bits for the backward pass, which casts it there. */
static bool is_cast_late(const struct fr__quantising *q, uint32_t t)
{
    return q->f->keeps_input && q->is_kept[t];
}

/* Makes what given op `reader` needs of tensor t, and what later readers can share of it. */
static void make_copies(struct fr__quantising *q, uint32_t reader, uint32_t t, unsigned use)
{
    bool is_forward = !q->is_gradient[t] && use == FR__BY_ROWS;
    unsigned missing = 0, made_now = q->uses[t];

    if (use & FR__BY_ROWS && q->rows[t] == FR_NONE)
        missing |= FR__BY_ROWS;
    if (use & FR__BY_COLUMNS && q->columns[t] == FR_NONE)
        missing |= FR__BY_COLUMNS;
    if (!missing)
        return;
    if (missing == FR__BY_COLUMNS && q->rows[t] != FR_NONE && q->f->is_shared &&
        !is_cast_late(q, t)) {
        add_transpose(q, reader, t);
        return;
    }
    if (is_forward && is_cast_late(q, t))
        made_now = FR__BY_ROWS;
    if (q->rows[t] != FR_NONE)
        made_now &= ~(unsigned)FR__BY_ROWS;
    add_cast(q, reader, t, made_now);
}

/* ---- ops as they are ---- */

/* Whether op o is a norm that writes the copy by rows itself. */
static bool casts_itself(const struct fr__quantising *q, uint32_t o)
{
    const struct fr_op *op = &q->g->ops[o];

    return q->f->norm_casts && (op->kind == FR_OP_LAYERNORM || op->kind == FR_OP_RMSNORM) &&
           fr_op_runs_forward(op) && op->n_tensors > 0 && q->uses[op->first_tensor] &&
           !q->is_wide[op->first_tensor];
}

/* Changes an output into a copy for these uses. */
static void narrow_output(const struct fr__quantising *q, uint32_t t, unsigned uses,
                          struct fr_op *op, struct fr_tensor *out)
{
    double bytes = copies_bytes(q, t, uses);

    if (op->bytes > 0)
        op->bytes += bytes - (double)out->bytes;
    out->bytes = fr__to_bytes(bytes);
}

static void note_copies(struct fr__quantising *q, uint32_t t, unsigned uses)
{
    if (uses & FR__BY_ROWS || is_one_copy(q))
        q->rows[t] = q->w.now.tensor[t];
    if (uses & FR__BY_COLUMNS || is_one_copy(q))
        q->columns[t] = q->w.now.tensor[t];
}

/* What op o reads less because copies are narrower. */
static double saved_traffic(const struct fr__quantising *q, uint32_t o)
{
    const struct fr_graph *g = q->g;
    double bytes = 0;

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];
        unsigned use = fr__quantise_use(q, o, e);

        if (use && g->tensors[e->tensor].scales == g->ops[o].scales)
            bytes += (double)g->tensors[e->tensor].bytes - copies_bytes(q, e->tensor, use);
    }
    return bytes;
}

static void add_edges(struct fr__quantising *q, uint32_t o)
{
    const struct fr_graph *g = q->g;

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];
        unsigned use = fr__quantise_use(q, o, e);

        if (!use) {
            fr__rewriter_keep_edge(&q->w, e);
            continue;
        }
        if (use & FR__BY_ROWS)
            fr__rewriter_read(&q->w, q->w.now.op[o], q->rows[e->tensor]);
        if (use & FR__BY_COLUMNS &&
            !(use & FR__BY_ROWS && q->rows[e->tensor] == q->columns[e->tensor]))
            fr__rewriter_read(&q->w, q->w.now.op[o], q->columns[e->tensor]);
    }
}

static void put(struct fr__quantising *q, uint32_t o)
{
    struct fr_op op = fr__rewriter_op(&q->w, o);
    struct fr_tensor *out = fr__rewriter_outputs(&q->w, o);
    double saved = saved_traffic(q, o);
    unsigned uses = q->carries[o] ? q->carries[o] : casts_itself(q, o) ? FR__BY_ROWS : 0;

    if (fr__rewriter_has_failed(&q->w))
        return;
    if (op.bytes > saved)
        op.bytes -= saved;
    if (uses)
        narrow_output(q, q->g->ops[o].first_tensor, uses, &op, &out[0]);
    fr__rewriter_put(&q->w, &q->w.now, o, &op, out);
    if (uses)
        note_copies(q, q->g->ops[o].first_tensor, uses);
    add_edges(q, o);
}

/* ---- messages ---- */

static void keep_message(struct fr__quantising *q, uint32_t o)
{
    const struct fr__sharded *s = q->in->sharded;
    struct fr__comm comm;

    if (!s || s->comm_of[o] == FR_NONE)
        return;
    comm = s->comms[s->comm_of[o]];
    comm.op = q->w.now.op[o];
    if (q->carries[o])
        comm.bytes = copies_bytes(q, q->g->ops[o].first_tensor, q->carries[o]);
    fr__messages_add(&q->messages, &q->w, comm);
}

/* ---- weights ---- */

/* An op that reads the weights of forward op `owner` in 16 bits and writes `bytes`. They have no
 * tensors: what is kept of parameters is lowering/recipe.h's. */
static uint32_t add_weight_op(struct fr__quantising *q, uint32_t owner, enum fr_phase phase,
                              const char *what, unsigned reads, double bytes)
{
    const struct fr_op *of = &q->g->ops[owner];
    double numbers = (double)of->param_bytes / q->g->param_elem_bytes;
    struct fr_op op = {.kind = FR_OP_CAST,
                       .phase = phase,
                       .layer = of->layer,
                       .forward = phase == FR_PHASE_FORWARD ? FR_NONE : q->w.now.op[owner]};

    op.name = fr__rewriter_name(&q->w, of->name, what, FR_NONE);
    op.flops = numbers;
    op.bytes = reads * (double)of->param_bytes + bytes;
    op.shape = fr__shape_of_parameters(numbers);
    return fr__rewriter_add(&q->w, owner, &op, NULL, 0);
}

/* after: new op that they wait for; FR_NONE: none. Returns the cast. */
static uint32_t cast_weights(struct fr__quantising *q, uint32_t owner, enum fr_phase phase,
                             uint32_t after)
{
    double bytes = fr__formats_weight_bytes(q->f, q->g, owner, q->takes_columns);
    uint32_t cast;

    if (!(bytes > 0))
        return FR_NONE;
    if (q->f->amax_reads) {
        uint32_t amax = add_weight_op(q, owner, phase, "weight_amax", q->f->amax_reads, 0);

        if (after != FR_NONE)
            fr__rewriter_order(&q->w, after, amax);
        after = amax;
    }
    /* rows and columns of weights are cast by one kernel: no transform stands between */
    cast = add_weight_op(q, owner, phase, "weight_cast", 1, bytes);
    if (after != FR_NONE)
        fr__rewriter_order(&q->w, after, cast);
    return cast;
}

/* The new op that writes what op o reads first; FR_NONE. */
static uint32_t before(const struct fr__quantising *q, uint32_t o)
{
    const struct fr_graph *g = q->g;

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++)
        if (g->edges[g->in_edges[i]].tensor != FR_NONE)
            return q->w.now.op[g->edges[g->in_edges[i]].src];
    return FR_NONE;
}

/* ---- the whole ---- */

static void walk(struct fr__quantising *q, uint32_t o)
{
    const struct fr_graph *g = q->g;
    const struct fr_op *op = &g->ops[o];
    uint32_t weights = FR_NONE;

    for (uint32_t i = g->in_first[o]; i < g->in_first[o + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];
        unsigned use = fr__quantise_use(q, o, e);

        if (use)
            make_copies(q, o, e->tensor, use);
    }
    if (q->in->casts_each_use && op->phase == FR_PHASE_FORWARD)
        weights = cast_weights(q, o, FR_PHASE_FORWARD, before(q, o));
    put(q, o);
    if (weights != FR_NONE)
        fr__rewriter_order(&q->w, weights, q->w.now.op[o]);
    keep_message(q, o);
    if (!q->in->casts_each_use && op->phase == FR_PHASE_UPDATE && op->forward != FR_NONE)
        cast_weights(q, op->forward, FR_PHASE_UPDATE, q->w.now.op[o]);
}

static enum fr_status quantise(struct fr__quantising *q, struct fr__sharded *out,
                               struct fr_error *err)
{
    const struct fr__sharded_end end = {
        .given = q->in->sharded, .n_axes = q->in->n_axes, .messages = &q->messages};

    if (!fr__quantise_find(q))
        return fr__fail_nomem(err);
    for (uint32_t o = 0; o < q->g->n_ops && !fr__rewriter_has_failed(&q->w); o++)
        walk(q, o);
    fr__rewriter_keep_samples(&q->w);
    return fr__sharded_finish(out, &q->w, &end, err);
}

enum fr_status fr__quantise(struct fr__sharded *out, const struct fr__quantise_problem *in,
                            struct fr_error *err)
{
    struct fr__quantising q = {.in = in,
                               .g = in->graph,
                               .f = in->graph->formats,
                               .takes_columns = fr__units_take_columns(in->units)};
    enum fr_status st;

    FR_TRY(fr__rewriter_init(&q.w, q.g, err));
    st = quantise(&q, out, err);
    fr__rewriter_fini(&q.w);
    free(q.messages.comms);
    return st;
}

enum fr_status fr_graph_add_casts(const struct fr_graph *g, struct fr_graph **out,
                                  struct fr_error *err)
{
    const struct fr__quantise_problem p = {.graph = g, .units = FR_UNITS_MX_NV};
    struct fr__sharded made;

    FR_TRY(fr__quantise(&made, &p, err));
    *out = made.graph;
    made.graph = NULL;
    fr__sharded_free(&made);
    return FR_OK;
}
