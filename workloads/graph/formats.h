/* workloads/graph/formats.h - number-format recipes: which products of a step have operands of 8 or
 * 4 bits, and what the copies of their operands take. One table, formats.yaml, so that the pass
 * that adds the casts (passes/quantise.h), the prices of products and what is kept of parameters
 * count alike.
 *
 * A linear layer has three products. Forward it multiplies its input and its weights, backward the
 * gradient of its output with the weights (dgrad) and with its input (wgrad). Units sum along rows
 * of both operands, so each operand is read by rows in one product and by columns in another:
 *
 *     forward    input by rows          weights by rows
 *     dgrad      gradient by rows       weights by columns
 *     wgrad      gradient by columns    input by columns
 *
 * Numbers that share a scale follow each other along the way in which they are read. So a copy by
 * columns has scales of its own, and is cast from 16 bits again. Where all numbers share a scale,
 * one copy serves both; units that take operands by rows only want it transposed beside it.
 *
 * Bytes:   of a copy of rows x columns numbers: bits / 8 for each, scale_bytes for each block, of
 *          which the last ones may be partial, and tensor_scale_bytes
 * Source:  formats.yaml, by row; NVIDIA Transformer Engine,
 *          docs/features/low_precision_training/performance_considerations.
 * Ignores: padding of scales to the tiles of the units (none where sizes are multiples of 128);
 *          swizzling them; histories of the largest numbers, 4 bytes a step and tensor.
 */
#ifndef FR_WORKLOADS_GRAPH_FORMATS_H
#define FR_WORKLOADS_GRAPH_FORMATS_H

#include "workloads/workloads.h"

enum fr__quantised {
    FR__QUANTISED_INPUT,
    FR__QUANTISED_WEIGHT,
    FR__QUANTISED_GRADIENT,
    FR__N_QUANTISED
};

/* The three products of a linear layer. */
enum fr__linear_product { FR__PRODUCT_FORWARD, FR__PRODUCT_DGRAD, FR__PRODUCT_WGRAD };

struct fr_formats {
    const char *name, *summary, *source;
    enum fr_dtype dtype;              /* of the narrowest product: FR_FP8, FR_FP4 */
    double bits[3];                   /* of operands, by enum fr__linear_product; 16: not cast */
    enum fr_units units;              /* that it needs */
    uint64_t multiple;                /* of which the sides of a weight must be, to be cast */
    double block[FR__N_QUANTISED][2]; /* numbers of a scale: rows, columns; 0: all of them */
    double scale_bytes, tensor_scale_bytes;
    bool is_shared;                 /* rows and columns are the same numbers */
    unsigned amax_reads;            /* passes over the 16 bits before the cast */
    unsigned cast_reads;            /* how often the cast reads them */
    bool norm_casts;                /* the norm before a product writes the copy by rows */
    uint64_t wide_first, wide_last; /* blocks of the model that keep 16 bits */
    bool keeps_input; /* an input that is kept in 16 bits anyway is not kept as a copy */
};

/* Made of formats.yaml. */
extern const struct fr_formats fr__format_rows[];
extern const size_t fr__n_format_rows;

/* By name; NULL: unknown. */
const struct fr_formats *fr__formats_named(const char *name);
/* Of a name, with "first=2,last=2,wgrad=16" behind a ':' or without: blocks that keep 16 bits, bits
 * of what the gradient of the weights multiplies; or of a file with the keys of one row. *owned:
 * what the caller frees with fr__formats_free() when it needs *out no more; NULL for a named
 * one. FR_EUSAGE: neither, with the names; what the file says wrong (FR_EPARSE, FR_ERANGE, with
 * its line), FR_EIO, FR_ENOMEM. */
struct fr__formats_file;
enum fr_status fr__formats_load(const struct fr_formats **out, struct fr__formats_file **owned,
                                const char *text, struct fr_error *err);
/* The same from memory; name stands for the path in messages. */
enum fr_status fr__formats_read(const struct fr_formats **out, struct fr__formats_file **owned,
                                const char *text, size_t len, const char *name,
                                struct fr_error *err);
void fr__formats_free(struct fr__formats_file *f); /* NULL is allowed */
/* FR_EUSAGE unless a device has a rate for its products and the units that it needs; names devices
 * that have. */
enum fr_status fr__formats_check_device(const struct fr_formats *f,
                                        const struct fr_device_type *type, struct fr_error *err);

/* A copy in an arena; *out NULL where f is. false: out of memory. */
struct fr__arena;
bool fr__formats_copy(const struct fr_formats **out, const struct fr_formats *f,
                      struct fr__arena *arena);

/* Bits of the operands of a product by its op: 16, 8 or 4. f: not NULL. Forward ops, those that run
 * one again, and both gradients; 16 where the op is no linear layer, keeps 16 bits (is_wide), or
 * has a side that is no multiple. */
double fr__formats_bits(const struct fr_formats *f, const struct fr_graph *g, uint32_t op);

/* Bytes of a copy of rows x columns numbers, as they lie in 16 bits. */
double fr__formats_copy_bytes(const struct fr_formats *f, enum fr__quantised what, double rows,
                              double columns, bool by_columns);
/* Bytes of all copies of the weights that forward op `op` owns; 0: its products keep 16 bits.
 * takes_columns: units take operands by columns (fr_units). */
double fr__formats_weight_bytes(const struct fr_formats *f, const struct fr_graph *g, uint32_t op,
                                bool takes_columns);
/* Whether weights that are kept in 8 bits travel so: where the copy by columns follows from the one
 * by rows. Else their 16 bits travel, and are cast where they arrive (Megatron-LM,
 * --reuse-grad-buf-for-mxfp8-param-ag). */
static inline bool fr__formats_send_copies(const struct fr_formats *f)
{
    const double *block = f->block[FR__QUANTISED_WEIGHT];

    return !(block[0] < block[1]) && !(block[0] > block[1]);
}
/* Whether units take operands of 8 bits that lie by columns. */
static inline bool fr__units_take_columns(enum fr_units units)
{
    return units != FR_UNITS_ANY;
}
#endif
