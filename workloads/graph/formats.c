/* workloads/graph/formats.c - number-format recipes by name, and the bytes of their copies: see
 * formats.h. */
#include "config.h"

#include "workloads/graph/formats.h"

#include "base/arena.h"
#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct fr_formats *fr__formats_named(const char *name)
{
    for (size_t i = 0; i < fr__n_format_rows; i++)
        if (strcmp(fr__format_rows[i].name, name) == 0)
            return &fr__format_rows[i];
    return NULL;
}

/* ---- devices ---- */

static bool runs_on(const struct fr_formats *f, const struct fr_device_type *type)
{
    return type->flops_per_s[f->dtype] > 0 && type->units >= f->units;
}

enum fr_status fr__formats_check_device(const struct fr_formats *f,
                                        const struct fr_device_type *type, struct fr_error *err)
{
    enum { MOST_NAMES = 400 };
    char names[MOST_NAMES] = "";
    size_t used = 0;

    if (runs_on(f, type))
        return FR_OK;
    for (size_t i = 0; fr_device_type_builtin(i) && used < sizeof(names); i++)
        if (runs_on(f, fr_device_type_builtin(i)))
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "",
                                     fr_device_type_builtin(i)->name);
    return fr__fail(err, FR_EUSAGE, FR_NOWHERE,
                    "precision %.40s: %.40s has no units for it; %s have", f->name, type->name,
                    used ? names : "no known devices");
}

bool fr__formats_copy(const struct fr_formats **out, const struct fr_formats *f,
                      struct fr__arena *arena)
{
    struct fr_formats *copy;

    *out = NULL;
    if (!f)
        return true;
    copy = fr__arena_alloc(arena, 1, sizeof(*copy));
    if (!copy)
        return false;
    *copy = *f;
    copy->name = fr__arena_strdup(arena, f->name);
    copy->summary = fr__arena_strdup(arena, f->summary);
    copy->source = fr__arena_strdup(arena, f->source);
    *out = copy;
    return copy->name && copy->summary && copy->source;
}

/* ---- which products ---- */

enum { WIDE_BITS = 16 };

static enum fr__linear_product product_of(const struct fr_op *o)
{
    if (fr_op_runs_forward(o))
        return FR__PRODUCT_FORWARD;
    return o->phase == FR_PHASE_BACKWARD_WEIGHT ? FR__PRODUCT_WGRAD : FR__PRODUCT_DGRAD;
}

/* Whether the op multiplies by weights: a matrix product, or one for each expert. */
static bool is_linear(const struct fr_graph *g, const struct fr_op *o)
{
    const struct fr_op *forward = o->forward == FR_NONE ? o : &g->ops[o->forward];

    if (o->kind == FR_OP_BATCH_MATMUL)
        return forward->param_bytes > 0;
    return o->kind == FR_OP_MATMUL;
}

double fr__formats_bits(const struct fr_formats *f, const struct fr_graph *g, uint32_t op)
{
    const struct fr_op *o = &g->ops[op];
    const struct fr_shape *s = &o->shape;

    if (!is_linear(g, o) || o->phase == FR_PHASE_UPDATE || s->of != FR_SHAPE_PRODUCT ||
        s->product.is_wide || s->product.columns % f->multiple || s->product.depth % f->multiple)
        return WIDE_BITS;
    return f->bits[product_of(o)];
}

/* ---- bytes ---- */

static double blocks(double size, double of_block)
{
    return of_block > 0 ? ceil(size / of_block) : 1;
}

/* Bits of the numbers in copies. */
static double copy_bits(const struct fr_formats *f)
{
    return fmin(f->bits[0], fmin(f->bits[1], f->bits[2]));
}

double fr__formats_copy_bytes(const struct fr_formats *f, enum fr__quantised what, double rows,
                              double columns, bool by_columns)
{
    const double *block = f->block[what];
    double n_scales = by_columns ? blocks(rows, block[1]) * blocks(columns, block[0])
                                 : blocks(rows, block[0]) * blocks(columns, block[1]);

    return ceil(rows * columns * copy_bits(f) / 8) + n_scales * f->scale_bytes +
           f->tensor_scale_bytes;
}

double fr__formats_weight_bytes(const struct fr_formats *f, const struct fr_graph *g, uint32_t op,
                                bool takes_columns)
{
    const struct fr_op *o = &g->ops[op];
    double rows, columns, n, by_rows, by_columns;

    if (o->phase != FR_PHASE_FORWARD || o->param_bytes == 0 ||
        fr__formats_bits(f, g, op) >= WIDE_BITS)
        return 0;
    rows = (double)o->shape.product.columns; /* frameworks store [output][input] */
    columns = (double)o->shape.product.depth;
    n = fmax(1, floor((double)o->param_bytes / g->param_elem_bytes / (rows * columns)));
    by_rows = fr__formats_copy_bytes(f, FR__QUANTISED_WEIGHT, rows, columns, false);
    by_columns = f->is_shared && takes_columns
                     ? 0
                     : fr__formats_copy_bytes(f, FR__QUANTISED_WEIGHT, rows, columns, true);
    if (f->bits[FR__PRODUCT_DGRAD] >= WIDE_BITS)
        by_columns = 0;
    return n * (by_rows + by_columns);
}
