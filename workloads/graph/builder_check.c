/* workloads/graph/builder_check.c - refuses graphs that are not valid, each with its reason. */
#include "config.h"

#include "workloads/graph/builder.h"

#include "base/error.h"
#include "workloads/graph/shape.h"

static bool is_amount(double x, double max)
{
    return x >= 0 && x <= max; /* false for NaN */
}

static enum fr_status check_info(const struct fr_graph_builder *b, const struct fr_graph *info,
                                 struct fr_error *err)
{
    if (!info->name || !info->name[0])
        return fr__fail(err, FR_EPARSE, FR_NOWHERE, "the graph has no name");
    if (b->n_ops == 0)
        return fr__fail(err, FR_EPARSE, FR_NOWHERE, "graph '%s' has no ops", info->name);
    if (info->batch < 1 || info->batch > FR__MAX_BATCH)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "graph '%s' has batch %u, not 1 to %u",
                        info->name, info->batch, FR__MAX_BATCH);
    if (info->seq_len > FR__MAX_SEQ_LEN)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "graph '%s' has sequence length %u, over %u",
                        info->name, info->seq_len, FR__MAX_SEQ_LEN);
    if ((unsigned)info->dtype >= FR_N_DTYPES)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE, "graph '%s' has an unknown precision",
                        info->name);
    if (info->param_elem_bytes < 1 || info->param_elem_bytes > FR__MAX_ELEM_BYTES)
        return fr__fail(err, FR_ERANGE, FR_NOWHERE,
                        "graph '%s' has %u bytes a parameter, not 1 to %u", info->name,
                        info->param_elem_bytes, FR__MAX_ELEM_BYTES);
    return FR_OK;
}

/* A name with ';' or a control character could not be written into the lists of a native file. */
static bool is_nameable(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < ' ' || *name == 0x7f || *name == ';')
            return false;
    return true;
}

static enum fr_status check_op(const struct fr_graph_builder *b, const struct fr_op *op,
                               struct fr_error *err)
{
    char why[160];

    if (!op->name[0])
        return fr__fail(err, FR_EPARSE, op->loc, "op %zu has no name", (size_t)(op - b->ops));
    if (!is_nameable(op->name) || !is_nameable(b->layers.keys[op->layer]))
        return fr__fail(err, FR_EPARSE, op->loc,
                        "the name of op '%s' or of its layer holds ';' or a control character",
                        op->name);
    if ((unsigned)op->kind >= FR_N_OP_KINDS || (unsigned)op->phase >= FR_N_PHASES)
        return fr__fail(err, FR_ERANGE, op->loc, "op '%s' has an unknown kind or phase", op->name);
    if (!is_amount(op->flops, FR__MAX_FLOPS))
        return fr__fail(err, FR_ERANGE, op->loc, "op '%s' has %g flops, not 0 to %g", op->name,
                        op->flops, FR__MAX_FLOPS);
    if (!is_amount(op->bytes, (double)FR__MAX_BYTES))
        return fr__fail(err, FR_ERANGE, op->loc, "op '%s' moves %g bytes, not 0 to 2^53", op->name,
                        op->bytes);
    if (op->param_bytes > FR__MAX_BYTES || op->workspace_bytes > FR__MAX_BYTES)
        return fr__fail(err, FR_ERANGE, op->loc,
                        "op '%s' has over 2^53 bytes of parameters or workspace", op->name);
    if (op->n_params > FR__MAX_PARAMS)
        return fr__fail(err, FR_ERANGE, op->loc, "op '%s' has %u parameter tensors, over %u",
                        op->name, op->n_params, FR__MAX_PARAMS);
    if (!fr__shape_is_sound(op, why, sizeof(why)))
        return fr__fail(err, FR_ERANGE, op->loc, "the shape of op '%s': %s", op->name, why);
    if (op->forward == FR_NONE)
        return FR_OK;
    if (op->forward >= b->n_ops)
        return fr__fail(err, FR_EPARSE, op->loc,
                        "op '%s' derives from op %u, but there are %zu ops", op->name, op->forward,
                        b->n_ops);
    if (b->ops[op->forward].phase > FR_PHASE_FORWARD)
        return fr__fail(err, FR_EPARSE, op->loc,
                        "op '%s' derives from '%s', which is no forward op but %s", op->name,
                        b->ops[op->forward].name, fr_phase_name(b->ops[op->forward].phase));
    return FR_OK;
}

static enum fr_status check_ops(const struct fr_graph_builder *b, struct fr_error *err)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < b->n_ops; i++) {
        FR_TRY(check_op(b, &b->ops[i], err));
        sum += b->ops[i].param_bytes;
        if (sum > FR__MAX_SUM_BYTES)
            return fr__fail(err, FR_ERANGE, b->ops[i].loc,
                            "the parameters of all ops together pass 2^60 bytes");
    }
    return FR_OK;
}

static enum fr_status check_tensors(const struct fr_graph_builder *b, struct fr_error *err)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < b->n_tensors; i++) {
        const struct fr_tensor *t = &b->tensors[i];
        const struct fr_op *op = &b->ops[t->op];

        if (t->n_dims > FR_MAX_DIMS)
            return fr__fail(err, FR_ERANGE, op->loc,
                            "an output of op '%s' has %u dimensions, over %d", op->name,
                            (unsigned)t->n_dims, FR_MAX_DIMS);
        if (t->split_mask >> FR_MAX_DIMS)
            return fr__fail(err, FR_ERANGE, op->loc,
                            "an output of op '%s' is split along a dimension over %d", op->name,
                            FR_MAX_DIMS - 1);
        if (t->bytes > FR__MAX_BYTES)
            return fr__fail(err, FR_ERANGE, op->loc, "an output of op '%s' has over 2^53 bytes",
                            op->name);
        if (t->alias != FR_NONE && t->alias >= b->n_tensors)
            return fr__fail(err, FR_EPARSE, op->loc,
                            "an output of op '%s' shares tensor %u, but there are %zu tensors",
                            op->name, t->alias, b->n_tensors);
        sum += t->bytes;
        if (sum > FR__MAX_SUM_BYTES)
            return fr__fail(err, FR_ERANGE, op->loc,
                            "the outputs of all ops together pass 2^60 "
                            "bytes");
    }
    return FR_OK;
}

static enum fr_status check_tie(const struct fr_graph_builder *b, const struct fr_edge *e,
                                struct fr_error *err)
{
    const struct fr_op *owner = &b->ops[e->src], *user = &b->ops[e->dst];

    if (owner->phase != FR_PHASE_FORWARD || user->phase != FR_PHASE_FORWARD)
        return fr__fail(err, FR_EPARSE, user->loc,
                        "op '%s' (%s) is tied to '%s' (%s), but only forward ops share parameters",
                        user->name, fr_phase_name(user->phase), owner->name,
                        fr_phase_name(owner->phase));
    if (owner->param_bytes == 0)
        return fr__fail(err, FR_EPARSE, user->loc,
                        "op '%s' is tied to '%s', which owns no parameters", user->name,
                        owner->name);
    return FR_OK;
}

static enum fr_status check_edges(const struct fr_graph_builder *b, struct fr_error *err)
{
    for (size_t i = 0; i < b->n_edges; i++) {
        const struct fr_edge *e = &b->edges[i];

        if (e->src >= b->n_ops || e->dst >= b->n_ops)
            return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                            "edge %zu leads from op %u to op %u, but there are %zu ops", i, e->src,
                            e->dst, b->n_ops);
        if (e->bytes == FR__TIE) {
            FR_TRY(check_tie(b, e, err));
            continue;
        }
        if (e->tensor != FR_NONE &&
            (e->tensor >= b->n_tensors || b->tensors[e->tensor].op != e->src))
            return fr__fail(err, FR_EPARSE, b->ops[e->src].loc,
                            "the edge from '%s' to '%s' carries tensor %u, which '%s' does not "
                            "write",
                            b->ops[e->src].name, b->ops[e->dst].name, e->tensor,
                            b->ops[e->src].name);
        if (e->bytes > FR__MAX_BYTES)
            return fr__fail(err, FR_ERANGE, b->ops[e->src].loc,
                            "the edge from '%s' to '%s' has over 2^53 bytes", b->ops[e->src].name,
                            b->ops[e->dst].name);
    }
    return FR_OK;
}

static enum fr_status check_samples(const struct fr_graph_builder *b, struct fr_error *err)
{
    for (size_t i = 0; i < b->n_samples; i++) {
        const struct fr_sample *s = &b->samples[i];

        if (s->op >= b->n_ops)
            return fr__fail(err, FR_EPARSE, FR_NOWHERE,
                            "sample %zu is of op %u, but there are %zu ops", i, s->op, b->n_ops);
        if (!s->device[0])
            return fr__fail(err, FR_EPARSE, b->ops[s->op].loc,
                            "a sample of op '%s' names no device", b->ops[s->op].name);
        if (s->batch < 1 || s->batch > FR__MAX_BATCH)
            return fr__fail(err, FR_ERANGE, b->ops[s->op].loc,
                            "a sample of op '%s' has batch %u, not 1 to %u", b->ops[s->op].name,
                            s->batch, FR__MAX_BATCH);
        if (!is_amount(s->time_s, FR__MAX_TIME_S))
            return fr__fail(err, FR_ERANGE, b->ops[s->op].loc,
                            "a sample of op '%s' takes %g s, not 0 to %g", b->ops[s->op].name,
                            s->time_s, FR__MAX_TIME_S);
    }
    return FR_OK;
}

enum fr_status fr__builder_check(const struct fr_graph_builder *b, const struct fr_graph *info,
                                 struct fr_error *err)
{
    FR_TRY(check_info(b, info, err));
    FR_TRY(check_ops(b, err));
    FR_TRY(check_tensors(b, err));
    FR_TRY(check_edges(b, err));
    return check_samples(b, err);
}
