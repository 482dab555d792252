/* workloads/graph/native_shape.c - reads the shape of an op: "rows=32;columns=256;depth=784". */
#include "config.h"

#include "workloads/graph/native.h"

#include "base/error.h"
#include "base/units.h"
#include "workloads/graph/shape.h"

#include <stdio.h>
#include <string.h>

enum { MAX_SIZES = 16, LONGEST_WORD = 31 };

/* One "name=value". */
struct pair {
    char name[LONGEST_WORD + 1], value[LONGEST_WORD + 1]; /* cut off */
    struct fr_loc name_loc, value_loc;
};

static enum fr_status split_pair(const struct fr__item *it, struct pair *p, struct fr_error *err)
{
    const char *equals = memchr(it->text, '=', it->len);
    size_t length = equals ? (size_t)(equals - it->text) : 0;

    if (length == 0)
        return fr__fail(err, FR_EPARSE, it->loc,
                        "'shape' has \"%.*s\", not the name of a size, '=' and its value",
                        (int)(it->len < 60 ? it->len : 60), it->text);
    p->name_loc = p->value_loc = it->loc;
    p->value_loc.col += (unsigned)length + 1;
    snprintf(p->name, sizeof(p->name), "%.*s", (int)(length < 60 ? length : 60), it->text);
    length = it->len - length - 1;
    snprintf(p->value, sizeof(p->value), "%.*s", (int)(length < 60 ? length : 60), equals + 1);
    return FR_OK;
}

static enum fr_status find_size(const struct fr__size sizes[], const struct pair *p, size_t *at,
                                struct fr_error *err)
{
    const char *names[MAX_SIZES];
    char hint[96];
    size_t n = 0;

    for (; n < MAX_SIZES && sizes[n].name; n++) {
        names[n] = sizes[n].name;
        if (strcmp(names[n], p->name) == 0) {
            *at = n;
            return FR_OK;
        }
    }
    return fr__fail(err, FR_EPARSE, p->name_loc, "'shape' has no size '%s' for this kind%s",
                    p->name, fr__did_you_mean(p->name, names, n, hint, sizeof(hint)));
}

static enum fr_status read_value(const struct fr__size *size, const struct pair *p, uint64_t *out,
                                 struct fr_error *err)
{
    char what[LONGEST_WORD + 16];

    if (size->type == FR__SIZE_OPERAND) {
        for (*out = 0; *out < FR_N_OPERANDS; ++*out)
            if (strcmp(fr__operand_name((enum fr_operand) * out), p->value) == 0)
                return FR_OK;
        return fr__fail(err, FR_EPARSE, p->value_loc,
                        "'%s' of 'shape' is \"%s\", expected none, left or right", size->name,
                        p->value);
    }
    snprintf(what, sizeof(what), "'%s' of 'shape'", size->name);
    return fr__parse_count(p->value, what, p->value_loc, size->least,
                           size->type == FR__SIZE_FLAG ? 1 : FR__MAX_BYTES, out, err);
}

static enum fr_status read_pairs(const struct fr__cell *cell, const struct fr__size sizes[],
                                 struct fr_shape *shape, bool is_set[], struct fr_error *err)
{
    struct fr__item at = fr__first_item(cell->text, cell->loc);

    for (uint32_t left = fr__n_items(cell->text); left > 0; left--) {
        struct fr__item it = fr__next_item(&at);
        struct pair p;
        uint64_t value;
        size_t k = 0;

        FR_TRY(split_pair(&it, &p, err));
        FR_TRY(find_size(sizes, &p, &k, err));
        if (is_set[k])
            return fr__fail(err, FR_EPARSE, p.name_loc, "'shape' has '%s' twice", p.name);
        FR_TRY(read_value(&sizes[k], &p, &value, err));
        fr__size_set(shape, &sizes[k], value);
        is_set[k] = true;
    }
    return FR_OK;
}

/* What a product of that phase gives unless the file says otherwise. */
static enum fr_operand usual_operand(enum fr_phase phase)
{
    return phase == FR_PHASE_BACKWARD_DATA     ? FR_OPERAND_LEFT
           : phase == FR_PHASE_BACKWARD_WEIGHT ? FR_OPERAND_RIGHT
                                               : FR_OPERAND_NONE;
}

static uint64_t fallback_of(const struct fr_op *op, const struct fr__size *size)
{
    uint64_t other;

    if (size->type == FR__SIZE_OPERAND)
        return (uint64_t)usual_operand(op->phase);
    if (size->like == 0)
        return size->fallback;
    memcpy(&other, (const unsigned char *)&op->shape + size->like, sizeof(other));
    return other;
}

static enum fr_status fill_rest(const struct fr__cell *cell, const struct fr__size sizes[],
                                const bool is_set[], struct fr_op *op, struct fr_error *err)
{
    for (size_t k = 0; sizes[k].name; k++) {
        if (is_set[k])
            continue;
        if (!sizes[k].is_optional)
            return fr__fail(err, FR_EPARSE, cell->loc, "'shape' of a %s lacks '%s'",
                            fr_op_kind_name(op->kind), sizes[k].name);
        fr__size_set(&op->shape, &sizes[k], fallback_of(op, &sizes[k]));
    }
    return FR_OK;
}

enum fr_status fr__native_read_shape(const struct fr__cell *cell, bool has_flops, struct fr_op *op,
                                     struct fr_error *err)
{
    bool is_set[MAX_SIZES] = {false};
    const struct fr__size *sizes;
    char why[160];

    if (!cell->text[0])
        return FR_OK;
    op->shape.of = fr_shape_class_of(op->kind);
    if (op->shape.of == FR_SHAPE_UNKNOWN)
        return fr__fail(err, FR_EPARSE, cell->loc,
                        "'shape' is given, but ops of kind '%s' have none",
                        fr_op_kind_name(op->kind));
    sizes = fr__shape_sizes(op->shape.of);
    FR_TRY(read_pairs(cell, sizes, &op->shape, is_set, err));
    FR_TRY(fill_rest(cell, sizes, is_set, op, err));
    if (!fr__shape_is_sound(op, why, sizeof(why)))
        return fr__fail(err, FR_ERANGE, cell->loc, "'shape': %s", why);
    if (!has_flops)
        op->flops = fr_op_shape_flops(op);
    if (!fr__shape_fits_flops(op))
        return fr__fail(err, FR_ERANGE, cell->loc, "'shape' makes %g flops, but 'flops' is %g",
                        fr_op_shape_flops(op), op->flops);
    return FR_OK;
}
