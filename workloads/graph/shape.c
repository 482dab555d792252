/* workloads/graph/shape.c - the sizes of each class of shapes, and what follows from them. */
#include "config.h"

#include "workloads/graph/shape.h"

#include "workloads/graph/builder.h"
#include "workloads/graph/elements.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- the sizes of each class ---- */

#define AT(field) offsetof(struct fr_shape, field)
#define SIZE(name, field)                                                                          \
    {                                                                                              \
        name, AT(field), FR__SIZE_COUNT, 1, false, 0, 0                                            \
    }
#define SIZE_OR(name, field, least, fallback)                                                      \
    {                                                                                              \
        name, AT(field), FR__SIZE_COUNT, least, true, fallback, 0                                  \
    }
#define SIZE_LIKE(name, field, other)                                                              \
    {                                                                                              \
        name, AT(field), FR__SIZE_COUNT, 1, true, 0, AT(other)                                     \
    }
#define FLAG(name, field)                                                                          \
    {                                                                                              \
        name, AT(field), FR__SIZE_FLAG, 0, true, 0, 0                                              \
    }
#define END                                                                                        \
    {                                                                                              \
        NULL, 0, FR__SIZE_COUNT, 0, false, 0, 0                                                    \
    }

static const struct fr__size no_sizes[] = {END};

static const struct fr__size product_sizes[] = {
    SIZE_OR("batch", product.batch, 1, 1),
    SIZE("rows", product.rows),
    SIZE("columns", product.columns),
    SIZE("depth", product.depth),
    {"gradient_of", AT(product.gradient_of), FR__SIZE_OPERAND, 0, true, 0, 0},
    FLAG("transposed", product.is_transposed),
    SIZE_OR("epilogue", product.epilogue, 0, 0),
    FLAG("wide", product.is_wide),
    END};

static const struct fr__size conv_sizes[] = {SIZE("images", conv.images),
                                             SIZE("in_channels", conv.in_channels),
                                             SIZE("out_channels", conv.out_channels),
                                             SIZE_OR("groups", conv.groups, 1, 1),
                                             SIZE("in_height", conv.in_height),
                                             SIZE("in_width", conv.in_width),
                                             SIZE("out_height", conv.out_height),
                                             SIZE("out_width", conv.out_width),
                                             SIZE("filter_height", conv.filter_height),
                                             SIZE("filter_width", conv.filter_width),
                                             SIZE_OR("stride_height", conv.stride_height, 1, 1),
                                             SIZE_OR("stride_width", conv.stride_width, 1, 1),
                                             SIZE_OR("pad_height", conv.pad_height, 0, 0),
                                             SIZE_OR("pad_width", conv.pad_width, 0, 0),
                                             SIZE_OR("dilation_height", conv.dilation_height, 1, 1),
                                             SIZE_OR("dilation_width", conv.dilation_width, 1, 1),
                                             END};

static const struct fr__size pool_sizes[] = {SIZE("images", pool.images),
                                             SIZE("channels", pool.channels),
                                             SIZE("in_height", pool.in_height),
                                             SIZE("in_width", pool.in_width),
                                             SIZE("out_height", pool.out_height),
                                             SIZE("out_width", pool.out_width),
                                             SIZE("window_height", pool.window_height),
                                             SIZE("window_width", pool.window_width),
                                             SIZE_OR("stride_height", pool.stride_height, 1, 1),
                                             SIZE_OR("stride_width", pool.stride_width, 1, 1),
                                             SIZE_OR("pad_height", pool.pad_height, 0, 0),
                                             SIZE_OR("pad_width", pool.pad_width, 0, 0),
                                             END};

static const struct fr__size attention_sizes[] = {
    SIZE("batch", attention.batch),
    SIZE("heads", attention.heads),
    SIZE_LIKE("kv_heads", attention.kv_heads, attention.heads),
    SIZE("head_width", attention.head_width),
    SIZE("query_len", attention.query_len),
    SIZE_LIKE("key_len", attention.key_len, attention.query_len),
    FLAG("causal", attention.is_causal),
    SIZE_OR("generation", attention.generation, 0, 0),
    FLAG("fp8", attention.is_8_bit),
    SIZE_OR("value_width", attention.value_width, 0, 0),
    SIZE_OR("window", attention.window, 0, 0),
    FLAG("chunked", attention.is_chunked),
    END};

static const struct fr__size rows_sizes[] = {SIZE("rows", rows.rows), SIZE("columns", rows.columns),
                                             END};

static const struct fr__size embedding_sizes[] = {SIZE("rows", embedding.rows),
                                                  SIZE("width", embedding.width),
                                                  SIZE("vocabulary", embedding.vocabulary), END};

static const struct fr__size elements_sizes[] = {
    SIZE_OR("batch", elements.batch, 1, 1), SIZE("channels", elements.channels),
    SIZE_OR("positions", elements.positions, 1, 1), END};

static const struct {
    const char *name;
    const struct fr__size *sizes;
} classes[FR_N_SHAPE_CLASSES] = {
    [FR_SHAPE_UNKNOWN] = {"unknown", no_sizes},
    [FR_SHAPE_PRODUCT] = {"product", product_sizes},
    [FR_SHAPE_CONV] = {"convolution", conv_sizes},
    [FR_SHAPE_POOL] = {"pooling", pool_sizes},
    [FR_SHAPE_ATTENTION] = {"attention", attention_sizes},
    [FR_SHAPE_ROWS] = {"rows", rows_sizes},
    [FR_SHAPE_EMBEDDING] = {"embedding", embedding_sizes},
    [FR_SHAPE_ELEMENTS] = {"elements", elements_sizes},
};

#define KIND_CLASS(name, text, shape) FR_SHAPE_##shape,
static const enum fr_shape_class class_of_kind[] = {FR_OP_KINDS(KIND_CLASS)};
#undef KIND_CLASS

enum fr_shape_class fr_shape_class_of(enum fr_op_kind kind)
{
    return (unsigned)kind < FR_N_OP_KINDS ? class_of_kind[kind] : FR_SHAPE_UNKNOWN;
}

const char *fr_shape_class_name(enum fr_shape_class c)
{
    return classes[(unsigned)c < FR_N_SHAPE_CLASSES ? c : FR_SHAPE_UNKNOWN].name;
}

const struct fr__size *fr__shape_sizes(enum fr_shape_class c)
{
    return classes[(unsigned)c < FR_N_SHAPE_CLASSES ? c : FR_SHAPE_UNKNOWN].sizes;
}

const char *fr__operand_name(enum fr_operand operand)
{
    static const char *const names[FR_N_OPERANDS] = {"none", "left", "right"};

    return (unsigned)operand < FR_N_OPERANDS ? names[operand] : "unknown";
}

/* ---- one size ---- */

uint64_t fr__size_get(const struct fr_shape *shape, const struct fr__size *size)
{
    const unsigned char *at = (const unsigned char *)shape + size->offset;
    enum fr_operand operand;
    uint64_t count;
    bool flag;

    switch (size->type) {
    case FR__SIZE_FLAG:
        memcpy(&flag, at, sizeof(flag));
        return flag;
    case FR__SIZE_OPERAND:
        memcpy(&operand, at, sizeof(operand));
        return (uint64_t)operand;
    default:
        memcpy(&count, at, sizeof(count));
        return count;
    }
}

void fr__size_set(struct fr_shape *shape, const struct fr__size *size, uint64_t value)
{
    unsigned char *at = (unsigned char *)shape + size->offset;
    enum fr_operand operand = (enum fr_operand)value;
    bool flag = value != 0;

    switch (size->type) {
    case FR__SIZE_FLAG:
        memcpy(at, &flag, sizeof(flag));
        return;
    case FR__SIZE_OPERAND:
        memcpy(at, &operand, sizeof(operand));
        return;
    default:
        memcpy(at, &value, sizeof(value));
    }
}

/* Whether a reader takes the value for granted. Which operand a gradient is of depends on the
 * phase. */
static bool is_usual(const struct fr_shape *shape, const struct fr__size *size)
{
    uint64_t usual = size->fallback;

    if (!size->is_optional || size->type == FR__SIZE_OPERAND)
        return false;
    if (size->like)
        memcpy(&usual, (const unsigned char *)shape + size->like, sizeof(usual));
    return fr__size_get(shape, size) == usual;
}

const char *fr_shape_format(const struct fr_shape *shape, char *text, size_t n)
{
    size_t used = 0;

    if (n)
        text[0] = '\0';
    for (const struct fr__size *s = fr__shape_sizes(shape->of); s->name && used < n; s++) {
        uint64_t value = fr__size_get(shape, s);
        const char *separator = used ? ";" : "";
        int len;

        if (is_usual(shape, s))
            continue;
        if (s->type == FR__SIZE_OPERAND)
            len = snprintf(text + used, n - used, "%s%s=%s", separator, s->name,
                           fr__operand_name((enum fr_operand)value));
        else
            len = snprintf(text + used, n - used, "%s%s=%" PRIu64, separator, s->name, value);
        used += len > 0 ? (size_t)len : 0;
    }
    return text;
}

/* ---- shapes that follow from something else ---- */

uint64_t *fr__shape_samples(struct fr_shape *shape, enum fr_op_kind kind)
{
    switch (shape->of) {
    case FR_SHAPE_PRODUCT:
        return kind == FR_OP_BATCH_MATMUL ? &shape->product.batch : &shape->product.rows;
    case FR_SHAPE_CONV:
        return &shape->conv.images;
    case FR_SHAPE_POOL:
        return &shape->pool.images;
    case FR_SHAPE_ATTENTION:
        return &shape->attention.batch;
    case FR_SHAPE_ROWS:
        return &shape->rows.rows;
    case FR_SHAPE_EMBEDDING:
        return &shape->embedding.rows;
    case FR_SHAPE_ELEMENTS:
        return &shape->elements.batch;
    default:
        return NULL;
    }
}

/* Elements of dimensions first .. end - 1 of a tensor that has_elements. */
static uint64_t extent(const struct fr_tensor *t, unsigned first, unsigned end)
{
    uint64_t n = 1;

    for (unsigned d = first; d < end; d++)
        n *= t->dims[d];
    return n;
}

/* [channels], [batch, channels], [batch, positions, channels], [batch, channels, positions ...]; a
 * batch norm has its channels second in any case. */
static struct fr_shape shape_of_elements(enum fr_op_kind kind, const struct fr_tensor *t)
{
    unsigned n = t->n_dims, channel = n == 3 && kind != FR_OP_BATCHNORM ? 2 : 1;
    struct fr_shape s = {.of = FR_SHAPE_ELEMENTS, .elements = {1, t->dims[0], 1}};

    if (n > 1) {
        s.elements.batch = t->dims[0];
        s.elements.channels = t->dims[channel];
        s.elements.positions = channel == 2 ? t->dims[1] : extent(t, 2, n);
    }
    return s;
}

/* At least one, and no more than a size may be. */
static bool has_elements(const struct fr_tensor *t)
{
    double n = fr__tensor_elements(t);

    return t->n_dims > 0 && n >= 1 && n <= (double)FR__MAX_BYTES;
}

struct fr_shape fr__shape_of_output(enum fr_op_kind kind, const struct fr_tensor *output)
{
    const struct fr_shape unknown = {.of = FR_SHAPE_UNKNOWN};
    unsigned last = output->n_dims - 1u;

    if (!has_elements(output))
        return unknown;
    switch (kind) {
    case FR_OP_SOFTMAX:
    case FR_OP_LOG_SOFTMAX:
    case FR_OP_LAYERNORM:
    case FR_OP_RMSNORM:
        return (struct fr_shape){.of = FR_SHAPE_ROWS,
                                 .rows = {extent(output, 0, last), output->dims[last]}};
    default:
        if (fr_shape_class_of(kind) != FR_SHAPE_ELEMENTS)
            return unknown;
        return shape_of_elements(kind, output);
    }
}

struct fr_shape fr__shape_of_parameters(double n)
{
    struct fr_shape s = {.of = FR_SHAPE_UNKNOWN};

    if (n >= 1 && n <= (double)FR__MAX_BYTES)
        s = (struct fr_shape){.of = FR_SHAPE_ELEMENTS, .elements = {1, (uint64_t)n, 1}};
    return s;
}

/* ---- what a shape amounts to ---- */

static double product_of(const uint64_t sizes[], size_t n)
{
    double all = 1;

    for (size_t i = 0; i < n; i++)
        all *= (double)sizes[i];
    return all;
}

#define PRODUCT(...)                                                                               \
    product_of((const uint64_t[]){__VA_ARGS__},                                                    \
               sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

uint64_t fr_shape_value_width(const struct fr_shape *shape)
{
    return shape->attention.value_width ? shape->attention.value_width
                                        : shape->attention.head_width;
}

/* Pieces of `window` positions, the last one shorter, each of which sees itself alone. */
static double keys_of_chunks(double keys, double window)
{
    double whole = floor(keys / window), rest = keys - whole * window;

    return (whole * window * window + rest * rest) / keys;
}

/* Of a causal mask a query sees half of the keys. Of a window w before it, it sees w but for the
 * first queries, which see half of it: (n w - w^2 / 2) / n. A window that reaches w / 2 to both
 * sides lacks w^2 / 8 at either end: (n w - w^2 / 4) / n. */
double fr_shape_keys(const struct fr_shape *shape)
{
    double n = (double)shape->attention.key_len, w = (double)shape->attention.window;
    bool is_causal = shape->attention.is_causal;

    if (!(w > 0 && w < n))
        return is_causal ? n / 2 : n;
    if (shape->attention.is_chunked)
        return keys_of_chunks(n, w) / (is_causal ? 2 : 1);
    return is_causal ? w - w * w / (2 * n) : w - w * w / (4 * n);
}

/* Fused attention: the product of queries and keys and that with values, of the keys that a query
 * sees; backward the first one again, and a product for each of four gradients (T. Dao,
 * FlashAttention-2, 2023, section 3): those of queries and keys have the width of a head, those of
 * the scores and of the values have the width of values. */
static double attention_flops(const struct fr_op *op)
{
    const struct fr_shape *s = &op->shape;
    double width = (double)s->attention.head_width, values = (double)fr_shape_value_width(s);
    double pairs =
        PRODUCT(s->attention.batch, s->attention.heads, s->attention.query_len) * fr_shape_keys(s);

    return 2 * pairs * (fr_op_runs_forward(op) ? width + values : 3 * width + 2 * values);
}

bool fr_op_runs_forward(const struct fr_op *op)
{
    return op->phase == FR_PHASE_FORWARD || op->is_recomputed;
}

double fr_op_shape_flops(const struct fr_op *op)
{
    const struct fr_shape *s = &op->shape;

    switch (s->of) {
    case FR_SHAPE_PRODUCT:
        return 2 * PRODUCT(s->product.batch, s->product.rows, s->product.columns, s->product.depth);
    case FR_SHAPE_CONV:
        return 2 *
               PRODUCT(s->conv.images, s->conv.out_channels, s->conv.out_height, s->conv.out_width,
                       s->conv.in_channels, s->conv.filter_height, s->conv.filter_width) /
               (double)s->conv.groups;
    case FR_SHAPE_ATTENTION:
        return attention_flops(op);
    default:
        return 0;
    }
}

double fr__shape_output_elements(const struct fr_op *op)
{
    const struct fr_shape *s = &op->shape;

    switch (s->of) {
    case FR_SHAPE_PRODUCT:
        return PRODUCT(s->product.batch, s->product.rows, s->product.columns);
    case FR_SHAPE_CONV:
        return PRODUCT(s->conv.images, s->conv.out_channels, s->conv.out_height, s->conv.out_width);
    case FR_SHAPE_POOL:
        return PRODUCT(s->pool.images, s->pool.channels, s->pool.out_height, s->pool.out_width);
    case FR_SHAPE_ATTENTION:
        return PRODUCT(s->attention.batch, s->attention.heads, s->attention.query_len,
                       fr_shape_value_width(s));
    case FR_SHAPE_EMBEDDING:
        return PRODUCT(s->embedding.rows, s->embedding.width);
    case FR_SHAPE_ELEMENTS:
        return PRODUCT(s->elements.batch, s->elements.channels, s->elements.positions);
    case FR_SHAPE_ROWS:
        if (op->kind == FR_OP_LOSS || op->kind == FR_OP_TOPK || op->kind == FR_OP_GATHER ||
            op->kind == FR_OP_SCATTER)
            return 0;
        return PRODUCT(s->rows.rows, s->rows.columns);
    default:
        return 0;
    }
}
