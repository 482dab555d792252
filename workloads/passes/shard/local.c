/* workloads/passes/shard/local.c - what is left of an op and of a tensor on one rank.
 *
 * All sizes follow from the same cuts: an op's FLOPs and shape from the loops that are divided, its
 * parameters from those of the loops that they carry, a tensor's extents from its placement. What
 * cannot be divided alike (a vocabulary) takes the largest part.
 */
#include "config.h"

#include "workloads/passes/shard/walk.h"

#include "base/bytes.h"
#include "workloads/graph/shape.h"

#include <string.h>

/* The largest of `parts` parts of something that has `units` units and weighs `whole`. */
static uint64_t part_of(uint64_t whole, uint64_t units, uint64_t parts)
{
    uint64_t most = (units + parts - 1) / parts;

    if (units == 0 || parts <= 1)
        return whole;
    return whole % units == 0 ? whole / units * most
                              : fr__to_bytes((double)whole / (double)units * (double)most);
}

static uint64_t units_of(const struct fr__sharding *s, uint32_t t, uint32_t like, int d)
{
    const struct fr__grain *grain = &s->grains[like];

    return grain->dim == d && grain->units ? grain->units : s->g->tensors[t].dims[d];
}

/* Of packed queries, keys and values a third is queries. */
static uint64_t without_keys(uint64_t bytes, uint64_t parts)
{
    return bytes / 3 / parts + bytes / 3 * 2;
}

struct fr_tensor fr__sharding_local_tensor(const struct fr__sharding *s, uint32_t t,
                                           const int8_t at[])
{
    struct fr_tensor local = s->g->tensors[t];
    uint32_t like = s->twin[t] == FR_NONE ? t : s->twin[t];
    unsigned n_dims = local.n_dims ? local.n_dims : 1;
    double rows = fr__sharding_rows(s, t);

    for (int d = 0; d < (int)n_dims; d++) {
        uint64_t parts = 1, units = local.n_dims ? units_of(s, t, like, d) : s->grains[like].units;

        for (size_t a = 0; a < s->n_axes; a++)
            if (at[a] == d)
                parts *= fr__sharding_parts(s, like, a, d);
        if (d == 1 && (rows < 1 || rows > 1)) { /* of an expert: its rows are not the given ones */
            units = (uint64_t)((double)local.dims[1] * rows + 0.5);
            local.bytes = local.bytes / local.dims[1] * units;
            local.dims[1] = (uint32_t)units;
        }
        if (parts == 1)
            continue;
        local.bytes = part_of(local.bytes, units, parts);
        if (local.n_dims)
            local.dims[d] = (uint32_t)part_of(local.dims[d], units, parts);
    }
    for (size_t a = 0; a < s->n_axes; a++)
        if (at[a] == FR__PACKED) {
            local.bytes = without_keys(local.bytes, s->axes[a].size);
            local.n_dims = 0;
            memset(local.dims, 0, sizeof(local.dims));
        }
    return local;
}

/* The cut of one loop by all axes that divide it. */
static struct fr__cut cut_of(const struct fr__sharding *s, uint32_t f, enum fr__split loop)
{
    struct fr__cut all = {0, 1};

    for (size_t a = 0; a < s->n_axes; a++)
        if (s->split[a * s->g->n_ops + f] == (uint8_t)loop) {
            struct fr__cut cut = fr__sharding_cut(s, f, a);

            all = (struct fr__cut){cut.units, all.parts * cut.parts};
        }
    return all;
}

uint64_t fr__sharding_local_params(const struct fr__sharding *s, uint32_t f, uint64_t bytes)
{
    for (unsigned loop = FR__SPLIT_SAMPLES; loop < FR__N_SPLITS; loop++)
        if (fr__shard_params_carry(s->g, f, (enum fr__split)loop)) {
            struct fr__cut cut = cut_of(s, f, (enum fr__split)loop);

            bytes = part_of(bytes, cut.units, cut.parts);
        }
    return bytes;
}

static double scaled(double amount, struct fr__cut cut)
{
    if (cut.parts <= 1 || cut.units == 0)
        return amount;
    if (cut.units % cut.parts == 0)
        return amount / (double)cut.parts;
    return amount * (double)((cut.units + cut.parts - 1) / cut.parts) / (double)cut.units;
}

/* Sums of gradients and updates work on the numbers of a tensor or of parameters. */
static void set_elements(const struct fr__sharding *s, uint32_t o, const struct fr_tensor *out,
                         struct fr_op *op)
{
    const struct fr_op *whole = &s->g->ops[o];
    double ratio = 1;

    if (out && s->g->tensors[whole->first_tensor].bytes)
        ratio = (double)out->bytes / (double)s->g->tensors[whole->first_tensor].bytes;
    else if (whole->param_bytes)
        ratio = (double)op->param_bytes / (double)whole->param_bytes;
    if (!(ratio < 1 || ratio > 1))
        return;
    op->flops = whole->flops * ratio;
    if (op->shape.of == FR_SHAPE_ELEMENTS)
        op->shape = out && out->n_dims
                        ? fr__shape_of_output(op->kind, out)
                        : fr__shape_of_parameters((double)whole->shape.elements.channels * ratio);
}

/* The rows that an expert works on are not those of the given graph. */
static void set_rows(struct fr_op *op, double rows)
{
    uint64_t *size = op->shape.of == FR_SHAPE_PRODUCT    ? &op->shape.product.rows
                     : op->shape.of == FR_SHAPE_ROWS     ? &op->shape.rows.rows
                     : op->shape.of == FR_SHAPE_ELEMENTS ? &op->shape.elements.positions
                                                         : NULL;

    op->flops *= rows;
    op->workspace_bytes = (uint64_t)((double)op->workspace_bytes * rows);
    if (size)
        *size = fr__to_bytes((double)*size * rows);
}

void fr__sharding_local_op(const struct fr__sharding *s, uint32_t o, const struct fr_tensor *out,
                           struct fr_op *op)
{
    const struct fr_graph *g = s->g;
    uint32_t f = g->ops[o].phase > FR_PHASE_FORWARD ? g->ops[o].forward : o;
    double workspace, rows;

    if (f == FR_NONE)
        return;
    op->param_bytes = fr__sharding_local_params(s, f, op->param_bytes);
    if (op->kind == FR_OP_GRAD_ADD || op->kind == FR_OP_UPDATE) {
        set_elements(s, o, out, op);
        return;
    }
    rows = fr__sharding_rows_of_op(s, f);
    if (rows < 1 || rows > 1)
        set_rows(op, rows);
    workspace = (double)op->workspace_bytes;
    for (unsigned loop = FR__SPLIT_SAMPLES; loop < FR__N_SPLITS; loop++) {
        struct fr__cut cut = cut_of(s, f, (enum fr__split)loop);

        if (cut.parts <= 1)
            continue;
        op->flops = scaled(op->flops, cut);
        workspace = scaled(workspace, cut);
        fr__shape_divide(&op->shape, op->kind, (enum fr__split)loop, cut.parts);
    }
    op->workspace_bytes = (uint64_t)workspace;
}
