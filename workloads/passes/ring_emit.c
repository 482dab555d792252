/* workloads/passes/ring_emit.c - the graph in which messages go in steps beside the parts of the
 * ops that they serve; the rules are in ring.h. */
#include "config.h"

#include "workloads/passes/ring_parts.h"

#include <string.h>

/* ---- ops ---- */

/* Adds an op that comes from given op `from`. number: of the part or step, 0: its name as it is. */
static uint32_t add_op(struct fr__ring *r, uint32_t from, const char *what, unsigned number,
                       struct fr_op *op, const struct fr_tensor outputs[], size_t n_outputs)
{
    uint32_t id;

    if (number > 0)
        op->name = fr__rewriter_name(&r->w, op->name, what, number);
    if (op->forward == from) /* of a forward op, itself */
        op->forward = fr__rewriter_n_ops(&r->w);
    else if (op->forward != FR_NONE)
        op->forward = r->w.now.op[op->forward];
    id = fr__rewriter_add(&r->w, from, op, outputs, n_outputs);
    if (r->w.now.op[from] == FR_NONE)
        r->w.now.op[from] = id;
    r->last[from] = id;
    return id;
}

/* A part of what a message moves: the n-th of its bytes. like: the tensor of one rank. */
static struct fr_tensor part_of(const struct fr__ring *r, uint32_t message, uint32_t like)
{
    double bytes = fr__ring_comm(r, message)->bytes / fr__ring_ranks(r, message);
    struct fr_tensor t = r->g->tensors[like];

    t.alias = FR_NONE;
    if (t.bytes != (uint64_t)bytes) { /* packed: queries are not moved */
        t.bytes = (uint64_t)bytes;
        t.n_dims = 0;
        memset(t.dims, 0, sizeof(t.dims));
    }
    return t;
}

static void copy_op(struct fr__ring *r, uint32_t o)
{
    r->last[o] = fr__rewriter_keep(&r->w, o);
    if (fr__ring_comm(r, o)) {
        struct fr__comm m = *fr__ring_comm(r, o);

        m.op = r->last[o];
        fr__messages_add(&r->messages, &r->w, m);
    }
}

/* ---- gathers ---- */

/* The steps of all gathers that travel with `lead`: each brings one part of each. */
static void add_gather_steps(struct fr__ring *r, uint32_t lead)
{
    struct fr__mark mark = fr__arena_mark(r->w.scratch);
    uint32_t n = fr__ring_ranks(r, lead), k = 0, n_joined = 0;
    struct fr_tensor *out;
    struct fr__comm m = *fr__ring_comm(r, lead);

    for (uint32_t o = lead; o != FR_NONE; o = r->joined[o])
        n_joined++;
    out = fr__rewriter_take(&r->w, n_joined);
    m.bytes = 0;
    m.is_step = true;
    for (uint32_t o = lead; out && o != FR_NONE; o = r->joined[o]) {
        out[k] = part_of(r, o, fr__ring_source(r, o));
        r->part[o] = fr__rewriter_n_tensors(&r->w) + k++;
        r->apart[o] = n_joined;
        m.bytes += fr__ring_comm(r, o)->bytes / n;
    }
    for (uint32_t i = 1; out && i < n; i++) {
        struct fr_op op = r->g->ops[lead];
        uint32_t base = fr__rewriter_n_tensors(&r->w);

        m.op = add_op(r, lead, "step", i, &op, out, n_joined);
        fr__messages_add(&r->messages, &r->w, m);
        for (k = 0; i > 1 && k < n_joined; k++)
            fr__rewriter_edge(&r->w, m.op - 1, m.op, base - n_joined + k, out[k].bytes);
    }
    for (uint32_t o = lead; o != FR_NONE; o = r->joined[o]) {
        r->w.now.op[o] = r->w.now.op[lead];
        r->last[o] = r->last[lead];
    }
    fr__arena_rewind(r->w.scratch, mark);
}

/* The tensor that part i of a gather is in: its own, or what step i has brought. *op: who wrote
 * it. */
static uint32_t gathered_part(const struct fr__ring *r, uint32_t gather, uint32_t i, uint32_t *op)
{
    uint32_t source = fr__ring_source(r, gather);

    if (i == 0) {
        *op = r->last[r->g->tensors[source].op];
        return r->w.now.tensor[source];
    }
    *op = r->w.now.op[gather] + i - 1;
    return r->part[gather] + (i - 1) * r->apart[gather];
}

static uint64_t part_bytes(const struct fr__ring *r, uint32_t gather, uint32_t i)
{
    uint32_t source = fr__ring_source(r, gather);

    return i == 0 ? r->g->tensors[source].bytes : part_of(r, gather, source).bytes;
}

static bool is_cut_gather(const struct fr__ring *r, uint32_t op)
{
    return fr__ring_is_message(r, op) && r->g->ops[op].kind == FR_OP_ALL_GATHER;
}

/* Part i; and what does not travel of the rank's own tensor, if anything: queries. */
static void read_part(struct fr__ring *r, uint32_t gather, uint32_t i, uint32_t dst)
{
    uint32_t src, tensor = gathered_part(r, gather, i, &src);

    fr__rewriter_edge(&r->w, src, dst, tensor, part_bytes(r, gather, i));
    if (i > 0 && part_bytes(r, gather, 0) != part_bytes(r, gather, i)) {
        tensor = gathered_part(r, gather, 0, &src);
        fr__rewriter_edge(&r->w, src, dst, tensor, part_bytes(r, gather, 0));
    }
}

/* An op that is not cut reads all parts of a gather. */
static void read_all_parts(struct fr__ring *r, uint32_t gather, uint32_t dst)
{
    for (uint32_t i = 0; i < fr__ring_ranks(r, gather); i++) {
        uint32_t src, tensor = gathered_part(r, gather, i, &src);

        fr__rewriter_edge(&r->w, src, dst, tensor, part_bytes(r, gather, i));
    }
}

/* ---- parts of an op ---- */

/* An op that is being cut. Of its outputs those that are summed around the ring are made part by
 * part; what is left of them, and the others, is one tensor that all parts write to. */
struct cutting {
    uint32_t op, n;
    bool own_is_first;
    uint32_t n_sums, n_kept; /* tensors of each kind that a part writes */
    uint32_t *sum;           /* [n_sums] given tensors */
    uint32_t *kept;          /* [n_kept] given tensors */
    struct fr_tensor *out;   /* [n_sums + n_kept] of one part */
    uint32_t first_part;     /* op */
    uint32_t *base;          /* [n] tensor of each part's first output */
    uint32_t step;           /* the last step, FR_NONE: none yet */
    uint32_t step_tensor;    /* its first output */
};

static uint64_t rest_of(const struct fr__ring *r, uint32_t t)
{
    uint32_t scatter = fr__ring_scatter_of(r, t);
    double moved = scatter == FR_NONE ? 0 : fr__ring_comm(r, scatter)->bytes;

    return r->g->tensors[t].bytes - (uint64_t)moved;
}

static bool begin_cutting(struct fr__ring *r, struct cutting *c)
{
    const struct fr_op *op = &r->g->ops[c->op];

    c->n = fr__ring_ranks(r, c->op);
    c->own_is_first = fr__ring_own_is_first(r, c->op);
    c->step = FR_NONE;
    c->sum = fr__arena_alloc(r->w.scratch, op->n_tensors + 1, sizeof(*c->sum));
    c->kept = fr__arena_alloc(r->w.scratch, op->n_tensors + 1, sizeof(*c->kept));
    c->base = fr__arena_alloc(r->w.scratch, c->n, sizeof(*c->base));
    c->out = fr__rewriter_take(&r->w, 2 * (size_t)op->n_tensors);
    if (!c->sum || !c->kept || !c->base || !c->out) {
        fr__rewriter_fail(&r->w);
        return false;
    }
    for (uint32_t k = 0; k < op->n_tensors; k++) {
        uint32_t t = op->first_tensor + k;

        if (fr__ring_scatter_of(r, t) != FR_NONE)
            c->sum[c->n_sums++] = t;
        if (rest_of(r, t) > 0)
            c->kept[c->n_kept++] = t;
    }
    return true;
}

/* The outputs of part i: what is summed, then what is kept. */
static void set_outputs(const struct fr__ring *r, struct cutting *c, uint32_t i)
{
    for (uint32_t k = 0; k < c->n_sums; k++) {
        uint32_t scatter = fr__ring_scatter_of(r, c->sum[k]);

        c->out[k] = part_of(r, scatter, r->g->ops[scatter].first_tensor);
    }
    for (uint32_t k = 0; k < c->n_kept; k++) {
        struct fr_tensor *t = &c->out[c->n_sums + k];

        *t = fr__rewriter_output(&r->w, c->kept[k]);
        if (rest_of(r, c->kept[k]) != t->bytes) {
            t->bytes = rest_of(r, c->kept[k]);
            t->n_dims = 0;
            memset(t->dims, 0, sizeof(t->dims));
        }
        if (i > 0)
            t->alias = c->base[i - 1] + c->n_sums + k;
    }
}

/* Bytes of what a part reads or writes a part of. */
static double divided_bytes(const struct fr__ring *r, const struct cutting *c)
{
    const struct fr_graph *g = r->g;
    double bytes = 0;

    for (uint32_t i = g->in_first[c->op]; i < g->in_first[c->op + 1]; i++) {
        const struct fr_edge *e = &g->edges[g->in_edges[i]];

        if (e->tensor != FR_NONE && fr__ring_is_message(r, e->src))
            bytes += fr__ring_comm(r, e->src)->bytes;
    }
    for (uint32_t k = 0; k < c->n_sums; k++)
        bytes += fr__ring_comm(r, fr__ring_scatter_of(r, c->sum[k]))->bytes;
    return bytes;
}

/* A product's part has a part of the rows; attention's the keys and values of one rank. */
static void divide(const struct fr__ring *r, const struct cutting *c, uint32_t i, struct fr_op *op)
{
    double n = c->n;

    op->flops /= n;
    op->workspace_bytes /= c->n;
    if (op->shape.of == FR_SHAPE_ATTENTION) {
        op->shape.attention.key_len /= c->n;
        op->bytes -= (n - 1) / n * divided_bytes(r, c);
    } else {
        op->shape.product.rows /= c->n;
        op->bytes /= n;
    }
    if (i > 0 && op->phase == FR_PHASE_FORWARD) { /* the first part's */
        op->n_params = 0;
        op->param_bytes = 0;
    }
}

/* What part i reads. */
static void add_part_edges(struct fr__ring *r, const struct cutting *c, uint32_t i, uint32_t part)
{
    const struct fr_graph *g = r->g;

    for (uint32_t k = g->in_first[c->op]; k < g->in_first[c->op + 1]; k++) {
        const struct fr_edge *e = &g->edges[g->in_edges[k]];

        if (fr__edge_is_tie(e)) {
            fr__rewriter_tie(&r->w, r->w.now.op[e->src], part);
        } else if (e->tensor == FR_NONE) {
            if (i == 0)
                fr__rewriter_order(&r->w, r->last[e->src], part);
        } else if (is_cut_gather(r, e->src)) {
            if (r->axis[e->src] != r->axis[c->op])
                read_all_parts(r, e->src, part);
            else
                read_part(r, e->src, i, part);
        } else
            fr__rewriter_edge(&r->w, r->last[e->src], part, r->w.now.tensor[e->tensor], e->bytes);
    }
}

/* One part after the other, on what they all write to. */
static void follow_part(struct fr__ring *r, const struct cutting *c, uint32_t i, uint32_t before,
                        uint32_t part)
{
    const struct fr_op *given = &r->g->ops[c->op];

    if (given->phase == FR_PHASE_FORWARD && given->param_bytes > 0)
        fr__rewriter_tie(&r->w, c->first_part, part);
    if (c->n_kept == 0)
        fr__rewriter_order(&r->w, before, part);
    for (uint32_t k = 0; k < c->n_kept; k++)
        fr__rewriter_edge(&r->w, before, part, c->base[i - 1] + c->n_sums + k,
                          c->out[c->n_sums + k].bytes);
}

/* ---- sums around the ring ---- */

static void read_parts(struct fr__ring *r, const struct cutting *c, uint32_t i, uint32_t part_op,
                       uint32_t step)
{
    for (uint32_t k = 0; k < c->n_sums; k++)
        fr__rewriter_edge(&r->w, part_op, step, c->base[i] + k, c->out[k].bytes);
}

/* The last step of an op that has its own part first takes that too, and what did not travel. */
static void read_own(struct fr__ring *r, const struct cutting *c, uint32_t part_op, uint32_t step)
{
    read_parts(r, c, 0, c->first_part, step);
    for (uint32_t k = 0; k < c->n_kept; k++)
        if (fr__ring_scatter_of(r, c->kept[k]) != FR_NONE)
            fr__rewriter_edge(&r->w, part_op, step, c->base[c->n - 1] + c->n_sums + k,
                              c->out[c->n_sums + k].bytes);
}

/* The sums are there. */
static void leave_sums(struct fr__ring *r, const struct cutting *c, uint32_t base)
{
    uint32_t lead = fr__ring_scatter_of(r, c->sum[0]);

    for (uint32_t k = 0; k < c->n_sums; k++) {
        uint32_t scatter = fr__ring_scatter_of(r, c->sum[k]);

        r->w.now.tensor[r->g->ops[scatter].first_tensor] = base + k;
        r->w.now.op[scatter] = r->w.now.op[lead];
        r->last[scatter] = r->last[lead];
    }
}

/* Step i of n - 1 adds the parts of part `of` to what has come; the last one leaves the sums. */
static void add_sum_step(struct fr__ring *r, struct cutting *c, uint32_t i, uint32_t of,
                         uint32_t part_op)
{
    const struct fr_graph *g = r->g;
    uint32_t lead = fr__ring_scatter_of(r, c->sum[0]), base = fr__rewriter_n_tensors(&r->w), step;
    struct fr_op op = g->ops[lead];
    struct fr__comm m = *fr__ring_comm(r, lead);
    struct fr_tensor *out = fr__rewriter_take(&r->w, c->n_sums);
    bool is_last = i + 1 == c->n;

    m.bytes = 0;
    for (uint32_t k = 0; out && k < c->n_sums; k++) {
        uint32_t scatter = fr__ring_scatter_of(r, c->sum[k]);

        out[k] = is_last ? fr__rewriter_output(&r->w, g->ops[scatter].first_tensor) : c->out[k];
        m.bytes += fr__ring_comm(r, scatter)->bytes / c->n;
    }
    if (!out)
        return;
    m.op = step = add_op(r, lead, "step", i, &op, out, c->n_sums);
    m.is_step = true;
    fr__messages_add(&r->messages, &r->w, m);
    read_parts(r, c, of, part_op, step);
    for (uint32_t k = 0; c->step != FR_NONE && k < c->n_sums; k++)
        fr__rewriter_edge(&r->w, c->step, step, c->step_tensor + k, c->out[k].bytes);
    if (is_last && c->own_is_first)
        read_own(r, c, part_op, step);
    if (is_last)
        leave_sums(r, c, base);
    c->step = step;
    c->step_tensor = base;
}

/* The parts of an op, each with the step that takes what it made. */
static void cut_op(struct fr__ring *r, uint32_t o)
{
    struct fr__mark mark = fr__arena_mark(r->w.scratch);
    struct cutting c = {.op = o};

    if (!begin_cutting(r, &c))
        return;
    for (uint32_t i = 0; !fr__rewriter_has_failed(&r->w) && i < c.n; i++) {
        struct fr_op op = r->g->ops[o];
        uint32_t before = r->last[o], part;

        divide(r, &c, i, &op);
        set_outputs(r, &c, i);
        c.base[i] = fr__rewriter_n_tensors(&r->w);
        part = add_op(r, o, "part", i, &op, c.out, c.n_sums + c.n_kept);
        if (i == 0)
            c.first_part = part;
        add_part_edges(r, &c, i, part);
        if (i > 0)
            follow_part(r, &c, i, before, part);
        if (c.n_sums > 0 && c.own_is_first && i > 0)
            add_sum_step(r, &c, i, i, part);
        else if (c.n_sums > 0 && !c.own_is_first && i + 1 < c.n)
            add_sum_step(r, &c, i + 1, i, part);
    }
    for (uint32_t k = 0; !fr__rewriter_has_failed(&r->w) && k < c.n_kept; k++)
        r->w.now.tensor[c.kept[k]] = c.base[c.n - 1] + c.n_sums + k;
    fr__arena_rewind(r->w.scratch, mark);
}

/* ---- edges ---- */

/* Whether an op ends with its own part, so that who reads the sum has to wait for it too. */
static bool ends_with_own_part(const struct fr__ring *r, uint32_t scatter)
{
    return r->g->ops[scatter].kind == FR_OP_REDUCE_SCATTER &&
           !fr__ring_own_is_first(r, r->lead[scatter]);
}

static void keep_edge(struct fr__ring *r, const struct fr_edge *e)
{
    const struct fr_graph *g = r->g;
    uint32_t src = r->last[e->src], dst = r->w.now.op[e->dst];
    bool is_read_from_cut = fr__ring_is_message(r, e->src);

    if (fr__edge_is_tie(e))
        fr__rewriter_tie(&r->w, r->w.now.op[e->src], dst);
    else if (e->tensor == FR_NONE)
        fr__rewriter_order(&r->w, src, dst);
    else if (is_read_from_cut && g->ops[e->src].kind == FR_OP_ALL_GATHER)
        read_all_parts(r, e->src, dst);
    else
        fr__rewriter_edge(&r->w, src, dst, r->w.now.tensor[e->tensor], e->bytes);
    if (is_read_from_cut && ends_with_own_part(r, e->src) &&
        g->ops[e->dst].phase == g->ops[e->src].phase)
        fr__rewriter_order(&r->w, r->last[r->lead[e->src]], dst);
}

static void keep_edges(struct fr__ring *r)
{
    const struct fr_graph *g = r->g;

    for (size_t i = 0; i < g->n_edges; i++) {
        const struct fr_edge *e = &g->edges[i];
        bool is_dst_cut = r->axis[e->dst] != FR_NONE;
        bool is_sum =
            is_dst_cut && fr__ring_comm(r, e->dst) && g->ops[e->dst].kind == FR_OP_REDUCE_SCATTER;

        if (is_dst_cut && !fr__ring_comm(r, e->dst))
            continue; /* add_part_edges */
        if (is_sum && e->tensor != FR_NONE)
            continue; /* add_sum_step */
        keep_edge(r, e);
    }
}

void fr__ring_emit(struct fr__ring *r)
{
    const struct fr_graph *g = r->g;

    for (uint32_t o = 0; o < g->n_ops && !fr__rewriter_has_failed(&r->w); o++) {
        if (r->axis[o] == FR_NONE)
            copy_op(r, o);
        else if (!fr__ring_comm(r, o))
            cut_op(r, o);
        else if (g->ops[o].kind == FR_OP_ALL_GATHER && r->lead[o] == o)
            add_gather_steps(r, o);
    }
    if (fr__rewriter_has_failed(&r->w))
        return;
    keep_edges(r);
    for (size_t i = 0; i < g->n_samples; i++)
        if (r->axis[g->samples[i].op] == FR_NONE) /* a part was not measured */
            fr__rewriter_keep_sample(&r->w, &r->w.now, &g->samples[i]);
}
